/*
 * Where annotations stand. portent.h passes file and line right before each call, so that callers need not be
 * instrumented; here they become the same kind of site that instrumented accesses have, one per place.
 *
 * The table is read without its lock: an entry's file is written last (release) and read first (acquire). It is never
 * emptied; when it is full, further places are unknown.
 */
#pragma GCC visibility push(default)
#include "portent.h"
#pragma GCC visibility pop

#include <stdatomic.h>
#include <stdint.h>

#include "core/site.h"
#include "runtime/channel/self.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/hooks.h"

enum { PLACE_BITS = 12 };

struct place {
    _Atomic(const char *) file; /* NULL: free */
    struct pt_site site;
};

static struct {
    struct pt_spin lock; /* for new entries */
    uint32_t count;
    struct place table[1 << PLACE_BITS];
} places = {.lock = PT_SPIN(PT_RANK_PLACE)};

/* The slot of a place, or the free one where it would stand; NULL when there is none. */
static struct place *find(const char *file, unsigned line)
{
    uint64_t hash = ((uint64_t)(uintptr_t)file ^ (uint64_t)line << 40) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t slot = (uint32_t)(hash >> (64 - PLACE_BITS));
    for (uint32_t i = 0; i < 1u << PLACE_BITS; i++) {
        struct place *place = &places.table[(slot + i) & ((1u << PLACE_BITS) - 1)];
        const char *known = atomic_load_explicit(&place->file, memory_order_acquire); /* partner: the store in add */
        if (!known || (known == file && place->site.line == line))
            return place;
    }
    return NULL;
}

static struct place *add(const char *file, unsigned line)
{
    pt_spin_lock(&places.lock);
    struct place *place = find(file, line); /* another thread may have been here */
    if (place && !atomic_load_explicit(&place->file, memory_order_relaxed)) {
        if (places.count < 3u << (PLACE_BITS - 2)) {
            places.count++;
            place->site = (struct pt_site){.file = file, .function = "", .variable = "", .line = line};
            atomic_store_explicit(&place->file, file, memory_order_release); /* partner: the load in find */
        } else {
            place = NULL;
        }
    }
    pt_spin_unlock(&places.lock);
    return place;
}

void __portent_at(const char *file, unsigned line)
{
    bool wanted = pt_is_active() || pt_keeps || pt_wrap_streaming();
    struct pt_thread *self = wanted && pt_channel ? pt_thread_self() : NULL;
    if (!self || self->shadow.busy || !file)
        return;
    pt_thread_enter(self);
    struct place *place = find(file, line);
    if (place && !atomic_load_explicit(&place->file, memory_order_relaxed))
        place = add(file, line);
    self->channel->place = place ? &place->site : NULL;
    pt_thread_leave(self);
}
