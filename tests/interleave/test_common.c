/*
 * What several threads have read (runtime/race/common.c): a thread that reads again against one that writes and knows
 * only of the first read. Whoever comes first, one of the two sees the other: the protocol rests on the look after the
 * slot was put, and on the exchange that puts it.
 */
#include <stdlib.h>

#include "runtime/race/log.h"
#include "runtime/sys/sys.h"

#include "expect.h"

enum { READER = 1, WRITER = 2, ROW = 1, FIRST = 5, NOW = 9, PLACE = 3 };

/* ---- what the other files of the layer would do ---- */

const struct pt_site *_Atomic *pt_race_places;
struct pt_race_row *pt_race_rows;
_Atomic bool pt_race_learned;
static struct pt_race_row rows[2];
static _Alignas(64) char columns[2][256];
static unsigned column_count;

uint32_t pt_race_place_search(const struct pt_site *site)
{
    (void)site;
    return PLACE;
}
uint64_t pt_race_is_logged(struct pt_race_self *self, uint64_t slot, unsigned bytes, uint32_t place)
{
    (void)self, (void)slot, (void)bytes, (void)place;
    return 0;
}
uint64_t pt_race_log_access(struct pt_race_self *self, uintptr_t granule, unsigned bytes, unsigned kind, uint32_t place,
                            uint64_t same, uint64_t other)
{
    (void)granule, (void)bytes, (void)kind, (void)place, (void)same, (void)other;
    return self->hb.clock++;
}
uint64_t pt_race_put_links(struct pt_race_self *self, const uint64_t *slots, unsigned count)
{
    (void)self, (void)count;
    return slots[0];
}
bool pt_race_knows_last(const struct pt_race_self *self, uint64_t slot)
{
    return pt_race_knows(self, slot);
}
uint32_t pt_race_row_new(struct pt_race_self *self)
{
    (void)self;
    return 0;
}
void pt_race_row_free(struct pt_race_self *self, uint32_t row)
{
    (void)self, (void)row;
}
void *pt_sys_reserve_table(size_t bytes)
{
    (void)bytes;
    return columns[column_count++];
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
    (void)memory, (void)bytes;
}
void pt_runtime_give_up(void)
{
}
void pt_spin_await(_Atomic uint32_t *word, uint32_t seen, unsigned *turn)
{
    (void)word, (void)seen, (void)turn;
    pt_interleave_pause();
}

/* ---- the two threads ---- */

static struct pt_race_self selves[WRITER + 1];
static struct pt_race_pair pair;
static struct pt_vec_chunk chunk;
static _Alignas(struct pt_vec) char past_memory[sizeof(struct pt_vec) + sizeof(struct pt_vec_chunk *)];
static const struct pt_site site = {"a.c", "f", "x", 1, 0, NULL};
static bool reader_saw, writer_saw, wrote;
static unsigned tries;

static void read_again(void)
{
    struct pt_race_self *self = &selves[READER];
    enum pt_race_made made = PT_RACE_CHANGED;
    while (made == PT_RACE_CHANGED && tries++ < 4) {
        uint64_t w = atomic_load_explicit(&pair.w, memory_order_acquire);
        uint64_t r = atomic_load_explicit(&pair.r, memory_order_acquire);
        if (w & PT_RACE_LOCKED) { /* as make.c does it */
            pt_race_unlock_word(&pair.w, pt_race_lock_word(&pair.w));
            continue;
        }
        if (w && !pt_race_knows(self, w)) {
            reader_saw = true;
            return;
        }
        if (!(r & PT_RACE_OWN)) /* its compare-and-swap would fail: w is not as it was */
            continue;
        made = pt_race_common_read(self, &pair, w, r, 0x1000, 0xff, &site);
    }
}

static void write_once(void)
{
    enum pt_race_made made = pt_race_common_write(&selves[WRITER], &pair, 0x1000, 0xff, PT_CELL_WRITES, &site);
    writer_saw = made == PT_RACE_RACES;
    wrote = made == PT_RACE_MADE;
}

static const char *check(void)
{
    if (!writer_saw && !wrote)
        return "the write was neither made nor seen to race";
    if (!writer_saw && !reader_saw)
        return "neither has seen the other";
    return NULL;
}

static void begin_thread(unsigned id)
{
    struct pt_race_self *self = &selves[id];
    self->hb.id = id;
    self->hb.clock = NOW;
    self->log.region = pt_race_slot_of(self, NOW, 0);
    self->log.span = UINT64_C(1) << PT_RACE_THREAD_AT;
    self->log.column = (uint8_t)pt_race_column_take();
}

/* The reader has read it at FIRST, and another thread then; the writer knows that. */
static int start(void **state)
{
    (void)state;
    pt_race_rows = rows;
    if (!pt_race_places)
        pt_race_places = calloc((size_t)1 << PT_RACE_PLACE_BITS, sizeof *pt_race_places);
    begin_thread(READER);
    begin_thread(WRITER);
    chunk.at[READER] = FIRST;
    struct pt_vec *past = (struct pt_vec *)past_memory;
    past->count = 1;
    past->chunks[0] = &chunk;
    selves[WRITER].hb.past = past;
    rows[ROW].generation = 1;
    rows[ROW].first = pt_race_slot_of(&selves[READER], FIRST, 0xff);
    pair.r = PT_RACE_OWN | UINT64_C(1) << PT_RACE_ROW_BITS | ROW;
    return pt_race_places ? 0 : -1;
}

static void test_a_reader_and_a_writer(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {read_again, write_once}, .check = check}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_a_reader_and_a_writer, start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
