/*
 * One pass over each recording. Of every variable it is kept which locks were held at its accesses while there were
 * several threads, which values it had, and which flags the reading threads knew to be set; of every function (the
 * first 64 that are called) when it was called, by whom, which variables it touches, and what comes in turn with it.
 *
 * Cost: linear in the events, with a factor of at most 64 for calls and of the locks held for accesses.
 */
#include "cli/suggest/facts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/suggest/names.h"
#include "trace/source.h"

void pt_suggest_facts_init(struct pt_suggest_facts *facts)
{
    *facts = (struct pt_suggest_facts){0};
    pt_suggest_states_init(&facts->states);
    pt_suggest_heap_init(&facts->heap);
    pt_names_init(&facts->names);
    pt_strtab_init(&facts->function_names);
}

static void end_run(struct pt_suggest_facts *f)
{
    for (size_t i = 0; i < f->thread_cap; i++)
        free(f->threads[i].held);
    free(f->threads);
    f->threads = NULL;
    f->thread_cap = 0;
    f->living = 0;
    f->now = 0;
}

void pt_suggest_facts_release(struct pt_suggest_facts *f)
{
    end_run(f);
    free(f->vars);
    pt_suggest_heap_release(&f->heap);
    pt_strtab_release(&f->function_names);
    pt_names_release(&f->names);
}

/* Its first appearance in a run: addresses of heap blocks are other ones in the next, or the same by chance. */
static void look_at_name(struct pt_suggest_facts *f, uint32_t id, struct pt_suggest_var *v)
{
    const char *name = pt_name(&f->names, PT_SPACE_VAR, id);
    uint64_t offset = 0;
    uint32_t block = pt_suggest_heap_block(&f->heap, name, &offset);
    if (v->seen)
        v->moved |= offset != v->offset || (block == PT_NONE) != (v->block == PT_NONE) ||
                    (block != PT_NONE && f->heap.blocks[block].place != f->heap.blocks[v->block].place);
    else
        v->is_nameable = pt_suggest_is_nameable(name);
    v->block = block;
    v->offset = offset;
    v->seen = f->runs + 1;
}

static struct pt_suggest_var *var_at(struct pt_suggest_facts *f, uint32_t id)
{
    size_t before = f->var_cap;
    PT_GROW(f->vars, f->var_cap, (size_t)id + 1);
    for (size_t i = before; i < f->var_cap; i++)
        f->vars[i] = (struct pt_suggest_var){
            .block = PT_NONE, .first_place = PT_NONE, .flags = UINT64_MAX, .setter = PT_NONE, .writer = PT_NONE};
    if (f->vars[id].seen != f->runs + 1)
        look_at_name(f, id, &f->vars[id]);
    return &f->vars[id];
}

static struct pt_suggest_thread *thread_at(struct pt_suggest_facts *f, uint32_t id)
{
    size_t before = f->thread_cap;
    PT_GROW(f->threads, f->thread_cap, (size_t)id + 1);
    for (size_t i = before; i < f->thread_cap; i++)
        f->threads[i] = (struct pt_suggest_thread){0};
    return &f->threads[id];
}

static uint64_t bit(uint32_t number)
{
    return (uint64_t)1 << (number & 63);
}

/* --- variables --- */

static void take_locks(struct pt_suggest_facts *f, struct pt_suggest_var *v, const struct pt_suggest_thread *t,
                       uint32_t place)
{
    uint32_t held[PT_SUGGEST_HELD], count = t->held_count < PT_SUGGEST_HELD ? t->held_count : PT_SUGGEST_HELD;
    for (uint32_t k = 0; k < count; k++)
        held[k] = pt_suggest_heap_lock(&f->heap, &f->names, t->held[k], v->block);
    for (uint32_t i = 0; i < v->lock_count; i++) {
        bool found = false;
        for (uint32_t k = 0; k < count; k++)
            found |= held[k] == v->locks[i].word;
        v->locks[i].held += found;
        if (!found && v->locks[i].missing == PT_NONE)
            v->locks[i].missing = place;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = 0;
        while (i < v->lock_count && v->locks[i].word != held[k])
            i++;
        if (i == v->lock_count && i < PT_SUGGEST_LOCKS)
            v->locks[v->lock_count++] =
                (struct pt_suggest_lock){held[k], 1, v->accesses > 1 ? v->first_place : PT_NONE};
    }
}

