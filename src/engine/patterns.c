/*
 * Order patterns without a lattice. Whether a property is one is seen from its monitor: the least automaton that is
 * equivalent to it is a chain, in which each state is left by the events of one label, for the next one, and every
 * other event leads back to it; the last is bad.
 *
 * Events e1 .. ed come in this order in some run if and only if for no i < j the j-th needs to come before the i-th, or
 * is it: adding the order of the tuple to the causal order then makes no cycle, since a cycle would have to lead back
 * somewhere. For labels whose events belong to one thread each, the earliest such tuple is found by elimination: an
 * event that has to come before an earlier one of the tuple does so for all later choices of that one too, and is
 * passed over for good. All ways to give labels to threads are tried.
 *
 * Guarantee: exact for the causal order; the witness is a shortest one, since the earliest tuple needs the fewest
 * events. It is checked against the clocks and by the monitor before it is shown. Cost: for each way to give d labels
 * to T threads (or lanes: order/order.h), of which there are T^d, time linear in d times the events; ways beyond WAYS
 * are not tried at all. Memory: a few words and a clock, shared with the lattice, for each event.
 */
#include "engine/patterns.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
    STATES = 64,  /* of a monitor that is looked at */
    EVENTS = 32,  /* of a property */
    LABELS = 8,   /* of a pattern */
    WAYS = 65536, /* to give labels to threads */
};

struct occurrence {
    struct pt_clock *clock;
    uint32_t thread, lane, event, object, loc;
    uint64_t line;
};

struct pt_order_pattern {
    struct pt_monitor *monitor;
    const struct pt_names *names;
    uint64_t before;         /* the count of a lane's first event, less 1 */
    uint32_t labels[LABELS]; /* events as bits */
    uint32_t length, event_count;
    struct occurrence *all;
    uint32_t count;
    size_t cap;
};

/* ---- what is a pattern ---- */

struct table {
    pt_mstate states[STATES];
    uint32_t count, events;
    uint8_t to[STATES][EVENTS]; /* STATES: bad */
    uint8_t class[STATES + 1];
};

static uint32_t number_of(struct table *t, pt_mstate state)
{
    if (state == PT_MSTATE_BAD)
        return STATES;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->states[i] == state)
            return i;
    if (t->count == STATES || state == PT_MSTATE_ERROR)
        return UINT32_MAX;
    t->states[t->count] = state;
    return t->count++;
}

static bool explore(struct table *t, struct pt_monitor *monitor)
{
    pt_letter letters[EVENTS] = {0}, none = pt_monitor_letter(monitor, NULL, PT_NONE);
    for (uint32_t e = 0; e < t->events; e++)
        letters[e] = pt_monitor_letter(monitor, NULL, e);
    if (number_of(t, pt_monitor_step(monitor, pt_monitor_start(monitor), none)) != 0)
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        for (uint32_t e = 0; e < t->events; e++) {
            uint32_t to = number_of(t, pt_monitor_step(monitor, t->states[i], letters[e]));
            if (to == UINT32_MAX)
                return false;
            t->to[i][e] = (uint8_t)to;
        }
    return true;
}

static bool differ(const struct table *t, uint32_t one, uint32_t other)
{
    for (uint32_t e = 0; e < t->events; e++)
        if (t->class[t->to[one][e]] != t->class[t->to[other][e]])
            return true;
    return false;
}

/* Classes of equivalent states, by refinement: 0 is bad, the others are split until their states agree. */
static void minimise(struct table *t)
{
    uint32_t classes = 2;
    memset(t->class, 1, t->count);
    t->class[STATES] = 0;
    for (bool changed = true; changed;) {
        uint8_t class[STATES + 1];
        changed = false;
        memcpy(class, t->class, sizeof class);
        for (uint32_t i = 0; i < t->count; i++) {
            uint32_t like = 0;
            while (like < i && (t->class[like] != t->class[i] || differ(t, like, i)))
                like++;
            uint32_t same = 0; /* the first of its old class keeps the number */
            while (t->class[same] != t->class[i])
                same++;
            if (like < i)
                class[i] = class[like];
            else if (same < i) {
                class[i] = (uint8_t)classes++;
                changed = true;
            }
        }
        memcpy(t->class, class, sizeof class);
    }
}

