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

static struct pt_fact *acquire(struct pt_fact *fact)
{
    if (fact)
        atomic_fetch_add_explicit(&fact->references, 1, memory_order_relaxed);
    return fact;
}

void pt_know_release(struct pt_thread *self, struct pt_know *know)
{
    if (!know || atomic_fetch_sub_explicit(&know->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < know->count; i++)
        pt_fact_release(self, know->facts[i]);
    pt_pool_give(self, know);
}

/* a knows no more of it than b. Facts about the same thing with the same version are the same fact. */
static bool no_later(const struct pt_fact *a, const struct pt_fact *b)
{
    return a == b || !a || (b && a->version <= b->version);
}

bool pt_know_leq(const struct pt_know *a, const struct pt_know *b)
{
    if (a == b || !a)
        return true;
    for (uint32_t i = 0; i < a->count; i++)
        if (!no_later(a->facts[i], pt_know_at(b, i)))
            return false;
    return true;
}

static struct pt_know *make(struct pt_thread *self, uint32_t count)
{
    struct pt_know *know = pt_pool_take(self, sizeof *know + count * sizeof *know->facts);
    if (!know)
        return NULL;
    atomic_store_explicit(&know->references, 1, memory_order_relaxed);
    know->count = count;
    return know;
}

struct pt_know *pt_know_join(struct pt_thread *self, struct pt_know *a, struct pt_know *b)
{
    if (pt_know_leq(a, b))
        return pt_know_acquire(b);
    if (pt_know_leq(b, a))
        return pt_know_acquire(a);
    struct pt_know *know = make(self, a->count > b->count ? a->count : b->count);
    for (uint32_t i = 0; know && i < know->count; i++) {
        struct pt_fact *x = pt_know_at(a, i), *y = pt_know_at(b, i);
        know->facts[i] = acquire(no_later(x, y) ? y : x);
    }
    return know;
}

struct pt_know *pt_know_with(struct pt_thread *self, const struct pt_know *a, uint32_t place, struct pt_fact *fact)
{
    uint32_t count = a && a->count > place ? a->count : place + 1;
    struct pt_know *know = make(self, count);
    for (uint32_t i = 0; know && i < count; i++)
        know->facts[i] = acquire(i == place ? fact : pt_know_at(a, i));
    return know;
}
