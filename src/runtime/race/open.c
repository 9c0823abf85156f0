/*
 * A cell of a granule that was solo, made of what the logs have of it.
 *
 * Guarantee: the accesses that are found, from the last one back, are put into the cell as race/cell.c would have done
 * when they were made: each came after all before it, so none races, and each write is over all. Of accesses that agree
 * in place, kind and bytes the last one stays, which is all that race/cell.c wants. Not found is what is gone of a log
 * (log.c), and what is further back than STEPS accesses of the granule, or than KEPT that differ. In its stead the cell
 * gets a write of all bytes, PT_RACE_OP_GONE, which is never told: who is not known to come after it may have a race
 * with what is gone, so that it cannot be said any more that there is none (on_race in sync.c), and who reads learns of
 * it, as it may have been a write. Where the last access itself is gone, the word still says whose it was, of which
 * bytes, and whether it was a write: it is put into the cell with no place, as early as it can have been. So a race
 * that is told is one, and nobody fails to learn of a write.
 *
 * Cost: some hundred instructions for each access, once for a granule.
 */
#include "runtime/race/log.h"

enum { KEPT = 48, STEPS = 1024 };

struct link {
    struct pt_hb_thread then; /* the thread when it made the access */
    uint64_t region, last;    /* when that began; when the access was made last */
    struct pt_cell_access access;
};

static const struct pt_site lost = {.file = "", .function = "[place lost]", .variable = ""};

static const struct pt_race_slot *slot_at(const struct pt_race_log *log, uint64_t number)
{
    return &log->slots[number & (PT_RACE_LOG_RING - 1)];
}

/* The latest mark of this type at or before that slot: each block begins with one. */
static const struct pt_race_slot *find_mark(const struct pt_race_log *log, uint64_t number, enum pt_race_slot_type type)
{
    while (pt_race_slot_get(&slot_at(log, number)->a) >> PT_RACE_SLOT_TYPE_AT != type)
        number--;
    return slot_at(log, number);
}

static struct pt_vec *past_of(const struct pt_race_slot *region)
{
    return (struct pt_vec *)(uintptr_t)(pt_race_slot_get(&region->a) & PT_RACE_SLOT_PAST);
}

/* The word, but for what it says of the access, of the one before this slot; 0: there is none. */
static uint64_t before(const struct pt_race_log *log, uint32_t thread, uint64_t number)
{
    uint64_t steps = pt_race_slot_get(&slot_at(log, number)->a) & PT_RACE_SLOT_BEFORE;
    if (!steps)
        return 0;
    uint64_t there = pt_race_slot_get(&slot_at(log, number - steps)->a);
    if (number - steps >= pt_race_slot_get(&log->first) && there >> PT_RACE_SLOT_TYPE_AT == PT_RACE_SLOT_PREV)
        return PT_RACE_SOLO | there << PT_RACE_SOLO_NUMBER_AT;
    return PT_RACE_SOLO | (uint64_t)thread << PT_RACE_SOLO_THREAD_AT | (number - steps) << PT_RACE_SOLO_NUMBER_AT;
}

/* Under the log's lock. */
static void read_slot(const struct pt_race_self *self, const struct pt_race_log *log, uint32_t thread, uint64_t number,
                      struct link *out)
{
    uint64_t a = pt_race_slot_get(&slot_at(log, number)->a), b = pt_race_slot_get(&slot_at(log, number)->b);
    const struct pt_race_slot *region = find_mark(log, number, PT_RACE_SLOT_REGION),
                              *note = find_mark(log, number, PT_RACE_SLOT_NOTE);
    uint64_t noted = pt_race_slot_get(&note->b);
    *out = (struct link){
        .then = {.id = thread,
                 .clock = a & PT_RACE_SLOT_SEVERAL ? pt_race_slot_clock(b) : pt_race_slot_last(b),
                 .past = pt_vec_ref(&self->memory, past_of(region))},
        .region = pt_race_slot_get(&region->b),
        .last = pt_race_slot_last(b),
        .access = {.place = (uint32_t)(a >> PT_RACE_SLOT_PLACE_AT) & ((1u << PT_RACE_PLACE_BITS) - 1),
                   .kind = a >> PT_RACE_SLOT_TYPE_AT == PT_RACE_SLOT_WRITE ? PT_CELL_WRITES : PT_CELL_READS,
                   .bytes = (uint8_t)(a >> PT_RACE_SLOT_BYTES_AT),
                   .op = a >> PT_RACE_SLOT_OP_AT & 3,
                   .note = {.stack = (uint32_t)(noted >> 32), .locks = (uint32_t)noted}}};
}

/* What a word says of an access whose slot is gone. What its thread knew then is no more than at the oldest moment that
 * is still there, or at its end. Under the log's lock. */
