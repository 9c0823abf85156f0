/*
 * Which accesses all threads know, so that nothing later races with them: what a cell that has grown may forget.
 *
 * Guarantee: an access that is said to be past happens before whatever any thread that has begun does from here on, and
 * before what those do that they fork. Cost: all threads' clocks are looked through once in so many events that it is
 * a few comparisons for each event.
 */
#include "engine/races.h"

/* What one thread knows bounds what all know. Threads that have learned from each other have chunks in common; what was
 * looked at for the thread before is not looked at again, unless that one's own clock is in it. */
static void bound_known(struct races *r, const struct races_thread *t, const struct races_thread *before)
{
    const struct pt_vec *past = t->hb.past, *other = before ? before->hb.past : NULL;
    for (uint32_t i = 0; i * PT_VEC_CHUNK < r->thread_count; i++) {
        const struct pt_vec_chunk *chunk = past && i < past->count ? past->chunks[i] : NULL;
        if (chunk && other && i < other->count && other->chunks[i] == chunk && before->hb.id / PT_VEC_CHUNK != i)
            continue;
        for (uint32_t k = i * PT_VEC_CHUNK; k < (i + 1) * PT_VEC_CHUNK && k < r->thread_count; k++) {
            uint64_t clock = chunk ? chunk->at[k % PT_VEC_CHUNK] : 0;
            if (k != t->hb.id && clock < r->threads[k].known)
                r->threads[k].known = clock;
        }
    }
}

/* The clock up to which all other threads know a thread. It only grows, so an older one is no mistake: all are looked
 * up anew after so many events that this costs little. */
static void find_known(struct races *r)
{
    const struct races_thread *before = NULL;
    for (uint32_t i = 0; i < r->thread_count; i++)
        r->threads[i].known = r->threads[i].hb.clock; /* whoever is forked later knows what comes before the fork */
    for (uint32_t i = 0; i < r->thread_count; i++) {
        const struct races_thread *t = &r->threads[i];
        if (!t->begun || t->ended)
            continue;
        bound_known(r, t, before);
        before = t;
    }
    r->known_at = r->run.events;
    r->known_count = r->thread_count;
}

static uint64_t known_to_all(struct races *r, uint32_t thread)
{
    if (thread >= r->known_count || r->run.events - r->known_at >= 64 * (uint64_t)r->thread_count)
        find_known(r);
    return r->threads[thread].known;
}

bool pt_races_is_past(void *context, pt_epoch epoch)
{
    struct races *r = context;
    bool past = pt_epoch_clock(epoch) <= known_to_all(r, pt_epoch_thread(epoch));
    r->pruned |= past;
    return past;
}
