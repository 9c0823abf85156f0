/*
 * Spinning. A thread that has read the same value of the same memory at the same place three times, and has written
 * nothing in between, waits for another thread in a loop: it is taken last until another one has written something, and
 * one whose loop tries to take a lock, until one was given up. Taking and giving up locks in between does not count as
 * writing.
 *
 * Guarantee: a thread that does not spin may be taken for one that does, and is then only taken last. Cost: a few
 * instructions for each step.
 */
#include "runtime/explore/impl.h"

enum { REPEATS = 2 };

static void forget(struct pt_explore_slot *self)
{
    self->read_count = self->repeats = 0;
    self->spins = self->tries = false;
}

/* Its place among the last reads, or PT_EXPLORE_READS. */
static uint32_t find_read(const struct pt_explore_slot *self, uint64_t read)
{
    uint32_t count = self->read_count < PT_EXPLORE_READS ? self->read_count : PT_EXPLORE_READS;
    for (uint32_t i = 0; i < count; i++)
        if (self->reads[i] == read)
            return i;
    return PT_EXPLORE_READS;
}

/* Each turn of the loop repeats all reads of the one before: the first that is repeated counts the turns, until there
 * is one that was not there before. What was read before the loop does not count. */
static void note_read(struct pt_explore_slot *self, uint64_t read)
{
    uint32_t at = find_read(self, read);
    if (at == PT_EXPLORE_READS) {
        self->reads[self->read_count++ % PT_EXPLORE_READS] = read;
        self->repeats = 0;
    } else if (!self->repeats || self->loop_at == at) {
        self->loop_at = at;
        self->repeats++;
    }
    self->spins = self->repeats >= REPEATS;
    self->seen_writes = pt_run.writes;
    self->seen_unlocks = pt_run.unlocks;
}

void pt_explore_spin_note(uint32_t slot, const struct pt_explore_step *step, uint64_t value)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    if (pt_run.writes != self->seen_writes || (self->tries && pt_run.unlocks != self->seen_unlocks))
        forget(self); /* another thread has changed something since */
    switch ((enum pt_explore_kind)step->kind) {
    case PT_EXPLORE_LOAD:
    case PT_EXPLORE_ATOMIC_LOAD:
    case PT_EXPLORE_TRY_LOCK:
    case PT_EXPLORE_TRY_READ_LOCK:
    case PT_EXPLORE_SEM_TRY:
        note_read(self, pt_mix64(pt_mix64(step->object + step->place) ^ value));
        return;
    case PT_EXPLORE_LOCK:
    case PT_EXPLORE_READ_LOCK:
    case PT_EXPLORE_ASK:
    case PT_EXPLORE_UNLOCK:
    case PT_EXPLORE_YIELD:
    case PT_EXPLORE_SLEEP:
    case PT_EXPLORE_FENCE:
        break;
    default:
        if (pt_explore_kind_writes(step->kind))
            forget(self);
    }
    self->seen_writes = pt_run.writes;
    self->seen_unlocks = pt_run.unlocks;
}

bool pt_explore_spins(uint32_t slot)
{
    const struct pt_explore_slot *self = &pt_run.slots[slot];
    return self->spins && pt_run.writes == self->seen_writes && !(self->tries && pt_run.unlocks != self->seen_unlocks);
}
