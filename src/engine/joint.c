/*
 * Atoms over several variables, in full exploration. What they amount to in a cut depends on the values of these
 * variables alone, and traces have few different values: so each value has a small number, the numbers of a cut's
 * values side by side are a word, and each worker remembers what words amounted to. The value of a variable is that of
 * its last write in the cut, which is the one with the greatest number (columns.c): for every thread that writes it
 * and every count of the thread's events the last of its writes is noted, its number in front of the value's, so that
 * the greatest of a few entries is the answer.
 *
 * Guarantee: the effect is what an evaluation would give. Cost: a look at one entry for each variable and thread that
 * writes it, and an evaluation where the worker does not remember. Where the numbers of values do not fit into a word
 * nothing is remembered.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/lattice_impl.h"

enum { ID_BITS = 20, WORD_BITS = 63 }; /* no word is all ones: sets.c */

struct writer {
    uint32_t field;
    uint64_t *last; /* per count of the field's events: number << ID_BITS | value, or 0 */
};

struct lat_joints {
    struct variable {
        uint32_t first, end; /* of the writers */
        uint32_t shift;
    } * vars; /* in the order of the monitor's */
    uint32_t var_count;
    struct writer *writers;
    uint32_t writer_count;
    size_t writer_cap;
};

void lat_joints_free(struct pt_lattice *l)
{
    struct lat_joints *j = l->joints;
    l->joints = NULL;
    if (!j)
        return;
    for (uint32_t w = 0; w < j->writer_count; w++)
        free(j->writers[w].last);
    free(j->writers);
    free(j->vars);
    free(j);
}

static uint32_t value_id(struct pt_strtab *ids, struct pt_value value)
{
    char bytes[sizeof value.kind + sizeof value.len + sizeof value.u];
    memcpy(bytes, &value.kind, sizeof value.kind);
    memcpy(bytes + sizeof value.kind, &value.len, sizeof value.len);
    memcpy(bytes + sizeof value.kind + sizeof value.len, &value.u, sizeof value.u);
    return pt_strtab_intern(ids, bytes, sizeof bytes);
}

static void add_writer(struct pt_lattice *l, uint32_t f, uint32_t var, struct pt_strtab *ids)
{
    const struct lat_field *field = &l->layout->fields[f];
    const struct lat_column *column = &l->columns[field->column];
    uint64_t *last = NULL, entry = 0;
    for (uint32_t k = 1; k <= field->filled; k++) {
        const struct lat_event *e = lat_event_at(column, field->base + k);
        if (e->var == var) {
            if (!last)
                last = pt_xcalloc((size_t)field->filled + 1, sizeof *last);
            entry = e->number << ID_BITS | value_id(ids, e->value);
        }
        if (last)
            last[k] = entry;
    }
    if (last)
        PT_PUSH(l->joints->writers, l->joints->writer_count, l->joints->writer_cap, ((struct writer){f, last}));
}

/* Returns how many bits the numbers of the variable's values take. The initial value has number 0. */
static uint32_t add_variable(struct pt_lattice *l, uint32_t i, uint32_t shift)
{
    struct lat_joints *j = l->joints;
    uint32_t var = l->joint_vars[i], first = j->writer_count, bits = 0;
    struct pt_strtab ids;
    pt_strtab_init(&ids);
    value_id(&ids, l->initial[var]);
    for (uint32_t f = 0; f < l->layout->field_count; f++)
        add_writer(l, f, var, &ids);
    while (bits < 32 && (uint64_t)1 << bits < ids.count)
        bits++;
    pt_strtab_release(&ids);
    j->vars[i] = (struct variable){first, j->writer_count, shift};
    return bits;
}

void lat_joints_build(struct pt_lattice *l)
{
    uint32_t shift = 0;
    if (!l->joint_count || l->module || l->pushed >> (64 - ID_BITS))
        return;
    l->joints = pt_xcalloc(1, sizeof *l->joints);
    l->joints->vars = pt_xcalloc(l->joint_count, sizeof *l->joints->vars);
    l->joints->var_count = l->joint_count;
    for (uint32_t i = 0; i < l->joint_count && l->joints; i++) {
        uint32_t bits = add_variable(l, i, shift);
        shift += bits;
        if (bits > ID_BITS || shift > WORD_BITS)
            lat_joints_free(l);
    }
}

/* The numbers of the values that the variables have in the cut. */
static uint64_t values_word(const struct pt_lattice *l, const uint64_t *key)
{
    const struct lat_joints *j = l->joints;
    uint64_t word = 0;
    for (uint32_t v = 0; v < j->var_count; v++) {
        uint64_t best = 0;
        for (uint32_t w = j->vars[v].first; w < j->vars[v].end; w++) {
            const struct writer *writer = &j->writers[w];
            uint64_t last = writer->last[lat_field_count_in(&l->layout->fields[writer->field], key)];
            best = last > best ? last : best;
        }
        word |= (best & (((uint64_t)1 << ID_BITS) - 1)) << j->vars[v].shift;
    }
    return word;
}

static uint32_t evaluated(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key)
{
    lat_counts(l, l->layout, key, w->counts);
    lat_values_of(l, w->counts, l->joint_vars, l->joint_count, w->values);
    return pt_sets_joint(l->sets, &w->cache, pt_monitor_eval_joint(l->monitor, w->values));
}

static uint32_t effect_of(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key)
{
    if (!l->joints)
        return evaluated(l, w, key);
    uint64_t word = values_word(l, key);
    const struct pt_cache_line *line = pt_cache_line(&w->cache.values, word);
    if (line->key == word)
        return line->value;
    uint32_t effect = evaluated(l, w, key);
    pt_cache_put(&w->cache.values, word, effect);
    return effect;
}

pt_letter lat_joint_letter(struct pt_lattice *l, struct lat_worker *w, const uint64_t *key, pt_letter before,
                           uint32_t effect)
{
    pt_letter letter = pt_sets_apply(l->sets, &w->cache, before, effect);
    return pt_sets_apply(l->sets, &w->cache, letter, effect_of(l, w, key));
}
