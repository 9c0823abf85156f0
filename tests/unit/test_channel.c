/* The observer's end of the memory file: rings written by hand, good ones, torn ones and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "channel_util.h"
#include "core/found.h"
#include "trace/writer.h"

static const struct pt_channel_var vars[] = {
    {.name = "x", .offset = 0x1000, .size = 4, .type = PT_WATCH_INT},
    {.name = "big", .offset = 0x1008, .size = 8, .type = PT_WATCH_UINT},
    {.name = "on", .offset = 0x1010, .size = 1, .type = PT_WATCH_BOOL},
    {.name = "f", .module = "libm.so", .offset = 0x1018, .size = 4, .type = PT_WATCH_FLOAT},
    {.name = "text", .offset = 0x1020, .size = 8, .type = PT_WATCH_CHARS},
    {.name = "bits", .offset = 0x1028, .size = 2, .type = PT_WATCH_INT, .bit_offset = 6, .bit_size = 3},
    {.name = "ld", .offset = 0x1030, .size = sizeof(long double), .type = PT_WATCH_FLOAT},
    {.name = "wide", .offset = 0x1040, .size = 16, .type = PT_WATCH_INT},
};
static const char *const user_events[] = {"go", "stop"};

static const char *function(void *context, uint64_t start, uint64_t base)
{
    (void)context;
    return start - base == 16 ? "worker" : start - base == 32 ? "ns::run<int, 2>" : NULL;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pt_err err;
    pt_names_init(&f->names);
    struct pt_channel_setup how = {.vars = vars,
                                   .var_count = sizeof vars / sizeof *vars,
                                   .events = user_events,
                                   .event_count = 2,
                                   .options = "verbosity=1",
                                   .checks = 5,
                                   .ring_bytes = RING_BYTES,
                                   .ring_max = RINGS};
    assert_int_equal(pt_channel_create(&how, &f->names, &f->reader, &err), PT_OK);
    pt_channel_set_function(f->reader, function, NULL);
    f->map = pt_channel_map(f->reader);
    f->now = SECOND;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    pt_channel_free(f->reader);
    pt_names_release(&f->names);
    free(f);
    return 0;
}

/* x = value by a thread whose count is `own`; it knows `known` events of thread `other`. */
static void put_write(struct fixture *f, uint32_t ring, uint64_t number, uint32_t thread, uint32_t own, uint32_t other,
                      uint32_t known, int value)
{
    struct written w = {.type = PT_RECORD_EVENT,
                        .kind = PT_KIND_WRITE,
                        .thread = thread,
                        .number = number,
                        .clock = {{thread, own}, {other, known}},
                        .clock_count = known ? 2 : 1,
                        .value = &value,
                        .value_bytes = sizeof value};
    put_event(f, ring, w);
}

/* --- what comes out --- */

static void expect(struct fixture *f, const char *line)
{
    struct pt_event event;
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (chan_next(f->reader, f->now, &event))
        pt_event_to_text(&f->names, &event, &buf);
    else
        pt_buf_puts(&buf, "nothing");
    assert_string_equal(buf.text, line);
    pt_buf_release(&buf);
}

static void expect_losses(struct fixture *f, uint64_t missing, uint64_t corrupt)
{
    struct pt_channel_losses losses = pt_channel_losses(f->reader);
    assert_int_equal(losses.missing, missing);
    assert_int_equal(losses.corrupt, corrupt);
}

static void configuration(void **state)
{
    struct fixture *f = *state;
    const char *base = (const char *)f->map + f->map->config_offset;
    const struct pt_config *config = (const void *)base;
    const struct pt_watch *watches = (const void *)(base + config->watches);
    const uint32_t *events = (const void *)(base + config->events);
    assert_memory_equal(f->map->magic, PT_CHANNEL_MAGIC, 8);
    assert_int_equal(config->watch_count, sizeof vars / sizeof *vars);
    assert_string_equal(base + watches[0].name, "x");
    assert_int_equal(watches[0].module, 0);
    assert_int_equal(watches[0].offset, 0x1000);
    assert_string_equal(base + watches[3].module, "libm.so");
    assert_int_equal(watches[5].bit_offset, 6);
    assert_int_equal(watches[5].bit_size, 3);
    assert_string_equal(base + events[1], "stop");
    assert_string_equal(base + config->options, "verbosity=1");
    assert_int_equal(config->checks, 5);
    assert_int_equal(f->map->next_number, 1);
    assert_int_equal(f->map->rings_offset % 64, 0);
    assert_false(pt_channel_started(f->reader));
    expect(f, "nothing");
}

