/*
 * A recording: everything that the threads of a program did, as its runtime writes it to a file without an observer
 * (`record=FILE`), byte by byte. Little-endian.
 *
 *   PT_REC_MAGIC
 *   struct pt_rec_chunk of kind FIRST
 *   struct pt_rec_chunk, `stored` bytes     any number of times, in the order in which they were ready
 *
 * What stands in a chunk is compressed (core/lz.h) where `stored` is less than `raw`. Kinds:
 *   FIRST    where the next chunk stands (`stamp`, an offset in the file). Where the size of recordings is limited and
 * the last events are kept, the chunks before that were given back; definitions among them stand again further on. Then
 * events with stamps up to `until`, of whatever thread, are not good any more, and at least `events` are missing.
 * `thread` and `piece` are the number of the process and when it was started. DEFS
 * records of core/channel.h (struct pt_record and what follows it), as they would stand in a ring: threads, sites,
 * stacks, names, modules, objects, initial values, memory that the program names. They may stand behind events that
 * need them, but not behind the next mark. EVENTS a part of the log of one thread, see below. MORE the same, of a piece
 * that goes on with the shapes of the one before it. MARK     nothing: all
 * events with a stamp of at most `stamp`, of all threads, stand before it. END      the same, and the program has
 * ended; then a text, why events are missing, "" if none are. Without an END the program was killed, or its disk was
 * full: the events up to the last MARK are a run that happened. Of one that was killed all else is in FILE.live, which
 * is there while the program runs: the buffers themselves, mapped (struct pt_rec_live), with what the writer had not
 * written.
 *
 * Order. Each event has a *stamp*, which does not fall within a thread; of two events of different threads of which one
 * depends on the other (accesses of common memory, operations on one object, fork, join) the later one has the higher
 * stamp. So the logs merged by stamps, and by thread where those are equal, are a run that the program has made, up to
 * the order of events that do not depend on each other; these have the time as their stamp, to about a microsecond, but
 * for reads and for writes of memory that is not static, which come after what their thread did before.
 *
 * A log is cut into *pieces*, and these into chunks (`from`: where in its piece the chunk begins). A piece of EVENTS
 * can be read without the ones before it (but for bit 7), where chunks are given back all are of that kind; one of MORE
 * needs those from the latest of EVENTS on, and begins where they end, but for bytes of memory, which are those of the
 * piece alone. An event is a tag, and what the tag says:
 *
 *   bits 0-1   its shape: 0 the one that followed the previous event's shape last time; 1 another, its number follows;
 *              2 a new one, which follows as number of the site, `kind`, `marks` (two bytes) and size
 *   bit 2      its address is that of the event before it of this shape, plus the difference before that; otherwise
 *              twice a folded difference follows: to the address of the event before it of this shape (of a new shape:
 *              of the piece), or, plus 1, to that of the event before it in the log
 *   bit 3      its value is that of the event before it of this shape; otherwise the difference follows. Of one with
 *              bytes of memory: they are those of the last event before it in the piece that gave some, as many
 *   bits 4-5   its stack: 0 that of the event before it of this shape, 1 that of the event before it in the log, 2
 *              another, whose number follows; numbers are those of struct pt_record_stack, 0 is the empty one
 *   bit 6      its stamp is higher than that of the event before it, by what follows; at the beginning of a piece, than
 *              the chunk's
 *   bit 7      its value is the one that was last given in full for its granule, by whatever thread, in the order of
 *              the whole recording; that of its shape stays as it was. In full are given those values for which
 *              pt_rec_is_kept says so and of which neither bit 3 nor this one is set. With bit 3 its value is none of
 *              these, and is given, but not remembered: threads read at the same time. Not where chunks are given back.
 *
 * in this order: shape, address, value, stack, stamp, then the bytes of a value of 9 to 512 bytes. Numbers of less than
 * seven bits take a byte, and one more for each seven bits: the number of zeros before the lowest 1 of the first byte
 * says how many, and the number follows that 1, little-endian; 0 means eight (pt_rec_put). Differences are folded so
 * that small ones are short (pt_rec_fold). `kind` and `marks` are as in struct pt_record_event. The address of an event
 * that has none is the number of its object; values are those of memory of at most 8 bytes, sizes of memory that begins
 * or ends, those of internal events, and the number of a struct pt_rec_named: from this event on the memory that it is
 * about has that name, too, until some of it begins or ends.
 */
#ifndef PT_CORE_RECORDING_H
#define PT_CORE_RECORDING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/channel.h"
#include "core/hash.h"
#include "core/ops.h"

