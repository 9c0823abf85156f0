/*
 * Which events can come before which. The least set that has to be in the run is the union of what all events need, and
 * the closure of it (closure.c) is the least run of the order `sync`: if an event that is to be next is in it, it is in
 * every run that contains the others.
 *
 * Guarantee: exact in `sync`; in slices.c's runs some are missed. Nothing is an answer before pt_precede_judge has
 * played it. Cost: a closure; for slices a few passes over the log; for the judge two.
 */
#include "predict/precede.h"

#include <stdlib.h>
#include <string.h>

#include "predict/slices.h"

enum { NEXT_MAX = 4 };

void pt_precede_release(struct pt_precede *p)
{
    free(p->first);
    free(p->upto);
    *p = (struct pt_precede){0};
}

/* What all of them need. */
static void unite(struct pt_precede *p, const struct pt_precede_question *q)
{
    size_t threads = (size_t)p->trf->thread_count + 1;
    if (p->cap < threads) {
        p->first = pt_xrealloc(p->first, threads * sizeof *p->first);
        p->upto = pt_xrealloc(p->upto, threads * sizeof *p->upto);
        p->cap = threads;
    }
    memset(p->upto, 0, threads * sizeof *p->upto);
    for (uint32_t i = 0; i < q->taken_count; i++)
        pt_trf_include(p->upto, q->taken[i].thread, q->taken[i].number, q->taken[i].past);
    for (uint32_t i = 0; i < q->next_count; i++)
        pt_trf_include(p->upto, q->next[i].thread, q->next[i].number - 1, q->next[i].past);
}

static bool are_next(const struct pt_precede *p, const struct pt_precede_question *q)
{
    for (uint32_t i = 0; i < q->next_count; i++)
        if (p->upto[q->next[i].thread] + 1 != q->next[i].number)
            return false;
    return true;
}

bool pt_precede_sync(struct pt_precede *p, const struct pt_precede_question *q)
{
    unite(p, q);
    if (!are_next(p, q) || !pt_trf_close(p->trf, p->upto) || !are_next(p, q))
        return false;
    memcpy(p->first, p->upto, p->cap * sizeof *p->first);
    return true;
}

bool pt_precede_slices(struct pt_precede *p, const struct pt_precede_question *q, bool pull, uint64_t *effort)
{
    struct pt_slices_target targets[NEXT_MAX];
    unite(p, q);
    if (!are_next(p, q))
        return false;
    for (uint32_t i = 0; i < q->next_count; i++)
        targets[i] = (struct pt_slices_target){q->next[i].thread, q->next[i].number};
    return pt_slices_find(p->trf, p->log, targets, q->next_count, pull, p->first, p->upto, effort);
}

bool pt_precede_judge(const struct pt_precede *p, const struct pt_precede_question *q, struct pt_replay *replay)
{
    const struct pt_replay_run run = {p->first, p->upto, p->trf->thread_count};
    if (!pt_replay_play(replay, p->log, &run))
        return false;
    for (uint32_t i = 0; i < q->taken_count; i++)
        if (replay->taken[q->taken[i].thread] < q->taken[i].number)
            return false;
    for (uint32_t i = 0; i < q->next_count; i++) {
        uint32_t thread = q->next[i].thread;
        if (replay->unforked[thread] || replay->taken[thread] + 1 != q->next[i].number ||
            !pt_replay_next(replay, thread))
            return false;
    }
    return true;
}
