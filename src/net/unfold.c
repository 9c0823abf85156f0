/*
 * The unfolder: a complete finite prefix of a 1-safe net's branching process, read arcs included.
 *
 * Events are added in the total adequate order of Esparza, Römer and Vogler (unfold_order.c). An event is a cut-off,
 * and nothing is added behind it, when an earlier event's history reaches the same marking. By their theorem the prefix
 * then represents every reachable marking, and every transition enabled there has an event in it, cut-offs included. So
 * a goal transition that can ever fire is found, and a shortest history for it first.
 *
 * Without read arcs the history of an event is its local configuration: it and its causes. With them an event can have
 * several (unfold_read.c), and every pair of an event and a history is an event here; this is the enriched prefix of
 * Baldan et al. as a prime event structure. An event that reads a condition is concurrent with all others that do.
 *
 * With `restart`, a marking that a smaller history reaches is also good enough if it is this one but for a token that
 * nothing can consume, and has a token elsewhere instead. Then every extension of the larger configuration has a copy
 * behind the smaller one, which is all that the proof asks of cut-offs when the question is whether a transition can
 * fire. Not every marking is represented then.
 *
 * Colours are not flattened into the net (a writer over n reader places would have 3^n variants): the plain net is
 * unfolded and a condition is labelled with the colour that its producer's history gives it. The labelled net is as
 * good as one whose places are the pairs (place, label), so the theorem holds with markings compared label by label;
 * labels of coloured tokens include the guessed block, since its `end` is what stops the run.
 *
 * Deterministic: the same net gives the same prefix.
 *
 * Cost of an event: what is concurrent with it (unfold_choose.c), its cut, and, for it and each of its extensions, what
 * the histories of its causes have that the newest one's has not. None of these grows with the prefix as such.
 */
#include "net/unfold.h"

#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

uint32_t pt_unfold_stamp(struct unfolder *un)
{
    PT_ROOM(un->condition_stamp, un->condition_stamp_cap, un->u->condition_count);
    return ++un->now;
}

void pt_unfold_put(struct unfolder *un, const struct candidate *candidate, const struct list *words)
{
    uint32_t size = candidate->size;
    if (size >= un->bucket_count) {
        PT_GROW(un->buckets, un->bucket_cap, (size_t)size + 1);
        memset(un->buckets + un->bucket_count, 0, (size + 1 - un->bucket_count) * sizeof *un->buckets);
        un->bucket_count = size + 1;
    }
    struct bucket *bucket = &un->buckets[size];
    struct candidate added = *candidate;
    added.pre = bucket->word_count;
    PT_GROW(bucket->words, bucket->word_cap, (size_t)bucket->word_count + words->count);
    memcpy(bucket->words + added.pre, words->items, words->count * sizeof *words->items);
    bucket->word_count += words->count;
    un->bytes += words->count * sizeof *words->items + sizeof added;
    PT_PUSH(bucket->items, bucket->count, bucket->cap, added);
}

static void drop_bucket(struct unfolder *un, struct bucket *bucket)
{
    un->bytes -= bucket->word_count * sizeof *bucket->words + bucket->count * sizeof *bucket->items;
    free(bucket->items);
    free(bucket->words);
    *bucket = (struct bucket){0};
}

/* `place`: PT_NONE for a mark, which is then the read of `read`. */
static void add_condition(struct unfolder *un, uint32_t place, uint32_t read, uint32_t event)
{
    struct pt_unfolding *u = un->u;
    uint32_t condition = u->condition_count;
    PT_GROW(u->condition_event, u->condition_event_cap, (size_t)condition + 1);
    PT_GROW(u->condition_read, u->condition_read_cap, (size_t)condition + 1);
    PT_PUSH(u->condition_place, u->condition_count, u->condition_cap, place);
    u->condition_event[condition] = event;
    u->condition_read[condition] = read;
    un->bytes += 5 * sizeof condition;
    if (!un->walk.on) {
        PT_ROOM(un->newer, un->newer_cap, condition);
        un->bytes += sizeof *un->newer;
    }
    if (place != PT_NONE) {
        PT_GROW(un->older, un->older_cap, (size_t)condition + 1);
        un->older[condition] = un->newest[place];
        un->newest[place] = condition;
        un->place_size[place]++;
    }
    if (!un->reads)
        return;
    PT_ROOM(un->readers, un->readers_cap, condition);
    PT_ROOM(un->watchers, un->watchers_cap, condition);
    un->bytes += 2 * sizeof *un->readers;
    if (read != PT_NONE)
        pt_list_add(&un->readers[read], condition);
}

