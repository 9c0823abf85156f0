/*
 * Schedules as text, a line each. Places are known by their keys, which neither comments nor other lines change; what
 * follows a key is for people. Guarantee: what is read again is the run that was written, or the file is refused with
 * its line. Cost: linear.
 */
#include "explore/schedule.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/explore_depend.h"
#include "core/found.h"

#define FIRST_LINE "portent-schedule 1"

/* --- writing --- */

/* One word, in C's quotes. */
static void put_quoted(struct pt_buf *buf, const char *text)
{
    pt_buf_puts(buf, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at == '"' || *at == '\\')
            pt_buf_printf(buf, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            pt_buf_printf(buf, "\\%03o", *at);
        else
            pt_buf_printf(buf, "%c", *at);
    }
    pt_buf_puts(buf, "\"");
}

/* The rest of a line: whatever would end it is a space. */
static void put_rest(struct pt_buf *buf, const char *text)
{
    for (; *text; text++)
        pt_buf_printf(buf, "%c", (unsigned char)*text < 0x20 ? ' ' : *text);
}

static void put_spot(struct pt_buf *buf, const struct pt_explore_spot *spot)
{
    if (!spot->file[0])
        return;
    pt_buf_puts(buf, " at ");
    put_rest(buf, spot->file);
    pt_buf_printf(buf, ":%" PRIu32 ":%" PRIu32, spot->line, spot->column);
}

/* What the run is compared with, and what looked at it: a check of lifetimes keeps freed memory aside. */
static void put_expected(struct pt_buf *buf, const struct pt_explore_expected *expected)
{
    pt_buf_printf(buf, "%s %d\nsetting races %d\nsetting lifetimes %d\n", expected->measured ? "ordinary" : "expected",
                  expected->status, (int)(expected->checks >> PT_FOUND_RACE & 1),
                  (int)(expected->checks >> PT_FOUND_LIFETIME & 1));
}

static void put_settings(struct pt_buf *buf, const struct pt_explore_input *input)
{
    pt_buf_printf(buf,
                  "setting spurious %" PRIu32 "\nsetting late %d\nsetting clock %" PRIu64
                  "\nsetting clock_step %" PRIu64 "\nsetting spin_limit %" PRIu32 "\n",
                  input->spurious, (input->wishes & PT_EXPLORE_LATE) != 0, input->clock, input->clock_step,
                  input->spin_limit);
}

static void put_stretches(struct pt_buf *buf, const struct pt_explore_outcome *o,
                          const struct pt_explore_places *places)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < o->taken_count; i++) {
        uint32_t who = o->taken[i].who;
        step += o->taken[i].steps;
        pt_buf_printf(buf, "run %" PRIu32 "%s %" PRIu32, who & ~PT_EXPLORE_HANDLES, who & PT_EXPLORE_HANDLES ? "!" : "",
                      o->taken[i].steps);
        if (o->steps && step <= o->step_count) {
            const struct pt_explore_step *last = &o->steps[step - 1];
            const struct pt_explore_spot *spot = pt_explore_spot(places, last->place);
            pt_buf_printf(buf, " @%016" PRIx64 " %s", spot->key, pt_explore_word(last->kind));
            if (spot->variable[0]) {
                pt_buf_puts(buf, " ");
                put_rest(buf, spot->variable);
            }
            put_spot(buf, spot);
        }
        pt_buf_puts(buf, "\n");
    }
}

