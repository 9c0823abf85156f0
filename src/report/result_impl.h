/* Reading members of JSON objects, shared by the files that read results. */
#ifndef PT_REPORT_RESULT_IMPL_H
#define PT_REPORT_RESULT_IMPL_H

#include "report/json_reader.h"
#include "report/result.h"

/*
 * One reading. The first thing that is wrong is remembered and everything after it gets harmless defaults, so that the
 * readers need not ask after every member.
 */
struct reading {
    struct pt_arena *arena;
    bool failed;
    char problem[400];
};

void rd_fail(struct reading *r, const char *fmt, ...) PT_PRINTF(2, 3);
/* A member that must be there, and one that need not. `where` names the object in messages. */
const char *rd_string(struct reading *r, const struct pt_json_node *object, const char *where, const char *key);
const char *rd_string_or(struct reading *r, const struct pt_json_node *object, const char *where, const char *key,
                         const char *fallback);
uint64_t rd_uint(struct reading *r, const struct pt_json_node *object, const char *where, const char *key,
                 uint64_t max);
uint64_t rd_uint_or(struct reading *r, const struct pt_json_node *object, const char *where, const char *key,
                    uint64_t max, uint64_t fallback);
bool rd_bool_or(struct reading *r, const struct pt_json_node *object, const char *where, const char *key,
                bool fallback);
/* An array or object, NULL when absent. */
const struct pt_json_node *rd_array(struct reading *r, const struct pt_json_node *object, const char *where,
                                    const char *key);
const struct pt_json_node *rd_object(struct reading *r, const struct pt_json_node *object, const char *where,
                                     const char *key);
/* The same for an element; one that is no number below `limit` is a failure and 0. */
uint32_t rd_index(struct reading *r, const struct pt_json_node *value, const char *where, uint32_t limit);
/* The same for a number that counts events, however many there are. */
uint64_t rd_count(struct reading *r, const struct pt_json_node *value, const char *where);
struct pt_value rd_value(struct reading *r, const struct pt_json_node *value);
char *rd_text(struct reading *r, const struct pt_json_node *value, const char *where);

/* result_detail.c: the members that json_detail.c writes. */
void rd_detail(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
void rd_step(struct reading *r, const struct pt_json_node *object, const char *where, struct pt_step *step);
/* result_within.c: what `within` findings have beside. */
void rd_within(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
/* result_check.c: one of the findings of a built-in check. */
void rd_check(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
/* Whether another run of the program confirmed it, if that was tried. */
void rd_confirmation(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
/* What that run has shown of it; none of it need be there. */
void rd_seen(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
/* result_played.c: what a finding of `explore` has beside, and the result. */
void rd_played(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
void rd_explored(struct reading *r, const struct pt_json_node *root, struct pt_result *result);
/* The steps of a run, as many as the list has. */
struct pt_step *rd_steps(struct reading *r, const struct pt_json_node *list, const char *where);
/* "schedule", which need not be there. */
void rd_schedule(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding);
/* result_model.c */
void rd_model(struct reading *r, const struct pt_json_node *root, const char *label, struct pt_loaded *loaded);
/* The blocks that `check --atomicity` adds to its result. */
void rd_blocks(struct reading *r, const struct pt_json_node *root, struct pt_loaded *loaded);

#endif
