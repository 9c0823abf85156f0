/* Bytes around an unaligned number, which share no byte with it.
 * race: none
 */
#include "races.h"

static struct __attribute__((packed, aligned(8))) {
    volatile char before[6];
    volatile int number; /* bytes 6 to 9 */
    volatile char after[6];
} packed;

static void *one(void *unused)
{
    packed.number = 1;
    return NULL;
}

static void *two(void *unused)
{
    packed.before[5] = 1;
    packed.after[0] = 1;
    return NULL;
}

int main(void)
{
    both(one, two);
    return packed.number != 1;
}
