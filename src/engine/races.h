/* Races of a recorded run from the inside, split between its files: races.c follows the run, races_report.c makes
 * findings of what it meets, for those that asked: the built-in check, and race_free properties (race_properties.c);
 * races_predict.c adds what other runs would meet. */
#ifndef PT_ENGINE_RACES_H
#define PT_ENGINE_RACES_H

#include "base/table.h"
#include "engine/check.h"
#include "engine/full_run.h"
#include "predict/syncp.h"
#include "race/cell.h"
#include "trace/event.h"

struct races_thread {
    struct pt_hb_thread hb;
    bool begun; /* forked, or has acted */
    bool forked;
    uint32_t forked_at, forked_stack; /* place and stack of the fork */
    bool ended;
    uint64_t known;                /* up to where all others know it, as of the event `known_at` */
    uint32_t *locks;               /* that it has locked now, one entry for each time */
    uint32_t lock_count, lock_set; /* their set, an id; PT_NONE: to be looked up */
    size_t lock_cap;
};

/* Eight bytes of a variable of which an access has touched a part. */
struct races_part {
    uint32_t granule; /* the first of them / 8 */
    bool covers;      /* of the access under way: what pt_cell_check has said */
    struct pt_cell cell;
};

/* Two cache lines, for which every access waits. */
enum { RACES_LINE = 64, RACES_HINTS = 16 };
struct races_var {
    struct pt_cell cell;      /* of all its bytes but those of the parts */
    struct races_part *parts; /* by granule */
    uint32_t part_count;
    bool begun;
    bool heap;                   /* of a block that was allocated or freed */
    uint32_t next;               /* of its block; PT_NONE: the last */
    pt_epoch quiet;              /* see races_plain.c */
    uint16_t hints[RACES_HINTS]; /* where a thread's latest read or write was among the cell's entries, perhaps */
} __attribute__((aligned(RACES_LINE)));
_Static_assert(sizeof(struct races_var) == 2 * RACES_LINE, "two cache lines");

/* Memory that is given back as a whole: a heap block, the stack of a thread. */
struct races_block {
    uint32_t vars; /* the first of those that are named NAME+OFFSET; PT_NONE: none yet */
    bool heap;     /* alloc or free was seen */
    bool freed;
    struct pt_event made; /* its alloc, when made_at is not 0 */
    uint64_t made_at;     /* that event's number */
    uint32_t made_locks;
    struct pt_cell whole; /* of its frees: parts that appear later begin with it */
};

/* Who asks for races, and what was found for them. */
struct races_asker {
    struct pt_finding *finding;
    /* Only those on such variables, of such a thread; NULL: all. */
    bool (*wants)(void *context, const char *object, const char *one, const char *other);
    void *context;
    struct pt_map64 met, pairs; /* indices of findings: by variable and places, and by core/finding_key.h */
};

struct races {
    const struct pt_names *names;
    struct pt_check_options options;
    struct pt_race_memory memory;
    struct pt_cell_env env;
    struct races_pool {
        void *free[64]; /* by size; each begins with the next */
        struct races_slab *slabs;
        char *at, *end; /* of the latest slab */
        size_t bytes;   /* from malloc */
    } pool;
    uint64_t started;

    struct races_thread *threads;
    size_t thread_cap;
    uint32_t thread_count; /* up to the last that has begun */
    uint32_t known_count;  /* of how many of them it is known up to where all others know them, */
    uint64_t known_at;     /* as of this event */
    struct races_lock {
        struct pt_hb_lock hb;
        uint32_t alone; /* the set of it alone, an id plus 1; 0: not made yet */
    } * locks;
    struct pt_hb_sync *others;
    size_t lock_cap, other_cap;
    struct races_var *vars;
    size_t var_cap;
    size_t part_bytes;                       /* of all variables' parts */
    struct pt_strtab block_names, lock_sets; /* a set is its locks' ids, ascending */
    struct races_block *blocks;
    size_t block_cap;
    struct pt_full_run run;

    const struct pt_event *event;    /* that is being looked at */
    uint32_t event_locks, event_var; /* PT_NONE: none locked; a part of a block that nobody has touched */
    bool event_in_heap;
    uint64_t *met_events; /* of an access of several parts: those that it was found to race with */
    uint32_t met_count;
    size_t met_cap;
    bool in_parts; /* such an access is being looked at */
    bool pruned;
    size_t peak;

    struct races_predict *predict; /* NULL: only the recorded run is looked at */
    struct pt_finding *own;        /* of the built-in check; NULL: it was not asked for */
    struct races_asker *askers;
    uint32_t asker_count;
    size_t asker_cap;
};

