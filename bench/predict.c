/*
 * What the built-in checks cost on a trace, beside plain reading of it: events per second of processor time, the ratio
 * to reading in the same run, the same of the thread that checks alone (another one decodes ahead where there are two
 * processors), and the memory that each has taken. Each check reads the file by itself.
 *
 *   predict FILE [CHECK]...     CHECK: races, sync, values, deadlocks, serializable; without any: all
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/check.h"
#include "trace/source.h"

enum { MANY = 128 }; /* events at a time, as `portent check` does it */

static const struct row {
    const char *name;
    const struct pt_check_kind *kind; /* NULL: it is only read */
    enum pt_check_order order;
} rows[] = {
    {"read", NULL, PT_CHECK_ACCESS},
    {"races", &pt_check_races, PT_CHECK_ACCESS},
    {"sync", &pt_check_races, PT_CHECK_SYNC},
    {"values", &pt_check_races, PT_CHECK_VALUES},
    {"deadlocks", &pt_check_deadlocks, PT_CHECK_VALUES},
    {"serializable", &pt_check_serializable, PT_CHECK_ACCESS},
};

static double read_clock(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

struct turn {
    const struct row *row;
    struct pt_source *source;
    void *check;
    uint64_t events, sum;
};

static enum pt_status take(struct turn *turn, const struct pt_event *events, uint32_t count, struct pt_err *err)
{
    uint32_t taken;
    turn->events += count;
    for (uint32_t i = 0; i < count; i++)
        turn->sum += events[i].op + events[i].thread + events[i].object + events[i].loc;
    return turn->check ? pt_check_events(turn->row->kind, turn->check, events, count, &taken, err) : PT_OK;
}

/* True: all was read. */
static bool feed(struct turn *turn)
{
    static struct pt_event events[MANY];
    struct pt_err err;
    enum pt_read read = PT_READ_EVENT;
    enum pt_status status = PT_OK;
    while (status == PT_OK && read == PT_READ_EVENT) {
        uint32_t count = pt_source_some(turn->source, events, MANY);
        if (!count && (read = pt_source_next(turn->source, events, &err)) == PT_READ_EVENT)
            count = 1;
        status = take(turn, events, count, &err);
    }
    return status == PT_OK && read == PT_READ_END;
}

/* Seconds of processor time; below 0: it went wrong. */
static double measure(const char *file, const struct row *row, double reading)
{
    struct pt_names names;
    struct pt_err err;
    struct turn turn = {.row = row};
    pt_names_init(&names);
    if (pt_source_open(file, &names, &turn.source, &err) != PT_OK) {
        fprintf(stderr, "%s: %s\n", file, err.message);
        return -1;
    }
    /* `values` as `portent check` does it by default: what it keeps of all events for searches has its bounds. */
    const struct pt_check_options options = {
        .trace = file, .order = row->order, .automatic = row->order == PT_CHECK_VALUES};
    turn.check = row->kind ? row->kind->begin(&names, &options) : NULL;
    double start = read_clock(CLOCK_PROCESS_CPUTIME_ID), own = read_clock(CLOCK_THREAD_CPUTIME_ID);
    bool all = feed(&turn);
    struct pt_check_found found = turn.check ? row->kind->finish(turn.check, NULL) : (struct pt_check_found){0};
    double seconds = read_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
    own = read_clock(CLOCK_THREAD_CPUTIME_ID) - own;
    printf("%-13s %6.2f million events/s, %6.2f s, %5.1f times reading, this thread %6.2f", row->name,
           (double)turn.events / seconds / 1e6, seconds, reading > 0 ? seconds / reading : 1.0,
           (double)turn.events / own / 1e6);
    const struct pt_finding *f = found.finding;
    if (f)
        printf(", %7.1f MB, %u found", (double)f->peak_bytes / 1e6,
               f->verdict == PT_VERDICT_VIOLATED ? f->more_count + 1 : 0);
    printf(" (%llu events, checksum %llx)\n", (unsigned long long)turn.events, (unsigned long long)turn.sum);
    fflush(stdout); /* the next one may take long */
    if (turn.check)
        row->kind->free(turn.check);
    pt_source_free(turn.source);
    pt_names_release(&names);
    return all ? seconds : -1;
}

static bool is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc == 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: predict FILE [CHECK]...\n");
        return 2;
    }
    double reading = measure(argv[1], &rows[0], 0);
    for (size_t i = 1; reading > 0 && i < sizeof rows / sizeof *rows; i++)
        if (is_wanted(rows[i].name, argc, argv) && measure(argv[1], &rows[i], reading) < 0)
            return 1;
    return reading > 0 ? 0 : 1;
}
