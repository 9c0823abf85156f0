/*
 * A trace, kept whole, and what the recorded run says about its events: which write a read saw, where a lock is
 * released that was taken, who was forked and joined where. Every search in a wider order begins with these.
 *
 * Guarantee: nothing here depends on a property or an order. Cost: some 40 bytes per event while the trace is read, and
 * one pass with about 20 more when the first search begins; constant expected time per event.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/wide_impl.h"

struct pt_wide_log *pt_wide_log_new(const struct pt_names *names)
{
    struct pt_wide_log *log = pt_xcalloc(1, sizeof *log);
    log->names = names;
    pt_strtab_init(&log->value_ids);
    pt_strtab_intern(&log->value_ids, "", 0); /* 0: unknown */
    return log;
}

struct pt_wide_log *pt_wide_log_like(const struct pt_wide_log *log)
{
    struct pt_wide_log *like = pt_wide_log_new(log->names);
    PT_GROW(like->initial, like->initial_cap, log->initial_cap);
    PT_GROW(like->initial_given, like->given_cap, log->given_cap);
    like->initial_cap = log->initial_cap;
    like->given_cap = log->given_cap;
    if (log->initial_cap)
        memcpy(like->initial, log->initial, log->initial_cap * sizeof *log->initial);
    if (log->given_cap)
        memcpy(like->initial_given, log->initial_given, log->given_cap * sizeof *log->initial_given);
    like->var_count = log->var_count;
    return like;
}

static void forget_events(struct pt_wide_log *log)
{
    for (uint32_t t = 0; t < log->thread_count; t++)
        free(log->threads[t].places);
    free(log->threads);
    free(log->events);
    free(log->lines);
    free(log->locs);
    free(log->index);
    free(log->writer);
    free(log->link);
    free(log->inner);
    free(log->values);
    free(log->must);
    free(log->needed);
    free(log->is_needed);
}

static void forget(struct pt_wide_log *log)
{
    forget_events(log);
    free(log->initial);
    free(log->initial_given);
    pt_strtab_release(&log->value_ids);
}

void pt_wide_log_free(struct pt_wide_log *log)
{
    if (!log)
        return;
    if (!log->refuses)
        forget(log);
    free(log);
}

void pt_wide_log_refuse(struct pt_wide_log *log, const char *why)
{
    if (log->refuses)
        return;
    forget(log);
    *log = (struct pt_wide_log){.names = log->names, .refuses = why};
}

void pt_wide_log_thin(struct pt_wide_log *log, bool thin)
{
    if (log->refuses)
        return;
    forget_events(log);
    *log = (struct pt_wide_log){.names = log->names,
                                .thin = thin,
                                .initial = log->initial,
                                .initial_given = log->initial_given,
                                .initial_cap = log->initial_cap,
                                .given_cap = log->given_cap,
                                .var_count = log->var_count,
                                .value_ids = log->value_ids};
}

const char *pt_wide_log_refuses(const struct pt_wide_log *log)
{
    return log->refuses;
}

uint64_t pt_wide_log_count(const struct pt_wide_log *log)
{
    return log->count;
}

struct pt_log_event pt_wide_log_at(const struct pt_wide_log *log, uint64_t place)
{
    const struct pt_recorded *e = &log->events[place];
    return (struct pt_log_event){
        .event = place + 1, .thread = e->thread, .object = e->object, .loc = log->locs[place], .op = e->op};
}

size_t pt_wide_log_bytes(const struct pt_wide_log *log)
{
    size_t linked = 4 * sizeof(uint32_t) + sizeof(bool) + sizeof(uint32_t); /* and the places of the threads */
    linked += log->needed ? sizeof *log->needed + sizeof *log->is_needed : 0;
    linked += log->must ? sizeof *log->must : 0;
    return log->event_cap * sizeof *log->events + log->line_cap * sizeof *log->lines +
           log->loc_cap * sizeof *log->locs + log->count * linked;
}

static void take_initial(struct pt_wide_log *log, const struct pt_event *event)
{
    size_t old = log->initial_cap, old_given = log->given_cap;
    PT_GROW(log->initial, log->initial_cap, (size_t)event->object + 1);
    PT_GROW(log->initial_given, log->given_cap, (size_t)event->object + 1);
    for (size_t i = old; i < log->initial_cap; i++)
        log->initial[i] = pt_value_int(0);
    memset(log->initial_given + old_given, 0, (log->given_cap - old_given) * sizeof *log->initial_given);
    log->initial[event->object] = event->value;
    log->initial_given[event->object] = true;
    if (event->object >= log->var_count)
        log->var_count = event->object + 1;
}

void pt_wide_log_event(struct pt_wide_log *log, const struct pt_event *event)
{
    if (log->refuses)
        return;
    if (event->clock) {
        pt_wide_log_refuse(log, "the trace has relevant events alone (c=), and wider orders need all accesses and lock "
                                "operations: record with --record-all");
        return;
    }
    if (event->op == PT_OP_LOST) {
        pt_wide_log_refuse(log, "events were lost");
        return;
    }
    if (event->op == PT_OP_INIT)
        take_initial(log, event);
    if (event->thread == PT_NONE || log->thin)
        return;
    if (log->count == PT_NONE - 1) {
        pt_wide_log_refuse(log, "the trace has more than 4294967294 events");
        return;
    }
    PT_GROW(log->events, log->event_cap, log->count + 1);
    PT_GROW(log->lines, log->line_cap, log->count + 1);
    PT_GROW(log->locs, log->loc_cap, log->count + 1);
    log->events[log->count] = pt_recorded(event);
    log->lines[log->count] = event->line;
    log->locs[log->count++] = event->loc;
}

