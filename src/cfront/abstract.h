/*
 * The parts of the C front end, and what they share while they work on one program.
 *
 * Every function call has a context of its own (calls are inlined by looking at the callee once per context), and every
 * SSA value one abstract value per context. Memory is a set of objects with contents that are joined over the whole run
 * (flow-insensitive): what a pointer loaded from memory may point to does not depend on when it is loaded.
 */
#ifndef PT_CFRONT_ABSTRACT_H
#define PT_CFRONT_ABSTRACT_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/err.h"
#include "base/table.h"
#include "instrument/module.h"
#include "net/program.h"

enum pt_cf_kind {
    PT_CF_BOTTOM, /* nothing has reached it yet */
    PT_CF_INT,    /* one known number */
    PT_CF_REF,    /* a pointer into one of `set`, or a number nobody knows; of an empty set: such a number */
};

struct pt_cf_val {
    enum pt_cf_kind kind;
    uint32_t set;   /* REF: of objects, interned in pt_cf.sets */
    int64_t number; /* INT: its value; REF: the offset, the same for all objects of the set, ... */
    int64_t stride; /* ... or, unless this is 0, the offset modulo this: elements of an array at an unknown index */
};

enum { PT_CF_ANYTHING = 0 }; /* the object that stands for all objects whose address went out of sight */

enum pt_cf_object_kind { PT_CF_DATA, PT_CF_FUNCTION, PT_CF_THREAD };

struct pt_cf_cell {         /* what was stored at one place of an object */
    int64_t offset, stride; /* as in a value */
    uint64_t size;
    struct pt_cf_val val;
    bool initial; /* from the initialiser */
};

struct pt_cf_object {
    enum pt_cf_object_kind kind;
    LLVMValueRef value;     /* global, alloca, call of malloc, function; the call that starts a thread */
    uint32_t context;       /* of a local or heap object, PT_NONE for globals; of a thread: its root */
    bool escaped;           /* pointers to it may be anywhere */
    bool summary;           /* several objects at run time: made in a loop */
    bool zero;              /* initially 0 where no cell says otherwise; else unknown numbers */
    int64_t size;           /* in bytes; INT64_MAX: unknown */
    struct pt_cf_val smear; /* stored at unknown offsets */
    struct pt_cf_cell *cells;
    size_t cell_count, cell_cap;
};

/* A loop that starts or joins threads: its rounds are told apart. */
struct pt_cf_loop {
    LLVMBasicBlockRef header;
    uint32_t parent; /* the next such loop around it; PT_NONE */
    uint32_t depth;  /* from 1 */
};

struct pt_cf_context {
    uint32_t parent;       /* PT_NONE: the root of a thread */
    LLVMValueRef function; /* whose body this is */
    LLVMValueRef call;     /* NULL for roots and rounds */
    uint32_t loop, round;  /* a round of a loop; PT_NONE otherwise */
    uint32_t root;         /* its thread, an index of pt_cf.threads */
    bool repeated;         /* may be entered more than once: somewhere around it is a loop that is not told apart */
    bool starts_threads;
    struct pt_cf_val result; /* of what the function returns */
};

struct pt_cf_thread {
    uint32_t root;     /* context */
    uint32_t object;   /* THREAD; PT_NONE for main */
    LLVMValueRef call; /* that starts it; NULL for main */
};

struct pt_cf_function { /* what is known about the control flow of one function */
    LLVMValueRef function;
    struct pt_map64 loop_of;  /* block to its innermost loop that starts threads */
    struct pt_map64 in_cycle; /* block to 1 if it lies on a cycle */
};

struct pt_cf_reached {
    uint32_t context;
    LLVMBasicBlockRef block;
};

struct pt_cf {
    LLVMModuleRef module;
    struct pt_module names; /* for instrument/names.c: context, layout, debug information */
    uint32_t unroll;        /* --unroll */
    bool wary;              /* functions that nobody knows may touch what they were not handed, too */
    struct pt_err err;      /* of the first failure */
    bool failed;
    bool changed;     /* in this round of the fixpoint */
    bool wild_stores; /* something was stored through a pointer that may point to anything */

    struct pt_strtab sets;  /* sorted object ids as bytes */
    struct pt_map64 unions; /* of two sets that were united before */
    struct pt_cf_object *objects;
    size_t object_count, object_cap;
    struct pt_strtab object_keys;

