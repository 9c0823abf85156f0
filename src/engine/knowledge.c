/*
 * One event at a time, in the four steps of core/mttl.h: take knowledge in, evaluate, show what is new, give knowledge
 * out. Lines with c= bring the order with them: knowledge then comes from what the named threads knew after their
 * counted events, which is kept for every one of them (as a pointer; most of them are equal), and accesses order
 * nothing. Otherwise knowledge goes where the order `access` does (order/access.h).
 *
 * Guarantee: a thread knows of another one exactly what lies in its causal past (knowledge.h). Cost: O(1) for an event
 * that brings nothing new and that no property speaks of; else a join of vectors, O(threads + variables), and a step
 * of the formulas.
 */
#include "engine/knowledge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/knowledge_impl.h"
#include "engine/memory.h"
#include "logic/mttl/mttl.h"
#include "order/access.h"

enum { UNKNOWN_ID = UINT32_MAX - 1 };

/* --- names --- */

/* The place for an id's translation; a new one holds UNKNOWN_ID. */
static uint32_t *translation(uint32_t **table, size_t *cap, uint32_t id)
{
    if (id >= *cap) {
        size_t old = *cap;
        PT_GROW(*table, *cap, (size_t)id + 1);
        for (size_t i = old; i < *cap; i++)
            (*table)[i] = UNKNOWN_ID;
    }
    return &(*table)[id];
}

/* By what the name stands for; else by a path that only one of them has. */
uint32_t pt_knowledge_find(const struct pt_mttl *m, struct pt_mttl_table table, const char *name)
{
    const struct pt_mttl_name *names = (const void *)((const char *)m + table.offset);
    uint32_t by_path = PT_NONE, found = 0;
    for (uint32_t i = 0; i < table.count; i++) {
        if (strcmp(pt_mttl_string(m, names[i].target), name) == 0)
            return i;
        if (strcmp(pt_mttl_string(m, names[i].path), name) == 0) {
            by_path = i;
            found++;
        }
    }
    return found == 1 ? by_path : PT_NONE;
}

static uint32_t look_up(struct pt_knowledge *k, uint32_t **ids, size_t *cap, struct pt_mttl_table table,
                        enum pt_space space, uint32_t id, bool *seen)
{
    uint32_t *index = translation(ids, cap, id);
    if (*index == UNKNOWN_ID) {
        const char *name = pt_name(k->names, space, id);
        char *base = space == PT_SPACE_EVENT ? pt_function_event_base(name) : NULL;
        *index = pt_knowledge_find(k->block, table, base ? base : name);
        free(base);
        if (*index != PT_NONE && seen)
            seen[*index] = true;
    }
    return *index;
}

static uint32_t var_of(struct pt_knowledge *k, uint32_t id)
{
    return look_up(k, &k->var_of, &k->var_of_cap, k->block->vars, PT_SPACE_VAR, id, k->var_seen);
}

/* --- threads --- */

static void give_up(struct pt_knowledge *k, const char *why)
{
    k->given_up = true;
    for (uint32_t p = 0; p < k->block->properties.count; p++) {
        struct pt_finding *f = k->judged[p].finding;
        if (!k->judged[p].settled && f->verdict == PT_VERDICT_HOLDS) {
            f->verdict = PT_VERDICT_UNKNOWN;
            f->message = pt_arena_strndup(&f->arena, why, strlen(why));
        }
        k->judged[p].settled = true;
    }
}

/* Room for tuples of all slots, with some in reserve; false when that is too much, and everything is given up. */
static bool make_room(struct pt_knowledge *k, struct know_thread *t)
{
    uint32_t need = pt_mttl_least_cap(k->block, k->slot_count);
    if (t->memory && need <= t->memory->cap)
        return true;
    uint32_t cap = pt_mttl_least_cap(k->block, k->slot_count + k->slot_count / 2);
    size_t size = pt_mttl_thread_size(k->block, cap), entry_size = pt_mttl_entry_size(k->block, cap);
    bool limited = k->options->memory_limit;
    if (size == SIZE_MAX || entry_size == SIZE_MAX || (limited && k->bytes + size + entry_size > k->allowed)) {
        give_up(k, "the memory limit was reached by what threads know about each other");
        return false;
    }
    struct pt_mttl_thread *memory = pt_xmalloc(size);
    if (t->memory)
        pt_mttl_thread_grow(k->block, t->memory, memory, cap);
    else
        pt_mttl_thread_init(k->block, memory, (uint32_t)(t - k->threads), cap);
    k->bytes += size - (t->memory ? pt_mttl_thread_size(k->block, t->memory->cap) : 0);
    free(t->memory);
    t->memory = memory;
    if (entry_size > k->next_size) {
        k->next = pt_xrealloc(k->next, entry_size);
        k->next_size = entry_size;
    }
    return true;
}

