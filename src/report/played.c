/*
 * Schedules in words: a stretch is "THREAD runs to PLACE", where PLACE is what it was about to do when another thread
 * was let on; the last one "goes on". Nothing is computed but which stretches two schedules have in common. Linear in
 * the stretches.
 */
#include "report/played.h"

#include <inttypes.h>
#include <string.h>

#include "report/violation.h"
#include "report/words.h"

enum { SENTENCE = 12, SHOWN = 60, OUTPUT_LINES = 12 };

/* --- text --- */

/* Without the folders. */
static const char *short_loc(const char *loc)
{
    const char *slash = strrchr(loc, '/');
    return slash ? slash + 1 : loc;
}

static void put_point(const struct pt_played_point *point, struct pt_buf *buf)
{
    pt_buf_printf(buf, "%s", point->loc[0] ? short_loc(point->loc) : point->function);
    if (!point->op[0])
        return;
    pt_buf_printf(buf, "%s%s%s%s", point->loc[0] || point->function[0] ? ", " : "", point->op,
                  point->object[0] ? " " : "", point->object);
}

/* Where it comes to a stop: "to a.c:10"; without a place "to its end", or what it does there. */
static void put_goal(const struct pt_played_stretch *stretch, struct pt_buf *buf)
{
    const struct pt_played_point *next = &stretch->next;
    if (next->loc[0])
        pt_buf_printf(buf, "to %s", short_loc(next->loc));
    else if (!next->op[0] || strcmp(next->op, "ends") == 0)
        pt_buf_puts(buf, "to its end");
    else
        pt_buf_printf(buf, "until it %s%s%s", next->op, next->object[0] ? " " : "", next->object);
}

/* It does nothing but its last step. */
static bool only_ends(const struct pt_played_stretch *stretch)
{
    return !stretch->next.op[0] && stretch->steps == 1 && strcmp(stretch->last.op, "ends") == 0;
}

static bool ran_before(const struct pt_played_stretch *stretches, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (stretches[i].thread == stretches[index].thread)
            return true;
    return false;
}

void pt_played_sentence(const struct pt_played *played, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < played->stretch_count; i++) {
        const struct pt_played_stretch *stretch = &played->stretches[i];
        bool again = ran_before(played->stretches, i), last = i + 1 == played->stretch_count;
        pt_buf_printf(buf, "%s%s ", i ? ", " : "", stretch->name);
        if (stretch->handles)
            pt_buf_puts(buf, "handles a signal and ");
        if (again && only_ends(stretch) && !last) {
            pt_buf_puts(buf, "ends");
            continue;
        }
        pt_buf_printf(buf, "%s%s", again ? "goes on" : "runs", last ? "" : " ");
        if (!last)
            put_goal(stretch, buf);
    }
}

/* A long name keeps its beginning and its end, where its number stands: "withdra..name#2". */
static void put_name(const char *name, size_t columns, struct pt_buf *buf)
{
    size_t len = strlen(name), kept = columns - 2;
    if (len <= columns)
        pt_buf_puts(buf, name);
    else
        pt_buf_printf(buf, "%.*s..%s", (int)(kept - kept / 2), name, name + len - kept / 2);
}

/* One stretch in a column: lines of at most so many columns. */
static void put_cell(const struct pt_played_stretch *stretch, bool last, bool counts, size_t columns,
                     struct pt_buf *buf)
{
    struct pt_buf text, clean;
    pt_buf_init(&text);
    pt_buf_init(&clean);
    put_name(stretch->name, columns / 2 - 2, &text);
    pt_buf_puts(&text, ": ");
    if (last)
        pt_buf_puts(&text, "goes on");
    else if (stretch->next.loc[0])
        pt_buf_puts(&text, "to "), put_point(&stretch->next, &text);
    else if (only_ends(stretch))
        pt_buf_puts(&text, "ends");
    else
        put_goal(stretch, &text);
    if (counts || last)
        pt_buf_printf(&text, " (%" PRIu64 " step%s)", stretch->steps, pt_words_plural(stretch->steps));
    pt_style_clean(&clean, text.text, text.len);
    pt_style_wrap(buf, clean.text, 0, 4, (unsigned)columns);
    pt_buf_release(&text);
    pt_buf_release(&clean);
}