static enum pt_status unsafe(const struct unfolder *un, uint32_t transition, uint32_t place, struct pt_err *err)
{
    const char *t = un->net->transitions[transition].name, *p = un->net->places[place].name;
    return pt_err_set(err, PT_EINPUT, "the net is not 1-safe: transition '%s' can put a second token on place '%s'",
                      t ? t : "?", p ? p : "?");
}

/* Whether firing the event can put a token on a place that has one: some condition there is in its row. */
static enum pt_status check_safe(struct unfolder *un, uint32_t transition, struct pt_err *err)
{
    const uint32_t *post = pt_net_post(un->net, transition);
    for (uint32_t i = 0; i < pt_net_made(un->net, transition); i++) {
        if (pt_unfold_first(un, post[i]) != PT_NONE) {
            un->u->unsafe_transition = transition;
            return unsafe(un, transition, post[i], err);
        }
    }
    return PT_OK;
}

/* Makes room for what is kept by event. */
static void grow_events(struct unfolder *un)
{
    uint32_t event = un->u->event_count;
    PT_ROOM(un->cause_start, un->cause_start_cap, event + 1);
    un->cause_start[event + 1] = un->u->cause_count;
    PT_ROOM(un->whose, un->whose_cap, event);
    PT_ROOM(un->pending, un->pending_cap, event / 64);
    PT_ROOM(un->pending_words, un->pending_words_cap, event / 4096);
    PT_ROOM(un->extended, un->extended_cap, event);
    PT_ROOM(un->occurrence, un->occurrence_cap, event);
}

/* The events that made these conditions, each once, but for event 0. */
static void add_causes(struct unfolder *un, const uint32_t *pre, uint32_t count, struct pt_unfold_event *e)
{
    struct pt_unfolding *u = un->u;
    e->cause_start = u->cause_count;
    PT_GROW(u->causes, u->cause_cap, (size_t)u->cause_count + count);
    uint32_t *causes = u->causes + u->cause_count, n = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t maker = u->condition_event[pre[i]];
        if (maker != 0 && (n == 0 || causes[n - 1] != maker))
            causes[n++] = maker;
    }
    e->cause_count = n > 1 ? pt_sort_distinct(causes, n) : n;
    u->cause_count += e->cause_count;
}

/* Counts the event unless it is there with another history: the same transition on the same conditions, where those of
 * an event with several histories are the same. */
static void count_occurrence(struct unfolder *un, uint32_t event)
{
    struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    uint32_t count = un->net->transitions[e->transition].pre_count;
    if (!un->reads) {
        u->occurrence_count++;
        u->condition_total += pt_net_made(un->net, e->transition);
        return;
    }
    uint32_t *key = pt_xmalloc((2 * (size_t)count + 1) * sizeof *key), before = un->occurrences.count;
    key[0] = e->transition;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t condition = u->pre[e->pre_start + i], maker = u->condition_event[condition];
        key[2 * i + 1] = un->occurrence[maker];
        key[2 * i + 2] = condition - u->events[maker].post_start;
    }
    un->occurrence[event] = 1 + pt_strtab_intern(&un->occurrences, (const char *)key, (2 * count + 1) * sizeof *key);
    if (un->occurrences.count > before) {
        u->occurrence_count++;
        u->condition_total += pt_net_made(un->net, e->transition);
        un->bytes += (2 * count + 1) * sizeof *key + sizeof *un->occurrences.entries;
    }
    free(key);
}

