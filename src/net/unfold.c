/*
 * The unfolder: a complete finite prefix of a 1-safe net's branching process.
 *
 * Events are added in the total adequate order of Esparza, Römer and Vogler (unfold_order.c). An event is a cut-off,
 * and nothing is added behind it, when an earlier event's local configuration reaches the same marking. By their
 * theorem the prefix then represents every reachable marking, and every transition enabled there has an event in it,
 * cut-offs included. So a goal transition that can ever fire is found, and a shortest local configuration for it first.
 *
 * With `restart`, an earlier marking is also good enough if it is this one but for a token that nothing can consume,
 * and has a token elsewhere instead. Then every extension of the later configuration has a copy behind the earlier one,
 * which is all that the proof asks of cut-offs when the question is whether a transition can fire; the copy comes
 * earlier in the order, too, since configurations of the same transitions reach the same marking, and otherwise their
 * sizes or transitions decide. Not every marking is represented then.
 *
 * Colours are not flattened into the net (a writer over n reader places would have 3^n variants): the plain net is
 * unfolded and a condition is labelled with the colour that its producer's history gives it. The labelled net is as
 * good as one whose places are the pairs (place, label), so the theorem holds with markings compared label by label;
 * labels of coloured tokens include the guessed block, since its `end` is what stops the run.
 *
 * Concurrency is kept per event (unfold_co.c). Markings are compared by a 64-bit sum of hashes first and exactly on a
 * hit, so a collision can cost a cut-off but not a wrong answer. Deterministic: the same net gives the same prefix.
 *
 * Cost: events times (events so far + size of their local configurations) in time, events times conditions bits.
 */
#include "net/unfold.h"

#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

uint32_t pt_unfold_visit(struct unfolder *un, const uint32_t *conditions, uint32_t count)
{
    const struct pt_unfolding *u = un->u;
    uint32_t top = 0, found = 0, now = ++un->now;
    uint32_t previous = 0; /* event 0 is never visited */
    for (;;) {
        for (uint32_t i = 0; i < count; i++) {
            uint32_t event = u->condition_event[conditions[i]];
            if (event == previous || event == 0 || un->event_stamp[event] == now)
                continue;
            previous = event;
            un->event_stamp[event] = now;
            un->history[found++] = event;
            un->stack[top++] = event;
        }
        if (top == 0)
            return found;
        const struct pt_unfold_event *e = &u->events[un->stack[--top]];
        conditions = u->pre + e->pre_start;
        count = un->net->transitions[e->transition].pre_count;
    }
}

void pt_unfold_put(struct unfolder *un, const struct candidate *candidate, const uint32_t *conditions)
{
    uint32_t pre_count = un->net->transitions[candidate->transition].pre_count, size = candidate->size;
    if (size >= un->bucket_count) {
        PT_GROW(un->buckets, un->bucket_cap, (size_t)size + 1);
        memset(un->buckets + un->bucket_count, 0, (size + 1 - un->bucket_count) * sizeof *un->buckets);
        un->bucket_count = size + 1;
    }
    struct bucket *bucket = &un->buckets[size];
    struct candidate added = *candidate;
    added.pre = bucket->word_count;
    PT_GROW(bucket->words, bucket->word_cap, (size_t)bucket->word_count + pre_count);
    memcpy(bucket->words + added.pre, conditions, pre_count * sizeof *conditions);
    bucket->word_count += pre_count;
    un->bytes += pre_count * sizeof *conditions + sizeof added;
    PT_PUSH(bucket->items, bucket->count, bucket->cap, added);
}

static void drop_bucket(struct unfolder *un, struct bucket *bucket)
{
    un->bytes -= bucket->word_count * sizeof *bucket->words + bucket->count * sizeof *bucket->items;
    free(bucket->items);
    free(bucket->words);
    *bucket = (struct bucket){0};
}

