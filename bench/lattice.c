/*
 * The full lattice of 4 threads x 60 independent writes (13,845,841 cuts) against the time it takes to put the same
 * packed cuts into a pre-sized open-addressing set, in one run; and two jobs against one. The same with more jobs, and
 * with atoms over several variables. Then the cone: 8 threads, window 64, lookahead 256, 1M and 4M relevant events; by
 * threads; of one property with two jobs; and of several properties.
 *
 *   lattice full | once [WRITES [JOBS [joint]]] | jobs [WRITES [MOST]] | cone [EVENTS] |
 *           threads [EVENTS [THREADS [JOBS]]] | relay [EVENTS [THREADS]] | properties [EVENTS [MOST]]
 *
 * The ratio to the set is taken in CPU time of the one thread, which other load on the machine disturbs least; that of
 * the jobs in elapsed time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/analysis.h"
#include "logic/monitor/monitor.h"

static double clock_seconds(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t nanoseconds(void)
{
    return (uint64_t)(1e9 * clock_seconds(CLOCK_MONOTONIC));
}

static double peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

enum { THREADS = 4, WRITES = 60 };

/* 13,845,841 inserts of 64-bit keys into 2^25 slots. */
static double set_seconds(void)
{
    size_t slots = (size_t)1 << 25, count = 0;
    uint64_t *table = pt_xcalloc(slots, sizeof *table);
    memset(table, 0xff, slots * sizeof *table); /* touch the pages before the clock starts */
    double start = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (int level = 0; level <= THREADS * WRITES; level++) /* level by level, as the engine meets them */
        for (int a = 0; a <= WRITES; a++)
            for (int b = 0; b <= WRITES; b++)
                for (int c = 0; c <= WRITES; c++) {
                    int d = level - a - b - c;
                    if (d < 0 || d > WRITES)
                        continue;
                    uint64_t key = (uint64_t)a | (uint64_t)b << 7 | (uint64_t)c << 14 | (uint64_t)d << 21;
                    size_t s = (key * 0x9e3779b97f4a7c15ULL) >> 39;
                    while (table[s] != UINT64_MAX && table[s] != key)
                        s = (s + 1) & (slots - 1);
                    count += table[s] != key;
                    table[s] = key;
                }
    double seconds = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    free(table);
    printf("set: %zu cuts in %.3f s\n", count, seconds);
    return seconds;
}

/* Of the property that is added last. */
static struct pt_monitor *monitor_of(struct pt_properties *props, const char *text)
{
    struct pt_err err;
    struct pt_monitor *monitor;
    if (pt_properties_add_formula(props, text, &err) != PT_OK ||
        pt_monitor_new(&props->items[props->count - 1], 100000, &monitor, &err) != PT_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
    return monitor;
}

static void intern_names(struct pt_names *names, uint32_t threads)
{
    char text[16];
    pt_names_init(names);
    pt_strtab_intern(&names->space[PT_SPACE_LOC], "a.c:1", 5);
    for (uint32_t t = 0; t < threads; t++) {
        int n = snprintf(text, sizeof text, "T%u", t + 1);
        pt_strtab_intern(&names->space[PT_SPACE_THREAD], text, (size_t)n);
        n = snprintf(text, sizeof text, "x%u", t + 1);
        pt_strtab_intern(&names->space[PT_SPACE_VAR], text, (size_t)n);
    }
}

static void feed(struct pt_analysis *analysis, uint32_t thread, uint32_t op, uint32_t object, int64_t value)
{
    struct pt_err err;
    struct pt_event event = {
        .line = 1, .op = (uint8_t)op, .thread = thread, .object = object, .loc = 0, .value = pt_value_int(value)};
    if (pt_analysis_event(analysis, &event, &err) != PT_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
}

static void report(struct pt_analysis *analysis)
{
    uint32_t count;
    const struct pt_finding *f = pt_analysis_findings(analysis, &count)[0];
    printf("  %" PRIu64 " states, %" PRIu64 " levels, width %" PRIu64 ", verdict %d, engine's peak %.1f MB\n",
           f->states, f->levels, f->width, f->verdict, (double)f->peak_bytes / 1e6);
}

static const char *const formulas[] = {
    "always (x1 == 3 -> (x2 < 6 since (x3 == 1 || once x4 == 2 || x3 < 9)))",
    "always (x1 + x2 < 11 || x3 != x4 -> (x2 < 6 since (x3 == 1 || once x4 == 2 || x1 + x3 < 19)))",
};

/* One exploration; CPU time of this thread, and elapsed time. `joint`: atoms compare several variables. */
static void full_of(int writes, unsigned jobs, bool joint, double *ret_cpu, double *ret_elapsed)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_monitor *monitor = monitor_of(props, formulas[joint]);
    struct pt_names names;
    intern_names(&names, THREADS);
    struct pt_analysis_options options = {.window = PT_ALL, .lookahead = PT_ALL, .jobs = jobs, .trace = "bench"};
    options.cores = (unsigned)get_nprocs();
    struct pt_analysis_input input = {.property = &props->items[0], .monitor = monitor};
    double cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID), elapsed = clock_seconds(CLOCK_MONOTONIC);
    struct pt_analysis *analysis = pt_analysis_new(&names, &input, 1, &options);
    for (int k = 0; k < writes; k++)
        for (uint32_t t = 0; t < THREADS; t++)
            feed(analysis, t, PT_OP_WRITE, t, k % 7);
    pt_analysis_finish(analysis, NULL);
    *ret_cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
    *ret_elapsed = clock_seconds(CLOCK_MONOTONIC) - elapsed;
    printf("lattice, %u job%s: %.3f s CPU of this thread, %.3f s elapsed\n", jobs, jobs > 1 ? "s" : "", *ret_cpu,
           *ret_elapsed);
    report(analysis);
    pt_analysis_free(analysis);
    pt_monitor_free(monitor);
    pt_properties_free(props);
    pt_names_release(&names);
}

