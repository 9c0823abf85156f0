/* Handlers of signals, deferred while their thread is inside the runtime. */
#ifndef PT_RUNTIME_THREAD_SIGNAL_H
#define PT_RUNTIME_THREAD_SIGNAL_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* libc's own: SIGCANCEL and SIGSETXID. */
enum { PT_SIGNAL_CANCEL = 32, PT_SIGNAL_IDENTITY = 33 };

typedef int pt_signal_action(int signal, const struct sigaction *action, struct sigaction *before);

/* sigaction for the program: its handlers are called through ours. `real` is libc's. */
int pt_signal_set_handler(pt_signal_action *real, int signal, const struct sigaction *action, struct sigaction *before);
/* The object that stands for a signal on its way: to the process, or to a thread, where several threads may have the
 * same. Whoever sends it puts it there (`puts`), whoever gets it takes it; NULL: nobody has put anything. */
const void *pt_signal_way(int signal, const pthread_t *thread, bool puts);
/* In the child of a fork: nobody else asks for handlers any more. */
void pt_signal_forked(void);

/* From here on asynchronous cancellation does not strike inside the runtime. `provoke` cancels some thread, so that
 * libc sets its handler for that. False: it does so in a way that is not known here. */
bool pt_signal_guard_cancellation(void (*provoke)(void));

#endif
