/*
 * Sync-preserving races in one pass. For each variable the accesses are kept in groups that a report does not tell
 * apart: one thread, one place, the same locks. An access that needs all that may race with it (syncp_kinds.c) has
 * nobody to ask, and waits; it is put to its group when another one asks the groups of the variable (syncp_ask.c), or
 * forgotten before that.
 *
 * Of accesses of one group between which the thread neither learned anything nor took or released a lock only the last
 * is kept: what they need differs in events of the thread itself that need nothing else, so whoever races with an
 * earlier one races with the last; whoever came in between has been asked already.
 *
 * Two groups that have a lock in common, not both as readers, have no race: the sections would have to be open both.
 *
 * Guarantee: each pair of groups that has a sync-preserving race, and is wanted, is found, once, at the first later
 * access for which there is one, and no other. Cost: constant time for each access, and what it asks.
 * Memory: 16 bytes for each kept access, 48 for one that waits, 64 for each group, 16 for each pair of groups of which
 * one may ask. What all threads need already is forgotten now and then: no later access races with that, but one of a
 * thread that nobody forked; `late` says that there is such a thread. So are the groups of threads that are settled
 * (trf.h): where threads come and go, an access asks those of the ones that are there.
 */
#include "predict/syncp_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

enum {
    PRUNE_LEAST = 1 << 16, /* accesses that are kept */
    LATELY = 1 << 15,      /* groups that are found without a search */
    WAYS = 4,              /* of them have their places in common */
    ROOM_LEAST = 2,        /* of a group's accesses, as a power of two */
    PENDING_MOST = 64,     /* accesses of a variable that wait */
    KNOWN_EVERY = 64,      /* accesses for each thread, after which what all know is looked up anew */
};

void pt_syncp_begin(struct pt_syncp *syncp, struct pt_trf *trf, pt_syncp_found *found, void *context)
{
    *syncp = (struct pt_syncp){.trf = trf, .found = found, .context = context, .prune_at = PRUNE_LEAST};
    syncp->lately = pt_xcalloc(LATELY, sizeof *syncp->lately);
    pt_map64_init(&syncp->index);
    pt_strtab_init(&syncp->lock_sets);
}

size_t pt_syncp_bytes(const struct pt_syncp *syncp)
{
    return syncp->bytes + syncp->var_cap * sizeof *syncp->vars + syncp->group_cap * sizeof *syncp->groups +
           syncp->thread_cap * sizeof *syncp->threads + syncp->block_cap * sizeof *syncp->blocks +
           pt_map64_bytes(&syncp->index) + pt_strtab_bytes(&syncp->lock_sets);
}

/* ---- locks ---- */

