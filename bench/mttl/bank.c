// The bank of the DAME paper: customers with a checking and a saving account each; tellers move money between the
// two and add them up, each transaction an atomic block under the customer's lock. Arguments: how many transactions,
// and how many lines of the customer's statement each writes (2: one for each account), which is the work it has beside
// the accounts. Prints the processor seconds that they took, and a checksum.
#include <portent.h>
#include <time.h>

#include "../overhead/work.h"

enum { CUSTOMERS = 256, OPENING = 1000, JOURNAL = 64, LINES = 16 };

static struct customer {
    pthread_mutex_t lock;
    long checking, saving;
    char journal[LINES][JOURNAL]; // the last transactions, as the customer's statement shows them
} customer[CUSTOMERS];
static long transactions_each, lines;

static long calc_balance(const struct customer *c)
{
    return c->checking + c->saving;
}

static void transfer(struct customer *c, long amount)
{
    c->checking -= amount;
    c->saving += amount;
    const long checking = c->checking, saving = c->saving, count = lines;
    for (long i = 0; i < count; i++)
        snprintf(c->journal[i], JOURNAL, "%ld: %s %ld, checking %ld, saving %ld", i, i % 2 ? "credit" : "debit", amount,
                 checking, saving);
}

static void *teller(void *number)
{
    uint64_t state = (uint64_t)(intptr_t)number * 977 + 1;
    for (long i = 0; i < transactions_each; i++) {
        state = random_next(state);
        const uint64_t value = random_value(state) >> 20;
        struct customer *c = &customer[value % CUSTOMERS];
        pthread_mutex_lock(&c->lock);
        portent_internal("execution", i + 1);
        const long before = calc_balance(c);
        transfer(c, (long)(value >> 30 & 63));
        if (calc_balance(c) != before)
            abort();
        portent_internal("execution", 0);
        pthread_mutex_unlock(&c->lock);
    }
    return NULL;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    transactions_each = size_argument(argc, argv, 2000) / WORKERS;
    lines = argc > 2 ? atol(argv[2]) : 2;
    if (lines < 0 || lines > LINES)
        return 2;
    for (int i = 0; i < CUSTOMERS; i++) {
        pthread_mutex_init(&customer[i].lock, NULL);
        customer[i].checking = OPENING;
    }
    const double begin = now();
    run_workers(teller);
    const double end = now();
    uint64_t sum = 0;
    for (int i = 0; i < CUSTOMERS; i++)
        sum = mix(mix(sum, (uint64_t)customer[i].checking), (uint64_t)customer[i].saving);
    printf("%.6f %016" PRIx64 "\n", end - begin, sum);
    return 0;
}
