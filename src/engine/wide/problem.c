/*
 * From a trace to the events that can change a property's answer.
 *
 * How far threads matter. Of each thread a beginning is kept that holds its relevant events and, again and again until
 * nothing is added: the write that a kept read saw, in values every write of the value it returned; the fork of a kept
 * thread, the end of a joined one, the operations on an object before a kept one; the release of a lock that is taken
 * in the beginning, or the join that frees it. What comes after can be cut off any possible run: no event that is left
 * needs it, and no lock is taken that would have been released.
 *
 * What is left out of a beginning. Accesses of a variable that one thread alone accesses there, or that nobody writes,
 * and in values of one that nobody reads; in sync reads by the only thread that writes the variable; operations on a
 * lock of one thread, and those of a thread that has the lock already; whatever touches nothing (begin, state, ...).
 * None of them waits for anything and nothing waits for them, so they may happen just before the next event of their
 * thread. They are put back into a witness before it is judged.
 *
 * Cost: linear in the trace, and for sync in the number of threads that share an object, per event.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/wide_impl.h"

/* While a problem is made. */
struct making {
    struct wide_problem *p;
    struct pt_wide_log *log;
    uint32_t *limit, *done;  /* per thread: events that are kept, and those that were looked at */
    bool *visible;           /* per event */
    struct pt_map64 wanted;  /* values: a variable and a value that a read has returned */
    struct pt_map64 written; /* ... and the last write of that variable and value; `before` links them */
    uint32_t *before;
    uint32_t *kept;          /* per event: its number in its column, from 1; 0: it is left out */
    struct pt_map64 classes; /* variable and value to class */
    bool *target;            /* per event: a write that some read is tied to */
    const struct pt_wide_sees *sees;
};

uint32_t wide_initial_id(struct pt_wide_log *log, uint32_t var)
{
    return wide_value_id(log, var < log->initial_cap ? log->initial[var] : pt_value_int(0));
}

bool wide_is_free(struct pt_wide_log *log, uint32_t place)
{
    const struct pt_recorded *e = &log->events[place];
    if (e->op != PT_OP_READ || e->partial || !log->values[place])
        return false;
    uint32_t writer = log->writer[place];
    return log->values[place] == (writer ? log->values[writer - 1] : wide_initial_id(log, e->object));
}

bool wide_reads(const struct pt_recorded *e)
{
    return pt_op_space(e->op) == PT_SPACE_VAR && (pt_op_reads(e->op) || (pt_op_writes(e->op) && e->partial));
}

static bool is_access(const struct pt_recorded *e)
{
    return pt_op_space(e->op) == PT_SPACE_VAR && pt_op_accesses(e->op);
}

/* ---- how far threads matter ---- */

static void extend(struct making *m, uint32_t place_plus_1)
{
    if (!place_plus_1)
        return;
    uint32_t place = place_plus_1 - 1, thread = m->log->events[place].thread;
    if (m->limit[thread] < m->log->index[place])
        m->limit[thread] = m->log->index[place];
}

/* What the check that asks has told (pt_wide_log_need), plus 1; 0: nothing. */
static uint32_t needed_by(const struct making *m, uint32_t place)
{
    return m->log->needed && !m->p->monitor ? m->log->needed[place] : 0;
}

static uint64_t pair_key(uint32_t var, uint32_t value)
{
    return (uint64_t)var << 32 | value;
}

/* Every write of that value of the variable. */
static void extend_writes(struct making *m, uint32_t var, uint32_t value)
{
    uint32_t *known = pt_map64_at(&m->wanted, pair_key(var, value));
    if (*known != PT_NONE)
        return;
    *known = 1;
    uint32_t last = pt_map64_get(&m->written, pair_key(var, value));
    for (uint32_t place = last == PT_NONE ? 0 : last + 1; place; place = m->before[place - 1])
        extend(m, place);
}

