/*
 * One causal order for all properties: clocks count the events that *any* property calls relevant. A property that
 * cares for fewer of them gets its clocks by projection: for each thread, a bit string says which of the counted
 * events are its own, and a count over all becomes a count over its own by counting bits. Program order and
 * transitivity survive that, since a clock is the set of events that precede, and the projection is that set's
 * intersection.
 *
 * What clocks have a count for is a lane (order/order.h): threads that follow each other share one.
 *
 * Guarantee: each property sees what it would see alone, and findings come in the order of the inputs. Cost: per event
 * that of the causal order, and for a relevant one O(threads) per property that cares for it; once no property needs
 * clocks any more, none are made.
 */
#include "engine/analysis_impl.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/actual.h"
#include "engine/knowledge.h"
#include "engine/local.h"
#include "engine/lattice.h"
#include "engine/memory.h"
#include "engine/patterns.h"
#include "engine/race_properties.h"
#include "engine/timed.h"
#include "engine/wide/wide.h"
#include "order/access.h"
#include "order/rank.h"

static void map_set(struct id_map *map, uint32_t id, uint32_t to)
{
    if (id >= map->cap) {
        size_t old = map->cap;
        PT_GROW(map->to, map->cap, (size_t)id + 1);
        memset(map->to + old, 0xff, (map->cap - old) * sizeof *map->to);
    }
    map->to[id] = to;
}

/* Marks; true when it was not marked before. */
static bool mark(bool **flags, size_t *cap, uint32_t id)
{
    if (id >= *cap) {
        size_t old = *cap;
        PT_GROW(*flags, *cap, (size_t)id + 1);
        memset(*flags + old, 0, (*cap - old) * sizeof **flags);
    }
    bool fresh = !(*flags)[id];
    (*flags)[id] = true;
    return fresh;
}

static uint32_t var_id(struct pt_analysis *a, const char *name)
{
    return pt_strtab_intern(&a->names->space[PT_SPACE_VAR], name, strlen(name));
}

/* A variable with a file in its name is also known by its path alone, unless that says something else here. */
static bool path_is_free(const struct pt_varref *vars, uint32_t count, uint32_t var)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != var && (strcmp(vars[i].path, vars[var].path) == 0 || strcmp(vars[i].target, vars[var].path) == 0))
            return false;
    return true;
}

static void map_names(struct pt_analysis *a, struct watched *w)
{
    uint32_t count;
    const struct pt_varref *vars = pt_monitor_vars(w->monitor, &count);
    for (uint32_t v = 0; v < count; v++) {
        map_set(&w->vars, var_id(a, vars[v].target), v);
        map_set(&a->vars, var_id(a, vars[v].target), 0);
        if (strcmp(vars[v].path, vars[v].target) != 0 && path_is_free(vars, count, v)) {
            map_set(&w->vars, var_id(a, vars[v].path), v);
            map_set(&a->vars, var_id(a, vars[v].path), 0);
        }
    }
    const char *const *events = pt_monitor_events(w->monitor, &count);
    for (uint32_t e = 0; e < pt_monitor_named_events(w->monitor); e++) {
        if (pt_is_function_event(events[e])) {
            a->has_functions = true;
            continue;
        }
        uint32_t id = pt_strtab_intern(&a->names->space[PT_SPACE_EVENT], events[e], strlen(events[e]));
        map_set(&w->events, id, e);
        map_set(&a->events, id, 0);
    }
}

/* A call or a return of a function has its arguments in its name, so that such names come with the trace: each is
 * looked at once. */
