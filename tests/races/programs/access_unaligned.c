/* An unaligned number that reaches into the next eight bytes.
 * race: packed w:A w:B
 */
#include "races.h"

static struct __attribute__((packed, aligned(8))) {
    char before[6];
    volatile int number; /* bytes 6 to 9 */
    volatile char after[6];
} packed;

static void *one(void *unused)
{
    packed.number = 1; /* A */
    return NULL;
}

static void *two(void *unused)
{
    ((volatile char *)&packed)[9] = 1; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
