/*
 * Vectors and facts. Allocation is the thread's own pool; the only shared writes are the counts of references, and
 * those of the vector that a thread has now are bought in bulk (`sharing`), so that saying something new touches no
 * memory of other threads.
 */
#include "runtime/clock/knowledge.h"

#include <string.h>

#include "runtime/clock/self.h"
#include "runtime/pool/pool.h"

/* --- facts --- */

struct pt_fact *pt_fact_new(struct pt_clock_self *self, uint32_t place, size_t entry_bytes, size_t text)
{
    struct pt_fact *fact = pt_pool_take(&self->pool, offsetof(struct pt_fact, entry) + entry_bytes + text);
    if (!fact)
        return NULL;
    atomic_store_explicit(&fact->references, 1, memory_order_relaxed);
    fact->version = 0;
    fact->place = place;
    return fact;
}

static struct pt_fact *fact_acquire(struct pt_fact *fact)
{
    if (fact)
        atomic_fetch_add_explicit(&fact->references, 1, memory_order_relaxed);
    return fact;
}

/* acquire and acq_rel: whoever lets go last has seen all reads by those who let go before. Whoever has the only
 * reference is alone with it and need not count down. */
static bool is_last(_Atomic int64_t *references, int64_t mine)
{
    return atomic_load_explicit(references, memory_order_acquire) == mine ||
           atomic_fetch_sub_explicit(references, mine, memory_order_acq_rel) == mine;
}

void pt_fact_release(struct pt_clock_self *self, struct pt_fact *fact)
{
    if (fact && (atomic_load_explicit(&fact->references, memory_order_acquire) == 1 ||
                 atomic_fetch_sub_explicit(&fact->references, 1, memory_order_acq_rel) == 1))
        pt_pool_give(&self->pool, fact);
}

/* --- references to vectors --- */

static void vector_release(struct pt_clock_self *self, struct pt_know *vector, int64_t references)
{
    if (!vector)
        return;
    if (vector == self->sharing.vector) {
        self->sharing.credit += references;
        return;
    }
    if (!is_last(&vector->references, references))
        return;
    for (uint32_t i = 0; i < vector->count; i++)
        pt_fact_release(self, vector->places[i].fact);
    pt_pool_give(&self->pool, vector);
}

static struct pt_know *vector_acquire(struct pt_clock_self *self, struct pt_know *vector)
{
    if (vector && vector == self->sharing.vector && self->sharing.credit > 1)
        self->sharing.credit--; /* one stays: the number keeps its meaning */
    else if (vector)
        atomic_fetch_add_explicit(&vector->references, 1, memory_order_relaxed);
    return vector;
}

void pt_know_settle(struct pt_clock_self *self, struct pt_know *vector)
{
    enum { BULK = 1 << 20 };
    struct pt_know *before = self->sharing.vector;
    int64_t credit = self->sharing.credit;
    if (vector == before)
        return;
    if (vector)
        atomic_fetch_add_explicit(&vector->references, BULK, memory_order_relaxed);
    self->sharing.vector = vector;
    self->sharing.credit = vector ? BULK : 0;
    vector_release(self, before, credit);
}

struct pt_knows pt_know_share(struct pt_clock_self *self, struct pt_knows a)
{
    return (struct pt_knows){vector_acquire(self, a.vector), fact_acquire(a.fact)};
}

void pt_know_release(struct pt_clock_self *self, struct pt_knows knows)
{
    vector_release(self, knows.vector, 1);
    pt_fact_release(self, knows.fact);
}

/* --- comparing --- */

/* Facts about the same thing with the same version are the same fact. */
static struct pt_known_fact at(const struct pt_know *vector, uint32_t place)
{
    return vector && place < vector->count ? vector->places[place] : (struct pt_known_fact){0};
}

static bool knows_version(struct pt_knows b, uint32_t place, uint64_t version)
{
    return version <= at(b.vector, place).version || (b.fact && b.fact->place == place && version <= b.fact->version);
}

/* Each fact of the vector, whatever it says at the place `but`. */
static bool vector_leq(const struct pt_know *a, struct pt_knows b, uint32_t but)
{
    if (a == b.vector || !a)
        return true;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->places[i].version > at(b.vector, i).version && i != but && !knows_version(b, i, a->places[i].version))
            return false;
    return true;
}

