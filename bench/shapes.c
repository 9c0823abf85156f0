/*
 * Makes legal traces in which variables have no common lock, though few of them race in the recorded run: what
 * predictors of races find hard, each in its own way. The same trace for the same options:
 *
 *   shapes NAME --threads N --events M --vars K --seed S [--waits] > FILE       (binary; `shapes` lists the names)
 *
 * T1 forks T2 to TN and joins them in the end; between that, threads take turns at random, and a turn is a few accesses
 * with what makes the shape: `table` below says it of each. Reads have the value of the write before them.
 * With --waits T1 takes no turns of those that come at random, as a thread that waits for the others.
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/writer.h"

enum { MAX_THREADS = 4096, LOCKS = 8, PLACES = 64 };

struct shape {
    unsigned long threads, events, vars, made;
    uint64_t random;
    struct pt_names names;
    struct pt_writer *writer;
    uint32_t thread_ids[MAX_THREADS], flags[MAX_THREADS], locks[LOCKS], barrier, places[PLACES];
    uint32_t *ids;    /* of variables */
    int64_t *values;  /* by id */
    int64_t counter;  /* of values of flags, which are never the same */
    unsigned long at; /* the thread of the turn before, or another state of the shape */
    uint32_t children;
    bool waits; /* T1 does nothing else */
};

/* splitmix64 */
static unsigned long below(struct shape *s, unsigned long n)
{
    uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned long)((z ^ z >> 31) % n);
}

/* Whose turn it is. */
static unsigned long next_thread(struct shape *s)
{
    return s->waits ? 1 + below(s, s->threads - 1) : below(s, s->threads);
}

static void die(const struct pt_err *err)
{
    fprintf(stderr, "shapes: %s\n", err->message);
    exit(2);
}

static uint32_t name(struct shape *s, enum pt_space space, const char *prefix, unsigned long number)
{
    char text[64];
    int n = snprintf(text, sizeof text, "%s%lu", prefix, number);
    return pt_strtab_intern(&s->names.space[space], text, (size_t)n);
}

static void add(struct shape *s, struct pt_event event)
{
    struct pt_err err;
    event.loc = s->places[(event.op * 5u + event.object) % PLACES];
    s->made++;
    if (pt_writer_add(s->writer, &event, &err) != PT_OK)
        die(&err);
}

static void emit(struct shape *s, unsigned long thread, enum pt_op op, uint32_t object)
{
    add(s, (struct pt_event){.op = (uint8_t)op, .thread = s->thread_ids[thread], .object = object});
}

static void touch(struct shape *s, uint32_t thread, uint32_t id, bool write)
{
    if (write)
        s->values[id] = (int64_t)below(s, 1000);
    add(s, (struct pt_event){.op = write ? PT_OP_WRITE : PT_OP_READ,
                             .thread = thread,
                             .object = id,
                             .value = pt_value_int(s->values[id])});
}

static void some(struct shape *s, unsigned long thread, unsigned long most, unsigned percent)
{
    for (unsigned long left = 1 + below(s, most); left; left--)
        touch(s, s->thread_ids[thread], s->ids[below(s, s->vars)], below(s, 100) < percent);
}

/* Flags are atomic, so that they do not race themselves. */
static void flag(struct shape *s, unsigned long thread, uint32_t id, bool write)
{
    if (write)
        s->values[id] = ++s->counter;
    add(s, (struct pt_event){.op = write ? PT_OP_WRITE : PT_OP_READ,
                             .order = PT_MEMORY_SEQ_CST,
                             .thread = s->thread_ids[thread],
                             .object = id,
                             .value = pt_value_int(s->values[id])});
}

static void section(struct shape *s, unsigned long thread, unsigned lock)
{
    emit(s, thread, PT_OP_ACQ, s->locks[lock]);
    emit(s, thread, PT_OP_REL, s->locks[lock]);
}

/* ---- shapes: a turn of each ---- */

static void flag_turn(struct shape *s)
{
    unsigned long t = next_thread(s);
    flag(s, t, s->flags[0], false);
    some(s, t, 8, 30);
    flag(s, t, s->flags[0], true);
}

static void sections_turn(struct shape *s)
{
    unsigned long t = next_thread(s);
    section(s, t, 0);
    some(s, t, 8, 30);
    section(s, t, 0);
}

/* Each thread hands what it wrote to the next one, and the last one to the first: a flag for each hand. */
static void ring_turn(struct shape *s)
{
    unsigned long t = s->at, before = (t + s->threads - 1) % s->threads;
    flag(s, t, s->flags[before], false);
    some(s, t, 16, 50);
    flag(s, t, s->flags[t], true);
    s->at = (t + 1) % s->threads;
}

