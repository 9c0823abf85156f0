/*
 * Whether the runtime is on, and what of it; how it stops, and how what it could not record comes to be said.
 *
 * Guarantee: what is lost is counted where the observer sees it, and the reason of a stop is told once. Once stopped it
 * stays so, until a child begins anew.
 */
#include "runtime/sys/runtime.h"

#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

_Atomic uint8_t pt_active;
struct pt_channel *pt_channel;
uint32_t pt_keeps;
_Atomic uint32_t pt_runtime_threads;
bool pt_races_wanted;

static atomic_bool disowned;
static atomic_bool stopped;
static atomic_flag reported = ATOMIC_FLAG_INIT;

/* Once stopped, it stays so: what is known would have gaps. */
void pt_runtime_activate(unsigned what)
{
    if (!atomic_load_explicit(&stopped, memory_order_relaxed))
        atomic_fetch_or(&pt_active, (uint8_t)what);
}

bool pt_runtime_is_stopped(void)
{
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

void pt_runtime_deactivate(unsigned what)
{
    atomic_fetch_and(&pt_active, (uint8_t)~what);
}

void pt_runtime_lost(void)
{
    if (pt_channel && !atomic_load_explicit(&disowned, memory_order_relaxed))
        atomic_fetch_add_explicit(&pt_channel->dropped, 1, memory_order_relaxed);
}

void pt_runtime_lost_stranger(void)
{
    struct pt_line line = {0};
    if (!pt_channel || atomic_load_explicit(&disowned, memory_order_relaxed))
        return;
    bool first = atomic_fetch_add_explicit(&pt_channel->strangers, 1, memory_order_relaxed) == 0;
    if (first && !pt_channel->ring_max && pt_options.verbosity >= 0) { /* nobody observes, who would say it */
        pt_line_text(&line, "portent: a thread was not seen to start, and what it does is not judged");
        pt_line_write(&line);
    }
    pt_runtime_lost();
}

void pt_runtime_disown(void)
{
    atomic_store_explicit(&pt_active, 0, memory_order_relaxed);
    pt_keeps = 0;
    if (!atomic_exchange(&disowned, true) && pt_channel)
        atomic_fetch_add(&pt_channel->unobserved, 1);
}

void pt_runtime_restart(void)
{
    atomic_store(&disowned, false);
    atomic_store(&stopped, false);
    atomic_flag_clear(&reported);
}

/* The observer gives the reason again when the program has ended. */
static void tell_observer(const char *why)
{
    size_t i = 0;
    if (!pt_channel || atomic_load_explicit(&disowned, memory_order_relaxed))
        return;
    for (; why[i] && i + 1 < sizeof pt_channel->why; i++)
        pt_channel->why[i] = why[i];
    pt_channel->why[i] = '\0';
    /* Partner: the observer's load of it, before it reads the text. */
    atomic_store_explicit(&pt_channel->stopped, 1, memory_order_release);
}

void pt_runtime_stop(const char *why)
{
    struct pt_line line = {0};
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
    atomic_store_explicit(&pt_active, 0, memory_order_relaxed);
    if (!atomic_flag_test_and_set(&reported)) {
        tell_observer(why);
        pt_line_text(&line, "portent: ");
        pt_line_text(&line, why);
        pt_line_text(&line, ": nothing is checked from here on");
        if (pt_options.verbosity >= 0)
            pt_line_write(&line);
    }
    pt_runtime_lost();
}

void pt_runtime_give_up(void)
{
    pt_runtime_stop(pt_sys_is_quiet() ? "the program's seccomp filter lets the runtime have no more memory"
                                      : "the runtime has no memory left ('ulimit -v' may be too low)");
}
