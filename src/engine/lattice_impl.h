/* The inside of a lattice, shared by the files that implement it. */
#ifndef PT_ENGINE_LATTICE_IMPL_H
#define PT_ENGINE_LATTICE_IMPL_H

#include <stdatomic.h>

#include "engine/lattice.h"
#include "engine/sets.h"
#include "order/packed.h"

/* A relevant event, kept while a cut or a witness may still need it. */
struct lat_event {
    uint64_t number; /* among the property's relevant events, from 1 */
    uint64_t line;
    uint32_t object, loc;
    uint32_t var, user_event; /* of the monitor, or PT_NONE */
    uint32_t effect;          /* pt_monitor_effect, or PT_NONE where there is none (user events, modules) */
    uint32_t tenant;          /* whose it is */
    uint32_t clock_len;       /* of its clock, which is not in the cache any more when it is asked for */
    uint8_t op;
    bool joint; /* it writes a variable that some atom reads together with others */
    struct pt_value value;
    struct pt_clock *clock;
    uint64_t *last; /* where variables are joint: per variable, the last event of this thread up to here that writes it,
                       or 0 */
};

/* A thread with relevant events: those of its column with numbers above `before`, up to `upto`. */
struct lat_tenant {
    uint32_t thread, column;
    uint64_t before, upto; /* upto: UINT64_MAX while nobody has come after it */
};

/* The relevant events of a lane: of a thread, or of several that came one after the other. Event k is events[k - freed
 * - 1]; the first has k = 1, or one more than the options' `counted_before`. No more than UINT32_MAX are there at a
 * time. */
struct lat_column {
    uint32_t lane;
    uint32_t tenant;  /* the latest; PT_NONE: none yet */
    uint64_t arrived; /* how many there are so far */
    uint64_t freed;   /* how many of them are forgotten */
    uint64_t common;  /* how many are in every cut of the current level ... */
    uint64_t low;     /* ... and of the level before it */
    uint64_t in_q;    /* how many have a number up to q_end */
    uint32_t field;   /* in the layout, or PT_NONE */
    uint32_t group;   /* in the window (ranks.h), if it is that of this column */
    /* A ring, so that nothing is moved when some are forgotten: the k-th is at k, modulo a power of two. */
    struct lat_event *events;
    uint64_t mask;
};

/*
 * How cuts are packed into words (order/packed.h): one field per thread with pending events, holding its count above
 * `base`, and one guard bit above each field. What is above `base` is in memory, so it is counted in 32 bits however
 * many events the thread has had.
 */
struct lat_field {
    uint32_t column;
    uint64_t base;
    uint32_t word, shift;
    uint64_t mask;                 /* of the count, unshifted; also its greatest value */
    uint32_t limit;                /* events above base that may be taken now (in Q) */
    uint64_t *need;                /* per event above base: what it needs, packed, `words` words each */
    _Atomic uint32_t *lacked;      /* ... a word of that which some cut has lacked lately: expand.c */
    uint32_t *effect, *user_event; /* ... */
    bool *joint;
    uint32_t *alike; /* how many in a row, up to this one, do the same to letters */
    uint32_t *quiet; /* ... and all but the first of them learned nothing: without them a cut has the same letter */
    uint64_t *number;
    const bool *away; /* per event: its step leads to another process (share.h); NULL: none does */
    uint32_t filled;
};

struct lat_layout {
    uint32_t words;
    uint32_t field_count;
    struct lat_field *fields;
    uint64_t *guard;   /* per word */
    uint64_t *settled; /* per column when it was made: events of a column without a field, all in every cut */
    uint32_t column_count;
    uint32_t last_word, last_used; /* where a further field goes, if there are words left */
    uint32_t split;                /* the field by whose count levels are split into parts */
    uint32_t refs;                 /* history levels that still use it, plus one */
};

/* Workers write to neighbouring parts at the same time: nothing of theirs may share a cache line. */
enum { LAT_CACHE_LINE = 64 };

