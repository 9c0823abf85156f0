/*
 * Accesses that no analysis of races, deadlocks or properties can use: those of memory that one thread after the other
 * has had for itself. A look through the whole recording before the first event finds out which granules those are; of
 * a recording that is read while it is written, this look is over when the program is, and what was given before that
 * stays: where accesses of private memory up to some moment of the run are there and later ones are not, all that is
 * said below holds, since those that are there see each other.
 *
 * What is left out: plain accesses all of whose granules are *private*: whoever accesses one, or frees it, is the
 * thread that did so before, or has joined that one since; what the first thread does before it has started any other
 * does not count. Not those of memory that properties and schedules call by a name: static memory, and granules that
 * the program has ever named. Why the answers stay the same, in all orders. Let P be such an access, of thread T.
 *   - Where P conflicts with an event of another thread, one of the two is before the end of its thread, which the
 * other thread has joined, or before the start of it. Forks and joins keep their place in every possible run: so P is
 * in no race, and all conflicts of P are in the same order in every run that has both.
 *   - A read among them sees the write that is before it in this order, or what was there at first. A possible run has
 * a prefix of each thread's events, and whatever comes before by fork and join: so wherever the read is, its write is,
 *     and no other one in between. The read has its value in every run, and never keeps one from being possible.
 *   - A write among them is seen by such reads alone.
 * So a run of all events is possible exactly if it is without them: put in at their places in T, they change what no
 * other event sees, holds or waits for. Prefixes of T that differ in them alone are one. Which other events come next
 * in a run, and what they see, is the same, and with it each race, deadlock and relevant event.
 *
 * Why no more is left out. Of memory that was one thread's for a while, the accesses before a second one came can still
 * race with its accesses in another run, each under the locks that were held and after the reads that were made then;
 * no bound on what would have to be kept of them is known that loses no pair of places. So nothing is left out when it
 * is written, either: what will be private is known at the end. Of repeats between two operations that synchronise, a
 * read may stand for the later ones only as long as its thread writes nothing in between: a later one may come after a
 * write that the other side of a race has seen. The first and the last do not stand for those between them:
 * docs/prediction.md has a race that only such a one is in. And lifetimes follow pointers to whatever memory they lead
 * to, decentralised properties and blocks count or hold every event: they get all of them.
 *
 * Guarantee: as above; where there are too many threads, or one that nobody has started, less or nothing is left out.
 * Cost: decoding the logs once more, and a quarter of the memory that the program has touched.
 */
#include <stdlib.h>

#include "core/hash.h"
#include "trace/recording_impl.h"

enum { PAGE_BITS = PT_PAGE_BITS, IN_PAGE = PT_PAGE_GRANULES, SHARED = UINT16_MAX };

bool rec_private_is_static(const struct rec_private *p, uint64_t address)
{
    for (uint32_t i = 0; i < p->module_count; i++)
        if (address >= p->modules[i].low && address < p->modules[i].high)
            return true;
    return false;
}

static uint16_t *owner_at(struct rec_private *p, uint64_t address, bool make)
{
    uint16_t *owners = pt_pages_at(&p->owners, address >> PAGE_BITS, make);
    return owners ? &owners[(address >> 3) % IN_PAGE] : NULL;
}

/* Whether the owner was joined by this one, no later than now. */
static bool has_joined(const struct rec_private *p, uint16_t self, uint16_t owner, uint64_t when)
{
    const struct rec_private_thread *thread = &p->threads[owner - 1];
    return thread->joined_by == self && thread->joined_at <= when;
}

static void touch(struct rec_private *p, const struct rec_event *event, uint16_t self)
{
    uint64_t end = event->address + event->size, first = event->address & ~UINT64_C(7);
    for (uint64_t at = first; at < end; at += 8) {
        uint16_t *there = owner_at(p, at, true);
        if (p->alone || *there == SHARED)
            continue;
        *there = !*there || *there == self || has_joined(p, self, *there, p->noted) ? self : SHARED;
    }
    const struct rec_private_stretch *last = p->access_count ? &p->accesses[p->access_count - 1] : NULL;
    if (end > first + 8 && !(last && last->from == first && last->to == end))
        PT_PUSH(p->accesses, p->access_count, p->access_cap, ((struct rec_private_stretch){first, end, 0, 0}));
}

/* The number of a thread's log plus 1; 0: it has none. */
static uint16_t owner_of(const struct rec_private *p, uint64_t thread)
{
    uint32_t log = pt_map64_get(&p->log_of, thread);
    return log == PT_NONE ? 0 : (uint16_t)(log + 1);
}