static enum pt_status know_event(struct pt_analysis *a, uint32_t id, struct pt_err *err)
{
    const char *name = pt_name(a->names, PT_SPACE_EVENT, id);
    if (!a->has_functions || pt_id_map_get(&a->known_events, id) != PT_NONE)
        return PT_OK;
    map_set(&a->known_events, id, 0);
    enum pt_status flushed = a->takers ? pt_analysis_flush(a, err) : PT_OK; /* who looks these up must not be at it */
    if (flushed != PT_OK)
        return flushed;
    for (uint32_t i = 0; i < a->count && pt_is_function_event(name); i++) {
        struct watched *w = &a->watched[i];
        uint32_t e = PT_NONE;
        enum pt_status status = w->monitor ? pt_monitor_event(w->monitor, name, &e, err) : PT_OK;
        if (status != PT_OK)
            return status;
        if (e != PT_NONE) {
            map_set(&w->events, id, e);
            map_set(&a->events, id, 0);
        }
    }
    return PT_OK;
}

static bool covers(const struct id_map *some, const struct id_map *all)
{
    for (size_t id = 0; id < all->cap; id++)
        if (all->to[id] != PT_NONE && pt_id_map_get(some, (uint32_t)id) == PT_NONE)
            return false;
    return true;
}

static const char *kind_word(const struct pt_property *property)
{
    if (!property)
        return "monitor";
    if (property->within)
        return "within";
    switch (property->kind) {
    case PT_KIND_LTL:
        return "ltl";
    case PT_KIND_ERE:
        return "ere";
    case PT_KIND_HOA:
        return "hoa";
    case PT_KIND_MONITOR:
        return "monitor";
    case PT_KIND_RACE:
        return "race";
    case PT_KIND_MTTL:
        break;
    }
    return "mttl";
}

static const char *copy(struct pt_finding *finding, const char *text)
{
    return text ? pt_arena_strndup(&finding->arena, text, strlen(text)) : NULL;
}

static bool is_decentralised(const struct pt_analysis_input *input)
{
    return input->property && input->property->kind == PT_KIND_MTTL && !input->message;
}

static bool is_about_races(const struct pt_analysis_input *input)
{
    return input->property && input->property->kind == PT_KIND_RACE;
}

static void describe(struct pt_finding *f, const struct pt_analysis_input *input,
                     const struct pt_analysis_options *options)
{
    const struct pt_property *p = input->property;
    f->property = copy(f, p ? p->name : pt_monitor_name(input->monitor));
    f->kind = kind_word(p);
    f->text = copy(f, p ? p->text : "");
    f->file = p ? copy(f, p->file) : NULL;
    f->line = p ? p->line : 0;
    bool judged = input->monitor || is_decentralised(input) || is_about_races(input);
    f->verdict = judged ? PT_VERDICT_HOLDS : input->verdict;
    f->builtin = f->complete = is_about_races(input);
    f->message = copy(f, input->monitor ? NULL : input->message);
    f->monitorable = input->monitor ? pt_monitor_monitorable(input->monitor) : true;
    f->order = options->order->name; /* of wider orders: explore_wide */
    f->window = options->window;
    f->lookahead = options->lookahead;
}

static void watch_threads(struct pt_analysis *a, const struct pt_analysis_input *inputs)
{
    const struct pt_property **properties = pt_xcalloc(a->count, sizeof *properties);
    struct pt_finding **findings = pt_xcalloc(a->count, sizeof *findings);
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (is_decentralised(&inputs[i])) {
            findings[count] = a->findings[i];
            properties[count++] = inputs[i].property;
        }
    if (count && !pt_group_leads(a->options.group))
        count = 0;
    if (count && a->options.block)
        a->locals = pt_locals_new(a->options.block, properties, findings, a->names, &a->options);
    else if (count)
        a->knowledge = pt_knowledge_new(properties, findings, count, a->names, &a->options);
    free(properties);
    free(findings);
}

static void watch_races(struct pt_analysis *a, const struct pt_analysis_input *inputs)
{
    const struct pt_property **properties = pt_xcalloc(a->count, sizeof *properties);
    struct pt_finding **findings = pt_xcalloc(a->count, sizeof *findings);
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (is_about_races(&inputs[i])) {
            findings[count] = a->findings[i];
            properties[count++] = inputs[i].property;
        }
    if (count && !a->options.races_reported)
        a->races = pt_race_properties_new(properties, findings, count, a->names, &a->options);
    free(properties);
    free(findings);
}