    struct pt_cf_context *contexts;
    size_t context_count, context_cap;
    struct pt_strtab context_keys;
    struct pt_cf_thread *threads;
    size_t thread_count, thread_cap;

    struct pt_map64 value_ids; /* LLVM values to small numbers */
    uint32_t value_count;
    struct pt_map64 vals; /* (context, value number) to an index of val_list */
    struct pt_cf_val *val_list;
    size_t val_count, val_cap;

    struct pt_cf_function *functions;
    size_t function_count, function_cap;
    struct pt_map64 function_ids;
    struct pt_map64 managing; /* functions that start or join threads, or call one that does: 1; else 0 */
    struct pt_cf_loop *loops;
    size_t loop_count, loop_cap;

    struct pt_cf_reached *reached; /* blocks that some run may enter, by context */
    size_t reached_count, reached_cap;
    struct pt_strtab reached_keys;

    struct pt_strtab note_keys;
    struct pt_program *program; /* being built */
};

/* ---- value.c: abstract values and memory */
struct pt_cf_val pt_cf_int(int64_t number);
struct pt_cf_val pt_cf_number(void);                           /* an unknown number */
struct pt_cf_val pt_cf_ref(struct pt_cf *cf, uint32_t object); /* its first byte */
struct pt_cf_val pt_cf_anything(struct pt_cf *cf);
/* A pointer moved by `count` elements of `step` bytes; INT64_MIN: by an unknown number of them. */
struct pt_cf_val pt_cf_move(struct pt_cf_val pointer, int64_t count, int64_t step);
struct pt_cf_val pt_cf_join(struct pt_cf *cf, struct pt_cf_val a, struct pt_cf_val b);
/* The same pointers at an unknown offset; a known number becomes an unknown one. */
struct pt_cf_val pt_cf_blur(struct pt_cf_val val);
/* The objects a value may point to. */
const uint32_t *pt_cf_targets(const struct pt_cf *cf, struct pt_cf_val val, uint32_t *ret_count);
/* *to becomes the join; cf->changed if that made a difference. */
void pt_cf_widen(struct pt_cf *cf, struct pt_cf_val *to, struct pt_cf_val val);
void pt_cf_escape(struct pt_cf *cf, struct pt_cf_val val);
uint32_t pt_cf_object(struct pt_cf *cf, enum pt_cf_object_kind kind, LLVMValueRef value, uint32_t context);
struct pt_cf_val pt_cf_load(struct pt_cf *cf, struct pt_cf_val address, uint64_t size);
void pt_cf_store(struct pt_cf *cf, struct pt_cf_val address, uint64_t size, struct pt_cf_val val);
void pt_cf_copy(struct pt_cf *cf, struct pt_cf_val to, struct pt_cf_val from, struct pt_cf_val size);

/* ---- flow.c: cycles, and loops that start threads */
const struct pt_cf_function *pt_cf_flow(struct pt_cf *cf, LLVMValueRef function);
/* The context after the edge; PT_NONE when the loop's bound was reached. */
uint32_t pt_cf_follow(struct pt_cf *cf, uint32_t context, LLVMBasicBlockRef from, LLVMBasicBlockRef to);
uint32_t pt_cf_frame(const struct pt_cf *cf, uint32_t context); /* without rounds */
uint32_t pt_cf_context(struct pt_cf *cf, struct pt_cf_context wanted, bool make);

/* ---- evaluate.c: values of operands and instructions */
struct pt_cf_val pt_cf_eval(struct pt_cf *cf, uint32_t context, LLVMValueRef value);
void pt_cf_define(struct pt_cf *cf, uint32_t context, LLVMValueRef value, struct pt_cf_val val);
/* Of an instruction without effect; BOTTOM while its operands are. */
struct pt_cf_val pt_cf_compute(struct pt_cf *cf, uint32_t context, LLVMValueRef inst);
struct pt_cf_val pt_cf_compare(LLVMIntPredicate predicate, struct pt_cf_val a, struct pt_cf_val b, unsigned width);

