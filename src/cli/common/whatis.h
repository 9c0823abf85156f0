/* What a file is, for whoever was given the wrong one. */
#ifndef PT_CLI_COMMON_WHATIS_H
#define PT_CLI_COMMON_WHATIS_H

#include "base/err.h"

enum pt_file_kind {
    PT_FILE_UNKNOWN, /* or none that can be read */
    PT_FILE_PROPERTIES,
    PT_FILE_TRACE,
    PT_FILE_RESULT,
    PT_FILE_SCHEDULE,
    PT_FILE_MODEL,
    PT_FILE_PROGRAM,
    PT_FILE_OBJECT,
    PT_FILE_SOURCE,
    PT_FILE_COMPILED, /* properties */
    PT_FILE_JSON,     /* of others */
    PT_FILE_PAGE,
    PT_FILE_SCRIPT,
};

/* By what it begins with. It says nothing of whether the rest is good. */
enum pt_file_kind pt_whatis(const char *path);
/* "a property file" */
const char *pt_whatis_words(enum pt_file_kind kind);
/* What is done with such a file, as a hint. */
void pt_whatis_hint(const char *path, enum pt_file_kind kind, struct pt_err *err);
/* Reading `path` as `wanted` has failed. Where it is plainly something else, the error becomes one that says so. */
void pt_whatis_mend(const char *path, enum pt_file_kind wanted, struct pt_err *err);

#endif