/* From the first state on, one label after the other. */
static bool read_chain(const struct table *t, struct pt_order_pattern *p)
{
    uint64_t passed = 0;
    for (uint32_t at = 0; at != STATES;) {
        uint32_t next = UINT32_MAX;
        if (p->length == LABELS || passed & UINT64_C(1) << at)
            return false;
        passed |= UINT64_C(1) << at;
        for (uint32_t e = 0; e < t->events; e++) {
            uint32_t to = t->to[at][e];
            if (t->class[to] == t->class[at])
                continue;
            if (next != UINT32_MAX && t->class[to] != t->class[next])
                return false;
            next = to;
            p->labels[p->length] |= UINT32_C(1) << e;
        }
        if (next == UINT32_MAX)
            return false;
        p->length++;
        at = next;
    }
    return true;
}

struct pt_order_pattern *pt_order_pattern_of(struct pt_monitor *monitor, const struct pt_names *names, uint64_t before)
{
    struct table t = {0};
    uint32_t vars;
    (void)pt_monitor_vars(monitor, &vars);
    (void)pt_monitor_events(monitor, &t.events);
    if (pt_monitor_is_module(monitor) || vars || !t.events || t.events > EVENTS)
        return NULL;
    struct pt_order_pattern *p = pt_xcalloc(1, sizeof *p);
    p->monitor = monitor;
    p->names = names;
    p->before = before;
    p->event_count = t.events;
    bool is_one = explore(&t, monitor);
    if (is_one)
        minimise(&t);
    if (is_one && read_chain(&t, p))
        return p;
    free(p);
    return NULL;
}

void pt_order_pattern_free(struct pt_order_pattern *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        pt_clock_unref(p->all[i].clock);
    free(p->all);
    free(p);
}

void pt_order_pattern_event(struct pt_order_pattern *p, const struct pt_event *event, uint32_t lane,
                            uint32_t user_event, struct pt_clock *clock)
{
    struct occurrence new = {pt_clock_ref(clock), event->thread, lane,       user_event,
                             event->object,       event->loc,    event->line};
    PT_PUSH(p->all, p->count, p->cap, new);
}

/* ---- elimination ---- */

struct search {
    const struct pt_order_pattern *p;
    struct threads {
        uint32_t *ids;
        uint32_t count;
    } all, of[LABELS];    /* those with events at all, and with events of a label */
    uint32_t way[LABELS]; /* the thread of each label */
    uint32_t at[LABELS];  /* its event; p->count: none is left */
    uint32_t best[LABELS];
    uint64_t best_size; /* UINT64_MAX: none was found */
};

static uint32_t next_of(const struct search *s, uint32_t label, uint32_t from)
{
    const struct pt_order_pattern *p = s->p;
    while (from < p->count && (p->all[from].lane != s->way[label] || !(p->labels[label] >> p->all[from].event & 1)))
        from++;
    return from;
}

/* Whether event j needs to come before event i, or is it. */
static bool precedes(const struct pt_order_pattern *p, uint32_t j, uint32_t i)
{
    uint32_t lane = p->all[j].lane;
    return pt_clock_get(p->all[i].clock, lane) >= pt_clock_get(p->all[j].clock, lane);
}

static bool eliminate(struct search *s)
{
    uint32_t length = s->p->length;
    for (uint32_t i = 0; i < length; i++)
        s->at[i] = next_of(s, i, 0);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = 0; j < length; j++) {
            for (uint32_t i = 0; i < j; i++)
                while (s->at[j] < s->p->count && precedes(s->p, s->at[j], s->at[i])) {
                    s->at[j] = next_of(s, j, s->at[j] + 1);
                    changed = true;
                }
            if (s->at[j] == s->p->count)
                return false;
        }
    }
    return true;
}

