/*
 * One event of a recording, put into one of the slices whose concatenation is the run, or left out of it.
 *
 * A run of slices 0..last is made of the recorded events of slice 0, in recorded order, then of those of slice 1, and
 * so on. So of two events a, recorded first, and b, b comes before a in the run iff b's slice is lower. What a possible
 * run has to keep becomes conditions on slices, and each can be checked when the later of the two is read:
 *
 * - A thread's slices never go down, and after an event that is left out come only such. A fork raises those of the new
 *   thread, a join's is not below those of the thread, an operation on an object of `wait`, `notify`, `sync` not below
 *   that of the operation before it.
 * - A read in slice s sees the write that it saw, in slice i (the initial value: i = -1). Then i <= s; no write that is
 *   recorded before the read, and that is not the one it saw, is in i+1..s; and none that is recorded after it may
 *   be in i..s-1. `has` has the slices in which there is a write so far (those before the one that was seen come before
 *   it in its own slice), `forbid` those into which none may go any more.
 * - A section of a lock from slice i to j contains the end of i, all between, and the beginning of j. If i < j, then no
 *   section that excludes it and is recorded before it has an end in i+1..j, and none that is recorded later begins in
 *   i..j-1. A section whose release is left out goes to the end of the run.
 *
 * The conditions say exactly that the concatenation keeps thread order, reads-from and mutual exclusion: each pair of
 * accesses of a variable, or of sections of a lock, is looked at once, when its later one is read.
 *
 * Cost: constant per event and slice; a join as many as the locks its thread has.
 */
#include "engine/wide/sliced_impl.h"

/* The bits of a variable: `has` and `forbid`, four each, of which the last says that the write which reads see is left
 * out: it comes with slice 0 and can do no more than a write there could, so it is a set, too. Those of a lock: a byte
 * of `has`, of those who have it alone and of those who share it, and a byte of `forbid` for both. Slice 0 is in no
 * range that `has` is asked for. */
enum { HAS = 0, FORBID = 1 };
enum { UNSEEN = 0x80 };

static uint32_t asked(uint32_t slice)
{
    return slice ? 1u << slice : 0;
}

static uint32_t low(uint8_t byte)
{
    return byte & 15;
}
static uint32_t high(uint8_t byte)
{
    return byte >> 4 & 7;
}
static uint8_t both(uint32_t lows, uint32_t highs)
{
    return (uint8_t)(lows | highs << 4);
}

/* Bits from..to; none if to < from. */
static uint32_t range(uint32_t from, uint32_t to)
{
    return to < from || to >= SLICED_DROPPED ? 0 : (2u << to) - (1u << from);
}

/* ---- variables ---- */

/* What a variable has before anybody writes it is as good as a write in slice 0: none is recorded before that. */
static bool take_read(uint8_t *fields, const struct sliced_event *event, uint32_t slice)
{
    uint32_t writer = fields[event->object];
    uint8_t *bits = &fields[event->bits];
    if (*bits & UNSEEN || writer > slice)
        return false;
    if (writer < slice) {
        if (low(*bits) & range(writer + 1, slice))
            return false;
        *bits |= both(0, range(writer, slice - 1));
    }
    return true;
}

static bool take_write(uint8_t *fields, const struct sliced_event *event, uint32_t slice)
{
    uint32_t has = low(fields[event->bits]), forbid = high(fields[event->bits]);
    bool dropped = slice == SLICED_DROPPED;
    if (!dropped && forbid >> slice & 1)
        return false;
    if (event->unread)
        return true;
    fields[event->object] = dropped ? 0 : (uint8_t)slice;
    fields[event->bits] = dropped ? both(has, forbid) | UNSEEN : both(has | asked(slice), forbid);
    return true;
}

/* ---- locks ---- */

/* The slices in which sections begin or end that exclude one of this kind. */
static uint32_t excluding(const uint8_t *lock, bool shared)
{
    return low(lock[HAS]) | (shared ? 0 : high(lock[HAS]));
}

static void touch(uint8_t *lock, bool shared, uint32_t slice)
{
    lock[HAS] |= shared ? both(0, asked(slice)) : both(asked(slice), 0);
}

/* The slice in which its section was opened; more than any: it has none. */
static uint32_t begun_in(const uint8_t *fields, const struct sliced_holder *holder)
{
    return fields[holder->at] - 1u;
}

static bool take_lock(uint8_t *fields, const struct sliced_holder *holder, uint32_t slice)
{
    uint8_t *lock = fields + holder->lock;
    fields[holder->at] = (uint8_t)(slice + 1);
    if (slice == SLICED_DROPPED)
        return true;
    if ((holder->shared ? high(lock[FORBID]) : low(lock[FORBID])) >> slice & 1)
        return false;
    touch(lock, holder->shared, slice);
    return true;
}