/* Cuts of one level, or of one part of it; column-wise. */
struct lat_part {
    _Alignas(LAT_CACHE_LINE) uint64_t *keys; /* `words` each */
    uint64_t *runs;                          /* runs that lead here, saturating */
    pt_letter *letters;
    pt_set *sets;
    uint32_t count;
    uint32_t cap;
    uint32_t words; /* per key */
    pt_set flags;   /* of a sorted level: of all its sets */
    bool lent;      /* the arrays are parts of the level's memory */
    bool crowded;   /* more runs than can be counted lead to each cut of a row (pair.c), or to some of a sorted level */
    bool alike;     /* of a row: all letters are the same */
    /* Of a row and of words (ranks.h): all sets are this one, which the letters of a row lead to itself; or PT_NONE. */
    pt_set calm;
};

enum { LAT_MAX_PARTS = 256 };

/*
 * A level is split by the count of one thread (modulo the number of parts): a step of that thread leads to the next
 * part, a step of any other stays. So each part of the next level is made from two parts of this one, by one worker,
 * without locks, in a table small enough for the cache.
 */
struct lat_level {
    struct lat_part *parts;
    uint32_t part_count, part_cap;     /* those beyond the count hold nothing, but may have memory */
    uint32_t reserved_parts, reserved; /* so many parts have room for so many cuts, or more: merge.c */
    void *memory;                      /* what these are lent */
    size_t memory_bytes;
    bool sorted; /* its keys rise, from each part to the next, too: merge.c; else parts are as above */
};

/* A level as the witness needs it. */
struct lat_past_level {
    uint64_t level;
    struct lat_layout *layout; /* none: level 0 without an event, or a level of words (ranks.h) */
    struct lat_window *window; /* of a level of words: its keys are these */
    struct lat_block *block;   /* holds the arrays; none: `own` does */
    uint64_t *keys;
    pt_letter *letters;
    pt_set *sets;
    uint32_t *common; /* per field of the layout: how many events above its base are in every cut */
    size_t bytes;
    uint64_t distance;        /* of a row */
    uint32_t words;           /* per key */
    uint32_t count;           /* cuts */
    uint32_t fields;          /* in `common`; the layout may have got more since */
    pt_mstate observed;       /* the monitor state of the actual run here */
    bool row;                 /* there is one key, the others follow at this distance: pair.c */
    bool one_letter, one_set; /* there is one for all cuts */
    uint64_t own[3];          /* for a row of which there is one of each */
};

static inline pt_letter lat_past_letter(const struct lat_past_level *past, uint32_t cut)
{
    return past->letters[past->one_letter ? 0 : cut];
}
static inline pt_set lat_past_set(const struct lat_past_level *past, uint32_t cut)
{
    return past->sets[past->one_set ? 0 : cut];
}

enum { LAT_BLOCK_CLASSES = 12, LAT_BOUNDED_LEVELS = 4096 }; /* so many are remembered of bounded windows, ... */
enum { LAT_HISTORY_STRIDE = 17 };                           /* ... and so many are dropped together */

struct lat_history {
    struct lat_past_level *levels; /* ascending, a ring: the first one is at `head` */
    uint32_t head, count, cap;
    uint64_t stride; /* full exploration: only multiples of it are kept */
    size_t bytes, budget;
    struct lat_block *spare[LAT_BLOCK_CLASSES]; /* of dropped levels, for the next ones; by size */
};

static inline struct lat_past_level *lat_past_at(const struct lat_history *h, uint32_t i)
{
    uint32_t at = h->head + i;
    return &h->levels[at < h->cap ? at : at - h->cap];
}

struct lat_table {
    uint32_t *slots; /* index + 1 into the part */
    uint32_t mask;   /* of the part in use */
    uint32_t cap;
};

struct lat_worker {
    _Alignas(LAT_CACHE_LINE) struct pt_worker_cache cache;
    struct lat_table table;
    struct pt_value *values;
    uint64_t *counts;
    uint64_t *key; /* scratch, `words` */
};

enum { LAT_RANK_SPAN = 128, LAT_RANK_WORDS = LAT_RANK_SPAN / 64 }; /* ranks.h: bits, and words of 64, of a cut */