void pt_explore_schedule_write(const struct pt_explore_schedule_head *head, const struct pt_explore_input *input,
                               const struct pt_explore_outcome *outcome, const struct pt_explore_places *places,
                               struct pt_buf *buf)
{
    pt_buf_puts(buf, FIRST_LINE "\n# ");
    put_rest(buf, head->comment);
    pt_buf_puts(buf, "\nprogram ");
    for (uint32_t i = 0; head->program[i]; i++) {
        pt_buf_puts(buf, i ? "argument " : "");
        put_quoted(buf, head->program[i]);
        pt_buf_puts(buf, "\n");
    }
    if (head->path) {
        pt_buf_puts(buf, "path ");
        put_quoted(buf, head->path);
        pt_buf_puts(buf, "\n");
    }
    pt_buf_puts(buf, "ends ");
    put_rest(buf, head->ends);
    pt_buf_puts(buf, "\n");
    if (head->fails_at)
        pt_buf_printf(buf, "fails_at %" PRIu64 "\n", head->fails_at);
    put_expected(buf, head->expected);
    if (head->properties) {
        pt_buf_puts(buf, "properties ");
        put_rest(buf, head->properties);
        pt_buf_puts(buf, "\n");
    }
    if (head->calls) {
        pt_buf_puts(buf, "calls ");
        put_rest(buf, head->calls);
        pt_buf_puts(buf, "\n");
    }
    put_settings(buf, input);
    for (uint32_t i = 0; i < places->shared_count && i < places->limit; i++) {
        pt_buf_printf(buf, "shared %016" PRIx64 " ", places->shared[i].key);
        put_rest(buf, places->shared[i].variable);
        pt_buf_puts(buf, "\n");
    }
    for (uint32_t i = 0; head->threads[i]; i++) {
        pt_buf_printf(buf, "thread %" PRIu32 " ", i);
        put_rest(buf, head->threads[i]);
        pt_buf_puts(buf, "\n");
    }
    put_stretches(buf, outcome, places);
    pt_buf_printf(buf, "values %016" PRIx64 "\nend\n", outcome->result.values);
}

/* --- reading --- */

struct reader {
    const char *at, *end; /* of the line */
    struct pt_explore_schedule *schedule;
    size_t shared_cap, variable_cap, stretch_cap, key_cap, point_cap, program_cap;
    const char *problem; /* of the line; NULL: none in particular */
    uint32_t variable_count, key_count, point_count;
    bool ended;
};

static void skip_spaces(struct reader *r)
{
    while (r->at < r->end && *r->at == ' ')
        r->at++;
}

static bool is_over(struct reader *r)
{
    skip_spaces(r);
    return r->at == r->end;
}

static bool word_is(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0 || (r->at + len < r->end && r->at[len] != ' '))
        return false;
    r->at += len;
    skip_spaces(r);
    return true;
}

/* Digits of a base, at most `most` of value. */
static bool read_number(struct reader *r, unsigned base, uint64_t most, uint64_t *ret_number)
{
    const char *from = r->at;
    uint64_t number = 0;
    for (; r->at < r->end && isxdigit((unsigned char)*r->at); r->at++) {
        unsigned digit = isdigit((unsigned char)*r->at) ? (unsigned)(*r->at - '0')
                                                        : (unsigned)(tolower((unsigned char)*r->at) - 'a' + 10);
        if (digit >= base || number > (most - digit) / base)
            return false;
        number = number * base + digit;
    }
    *ret_number = number;
    return r->at > from;
}

static const char *read_rest(struct reader *r)
{
    return pt_arena_strndup(&r->schedule->arena, r->at, (size_t)(r->end - r->at));
}

/* What put_quoted wrote; NULL: it is none, or the line goes on behind it. */
static const char *read_quoted(struct reader *r)
{
    struct pt_buf text;
    const char *word = NULL;
    if (r->at == r->end || *r->at != '"')
        return NULL;
    pt_buf_init(&text);
    for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
        unsigned char byte = (unsigned char)*r->at;
        if (byte == '\\' && r->end - r->at > 3 && r->at[1] >= '0' && r->at[1] <= '3') {
            byte = (unsigned char)((r->at[1] - '0') << 6 | (r->at[2] & 7) << 3 | (r->at[3] & 7));
            r->at += 3;
        } else if (byte == '\\' && r->end - r->at > 1) {
            byte = (unsigned char)*++r->at;
        }
        if (!byte)
            break; /* no argument has one */
        pt_buf_add(&text, (const char *)&byte, 1);
    }
    if (r->at + 1 == r->end && *r->at == '"')
        word = pt_arena_strndup(&r->schedule->arena, text.len ? text.text : "", text.len);
    pt_buf_release(&text);
    return word;
}

static bool read_program(struct reader *r)
{
    struct pt_explore_schedule *s = r->schedule;
    const char *word = read_quoted(r);
    r->problem = "a word in quotes is missing, or not the last of its line";
    if (!word)
        return false;
    PT_PUSH(s->program, s->program_count, r->program_cap, word);
    return true;
}

