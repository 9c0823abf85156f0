/* When, where and by what this process makes results and reports. */
#ifndef PT_CLI_COMMON_MADE_H
#define PT_CLI_COMMON_MADE_H

#include <time.h>

#include "base/buf.h"

struct pt_made;

/* Keeps the command line. */
void pt_made_begin(int argc, char **argv);
/* As of the first call. Valid until the end. */
const struct pt_made *pt_made_now(void);

/* As text, in UTC. */
enum { PT_MADE_TIME = 32 };
void pt_made_time(time_t seconds, char text[PT_MADE_TIME]);

/* The commit that is checked out in the working tree around a folder, "" if there is none or git keeps it in a way that
 * is not known here. Reads files alone. */
void pt_made_commit(const char *folder, struct pt_buf *ret_commit);

#endif
