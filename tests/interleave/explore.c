/*
 * Depth-first search over schedules (explore.h). A node of the path says, of one stop: what each actor would do next,
 * which may, which have been tried, and which need not be (the sleep set). Actors are the threads and, behind them,
 * their store buffers.
 *
 * All state lies in memory of its own, because the program's data is put back before each run. Cost: each run is done
 * from its beginning, so a run of n steps that branches at its last costs n again.
 */
#include "explore.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ACTORS = 2 * PT_INTERLEAVE_THREADS, DEPTH = 4096, TOUCHED = 4096, BUFFER = 64, STACK = 1 << 18 };

struct op {
    enum pt_interleave_kind kind;
    const volatile void *at;
};

struct node {
    struct op ops[ACTORS];
    unsigned enabled, asleep, tried; /* sets of actors */
    unsigned choice;
};

struct saw {
    const volatile void *at;
    uint64_t value;
    size_t bytes;
};

struct thread {
    ucontext_t context; /* to begin with, then: */
    jmp_buf jump;
    bool begun, ended;
    struct op next; /* what it stops before */
    struct saw saw; /* what it looked at last, or waits for */
    struct {
        volatile void *at;
        uint64_t value;
        size_t bytes;
    } buffer[BUFFER];
    unsigned buffered;
    unsigned char stack[STACK];
};

/* Who has read and written 8 bytes, in any run so far: sets of threads. */
struct touched {
    uintptr_t at; /* 0: none */
    unsigned readers, writers;
};

enum outcome { GOES_ON, DONE, CUT, AGAIN, FAULT };

static struct explorer {
    struct pt_interleave what;
    struct thread threads[PT_INTERLEAVE_THREADS];
    struct node path[DEPTH];
    unsigned depth, replay; /* of this run; of the path that it follows */
    int current;            /* the thread that runs; -1: none */
    enum outcome outcome;
    const char *fault;
    jmp_buf main;
    struct touched touched[TOUCHED];
    bool learned; /* in this run: something is shared that was not known to be */
    size_t data_bytes;
    unsigned char *data; /* as it was before the first run */
} * x;

extern char __data_start[], _end[];

/* --- what may happen next --- */

static bool is_buffer(unsigned actor)
{
    return actor >= PT_INTERLEAVE_THREADS;
}

static struct thread *thread_of(unsigned actor)
{
    return &x->threads[actor % PT_INTERLEAVE_THREADS];
}

static struct op op_of(unsigned actor)
{
    struct thread *thread = thread_of(actor);
    return is_buffer(actor) ? (struct op){PT_INTERLEAVE_WRITE, thread->buffer[0].at} : thread->next;
}

static bool has_changed(const struct saw *saw)
{
    return !saw->bytes || memcmp((const void *)saw->at, &saw->value, saw->bytes) != 0;
}

static bool is_enabled(unsigned actor)
{
    struct thread *thread = thread_of(actor);
    if (actor % PT_INTERLEAVE_THREADS >= x->what.threads)
        return false;
    if (is_buffer(actor))
        return thread->buffered;
    if (thread->ended)
        return false;
    if (thread->next.kind == PT_INTERLEAVE_UPDATE || thread->next.kind == PT_INTERLEAVE_FENCE ||
        thread->next.kind == PT_INTERLEAVE_BARRIER)
        return !thread->buffered;
    return thread->next.kind != PT_INTERLEAVE_WAIT || has_changed(&thread->saw);
}

