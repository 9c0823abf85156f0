/*
 * Uses after a free that the two slices of lifetimes_scan.c do not reach: the search in `values` is asked for a run
 * that has the free and after which the use is next (meeting.h). There a read may see any write of its value, and
 * sections of locks come in any order.
 *
 * A possible run says nothing about memory (order/possible.h), so the search is told what uses and frees need: the
 * alloc that came before them; and an alloc the free before it.
 *
 * Guarantee: of each pair of places MEETS pairs of events are asked for, until there is a run; each answer is exact
 * where the effort lasts, and nothing is said where it does not. Cost: a search for each, all together within the
 * check's effort; what no run can have, since the free needs the use by joins and the like, costs no search
 * (wide/must.c).
 */
#include "engine/lifetimes.h"

enum { MEETS = 32 };

static bool asks(const struct life_scan *s)
{
    return s->trf.plain && s->predicts && s->l->meeting.log;
}

/* Of each thread the first event that needs the alloc tells it; what comes after it there needs it too. */
void pt_lifetimes_tell_use(struct life_scan *s, const struct pt_log_event *event, uint32_t id)
{
    const struct life_block *block = &s->blocks[id];
    if (!asks(s) || !block->is_made || block->made.thread == event->thread)
        return;
    uint32_t *told = pt_map64_at(&s->told, (uint64_t)event->thread << 32 | id);
    if (*told == (uint32_t)block->made.event)
        return;
    *told = (uint32_t)block->made.event;
    pt_meeting_need(&s->l->meeting, event->event, block->made.event);
}

void pt_lifetimes_tell_alloc(struct life_scan *s, const struct pt_log_event *event)
{
    const struct life_block *block = &s->blocks[event->object];
    if (asks(s) && block->last_free.event && block->last_free.thread != event->thread)
        pt_meeting_need(&s->l->meeting, event->event, block->last_free.event);
}

bool pt_lifetimes_may_meet(struct life_scan *s, const struct life_pair *pair)
{
    uint64_t key = pt_lifetimes_key(s->l, pair);
    if (!asks(s) || pt_map64_get(&s->l->known, key) != PT_NONE)
        return false;
    uint32_t *meets = pt_map64_at(&s->meets, key);
    *meets = *meets == PT_NONE ? 1 : *meets + 1;
    return *meets <= MEETS;
}

/* ---- the questions ---- */

static void meet_frees(struct life_scan *s)
{
    for (uint32_t i = 0; i < s->deferred_count; i++) {
        const struct life_deferred *deferred = &s->deferred[i];
        const struct life_event *use = &deferred->events.events[0], *freed = &deferred->events.events[1];
        const struct life_pair pair = {use, freed, NULL, &deferred->block};
        if (deferred->search && pt_map64_get(&s->l->known, pt_lifetimes_key(s->l, &pair)) == PT_NONE &&
            pt_meeting_find_after(&s->l->meeting, &freed->event.event, 1, &use->event.event, 1))
            pt_lifetimes_report(s, &pair, LIFE_MET, NULL);
    }
}

/* `store`: the number of the one that the read would see, 0: none. */
static void meet_read(struct life_scan *s, const struct life_pair *pair, uint64_t store)
{
    const struct pt_log_event *read = &pair->use->event;
    if (pt_lifetimes_may_meet(s, pair) && pt_meeting_find_seeing(&s->l->meeting, read->object, store, read->event))
        pt_lifetimes_report(s, pair, LIFE_MET, NULL);
}

static void meet_stores(struct life_scan *s, const struct life_pointer *pointer, const struct life_event *read)
{
    for (uint32_t i = pointer->writes.count; i > 0; i--) {
        const struct life_event *store = &pointer->writes.events[i - 1];
        const struct life_pair pair = pt_lifetimes_null_pair(read, store);
        if (store->null && (store->at.thread != read->at.thread || store->at.number < read->at.number))
            meet_read(s, &pair, store->event.event);
    }
    const struct life_pair initial = pt_lifetimes_initial_pair(pointer, read);
    if (pt_lifetimes_is_initialised(s, read))
        meet_read(s, &initial, 0);
}

void pt_lifetimes_meet(struct life_scan *s)
{
    if (!asks(s))
        return;
    meet_frees(s);
    for (size_t i = 0; i < s->pointer_cap; i++)
        for (uint32_t k = 0; k < s->pointers[i].reads.count && !s->l->vars[i].unseen; k++)
            meet_stores(s, &s->pointers[i], &s->pointers[i].reads.events[k]);
}
