/*
 * Reading the binary form (binary.h). Blocks come as columns (binary_block.h), of files from a thread that works ahead.
 * Their names are defined, and their rows are checked against the rules of their operations in one loop without
 * branches, which would be mispredicted at every other row. Where all obey, events are put together without a further
 * look. Otherwise, and for the few operations and kinds of value that ask for more, each event is checked by itself.
 *
 * Guarantee: a hostile file gives an error at the first event that breaks a rule, and all before it are delivered.
 * Memory: one block, stored and decoded, plus the names.
 */
#include "trace/binary.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/binary_read_impl.h"
#include "trace/oprule.h"

const uint8_t pt_binary_magic[] = {0x89, 'P', 'T', 'T', 'R', 'A', 'C', '\n'};
const uint8_t pt_block_magic[] = {'P', 'T', 'B', 'L'};
const uint8_t pt_block_end_magic[] = {'P', 'T', 'E', 'N'};

static void *open_binary(const struct pt_source *source)
{
    static const uint8_t kinds[] = {
        [PT_VALUE_NEVER] = 1 << PT_VALUE_UNKNOWN,
        [PT_VALUE_MUST] = (2 << PT_VALUE_STRING) - 1 - (1 << PT_VALUE_UNKNOWN),
        [PT_VALUE_MAY] = (2 << PT_VALUE_STRING) - 1,
        [PT_VALUE_TEXT] = 1 << PT_VALUE_STRING,
    };
    struct pt_binary_reader *reader = pt_xcalloc(1, sizeof *reader);
    reader->label = source->label;
    reader->names = source->names;
    reader->block = reader->own = pt_binary_block_new();
    reader->columns = reader->own->columns;
    reader->taker = (struct pt_block_taker){.label = source->label, .zstd = ZSTD_createDCtx()};
    assert(reader->taker.zstd); /* else out of memory */
    for (int i = 0; i <= PT_SPACE_COUNT; i++) {
        struct pt_binary_ids *map = &reader->maps[i];
        PT_PUSH(map->ids, map->len, map->cap, PT_NONE);
    }
    for (int op = 0; op < PT_OP_COUNT; op++)
        reader->rules[op] = (struct pt_op_rule){.kinds = kinds[pt_op_value_rule(op)],
                                                .space = (uint8_t)pt_op_space(op),
                                                .thread = pt_op_has_thread(op),
                                                .object = pt_op_has_object(op),
                                                .partial = pt_op_may_be_partial(op),
                                                .ordered = pt_op_may_be_ordered(op)};
    for (unsigned tag = 0; tag <= UINT8_MAX; tag++) {
        unsigned op = tag & PT_TAG_OP_MASK, kind = tag >> PT_TAG_OP_BITS;
        reader->apart[tag] = op >= PT_OP_COUNT || !pt_op_has_thread(op) || op == PT_OP_FENCE || kind == PT_VALUE_UINT ||
                             kind == PT_VALUE_BOOL || kind >= PT_VALUE_STRING;
    }
    return reader;
}

static void release(void *state)
{
    struct pt_binary_reader *reader = state;
    for (int i = 0; i <= PT_SPACE_COUNT; i++)
        free(reader->maps[i].ids);
    pt_ahead_stop(reader->ahead);
    for (int i = 0; i < PT_BLOCKS_AHEAD; i++)
        pt_binary_block_free(reader->pieces[i]);
    pt_binary_block_free(reader->own);
    pt_binary_block_free(reader->defines);
    ZSTD_freeDCtx(reader->defines_zstd);
    pt_binary_index_release(&reader->index);
    ZSTD_freeDCtx(reader->taker.zstd);
    free(reader->clock);
    free(reader);
}

/* The end of the intact part. */
static enum pt_read torn(struct pt_binary_reader *reader, const char *why, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, reader->label, 0, 0, "the trace is torn at byte %llu, after %llu records: %s",
              (unsigned long long)reader->block->offset, (unsigned long long)reader->records, why);
    return PT_READ_TORN;
}

/* A block that has the right checksum and the wrong contents. */
static enum pt_read hostile(struct pt_binary_reader *reader, const char *why, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, reader->label, 0, 0, "the block at byte %llu is malformed: %s",
              (unsigned long long)reader->block->offset, why);
    return PT_READ_ERROR;
}

