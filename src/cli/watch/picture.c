/*
 * The terminal's picture of a scene, from top to bottom: what is watched; a light per property; a strip per thread,
 * newest at its right end, with what the thread does now beside it; what happened last. Every line fits the width, and
 * there are at most as many as the terminal has, so nothing ever scrolls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/watch/picture.h"
#include "cli/watch/scene.h"
#include "report/words.h"

enum { NAME_COLUMNS = 14, NOW_COLUMNS = 24, AXIS_SECONDS = 2 };

void pt_picture_color(struct pt_picture *p, enum pt_color which)
{
    pt_buf_puts(p->buf, pt_style_color(&p->style, which));
}

void pt_picture_end_line(struct pt_picture *p)
{
    pt_picture_color(p, PT_COLOR_RESET);
    pt_buf_puts(p->buf, "\n");
    p->lines--;
}

void pt_picture_fit(struct pt_picture *p, const char *text, size_t columns)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, text, strlen(text));
    pt_style_fit(p->buf, clean.text ? clean.text : "", columns, PT_CUT_END);
    pt_buf_release(&clean);
}

void pt_picture_head(struct pt_picture *p, const char *left, const char *right, bool warns)
{
    static const char brand[] = " portent  ";
    size_t used = strlen(brand) + strlen(right) + 2;
    pt_picture_color(p, PT_COLOR_BOLD);
    pt_buf_puts(p->buf, brand);
    pt_picture_color(p, PT_COLOR_RESET);
    if (used + 10 > p->style.width) { /* too narrow for both */
        pt_picture_fit(p, left, p->style.width - strlen(brand));
    } else {
        pt_picture_fit(p, left, p->style.width - used);
        pt_buf_puts(p->buf, "  ");
        pt_picture_color(p, warns ? PT_COLOR_YELLOW : PT_COLOR_DIM);
        pt_buf_puts(p->buf, right);
    }
    pt_picture_end_line(p);
}

static void put_head(struct pt_picture *p, const struct pt_scene *s)
{
    uint64_t tenths = (s->now - s->origin) / 100000000;
    struct pt_buf left, right;
    pt_buf_init(&left);
    pt_buf_init(&right);
    pt_buf_printf(&right, "%" PRIu64 ":%02" PRIu64 ".%" PRIu64 "  %" PRIu64 " events  %" PRIu64 " lost ", tenths / 600,
                  tenths / 10 % 60, tenths % 10, s->events, s->lost);
    if (s->started)
        pt_buf_printf(&left, "%s (%" PRIu32 ")%s  %s", s->program, s->pid, s->ended ? " has ended" : "", s->address);
    else
        pt_buf_printf(&left, "waiting for %s", s->address);
    pt_picture_head(p, left.text, right.text, s->lost);
    pt_buf_release(&left);
    pt_buf_release(&right);
}

static enum pt_color verdict_color(enum pt_verdict verdict)
{
    switch (verdict) {
    case PT_VERDICT_HOLDS:
        return PT_COLOR_GREEN;
    case PT_VERDICT_UNKNOWN:
        return PT_COLOR_YELLOW;
    case PT_VERDICT_VIOLATED:
    case PT_VERDICT_ERROR:
        break;
    }
    return PT_COLOR_RED;
}

void pt_picture_light(struct pt_picture *p, enum pt_verdict verdict)
{
    const char *fine = p->utf8 ? "●" : "+", *open = p->utf8 ? "○" : "?", *bad = p->utf8 ? "●" : "X";
    pt_picture_color(p, verdict_color(verdict));
    pt_buf_puts(p->buf, verdict == PT_VERDICT_HOLDS ? fine : verdict == PT_VERDICT_UNKNOWN ? open : bad);
    pt_picture_color(p, PT_COLOR_RESET);
}