static uint32_t add_event(struct unfolder *un, const struct candidate *c, const uint32_t *pre)
{
    struct pt_unfolding *u = un->u;
    uint32_t pre_count = un->net->transitions[c->transition].pre_count + c->mark_count;
    struct pt_unfold_event e = {.transition = c->transition,
                                .pre_start = u->pre_count,
                                .mark_count = c->mark_count,
                                .post_start = u->condition_count,
                                .size = c->size,
                                .depth = c->depth,
                                .tag = c->tag,
                                .colour = c->colour,
                                .goal = c->goal,
                                .marking = c->marking,
                                .delta = c->delta};
    PT_GROW(u->pre, u->pre_cap, (size_t)u->pre_count + pre_count);
    memcpy(u->pre + u->pre_count, pre, pre_count * sizeof *pre);
    u->pre_count += pre_count;
    add_causes(un, pre, pre_count, &e);
    grow_events(un);
    PT_PUSH(u->events, u->event_count, u->event_cap, e);
    count_occurrence(un, u->event_count - 1);
    un->bytes += sizeof e + (pre_count + e.cause_count + 1) * sizeof *pre + sizeof *un->extended;
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

/* Marks of reads in its history of what the event consumes or reads itself go from its cut into `over`. */
static void replace_marks(struct unfolder *un, uint32_t event, struct extended *cut)
{
    struct pt_unfolding *u = un->u;
    struct pt_unfold_event *e = &u->events[event];
    uint32_t count = un->net->transitions[e->transition].pre_count, kept = 0;
    const uint32_t *pre = u->pre + e->pre_start;
    e->over_start = u->over_count;
    for (uint32_t i = 0; un->walk.on && i < count; i++) {
        if (un->readers[pre[i]].count > 0)
            pt_unfold_vector_over(un, cut->root, pre[i]);
    }
    for (uint32_t i = 0; i < cut->mark_count; i++) {
        uint32_t mark = un->cuts.items[cut->cut + cut->token_count + i];
        bool over = false;
        for (uint32_t k = 0; k < count && !over; k++)
            over = u->condition_read[mark] == pre[k];
        if (over)
            PT_PUSH(u->over, u->over_count, u->over_cap, mark);
        else
            un->cuts.items[cut->cut + cut->token_count + kept++] = mark;
    }
    e->over_count = u->over_count - e->over_start;
    cut->mark_count = kept;
    un->cuts.count = cut->cut + cut->token_count + kept;
    un->bytes += e->over_count * sizeof *u->over;
}

/* Adds to a cut's list what the event makes: tokens in front of the marks. */
static void finish_cut(struct unfolder *un, uint32_t event, uint32_t made, struct extended *cut)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    for (uint32_t i = 0; i < e->post_count; i++)
        pt_list_add(&un->cuts, e->post_start + i);
    uint32_t *marks = un->cuts.items + cut->cut + cut->token_count;
    if (cut->mark_count) {
        memmove(marks + made, marks, cut->mark_count * sizeof *marks);
        for (uint32_t i = 0; i < made; i++)
            marks[i] = e->post_start + i;
    }
    cut->token_count += made;
    cut->mark_count += e->post_count - made;
    un->bytes += (cut->token_count + cut->mark_count) * sizeof *marks;
    for (uint32_t i = 0; i < cut->mark_count; i++) {
        uint32_t mark = un->cuts.items[cut->cut + cut->token_count + i];
        struct list *watchers = &un->watchers[un->u->condition_read[mark]];
        pt_list_add(watchers, event);
        pt_list_add(watchers, mark);
        un->bytes += 2 * sizeof mark;
    }
}

