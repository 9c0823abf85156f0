/*
 * What threads know: the knowledge vectors of the DAME paper (section 2.3; core/mttl.h has the rules), carried by
 * clocks. A clock snapshot (clock.h) has, beside its counts, a pointer to an immutable vector, so threads, shadow
 * words, forks and joins carry knowledge exactly where they carry clocks, and an access between threads that have
 * nothing new to say finds the numbers it expects and compares two integers.
 *
 * A vector has one place for each variable that decentralised properties name, then one for each thread that they ask
 * about; a place is NULL (nothing known) or a fact. Facts are immutable too, and counted by reference: of two facts
 * about the same thing the later one has the larger version, so joining is a maximum per place. A vector is made when
 * a fact is, or when two vectors of which neither has everything meet; its cost is the number of its places, which
 * does not depend on the number of threads unless a property quantifies over them.
 */
#ifndef PT_RUNTIME_KNOWLEDGE_H
#define PT_RUNTIME_KNOWLEDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/mttl.h"
#include "core/site.h"

struct pt_thread;

/* An event of the program, as much as a report says of it. */
struct pt_happening {
    uint16_t kind;   /* enum pt_event_kind */
    uint32_t object; /* watched variable; PT_NO_OBJECT: something else */
    uint64_t address;
    const char *name;           /* of what it is about, where that is not told by the above; lives for ever */
    const struct pt_site *site; /* NULL: unknown */
    struct pt_value value;      /* no string */
};
#define PT_NO_OBJECT UINT32_MAX

struct pt_fact {
    _Atomic int64_t references;
    uint64_t version; /* of a variable: its writes so far; of a thread: 1 + the version of its entry */
    struct pt_value value;
    struct pt_happening from; /* of a thread: the event that made the entry */
    struct pt_mttl_entry entry;
};

/* The version stands beside the fact too, so that comparing vectors does not touch what other threads have made. */
struct pt_known_fact {
    struct pt_fact *fact;
    uint64_t version; /* 0: there is none */
};

struct pt_know {
    _Atomic int64_t references;
    uint32_t count;
    struct pt_known_fact places[];
};

/* Room for an entry of so many bytes, and for `text` more behind it; one reference, version 0. NULL: no memory. */
struct pt_fact *pt_fact_new(struct pt_thread *self, size_t entry_bytes, size_t text);
void pt_fact_release(struct pt_thread *self, struct pt_fact *fact);

static inline struct pt_fact *pt_know_at(const struct pt_know *know, uint32_t place)
{
    return know && place < know->count ? know->places[place].fact : NULL;
}
bool pt_know_leq(const struct pt_know *a, const struct pt_know *b);
/* Each gives a reference to the caller; NULL is the vector that knows nothing. */
struct pt_know *pt_know_join(struct pt_thread *self, struct pt_know *a, struct pt_know *b);
struct pt_know *pt_know_with(struct pt_thread *self, const struct pt_know *a, uint32_t place, struct pt_fact *fact);
static inline struct pt_know *pt_know_acquire(struct pt_know *know)
{
    if (know)
        atomic_fetch_add_explicit(&know->references, 1, memory_order_relaxed);
    return know;
}
void pt_know_release(struct pt_thread *self, struct pt_know *know);

#endif
