/*
 * Makes a legal trace to measure with, the same one for the same options:
 *
 *   gen_trace --threads N --events M --vars K --seed S [--relevant-percent P] [--independent] [--locked] [--nested]
 *             [--binary] > FILE
 *
 * T1 forks T2 to TN, all of them act in random turns, T1 joins them. P percent of their events (default 10) are writes
 * of x1 to xN, each thread its own: take these as what a property names. The others are background on the variables v0
 * to v(K-1): sections of 1 to 4 accesses under the variable's lock, and now and then an access without it. With
 * --independent a thread's background is its own as well, so that threads are ordered by fork and join alone. With
 * --locked every access of the background is under its lock, and a thread's turn goes on to the end of its section, so
 * that nothing races. With --nested every fourth section has a second lock inside, that of the number beside: N threads
 * make some 4 N (N - 1) patterns of two threads that take two locks in both orders.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "trace/format.h"
#include "trace/writer.h"

enum { LOCKS = 8, PLACES = 64, MAX_THREADS = 4096 };

struct generator {
    unsigned long threads, events, vars, relevant_percent;
    bool independent, locked, nested;
    const struct pt_format *format;
    uint64_t random;
    struct pt_names names;
    struct pt_writer *writer;
    uint32_t thread_ids[MAX_THREADS], relevant_ids[MAX_THREADS], loc_ids[PLACES];
    uint32_t lock_ids[MAX_THREADS][LOCKS]; /* without --independent only the first row is used */
    unsigned holder[LOCKS];                /* of shared locks: thread + 1, 0: free */
    struct section {
        unsigned left; /* accesses until its release; 0: outside */
        unsigned lock;
        unsigned inner; /* a lock inside it plus 1, 0: none */
        bool entered;   /* that was taken */
        unsigned long var;
    } sections[MAX_THREADS];
    int64_t counter[MAX_THREADS];
    uint32_t *var_ids; /* [thread][var], likewise */
};

