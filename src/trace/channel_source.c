/*
 * The channel as a source of events: the loop of pt_source_next over what channel_rings.c merges, and in words what of
 * the program's events did not arrive. The time is asked for only when no event stands ready.
 */
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "trace/channel_impl.h"
#include "trace/format.h"

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static enum pt_read next(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct pt_channel_reader *r = (struct pt_channel_reader *)source;
    (void)err;
    if (chan_ready(r, ret_event) || chan_next(r, now(), ret_event))
        return PT_READ_EVENT;
    return r->ended ? PT_READ_END : PT_READ_WAIT;
}

static void wait_for_record(struct pt_source *source, uint64_t nanoseconds)
{
    struct pt_channel_reader *r = (struct pt_channel_reader *)source;
    struct timespec time = {(time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
    /* Partner: the program's increment after it has published a record. */
    syscall(SYS_futex, &r->map->wake, FUTEX_WAIT, r->wake_seen, &time, NULL, 0);
}

/* Events that were under way when the program ended are none that are missing: see struct pt_channel_losses. */
static struct pt_loss loss(const struct pt_source *source)
{
    const struct pt_channel_reader *r = (const struct pt_channel_reader *)source;
    struct pt_channel_losses losses = pt_channel_losses(r);
    uint64_t missing = losses.missing + losses.corrupt;
    struct pt_loss loss = {.events = losses.dropped ? losses.dropped : missing};
    const char *plural = loss.events == 1 ? "" : "s";
    if (!pt_channel_started(r))
        snprintf(loss.why, sizeof loss.why, "nothing was observed");
    else if (losses.stopped)
        snprintf(loss.why, sizeof loss.why, "%s: nothing was recorded from there on", losses.stopped);
    else if (losses.dropped && losses.dropped == losses.strangers)
        snprintf(loss.why, sizeof loss.why, "%" PRIu64 " thread%s %s not seen to start, and what %s did is not judged",
                 loss.events, plural, loss.events == 1 ? "was" : "were", loss.events == 1 ? "it" : "they");
    else if (losses.dropped)
        snprintf(loss.why, sizeof loss.why, "%" PRIu64 " event%s did not fit into the buffers and %s dropped",
                 loss.events, plural, loss.events == 1 ? "was" : "were");
    else if (missing)
        snprintf(loss.why, sizeof loss.why, "%" PRIu64 " event%s of the program did not arrive", loss.events, plural);
    return loss;
}

static void free_channel(struct pt_source *source)
{
    chan_free((struct pt_channel_reader *)source);
}

struct pt_source *pt_channel_source(struct pt_channel_reader *r)
{
    return &r->source;
}

const struct pt_format pt_format_channel = {
    .name = "channel",
    .unit = PT_UNIT_EVENT,
    .next = next,
    .wait = wait_for_record,
    .loss = loss,
    .free = free_channel,
};
