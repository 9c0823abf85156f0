/*
 * Order patterns: properties that are violated by exactly the runs in which one event comes, later a second one, and so
 * on to the last (`never [true]* [event(a)] [true]* [event(b)]`, `event(b) -> !once event(a)`), each of them one of
 * some user events. They are answered without a lattice (POPL 2024; prediction.md 3.9), in the order `access`.
 */
#ifndef PT_ENGINE_PATTERNS_H
#define PT_ENGINE_PATTERNS_H

#include "finding/finding.h"
#include "logic/monitor/monitor.h"
#include "order/clock.h"
#include "trace/event.h"

/* States of the lattice that are explored before a pattern answers: small ones are described exactly. */
enum { PT_PATTERN_STATES = 1 << 18 };

struct pt_order_pattern;

/* NULL: the property is none. The monitor outlives it. */
struct pt_order_pattern *pt_order_pattern_of(struct pt_monitor *monitor, const struct pt_names *names,
                                             uint64_t counted_before);
void pt_order_pattern_free(struct pt_order_pattern *pattern); /* NULL is fine */
/* The property's next relevant event in trace order, as pt_lattice_push has it; a reference of the clock is taken. */
void pt_order_pattern_event(struct pt_order_pattern *pattern, const struct pt_event *event, uint32_t lane,
                            uint32_t user_event, struct pt_clock *clock);
/* False: there are too many ways in which threads can share the pattern's events. */
bool pt_order_pattern_can(const struct pt_order_pattern *pattern);
/* The trace has ended, and it can: settles the finding, with a shortest witness. */
void pt_order_pattern_finish(struct pt_order_pattern *pattern, struct pt_finding *finding);

#endif
