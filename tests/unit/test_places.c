/* Addresses to variables: cells, their lives, and names from debug information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trace/blocks.h"
#include "trace/places.h"

struct fixture {
    struct pt_names names;
    struct pt_places *places;
};

/* The program has `x` (4 bytes at 0x10), `u` (a union of 100 bytes at 0x20), `p` (a struct at 0x90, with a char and
 * a long) and two that are called `t` (a byte each, at 0xa0). */
static bool place(void *context, const char *file, uint64_t offset, bool whole, struct pt_placed *ret_placed)
{
    (void)context, (void)whole;
    assert_string_equal(file, "");
    if (offset - 0x10 < 4)
        *ret_placed = (struct pt_placed){"x", 0x10, 4, PT_WATCH_INT};
    else if (offset - 0x20 < 100)
        *ret_placed = (struct pt_placed){"u", 0x20, 100, PT_WATCH_UINT};
    else if (offset == 0x90)
        *ret_placed = (struct pt_placed){"p.c", 0x90, 1, PT_WATCH_INT};
    else if (offset - 0x98 < 8)
        *ret_placed = (struct pt_placed){"p.l", 0x98, 8, PT_WATCH_INT};
    else if (offset - 0xa0 < 2)
        *ret_placed = (struct pt_placed){"t", offset, 1, PT_WATCH_INT};
    else if (offset - 0x90 < 16)
        *ret_placed = (struct pt_placed){"p", 0x90, 16, PT_WATCH_UINT};
    else
        return false;
    return true;
}

static void setup(struct fixture *f)
{
    pt_names_init(&f->names);
    f->places = pt_places_new(&f->names);
    pt_places_set_function(f->places, place, NULL);
    pt_places_add_module(f->places, "", 0x5000, 0x5000, 0x6000);
}

static void teardown(struct fixture *f)
{
    pt_places_free(f->places);
    pt_names_release(&f->names);
}

static void expect(struct fixture *f, uint64_t address, uint64_t end, bool block, const char *name, uint64_t low,
                   uint32_t size)
{
    struct pt_cell cell = pt_places_cell(f->places, address, end, block);
    assert_string_equal(pt_name(&f->names, PT_SPACE_VAR, cell.name), name);
    assert_int_equal(cell.low, low);
    assert_int_equal(cell.size, size);
}

static void globals(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    expect(&f, 0x5012, 0x5013, false, "x", 0x5010, 4);
    expect(&f, 0x5028, 0x502c, false, "u+8", 0x5028, 4);
    expect(&f, 0x5100, 0x5108, false, "0x5100", 0x5100, 8);
    uint32_t lock = pt_places_object(f.places, 0x5010, PT_SPACE_LOCK);
    assert_string_equal(pt_name(&f.names, PT_SPACE_LOCK, lock), "x");
    teardown(&f);
}

static void expect_seen(struct fixture *f, uint64_t address, enum pt_space space, const char *name, uint32_t size)
{
    struct pt_cell cell = pt_places_look(f->places, address, space);
    assert_string_equal(pt_name(&f->names, space, cell.name), name);
    assert_int_equal(cell.size, size);
}

/* Who only asks changes no name. */
static void looking(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    expect_seen(&f, 0x5012, PT_SPACE_VAR, "x", 4);
    expect_seen(&f, 0x5010, PT_SPACE_LOCK, "x", 1);
    expect_seen(&f, 0x5012, PT_SPACE_LOCK, "x+2", 1);
    for (int life = 1; life < 3; life++) {
        const char *last = "0x9000", *now = life > 1 ? "0x9000#2" : last;
        expect_seen(&f, 0x9000, PT_SPACE_VAR, last, 1);
        expect(&f, 0x9000, 0x9004, false, now, 0x9000, 4);
        expect_seen(&f, 0x9003, PT_SPACE_VAR, now, 4);
        pt_places_forget(f.places, 0x9000, 0x9008);
        expect_seen(&f, 0x9000, PT_SPACE_VAR, now, 1);
    }
    teardown(&f);
}

