/* Mappings come and go at the same addresses.
 * life: none
 */
#include "races.h"
#include <sys/mman.h>

int main(void)
{
    for (int i = 0; i < 100; i++) {
        size_t size = (size_t)(1 + i % 5) * 65536;
        volatile char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        NEED(pages != MAP_FAILED);
        for (size_t at = 0; at < size; at += 512)
            pages[at] = 1;
        munmap((void *)pages, size);
        volatile char *block = malloc(300000);
        for (size_t at = 0; at < 300000; at += 512)
            block[at] = 1;
        free((void *)block);
    }
    return 0;
}
