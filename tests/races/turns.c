/* The turns of races.h. Compiled by clang alone: no tool sees that they order anything. */
#include "races.h"

#include <sched.h>
#include <time.h>

static atomic_int turn;

void pass(int number)
{
    atomic_store(&turn, number);
}

void await(int number)
{
    struct timespec pause = {0, 20000};
    for (int spins = 0; atomic_load(&turn) < number; spins++)
        if (spins < 100)
            sched_yield();
        else
            nanosleep(&pause, NULL);
}

void pass_one(void)
{
    atomic_fetch_add(&turn, 1);
}
