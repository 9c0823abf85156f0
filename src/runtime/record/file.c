/*
 * The file of a recording, and what becomes of it when its size is limited: chunks are appended; where the last ones
 * are kept, the oldest are given back to the file system, and the chunk at the beginning says where the others begin.
 *
 * Guarantee: at any moment, also if the process is killed, the file is one that can be read. Its room on the disk is at
 * most the limit and a chunk, definitions apart; as large as it seems it may be more. Cost: of a chunk that is given
 * back a read of its head; of definitions that they are written once more for each time the limit is passed.
 */
#include <string.h>

#include "core/recording.h"
#include "runtime/record/impl.h"
#include "runtime/sys/options.h"

enum { BLOCK = 4096 };

bool pt_record_remembers;

static struct {
    int fd;
    uint64_t size, first; /* of the file; where the first chunk stands that is kept */
    uint64_t limit;       /* UINT64_MAX: none */
    bool stops;
    uint64_t lost, until; /* of what was given back */
    uint32_t started;     /* the process, as the first chunk has it */
} file = {.fd = -1};

bool pt_record_read_limit(void)
{
    file.limit = UINT64_MAX;
    bool good = !pt_options.record_limit.len ||
                pt_rec_read_limit(pt_options.record_limit.at, pt_options.record_limit.len, &file.limit, &file.stops);
    pt_record_remembers = file.stops || file.limit == UINT64_MAX;
    return good;
}

static struct pt_rec_chunk first_chunk(void)
{
    struct pt_rec_chunk chunk = {.magic = PT_REC_CHUNK_MAGIC,
                                 .kind = PT_REC_FIRST,
                                 .thread = (uint32_t)pt_sys_process(),
                                 .piece = file.started,
                                 .stamp = file.first,
                                 .events = file.lost < UINT32_MAX ? (uint32_t)file.lost : UINT32_MAX,
                                 .until = file.until};
    chunk.sum = pt_rec_sum(&chunk, NULL);
    return chunk;
}

bool pt_record_is_own_file(const char *path)
{
    struct {
        char magic[PT_REC_MAGIC_LEN];
        struct pt_rec_chunk first;
    } there;
    int fd = pt_sys_open(path);
    bool whole = fd >= 0 && pt_sys_read_at(fd, &there, sizeof there, 0) == sizeof there;
    if (fd >= 0)
        pt_sys_close(fd);
    return whole && memcmp(there.magic, PT_REC_MAGIC, PT_REC_MAGIC_LEN) == 0 && there.first.kind == PT_REC_FIRST &&
           there.first.thread == (uint32_t)pt_sys_process() && there.first.piece == (uint32_t)pt_sys_process_start();
}

bool pt_record_open_file(int fd)
{
    file.fd = fd;
    file.started = (uint32_t)pt_sys_process_start();
    file.lost = file.until = 0;
    file.first = file.size = PT_REC_MAGIC_LEN + sizeof(struct pt_rec_chunk);
    struct pt_rec_chunk chunk = first_chunk();
    return pt_sys_write_all(fd, PT_REC_MAGIC, PT_REC_MAGIC_LEN) && pt_sys_write_all(fd, &chunk, sizeof chunk);
}

bool pt_record_append(const void *bytes, size_t len)
{
    file.size += len;
    return pt_sys_write_all(file.fd, bytes, len);
}

enum pt_record_room pt_record_room(void)
{
    bool full = file.size - file.first > file.limit;
    return !full ? PT_RECORD_HAS_ROOM : file.stops ? PT_RECORD_FULL : PT_RECORD_CROWDED;
}

/* The oldest chunk goes; `bytes` has room for any. */
static bool drop_one(uint8_t *bytes)
{
    struct pt_rec_chunk chunk;
    if (pt_sys_read_at(file.fd, &chunk, sizeof chunk, file.first) != sizeof chunk || chunk.stored > PT_REC_PIECE)
        return false;
    size_t len = sizeof chunk + chunk.stored;
    if (chunk.kind == PT_REC_DEFS &&
        (pt_sys_read_at(file.fd, bytes, len, file.first) != len || !pt_record_append(bytes, len)))
        return false;
    file.lost += chunk.events;
    file.until = pt_rec_has_events(chunk.kind) && chunk.until > file.until ? chunk.until : file.until;
    file.first += len;
    return true;
}

bool pt_record_make_room(uint8_t *bytes)
{
    uint64_t before = file.first, size = file.size;
    while (file.size - file.first > file.limit && file.first < size) /* or there are definitions alone */
        if (!drop_one(bytes))
            return false;
    struct pt_rec_chunk chunk = first_chunk(); /* in one write, so that nobody finds half of it */
    uint64_t from = before > 2 * BLOCK ? before & ~(uint64_t)(BLOCK - 1) : BLOCK; /* whole blocks are given back */
    return pt_sys_write_at(file.fd, &chunk, sizeof chunk, PT_REC_MAGIC_LEN) &&
           (file.first <= from || pt_sys_punch(file.fd, from, file.first - from));
}