static bool depend(const struct node *node, unsigned a, unsigned b)
{
    const struct op *p = &node->ops[a], *q = &node->ops[b];
    bool writes = p->kind == PT_INTERLEAVE_WRITE || p->kind == PT_INTERLEAVE_UPDATE || q->kind == PT_INTERLEAVE_WRITE ||
                  q->kind == PT_INTERLEAVE_UPDATE;
    if (p->kind == PT_INTERLEAVE_BARRIER || q->kind == PT_INTERLEAVE_BARRIER)
        return true;
    if (a % PT_INTERLEAVE_THREADS == b % PT_INTERLEAVE_THREADS &&
        (p->kind == PT_INTERLEAVE_FENCE || p->kind == PT_INTERLEAVE_UPDATE || q->kind == PT_INTERLEAVE_FENCE ||
         q->kind == PT_INTERLEAVE_UPDATE))
        return true;
    return a == b || (writes && p->at && q->at && (uintptr_t)p->at >> 3 == (uintptr_t)q->at >> 3);
}

static unsigned asleep_after(const struct node *node)
{
    unsigned left = 0;
    for (unsigned actor = 0; actor < ACTORS; actor++)
        if ((node->asleep | node->tried) >> actor & 1 && actor != node->choice && !depend(node, actor, node->choice))
            left |= 1u << actor;
    return x->what.all ? 0 : left;
}

static bool choose(struct node *node)
{
    unsigned left = node->enabled & ~node->asleep & ~node->tried;
    node->choice = left ? (unsigned)__builtin_ctz(left) : 0;
    return left;
}

/* --- what is shared --- */

static struct touched *touched_at(const volatile void *at)
{
    uintptr_t key = (uintptr_t)at >> 3;
    struct touched *entry = &x->touched[key * UINT64_C(0x9e3779b97f4a7c15) >> 52];
    while (entry->at && entry->at != key)
        entry = entry == &x->touched[TOUCHED - 1] ? x->touched : entry + 1;
    entry->at = key;
    return entry;
}

static bool is_shared(const struct touched *entry)
{
    unsigned both = entry->readers | entry->writers;
    return entry->writers && both & (both - 1);
}

static void touch(const struct op *op, unsigned actor)
{
    struct touched *entry = touched_at(op->at);
    bool before = is_shared(entry);
    *(op->kind == PT_INTERLEAVE_WRITE || op->kind == PT_INTERLEAVE_UPDATE ? &entry->writers : &entry->readers) |=
        1u << actor % PT_INTERLEAVE_THREADS;
    x->learned |= is_shared(entry) && !before;
}

/* Nobody else will ever do anything that depends on it: nothing is lost if it comes first. */
static bool is_private(const struct op *op)
{
    return op->kind == PT_INTERLEAVE_FENCE ||
           (op->kind != PT_INTERLEAVE_WAIT && op->kind != PT_INTERLEAVE_BARRIER && !is_shared(touched_at(op->at)));
}

/* --- one run --- */

static void flush_one(struct thread *thread)
{
    memcpy((void *)thread->buffer[0].at, &thread->buffer[0].value, thread->buffer[0].bytes);
    memmove(thread->buffer, thread->buffer + 1, --thread->buffered * sizeof *thread->buffer);
}

static enum outcome new_node(unsigned enabled)
{
    struct node *node = &x->path[x->depth];
    if (x->depth == DEPTH - 1) {
        x->fault = "a run has too many steps";
        return FAULT;
    }
    *node = (struct node){.enabled = enabled, .asleep = x->depth ? asleep_after(node - 1) : 0};
    for (unsigned actor = 0; actor < ACTORS; actor++)
        if (!is_buffer(actor) || thread_of(actor)->buffered)
            node->ops[actor] = op_of(actor);
    for (unsigned actor = 0; actor < ACTORS && !x->what.all; actor++)
        if (enabled >> actor & 1 && is_private(&node->ops[actor])) {
            node->enabled = 1u << actor;
            break;
        }
    x->replay = x->depth + 1;
    return choose(node) ? GOES_ON : CUT;
}

