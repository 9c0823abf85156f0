/* What the files of the unfolder share; nobody else includes this. */
#ifndef PT_NET_UNFOLD_IMPL_H
#define PT_NET_UNFOLD_IMPL_H

#include "net/unfold.h"

/* A possible extension: a transition and a co-set of conditions that enables it. */
struct candidate {
    uint32_t transition;
    uint32_t pre;        /* its conditions, then marks, in the words of its bucket */
    uint32_t mark_count; /* of the latter */
    uint32_t size, depth;
    uint32_t tag;
    uint8_t colour;
    bool goal;
    uint64_t marking, delta;
};

/* Candidates whose histories have one size. Extending an event makes larger ones only, so a bucket is complete when the
 * first of it is taken. */
struct bucket {
    struct candidate *items;
    uint32_t count;
    size_t cap;
    uint32_t *words;
    uint32_t word_count;
    size_t word_cap;
};

/* 32 conditions from 32 * index on, one bit each. */
struct block {
    uint32_t index, bits;
};

/* Conditions, as blocks with ascending numbers, none of them empty. */
struct row {
    struct block *blocks;
    uint32_t count, cap;
    uint32_t last; /* the last block's number: others are added without a look at the blocks themselves */
};

/* Numbers, one after the other. */
struct list {
    uint32_t *items;
    uint32_t count;
    size_t cap;
};

/* What is kept of an event that is extended. */
struct extended {
    struct block *older; /* conditions older than its own that are concurrent with it (unfold_co.c) */
    uint32_t older_count;
    uint32_t cut, token_count; /* into un->cuts: the conditions that its history leaves, in no order, */
    uint32_t mark_count;       /* and the marks of reads of these */
};

/* Of two histories: whose an event is. */
enum { FIRST = 1, SECOND = 2, BOTH = 3 };

struct unfolder {
    const struct pt_unfold_options *options;
    const struct pt_net *net;
    struct pt_unfolding *u;
    bool reads;                           /* some transition reads */
    uint32_t *consumer_start, *consumers; /* by place: the transitions that consume from it or read it */
    struct bucket *buckets;               /* by size */
    uint32_t bucket_count;
    size_t bucket_cap;
    struct pt_map64 markings;     /* hash to event */
    struct pt_strtab occurrences; /* where something is read: transition and conditions, regardless of histories */
    uint32_t *occurrence;         /* by event */
    size_t occurrence_cap;
    struct extended *extended; /* by event */
    size_t extended_cap;
    struct list cuts;
    struct row *newer; /* by condition: newer ones that are concurrent with it */
    size_t newer_cap;
    struct list window;    /* events whose conditions are not in `newer` yet, */
    uint32_t window_start; /* which are those from here on */
    struct list *readers;  /* by condition: marks of its reads; where something is read */
    struct list *watchers; /* by condition: pairs of an event and a mark of its cut that is a read of the condition */
    size_t readers_cap, watchers_cap;
    struct row row;                /* scratch: of the event being added */
    uint32_t *newest, *place_size; /* by place: its last condition, PT_NONE, and how many it has */
    uint32_t *older;               /* by condition: the one before it at its place */
    size_t older_cap;
    uint32_t *place_head;           /* by place: its first condition in the row, while place_stamp >= row_now */
    uint32_t *place_next;           /* by condition: the next one */
    uint32_t *place_stamp, row_now; /* grows by 2 with each row; one more: by index_row */
    bool row_indexed;               /* all places have been looked at */
    size_t place_next_cap;
    /* Of sweeps, close together: by event where its causes begin, which is where those before it end; and FIRST,
     * SECOND, 0 outside of one. */
    uint32_t *cause_start;
    uint8_t *whose;
    uint64_t *pending;
    size_t cause_start_cap, whose_cap, pending_cap;
    struct list touched, only_first, only_second; /* of the last sweep */
    uint32_t *condition_stamp, now;
    size_t condition_stamp_cap;
    uint32_t *label_stamp; /* by place */
    int32_t *balance;      /* by transition, 0 */
    uint32_t *slots;       /* scratch of the search for co-sets: chosen conditions */
    struct list known, options_list, chosen, extra;
    bool *done; /* by block: its violation was found */
    uint32_t open_blocks;
    uint64_t bytes;
};

static inline void pt_list_add(struct list *list, uint32_t item)
{
    PT_PUSH(list->items, list->count, list->cap, item);
}

/* unfold.c */
void pt_unfold_put(struct unfolder *un, const struct candidate *candidate, const uint32_t *conditions);
/* A new stamp for conditions, which no condition has. */
uint32_t pt_unfold_stamp(struct unfolder *un);

/* unfold_extend.c: finds the extensions that use a condition or a mark of `event`. */
void pt_unfold_extend(struct unfolder *un, uint32_t event);
/* What a token with this label adds to the hash of a marking. */
uint64_t pt_unfold_label_hash(const struct unfolder *un, uint32_t place, uint8_t colour, uint32_t tag);

/* unfold_read.c: stamps, with the returned stamp, all marks of reads of the consumed ones among `conditions` that the
 * histories of the conditions and the marks behind them have; lists them in un->known. */
uint32_t pt_unfold_know_reads(struct unfolder *un, uint32_t consumed, const uint32_t *conditions, uint32_t count);
/* Makes a candidate for each history that an event on these conditions can have. `mark`: a read that has to be in it,
 * PT_NONE: any. */
void pt_unfold_histories(struct unfolder *un, uint32_t transition, const uint32_t *conditions, uint32_t mark);
void pt_unfold_add_candidate(struct unfolder *un, uint32_t transition, const uint32_t *conditions,
                             const struct list *marks);

/* unfold_co.c */
bool pt_unfold_is_co(const struct unfolder *un, uint32_t a, uint32_t b);
/* Fills un->row with the conditions that are concurrent with an event on these conditions and marks. */
void pt_unfold_make_row(struct unfolder *un, uint32_t transition, const uint32_t *conditions, uint32_t count);
/* The first condition at the place in un->row, PT_NONE: there is none; others follow by un->place_next. */
uint32_t pt_unfold_first(struct unfolder *un, uint32_t place);
/* Keeps un->row for an event whose conditions have been added. */
void pt_unfold_keep_row(struct unfolder *un, uint32_t event);

/* unfold_mark.c: the cut of an event that has not been added yet, in un->cuts from the returned place on, without what
 * it makes itself. */
struct extended pt_unfold_make_cut(struct unfolder *un, uint32_t transition, const uint32_t *pre, uint32_t count);
/* Whether a candidate with this cut is a cut-off; otherwise it is remembered, as `event`. */
bool pt_unfold_is_cutoff(struct unfolder *un, const struct candidate *c, const uint32_t *pre,
                         const struct extended *cut, uint32_t event);

/* unfold_order.c: sorts a bucket by the total adequate order, as far as it matters. */
void pt_unfold_sort(struct unfolder *un, struct bucket *bucket);
/* Goes down from the makers of some conditions (FIRST) and of others (SECOND), newest events first, until nothing is
 * left that one side alone has, or, with `second`, that SECOND alone has. Lists what each has alone. */
void pt_unfold_sweep(struct unfolder *un, const uint32_t *first, uint32_t first_count, const uint32_t *second,
                     uint32_t second_count, bool only_second);

#endif
