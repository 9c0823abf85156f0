/*
 * The writer: a thread of the runtime's own, which compresses what threads have recorded and writes it to the file. It
 * is no thread of the program: clocks, names and signals know nothing of it.
 *
 * About ten times a second it takes what is in buffers that are not full yet, and then writes a mark: all events with a
 * stamp of at most T are in the file. An event's stamp is at most PT_STAMP_LAG behind the time at which it was made,
 * or, where it does not follow the time (stamp.h), at least the floor that the writer has raised before; and threads
 * say when they are making one (`busy`), before they look at either. So T is the time at which the writer began to
 * look, and to which it raised the floor, less that lag and a margin for counters of cores that disagree, once every
 * thread that was making an event then has been seen to have finished it. A millisecond lies between, in which what a
 * thread has stored gets to be seen by others.
 *
 * Guarantee: a definition stands in the file before the mark that follows what needs it; what was written when the
 * program is killed is a run that happened, up to the last mark, and the buffers' own file has the rest. When a write
 * fails, recording stops, which is said. Cost: one thread.
 */
#include <string.h>

#include "core/hash.h"
#include "core/lz.h"
#include "runtime/explore/explore.h"
#include "runtime/record/impl.h"
#include "runtime/record/stamp.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"
#include "runtime/wrap/hooks.h"

enum { PATIENCE = 20 };
#define PAUSE_NS  (UINT64_C(100) * 1000 * 1000) /* between two marks */
#define SETTLE_NS (UINT64_C(1000) * 1000)
#define FINISH_NS (UINT64_C(120) * 1000 * 1000 * 1000) /* that the end waits for a slow disk */

bool pt_record_on;

static struct {
    int fd;
    char live[4200]; /* the name of the buffers' file */
    bool started;
    bool failed, full; /* the writer's own */
    uint32_t skips;    /* so many of the next chunks of events are not compressed */
    _Atomic uint32_t stopping, stopped;
    struct pt_lz lz;
    uint8_t packed[sizeof(struct pt_rec_chunk) + PT_REC_PIECE];
    struct pt_record_buffer events, definitions; /* copies of what is taken from buffers that are not full */
} writer = {.fd = -1};

static void complain(const char *what, const char *path)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: ");
    pt_line_text(&line, what);
    pt_line_text(&line, path);
    pt_line_write(&line);
}

/* The file's, or one with the number of the process behind its name: where the parent still writes to the former, or
 * this process has, before it became another program by exec. */
static int create(char *path, size_t len)
{
    int fd = pt_record_is_own_file(path) ? PT_SYS_IS_LOCKED : pt_sys_create_locked(path);
    if (fd != PT_SYS_IS_LOCKED)
        return fd;
    struct pt_line number = {0};
    pt_line_text(&number, ".");
    pt_line_number(&number, pt_sys_process());
    memcpy(path + len, number.text, number.len);
    path[len + number.len] = '\0';
    return pt_sys_create_locked(path);
}

bool pt_record_start(void)
{
    char path[4096];
    struct pt_span name = pt_options.record;
    if (!name.len)
        return true;
    if (!pt_record_read_limit()) {
        complain("record_limit is no size, nor one with ',stop'", "");
        return false;
    }
    if (name.len > sizeof path - 32) {
        complain("the name of the recording is too long", "");
        return false;
    }
    memcpy(path, name.at, name.len);
    path[name.len] = '\0';
    writer.fd = create(path, name.len);
    if (writer.fd < 0) {
        complain("cannot write the recording: ", path);
        return false;
    }
    writer.failed = writer.full = false;
    writer.skips = 0;
    atomic_store(&writer.stopping, 0);
    atomic_store(&writer.stopped, 0);
    static const char ending[] = ".live";
    bool named = pt_sys_absolute(path, writer.live, sizeof writer.live - sizeof ending);
    if (named)
        memcpy(writer.live + strlen(writer.live), ending, sizeof ending);
    pt_record_on =
        pt_stamp_start() && pt_record_start_buffers(named ? writer.live : NULL) && pt_record_start_definitions();
    if (!pt_record_on)
        complain("there is no memory for the recording", "");
    return pt_record_on;
}

