/* A bit-field of no width between two others makes them memory locations of their own.
 * race: none
 */
#include "races.h"

static struct {
    unsigned char one : 3;
    unsigned char : 0;
    unsigned char two : 5;
} bits;

static void *one(void *unused)
{
    bits.one = 1;
    return NULL;
}

static void *two(void *unused)
{
    bits.two = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return bits.one + bits.two != 3;
}
