/* Whole files, and the modules and property files named on a command line. */
#ifndef PT_CLI_FILE_H
#define PT_CLI_FILE_H

#include "base/err.h"
#include "logic/property.h"

struct portent_monitor;

/* The caller frees *ret_text, which has a NUL behind its *ret_len bytes. */
enum pt_status pt_file_read(const char *path, char **ret_text, size_t *ret_len, struct pt_err *err) PT_WARN_UNUSED;
/* Reads a .prop file, and the files its properties name, into `props`. */
enum pt_status pt_file_properties(struct pt_properties *props, const char *path, struct pt_err *err) PT_WARN_UNUSED;
/* Loads a user's monitor (include/portent-monitor.h) and checks it; it stays loaded until the process ends. */
enum pt_status pt_file_module(const char *path, const struct portent_monitor **ret_module,
                              struct pt_err *err) PT_WARN_UNUSED;

#endif
