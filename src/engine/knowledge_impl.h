/* What the parts of the knowledge engine share; nothing else includes this. */
#ifndef PT_ENGINE_KNOWLEDGE_IMPL_H
#define PT_ENGINE_KNOWLEDGE_IMPL_H

#include "core/mttl.h"
#include "engine/knowledge.h"

/* An entry that other threads may see, and the event behind it (for reports). Immutable and shared. */
struct know_shown {
    size_t *bytes;
    size_t size;
    uint32_t refs;
    struct pt_event event; /* its clock is not kept; thread == PT_NONE in state 0 */
    _Alignas(8) struct pt_mttl_entry entry;
};

/* A variable's newest known write; `writes` 0: none. */
struct know_pair {
    uint64_t writes;
    struct pt_value value;
};

/* What somebody knows: the paper's knowledge vector. Immutable and shared; NULL is the empty one. */
struct know_vector {
    size_t *bytes;
    uint32_t refs;
    uint32_t slots, vars;
    struct know_shown **shown; /* by slot, NULL: unknown; points behind the pairs */
    struct know_pair pairs[];
};

/* --- knowledge_vector.c --- */
struct know_shown *pt_shown_new(const struct pt_mttl_entry *entry, size_t entry_size, size_t *bytes);
void pt_shown_unref(struct know_shown *shown); /* NULL is fine, as below */
struct know_vector *pt_vector_ref(struct know_vector *v);
void pt_vector_unref(struct know_vector *v);
/* *place <- max(*place, other). */
void pt_vector_absorb(struct know_vector **place, struct know_vector *other);
/* *place <- other */
void pt_vector_set(struct know_vector **place, struct know_vector *other);
/* *place <- a copy that has this entry, or this pair. */
void pt_vector_show(struct know_vector **place, struct know_shown *shown, uint32_t vars, size_t *bytes);
void pt_vector_write(struct know_vector **place, uint32_t var, struct know_pair pair, uint32_t vars, size_t *bytes);
static inline struct know_shown *pt_vector_get(const struct know_vector *v, uint32_t slot)
{
    return v && slot < v->slots ? v->shown[slot] : NULL;
}

struct know_local {
    bool set;
    struct pt_value value;
};

/* The lines of a thread's latest access so far: a recording has one for each variable of an access of several. */
struct know_group {
    bool open;      /* the next line may go on with it */
    uint64_t lines; /* behind its first one */
    uint32_t op, loc;
};

/* A thread, by slot. */
struct know_thread {
    uint32_t id;                       /* in the trace; PT_NONE: named by a property and not seen */
    bool met;                          /* its state 0 has been evaluated */
    bool keeps, tracked;               /* pt_mttl_steps, pt_mttl_tracks */
    uint64_t states;                   /* events so far */
    struct know_vector *know, *before; /* before: what its parent knew, until its first event */
    struct pt_mttl_thread *memory;
    struct know_local *locals; /* by variable */
    struct pt_mttl_verdict *verdicts;
    struct know_vector *stepped;  /* what it knew at its last step; compared, not followed */
    bool stable, touched;         /* the last step was stable; an input other than knowledge has changed since */
    struct know_vector **history; /* c= traces: what it knew after each counted event */
    uint64_t history_count;
    size_t history_cap;
    struct know_group group;
};

struct know_object {
    struct know_vector *access, *write;
};

/* States of one thread in which one property is false. */
struct know_states {
    uint32_t slot;
    uint64_t *items;
    uint32_t count;
    size_t cap;
};

struct know_judged { /* one property of the block */
    struct pt_finding *finding;
    struct pt_mttl *own; /* a block of this property alone, for the names it has */
    bool settled;        /* an error, or given up: no longer looked at */
    struct {             /* the latest access that showed a violation: its thread and the first state it made */
        uint32_t slot;
        uint64_t state;
    } latest;
    struct know_states *threads;
    uint32_t thread_count;
    size_t thread_cap;
    struct pt_map64 index_of; /* by slot: into threads, until they are listed */
};

struct pt_knowledge {
    const struct pt_names *names;
    const struct pt_analysis_options *options;
    struct pt_mttl *block;
    struct know_judged *judged;
    struct pt_value *initial;                                  /* by variable of the block */
    bool *initial_given, *var_seen, *event_seen, *thread_seen; /* of the block's names */
    uint64_t *writes;
    struct pt_mttl_initial *state0;
    void *scratch;
    bool begun, given, given_up; /* given: some line carried c= */
    struct know_thread *threads; /* by slot */
    uint32_t slot_count;
    size_t thread_cap;
    uint32_t *slot_of, *var_of, *local_of, *event_of, *block_of; /* by id in the trace; UNKNOWN_ID: not looked up yet */
    size_t slot_of_cap, var_of_cap, local_of_cap, event_of_cap, block_of_cap;
    struct know_object *objects[PT_SPACE_COUNT];
    size_t object_cap[PT_SPACE_COUNT];
    struct pt_map64 violations; /* those reported (core/finding_key.h), by number and property */
    struct pt_mttl_entry *next;
    size_t next_size;
    struct pt_value *values; /* of the stepping thread */
    const struct pt_mttl_entry **known;
    size_t known_cap;
    const struct pt_event *event; /* the present one; NULL in state 0 */
    size_t bytes, peak;
    uint64_t started;   /* options->now() */
    uint64_t announced; /* bytes in what all properties use ... */
    uint64_t allowed;   /* ... and what the others leave of the limit */
};

/* --- knowledge_report.c --- */
void pt_knowledge_violated(struct pt_knowledge *k, uint32_t property, const struct pt_mttl_view *view,
                           struct know_thread *thread);
void pt_knowledge_failed(struct pt_knowledge *k, uint32_t property, const struct know_thread *thread);
void pt_knowledge_settle(struct pt_knowledge *k, const char *lost);

#endif
