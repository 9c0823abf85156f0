/* Threads and granules for tests of runtime/race's slots of reads, with what its other files would do. The layer is
 * compiled as PT_RACE_SMALL: what it has of everything is part of the data that each run begins with. */
#ifndef PT_TESTS_INTERLEAVE_RACE_THREADS_H
#define PT_TESTS_INTERLEAVE_RACE_THREADS_H

#include <stdlib.h>
#include <string.h>

#include "runtime/race/log.h"
#include "runtime/sys/sys.h"

#include "expect.h"

enum { NOW = 9, PLACE = 3, SELVES = 4, GRANULES = 4, ROWS = 8, COLUMN = 2048 };

static struct pt_race_self selves[SELVES];
static struct pt_race_pair pairs[GRANULES];
static struct pt_race_record rings[SELVES][PT_RACE_RING];
static struct pt_race_row rows[ROWS];
static bool is_row_used[ROWS];
static _Alignas(64) char columns[SELVES][COLUMN];
static unsigned column_count;
static struct pt_vec_chunk chunks[SELVES];
static _Alignas(struct pt_vec) char pasts[SELVES][sizeof(struct pt_vec) + sizeof(struct pt_vec_chunk *)];
static const struct pt_site site = {"a.c", "f", "x", 1, 0, NULL};

/* ---- what the other files of the layer would do ---- */

const struct pt_site *_Atomic *pt_race_places;
struct pt_race_row *pt_race_rows;
_Atomic bool pt_race_learned;
__thread struct pt_calls __portent_calls;

uint32_t pt_race_place_search(const struct pt_site *asked)
{
    (void)asked;
    return PLACE;
}
bool pt_race_knows_last(const struct pt_race_self *self, uint64_t slot)
{
    return pt_race_knows(self, slot);
}
/* The first that is free, so that one is used again as soon as it can be. */
uint32_t pt_race_row_new(struct pt_race_self *self, enum pt_race_row_kind kind)
{
    (void)self, (void)kind;
    for (uint32_t i = 1; i < ROWS; i++)
        if (!is_row_used[i]) {
            is_row_used[i] = true;
            return i;
        }
    pt_interleave_fault("there are more rows than granules and threads");
    return 0;
}
/* Who looks at it now finds a read that nobody knows. */
void pt_race_row_free(struct pt_race_self *self, uint32_t row)
{
    (void)self;
    if (!is_row_used[row])
        pt_interleave_fault("a row is given back twice");
    is_row_used[row] = false;
    rows[row].first = rows[row].slot = pt_race_slot_of(&selves[0], PT_RACE_NUMBER_MAX, PT_CELL_WHOLE);
}
#ifndef PT_TESTS_LISTS
uint64_t pt_race_put_links(struct pt_race_self *self, const uint64_t *slots, unsigned count)
{
    (void)self, (void)count;
    return slots[0];
}
#endif
void pt_race_log_prepare(struct pt_race_self *self)
{
    (void)self;
    pt_interleave_fault("a log is full");
}
#ifndef PT_TESTS_LISTS
void pt_race_many_begin(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule)
{
    (void)self, (void)pair, (void)granule;
    pt_interleave_fault("a granule gets a list");
}
bool pt_race_many_make(struct pt_race_self *self, struct pt_race_pair *pair, uintptr_t granule, unsigned bytes,
                       unsigned kind, const struct pt_site *where)
{
    (void)self, (void)pair, (void)granule, (void)bytes, (void)kind, (void)where;
    return false;
}
#endif
void pt_race_touch(struct pt_race_self *self, uintptr_t granule, struct pt_race_step *access)
{
    (void)self, (void)granule, (void)access;
}
struct pt_race_step pt_race_step_of(unsigned kind, const struct pt_site *where)
{
    (void)kind;
    return (struct pt_race_step){.site = where};
}
void *pt_sys_reserve_table(size_t bytes)
{
    return bytes <= COLUMN && column_count < SELVES ? columns[column_count++] : NULL;
}
void *pt_sys_reserve(size_t bytes)
{
    return calloc(1, bytes);
}
void pt_sys_populate(void *memory, size_t bytes)
{
    (void)memory, (void)bytes;
}
void pt_sys_empty(void *memory, size_t bytes)
{
    memset(memory, 0, bytes);
}
void pt_runtime_give_up(void)
{
}
void pt_spin_await(_Atomic uint32_t *word, uint32_t seen, unsigned *turn)
{
    (void)word, (void)seen, (void)turn;
    pt_interleave_pause();
}

/* ---- threads ---- */

static void begin_thread(unsigned id)
{
    struct pt_race_self *self = &selves[id];
    struct pt_vec *past = (struct pt_vec *)pasts[id];
    past->count = 1;
    past->chunks[0] = &chunks[id];
    self->hb.id = id;
    self->hb.past = past;
    self->hb.clock = NOW;
    self->log.ring = rings[id];
    self->log.stop = PT_RACE_RING;
    self->log.epoch = PT_RACE_EPOCH;
    self->log.region = pt_race_slot_of(self, NOW, 0);
    self->log.span = UINT64_C(1) << PT_RACE_THREAD_AT;
    self->log.column = (uint8_t)pt_race_column_take();
}

/* From now on the one knows all that the other has done so far. */
__attribute__((unused)) static void learn(unsigned id, unsigned of)
{
    chunks[id].at[of] = (uint32_t)selves[of].hb.clock - 1;
}

/* As in the beginning, whatever tests there were before. */
static void begin_anew(void)
{
    memset(selves, 0, sizeof selves);
    memset(pairs, 0, sizeof pairs);
    memset(rows, 0, sizeof rows);
    memset(is_row_used, 0, sizeof is_row_used);
    memset(chunks, 0, sizeof chunks);
    pt_race_common_restart();
    pt_race_rows = rows;
    if (!pt_race_places)
        pt_race_places = calloc((size_t)1 << PT_RACE_PLACE_BITS, sizeof *pt_race_places);
    assert_non_null(pt_race_places);
}

static uintptr_t address_of(unsigned granule)
{
    return 0x1000 + 8 * granule;
}

/* False: it races. */
__attribute__((unused)) static bool make(unsigned id, unsigned granule, unsigned kind)
{
    return pt_race_make(&selves[id], &pairs[granule], address_of(granule), PT_CELL_WHOLE, kind, &site);
}

#endif