static void extend_for(struct making *m, uint32_t place)
{
    const struct pt_wide_log *log = m->log;
    const struct pt_recorded *e = &log->events[place];
    const struct wide_thread *self = &log->threads[e->thread];
    extend(m, self->fork);
    extend(m, needed_by(m, place));
    if (e->op == PT_OP_JOIN) {
        const struct wide_thread *child = &log->threads[e->object];
        m->limit[e->object] = child->count;
        extend(m, child->fork);
    } else if (pt_op_space(e->op) == PT_SPACE_OTHER) {
        extend(m, log->link[place]);
    } else if (pt_op_locks(e->op) && !log->inner[place]) {
        extend(m, log->link[place] ? log->link[place] : self->join);
    } else if (wide_reads(e)) {
        if (m->p->order == PT_POSSIBLE_VALUES && wide_is_free(m->log, place))
            extend_writes(m, e->object, log->values[place]);
        else
            extend(m, log->writer[place]);
    }
}

/* For extend_writes: the writes of each variable and value, the last one first. */
static void chain_writes(struct making *m)
{
    const struct pt_wide_log *log = m->log;
    m->before = pt_xcalloc(log->count + 1, sizeof *m->before);
    for (uint32_t i = 0; i < log->count; i++)
        if (pt_op_writes_var(log->events[i].op) && log->values[i]) {
            uint32_t *last = pt_map64_at(&m->written, pair_key(log->events[i].object, log->values[i]));
            m->before[i] = *last == PT_NONE ? 0 : *last + 1;
            *last = i;
        }
}

static void find_limits(struct making *m)
{
    const struct pt_wide_log *log = m->log;
    if (m->p->order == PT_POSSIBLE_VALUES)
        chain_writes(m);
    for (uint32_t k = 0; k < m->p->relevant_count; k++)
        extend(m, m->p->relevant[k] + 1);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t t = 0; t < log->thread_count; t++)
            while (m->done[t] < m->limit[t]) {
                more = true;
                extend_for(m, log->threads[t].places[m->done[t]++]);
            }
    }
}

static bool within(const struct making *m, uint32_t place)
{
    return m->log->index[place] <= m->limit[m->log->events[place].thread];
}

/* ---- what is left of them ---- */

struct wide_user *wide_user_of(struct wide_object *object, uint32_t thread)
{
    for (uint32_t i = 0; i < object->user_count; i++)
        if (object->users[i].thread == thread)
            return &object->users[i];
    struct wide_user user = {.thread = thread};
    PT_PUSH(object->users, object->user_count, object->user_cap, user);
    return &object->users[object->user_count - 1];
}

/* Who uses what. */
static void find_users(struct making *m)
{
    struct wide_problem *p = m->p;
    const struct pt_wide_log *log = m->log;
    p->var_count = log->var_count;
    p->vars = pt_xcalloc((size_t)p->var_count + 1, sizeof *p->vars);
    p->lock_count = log->names->space[PT_SPACE_LOCK].count;
    p->locks = pt_xcalloc((size_t)p->lock_count + 1, sizeof *p->locks);
    for (uint32_t v = 0; v < p->var_count; v++)
        p->vars[v].var = PT_NONE;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct pt_recorded *e = &log->events[i];
        if (!within(m, i))
            continue;
        if (is_access(e)) {
            struct wide_object *var = &p->vars[e->object];
            (void)wide_user_of(var, e->thread);
            if (pt_op_writes(e->op))
                var->only_writer = var->writes++ && var->only_writer != e->thread ? PT_NONE : e->thread;
            var->reads += wide_reads(e);
        } else if (pt_op_space(e->op) == PT_SPACE_LOCK && pt_op_accesses(e->op)) {
            (void)wide_user_of(&p->locks[e->object], e->thread);
        }
    }
}

/* Can the order of its accesses matter at all? */
static bool is_constrained(const struct wide_problem *p, const struct wide_object *var)
{
    return var->user_count > 1 && var->writes > 0 && (p->order == PT_POSSIBLE_SYNC || var->reads > 0);
}

