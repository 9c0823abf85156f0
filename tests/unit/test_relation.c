/*
 * The questions that an order answers (order/order.h): dependence, needs, enabledness, reasons and replay of `access`,
 * each against its definition on thousands of small random computations. Then an order that is not decided by needs,
 * written here, through the whole lattice: what the engine explores is what that order says, and nothing else.
 */
#include "computation.h"
#include "engine/analysis.h"
#include "logic/lang/property.h"
#include "order/access.h"
#include "window_reference.h"

/* ---- the order `access` ---- */

/* A computation's relevant events as a relation sees them. */
struct placed {
    struct computation c;
    struct pt_order *order;
    struct pt_relation relation;
    struct pt_clock *clocks[COMP_MAX];
    struct pt_cut_event events[COMP_MAX]; /* by number, from 0 */
    uint32_t number[COMP_MAX];            /* of the event in the computation */
    uint32_t count;
};

static uint32_t column_of(struct pt_relation *r, uint32_t thread)
{
    for (uint32_t c = 0; c < r->thread_count; c++)
        if (r->threads[c] == thread)
            return c;
    pt_relation_thread(r, thread);
    return r->thread_count - 1;
}

static void placed_init(struct placed *p, uint64_t seed)
{
    uint64_t s = seed;
    struct pt_err err;
    uint32_t arrived[COMP_MAX] = {0};
    memset(p, 0, sizeof *p);
    comp_init(&p->c);
    comp_random(&p->c, &s, 2 + below(&s, 4), 4 + below(&s, 22), 1 + below(&s, 3));
    comp_close(&p->c);
    p->order = pt_order_new(&pt_order_access, "t", &p->c.names);
    pt_relation_init(&p->relation, &pt_order_access);
    for (uint32_t i = 0; i < p->c.count; i++) {
        const struct pt_event *e = &p->c.events[i];
        bool relevant = e->op == PT_OP_EVENT || ((e->op == PT_OP_WRITE || e->op == PT_OP_UPDATE) && e->object < 3);
        struct pt_clock *needs = NULL;
        assert_int_equal(pt_order_event(p->order, e, relevant, &needs, &err), PT_OK);
        if (!relevant)
            continue;
        uint32_t column = column_of(&p->relation, e->thread);
        p->clocks[p->count] = pt_clock_ref(needs);
        p->number[p->count] = i;
        p->events[p->count++] = (struct pt_cut_event){column, ++arrived[column], needs, e->object, e->op};
        pt_relation_add(&p->relation, &p->events[p->count - 1]);
    }
}

static void placed_release(struct placed *p)
{
    for (uint32_t k = 0; k < p->count; k++)
        pt_clock_unref(p->clocks[k]);
    pt_relation_release(&p->relation);
    pt_order_free(p->order);
    comp_release(&p->c);
}

static bool precedes(const struct placed *p, uint32_t d, uint32_t e)
{
    return bits_has(&p->c.before[p->number[e]], p->number[d]);
}

static enum pt_link link_by_definition(const struct pt_event *d, const struct pt_event *e)
{
    if (!comp_direct(d, e))
        return PT_LINK_NONE;
    if (d->thread == e->thread)
        return PT_LINK_PROGRAM;
    if (comp_accesses(d->op))
        return e->op == PT_OP_JOIN ? PT_LINK_JOIN : PT_LINK_CONFLICT;
    return d->op == PT_OP_FORK && (d->object == e->thread || e->op == PT_OP_JOIN) &&
                   !(e->op == PT_OP_JOIN && e->object == d->thread)
               ? PT_LINK_FORK
               : PT_LINK_JOIN;
}

static void check_depends(const struct placed *p, uint32_t *seen)
{
    for (uint32_t i = 0; i < p->c.count; i++)
        for (uint32_t k = i + 1; k < p->c.count; k++) {
            const struct pt_event *d = &p->c.events[i], *e = &p->c.events[k];
            struct pt_act a = {d->thread, d->object, d->op}, b = {e->thread, e->object, e->op};
            enum pt_link link = pt_order_access.depends(&a, &b);
            assert_int_equal(link, link_by_definition(d, e));
            seen[link]++;
        }
}

