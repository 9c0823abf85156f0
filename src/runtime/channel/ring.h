/*
 * A thread's end of its ring of records (core/channel.h): one writer, the thread, and one reader, the observer, in
 * another process.
 */
#ifndef PT_RUNTIME_CHANNEL_RING_H
#define PT_RUNTIME_CHANNEL_RING_H

#include <stdint.h>

#include "core/channel.h"

/* All zero: no ring yet; one is claimed when the first record is placed. */
struct pt_ring_writer {
    struct pt_ring *ring;
    uint64_t head, tail_seen; /* where the next record goes; how far the observer was when we looked last */
    uint64_t last_wake;       /* when we woke it last, in cycles */
    uint64_t limit;           /* how much may be unread at a time; a record that is alone may be larger */
    _Atomic uint64_t *fresh;  /* where the ring's bit is, NULL: it has none */
    uint64_t fresh_bit;
};

/* Room for a record of so many bytes, a multiple of 8, in one piece, with its head filled; to be filled further and
 * published before the next one. Where the ring is full, waits for the observer if it may; NULL: there is no room. */
void *pt_ring_place(struct pt_ring_writer *writer, uint32_t thread, uint32_t bytes, enum pt_record_type type);
/* What was placed is complete. */
void pt_ring_publish(struct pt_ring_writer *writer);
/* The thread ends: its ring is the observer's. */
void pt_ring_end(struct pt_ring_writer *writer);

#endif