/* What is counted of levels that another thread fills (relay.c), until it is in the finding. */
struct lat_tally {
    uint64_t levels, states, width;
    uint64_t bytes; /* the peak, without sets */
};

/* Where an event is. */
struct lat_place {
    uint64_t index;
    uint32_t column;
};

/* Events of a column, up to an index, that levels after this one do not need. */
struct lat_passed {
    uint64_t level, upto;
    uint32_t column;
};

struct pt_lattice {
    struct pt_monitor *monitor;
    const struct pt_names *names;
    const struct pt_analysis_options *options;
    struct pt_finding *finding;
    struct pt_relation relation; /* its columns are those below */
    bool by_needs;               /* pt_relation_by_needs, asked once */
    struct pt_sets *sets;        /* its own, or those of the lattice whose stretches this one explores (stretch.h) */
    _Alignas(LAT_CACHE_LINE) struct pt_sets own_sets;
    _Alignas(LAT_CACHE_LINE) bool module;
    bool same_letters; /* whoever comes to a cut reads the same letter: no module, no event of the property */
    bool full;         /* window and lookahead are both `all` */
    uint64_t most;     /* states that are explored; 0: all */
    uint32_t var_count;
    const uint32_t *joint_vars; /* see logic/monitor/monitor.h */
    uint32_t joint_count;
    bool *is_joint;
    uint32_t *all_vars; /* 0, 1, 2, ... */
    struct pt_value *initial;
    bool *initial_given;
    struct pt_value *freed_values; /* what the forgotten events left, ... */
    uint64_t *freed_numbers;       /* ... and which of them wrote it (0: none) */

    /* By who makes levels (relay.c). */
    _Alignas(LAT_CACHE_LINE) struct lat_column *columns;
    uint32_t column_count;
    size_t column_cap;
    uint32_t *column_of_lane;
    size_t column_of_lane_cap;
    struct lat_tenant *tenants; /* in the order of their first relevant events */
    uint32_t tenant_count;
    size_t tenant_cap;
    uint64_t pushed;        /* relevant events so far */
    uint64_t common_total;  /* sum of the columns' common */
    uint64_t q_end;         /* Q is the events up to this number that are not common */
    struct lat_place *line; /* bounded: the events after number line_first, in trace order */
    uint64_t line_first;
    size_t line_count, line_cap;
    struct lat_passed *passed; /* bounded: what is in all cuts of later levels, in that order */
    uint32_t passed_head, passed_count;
    size_t passed_cap;
    uint64_t level;
    uint32_t waiting; /* bounded: events that came since levels were last closed */
    size_t event_bytes;
    uint64_t busy_ns;

    /* Both look at these, and nobody changes them while there are two. */
    _Alignas(LAT_CACHE_LINE) struct lat_layout *layout;
    struct { /* the cuts of the level before, to judge completeness of bounded windows */
        uint64_t *keys;
        uint32_t count;
        size_t cap; /* in words */
    } previous;
    struct { /* scratch for choosing what is kept */
        uint64_t *top;
        uint32_t *order;
        bool *kept;
        size_t top_cap, order_cap, kept_cap;
    } ranking;
    bool started, ended;
    bool next_open;              /* bounded: `next` holds what Q gave so far */
    bool paired;                 /* bounded: `current`, and `next` if open, are in the order of pair.c */
    bool stopped;                /* no more exploration */
    bool counting;               /* after a violation, --exhaustive: figures only */
    bool rebuilding;             /* levels are made again for a witness */
    bool uncounted;              /* more runs lead to the level than can be counted: nobody does any more (merge.c) */
    uint64_t announced, allowed; /* bytes: of this one in what all use; for this one, in what they leave */
    struct lat_share *share;     /* full exploration: with other processes; NULL: alone (share.h) */
    struct lat_ranks *ranks;     /* NULL until it is needed */
    bool relayed;                /* somebody else may fill levels just now (relay.c) */
    struct lat_stretches *stretches; /* two threads explore it (stretch.h); NULL: nobody does */
    uint64_t joins;                  /* ... and so many stretches have joined */
    struct pt_lattice *heir;         /* what explores it in its place since then; NULL: it does so itself */
    struct lat_stretch *stretch;     /* it is somebody else's, and tells nothing; NULL: it does */
    uint64_t check;                  /* ... and at this level a snapshot is due */
    bool remembers;                  /* ... and it has a history */
    bool judges;                     /* ... and it looks where it is complete, from each snapshot on */
    bool borrows;                    /* ... and the clocks of its events are the log's, which nobody counts */
    struct pt_clock_pool clocks;     /* ... of the events that it was given */
    uint64_t rough;                  /* ... it has just begun: up to this level cuts may be missing */
    bool meets;                      /* ... it explores nothing: it follows the actual run */
    uint64_t stretch_due, stretch_again, stretch_wait; /* levels: to begin at; not before; to wait if it fails */
    uint64_t pace_since, pace_level;                   /* what is timed before */
    bool ranked;               /* the cuts of `current` are words there: they have no keys, and there is no layout */
    struct lat_joints *joints; /* full exploration: values of joint variables by number; NULL: none, or too many */
    struct {              /* bounded, stopped at a violation: the last expanded level, to go on judging completeness */
        uint64_t *counts; /* column_count each */
        uint32_t count, column_count;
    } last_level;

