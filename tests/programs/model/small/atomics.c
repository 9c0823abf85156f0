/* expect: fetch true, fetch true, plain false, plain false, swap false, swap false */
/* An atomic update is one step; a loop of compare-and-swap is several. */
#include <pthread.h>
#include <stdatomic.h>

#include "portent.h"

static atomic_int counter;
static int plain;

static void *run(void *arg)
{
    portent_begin("fetch");
    atomic_fetch_add(&counter, 1);
    portent_end("fetch");
    portent_begin("plain");
    plain++;
    portent_end("plain");
    portent_begin("swap");
    int old = counter;
    while (!atomic_compare_exchange_weak(&counter, &old, old + 1))
        ;
    portent_end("swap");
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