static void full(unsigned jobs, double *ret_cpu, double *ret_elapsed)
{
    full_of(WRITES, jobs, false, ret_cpu, ret_elapsed);
}

/* Elapsed time with 1, 2, 4, ... jobs, both kinds of atoms; the best of three, interleaved. */
static void bench_jobs(int writes, unsigned most)
{
    enum { KINDS = 2, ROUNDS = 3, MOST_DOUBLINGS = 11 };
    for (int kind = 0; kind < KINDS; kind++) {
        double best[MOST_DOUBLINGS];
        for (int i = 0; i < MOST_DOUBLINGS; i++)
            best[i] = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            int i = 0;
            for (unsigned jobs = 1; jobs <= most && i < MOST_DOUBLINGS; jobs *= 2, i++) {
                double cpu, elapsed;
                full_of(writes, jobs, kind, &cpu, &elapsed);
                best[i] = elapsed < best[i] ? elapsed : best[i];
            }
        }
        for (unsigned i = 0, jobs = 1; jobs <= most && i < MOST_DOUBLINGS; jobs *= 2, i++)
            printf("RATE 4 x %d writes, %s: %u jobs %.3f s, %.2fx faster%s\n", writes,
                   kind ? "atoms over several variables" : "atoms over one variable", jobs, best[i], best[0] / best[i],
                   jobs == 2    ? " (at least 1.8)"
                   : jobs == 16 ? " (at least 10)"
                                : "");
        fflush(stdout);
    }
}

static void bench_full(void)
{
    double cpu = 1e9, one = 1e9, two = 1e9, set = 1e9, c, e;
    full(1, &c, &e);
    printf("peak memory of the process so far: %.1f MB (at most 200)\n", peak_mb());
    for (int i = 0; i < 5; i++) { /* the best of several, interleaved: the machine is shared */
        full(1, &c, &e);
        cpu = c < cpu ? c : cpu;
        one = e < one ? e : one;
        full(2, &c, &e);
        two = e < two ? e : two;
        c = set_seconds();
        set = c < set ? c : set;
    }
    printf("RATIO lattice/set %.2f (at most 1.8)\n", cpu / set);
    printf("RATIO two jobs %.2fx faster (at least 1.8)\n", one / two);
}

/* Every thread's variable is in it; `joint`: some in atoms that compare several. */
static void cone_formula(char *text, size_t size, uint32_t threads, bool joint)
{
    size_t at = (size_t)snprintf(text, size, "always (x1 == 3 -> (x2 < 9 since (x3 < 9 && once x4 < 9)))");
    if (joint)
        at += (size_t)snprintf(text + at, size - at, " && always (x5 + x6 < 40 || x7 > 100 || x8 > 100)");
    for (uint32_t t = joint ? 8 : 4; t < threads; t++)
        at += (size_t)snprintf(text + at, size - at, " && always x%u < 9", t + 1);
}

/* Threads that mostly write their own variable and, `reads` of 256 times, read somebody else's before. One job: CPU
 * time of this thread; several: elapsed time. */
