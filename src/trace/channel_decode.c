/*
 * Records to events. Everything here looks at the private copy in reader->record, whose length is known; texts and
 * tables are checked against it.
 *
 * Clocks count the events the program wrote. Where some were lost, the counts handed out leave them out: an event's
 * count is the number of its thread's events that have been handed out, so that the order stays one that `order`
 * accepts.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/shape.h"
#include "trace/channel_impl.h"

enum { MAX_FOREIGN = 100, MAX_INITS = 1 << 20 };

static uint32_t intern(struct pt_channel_reader *r, enum pt_space space, const char *text)
{
    return pt_strtab_intern(&r->names->space[space], text, strlen(text));
}

/* The string that starts at `offset` of the record, NULL when it does not end within it. */
static const char *text_at(const struct pt_channel_reader *r, size_t offset)
{
    struct pt_record head;
    memcpy(&head, r->record, sizeof head);
    if (offset >= head.bytes || !memchr(r->record + offset, '\0', head.bytes - offset))
        return NULL;
    return (const char *)r->record + offset;
}

/* --- threads --- */

struct thread *chan_thread_at(struct pt_channel_reader *r, uint32_t number)
{
    if (number >= CHAN_MAX_THREADS)
        return NULL;
    size_t old = r->thread_of_cap;
    PT_GROW(r->thread_of, r->thread_of_cap, (size_t)number + 1);
    for (size_t i = old; i < r->thread_of_cap; i++)
        r->thread_of[i] = PT_NONE;
    uint32_t *index = &r->thread_of[number];
    if (*index == PT_NONE) {
        *index = r->thread_count;
        struct thread thread = {.number = number,
                                .name = PT_NONE,
                                .behind = PT_NONE,
                                .count = r->counted_before,
                                .yielded = r->counted_before};
        PT_PUSH(r->threads, r->thread_count, r->thread_cap, thread);
        r->unnamed = number < r->unnamed ? number : r->unnamed;
    }
    return &r->threads[*index];
}

static inline const struct thread *known_thread(const struct pt_channel_reader *r, uint32_t number)
{
    uint32_t index = chan_index_of(r, number);
    return index == PT_NONE ? NULL : &r->threads[index];
}

/* `worker`, then `worker#2`, ... in order of creation, or as the program itself has counted them. */
static void give_name(struct pt_channel_reader *r, struct thread *thread)
{
    const char *function = NULL;
    if (thread->number == 0)
        function = "main";
    else if (thread->start && r->function)
        function = r->function(r->function_context, thread->start, thread->module_base);
    if (!function || !*function)
        function = thread->own_name && thread->own_name[0] ? thread->own_name : "thread";
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_name_clean(&buf, PT_SPACE_THREAD, function);
    uint32_t id = pt_strtab_intern(&r->thread_functions, buf.text, buf.len);
    size_t old = r->function_use_cap;
    PT_GROW(r->function_uses, r->function_use_cap, (size_t)id + 1);
    for (size_t i = old; i < r->function_use_cap; i++)
        r->function_uses[i] = 0;
    uint32_t use = thread->ordinal ? thread->ordinal : ++r->function_uses[id];
    if (use > 1)
        pt_buf_printf(&buf, "#%u", use);
    thread->name = pt_strtab_intern(&r->names->space[PT_SPACE_THREAD], buf.text, buf.len);
    pt_buf_release(&buf);
}

uint32_t chan_name_of(struct pt_channel_reader *r, struct thread *thread)
{
    for (; thread->name == PT_NONE; r->unnamed++) {
        uint32_t index = chan_index_of(r, r->unnamed);
        if (index != PT_NONE && r->threads[index].name == PT_NONE)
            give_name(r, &r->threads[index]);
    }
    return thread->name;
}

static void find_announced(struct pt_channel_reader *r)
{
    while (known_thread(r, r->announced))
        r->announced++;
}

static bool is_open(const struct pt_channel_reader *r, uint32_t number)
{
    const struct thread *thread = known_thread(r, number);
    return thread && thread->name == PT_NONE && number > r->announced;
}

const char *pt_channel_thread_name(struct pt_channel_reader *r, uint32_t number, bool settle)
{
    uint32_t index = chan_index_of(r, number);
    if (index == PT_NONE || (is_open(r, number) && !settle))
        return NULL;
    return pt_name(r->names, PT_SPACE_THREAD, chan_name_of(r, &r->threads[index]));
}

bool chan_name_is_open(const struct pt_channel_reader *r)
{
    struct pt_record_event event;
    memcpy(&event, r->record, sizeof event);
    return is_open(r, event.thread) || (event.kind == PT_KIND_FORK && is_open(r, event.object));
}