/* It was 0 and becomes something else: a flag, as long as that was the only change. */
static void take_flag(struct pt_suggest_facts *f, struct pt_suggest_var *v, uint32_t id, uint32_t thread)
{
    if (v->run_changes == 1 && v->start == 0 && !v->flag && f->flag_count < 64) {
        f->flag_vars[f->flag_count] = id;
        v->flag = ++f->flag_count;
    }
    if (v->flag && v->last != 0) {
        thread_at(f, thread)->known |= bit(v->flag - 1);
        v->setter = thread;
        v->set_at = f->now;
    }
}

static void take_value(struct pt_suggest_facts *f, uint32_t id, const struct pt_event *event)
{
    struct pt_suggest_var *v = var_at(f, id);
    struct pt_value value = event->value;
    if (value.kind != PT_VALUE_INT && value.kind != PT_VALUE_BOOL) {
        v->is_odd = true;
        return;
    }
    /* Where Linux puts programs, heaps, libraries and stacks. */
    v->is_odd |= value.i >= INT64_C(0x500000000000) && value.i < INT64_C(0x800000000000);
    bool first = event->op == PT_OP_INIT;
    if (first || !v->has_values) {
        v->start = v->last = value.i;
        v->low = !v->has_values || value.i < v->low ? value.i : v->low;
        v->high = !v->has_values || value.i > v->high ? value.i : v->high;
    }
    v->has_values = true;
    if (first) {
        if (v->is_nameable)
            pt_suggest_states_initial(&f->states, id, value.i);
        return;
    }
    if (v->is_nameable)
        pt_suggest_states_write(&f->states, id, value.i);
    v->changes += value.i != v->last;
    v->run_changes += value.i != v->last;
    v->falls |= value.i < v->last;
    v->low = value.i < v->low ? value.i : v->low;
    v->high = value.i > v->high ? value.i : v->high;
    v->returns += value.i == v->low && v->last != v->low;
    v->last = value.i;
    take_flag(f, v, id, event->thread);
}

static void note(uint32_t *list, uint32_t *count, uint32_t id)
{
    for (uint32_t i = 0; i < *count; i++)
        if (list[i] == id)
            return;
    if (*count < PT_SUGGEST_USED)
        list[(*count)++] = id;
}

/* The functions that the thread is in touch it. */
static void take_use(struct pt_suggest_facts *f, const struct pt_suggest_thread *t, const struct pt_event *event)
{
    for (uint32_t i = 0; i < t->depth; i++) {
        struct pt_suggest_function *function = &f->functions[t->stack[i]];
        if (pt_op_writes(event->op))
            note(function->writes, &function->write_count, event->object);
        if (pt_op_reads(event->op))
            note(function->reads, &function->read_count, event->object);
    }
}

static void take_access(struct pt_suggest_facts *f, const struct pt_event *event)
{
    struct pt_suggest_thread *t = thread_at(f, event->thread);
    struct pt_suggest_var *v = var_at(f, event->object);
    bool writes = pt_op_writes(event->op);
    v->is_atomic |= event->order != PT_MEMORY_NONE || event->op == PT_OP_UPDATE;
    if (f->living > 1) {
        v->accesses++;
        v->writes += writes;
        *(writes ? &v->writers : &v->readers) |= bit(event->thread);
        if (v->first_place == PT_NONE)
            v->first_place = event->loc;
        take_locks(f, v, t, event->loc);
    }
    take_use(f, t, event);
    bool is_number = event->value.kind == PT_VALUE_INT || event->value.kind == PT_VALUE_BOOL;
    if (!writes && v->flag && is_number && event->value.i != 0)
        t->known |= bit(v->flag - 1);
    if (!writes && v->writer != PT_NONE && v->writer != event->thread) {
        v->flags &= t->known;
        v->far_reads++;
    }
    if (writes) {
        v->writer = v->last_writer = event->thread;
        v->last_write = f->now;
        take_value(f, event->object, event);
    }
}