/* One of the failures, with its number, key or name. */
static bool read_end(struct reader *r)
{
    const char *from = r->at;
    uint64_t number;
    unsigned kind = PT_EXPLORE_FAILS_NONE + 1;
    r->schedule->ends = read_rest(r);
    while (kind < PT_EXPLORE_FAILURE_COUNT && !word_is(r, pt_explore_failure_words[kind]))
        kind++;
    r->problem =
        "not a way in which a run fails: signal, status, deadlock, stuck, livelock, timeout, race, lifetime or "
        "property";
    switch (kind) {
    case PT_EXPLORE_FAILURE_COUNT:
        r->at = from;
        return false;
    case PT_EXPLORE_FAILS_SIGNAL:
    case PT_EXPLORE_FAILS_STATUS:
        r->problem = "the number of a signal or status is missing";
        return read_number(r, 10, 255, &number) && is_over(r);
    case PT_EXPLORE_FAILS_RACE:
    case PT_EXPLORE_FAILS_LIFETIME:
        r->problem = "not the key of what was found";
        return is_over(r) || (read_number(r, 16, UINT64_MAX, &number) && is_over(r));
    case PT_EXPLORE_FAILS_PROPERTY:
        r->problem = "the name of a property is missing";
        return r->at < r->end;
    default:
        r->problem = "nothing follows this word";
        return is_over(r);
    }
}

static bool read_setting(struct reader *r)
{
    struct pt_explore_input *input = &r->schedule->input;
    uint32_t *checks = &r->schedule->expected.checks;
    uint64_t number;
    enum { SPURIOUS, LATE, CLOCK, CLOCK_STEP, SPIN_LIMIT, RACES, LIFETIMES, COUNT };
    static const char *const names[] = {"spurious", "late", "clock", "clock_step", "spin_limit", "races", "lifetimes"};
    unsigned which = 0;
    while (which < COUNT && !word_is(r, names[which]))
        which++;
    if (which == COUNT || !read_number(r, 10, which == CLOCK || which == CLOCK_STEP ? UINT64_MAX : UINT32_MAX, &number))
        return false;
    if (which == SPURIOUS)
        input->spurious = (uint32_t)number;
    else if (which == LATE)
        input->wishes |= number ? PT_EXPLORE_LATE : 0;
    else if (which == CLOCK)
        input->clock = number;
    else if (which == CLOCK_STEP)
        input->clock_step = number;
    else if (which == SPIN_LIMIT)
        input->spin_limit = (uint32_t)number;
    else if (number)
        *checks |= 1u << (which == RACES ? PT_FOUND_RACE : PT_FOUND_LIFETIME);
    return true;
}

static bool read_expected(struct reader *r, bool measured)
{
    uint64_t status;
    r->problem = "an exit status is a number from 0 to 255";
    if (!read_number(r, 10, 255, &status) || !is_over(r))
        return false;
    r->schedule->expects = true;
    r->schedule->expected.measured = measured;
    r->schedule->expected.status = (int)status;
    return true;
}

static bool read_shared(struct reader *r)
{
    struct pt_explore_schedule *s = r->schedule;
    uint64_t key;
    if (!read_number(r, 16, UINT64_MAX, &key))
        return false;
    skip_spaces(r);
    PT_PUSH(s->shared, s->shared_count, r->shared_cap, key);
    PT_PUSH(s->variables, r->variable_count, r->variable_cap, read_rest(r));
    return true;
}

static bool read_run(struct reader *r)
{
    struct pt_explore_schedule *s = r->schedule;
    uint64_t slot, steps, key = 0;
    bool handles = false;
    if (!read_number(r, 10, PT_EXPLORE_THREADS - 1, &slot))
        return false;
    if (r->at < r->end && *r->at == '!') {
        handles = true;
        r->at++;
    }
    skip_spaces(r);
    if (!read_number(r, 10, UINT32_MAX, &steps) || !steps)
        return false;
    skip_spaces(r);
    if (r->at < r->end && *r->at == '@') {
        r->at++;
        if (!read_number(r, 16, UINT64_MAX, &key))
            return false;
        skip_spaces(r);
    }
    struct pt_explore_stretch stretch = {(uint32_t)slot | (handles ? PT_EXPLORE_HANDLES : 0), (uint32_t)steps};
    PT_PUSH(s->stretches, s->stretch_count, r->stretch_cap, stretch);
    PT_PUSH(s->keys, r->key_count, r->key_cap, key);
    PT_PUSH(s->points, r->point_count, r->point_cap, read_rest(r));
    return true;
}

