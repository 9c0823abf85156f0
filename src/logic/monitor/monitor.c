/*
 * Three kinds of machine behind one interface:
 *   past     a past-time formula that must hold in every state: the remembered bits are the state, and a prefix is bad
 *            when the formula is false in its last state, even where that was bound to come;
 *   subset   a Büchi automaton: the state is the set of automaton states still possible. The automaton is pruned, so
 *            a prefix is bad exactly when the set is empty (subset construction on the fly). That of a regular
 *            expression is deterministic and not pruned: it is left without a state at the first match;
 *   module   a user's own code: the state is a blob that the module compares.
 *
 * What they read is in monitor/letter.c; atoms that have no value are in monitor/open.c.
 *
 * Exact. Cost: a step is computed once per state and letter and then remembered.
 */
#include "logic/monitor/monitor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/monitor/impl.h"

/* ---- construction ---- */

static bool seen_before(pt_formula *list, uint32_t count, pt_formula f)
{
    for (uint32_t i = 0; i < count; i++)
        if (list[i] == f)
            return true;
    return false;
}

/* Collects the largest propositional subformulas of `root`, left to right, each once. */
static void collect_pieces(struct pt_monitor *m, pt_formula root)
{
    pt_formula *found = NULL;
    uint32_t count = 0;
    size_t cap = 0, piece_cap = m->piece_count;
    pt_formula_largest(&m->property->pool, root, false, &found, &count, &cap);
    for (uint32_t i = 0; i < count; i++)
        if (!seen_before(m->pieces, m->piece_count, found[i]))
            PT_PUSH(m->pieces, m->piece_count, piece_cap, found[i]);
    free(found);
}

static void collect_all_pieces(struct pt_monitor *m)
{
    const struct pt_property *p = m->property;
    if (p->kind == PT_KIND_LTL)
        collect_pieces(m, p->formula);
    for (uint32_t i = 0; p->kind == PT_KIND_ERE && i < p->letter_count; i++)
        collect_pieces(m, p->letters[i]);
    for (uint32_t i = 0; p->kind == PT_KIND_HOA && i < p->automaton->prop_count; i++)
        collect_pieces(m, p->bindings[i]);
}

static void collect_joint_vars(struct pt_monitor *m)
{
    bool *joint = pt_xcalloc(m->var_count, sizeof *joint);
    for (uint32_t i = 0; i < m->property->atom_count; i++) {
        const struct pt_atom *atom = &m->property->atoms[i];
        for (uint32_t k = 0; atom->var_count > 1 && k < atom->var_count; k++)
            joint[atom->vars[k]] = true;
    }
    m->joint_vars = pt_xcalloc(m->var_count, sizeof *m->joint_vars);
    for (uint32_t v = 0; v < m->var_count; v++)
        if (joint[v])
            m->joint_vars[m->joint_count++] = v;
    free(joint);
}

static struct pt_monitor *monitor_alloc(enum machine machine)
{
    struct pt_monitor *m = pt_xcalloc(1, sizeof *m);
    m->machine = machine;
    m->monitorable = true;
    pt_strtab_init(&m->letters);
    pt_strtab_init(&m->effects);
    pt_strtab_init(&m->states);
    pt_map64_init(&m->steps);
    pt_map64_init(&m->blob_hash);
    return m;
}

/* Can a finite prefix be bad at all? Where that is too large a question, we do not claim that it cannot. */
static void judge_monitorable(struct pt_monitor *m, struct pt_automaton *aut, uint32_t state_limit)
{
    struct pt_err err;
    bool answer = true;
    if (pt_automaton_monitorable(aut, state_limit, &answer, &err) == PT_OK)
        m->monitorable = answer;
}

static enum pt_status build_past(struct pt_monitor *m, uint32_t state_limit, struct pt_err *err)
{
    enum pt_status status = pt_past_init(&m->past, &m->property->pool, &m->state_formula, 1, err);
    if (status != PT_OK)
        return status;
    m->values = pt_xcalloc(m->past.node_count, sizeof *m->values);
    struct pt_automaton *aut;
    struct pt_err ignored; /* too large to be shown as an automaton: the monitor works all the same */
    uint32_t small = state_limit < 4096 ? state_limit : 4096;
    if (pt_property_automaton(m->property, small, &aut, &ignored) == PT_OK) {
        judge_monitorable(m, aut, small);
        pt_automaton_free(aut);
    }
    return PT_OK;
}

