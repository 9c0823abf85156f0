/*
 * Threads on unwatched memory, mostly reading; now and then each has an event of its own (a write of `own`). Every
 * value stored is new, so the values alone tell the order of all accesses of a variable, and run_rt.py computes from
 * the log what each event must know. After its share of the operations a thread ends, and its successor, the last it
 * has done is to start it, goes on: the two are one in the log.
 *
 *   mix THREADS GENERATIONS VARIABLES OPERATIONS EVERY SELDOM LOG [APART]
 *
 * An event in EVERY operations, a write in SELDOM. With APART each thread keeps to variables of its own, but for one
 * operation in so many.
 *
 * A line of the log is THREAD KIND VARIABLE VALUE OLD; KIND: e event, r read, w write by its only writer, u update of
 * OLD. Variables: 0 mod 3 are written by all, by exchange and compare-exchange; 1 mod 3 by one thread; 2 mod 3 are of
 * four bytes, two to a granule, each written by one thread.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hooks.h"

enum { THREADS = 16 };

struct entry {
    char kind;
    int variable;
    uint64_t value, old;
};

_Alignas(64) uint64_t own[THREADS][8];
static uint64_t *wide;
static uint32_t *narrow;
static int count, variables;
static long generations, operations, every, seldom, apart;
static struct entry *logs[THREADS];
static long logged[THREADS];
static pthread_barrier_t barrier;

static void *at(int variable)
{
    return variable % 3 == 2 ? (void *)&narrow[variable / 3] : (void *)&wide[2 * variable];
}

static uint64_t load(int variable, unsigned random)
{
    if (variable % 3 == 2)
        return __portent_load4(at(variable), SITE);
    if (random & 1)
        return __portent_atomic_load8(at(variable), __ATOMIC_ACQUIRE, SITE);
    return __portent_load8(at(variable), SITE);
}

/* Makes readers wait for the variable, not for its shadow: its cache line has another variable of nobody's concern. */
static void delay(int variable)
{
    if (variable % 3 != 2)
        ((volatile uint64_t *)at(variable))[1] = 0;
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

/* What goes from a thread to its successor. */
static struct line {
    uint64_t random;
    uint32_t fresh;
    long generation;
    pthread_t before;
} lines[THREADS];
static _Atomic int ended;

static void work(int me, struct line *line, long from, long to)
{
    for (long i = from; i < to; i++) {
        uint64_t random = line->random;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        line->random = random;
        int variable = (int)(random % (unsigned)variables);
        unsigned dice = (unsigned)(random >> 40);
        if (apart && (random >> 20) % (uint64_t)apart)
            variable = variable % (variables / count) + me * (variables / count);
        if (i % every == every - 1) {
            ST8(&own[me][0], i);
            note(me, (struct entry){'e', 0, (uint64_t)i, 0});
        } else if (dice % seldom != 0 || (variable % 3 != 0 && variable / 3 % count != me)) {
            note(me, (struct entry){'r', variable, load(variable, dice >> 8), 0});
        } else if (variable % 3 == 0) {
            delay(variable);
            note(me, exchange(me, variable, line->fresh += (uint32_t)count, dice >> 8));
        } else {
            delay(variable);
            note(me, store(variable, line->fresh += (uint32_t)count));
        }
    }
}

static void *run(void *context)
{
    int me = (int)(long)context;
    struct line *line = &lines[me];
    long generation = line->generation++;
    if (generation == 0)
        pthread_barrier_wait(&barrier);
    else if (generation % 2 == 0)
        pthread_join(line->before, NULL);
    work(me, line, operations * generation / generations, operations * (generation + 1) / generations);
    if (generation % 2 == 0)
        pthread_detach(pthread_self());
    line->before = pthread_self();
    pthread_t next;
    if (line->generation == generations)
        ended++;
    else if (pthread_create(&next, NULL, run, context) != 0)
        abort();
    return NULL;
}

static int write_log(const char *path)
{
    FILE *log = fopen(path, "w");
    if (!log)
        return 1;
    for (int i = 0; i < count; i++)
        for (struct entry *e = logs[i]; e < logs[i] + logged[i]; e++)
            fprintf(log, "%d %c %d %lu %lu\n", i, e->kind, e->variable, e->value, e->old);
    return fclose(log) != 0;
}

int main(int argc, char **argv)
{
    if (argc < 8)
        return 2;
    count = atoi(argv[1]);
    generations = atol(argv[2]);
    variables = atoi(argv[3]);
    operations = atol(argv[4]);
    every = atol(argv[5]);
    seldom = atol(argv[6]);
    apart = argc > 8 ? atol(argv[8]) : 0;
    wide = calloc(2 * (size_t)variables, sizeof *wide);
    narrow = calloc((size_t)variables, sizeof *narrow);
    pthread_barrier_init(&barrier, NULL, (unsigned)count);
    for (long i = 0; i < count; i++) {
        pthread_t thread;
        lines[i] = (struct line){.random = 88172645463325252u + (uint64_t)i, .fresh = (uint32_t)i + 1};
        logs[i] = calloc(2 * (size_t)operations, sizeof *logs[i]);
        pthread_create(&thread, NULL, run, (void *)i);
    }
    while (ended < count)
        usleep(1000);
    return write_log(argv[7]);
}
