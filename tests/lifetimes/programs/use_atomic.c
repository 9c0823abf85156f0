/* An atomic update of freed memory.
 * life: use after free, observed u:B free:A
 */
#include "races.h"

static atomic_int *counter;

int main(void)
{
    counter = calloc(1, sizeof *counter);
    atomic_fetch_add(counter, 1);
    free(counter); /* A */
    atomic_fetch_add(counter, 1); /* B */
    return 0;
}
