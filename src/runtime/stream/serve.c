/*
 * The sender's life: it waits for readers, and while there are any looks at the threads' buffers: every millisecond
 * while much happens, every eight while little does, and when a thread says that one of its buffers is full. It is no
 * thread of the program: clocks, names and signals know nothing of it.
 *
 * Guarantee: no thread of the program ever waits for it, but for the farewell at the end. Cost: one thread that sleeps
 * while nobody is connected, and wakes 125 to 1000 times a second while somebody is: a machine has many programs.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>

#include "runtime/stream/impl.h"

enum {
    PAUSE_NS = 1000 * 1000,       /* between two looks at the buffers */
    CALM_NS = 8 * PAUSE_NS,       /* the same, at most, while rounds are small */
    SMALL_ROUND = 1024,           /* events: of a millisecond, a million a second */
    LONG_PAUSE_NS = 5 * PAUSE_NS, /* while all readers are stuck */
    CALL_NS = 1000 * 1000 * 1000, /* between two calls of a watcher that has gone */
};

/* How long the end waits for readers that take nothing, and for any: who was held up for a moment gets the rest. */
#define FAREWELL_NS      (UINT64_C(1000) * 1000 * 1000)
#define FAREWELL_MOST_NS (5 * FAREWELL_NS)

static bool started;
static _Atomic uint32_t stopping, stopped;
_Atomic uint32_t pt_stream_hurried;

static void forget_locks(void *context, struct pt_stream_peer *known)
{
    (void)context;
    known->lock_count = 0;
    known->state = PT_STATE_RUNNING;
}

/* Events begin, after nobody was there or nobody listened: what threads hold is not known. */
static void begin(void)
{
    pt_names_each(forget_locks, NULL);
    atomic_fetch_add_explicit(&pt_stream_generation, 1, memory_order_relaxed);
    atomic_store_explicit(&pt_streaming, PT_STREAM_ON, memory_order_seq_cst);
    pt_names_survey(); /* who began meanwhile did so unseen */
}

static void welcome(int fd)
{
    if (!pt_reader_count) {
        while (pt_send_merge()) /* what is left from the time before belongs to nobody */
            ;
        begin();
    }
    pt_reader_add(fd, pt_send_number(), pt_send_time());
}

static void accept_one(void)
{
    int fd;
    if (!pt_reader_accept(&fd))
        pt_sys_sleep(PAUSE_NS * 10);
    if (fd >= 0)
        welcome(fd);
}

/* A watcher that was ended may be started again. */
static void call_again(void)
{
    static uint64_t called;
    uint64_t now = pt_sys_now();
    if (!pt_stream_calls() || pt_reader_count || now - called < CALL_NS)
        return;
    called = now;
    int fd = pt_stream_call();
    if (fd >= 0)
        welcome(fd);
}

/* While all readers are stuck events are only counted; they are worth the effort again when one has caught up. */
static void set_mode(void)
{
    bool all_full = true, one_free = false;
    for (unsigned i = 0; i < PT_READERS_MAX; i++) {
        const struct pt_stream_reader *reader = &pt_readers[i];
        if (reader->fd < 0)
            continue;
        all_full &= reader->full;
        one_free |= reader->head - reader->tail < PT_QUEUE_BYTES / 2;
    }
    uint32_t mode = pt_wrap_streaming();
    if (!pt_reader_count)
        atomic_store_explicit(&pt_streaming, PT_STREAM_OFF, memory_order_relaxed);
    else if (mode == PT_STREAM_ON && all_full)
        atomic_store_explicit(&pt_streaming, PT_STREAM_COUNT, memory_order_relaxed);
    else if (mode == PT_STREAM_COUNT && one_free)
        begin();
}

/* Before anybody is welcomed: those who left before he came have made room for him. */
static void hear_readers(const struct pollfd *fds)
{
    for (unsigned i = 0; i < PT_READERS_MAX; i++) {
        struct pt_stream_reader *reader = &pt_readers[i];
        if (reader->fd >= 0 && !reader->deaf && fds[i + 1].revents & (POLLIN | POLLHUP | POLLERR))
            pt_reader_hear(reader);
    }
}

static void flush_readers(void)
{
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        if (pt_readers[i].fd >= 0)
            pt_reader_flush(&pt_readers[i]);
}

/* Until a thread hurries us or the pause is over; then what the sockets have to say. Where something waits to be sent,
 * a socket that takes it ends the pause too. */
