/*
 * A monitor of your own for `portent check --monitor`: a queue never holds fewer than 0 items nor more than its
 * capacity.
 *
 * It counts `put` and `get` events. No temporal formula and no regular expression can count without a bound, which is
 * what modules are for.
 *
 * Build: cc -shared -fPIC -I../../include -o queue.so queue.c
 */
#include <portent-monitor.h>

/* Where the monitor is along one run. Portent copies these, keeps one per way to reach a state, and merges equal ones.
 */
struct state {
    int64_t items;
    int64_t bad; /* as wide as items: a struct without padding has no bytes that differ by accident */
};

static const char *const variables[] = {"capacity", NULL};
static const char *const events[] = {"put", "get", NULL};
enum { CAPACITY }; /* indices into variables ... */
enum { PUT, GET }; /* ... and events */

static void init(void *memory)
{
    struct state *state = memory;
    state->items = 0;
    state->bad = 0;
}

/* Called for every state of a run: first the initial one, then the one after each write of `capacity`, put or get. */
static void step(void *memory, const struct portent_state *program)
{
    struct state *state = memory;
    const struct portent_value *capacity = &program->values[CAPACITY];
    if (program->event == PUT)
        state->items++;
    if (program->event == GET)
        state->items--;
    if (state->items < 0)
        state->bad = 1;
    if (capacity->kind == PORTENT_VALUE_INT && state->items > capacity->as.i)
        state->bad = 1;
}

static int is_bad(const void *memory)
{
    const struct state *state = memory;
    return state->bad != 0;
}

static uint64_t hash(const void *memory)
{
    const struct state *state = memory;
    return (uint64_t)state->items * 2 + (uint64_t)state->bad;
}

static int equal(const void *a, const void *b)
{
    const struct state *x = a, *y = b;
    return x->items == y->items && x->bad == y->bad;
}

static const struct portent_monitor monitor = {
    PORTENT_MONITOR_ABI, "queue", variables, events, sizeof(struct state), init, step, is_bad, hash, equal,
};

const struct portent_monitor *portent_monitor(void)
{
    return &monitor;
}
