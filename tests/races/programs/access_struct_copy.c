/* A struct is copied while another thread writes a member.
 * race: from w:A r:B
 */
#include "races.h"

struct large {
    long numbers[20];
};
static struct large from, to;

static void *one(void *unused)
{
    from.numbers[13] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    to = from; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return to.numbers[0];
}
