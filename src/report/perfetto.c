/*
 * Slices of one track (pid, tid) must nest, and speedscope knows complete slices ("X") only. Locks are not always
 * released in the order in which they were taken, and a thread's state changes while it holds them: so each thread has
 * a track for its states and further tracks, called lanes here, for its locks. A lock takes the first lane that is
 * free, so that slices of a lane never overlap. An arrow goes from a release to the next acquisition by another thread;
 * its ends are bound to the slices that enclose them, hence it starts just before the release.
 *
 * Cost: linear in the trace; memory per thread and per lock.
 */
#include "report/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/format.h"
#include "report/json_writer.h"
#include "report/perfetto_run.h"
#include "report/tracetime.h"

enum { PID = 1, MAX_LANES_SORTED = 1000 };

struct lane {
    uint32_t tid;
    uint32_t lock; /* the one held, PT_NONE: free */
    uint32_t loc;
    uint64_t since;
    bool reader;
};

struct thread {
    uint32_t tid;         /* 0: not seen yet */
    uint32_t state;       /* id of the scheduler state, PT_NONE: none was seen */
    uint64_t since, last; /* of its state; its last event */
    struct lane *lanes;
    uint32_t lane_count;
    size_t lane_cap;
};

/* The last release of a lock, until someone takes it. */
struct release {
    bool open;
    uint32_t tid, thread;
    uint64_t time;
};

struct pt_perfetto {
    const struct pt_names *names;
    struct pt_json json;
    struct pt_tracetime time;
    struct thread *threads;
    size_t thread_cap;
    struct release *releases;
    size_t release_cap;
    uint32_t tids, arrows;
};

static void put_time(struct pt_perfetto *p, const char *key, uint64_t nanoseconds)
{
    pt_json_value(&p->json, key, pt_value_float((double)nanoseconds / 1000));
}

/* What every event has; one line each. */
static void open_event(struct pt_perfetto *p, const char *phase, const char *name, uint32_t tid)
{
    pt_buf_puts(p->json.buf, "\n");
    pt_json_open(&p->json, NULL, '{');
    pt_json_string(&p->json, "ph", phase);
    pt_json_string(&p->json, "name", name);
    pt_json_uint(&p->json, "pid", PID);
    pt_json_uint(&p->json, "tid", tid);
}

static void put_metadata(struct pt_perfetto *p, const char *what, uint32_t tid, const char *name)
{
    open_event(p, "M", what, tid);
    pt_json_open(&p->json, "args", '{');
    pt_json_string(&p->json, "name", name);
    pt_json_close(&p->json, '}');
    pt_json_close(&p->json, '}');
}

static uint32_t new_track(struct pt_perfetto *p, const char *name, uint64_t sort_index)
{
    uint32_t tid = ++p->tids;
    put_metadata(p, "thread_name", tid, name);
    open_event(p, "M", "thread_sort_index", tid);
    pt_json_open(&p->json, "args", '{');
    pt_json_uint(&p->json, "sort_index", sort_index);
    pt_json_close(&p->json, '}');
    pt_json_close(&p->json, '}');
    return tid;
}

static void put_loc(struct pt_perfetto *p, uint32_t loc)
{
    if (loc == PT_NONE)
        return;
    pt_json_open(&p->json, "args", '{');
    pt_json_string(&p->json, "loc", pt_name(p->names, PT_SPACE_LOC, loc));
    pt_json_close(&p->json, '}');
}

static void put_slice(struct pt_perfetto *p, const char *category, const char *name, uint32_t tid, uint64_t since,
                      uint64_t until, uint32_t loc)
{
    open_event(p, "X", name, tid);
    pt_json_string(&p->json, "cat", category);
    put_time(p, "ts", since);
    put_time(p, "dur", until - since);
    put_loc(p, loc);
    pt_json_close(&p->json, '}');
}

static void put_instant(struct pt_perfetto *p, const char *category, const char *name, uint32_t tid, uint64_t at,
                        uint32_t loc)
{
    open_event(p, "i", name, tid);
    pt_json_string(&p->json, "cat", category);
    pt_json_string(&p->json, "s", "t");
    put_time(p, "ts", at);
    put_loc(p, loc);
    pt_json_close(&p->json, '}');
}

