/*
 * Steps of sets of automaton states, made when they are first asked for. Guarantee: equal sets have equal numbers, and
 * a move is the exact image of its set. Cost: see moves.h.
 */
#include "engine/moves.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void pt_moves_init(struct pt_moves *m, struct pt_monitor *monitor)
{
    *m = (struct pt_moves){.monitor = monitor, .automaton = pt_monitor_automaton(monitor)};
    pt_strtab_init(&m->sets);
    pt_arena_init(&m->arena);
}

void pt_moves_release(struct pt_moves *m)
{
    for (size_t i = 0; i < m->row_cap; i++)
        free(m->rows[i].by_letter);
    free(m->rows);
    free(m->pairs.items);
    free(m->other.items);
    pt_strtab_release(&m->sets);
    pt_arena_release(&m->arena);
}

uint32_t pt_moves_set(struct pt_moves *m, uint32_t *states, uint32_t count)
{
    uint32_t distinct = pt_sort_distinct(states, count);
    return pt_strtab_intern(&m->sets, (const char *)states, distinct * sizeof *states);
}

uint32_t pt_moves_closure(struct pt_moves *m, uint32_t set)
{
    const struct pt_automaton *aut = m->automaton;
    uint32_t count, len = 0;
    const uint32_t *states = pt_moves_states(m, set, &count);
    bool *seen = pt_xcalloc(aut->state_count, sizeof *seen);
    uint32_t *reached = pt_xmalloc(aut->state_count * sizeof *reached);
    for (uint32_t i = 0; i < count; i++) {
        seen[states[i]] = true;
        reached[len++] = states[i];
    }
    for (uint32_t i = 0; i < len; i++)
        for (uint32_t e = aut->first[reached[i]]; e < aut->first[reached[i] + 1]; e++)
            if (!seen[aut->edges[e].dst]) {
                seen[aut->edges[e].dst] = true;
                reached[len++] = aut->edges[e].dst;
            }
    uint32_t closure = pt_moves_set(m, reached, len);
    free(seen);
    free(reached);
    return closure;
}

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static void sort_pairs(struct pt_moves_pairs *pairs)
{
    uint32_t distinct = 0;
    if (pairs->len)
        qsort(pairs->items, pairs->len, sizeof *pairs->items, compare);
    for (uint32_t i = 0; i < pairs->len; i++)
        if (i == 0 || pairs->items[i] != pairs->items[i - 1])
            pairs->items[distinct++] = pairs->items[i];
    pairs->len = distinct;
}

/* Adds a pair for every edge the set has under these truth values, `all`: for every edge, whatever its label; leaves
 * them sorted and distinct. */
static void collect(const struct pt_moves *m, uint32_t set, uint64_t bits, bool all, struct pt_moves_pairs *pairs)
{
    const struct pt_automaton *aut = m->automaton;
    uint32_t count;
    const uint32_t *states = pt_moves_states(m, set, &count);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = aut->first[states[i]]; e < aut->first[states[i] + 1]; e++)
            if (all || pt_bdd_eval(aut->bdds, aut->edges[e].label, bits))
                PT_PUSH(pairs->items, pairs->len, pairs->cap, (uint64_t)aut->edges[e].dst << 32 | i);
    sort_pairs(pairs);
}

static uint64_t atoms_in_use(const struct pt_moves *m, uint32_t set)
{
    const struct pt_automaton *aut = m->automaton;
    uint32_t count;
    const uint32_t *states = pt_moves_states(m, set, &count);
    uint64_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = aut->first[states[i]]; e < aut->first[states[i] + 1]; e++)
            used |= pt_bdd_support(aut->bdds, aut->edges[e].label);
    return used;
}

/* Fills m->pairs. *open becomes 0 when every choice of truth values leads to the same. */
static void collect_choices(struct pt_moves *m, uint32_t set, uint64_t bits, uint64_t *open)
{
    struct pt_moves_pairs *pairs = &m->pairs, *other = &m->other;
    bool many = __builtin_popcountll(*open) > PT_MAX_OPEN, same = !many;
    pairs->len = 0;
    collect(m, set, bits, many, pairs);
    for (uint64_t choice = many ? 0 : *open; choice; choice = (choice - 1) & *open) { /* every non-empty subset */
        other->len = 0;
        collect(m, set, bits | choice, false, other);
        if (other->len == pairs->len &&
            (pairs->len == 0 || memcmp(other->items, pairs->items, pairs->len * sizeof *pairs->items) == 0))
            continue;
        same = false;
        collect(m, set, bits | choice, false, pairs);
    }
    if (same)
        *open = 0;
}

/* The pairs are sorted, so those of one target stand together. */
static struct pt_set_move *encode(struct pt_moves *m)
{
    const uint64_t *pairs = m->pairs.items;
    uint32_t len = m->pairs.len;
    uint32_t *targets = pt_xmalloc(((size_t)len + 1) * sizeof *targets), count = 0;
    for (uint32_t i = 0; i < len; i++)
        if (i == 0 || pairs[i] >> 32 != pairs[i - 1] >> 32)
            targets[count++] = (uint32_t)(pairs[i] >> 32);
    struct pt_set_move *move = pt_arena_alloc(&m->arena, sizeof *move + ((size_t)len + count) * sizeof *move->code);
    move->count = count;
    uint32_t *code = move->code;
    for (uint32_t t = 0, i = 0; t < count; t++) {
        uint32_t *head = code++, predecessors = 0;
        for (; i < len && pairs[i] >> 32 == targets[t]; i++, predecessors++)
            *code++ = (uint32_t)pairs[i];
        *head = predecessors << 1 | m->automaton->accepting[targets[t]];
    }
    move->set = pt_moves_set(m, targets, count);
    free(targets);
    return move;
}

const struct pt_set_move *pt_moves_make(struct pt_moves *m, uint32_t set, pt_letter letter)
{
    uint64_t bits, open = pt_monitor_open(m->monitor, letter, &bits);
    if (open)
        open &= atoms_in_use(m, set);
    collect_choices(m, set, bits, &open);
    struct pt_set_move *move = encode(m);
    move->open = open;
    if (set >= m->row_cap) {
        size_t old = m->row_cap;
        PT_GROW(m->rows, m->row_cap, (size_t)set + 1);
        memset(m->rows + old, 0, (m->row_cap - old) * sizeof *m->rows);
    }
    struct pt_moves_row *row = &m->rows[set];
    if (letter >= row->cap) {
        size_t old = row->cap;
        PT_GROW(row->by_letter, row->cap, (size_t)letter + 1);
        memset(row->by_letter + old, 0, (row->cap - old) * sizeof *row->by_letter);
        m->row_bytes += (row->cap - old) * sizeof *row->by_letter;
    }
    row->by_letter[letter] = move;
    m->bytes = m->arena.bytes + m->row_bytes + m->row_cap * sizeof *m->rows + pt_strtab_bytes(&m->sets) +
               (m->pairs.cap + m->other.cap) * sizeof *m->pairs.items;
    return move;
}

void pt_moves_forget(struct pt_moves *m, uint32_t *sets, uint32_t count)
{
    struct pt_moves fresh;
    pt_moves_init(&fresh, m->monitor);
    for (uint32_t i = 0; i < count; i++)
        sets[i] = pt_strtab_intern(&fresh.sets, pt_strtab_text(&m->sets, sets[i]), pt_strtab_len(&m->sets, sets[i]));
    pt_moves_release(m);
    *m = fresh;
}
