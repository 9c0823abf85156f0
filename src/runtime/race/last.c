/*
 * Where the accesses were made that slots are of whose records are gone. Before a thread writes over a part of its log
 * it looks which of the records there some granule's slot is still of, and puts their places, calls and locks into a
 * table that all threads share.
 *
 * Guarantee: what is found is of that very access, unless 2^32 accesses of its thread lie between it and another of the
 * same granule, or in one case of 2^32 where the other is another thread's. What is not found has been written over, by
 * an access of the same kind to the same granule or to one 8 MiB away. Cost: a look at the slots of one granule for
 * each record that goes, and up to 32 bytes for each granule.
 */
#include "runtime/race/log.h"

#include "runtime/sys/sys.h"

#define COLD __attribute__((noinline))

enum { BITS = 20, LOOP_BITS = 16, AHEAD = 12 };

/* In 16 bytes, so that it is in one line of the cache:
 *
 *     who     32-63 which access (mark_of); 0-31 the locks it was made with; 0: nothing is there, or not yet
 *     what    32-63 the calls; 28-29 PT_RACE_OP_ACCESS, ...; 20-27 its bytes; 0-19 its place */
struct last {
    _Alignas(16) _Atomic uint64_t who;
    _Atomic uint64_t what;
};
enum { BYTES_AT = PT_RACE_PLACE_BITS, OP_AT = BYTES_AT + 8 };
_Static_assert(OP_AT + 2 <= 32, "");

/* Of reads, then of writes, by the granule's address, so that neighbours are neighbours; then of loops, by the key. */
static struct last *table;
enum { ENTRIES = (2 << BITS) + (1 << LOOP_BITS) };

bool pt_race_last_start(void)
{
    table = pt_sys_reserve_table(sizeof *table * ENTRIES);
    return table != NULL;
}

void pt_race_last_restart(void)
{
    pt_sys_empty(table, sizeof *table * ENTRIES);
}

/* The slot's thread and number. */
static uint64_t key_of(uint64_t slot)
{
    return (slot & ~PT_RACE_WROTE) >> PT_RACE_NUMBER_AT;
}

/* What tells accesses that may be in one place of the table apart: those of one thread by their numbers. Never 0, for
 * an entry that is there is not. */
static uint64_t mark_of(uint64_t key)
{
    uint32_t thread = (uint32_t)(key >> (PT_RACE_THREAD_AT - PT_RACE_NUMBER_AT));
    uint32_t mark = (uint32_t)key ^ thread * UINT32_C(0x9e3779b9);
    return (uint64_t)(mark ? mark : 1) << 32;
}

static struct last *entry_of(uintptr_t granule, bool writes)
{
    return &table[(writes ? 1u << BITS : 0) + (granule >> 3 & ((1u << BITS) - 1))];
}

static struct last *loop_of(uint64_t key)
{
    return &table[(2 << BITS) + (key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - LOOP_BITS))];
}

static bool is_in(const struct last *last, uint64_t mark, struct pt_cell_access *ret_access)
{
    /* acquire: partner of the release in keep; the second look finds out whether somebody has begun to write */
    uint64_t who = atomic_load_explicit(&last->who, memory_order_acquire), what = pt_race_get(&last->what);
    atomic_thread_fence(memory_order_acquire);
    if (who >> 32 != mark >> 32 || pt_race_get(&last->who) != who)
        return false;
    *ret_access = (struct pt_cell_access){.place = what & ((1u << PT_RACE_PLACE_BITS) - 1),
                                          .bytes = (uint8_t)(what >> BYTES_AT),
                                          .op = what >> OP_AT & 3,
                                          .note = {.stack = (uint32_t)(what >> 32), .locks = (uint32_t)who}};
    return true;
}

bool pt_race_last_find(uintptr_t granule, uint64_t slot, struct pt_cell_access *ret_access)
{
    uint64_t key = key_of(slot);
    return is_in(entry_of(granule, slot & PT_RACE_WROTE), mark_of(key), ret_access) ||
           is_in(loop_of(key), mark_of(key), ret_access);
}

/* What a record says, with what was noted before it, as an entry. */
struct made {
    uint64_t who, what;
};

static inline struct made make(uint64_t key, uint64_t about, uint64_t note)
{
    struct pt_cell_access access = pt_race_access_in(about, PT_CELL_WHOLE);
    access.note = pt_race_note_in(note);
    return (struct made){mark_of(key) | access.note.locks, (uint64_t)access.note.stack << 32 |
                                                               (uint64_t)access.op << OP_AT |
                                                               (uint64_t)access.bytes << BYTES_AT | access.place};
}

static inline void keep(struct last *last, struct made made)
{
    pt_race_put(&last->who, 0);
    atomic_thread_fence(memory_order_release);
    pt_race_put(&last->what, made.what);
    atomic_store_explicit(&last->who, made.who, memory_order_release);
}

/* Whether a granule's list has the slot, whatever its bytes. One that is locked, or has changed meanwhile, is taken to
 * have it: this thread may have locked it itself, or wait for another one, and what is kept in vain does no harm. */
