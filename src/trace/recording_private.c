/*
 * Accesses that no analysis of races, deadlocks or properties can use: those of memory that one thread alone has
 * touched. A look through all logs before the first event finds out which granules those are; it needs no order.
 *
 * What is left out: plain accesses all of whose granules were accessed by one thread alone in the whole recording, and
 * freed, if at all, by the same one; not those of static memory, which properties and schedules call by its name. Why
 * the answers stay the same, in all orders. Let P be such an access, of thread T.
 *   - P conflicts with no event of another thread, so it is in no race and in no conflict that an order keeps.
 *   - A read among them sees a write of T, which is before it in T's own order, or what was there at first. Every
 *     possible run has a prefix of each thread's events, so wherever the read is, its write is, and no other thread
 *     writes the granule: the read has its value in every run. So it never keeps a run from being one.
 *   - A write among them is seen by T alone.
 * So a run of all events is possible exactly if it is without them: put in at their places in T, they change what no
 * other event sees, holds or waits for. Prefixes of T that differ in them alone are one. Which other events come next
 * in a run, and what they see, is the same, and with it each race, deadlock and relevant event.
 *
 * Why no more is left out. Of memory that was one thread's for a while, the accesses before a second one came can still
 * race with its accesses in another run, each under the locks that were held and after the reads that were made then;
 * no bound on what would have to be kept of them is known that loses no pair of places. Of repeats between two
 * operations that synchronise, a read may stand for the later ones only as long as its thread writes nothing in
 * between: a later one may come after a write that the other side of a race has seen. And lifetimes follow pointers to
 * whatever memory they lead to, decentralised properties and blocks count or hold every event: they get all of them.
 *
 * Guarantee: as above; where there are too many threads, nothing is left out. Cost: decoding the logs once more, and a
 * quarter of the memory that the program has touched.
 */
#include <stdlib.h>

#include "core/hash.h"
#include "trace/recording_impl.h"

enum { PAGE_BITS = 12, IN_PAGE = 1 << (PAGE_BITS - 3), SHARED = UINT16_MAX };

/* An access of several granules, or memory that is freed: `owner` is 0 of the former. */
struct stretch {
    uint64_t from, to;
    uint16_t owner;
};

struct finder {
    struct rec_private *found;
    struct stretch *accesses, *frees;
    uint32_t access_count, free_count;
    size_t access_cap, free_cap;
};

/* NULL: nobody has touched it, and it is not to be made. */
static uint16_t *page_at(struct rec_private *p, uint64_t page, bool make)
{
    struct rec_private_near *near = &p->near[page % REC_NEAR];
    if (near->owners && near->page == page)
        return near->owners;
    uint32_t *index = make ? pt_map64_at(&p->index, page) : NULL, at = make ? *index : pt_map64_get(&p->index, page);
    if (at == PT_NONE && !make)
        return NULL;
    if (at == PT_NONE) {
        at = *index = p->page_count;
        struct rec_private_near made = {page, pt_xcalloc(IN_PAGE, sizeof(uint16_t))};
        PT_PUSH(p->pages, p->page_count, p->page_cap, made);
    }
    *near = p->pages[at];
    return near->owners;
}

static bool is_static(const struct rec_private *p, uint64_t address)
{
    for (uint32_t i = 0; i < p->module_count; i++)
        if (address >= p->modules[i].low && address < p->modules[i].high)
            return true;
    return false;
}

static uint16_t *owner_at(struct rec_private *p, uint64_t address, bool make)
{
    uint16_t *owners = page_at(p, address >> PAGE_BITS, make);
    return owners ? &owners[(address >> 3) % IN_PAGE] : NULL;
}

static void touch(struct finder *f, const struct rec_event *event, uint16_t owner)
{
    uint64_t end = event->address + event->size, first = event->address & ~UINT64_C(7);
    for (uint64_t at = first; at < end; at += 8) {
        uint16_t *there = owner_at(f->found, at, true);
        *there = !*there || *there == owner ? owner : SHARED;
    }
    const struct stretch *last = f->access_count ? &f->accesses[f->access_count - 1] : NULL;
    if (end > first + 8 && !(last && last->from == first && last->to == end))
        PT_PUSH(f->accesses, f->access_count, f->access_cap, ((struct stretch){first, end, 0}));
}

static void look_through(struct finder *f, struct rec_log log, uint16_t owner)
{
    while (rec_log_next(&log)) {
        const struct rec_event *event = &log.event;
        if (pt_kind_by(event->kind) == PT_BY_MEMORY && event->size)
            touch(f, event, owner);
        else if (event->kind == PT_KIND_FREE && event->value)
            PT_PUSH(f->frees, f->free_count, f->free_cap,
                    ((struct stretch){event->address & ~UINT64_C(7), event->address + event->value, owner}));
    }
}

static void free_page(const struct rec_private_near *page, const struct stretch *freed)
{
    uint64_t at = page->page << PAGE_BITS;
    for (uint32_t i = 0; i < IN_PAGE; i++, at += 8)
        if (at >= freed->from && at < freed->to && page->owners[i] && page->owners[i] != freed->owner)
            page->owners[i] = SHARED;
}

static void take_free(struct rec_private *p, const struct stretch *freed)
{
    uint64_t first = freed->from >> PAGE_BITS, last = (freed->to - 1) >> PAGE_BITS;
    if (last - first >= p->page_count) {
        for (uint32_t i = 0; i < p->page_count; i++)
            if (p->pages[i].page >= first && p->pages[i].page <= last)
                free_page(&p->pages[i], freed);
        return;
    }
    for (uint64_t page = first; page <= last; page++) {
        struct rec_private_near there = {page, page_at(p, page, false)};
        if (there.owners)
            free_page(&there, freed);
    }
}

/* An access comes as a whole or not at all, and so do all of what it touches. */
static bool spread(struct rec_private *p, const struct stretch *access)
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

void rec_private_find(struct rec_private *p, const struct rec_log *logs, uint32_t log_count)
{
    struct finder f = {.found = p};
    if (log_count >= SHARED)
        return;
    pt_map64_init(&p->index);
    for (uint32_t i = 0; i < log_count; i++)
        look_through(&f, logs[i], (uint16_t)(i + 1));
    for (uint32_t i = 0; i < f.free_count; i++)
        take_free(p, &f.frees[i]);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < f.access_count; i++)
            changed |= spread(p, &f.accesses[i]);
    }
    free(f.accesses);
    free(f.frees);
    p->found = true;
}

bool rec_private_is(struct rec_private *p, const struct rec_event *event)
{
    if (pt_kind_by(event->kind) != PT_BY_MEMORY || event->marks || !event->size || is_static(p, event->address))
        return false;
    uint64_t end = event->address + event->size;
    for (uint64_t at = event->address & ~UINT64_C(7); at < end; at += 8) {
        const uint16_t *owner = owner_at(p, at, false);
        if (!owner || *owner == SHARED)
            return false;
    }
    return true;
}

void rec_private_release(struct rec_private *p)
{
    for (uint32_t i = 0; i < p->page_count; i++)
        free(p->pages[i].owners);
    free(p->pages);
    free(p->modules);
    if (p->found)
        pt_map64_release(&p->index);
}