static enum pt_status build_subset(struct pt_monitor *m, uint32_t state_limit, struct pt_err *err)
{
    enum pt_status status = pt_property_automaton(m->property, state_limit, &m->automaton, err);
    if (status != PT_OK)
        return status;
    if (m->property->kind != PT_KIND_ERE) /* an expression is violated when it is matched, not when it must be */
        pt_automaton_prune(m->automaton);
    if (!m->property->within) /* with a bound, every property can be late */
        judge_monitorable(m, m->automaton, state_limit);
    return PT_OK;
}

enum pt_status pt_monitor_new(const struct pt_property *property, uint32_t state_limit, struct pt_monitor **ret_monitor,
                              struct pt_err *err)
{
    pt_formula every = pt_property_state_formula(property);
    /* `always F` without a past operator foresees nothing: its automaton needs no memory. */
    bool past = every != PT_NONE && (every == property->formula || property->pool.nodes[every].has_past);
    struct pt_monitor *m = monitor_alloc(past ? MACHINE_PAST : MACHINE_SUBSET);
    m->property = property;
    m->state_formula = every;
    m->name = property->name;
    m->var_count = property->var_count;
    m->event_count = property->event_count;
    collect_joint_vars(m);
    collect_all_pieces(m);
    enum pt_status status = past ? build_past(m, state_limit, err) : build_subset(m, state_limit, err);
    if (status != PT_OK) {
        pt_monitor_free(m);
        return status;
    }
    *ret_monitor = m;
    return PT_OK;
}

struct pt_monitor *pt_monitor_of_module(const struct portent_monitor *module)
{
    struct pt_monitor *m = monitor_alloc(MACHINE_MODULE);
    m->module = module;
    m->name = module->name;
    while (module->variables && module->variables[m->var_count])
        m->var_count++;
    while (module->events && module->events[m->event_count])
        m->event_count++;
    m->module_vars = pt_xcalloc(m->var_count, sizeof *m->module_vars);
    m->joint_vars = pt_xcalloc(m->var_count, sizeof *m->joint_vars);
    for (uint32_t i = 0; i < m->var_count; i++) {
        const char *name = module->variables[i];
        m->joint_vars[m->joint_count++] = i;
        m->module_vars[i] = (struct pt_varref){name, name, name, 0, 0};
    }
    return m;
}

void pt_monitor_free(struct pt_monitor *m)
{
    if (!m)
        return;
    free(m->module_vars);
    free(m->joint_vars);
    free(m->one_value);
    free(m->last_effects);
    pt_strtab_release(&m->letters);
    pt_strtab_release(&m->effects);
    pt_strtab_release(&m->states);
    pt_map64_release(&m->steps);
    pt_map64_release(&m->blob_hash);
    free(m->pieces);
    pt_past_release(&m->past);
    free(m->values);
    if (m->automaton)
        pt_automaton_free(m->automaton);
    free(m->blobs);
    free(m->blob_chain);
    free(m);
}

const char *pt_monitor_name(const struct pt_monitor *m)
{
    return m->name;
}

const struct pt_property *pt_monitor_property(const struct pt_monitor *m)
{
    return m->property;
}

const struct pt_varref *pt_monitor_vars(const struct pt_monitor *m, uint32_t *ret_count)
{
    *ret_count = m->var_count;
    return m->property ? m->property->vars : m->module_vars;
}

enum pt_status pt_monitor_event(const struct pt_monitor *m, const char *name, uint32_t *ret_event, struct pt_err *err)
{
    if (m->property)
        return pt_property_event(m->property, name, ret_event, err);
    *ret_event = PT_NONE;
    for (uint32_t e = 0; e < m->event_count; e++)
        if (strcmp(m->module->events[e], name) == 0)
            *ret_event = e;
    return PT_OK;
}

uint32_t pt_monitor_named_events(const struct pt_monitor *m)
{
    return m->property ? m->property->named_events : m->event_count;
}

