/*
 * From one level to the next: the hot loop. For every kept cut and every thread, is the thread's next event enabled
 * (one subtraction per word, Lemma 6 of the paper; orders that are not decided by needs are asked besides), which cut
 * does it lead to, and which monitor states come along.
 *
 * Guarantee: the next level has every successor once, with all monitor states and the number of runs that come to it,
 * whatever the number of workers. Cost: O(words) and a look-up in a table for each edge; the loop is compiled once for
 * each number of words up to two, and once more for orders that are asked, so that nobody pays for the other.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/share.h"

void lat_level_split(struct lat_level *level, uint32_t part_count)
{
    if (part_count > level->part_cap) {
        struct lat_part *parts = pt_xaligned(LAT_CACHE_LINE, part_count * sizeof *parts);
        if (level->part_cap)
            memcpy(parts, level->parts, level->part_cap * sizeof *parts);
        free(level->parts);
        level->parts = parts;
        level->part_cap = part_count;
    }
    level->part_count = part_count;
}

struct lat_level *lat_level_new(uint32_t part_count)
{
    struct lat_level *level = pt_xcalloc(1, sizeof *level);
    lat_level_split(level, part_count);
    return level;
}

void lat_level_release(struct pt_lattice *l, struct lat_level *level)
{
    for (uint32_t p = 0; p < level->part_cap; p++)
        lat_part_release(l, &level->parts[p]);
    free(level->memory);
    level->memory = NULL;
    level->memory_bytes = level->reserved_parts = level->reserved = 0;
}

void lat_level_free(struct pt_lattice *l, struct lat_level *level)
{
    lat_level_release(l, level);
    free(level->parts);
    free(level);
}

static size_t cut_bytes(uint32_t words)
{
    return words * sizeof(uint64_t) + sizeof(uint64_t) + sizeof(pt_letter) + sizeof(pt_set);
}

void lat_part_release(struct pt_lattice *l, struct lat_part *part)
{
    atomic_fetch_sub(&l->bytes, part->cap * cut_bytes(part->words));
    if (!part->lent) {
        free(part->keys);
        free(part->runs);
        free(part->letters);
        free(part->sets);
    }
    *part = (struct lat_part){0};
}

/* In one piece: what was there is not copied, and it can be of large pages. */
void lat_level_reserve(struct pt_lattice *l, struct lat_level *level, uint32_t parts, uint32_t each)
{
    enum { PAGE_CUTS = 512, STAGGER = 40 }; /* arrays that are read together do not begin at the same place of a page */
    uint32_t cap = (each / PAGE_CUTS + 1) * PAGE_CUTS + STAGGER;
    size_t bytes = (size_t)parts * cap * cut_bytes(1), before = level->memory_bytes;
    for (uint32_t p = 0; p < level->part_cap; p++)
        lat_part_release(l, &level->parts[p]);
    if (bytes > before) {
        free(level->memory);
        level->memory_bytes = bytes > 2 * before ? bytes : 2 * before;
        level->memory = lat_has_many_workers(l) ? pt_xlarge(level->memory_bytes) : pt_xmalloc(level->memory_bytes);
    }
    uint64_t *at = level->memory, *runs = at + 2 * (size_t)parts * cap; /* last, since they may not be used */
    for (uint32_t p = 0; p < parts; p++, at += 2 * (size_t)cap, runs += cap) {
        struct lat_part *part = &level->parts[p];
        part->lent = true;
        part->words = 1;
        part->cap = cap;
        part->keys = at;
        part->letters = (pt_letter *)(at + cap);
        part->sets = part->letters + cap;
        part->runs = runs;
    }
    atomic_fetch_add(&l->bytes, bytes);
    level->reserved_parts = parts;
    level->reserved = cap;
}

static void *own_copy(const void *lent, size_t bytes)
{
    return memcpy(pt_xmalloc(bytes), lent, bytes);
}

/* What was lent is too small. */
static void make_own(struct lat_part *part)
{
    part->keys = own_copy(part->keys, part->cap * sizeof *part->keys);
    part->runs = own_copy(part->runs, part->cap * sizeof *part->runs);
    part->letters = own_copy(part->letters, part->cap * sizeof *part->letters);
    part->sets = own_copy(part->sets, part->cap * sizeof *part->sets);
    part->lent = false;
}