static enum pt_read bad_event(struct pt_binary_reader *reader, const char *why, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, reader->label, reader->records + reader->row + 1, 0, "the event is malformed: %s", why);
    return PT_READ_ERROR;
}

static enum pt_read read_file_header(struct pt_binary_reader *reader, struct pt_input *input, struct pt_err *err)
{
    if (!pt_block_want(input, PT_BINARY_HEADER_LEN, reader->label, err))
        return PT_READ_ERROR;
    if (pt_input_left(input) < PT_BINARY_HEADER_LEN)
        return torn(reader, "the file header is incomplete", err);
    uint32_t version = pt_block_get32(pt_block_at(input) + 8);
    if (version != PT_BINARY_VERSION || pt_block_get32(pt_block_at(input) + 12) != 0) {
        pt_err_at(err, PT_EINPUT, reader->label, 0, 0,
                  "the binary trace has version %u, and this program reads version %d", version, PT_BINARY_VERSION);
        return PT_READ_ERROR;
    }
    input->pos += PT_BINARY_HEADER_LEN;
    reader->header_read = true;
    return PT_READ_EVENT;
}

/* --- rows --- */

/* The columns that few traces have: whether each row may have what it has there. */
static bool check_more(const struct pt_binary_reader *reader)
{
    const struct pt_columns *columns = reader->columns;
    uint32_t stacks = reader->maps[PT_SPACE_STACK].len;
    bool bad = columns->any_clock;
    for (uint32_t row = 0; columns->any_order && row < columns->len; row++)
        bad |= columns->order[row] >= PT_MEMORY_COUNT ||
               (columns->order[row] && !reader->rules[columns->tag[row] & PT_TAG_OP_MASK].ordered);
    for (uint32_t row = 0; columns->any_stack && row < columns->len; row++)
        bad |= columns->stack[row] >= stacks || (columns->stack[row] && !columns->thread[row]);
    for (uint32_t row = 0; columns->any_bytes && row < columns->len; row++) {
        uint32_t bytes = columns->bytes[row], from = bytes >> 16, to = bytes & UINT16_MAX;
        bad |=
            bytes && (from >= to || to > PT_EVENT_BYTES || !reader->rules[columns->tag[row] & PT_TAG_OP_MASK].partial);
    }
    return !bad;
}

static void settle_tags(struct pt_binary_reader *reader)
{
    uint32_t threads = reader->maps[PT_SPACE_THREAD].len;
    for (int op = 0; op < PT_OP_COUNT; op++)
        reader->rules[op].ids = reader->maps[reader->rules[op].space].ids;
    for (unsigned tag = 0; tag <= UINT8_MAX; tag++) {
        const struct pt_op_rule *rule = &reader->rules[tag & PT_TAG_OP_MASK];
        unsigned kind = tag >> PT_TAG_OP_BITS;
        uint32_t objects = rule->kinds ? reader->maps[rule->space].len : 0;
        reader->tags[tag] = (struct pt_tag_rule){.least_thread = rule->thread,
                                                 .threads = rule->thread ? threads - 1 : 1,
                                                 .least_object = rule->object,
                                                 .objects = rule->object ? objects - 1 : 1,
                                                 .no_value = kind == PT_VALUE_UNKNOWN ? UINT64_MAX : 0};
        if (!(rule->kinds >> kind & 1))
            reader->tags[tag].threads = 0;
    }
}

/* Whether each row has the parts of its operation, and names that are defined. No branches: & and |, not && and ||. */
static void check_rows(struct pt_binary_reader *reader)
{
    const struct pt_columns *columns = reader->columns;
    uint32_t locs = reader->maps[PT_SPACE_LOC].len - 1;
    uint64_t bad = 0;
    settle_tags(reader);
    for (uint32_t row = 0; row < columns->len; row++) {
        const struct pt_tag_rule *rule = &reader->tags[columns->tag[row]];
        bad |= (columns->thread[row] - rule->least_thread >= rule->threads) |
               (columns->object[row] - rule->least_object >= rule->objects) | (columns->loc[row] - 1 >= locs);
        bad |= (uint64_t)columns->value[row] & rule->no_value;
    }
    bool more =
        columns->any_time || columns->any_order || columns->any_stack || columns->any_bytes || columns->any_clock;
    reader->rows = bad || !check_more(reader) ? ROWS_ANY : more ? ROWS_GOOD : ROWS_SHORT;
}

