/*
 * The file of a recording (core/recording.h): chunks are looked at one after the other, definitions are taken, parts of
 * logs noted; where a program was killed, what its buffers had as well.
 *
 * Guarantee: what is taken is whole, by its sums. A file that still grows is mapped once, with room for what will come:
 * half a chunk at its end is looked at again when there is more. Cost: linear; memory for what is noted of each chunk.
 * A pipe is kept in memory as a whole.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/lz.h"
#include "trace/channel_impl.h"
#include "trace/debuginfo.h"
#include "trace/format.h"
#include "trace/recording_impl.h"

#define FOLLOWED_MOST (UINT64_C(1) << 38) /* bytes of a file that grows */

/* --- names --- */

static const char *function_name(void *context, uint64_t start, uint64_t base)
{
    struct recording *r = context;
    const char *file = pt_channel_module(r->decoder, base);
    if (!r->info || (file && !pt_debuginfo_loaded(r->info, file, base)))
        return NULL;
    return pt_debuginfo_function(r->info, start, base);
}

static bool place_name(void *context, const char *file, uint64_t offset, bool whole, struct pt_placed *ret_placed)
{
    struct recording *r = context;
    struct pt_variable variable;
    if (!pt_debuginfo_at(r->info, file, offset, whole, &ret_placed->name, &variable))
        return false;
    ret_placed->offset = variable.offset;
    ret_placed->size = variable.size;
    ret_placed->type = variable.type;
    return true;
}

/* Names are those of the build that was recorded: where its file has changed, memory goes by addresses. */
static void take_program(struct recording *r, bool look)
{
    struct pt_rec_program record;
    struct pt_err err;
    unsigned char id[PT_ID_MAX];
    const struct pt_debuginfo_options options = {0};
    memcpy(&record.head, r->decoder->record, sizeof record.head);
    if (r->info || !look || record.head.bytes <= sizeof record || r->decoder->record[record.head.bytes - 1] != '\0')
        return;
    memcpy(&record, r->decoder->record, sizeof record);
    const char *file = (const char *)r->decoder->record + sizeof record;
    if (pt_debuginfo_open(file, &options, &r->info, &err) != PT_OK) {
        r->info = NULL;
        return;
    }
    if (!record.id_bytes || record.id_bytes > PT_ID_MAX ||
        pt_debuginfo_identity(r->info, NULL, id) != record.id_bytes || memcmp(id, record.id, record.id_bytes) != 0) {
        pt_debuginfo_free(r->info);
        r->info = NULL;
        return;
    }
    pt_channel_set_function(r->decoder, function_name, r);
    pt_channel_set_place(r->decoder, place_name, r);
}

/* --- the file --- */

static void note_module(struct recording *r)
{
    struct pt_record_module module;
    struct rec_private *p = &r->private;
    memcpy(&module, r->decoder->record, sizeof module);
    if (module.head.bytes < sizeof module)
        return;
    PT_GROW(p->modules, p->module_cap, (size_t)p->module_count + 1);
    p->modules[p->module_count].low = module.low;
    p->modules[p->module_count++].high = module.high;
}

static bool take_definitions(struct recording *r, const uint8_t *bytes, uint32_t len, bool look)
{
    struct pt_record head;
    for (uint32_t at = 0; at < len; at += head.bytes) {
        if (len - at < sizeof head)
            return false;
        memcpy(&head, bytes + at, sizeof head);
        if (head.bytes < sizeof head || head.bytes > len - at)
            return false;
        memcpy(r->decoder->record, bytes + at, head.bytes);
        if (head.type == PT_RECORD_MODULE)
            note_module(r);
        if (head.type == PT_REC_PROGRAM)
            take_program(r, look);
        else if (head.type == PT_REC_INITIAL)
            rec_initial_take(&r->initials, r->decoder);
        else if (head.type == PT_REC_NAMED ? !rec_names_define(&r->maker.names, r->decoder)
                                           : !chan_take_record(r->decoder, 0))
            return false;
    }
    return true;
}