/* splitmix64 */
static uint64_t next_random(struct generator *g)
{
    uint64_t z = g->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static unsigned long below(struct generator *g, unsigned long n)
{
    return (unsigned long)(next_random(g) % n);
}

static void die(const struct pt_err *err)
{
    fprintf(stderr, "gen_trace: %s\n", err->message);
    exit(2);
}

static uint32_t name(struct generator *g, enum pt_space space, const char *fmt, unsigned long a, unsigned long b)
{
    char text[64];
    int n = snprintf(text, sizeof text, fmt, a, b);
    return pt_strtab_intern(&g->names.space[space], text, (size_t)n);
}

static void make_names(struct generator *g)
{
    unsigned long rows = g->independent ? g->threads : 1;
    g->var_ids = pt_xcalloc(rows * g->vars, sizeof *g->var_ids);
    for (unsigned long t = 0; t < g->threads; t++) {
        g->thread_ids[t] = name(g, PT_SPACE_THREAD, "T%lu", t + 1, 0);
        g->relevant_ids[t] = name(g, PT_SPACE_VAR, "x%lu", t + 1, 0);
    }
    for (unsigned long row = 0; row < rows; row++) {
        for (unsigned long v = 0; v < g->vars; v++)
            g->var_ids[row * g->vars + v] = name(g, PT_SPACE_VAR, g->independent ? "v%lu.%lu" : "v%lu", v, row + 1);
        for (unsigned long l = 0; l < LOCKS; l++)
            g->lock_ids[row][l] = name(g, PT_SPACE_LOCK, g->independent ? "l%lu.%lu" : "l%lu", l, row + 1);
    }
    for (unsigned long i = 0; i < PLACES; i++)
        g->loc_ids[i] = name(g, PT_SPACE_LOC, "a.c:%lu", 10 + i * 7, 0);
}

static void emit(struct generator *g, unsigned long thread, enum pt_op op, uint32_t object, struct pt_value value)
{
    struct pt_event event = {
        .op = (uint8_t)op,
        .thread = g->thread_ids[thread],
        .object = object,
        .loc = g->loc_ids[(op * 5 + object) % PLACES],
        .value = value,
    };
    struct pt_err err;
    if (pt_writer_add(g->writer, &event, &err) != PT_OK)
        die(&err);
}

static void access_var(struct generator *g, unsigned long thread, unsigned long var)
{
    uint32_t id = g->var_ids[(g->independent ? thread * g->vars : 0) + var];
    bool write = below(g, 10) < 3;
    emit(g, thread, write ? PT_OP_WRITE : PT_OP_READ, id, pt_value_int((int64_t)below(g, 1000)));
}

/* One event of the thread's background. A variable's lock is the one of its number modulo LOCKS. */
static void background(struct generator *g, unsigned long thread)
{
    struct section *section = &g->sections[thread];
    const uint32_t *locks = g->lock_ids[g->independent ? thread : 0];
    bool inside = section->left && section->inner;
    if (inside && section->entered == (section->left == 1)) {
        section->entered = !section->entered;
        emit(g, thread, section->entered ? PT_OP_ACQ : PT_OP_REL, locks[section->inner - 1], (struct pt_value){0});
        if (!section->entered) {
            g->holder[section->inner - 1] = 0;
            section->inner = 0;
        }
    } else if (section->left == 1) {
        section->left = 0;
        if (!g->independent)
            g->holder[section->lock] = 0;
        emit(g, thread, PT_OP_REL, locks[section->lock], (struct pt_value){0});
    } else if (section->left > 1) {
        section->left--;
        access_var(g, thread, section->var);
    } else {
        unsigned long var = below(g, g->vars);
        unsigned lock = (unsigned)(var % LOCKS);
        if (!g->locked && (below(g, 20) == 0 || (!g->independent && g->holder[lock]))) {
            access_var(g, thread, var);
            return;
        }
        *section = (struct section){.left = 2 + (unsigned)below(g, 4), .lock = lock, .var = var};
        if (!g->independent)
            g->holder[lock] = (unsigned)thread + 1;
        if (g->nested && below(g, 4) == 0 && !g->holder[lock ^ 1]) {
            section->inner = (lock ^ 1) + 1;
            g->holder[lock ^ 1] = (unsigned)thread + 1;
        }
        emit(g, thread, PT_OP_ACQ, locks[lock], (struct pt_value){0});
    }
}

static void generate(struct generator *g)
{
    unsigned long overhead = 2 * (g->threads - 1), turn = 0, thread = 0;
    for (unsigned long t = 1; t < g->threads; t++)
        emit(g, 0, PT_OP_FORK, g->thread_ids[t], (struct pt_value){0});
    for (unsigned long i = overhead; i < g->events; i++) {
        if (g->locked && g->sections[thread].left) {
            background(g, thread);
            continue;
        }
        if (turn-- == 0) {
            thread = below(g, g->threads);
            turn = below(g, 8);
        }
        if (below(g, 100) < g->relevant_percent)
            emit(g, thread, PT_OP_WRITE, g->relevant_ids[thread], pt_value_int(++g->counter[thread] % 1000));
        else
            background(g, thread);
    }
    while (g->locked && g->sections[thread].left)
        background(g, thread);
    for (unsigned long t = 1; t < g->threads; t++)
        emit(g, 0, PT_OP_JOIN, g->thread_ids[t], (struct pt_value){0});
}

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n < least || n > most) {
        fprintf(stderr, "gen_trace: '%s' is not a number from %lu to %lu\n", text, least, most);
        exit(2);
    }
    return n;
}

static void parse_options(struct generator *g, int argc, char **argv)
{
    static const struct option options[] = {
        {"threads", required_argument, NULL, 't'}, {"events", required_argument, NULL, 'e'},
        {"vars", required_argument, NULL, 'v'},    {"seed", required_argument, NULL, 's'},
        {"binary", no_argument, NULL, 'b'},        {"relevant-percent", required_argument, NULL, 'r'},
        {"independent", no_argument, NULL, 'i'},   {"locked", no_argument, NULL, 'l'},
        {"nested", no_argument, NULL, 'n'},        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 't')
            g->threads = number(optarg, 1, MAX_THREADS);
        else if (c == 'e')
            g->events = number(optarg, 0, ULONG_MAX);
        else if (c == 'v')
            g->vars = number(optarg, 1, 1UL << 24);
        else if (c == 's')
            g->random = number(optarg, 0, ULONG_MAX);
        else if (c == 'r')
            g->relevant_percent = number(optarg, 0, 100);
        else if (c == 'b')
            g->format = &pt_format_binary;
        else if (c == 'i')
            g->independent = true;
        else if (c == 'l')
            g->locked = true;
        else if (c == 'n')
            g->nested = true;
        else
            exit(2);
    }
}

int main(int argc, char **argv)
{
    struct generator *g = pt_xcalloc(1, sizeof *g);
    g->format = &pt_format_text;
    struct pt_err err;
    g->threads = 4;
    g->events = 1000;
    g->vars = 16;
    g->relevant_percent = 10;
    parse_options(g, argc, argv);
    pt_names_init(&g->names);
    make_names(g);
    if (pt_writer_open("-", g->format, &g->names, &g->writer, &err) != PT_OK)
        die(&err);
    generate(g);
    if (pt_writer_close(g->writer, &err) != PT_OK)
        die(&err);
    pt_names_release(&g->names);
    free(g->var_ids);
    free(g);
    return 0;
}
