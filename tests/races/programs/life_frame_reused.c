/* A frame of the stack is given to another thread under a lock, and the next call uses the same memory.
 * race: none
 */
#include "races.h"

static sem_t given, used;
static int *address;

static __attribute__((noinline)) void lend(void)
{
    int local = 0;
    address = &local;
    sem_post(&given);
    sem_wait(&used);
    NEED(local == 1);
}

static __attribute__((noinline)) void other(void)
{
    volatile int numbers[8];
    for (int i = 0; i < 8; i++)
        numbers[i] = i;
    USE(numbers[3]);
}

static void *one(void *unused)
{
    lend();
    other();
    return NULL;
}

static void *two(void *unused)
{
    sem_wait(&given);
    *address = 1;
    sem_post(&used);
    return NULL;
}

int main(void)
{
    sem_init(&given, 0, 0);
    sem_init(&used, 0, 0);
    both(one, two);
    return 0;
}
