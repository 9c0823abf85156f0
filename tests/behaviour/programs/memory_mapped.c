/* Mapped memory: anonymous, of a file, shared with a child, protected, given back and mapped again at once.
 * holds: x >= 0 && x <= 1023
 * violated: x != 77
 * ordered: yes
 * status: 67, without exec
 */
#include "say.h"
#include <sys/mman.h>
#include <sys/wait.h>

static int x;

int main(void)
{
    for (int i = 0; i < 20; i++) {
        int *cells = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        NEED(cells != MAP_FAILED && cells[1023] == 0);
        for (int j = 0; j < 1024; j++)
            cells[j] = j;
        SAY(x, cells[1023 - i]);
        munmap(cells, 4096);
    }
    int file = memfd_create("cells", MFD_CLOEXEC);
    NEED(ftruncate(file, 8192) == 0);
    int *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pid_t child = fork();
    if (child == 0) {
        shared[2000] = 77;
        _exit(0);
    }
    waitpid(child, NULL, 0);
    SAY(x, shared[2000]);
    mprotect(shared, 4096, PROT_READ);
    SAY(x, shared[0]);
    int seen;
    NEED(pread(file, &seen, sizeof seen, 8000) == sizeof seen);
    printf("%d\n", seen);
    return 0;
}