static void check_needs_and_reasons(const struct placed *p)
{
    for (uint32_t e = 0; e < p->count; e++) {
        uint32_t needs[COMP_MAX] = {0};
        for (uint32_t d = 0; d < e; d++) {
            needs[p->events[d].column] += precedes(p, d, e);
            struct pt_reason reason = pt_relation_reason(&p->relation, &p->events[d], &p->events[e]);
            assert_int_equal(pt_reason_needed(reason), precedes(p, d, e));
            assert_int_equal(pt_reason_ordered(reason), precedes(p, d, e));
            assert_int_equal(reason.index, p->events[d].index);
            assert_int_equal(reason.link, link_by_definition(&p->c.events[p->number[d]], &p->c.events[p->number[e]]));
        }
        for (uint32_t c = 0; c < p->relation.thread_count; c++)
            assert_int_equal(pt_relation_needs(&p->relation, &p->events[e], c), needs[c]);
    }
}

static bool in_cut(const struct placed *p, const uint64_t *counts, uint32_t e)
{
    return counts[p->events[e].column] >= p->events[e].index;
}

/* Program order is among what precedes, so this is also "the next one of its thread". */
static bool enabled_by_definition(const struct placed *p, const uint64_t *counts, uint32_t e)
{
    bool enabled = !in_cut(p, counts, e);
    for (uint32_t d = 0; d < e; d++)
        enabled = enabled && (!precedes(p, d, e) || in_cut(p, counts, d));
    return enabled;
}

/* In any counts, whether they make a consistent cut or not. */
static void check_enabled(const struct placed *p, uint64_t *seed, uint32_t *seen)
{
    for (uint32_t n = 0; n < 20; n++) {
        uint64_t counts[COMP_MAX];
        for (uint32_t c = 0; c < p->relation.thread_count; c++)
            counts[c] = below(seed, 5);
        for (uint32_t e = 0; e < p->count; e++) {
            bool enabled = pt_relation_enabled(&p->relation, counts, &p->events[e]);
            assert_int_equal(enabled, enabled_by_definition(p, counts, e));
            seen[enabled]++;
        }
    }
}

/* Sequences that are legal for some steps, or all of them, and then have a wrong one now and then. */
static void check_replay(const struct placed *p, uint64_t *seed, uint32_t *seen)
{
    for (uint32_t n = 0; n < 20; n++) {
        struct pt_cut_event run[COMP_MAX];
        uint64_t counts[COMP_MAX] = {0}, have[COMP_MAX] = {0};
        uint32_t len = 0, legal = 0;
        bool good = true;
        while (p->count && len < p->count + 2) {
            uint32_t e = below(seed, p->count);
            bool fits = enabled_by_definition(p, counts, e);
            if (!fits && below(seed, 60))
                continue;
            run[len++] = p->events[e];
            good = good && fits;
            legal += good;
            if (good)
                counts[p->events[e].column]++;
            if (len >= p->count && below(seed, 2))
                break;
        }
        assert_int_equal(pt_relation_replay(&p->relation, have, run, len), legal);
        assert_memory_equal(have, counts, sizeof have);
        seen[legal == len]++;
    }
}

static void test_access_by_definition(void **state)
{
    (void)state;
    uint32_t links[PT_LINK_CONFLICT + 1] = {0}, enabled[2] = {0}, replayed[2] = {0};
    struct placed *p = pt_xmalloc(sizeof *p);
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        uint64_t s = seed * 7919;
        placed_init(p, seed);
        check_depends(p, links);
        check_needs_and_reasons(p);
        check_enabled(p, &s, enabled);
        check_replay(p, &s, replayed);
        placed_release(p);
    }
    free(p);
    for (uint32_t i = 0; i <= PT_LINK_CONFLICT; i++)
        assert_true(links[i] > 100);
    assert_true(enabled[0] > 1000 && enabled[1] > 1000 && replayed[0] > 1000 && replayed[1] > 1000);
}

