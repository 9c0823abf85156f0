/*
 * A multithreaded program as causal atomicity sees it: per thread a control-flow graph whose edges are the program's
 * steps, each with the shared objects it touches. Data is abstracted: every edge that leaves a node is possible. Both
 * front ends (SML text, C through LLVM) end here, and the Petri net begins here; nothing below knows where a program
 * came from.
 *
 * Plain data, owned by `arena`; ids are indices. Built with the functions below, which keep the arrays consistent.
 */
#ifndef PT_NET_PROGRAM_H
#define PT_NET_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum pt_step_kind {
    PT_STEP_PLAIN,   /* reads, then writes: an assignment, an outcome of a guard, an atomic access, a skip */
    PT_STEP_ACQUIRE, /* object: lock */
    PT_STEP_RELEASE, /* object: lock */
    PT_STEP_BEGIN,   /* object: block */
    PT_STEP_END,     /* object: block */
    PT_STEP_SPAWN,   /* object: the thread that starts with it (C only: threads of SML start marked) */
    PT_STEP_JOIN,    /* object: the thread that has to have ended; one join per thread */
};

struct pt_source_place {
    const char *file;
    uint32_t line, column; /* 0: unknown */
};

/* One edge of a thread's graph. Variables it reads and writes stand in program->accesses, reads first; a variable that
 * is both read and written stands among the writes only. */
struct pt_prog_step {
    uint8_t kind;
    uint32_t thread;
    uint32_t from, to; /* nodes of the thread */
    uint32_t object;   /* PT_NONE for PLAIN */
    uint32_t access_start;
    uint32_t read_count, write_count;
    const char *text; /* as a reader knows it: "Y := 5", "acquire(l)", "if (x < 3): false" */
    struct pt_source_place place;
};

struct pt_prog_thread {
    const char *name; /* as written, or "thread 2" */
    uint32_t start;   /* node */
    uint32_t stop;    /* node without leaving steps in which the thread has ended; PT_NONE: it never ends */
    uint32_t node_count, block_count;
    bool spawned; /* starts with a SPAWN step, not by itself */
    struct pt_source_place place;
};

struct pt_prog_block {
    uint32_t thread;
    uint32_t number;  /* within its thread, from 1, in source order */
    const char *name; /* NULL: none was given */
    struct pt_source_place place;
};

/* Where a front end had to be coarser than the program (C): an unknown index, a pointer that may point to globals. */
struct pt_prog_note {
    const char *text;
    struct pt_source_place place;
};

/* A function of which the front end knows nothing but its name. */
struct pt_prog_unknown {
    const char *name;
    bool runs; /* it may run functions of the program, or use what it was handed, at any later time, in any thread */
    struct pt_source_place place;
};

struct pt_program {
    struct pt_arena arena;
    const char *file;
    struct pt_prog_thread *threads;
    struct pt_prog_step *steps;
    struct pt_prog_block *blocks;
    const char **vars, **locks; /* names */
    uint32_t *accesses;         /* variables */
    struct pt_prog_note *notes;
    struct pt_prog_unknown *unknowns;
    uint32_t thread_count, step_count, block_count, var_count, lock_count, access_count, note_count, unknown_count;
    size_t thread_cap, step_cap, block_cap, var_cap, lock_cap, access_cap, note_cap, unknown_cap;
};

void pt_program_init(struct pt_program *program);
void pt_program_release(struct pt_program *program);
/* Each returns the id of what it adds; texts are copied. */
uint32_t pt_program_add_var(struct pt_program *program, const char *name);
uint32_t pt_program_add_lock(struct pt_program *program, const char *name);
uint32_t pt_program_add_thread(struct pt_program *program, const char *name, struct pt_source_place place);
uint32_t pt_program_add_node(struct pt_program *program, uint32_t thread);
uint32_t pt_program_add_block(struct pt_program *program, uint32_t thread, const char *name,
                              struct pt_source_place place);
void pt_program_add_note(struct pt_program *program, const char *text, struct pt_source_place place);
/* Once for each name; the first place counts. */
void pt_program_add_unknown(struct pt_program *program, const char *name, bool runs, struct pt_source_place place);
/* Duplicates in reads and writes, and reads of what is also written, are dropped. */
uint32_t pt_program_add_step(struct pt_program *program, const struct pt_prog_step *step, const uint32_t *reads,
                             uint32_t read_count, const uint32_t *writes, uint32_t write_count);

#endif