/* --- functions --- */

/* Its number among those that are looked at, PT_NONE: there are too many. */
static uint32_t function_of(struct pt_suggest_facts *f, const char *name, size_t len)
{
    uint32_t before = f->function_names.count, id = pt_strtab_find(&f->function_names, name, len);
    if (id != PT_NONE || before == PT_SUGGEST_FUNCTIONS)
        return id;
    id = pt_strtab_intern(&f->function_names, name, len);
    f->functions[id] =
        (struct pt_suggest_function){.name = id, .parent = PT_NONE, .after = UINT64_MAX, .owner = PT_NONE};
    f->function_count = f->function_names.count;
    return id;
}

/* In turn with others: it begins anew what it begins, and ends what was begun. */
static void take_turn(struct pt_suggest_facts *f, struct pt_suggest_thread *t, uint32_t number)
{
    struct pt_suggest_function *own = &f->functions[number];
    own->unpaired |= t->open[number]; /* begun twice */
    t->open[number] = UINT64_MAX;
    for (uint32_t other = 0; other < f->function_count; other++) {
        if (other == number)
            continue;
        if (t->open[other] >> number & 1 && t->begun[other]) {
            f->functions[other].pairs[number]++;
            t->open[other] &= ~bit(number);
        } else {
            f->functions[other].unpaired |= bit(number);
        }
    }
    t->open[number] = UINT64_MAX;
    t->begun[number] = 1;
}

static void take_call(struct pt_suggest_facts *f, const struct pt_event *event, uint32_t number)
{
    struct pt_suggest_thread *t = thread_at(f, event->thread);
    struct pt_suggest_function *own = &f->functions[number];
    uint32_t parent = t->depth ? t->stack[t->depth - 1] : PT_NONE;
    own->mixed |= own->calls && parent != own->parent;
    own->parent = own->calls ? own->parent : parent;
    own->starts |= t->depth == 0;
    if (!own->first_call) {
        own->first_call = f->now;
        uint64_t over = 0;
        for (uint32_t i = 0; i < f->function_count; i++)
            over |= f->functions[i].first_return && i != number ? bit(i) : 0;
        own->after &= over;
        own->runs++;
    }
    for (uint32_t i = 0; i < f->function_count; i++)
        own->behind |= f->functions[i].first_call && i != number ? bit(i) : 0;
    for (uint32_t i = 0; i < f->function_count; i++)
        if (f->functions[i].owner == event->thread)
            f->functions[i].pending &= ~bit(number);
    own->crowded |= f->living > 1;
    own->calls++;
    own->threads |= bit(event->thread);
    take_turn(f, t, number);
    if (t->depth < PT_SUGGEST_DEPTH)
        t->stack[t->depth++] = number;
}

/* Those that were left by an exception end with whoever called them. */
static void take_return(struct pt_suggest_facts *f, const struct pt_event *event, uint32_t number)
{
    struct pt_suggest_thread *t = thread_at(f, event->thread);
    uint32_t at = t->depth;
    while (at > 0 && t->stack[at - 1] != number)
        at--;
    if (at > 0)
        t->depth = at - 1;
    struct pt_suggest_function *own = &f->functions[number];
    if (!own->first_return)
        own->first_return = f->now;
    if (own->owner != PT_NONE && own->owner != event->thread) {
        own->overlaps |= own->pending;
        own->handed++;
    }
    own->owner = event->thread;
    own->pending = UINT64_MAX;
}

