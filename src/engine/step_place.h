/* An event as the place of an error, in words that do not depend on the trace's file or form. */
#ifndef PT_ENGINE_STEP_PLACE_H
#define PT_ENGINE_STEP_PLACE_H

#include "finding/finding.h"

/* The finding's own text: "w(x)=3 by T1 at a.c:3". */
const char *pt_step_place(struct pt_finding *finding, const struct pt_step *step);

#endif
