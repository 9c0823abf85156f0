/*
 * Writes that are not in a recording, because code that is not instrumented made them (libraries), and the order that
 * they make. A read that returns what no recorded event left in that memory has seen one. By whom it was made, and
 * when since the last event that is known to have had another value there, nobody knows. Wider orders than the
 * recorded one keep a read after the write that it saw; here that is kept by the read needing all events before it:
 * whatever thread made the write, and after whichever of its events, it did so in every run that has these.
 *
 * That is said in the trace by *ties*: `T|sync(unseen)|-|m=relaxed`, first one of every thread that has done anything
 * since its last, then one of the reader, right before the read. Operations on one object keep their order in all
 * orders of contract section 3, so what comes after the reader's tie needs what comes before the others'. As they are
 * relaxed they are no synchronisation: races of the recorded run are what they are. A thread that reads the same value
 * later has a tie of its own.
 *
 * What is not taken for such a write, though it may be one: the first read of static memory, whose initial value is
 * what was there; a value other than the known one in memory whose surroundings (a line of LINE bytes) only that
 * thread has accessed or allocated: it called a library, most likely, which filled it. That one thread's library
 * code has written what only another thread's instrumented code accesses, and nothing near it, goes unnoticed; of
 * static memory, and of granules that the program has named, the reader has a tie of its own, so that properties which
 * name it are in doubt (engine/foreign.c). A write that is overwritten before anybody reads it changes no value that is
 * in the trace.
 *
 * Guarantee: with that exception, each read that is in a possible run of the events, in any order, has had before it
 * all that could have given it its value in the recorded run. Cost: a look at each granule of each access, 24 bytes
 * for each granule that the program has accessed.
 *
 * The same table has the values that events give and take (core/recording.h, bit 7).
 */
#include <stdlib.h>
#include <string.h>

#include "trace/recording_impl.h"

enum {
    GRANULE = 8,
    LINE = 16, /* granules */
    SMALL = 4096,
    SHARED = UINT16_MAX,
};

/* What is known of a granule. */
struct image {
    uint64_t value;
    uint64_t given; /* the value of the whole that was given last; 0: none */
    uint32_t tie;   /* the number of the tie that whoever reads the value needs; 0: none */
    uint8_t known;  /* bytes whose value is that, a bit each */
    uint8_t fresh;  /* bytes that were allocated and not written since */
};

struct image_page {
    uint16_t owners[PT_PAGE_GRANULES / LINE]; /* who has been in a line, number of the log plus 1; 0: nobody */
    struct image images[PT_PAGE_GRANULES];
};

/* Some bytes of a granule. */
struct part {
    struct image *image;
    uint16_t *owner;     /* of its line */
    uint64_t bits, mask; /* what is there after the event, and which bits of it */
    uint8_t bytes;
    bool given;     /* `bits` are known */
    bool is_static; /* it has a name, perhaps */
};

void rec_unseen_begin(struct rec_unseen *u)
{
    pt_pages_begin(&u->images, sizeof(struct image_page));
    pt_map64_init(&u->named);
}

void rec_unseen_release(struct rec_unseen *u)
{
    pt_pages_release(&u->images);
    pt_map64_release(&u->named);
    free(u->tied);
}

static uint32_t *tied_at(struct rec_unseen *u, uint32_t log)
{
    PT_ROOM(u->tied, u->tied_cap, log);
    return &u->tied[log];
}

/* The part of the access in the granule at `at`. */
static struct part part_of(struct rec_unseen *u, const struct rec_event *event, uint64_t at)
{
    struct image_page *page = pt_pages_at(&u->images, at >> PT_PAGE_BITS, true);
    uint64_t index = at / GRANULE % PT_PAGE_GRANULES, end = event->address + event->size;
    uint64_t from = event->address > at ? event->address - at : 0, to = end < at + GRANULE ? end - at : GRANULE;
    struct part part = {.image = &page->images[index], .owner = &page->owners[index / LINE]};
    part.bytes = (uint8_t)((1u << to) - (1u << from));
    part.mask = (to == GRANULE ? 0 : UINT64_C(1) << 8 * to) - (UINT64_C(1) << 8 * from);
    part.is_static = (u->statics && rec_private_is_static(u->statics, at)) ||
                     (u->named.count && pt_map64_get(&u->named, at) != PT_NONE);
    part.given = event->raw || event->size <= sizeof event->value;
    const uint8_t *value = event->raw ? event->raw : (const uint8_t *)&event->value;
    if (part.given)
        memcpy((uint8_t *)&part.bits + from, value + (at + from - event->address), to - from);
    return part;
}

