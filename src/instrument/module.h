/* The parts of the rewriting, and what they share while they work on one module. */
#ifndef PT_INSTRUMENT_MODULE_H
#define PT_INSTRUMENT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/table.h"
#include "core/sync.h"
#include "instrument/orders.h"

enum pt_access_kind {
    PT_ACCESS_NONE,
    PT_ACCESS_LOAD,
    PT_ACCESS_STORE,
    PT_ACCESS_RMW,
    PT_ACCESS_CAS,
    PT_ACCESS_FENCE,
    PT_ACCESS_COPY,           /* memcpy, memmove: intrinsic or library call */
    PT_ACCESS_FILL,           /* memset */
    PT_ACCESS_STRING,         /* strcpy and its kin */
    PT_ACCESS_FORMAT,         /* snprintf and its kin */
    PT_ACCESS_LIBRARY_STORE,  /* a call that releases its pointer's object, atomically: __cxa_guard_release */
    PT_ACCESS_LIBRARY_LOAD,   /* a call that acquires it: __cxa_guard_acquire */
    PT_ACCESS_LIBRARY_ATOMIC, /* of libatomic */
    PT_ACCESS_LIBRARY_READ,   /* strlen and others that only read */
    PT_ACCESS_CALL,           /* no access: a call that synchronises */
    PT_ACCESS_ALLOCATION,     /* no access: a call that returns memory of its own */
};

/* When the accesses of a function are replaced (optimize.c). */
enum pt_phase {
    PT_PHASE_ONLY,   /* all at once */
    PT_PHASE_BEFORE, /* before the optimiser: calls of library functions that it could put others in place of */
    PT_PHASE_AFTER,  /* after it: the others */
};

struct pt_hooked_access {
    LLVMValueRef inst;
    enum pt_access_kind kind;
    /* Operand numbers rather than values: an address may come from a load that is itself replaced. PT_NONE: no such
     * operand. */
    unsigned address;              /* of what is written, or else read */
    unsigned size;                 /* in bytes, of integer type */
    unsigned bytes;                /* where the size is not an operand; of LIBRARY_READ enum pt_read_op */
    unsigned other;                /* of LIBRARY_READ: what it is compared with, or looks for */
    const struct pt_sync_row *row; /* of library functions: COPY, FILL, STRING, FORMAT, CALL */
    LLVMValueRef site, other_site; /* the latter of a wait's mutex, and of the source of a copy */
    bool is_peek;                  /* a load right before a store to the same memory, at the same site */
};

/* A variable of the program that lives at a value, or is that value with `added` bytes more. */
struct pt_noted_local {
    LLVMMetadataRef variable;
    uint64_t added;
};

struct pt_module {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMTypeRef i8, i32, i64, byte_pointer;
    unsigned kind_dbg, kind_tbaa, kind_invariant, kind_name, kind_other_name; /* metadata kinds */
    enum pt_phase phase;
    struct pt_map64 kept_arguments; /* what kept.c knows of them */
    unsigned kept_depth;            /* while that is being found out: how many calls deep, from 1 on */
    LLVMValueRef asked;             /* what stands for the module's struct pt_asked (looks.c); NULL: nobody asks */
    struct pt_looks *looks;         /* what its stretches tell, if there is one */
    struct pt_map64 mentioned;      /* scopes of debug information that code still has (apart.c) */
    struct pt_map64 opted_out;      /* debug information of functions that are left alone, inlined as well */
    struct pt_strtab strings;       /* texts in sites; string_values[id] points to the constant */
    LLVMValueRef *string_values;
    size_t string_cap;
    struct pt_strtab sites; /* printed sites; site_values[id] */
    LLVMValueRef *site_values;
    size_t site_cap;
    /* Of the function at hand: */
    struct pt_map64 private_memory; /* allocas and by-value arguments, to what private.c knows of them */
    struct pt_escape *escapes;
    size_t escape_count, escape_cap, private_steps;
    struct pt_map64 positions; /* instructions in their blocks, if `numbered` */
    bool numbered, returns_twice;
    struct pt_map64 local_variables; /* values to indices of debug_variables */
    struct pt_noted_local *debug_variables;
    LLVMMetadataRef no_expression; /* DIExpression(); NULL until asked for */
    size_t debug_variable_count, debug_variable_cap;
    bool left_alone;        /* but for what was inlined into it */
    bool has_locals;        /* in memory: hooks may be given their address */
    LLVMBasicBlockRef twin; /* its first block, NULL: there is none */
    struct pt_hooked_access *accesses;
    size_t access_count, access_cap;
};

static inline uint64_t pt_key(LLVMValueRef value)
{
    return (uint64_t)(uintptr_t)value;
}

/* The operand of an argument in core/sync.h; PT_NONE: there is none. */
static inline unsigned pt_operand(unsigned argument)
{
    return argument == 0 ? PT_NONE : argument - 1;
}

/* calls.c: the row of a library function that is more than a call here, and what it is; else NULL. A function that the
 * module defines is the program's own. */
const struct pt_sync_row *pt_library_function(LLVMValueRef function, enum pt_access_kind *ret_kind);
/* Does the runtime stand in for it, or for what it calls in the C++ library? */
bool pt_synchronises(LLVMValueRef function);

