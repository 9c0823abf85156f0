/* Everything the program says on standard error, and what it knows of the terminal. */
#ifndef PT_CLI_COMMON_DIAG_H
#define PT_CLI_COMMON_DIAG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"

enum { PT_EXIT_HOLDS = 0, PT_EXIT_VIOLATED = 1, PT_EXIT_BAD = 2, PT_EXIT_UNKNOWN = 3 };

/* FILE:LINE:COLUMN: error: MESSAGE, the source line, a caret under the column, and the hint. */
void pt_diag_error(const struct pt_err *err);
void pt_diag_warning(const struct pt_err *err);
/* `acc->bal` in a formula is an implication; who writes it without a gap, of what is no variable, meant C's. Adds a
 * hint if the property's text does that before `path`. */
void pt_diag_hint_arrow(const char *text, const char *path, struct pt_err *err);
/* Bad usage of a command (NULL: none in particular). */
void pt_diag_usage(const char *command, const char *fmt, ...) PT_PRINTF(2, 3);

/* Columns of the terminal behind a descriptor, 0 when it is none. */
unsigned pt_terminal_width(int fd);
/* Writes to standard output and flushes. False after a message: it could not be written. */
bool pt_output(const struct pt_buf *buf);

#endif