/* What lies between members is none of them, nor the whole. */
static void padding(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    expect(&f, 0x5091, 0x50a0, false, "p+1", 0x5091, 7);
    expect(&f, 0x5090, 0x50a0, false, "p.c", 0x5090, 1);
    expect(&f, 0x509c, 0x50a0, false, "p.l", 0x5098, 8);
    teardown(&f);
}

/* Other memory is cut as it was first accessed; blocks in aligned eights, up to cells that are there. */
static void cells(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    expect(&f, 0x7004, 0x7008, false, "0x7004", 0x7004, 4);
    expect(&f, 0x7006, 0x7007, false, "0x7004", 0x7004, 4);
    expect(&f, 0x7000, 0x7020, true, "0x7000", 0x7000, 4);
    expect(&f, 0x7008, 0x7020, true, "0x7008", 0x7008, 8);
    expect(&f, 0x7014, 0x701c, false, "0x7014", 0x7014, 8); /* across granules */
    expect(&f, 0x7018, 0x7019, false, "0x7014", 0x7014, 8);
    teardown(&f);
}

/* Tables grow while names are handed out. */
static void many(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    for (uint64_t i = 0; i < 2000; i++) {
        uint32_t lock = pt_places_object(f.places, 0x7000 + i * 8, PT_SPACE_LOCK);
        assert_int_equal(pt_places_object(f.places, 0x7000 + i * 8, PT_SPACE_LOCK), lock);
        assert_int_equal(lock, i);
    }
    teardown(&f);
}

static void lives(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    expect(&f, 0x7000, 0x7008, false, "0x7000", 0x7000, 8);
    expect(&f, 0x7ffc, 0x8004, false, "0x7ffc", 0x7ffc, 8); /* across pages */
    uint32_t lock = pt_places_object(f.places, 0x7010, PT_SPACE_LOCK);
    pt_places_forget(f.places, 0x7008, 0x7010);
    expect(&f, 0x7000, 0x7008, false, "0x7000", 0x7000, 8);
    pt_places_forget(f.places, 0x7000, 0x7020);
    expect(&f, 0x7000, 0x7004, false, "0x7000#2", 0x7000, 4);
    assert_int_not_equal(pt_places_object(f.places, 0x7010, PT_SPACE_LOCK), lock);
    pt_places_forget(f.places, 0x8000, 0x8001); /* its second half is enough */
    expect(&f, 0x7ffc, 0x8000, false, "0x7ffc#2", 0x7ffc, 4);
    pt_places_forget(f.places, 0, UINT64_MAX); /* costs by what is known */
    expect(&f, 0x7000, 0x7001, false, "0x7000#3", 0x7000, 1);
    expect(&f, 0x5011, 0x5012, false, "x", 0x5010, 4);
    teardown(&f);
}

/* Objects that are given a name: the next one of that name has a number, and an object that is known already keeps what
 * it has. */
static void given_names(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    const struct pt_strtab *names = &f.names.space[PT_SPACE_OTHER];
    pt_places_name_object(f.places, 0x7000, "pipe 3");
    pt_places_name_object(f.places, 0x7008, "pipe 3");
    pt_places_name_object(f.places, 0x7010, "pipe 5");
    assert_string_equal(pt_strtab_text(names, pt_places_object(f.places, 0x7000, PT_SPACE_OTHER)), "pipe 3");
    assert_string_equal(pt_strtab_text(names, pt_places_object(f.places, 0x7008, PT_SPACE_OTHER)), "pipe 3#2");
    assert_string_equal(pt_strtab_text(names, pt_places_object(f.places, 0x7010, PT_SPACE_OTHER)), "pipe 5");
    pt_places_name_object(f.places, 0x7000, "socket 3");
    assert_string_equal(pt_strtab_text(names, pt_places_object(f.places, 0x7000, PT_SPACE_OTHER)), "pipe 3");
    pt_places_forget(f.places, 0x7000, 0x7008);
    pt_places_name_object(f.places, 0x7000, "pipe 3");
    assert_string_equal(pt_strtab_text(names, pt_places_object(f.places, 0x7000, PT_SPACE_OTHER)), "pipe 3#3");
    teardown(&f);
}

static void note_end(void *context, uint32_t name)
{
    struct {
        struct fixture *f;
        char text[256];
    } *seen = context;
    strcat(strcat(seen->text, pt_name(&seen->f->names, PT_SPACE_HEAP, name)), " ");
}

