/* What an engine found out about one property: plain data, owned by its arena; nothing here decides or prints. */
#ifndef PT_FINDING_FINDING_H
#define PT_FINDING_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/table.h"
#include "core/suppress.h"
#include "core/value.h"
#include "finding/played.h"

#define PT_ALL UINT64_MAX /* --window all, --lookahead all */

enum pt_verdict { PT_VERDICT_HOLDS, PT_VERDICT_VIOLATED, PT_VERDICT_UNKNOWN, PT_VERDICT_ERROR };
/* DEAD and LATE are of `within` properties: no accepting run is left; every run that is left misses a window. */
enum pt_how { PT_HOW_NONE, PT_HOW_OBSERVED, PT_HOW_PREDICTED, PT_HOW_DEAD, PT_HOW_LATE };

/* One relevant event of a run. */
struct pt_step {
    const char *thread;
    const char *op; /* "w", "u" or "event" */
    const char *object;
    const char *source; /* what the source calls an object that has no name but its address; NULL: unknown */
    const char *loc;
    struct pt_value value; /* PT_VALUE_UNKNOWN for user events */
    uint64_t number;       /* among the property's relevant events, in the order of the actual run, from 1 */
    uint64_t line;         /* of the trace */
    uint32_t thread_index; /* into the finding's threads, where it lists them */
    uint32_t var;          /* the variable it writes, an index into `initial`; PT_NONE: none */
    const uint64_t *clock; /* per thread of the finding: how many of its relevant events precede or equal this one, so
                              that its own thread's entry is its place there; NULL where threads are not listed */
};

/* A variable's value in some state. */
struct pt_binding {
    const char *name;
    struct pt_value value;
    bool assumed; /* the trace gives no initial value and nothing has written it: 0 */
};

enum pt_truth_value { PT_TRUTH_FALSE, PT_TRUTH_TRUE, PT_TRUTH_OPEN /* depends on the future */ };
/* A subformula's value in the violating state; larger depth: nearer to the atoms. */
struct pt_truth {
    const char *text;
    enum pt_truth_value value;
    uint32_t depth;
};

/* Why a step of the witness may come before an event that preceded it in the actual run: one for each thread it
 * overtakes, about the first event of that thread that it overtakes. */
struct pt_move {
    uint32_t step;       /* index into witness */
    struct pt_step over; /* the event it overtakes */
    uint64_t over_index; /* `over` is this relevant event of its thread, from 1, ... */
    uint64_t needs;      /* ... and the step causally needs only this many of that thread's relevant events */
};

/* Violating local states of one thread (mttl): state k is the one that the thread's k-th event makes, 0 the initial. */
struct pt_local {
    const char *thread;
    uint64_t *states;
    uint32_t state_count;
};

/*
 * The lattice of a small exploration, for people to look at: its consistent cuts, level by level. Cut i holds
 * counts[i * thread_count + t] relevant events of the finding's thread t.
 */
enum { PT_VIEW_MAX = 300 };
struct pt_view {
    uint32_t cut_count;
    uint32_t *counts;
    uint32_t *levels; /* of each cut; ascending */
    bool *kept;       /* by the window; unbounded: all */
    struct pt_view_edge {
        uint32_t from, to;
    } * edges;
    uint32_t edge_count;
    uint32_t *observed, *violating; /* the cuts that the actual run and the witness pass */
    uint32_t observed_count, violating_count;
    bool whole; /* false: only levels up to the violation's are here */
};

/* What a thread knew of another when it broke a property (mttl): a value of the latest state it had heard of. */
struct pt_known {
    const char
        *text; /* "@j(busy > 0)", as the property has it; "races with": no value; "was disturbed by": the block */
    const char *thread; /* whose state it is */
    struct pt_value value;
    uint64_t state;      /* of that thread, in which the value came about */
    bool heard;          /* something of that thread was known; otherwise this is its initial state */
    struct pt_step from; /* the event that made the state, when state > 0 */
};