const char *const *pt_monitor_events(const struct pt_monitor *m, uint32_t *ret_count)
{
    *ret_count = m->event_count;
    return m->property ? (const char *const *)m->property->events : m->module->events;
}

bool pt_monitor_monitorable(const struct pt_monitor *m)
{
    return m->monitorable;
}

const uint32_t *pt_monitor_joint_vars(const struct pt_monitor *m, uint32_t *ret_count)
{
    *ret_count = m->joint_count;
    return m->joint_vars;
}

bool pt_monitor_is_module(const struct pt_monitor *m)
{
    return m->module != NULL;
}

size_t pt_monitor_bytes(const struct pt_monitor *m)
{
    return sizeof *m + pt_strtab_bytes(&m->letters) + pt_strtab_bytes(&m->effects) + pt_strtab_bytes(&m->states) +
           pt_map64_bytes(&m->steps) + pt_map64_bytes(&m->blob_hash) + m->blob_cap +
           m->blob_chain_cap * sizeof *m->blob_chain;
}

const struct pt_automaton *pt_monitor_automaton(const struct pt_monitor *m)
{
    return m->automaton;
}

/* ---- the three machines ---- */

struct memory_key {
    uint64_t bits, first;
};

static pt_mstate past_intern(struct pt_monitor *m, struct pt_past_memory memory)
{
    struct memory_key key = {memory.bits, memory.first};
    return pt_strtab_intern(&m->states, (const char *)&key, sizeof key);
}

static pt_mstate past_step(struct pt_monitor *m, pt_mstate state, uint64_t bits)
{
    struct memory_key key;
    memcpy(&key, pt_strtab_text(&m->states, state), sizeof key);
    struct pt_past_memory memory = {key.bits, key.first != 0};
    memory = pt_past_step(&m->past, memory, bits, m->values);
    if (!m->values[m->past.local[m->state_formula]])
        return PT_MSTATE_BAD;
    return past_intern(m, memory);
}

static pt_mstate subset_intern(struct pt_monitor *m, uint32_t *set, uint32_t count)
{
    uint32_t distinct = pt_sort_distinct(set, count);
    return pt_strtab_intern(&m->states, (const char *)set, distinct * sizeof *set);
}

static pt_mstate subset_step(struct pt_monitor *m, pt_mstate state, uint64_t bits)
{
    const struct pt_automaton *aut = m->automaton;
    uint32_t count = pt_strtab_len(&m->states, state) / sizeof(uint32_t), len = 0;
    size_t cap = 0;
    uint32_t *next = NULL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t s;
        memcpy(&s, pt_strtab_text(&m->states, state) + i * sizeof s, sizeof s);
        for (uint32_t e = aut->first[s]; e < aut->first[s + 1]; e++)
            if (pt_bdd_eval(aut->bdds, aut->edges[e].label, bits))
                PT_PUSH(next, len, cap, aut->edges[e].dst);
    }
    pt_mstate result = len ? subset_intern(m, next, len) : PT_MSTATE_BAD;
    free(next);
    return result;
}

static pt_mstate module_intern(struct pt_monitor *m, const void *blob)
{
    size_t size = m->module->state_size;
    uint32_t *head = pt_map64_at(&m->blob_hash, m->module->hash(blob));
    for (uint32_t id = *head; id != PT_NONE; id = m->blob_chain[id])
        if (m->module->equal(m->blobs + id * size, blob))
            return id;
    PT_GROW(m->blobs, m->blob_cap, (m->blob_count + 1) * size);
    memcpy(m->blobs + m->blob_count * size, blob, size);
    uint32_t len = m->blob_count;
    PT_PUSH(m->blob_chain, len, m->blob_chain_cap, *head);
    *head = m->blob_count;
    return m->blob_count++;
}