static void fail(const char *why)
{
    if (writer.failed)
        return;
    writer.failed = true;
    pt_sys_unlink(writer.live); /* what is in it would not fit to what is in the other */
    pt_runtime_stop(why);
    pt_record_close_buffers();
}

/* Whether events are worth compressing: where the last time saved next to nothing, the next ones are stored as they
 * are. */
static bool is_packed(const struct pt_rec_chunk *chunk, uint32_t len)
{
    bool skip = pt_rec_has_events(chunk->kind) && writer.skips;
    writer.skips -= skip;
    return len && !skip;
}

/* A chunk, with what it says of itself filled in but for the bytes. */
static void write_chunk(struct pt_rec_chunk chunk, const uint8_t *bytes, uint32_t len)
{
    enum { SKIPS = 7 };
    uint8_t *stored = writer.packed + sizeof chunk;
    bool packs = is_packed(&chunk, len);
    size_t packed = packs ? pt_lz_pack(&writer.lz, bytes, len, stored, len) : 0;
    if (packs && pt_rec_has_events(chunk.kind) && (!packed || packed > len - len / 16))
        writer.skips = SKIPS;
    if (writer.failed)
        return;
    if (len && (!packed || packed >= len)) {
        memcpy(stored, bytes, len);
        packed = len;
    }
    chunk.magic = PT_REC_CHUNK_MAGIC;
    chunk.raw = len;
    chunk.stored = (uint32_t)packed;

    chunk.sum = pt_rec_sum(&chunk, stored);
    memcpy(writer.packed, &chunk, sizeof chunk);
    if (!pt_record_append(writer.packed, sizeof chunk + packed))
        fail("the recording cannot be written (is the disk full?)");
    else if (pt_record_room() == PT_RECORD_CROWDED && !pt_record_make_room(writer.packed))
        fail("what is beyond the limit of the recording cannot be given back on this file system");
}

static void write_buffer(const struct pt_record_buffer *buffer)
{
    const struct pt_rec_live_buffer *live = &buffer->live;
    uint32_t used = atomic_load_explicit(&live->used, memory_order_acquire);
    struct pt_rec_chunk chunk = {.kind = live->kind,
                                 .thread = live->thread,
                                 .piece = live->piece,
                                 .stamp = live->stamp,
                                 .from = live->taken,
                                 .until = buffer->until,
                                 .events = live->events - live->taken_events};
    if (used > live->taken)
        write_chunk(chunk, buffer->bytes + live->taken, used - live->taken);
}

static void write_definitions(void)
{
    struct pt_record_buffer *from = pt_record_take_definitions(&writer.definitions);
    if (!from)
        return;
    write_buffer(&writer.definitions);
    pt_record_took(from, &writer.definitions);
}

static void write_full(void)
{
    struct pt_record_buffer *buffer;
    while ((buffer = pt_record_take_full())) {
        if (pt_rec_has_events(buffer->live.kind))
            write_definitions();
        write_buffer(buffer);
        pt_record_give_back(buffer);
    }
}

static void write_rest(void)
{
    struct pt_record_buffer *from;
    uint32_t at = 0;
    while ((from = pt_record_take_rest(&at, &writer.events))) {
        write_definitions();
        write_buffer(&writer.events);
        pt_record_took(from, &writer.events);
    }
}

/* Takes everything that was recorded until now; 0: a thread is in the middle of an event for too long. */
static uint64_t take_all(void)
{
    uint64_t now = pt_stamp_now(), margin = PT_STAMP_LAG + PT_STAMP_AHEAD;
    uint64_t floor = now > margin ? now - margin : 0;
    pt_stamp_raise_floor(floor);
    pt_sys_sleep(SETTLE_NS);
    for (unsigned turn = 0; pt_record_has_busy(turn == 0); turn++) {
        if (turn == PATIENCE)
            return 0;
        write_full();
        pt_sys_sleep(SETTLE_NS);
    }
    write_full();
    write_rest();
    write_full();
    write_definitions();
    return floor ? floor - 1 : 0;
}

