/* What the files of the unfolder share; nobody else includes this. */
#ifndef PT_NET_UNFOLD_IMPL_H
#define PT_NET_UNFOLD_IMPL_H

#include "net/unfold.h"

/* A possible extension: a transition and a co-set of conditions that enables it. */
struct candidate {
    uint32_t transition;
    uint32_t pre;        /* its conditions, then marks, in the words of its bucket */
    uint32_t mark_count; /* of the latter */
    uint32_t beyond;     /* events behind these: what its history has beyond that of its newest cause, PT_NONE: many */
    uint32_t root;       /* while they are compared, where walks are made: the cut of its causes (unfold_vector.c) */
    uint32_t joined;     /* behind these are the chunks of that, while choice.walks is this, and no events */
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
    uint32_t cut, token_count; /* rows: into un->cuts, the conditions that its history leaves, in no order, */
    uint32_t mark_count;       /* and the marks of reads of these */
    uint32_t root;             /* walks: the same, in walk.roots (unfold_vector.c) */
};

/* In one part, where a path ends: a condition; a mark; GONE + an event that took the token away; PT_NONE: no token has
 * ever been there. It is the child of `parent`. */
enum { GONE = 0x80000000u };
struct node {
    uint32_t parent, jump; /* further up (unfold_trees.c) */
    uint32_t depth, condition;
    uint32_t token; /* the same, but of a mark what it is the read of */
    uint32_t size;  /* of the events of this path that are counted in this part: their number, */
    uint64_t delta; /* and what they add to a marking's hash */
};

enum { CHUNK = 16 };

/* A stretch of a cut: a node for each part; and the sums of these. */
struct chunk {
    uint32_t at[CHUNK];
    uint64_t delta;
    uint32_t size;
};

/* What two chunks are together: one of them, or a third, or PT_NONE, if one run cannot have both. */
struct joined {
    uint32_t a, b, both; /* a < b; b is 0 where there are none */
};

/* What a transition does in a part: the token is then its `post`th condition or mark; PT_NONE: it is gone. They are in
 * the order of these. */
struct move {
    uint32_t part, post;
    bool counts; /* its events are counted in this part */
};

/* An event that consumes or reads a condition; the use of that before it in a list, as its number + 1, 0: there is
 * none; and how many the list has from here on, or from where it was last looked at whether a part tells them apart. */
struct use {
    uint32_t event, next;
    int32_t count;
};

enum { LISTED = 0x80000000u }; /* a list of uses is one of walk.kept, and this its number */

/* Of uses that are kept by where they are in a part (unfold_uses.c): those whose paths end at a node, `top`, and as
 * children those that go on from there; the first child and the next one of its parent as its number + 1. Without a
 * node, a few uses. */
struct fork {
    uint32_t top, uses, child, next;
};
struct kept_uses {
    uint32_t part, first; /* and its first fork */
    uint32_t second;      /* another part, PT_NONE: that is looked for when so many fit in the first one: */
    uint32_t again;
};

/* What finds concurrency by walks (unfold_walk.c); `event`, `frame` and what has this stamp are of the last event for
 * which they are made. */