/* How many events come no later than those of the tuple. */
static uint64_t size_of(const struct search *s)
{
    uint64_t size = 0;
    for (uint32_t t = 0; t < s->all.count; t++) {
        uint64_t most = 0;
        for (uint32_t i = 0; i < s->p->length; i++) {
            uint64_t at = pt_clock_get(s->p->all[s->at[i]].clock, s->all.ids[t]);
            most = at > most ? at : most;
        }
        size += most > s->p->before ? most - s->p->before : 0;
    }
    return size;
}

/* All ways. */
static void search(struct search *s, uint64_t ways)
{
    for (uint64_t way = 0; way < ways; way++) {
        uint64_t left = way;
        for (uint32_t i = 0; i < s->p->length; i++) {
            uint32_t count = s->of[i].count ? s->of[i].count : 1; /* there are no ways otherwise */
            s->way[i] = s->of[i].ids[left % count];
            left /= count;
        }
        if (!eliminate(s) || size_of(s) >= s->best_size)
            continue;
        s->best_size = size_of(s);
        memcpy(s->best, s->at, sizeof s->best);
    }
}

static struct threads list_threads(const struct pt_order_pattern *p, uint32_t label)
{
    struct threads threads = {.ids = pt_xmalloc(((size_t)p->count + 1) * sizeof *threads.ids)};
    for (uint32_t i = 0; i < p->count; i++)
        if (label >> p->all[i].event & 1)
            threads.ids[threads.count++] = p->all[i].lane;
    threads.count = pt_sort_distinct(threads.ids, threads.count);
    return threads;
}

/* Returns how many ways there are to give the labels to threads. */
static uint64_t begin(struct search *s, const struct pt_order_pattern *p)
{
    uint64_t ways = 1;
    *s = (struct search){.p = p, .all = list_threads(p, UINT32_MAX), .best_size = UINT64_MAX};
    for (uint32_t i = 0; i < p->length; i++) {
        s->of[i] = list_threads(p, p->labels[i]);
        ways = ways > WAYS ? ways : ways * s->of[i].count;
    }
    return ways;
}

static void end(struct search *s)
{
    free(s->all.ids);
    for (uint32_t i = 0; i < s->p->length; i++)
        free(s->of[i].ids);
}

/* ---- the witness ---- */

/* What the tuple's events need, one after the other: indices into `all`. */
static uint32_t *line_up(const struct search *s)
{
    const struct pt_order_pattern *p = s->p;
    uint32_t *run = pt_xmalloc((s->best_size + 1) * sizeof *run), count = 0;
    bool *taken = pt_xcalloc((size_t)p->count + 1, sizeof *taken);
    for (uint32_t i = 0; i < p->length; i++) {
        for (uint32_t k = 0; k < p->count; k++) /* its own comes last, since it needs all of them */
            if (!taken[k] && precedes(p, k, s->best[i]) && k != s->best[i] && count < s->best_size) {
                taken[k] = true;
                run[count++] = k;
            }
        taken[s->best[i]] = true;
        if (count < s->best_size)
            run[count++] = s->best[i];
    }
    free(taken);
    return run;
}

/* By the clocks and the monitor alone: every event comes after all that it needs, and the last one is the first that is
 * bad. */
static bool is_witness(const struct pt_order_pattern *p, const uint32_t *run, uint64_t count)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < p->count; i++)
        lanes = p->all[i].lane >= lanes ? p->all[i].lane + 1 : lanes;
    uint64_t *have = pt_xmalloc(((size_t)lanes + 1) * sizeof *have);
    for (uint32_t t = 0; t < lanes; t++)
        have[t] = p->before;
    pt_mstate state = pt_monitor_start(p->monitor);
    state = pt_monitor_step(p->monitor, state, pt_monitor_letter(p->monitor, NULL, PT_NONE));
    bool legal = true;
    for (uint64_t i = 0; i < count && legal; i++) {
        const struct occurrence *e = &p->all[run[i]];
        legal = state != PT_MSTATE_BAD && pt_clock_get(e->clock, e->lane) == ++have[e->lane];
        for (uint32_t t = 0; t < lanes; t++)
            legal = legal && pt_clock_get(e->clock, t) <= have[t];
        if (legal)
            state = pt_monitor_step(p->monitor, state, pt_monitor_letter(p->monitor, NULL, e->event));
    }
    free(have);
    return legal && state == PT_MSTATE_BAD;
}

