/* Members of one struct, of several sizes and without gaps.
 * race: none
 */
#include "races.h"

static struct {
    int a;
    short b;
    char c, d;
    long e;
} s;

static void *one(void *unused)
{
    s.a = 1;
    s.c = 2;
    return NULL;
}

static void *two(void *unused)
{
    s.b = 3;
    s.d = 4;
    s.e = 5;
    return NULL;
}

int main(void)
{
    both(one, two);
    return s.a + s.b + s.c + s.d + s.e != 15;
}
