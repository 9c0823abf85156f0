/*
 * Histories of events on conditions that others read. An event that consumes a condition comes after some of its reads,
 * and excludes the rest; which ones, is its history's choice (Baldan, Corradini, König and Schwoon 2008; Baldan, Bruni,
 * Corradini, König, Rodríguez and Schwoon 2012). Histories are events' own here: every event of the prefix is one with
 * one history, and a condition is one with its maker's. Every read of a condition leaves a mark, which nobody consumes
 * but those who consume the condition.
 *
 * Given conditions that are concurrent, some reads of the consumed ones are in their histories already. Any further set
 * of reads makes another history, if their marks are concurrent with the conditions and each other and if it is closed:
 * with a read it has all reads of these conditions in that one's history. Taking reads by their numbers, each closed
 * set is met once, after all its beginnings.
 *
 * Cost: the histories, which can be 2^n for n concurrent reads of one condition that is then consumed, and a look at
 * those reads for each.
 */
#include "net/unfold_impl.h"

static bool is_consumed(uint32_t consumed, const uint32_t *conditions, uint32_t condition)
{
    for (uint32_t i = 0; i < consumed; i++) {
        if (conditions[i] == condition)
            return true;
    }
    return false;
}

/* A mark is in the history, and with it those it stands for. */
static void know(struct unfolder *un, uint32_t mark, uint32_t stamp)
{
    if (un->condition_stamp[mark] == stamp)
        return;
    un->condition_stamp[mark] = stamp;
    pt_list_add(&un->known, mark);
}

/* Whether a node is a mark of a read of the condition. */
static bool is_mark_of(const struct unfolder *un, uint32_t node, uint32_t condition)
{
    const struct node *n = &un->walk.nodes[node];
    return n->token == condition && n->condition != condition;
}

/* Those of one condition, where walks are made: the marks are the ends of the paths. */
static void know_in_cuts(struct unfolder *un, uint32_t condition, const uint32_t *conditions, uint32_t count,
                         uint32_t stamp)
{
    const struct walk *w = &un->walk;
    uint32_t part_count;
    const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[condition], &part_count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t root = un->extended[un->u->condition_event[conditions[i]]].root;
        for (uint32_t k = 0; k < part_count; k++) {
            uint32_t node = pt_unfold_tip(un, root, parts[k]);
            for (; is_mark_of(un, node, condition); node = w->nodes[node].parent)
                know(un, w->nodes[node].condition, stamp);
        }
    }
}

uint32_t pt_unfold_know_reads(struct unfolder *un, uint32_t consumed, const uint32_t *conditions, uint32_t count)
{
    const struct pt_unfolding *u = un->u;
    uint32_t stamp = pt_unfold_stamp(un);
    un->known.count = 0;
    for (uint32_t i = 0; un->walk.on && i < consumed; i++) {
        if (un->readers[conditions[i]].count > 0)
            know_in_cuts(un, conditions[i], conditions, count, stamp);
    }
    if (un->walk.on)
        return stamp;
    for (uint32_t i = 0; i < count; i++) {
        const struct extended *x = &un->extended[u->condition_event[conditions[i]]];
        for (uint32_t k = 0; k < x->mark_count; k++) {
            uint32_t mark = un->cuts.items[x->cut + x->token_count + k];
            if (is_consumed(consumed, conditions, u->condition_read[mark]))
                know(un, mark, stamp);
        }
    }
    for (uint32_t i = 0; i < un->known.count; i++) { /* grows on the way */
        uint32_t mark = un->known.items[i];
        const struct pt_unfold_event *e = &u->events[u->condition_event[mark]];
        for (uint32_t k = 0; k < e->over_count; k++) {
            uint32_t over = u->over[e->over_start + k];
            if (u->condition_read[over] == u->condition_read[mark])
                know(un, over, stamp);
        }
    }
    return stamp;
}

struct search {
    uint32_t transition, consumed, count;
    const uint32_t *conditions;
    uint32_t newest; /* of the conditions: asked about first, since there are no walks for the others */
    uint32_t stamp;  /* of the reads that are known, and of those chosen */
};

/* Whether a mark, of a read that is not known, can be in the history as far as the conditions go. */
static bool is_option(struct unfolder *un, const struct search *s, uint32_t mark, uint32_t must)
{
    if (un->condition_stamp[mark] == s->stamp || !pt_unfold_is_co(un, must != PT_NONE ? must : s->newest, mark))
        return false;
    for (uint32_t i = 0; i < s->count; i++) {
        if (!pt_unfold_is_co(un, s->conditions[i], mark))
            return false;
    }
    return true;
}

/* Whether all reads of the consumed conditions in the history of a mark's event, but for its own, are known or chosen:
 * the latest ones of each, since whatever was chosen was closed. */
static bool is_closed_in_cut(const struct unfolder *un, const struct search *s, uint32_t event)
{
    const struct walk *w = &un->walk;
    for (uint32_t i = 0; i < s->consumed; i++) {
        uint32_t count;
        const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[s->conditions[i]], &count);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t node = pt_unfold_tip(un, un->extended[event].root, parts[k]);
            for (; is_mark_of(un, node, s->conditions[i]); node = w->nodes[node].parent) {
                uint32_t mark = w->nodes[node].condition;
                if (un->u->condition_event[mark] != event && un->condition_stamp[mark] != s->stamp)
                    return false;
            }
        }
    }
    return true;
}

