/*
 * What keeps the events of a recorded run where they are, in numbers: reads that must see what another thread wrote,
 * and sections of locks that must follow another thread's because of such a read inside. The rest of what was recorded
 * is order that came about by chance, and the searches of this folder try the others.
 *
 * Guarantee. A read is counted as pinned only if in every possible run of the order a write of another thread comes
 * before it: in `sync` the one that it saw, in `values` one of its value, where neither the variable's first value nor
 * an earlier write of its own thread is the same. A section is counted if a pinned read in it saw a write that was made
 * with the same lock. Variables that one thread accesses, or nobody writes, and locks of one thread do not count.
 * Cost: one pass over the recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/wide/wide_impl.h"

enum { LOCKS = 8 }; /* that are remembered of a write */

struct open {
    uint32_t lock;
    bool pinned;
};

struct pinned_thread {
    struct open *open;
    uint32_t open_count;
    size_t open_cap;
};

/* A variable or a lock. */
struct counted {
    uint64_t all, pinned;
    uint32_t thread; /* of its first use, plus 1 */
    bool shared, written;
    uint32_t locks[LOCKS]; /* of a variable: that its last write was made with */
    uint32_t lock_count;
};

struct pinning {
    struct pt_wide_log *log;
    enum pt_possible order;
    struct pinned_thread *threads;
    struct counted *vars, *locks;
    size_t thread_cap, var_cap, lock_cap;
    struct pt_strtab own; /* a thread, a variable and a value that it has written there */
    uint64_t unknown;     /* reads without a value */
};

static void use(struct counted *c, uint32_t thread)
{
    if (!c->thread)
        c->thread = thread + 1;
    c->shared |= c->thread != thread + 1;
}

static uint32_t own_value(struct pinning *p, const struct pt_recorded *e, uint32_t value, bool add)
{
    const uint32_t key[] = {e->thread, e->object, value};
    return add ? pt_strtab_intern(&p->own, (const char *)key, sizeof key)
               : pt_strtab_find(&p->own, (const char *)key, sizeof key);
}

static bool is_initial(struct pinning *p, const struct pt_recorded *e, uint32_t value)
{
    struct pt_value first = e->object < p->log->initial_cap ? p->log->initial[e->object] : pt_value_int(0);
    return wide_value_id(p->log, first) == value;
}

static bool is_pinned(struct pinning *p, uint32_t place)
{
    const struct pt_wide_log *log = p->log;
    const struct pt_recorded *e = &log->events[place];
    uint32_t writer = log->writer[place], value = log->values[place];
    if (!writer || log->events[writer - 1].thread == e->thread)
        return false; /* the recorded run itself has it otherwise */
    bool tied = p->order != PT_POSSIBLE_VALUES || e->op != PT_OP_READ || e->partial || !value ||
                value != log->values[writer - 1];
    return tied || (!is_initial(p, e, value) && own_value(p, e, value, false) == PT_NONE);
}

/* The sections that the read's thread is in, of locks that the write was made with. */
static void pin_sections(struct pinning *p, struct pinned_thread *t, const struct counted *var)
{
    for (uint32_t i = 0; i < t->open_count; i++)
        for (uint32_t k = 0; k < var->lock_count && !t->open[i].pinned; k++) {
            t->open[i].pinned = t->open[i].lock == var->locks[k];
            p->locks[t->open[i].lock].pinned += t->open[i].pinned;
        }
}

static void take_access(struct pinning *p, uint32_t place)
{
    const struct pt_recorded *e = &p->log->events[place];
    PT_ROOM(p->vars, p->var_cap, e->object);
    PT_ROOM(p->threads, p->thread_cap, e->thread);
    struct counted *var = &p->vars[e->object];
    struct pinned_thread *t = &p->threads[e->thread];
    use(var, e->thread);
    if (pt_op_reads(e->op)) {
        bool pinned = is_pinned(p, place);
        var->all++;
        var->pinned += pinned;
        p->unknown += !p->log->values[place] && e->op == PT_OP_READ && !e->partial;
        if (pinned)
            pin_sections(p, t, var);
    }
    if (!pt_op_writes(e->op))
        return;
    var->written = true;
    var->lock_count = 0;
    for (uint32_t i = 0; i < t->open_count && i < LOCKS; i++)
        var->locks[var->lock_count++] = t->open[i].lock;
    (void)own_value(p, e, p->log->values[place], true);
}