/* Whether this process has a part in a property's lattice: full ones are divided among all of a group, but not those of
 * modules, whose states only their own process understands. */
static bool explores(const struct pt_analysis *a, const struct watched *w)
{
    const struct pt_analysis_options *options = &a->options;
    bool all = options->window == PT_ALL && options->lookahead == PT_ALL;
    return pt_group_leads(options->group) || (all && !pt_monitor_is_module(w->monitor));
}

/* The lattice of an order pattern need not be explored to its end. */
static void watch_runs(struct pt_analysis *a, struct watched *w)
{
    const struct pt_analysis_options *options = &a->options;
    bool all = options->window == PT_ALL && options->lookahead == PT_ALL && !options->exhaustive;
    w->options = *options;
    w->lattice = pt_lattice_new(w->monitor, a->names, &w->options, w->finding);
    if (all && options->order == &pt_order_access)
        w->pattern = pt_order_pattern_of(w->monitor, a->names, options->counted_before);
}

struct pt_analysis *pt_analysis_new(struct pt_names *names, const struct pt_analysis_input *inputs, uint32_t count,
                                    const struct pt_analysis_options *options)
{
    struct pt_analysis *a = pt_xaligned(_Alignof(struct pt_analysis), sizeof *a);
    a->names = names;
    a->options = *options;
    a->options.memory_used = &a->memory_used;
    if (!a->options.order)
        a->options.order = &pt_order_access;
    a->order = pt_order_new(a->options.order, options->trace, names);
    a->order->counted_before = options->counted_before;
    a->order->lanes = true;
    a->no_clock = pt_clock_new(0, &a->own_clocks);
    a->count = count;
    a->ordering = count == 0; /* clocks of a trace are checked even if nobody asks for them */
    a->watched = pt_xcalloc(count, sizeof *a->watched);
    a->findings = pt_xcalloc(count, sizeof *a->findings);
    for (uint32_t i = 0; i < count; i++) {
        struct watched *w = &a->watched[i];
        w->monitor = inputs[i].monitor;
        w->counted_before = options->counted_before;
        w->finding = a->findings[i] = pt_finding_new();
        describe(w->finding, &inputs[i], &a->options);
        if (!w->monitor)
            continue;
        map_names(a, w);
        bool within = inputs[i].property && inputs[i].property->within;
        if (within && pt_group_leads(options->group))
            w->timed = pt_timed_new(w->monitor, names, &a->options, w->finding);
        else if (!within && explores(a, w) &&
                 (a->options.orders == PT_ORDERS_ACCESS || a->options.orders == PT_ORDERS_AUTO))
            watch_runs(a, w);
        w->wide = !within && a->options.orders != PT_ORDERS_ACCESS && pt_group_leads(options->group);
        if (w->wide && !a->log)
            a->log = pt_wide_log_new(names);
        if (w->wide && !w->lattice)
            w->actual = pt_actual_new(w->monitor, names, &a->options, w->finding);
        a->ordering = a->ordering || w->lattice;
        a->any_timed = a->any_timed || w->timed;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct watched *w = &a->watched[i];
        w->all_relevant = covers(&w->vars, &a->vars) && covers(&w->events, &a->events) && !a->has_functions;
    }
    watch_threads(a, inputs);
    watch_races(a, inputs);
    pt_analysis_divide(a);
    return a;
}

