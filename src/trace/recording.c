/*
 * Recordings (core/recording.h) as a source of events: the logs of the threads are merged by their stamps, and each
 * event goes through what decodes the events of threads in full (channel_decode.c, channel_full.c): names, stacks and
 * locks are as in what an observer records.
 *
 * A recording can be *followed* while its program writes it: up to the stamp of each mark everything is there, so the
 * logs are merged up to there, and then on from there.
 *
 * Guarantee: the events are a run that the program has made (runtime/record/stamp.h); of a file without an end, or that
 * is damaged, up to the last mark before that, and then PT_READ_TORN. Whether it was followed makes no difference but
 * for what is left out, and for the initial values, which then come with the first mark that has them. Cost: linear,
 * times the logarithm of the number of threads where they take turns; memory for one piece of each thread, and for what
 * is noted of each chunk.
 */
#include <stdlib.h>

#include "base/line.h"
#include "trace/channel_impl.h"
#include "trace/recording_impl.h"

static const uint8_t magic[] = {0x89, 'P', 'T', 'R', 'E', 'C'}; /* of any version */

enum { RECORD_BYTES = 1 << 16 };

static void *open_recording(const struct pt_source *source)
{
    struct recording *r = pt_xcalloc(1, sizeof *r);
    r->decoder = chan_new_decoder(source->names, RECORD_BYTES);
    r->maker.decoder = r->decoder;
    r->maker.cells = pt_places_cells(r->decoder->places);
    rec_names_begin(&r->maker.names);
    r->damaged_from = UINT64_MAX;
    pt_map64_init(&r->log_of);
    rec_unseen_begin(&r->unseen);
    r->unseen.statics = &r->private;
    return r;
}

static void release_recording(void *state)
{
    struct recording *r = state;
    pt_ahead_stop(r->ahead);
    for (int i = 0; i < REC_PIECES; i++)
        free(r->pieces[i]);
    free(r->own);
    rec_maker_release(&r->maker);
    for (uint32_t i = 0; i < r->log_count; i++) {
        rec_log_release(&r->logs[i]);
        free(r->logs[i].parts);
    }
    pt_channel_free(r->decoder);
    rec_file_release(r);
    free(r->initials.items);
    rec_private_release(&r->private);
    rec_unseen_release(&r->unseen);
    rec_ties_release(&r->ties);
    pt_map64_release(&r->log_of);
    free(r->logs);
    free(r->heap);
    free(r);
}

/* --- merging --- */

static bool comes_before(const struct recording *r, uint32_t a, uint32_t b)
{
    const struct rec_log *x = &r->logs[a], *y = &r->logs[b];
    return x->head < y->head || (x->head == y->head && x->thread < y->thread);
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
        uint64_t stamp = r->logs[r->heap[child]].head;
        r->others = child == 1 || stamp < r->others ? stamp : r->others;
    }
}

/* Moves on in the log that was on top. */
static void advance(struct recording *r)
{
    struct rec_log *log = &r->logs[r->heap[0]];
    if (!rec_log_next(log, &r->unseen)) {
        r->dropped |= log->damaged;
        if (log->damaged && log->head < r->damaged_from)
            r->damaged_from = log->head; /* others may depend on what is missing here */
        log->waits = false;
        r->heap[0] = r->heap[--r->heap_count];
        r->others = 0;
    }
    log->open = true;
    if (r->heap_count > 1 && log->head >= r->others)
        sift_down(r, 0);
}

/* --- parts become logs --- */

static int compare_parts(const void *a, const void *b)
{
    const struct rec_part *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->piece != y->piece)
        return x->piece < y->piece ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
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

static struct rec_log *log_of(struct recording *r, uint32_t thread)
{
    uint32_t *at = pt_map64_at(&r->log_of, thread);
    if (*at == PT_NONE) {
        *at = r->log_count;
        PT_PUSH(r->logs, r->log_count, r->log_cap, ((struct rec_log){.thread = thread}));
        if (r->notes && !rec_private_log(&r->private, *at, thread))
            r->notes = false;
    }
    return &r->logs[*at];
}

