/* Lines of source files, for reports. */
#ifndef PT_CLI_COMMON_SOURCES_H
#define PT_CLI_COMMON_SOURCES_H

#include "report/format.h"

struct pt_source_files;

struct pt_source_files *pt_source_files_new(void);
void pt_source_files_free(struct pt_source_files *files);
/* Gives the line that "file.c:20" or "file.c:20:5" names, from where the command runs. */
struct pt_source_lines pt_source_files_lend(struct pt_source_files *files);

#endif