void pt_analysis_free(struct pt_analysis *a)
{
    if (!a)
        return;
    pt_analysis_unite(a);
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
        pt_lattice_free(w->lattice);
        pt_clock_pool_release(&w->clocks);
        pt_order_pattern_free(w->pattern);
        pt_actual_free(w->actual);
        pt_timed_free(w->timed);
        pt_wide_stream_free(w->stream);
        pt_wide_live_free(w->live);
        pt_finding_free(w->finding);
        free(w->vars.to);
        free(w->events.to);
        for (size_t t = 0; t < w->own_cap; t++)
            pt_rank_release(&w->own[t]);
        free(w->own);
    }
    pt_knowledge_free(a->knowledge);
    pt_locals_free(a->locals);
    pt_wide_log_free(a->log);
    pt_race_properties_free(a->races);
    free(a->watched);
    free(a->findings);
    free(a->vars.to);
    free(a->events.to);
    free(a->known_events.to);
    free(a->var_seen);
    pt_foreign_release(&a->foreign);
    free(a->event_seen);
    free(a->thread_seen);
    pt_order_free(a->order);
    pt_clock_unref(a->no_clock);
    pt_clock_pool_release(&a->own_clocks);
    free(a);
}

static void take_initial(struct pt_analysis *a, const struct pt_event *event)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t var = pt_id_map_get(&a->watched[i].vars, event->object);
        if (a->watched[i].lattice && var != PT_NONE)
            pt_lattice_initial(a->watched[i].lattice, var, event->value);
        if (a->watched[i].timed && var != PT_NONE)
            pt_timed_initial(a->watched[i].timed, var, event->value);
        if (a->watched[i].actual && var != PT_NONE)
            pt_actual_initial(a->watched[i].actual, var, event->value);
    }
}

/* For the counts, and for warnings about names that never appear. */
static bool take_note(struct pt_analysis *a, const struct pt_event *event)
{
    bool relevant = false, named = false;
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        relevant = pt_op_writes_var(event->op) && pt_id_map_get(&a->vars, event->object) != PT_NONE;
        mark(&a->var_seen, &a->var_seen_cap, event->object);
        named = pt_id_map_get(&a->vars, event->object) != PT_NONE;
        break;
    case PT_SPACE_EVENT:
        relevant = pt_id_map_get(&a->events, event->object) != PT_NONE;
        mark(&a->event_seen, &a->event_seen_cap, event->object);
        break;
    case PT_SPACE_THREAD:
        a->fill.thread_count += mark(&a->thread_seen, &a->thread_seen_cap, event->object);
        break;
    default:
        break;
    }
    if (event->thread != PT_NONE) {
        a->fill.event_count++;
        a->fill.thread_count += mark(&a->thread_seen, &a->thread_seen_cap, event->thread);
    }
    pt_foreign_event(&a->foreign, event, named);
    return relevant;
}

/* Clocks are kept no longer than some property needs them, and no further than the memory limit allows. */
static void judge_ordering(struct pt_analysis *a)
{
    uint64_t bytes = pt_order_bytes(a->order);
    bool over = bytes > pt_memory_share(&a->options, &a->order_announced, bytes) && a->options.memory_limit;
    bool needed = false;
    for (uint32_t i = 0; i < a->count; i++) {
        struct pt_lattice *lattice = a->watched[i].lattice;
        if (lattice && over)
            pt_lattice_give_up(lattice, "the memory limit was reached by the clocks of the threads");
        needed = needed || (lattice && pt_lattice_needs_order(lattice));
    }
    a->ordering = needed;
}

/* What waits comes before what has failed now. */
static enum pt_status flush_first(struct pt_analysis *a, enum pt_status status, struct pt_err *err)
{
    struct pt_err earlier;
    if (pt_analysis_flush(a, &earlier) == PT_OK)
        return status;
    *err = earlier;
    return earlier.status;
}

