/*
 * Algorithm A of the JMPaX paper over shared, immutable clocks, and what else the order `access` answers.
 *
 * Clocks count relevant events only, so between relevant events nearly every access finds that it and its variable have
 * the very same clock, and costs two pointer comparisons. Guarantee: clocks count exactly the relevant events that
 * the closed relation puts before. Cost: O(threads) for a relevant event or a join that teaches something, O(1)
 * otherwise; memory for one clock per thread and two per object, most of them shared.
 *
 * Lines with c=: once one is seen, those fields alone are the order, and other lines order nothing. The counts are in
 * the trace's own numbering (whatever its writer held to be relevant); `counted` remembers per thread which of those
 * are relevant here, and what a thread knows is translated by counting when it has a relevant event: O(lanes), and what
 * was not known to the latest one of a thread that is named, where that is kept. What fields leave out comes back by
 * trace/clock_state.h, whose clocks share what they have in common.
 *
 * Lanes are chosen by one rule (take_lane): a thread's first relevant event goes behind the last one of a thread that
 * has ended, if it needs that one. Then the lane's events are in one order, and a cut has the first n of them. That a
 * thread has ended is said by its join or, where lines have c= and joins order nothing, by a remark (PT_TIE_ENDED).
 */
#include "order/access.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "order/rank.h"
#include "trace/clock_state.h"

struct order_object {
    struct pt_clock *access, *write; /* NULL: the empty clock */
};

struct order_objects {
    struct order_object *items;
    size_t cap;
};

struct order_thread {
    uint64_t named; /* the last event whose c= names it */
    struct pt_clock *clock;
    struct pt_rank counted; /* c= numbering: bit k-1 says whether the k-th counted event is relevant here */
    uint32_t lane;          /* PT_NONE: none yet */
    uint64_t ended;         /* c=: the line that says so; 0: none yet */
    uint64_t base;          /* c=: its first relevant event is the lane's base + 1st */
};

/* c=: what a thread's latest relevant event knew, in the trace's counts and in ours. */
struct known_before {
    struct pt_tree tree;
    struct pt_clock *needs; /* NULL: there is none */
    uint32_t thread;
};
enum {
    LATE = 256,     /* threads of which that is kept, by the low bits of their ids; ... */
    LATE_WIDE = 16, /* ... where clocks are WIDE: so many */
    WIDE = 1024,
    FEW = 64,  /* threads of which all are counted each time */
    LOOKED = 9 /* of the threads that a line names, those whose events are looked for */
};

struct access_order {
    struct pt_order head;
    const char *label;
    const struct pt_names *names;
    struct order_thread *threads;
    size_t thread_cap;
    struct order_objects objects[PT_SPACE_COUNT];
    uint64_t *lane_ends; /* by lane: its relevant events, if its threads have all ended; 0: they have not */
    uint32_t lane_count, free_count;
    size_t lane_cap;
    struct pt_clock *empty;
    bool given;       /* some line carried c= */
    bool computed;    /* some relevant event was ordered by the access rule */
    bool translates;  /* some event that clocks count is not relevant here */
    uint64_t clocked; /* lines with c= so far */
    struct pt_clock_state clocks;
    struct pt_clock *needs; /* of the latest relevant event with c= */
    struct known_before late[LATE];
    struct pt_clock_pool pool;
};

static struct access_order *own(struct pt_order *pass)
{
    return (struct access_order *)(void *)pass; /* the head is its first member */
}

static struct pt_order *pass_new(const char *label, const struct pt_names *names)
{
    struct access_order *order = pt_xcalloc(1, sizeof *order);
    order->head.kind = &pt_order_access;
    order->label = label;
    order->names = names;
    order->empty = pt_clock_new(0, &order->pool);
    return &order->head;
}

static void pass_free(struct pt_order *pass)
{
    struct access_order *order = own(pass);
    for (size_t i = 0; i < order->thread_cap; i++) {
        pt_clock_unref(order->threads[i].clock);
        pt_rank_release(&order->threads[i].counted);
    }
    free(order->threads);
    free(order->lane_ends);
    for (int s = 0; s < PT_SPACE_COUNT; s++) {
        for (size_t i = 0; i < order->objects[s].cap; i++) {
            pt_clock_unref(order->objects[s].items[i].access);
            pt_clock_unref(order->objects[s].items[i].write);
        }
        free(order->objects[s].items);
    }
    pt_clock_unref(order->empty);
    pt_clock_unref(order->needs);
    for (uint32_t i = 0; i < LATE; i++) {
        pt_clock_unref(order->late[i].needs);
        pt_tree_release(&order->clocks.pool, &order->late[i].tree);
    }
    pt_clock_state_release(&order->clocks);
    pt_clock_pool_release(&order->pool);
    free(order);
}