static void fill_values(struct pt_knowledge *k, const struct know_thread *t)
{
    for (uint32_t v = 0; v < k->block->vars.count; v++)
        k->values[v] = t->locals && t->locals[v].set         ? t->locals[v].value
                       : t->know && t->know->pairs[v].writes ? t->know->pairs[v].value
                                                             : k->initial[v];
}

static uint32_t fill_known(struct pt_knowledge *k, const struct know_thread *t)
{
    uint32_t count = t->know ? t->know->slots : 0;
    PT_GROW(k->known, k->known_cap, count);
    for (uint32_t i = 0; i < count; i++)
        k->known[i] = t->know->shown[i] ? &t->know->shown[i]->entry : NULL;
    return count;
}

static void note_verdicts(struct pt_knowledge *k, struct know_thread *t, const struct pt_mttl_view *view)
{
    for (uint32_t p = 0; p < k->block->properties.count; p++) {
        bool each = pt_mttl_at(k->block, properties, struct pt_mttl_property, p)->at == PT_MTTL_ANY;
        if (k->judged[p].settled || (each && t->id == PT_NONE))
            continue; /* `at each` is about the threads of the trace, not about a name that it lacks */
        if (t->verdicts[p].kind == PT_MTTL_VIOLATED)
            pt_knowledge_violated(k, p, view, t);
        else if (t->verdicts[p].kind == PT_MTTL_FAILED)
            pt_knowledge_failed(k, p, t);
    }
}

/* Makes the entry in k->next the thread's newest one. */
static void show(struct pt_knowledge *k, struct know_thread *t, uint64_t version)
{
    struct know_shown *shown = pt_shown_new(k->next, pt_mttl_entry_size(k->block, k->next->cap), &k->bytes);
    shown->entry.version = version;
    shown->entry.state = t->states;
    shown->entry.place = k->event ? k->event->line : 0;
    shown->event = k->event ? *k->event : (struct pt_event){.thread = PT_NONE};
    shown->event.clock = NULL;
    pt_vector_show(&t->know, shown, k->block->vars.count, &k->bytes);
    pt_shown_unref(shown);
}

static void step(struct pt_knowledge *k, struct know_thread *t, struct pt_mttl_event event)
{
    if (!make_room(k, t))
        return;
    uint32_t slot = (uint32_t)(t - k->threads);
    fill_values(k, t);
    struct pt_mttl_view view = {.self = slot,
                                .event = event,
                                .values = k->values,
                                .known_count = fill_known(k, t),
                                .used = k->slot_count,
                                .initial = k->state0,
                                .changed = PT_MTTL_ALL}; /* k->next is every thread's */
    view.known = k->known;
    unsigned flags = pt_mttl_step(k->block, &view, t->memory, k->next, t->verdicts);
    t->stable = flags & PT_MTTL_STABLE;
    if (flags & PT_MTTL_BROKEN)
        note_verdicts(k, t, &view);
    if (flags & PT_MTTL_EXPORTED && t->tracked) {
        const struct know_shown *last = pt_vector_get(t->know, slot);
        show(k, t, last ? last->entry.version + 1 : 1);
    }
    pt_vector_set(&t->stepped, t->know);
}

static struct know_thread *new_slot(struct pt_knowledge *k)
{
    PT_GROW(k->threads, k->thread_cap, (size_t)k->slot_count + 1);
    struct know_thread *t = &k->threads[k->slot_count];
    *t = (struct know_thread){.id = PT_NONE,
                              .keeps = pt_mttl_steps(k->block, k->slot_count),
                              .tracked = pt_mttl_tracks(k->block, k->slot_count)};
    k->slot_count++;
    return t;
}

