// races: A-B
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

// Orders what happens, and nothing else: relaxed operations make no happens-before.
static atomic_int turn;
static void await(int n)
{
    while (atomic_load_explicit(&turn, memory_order_relaxed) < n)
        ;
}
static void next(int n)
{
    atomic_store_explicit(&turn, n, memory_order_relaxed);
}

static int *volatile block;
static void *first(void *p)
{
    *block = 1; //@A
    next(1);
    return p;
}
static void *second(void *p)
{
    await(1);
    free(block); //@B
    return p;
}
int main(void)
{
    pthread_t a, b;
    block = malloc(sizeof *block);
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
