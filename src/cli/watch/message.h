/* A scene as the JSON that the browser's view is sent. */
#ifndef PT_CLI_WATCH_MESSAGE_H
#define PT_CLI_WATCH_MESSAGE_H

#include "cli/watch/scene.h"

/*
 * One line: how everything stands, and the items from number *next on, at most `max` of them: what does not fit is left
 * out and counted, the newest are kept. *next moves to the end. Times are nanoseconds since the connection.
 */
void pt_message_write(const struct pt_scene *scene, uint64_t *next, uint64_t max, struct pt_buf *buf);

#endif
