/* The inside of a search in a wider order, shared by the files that implement it. */
#ifndef PT_ENGINE_WIDE_WIDE_IMPL_H
#define PT_ENGINE_WIDE_WIDE_IMPL_H

#include "engine/sets.h"
#include "engine/wide/wide.h"

/* --- log.c: the trace, and what the recorded run says about its events; places count from 0, links are plus 1 --- */

struct wide_thread {
    uint32_t *places; /* of its events */
    uint32_t count;
    size_t cap;
    uint32_t fork, join; /* places plus 1; 0: none */
};

struct pt_wide_log {
    const struct pt_names *names;
    const char *refuses;
    bool thin; /* events are not kept, for now */
    struct pt_recorded *events;
    uint64_t *lines;
    uint32_t *locs;
    uint64_t count;
    size_t event_cap, line_cap, loc_cap;
    struct pt_value *initial; /* by variable; 0 where none is given */
    bool *initial_given;
    size_t initial_cap, given_cap;
    uint32_t var_count;

    bool linked;      /* what follows is there */
    uint32_t *index;  /* among the events of its thread, from 1 */
    uint32_t *writer; /* of an access of a variable: the last write before it */
    uint32_t *link;   /* of a lock operation that takes it: the release; of wait, notify, sync: the operation before */
    bool *inner;      /* a lock operation of a thread that has the lock in the same way already */
    uint32_t *values; /* equal values have equal numbers; 0: unknown */
    uint32_t *must;   /* of a read: the write that it sees in every run of `values`; 0: none, or not known (must.c) */
    uint32_t *needed; /* pt_wide_log_need, plus 1; NULL: nobody has told any */
    bool *is_needed;
    struct pt_strtab value_ids;
    struct wide_thread *threads;
    uint32_t thread_count;
    size_t thread_cap;
};
void wide_log_link(struct pt_wide_log *log);
uint32_t wide_value_id(struct pt_wide_log *log, struct pt_value value);
/* The same of what a variable has before anybody writes it. */
uint32_t wide_initial_id(struct pt_wide_log *log, uint32_t var);
/* May the read see any write of the value it returned? */
bool wide_is_free(struct pt_wide_log *log, uint32_t place);
/* Does it see what others have written? A write of a part keeps the rest. */
bool wide_reads(const struct pt_recorded *event);

/* --- must.c --- */

/* False: no possible run of `values` has those that are taken and is before those that are next, since they need them
 * whatever the order of locks. */
bool wide_must_allow(struct pt_wide_log *log, const struct pt_wide_question *question);

/* --- problem.c: the events that matter to one property in one order --- */

enum wide_kind {
    WIDE_OTHER, /* nothing but its needs */
    WIDE_READ,
    WIDE_WRITE,
    WIDE_UPDATE, /* a read that is tied, and a write */
    WIDE_ACQ,
    WIDE_REL,
    WIDE_RACQ,
    WIDE_RREL,
    WIDE_JOIN,
};

struct wide_need {
    uint32_t thread, count;
};

enum { WIDE_NEEDS = 4 };

struct wide_event {
    uint32_t place;
    uint32_t object; /* number of the variable or lock; of a join the thread */
    uint8_t kind;
    uint8_t need_count;
    bool visible;     /* relevant to the property */
    bool tied;        /* values: a read that sees the write it saw, and no other */
    bool self_shared; /* an acquisition by a thread that has the lock shared */
    bool begins;      /* an acquisition of a section without a relevant event: it may be taken as a whole */
    struct wide_need need[WIDE_NEEDS];
    uint32_t wants;                  /* values, of a read: a class if it is tied, otherwise a value */
    uint32_t class;                  /* values, of a write: what it makes of its variable */
    uint32_t later, later_count;     /* sync: per other thread, its first later event that conflicts */
    uint32_t earlier, earlier_count; /* sync: per other thread, its last earlier event that conflicts */
    uint32_t held;                   /* the locks that its thread has after it */
    uint32_t var, user_event;        /* of the monitor, PT_NONE */
    uint32_t effect;                 /* pt_monitor_effect, PT_NONE */
};

/* A lock that a thread has, and others before it. */
struct wide_held {
    uint32_t lock, next; /* next: number plus 1, 0: none */
    bool shared;
};

/* A thread that uses a variable or a lock, and how far into its events it does. */
struct wide_user {
    uint32_t thread;
    uint32_t last; /* access, or acquisition */
    uint32_t last_read;
    uint32_t *at; /* sync: all its operations there */
    uint32_t count;
    size_t cap;
};

struct wide_object {
    struct wide_user *users;
    uint32_t user_count;
    size_t user_cap;
    uint32_t writes, reads;   /* how many events */
    uint32_t only_writer;     /* the thread that writes it, if it is written; PT_NONE: several do */
    uint32_t first_user;      /* where its users begin among those of all */
    uint32_t var;             /* variables: of the monitor, PT_NONE */
    bool tracked;             /* its accesses take part */
    uint32_t *value, *writer; /* in values: of each class the number of its value, and a write, plus 1; 0: initial */
    uint32_t class_count;
    size_t value_cap, writer_cap;
    uint32_t first;       /* the class at the beginning */
    uint32_t word, shift; /* where its class is in a packed state */
    uint64_t mask;
};