/* Where clocks are given, they order what accesses alone would not, and leave unordered what accesses would order. */
static void test_given_clocks_are_the_order(void **state)
{
    (void)state;
    struct pt_clock_pool pool = {0};
    struct pt_clock *clock = pt_clock_new(2, &pool);
    struct pt_relation r;
    pt_relation_init(&r, &pt_order_access);
    pt_relation_thread(&r, 0);
    pt_relation_thread(&r, 1);
    clock->counts[1] = 1;
    struct pt_cut_event first = {.column = 0, .index = 1, .op = PT_OP_WRITE},
                        second = {.column = 1, .index = 1, .op = PT_OP_WRITE, .needs = clock};
    struct pt_reason reason = pt_relation_reason(&r, &first, &second);
    assert_false(pt_reason_ordered(reason));
    assert_int_equal(reason.link, PT_LINK_NONE);
    clock->counts[0] = 1;
    second.op = PT_OP_EVENT;
    reason = pt_relation_reason(&r, &first, &second);
    assert_true(pt_reason_needed(reason));
    assert_int_equal(reason.link, PT_LINK_NONE);
    pt_relation_release(&r);
    pt_clock_unref(clock);
    pt_clock_pool_release(&pool);
}

static void test_orders_have_names(void **state)
{
    (void)state;
    enum pt_orders orders = PT_ORDERS_AUTO;
    char names[] = PT_ORDERS_NAMES;
    unsigned next = PT_ORDERS_ACCESS;
    for (char *name = strtok(names, " "); name; name = strtok(NULL, " ")) {
        assert_true(pt_orders_find(name, &orders));
        assert_int_equal(orders, next++);
    }
    assert_int_equal(next, PT_ORDERS_SLICES_2 + 1);
    assert_false(pt_orders_find("nothing", &orders));
    assert_false(pt_orders_find("", &orders));
}

/* ---- an order in which events exclude each other ---- */

/*
 * Program order, fork and join are needed. Writes of one variable keep their recorded order if both are in a run, but
 * the later one does not need the earlier one. Variable x2 is a lock besides: `w` takes it and `u` gives it back, and
 * while one thread has it no other one may do either.
 */
enum { LOCK_VAR = 2 };

static bool excludes(const struct pt_cut_event *e)
{
    return (e->op == PT_OP_WRITE || e->op == PT_OP_UPDATE) && e->object == LOCK_VAR;
}

static enum pt_link kept_depends(const struct pt_act *a, const struct pt_act *b)
{
    return pt_op_writes_var(a->op) && pt_op_writes_var(b->op) && a->object == b->object && a->thread != b->thread
               ? PT_LINK_CONFLICT
           : a->thread == b->thread ? PT_LINK_PROGRAM
                                    : PT_LINK_NONE;
}

struct kept_pass {
    struct pt_order head;
    struct pt_clock_pool pool;
    struct pt_clock *clocks[16]; /* by thread */
};

static struct pt_order *kept_new(const char *label, const struct pt_names *names);

static void kept_free(struct pt_order *order)
{
    struct kept_pass *pass = (void *)order;
    for (uint32_t t = 0; t < 16; t++)
        pt_clock_unref(pass->clocks[t]);
    pt_clock_pool_release(&pass->pool);
    free(pass);
}

static enum pt_status kept_event(struct pt_order *order, const struct pt_event *e, bool relevant,
                                 struct pt_clock **ret_needs, struct pt_err *err)
{
    struct kept_pass *pass = (void *)order;
    (void)err;
    if (relevant)
        pt_clock_tick(&pass->clocks[e->thread], e->thread);
    if (e->op == PT_OP_FORK)
        pt_clock_absorb(&pass->clocks[e->object], pass->clocks[e->thread]);
    if (e->op == PT_OP_JOIN)
        pt_clock_absorb(&pass->clocks[e->thread], pass->clocks[e->object]);
    if (relevant)
        *ret_needs = pass->clocks[e->thread];
    return PT_OK;
}

