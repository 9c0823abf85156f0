/*
 * Pictures for a terminal of a certain size: lines that fit its width, never more than it has, without what moves the
 * cursor.
 */
#ifndef PT_CLI_WATCH_PICTURE_H
#define PT_CLI_WATCH_PICTURE_H

#include "finding/finding.h"
#include "report/style.h"

struct pt_scene;
struct pt_fleet;

struct pt_picture {
    struct pt_style style;
    bool utf8;
    unsigned lines; /* that are left */
    struct pt_buf *buf;
};

struct pt_picture pt_picture_new(unsigned width, unsigned height, bool utf8, bool colors, struct pt_buf *buf);
/* One program: its threads over time. */
void pt_picture_scene(struct pt_picture *p, const struct pt_scene *scene);
/* Several: a line for each. */
void pt_picture_fleet(struct pt_picture *p, const struct pt_fleet *fleet);

/* --- between the two --- */

void pt_picture_color(struct pt_picture *p, enum pt_color which);
void pt_picture_end_line(struct pt_picture *p);
/* The text in so many columns, cut or padded. */
void pt_picture_fit(struct pt_picture *p, const char *text, size_t columns);
/* The first line. `warns`: what stands right is no good news. */
void pt_picture_head(struct pt_picture *p, const char *left, const char *right, bool warns);
void pt_picture_light(struct pt_picture *p, enum pt_verdict verdict);

#endif
