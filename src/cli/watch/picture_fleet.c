/*
 * Several programs on the terminal: a line each, those that need looking at first: violated, unknown or lost, the rest;
 * those that have ended last. Within these groups the order in which they came, so that lines stay where they are.
 */
#include <inttypes.h>

#include "cli/watch/fleet.h"
#include "cli/watch/picture.h"
#include "cli/watch/scene.h"

enum { FIGURES_COLUMNS = 35, LIGHTS_MOST = 16, GROUPS = 4 };

/* The group of a program's line, from the top. */
static unsigned group_of(const struct pt_watched *member)
{
    bool open = member->scene->lost > 0;
    for (uint32_t i = 0; i < member->verdicts.count; i++) {
        enum pt_verdict verdict = member->verdicts.shown[i];
        if (verdict == PT_VERDICT_VIOLATED || verdict == PT_VERDICT_ERROR)
            return 0;
        open |= verdict == PT_VERDICT_UNKNOWN;
    }
    return open ? 1 : member->over ? 3 : 2;
}

static void put_lights(struct pt_picture *p, const struct pt_watched *member, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pt_picture_light(p, member->verdicts.shown[i]);
    pt_buf_puts(p->buf, member->verdicts.count > count ? "+" : " ");
}

/* The violated ones come first: of a line that is cut they are what matters. */
static void name_bad(const struct pt_watched *member, struct pt_buf *buf)
{
    size_t before = buf->len;
    for (uint32_t i = 0; i < member->verdicts.count; i++) {
        if (member->verdicts.shown[i] == PT_VERDICT_VIOLATED)
            pt_buf_printf(buf, "%s%s", buf->len > before ? ", " : "", member->verdicts.findings[i]->property);
    }
    if (buf->len > before)
        pt_buf_puts(buf, " violated in ");
}

static void put_member(struct pt_picture *p, const struct pt_watched *member)
{
    uint32_t lights = member->verdicts.count < LIGHTS_MOST ? member->verdicts.count : LIGHTS_MOST;
    size_t left = p->style.width - FIGURES_COLUMNS - lights - 4;
    struct pt_buf label, figures;
    pt_buf_init(&label);
    pt_buf_init(&figures);
    name_bad(member, &label);
    pt_buf_printf(&label, "%s%s", member->label, member->over ? ", ended" : "");
    pt_buf_printf(&figures, "%3" PRIu32 " threads %9" PRIu64 " ev %5" PRIu64 " lost", member->scene->thread_count,
                  member->scene->events, member->scene->lost);
    pt_buf_puts(p->buf, " ");
    put_lights(p, member, lights);
    pt_buf_puts(p->buf, " ");
    if (member->over)
        pt_picture_color(p, PT_COLOR_DIM);
    pt_picture_fit(p, label.text, left);
    pt_buf_puts(p->buf, " ");
    pt_picture_color(p, member->scene->lost ? PT_COLOR_YELLOW : PT_COLOR_DIM);
    pt_picture_fit(p, figures.text, FIGURES_COLUMNS);
    pt_picture_end_line(p);
    pt_buf_release(&label);
    pt_buf_release(&figures);
}

static void put_head(struct pt_picture *p, const struct pt_fleet *fleet)
{
    struct pt_buf left, right;
    uint64_t events = 0, lost = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        events += fleet->members[i]->scene->events;
        lost += fleet->members[i]->scene->lost;
    }
    pt_buf_init(&left);
    pt_buf_init(&right);
    pt_buf_printf(&left, "%" PRIu32 " running, %" PRIu64 " ended", fleet->alive, fleet->came - fleet->alive);
    if (fleet->pending_count)
        pt_buf_printf(&left, ", %" PRIu32 " not there yet", fleet->pending_count);
    if (fleet->listens)
        pt_buf_printf(&left, "  listening at %s", fleet->listens);
    pt_buf_printf(&right, "%" PRIu64 " events  %" PRIu64 " lost ", events, lost);
    pt_picture_head(p, left.text, right.text, lost);
    pt_buf_release(&left);
    pt_buf_release(&right);
}

void pt_picture_fleet(struct pt_picture *p, const struct pt_fleet *fleet)
{
    uint32_t hidden = 0;
    put_head(p, fleet);
    pt_picture_end_line(p);
    for (unsigned group = 0; group < GROUPS; group++) {
        for (uint32_t i = 0; i < fleet->count; i++) {
            if (group_of(fleet->members[i]) != group)
                continue;
            if (p->lines > 2)
                put_member(p, fleet->members[i]);
            else
                hidden++;
        }
    }
    while (p->lines > 2)
        pt_picture_end_line(p);
    if (hidden)
        pt_buf_printf(p->buf, " and %" PRIu32 " more", hidden);
    pt_picture_end_line(p);
    pt_picture_color(p, PT_COLOR_DIM);
    pt_picture_fit(p,
                   p->utf8 ? " q quits   ● holds or violated, by its colour  ○ unknown"
                           : " q quits   + holds  X violated  ? unknown",
                   p->style.width);
    pt_picture_color(p, PT_COLOR_RESET);
    pt_buf_puts(p->buf, "\n");
}