static void expect_ends(struct fixture *f, uint64_t low, uint64_t high, const char *names)
{
    struct {
        struct fixture *f;
        char text[256];
    } seen = {.f = f};
    pt_places_end(f->places, low, high, note_end, &seen);
    assert_string_equal(seen.text, names);
}

static void expect_block(struct fixture *f, uint64_t low, uint64_t size, const char *name)
{
    assert_string_equal(pt_name(&f->names, PT_SPACE_HEAP, pt_places_begin_block(f->places, low, size)), name);
}

/* What lies in a block is called after it, until the block is forgotten; the end of memory is that of all in it. */
static void blocks(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    expect(&f, 0x9008, 0x9010, false, "0x9008", 0x9008, 8); /* before it was known */
    expect_block(&f, 0x9000, 24, "0x9000");
    expect(&f, 0x9008, 0x9010, false, "0x9000+8", 0x9008, 8);
    expect(&f, 0x9000, 0x9004, false, "0x9000+0", 0x9000, 4);
    expect(&f, 0x9018, 0x901c, false, "0x9018", 0x9018, 4); /* behind it */
    expect_ends(&f, 0x9000, 0x9020, "0x9000 0x9018 ");
    expect(&f, 0x50a0, 0x50a1, false, "t", 0x50a0, 1);
    expect(&f, 0x50a1, 0x50a2, false, "t", 0x50a1, 1);
    expect_ends(&f, 0x50a0, 0x50a2, "t t ");
    expect(&f, 0x9018, 0x901c, false, "0x9018", 0x9018, 4);
    expect_ends(&f, 0x8ffc, 0x9020, "0x9000 0x9018 ");      /* it begins before the block */
    expect(&f, 0x9030, 0x9039, false, "0x9030", 0x9030, 9); /* in two granules, the second of which has others */
    expect(&f, 0x903f, 0x9040, false, "0x903f", 0x903f, 1);
    expect(&f, 0x9039, 0x903f, false, "0x9039", 0x9039, 6);
    expect_ends(&f, 0x9030, 0x9040, "0x9030 0x9039 0x903f ");
    expect_ends(&f, 0x9000, 0x9008, "0x9000+0 "); /* a part of it */
    expect(&f, 0x9010, 0x9014, false, "0x9000+16", 0x9010, 4);
    pt_places_forget(f.places, 0x9000, 0x9020);
    expect_ends(&f, 0x9000, 0x9020, "");
    expect(&f, 0x9008, 0x9010, false, "0x9008#2", 0x9008, 8);
    expect_block(&f, 0x9000, 16, "0x9000#2");
    expect(&f, 0x9008, 0x9010, false, "0x9000#2+8", 0x9008, 8);
    expect_block(&f, 0x9008, 16, "0x9008#3"); /* the end of the other was not seen */
    expect(&f, 0x9000, 0x9004, false, "0x9000#3", 0x9000, 4);
    teardown(&f);
}

/* Against a list of all of them: bytes, granules that are near the end of a page, and what is large. */
static void random_blocks(uint64_t start, uint64_t unit)
{
    enum { ROOM = 64, STEPS = 20000 };
    struct pt_blocks table;
    static uint32_t there[ROOM]; /* which block has each address, counted in `unit` from `start` */
    uint32_t next = 1;
    uint64_t random = 7 + unit;
    memset(there, 0, sizeof there);
    pt_blocks_init(&table);
    for (unsigned i = 0; i < STEPS; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t low = random >> 33 & (ROOM - 1), size = 1 + (random >> 40 & 7), high = low + size;
        high = high > ROOM ? ROOM : high;
        if (random >> 51 & 1) { /* as one that begins and ends anywhere finds it */
            uint64_t from = start + low * unit + unit / 3, to = start + high * unit - unit / 3;
            const struct pt_block *any = pt_blocks_first(&table, from, to);
            for (uint64_t at = low; at < high; at++)
                if (there[at]) {
                    assert_non_null(any);
                    assert_int_equal(any->name, there[at]);
                    break;
                }
        }
        const struct pt_block *first = pt_blocks_first(&table, start + low * unit, start + high * unit);
        uint64_t at = low;
        while (at < high && !there[at])
            at++;
        assert_int_equal(first ? first->name : 0, at < high ? there[at] : 0);
        if (random >> 50 & 1) {
            pt_blocks_remove(&table, start + low * unit, start + high * unit);
            for (uint64_t j = low; j < high; j++)
                for (uint32_t k = 0, gone = there[j]; k < ROOM; k++)
                    there[k] = there[k] == gone ? 0 : there[k];
        } else if (!first) {
            pt_blocks_add(&table, (struct pt_block){start + low * unit, (high - low) * unit, next});
            for (uint64_t j = low; j < high; j++)
                there[j] = next;
            next++;
        }
    }
    assert_true(next > STEPS / 100);
    assert_true(table.count <= ROOM);
    pt_blocks_release(&table);
}