struct walk {
    bool on;
    uint32_t *place_part, *parts, part_count; /* by place: the parts it is in (unfold_parts.c) */
    uint32_t *move_start;                     /* by transition: into moves */
    struct move *moves;
    uint32_t move_count;
    size_t move_cap;
    struct node *nodes;
    uint32_t *node_place; /* by node: of its token, PT_NONE where there is none */
    uint32_t node_count;
    size_t node_cap, node_place_cap;
    uint32_t *one_of_each;                 /* by chunk: a bit for the first part of each component */
    uint32_t *first_node, *condition_node; /* by event, by condition: one for each of its moves, of its parts */
    size_t first_node_cap, condition_node_cap;
    uint32_t *user_start; /* by condition: into users, which has its uses in each group, and its reads */
    size_t user_start_cap;
    struct list users;
    struct use *uses;
    uint32_t use_count;
    size_t use_cap;
    uint32_t long_list, few_uses; /* uses of a list that is kept by a part, and below a fork */
    struct kept_uses *kept;
    uint32_t kept_count;
    size_t kept_cap;
    struct fork *forks;
    uint32_t fork_count;
    size_t fork_cap;
    struct pt_map64 ways;     /* from a fork by a node below it */
    struct list asked, below; /* scratch */
    struct chunk *chunks;
    uint32_t chunk_count, own_chunks; /* those from own_chunks on are of the last cut, and nobody else's */
    size_t chunk_cap;
    struct list roots;   /* of each cut root_count numbers of chunks */
    uint32_t root_count; /* */
    struct joined *joined;
    uint32_t joined_mask;
    struct list tokens, marks; /* scratch: of a cut */
    uint32_t event, frame, root;
    uint32_t *blocked;      /* by part: the event has moved there */
    uint32_t *looked;       /* by part: what is concurrent with the event has been looked for there */
    uint32_t *verdict;      /* by event: of the frame, whether its history is part of a run with that (unfold_walk.c) */
    size_t verdict_cap;     /* */
    uint32_t *visited, now; /* by event: scratch */
    size_t visited_cap;     /* */
    struct list path, found; /* scratch */
    uint64_t bytes, work;
};

/* When rows are kept and when walks are made (unfold_choose.c). */
struct choice {
    bool settled;             /* it is rows for good: the net does not allow walks */
    uint32_t walks;           /* how often they have been begun */
    uint32_t batch, extended; /* events that are extended, of which so many have been */
    uint64_t blocks;          /* of the rows of these; where walks are made, of some of these */
    double long_row;          /* blocks in the row of an event, from which on walks are tried */
};

/* Of two histories: whose an event is. */
enum { FIRST = 1, SECOND = 2, BOTH = 3 };

struct unfolder {
    const struct pt_unfold_options *options;
    const struct pt_net *net;
    struct pt_unfolding *u;
    bool reads;                           /* some transition reads */
    uint32_t *consumer_start, *consumers; /* by place: the transitions that consume from it or read it */
    uint32_t *consumer_slot;              /* by arc into a transition: which of these it is */
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
    struct walk walk;
    struct choice choice;
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
    uint64_t *pending, *pending_words; /* a bit for each event; for each word of these, since histories are sparse */
    size_t cause_start_cap, whose_cap, pending_cap, pending_words_cap;
    struct list touched, only_first, only_second; /* of the last sweep */
    uint32_t *condition_stamp, now;
    size_t condition_stamp_cap;
    uint32_t *label_stamp; /* by place */
    int32_t *balance;      /* by transition, 0 */
    uint32_t *slots;       /* scratch of the search for co-sets: chosen conditions */
    struct list known, options_list, chosen, extra, taking;
    bool *done; /* by block: its violation was found */
    uint32_t open_blocks;
    uint64_t bytes;
};

static inline void pt_list_add(struct list *list, uint32_t item)
{
    PT_PUSH(list->items, list->count, list->cap, item);
}

/* unfold.c */
/* `words`: its conditions, marks and events. */
void pt_unfold_put(struct unfolder *un, const struct candidate *candidate, const struct list *words);
/* A new stamp for conditions, which no condition has. */
uint32_t pt_unfold_stamp(struct unfolder *un);

/* To which of these conditions the newest cause leads. */
static inline uint32_t pt_unfold_newest(const struct unfolder *un, const uint32_t *conditions, uint32_t count)
{
    uint32_t newest = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (un->u->condition_event[conditions[i]] > un->u->condition_event[conditions[newest]])
            newest = i;
    }
    return newest;
}

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

/* unfold_choose.c: rows or walks, whichever is cheaper. */
/* Chooses, before the cut of the next candidate is made. */
void pt_unfold_choose(struct unfolder *un);
/* Prepares for what is concurrent with that one, on these conditions and marks. */
void pt_unfold_make_row(struct unfolder *un, uint32_t transition, const uint32_t *pre, uint32_t count);
/* Keeps what has been prepared for an event whose conditions have been added. */
void pt_unfold_keep_row(struct unfolder *un, uint32_t event);

