/* The balance is looked at under the lock, and the money taken later, under the lock again.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static int balance = 100;
static pthread_mutex_t m = LOCK;

static void *withdraw(void *unused)
{
    lock(&m);
    int enough = balance >= 60;
#ifndef FIXED
    unlock(&m);
    lock(&m);
#endif
    if (enough)
        balance -= 60; /* A */
    assert(balance >= 0);
    unlock(&m);
    return unused;
}

static void *deposit(void *unused)
{
    lock(&m);
    balance += 10;
    unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t first = start(withdraw, NULL), second = start(deposit, NULL), third = start(withdraw, NULL);
    join(first);
    join(second);
    join(third);
    return 0;
}
