/* A mapping's addresses are mapped again by another thread.
 * race: none
 */
#include "races.h"
#include <sys/mman.h>

static void *address;

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
    address = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(address, 8192);
    both(one, two);
    return 0;
}
