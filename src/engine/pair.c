/*
 * Bounded windows while at most two threads have events that are not in every cut: the common case, in which a level
 * is a row.
 *
 * Order the cuts of a level by the first thread's count a; the second's is what is left of the level's number. The
 * consistent cuts of a level have contiguous a: the first a events of one thread need at most so many of the other, and
 * that bound rises with a. Let row i and row i + 1 be kept. Each is consistent, so their union, a cut of the next
 * level, is too, and both steps to it are enabled and in Q: the event that one of them needs for it is in the other.
 * So the next level is made by sliding one row over itself; only at the two ends an event has to be tried. The greatest
 * event number of a cut falls and then rises along the row, so what a full window drops is at an end.
 *
 * All this is so in orders that are decided by needs; in others the row is left to expand.c too.
 *
 * Guarantee: the level that expand.c and the choice of the cone would make. Cost: one pass over the row, without a
 * table of cuts. A row with gaps (left by a time with three threads) is left to expand.c.
 */
#include <string.h>

#include "engine/lattice_impl.h"

bool lat_pair_fits(const struct lat_layout *layout)
{
    return layout->words == 1 && (layout->field_count == 1 || layout->field_count == 2);
}

static uint64_t one(const struct lat_field *field)
{
    return (uint64_t)1 << field->shift;
}

static void copy_cut(struct lat_part *to, uint32_t at, const struct lat_part *from, uint32_t i)
{
    to->keys[at] = from->keys[i];
    to->runs[at] = from->runs[i];
    to->letters[at] = from->letters[i];
    to->sets[at] = from->sets[i];
}

bool lat_pair_ready(struct pt_lattice *l)
{
    if (!l->by_needs || !lat_pair_fits(l->layout))
        return l->paired = false;
    if (l->paired)
        return true;
    struct lat_part *part = &l->current->parts[0], *row = &l->next->parts[0];
    const struct lat_field *first = &l->layout->fields[0];
    uint32_t least = UINT32_MAX, greatest = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        uint32_t count = lat_field_count_in(first, &part->keys[i]);
        least = count < least ? count : least;
        greatest = count > greatest ? count : greatest;
    }
    if (greatest - least != part->count - 1) /* cuts are distinct */
        return false;
    lat_part_reserve(l, row, 1, part->count);
    for (uint32_t i = 0; i < part->count; i++)
        copy_cut(row, lat_field_count_in(first, &part->keys[i]) - least, part, i);
    row->count = part->count;
    struct lat_level *swap = l->current;
    l->current = l->next;
    l->next = swap;
    return l->paired = true;
}

/* Can cut i of the current level take the field's next event? */
static bool can_take(struct pt_lattice *l, uint32_t i, uint32_t f)
{
    if (f >= l->layout->field_count)
        return false;
    const uint64_t *key = &l->current->parts[0].keys[i];
    uint32_t index = lat_field_count_in(&l->layout->fields[f], key);
    return index < l->layout->fields[f].limit && lat_enabled(l, key, f, index);
}

/* Cut `at` of the next level as cut i of this one and the field's next event make it. */
static void make_end(struct pt_lattice *l, uint32_t at, uint32_t i, uint32_t f)
{
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    struct lat_worker *w = &l->workers[0];
    const struct lat_field *field = &l->layout->fields[f];
    uint32_t index = lat_field_count_in(field, &from->keys[i]);
    to->keys[at] = from->keys[i] + one(field);
    to->runs[at] = from->runs[i];
    to->letters[at] = 0;
    to->sets[at] = PT_SET_EMPTY;
    if (l->counting)
        return;
    to->letters[at] = lat_cut_letter(l, w, &to->keys[at], from->letters[i], field, index);
    pt_letter letter = lat_event_letter(l, w, &to->keys[at], to->letters[at], field->user_event[index]);
    to->sets[at] = pt_sets_step(&l->sets, &w->cache, from->sets[i], letter);
}

/* Steps and effects repeat along a row, so the last one is tried before the table. */
struct memo {
    uint32_t a, b, result;
};

static inline __attribute__((always_inline)) pt_set step(struct pt_lattice *l, struct memo *memo, pt_set set,
                                                         pt_letter letter)
{
    if (memo->a != set || memo->b != letter)
        *memo = (struct memo){set, letter, pt_sets_step(&l->sets, &l->workers[0].cache, set, letter)};
    return memo->result;
}

static bool is_uniform(const struct lat_part *row)
{
    uint32_t difference = 0;
    for (uint32_t i = 1; i < row->count; i++)
        difference |= (row->letters[i] ^ row->letters[0]) | (row->sets[i] ^ row->sets[0]);
    return !difference;
}

/* Have all cuts the same monitor states? */
static bool has_one_set(const struct lat_part *row)
{
    uint32_t difference = 0;
    for (uint32_t i = 1; i < row->count; i++)
        difference |= row->sets[i] ^ row->sets[0];
    return !difference;
}