static bool is_kept(const struct making *m, uint32_t place)
{
    const struct pt_wide_log *log = m->log;
    const struct pt_recorded *e = &log->events[place];
    const struct wide_thread *self = &log->threads[e->thread];
    if (m->visible[place] || pt_op_is_of_thread(e->op) ||
        (pt_op_space(e->op) == PT_SPACE_OTHER && pt_op_accesses(e->op)))
        return true;
    if (self->join && log->index[place] == self->count)
        return true; /* its end, for which somebody may wait */
    if (needed_by(m, place) || (m->log->needed && !m->p->monitor && m->log->is_needed[place]))
        return true;
    if (is_access(e)) {
        const struct wide_object *var = &m->p->vars[e->object];
        bool own = !pt_op_writes(e->op) && var->writes && var->only_writer == e->thread;
        return var->tracked && !(own && m->p->order == PT_POSSIBLE_SYNC);
    }
    return pt_op_space(e->op) == PT_SPACE_LOCK && pt_op_accesses(e->op) && !log->inner[place] &&
           m->p->locks[e->object].user_count > 1;
}

/* ---- variables in values ---- */

static uint32_t new_class(struct wide_object *var, uint32_t value, uint32_t writer)
{
    PT_GROW(var->writer, var->writer_cap, (size_t)var->class_count + 1);
    var->writer[var->class_count] = writer;
    PT_PUSH(var->value, var->class_count, var->value_cap, value);
    return var->class_count - 1;
}

/* Writes of one value are the same to all readers, unless one is tied to this very write. */
static uint32_t class_of(struct making *m, uint32_t var, uint32_t value, uint32_t writer, bool alone)
{
    if (alone)
        return new_class(&m->p->vars[var], value, writer);
    uint32_t *class = pt_map64_at(&m->classes, pair_key(var, value));
    if (*class == PT_NONE)
        *class = new_class(&m->p->vars[var], value, writer);
    return *class;
}

static void find_targets(struct making *m)
{
    const struct pt_wide_log *log = m->log;
    m->target = pt_xcalloc(log->count + 1, sizeof *m->target);
    bool *first = pt_xcalloc((size_t)m->p->var_count + 1, sizeof *first); /* a read is tied to the beginning */
    for (uint32_t i = 0; i < log->count; i++) {
        if (!m->kept[i] || !wide_reads(&log->events[i]) || wide_is_free(m->log, i))
            continue;
        if (log->writer[i])
            m->target[log->writer[i] - 1] = true;
        else
            first[log->events[i].object] = true;
    }
    if (m->sees && m->sees->store)
        m->target[m->sees->store - 1] = true;
    else if (m->sees)
        first[m->sees->var] = true;
    for (uint32_t v = 0; v < m->p->var_count; v++)
        if (m->p->vars[v].tracked)
            m->p->vars[v].first = class_of(m, v, wide_initial_id(m->log, v), 0, first[v]);
    free(first);
}

/* ---- the events ---- */

static void need(struct making *m, struct wide_event *e, uint32_t place_plus_1)
{
    if (!place_plus_1)
        return;
    uint32_t place = place_plus_1 - 1;
    e->need[e->need_count++] = (struct wide_need){m->log->events[place].thread, m->kept[place]};
}

static void describe_access(struct making *m, struct wide_event *e, const struct pt_recorded *r)
{
    struct wide_problem *p = m->p;
    struct pt_wide_log *log = m->log;
    struct wide_object *var = &p->vars[r->object];
    struct wide_user *user = wide_user_of(var, r->thread);
    uint32_t at = m->kept[e->place], writer = log->writer[e->place];
    if (!var->tracked)
        return;
    e->object = r->object;
    e->kind = !pt_op_writes(r->op) ? WIDE_READ : wide_reads(r) ? WIDE_UPDATE : WIDE_WRITE;
    user->last = at;
    if (e->kind != WIDE_WRITE)
        user->last_read = at;
    if (p->order == PT_POSSIBLE_SYNC) {
        if (e->kind != WIDE_WRITE)
            need(m, e, writer);
        return;
    }
    e->tied = e->kind != WIDE_WRITE && !wide_is_free(log, e->place);
    if (e->kind != WIDE_WRITE)
        e->wants = !e->tied ? log->values[e->place] : writer ? PT_NONE : var->first;
    if (e->tied && writer) {
        const struct pt_recorded *w = &log->events[writer - 1];
        e->wants = p->columns[w->thread].events[m->kept[writer - 1] - 1].class;
    }
    if (e->kind != WIDE_READ)
        e->class = class_of(m, r->object, log->values[e->place], e->place + 1, m->target[e->place]);
}