/* The writes of one of the monitor's variables by one thread. */
struct wide_writes {
    uint32_t *at;
    uint32_t count;
    size_t cap;
};

/*
 * In sync, where no lock takes part and all counts fit into one word with a bit to spare for each: when an event may
 * happen, as bounds of all counts. With the spare bits set, subtracting a bound from each count at once leaves the bit
 * where the count is at least the bound.
 */
struct wide_packed {
    uint64_t least;   /* what its needs ask for */
    uint64_t most;    /* the counts by which it is overtaken; the spare bit alone: none is */
    uint32_t watches; /* of its column, as bits by the numbers of `active`: there are at most 32 then */
    uint32_t effect;  /* wide_event.effect */
    bool visible;     /* likewise */
    bool safe;        /* wherever it may happen (steps.c), if it is not relevant */
    bool plain;       /* it is relevant, and so is the next one of its column, if there is one */
};

struct wide_column {
    struct wide_event *events; /* event k, from 1, is events[k - 1] */
    uint32_t count;
    size_t cap;
    /* By how many have happened: 0 where the next one is relevant or there is none; else the columns, as bits of their
     * numbers modulo 64, that decide whether the next one is taken at once. */
    uint64_t *watches;
    struct wide_packed *packed; /* likewise, the last one for no event; NULL: states are not compared at once */
    struct wide_need join;      /* the event that joins it; count 0: none */
    uint32_t word, shift;
    uint64_t mask;
};

struct wide_problem {
    struct pt_wide_log *log;
    enum pt_possible order;
    struct pt_monitor *monitor;
    struct wide_column *columns; /* by thread of the trace */
    uint32_t column_count;
    uint32_t *active; /* the columns that have events */
    uint32_t active_count;
    size_t active_cap;
    uint32_t *classed; /* the variables whose class is part of a state */
    uint32_t classed_count;
    size_t classed_cap;
    struct wide_object *vars, *locks;
    uint32_t var_count, lock_count;
    struct wide_need *pairs; /* of `later` and `earlier` */
    uint32_t pair_count;
    size_t pair_cap;
    struct wide_held *helds;
    uint32_t held_count;
    size_t held_cap;
    uint32_t words;  /* of a packed state */
    uint64_t guards; /* the spare bits of its counts; 0: there are none */

    uint32_t monitor_var_count;
    uint32_t *object_of_var;    /* of the monitor, to `vars`; PT_NONE */
    struct wide_writes *writes; /* sync: per variable of the monitor, per column */
    bool ambiguous;             /* the trace has two names for one of them */
    struct pt_value *initial;
    bool *initial_given;
    bool *is_joint;
    uint32_t joint_count;
    bool module;

    uint32_t *relevant; /* places of the relevant events, in recorded order */
    uint32_t *relevant_var, *relevant_event;
    uint32_t relevant_count;
    size_t relevant_cap, relevant_var_cap, relevant_event_cap;
    size_t bytes;
};
void wide_problem_init(struct wide_problem *problem, struct pt_wide_log *log, enum pt_possible order,
                       struct pt_monitor *monitor, const struct pt_wide_names *names);
/* The relevant events are these, by their places in ascending order; there is no monitor (meet.c). `sees`: what this
 * store (or that none) makes of its variable is not mistaken for what another does; NULL: there is none. */
void wide_problem_init_meeting(struct wide_problem *problem, struct pt_wide_log *log, const uint32_t *places,
                               uint32_t count, const struct pt_wide_sees *sees);
void wide_problem_release(struct wide_problem *problem);
/* Of those that use an object, this thread; a new one if it is not among them. */
struct wide_user *wide_user_of(struct wide_object *object, uint32_t thread);
/* layout.c: the variable or lock of an event; NULL: it has none. */
struct wide_object *wide_object_of(const struct wide_problem *problem, const struct wide_event *event);
/* `kept`: per event of the recording its number in its column, from 1, 0 where it is left out. */
void wide_pairs_make(struct wide_problem *problem, const uint32_t *kept);
void wide_layout_make(struct wide_problem *problem);
/* When the layout and the watches are there. */
void wide_packed_make(struct wide_problem *problem);
static inline struct wide_event *wide_next(const struct wide_problem *p, uint32_t column, uint32_t count)
{
    return &p->columns[column].events[count];
}

/* --- take.h, steps.c: one state, and what can happen in it --- */

struct wide_taken {
    uint32_t column;
    uint32_t class; /* of the variable it wrote, before */
};

