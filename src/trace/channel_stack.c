/*
 * Call stacks of recorded events: the program describes sites and calls once in each ring that uses them, and an event
 * has its site and a hash of its calls. A trace has a line for each stack, before the first event that names it. Until
 * then all that it needs is described, in whatever order.
 *
 * Cost: a look-up for each event; memory for each site of a ring, and for each different stack.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "trace/channel_impl.h"

enum { DEEPEST_INLINE = 64 };

void chan_init_stacks(struct pt_channel_reader *r)
{
    pt_map64_init(&r->frame_of);
    pt_map64_init(&r->calls_of);
    pt_map64_init(&r->stack_of);
    pt_map64_init(&r->stack_of_text);
}

void chan_release_stacks(struct pt_channel_reader *r)
{
    pt_map64_release(&r->frame_of);
    pt_map64_release(&r->calls_of);
    pt_map64_release(&r->stack_of);
    pt_map64_release(&r->stack_of_text);
    free(r->frames);
    free(r->calls);
}

static uint32_t frame_at(const struct pt_channel_reader *r, uint32_t ring, uint32_t site)
{
    return pt_map64_get(&r->frame_of, (uint64_t)ring << 32 | site);
}

void chan_take_frame(struct pt_channel_reader *r, uint32_t ring, const struct pt_record_site *site,
                     const char *function, uint32_t loc)
{
    uint32_t *at = pt_map64_at(&r->frame_of, (uint64_t)ring << 32 | site->site);
    if (*at != PT_NONE)
        return; /* it was described before */
    *at = r->frame_count;
    struct frame frame = {.loc = loc, .ring = ring, .caller = site->caller};
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_name_clean(&clean, PT_SPACE_LOC, *function ? function : "<unknown>");
    frame.function = pt_strtab_intern(&r->texts, clean.text, clean.len);
    pt_buf_release(&clean);
    PT_PUSH(r->frames, r->frame_count, r->frame_cap, frame);
}

bool chan_take_stack(struct pt_channel_reader *r, uint32_t ring)
{
    struct pt_record_stack record;
    const size_t sites = offsetof(struct pt_record_stack, sites);
    memcpy(&record, r->record, sizeof record.head);
    if (record.head.bytes < sites)
        return false;
    memcpy(&record, r->record, sites);
    if (!record.hash || record.count > PT_STACK_CALLS || record.count > (record.head.bytes - sites) / sizeof(uint32_t))
        return false;
    uint32_t *at = pt_map64_at(&r->calls_of, record.hash);
    if (*at != PT_NONE)
        return true;
    *at = r->call_count;
    PT_PUSH(r->calls, r->call_count, r->call_cap, record.count);
    PT_PUSH(r->calls, r->call_count, r->call_cap, ring);
    for (uint32_t i = 0; i < record.count; i++) {
        uint32_t site;
        memcpy(&site, r->record + sites + i * sizeof site, sizeof site);
        PT_PUSH(r->calls, r->call_count, r->call_cap, site);
    }
    return true;
}

/* A frame, and what it was inlined into: "function file:line", as in findings. */
static void put_frame(const struct pt_channel_reader *r, uint32_t frame, struct pt_buf *text)
{
    for (unsigned depth = 0; frame != PT_NONE && depth < DEEPEST_INLINE; depth++) {
        const struct frame *f = &r->frames[frame];
        const char *loc = pt_name(r->names, PT_SPACE_LOC, f->loc);
        pt_buf_printf(text, "%s%s", text->len ? " < " : "", pt_strtab_text(&r->texts, f->function));
        if (strcmp(loc, "-") != 0)
            pt_buf_printf(text, " %s", loc);
        frame = f->caller ? frame_at(r, f->ring, f->caller) : PT_NONE;
    }
}

/* The stack of this text; a new one has a line that defines it. */
static uint32_t define(struct pt_channel_reader *r, const struct pt_buf *text)
{
    struct pt_strtab *stacks = &r->names->space[PT_SPACE_STACK], *strings = &r->names->space[PT_SPACE_STRING];
    char number[16];
    uint32_t string = pt_strtab_intern(strings, text->text, text->len), *known = pt_map64_at(&r->stack_of_text, string);
    if (*known != PT_NONE)
        return *known;
    int len = snprintf(number, sizeof number, "%u", ++r->stack_count);
    uint32_t id = pt_strtab_intern(stacks, number, (size_t)len);
    *known = id + 1;
    struct pt_event line = {.op = PT_OP_STACK,
                            .thread = PT_NONE,
                            .object = id,
                            .loc = pt_strtab_intern(&r->names->space[PT_SPACE_LOC], "-", 1),
                            .value = pt_value_string(pt_strtab_text(strings, string), (uint32_t)text->len)};
    PT_PUSH(r->queue, r->queue_count, r->queue_cap, line);
    return id + 1;
}

uint32_t chan_stack_of(struct pt_channel_reader *r, uint32_t ring, uint32_t site, uint64_t hash)
{
    uint32_t own = frame_at(r, ring, site), calls = hash ? pt_map64_get(&r->calls_of, hash) : PT_NONE;
    uint32_t count = calls == PT_NONE ? 0 : r->calls[calls];
    const uint32_t *sites = count ? &r->calls[calls + 2] : NULL;
    if (own == PT_NONE && !count)
        return 0;
    uint32_t *stack = pt_map64_at(&r->stack_of, pt_mix64(hash ^ (uint64_t)site << 32));
    if (*stack != PT_NONE)
        return *stack;
    struct pt_buf text;
    pt_buf_init(&text);
    bool same = count && frame_at(r, sites[-1], sites[0]) == own; /* a call, which is the event itself */
    put_frame(r, own, &text);
    for (uint32_t i = same; i < count; i++)
        put_frame(r, frame_at(r, sites[-1], sites[i]), &text);
    *stack = text.len ? define(r, &text) : 0;
    pt_buf_release(&text);
    return *stack;
}