static void add_condition(struct unfolder *un, uint32_t place, uint32_t event)
{
    struct pt_unfolding *u = un->u;
    uint32_t condition = u->condition_count;
    PT_GROW(u->condition_event, u->condition_event_cap, (size_t)condition + 1);
    PT_GROW(un->older, un->older_cap, (size_t)condition + 1);
    PT_PUSH(u->condition_place, u->condition_count, u->condition_cap, place);
    u->condition_event[condition] = event;
    un->older[condition] = un->newest[place];
    un->newest[place] = condition;
    un->bytes += 4 * sizeof condition;
}

/* The label of what an event makes at a place, as one number. */
static uint64_t label(const struct unfolder *un, uint32_t place, uint8_t colour, uint32_t tag)
{
    return un->options->coloured && colour ? ((uint64_t)tag * 4 + colour) << 32 | place : place;
}

static int compare_labels(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void grow_condition_stamps(struct unfolder *un)
{
    size_t before = un->condition_stamp_cap;
    PT_GROW(un->condition_stamp, un->condition_stamp_cap, un->u->condition_cap);
    memset(un->condition_stamp + before, 0, (un->condition_stamp_cap - before) * sizeof *un->condition_stamp);
}

/* The sorted marking that an event's local configuration reaches; its preset and own labels are given, for a candidate
 * is not among the events yet. */
static uint64_t *make_marking(struct unfolder *un, const uint32_t *pre, uint32_t transition, uint8_t colour,
                              uint32_t tag, uint32_t *ret_count)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_net_transition *own = &un->net->transitions[transition];
    uint32_t n = pt_unfold_visit(un, pre, own->pre_count), now = un->now;
    size_t most = (size_t)u->initial_count + own->post_count;
    grow_condition_stamps(un);
    for (uint32_t i = 0; i < own->pre_count; i++)
        un->condition_stamp[pre[i]] = now;
    for (uint32_t k = 0; k < n; k++) {
        const struct pt_unfold_event *e = &u->events[un->history[k]];
        const struct pt_net_transition *t = &un->net->transitions[e->transition];
        for (uint32_t i = 0; i < t->pre_count; i++)
            un->condition_stamp[u->pre[e->pre_start + i]] = now;
        most += t->post_count;
    }
    uint64_t *marking = pt_xmalloc(most * sizeof *marking);
    uint32_t count = 0;
    for (uint32_t i = 0; i < own->post_count; i++)
        marking[count++] = label(un, pt_net_post(un->net, transition)[i], colour, tag);
    for (uint32_t k = 0; k <= n; k++) { /* the last turn is event 0's */
        const struct pt_unfold_event *e = &u->events[k < n ? un->history[k] : 0];
        uint32_t made = k < n ? un->net->transitions[e->transition].post_count : u->initial_count;
        for (uint32_t c = e->post_start; c < e->post_start + made; c++) {
            if (un->condition_stamp[c] != now)
                marking[count++] = label(un, u->condition_place[c], e->colour, e->tag);
        }
    }
    qsort(marking, count, sizeof *marking, compare_labels);
    *ret_count = count;
    return marking;
}

/* Whether event `other` (0: the initial one) reaches this sorted marking. */
static bool reaches(struct unfolder *un, uint32_t other, const uint64_t *marking, uint32_t count)
{
    const struct pt_unfolding *u = un->u;
    uint32_t other_count;
    uint64_t *theirs;
    if (other == 0) {
        other_count = u->initial_count;
        theirs = pt_xmalloc(other_count * sizeof *theirs);
        for (uint32_t i = 0; i < other_count; i++)
            theirs[i] = u->condition_place[i];
        qsort(theirs, other_count, sizeof *theirs, compare_labels);
    } else {
        const struct pt_unfold_event *e = &u->events[other];
        theirs = make_marking(un, u->pre + e->pre_start, e->transition, e->colour, e->tag, &other_count);
    }
    bool same = count == other_count && memcmp(marking, theirs, count * sizeof *marking) == 0;
    free(theirs);
    return same;
}