/* Logs that have something new are among those that are merged. Chunks of a thread are in order between two marks, but
 * not within them (runtime/record/write.c). */
static void add_parts(struct recording *r, bool grows)
{
    if (r->part_count)
        qsort(r->parts, r->part_count, sizeof *r->parts, compare_parts);
    if (r->lost)
        drop_headless(r);
    for (uint32_t i = 0; i < r->part_count; i++) {
        struct rec_log *log = log_of(r, r->parts[i].thread);
        if (!log->waits) { /* it has no event that is known: only that the next one is no earlier */
            log->waits = true;
            log->open = false;
            log->head = log->stamp > r->parts[i].stamp ? log->stamp : r->parts[i].stamp;
            PT_PUSH(r->heap, r->heap_count, r->heap_cap, (uint32_t)(log - r->logs));
        }
        PT_PUSH(log->parts, log->part_count, log->part_cap, r->parts[i]);
    }
    r->part_count = 0;
    for (uint32_t i = 0; i < r->log_count; i++)
        r->logs[i].grows = grows;
    r->others = 0;
    for (uint32_t i = r->heap_count; i-- > 0;)
        sift_down(r, i);
}

/* --- what can be left out --- */

/* One look through all that is left, as if it were read; then it is as before. */
static void look_ahead(struct recording *r)
{
    struct rec_log *logs = r->logs;
    uint32_t *heap = r->heap, heap_count = r->heap_count;
    uint64_t damaged_from = r->damaged_from;
    bool dropped = r->dropped;
    r->logs = pt_xcalloc((size_t)r->log_count + 1, sizeof *r->logs);
    r->heap = pt_xcalloc((size_t)r->heap_count + 1, sizeof *r->heap);
    for (uint32_t i = 0; i < r->log_count; i++) {
        r->logs[i] = logs[i];
        rec_log_split(&r->logs[i]);
    }
    if (heap_count)
        memcpy(r->heap, heap, heap_count * sizeof *r->heap);
    for (r->others = 0; r->heap_count; advance(r)) {
        const struct rec_log *log = &r->logs[r->heap[0]];
        if (log->open)
            rec_private_note(&r->private, rec_log_event(log), r->heap[0]);
    }
    for (uint32_t i = 0; i < r->log_count; i++)
        rec_log_release(&r->logs[i]);
    free(r->logs);
    free(r->heap);
    r->logs = logs;
    r->heap = heap;
    r->heap_count = heap_count;
    r->others = 0;
    r->damaged_from = damaged_from;
    r->dropped = dropped;
}

static bool begin_notes(struct recording *r, bool alone)
{
    bool room = true;
    rec_private_begin(&r->private, alone);
    for (uint32_t i = 0; i < r->log_count && room; i++)
        room = rec_private_log(&r->private, i, r->logs[i].thread);
    return room;
}

/* All is there. What was given was noted then; that a thread was not alone after all is found out too late for it. */
static void find_private(struct recording *r)
{
    struct rec_private *p = &r->private;
    bool noted = r->notes;
    r->notes = false;
    if (r->lost || (r->records && !noted) || (!r->records && !begin_notes(r, true)))
        return;
    look_ahead(r);
    if (p->foreign && (r->records || !begin_notes(r, false)))
        return;
    if (p->foreign)
        look_ahead(r);
    rec_private_end(p);
}

/* --- the source --- */

