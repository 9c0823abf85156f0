/* The last user is to end the object, but each of two sees the other's reference.
 * bug: check-then-act
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int users = 2, ended;

static void *release(void *unused)
{
#ifdef FIXED
    if (atomic_fetch_sub(&users, 1) == 1)
        ended = 1;
#else
    if (users == 1)
        ended = 1;
    else
        users--; /* A */
#endif
    return unused;
}

int main(void)
{
    both(release, release);
    printf("users %d, ended %d\n", users, ended);
    return ended ? 0 : 1;
}
