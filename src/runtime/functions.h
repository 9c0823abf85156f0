/* Calls and returns of functions as user events; functions.c. */
#ifndef PT_RUNTIME_FUNCTIONS_H
#define PT_RUNTIME_FUNCTIONS_H

/* The options are known: from here on it is decided, once for each function, whether anybody wants its events. */
void pt_functions_start(void);

#endif
