/*
 * Recordings (core/recording.h) as a source of events. The file is looked through once: definitions are taken, chunks
 * of events noted. Then the logs of the threads are merged by their stamps, and each event goes through what decodes
 * the events of threads in full (channel_decode.c, channel_full.c): names, stacks and locks are as in what an observer
 * records.
 *
 * Guarantee: the events are a run that the program has made (runtime/record/stamp.h); of a file without an end, or that
 * is damaged, up to the last mark before that, and then PT_READ_TORN. Cost: linear, times the logarithm of the number
 * of threads where they take turns; memory for one piece of each thread, and for what is noted of each chunk. A pipe is
 * kept in memory as a whole.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/lz.h"
#include "trace/channel_impl.h"
#include "trace/debuginfo.h"
#include "trace/format.h"
#include "trace/recording_impl.h"

static const uint8_t magic[] = {0x89, 'P', 'T', 'R', 'E', 'C', '2', '\n'};

enum { RECORD_BYTES = 1 << 16 };

struct recording {
    struct pt_channel_reader *decoder;
    struct pt_debuginfo *info; /* NULL: there is none, or it is of another build */
    bool indexed, ended;       /* `ended`: the file says so */
    char *why;                 /* that events are missing; NULL: the file does not say so */
    uint64_t limit;            /* the highest stamp that is good */
    uint64_t until, lost;      /* those up to this one are not; so many events, at least, are missing before them */
    bool lost_said;
    uint64_t torn_at; /* where the file makes no sense; 0: nowhere */
    bool dropped;     /* events above the limit, or of damaged logs */
    uint64_t records;
    struct rec_initials initials;
    struct rec_private private;
    const uint8_t *file;
    size_t len;
    void *mapped;
    void *live; /* the buffers of a program that was killed */
    size_t live_len;
    struct rec_part *parts;
    uint32_t part_count;
    size_t part_cap;
    struct rec_log *logs;
    uint32_t log_count;
    uint32_t *heap; /* logs with events, the lowest stamp first */
    uint32_t heap_count;
    uint64_t others; /* the lowest stamp behind the first; 0: it is to be looked for */
    struct rec_maker maker;
    uint8_t raw[PT_REC_PIECE];
};

static void *open_recording(const struct pt_source *source)
{
    struct recording *r = pt_xcalloc(1, sizeof *r);
    r->decoder = chan_new_decoder(source->names, RECORD_BYTES);
    r->maker.decoder = r->decoder;
    r->maker.generation = 1;
    return r;
}

static void release_recording(void *state)
{
    struct recording *r = state;
    for (uint32_t i = 0; i < r->log_count; i++)
        rec_log_release(&r->logs[i]);
    if (r->mapped)
        munmap(r->mapped, r->len);
    if (r->live)
        munmap(r->live, r->live_len);
    pt_channel_free(r->decoder);
    pt_debuginfo_free(r->info);
    free(r->why);
    free(r->initials.items);
    rec_private_release(&r->private);
    free(r->parts);
    free(r->logs);
    free(r->heap);
    free(r);
}

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
        else if (!chan_take_record(r->decoder, 0))
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
    if (chunk.kind == PT_REC_EVENTS) {
        struct rec_part part = {.thread = chunk.thread,
                                .piece = chunk.piece,
                                .from = chunk.from,
                                .raw = chunk.raw,
                                .stored = chunk.stored,
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

static int compare_parts(const void *a, const void *b)
{
    const struct rec_part *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->piece != y->piece)
        return x->piece < y->piece ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* --- what a killed program had not written --- */

/* How much of a piece the recording has. */
static uint32_t written_of(const struct recording *r, const struct pt_rec_live_buffer *live)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < r->part_count; i++) {
        const struct rec_part *part = &r->parts[i];
        bool same = part->thread == live->thread && part->piece == live->piece;
        if (same && live->kind == PT_REC_EVENTS && part->from + part->raw > end)
            end = part->from + part->raw;
    }
    return end;
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
static void take_live(struct recording *r, const struct pt_file_source *file)
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

/* --- merging --- */

static bool comes_before(const struct recording *r, uint32_t a, uint32_t b)
{
    const struct rec_log *x = &r->logs[a], *y = &r->logs[b];
    return x->event.stamp < y->event.stamp || (x->event.stamp == y->event.stamp && x->thread < y->thread);
}

static void sift_down(struct recording *r, uint32_t at)
{
    uint32_t log = r->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= r->heap_count)
            break;
        if (child + 1 < r->heap_count && comes_before(r, r->heap[child + 1], r->heap[child]))
            child++;
        if (!comes_before(r, r->heap[child], log))
            break;
        r->heap[at] = r->heap[child];
        at = child;
    }
    r->heap[at] = log;
    for (uint32_t child = 1; child <= 2 && child < r->heap_count; child++) {
        uint64_t stamp = r->logs[r->heap[child]].event.stamp;
        r->others = child == 1 || stamp < r->others ? stamp : r->others;
    }
}

