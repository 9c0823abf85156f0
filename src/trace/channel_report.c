/*
 * What built-in checks found, and names and numbers of what threads report about decentralised properties, as the trace
 * has them: so that a finding of `run` and one that `check` makes of the recording are the same.
 *
 * A thread counts its events; where everything is recorded, one that accesses several variables is several lines, or
 * none. The states at which the two counts part are remembered: 16 bytes for each such access, at most MOST of a
 * thread; of older ones the thread's own number is given.
 */
#include <stdlib.h>
#include <string.h>

#include "core/found.h"
#include "core/local_report.h"
#include "trace/channel_impl.h"

enum { MOST = 1 << 20 };

static uint64_t lines_after(const struct thread *thread, uint64_t state)
{
    uint32_t low = 0, high = thread->uneven_count; /* the first that is behind it */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (thread->uneven[middle].state <= state)
            low = middle + 1;
        else
            high = middle;
    }
    const struct lines *last = low ? &thread->uneven[low - 1] : NULL;
    return last ? last->lines + (state - last->state) : state;
}

static void part_ways(struct thread *thread)
{
    if (thread->uneven_count == MOST) {
        thread->uneven_count = MOST / 2;
        memmove(thread->uneven, thread->uneven + MOST / 2, MOST / 2 * sizeof *thread->uneven);
    }
    struct lines here = {thread->states, thread->lines};
    PT_PUSH(thread->uneven, thread->uneven_count, thread->uneven_cap, here);
}

void chan_count_from(struct thread *thread)
{
    thread->states = 0;
    thread->uneven_count = 0;
    if (thread->lines)
        part_ways(thread);
}

void chan_count_state(const struct pt_channel_reader *r, struct thread *thread)
{
    thread->states++;
    if (r->local && r->in_full && (thread->lines != thread->before + 1 || thread->shifted))
        part_ways(thread);
    thread->shifted = false;
}

static enum pt_space space_of(uint32_t kind)
{
    return pt_kind_by(kind) == PT_BY_ADDRESS ? pt_op_space(pt_kind_op(kind)) : PT_SPACE_VAR;
}

static const char *clean(struct pt_channel_reader *r, const struct pt_local_report_step *step)
{
    enum pt_space space = pt_kind_by(step->kind) == PT_BY_THREAD ? PT_SPACE_THREAD : PT_SPACE_VAR;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_name_clean(&text, space, step->object);
    uint32_t id = pt_strtab_intern(&r->texts, text.text ? text.text : "", text.len);
    pt_buf_release(&text);
    return pt_strtab_text(&r->texts, id);
}

const char *pt_channel_report_object(struct pt_channel_reader *r, const struct pt_local_report_step *step,
                                     struct pt_value *ret_value)
{
    *ret_value = step->value;
    if (!step->at)
        return clean(r, step);
    enum pt_space space = space_of(step->kind);
    struct pt_cell cell = pt_places_look(r->places, step->at, space);
    uint64_t begin = pt_local_report_memory(step->at, step->from), skip = cell.low - begin;
    /* as in a recording: if all of the variable was accessed */
    bool whole = step->value.kind == PT_VALUE_STRING && cell.low >= begin && skip + cell.size <= step->value.len;
    *ret_value = whole ? chan_decode(r, cell.type, cell.size, (const unsigned char *)step->value.s + skip)
                       : (struct pt_value){0};
    return pt_name(r->names, space, cell.name);
}

static const struct thread *thread_named(const struct pt_channel_reader *r, const char *name)
{
    uint32_t id = pt_strtab_find(&r->names->space[PT_SPACE_THREAD], name, strlen(name));
    for (uint32_t i = 0; i < r->thread_count && id != PT_NONE; i++)
        if (r->threads[i].name == id)
            return &r->threads[i];
    return NULL;
}

uint64_t pt_channel_report_state(struct pt_channel_reader *r, const char *name, uint64_t state,
                                 const struct pt_local_report_step *step)
{
    const struct thread *thread = r->in_full && state ? thread_named(r, name) : NULL;
    if (!thread)
        return state;
    uint64_t line = lines_after(thread, state - 1) + 1, last = lines_after(thread, state);
    for (uint64_t at = step->from; at < step->last && line < last; line++) {
        struct pt_cell cell = pt_places_look(r->places, at, PT_SPACE_VAR);
        at = cell.low + cell.size;
        if (at > step->last)
            break;
    }
    return line;
}

const char *pt_channel_name_at(struct pt_channel_reader *r, uint64_t address, enum pt_space space)
{
    return pt_name(r->names, space, pt_places_look(r->places, address, space).name);
}

bool chan_take_found(struct pt_channel_reader *r)
{
    enum { REPORT = offsetof(struct pt_record_found, report) };
    struct pt_record_found record;
    memcpy(&record, r->record, sizeof record.head);
    if (record.head.bytes < REPORT)
        return false;
    memcpy(&record, r->record, REPORT);
    const char *report = (const char *)r->record + REPORT;
    if (record.bytes > record.head.bytes - REPORT || (record.bytes && !pt_found_is_whole(report, record.bytes)))
        return false;
    struct pt_channel_found found = {record.key, record.count, report, record.bytes};
    if (r->found)
        r->found(r->found_context, &found);
    return true;
}
