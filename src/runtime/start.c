/*
 * Beginning: before main, find the observer's channel and the variables it asks for. Without a channel nothing is set
 * up, and every hook does its access and nothing else. A process that finds the channel in use leaves it alone: it is a
 * child of the observed one.
 *
 * What is started by the observed program, at whatever remove, asks for a channel of its own at the rendezvous.
 *
 * After a fork one of the two processes goes on being observed: the parent, or with follow_fork=1 the child, as servers
 * want it that go into the background. The latter needs a parent without other threads, for what those have locked
 * would stay locked in the child for ever.
 *
 * Guarantee: hooks are registered, and tables made, before the first thread is known. Cost: none after main has begun.
 */
#include <stddef.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "core/channel.h"
#include "runtime/channel/attach.h"
#include "runtime/channel/full.h"
#include "runtime/channel/gate.h"
#include "runtime/channel/owner.h"
#include "runtime/channel/resolve.h"
#include "runtime/channel/self.h"
#include "runtime/events.h"
#include "runtime/local/embedded.h"
#include "runtime/local/monitor.h"
#include "runtime/local/violation.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/watch.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/thread/call.h"

enum { FIRST_STACK = 8 << 20 }; /* how far below its frames the first thread's stack has nothing but ended ones */

static size_t mapped;

static int channel_fd(void)
{
    const char *text = pt_sys_getenv(PT_CHANNEL_ENV);
    int fd = 0;
    if (!text || !*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || fd > 1000000)
            return -1;
        fd = fd * 10 + (*text - '0');
    }
    return fd;
}

static bool sound(const struct pt_channel *channel, size_t bytes)
{
    uint64_t ring = sizeof(struct pt_ring) + channel->ring_bytes;
    return memcmp(channel->magic, PT_CHANNEL_MAGIC, sizeof channel->magic) == 0 &&
           channel->version == PT_CHANNEL_VERSION && channel->total_bytes <= bytes && channel->config_offset <= bytes &&
           channel->config_bytes <= bytes - channel->config_offset &&
           channel->config_bytes >= sizeof(struct pt_config) && channel->ring_bytes >= 4096 &&
           (channel->ring_bytes & (channel->ring_bytes - 1)) == 0 && channel->ring_bytes < bytes &&
           channel->gate_offset <= bytes && channel->gate_bytes <= bytes - channel->gate_offset &&
           channel->bits_offset <= bytes &&
           (channel->ring_max + UINT64_C(63)) / 64 <= (bytes - channel->bits_offset) / sizeof(struct pt_ring_bits) &&
           channel->rings_offset <= bytes && channel->ring_max <= (bytes - channel->rings_offset) / ring;
}

/* NULL: it is no channel, or another process has it. */
static struct pt_channel *take_channel(int fd)
{
    struct pt_channel *channel = fd < 0 ? NULL : pt_sys_map_file(fd, sizeof *channel, &mapped);
    if (!channel)
        return NULL;
    uint32_t state = PT_PROGRAM_STARTING;
    if (sound(channel, mapped)) {
        pt_sys_close(fd);
        if (atomic_compare_exchange_strong(&channel->program_state, &state, PT_PROGRAM_RUNNING))
            return channel;
    }
    pt_sys_release(channel, mapped);
    return NULL;
}

/* The one that the observer gave to what it started, or one of our own. */
static struct pt_channel *open_channel(void)
{
    struct pt_channel *channel = take_channel(channel_fd());
    return channel ? channel : take_channel(pt_attach_request());
}

/*
 * Whoever listens to the event stream needs threads and watched variables, too. Where there is no observer, a channel
 * of our own stands in for its: without rings, so that what is recorded for an observer goes nowhere.
 */
static struct pt_channel *stand_in(void)
{
    static struct stand_in {
        struct pt_channel channel;
        struct pt_config config;
    } own;
    own.channel.on_full = PT_ON_FULL_DROP;
    own.channel.config_offset = offsetof(struct stand_in, config);
    own.channel.config_bytes = sizeof own.config;
    atomic_store(&own.channel.next_number, 1);
    atomic_store(&own.channel.observer_gone, 1);
    return &own.channel;
}

static void leave_channel(void)
{
    atomic_store_explicit(&pt_active, false, memory_order_relaxed);
    pt_keeps = 0;
    pt_monitor_on = false;
    pt_shadow_hooks.clock_changed = NULL;
    pt_gate_stop();
    pt_channel = NULL;
    pt_thread_forget();
    pt_stream_forget();
}

