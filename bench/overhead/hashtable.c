// A chained hash table with striped locks: two threads insert and look up keys of their own and keys of both. Nodes
// come from malloc, so that lookups follow pointers through memory that the other thread has written.
#include <stdbool.h>

#include "work.h"

enum { BUCKETS = 1 << 14, STRIPES = 64, KEYS = 1 << 16, GROWTH = 256 };

struct node {
    uint64_t key;
    uint64_t count;
    struct node *next;
};

static struct node *bucket[BUCKETS];
static pthread_mutex_t stripe[STRIPES];
static pthread_mutex_t size_lock = PTHREAD_MUTEX_INITIALIZER;
static long operations_each;
long size_low;  // number of keys, in steps of GROWTH, as told at the beginning of an update
long size_high; // the same at its end

static unsigned place(uint64_t key)
{
    return (unsigned)(key * 0x9E3779B97F4A7C15ULL >> 50);
}

static bool count_key(uint64_t key)
{
    const unsigned at = place(key);
    pthread_mutex_t *lock = &stripe[at % STRIPES];
    pthread_mutex_lock(lock);
    struct node *node = bucket[at];
    while (node != NULL && node->key != key)
        node = node->next;
    const bool fresh = node == NULL;
    if (fresh) {
        node = allocate(1, sizeof *node);
        node->key = key;
        node->next = bucket[at];
        bucket[at] = node;
    }
    node->count++;
    pthread_mutex_unlock(lock);
    return fresh;
}

static bool has_key(uint64_t key)
{
    const unsigned at = place(key);
    pthread_mutex_t *lock = &stripe[at % STRIPES];
    pthread_mutex_lock(lock);
    const struct node *node = bucket[at];
    while (node != NULL && node->key != key)
        node = node->next;
    pthread_mutex_unlock(lock);
    return node != NULL;
}

static void grow(void)
{
    pthread_mutex_lock(&size_lock);
    size_low += GROWTH;
    size_high += GROWTH;
    pthread_mutex_unlock(&size_lock);
}

static void *worker(void *number)
{
    uint64_t state = (uint64_t)(intptr_t)number * 131 + 7;
    long fresh = 0;
    for (long i = 0; i < operations_each; i++) {
        state = random_next(state);
        const uint64_t value = random_value(state) >> 24;
        if ((value & 3) != 0) {
            (void)has_key(value / 4 % KEYS);
        } else if (count_key(value / 4 % KEYS) && ++fresh % GROWTH == 0) {
            grow();
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    operations_each = size_argument(argc, argv, 16000000) / WORKERS;
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripe[i], NULL);
    run_workers(worker);
    uint64_t sum = 0;
    for (int i = 0; i < BUCKETS; i++) {
        // The order within a chain depends on the schedule: add, do not chain.
        for (const struct node *node = bucket[i]; node != NULL; node = node->next)
            sum += mix(node->key, node->count);
    }
    for (int i = 0; i < BUCKETS; i++) {
        for (struct node *node = bucket[i], *next; node != NULL; node = next) {
            next = node->next;
            free(node);
        }
    }
    return print_sum(sum);
}
