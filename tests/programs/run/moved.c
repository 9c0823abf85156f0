/* Memory that goes from one thread to another through the kernel; the thread `second` acts when `first` has passed its
 * turn. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

enum { SIZE = 1 << 16, AT = 80 };
void *await(int number);
void pass(int number, void *address);

static const char *kind;

static char *map(void *where, size_t size, int flags)
{
    char *got = mmap(where, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (got == MAP_FAILED || (where && got != where))
        _exit(3);
    return got;
}

static int is(const char *name)
{
    return strcmp(kind, name) == 0;
}

/* The address in which the second thread's accesses are to fall. */
static char *use_and_give(void)
{
    char *two = is("brk") || is("brk_to") ? sbrk(2 * SIZE)
                : is("shm")               ? shmat(shmget(IPC_PRIVATE, 2 * SIZE, 0600), NULL, 0)
                                          : map(NULL, 2 * SIZE, 0);
    char *to = is("fixed") ? map(NULL, SIZE, 0) : NULL;
    two[AT] = 1;
    two[SIZE + AT] = 1;
    if (is("grow") || is("race")) {
        map(two + SIZE, SIZE, MAP_FIXED); /* in the way */
        two[AT] = 2;
        char *moved = mremap(two, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED || moved == two)
            _exit(4);
        if (is("grow"))
            return two;
        moved[AT]++;
        return moved;
    }
    if (is("fixed")) {
        two[AT] = 3;
        if (mremap(two, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to) != to)
            _exit(5);
        return two;
    }
    if (is("stays")) {
        two[AT] = 4;
        return mremap(two, 2 * SIZE, SIZE, MREMAP_MAYMOVE) == two ? two : NULL;
    }
    if (is("shrink"))
        return mremap(two, 2 * SIZE, SIZE, 0) == two ? two + SIZE : NULL;
    if (is("brk"))
        return sbrk(-2 * SIZE) == two + 2 * SIZE ? two + SIZE : NULL;
    if (is("brk_to"))
        return brk(two) == 0 ? two + SIZE : NULL;
    return shmdt(two) == 0 ? two + SIZE : NULL;
}

static void *first(void *unused)
{
    await(3); /* what the runtime keeps of the other thread must not take the place that is given back */
    pass(1, use_and_give());
    await(2);
    return unused;
}

static void *second(void *unused)
{
    pass(3, NULL);
    char *at = await(1);
    if (is("brk") || is("brk_to"))
        at = (char *)sbrk(2 * SIZE) + SIZE;
    else if (!is("race") && !is("stays"))
        at = map(at, SIZE, 0);
    at[AT]++;
    pass(2, NULL);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    kind = argc > 1 ? argv[1] : "";
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    puts("used");
    return 0;
}