static void write_mark(void)
{
    uint64_t stamp = take_all();
    if (stamp)
        write_chunk((struct pt_rec_chunk){.kind = PT_REC_MARK, .stamp = stamp}, NULL, 0);
}

static uint64_t take_patiently(void)
{
    uint64_t stamp = 0;
    for (unsigned turn = 0; !stamp && turn < PATIENCE; turn++)
        stamp = take_all();
    return stamp;
}

/* `stamp`: the highest that is in the file. */
static void write_last(uint64_t stamp, const char *why)
{
    write_chunk((struct pt_rec_chunk){.kind = PT_REC_END, .stamp = stamp}, (const uint8_t *)why, (uint32_t)strlen(why));
    pt_sys_unlink(writer.live);
}

/* Threads that go on stop to record one after the other, and do not wait any more for those that are in the middle of
 * an event; so the end is that of what was taken while all of them did record. */
static void write_end(void)
{
    pt_sys_sleep(SETTLE_NS);
    uint64_t stamp = take_patiently();
    if (writer.full)
        pt_runtime_stop("the recording has reached its limit");
    const char *why = writer.full                         ? "the recording has reached its limit"
                      : atomic_load(&pt_channel->dropped) ? "events of the program were not recorded"
                                                          : "";
    if (stamp)
        write_last(stamp, why);
}

static void *run_writer(void *unused)
{
    uint64_t marked = pt_sys_now();
    pt_thread_forget();
    pt_sys_exempt();
    while (!atomic_load_explicit(&writer.stopping, memory_order_acquire) && !writer.full) {
        uint32_t work = atomic_load_explicit(&pt_record_work, memory_order_acquire);
        write_full();
        uint64_t now = pt_sys_now();
        if (now - marked >= PAUSE_NS) {
            write_mark();
            marked = pt_sys_now();
        }
        writer.full = pt_record_room() == PT_RECORD_FULL;
        if (!writer.full)
            pt_sys_wait(&pt_record_work, work, PAUSE_NS);
    }
    write_end();
    pt_record_close_buffers();
    atomic_store_explicit(&writer.stopped, 1, memory_order_release);
    pt_sys_wake(&writer.stopped);
    return unused;
}

/* All signals are the program's: none is handled in this thread. */
bool pt_record_begin(void)
{
    if (!pt_record_open_file(writer.fd)) {
        fail("the recording cannot be written (is the disk full?)");
        return false;
    }
    uint64_t mask = pt_sys_swap_signal_mask(~(uint64_t)0);
    writer.started = pt_wrap_start_thread(run_writer, "portent-record");
    pt_sys_swap_signal_mask(mask);
    if (!writer.started)
        fail("the thread that writes the recording cannot be started");
    return writer.started;
}

void pt_record_abandon(const char *why)
{
    if (pt_record_on && pt_record_open_file(writer.fd))
        write_last(0, why);
    pt_record_on = false;
}

void pt_record_finish(void)
{
    if (!writer.started)
        return;
    writer.started = false;
    pt_explore_holds(true);             /* where threads take turns, nobody else goes on any more */
    bool others = pt_thread_live() > 1; /* they go on, and stop to record when the end is written */
    if (!others)
        pt_runtime_deactivate(PT_ACTIVE_RECORDS | PT_ACTIVE_FILES);
    atomic_store_explicit(&writer.stopping, 1, memory_order_release);
    atomic_fetch_add(&pt_record_work, 1);
    pt_sys_wake(&pt_record_work);
    uint64_t limit = pt_sys_now() + FINISH_NS;
    while (!atomic_load_explicit(&writer.stopped, memory_order_acquire) && pt_sys_now() < limit)
        pt_sys_wait(&writer.stopped, 0, PAUSE_NS);
    if (others)
        pt_runtime_deactivate(PT_ACTIVE_RECORDS | PT_ACTIVE_FILES);
    pt_record_close_buffers();
}

void pt_record_forget(void)
{
    writer.started = false;
    pt_record_on = false;
    if (writer.fd >= 0)
        pt_sys_close(writer.fd);
    writer.fd = -1;
}
