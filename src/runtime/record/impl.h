/* What the files of this layer share. */
#ifndef PT_RUNTIME_RECORD_IMPL_H
#define PT_RUNTIME_RECORD_IMPL_H

#include <stdatomic.h>

#include "core/calls.h"
#include "core/recording.h"
#include "runtime/record/record.h"
#include "runtime/sys/sys.h"

enum {
    PT_RECORD_DEEP = PT_STACK_CALLS, /* calls of a stack, as many as definitions have */
    PT_RECORD_SLOTS = 2 * PT_REC_SHAPES,
    PT_RECORD_SITES = 512,  /* of whom a thread remembers the number, by a hash */
    PT_RECORD_STACKS = 512, /* likewise */
};

struct pt_record_shape {
    struct pt_rec_shape known; /* as the reader has it, but for `next` */
    const struct pt_site *site;
    uint64_t what;                        /* pt_shadow_what; of other events the size is 0 */
    struct pt_record_shape *next, *other; /* that followed it last time, and some other time */
};

/* Where events of a thread go until they are written. */
struct pt_record_buffer {
    _Alignas(4096) struct pt_rec_live_buffer live; /* pages of its own: they may be put elsewhere, see buffer.c */
    uint8_t bytes[PT_REC_PIECE];
    struct pt_record_buffer *next; /* in the queue, or in the free list */
    struct pt_record_self *owner;  /* whose it is now; NULL: nobody's */
    uint64_t seen;                 /* the writer's: the owner's `busy` when it looked */
    uint64_t until;                /* no stamp in it is higher; set when it is full, or copied */
    uint32_t raw_at, raw;          /* bytes of memory of the latest event that has such; 0: there are none */
};

/* The shapes that a thread's log has now: from piece to piece, as long as the reader has all of them. */
struct pt_record_coder {
    struct pt_record_coder *next;    /* in the free list */
    uint16_t slots[PT_RECORD_SLOTS]; /* numbers of shapes plus 1, by a hash */
    struct pt_record_shape shapes[PT_REC_SHAPES];
};

/* What is kept of a thread. It lies beside the thread, and is all zero when it begins. */
struct pt_record_self {
    struct pt_record_buffer *buffer; /* NULL: it has none yet, or none any more */
    struct pt_record_shape *last;    /* that of the latest event; NULL: it has no buffer, or no shape yet */
    struct pt_record_coder *coder;   /* as long as it has a buffer */
    uint64_t address;                /* of the latest event */
    uint32_t last_stack;             /* its stack */
    uint32_t shape_count;
    _Atomic uint64_t busy; /* odd while an event is made */
    uint64_t stamp;        /* of its latest event; read by who takes a page (own.c) */
    uint32_t thread, pieces;
    struct pt_shadow_self *shadow;         /* NULL: it does not record yet, or not any more */
    struct pt_record_self *before, *after; /* in the list of those that do */
    /* the calls that it was in lately, outermost first, with the hash of each and those outside of it; see define.c */
    const struct pt_site *frames[PT_RECORD_DEEP];
    uint64_t hashes[PT_RECORD_DEEP];
    uint32_t depth, stack;
    enum { PT_RECORD_UNKNOWN, PT_RECORD_MARKED, PT_RECORD_UNMARKED } marks;
    struct {
        const struct pt_site *site;
        uint32_t number;
    } sites[PT_RECORD_SITES];
    struct {
        uint64_t hash;
        uint32_t number;
    } stacks[PT_RECORD_STACKS];
};

/* --- buffers --- */

/* In a file of this name, which stays, and lives on if the process does not; or else, and where it is NULL, in memory.
 */
bool pt_record_start_buffers(const char *path);
/* Gives the thread's buffer to the writer, if it has one, and takes an empty one: false when there is none, because
 * nothing is written any more. May wait for the writer. */
bool pt_record_next_buffer(struct pt_record_self *self);
/* Gives it away without another. */
void pt_record_give_buffer(struct pt_record_self *self);
/* A definition, whole; the caller has locked those. */
void pt_record_define(const struct pt_record *record);

