/* A mapping ends while another thread may still use it.
 * race: * w:A free:B
 * tsan: nothing, it forgets the mapping
 */
#include "races.h"
#include <sys/mman.h>

static char *pages;

static void *one(void *unused)
{
    pages[5000] = 1; /* A */
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    munmap(pages, 8192); /* B */
    return NULL;
}

int main(void)
{
    pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    both(one, two);
    return 0;
}