/* Races of one pass over a trace, for nobody at first. */
struct races *pt_races_new(const struct pt_names *names, const struct pt_check_options *options);
void pt_races_free(struct races *r);
/* The finding becomes violated as soon as there is one. */
void pt_races_ask(struct races *r, struct races_asker asker);
enum pt_status pt_races_event(struct races *r, const struct pt_event *event, struct pt_err *err) PT_WARN_UNUSED;
/* The same of several, as in check.h (races_plain.c). */
enum pt_status pt_races_events(struct races *r, const struct pt_event *events, uint32_t count, uint32_t *ret_taken,
                               struct pt_err *err) PT_WARN_UNUSED;
/* Events are missing here: what comes after them is not judged. */
void pt_races_gap(struct races *r);
/* The trace has ended; `lost` as in check.h. The findings say what is not known. */
void pt_races_finish(struct races *r, const char *lost);

/* A read or write that is plain and races with nothing. False: it may be another one, and nothing has changed. */
bool pt_races_plain(struct races *r, struct races_thread *t, const struct pt_event *event);
/* Taking or releasing a lock, alone or with others. */
void pt_races_lock(struct races *r, struct races_thread *t, const struct pt_event *event);
/* Whatever access it is. */
void pt_races_access(struct races *r, struct races_thread *t, const struct pt_event *event);
/* How much there is, once in so many events; ends the work beyond the limit. */
enum { RACES_WATCH_EVERY = 64 };
void pt_races_watch_memory(struct races *r);
/* The id of the set of locks that the thread has locked; PT_NONE: none. */
uint32_t pt_races_make_lock_set(struct races *r, struct races_thread *t);
static inline uint32_t pt_races_lock_set(struct races *r, struct races_thread *t)
{
    return t->lock_set != PT_NONE || !t->lock_count ? t->lock_set : pt_races_make_lock_set(r, t);
}

/* The block that a variable is part of by its name; NULL: none that anybody has spoken of. *ret_offset: it is named
 * NAME+OFFSET. */
struct races_block *pt_races_block_of(struct races *r, uint32_t var, bool *ret_offset);

/* An access of a variable of which parts are told apart: all of it, or some bytes. */
void pt_races_access_parts(struct races *r, struct races_thread *t, struct races_var *var,
                           struct pt_cell_access *access);
/* Nothing is known of the variable any more. */
void pt_races_end_var(struct races *r, struct races_var *var);

/* Memory by size, which is only given back as a whole. */
struct pt_race_memory pt_races_memory(struct races_pool *pool);
void pt_races_memory_release(struct races_pool *pool);

/* Whether that event happens before all that other threads may still do (races_known.c). */
bool pt_races_is_past(void *context, pt_epoch epoch);

/* The event that is being looked at races with this one. */
void pt_races_found(void *context, const struct pt_cell_seen *earlier);

/* Room for one more finding; NULL: there are so many that it is only counted. */
struct pt_finding *pt_races_add(struct pt_finding *f, enum pt_how how);
/* It asks for a race of these threads, and the recorded run has none at that pair of places. */
bool pt_races_is_asked(const struct races *r, const struct races_asker *asker, uint64_t key, const char *object,
                       uint32_t one, uint32_t other);
/* An access as a side of a finding. */
struct pt_side pt_races_side(const struct races *r, struct pt_finding *f, const struct pt_cell_access *access,
                             uint32_t thread, const char *object);
/* Where the block was allocated that the finding is about; NULL: not known. */
void pt_races_tell_block(struct races *r, struct pt_finding *f, const struct races_block *block);

/* Races that other runs of the same events have (races_predict.c). */
struct races_predict *pt_races_predict_begin(struct races *r);
void pt_races_predict_event(struct races *r, const struct pt_event *event);
/* Every event of the trace, before that: for the search of `values`. */
void pt_races_predict_keep(struct races_predict *predict, const struct pt_event *event);
size_t pt_races_predict_bytes(const struct races_predict *predict);
/* Those that the recorded run does not have become findings, each after its run was played. */
void pt_races_predict_finish(struct races *r);
/* All races of the order `sync` are found, not only near ones; beyond that order they never all are. */
bool pt_races_predicts_all(const struct races_predict *predict);
void pt_races_predict_free(struct races_predict *predict);

/* The calls of a stack's text, `f a.c:3 < main a.c:9`, innermost first; the finding's. */
const char *const *pt_races_stack(struct pt_finding *f, struct pt_value text);

#endif