/* The writer's side. Full buffers, oldest first; NULL: none. They are given back when they are written. */
struct pt_record_buffer *pt_record_take_full(void);
void pt_record_give_back(struct pt_record_buffer *buffer);
/* Copies the definitions that were not taken yet; where they are from, NULL: there are none. */
struct pt_record_buffer *pt_record_take_definitions(struct pt_record_buffer *ret_copy);
/* The same of the next buffer from *at on; NULL: none has anything, and *at is 0 again. */
struct pt_record_buffer *pt_record_take_rest(uint32_t *at, struct pt_record_buffer *ret_copy);
/* The copy is written. */
void pt_record_took(struct pt_record_buffer *buffer, const struct pt_record_buffer *copy);
/* Whether there is a thread that is still in the event in which it was found when `first`. */
bool pt_record_has_busy(bool first);
/* No thread gets a buffer any more, and whoever waits for one goes on. */
void pt_record_close_buffers(void);
/* Counts up when the writer has something to do. */
extern _Atomic uint32_t pt_record_work;

/* --- the file, the writer's alone --- */

/* The limit of the options; false: it is none. */
bool pt_record_read_limit(void);
/* Whether all of it is kept, so that the reader knows what stood in it before. */
extern bool pt_record_remembers;
/* Whether this very process has written the recording of this name: it has become another program since. */
bool pt_record_is_own_file(const char *path);
/* Functions that write: false when they cannot. */
bool pt_record_open_file(int fd);
bool pt_record_append(const void *bytes, size_t len);
enum pt_record_room { PT_RECORD_HAS_ROOM, PT_RECORD_CROWDED, PT_RECORD_FULL };
enum pt_record_room pt_record_room(void);
/* Gives back what is oldest, until there is room; `bytes` has room for a chunk. */
bool pt_record_make_room(uint8_t *bytes);

/* --- pages that are used without locks (own.c) --- */

void pt_own_start(void);
/* The thread, which has its number, records from now on, and does not any more. */
void pt_own_begin(struct pt_thread *thread);
void pt_own_end(struct pt_record_self *self);
/* Memory begins or ends: before the thread gives it a stamp pages of others are shared; and afterwards whole ones are
 * nobody's. */
void pt_own_extent(const struct pt_shadow_self *self, uintptr_t from, uintptr_t to);
void pt_own_forget(uintptr_t from, uintptr_t to);
/* What is static is always shared. Whoever waits for threads here must not have locked what those may wait for. */
void pt_own_share_static(uintptr_t low, uintptr_t high);

/* --- definitions --- */

bool pt_record_start_definitions(void);
/* 0: it is not known, or there are too many. */
uint32_t pt_record_site_number(struct pt_record_self *self, const struct pt_site *site);
/* The number of the calls that the calling thread is in; 0: none. They are mostly those of the event before. */
uint32_t pt_record_find_stack(struct pt_record_self *self);
/* Whether they are. A call that is marked is still the one that it was, and so are all outside of it. */
static inline bool pt_record_stack_is_same(const struct pt_record_self *self)
{
    struct pt_calls *calls = &__portent_calls;
    uint32_t depth = calls->depth, known = depth;
    if (__builtin_expect(depth != self->depth || self->marks != PT_RECORD_MARKED, 0))
        return false;
    for (; known && !((uintptr_t)calls->frames[known - 1] & PT_CALLS_MARK); known--)
        if (calls->frames[known - 1] != self->frames[known - 1])
            return false;
    for (; __builtin_expect(known < depth, 0); known++)
        calls->frames[known] = (const void *)((uintptr_t)calls->frames[known] | PT_CALLS_MARK);
    return true;
}
static inline uint32_t pt_record_stack_number(struct pt_record_self *self)
{
    return __builtin_expect(pt_record_stack_is_same(self), 1) ? self->stack : pt_record_find_stack(self);
}
uint32_t pt_record_name_number(const char *name);
/* The number of memory that has got a name. */
uint32_t pt_record_define_named(const struct pt_watched *named);
/* Whether static memory of the program or a library may be in [low, high). */
bool pt_record_may_have_static(uintptr_t low, uintptr_t high);
/* The granule is accessed for the first time: if it is of static memory, it has had this value, or it is not known. */
void pt_record_define_initial(uintptr_t granule, bool known);

#endif