static size_t kept_bytes(const struct pt_order *order)
{
    return ((const struct kept_pass *)(const void *)order)->pool.bytes;
}

/* All events so far, in trace order. */
struct kept_rules {
    struct pt_cut_event events[COMP_MAX];
    uint32_t count;
};

static void *rules_new(void)
{
    return pt_xcalloc(1, sizeof(struct kept_rules));
}

static void rules_add(void *context, const struct pt_cut_event *e)
{
    struct kept_rules *rules = context;
    rules->events[rules->count++] = *e;
}

/* From the back: whether a later event of the trace is in the cut, and who has done what to the lock last. */
static bool allows(const void *context, const uint64_t *counts, const struct pt_cut_event *e)
{
    const struct kept_rules *rules = context;
    bool later = true, lock_known[16] = {false};
    for (uint32_t i = rules->count; i-- > 0;) {
        const struct pt_cut_event *f = &rules->events[i];
        if (f->column == e->column) {
            later = later && f->index != e->index;
            continue;
        }
        if (f->index > counts[f->column])
            continue;
        if (later && f->object == e->object && pt_op_writes_var(f->op) && pt_op_writes_var(e->op))
            return false;
        if (excludes(e) && excludes(f) && !lock_known[f->column]) {
            lock_known[f->column] = true;
            if (f->op == PT_OP_WRITE)
                return false;
        }
    }
    return true;
}

/* Forwards, by a state of its own: the number of each variable's latest write, and who has the lock. */
static uint32_t kept_replay(const struct pt_relation *r, uint64_t *have, const struct pt_cut_event *run, uint32_t count)
{
    const struct kept_rules *rules = r->rules;
    uint32_t latest[COMP_MAX] = {0}, holder = PT_NONE;
    for (uint32_t i = 0; i < rules->count; i++) {
        const struct pt_cut_event *f = &rules->events[i];
        if (f->index > have[f->column] || !pt_op_writes_var(f->op))
            continue;
        latest[f->object] = i + 1;
        if (excludes(f))
            holder = f->op == PT_OP_WRITE ? f->column : PT_NONE;
    }
    for (uint32_t k = 0; k < count; k++) {
        const struct pt_cut_event *e = &run[k];
        uint32_t at = 0;
        while (rules->events[at].column != e->column || rules->events[at].index != e->index)
            at++;
        bool legal = have[e->column] == e->index - 1 && !(excludes(e) && holder != PT_NONE && holder != e->column);
        for (uint32_t c = 0; c < r->thread_count; c++)
            legal = legal && (c == e->column || pt_clock_get(e->needs, r->threads[c]) <= have[c]);
        if (!legal || (pt_op_writes_var(e->op) && latest[e->object] > at))
            return k;
        have[e->column]++;
        if (pt_op_writes_var(e->op))
            latest[e->object] = at + 1;
        if (excludes(e))
            holder = e->op == PT_OP_WRITE ? e->column : PT_NONE;
    }
    return count;
}

static const struct pt_order_kind kept_order = {
    .name = "kept",
    .depends = kept_depends,
    .pass_new = kept_new,
    .pass_event = kept_event,
    .pass_bytes = kept_bytes,
    .pass_free = kept_free,
    .replay = kept_replay,
    .rules_new = rules_new,
    .rules_add = rules_add,
    .allows = allows,
    .rules_free = free,
};

static struct pt_order *kept_new(const char *label, const struct pt_names *names)
{
    struct kept_pass *pass = pt_xcalloc(1, sizeof *pass);
    (void)label, (void)names;
    pass->head.kind = &kept_order;
    for (uint32_t t = 0; t < 16; t++)
        pass->clocks[t] = pt_clock_new(0, &pass->pool);
    return &pass->head;
}

