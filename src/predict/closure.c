/*
 * The closure of a set of events under what sections of locks need (SyncP's and SPDOffline's, prediction.md 3.3): of
 * the sections of one lock that have begun in the set all but the youngest must end in it, and what their releases need
 * must be in it. Readers' sections of one lock do not shut each other out: one of them must end only if a writer's is
 * younger.
 *
 * Only sections that are open at the end of some thread's part of the set can matter, so each round looks at those,
 * which are as many as locks are held there, and asks whether a younger one has begun.
 *
 * Guarantee: the least closed set, by rounds until nothing changes any more. Cost: for each round one bit of each
 * thread that is not settled, a search in the sections of those that have one open, galloping from the latest, and for
 * each open section one in those of each thread that uses its lock; each further round ends at least one section.
 */
#include "predict/trf.h"

/* How many of the sections, given by their indices or all that are kept of the thread, begin up to that event. */
static uint32_t count_begun(const struct pt_trf_thread *t, const uint32_t *list, uint32_t count, uint64_t upto)
{
    uint32_t low = 0, high = count, step = 1; /* those before `low` do, those from `high` on do not */
    while (low < high) {
        uint32_t at = high - low > step ? high - step : low;
        if ((list ? pt_trf_section(t, list[at]) : &t->sections[at])->acquired <= upto) {
            low = at + 1;
            break;
        }
        high = at;
        step *= 2;
    }
    while (low < high) {
        uint32_t at = low + (high - low) / 2;
        if ((list ? pt_trf_section(t, list[at]) : &t->sections[at])->acquired <= upto)
            low = at + 1;
        else
            high = at;
    }
    return low;
}

uint32_t pt_trf_section_at(const struct pt_trf_thread *t, uint64_t upto)
{
    uint32_t kept = count_begun(t, NULL, t->count - t->first, upto);
    return kept ? t->first + kept : 0;
}

bool pt_trf_is_open(const struct pt_trf *trf, uint32_t thread, uint64_t upto)
{
    const struct pt_trf_thread *t = &trf->threads[thread];
    uint32_t index = pt_trf_may_be_open(t, upto) ? pt_trf_section_at(t, upto) : 0;
    uint64_t began = index ? pt_trf_section(t, index - 1)->acquired : 0;
    for (uint32_t left = index ? pt_trf_section(t, index - 1)->held + 1 : 0; left && index > t->first;) {
        const struct pt_trf_section *section = pt_trf_section(t, index - 1);
        index = section->outer;
        left -= !section->released || section->released >= began;
        if (!section->released || section->released > upto)
            return true;
    }
    return false;
}

/* Whether a section of the same lock, which may not overlap with this one, is younger and has begun in the set. */
static bool has_younger(const struct pt_trf *trf, const uint64_t *set, uint32_t thread, const struct pt_trf_section *s)
{
    const uint64_t *settled = trf->locks[s->lock].settled; /* those have begun in every set */
    if (settled[0] > s->number || (!s->shared && settled[1] > s->number))
        return true;
    for (uint32_t i = trf->locks[s->lock].uses; i != PT_NONE; i = trf->uses[i].next) {
        const struct pt_trf_use *use = &trf->uses[i];
        const struct pt_trf_thread *t = &trf->threads[use->thread];
        if (use->youngest < s->number || use->thread == thread || (s->shared && use->shared))
            continue;
        if (use->forgotten > s->number || use->youngest_acquired <= set[use->thread])
            return true; /* the former has begun in every set that is closed */
        uint32_t last = count_begun(t, use->sections, use->count, set[use->thread]);
        if (last && pt_trf_section(t, use->sections[last - 1])->number > s->number)
            return true;
    }
    return false;
}

/* Ends what has to end of a thread's sections that are open at its end in the set. */
static bool close_thread(const struct pt_trf *trf, uint64_t *set, uint32_t thread, bool *changed)
{
    const struct pt_trf_thread *t = &trf->threads[thread];
    uint32_t index = pt_trf_section_at(t, set[thread]);
    if (!index)
        return true;
    uint64_t began = pt_trf_section(t, index - 1)->acquired;
    uint32_t left = pt_trf_section(t, index - 1)->held + 1; /* it, and those that were held when it began */
    while (index > t->first && left) {
        const struct pt_trf_section *s = pt_trf_section(t, index - 1);
        index = s->outer;
        if (s->released && s->released < began)
            continue;
        left--;
        const struct pt_trf_lock *lock = &trf->locks[s->lock];
        if ((s->released && s->released <= set[thread]) || !lock->contested || lock->latest == s->number ||
            !has_younger(trf, set, thread, s))
            continue;
        if (!s->released)
            return false;
        pt_trf_add(trf, set, thread, s->released, s->past);
        *changed = true;
    }
    return true;
}

bool pt_trf_close_more(const struct pt_trf *trf, uint64_t *set, bool *ret_more)
{
    bool changed = true, possible = true;
    *ret_more = false;
    while (changed && possible) {
        changed = false;
        for (uint32_t i = 0; i < trf->present_count && possible; i++) {
            uint32_t u = trf->present[i];
            if (pt_trf_may_be_open(&trf->threads[u], set[u]))
                possible = close_thread(trf, set, u, &changed);
        }
        *ret_more |= changed;
    }
    return possible;
}

bool pt_trf_close(const struct pt_trf *trf, uint64_t *set)
{
    bool more;
    return pt_trf_close_more(trf, set, &more);
}