static void many_blocks(void **state)
{
    (void)state;
    random_blocks(0, 1);
    random_blocks(0x7ffff0, 8);
    random_blocks(0x3ff800, 24);
    random_blocks(0x7f0000000000, 1016);
    random_blocks(0x10000, 1 << 20);
}

/* The same by definition: for each byte its cell, for each address its lives. */
enum { MODEL_LOW = 0x9000, MODEL_BYTES = 192, MODEL_STEPS = 400 };
struct model {
    struct {
        uint64_t low;
        uint32_t size;
        char name[48];
    } cells[MODEL_STEPS], blocks[MODEL_STEPS];
    int cell_count, block_count;
    int cell_of[MODEL_BYTES], block_of[MODEL_BYTES]; /* plus 1; 0: none */
    unsigned lives[MODEL_BYTES];
};

static void model_life(struct model *m, uint64_t address, char *name)
{
    unsigned lives = ++m->lives[address - MODEL_LOW];
    if (lives == 1)
        snprintf(name, 48, "0x%llx", (unsigned long long)address);
    else
        snprintf(name, 48, "0x%llx#%u", (unsigned long long)address, lives);
}

/* Cells and blocks of which a byte is forgotten go as wholes. */
static void model_forget(struct model *m, uint64_t low, uint64_t high)
{
    for (uint64_t at = low; at < high; at++) {
        int cell = m->cell_of[at - MODEL_LOW], block = m->block_of[at - MODEL_LOW];
        for (int i = 0; i < MODEL_BYTES; i++) {
            m->cell_of[i] = cell && m->cell_of[i] == cell ? 0 : m->cell_of[i];
            m->block_of[i] = block && m->block_of[i] == block ? 0 : m->block_of[i];
        }
    }
}

static int model_cell(struct model *m, uint64_t address, uint64_t end)
{
    int at = (int)(address - MODEL_LOW), made = m->cell_count, block = m->block_of[at];
    if (m->cell_of[at])
        return m->cell_of[at] - 1;
    m->cell_count++;
    m->cells[made].low = address;
    do
        m->cell_of[at++] = made + 1;
    while (at < (int)(end - MODEL_LOW) && !m->cell_of[at]);
    m->cells[made].size = (uint32_t)(MODEL_LOW + (uint64_t)at - address);
    if (block) {
        char name[48];
        memcpy(name, m->blocks[block - 1].name, sizeof name);
        snprintf(m->cells[made].name, sizeof m->cells[made].name, "%.30s+%u", name,
                 (unsigned)(address - m->blocks[block - 1].low));
    } else {
        model_life(m, address, m->cells[made].name);
    }
    return made;
}

