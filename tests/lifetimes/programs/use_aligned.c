/* Memory of posix_memalign and aligned_alloc.
 * life: use after free, observed w:B free:A
 * life: use after free, observed w:D free:C
 */
#include "races.h"

int main(void)
{
    void *memory;
    NEED(posix_memalign(&memory, 256, 512) == 0);
    volatile char *first = memory, *second = aligned_alloc(64, 128);
    free(memory); /* A */
    first[511] = 1; /* B */
    free((void *)second); /* C */
    second[0] = 1; /* D */
    return 0;
}