/* Lets buffers act until it is a thread's turn, whose number it returns; -1: the run is over. */
static int schedule(void)
{
    for (;;) {
        unsigned enabled = 0, ended = 0;
        for (unsigned actor = 0; actor < ACTORS; actor++)
            enabled |= (unsigned)is_enabled(actor) << actor;
        for (unsigned i = 0; i < x->what.threads; i++)
            ended += x->threads[i].ended;
        if (x->fault || !enabled) {
            if (!x->fault && ended < x->what.threads)
                x->fault = "deadlock";
            x->outcome = x->fault ? FAULT : DONE;
            return -1;
        }
        if (x->depth == x->replay && (x->outcome = new_node(enabled)) != GOES_ON)
            return -1;
        unsigned actor = x->path[x->depth].choice;
        touch(&x->path[x->depth++].ops[actor], actor);
        if (x->learned && !x->what.all) {
            x->outcome = AGAIN;
            return -1;
        }
        if (!is_buffer(actor))
            return (int)actor;
        flush_one(thread_of(actor));
    }
}

static void go_to(int next)
{
    struct thread *from = x->current >= 0 ? &x->threads[x->current] : NULL;
    if (next == x->current)
        return;
    x->current = next;
    if (next >= 0 && x->what.enter)
        x->what.enter((unsigned)next);
    if (_setjmp(from ? from->jump : x->main))
        return;
    if (next < 0)
        _longjmp(x->main, 1);
    if (x->threads[next].begun)
        _longjmp(x->threads[next].jump, 1);
    x->threads[next].begun = true;
    setcontext(&x->threads[next].context);
}

static void run_thread(int number)
{
    x->what.body[number]();
    x->threads[number].ended = true;
    /* threads run up to their first stop one after the other: then main goes on */
    go_to(x->outcome == GOES_ON && x->threads[number].next.at ? schedule() : -1);
    abort();
}

static void stop_at(enum pt_interleave_kind kind, const volatile void *at)
{
    static const char start[8];
    struct thread *self = &x->threads[x->current];
    bool first = !self->next.at;
    self->next = (struct op){kind, at ? at : start};
    go_to(first ? -1 : schedule());
}

static void start_thread(unsigned i)
{
    struct thread *thread = &x->threads[i];
    thread->begun = thread->ended = false;
    thread->buffered = 0;
    thread->next = (struct op){0};
    getcontext(&thread->context);
    thread->context.uc_stack.ss_sp = thread->stack;
    thread->context.uc_stack.ss_size = STACK;
    thread->context.uc_link = NULL;
    makecontext(&thread->context, (void (*)(void))run_thread, 1, (int)i);
    go_to((int)i);
}

static void start_threads(void)
{
    for (unsigned i = 0; i < x->what.threads; i++)
        start_thread(i);
}

static void run_once(void)
{
    memcpy(__data_start, x->data, x->data_bytes);
    if (x->what.begin)
        x->what.begin();
    x->depth = 0;
    x->learned = false;
    x->outcome = GOES_ON;
    x->current = -1;
    start_threads();
    go_to(schedule());
    const char *wrong = x->outcome == DONE && x->what.check ? x->what.check() : NULL;
    if (wrong)
        x->fault = wrong;
}

/* The next schedule; false: that was the last. */
static bool turn_back(void)
{
    while (x->replay) {
        struct node *node = &x->path[x->replay - 1];
        node->tried |= 1u << node->choice;
        if (choose(node))
            return true;
        x->replay--;
    }
    return false;
}