/* The list without one lock. */
static uint32_t without(struct wide_problem *p, uint32_t list, uint32_t lock, bool shared)
{
    if (!list)
        return 0;
    struct wide_held held = p->helds[list - 1];
    if (held.lock == lock && held.shared == shared)
        return held.next;
    held.next = without(p, held.next, lock, shared);
    PT_PUSH(p->helds, p->held_count, p->held_cap, held);
    return p->held_count;
}

static void describe_lock(struct making *m, struct wide_event *e, const struct pt_recorded *r)
{
    struct wide_problem *p = m->p;
    bool shared = pt_op_is_shared(r->op);
    e->object = r->object;
    if (!pt_op_locks(r->op)) {
        e->kind = shared ? WIDE_RREL : WIDE_REL;
        e->held = without(p, e->held, r->object, shared);
        return;
    }
    e->kind = shared ? WIDE_RACQ : WIDE_ACQ;
    wide_user_of(&p->locks[r->object], r->thread)->last = m->kept[e->place];
    for (uint32_t at = e->held; at; at = p->helds[at - 1].next)
        e->self_shared |= p->helds[at - 1].lock == r->object && p->helds[at - 1].shared;
    struct wide_held held = {r->object, e->held, shared};
    PT_PUSH(p->helds, p->held_count, p->held_cap, held);
    e->held = p->held_count;
}

static void describe_join(struct making *m, struct wide_event *e, const struct pt_recorded *r)
{
    const struct wide_thread *child = &m->log->threads[r->object];
    e->kind = WIDE_JOIN;
    e->object = r->object;
    need(m, e, child->count ? child->places[child->count - 1] + 1 : child->fork);
    m->p->columns[r->object].join = (struct wide_need){r->thread, m->kept[e->place]};
}

static void describe_visible(struct making *m, struct wide_event *e, uint32_t k)
{
    struct wide_problem *p = m->p;
    uint32_t thread = m->log->events[e->place].thread;
    e->visible = true;
    e->var = p->relevant_var[k];
    e->user_event = p->relevant_event[k];
    if (e->var != PT_NONE && !p->module)
        e->effect = pt_monitor_effect(p->monitor, e->var, m->log->events[e->place].value);
    if (e->var != PT_NONE && p->order == PT_POSSIBLE_SYNC) {
        struct wide_writes *writes = &p->writes[(size_t)e->var * p->column_count + thread];
        PT_PUSH(writes->at, writes->count, writes->cap, m->kept[e->place]);
    }
}

static void make_columns(struct making *m)
{
    struct wide_problem *p = m->p;
    const struct pt_wide_log *log = m->log;
    m->kept = pt_xcalloc(log->count + 1, sizeof *m->kept);
    for (uint32_t i = 0; i < log->count; i++)
        if (within(m, i) && is_kept(m, i))
            m->kept[i] = ++p->columns[log->events[i].thread].count;
    if (p->order == PT_POSSIBLE_VALUES)
        find_targets(m);
    for (uint32_t c = 0; c < p->column_count; c++) {
        struct wide_column *column = &p->columns[c];
        column->events = pt_xcalloc((size_t)column->count + 1, sizeof *column->events);
        p->bytes += column->count * (sizeof *column->events + sizeof *column->watches);
    }
    uint32_t k = 0;
    for (uint32_t i = 0; i < log->count; i++) {
        const struct pt_recorded *r = &log->events[i];
        if (!m->kept[i])
            continue;
        struct wide_column *column = &p->columns[r->thread];
        struct wide_event *e = &column->events[m->kept[i] - 1];
        *e = (struct wide_event){
            .place = i, .object = PT_NONE, .var = PT_NONE, .user_event = PT_NONE, .effect = PT_NONE};
        e->held = m->kept[i] > 1 ? e[-1].held : 0;
        if (m->kept[i] == 1)
            need(m, e, log->threads[r->thread].fork);
        need(m, e, needed_by(m, i));
        if (is_access(r))
            describe_access(m, e, r);
        else if (pt_op_space(r->op) == PT_SPACE_LOCK && pt_op_accesses(r->op) && !log->inner[i] &&
                 p->locks[r->object].user_count > 1)
            describe_lock(m, e, r);
        else if (r->op == PT_OP_JOIN)
            describe_join(m, e, r);
        else if (pt_op_space(r->op) == PT_SPACE_OTHER)
            need(m, e, log->link[i]);
        if (m->visible[i])
            describe_visible(m, e, k++);
    }
}

