/* A mapping that ends while another thread may use it.
 * life: use after free, predicted w:A free:B
 */
#include "races.h"
#include <sys/mman.h>

static volatile char *pages;

static void *one(void *unused)
{
    pages[5000] = 1; /* A */
    pass(1);
    return NULL;
}

int main(void)
{
    pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t thread = start(one, NULL);
    await(1);
    munmap((void *)pages, 8192); /* B */
    pthread_join(thread, NULL);
    return 0;
}