/* private.c: before the first question about a function, and after it has been changed. */
void pt_forget_private(struct pt_module *m);
/* Is it, at an instruction, memory of this call alone? */
bool pt_is_private(struct pt_module *m, LLVMValueRef object, LLVMValueRef inst);
bool pt_is_by_value(LLVMValueRef function, unsigned parameter);
/* Visits the uses that let the address out of sight, or one that is derived of it, until a visit says no. False: one
 * has, or there is a use outside of all instructions. */
bool pt_each_escape(struct pt_module *m, LLVMValueRef object, bool (*visit)(struct pt_module *, LLVMValueRef, void *),
                    void *context);

/* kept.c: finds out which arguments the functions keep to themselves, for the module as it is; and what was found. */
void pt_find_kept(struct pt_module *m);
bool pt_is_kept(struct pt_module *m, LLVMValueRef function, unsigned parameter);

/* access.c: fills m->accesses (without sites) for one function. */
void pt_find_accesses(struct pt_module *m, LLVMValueRef function);
/* The way from an object to an address inside it. */
struct pt_way {
    int64_t offset;                    /* in bytes, unknown indices taken as 0 */
    uint64_t unknown_min, unknown_max; /* sizes of the elements with unknown indices; 0, 0: there are none */
};
/* The object a pointer points into, through GEPs and casts. `ret_way` may be NULL; if not, a value that is a named
   local ends the way. */
LLVMValueRef pt_base_of(struct pt_module *m, LLVMValueRef pointer, struct pt_way *ret_way);

/* An address as the processor has it: base + offset + index * scale. Without an index it is NULL, and the scale 0. */
struct pt_address {
    LLVMValueRef base, index; /* a pointer, and an integer of 64 bits */
    int32_t offset;
    uint32_t scale;
};
struct pt_address pt_address_of(struct pt_module *m, LLVMValueRef pointer);

/* May another thread reach this memory, which an instruction of the function at hand accesses? */
bool pt_may_be_shared(struct pt_module *m, LLVMValueRef address, LLVMValueRef inst);

/* libatomic.c: the access of a call of libatomic; false: it is none. */
/* reads.c: what a call of a library function reads that writes no memory; how many accesses that are. */
unsigned pt_find_reads(LLVMValueRef call, struct pt_hooked_access ret_accesses[2]);
bool pt_find_libatomic(LLVMValueRef call, struct pt_hooked_access *ret_access);
/* Makes such calls access no other shared memory than their object. Before the accesses of the function are found. */
void pt_separate_libatomic(struct pt_module *m, LLVMValueRef function);
/* The builder stands before the call. */
void pt_bracket_libatomic(struct pt_module *m, const struct pt_hooked_access *access, LLVMValueRef size);

/* stores.c: no pass that runs between these two deletes, merges or moves a store, nor, unless `all`, one to memory that
 * may be shared. */
void pt_protect_stores(struct pt_module *m, bool all);
void pt_unprotect_stores(struct pt_module *m);

/* optimize.c: runs passes over the module. */
enum pt_status pt_run_passes(LLVMModuleRef module, const char *passes, struct pt_err *err);
/* The pipeline of an optimisation level ("O2"), in such a way that each access that is left is one of the program. */
enum pt_status pt_optimize(struct pt_module *m, const struct pt_orders *how, const struct pt_strtab *opt_outs,
                           struct pt_err *err);
/* Is it to be instrumented after that? */
bool pt_is_chosen(LLVMValueRef function);

/* rewrite.c: replaces the accesses of a function that the phase is for. */
void pt_rewrite_function(struct pt_module *m, LLVMValueRef function);
bool pt_has_attribute(LLVMValueRef function, const char *name);
void pt_set_call_attribute(LLVMContextRef context, LLVMValueRef call, const char *name);

struct pt_place {
    const char *file; /* `len` characters */
    unsigned len, line, column;
};

/* names.c: the debug information of one function's locals, and the name of what an access touches. */
void pt_find_locals(struct pt_module *m, LLVMValueRef function);
void pt_name_access(struct pt_module *m, const struct pt_hooked_access *access, struct pt_buf *name);
/* Some have two: of a wait the mutex, of a copy its source. */
bool pt_has_other(const struct pt_hooked_access *access);
void pt_name_other(struct pt_module *m, const struct pt_hooked_access *access, struct pt_buf *name);
/* The metadata in which an access or its other has its name. */
unsigned pt_kind_of_name(const struct pt_module *m, const struct pt_hooked_access *access, bool other);
void pt_name_function(struct pt_module *m, LLVMValueRef function, struct pt_buf *name);
/* The function that a scope of debug information is, or is inside of; false: it has no name. */
LLVMMetadataRef pt_function_scope(struct pt_module *m, LLVMMetadataRef scope);
bool pt_name_scope(struct pt_module *m, LLVMMetadataRef scope, struct pt_buf *name);
/* A letter for each argument in the source, at most so many (core/functions.h); returns the number of the first one's
 * parameter. */