/* Adds the conditions of an event that is no cut-off, and looks for what they enable. */
static void extend(struct unfolder *un, uint32_t event, struct extended *cut)
{
    struct pt_unfolding *u = un->u;
    uint32_t transition = u->events[event].transition, made = pt_net_made(un->net, transition);
    uint32_t reads = un->net->transitions[transition].read_count, consumed = pt_net_consumed(un->net, transition);
    if (un->reads)
        replace_marks(un, event, cut);
    u->events[event].post_count = made + reads;
    for (uint32_t i = 0; i < made; i++)
        add_condition(un, pt_net_post(un->net, transition)[i], PT_NONE, event);
    for (uint32_t i = 0; i < reads; i++)
        add_condition(un, PT_NONE, u->pre[u->events[event].pre_start + consumed + i], event);
    if (!un->walk.on)
        finish_cut(un, event, made, cut);
    un->extended[event] = *cut;
    PT_GROW(un->place_next, un->place_next_cap, u->condition_cap);
    pt_unfold_keep_row(un, event);
    pt_unfold_extend(un, event);
}

/* Takes a candidate into the prefix. */
static enum pt_status take(struct unfolder *un, const struct candidate *c, const uint32_t *pre, struct pt_err *err)
{
    struct pt_unfolding *u = un->u;
    uint32_t count = un->net->transitions[c->transition].pre_count + c->mark_count;
    if (un->options->drop_settled && c->tag != PT_NONE && un->done[c->tag])
        return PT_OK;
    bool cutoff = false;
    pt_unfold_choose(un);
    struct extended cut = {.cut = un->cuts.count};
    if (!c->goal) {
        cut = pt_unfold_make_cut(un, c, pre);
        cutoff = pt_unfold_is_cutoff(un, c, pre, &cut, u->event_count);
    }
    bool last = cutoff || c->goal;
    bool check = un->options->check_safe && !un->walk.on; /* walks need components, and these show that it is safe */
    if (!last || check)
        pt_unfold_make_row(un, c->transition, pre, count);
    enum pt_status status = check ? check_safe(un, c->transition, err) : PT_OK;
    if (status != PT_OK)
        return status;
    uint32_t event = add_event(un, c, pre);
    u->events[event].cutoff = cutoff;
    u->cutoff_count += cutoff;
    if (c->goal)
        note_violation(un, event);
    if (!last)
        extend(un, event, &cut);
    else if (!c->goal)
        pt_unfold_drop_cut(un, &cut);
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
            const struct bucket *bucket = &un->buckets[size]; /* extending may move the buckets, but adds to others */
            enum pt_status status = take(un, &bucket->items[i], bucket->words + bucket->items[i].pre, err);
            if (status != PT_OK)
                return status;
        }
        drop_bucket(un, &un->buckets[size]);
    }
    return PT_OK;
}

/* By place, the transitions that consume from it or read it. */
static void index_consumers(struct unfolder *un)
{
    const struct pt_net *net = un->net;
    uint32_t *start = un->consumer_start = pt_xcalloc((size_t)net->place_count + 2, sizeof *start);
    un->consumers = pt_xmalloc(((size_t)net->arc_count + 1) * sizeof *un->consumers);
    un->consumer_slot = pt_xcalloc((size_t)net->arc_count + 1, sizeof *un->consumer_slot);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        un->reads |= net->transitions[t].read_count > 0;
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            start[pt_net_pre(net, t)[i] + 2]++;
    }
    for (uint32_t p = 0; p < net->place_count; p++)
        start[p + 2] += start[p + 1];
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++) {
            uint32_t *at = &start[pt_net_pre(net, t)[i] + 1]; /* until all are in; then the end of them */
            un->consumer_slot[net->transitions[t].pre_start + i] = *at;
            un->consumers[(*at)++] = t;
        }
    }
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            un->consumer_slot[net->transitions[t].pre_start + i] -= start[pt_net_pre(net, t)[i]];
    }
}

