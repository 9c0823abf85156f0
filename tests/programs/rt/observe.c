/*
 * A small observer for the runtime's tests: makes a channel, starts a program on it, drains the rings and writes what
 * it read as text.
 *
 *   observe [-K KEEP] [-T] [-m MODULE] [-w HEXOFFSET:SIZE]... [-e EVENT]... [-r RING_BYTES] [-R RINGS] [-d] [-s]
 * [-k COUNT] [-x] [-q] -o FILE PROGRAM [ARGS]
 *
 * -K: what to keep beside relevant events (enum pt_keep); -T: in full, with PT_KEEP_THREADS, the first thread.
 * -m: the variables that follow lie in this module. -d drop
 * when full, -s do not read before that, -k kill the program after so many events, -q count only, -x check exactness:
 * an event on object 1 + T tells what thread T last loaded from object 0; it must be the latest write of object 0 that
 * the event's clock knows of.
 *
 * PT_OBSERVE_OPTIONS in the environment is what the program gets as PORTENT_OPTIONS.
 *
 * Lines: T thread parent name | N number text | I object value | F object value | W object type size name | E number
 * thread kind object line value clock, in the order of numbers | Z summary.
 */
#include "core/channel.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX = 64, THREADS = 4096 };

static struct pt_channel *channel;
static FILE *out;
static bool quiet, exact, first_thread;
static struct pt_record_event **events;
static uint64_t event_count, event_room, read_count;
static uint32_t site_lines[1 << 22];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static struct pt_ring *ring_at(uint32_t index)
{
    return (void *)((char *)channel + channel->rings_offset + index * (sizeof(struct pt_ring) + channel->ring_bytes));
}

static void print_value(const struct pt_record_event *event)
{
    const unsigned char *bytes = (const void *)(event->clock + event->clock_count);
    for (uint32_t i = event->value_bytes; i-- > 0;)
        fprintf(out, "%02x", bytes[i]);
    if (!event->value_bytes)
        fputc('-', out);
}

static void keep(const struct pt_record_event *event)
{
    read_count++;
    if (quiet && !exact)
        return;
    if (event_count == event_room) {
        event_room = event_room ? 2 * event_room : 4096;
        events = realloc(events, event_room * sizeof *events);
        if (!events)
            die("realloc");
    }
    events[event_count] = malloc(event->head.bytes);
    if (!events[event_count])
        die("malloc");
    memcpy(events[event_count++], event, event->head.bytes);
}

static void take(const struct pt_record *record)
{
    const struct pt_record_event *event = (const void *)record;
    if (record->type == PT_RECORD_EVENT) {
        keep(event);
    } else if (record->type == PT_RECORD_THREAD) {
        const struct pt_record_thread *thread = (const void *)record;
        fprintf(out, "T %u %u %s\n", thread->thread, thread->parent, thread->name);
    } else if (record->type == PT_RECORD_SITE) {
        const struct pt_record_site *site = (const void *)record;
        site_lines[site->site] = site->line;
    } else if (record->type == PT_RECORD_NAME) {
        const struct pt_record_name *name = (const void *)record;
        fprintf(out, "N %u %s\n", name->number, name->text);
    } else if (record->type == PT_RECORD_WATCH) {
        const struct pt_record_watch *watch = (const void *)record;
        fprintf(out, "W %u %u %u %s\n", watch->var, watch->type, watch->size, watch->name);
    } else if (record->type == PT_RECORD_INIT || record->type == PT_RECORD_FOREIGN) {
        fprintf(out, "%c %u ", record->type == PT_RECORD_INIT ? 'I' : 'F', event->object);
        print_value(event);
        fputc('\n', out);
    }
}