void lat_part_reserve(struct pt_lattice *l, struct lat_part *part, uint32_t words, uint32_t count)
{
    if (count <= part->cap)
        return;
    uint32_t cap = part->cap ? part->cap : 16;
    while (cap < count)
        cap *= 2;
    size_t bytes = atomic_fetch_add(&l->bytes, (cap - part->cap) * cut_bytes(words));
    if (l->options->memory_limit && bytes > l->allowed && !l->rebuilding)
        atomic_store_explicit(&l->out_of_memory, true, memory_order_relaxed); /* read by workers between cuts */
    if (part->lent)
        make_own(part);
    part->keys = pt_xrealloc(part->keys, (size_t)cap * words * sizeof *part->keys);
    part->runs = pt_xrealloc(part->runs, cap * sizeof *part->runs);
    part->letters = pt_xrealloc(part->letters, cap * sizeof *part->letters);
    part->sets = pt_xrealloc(part->sets, cap * sizeof *part->sets);
    part->cap = cap;
    part->words = words;
}

void lat_part_rekey(struct pt_lattice *l, struct lat_part *part, uint32_t words)
{
    atomic_fetch_sub(&l->bytes, (size_t)part->cap * part->words * sizeof *part->keys);
    atomic_fetch_add(&l->bytes, (size_t)part->cap * words * sizeof *part->keys);
    free(part->keys);
    part->keys = part->cap ? pt_xmalloc((size_t)part->cap * words * sizeof *part->keys) : NULL;
    part->words = words;
}

static inline __attribute__((always_inline)) uint64_t hash_key(const uint64_t *key, const uint32_t words)
{
    uint64_t h = key[0] * 0x9e3779b97f4a7c15ULL;
    for (uint32_t w = 1; w < words; w++)
        h = (h ^ (h >> 29) ^ key[w]) * 0x9e3779b97f4a7c15ULL;
    return h ^ h >> 32;
}

static inline __attribute__((always_inline)) bool same_key(const uint64_t *a, const uint64_t *b, const uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (a[w] != b[w])
            return false;
    return true;
}

static void table_reset(struct lat_table *table, uint32_t expected)
{
    uint32_t size = 64;
    while (size < expected * 2)
        size *= 2;
    if (size > table->cap) {
        free(table->slots);
        table->slots = pt_xmalloc(size * sizeof *table->slots);
        table->cap = size;
    }
    table->mask = size - 1;
    memset(table->slots, 0, size * sizeof *table->slots);
}

void lat_index(struct lat_table *table, const uint64_t *keys, uint32_t count, uint32_t words)
{
    table_reset(table, 2 * count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s = (uint32_t)hash_key(keys + (size_t)i * words, words) & table->mask;
        while (table->slots[s])
            s = (s + 1) & table->mask;
        table->slots[s] = i + 1;
    }
}

uint32_t lat_find(const struct lat_table *table, const uint64_t *keys, uint32_t words, const uint64_t *key)
{
    uint32_t s = (uint32_t)hash_key(key, words) & table->mask, at;
    while ((at = table->slots[s]) != 0 && !same_key(keys + (size_t)(at - 1) * words, key, words))
        s = (s + 1) & table->mask;
    return at ? at - 1 : PT_NONE;
}

/* Whether the relation allows an event whose needs are met; for orders that are not decided by needs. */
static bool allows(const struct pt_lattice *l, struct lat_worker *w, const uint64_t *key, const struct lat_field *field,
                   uint32_t index)
{
    struct pt_cut_event event = lat_cut_event(l, field->column, field->base + index + 1);
    lat_counts(l, l->layout, key, w->counts);
    return l->relation.kind->allows(l->relation.rules, w->counts, &event);
}

bool lat_enabled(struct pt_lattice *l, const uint64_t *key, uint32_t field, uint32_t index)
{
    const struct lat_field *f = &l->layout->fields[field];
    uint32_t words = l->layout->words;
    return pt_packed_enabled(key, l->layout->guard, f->need + (size_t)index * words, words) &&
           (l->by_needs || allows(l, &l->workers[0], key, f, index));
}

pt_letter lat_module_letter(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key, uint32_t user_event)
{
    lat_counts(l, l->layout, key, w->counts);
    lat_values(l, w->counts, w->values);
    pthread_mutex_lock(&l->sets->lock);
    pt_letter letter = pt_monitor_letter(l->monitor, w->values, user_event);
    pthread_mutex_unlock(&l->sets->lock);
    return letter;
}