/* The letters and sets of the cuts between rows i and i + 1, into the next level from `at` on. */
static void make_payload(struct pt_lattice *l, uint32_t at)
{
    const struct lat_part *from = &l->current->parts[0];
    struct lat_worker *w = &l->workers[0];
    const struct lat_field *a = &l->layout->fields[0], *b = &l->layout->fields[1];
    const uint64_t *keys = l->next->parts[0].keys + at;
    pt_letter *letters = l->next->parts[0].letters + at;
    pt_set *sets = l->next->parts[0].sets + at;
    uint32_t ia = lat_field_count_in(a, &from->keys[0]), ib = lat_field_count_in(b, &from->keys[1]);
    struct memo of_a = {PT_NONE, 0, 0}, of_b = of_a, effects = of_a;
    uint32_t count = from->count - 1, todo = count;
    /* Quiet stretches, where no atom changes: one cut stands for all of them. */
    if (a->alike[ia + count - 1] >= count && b->alike[ib] >= count && is_uniform(from))
        todo = 1;
    const bool one_set = l->same_letters && has_one_set(from);
    for (uint32_t i = 0; i < todo; i++, ia++, ib--) {
        pt_letter before = from->letters[i], letter;
        if (effects.a == before && effects.b == a->effect[ia] && !a->joint[ia])
            letter = effects.result;
        else
            effects = (struct memo){before, a->effect[ia], letter = lat_cut_letter(l, w, &keys[i], before, a, ia)};
        letters[i] = letter;
        if (one_set) { /* whoever comes brings the same */
            sets[i] = step(l, &of_a, from->sets[0], letter);
            continue;
        }
        pt_set set = step(l, &of_a, from->sets[i], lat_event_letter(l, w, &keys[i], letter, a->user_event[ia]));
        pt_set other = step(l, &of_b, from->sets[i + 1], lat_event_letter(l, w, &keys[i], letter, b->user_event[ib]));
        sets[i] = pt_sets_union(&l->sets, &w->cache, set, other);
    }
    for (uint32_t i = todo; i < count; i++) {
        letters[i] = letters[0];
        sets[i] = sets[0];
    }
}

/* The cuts between rows i and i + 1, into the next level from `at` on. */
static void make_inner(struct pt_lattice *l, uint32_t at)
{
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    const uint64_t step_a = one(&l->layout->fields[0]);
    uint32_t count = from->count - 1;
    if (!count)
        return;
    for (uint32_t i = 0; i < count; i++)
        to->keys[at + i] = from->keys[i] + step_a;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t runs = from->runs[i] + from->runs[i + 1];
        to->runs[at + i] = runs < from->runs[i] ? UINT64_MAX : runs;
    }
    if (!l->counting) {
        make_payload(l, at);
    } else {
        memset(to->letters + at, 0, count * sizeof *to->letters);
        memset(to->sets + at, 0, count * sizeof *to->sets);
    }
}

void lat_pair_expand(struct pt_lattice *l)
{
    uint32_t count = l->current->parts[0].count;
    struct lat_part *to = &l->next->parts[0];
    uint64_t window = l->options->window;
    const uint64_t *keys = l->current->parts[0].keys;
    bool high = can_take(l, count - 1, 0), low = can_take(l, 0, 1);
    lat_part_reserve(l, to, 1, count + 1);
    if (high && low && window != PT_ALL && count + 1 > window) {
        uint64_t high_key = keys[count - 1] + one(&l->layout->fields[0]),
                 low_key = keys[0] + one(&l->layout->fields[1]);
        if (lat_cut_compare(l, l->layout, &low_key, &high_key) < 0)
            high = false;
        else
            low = false;
        l->finding->complete = false;
    }
    if (low)
        make_end(l, 0, 0, 1);
    make_inner(l, low);
    to->count = low + count - 1;
    if (high)
        make_end(l, to->count++, count - 1, 0);
}

void lat_pair_newest(struct pt_lattice *l, uint32_t field)
{
    struct lat_part *to = &l->next->parts[0];
    uint32_t from = field ? 0 : l->current->parts[0].count - 1;
    uint32_t newest = l->layout->fields[field].limit - 1;
    if (lat_field_count_in(&l->layout->fields[field], &l->current->parts[0].keys[from]) != newest ||
        !can_take(l, from, field))
        return;
    lat_part_reserve(l, to, 1, to->count + 1);
    if (field) { /* in front of the others */
        memmove(to->keys + 1, to->keys, to->count * sizeof *to->keys);
        memmove(to->runs + 1, to->runs, to->count * sizeof *to->runs);
        memmove(to->letters + 1, to->letters, to->count * sizeof *to->letters);
        memmove(to->sets + 1, to->sets, to->count * sizeof *to->sets);
    }
    make_end(l, field ? 0 : to->count, from, field);
    to->count++;
}
