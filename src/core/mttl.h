/*
 * Decentralised properties (MtTL, the DAME paper) in compiled form, and their evaluator. Two users run the same code:
 * the offline engine (engine/knowledge.c) and the runtime inside the monitored process. Hence no allocation, no lock,
 * no library but memcpy and memcmp: memory is the caller's, a step touches only the stepping thread's own memory and
 * immutable blocks.
 *
 * WORDS
 *   slot     a thread as the evaluator counts them. Slots [0, named) are the threads that the properties name, whether
 *            they ever start or not, in the order of the block's table; the caller gives every other thread the next
 *            free slot when it first hears of it (its fork or first event). Slots are never reused.
 *   state    of a thread: 0 before its first event, k after its k-th. Every event of a thread makes one state.
 *   unit     a subformula that a thread keeps up to date: a past operator (one byte per thread), an *export* (what some
 *            @t(...) asks of thread t: the value t computes in each of its states), or a whole property. Units are
 *            ordered operands first; exports may ask for other threads' exports, so @j @i x is two exports.
 *   params   a unit may mention threads by variables bound further out (`@j @i x`: j exports `@i x` for every i). It
 *            then has one value for each tuple of slots, at most PT_MTTL_PARAMS variables wide.
 *   entry    one thread's exported values at one of its states, with a version: immutable once other threads see it.
 *   known    of a thread: by slot, the newest entry it has heard of; NULL where it knows nothing of that thread.
 *
 * KNOWLEDGE is the caller's to carry (the paper's KV_i, KV_x^a, KV_x^w), because the two users carry it differently. It
 * consists of two parts.
 *
 *   - For each slot: NULL, or an entry. Only slots for which pt_mttl_tracks() holds need one. An entry replaces another
 *     of its slot iff its version is larger; NULL is less than every entry. The entry of version 0 is the one that the
 *     step of state 0 fills; it says only "this thread is known": its fork or one of its events is in the causal past.
 *   - For each variable of the block: (number of writes so far, value); the larger number wins. Where no write is in
 *     the causal past: (0, initial value).
 *
 * A thread's version grows by one at exactly those of its states whose exported values differ from its last entry's
 * (PT_MTTL_EXPORTED). So an access between threads that have nothing new to say joins equal entries.
 *
 * ONE EVENT of thread i, in this order (steps 1 to 3 of the KNOWLEDGEVECTOR algorithm; contract, sections 2 and 8):
 *
 *   1. Take knowledge in: a read (also racq, rrel) joins the object's write knowledge; a write (w, u, acq, rel, wait,
 *      notify, sync) its access knowledge; join(t) what t knew after its last event, or its fork if it had none;
 *      the first event of a forked thread what its parent knew after the fork. fork(t) makes t known to the parent
 *      (version 0). A write of a variable of the block sets its pair to (writes + 1, value). int(v) sets the local v.
 *      From its first event on a thread is known to itself: its own entry is then never NULL.
 *   2. pt_mttl_step() (or skip it, see below).
 *   3. If the step says PT_MTTL_EXPORTED: the entry it filled becomes i's newest one, with the next version.
 *   4. Give knowledge out: a read joins i's into the object's access knowledge; a write replaces the object's access
 *      and write knowledge by i's; fork(t) leaves a copy of it for t's first event.
 *
 * State 0 is a pt_mttl_step() with event PT_MTTL_OTHER, initial values and known all NULL, before the thread's first
 * event; for threads that are forked and never act, too, and for named threads that never appear.
 *
 * WHAT A STEP NEEDS (struct pt_mttl_view)
 *   values   of every variable of the block as thread i sees it: the last value that i set by portent_internal under
 *            that name, from its first int() on; before that, and for other threads, the value of the *newest write in
 *            i's causal past*, that is, the value of the pair above; not what memory holds. PT_VALUE_UNKNOWN where a
 *            write's value is not given.
 *   event    what the event is: see struct pt_mttl_event.
 *   known    as above.
 *
 * WHEN A STEP MAY BE SKIPPED. If the last step of the thread returned PT_MTTL_STABLE, and since then no entry or value
 * it sees has changed (no entry became non-NULL either), and neither the last *stepped* event nor this one is marked
 * (see struct pt_mttl_event), then this step would give the same verdicts, export nothing and leave the memory as it
 * is. The caller then only counts the state; if the last verdict was a violation, the skipped state is one too.
 * (`previously`, `start` and `end` are why one quiet step may not be enough: the first one after a change still moves
 * their bits and so is not stable.)
 *
 * WHAT A STEP MAY LEAVE OUT. Where `changed` of the view is not PT_MTTL_ALL, the step may take for granted that, since
 * the thread's last step: `next` and `verdicts` are as that step left them; the cap is the same; if that step exported,
 * its entry is known[self] now; and of values and entries only those differ that `changed` names. An entry differs when
 * another pointer stands for it, a value when its bytes do: a string of the same text at another place counts, because
 * `next` points to it. The event is always looked at, and what the last one was is remembered. The result is what
 * PT_MTTL_ALL would give, in every flag, verdict, cell and bit.
 */