/* Where the part that is being made lies: what the hot loop looks at, so that it can stay in registers. */
struct target {
    uint64_t *keys, *runs;
    pt_set *sets;
    uint32_t *slots;
    uint32_t mask;
};

static inline __attribute__((always_inline)) void set_target(struct target *t, const struct lat_part *to,
                                                             const struct lat_table *table)
{
    *t = (struct target){to->keys, to->runs, to->sets, table->slots, table->mask};
}

/* A step from a cut: event `index` of the field, from cut i of `from`. */
struct taken {
    const struct lat_part *from;
    const struct lat_field *field;
    uint32_t i, index;
    bool later; /* sets are united only: see step_all */
};

/* A place for a cut that nobody has come to yet; `s` is its slot. */
static inline __attribute__((always_inline)) uint32_t new_cut(struct pt_lattice *l, struct lat_worker *w,
                                                              struct lat_part *to, const uint64_t *key, uint32_t s,
                                                              const uint32_t words)
{
    struct lat_table *table = &w->table;
    uint32_t at = to->count++;
    if (at == to->cap)
        lat_part_reserve(l, to, words, at + 1);
    table->slots[s] = at + 1;
    for (uint32_t k = 0; k < words; k++)
        to->keys[(size_t)at * words + k] = key[k];
    if (at >= table->mask / 2)
        lat_index(table, to->keys, to->count, words);
    return at;
}

static inline __attribute__((always_inline)) void add_cut(struct pt_lattice *l, struct lat_worker *w,
                                                          const struct taken step, struct lat_part *to,
                                                          const uint64_t *key, uint32_t s, const uint32_t words)
{
    uint32_t at = new_cut(l, w, to, key, s, words);
    to->runs[at] = step.from->runs[step.i];
    to->letters[at] = 0;
    to->sets[at] = l->counting ? PT_SET_EMPTY : step.from->sets[step.i];
    if (!l->counting)
        to->letters[at] = lat_cut_letter(l, w, key, step.from->letters[step.i], step.field, step.index);
    if (!l->counting && !step.later) {
        pt_letter letter = lat_event_letter(l, w, key, to->letters[at], step.field->user_event[step.index]);
        to->sets[at] = pt_sets_step(l->sets, &w->cache, to->sets[at], letter);
    }
}

/* Takes a step that is enabled and merges the result into `to`. `t` is where that is. */
static inline __attribute__((always_inline)) void take(struct pt_lattice *l, struct lat_worker *w,
                                                       const struct taken step, struct lat_part *to, struct target *t,
                                                       const uint32_t words)
{
    uint64_t few[2], *key = words <= 2 ? few : w->key;
    for (uint32_t k = 0; k < words; k++)
        key[k] = step.from->keys[(size_t)step.i * words + k];
    if (words == 1) /* then it stays in a register */
        key[0] += (uint64_t)1 << step.field->shift;
    else
        key[step.field->word] += (uint64_t)1 << step.field->shift;

    uint32_t s = (uint32_t)hash_key(key, words) & t->mask, at;
    while ((at = t->slots[s]) != 0 && !same_key(t->keys + (size_t)(at - 1) * words, key, words))
        s = (s + 1) & t->mask;
    if (!at) {
        add_cut(l, w, step, to, key, s, words);
        set_target(t, to, &w->table);
        return;
    }
    at--;
    if (__builtin_add_overflow(t->runs[at], step.from->runs[step.i], &t->runs[at]))
        t->runs[at] = UINT64_MAX;
    if (!step.later && l->counting)
        return;
    pt_set set = step.from->sets[step.i];
    if (!step.later)
        set = pt_sets_step(l->sets, &w->cache, set,
                           lat_event_letter(l, w, key, to->letters[at], step.field->user_event[step.index]));
    if (t->sets[at] != set)
        t->sets[at] = pt_sets_union(l->sets, &w->cache, t->sets[at], set);
}

/* A step of a union is the union of the steps, as long as all that lead to a cut read the same letter there. */
bool lat_steps_later(const struct pt_lattice *l)
{
    return l->full && l->by_needs && l->layout->words <= 2 && !l->counting && l->same_letters;
}