static void wait_for_work(struct pollfd *fds, uint64_t pause)
{
    bool pending = false;
    fds[0] = (struct pollfd){.fd = pt_stream_listener, .events = POLLIN};
    for (unsigned i = 0; i < PT_READERS_MAX; i++) {
        const struct pt_stream_reader *reader = &pt_readers[i];
        /* of one that is deaf and has nothing to get there is nothing to learn, and a hang-up would not let us sleep */
        bool waits = reader->fd >= 0 && reader->head != reader->tail;
        short events = (short)((reader->deaf ? 0 : POLLIN) | (waits ? POLLOUT : 0));
        fds[i + 1] = (struct pollfd){.fd = events ? reader->fd : -1, .events = events};
        pending |= waits;
    }
    if (!pt_reader_count) {
        pt_sys_poll(fds, PT_READERS_MAX + 1, pt_stream_calls() ? CALL_NS : -1);
        return;
    }
    if (!pending && pause)
        pt_sys_wait(&pt_stream_hurried, 0, pause);
    atomic_store_explicit(&pt_stream_hurried, 0, memory_order_relaxed);
    pt_sys_poll(fds, PT_READERS_MAX + 1, pending ? (int64_t)pause : 0);
}

/* After a round of so many events. */
static uint64_t next_pause(uint64_t pause, uint32_t events)
{
    if (events >= PT_ROUND_MOST / 16)
        return 0;
    if (pt_wrap_streaming() == PT_STREAM_COUNT)
        return LONG_PAUSE_NS;
    if (events >= SMALL_ROUND || pause < PAUSE_NS)
        return PAUSE_NS;
    return pause * 2 < CALM_NS ? pause * 2 : CALM_NS;
}

static uint64_t bytes_sent(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        sum += pt_readers[i].tail;
    return sum;
}

/* A reader that reads gets what there is; one that does not is not waited for. */
static void say_farewell(void)
{
    uint64_t now = pt_sys_now(), limit = now + FAREWELL_MOST_NS, patience = now + FAREWELL_NS, sent = bytes_sent();
    while (pt_send_merge() && pt_sys_now() < patience) /* other threads may run on, and never stop */
        ;
    while (!pt_send_farewell() && now < limit && now < patience) {
        pt_sys_sleep(PAUSE_NS);
        now = pt_sys_now();
        if (bytes_sent() != sent) {
            sent = bytes_sent();
            patience = now + FAREWELL_NS;
        }
    }
}

static void *run_sender(void *unused)
{
    struct pollfd fds[PT_READERS_MAX + 1];
    uint64_t pause = PAUSE_NS;
    pt_thread_forget(); /* it is no thread of the program */
    pt_sys_exempt();
    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        wait_for_work(fds, pause);
        hear_readers(fds);
        if (fds[0].revents)
            accept_one();
        call_again();
        pause = next_pause(pause, pt_reader_count ? pt_send_merge() : 0);
        if (pt_reader_count && pt_sys_now() > pt_last_sent + PT_WIRE_CLOCK_NS)
            pt_send_clock();
        flush_readers();
        set_mode();
        pt_names_tidy();
    }
    say_farewell();
    atomic_store_explicit(&pt_streaming, PT_STREAM_OFF, memory_order_relaxed);
    atomic_store_explicit(&stopped, 1, memory_order_release);
    pt_sys_wake(&stopped);
    return unused;
}

void pt_stream_modules(void)
{
    if (pt_stream_listener >= 0 || pt_stream_calls())
        pt_symbol_modules();
}

/* All signals are the program's: none is handled in this thread. */
void pt_stream_start(void)
{
    sigset_t all, before;
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        pt_readers[i].fd = -1;
    pt_symbol_modules();
    if (!pt_send_start() || !pt_names_start()) {
        pt_stream_unlisten();
        return;
    }
    if (pt_stream_watcher >= 0) /* it sees the run from its beginning */
        welcome(pt_stream_watcher);
    pt_stream_watcher = -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pt_wrap_start_thread(run_sender, "portent-events");
    if (!started)
        pt_stream_unlisten();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With nobody connected there is nothing to wait for: the sender ends with the process. Otherwise it looks every few
 * milliseconds whether it is asked to end. */
void pt_stream_stop(void)
{
    if (!started)
        return;
    atomic_store_explicit(&stopping, 1, memory_order_release);
    pt_stream_hurry();
    uint64_t limit = pt_sys_now() + FAREWELL_MOST_NS + FAREWELL_NS;
    while (pt_wrap_streaming() && !atomic_load_explicit(&stopped, memory_order_acquire) && pt_sys_now() < limit)
        pt_sys_wait(&stopped, 0, FAREWELL_NS);
    pt_stream_remove();
}

void pt_stream_forget(void)
{
    atomic_store_explicit(&pt_streaming, PT_STREAM_OFF, memory_order_relaxed);
    if (!started)
        return;
    started = false;
    for (unsigned i = 0; i < PT_READERS_MAX; i++)
        if (pt_readers[i].fd >= 0)
            pt_sys_close(pt_readers[i].fd);
    if (pt_stream_listener >= 0)
        pt_sys_close(pt_stream_listener);
    pt_stream_listener = -1;
}
