/*
 * A property's relevant events as they arrive: each goes to its column and its tenant, the actual run takes its step,
 * and a bounded window goes on by as many levels as that allows. Cost: O(1) and what cone.c does; where variables are
 * joint, O(variables).
 */
#include <stdlib.h>
#include <string.h>

#include "engine/step.h"
#include "engine/stretch.h"

/* Somebody else may use the first worker's. */
static struct pt_worker_cache *own_cache(struct pt_lattice *l)
{
    return &l->workers[l->relayed ? 1 : 0].cache;
}

static void follow_trail(struct pt_lattice *l, pt_mstate observed)
{
    if (l->trail_count > 4096 && l->level > l->trail_first + l->trail_count / 2) {
        uint32_t drop = (uint32_t)(l->level - l->trail_first);
        l->trail_count -= drop;
        l->trail_first += drop;
        memmove(l->trail, l->trail + drop, l->trail_count * sizeof *l->trail);
    }
    PT_PUSH(l->trail, l->trail_count, l->trail_cap, observed);
}

/* The actual run takes one more step. */
void lat_observe(struct pt_lattice *l, pt_letter letter, const struct pt_event *event)
{
    if (!l->observed_over) {
        l->observed_state = pt_sets_run(l->sets, own_cache(l), l->observed_state, letter);
        if (l->observed_state == PT_MSTATE_BAD) {
            l->finding->how = PT_HOW_OBSERVED;
            l->observed_bad = l->pushed;
            if (l->options->observed) {
                lat_alone(l, true);
                struct pt_step step = event ? pt_step_of(l->names, event, l->pushed) : (struct pt_step){0};
                l->options->observed(l->options->context, l->finding, event ? &step : NULL);
                lat_alone(l, false);
            }
        }
        l->observed_over = l->observed_state == PT_MSTATE_BAD || l->observed_state == PT_MSTATE_ERROR;
    }
    if (!l->full && !l->stopped && !l->meets)
        follow_trail(l, l->observed_state);
}

struct lat_column *lat_column_of(struct pt_lattice *l, uint32_t lane)
{
    if (lane >= l->column_of_lane_cap) {
        size_t old = l->column_of_lane_cap;
        PT_GROW(l->column_of_lane, l->column_of_lane_cap, (size_t)lane + 1);
        memset(l->column_of_lane + old, 0xff, (l->column_of_lane_cap - old) * sizeof *l->column_of_lane);
    }
    if (l->column_of_lane[lane] == PT_NONE) {
        uint64_t before = l->options->counted_before;
        struct lat_column column = {lane, PT_NONE, before, before, before, before, before, .field = PT_NONE};
        l->column_of_lane[lane] = l->column_count;
        PT_PUSH(l->columns, l->column_count, l->column_cap, column);
        pt_relation_thread(&l->relation, lane);
        lat_workers_columns(l);
    }
    return &l->columns[l->column_of_lane[lane]];
}

uint32_t lat_tenant_of(struct pt_lattice *l, struct lat_column *column, uint32_t thread)
{
    if (column->tenant != PT_NONE && l->tenants[column->tenant].thread == thread)
        return column->tenant;
    if (column->tenant != PT_NONE)
        l->tenants[column->tenant].upto = column->arrived;
    struct lat_tenant tenant = {thread, (uint32_t)(column - l->columns), column->arrived, UINT64_MAX};
    column->tenant = l->tenant_count;
    PT_PUSH(l->tenants, l->tenant_count, l->tenant_cap, tenant);
    return column->tenant;
}

/* The thread of a column's event, which may be forgotten. */
static uint32_t thread_at(const struct pt_lattice *l, uint32_t column, uint64_t index)
{
    for (uint32_t t = 0; t < l->tenant_count; t++)
        if (l->tenants[t].column == column && l->tenants[t].before < index && index <= l->tenants[t].upto)
            return l->tenants[t].thread;
    return PT_NONE;
}