static void step_all(struct pt_lattice *l, struct lat_worker *w, struct lat_part *part)
{
    pt_set before = PT_NONE, after = PT_NONE; /* steps repeat from cut to cut */
    pt_letter letter = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        if (part->sets[i] != before || part->letters[i] != letter) {
            before = part->sets[i];
            letter = part->letters[i];
            after = pt_sets_step(l->sets, &w->cache, before, letter);
        }
        part->sets[i] = after;
    }
}

/*
 * Whether what event `index` of the field needs is in the cut. Where there are very many threads a cut that lacks
 * something lacks it in the word in which the cut before did, nearly always, and that one is looked at first: levels of
 * thousands of threads would otherwise cost as many words for each of them.
 */
static inline __attribute__((always_inline)) bool has_needs(const uint64_t *key, const uint64_t *guard,
                                                            const struct lat_field *field, uint32_t index,
                                                            const uint32_t words)
{
    enum { FEW_WORDS = 4 };
    const uint64_t *need = field->need + (size_t)index * words;
    if (words <= FEW_WORDS)
        return pt_packed_enabled(key, guard, need, words);
    uint32_t first = atomic_load_explicit(&field->lacked[index], memory_order_relaxed);
    if (pt_packed_lacks(key[first], guard[first], need[first]))
        return false;
    for (uint32_t k = 0; k < words; k++) {
        if (pt_packed_lacks(key[k], guard[k], need[k])) {
            atomic_store_explicit(&field->lacked[index], k, memory_order_relaxed); /* any worker's will do */
            return false;
        }
    }
    return true;
}

/* The steps of fields [first, last) except `skip`, from every cut of `from`. */
static inline __attribute__((always_inline)) void expand_fields(struct pt_lattice *l, struct lat_worker *w,
                                                                const struct lat_part *from, struct lat_part *to,
                                                                uint32_t first, uint32_t last, uint32_t skip,
                                                                const uint32_t words, const bool by_needs,
                                                                const bool later, const bool shared)
{
    const struct lat_layout *layout = l->layout;
    const struct lat_field *fields = layout->fields;
    uint64_t few[2];
    const uint64_t *guard = words <= 2 ? memcpy(few, layout->guard, words * sizeof *few) : layout->guard;
    struct target t;
    set_target(&t, to, &w->table);
    for (uint32_t i = 0; i < from->count; i++) {
        const uint64_t *key = from->keys + (size_t)i * words;
        if (atomic_load_explicit(&l->out_of_memory, memory_order_relaxed))
            return;
        for (uint32_t f = first; f < last; f++) {
            const struct lat_field *field = &fields[f];
            uint32_t index = lat_field_count_in(field, key);
            if (f == skip || index >= field->limit || (shared && field->away && field->away[index]))
                continue;
            if (has_needs(key, guard, field, index, words) && (by_needs || allows(l, w, key, field, index)))
                take(l, w, (struct taken){from, field, i, index, later}, to, &t, words);
        }
    }
}

/* Cuts that other processes have come to, merged as our own are (share.h). */
static inline __attribute__((always_inline)) void merge_received(struct pt_lattice *l, struct lat_worker *w,
                                                                 const struct lat_part *from, struct lat_part *to,
                                                                 const uint32_t words)
{
    struct target t;
    set_target(&t, to, &w->table);
    for (uint32_t i = 0; i < from->count; i++) {
        const uint64_t *key = from->keys + (size_t)i * words;
        uint32_t s = (uint32_t)hash_key(key, words) & t.mask, at;
        while ((at = t.slots[s]) != 0 && !same_key(t.keys + (size_t)(at - 1) * words, key, words))
            s = (s + 1) & t.mask;
        if (!at) {
            at = new_cut(l, w, to, key, s, words);
            to->runs[at] = from->runs[i];
            to->letters[at] = from->letters[i];
            to->sets[at] = from->sets[i];
            set_target(&t, to, &w->table);
            continue;
        }
        at--;
        if (__builtin_add_overflow(t.runs[at], from->runs[i], &t.runs[at]))
            t.runs[at] = UINT64_MAX;
        if (t.sets[at] != from->sets[i])
            t.sets[at] = pt_sets_union(l->sets, &w->cache, t.sets[at], from->sets[i]);
    }
}

