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
 * Letters change little from row to row, and mostly the monitor is in the same states in all cuts and stays there: then
 * a row is copied, and only events that change something are looked at. What all its cuts have in common is not even
 * copied where the row before the last, in whose place the next one comes, had it too.
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
    row->calm = part->calm = PT_NONE;
    row->crowded = part->crowded = false;
    row->alike = part->alike = false;
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

/* A cut at the end of the next row is like the others, of which this is one, or not. */
static void judge_end(struct lat_part *row, uint32_t at, uint32_t other)
{
    row->crowded = row->crowded && row->runs[at] == UINT64_MAX;
    row->alike = row->alike && row->letters[at] == row->letters[other];
    if (row->sets[at] != row->calm)
        row->calm = PT_NONE;
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
    to->sets[at] = pt_sets_step(l->sets, &w->cache, from->sets[i], letter);
}

/* Steps and effects repeat along a row, so the last one is tried before the table. */
struct memo {
    uint32_t a, b, result;
};

static inline __attribute__((always_inline)) pt_set step(struct pt_lattice *l, struct memo *memo, pt_set set,
                                                         pt_letter letter)
{
    if (memo->a != set || memo->b != letter)
        *memo = (struct memo){set, letter, pt_sets_step(l->sets, &l->workers[0].cache, set, letter)};
    return memo->result;
}

static bool are_alike(const uint32_t *items, uint32_t count)
{
    uint32_t difference = 0;
    if (items[count - 1] != items[0]) /* most often, if they are not */
        return false;
    for (uint32_t i = 1; i < count; i++)
        difference |= items[i] ^ items[0];
    return !difference;
}

/* What is still in the memory of the next row from the one before the last: so many cuts that have this letter, this
 * set, and more runs than can be counted, or PT_NONE and false. */
struct rest {
    uint32_t count;
    pt_letter letter;
    pt_set set;
    bool crowded;
};

/*
 * Letters, where they do not depend on who comes. A cut has the letter of the row's cut from which the thread's event
 * leads to it, but for events that begin a quiet stretch: these alone are looked at. Let events k - 1 and k of a thread
 * do the same to letters and k have learned nothing in between: then nobody has written its variable in between, so a
 * cut with k has the letter of that without it.
 */
struct side {
    const struct lat_field *field;
    uint32_t last;       /* the field's event that leads to the first cut of its walk; then they descend */
    const pt_letter *of; /* the letters of the row's cuts from which they lead */
    bool descends;       /* so does the place in the row */
};

static uint32_t stretches(const struct side *side, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t left = count, k = side->last; left;) {
        uint32_t length = side->field->quiet[k];
        found += length <= left;
        left -= length < left ? length : left;
        k -= length;
    }
    return found;
}

/* The letters of the cuts between rows i and i + 1; they may be there already. Whether each leads the set to itself,
 * and whether some changed. */
struct changes {
    bool stays, some;
};
static struct changes make_letters(struct pt_lattice *l, const struct side *side, const uint64_t *keys, uint32_t count,
                                   pt_set calm, bool there, pt_letter *letters)
{
    struct lat_worker *w = &l->workers[0];
    struct memo memo = {PT_NONE, 0, 0};
    struct changes changes = {.stays = true};
    if (!there)
        memcpy(letters, side->of, count * sizeof *letters);
    for (uint32_t done = 0, k = side->last;; k--) {
        uint32_t more = side->field->quiet[k] - 1; /* up to the one that begins the stretch */
        if (more >= count - done)
            return changes;
        done += more;
        k -= more;
        uint32_t at = side->descends ? count - 1 - done : done;
        letters[at] = lat_cut_letter(l, w, &keys[at], side->of[at], side->field, k);
        changes.some = changes.some || letters[at] != side->of[at];
        changes.stays = changes.stays && (calm == PT_NONE || step(l, &memo, calm, letters[at]) == calm);
        if (++done == count)
            return changes;
    }
}

/* The same of their sets, where all cuts of the row have one: whoever comes brings the same. */
static pt_set sets_of_one(struct pt_lattice *l, pt_set set, const pt_letter *letters, uint32_t count, pt_set *sets)
{
    struct memo memo = {PT_NONE, 0, 0};
    uint32_t difference = 0;
    for (uint32_t i = 0; i < count; i++) {
        sets[i] = step(l, &memo, set, letters[i]);
        difference |= sets[i] ^ set;
    }
    return difference ? PT_NONE : set;
}