static void read_word(const struct pt_race_self *self, const struct pt_race_log *log, uint64_t word, struct link *out)
{
    uint64_t least, most, first = pt_race_slot_get(&log->first);
    pt_race_log_bounds(log, pt_race_solo_number(word), &least, &most);
    struct pt_vec *past = first != UINT64_MAX ? past_of(slot_at(log, first)) : log->past;
    unsigned low = word & 7, length = (word >> 3 & 7) + 1;
    *out = (struct link){
        .then = {.id = pt_race_solo_thread(word), .clock = least, .past = pt_vec_ref(&self->memory, past)},
        .region = least,
        .last = most,
        .access = {.place = pt_race_place_of(&lost),
                   .kind = word >> 6 & 1 ? PT_CELL_WRITES : PT_CELL_READS,
                   .bytes = (uint8_t)(((1u << length) - 1) << low),
                   .note = {.stack = UINT32_MAX}}};
}

/* Something that is not to be told: all before it, and it may be. */
static void make_gone(struct link *link)
{
    link->then.clock = link->region = link->last;
    link->access = (struct pt_cell_access){.place = pt_race_place_of(&lost),
                                           .kind = PT_CELL_WRITES,
                                           .bytes = PT_CELL_WHOLE,
                                           .op = PT_RACE_OP_GONE,
                                           .note = {.stack = UINT32_MAX}};
}

static bool is_among(const struct pt_race_self *self, const struct link *links, unsigned count, const struct link *link)
{
    for (unsigned i = 0; i < count; i++)
        if ((links[i].then.id == link->then.id || self->env.any_thread) &&
            links[i].access.place == link->access.place && links[i].access.kind == link->access.kind &&
            links[i].access.op == link->access.op && links[i].access.bytes == link->access.bytes)
            return true;
    return false;
}

/* The access that a word is of. False: its slot is gone, and it is what the word says. *ret_before: the word of the
 * one before it; 0: there is none. */
static bool read_link(const struct pt_race_self *self, uint64_t word, struct link *out, uint64_t *ret_before)
{
    struct pt_race_log *log = &pt_race_logs[pt_race_solo_thread(word)];
    uint64_t number = pt_race_solo_number(word);
    pt_spin_lock(&log->lock);
    bool there = number >= pt_race_slot_get(&log->first);
    if (there) {
        read_slot(self, log, pt_race_solo_thread(word), number, out);
        *ret_before = before(log, pt_race_solo_thread(word), number);
    } else {
        read_word(self, log, word, out);
        *ret_before = word;
    }
    pt_spin_unlock(&log->lock);
    return there;
}

/* The accesses of a granule, the last one first. */
static unsigned collect(const struct pt_race_self *self, uint64_t word, struct link *links)
{
    unsigned count = 0;
    bool there = true;
    for (unsigned steps = 0; word && there && count < KEPT && steps < STEPS; steps++) {
        there = read_link(self, word, &links[count], &word);
        if ((!there && steps) || is_among(self, links, count, &links[count]))
            pt_vec_drop(&self->memory, links[count].then.past);
        else
            count++;
    }
    if (word) {
        read_link(self, word, &links[count], &word);
        make_gone(&links[count++]);
    }
    return count;
}

/* Of a write of different bytes none is later than the last of them, for who learns of it. */
static void make_late(struct pt_cell *cell, const struct link *link)
{
    pt_epoch last = pt_epoch_make(link->then.id, link->last);
    if (!(link->access.kind & PT_CELL_WRITES))
        return;
    for (unsigned i = 0; i < cell->written_count; i++)
        if (pt_epoch_thread(cell->written[i].stamp.at) == link->then.id &&
            cell->written[i].bytes & link->access.bytes && cell->written[i].stamp.at < last)
            cell->written[i].stamp.at = last;
    if (pt_epoch_thread(cell->over) == link->then.id && cell->over < last)
        cell->over = last;
}

static void replay(const struct pt_race_self *self, struct pt_cell *cell, struct link *links, unsigned count)
{
    struct pt_cell_env env = self->env;
    for (unsigned i = count; i-- > 0;) {
        env.merge_from = links[i].region;
        pt_cell_record(&env, cell, &links[i].then, &links[i].access, links[i].access.kind & PT_CELL_WRITES);
    }
    for (unsigned i = 0; i < count; i++) {
        make_late(cell, &links[i]);
        pt_vec_drop(&self->memory, links[i].then.past);
    }
}

uint64_t pt_race_solo_open(struct pt_race_self *self, uint64_t seen)
{
    struct link links[KEPT + 1];
    unsigned count = collect(self, seen, links);
    if (count > PT_RACE_PACKED_SEEN) {
        uint32_t own = pt_race_cell_new(self);
        pt_race_cells[own].stamp++;
        replay(self, &pt_race_cells[own].cell, links, count);
        return pt_race_word_made(own);
    }
    struct pt_race_view view;
    pt_race_view_begin(&view);
    replay(self, &view.cell, links, count);
    uint64_t made = pt_race_pack(self, &view, 0);
    if (made)
        return made;
    uint32_t own = pt_race_view_copy(self, &view);
    for (unsigned i = 0; i < view.cell.written_count; i++)
        pt_hb_stamp_drop(&self->memory, &view.cell.written[i].stamp);
    return pt_race_word_made(own);
}
