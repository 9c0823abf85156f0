/* Properties (-s) of an exploration: what they name in the program, and how they are evaluated on recordings of runs.
 */
#ifndef PT_CLI_EXPLORE_PROPERTIES_H
#define PT_CLI_EXPLORE_PROPERTIES_H

#include "cli/common/analyse.h"
#include "explore/places.h"
#include "trace/event.h"

enum { PT_EXPLORE_PROPERTIES = 64 }; /* at most */

struct pt_explore_properties;

/* Looks up what they name. PT_EINPUT: unknown or ambiguous, or of a kind that recordings cannot answer. */
enum pt_status pt_explore_properties_new(struct pt_analyse *analyse, const char *program,
                                         struct pt_explore_properties **ret_properties,
                                         struct pt_err *err) PT_WARN_UNUSED;
void pt_explore_properties_free(struct pt_explore_properties *properties);
uint32_t pt_explore_properties_count(const struct pt_explore_properties *properties);
const char *pt_explore_properties_name(const struct pt_explore_properties *properties, uint32_t index);
/* The file it stands in. */
const char *pt_explore_properties_file(const struct pt_explore_properties *properties, uint32_t index);
/* Whether the order of independent steps may matter to one of them even where threads' events are the same: `within`.
 */
bool pt_explore_properties_follow_order(const struct pt_explore_properties *properties);

/* Places that access what they name become scheduling points, so that other threads can come in between. */
void pt_explore_properties_share(const struct pt_explore_properties *properties, struct pt_explore_places *places);

/* Their part of reading a recording. `predicts`: in all orders, for a short while; else the run as it was, alone. */
struct pt_analysis *pt_explore_properties_begin(struct pt_explore_properties *properties, struct pt_names *names,
                                                bool predicts);
/* Before the first event that is no initial value: values of variables that the recording gave none for. `given`: ids
 * of those that it did. */
enum pt_status pt_explore_properties_initial(const struct pt_explore_properties *properties, struct pt_names *names,
                                             const struct pt_map64 *given, struct pt_analysis *analysis,
                                             struct pt_err *err) PT_WARN_UNUSED;

/* Whether the run at hand breaks it, by a finding of theirs. */
static inline bool pt_explore_is_broken(const struct pt_finding *finding)
{
    return finding->verdict == PT_VERDICT_VIOLATED && finding->how != PT_HOW_PREDICTED;
}

/* The functions whose calls are events, as that setting has them; NULL: there are none. */
const char *pt_explore_properties_functions(const struct pt_explore_properties *p);
/* The setting by which the program makes events of the functions that properties name; nothing without properties. */
void pt_explore_properties_calls(const struct pt_explore_properties *p, struct pt_buf *options);

#endif