/* The present block, whose checksum is good: its names, and whether its rows can be believed. */
static enum pt_read open_block(struct pt_binary_reader *reader, struct pt_err *err)
{
    const char *problem = pt_binary_names(reader, reader->block, NULL);
    if (!problem && !reader->block->columns_good)
        problem = "its columns are inconsistent";
    if (!problem && reader->index.rows)
        problem = pt_binary_names_needed(reader);
    if (problem)
        return hostile(reader, problem, err);
    check_rows(reader);
    reader->row = 0;
    reader->clock_at = 0;
    return PT_READ_EVENT;
}

/* Of a file that is not at hand already another thread takes the blocks, from the second one on. */
static void start_ahead(struct pt_binary_reader *reader, const struct pt_input *input)
{
    struct stat st;
    if (reader->pieces[0] || !reader->own->header.events || input->fd < 0 || fstat(input->fd, &st) != 0 ||
        !S_ISREG(st.st_mode) || input->offset + input->end >= (uint64_t)st.st_size)
        return;
    for (int i = 0; i < PT_BLOCKS_AHEAD; i++)
        reader->pieces[i] = pt_binary_block_new();
    reader->ahead = pt_ahead_start(pt_block_take, &reader->taker, (void **)reader->pieces, PT_BLOCKS_AHEAD);
}

static void next_block(struct pt_binary_reader *reader)
{
    if (reader->ahead) {
        reader->block = pt_ahead_next(reader->ahead);
    } else {
        reader->block = reader->own;
        (void)pt_block_take(&reader->taker, reader->own);
    }
    reader->columns = reader->block->columns;
    reader->records = reader->block->before;
}

/* The next block into the columns; PT_READ_END at the end marker. */
static enum pt_read read_block(struct pt_binary_reader *reader, struct pt_input *input, struct pt_err *err)
{
    reader->row = 0;
    if (!reader->header_read) {
        enum pt_read got = read_file_header(reader, input, err);
        if (got != PT_READ_EVENT)
            return got;
        reader->taker.input = input;
    }
    start_ahead(reader, input);
    next_block(reader);
    const struct pt_binary_block *block = reader->block;
    switch (block->found) {
    case PT_BLOCK_GOOD:
        return open_block(reader, err);
    case PT_BLOCK_END:
        return PT_READ_END;
    case PT_BLOCK_TORN:
        return torn(reader, block->why, err);
    case PT_BLOCK_HOSTILE:
        return hostile(reader, block->why, err);
    case PT_BLOCK_FAILED:
        break;
    }
    *err = block->err;
    return PT_READ_ERROR;
}

/* Values other than integers; false when the bits are no value of the kind. */
static bool check_value(const struct pt_binary_reader *reader, struct pt_value *value)
{
    const struct pt_binary_ids *strings = &reader->maps[PT_SPACE_STRING];
    switch (value->kind) {
    case PT_VALUE_UINT:
        return value->i < 0;
    case PT_VALUE_BOOL:
        return value->u <= 1;
    case PT_VALUE_STRING:
        if (value->u == 0 || value->u >= strings->len)
            return false;
        const struct pt_strtab *tab = &reader->names->space[PT_SPACE_STRING];
        uint32_t id = strings->ids[value->u];
        *value = pt_value_string(pt_strtab_text(tab, id), pt_strtab_len(tab, id));
        return true;
    default:
        return true;
    }
}

static bool take_clock(struct pt_binary_reader *reader, uint32_t len, struct pt_event *event)
{
    const struct pt_columns *columns = reader->columns;
    const struct pt_binary_ids *threads = &reader->maps[PT_SPACE_THREAD];
    PT_GROW(reader->clock, reader->clock_cap, len);
    for (uint32_t i = 0; i < len; i++) {
        uint32_t thread = columns->clock_thread[reader->clock_at + i];
        if (thread == 0 || thread >= threads->len)
            return false;
        reader->clock[i] = (struct pt_clock_entry){threads->ids[thread], columns->clock_count[reader->clock_at + i]};
    }
    reader->clock_at += len;
    event->clock = reader->clock;
    event->clock_len = len;
    return true;
}

