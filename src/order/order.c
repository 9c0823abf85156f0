/*
 * Algorithm A of the JMPaX paper over shared, immutable clocks.
 *
 * Clocks count relevant events only, so between relevant events nearly every access finds that it and its variable hold
 * the very same clock, and costs two pointer comparisons. A join that adds nothing returns the larger operand instead
 * of a copy, which keeps it that way. Cost: O(threads) for a relevant event or a join that teaches something, O(1)
 * otherwise.
 *
 * Lines with c=: once one is seen, those fields alone are the order, and other lines order nothing. The counts are in
 * the trace's own numbering (whatever its writer held to be relevant); `counted` remembers per thread which of those
 * are relevant here, and a field is translated by counting. The clocks need not be closed under transitivity: a cut
 * that contains an event contains what that event needs, so closure comes by itself.
 */
#include "order/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "order/rank.h"

struct object {
    struct pt_clock *access, *write; /* NULL: the empty clock */
};

struct objects {
    struct object *items;
    size_t cap;
};

struct thread {
    uint64_t named; /* the last event whose c= names it */
    struct pt_clock *clock;
    struct pt_rank counted; /* c= numbering: bit k-1 tells whether the k-th counted event is relevant here */
};

struct pt_order {
    const char *label;
    const struct pt_names *names;
    struct thread *threads;
    size_t thread_cap;
    struct objects objects[PT_SPACE_COUNT];
    struct pt_clock *empty;
    bool given;       /* some line carried c= */
    bool computed;    /* some relevant event was ordered by the access rule */
    uint64_t clocked; /* lines with c= so far */
    struct pt_clock_pool pool;
};

static size_t clock_size(uint32_t len)
{
    return sizeof(struct pt_clock) + len * sizeof(uint32_t);
}

static uint32_t clock_class(uint32_t len)
{
    return len / 4;
}

static struct pt_clock *clock_alloc(uint32_t len, struct pt_clock_pool *pool)
{
    uint32_t class = clock_class(len);
    struct pt_clock *c;
    if (class >= PT_CLOCK_CLASSES) {
        c = pt_xmalloc(clock_size(len));
    } else if (pool->spare[class]) {
        c = pool->spare[class];
        pool->spare[class] = c->next;
    } else {
        c = pt_xmalloc(clock_size(class * 4 + 3)); /* the longest of the class */
    }
    c->pool = pool;
    c->refs = 1;
    c->len = len;
    pool->bytes += clock_size(len);
    return c;
}

struct pt_clock *pt_clock_new(uint32_t len, struct pt_clock_pool *pool)
{
    struct pt_clock *c = clock_alloc(len, pool);
    memset(c->counts, 0, len * sizeof c->counts[0]);
    return c;
}

struct pt_clock *pt_clock_ref(struct pt_clock *c)
{
    c->refs++;
    return c;
}

void pt_clock_unref(struct pt_clock *c)
{
    if (!c || --c->refs)
        return;
    struct pt_clock_pool *pool = c->pool;
    uint32_t class = clock_class(c->len);
    pool->bytes -= clock_size(c->len);
    if (class >= PT_CLOCK_CLASSES) {
        free(c);
        return;
    }
    c->next = pool->spare[class];
    pool->spare[class] = c;
}

void pt_clock_pool_release(struct pt_clock_pool *pool)
{
    for (uint32_t class = 0; class < PT_CLOCK_CLASSES; class ++) {
        for (struct pt_clock *c = pool->spare[class], *next; c; c = next) {
            next = c->next;
            free(c);
        }
        pool->spare[class] = NULL;
    }
}

static void clock_set(struct pt_clock **place, struct pt_clock *c)
{
    if (*place == c)
        return;
    pt_clock_ref(c);
    pt_clock_unref(*place);
    *place = c;
}

enum { LEFT_MORE = 1, RIGHT_MORE = 2 };

/* Where each clock knows more than the other, in one pass without early exits, so that it is a vector loop. */
static unsigned clock_relation(const struct pt_clock *a, const struct pt_clock *b)
{
    uint32_t n = a->len < b->len ? a->len : b->len, left = 0, right = 0;
    for (uint32_t j = 0; j < n; j++) {
        left |= a->counts[j] > b->counts[j];
        right |= b->counts[j] > a->counts[j];
    }
    for (uint32_t j = n; j < a->len; j++)
        left |= a->counts[j] != 0;
    for (uint32_t j = n; j < b->len; j++)
        right |= b->counts[j] != 0;
    return (left ? LEFT_MORE : 0) | (right ? RIGHT_MORE : 0);
}

static struct pt_clock *clock_max(const struct pt_clock *a, const struct pt_clock *b)
{
    const struct pt_clock *longer = a->len >= b->len ? a : b, *shorter = longer == a ? b : a;
    struct pt_clock *c = clock_alloc(longer->len, longer->pool);
    for (uint32_t j = 0; j < shorter->len; j++)
        c->counts[j] = a->counts[j] > b->counts[j] ? a->counts[j] : b->counts[j];
    memcpy(c->counts + shorter->len, longer->counts + shorter->len, (longer->len - shorter->len) * sizeof c->counts[0]);
    return c;
}

