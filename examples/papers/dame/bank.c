/*
 * The DAME paper's bank (sections 3 and 5): one teller moves money between a checking and a saving account, another
 * adds the two up, 2000 transactions in all, each of which is meant to be atomic. Every account has a lock, so that
 * there is no data race; but a transaction takes them one after the other, and another one can come in between. With
 * the argument `whole` a transaction has the bank for itself.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portent.h>

enum { TRANSACTIONS = 2000, TELLERS = 2, OPENING = 1000, AMOUNT = 30 };

static struct account {
    pthread_mutex_t lock;
    long balance;
} checking = {PTHREAD_MUTEX_INITIALIZER, OPENING}, saving = {PTHREAD_MUTEX_INITIALIZER, 0};

static pthread_mutex_t bank = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t opening; /* both tellers are there */
static int whole;

static long add(struct account *account, long amount)
{
    pthread_mutex_lock(&account->lock);
    long balance = account->balance += amount;
    pthread_mutex_unlock(&account->lock);
    return balance;
}

static void begin(long execution)
{
    if (whole)
        pthread_mutex_lock(&bank);
    portent_internal("execution", execution);
}

static void end(void)
{
    portent_internal("execution", 0);
    if (whole)
        pthread_mutex_unlock(&bank);
}

/* Now and then a teller has to look something up between the two accounts, and the other one goes on. */
static void look_up(long execution)
{
    if (execution % 100 == 0)
        usleep(1000);
}

static void *transfer(void *unused)
{
    pthread_barrier_wait(&opening);
    for (long i = 1; i <= TRANSACTIONS / TELLERS; i++) {
        begin(i);
        add(&checking, i % 2 ? -AMOUNT : AMOUNT);
        look_up(i);
        add(&saving, i % 2 ? AMOUNT : -AMOUNT);
        end();
    }
    return unused;
}

static void *calc_balance(void *ret_wrong)
{
    pthread_barrier_wait(&opening);
    for (long i = 1; i <= TRANSACTIONS / TELLERS; i++) {
        begin(i);
        long sum = add(&checking, 0);
        look_up(i);
        sum += add(&saving, 0);
        end();
        *(long *)ret_wrong += sum != OPENING;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t mover, adder;
    long wrong = 0;
    whole = argc > 1 && strcmp(argv[1], "whole") == 0;
    if (pthread_barrier_init(&opening, NULL, TELLERS) != 0 || pthread_create(&mover, NULL, transfer, NULL) != 0 ||
        pthread_create(&adder, NULL, calc_balance, &wrong) != 0)
        return 1;
    pthread_join(mover, NULL);
    pthread_join(adder, NULL);
    printf("%d transactions, %ld wrong sums\n", TRANSACTIONS, wrong);
    return 0;
}
