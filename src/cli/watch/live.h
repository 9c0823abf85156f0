/* The terminal's view (--live), drawn in place: of one program a line per thread, of several a line per program. */
#ifndef PT_CLI_WATCH_LIVE_H
#define PT_CLI_WATCH_LIVE_H

#include "cli/watch/fleet.h"

/* Takes the terminal over. False: standard output is none that can be drawn on, and nothing has happened. */
bool pt_live_begin(void);
void pt_live_draw(const struct pt_fleet *fleet);
/* The descriptor whose keys matter, -1: none; and whether one of them asked for the end. */
int pt_live_keys(void);
bool pt_live_quits(void);
/* Gives the terminal back as it was; harmless at any time, signal handlers included. */
void pt_live_end(void);

#endif
