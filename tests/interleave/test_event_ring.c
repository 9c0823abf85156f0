/*
 * The ring of records between a thread and the observer: runtime/channel/ring.c against trace/channel_rings.c, both
 * real. A ring has room for two events, so that every third wraps around behind a PAD and finds the ring full unless
 * the observer has read. Whatever the interleaving, the observer gets each event that was placed once, whole, and in
 * order.
 */
#include "expect.h"
#include "runtime/channel/ring.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "trace/channel_impl.h"

enum { RING = 128, MOST_EVENTS = 8 };

struct event {
    struct pt_record_event head;
    uint64_t value;
};

static struct {
    struct pt_channel channel;
    _Alignas(64) unsigned char rings[2 * (sizeof(struct pt_ring) + RING)];
} file;
static struct pt_ring_writer writers[2];
static struct pt_channel_reader reader;
static struct ring reader_rings[2];
static uint32_t heap[2], behind[2];
static unsigned char record[RING];
static unsigned to_write;              /* events of each writer */
static unsigned placed[2], dropped[2]; /* by each writer */
static unsigned taken, wanted;

/* --- what the ring needs of its neighbours --- */

struct pt_channel *pt_channel = &file.channel;

void pt_sys_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t nanoseconds)
{
    (void)nanoseconds;
    pt_interleave_await(word, seen, sizeof seen);
}
bool pt_sys_is_quiet(void)
{
    return false;
}

void pt_sys_wake(_Atomic uint32_t *word)
{
    (void)word;
}
/* There is no free ring: until the only one is. */
void pt_sys_sleep(uint64_t nanoseconds)
{
    uint32_t now;
    (void)nanoseconds;
    while ((now = atomic_load(&reader.rings[0].shared->state)) != PT_RING_FREE)
        pt_interleave_await(&reader.rings[0].shared->state, now, sizeof now);
}
bool chan_take_record(struct pt_channel_reader *r, uint32_t ring)
{
    (void)r, (void)ring;
    return false;
}
bool chan_name_is_open(const struct pt_channel_reader *r)
{
    (void)r;
    return false;
}
void chan_settle_names(struct pt_channel_reader *r)
{
    (void)r;
}

void chan_note_end(struct pt_channel_reader *r, uint32_t number)
{
    (void)r, (void)number;
}
bool chan_take_end(struct pt_channel_reader *r, struct pt_event *ret_event)
{
    (void)r, (void)ret_event;
    return false;
}

static uint64_t mark(uint64_t number)
{
    return number * UINT64_C(0x0101010101010101);
}

bool chan_take_event(struct pt_channel_reader *r, uint32_t ring, struct pt_event *ret_event)
{
    struct event event;
    (void)ring;
    __builtin_memcpy(&event, r->record, sizeof event);
    if (event.head.number != taken + 1)
        pt_interleave_fault("an event is missing, twice there, or out of order");
    if (event.value != mark(event.head.number) || event.head.object != (uint32_t)event.value ||
        event.head.head.bytes != sizeof event)
        pt_interleave_fault("an event is torn");
    taken++;
    *ret_event = (struct pt_event){0};
    return true;
}

/* --- the threads --- */

static void write_event(unsigned writer)
{
    struct event *at = pt_ring_place(&writers[writer], writer, sizeof *at, PT_RECORD_EVENT);
    if (!at) {
        dropped[writer]++;
        return;
    }
    /* as in emit.c: the number is taken when there is room */
    struct event made = {.head = {.head = at->head.head}};
    made.head.number = atomic_fetch_add_explicit(&pt_channel->next_number, 1, memory_order_relaxed);
    made.value = mark(made.head.number);
    made.head.object = (uint32_t)made.value;
    memcpy(at, &made, sizeof made);
    pt_ring_publish(&writers[writer]);
    placed[writer]++;
}

static void write_events(unsigned writer)
{
    for (unsigned i = 0; i < to_write; i++)
        write_event(writer);
    pt_ring_end(&writers[writer]);
}

static void first_writer(void)
{
    write_events(0);
}
#ifndef PT_SEEDED
static void second_writer(void)
{
    write_events(1);
}
#endif

