/* The last store into a variable is none of instrumented code, and the argument says how the variable then ends. */
#include <portent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int level;
static struct {
    _Alignas(4096) int cell;
    char rest[4092];
} page;

static void write_unseen(int *variable)
{
    __asm__ volatile("movl $5, %0" : "=m"(*variable));
}

static void free_object(void)
{
    int *object = malloc(sizeof *object);
    *object = 1;
    portent_watch(object, sizeof *object, PORTENT_INT, "object");
    write_unseen(object);
    free(object);
}

/* What the mapping brings is no store at all. */
static void map_over(void)
{
    page.cell = 1;
    if (mmap(&page, sizeof page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        _exit(1);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    level = 1;
    if (strcmp(way, "free") == 0)
        free_object();
    else if (strcmp(way, "map") == 0)
        map_over();
    else
        write_unseen(&level);
    if (strcmp(way, "_exit") == 0)
        _exit(0);
    if (strcmp(way, "quick_exit") == 0)
        quick_exit(0);
    if (strcmp(way, "exit_group") == 0)
        syscall(SYS_exit_group, 0);
    return 0;
}
