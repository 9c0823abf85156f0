#include "runtime/found/verdict.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

static _Atomic uint64_t violations;

bool pt_verdict_is_observed(void)
{
    return pt_channel && pt_channel->ring_max > 0;
}

void pt_verdict_count(void)
{
    atomic_fetch_add_explicit(&violations, 1, memory_order_relaxed);
}

void pt_verdict_restart(void)
{
    atomic_store_explicit(&violations, 0, memory_order_relaxed);
}

void pt_verdict_halt(const char *what)
{
    struct pt_line line = {0};
    if (!pt_options.halt_on_error)
        return;
    pt_line_text(&line, "portent: ");
    pt_line_text(&line, what);
    pt_line_text(&line, "; halt_on_error ends the program");
    pt_line_write(&line);
    pt_sys_exit((int)(pt_options.exitcode & 255));
}

void pt_verdict_finish(void)
{
    if (pt_verdict_is_observed() || !atomic_load_explicit(&violations, memory_order_relaxed) || !pt_options.exitcode)
        return;
    fflush(NULL); /* not in anybody's hook: the program has come to its end, and its output must not be lost */
    pt_sys_exit((int)(pt_options.exitcode & 255));
}
