/* Suppression files: a list of what core/suppress.h describes, and which violations it covers. */
#ifndef PT_FINDING_SUPPRESS_H
#define PT_FINDING_SUPPRESS_H

#include "base/err.h"
#include "finding/finding.h"

struct pt_suppressions {
    struct pt_arena arena;
    struct pt_suppression *items;
    uint32_t count;
    size_t cap;
};

void pt_suppressions_init(struct pt_suppressions *list);
void pt_suppressions_release(struct pt_suppressions *list);
/* Adds the lines of one file; `file` names it in errors. */
enum pt_status pt_suppressions_add(struct pt_suppressions *list, const char *file, const char *text, size_t len,
                                   struct pt_err *err) PT_WARN_UNUSED;
/* The first that matches, NULL for none. */
struct pt_suppression *pt_suppressions_match(const struct pt_suppressions *list, const struct pt_finding *finding);
/* The same for an atomic block; `label` is its name, or what stands for it. */
struct pt_suppression *pt_suppressions_match_block(const struct pt_suppressions *list, const char *label,
                                                   const char *thread, const char *file);
#endif
