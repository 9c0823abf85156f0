/* Compiled without Portent: threads take turns and hand over an address, and nobody sees that they are ordered. */
#include <sched.h>
#include <stdatomic.h>

static atomic_int turn;
static void *handed;

void *await(int number);
void pass(int number, void *address);

void *await(int number)
{
    while (atomic_load(&turn) != number)
        sched_yield();
    return handed;
}

void pass(int number, void *address)
{
    handed = address;
    atomic_store(&turn, number);
}
