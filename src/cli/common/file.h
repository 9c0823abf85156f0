/* Whole files, and the modules and property files named on a command line. */
#ifndef PT_CLI_COMMON_FILE_H
#define PT_CLI_COMMON_FILE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "logic/lang/property.h"

struct portent_monitor;
struct pt_loaded;

/* The caller frees *ret_text, which has a NUL behind its *ret_len bytes. */
enum pt_status pt_file_read(const char *path, char **ret_text, size_t *ret_len, struct pt_err *err) PT_WARN_UNUSED;
/* Reads a .prop file, and the files its properties name, into `props`. */
enum pt_status pt_file_properties(struct pt_properties *props, const char *path, struct pt_err *err) PT_WARN_UNUSED;
/* Reads a result of `--json`, `-r` or `model`. The caller frees it. */
enum pt_status pt_file_result(const char *path, struct pt_loaded **ret_loaded, struct pt_err *err) PT_WARN_UNUSED;
/* Loads a user's monitor (include/portent-monitor.h) and checks it; it stays loaded until the process ends. */
enum pt_status pt_file_module(const char *path, const struct portent_monitor **ret_module,
                              struct pt_err *err) PT_WARN_UNUSED;

/*
 * Gives an error that names a line of a text trace but does not show it that line, and a column if it has none (its
 * clock: the other checks of whole lines name one).
 * Nothing happens where the line cannot be read again: it stood in a pipe, a trace without lines, or too large a file.
 */
void pt_file_show_line(const char *path, struct pt_err *err);
/* Whether a file starts like a JSON object. */
bool pt_file_is_json(const char *path);

/* A fresh file beside `path`, with the permissions a new file gets. The caller frees its name. */
enum pt_status pt_file_temporary(const char *path, char **ret_name, struct pt_err *err) PT_WARN_UNUSED;
/* Writes a file that appears under its name only when it is whole. */
enum pt_status pt_file_write(const char *path, const struct pt_buf *buf, struct pt_err *err) PT_WARN_UNUSED;

#endif