/* One end of an arrow: "s" where it starts, "f" where it ends. */
static void put_arrow_end(struct pt_perfetto *p, const char *phase, uint32_t tid, uint64_t at)
{
    open_event(p, phase, "unlock to lock", tid);
    pt_json_string(&p->json, "cat", "lock");
    pt_json_uint(&p->json, "id", p->arrows);
    if (phase[0] == 'f')
        pt_json_string(&p->json, "bp", "e");
    put_time(p, "ts", at);
    pt_json_close(&p->json, '}');
}

struct pt_perfetto *pt_perfetto_new(const char *name, const struct pt_names *names, struct pt_buf *buf)
{
    struct pt_perfetto *p = pt_xcalloc(1, sizeof *p);
    p->names = names;
    p->json.buf = buf;
    pt_json_open(&p->json, NULL, '{');
    pt_json_string(&p->json, "displayTimeUnit", "ns");
    pt_json_open(&p->json, "traceEvents", '[');
    put_metadata(p, "process_name", 0, name);
    return p;
}

static struct thread *thread_at(struct pt_perfetto *p, uint32_t id)
{
    if (id >= p->thread_cap) {
        size_t old = p->thread_cap;
        PT_GROW(p->threads, p->thread_cap, (size_t)id + 1);
        memset(p->threads + old, 0, (p->thread_cap - old) * sizeof *p->threads);
    }
    struct thread *t = &p->threads[id];
    if (t->tid == 0) {
        t->tid = new_track(p, pt_name(p->names, PT_SPACE_THREAD, id), (uint64_t)id * MAX_LANES_SORTED);
        t->state = PT_NONE;
        t->since = p->time.now;
    }
    return t;
}

static void end_state(struct pt_perfetto *p, struct thread *t, uint64_t at)
{
    const char *name = t->state == PT_NONE ? "active" : pt_name(p->names, PT_SPACE_STATE, t->state);
    if (at > t->since)
        put_slice(p, "state", name, t->tid, t->since, at, PT_NONE);
    t->since = at;
}

static struct lane *free_lane(struct pt_perfetto *p, struct thread *t, uint32_t thread)
{
    for (uint32_t i = 0; i < t->lane_count; i++)
        if (t->lanes[i].lock == PT_NONE)
            return &t->lanes[i];
    struct pt_buf name;
    pt_buf_init(&name);
    pt_buf_printf(&name, "%s: lock %u", pt_name(p->names, PT_SPACE_THREAD, thread), t->lane_count + 1);
    uint32_t place = t->lane_count + 1 < MAX_LANES_SORTED ? t->lane_count + 1 : MAX_LANES_SORTED - 1;
    struct lane lane = {.tid = new_track(p, name.text, (uint64_t)thread * MAX_LANES_SORTED + place)};
    pt_buf_release(&name);
    PT_PUSH(t->lanes, t->lane_count, t->lane_cap, lane);
    return &t->lanes[t->lane_count - 1];
}

static struct release *release_of(struct pt_perfetto *p, uint32_t lock)
{
    if (lock >= p->release_cap) {
        size_t old = p->release_cap;
        PT_GROW(p->releases, p->release_cap, (size_t)lock + 1);
        memset(p->releases + old, 0, (p->release_cap - old) * sizeof *p->releases);
    }
    return &p->releases[lock];
}

static void take_lock(struct pt_perfetto *p, struct thread *t, const struct pt_event *event)
{
    struct lane *lane = free_lane(p, t, event->thread);
    struct release *last = release_of(p, event->object);
    lane->lock = event->object;
    lane->loc = event->loc;
    lane->since = p->time.now;
    lane->reader = event->op == PT_OP_RACQ;
    if (last->open && last->thread != event->thread) {
        p->arrows++;
        put_arrow_end(p, "s", last->tid, last->time);
        put_arrow_end(p, "f", lane->tid, p->time.now);
    }
    last->open = false;
}