static void merges_by_number(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    open_ring(f, 1);
    open_ring(f, 2);
    put_thread(f, 0, 0, 0, "prog");
    put_thread(f, 1, 1, 16, "");
    put_thread(f, 2, 2, 16, "named");
    put_site(f, 1, 7, "a|b.c", 12);
    int seven = 7;
    put_event(f, 0, (struct written){.type = PT_RECORD_INIT, .kind = PT_KIND_WRITE, .value = &seven, .value_bytes = 4});
    struct written w = {.type = PT_RECORD_EVENT,
                        .kind = PT_KIND_WRITE,
                        .thread = 1,
                        .number = 1,
                        .clock = {{1, 1}},
                        .clock_count = 1,
                        .site = 7,
                        .value = &seven,
                        .value_bytes = 4};
    put_event(f, 1, w);
    put_write(f, 2, 2, 2, 1, 1, 1, -3);
    put_event(f, 0,
              (struct written){.type = PT_RECORD_EVENT,
                               .kind = PT_KIND_USER,
                               .object = 1,
                               .number = 3,
                               .clock = {{0, 1}},
                               .clock_count = 1});
    put_write(f, 1, 4, 1, 2, 2, 1, 5);
    expect(f, "-|init(x)=7|-");
    expect(f, "worker|w(x)=7|a_b.c:12|c=worker:1");
    expect(f, "worker#2|w(x)=-3|-|c=worker:1,worker#2:1");
    expect(f, "main|event(stop)|-|c=main:1");
    expect(f, "worker|w(x)=5|-|c=worker:2,worker#2:1");
    expect(f, "nothing");
    expect_losses(f, 0, 0);
}

static void put_name(struct fixture *f, uint32_t i, uint32_t number, const char *text)
{
    char bytes[128] = {0};
    struct pt_record_name record = {{0, PT_RECORD_NAME}, number};
    memcpy(bytes, &record, sizeof record);
    strcpy(bytes + offsetof(struct pt_record_name, text), text);
    put(f, i, bytes, (uint32_t)(offsetof(struct pt_record_name, text) + strlen(text) + 1));
}

/* Internal events and blocks carry their thread's clock and are not counted in it, before and after relevant ones. */
static void marks_are_not_counted(void **state)
{
    struct fixture *f = *state;
    int64_t minus_two = -2;
    int seven = 7;
    struct written mark = {.type = PT_RECORD_EVENT, .kind = PT_KIND_BEGIN, .number = 1, .object = 5};
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_name(f, 0, 5, "a|b");
    put_event(f, 0, mark);
    put_event(f, 0,
              (struct written){.type = PT_RECORD_EVENT,
                               .kind = PT_KIND_WRITE,
                               .number = 2,
                               .clock = {{0, 1}},
                               .clock_count = 1,
                               .value = &seven,
                               .value_bytes = 4});
    mark.number = 3, mark.kind = PT_KIND_INTERNAL, mark.value = &minus_two, mark.value_bytes = 8;
    mark.clock[0] = (struct pt_clock_pair){0, 1}, mark.clock_count = 1;
    put_event(f, 0, mark);
    mark.number = 4, mark.kind = PT_KIND_END, mark.value_bytes = 0;
    put_event(f, 0, mark);
    mark.number = 5, mark.object = 6; /* nobody has said what 6 is */
    put_event(f, 0, mark);
    expect(f, "main|begin(a_b)|-|c=main:0");
    expect(f, "main|w(x)=7|-|c=main:1");
    expect(f, "main|int(a_b)=-2|-|c=main:1");
    expect(f, "main|end(a_b)|-|c=main:1");
    expect(f, "nothing");
    expect_losses(f, 0, 1);
}

static void waits_for_a_number(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_write(f, 0, 2, 0, 2, 0, 0, 2);
    expect(f, "nothing");
    f->now += SECOND;
    expect(f, "nothing");
    open_ring(f, 1);
    put_thread(f, 1, 1, 32, "");
    put_write(f, 1, 1, 1, 1, 0, 0, 1);
    expect(f, "ns::run<int_ 2>|w(x)=1|-|c=ns::run<int_ 2>:1");
    expect(f, "main|w(x)=2|-|c=main:1"); /* its thread's first count never came */
    expect_losses(f, 0, 0);
}

