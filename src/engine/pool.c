/*
 * The workers of an exploration. The first is the caller; the others are threads that are started when a level is wide
 * enough for them, and no more of them are waked for a level than it has work for. Each has a *share* of the items,
 * neighbours of each other and much the same in every round, so that what it reads is mostly what it wrote the round
 * before and has in its own cache. Who is done with its share helps others, so that work is even as long as there are
 * a few items for each.
 *
 * Guarantee: each item is done once, and all that was written for them is seen by the caller afterwards. Cost: one
 * atomic addition for each item, and two for each worker and round; nothing that is shared is written for a cut, and
 * no lock is taken unless somebody sleeps.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/lattice_impl.h"

/* Cuts for each worker, below which waking it costs more than it gains; and cuts in a level that are worth starting
 * threads for, which takes some 50 us each. */
enum { CUTS_FOR_EACH = 1024, WORTH_STARTING = 4096 };
/* A round is a number, which changes each time, and above these bits of it how many of the pool take part. */
enum { ROUND_BITS = 48 };
enum { SPINS = 4000 };

/* The items of one worker that nobody has taken yet. */
struct share {
    _Alignas(LAT_CACHE_LINE) _Atomic uint32_t next;
    uint32_t end;
};

struct lat_pool {
    pthread_t *threads;
    unsigned count; /* besides the caller */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    uint32_t spins; /* looks at the next job, or for the end of this one, before going to sleep */
    struct pt_lattice *lattice;
    void (*item)(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context);
    void *context;
    struct share *shares; /* of the caller and of each thread that takes part */
    unsigned sharers;
    bool quit;
    _Alignas(LAT_CACHE_LINE) _Atomic uint64_t round;
    _Atomic unsigned sleepers;  /* threads that wait for a round; changed with the lock */
    _Atomic bool caller_sleeps; /* changed with the lock */
    _Alignas(LAT_CACHE_LINE) _Atomic unsigned busy;
};

struct start {
    struct lat_pool *pool;
    unsigned worker;
    uint64_t seen;
};

static void *scratch(size_t bytes)
{
    return pt_xaligned(LAT_CACHE_LINE, bytes);
}

void lat_workers_columns(struct pt_lattice *l)
{
    for (unsigned w = 0; w < l->worker_count; w++) { /* what is in it lasts for one cut */
        free(l->workers[w].counts);
        l->workers[w].counts = scratch(l->column_cap * sizeof(uint64_t));
    }
}

void lat_workers_layout(struct pt_lattice *l)
{
    for (unsigned w = 0; w < l->worker_count; w++) {
        free(l->workers[w].key);
        l->workers[w].key = scratch(l->layout->words * sizeof(uint64_t));
    }
}

void lat_workers_grow(struct pt_lattice *l, unsigned count)
{
    if (count <= l->worker_count)
        return;
    struct lat_worker *workers = scratch(count * sizeof *workers);
    if (l->worker_count)
        memcpy(workers, l->workers, l->worker_count * sizeof *workers);
    free(l->workers);
    l->workers = workers;
    for (unsigned w = l->worker_count; w < count; w++) {
        pt_worker_cache_init(&workers[w].cache);
        workers[w].values = scratch(l->var_count * sizeof *workers[w].values);
    }
    l->worker_count = count;
    lat_workers_columns(l);
    if (l->layout)
        lat_workers_layout(l);
}

void lat_workers_free(struct pt_lattice *l)
{
    for (unsigned w = 0; w < l->worker_count; w++) {
        pt_worker_cache_release(&l->workers[w].cache);
        free(l->workers[w].table.slots);
        free(l->workers[w].values);
        free(l->workers[w].counts);
        free(l->workers[w].key);
    }
    free(l->workers);
}

static void work(struct lat_pool *pool, unsigned me)
{
    uint32_t number;
    for (unsigned i = 0; i < pool->sharers; i++) {
        struct share *share = &pool->shares[(me + i) % pool->sharers];
        while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end &&
               (number = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed)) < share->end)
            pool->item(pool->lattice, &pool->lattice->workers[me], number, pool->context);
    }
}

static inline void pause_briefly(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* Levels follow each other in less time than a thread takes to wake up, so who has nothing to do looks on for a while:
 * a worker, whether there is a new round, ... */
static bool round_comes(struct lat_pool *pool, uint64_t seen)
{
    for (uint32_t i = 0; i < pool->spins; i++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen)
            return true;
        pause_briefly();
    }
    return false;
}

/* ... and the caller, whether all are done. */
static bool all_come_back(struct lat_pool *pool)
{
    for (uint32_t i = 0; i < pool->spins; i++) {
        if (atomic_load_explicit(&pool->busy, memory_order_acquire) == 0)
            return true;
        pause_briefly();
    }
    return false;
}

