#include "runtime/sys/runtime.h"

#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

_Atomic uint8_t pt_active;
struct pt_channel *pt_channel;
uint32_t pt_keeps;

static atomic_bool disowned;
static atomic_bool stopped;

/* Once stopped, it stays so: what is known would have gaps. */
void pt_runtime_activate(unsigned what)
{
    if (!atomic_load_explicit(&stopped, memory_order_relaxed))
        atomic_fetch_or(&pt_active, (uint8_t)what);
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
}

void pt_runtime_stop(const char *why)
{
    static atomic_flag reported = ATOMIC_FLAG_INIT;
    struct pt_line line = {0};
    atomic_store_explicit(&stopped, true, memory_order_relaxed);
    atomic_store_explicit(&pt_active, 0, memory_order_relaxed);
    if (pt_options.verbosity >= 0 && !atomic_flag_test_and_set(&reported)) {
        pt_line_text(&line, "portent: ");
        pt_line_text(&line, why);
        pt_line_text(&line, ": nothing is checked from here on");
        pt_line_write(&line);
    }
    if (pt_channel && !atomic_load_explicit(&disowned, memory_order_relaxed))
        atomic_store_explicit(&pt_channel->stopped, 1, memory_order_relaxed);
    pt_runtime_lost();
}

void pt_runtime_give_up(void)
{
    pt_runtime_stop(pt_sys_is_quiet() ? "the program's seccomp filter lets the runtime have no more memory"
                                      : "the runtime has no memory left ('ulimit -v' may be too low)");
}