#define PT_REC_MAGIC "\x89PTREC7\n"
enum {
    PT_REC_MAGIC_LEN = 8,
    PT_REC_PIECE = 1 << 16,  /* bytes of a piece at most */
    PT_REC_SHAPES = 1 << 10, /* of a piece and those that go on with it, at most */
    PT_REC_RAW_MOST = 512,   /* bytes of memory that are recorded with an access */
    PT_REC_EVENT_MOST = 64 + PT_REC_RAW_MOST,
};

enum pt_rec_kind { PT_REC_FIRST, PT_REC_DEFS, PT_REC_EVENTS, PT_REC_MARK, PT_REC_END, PT_REC_MORE };

static inline bool pt_rec_has_events(uint32_t kind)
{
    return kind == PT_REC_EVENTS || kind == PT_REC_MORE;
}

#define PT_REC_CHUNK_MAGIC UINT32_C(0x4b4e4850)

struct pt_rec_chunk {
    uint32_t magic; /* PT_REC_CHUNK_MAGIC */
    uint32_t kind;  /* enum pt_rec_kind */
    uint32_t raw, stored;
    uint32_t thread,
        piece;       /* of events: whose, and the number of the piece in its log; of definitions: of the buffer */
    uint64_t stamp;  /* of events: where the stamps of the piece begin; of a mark or the end: the highest */
    uint32_t from;   /* of events and definitions: in the piece */
    uint32_t events; /* how many there are in it */
    uint64_t until;  /* no stamp in it is higher */
    uint64_t sum;    /* pt_rec_sum of the above and of what is stored */
};

