/* A static variable of a function that both threads call.
 * race: count rw:A rw:A
 */
#include "races.h"

static __attribute__((noinline)) int next(void)
{
    static int count;
    return ++count; /* A */
}

static void *one(void *unused)
{
    USE(next());
    return NULL;
}

int main(void)
{
    both(one, one);
    return 0;
}