bool pt_know_leq(struct pt_knows a, struct pt_knows b)
{
    return (!a.fact || a.fact == b.fact || knows_version(b, a.fact->place, a.fact->version)) &&
           vector_leq(a.vector, b, PT_NO_PLACE);
}

/* --- making --- */

static struct pt_know *make(struct pt_clock_self *self, uint32_t count)
{
    struct pt_know *vector = pt_pool_take(&self->pool, sizeof *vector + count * sizeof *vector->places);
    if (!vector)
        return NULL;
    atomic_store_explicit(&vector->references, 1, memory_order_relaxed);
    vector->count = count;
    return vector;
}

static uint32_t count_with(const struct pt_know *vector, const struct pt_fact *fact)
{
    uint32_t count = vector ? vector->count : 0;
    return fact && fact->place >= count ? fact->place + 1 : count;
}

/* The vector with one fact more, whose reference it takes over. */
static struct pt_know *vector_with(struct pt_clock_self *self, const struct pt_know *a, struct pt_fact *fact)
{
    struct pt_know *vector = make(self, count_with(a, fact));
    for (uint32_t i = 0; vector && i < vector->count; i++)
        vector->places[i] = (struct pt_known_fact){fact_acquire(at(a, i).fact), at(a, i).version};
    if (!vector) {
        pt_fact_release(self, fact);
        return NULL;
    }
    pt_fact_release(self, vector->places[fact->place].fact);
    vector->places[fact->place] = (struct pt_known_fact){fact, fact->version};
    return vector;
}

/* The later of all in a vector and in b, but nothing at the place `but`. */
static struct pt_know *vector_join(struct pt_clock_self *self, const struct pt_know *a, struct pt_knows b, uint32_t but)
{
    uint32_t mine = count_with(a, NULL), theirs = count_with(b.vector, b.fact);
    struct pt_know *vector = make(self, mine > theirs ? mine : theirs);
    for (uint32_t i = 0; vector && i < vector->count; i++) {
        struct pt_known_fact x = at(a, i), y = at(b.vector, i);
        if (b.fact && b.fact->place == i)
            y = (struct pt_known_fact){b.fact, b.fact->version};
        if (i == but)
            x = y = (struct pt_known_fact){0};
        vector->places[i] = x.version > y.version ? x : y;
        fact_acquire(vector->places[i].fact);
    }
    return vector;
}

/* What a says beside its vector stays there, unless b has later news of that: then it is b's vector's business. */
struct pt_knows pt_know_join(struct pt_clock_self *self, struct pt_knows a, struct pt_knows b)
{
    if (a.fact && pt_know_at(b, a.fact->place) && pt_know_at(b, a.fact->place)->version > a.fact->version)
        a.fact = NULL;
    uint32_t but = a.fact ? a.fact->place : PT_NO_PLACE;
    bool fact_is_known = !b.fact || b.fact->place == but || b.fact->version <= at(a.vector, b.fact->place).version;
    bool all_known = fact_is_known && vector_leq(b.vector, (struct pt_knows){.vector = a.vector}, but);
    struct pt_know *vector = all_known ? vector_acquire(self, a.vector) : vector_join(self, a.vector, b, but);
    return (struct pt_knows){vector, fact_acquire(a.fact)};
}

struct pt_knows pt_know_say(struct pt_clock_self *self, struct pt_knows a, struct pt_fact *fact)
{
    if (!a.fact || a.fact->place == fact->place)
        return (struct pt_knows){vector_acquire(self, a.vector), fact};
    return (struct pt_knows){vector_with(self, a.vector, fact_acquire(a.fact)), fact};
}

struct pt_fact *pt_know_say_again(struct pt_clock_self *self, struct pt_knows a, uint32_t place, uint32_t cap,
                                  struct pt_knows *old)
{
    struct pt_fact *fact = old->fact;
    /* acquire: as in is_last */
    if (!fact || fact->place != place || fact->entry.cap != cap || (a.fact && a.fact->place != place) ||
        atomic_load_explicit(&fact->references, memory_order_acquire) != 1)
        return NULL;
    if (old->vector != a.vector) {
        struct pt_know *before = old->vector;
        old->vector = vector_acquire(self, a.vector);
        vector_release(self, before, 1);
    }
    return fact;
}

struct pt_knows pt_know_learn(struct pt_clock_self *self, struct pt_knows a, struct pt_fact *fact)
{
    return (struct pt_knows){vector_with(self, a.vector, fact), fact_acquire(a.fact)};
}