static bool is_closed(const struct unfolder *un, const struct search *s, uint32_t event)
{
    if (un->walk.on)
        return is_closed_in_cut(un, s, event);
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    const struct extended *x = &un->extended[event];
    for (uint32_t k = 0; k < x->mark_count; k++) {
        uint32_t mark = un->cuts.items[x->cut + x->token_count + k];
        if (u->condition_event[mark] != event && un->condition_stamp[mark] != s->stamp &&
            is_consumed(s->consumed, s->conditions, u->condition_read[mark]))
            return false;
    }
    for (uint32_t k = 0; k < e->over_count; k++) {
        uint32_t mark = u->over[e->over_start + k];
        if (un->condition_stamp[mark] != s->stamp && is_consumed(s->consumed, s->conditions, u->condition_read[mark]))
            return false;
    }
    return true;
}

/* The options from `first` on that one event made. */
static uint32_t options_of_event(const struct unfolder *un, uint32_t first)
{
    uint32_t end = first, event = un->u->condition_event[un->options_list.items[first]];
    while (end < un->options_list.count && un->u->condition_event[un->options_list.items[end]] == event)
        end++;
    return end;
}

static bool can_choose(struct unfolder *un, const struct search *s, uint32_t option)
{
    uint32_t mark = un->options_list.items[option];
    for (uint32_t i = 0; i < un->chosen.count; i++) {
        if (!pt_unfold_is_co(un, un->options_list.items[un->chosen.items[i]], mark))
            return false;
    }
    return is_closed(un, s, un->u->condition_event[mark]);
}

static void stamp_options(struct unfolder *un, uint32_t first, uint32_t stamp)
{
    uint32_t end = options_of_event(un, first);
    for (uint32_t i = first; i < end; i++)
        un->condition_stamp[un->options_list.items[i]] = stamp;
}

/* A candidate with the reads that are chosen. */
static void emit(struct unfolder *un, const struct search *s, uint32_t must)
{
    un->extra.count = 0;
    if (must != PT_NONE)
        pt_list_add(&un->extra, must);
    for (uint32_t i = 0; i < un->chosen.count; i++)
        pt_list_add(&un->extra, un->options_list.items[un->chosen.items[i]]);
    pt_unfold_add_candidate(un, s->transition, s->conditions, &un->extra);
}

/* All closed sets of the options, each once. */
static void choose_all(struct unfolder *un, struct search *s, uint32_t must)
{
    uint32_t next = 0;
    un->chosen.count = 0;
    emit(un, s, must);
    for (;;) {
        while (next < un->options_list.count && !can_choose(un, s, next))
            next = options_of_event(un, next);
        if (next < un->options_list.count) {
            pt_list_add(&un->chosen, next);
            stamp_options(un, next, s->stamp);
            emit(un, s, must);
            next = options_of_event(un, next);
            continue;
        }
        if (un->chosen.count == 0)
            return;
        next = un->chosen.items[--un->chosen.count];
        stamp_options(un, next, 0);
        next = options_of_event(un, next);
    }
}

/* Adds the mark of a read of a condition, if it is an option. */
static void add_option(struct unfolder *un, const struct search *s, uint32_t mark, uint32_t must)
{
    if (is_option(un, s, mark, must))
        pt_list_add(&un->options_list, mark);
}

/* Lists the reads of a condition that are options. */
static void add_options(struct unfolder *un, const struct search *s, uint32_t condition, uint32_t must)
{
    const struct pt_unfolding *u = un->u;
    const struct list *readers = &un->readers[condition];
    if (!un->walk.on) {
        for (uint32_t k = 0; k < readers->count; k++)
            add_option(un, s, readers->items[k], must);
        return;
    }
    uint32_t *list = pt_unfold_use_list(un, condition, pt_unfold_groups(un, u->condition_place[condition]));
    readers = pt_unfold_uses(un, list);
    for (uint32_t k = 0; k < readers->count; k++) {
        const struct pt_unfold_event *e = &u->events[readers->items[k]];
        uint32_t mark = e->post_start + pt_net_made(un->net, e->transition);
        while (u->condition_read[mark] != condition)
            mark++;
        add_option(un, s, mark, must);
    }
}

void pt_unfold_histories(struct unfolder *un, uint32_t transition, const uint32_t *conditions, uint32_t mark)
{
    struct search s = {.transition = transition,
                       .consumed = pt_net_consumed(un->net, transition),
                       .count = un->net->transitions[transition].pre_count,
                       .conditions = conditions};
    bool was_read = mark != PT_NONE;
    for (uint32_t i = 0; un->reads && i < s.consumed && !was_read; i++)
        was_read = un->readers[conditions[i]].count > 0;
    un->extra.count = 0;
    if (!was_read) {
        pt_unfold_add_candidate(un, transition, conditions, &un->extra);
        return;
    }
    /* The mark that has to be in stands behind the conditions: its history counts as theirs do. */
    for (uint32_t i = 0; i < s.count; i++)
        s.newest = conditions[i] > s.newest ? conditions[i] : s.newest;
    un->slots[s.count] = mark;
    s.stamp = pt_unfold_know_reads(un, s.consumed, conditions, s.count + (mark != PT_NONE));
    un->options_list.count = 0;
    for (uint32_t i = 0; i < s.consumed; i++)
        add_options(un, &s, conditions[i], mark);
    if (un->options_list.count)
        un->options_list.count = pt_sort_distinct(un->options_list.items, un->options_list.count);
    choose_all(un, &s, mark);
}