/* Event 0, which makes the initial marking. */
static void add_initial(struct unfolder *un)
{
    const struct pt_net *net = un->net;
    struct pt_unfolding *u = un->u;
    struct pt_unfold_event initial = {.transition = PT_NONE, .tag = PT_NONE};
    grow_events(un);
    PT_PUSH(u->events, u->event_count, u->event_cap, initial);
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (!net->places[p].marked)
            continue;
        pt_list_add(&un->cuts, u->condition_count);
        add_condition(un, p, PT_NONE, 0);
    }
    u->initial_count = u->events[0].post_count = u->condition_count;
    u->condition_total = u->condition_count;
    un->extended[0].token_count = un->cuts.count;
    *pt_map64_at(&un->markings, 0) = 0; /* hashes are relative to the initial marking */
    PT_GROW(un->place_next, un->place_next_cap, (size_t)u->condition_cap + 1);
    un->row_now = 2;
    un->row_indexed = true; /* its row is empty */
}

static void begin(struct unfolder *un)
{
    const struct pt_net *net = un->net;
    uint32_t widest = 0, blocks = un->options->block_count ? un->options->block_count : 1;
    size_t places = (size_t)net->place_count + 1;
    index_consumers(un);
    for (uint32_t t = 0; t < net->transition_count; t++)
        widest = net->transitions[t].pre_count > widest ? net->transitions[t].pre_count : widest;
    un->slots = pt_xmalloc(((size_t)widest + 2) * sizeof *un->slots);
    un->newest = pt_xmalloc(places * sizeof *un->newest);
    memset(un->newest, 0xff, places * sizeof *un->newest);
    un->place_size = pt_xcalloc(places, sizeof *un->place_size);
    un->place_head = pt_xcalloc(places, sizeof *un->place_head);
    un->place_stamp = pt_xcalloc(places, sizeof *un->place_stamp);
    un->label_stamp = pt_xcalloc(places, sizeof *un->label_stamp);
    un->balance = pt_xcalloc((size_t)net->transition_count + 1, sizeof *un->balance);
    un->done = pt_xcalloc(blocks, sizeof *un->done);
    un->open_blocks = blocks;
    pt_map64_init(&un->markings);
    pt_strtab_init(&un->occurrences);
    add_initial(un);
}

static void free_lists(struct list *lists, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(lists[i].items);
    free(lists);
}

static void end(struct unfolder *un)
{
    for (uint32_t i = 0; i < un->bucket_count; i++)
        drop_bucket(un, &un->buckets[i]);
    pt_unfold_rows_drop(un);
    pt_unfold_walk_end(un);
    free_lists(un->readers, un->readers_cap);
    free_lists(un->watchers, un->watchers_cap);
    void *const all[] = {un->buckets,
                         un->consumer_start,
                         un->consumers,
                         un->consumer_slot,
                         un->occurrence,
                         un->extended,
                         un->cuts.items,
                         un->row.blocks,
                         un->place_head,
                         un->place_next,
                         un->place_stamp,
                         un->cause_start,
                         un->whose,
                         un->pending,
                         un->pending_words,
                         un->touched.items,
                         un->only_first.items,
                         un->balance,
                         un->condition_stamp,
                         un->label_stamp,
                         un->only_second.items,
                         un->slots,
                         un->known.items,
                         un->newest,
                         un->place_size,
                         un->older,
                         un->window.items,
                         un->chosen.items,
                         un->extra.items,
                         un->taking.items,
                         un->options_list.items,
                         un->done};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    pt_map64_release(&un->markings);
    pt_strtab_release(&un->occurrences);
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
    free(u->events);
    free(u->pre);
    free(u->causes);
    free(u->over);
    free(u->condition_place);
    free(u->condition_event);
    free(u->condition_read);
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
        for (uint32_t i = 0; i < u->events[e].cause_count; i++)
            member[u->causes[u->events[e].cause_start + i]] = true;
    }
    free(member);
    *ret_count = count;
    return events;
}
