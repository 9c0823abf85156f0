/*
 * What a property's monitor knows at a point of a run, as a number: its state, the truth of the atoms, and the values
 * of variables that an atom compares with others. A step by a relevant event is a look-up once seen, so that slices
 * can be followed from any configuration.
 *
 * Guarantee: two points with the same number have the same future. Cost: constant expected time per step; memory for
 * each configuration, which are at most the monitor's states times the truths of its atoms, unless atoms compare
 * variables.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/sliced_impl.h"

static uint32_t var_count(const struct sliced_monitor *m)
{
    return m->s->p->monitor_var_count;
}

void sliced_monitor_values(const struct sliced_monitor *m, uint32_t config, struct pt_value *values)
{
    const struct wide_problem *p = m->s->p;
    const uint32_t *writers = m->writers + (size_t)config * var_count(m);
    for (uint32_t v = 0; v < var_count(m); v++)
        values[v] = writers[v] ? m->letters[writers[v] - 1].value : p->initial[v];
}

/* The number of a configuration; `writers`: per variable. */
static uint32_t intern(struct sliced_monitor *m, struct sliced_config config, const uint32_t *writers)
{
    const struct wide_problem *p = m->s->p;
    uint32_t vars = var_count(m), length = 2;
    uint32_t *key = pt_xmalloc((vars + (size_t)length) * sizeof *key);
    key[0] = config.state;
    key[1] = config.letter;
    for (uint32_t v = 0; v < vars; v++)
        if (p->module || p->is_joint[v])
            key[length++] = writers[v];
    uint32_t number = pt_strtab_intern(&m->known, (const char *)key, length * sizeof *key);
    free(key);
    if (number < m->config_count)
        return number;
    PT_GROW(m->writers, m->writer_cap, ((size_t)number + 1) * vars + 1);
    memcpy(m->writers + (size_t)number * vars, writers, vars * sizeof *writers);
    PT_PUSH(m->configs, m->config_count, m->config_cap, config);
    return number;
}

void sliced_monitor_init(struct sliced_monitor *m, struct wide_search *s)
{
    const struct wide_problem *p = s->p;
    *m = (struct sliced_monitor){.s = s};
    pt_strtab_init(&m->known);
    pt_strtab_init(&m->known_letters);
    pt_map64_init(&m->steps);
    uint32_t *writers = pt_xcalloc((size_t)p->monitor_var_count + 1, sizeof *writers);
    struct sliced_config first = {.letter = pt_monitor_letter(p->monitor, p->initial, PT_NONE)};
    first.state = pt_monitor_step(p->monitor, pt_monitor_start(p->monitor), first.letter);
    (void)intern(m, first, writers);
    free(writers);
}

void sliced_monitor_release(struct sliced_monitor *m)
{
    free(m->letters);
    free(m->configs);
    free(m->writers);
    pt_strtab_release(&m->known);
    pt_strtab_release(&m->known_letters);
    pt_map64_release(&m->steps);
}

size_t sliced_monitor_bytes(const struct sliced_monitor *m)
{
    size_t config = sizeof *m->configs + (2 * (size_t)var_count(m) + 8) * sizeof *m->writers; /* with its key */
    return m->config_count * config + pt_map64_bytes(&m->steps) + m->letter_count * 2 * sizeof *m->letters;
}

/* Of a variable that atoms read alone the effect says it all; of others the value does, and one that is not known is
 * never the same as another. */
uint32_t sliced_monitor_letter(struct sliced_monitor *m, uint32_t var, uint32_t user_event, const struct pt_recorded *e,
                               uint64_t place)
{
    const struct wide_problem *p = m->s->p;
    bool writes = var != PT_NONE, joint = writes && (p->module || p->is_joint[var]);
    uint32_t effect = writes && !p->module ? pt_monitor_effect(p->monitor, var, e->value) : PT_NONE;
    uint32_t value = joint && !e->partial ? wide_value_id(p->log, e->value) : 0;
    uint64_t other = joint && !value ? place + 1 : 0;
    uint32_t key[] = {var, user_event, effect, value, (uint32_t)other, (uint32_t)(other >> 32)};
    uint32_t number = pt_strtab_intern(&m->known_letters, (const char *)key, sizeof key);
    if (number < m->letter_count)
        return number;
    bool initial = value && value == wide_value_id(p->log, p->initial[var]);
    struct sliced_letter letter = {var, user_event, effect, initial, e->value};
    PT_PUSH(m->letters, m->letter_count, m->letter_cap, letter);
    return number;
}

