/*
 * Exploring a stretch, and the thread that has every other one (stretch.h).
 *
 * The other thread is given one stretch at a time. Who gives it changes `turn`, `goal`, `end`, `published`, `over` and
 * `quit`, and looks at the snapshots; all else of the stretch is the other's until it rests at its
 * goal, and then nobody's until that rises. What is changed is seen by who loads it with acquire, as the partner stores
 * it with release; who sleeps has said so, with the lock, before it looks a last time, and who changes something looks
 * at that afterwards.
 *
 * Cost: an event and its clock pass from one core to the other, two or three lines one after the other, of stretches
 * that are the other's; flags, once for some hundred events.
 */
#include "engine/stretch.h"

/* Events that are explored before anything is asked. */
enum { AT_A_TIME = 64, SPINS = 4000 };
enum { TURNS = LAT_STRETCHES + 1 }; /* a turn is its number, times this, and which stretch it is about, or 0 */

static inline void pause_briefly(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static bool is_done(const struct lat_stretch *s, uint64_t goal)
{
    return s->halted || s->finished || s->lattice->level >= goal;
}

/* The trace ends here. */
static void finish(struct lat_stretch *s)
{
    struct pt_lattice *l = s->lattice;
    l->ended = true;
    lat_cone_advance(l);
    if (l->stopped)
        s->halted = true;
    else
        s->finished = true;
}

bool lat_stretch_run(struct lat_stretches *st, struct lat_stretch *s, uint64_t goal, uint64_t upto)
{
    struct pt_lattice *l = s->lattice;
    bool over = atomic_load_explicit(&st->over, memory_order_acquire);
    if (is_done(s, goal) || (s->fed + 1 == upto && !over))
        return false;
    lat_stretch_aim(l);
    while (s->fed + 1 < upto && l->level < goal && !l->stopped) {
        if (s->other)
            lat_log_fetch(&st->log, s->fed + 1, upto);
        lat_take_logged(l, lat_log_at(&st->log, ++s->fed));
    }
    if (l->stopped)
        s->halted = true;
    else if (over && l->level < goal && s->fed + 1 == st->published)
        finish(s);
    return true;
}

/* ---- the other thread ---- */

/* What the other thread has. When its turn is over the stretch may be somebody else's: only what is atomic is looked at
 * while it waits, and the rest is known. */
struct turn {
    struct lat_stretch *stretch; /* NULL: none */
    uint64_t number;
    uint64_t level, fed; /* of the stretch */
};

static bool has_work(struct lat_stretches *st, const struct turn *t)
{
    const struct lat_stretch *s = t->stretch;
    if (st->quit || st->turn != t->number)
        return true;
    if (!s || s->rested >= s->goal)
        return false;
    return t->level >= s->goal || t->fed + 1 < st->published || st->over; /* the first: it has not said so */
}

static void wait_for_work(struct lat_stretches *st, const struct turn *t)
{
    for (uint32_t i = 0; i < st->spins; i++) {
        if (has_work(st, t))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&st->lock);
    st->other_sleeps = true;
    while (!has_work(st, t))
        pthread_cond_wait(&st->work, &st->lock);
    st->other_sleeps = false;
    pthread_mutex_unlock(&st->lock);
}

static void tell_progress(struct lat_stretches *st)
{
    atomic_thread_fence(memory_order_seq_cst); /* as the caller sleeps before it looks */
    if (!st->caller_sleeps)
        return;
    pthread_mutex_lock(&st->lock);
    pthread_cond_signal(&st->progress);
    pthread_mutex_unlock(&st->lock);
}

static void explore(struct lat_stretches *st, struct turn *t)
{
    struct lat_stretch *s = t->stretch;
    lat_start_begin(s->lattice, &s->start, false);
    while (!st->quit && st->turn == t->number) {
        uint64_t goal = atomic_load_explicit(&s->goal, memory_order_acquire);
        uint64_t published = atomic_load_explicit(&st->published, memory_order_acquire);
        uint64_t upto = s->fed + 1 + AT_A_TIME < published ? s->fed + 1 + AT_A_TIME : published;
        uint32_t heads = s->head_count;
        bool ran = lat_stretch_run(st, s, goal, upto), done = is_done(s, goal);
        bool tells = done || heads != s->head_count;
        t->level = s->lattice->level;
        t->fed = s->fed;
        if (done)
            atomic_store_explicit(&s->rested, s->halted || s->finished ? UINT64_MAX : goal, memory_order_release);
        if (tells)
            tell_progress(st);
        if (!ran || done)
            wait_for_work(st, t);
    }
}

static void *other_main(void *argument)
{
    struct lat_stretches *st = argument;
    while (!st->quit) {
        struct turn t = {.number = atomic_load_explicit(&st->turn, memory_order_acquire)};
        t.stretch = t.number % TURNS ? &st->pool[t.number % TURNS] : NULL;
        if (t.stretch)
            explore(st, &t);
        else
            wait_for_work(st, &t);
    }
    return NULL;
}

/* ---- the caller ---- */

bool lat_other_start(struct lat_stretches *st)
{
    pthread_mutex_init(&st->lock, NULL);
    pthread_cond_init(&st->work, NULL);
    pthread_cond_init(&st->progress, NULL);
    st->spins = st->options.cores >= 2 ? SPINS : 0;
    if (pthread_create(&st->thread, NULL, other_main, st) == 0)
        return true;
    pthread_mutex_destroy(&st->lock);
    pthread_cond_destroy(&st->work);
    pthread_cond_destroy(&st->progress);
    return false;
}

void lat_other_wake(struct lat_stretches *st)
{
    atomic_thread_fence(memory_order_seq_cst); /* as the other sleeps before it looks */
    if (!st->other_sleeps)
        return;
    pthread_mutex_lock(&st->lock);
    pthread_cond_signal(&st->work);
    pthread_mutex_unlock(&st->lock);
}

void lat_other_give(struct lat_stretches *st, struct lat_stretch *s)
{
    uint64_t number = st->turn / TURNS + 1;
    st->given = s;
    atomic_store_explicit(&st->turn, number * TURNS + (s ? (uint64_t)(s - st->pool) : 0), memory_order_release);
    lat_other_wake(st);
}

void lat_other_quit(struct lat_stretches *st)
{
    st->quit = true;
    lat_other_wake(st);
    pthread_join(st->thread, NULL);
    pthread_mutex_destroy(&st->lock);
    pthread_cond_destroy(&st->work);
    pthread_cond_destroy(&st->progress);
}

static bool is_there(const struct lat_stretch *s, uint32_t heads)
{
    return lat_stretch_rests(s) || s->head_count > heads;
}

void lat_other_wait(struct lat_stretches *st, const struct lat_stretch *s, uint32_t heads)
{
    for (uint32_t i = 0; i < st->spins; i++) {
        if (is_there(s, heads))
            return;
        pause_briefly();
    }
    pthread_mutex_lock(&st->lock);
    st->caller_sleeps = true;
    while (!is_there(s, heads))
        pthread_cond_wait(&st->progress, &st->lock);
    st->caller_sleeps = false;
    pthread_mutex_unlock(&st->lock);
}
