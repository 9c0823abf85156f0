/* A bank: `split` lets go of the first account before it takes the second, `whole` and `audit` hold both. */
#include <pthread.h>
#include <stdio.h>

#include "portent.h"

struct account {
    pthread_mutex_t lock;
    int balance;
};
static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 100}};
static int total;

static void change(struct account *account, int amount)
{
    account->balance += amount;
}

static void *teller(void *arg)
{
    for (int i = 0; i < 1000; i++) {
        portent_begin("split");
        pthread_mutex_lock(&accounts[0].lock);
        change(&accounts[0], -1);
        pthread_mutex_unlock(&accounts[0].lock);
        pthread_mutex_lock(&accounts[1].lock);
        change(&accounts[1], 1);
        pthread_mutex_unlock(&accounts[1].lock);
        portent_end("split");
    }
    return arg;
}

static void *manager(void *arg)
{
    const struct account *first = &accounts[0];
    portent_begin("whole");
    pthread_mutex_lock(&accounts[0].lock);
    pthread_mutex_lock(&accounts[1].lock);
    if (first->balance > 10) {
        change(&accounts[0], -10);
        change(&accounts[1], 10);
    }
    pthread_mutex_unlock(&accounts[1].lock);
    pthread_mutex_unlock(&accounts[0].lock);
    portent_end("whole");
    portent_begin("audit");
    pthread_mutex_lock(&accounts[0].lock);
    pthread_mutex_lock(&accounts[1].lock);
    total = accounts[0].balance + accounts[1].balance;
    pthread_mutex_unlock(&accounts[1].lock);
    pthread_mutex_unlock(&accounts[0].lock);
    portent_end("audit");
    return arg;
}

int main(void)
{
    pthread_t tellers[2], boss;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&tellers[i], NULL, teller, NULL) != 0)
            return 1;
    pthread_create(&boss, NULL, manager, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    pthread_join(boss, NULL);
    printf("%d\n", total);
    return 0;
}