    /* By who fills them. */
    _Alignas(LAT_CACHE_LINE) struct lat_level *current, *next;
    struct lat_history history;

    /* The actual run. */
    _Alignas(LAT_CACHE_LINE) pt_mstate observed_state;
    pt_letter observed_letter;
    pt_mstate *trail; /* bounded windows: its monitor states after event number trail_first + i */
    uint64_t trail_first;
    uint32_t trail_count;
    size_t trail_cap;
    struct pt_value *observed_values;
    bool observed_over;
    uint64_t observed_bad;           /* how many events it took, when it is bad */
    struct pt_cut_event *last_write; /* of each variable, without its needs; index 0: none */

    _Alignas(LAT_CACHE_LINE) struct lat_worker *workers; /* the first, and those of the pool */
    unsigned worker_count;
    struct lat_pool *pool;
    _Atomic bool out_of_memory; /* set by workers */
    _Atomic size_t bytes;       /* of levels */
    uint64_t peak;
};

/* columns.c */
static inline struct lat_event *lat_event_at(const struct lat_column *column, uint64_t index)
{
    return &column->events[index & column->mask];
}
/* Room for one more event of the column. */
void lat_column_grow(struct lat_column *column);
/* The same, for the relation to judge. */
static inline struct pt_cut_event lat_cut_event(const struct pt_lattice *l, uint32_t column, uint64_t index)
{
    const struct lat_event *e = lat_event_at(&l->columns[column], index);
    return (struct pt_cut_event){column, index, e->clock, e->object, (uint8_t)e->op};
}
void lat_free_events(struct pt_lattice *l, struct lat_column *column, uint64_t upto);
/* Of a column's first `count` events those of a tenant, as its thread counts them: from the options' `counted_before`
 * on; 0: none. */
static inline uint64_t lat_tenant_count(const struct pt_lattice *l, const struct lat_tenant *tenant, uint64_t count)
{
    if (count <= tenant->before)
        return 0;
    return (count < tenant->upto ? count : tenant->upto) - tenant->before + l->options->counted_before;
}
/* Where the event with this number is: bounded windows, not long forgotten. */
static inline struct lat_place lat_place_of(const struct pt_lattice *l, uint64_t number)
{
    return l->line[number - l->line_first - 1];
}
/* A column's events up to this index have no bits (ranks.h) in levels after the one that was made last. */
void lat_pass(struct pt_lattice *l, uint32_t column, uint64_t upto);
/* Forgets what this level and later ones have no bits for; and the levels after it are made anew. */
void lat_free_passed(struct pt_lattice *l, uint64_t level);
void lat_unpass(struct pt_lattice *l, uint64_t level);
/* Absolute counts of `columns` columns before the first event; the caller frees them. */
uint64_t *lat_counts_at_start(const struct pt_lattice *l, uint32_t columns);
void lat_layout_build(struct pt_lattice *l);                /* and repacks all levels */
void lat_layout_add(struct pt_lattice *l, uint32_t column); /* its newest event, or a new layout if it does not fit */
void lat_layout_unref(struct lat_layout *layout);
static inline uint32_t lat_field_count_in(const struct lat_field *f, const uint64_t *key)
{
    return (uint32_t)(key[f->word] >> f->shift & f->mask);
}
/* The values of the listed variables in a cut given by absolute counts per column; and of all. */
void lat_values_of(const struct pt_lattice *l, const uint64_t *counts, const uint32_t *vars, uint32_t count,
                   struct pt_value *values);