/* ... and where not, or runs that come bring different letters. */
static void sets_of_several(struct pt_lattice *l, const uint64_t *keys, const pt_letter *letters, uint32_t count,
                            pt_set *sets)
{
    const struct lat_part *from = &l->current->parts[0];
    struct lat_worker *w = &l->workers[0];
    const struct lat_field *a = &l->layout->fields[0], *b = &l->layout->fields[1];
    uint32_t ia = lat_field_count_in(a, &from->keys[0]), ib = lat_field_count_in(b, &from->keys[1]);
    struct memo of_a = {PT_NONE, 0, 0}, of_b = of_a;
    for (uint32_t i = 0; i < count; i++, ia++, ib--) {
        pt_set set = step(l, &of_a, from->sets[i], lat_event_letter(l, w, &keys[i], letters[i], a->user_event[ia]));
        pt_set other =
            step(l, &of_b, from->sets[i + 1], lat_event_letter(l, w, &keys[i], letters[i], b->user_event[ib]));
        sets[i] = pt_sets_union(l->sets, &w->cache, set, other);
    }
}

/* Letters without any of that: of modules, which look at all values. */
static void letters_one_by_one(struct pt_lattice *l, const uint64_t *keys, uint32_t count, pt_letter *letters)
{
    const struct lat_part *from = &l->current->parts[0];
    const struct lat_field *a = &l->layout->fields[0];
    uint32_t ia = lat_field_count_in(a, &from->keys[0]);
    for (uint32_t i = 0; i < count; i++)
        letters[i] = lat_cut_letter(l, &l->workers[0], &keys[i], from->letters[i], a, ia + i);
}

/* Runs that bring the events of the property with them: one cut stands for all where these are alike, too. */
static bool is_uniform(const struct pt_lattice *l, const struct side *sides, uint32_t count)
{
    const struct lat_part *row = &l->current->parts[0];
    if (sides[0].field->alike[sides[0].last] < count || sides[1].field->alike[sides[1].last] < count)
        return false;
    uint32_t difference = 0;
    for (uint32_t i = 1; i < row->count; i++)
        difference |= (row->letters[i] ^ row->letters[0]) | (row->sets[i] ^ row->sets[0]);
    return !difference;
}

static void make_uniform(struct pt_lattice *l, const uint64_t *keys, uint32_t count, pt_letter *letters, pt_set *sets)
{
    letters_one_by_one(l, keys, 1, letters);
    sets_of_several(l, keys, letters, 1, sets);
    for (uint32_t i = 1; i < count; i++) {
        letters[i] = letters[0];
        sets[i] = sets[0];
    }
}

/* The letters and sets of the cuts between rows i and i + 1, into the next level from `at` on; what `calm` of that is
 * by these. */
static pt_set make_payload(struct pt_lattice *l, uint32_t at, const struct rest *rest)
{
    const struct lat_part *from = &l->current->parts[0];
    const struct lat_field *a = &l->layout->fields[0], *b = &l->layout->fields[1];
    const uint64_t *keys = l->next->parts[0].keys + at;
    pt_letter *letters = l->next->parts[0].letters + at;
    pt_set *sets = l->next->parts[0].sets + at;
    uint32_t count = from->count - 1;
    const struct side sides[] = {
        {a, lat_field_count_in(a, &from->keys[count - 1]), from->letters, true},
        {b, lat_field_count_in(b, &from->keys[1]), from->letters + 1, false},
    };
    bool fits = at + count <= rest->count;
    struct changes changes = {.stays = true, .some = true};
    if (!l->same_letters && is_uniform(l, sides, count)) {
        make_uniform(l, keys, count, letters, sets);
        l->next->parts[0].alike = true;
        return PT_NONE;
    }
    if (l->module) {
        letters_one_by_one(l, keys, count, letters);
    } else {
        uint32_t of_first = stretches(&sides[0], count);
        bool second = of_first && stretches(&sides[1], count) < of_first;
        bool there = fits && from->alike && from->letters[0] == rest->letter;
        changes = make_letters(l, &sides[second], keys, count, from->calm, there, letters);
    }
    l->next->parts[0].alike = (from->alike && !changes.some) || are_alike(letters, count);
    if (from->calm != PT_NONE && changes.stays) {
        if (!fits || from->calm != rest->set)
            memcpy(sets, from->sets, count * sizeof *sets);
        return from->calm;
    }
    if (l->same_letters && are_alike(from->sets, from->count))
        return sets_of_one(l, from->sets[0], letters, count, sets);
    sets_of_several(l, keys, letters, count, sets);
    return PT_NONE;
}

