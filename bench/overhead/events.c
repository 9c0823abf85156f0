// The event path: two threads write a watched variable as fast as they can, so that every write is a relevant event.
// Each has a variable of its own (the property names both); with the argument `same` after the size both write the
// first.
#include "work.h"

volatile long left;
volatile long right;
static long writes_each;
static int same;

static void *worker(void *number)
{
    volatile long *mine = number == NULL || same ? &left : &right;
    for (long i = 1; i <= writes_each; i++)
        *mine = i;
    return NULL;
}

int main(int argc, char **argv)
{
    writes_each = size_argument(argc, argv, 4000000) / WORKERS;
    same = argc > 2 && strcmp(argv[2], "same") == 0;
    run_workers(worker);
    return print_sum((uint64_t)(left + (same ? 0 : right)));
}