#ifndef PT_CORE_MTTL_H
#define PT_CORE_MTTL_H

#include <stddef.h>

#include "core/code.h"
#include "core/ops.h"

/* --- the block: read-only, offsets instead of pointers, the same bytes in a file, a tool or a process --- */

#define PT_MTTL_MAGIC "PTMTTL1"
enum {
    PT_MTTL_VERSION = 2,
    PT_MTTL_PARAMS = 3,    /* thread variables that one unit may take from outside */
    PT_MTTL_ENV = 12,      /* thread variables in one unit: params and quantifiers */
    PT_MTTL_OPERANDS = 64, /* of one comparison */
    PT_MTTL_STACK = 64,    /* `<->` inside each other: one bit each */
    PT_MTTL_NAMED = 1024,  /* threads named */
    PT_MTTL_MAX_UNITS = 1 << 16,
};
#define PT_MTTL_NONE UINT32_MAX
/* Any thread: units of `at each`, and of @j for a variable j. */
#define PT_MTTL_ANY UINT32_MAX
/* Thread references in the tables below: a named thread's slot, or one of these. */
#define PT_MTTL_SELF UINT32_MAX  /* the thread that evaluates */
#define PT_MTTL_ENV0 0x80000000U /* + k: the k-th thread variable of the unit (params first) */

/* Where a table stands: byte offset from the start of the block, and number of elements. */
struct pt_mttl_table {
    uint32_t offset, count;
};

struct pt_mttl {
    char magic[8]; /* PT_MTTL_MAGIC */
    uint32_t version;
    uint32_t bytes; /* of the whole block; a multiple of 8 */
    uint32_t flags; /* enum pt_mttl_flag */
    uint32_t pad;
    struct pt_mttl_table strings;         /* char; a string is its offset in here, NUL-terminated */
    struct pt_mttl_table threads;         /* struct pt_mttl_name; its index is its slot */
    struct pt_mttl_table vars;            /* struct pt_mttl_name */
    struct pt_mttl_table events;          /* struct pt_mttl_name; user events */
    struct pt_mttl_table blocks;          /* struct pt_mttl_name; atomic blocks */
    struct pt_mttl_table properties;      /* struct pt_mttl_property */
    struct pt_mttl_table units;           /* struct pt_mttl_unit */
    struct pt_mttl_table ops;             /* struct pt_mttl_op: programs of all units */
    struct pt_mttl_table loops;           /* struct pt_mttl_loop */
    struct pt_mttl_table lookups;         /* struct pt_mttl_lookup */
    struct pt_mttl_table atoms;           /* struct pt_mttl_atom */
    struct pt_mttl_table insns;           /* struct pt_insn: code of all atoms; operands only by PT_CODE_VAR */
    struct pt_mttl_table operands;        /* struct pt_mttl_operand */
    struct pt_mttl_table constants;       /* struct pt_mttl_constant */
    uint32_t past[PT_MTTL_PARAMS + 1];    /* how many past operators have 0, 1, ... params */
    uint32_t exports[PT_MTTL_PARAMS + 1]; /* the same of exports */
};

enum pt_mttl_flag {
    PT_MTTL_THREADS = 2, /* quantifies over threads, or asks one by a variable: others know of every thread */
};

struct pt_mttl_name {
    uint32_t name;   /* as the property writes it */
    uint32_t target; /* what it stands for: `var NAME = target`, `thread NAME = target`; otherwise the same */
    uint32_t path;   /* of a variable: target without its file; otherwise the same */
    uint32_t uses;   /* of a variable: enum pt_mttl_use */
};

enum pt_mttl_use {
    PT_MTTL_USE_VALUE = 1,  /* its value matters: it needs a pair in the knowledge */
    PT_MTTL_USE_ACCESS = 2, /* read(x) or write(x) ask for its accesses */
};