/* How many runs lead to the cuts between rows i and i + 1, which may be there already; whether they are too many to
 * count for each of them. */
static bool make_runs(const struct lat_part *from, bool there, uint64_t *runs)
{
    uint64_t least = UINT64_MAX;
    if (from->crowded) {
        if (!there)
            memset(runs, 0xff, (from->count - 1) * sizeof *runs);
        return true;
    }
    for (uint32_t i = 0; i + 1 < from->count; i++) {
        uint64_t sum = from->runs[i] + from->runs[i + 1];
        runs[i] = sum < from->runs[i] ? UINT64_MAX : sum;
        least = runs[i] < least ? runs[i] : least;
    }
    return least == UINT64_MAX;
}

/* The cuts between rows i and i + 1, into the next level from `at` on. */
static void make_inner(struct pt_lattice *l, uint32_t at, const struct rest *rest)
{
    const struct lat_part *from = &l->current->parts[0];
    struct lat_part *to = &l->next->parts[0];
    const uint64_t step_a = one(&l->layout->fields[0]);
    uint32_t count = from->count - 1;
    to->crowded = make_runs(from, rest->crowded && at + count <= rest->count, to->runs + at);
    to->alike = !l->counting;
    to->calm = l->same_letters && !l->counting ? from->sets[0] : PT_NONE; /* if there is no cut but this one */
    if (!count)
        return;
    const uint64_t *before = from->keys;
    uint64_t *after = to->keys + at;
    for (size_t i = 0; i < count; i++) /* a vector loop */
        after[i] = before[i] + step_a;
    if (!l->counting) {
        to->calm = make_payload(l, at, rest);
    } else {
        memset(to->letters + at, 0, count * sizeof *to->letters);
        memset(to->sets + at, 0, count * sizeof *to->sets);
    }
}

/* Which end of a row that is too long by one is to go: true, the first thread's. */
static bool drops_high(const struct pt_lattice *l, uint64_t low_key, uint64_t high_key)
{
    return lat_cut_compare(l, l->layout, &low_key, &high_key) < 0;
}

void lat_pair_expand(struct pt_lattice *l)
{
    uint32_t count = l->current->parts[0].count;
    struct lat_part *to = &l->next->parts[0];
    uint64_t window = l->options->window;
    const uint64_t *keys = l->current->parts[0].keys;
    bool high = can_take(l, count - 1, 0), low = can_take(l, 0, 1);
    const struct rest rest = {to->count, to->alike && to->count ? to->letters[0] : PT_NONE, to->calm, to->crowded};
    lat_part_reserve(l, to, 1, count + 1);
    if (high && low && window != PT_ALL && count + 1 > window) {
        high = !drops_high(l, keys[0] + one(&l->layout->fields[1]), keys[count - 1] + one(&l->layout->fields[0]));
        low = !high;
        l->finding->complete = false;
    }
    make_inner(l, low, &rest);
    to->count = low + count - 1;
    if (low) {
        make_end(l, 0, 0, 1);
        judge_end(to, 0, to->count - 1);
    }
    if (high) {
        make_end(l, to->count, count - 1, 0);
        judge_end(to, to->count, 0);
        to->count++;
    }
}

/* What is not the same for all. */
static void shift(struct lat_part *row, uint32_t to, uint32_t from, uint32_t count)
{
    memmove(row->keys + to, row->keys + from, count * sizeof *row->keys);
    if (!row->crowded)
        memmove(row->runs + to, row->runs + from, count * sizeof *row->runs);
    if (!row->alike)
        memmove(row->letters + to, row->letters + from, count * sizeof *row->letters);
    if (row->calm == PT_NONE)
        memmove(row->sets + to, row->sets + from, count * sizeof *row->sets);
}

void lat_pair_keep(struct pt_lattice *l, uint32_t keep)
{
    struct lat_part *row = &l->next->parts[0];
    while (row->count > keep)
        if (drops_high(l, row->keys[0], row->keys[--row->count]) == false)
            shift(row, 0, 1, row->count);
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
    uint32_t at = field ? 0 : to->count;
    if (field) { /* in front of the others; what all have, the last one has, too */
        to->runs[to->count] = UINT64_MAX;
        to->letters[to->count] = to->letters[0];
        to->sets[to->count] = to->calm;
        shift(to, 1, 0, to->count);
    }
    make_end(l, at, from, field);
    judge_end(to, at, field ? to->count : 0);
    to->count++;
}