static inline void lat_values(const struct pt_lattice *l, const uint64_t *counts, struct pt_value *values)
{
    lat_values_of(l, counts, l->all_vars, l->var_count, values);
}
/* The absolute counts of a cut, and the key of absolute counts; false when no cut of that layout has them. */
void lat_counts(const struct pt_lattice *l, const struct lat_layout *layout, const uint64_t *key, uint64_t *counts);
bool lat_key(const struct pt_lattice *l, const struct lat_layout *layout, const uint64_t *counts, uint64_t *key);

/* expand.c */
/* A module's letter: all values, and the event. */
pt_letter lat_module_letter(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key, uint32_t user_event);
/* joint.c: the letter after a write of a joint variable. */
pt_letter lat_joint_letter(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key, pt_letter before,
                           uint32_t effect);
/* ... looked up, for the layout as it is, until it is freed. */
void lat_joints_build(struct pt_lattice *l);
void lat_joints_free(struct pt_lattice *l);
/* The letter of the cut `key`, made by event `index` of the field from a cut with letter `before`. */
static inline pt_letter lat_cut_letter(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key,
                                       pt_letter before, const struct lat_field *field, uint32_t index)
{
    uint32_t effect = field->effect[index];
    if (field->joint[index])
        return l->module ? lat_module_letter(l, w, key, PT_NONE) : lat_joint_letter(l, w, key, before, effect);
    return effect == PT_NONE ? before : pt_sets_apply(l->sets, &w->cache, before, effect);
}
/* The letter that a run reads when it comes to the cut by an event that may be a user event. */
static inline pt_letter lat_event_letter(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key,
                                         pt_letter letter, uint32_t user_event)
{
    if (user_event == PT_NONE)
        return letter;
    return l->module ? lat_module_letter(l, w, key, user_event) : pt_sets_event(l->sets, &w->cache, letter, user_event);
}
struct lat_level *lat_level_new(uint32_t part_count);
/* Sets the number of parts; no worker may be at it. Memory of parts is kept for the next level. */
void lat_level_split(struct lat_level *level, uint32_t part_count);
void lat_level_release(struct pt_lattice *l, struct lat_level *level);
void lat_level_free(struct pt_lattice *l, struct lat_level *level);
void lat_part_release(struct pt_lattice *l, struct lat_part *part);
/* So many that they would wait for each other's small pages: then memory is of large ones, which a few would rather not
 * wait for. */
static inline bool lat_has_many_workers(const struct pt_lattice *l)
{
    enum { MANY_WORKERS = 4 };
    return l->worker_count >= MANY_WORKERS;
}
/* Room for so many cuts, of keys of one word, in each of the first parts. What the level holds is lost. */
void lat_level_reserve(struct pt_lattice *l, struct lat_level *level, uint32_t parts, uint32_t each);
void lat_part_reserve(struct pt_lattice *l, struct lat_part *part, uint32_t words, uint32_t count);
/* Makes room for other keys; what is in them is lost. */
void lat_part_rekey(struct pt_lattice *l, struct lat_part *part, uint32_t words);
/* Whether sets are united first and stepped then, once for each cut. */
bool lat_steps_later(const struct pt_lattice *l);
/* All steps from `from` into `to` (which is emptied first), by all workers. */
void lat_expand(struct pt_lattice *l, struct lat_level *from, struct lat_level *to);
/* The steps by the newest event of one field only, added to `to`; bounded windows. */
void lat_expand_newest(struct pt_lattice *l, struct lat_level *from, struct lat_level *to, uint32_t field);
/* May event `index` of the field, from 0, be the next one of a cut of the current layout that has those before it? No
 * worker is active. */
