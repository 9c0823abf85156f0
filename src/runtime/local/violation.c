/*
 * Violations: the functions that the program wants called. How it ends then is in found/verdict.c.
 *
 * The functions are a list that only grows; a node is complete before the link to it is stored, so it is walked without
 * a lock. Guarantee: none is called inside the runtime, or while another runs in the same thread. Cost: nothing until a
 * property is violated.
 */
#include "runtime/local/violation.h"

#include <errno.h>

#pragma GCC visibility push(default)
#include "portent.h"
#pragma GCC visibility pop

#include "runtime/found/verdict.h"
#include "runtime/local/monitor.h"
#include "runtime/sys/log.h"
#include "runtime/sys/sys.h"

struct node {
    portent_callback callback;
    void *context;
    struct node *_Atomic next;
};

static struct {
    struct pt_spin lock;
    struct node *_Atomic first;
    struct node *_Atomic *last;
    struct node *room;
    uint32_t left; /* nodes in `room` */
} list = {.lock = PT_SPIN(PT_RANK_VIOLATION), .last = &list.first};

enum { ROOM = 4096 / sizeof(struct node) };

static void append(portent_callback callback, void *context)
{
    pt_spin_lock(&list.lock);
    if (!list.left) {
        list.room = pt_sys_reserve(ROOM * sizeof *list.room);
        list.left = list.room ? ROOM : 0;
    }
    if (list.left) {
        struct node *node = list.room++;
        list.left--;
        node->callback = callback;
        node->context = context;
        /* release: partner of the acquire in call_all */
        atomic_store_explicit(list.last, node, memory_order_release);
        list.last = &node->next;
    }
    pt_spin_unlock(&list.lock);
}

void __portent_on_violation(portent_callback callback, void *context)
{
    if (!callback)
        return;
    struct pt_thread *self = pt_thread_now();
    if (self)
        pt_thread_enter(self); /* a signal handler that also registers one must not find it locked */
    append(callback, context);
    if (self)
        pt_thread_leave(self);
}

static void halt(const char *property)
{
    struct pt_line what = {0};
    pt_line_text(&what, "property '");
    pt_line_text(&what, property);
    pt_line_text(&what, "' is violated");
    what.text[what.len] = 0;
    pt_verdict_halt(what.text);
}

/* The functions may also leave by longjmp: the stack tells whether one is still under way. */
static bool in_callback(const struct pt_thread *self)
{
    return self->local->callback_frame &&
           (uintptr_t)__builtin_frame_address(0) < (uintptr_t)self->local->callback_frame;
}

static void call_all(struct pt_thread *self, const char *property)
{
    int error = errno; /* the program has not called anything here */
    self->local->callback_frame = __builtin_frame_address(0);
    /* acquire: partner of the release in append */
    for (struct node *node = atomic_load_explicit(&list.first, memory_order_acquire); node;
         node = atomic_load_explicit(&node->next, memory_order_acquire))
        node->callback(node->context, property);
    self->local->callback_frame = NULL;
    errno = error;
    halt(property);
}

void pt_violation_attend(struct pt_thread *self)
{
    if (self->local->unprinted) { /* inside, because it takes memory; what is left then comes on leaving */
        pt_thread_enter(self);
        pt_report_print(self);
        self->shadow.attention |= PT_ATTEND_VIOLATION;
        pt_thread_leave(self);
        return;
    }
    while (self->local->violated_count) {
        const char *property = self->local->violated[0];
        self->local->violated_count--;
        for (uint32_t i = 0; i < self->local->violated_count; i++)
            self->local->violated[i] = self->local->violated[i + 1];
        call_all(self, property);
    }
}

void pt_violation_notify(struct pt_thread *self, const char *property)
{
    pt_verdict_count();
    if (in_callback(self))
        return;
    if (!self->shadow.busy) {
        call_all(self, property);
        return;
    }
    for (uint32_t i = 0; i < self->local->violated_count; i++)
        if (self->local->violated[i] == property)
            return;
    if (self->local->violated_count == PT_VIOLATED_MAX)
        return;
    self->local->violated[self->local->violated_count++] = property;
    self->shadow.attention |= PT_ATTEND_VIOLATION;
}

void pt_violation_forked(void)
{
    pt_spin_reset(&list.lock);
}