/* The chunk at *at; false: there is none that is whole. */
static bool take_chunk(struct recording *r, size_t *at, bool look)
{
    struct pt_rec_chunk chunk;
    if (r->len - *at < sizeof chunk)
        return false;
    memcpy(&chunk, r->file + *at, sizeof chunk);
    size_t stored = *at + sizeof chunk;
    if (chunk.magic != PT_REC_CHUNK_MAGIC || chunk.raw > PT_REC_PIECE || chunk.stored > chunk.raw ||
        chunk.stored > r->len - stored || chunk.sum != pt_rec_sum(&chunk, r->file + stored))
        return false;
    if (pt_rec_has_events(chunk.kind)) {
        struct rec_part part = {.thread = chunk.thread,
                                .piece = chunk.piece,
                                .from = chunk.from,
                                .raw = chunk.raw,
                                .stored = chunk.stored,
                                .goes_on = chunk.kind == PT_REC_MORE,
                                .stamp = chunk.stamp,
                                .until = chunk.until,
                                .at = r->file + stored};
        PT_PUSH(r->parts, r->part_count, r->part_cap, part);
    } else if (chunk.stored == chunk.raw) {
        memcpy(r->raw, r->file + stored, chunk.raw);
    } else if (!pt_lz_unpack(r->file + stored, chunk.stored, r->raw, chunk.raw)) {
        return false;
    }
    if (chunk.kind == PT_REC_DEFS && !take_definitions(r, r->raw, chunk.raw, look))
        return false;
    if (chunk.kind == PT_REC_FIRST && chunk.stamp > stored) {
        r->until = chunk.until;
        r->lost = chunk.events ? chunk.events : 1;
        *at = chunk.stamp < r->len ? (size_t)chunk.stamp : r->len;
        return true;
    }
    if (chunk.kind == PT_REC_MARK || chunk.kind == PT_REC_END)
        r->limit = chunk.stamp;
    r->ended = chunk.kind == PT_REC_END;
    if (r->ended && chunk.raw) {
        r->why = pt_xcalloc(1, (size_t)chunk.raw + 1);
        memcpy(r->why, r->raw, chunk.raw);
    }
    *at = stored + chunk.stored;
    return true;
}

/* --- what a killed program had not written --- */

static uint32_t written_in(const struct rec_part *parts, uint32_t count, const struct pt_rec_live_buffer *live)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rec_part *part = &parts[i];
        bool same = part->thread == live->thread && part->piece == live->piece;
        if (same && pt_rec_has_events(live->kind) && part->from + part->raw > end)
            end = part->from + part->raw;
    }
    return end;
}

/* How much of a piece the recording has. */
static uint32_t written_of(const struct recording *r, const struct pt_rec_live_buffer *live)
{
    uint32_t log = pt_map64_get(&r->log_of, live->thread), end = written_in(r->parts, r->part_count, live);
    uint32_t before = log == PT_NONE ? 0 : written_in(r->logs[log].parts, r->logs[log].part_count, live);
    return before > end ? before : end;
}

static bool take_buffer(struct recording *r, const uint8_t *at)
{
    struct pt_rec_live_buffer live;
    memcpy(&live, at, sizeof live);
    if (!live.in_use)
        return true;
    uint32_t from = written_of(r, &live);
    from = from > live.taken ? from : live.taken;
    if (live.used > PT_REC_PIECE || live.taken > live.used)
        return false;
    if (live.kind == PT_REC_DEFS)
        return take_definitions(r, at + sizeof live + live.taken, live.used - live.taken, true);
    struct rec_part part = {.thread = live.thread,
                            .piece = live.piece,
                            .from = from,
                            .raw = live.used - from,
                            .stored = live.used - from,
                            .goes_on = live.kind == PT_REC_MORE,
                            .stamp = live.stamp,
                            .until = UINT64_MAX,
                            .at = at + sizeof live + from};
    if (from < live.used)
        PT_PUSH(r->parts, r->part_count, r->part_cap, part);
    return true;
}

