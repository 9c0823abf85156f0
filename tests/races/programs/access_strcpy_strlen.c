/* strcpy writes what strlen reads.
 * race: text w:A r:B
 */
#include "races.h"

static char text[32] = "before";
static const char *volatile from = "some words";

static void *one(void *unused)
{
    strcpy(text, from); /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(strlen(text)); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