/* The bytes; false when they are none, or the operation has none. */
static bool take_bytes(const struct pt_binary_reader *reader, struct pt_event *event)
{
    uint32_t bytes = reader->columns->any_bytes ? reader->columns->bytes[reader->row] : 0;
    event->from = (uint16_t)(bytes >> 16);
    event->to = (uint16_t)bytes;
    return !bytes || (event->from < event->to && event->to <= PT_EVENT_BYTES && pt_op_may_be_partial(event->op));
}

/* The order, the stack and the text of a stack; false when they are not what the operation may have. */
static bool take_more(const struct pt_binary_reader *reader, struct pt_event *event)
{
    const struct pt_columns *columns = reader->columns;
    const struct pt_binary_ids *stacks = &reader->maps[PT_SPACE_STACK];
    uint32_t stack = columns->any_stack ? columns->stack[reader->row] : 0;
    size_t at;
    event->order = columns->any_order ? columns->order[reader->row] : PT_MEMORY_NONE;
    event->stack = 0;
    if (event->order >= PT_MEMORY_COUNT || stack >= stacks->len || (stack && !pt_op_has_thread(event->op)) ||
        (event->order && !pt_op_may_be_ordered(event->op)) || (event->op == PT_OP_FENCE && !event->order))
        return false;
    if (stack)
        event->stack = stacks->ids[stack] + 1;
    return event->op != PT_OP_STACK || !pt_stack_problem(event->value.s, event->value.len, &at);
}

/* The event of the present row. */
static enum pt_read take_event(struct pt_binary_reader *reader, struct pt_event *event, struct pt_err *err)
{
    const struct pt_columns *columns = reader->columns;
    uint32_t row = reader->row;
    unsigned op = columns->tag[row] & PT_TAG_OP_MASK, kind = columns->tag[row] >> PT_TAG_OP_BITS;
    const struct pt_op_rule *rule = &reader->rules[op];
    const struct pt_binary_ids *threads = &reader->maps[PT_SPACE_THREAD], *objects = &reader->maps[rule->space],
                               *locs = &reader->maps[PT_SPACE_LOC];
    uint32_t thread = columns->thread[row], object = columns->object[row], loc = columns->loc[row];
    bool bad_ids = thread >= threads->len || object >= objects->len || loc >= locs->len;
    bool bad_parts = (thread != 0) != rule->thread || (object != 0) != (rule->space != PT_SPACE_COUNT) || loc == 0;
    if (bad_ids || bad_parts || !(rule->kinds >> kind & 1)) /* an op that does not exist allows no kind */
        return bad_event(reader, "it has an undefined name or not the parts of its operation", err);
    event->line = reader->records + row + 1;
    event->op = (uint8_t)op;
    event->thread = threads->ids[thread];
    event->object = objects->ids[object];
    event->loc = locs->ids[loc];
    event->value = (struct pt_value){.kind = kind, .i = columns->value[row]};
    if (kind == PT_VALUE_UNKNOWN ? event->value.i != 0 : kind > PT_VALUE_INT && !check_value(reader, &event->value))
        return bad_event(reader, "its value is not one of its kind", err);
    if (!take_more(reader, event) || !take_bytes(reader, event))
        return bad_event(reader, "its order, its bytes, its stack or a stack's text is none", err);
    event->has_time = columns->any_time && columns->timed[row];
    event->time = event->has_time ? columns->time[row] : 0;
    event->clock = NULL;
    event->clock_len = 0;
    if (columns->any_clock && columns->clock_len[row] && !take_clock(reader, columns->clock_len[row], event))
        return bad_event(reader, "its clock names an undefined thread", err);
    if (op == PT_OP_INIT ? reader->seen_event : op == PT_OP_CLOCK && !event->has_time)
        return bad_event(
            reader, op == PT_OP_INIT ? "initial values must come before the first event" : "'clock' needs a time", err);
    reader->seen_event |= rule->thread;
    reader->row++;
    return PT_READ_EVENT;
}

