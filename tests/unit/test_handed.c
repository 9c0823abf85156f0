/*
 * Levels on their way from who makes them to who fills them (engine/handed.h): what is put is what is got, wherever in
 * the ring, with narrow and wide windows; and a level of a window of 64 cuts takes no more than three cache lines.
 */
#include "computation.h"
#include "engine/handed.h"

enum { LEVELS = 3000, MOST_CUTS = 700 };

struct level {
    struct lat_rank_level level;
    uint32_t parents[2 * MOST_CUTS];
    struct lat_rank_event arrived[LAT_RANK_SPAN];
    struct pt_value values[LAT_RANK_SPAN];
};

static void make(struct level *l, uint64_t *seed, uint64_t number, uint32_t window, bool valued)
{
    struct lat_rank_level *level = &l->level;
    uint32_t runs = 1 + below(seed, window < LAT_RANK_SPAN ? window : LAT_RANK_SPAN), end = 0;
    *level = (struct lat_rank_level){.level = number,
                                     .end = number * 1000003,
                                     .pinned = below(seed, 1000),
                                     .event_bytes = (uint64_t)below(seed, 1000) << 32,
                                     .observed = below(seed, 1000),
                                     .arrived = l->arrived,
                                     .arrived_count = below(seed, 20) ? below(seed, 3) : LAT_RANK_SPAN,
                                     .parents = l->parents,
                                     .run_count = runs};
    if (below(seed, 4) == 0)
        level->taken_out = (lat_word)(number + 1) << below(seed, 100);
    level->values = valued ? l->values : NULL;
    for (uint32_t i = 0; i < level->arrived_count; i++) {
        l->arrived[i] = (struct lat_rank_event){number + i, i, below(seed, 9), below(seed, 9), 7, 8, below(seed, 2)};
        l->values[i] = pt_value_int(below(seed, 100));
    }
    for (uint32_t i = 0; i < runs; i++) { /* each has a cut, and there is room for one in the later ones */
        end += 1 + below(seed, window - end - (runs - i) + 1);
        level->runs[i] = (struct lat_rank_run){LAT_RANK_SPAN - runs + i, end};
    }
    level->count = end;
    for (uint32_t at = 0; at < end; at++)
        l->parents[at] = below(seed, window);
}

static void same(const struct lat_rank_level *a, const struct lat_rank_level *b)
{
    assert_true(a->level == b->level && a->taken_out == b->taken_out && a->end == b->end && a->pinned == b->pinned);
    assert_true(a->event_bytes == b->event_bytes && a->observed == b->observed && a->count == b->count);
    assert_true(a->arrived_count == b->arrived_count && a->run_count == b->run_count);
    for (uint32_t i = 0; i < a->arrived_count; i++) {
        const struct lat_rank_event *x = &a->arrived[i], *y = &b->arrived[i];
        assert_true(x->number == y->number && x->index == y->index && x->column == y->column);
        assert_true(x->effect == y->effect && x->var == y->var && x->joint == y->joint);
        if (a->values)
            assert_int_equal(a->values[i].i, b->values[i].i);
    }
    for (uint32_t i = 0; i < a->run_count; i++)
        assert_true(a->runs[i].top == b->runs[i].top && a->runs[i].end == b->runs[i].end);
    assert_memory_equal(a->parents, b->parents, a->count * sizeof *a->parents);
}

/* Some are put while there is room, then some are got. */
static void pass(uint32_t window, bool valued)
{
    enum { BEHIND = 256 };
    struct pt_analysis_options options = {.window = window};
    struct lat_ranks ranks = {.var_count = valued};
    struct pt_lattice *l = pt_xaligned(LAT_CACHE_LINE, sizeof *l);
    struct level *sent = pt_xaligned(LAT_CACHE_LINE, BEHIND * sizeof *sent),
                 *got = pt_xaligned(LAT_CACHE_LINE, sizeof *got);
    struct lat_ring ring;
    uint64_t seed = window, put = 0, taken = 0, positions[BEHIND], made = 0, filled = 0;
    uint32_t full = 0;
    l->options = &options;
    l->ranks = &ranks;
    lat_ring_init(&ring, l);
    got->level.level = UINT64_MAX; /* the one before level 0 */
    got->level.parents = got->parents;
    while (filled < LEVELS) {
        for (uint32_t some = below(&seed, BEHIND); some && made < LEVELS && made - filled < BEHIND; some--) {
            if (!lat_ring_has_room(&ring, made == filled ? put : positions[filled % BEHIND], put)) {
                full++;
                break;
            }
            make(&sent[made % BEHIND], &seed, made, window, valued);
            positions[made % BEHIND] = put;
            uint64_t from = put;
            put = lat_ring_put(&ring, put, made % 64 == 0, &sent[made % BEHIND].level);
            lat_ring_publish(&ring, from, put);
            made++;
        }
        for (uint32_t some = below(&seed, BEHIND); some && filled < made; some--) {
            taken = lat_ring_get(&ring, taken, filled % 64 == 0, put, &got->level);
            same(&sent[filled++ % BEHIND].level, &got->level);
        }
    }
    assert_int_equal(put, taken);
    assert_true(put > 4 * ring.size && (full > 0 || window < 64));
    lat_ring_release(&ring);
    free(sent);
    free(got);
    free(l);
}

static void test_as_they_were(void **state)
{
    (void)state;
    static const uint32_t windows[] = {1, 3, 64, 255, 256, 257, MOST_CUTS};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        pass(windows[i], false);
        pass(windows[i], true);
    }
}

static void test_three_lines(void **state)
{
    (void)state;
    struct pt_analysis_options options = {.window = 64};
    struct lat_ranks ranks = {.var_count = 0};
    struct pt_lattice *l = pt_xaligned(LAT_CACHE_LINE, sizeof *l);
    struct level *level = pt_xaligned(LAT_CACHE_LINE, sizeof *level);
    struct lat_ring ring;
    l->options = &options;
    l->ranks = &ranks;
    lat_ring_init(&ring, l);
    level->level = (struct lat_rank_level){
        .count = 64, .run_count = 20, .parents = level->parents, .arrived = level->arrived, .arrived_count = 1};
    for (uint32_t i = 0; i < 20; i++)
        level->level.runs[i] = (struct lat_rank_run){i, i < 19 ? i + 1 : 64};
    assert_true(lat_ring_put(&ring, 0, true, &level->level) <= 3 * LAT_CACHE_LINE);
    lat_ring_release(&ring);
    free(level);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_they_were), cmocka_unit_test(test_three_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
