/* A mapping that was ended before: what the program does about the fault does not matter.
 * life: use after free, observed w:B free:A
 */
#include "races.h"
#include <sys/mman.h>

static void on_fault(int signal)
{
    (void)signal;
    exit(0);
}

int main(void)
{
    volatile char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, on_fault);
    munmap((void *)pages, 8192); /* A */
    pages[5000] = 1; /* B */
    return 0;
}