/* unfold_co.c: the same, with rows. */
bool pt_unfold_rows_is_co(const struct unfolder *un, uint32_t a, uint32_t b);
void pt_unfold_rows_make(struct unfolder *un, uint32_t transition, const uint32_t *conditions, uint32_t count);
uint32_t pt_unfold_rows_first(struct unfolder *un, uint32_t place);
void pt_unfold_rows_keep(struct unfolder *un, uint32_t event);
void pt_unfold_rows_drop(struct unfolder *un);

/* unfold_parts.c: parts and moves. False: they are too many. */
struct pt_components;
bool pt_unfold_find_parts(struct unfolder *un, const struct pt_components *components);

/* unfold_trees.c. False: no cover of the net by components was found, and walks cannot be made; or the budget of
 * components.h is spent. */
bool pt_unfold_walk_begin(struct unfolder *un, uint64_t *budget);
void pt_unfold_walk_end(struct unfolder *un);
/* Keeps an event whose conditions have been added. */
void pt_unfold_walk_keep(struct unfolder *un, uint32_t event);
void pt_unfold_walk_charge(struct unfolder *un, uint64_t bytes);
/* Lists in un->only_first and un->only_second what each of the candidates' histories has alone, but for themselves.
 * False: walks are not made, or a sweep is better. */
bool pt_unfold_walk_apart(struct unfolder *un, const struct candidate *x, const struct candidate *y);
/* Whether this is asked of candidates of this size; they need roots for that. */
static inline bool pt_unfold_needs_root(const struct unfolder *un, const struct candidate *c)
{
    enum { LONG_HISTORY = 100 };                                           /* events; less are swept faster */
    bool is_long = c->size >= LONG_HISTORY || un->options->walk_until > 0; /* tests want all of them here */
    return un->walk.on && is_long;
}
/* The parts of a place. */
static inline const uint32_t *pt_unfold_parts(const struct unfolder *un, uint32_t place, uint32_t *ret_count)
{
    const uint32_t *start = un->walk.place_part + place;
    *ret_count = start[1] - start[0];
    return un->walk.parts + start[0];
}

/* The node before this one whose depth is this. */
static inline uint32_t pt_unfold_above(const struct walk *w, uint32_t node, uint32_t depth)
{
    while (w->nodes[node].depth > depth) {
        uint32_t jump = w->nodes[node].jump;
        node = w->nodes[jump].depth >= depth ? jump : w->nodes[node].parent;
    }
    return node;
}

/* Uses of conditions at a place are listed by transition, unless there are many. */
static inline uint32_t pt_unfold_groups(const struct unfolder *un, uint32_t place)
{
    uint32_t count = un->consumer_start[place + 1] - un->consumer_start[place];
    return count <= 8 ? count : 1;
}

/* unfold_uses.c: adds an event to what uses its conditions. */
void pt_unfold_uses_add(struct unfolder *un, uint32_t event);
/* A list of uses of a condition, of one group; pt_unfold_groups(): of those that read it. */
static inline uint32_t *pt_unfold_use_list(struct unfolder *un, uint32_t condition, uint32_t group)
{
    return &un->walk.users.items[un->walk.user_start[condition] + group];
}
static inline bool pt_unfold_is_short(const struct walk *w, uint32_t list)
{
    return list == 0 || (list < LISTED && w->uses[list - 1].count < (int32_t)w->long_list);
}
/* Events of a list, all that can be in one run with the event for which walks are made. Valid until the next call. */
const struct list *pt_unfold_uses(struct unfolder *un, uint32_t *list);

/* unfold_vector.c: cuts by part, as chunks that are shared. Each returns a new one, which may be changed until there is
 * another: with these chunks; with those of another; the initial one, with these nodes; that of the causes of an event
 * on these conditions and marks. */
