/* A mapping's addresses are mapped again by another thread.
 * race: none
 */
#include "races.h"
#include <sys/mman.h>

/* Far from where the kernel puts mappings by itself: nobody else takes it while it is free. */
static void *const address = (void *)0x100000000000;

static void *one(void *unused)
{
    char *pages = mmap(address, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    NEED(pages == address);
    pages[5000] = 1;
    munmap(pages, 8192);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    char *pages = mmap(address, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    NEED(pages == address);
    pages[5000] = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
