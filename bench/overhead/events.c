// The event path: threads write a watched variable as fast as they can, so that every write is a relevant event. Each
// has a variable of its own, up to eight of them (events.prop names those of two threads, events8.prop all); with the
// argument `same` after the size all write the first, with `many` each its element of an array (events64.prop).
#include "work.h"

volatile long left, right, third, fourth, fifth, sixth, seventh, eighth;
volatile long many[WORKERS];
static long writes_each;
static int same, spread;

static void *worker(void *number)
{
    volatile long *const all[] = {&left, &right, &third, &fourth, &fifth, &sixth, &seventh, &eighth};
    volatile long *mine = same ? &left : spread ? &many[(uintptr_t)number] : all[(uintptr_t)number % 8];
    for (long i = 1; i <= writes_each; i++)
        *mine = i;
    return NULL;
}

int main(int argc, char **argv)
{
    writes_each = size_argument(argc, argv, 4000000) / WORKERS;
    same = argc > 2 && strcmp(argv[2], "same") == 0;
    spread = argc > 2 && strcmp(argv[2], "many") == 0;
    run_workers(worker);
    return print_sum((uint64_t)(spread ? many[0] + many[1] : left + (same ? 0 : right)));
}