void rec_private_note(struct rec_private *p, const struct rec_event *event, uint32_t log)
{
    uint16_t self = (uint16_t)(log + 1), other;
    if (!p->noted++)
        p->first = log;
    if (!p->threads[log].forked && log != p->first)
        p->foreign = true;
    if (pt_kind_by(event->kind) == PT_BY_MEMORY && event->size) {
        touch(p, event, self);
    } else if (event->kind == PT_KIND_NAMED && event->size <= PT_REC_NAMED_MOST) {
        for (uint64_t at = event->address & ~UINT64_C(7); at < event->address + event->size; at += 8)
            *owner_at(p, at, true) = SHARED;
    } else if (event->kind == PT_KIND_FREE && event->value) {
        PT_PUSH(p->frees, p->free_count, p->free_cap,
                ((struct rec_private_stretch){event->address & ~UINT64_C(7), event->address + event->value, self,
                                              p->noted}));
    } else if (event->kind == PT_KIND_FORK) {
        p->alone = false;
        *pt_map64_at(&p->forked, event->address) = 1;
        if ((other = owner_of(p, event->address)))
            p->threads[other - 1].forked = true;
    } else if (event->kind == PT_KIND_JOIN && (other = owner_of(p, event->address))) {
        p->threads[other - 1].joined_by = self;
        p->threads[other - 1].joined_at = p->noted;
    }
}

/* At the end: whoever has it now is who frees it, or was joined by that one before. */
static void free_page(const struct rec_private *p, uint64_t page, uint16_t *owners,
                      const struct rec_private_stretch *freed)
{
    uint64_t at = page << PAGE_BITS;
    for (uint32_t i = 0; i < IN_PAGE; i++, at += 8) {
        uint16_t *owner = &owners[i];
        if (at >= freed->from && at < freed->to && *owner && *owner != SHARED && *owner != freed->owner &&
            !has_joined(p, freed->owner, *owner, freed->when))
            *owner = SHARED;
    }
}

static void take_free(struct rec_private *p, const struct rec_private_stretch *freed)
{
    uint64_t first = freed->from >> PAGE_BITS, last = (freed->to - 1) >> PAGE_BITS;
    const struct pt_pages *all = &p->owners;
    if (last - first >= all->count) {
        for (uint32_t i = 0; i < all->count; i++)
            if (all->pages[i].page >= first && all->pages[i].page <= last)
                free_page(p, all->pages[i].page, all->pages[i].granules, freed);
        return;
    }
    for (uint64_t page = first; page <= last; page++) {
        uint16_t *owners = pt_pages_at(&p->owners, page, false);
        if (owners)
            free_page(p, page, owners, freed);
    }
}

/* An access comes as a whole or not at all, and so do all of what it touches. */
static bool spread(struct rec_private *p, const struct rec_private_stretch *access)
{
    uint32_t shared = 0, count = 0;
    for (uint64_t at = access->from; at < access->to; at += 8, count++)
        shared += *owner_at(p, at, true) == SHARED;
    if (!shared || shared == count)
        return false;
    for (uint64_t at = access->from; at < access->to; at += 8)
        *owner_at(p, at, true) = SHARED;
    return true;
}

void rec_private_begin(struct rec_private *p, bool alone)
{
    rec_private_clear(p);
    pt_pages_begin(&p->owners, PT_PAGE_GRANULES * sizeof(uint16_t));
    pt_map64_init(&p->log_of);
    pt_map64_init(&p->forked);
    p->begun = true;
    p->alone = alone;
}

bool rec_private_log(struct rec_private *p, uint32_t log, uint32_t thread)
{
    if (log >= SHARED - 1)
        return false;
    PT_ROOM(p->threads, p->thread_cap, log);
    p->threads[log].forked = pt_map64_get(&p->forked, thread) != PT_NONE;
    *pt_map64_at(&p->log_of, thread) = log;
    return true;
}

void rec_private_end(struct rec_private *p)
{
    for (uint32_t i = 0; i < p->free_count; i++)
        take_free(p, &p->frees[i]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < p->access_count; i++)
            changed |= spread(p, &p->accesses[i]);
    }
    p->found = true;
}

bool rec_private_is(struct rec_private *p, const struct rec_event *event)
{
    if (pt_kind_by(event->kind) != PT_BY_MEMORY || event->marks || !event->size ||
        rec_private_is_static(p, event->address))
        return false;
    uint64_t end = event->address + event->size;
    for (uint64_t at = event->address & ~UINT64_C(7); at < end; at += 8) {
        const uint16_t *owner = owner_at(p, at, false);
        if (!owner || *owner == SHARED)
            return false;
    }
    return true;
}

void rec_private_clear(struct rec_private *p)
{
    struct rec_private empty = {.modules = p->modules, .module_count = p->module_count, .module_cap = p->module_cap};
    pt_pages_release(&p->owners);
    free(p->threads);
    free(p->accesses);
    free(p->frees);
    if (p->begun) {
        pt_map64_release(&p->log_of);
        pt_map64_release(&p->forked);
    }
    *p = empty;
}

void rec_private_release(struct rec_private *p)
{
    rec_private_clear(p);
    free(p->modules);
}
