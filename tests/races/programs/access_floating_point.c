/* Floating point numbers of each size.
 * race: f w:A w:D
 * race: d w:B w:E
 * race: l w:C w:F
 * tsan: not l, it does not instrument numbers of ten bytes
 */
#include "races.h"

static float f;
static double d;
static long double l;

static void *one(void *unused)
{
    f = 1; /* A */
    d = 1; /* B */
    l = 1; /* C */
    return NULL;
}

static void *two(void *unused)
{
    f = 2; /* D */
    d = 2; /* E */
    l = 2; /* F */
    return NULL;
}

int main(void)
{
    both(one, two);
    return f + d + l == 0;
}
