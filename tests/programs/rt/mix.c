/*
 * Three threads on unwatched memory, mostly reading; now and then each has an event of its own (a write of `own`).
 * Every value stored is new, so the values alone tell the order of all accesses of a variable, and run_rt.py computes
 * from the log what each event must know. mix VARIABLES OPERATIONS EVERY LOG; a line of the log is THREAD KIND VARIABLE
 * VALUE OLD        KIND: e event, r read, w write by its only writer, u update of OLD
 *
 * Variables: 0 mod 3 are written by all, by exchange and compare-exchange; 1 mod 3 by one thread; 2 mod 3 are of four
 * bytes, two to a granule, each written by one thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "hooks.h"

enum { THREADS = 3 };

struct entry {
    char kind;
    int variable;
    uint64_t value, old;
};

_Alignas(64) uint64_t own[THREADS][8];
static uint64_t *wide;
static uint32_t *narrow;
static int variables;
static long operations, every;
static struct entry *logs[THREADS];
static long logged[THREADS];
static pthread_barrier_t barrier;

static void *at(int variable)
{
    return variable % 3 == 2 ? (void *)&narrow[variable / 3] : (void *)&wide[variable];
}

static uint64_t load(int variable, unsigned random)
{
    if (variable % 3 == 2)
        return __portent_load4(at(variable), SITE);
    if (random & 1)
        return __portent_atomic_load8(at(variable), __ATOMIC_ACQUIRE, SITE);
    return __portent_load8(at(variable), SITE);
}

static void note(int me, struct entry entry)
{
    logs[me][logged[me]++] = entry;
}

static struct entry exchange(int me, int variable, uint64_t value, unsigned random)
{
    if (random & 1)
        return (struct entry){'u', variable, value,
                              __portent_atomic_rmw8(at(variable), value, PT_RMW_XCHG, __ATOMIC_SEQ_CST, SITE)};
    uint64_t expected = random & 2 ? load(variable, 0) : *(uint64_t *)at(variable);
    if (random & 2) /* a read for itself: another thread may come in between */
        note(me, (struct entry){'r', variable, expected, 0});
    uint64_t old = __portent_atomic_cas8(at(variable), expected, value, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, SITE);
    return (struct entry){old == expected ? 'u' : 'r', variable, old == expected ? value : old, old};
}

static struct entry store(int variable, uint64_t value)
{
    if (variable % 3 == 2)
        __portent_store4(at(variable), (uint32_t)value, SITE);
    else
        __portent_store8(at(variable), value, SITE);
    return (struct entry){'w', variable, value, 0};
}

static void *run(void *context)
{
    int me = (int)(long)context;
    uint64_t random = 88172645463325252u + (uint64_t)me;
    uint32_t fresh = (uint32_t)me + 1;
    pthread_barrier_wait(&barrier);
    for (long i = 0; i < operations; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int variable = (int)(random % (unsigned)variables);
        unsigned dice = (unsigned)(random >> 40);
        if (i % every == every - 1) {
            ST8(&own[me][0], i);
            note(me, (struct entry){'e', 0, (uint64_t)i, 0});
        } else if (dice % 8 != 0 || (variable % 3 != 0 && variable / 3 % THREADS != me)) {
            note(me, (struct entry){'r', variable, load(variable, dice >> 8), 0});
        } else if (variable % 3 == 0) {
            note(me, exchange(me, variable, fresh += THREADS, dice >> 8));
        } else {
            note(me, store(variable, fresh += THREADS));
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    variables = atoi(argv[1]);
    operations = atol(argv[2]);
    every = atol(argv[3]);
    wide = calloc((size_t)variables, sizeof *wide);
    narrow = calloc((size_t)variables, sizeof *narrow);
    pthread_barrier_init(&barrier, NULL, THREADS);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) {
        logs[i] = calloc(2 * (size_t)operations, sizeof *logs[i]);
        pthread_create(&threads[i], NULL, run, (void *)i);
    }
    for (long i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    FILE *log = fopen(argv[4], "w");
    if (!log)
        return 1;
    for (int i = 0; i < THREADS; i++)
        for (struct entry *e = logs[i]; e < logs[i] + logged[i]; e++)
            fprintf(log, "%d %c %d %lu %lu\n", i, e->kind, e->variable, e->value, e->old);
    return fclose(log) != 0;
}