/* ---- the property ---- */

static void take_monitor(struct wide_problem *p, const struct pt_wide_names *names)
{
    const struct pt_wide_log *log = p->log;
    pt_monitor_vars(p->monitor, &p->monitor_var_count);
    const uint32_t *joint = pt_monitor_joint_vars(p->monitor, &p->joint_count);
    p->module = pt_monitor_is_module(p->monitor);
    size_t count = (size_t)p->monitor_var_count + 1;
    p->is_joint = pt_xcalloc(count, sizeof *p->is_joint);
    p->initial = pt_xcalloc(count, sizeof *p->initial);
    p->initial_given = pt_xcalloc(count, sizeof *p->initial_given);
    p->object_of_var = memset(pt_xmalloc(count * sizeof *p->object_of_var), 0xff, count * sizeof *p->object_of_var);
    if (p->order == PT_POSSIBLE_SYNC)
        p->writes = pt_xcalloc(count * (p->column_count + 1), sizeof *p->writes);
    for (uint32_t i = 0; i < p->joint_count; i++)
        p->is_joint[joint[i]] = true;
    for (uint32_t v = 0; v < p->monitor_var_count; v++)
        p->initial[v] = pt_value_int(0);
    for (size_t v = 0; v < names->var_count && v < log->initial_cap; v++)
        if (names->vars[v] != PT_NONE && log->initial_given[v]) {
            p->initial[names->vars[v]] = log->initial[v];
            p->initial_given[names->vars[v]] = true;
        }
}

static void find_relevant(struct making *m, const struct pt_wide_names *names)
{
    struct wide_problem *p = m->p;
    for (uint32_t i = 0; i < m->log->count; i++) {
        const struct pt_recorded *e = &m->log->events[i];
        uint32_t var = PT_NONE, event = PT_NONE;
        if (pt_op_writes_var(e->op) && e->object < names->var_count)
            var = names->vars[e->object];
        else if (e->op == PT_OP_EVENT && e->object < names->event_count)
            event = names->events[e->object];
        if (var == PT_NONE && event == PT_NONE)
            continue;
        m->visible[i] = true;
        PT_GROW(p->relevant_var, p->relevant_var_cap, (size_t)p->relevant_count + 1);
        PT_GROW(p->relevant_event, p->relevant_event_cap, (size_t)p->relevant_count + 1);
        p->relevant_var[p->relevant_count] = var;
        p->relevant_event[p->relevant_count] = event;
        PT_PUSH(p->relevant, p->relevant_count, p->relevant_cap, i);
    }
}

/* Whose state a search has to know. */
static void choose_tracked(struct making *m, const struct pt_wide_names *names)
{
    struct wide_problem *p = m->p;
    for (uint32_t v = 0; v < p->var_count; v++) {
        struct wide_object *var = &p->vars[v];
        if (v < names->var_count)
            var->var = names->vars[v];
        bool shown = var->var != PT_NONE && var->writes > 0;
        bool seen = m->sees && m->sees->var == v;
        var->tracked = is_constrained(p, var) || seen || (shown && p->order == PT_POSSIBLE_VALUES);
        if (!shown)
            continue;
        p->ambiguous |= p->object_of_var[var->var] != PT_NONE;
        p->object_of_var[var->var] = v;
    }
}

