/* The program's side of a channel: rings written by hand. */
#ifndef PT_TEST_CHANNEL_UTIL_H
#define PT_TEST_CHANNEL_UTIL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "trace/channel_impl.h"

enum { RING_BYTES = 4096, RINGS = 4, SECOND = 1000000000 };

struct fixture {
    struct pt_names names;
    struct pt_channel_reader *reader;
    struct pt_channel *map;
    uint64_t now;
};

static inline struct pt_ring *ring_at(struct fixture *f, uint32_t i)
{
    return (struct pt_ring *)((char *)f->map + f->map->rings_offset + i * (sizeof(struct pt_ring) + RING_BYTES));
}

static inline void open_ring(struct fixture *f, uint32_t i)
{
    ring_at(f, i)->state = PT_RING_ACTIVE;
    if (f->map->rings_used <= i)
        f->map->rings_used = i + 1;
}

static inline void put(struct fixture *f, uint32_t i, const void *record, uint32_t bytes)
{
    struct pt_ring *ring = ring_at(f, i);
    uint32_t padded = (bytes + 7) / 8 * 8;
    uint64_t at = ring->head % RING_BYTES;
    assert_true(ring->head - ring->tail + padded <= RING_BYTES);
    if (RING_BYTES - at < padded) {
        struct pt_record pad = {(uint32_t)(RING_BYTES - at), PT_RECORD_PAD};
        memcpy(ring->data + at, &pad, sizeof pad);
        ring->head += pad.bytes;
        at = 0;
    }
    memcpy(ring->data + at, record, bytes);
    memcpy(ring->data + at, &padded, sizeof padded);
    ring->head += padded;
}

static inline void put_thread(struct fixture *f, uint32_t i, uint32_t thread, uint64_t start, const char *name)
{
    char bytes[128] = {0};
    struct pt_record_thread record = {{0, PT_RECORD_THREAD}, thread, 0, start ? 0x4000 + start : 0, 0x4000};
    memcpy(bytes, &record, sizeof record);
    strcpy(bytes + offsetof(struct pt_record_thread, name), name);
    put(f, i, bytes, (uint32_t)(offsetof(struct pt_record_thread, name) + strlen(name) + 1));
}

static inline void put_site(struct fixture *f, uint32_t i, uint32_t site, const char *file, uint32_t line)
{
    char bytes[128] = {0};
    struct pt_record_site record = {{0, PT_RECORD_SITE}, site, line, 1};
    memcpy(bytes, &record, sizeof record);
    strcpy(bytes + offsetof(struct pt_record_site, texts), file);
    put(f, i, bytes, (uint32_t)(offsetof(struct pt_record_site, texts) + strlen(file) + 3));
}

struct written {
    uint32_t type, kind, thread, object, site, marks;
    uint64_t number;
    struct pt_clock_pair clock[24];
    uint32_t clock_count;
    const void *value;
    uint32_t value_bytes;
};

static inline void put_event(struct fixture *f, uint32_t i, struct written w)
{
    char bytes[512] = {0};
    struct pt_record_event record = {
        .head = {0, w.type},
        .number = w.number,
        .thread = w.thread,
        .kind = (uint16_t)w.kind,
        .marks = (uint16_t)(w.marks | (w.kind == PT_KIND_WRITE || w.kind == PT_KIND_UPDATE || w.kind == PT_KIND_USER)),
        .object = w.object,
        .site = w.site,
        .value_bytes = w.value_bytes,
        .clock_count = w.clock_count};
    size_t at = sizeof record;
    memcpy(bytes, &record, sizeof record);
    memcpy(bytes + at, w.clock, w.clock_count * sizeof w.clock[0]);
    at += w.clock_count * sizeof w.clock[0];
    if (w.value_bytes)
        memcpy(bytes + at, w.value, w.value_bytes);
    put(f, i, bytes, (uint32_t)(at + w.value_bytes));
    if (w.number >= f->map->next_number)
        f->map->next_number = w.number + 1;
}

#endif