struct wide_state {
    const struct wide_problem *p;
    uint32_t *counts;  /* per column */
    uint32_t *classes; /* per variable, values alone */
    uint32_t *marked;  /* per column: its locks that were had when the state was unpacked, as wide_event.held */
    uint32_t *owner;   /* per lock: the column that has it exclusively, plus 1 */
    uint32_t *readers; /* per lock: how many columns have it shared */
    uint64_t total;    /* of counts */
    uint32_t moving;   /* columns whose next event is not relevant */
    struct wide_taken *taken;
    uint32_t taken_count;
    size_t taken_cap;
};
void wide_state_init(struct wide_state *state, const struct wide_problem *problem);
void wide_state_release(struct wide_state *state);
void wide_state_pack(const struct wide_state *state, uint64_t *key);
/* From the beginning, or from any other state. */
void wide_state_unpack(struct wide_state *state, const uint64_t *key);
/* Which events are looked at again when a column has moved, and which sections may be taken as a whole. */
void wide_watches_make(struct wide_problem *problem);
/* Takes all invisible events that take no possibility away, in a state that differs by what these columns have done
 * from one where there were none (bits of their numbers modulo 64); take.h has what asks first whether any column
 * moves. */
void wide_saturate_moving(struct wide_state *state, uint64_t changed);
/* The values of the monitor's variables. */
void wide_values(const struct wide_state *state, struct pt_value *values);

/* --- search.c --- */

/* How a state was reached: from `from`, of the level itself or of the one before, by the next event of `column`. */
struct wide_edge {
    uint32_t from, column;
    uint32_t next; /* of the same target, plus 1; 0: none */
    bool visible;
};

struct wide_node {
    uint64_t first; /* word of its key: what is compared and what is changed lie together */
    uint64_t runs;  /* that lead here, saturating */
    pt_letter letter;
    pt_set set;
    uint32_t waits; /* the next of those with as many events that wait to be expanded, plus 1 */
    uint32_t edges; /* its first edge plus 1, where levels are kept */
};

struct wide_level {
    uint64_t *keys;
    struct wide_node *nodes;
    uint32_t count, cap;
    uint32_t *slots; /* number of a state plus 1 */
    uint32_t mask;
    uint64_t lowest, highest; /* the fewest and the most events of a state that waits */
    uint32_t *order;          /* the states as they were expanded, where levels are kept */
    uint32_t order_count;
    size_t order_cap;
    struct wide_edge *list;
    uint32_t edge_count;
    size_t edge_cap;
};

struct wide_sorted;

/* How many states are looked at between two looks at the clock and at the memory. */
enum { WIDE_STRIDE = 64 };

struct wide_search {
    struct wide_problem *p;
    const struct pt_analysis_options *options;
    struct pt_finding *finding;
    struct pt_wide_figures *figures;
    struct pt_sets sets;
    struct pt_worker_cache cache;
    struct wide_state state;
    struct wide_sorted *sorted; /* the last two levels, where sorted.c has them; NULL: they are in `levels` */
    struct wide_level *levels;  /* the last two, or all where they are kept */
    uint32_t level_count;       /* from the beginning */
    size_t level_cap;
    bool keep;
    bool plain;           /* a letter depends on the one before and the event alone */
    uint32_t *waiting[2]; /* of even and odd levels: per number of events, the first state that waits, plus 1 */
    uint64_t deadline;
    uint64_t announced;
    uint32_t ticks;
    struct pt_value *values;
    uint64_t *key;
};
static inline struct wide_level *wide_level_at(const struct wide_search *s, uint32_t level)
{
    return &s->levels[s->keep ? level : level & 1];
}
void wide_search_init(struct wide_search *search, struct wide_problem *problem,
                      const struct pt_analysis_options *options, uint64_t deadline, struct pt_finding *finding,
                      struct pt_wide_figures *figures);
void wide_search_release(struct wide_search *search);
/* True: the search is to end, and figures->cut says why. */
bool wide_search_look(struct wide_search *search);
static inline bool wide_search_is_cut(struct wide_search *s)
{
    return !(s->ticks++ % WIDE_STRIDE) && wide_search_look(s);
}
static inline uint64_t wide_add_runs(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
/* The letter after a relevant event that was taken in a state of this letter; in the search's state it has happened,
 * and nothing relevant since. */
pt_letter wide_letter(struct wide_search *search, pt_letter before, const struct wide_event *event);
/* The one that the monitor reads then, which tells a user event. */
pt_letter wide_read_letter(struct wide_search *search, pt_letter letter, const struct wide_event *event);

/* --- sliced.c --- */

enum pt_wide_end wide_explore_sliced(struct wide_search *search, uint32_t slices);

/* --- witness.c, report.c --- */

/* The levels are kept up to the violating one, the last. False: the run that was found did not pass its replay. */
bool wide_witness(struct wide_search *search, uint32_t level);
/* Makes a run the finding's witness, if judge and monitor agree that it is one: `run` are places of the recording, all
 * that happens; the relevant ones among them are the witness. */
bool wide_report(struct wide_search *search, const uint64_t *run, uint64_t count);
/* The same of the actual run, up to where it breaks the property; false: it does not. */
bool wide_report_actual(struct wide_search *search);
/* Which atom has no value in the state, after the event at that place (PT_NONE: the initial state). */
void wide_report_error(struct wide_search *search, const struct pt_value *values, uint32_t place);

#endif
