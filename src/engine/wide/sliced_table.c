/*
 * States of a pass, each once; and of those that differ only in their sets the ones with less. What a set has can only
 * forbid something later (sliced_step.c), so whatever may follow the other may follow the one that has less.
 *
 * Cost: constant expected time for a state whose rest no other has; otherwise one look at each that has the same.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/sliced_impl.h"

static uint64_t hash_of(const struct sliced_table *table, const uint8_t *state)
{
    uint64_t hash = 0, word;
    for (uint32_t at = table->bits; at < table->length; at += sizeof word) {
        memcpy(&word, state + at, sizeof word);
        hash = pt_mix64(hash ^ word);
    }
    return hash;
}

void sliced_table_init(struct sliced_table *table, uint32_t length, uint32_t bits)
{
    *table = (struct sliced_table){.length = length, .bits = bits};
}

void sliced_table_clear(struct sliced_table *table)
{
    table->count = table->rests = 0;
    if (table->slots)
        memset(table->slots, 0, ((size_t)table->mask + 1) * sizeof *table->slots);
}

void sliced_table_release(struct sliced_table *table)
{
    free(table->states);
    free(table->others);
    free(table->slots);
    *table = (struct sliced_table){0};
}

size_t sliced_table_bytes(const struct sliced_table *table)
{
    return table->cap * (table->length + sizeof *table->others) +
           (table->slots ? ((size_t)table->mask + 1) * sizeof *table->slots : 0);
}

/* The slot of a state's rest: its first state, or none. */
static uint32_t find_slot(const struct sliced_table *table, const uint8_t *state)
{
    uint32_t rest = table->length - table->bits, at = (uint32_t)hash_of(table, state) & table->mask;
    while (table->slots[at] &&
           memcmp(sliced_table_state(table, table->slots[at] - 1) + table->bits, state + table->bits, rest) != 0)
        at = (at + 1) & table->mask;
    return at;
}

static void rehash(struct sliced_table *table)
{
    uint32_t size = table->slots ? 2 * (table->mask + 1) : 128, *old = table->slots;
    table->slots = pt_xcalloc(size, sizeof *table->slots);
    uint32_t old_size = old ? table->mask + 1 : 0;
    table->mask = size - 1;
    for (uint32_t i = 0; i < old_size; i++)
        if (old[i])
            table->slots[find_slot(table, sliced_table_state(table, old[i] - 1))] = old[i];
    free(old);
}

/* Are the sets of one state all in those of another? */
static bool has_less(const struct sliced_table *table, const uint8_t *one, const uint8_t *other)
{
    uint64_t a, b, more = 0;
    for (uint32_t at = 0; at < table->bits; at += sizeof a) {
        memcpy(&a, one + at, sizeof a);
        memcpy(&b, other + at, sizeof b);
        more |= a & ~b;
    }
    return !more;
}

static uint32_t append(struct sliced_table *table, const uint8_t *state)
{
    if (table->count == table->cap) {
        table->cap = table->cap ? 2 * table->cap : 64;
        table->states = pt_xrealloc(table->states, (size_t)table->cap * table->length);
        table->others = pt_xrealloc(table->others, table->cap * sizeof *table->others);
    }
    memcpy(sliced_table_state(table, table->count), state, table->length);
    return table->count++;
}

uint32_t sliced_table_add(struct sliced_table *table, const uint8_t *state)
{
    if (!table->slots || table->rests > table->mask / 2)
        rehash(table);
    uint32_t at = find_slot(table, state);
    for (uint32_t next = table->slots[at]; next; next = table->others[next - 1]) {
        uint8_t *known = sliced_table_state(table, next - 1);
        if (has_less(table, known, state))
            return PT_NONE;
        if (has_less(table, state, known)) {
            memcpy(known, state, table->bits);
            return next - 1;
        }
    }
    uint32_t number = append(table, state);
    table->rests += !table->slots[at];
    table->others[number] = table->slots[at];
    table->slots[at] = number + 1;
    return number;
}

void sliced_table_widen(struct sliced_table *table, uint32_t length, uint32_t bits, uint32_t fields, uint32_t ends)
{
    struct sliced_table wide = {.length = length, .bits = bits, .cap = table->cap, .count = table->count};
    uint32_t rest = fields - table->bits, tail = table->length - fields;
    wide.states = pt_xcalloc(wide.cap, length);
    wide.others = pt_xcalloc(wide.cap, sizeof *wide.others);
    for (uint32_t i = 0; i < table->count; i++) {
        const uint8_t *from = sliced_table_state(table, i);
        uint8_t *to = sliced_table_state(&wide, i);
        memcpy(to, from, table->bits);
        memcpy(to + bits, from + table->bits, rest);
        memcpy(to + ends, from + fields, tail);
    }
    sliced_table_release(table);
    *table = wide;
}
