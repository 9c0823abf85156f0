/* A look-up finds the object, and counts itself as its user only after the last user has freed it.
 * bug: use after free
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static struct object *_Atomic table;
static _Atomic int users = 1;
static pthread_mutex_t m = LOCK;

static void *look_up(void *unused)
{
#ifdef FIXED
    lock(&m);
#endif
    struct object *found = table;
    if (found) {
        users++; /* A */
#ifdef FIXED
        unlock(&m);
#endif
        use_object(found);
        if (atomic_fetch_sub(&users, 1) == 1)
            free_object(found);
    }
#ifdef FIXED
    else
        unlock(&m);
#endif
    return unused;
}

static void *drop(void *unused)
{
    lock(&m);
    struct object *mine = table;
    table = NULL;
    unlock(&m);
    if (atomic_fetch_sub(&users, 1) == 1)
        free_object(mine);
    return unused;
}

int main(void)
{
    table = make_object();
    both(look_up, drop);
    return 0;
}