static void gives_a_number_up(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    open_ring(f, 1);
    put_thread(f, 0, 0, 0, "");
    put_thread(f, 1, 1, 0, "helper");
    put_write(f, 0, 1, 0, 1, 0, 0, 1);
    put_write(f, 0, 3, 0, 3, 0, 0, 3); /* its event 2 is lost */
    put_write(f, 1, 4, 1, 1, 0, 2, 4); /* knows the lost one */
    put_write(f, 1, 5, 1, 2, 0, 3, 5);
    expect(f, "main|w(x)=1|-|c=main:1");
    f->now += 60 * (uint64_t)SECOND; /* the observer was stopped: that does not count */
    for (int half = 0; half < 10; half++) {
        expect(f, "nothing");
        f->now += SECOND / 2;
    }
    expect(f, "main|w(x)=3|-|c=main:2");
    expect(f, "helper|w(x)=4|-|c=main:1,helper:1");
    expect(f, "helper|w(x)=5|-|c=main:2,helper:2");
    expect_losses(f, 1, 0);
    put_write(f, 1, 2, 1, 3, 0, 3, 6); /* too late, or twice the same */
    expect(f, "nothing");
    expect_losses(f, 1, 1);
}

/* What is dropped has no number: one that is missing is another thread's, which was held up in the middle of its event.
 */
static void drops_are_no_gaps(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    open_ring(f, 1);
    put_thread(f, 0, 0, 0, "");
    put_thread(f, 1, 1, 0, "helper");
    f->map->dropped = 3;
    put_write(f, 0, 2, 0, 1, 0, 0, 1);
    for (int i = 0; i < 10; i++) {
        expect(f, "nothing");
        f->now += SECOND / 10;
    }
    put_write(f, 1, 1, 1, 1, 0, 0, 2);
    expect(f, "helper|w(x)=2|-|c=helper:1");
    expect(f, "main|w(x)=1|-|c=main:1");
    assert_int_equal(pt_channel_losses(f->reader).dropped, 3);
    expect_losses(f, 0, 0);
}

static void the_end(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_write(f, 0, 2, 0, 1, 0, 0, 1);
    f->map->next_number = 5;
    expect(f, "nothing");
    pt_channel_set_ended(f->reader);
    expect(f, "main|w(x)=1|-|c=main:1");
    expect(f, "nothing");
    expect(f, "nothing");
    expect_losses(f, 0, 0);
    assert_int_equal(pt_channel_losses(f->reader).unfinished, 3);
}

static void rings_are_used_again(void **state)
{
    struct fixture *f = *state;
    struct pt_ring *ring = ring_at(f, 0);
    uint64_t number = 1;
    for (uint32_t thread = 0; thread < 200; thread++) {
        open_ring(f, 0);
        put_thread(f, 0, thread, thread ? 16 : 0, "");
        for (uint32_t n = 1; n <= 5; n++)
            put_write(f, 0, number++, thread, n, 0, 0, (int)n);
        ring->state = PT_RING_ENDED;
        char line[128];
        for (uint32_t n = 1; n <= 5; n++) {
            char name[32];
            snprintf(name, sizeof name, "worker#%u", thread);
            if (thread < 2)
                strcpy(name, thread ? "worker" : "main");
            snprintf(line, sizeof line, "%s|w(x)=%u|-|c=%s:%u", name, n, name, n);
            expect(f, line);
        }
        if (thread >= 16) { /* the end of every further thread is told, behind all its events */
            snprintf(line, sizeof line, "worker#%u|sync(ended)|-|m=relaxed", thread);
            expect(f, line);
        }
        expect(f, "nothing");
        assert_int_equal(ring->state, PT_RING_FREE);
        assert_int_equal(ring->head, ring->tail);
    }
    expect_losses(f, 0, 0);
    open_ring(f, 0); /* a program that writes nonsense: what follows an end is none of its events */
    put_write(f, 0, number++, 100, 6, 0, 0, 1);
    expect(f, "nothing");
    expect_losses(f, 0, 1);
}

static void a_writer_gets_room(void **state)
{
    struct fixture *f = *state;
    struct pt_ring *ring = ring_at(f, 0);
    struct pt_event event;
    uint32_t done = 0, own = 0;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    for (int turn = 0; turn < 100; turn++) {
        while (RING_BYTES - (ring->head - ring->tail) >= 256)
            put_write(f, 0, f->map->next_number, 0, ++own, 0, 0, 1);
        uint32_t room = ring->room;
        while (chan_next(f->reader, f->now, &event))
            done++;
        assert_int_not_equal(ring->room, room);
    }
    assert_int_equal(done, own);
    assert_true(done > 1000);
}

