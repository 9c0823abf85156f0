/* Names of a scheduled program's functions and variables by their addresses, from its debug information. */
#ifndef PT_CLI_EXPLORE_NAMES_H
#define PT_CLI_EXPLORE_NAMES_H

#include "explore/story.h"

struct pt_program_names;

/* Never NULL; a program without debug information has no names. */
struct pt_program_names *pt_program_names_new(const char *path);
void pt_program_names_free(struct pt_program_names *names);
/* For stories; `names` outlives them. */
struct pt_explore_names pt_program_names_for(struct pt_program_names *names, const struct pt_explore_places *places);

#endif
