/*
 * The operations and what each of them is, made from the rows of core/ops.def. Whoever needs to know which operation
 * reads, writes or forks, what its object is or what it is called asks here; each answer is one look-up.
 */
#ifndef PT_CORE_OPS_H
#define PT_CORE_OPS_H

#include <stdbool.h>
#include <stdint.h>

/* The operations of a trace. PT_OP_COUNT: none. */
enum pt_op {
#define PT_OP(id, ...) PT_OP_##id,
#include "core/ops.def"
    PT_OP_COUNT
};

/* The name spaces of objects. PT_SPACE_COUNT: none. */
enum pt_space {
#define PT_SPACE(id) PT_SPACE_##id,
#include "core/ops.def"
    PT_SPACE_COUNT
};

/* What an operation does to its object, as the causal order sees it. */
enum pt_op_access {
    PT_ACCESS_NONE, /* nothing: it is internal to its thread */
    PT_ACCESS_READ,
    PT_ACCESS_WRITE,
    PT_ACCESS_UPDATE, /* both at once */
    PT_ACCESS_FORK,   /* the object is a thread, which begins */
    PT_ACCESS_JOIN    /* the object is a thread, which has ended */
};

enum pt_value_rule { PT_VALUE_NEVER, PT_VALUE_MAY, PT_VALUE_MUST };

/* What decentralised properties (core/mttl.h) take an event for, and what its name is then. */
enum pt_mttl_what {
    PT_MTTL_OTHER,  /* an event that no atom speaks of; always fine for events with name == PT_MTTL_NONE */
    PT_MTTL_READ,   /* name: variable of the block */
    PT_MTTL_WRITE,  /* name: variable */
    PT_MTTL_UPDATE, /* name: variable; reads and writes at once, always atomic */
    PT_MTTL_USER,   /* name: user event */
    PT_MTTL_ENTER,  /* name: atomic block */
    PT_MTTL_LEAVE,  /* name: atomic block */
};

struct pt_op_row {
    const char *word;
    uint8_t space;  /* enum pt_space */
    uint8_t access; /* enum pt_op_access */
    uint8_t value;  /* enum pt_value_rule */
    uint8_t mttl;   /* enum pt_mttl_what */
    bool has_thread;
};
extern const struct pt_op_row pt_op_rows[PT_OP_COUNT + 1]; /* the last is PT_OP_COUNT, which does nothing */

/* The word of the text form ("w", "acq", ...). */
static inline const char *pt_op_word(enum pt_op op)
{
    return pt_op_rows[op].word;
}

/* The name space of the operation's object; PT_SPACE_COUNT: it has none. */
static inline enum pt_space pt_op_space(enum pt_op op)
{
    return (enum pt_space)pt_op_rows[op].space;
}

static inline bool pt_op_has_object(enum pt_op op)
{
    return pt_op_rows[op].space != PT_SPACE_COUNT;
}

static inline bool pt_op_has_thread(enum pt_op op)
{
    return pt_op_rows[op].has_thread;
}

static inline enum pt_value_rule pt_op_value_rule(enum pt_op op)
{
    return (enum pt_value_rule)pt_op_rows[op].value;
}

static inline enum pt_op_access pt_op_access(enum pt_op op)
{
    return (enum pt_op_access)pt_op_rows[op].access;
}

/* Of a variable, a lock, or another object that threads share; an update does both. */
static inline bool pt_op_reads(enum pt_op op)
{
    return pt_op_access(op) == PT_ACCESS_READ || pt_op_access(op) == PT_ACCESS_UPDATE;
}

static inline bool pt_op_writes(enum pt_op op)
{
    return pt_op_access(op) == PT_ACCESS_WRITE || pt_op_access(op) == PT_ACCESS_UPDATE;
}

/* Reads or writes: two such operations on one object, one of which writes, are ordered. */
static inline bool pt_op_accesses(enum pt_op op)
{
    return pt_op_reads(op) || pt_op_writes(op);
}

/* A write, as properties understand it: of a variable, by a plain store or an atomic update. */
static inline bool pt_op_writes_var(enum pt_op op)
{
    return pt_op_writes(op) && pt_op_space(op) == PT_SPACE_VAR;
}

/* The object is another thread, which this operation starts or has waited for. */
static inline bool pt_op_is_of_thread(enum pt_op op)
{
    return pt_op_access(op) == PT_ACCESS_FORK || pt_op_access(op) == PT_ACCESS_JOIN;
}

static inline enum pt_mttl_what pt_op_mttl(enum pt_op op)
{
    return (enum pt_mttl_what)pt_op_rows[op].mttl;
}

#endif