static bool is_in_list(const struct pt_race_pair *pair, uint64_t word, uint64_t wanted)
{
    const struct pt_race_many *many = pt_race_many_of(word);
    bool found = word & PT_RACE_LOCKED;
    unsigned count = atomic_load_explicit(&many->count, memory_order_relaxed);
    for (unsigned i = 0; i < count && !found; i++)
        found = (pt_race_get(&many->slots[i]) & ~PT_RACE_WROTE) >> PT_RACE_NUMBER_AT == wanted;
    atomic_thread_fence(memory_order_acquire); /* partner of the release in many.c */
    return found || pt_race_get(&pair->w) != word;
}

/* Whether a slot of the granule is of the access with that number: where there is a list, a row or a chain. */
static COLD bool is_among(const struct pt_race_pair *pair, uint64_t w, uint64_t slot, uint64_t wanted)
{
    if (w & PT_RACE_OWN)
        return (uint32_t)w & PT_RACE_MANY && is_in_list(pair, w, wanted);
    return pt_race_common_has(pt_race_logs[wanted >> (PT_RACE_THREAD_AT - PT_RACE_NUMBER_AT)].column, slot, wanted);
}
static inline bool is_last(const struct pt_race_pair *pair, uint64_t wanted, bool writes)
{
    /* acquire: partner of the release that unlocked a list last */
    uint64_t w = atomic_load_explicit(&pair->w, memory_order_acquire), slot = writes ? w : pt_race_get(&pair->r);
    if (__builtin_expect((w | slot) & PT_RACE_OWN, 0))
        return is_among(pair, w, slot, wanted);
    return (slot & ~PT_RACE_LOCKED) >> PT_RACE_NUMBER_AT == wanted;
}

static inline uintptr_t granule_of(const struct pt_race_record *record)
{
    return (uintptr_t)(pt_race_get(&record->more) >> PT_RACE_MORE_AT) << 3;
}
static inline uint64_t key_at(uint32_t thread, uint64_t number)
{
    return key_of((uint64_t)thread << PT_RACE_THREAD_AT | number << PT_RACE_NUMBER_AT);
}

/* The granules' slots are all over the memory, and so are their entries, of which more than half are written. */
static inline void fetch(struct pt_race_record *ring, uint32_t thread, uint64_t number)
{
    const struct pt_race_record *record = pt_race_record_at(ring, number);
    uint64_t type = pt_race_get(&record->about) >> PT_RACE_TYPE_AT;
    __builtin_prefetch(pt_race_record_at(ring, number + 2 * AHEAD));
    if (type == PT_RACE_RECORD_PROXY)
        __builtin_prefetch(loop_of(key_at(thread, number)), 1);
    if (type != PT_RACE_RECORD_READ && type != PT_RACE_RECORD_WRITE)
        return;
    uintptr_t granule = granule_of(record);
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (!leaf)
        return;
    __builtin_prefetch(pt_race_pair_in(leaf, granule));
    __builtin_prefetch(entry_of(granule, type == PT_RACE_RECORD_WRITE), 1);
}

/* Of one record, with what was noted before it. Its granules are of one page (access.c), and so of one leaf. */
static inline void keep_record(struct pt_race_record *ring, uint32_t thread, uint64_t number, uint64_t *note)
{
    const struct pt_race_record *record = pt_race_record_at(ring, number);
    uint64_t about = pt_race_get(&record->about), type = about >> PT_RACE_TYPE_AT, key = key_at(thread, number);
    if (type == PT_RACE_RECORD_NOTE)
        *note = pt_race_get(&record->same);
    if (type == PT_RACE_RECORD_LOOP || type == PT_RACE_RECORD_PROXY)
        keep(loop_of(key), make(key, about, *note));
    if (type != PT_RACE_RECORD_READ && type != PT_RACE_RECORD_WRITE)
        return;
    uintptr_t granule = granule_of(record);
    struct pt_race_leaf *leaf = pt_race_leaf_of(granule);
    if (!leaf)
        return;
    const struct pt_race_pair *pair = pt_race_pair_in(leaf, granule);
    bool writes = type == PT_RACE_RECORD_WRITE;
    struct made made = make(key, about, *note);
    for (unsigned left = pt_race_run_in(about) + 1; left; left--, pair++, granule += 8)
        if (is_last(pair, key, writes))
            keep(entry_of(granule, writes), made);
}

/* Those of up to 64 records from this one on that a slot may be of, or that say something of others; a bit for each. */
static uint64_t worth_a_look(struct pt_race_record *ring, uint64_t from, unsigned count)
{
    const struct pt_race_bits *bits = pt_race_bits_of(ring, from);
    return (~bits->replaced | bits->shared) >> from % 64 & UINT64_MAX >> (64 - count);
}

void pt_race_last_keep(struct pt_race_record *ring, uint32_t thread, uint64_t from)
{
    enum { STEP = PT_RACE_BLOCK < 64 ? PT_RACE_BLOCK : 64 };
    uint64_t note = 0;
    for (uint64_t step = from; step < from + PT_RACE_BLOCK; step += STEP) {
        uint64_t left = worth_a_look(ring, step, STEP), ahead = left;
        for (unsigned i = 0; ahead && i < AHEAD; i++, ahead &= ahead - 1)
            fetch(ring, thread, step + (unsigned)__builtin_ctzll(ahead));
        for (; left; left &= left - 1) {
            if (ahead)
                fetch(ring, thread, step + (unsigned)__builtin_ctzll(ahead));
            ahead &= ahead - 1;
            keep_record(ring, thread, step + (unsigned)__builtin_ctzll(left), &note);
        }
    }
}