void pt_wide_log_need(struct pt_wide_log *log, uint64_t place, uint64_t needed)
{
    if (!log->needed) {
        log->needed = pt_xcalloc(log->count + 1, sizeof *log->needed);
        log->is_needed = pt_xcalloc(log->count + 1, sizeof *log->is_needed);
    }
    log->needed[place] = (uint32_t)needed + 1;
    log->is_needed[needed] = true;
}

uint32_t wide_value_id(struct pt_wide_log *log, struct pt_value value)
{
    char bytes[1 + sizeof value.u];
    if (value.kind == PT_VALUE_UNKNOWN)
        return 0;
    if (value.kind == PT_VALUE_STRING) {
        char *text = pt_xmalloc((size_t)value.len + 1);
        text[0] = 's';
        memcpy(text + 1, value.s, value.len);
        uint32_t id = pt_strtab_intern(&log->value_ids, text, (size_t)value.len + 1);
        free(text);
        return id;
    }
    bytes[0] = (char)value.kind;
    memcpy(bytes + 1, &value.u, sizeof value.u);
    return pt_strtab_intern(&log->value_ids, bytes, sizeof bytes);
}

static struct wide_thread *thread_at(struct pt_wide_log *log, uint32_t id)
{
    PT_ROOM(log->threads, log->thread_cap, id);
    if (id >= log->thread_count)
        log->thread_count = id + 1;
    return &log->threads[id];
}

/* Per thread and lock: how deep it has it, and where that began. */
struct holds {
    struct pt_map64 depth, place;
};

static void link_lock(struct pt_wide_log *log, struct holds *holds, uint32_t place)
{
    const struct pt_recorded *e = &log->events[place];
    uint64_t key = (uint64_t)e->thread << 32 | e->object;
    uint32_t *depth = pt_map64_at(&holds->depth, key);
    if (*depth == PT_NONE)
        *depth = 0;
    if (pt_op_locks(e->op)) {
        log->inner[place] = *depth > 0;
        if ((*depth)++ == 0)
            *pt_map64_at(&holds->place, key) = place;
    } else if (*depth > 0) {
        log->inner[place] = --*depth > 0;
        if (!log->inner[place])
            log->link[pt_map64_get(&holds->place, key)] = place + 1;
    } else {
        log->inner[place] = true; /* of a lock it does not have: nothing happens */
    }
}

/* While a trace is linked. */
struct linking {
    struct holds exclusive, shared;
    struct pt_map64 writes, others; /* the last write of a variable, the last operation on another object */
};

static void link_object(struct pt_wide_log *log, struct linking *l, uint32_t place)
{
    const struct pt_recorded *e = &log->events[place];
    switch (pt_op_space(e->op)) {
    case PT_SPACE_LOCK:
        link_lock(log, pt_op_is_shared(e->op) ? &l->shared : &l->exclusive, place);
        break;
    case PT_SPACE_VAR: {
        uint32_t *last = pt_map64_at(&l->writes, e->object);
        log->writer[place] = *last == PT_NONE ? 0 : *last + 1;
        if (pt_op_writes(e->op))
            *last = place;
        if (e->object >= log->var_count)
            log->var_count = e->object + 1;
        log->values[place] = e->partial ? 0 : wide_value_id(log, e->value);
        break;
    }
    default: {
        uint32_t *last = pt_map64_at(&l->others, e->object);
        log->link[place] = *last == PT_NONE ? 0 : *last + 1;
        *last = place;
    }
    }
}

static void link_event(struct pt_wide_log *log, struct linking *l, uint32_t place)
{
    const struct pt_recorded *e = &log->events[place];
    struct wide_thread *thread = thread_at(log, e->thread);
    PT_PUSH(thread->places, thread->count, thread->cap, place);
    log->index[place] = thread->count;
    if (e->op == PT_OP_FORK)
        thread_at(log, e->object)->fork = place + 1;
    else if (e->op == PT_OP_JOIN)
        thread_at(log, e->object)->join = place + 1;
    else if (pt_op_accesses(e->op))
        link_object(log, l, place);
}

void wide_log_link(struct pt_wide_log *log)
{
    size_t count = log->count + 1;
    struct linking l;
    struct pt_map64 *maps[] = {&l.exclusive.depth, &l.exclusive.place, &l.shared.depth,
                               &l.shared.place,    &l.writes,          &l.others};
    if (log->linked)
        return;
    log->linked = true;
    log->index = pt_xcalloc(count, sizeof *log->index);
    log->writer = pt_xcalloc(count, sizeof *log->writer);
    log->link = pt_xcalloc(count, sizeof *log->link);
    log->inner = pt_xcalloc(count, sizeof *log->inner);
    log->values = pt_xcalloc(count, sizeof *log->values);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pt_map64_init(maps[i]);
    for (uint32_t i = 0; i < log->count; i++)
        link_event(log, &l, i);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        pt_map64_release(maps[i]);
}