static void names_in_order_of_creation(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    open_ring(f, 1);
    open_ring(f, 2);
    put_thread(f, 0, 0, 0, "");
    put_thread(f, 2, 2, 16, "");
    put_write(f, 2, 1, 2, 1, 0, 0, 1); /* the second worker is faster */
    expect(f, "nothing");
    put_thread(f, 1, 1, 16, "");
    put_write(f, 1, 2, 1, 1, 0, 0, 2);
    expect(f, "worker#2|w(x)=1|-|c=worker#2:1");
    expect(f, "worker|w(x)=2|-|c=worker:1");
    put_thread(f, 0, 9, 16, ""); /* threads 3 to 8 do not say anything */
    put_write(f, 0, 3, 9, 1, 0, 0, 3);
    for (int i = 0; i < 10; i++) {
        expect(f, "nothing");
        f->now += SECOND / 10;
    }
    expect(f, "worker#3|w(x)=3|-|c=worker#3:1");
    put_thread(f, 0, 19, 16, "");
    put_write(f, 0, 4, 19, 1, 0, 0, 4);
    expect(f, "nothing");
    f->map->dropped = 1; /* it may be what they had to say */
    f->now += SECOND / 10;
    expect(f, "worker#4|w(x)=4|-|c=worker#4:1");
}

/* Where the program has counted its threads, they are called as it calls them. */
static void names_as_counted(void **state)
{
    struct fixture *f = *state;
    for (uint32_t i = 0; i < 3; i++) {
        struct pt_record_thread record = {.head = {0, PT_RECORD_THREAD},
                                          .thread = i,
                                          .start = i ? 0x4010 : 0,
                                          .module_base = 0x4000,
                                          .ordinal = i ? 3 - i : 1};
        char bytes[sizeof record + 1] = {0};
        memcpy(bytes, &record, sizeof record);
        open_ring(f, i);
        put(f, i, bytes, sizeof bytes);
        put_write(f, i, i + 1, i, 1, 0, 0, 7);
    }
    expect(f, "main|w(x)=7|-|c=main:1");
    expect(f, "worker#2|w(x)=7|-|c=worker#2:1");
    expect(f, "worker|w(x)=7|-|c=worker:1");
}

static void ignore_local(void *context, const struct pt_channel_local *local)
{
    (void)context, (void)local;
}

static int setup_keeping(void **state, uint32_t keep)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pt_err err;
    pt_names_init(&f->names);
    struct pt_channel_setup how = {.vars = vars,
                                   .var_count = sizeof vars / sizeof *vars,
                                   .keep = keep,
                                   .ring_bytes = RING_BYTES,
                                   .ring_max = RINGS};
    assert_int_equal(pt_channel_create(&how, &f->names, &f->reader, &err), PT_OK);
    pt_channel_set_local(f->reader, ignore_local, NULL);
    f->map = pt_channel_map(f->reader);
    f->now = SECOND;
    *state = f;
    return 0;
}

static int setup_in_full(void **state)
{
    return setup_keeping(state, PT_KEEP_ALL | PT_KEEP_CLOCKS);
}

static int setup_clockless(void **state)
{
    return setup_keeping(state, PT_KEEP_ALL);
}

static void put_extent(struct fixture *f, uint64_t number, uint32_t kind, uint64_t low, uint64_t size)
{
    struct pt_access memory = {low, size};
    struct written w = {.type = PT_RECORD_EVENT, .number = number, .kind = kind};
    w.value = &memory;
    w.value_bytes = sizeof memory;
    put_event(f, 0, w);
}

static void put_read(struct fixture *f, uint64_t number, uint64_t address)
{
    struct {
        struct pt_access access;
        uint32_t memory;
    } four = {{address, 4}, 5};
    struct written w = {.type = PT_RECORD_EVENT, .number = number, .kind = PT_KIND_READ_AT};
    w.value = &four;
    w.value_bytes = sizeof four.access + sizeof four.memory;
    put_event(f, 0, w);
}

/* Variables of a block are called after it until it is forgotten, which is later than its end. */
static void blocks_of_memory(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_extent(f, 1, PT_KIND_ALLOC, 0x9000, 64);
    put_read(f, 2, 0x9008);
    put_read(f, 3, 0x9100);
    put_extent(f, 4, PT_KIND_FREE, 0x9000, 72);
    put_read(f, 5, 0x9008);
    put_extent(f, 6, PT_KIND_FREED, 0x9000, 72);
    put_read(f, 7, 0x9008);
    put_extent(f, 8, PT_KIND_FREE, 0x9000, 0x200); /* that nobody saw begin */
    put_extent(f, 9, PT_KIND_ALLOC, 0x9000, 8);
    expect(f, "main|alloc(0x9000)=64|-");
    expect(f, "main|r(0x9000+8)=5|-");
    expect(f, "main|r(0x9100)=5|-");
    expect(f, "main|free(0x9000)|-");
    expect(f, "main|r(0x9000+8)=5|-");
    expect(f, "main|r(0x9008)=5|-");
    expect(f, "main|free(0x9008)|-");
    expect(f, "main|free(0x9100)|-");
    expect(f, "main|alloc(0x9000#2)=8|-");
}