void chan_settle_names(struct pt_channel_reader *r)
{
    struct pt_record_event event;
    memcpy(&event, r->record, sizeof event);
    r->announced = event.thread;
    if (event.kind == PT_KIND_FORK && event.object > event.thread)
        r->announced = event.object;
    find_announced(r);
}

static bool take_thread(struct pt_channel_reader *r)
{
    struct pt_record_thread record;
    const char *name = text_at(r, offsetof(struct pt_record_thread, name));
    if (!name)
        return false;
    memcpy(&record, r->record, sizeof record);
    struct thread *thread = chan_thread_at(r, record.thread);
    if (!thread)
        return false;
    if (thread->name == PT_NONE) {
        free(thread->own_name);
        thread->own_name = pt_xstrdup(name);
        thread->start = record.start;
        thread->module_base = record.module_base;
        thread->ordinal = record.ordinal;
    }
    find_announced(r);
    return true;
}

/* --- places --- */

static bool take_site(struct pt_channel_reader *r, uint32_t ring)
{
    struct pt_record_site record;
    const char *file = text_at(r, offsetof(struct pt_record_site, texts));
    if (!file)
        return false;
    memcpy(&record, r->record, sizeof record);
    struct pt_buf loc;
    pt_buf_init(&loc);
    pt_name_clean(&loc, PT_SPACE_LOC, *file ? file : "-");
    if (*file && record.line)
        pt_buf_printf(&loc, ":%u", record.line);
    uint32_t id = intern(r, PT_SPACE_LOC, loc.text);
    *pt_map64_at(&r->sites, (uint64_t)ring << 32 | record.site) = id;
    pt_buf_release(&loc);
    const char *function = text_at(r, offsetof(struct pt_record_site, texts) + strlen(file) + 1);
    if (function && r->clockless)
        chan_take_frame(r, ring, &record, function, id);
    return true;
}

static uint32_t loc_of(struct pt_channel_reader *r, uint32_t ring, uint32_t site)
{
    uint32_t loc = pt_map64_get(&r->sites, (uint64_t)ring << 32 | site);
    return loc == PT_NONE ? intern(r, PT_SPACE_LOC, "-") : loc;
}

/* --- names the program gave --- */

static bool take_name(struct pt_channel_reader *r)
{
    struct pt_record_name record;
    const char *text = text_at(r, offsetof(struct pt_record_name, text));
    if (!text)
        return false;
    memcpy(&record, r->record, sizeof record);
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_name_clean(&clean, PT_SPACE_STRING, *text ? text : "-");
    *pt_map64_at(&r->text_of, record.number) = pt_strtab_intern(&r->texts, clean.text, clean.len);
    pt_buf_release(&clean);
    return true;
}

static bool take_module(struct pt_channel_reader *r)
{
    struct pt_record_module record;
    const char *file = text_at(r, offsetof(struct pt_record_module, file));
    if (!file)
        return false;
    memcpy(&record, r->record, sizeof record);
    pt_places_add_module(r->places, file, record.base, record.low, record.high);
    return true;
}

static bool take_object_name(struct pt_channel_reader *r)
{
    struct pt_record_object record;
    const char *name = text_at(r, offsetof(struct pt_record_object, name));
    if (!name || !*name)
        return false;
    memcpy(&record, r->record, sizeof record);
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_name_clean(&clean, PT_SPACE_OTHER, name);
    pt_places_name_object(r->places, record.address, clean.text);
    pt_buf_release(&clean);
    return true;
}

/* --- values --- */

static bool take_watch(struct pt_channel_reader *r)
{
    struct pt_record_watch record;
    const char *name = text_at(r, offsetof(struct pt_record_watch, name));
    if (!name || !*name)
        return false;
    memcpy(&record, r->record, sizeof record);
    if (record.type > PT_WATCH_CHARS || record.var < r->var_count)
        return false;
    uint32_t id = pt_names_intern_clean(r->names, PT_SPACE_VAR, name, strlen(name));
    struct watched watched = {.name = id, .size = record.size, .type = record.type};
    *pt_map64_at(&r->objects, record.var) = r->dynamic_count;
    PT_PUSH(r->dynamic, r->dynamic_count, r->dynamic_cap, watched);
    return true;
}

static const struct watched *watched_at(const struct pt_channel_reader *r, uint32_t object)
{
    if (object < r->var_count)
        return &r->vars[object];
    uint32_t index = pt_map64_get(&r->objects, object);
    return index == PT_NONE ? NULL : &r->dynamic[index];
}

