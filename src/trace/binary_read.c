/*
 * Reading the binary form (binary.h). A block is checked, decompressed and widened to columns as a whole, and its rows
 * are checked against the rules of their operations in one loop without branches, which would be mispredicted at every
 * other row. Where all obey, events are put together without a further look. Otherwise, and for the few operations and
 * kinds of value that ask for more, each event is checked by itself.
 *
 * Guarantee: a hostile file gives an error at the first event that breaks a rule, and all before it are delivered.
 * Memory: one block, stored and decoded, plus the names.
 */
#include "trace/binary.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "trace/oprule.h"

const uint8_t pt_binary_magic[] = {0x89, 'P', 'T', 'T', 'R', 'A', 'C', '\n'};
const uint8_t pt_block_magic[] = {'P', 'T', 'B', 'L'};
const uint8_t pt_block_end_magic[] = {'P', 'T', 'E', 'N'};

/* Ids of the file, plus 1, to ids of the names; slot 0 is PT_NONE. */
struct id_map {
    uint32_t *ids;
    uint32_t len;
    size_t cap;
};

/* What a tag's op allows. */
struct op_rule {
    uint8_t kinds; /* set of kinds of value */
    uint8_t space; /* of the object; PT_SPACE_COUNT: none */
    bool thread;   /* has one */
    bool object, partial, ordered;
    const uint32_t *ids; /* of its objects, as of the present block */
};

/* What the columns of a row with that tag must be, as of the present block: `thread` and `object` from `least` on, so
 * many; where the tag is none of a possible event, none. */
struct tag_rule {
    uint32_t least_thread, threads, least_object, objects;
    uint64_t no_value; /* all bits: the value is 0 */
};

struct block_header {
    bool is_end;
    uint32_t events, raw_len, stored_len;
    uint64_t events_before, checksum;
};

struct reader {
    const char *label;
    struct pt_names *names;
    bool header_read;
    bool seen_event;  /* anything but init and clock */
    bool ended;       /* the end marker was read */
    uint64_t records; /* events in the blocks before the present one */
    uint64_t blocks;
    uint64_t block_offset; /* of the present block in the file */
    uint32_t row;          /* next event of the present block */
    size_t clock_at;       /* its first clock entry */
    struct pt_columns *columns;
    struct id_map maps[PT_SPACE_COUNT + 1]; /* the last one knows "none" only */
    struct op_rule rules[PT_TAG_OP_MASK + 1];
    struct tag_rule tags[UINT8_MAX + 1];
    bool apart[UINT8_MAX + 1]; /* by tag: its rows are checked one by one */
    enum {
        ROWS_ANY,
        ROWS_GOOD,
        ROWS_SHORT
    } rows; /* of the present block: unchecked; all others obey their rules; and
               none has a time, an order, bytes, a stack or a clock */
    uint8_t *raw;
    size_t raw_cap;
    ZSTD_DCtx *zstd;
    struct pt_clock_entry *clock;
    size_t clock_cap;
};

uint64_t pt_block_checksum(const void *header, const void *stored, size_t len)
{
    return XXH3_64bits_withSeed(stored, len, XXH3_64bits(header, PT_BLOCK_CHECKED_LEN));
}

static void *open_binary(const struct pt_source *source)
{
    static const uint8_t kinds[] = {
        [PT_VALUE_NEVER] = 1 << PT_VALUE_UNKNOWN,
        [PT_VALUE_MUST] = (2 << PT_VALUE_STRING) - 1 - (1 << PT_VALUE_UNKNOWN),
        [PT_VALUE_MAY] = (2 << PT_VALUE_STRING) - 1,
        [PT_VALUE_TEXT] = 1 << PT_VALUE_STRING,
    };
    struct reader *reader = pt_xcalloc(1, sizeof *reader);
    reader->label = source->label;
    reader->names = source->names;
    reader->columns = pt_columns_new();
    reader->zstd = ZSTD_createDCtx();
    assert(reader->zstd); /* else out of memory */
    for (int i = 0; i <= PT_SPACE_COUNT; i++) {
        struct id_map *map = &reader->maps[i];
        PT_PUSH(map->ids, map->len, map->cap, PT_NONE);
    }
    for (int op = 0; op < PT_OP_COUNT; op++)
        reader->rules[op] = (struct op_rule){.kinds = kinds[pt_op_value_rule(op)],
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
    struct reader *reader = state;
    for (int i = 0; i <= PT_SPACE_COUNT; i++)
        free(reader->maps[i].ids);
    pt_columns_free(reader->columns);
    ZSTD_freeDCtx(reader->zstd);
    free(reader->raw);
    free(reader->clock);
    free(reader);
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof n);
    return le32toh(n);
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof n);
    return le64toh(n);
}

