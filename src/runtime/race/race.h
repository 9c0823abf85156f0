/*
 * Races of the running program (contract section 10): happens-before as src/race has it, and for each granule of 8
 * bytes what is known of its accesses, as a 64-bit word:
 *
 *     bits    what
 *      0-31   the cell: what is known of the granule; 0: nothing
 *     32-61   of a shape, how much later its last write was than the shape says; else a stamp that changes with the
 * cell 62      the cell is this granule's own 63      locked: one thread works on it
 *
 * A cell is either one granule's own, changed in place under the granule's lock, or a *shape*: what is the same for
 * many granules (an array that a loop has walked over), never changed, and counted by reference. What an access makes
 * of a shape is another shape, or the same one; each thread remembers such transitions, as long as it learns nothing
 * and publishes nothing (its *region*), so that nearly all accesses are one look-up and at most one compare-and-swap.
 * A granule's own cell is *packed* (packed.c) unless it is out of the ordinary: bit 31 of the cell says so.
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

#define PT_RACE_LOCKED    (UINT64_C(1) << 63)
#define PT_RACE_OWN       (UINT64_C(1) << 62)
#define PT_RACE_DELTA_MAX ((UINT64_C(1) << 30) - 1)
enum {
    PT_RACE_DELTA_AT = 32,
    PT_RACE_LEAF_BITS = 21,
    PT_RACE_ADDRESS_BITS = 47,
    PT_RACE_CACHE_BITS = 10,
    PT_RACE_SAID_BITS = 8,
    PT_RACE_AGAIN_BITS = 9,
    PT_RACE_GUESS_BITS = 8,
    PT_RACE_ONCE_BITS = 6,
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

/* A transition that a thread has made in its present region: `from` by this access is `to`. */
struct pt_race_entry {
    uint64_t key;     /* site, bytes and kind */
    uint64_t version; /* of the region */
    uint64_t calls;   /* the innermost calls: shapes carry stacks */
    uint64_t known;   /* up to which clock of its last write `from` may be of */
    uint64_t base;    /* that write's clock where the word's delta is 0 */
    uint64_t made;    /* of a write the same of `to`; of a read the only clock at which it may be made, 0: any */
    uint32_t from, to;
    uint32_t credit; /* references to `to` at hand; as many as are gone are owed of `from` */
};

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

/* An access that the thread has made, in that region, of a granule with that cell. */
struct pt_race_once {
    uint64_t key, version;
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
    bool alike;     /* and the next of them has the same shape */
    bool neighbour; /* of the granule that is being looked at a neighbour has */
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
    uintptr_t stack_low, stack_high; /* its stack, where lifetimes are looked at (life.h) */
    struct pt_race_self *next;       /* in the list of free ones */
    struct pt_race_said said[1 << PT_RACE_SAID_BITS];
    struct pt_race_again again[1 << PT_RACE_AGAIN_BITS];
    uint8_t guesses[1 << PT_RACE_GUESS_BITS]; /* which entry of a cell an atomic access was */
    struct pt_race_once once[1 << PT_RACE_ONCE_BITS];
    struct pt_race_stack stacks[1 << PT_RACE_STACK_BITS];
    _Alignas(64) struct pt_race_entry cache[1 << PT_RACE_CACHE_BITS];
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
enum { PT_RACE_OP_AT = 4, PT_RACE_OP_ACCESS = 0, PT_RACE_OP_FREE = 1, PT_RACE_OP_STACK = 2 };
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

static inline struct pt_race_entry *pt_race_entry_of(struct pt_race_self *self, uint64_t key, uint32_t from)
{
    uint64_t mixed = (key ^ (uint64_t)from << 29) * UINT64_C(0x9e3779b97f4a7c15);
    return &self->cache[mixed >> (64 - PT_RACE_CACHE_BITS)];
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

/* A plain access by a transition to another shape. False: nothing has happened. */
bool pt_race_move(struct pt_race_self *self, pt_race_word *word, uint64_t seen, struct pt_race_entry *entry,
                  unsigned kind);

/* A plain access within one granule, if it is nothing new, or by a transition that the thread remembers. False: nothing
 * has happened. The clock ticks after the whole of a write. Most accesses end here, so it is to need few registers. */
__attribute__((always_inline)) static inline bool
pt_race_fast(struct pt_race_self *self, uintptr_t address, unsigned bytes, unsigned kind, const struct pt_site *site)
{
    struct pt_race_leaf *leaf = pt_race_leaf_of(address);
    if (__builtin_expect(!leaf, 0))
        return false;
    pt_race_word *word = &leaf->words[(address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
    uint64_t seen = atomic_load_explicit(word, memory_order_relaxed), key = pt_race_key(site, bytes, kind);
    if (seen & PT_RACE_OWN) {
        if (kind & PT_CELL_WRITES)
            return false;
        return ((uint32_t)seen & PT_RACE_PACKED ? pt_race_is_enough(self, seen, bytes, false)
                                                : bytes != PT_CELL_WHOLE && pt_race_is_said(self, seen, bytes)) ||
               pt_race_is_again(self, seen, key);
    }
    struct pt_race_entry *entry = pt_race_entry_of(self, key, (uint32_t)seen);
    uint64_t delta = seen >> PT_RACE_DELTA_AT;
    if (entry->key != key || entry->from != (uint32_t)seen || entry->version != self->version ||
        entry->base + delta > entry->known) /* or locked */
        return false;
    if (__builtin_expect(entry->to != (uint32_t)seen, 0))
        return pt_race_move(self, word, seen, entry, kind);
    if (!(kind & PT_CELL_WRITES))
        return true;
    delta = self->hb.clock - entry->made;
    return delta <= PT_RACE_DELTA_MAX &&
           atomic_compare_exchange_strong_explicit(word, &seen, delta << PT_RACE_DELTA_AT | (uint32_t)seen,
                                                   memory_order_acq_rel, memory_order_relaxed);
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
