/*
 * Transfers between two accounts, each with its lock. Three operations are meant to be atomic and marked as blocks:
 * `transfer` gives the first account's lock back before it takes the second's, so that an audit can come in between and
 * miss the money; `refund` and `audit` hold both locks. Nothing here is a data race.
 */
#include <portent.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t checking_lock = PTHREAD_MUTEX_INITIALIZER, saving_lock = PTHREAD_MUTEX_INITIALIZER;
static int checking = 100, saving = 0;
static int total;

static void transfer(int amount)
{
    portent_begin("transfer");
    pthread_mutex_lock(&checking_lock);
    checking -= amount;
    pthread_mutex_unlock(&checking_lock);
    usleep(60000);
    pthread_mutex_lock(&saving_lock);
    saving += amount;
    pthread_mutex_unlock(&saving_lock);
    portent_end("transfer");
}

static void refund(int amount)
{
    portent_begin("refund");
    pthread_mutex_lock(&checking_lock);
    pthread_mutex_lock(&saving_lock);
    saving -= amount;
    checking += amount;
    pthread_mutex_unlock(&saving_lock);
    pthread_mutex_unlock(&checking_lock);
    portent_end("refund");
}

static void audit(void)
{
    portent_begin("audit");
    pthread_mutex_lock(&checking_lock);
    pthread_mutex_lock(&saving_lock);
    total = checking + saving;
    pthread_mutex_unlock(&saving_lock);
    pthread_mutex_unlock(&checking_lock);
    portent_end("audit");
}

static void *teller(void *unused)
{
    transfer(30);
    refund(10);
    return unused;
}

static void *auditor(void *unused)
{
    usleep(30000);
    audit();
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, teller, NULL);
    pthread_create(&threads[1], NULL, auditor, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    printf("the audit found %d\n", total);
    return 0;
}