/* A value and its neighbours, if it has any: where a comparison with it changes. */
static void foresee_value(struct sliced_monitor *m, uint32_t var, struct pt_value value)
{
    struct pt_recorded write = {.op = PT_OP_WRITE, .value = value};
    (void)sliced_monitor_letter(m, var, PT_NONE, &write, 0);
    if (value.kind != PT_VALUE_INT || value.i == INT64_MIN || value.i == INT64_MAX)
        return;
    write.value.i = value.i - 1;
    (void)sliced_monitor_letter(m, var, PT_NONE, &write, 0);
    write.value.i = value.i + 1;
    (void)sliced_monitor_letter(m, var, PT_NONE, &write, 0);
}

void sliced_monitor_foresee(struct sliced_monitor *m)
{
    enum { MOST_CONSTANTS = 16 };
    const struct wide_problem *p = m->s->p;
    struct pt_value values[MOST_CONSTANTS];
    for (uint32_t v = 0; v < var_count(m) && !p->module; v++) {
        uint32_t count = p->is_joint[v] ? 0 : pt_monitor_constants(p->monitor, v, values, MOST_CONSTANTS);
        for (uint32_t i = 0; i < count; i++)
            foresee_value(m, v, values[i]);
    }
    uint32_t events = p->module ? 0 : pt_monitor_named_events(p->monitor);
    struct pt_recorded none = {.op = PT_OP_EVENT};
    for (uint32_t e = 0; e < events; e++)
        (void)sliced_monitor_letter(m, PT_NONE, e, &none, 0);
}

/* As wide_letter does it for a state of the other orders. */
static uint32_t step(struct sliced_monitor *m, uint32_t from, uint32_t by_letter)
{
    const struct sliced_letter *by = &m->letters[by_letter];
    struct wide_search *s = m->s;
    const struct wide_problem *p = s->p;
    bool joint = p->module || (by->var != PT_NONE && p->is_joint[by->var]);
    struct sliced_config config = m->configs[from];
    uint32_t vars = var_count(m);
    uint32_t *writers = pt_xmalloc(((size_t)vars + 1) * sizeof *writers);
    memcpy(writers, m->writers + (size_t)from * vars, vars * sizeof *writers);
    sliced_monitor_values(m, from, s->values);
    if (by->var != PT_NONE) {
        writers[by->var] = by->initial ? 0 : by_letter + 1;
        s->values[by->var] = by->value;
        config.letter = p->module ? pt_monitor_letter(p->monitor, s->values, PT_NONE)
                        : joint   ? pt_monitor_apply_joint(p->monitor, config.letter, by->effect, s->values)
                                  : pt_sets_apply(&s->sets, &s->cache, config.letter, by->effect);
    }
    pt_letter read = config.letter;
    if (by->user_event != PT_NONE)
        read = p->module ? pt_monitor_letter(p->monitor, s->values, by->user_event)
                         : pt_sets_event(&s->sets, &s->cache, config.letter, by->user_event);
    config.state = pt_monitor_step(p->monitor, config.state, read);
    uint32_t number = intern(m, config, writers);
    free(writers);
    return number;
}

uint32_t sliced_monitor_step(struct sliced_monitor *m, uint32_t config, uint32_t letter)
{
    uint64_t key = (uint64_t)config << 32 | letter;
    uint32_t known = pt_map64_get(&m->steps, key);
    if (known != PT_NONE)
        return known;
    uint32_t after = step(m, config, letter);
    *pt_map64_at(&m->steps, key) = after;
    return after;
}
