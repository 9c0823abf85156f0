/* A request is reset before its lock is taken, while another thread cancels it under the lock: nng's nni_aio_begin and
 * nni_aio_close.
 * race: cancel r:A w:C
 * race: cancel w:B w:C
 * tsan: has forgotten the read, which a write of the same thread follows
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void (*cancel)(void);
static int stopped;

static void *stop(void *unused)
{
    pthread_mutex_lock(&lock);
    void (*function)(void) = cancel; /* A */
    cancel = NULL;                   /* B */
    stopped = 1;
    pthread_mutex_unlock(&lock);
    pass(1);
    if (function)
        function();
    return unused;
}

static void *begin(void *unused)
{
    await(1);
    cancel = NULL; /* C */
    pthread_mutex_lock(&lock);
    USE(stopped);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    both(stop, begin);
    return 0;
}
