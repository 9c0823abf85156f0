/*
 * Reads of pointers that can come after a store of null, or before the first store. The read is the last event of such
 * a run, so that it need not see what it saw; what it sees then is the latest store in the run.
 *
 * The least run after which the read is next says what it sees if nobody else does anything: null, nothing yet, or
 * something else. Beside that, each store of null that is not in it may come in, with what it needs: if that run is
 * possible, and the store the latest in it, the read sees null. A store that is followed by another in the least run is
 * followed by it in all. Beyond the order `sync` the store may come right before the read, after others that the
 * recorded run had after it.
 *
 * Guarantee: as lifetimes.c says. Cost: a closure for each read that is dereferenced and for each pair of one and a
 * store of null by another thread that neither needs the other.
 */
#include <stdlib.h>

#include "engine/lifetimes.h"

static struct life_pointer *pointer_at(struct life_scan *s, uint32_t var)
{
    PT_ROOM(s->pointers, s->pointer_cap, var);
    return &s->pointers[var];
}

static uint64_t by_thread(const struct pt_log_event *event)
{
    return (uint64_t)event->object << 32 | event->thread;
}

void pt_lifetimes_pointer_read(struct life_scan *s, const struct pt_log_event *event, enum life_value value)
{
    uint32_t *before = pt_map64_at(&s->read_before, by_thread(event));
    bool checked = *before == LIFE_OTHER;
    *before = value;
    uint64_t place = pt_lifetimes_place(s->l, event->loc, event->object);
    if (value != LIFE_DEREFERENCED || !s->predicts || (!checked && pt_map64_get(&s->l->null_reads, place) != PT_NONE))
        return;
    struct life_pointer *pointer = pointer_at(s, event->object);
    struct life_event read = pt_lifetimes_event(s, event, s->trf.threads[event->thread].hb.clock);
    read.checked = checked;
    read.writes = pointer->writes.count;
    struct life_event *last = pointer->reads.count ? &pointer->reads.events[pointer->reads.count - 1] : NULL;
    if (last && last->at.thread == read.at.thread && last->event.loc == read.event.loc && last->region == read.region &&
        last->writes == read.writes && last->checked == read.checked) {
        last->at.number = read.at.number;
        last->event = read.event;
    } else {
        pt_lifetimes_keep(s, &pointer->reads, &read);
    }
}

void pt_lifetimes_pointer_write(struct life_scan *s, const struct pt_log_event *event, enum life_value value)
{
    *pt_map64_at(&s->read_before, by_thread(event)) = LIFE_UNKNOWN;
    if (!s->predicts)
        return;
    struct life_event write = pt_lifetimes_event(s, event, s->trf.threads[event->thread].hb.clock - 1);
    write.null = value == LIFE_NULL && !event->to;
    pt_lifetimes_keep(s, &pointer_at(s, event->object)->writes, &write);
}

/* The latest store in the run that was found; NULL: none. */
static const struct life_event *find_latest(const struct life_scan *s, uint32_t var)
{
    const struct life_list *writes = &s->pointers[var].writes;
    for (uint32_t i = writes->count; i > 0; i--)
        if (writes->events[i - 1].at.number <= s->precede.upto[writes->events[i - 1].at.thread])
            return &writes->events[i - 1];
    return NULL;
}

bool pt_lifetimes_is_latest(const struct life_scan *s, uint32_t var, const struct life_event *store)
{
    return find_latest(s, var) == store;
}

struct life_pair pt_lifetimes_null_pair(const struct life_event *read, const struct life_event *store)
{
    return (struct life_pair){read, store, read->checked ? "null after check" : "null dereference", NULL};
}

/* Whether the first store comes before the read in the recorded run, and the pointer is null before that. */
bool pt_lifetimes_is_initialised(const struct life_scan *s, const struct life_event *read)
{
    return read->writes && !s->l->vars[read->event.object].set;
}

struct life_pair pt_lifetimes_initial_pair(const struct life_pointer *pointer, const struct life_event *read)
{
    return (struct life_pair){read, pointer->writes.events, "use before initialisation", NULL};
}

/* The least run: what the read sees if nobody else does anything. */
static void try_least(struct life_scan *s, const struct life_pointer *pointer, const struct life_event *read)
{
    const struct pt_precede_question alone = {.next = &read->at, .next_count = 1};
    const struct life_event *sees = NULL;
    if (!s->trf.plain) {
        if (!pt_precede_sync(&s->precede, &alone))
            return;
        sees = find_latest(s, read->event.object);
    }
    struct life_pair pair = sees ? pt_lifetimes_null_pair(read, sees) : pt_lifetimes_initial_pair(pointer, read);
    if ((sees ? sees->null : pt_lifetimes_is_initialised(s, read)) && pt_lifetimes_may_try(s, &pair))
        pt_lifetimes_try(s, &pair, LIFE_WITHOUT, sees);
}

/* Whether a run may have the store before the read that the least one has not there already. */
static bool may_come_in(const struct life_scan *s, const struct life_event *read, const struct life_event *store)
{
    if (!store->null || pt_vec_at(store->at.past, read->at.thread) >= read->at.number)
        return false;
    if (store->at.thread == read->at.thread)
        return s->trf.plain && store->at.number < read->at.number;
    return s->trf.plain || pt_vec_at(read->at.past, store->at.thread) < store->at.number;
}

static void try_read(struct life_scan *s, const struct life_pointer *pointer, const struct life_event *read,
                     enum life_way way)
{
    for (uint32_t i = pointer->writes.count; i > 0; i--) {
        const struct life_event *store = &pointer->writes.events[i - 1];
        const struct life_pair pair = pt_lifetimes_null_pair(read, store);
        bool apart = store->at.thread != read->at.thread && store->event.op == PT_OP_WRITE;
        if (may_come_in(s, read, store) && (way == LIFE_WITHIN || apart) && pt_lifetimes_may_try(s, &pair))
            pt_lifetimes_try(s, &pair, way, store);
    }
}

void pt_lifetimes_pointers(struct life_scan *s)
{
    bool beyond = s->l->options.order >= PT_CHECK_VALUES;
    for (int way = LIFE_WITHOUT; way <= (beyond ? LIFE_LAST : LIFE_WITHIN); way++)
        for (size_t i = 0; i < s->pointer_cap; i++) {
            const struct life_pointer *pointer = &s->pointers[i];
            for (uint32_t k = 0; k < pointer->reads.count && !s->l->vars[i].unseen; k++)
                if (way == LIFE_WITHOUT)
                    try_least(s, pointer, &pointer->reads.events[k]);
                else
                    try_read(s, pointer, &pointer->reads.events[k], way);
        }
}
