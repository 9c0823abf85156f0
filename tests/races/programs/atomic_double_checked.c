/* Double-checked locking by the book.
 * race: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *_Atomic made;

static int *get(void)
{
    int *p = atomic_load_explicit(&made, memory_order_acquire);
    if (p)
        return p;
    pthread_mutex_lock(&lock);
    p = atomic_load_explicit(&made, memory_order_relaxed);
    if (!p) {
        p = malloc(sizeof *p);
        *p = 5;
        atomic_store_explicit(&made, p, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return p;
}

static void *one(void *unused)
{
    NEED(*get() == 5);
    return NULL;
}

int main(void)
{
    both(one, one);
    return *get() != 5;
}
