/*
 * A server that may serve before its configuration was loaded: it forgets to ask the loader. The threads check that
 * themselves (`recover.prop`), and when it happens a function of the program reboots the subsystem: it loads the
 * configuration at once, in the thread that was about to go wrong, before that thread goes on.
 */
#include <pthread.h>
#include <stdio.h>

#include <portent.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int limit; /* the configuration; 0: not loaded */
static int reboots;

static void load(void)
{
    pthread_mutex_lock(&lock);
    limit = 7;
    pthread_mutex_unlock(&lock);
}

static void reboot(void *context, const char *property)
{
    (void)context;
    load();
    reboots++;
    printf("%s: the configuration is loaded now\n", property);
}

static void *loader(void *unused)
{
    load();
    portent_internal("loaded", 1);
    return unused;
}

static void *server(void *unused)
{
    portent_internal("serving", 1);
    pthread_mutex_lock(&lock);
    printf("serving up to %d\n", limit);
    pthread_mutex_unlock(&lock);
    portent_internal("serving", 0);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    portent_on_violation(reboot, NULL);
    if (pthread_create(&b, NULL, server, NULL) != 0 || pthread_create(&a, NULL, loader, NULL) != 0)
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("rebooted %d time%s\n", reboots, reboots == 1 ? "" : "s");
    return 0;
}