static uint32_t intern_locks(struct pt_syncp *s, const struct pt_trf_thread *t)
{
    uint32_t count = t->held_count, *list = pt_xmalloc(count * sizeof *list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = t->held[i].lock << 1 | t->held[i].shared;
    count = pt_sort_distinct(list, count);
    uint32_t id = pt_strtab_intern(&s->lock_sets, (const char *)list, count * sizeof *list);
    free(list);
    return id;
}

/* The set of locks that the thread has; PT_NONE: none. */
static uint32_t lock_set(struct pt_syncp *s, const struct pt_trf_thread *t)
{
    PT_ROOM(s->threads, s->thread_cap, t->hb.id);
    struct pt_syncp_thread *known = &s->threads[t->hb.id];
    if (known->known && known->region == t->region)
        return known->locks;
    *known = (struct pt_syncp_thread){.region = t->region, .locks = PT_NONE, .known = true};
    if (t->held_count == 1) {
        uint32_t id = t->held[0].lock << 1 | t->held[0].shared;
        PT_ROOM(s->alone, s->alone_cap, id);
        if (!s->alone[id])
            s->alone[id] = pt_strtab_intern(&s->lock_sets, (const char *)&id, sizeof id) + 1;
        known->locks = s->alone[id] - 1;
    } else if (t->held_count) {
        known->locks = intern_locks(s, t);
    }
    return known->locks;
}

/* ---- groups ---- */

static bool is_same(const struct pt_syncp_group *a, const struct pt_syncp_group *b)
{
    return a->var == b->var && a->life == b->life && a->thread == b->thread && a->loc == b->loc &&
           a->locks == b->locks && a->from == b->from && a->to == b->to && a->op == b->op && a->atomic == b->atomic;
}

static struct pt_syncp_group describe(const struct pt_syncp *s, const struct pt_event *event, uint32_t var,
                                      uint32_t locks)
{
    bool memory = event->op == PT_OP_FREE;
    return (struct pt_syncp_group){.var = var,
                                   .thread = event->thread,
                                   .loc = event->loc,
                                   .life = s->vars[var].life,
                                   .locks = locks,
                                   .from = event->from,
                                   .to = event->to,
                                   .op = event->op,
                                   .atomic = !memory && (event->order || event->op == PT_OP_UPDATE)};
}

static uint64_t mark_of(const struct pt_syncp_group *like)
{
    uint64_t key = pt_mix64((uint64_t)like->var << 32 | like->loc);
    key = pt_mix64(key + ((uint64_t)like->thread << 32 | like->locks));
    return pt_mix64(key + ((uint64_t)like->life << 48 ^ (uint64_t)like->from << 32 ^ (uint64_t)like->to << 16 ^
                           (uint64_t)like->atomic << 8 ^ like->op));
}

/* The group of that description, PT_NONE: there is none. The first ones of a variable are looked through. */
static uint32_t find_group(struct pt_syncp *s, const struct pt_syncp_var *var, const struct pt_syncp_group *like,
                           uint64_t mark)
{
    for (uint32_t i = 0; i < var->count && i < PT_SYNCP_SCANNED; i++)
        if (var->slots[i].mark == (uint32_t)mark && is_same(&s->groups[var->slots[i].group], like))
            return var->slots[i].group;
    if (var->count <= PT_SYNCP_SCANNED)
        return PT_NONE;
    uint32_t index;
    while ((index = pt_map64_get(&s->index, mark)) != PT_NONE && !is_same(&s->groups[index], like))
        mark++;
    return index;
}

static void add_to_index(struct pt_syncp *s, uint32_t group, uint64_t mark)
{
    uint32_t *index;
    while (*(index = pt_map64_at(&s->index, mark)) != PT_NONE)
        mark++;
    *index = group;
}

void pt_syncp_begin_asking(struct pt_syncp *s, struct pt_syncp_var *var)
{
    var->asked = true;
    for (uint32_t i = 0; i < var->count; i++) {
        const struct pt_syncp_group *g = &s->groups[var->slots[i].group];
        var->slots[i].last = g->count ? g->accesses[g->count - 1].number : 0;
    }
}

/* Aligned, so that each is in one cache line. */
static void make_room(struct pt_syncp *s)
{
    if (s->group_count < s->group_cap)
        return;
    size_t cap = s->group_cap ? 2 * s->group_cap : 64;
    struct pt_syncp_group *groups = pt_xaligned(sizeof *groups, cap * sizeof *groups);
    if (s->group_count)
        memcpy(groups, s->groups, s->group_count * sizeof *groups);
    free(s->groups);
    s->groups = groups;
    s->group_cap = cap;
}

/* Its index. It gets a slot of its variable. */
static uint32_t new_group(struct pt_syncp *s, const struct pt_syncp_group *like, uint64_t mark)
{
    struct pt_syncp_var *var = &s->vars[like->var];
    uint32_t index = s->spare ? s->spare - 1 : s->group_count;
    if (s->spare)
        s->spare = s->groups[index].slot;
    else
        make_room(s);
    s->group_count += index == s->group_count;
    struct pt_syncp_group *group = &s->groups[index];
    *group = *like;
    group->slot = var->count;
    group->kind = pt_syncp_kind_of(s, var, like);
    struct pt_syncp_slot slot = {0, like->thread, index, (uint32_t)mark};
    if (var->count >= PT_SYNCP_SCANNED)
        add_to_index(s, index, mark);
    size_t cap = var->cap;
    PT_PUSH(var->slots, var->count, var->cap, slot);
    s->bytes += (var->cap - cap) * sizeof slot;
    return index;
}

/* The group of that description. */
static struct pt_syncp_group *group_of(struct pt_syncp *s, const struct pt_syncp_group *like)
{
    struct pt_syncp_var *var = &s->vars[like->var];
    uint64_t mark = mark_of(like);
    struct pt_syncp_lately *lately = &s->lately[mark % (LATELY / WAYS) * WAYS];
    for (unsigned i = 0; i < WAYS; i++)
        if (lately[i].mark == (uint32_t)(mark >> 32) && lately[i].group &&
            is_same(&s->groups[lately[i].group - 1], like))
            return &s->groups[lately[i].group - 1];
    uint32_t index = find_group(s, var, like, mark);
    memmove(lately + 1, lately, (WAYS - 1) * sizeof *lately);
    if (index == PT_NONE)
        index = new_group(s, like, mark);
    *lately = (struct pt_syncp_lately){(uint32_t)(mark >> 32), index + 1};
    return &s->groups[index];
}

static void resize(struct pt_syncp *s, struct pt_syncp_group *g, uint8_t room)
{
    size_t old = g->room ? (size_t)1 << g->room : 0, new = (size_t)1 << room;
    g->accesses = pt_xrealloc(g->accesses, new * sizeof *g->accesses);
    g->room = room;
    s->bytes += (new - old) * sizeof *g->accesses;
}

static void keep(struct pt_syncp *s, struct pt_syncp_group *g, uint64_t region, struct pt_syncp_access access)
{
    struct pt_syncp_var *var = &s->vars[g->var];
    if (var->asked)
        var->slots[g->slot].last = access.number;
    if (g->count && g->region == region) {
        g->accesses[g->count - 1].number = access.number;
        return;
    }
    g->region = region;
    if (!g->room || g->count == UINT32_C(1) << g->room)
        resize(s, g, g->room ? (uint8_t)(g->room + 1) : ROOM_LEAST);
    access.past = pt_vec_ref(s->trf->memory, access.past);
    g->accesses[g->count++] = access;
    s->accesses++;
}

/* ---- what is put to groups later ---- */

static bool is_pending_same(const struct pt_syncp_pending *p, const struct pt_syncp_group *like)
{
    return p->thread == like->thread && p->loc == like->loc && p->op == like->op && p->locks == like->locks &&
           p->from == like->from && p->to == like->to && p->atomic == like->atomic;
}

/* All that wait are put to their groups. */
static void settle_pending(struct pt_syncp *s, uint32_t id)
{
    struct pt_syncp_var *var = &s->vars[id];
    for (uint32_t i = 0; i < var->pending_count; i++) {
        const struct pt_syncp_pending *p = &var->pending[i];
        struct pt_syncp_group like = {.var = id,
                                      .thread = p->thread,
                                      .loc = p->loc,
                                      .life = var->life,
                                      .locks = p->locks,
                                      .from = p->from,
                                      .to = p->to,
                                      .op = p->op,
                                      .atomic = p->atomic};
        keep(s, group_of(s, &like), p->region, p->access);
        pt_vec_drop(s->trf->memory, p->access.past);
    }
    s->accesses -= var->pending_count;
    var->pending_count = 0;
}

/* What all threads need already, as it was not long ago. */
static const uint64_t *known_lately(struct pt_syncp *s)
{
    if (s->taken >= s->known_until || s->known_cap < s->trf->thread_count) {
        PT_ROOM(s->known, s->known_cap, s->trf->thread_count + PT_VEC_CHUNK);
        memset(s->known, 0, s->known_cap * sizeof *s->known);
        pt_trf_known(s->trf, s->known);
        s->known_until = s->taken + KNOWN_EVERY * ((uint64_t)s->trf->present_count + 1);
    }
    return s->known;
}

static void drop_pending(struct pt_syncp *s, struct pt_syncp_var *var, const uint64_t *known)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < var->pending_count; i++) {
        struct pt_syncp_pending p = var->pending[i];
        if (!known || p.access.number <= known[p.thread])
            pt_vec_drop(s->trf->memory, p.access.past);
        else
            var->pending[kept++] = p;
    }
    s->accesses -= var->pending_count - kept;
    s->pruned |= known && kept < var->pending_count;
    var->pending_count = kept;
}

