/*
 * Races of the order `sync`, by several processes (group.h): each variable belongs to one of them, those of a block to
 * the same one, and every process follows the whole run for what events need, but asks only about its own. What they
 * found is put together in the order in which one process would have found it: that of the later accesses, each of
 * which is of one variable.
 *
 * Guarantee: the races that one process finds, in the same order. Cost: a message of each to each, of the size of what
 * was found; the work for events is done by all, that for pairs of accesses divided.
 *
 * Under a memory limit nothing is divided, since processes would reach it at different events.
 */
#include <stdlib.h>
#include <string.h>

#include "core/finding_key.h"
#include "core/hash.h"
#include "engine/races_predict.h"

/* What is sent of a race, before its set of `threads` counts and its two sets of locks, each with its bytes. */
struct sent {
    uint64_t at, key, first_number, second_number;
    uint32_t var, first, second, threads, locks[2];
};

struct received {
    struct sent race;
    const unsigned char *rest;
};

bool pt_races_divides(const struct races *r)
{
    return pt_group_shares(r->options.group) && !r->options.memory_limit;
}

/* Blocks are named NAME, and what is in them NAME+OFFSET. */
static uint32_t owner_of(const struct races *r, uint32_t var)
{
    const char *name = pt_name(r->names, PT_SPACE_VAR, var);
    return (uint32_t)(pt_mix64(pt_fnv(PT_FNV_NOTHING, name, strcspn(name, "+"))) % r->options.group->size);
}

void pt_races_keep_own(const struct races *r, const bool *candidates, bool *own)
{
    for (uint32_t i = 0; i < r->names->space[PT_SPACE_VAR].count; i++)
        own[i] = candidates[i] && owner_of(r, i) == r->options.group->rank;
}

static uint32_t locks_len(const struct races_predict *p, uint32_t locks)
{
    return locks == PT_NONE ? 0 : pt_strtab_len(&p->syncp.lock_sets, locks);
}

static void put(struct pt_group_bytes *to, const void *data, size_t len)
{
    if (len)
        memcpy(pt_group_bytes_add(to, len), data, len);
}

static void put_race(const struct races_predict *p, const struct races_predicted *race, struct pt_group_bytes *to)
{
    const struct sent sent = {race->at,
                              race->key,
                              race->first_number,
                              race->second_number,
                              race->var,
                              race->first,
                              race->second,
                              race->threads,
                              {locks_len(p, race->first_locks), locks_len(p, race->second_locks)}};
    put(to, &sent, sizeof sent);
    put(to, race->set, race->threads * sizeof *race->set);
    if (sent.locks[0])
        put(to, pt_strtab_text(&p->syncp.lock_sets, race->first_locks), sent.locks[0]);
    if (sent.locks[1])
        put(to, pt_strtab_text(&p->syncp.lock_sets, race->second_locks), sent.locks[1]);
}

static void list_received(const struct pt_group_bytes *message, struct received **list, uint32_t *count, size_t *cap)
{
    for (const unsigned char *at = message->data, *end = at + message->len; at < end;) {
        struct received one;
        memcpy(&one.race, at, sizeof one.race);
        one.rest = at + sizeof one.race;
        at = one.rest + one.race.threads * sizeof(uint64_t) + one.race.locks[0] + one.race.locks[1];
        PT_PUSH(*list, *count, *cap, one);
    }
}

/* Those found at one event are of one process, in its order. */
static int compare(const void *a, const void *b)
{
    const struct received *x = a, *y = b;
    if (x->race.at != y->race.at)
        return x->race.at < y->race.at ? -1 : 1;
    return x->rest < y->rest ? -1 : x->rest > y->rest;
}

static uint32_t intern_locks(struct races_predict *p, const unsigned char *text, uint32_t len)
{
    return len ? pt_strtab_intern(&p->syncp.lock_sets, (const char *)text, len) : PT_NONE;
}

static void take(struct races_predict *p, const struct received *one)
{
    const struct sent *s = &one->race;
    uint32_t *index = pt_map64_at(&p->index, s->key);
    if (*index != PT_NONE || p->count > PT_CHECK_FINDINGS_MAX)
        return;
    *index = p->count;
    const unsigned char *locks = one->rest + s->threads * sizeof(uint64_t);
    struct races_predicted race = {.key = s->key,
                                   .at = s->at,
                                   .var = s->var,
                                   .first = s->first,
                                   .second = s->second,
                                   .first_number = s->first_number,
                                   .second_number = s->second_number,
                                   .first_locks = intern_locks(p, locks, s->locks[0]),
                                   .second_locks = intern_locks(p, locks + s->locks[0], s->locks[1]),
                                   .set = pt_xcalloc((size_t)s->threads + 1, sizeof *race.set),
                                   .threads = s->threads};
    memcpy(race.set, one->rest, s->threads * sizeof *race.set);
    PT_PUSH(p->found, p->count, p->cap, race);
}

void pt_races_gather(struct races *r)
{
    struct races_predict *p = r->predict;
    const struct pt_group *group = r->options.group;
    struct pt_group_bytes mine = {0};
    struct received *list = NULL;
    uint32_t count = 0;
    size_t cap = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        put_race(p, &p->found[i], &mine);
        free(p->found[i].set);
    }
    p->count = 0;
    pt_map64_release(&p->index);
    pt_map64_init(&p->index);
    p->syncp.late = pt_group_count(group, p->syncp.late) > 0;
    struct pt_group_bytes *all = pt_group_gather(group, mine.data, mine.len);
    for (uint32_t i = 0; i < group->size; i++)
        list_received(&all[i], &list, &count, &cap);
    if (count)
        qsort(list, count, sizeof *list, compare);
    for (uint32_t i = 0; i < count; i++)
        take(p, &list[i]);
    free(list);
    free(mine.data);
    pt_group_bytes_release(all, group->size);
}
