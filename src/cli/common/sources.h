/* Lines of source files, for reports. */
#ifndef PT_CLI_COMMON_SOURCES_H
#define PT_CLI_COMMON_SOURCES_H

#include "cli/common/source_roots.h"
#include "report/format.h"

struct pt_source_files;

/* The roots are lent. */
struct pt_source_files *pt_source_files_new(const struct pt_source_roots *roots);
void pt_source_files_free(struct pt_source_files *files);
/* Gives the line that "file.c:20" or "file.c:20:5" names, seen from the current folder, else from a root. */
struct pt_source_lines pt_source_files_lend(struct pt_source_files *files);

#endif