static void put_frame(struct fixture *f, uint32_t site, uint32_t line, uint32_t caller, const char *function)
{
    char bytes[128] = {0};
    struct pt_record_site record = {{0, PT_RECORD_SITE}, site, line, 1, caller};
    memcpy(bytes, &record, sizeof record);
    strcpy(bytes + offsetof(struct pt_record_site, texts), "a.c");
    strcpy(bytes + offsetof(struct pt_record_site, texts) + 4, function);
    put(f, 0, bytes, (uint32_t)(offsetof(struct pt_record_site, texts) + 4 + strlen(function) + 2));
}

static void put_calls(struct fixture *f, uint64_t hash, uint32_t count, const uint32_t *sites)
{
    char bytes[128] = {0};
    struct pt_record_stack record = {{0, PT_RECORD_STACK}, hash, count};
    memcpy(bytes, &record, sizeof record);
    memcpy(bytes + offsetof(struct pt_record_stack, sites), sites, count * sizeof *sites);
    put(f, 0, bytes, (uint32_t)(offsetof(struct pt_record_stack, sites) + count * sizeof *sites));
}

/* A write of x at a site, in calls of this hash. */
static void put_stacked(struct fixture *f, uint64_t number, uint32_t site, uint64_t hash)
{
    char bytes[128] = {0};
    int32_t value = 7;
    struct pt_record_event record = {.head = {0, PT_RECORD_EVENT},
                                     .number = number,
                                     .kind = PT_KIND_WRITE,
                                     .marks = hash ? PT_MARK_STACK : 0,
                                     .site = site,
                                     .value_bytes = (uint32_t)(sizeof value + (hash ? sizeof hash : 0))};
    memcpy(bytes, &record, sizeof record);
    memcpy(bytes + sizeof record, &value, sizeof value);
    memcpy(bytes + sizeof record + sizeof value, &hash, sizeof hash);
    put(f, 0, bytes, (uint32_t)sizeof record + record.value_bytes);
    f->map->next_number = number + 1;
}

/* A line for each stack before the first event that has it, and one for all that read the same. */
static void stacks_of_events(void **state)
{
    struct fixture *f = *state;
    static const uint32_t calls[] = {3, 4}, same[] = {2, 3};
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_frame(f, 2, 20, 0, "outer");
    put_frame(f, 1, 10, 2, "inlined|x");
    put_frame(f, 3, 30, 0, "");
    put_frame(f, 4, 40, 0, "main");
    put_calls(f, 99, 2, calls);
    put_calls(f, 98, 2, same);
    put_stacked(f, 1, 1, 99);
    put_stacked(f, 2, 1, 99);
    put_stacked(f, 3, 2, 98); /* the innermost call is the event itself */
    put_stacked(f, 4, 4, 0);
    put_stacked(f, 5, 4, 97); /* calls that were lost */
    put_stacked(f, 6, 0, 0);
    expect(f, "-|stack(1)=inlined_x a.c:10 < outer a.c:20 < <unknown> a.c:30 < main a.c:40|-");
    expect(f, "main|w(x)=7|a.c:10|s=1");
    expect(f, "main|w(x)=7|a.c:10|s=1");
    expect(f, "-|stack(2)=outer a.c:20 < <unknown> a.c:30|-");
    expect(f, "main|w(x)=7|a.c:20|s=2");
    expect(f, "-|stack(3)=main a.c:40|-");
    expect(f, "main|w(x)=7|a.c:40|s=3");
    expect(f, "main|w(x)=7|a.c:40|s=3");
    expect(f, "main|w(x)=7|-");
}