/* Relevant are these events, and nobody reads what they do. */
static void take_targets(struct making *m, const uint32_t *places, uint32_t count)
{
    struct wide_problem *p = m->p;
    for (uint32_t i = 0; i < count; i++) {
        m->visible[places[i]] = true;
        PT_PUSH(p->relevant, p->relevant_count, p->relevant_cap, places[i]);
    }
    p->relevant_var = memset(pt_xmalloc(((size_t)count + 1) * sizeof *p->relevant_var), 0xff,
                             ((size_t)count + 1) * sizeof *p->relevant_var);
    p->relevant_event = memset(pt_xmalloc(((size_t)count + 1) * sizeof *p->relevant_event), 0xff,
                               ((size_t)count + 1) * sizeof *p->relevant_event);
}

static void problem_init(struct wide_problem *p, struct pt_wide_log *log, enum pt_possible order,
                         struct pt_monitor *monitor, const struct pt_wide_names *names, const uint32_t *targets,
                         uint32_t target_count, const struct pt_wide_sees *sees)
{
    wide_log_link(log);
    *p = (struct wide_problem){.log = log, .order = order, .monitor = monitor, .column_count = log->thread_count};
    struct making m = {.p = p, .log = log, .sees = sees};
    m.limit = pt_xcalloc((size_t)log->thread_count + 1, sizeof *m.limit);
    m.done = pt_xcalloc((size_t)log->thread_count + 1, sizeof *m.done);
    m.visible = pt_xcalloc(log->count + 1, sizeof *m.visible);
    pt_map64_init(&m.wanted);
    pt_map64_init(&m.written);
    pt_map64_init(&m.classes);
    p->columns = pt_xcalloc((size_t)p->column_count + 1, sizeof *p->columns);
    if (monitor) {
        take_monitor(p, names);
        find_relevant(&m, names);
    } else {
        take_targets(&m, targets, target_count);
    }
    find_limits(&m);
    find_users(&m);
    choose_tracked(&m, names);
    make_columns(&m);
    if (order == PT_POSSIBLE_SYNC)
        wide_pairs_make(p, m.kept);
    wide_layout_make(p);
    wide_watches_make(p);
    wide_packed_make(p);
    p->bytes += p->held_cap * sizeof *p->helds + p->relevant_cap * 3 * sizeof *p->relevant;
    pt_map64_release(&m.wanted);
    pt_map64_release(&m.written);
    pt_map64_release(&m.classes);
    free(m.limit);
    free(m.done);
    free(m.visible);
    free(m.before);
    free(m.kept);
    free(m.target);
}

void wide_problem_init(struct wide_problem *p, struct pt_wide_log *log, enum pt_possible order,
                       struct pt_monitor *monitor, const struct pt_wide_names *names)
{
    problem_init(p, log, order, monitor, names, NULL, 0, NULL);
}

void wide_problem_init_meeting(struct wide_problem *p, struct pt_wide_log *log, const uint32_t *places, uint32_t count,
                               const struct pt_wide_sees *sees)
{
    const struct pt_wide_names none = {0};
    problem_init(p, log, PT_POSSIBLE_VALUES, NULL, &none, places, count, sees);
}

static void release_objects(struct wide_object *objects, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t u = 0; u < objects[i].user_count; u++)
            free(objects[i].users[u].at);
        free(objects[i].users);
        free(objects[i].value);
        free(objects[i].writer);
    }
    free(objects);
}

void wide_problem_release(struct wide_problem *p)
{
    for (uint32_t c = 0; c < p->column_count; c++) {
        free(p->columns[c].events);
        free(p->columns[c].watches);
        free(p->columns[c].packed);
    }
    free(p->columns);
    free(p->active);
    free(p->classed);
    release_objects(p->vars, p->var_count);
    release_objects(p->locks, p->lock_count);
    for (size_t i = 0; p->writes && i < (size_t)p->monitor_var_count * p->column_count; i++)
        free(p->writes[i].at);
    free(p->writes);
    free(p->object_of_var);
    free(p->pairs);
    free(p->helds);
    free(p->initial);
    free(p->initial_given);
    free(p->is_joint);
    free(p->relevant);
    free(p->relevant_var);
    free(p->relevant_event);
}