/* Accesses inside a section of one lock, and now and then after it: what sections of `sync` keep apart. */
static void hot_turn(struct shape *s)
{
    unsigned long t = next_thread(s);
    emit(s, t, PT_OP_ACQ, s->locks[0]);
    if (below(s, 20)) {
        some(s, t, 8, 30);
        emit(s, t, PT_OP_REL, s->locks[0]);
        return;
    }
    emit(s, t, PT_OP_REL, s->locks[0]);
    some(s, t, 2, 30);
    section(s, t, 0);
}

/* Readers in sections of readers, writers in others; one turn in a hundred writes as a reader. */
static void readers_turn(struct shape *s)
{
    unsigned long t = next_thread(s), kind = below(s, 100);
    unsigned lock = (unsigned)below(s, LOCKS);
    bool shared = kind < 81;
    emit(s, t, shared ? PT_OP_RACQ : PT_OP_ACQ, s->locks[lock]);
    for (unsigned long left = 1 + below(s, 8); left; left--) {
        unsigned long var = below(s, s->vars / LOCKS + 1) * LOCKS + lock;
        touch(s, s->thread_ids[t], s->ids[var % s->vars], !shared ? below(s, 2) : kind == 0);
    }
    emit(s, t, shared ? PT_OP_RREL : PT_OP_REL, s->locks[lock]);
}

/* A variable is guarded by one of two locks, or both, as it comes; the inner one is taken in sections of the outer. */
static void nested_turn(struct shape *s)
{
    unsigned long t = next_thread(s);
    unsigned outer = (unsigned)below(s, LOCKS / 2), inner = LOCKS / 2 + (unsigned)below(s, LOCKS / 2);
    emit(s, t, PT_OP_ACQ, s->locks[outer]);
    some(s, t, 4, 30);
    emit(s, t, PT_OP_ACQ, s->locks[inner]);
    some(s, t, 4, 30);
    emit(s, t, PT_OP_REL, s->locks[inner]);
    emit(s, t, PT_OP_REL, s->locks[outer]);
}

/* Rounds: T1 forks new threads, each does its part of the variables, and they are joined. */
static void tree_turn(struct shape *s)
{
    uint32_t children[8];
    for (unsigned i = 0; i < 8; i++) {
        children[i] = name(s, PT_SPACE_THREAD, "C", ++s->children);
        emit(s, 0, PT_OP_FORK, children[i]);
    }
    for (unsigned long left = 512; left; left--) {
        unsigned long child = below(s, 8), var = below(s, s->vars / 8 + 1) * 8 + child;
        touch(s, children[child], s->ids[var < s->vars ? var : child], below(s, 100) < 30);
    }
    for (unsigned i = 0; i < 8; i++)
        emit(s, 0, PT_OP_JOIN, children[i]);
    some(s, 0, 64, 30);
}

/* Rounds between barriers; the parts of threads move on with each. */
static void barrier_turn(struct shape *s)
{
    s->at++;
    for (unsigned long left = 64 * s->threads; left; left--) {
        unsigned long t = below(s, s->threads), part = (t + s->at) % s->threads;
        unsigned long var = below(s, s->vars / s->threads + 1) * s->threads + part;
        touch(s, s->thread_ids[t], s->ids[var < s->vars ? var : part % s->vars], below(s, 100) < 30);
    }
    for (unsigned round = 0; round < 2; round++) /* all come, then all leave */
        for (unsigned long t = 0; t < s->threads; t++)
            emit(s, t, PT_OP_SYNC, s->barrier);
}

/* A long section that others act beside, which take its lock for a moment only. */
static void long_turn(struct shape *s)
{
    unsigned long t = next_thread(s);
    emit(s, t, PT_OP_ACQ, s->locks[0]);
    for (unsigned round = 0; round < 64; round++) {
        unsigned long other = below(s, s->threads);
        some(s, t, 8, 30);
        emit(s, other == t ? (t + 1) % s->threads : other, PT_OP_ACQ, s->locks[1]);
        some(s, other == t ? (t + 1) % s->threads : other, 1, 0);
        emit(s, other == t ? (t + 1) % s->threads : other, PT_OP_REL, s->locks[1]);
    }
    emit(s, t, PT_OP_REL, s->locks[0]);
}

/* T1 waits for all others, writes, and tells them; they only read. */
static void reads_turn(struct shape *s)
{
    for (unsigned long t = 1; t < s->threads; t++)
        flag(s, 0, s->flags[t], false);
    some(s, 0, 16, 100);
    flag(s, 0, s->flags[0], true);
    for (unsigned long t = 1; t < s->threads; t++)
        flag(s, t, s->flags[0], false);
    for (unsigned long left = 64 * s->threads; left && s->threads > 1; left--)
        touch(s, s->thread_ids[1 + below(s, s->threads - 1)], s->ids[below(s, s->vars)], false);
    for (unsigned long t = 1; t < s->threads; t++)
        flag(s, t, s->flags[t], true);
}