bool lat_enabled(struct pt_lattice *l, const uint64_t *key, uint32_t field, uint32_t index);
/* A look-up table over packed keys; lat_find gives PT_NONE for a key that is not there. */
void lat_index(struct lat_table *table, const uint64_t *keys, uint32_t count, uint32_t words);
uint32_t lat_find(const struct lat_table *table, const uint64_t *keys, uint32_t words, const uint64_t *key);

/* merge.c: full exploration by sorted levels */
bool lat_merge_fits(const struct pt_lattice *l);
#define LAT_NO_CUT UINT64_MAX /* no key: the highest bit of a word is a guard, or unused */
/* Shared with other processes: as far as it is this one's (share.h, bounds). */
void lat_merge(struct pt_lattice *l, struct lat_level *from, struct lat_level *to);
/* What `from` leads to in the ranges of the other processes, into `parts`, one for each process. Sets are not stepped
 * where that is done later. */
void lat_merge_away(struct pt_lattice *l, struct lat_level *from, struct lat_part *parts);

/* pool.c: workers. */
/* The first `count` workers are there, with scratch for the columns and the layout as they are. */
void lat_workers_grow(struct pt_lattice *l, unsigned count);
void lat_workers_free(struct pt_lattice *l);
void lat_workers_columns(struct pt_lattice *l); /* columns were added */
void lat_workers_layout(struct pt_lattice *l);  /* the layout is another */
/* How many workers there should be for so many cuts. */
unsigned lat_pool_workers(const struct pt_lattice *l, uint64_t cuts);
/* Does every item below `count`, each by one worker; they are at work on so many cuts in all. Who has done one takes
 * the next, so that nobody waits while there is something to do. */
void lat_pool_run(struct pt_lattice *l, uint64_t cuts,
                  void (*item)(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context),
                  void *context, uint32_t count);
void lat_pool_free(struct pt_lattice *l);

/* cone.c: bounded windows */
/* Negative: a comes first in the contract's order of cuts. Same layout, same level. */
int lat_cut_compare(const struct pt_lattice *l, const struct lat_layout *layout, const uint64_t *a, const uint64_t *b);
bool lat_q_full(const struct pt_lattice *l);
/* Closes every level that can be closed with the events that have arrived. */
void lat_cone_advance(struct pt_lattice *l);
/* After a stop at a violation: what is still needed to judge completeness; and a further event for that judgement. */
void lat_cone_stop(struct pt_lattice *l);
void lat_cone_late_event(struct pt_lattice *l, const struct pt_cut_event *event);

/* ranks.c: bounded windows that drop cuts. While `ranked` levels are closed as soon as they are made. */
enum lat_made {
    LAT_NOT_MADE, /* it cannot be done here; `current` has keys */
    LAT_WAIT,     /* more events must come first; nothing was begun */
    LAT_MADE,
};
enum lat_made lat_ranks_expand(struct pt_lattice *l);
/* Of a ranked level: the same, but the cuts of the next level are not filled (ranks.h). NOT_MADE: it is still ranked.
 */
enum lat_made lat_ranks_make(struct pt_lattice *l);
/* A level of one cut, with all events that have come so far, is one of words, if it can be. */
void lat_ranks_begin(struct pt_lattice *l);
/* Back to keys and a layout, if it is ranked. */
void lat_ranks_leave(struct pt_lattice *l);
void lat_ranks_release(struct pt_lattice *l);
/* Of a ranked level: after it was closed, how many events are in all cuts. */
void lat_ranks_settle(struct pt_lattice *l);
/* Which level was filled last. */
uint64_t lat_ranks_level(const struct pt_lattice *l);
/* Its words into the keys of `past`, with what they are and what stays in memory for it. */
void lat_ranks_remember(struct pt_lattice *l, struct lat_past_level *past);
/* Of a remembered level: it is forgotten. */
void lat_window_forget(struct lat_window *window);
/* The word that a cut has in a remembered level; false: it is not one of that level's. */
bool lat_ranks_key(const struct pt_lattice *l, const struct lat_past_level *past, const uint64_t *counts,
                   uint64_t *key);

