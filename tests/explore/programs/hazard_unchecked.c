/* A hazard pointer is set, but not whether the object is still the current one looked at again.
 * bug: use after free
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static struct object *_Atomic current, *_Atomic hazard;

static void *reader(void *unused)
{
    struct object *seen = current;
    hazard = seen; /* A */
#ifdef FIXED
    while (seen != current) {
        seen = current;
        hazard = seen;
    }
#endif
    use_object(seen);
    hazard = NULL;
    return unused;
}

static void *updater(void *unused)
{
    struct object *old = atomic_exchange(&current, make_object());
    while (hazard == old)
        sched_yield();
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
