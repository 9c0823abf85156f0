/*
 * The observer's side of the gate (core/gate.h): its memory, who is who, and opening it. The program can write to that
 * memory, so whatever is read from it is bounded before use. Cost: one look at each thread that has no name yet.
 */
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/channel_impl.h"

static const uint64_t name_patience =
    1000000000; /* as for events: a thread was numbered, and its parent never said so */

struct layout {
    uint64_t entries, actors, threads, end;
};

static struct layout layout_of(const struct pt_channel_gate *gate)
{
    struct layout layout = {.entries = sizeof(struct pt_gate)};
    layout.actors = layout.entries + gate->count * sizeof(struct pt_gate_entry);
    layout.threads = (layout.actors + gate->role_count * sizeof(struct pt_gate_actor) + 63) / 64 * 64;
    layout.end = layout.threads + PT_GATE_THREADS * sizeof(struct pt_gate_thread);
    return layout;
}

uint64_t chan_gate_bytes(const struct pt_channel_gate *gate)
{
    return layout_of(gate).end;
}

void chan_gate_write(struct pt_channel_reader *r, const struct pt_channel_gate *gate, struct pt_gate *memory)
{
    struct layout layout = layout_of(gate);
    memory->from = gate->from;
    memory->count = gate->count;
    memory->role_count = gate->role_count;
    memory->whole = gate->whole;
    memory->meets = gate->meets;
    memory->bare = gate->bare;
    memory->stand_ns = gate->stand_ns;
    if (gate->places)
        memcpy(memory->places, gate->places, sizeof memory->places);
    memory->entries = (uint32_t)layout.entries;
    memory->actors = (uint32_t)layout.actors;
    memory->threads = (uint32_t)layout.threads;
    r->gate = memory;
    r->gate_threads = (struct pt_gate_thread *)((char *)memory + layout.threads);
    memcpy((char *)memory + layout.entries, gate->entries, gate->count * sizeof *gate->entries);
    for (uint32_t i = 0; i < gate->role_count; i++)
        pt_gate_actors(memory)[i].before = gate->before[i];
}

uint32_t pt_channel_turn(const struct pt_channel_reader *r)
{
    return atomic_load(&r->gate->turn);
}

const struct pt_gate_thread *pt_channel_gate_thread(const struct pt_channel_reader *r, uint32_t number)
{
    return number < PT_GATE_THREADS ? &r->gate_threads[number] : NULL;
}

void pt_channel_name_threads(struct pt_channel_reader *r, uint64_t now, pt_channel_named named, void *context)
{
    if (r->reported_count == r->thread_count)
        return;
    bool waits = false, over = r->unnamed_since && now - r->unnamed_since > name_patience;
    for (uint32_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].announced)
            continue;
        if (r->threads[i].name == PT_NONE && r->threads[i].number > r->announced && !over) {
            waits = true;
            continue;
        }
        uint32_t name = chan_name_of(r, &r->threads[i]);
        r->threads[i].announced = true;
        r->reported_count++;
        named(context, r->threads[i].number, pt_name(r->names, PT_SPACE_THREAD, name));
    }
    if (!waits)
        r->unnamed_since = 0;
    else if (!r->unnamed_since)
        r->unnamed_since = now;
}

const char *pt_channel_lock_name(struct pt_channel_reader *r, uint64_t address)
{
    return pt_name(r->names, PT_SPACE_LOCK, pt_places_look(r->places, address, PT_SPACE_LOCK).name);
}

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void pt_channel_open_gate(struct pt_channel_reader *r)
{
    /* Partner: a held thread looks at it each time it wakes, and at least every 20 ms. */
    atomic_store(&r->gate->open, 1);
    wake(&r->gate->turn);
    wake(&r->gate->floor);
}

uint32_t pt_channel_floor(const struct pt_channel_reader *r)
{
    return atomic_load(&r->gate->floor);
}

void pt_channel_give_floor(struct pt_channel_reader *r, uint32_t number)
{
    atomic_store(&r->gate->floor, number + 1);
    wake(&r->gate->floor);
}

bool pt_channel_met(const struct pt_channel_reader *r, struct pt_channel_meeting *ret_meeting)
{
    /* Partner: the program's release, before which it wrote the rest. */
    if (!atomic_load(&r->gate->met))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        ret_meeting->address[i] = r->gate->met_address[i];
        ret_meeting->size[i] = r->gate->met_size[i];
    }
    return true;
}

uint32_t pt_channel_strays(const struct pt_channel_reader *r)
{
    return atomic_load(&r->gate->strays);
}

bool pt_channel_said(const struct pt_channel_reader *r, char ret_text[PT_GATE_SAID])
{
    uint32_t len = atomic_load(&r->gate->said_len);
    if (len < 2 || len >= PT_GATE_SAID) /* 1: it is being written */
        return false;
    memcpy(ret_text, r->gate->said, len);
    ret_text[len] = 0;
    return true;
}

void pt_channel_set_role(struct pt_channel_reader *r, uint32_t number, uint32_t role)
{
    if (number >= PT_GATE_THREADS)
        return;
    /* Partner: the thread's acquire; it waits for it at its first relevant event. */
    atomic_store(&r->gate_threads[number].role, role);
    wake(&r->gate_threads[number].role);
}
