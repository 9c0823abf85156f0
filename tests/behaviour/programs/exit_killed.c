/* SIGKILL from itself, while another thread waits.
 * holds: x <= 50
 * violated: x != 50
 * ordered: yes
 */
#include "say.h"

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *given)
{
    pthread_mutex_lock(&lock);
    return given;
}

int main(void)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    for (int i = 1; i <= 50; i++)
        SAY(x, i);
    kill(getpid(), SIGKILL);
    return 0;
}