static inline uint64_t pt_rec_sum_step(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

/* Of words of 8 bytes, the last one filled up with zeros: as long as there are, of four at a time, each into a sum of
 * its own, which a processor adds up side by side; then of these sums, and of the words that are left. */
static inline uint64_t pt_rec_sum(const struct pt_rec_chunk *chunk, const uint8_t *stored)
{
    enum { SIDE = 4 };
    uint64_t sums[SIDE] = {1, 2, 3, 4}, words[SIDE];
    uint64_t sum = pt_fnv(PT_FNV_NOTHING, chunk, offsetof(struct pt_rec_chunk, sum));
    uint32_t at = 0;
    for (; chunk->stored - at >= sizeof words; at += sizeof words) {
        memcpy(words, stored + at, sizeof words);
        for (int i = 0; i < SIDE; i++)
            sums[i] = pt_rec_sum_step(sums[i], words[i]);
    }
    for (int i = 0; i < SIDE; i++)
        sum = pt_rec_sum_step(sum, sums[i]);
    for (; at < chunk->stored; at += sizeof *words) {
        uint32_t left = chunk->stored - at;
        words[0] = 0;
        memcpy(words, stored + at, left < sizeof *words ? left : sizeof *words);
        sum = pt_rec_sum_step(sum, words[0]);
    }
    return sum;
}

/*
 * The file of the buffers: this, and from PT_REC_LIVE_FIRST on `count` buffers of `stride` bytes, each of which begins
 * with a struct pt_rec_live_buffer and then has its bytes. Of a buffer that is in use, [taken, used) is what may not be
 * in the recording.
 */
#define PT_REC_LIVE_MAGIC "\x89PTLIV1\n"
enum { PT_REC_LIVE_FIRST = 4096 };
struct pt_rec_live {
    char magic[PT_REC_MAGIC_LEN];
    uint64_t stride;
    _Atomic uint32_t count;
};
struct pt_rec_live_buffer {
    _Atomic uint32_t in_use;
    uint32_t kind; /* enum pt_rec_kind; the others are as in its chunks */
    uint32_t thread, piece;
    uint64_t stamp;
    uint32_t taken;
    _Atomic uint32_t used;   /* release by the thread, acquire by the writer */
    _Atomic uint32_t events; /* so far in the piece */
    uint32_t taken_events;
    _Atomic uint32_t cut; /* its thread is to begin another piece, so that this one is not there for long */
};

/* Among the definitions: the program's file, and what tells this build of it from others (struct pt_library). */
enum { PT_REC_PROGRAM = 0x100, PT_REC_INITIAL, PT_REC_NAMED };
struct pt_rec_program {
    struct pt_record head;
    uint32_t id_bytes, unused;
    unsigned char id[PT_ID_MAX];
    char file[];
};

/* The 8 bytes of a granule of the program's data, or of a library's, before it was first accessed. Not `known`: it was
 * written before anybody could look, or there are too many of them. */
struct pt_rec_initial {
    struct pt_record head;
    uint64_t address, value;
    uint32_t known, unused;
};

/* Memory that portent_watch has named. */
enum { PT_REC_NAMED_MOST = 1 << 12 }; /* bytes of one; larger memory goes by its address alone */
struct pt_rec_named {
    struct pt_record head;
    uint64_t address;
    uint32_t number; /* from 1 */
    uint32_t size;
    uint32_t type;  /* enum pt_watch_type */
    uint32_t bytes; /* of its memory, as it was then: all of at most PT_REC_RAW_MOST, or none */
    char rest[];    /* these, and the name, with #2, #3, ... for further objects of the same name */
};

enum {
    PT_REC_SHAPE_NEXT = 0,
    PT_REC_SHAPE_KNOWN = 1,
    PT_REC_SHAPE_NEW = 2,
    PT_REC_SHAPE = 3,
    PT_REC_ADDRESS = 4,
    PT_REC_VALUE = 8,
    PT_REC_STACK_AT = 4,
    PT_REC_STACK_SHAPE = 0,
    PT_REC_STACK_LAST = 1,
    PT_REC_STACK_OTHER = 2,
    PT_REC_STAMP = 64,
    PT_REC_MEMORY = 128,
};

/* What both sides remember of a shape. */
struct pt_rec_shape {
    uint64_t address, stride, value;
    uint32_t stack, next;
};

/* How an event gives its value. */
static inline bool pt_rec_has_value(unsigned kind, uint64_t size)
{
    enum pt_object_by by = pt_kind_by(kind);
    bool memory = by == PT_BY_MEMORY || by == PT_BY_WATCH;
    return by == PT_BY_EXTENT || (memory && size <= 8) || kind == PT_KIND_INTERNAL || kind == PT_KIND_NAMED;
}

static inline uint32_t pt_rec_raw_bytes(unsigned kind, uint64_t size)
{
    return pt_kind_by(kind) == PT_BY_MEMORY && size > 8 && size <= PT_REC_RAW_MOST ? (uint32_t)size : 0;
}

static inline uint64_t pt_rec_fold(uint64_t difference)
{
    return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t pt_rec_unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

/* A value that is remembered for its granule: of a whole one, and long. Never 0. */
static inline bool pt_rec_is_kept(unsigned kind, uint64_t address, uint64_t size, uint64_t value)
{
    return value >> 28 && size == 8 && !(address & 7) && pt_kind_by(kind) == PT_BY_MEMORY;
}

/* Up to PT_REC_NUMBER bytes behind `to` are written to. */
enum { PT_REC_NUMBER = 9 };
static inline uint8_t *pt_rec_put(uint8_t *to, uint64_t number)
{
    /* Divided by 7. How long numbers are nobody can foretell: short ones have no branch of their own. */
    unsigned more = ((unsigned)__builtin_clzll(number | 1) ^ 63) * 37 >> 8;
    if (__builtin_expect(more >= 8, 0)) {
        *to = 0;
        memcpy(to + 1, &number, sizeof number);
        return to + 9;
    }
    number = (number << 1 | 1) << more;
    memcpy(to, &number, sizeof number);
    return to + more + 1;
}

/* The number at `at`, of which *ret_bytes are; from there on 9 bytes can be read. */
static inline uint64_t pt_rec_get(const uint8_t *at, unsigned *ret_bytes)
{
    uint64_t word;
    unsigned more = at[0] ? (unsigned)__builtin_ctz(at[0]) : 8;
    *ret_bytes = more + 1;
    if (more == 8) {
        memcpy(&word, at + 1, sizeof word);
        return word;
    }
    memcpy(&word, at, sizeof word);
    return word << (56 - 8 * more) >> (57 - 7 * more);
}

/* The limit of a recording: SIZE[,stop]; false: it is something else. */
static inline bool pt_rec_read_limit(const char *text, size_t len, uint64_t *ret_size, bool *ret_stops)
{
    static const char stop[] = ",stop", units[] = "KMG";
    uint64_t size = 0;
    size_t at = 0;
    for (; at < len && text[at] >= '0' && text[at] <= '9' && size < UINT64_C(1) << 40; at++)
        size = size * 10 + (uint64_t)(text[at] - '0');
    const char *unit = at && at < len && text[at] ? strchr(units, text[at]) : NULL;
    if (unit) {
        size <<= 10 * (unit - units + 1);
        at++;
    }
    *ret_stops = len - at == sizeof stop - 1 && memcmp(text + at, stop, sizeof stop - 1) == 0;
    *ret_size = size;
    return size && (at == len || *ret_stops);
}

#endif
