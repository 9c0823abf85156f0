/* malloc, calloc, realloc, aligned_alloc, posix_memalign, strdup and free keep contents and alignment.
 * holds: sum >= 0
 * violated: sum != 45
 * ordered: yes
 */
#include "say.h"
#include <stdint.h>

static int sum;

int main(void)
{
    int *cells = malloc(10 * sizeof *cells);
    for (int i = 0; i < 10; i++)
        cells[i] = i;
    cells = realloc(cells, 100000 * sizeof *cells);
    for (int i = 0; i < 10; i++)
        SAY(sum, sum + cells[i]);
    cells = realloc(cells, 5 * sizeof *cells);
    for (int i = 0; i < 5; i++)
        SAY(sum, sum + cells[i]);
    free(cells);
    char *zeros = calloc(1000, 7), *aligned = aligned_alloc(256, 512), *copy = strdup("a copy");
    void *other;
    NEED(posix_memalign(&other, 4096, 100) == 0);
    for (int i = 0; i < 7000; i++)
        NEED(zeros[i] == 0);
    printf("%d %d %s\n", (int)((uintptr_t)aligned % 256), (int)((uintptr_t)other % 4096), copy);
    free(zeros), free(aligned), free(copy), free(other), free(NULL);
    printf("%d\n", sum);
    return 0;
}