/* ---- calls.c: what called functions mean */
enum pt_cf_call_kind {
    PT_CF_CALL_INLINE, /* has a body */
    PT_CF_CALL_NOTHING,
    PT_CF_CALL_BEGIN,
    PT_CF_CALL_END,
    PT_CF_CALL_SPAWN,
    PT_CF_CALL_JOIN,
    PT_CF_CALL_LOCK,
    PT_CF_CALL_UNLOCK,
    PT_CF_CALL_WAIT,      /* condition variable, mutex */
    PT_CF_CALL_SYNC,      /* writes the object: signals, barriers, semaphores */
    PT_CF_CALL_SYNC_READ, /* reads it: shared locks */
    PT_CF_CALL_ONCE,      /* object, function */
    PT_CF_CALL_READS,     /* reads what its pointers point to */
    PT_CF_CALL_WRITES,    /* ... and writes its buffer */
    PT_CF_CALL_COPY,
    PT_CF_CALL_FILL,
    PT_CF_CALL_ALLOCATE,
    PT_CF_CALL_THREAD_EXIT,
    PT_CF_CALL_STOPS,   /* does not return */
    PT_CF_CALL_UNKNOWN, /* may touch whatever it can reach */
    PT_CF_CALL_ERROR,   /* cannot be modelled; cf->err says so */
};
struct pt_cf_call {
    enum pt_cf_call_kind kind;
    const char *name;              /* of the function, "" for calls through pointers */
    const struct pt_sync_row *row; /* its arguments and results; NULL if it is not in core/sync.def */
    bool outside;                  /* UNKNOWN, and not for what it does with its arguments alone: it is in no table */
};
/* An argument that the row speaks of. */
static inline LLVMValueRef pt_cf_argument(LLVMValueRef call, unsigned argument)
{
    return LLVMGetOperand(call, argument - 1);
}
struct pt_cf_call pt_cf_classify(LLVMValueRef call);
/* The same of a function, called by name or through a pointer. */
struct pt_cf_call pt_cf_classify_function(LLVMValueRef function);
/* library.c: functions that need no row in core/sync.def; false: this one is not known. */
bool pt_cf_library(const char *name, size_t len, enum pt_cf_call_kind *ret_kind);
/* Does this call leave memory to the library, which other calls, or nobody's, touch later? */
bool pt_cf_lends(LLVMValueRef call, const char *name);
/* Does the function forget a function that it is handed when it returns? */
bool pt_cf_forgets(const char *name);
/* The functions without a body that a call through a pointer may enter. */
void pt_cf_bodyless(struct pt_cf *cf, uint32_t context, LLVMValueRef call, uint32_t **ret_functions,
                    uint32_t *ret_count);
/* The functions a call may enter, as objects; PT_CF_ANYTHING expands to all escaped ones of a fitting type. */
void pt_cf_callees(struct pt_cf *cf, uint32_t context, LLVMValueRef call, uint32_t **ret_functions,
                   uint32_t *ret_count);
bool pt_cf_manages_threads(struct pt_cf *cf, LLVMValueRef function);

/* ---- fixpoint.c */
void pt_cf_solve(struct pt_cf *cf, LLVMValueRef main_function);
/* The context of a callee at a call; PT_NONE (and an error) on recursion. */
uint32_t pt_cf_enter(struct pt_cf *cf, uint32_t context, LLVMValueRef call, LLVMValueRef function);
/* The blocks that may come next: a known condition leaves one. */
unsigned pt_cf_successors(struct pt_cf *cf, uint32_t context, LLVMValueRef terminator, LLVMBasicBlockRef *ret_blocks);

/* ---- prepare.c: what happens without a call that says so, before anything else */
void pt_cf_prepare(struct pt_cf *cf, LLVMValueRef main_function);

/* ---- outside.c: what functions without source may run */
void pt_cf_outside(struct pt_cf *cf); /* once all values are known */
void pt_cf_unseen(struct pt_cf *cf);  /* once the program is built: says which blocks are not in it */

/* ---- cfront.c */
struct pt_source_place pt_cf_place(struct pt_cf *cf, LLVMValueRef inst);
void pt_cf_fail(struct pt_cf *cf, LLVMValueRef inst, const char *fmt, ...) PT_PRINTF(3, 4);
/* Once for each place and text. */
void pt_cf_note(struct pt_cf *cf, LLVMValueRef inst, const char *fmt, ...) PT_PRINTF(3, 4);

#endif