/* The same of a row that is known to obey its rules; `more`: some rows have a time, an order, bytes or a stack. */
static inline void take_plain(const struct pt_binary_reader *reader, uint32_t row, struct pt_event *event, bool more)
{
    const struct pt_columns *columns = reader->columns;
    unsigned op = columns->tag[row] & PT_TAG_OP_MASK;
    uint32_t bytes = more && columns->any_bytes ? columns->bytes[row] : 0;
    uint32_t stack = more && columns->any_stack ? columns->stack[row] : 0;
    bool timed = more && columns->any_time && columns->timed[row];
    *event = (struct pt_event){
        .line = reader->records + row + 1,
        .op = (uint8_t)op,
        .order = more && columns->any_order ? columns->order[row] : PT_MEMORY_NONE,
        .has_time = timed,
        .from = (uint16_t)(bytes >> 16),
        .to = (uint16_t)bytes,
        .thread = reader->maps[PT_SPACE_THREAD].ids[columns->thread[row]],
        .object = reader->rules[op].ids[columns->object[row]],
        .loc = reader->maps[PT_SPACE_LOC].ids[columns->loc[row]],
        .stack = stack ? reader->maps[PT_SPACE_STACK].ids[stack] + 1 : 0,
        .value = {.kind = columns->tag[row] >> PT_TAG_OP_BITS, .i = columns->value[row]},
        .time = timed ? columns->time[row] : 0,
    };
}

static void next_plain(struct pt_binary_reader *reader, struct pt_event *event, bool more)
{
    uint32_t row = reader->row++;
    take_plain(reader, row, event, more);
    reader->seen_event = true; /* others are apart */
}

/* Whatever the next event is. */
static __attribute__((noinline)) enum pt_read take_any(struct pt_file_source *file, struct pt_event *event,
                                                       struct pt_err *err)
{
    struct pt_binary_reader *reader = file->state;
    if (reader->row == reader->columns->len) {
        enum pt_read got = read_block(reader, &file->input, err);
        if (got != PT_READ_EVENT)
            return got;
    }
    if (reader->rows == ROWS_ANY || reader->apart[reader->columns->tag[reader->row]])
        return take_event(reader, event, err);
    next_plain(reader, event, true);
    return PT_READ_EVENT;
}

static enum pt_read next(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct pt_file_source *file = (struct pt_file_source *)source;
    struct pt_binary_reader *reader = file->state;
    if (reader->rows != ROWS_SHORT || reader->row == reader->columns->len ||
        reader->apart[reader->columns->tag[reader->row]])
        return take_any(file, ret_event, err);
    next_plain(reader, ret_event, false);
    return PT_READ_EVENT;
}

/* Rows of the present block that need no look by themselves. */
static uint32_t some(struct pt_source *source, struct pt_event *events, uint32_t most)
{
    struct pt_binary_reader *reader = ((struct pt_file_source *)source)->state;
    const uint8_t *tag = reader->columns->tag;
    uint32_t row = reader->row, left = reader->columns->len - row, end = row + (left < most ? left : most), count = 0;
    if (reader->rows == ROWS_ANY)
        return 0;
    if (reader->rows == ROWS_SHORT)
        while (row < end && !reader->apart[tag[row]])
            take_plain(reader, row++, &events[count++], false);
    else
        while (row < end && !reader->apart[tag[row]])
            take_plain(reader, row++, &events[count++], true);
    reader->row = row;
    reader->seen_event |= count > 0;
    return count;
}

static bool has_next(void *state, struct pt_input *input)
{
    const struct pt_binary_reader *reader = state;
    if (reader->row < reader->columns->len || reader->ahead || input->eof)
        return true;
    size_t skip = reader->header_read ? 0 : PT_BINARY_HEADER_LEN, left = pt_input_left(input);
    if (left < skip + PT_BLOCK_HEADER_LEN)
        return false;
    struct pt_block_header header = pt_block_parse(pt_block_at(input) + skip);
    if (!pt_block_is_plausible(pt_block_at(input) + skip, &header))
        return true;
    /* The end marker is followed by the end of the input, which takes one more read to see. */
    return left >= skip + PT_BLOCK_HEADER_LEN + header.stored_len + header.is_end;
}

const struct pt_format pt_format_binary = {
    .name = "binary",
    .unit = PT_UNIT_RECORD,
    .ending = ".ptb",
    .magic = pt_binary_magic,
    .magic_len = PT_BINARY_MAGIC_LEN,
    .open = open_binary,
    .next = next,
    .some = some,
    .seek = pt_binary_seek,
    .has_next = has_next,
    .release = release,
    .encoder = &pt_binary_encoder,
};