/* `ids`: of the cells of the model. */
static void model_step(struct fixture *f, struct model *m, unsigned seed, uint32_t *ids)
{
    static const unsigned sizes[] = {1, 2, 4, 8, 16, 3};
    uint64_t low = MODEL_LOW + seed % (MODEL_BYTES - 40), size = sizes[seed >> 8 & 3    ? seed >> 10 & 3
                                                                       : seed >> 10 & 1 ? 4
                                                                                        : 5];
    unsigned what = seed >> 12 & 15;
    if (what < 11) {
        int at = model_cell(m, low, low + size);
        struct pt_cell cell = pt_places_cell(f->places, low, low + size, false);
        assert_int_equal(cell.low, m->cells[at].low);
        assert_int_equal(cell.size, m->cells[at].size);
        assert_true(ids[at] == PT_NONE || ids[at] == cell.name);
        ids[at] = cell.name;
        if (what < 2)
            assert_string_equal(pt_name(&f->names, PT_SPACE_VAR, cell.name), m->cells[at].name);
    } else if (what < 14) {
        uint64_t high = low + size + (seed >> 16 & 15);
        model_forget(m, low, high);
        pt_places_forget(f->places, low, high);
    } else {
        int made = m->block_count++;
        size += seed >> 16 & 15;
        model_forget(m, low, low + size);
        m->blocks[made].low = low;
        model_life(m, low, m->blocks[made].name);
        for (uint64_t at = low; at < low + size; at++)
            m->block_of[at - MODEL_LOW] = made + 1;
        uint32_t name = pt_places_begin_block(f->places, low, size);
        if (what == 14)
            assert_string_equal(pt_name(&f->names, PT_SPACE_HEAP, name), m->blocks[made].name);
    }
}

/* Names are those of the model, whenever they are asked for, and ids are equal where names are. */
static void random_memory(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 300; round++) {
        struct fixture f;
        static struct model m;
        uint32_t ids[MODEL_STEPS];
        unsigned seed = round * 2654435761u + 1;
        memset(&m, 0, sizeof m);
        memset(ids, 0xff, sizeof ids);
        setup(&f);
        for (int i = 0; i < MODEL_STEPS; i++) {
            seed = seed * 1664525 + 1013904223;
            model_step(&f, &m, seed >> 8, ids);
            if (round % 4 == 0 && i % 100 == 50) /* somebody looks for a name */
                (void)pt_places_look(f.places, MODEL_LOW + seed % MODEL_BYTES, PT_SPACE_VAR);
        }
        for (int i = 0; i < m.cell_count; i++)
            for (int k = 0; k < i; k++)
                assert_int_equal(ids[i] == ids[k], strcmp(m.cells[i].name, m.cells[k].name) == 0);
        for (int i = 0; i < m.cell_count; i++) {
            assert_string_equal(pt_name(&f.names, PT_SPACE_VAR, ids[i]), m.cells[i].name);
            assert_int_equal(pt_strtab_find(&f.names.space[PT_SPACE_VAR], m.cells[i].name, strlen(m.cells[i].name)),
                             ids[i]);
        }
        teardown(&f);
    }
}

/* Objects of one byte, several in a granule and beside variables, each of its own space. */
static void objects_in_a_granule(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    uint32_t first = pt_places_object(f.places, 0x7001, PT_SPACE_LOCK);
    expect(&f, 0x7000, 0x7004, false, "0x7000", 0x7000, 4);
    uint32_t second = pt_places_object(f.places, 0x7005, PT_SPACE_LOCK);
    uint32_t other = pt_places_object(f.places, 0x7001, PT_SPACE_OTHER);
    assert_int_not_equal(first, second);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pt_places_object(f.places, 0x7001, PT_SPACE_LOCK), first);
        assert_int_equal(pt_places_object(f.places, 0x7005, PT_SPACE_LOCK), second);
        assert_int_equal(pt_places_object(f.places, 0x7001, PT_SPACE_OTHER), other);
    }
    pt_places_forget(f.places, 0x7004, 0x7008);
    assert_int_equal(pt_places_object(f.places, 0x7001, PT_SPACE_LOCK), first);
    assert_int_equal(pt_places_object(f.places, 0x7001, PT_SPACE_OTHER), other);
    assert_int_not_equal(pt_places_object(f.places, 0x7005, PT_SPACE_LOCK), second);
    expect(&f, 0x7002, 0x7003, false, "0x7000", 0x7000, 4);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(globals),
        cmocka_unit_test(random_memory),
        cmocka_unit_test(looking),
        cmocka_unit_test(padding),
        cmocka_unit_test(cells),
        cmocka_unit_test(many),
        cmocka_unit_test(lives),
        cmocka_unit_test(given_names),
        cmocka_unit_test(blocks),
        cmocka_unit_test(many_blocks),
        cmocka_unit_test(objects_in_a_granule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
