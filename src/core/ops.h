/*
 * The operations and what each of them is, made from the rows of core/ops.def. Whoever needs to know which operation
 * reads, writes or forks, what its object is or what it is called asks here; each answer is one look-up.
 */
#ifndef PT_CORE_OPS_H
#define PT_CORE_OPS_H

#include <stdbool.h>
#include <stddef.h>
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

/* TEXT: it must, a string that is written as it is, without quotes. */
enum pt_value_rule { PT_VALUE_NEVER, PT_VALUE_MAY, PT_VALUE_MUST, PT_VALUE_TEXT };

/* C11's orders of atomic operations and fences, as the field m= gives them. NONE: not atomic. Numbers stand in binary
 * traces. */
enum pt_memory_order {
    PT_MEMORY_NONE,
    PT_MEMORY_RELAXED,
    PT_MEMORY_ACQUIRE,
    PT_MEMORY_RELEASE,
    PT_MEMORY_ACQ_REL,
    PT_MEMORY_SEQ_CST,
    PT_MEMORY_COUNT
};
extern const char *const pt_memory_words[PT_MEMORY_COUNT];

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

/* How a record of the channel gives the object of its event. */
enum pt_object_by {
    PT_BY_WATCH,   /* object: number of a watched variable; the value is its memory after the event */
    PT_BY_MEMORY,  /* memory that is not watched; the value is struct pt_access, then what was read or written */
    PT_BY_ADDRESS, /* the value is the struct pt_access of a synchronisation object */
    PT_BY_EXTENT,  /* the value is the struct pt_access of memory that begins or ends */
    PT_BY_THREAD,  /* object: number of a thread */
    PT_BY_INDEX,   /* object: index into the configuration's user events */
    PT_BY_NAME,    /* object: number of PT_RECORD_NAME; the value, if the operation has one, is an int64_t */
    PT_BY_NOTHING, /* the object goes without saying, or there is none */
};

/*
 * For each word of the column `channel`, the events by which the operation comes: PT_KIND(kind, operation, by). Memory
 * that properties name has a number, other memory an address; likewise user events, which have a name then.
 */
#define PT_CHANNEL_NONE(id)
#define PT_CHANNEL_ACCESS(id) PT_KIND(id, id, WATCH) PT_KIND(id##_AT, id, MEMORY)
#define PT_CHANNEL_OBJECT(id) PT_KIND(id, id, ADDRESS)
#define PT_CHANNEL_HEAP(id)   PT_KIND(id, id, EXTENT)
#define PT_CHANNEL_THREAD(id) PT_KIND(id, id, THREAD)
#define PT_CHANNEL_NAMED(id)  PT_KIND(id, id, NAME)
#define PT_CHANNEL_USER(id)   PT_KIND(USER, id, INDEX) PT_KIND(OTHER_USER, id, NAME)
#define PT_CHANNEL_ENDED(id)  PT_KIND(ENDED, id, NOTHING) /* the thread's last event: state(ended) */
#define PT_CHANNEL_FENCE(id)  PT_KIND(FENCE, id, NOTHING)

/* The events of the channel. PT_KIND_COUNT: none. */
enum pt_event_kind {
#define PT_KIND(kind, op, by)                                             PT_KIND_##kind,
#define PT_OP(id, word, space, access, value, thread, mttl, channel, ...) PT_CHANNEL_##channel(id)
#include "core/ops.def"
#undef PT_KIND
    PT_KIND_FREED, /* no event: this memory, given as in PT_BY_EXTENT, is other variables from here on */
    PT_KIND_NAMED, /* no event, in recordings alone: the program has named this memory (core/recording.h) */
    PT_KIND_COUNT
};

/* The events of the wire. */
#define PT_WIRE_ENUM_UNSENT()
#define PT_WIRE_ENUM_SENT(name, number) PT_WIRE_OP_##name = (number),
enum pt_wire_op {
#define PT_OP(id, word, space, access, value, thread, mttl, channel, wire, ...) PT_WIRE_ENUM_##wire(__VA_ARGS__)
#define PT_THREAD_STATE(name, number, object)                                   PT_WIRE_OP_##name = (number),
#include "core/ops.def"
};

