// A read-mostly cache: readers take the reader side of a rwlock, look a key up and read the whole entry; one request in
// 256 refreshes an entry under the writer side.
#include "work.h"

enum { ENTRIES = 4096, WORDS = 16, REFRESH = 256, EPOCH = 2048 };

struct entry {
    uint64_t key;
    uint64_t word[WORDS];
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct entry *entry;
static long requests_each;
static uint64_t sums[WORKERS][16];
long opened;
long closed;

static uint64_t look_up(uint64_t key)
{
    uint64_t sum = 0;
    pthread_rwlock_rdlock(&lock);
    const struct entry *found = &entry[key % ENTRIES];
    for (int i = 0; i < WORDS; i++)
        sum = mix(sum, found->word[i]);
    sum ^= found->key;
    pthread_rwlock_unlock(&lock);
    return sum;
}

// Computes again what the entry holds already, so that readers' sums do not depend on the schedule.
static void refresh(uint64_t key, int epoch)
{
    pthread_rwlock_wrlock(&lock);
    if (epoch)
        opened++;
    struct entry *found = &entry[key % ENTRIES];
    uint64_t state = key % ENTRIES + 1;
    found->key = key % ENTRIES;
    for (int i = 0; i < WORDS; i++) {
        state = random_next(state);
        found->word[i] = random_value(state);
    }
    if (epoch)
        closed++;
    pthread_rwlock_unlock(&lock);
}

static void *worker(void *number)
{
    const intptr_t me = (intptr_t)number;
    uint64_t state = (uint64_t)me * 31 + 5;
    uint64_t sum = 0;
    for (long i = 0; i < requests_each; i++) {
        state = random_next(state);
        const uint64_t key = random_value(state) >> 16;
        if (i % REFRESH == 0)
            refresh(key, i % EPOCH == 0);
        sum += look_up(key);
    }
    sums[me][0] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    requests_each = size_argument(argc, argv, 16000000) / WORKERS;
    entry = allocate(ENTRIES, sizeof *entry);
    for (uint64_t i = 0; i < ENTRIES; i++)
        refresh(i, 0);
    run_workers(worker);
    free(entry);
    return print_sum(sums[0][0] + sums[1][0]);
}
