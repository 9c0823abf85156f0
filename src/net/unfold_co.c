/*
 * Concurrency, kept per event: every event has one row of bits, one for each condition older than its own, set where
 * the two are concurrent. All conditions an event makes share its row and are concurrent with each other, so any pair
 * of conditions is answered by the row of the newer one's event. With c conditions and e events that is at most e*c/2
 * bits, where a relation between conditions would take c*c: a write of a variable shared by n threads makes n
 * conditions and one row.
 *
 * The row of a new event is the intersection of what its conditions are concurrent with. Words are intersected where
 * the rows of their events reach; for conditions made later the test goes the other way, by that later event's row.
 * Cost of one row: its words, and for every event that remains in question the words that the preset spreads over.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

bool pt_unfold_is_co(const struct unfolder *un, uint32_t newer, uint32_t older)
{
    const struct pt_unfold_event *e = &un->u->events[un->u->condition_event[newer]];
    if (older >= e->post_start)
        return older != newer; /* both are made by e */
    return e->co[older / 64] >> (older % 64) & 1;
}

/* The preset as (word, mask) pairs. */
struct mask {
    uint32_t word;
    uint64_t bits;
};

static uint32_t make_masks(const uint32_t *conditions, uint32_t count, struct mask *masks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t word = conditions[i] / 64, m = n;
        while (m > 0 && masks[m - 1].word != word)
            m--;
        if (m == 0) {
            masks[n] = (struct mask){word, 0};
            m = ++n;
        }
        masks[m - 1].bits |= (uint64_t)1 << (conditions[i] % 64);
    }
    return n;
}

/* Whether every condition of the masks that is older than e's own is concurrent with e. */
static bool masks_co(const struct mask *masks, uint32_t count, const struct pt_unfold_event *e)
{
    uint32_t last = e->post_start / 64;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bits = masks[i].bits;
        if (masks[i].word > last)
            continue;
        if (masks[i].word == last)
            bits &= ((uint64_t)1 << (e->post_start % 64)) - 1;
        if (bits && (e->co[masks[i].word] & bits) != bits)
            return false;
    }
    return true;
}

static void clear_range(uint64_t *row, uint32_t start, uint32_t count)
{
    for (uint32_t c = start; c < start + count; c++)
        row[c / 64] &= ~((uint64_t)1 << (c % 64));
}

/* The first set bit at or behind `from`; `count` when there is none. */
static uint32_t next_bit(const uint64_t *row, uint32_t count, uint32_t from)
{
    if (from >= count)
        return count;
    uint32_t w = from / 64;
    uint64_t bits = row[w] & (~(uint64_t)0 << (from % 64));
    while (!bits && (w + 1) * 64 < count)
        bits = row[++w];
    return bits ? w * 64 + (uint32_t)__builtin_ctzll(bits) : count;
}

uint64_t *pt_unfold_co(struct unfolder *un, const uint32_t *conditions, uint32_t count, size_t *ret_words)
{
    struct pt_unfolding *u = un->u;
    size_t words = (size_t)u->condition_count / 64 + 1;
    uint64_t *row = pt_xmalloc(words * sizeof *row);
    memset(row, 0xff, words * sizeof *row);
    row[words - 1] = ((uint64_t)1 << (u->condition_count % 64)) - 1;
    uint32_t previous = PT_NONE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t producer = u->condition_event[conditions[i]];
        if (producer == previous)
            continue;
        previous = producer;
        const struct pt_unfold_event *e = &u->events[producer];
        for (uint32_t w = 0; w < e->post_start / 64; w++)
            row[w] &= e->co[w];
        if (e->post_start % 64)
            row[e->post_start / 64] &= e->co[e->post_start / 64] | ~(uint64_t)0 << (e->post_start % 64);
    }
    struct mask *masks = pt_xmalloc(count * sizeof *masks);
    uint32_t mask_count = make_masks(conditions, count, masks);
    for (uint32_t c = next_bit(row, u->condition_count, u->initial_count); c < u->condition_count;) {
        const struct pt_unfold_event *e = &u->events[u->condition_event[c]];
        uint32_t made = un->net->transitions[e->transition].post_count;
        if (!masks_co(masks, mask_count, e))
            clear_range(row, e->post_start, made);
        c = next_bit(row, u->condition_count, e->post_start + made);
    }
    for (uint32_t i = 0; i < count; i++)
        clear_range(row, conditions[i], 1);
    free(masks);
    *ret_words = words;
    return row;
}
