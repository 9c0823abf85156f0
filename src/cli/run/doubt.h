/*
 * Properties of which nobody can say that they hold, though no violation was found: code that is not instrumented wrote
 * one of their variables, or one came so late that its initial value is not that of the analysis.
 */
#ifndef PT_CLI_RUN_DOUBT_H
#define PT_CLI_RUN_DOUBT_H

#include "cli/run/session.h"

/* Does the property name this variable? Decentralised ones included. */
bool pt_doubt_names(const struct pt_analysis_input *input, const char *variable);
/* Makes `holds` of such properties `unknown`, with the reason; session->doubted says of which. */
void pt_doubt_apply(struct pt_session *session, const struct pt_result *result);
/* A variable has got its initial value. The threads of the program, which evaluate decentralised properties, have taken
 * one that portent_watch names to be 0. */
void pt_doubt_initial(struct pt_session *session, const char *variable, struct pt_value value);
/* A variable that a property names and code that is not instrumented wrote; one that came late; NULL: there is none. */
const char *pt_doubt_foreign(const struct pt_session *session);
const char *pt_doubt_late(const struct pt_session *session);
/* Either, as a sentence without its end; false: neither. For recordings, which do not have what was missed. */
bool pt_doubt_words(const struct pt_session *session, struct pt_buf *buf);

#endif