/* State 0: initial values, no knowledge. The thread's entry of version 0 is what it knows of itself from then on. */
static void meet(struct pt_knowledge *k, struct know_thread *t)
{
    const struct pt_event *event = k->event;
    t->met = true;
    if (!t->keeps && !t->tracked)
        return;
    t->verdicts = pt_xcalloc(k->block->properties.count, sizeof *t->verdicts);
    k->event = NULL;
    step(k, t, (struct pt_mttl_event){.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE});
    if (!k->given_up && t->tracked)
        show(k, t, 0);
    k->event = event;
}

/* As the trace has it, or as a recorder had to write it. */
static uint32_t find_thread(const struct pt_mttl *m, const char *name)
{
    uint32_t slot = pt_knowledge_find(m, m->threads, name);
    for (uint32_t i = 0; i < m->threads.count && slot == PT_NONE; i++) {
        struct pt_buf clean;
        pt_buf_init(&clean);
        pt_name_clean(&clean, PT_SPACE_THREAD,
                      pt_mttl_string(m, pt_mttl_at(m, threads, struct pt_mttl_name, i)->target));
        if (clean.text && strcmp(clean.text, name) == 0)
            slot = i;
        pt_buf_release(&clean);
    }
    return slot;
}

/* The thread of this id; met now, if it is new. Threads may move. */
static uint32_t slot_of(struct pt_knowledge *k, uint32_t id)
{
    uint32_t *place = translation(&k->slot_of, &k->slot_of_cap, id);
    if (*place == UNKNOWN_ID) {
        uint32_t slot = find_thread(k->block, pt_name(k->names, PT_SPACE_THREAD, id));
        if (slot == PT_NONE || k->threads[slot].met) {
            slot = k->slot_count;
            (void)new_slot(k);
        } else {
            k->thread_seen[slot] = true;
        }
        k->threads[slot].id = id;
        *place = slot;
        meet(k, &k->threads[slot]);
    }
    return *place;
}

/* --- taking in and giving out --- */

static struct know_object *object_at(struct pt_knowledge *k, enum pt_space space, uint32_t id)
{
    size_t old = k->object_cap[space];
    if (id >= old) {
        PT_GROW(k->objects[space], k->object_cap[space], (size_t)id + 1);
        memset(k->objects[space] + old, 0, (k->object_cap[space] - old) * sizeof(struct know_object));
    }
    return &k->objects[space][id];
}

static void take_in(struct pt_knowledge *k, struct know_thread *self, const struct pt_event *event)
{
    enum pt_role role = pt_access_role(event->op);
    if (role == PT_ROLE_JOINS) {
        const struct know_thread *child = &k->threads[slot_of(k, event->object)];
        pt_vector_absorb(&self->know, child->know);
        pt_vector_absorb(&self->know, child->before);
    } else if (role == PT_ROLE_READS || role == PT_ROLE_WRITES) {
        const struct know_object *x = object_at(k, pt_op_space(event->op), event->object);
        pt_vector_absorb(&self->know, role == PT_ROLE_READS ? x->write : x->access);
    }
}

static void give_out(struct pt_knowledge *k, const struct know_thread *self, const struct pt_event *event)
{
    enum pt_role role = pt_access_role(event->op);
    if (role == PT_ROLE_FORKS) {
        pt_vector_set(&k->threads[slot_of(k, event->object)].before, self->know);
    } else if (role == PT_ROLE_READS || role == PT_ROLE_WRITES) {
        struct know_object *x = object_at(k, pt_op_space(event->op), event->object);
        if (role == PT_ROLE_READS) {
            pt_vector_absorb(&x->access, self->know);
        } else {
            pt_vector_set(&x->access, self->know);
            pt_vector_set(&x->write, self->know);
        }
    }
}

static enum pt_status clock_error(const struct pt_knowledge *k, const struct pt_event *event, uint32_t thread,
                                  uint64_t count, const char *what, struct pt_err *err)
{
    return pt_err_at(err, PT_EINPUT, k->options->trace, event->line, 0, "the clock c= of %s says %s:%" PRIu64 ", %s",
                     pt_name(k->names, PT_SPACE_THREAD, event->thread), pt_name(k->names, PT_SPACE_THREAD, thread),
                     count, what);
}

