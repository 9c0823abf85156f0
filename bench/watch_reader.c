/*
 * A reader of a program's event stream for bench/watch/run.py: decodes it and steps one `within` property, as fast as
 * it can.
 *
 *     watch_reader PATH
 *
 * Prints a line when it is connected, and at the end: events, lost, seconds from the first to the last user event,
 * CPU seconds, the property's verdict (0: good).
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "engine/within.h"
#include "trace/wire.h"

static const char text[] = "property p within 1s: always eventually event(w) && always eventually event(r);";

struct tally {
    uint64_t users, first, last;
    int verdict;
};

static int dial(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    for (int tries = 0; fd >= 0 && tries < 2000; tries++) {
        if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        usleep(5000);
    }
    return -1;
}

static void take(struct pt_within *within, const struct pt_names *names, const struct pt_event *event,
                 struct tally *tally)
{
    struct pt_within_event step = {.var = PT_NONE, .user_event = PT_NONE, .has_time = true, .time = event->time};
    if (event->op == PT_OP_EVENT) {
        const char *name = pt_name(names, PT_SPACE_EVENT, event->object);
        step.user_event = strcmp(name, "w") == 0 ? 0 : strcmp(name, "r") == 0 ? 1 : PT_NONE;
        tally->first = tally->users++ ? tally->first : event->time;
        tally->last = event->time;
    }
    tally->verdict = (int)pt_within_event(within, &step);
}

static void connected(void *context, const struct pt_wire_item *item)
{
    (void)context, (void)item;
    printf("connected\n");
    fflush(stdout);
}

static int listen_to(int fd, struct pt_within *within)
{
    struct pt_names names;
    struct tally tally = {0};
    struct timespec cpu;
    struct pt_event event;
    struct pt_err err;
    enum pt_read got;
    pt_names_init(&names);
    struct pt_source *source = pt_wire_source_new(fd, "bench", &names);
    pt_wire_source_set_hello(source, connected, NULL);
    while ((got = pt_source_next(source, &event, &err)) <= PT_READ_WAIT) {
        if (got == PT_READ_WAIT)
            pt_source_wait(source, UINT64_C(1000000000));
        else if (pt_wire_source_item(source)->what == PT_WIRE_READ_EVENT)
            take(within, &names, &event, &tally);
    }
    if (got == PT_READ_ERROR)
        fprintf(stderr, "%s\n", err.message);
    struct pt_wire_counts counts = pt_wire_source_counts(source);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    printf("%llu %llu %.6f %.6f %d\n", (unsigned long long)counts.events, (unsigned long long)counts.lost,
           (double)(tally.last - tally.first) / 1e9, (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9, tally.verdict);
    pt_source_free(source);
    pt_names_release(&names);
    return 0;
}

int main(int argc, char **argv)
{
    struct pt_properties *properties = pt_properties_new();
    struct pt_monitor *monitor;
    struct pt_err err;
    if (argc != 2 || pt_properties_add(properties, "bench.prop", text, strlen(text), NULL, NULL, &err) != PT_OK ||
        pt_monitor_new(&properties->items[0], 1000, &monitor, &err) != PT_OK) {
        fprintf(stderr, "usage: watch_reader PATH\n");
        return 2;
    }
    int fd = dial(argv[1]);
    if (fd < 0) {
        fprintf(stderr, "nobody listens at %s\n", argv[1]);
        return 2;
    }
    struct pt_within *within = pt_within_new(monitor);
    int status = listen_to(fd, within);
    close(fd);
    pt_within_free(within);
    pt_monitor_free(monitor);
    pt_properties_free(properties);
    return status;
}