static void more_threads(struct access_order *order, uint32_t id)
{
    size_t old = order->thread_cap;
    PT_GROW(order->threads, order->thread_cap, (size_t)id + 1);
    memset(order->threads + old, 0, (order->thread_cap - old) * sizeof *order->threads);
    for (size_t i = old; i < order->thread_cap; i++) {
        order->threads[i].clock = pt_clock_ref(order->empty);
        order->threads[i].lane = PT_NONE;
        pt_rank_begin(&order->threads[i].counted, order->head.counted_before);
    }
}

static inline struct order_thread *thread_at(struct access_order *order, uint32_t id)
{
    if (id >= order->thread_cap)
        more_threads(order, id);
    return &order->threads[id];
}

static void more_objects(struct order_objects *objects, uint32_t id)
{
    size_t old = objects->cap;
    PT_GROW(objects->items, objects->cap, (size_t)id + 1);
    memset(objects->items + old, 0, (objects->cap - old) * sizeof *objects->items);
}

static inline struct order_object *object_at(struct access_order *order, enum pt_space space, uint32_t id)
{
    struct order_objects *objects = &order->objects[space];
    if (id >= objects->cap)
        more_objects(objects, id);
    return &objects->items[id];
}

/* Step 2 of algorithm A: V_i <- max(V_i, V_x^w), V_x^a <- max(V_x^a, V_i). */
static void on_read(struct access_order *order, struct order_thread *self, enum pt_space space, uint32_t id)
{
    struct order_object *x = object_at(order, space, id);
    pt_clock_absorb(&self->clock, x->write);
    pt_clock_absorb(&x->access, self->clock);
}

/* Step 3, after the tick of step 1: V_x^w <- V_x^a <- V_i <- max(V_x^a, V_i). */
static void on_write(struct access_order *order, struct order_thread *self, enum pt_space space, uint32_t id)
{
    struct order_object *x = object_at(order, space, id);
    pt_clock_absorb(&self->clock, x->access);
    pt_clock_set(&x->access, self->clock);
    pt_clock_set(&x->write, self->clock);
}

static enum pt_status clock_error(const struct access_order *order, const struct pt_event *event, struct pt_err *err,
                                  const char *what, uint32_t thread, uint64_t count)
{
    return pt_err_at(err, PT_EINPUT, order->label, event->line, 0, "the clock c= of %s says %s:%" PRIu64 ", %s",
                     pt_name(order->names, PT_SPACE_THREAD, event->thread),
                     pt_name(order->names, PT_SPACE_THREAD, thread), count, what);
}

/* Checks a c= field against what has been seen; its own thread's count goes to *ret_own. */
static enum pt_status check_given_clock(struct access_order *order, const struct pt_event *event, bool relevant,
                                        uint64_t *ret_own, struct pt_err *err)
{
    uint32_t i = event->thread;
    uint64_t own = order->head.counted_before; /* a clock that does not name it says that it has had none */
    order->clocked++;
    thread_at(order, i);
    for (uint32_t k = 0; k < event->clock_len; k++) {
        uint32_t j = event->clock[k].thread;
        uint64_t n = event->clock[k].count;
        struct order_thread *other = thread_at(order, j);
        if (other->named == order->clocked)
            return clock_error(order, event, err, "and names that thread twice", j, n);
        other->named = order->clocked;
        if (j == i)
            own = n;
        else if (n > other->counted.len)
            return clock_error(order, event, err, "more than have happened so far", j, n);
        else if (n < pt_tree_get(&pt_clock_state_thread(&order->clocks, i)->now, j))
            return pt_err_at(err, PT_EINPUT, order->label, event->line, 0,
                             "the clock c= of %s knows less than the one before it in the same thread",
                             pt_name(order->names, PT_SPACE_THREAD, i));
    }
    if (order->threads[i].ended)
        return clock_error(order, event, err, "but that thread has ended before", i, own);
    uint64_t before = order->threads[i].counted.len;
    if (own != before && own != before + 1)
        return clock_error(order, event, err, "which does not follow its thread's count so far", i, own);
    if (relevant && own == before)
        return clock_error(order, event, err,
                           "which does not count this event: the trace was recorded for other properties", i, own);
    *ret_own = own;
    return PT_OK;
}