struct pt_op_row {
    const char *word;
    uint8_t space;  /* enum pt_space */
    uint8_t access; /* enum pt_op_access */
    uint8_t value;  /* enum pt_value_rule */
    uint8_t mttl;   /* enum pt_mttl_what */
    uint8_t wire;   /* enum pt_wire_op; 0: it is not sent */
    bool has_thread;
};
struct pt_kind_row {
    uint8_t op; /* enum pt_op */
    uint8_t by; /* enum pt_object_by */
};
extern const struct pt_op_row pt_op_rows[PT_OP_COUNT + 1];       /* the last is PT_OP_COUNT, which does nothing */
extern const struct pt_kind_row pt_kind_rows[PT_KIND_COUNT + 1]; /* likewise */

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

/* May touch a part of its object only. */
static inline bool pt_op_may_be_partial(enum pt_op op)
{
    return pt_op_accesses(op) && pt_op_space(op) == PT_SPACE_VAR;
}

/* May carry an order: an access of a variable, which is atomic then; a fence, which must; and `sync`, of which it says
 * whether others learn from it (release), or it learns from others (acquire). Without one it is both. */
static inline bool pt_op_may_be_ordered(enum pt_op op)
{
    return op == PT_OP_FENCE || op == PT_OP_SYNC || pt_op_may_be_partial(op);
}

/* Takes or releases a lock, for itself or shared with other readers. */
static inline bool pt_op_locks(enum pt_op op)
{
    return op == PT_OP_ACQ || op == PT_OP_RACQ;
}

static inline bool pt_op_unlocks(enum pt_op op)
{
    return op == PT_OP_REL || op == PT_OP_RREL;
}

static inline bool pt_op_is_shared(enum pt_op op)
{
    return pt_op_space(op) == PT_SPACE_LOCK && pt_op_access(op) == PT_ACCESS_READ;
}

/* `state(trying)`: the next lock that the thread takes is one for which it would not have waited, or not for ever. */
#define PT_STATE_TRYING_NAME "trying"

/* The object is another thread, which this operation starts or has waited for. */
static inline bool pt_op_is_of_thread(enum pt_op op)
{
    return pt_op_access(op) == PT_ACCESS_FORK || pt_op_access(op) == PT_ACCESS_JOIN;
}

static inline enum pt_mttl_what pt_op_mttl(enum pt_op op)
{
    return (enum pt_mttl_what)pt_op_rows[op].mttl;
}

/* Of the channel: which operation an event is (PT_OP_COUNT: none), and how it gives the object. */
static inline enum pt_op pt_kind_op(unsigned kind)
{
    return (enum pt_op)pt_kind_rows[kind < PT_KIND_COUNT ? kind : PT_KIND_COUNT].op;
}

static inline enum pt_object_by pt_kind_by(unsigned kind)
{
    return (enum pt_object_by)pt_kind_rows[kind < PT_KIND_COUNT ? kind : PT_KIND_COUNT].by;
}

/* Of the wire: the number of an operation, and the operation of a number that was received. */
static inline uint8_t pt_op_wire(enum pt_op op)
{
    return pt_op_rows[op].wire;
}

/* PT_OP_COUNT: nothing. */
#define PT_WIRE_CASE_UNSENT(op)
#define PT_WIRE_CASE_SENT(op, name, number)                                                                            \
    case PT_WIRE_OP_##name:                                                                                            \
        return op;
static inline enum pt_op pt_wire_op(unsigned number)
{
    switch (number) {
#define PT_OP(id, word, space, access, value, thread, mttl, channel, wire, ...)                                        \
    PT_WIRE_CASE_##wire(PT_OP_##id, ##__VA_ARGS__)
#define PT_THREAD_STATE(name, number, object)                                                                          \
    case PT_WIRE_OP_##name:                                                                                            \
        return PT_OP_STATE;
#include "core/ops.def"
    default:
        return PT_OP_COUNT;
    }
}

/* The object, where the number alone says what it is; otherwise NULL. */
static inline const char *pt_wire_state(unsigned number)
{
    switch (number) {
#define PT_THREAD_STATE(name, number, object)                                                                          \
    case PT_WIRE_OP_##name:                                                                                            \
        return object;
#include "core/ops.def"
    default:
        return NULL;
    }
}

#endif