static void put_property(struct pt_picture *p, const struct pt_scene *s, const struct pt_scene_property *property)
{
    size_t left = p->style.width - NAME_COLUMNS - 5;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%-12s", pt_scene_property_word(property));
    if (property->verdict == PT_VERDICT_VIOLATED && property->time >= s->origin)
        pt_buf_printf(&text, "  at %.3f s", (double)(property->time - s->origin) / 1e9);
    else if (property->states[0] && property->verdict != PT_VERDICT_ERROR)
        pt_buf_printf(&text, "  %s", property->states);
    pt_buf_puts(p->buf, " ");
    pt_picture_light(p, property->verdict);
    pt_buf_puts(p->buf, " ");
    pt_picture_fit(p, property->name, NAME_COLUMNS);
    pt_buf_puts(p->buf, "  ");
    pt_picture_color(p, property->verdict == PT_VERDICT_HOLDS ? PT_COLOR_DIM : verdict_color(property->verdict));
    pt_picture_fit(p, text.text, left);
    pt_picture_end_line(p);
    pt_buf_release(&text);
}

/* "-4s       -2s       now", the right end above the newest column. */
static void put_axis(struct pt_picture *p, unsigned columns)
{
    char axis[PT_SCENE_COLUMNS + 1];
    const unsigned step = AXIS_SECONDS * (1000000000 / PT_SCENE_COLUMN_NS);
    memset(axis, ' ', columns);
    axis[columns] = '\0';
    memcpy(axis + columns - 3, "now", 3);
    for (unsigned back = step; back + 4 < columns; back += step) {
        char text[8];
        int len = snprintf(text, sizeof text, "-%us", back / step * AXIS_SECONDS);
        if (len > 0 && columns - back >= (unsigned)len)
            memcpy(axis + columns - back - 1, text, (size_t)len);
    }
    pt_buf_printf(p->buf, " %*s ", NAME_COLUMNS, "");
    pt_picture_color(p, PT_COLOR_DIM);
    pt_buf_puts(p->buf, axis);
    pt_picture_end_line(p);
}

static const char *glyph(const struct pt_picture *p, uint8_t marks)
{
    if (marks & PT_MARK_CONTENDED)
        return p->utf8 ? "▲" : "!";
    if (marks & PT_MARK_EVENT)
        return p->utf8 ? "◆" : "*";
    if (marks & PT_MARK_RAN)
        return marks & PT_MARK_HELD ? (p->utf8 ? "▅" : "#") : p->utf8 ? "━" : "=";
    if (marks & PT_MARK_READY)
        return p->utf8 ? "╌" : "-";
    if (marks & PT_MARK_BLOCKED)
        return p->utf8 ? "┈" : ".";
    return " ";
}

static enum pt_color glyph_color(uint8_t marks)
{
    if (marks & PT_MARK_CONTENDED)
        return PT_COLOR_YELLOW;
    if (marks & PT_MARK_EVENT)
        return PT_COLOR_BOLD;
    return marks & PT_MARK_RAN ? PT_COLOR_GREEN : PT_COLOR_DIM;
}

static void put_strip(struct pt_picture *p, const struct pt_scene *s, const struct pt_scene_thread *thread,
                      unsigned columns)
{
    enum pt_color last = PT_COLOR_RESET;
    for (unsigned i = 0; i < columns; i++) {
        uint64_t back = columns - 1 - i;
        uint8_t marks = back <= s->column ? thread->marks[(s->column - back) % PT_SCENE_COLUMNS] : 0;
        enum pt_color now = marks ? glyph_color(marks) : last;
        if (now != last) {
            pt_picture_color(p, PT_COLOR_RESET);
            pt_picture_color(p, now);
            last = now;
        }
        pt_buf_puts(p->buf, glyph(p, marks));
    }
    pt_picture_color(p, PT_COLOR_RESET);
}

