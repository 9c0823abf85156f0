/*
 * The cone of one property by two threads, where stretches of the trace (stretch.h) cannot be explored side by side, or
 * did not join. What cuts a level has does not depend on the property (ranks.c), so one
 * thread, the caller's, makes levels one after the other as events come, and another one, some levels behind, fills
 * them with runs, letters and sets, looks for violations and remembers them. A level is too small to be divided among
 * threads that meet at its end, but they need not meet: levels are handed on in a ring (handed.c), many at a time.
 *
 * Who makes has the events, the columns, Q, a window and words; who fills has a window and words of its own, the levels
 * `current` and `next`, the history, the counts of the finding and the first worker. The monitor is used by both, with
 * the lock of the sets. What becomes dispensable in the history is forgotten by who makes.
 *
 * A level in which there is something to tell (a violation, an error, a limit) is left as it is by who fills it, and
 * nothing is filled any more. The caller finds that out later, goes back to that level and does what would have been
 * done there and then; levels that it has made since are dropped. What it finds is the same, since by then nothing but
 * the level's own past is looked at. Where the exploration would go on from there (`exhaustive`) this is not done.
 *
 * Whether it pays depends on how far the cores are from each other and what else they do, so both ways are timed, where
 * the options have a clock, and now and then again.
 *
 * Guarantee: the same findings as by one thread. Cost: with windows of 64 cuts three cache lines pass from one core to
 * the other for each level, and some more for every 64.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/handed.h"

/* Levels that are not filled yet; and that are handed on together: telling each other takes one core's lines from the
 * other twice, whatever the number. */
enum { SLOTS = LAT_RELAY_SLOTS, AT_A_TIME = SLOTS / 4 };
/* Levels of words: before it is worth starting a thread, which takes 50 us, and caches are warm; what is timed; and
 * until the next time, if it was slower. Who begins to fill takes over the memory of all remembered levels, line by
 * line, as they are forgotten: that is not timed. */
enum { WARM_UP = 256, TRIAL = 1024, TAKE_OVER = LAT_BOUNDED_LEVELS + TRIAL, UNTIL_NEXT_TRIAL = 1 << 17 };
#define WORTH_KEEPING 0.9 /* of the time that one thread takes: the other core could do something else */
enum { SPINS = 2000 };

struct lat_relay {
    pthread_t thread;
    struct pt_lattice *lattice;
    pthread_mutex_t lock;
    pthread_cond_t work, progress;
    uint32_t spins;
    bool quit; /* changed with the lock */
    struct lat_ring ring;

    /* The caller's. Levels have numbers: those below `made` may be filled, those below `filled` are. */
    _Alignas(LAT_CACHE_LINE) uint64_t handed; /* what `made` is */
    uint64_t known;                           /* what `filled` was when it was looked at last */
    uint64_t states;                          /* in all levels that are made */
    uint64_t position;                        /* of the next level */
    uint64_t positions[SLOTS];                /* of those that were not filled when it was looked at, by number */

    _Alignas(LAT_CACHE_LINE) _Atomic uint64_t made;
    _Atomic uint64_t upto;     /* the position of the level after those */
    _Atomic bool maker_sleeps; /* changed with the lock */

    _Alignas(LAT_CACHE_LINE) _Atomic uint64_t filled;
    _Atomic uint64_t dispensable; /* what levels before this one alone need */
    _Atomic bool halted;          /* at level `filled` there is something to tell */
    _Atomic bool filler_sleeps;   /* changed with the lock */

    /* Who fills alone has these. */
    _Alignas(LAT_CACHE_LINE) struct lat_rank_level level;
    uint64_t taken;     /* the position of the next one */
    uint64_t forgotten; /* what `dispensable` will be */
};

static bool may_relay(const struct pt_lattice *l)
{
    return l->options->relays && !l->options->memory_limit && !l->options->exhaustive && !l->module;
}

bool pt_lattice_may_relay(const struct pt_lattice *root)
{
    const struct pt_lattice *l = root->heir ? root->heir : root;
    return may_relay(l) && (l->ranked || (lat_has_crowded_row(l) && lat_stretch_waits(l)));
}

