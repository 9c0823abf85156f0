/* The terminal's view of a watched program (--live): a line per thread, drawn in place. */
#ifndef PT_CLI_WATCH_LIVE_H
#define PT_CLI_WATCH_LIVE_H

#include "cli/watch/scene.h"
#include "report/style.h"

/* Takes the terminal over. False: standard output is none that can be drawn on, and nothing has happened. */
bool pt_live_begin(void);
void pt_live_draw(const struct pt_scene *scene);
/* The descriptor whose keys matter, -1: none; and whether one of them asked for the end. */
int pt_live_keys(void);
bool pt_live_quits(void);
/* Gives the terminal back as it was; harmless at any time, signal handlers included. */
void pt_live_end(void);

/* The picture for a terminal of this size, without what moves the cursor: lines, each ended by a newline. */
void pt_live_picture(const struct pt_scene *scene, unsigned width, unsigned height, bool utf8, bool color,
                     struct pt_buf *buf);

#endif
