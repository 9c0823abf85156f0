/*
 * What a built-in check found while a program runs, as bytes: written by the runtime, which prints it when nobody
 * observes, and read by the observer, which makes a finding of it. The items are those of core/local_report.h, a number
 * of 8 bytes or a text that ends with a NUL, in this order:
 *
 *   number check, number how, number key, text note, text object, number address, number size
 *   number of properties that forbid it (race_free), then each: its number, text its name
 *   number size of the heap block, 0: none; if there is one: number start, number thread, text thread, stack
 *   number of sides, then each: number thread, text thread, number kind, number flags, number address, number size,
 *       text variable, stack, number of locks, then each: text name, number address, frame; stack of its creation
 *
 * A frame is text function, text file, number line; a stack is the number of its frames, UINT64_MAX for one that is
 * lost, and the frames, innermost first. Nothing is aligned.
 *
 * Threads are counted from 1, which is main. Sides, as in contract section 4: of a race the earlier access and the
 * present one; of a lifetime the use (of a double free the second one) and the free. Of a deadlock there is a side for
 * each thread of the cycle, each waiting for a lock that the next one holds: what it wants is its address and variable,
 * where its stack, what it holds its locks.
 *
 * Names are those of the source; an observer finds better ones by the addresses (trace/places.h).
 */
#ifndef PT_CORE_FOUND_H
#define PT_CORE_FOUND_H

#include "core/local_report.h"
#include "core/site.h"

enum pt_found_check { PT_FOUND_RACE, PT_FOUND_DEADLOCK, PT_FOUND_LIFETIME, PT_FOUND_CHECKS };
/* Of deadlocks only those that happen: whether one is possible is asked of the recording, which knows more. */
#define PT_CHECKS_HAPPENING (UINT32_C(1) << 31)
enum pt_found_how { PT_FOUND_OBSERVED, PT_FOUND_PREDICTED };
enum { PT_FOUND_ATOMIC = 1 }; /* flags of a side */
enum {
    PT_FOUND_BYTES = 16000, /* the most that is reported: all of it, ... */
    PT_FOUND_FRAMES = 48,   /* ... calls of a stack; one more, "...", says that there were others, ... */
    PT_FOUND_SIDES = 16,    /* ... threads of a deadlock, ... */
    PT_FOUND_LOCKS = 32
}; /* ... and locks that a thread holds */
#define PT_FOUND_LOST UINT64_MAX

/* A property that forbids it; numbers count the race_free properties of the configuration. */
enum { PT_FOUND_PROPERTIES = 64 };
struct pt_found_property {
    uint64_t number;
    const char *name;
};

/* ---- writing ---- */

/* Sites, innermost first: the event's own, then those of the calls it is in. */
struct pt_found_stack {
    const struct pt_site *const *sites;
    uint32_t count;
    bool lost; /* the outer ones are; without any, all of it */
};

struct pt_found_lock {
    const char *name;
    uint64_t address;
    const struct pt_site *at; /* where it was locked; NULL: not known */
};

struct pt_found_side {
    uint64_t thread;
    const char *thread_name;
    uint32_t kind; /* enum pt_event_kind */
    uint32_t flags;
    uint64_t address, size;
    const char *variable; /* as the source calls it */
    struct pt_found_stack stack;
    const struct pt_found_lock *locks;
    uint32_t lock_count;
    struct pt_found_stack created; /* main: no sites */
};

/* Texts may be NULL, which is "". */
struct pt_found {
    enum pt_found_check check;
    enum pt_found_how how;
    uint64_t key;     /* the same finding again has the same one; never 0 */
    const char *note; /* "" or what it is more exactly: "double free", "lost wake-up" */
    const char *object;
    uint64_t address, size;
    const struct pt_found_property *properties;
    uint32_t property_count;
    struct {
        uint64_t size, start; /* size 0: no heap block */
        uint64_t thread;      /* that allocated it, 0: not known */
        const char *thread_name;
        struct pt_found_stack stack;
    } block;
    const struct pt_found_side *sides;
    uint32_t side_count;
};

/* What it is called, in the words of every report: "data race", "potential deadlock", "double free". */
const char *pt_found_title(enum pt_found_check check, enum pt_found_how how, const char *note);
/* Of a deadlock that the program predicts of itself. */
#define PT_FOUND_BY_LOCKS                                                                                              \
    "Only locks, and waits for threads, were looked at: what one thread has read of another may rule it out"

/* Returns the bytes written, 0 if they did not fit at all. Where they do not fit, stacks are shortened: outer calls are
 * left out first. */
size_t pt_found_write(const struct pt_found *found, char *bytes, size_t room);

/* ---- reading: each in its turn; whatever the bytes, texts end and counts are bounded by what is left ---- */

struct pt_found_frame {
    const char *function, *file; /* "" when unknown */
    uint64_t line;
};

struct pt_found_head {
    enum pt_found_check check;
    enum pt_found_how how;
    uint64_t key;
    const char *note, *object;
    uint64_t address, size;
    uint32_t property_count;
    struct pt_local_report_reader properties; /* from where they can be read, by pt_found_read_property */
    uint64_t block_size, block_start, block_thread;
    const char *block_thread_name;
};

/* The head, up to the stack of the block's allocation, which follows if block_size is not 0. */
struct pt_found_head pt_found_read_head(struct pt_local_report_reader *r);
struct pt_found_property pt_found_read_property(struct pt_local_report_reader *r);
/* Frames that follow; PT_FOUND_LOST: none, the stack is lost. */
uint64_t pt_found_read_stack(struct pt_local_report_reader *r);
struct pt_found_frame pt_found_read_frame(struct pt_local_report_reader *r);
/* Sides that follow, or locks; at most PT_FOUND_SIDES, PT_FOUND_LOCKS. */
uint32_t pt_found_read_sides(struct pt_local_report_reader *r);
uint32_t pt_found_read_locks(struct pt_local_report_reader *r);
/* A side up to its stack: sites, locks and `created` are not filled. */
struct pt_found_side pt_found_read_side(struct pt_local_report_reader *r);
/* A lock without its site; the frame where it was locked is *ret_at. */
struct pt_found_lock pt_found_read_lock(struct pt_local_report_reader *r, struct pt_found_frame *ret_at);
/* The same for who does not want them: a stack, locks with their number. */
void pt_found_skip_stack(struct pt_local_report_reader *r);
void pt_found_skip_locks(struct pt_local_report_reader *r);
/* Whether they can be read to their end. */
bool pt_found_is_whole(const char *bytes, size_t len);

#endif
