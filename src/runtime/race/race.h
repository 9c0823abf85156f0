/*
 * Races of the running program (contract section 10): happens-before as src/race has it, and for each granule of 8
 * bytes what is known of its accesses, as a 64-bit word; 0: nothing.
 *
 * While all accesses of a granule are plain, and each comes before the next, it is *solo* (bit 61): the word says who
 * made the last one, and what was accessed is in the logs of the threads (log.h). A thread remembers what it has said
 * of a granule in its region, that is, as long as it learns nothing and publishes nothing; so nearly all accesses are a
 * look at the word and at that. Others append to the thread's log, with one compare-and-swap of the word.
 *
 * From the first access on that is atomic, or not ordered with one before it, the granule has a cell of its own (bit
 * 62), made of what the logs have, and changed in place under the granule's lock (bit 63):
 *
 *     bits    what
 *      0-31   the cell; bit 31: it is packed (packed.c), as it is unless it is out of the ordinary
 *     32-60   a stamp that changes with the cell
 *
 * All functions are for the calling thread's own `struct pt_race_self`, inside the runtime (shadow/self.h).
 */
#ifndef PT_RUNTIME_RACE_RACE_H
#define PT_RUNTIME_RACE_RACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/calls.h"
#include "core/found.h"
#include "core/site.h"
#include "race/cell.h"
#include "runtime/sys/runtime.h"

#define PT_RACE_LOCKED (UINT64_C(1) << 63)
#define PT_RACE_OWN    (UINT64_C(1) << 62)
#define PT_RACE_SOLO   (UINT64_C(1) << 61)
#define PT_RACE_STAMP  ((UINT64_C(1) << 29) - 1)
enum {
    PT_RACE_STAMP_AT = 32,
    PT_RACE_SOLO_NUMBER_AT = 7,
    PT_RACE_SOLO_THREAD_AT = 47,
    PT_RACE_SOLO_THREAD_BITS = 14,
    PT_RACE_LOG_RING = 1 << 18, /* slots of a thread's log ... */
    PT_RACE_LOG_BLOCK = 256,    /* ... and of a part of it */
    PT_RACE_SLOT_LATER_BITS = 20,
    PT_RACE_FILTER_BITS = 8,
    PT_RACE_LEAF_BITS = 21,
    PT_RACE_ADDRESS_BITS = 47,
    PT_RACE_SAID_BITS = 8,
    PT_RACE_AGAIN_BITS = 9,
    PT_RACE_GUESS_BITS = 8,
    PT_RACE_STACK_BITS = 5,
    PT_RACE_PIECES = 65,       /* sizes of pieces of memory, in units of 16 bytes */
    PT_RACE_PACKED_SIZES = 30, /* the same of packed cells */
    PT_RACE_LOCKS = 64,        /* that are known to be held by a thread */
    PT_RACE_TAGS = 1 << 12,    /* of regions, that a thread takes at a time; smaller ones are none */
    PT_RACE_ENOUGH_AT = 24,    /* in a packed cell: which accesses of a region say nothing new, wherever they stand:
                                * the bytes of reads, 8 bits, of writes, 8 bits, and above 32 bits the region's tag; */
    PT_RACE_MINE_AT = 16,      /* and between them a bit for each entry of that region, where all else comes before */
    PT_RACE_MET = 256,         /* accesses that one access races with in one granule */
};

#define PT_RACE_PACKED (UINT32_C(1) << 31) /* in the number of a granule's own cell (packed.h) */

typedef _Atomic uint64_t pt_race_word;

extern char *pt_race_packed_cells;

struct pt_race_leaf {
    _Atomic uint64_t used[8];   /* one bit per 4 KiB of memory that has a word other than 0 ... */
    _Atomic uint64_t synced[8]; /* ... or a synchronisation object */
    struct pt_race_leaf *older;
    _Alignas(64) pt_race_word words[1 << (PT_RACE_LEAF_BITS - 3)];
};
extern struct pt_race_leaf *_Atomic *pt_race_leaves;

/* A read of a granule's own cell that says nothing new in the thread's region, while the granule's word is this. */
struct pt_race_again {
    uint64_t key; /* site, bytes and kind */
    uint64_t word, version;
};

