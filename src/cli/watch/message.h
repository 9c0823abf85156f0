/* A message to a page that looks: JSON, one line. */
#ifndef PT_CLI_WATCH_MESSAGE_H
#define PT_CLI_WATCH_MESSAGE_H

#include "cli/watch/fleet.h"
#include "cli/watch/scene.h"

/*
 * Of several programs, how each stands; and of the one that is looked at, if any, everything about it: what happened
 * since item *next, the last `max` items of it; how many were left out is said. *next becomes the number of the next
 * item. `past`: also what each thread did since the start, in rough strokes.
 */
void pt_message_write(const struct pt_fleet *fleet, const struct pt_scene *scene, uint64_t *next, uint64_t max,
                      bool past, struct pt_buf *buf);

#endif
