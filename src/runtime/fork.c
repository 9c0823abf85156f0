/*
 * Forks. With follow_fork=1 the child goes on in its parent's place, as servers want it that go into the background.
 * That needs a parent without other threads, for what those have locked would stay locked in the child for ever.
 *
 * Otherwise the parent goes on being observed, and the child leaves the channel. Most children exec at once, and are
 * then another process with a beginning of its own; so nothing is done for a child until it has something to record:
 * until then it is `pending`. It has no thread that is known, and every access takes the way to our hook, which looks
 * in the parent's shadow, without any lock, for watched variables. The first event of the properties, the first thread,
 * or the LATE-th access makes it a process of its own: it asks at the rendezvous for a channel, empties all tables, and
 * begins as a program does before main, with its only thread as the first. Where there is no rendezvous, or nobody who
 * answers, it goes on unobserved, and its parent's observer learns that.
 *
 * Guarantee: the parent's channel is not touched by the child, but for that count; a child that records nothing costs
 * no more than a few stores. What it did while it was pending is not recorded: it was alone, and did nothing that a
 * property speaks of. Cost: of a child that is observed a connection, the observer's look-up of names, and a system
 * call for each leaf of the shadow.
 */
#include "runtime/fork.h"

#include <errno.h>
#include <pthread.h>
#include <sys/single_threaded.h>

#include "runtime/channel/attach.h"
#include "runtime/channel/emit.h"
#include "runtime/channel/gate.h"
#include "runtime/channel/owner.h"
#include "runtime/deadlock/deadlock.h"
#include "runtime/events.h"
#include "runtime/explore/explore.h"
#include "runtime/found/found.h"
#include "runtime/found/verdict.h"
#include "runtime/local/monitor.h"
#include "runtime/local/race_properties.h"
#include "runtime/local/violation.h"
#include "runtime/pool/pool.h"
#include "runtime/race/asked.h"
#include "runtime/race/life.h"
#include "runtime/record/record.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/watch.h"
#include "runtime/start.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/spin.h"
#include "runtime/thread/signal.h"
#include "runtime/wrap/hooks.h"

enum { LATE = 20000 }; /* accesses: one that makes so many is not about to exec */

static size_t mapped; /* bytes of the channel; 0: it is none of an observer's */
static struct {
    struct pt_channel *channel; /* the parent's; NULL: we are no child, or are observed */
    size_t bytes;
    bool pending;
    uint32_t accesses; /* while it is */
} parent;

static void leave_channel(void)
{
    atomic_store_explicit(&pt_active, 0, memory_order_relaxed);
    pt_keeps = 0;
    pt_monitor_on = false;
    pt_shadow_hooks.clock_changed = NULL;
    pt_gate_stop();
    pt_deadlock_stop();
    pt_channel = NULL;
    pt_thread_forget();
    pt_stream_forget();
    pt_record_forget();
}

/* The observer learns of a child that goes on unobserved, unless exec makes it another program. */
static void report_unobserved(void)
{
    if (parent.channel && !parent.pending) {
        atomic_fetch_add(&parent.channel->unobserved, 1);
        parent.channel = NULL;
    }
}

/* The usual ways to say that exec has failed are no way to go on. */
static void on_exits(int status)
{
    enum { CANNOT_RUN = 126, NOT_FOUND = 127 };
    pt_start_compare();
    pt_start_finish_found();
    pt_record_finish();
    if (status != CANNOT_RUN && status != NOT_FOUND)
        report_unobserved();
}

/* --- the child begins anew --- */

static void register_hooks(void);

/* No thread is known, and nothing of the parent's is locked any more. */
static bool empty_tables(void)
{
    pt_runtime_restart();
    pt_spin_restart();
    pt_pool_restart();
    if (pt_races_wanted)
        pt_race_restart();
    if (pt_race_looks.lives)
        pt_life_restart();
    pt_clock_restart();
    pt_shadow_restart();
    pt_emit_restart();
    pt_found_restart();
    pt_monitor_restart();
    pt_race_properties_restart();
    pt_thread_restart();
    return pt_watch_restart();
}

static void begin_anew(struct pt_channel *channel)
{
    pt_channel = channel;
    atomic_store_explicit(&pt_active, 0, memory_order_relaxed);
    pt_options_start(pt_start_options());
    pt_events_register();
    register_hooks();
    pt_owner_start();
    if (!pt_record_restart())
        pt_runtime_stop("nothing can be recorded");
    else if (empty_tables())
        pt_start_recording(false);
    else {
        pt_record_abandon("there was no memory for it");
        pt_runtime_give_up();
    }
    pt_sys_release(parent.channel, parent.bytes); /* nothing points to its texts any more */
    parent.channel = NULL;
}