static void put_thread(struct pt_picture *p, const struct pt_scene *s, const struct pt_scene_thread *thread,
                       unsigned columns)
{
    const struct pt_names *names = s->names;
    struct pt_buf now;
    pt_buf_init(&now);
    pt_buf_puts(&now, pt_scene_state_word(thread->state));
    if (thread->detail[0])
        pt_buf_printf(&now, ": %s", thread->detail);
    for (uint32_t i = 0; i < thread->lock_count; i++)
        pt_buf_printf(&now, "%s%s", i ? ", " : ", holds ", pt_name(names, PT_SPACE_LOCK, thread->locks[i]));
    pt_buf_puts(p->buf, " ");
    pt_picture_color(p, thread->state == PT_SCENE_ENDED ? PT_COLOR_DIM : PT_COLOR_RESET);
    pt_picture_fit(p, pt_name(names, PT_SPACE_THREAD, thread->name), NAME_COLUMNS);
    pt_buf_puts(p->buf, " ");
    put_strip(p, s, thread, columns);
    pt_buf_puts(p->buf, "  ");
    pt_picture_color(p, thread->state == PT_SCENE_RUNNING ? PT_COLOR_RESET : PT_COLOR_DIM);
    pt_picture_fit(p, now.text, NOW_COLUMNS - 2);
    pt_picture_end_line(p);
    pt_buf_release(&now);
}

/* Those that live first; then, where there is room, those that have ended. */
static void put_threads(struct pt_picture *p, const struct pt_scene *s, unsigned rows)
{
    unsigned columns = p->style.width - NAME_COLUMNS - NOW_COLUMNS - 2, shown = 0;
    if (columns > PT_SCENE_COLUMNS)
        columns = PT_SCENE_COLUMNS;
    put_axis(p, columns);
    for (int ended = 0; ended < 2; ended++)
        for (uint32_t t = 0; t < s->thread_count && shown < rows; t++)
            if ((s->threads[t].state == PT_SCENE_ENDED) == ended) {
                put_thread(p, s, &s->threads[t], columns);
                shown++;
            }
    uint64_t more = s->thread_count - shown + s->hidden;
    if (more && p->lines) {
        pt_picture_color(p, PT_COLOR_DIM);
        pt_buf_printf(p->buf, " and %" PRIu64 " more", more);
        pt_picture_end_line(p);
    }
}

/* Scheduler events and lock operations are in the strips; the list has what people look for. */
static bool is_listed(const struct pt_scene_item *item)
{
    switch (item->op) {
    case PT_OP_EVENT:
    case PT_OP_LOST:
    case PT_OP_COUNT:
    case PT_OP_CONTENDED:
    case PT_OP_WRITE:
    case PT_OP_UPDATE:
    case PT_OP_FORK:
    case PT_OP_JOIN:
        return true;
    default:
        return false;
    }
}

/* Of a place that is too long for the line the end stays: the file and the line. */
static void put_place(struct pt_buf *text, const char *place, size_t columns)
{
    enum { LEAST = 6 };
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, place, strlen(place));
    size_t used = pt_style_columns(text->text) + 2, wide = clean.text ? pt_style_columns(clean.text) : 0;
    pt_buf_puts(text, "  ");
    if (used + wide <= columns || used + LEAST > columns)
        pt_buf_puts(text, clean.text ? clean.text : "");
    else
        pt_style_fit(text, clean.text, columns - used, PT_CUT_START);
    pt_buf_release(&clean);
}