static void wait(struct pt_syncp *s, const struct pt_syncp_group *like, uint64_t region, struct pt_syncp_access access)
{
    struct pt_syncp_var *var = &s->vars[like->var];
    if (var->pending_count && var->pending_count == var->pending_cap) {
        drop_pending(s, var, known_lately(s));
        if (var->pending_count >= PENDING_MOST / 2)
            settle_pending(s, like->var);
    }
    size_t cap = var->pending_cap;
    struct pt_syncp_pending pending = {.access = {access.number, pt_vec_ref(s->trf->memory, access.past)},
                                       .region = region,
                                       .thread = like->thread,
                                       .loc = like->loc,
                                       .locks = like->locks,
                                       .from = like->from,
                                       .to = like->to,
                                       .op = like->op,
                                       .atomic = like->atomic};
    PT_PUSH(var->pending, var->pending_count, var->pending_cap, pending);
    s->bytes += (var->pending_cap - cap) * sizeof pending;
    s->accesses++;
}

/* An access that needs all that may race with it has nobody to ask, and waits; others ask, and whoever waits is put to
 * its group before that. */
static void access_var(struct pt_syncp *s, const struct pt_trf_thread *t, const struct pt_event *event, uint32_t id,
                       uint32_t locks)
{
    struct pt_syncp_var *var = &s->vars[id];
    struct pt_syncp_access now = {t->hb.clock, t->hb.past};
    struct pt_syncp_group like = describe(s, event, id, locks);
    bool same = var->recent_thread == event->thread + 1 && var->recent_region == t->region;
    bool all = pt_syncp_needs_all(s, var, pt_syncp_kind_of(s, var, &like), event->thread, &now);
    struct pt_syncp_pending *before = var->pending_count ? &var->pending[var->pending_count - 1] : NULL;
    s->taken++;
    var->recent_thread = event->thread + 1;
    var->recent_region = t->region;
    if (same && var->recent && is_same(&s->groups[var->recent - 1], &like)) {
        keep(s, &s->groups[var->recent - 1], t->region, now);
    } else if (same && !var->recent && before && is_pending_same(before, &like)) {
        before->access.number = now.number;
    } else if (all) {
        wait(s, &like, t->region, now);
        var->recent = 0;
    } else {
        settle_pending(s, id);
        var->asks = true;
        struct pt_syncp_group *g = group_of(s, &like);
        var->recent = (uint32_t)(g - s->groups) + 1;
        pt_syncp_ask(s, g, &now);
        keep(s, g, t->region, now);
    }
}

