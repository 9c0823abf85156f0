/* Handlers of signals, deferred while their thread is inside the runtime. */
#ifndef PT_RUNTIME_THREAD_SIGNAL_H
#define PT_RUNTIME_THREAD_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

typedef int pt_signal_action(int signal, const struct sigaction *action, struct sigaction *before);

/* sigaction for the program: its handlers are called through ours. `real` is libc's. */
int pt_signal_set_handler(pt_signal_action *real, int signal, const struct sigaction *action, struct sigaction *before);

/* From here on asynchronous cancellation does not strike inside the runtime. `provoke` cancels some thread, so that
 * libc sets its handler for that. False: it does so in a way that is not known here. */
bool pt_signal_guard_cancellation(void (*provoke)(void));

#endif