/* Maps the file of the buffers, if the program is gone; NULL: there is none. */
static const struct pt_rec_live *map_live(struct recording *r, const struct pt_file_source *file)
{
    struct stat about;
    struct pt_buf name;
    if (flock(file->input.fd, LOCK_SH | LOCK_NB) != 0) /* it still writes */
        return NULL;
    pt_buf_init(&name);
    pt_buf_printf(&name, "%s.live", file->source.label);
    int fd = open(name.text, O_RDONLY | O_CLOEXEC);
    pt_buf_release(&name);
    if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size > PT_REC_LIVE_FIRST) {
        void *map = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        r->live = map == MAP_FAILED ? NULL : map;
        r->live_len = (size_t)about.st_size;
    }
    if (fd >= 0)
        close(fd);
    return r->live;
}

/* All events that were made are in the recording or in the buffers: together they are what happened. */
void rec_file_take_live(struct recording *r, const struct pt_file_source *file)
{
    const struct pt_rec_live *live = map_live(r, file);
    if (!live || memcmp(live->magic, PT_REC_LIVE_MAGIC, sizeof live->magic) != 0 ||
        live->stride < sizeof(struct pt_rec_live_buffer) + PT_REC_PIECE ||
        live->count > (r->live_len - PT_REC_LIVE_FIRST) / live->stride)
        return;
    bool good = true;
    for (uint32_t i = 0; i < live->count && good; i++)
        good = take_buffer(r, (const uint8_t *)live + PT_REC_LIVE_FIRST + i * live->stride);
    r->ended = good;
    r->limit = good ? UINT64_MAX : r->limit;
}

/* --- the whole --- */

/* A regular file is mapped, one that grows with room for more; what else there is is read to its end first. */
enum pt_status rec_file_load(struct recording *r, struct pt_file_source *file, struct pt_err *err)
{
    struct pt_input *input = &file->input;
    struct stat about;
    bool regular = input->fd >= 0 && fstat(input->fd, &about) == 0 && S_ISREG(about.st_mode) && input->offset == 0;
    size_t len = !regular ? 0 : file->source.follows ? FOLLOWED_MOST : (size_t)about.st_size;
    void *map = regular ? mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_NORESERVE, input->fd, 0) : MAP_FAILED;
    if (map == MAP_FAILED && file->source.follows) /* where address space is limited it is read when all is there */
        return PT_OK;
    r->loaded = true;
    r->taken = PT_REC_MAGIC_LEN;
    if (map != MAP_FAILED) {
        r->mapped = map;
        r->mapped_len = len;
        r->file = map;
        r->len = (size_t)about.st_size;
        return PT_OK;
    }
    while (!input->eof)
        if (pt_input_fill(input, file->source.label, err) != PT_OK)
            return PT_EIO;
    r->file = (const uint8_t *)input->buf + input->pos;
    r->len = pt_input_left(input);
    return PT_OK;
}

bool rec_file_take(struct recording *r, const struct pt_file_source *file)
{
    struct stat about;
    bool look = file->input.fd >= 0; /* bytes from memory name no files */
    uint64_t limit = r->limit;
    if (r->mapped && fstat(file->input.fd, &about) == 0 && (size_t)about.st_size <= r->mapped_len)
        r->len = (size_t)about.st_size;
    while (r->taken < r->len && !r->ended && take_chunk(r, &r->taken, look))
        ;
    return r->limit > limit || r->ended;
}

void rec_file_release(struct recording *r)
{
    if (r->mapped)
        munmap(r->mapped, r->mapped_len);
    if (r->live)
        munmap(r->live, r->live_len);
    pt_debuginfo_free(r->info);
    free(r->why);
    free(r->parts);
}