static void take_lock(struct pinning *p, uint32_t place)
{
    const struct pt_recorded *e = &p->log->events[place];
    PT_ROOM(p->locks, p->lock_cap, e->object);
    PT_ROOM(p->threads, p->thread_cap, e->thread);
    struct pinned_thread *t = &p->threads[e->thread];
    use(&p->locks[e->object], e->thread);
    if (p->log->inner[place])
        return;
    if (pt_op_locks(e->op)) {
        PT_PUSH(t->open, t->open_count, t->open_cap, ((struct open){e->object, false}));
        p->locks[e->object].all++;
        return;
    }
    uint32_t at = t->open_count;
    while (at > 0 && t->open[at - 1].lock != e->object)
        at--;
    if (at == 0)
        return;
    memmove(t->open + at - 1, t->open + at, (t->open_count - at) * sizeof *t->open);
    t->open_count--;
}

static void sum_up(const struct pinning *p, struct pt_pinned *sum)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < p->var_cap; i++) {
        const struct counted *var = &p->vars[i];
        if (!var->shared || !var->written)
            continue;
        sum->of_reads += var->all;
        sum->reads += var->pinned;
        if (var->pinned > most) {
            most = var->pinned;
            sum->most = pt_name(p->log->names, PT_SPACE_VAR, i);
        }
    }
    for (uint32_t i = 0; i < p->lock_cap; i++) {
        if (!p->locks[i].shared)
            continue;
        sum->of_sections += p->locks[i].all;
        sum->sections += p->locks[i].pinned;
    }
    sum->most_reads = most;
    sum->unknown = p->unknown;
    sum->counted = true;
}

static void count(struct pt_wide_log *log, enum pt_possible order, struct pt_pinned *ret_pinned)
{
    struct pinning p = {.log = log, .order = order};
    *ret_pinned = (struct pt_pinned){0};
    wide_log_link(log);
    pt_strtab_init(&p.own);
    for (uint32_t place = 0; place < log->count; place++) {
        enum pt_op op = log->events[place].op;
        if (pt_op_space(op) == PT_SPACE_VAR && pt_op_accesses(op))
            take_access(&p, place);
        else if (pt_op_locks(op) || pt_op_unlocks(op))
            take_lock(&p, place);
    }
    sum_up(&p, ret_pinned);
    for (size_t i = 0; i < p.thread_cap; i++)
        free(p.threads[i].open);
    free(p.threads);
    free(p.vars);
    free(p.locks);
    pt_strtab_release(&p.own);
}

/* The one thing that would show more than was explored. Why a search was refused says that already (`wider`). */
static void put_widen(const struct pt_finding *f, bool asked, char *text, size_t size)
{
    const struct pt_pinned *pinned = &f->pinned;
    if (!f->complete)
        snprintf(text, size,
                 "explore without a window: 'check', of a recording that has all events ('run --record-all -o FILE')");
    else if (!asked)
        snprintf(text, size, "explore wider orders ('check --order auto', of a recording made with --record-all)");
    else if (f->wider)
        snprintf(text, size, "give the search more than it had (--effort, --memory-limit)");
    else if (strcmp(f->order, "values") != 0)
        snprintf(text, size, "explore a wider order (--order values)");
    else if (pinned->unknown && pinned->unknown >= pinned->reads / 2)
        snprintf(text, size,
                 "record the values of reads, which %" PRIu64 " of this trace lack ('run --record-all -o FILE')",
                 pinned->unknown);
    else if (pinned->most)
        snprintf(text, size,
                 "run the program in other orders ('run --delay'): only in another run reads return something else, "
                 "those of '%.100s' above all (%" PRIu64 " of them are pinned)",
                 pinned->most, pinned->most_reads);
}

void pt_wide_describe(struct pt_wide_log *log, struct pt_finding *f)
{
    char text[300] = "";
    bool refused = log && log->refuses, values = f->order && strcmp(f->order, "values") == 0;
    if (f->verdict != PT_VERDICT_HOLDS || !f->monitorable)
        return;
    if (log && !refused)
        count(log, values ? PT_POSSIBLE_VALUES : PT_POSSIBLE_SYNC, &f->pinned);
    if (f->pinned.most)
        f->pinned.most = pt_arena_strndup(&f->arena, f->pinned.most, strlen(f->pinned.most));
    if (!refused)
        put_widen(f, log != NULL, text, sizeof text);
    f->widen = text[0] ? pt_arena_strndup(&f->arena, text, strlen(text)) : NULL;
}
