/* What violations do to the program: how many there were, and how it ends (halt_on_error, exitcode). */
#ifndef PT_RUNTIME_FOUND_VERDICT_H
#define PT_RUNTIME_FOUND_VERDICT_H

#include <stdbool.h>

/* An observer gets the records, and decides about the exit status itself, since it knows more. */
bool pt_verdict_is_observed(void);
/* Something was found that counts. */
void pt_verdict_count(void);
/* In a child that begins anew: nothing was found yet. */
void pt_verdict_restart(void);
/* Ends the program with status `exitcode` if halt_on_error says so; `what` is said in the message: "property 'x'". */
void pt_verdict_halt(const char *what);
/* The program ends: if something was found, with status `exitcode`, as ThreadSanitizer does. */
void pt_verdict_finish(void);

#endif
