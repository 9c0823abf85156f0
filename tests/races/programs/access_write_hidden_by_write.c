/* A thread writes twice before another one does: the second write does not hide that the first one races too.
 * race: x w:A w:C
 * race: x w:B w:C
 * tsan: not w:A, the thread's second write has taken its place
 */
#include "races.h"

static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    pass(1);
    x = 2; /* B */
    pass(2);
    return NULL;
}

static void *two(void *unused)
{
    await(2);
    x = 3; /* C */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