static void prepare(const struct pt_interleave *what)
{
    if (!x) {
        x = mmap(NULL, sizeof *x, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (x == MAP_FAILED)
            abort();
        x->data_bytes = (size_t)(_end - __data_start);
        x->data = mmap(NULL, x->data_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (x->data == MAP_FAILED)
            abort();
    }
    memcpy(x->data, __data_start, x->data_bytes);
    x->what = *what;
    x->replay = 0;
    x->fault = NULL;
    memset(x->touched, 0, sizeof x->touched);
}

struct pt_interleave_result pt_interleave(const struct pt_interleave *what)
{
    struct pt_interleave_result result = {0};
    prepare(what);
    do {
        run_once();
        if (x->outcome == AGAIN) { /* from the beginning, with what is known now */
            result = (struct pt_interleave_result){0};
            x->replay = 0;
            continue;
        }
        result.runs += x->outcome == DONE;
        result.cut += x->outcome == CUT;
        result.steps = x->depth > result.steps ? x->depth : result.steps;
        if (what->most && result.runs + result.cut > what->most)
            x->fault = "more runs than were to be";
    } while (!x->fault && (x->outcome == AGAIN || turn_back()));
    result.fault = x->fault;
    x->current = -1;
    memcpy(__data_start, x->data, x->data_bytes);
    return result;
}

void pt_interleave_fault(const char *why)
{
    if (!x->fault)
        x->fault = why;
}

/* --- the operations --- */

static bool is_outside(void)
{
    return !x || x->current < 0;
}

void pt_interleave_step(enum pt_interleave_kind kind, const volatile void *at)
{
    if (!is_outside())
        stop_at(kind, at);
}

void pt_interleave_saw(const volatile void *at, const void *value, size_t bytes)
{
    if (is_outside())
        return;
    struct saw *saw = &x->threads[x->current].saw;
    *saw = (struct saw){.at = at, .bytes = bytes < 8 ? bytes : 8};
    if (value)
        memcpy(&saw->value, value, saw->bytes);
}

void pt_interleave_load(const volatile void *at, void *value, size_t bytes)
{
    pt_interleave_step(PT_INTERLEAVE_READ, at);
    memcpy(value, (const void *)at, bytes);
    for (unsigned i = 0; !is_outside() && i < x->threads[x->current].buffered; i++)
        if (x->threads[x->current].buffer[i].at == at)
            memcpy(value, &x->threads[x->current].buffer[i].value, bytes);
    pt_interleave_saw(at, value, bytes);
}

void pt_interleave_store(volatile void *at, const void *value, size_t bytes)
{
    if (is_outside() || x->what.direct) {
        pt_interleave_step(PT_INTERLEAVE_WRITE, at);
        memcpy((void *)at, value, bytes);
        return;
    }
    struct thread *self = &x->threads[x->current];
    if (self->buffered == BUFFER)
        abort();
    self->buffer[self->buffered].at = at;
    self->buffer[self->buffered].bytes = bytes;
    memcpy(&self->buffer[self->buffered++].value, value, bytes);
}

void pt_interleave_pause(void)
{
    if (!is_outside())
        stop_at(PT_INTERLEAVE_WAIT, x->threads[x->current].saw.at);
}

void pt_interleave_barrier(void)
{
    pt_interleave_step(PT_INTERLEAVE_BARRIER, NULL);
    for (unsigned i = 0; !is_outside() && i < x->what.threads; i++)
        while (x->threads[i].buffered)
            flush_one(&x->threads[i]);
}

void pt_interleave_await(const volatile void *at, uint64_t seen, size_t bytes)
{
    if (is_outside())
        return;
    pt_interleave_saw(at, &seen, bytes);
    stop_at(PT_INTERLEAVE_WAIT, at);
}

/* Its own stack is nobody else's. */
static bool is_outside_stacks(const void *at)
{
    return (const char *)at < (const char *)x || (const char *)at >= (const char *)(x + 1);
}

void pt_interleave_copy(void *to, const void *from, size_t bytes)
{
    for (size_t done = 0, piece; done < bytes; done += piece) {
        unsigned char read[8];
        piece = bytes - done < 8 ? bytes - done : 8;
        if (is_outside_stacks(from))
            pt_interleave_step(PT_INTERLEAVE_READ, (const char *)from + done);
        memcpy(read, (const char *)from + done, piece);
        if (is_outside_stacks(to))
            pt_interleave_step(PT_INTERLEAVE_WRITE, (char *)to + done);
        memcpy((char *)to + done, read, piece);
    }
}
