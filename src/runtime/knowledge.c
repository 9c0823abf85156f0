/* Vectors and facts. Allocation is the thread's own pool; the only shared writes are the counts of references. */
#include "runtime/knowledge.h"

#include <string.h>

#include "runtime/pool.h"
#include "runtime/thread.h"

struct pt_fact *pt_fact_new(struct pt_thread *self, size_t entry_bytes, size_t text)
{
    struct pt_fact *fact = pt_pool_take(self, offsetof(struct pt_fact, entry) + entry_bytes + text);
    if (!fact)
        return NULL;
    memset(fact, 0, offsetof(struct pt_fact, entry));
    atomic_store_explicit(&fact->references, 1, memory_order_relaxed);
    return fact;
}

void pt_fact_release(struct pt_thread *self, struct pt_fact *fact)
{
    /* acq_rel: as in pt_clock_release */
    if (fact && atomic_fetch_sub_explicit(&fact->references, 1, memory_order_acq_rel) == 1)
        pt_pool_give(self, fact);
}

void pt_know_release(struct pt_thread *self, struct pt_know *know)
{
    if (!know || atomic_fetch_sub_explicit(&know->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < know->count; i++)
        pt_fact_release(self, know->places[i].fact);
    pt_pool_give(self, know);
}

/* Facts about the same thing with the same version are the same fact. */
static struct pt_known_fact at(const struct pt_know *know, uint32_t place)
{
    return know && place < know->count ? know->places[place] : (struct pt_known_fact){0};
}

bool pt_know_leq(const struct pt_know *a, const struct pt_know *b)
{
    if (a == b || !a)
        return true;
    uint32_t both = !b ? 0 : a->count < b->count ? a->count : b->count;
    for (uint32_t i = 0; i < both; i++)
        if (a->places[i].version > b->places[i].version)
            return false;
    for (uint32_t i = both; i < a->count; i++)
        if (a->places[i].fact)
            return false;
    return true;
}

static struct pt_know *make(struct pt_thread *self, uint32_t count)
{
    struct pt_know *know = pt_pool_take(self, sizeof *know + count * sizeof *know->places);
    if (!know)
        return NULL;
    atomic_store_explicit(&know->references, 1, memory_order_relaxed);
    know->count = count;
    return know;
}

static void put(struct pt_know *know, uint32_t place, struct pt_known_fact known)
{
    if (known.fact)
        atomic_fetch_add_explicit(&known.fact->references, 1, memory_order_relaxed);
    know->places[place] = known;
}

struct pt_know *pt_know_join(struct pt_thread *self, struct pt_know *a, struct pt_know *b)
{
    if (pt_know_leq(a, b))
        return pt_know_acquire(b);
    if (pt_know_leq(b, a))
        return pt_know_acquire(a);
    struct pt_know *know = make(self, a->count > b->count ? a->count : b->count);
    for (uint32_t i = 0; know && i < know->count; i++) {
        struct pt_known_fact x = at(a, i), y = at(b, i);
        put(know, i, x.version > y.version ? x : y);
    }
    return know;
}

struct pt_know *pt_know_with(struct pt_thread *self, const struct pt_know *a, uint32_t place, struct pt_fact *fact)
{
    uint32_t count = a && a->count > place ? a->count : place + 1;
    struct pt_know *know = make(self, count);
    for (uint32_t i = 0; know && i < count; i++)
        put(know, i, i == place ? (struct pt_known_fact){fact, fact->version} : at(a, i));
    return know;
}