/* ---- memory ---- */

/* A variable that was not touched before; in a block that was freed already it has that one's free. */
static void begin_var(struct pt_syncp *s, const struct pt_event *event)
{
    uint32_t id = event->object;
    PT_ROOM(s->vars, s->var_cap, id);
    pt_trf_before_access(s->trf, event);
    struct pt_syncp_var *var = &s->vars[id];
    uint32_t of = s->trf->vars[id].block;
    var->begun = true;
    var->block = of > 0;
    if (!of)
        return;
    PT_ROOM(s->blocks, s->block_cap, of);
    struct pt_syncp_block *block = &s->blocks[of];
    var->next = block->vars;
    block->vars = id + 1;
    if (block->freed) {
        struct pt_syncp_group like = describe(s, &block->free, id, block->locks);
        pt_syncp_needs_all(s, var, pt_syncp_kind_of(s, var, &like), like.thread, &block->access);
        wait(s, &like, block->region, block->access);
    }
}

static void on_free(struct pt_syncp *s, const struct pt_trf_thread *t, const struct pt_event *event)
{
    uint32_t locks = lock_set(s, t);
    PT_ROOM(s->blocks, s->block_cap, event->object + 1);
    struct pt_syncp_block *block = &s->blocks[event->object + 1];
    for (uint32_t var = block->vars; var; var = s->vars[var - 1].next)
        access_var(s, t, event, var - 1, locks);
    pt_vec_drop(s->trf->memory, block->access.past);
    block->freed = true;
    block->free = *event;
    block->locks = locks;
    block->region = t->region;
    block->access = (struct pt_syncp_access){t->hb.clock, pt_vec_ref(s->trf->memory, t->hb.past)};
}

/* What was there has ended. */
static void renew(struct pt_syncp *s, struct pt_syncp_var *var)
{
    drop_pending(s, var, NULL);
    for (uint32_t i = 0; i < var->count; i++) {
        struct pt_syncp_group *g = &s->groups[var->slots[i].group];
        pt_syncp_give_up(s, g);
        g->var = PT_NONE;
        g->slot = s->spare;
        s->spare = (uint32_t)(g - s->groups) + 1;
    }
    pt_syncp_drop_kinds(s, var);
    var->count = var->recent = var->recent_thread = 0;
    var->life++;
}