/* Two cells side by side; the mark stands before the first line. */
static void put_row(const char *left, const char *right, bool marked, size_t columns, struct pt_buf *buf)
{
    for (bool first = true; *left || *right; first = false) {
        size_t wide = strcspn(left, "\n"), other = strcspn(right, "\n");
        struct pt_buf cell;
        pt_buf_init(&cell);
        pt_buf_add(&cell, left, wide);
        pt_buf_puts(buf, marked && first ? "  >  " : "     ");
        pt_style_fit(buf, wide ? cell.text : "", columns, PT_CUT_END);
        pt_buf_puts(buf, other ? "| " : "|");
        pt_buf_add(buf, right, other);
        pt_buf_puts(buf, "\n");
        pt_buf_release(&cell);
        left += wide + (left[wide] == '\n');
        right += other + (right[other] == '\n');
    }
}

static bool is_alike(const struct pt_played_stretch *a, const struct pt_played_stretch *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->next.loc, b->next.loc) == 0 &&
           strcmp(a->next.op, b->next.op) == 0;
}

static void put_rest_of(uint32_t shown, uint32_t all, const struct pt_style *style, struct pt_buf *buf)
{
    if (shown < all)
        pt_words_paragraph(buf, style, 5, 5, "... %s %u more", shown < SHOWN ? "and so on," : "and", all - shown);
}

/* How many stretches are to be shown: where the rest goes round and round, as in a livelock, two turns of it. */
static uint32_t shown_of(const struct pt_played_stretch *list, uint32_t count)
{
    enum { PERIOD = 4, TURNS = 8 };
    for (uint32_t period = 1; period <= PERIOD && count > period * TURNS; period++) {
        uint32_t from = count - 1; /* the last one is cut off */
        while (from > period && is_alike(&list[from - 1], &list[from - 1 - period]))
            from--;
        if (count - from > period * TURNS)
            return from + period < SHOWN ? from + period : SHOWN;
    }
    return count < SHOWN ? count : SHOWN;
}

static bool is_same(const struct pt_played_stretch *a, const struct pt_played_stretch *b)
{
    return a->steps == b->steps && is_alike(a, b);
}

/* Both, a row each; `>` where the failing one is another one for the first time. */
static void put_both(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf)
{
    size_t columns = (style->width - 9) / 2;
    uint32_t rows = played->stretch_count > played->passing_count ? played->stretch_count : played->passing_count;
    bool apart = false;
    pt_buf_puts(buf, "     ");
    pt_style_fit(buf, "A run that passed", columns, PT_CUT_END);
    pt_buf_puts(buf, "| ");
    pt_buf_puts(buf, "This run (>: where they differ)\n");
    uint32_t shown = shown_of(played->stretches, played->stretch_count);
    if (shown < played->passing_count && (shown = played->passing_count) > SHOWN)
        shown = SHOWN;
    for (uint32_t i = 0; i < shown; i++) {
        bool left = i < played->passing_count, right = i < played->stretch_count;
        bool differs = !left || !right || !is_same(&played->passing[i], &played->stretches[i]);
        /* else nobody sees in what */
        bool counts = left && right && differs && is_alike(&played->passing[i], &played->stretches[i]);
        struct pt_buf cells[2];
        pt_buf_init(&cells[0]);
        pt_buf_init(&cells[1]);
        if (left)
            put_cell(&played->passing[i], i + 1 == played->passing_count, counts, columns, &cells[0]);
        if (right)
            put_cell(&played->stretches[i], i + 1 == played->stretch_count, counts, columns, &cells[1]);
        put_row(left ? cells[0].text : "", right ? cells[1].text : "", differs && !apart, columns, buf);
        apart |= differs;
        pt_buf_release(&cells[0]);
        pt_buf_release(&cells[1]);
    }
    put_rest_of(shown, rows, style, buf);
}