/* Of a piece whose beginning was given back, the rest cannot be read. */
static void drop_headless(struct recording *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->part_count; i++) {
        const struct rec_part *part = &r->parts[i], *last = kept ? &r->parts[kept - 1] : NULL;
        bool follows = last && last->thread == part->thread && last->piece == part->piece;
        if (part->from == 0 || follows)
            r->parts[kept++] = *part;
        else if (part->until > r->until)
            r->until = part->until;
    }
    r->part_count = kept;
}

static void make_logs(struct recording *r)
{
    if (r->part_count)
        qsort(r->parts, r->part_count, sizeof *r->parts, compare_parts);
    if (r->lost)
        drop_headless(r);
    r->logs = pt_xcalloc((size_t)r->part_count + 1, sizeof *r->logs);
    for (uint32_t i = 0; i < r->part_count; i++) {
        if (!i || r->parts[i].thread != r->parts[i - 1].thread)
            r->logs[r->log_count++] = (struct rec_log){.thread = r->parts[i].thread,
                                                       .name = PT_NONE,
                                                       .parts = &r->parts[i],
                                                       .event = {.stamp = r->parts[i].stamp}};
        r->logs[r->log_count - 1].part_count++;
    }
    r->heap = pt_xcalloc((size_t)r->log_count + 1, sizeof *r->heap);
    r->heap_count = r->log_count;
    for (uint32_t i = 0; i < r->log_count; i++)
        r->heap[i] = i;
    for (uint32_t i = r->log_count; i-- > 0;)
        sift_down(r, i);
}