/* A c= field; *ret_counted: the event is one of those that such fields count. */
static enum pt_status take_clock(struct pt_knowledge *k, uint32_t slot, const struct pt_event *event, bool *ret_counted,
                                 struct pt_err *err)
{
    uint64_t own = k->options->counted_before;
    k->given = true;
    for (uint32_t i = 0; i < event->clock_len; i++) {
        uint64_t count = event->clock[i].count;
        if (event->clock[i].thread == event->thread) {
            own = count;
            continue;
        }
        if (count <= k->options->counted_before)
            continue;
        count -= k->options->counted_before;
        const struct know_thread *other = &k->threads[slot_of(k, event->clock[i].thread)];
        if (count > other->history_count)
            return clock_error(k, event, event->clock[i].thread, event->clock[i].count,
                               "more than have happened so far", err);
        pt_vector_absorb(&k->threads[slot].know, other->history[count - 1]);
    }
    uint64_t before = k->options->counted_before + k->threads[slot].history_count;
    if (own != before && own != before + 1)
        return clock_error(k, event, event->thread, own, "which does not follow its thread's count so far", err);
    *ret_counted = own > before;
    return PT_OK;
}

/* --- events --- */

static void begin(struct pt_knowledge *k)
{
    k->allowed = pt_memory_share(k->options, &k->announced, k->bytes);
    k->state0 = pt_xrealloc(k->state0, pt_mttl_initial_size(k->block));
    k->scratch = pt_xrealloc(k->scratch, pt_mttl_scratch_size(k->block));
    pt_mttl_initial_fill(k->block, k->initial, k->scratch, k->state0);
    k->begun = true;
}

/* An init line after events (an object that came to life) changes what threads see from now on. */
static void take_initial(struct pt_knowledge *k, const struct pt_event *event)
{
    uint32_t var = var_of(k, event->object);
    if (var == PT_NONE)
        return;
    k->initial[var] = event->value;
    k->initial_given[var] = true;
    if (k->begun)
        begin(k);
    for (uint32_t i = 0; i < k->slot_count; i++)
        k->threads[i].touched = true;
}

static void take_local(struct pt_knowledge *k, struct know_thread *t, const struct pt_event *event)
{
    uint32_t var =
        look_up(k, &k->local_of, &k->local_of_cap, k->block->vars, PT_SPACE_LOCAL, event->object, k->var_seen);
    if (var == PT_NONE)
        return;
    if (!t->locals)
        t->locals = pt_xcalloc(k->block->vars.count, sizeof *t->locals);
    t->locals[var] = (struct know_local){true, event->value};
    t->touched = true;
}

static struct pt_mttl_event translate(struct pt_knowledge *k, const struct pt_event *event)
{
    /* An atomic store is for these properties what an update is: a running program takes it for one, too. */
    bool stores = event->op == PT_OP_WRITE && event->order != PT_MEMORY_NONE;
    struct pt_mttl_event e = {.what = stores ? PT_MTTL_UPDATE : pt_op_mttl(event->op), .name = PT_MTTL_NONE};
    switch (e.what) {
    case PT_MTTL_READ:
    case PT_MTTL_WRITE:
    case PT_MTTL_UPDATE:
        e.name = var_of(k, event->object);
        if (e.name != PT_NONE && !(pt_mttl_at(k->block, vars, struct pt_mttl_name, e.name)->uses & PT_MTTL_USE_ACCESS))
            e.name = PT_MTTL_NONE;
        break;
    case PT_MTTL_USER:
        e.name =
            look_up(k, &k->event_of, &k->event_of_cap, k->block->events, PT_SPACE_EVENT, event->object, k->event_seen);
        break;
    case PT_MTTL_ENTER:
    case PT_MTTL_LEAVE:
        e.name = look_up(k, &k->block_of, &k->block_of_cap, k->block->blocks, PT_SPACE_BLOCK, event->object, NULL);
        break;
    case PT_MTTL_OTHER:
        break;
    }
    return e;
}

/* A mentioned variable that is written; a thread that is forked; the thread itself: known from here on. */
static void learn(struct pt_knowledge *k, uint32_t slot, const struct pt_event *event)
{
    uint32_t vars = k->block->vars.count;
    uint32_t var = pt_op_writes_var(event->op) ? var_of(k, event->object) : PT_NONE;
    if (var != PT_NONE)
        pt_vector_write(&k->threads[slot].know, var, (struct know_pair){++k->writes[var], event->value}, vars,
                        &k->bytes);
    if (event->op == PT_OP_FORK) {
        uint32_t child = slot_of(k, event->object);
        struct know_shown *shown = pt_vector_get(k->threads[child].know, child);
        if (shown && !pt_vector_get(k->threads[slot].know, child))
            pt_vector_show(&k->threads[slot].know, shown, vars, &k->bytes);
    }
}