/* A worker that takes no part in a round reads nothing but its word: the next one may begin meanwhile. */
static void *worker_main(void *argument)
{
    struct start start = *(struct start *)argument;
    struct lat_pool *pool = start.pool;
    uint64_t seen = start.seen;
    free(argument);
    for (;;) {
        if (!round_comes(pool, seen)) {
            pthread_mutex_lock(&pool->lock);
            pool->sleepers++; /* before it looks again, as the caller changes the round before it looks here */
            while (pool->round == seen)
                pthread_cond_wait(&pool->work, &pool->lock);
            pool->sleepers--;
            pthread_mutex_unlock(&pool->lock);
        }
        seen = atomic_load_explicit(&pool->round, memory_order_acquire);
        if (start.worker > seen >> ROUND_BITS)
            continue;
        if (pool->quit)
            return NULL;
        work(pool, start.worker);
        if (--pool->busy == 0 && pool->caller_sleeps) {
            pthread_mutex_lock(&pool->lock); /* the caller looks at `busy` with the lock before it sleeps */
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

/* A round for the first `active` of the threads, and the caller, with so many items. */
static void begin_round(struct lat_pool *pool, unsigned active, uint32_t items)
{
    uint64_t number = (pool->round + 1) & (((uint64_t)1 << ROUND_BITS) - 1);
    pool->sharers = active + 1;
    for (uint32_t w = 0; w <= active; w++) {
        atomic_store_explicit(&pool->shares[w].next, (uint32_t)((uint64_t)items * w / (active + 1)),
                              memory_order_relaxed);
        pool->shares[w].end = (uint32_t)((uint64_t)items * (w + 1) / (active + 1));
    }
    pool->busy = active;
    pool->round = number | (uint64_t)active << ROUND_BITS;
    if (pool->sleepers) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
    }
}

/* As many threads as can be had, up to `count`: with fewer the result is the same. */
static void start_threads(struct lat_pool *pool, unsigned count)
{
    if (count <= pool->count)
        return;
    lat_workers_grow(pool->lattice, count + 1); /* nobody is at work */
    pool->threads = pt_xrealloc(pool->threads, count * sizeof *pool->threads);
    free(pool->shares);
    pool->shares = scratch((count + 1) * sizeof *pool->shares);
    while (pool->count < count) {
        struct start *start = pt_xmalloc(sizeof *start);
        *start = (struct start){pool, pool->count + 1, pool->round};
        if (pthread_create(&pool->threads[pool->count], NULL, worker_main, start) != 0) {
            free(start);
            break;
        }
        pool->count++;
    }
}

static struct lat_pool *pool_new(struct pt_lattice *l)
{
    struct lat_pool *pool = scratch(sizeof *pool);
    pool->lattice = l;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->spins = l->options->jobs <= l->options->cores ? SPINS : 0;
    return pool;
}

void lat_pool_free(struct pt_lattice *l)
{
    struct lat_pool *pool = l->pool;
    if (!pool)
        return;
    pool->quit = true;
    begin_round(pool, pool->count, 0);
    for (unsigned i = 0; i < pool->count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    free(pool->threads);
    free(pool->shares);
    free(pool);
    l->pool = NULL;
}

unsigned lat_pool_workers(const struct pt_lattice *l, uint64_t cuts)
{
    uint64_t most = l->options->jobs, enough = l->options->cuts_for_each;
    if (!enough && !l->pool && cuts < WORTH_STARTING)
        return 1;
    uint64_t workers = cuts / (enough ? enough : CUTS_FOR_EACH);
    return (unsigned)(workers > most ? most : workers ? workers : 1);
}

void lat_pool_run(struct pt_lattice *l, uint64_t cuts,
                  void (*item)(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context),
                  void *context, uint32_t count)
{
    unsigned workers = lat_pool_workers(l, cuts);
    workers = workers < count ? workers : count;
    if (workers <= 1) {
        for (uint32_t i = 0; i < count; i++)
            item(l, &l->workers[0], i, context);
        return;
    }
    if (!l->pool)
        l->pool = pool_new(l);
    struct lat_pool *pool = l->pool;
    start_threads(pool, workers - 1);
    pool->item = item;
    pool->context = context;
    begin_round(pool, workers - 1 < pool->count ? workers - 1 : pool->count, count);
    work(pool, 0);
    if (all_come_back(pool))
        return;
    pthread_mutex_lock(&pool->lock);
    pool->caller_sleeps = true; /* before it looks, as who is last leaves `busy` before it looks here */
    while (pool->busy)
        pthread_cond_wait(&pool->done, &pool->lock);
    pool->caller_sleeps = false;
    pthread_mutex_unlock(&pool->lock);
}