/* One part of the next level; see struct lat_level. `shared`: with other processes, whose steps are there already. */
static inline __attribute__((always_inline)) void
expand_part_words(struct pt_lattice *l, struct lat_worker *w, struct lat_level *from, struct lat_level *to,
                  uint32_t part, const uint32_t words, const bool by_needs, const bool later, const bool shared)
{
    const struct lat_part *same = &from->parts[part];
    const struct lat_part *before = &from->parts[(part - 1) & (from->part_count - 1)];
    uint32_t split = l->layout->split, received = 0;
    const struct lat_part *others = shared ? lat_share_received(l->share, part, &received) : NULL;
    to->parts[part].count = 0;
    if (!same->count && !before->count && !received)
        return;
    table_reset(&w->table, same->count + before->count / 2 + 32);
    expand_fields(l, w, same, &to->parts[part], 0, l->layout->field_count, split, words, by_needs, later, shared);
    if (l->layout->field_count)
        expand_fields(l, w, before, &to->parts[part], split, split + 1, PT_NONE, words, by_needs, later, shared);
    for (uint32_t i = 0; shared && i < received; i++)
        merge_received(l, w, &others[i], &to->parts[part], words);
    if (later)
        step_all(l, w, &to->parts[part]);
}

/* By itself, so that it does not take registers from the loops below. */
static __attribute__((noinline)) void expand_part_asking(struct pt_lattice *l, struct lat_worker *w,
                                                         struct lat_level *from, struct lat_level *to, uint32_t part)
{
    expand_part_words(l, w, from, to, part, l->layout->words, false, false, l->share != NULL);
}

static inline __attribute__((always_inline)) void expand_part_by_needs(struct pt_lattice *l, struct lat_worker *w,
                                                                       struct lat_level *from, struct lat_level *to,
                                                                       uint32_t part, const bool shared)
{
    if (!lat_steps_later(l))
        expand_part_words(l, w, from, to, part, l->layout->words, true, false, shared);
    else if (l->layout->words == 1) /* constants let the compiler unroll the loops over words away */
        expand_part_words(l, w, from, to, part, 1, true, true, shared);
    else
        expand_part_words(l, w, from, to, part, 2, true, true, shared);
}

static __attribute__((noinline)) void expand_part_shared(struct pt_lattice *l, struct lat_worker *w,
                                                         struct lat_level *from, struct lat_level *to, uint32_t part)
{
    expand_part_by_needs(l, w, from, to, part, true);
}

static void expand_part(struct pt_lattice *l, struct lat_worker *w, struct lat_level *from, struct lat_level *to,
                        uint32_t part)
{
    if (!l->by_needs)
        expand_part_asking(l, w, from, to, part);
    else if (l->share)
        expand_part_shared(l, w, from, to, part);
    else
        expand_part_by_needs(l, w, from, to, part, false);
}

struct making {
    struct lat_level *from, *to;
};

static void make_part(struct pt_lattice *l, struct lat_worker *w, uint32_t part, void *context)
{
    const struct making *making = context;
    expand_part(l, w, making->from, making->to, part);
}

static void expand_here(struct pt_lattice *l, struct lat_level *from, struct lat_level *to)
{
    to->sorted = from->sorted;
    if (from->sorted) {
        lat_merge(l, from, to);
        return;
    }
    uint64_t cuts = 0;
    lat_level_split(to, from->part_count);
    for (uint32_t p = 0; p < from->part_count; p++)
        cuts += from->parts[p].count;
    lat_pool_run(l, cuts, make_part, &(struct making){from, to}, from->part_count);
}

void lat_expand(struct pt_lattice *l, struct lat_level *from, struct lat_level *to)
{
    if (l->share)
        lat_share_begin(l, from);
    expand_here(l, from, to);
    if (l->share)
        lat_share_end(l, to);
}

void lat_expand_newest(struct pt_lattice *l, struct lat_level *from, struct lat_level *to, uint32_t field)
{
    const struct lat_field *f = &l->layout->fields[field];
    uint32_t newest = f->limit - 1, words = l->layout->words;
    struct lat_part *part = &from->parts[0];
    struct lat_worker *w = &l->workers[0];
    struct target t;
    lat_index(&w->table, to->parts[0].keys, to->parts[0].count, words);
    set_target(&t, &to->parts[0], &w->table);
    for (uint32_t i = 0; i < part->count; i++) {
        const uint64_t *key = part->keys + (size_t)i * words;
        if (lat_field_count_in(f, key) == newest && lat_enabled(l, key, field, newest))
            take(l, w, (struct taken){part, f, i, newest, false}, &to->parts[0], &t, words);
    }
}
