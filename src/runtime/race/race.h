/*
 * Races of the running program (contract section 10): happens-before as src/race has it, and for each granule of 8
 * bytes four slots of 64 bits, each an access, or several that agree in all but their bytes:
 *
 *     bits    what
 *      0-7    the bytes
 *        8    it writes
 *        9    it is of several places, of which the rest is of the latest (make.c)
 *     10-23   where it stands in the program, as a code (note.c); 0: only the record says that
 *     24-47   when: the number of its record in its thread's log (log.h), which is the thread's clock
 *     48-61   which thread, as its lane
 *        62   (of the first) the granule has something else: then bits 0-30 are its number, and the other three are 0.
 *             Bit 31: it is a list of slots (many.c); else all is known of the granule's accesses (race/cell.h)
 *        63   (of the first) locked: one thread works on it
 *
 * All accesses of a thread at one place in one region have one number, wherever in memory they are: so an access that
 * was made before in its region is found by comparing four words, and what has been made of one granule is what has
 * been made of its neighbours.
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
#define PT_RACE_CELL   (PT_RACE_LOCKED | PT_RACE_OWN)
#define PT_RACE_WROTE  (UINT64_C(1) << 8)
#define PT_RACE_MERGED (UINT64_C(1) << 9)

/* How much there is of all that is bounded. Tests have a library of it in which all is soon used up. */
enum {
#ifdef PT_RACE_SMALL
    PT_RACE_LOG_BITS = 7,
    PT_RACE_BLOCK = 16,
    PT_RACE_MADE_BITS = 3,
    PT_RACE_OTHERS_BITS = 2,
    PT_RACE_FILTER_BITS = 3,
    PT_RACE_EVICTED_BITS = 4,
    PT_RACE_EVICTED_HEADS = 4,
    PT_RACE_CODES = 8,
    PT_RACE_NUMBER_BITS = 9,
    PT_RACE_MOVED = 2,
    PT_RACE_KEPT = 4,
#else
    PT_RACE_LOG_BITS = 16,      /* records that a log has, as a power of two ... */
    PT_RACE_BLOCK = 256,        /* ... and of a part of it */
    PT_RACE_MADE_BITS = 11,     /* places that a thread remembers the records of, ... */
    PT_RACE_OTHERS_BITS = 9,    /* ... the same of places that it has in several calls, and ... */
    PT_RACE_FILTER_BITS = 9,    /* ... accesses that it remembers beside those in slots */
    PT_RACE_EVICTED_BITS = 13,  /* slots that a log has which others have replaced ... */
    PT_RACE_EVICTED_HEADS = 11, /* ... and by how many bits of their granules they are found */
    PT_RACE_CODES = 1 << 14,    /* places that slots can name */
    PT_RACE_NUMBER_BITS = 24,   /* records of one lane */
    PT_RACE_MOVED = 32,         /* free ones of everything that a thread gets at once (memory.c), ... */
    PT_RACE_KEPT = 128,         /* ... and has for itself at most */
#endif
    PT_RACE_BUSY = 64,
};

enum {
    PT_RACE_CODE_AT = 10,
    PT_RACE_NUMBER_AT = 24,
    PT_RACE_THREAD_AT = 48,
    PT_RACE_THREAD_BITS = 14,
    PT_RACE_SLOTS = 4,
    PT_RACE_LEAF_BITS = 21,
    PT_RACE_ADDRESS_BITS = 47,
    PT_RACE_SAID_BITS = 8,
    PT_RACE_AGAIN_BITS = 9,
    PT_RACE_GUESS_BITS = 8,
    PT_RACE_STACK_BITS = 10,
    PT_RACE_PIECES = 65,    /* sizes of pieces of memory, in units of 16 bytes */
    PT_RACE_MANY_SIZES = 4, /* the same of lists of slots, as powers of two */
    PT_RACE_LOCKS = 64,     /* that are known to be held by a thread */
    PT_RACE_MET = 256,      /* accesses that one access races with in one granule */
};
#define PT_RACE_NUMBER_MAX ((UINT64_C(1) << PT_RACE_NUMBER_BITS) - 1)
#define PT_RACE_MANY       (UINT32_C(1) << 31)

