/*
 * Lists of slots (runtime/race/many.c): a thread that looks into a list without a lock, whether it has made a read
 * before, against one that gives that list up, so that it becomes another granule's, where the first thread's slot is.
 * The protocol rests on the word of the granule, which is another one each time its list is.
 */
#define PT_TESTS_LISTS
#include "race_threads.h"

enum { EARLIER, LOOKER, CHANGER, FIRST = 5, LISTS = 4, TAKEN = 64 };

static _Alignas(64) char table[PT_RACE_MANY_UNIT * (LISTS + 1) + UINT8_MAX * sizeof(uint64_t)];
static bool is_list_used[LISTS + 1];
static uint32_t freed_by[LISTS + 1];
static bool was_made;

struct pt_race_cell *pt_race_cells;
char *pt_race_many_table;

/* The first that is free: one that nobody has had, or the thread's own, as others come to it by a lock. */
uint32_t pt_race_many_new(struct pt_race_self *self, unsigned size)
{
    for (uint32_t at = 1; at <= LISTS && !size; at++)
        if (!is_list_used[at] && (!freed_by[at] || freed_by[at] == self->hb.id)) {
            is_list_used[at] = true;
            pt_race_many_live(pt_race_many_at(at), size);
            return at;
        }
    pt_interleave_fault("there are more lists than granules");
    return 0;
}
void pt_race_many_free(struct pt_race_self *self, uint32_t at)
{
    if (!is_list_used[at])
        pt_interleave_fault("a list is given back twice");
    is_list_used[at] = false;
    freed_by[at] = self->hb.id;
    pt_race_many_at(at)->next = 0;
}
uint32_t pt_race_open(struct pt_race_self *self, uintptr_t granule, uint64_t w, uint64_t r)
{
    (void)self, (void)granule, (void)w, (void)r;
    pt_interleave_fault("a granule gets a cell");
    return 0;
}

static void look(void)
{
    was_made = pt_race_many_make(&selves[LOOKER], &pairs[0], address_of(0), PT_CELL_WHOLE, PT_CELL_READS, &site);
}

/* It writes all of the first granule, which needs no list any more, and makes one of what is known of another. */
static void give_up(void)
{
    pt_race_many_make(&selves[CHANGER], &pairs[0], address_of(0), PT_CELL_WHOLE, PT_CELL_WRITES, &site);
    pt_race_many_begin(&selves[CHANGER], &pairs[1], address_of(1));
}

/* And gives that up as well, so that the first granule gets the same list once more. */
static void take_again(void)
{
    give_up();
    uint64_t w = pt_race_lock_word(&pairs[1].w);
    pt_race_many_end(&selves[CHANGER], w);
    pt_race_unlock_word(&pairs[1].w, 0);
    if (!(pairs[0].w & PT_RACE_OWN))
        pt_race_many_begin(&selves[CHANGER], &pairs[0], address_of(0));
}

static bool is_in(const struct pt_race_pair *pair, unsigned id)
{
    uint64_t slots[TAKEN] = {pair->w, pair->r};
    unsigned count = 2;
    if (pt_race_is_many(pair->w)) {
        const struct pt_race_many *many = pt_race_many_of(pair->w);
        for (count = 0; count < many->count; count++)
            slots[count] = many->slots[count];
    }
    for (unsigned i = 0; i < count; i++)
        if (slots[i] && pt_race_thread_of(slots[i]) == id)
            return true;
    return false;
}

static const char *check(void)
{
    return was_made && !is_in(&pairs[0], LOOKER) ? "a read that nobody has made before is in no slot" : NULL;
}

static void begin_list(void)
{
    uint32_t at = pt_race_many_new(&selves[EARLIER], 0);
    struct pt_race_many *many = pt_race_many_at(at);
    many->slots[0] = pt_race_slot_of(&selves[EARLIER], FIRST, 0x0f);
    many->slots[1] = pt_race_slot_of(&selves[EARLIER], FIRST + 1, 0xf0);
    many->count = 2;
    pairs[0].w = pt_race_many_word(many, at);
}

/* The page is a busy one. Its threads know all of EARLIER, and the looker has read the second granule. */
static int start(void **state)
{
    (void)state;
    begin_anew();
    memset(table, 0, sizeof table);
    memset(is_list_used, 0, sizeof is_list_used);
    memset(freed_by, 0, sizeof freed_by);
    was_made = false;
    pt_race_many_table = table;
    for (unsigned id = EARLIER; id <= CHANGER; id++)
        begin_thread(id);
    learn(LOOKER, EARLIER);
    learn(CHANGER, EARLIER);
    if (!pt_race_leaves) {
        pt_race_leaves = calloc(1, sizeof *pt_race_leaves);
        pt_race_leaves[0] = calloc(1, sizeof *pt_race_leaves[0]);
    }
    atomic_store(&pt_race_leaves[0]->puts[pt_race_page_of(address_of(0))], PT_RACE_BUSY);
    begin_list();
    pairs[1].r = pt_race_slot_of(&selves[LOOKER], selves[LOOKER].hb.clock++, PT_CELL_WHOLE);
    return 0;
}

static void test_a_list_of_another(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {look, give_up}, .check = check}));
}

static void test_the_same_list_again(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {look, take_again}, .check = check}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_a_list_of_another, start),
                                       cmocka_unit_test_setup(test_the_same_list_again, start)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