/* The same of all reads of these bytes that are not of the whole granule, wherever they stand. */
struct pt_race_said {
    uint64_t word, version;
    uint8_t bytes;
};

struct pt_race_lock_held {
    uintptr_t address;
    const struct pt_site *site; /* where it was locked, NULL: unknown */
    uint32_t number;            /* of this pair (note.c); 0: not looked up, or there is none */
};

/* Calls that the thread was in lately, and their number. */
struct pt_race_stack {
    uint32_t depth, id;
    const struct pt_site *frames[PT_FOUND_FRAMES]; /* the outermost first, as in struct pt_calls */
};

/* Lists of free pieces, cells and the like: a thread's own, or what all share. */
struct pt_race_pieces {
    void *free[PT_RACE_PIECES];
    uint32_t count[PT_RACE_PIECES];
    uint32_t cells, cell_count; /* a list of free cells */
    uint32_t packed[PT_RACE_PACKED_SIZES], packed_count[PT_RACE_PACKED_SIZES];
};

/* Of a run that is sampled, what a thread has to do with the windows in which all is followed (window.h). */
struct pt_race_window {
    uint32_t number; /* of the window, or of the gap, that it has noticed last */
    uint32_t known;  /* of the gap since which it knows what was in earlier windows */
    uint32_t left;   /* events until it closes the window, or opens the next one */
    uint32_t syncs;  /* its synchronisation in the latest window */
    bool rare;       /* it was created where few threads were */
    bool lives, listed;
    struct pt_race_self *older; /* in the list of all */
};

struct pt_race_slot {
    _Atomic uint64_t a, b;
};

/* What a thread has said lately of a solo granule, at a place. */
struct pt_race_filter {
    uint64_t where; /* the granule, and the kind of access */
    uint64_t site;  /* and above it the epoch */
    struct pt_race_slot *slot;
    uint32_t bytes; /* of a read, and of all at that place; of a write */
};
#define PT_RACE_EPOCH (UINT64_C(1) << 48)

/* A thread's log, as it goes on with it (log.h). */
struct pt_race_solo {
    uint64_t top;               /* of the words of granules whose last access is this thread's */
    uint64_t epoch;             /* of what it remembers in `filter`: grows with its region, and when it ends memory */
    struct pt_race_slot *slots; /* NULL: it has none */
    uint64_t at, stop;          /* the next number, and the end of its block */
    uint64_t from;              /* the first of its region */
    struct pt_race_stack noted; /* in its latest mark ... */
    uint32_t locks;             /* ... with these locks */
    bool region_due, note_due;  /* before the next access */
    struct pt_race_filter filter[1 << PT_RACE_FILTER_BITS];
};

struct pt_race_self {
    uint64_t version;                /* of its region: grows whenever it learns or publishes something */
    uint32_t tag;                    /* the same as a number that no other thread has; below PT_RACE_TAGS: none */
    uint64_t region;                 /* the clock at which that began */
    uint64_t noted;                  /* the latest version for which there is something in `again` */
    struct pt_race_choices *choices; /* choose.h; NULL: none yet */
    struct pt_race_window window;
    struct pt_hb_thread hb;
    struct pt_hb_thread before; /* in the middle of an access of several granules: what was known before it */
    bool several;
    bool note_kept; /* `note` is of this access */
    struct pt_cell_note note;
    struct pt_cell_env env;
    struct pt_race_memory memory;
    struct pt_race_pieces pieces;
    uint32_t lock_set; /* the id of what it has locked; UINT32_MAX: to be looked up */
    uint32_t lock_count;
    struct pt_race_lock_held locks[PT_RACE_LOCKS];
    uint32_t met_count; /* accesses with which the one that is being made races */
    struct pt_cell_seen met[PT_RACE_MET];
    pt_race_word *locked[4]; /* by an atomic operation, for faults in its middle */
    uint32_t locked_count;
    uintptr_t ahead; /* the granule after the last one with its own cell; how many were next to each other */
    uint32_t steps;
    struct pt_race_solo solo;
    uintptr_t stack_low, stack_high; /* its stack, where lifetimes are looked at (life.h) */
    struct pt_race_self *next;       /* in the list of free ones */
    struct pt_race_said said[1 << PT_RACE_SAID_BITS];
    struct pt_race_again again[1 << PT_RACE_AGAIN_BITS];
    uint8_t guesses[1 << PT_RACE_GUESS_BITS]; /* which entry of a cell an atomic access was */
    struct pt_race_stack stacks[1 << PT_RACE_STACK_BITS];
};