struct pt_mttl_property {
    uint32_t name, text, file; /* strings */
    uint32_t line;
    uint32_t at;   /* slot, or PT_MTTL_ANY for `at each` */
    uint32_t unit; /* of kind PT_MTTL_PROPERTY */
};

/* Past operators first: pt_mttl_is_past. */
enum pt_mttl_kind {
#define PT_OPERATOR_PAST(name, ...) PT_MTTL_##name,
#include "core/operators.def"
    PT_MTTL_FORMULA, /* export: program a, a truth value */
    PT_MTTL_VALUE,   /* export: a is an atom, whose value it is */
    PT_MTTL_PROPERTY /* program a must be true */
};

struct pt_mttl_unit {
    uint32_t kind; /* enum pt_mttl_kind */
    uint32_t self; /* the slot that keeps it, or PT_MTTL_ANY */
    uint32_t params;
    uint32_t a, b;                       /* programs: index of their first op; b only for binary past operators */
    uint32_t before[PT_MTTL_PARAMS + 1]; /* of its sort (past or export), how many before it have 0, 1, ... params */
    uint32_t text;                       /* string */
};

/*
 * A program computes a truth value in an accumulator. Jumps go forward; `&&`, `||` and `->` stop when decided. `depth`:
 * truth values on the stack before the op; `loop`: 1 + the innermost quantifier around it. Both are only there to be
 * checked (pt_mttl_validate).
 */
struct pt_mttl_op {
    uint8_t op; /* enum pt_mttl_opcode */
    uint8_t depth;
    uint16_t loop;
    uint32_t arg;
};

enum pt_mttl_opcode {
    PT_MTTL_OP_END,    /* the accumulator is the program's value */
    PT_MTTL_OP_CONST,  /* arg: 0 or 1 */
    PT_MTTL_OP_ATOM,   /* arg: atom, of a truth value */
    PT_MTTL_OP_LOOKUP, /* arg: lookup of a past operator or of an exported formula */
    PT_MTTL_OP_EVENT,  /* arg: user event */
    PT_MTTL_OP_READ,   /* arg: variable; read or update */
    PT_MTTL_OP_WRITE,  /* arg: variable; write or update */
    PT_MTTL_OP_NOT,
    PT_MTTL_OP_IF_TRUE,  /* arg: where to go on when the accumulator is true */
    PT_MTTL_OP_IF_FALSE, /* arg: where to go on when it is false */
    PT_MTTL_OP_PUSH,
    PT_MTTL_OP_IFF,    /* pops, compares */
    PT_MTTL_OP_EXISTS, /* arg: loop; over the threads known, in the order of their slots */
    PT_MTTL_OP_FORALL, /* arg: loop */
    PT_MTTL_OP_NEXT,   /* arg: loop; the end of its body */
    PT_MTTL_OP_COUNT
};

struct pt_mttl_loop {
    uint32_t variable; /* of the unit: index into its environment */
    uint32_t except;   /* a thread reference, or PT_MTTL_NO_EXCEPTION */
    uint32_t from, to; /* its EXISTS or FORALL, and its NEXT */
    uint32_t outer;    /* `loop` of the op before it */
};
#define PT_MTTL_NO_EXCEPTION 0x7fffffffU

/* The value of a unit: in the thread itself (a past operator), or in the latest state known of a thread (an export). */
struct pt_mttl_lookup {
    uint32_t thread; /* reference; PT_MTTL_SELF for past operators */
    uint32_t unit;
    uint32_t args[PT_MTTL_PARAMS]; /* references, as many as the unit has params */
    uint32_t text;                 /* string: "@j(busy > 0)" */
};

/* The text of the lookup that atomic_block stands for; all others begin with '@'. A report says it of the thread that
 * broke the property: it "was disturbed by" the other's event. */
#define PT_MTTL_TEXT_DISTURBED "was disturbed by"

struct pt_mttl_atom {
    uint32_t insns, insn_count, depth;
    uint32_t operands, operand_count; /* PT_CODE_VAR k pushes operand k */
    uint32_t text;
};

enum pt_mttl_operand_kind {
    PT_MTTL_OPERAND_CONSTANT,
    PT_MTTL_OPERAND_VAR,
    PT_MTTL_OPERAND_LOOKUP, /* an export of kind PT_MTTL_VALUE */
    PT_MTTL_OPERAND_BLOCK,  /* which execution of an atomic block the thread is in: 1, 2, ...; 0 outside */
};

struct pt_mttl_operand {
    uint32_t kind, index;
};

