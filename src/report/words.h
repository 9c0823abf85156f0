/* The phrases that reports are put together from. Every char * is the caller's to free. */
#ifndef PT_REPORT_WORDS_H
#define PT_REPORT_WORDS_H

#include "finding/finding.h"
#include "report/style.h"

/* Formats, makes harmless and wraps one paragraph (see pt_style_wrap). */
void pt_words_paragraph(struct pt_buf *buf, const struct pt_style *style, unsigned first, unsigned rest,
                        const char *fmt, ...) PT_PRINTF(5, 6);
/* "holds", as JSON has it too. */
const char *pt_words_verdict(enum pt_verdict verdict);
/* "s" unless there is exactly one. */
const char *pt_words_plural(uint64_t count);
/* "w(w)=27 by T2 (water.c:20)" */
char *pt_words_step(const struct pt_step *step);
/* What a built-in check's finding is about, as its sides call it. The caller frees it. */
char *pt_words_about(const struct pt_finding *finding);
/* "w = 20, v = 40" */
char *pt_words_values(const struct pt_binding *bindings, uint32_t count);
/* The same for the state a run starts in, naming the values the trace does not give. */
char *pt_words_start(const struct pt_binding *bindings, uint32_t count);
/* Its order was one of slices=K. */
bool pt_words_is_sliced(const struct pt_finding *finding);
/* Of a property that holds: the runs in which it does, by the order that was explored. */
const char *pt_words_order_runs(const struct pt_finding *finding);
/* "7 levels, 11 states, 6 runs over 6 relevant events", with the bounds where there are any. */
char *pt_words_explored(const struct pt_finding *finding);
/* "3 of 8 reads, which must see another thread's write, and 2 of 4 sections of locks", NULL where it was not counted.
 */
char *pt_words_pinned(const struct pt_finding *finding);

/* Whether another run broke it too, as a sentence; NULL: nobody has tried. The caller frees it. */
char *pt_words_confirmed(const struct pt_finding *finding);
/* How the program itself ended in that run, as a sentence; NULL: not known. */
char *pt_words_own_check(const struct pt_finding *finding);
/* One of the `seen` of a confirmation: "r(x) by T1 (a.c:3): get a.c:3 < main a.c:9"; of a deadlock "T1 holds m (a.c:2)
 * and waits for n at a.c:3". */
char *pt_words_seen(const struct pt_finding *finding, const struct pt_side *side);

#endif
