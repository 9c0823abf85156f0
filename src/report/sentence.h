/* Violations in a few sentences, for reports that show no more of them, and where to show them. */
#ifndef PT_REPORT_SENTENCE_H
#define PT_REPORT_SENTENCE_H

#include "report/result.h"

/* Plain text; the caller frees it. */
char *pt_sentence_finding(const struct pt_finding *finding);
char *pt_sentence_block(const struct pt_block *block);

/* Where people should look first: the event that breaks it, or else the property itself. */
struct pt_sentence_place {
    const char *path; /* of `len` bytes; NULL: there is none */
    size_t len;
    uint64_t line, column; /* 0: not known */
};
struct pt_sentence_place pt_sentence_place(const struct pt_finding *finding);

#endif