static bool take_unlock(uint8_t *fields, const struct sliced_holder *holder, uint32_t slice, uint32_t last)
{
    uint8_t *lock = fields + holder->lock;
    uint32_t begun = begun_in(fields, holder);
    fields[holder->at] = 0;
    if (begun < slice && begun <= last) {
        uint32_t end = slice == SLICED_DROPPED ? last : slice;
        if (excluding(lock, holder->shared) & range(begun + 1, end))
            return false;
        uint32_t within = range(begun, slice == SLICED_DROPPED ? last : slice - 1);
        lock[FORBID] |= both(within, holder->shared ? 0 : within);
    }
    if (slice != SLICED_DROPPED)
        touch(lock, holder->shared, slice);
    return true;
}

bool sliced_may_end(const struct sliced_layout *layout, const uint8_t *fields, uint32_t last)
{
    for (uint32_t i = 0; i < layout->holder_count; i++) {
        const struct sliced_holder *holder = &layout->holders[i];
        uint32_t begun = begun_in(fields, holder);
        if (begun <= last && excluding(fields + holder->lock, holder->shared) & range(begun + 1, last))
            return false;
    }
    return true;
}

/* ---- events ---- */

/* What a thread has locked when it is joined is free from then on; if the join is left out, it stays locked. */
static bool take_join(const struct sliced_layout *layout, uint8_t *fields, const struct sliced_event *event,
                      uint32_t slice, uint32_t last)
{
    if (slice != SLICED_DROPPED && fields[event->object] > sliced_code(slice))
        return false;
    for (uint32_t i = event->first_held; i < event->held_at; i++)
        if (!take_unlock(fields, &layout->holders[layout->helds[i]], slice, last))
            return false;
    return true;
}

static bool take_other(uint8_t *fields, const struct sliced_event *event, uint32_t slice)
{
    uint8_t *at = fields + event->object, code = sliced_code(slice);
    if (event->chains && *at > code)
        return false;
    if ((event->forks || event->chains) && *at < code)
        *at = code;
    return true;
}

static bool take(const struct sliced_layout *layout, uint8_t *fields, const struct sliced_event *event, uint32_t slice,
                 uint32_t last)
{
    if (event->object == PT_NONE)
        return true;
    switch (event->kind) {
    case WIDE_READ:
        return slice == SLICED_DROPPED || take_read(fields, event, slice);
    case WIDE_WRITE:
        return take_write(fields, event, slice);
    case WIDE_UPDATE:
        return (slice == SLICED_DROPPED || take_read(fields, event, slice)) && take_write(fields, event, slice);
    case WIDE_ACQ:
    case WIDE_RACQ:
        return take_lock(fields, &layout->holders[event->holder], slice);
    case WIDE_REL:
    case WIDE_RREL:
        return take_unlock(fields, &layout->holders[event->holder], slice, last);
    case WIDE_JOIN:
        return take_join(layout, fields, event, slice, last);
    default:
        return take_other(fields, event, slice);
    }
}

/* Sections that are open when their lock is used for the last time stay open: what sliced_may_end would ask then. */
static bool end_lock(const struct sliced_layout *layout, uint8_t *fields, uint32_t lock, uint32_t last)
{
    for (uint32_t i = 0; i < layout->holder_count; i++) {
        const struct sliced_holder *holder = &layout->holders[i];
        uint32_t begun = begun_in(fields, holder);
        if (holder->lock != lock)
            continue;
        if (begun <= last && excluding(fields + lock, holder->shared) & range(begun + 1, last))
            return false;
        fields[holder->at] = 0;
    }
    fields[lock + HAS] = fields[lock + FORBID] = 0;
    return true;
}

static bool end(const struct sliced_layout *layout, uint8_t *fields, const struct sliced_end *end, uint32_t last)
{
    uint8_t *at = fields + end->at, *bits = fields + end->bits;
    switch (end->kind) {
    case SLICED_END_LOCK:
        return end_lock(layout, fields, end->at, last);
    case SLICED_END_READS: /* writes that follow must still not come between a write and its read */
        *at = 0;
        *bits = both(0, high(*bits));
        return true;
    case SLICED_END_VARIABLE:
        *at = *bits = 0;
        return true;
    default:
        *at = 0;
        return true;
    }
}

bool sliced_take(const struct sliced_layout *layout, uint8_t *fields, const struct sliced_event *event, uint32_t slice,
                 uint32_t last)
{
    fields[event->thread] = sliced_code(slice);
    if (!take(layout, fields, event, slice, last))
        return false;
    for (uint32_t i = event->first_end; i < event->end_at; i++)
        if (!end(layout, fields, &layout->ends[i], last))
            return false;
    return true;
}
