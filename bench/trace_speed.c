/*
 * How fast a trace is read: every event of FILE parsed or decoded, and with --validate checked; nothing is kept. The
 * time is that of the processor, so that a busy machine does not matter.
 *
 *   trace_speed [--validate] FILE
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "trace/reader.h"
#include "trace/validate.h"

static double cpu_time(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    bool validate = argc == 3 && strcmp(argv[1], "--validate") == 0;
    if (argc != 2 + validate) {
        fprintf(stderr, "usage: trace_speed [--validate] FILE\n");
        return 2;
    }
    struct pt_names names;
    struct pt_reader *reader;
    struct pt_event event;
    struct pt_err err;
    pt_names_init(&names);
    if (pt_reader_open(argv[argc - 1], &names, &reader, &err) != PT_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.message);
        return 2;
    }
    struct pt_validator *validator = pt_validator_new(pt_reader_label(reader), &names);
    uint64_t events = 0, sum = 0;
    enum pt_read got;
    double start = cpu_time();
    while ((got = pt_reader_next(reader, &event, &err)) == PT_READ_EVENT) {
        events++;
        sum += event.op + event.thread + event.object + event.loc + event.value.u;
        if (validate && pt_validator_check(validator, &event, &err) != PT_OK) {
            got = PT_READ_ERROR;
            break;
        }
    }
    double seconds = cpu_time() - start;
    if (got != PT_READ_END) {
        fprintf(stderr, "%s:%llu:%u: %s\n", err.file, (unsigned long long)err.line, err.column, err.message);
        return 2;
    }
    printf("%llu events in %.3f s: %.1f million events/s (checksum %llx)\n", (unsigned long long)events, seconds,
           (double)events / seconds / 1e6, (unsigned long long)sum);
    pt_validator_free(validator);
    pt_reader_free(reader);
    pt_names_release(&names);
    return 0;
}