/* relay.c: levels of words are made by the caller and filled by another thread */
enum { LAT_RELAY_SLOTS = 256 }; /* who fills is fewer levels behind */
/* Whether the next level of words, if it can be made, may be left to the other one. False, and stopped: there was
 * something to tell. */
bool lat_relay_ready(struct pt_lattice *l);
/* It was made. It may be handed on together with later ones, or when somebody waits for it. */
void lat_relay_made(struct pt_lattice *l);
/* It was made and filled by the caller; all before it are filled. */
void lat_relay_skip(struct pt_lattice *l);
/* All levels are filled then, or the exploration has stopped. Nothing to do where nobody else fills. */
void lat_relay_drain(struct pt_lattice *l);
/* Nobody else fills levels any more; those that are not filled are lost. */
void lat_relay_quit(struct pt_lattice *l);
/* Levels before this one are not remembered any more; by who fills. */
void lat_relay_forget(struct pt_lattice *l, uint64_t level);

static inline struct pt_lattice *lat_heir(struct pt_lattice *root)
{
    return root->heir ? root->heir : root;
}

/* stretch.c: two threads explore stretches of the trace; all of these of the lattice that others know */
/* Whether that may be tried just now, or will be. */
bool lat_stretch_hopes(const struct pt_lattice *l);
/* The same of a lattice that another thread has, until it makes way (analysis_push.c). */
bool lat_stretch_waits(const struct pt_lattice *l);
/* After an event: begins, if it is time. */
void lat_stretch_begin(struct pt_lattice *root);
/* A relevant event, while there are two. */
enum pt_status lat_stretch_push(struct pt_lattice *root, const struct pt_event *event, uint32_t lane, uint32_t var,
                                uint32_t user_event, const struct pt_clock *clock, struct pt_err *err);
/* One thread goes on, as if it had explored all so far; nothing to do where there are not two. */
void lat_stretch_end(struct pt_lattice *root);
/* The trace has ended: all of it is explored then, by one or by both. */
void lat_stretch_finish(struct pt_lattice *root);
/* Nothing will be asked any more. */
void lat_stretch_drop(struct pt_lattice *root);
/* At a level for which `check` asks. */
void lat_stretch_check(struct pt_lattice *l);

/* pair.c: bounded windows while at most two threads have pending events */
bool lat_pair_fits(const struct lat_layout *layout);
/* The current level is a row, to each cut of which more runs lead than can be counted. */
static inline bool lat_has_crowded_row(const struct pt_lattice *l)
{
    return !l->ranked && l->paired && l->current->parts[0].crowded;
}
/* Whether the current level can be stepped here; brings it into order if so. */
bool lat_pair_ready(struct pt_lattice *l);
void lat_pair_expand(struct pt_lattice *l);
/* Event limit - 1 of the field has come into Q while the next level is open. */
void lat_pair_newest(struct pt_lattice *l, uint32_t field);
/* Keeps so many cuts of the next level, the least in the contract's order. */
void lat_pair_keep(struct pt_lattice *l, uint32_t keep);

/* history.c */
void lat_history_push(struct pt_lattice *l);
void lat_history_release(struct pt_lattice *l);
void lat_free_common(struct pt_lattice *l); /* bounded, without a history: the events that no cut will need again */
void lat_history_shrink(struct pt_lattice *l, size_t budget);
void lat_past_level_fill(struct pt_lattice *l, const struct lat_level *level, uint64_t number,
                         struct lat_past_level *past);
void lat_past_level_release(struct pt_lattice *l, struct lat_past_level *past);

/* A step of a run: a column's event. */
struct lat_chosen {
    uint32_t column;
    uint64_t index;
};

