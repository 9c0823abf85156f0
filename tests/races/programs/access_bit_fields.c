/* Neighbouring bit-fields are one memory location: writing one reads and writes the bits of the other.
 * race: bits rw:A rw:B
 * tsan: calls them 0 where the optimiser has made a number of them
 */
#include "races.h"

struct fields {
    unsigned one : 3, two : 5;
} bits;

static void *one(void *unused)
{
    bits.one = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    bits.two = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return bits.one + bits.two == 0;
}