typedef _Atomic uint64_t pt_race_word;

/* Two of the slots of a granule. Most granules use no more than these, so the others are elsewhere in the leaf, and
 * need neither memory nor lines of the cache. */
enum { PT_RACE_NEAR = PT_RACE_SLOTS / 2 };
struct pt_race_granule {
    _Alignas(8 * PT_RACE_NEAR) pt_race_word near[PT_RACE_NEAR];
};

struct pt_race_leaf {
    _Atomic uint64_t used[8];   /* one bit per 4 KiB of memory that has a slot other than 0 ... */
    _Atomic uint64_t synced[8]; /* ... or a synchronisation object */
    struct pt_race_leaf *older;
    _Atomic uint16_t puts[1 << (PT_RACE_LEAF_BITS - 12)]; /* slots of a page that went to logs, since some are gone */
    /* How often a granule has ended, or had fewer slots in use than before: what was replaced there before is of other
     * memory, or is not told. So where a slot is free, nothing of that count was replaced. */
    _Alignas(64) _Atomic uint32_t lives[1 << (PT_RACE_LEAF_BITS - 3)];
    struct pt_race_granule granules[1 << (PT_RACE_LEAF_BITS - 3)];
    struct pt_race_granule far[1 << (PT_RACE_LEAF_BITS - 3)];
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

/* The epoch of a region, above the address of a site. Bit 47 is no address's: somebody has learned, by a read that
 * raced, of a moment in the middle of the region, which is to end (pt_race_interrupt). */
#define PT_RACE_EPOCH       (UINT64_C(1) << 48)
#define PT_RACE_INTERRUPTED (UINT64_C(1) << 47)

/* The record of the accesses at one place in the thread's region. */
struct pt_race_made {
    uint64_t key;   /* site, with the epoch of the region */
    uint64_t slot;  /* what they are in slots, without the bytes, and whether they write */
    uint32_t calls; /* pt_race_calls of the first, folded */
    uint32_t last;  /* the lower half of the thread's clock after its latest write there */
    uint32_t place;
};

/* An access that the thread has made in its region, and that no slot has any more, or a list. */
struct pt_race_filter {
    uint64_t where; /* the granule, in bit 0 whether it was a write, and from bit 48 on the bytes, and its lives */
    uint64_t site;  /* with the epoch of the region */
};

struct pt_race_record;

/* What a thread has to do with its log. */
struct pt_race_journal {
    struct pt_race_record *ring; /* NULL: it has none, and makes all its accesses in cells */
    uint64_t region;             /* a slot of the thread at the first moment of its region ... */
    uint64_t span;               /* ... and how much higher those of the same thread can be */
    _Atomic uint64_t epoch;      /* of the region; others set a bit of it */
    uint64_t alone;              /* the latest slot of what is no access of the program */
    uint64_t read;               /* the clock of its latest read in a cell, which takes no number */
    uint64_t calls;              /* pt_race_calls of the latest record ... */
    uint32_t stack;              /* ... and its number */
    bool is_short;               /* of what it has replaced some is gone */
    _Atomic uint64_t *shown;     /* of struct pt_race_log */
    uint64_t end;                /* the number with which the block ends */
    uint64_t stop;               /* the same, or 0: marks are to be put before the next record */
    struct pt_race_made made[1 << PT_RACE_MADE_BITS];
    struct pt_race_made others[1 << PT_RACE_OTHERS_BITS];
    struct pt_race_filter filter[1 << PT_RACE_FILTER_BITS];
};

struct pt_race_lock_held {
    uintptr_t address;
    const struct pt_site *site; /* where it was locked, NULL: unknown */
    uint32_t number;            /* of this pair (note.c); 0: not looked up, or there is none */
};

/* The number of calls that the thread was in lately, and how many they were; 0: none. */
struct pt_race_stack {
    uint32_t depth, id;
};

/* Lists of free pieces, cells and the like: a thread's own, or what all share. */
struct pt_race_pieces {
    void *free[PT_RACE_PIECES];
    uint32_t count[PT_RACE_PIECES];
    uint32_t cells, cell_count;                                        /* a list of free cells */
    uint32_t many[PT_RACE_MANY_SIZES], many_count[PT_RACE_MANY_SIZES]; /* the same of lists of slots */
};

/* Of a run that is sampled, what a thread has to do with the windows in which all is followed (window.h). */
struct pt_race_window {
    uint32_t number; /* of the window, or of the gap, that it has noticed last */
    uint32_t known;  /* of the gap since which it knows what was in earlier windows */
    uint32_t gap;    /* the one it is in, if that is both of these, and nobody else wants to know; else 0 */
    uint32_t left;   /* events until it closes the window, or opens the next one */
    uint32_t syncs;  /* its synchronisation in the latest window */
    bool rare;       /* it was created where few threads were */
    bool late;       /* its latest window was over when it came */
    bool lives, listed;
    struct pt_race_self *older; /* in the list of all */
};

struct pt_race_self {
    uint64_t version;                /* of its region: grows whenever it learns or publishes something */
    uint64_t region;                 /* the clock at which that began */
    uint64_t noted;                  /* the latest version for which there is something in `again` */
    uint32_t number;                 /* of the thread; hb.id is its lane (sync.c) */
    struct pt_race_choices *choices; /* choose.h; NULL: none yet */
    struct pt_race_window window;
    struct pt_hb_thread hb;
    struct pt_hb_thread before; /* in the middle of an access of several granules: what was known before it */
    bool several;
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
    uintptr_t stack_low, stack_high; /* its stack, where lifetimes are looked at (life.h) */
    struct pt_race_self *next;       /* in the list of free ones */
    struct pt_race_said said[1 << PT_RACE_SAID_BITS];
    struct pt_race_again again[1 << PT_RACE_AGAIN_BITS];
    uint8_t guesses[1 << PT_RACE_GUESS_BITS]; /* which entry of a cell an atomic access was */
    struct pt_race_stack stacks[1 << PT_RACE_STACK_BITS];
    void *opening; /* what open.c needs; NULL: nothing yet */
    struct pt_race_journal log;
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
static inline bool pt_race_is_said(struct pt_race_self *self, uint64_t word, unsigned bytes)
{
    const struct pt_race_said *said = pt_race_said_of(self, word);
    return said->word == word && said->version == self->version && !(bytes & ~(unsigned)said->bytes);
}

/* A page of constants: of it nothing is known, and nothing needs to be, until somebody writes it after all. */
static inline bool pt_race_is_constant(const struct pt_race_leaf *leaf, uintptr_t address)
{
    return atomic_load_explicit(&leaf->puts[pt_race_page_of(address)], memory_order_relaxed) == UINT16_MAX;
}
static inline bool pt_race_is_busy(const struct pt_race_leaf *leaf, uintptr_t address)
{
    return atomic_load_explicit(&leaf->puts[pt_race_page_of(address)], memory_order_relaxed) >= PT_RACE_BUSY;
}
static inline struct pt_race_granule *pt_race_granule_in(struct pt_race_leaf *leaf, uintptr_t address)
{
    return &leaf->granules[(address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
}
/* Slot number `i` of a granule. They come into use in their order. */
static inline pt_race_word *pt_race_slot_at(struct pt_race_granule *granule, unsigned i)
{
    const size_t far = offsetof(struct pt_race_leaf, far) - offsetof(struct pt_race_leaf, granules);
    if (i < PT_RACE_NEAR)
        return &granule->near[i];
    return &((struct pt_race_granule *)(void *)((char *)granule + far))->near[i - PT_RACE_NEAR];
}
static inline _Atomic uint32_t *pt_race_lives_in(struct pt_race_leaf *leaf, uintptr_t address)
{
    return &leaf->lives[(address & ((1u << PT_RACE_LEAF_BITS) - 1)) >> 3];
}
/* The lower bits of that, of a granule that has slots. */
static inline uint8_t pt_race_life_of(uintptr_t granule)
{
    return (uint8_t)atomic_load_explicit(pt_race_lives_in(pt_race_leaf_of(granule), granule), memory_order_relaxed);
}
/* Whatever was replaced in that granule, which is locked, is not found any more. */
static inline void pt_race_lose_replaced(uintptr_t granule)
{
    atomic_fetch_add_explicit(pt_race_lives_in(pt_race_leaf_of(granule), granule), 1, memory_order_relaxed);
}
/* Whether it is the thread's own, and of its region. */
static inline bool pt_race_is_mine(const struct pt_race_self *self, uint64_t slot)
{
    return slot - self->log.region < self->log.span;
}
static inline uint64_t pt_race_number_of(uint64_t slot)
{
    return slot >> PT_RACE_NUMBER_AT & PT_RACE_NUMBER_MAX;
}
static inline uint64_t pt_race_epoch(const struct pt_race_self *self)
{
    return atomic_load_explicit(&self->log.epoch, memory_order_relaxed);
}
static inline struct pt_race_made *pt_race_made_of(struct pt_race_self *self, const struct pt_site *site)
{
    return &self->log.made[(uintptr_t)site >> 3 & ((1u << PT_RACE_MADE_BITS) - 1)];
}
static inline bool pt_race_is_made(const struct pt_race_self *self, const struct pt_race_made *made,
                                   const struct pt_site *site)
{
    return made->key == ((uintptr_t)site | pt_race_epoch(self));
}
/* Whether the slot is of accesses like that one: then it has these bytes, too, or may have. */
static inline bool pt_race_is_like(uint64_t slot, uint64_t like)
{
    return (slot ^ like) <= UINT8_MAX;
}

static inline struct pt_race_filter *pt_race_filter_of(struct pt_race_self *self, uintptr_t granule,
                                                       const struct pt_site *site)
{
    uint32_t mixed = (uint32_t)(granule >> 3) ^ (uint32_t)((uintptr_t)site >> 3) * 5u;
    return &self->log.filter[mixed & ((1u << PT_RACE_FILTER_BITS) - 1)];
}
static inline bool pt_race_is_filtered(struct pt_race_self *self, uintptr_t granule, unsigned bytes, bool writes,
                                       const struct pt_site *site)
{
    const struct pt_race_filter *filter = pt_race_filter_of(self, granule, site);
    return filter->site == ((uintptr_t)site | pt_race_epoch(self)) &&
           (filter->where & (PT_RACE_EPOCH - 1)) == (granule | writes) &&
           !(bytes & ~((unsigned)(filter->where >> 48) & UINT8_MAX)) &&
           (uint8_t)(filter->where >> 56) == pt_race_life_of(granule);
}
static inline void pt_race_filter_put(struct pt_race_self *self, uintptr_t granule, unsigned bytes, bool writes,
                                      const struct pt_site *site)
{
    *pt_race_filter_of(self, granule, site) =
        (struct pt_race_filter){granule | writes | (uint64_t)bytes << 48 | (uint64_t)pt_race_life_of(granule) << 56,
                                (uintptr_t)site | pt_race_epoch(self)};
}

/* One within a granule, of which a glance has not said that it is known (fast.h). */
void pt_race_read_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site);
void pt_race_write_one(struct pt_race_self *self, uintptr_t address, unsigned bytes, const struct pt_site *site);

#endif