static void end_lane(struct pt_perfetto *p, struct lane *lane)
{
    struct pt_buf name;
    pt_buf_init(&name);
    pt_buf_printf(&name, "%s%s", pt_name(p->names, PT_SPACE_LOCK, lane->lock), lane->reader ? " (shared)" : "");
    put_slice(p, "lock", name.text, lane->tid, lane->since, p->time.now, lane->loc);
    pt_buf_release(&name);
    lane->lock = PT_NONE;
}

static void drop_lock(struct pt_perfetto *p, struct thread *t, const struct pt_event *event)
{
    for (uint32_t i = t->lane_count; i-- > 0;) {
        struct lane *lane = &t->lanes[i];
        if (lane->lock != event->object || lane->reader != (event->op == PT_OP_RREL))
            continue;
        uint64_t inside = p->time.now > lane->since ? p->time.now - 1 : lane->since;
        if (event->op == PT_OP_REL)
            *release_of(p, event->object) = (struct release){true, lane->tid, event->thread, inside};
        end_lane(p, lane);
        return;
    }
}

void pt_perfetto_event(struct pt_perfetto *p, const struct pt_event *event)
{
    uint64_t now = pt_tracetime_next(&p->time, event);
    if (event->thread == PT_NONE)
        return;
    struct thread *t = thread_at(p, event->thread);
    t->last = now;
    switch ((enum pt_op)event->op) {
    case PT_OP_STATE:
        end_state(p, t, now);
        t->state = event->object;
        break;
    case PT_OP_ACQ:
    case PT_OP_RACQ:
        take_lock(p, t, event);
        break;
    case PT_OP_REL:
    case PT_OP_RREL:
        drop_lock(p, t, event);
        break;
    case PT_OP_CONTENDED: {
        struct pt_buf name;
        pt_buf_init(&name);
        pt_buf_printf(&name, "contended: %s", pt_name(p->names, PT_SPACE_LOCK, event->object));
        put_instant(p, "lock", name.text, t->tid, now, event->loc);
        pt_buf_release(&name);
        break;
    }
    case PT_OP_EVENT:
        put_instant(p, "user", pt_name(p->names, PT_SPACE_EVENT, event->object), t->tid, now, event->loc);
        break;
    default:
        break;
    }
}

void pt_perfetto_finish(struct pt_perfetto *p)
{
    for (size_t i = 0; i < p->thread_cap; i++) {
        struct thread *t = &p->threads[i];
        if (t->tid == 0)
            continue;
        end_state(p, t, t->state == PT_NONE ? t->last : p->time.now);
        for (uint32_t k = 0; k < t->lane_count; k++)
            if (t->lanes[k].lock != PT_NONE)
                end_lane(p, &t->lanes[k]);
        free(t->lanes);
    }
    pt_json_close(&p->json, ']');
    pt_json_open(&p->json, "otherData", '{');
    char start[32];
    snprintf(start, sizeof start, "%" PRIu64, p->time.first);
    pt_json_string(&p->json, "time of ts 0, in ns", start);
    pt_json_close(&p->json, '}');
    pt_json_close(&p->json, '}');
    pt_buf_puts(p->json.buf, "\n");
    free(p->threads);
    free(p->releases);
    free(p);
}

static void *begin(const struct pt_report_context *context, const struct pt_names *names, struct pt_buf *buf)
{
    return pt_perfetto_new(context->name, names, buf);
}

static void take_event(void *state, const struct pt_event *event)
{
    pt_perfetto_event(state, event);
}

static void finish(void *state, struct pt_buf *buf)
{
    (void)buf; /* it was given at the beginning */
    pt_perfetto_finish(state);
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    (void)context;
    pt_report_perfetto_runs(loaded, buf);
}

static const struct pt_report_events from_trace = {.begin = begin, .event = take_event, .finish = finish};

const struct pt_report_format pt_report_format_perfetto = {
    .name = "perfetto",
    .from_result = from_result,
    .from_trace = &from_trace,
};