/* Takes what there is by now; false: there is nothing new, and more may come. */
static bool take_more(struct recording *r, struct pt_file_source *file)
{
    bool grows = file->source.follows, more = rec_file_take(r, file);
    if (grows && !more)
        return false;
    r->whole = !grows || r->ended;
    if (r->whole && r->taken < r->len && !r->ended)
        r->torn = true;
    if (r->whole && !r->ended && r->mapped)
        rec_file_take_live(r, file);
    if (!r->log_count && !r->whole && file->source.leaves_out)
        r->notes = begin_notes(r, true);
    add_parts(r, !r->whole);
    if (!r->lost) /* of a variable that goes by the same name its own comes last, and counts */
        rec_names_give_initials(&r->maker.names, r->decoder);
    if (!r->lost && r->info)
        rec_initials_give(&r->initials, r->decoder);
    if (r->whole && file->source.leaves_out)
        find_private(r);
    return true;
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

/* What comes before all others. */
static bool take_first(struct recording *r, struct pt_event *ret_event)
{
    struct pt_channel_reader *d = r->decoder;
    if (r->lost && !r->lost_said) {
        r->lost_said = true;
        *ret_event = (struct pt_event){.op = PT_OP_LOST,
                                       .thread = PT_NONE,
                                       .object = pt_names_intern_clean(d->names, PT_SPACE_OTHER, "events", 6),
                                       .loc = pt_names_intern_clean(d->names, PT_SPACE_LOC, "-", 1),
                                       .value = pt_value_int((int64_t)r->lost)};
        return true;
    }
    if (d->init_next < d->init_count) {
        *ret_event = d->inits[d->init_next++];
        return true;
    }
    return false;
}

/* Nothing is known of the event on top, or of what comes before it. */
static bool is_lost(const struct recording *r, const struct rec_log *log)
{
    return !log->open || (r->lost && log->head <= r->until);
}

/* Nobody needs the event on top. Memory that others have written, unseen, is nobody's own. */
static bool is_left_out(struct recording *r, const struct rec_log *log, enum rec_tie tie)
{
    return !tie && r->private.found && rec_private_is(&r->private, rec_log_event(log));
}

_Static_assert(sizeof(struct rec_merged) == PT_LINE, "an event that is handed over is one line");

/* Puts the event on top into the batch. */
static inline void put_event(const struct recording *r, struct rec_batch *batch, const struct rec_log *log,
                             enum rec_tie tie)
{
    struct rec_merged made = {*rec_log_event(log), r->heap[0], log->shaped, log->thread, tie};
    if (__builtin_expect(made.event.raw != NULL, 0)) {
        memcpy(batch->raw + batch->raw_used, made.event.raw, made.event.size);
        made.event.raw = batch->raw + batch->raw_used;
        batch->raw_used += made.event.size;
    }
    if (__builtin_expect(batch->passes, 1))
        pt_line_store(&batch->items[batch->count++], &made);
    else
        batch->items[batch->count++] = made;
}

static inline void take_event(struct recording *r, struct rec_batch *batch, struct rec_log *log)
{
    enum rec_tie tie = rec_unseen_event(&r->unseen, rec_log_event(log), r->heap[0]);
    if (is_left_out(r, log, tie))
        return;
    if (r->notes)
        rec_private_note(&r->private, rec_log_event(log), r->heap[0]);
    put_event(r, batch, log, tie);
}

static bool has_room(const struct rec_batch *batch)
{
    return batch->count < REC_BATCH && batch->raw_used + PT_REC_RAW_MOST <= sizeof batch->raw;
}

/* The event on top, and those after it in its log that are decoded, as long as they come before all of other logs. */
static void take_run(struct recording *r, struct rec_batch *batch, struct rec_log *log)
{
    uint64_t before = r->heap_count > 1 ? r->others : UINT64_MAX;
    const uint64_t most = r->limit < r->damaged_from ? r->limit : r->damaged_from;
    before = most < before ? most + 1 : before;
    for (;;) {
        take_event(r, batch, log);
        uint32_t next = log->next + 1;
        if (next >= log->decoded || log->events[next].stamp >= before || !has_room(batch))
            break;
        log->next = next;
    }
    log->head = log->events[log->next].stamp;
    advance(r);
}

/* Fills a batch with the next events in the merged order, as far as they are known; false: it has all there are. */
static bool fill(struct recording *r, struct rec_batch *batch)
{
    while (has_room(batch)) {
        if (!r->heap_count)
            return false;
        struct rec_log *log = &r->logs[r->heap[0]];
        if (log->head > r->limit || log->head > r->damaged_from) {
            r->dropped |= r->whole && log->open;
            if (!r->whole || log->open || log->head > r->damaged_from)
                return false;
        }
        if (is_lost(r, log))
            advance(r);
        else
            take_run(r, batch, log);
    }
    return true;
}

static bool fill_batch(void *context, void *piece)
{
    struct rec_batch *batch = piece;
    batch->count = batch->next = batch->raw_used = 0;
    bool more = fill(context, batch);
    pt_line_fence();
    return more;
}

static struct rec_batch *new_batch(bool passes)
{
    struct rec_batch *batch = pt_xaligned(_Alignof(struct rec_batch), sizeof *batch);
    batch->count = batch->next = batch->raw_used = 0;
    batch->passes = passes;
    return batch;
}

/* The next batch; false: there is none, or none yet. A recording that grows is read here, and a small one. */
static bool next_batch(struct recording *r)
{
    if (!r->own)
        r->own = new_batch(false);
    if (!r->ahead && r->whole && r->batch && r->batch->count == REC_BATCH && !r->pieces[0]) {
        for (int i = 0; i < REC_PIECES; i++)
            r->pieces[i] = new_batch(true);
        r->ahead = pt_ahead_start(fill_batch, r, (void **)r->pieces, REC_PIECES);
    }
    if (r->ahead) {
        struct rec_batch *next = pt_ahead_next(r->ahead);
        r->batch = next ? next : r->own;
        if (!next)
            r->own->count = r->own->next = 0;
    } else {
        r->batch = r->own;
        (void)fill_batch(r, r->batch);
    }
    return r->batch->count;
}

static inline void look_forward(const struct recording *r, const struct rec_batch *batch)
{
    enum { FAR = 16, NEAR = 8 };
    if (batch->next + FAR >= batch->count)
        return;
    const struct rec_event *later = &batch->items[batch->next + FAR].event,
                           *soon = &batch->items[batch->next + NEAR].event;
    if (later->far)
        pt_cells_expect(r->maker.cells, later->address);
    if (later->far && pt_kind_by(later->kind) == PT_BY_EXTENT)
        pt_places_expect_block(r->decoder->places, later->address);
    if (soon->far)
        pt_cells_expect_soon(r->maker.cells, soon->address);
}

/* Makes what follows from the next of the batch; true: *ret_event, which may be a tie before it. */
static bool make_event(struct recording *r, struct pt_event *ret_event)
{
    const struct rec_merged *item = &r->batch->items[r->batch->next++];
    const struct pt_channel_reader *d = r->decoder;
    bool made = rec_make(&r->maker, item, item->thread, ret_event, &r->bad);
    uint32_t name = r->maker.logs[item->log].name;
    if (!item->tie || !name)
        return made;
    rec_ties_make(&r->ties, d->names, name - 1, item->tie, made ? ret_event : NULL);
    return rec_ties_take(&r->ties, ret_event);
}

/* The next event in the merged order; false: there is none, or none yet. */
static bool next_event(struct recording *r, bool holds, struct pt_event *ret_event)
{
    if (rec_ties_take(&r->ties, ret_event) || take_queued(r, ret_event) || take_first(r, ret_event))
        return true;
    while (!holds) {
        if ((!r->batch || r->batch->next == r->batch->count) && !next_batch(r))
            return false;
        look_forward(r, r->batch);
        if (make_event(r, ret_event) || take_queued(r, ret_event))
            return true;
    }
    return false;
}

/* Those that follow from the present batch, up to one with ties before it. */
static uint32_t make_some(struct recording *r, struct pt_event *events, uint32_t most)
{
    struct rec_batch *batch = r->batch;
    const struct pt_channel_reader *d = r->decoder;
    uint32_t count = 0;
    if (!batch || d->init_next < d->init_count || (r->lost && !r->lost_said) || r->ties.holds ||
        r->ties.next < r->ties.count)
        return 0;
    while (count < most) {
        struct pt_event *to = &events[count];
        if (!take_queued(r, to)) {
            if (batch->next == batch->count || batch->items[batch->next].tie)
                break;
            look_forward(r, batch);
            const struct rec_merged *item = &batch->items[batch->next++];
            if (!rec_make(&r->maker, item, item->thread, to, &r->bad))
                continue;
        }
        rec_ties_note(&r->ties, to);
        to->line = ++r->records;
        count++;
    }
    return count;
}

/* Events are made some at a time, so that what makes them stays in the processor's caches. */
static uint32_t some(struct pt_source *source, struct pt_event *events, uint32_t most)
{
    struct recording *r = ((struct pt_file_source *)source)->state;
    uint32_t left = r->made_count - r->made_next, count = left < most ? left : most;
    if (!left)
        return make_some(r, events, most);
    memcpy(events, &r->made[r->made_next], count * sizeof *events);
    r->made_next += count;
    return count;
}

static enum pt_read say_end(struct recording *r, struct pt_source *source, struct pt_err *err)
{
    if (r->ended && !r->why && !r->dropped && !r->unseen.damaged && !r->bad)
        return PT_READ_END;
    const char *what = r->why     ? r->why
                       : r->ended ? "events are damaged"
                       : r->torn  ? "the recording is damaged"
                                  : "the recording has no end: the program was killed, or the disk was full";
    pt_err_at(err, PT_EINPUT, source->label, r->records, 0, "%s; what comes before is used", what);
    return PT_READ_TORN;
}

/* Where none is made yet: some are, or one. */
static __attribute__((noinline)) enum pt_read make_next(struct pt_source *source, struct pt_event *ret_event,
                                                        struct pt_err *err)
{
    struct pt_file_source *file = (struct pt_file_source *)source;
    struct recording *r = file->state;
    r->made_next = 0;
    r->made_count = make_some(r, r->made, REC_MADE);
    if (r->made_count) {
        *ret_event = r->made[r->made_next++];
        return PT_READ_EVENT;
    }
    if (!r->loaded && rec_file_load(r, file, err) != PT_OK)
        return PT_READ_ERROR;
    if (!r->loaded)
        return PT_READ_WAIT;
    if (r->len < PT_REC_MAGIC_LEN || memcmp(r->file, PT_REC_MAGIC, PT_REC_MAGIC_LEN) != 0) {
        pt_err_at(err, PT_EINPUT, source->label, 0, 0,
                  "the recording is of a program that another version of Portent has built: build it again");
        return PT_READ_ERROR;
    }
    while (!next_event(r, source->holds, ret_event)) {
        if (r->whole && !source->holds)
            return say_end(r, source, err);
        if (r->whole || !take_more(r, file))
            return PT_READ_WAIT;
    }
    if (!pt_event_is_tie(ret_event))
        rec_ties_note(&r->ties, ret_event);
    ret_event->line = ++r->records;
    return PT_READ_EVENT;
}

static enum pt_read next(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct recording *r = ((struct pt_file_source *)source)->state;
    if (__builtin_expect(r->made_next == r->made_count, 0))
        return make_next(source, ret_event, err);
    *ret_event = r->made[r->made_next++];
    return PT_READ_EVENT;
}

/* The whole of it has to be there first. */
static bool has_next(void *state, struct pt_input *input)
{
    const struct recording *r = state;
    return r->loaded || input->eof;
}

const struct pt_format pt_format_recording = {
    .name = "recording",
    .unit = PT_UNIT_EVENT,
    .magic = magic,
    .magic_len = sizeof magic,
    .open = open_recording,
    .next = next,
    .some = some,
    .has_next = has_next,
    .release = release_recording,
};