static enum pt_status too_many(const struct access_order *order, const struct pt_event *event, struct pt_err *err)
{
    return pt_err_at(err, PT_ELIMIT, order->label, event->line, 0,
                     "more than %" PRIu64 " relevant events in one thread", PT_COUNT_MAX);
}

/* A count of the trace's, in ours. */
static uint64_t translate(const struct access_order *order, uint32_t thread, uint64_t count)
{
    return order->translates ? pt_rank_count(&order->threads[thread].counted, count) : count;
}

/* A thread's first `count` counted events are known: our numbering goes into `counts`. */
static void count_known(const struct access_order *order, uint64_t *counts, uint32_t thread, uint64_t count)
{
    uint64_t known = translate(order, thread, count);
    const struct order_thread *of = &order->threads[thread];
    if (!order->head.lanes)
        counts[thread] = known;
    else if (of->lane != PT_NONE && known > order->head.counted_before && counts[of->lane] < of->base + known)
        counts[of->lane] = of->base + known;
}

struct counting {
    const struct access_order *order;
    uint64_t *counts;
};

static void count_leaf(void *context, uint32_t first, const uint64_t *leaf)
{
    const struct counting *c = context;
    for (uint32_t k = 0; k < PT_TREE_FAN; k++)
        if (leaf[k])
            count_known(c->order, c->counts, first + k, leaf[k]);
}

/* What was known with an earlier relevant event, if that is known now, and what has come to it; NULL: it is not known.
 * It is the same as counting all, since a count's place never changes. */
static struct pt_clock *translated_after(struct access_order *order, const struct pt_tree *known,
                                         const struct known_before *before)
{
    struct pt_clock *c = pt_clock_new(order->lane_count + 1, &order->pool);
    if (before->needs)
        memcpy(c->counts, before->needs->counts, before->needs->len * sizeof c->counts[0]);
    struct counting counting = {order, c->counts};
    if (pt_tree_news(known, &before->tree, count_leaf, &counting))
        return c;
    pt_clock_unref(c);
    return NULL;
}

static struct known_before *late_of(struct access_order *order, uint32_t thread)
{
    return &order->late[thread % (order->lane_count > WIDE ? LATE_WIDE : LATE)];
}

/* What a thread knows, in our numbering, with room for one more lane. Of many threads most was known already to the
 * latest event of another one, which the line names, or of itself: clocks name those first that tell most. */
static struct pt_clock *translated(struct access_order *order, uint32_t thread)
{
    const struct pt_tree *known = &pt_clock_state_thread(&order->clocks, thread)->now;
    const struct known_before nothing = {0};
    struct pt_clock *c = NULL;
    if (!order->head.lanes) {
        c = pt_clock_new((uint32_t)order->thread_cap, &order->pool);
        struct counting counting = {order, c->counts};
        pt_tree_news(known, &nothing.tree, count_leaf, &counting);
        return c;
    }
    const struct pt_clock_entry *named = order->clocks.named;
    uint32_t count = order->thread_cap > FEW ? order->clocks.named_count : 0;
    for (uint32_t i = 0; i < count && !c; i = i < LOOKED || i + 1 == count ? i + 1 : count - 1) {
        const struct known_before *before = late_of(order, named[i].thread);
        c = before->needs && before->thread == named[i].thread ? translated_after(order, known, before) : NULL;
    }
    return c ? c : translated_after(order, known, &nothing);
}

static void keep_late(struct access_order *order, uint32_t thread, struct pt_clock *needs)
{
    struct known_before *late = late_of(order, thread);
    late->thread = thread;
    pt_tree_release(&order->clocks.pool, &late->tree);
    late->tree = pt_tree_copy(&pt_clock_state_thread(&order->clocks, thread)->now);
    pt_clock_set(&late->needs, needs);
}

