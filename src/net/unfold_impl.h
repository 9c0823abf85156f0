/* What the files of the unfolder share; nobody else includes this. */
#ifndef PT_NET_UNFOLD_IMPL_H
#define PT_NET_UNFOLD_IMPL_H

#include "net/unfold.h"

/* A possible extension: a transition and a co-set of conditions that enables it. */
struct candidate {
    uint32_t transition;
    uint32_t pre; /* its conditions, in the words of its bucket */
    uint32_t key; /* its local configuration's transitions, sorted: likewise, once the bucket is sorted */
    uint32_t size, depth;
    uint32_t tag;
    uint8_t colour;
    bool goal;
    uint64_t marking, delta;
};

/* Candidates whose local configurations have one size. Extending an event makes larger ones only, so a bucket is
 * complete when the first of it is taken. */
struct bucket {
    struct candidate *items;
    uint32_t count;
    size_t cap;
    uint32_t *words;
    uint32_t word_count;
    size_t word_cap;
};

struct unfolder {
    const struct pt_unfold_options *options;
    const struct pt_net *net;
    struct pt_unfolding *u;
    uint32_t *consumer_start, *consumers; /* by place: the transitions that consume from it */
    uint32_t *newest;                     /* by place: its last condition, PT_NONE */
    uint32_t *older;                      /* by condition: the one before it at its place */
    size_t older_cap;
    struct bucket *buckets; /* by size */
    uint32_t bucket_count;
    size_t bucket_cap;
    struct pt_map64 markings; /* hash to event */
    uint32_t *event_stamp;    /* == now: visited */
    size_t event_stamp_cap;
    uint32_t *condition_stamp;
    size_t condition_stamp_cap;
    uint32_t now;
    uint32_t *stack, *history; /* scratch of pt_unfold_visit, as long as events */
    size_t stack_cap, history_cap;
    uint32_t *slots; /* scratch of the search for co-sets: chosen conditions */
    bool *done;      /* by block: its violation was found */
    uint32_t open_blocks;
    uint64_t bytes;
};

/* unfold.c: the events below a set of conditions, in no particular order, in ->history; returns their number. */
uint32_t pt_unfold_visit(struct unfolder *un, const uint32_t *conditions, uint32_t count);
void pt_unfold_put(struct unfolder *un, const struct candidate *candidate, const uint32_t *conditions);
/* unfold_extend.c: finds the extensions that use a condition of `event`. */
void pt_unfold_extend(struct unfolder *un, uint32_t event);
/* What a token with this label adds to the hash of a marking. */
uint64_t pt_unfold_label_hash(const struct unfolder *un, uint32_t place, uint8_t colour, uint32_t tag);
/* unfold_co.c */
bool pt_unfold_is_co(const struct unfolder *un, uint32_t newer, uint32_t older);
/* The conditions that are concurrent with all of `conditions`, as bits; `ret_words` long. */
uint64_t *pt_unfold_co(struct unfolder *un, const uint32_t *conditions, uint32_t count, size_t *ret_words);
/* unfold_order.c: sorts a bucket by the total adequate order. */
void pt_unfold_sort(struct unfolder *un, struct bucket *bucket);

#endif