static inline void pause_briefly(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* ---- who fills ---- */

static bool has_work(const struct lat_relay *relay)
{
    return relay->made > relay->filled;
}

/* False: there will be none. */
static bool wait_for_work(struct lat_relay *relay)
{
    for (uint32_t i = 0; i < relay->spins; i++) {
        if (has_work(relay))
            return true;
        pause_briefly();
    }
    pthread_mutex_lock(&relay->lock);
    relay->filler_sleeps = true; /* before it looks, as the maker hands on before it looks here */
    while (!has_work(relay) && !relay->quit)
        pthread_cond_wait(&relay->work, &relay->lock);
    relay->filler_sleeps = false;
    bool work = !relay->quit;
    pthread_mutex_unlock(&relay->lock);
    return work;
}

static void tell_progress(struct lat_relay *relay)
{
    if (!relay->maker_sleeps)
        return;
    pthread_mutex_lock(&relay->lock);
    pthread_cond_signal(&relay->progress);
    pthread_mutex_unlock(&relay->lock);
}

/* So many levels are filled. */
static void tell_filled(struct lat_relay *relay, uint64_t number, bool halted)
{
    atomic_store_explicit(&relay->dispensable, relay->forgotten, memory_order_relaxed);
    atomic_store_explicit(&relay->filled, number, memory_order_release);
    if (halted)
        atomic_store_explicit(&relay->halted, true, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst); /* before it looks, as the maker is asleep before it looks here */
    tell_progress(relay);
}

/* Levels are handed on together from one whose number is a multiple on. */
static bool is_first(uint64_t number)
{
    return number % AT_A_TIME == 0;
}

static bool fill_level(struct lat_relay *relay, uint64_t number)
{
    struct pt_lattice *l = relay->lattice;
    struct lat_rank_level *level = &relay->level;
    uint64_t upto = atomic_load_explicit(&relay->upto, memory_order_relaxed);
    relay->taken = lat_ring_get(&relay->ring, relay->taken, is_first(number), upto, level);
    lat_ranks_fill(l, level, true);
    struct lat_level *swap = l->current;
    l->current = l->next;
    l->next = swap;
    return lat_level_quiet(l, &l->ranks->tally, &(struct lat_tally){level->level + 1, .bytes = level->event_bytes});
}

static void *filler_main(void *argument)
{
    struct lat_relay *relay = argument;
    while (wait_for_work(relay)) {
        uint64_t number = relay->filled, made = relay->made;
        while (number < made) {
            if (!fill_level(relay, number)) {
                tell_filled(relay, number, true);
                return NULL;
            }
            if (is_first(++number) || number == made)
                tell_filled(relay, number, false);
        }
    }
    return NULL;
}

void lat_relay_forget(struct pt_lattice *l, uint64_t level)
{
    struct lat_relay *relay = l->ranks ? l->ranks->relay : NULL;
    if (relay && l->ranked)
        relay->forgotten = level;
    else
        lat_free_passed(l, level);
}

/* ---- who makes ---- */

/* Who fills, and is not at work, begins after the last level, with its words. */
static void begin_here(struct lat_ranks *r, struct lat_relay *relay)
{
    memcpy(r->own_words, r->words, r->count * sizeof *r->words);
    relay->level.level = r->making.level;
    relay->taken = relay->position;
    relay->filled = relay->known = r->made;
    relay->made = relay->handed = r->made;
}

/* What was counted while nobody looked. Nobody fills. */
static void take_tally(struct pt_lattice *l)
{
    struct lat_tally *tally = &l->ranks->tally;
    struct pt_finding *finding = l->finding;
    finding->levels = tally->levels > finding->levels ? tally->levels : finding->levels;
    finding->states += tally->states;
    finding->width = tally->width > finding->width ? tally->width : finding->width;
    uint64_t bytes = tally->bytes + pt_sets_bytes(l->sets);
    l->peak = bytes > l->peak ? bytes : l->peak;
    *tally = (struct lat_tally){0};
}

static void relay_free(struct lat_relay *relay)
{
    pthread_mutex_destroy(&relay->lock);
    pthread_cond_destroy(&relay->work);
    pthread_cond_destroy(&relay->progress);
    lat_ring_release(&relay->ring);
    free(relay->level.parents);
    free(relay);
}

static void make_own(struct pt_lattice *l)
{
    size_t bytes = l->options->window * sizeof(lat_word);
    if (l->ranks->own_words)
        return;
    l->ranks->own_words = pt_xaligned(LAT_CACHE_LINE, bytes);
    l->ranks->own_from = pt_xaligned(LAT_CACHE_LINE, bytes);
}

static void start(struct pt_lattice *l)
{
    struct lat_relay *relay = pt_xaligned(LAT_CACHE_LINE, sizeof *relay);
    relay->lattice = l;
    relay->spins = l->options->cores >= 2 ? SPINS : 0;
    relay->states = l->finding->states;
    pthread_mutex_init(&relay->lock, NULL);
    pthread_cond_init(&relay->work, NULL);
    pthread_cond_init(&relay->progress, NULL);
    lat_workers_grow(l, 2); /* the caller has the second one */
    make_own(l);
    lat_ring_init(&relay->ring, l);
    relay->level.parents = lat_rank_parents(l);
    begin_here(l->ranks, relay);
    l->ranks->relay = relay;
    l->relayed = true;
    if (pthread_create(&relay->thread, NULL, filler_main, relay) == 0)
        return;
    l->ranks->relay = NULL;
    l->ranks->alone = true;
    l->relayed = false;
    relay_free(relay);
}

void lat_relay_quit(struct pt_lattice *l)
{
    struct lat_relay *relay = l->ranks ? l->ranks->relay : NULL;
    if (!relay)
        return;
    pthread_mutex_lock(&relay->lock);
    relay->quit = true;
    pthread_cond_signal(&relay->work);
    pthread_mutex_unlock(&relay->lock);
    pthread_join(relay->thread, NULL);
    take_tally(l);
    l->ranks->filling = &l->ranks->making;
    relay_free(relay);
    l->ranks->relay = NULL;
    l->ranks->alone = true;
    l->relayed = false;
}

static void hand_on(struct pt_lattice *l)
{
    struct lat_relay *relay = l->ranks->relay;
    if (relay->handed == l->ranks->made)
        return;
    lat_ring_publish(&relay->ring, relay->upto, relay->position);
    atomic_store_explicit(&relay->upto, relay->position, memory_order_relaxed);
    relay->made = relay->handed = l->ranks->made;
    if (relay->filler_sleeps) {
        pthread_mutex_lock(&relay->lock);
        pthread_cond_signal(&relay->work);
        pthread_mutex_unlock(&relay->lock);
    }
}

static bool far_enough(struct lat_relay *relay, uint64_t number)
{
    relay->known = relay->filled;
    return relay->known >= number || relay->halted;
}

/* Until all levels below this number are filled, or none will be any more. */
static void wait_for_filled(struct pt_lattice *l, uint64_t number)
{
    struct lat_relay *relay = l->ranks->relay;
    hand_on(l);
    for (uint32_t i = 0; i < relay->spins; i++) {
        if (far_enough(relay, number))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&relay->lock);
    relay->maker_sleeps = true;
    while (!far_enough(relay, number))
        pthread_cond_wait(&relay->progress, &relay->lock);
    relay->maker_sleeps = false;
    pthread_mutex_unlock(&relay->lock);
}

/* Back to the level at which there is something to tell; it is told. */
static void tell(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    struct lat_rank_level level = r->relay->level;
    uint64_t dispensable = r->relay->dispensable;
    lat_relay_quit(l);
    level.parents = r->making.parents;
    r->making = level;
    lat_window_rewind(l, r->own_words, level.count);
    lat_free_passed(l, dispensable);
    lat_unpass(l, level.level);
    l->level = level.level;
    lat_ranks_settle(l);
    if (!lat_level_done(l))
        l->stopped = true;
}

void lat_relay_drain(struct pt_lattice *l)
{
    struct lat_relay *relay = l->ranks ? l->ranks->relay : NULL;
    if (!relay)
        return;
    wait_for_filled(l, l->ranks->made);
    if (relay->halted) {
        tell(l);
    } else {
        lat_free_passed(l, relay->dispensable);
        take_tally(l);
    }
}

static uint64_t time_of(const struct pt_lattice *l)
{
    return l->options->now ? l->options->now() : 0;
}

/* Nanoseconds for a level since the trial began; the next one begins. */
static double trial_ends(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    uint64_t now = time_of(l);
    double each = (double)(now - r->trial_since) / (double)(l->level - r->trial_level);
    r->trial_since = now;
    r->trial_level = l->level;
    return each;
}

/* Nobody else fills; is it time that somebody does? The last levels before that are timed. */
static bool is_due(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    if (r->trial_due < r->entered) /* there were levels without words since then */
        r->trial_due = l->level + (r->alone ? UNTIL_NEXT_TRIAL : WARM_UP) + TRIAL;
    if (l->level + TRIAL == r->trial_due) {
        r->trial_level = l->level;
        r->trial_since = time_of(l);
    }
    /* Words of another window than that of the last level are not its own. */
    if ((l->level < r->trial_due && !l->options->cuts_for_each) || r->taken_out)
        return false;
    r->alone_ns = trial_ends(l);
    r->alone = false;
    r->on_trial = true;
    r->trial_level = l->level + TAKE_OVER;
    r->trial_due = 0;
    return true;
}

/* Somebody else fills: does that take longer? */
static bool is_slower(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    if (l->level == r->trial_level)
        r->trial_since = time_of(l);
    if (!r->on_trial || l->level < r->trial_level + TRIAL)
        return false;
    bool whole = r->trial_level >= r->entered;
    double each = trial_ends(l);
    r->on_trial = !whole;
    return whole && each > WORTH_KEEPING * r->alone_ns;
}

/* For another level, by what is known, and then by what is so. */
static bool has_room(struct lat_ranks *r)
{
    struct lat_relay *relay = r->relay;
    for (int turn = 0; turn < 2; turn++) {
        uint64_t oldest = relay->known == r->made ? relay->position : relay->positions[relay->known % SLOTS];
        if (r->made - relay->known < SLOTS && lat_ring_has_room(&relay->ring, oldest, relay->position))
            return true;
        if (far_enough(relay, r->made))
            return true;
    }
    return false;
}

bool lat_relay_ready(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    if (!may_relay(l) || l->options->relays_wait)
        return false;
    if (lat_stretch_hopes(l)) { /* that would be faster */
        lat_relay_drain(l);
        if (!l->stopped)
            lat_relay_quit(l);
        return false;
    }
    if (!r->relay) {
        if (!is_due(l))
            return false;
        start(l);
        if (!r->relay)
            return false;
    }
    struct lat_relay *relay = r->relay;
    while (!has_room(r)) /* until half of them are filled */
        wait_for_filled(l, relay->known + (r->made - relay->known + 1) / 2);
    if (r->made == relay->handed && relay->halted) { /* asked when something was handed on: the line is the other's */
        tell(l);
        return false;
    }
    bool interrupted = l->options->interrupted && l->options->interrupted(l->options->context);
    if (!interrupted && !is_slower(l))
        return true;
    lat_relay_drain(l);
    lat_relay_quit(l); /* that it is interrupted is noticed at the next level */
    return false;
}

void lat_relay_made(struct pt_lattice *l)
{
    struct lat_ranks *r = l->ranks;
    struct lat_relay *relay = r->relay;
    relay->positions[(r->made - 1) % SLOTS] = relay->position;
    relay->position = lat_ring_put(&relay->ring, relay->position, is_first(r->made - 1), &r->making);
    l->level++;
    relay->states += r->count;
    lat_ranks_settle(l);
    bool much = relay->position - relay->upto >= relay->ring.size / 4;
    if (is_first(r->made) || much || !has_room(r)) {
        hand_on(l);
        lat_free_passed(l, atomic_load_explicit(&relay->dispensable, memory_order_acquire));
    }
    if (l->options->progress && (l->level & 15) == 0)
        l->options->progress(l->options->context, l->finding->property, l->level, relay->states);
}

void lat_relay_skip(struct pt_lattice *l)
{
    if (l->ranks->relay)
        begin_here(l->ranks, l->ranks->relay);
}