static struct pt_value decode(struct pt_channel_reader *r, const struct watched *w, const unsigned char *bytes,
                              uint32_t len)
{
    if (w->type == PT_WATCH_CHARS) {
        size_t text = strnlen((const char *)bytes, len < w->size ? len : w->size);
        uint32_t id = pt_strtab_intern(&r->names->space[PT_SPACE_STRING], (const char *)bytes, text);
        return pt_value_string(pt_name(r->names, PT_SPACE_STRING, id), (uint32_t)text);
    }
    struct pt_shape shape = {w->size, w->type, w->bit_offset, w->bit_size};
    if (len < w->size)
        return (struct pt_value){0};
    return pt_shape_value(&shape, bytes);
}

struct pt_value chan_decode(struct pt_channel_reader *r, uint32_t type, uint32_t size, const unsigned char *bytes)
{
    uint64_t bits = 0;
    if (chan_is_number(type, size)) {
        memcpy(&bits, bytes, size);
        return chan_number(type, size, bits);
    }
    struct watched cell = {.size = size, .type = (enum pt_watch_type)type};
    return decode(r, &cell, bytes, size);
}

/* --- events --- */

/* The fixed part, and where clock and value stand; false when they do not fit into the record. */
static bool open_event(const struct pt_channel_reader *r, struct pt_record_event *ret_event, size_t *ret_value)
{
    if (((const struct pt_record *)(const void *)r->record)->bytes < sizeof *ret_event)
        return false;
    memcpy(ret_event, r->record, sizeof *ret_event);
    uint64_t value = sizeof *ret_event + (uint64_t)ret_event->clock_count * sizeof(struct pt_clock_pair);
    *ret_value = (size_t)value;
    return value + ret_event->value_bytes <= ret_event->head.bytes;
}

static bool take_init(struct pt_channel_reader *r)
{
    struct pt_record_event record;
    size_t at;
    if (!open_event(r, &record, &at))
        return false;
    const struct watched *w = watched_at(r, record.object);
    if (!w)
        return false;
    struct pt_event event = {.op = PT_OP_INIT,
                             .thread = PT_NONE,
                             .object = w->name,
                             .loc = intern(r, PT_SPACE_LOC, "-"),
                             .value = decode(r, w, r->record + at, record.value_bytes)};
    if (event.value.kind != PT_VALUE_UNKNOWN && r->init_count < MAX_INITS)
        PT_PUSH(r->inits, r->init_count, r->init_cap, event);
    return true;
}

static bool take_foreign(struct pt_channel_reader *r, uint32_t ring)
{
    struct pt_record_event record;
    size_t at;
    if (!open_event(r, &record, &at))
        return false;
    const struct watched *w = watched_at(r, record.object);
    if (!w)
        return false;
    struct pt_channel_foreign foreign = {w->name, loc_of(r, ring, record.site)};
    for (uint32_t i = 0; i < r->foreign_count; i++) {
        if (r->foreign[i].var == foreign.var && r->foreign[i].loc == foreign.loc)
            return true;
    }
    if (r->foreign_count < MAX_FOREIGN)
        PT_PUSH(r->foreign, r->foreign_count, r->foreign_cap, foreign);
    return true;
}

/* States are the thread's events as it counts them. The trace may have more: an access of several variables is several
 * lines. Where every event is recorded the record stands right behind the state's own, so the lines can be counted. */
static void report_lines(struct pt_channel_reader *r, const struct thread *thread, struct pt_channel_local *local)
{
    local->from = thread->lines == thread->before ? thread->lines : thread->before + 1;
    local->to = thread->lines;
    r->local(r->local_context, local);
}

static bool take_local(struct pt_channel_reader *r)
{
    struct pt_record_local record;
    const size_t texts = offsetof(struct pt_record_local, texts);
    if (((const struct pt_record *)(const void *)r->record)->bytes < sizeof record)
        return false;
    memcpy(&record, r->record, sizeof record);
    const char *name = text_at(r, texts);
    if (!name)
        return false;
    size_t report = texts + strlen(name) + 1;
    if (record.report > record.head.bytes - report || record.result > PT_LOCAL_STATES || record.from > record.to)
        return false;
    struct thread *thread = r->in_full && known_thread(r, record.thread) ? chan_thread_at(r, record.thread) : NULL;
    if (thread && record.result == PT_LOCAL_BEGUN)
        chan_count_from(thread);
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_name_clean(&clean, PT_SPACE_THREAD, name);
    bool lines = r->in_full && record.from > 0 && thread;
    struct pt_channel_local local = {.property = record.property,
                                     .result = (enum pt_local_result)record.result,
                                     .thread = clean.text ? clean.text : "",
                                     .from = lines ? thread->lines : record.from,
                                     .to = lines ? thread->lines : record.to,
                                     .report = (const char *)r->record + report,
                                     .report_bytes = record.report};
    if (r->local && lines && record.result < PT_LOCAL_BEGUN)
        report_lines(r, thread, &local);
    else if (r->local)
        r->local(r->local_context, &local);
    pt_buf_release(&clean);
    return true;
}

