/* An atomic byte, and plain ones beside it.
 * race: none
 */
#include "races.h"

static _Alignas(8) struct {
    char before;
    atomic_char middle;
    char after;
    atomic_short last;
} s;

static void *one(void *unused)
{
    s.before = 1;
    atomic_store(&s.middle, 2);
    return NULL;
}

static void *two(void *unused)
{
    s.after = 3;
    atomic_fetch_add(&s.middle, 1);
    atomic_store_explicit(&s.last, 4, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    both(one, two);
    return s.before + s.after + s.last != 8;
}