static double cone(uint64_t events, uint32_t threads, bool joint, uint32_t reads, uint64_t window, unsigned jobs,
                   clockid_t clock)
{
    struct pt_properties *props = pt_properties_new();
    char formula[4096];
    cone_formula(formula, sizeof formula, threads, joint);
    struct pt_monitor *monitor = monitor_of(props, formula);
    struct pt_names names;
    intern_names(&names, threads > 8 ? threads : 8);
    struct pt_analysis_options options = {.window = window, .lookahead = 256, .jobs = jobs, .trace = "bench"};
    options.cores = (unsigned)get_nprocs();
    options.batches = true;
    options.now = nanoseconds;
    struct pt_analysis_input input = {.property = &props->items[0], .monitor = monitor};
    uint64_t random = 88172645463325252ULL;
    double start = clock_seconds(clock);
    struct pt_analysis *analysis = pt_analysis_new(&names, &input, 1, &options);
    for (uint64_t k = 0; k < events; k++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint32_t thread = random % threads;
        if ((random >> 24 & 255) < reads)
            feed(analysis, thread, PT_OP_READ, (uint32_t)(random >> 40) % threads, 0);
        feed(analysis, thread, PT_OP_WRITE, thread, (int64_t)(random >> 48) % 9);
    }
    struct pt_err err;
    if (pt_analysis_flush(analysis, &err) != PT_OK)
        exit(1);
    pt_analysis_finish(analysis, NULL);
    double seconds = clock_seconds(clock) - start;
    printf("cone, %" PRIu64 " relevant events, %u threads: %.2f s\n", events, threads, seconds);
    report(analysis);
    pt_analysis_free(analysis);
    pt_monitor_free(monitor);
    pt_properties_free(props);
    pt_names_release(&names);
    return seconds;
}

/* In a process of its own, so that its peak memory is its own too. */
static double cone_alone(uint64_t events, double *ret_mb)
{
    int ends[2];
    double seconds = 0;
    struct rusage usage;
    fflush(stdout);
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        seconds = cone(events, 8, true, 128, 64, 1, CLOCK_THREAD_CPUTIME_ID);
        fflush(stdout);
        _exit(write(ends[1], &seconds, sizeof seconds) != sizeof seconds);
    }
    if (child < 0 || read(ends[0], &seconds, sizeof seconds) != sizeof seconds || wait4(child, NULL, 0, &usage) < 0)
        exit(1);
    close(ends[0]);
    close(ends[1]);
    *ret_mb = (double)usage.ru_maxrss / 1024;
    printf("  peak memory of the process %.1f MB\n", *ret_mb);
    return seconds;
}

static const struct {
    const char *name;
    bool joint;
    uint32_t reads;
} cone_kinds[] = {{"apart", false, 0}, {"reading each other, atoms over several variables", true, 128}};
enum { CONE_KINDS = sizeof cone_kinds / sizeof *cone_kinds };

/* Microseconds for each relevant event, by the number of threads. */
static void bench_threads(uint64_t events, uint32_t only, unsigned jobs)
{
    static const struct {
        uint32_t threads;
        double aim; /* events per second */
    } rows[] = {{2, 2e6}, {3, 0}, {4, 0}, {8, 5e5}, {16, 0}, {32, 0}, {48, 0}, {64, 2e5}};
    for (size_t k = 0; k < CONE_KINDS; k++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            if (only && rows[i].threads != only)
                continue;
            double seconds = cone(events, rows[i].threads, cone_kinds[k].joint, cone_kinds[k].reads, 64, jobs,
                                  CLOCK_THREAD_CPUTIME_ID);
            printf("RATE cone, %u threads %s: %.2f us, %.0f events/s", rows[i].threads, cone_kinds[k].name,
                   1e6 * seconds / (double)events, (double)events / seconds);
            if (rows[i].aim > 0)
                printf(" (at least %.0f)", rows[i].aim);
            printf("\n");
            fflush(stdout);
        }
}

/* Elapsed time of one property's cone with one job and with two; the best of several, interleaved. */
static void bench_relay(uint64_t events, uint32_t only)
{
    enum { ROUNDS = 5 };
    static const uint32_t threads[] = {2, 8, 16, 64};
    for (size_t k = 0; k < CONE_KINDS; k++)
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            double best[2] = {1e9, 1e9};
            if (only && threads[i] != only)
                continue;
            for (int round = 0; round < 2 * ROUNDS; round++) {
                double seconds = cone(events, threads[i], cone_kinds[k].joint, cone_kinds[k].reads, 64,
                                      1 + (unsigned)round % 2, CLOCK_MONOTONIC);
                best[round % 2] = seconds < best[round % 2] ? seconds : best[round % 2];
            }
            printf("RATE cone of one property, %u threads %s: %.2f us, two jobs %.2f us, %.2fx faster (at least 1.8)\n",
                   threads[i], cone_kinds[k].name, 1e6 * best[0] / (double)events, 1e6 * best[1] / (double)events,
                   best[0] / best[1]);
            fflush(stdout);
        }
}