/* Evaluates the state that the event makes, or only counts it when nothing it depends on has changed. */
static void evaluate(struct pt_knowledge *k, uint32_t slot, const struct pt_event *event)
{
    struct know_thread *t = &k->threads[slot];
    t->states++;
    if (!t->keeps)
        return;
    struct pt_mttl_event e = translate(k, event);
    bool marked = pt_mttl_is_marked(&e);
    if (t->stable && !t->touched && !marked && t->know == t->stepped) {
        struct pt_mttl_view view = {.self = slot, .event = e};
        note_verdicts(k, t, &view);
        return;
    }
    step(k, t, e);
    t->touched = marked; /* this event is no longer the present one in the next state */
}

/* A recording has one line for each variable of an access of several (memset, a struct that is assigned), with one
 * clock: lines of a thread with the same operation, place and count of its events. */
static void note_line(struct know_group *group, const struct pt_event *event, bool counted)
{
    bool access = event->op == PT_OP_READ || event->op == PT_OP_WRITE,
         goes_on = group->open && event->clock && !counted && event->op == group->op && event->loc == group->loc;
    group->lines = goes_on ? group->lines + 1 : 0;
    group->open = event->clock && access && (counted || goes_on);
    group->op = event->op;
    group->loc = event->loc;
}

static void measure(struct pt_knowledge *k)
{
    if (k->bytes > k->peak)
        k->peak = k->bytes;
    if (!k->options->memory_limit)
        return;
    k->allowed = pt_memory_share(k->options, &k->announced, k->bytes);
    if (k->bytes > k->allowed)
        give_up(k, "the memory limit was reached by what threads know about each other");
}

enum pt_status pt_knowledge_event(struct pt_knowledge *k, const struct pt_event *event, struct pt_err *err)
{
    bool counted = false;
    enum pt_status s = PT_OK;
    if (event->op == PT_OP_INIT)
        take_initial(k, event);
    if (event->thread == PT_NONE || pt_event_is_tie(event) || k->given_up)
        return PT_OK;
    if (!k->begun)
        begin(k);
    k->event = event;
    uint32_t slot = slot_of(k, event->thread);
    if (pt_op_is_of_thread(event->op))
        (void)slot_of(k, event->object); /* may move the threads: before one is held */
    struct know_thread *self = &k->threads[slot];
    if (event->clock) {
        s = take_clock(k, slot, event, &counted, err);
    } else if (!k->given) {
        pt_vector_absorb(&self->know, self->before);
        take_in(k, self, event);
    }
    pt_vector_set(&k->threads[slot].before, NULL);
    if (s != PT_OK || k->given_up)
        return s;
    if (event->op == PT_OP_INTERNAL)
        take_local(k, &k->threads[slot], event);
    note_line(&k->threads[slot].group, event, counted);
    learn(k, slot, event);
    evaluate(k, slot, event);
    self = &k->threads[slot];
    if (counted) {
        PT_PUSH(self->history, self->history_count, self->history_cap, pt_vector_ref(self->know));
        k->bytes += sizeof *self->history;
    } else if (!k->given) {
        give_out(k, self, event);
    }
    k->event = NULL;
    measure(k);
    return PT_OK;
}

void pt_knowledge_gap(struct pt_knowledge *k)
{
    give_up(k, "events were lost, and with them what threads knew of each other");
}

void pt_knowledge_finish(struct pt_knowledge *k, const char *lost)
{
    if (!k->begun && !k->given_up)
        begin(k);
    for (uint32_t slot = 0; slot < k->block->threads.count && !k->given_up; slot++)
        if (!k->threads[slot].met)
            meet(k, &k->threads[slot]);
    pt_knowledge_settle(k, lost);
}

/* --- making and freeing --- */

static void compile_error(struct pt_finding *f, const struct pt_err *err)
{
    f->verdict = PT_VERDICT_ERROR;
    f->message = pt_arena_strndup(&f->arena, err->message, strlen(err->message));
}

