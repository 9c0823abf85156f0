/*
 * The computation lattice of one property (JMPaX paper, sections 4.1 to 4.3; contract section 3, "Window"): every run
 * that the causal order allows, explored level by level.
 *
 * Guarantee. Sound: a violation is reported only with a run that respects the recorded order, replayed before it
 * leaves. Complete with window and lookahead `all`: every consistent cut is visited with every monitor state some run
 * brings to it. Bounded, exactly the cuts of the contract's definition are visited, and `complete` says whether that
 * was all. The order is the one observed under sequential consistency of the recorded accesses; nothing is claimed
 * about runs in which threads read other values.
 *
 * Cost: time proportional to edges between kept cuts; memory two levels, the pending events, and a bounded history from
 * which the witness is rebuilt.
 */
#ifndef PT_ENGINE_LATTICE_H
#define PT_ENGINE_LATTICE_H

#include "engine/analysis.h"
#include "order/order.h"

struct pt_lattice;

/* Fills `finding` as it goes; names, monitor, options and finding outlive the lattice. */
struct pt_lattice *pt_lattice_new(struct pt_monitor *monitor, const struct pt_names *names,
                                  const struct pt_analysis_options *options, struct pt_finding *finding);
void pt_lattice_free(struct pt_lattice *lattice);
/* Before it is finished: it gives up after so many states, since somebody else knows the answer. */
void pt_lattice_expect(struct pt_lattice *lattice, uint64_t states);
/* Before the first push. */
void pt_lattice_initial(struct pt_lattice *lattice, uint32_t var, struct pt_value value);
/*
 * The property's next relevant event in trace order, counted by clocks at `lane` (order/order.h): `var` is the
 * monitor's variable it writes or PT_NONE, `user_event` the monitor's event it is or PT_NONE; `clock` counts this
 * property's relevant events (a reference is taken). PT_EINPUT when two writes of one variable are not ordered
 * (possible with given clocks only).
 */
enum pt_status pt_lattice_push(struct pt_lattice *lattice, const struct pt_event *event, uint32_t lane, uint32_t var,
                               uint32_t user_event, struct pt_clock *clock, struct pt_err *err) PT_WARN_UNUSED;
/* Whether further clocks can still change what is found: not after the exploration has ended. */
bool pt_lattice_needs_order(const struct pt_lattice *lattice);
/* Whether two threads can explore it as it is now, and the options allow that, if not for the time being. */
bool pt_lattice_may_relay(const struct pt_lattice *lattice);
/* Ends the exploration, if it has not ended yet: what is not settled is unknown, for this reason. */
void pt_lattice_give_up(struct pt_lattice *lattice, const char *why);
/* Events are missing here: the same, and what follows says nothing about the actual run either. */
void pt_lattice_gap(struct pt_lattice *lattice);
/* The trace has ended: explores what is left and settles the verdict. */
void pt_lattice_finish(struct pt_lattice *lattice, const char *lost);

#endif