static void put_item(struct pt_picture *p, const struct pt_scene *s, const struct pt_scene_item *item)
{
    bool note = item->op == PT_OP_COUNT || item->op == PT_OP_LOST;
    size_t left = p->style.width - 14;
    struct pt_buf text;
    pt_buf_init(&text);
    if (!note)
        pt_buf_printf(&text, "%-*s ", NAME_COLUMNS, pt_name(s->names, PT_SPACE_THREAD, item->thread));
    pt_scene_item_text(s, item, &text);
    if (!note && strcmp(pt_name(s->names, PT_SPACE_LOC, item->loc), "-") != 0)
        put_place(&text, pt_name(s->names, PT_SPACE_LOC, item->loc), left);
    pt_picture_color(p, PT_COLOR_DIM);
    pt_buf_printf(p->buf, " %10.4f s ", item->time > s->origin ? (double)(item->time - s->origin) / 1e9 : 0.0);
    pt_picture_color(p, PT_COLOR_RESET);
    if (note)
        pt_picture_color(p, PT_COLOR_YELLOW);
    pt_picture_fit(p, text.text ? text.text : "", left);
    pt_picture_end_line(p);
    pt_buf_release(&text);
}

static void put_items(struct pt_picture *p, const struct pt_scene *s, unsigned rows)
{
    uint64_t first = s->item_count > PT_SCENE_ITEMS ? s->item_count - PT_SCENE_ITEMS : 0, at = s->item_count;
    unsigned found = 0;
    while (at > first && found < rows)
        found += is_listed(&s->items[--at % PT_SCENE_ITEMS]);
    for (; at < s->item_count && p->lines > 1; at++)
        if (is_listed(&s->items[at % PT_SCENE_ITEMS]))
            put_item(p, s, &s->items[at % PT_SCENE_ITEMS]);
}

/* The longest of the legends that fits: in a narrow terminal its words are shorter, but all of it is there. */
static void put_legend(struct pt_picture *p)
{
    static const char *const texts[][2] = {
        {" q quits   = running  # with a lock  - ready  . blocked  * event  ! contended",
         " q quits   ━ running  ▅ with a lock  ╌ ready  ┈ blocked  ◆ event  ▲ contended"},
        {" q quits  = runs  # locked  - ready  . waits  * event  ! taken",
         " q quits  ━ runs  ▅ locked  ╌ ready  ┈ waits  ◆ event  ▲ taken"},
        {" q quits =run #lock -ready .wait *event !taken", " q quits ━run ▅lock ╌ready ┈wait ◆event ▲taken"},
    };
    size_t last = sizeof texts / sizeof *texts - 1, i = 0;
    while (i < last && pt_style_columns(texts[i][p->utf8]) > p->style.width)
        i++;
    pt_picture_color(p, PT_COLOR_DIM);
    pt_style_fit(p->buf, texts[i][p->utf8], p->style.width, PT_CUT_END);
    pt_picture_color(p, PT_COLOR_RESET);
}

struct pt_picture pt_picture_new(unsigned width, unsigned height, bool utf8, bool colors, struct pt_buf *buf)
{
    enum { MIN_WIDTH = 50, MIN_HEIGHT = 6 };
    return (struct pt_picture){.style = {colors, width < MIN_WIDTH ? MIN_WIDTH : width},
                               .utf8 = utf8,
                               .lines = height < MIN_HEIGHT ? MIN_HEIGHT : height,
                               .buf = buf};
}

void pt_picture_scene(struct pt_picture *p, const struct pt_scene *scene)
{
    unsigned spare = p->lines - 1; /* the legend's */
    put_head(p, scene);
    pt_picture_end_line(p);
    unsigned properties = scene->property_count < spare / 3 ? scene->property_count : spare / 3;
    for (uint32_t i = 0; i < properties; i++)
        put_property(p, scene, &scene->properties[i]);
    if (properties && p->lines)
        pt_picture_end_line(p);
    unsigned threads = scene->thread_count;
    if (p->lines > 2 && threads > (p->lines - 2) * 2 / 3)
        threads = (p->lines - 2) * 2 / 3;
    if (p->lines > 2)
        put_threads(p, scene, threads);
    if (p->lines > 2)
        pt_picture_end_line(p);
    if (p->lines > 1)
        put_items(p, scene, p->lines - 1);
    while (p->lines > 1)
        pt_picture_end_line(p);
    put_legend(p);
    pt_buf_puts(p->buf, "\n");
}
