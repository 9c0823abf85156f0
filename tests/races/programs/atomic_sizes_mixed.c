/* An atomic byte of an atomic word: accesses of different sizes, but both atomic.
 * race: none
 */
#include "races.h"

static _Alignas(8) long word;

static void *one(void *unused)
{
    __atomic_store_n(&word, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void *two(void *unused)
{
    __atomic_store_n((char *)&word + 3, 1, __ATOMIC_RELAXED);
    return NULL;
}

int main(void)
{
    both(one, two);
    return word == 0;
}
