/*
 * What runs of a program have in common, as far as properties could say it: gathered from recordings of everything, one
 * after the other, and put into words by propose.c. Names are those of recordings, the same in all of them.
 */
#ifndef PT_CLI_SUGGEST_FACTS_H
#define PT_CLI_SUGGEST_FACTS_H

#include "base/table.h"
#include "cli/suggest/heap.h"
#include "cli/suggest/states.h"
#include "trace/event.h"

enum {
    PT_SUGGEST_LOCKS = 8,
    PT_SUGGEST_FUNCTIONS = 64,
    PT_SUGGEST_USED = 16,
    PT_SUGGEST_DEPTH = 64,
    PT_SUGGEST_HELD = 16
};

/* A lock that was held at accesses of a variable. */
struct pt_suggest_lock {
    uint32_t word; /* id in the heap's words */
    uint64_t held;
    uint32_t missing; /* place of the first access without it, PT_NONE: there was none since it was first held */
};

struct pt_suggest_var {
    bool is_nameable; /* by properties */
    bool moved;       /* it lies somewhere else in another run */
    uint32_t seen;    /* 1 + the last run that it was seen in */
    uint32_t block;   /* of that run, that it lies in, PT_NONE: none */
    uint64_t offset;  /* there */
    /* While there were several threads: */
    uint64_t accesses, writes;
    uint64_t readers, writers; /* threads, by their numbers modulo 64 */
    uint32_t first_place;
    struct pt_suggest_lock locks[PT_SUGGEST_LOCKS];
    uint32_t lock_count;
    bool is_atomic;
    /* Of all writes: */
    bool has_values, is_odd; /* integers; something else came, or what looks like an address */
    int64_t low, high, last, start;
    uint64_t changes, returns; /* writes that change it; that bring it back to its lowest value */
    uint32_t run_changes;      /* of the present run */
    bool no_flag;              /* in some run it changed more often than once */
    bool falls;
    uint32_t flag;   /* 1 + its number among flags: it was 0 and then not; 0: none */
    uint32_t setter; /* thread that has set it, or wrote it first */
    uint64_t set_at; /* when */
    uint64_t last_write;
    uint64_t flags;       /* those that each thread knew to be set whenever it read this from another thread */
    uint64_t far_reads;   /* reads by other threads than the last writer */
    uint32_t writer;      /* of the present run's last write, PT_NONE: there was none */
    uint32_t last_writer; /* of any run */
};

struct pt_suggest_function {
    uint32_t name; /* id in the facts' functions */
    uint64_t calls, runs;
    uint64_t threads; /* that call it, modulo 64 */
    uint64_t first_call, first_return;
    bool crowded;                                             /* called while there were several threads */
    uint32_t parent;                                          /* that it was first called from, PT_NONE: none */
    bool mixed;                                               /* called from others too */
    bool starts;                                              /* a thread begins with it */
    uint32_t reads[PT_SUGGEST_USED], writes[PT_SUGGEST_USED]; /* variables */
    uint32_t read_count, write_count;
    uint64_t after;    /* functions whose only call had returned before the first of this, in every run */
    uint64_t behind;   /* functions that had been called before some call of this */
    uint64_t unpaired; /* functions that do not end what this begins, in turn, in each thread */
    uint64_t pairs[PT_SUGGEST_FUNCTIONS];
    /* What it begins another ends, and no other thread begins it before that: */
    uint32_t owner;    /* the thread that returned from it last, PT_NONE: none */
    uint64_t pending;  /* functions that the owner has not called since */
    uint64_t overlaps; /* functions that were pending when another thread returned from it */
    uint64_t handed;   /* times that the owner became another one */
};

struct pt_suggest_thread {
    uint32_t *held;
    uint32_t held_count;
    size_t held_cap;
    uint32_t stack[PT_SUGGEST_DEPTH];
    uint32_t depth;
    uint64_t open[PT_SUGGEST_FUNCTIONS]; /* by function that begins: what would end it, and has not yet */
    uint64_t begun[PT_SUGGEST_FUNCTIONS];
    uint64_t known; /* flags that it knows to be set */
    bool lives;
};

struct pt_suggest_facts {
    struct pt_names names;
    struct pt_suggest_var *vars; /* by id in PT_SPACE_VAR */
    size_t var_cap;
    struct pt_strtab function_names;
    struct pt_suggest_function functions[PT_SUGGEST_FUNCTIONS];
    uint32_t function_count;
    struct pt_suggest_thread *threads; /* of the present run, by id in PT_SPACE_THREAD */
    size_t thread_cap;
    uint32_t living;
    uint32_t flag_count;
    uint32_t flag_vars[64];
    struct pt_suggest_states states;
    struct pt_suggest_heap heap;
    uint64_t now; /* events of the present run */
    uint32_t runs, most_threads;
};

void pt_suggest_facts_init(struct pt_suggest_facts *facts);
void pt_suggest_facts_release(struct pt_suggest_facts *facts);
/* One more run, from its recording. */
enum pt_status pt_suggest_facts_add(struct pt_suggest_facts *facts, const char *recording,
                                    struct pt_err *err) PT_WARN_UNUSED;

/* propose.c: at most so many properties, one on each line, the most likely first, with the evidence behind it. Returns
 * how many. */
uint32_t pt_suggest_propose(const struct pt_suggest_facts *facts, uint32_t most, struct pt_buf *ret_text);

#endif
