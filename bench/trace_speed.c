/*
 * How fast a trace is read: every event of FILE parsed or decoded; with --validate checked; with --order ordered, where
 * writes of the variables x1, x2, ... are the relevant events (as gen_trace makes them); with --races looked at by the
 * check for races. The time is that of the processor, so that a busy machine does not matter: of the whole process, and
 * of the thread that gets the events alone, beside which another may decode ahead (trace/ahead.h); what a quiet machine
 * with two processors takes is the elapsed time. `taskset -c 0` shows what one processor takes.
 *
 *   trace_speed [--validate] [--order] [--races] FILE
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/hash.h"
#include "engine/check.h"
#include "order/access.h"
#include "trace/source.h"
#include "trace/validate.h"

static double read_clock(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

struct speed {
    bool validate, order, races;
    uint64_t events, relevant, sum, pairs, bytes; /* pairs of places that race; memory of that */
};

static bool is_relevant(const struct pt_names *names, const struct pt_event *event)
{
    return pt_op_writes_var(event->op) && pt_name(names, PT_SPACE_VAR, event->object)[0] == 'x';
}

/* What the same value has in every run: a string is not where it lies. */
static uint64_t sum_of(struct pt_value value)
{
    return value.kind == PT_VALUE_STRING ? pt_fnv(PT_FNV_NOTHING, value.s, value.len) : value.u;
}

/* Everything in FILE once; PT_READ_END when all went well. */
static enum pt_read pass(struct speed *speed, struct pt_source *reader, const struct pt_names *names,
                         struct pt_err *err)
{
    struct pt_validator *validator = pt_validator_new(pt_source_label(reader), names);
    struct pt_order *order = pt_order_new(&pt_order_access, pt_source_label(reader), names);
    const struct pt_check_options options = {.trace = pt_source_label(reader)};
    void *races = pt_check_races.begin(names, &options);
    struct pt_event event;
    struct pt_clock *clock = NULL;
    enum pt_read got;
    while ((got = pt_source_next(reader, &event, err)) == PT_READ_EVENT) {
        speed->events++;
        speed->sum += event.op + event.thread + event.object + event.loc + sum_of(event.value);
        bool relevant = speed->order && is_relevant(names, &event);
        speed->relevant += relevant;
        if ((speed->races && pt_check_races.event(races, &event, err) != PT_OK) ||
            (speed->validate && pt_validator_check(validator, &event, err) != PT_OK) ||
            (speed->order && pt_order_event(order, &event, relevant, &clock, err) != PT_OK)) {
            got = PT_READ_ERROR;
            break;
        }
    }
    const struct pt_finding *found = pt_check_races.finish(races, NULL).finding;
    speed->pairs = found->verdict == PT_VERDICT_VIOLATED ? found->more_count + UINT64_C(1) : 0;
    speed->bytes = found->peak_bytes;
    pt_check_races.free(races);
    pt_validator_free(validator);
    pt_order_free(order);
    return got;
}

int main(int argc, char **argv)
{
    struct speed speed = {0};
    for (int i = 1; i + 1 < argc; i++) {
        speed.validate = speed.validate || strcmp(argv[i], "--validate") == 0;
        speed.order = speed.order || strcmp(argv[i], "--order") == 0;
        speed.races = speed.races || strcmp(argv[i], "--races") == 0;
    }
    if (argc != 2 + speed.validate + speed.order + speed.races) {
        fprintf(stderr, "usage: trace_speed [--validate] [--order] [--races] FILE\n");
        return 2;
    }
    struct pt_names names;
    struct pt_source *reader;
    struct pt_err err;
    pt_names_init(&names);
    if (pt_source_open(argv[argc - 1], &names, &reader, &err) != PT_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.message);
        return 2;
    }
    static const clockid_t clocks[] = {CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC};
    double times[3];
    for (int i = 0; i < 3; i++)
        times[i] = -read_clock(clocks[i]);
    if (pass(&speed, reader, &names, &err) != PT_READ_END) {
        fprintf(stderr, "%s:%llu:%u: %s\n", err.file, (unsigned long long)err.line, err.column, err.message);
        return 2;
    }
    for (int i = 0; i < 3; i++)
        times[i] += read_clock(clocks[i]);
    printf("%.1f million events/s (%llu events, %llu relevant, %.3f s, checksum %llx), this thread %.1f (%.3f s), "
           "elapsed %.1f (%.3f s)",
           (double)speed.events / times[0] / 1e6, (unsigned long long)speed.events, (unsigned long long)speed.relevant,
           times[0], (unsigned long long)speed.sum, (double)speed.events / times[1] / 1e6, times[1],
           (double)speed.events / times[2] / 1e6, times[2]);
    if (speed.races)
        printf(", %llu pairs of places race, %.1f MB", (unsigned long long)speed.pairs, (double)speed.bytes / 1e6);
    printf("\n");
    pt_source_free(reader);
    pt_names_release(&names);
    return 0;
}
