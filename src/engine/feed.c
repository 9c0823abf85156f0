/*
 * A ring of slots and, for each taker, how many batches it has taken, all under one lock, which is taken once or twice
 * for a batch: batches should be worth some tens of microseconds. Nobody looks on while there is nothing to do, since
 * the cores may be somebody else's.
 *
 * Guarantee: a slot is filled again only when all takers have done with it; the floor is one taker's, while nobody else
 * runs. No two can wait for each other: who asks for the floor waits for the owner, and the owner, which waits at the
 * latest when the ring is full, for takers that run and need nothing but what was handed on.
 */
#include "engine/feed.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"

struct taker {
    struct pt_feed *feed;
    pthread_t thread;
    uint64_t taken;
    bool takes; /* a batch, at present: of the thread itself */
    bool asks;  /* for the floor */
    uint64_t time;
    uint32_t rank;
};

struct pt_feed {
    struct taker *takers;
    unsigned count;
    void (*take)(void *context, unsigned taker, unsigned slot);
    void *context;
    pthread_mutex_t lock; /* of all that follows, and of the takers */
    pthread_cond_t work, progress, floor;
    uint64_t handed;
    unsigned sleepers, asking;
    const struct taker *speaks; /* has the floor; NULL: nobody */
    bool owner_waits, quit;
};

/* --- takers --- */

static void *taker_main(void *argument)
{
    struct taker *t = argument;
    struct pt_feed *feed = t->feed;
    pthread_mutex_lock(&feed->lock);
    while (!feed->quit) {
        if (t->taken == feed->handed) {
            feed->sleepers++;
            pthread_cond_wait(&feed->work, &feed->lock);
            feed->sleepers--;
            continue;
        }
        pthread_mutex_unlock(&feed->lock);
        t->takes = true;
        feed->take(feed->context, (unsigned)(t - feed->takers), (unsigned)(t->taken % PT_FEED_SLOTS));
        t->takes = false;
        pthread_mutex_lock(&feed->lock);
        t->taken++;
        if (feed->owner_waits)
            pthread_cond_signal(&feed->progress);
    }
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

void pt_feed_begin(struct pt_feed *feed, unsigned taker, uint64_t time, uint32_t rank)
{
    struct taker *t = &feed->takers[taker];
    if (!t->takes)
        return;
    pthread_mutex_lock(&feed->lock);
    t->asks = true;
    t->time = time;
    t->rank = rank;
    feed->asking++;
    if (feed->owner_waits)
        pthread_cond_signal(&feed->progress);
    while (feed->speaks != t)
        pthread_cond_wait(&feed->floor, &feed->lock);
    t->asks = false;
    feed->asking--;
    pthread_mutex_unlock(&feed->lock);
}

void pt_feed_end(struct pt_feed *feed, unsigned taker)
{
    if (!feed->takers[taker].takes)
        return;
    pthread_mutex_lock(&feed->lock);
    feed->speaks = NULL;
    pthread_cond_signal(&feed->progress);
    pthread_mutex_unlock(&feed->lock);
}

/* --- the owner, with the lock --- */

static bool has_room(const struct pt_feed *feed)
{
    for (unsigned i = 0; i < feed->count; i++)
        if (feed->handed - feed->takers[i].taken == PT_FEED_SLOTS)
            return false;
    return true;
}

static bool is_drained(const struct pt_feed *feed)
{
    for (unsigned i = 0; i < feed->count; i++)
        if (feed->takers[i].taken != feed->handed)
            return false;
    return true;
}

static bool comes_before(const struct taker *a, const struct taker *b)
{
    return a->time < b->time || (a->time == b->time && a->rank < b->rank);
}

/* Who is to have the floor; NULL: somebody may still come with what is earlier. */
static const struct taker *next_speaker(const struct pt_feed *feed)
{
    const struct taker *first = NULL;
    for (unsigned i = 0; i < feed->count; i++) {
        const struct taker *t = &feed->takers[i];
        if (!t->asks && t->taken != feed->handed)
            return NULL;
        if (t->asks && (!first || comes_before(t, first)))
            first = t;
    }
    return first;
}

/* Something has happened, or somebody may be heard. */
static void wait_once(struct pt_feed *feed)
{
    const struct taker *speaker = feed->asking ? next_speaker(feed) : NULL;
    feed->owner_waits = true;
    if (speaker) {
        feed->speaks = speaker;
        pthread_cond_broadcast(&feed->floor);
        while (feed->speaks)
            pthread_cond_wait(&feed->progress, &feed->lock);
    } else {
        pthread_cond_wait(&feed->progress, &feed->lock);
    }
    feed->owner_waits = false;
}

unsigned pt_feed_slot(struct pt_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    while (!has_room(feed))
        wait_once(feed);
    unsigned slot = (unsigned)(feed->handed % PT_FEED_SLOTS);
    pthread_mutex_unlock(&feed->lock);
    return slot;
}

void pt_feed_hand(struct pt_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    feed->handed++;
    if (feed->sleepers)
        pthread_cond_broadcast(&feed->work);
    while (feed->asking)
        wait_once(feed);
    pthread_mutex_unlock(&feed->lock);
}

void pt_feed_drain(struct pt_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    while (!is_drained(feed))
        wait_once(feed);
    pthread_mutex_unlock(&feed->lock);
}

bool pt_feed_is_drained(struct pt_feed *feed)
{
    pthread_mutex_lock(&feed->lock);
    bool drained = is_drained(feed);
    pthread_mutex_unlock(&feed->lock);
    return drained;
}

/* Signals are for the other threads. */
static unsigned start_threads(struct pt_feed *feed, unsigned takers)
{
    sigset_t all, before;
    unsigned started = 0;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return 0;
    while (started < takers &&
           pthread_create(&feed->takers[started].thread, NULL, taker_main, &feed->takers[started]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

struct pt_feed *pt_feed_new(unsigned takers, void (*take)(void *context, unsigned taker, unsigned slot), void *context)
{
    struct pt_feed *feed = pt_xcalloc(1, sizeof *feed);
    feed->takers = pt_xcalloc(takers, sizeof *feed->takers);
    feed->take = take;
    feed->context = context;
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->work, NULL);
    pthread_cond_init(&feed->progress, NULL);
    pthread_cond_init(&feed->floor, NULL);
    for (unsigned i = 0; i < takers; i++)
        feed->takers[i].feed = feed;
    feed->count = start_threads(feed, takers);
    if (feed->count == takers)
        return feed;
    pt_feed_free(feed);
    return NULL;
}

void pt_feed_free(struct pt_feed *feed)
{
    if (!feed)
        return;
    pt_feed_drain(feed); /* somebody may wait for the floor */
    pthread_mutex_lock(&feed->lock);
    feed->quit = true;
    pthread_cond_broadcast(&feed->work);
    pthread_mutex_unlock(&feed->lock);
    for (unsigned i = 0; i < feed->count; i++)
        pthread_join(feed->takers[i].thread, NULL);
    pthread_mutex_destroy(&feed->lock);
    pthread_cond_destroy(&feed->work);
    pthread_cond_destroy(&feed->progress);
    pthread_cond_destroy(&feed->floor);
    free(feed->takers);
    free(feed);
}
