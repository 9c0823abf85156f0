/*
 * race_free properties on a trace: the races that `check --races` finds, as far as each property asks for them. One
 * pass serves all of them.
 */
#ifndef PT_ENGINE_RACE_PROPERTIES_H
#define PT_ENGINE_RACE_PROPERTIES_H

#include "engine/analysis.h"

struct pt_race_properties;

/* Of kind PT_KIND_RACE, each with its finding, which is described already. */
struct pt_race_properties *pt_race_properties_new(const struct pt_property *const *properties,
                                                  struct pt_finding *const *findings, uint32_t count,
                                                  const struct pt_names *names,
                                                  const struct pt_analysis_options *options);
void pt_race_properties_free(struct pt_race_properties *p);
enum pt_status pt_race_properties_event(struct pt_race_properties *p, const struct pt_event *event,
                                        struct pt_err *err) PT_WARN_UNUSED;
/* Events are missing here. */
void pt_race_properties_gap(struct pt_race_properties *p);
/* The trace has ended; `lost`: why events are missing, NULL. */
void pt_race_properties_finish(struct pt_race_properties *p, const char *lost);

/* Does the property ask for races on what the trace calls `object`? A variable is also its members, its elements and,
 * of a heap block, its bytes. `one` and `other` are the threads. */
bool pt_race_property_wants(const struct pt_property *property, const char *object, const char *one, const char *other);

#endif