/* The end of the intact part. */
static enum pt_read torn(struct reader *reader, const char *why, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, reader->label, 0, 0, "the trace is torn at byte %llu, after %llu records: %s",
              (unsigned long long)reader->block_offset, (unsigned long long)reader->records, why);
    return PT_READ_TORN;
}

/* A block that has the right checksum and the wrong contents. */
static enum pt_read hostile(struct reader *reader, const char *why, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, reader->label, 0, 0, "the block at byte %llu is malformed: %s",
              (unsigned long long)reader->block_offset, why);
    return PT_READ_ERROR;
}

static enum pt_read bad_event(struct reader *reader, const char *why, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, reader->label, reader->records + reader->row + 1, 0, "the event is malformed: %s", why);
    return PT_READ_ERROR;
}

/* Makes `need` bytes available, or as many as there are. */
static bool want(struct reader *reader, struct pt_input *input, size_t need, struct pt_err *err)
{
    while (pt_input_left(input) < need && !input->eof)
        if (pt_input_fill(input, reader->label, err) != PT_OK)
            return false;
    return true;
}

static const uint8_t *input_at(const struct pt_input *input)
{
    return (const uint8_t *)input->buf + input->pos;
}

static enum pt_read read_file_header(struct reader *reader, struct pt_input *input, struct pt_err *err)
{
    if (!want(reader, input, PT_BINARY_HEADER_LEN, err))
        return PT_READ_ERROR;
    if (pt_input_left(input) < PT_BINARY_HEADER_LEN)
        return torn(reader, "the file header is incomplete", err);
    uint32_t version = get32(input_at(input) + 8);
    if (version != PT_BINARY_VERSION || get32(input_at(input) + 12) != 0) {
        pt_err_at(err, PT_EINPUT, reader->label, 0, 0,
                  "the binary trace has version %u, and this program reads version %d", version, PT_BINARY_VERSION);
        return PT_READ_ERROR;
    }
    input->pos += PT_BINARY_HEADER_LEN;
    reader->header_read = true;
    return PT_READ_EVENT;
}

static struct block_header parse_header(const uint8_t *p)
{
    return (struct block_header){
        .is_end = memcmp(p, pt_block_end_magic, PT_BLOCK_MAGIC_LEN) == 0,
        .events = get32(p + 4),
        .raw_len = get32(p + 8),
        .stored_len = get32(p + 12),
        .events_before = get64(p + 16),
        .checksum = get64(p + 24),
    };
}

/* The lengths are believed only within these limits, even before the checksum can be known. */
static bool is_plausible(const uint8_t *p, const struct block_header *header)
{
    return (header->is_end || memcmp(p, pt_block_magic, PT_BLOCK_MAGIC_LEN) == 0) &&
           header->stored_len <= PT_BLOCK_BYTES;
}

/* Defines the names at the head of a payload; *ret_len is what they take. */
static enum pt_read read_names(struct reader *reader, const struct block_header *header, size_t *ret_len,
                               struct pt_err *err)
{
    const uint8_t *p = reader->raw, *end = p + header->raw_len;
    uint32_t count = get32(p), len = get32(p + 4);
    p += PT_NAMES_HEADER_LEN;
    if (len > (size_t)(end - p))
        return hostile(reader, "it is too short for its names", err);
    if (header->stored_len != header->raw_len && len > (uint64_t)header->stored_len * PT_NAMES_RATIO)
        return hostile(reader, "its names are compressed beyond the limit", err);
    end = p + len;
    for (uint32_t i = 0; i < count; i++) {
        if (end - p < PT_NAME_HEADER_LEN)
            return hostile(reader, "a name is cut off", err);
        unsigned space = p[0];
        size_t name_len = get32(p + 1), at;
        p += PT_NAME_HEADER_LEN;
        if (space >= PT_SPACE_COUNT || name_len > (size_t)(end - p) || name_len > PT_LINE_MAX)
            return hostile(reader, "a name has an impossible space or length", err);
        const char *problem = pt_name_problem(space, (const char *)p, name_len, &at);
        if (problem)
            return hostile(reader, problem, err);
        struct id_map *map = &reader->maps[space];
        uint32_t id = pt_strtab_intern(&reader->names->space[space], (const char *)p, name_len);
        PT_PUSH(map->ids, map->len, map->cap, id);
        p += name_len;
    }
    if (p != end)
        return hostile(reader, "its names are longer than they say", err);
    *ret_len = PT_NAMES_HEADER_LEN + len;
    return PT_READ_EVENT;
}

