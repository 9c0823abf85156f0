/*
 * The terminal's picture of a scene, from top to bottom: what is watched; a light per property; a strip per thread,
 * newest at its right end, with what the thread does now beside it; what happened last. Every line fits the width, and
 * there are at most as many as the terminal has, so nothing ever scrolls.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/watch/live.h"
#include "report/words.h"

enum { NAME_COLUMNS = 14, NOW_COLUMNS = 24, MIN_WIDTH = 50, AXIS_SECONDS = 2 };

struct picture {
    const struct pt_scene *scene;
    struct pt_style style;
    bool utf8;
    unsigned lines; /* that are left */
    struct pt_buf *buf;
};

static void color(struct picture *p, enum pt_color which)
{
    pt_buf_puts(p->buf, pt_style_color(&p->style, which));
}

static void end_line(struct picture *p)
{
    color(p, PT_COLOR_RESET);
    pt_buf_puts(p->buf, "\n");
    p->lines--;
}

static void fit(struct picture *p, const char *text, size_t columns)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, text, strlen(text));
    pt_style_fit(p->buf, clean.text ? clean.text : "", columns, PT_CUT_END);
    pt_buf_release(&clean);
}

static void blank(struct picture *p)
{
    if (p->lines)
        end_line(p);
}

static void put_head(struct picture *p)
{
    const struct pt_scene *s = p->scene;
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
    color(p, PT_COLOR_BOLD);
    pt_buf_puts(p->buf, " portent  ");
    color(p, PT_COLOR_RESET);
    size_t used = strlen(" portent  ") + right.len + 2;
    if (used + 10 > p->style.width) { /* too narrow for both */
        fit(p, left.text, p->style.width - strlen(" portent  "));
    } else {
        fit(p, left.text, p->style.width - used);
        pt_buf_puts(p->buf, "  ");
        color(p, s->lost ? PT_COLOR_YELLOW : PT_COLOR_DIM);
        pt_buf_puts(p->buf, right.text);
    }
    end_line(p);
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

static const char *light(const struct picture *p, enum pt_verdict verdict)
{
    if (p->utf8)
        return verdict == PT_VERDICT_UNKNOWN ? "○" : "●";
    return verdict == PT_VERDICT_HOLDS ? "+" : verdict == PT_VERDICT_UNKNOWN ? "?" : "X";
}

static void put_property(struct picture *p, const struct pt_scene_property *property)
{
    size_t left = p->style.width - NAME_COLUMNS - 5;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%-12s", pt_scene_property_word(property));
    if (property->verdict == PT_VERDICT_VIOLATED && property->time >= p->scene->origin)
        pt_buf_printf(&text, "  at %.3f s", (double)(property->time - p->scene->origin) / 1e9);
    else if (property->states[0] && property->verdict != PT_VERDICT_ERROR)
        pt_buf_printf(&text, "  %s", property->states);
    pt_buf_puts(p->buf, " ");
    color(p, verdict_color(property->verdict));
    pt_buf_puts(p->buf, light(p, property->verdict));
    color(p, PT_COLOR_RESET);
    pt_buf_puts(p->buf, " ");
    fit(p, property->name, NAME_COLUMNS);
    pt_buf_puts(p->buf, "  ");
    color(p, property->verdict == PT_VERDICT_HOLDS ? PT_COLOR_DIM : verdict_color(property->verdict));
    fit(p, text.text, left);
    end_line(p);
    pt_buf_release(&text);
}

/* "-4s       -2s       now", the right end above the newest column. */
static void put_axis(struct picture *p, unsigned columns)
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
    color(p, PT_COLOR_DIM);
    pt_buf_puts(p->buf, axis);
    end_line(p);
}

static const char *glyph(const struct picture *p, uint8_t marks)
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

static void put_strip(struct picture *p, const struct pt_scene_thread *thread, unsigned columns)
{
    enum pt_color last = PT_COLOR_RESET;
    for (unsigned i = 0; i < columns; i++) {
        uint64_t back = columns - 1 - i;
        uint8_t marks = back <= p->scene->column ? thread->marks[(p->scene->column - back) % PT_SCENE_COLUMNS] : 0;
        enum pt_color now = marks ? glyph_color(marks) : last;
        if (now != last) {
            color(p, PT_COLOR_RESET);
            color(p, now);
            last = now;
        }
        pt_buf_puts(p->buf, glyph(p, marks));
    }
    color(p, PT_COLOR_RESET);
}