bool pt_clock_absorb(struct pt_clock **place, struct pt_clock *other)
{
    if (*place == other || !other)
        return false;
    if (!*place) {
        *place = pt_clock_ref(other);
        return true;
    }
    unsigned relation = clock_relation(*place, other);
    if (!(relation & RIGHT_MORE))
        return false;
    struct pt_clock *c = relation & LEFT_MORE ? clock_max(*place, other) : pt_clock_ref(other);
    pt_clock_unref(*place);
    *place = c;
    return true;
}

void pt_clock_tick(struct pt_clock **place, uint32_t i)
{
    const struct pt_clock *old = *place;
    struct pt_clock *c = clock_alloc(old->len > i ? old->len : i + 1, old->pool);
    memcpy(c->counts, old->counts, old->len * sizeof c->counts[0]);
    memset(c->counts + old->len, 0, (c->len - old->len) * sizeof c->counts[0]);
    c->counts[i]++;
    pt_clock_unref(*place);
    *place = c;
}

struct pt_order *pt_order_new(const char *label, const struct pt_names *names)
{
    struct pt_order *order = pt_xcalloc(1, sizeof *order);
    order->label = label;
    order->names = names;
    order->empty = clock_alloc(0, &order->pool);
    return order;
}

void pt_order_free(struct pt_order *order)
{
    if (!order)
        return;
    for (size_t i = 0; i < order->thread_cap; i++) {
        pt_clock_unref(order->threads[i].clock);
        pt_rank_release(&order->threads[i].counted);
    }
    free(order->threads);
    for (int s = 0; s < PT_SPACE_COUNT; s++) {
        for (size_t i = 0; i < order->objects[s].cap; i++) {
            pt_clock_unref(order->objects[s].items[i].access);
            pt_clock_unref(order->objects[s].items[i].write);
        }
        free(order->objects[s].items);
    }
    pt_clock_unref(order->empty);
    pt_clock_pool_release(&order->pool);
    free(order);
}

static void more_threads(struct pt_order *order, uint32_t id)
{
    size_t old = order->thread_cap;
    PT_GROW(order->threads, order->thread_cap, (size_t)id + 1);
    memset(order->threads + old, 0, (order->thread_cap - old) * sizeof *order->threads);
    for (size_t i = old; i < order->thread_cap; i++)
        order->threads[i].clock = pt_clock_ref(order->empty);
}

static inline struct thread *thread_at(struct pt_order *order, uint32_t id)
{
    if (id >= order->thread_cap)
        more_threads(order, id);
    return &order->threads[id];
}

static void more_objects(struct objects *objects, uint32_t id)
{
    size_t old = objects->cap;
    PT_GROW(objects->items, objects->cap, (size_t)id + 1);
    memset(objects->items + old, 0, (objects->cap - old) * sizeof *objects->items);
}

static inline struct object *object_at(struct pt_order *order, enum pt_space space, uint32_t id)
{
    struct objects *objects = &order->objects[space];
    if (id >= objects->cap)
        more_objects(objects, id);
    return &objects->items[id];
}

/* Step 2 of algorithm A: V_i <- max(V_i, V_x^w), V_x^a <- max(V_x^a, V_i). */
static void on_read(struct pt_order *order, struct thread *self, enum pt_space space, uint32_t id)
{
    struct object *x = object_at(order, space, id);
    pt_clock_absorb(&self->clock, x->write);
    pt_clock_absorb(&x->access, self->clock);
}

/* Step 3, after the tick of step 1: V_x^w <- V_x^a <- V_i <- max(V_x^a, V_i). */
static void on_write(struct pt_order *order, struct thread *self, enum pt_space space, uint32_t id)
{
    struct object *x = object_at(order, space, id);
    pt_clock_absorb(&self->clock, x->access);
    clock_set(&x->access, self->clock);
    clock_set(&x->write, self->clock);
}

static enum pt_status clock_error(const struct pt_order *order, const struct pt_event *event, struct pt_err *err,
                                  const char *what, uint32_t thread, uint64_t count)
{
    return pt_err_at(err, PT_EINPUT, order->label, event->line, 0, "the clock c= of %s says %s:%" PRIu64 ", %s",
                     pt_name(order->names, PT_SPACE_THREAD, event->thread),
                     pt_name(order->names, PT_SPACE_THREAD, thread), count, what);
}