/* The columns that few traces have: whether each row may have what it has there. */
static bool check_more(const struct reader *reader)
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

static void settle_tags(struct reader *reader)
{
    uint32_t threads = reader->maps[PT_SPACE_THREAD].len;
    for (int op = 0; op < PT_OP_COUNT; op++)
        reader->rules[op].ids = reader->maps[reader->rules[op].space].ids;
    for (unsigned tag = 0; tag <= UINT8_MAX; tag++) {
        const struct op_rule *rule = &reader->rules[tag & PT_TAG_OP_MASK];
        unsigned kind = tag >> PT_TAG_OP_BITS;
        uint32_t objects = rule->kinds ? reader->maps[rule->space].len : 0;
        reader->tags[tag] = (struct tag_rule){.least_thread = rule->thread,
                                              .threads = rule->thread ? threads - 1 : 1,
                                              .least_object = rule->object,
                                              .objects = rule->object ? objects - 1 : 1,
                                              .no_value = kind == PT_VALUE_UNKNOWN ? UINT64_MAX : 0};
        if (!(rule->kinds >> kind & 1))
            reader->tags[tag].threads = 0;
    }
}

/* Whether each row has the parts of its operation, and names that are defined. No branches: & and |, not && and ||. */
static void check_rows(struct reader *reader)
{
    const struct pt_columns *columns = reader->columns;
    uint32_t locs = reader->maps[PT_SPACE_LOC].len - 1;
    uint64_t bad = 0;
    settle_tags(reader);
    for (uint32_t row = 0; row < columns->len; row++) {
        const struct tag_rule *rule = &reader->tags[columns->tag[row]];
        bad |= (columns->thread[row] - rule->least_thread >= rule->threads) |
               (columns->object[row] - rule->least_object >= rule->objects) | (columns->loc[row] - 1 >= locs);
        bad |= (uint64_t)columns->value[row] & rule->no_value;
    }
    bool more =
        columns->any_time || columns->any_order || columns->any_stack || columns->any_bytes || columns->any_clock;
    reader->rows = bad || !check_more(reader) ? ROWS_ANY : more ? ROWS_GOOD : ROWS_SHORT;
}

/* The payload, whose checksum is good, to names and columns. */
static enum pt_read decode(struct reader *reader, const struct block_header *header, const uint8_t *stored,
                           struct pt_err *err)
{
    if (header->raw_len < PT_NAMES_HEADER_LEN || header->raw_len > PT_BLOCK_BYTES || header->events == 0 ||
        header->events > PT_BLOCK_EVENTS)
        return hostile(reader, "its size is beyond the limits", err);
    PT_GROW(reader->raw, reader->raw_cap, header->raw_len);
    if (header->stored_len == header->raw_len) {
        memcpy(reader->raw, stored, header->raw_len);
    } else {
        size_t got = ZSTD_decompressDCtx(reader->zstd, reader->raw, header->raw_len, stored, header->stored_len);
        if (ZSTD_isError(got) || got != header->raw_len)
            return hostile(reader, "it cannot be decompressed", err);
    }
    size_t names_len;
    enum pt_read got = read_names(reader, header, &names_len, err);
    if (got != PT_READ_EVENT)
        return got;
    if (!pt_columns_decode(reader->columns, header->events, reader->raw + names_len, header->raw_len - names_len))
        return hostile(reader, "its columns are inconsistent", err);
    check_rows(reader);
    reader->row = 0;
    reader->clock_at = 0;
    return PT_READ_EVENT;
}

static enum pt_read read_end(struct reader *reader, struct pt_input *input, const struct block_header *header,
                             struct pt_err *err)
{
    if (header->events || header->raw_len || header->stored_len)
        return hostile(reader, "the end marker is not empty", err);
    input->pos += PT_BLOCK_HEADER_LEN;
    reader->block_offset += PT_BLOCK_HEADER_LEN;
    if (!want(reader, input, 1, err))
        return PT_READ_ERROR;
    if (pt_input_left(input))
        return torn(reader, "bytes follow the end marker", err);
    return PT_READ_END;
}