static pt_mstate module_step(struct pt_monitor *m, pt_mstate state, pt_letter letter)
{
    size_t size = m->module->state_size;
    const char *key = pt_strtab_text(&m->letters, letter);
    struct portent_value *values = pt_xcalloc(m->var_count, sizeof *values);
    for (uint32_t i = 0; i < m->var_count; i++) {
        struct pt_value v;
        memcpy(&v, key + i * sizeof v, sizeof v);
        values[i].kind = v.kind;
        values[i].len = v.len;
        values[i].as.u = v.u; /* the unions agree in size and place of their members */
    }
    uint32_t event;
    memcpy(&event, key + m->var_count * sizeof(struct pt_value), sizeof event);
    struct portent_state program = {values, event == PT_NONE ? -1 : (int)event};
    char *blob = pt_xmalloc(size);
    memcpy(blob, m->blobs + state * size, size);
    m->module->step(blob, &program);
    pt_mstate next = m->module->is_bad(blob) ? PT_MSTATE_BAD : module_intern(m, blob);
    free(blob);
    free(values);
    return next;
}

pt_mstate pt_monitor_start(struct pt_monitor *m)
{
    if (m->machine == MACHINE_PAST)
        return past_intern(m, pt_past_start(&m->past));
    if (m->machine == MACHINE_SUBSET)
        return subset_intern(m, &m->automaton->initial, 1);
    char *blob = pt_xcalloc(1, m->module->state_size);
    m->module->init(blob);
    pt_mstate start = module_intern(m, blob);
    free(blob);
    return start;
}

/* ---- between processes ---- */

const void *pt_monitor_letter_text(const struct pt_monitor *m, pt_letter letter, size_t *ret_len)
{
    *ret_len = pt_strtab_len(&m->letters, letter);
    return pt_strtab_text(&m->letters, letter);
}

pt_letter pt_monitor_letter_of_text(struct pt_monitor *m, const void *text, size_t len)
{
    return pt_strtab_intern(&m->letters, text, len);
}

const void *pt_monitor_state_text(const struct pt_monitor *m, pt_mstate state, size_t *ret_len)
{
    *ret_len = pt_strtab_len(&m->states, state);
    return pt_strtab_text(&m->states, state);
}

pt_mstate pt_monitor_state_of_text(struct pt_monitor *m, const void *text, size_t len)
{
    return pt_strtab_intern(&m->states, text, len);
}

/* ---- steps ---- */

static pt_mstate step_bits(struct pt_monitor *m, pt_mstate state, uint64_t bits)
{
    return m->machine == MACHINE_PAST ? past_step(m, state, bits) : subset_step(m, state, bits);
}

/* The atoms that the next step looks at at all. */
static uint64_t atoms_in_use(struct pt_monitor *m, pt_mstate state)
{
    uint64_t used = 0;
    if (m->machine != MACHINE_SUBSET)
        return UINT64_MAX;
    for (uint32_t i = 0; i < pt_strtab_len(&m->states, state) / sizeof(uint32_t); i++) {
        uint32_t s;
        memcpy(&s, pt_strtab_text(&m->states, state) + i * sizeof s, sizeof s);
        for (uint32_t e = m->automaton->first[s]; e < m->automaton->first[s + 1]; e++)
            used |= pt_bdd_support(m->automaton->bdds, m->automaton->edges[e].label);
    }
    return used;
}

static pt_mstate step_open(struct pt_monitor *m, pt_mstate state, struct letter letter)
{
    uint64_t open = pt_monitor_open_atoms(m, letter) & atoms_in_use(m, state),
             bits = letter.bits & ~letter.unknown & ~open;
    if (__builtin_popcountll(open) > PT_MAX_OPEN)
        return PT_MSTATE_ERROR;
    pt_mstate result = step_bits(m, state, bits);
    for (uint64_t choice = open; choice; choice = (choice - 1) & open) /* every non-empty subset */
        if (step_bits(m, state, bits | choice) != result)
            return PT_MSTATE_ERROR;
    return result;
}

pt_mstate pt_monitor_step(struct pt_monitor *m, pt_mstate state, pt_letter letter)
{
    uint64_t key = (uint64_t)state << 32 | letter;
    uint32_t known = pt_map64_get(&m->steps, key);
    if (known != PT_NONE)
        return known;
    pt_mstate next;
    if (m->machine == MACHINE_MODULE) {
        next = module_step(m, state, letter);
    } else {
        struct letter l = *pt_monitor_letter_of(m, letter);
        next = l.unknown ? step_open(m, state, l) : step_bits(m, state, l.bits);
    }
    *pt_map64_at(&m->steps, key) = next;
    return next;
}
