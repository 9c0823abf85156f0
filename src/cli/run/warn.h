#ifndef PT_CLI_RUN_WARN_H
#define PT_CLI_RUN_WARN_H

#include "base/buf.h"
#include "cli/run/session.h"

/* Says it, unless nothing is to be said. */
void pt_session_complain(const struct pt_session *session, const struct pt_err *warning);
/* Why the answer is incomplete; false: it is not. */
bool pt_session_losses(const struct pt_session *session, struct pt_buf *buf);
/* Whether there is something instrumented in what was observed, as far as it should be. */
bool pt_session_is_built(const struct pt_session *session);
/* Why not all accesses were looked at by what the program checks itself; false: all were. `ret_asked`: only because
 * somebody does not want to know of the others. */
bool pt_session_left_out(const struct pt_session *session, bool *ret_asked, struct pt_buf *buf);
/* Why the answer of a finished run is not whole (whole.h); false: it is. `ret_unseen` is NULL, or for one of several
 * processes a place for each finding (struct pt_whole_facts). */
bool pt_session_reasons(const struct pt_session *session, const struct pt_result *result, bool *ret_unseen,
                        struct pt_buf *reasons);
/* Everything that a finished run gives reason to warn of; `lost` as pt_session_losses has it. */
void pt_session_warn(const struct pt_session *session, const struct pt_buf *lost);

#endif
