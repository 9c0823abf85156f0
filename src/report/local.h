/* Decentralised properties as text: the thread, its event, and what it knew. */
#ifndef PT_REPORT_LOCAL_H
#define PT_REPORT_LOCAL_H

#include "finding/finding.h"
#include "report/style.h"

bool pt_local_is(const struct pt_finding *finding); /* of a decentralised property */
void pt_local_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
void pt_local_violated(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* At the end of a trace, about a violation that was reported when it was found. */
void pt_local_again(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf);
/* "thread T1, state 3, w(x)=5 by T1 (a.c:12)" */
char *pt_local_place(const struct pt_finding *finding);

#endif