static void read_events(void)
{
    struct pt_event event;
    while (taken < wanted)
        if (!chan_next(&reader, 1, &event) && taken < wanted)
            pt_interleave_await(&reader.rings[0].shared->head, reader.rings[0].cursor, 8);
}

#ifndef PT_SEEDED
/* The same where a second thread takes the ring of the first: it must be seen to have ended, and be freed. */
static void read_both(void)
{
    wanted = 1;
    read_events();
    pt_interleave_await(&reader.rings[0].shared->state, PT_RING_ACTIVE, sizeof(uint32_t));
    wanted = 2;
    read_events();
}
#endif

/* An observer that looks now and then, and is never waited for. */
static void glance(void)
{
    struct pt_event event;
    for (unsigned i = 0; i < 2; i++)
        chan_next(&reader, 1, &event);
}

static void glance_once(void)
{
    struct pt_event event;
    chan_next(&reader, 1, &event);
}

static const char *check(void)
{
    struct pt_event event;
    for (unsigned i = 0; i < 2 * MOST_EVENTS; i++)
        chan_next(&reader, 1, &event);
    if (reader.corrupt || reader.missing || reader.unfinished)
        return "the observer found nonsense";
    return taken == placed[0] + placed[1] ? NULL : "an event is lost";
}

/* --- the tests --- */

static void start(unsigned events, unsigned rings, enum pt_on_full on_full)
{
    memset(&file, 0, sizeof file);
    memset(writers, 0, sizeof writers);
    memset(&reader, 0, sizeof reader);
    memset(reader_rings, 0, sizeof reader_rings);
    file.channel.on_full = on_full;
    file.channel.rings_offset = offsetof(__typeof__(file), rings);
    file.channel.ring_bytes = RING;
    file.channel.ring_max = rings;
    file.channel.rings_used = 1;
    file.channel.next_number = 1;
    reader.map = &file.channel;
    reader.ring_bytes = RING;
    reader.ring_max = rings;
    reader.rings = reader_rings;
    reader.heap = heap;
    reader.behind = behind;
    reader.rings_offset = file.channel.rings_offset;
    reader.record = record;
    reader.expected = reader.numbered = 1;
    reader.settled = true;
    reader.asked_at = 1;
    for (unsigned i = 0; i < rings; i++)
        reader_rings[i].shared = (void *)(file.rings + i * (sizeof(struct pt_ring) + RING));
    to_write = events;
    memset(placed, 0, sizeof placed);
    memset(dropped, 0, sizeof dropped);
    taken = 0;
}

static void test_full_ring_blocks(void **state)
{
    (void)state;
    start(3, 1, PT_ON_FULL_BLOCK);
    wanted = 3;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {first_writer, read_events}, .check = check}));
}

static void test_full_ring_drops(void **state)
{
    (void)state;
    start(3, 1, PT_ON_FULL_DROP);
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {first_writer, glance}, .check = check}));
}

/* Nothing but the third event in question: it wraps around, and has room only if one of the two before it was read. */
static void test_third_event(void **state)
{
    (void)state;
    start(1, 1, PT_ON_FULL_DROP);
    write_event(0);
    write_event(0);
    expect(pt_interleave(&(struct pt_interleave){.threads = 2, .body = {first_writer, glance_once}, .check = check}));
}

#ifndef PT_SEEDED
/* Two threads one after the other in one ring: the second waits until the observer has drained and freed it.
 * Stores go to memory at once: what buffers add shows with one writer. */
static void test_a_ring_is_used_again(void **state)
{
    (void)state;
    start(1, 1, PT_ON_FULL_BLOCK);
    expect(pt_interleave(&(struct pt_interleave){
        .threads = 3, .body = {first_writer, second_writer, read_both}, .check = check, .direct = true}));
}

static void test_two_rings(void **state)
{
    (void)state;
    start(1, 2, PT_ON_FULL_DROP);
    expect(pt_interleave(
        &(struct pt_interleave){.threads = 3, .body = {first_writer, second_writer, glance}, .check = check}));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_ring_blocks),     cmocka_unit_test(test_full_ring_drops),
        cmocka_unit_test(test_third_event),
#ifndef PT_SEEDED
        cmocka_unit_test(test_a_ring_is_used_again), cmocka_unit_test(test_two_rings),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