static uint64_t spread(uint8_t bytes)
{
    uint64_t mask = 0;
    for (unsigned i = 0; i < GRANULE; i++)
        mask |= bytes >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
    return mask;
}

/* Whether no recorded event explains what was read. */
static bool is_unexplained(const struct part *part)
{
    const struct image *image = part->image;
    uint64_t differs = (part->bits ^ image->value) & part->mask;
    if (!part->given || (!differs && (image->known & part->bytes) == part->bytes))
        return false;
    uint8_t fresh = image->fresh & part->bytes & (uint8_t)~image->known;
    return (differs & spread(image->known)) || (part->bits & spread(fresh));
}

static void set_value(const struct part *part)
{
    struct image *image = part->image;
    image->fresh &= (uint8_t)~part->bytes;
    if (!part->given) {
        image->known &= (uint8_t)~part->bytes;
        return;
    }
    image->value = (image->value & ~part->mask) | part->bits;
    image->known |= part->bytes;
}

static void visit(uint16_t *owner, uint32_t log)
{
    uint16_t self = log + 1 < SHARED ? (uint16_t)(log + 1) : SHARED;
    *owner = !*owner || *owner == self ? self : SHARED;
}

static enum rec_tie on_part(struct rec_unseen *u, const struct part *part, enum pt_op op, uint32_t log)
{
    struct image *image = part->image;
    bool others = *part->owner && *part->owner != log + 1;
    enum rec_tie tie = REC_TIE_NONE;
    visit(part->owner, log);
    bool unexplained = op == PT_OP_READ && is_unexplained(part);
    if (unexplained && others) {
        image->tie = u->count + 1;
        tie = REC_TIE_ALL;
    } else if (unexplained && part->is_static) {
        tie = REC_TIE_SELF;
    } else if (op != PT_OP_WRITE && image->tie > *tied_at(u, log)) {
        tie = REC_TIE_SELF;
    }
    set_value(part);
    if (op != PT_OP_READ && part->bytes == UINT8_MAX)
        image->tie = 0;
    return tie;
}

/* Most accesses lie in one granule, near which nobody else has been or everybody, and a read has the value that is
 * known: nothing changes but that value. */
static bool is_usual(struct rec_unseen *u, const struct rec_event *event, enum pt_op op, uint32_t log)
{
    unsigned from = event->address % GRANULE;
    if (event->raw || event->size > GRANULE - from)
        return false;
    struct image_page *page = pt_pages_at(&u->images, event->address >> PT_PAGE_BITS, true);
    uint64_t index = event->address / GRANULE % PT_PAGE_GRANULES;
    struct image *image = &page->images[index];
    uint16_t owner = page->owners[index / LINE];
    uint64_t mask = UINT64_MAX >> (64 - 8 * event->size) << 8 * from, bits = event->value << 8 * from & mask;
    unsigned bytes = (0xffu >> (GRANULE - event->size)) << from;
    if ((owner != SHARED && owner != log + 1) || image->tie || (image->known & bytes) != bytes)
        return false;
    if (op != PT_OP_READ)
        image->value = (image->value & ~mask) | bits;
    return op != PT_OP_READ || (image->value & mask) == bits;
}