/* The next block into the columns; PT_READ_END at the end marker. */
static enum pt_read read_block(struct reader *reader, struct pt_input *input, struct pt_err *err)
{
    reader->records += reader->columns->len;
    reader->columns->len = reader->row = 0;
    reader->block_offset = input->offset + input->pos;
    if (!reader->header_read) {
        enum pt_read got = read_file_header(reader, input, err);
        if (got != PT_READ_EVENT)
            return got;
        reader->block_offset += PT_BINARY_HEADER_LEN;
    }
    if (!want(reader, input, PT_BLOCK_HEADER_LEN, err))
        return PT_READ_ERROR;
    if (pt_input_left(input) < PT_BLOCK_HEADER_LEN)
        return torn(reader, pt_input_left(input) ? "a block is incomplete" : "the end marker is missing", err);
    struct block_header header = parse_header(input_at(input));
    if (!is_plausible(input_at(input), &header))
        return torn(reader, "what stands there is no block", err);
    size_t len = PT_BLOCK_HEADER_LEN + header.stored_len;
    if (!want(reader, input, len, err))
        return PT_READ_ERROR;
    if (pt_input_left(input) < len)
        return torn(reader, "a block is incomplete", err);
    const uint8_t *p = input_at(input), *stored = p + PT_BLOCK_HEADER_LEN;
    if (pt_block_checksum(p, stored, header.stored_len) != header.checksum)
        return torn(reader, "a block is damaged (its checksum differs)", err);
    if (header.events_before != reader->records)
        return torn(reader, "a block is missing or out of place", err);
    if (header.is_end)
        return read_end(reader, input, &header, err);
    enum pt_read got = decode(reader, &header, stored, err);
    input->pos += len;
    return got;
}

/* Values other than integers; false when the bits are no value of the kind. */
static bool check_value(const struct reader *reader, struct pt_value *value)
{
    const struct id_map *strings = &reader->maps[PT_SPACE_STRING];
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

static bool take_clock(struct reader *reader, uint32_t len, struct pt_event *event)
{
    const struct pt_columns *columns = reader->columns;
    const struct id_map *threads = &reader->maps[PT_SPACE_THREAD];
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
static bool take_bytes(const struct reader *reader, struct pt_event *event)
{
    uint32_t bytes = reader->columns->any_bytes ? reader->columns->bytes[reader->row] : 0;
    event->from = (uint16_t)(bytes >> 16);
    event->to = (uint16_t)bytes;
    return !bytes || (event->from < event->to && event->to <= PT_EVENT_BYTES && pt_op_may_be_partial(event->op));
}

/* The order, the stack and the text of a stack; false when they are not what the operation may have. */
static bool take_more(const struct reader *reader, struct pt_event *event)
{
    const struct pt_columns *columns = reader->columns;
    const struct id_map *stacks = &reader->maps[PT_SPACE_STACK];
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
static enum pt_read take_event(struct reader *reader, struct pt_event *event, struct pt_err *err)
{
    const struct pt_columns *columns = reader->columns;
    uint32_t row = reader->row;
    unsigned op = columns->tag[row] & PT_TAG_OP_MASK, kind = columns->tag[row] >> PT_TAG_OP_BITS;
    const struct op_rule *rule = &reader->rules[op];
    const struct id_map *threads = &reader->maps[PT_SPACE_THREAD], *objects = &reader->maps[rule->space],
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
static inline void take_plain(const struct reader *reader, uint32_t row, struct pt_event *event, bool more)
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

static void next_plain(struct reader *reader, struct pt_event *event, bool more)
{
    uint32_t row = reader->row++;
    take_plain(reader, row, event, more);
    reader->seen_event = true; /* others are apart */
}

/* Whatever the next event is. */
static __attribute__((noinline)) enum pt_read take_any(struct pt_file_source *file, struct pt_event *event,
                                                       struct pt_err *err)
{
    struct reader *reader = file->state;
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
    struct reader *reader = file->state;
    if (reader->rows != ROWS_SHORT || reader->row == reader->columns->len ||
        reader->apart[reader->columns->tag[reader->row]])
        return take_any(file, ret_event, err);
    next_plain(reader, ret_event, false);
    return PT_READ_EVENT;
}

/* Rows of the present block that need no look by themselves. */
static uint32_t some(struct pt_source *source, struct pt_event *events, uint32_t most)
{
    struct reader *reader = ((struct pt_file_source *)source)->state;
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
    const struct reader *reader = state;
    if (reader->row < reader->columns->len || input->eof)
        return true;
    size_t skip = reader->header_read ? 0 : PT_BINARY_HEADER_LEN, left = pt_input_left(input);
    if (left < skip + PT_BLOCK_HEADER_LEN)
        return false;
    struct block_header header = parse_header(input_at(input) + skip);
    if (!is_plausible(input_at(input) + skip, &header))
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
    .has_next = has_next,
    .release = release,
    .encoder = &pt_binary_encoder,
};