static void put_alone(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf)
{
    uint32_t shown = shown_of(played->stretches, played->stretch_count);
    for (uint32_t i = 0; i < shown; i++) {
        struct pt_buf cell;
        pt_buf_init(&cell);
        put_cell(&played->stretches[i], i + 1 == played->stretch_count, false, 10000, &cell);
        pt_words_paragraph(buf, style, 4, 6, "%.*s", (int)strcspn(cell.text, "\n"), cell.text);
        pt_buf_release(&cell);
    }
    put_rest_of(shown, played->stretch_count, style, buf);
}

static void put_schedule(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf)
{
    uint32_t switches = played->stretch_count ? played->stretch_count - 1 : 0;
    if (played->stretch_count <= SENTENCE) {
        struct pt_buf sentence;
        pt_buf_init(&sentence);
        pt_played_sentence(played, &sentence);
        pt_words_paragraph(buf, style, 2, 4, "Schedule, %u switch%s: %s.", switches, switches == 1 ? "" : "es",
                           sentence.len ? sentence.text : "one thread runs");
        pt_buf_release(&sentence);
    } else {
        pt_words_paragraph(buf, style, 2, 4, "Schedule, %u switches:", switches);
    }
    pt_buf_puts(buf, "\n");
    if (played->passing)
        put_both(played, style, buf);
    else if (played->stretch_count > SENTENCE)
        put_alone(played, style, buf);
    if (played->passing || played->stretch_count > SENTENCE)
        pt_buf_puts(buf, "\n");
}

/* What is waited for before such a step (core/explore.h), where the object has a name, and where it has none. */
static const struct {
    const char *op, *named, *object, *unnamed;
} wait_words[] = {
    {"joins", "for the end of ", "", "for the end of a thread"},
    {"locks", "to lock ", "", "to take a lock"},
    {"locks for reading", "to lock ", " for reading", "to take a lock for reading"},
    {"wakes from waiting for", "for ", " to be signalled", "for a condition to be signalled"},
    {"takes", "to take ", "", "to take a semaphore"},
    {"leaves", "for the others at ", "", "for the others at a barrier"},
    {"calls once", "for the initialiser of ", "", "for an initialiser"},
    {"goes on at", "to be woken at ", "", "to be woken at a futex"},
    {"uses a descriptor", "for ", "", "for a descriptor"},
    {"waits for a signal", "for a signal", "", "for a signal"},
};

void pt_played_wait(const struct pt_played_wait *wait, struct pt_buf *buf)
{
    const struct pt_played_point *point = &wait->point;
    const char *place = point->loc[0] ? short_loc(point->loc) : point->function;
    size_t i = 0, count = sizeof wait_words / sizeof *wait_words;
    while (i < count && strcmp(wait_words[i].op, point->op) != 0)
        i++;
    /* in a livelock: it could go on, and gets nowhere */
    pt_buf_printf(buf, "%s %s%s%s", wait->name, i < count ? "waits" : "spins", place[0] ? " at " : "", place);
    if (i == count)
        pt_buf_printf(buf, "%s %s%s%s", place[0] ? ", where it" : ": it", point->op, point->object[0] ? " " : "",
                      point->object);
    else if (point->object[0])
        pt_buf_printf(buf, " %s%s%s", wait_words[i].named, point->object, wait_words[i].object);
    else
        pt_buf_printf(buf, " %s", wait_words[i].unnamed);
    if (wait->owner[0])
        pt_buf_printf(buf, ", which %s has", wait->owner);
}

static void put_waits(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < played->wait_count; i++) {
        struct pt_buf line;
        pt_buf_init(&line);
        pt_played_wait(&played->waits[i], &line);
        pt_words_paragraph(buf, style, 2, 4, "%s", line.text);
        pt_buf_release(&line);
    }
    if (played->wait_count)
        pt_buf_puts(buf, "\n");
}