/* One block of all properties that can be compiled; the others are errors. NULL: there is none. */
static struct pt_mttl *compile(const struct pt_property *const *properties, struct pt_finding *const *findings,
                               uint32_t count, struct know_judged *judged)
{
    const struct pt_property **good = pt_xcalloc(count, sizeof *good);
    struct pt_mttl *block = NULL;
    uint32_t good_count = 0;
    struct pt_err err = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (pt_mttl_compile(&properties[i], 1, &block, &err) != PT_OK) {
            compile_error(findings[i], &err);
            continue;
        }
        judged[good_count].own = block;
        judged[good_count].finding = findings[i];
        block = NULL;
        good[good_count++] = properties[i];
    }
    if (good_count && pt_mttl_compile(good, good_count, &block, &err) != PT_OK)
        for (uint32_t i = 0; i < good_count; i++)
            compile_error(judged[i].finding, &err);
    free(good);
    return block;
}

struct pt_knowledge *pt_knowledge_new(const struct pt_property *const *properties, struct pt_finding *const *findings,
                                      uint32_t count, const struct pt_names *names,
                                      const struct pt_analysis_options *options)
{
    struct know_judged *judged = pt_xcalloc(count, sizeof *judged);
    struct pt_mttl *block = compile(properties, findings, count, judged);
    if (!block) {
        for (uint32_t i = 0; i < count; i++)
            free(judged[i].own);
        free(judged);
        return NULL;
    }
    struct pt_knowledge *k = pt_xcalloc(1, sizeof *k);
    uint32_t vars = block->vars.count;
    k->names = names;
    k->options = options;
    k->block = block;
    k->judged = judged;
    k->initial = pt_xcalloc(vars, sizeof *k->initial);
    for (uint32_t v = 0; v < vars; v++)
        k->initial[v] = pt_value_int(0);
    k->initial_given = pt_xcalloc(vars, sizeof *k->initial_given);
    k->var_seen = pt_xcalloc(vars, sizeof *k->var_seen);
    k->event_seen = pt_xcalloc(block->events.count, sizeof *k->event_seen);
    k->thread_seen = pt_xcalloc(block->threads.count, sizeof *k->thread_seen);
    k->writes = pt_xcalloc(vars, sizeof *k->writes);
    k->values = pt_xcalloc(vars, sizeof *k->values);
    k->next_size = pt_mttl_entry_size(block, 0);
    k->next = pt_xcalloc(1, k->next_size);
    pt_map64_init(&k->violations);
    for (uint32_t p = 0; p < block->properties.count; p++)
        pt_map64_init(&judged[p].index_of);
    k->started = options->now ? options->now() : 0;
    for (uint32_t slot = 0; slot < block->threads.count; slot++)
        (void)new_slot(k);
    if (pt_mttl_initial_size(block) == SIZE_MAX || pt_mttl_scratch_size(block) == SIZE_MAX)
        give_up(k, "the properties name too many threads for what they say about each");
    return k;
}

static void thread_release(struct know_thread *t)
{
    pt_vector_unref(t->know);
    pt_vector_unref(t->before);
    pt_vector_unref(t->stepped);
    for (uint64_t i = 0; i < t->history_count; i++)
        pt_vector_unref(t->history[i]);
    free(t->history);
    free(t->memory);
    free(t->locals);
    free(t->verdicts);
}

void pt_knowledge_free(struct pt_knowledge *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; i < k->slot_count; i++)
        thread_release(&k->threads[i]);
    for (int s = 0; s < PT_SPACE_COUNT; s++) {
        for (size_t i = 0; i < k->object_cap[s]; i++) {
            pt_vector_unref(k->objects[s][i].access);
            pt_vector_unref(k->objects[s][i].write);
        }
        free(k->objects[s]);
    }
    for (uint32_t p = 0; p < k->block->properties.count; p++) {
        for (uint32_t i = 0; i < k->judged[p].thread_count; i++)
            free(k->judged[p].threads[i].items);
        free(k->judged[p].threads);
        pt_map64_release(&k->judged[p].index_of);
        free(k->judged[p].own);
    }
    void *owned[] = {k->threads,  k->judged,      k->initial, k->initial_given, k->var_seen, k->event_seen, k->writes,
                     k->state0,   k->thread_seen, k->scratch, k->slot_of,       k->var_of,   k->local_of,   k->event_of,
                     k->block_of, k->next,        k->values,  k->known,         k->block};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    pt_map64_release(&k->violations);
    free(k);
}