/* A lane whose events all come before what has this clock, if there is one; or a new one. *ret_count: its events. */
static uint32_t take_lane(struct access_order *order, const struct pt_clock *clock, uint64_t *ret_count)
{
    for (uint32_t lane = 0; order->free_count && lane < clock->len && lane < order->lane_count; lane++) {
        if (!clock->counts[lane] || order->lane_ends[lane] != clock->counts[lane])
            continue;
        *ret_count = order->lane_ends[lane];
        order->lane_ends[lane] = 0;
        order->free_count--;
        return lane;
    }
    *ret_count = order->head.counted_before;
    PT_PUSH(order->lane_ends, order->lane_count, order->lane_cap, 0);
    return order->lane_count - 1;
}

static void give_lane_back(struct access_order *order, const struct order_thread *thread, uint64_t count)
{
    if (thread->lane == PT_NONE)
        return;
    order->lane_ends[thread->lane] = count;
    order->free_count++;
}

/* What the thread's relevant event needs, its clock taken; its first one gets a lane. */
static struct pt_clock *given_needs(struct access_order *order, uint32_t thread, uint64_t own)
{
    struct order_thread *self = &order->threads[thread];
    struct pt_clock *needs = translated(order, thread);
    if (order->head.lanes && self->lane == PT_NONE) {
        uint64_t before;
        self->lane = take_lane(order, needs, &before);
        self->base = before - order->head.counted_before;
        count_known(order, needs->counts, thread, own);
    }
    if (order->head.lanes && order->thread_cap > FEW)
        keep_late(order, thread, needs);
    return needs;
}

/* With c=: no line of the thread follows. */
static void end_given(struct access_order *order, const struct pt_event *event)
{
    struct order_thread *thread = thread_at(order, event->thread);
    if (thread->ended)
        return;
    thread->ended = event->line;
    give_lane_back(order, thread, thread->base + thread->counted.total);
}

/* A c= field: what the thread knows then follows from it and from what was known before (clock_state.h). */
static enum pt_status take_given_clock(struct access_order *order, const struct pt_event *event, bool relevant,
                                       struct pt_err *err)
{
    uint64_t own = 0;
    enum pt_status status = check_given_clock(order, event, relevant, &own, err);
    if (status != PT_OK)
        return status;
    if (own > PT_COUNT_MAX)
        return too_many(order, event, err);
    struct pt_rank *counted = &order->threads[event->thread].counted;
    if (own > counted->len) {
        pt_rank_append(counted, relevant);
        order->translates |= !relevant;
    }
    pt_clock_state_take(&order->clocks, event);
    if (relevant) {
        pt_clock_unref(order->needs);
        order->needs = given_needs(order, event->thread, own);
        if (order->threads[event->thread].base > PT_COUNT_MAX - own)
            return too_many(order, event, err);
    }
    return PT_OK;
}

static uint32_t lane_of(struct access_order *order, struct order_thread *self, uint32_t thread)
{
    if (!order->head.lanes)
        return thread;
    uint64_t before;
    if (self->lane == PT_NONE)
        self->lane = take_lane(order, self->clock, &before);
    return self->lane;
}

/* It will not act, or be joined, again. */
static void end_thread(struct access_order *order, struct order_thread *thread)
{
    give_lane_back(order, thread, pt_clock_get(thread->clock, thread->lane));
    thread->lane = PT_NONE;
    pt_clock_set(&thread->clock, order->empty);
}

static void follow_access_rule(struct access_order *order, struct order_thread *self, const struct pt_event *event)
{
    switch (pt_access_role(event->op)) {
    case PT_ROLE_READS:
        on_read(order, self, pt_op_space(event->op), event->object);
        break;
    case PT_ROLE_WRITES:
        on_write(order, self, pt_op_space(event->op), event->object);
        break;
    case PT_ROLE_FORKS:
        pt_clock_absorb(&thread_at(order, event->object)->clock, self->clock);
        break;
    case PT_ROLE_JOINS:
        pt_clock_absorb(&self->clock, thread_at(order, event->object)->clock);
        end_thread(order, thread_at(order, event->object));
        break;
    case PT_ROLE_NONE:
        break;
    }
}