struct pt_mttl_constant {
    uint32_t kind, len; /* as in struct pt_value */
    uint64_t bits;      /* a string's offset in strings */
};

/*
 * Whether these bytes are a block that is safe to evaluate. A block from a file is used only after this; whatever the
 * bytes, the check reads nothing outside them and terminates in time linear in them. `bytes` is 8-aligned.
 */
bool pt_mttl_validate(const void *bytes, size_t size);

static inline const char *pt_mttl_string(const struct pt_mttl *m, uint32_t offset)
{
    return (const char *)m + m->strings.offset + offset;
}
/* The tables' elements, by index: pt_mttl_at(m, vars, struct pt_mttl_name, 3)->name */
#define pt_mttl_at(m, table, type, index) ((const type *)((const char *)(m) + (m)->table.offset) + (index))

/* --- evaluating --- */

/* The event is *marked* if name != PT_MTTL_NONE. Only marked events need a step for their own sake. */
struct pt_mttl_event {
    uint32_t what; /* enum pt_mttl_what */
    uint32_t name; /* PT_MTTL_NONE: not one that the block mentions, or a variable without PT_MTTL_USE_ACCESS */
};

static inline bool pt_mttl_is_marked(const struct pt_mttl_event *event)
{
    return event->name != PT_MTTL_NONE;
}

/* What one thread exports: cells laid out by unit and by tuple of slots < cap. */
struct pt_mttl_entry {
    uint64_t version; /* 0: the values of state 0 */
    uint32_t slot;
    uint32_t cap;   /* slots that its tuples range over; larger ones were unheard of, and are like any such */
    uint32_t used;  /* slots handed out when it was made; used + PT_MTTL_PARAMS <= cap where units have params */
    uint64_t state; /* of its thread, in which these values came about */
    uint64_t place; /* the caller's: where that event stands */
    struct pt_value cells[];
};

/* What a thread remembers between its states. One byte per past operator (and tuple) behind it, then the blocks. */
struct pt_mttl_thread {
    uint32_t slot;
    uint32_t cap;  /* as in an entry */
    bool started;  /* state 0 has been stepped */
    bool whole;    /* the next step evaluates everything, whatever its caller says */
    bool moved;    /* the last step was not PT_MTTL_STABLE */
    bool marked;   /* the last step's event was marked */
    uint8_t fault; /* enum pt_code_result of the last past operator's operand that failed, and where: */
    uint32_t fault_atom;
    uint64_t bytes[];
};

/* State 0 of every thread: what is known of a thread of which nothing is known. */
struct pt_mttl_initial {
    uint32_t cap; /* slots tabulated: the named threads, and enough nameless ones to stand for all others */
    uint64_t entry_bytes;
    const struct pt_mttl_plan *plan; /* what was found out about the block, behind the entries */
    uint64_t entries[];              /* cap times struct pt_mttl_entry, entry_bytes apart */
};

struct pt_mttl_view {
    uint32_t self; /* slot */
    struct pt_mttl_event event;
    const struct pt_value *values;            /* by variable of the block */
    const struct pt_mttl_entry *const *known; /* by slot */
    uint32_t known_count;                     /* slots from here on: NULL */
    uint32_t used;                            /* slots handed out so far, by anyone; read after the knowledge */
    const struct pt_mttl_initial *initial;
    uint64_t changed; /* what may differ from what the thread's last step saw: see WHAT A STEP MAY LEAVE OUT */
};

#define PT_MTTL_ALL   UINT64_MAX          /* always right */
#define PT_MTTL_HEARD (UINT64_C(1) << 63) /* some other thread's entry, or known_count or used */

/* A variable's value: bits 0 to 61; the variables beyond share bit 62. */
static inline uint64_t pt_mttl_changed_var(uint32_t var)
{
    return UINT64_C(1) << (var < 62 ? var : 62);
}

enum pt_mttl_verdict_kind { PT_MTTL_HOLDS, PT_MTTL_VIOLATED, PT_MTTL_FAILED, PT_MTTL_NOT_HERE };

struct pt_mttl_verdict {
    uint8_t kind;   /* enum pt_mttl_verdict_kind; NOT_HERE: the property is not about this thread */
    uint8_t result; /* FAILED: enum pt_code_result ... */
    uint32_t atom;  /* ... and the atom that has no value, or PT_MTTL_NONE */
};