/* The parent's, in a child that is not observed: the observer learns of it, unless exec makes it another program. */
static struct pt_channel *forked_from;

static void report_unobserved(void)
{
    if (forked_from)
        atomic_fetch_add(&forked_from->unobserved, 1);
    forked_from = NULL;
}

/* The usual ways to say that exec has failed are no way to go on. */
static void on_exits(int status)
{
    enum { CANNOT_RUN = 126, NOT_FOUND = 127 };
    if (status != CANNOT_RUN && status != NOT_FOUND)
        report_unobserved();
}

static bool following; /* by the fork that is being done */

static void before_fork(void)
{
    following = pt_channel && pt_options.follow_fork && __libc_single_threaded;
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

/* The child of whatever made a copy of the process, and is not followed. */
static void leave_parent(void)
{
    struct pt_channel *channel = pt_channel;
    leave_channel();
    if (channel && mapped)
        forked_from = channel; /* stays mapped: it costs nothing */
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

static void introduce(void)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: process ");
    pt_line_number(&line, pt_sys_process());
    pt_line_text(&line, " has Portent's runtime, and nobody observes it");
    pt_line_write(&line);
}

/* Preloaded into a program that has the runtime in it already: then that one does everything. */
static bool is_superfluous(void)
{
#ifdef PT_RT_STATIC
    return false;
#else
    Dl_info ours, theirs;
    const void *other = dlsym(RTLD_DEFAULT, "__portent_event");
    return other && dladdr(other, &theirs) && dladdr(&pt_keeps, &ours) && ours.dli_fbase != theirs.dli_fbase;
#endif
}

__attribute__((constructor(101))) static void start(void)
{
    if (is_superfluous())
        return;
    pt_channel = open_channel();
    const struct pt_config *config = pt_channel ? pt_runtime_config() : NULL;
    pt_options_start(!config ? NULL : config->options ? (const char *)config + config->options : "");
    if (!pt_channel && pt_options.properties.len) {
        pt_channel = pt_embedded_open(&mapped);
        config = pt_channel ? pt_runtime_config() : NULL;
    }
    bool streams = pt_stream_listen();
    if (!pt_channel && streams) {
        pt_channel = stand_in();
        mapped = 0;
        config = pt_runtime_config();
    }
    if (!pt_channel) {
        if (pt_options.verbosity > 0)
            introduce();
        return;
    }
    struct pt_thread_parts parts = {.channel = sizeof(struct pt_channel_self), .local = sizeof(struct pt_local_self)};
    pt_events_register();
    pt_wrap_hooks.forked = leave_parent;
    pt_wrap_hooks.exits = on_exits;
    pt_owner_start();
    pt_sys_read_clock = pt_wrap_real_clock();
    if (!pt_clock_start() || !pt_shadow_start() || !pt_watch_start() || !pt_thread_start(parts)) {
        pt_runtime_give_up();
        pt_channel = NULL; /* and nobody is served, though the socket is there */
        return;
    }
    pt_keeps = config->keep;
    struct pt_thread *self = pt_thread_self(); /* the first thread: number 0 */
    if (!self)
        return;
    pthread_atfork(before_fork, in_forking_parent, in_forked_child);
    pt_thread_enter(self);
    pt_gate_start();
    if (pt_runtime_records_full() || pt_gate || (config->mttl_bytes && pt_channel->ring_max))
        pt_full_modules(self); /* the gate's locks have names, and those of decentralised violations */
    pt_resolve_watched(self, pt_embedded_is_other);
    pt_monitor_configure(self, config);
    pt_call_wanted = pt_runtime_records_full() || pt_monitor_on;
    if (streams)
        pt_stream_start();
    atomic_store_explicit(&pt_active,
                          config->watch_count || config->event_count || pt_runtime_records_full() || pt_monitor_on,
                          memory_order_seq_cst);
    pt_thread_leave(self);
}

/* Threads may still run, and what they do still counts; the observer learns the real end from the kernel. */
__attribute__((destructor(101))) static void stop(void)
{
    report_unobserved();
    struct pt_thread *self = pt_channel ? pt_thread_now() : NULL;
    if (self && !self->shadow.busy) {
        pt_thread_enter(self);
        pt_watch_compare(&self->shadow, self->stack_size ? self->stack_size : FIRST_STACK);
        pt_thread_leave(self);
    }
    if (self)
        pt_monitor_end(self);
    if (pt_channel)
        atomic_store(&pt_channel->program_state, PT_PROGRAM_ENDED);
    pt_stream_stop();
    pt_violation_finish();
}
