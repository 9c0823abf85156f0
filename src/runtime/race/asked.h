/*
 * Which stretches of plain accesses are told (core/look.h): a byte of each says whether it is asked now, another one
 * whether there is nothing to ask in gaps any more. Opening and closing a window writes the first ones of all modules,
 * so that instrumented code looks at nothing else.
 *
 * Guarantee: who sees that a window is open, by what orders him behind whoever opened it, is asked in it; a byte that
 * was about to be written then is written again. Cost: two bytes a stretch, written for each window.
 */
#ifndef PT_RUNTIME_RACE_ASKED_H
#define PT_RUNTIME_RACE_ASKED_H

#include "core/look.h"

/* Which are asked from here on. Not twice at a time (window.c has a lock). */
void pt_race_ask(enum pt_asks which);
/* A stretch has been told: the runtime knows its module from here on, or after another one, if somebody is at the list
 * now. This and the next one have a lock that opening a window takes, too: a thread that may open one is inside the
 * runtime, so that no handler of a signal comes in the middle. */
void pt_race_asked_list(struct pt_asked *asked);
/* It goes. Threads that are not joined may go on in it, if it is the program that ends: they are asked each time, if
 * anybody asks. */
void pt_race_asked_leave(struct pt_asked *asked);
/* A stretch need not be told again as long as, and whenever, __portent_asks is this. */
void pt_race_asked_known(struct pt_asked *asked, uint32_t stretch, enum pt_asks asks);
/* Nobody is in the middle of these: in the child of a fork. */
void pt_race_asked_reset(void);

#endif
