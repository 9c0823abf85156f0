/*
 * Beginning: before main, find the observer's channel and the variables it asks for. Without a channel nothing is set
 * up, and every hook does its access and nothing else. A process that finds the channel in use leaves it alone: it is a
 * child of the observed one.
 *
 * What is started by the observed program, at whatever remove, asks for a channel of its own at the rendezvous.
 *
 * What happens at a fork is in fork.c.
 *
 * Guarantee: hooks are registered, and tables made, before the first thread is known. Cost: none after main has begun.
 */
#include "runtime/clock/ladder.h"
#include "runtime/start.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "core/channel.h"
#include "core/plain.h"
#include "runtime/channel/attach.h"
#include "runtime/channel/full.h"
#include "runtime/channel/gate.h"
#include "runtime/channel/owner.h"
#include "runtime/channel/resolve.h"
#include "runtime/channel/self.h"
#include "runtime/deadlock/deadlock.h"
#include "runtime/events.h"
#include "runtime/explore/explore.h"
#include "runtime/fork.h"
#include "runtime/found/found.h"
#include "runtime/found/suppressed.h"
#include "runtime/found/verdict.h"
#include "runtime/functions.h"
#include "runtime/local/embedded.h"
#include "runtime/local/monitor.h"
#include "runtime/local/race_properties.h"
#include "runtime/race/choose.h"
#include "runtime/race/life.h"
#include "runtime/record/record.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/watch.h"
#include "runtime/stream/stream.h"
#include "runtime/sys/delay.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/thread/call.h"

enum { FIRST_STACK = 8 << 20 }; /* how far below its frames the first thread's stack has nothing but ended ones */

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

struct pt_channel *pt_start_take_channel(int fd, size_t *ret_bytes)
{
    struct pt_channel *channel = fd < 0 ? NULL : pt_sys_map_file(fd, sizeof *channel, ret_bytes);
    if (!channel)
        return NULL;
    uint32_t state = PT_PROGRAM_STARTING;
    if (sound(channel, *ret_bytes)) {
        pt_sys_close(fd);
        if (atomic_compare_exchange_strong(&channel->program_state, &state, PT_PROGRAM_RUNNING))
            return channel;
    }
    pt_sys_release(channel, *ret_bytes);
    return NULL;
}

/* The one that the observer gave to what it started, or one of our own. */
static struct pt_channel *open_channel(size_t *ret_bytes)
{
    struct pt_channel *channel = pt_start_take_channel(channel_fd(), ret_bytes);
    return channel ? channel : pt_start_take_channel(pt_attach_request(), ret_bytes);
}

/*
 * Whoever listens to the event stream needs threads and watched variables, too. Where there is no observer, a channel
 * of our own stands in for its: without rings, so that what is recorded for an observer goes nowhere.
 */
struct pt_channel *pt_start_stand_in(void)
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

void pt_start_compare(void)
{
    struct pt_thread *self = pt_is_active() && !pt_owner_is_other() ? pt_thread_now() : NULL;
    if (!self || self->shadow.busy)
        return;
    pt_thread_enter(self);
    pt_watch_compare(&self->shadow, self->stack_size ? self->stack_size : FIRST_STACK);
    pt_thread_leave(self);
}

