/*
 * The text form (contract section 3), read line by line in one pass over the bytes:
 *
 *     line  := THREAD '|' op '|' LOC ('|' field)*        op := WORD '(' NAME ')' ('=' value)? | 'clock' | 'fence'
 *     field := 't=' NANOSECONDS | 'c=' THREAD ':' COUNT (',' THREAD ':' COUNT)*          each at most once
 *            | 'm=' ORDER | 's=' NAME | 'b=' BYTE '-' BYTE
 *
 * Blank lines and lines that start with '#' are skipped; a line may end in CR LF. A NAME may hold anything but '|':
 * it ends at the last ')' that is followed by '=' or by the end of the field, or before a string value, which starts at
 * the first `)="` of the field and may itself hold '|'. The NAME of a stack ends at the first ')=', and what follows is
 * its text. What a name may be is said in oprule.h.
 *
 * Guarantee: what is read is what was written. A file that ends within a line is torn there, once a line before it was
 * one of a trace: everything up to that line is used.
 *
 * Cost: time linear in the bytes; memory one buffer of at most two lines plus the names. Names repeat, and most are
 * short: a direct-mapped cache from the name's first 16 bytes to its id answers before the hash table is asked.
 * A name's bytes are checked when it is new, which costs nothing in the long run.
 */
#include "trace/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/format.h"
#include "trace/oprule.h"
#include "trace/valuetext.h"

enum { CACHE_BITS = 11, CACHE_SIZE = 1 << CACHE_BITS, CACHE_NAME_MAX = 16 };

struct cache_slot {
    uint64_t lo, hi; /* the name, padded with zeros */
    uint32_t len;    /* 0: the slot is free */
    uint32_t id;
};

/* A word of the table of operations: at home where the hash of its first bytes says, or in the next free slot. */
enum { WORD_BITS = 6, WORD_SLOTS = 1 << WORD_BITS };
_Static_assert(2 * PT_OP_COUNT <= WORD_SLOTS, "at least half of the slots stay free");

struct word_slot {
    uint64_t first; /* 8 bytes of the word, padded with zeros */
    uint32_t len;   /* 0: the slot is free */
    enum pt_op op;
};

/* The reader of one text. */
struct pt_text {
    const char *label;
    struct pt_names *names;
    uint64_t line_number;
    bool seen_line;  /* that is one of a trace */
    bool seen_event; /* anything but init and clock */
    bool cut;        /* the present line has no newline: the file ends in it */
    bool recording;  /* its end has been promised, and did not come yet */
    size_t scanned;  /* unread bytes known to hold no newline */
    const char *line, *end;
    struct pt_clock_entry *clock;
    size_t clock_len, clock_cap;
    struct word_slot words[WORD_SLOTS];
    struct cache_slot cache[PT_SPACE_COUNT][CACHE_SIZE];
};

/* The first n (at most 8) bytes as a word. May read up to 8 bytes: the buffer's padding allows it. */
static inline uint64_t load_word(const char *p, size_t n)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return n >= 8 ? word : word & ((UINT64_C(1) << (8 * n)) - 1);
}

static unsigned word_hash(uint64_t first)
{
    return (unsigned)(first * UINT64_C(0x9e3779b97f4a7c15) >> (64 - WORD_BITS));
}

static void add_word(struct pt_text *text, enum pt_op op)
{
    char bytes[8] = {0};
    size_t len = strlen(pt_op_word(op));
    memcpy(bytes, pt_op_word(op), len < sizeof bytes ? len : sizeof bytes);
    uint64_t first = load_word(bytes, sizeof bytes);
    unsigned i = word_hash(first);
    while (text->words[i].len)
        i = (i + 1) % WORD_SLOTS;
    text->words[i] = (struct word_slot){first, (uint32_t)len, op};
}

static void *open_text(const struct pt_source *source)
{
    struct pt_text *text = pt_xcalloc(1, sizeof *text);
    text->label = source->label;
    text->names = source->names;
    for (int op = 0; op < PT_OP_COUNT; op++)
        add_word(text, (enum pt_op)op);
    return text;
}

