/* A destructor of a thread's key raises a signal, whose handler writes.
 * holds: x <= 3
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"

static volatile int x;
static pthread_key_t key;

static void handler(int number)
{
    (void)number;
    SAY(x, 2);
}

static void destructor(void *value)
{
    (void)value;
    SAY(x, 1);
    raise(SIGUSR1);
    SAY(x, 3);
}

static void *worker(void *given)
{
    pthread_setspecific(key, &key);
    return given;
}

int main(void)
{
    pthread_key_create(&key, destructor);
    signal(SIGUSR1, handler);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
        pthread_join(thread, NULL);
        SAY(x, 0);
    }
    puts("ended");
    return 0;
}
