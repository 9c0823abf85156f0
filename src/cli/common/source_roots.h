/* Which files a report may quote: those below folders that whoever makes the report has chosen. */
#ifndef PT_CLI_COMMON_SOURCE_ROOTS_H
#define PT_CLI_COMMON_SOURCE_ROOTS_H

#include "base/err.h"

struct pt_source_roots;

/* Nothing may be quoted yet. */
struct pt_source_roots *pt_source_roots_new(void);
void pt_source_roots_free(struct pt_source_roots *roots);
/* A folder that the user has named. PT_EIO: it is none. */
enum pt_status pt_source_roots_add(struct pt_source_roots *roots, const char *folder,
                                   struct pt_err *err) PT_WARN_UNUSED;
/* What a result has recorded, then NULL: counts as far as it lies in the current folder. NULL: the current folder. */
void pt_source_roots_record(struct pt_source_roots *roots, const char *const *recorded);
/* A regular file below a root, to be read; -1: it is not there, or not to be read. Never blocks. */
int pt_source_roots_open(const struct pt_source_roots *roots, const char *path);

#endif
