/*
 * What threads know: the knowledge vectors of the DAME paper (section 2.3; core/mttl.h has the rules), carried by
 * clocks. A clock snapshot (clock.h) has, beside its counts, a pointer to an immutable vector, so threads, shadow
 * words, forks and joins carry knowledge exactly where they carry clocks, and an access between threads that have
 * nothing new to say finds the numbers it expects and compares two integers.
 *
 * A vector has one place for each variable that decentralised properties name, then one for each thread that they ask
 * about; a place is NULL (nothing known) or a fact. Facts are immutable too, and counted by reference: of two facts
 * about the same thing the later one has the larger version, so joining is a maximum per place.
 *
 * What a thread says of itself changes far more often than what it hears of others. So knowledge is a vector and, over
 * it, one fact that stands for itself (struct pt_knows): a thread that has something new to say makes a fact and shares
 * the vector. A vector is made when a variable is written or when something is heard; its cost is the number of its
 * places, which does not depend on the number of threads unless a property quantifies over them.
 */
#ifndef PT_RUNTIME_CLOCK_KNOWLEDGE_H
#define PT_RUNTIME_CLOCK_KNOWLEDGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/mttl.h"
#include "core/site.h"

struct pt_clock_self;

/* An event of the program, as much as a report says of it. */
struct pt_local_event {
    uint16_t kind;   /* enum pt_event_kind */
    uint32_t object; /* watched variable; PT_NO_OBJECT: something else; of a fork or join the ordinal (thread.h) */
    uint32_t size;   /* of an access, in bytes; 0: it is no longer known */
    uint64_t address;
    const char *name;           /* of what it is about, where that is not told by the above; lives for ever */
    const struct pt_site *site; /* NULL: unknown */
    struct pt_value value;      /* no string */
};
#define PT_NO_OBJECT UINT32_MAX
#define PT_NO_PLACE  UINT32_MAX

/* What a fact keeps of one: facts are made at every turn, and their memory is most of what they cost. */
struct pt_origin {
    uint16_t kind;
    uint16_t value_kind;
    uint32_t object;
    union {
        uint64_t address;
        const char *name; /* of events that the program names: pt_origin_is_named() */
    };
    const struct pt_site *site;
    uint64_t value;
};

static inline bool pt_origin_is_named(uint16_t kind)
{
    const unsigned named = 1u << PT_KIND_INTERNAL | 1u << PT_KIND_BEGIN | 1u << PT_KIND_END | 1u << PT_KIND_USER |
                           1u << PT_KIND_FORK | 1u << PT_KIND_JOIN;
    _Static_assert(PT_KIND_COUNT <= 32, "a bit for each");
    return named >> kind & 1;
}

/* With an entry of two cells, and what the pool puts in front, it fills two cache lines. */
struct pt_fact {
    _Atomic int32_t references; /* clocks and vectors: fewer than there are numbers of clocks, and one each */
    uint32_t place;             /* in vectors */
    uint64_t version;           /* of a variable: its writes so far; of a thread: 1 + the version of its entry */
    union {
        struct pt_value value; /* of a variable */
        struct pt_origin from; /* of a thread: the event that made the entry */
    };
    struct pt_mttl_entry entry; /* of a thread */
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

/* What a clock carries: at the fact's place the fact, which is no older than the vector's; elsewhere the vector. */
struct pt_knows {
    struct pt_know *vector; /* NULL: it knows nothing */
    struct pt_fact *fact;   /* NULL: none */
};

/* Room for an entry of so many bytes, and for `text` more behind it; one reference, version 0, and neither value nor
 * origin. NULL: no memory. */
struct pt_fact *pt_fact_new(struct pt_clock_self *self, uint32_t place, size_t entry_bytes, size_t text);
void pt_fact_release(struct pt_clock_self *self, struct pt_fact *fact);

static inline struct pt_fact *pt_know_at(struct pt_knows knows, uint32_t place)
{
    if (knows.fact && knows.fact->place == place)
        return knows.fact;
    return knows.vector && place < knows.vector->count ? knows.vector->places[place].fact : NULL;
}
bool pt_know_leq(struct pt_knows a, struct pt_knows b);

/* These give references to the caller. Without memory the result has less than it should; recording has then stopped.
 */
struct pt_knows pt_know_share(struct pt_clock_self *self, struct pt_knows a);
struct pt_knows pt_know_join(struct pt_clock_self *self, struct pt_knows a, struct pt_knows b);
/* `a` and a fact that is no older than what it has at that place; the caller's reference to it is taken over. What a
 * thread says of itself stands beside the vector, ... */
struct pt_knows pt_know_say(struct pt_clock_self *self, struct pt_knows a, struct pt_fact *fact);
/* (the same in the place of what a clock knew that nobody has any more: if its fact is about this place, with an entry
 * of this cap, and nobody else has it, its memory is the new fact's, to be filled; NULL: it is not so) ... */
struct pt_fact *pt_know_say_again(struct pt_clock_self *self, struct pt_knows a, uint32_t place, uint32_t cap,
                                  struct pt_knows *old);
/* ... any other fact in it. It is not at the place of the fact beside it. */
struct pt_knows pt_know_learn(struct pt_clock_self *self, struct pt_knows a, struct pt_fact *fact);
void pt_know_release(struct pt_clock_self *self, struct pt_knows knows);

/* References to the vector of the thread's clock, bought in advance. */
struct pt_sharing {
    struct pt_know *vector;
    int64_t credit;
};
/* The thread's clock has this vector now; NULL also when it ends. */
void pt_know_settle(struct pt_clock_self *self, struct pt_know *vector);

#endif