static void put_thread(struct picture *p, const struct pt_scene_thread *thread, unsigned columns)
{
    const struct pt_names *names = p->scene->names;
    struct pt_buf now;
    pt_buf_init(&now);
    pt_buf_puts(&now, pt_scene_state_word(thread->state));
    if (thread->detail[0])
        pt_buf_printf(&now, ": %s", thread->detail);
    for (uint32_t i = 0; i < thread->lock_count; i++)
        pt_buf_printf(&now, "%s%s", i ? ", " : ", holds ", pt_name(names, PT_SPACE_LOCK, thread->locks[i]));
    pt_buf_puts(p->buf, " ");
    color(p, thread->state == PT_SCENE_ENDED ? PT_COLOR_DIM : PT_COLOR_RESET);
    fit(p, pt_name(names, PT_SPACE_THREAD, thread->name), NAME_COLUMNS);
    pt_buf_puts(p->buf, " ");
    put_strip(p, thread, columns);
    pt_buf_puts(p->buf, "  ");
    color(p, thread->state == PT_SCENE_RUNNING ? PT_COLOR_RESET : PT_COLOR_DIM);
    fit(p, now.text, NOW_COLUMNS - 2);
    end_line(p);
    pt_buf_release(&now);
}

/* Those that live first; then, where there is room, those that have ended. */
static void put_threads(struct picture *p, unsigned rows)
{
    const struct pt_scene *s = p->scene;
    unsigned columns = p->style.width - NAME_COLUMNS - NOW_COLUMNS - 2, shown = 0;
    if (columns > PT_SCENE_COLUMNS)
        columns = PT_SCENE_COLUMNS;
    put_axis(p, columns);
    for (int ended = 0; ended < 2; ended++)
        for (uint32_t t = 0; t < s->thread_count && shown < rows; t++)
            if ((s->threads[t].state == PT_SCENE_ENDED) == ended) {
                put_thread(p, &s->threads[t], columns);
                shown++;
            }
    uint64_t more = s->thread_count - shown + s->hidden;
    if (more && p->lines) {
        color(p, PT_COLOR_DIM);
        pt_buf_printf(p->buf, " and %" PRIu64 " more", more);
        end_line(p);
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

static void put_item(struct picture *p, const struct pt_scene_item *item)
{
    const struct pt_scene *s = p->scene;
    bool note = item->op == PT_OP_COUNT || item->op == PT_OP_LOST;
    size_t left = p->style.width - 14;
    struct pt_buf text;
    pt_buf_init(&text);
    if (!note)
        pt_buf_printf(&text, "%-*s ", NAME_COLUMNS, pt_name(s->names, PT_SPACE_THREAD, item->thread));
    pt_scene_item_text(s, item, &text);
    if (!note && strcmp(pt_name(s->names, PT_SPACE_LOC, item->loc), "-") != 0)
        pt_buf_printf(&text, "  %s", pt_name(s->names, PT_SPACE_LOC, item->loc));
    color(p, PT_COLOR_DIM);
    pt_buf_printf(p->buf, " %10.4f s ", item->time > s->origin ? (double)(item->time - s->origin) / 1e9 : 0.0);
    color(p, PT_COLOR_RESET);
    if (note)
        color(p, PT_COLOR_YELLOW);
    fit(p, text.text ? text.text : "", left);
    end_line(p);
    pt_buf_release(&text);
}

static void put_items(struct picture *p, unsigned rows)
{
    const struct pt_scene *s = p->scene;
    uint64_t first = s->item_count > PT_SCENE_ITEMS ? s->item_count - PT_SCENE_ITEMS : 0, at = s->item_count;
    unsigned found = 0;
    while (at > first && found < rows)
        found += is_listed(&s->items[--at % PT_SCENE_ITEMS]);
    for (; at < s->item_count && p->lines > 1; at++)
        if (is_listed(&s->items[at % PT_SCENE_ITEMS]))
            put_item(p, &s->items[at % PT_SCENE_ITEMS]);
}

static void put_legend(struct picture *p)
{
    const char *text = p->utf8 ? " ━ running  ▅ with a lock  ╌ ready  ┈ blocked  ◆ event  ▲ contended   q quits"
                               : " = running  # with a lock  - ready  . blocked  * event  ! contended   q quits";
    color(p, PT_COLOR_DIM);
    pt_style_fit(p->buf, text, p->style.width, PT_CUT_END);
    color(p, PT_COLOR_RESET);
}

void pt_live_picture(const struct pt_scene *scene, unsigned width, unsigned height, bool utf8, bool colors,
                     struct pt_buf *buf)
{
    struct picture p = {.scene = scene,
                        .style = {colors, width < MIN_WIDTH ? MIN_WIDTH : width},
                        .utf8 = utf8,
                        .lines = height < 6 ? 6 : height,
                        .buf = buf};
    unsigned spare = p.lines - 1; /* the legend's */
    put_head(&p);
    blank(&p);
    unsigned properties = scene->property_count < spare / 3 ? scene->property_count : spare / 3;
    for (uint32_t i = 0; i < properties; i++)
        put_property(&p, &scene->properties[i]);
    if (properties)
        blank(&p);
    unsigned threads = scene->thread_count;
    if (p.lines > 2 && threads > (p.lines - 2) * 2 / 3)
        threads = (p.lines - 2) * 2 / 3;
    if (p.lines > 2)
        put_threads(&p, threads);
    if (p.lines > 2)
        blank(&p);
    if (p.lines > 1)
        put_items(&p, p.lines - 1);
    while (p.lines > 1)
        end_line(&p);
    put_legend(&p);
    pt_buf_puts(buf, "\n");
}