/* The last lines of it. */
static void put_output(const char *output, const struct pt_style *style, struct pt_buf *buf)
{
    const char *from = output + strlen(output);
    unsigned lines = 0;
    while (from > output && lines <= OUTPUT_LINES)
        lines += *--from == '\n' && from[1];
    from += *from == '\n';
    pt_words_paragraph(buf, style, 2, 2, "It printed last:");
    while (*from) {
        size_t len = strcspn(from, "\n");
        struct pt_buf line;
        pt_buf_init(&line);
        pt_style_clean(&line, from, len);
        if (pt_style_columns(line.len ? line.text : "") > style->width - 4)
            pt_style_wrap(buf, line.text, 4, 6, style->width);
        else
            pt_buf_printf(buf, "    %s\n", line.len ? line.text : "");
        pt_buf_release(&line);
        from += len + (from[len] == '\n');
    }
    pt_buf_puts(buf, "\n");
}

/* As a shell takes it. */
static void put_shell_word(const char *word, struct pt_buf *buf)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
    if (*word && !word[strspn(word, plain)]) {
        pt_buf_puts(buf, word);
        return;
    }
    pt_buf_puts(buf, "'");
    for (; *word; word++)
        pt_buf_printf(buf, *word == '\'' ? "'\\''" : "%c", *word);
    pt_buf_puts(buf, "'");
}

/* Not wrapped: it is to be copied. */
static void put_command(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf command;
    pt_buf_init(&command);
    pt_buf_puts(&command, "portent replay ");
    put_shell_word(played->file, &command);
    pt_buf_puts(&command, " --");
    for (const char *const *word = played->program; word && *word; word++) {
        pt_buf_puts(&command, " ");
        put_shell_word(*word, &command);
    }
    if (!played->program)
        pt_buf_puts(&command, " PROGRAM");
    pt_words_paragraph(buf, style, 2, 4, "To see it again, with --gdb in the debugger:");
    pt_buf_puts(buf, "    ");
    pt_style_clean(buf, command.text, command.len);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&command);
}

void pt_played_shows(const struct pt_played *played, const struct pt_style *style, struct pt_buf *buf)
{
    if (played->stretch_count)
        put_schedule(played, style, buf);
    if (played->file) {
        put_command(played, style, buf);
        pt_buf_puts(buf, "\n");
    }
}

/* Strategies are words of their own; the first runs of `auto` have none. */
static const char *by_words(const struct pt_played *played)
{
    return strcmp(played->found_by, "first") == 0 ? "the ordinary schedule" : played->found_by;
}

/* Not found, but seen again. */
static bool is_replay(const struct pt_played *played)
{
    return strcmp(played->found_by, "replay") == 0;
}

void pt_played_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const struct pt_played *played = finding->played;
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    if (is_replay(played))
        pt_words_paragraph(buf, style, 0, 2, "The replayed run failed: %s.", played->what);
    else
        pt_words_paragraph(
            buf, style, 0, 2, "Run %" PRIu64 " failed: %s. Found by %s%s.", played->run, played->what, by_words(played),
            strcmp(played->found_by, "stress") == 0 ? "; without control: it may not fail again"
            : played->reproduced                    ? "; under the same schedule it failed again in the same way"
                                 : "; seen once: under the same schedule it did not fail in this way again");
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    if (finding->count > 1)
        pt_words_paragraph(buf, style, 2, 4, "%" PRIu64 " runs failed like this.", finding->count);
    pt_buf_puts(buf, "\n");
    if (played->stretch_count)
        put_schedule(played, style, buf);
    put_waits(played, style, buf);
    if (played->output)
        put_output(played->output, style, buf);
    if (played->file)
        put_command(played, style, buf);
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RED));
    pt_buf_puts(buf, "SUMMARY: portent: ");
    pt_style_clean(buf, played->what, strlen(played->what));
    pt_buf_puts(buf, " (");
    if (!is_replay(played))
        pt_buf_printf(buf, "run %" PRIu64 ", ", played->run);
    pt_style_clean(buf, by_words(played), strlen(by_words(played)));
    pt_buf_puts(buf, ")");
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    pt_buf_puts(buf, "\n");
}

/* --- JSON --- */

static void point_json(struct pt_json *json, const char *key, const struct pt_played_point *point)
{
    if (!point->op[0])
        return;
    pt_json_open(json, key, '{');
    pt_json_string(json, "op", point->op);
    pt_json_string(json, "object", point->object);
    pt_json_string(json, "function", point->function);
    pt_json_string(json, "loc", point->loc);
    pt_json_close(json, '}');
}