void pt_start_finish_found(void)
{
    struct pt_thread *self = pt_channel && !pt_owner_is_other() ? pt_thread_now() : NULL;
    if (!self || self->shadow.busy)
        return;
    pt_thread_enter(self);
    pt_found_finish(self);
    pt_thread_leave(self);
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

static bool is_check_asked(void)
{
    return pt_options.races || pt_runtime_config()->checks >> PT_FOUND_RACE & 1;
}

/* Not under a schedule, whose waits would be for race cells, too. */
static struct pt_race_looks wants_races(void)
{
    const struct pt_config *config = pt_runtime_config();
    bool possible = !pt_channel->gate_offset || config->checks; /* who confirms a property asks for no check */
    return (struct pt_race_looks){.races = possible && (is_check_asked() || config->race_property_count),
                                  .lives =
                                      possible && (pt_options.lifetimes || config->checks >> PT_FOUND_LIFETIME & 1),
                                  .threads = config->race_property_count};
}

/* Lifetimes need happens-before, too. */
static bool start_races(void)
{
    struct pt_race_looks looks = wants_races();
    pt_race_looks = looks;
    int64_t kept = pt_options.lifetimes_quarantine_mb > 0 ? pt_options.lifetimes_quarantine_mb : 0;
    return (!(looks.races || looks.lives) || pt_race_start()) && (!looks.lives || pt_life_start((uint64_t)kept << 20));
}

/* Whether it is enough that plain accesses are told afterwards, a stretch at a time (core/look.h): races are sampled,
 * and nobody else hears of accesses, now or later. */
static bool may_run_twins(const struct pt_config *config, bool streams)
{
    return pt_race_looks.races && !pt_race_looks.lives && pt_race_samples && !config->race_property_count &&
           !config->watch_count && !config->event_count && !config->mttl_bytes && !pt_runtime_records_full() &&
           !pt_monitor_on && !pt_gate && !pt_record_on && !pt_explore_on && !streams;
}

/* Whether nobody hears of accesses but those of watched variables, as long as all threads have the same clock. */
static bool may_be_silent(bool streams)
{
    return pt_is_recording() && !pt_races_wanted && !pt_runtime_records_full() && !pt_monitor_on && !pt_gate &&
           !pt_record_on && !pt_explore_on && !streams;
}

/* Whether that is so to the end (PT_KEEP_CHAINS): the range of what is watched does not grow. */
static bool may_stay_silent(const struct pt_config *config)
{
    for (uint32_t i = 0; i < config->watch_count; i++)
        if (!pt_watch_is_placed(i))
            return false;
    return pt_keeps & PT_KEEP_CHAINS;
}

/* Of the objects that are linked together, or with the program: what is opened later counts as one (events.c). */
extern const char __portent_built __attribute__((weak, visibility("default")));

void pt_start_recording(bool streams)
{
    const struct pt_config *config = pt_runtime_config();
    if (&__portent_built)
        atomic_store(&pt_channel->built, 1);
    pt_keeps = config->keep | (pt_record_on ? PT_KEEP_ALL : 0);
    pt_deadlock_start();
    pt_race_looks = wants_races();
    pt_races_wanted = pt_race_looks.races || pt_race_looks.lives;
    struct pt_thread *self = pt_thread_self(); /* the first thread: number 0 */
    if (!self)
        return;
    self->explored = pt_explore_on; /* slot 0 */
    pt_thread_enter(self);
    pt_gate_start();
    pt_shadow_refresh(&self->shadow); /* a gate makes it slow */
    if (pt_runtime_records_full() || pt_gate ||
        ((config->mttl_bytes || config->checks || pt_races_wanted) && pt_channel->ring_max))
        pt_full_modules(self); /* the gate's locks have names, and what is found */
    if (pt_record_on)
        pt_record_define_modules();
    pt_resolve_watched(self, pt_embedded_is_other);
    pt_suppressed_start(config);
    pt_monitor_configure(self, config);
    pt_race_properties_configure(self, config, is_check_asked());
    pt_watch_inherit(&self->shadow);
    pt_call_wanted = pt_runtime_records_full() || pt_monitor_on || pt_races_wanted || pt_wrap_looks || pt_explore_on;
    if (streams)
        pt_stream_start();
    if (pt_record_on)
        pt_record_begin();
    if (config->watch_count || config->event_count || pt_runtime_records_full() || pt_monitor_on || pt_gate)
        pt_runtime_activate(PT_ACTIVE_RECORDS | (pt_record_on ? PT_ACTIVE_FILES : 0));
    if (may_be_silent(streams)) {
        pt_silence_start(may_stay_silent(config));
        pt_clock_ladder_start();
    }
    if (pt_race_looks.lives)
        pt_runtime_activate(PT_ACTIVE_LIVES);
    __portent_plain = may_run_twins(config, streams) ? PT_PLAIN_SAMPLED : PT_PLAIN_NOT;
    pt_race_passes = __portent_plain && !pt_wrap_looks;
    pt_shadow_look_start();
    pt_thread_leave(self);
}

const char *pt_start_options(void)
{
    const struct pt_config *config = pt_runtime_config();
    return config->options ? (const char *)config + config->options : "";
}

/* A run whose threads are scheduled: it records what its input says, and does not wait for other threads at its end,
 * which would not run then. */
static void set_explored(void)
{
    const char *record = pt_explore_record();
    if (*record)
        pt_options.record = (struct pt_span){record, strlen(record)};
    pt_options.atexit_sleep_ms = 0;
    pt_explore_hooks.begins = pt_found_restart;
    pt_explore_hooks.ends = pt_record_finish;
}

static const struct pt_found_taker explored = {pt_explore_found, pt_explore_found_again};

/* What is recorded goes to the observer, to nobody but those who listen to the event stream, or into the program's own
 * evaluation. False: nobody wants it. */
static bool find_channel(bool *ret_streams)
{
    size_t bytes = 0;
    pt_attach_start();
    pt_channel = open_channel(&bytes);
    pt_options_start(pt_channel ? pt_start_options() : NULL);
    pt_functions_start();
    if (!pt_channel && pt_explore_start())
        set_explored();
    if (pt_explore_on || pt_explore_watches())
        pt_found_taker = &explored;
    if (!pt_channel && pt_options.properties.len)
        pt_channel = pt_embedded_open(&bytes);
    *ret_streams = pt_stream_listen();
    if (!pt_channel && (*ret_streams || pt_options.races || pt_options.lifetimes || pt_options.deadlocks ||
                        pt_options.record.len || pt_explore_on)) {
        pt_channel = pt_start_stand_in();
        bytes = 0;
    }
    pt_fork_start(bytes);
    return pt_channel;
}

/* Threads that are not joined may still do what races, as ThreadSanitizer lets them; also where races are looked for in
 * what is recorded. */
static void await_threads(void)
{
    const uint64_t slice = 1000 * 1000;
    bool wanted = pt_races_wanted || (pt_is_recording() && pt_runtime_records_memory());
    if (!wanted || !pt_thread_now() || pt_options.atexit_sleep_ms <= 0)
        return;
    for (int64_t left = pt_options.atexit_sleep_ms; left > 0 && pt_thread_has_others(); left--)
        pt_sys_sleep(slice);
}

/* quick_exit runs no destructors. Registered first, so called last. */
static void on_quick_exit(void)
{
    pt_explore_exits();
    await_threads();
    pt_fork_finish();
    pt_start_compare();
    pt_start_finish_found();
    pt_record_finish();
}

__attribute__((constructor(101))) static void start(void)
{
    bool streams;
    if (is_superfluous())
        return;
    if (!find_channel(&streams)) {
        __portent_plain = PT_PLAIN_ALL; /* nobody can ask for more later */
        if (pt_options.verbosity > 0)
            introduce();
        return;
    }
    if (!pt_record_start())
        pt_runtime_stop("nothing can be recorded");
    struct pt_thread_parts parts = {.channel = sizeof(struct pt_channel_self),
                                    .local = sizeof(struct pt_local_self),
                                    .deadlock = pt_deadlock_part(),
                                    .record = pt_record_part()};
    pt_events_register();
    pt_owner_start();
    pt_sys_read_clock = pt_wrap_real_clock();
    pt_delay_start();
    if (!pt_clock_start() || !pt_shadow_start() || !pt_watch_start() || !pt_thread_start(parts) || !start_races()) {
        pt_record_abandon("there was no memory for it");
        pt_runtime_give_up();
        pt_channel = NULL; /* and nobody is served, though the socket is there */
        return;
    }
    pt_fork_register();
    (void)at_quick_exit(on_quick_exit);
    pt_start_recording(streams);
}

/* Threads may still run, and what they do still counts; the observer learns the real end from the kernel. */
__attribute__((destructor(101))) static void stop(void)
{
    pt_explore_exits();
    await_threads();
    if (pt_channel)
        pt_wrap_look_for_strangers();
    pt_fork_finish();
    pt_start_compare();
    pt_start_finish_found();
    struct pt_thread *self = pt_channel ? pt_thread_now() : NULL;
    if (self)
        pt_monitor_end(self);
    pt_record_finish();
    if (pt_channel)
        atomic_store(&pt_channel->program_state, PT_PROGRAM_ENDED);
    pt_stream_stop();
    pt_verdict_finish();
}