/* Given clocks may leave two writes of one variable unordered; then a state has no value for it. */
static enum pt_status check_writes(struct pt_lattice *l, const struct pt_cut_event *e, const struct pt_event *event,
                                   uint32_t var, struct pt_err *err)
{
    struct pt_cut_event *last = &l->last_write[var];
    bool own = last->column == e->column; /* what a thread does is ordered */
    if (last->index && !own && !pt_reason_ordered(pt_relation_reason(&l->relation, last, e))) {
        lat_alone(l, true);
        enum pt_status status = pt_err_at(err, PT_EINPUT, l->options->trace, event->line, 0,
                                          "the clocks do not order this write of '%s' with the one before it by %s",
                                          pt_name(l->names, PT_SPACE_VAR, event->object),
                                          pt_name(l->names, PT_SPACE_THREAD, thread_at(l, last->column, last->index)));
        lat_alone(l, false);
        return status;
    }
    last->column = e->column; /* one by one: a copy of what was just written in parts has to wait for it */
    last->index = e->index;
    last->needs = NULL;
    last->object = e->object;
    last->op = e->op;
    return PT_OK;
}

static uint64_t *last_writes(const struct pt_lattice *l, const struct lat_column *column, uint32_t var)
{
    uint64_t *last = pt_xcalloc(l->var_count, sizeof *last);
    if (column->arrived > column->freed)
        memcpy(last, lat_event_at(column, column->arrived)->last, l->var_count * sizeof *last);
    if (var != PT_NONE)
        last[var] = column->arrived + 1;
    return last;
}

static void store(struct pt_lattice *l, const struct pt_cut_event *cut_event, const struct pt_event *event,
                  uint32_t var, uint32_t user_event, uint32_t effect, struct pt_clock *clock)
{
    struct lat_column *column = &l->columns[cut_event->column];
    uint32_t tenant = lat_tenant_of(l, column, event->thread);
    uint64_t *last = l->joint_count ? last_writes(l, column, var) : NULL;
    lat_column_grow(column);
    struct lat_event *e = lat_event_at(column, column->arrived + 1); /* written where it will lie: see check_writes */
    e->number = l->pushed;
    e->line = event->line;
    e->object = event->object;
    e->loc = event->loc;
    e->var = var;
    e->user_event = user_event;
    e->effect = effect;
    e->tenant = tenant;
    e->clock_len = clock->len;
    e->op = event->op;
    e->joint = var != PT_NONE && l->is_joint[var];
    e->value = event->value;
    e->clock = l->borrows ? clock : pt_clock_ref(clock);
    e->last = last;
    column->arrived++;
    l->event_bytes += sizeof *e;
    pt_relation_add(&l->relation, cut_event);
}

static pt_letter observed_letter(struct pt_lattice *l, uint32_t var, struct pt_value value, uint32_t effect,
                                 uint32_t user_event)
{
    struct pt_worker_cache *cache = own_cache(l);
    if (var != PT_NONE)
        l->observed_values[var] = value;
    if (l->module)
        return pt_monitor_letter(l->monitor, l->observed_values, user_event);
    if (var != PT_NONE)
        l->observed_letter = l->is_joint[var]
                                 ? pt_sets_apply_joint(l->sets, l->observed_letter, effect, l->observed_values)
                                 : pt_sets_apply(l->sets, cache, l->observed_letter, effect);
    return user_event == PT_NONE ? l->observed_letter : pt_sets_event(l->sets, cache, l->observed_letter, user_event);
}

/* Reading the clock for each event would cost more than a narrow level: later on one event stands for many. */
static uint32_t timing_weight(uint64_t event)
{
    enum { ALL_UP_TO = 1024, ONE_IN = 64 };
    if (event < ALL_UP_TO)
        return 1;
    return event % ONE_IN == 0 ? ONE_IN : 0;
}

void lat_timed(struct pt_lattice *l, uint64_t since, uint32_t weight)
{
    if (weight && l->options->now)
        l->busy_ns += (l->options->now() - since) * weight;
}

enum pt_status lat_meet(struct pt_lattice *l, const struct pt_cut_event *e, const struct pt_event *event, uint32_t var,
                        uint32_t user_event, uint32_t *ret_effect, struct pt_err *err)
{
    if (var != PT_NONE && !l->stopped) {
        enum pt_status status = check_writes(l, e, event, var, err);
        if (status != PT_OK)
            lat_relay_drain(l); /* it may have been over before */
        if (status != PT_OK && !l->stopped)
            return status;
    }
    l->pushed++;
    l->finding->relevant++;
    uint32_t effect = PT_NONE;
    if (!l->module && var != PT_NONE && !(l->observed_over && l->stopped))
        effect = pt_sets_effect(l->sets, own_cache(l), var, event->value);
    lat_observe(l, l->observed_over ? 0 : observed_letter(l, var, event->value, effect, user_event), event);
    *ret_effect = effect;
    return PT_OK;
}

