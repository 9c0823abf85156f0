/*
 * What is done once. The initialiser's effects are put on the object right after it, before anyone returns from once.
 *
 * An initialiser that throws, as std::call_once allows, leaves the object for the next one, whom libc lets in after it.
 * So this file is compiled with exceptions, and what must be put right stands in handlers of the frames. The functions
 * that the compiler needs for them are weak: a program of C does not load a library for them, and has no exceptions
 * either.
 *
 * Guarantee: who returns from once, and whose initialiser runs after one that threw, comes after those before. Cost:
 * without an observer three loads and branches beside the call.
 */
#include <pthread.h>
#include <threads.h>

#include "runtime/explore/explore.h"
#include "runtime/shadow/slow.h"
#include "runtime/thread/call.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

__asm__(".weak _Unwind_Resume\n"
        ".weak __gcc_personality_v0");

struct once {
    void (*initialise)(void);
    const void *object;
    const struct pt_site *site;
    int kind;
    bool ran;           /* by this call, to its end */
    struct once *outer; /* whose initialiser calls this one */
};
static __thread struct once *current __attribute__((tls_model("initial-exec")));

/* Some initialiser has thrown: from then on, one that runs may be the next of its object. */
static _Atomic bool any_threw;

static void leave(struct once *const *of)
{
    struct once *it = *of;
    if (!it->ran)
        atomic_store_explicit(&any_threw, true, memory_order_relaxed);
    pt_wrap_sync(it->object, it->kind, it->site);
}

static void initialise_once(void)
{
    __attribute__((cleanup(leave))) struct once *it = current;
    if (atomic_load_explicit(&any_threw, memory_order_relaxed))
        pt_wrap_sync(it->object, it->kind, it->site);
    it->initialise();
    it->ran = true;
}

static void explore(enum pt_explore_kind kind, const struct once *it)
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_point(&(struct pt_explore_op){.kind = kind, .object = it->object, .site = it->site});
}

static void begin(struct once *it)
{
    it->site = pt_call_take(it->object);
    explore(PT_EXPLORE_ONCE, it);
    it->outer = current;
    current = it;
}

/* Also when the initialiser has thrown. */
static void restore(struct once *it)
{
    current = it->outer;
}

static void end(const struct once *it)
{
    if (it->ran)
        explore(PT_EXPLORE_ONCE_DONE, it);
    pt_wrap_sync(it->object, it->kind, it->site);
}

/* Whether it is of interest to anybody that something is called once. */
static bool is_idle(void)
{
    return !pt_is_active() && !pt_wrap_streaming() && !pt_explore_on;
}

PT_WRAP(int, pthread_once, (pthread_once_t * control, void (*initialise)(void)))
{
    if (is_idle())
        return PT_REAL(pthread_once)(control, initialise);
    __attribute__((cleanup(restore))) struct once it = {
        .initialise = initialise, .object = control, .kind = PT_EFFECT(pthread_once)};
    begin(&it);
    int result = PT_REAL(pthread_once)(control, initialise_once);
    end(&it);
    return result;
}

PT_WRAP(void, call_once, (once_flag * flag, void (*initialise)(void)))
{
    if (is_idle()) {
        PT_REAL(call_once)(flag, initialise);
        return;
    }
    __attribute__((cleanup(restore))) struct once it = {
        .initialise = initialise, .object = flag, .kind = PT_EFFECT(call_once)};
    begin(&it);
    PT_REAL(call_once)(flag, initialise_once);
    end(&it);
}