bool chan_take_record(struct pt_channel_reader *r, uint32_t ring)
{
    switch (((const struct pt_record *)(const void *)r->record)->type) {
    case PT_RECORD_THREAD:
        return take_thread(r);
    case PT_RECORD_SITE:
        return take_site(r, ring);
    case PT_RECORD_NAME:
        return take_name(r);
    case PT_RECORD_WATCH:
        return take_watch(r);
    case PT_RECORD_MODULE:
        return take_module(r);
    case PT_RECORD_INIT:
        return take_init(r);
    case PT_RECORD_FOREIGN:
        return take_foreign(r, ring);
    case PT_RECORD_LOCAL:
        return take_local(r);
    case PT_RECORD_FOUND:
        return chan_take_found(r);
    case PT_RECORD_STACK:
        return chan_take_stack(r, ring);
    case PT_RECORD_OBJECT:
        return take_object_name(r);
    default:
        return false;
    }
}

/* An object that the program has given a name, and its value if it has one. */
static bool take_named(struct pt_channel_reader *r, const struct pt_record_event *record, const unsigned char *value,
                       struct pt_event *event)
{
    bool given = pt_op_value_rule(event->op) == PT_VALUE_MUST;
    uint32_t text = pt_map64_get(&r->text_of, record->object);
    int64_t number;
    if (text == PT_NONE || (given && record->value_bytes != sizeof number))
        return false;
    event->object = intern(r, pt_op_space(event->op), pt_strtab_text(&r->texts, text));
    if (given) {
        memcpy(&number, value, sizeof number);
        event->value = pt_value_int(number);
    }
    return true;
}

/* What an access of a part of a watched variable has touched; with clocks nobody asks for it. */
static bool take_part(const struct pt_channel_reader *r, const struct pt_record_event *record, const struct watched *w,
                      const unsigned char *value, struct pt_event *event)
{
    struct pt_part part;
    if (!(record->marks & PT_MARK_PART))
        return true;
    if (record->value_bytes != (uint64_t)w->size + sizeof part)
        return false;
    memcpy(&part, value + w->size, sizeof part);
    if (part.from >= part.to || part.to > w->size)
        return false;
    if (r->clockless)
        pt_event_set_bytes(event, part.from, part.to, w->size);
    return true;
}

/* The event's object as the trace names it, and its value; false when there is no such object. */
static bool take_object(struct pt_channel_reader *r, const struct pt_record_event *record, const unsigned char *value,
                        struct pt_event *event)
{
    const struct watched *w;
    switch (pt_kind_by(record->kind)) {
    case PT_BY_WATCH:
        w = watched_at(r, record->object);
        if (!w)
            return false;
        event->object = w->name;
        event->value = decode(r, w, value, record->value_bytes);
        return take_part(r, record, w, value, event);
    case PT_BY_INDEX:
        if (record->object >= r->user_event_count)
            return false;
        event->object = r->user_events[record->object];
        if (record->value_bytes) /* the call of a function, with its arguments */
            event->object = pt_names_intern_clean(r->names, PT_SPACE_EVENT, (const char *)value, record->value_bytes);
        return true;
    case PT_BY_NAME:
        return take_named(r, record, value, event);
    default: /* PT_BY_NOTHING */
        event->object = pt_op_has_object(event->op) ? intern(r, PT_SPACE_STATE, "ended") : PT_NONE;
        return true;
    }
}

struct thread *chan_thread(struct pt_channel_reader *r, uint32_t number)
{
    return &r->threads[chan_index_of(r, number)];
}

bool chan_other_thread(struct pt_channel_reader *r, uint32_t number, bool forked, uint32_t *ret_name)
{
    uint32_t index = chan_index_of(r, number);
    if (index == PT_NONE || r->threads[index].seen == forked)
        return false;
    r->threads[index].seen = true;
    *ret_name = chan_name_of(r, &r->threads[index]);
    return true;
}

/* It is one event, which needs nothing of what channel_full.c knows. */
static bool is_simple(unsigned kind)
{
    enum pt_object_by by = pt_kind_by(kind);
    return by == PT_BY_WATCH || by == PT_BY_INDEX || by == PT_BY_NAME || by == PT_BY_NOTHING;
}

