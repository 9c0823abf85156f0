/* Runs without control, with pauses at random. */
#ifndef PT_CLI_EXPLORE_STRESS_H
#define PT_CLI_EXPLORE_STRESS_H

#include "cli/explore/explorer.h"

enum pt_status pt_explorer_stress(struct pt_explorer *explorer, struct pt_err *err) PT_WARN_UNUSED;

#endif