/* A thread counts events, a trace lines: 24 bytes without a name are one event and three lines. */
static void states_as_the_trace_counts(void **state)
{
    struct fixture *f = *state;
    struct {
        struct pt_access access;
        uint64_t memory[3];
    } block = {{0x9000, 24}, {1, 2, 3}};
    struct pt_access freed = {0xa000, 8};
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_write(f, 0, 1, 0, 1, 0, 0, 7);
    struct written w = {
        .type = PT_RECORD_EVENT, .number = 2, .kind = PT_KIND_FREED, .clock = {{0, 1}}, .clock_count = 1};
    w.value = &freed;
    w.value_bytes = sizeof freed;
    put_event(f, 0, w);
    w.number = 3;
    w.kind = PT_KIND_WRITE_AT;
    w.value = &block;
    w.value_bytes = sizeof block;
    put_event(f, 0, w);
    put_write(f, 0, 4, 0, 2, 0, 0, 8);
    expect(f, "main|w(x)=7|-|c=main:1");
    expect(f, "main|w(0x9000)=1|-|c=main:1");
    expect(f, "main|w(0x9008)=2|-|c=main:1");
    expect(f, "main|w(0x9010)=3|-|c=main:1");
    expect(f, "main|w(x)=8|-|c=main:2");
    struct pt_local_report_step step = {
        .kind = PT_KIND_WRITE_AT, .object = "p->x", .place = "-", .at = 0x900c, .from = 0x9000};
    static const struct {
        uint64_t state, last, line;
    } cases[] = {{0, 0x9000, 0}, {1, 0, 1},          {2, 0x9000, 2}, {2, 0x900c, 3},
                 {2, 0x9017, 4}, {2, UINT64_MAX, 4}, {3, 0, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        step.last = cases[i].last;
        assert_int_equal(pt_channel_report_state(f->reader, "main", cases[i].state, &step), cases[i].line);
    }
    assert_int_equal(pt_channel_report_state(f->reader, "nobody", 2, &step), 2);
    struct pt_value value;
    step.value = pt_value_string((const char *)block.memory, 24); /* from where the access begins */
    assert_string_equal(pt_channel_report_object(f->reader, &step, &value), "0x9008");
    assert_int_equal(value.u, 2);
    step.value.len = 12; /* not all of the variable */
    assert_string_equal(pt_channel_report_object(f->reader, &step, &value), "0x9008");
    assert_int_equal(value.kind, PT_VALUE_UNKNOWN);
    step = (struct pt_local_report_step){.kind = PT_KIND_JOIN, .object = "run<int, 2>", .place = "-"};
    assert_string_equal(pt_channel_report_object(f->reader, &step, &value), "run<int_ 2>");
}

static void reads_as(struct fixture *f, uint32_t object, const void *bytes, uint32_t len, const char *line)
{
    static uint32_t own;
    own = f->map->next_number == 1 ? 1 : own + 1;
    put_event(f, 0,
              (struct written){.type = PT_RECORD_EVENT,
                               .kind = PT_KIND_UPDATE,
                               .object = object,
                               .number = f->map->next_number,
                               .clock = {{0, own}},
                               .clock_count = 1,
                               .value = bytes,
                               .value_bytes = len});
    struct pt_event event;
    struct pt_buf buf;
    pt_buf_init(&buf);
    assert_true(chan_next(f->reader, f->now, &event));
    pt_event_to_text(&f->names, &event, &buf);
    buf.text[strcspn(buf.text, "|") + 1 + strcspn(strchr(buf.text, '|') + 1, "|")] = '\0';
    assert_string_equal(buf.text, line);
    pt_buf_release(&buf);
}

static void values(void **state)
{
    struct fixture *f = *state;
    uint64_t big = UINT64_MAX;
    float quarter = 0.25f;
    long double half = 0.5L;
    __int128 wide = -5;
    uint16_t bits = 5 << 6 | 0x3f; /* 101: -3 */
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    reads_as(f, 0, "\xfe\xff\xff\xff", 4, "main|u(x)=-2");
    reads_as(f, 1, &big, 8, "main|u(big)=18446744073709551615");
    reads_as(f, 2, "\2", 1, "main|u(on)=true");
    reads_as(f, 3, &quarter, 4, "main|u(f)=0.25");
    reads_as(f, 4, "ab\"\0xxxx", 8, "main|u(text)=\"ab\\\"\"");
    reads_as(f, 4, "abcdefgh", 8, "main|u(text)=\"abcdefgh\"");
    reads_as(f, 5, &bits, 2, "main|u(bits)=-3");
    reads_as(f, 6, &half, sizeof half, "main|u(ld)=0.5");
    reads_as(f, 7, &wide, 16, "main|u(wide)=-5");
    wide *= (__int128)1 << 80;
    reads_as(f, 7, &wide, 16, "main|u(wide)");
    reads_as(f, 1, &big, 4, "main|u(big)"); /* too short */
}

static void objects_named_later(void **state)
{
    struct fixture *f = *state;
    char bytes[64] = {0};
    struct pt_record_watch record = {{0, PT_RECORD_WATCH}, 100, PT_WATCH_UINT, 2};
    memcpy(bytes, &record, sizeof record);
    strcpy(bytes + offsetof(struct pt_record_watch, name), "balance#2");
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put(f, 0, bytes, offsetof(struct pt_record_watch, name) + 10);
    reads_as(f, 100, "\1\2", 2, "main|u(balance#2)=513");
    put_event(f, 0, (struct written){.type = PT_RECORD_FOREIGN, .kind = PT_KIND_WRITE, .object = 100});
    put_event(f, 0, (struct written){.type = PT_RECORD_FOREIGN, .kind = PT_KIND_WRITE, .object = 100});
    expect(f, "nothing");
    uint32_t count;
    uint64_t total;
    const struct pt_channel_foreign *foreign = pt_channel_foreign(f->reader, &count, &total);
    assert_int_equal(count, 1);
    assert_string_equal(pt_name(&f->names, PT_SPACE_VAR, foreign[0].var), "balance#2");
}

/* ---- what built-in checks found ---- */

static struct pt_channel_found last_found;
static uint32_t found_count;

static void note_found(void *context, const struct pt_channel_found *found)
{
    assert_ptr_equal(context, &found_count);
    last_found = *found;
    found_count++;
}

static void put_found(struct fixture *f, const char *report, uint32_t bytes, uint32_t said)
{
    char record[PT_FOUND_BYTES] = {0};
    struct pt_record_found head = {.head = {0, PT_RECORD_FOUND}, .key = 7, .count = 3, .thread = 1, .bytes = said};
    memcpy(record, &head, sizeof head);
    memcpy(record + offsetof(struct pt_record_found, report), report, bytes);
    put(f, 0, record, (uint32_t)offsetof(struct pt_record_found, report) + bytes);
}

/* A report that is whole is passed on, a count too, everything else is damage; names are those of a recording. */
static void what_checks_found(void **state)
{
    struct fixture *f = *state;
    static const struct pt_site site = {"a.c", "f", "x", 1, 1};
    const struct pt_site *stack[] = {&site};
    struct pt_found_side side = {.thread = 2, .kind = PT_KIND_WRITE_AT, .stack = {stack, 1, false}};
    struct pt_found found = {.key = 7, .sides = &side, .side_count = 1};
    char bytes[PT_FOUND_BYTES];
    uint32_t len = (uint32_t)pt_found_write(&found, bytes, sizeof bytes);
    pt_channel_set_found(f->reader, note_found, &found_count);
    found_count = 0;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put_found(f, bytes, len, len);
    expect(f, "nothing");
    assert_int_equal(found_count, 1);
    assert_int_equal(last_found.key, 7);
    assert_int_equal(last_found.count, 3);
    assert_int_equal(last_found.report_bytes, len);
    put_found(f, "", 0, 0);
    expect(f, "nothing");
    assert_int_equal(found_count, 2);
    assert_int_equal(last_found.report_bytes, 0);
    expect_losses(f, 0, 0);
    put_found(f, bytes, len - 8, len - 8); /* cut */
    put_found(f, bytes, len, len + 64);    /* says to be longer than it is */
    expect(f, "nothing");
    assert_int_equal(found_count, 2);
    expect_losses(f, 0, 2);
    assert_null(pt_channel_thread_name(f->reader, 2, false));
    put_thread(f, 0, 2, 16, "");
    expect(f, "nothing");
    assert_null(pt_channel_thread_name(f->reader, 2, false)); /* thread 1 may be the first worker */
    assert_null(pt_channel_thread_name(f->reader, 1, true));
    put_thread(f, 0, 1, 16, "");
    expect(f, "nothing");
    assert_string_equal(pt_channel_thread_name(f->reader, 2, false), "worker#2");
    assert_string_equal(pt_channel_thread_name(f->reader, 0, true), "main");
    assert_string_equal(pt_channel_name_at(f->reader, 0x7f00, PT_SPACE_VAR), "0x7f00");
}

enum { LARGE_RING = 1 << 18, MANY = 6000 };

static int setup_large(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct pt_err err;
    pt_names_init(&f->names);
    struct pt_channel_setup how = {.vars = vars,
                                   .var_count = sizeof vars / sizeof *vars,
                                   .options = "",
                                   .checks = 5,
                                   .ring_bytes = LARGE_RING,
                                   .ring_max = RINGS};
    assert_int_equal(pt_channel_create(&how, &f->names, &f->reader, &err), PT_OK);
    f->map = pt_channel_map(f->reader);
    f->now = SECOND;
    *state = f;
    return 0;
}

/* More records without an event than are read at a time, and the program has ended: all of them are read. */
static void much_is_left_at_the_end(void **state)
{
    struct fixture *f = *state;
    const uint32_t size = (sizeof(struct pt_record_found) + 7) / 8 * 8;
    struct pt_record_found head = {.head = {size, PT_RECORD_FOUND}, .key = 7, .count = 3};
    struct pt_ring *ring = ring_at(f, 0);
    pt_channel_set_found(f->reader, note_found, &found_count);
    found_count = 0;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, ""); /* at its beginning */
    for (uint32_t i = 0; i < MANY; i++, ring->head += size)
        memcpy(ring->data + ring->head, &head, sizeof head);
    pt_channel_set_ended(f->reader);
    expect(f, "nothing");
    assert_int_equal(found_count, MANY);
    expect_losses(f, 0, 0);
}

