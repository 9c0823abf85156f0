/* PORTENT_OPTIONS (core/settings.h) on the tool's side. */
#ifndef PT_CLI_RUN_SETTINGS_H
#define PT_CLI_RUN_SETTINGS_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/settings.h"

/* Reads the environment's; warns about what makes no sense, and lists the options when help=1 asks for it. */
void pt_settings_load(struct pt_settings *settings);
/* Sends what is said from now on to where log_path says, by the number of the observed process. */
void pt_settings_open_log(const struct pt_settings *settings, pid_t process);

#endif
