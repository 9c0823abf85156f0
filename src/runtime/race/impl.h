/* What the files of this layer share. */
#ifndef PT_RUNTIME_RACE_IMPL_H
#define PT_RUNTIME_RACE_IMPL_H

#include "runtime/race/race.h"
#include "runtime/sys/spin.h"

enum { PT_RACE_CELL_BITS = 26, PT_RACE_MANY_BITS = 26 };

/* All that is known of a granule's accesses. */
struct pt_race_cell {
    uint32_t stamp; /* changes with it, and never comes back */
    uint32_t next_free;
    bool raced;
    struct pt_cell cell;
};
extern struct pt_race_cell *pt_race_cells;
struct pt_race_many;

/* ---- memory.c ---- */

bool pt_race_memory_start(void);
void pt_race_memory_restart(void);
struct pt_race_memory pt_race_memory_of(struct pt_race_pieces *pieces);
/* What the thread has at hand goes to all. */
void pt_race_memory_flush(struct pt_race_pieces *pieces);
/* A cell that nothing is known of. Never 0. */
uint32_t pt_race_cell_new(struct pt_race_self *self);
void pt_race_cell_free(struct pt_race_self *self, uint32_t cell);
/* A list of slots of this size (many.c), and its number; 0: there is no more room. */
uint32_t pt_race_many_new(struct pt_race_self *self, unsigned size);
void pt_race_many_free(struct pt_race_self *self, uint32_t at);
/* In units of 32 bytes. */
enum { PT_RACE_MANY_UNIT = 32 };
extern char *pt_race_many_table;
static inline struct pt_race_many *pt_race_many_at(uint32_t at)
{
    return (struct pt_race_many *)(void *)(pt_race_many_table + (size_t)at * PT_RACE_MANY_UNIT);
}

/* ---- shadow.c ---- */

bool pt_race_shadow_start(void);
void pt_race_shadow_restart(void);
/* The slots of an address, made if need be and marked as used; NULL when there is no more memory. */
struct pt_race_granule *pt_race_granule_of(uintptr_t address);
void pt_race_note_synced(uintptr_t address);
/* The page is not a busy one any more: where a granule has raced, others may. */
void pt_race_calm(uintptr_t address);
/* Whatever page it is in, that is none of constants any more. */
void pt_race_is_written(uintptr_t address);
uint64_t pt_race_lock_word(pt_race_word *word);
static inline void pt_race_unlock_word(pt_race_word *word, uint64_t made)
{
    atomic_store_explicit(word, made, memory_order_release);
}

/* ---- sync.c ---- */

bool pt_race_sync_start(void);
void pt_race_sync_restart(void);
/* The objects in this memory end. */
void pt_race_sync_forget(struct pt_race_self *self, uintptr_t from, uintptr_t to);
/* The thread has learned or published something: its region ends. */
void pt_race_changed(struct pt_race_self *self);
/* It goes on as if it were another, which knows all that this one has done: its numbers are used up. */
void pt_race_next_lane(struct pt_race_self *self);
/* The thread that a lane is of. */
uint32_t pt_race_thread_at(uint32_t lane);

/* ---- note.c ---- */

bool pt_race_note_start(void);
void pt_race_note_restart(void);
enum { PT_RACE_PLACE_BITS = 20 };
extern const struct pt_site *_Atomic *pt_race_places;
/* Sites are next to each other, and so are their places, of which a few are used at a time. */
static inline uint32_t pt_race_place_home(const struct pt_site *site)
{
    return (uint32_t)((uintptr_t)site / 32) & ((1u << PT_RACE_PLACE_BITS) - 1);
}
uint32_t pt_race_place_search(const struct pt_site *site);
static inline uint32_t pt_race_place_of(const struct pt_site *site)
{
    uint32_t home = pt_race_place_home(site);
    bool there = atomic_load_explicit(&pt_race_places[home], memory_order_relaxed) == site;
    return __builtin_expect(there, 1) ? home : pt_race_place_search(site);
}
const struct pt_site *pt_race_site_at(uint32_t place);
/* What slots call a place; 0: there are too many. And the place that they call so. */
uint32_t pt_race_code_of(uint32_t place);
uint32_t pt_race_place_at(uint32_t code);
/* The calls that the thread is in now. 0: none. */
uint32_t pt_race_stack_now(void);
/* The same, of a thread that asks often. */
uint32_t pt_race_stack_of(struct pt_race_self *self);
/* Its calls, innermost first, at most `room`; *ret_lost: there were others. */
uint32_t pt_race_stack_read(uint32_t stack, const struct pt_site **out, uint32_t room, bool *ret_lost);
uint32_t pt_race_locks_now(struct pt_race_self *self);
/* Of a lock with the place where it was locked; 0: there are too many. */
uint32_t pt_race_held_number(const struct pt_race_lock_held *lock);
static inline struct pt_cell_note pt_race_note_now(struct pt_race_self *self)
{
    return (struct pt_cell_note){.stack = __portent_calls.depth ? pt_race_stack_of(self) : 0,
                                 .locks = self->lock_set != UINT32_MAX ? self->lock_set : pt_race_locks_now(self)};
}
uint32_t pt_race_locks_read(uint32_t set, struct pt_race_lock_held *out, uint32_t room);

/* ---- block.c ---- */

struct pt_race_block {
    uintptr_t start;
    size_t size;
    uint32_t thread, place, stack;
};
bool pt_race_block_start(void);
void pt_race_block_restart(void);
/* The block that this address lies in; false: nobody knows. */
bool pt_race_block_at(uintptr_t address, struct pt_race_block *ret_block);
/* The one that begins there. */
bool pt_race_block_of(uintptr_t start, struct pt_race_block *ret_block);

/* ---- report.c ---- */

/* What the access that was just made, now with nothing locked, races with. */
void pt_race_report(struct pt_race_self *self, uintptr_t granule, const struct pt_cell_access *access);
bool pt_race_report_start(void);
void pt_race_report_restart(void);
/* Where a thread was created. */
void pt_race_created(uint32_t thread, uint32_t place, uint32_t stack);
/* What a side of a report points to. */
enum { PT_RACE_NAME = 16 }; /* bytes, as the kernel has it, with the end */
struct pt_race_side {
    uint64_t name[PT_RACE_NAME / 8];
    const struct pt_site *stack[PT_FOUND_FRAMES + 1], *creation[PT_FOUND_FRAMES + 1];
    struct pt_race_lock_held held[PT_FOUND_LOCKS];
    struct pt_found_lock locks[PT_FOUND_LOCKS];
};
struct pt_found_side pt_race_make_side(const struct pt_cell_access *access, uint32_t thread, uintptr_t granule,
                                       struct pt_race_side *out);
/* Where a heap block was allocated, for a report. */
struct pt_race_origin {
    struct pt_race_block block;
    uint64_t name[PT_RACE_NAME / 8];
    const struct pt_site *stack[PT_FOUND_FRAMES + 1];
};
void pt_race_add_block(struct pt_found *found, struct pt_race_origin *origin);
/* The key of a pair of places, made once. */
uint64_t pt_race_pair_key(uint32_t one, uint32_t other);

#endif
