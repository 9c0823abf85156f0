/* A vector, and one of its elements.
 * race: v w:A w:B
 */
#include "races.h"

typedef int four __attribute__((vector_size(16)));
static four v;

static void *one(void *unused)
{
    v = (four){1, 2, 3, 4}; /* A */
    return NULL;
}

static void *two(void *unused)
{
    ((volatile int *)&v)[3] = 5; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return v[0] != 1;
}