/* One side of what a built-in check found, an access or a lock operation for instance (contract section 4). */
struct pt_side {
    struct pt_step step;
    uint64_t event;         /* the step's number among the trace's events, from 1; 0: there is no trace */
    uint64_t address, size; /* of an access or a lock, in a running program; 0: not known */
    bool atomic;            /* of an access */
    bool lost;              /* the stack was known once */
    const char *const
        *stack; /* the calls it is in, "function file:line", innermost first, then NULL; NULL: not known */
    const char *const *locks;     /* that its thread has locked, then NULL; NULL: none */
    const char *const *locked_at; /* where each of them was, "" for unknown; NULL: not known of any */
    const char *const *created; /* the calls in which its thread was created, like `stack`; NULL: not known, or main */
    bool created_lost;
};

/* What kept the events of the run where they were (engine/wide/pinned.c): how many reads must see another thread's
 * write, how many sections of locks must follow another's for such a read, each of how many there are. */
struct pt_pinned {
    bool counted;
    uint64_t reads, of_reads, sections, of_sections;
    uint64_t unknown;    /* reads without a value */
    const char *most;    /* the variable with most of the pinned reads, NULL: there are none; ... */
    uint64_t most_reads; /* ... so many */
};

/* A result that a finding was in before several were put together. */
struct pt_origin {
    const char *file;           /* its name; NULL: not known */
    const char *const *program; /* the command that was observed, then NULL; NULL: not known */
    const struct pt_origin *next;
};

struct pt_finding {
    struct pt_arena arena;
    const char *property; /* of a built-in check: its name */
    const char *kind;     /* "ltl", "ere", "hoa", "monitor", "mttl", "within"; of a built-in check a word of its own */
    const char *text;     /* the property as written, "" for a module */
    const char *file;     /* where it stands, with line; NULL for a module */
    uint32_t line;

    const char *process; /* whose run it is about, "process 4711 (prog)", of a list of them; NULL: there is one */

    enum pt_verdict verdict;
    enum pt_how how; /* of a violation */
    bool monitorable;
    const char *message;       /* of an error, or why it is unknown; NULL otherwise */
    const char *message_place; /* the event at which an evaluation failed, in words, or NULL */

    /* What was explored. */
    const char *order; /* "access"; of a violation the one it was found in, otherwise the widest that was explored */
    const char *wider; /* why wider ones were not, or not to their end; NULL: nobody asked, or they were */
    uint64_t relevant, levels, states, width;
    uint64_t runs; /* UINT64_MAX with runs_overflow: more than 64 bits hold */
    bool runs_overflow;
    uint64_t window, lookahead; /* PT_ALL */
    bool complete;
    /* Of one that holds. */
    struct pt_pinned pinned;
    uint64_t controlled; /* of `explore`: in so many runs, each as it went; 0: of something else */
    const char *widen;   /* what would show more, as a sentence without its stop; NULL: nothing is known that would */

    /* A violation's run: a shortest violating prefix, replayed and found legal. */
    bool witness_lost; /* its beginning was forgotten (bounded windows, very long runs): no witness is given */
    struct pt_step *witness;
    uint32_t witness_count;
    /* Of a run that leaves the order `access`: beside the witness's steps all that it depends on, in its order: every
     * lock that is taken, and accesses of variables that threads share without a lock (engine/unguarded.h). NULL: it is
     * not known, or too long. `confirm` holds a program to it. */
    struct pt_step *schedule;
    uint32_t schedule_count;
    uint64_t witness_from;          /* observed relevant events before its first step (0: from the start) */
    struct pt_binding *from_values; /* the state there, when witness_from > 0 */
    uint32_t from_count;
    struct pt_step *observed; /* the same events in the order of the actual run */
    struct pt_step *actual;   /* all relevant events of the actual run after witness_from, up to the witness's latest */
    uint32_t actual_count;
    struct pt_move *moves;
    uint32_t move_count;
    uint32_t switches;          /* context switches of the witness */
    struct pt_binding *initial; /* variables before the witness's first step; same order as final */
    struct pt_binding *final;   /* variables in the violating state */
    uint32_t value_count;
    struct pt_truth *truths;
    uint32_t truth_count;
    /* Of violations that are short enough to be looked at step by step; NULL in others. */
    const char *const *threads; /* those with relevant events, by their first one */
    uint32_t thread_count;
    uint8_t *witness_truths; /* enum pt_truth_value: a row of truth_count for each state of the witness, from its ... */
    uint8_t *actual_truths;  /* ... first one, before any step; and of the actual run */
    struct pt_view *view;

