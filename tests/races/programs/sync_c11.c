/* Threads, mutexes, conditions, once and keys of C11.
 * race: none
 */
#include "races.h"
#include <threads.h>

static mtx_t lock;
static cnd_t changed;
static once_flag once = ONCE_FLAG_INIT;
static int ready, x, made;

static void make(void)
{
    made = 1;
}

static int one(void *unused)
{
    call_once(&once, make);
    x = made;
    mtx_lock(&lock);
    ready = 1;
    cnd_broadcast(&changed);
    mtx_unlock(&lock);
    return 3;
}

static int two(void *unused)
{
    call_once(&once, make);
    mtx_lock(&lock);
    while (!ready)
        cnd_wait(&changed, &lock);
    mtx_unlock(&lock);
    x += made;
    return 4;
}

int main(void)
{
    thrd_t a, b;
    int first, second;
    mtx_init(&lock, mtx_plain);
    cnd_init(&changed);
    NEED(thrd_create(&a, one, NULL) == thrd_success);
    NEED(thrd_create(&b, two, NULL) == thrd_success);
    thrd_join(a, &first);
    thrd_join(b, &second);
    x += first + second;
    return x != 9;
}
