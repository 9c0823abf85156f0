/*
 * What the rows of core/sync.def say, for everybody who asks by a function's name. Columns that only one part
 * understands (hook, model) are in that part's own table, which it makes of the same rows; PT_SYNC_ID_... is the index
 * in all of them.
 */
#ifndef PT_CORE_SYNC_H
#define PT_CORE_SYNC_H

#include <stdbool.h>
#include <stddef.h>

/* In the column `effect`: the function makes no event. */
#define PT_KIND_NONE PT_KIND_COUNT

enum pt_sync_wrapper { PT_SYNC_WRAPPER_NONE, PT_SYNC_WRAPPER_LIBC, PT_SYNC_WRAPPER_DYNAMIC, PT_SYNC_WRAPPER_OPENMP };
/* How it ends without success. */
enum pt_sync_patience { PT_SYNC_AT_ONCE, PT_SYNC_BLOCKS, PT_SYNC_TRIES, PT_SYNC_TIMED };
/* How much of the buffer it fills. */
enum pt_sync_extent {
    PT_SYNC_NOTHING,
    PT_SYNC_FIXED,
    PT_SYNC_SIZED,
    PT_SYNC_TEXT,
    PT_SYNC_APPENDED,
    PT_SYNC_RETURNED,
    PT_SYNC_VECTOR,
    PT_SYNC_EACH
};

enum { PT_SYNC_RESULT = 255 }; /* as a buffer: what the function returns */

/* Arguments are counted from 1; 0: there is none. */
struct pt_sync_row {
    const char *name;
    enum pt_sync_wrapper wrapper;
    unsigned effect; /* enum pt_event_kind, or PT_KIND_NONE */
    unsigned object; /* argument: a pointer to the object or memory, or a thread's handle */
    unsigned bytes;  /* of the object; 0: a thread, or memory */
    bool kernel;     /* the object is the kernel's */
    bool carried;    /* likewise, and carries something from one thread to another */
    bool joins;      /* the object is a std::thread, which begins with its handle */
    bool waits;      /* for a condition, with a mutex: */
    unsigned mutex;  /* argument; 0: in a std::unique_lock */
    unsigned function, argument;
    enum pt_sync_patience patience;
    int failure, success; /* results of what tries or has a time limit */
    unsigned buffer;      /* argument, or PT_SYNC_RESULT */
    enum pt_sync_extent extent;
    unsigned type;        /* bytes of what is FIXED */
    unsigned size, count; /* arguments */
    unsigned source, room;
    bool zeroed, moves, returns_end, intrinsic;
    int string; /* enum pt_string_op */
};

enum pt_sync_id {
#define PT_SYNC(name, ...) PT_SYNC_ID_##name,
#include "core/sync.def"
    PT_SYNC_ID_COUNT
};

extern const struct pt_sync_row pt_sync_rows[PT_SYNC_ID_COUNT];

/* The row of a function, or NULL; llvm.memcpy.p0.p0.i64 and the like have the row of what they stand for. */
const struct pt_sync_row *pt_sync_find(const char *name, size_t len);

/* Does it give up a lock? */
bool pt_sync_gives_back(const struct pt_sync_row *row);

static inline enum pt_sync_id pt_sync_id(const struct pt_sync_row *row)
{
    return (enum pt_sync_id)(row - pt_sync_rows);
}

/* May it return without having done it? */
static inline bool pt_sync_may_fail(const struct pt_sync_row *row)
{
    return row->patience == PT_SYNC_TRIES || row->patience == PT_SYNC_TIMED;
}

#endif