static enum pt_status compute_clock(struct access_order *order, const struct pt_event *event, bool relevant,
                                    struct pt_err *err)
{
    if (pt_op_is_of_thread(event->op))
        thread_at(order, event->object); /* may move the array: before `self` is taken */
    struct order_thread *self = thread_at(order, event->thread);
    if (relevant) {
        uint32_t lane = lane_of(order, self, event->thread);
        uint64_t before = pt_clock_get(self->clock, lane), *count;
        if (before == PT_COUNT_MAX || (!before && order->head.counted_before >= PT_COUNT_MAX))
            return too_many(order, event, err);
        pt_clock_tick(&self->clock, lane);
        count = &self->clock->counts[lane]; /* nobody shares it yet */
        *count += before ? 0 : order->head.counted_before;
        order->computed = true;
    }
    follow_access_rule(order, self, event);
    return PT_OK;
}

static enum pt_status pass_event(struct pt_order *pass, const struct pt_event *event, bool relevant,
                                 struct pt_clock **ret_needs, struct pt_err *err)
{
    struct access_order *order = own(pass);
    if (event->thread == PT_NONE) /* init, clock: no event */
        return PT_OK;
    if (event->clock && order->computed)
        return pt_err_at(err, PT_EINPUT, order->label, event->line, 0,
                         "this line carries a clock c=, but relevant events before it carry none");
    if (event->clock) {
        order->given = true;
        enum pt_status status = take_given_clock(order, event, relevant, err);
        if (status != PT_OK)
            return status;
    } else if (!order->given) {
        enum pt_status status = compute_clock(order, event, relevant, err);
        if (status != PT_OK)
            return status;
    } else if (pt_event_is_tie(event) &&
               strcmp(pt_name(order->names, PT_SPACE_OTHER, event->object), PT_TIE_ENDED) == 0) {
        end_given(order, event);
    } else if (relevant) {
        return pt_err_at(err, PT_EINPUT, order->label, event->line, 0,
                         "this relevant event carries no clock c=, but lines before it do");
    }
    if (relevant)
        *ret_needs = order->given ? order->needs : order->threads[event->thread].clock;
    return PT_OK;
}

static uint32_t pass_lane(const struct pt_order *pass, uint32_t thread)
{
    const struct access_order *order = (const struct access_order *)(const void *)pass;
    return order->head.lanes ? order->threads[thread].lane : thread;
}

static size_t pass_bytes(const struct pt_order *pass)
{
    const struct access_order *order = (const struct access_order *)(const void *)pass;
    size_t bytes = sizeof *order + order->thread_cap * sizeof *order->threads + order->pool.bytes +
                   order->lane_cap * sizeof *order->lane_ends + pt_clock_state_bytes(&order->clocks);
    for (int s = 0; s < PT_SPACE_COUNT; s++)
        bytes += order->objects[s].cap * sizeof(struct order_object);
    return bytes;
}

/* Contract section 3, pair by pair. */
static enum pt_link depends(const struct pt_act *a, const struct pt_act *b)
{
    bool fork = pt_op_access(a->op) == PT_ACCESS_FORK, join = pt_op_access(b->op) == PT_ACCESS_JOIN;
    if (a->thread == b->thread)
        return PT_LINK_PROGRAM;
    if (fork && (a->object == b->thread || (join && a->object == b->object)))
        return PT_LINK_FORK;
    if (join && b->object == a->thread)
        return PT_LINK_JOIN;
    bool conflict = pt_op_accesses(a->op) && pt_op_accesses(b->op) && pt_op_space(a->op) == pt_op_space(b->op) &&
                    a->object == b->object && (pt_op_writes(a->op) || pt_op_writes(b->op));
    return conflict ? PT_LINK_CONFLICT : PT_LINK_NONE;
}

/* Proposition 1 of the paper, event by event. */
static uint32_t replay(const struct pt_relation *r, uint64_t *have, const struct pt_cut_event *run, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t self = run[k].column;
        if (self >= r->thread_count || run[k].index != have[self] + 1 ||
            pt_clock_get(run[k].needs, r->threads[self]) != run[k].index)
            return k;
        for (uint32_t c = 0; c < r->thread_count; c++)
            if (c != self && pt_clock_get(run[k].needs, r->threads[c]) > have[c])
                return k;
        have[self]++;
    }
    return count;
}

const struct pt_order_kind pt_order_access = {
    .name = "access",
    .depends = depends,
    .pass_new = pass_new,
    .pass_event = pass_event,
    .pass_lane = pass_lane,
    .pass_bytes = pass_bytes,
    .pass_free = pass_free,
    .replay = replay,
};