static bool drain(void)
{
    bool any = false;
    uint32_t used = atomic_load(&channel->rings_used);
    for (uint32_t i = 0; i < used; i++) {
        struct pt_ring *ring = ring_at(i);
        uint32_t state = atomic_load_explicit(&ring->state, memory_order_acquire);
        uint64_t tail = atomic_load(&ring->tail), head = atomic_load_explicit(&ring->head, memory_order_acquire);
        any |= tail != head;
        while (tail != head) {
            const struct pt_record *record = (void *)(ring->data + (tail & (channel->ring_bytes - 1)));
            if (record->bytes < 8 || record->bytes % 8 || record->bytes > head - tail) {
                fprintf(out, "BAD record in ring %u at %lu: %u bytes\n", i, tail, record->bytes);
                exit(3);
            }
            take(record);
            tail += record->bytes;
        }
        atomic_store(&ring->tail, tail);
        if (any) {
            atomic_fetch_add(&ring->room, 1);
            syscall(SYS_futex, &ring->room, FUTEX_WAKE, 1, NULL, NULL, 0);
        }
        if (state == PT_RING_ENDED && atomic_load(&ring->head) == tail)
            atomic_store_explicit(&ring->state, PT_RING_FREE, memory_order_release);
    }
    return any;
}

static int by_number(const void *a, const void *b)
{
    const struct pt_record_event *x = *(void *const *)a, *y = *(void *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Of threads that have taken over a lane: the one who was there before, and how many events there were. */
static struct {
    bool follows;
    uint32_t before;
    uint64_t base;
} threads[THREADS];
static uint32_t followers;
static uint32_t last_in[THREADS]; /* by lane: the last one in it, plus 1; 0: the one that it is called by */

static struct pt_clock_pair *put_threads(struct pt_clock_pair *out, struct pt_clock_pair pair)
{
    uint32_t thread = last_in[pair.lane] ? last_in[pair.lane] - 1 : pair.lane;
    while (threads[thread].follows && pair.count <= threads[thread].base)
        thread = threads[thread].before;
    *out++ = (struct pt_clock_pair){thread, pair.count - threads[thread].base};
    for (; threads[thread].follows; thread = threads[thread].before) {
        uint32_t before = threads[thread].before;
        *out++ = (struct pt_clock_pair){before, threads[thread].base - threads[before].base};
    }
    return out;
}

static int by_lane(const void *a, const void *b)
{
    const struct pt_clock_pair *x = a, *y = b;
    return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* The event, with a clock that counts by threads. */
static struct pt_record_event *by_threads(const struct pt_record_event *event)
{
    struct pt_record_event *copy = malloc(event->head.bytes + followers * sizeof *event->clock);
    if (!copy)
        die("malloc");
    const struct pt_clock_pair *clock = event->clock;
    struct pt_clock_pair *out = copy->clock;
    memcpy(copy, event, sizeof *event);
    if (event->marks & PT_MARK_LANE) {
        threads[event->thread].follows = true;
        followers++;
        threads[event->thread].before = last_in[clock->lane] ? last_in[clock->lane] - 1 : clock->lane;
        threads[event->thread].base = clock->count;
        last_in[clock++->lane] = event->thread + 1;
    }
    for (; clock < event->clock + event->clock_count; clock++)
        out = put_threads(out, *clock);
    copy->clock_count = (uint32_t)(out - copy->clock);
    qsort(copy->clock, copy->clock_count, sizeof *copy->clock, by_lane);
    memcpy(out, event->clock + event->clock_count, event->value_bytes);
    return copy;
}

static uint64_t value_of(const struct pt_record_event *event)
{
    uint64_t value = 0;
    memcpy(&value, event->clock + event->clock_count, event->value_bytes < 8 ? event->value_bytes : 8);
    return value;
}

static uint32_t component(const struct pt_record_event *event, uint32_t thread)
{
    for (uint32_t i = 0; i < event->clock_count; i++)
        if (event->clock[i].lane == thread)
            return event->clock[i].count;
    return 0;
}

/* For each thread its writes of object 0, in order. */
static struct {
    const struct pt_record_event **writes;
    uint64_t count, room;
} written[MAX];

static bool load_was_exact(const struct pt_record_event *event)
{
    const struct pt_record_event *latest = NULL;
    for (uint32_t t = 0; t < MAX; t++) {
        uint32_t known = component(event, t);
        uint64_t low = 0, high = written[t].count;
        while (low < high) {
            uint64_t middle = (low + high) / 2;
            if (component(written[t].writes[middle], t) <= known)
                low = middle + 1;
            else
                high = middle;
        }
        if (low && (!latest || written[t].writes[low - 1]->number > latest->number))
            latest = written[t].writes[low - 1];
    }
    return value_of(event) == (latest ? value_of(latest) : 0);
}

static uint64_t check_exactness(void)
{
    uint64_t wrong = 0, last_count[MAX] = {0}, before = 0;
    for (uint64_t i = 0; i < event_count; i++) {
        const struct pt_record_event *event = events[i];
        uint32_t t = event->thread;
        if (t >= MAX)
            continue;
        wrong += component(event, t) != ++last_count[t];
        if (event->object == 0) {
            wrong += event->kind == PT_KIND_UPDATE &&
                     value_of(event) !=
                         ((before + 1) &
                          (event->value_bytes < 8 ? (UINT64_C(1) << 8 * event->value_bytes) - 1 : ~UINT64_C(0)));
            before = value_of(event);
            if (written[t].count == written[t].room) {
                written[t].room = written[t].room ? 2 * written[t].room : 1024;
                written[t].writes = realloc(written[t].writes, written[t].room * sizeof *written[t].writes);
            }
            written[t].writes[written[t].count++] = event;
        } else {
            wrong += !load_was_exact(event);
        }
    }
    return wrong;
}

static void print_events(void)
{
    for (uint64_t i = 0; i < event_count; i++) {
        const struct pt_record_event *event = events[i];
        fprintf(out, "E %lu %u %u %u %u ", event->number, event->thread, event->kind, event->object,
                site_lines[event->site]);
        print_value(event);
        fputc(' ', out);
        for (uint32_t c = 0; c < event->clock_count; c++)
            fprintf(out, "%s%u:%u", c ? "," : "", event->clock[c].lane, event->clock[c].count);
        fputc('\n', out);
    }
}

static int make_channel(uint32_t watches, const char *const modules[], const uint64_t offsets[], const uint32_t sizes[],
                        uint32_t names, char *const event[], uint64_t ring_bytes, uint32_t rings, bool drop,
                        uint32_t kept)
{
    uint64_t total = 65536 + rings * (sizeof(struct pt_ring) + ring_bytes);
    int fd = memfd_create("channel", 0);
    if (fd < 0 || ftruncate(fd, (off_t)total) != 0)
        die("memfd");
    channel = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (channel == MAP_FAILED)
        die("mmap");
    memcpy(channel->magic, PT_CHANNEL_MAGIC, 8);
    channel->version = PT_CHANNEL_VERSION;
    channel->on_full = drop ? PT_ON_FULL_DROP : PT_ON_FULL_BLOCK;
    channel->total_bytes = total;
    channel->config_offset = 4096;
    channel->config_bytes = 65536 - 4096;
    channel->rings_offset = 65536;
    channel->ring_bytes = ring_bytes;
    channel->ring_max = rings;
    channel->next_number = 1;
    char *base = (char *)channel + 4096;
    struct pt_config *config = (void *)base;
    config->keep = kept;
    config->start_count = first_thread;
    struct pt_start *start = (void *)(config + 1);
    struct pt_watch *watch = (void *)(start + 1);
    config->starts = sizeof *config;
    start->offset = PT_START_MAIN;
    config->watch_count = watches;
    config->watches = sizeof *config + sizeof *start;
    config->event_count = names;
    config->events = config->watches + MAX * sizeof *watch;
    config->suppressions = config->events + MAX * 4; /* none: an empty string */
    uint32_t text = config->suppressions + 1;
    for (uint32_t i = 0; i < watches; i++) {
        watch[i] = (struct pt_watch){.offset = offsets[i], .size = sizes[i], .type = PT_WATCH_UINT};
        if (modules[i]) {
            watch[i].module = text;
            strcpy(base + text, modules[i]);
            text += (uint32_t)strlen(modules[i]) + 1;
        }
    }
    for (uint32_t i = 0; i < names; i++) {
        ((uint32_t *)(base + config->events))[i] = text;
        strcpy(base + text, event[i]);
        text += (uint32_t)strlen(event[i]) + 1;
    }
    const char *options = getenv("PT_OBSERVE_OPTIONS");
    if (options && strlen(options) < 256) {
        config->options = text;
        strcpy(base + text, options);
    }
    return fd;
}

/* A record does not fit any more, or, where it is dropped then, was. */
static bool is_full(bool drop)
{
    if (drop)
        return atomic_load(&channel->dropped) > 0;
    struct pt_ring *first = ring_at(0);
    return atomic_load(&first->head) - atomic_load(&first->tail) + 256 > channel->ring_bytes;
}

static void wait_until_full(pid_t child, bool drop)
{
    siginfo_t ended = {0};
    while (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == 0 && !is_full(drop))
        usleep(1000);
}

int main(int argc, char **argv)
{
    const char *modules[MAX], *module = NULL;
    uint64_t offsets[MAX], ring_bytes = 1 << 20;
    uint32_t sizes[MAX], watches = 0, names = 0, rings = 64, kept = 0;
    char *event[MAX], *end;
    bool drop = false;
    bool late = false;
    uint64_t kill_after = 0;
    out = stdout;
    for (int option; (option = getopt(argc, argv, "+K:Tm:w:e:r:R:dsk:xqo:")) != -1;) {
        switch (option) {
        case 'K':
            kept = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'T':
            first_thread = true;
            break;
        case 'm':
            module = optarg;
            break;
        case 'w':
            modules[watches] = module;
            offsets[watches] = strtoull(optarg, &end, 16);
            sizes[watches++] = (uint32_t)strtoul(end + 1, NULL, 10);
            break;
        case 'e':
            event[names++] = optarg;
            break;
        case 'r':
            ring_bytes = strtoull(optarg, NULL, 0);
            break;
        case 'R':
            rings = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'd':
            drop = true;
            break;
        case 's':
            late = true;
            break;
        case 'k':
            kill_after = strtoull(optarg, NULL, 0);
            break;
        case 'x':
            exact = true;
            break;
        case 'q':
            quiet = true;
            break;
        case 'o':
            out = fopen(optarg, "w");
            break;
        default:
            return 2;
        }
    }
    if (!out || optind == argc)
        return 2;
    int fd = make_channel(watches, modules, offsets, sizes, names, event, ring_bytes, rings, drop, kept);
    char number[16];
    snprintf(number, sizeof number, "%d", fd);
    setenv(PT_CHANNEL_ENV, number, 1);
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[optind], argv + optind);
        die(argv[optind]);
    }
    if (late)
        wait_until_full(child, drop);
    int status = 0;
    bool over = false;
    while (!over) {
        over = waitpid(child, &status, WNOHANG) == child;
        if (kill_after && atomic_load(&channel->next_number) > kill_after)
            kill(child, SIGKILL);
        uint32_t wake = atomic_load(&channel->wake);
        if (!drain() && !over) {
            struct timespec limit = {0, 2000000};
            syscall(SYS_futex, &channel->wake, FUTEX_WAIT, wake, &limit, NULL, 0);
        }
    }
    drain();
    double seconds = now() - start;
    qsort(events, event_count, sizeof *events, by_number);
    for (uint64_t i = 0; i < event_count; i++)
        events[i] = by_threads(events[i]);
    uint64_t gaps = 0, wrong = 0;
    for (uint64_t i = 0; i < event_count; i++)
        gaps += events[i]->number != i + 1;
    if (exact)
        wrong = check_exactness();
    if (!quiet)
        print_events();
    fprintf(out,
            "Z events=%lu next=%lu gaps=%lu wrong=%lu dropped=%lu foreign=%lu bad_ends=%lu rings=%u seconds=%.3f "
            "status=%d state=%u\n",
            read_count, channel->next_number, gaps, wrong, channel->dropped, channel->foreign_writes, channel->bad_ends,
            channel->rings_used, seconds, WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status),
            channel->program_state);
    return 0;
}