/* Whether the marking is reached by an earlier event, but for one token that could do more there. */
static bool is_covered(struct unfolder *un, const struct candidate *c, const uint64_t *marking, uint32_t count)
{
    uint64_t *better = pt_xmalloc(count * sizeof *better);
    bool covered = false;
    for (uint32_t i = 0; i < count && !covered; i++) {
        uint32_t place = (uint32_t)marking[i], restart = un->options->restart[place];
        if (restart == PT_NONE)
            continue;
        uint64_t hash = c->marking - pt_unfold_label_hash(un, place, PT_ACHROMATIC, PT_NONE) +
                        pt_unfold_label_hash(un, restart, PT_ACHROMATIC, PT_NONE);
        uint32_t known = pt_map64_get(&un->markings, hash);
        if (known == PT_NONE)
            continue;
        memcpy(better, marking, count * sizeof *better);
        better[i] = restart;
        qsort(better, count, sizeof *better, compare_labels);
        covered = reaches(un, known, better, count);
    }
    free(better);
    return covered;
}

/* A cut-off's marking has been reached or covered by an earlier event; otherwise the event is remembered for later
 * ones. */
static bool is_cutoff(struct unfolder *un, const uint32_t *pre, const struct candidate *c, uint32_t event)
{
    uint32_t known = pt_map64_get(&un->markings, c->marking), count;
    if (known == PT_NONE && !un->options->restart) {
        *pt_map64_at(&un->markings, c->marking) = event;
        return false;
    }
    uint64_t *marking = make_marking(un, pre, c->transition, c->colour, c->tag, &count);
    bool cutoff = known != PT_NONE ? reaches(un, known, marking, count) : is_covered(un, c, marking, count);
    if (known == PT_NONE && !cutoff)
        *pt_map64_at(&un->markings, c->marking) = event;
    free(marking);
    return cutoff;
}

static enum pt_status unsafe(const struct unfolder *un, uint32_t transition, uint32_t place, struct pt_err *err)
{
    const char *t = un->net->transitions[transition].name, *p = un->net->places[place].name;
    return pt_err_set(err, PT_EINPUT, "the net is not 1-safe: transition '%s' can put a second token on place '%s'",
                      t ? t : "?", p ? p : "?");
}

/* Whether firing the event can put a token on a place that has one: some condition there is concurrent with it. */
static enum pt_status check_safe(const struct unfolder *un, uint32_t transition, const uint64_t *co, struct pt_err *err)
{
    const uint32_t *post = pt_net_post(un->net, transition);
    for (uint32_t i = 0; i < un->net->transitions[transition].post_count; i++) {
        for (uint32_t c = un->newest[post[i]]; c != PT_NONE; c = un->older[c]) {
            if (co[c / 64] >> (c % 64) & 1) {
                un->u->unsafe_transition = transition;
                return unsafe(un, transition, post[i], err);
            }
        }
    }
    return PT_OK;
}

static uint32_t add_event(struct unfolder *un, const struct candidate *c, const uint32_t *pre)
{
    struct pt_unfolding *u = un->u;
    uint32_t pre_count = un->net->transitions[c->transition].pre_count;
    struct pt_unfold_event e = {.transition = c->transition,
                                .pre_start = u->pre_count,
                                .post_start = u->condition_count,
                                .size = c->size,
                                .depth = c->depth,
                                .tag = c->tag,
                                .colour = c->colour,
                                .marking = c->marking,
                                .delta = c->delta};
    PT_GROW(u->pre, u->pre_cap, (size_t)u->pre_count + pre_count);
    memcpy(u->pre + u->pre_count, pre, pre_count * sizeof *pre);
    u->pre_count += pre_count;
    PT_PUSH(u->events, u->event_count, u->event_cap, e);
    PT_GROW(un->event_stamp, un->event_stamp_cap, u->event_cap);
    PT_GROW(un->stack, un->stack_cap, u->event_cap);
    PT_GROW(un->history, un->history_cap, u->event_cap);
    un->event_stamp[u->event_count - 1] = 0;
    u->condition_total += un->net->transitions[c->transition].post_count;
    un->bytes += sizeof e + (pre_count + 3) * sizeof *pre;
    return u->event_count - 1;
}