/* witness_run.c */
struct pt_step lat_step_of(struct pt_lattice *l, uint32_t column, uint64_t index);
/* `written`: per variable, whether some event of the run has written it. */
struct pt_binding *lat_bindings(struct pt_lattice *l, const struct pt_value *values, const bool *written);
/* All relevant events of the actual run after `from` and up to `upto`, by number. */
struct lat_chosen *lat_actual_run(struct pt_lattice *l, uint64_t from, uint64_t upto);
/* The finding's runs, from the start cut and the steps of the witness; `letters` of its count + 1 states. */
void lat_fill_finding(struct pt_lattice *l, const uint64_t *start, const struct lat_chosen *run, uint32_t count,
                      uint64_t from, const pt_letter *letters);

/* detail.c: what only people want to know about a violation. `actual` are the finding's actual steps. */
void lat_detail_clocks(struct pt_lattice *l, const struct lat_chosen *actual);
/* The letters of the witness's states; both runs are from the very start. */
void lat_detail_truths(struct pt_lattice *l, const pt_letter *letters, const struct lat_chosen *actual);
/* After the others. The witness starts from the cut `start`. */
void lat_detail_view(struct pt_lattice *l, const uint64_t *start);

/* witness.c */
void lat_violation(struct pt_lattice *l, const uint64_t *bad_key, pt_letter bad_letter);
/* The exploration has to stop, but the actual run itself was seen to be bad after l->observed_bad events: of the runs
 * explored it is the one to show. The run is lost when its events are already forgotten. */
void lat_observed_violation(struct pt_lattice *l);
void lat_evaluation_error(struct pt_lattice *l, const uint64_t *key);

/* lattice.c */
/* The monitor state of the actual run after `number` events; PT_NONE where it is not remembered. */
pt_mstate lat_trail(const struct pt_lattice *l, uint64_t number);
/* Level 0, before the first event. */
void lat_start(struct pt_lattice *l);
/* The exploration ends: unknown, for this reason, what is not settled. And what it needed is given back. */
void lat_give_up(struct pt_lattice *l, const char *why);
void lat_forget(struct pt_lattice *l);
/* Full exploration, with a limit: whether the events alone are more than is allowed. */
bool lat_over_events(struct pt_lattice *l);
/* Counts a finished level and looks for violations in it; false when the exploration is over. */
bool lat_level_done(struct pt_lattice *l);
/* The same for who fills levels that others make; the level's own counts are how many levels it makes, and the bytes of
 * the events then. False: there is something to tell, and nothing was done. */
bool lat_level_quiet(struct pt_lattice *l, struct lat_tally *tally, const struct lat_tally *level);

/* Around what tells somebody something, or reads names: who reads the trace makes new ones meanwhile. */
static inline void lat_alone(const struct pt_lattice *l, bool begins)
{
    if (l->options->alone)
        l->options->alone(l->options->alone_of, begins);
}

/* lattice_push.c */
/* Bounded windows go on when so many events have come: a level that is tried before its events are there is tried
 * again. */
enum { LAT_PUSH_BATCH = 16 };
struct lat_column *lat_column_of(struct pt_lattice *l, uint32_t lane);
/* An event as it was met, for a lattice that has not been given it. */
struct lat_logged;
void lat_take_logged(struct pt_lattice *l, const struct lat_logged *event);
/* Clocks that are the log's are copied: it may go. */
void lat_own_clocks(struct pt_lattice *l);
/* What an event is for the actual run, and what it does to letters; PT_EINPUT as pt_lattice_push. */
enum pt_status lat_meet(struct pt_lattice *l, const struct pt_cut_event *e, const struct pt_event *event, uint32_t var,
                        uint32_t user_event, uint32_t *ret_effect, struct pt_err *err);
/* The tenant of a column whose next event is the thread's. */
uint32_t lat_tenant_of(struct pt_lattice *l, struct lat_column *column, uint32_t thread);
/* The actual run takes one more step. */
void lat_observe(struct pt_lattice *l, pt_letter letter, const struct pt_event *event);
/* Adds the time since then, so many times, to what the exploration took. */
void lat_timed(struct pt_lattice *l, uint64_t since, uint32_t weight);

#endif