unsigned pt_parameter_kinds(struct pt_module *m, LLVMValueRef function, char *kinds, unsigned most);
/* Writes the names of all accesses of a function into their metadata; reads one back: false when there is none. */
void pt_note_names(struct pt_module *m, LLVMValueRef function);
/* The place that was noted with it; it stays as it is if there is none. */
void pt_noted_place(struct pt_module *m, LLVMValueRef inst, struct pt_place *place);
bool pt_noted_name(LLVMValueRef inst, unsigned kind, struct pt_buf *name);
/* `size` bytes at `offset` of a global, or of a local of the function pt_find_locals saw last. */
void pt_name_object(struct pt_module *m, LLVMValueRef object, int64_t offset, uint64_t size, struct pt_buf *name);

/* sites.c: is this code of a library that stands where it is used? */
bool pt_is_library_scope(LLVMMetadataRef scope);
/* Is it from a function that is left alone? It may have been inlined into one that is not, and the other way round. */
bool pt_is_opted_out(struct pt_module *m, LLVMValueRef inst);
/* A pointer to the constant struct pt_site of an instruction. */
LLVMValueRef pt_site_of(struct pt_module *m, LLVMValueRef inst, const char *function, const char *variable);

/* The same of where a function is defined; and a pointer to a constant text. */
LLVMValueRef pt_site_of_function(struct pt_module *m, LLVMValueRef function);
LLVMValueRef pt_text_constant(struct pt_module *m, const char *text, size_t len);

/* frames.c: must it stay a tail call? */
bool pt_is_musttail(LLVMValueRef call);
bool pt_is_coroutine(LLVMValueRef function);
/* Where a function begins, for debug information; NULL if it has none. */
LLVMMetadataRef pt_place_of_entry(struct pt_module *m, LLVMValueRef function);
LLVMMetadataRef pt_place_before_body(struct pt_module *m, LLVMValueRef function);
/* The stack of calls and the address of its depth, as frames.c speaks of them; NULL: the module has none. */
LLVMValueRef pt_stack_of_calls(struct pt_module *m, LLVMValueRef *ret_depth_at);
/* Where the builder stands: the object of the call that comes next, and its place (core/calls.h). */
void pt_store_call(struct pt_module *m, LLVMValueRef object, LLVMValueRef site);
/* Stores the calls that a function makes (core/calls.h); false: it makes none of interest. Before the first access is
 * replaced. */
bool pt_add_frames(struct pt_module *m, LLVMValueRef function, const char *function_name);

/* containers.c: puts definitions of what the module calls of libstdc++'s lists and trees into it. First of all. */
enum pt_status pt_link_containers(LLVMContextRef context, LLVMModuleRef module, struct pt_err *err) PT_WARN_UNUSED;

/* functions.c: makes calls and returns of functions events, before anything is optimised; is it such an event, or
 * something that is computed for one alone? Last of all, the tests whether anybody wants them. */
void pt_add_function_events(struct pt_module *m, const struct pt_strtab *opt_outs);
bool pt_is_event(LLVMValueRef inst);
bool pt_is_for_event(LLVMValueRef value);
void pt_test_function_events(struct pt_module *m);
/* twins.c: gives a function a second body, to be run where nobody looks at plain accesses. After their sites are known,
 * before the first of them is replaced. */
void pt_add_twin(struct pt_module *m, LLVMValueRef function);
/* What stands before the instruction becomes a block of its own, without an end; phis behind the old one know that one.
 */
LLVMBasicBlockRef pt_split_before(struct pt_module *m, LLVMValueRef inst);

/* looks.c: what all questions of the module's twins look at, once there are no more; before what nobody uses is
 * deleted, for it uses what it speaks of. And after that, a destructor for it. */
void pt_end_stretches(struct pt_module *m);
void pt_leave_stretches(struct pt_module *m);

/* apart.c: last of all, makes the body beside the twin a function of its own, with or without places. False: not this
 * one. */
bool pt_put_body_apart(struct pt_module *m, LLVMValueRef function, bool with_places);

/* looks.c: is an access looked at for itself alone? Others order what threads do, or say where memory comes from. */
bool pt_is_plain(const struct pt_hooked_access *access);

/* hooks.c: one that the module has already, as a function of this type; NULL: it has none. */
LLVMValueRef pt_find_hook(struct pt_module *m, const char *name, LLVMTypeRef type);
/* A call where the builder stands. */
LLVMValueRef pt_call_hook(struct pt_module *m, const char *name, LLVMTypeRef returns, LLVMValueRef *arguments,
                          unsigned count);
/* What the optimiser knows of a function it may put in another's place: sprintf becomes strcpy, which nobody would see
 * fill the buffer. Not in this call. */
void pt_keep_function(struct pt_module *m, LLVMValueRef call);
/* Replaces one access by calls. */
void pt_replace_access(struct pt_module *m, const struct pt_hooked_access *access);
/* Of a call in a twin; false: it is announced as in a body. */
bool pt_announce_in_place(struct pt_module *m, const struct pt_hooked_access *access);

/* The name of the function a call calls directly; "" otherwise. */
const char *pt_callee_name(LLVMValueRef call);

#endif
