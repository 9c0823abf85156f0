/* C11's threads, used rightly. */
#include <stdatomic.h>
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static int begun, ready;
static atomic_int sum;

static void initialise(void)
{
    begun = 1;
}

static int work(void *unused)
{
    (void)unused;
    call_once(&once, initialise);
    atomic_fetch_add(&sum, begun);
    mtx_lock(&lock);
    ready++;
    cnd_signal(&changed);
    mtx_unlock(&lock);
    thrd_yield();
    thrd_sleep(&(struct timespec){.tv_sec = 1000}, NULL);
    return 7;
}

int main(void)
{
    thrd_t threads[2];
    int result;
    mtx_init(&lock, mtx_timed);
    cnd_init(&changed);
    for (int i = 0; i < 2; i++)
        if (thrd_create(&threads[i], work, NULL) != thrd_success)
            return 1;
    mtx_lock(&lock);
    while (ready < 2)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    for (int i = 0; i < 2; i++)
        if (thrd_join(threads[i], &result) != thrd_success || result != 7)
            return 2;
    return sum == 2 ? 0 : 3;
}