static void nonsense_is_skipped(void **state)
{
    struct fixture *f = *state;
    struct pt_record bad = {0, 99};
    int one = 1;
    open_ring(f, 0);
    put_thread(f, 0, 0, 0, "");
    put(f, 0, &bad, sizeof bad); /* an unknown type */
    put_write(f, 0, 1, 0, 1, 0, 0, 1);
    expect(f, "main|w(x)=1|-|c=main:1");
    struct written w = {.type = PT_RECORD_EVENT,
                        .kind = PT_KIND_WRITE,
                        .number = 2,
                        .clock = {{0, 2}},
                        .clock_count = 1,
                        .value = &one,
                        .value_bytes = 4};
    w.object = 50; /* no such variable */
    put_event(f, 0, w);
    w.object = 0, w.number = 3, w.kind = PT_KIND_COUNT;
    put_event(f, 0, w);
    w.kind = PT_KIND_WRITE, w.number = 4, w.clock[0].count = 1; /* does not rise */
    put_event(f, 0, w);
    put_write(f, 0, 5, 0, 5, 0, 0, 5);
    expect(f, "main|w(x)=5|-|c=main:2");
    expect_losses(f, 0, 4);
    ring_at(f, 0)->head += 24; /* a record of length 0 */
    expect(f, "nothing");
    expect_losses(f, 0, 5);
    ring_at(f, 0)->head += RING_BYTES * 2; /* more than fits */
    expect(f, "nothing");
    expect_losses(f, 0, 6);
    f->map->rings_used = UINT32_MAX;
    f->map->ring_bytes = 1;
    f->map->rings_offset = UINT64_MAX;
    expect(f, "nothing");
}

