/* While money is on its way from one account to the other, the sum of both is wrong.
 * bug: atomicity violation
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static struct {
    pthread_mutex_t m;
    int balance;
} a = {LOCK, 100}, b = {LOCK, 100};

static void *transfer(void *unused)
{
    lock(&a.m);
#ifdef FIXED
    lock(&b.m);
    a.balance -= 30;
    b.balance += 30;
    unlock(&b.m);
    unlock(&a.m);
#else
    a.balance -= 30;
    unlock(&a.m);
    lock(&b.m); /* A */
    b.balance += 30;
    unlock(&b.m);
#endif
    return unused;
}

static void *auditor(void *unused)
{
    lock(&a.m);
    lock(&b.m);
    assert(a.balance + b.balance == 200);
    unlock(&b.m);
    unlock(&a.m);
    return unused;
}

int main(void)
{
    both(transfer, auditor);
    return 0;
}