/* ---- the same order by its definition, on sets of events ---- */

static bool direct_need(const struct pt_event *d, const struct pt_event *e)
{
    return d->thread == e->thread || (d->op == PT_OP_FORK && d->object == e->thread) ||
           (e->op == PT_OP_JOIN && e->object == d->thread);
}

static bool is_write(const struct pt_event *e)
{
    return e->op == PT_OP_WRITE || e->op == PT_OP_UPDATE;
}

static bool allowed_by_definition(const struct relevant *r, const struct bits *cut, uint32_t k)
{
    const struct pt_event *e = &r->c->events[r->event[k]];
    for (uint32_t i = k + 1; i < r->count; i++) {
        const struct pt_event *f = &r->c->events[r->event[i]];
        if (bits_has(cut, i) && is_write(e) && is_write(f) && f->object == e->object)
            return false;
    }
    if (!is_write(e) || e->object != LOCK_VAR)
        return true;
    const struct pt_event *last = NULL; /* of the lock's events in the cut: they keep their order */
    for (uint32_t i = 0; i < r->count; i++) {
        const struct pt_event *f = &r->c->events[r->event[i]];
        if (bits_has(cut, i) && is_write(f) && f->object == LOCK_VAR)
            last = f;
    }
    return !last || last->op == PT_OP_UPDATE || last->thread == e->thread;
}

/* A computation whose lock is taken by one thread at a time. */
static void lock_computation(struct computation *c, uint64_t *seed, uint32_t threads, uint32_t count)
{
    bool forked[16] = {false};
    uint32_t holder = PT_NONE;
    for (uint32_t t = 0; t < threads; t++)
        comp_name(c, PT_SPACE_THREAD, "T", t);
    for (uint32_t x = 0; x < 4; x++)
        comp_name(c, PT_SPACE_VAR, "x", x);
    while (c->count < count) {
        uint32_t t = below(seed, threads), kind = below(seed, 10);
        if (t % 2 && !forked[t]) {
            forked[t] = true;
            comp_add(c, t - 1, PT_OP_FORK, t, 0);
        } else if (kind < 3 && (holder == PT_NONE || holder == t)) {
            comp_add(c, t, holder == t ? PT_OP_UPDATE : PT_OP_WRITE, LOCK_VAR, below(seed, 3));
            holder = holder == t ? PT_NONE : t;
        } else if (kind < 7) {
            uint32_t x = below(seed, 8) ? below(seed, 2) : 3;
            comp_add(c, t, kind == 6 ? PT_OP_UPDATE : PT_OP_WRITE, x, x || below(seed, 3) == 0 ? below(seed, 6) : 3);
        } else {
            comp_add(c, t, PT_OP_EVENT, below(seed, 4) / 3, 0);
        }
    }
    if (threads > 1 && forked[1] && below(seed, 3) == 0) {
        comp_add(c, 0, PT_OP_JOIN, 1, 0);
        comp_add(c, 0, PT_OP_WRITE, 0, below(seed, 5));
    }
}

static struct {
    uint32_t holds, predicted, observed, narrower, drawn, wider, complete, incomplete;
} seen;

/* Every step is enabled, the last state is bad, and no earlier one is. */
static void check_witness(const struct relevant *r, const struct pt_finding *f)
{
    struct bits cut = {{0}};
    bool bad = false;
    unsigned memory = step(r, &cut, PT_NONE, 1, &bad);
    for (uint64_t k = 0; k < f->witness_from + f->witness_count; k++) {
        uint32_t number = (uint32_t)(k < f->witness_from ? k : f->witness[k - f->witness_from].number - 1);
        assert_false(bad);
        assert_true(is_enabled(r, &cut, number));
        bits_add(&cut, number);
        memory = step(r, &cut, number, memory, &bad);
    }
    assert_true(bad);
}