enum pt_status pt_analysis_event(struct pt_analysis *a, const struct pt_event *event, struct pt_err *err)
{
    enum pt_status status = event->op == PT_OP_EVENT ? know_event(a, event->object, err) : PT_OK;
    if (status == PT_OK && (event->op == PT_OP_INIT || event->op == PT_OP_LOST))
        status = pt_analysis_flush(a, err);
    if (status != PT_OK)
        return flush_first(a, status, err);
    bool relevant = take_note(a, event);
    if (event->op == PT_OP_INIT)
        take_initial(a, event);
    for (uint32_t i = 0; a->any_timed && i < a->count; i++) {
        struct watched *w = &a->watched[i];
        if (w->timed)
            pt_timed_event(w->timed, event, pt_watched_var(w, event), pt_watched_event(w, event));
    }
    for (uint32_t i = 0; relevant && a->log && i < a->count; i++) {
        struct watched *w = &a->watched[i];
        if (w->actual)
            pt_actual_event(w->actual, event, pt_watched_var(w, event), pt_watched_event(w, event));
    }
    if (event->op == PT_OP_LOST) /* its time is the gap's beginning, which is judged; the next stamp ends the gap */
        pt_analysis_gap(a, event->value.kind == PT_VALUE_INT && event->value.i > 0 ? (uint64_t)event->value.i : 1);
    if (a->log)
        pt_analysis_log(a, event);
    struct pt_clock *clock = a->no_clock;
    uint32_t lane = 0; /* without clocks events are only counted, and any will do */
    if (a->ordering)
        status = pt_order_event(a->order, event, relevant, &clock, err);
    if (a->ordering && relevant && status == PT_OK)
        lane = pt_order_lane(a->order, event->thread);
    if (status != PT_OK)
        return flush_first(a, status, err);
    if (relevant)
        status = pt_analysis_push(a, event, lane, clock, err);
    if (relevant && a->ordering && !a->takers && !a->fill.count)
        judge_ordering(a);
    if (status == PT_OK && a->knowledge)
        status = pt_knowledge_event(a->knowledge, event, err);
    if (status == PT_OK && a->races)
        status = pt_race_properties_event(a->races, event, err);
    return status;
}

static bool var_was_seen(const struct pt_analysis *a, const struct watched *w, uint32_t var)
{
    for (size_t id = 0; id < w->vars.cap && id < a->var_seen_cap; id++)
        if (w->vars.to[id] == var && a->var_seen[id])
            return true;
    return false;
}

/* A call with conditions counts as seen when one of the function was. */
static bool event_was_seen(const struct pt_analysis *a, const struct watched *w, uint32_t event)
{
    const struct pt_property *property = pt_monitor_property(w->monitor);
    uint32_t other;
    const char *const *events = pt_monitor_events(w->monitor, &other);
    const struct pt_function_event *function = property ? property->functions[event] : NULL;
    const char *base = function ? function->base : events[event];
    size_t len = function ? strlen(base) - 1 : strlen(base);
    for (uint32_t id = 0; id < a->event_seen_cap && id < a->names->space[PT_SPACE_EVENT].count; id++)
        if (a->event_seen[id] && strncmp(pt_name(a->names, PT_SPACE_EVENT, id), base, len + !function) == 0)
            return true;
    return false;
}

/* Variables and events of a property that the trace never mentioned: a slip of the pen, more often than not. */
static void list_unseen(const struct pt_analysis *a, const struct watched *w)
{
    uint32_t var_count, event_count, len = 0;
    const struct pt_varref *vars = pt_monitor_vars(w->monitor, &var_count);
    const char *const *events = pt_monitor_events(w->monitor, &event_count);
    const char **unseen = pt_arena_alloc(&w->finding->arena, ((size_t)var_count + event_count + 1) * sizeof *unseen);
    for (uint32_t v = 0; v < var_count; v++)
        if (!var_was_seen(a, w, v))
            unseen[len++] = copy(w->finding, vars[v].name);
    for (uint32_t e = 0; e < pt_monitor_named_events(w->monitor); e++)
        if (!event_was_seen(a, w, e))
            unseen[len++] = copy(w->finding, events[e]);
    w->finding->unseen = unseen;
}

