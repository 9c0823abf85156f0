/* Two clerks look whether the last seat is free, and both sell it.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int seats = 1, sold;

static void *clerk(void *unused)
{
#ifdef FIXED
    int seen = seats;
    while (seen > 0 && !atomic_compare_exchange_strong(&seats, &seen, seen - 1))
        continue;
    if (seen > 0)
        sold++;
#else
    if (seats > 0) {
        seats--; /* A */
        sold++;
    }
#endif
    return unused;
}

int main(void)
{
    both(clerk, clerk);
    printf("sold %d\n", sold);
    assert(sold <= 1);
    return 0;
}
