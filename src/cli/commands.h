/* The commands of this version. */
#ifndef PT_CLI_COMMANDS_H
#define PT_CLI_COMMANDS_H

#include "cli/common/options.h"

extern const struct pt_command pt_command_cc, pt_command_cxx;
extern const struct pt_command pt_command_run, pt_command_check, pt_command_watch, pt_command_model,
    pt_command_automaton, pt_command_report, pt_command_confirm, pt_command_explore, pt_command_replay,
    pt_command_convert, pt_command_compile, pt_command_completion, pt_command_ci, pt_command_suggest;
/* All of them, in the order --help lists them, then NULL. */
extern const struct pt_command *const pt_commands[];

#endif
