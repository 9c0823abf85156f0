/* Threads that wait for each other in loops: by a plain flag, an atomic, sched_yield, a sleep, a lock that is tried, a
 * flag under a lock. With an argument nobody ever sets the last one, which shows once it is known that its place is
 * shared. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

static volatile int flag;
static atomic_int stage;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static int done, never;

static void *work(void *unused)
{
    flag = 1;
    while (stage < 1)
        ;
    while (stage < 2)
        sched_yield();
    while (stage < 3)
        usleep(100);
    while (pthread_mutex_trylock(&held) != 0)
        ;
    pthread_mutex_unlock(&held);
    pthread_mutex_lock(&lock);
    done = !never;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    (void)argv;
    never = argc > 1;
    pthread_mutex_lock(&held);
    pthread_create(&thread, NULL, work, NULL);
    while (!flag)
        ;
    stage = 1;
    stage = 2;
    stage = 3;
    pthread_mutex_unlock(&held);
    for (int seen = 0; !seen;) {
        pthread_mutex_lock(&lock);
        seen = done;
        pthread_mutex_unlock(&lock);
    }
    pthread_join(thread, NULL);
    return 0;
}