static void note_violation(struct unfolder *un, uint32_t event)
{
    struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    uint32_t block = e->tag == PT_NONE ? 0 : e->tag; /* a question about a plain net is block 0 */
    struct pt_unfold_violation violation = {block, event};
    PT_PUSH(u->violations, u->violation_count, u->violation_cap, violation);
    if (!un->done[block] && !un->options->all) {
        un->done[block] = true;
        un->open_blocks--;
    }
}

/* Takes a candidate into the prefix. */
static enum pt_status take(struct unfolder *un, const struct candidate *c, const uint32_t *pre, struct pt_err *err)
{
    struct pt_unfolding *u = un->u;
    const struct pt_net_transition *t = &un->net->transitions[c->transition];
    if (un->options->drop_settled && c->tag != PT_NONE && un->done[c->tag])
        return PT_OK;
    bool cutoff = !c->goal && is_cutoff(un, pre, c, u->event_count), last = cutoff || c->goal;
    size_t words = 0;
    uint64_t *co = !last || un->options->check_safe ? pt_unfold_co(un, pre, t->pre_count, &words) : NULL;
    enum pt_status status = un->options->check_safe ? check_safe(un, c->transition, co, err) : PT_OK;
    if (status != PT_OK) {
        free(co);
        return status;
    }
    uint32_t event = add_event(un, c, pre);
    u->events[event].cutoff = cutoff;
    u->cutoff_count += cutoff;
    if (c->goal)
        note_violation(un, event);
    if (last) {
        free(co);
        return PT_OK;
    }
    u->events[event].co = co;
    un->bytes += words * sizeof *co;
    for (uint32_t i = 0; i < t->post_count; i++)
        add_condition(un, pt_net_post(un->net, c->transition)[i], event);
    pt_unfold_extend(un, event);
    return PT_OK;
}

enum { REPORT_EVERY = 1024 }; /* events */

/* Whether a limit has been reached; says which. Reports how far the work has come. */
static bool limited(struct unfolder *un)
{
    const struct pt_unfold_options *o = un->options;
    struct pt_unfolding *u = un->u;
    if (un->bytes > u->peak_bytes)
        u->peak_bytes = un->bytes;
    if (o->progress && u->event_count % REPORT_EVERY == 0)
        o->progress(o->progress_context, u->event_count);
    if (o->event_limit && u->event_count - 1 >= o->event_limit) {
        (void)pt_err_set(&u->limit, PT_ELIMIT, "the limit of %llu events was reached",
                         (unsigned long long)o->event_limit);
        return true;
    }
    if (o->memory_limit && un->bytes > o->memory_limit) {
        (void)pt_err_set(&u->limit, PT_ELIMIT, "the memory limit of %llu bytes was reached",
                         (unsigned long long)o->memory_limit);
        return true;
    }
    return false;
}

static enum pt_status run(struct unfolder *un, struct pt_err *err)
{
    pt_unfold_extend(un, 0);
    for (uint32_t size = 1; size < un->bucket_count; size++) {
        pt_unfold_sort(un, &un->buckets[size]);
        for (uint32_t i = 0; i < un->buckets[size].count; i++) {
            if (un->open_blocks == 0 || limited(un))
                return PT_OK;
            const struct bucket *bucket = &un->buckets[size]; /* extending may move the buckets */
            enum pt_status status = take(un, &bucket->items[i], bucket->words + bucket->items[i].pre, err);
            if (status != PT_OK)
                return status;
        }
        drop_bucket(un, &un->buckets[size]);
    }
    return PT_OK;
}

/* By place, the transitions that consume from it. */
static void index_consumers(struct unfolder *un)
{
    const struct pt_net *net = un->net;
    uint32_t *start = un->consumer_start = pt_xcalloc((size_t)net->place_count + 2, sizeof *start);
    un->consumers = pt_xmalloc((size_t)net->arc_count * sizeof *un->consumers);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            start[pt_net_pre(net, t)[i] + 2]++;
    }
    for (uint32_t p = 0; p < net->place_count; p++)
        start[p + 2] += start[p + 1];
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            un->consumers[start[pt_net_pre(net, t)[i] + 1]++] = t;
    }
}

