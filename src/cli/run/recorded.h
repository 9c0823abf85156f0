/* What the program records by itself (core/recording.h): into a trace, and into analyses that need every event. */
#ifndef PT_CLI_RUN_RECORDED_H
#define PT_CLI_RUN_RECORDED_H

#include "cli/run/session.h"

/* Whether the program is to record, and where; then `keep` is without what the recording has. */
void pt_recorded_choose(struct pt_session *session, uint32_t *keep);
/* The checks of what is recorded. */
void pt_recorded_begin(struct pt_session *session);
/* The program runs: passes on what it has recorded by now, or some of it. True: there may be more already. */
bool pt_recorded_follow(struct pt_session *session);
/* The program has ended: passes its events on, and removes the files unless they may be needed again. `lost`: why some
 * are missing. */
void pt_recorded_take(struct pt_session *session, struct pt_buf *lost);
/* As pt_analysis_options.again, of a session whose recording was taken and not forgotten. */
const char *pt_recorded_again(void *session, uint64_t count, void (*take)(void *context, const struct pt_event *event),
                              void *context);
void pt_recorded_forget(struct pt_session *session);

#endif
