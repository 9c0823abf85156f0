/*
 * An access asks every other group of its variable whether one of its accesses races with it: those that its thread
 * needs anyway do not, and of the others the need of both is closed. An access that is in its closure is out for this
 * asking group for good, since what later accesses of it need contains what this one needs; so are all before it. When
 * a race is found the two groups are done with each other, and the asking one has one less to ask.
 *
 * Guarantee: that of syncp.c. Cost: for an access of a kind that may race with another one comparison for each group of
 * the variable with which no race was found yet and one may be and is wanted, and a closure for each pair of a kept
 * access and an asking group that needs alone do not decide; none for others, such as those of a variable that one lock
 * guards.
 */
#include <stdlib.h>

#include "predict/syncp_impl.h"

/* Groups that are new since it asked last. */
static void meet_new(struct pt_syncp *s, struct pt_syncp_group *g, const struct pt_syncp_var *var)
{
    if (!g->asks) {
        g->asks = pt_xcalloc(1, sizeof *g->asks);
        s->bytes += sizeof *g->asks;
    }
    struct pt_syncp_asks *asks = g->asks;
    size_t cap = asks->cap;
    for (; asks->met < var->count; asks->met++) {
        const struct pt_syncp_group *h = &s->groups[var->slots[asks->met].group];
        struct pt_syncp_open open = {.slot = asks->met};
        if (g->thread != h->thread && pt_syncp_may_race(s, &var->kinds[g->kind], &var->kinds[h->kind]) &&
            (!s->asks_for || s->asks_for(s->context, h, g)))
            PT_PUSH(asks->open, asks->count, asks->cap, open);
    }
    s->bytes += (asks->cap - cap) * sizeof *asks->open;
}

/* Less is wanted than when it asked last. */
static void drop_told(struct pt_syncp *s, const struct pt_syncp_group *g, const struct pt_syncp_var *var)
{
    struct pt_syncp_asks *asks = g->asks;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < asks->count; i++)
        if (s->asks_for(s->context, &s->groups[var->slots[asks->open[i].slot].group], g))
            asks->open[kept++] = asks->open[i];
    asks->count = kept;
    asks->told = var->told;
}

/* The first access of a group after that number; its index, or `count`. */
static uint32_t find_after(const struct pt_syncp_group *h, uint64_t number)
{
    uint32_t low = 0, high = h->count, step = 1;
    while (low < high) {
        uint32_t at = high - low > step ? high - step : low;
        if (h->accesses[at].number <= number) {
            low = at + 1;
            break;
        }
        high = at;
        step *= 2;
    }
    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        if (h->accesses[at].number <= number)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

/* Whether an access of `h` races with the present one, of `g`, which is told, and no more of them are wanted. */
static bool ask(struct pt_syncp *s, const struct pt_syncp_group *g, const struct pt_syncp_group *h,
                const struct pt_syncp_access *now, uint64_t *tried)
{
    uint64_t *set = s->set, known = pt_vec_at(now->past, h->thread);
    pt_trf_begin_set(s->trf, set, g->thread, now->number - 1, now->past);
    for (uint32_t i = find_after(h, *tried > known ? *tried : known); i < h->count;) {
        const struct pt_syncp_access *then = &h->accesses[i];
        pt_trf_add(s->trf, set, h->thread, then->number - 1, then->past);
        if (!s->trf->plain && !pt_trf_close(s->trf, set))
            break;
        if (set[h->thread] < then->number) {
            struct pt_syncp_race race = {h, g, then->number, now->number, set};
            if (s->found(s->context, &race))
                return true;
            i++; /* only where sets are not closed */
        }
        while (i < h->count && h->accesses[i].number <= set[h->thread])
            i++;
    }
    uint64_t last = h->count ? h->accesses[h->count - 1].number : 0;
    *tried = *tried > last ? *tried : last;
    return false;
}

void pt_syncp_give_up(struct pt_syncp *s, struct pt_syncp_group *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        pt_vec_drop(s->trf->memory, g->accesses[i].past);
    s->accesses -= g->count;
    s->bytes -= g->room ? sizeof *g->accesses << g->room : 0;
    free(g->accesses);
    if (g->asks) {
        s->bytes -= sizeof *g->asks + g->asks->cap * sizeof *g->asks->open;
        free(g->asks->open);
        free(g->asks);
    }
    g->accesses = NULL;
    g->asks = NULL;
    g->room = 0;
    g->count = 0;
    g->slot = PT_NONE;
}

/* The slots that are left move up: s->moved has where to. */
static void move_open(const struct pt_syncp *s, struct pt_syncp_asks *asks)
{
    uint32_t kept = 0, met = 0;
    for (uint32_t i = 0; i < asks->count; i++) {
        struct pt_syncp_open open = asks->open[i];
        if (s->moved[open.slot] == PT_NONE)
            continue;
        open.slot = s->moved[open.slot];
        asks->open[kept++] = open;
    }
    for (uint32_t i = 0; i < asks->met; i++)
        met += s->moved[i] != PT_NONE;
    asks->count = kept;
    asks->met = met;
}

/* All accesses of a settled thread are in what every access to come needs: none races with it. */
static void drop_settled(struct pt_syncp *s, struct pt_syncp_var *var)
{
    uint32_t kept = 0;
    var->settlings = s->trf->settlings;
    PT_GROW(s->moved, s->moved_cap, var->count);
    for (uint32_t i = 0; i < var->count; i++) {
        struct pt_syncp_group *g = &s->groups[var->slots[i].group];
        bool settled = s->trf->threads[g->thread].settled;
        s->moved[i] = settled ? PT_NONE : kept;
        if (settled) {
            pt_syncp_give_up(s, g);
            s->pruned = true;
            continue;
        }
        g->slot = kept;
        g->idle = 0;
        var->slots[kept++] = var->slots[i];
    }
    for (uint32_t i = 0; i < kept; i++) {
        struct pt_syncp_asks *asks = s->groups[var->slots[i].group].asks;
        if (asks)
            move_open(s, asks);
    }
    var->count = kept;
}

void pt_syncp_ask(struct pt_syncp *s, struct pt_syncp_group *g, const struct pt_syncp_access *now)
{
    struct pt_syncp_var *var = &s->vars[g->var];
    if (var->asked && var->settlings != s->trf->settlings && var->count > PT_SYNCP_SCANNED)
        drop_settled(s, var);
    if (!var->asked || (g->idle && g->idle == var->count))
        return;
    g->idle = var->count <= UINT8_MAX ? (uint8_t)var->count : 0;
    if (!var->kinds[g->kind].partner)
        return;
    if (!g->asks || g->asks->met < var->count)
        meet_new(s, g, var);
    struct pt_syncp_asks *asks = g->asks;
    if (asks->told != var->told)
        drop_told(s, g, var);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < asks->count; i++) {
        struct pt_syncp_open *open = &asks->open[i];
        const struct pt_syncp_slot *slot = &var->slots[open->slot];
        bool done = slot->last > open->tried && slot->last > pt_vec_at(now->past, slot->thread) &&
                    ask(s, g, &s->groups[slot->group], now, &open->tried);
        if (!done)
            asks->open[kept++] = *open;
    }
    asks->count = kept;
    if (kept)
        g->idle = 0;
}
