// A bank: each account has its lock, a transfer takes both in the order of their numbers. Every so often a worker stops
// all transfers it can meet (a lock for the branch) and books a fee into the globals that the property speaks of.
#include "work.h"

enum { ACCOUNTS = 1024, OPENING = 1000, AUDIT = 1024, STATEMENT = 16 };

struct account {
    pthread_mutex_t lock;
    long balance;
    long transfers;
    long statement[STATEMENT];
};

static struct account account[ACCOUNTS];
static pthread_mutex_t branch = PTHREAD_MUTEX_INITIALIZER;
static long transfers_each;
long fees;
long booked;
int auditing;

static void transfer(unsigned from, unsigned to, long amount)
{
    struct account *first = &account[from < to ? from : to];
    struct account *second = &account[from < to ? to : from];
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    struct account *source = &account[from];
    struct account *target = &account[to];
    source->balance -= amount;
    target->balance += amount;
    source->statement[source->transfers++ % STATEMENT] = -amount;
    target->statement[target->transfers++ % STATEMENT] = amount;
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
}

static void audit(void)
{
    pthread_mutex_lock(&branch);
    auditing = 1;
    fees += 2;
    booked += 2;
    auditing = 0;
    pthread_mutex_unlock(&branch);
}

static void *worker(void *number)
{
    uint64_t state = (uint64_t)(intptr_t)number * 977 + 1;
    for (long i = 0; i < transfers_each; i++) {
        state = random_next(state);
        const uint64_t value = random_value(state) >> 20;
        const unsigned from = (unsigned)(value % ACCOUNTS);
        const unsigned step = 1 + (unsigned)(value / ACCOUNTS % (ACCOUNTS - 1));
        transfer(from, (from + step) % ACCOUNTS, (long)(value >> 30 & 63));
        if (i % AUDIT == 0)
            audit();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    transfers_each = size_argument(argc, argv, 16000000) / WORKERS;
    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&account[i].lock, NULL);
        account[i].balance = OPENING;
    }
    run_workers(worker);
    uint64_t sum = (uint64_t)(fees + booked);
    long total = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        sum = mix(sum, (uint64_t)account[i].balance);
        sum = mix(sum, (uint64_t)account[i].transfers);
        total += account[i].balance;
    }
    return print_sum(mix(sum, (uint64_t)total));
}