/* Elapsed time of four properties' cones, each of half the events. */
static double properties(uint64_t events, unsigned jobs)
{
    enum { COUNT = 4 };
    struct pt_properties *props[COUNT]; /* each its own: adding one may move others */
    struct pt_analysis_input inputs[COUNT] = {0};
    struct pt_names names;
    struct pt_err err;
    intern_names(&names, 8);
    for (uint32_t i = 0; i < COUNT; i++) {
        char text[128];
        snprintf(text, sizeof text, "always (x%u < 9 -> (x%u < 9 since (x%u < 9 && once x%u < 9)))", i + 1, i + 2,
                 i + 4, i + 5);
        props[i] = pt_properties_new();
        inputs[i].monitor = monitor_of(props[i], text);
        inputs[i].property = &props[i]->items[0];
    }
    struct pt_analysis_options options = {
        .window = 64, .lookahead = 256, .jobs = jobs, .trace = "bench", .batches = true};
    double start = clock_seconds(CLOCK_MONOTONIC);
    struct pt_analysis *analysis = pt_analysis_new(&names, inputs, COUNT, &options);
    uint64_t random = 88172645463325252ULL;
    for (uint64_t k = 0; k < events; k++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        feed(analysis, random % 8, PT_OP_WRITE, random % 8, (int64_t)(random >> 48) % 9);
    }
    if (pt_analysis_flush(analysis, &err) != PT_OK)
        exit(1);
    pt_analysis_finish(analysis, NULL);
    double seconds = clock_seconds(CLOCK_MONOTONIC) - start;
    report(analysis);
    pt_analysis_free(analysis);
    for (uint32_t i = 0; i < COUNT; i++) {
        pt_monitor_free(inputs[i].monitor);
        pt_properties_free(props[i]);
    }
    pt_names_release(&names);
    return seconds;
}

static void bench_properties(uint64_t events, unsigned most)
{
    enum { ROUNDS = 3, MOST_DOUBLINGS = 3 };
    double best[MOST_DOUBLINGS] = {1e9, 1e9, 1e9};
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < MOST_DOUBLINGS && 1u << i <= most; i++) {
            double seconds = properties(events, 1u << i);
            best[i] = seconds < best[i] ? seconds : best[i];
        }
    for (unsigned i = 0; i < MOST_DOUBLINGS && 1u << i <= most; i++)
        printf("RATE cones of four properties: %u jobs %.3f s, %.2fx faster%s\n", 1u << i, best[i], best[0] / best[i],
               i == 1 ? " (at least 1.8)" : "");
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "full") == 0) {
        bench_full();
    } else if (argc >= 2 && strcmp(argv[1], "once") == 0) {
        double cpu, elapsed;
        full_of(argc >= 3 ? atoi(argv[2]) : WRITES, argc >= 4 ? (unsigned)atoi(argv[3]) : 1, argc >= 5, &cpu, &elapsed);
    } else if (argc >= 2 && strcmp(argv[1], "jobs") == 0) {
        bench_jobs(argc >= 3 ? atoi(argv[2]) : WRITES, argc >= 4 ? (unsigned)atoi(argv[3]) : (unsigned)get_nprocs());
    } else if (argc >= 2 && strcmp(argv[1], "cone") == 0) {
        uint64_t events = argc >= 3 ? strtoull(argv[2], NULL, 10) : 1000000;
        double small_mb, large_mb, small = cone_alone(events, &small_mb), large = cone_alone(4 * events, &large_mb);
        printf("RATIO cone time, four times the events: %.2f (at most 4.4); memory %.2f (at most 1.05)\n",
               large / small, large_mb / small_mb);
    } else if (argc >= 2 && strcmp(argv[1], "threads") == 0) {
        bench_threads(argc >= 3 ? strtoull(argv[2], NULL, 10) : 200000, argc >= 4 ? (uint32_t)atoi(argv[3]) : 0,
                      argc >= 5 ? (unsigned)atoi(argv[4]) : 1);
    } else if (argc >= 2 && strcmp(argv[1], "relay") == 0) {
        bench_relay(argc >= 3 ? strtoull(argv[2], NULL, 10) : 200000, argc >= 4 ? (uint32_t)atoi(argv[3]) : 0);
    } else if (argc >= 2 && strcmp(argv[1], "properties") == 0) {
        bench_properties(argc >= 3 ? strtoull(argv[2], NULL, 10) : 200000,
                         argc >= 4 ? (unsigned)atoi(argv[3]) : (unsigned)get_nprocs());
    } else {
        fprintf(stderr, "usage: lattice full | once [WRITES [JOBS [joint]]] | jobs [WRITES [MOST]] | cone [EVENTS] | "
                        "threads [EVENTS [THREADS [JOBS]]] | relay [EVENTS [THREADS]] | properties [EVENTS [MOST]]\n");
        return 2;
    }
    return 0;
}