/* Of the latest record's events, those that are the thread's own. */
static uint32_t own_lines(const struct pt_channel_reader *r, const struct thread *self)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->queue_count; i++)
        count += r->queue[i].thread == self->name;
    return count;
}

/* The order of an atomic access or a fence; a store comes as an update. */
static bool take_order(const struct pt_record_event *record, struct pt_event *event)
{
    unsigned order = (unsigned)record->marks >> PT_MARK_ORDER;
    if (order >= PT_MEMORY_COUNT || (order && !pt_op_may_be_ordered(event->op)) || (!order && event->op == PT_OP_FENCE))
        return false;
    event->order = (uint8_t)order;
    if (record->marks & PT_MARK_STORE && event->op == PT_OP_UPDATE)
        event->op = PT_OP_WRITE;
    return true;
}

/* The hash that stands behind the value, which is shorter then. */
static bool take_stack(struct pt_channel_reader *r, uint32_t ring, struct pt_record_event *record, size_t value,
                       struct pt_event *event)
{
    uint64_t hash = 0;
    bool calls = record->marks & PT_MARK_STACK;
    if (calls && record->value_bytes < sizeof hash)
        return false;
    if (calls) {
        record->value_bytes -= (uint32_t)sizeof hash;
        memcpy(&hash, r->record + value + record->value_bytes, sizeof hash);
    }
    if (r->clockless && record->kind != PT_KIND_FREED)
        event->stack = chan_stack_of(r, ring, record->site, hash);
    return true;
}

/* Readers of clocks that know it keep no count for it: order/access.h. Few threads need no such thing, and people who
 * read their traces neither. */
void chan_note_end(struct pt_channel_reader *r, uint32_t number)
{
    enum { FEW = 16 };
    struct thread *thread = chan_thread(r, number);
    if (r->in_full || r->clockless || r->counting <= FEW || thread->yielded == r->counted_before || thread->over)
        return;
    thread->over = true;
    PT_PUSH(r->ends, r->end_count, r->end_cap, number);
}

bool chan_take_end(struct pt_channel_reader *r, struct pt_event *ret_event)
{
    if (!r->end_count)
        return false;
    *ret_event = (struct pt_event){.op = PT_OP_SYNC,
                                   .order = PT_MEMORY_RELAXED,
                                   .thread = chan_thread(r, r->ends[--r->end_count])->name,
                                   .object = intern(r, PT_SPACE_OTHER, PT_TIE_ENDED),
                                   .loc = intern(r, PT_SPACE_LOC, "-")};
    return true;
}

bool chan_take_event(struct pt_channel_reader *r, uint32_t ring, struct pt_event *ret_event)
{
    struct pt_record_event record;
    size_t at;
    struct chan_clock clock;
    if (!open_event(r, &record, &at) || record.kind >= PT_KIND_COUNT)
        return false;
    struct pt_event event = {.op = (uint8_t)pt_kind_op(record.kind), .loc = loc_of(r, ring, record.site)};
    bool simple = is_simple(record.kind);
    if (!take_stack(r, ring, &record, at, &event))
        return false;
    if (simple && !take_object(r, &record, r->record + at, &event))
        return false;
    if (!chan_take_clock(r, &record, &clock))
        return false;
    struct thread *self = chan_thread_at(r, record.thread);
    event.thread = self->name;
    if (!r->clockless) {
        event.clock = r->clock;
        event.clock_len = clock.count;
        event.behind = clock.behind;
    }
    /* For races, which are looked for where all is recorded; a fence is nothing without it. */
    if ((r->clockless || event.op == PT_OP_FENCE) && !take_order(&record, &event))
        return false;
    if (!simple && !chan_take_full(r, self, &record, r->record + at, event))
        return false;
    self = chan_thread_at(r, record.thread); /* naming the other one may have moved them */
    self->seen = true;
    self->shifted = self->shifted || self->owed;
    self->before = self->lines + self->owed;
    self->owed = 0;
    self->lines = self->before + (simple ? 1 : own_lines(r, self));
    if (pt_kind_by(record.kind) == PT_BY_EXTENT) /* no state of who evaluates properties */
        self->shifted |= self->lines != self->before;
    else
        chan_count_state(r, self);
    ret_event->op = PT_OP_COUNT;
    if (simple && r->queue_count) /* behind the line of its stack */
        PT_PUSH(r->queue, r->queue_count, r->queue_cap, event);
    else if (simple)
        *ret_event = event;
    return true;
}