/* Signals stay out meanwhile: their handlers would find tables that are half empty. */
static void stop_pending(void)
{
    int error = errno;
    uint64_t mask = pt_sys_swap_signal_mask(~(uint64_t)0);
    bool survivor = pt_sys_thread() == pt_sys_process(); /* or one that libc has made for itself */
    parent.pending = false;
    struct pt_channel *channel = survivor ? pt_start_take_channel(pt_attach_request(), &mapped) : NULL;
    if (channel) {
        begin_anew(channel);
    } else {
        leave_channel();
        report_unobserved();
    }
    pt_sys_swap_signal_mask(mask);
    errno = error;
}

static struct pt_shadow_self *introduce(void)
{
    if (parent.pending)
        stop_pending();
    return pt_channel ? pt_thread_introduce() : NULL;
}

/* Where threads are recorded in full every access is an event; in the thread's own evaluation those of watched
 * variables and of synchronisation are what properties speak of. */
static struct pt_shadow_self *introduce_at(uintptr_t address, size_t size, bool write)
{
    bool wanted = pt_runtime_records_full() || ++parent.accesses == LATE || (!size && pt_monitor_on) ||
                  ((write || pt_monitor_on) && pt_slow_is_near_watched(address, size));
    return wanted || !parent.pending ? introduce() : NULL;
}

/* --- forks --- */

static void wait_for_event(bool active, uint32_t keeps, bool monitors)
{
    pt_shadow_hooks.introduce = introduce;
    pt_shadow_hooks.introduce_at = introduce_at;
    pt_channel = pt_start_stand_in();
    pt_keeps = keeps;
    pt_monitor_on = monitors;
    pt_verdict_restart();
    parent.pending = true;
    parent.accesses = 0;
    atomic_store_explicit(&pt_active, active ? PT_ACTIVE_RECORDS : 0, memory_order_relaxed);
}

/* The child of whatever made a copy of the process, and is not followed. */
static void leave_parent(void)
{
    struct pt_channel *channel = pt_channel;
    bool active = pt_is_recording(), monitors = pt_monitor_on;
    uint32_t keeps = pt_keeps;
    pt_race_asked_reset(); /* destructors take that lock, and a thread that is not here may have had it */
    if (pt_explore_on)
        pt_explore_forked();
    if (parent.pending) /* the child's child is in the same state */
        return;
    leave_channel();
    pt_signal_forked();
    pt_descriptor_restart();
    pt_timer_restart();
    pt_wrap_own_restart();
    pt_violation_forked();
    if (!channel || !mapped)
        return;
    parent.channel = channel; /* stays mapped: it costs nothing */
    parent.bytes = mapped;
    if (channel->ring_max && pt_attach_is_possible())
        wait_for_event(active, keeps, monitors);
}

static bool following; /* by the fork that is being done */

static void before_fork(void)
{
    if (pt_explore_on)
        pt_explore_forks();
    following = pt_channel && pt_options.follow_fork && __libc_single_threaded && !parent.pending;
    if (!following)
        return;
    /* The child takes both back. Should it never be, the observer does not wait for it, and knows what it has missed.
     */
    atomic_fetch_add(&pt_channel->dropped, 1);
    atomic_store(&pt_channel->process, PT_PROCESS_FORKING);
}

static void in_forking_parent(void)
{
    struct pt_channel *channel = pt_channel;
    if (!following)
        return;
    leave_channel();
    if (mapped)
        pt_sys_release(channel, mapped);
}

static void in_forked_child(void)
{
    if (!following) {
        leave_parent();
        return;
    }
    pt_owner_start();
    atomic_store(&pt_channel->process, (uint32_t)pt_sys_process());
    atomic_fetch_sub(&pt_channel->dropped, 1);
}

/* --- the process --- */

static void register_hooks(void)
{
    pt_wrap_hooks.forked = leave_parent;
    pt_wrap_hooks.exits = on_exits;
}

void pt_fork_start(size_t channel_bytes)
{
    mapped = channel_bytes;
}

void pt_fork_register(void)
{
    register_hooks();
    pthread_atfork(before_fork, in_forking_parent, in_forked_child);
}

void pt_fork_finish(void)
{
    report_unobserved();
}
