/*
 * Programs that check themselves: checks WAY. Each has a run that passes, paced by its pauses, from which a violation
 * is predicted. In the first ways the program's own check fails, too, if the thread that breaks the property goes on
 * before the others mend what is wrong; in the others it ends well in truth. tests/programs/run_confirm.py has the
 * property of each, and what becomes of the program.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portent.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int config, serving, is_open = 1, handle = 7, low, high, published, data, alive = 1, level, closed, item, ready;
static int from = 60, to = 40, other;
static int cell, *buffer = &cell;
static int ends[2];
static atomic_int flag;

static void later(void)
{
    usleep(50000);
}

/* order: what serves needs what another thread loads. */
static void *load(void *unused)
{
    config = 1;
    return unused;
}
static void *serve(void *unused)
{
    later();
    serving = 1;
    assert(config == 1);
    return unused;
}

/* use-after-close: checked, and then used, while another thread closes. */
static void *use(void *unused)
{
    if (!is_open)
        return unused;
    portent_event("use");
    if (handle == 0)
        exit(3);
    return unused;
}
static void *close_it(void *unused)
{
    later();
    is_open = 0;
    handle = 0;
    return unused;
}

/* torn: two variables that belong together. */
static void *write_both(void *unused)
{
    low = 5;
    high = 5;
    return unused;
}
static void *look_at_both(void *unused)
{
    later();
    portent_event("look");
    assert(low == high);
    return unused;
}

/* published: the flag is set before what it stands for. */
static void *publish(void *unused)
{
    published = 1;
    data = 42;
    return unused;
}
static void *get(void *unused)
{
    later();
    if (published) {
        portent_event("get");
        if (data == 0)
            exit(1);
    }
    return unused;
}

/* null: a pointer that is gone. */
static void *fill(void *unused)
{
    portent_event("fill");
    *buffer = 1;
    return unused;
}
static void *drop(void *unused)
{
    later();
    buffer = NULL;
    alive = 0;
    return unused;
}

/* locked: as order, each under the same lock. */
static void *load_locked(void *unused)
{
    pthread_mutex_lock(&m);
    config = 1;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *serve_locked(void *unused)
{
    later();
    pthread_mutex_lock(&m);
    serving = 1;
    int loaded = config;
    pthread_mutex_unlock(&m);
    assert(loaded == 1);
    return unused;
}

/* last: who writes last is seen by main, at the end. */
static void *raise_level(void *unused)
{
    pthread_mutex_lock(&m);
    level = 1;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *drop_level(void *unused)
{
    later();
    pthread_mutex_lock(&m);
    level = 2;
    pthread_mutex_unlock(&m);
    return unused;
}
static void check_level(void)
{
    assert(level == 2);
}

/* audit: a transfer in two sections. */
static void *transfer(void *unused)
{
    pthread_mutex_lock(&m);
    from -= 30;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    to += 30;
    pthread_mutex_unlock(&m);
    return unused;
}
static void *audit(void *unused)
{
    later();
    pthread_mutex_lock(&m);
    portent_event("audit");
    int sum = from + to;
    pthread_mutex_unlock(&m);
    assert(sum == 100);
    return unused;
}

/* log: written to after its end; there is no assertion, the program aborts. */
static void *write_log(void *unused)
{
    portent_event("log");
    if (closed)
        abort();
    return unused;
}
static void *close_log(void *unused)
{
    later();
    closed = 1;
    return unused;
}

/* condition: told too early. */
static void *take_item(void *unused)
{
    pthread_mutex_lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    usleep(20000);
    portent_event("take");
    assert(item == 7);
    return unused;
}
static void *make_item(void *unused)
{
    later();
    pthread_mutex_lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    item = 7;
    return unused;
}

/* lock-held: who breaks it needs a lock that a held thread has, and is the first to go on when that gives it up. */
static void *write_slowly(void *unused)
{
    pthread_mutex_lock(&m);
    low = 5;
    other = 1;
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&n);
    high = 5;
    pthread_mutex_unlock(&n);
    return unused;
}
static void *look_locked(void *unused)
{
    later();
    portent_event("look");
    pthread_mutex_lock(&m);
    int seen = low;
    pthread_mutex_unlock(&m);
    assert(seen == high);
    return unused;
}

/* --- these end well --- */

/* falls-back: notices what is wrong. */
static void *serve_carefully(void *unused)
{
    later();
    serving = 1;
    if (!config)
        other = 1;
    return unused;
}

/* spins: waits for the other thread, in a loop. */
static void *load_and_say(void *unused)
{
    config = 1;
    atomic_store(&flag, 1);
    return unused;
}
static void *serve_and_spin(void *unused)
{
    later();
    serving = 1;
    while (!atomic_load(&flag))
        sched_yield();
    assert(config == 1);
    return unused;
}

/* reads: waits for the other thread in the kernel. */
static void *load_and_write(void *unused)
{
    config = 1;
    if (write(ends[1], "x", 1) != 1)
        exit(9);
    return unused;
}
static void *serve_and_read(void *unused)
{
    char byte;
    later();
    serving = 1;
    if (read(ends[0], &byte, 1) != 1)
        exit(9);
    assert(config == 1);
    return unused;
}

static const struct way {
    const char *name;
    void *(*threads[2])(void *);
    void (*check)(void);
    int status;
} ways[] = {
    {"order", {load, serve}, NULL, 0},
    {"use-after-close", {use, close_it}, NULL, 0},
    {"torn", {write_both, look_at_both}, NULL, 0},
    {"published", {publish, get}, NULL, 0},
    {"null", {fill, drop}, NULL, 0},
    {"locked", {load_locked, serve_locked}, NULL, 0},
    {"last", {raise_level, drop_level}, check_level, 0},
    {"audit", {transfer, audit}, NULL, 0},
    {"log", {write_log, close_log}, NULL, 0},
    {"condition", {take_item, make_item}, NULL, 0},
    {"lock-held", {write_slowly, look_locked}, NULL, 0},
    {"falls-back", {load, serve_carefully}, NULL, 0},
    {"spins", {load_and_say, serve_and_spin}, NULL, 0},
    {"reads", {load_and_write, serve_and_read}, NULL, 0},
    {"always-3", {load, serve_carefully}, NULL, 3},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        pthread_t threads[2];
        if (strcmp(ways[i].name, argv[1]) != 0)
            continue;
        if (pipe(ends) != 0)
            return 9;
        for (int k = 0; k < 2; k++)
            pthread_create(&threads[k], NULL, ways[i].threads[k], NULL);
        for (int k = 0; k < 2; k++)
            pthread_join(threads[k], NULL);
        if (ways[i].check)
            ways[i].check();
        return ways[i].status;
    }
    return 2;
}
