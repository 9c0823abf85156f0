/* Who hears of what happens in the program's threads: the hooks of the layers, put together. */
#ifndef PT_RUNTIME_EVENTS_H
#define PT_RUNTIME_EVENTS_H

/* Before the first thread is known. */
void pt_events_register(void);

#endif