#define PT_RACE_CHECK (UINT64_C(1) << 63)

/* What the layers above do. Registered before the first thread is known. */
struct pt_race_hooks {
    /* Who asks for a race on these bytes of a granule, of these threads: PT_RACE_CHECK and a bit for each race_free
     * property; 0: nobody. */
    uint64_t (*asked)(uintptr_t granule, unsigned bytes, uint32_t one, uint32_t other);
    /* What tells races at the same places apart; 0: nothing does. `element`: of an array. */
    uint64_t (*apart)(uintptr_t address, bool element, uint32_t one, uint32_t other);
    /* Counts a race; true: it is the first of its key, and is to be reported. */
    bool (*is_new)(uint64_t key);
    void (*found)(const struct pt_found *found, uint64_t asked);
};
extern struct pt_race_hooks pt_race_hooks;
/* What a thread is called, for reports; of others it is "". */
void pt_race_named(uint32_t thread, const char *name);

/* What of all that is found is wanted. Set before the first thread is known. */
struct pt_race_looks {
    bool races, lives;
    bool threads; /* it matters which threads race, not only where */
};
extern struct pt_race_looks pt_race_looks;

/* What an access is, beside PT_CELL_READS and so on: part of `kind`. */
enum { PT_RACE_OP_AT = 4, PT_RACE_OP_ACCESS = 0, PT_RACE_OP_FREE = 1, PT_RACE_OP_STACK = 2, PT_RACE_OP_GONE = 3 };
enum { PT_RACE_READ = PT_CELL_READS, PT_RACE_WRITE = PT_CELL_WRITES };

/* False: there is no memory. Then nothing else may be called. */
bool pt_race_start(void);
/* In the child of a fork that begins anew. */
void pt_race_restart(void);

/* A thread, by the number that it alone ever has; NULL: there is no memory, or there are too many. */
struct pt_race_self *pt_race_begin(uint32_t number, struct pt_race_self *parent, const struct pt_site *site);
/* From here on threads may begin that no thread is seen to start: none is ever alone again. */
void pt_race_expect_threads(void);
/* It makes no more accesses; who joins it may still ask for it. */
void pt_race_end(struct pt_race_self *self);
/* The child has ended. */
void pt_race_join(struct pt_race_self *self, struct pt_race_self *child);
/* Nobody will ask for it any more. */
void pt_race_release(struct pt_race_self *self);

/* An access of any size, plain. Before the store, after the load. */
void pt_race_access(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind,
                    const struct pt_site *site);
/* Around an atomic operation of up to 16 bytes; orders are enum pt_hb_order. */
bool pt_race_atomic_begin(struct pt_race_self *self, uintptr_t address, size_t size);
void pt_race_atomic_end(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                        const struct pt_site *site);
/* The operation has faulted: its handler may run, and may never return. */
void pt_race_suspend(struct pt_race_self *self);
void pt_race_resume(struct pt_race_self *self, uint32_t count);
/* An atomic operation whose middle is not ours: before it, what it publishes; after it, what it takes. */
void pt_race_atomic_alone(struct pt_race_self *self, uintptr_t address, size_t size, unsigned kind, unsigned order,
                          const struct pt_site *site);
/* Memory ends: a write of all of it, and then nothing is known of it. The same of a thread's stack. */
void pt_race_forget(struct pt_race_self *self, uintptr_t from, uintptr_t to, const struct pt_site *site);
void pt_race_forget_stack(struct pt_race_self *self, uintptr_t from, uintptr_t to);
/* The same in two steps, where nobody can get the memory in between: the write, with which later accesses may race; and
 * the end of what is known. */
void pt_race_free(struct pt_race_self *self, uintptr_t from, uintptr_t to, const struct pt_site *site);
void pt_race_discard(struct pt_race_self *self, uintptr_t from, uintptr_t to);

/* Memory begins, allocated by the call at this site. Reports say of what is found in it where it comes from. */
void pt_race_allocated(struct pt_race_self *self, uintptr_t start, size_t size, const struct pt_site *site);
/* And it ends; pt_race_forget says it, too. */
void pt_race_freed(uintptr_t start);