    /* mttl: `locals` has one entry per violating thread, or exactly one where the property names its thread. */
    bool at_each;
    struct pt_local *locals;
    uint32_t local_count;
    struct pt_finding_first { /* the first violating state */
        const char *thread;
        uint64_t state;
        struct pt_step event;      /* that made it, when state > 0 */
        struct pt_binding *values; /* of the property's variables, as the thread sees them */
        uint32_t value_count;
        struct pt_known *knew; /* what the thread knew of others */
        uint32_t knew_count;
    } first;
    /* Of a built-in check (engine/check.h), or of a race_free property, which has a file. Each of its violations has
     * these, `how`, `order` and perhaps a witness of its own; what was explored is not described. */
    bool builtin;
    const char *object;      /* what it is about: a variable, a lock */
    const char *const *also; /* of a race: other variables that race at the same two places, up to a NULL; NULL: none */
    uint64_t count;          /* how often it was seen */
    const char *note;        /* what it is more exactly, "double free"; NULL: what its kind says */
    struct pt_side *sides;   /* one, or two that must not come together; of a deadlock one for each thread of the cycle,
                                whose step's object is the lock that it wants and the next one has locked */
    uint32_t side_count;
    struct pt_played *played; /* of `explore`: the schedule that shows it, NULL: there is none */
    struct pt_side *block;    /* the alloc of the heap block that `object` is in, its value the size; NULL: not known */

    /* Other violations of the same property (core/finding_key.h), a second race of race_free(*) for instance: each with
     * `first` or `sides`, and people's decisions of its own, and else described as this one is. They have no states. */
    struct pt_finding **more;
    uint32_t more_count;
    size_t more_cap;
    uint64_t untold; /* how many more there are that are not reported: more than PT_FINDINGS_MAX */

    /* What a `within` property has beside: where the verdict fell. */
    struct pt_finding_within {
        uint64_t bound; /* D, in nanoseconds or events */
        bool bound_in_events;
        uint64_t events; /* read until the verdict fell, or all */
        uint64_t event;  /* the event line at which it fell, from 1; of a silent verdict the last one before */
        bool timed;      /* the time is known */
        uint64_t time;   /* of that event, in nanoseconds; of a silent verdict the end of the window that was missed */
        bool silent;     /* late without an event: time passed */
        bool passed;     /* an accepting state was passed before, the last time ... */
        uint64_t last_pass;   /* ... then (a time, or an event's number); otherwise the start */
        const char *states;   /* the automaton's before that event, of a silent verdict after it: "{1, 2, 4}" */
        struct pt_step *step; /* the event, NULL when there was none */
    } within;

    const char *const *unseen; /* names of the property that the trace never mentioned, then NULL */

    double seconds;
    uint64_t peak_bytes;

    /* Of violations: what people decided about them before. Such a one is not reported and does not count. */
    const char *suppressed; /* the suppression that matches it, as written; NULL: none */
    bool known;             /* it is in the baseline */
    enum pt_confirm_verdict { PT_CONFIRM_UNTRIED, PT_CONFIRM_YES, PT_CONFIRM_NO } confirm; /* by another run */
    const char *not_reproduced; /* PT_CONFIRM_NO: why, or NULL */
    /* What else that run showed. That it failed by itself is another fact than that it broke the property. */
    struct pt_confirmation {
        enum pt_own_check { PT_OWN_UNKNOWN, PT_OWN_PASSED, PT_OWN_FAILED } own; /* the program's own check */
        const char *end;      /* how the program ended, in words; NULL: not known */
        struct pt_side *seen; /* as `sides`, of that run: what was really observed there */
        uint32_t seen_count;
        bool met;                /* all threads of it stood right before their events at one time, ... */
        uint64_t met_address[2]; /* ... which, if they are two, were of this memory; 0: not so */
    } confirmation;
    uint32_t times;                  /* how many results it stands for, where several were put together; else 0 or 1 */
    const struct pt_origin *origins; /* and which these are; NULL: the one it stands in */
};

/* Whether people have decided about it before; whatever they said of others of the same property. */
static inline bool pt_finding_is_suppressed(const struct pt_finding *finding)
{
    return finding->suppressed || finding->known;
}

