/*
 * The events of a run that its order depends on, packed: a few bytes each, since all of a run are kept until its end.
 * They are read back from the first one on, as often as somebody likes.
 */
#ifndef PT_PREDICT_LOG_H
#define PT_PREDICT_LOG_H

#include "trace/event.h"

struct pt_log_event {
    uint64_t event; /* its number in the trace, from 1 */
    uint32_t thread, object, loc, stack;
    uint16_t from, to; /* of an access: the bytes of its variable that it touches; to is 0: all of it */
    uint8_t op;
    bool atomic;
};

enum { PT_LOG_CHUNK = 64 * 1024 }; /* bytes of packed events */
struct pt_log_chunk;
struct pt_log {
    struct pt_log_chunk *first, *before_last, *last; /* of long runs all but the last are compressed */
    void *compressor;
    struct pt_log_event before; /* the latest one */
    uint64_t count;
    size_t bytes;
};

void pt_log_release(struct pt_log *log);
void pt_log_add(struct pt_log *log, const struct pt_event *event, uint64_t number);

struct pt_log_reader {
    const struct pt_log_chunk *next; /* the chunk after the present one */
    const uint8_t *at, *end;         /* what is left of that */
    struct pt_log_event event;       /* the latest one that was read */
    uint8_t bytes[PT_LOG_CHUNK];     /* of a chunk that was compressed */
};
void pt_log_start(struct pt_log_reader *reader, const struct pt_log *log);
/* The next event in `reader->event`; false: there is none. */
bool pt_log_next(struct pt_log_reader *reader);
/* Keeps compilers from loading it together with its neighbours: they have just been stored one by one, and a load of
 * several waits until all of them are in the cache. */
static inline uint32_t pt_log_field(uint32_t field)
{
    __asm__("" : "+r"(field));
    return field;
}

/* As a trace has it, but for its time, its value and the order of an atomic access, which is taken for seq_cst. */
static inline struct pt_event pt_log_as_event(const struct pt_log_event *event)
{
    return (struct pt_event){.op = event->op,
                             .order = event->atomic ? PT_MEMORY_SEQ_CST : PT_MEMORY_NONE,
                             .from = event->from,
                             .to = event->to,
                             .thread = pt_log_field(event->thread),
                             .object = pt_log_field(event->object),
                             .loc = pt_log_field(event->loc),
                             .stack = pt_log_field(event->stack)};
}

#endif