static void take_event(struct pt_suggest_facts *f, const struct pt_event *event)
{
    const char *name = pt_name(&f->names, PT_SPACE_EVENT, event->object);
    size_t len = strlen(name);
    bool call = strncmp(name, "call(", 5) == 0, back = strncmp(name, "return(", 7) == 0;
    if ((!call && !back) || name[len - 1] != ')')
        return;
    size_t from = call ? 5 : 7;
    uint32_t number = function_of(f, name + from, len - from - 1);
    if (number == PT_NONE)
        return;
    if (call)
        take_call(f, event, number);
    else
        take_return(f, event, number);
}

/* --- events --- */

static void take_lock(struct pt_suggest_facts *f, const struct pt_event *event)
{
    struct pt_suggest_thread *t = thread_at(f, event->thread);
    if (pt_op_locks(event->op)) {
        PT_PUSH(t->held, t->held_count, t->held_cap, event->object);
        return;
    }
    for (uint32_t i = t->held_count; i-- > 0;)
        if (t->held[i] == event->object) {
            t->held[i] = t->held[--t->held_count];
            return;
        }
}

static void take(struct pt_suggest_facts *f, const struct pt_event *event)
{
    f->now++;
    if (event->op == PT_OP_INIT) {
        take_value(f, event->object, event);
        return;
    }
    if (event->thread == PT_NONE)
        return;
    struct pt_suggest_thread *t = thread_at(f, event->thread);
    f->living += !t->lives;
    t->lives = true;
    if (event->op == PT_OP_FORK) {
        /* What it learns by being started is true in every order. */
        struct pt_suggest_thread *child = thread_at(f, event->object);
        f->living += !child->lives;
        child->lives = true;
    } else if (event->op == PT_OP_JOIN) {
        struct pt_suggest_thread *child = thread_at(f, event->object);
        f->living -= child->lives;
        child->lives = false;
    } else if (event->op == PT_OP_EVENT) {
        pt_suggest_states_event(&f->states, event->object);
        take_event(f, event);
    } else if (pt_op_locks(event->op) || pt_op_unlocks(event->op)) {
        take_lock(f, event);
    } else if (event->op == PT_OP_ALLOC) {
        pt_suggest_heap_alloc(&f->heap, &f->names, event);
    } else if (pt_op_accesses(event->op) && pt_op_space(event->op) == PT_SPACE_VAR) {
        take_access(f, event);
    }
    f->most_threads = f->living > f->most_threads ? f->living : f->most_threads;
}

/* What was begun and not ended is no pair. */
static void finish_run(struct pt_suggest_facts *f)
{
    for (size_t i = 0; i < f->thread_cap; i++)
        for (uint32_t k = 0; k < f->function_count; k++)
            f->functions[k].unpaired |= f->threads[i].begun[k] ? f->threads[i].open[k] : 0;
    for (uint32_t k = 0; k < f->function_count; k++) {
        f->functions[k].first_call = f->functions[k].first_return = f->functions[k].pending = 0;
        f->functions[k].owner = PT_NONE;
    }
    for (size_t i = 0; i < f->var_cap; i++) {
        f->vars[i].no_flag |= f->vars[i].run_changes > 1;
        f->vars[i].run_changes = 0;
        f->vars[i].writer = PT_NONE;
    }
    f->runs++;
}

enum pt_status pt_suggest_facts_add(struct pt_suggest_facts *f, const char *recording, struct pt_err *err)
{
    struct pt_source *source;
    struct pt_event event;
    enum pt_status status = pt_source_open(recording, &f->names, &source, err);
    if (status != PT_OK)
        return status;
    enum pt_read read;
    pt_suggest_states_run(&f->states);
    pt_suggest_heap_run(&f->heap);
    while ((read = pt_source_next(source, &event, err)) == PT_READ_EVENT)
        take(f, &event);
    pt_source_free(source);
    if (read == PT_READ_ERROR)
        return err->status;
    finish_run(f);
    end_run(f);
    return PT_OK;
}