static void begin(struct unfolder *un)
{
    const struct pt_net *net = un->net;
    uint32_t widest = 0, blocks = un->options->block_count ? un->options->block_count : 1;
    index_consumers(un);
    for (uint32_t t = 0; t < net->transition_count; t++)
        widest = net->transitions[t].pre_count > widest ? net->transitions[t].pre_count : widest;
    un->slots = pt_xmalloc(((size_t)widest + 1) * sizeof *un->slots);
    un->newest = pt_xmalloc(((size_t)net->place_count + 1) * sizeof *un->newest);
    memset(un->newest, 0xff, ((size_t)net->place_count + 1) * sizeof *un->newest);
    un->done = pt_xcalloc(blocks, sizeof *un->done);
    un->open_blocks = blocks;
    pt_map64_init(&un->markings);
    struct pt_unfold_event initial = {.transition = PT_NONE, .tag = PT_NONE};
    PT_PUSH(un->u->events, un->u->event_count, un->u->event_cap, initial);
    PT_GROW(un->event_stamp, un->event_stamp_cap, un->u->event_cap);
    PT_GROW(un->stack, un->stack_cap, un->u->event_cap);
    PT_GROW(un->history, un->history_cap, un->u->event_cap);
    un->event_stamp[0] = 0;
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (net->places[p].marked)
            add_condition(un, p, 0);
    }
    un->u->initial_count = un->u->condition_count;
    un->u->condition_total = un->u->condition_count;
    *pt_map64_at(&un->markings, 0) = 0; /* hashes are relative to the initial marking */
}

static void end(struct unfolder *un)
{
    for (uint32_t i = 0; i < un->bucket_count; i++)
        drop_bucket(un, &un->buckets[i]);
    free(un->buckets);
    free(un->consumer_start);
    free(un->consumers);
    free(un->newest);
    free(un->older);
    free(un->event_stamp);
    free(un->condition_stamp);
    free(un->stack);
    free(un->history);
    free(un->slots);
    free(un->done);
    pt_map64_release(&un->markings);
}

enum pt_status pt_unfold(const struct pt_unfold_options *options, struct pt_unfolding *ret_unfolding,
                         struct pt_err *err)
{
    struct pt_unfolding u = {.net = options->net, .unsafe_transition = PT_NONE};
    struct unfolder un = {.options = options, .net = options->net, .u = &u};
    begin(&un);
    enum pt_status status = run(&un, err);
    end(&un);
    if (status != PT_OK) {
        ret_unfolding->unsafe_transition = u.unsafe_transition;
        pt_unfolding_release(&u);
        return status;
    }
    *ret_unfolding = u;
    return PT_OK;
}

void pt_unfolding_release(struct pt_unfolding *u)
{
    for (uint32_t i = 0; i < u->event_count; i++)
        free(u->events[i].co);
    free(u->events);
    free(u->pre);
    free(u->condition_place);
    free(u->condition_event);
    free(u->violations);
    *u = (struct pt_unfolding){0};
}

uint32_t *pt_unfolding_history(const struct pt_unfolding *u, uint32_t event, uint32_t *ret_count)
{
    /* Causes have smaller numbers, so going down from the event visits every member after all its effects. */
    bool *member = pt_xcalloc((size_t)event + 1, sizeof *member);
    uint32_t *events = pt_xmalloc(u->events[event].size * sizeof *events), count = u->events[event].size, left = count;
    member[event] = true;
    for (uint32_t e = event; e > 0 && left > 0; e--) {
        if (!member[e])
            continue;
        events[--left] = e;
        const struct pt_unfold_event *at = &u->events[e];
        for (uint32_t i = 0; i < u->net->transitions[at->transition].pre_count; i++)
            member[u->condition_event[u->pre[at->pre_start + i]]] = true;
    }
    free(member);
    *ret_count = count;
    return events;
}
