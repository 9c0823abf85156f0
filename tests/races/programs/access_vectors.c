/* Vectors of 16 and 32 bytes side by side.
 * race: none
 */
#include "races.h"

typedef int four __attribute__((vector_size(16)));
typedef int eight __attribute__((vector_size(32)));
static struct {
    four a, b;
    eight c, d;
} v;

static void *one(void *unused)
{
    v.a = (four){1, 2, 3, 4};
    v.c = (eight){1, 2, 3, 4, 5, 6, 7, 8};
    return NULL;
}

static void *two(void *unused)
{
    v.b = (four){1, 2, 3, 4};
    v.d = (eight){1, 2, 3, 4, 5, 6, 7, 8};
    return NULL;
}

int main(void)
{
    both(one, two);
    return v.a[3] + v.d[7] != 12;
}