/* A c= field: checks it against what has been seen, and makes it the thread's clock in our numbering. */
static enum pt_status take_given_clock(struct pt_order *order, const struct pt_event *event, bool relevant,
                                       struct pt_err *err)
{
    uint32_t i = event->thread, len = i + 1;
    order->clocked++;
    uint64_t own = 0;
    for (uint32_t k = 0; k < event->clock_len; k++) {
        thread_at(order, event->clock[k].thread);
        if (event->clock[k].thread >= len)
            len = event->clock[k].thread + 1;
    }
    struct thread *self = thread_at(order, i);
    struct pt_clock *c = pt_clock_new(len, &order->pool);
    for (uint32_t k = 0; k < event->clock_len; k++) {
        uint32_t j = event->clock[k].thread;
        uint64_t n = event->clock[k].count;
        if (order->threads[j].named == order->clocked) {
            pt_clock_unref(c);
            return clock_error(order, event, err, "and names that thread twice", j, n);
        }
        order->threads[j].named = order->clocked;
        if (j == i) {
            own = n;
        } else if (n > order->threads[j].counted.len) {
            pt_clock_unref(c);
            return clock_error(order, event, err, "more than have happened so far", j, n);
        } else {
            c->counts[j] = (uint32_t)pt_rank_count(&order->threads[j].counted, n);
        }
    }
    uint64_t before = self->counted.len;
    if (own != before && own != before + 1) {
        pt_clock_unref(c);
        return clock_error(order, event, err, "which does not follow its thread's count so far", i, own);
    }
    if (relevant && own == before) {
        pt_clock_unref(c);
        return clock_error(order, event, err,
                           "which does not count this event: the trace was recorded for other properties", i, own);
    }
    if (own > before)
        pt_rank_append(&self->counted, relevant);
    c->counts[i] = (uint32_t)self->counted.total;
    if (clock_relation(self->clock, c) & LEFT_MORE) {
        pt_clock_unref(c);
        return pt_err_at(err, PT_EINPUT, order->label, event->line, 0,
                         "the clock c= of %s knows less than the one before it in the same thread",
                         pt_name(order->names, PT_SPACE_THREAD, i));
    }
    pt_clock_unref(self->clock);
    self->clock = c;
    return PT_OK;
}

static void follow_access_rule(struct pt_order *order, struct thread *self, const struct pt_event *event)
{
    switch ((enum pt_op)event->op) {
    case PT_OP_READ:
    case PT_OP_RACQ:
    case PT_OP_RREL:
        on_read(order, self, pt_op_space(event->op), event->object);
        break;
    case PT_OP_WRITE:
    case PT_OP_UPDATE:
    case PT_OP_ACQ:
    case PT_OP_REL:
    case PT_OP_WAIT:
    case PT_OP_NOTIFY:
    case PT_OP_SYNC:
        on_write(order, self, pt_op_space(event->op), event->object);
        break;
    case PT_OP_FORK:
        pt_clock_absorb(&thread_at(order, event->object)->clock, self->clock);
        break;
    case PT_OP_JOIN:
        pt_clock_absorb(&self->clock, thread_at(order, event->object)->clock);
        clock_set(&thread_at(order, event->object)->clock, order->empty); /* it will not act, or be joined, again */
        break;
    default: /* internal to the thread */
        break;
    }
}

static enum pt_status compute_clock(struct pt_order *order, const struct pt_event *event, bool relevant,
                                    struct pt_err *err)
{
    if (event->op == PT_OP_FORK || event->op == PT_OP_JOIN)
        thread_at(order, event->object); /* may move the array: before `self` is taken */
    struct thread *self = thread_at(order, event->thread);
    if (relevant) {
        if (pt_clock_get(self->clock, event->thread) == UINT32_MAX)
            return pt_err_at(err, PT_ELIMIT, order->label, event->line, 0,
                             "more than 4294967295 relevant events in one thread");
        pt_clock_tick(&self->clock, event->thread);
        order->computed = true;
    }
    follow_access_rule(order, self, event);
    return PT_OK;
}

enum pt_status pt_order_event(struct pt_order *order, const struct pt_event *event, bool relevant,
                              struct pt_clock **ret_clock, struct pt_err *err)
{
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
    } else if (relevant) {
        return pt_err_at(err, PT_EINPUT, order->label, event->line, 0,
                         "this relevant event carries no clock c=, but lines before it do");
    }
    if (relevant)
        *ret_clock = order->threads[event->thread].clock;
    return PT_OK;
}

size_t pt_order_bytes(const struct pt_order *order)
{
    size_t bytes = sizeof *order + order->thread_cap * sizeof *order->threads + order->pool.bytes;
    for (int s = 0; s < PT_SPACE_COUNT; s++)
        bytes += order->objects[s].cap * sizeof(struct object);
    return bytes;
}

uint32_t pt_order_replay(uint32_t *have, uint32_t threads, const uint32_t *thread, const uint32_t *const *need,
                         uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = thread[k];
        if (i >= threads || need[k][i] != have[i] + 1)
            return k;
        for (uint32_t j = 0; j < threads; j++)
            if (j != i && need[k][j] > have[j])
                return k;
        have[i]++;
    }
    return count;
}