enum pt_mttl_step_flag {
    PT_MTTL_EXPORTED = 1, /* the values in `next` differ from the thread's last entry (or from state 0) */
    PT_MTTL_STABLE = 2,   /* the same inputs again would change nothing */
    PT_MTTL_BROKEN = 4,   /* some verdict is VIOLATED or FAILED */
};

/* Whether a thread keeps units at all (otherwise it need not be stepped), and whether others can ask about it. */
bool pt_mttl_steps(const struct pt_mttl *m, uint32_t slot);
bool pt_mttl_tracks(const struct pt_mttl *m, uint32_t slot);

/*
 * The least cap for `used` slots: used + PT_MTTL_PARAMS if some unit has params, else 0: then nothing depends on the
 * number of threads. Larger ones are fine and save growing. Sizes in bytes; SIZE_MAX when it would be absurd (> 1 GiB).
 */
uint32_t pt_mttl_least_cap(const struct pt_mttl *m, uint32_t used);
size_t pt_mttl_entry_size(const struct pt_mttl *m, uint32_t cap);
size_t pt_mttl_thread_size(const struct pt_mttl *m, uint32_t cap);
size_t pt_mttl_initial_size(const struct pt_mttl *m);
size_t pt_mttl_scratch_size(const struct pt_mttl *m);

/*
 * `values`: initial values of the block's variables; `scratch` holds pt_mttl_scratch_size(m) and is not kept. What is
 * filled has pointers into itself and into the block: neither may move while it is used.
 */
void pt_mttl_initial_fill(const struct pt_mttl *m, const struct pt_value *values, void *scratch,
                          struct pt_mttl_initial *ret_initial);
/* A thread before state 0, in pt_mttl_thread_size(m, cap) bytes. */
void pt_mttl_thread_init(const struct pt_mttl *m, struct pt_mttl_thread *thread, uint32_t slot, uint32_t cap);
/*
 * Copies `from` into larger memory: needed before a step once pt_mttl_least_cap(m, view->used) > thread->cap, at every
 * slot that is handed out or, with some cap in reserve, now and then. Bits of tuples with new slots are those of a
 * thread never heard of, which is why the cap is larger than the number of slots.
 */
void pt_mttl_thread_grow(const struct pt_mttl *m, const struct pt_mttl_thread *from, struct pt_mttl_thread *to,
                         uint32_t cap);

/*
 * One state. `next` has room for pt_mttl_entry_size(m, thread->cap) and is filled (slot, cap, used, cells) for threads
 * that export; the caller sets version, state and place if it keeps it. `verdicts`: one per property. Returns enum
 * pt_mttl_step_flag. Before the first call, thread is as pt_mttl_thread_init left it: that call is state 0.
 */
unsigned pt_mttl_step(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                      struct pt_mttl_entry *next, struct pt_mttl_verdict *verdicts);

/*
 * After a step, with the same arguments: runs a property's own program once more and reports each @t(...) it looks at,
 * in order: the lookup's index, the slot, the entry it came from (NULL: nothing known, state 0) and the value (an
 * exported formula's is a PT_VALUE_BOOL). For reports.
 */
typedef void (*pt_mttl_seen)(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                             struct pt_value value);
void pt_mttl_explain(const struct pt_mttl *m, const struct pt_mttl_view *view, struct pt_mttl_thread *thread,
                     struct pt_mttl_entry *next, uint32_t property, pt_mttl_seen seen, void *context);

/* After a step, of a value that pt_mttl_explain reports: the atomic block of the thread that whoever has this value has
 * disturbed, since he knows of the execution that the thread is in; NULL: none, or the lookup asks for something else.
 */
const char *pt_mttl_disturbed(const struct pt_mttl *m, struct pt_mttl_thread *thread, uint32_t lookup,
                              struct pt_value value);
/* Whether the lookup is one that atomic_block stands for. */
static inline bool pt_mttl_is_for_finding(const struct pt_mttl *m, uint32_t lookup)
{
    const char *text = pt_mttl_string(m, pt_mttl_at(m, lookups, struct pt_mttl_lookup, lookup)->text);
    return text[0] && text[0] != '@'; /* a past operator has none */
}
/* Of what these ask, only what decided is shown: who has disturbed a block. Of others, all. */
bool pt_mttl_is_worth_reporting(const struct pt_mttl *m, struct pt_mttl_thread *thread, uint32_t lookup,
                                struct pt_value value);

/* Whether the value of a variable plays a part in a property. `marks`: one byte per unit of the block, for its use. */
bool pt_mttl_mentions(const struct pt_mttl *m, uint32_t property, uint32_t var, uint8_t *marks);

#endif
