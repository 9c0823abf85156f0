/*
 * Functions that run when the program ends: what is registered comes before its run, in whatever thread exit is called.
 * atexit and C++'s destructors of static objects come here as __cxa_atexit. And assertions that fail, which `confirm`
 * tells.
 *
 * Guarantee: they run as ever, in the same order. Cost: for each that is registered under an observer, 32 bytes that
 * are never freed.
 */
#include <stdlib.h>

#include "runtime/sys/sys.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/thread/call.h"

enum { ROOM = 1 << 16 };

struct ending {
    void (*function)(void *);
    void *argument;
};

static uint64_t object; /* stands for the list of them */

static void run_ending(void *argument)
{
    const struct ending *ending = argument;
    if (pt_is_active())
        pt_wrap_sync_kernel(&object, PT_KIND_WAIT, NULL);
    ending->function(ending->argument);
}

/* NULL when there is no memory. */
static struct ending *new_ending(void)
{
    static struct ending *_Atomic room;
    static _Atomic uint32_t used;
    struct ending *seen = atomic_load(&room);
    if (!seen) {
        struct ending *made = pt_sys_reserve(sizeof *made * ROOM);
        if (made && !atomic_compare_exchange_strong(&room, &seen, made))
            pt_sys_release(made, sizeof *made * ROOM);
        else
            seen = made;
    }
    uint32_t number = seen ? atomic_fetch_add(&used, 1) : ROOM;
    return number < ROOM ? &seen[number] : NULL;
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library);
PT_WRAP(int, __cxa_atexit, (void (*function)(void *), void *argument, void *library))
{
    const struct pt_site *site = pt_call_take_fill();
    /* what the only thread has done comes before all others */
    struct ending *ending = pt_is_active() && pt_thread_live() > 1 ? new_ending() : NULL;
    if (!ending)
        return PT_REAL(__cxa_atexit)(function, argument, library);
    *ending = (struct ending){function, argument};
    if (pt_call_wanted)
        pt_wrap_name(&object, "exit");
    pt_wrap_sync_kernel(&object, PT_EFFECT(__cxa_atexit), site);
    return PT_REAL(__cxa_atexit)(run_ending, ending, library);
}

_Noreturn void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function);
PT_WRAP(void, __assert_fail, (const char *assertion, const char *file, unsigned line, const char *function))
{
    if (pt_shadow_gated)
        pt_wrap_hooks.fails(assertion, file, line);
    PT_REAL(__assert_fail)(assertion, file, line, function);
    __builtin_unreachable();
}