/* Any bytes in the rings: nothing crashes (the sanitizers watch), and reading comes to an end. */
static void any_bytes(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = 1;
    struct pt_event event;
    for (int turn = 0; turn < 3000; turn++) {
        uint32_t i = turn % RINGS;
        struct pt_ring *ring = ring_at(f, i);
        open_ring(f, i);
        for (uint32_t at = 0; at < RING_BYTES; at += 4) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            /* Mostly small numbers, which lengths, types and threads are. */
            uint32_t word = (uint32_t)(seed >> 33) % 10 == 0 ? (uint32_t)(seed >> 32) : (uint32_t)(seed >> 40) % 80;
            memcpy(ring->data + at, &word, sizeof word);
        }
        f->map->next_number = UINT64_MAX;
        f->now += SECOND;
        ring->head += (seed >> 20) % 5 ? (seed >> 40) % RING_BYTES / 8 * 8 : seed;
        uint32_t events = 0;
        while (chan_next(f->reader, f->now, &event))
            assert_true(++events < 100000);
        if (turn % 7 == 0)
            ring->state = PT_RING_ENDED;
    }
    pt_channel_set_ended(f->reader);
    while (chan_next(f->reader, f->now, &event))
        ;
    assert_true(pt_channel_losses(f->reader).corrupt > 100);
}

static void names_a_trace_cannot_hold(void **state)
{
    (void)state;
    struct pt_channel_var var = {.name = "a|b", .size = 4};
    struct pt_channel_setup how = {.vars = &var, .var_count = 1, .ring_bytes = RING_BYTES, .ring_max = 1};
    struct pt_channel_reader *reader;
    struct pt_names names;
    struct pt_err err;
    pt_names_init(&names);
    assert_int_equal(pt_channel_create(&how, &names, &reader, &err), PT_EINPUT);
    pt_names_release(&names);
}

static void abandoning(void **state)
{
    struct fixture *f = *state;
    open_ring(f, 0);
    pt_channel_abandon(f->reader);
    assert_int_equal(f->map->observer_gone, 1);
    assert_int_equal(ring_at(f, 0)->room, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(configuration),
        TEST(merges_by_number),
        TEST(marks_are_not_counted),
        TEST(waits_for_a_number),
        TEST(gives_a_number_up),
        TEST(drops_are_no_gaps),
        TEST(the_end),
        TEST(rings_are_used_again),
        TEST(a_writer_gets_room),
        TEST(names_in_order_of_creation),
        TEST(values),
        TEST(objects_named_later),
        TEST(what_checks_found),
        TEST(nonsense_is_skipped),
        TEST(any_bytes),
        TEST(abandoning),
        TEST(names_as_counted),
        cmocka_unit_test_setup_teardown(states_as_the_trace_counts, setup_in_full, teardown),
        cmocka_unit_test_setup_teardown(blocks_of_memory, setup_clockless, teardown),
        cmocka_unit_test_setup_teardown(stacks_of_events, setup_clockless, teardown),
        cmocka_unit_test_setup_teardown(any_bytes, setup_clockless, teardown),
        cmocka_unit_test_setup_teardown(much_is_left_at_the_end, setup_large, teardown),
        cmocka_unit_test(names_a_trace_cannot_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