/* enum pt_event_kind of a synchronisation. */
void pt_race_sync(struct pt_race_self *self, uintptr_t object, unsigned kind, const struct pt_site *site);
/* What is in the object before all others: who ended, and who asks for that. */
void pt_race_publish(struct pt_race_self *self, uintptr_t object);
void pt_race_take(struct pt_race_self *self, uintptr_t object);
void pt_race_fence(struct pt_race_self *self, unsigned order);
/* The order that the compiler calls by this number. */
unsigned pt_race_order(int order);

static inline uint64_t pt_race_calls(void)
{
    const struct pt_calls *calls = &__portent_calls;
    uint32_t depth = calls->depth;
    uint64_t inner = (uint64_t)(uintptr_t)calls->frames[(depth - 1) % PT_CALLS],
             outer = (uint64_t)(uintptr_t)calls->frames[(depth - 2) % PT_CALLS];
    return inner ^ outer << 20 ^ (uint64_t)depth << 52;
}

static inline struct pt_race_leaf *pt_race_leaf_of(uintptr_t address)
{
    /* acquire: partner of the exchange that publishes a new leaf */
    return atomic_load_explicit(&pt_race_leaves[address >> PT_RACE_LEAF_BITS], memory_order_acquire);
}
static inline unsigned pt_race_page_of(uintptr_t address)
{
    return (address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 12;
}
static inline bool pt_race_is_used(const struct pt_race_leaf *leaf, uintptr_t address)
{
    unsigned page = pt_race_page_of(address);
    return atomic_load_explicit(&leaf->used[page >> 6], memory_order_relaxed) >> (page & 63) & 1;
}

static inline struct pt_race_said *pt_race_said_of(struct pt_race_self *self, uint64_t word)
{
    return &self->said[(uint32_t)word * UINT32_C(0x9e3779b9) >> (32 - PT_RACE_SAID_BITS)]; /* by the cell */
}
static inline uint64_t pt_race_key(const struct pt_site *site, unsigned bytes, unsigned kind)
{
    return (uint64_t)(uintptr_t)site << 16 | bytes << 8 | kind;
}

static inline struct pt_race_again *pt_race_again_of(struct pt_race_self *self, uint64_t word, uint64_t key)
{
    uint64_t mixed = (key ^ word << 29) * UINT64_C(0x9e3779b97f4a7c15);
    return &self->again[mixed >> (64 - PT_RACE_AGAIN_BITS)];
}

static inline bool pt_race_is_again(struct pt_race_self *self, uint64_t word, uint64_t key)
{
    const struct pt_race_again *again = pt_race_again_of(self, word, key);
    return self->noted == self->version && again->key == key && again->word == word && again->version == self->version;
}
/* Whether any such access of these bytes says nothing new, of a granule with a packed cell; a write has another clock.
 * Whoever changes the cell has made that 0 before, so it is asked without a lock: what was so a moment ago is enough.
 */
static inline bool pt_race_is_enough(const struct pt_race_self *self, uint64_t word, unsigned bytes, bool writes)
{
    const char *packed = pt_race_packed_cells + (size_t)((uint32_t)word & ~PT_RACE_PACKED) * 16;
    uint64_t enough = atomic_load_explicit((const _Atomic uint64_t *)(const void *)(packed + PT_RACE_ENOUGH_AT),
                                           memory_order_relaxed);
    return enough >> 32 == self->tag && !(bytes & ~(unsigned)(enough >> (writes ? 8 : 0)) & 0xff);
}
static inline bool pt_race_is_said(struct pt_race_self *self, uint64_t word, unsigned bytes)
{
    const struct pt_race_said *said = pt_race_said_of(self, word);
    return said->word == word && said->version == self->version && !(bytes & ~(unsigned)said->bytes);
}

static inline struct pt_race_filter *pt_race_filter_of(struct pt_race_self *self, uintptr_t granule,
                                                       const struct pt_site *site)
{
    uintptr_t mixed = granule >> 3 ^ granule >> 11 ^ (uintptr_t)site >> 5;
    return &self->solo.filter[mixed & ((1u << PT_RACE_FILTER_BITS) - 1)];
}
static inline uint64_t pt_race_filter_where(uintptr_t granule, unsigned kind)
{
    return (uint64_t)granule << 8 | kind;
}

/* A write is made again that the thread's log has in this slot: false if that is not the last access of the granule, or
 * is long ago. It is an exchange, so that whoever opens the granule after that has seen it: pt_race_solo_again. */
static inline bool pt_race_solo_rewrite(struct pt_race_self *self, struct pt_race_slot *slot, uint64_t seen)
{
    uint64_t number = seen << (64 - PT_RACE_SOLO_THREAD_AT) >> (64 - PT_RACE_SOLO_THREAD_AT + PT_RACE_SOLO_NUMBER_AT);
    uint64_t b = atomic_load_explicit(&slot->b, memory_order_relaxed);
    uint64_t clock = b >> PT_RACE_SLOT_LATER_BITS, later = self->hb.clock - clock;
    if (slot != &self->solo.slots[number & (PT_RACE_LOG_RING - 1)] || later >> PT_RACE_SLOT_LATER_BITS ||
        self->solo.stop - number > 2 * PT_RACE_LOG_BLOCK)
        return false;
    atomic_exchange(&slot->b, clock << PT_RACE_SLOT_LATER_BITS | later);
    return true;
}

/* Other bytes of a granule at a place where the thread was last: walked over one by one, as a rule. False: it is not
 * that simple, and nothing has happened, but that the log may say already what will be made. */
bool pt_race_solo_walk(struct pt_race_self *self, pt_race_word *word, uint64_t seen, struct pt_race_filter *filter,
                       unsigned bytes, unsigned kind);
/* An access that the thread has made in its region, of a solo granule that nobody else has accessed since. */
__attribute__((always_inline)) static inline bool pt_race_solo_again(struct pt_race_self *self, pt_race_word *word,
                                                                     uint64_t seen, uintptr_t granule, unsigned bytes,
                                                                     unsigned kind, const struct pt_site *site)
{
    struct pt_race_filter *filter = pt_race_filter_of(self, granule, site);
    if (filter->where != pt_race_filter_where(granule, kind) || filter->site != ((uintptr_t)site | self->solo.epoch))
        return false;
    if (kind & PT_CELL_WRITES ? bytes != filter->bytes : bytes & ~filter->bytes)
        return pt_race_solo_walk(self, word, seen, filter, bytes, kind);
    return !(kind & PT_CELL_WRITES) ||
           (pt_race_solo_rewrite(self, filter->slot, seen) && atomic_load_explicit(word, memory_order_relaxed) == seen);
}

/* A plain access within one granule, if it is nothing new. False: nothing has happened. The clock ticks after the whole
 * of a write. Most accesses end here, so it is to need few registers. */
__attribute__((always_inline)) static inline bool
pt_race_fast(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (__builtin_expect(!leaf, 0))
        return false;
    pt_race_word *word = &leaf->words[(address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed);
    if (seen >> PT_RACE_SOLO_THREAD_AT == self->solo.top)
        return pt_race_solo_again(self, word, seen, address & ~(uintptr_t)7, bytes, kind, site);
    if (kind & PT_CELL_WRITES || !(seen & PT_RACE_OWN))
        return false;
    return ((uint32_t)seen & PT_RACE_PACKED ? pt_race_is_enough(self, seen, bytes, false)
                                            : bytes != PT_CELL_WHOLE && pt_race_is_said(self, seen, bytes)) ||
           pt_race_is_again(self, seen, pt_race_key(site, bytes, kind));
}

/* One within a granule, which has taken the fast path in vain. */
void pt_race_access_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind,
                        const struct pt_site *site);

/* The same of any plain access, which is made as a whole here. */
static inline void pt_race_plain(struct pt_race_self *self, uintptr_t address, unsigned size, unsigned kind,
                                 const struct pt_site *site)
{
    unsigned low = address & 7;
    if (low + size > 8) {
        pt_race_access(self, address, size, kind, site);
        return;
    }
    unsigned bytes = ((1u << size) - 1) << low;
    if (pt_race_fast(self, address, bytes, kind, site))
        self->hb.clock += kind >> 1 & 1; /* of a write */
    else
        pt_race_access_one(self, address, bytes, kind, site);
}

#endif