static bool read_line(struct reader *r)
{
    skip_spaces(r);
    if (r->at < r->end && *r->at == '#' && !r->schedule->comment[0]) {
        r->at++;
        skip_spaces(r);
        r->schedule->comment = read_rest(r);
        return true;
    }
    if (r->at == r->end || *r->at == '#')
        return true;
    if (r->ended)
        return false;
    if (word_is(r, "run"))
        return read_run(r);
    if (word_is(r, "shared"))
        return read_shared(r);
    if (word_is(r, "setting"))
        return read_setting(r) && is_over(r);
    if (word_is(r, "values"))
        return read_number(r, 16, UINT64_MAX, &r->schedule->values) && is_over(r);
    if (word_is(r, "ends"))
        return read_end(r);
    if (word_is(r, "ordinary"))
        return read_expected(r, true);
    if (word_is(r, "expected"))
        return read_expected(r, false);
    if (word_is(r, "fails_at"))
        return read_number(r, 10, UINT64_MAX, &r->schedule->fails_at) && is_over(r);
    if (word_is(r, "properties")) {
        r->schedule->properties = read_rest(r);
        return true;
    }
    if (word_is(r, "calls")) {
        r->schedule->calls = read_rest(r);
        return true;
    }
    if (word_is(r, "end"))
        return r->ended = is_over(r);
    if (word_is(r, "program") || word_is(r, "argument"))
        return read_program(r);
    if (word_is(r, "path"))
        return (r->schedule->path = read_quoted(r)) != NULL;
    return word_is(r, "thread");
}

enum pt_status pt_explore_schedule_read(const char *label, const char *text, size_t len,
                                        struct pt_explore_schedule *ret_schedule, struct pt_err *err)
{
    struct pt_explore_schedule schedule = {.ends = "", .comment = ""};
    struct reader r = {.schedule = &schedule};
    uint64_t line = 0;
    enum pt_status status = PT_OK;
    pt_arena_init(&schedule.arena);
    schedule.input.strategy = PT_EXPLORE_FIRST;
    for (size_t at = 0; at < len && status == PT_OK;) {
        const char *newline = memchr(text + at, '\n', len - at);
        size_t end = newline ? (size_t)(newline - text) : len;
        r.at = text + at;
        r.end = text + end;
        bool first = ++line == 1;
        if (first && (end - at != strlen(FIRST_LINE) || memcmp(r.at, FIRST_LINE, end - at) != 0))
            status = pt_err_at(err, PT_EINPUT, label, 1, 1, "not a schedule: its first line is not '" FIRST_LINE "'");
        else if (!newline)
            break; /* the last line is not whole: "end" may have been more */
        else if (!first && (r.problem = NULL, !read_line(&r)))
            status = pt_err_at(err, PT_EINPUT, label, line, (uint32_t)(r.at - (text + at)) + 1,
                               "not a line of a schedule%s%s", r.problem ? ": " : "", r.problem ? r.problem : "");
        at = end + 1;
    }
    if (status == PT_OK && (!r.ended || text[len - 1] != '\n'))
        status = pt_err_at(err, PT_EINPUT, label, line, 0, "the schedule is cut off: its last line is not 'end'");
    schedule.input.prefix_count = schedule.stretch_count;
    if (status != PT_OK)
        pt_explore_schedule_release(&schedule);
    else
        *ret_schedule = schedule;
    return status;
}

void pt_explore_schedule_release(struct pt_explore_schedule *schedule)
{
    free(schedule->program);
    free(schedule->shared);
    free(schedule->variables);
    free(schedule->stretches);
    free(schedule->keys);
    free(schedule->points);
    pt_arena_release(&schedule->arena);
}

uint32_t pt_explore_schedule_compare(const struct pt_explore_schedule *schedule,
                                     const struct pt_explore_outcome *outcome, const struct pt_explore_places *places,
                                     uint64_t *ret_step)
{
    uint64_t step = 0;
    for (uint32_t i = 0; i < schedule->stretch_count; i++) {
        uint64_t first = step + 1;
        step += schedule->stretches[i].steps;
        bool left = outcome->result.diverged_at && outcome->result.diverged_at <= step;
        *ret_step = left ? outcome->result.diverged_at : step;
        if (left && outcome->result.diverged_at >= first)
            return i;
        if (step > outcome->step_count)
            return i;
        const struct pt_explore_step *last = &outcome->steps[step - 1];
        if (schedule->keys[i] && pt_explore_spot(places, last->place)->key != schedule->keys[i])
            return i;
    }
    *ret_step = 0;
    return schedule->stretch_count;
}