/* A regular file is mapped; what else there is is read to its end first. */
static enum pt_status load(struct recording *r, struct pt_file_source *file, struct pt_err *err)
{
    struct pt_input *input = &file->input;
    struct stat about;
    bool regular = input->fd >= 0 && fstat(input->fd, &about) == 0 && S_ISREG(about.st_mode) && input->offset == 0;
    void *map = regular ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, input->fd, 0) : MAP_FAILED;
    if (map != MAP_FAILED) {
        r->mapped = map;
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

/* Moves on in the log that was on top. */
static void advance(struct recording *r)
{
    struct rec_log *log = &r->logs[r->heap[0]];
    if (!rec_log_next(log)) {
        r->dropped |= log->damaged;
        if (log->damaged && log->event.stamp < r->limit)
            r->limit = log->event.stamp; /* others may depend on what is missing here */
        r->heap[0] = r->heap[--r->heap_count];
        r->others = 0;
    }
    log->open = true;
    if (r->heap_count > 1 && log->event.stamp >= r->others)
        sift_down(r, 0);
}

/* One look through all of it, as if it were read; then it is as before. */
static void look_ahead(struct recording *r)
{
    struct rec_private *p = &r->private;
    size_t bytes = r->log_count * sizeof *r->logs, heap_bytes = r->heap_count * sizeof *r->heap;
    struct rec_log *logs = pt_xcalloc((size_t)r->log_count + 1, sizeof *logs);
    uint32_t *heap = pt_xcalloc((size_t)r->heap_count + 1, sizeof *heap), count = r->heap_count;
    uint64_t limit = r->limit;
    bool dropped = r->dropped, begun = false;
    memcpy(logs, r->logs, bytes);
    memcpy(heap, r->heap, heap_bytes);
    r->others = 0;
    for (; r->heap_count; advance(r)) {
        const struct rec_log *log = &r->logs[r->heap[0]];
        if (log->open && !begun)
            p->first = r->heap[0];
        begun |= log->open;
        if (log->open)
            rec_private_note(p, &log->event, r->heap[0]);
    }
    memcpy(r->logs, logs, bytes);
    memcpy(r->heap, heap, heap_bytes);
    free(logs);
    free(heap);
    r->heap_count = count;
    r->others = 0;
    r->limit = limit;
    r->dropped = dropped;
}

static void find_private(struct recording *r)
{
    struct rec_private *p = &r->private;
    if (r->lost || !rec_private_begin(p, r->logs, r->log_count, true))
        return;
    look_ahead(r);
    if (p->foreign && rec_private_begin(p, r->logs, r->log_count, false))
        look_ahead(r);
    rec_private_end(p);
}

static enum pt_status index_file(struct recording *r, struct pt_file_source *file, struct pt_err *err)
{
    enum pt_status status = load(r, file, err);
    if (status != PT_OK)
        return status;
    bool look = file->input.fd >= 0; /* bytes from memory name no files */
    size_t at = sizeof magic;
    while (at < r->len && !r->ended && take_chunk(r, &at, look))
        ;
    if (at < r->len)
        r->torn_at = at;
    if (!r->ended && r->mapped)
        take_live(r, file);
    make_logs(r);
    if (!r->lost && r->info)
        rec_initials_give(&r->initials, r->decoder);
    if (file->source.leaves_out)
        find_private(r);
    r->indexed = true;
    return PT_OK;
}

static bool take_queued(struct recording *r, struct pt_event *ret_event)
{
    struct pt_channel_reader *d = r->decoder;
    if (d->queue_next == d->queue_count)
        return false;
    *ret_event = d->queue[d->queue_next++];
    if (d->queue_next == d->queue_count)
        d->queue_next = d->queue_count = 0;
    return true;
}

/* The next event in the merged order; false: there is none. */
static bool next_event(struct recording *r, struct pt_event *ret_event)
{
    if (r->lost && !r->lost_said) {
        r->lost_said = true;
        *ret_event = (struct pt_event){.op = PT_OP_LOST,
                                       .thread = PT_NONE,
                                       .object = pt_names_intern_clean(r->decoder->names, PT_SPACE_OTHER, "events", 6),
                                       .loc = pt_names_intern_clean(r->decoder->names, PT_SPACE_LOC, "-", 1),
                                       .value = pt_value_int((int64_t)r->lost)};
        return true;
    }
    struct pt_channel_reader *d = r->decoder;
    if (d->init_next < d->init_count) {
        *ret_event = d->inits[d->init_next++];
        return true;
    }
    while (!take_queued(r, ret_event)) {
        if (!r->heap_count)
            return false;
        struct rec_log *log = &r->logs[r->heap[0]];
        if (!log->open) {
            advance(r);
            continue;
        }
        if (log->event.stamp <= r->until && r->lost) {
            advance(r);
            continue;
        }
        if (log->event.stamp > r->limit) {
            r->dropped = true;
            return false;
        }
        if (r->private.found && rec_private_is(&r->private, &log->event)) {
            advance(r);
            continue;
        }
        bool made = rec_make(&r->maker, log, ret_event, &r->dropped);
        advance(r);
        if (made)
            return true;
    }
    return true;
}

static enum pt_read say_end(struct recording *r, struct pt_source *source, struct pt_err *err)
{
    if (r->ended && !r->why && !r->dropped)
        return PT_READ_END;
    const char *what = r->why       ? r->why
                       : r->ended   ? "events are damaged"
                       : r->torn_at ? "the recording is damaged"
                                    : "the recording has no end: the program was killed, or the disk was full";
    pt_err_at(err, PT_EINPUT, source->label, r->records, 0, "%s; what comes before is used", what);
    return PT_READ_TORN;
}

static enum pt_read next(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct pt_file_source *file = (struct pt_file_source *)source;
    struct recording *r = file->state;
    if (!r->indexed && index_file(r, file, err) != PT_OK)
        return PT_READ_ERROR;
    if (!next_event(r, ret_event))
        return say_end(r, source, err);
    ret_event->line = ++r->records;
    return PT_READ_EVENT;
}

/* The whole of it has to be there first. */
static bool has_next(void *state, struct pt_input *input)
{
    const struct recording *r = state;
    return r->indexed || input->eof;
}

const struct pt_format pt_format_recording = {
    .name = "recording",
    .unit = PT_UNIT_EVENT,
    .magic = magic,
    .magic_len = sizeof magic,
    .open = open_recording,
    .next = next,
    .has_next = has_next,
    .release = release_recording,
};