/* After the exploration has ended. */
static void pass_by(struct pt_lattice *l, const struct pt_cut_event *e)
{
    struct lat_column *column = &l->columns[e->column];
    if (column->arrived != column->freed) /* it has just turned out to be over */
        lat_forget(l);
    column->arrived++;
    column->freed++;
    if (!l->full)
        lat_cone_late_event(l, e);
}

/* Of a bounded window, that has been stored. */
static void line_up(struct pt_lattice *l, const struct pt_cut_event *e)
{
    struct lat_place place = {e->index, e->column};
    PT_PUSH(l->line, l->line_count, l->line_cap, place);
    if (!l->ranked)
        lat_layout_add(l, e->column);
    if (++l->waiting == LAT_PUSH_BATCH) {
        l->waiting = 0;
        lat_cone_advance(l);
    }
}

static struct pt_clock *copy_clock(struct pt_lattice *l, const struct pt_clock *from)
{
    struct pt_clock *clock = pt_clock_new(from->len, &l->clocks);
    memcpy(clock->counts, from->counts, from->len * sizeof *clock->counts);
    return clock;
}

void lat_take_logged(struct pt_lattice *l, const struct lat_logged *from)
{
    struct lat_column *column = lat_column_of(l, from->lane);
    struct pt_event event = {.line = from->line,
                             .op = from->op,
                             .thread = from->thread,
                             .object = from->object,
                             .loc = from->loc,
                             .value = from->value};
    struct pt_clock *clock = l->borrows ? from->clock : copy_clock(l, from->clock);
    struct pt_cut_event e = {(uint32_t)(column - l->columns), column->arrived + 1, clock, from->object, from->op};
    l->pushed++;
    if (l->stopped) {
        pass_by(l, &e);
    } else {
        follow_trail(l, from->observed);
        store(l, &e, &event, from->var, from->user_event, from->effect, clock);
        line_up(l, &e);
        if (l->stopped && !l->stretch)
            lat_forget(l);
    }
    if (!l->borrows)
        pt_clock_unref(clock);
}

void lat_own_clocks(struct pt_lattice *l)
{
    for (uint32_t c = 0; l->borrows && c < l->column_count; c++)
        for (uint64_t k = l->columns[c].freed + 1; k <= l->columns[c].arrived; k++) {
            struct lat_event *e = lat_event_at(&l->columns[c], k);
            e->clock = copy_clock(l, e->clock);
        }
    l->borrows = false;
}

enum pt_status pt_lattice_push(struct pt_lattice *root, const struct pt_event *event, uint32_t lane, uint32_t var,
                               uint32_t user_event, struct pt_clock *clock, struct pt_err *err)
{
    if (root->stretches)
        return lat_stretch_push(root, event, lane, var, user_event, clock, err);
    struct pt_lattice *l = lat_heir(root);
    if (!l->started)
        lat_start(l);
    uint32_t weight = l->full || !l->options->now ? 0 : timing_weight(l->pushed), effect;
    uint64_t since = weight ? l->options->now() : 0;
    struct lat_column *column = lat_column_of(l, lane);
    struct pt_cut_event e = {(uint32_t)(column - l->columns), column->arrived + 1, clock, event->object, event->op};
    enum pt_status status = lat_meet(l, &e, event, var, user_event, &effect, err);
    if (status != PT_OK)
        return status;
    if (column->arrived - column->freed == UINT32_MAX)
        pt_lattice_give_up(root, "4294967295 relevant events of one thread were in memory, and no more can be");
    if (l->stopped) {
        pass_by(l, &e);
        return PT_OK;
    }
    store(l, &e, event, var, user_event, effect, clock);
    if (!l->full) {
        line_up(l, &e);
        lat_timed(l, since, weight);
        lat_stretch_begin(root);
    } else if (l->options->memory_limit && lat_over_events(l)) {
        lat_give_up(l, "the memory limit was reached while the trace was read");
    }
    if (l->stopped)
        lat_forget(l);
    return PT_OK;
}