/* An order pattern answers where the lattice is large, or was left because of the memory limit. */
static void finish_runs(struct watched *w, const char *lost)
{
    struct pt_finding *f = w->finding;
    bool answers = w->pattern && !lost && pt_order_pattern_can(w->pattern);
    if (answers)
        pt_lattice_expect(w->lattice, PT_PATTERN_STATES);
    pt_lattice_finish(w->lattice, lost);
    if (answers && !f->complete)
        pt_order_pattern_finish(w->pattern, f);
}

/* A property that holds by what the trace says is unknown where its variables had values that the trace does not say.
 */
static void doubt(const struct pt_analysis *a, const struct watched *w)
{
    struct pt_finding *f = w->finding;
    for (size_t id = 0; a->foreign.any && id < w->vars.cap && f->verdict == PT_VERDICT_HOLDS; id++) {
        if (w->vars.to[id] == PT_NONE || !pt_foreign_has_written(&a->foreign, (uint32_t)id))
            continue;
        struct pt_buf why;
        pt_buf_init(&why);
        pt_buf_printf(&why, "code that is not instrumented wrote '%s'", pt_name(a->names, PT_SPACE_VAR, (uint32_t)id));
        f->verdict = PT_VERDICT_UNKNOWN;
        f->complete = false;
        f->message = copy(f, why.text);
        pt_buf_release(&why);
    }
}

void pt_analysis_finish(struct pt_analysis *a, const char *lost)
{
    pt_analysis_unite(a);
    pt_analysis_pass(a);
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
        if (w->lattice)
            finish_runs(w, lost);
        if (w->wide && !w->lattice)
            pt_analysis_explore_asked(a, w, lost);
        else if (w->wide)
            pt_analysis_explore_wider(a, w);
        if ((w->lattice || w->wide) && !a->streams)
            pt_wide_describe(a->log, w->finding);
        if (w->timed)
            pt_timed_finish(w->timed, lost);
        if (w->lattice || w->timed || w->wide) {
            list_unseen(a, w);
            doubt(a, w);
        }
    }
    if (a->knowledge)
        pt_knowledge_finish(a->knowledge, lost);
    if (a->locals)
        pt_locals_finish(a->locals, lost);
    if (a->races)
        pt_race_properties_finish(a->races, lost);
}

void pt_analysis_reported(struct pt_analysis *a, const struct pt_thread_report *report)
{
    if (a->locals)
        pt_locals_take(a->locals, report);
}

void pt_analysis_gap(struct pt_analysis *a, uint64_t lost)
{
    struct pt_err err;
    (void)!pt_analysis_flush(a, &err); /* an error comes again when the caller flushes */
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->watched[i].timed)
            pt_timed_gap(a->watched[i].timed, lost);
        if (a->watched[i].lattice)
            pt_lattice_gap(a->watched[i].lattice);
        if (a->watched[i].actual)
            pt_actual_gap(a->watched[i].actual);
        pt_watched_forget_pattern(&a->watched[i]);
    }
    if (a->knowledge)
        pt_knowledge_gap(a->knowledge);
    if (a->log)
        pt_wide_log_refuse(a->log, "events were lost");
    if (a->races)
        pt_race_properties_gap(a->races);
}

struct pt_within *pt_analysis_within(struct pt_analysis *a, uint32_t index)
{
    return a->watched[index].timed ? pt_timed_within(a->watched[index].timed) : NULL;
}

struct pt_finding **pt_analysis_findings(struct pt_analysis *a, uint32_t *ret_count)
{
    *ret_count = a->count;
    return a->findings;
}

void pt_analysis_counts(const struct pt_analysis *a, uint64_t *ret_events, uint64_t *ret_threads)
{
    uint64_t events = 0, threads = 0; /* that the program has seen itself, and did not send */
    if (a->locals)
        pt_locals_counts(a->locals, &events, &threads);
    *ret_events = a->fill.event_count > events ? a->fill.event_count : events;
    *ret_threads = a->fill.thread_count > threads ? a->fill.thread_count : threads;
}
