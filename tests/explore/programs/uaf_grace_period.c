/* The old version is freed as soon as the new one is there, without waiting for its readers.
 * bug: use after free
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static struct object *_Atomic current;
static _Atomic int readers;

static void *reader(void *unused)
{
    readers++;
    struct object *seen = current;
    use_object(seen); /* A */
    readers--;
    return unused;
}

static void *updater(void *unused)
{
    struct object *old = atomic_exchange(&current, make_object());
#ifdef FIXED
    while (readers)
        sched_yield();
#endif
    free_object(old);
    return unused;
}

int main(void)
{
    current = make_object();
    both(reader, updater);
    free_object(current);
    return 0;
}