/* The block's variables are new ones. */
static void on_alloc(struct pt_syncp *s, const struct pt_event *event)
{
    PT_ROOM(s->blocks, s->block_cap, event->object + 1);
    struct pt_syncp_block *block = &s->blocks[event->object + 1];
    block->freed = false;
    for (uint32_t at = block->vars; at; at = s->vars[at - 1].next)
        renew(s, &s->vars[at - 1]);
}

/* ---- what no later access races with ---- */

static void prune(struct pt_syncp *s)
{
    uint64_t *known = s->both;
    pt_trf_known(s->trf, known);
    for (size_t i = 0; i < s->var_cap; i++)
        drop_pending(s, &s->vars[i], known);
    for (uint32_t i = 0; i < s->group_count; i++) {
        struct pt_syncp_group *g = &s->groups[i];
        uint32_t drop = 0;
        while (drop + 1 < g->count && g->accesses[drop].number <= known[g->thread])
            pt_vec_drop(s->trf->memory, g->accesses[drop++].past);
        memmove(g->accesses, g->accesses + drop, (g->count - drop) * sizeof *g->accesses);
        g->count -= drop;
        s->accesses -= drop;
        s->pruned |= drop > 0;
        if (drop && g->room > ROOM_LEAST && g->count < (UINT32_C(1) << g->room) / 4)
            resize(s, g, (uint8_t)(g->room - 1));
    }
    s->prune_at = s->accesses * 2 > PRUNE_LEAST ? s->accesses * 2 : PRUNE_LEAST;
}

/* Both have room for all threads. */
static void make_sets(struct pt_syncp *s)
{
    size_t least = (size_t)s->trf->thread_count + PT_VEC_CHUNK;
    if (s->set_cap > least)
        return;
    PT_ROOM(s->both, s->both_cap, least);
    PT_ROOM(s->set, s->set_cap, least);
}

static void on_memory(struct pt_syncp *s, const struct pt_event *event)
{
    pt_trf_thread(s->trf, event->thread);
    make_sets(s);
    if (event->op == PT_OP_ALLOC) {
        on_alloc(s, event);
        return;
    }
    pt_trf_before_access(s->trf, event);
    on_free(s, pt_trf_thread(s->trf, event->thread), event);
}

void pt_syncp_event(struct pt_syncp *s, const struct pt_event *event)
{
    if (event->thread >= s->trf->thread_cap || !s->trf->threads[event->thread].begun)
        s->late |= (s->pruned || s->trf->pruned) && !s->trf->bounded;
    if (event->op == PT_OP_ALLOC || event->op == PT_OP_FREE)
        on_memory(s, event);
    if (pt_op_space(event->op) != PT_SPACE_VAR || (s->wanted && !s->wanted[event->object]))
        return;
    const struct pt_trf_thread *t = pt_trf_thread(s->trf, event->thread);
    make_sets(s);
    if (event->object >= s->var_cap || !s->vars[event->object].begun)
        begin_var(s, event);
    else if (s->vars[event->object].block)
        pt_trf_before_access(s->trf, event);
    access_var(s, t, event, event->object, lock_set(s, t));
    if (s->accesses >= s->prune_at)
        prune(s);
}

void pt_syncp_end(struct pt_syncp *syncp)
{
    for (size_t i = 0; i < syncp->var_cap; i++) {
        drop_pending(syncp, &syncp->vars[i], NULL);
        pt_syncp_drop_kinds(syncp, &syncp->vars[i]);
        free(syncp->vars[i].pending);
        free(syncp->vars[i].slots);
        free(syncp->vars[i].kinds);
    }
    for (size_t i = 0; i < syncp->block_cap; i++)
        pt_vec_drop(syncp->trf->memory, syncp->blocks[i].access.past);
    for (uint32_t i = 0; i < syncp->group_count; i++) {
        for (uint32_t k = 0; k < syncp->groups[i].count; k++)
            pt_vec_drop(syncp->trf->memory, syncp->groups[i].accesses[k].past);
        free(syncp->groups[i].accesses);
        if (syncp->groups[i].asks)
            free(syncp->groups[i].asks->open);
        free(syncp->groups[i].asks);
    }
    free(syncp->vars);
    free(syncp->groups);
    free(syncp->lately);
    free(syncp->threads);
    free(syncp->blocks);
    free(syncp->alone);
    free(syncp->set);
    free(syncp->both);
    free(syncp->known);
    free(syncp->moved);
    pt_map64_release(&syncp->index);
    pt_strtab_release(&syncp->lock_sets);
}
