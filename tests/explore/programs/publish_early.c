/* Double-checked locking that stores the pointer before the object is made.
 * bug: broken double-checked locking
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

struct config {
    _Atomic int size;
};
static struct config room;
static struct config *_Atomic instance;
static pthread_mutex_t m = LOCK;

static struct config *get(void)
{
    struct config *seen = instance;
    if (!seen) {
        lock(&m);
        seen = instance;
        if (!seen) {
            seen = &room;
#ifdef FIXED
            seen->size = 42;
            instance = seen;
#else
            instance = seen;
            seen->size = 42; /* A */
#endif
        }
        unlock(&m);
    }
    return seen;
}

static void *user(void *unused)
{
    assert(get()->size == 42);
    return unused;
}

int main(void)
{
    both(user, user);
    return 0;
}
