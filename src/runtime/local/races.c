/*
 * What race_free(*) is told of an access (core/mttl.h): bytes of memory, and what a thread has written, a set of bytes
 * by granule that only grows. Open addressing. A granule, its life and the mask of its bytes are one word, so an access
 * of up to 8 bytes costs one look-up, or two.
 *
 * Memory that was given back and comes into use again is another variable. A granule's life (shadow.h) stands above
 * the address, so that spans of different lives never overlap.
 */
#include <string.h>

#include "runtime/local/monitor_impl.h"
#include "runtime/pool/pool.h"
#include "runtime/shadow/shadow.h"

enum { MASK_BITS = 8, LIFE_BITS = 8, LARGEST_SPAN = 1 << 29 };

struct pt_wrote {
    uint32_t bits, count;
    uint64_t granules[]; /* number, life, mask; 0: free */
};

static uint64_t first_place(const struct pt_wrote *set, uint64_t granule)
{
    return (granule * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - set->bits);
}

void pt_monitor_expect(const struct pt_shadow_self *self, uintptr_t address)
{
    const struct pt_monitor *monitor = ((const struct pt_thread *)self)->local->monitor;
    const struct pt_wrote *set = monitor ? monitor->wrote : NULL;
    if (set)
        __builtin_prefetch(&set->granules[first_place(set, address >> 3)]);
}

static uint64_t *find(struct pt_wrote *set, uint64_t granule)
{
    uint64_t mask = (UINT64_C(1) << set->bits) - 1, at = first_place(set, granule);
    while (set->granules[at] && set->granules[at] >> (MASK_BITS + LIFE_BITS) != granule)
        at = (at + 1) & mask;
    return &set->granules[at];
}

static struct pt_wrote *grow(struct pt_thread *self, struct pt_wrote *old)
{
    uint32_t bits = old ? old->bits + 1 : 5;
    size_t bytes = sizeof *old + (sizeof *old->granules << bits);
    struct pt_wrote *set = pt_pool_take(pt_thread_pool(self), bytes);
    if (!set)
        return NULL;
    memset(set, 0, bytes);
    set->bits = bits;
    for (uint64_t i = 0; old && i < UINT64_C(1) << old->bits; i++)
        if (old->granules[i])
            *find(set, old->granules[i] >> (MASK_BITS + LIFE_BITS)) = old->granules[i];
    set->count = old ? old->count : 0;
    pt_pool_give(pt_thread_pool(self), old);
    return set;
}

static unsigned bytes_of(uint64_t granule, uint64_t from, uint64_t to)
{
    unsigned bytes = 0xff;
    if (from > granule << 3)
        bytes &= 0xffu << (from & 7);
    if (to < (granule + 1) << 3)
        bytes &= 0xffu >> (8 - (to & 7));
    return bytes;
}

/* A granule in one life of it, as it stands in the set with the bytes written. */
static uint64_t in_life(uint64_t granule, unsigned life)
{
    return granule << (MASK_BITS + LIFE_BITS) | (uint64_t)life << MASK_BITS;
}

/* Which of the bytes the thread has written in the granule's present life. */
static unsigned written(const struct pt_monitor *monitor, uint64_t granule, unsigned life, unsigned bytes)
{
    uint64_t word = monitor->wrote ? *find(monitor->wrote, granule) : 0;
    return word >> MASK_BITS == in_life(granule, life) >> MASK_BITS ? (unsigned)word & bytes : 0;
}

static __attribute__((noinline)) void note_first(struct pt_thread *self, uint64_t word)
{
    struct pt_monitor *monitor = self->local->monitor;
    if (!monitor->wrote || monitor->wrote->count >= UINT64_C(3) << (monitor->wrote->bits - 2)) {
        struct pt_wrote *larger = grow(self, monitor->wrote);
        if (!larger)
            return;
        monitor->wrote = larger;
    }
    *find(monitor->wrote, word >> (MASK_BITS + LIFE_BITS)) = word;
    monitor->wrote->count++;
}

static void note(struct pt_thread *self, uint64_t granule, unsigned life, unsigned bytes)
{
    uint64_t *place = self->local->monitor->wrote ? find(self->local->monitor->wrote, granule) : NULL;
    uint64_t word = in_life(granule, life) | bytes;
    if (!place || !*place)
        note_first(self, word);
    else if (*place >> MASK_BITS == word >> MASK_BITS)
        *place |= bytes;
    else
        *place = word;
}

struct list {
    struct pt_mttl_span *spans;
    uint32_t count;
};

/* The bytes of a granule, in runs; the first goes on with the last span where it can. */
static void add(struct list *list, uint64_t granule, unsigned life, unsigned bytes, uint32_t access)
{
    while (bytes) {
        unsigned first = (unsigned)__builtin_ctz(bytes), size = (unsigned)__builtin_ctz(~(bytes >> first));
        uint64_t at = (uint64_t)life << PT_MONITOR_LIFE_AT | granule << 3 | first;
        struct pt_mttl_span *last = list->count ? &list->spans[list->count - 1] : NULL;
        if (last && last->from + last->size == at)
            last->size += size;
        else if (list->count < PT_MONITOR_SPANS)
            list->spans[list->count++] = (struct pt_mttl_span){at, size, access};
        bytes &= ~(((1u << size) - 1) << first);
    }
}

/* The same within one granule, where it is in one part or none: as nearly always. */
static uint32_t span_of(struct pt_thread *self, const struct pt_local_event *what, bool write,
                        struct pt_mttl_span *ret_spans)
{
    uint64_t at = what->address, granule = at >> 3;
    unsigned life = pt_shadow_life(at), bytes = pt_bytes_at(at, what->size), own = bytes;
    if (write)
        note(self, granule, life, bytes);
    else
        own = written(self->local->monitor, granule, life, bytes);
    struct list list = {.spans = ret_spans};
    uint32_t access = write ? PT_MTTL_WROTE : PT_MTTL_READ_OWN;
    if (own != bytes) {
        add(&list, granule, life, own, access);
        return list.count;
    }
    ret_spans->from = (uint64_t)life << PT_MONITOR_LIFE_AT | at;
    ret_spans->size = what->size;
    ret_spans->access = access;
    return 1;
}

uint32_t pt_monitor_spans(struct pt_thread *self, const struct pt_local_event *what, bool write,
                          struct pt_mttl_span *ret_spans)
{
    uint64_t from = what->address, to = from + (what->size < LARGEST_SPAN ? what->size : LARGEST_SPAN);
    if (what->size <= 8 && (from & 7) + what->size <= 8 && what->size)
        return span_of(self, what, write, ret_spans);
    struct list list = {.spans = ret_spans};
    for (uint64_t granule = from >> 3; granule << 3 < to; granule++) {
        unsigned life = pt_shadow_life(granule << 3), bytes = bytes_of(granule, from, to);
        if (write) {
            note(self, granule, life, bytes);
            add(&list, granule, life, bytes, PT_MTTL_WROTE);
        } else {
            add(&list, granule, life, written(self->local->monitor, granule, life, bytes), PT_MTTL_READ_OWN);
        }
    }
    return list.count;
}

void pt_monitor_forget_written(struct pt_thread *self, struct pt_monitor *monitor)
{
    pt_pool_give(pt_thread_pool(self), monitor->wrote);
    monitor->wrote = NULL;
}
