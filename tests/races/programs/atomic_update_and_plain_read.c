/* A plain read of what others count by atomic updates.
 * race: count u:A r:B
 * tsan: calls the update a write
 */
#include "races.h"

static int count;

static void *one(void *unused)
{
    __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(count); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return count != 1;
}