static void check_finding(const struct relevant *r, const struct explored *x, const struct pt_finding *f, bool full)
{
    assert_string_equal(f->order, "kept");
    assert_int_equal(f->levels, x->levels);
    assert_int_equal(f->states, x->states);
    assert_int_equal(f->width, x->width);
    assert_int_equal(f->runs, x->runs);
    assert_true(!f->complete || x->complete); /* it may not know of a bounded window that nothing was left out */
    assert_true(!full || f->complete);
    seen.complete += !full && f->complete;
    seen.incomplete += !f->complete;
    seen.holds += x->bad_level == PT_NONE;
    assert_int_equal(f->verdict, x->bad_level == PT_NONE ? PT_VERDICT_HOLDS : PT_VERDICT_VIOLATED);
    if (x->bad_level == PT_NONE)
        return;
    seen.observed += x->observed_bad;
    seen.predicted += !x->observed_bad;
    assert_int_equal(f->how, x->observed_bad ? PT_HOW_OBSERVED : PT_HOW_PREDICTED);
    assert_int_equal(f->witness_from + f->witness_count, x->bad_level);
    check_witness(r, f);
}

static void explore_with(struct computation *c, const char *property, const struct pt_order_kind *order,
                         uint64_t window, uint64_t lookahead, bool exhaustive,
                         void (*check)(const struct pt_finding *f, void *context), void *context)
{
    struct pt_err err;
    struct pt_analysis_options options = {
        .order = order, .window = window, .lookahead = lookahead, .exhaustive = exhaustive, .jobs = 1, .trace = "t"};
    struct pt_properties *props = pt_properties_new();
    struct pt_monitor *monitor;
    uint32_t count;
    if (pt_properties_add(props, "t.prop", property, strlen(property), NULL, NULL, &err) != PT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(pt_monitor_new(&props->items[0], 1000, &monitor, &err), PT_OK);
    struct pt_analysis_input input = {.property = &props->items[0], .monitor = monitor};
    struct pt_analysis *analysis = pt_analysis_new(&c->names, &input, 1, &options);
    for (uint32_t e = 0; e < c->count; e++)
        if (pt_analysis_event(analysis, &c->events[e], &err) != PT_OK)
            fail_msg("%s", err.message);
    pt_analysis_finish(analysis, NULL);
    check(pt_analysis_findings(analysis, &count)[0], context);
    pt_analysis_free(analysis);
    pt_monitor_free(monitor);
    pt_properties_free(props);
}

struct expected {
    const struct relevant *r;
    struct explored x;
    bool full;
};

static void check_explored(const struct pt_finding *f, void *context)
{
    const struct expected *expected = context;
    check_finding(expected->r, &expected->x, f, expected->full);
}

/* An exploration that stops at a violation. Its drawing is made from counts, the exploration from packed words. */
static void check_stopped(const struct pt_finding *f, void *context)
{
    const struct expected *expected = context;
    uint64_t kept = 0;
    if (expected->x.bad_level != PT_NONE)
        assert_true(!f->complete || expected->x.complete_before_bad);
    for (uint32_t i = 0; f->view && i < f->view->cut_count; i++)
        kept += f->view->kept[i] && f->view->levels[i] < f->levels;
    if (f->view) {
        assert_int_equal(kept, f->states);
        seen.drawn++;
    }
}

/* What `access` finds, the wider order finds too. */
static void check_contained(const struct pt_finding *f, void *context)
{
    const struct expected *expected = context;
    assert_true(f->states <= expected->x.states);
    assert_true(f->verdict == PT_VERDICT_HOLDS || expected->x.bad_level != PT_NONE);
    seen.wider += f->verdict == PT_VERDICT_HOLDS && expected->x.bad_level != PT_NONE;
}

static void compare(struct computation *c, uint64_t window, uint64_t lookahead)
{
    comp_close_under(c, direct_need);
    struct relevant *r = relevant_of_closed(c);
    r->allowed = allowed_by_definition;
    struct expected expected = {r, explore(r, window, lookahead), window == PT_ALL && lookahead == PT_ALL};
    if (!expected.x.too_large) {
        explore_with(c, PROPERTY, &kept_order, window, lookahead, true, check_explored, &expected);
        explore_with(c, PROPERTY, &kept_order, window, lookahead, false, check_stopped, &expected);
        r->allowed = NULL;
        seen.narrower += explore(r, window, lookahead).states > expected.x.states;
        if (expected.full)
            explore_with(c, PROPERTY, &pt_order_access, window, lookahead, true, check_contained, &expected);
    }
    free(r);
}

static void test_lattice_of_another_order(void **state)
{
    (void)state;
    static const uint64_t windows[][2] = {{1, 1},      {3, 2},      {5, 8},      {2, PT_ALL}, {16, 4},     {PT_ALL, 2},
                                          {PT_ALL, 3}, {PT_ALL, 4}, {PT_ALL, 6}, {1000, 100}, {40, PT_ALL}};
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        uint64_t s = seed * 104729;
        struct computation c;
        comp_init(&c);
        lock_computation(&c, &s, 1 + below(&s, 4), 4 + below(&s, 16));
        compare(&c, PT_ALL, PT_ALL);
        compare(&c, windows[seed % 11][0], windows[seed % 11][1]);
        comp_release(&c);
    }
    assert_true(seen.holds > 100 && seen.predicted > 100 && seen.observed > 100);
    assert_true(seen.narrower > 100 && seen.drawn > 100 && seen.wider > 5);
    assert_true(seen.complete > 20 && seen.incomplete > 100);
}

