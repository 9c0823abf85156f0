/* Whether the answer of a run is whole (contract section 1): what leaves a part of it open, in words. */
#ifndef PT_CLI_RUN_WHOLE_H
#define PT_CLI_RUN_WHOLE_H

#include "base/buf.h"
#include "cli/common/analyse.h"
#include "cli/run/processes.h"
#include "finding/finding.h"

enum { PT_EXIT_NOT_WHOLE = 67 };

/* What a run that has ended left behind; texts may be NULL where there is nothing. */
struct pt_whole_facts {
    bool started;                           /* the runtime has answered: something could be observed */
    const char *lost;                       /* why events are missing */
    const char *sampled;                    /* why not all accesses were looked at, though nobody asked for less */
    const char *foreign;                    /* a variable that code which is not instrumented wrote */
    uint32_t unobserved;                    /* forked processes that were not */
    const char *late;                       /* a variable that was taken to be 0 before it was named */
    const bool *doubted;                    /* of each finding: unknown for one of these two; NULL: none */
    const char *unwritten;                  /* output files that were not written to their end, and why */
    const struct pt_analysis_input *inputs; /* of the first findings, in their order; */
    uint32_t input_count;                   /* others are of built-in checks */
    const struct pt_result *result;
    /* NULL: what a property names and nobody observed is a reason. Otherwise the process is one of several, and which
     * findings it is true of is only noted here: pt_whole_unseen decides. */
    bool *unseen;
};

/* Appends the reasons why the answer is not whole, with "; " between them; false: it is whole. */
bool pt_whole_reasons(const struct pt_whole_facts *facts, struct pt_buf *buf);
/* The same for what of several processes none has observed, though it was judged there: the answer is not whole then.
 */
bool pt_whole_unseen(const struct pt_processes *processes, const struct pt_analysis_input *inputs, struct pt_buf *buf);
/* Was a violation found that counts? */
bool pt_whole_violated(const struct pt_result *result);
/* The exit status of a run: what was found comes first, then what the program itself says. */
int pt_whole_exit(int program_status, bool found, int found_exit, bool whole, bool lenient);

#endif