/* Pairs of threads hand variables to each other, each pair its own; sections of one lock are in between. */
static void pairs_turn(struct shape *s)
{
    unsigned long pair = below(s, (s->threads + 1) / 2), t = 2 * pair + below(s, 2), per = s->vars / s->threads + 1;
    t = t < s->threads ? t : 0;
    section(s, t, 0);
    flag(s, t, s->flags[2 * pair], false);
    for (unsigned long left = 1 + below(s, 8); left; left--)
        touch(s, s->thread_ids[t], s->ids[(pair * per + below(s, per)) % s->vars], below(s, 100) < 30);
    flag(s, t, s->flags[2 * pair], true);
    section(s, t, 0);
}

static const struct {
    const char *name;
    void (*turn)(struct shape *s);
    const char *words;
} table[] = {
    {"flag", flag_turn, "one after the other, by a flag that each reads and writes"},
    {"sections", sections_turn, "one after the other, by empty sections of a lock"},
    {"ring", ring_turn, "each hands over to the next, by flags"},
    {"pairs", pairs_turn, "pairs hand variables over by flags, with empty sections of one lock"},
    {"hot", hot_turn, "in sections of one lock, now and then after one"},
    {"readers", readers_turn, "sections of readers and writers; few write as readers"},
    {"nested", nested_turn, "guarded by either of two nested locks"},
    {"tree", tree_turn, "threads that are forked and joined, eight at a time"},
    {"barrier", barrier_turn, "parts that move on at a barrier"},
    {"long", long_turn, "long sections beside short ones of another lock"},
    {"reads", reads_turn, "one writes between rounds, the others read"},
};

static void generate(struct shape *s, void (*turn)(struct shape *s))
{
    for (unsigned long t = 1; t < s->threads; t++)
        emit(s, 0, PT_OP_FORK, s->thread_ids[t]);
    while (s->made + s->threads <= s->events)
        turn(s);
    for (unsigned long t = 1; t < s->threads; t++)
        emit(s, 0, PT_OP_JOIN, s->thread_ids[t]);
}

static void make_names(struct shape *s)
{
    s->ids = pt_xcalloc(s->vars, sizeof *s->ids);
    s->values = pt_xcalloc(s->vars + s->threads, sizeof *s->values);
    for (unsigned long i = 0; i < s->vars; i++)
        s->ids[i] = name(s, PT_SPACE_VAR, "v", i);
    for (unsigned long t = 0; t < s->threads; t++) {
        s->thread_ids[t] = name(s, PT_SPACE_THREAD, "T", t + 1);
        s->flags[t] = name(s, PT_SPACE_VAR, "f", t + 1);
    }
    for (unsigned long i = 0; i < LOCKS; i++)
        s->locks[i] = name(s, PT_SPACE_LOCK, "l", i);
    for (unsigned long i = 0; i < PLACES; i++)
        s->places[i] = name(s, PT_SPACE_LOC, "a.c:", 10 + i * 7);
    s->barrier = name(s, PT_SPACE_OTHER, "b", 0);
}

static unsigned long number(const char *text, unsigned long least, unsigned long most)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || n < least || n > most) {
        fprintf(stderr, "shapes: '%s' is not a number from %lu to %lu\n", text, least, most);
        exit(2);
    }
    return n;
}

static void parse_options(struct shape *s, int argc, char **argv)
{
    static const struct option options[] = {
        {"threads", required_argument, NULL, 't'}, {"events", required_argument, NULL, 'e'},
        {"vars", required_argument, NULL, 'v'},    {"seed", required_argument, NULL, 's'},
        {"waits", no_argument, NULL, 'w'},         {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 't')
            s->threads = number(optarg, 2, MAX_THREADS);
        else if (c == 'e')
            s->events = number(optarg, 0, ULONG_MAX);
        else if (c == 'v')
            s->vars = number(optarg, 8, 1UL << 24);
        else if (c == 'w')
            s->waits = true;
        else if (c == 's')
            s->random = number(optarg, 0, ULONG_MAX);
        else
            exit(2);
    }
}

int main(int argc, char **argv)
{
    struct shape *s = pt_xcalloc(1, sizeof *s);
    struct pt_err err;
    size_t which = 0, count = sizeof table / sizeof *table;
    *s = (struct shape){.threads = 8, .events = 1000000, .vars = 1000, .random = 1};
    parse_options(s, argc, argv);
    while (which < count && (optind >= argc || strcmp(argv[optind], table[which].name) != 0))
        which++;
    for (size_t i = 0; which == count && i < count; i++)
        fprintf(stderr, "%-9s %s\n", table[i].name, table[i].words);
    if (which == count)
        return 2;
    pt_names_init(&s->names);
    make_names(s);
    if (pt_writer_open("-", &pt_format_binary, &s->names, &s->writer, &err) != PT_OK)
        die(&err);
    generate(s, table[which].turn);
    if (pt_writer_close(s->writer, &err) != PT_OK)
        die(&err);
    pt_names_release(&s->names);
    free(s->ids);
    free(s->values);
    free(s);
    return 0;
}
