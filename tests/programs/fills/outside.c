/* A variable is written by code that is not instrumented, in the way that the argument names. */
#include <portent.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int level, other;
void fill_from_outside(int value);

__attribute__((no_sanitize("thread"))) static void opted_out(void)
{
    level = 5;
}

/* Another process writes the object. */
static void share(void)
{
    int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        _exit(1);
    portent_watch(page, sizeof *page, PORTENT_INT, "page");
    pid_t child = fork();
    if (child == 0) {
        *page = 5;
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    int ends[2], ten = 10;
    level = 1;
    other = 1;
    if (strcmp(way, "lib") == 0) {
        fill_from_outside(5);
    } else if (strcmp(way, "asm") == 0) {
        __asm__ volatile("movl $5, %0" : "=m"(level));
    } else if (strcmp(way, "raw") == 0) {
        if (pipe(ends) || write(ends[1], &ten, sizeof ten) != sizeof ten)
            return 1;
        syscall(SYS_read, ends[0], &level, sizeof level);
    } else if (strcmp(way, "opt") == 0) {
        opted_out();
    } else if (strcmp(way, "over") == 0) {
        fill_from_outside(2000); /* which breaks the property, and nobody reads it */
        level = 3;
    } else if (strcmp(way, "shared") == 0) {
        share();
    }
    return 0;
}