static enum rec_tie on_access(struct rec_unseen *u, const struct rec_event *event, enum pt_op op, uint32_t log)
{
    if (is_usual(u, event, op, log))
        return REC_TIE_NONE;
    enum rec_tie tie = REC_TIE_NONE;
    uint64_t end = event->address + event->size;
    for (uint64_t at = event->address & ~UINT64_C(7); at < end; at += GRANULE) {
        struct part part = part_of(u, event, at);
        enum rec_tie one = on_part(u, &part, op, log);
        tie = one > tie ? one : tie;
    }
    if (tie == REC_TIE_ALL)
        u->count++;
    if (tie)
        *tied_at(u, log) = u->count;
    return tie;
}

/* What lies in a page of [from, to). */
static void renew_page(struct image_page *page, uint64_t number, uint64_t from, uint64_t to, bool fresh, uint32_t log)
{
    uint64_t first = number << PT_PAGE_BITS, end = first + (1 << PT_PAGE_BITS);
    first = first < from ? from & ~UINT64_C(7) : first;
    end = end > to ? to : end;
    for (uint64_t at = first; at < end; at += GRANULE) {
        uint64_t index = at / GRANULE % PT_PAGE_GRANULES;
        struct image *image = &page->images[index];
        if (index % LINE == 0 && at >= from)
            page->owners[index / LINE] = 0;
        *image = (struct image){.given = image->given, .fresh = fresh ? UINT8_MAX : 0};
        if (fresh)
            visit(&page->owners[index / LINE], log);
    }
}

/* Memory is other variables from here on. Of large pieces only what was accessed before is looked at. */
static void renew(struct rec_unseen *u, uint64_t from, uint64_t size, bool fresh, uint32_t log)
{
    uint64_t first = from >> PT_PAGE_BITS, last = (from + size - 1) >> PT_PAGE_BITS;
    for (uint32_t i = 0; last - first >= u->images.count && size > SMALL && i < u->images.count; i++) {
        const struct pt_page *page = &u->images.pages[i];
        if (page->page >= first && page->page <= last)
            renew_page(page->granules, page->page, from, from + size, fresh, log);
    }
    if (last - first >= u->images.count && size > SMALL)
        return;
    for (uint64_t page = first; page <= last; page++) {
        struct image_page *images = pt_pages_at(&u->images, page, fresh && size <= SMALL);
        if (images)
            renew_page(images, page, from, from + size, fresh, log);
    }
}

/* The value of a granule that an event gives, or takes. */
static void remember(struct rec_unseen *u, struct rec_event *event)
{
    struct image_page *page = pt_pages_at(&u->images, event->address >> PT_PAGE_BITS, event->memory == REC_GIVES);
    struct image *image = page ? &page->images[event->address / GRANULE % PT_PAGE_GRANULES] : NULL;
    if (event->memory == REC_GIVES)
        image->given = event->value;
    else if (image && image->given)
        event->value = image->given;
    else
        u->damaged = true; /* no recorder has written that */
}

void rec_unseen_expect(const struct rec_unseen *u, uint64_t address)
{
    const struct image_page *page = pt_pages_peek(&u->images, address >> PT_PAGE_BITS);
    if (page)
        pt_prefetch(&page->images[address / GRANULE % PT_PAGE_GRANULES]);
}

enum rec_tie rec_unseen_event(struct rec_unseen *u, struct rec_event *event, uint32_t log)
{
    if (event->memory)
        remember(u, event);
    enum pt_object_by by = pt_kind_by(event->kind);
    bool stores = event->kind == PT_KIND_UPDATE_AT && event->marks & PT_MARK_STORE;
    uint64_t end = event->address + event->size;
    if (by == PT_BY_MEMORY && end > event->address)
        return on_access(u, event, stores ? PT_OP_WRITE : pt_kind_op(event->kind), log);
    for (uint64_t at = event->address & ~UINT64_C(7);
         event->kind == PT_KIND_NAMED && event->size <= PT_REC_NAMED_MOST && at < end; at += GRANULE)
        *pt_map64_at(&u->named, at) = 1;
    if (by == PT_BY_EXTENT && event->address + event->value > event->address)
        renew(u, event->address, event->value, event->kind == PT_KIND_ALLOC, log);
    return REC_TIE_NONE;
}