uint32_t pt_unfold_vector_begin(struct unfolder *un, const uint32_t *chunks);
uint32_t pt_unfold_vector_copy(struct unfolder *un, uint32_t other);
uint32_t pt_unfold_vector_first(struct unfolder *un, const uint32_t *nodes);
uint32_t pt_unfold_vector_causes(struct unfolder *un, const uint32_t *conditions, uint32_t count);
void pt_unfold_vector_set(struct unfolder *un, uint32_t root, uint32_t part, uint32_t node);
/* Takes in what an event does, unless the cut is further on. */
void pt_unfold_vector_add(struct unfolder *un, uint32_t root, uint32_t event);
/* Whether two cuts are of histories that can be parts of one run; takes in another for which that is so. */
bool pt_unfold_vector_fits(struct unfolder *un, uint32_t root, uint32_t other);
void pt_unfold_vector_join(struct unfolder *un, uint32_t root, uint32_t other);
/* The sums of a cut less those of another. */
void pt_unfold_vector_sum(const struct unfolder *un, uint32_t root, uint32_t before, struct chunk *ret_more);
/* Adds the last marks in a cut of reads of a condition to pt_unfolding.over. */
void pt_unfold_vector_over(struct unfolder *un, uint32_t root, uint32_t condition);
void pt_unfold_vector_to_lists(struct unfolder *un);
/* Whether a candidate after this cut, the last one for which pt_unfold_walk_for was called, marks what another cut
 * does. */
bool pt_unfold_vector_same(const struct unfolder *un, const struct candidate *c, uint32_t root, uint32_t known);
/* The tokens, or the marks, of a cut, valid until the next call; `last`: without what the last candidate consumes. */
struct list pt_unfold_tokens(struct unfolder *un, const struct extended *cut, bool last);
struct list pt_unfold_marks(struct unfolder *un, const struct extended *cut);
static inline uint32_t pt_unfold_tip(const struct unfolder *un, uint32_t root, uint32_t part)
{
    const struct walk *w = &un->walk;
    return w->chunks[w->roots.items[root + part / CHUNK]].at[part % CHUNK];
}

/* What has to be left for a condition to be left: itself, or what it is the read of. */
static inline uint32_t pt_unfold_token_of(const struct unfolder *un, uint32_t condition)
{
    uint32_t read = condition >= GONE ? PT_NONE : un->u->condition_read[condition];
    return read == PT_NONE ? condition : read;
}

/* unfold_walk.c: the same as unfold_co.c, with walks. */
bool pt_unfold_walk_is_co(struct unfolder *un, uint32_t a, uint32_t b);
/* Lists in un->only_second the events that the histories of conditions have beyond that of the event for which walks
 * are made; all have to be concurrent with it. False: there are more than `most`. */
bool pt_unfold_walk_beyond(struct unfolder *un, const uint32_t *conditions, uint32_t count, uint32_t most);
/* Begins walks for a candidate. */
void pt_unfold_walk_for(struct unfolder *un, const struct candidate *c);
uint32_t pt_unfold_walk_first(struct unfolder *un, uint32_t place);
static inline bool pt_unfold_is_co(struct unfolder *un, uint32_t a, uint32_t b)
{
    return un->walk.on ? pt_unfold_walk_is_co(un, a, b) : pt_unfold_rows_is_co(un, a, b);
}
/* The first condition at the place that is concurrent with the event for which all has been prepared, PT_NONE: there is
 * none; others follow by un->place_next. */
static inline uint32_t pt_unfold_first(struct unfolder *un, uint32_t place)
{
    if (un->place_stamp[place] >= un->row_now)
        return un->place_head[place];
    if (un->row_indexed)
        return PT_NONE;
    return un->walk.on ? pt_unfold_walk_first(un, place) : pt_unfold_rows_first(un, place);
}

/* unfold_mark.c: the cut of a candidate, without what it makes itself; a list is at the end of un->cuts. */
struct extended pt_unfold_make_cut(struct unfolder *un, const struct candidate *c, const uint32_t *pre);
/* That cut, if nothing was made after it, is not needed any more. */
void pt_unfold_drop_cut(struct unfolder *un, const struct extended *cut);
/* The same where walks are made: a new one in walk.roots. */
uint32_t pt_unfold_make_root(struct unfolder *un, const struct candidate *c, const uint32_t *pre);
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