static void stretches_json(struct pt_json *json, const char *key, const struct pt_played_stretch *list, uint32_t count)
{
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        pt_json_open(json, NULL, '{');
        pt_json_uint(json, "thread", list[i].thread);
        pt_json_string(json, "name", list[i].name);
        pt_json_uint(json, "steps", list[i].steps);
        if (list[i].handles)
            pt_json_bool(json, "handles", true);
        point_json(json, "last", &list[i].last);
        point_json(json, "next", &list[i].next);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void waits_json(struct pt_json *json, const struct pt_played *played)
{
    pt_json_open(json, "waits", '[');
    for (uint32_t i = 0; i < played->wait_count; i++) {
        const struct pt_played_wait *wait = &played->waits[i];
        struct pt_buf words;
        pt_json_open(json, NULL, '{');
        pt_json_uint(json, "thread", wait->thread);
        pt_json_string(json, "name", wait->name);
        point_json(json, "point", &wait->point);
        pt_json_string(json, "owner", wait->owner);
        pt_buf_init(&words);
        pt_played_wait(wait, &words);
        pt_json_string(json, "words", words.text);
        pt_buf_release(&words);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

void pt_played_json(struct pt_json *json, const struct pt_played *played)
{
    pt_json_string(json, "failure", played->failure);
    pt_json_string(json, "what", played->what);
    if (played->number >= 0)
        pt_json_uint(json, strcmp(played->failure, "signal") == 0 ? "signal" : "status", (uint64_t)played->number);
    pt_json_string(json, "found_by", played->found_by);
    pt_json_uint(json, "run", played->run);
    pt_json_uint(json, "seed", played->seed);
    pt_json_bool(json, "reproduced", played->reproduced);
    pt_json_uint(json, "switches", played->stretch_count ? played->stretch_count - 1 : 0);
    pt_json_uint(json, "preemptions", played->preemptions);
    pt_json_uint(json, "steps", played->steps);
    if (played->file)
        pt_json_string(json, "schedule_file", played->file);
    pt_json_open(json, "threads", '[');
    for (const char *const *name = played->threads; *name; name++)
        pt_json_string(json, NULL, *name);
    pt_json_close(json, ']');
    stretches_json(json, "stretches", played->stretches, played->stretch_count);
    waits_json(json, played);
    if (played->passing)
        stretches_json(json, "passing", played->passing, played->passing_count);
    if (played->output)
        pt_json_string(json, "output", played->output);
}

void pt_explored_json(struct pt_json *json, const struct pt_explored *e)
{
    pt_json_open(json, "explore", '{');
    pt_json_string(json, "strategy", e->strategy);
    pt_json_uint(json, "seed", e->seed);
    pt_json_uint(json, "runs", e->runs);
    pt_json_uint(json, "distinct", e->distinct);
    pt_json_uint(json, "redundant", e->redundant);
    pt_json_uint(json, "diverged", e->diverged);
    pt_json_uint(json, "failing", e->failing);
    pt_json_bool(json, "complete", e->complete);
    if (e->why)
        pt_json_string(json, "why", e->why);
    if (e->bounded)
        pt_json_uint(json, "preemptions", e->preemptions);
    pt_json_open(json, "losses", '[');
    for (const char *const *loss = e->losses; loss && *loss; loss++)
        pt_json_string(json, NULL, *loss);
    pt_json_close(json, ']');
    if (e->killed)
        pt_json_null(json, "ordinary");
    else
        pt_json_uint(json, "ordinary", (uint64_t)e->ordinary);
    pt_json_bool(json, "stress", e->stress);
    if (e->fell_back) {
        pt_json_string(json, "fell_back", e->fell_back);
        pt_json_uint(json, "controlled", e->controlled);
    }
    pt_json_bool(json, "fork_server", e->served);
    if (e->unserved)
        pt_json_string(json, "unserved", e->unserved);
    pt_json_seconds(json, "seconds", e->seconds);
    pt_json_close(json, '}');
}
