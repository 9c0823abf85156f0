/*
 * Suppressions: which violations people have decided to live with. One per line, TYPE:PATTERN, in the syntax that
 * ThreadSanitizer reads; `#` starts a comment line.
 *
 *   property:NAME       a property by its whole name; `*` stands for any text
 *   block:NAME          an atomic block by its whole name, or THREAD/NUMBER where it has none; `*` likewise
 *   race:PATTERN        violations of race_free(...) whose variable, file or thread's start function matches
 *   atomicity:PATTERN   violations of atomic_block(...), in the same way, and atomic blocks whose name, thread or file
 * matches
 *
 * In other types than `property` and `block`, PATTERN matches anywhere in the name unless `^` begins or `$` ends it.
 * TSan's types that have no counterpart here (race_top, thread, mutex, signal, deadlock, called_from_lib) are read and
 * match nothing.
 */
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
/* Whether `text` matches a pattern with `*`, `^` and `$`; `whole`: as if both anchors were there. */
bool pt_suppression_matches(const char *pattern, const char *text, bool whole);

#endif