/* The recorded run. */
static bool is_observed(const struct pt_order_pattern *p)
{
    uint32_t label = 0;
    for (uint32_t i = 0; i < p->count && label < p->length; i++)
        label += p->labels[label] >> p->all[i].event & 1;
    return label == p->length;
}

static struct pt_step step_of(const struct pt_order_pattern *p, uint32_t index)
{
    const struct occurrence *e = &p->all[index];
    return (struct pt_step){.thread = pt_name(p->names, PT_SPACE_THREAD, e->thread),
                            .op = pt_op_word(PT_OP_EVENT),
                            .object = pt_name(p->names, PT_SPACE_EVENT, e->object),
                            .loc = pt_name(p->names, PT_SPACE_LOC, e->loc),
                            .number = index + 1,
                            .line = e->line,
                            .var = PT_NONE};
}

static int by_number(const void *a, const void *b)
{
    const struct pt_step *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* What the lattice has said of the recorded run, where it came no further. */
static void clear(struct pt_finding *f)
{
    f->witness_lost = false;
    f->witness_from = 0;
    f->actual_count = f->move_count = f->switches = f->truth_count = f->thread_count = f->from_count = 0;
    f->threads = NULL;
    f->witness_truths = f->actual_truths = NULL;
    f->view = NULL;
}

static void fill(const struct pt_order_pattern *p, struct pt_finding *f, const uint32_t *run, uint32_t count)
{
    f->verdict = PT_VERDICT_VIOLATED;
    f->how = is_observed(p) ? PT_HOW_OBSERVED : PT_HOW_PREDICTED;
    clear(f);
    f->witness_count = count;
    f->witness = pt_arena_alloc(&f->arena, ((size_t)count + 1) * sizeof *f->witness);
    f->observed = pt_arena_alloc(&f->arena, ((size_t)count + 1) * sizeof *f->observed);
    for (uint32_t i = 0; i < count; i++) {
        f->witness[i] = step_of(p, run[i]);
        f->switches += i > 0 && p->all[run[i]].thread != p->all[run[i - 1]].thread;
        f->actual_count = run[i] >= f->actual_count ? run[i] + 1 : f->actual_count;
    }
    memcpy(f->observed, f->witness, count * sizeof *f->observed);
    qsort(f->observed, count, sizeof *f->observed, by_number);
    f->actual = pt_arena_alloc(&f->arena, ((size_t)f->actual_count + 1) * sizeof *f->actual);
    for (uint32_t i = 0; i < f->actual_count; i++)
        f->actual[i] = step_of(p, i);
}

bool pt_order_pattern_can(const struct pt_order_pattern *p)
{
    struct search s;
    uint64_t ways = begin(&s, p);
    end(&s);
    return ways <= WAYS;
}

void pt_order_pattern_finish(struct pt_order_pattern *p, struct pt_finding *f)
{
    struct search s;
    uint64_t ways = begin(&s, p);
    search(&s, ways);
    end(&s);
    bool found = s.best_size != UINT64_MAX;
    uint32_t *run = found ? line_up(&s) : NULL;
    if (found && !is_witness(p, run, s.best_size)) {
        f->message = "a run could not be replayed, which is a mistake of Portent's own";
        free(run);
        return;
    }
    if (found) {
        fill(p, f, run, (uint32_t)s.best_size);
    } else {
        f->verdict = PT_VERDICT_HOLDS;
        f->how = PT_HOW_NONE;
    }
    free(run);
    f->complete = true;
    f->message = "an order pattern, which was answered for all runs without exploring them";
}