static void check_incomplete(const struct pt_finding *f, void *context)
{
    (void)context;
    assert_int_equal(f->verdict, PT_VERDICT_VIOLATED);
    assert_int_equal(f->witness_count, 2);
    assert_false(f->complete);
}

/* T2 could take the lock in level 0, from where nobody looked that far ahead, and in no cut of level 1, where somebody
 * has it. In level 2 the exploration stops at a violation, before another event has been looked at. */
static void test_late_event_that_was_enabled_before(void **state)
{
    (void)state;
    struct computation c;
    comp_init(&c);
    for (uint32_t t = 0; t < 3; t++)
        comp_name(&c, PT_SPACE_THREAD, "T", t);
    for (uint32_t x = 0; x < 3; x++)
        comp_name(&c, PT_SPACE_VAR, "x", x);
    comp_add(&c, 0, PT_OP_WRITE, LOCK_VAR, 1);
    comp_add(&c, 0, PT_OP_UPDATE, LOCK_VAR, 9);
    comp_add(&c, 1, PT_OP_WRITE, LOCK_VAR, 1);
    comp_add(&c, 1, PT_OP_JOIN, 0, 0);
    comp_add(&c, 1, PT_OP_UPDATE, LOCK_VAR, 1);
    comp_add(&c, 2, PT_OP_WRITE, LOCK_VAR, 1);
    explore_with(&c, "property p: x2 < 9;", &kept_order, PT_ALL, 3, false, check_incomplete, NULL);
    comp_release(&c);
}

/* So many threads that a cut needs several words. */
static void test_many_threads_of_another_order(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        uint64_t s = seed * 31;
        struct computation c;
        comp_init(&c);
        lock_computation(&c, &s, 14, 160);
        compare(&c, 20, 30);
        compare(&c, 8, PT_ALL);
        comp_release(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_access_by_definition),
        cmocka_unit_test(test_given_clocks_are_the_order),
        cmocka_unit_test(test_orders_have_names),
        cmocka_unit_test(test_lattice_of_another_order),
        cmocka_unit_test(test_late_event_that_was_enabled_before),
        cmocka_unit_test(test_many_threads_of_another_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
