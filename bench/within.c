/*
 * Steps of a `within` property from memory, once every move is in the cache: events per second.
 *
 *     within [MILLIONS]
 *
 * Events are what a producer and a consumer make: one user event in eight, the rest lock and scheduler events, all with
 * time stamps. Three properties: the JamaicaVM paper's formula (2); a nondeterministic automaton whose current set has
 * three states, as in the paper's Figure 5; and one over a variable that is written as often as user events happen.
 * Beside each, in turn with it, the same events through a bare table of states and letters, without times, sets or
 * values: what is left when nothing but the automaton counts. CPU time of the best of some rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "engine/within.h"

enum { EVENTS = 1 << 16, AIM = 50, ROUNDS = 8 };

static const char three_states[] = "HOA: v1\nStates: 4\nStart: 0\nAP: 2 \"w\" \"r\"\nAcceptance: 1 Inf(0)\n--BODY--\n"
                                   "State: 0\n[t] 0\n[t] 1\n[0] 2\n"
                                   "State: 1\n[!0] 1\n[t] 2\n"
                                   "State: 2\n[t] 0\n[1] 3\n[t] 2\n"
                                   "State: 3 {0}\n[t] 0\n[t] 1\n--END--\n";

static const struct {
    const char *name, *text;
    bool writes;
} subjects[] = {
    {"formula (2)",
     "property p within 1ms: always (event(w) -> !event(r) && next (!event(w) until event(r))) && "
     "always (event(r) -> !event(w) && next (!event(r) until event(w)));",
     false},
    {"sets of three states", "property p within 1ms: hoa \"x.hoa\" { w = event(w); r = event(r); };", false},
    {"a variable", "property p within 1ms: always eventually x == 1 && always eventually x == 0;", true},
};

static enum pt_status fetch(void *context, const char *path, char **ret_text, size_t *ret_len, struct pt_err *err)
{
    (void)context;
    (void)path;
    (void)err;
    *ret_text = pt_xstrdup(three_states);
    *ret_len = strlen(three_states);
    return PT_OK;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void make_events(struct pt_within_event *events, bool writes)
{
    for (uint32_t i = 0; i < EVENTS; i++) {
        events[i] = (struct pt_within_event){.var = PT_NONE, .user_event = PT_NONE, .has_time = true};
        if (i % 8 != 0)
            continue;
        if (writes) {
            events[i].var = 0;
            events[i].value = pt_value_int(i / 8 % 2);
        } else {
            events[i].user_event = i / 8 % 2;
        }
    }
}

/* Each pass over the events moves their times on. */
static enum pt_within_verdict play(struct pt_within *within, struct pt_within_event *events, uint64_t *time)
{
    enum pt_within_verdict verdict = PT_WITHIN_GOOD;
    for (uint32_t i = 0; i < EVENTS; i++) {
        events[i].time = *time += 20;
        verdict = pt_within_event(within, &events[i]);
    }
    return verdict;
}

/* Not inlined, so that the table is not known to the compiler. */
__attribute__((noinline)) static uint32_t play_bare(const uint32_t (*table)[4], const struct pt_within_event *events,
                                                    uint32_t state)
{
    for (uint32_t i = 0; i < EVENTS; i++)
        state = table[state][(events[i].user_event + 1) & 3];
    return state;
}

/* The shorter time of both, per event, in nanoseconds. */
struct times {
    double within, bare;
};

static enum pt_within_verdict race(struct pt_within *within, struct pt_within_event *events, uint32_t passes,
                                   struct times *times)
{
    static const uint32_t table[4][4] = {{0, 1, 2, 3}, {1, 2, 3, 0}, {2, 3, 0, 1}, {3, 0, 1, 2}};
    uint64_t time = 0;
    volatile uint32_t state = 0;
    enum pt_within_verdict verdict = play(within, events, &time);
    *times = (struct times){1e9, 1e9};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        double start = now();
        for (uint32_t i = 0; i < passes; i++)
            verdict = play(within, events, &time);
        double middle = now();
        for (uint32_t i = 0; i < passes; i++)
            state = play_bare(table, events, state);
        double end = now(), each = 1e9 / ((double)passes * EVENTS);
        times->within = (middle - start) * each < times->within ? (middle - start) * each : times->within;
        times->bare = (end - middle) * each < times->bare ? (end - middle) * each : times->bare;
    }
    return verdict;
}

static int measure(uint32_t subject, uint32_t passes, struct pt_within_event *events)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_monitor *monitor;
    struct pt_err err;
    const char *text = subjects[subject].text;
    if (pt_properties_add(props, "bench.prop", text, strlen(text), fetch, NULL, &err) != PT_OK ||
        pt_monitor_new(&props->items[0], 1000, &monitor, &err) != PT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    struct pt_within *within = pt_within_new(monitor);
    struct times times;
    make_events(events, subjects[subject].writes);
    enum pt_within_verdict verdict = race(within, events, passes, &times);
    uint32_t count;
    bool final;
    pt_within_states(within, &count, &final);
    printf("%-22s %6.1f million events/s (aim %d: %.2fx), %.1fx the time of a bare table, %u states at the end, %s\n",
           subjects[subject].name, 1e3 / times.within, AIM, 1e3 / times.within / AIM, times.within / times.bare, count,
           verdict == PT_WITHIN_GOOD ? "good" : "NOT GOOD");
    pt_within_free(within);
    pt_monitor_free(monitor);
    pt_properties_free(props);
    return verdict != PT_WITHIN_GOOD;
}

int main(int argc, char **argv)
{
    uint32_t millions = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 200;
    uint32_t passes = millions * 1000000 / EVENTS / ROUNDS + 1;
    struct pt_within_event *events = pt_xcalloc(EVENTS, sizeof *events);
    int failed = 0;
    for (uint32_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        failed |= measure(i, passes, events);
    free(events);
    return failed;
}