static void release(void *state)
{
    struct pt_text *text = state;
    free(text->clock);
    free(text);
}

/* An error in the present line; false, so that parse functions can return it. */
static PT_PRINTF(4, 5) __attribute__((cold)) bool fail(const struct pt_text *text, const char *at, struct pt_err *err,
                                                       const char *fmt, ...)
{
    char message[sizeof err->message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    for (char *c = message; *c; c++) /* it may quote the line, which goes to a terminal */
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    uint32_t column = (uint32_t)(at - text->line) + 1;
    pt_err_at(err, PT_EINPUT, text->label, text->line_number, column, "%s", message);
    pt_err_source(err, text->line, (size_t)(text->end - text->line));
    return false;
}

/* Interns a name that is not in the cache; its bytes are looked at when it is new. */
static bool intern_slow(struct pt_text *text, enum pt_space space, const char *p, size_t len, uint32_t *ret_id,
                        struct pt_err *err)
{
    struct pt_strtab *tab = &text->names->space[space];
    uint32_t id = pt_strtab_find(tab, p, len);
    if (id == PT_NONE) {
        size_t at = 0;
        const char *problem = pt_name_problem(space, p, len, &at);
        if (problem)
            return fail(text, p + at, err, "%s", problem);
        id = pt_strtab_intern(tab, p, len);
    }
    *ret_id = id;
    return true;
}

static inline bool intern(struct pt_text *text, enum pt_space space, const char *p, size_t len, uint32_t *ret_id,
                          struct pt_err *err)
{
    if (len == 0 || len > CACHE_NAME_MAX)
        return intern_slow(text, space, p, len, ret_id, err);
    uint64_t lo = load_word(p, len), hi = len > 8 ? load_word(p + 8, len - 8) : 0;
    uint64_t hash = (lo ^ (hi * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xd6e8feb86659fd93);
    struct cache_slot *slot = &text->cache[space][hash >> (64 - CACHE_BITS)];
    if (slot->lo != lo || slot->hi != hi || slot->len != len) {
        uint32_t id = PT_NONE;
        if (!intern_slow(text, space, p, len, &id, err))
            return false;
        *slot = (struct cache_slot){lo, hi, (uint32_t)len, id};
    }
    *ret_id = slot->id;
    return true;
}

/* The operation of a word, PT_OP_COUNT when there is none. */
static inline enum pt_op find_op(const struct pt_text *text, const char *p, size_t len)
{
    uint64_t first = load_word(p, len);
    for (unsigned i = word_hash(first); text->words[i].len; i = (i + 1) % WORD_SLOTS) {
        const struct word_slot *slot = &text->words[i];
        if (slot->first == first && slot->len == len && (len <= 8 || memcmp(p, pt_op_word(slot->op), len) == 0))
            return slot->op;
    }
    return PT_OP_COUNT;
}

/* The op field: where it ends, and the ')' that ends its name (NULL: none). */
struct op_field {
    const char *end, *close;
};

static struct op_field split_op(const char *op, const char *end)
{
    struct op_field f = {op, NULL};
    const char *quote = NULL;
    for (; f.end < end && *f.end != '|'; f.end++) {
        if (*f.end == ')' && (f.end + 1 == end || f.end[1] == '=' || f.end[1] == '|'))
            f.close = f.end;
        else if (*f.end == '"' && f.end - op >= 2 && f.end[-1] == '=' && f.end[-2] == ')') {
            quote = f.end;
            break;
        }
    }
    if (!quote)
        return f;
    const char *last = pt_string_end(quote, end);
    const char *bar = memchr(last ? last : quote, '|', (size_t)(end - (last ? last : quote)));
    return (struct op_field){bar ? bar : end, quote - 2};
}

static bool parse_value(struct pt_text *text, const char *p, const char *end, struct pt_event *event,
                        struct pt_err *err)
{
    size_t len = (size_t)(end - p);
    if (len - 1 < 18) { /* most values are short decimal integers */
        uint64_t n;
        if (pt_u64_parse(p, len, &n)) {
            event->value = pt_value_int((int64_t)n);
            return true;
        }
    }
    struct pt_value_problem problem;
    if (!pt_value_parse(p, len, &text->names->space[PT_SPACE_STRING], &event->value, &problem))
        return fail(text, p + problem.at, err, "%s", problem.message);
    return true;
}

/* NAME ')=' text, of a stack. */
static bool parse_stack(struct pt_text *text, const char *p, const char *end, struct pt_event *event,
                        struct pt_err *err)
{
    size_t at = 0;
    const char *close = memmem(p, (size_t)(end - p), ")=", 2);
    if (!close)
        return fail(text, end, err, "'%s' needs a text: %s(ID)=FUNCTION file:line < CALLER file:line",
                    pt_op_word(event->op), pt_op_word(event->op));
    const char *from = close + 2;
    const char *problem = pt_stack_problem(from, (size_t)(end - from), &at);
    if (problem)
        return fail(text, from + at, err, "%s", problem);
    struct pt_strtab *strings = &text->names->space[PT_SPACE_STRING];
    uint32_t id = pt_strtab_intern(strings, from, (size_t)(end - from));
    event->value = pt_value_string(pt_strtab_text(strings, id), pt_strtab_len(strings, id));
    return intern(text, PT_SPACE_STACK, p, (size_t)(close - p), &event->object, err);
}

/* NAME ')' ('=' value)?, from the byte after '('. */
static bool parse_object(struct pt_text *text, const char *p, struct op_field field, struct pt_event *event,
                         struct pt_err *err)
{
    enum pt_op op = event->op;
    enum pt_value_rule rule = pt_op_value_rule(op);
    if (rule == PT_VALUE_TEXT)
        return parse_stack(text, p, field.end, event, err);
    if (!field.close || field.close < p)
        return fail(text, field.end, err, "the ')' of '%s(' is missing", pt_op_word(op));
    if (!intern(text, pt_op_space(op), p, (size_t)(field.close - p), &event->object, err))
        return false;
    if (field.close + 1 == field.end)
        return rule != PT_VALUE_MUST || fail(text, field.end, err, "'%s' needs a value", pt_op_word(op));
    if (rule == PT_VALUE_NEVER)
        return fail(text, field.close + 1, err, "'%s' takes no value", pt_op_word(op));
    return parse_value(text, field.close + 2, field.end, event, err);
}

/* The WORD of the op field and what may follow it; *ret_object is the byte after '(', NULL if it has none. */
static bool parse_op(struct pt_text *text, const char *p, struct op_field field, struct pt_event *event,
                     const char **ret_object, struct pt_err *err)
{
    const char *word_end = p;
    while (word_end < field.end && *word_end != '(')
        word_end++;
    int len = (int)(word_end - p);
    enum pt_op op = find_op(text, p, (size_t)len);
    if (op == PT_OP_COUNT)
        return fail(text, p, err, len ? "unknown operation '%.*s'" : "an operation is expected here",
                    len < 40 ? len : 40, p);
    event->op = (uint8_t)op;
    event->object = PT_NONE;
    event->value = (struct pt_value){0};
    *ret_object = pt_op_has_object(op) ? word_end + 1 : NULL;
    if (!pt_op_has_object(op))
        return word_end == field.end || fail(text, word_end, err, "'%s' takes no object", pt_op_word(op));
    return word_end < field.end || fail(text, word_end, err, "'%s' needs an object in parentheses", pt_op_word(op));
}

/* The THREAD field, once the operation is known. */
static bool parse_thread(struct pt_text *text, size_t len, struct pt_event *event, struct pt_err *err)
{
    const char *p = text->line;
    bool dash = len == 1 && *p == '-';
    if (pt_op_has_thread(event->op)) {
        text->seen_event = true;
        if (dash || len == 0)
            return fail(text, p, err, "'%s' needs a thread", pt_op_word(event->op));
        return intern(text, PT_SPACE_THREAD, p, len, &event->thread, err);
    }
    event->thread = PT_NONE;
    if (!dash)
        return fail(text, p, err, "'%s' belongs to no thread: write '-' for it", pt_op_word(event->op));
    if (event->op == PT_OP_INIT && text->seen_event)
        return fail(text, p, err, "initial values must come before the first event");
    return true;
}

/* The entries of c=, from p. The count of an entry follows its last ':'. */
static bool parse_clock(struct pt_text *text, const char *p, const char *end, struct pt_err *err)
{
    text->clock_len = 0;
    for (;; p++) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *entry_end = comma ? comma : end;
        const char *colon = memrchr(p, ':', (size_t)(entry_end - p));
        struct pt_clock_entry entry;
        if (!colon)
            return fail(text, p, err, "a clock entry THREAD:COUNT is expected here");
        if (!intern(text, PT_SPACE_THREAD, p, (size_t)(colon - p), &entry.thread, err))
            return false;
        if (!pt_u64_parse(colon + 1, (size_t)(entry_end - colon - 1), &entry.count))
            return fail(text, colon + 1, err, "the count of a clock entry must be an integer of at most 64 bits");
        PT_PUSH(text->clock, text->clock_len, text->clock_cap, entry);
        if (!comma)
            return true;
        p = comma;
    }
}

static bool parse_order(struct pt_text *text, const char *p, const char *end, struct pt_event *event,
                        struct pt_err *err)
{
    size_t len = (size_t)(end - p);
    for (unsigned i = PT_MEMORY_RELAXED; i < PT_MEMORY_COUNT; i++)
        if (strlen(pt_memory_words[i]) == len && memcmp(pt_memory_words[i], p, len) == 0)
            event->order = (uint8_t)i;
    if (!event->order)
        return fail(text, p, err, "an order is relaxed, acquire, release, acq_rel or seq_cst");
    return pt_op_may_be_ordered(event->op) || fail(text, p - 2, err, "'%s' has no order", pt_op_word(event->op));
}

static bool parse_stack_id(struct pt_text *text, const char *p, const char *end, struct pt_event *event,
                           struct pt_err *err)
{
    uint32_t id = PT_NONE;
    if (!pt_op_has_thread(event->op))
        return fail(text, p - 2, err, "'%s' has no stack", pt_op_word(event->op));
    if (!intern(text, PT_SPACE_STACK, p, (size_t)(end - p), &id, err))
        return false;
    event->stack = id + 1;
    return true;
}

/* b=FROM-TO, both included. */
static bool parse_bytes(struct pt_text *text, const char *p, const char *end, struct pt_event *event,
                        struct pt_err *err)
{
    const char *dash = memchr(p, '-', (size_t)(end - p));
    uint64_t from, last;
    if (!dash || !pt_u64_parse(p, (size_t)(dash - p), &from) ||
        !pt_u64_parse(dash + 1, (size_t)(end - dash - 1), &last) || from > last || last >= PT_EVENT_BYTES)
        return fail(text, p, err, "bytes are FROM-TO, both included and from 0 to %d", PT_EVENT_BYTES - 1);
    event->from = (uint16_t)from;
    event->to = (uint16_t)(last + 1);
    return pt_op_may_be_partial(event->op) || fail(text, p - 2, err, "'%s' has no bytes", pt_op_word(event->op));
}

/* One field after LOC. */
static bool parse_field(struct pt_text *text, const char *p, const char *end, struct pt_event *event,
                        struct pt_err *err)
{
    bool known = end - p >= 2 && p[1] == '=' && memchr("tcmsb", *p, 5);
    if (!known)
        return fail(text, p, err,
                    "unknown field: only t=NANOSECONDS, c=THREAD:COUNT,..., m=ORDER, s=STACK and b=FROM-TO may follow "
                    "the place");
    if (*p == 't'   ? event->has_time
        : *p == 'c' ? event->clock != NULL
        : *p == 'm' ? event->order != PT_MEMORY_NONE
        : *p == 'b' ? event->to != 0
                    : event->stack != 0)
        return fail(text, p, err, "'%c=' is given twice", *p);
    if (*p == 'm')
        return parse_order(text, p + 2, end, event, err);
    if (*p == 's')
        return parse_stack_id(text, p + 2, end, event, err);
    if (*p == 'b')
        return parse_bytes(text, p + 2, end, event, err);
    if (*p == 't') {
        event->has_time = true;
        return pt_u64_parse(p + 2, (size_t)(end - p) - 2, &event->time) ||
               fail(text, p + 2, err, "a time must be an integer of at most 64 bits, in nanoseconds");
    }
    if (!parse_clock(text, p + 2, end, err))
        return false;
    event->clock = text->clock;
    event->clock_len = (uint32_t)text->clock_len;
    return true;
}

static bool parse_line(struct pt_text *text, struct pt_event *event, struct pt_err *err)
{
    const char *p = text->line, *end = text->end;
    const char *bar = p;
    while (bar < end && *bar != '|')
        bar++;
    if (bar == end)
        return fail(text, end, err, "a line THREAD|OP|PLACE is expected: there is no operation");
    struct op_field field = split_op(bar + 1, end);
    const char *object = NULL;
    if (!parse_op(text, bar + 1, field, event, &object, err) || !parse_thread(text, (size_t)(bar - p), event, err) ||
        (object && !parse_object(text, object, field, event, err)))
        return false;
    if (field.end == end)
        return fail(text, end, err, "a line THREAD|OP|PLACE is expected: there is no place");
    const char *loc = field.end + 1;
    bar = memchr(loc, '|', (size_t)(end - loc));
    if (!bar)
        bar = end;
    if (!intern(text, PT_SPACE_LOC, loc, (size_t)(bar - loc), &event->loc, err))
        return false;
    event->has_time = false;
    event->order = PT_MEMORY_NONE;
    event->stack = 0;
    event->from = event->to = 0;
    event->clock = NULL;
    event->clock_len = 0;
    while (bar < end) {
        p = bar + 1;
        bar = memchr(p, '|', (size_t)(end - p));
        if (!bar)
            bar = end;
        if (!parse_field(text, p, bar, event, err))
            return false;
    }
    if (event->op == PT_OP_CLOCK && !event->has_time)
        return fail(text, end, err, "'clock' needs a time t=NANOSECONDS");
    if (event->op == PT_OP_FENCE && !event->order)
        return fail(text, end, err, "'fence' needs an order, m=acquire for instance");
    return true;
}

/* Sets line and end to the next line, without its newline; waits for it if need be. */
static enum pt_read next_line(struct pt_text *text, struct pt_input *input, struct pt_err *err)
{
    for (;;) {
        const char *start = input->buf + input->pos;
        const char *newline = memchr(start + text->scanned, '\n', pt_input_left(input) - text->scanned);
        size_t len = newline ? (size_t)(newline - start) : pt_input_left(input);
        if (len > PT_LINE_MAX) {
            text->line = start;
            text->end = start + PT_LINE_MAX;
            text->line_number++;
            fail(text, text->end, err, "the line is longer than %d bytes", PT_LINE_MAX);
            return PT_READ_ERROR;
        }
        if (newline || (input->eof && len)) {
            text->scanned = 0;
            text->line = start;
            text->end = start + len;
            text->line_number++;
            text->cut = !newline;
            input->pos += len + (newline != NULL);
            return PT_READ_EVENT;
        }
        if (input->eof)
            return PT_READ_END;
        text->scanned = len;
        if (pt_input_fill(input, text->label, err) != PT_OK)
            return PT_READ_ERROR;
    }
}

/* Is this the line with which a recorder says that events are missing? */
static bool is_incomplete(const char *p, const char *end)
{
    size_t len = strlen(PT_TEXT_INCOMPLETE);
    return (size_t)(end - p) >= len && memcmp(p, PT_TEXT_INCOMPLETE, len) == 0;
}

static bool is_text(const char *p, const char *end, const char *text)
{
    return (size_t)(end - p) == strlen(text) && memcmp(p, text, (size_t)(end - p)) == 0;
}

/* Comments, of which those around a recording are noted, and blank lines. */
static bool is_skipped(struct pt_text *text, const char *p, const char *end)
{
    if (p < end && *p == '#') {
        if (is_text(p, end, PT_TEXT_BEGIN) || is_text(p, end, PT_TEXT_END))
            text->recording = is_text(p, end, PT_TEXT_BEGIN);
        return !is_incomplete(p, end);
    }
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p == end;
}

/* Some editors put a mark of UTF-8 before the first line; in files that were put together it is before others. */
static const char *without_mark(const char *line, const char *end)
{
    while (end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    return line;
}

static const char *without_cr(const char *line, const char *end)
{
    return end > line && end[-1] == '\r' ? end - 1 : end;
}

/* The file ends within its last line. People leave the last newline out, so a line that is whole is used; but a clock
 * that lost its end would take orders away, which nobody could see. */
static enum pt_read torn(const struct pt_text *text, const char *why, struct pt_err *err)
{
    char message[sizeof err->message];
    snprintf(message, sizeof message, "%s", why);
    pt_err_at(err, PT_EINPUT, text->label, text->line_number, 1,
              "the trace is torn in line %llu, which has no end: %.400s", (unsigned long long)text->line_number,
              message);
    return PT_READ_TORN;
}

/* The recorder was killed, say. */
static enum pt_read cut_off(const struct pt_text *text, struct pt_err *err)
{
    pt_err_at(err, PT_EINPUT, text->label, text->line_number, 1,
              "the recording was cut off: its last line, " PT_TEXT_END ", is missing");
    return PT_READ_TORN;
}

static enum pt_read take_line(struct pt_text *text, struct pt_event *ret_event, struct pt_err *err)
{
    bool whole = parse_line(text, ret_event, err);
    if (text->cut && text->seen_line && !whole)
        return torn(text, err->message, err);
    if (text->cut && text->seen_line && ret_event->clock)
        return torn(text, "the clock may have lost entries or digits", err);
    text->seen_line = true;
    return whole ? PT_READ_EVENT : PT_READ_ERROR;
}

static enum pt_read next(struct pt_source *source, struct pt_event *ret_event, struct pt_err *err)
{
    struct pt_file_source *file = (struct pt_file_source *)source;
    struct pt_text *text = file->state;
    do {
        enum pt_read got = next_line(text, &file->input, err);
        if (got == PT_READ_END && text->recording)
            return cut_off(text, err);
        if (got != PT_READ_EVENT)
            return got;
        text->line = without_mark(text->line, text->end);
        text->end = without_cr(text->line, text->end);
    } while (is_skipped(text, text->line, text->end));
    if (is_incomplete(text->line, text->end)) {
        const char *why = text->line + strlen(PT_TEXT_INCOMPLETE);
        pt_err_at(err, PT_EINPUT, text->label, text->line_number, 1, "%.*s",
                  (int)(text->end - why < 200 ? text->end - why : 200), why);
        return PT_READ_TORN;
    }
    ret_event->line = text->line_number;
    return take_line(text, ret_event, err);
}

/* Skips comments and blank lines on the way. */
static bool has_next(void *state, struct pt_input *input)
{
    struct pt_text *text = state;
    for (;;) {
        const char *start = input->buf + input->pos;
        size_t left = pt_input_left(input);
        const char *newline = memchr(start + text->scanned, '\n', left - text->scanned);
        if (!newline) {
            text->scanned = left;
            return input->eof || left > PT_LINE_MAX;
        }
        if (newline - start > PT_LINE_MAX || !is_skipped(text, start, without_cr(start, newline)))
            return true;
        text->scanned = 0;
        text->line_number++;
        input->pos += (size_t)(newline - start) + 1;
    }
}

const struct pt_format pt_format_text = {
    .name = "text",
    .unit = PT_UNIT_LINE,
    .open = open_text,
    .next = next,
    .has_next = has_next,
    .release = release,
    .encoder = &pt_text_encoder,
};