/* Whether the property is violated in a way that counts. */
bool pt_finding_counts(const struct pt_finding *finding);

/* What it is: "Check", or "Property". */
static inline const char *pt_finding_sort(const struct pt_finding *finding)
{
    return finding->builtin && !finding->file ? "Check" : "Property";
}

/* Zeroed, with a live arena. */
struct pt_finding *pt_finding_new(void);
void pt_finding_free(struct pt_finding *finding);
/* Another violation of a violated property, among its `more`; its `first` or `sides` are to be filled. Callers keep to
 * PT_FINDINGS_MAX. */
struct pt_finding *pt_finding_add(struct pt_finding *finding);
/* The one that was added last is none after all. */
void pt_finding_drop(struct pt_finding *finding);

/* The event that breaks the property; NULL: none does, or it is not known. */
const struct pt_step *pt_finding_breaks(const struct pt_finding *finding);

/* What a violation is called, in this run and in others: 16 hexadecimal digits. */
struct pt_finding_id {
    char text[17];
};
struct pt_finding_id pt_finding_id(const struct pt_finding *finding);

/* The same as pt_finding_id of a race on this variable alone: `object`, or one of `also`. */
struct pt_finding_id pt_finding_id_on(const struct pt_finding *finding, const char *object);

enum { PT_ALSO_MAX = 16 };
/* Races: two are one if their places are the same (join.c). pt_finding_places: 0 where they are not known. */
uint64_t pt_finding_places(const struct pt_finding *finding);
void pt_finding_join(struct pt_finding *into, const struct pt_finding *other);
void pt_finding_join_places(struct pt_finding *first, bool (*suppressed)(void *context, const struct pt_finding *),
                            void *context);

/* What tells findings apart (core/finding_key.h); 0: it is none that is distinguished there. */
uint64_t pt_finding_key(const struct pt_finding *finding);
/* Of violations with the same id: whether they are the same finding, too. */
bool pt_finding_is_same(const struct pt_finding *a, const struct pt_finding *b);

/* A line of a suppression file. */
struct pt_suppression {
    const char *text, *file;
    struct pt_suppress_rule rule; /* points into `text` */
    uint32_t line;
    uint32_t used; /* how many violations it suppresses */
};

struct pt_block_findings;
struct pt_made;

/* A verdict that changed while a program was watched. */
struct pt_change {
    const char *property;
    enum pt_verdict from, to;
    uint64_t event; /* events seen by then, the one that did it included; lost ones count */
    bool timed;
    uint64_t time;              /* nanoseconds */
    uint64_t lost;              /* of a change to unknown: so many events are missing after that event */
    const struct pt_step *step; /* the event that did it, NULL: none */
    const uint32_t *states;     /* the automaton's (`within` alone) */
    uint32_t state_count;
};

/* What one command found out about one trace. */
struct pt_result {
    const char *trace;                  /* its name as given */
    const struct pt_made *made;         /* (finding/made.h) NULL: that is not said */
    const char *const *program;         /* of `run`: the command that was observed, then NULL; NULL: there was none.
                                         * Of `watch`: the program's file */
    uint32_t pid;                       /* of `watch`: the program's process; 0: of something else */
    bool ended;                         /* of `run`: the program has, ... */
    int program_status;                 /* ... with this status, as a shell has it */
    const char *const *source_roots;    /* absolute folders below which its places lie, then NULL; NULL: not recorded */
    const struct pt_explored *explored; /* of `explore`; NULL: of something else */
    const struct pt_change *change;     /* of `watch`: why the result is reported now, NULL: it is the last one */
    uint64_t events;                    /* event lines; init and clock are none */
    uint64_t threads;                   /* that acted, were forked or joined */
    struct pt_finding **findings;
    uint32_t count;
    struct pt_block_findings *blocks;          /* of --atomicity (finding/blocks.h), NULL: nobody asked */
    const struct pt_suppression *suppressions; /* those that were asked for */
    uint32_t suppression_count;
    bool torn; /* the trace ended in a tear: what was intact was used */
    char torn_message[600];
};

/* The worst of everything that counts, as exit statuses have it (contract section 1): an error before a violation, that
 * before what is unknown (a tear too), that before all that holds. */
enum pt_verdict pt_result_verdict(const struct pt_result *result);

#endif
