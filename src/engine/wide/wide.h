/*
 * Properties in the orders `sync` and `values` (contract section 3, "Wider orders"): every possible run of a recorded
 * trace, with a monitor on each.
 *
 * Guarantee. Sound: a violation is reported only with a run that the judge of order/possible.h has accepted event by
 * event, and whose last state the monitor calls bad when it is played from the values alone. Complete, when the search
 * comes to its end: every sequence of relevant events that some possible run has is read by the monitor; steps.c states
 * why the events that are left out or taken at once change none of them. The witness is a shortest one, and among
 * those it has the fewest context switches.
 *
 * Cost: time proportional to the steps between states; a state is a cut of the events that matter (sync), with the last
 * writes that a read still to come may see (values). Memory: two levels of states; a violation's search is done once
 * more with all levels kept. All of this ends at the deadline and at the memory limit.
 */
#ifndef PT_ENGINE_WIDE_WIDE_H
#define PT_ENGINE_WIDE_WIDE_H

#include "engine/analysis.h"
#include "order/possible.h"
#include "predict/log.h"

/* All events of a trace, for any number of searches. */
struct pt_wide_log;
struct pt_wide_log *pt_wide_log_new(const struct pt_names *names);
/* One with the same initial values, and no events. */
struct pt_wide_log *pt_wide_log_like(const struct pt_wide_log *log);
void pt_wide_log_free(struct pt_wide_log *log); /* NULL is fine */
void pt_wide_log_event(struct pt_wide_log *log, const struct pt_event *event);
size_t pt_wide_log_bytes(const struct pt_wide_log *log);
uint64_t pt_wide_log_count(const struct pt_wide_log *log);
/* An event by its place, from 0. */
struct pt_log_event pt_wide_log_at(const struct pt_wide_log *log, uint64_t place);
/* Forgets everything: no search will be possible, for this reason (a text that outlives the log). */
void pt_wide_log_refuse(struct pt_wide_log *log, const char *why);
/* Forgets the events, but not the initial values, and keeps no more of them until this is taken back. */
void pt_wide_log_thin(struct pt_wide_log *log, bool thin);
/* When all events are there: in each run that has the event at this place the other one comes before it, whatever the
 * order; one at most for each. Searches by pt_wide_meet know of it: a use of memory needs its allocation. */
void pt_wide_log_need(struct pt_wide_log *log, uint64_t place, uint64_t needed);
/* When all events are there: is it a read that may see several writes in runs of `values`? */
bool pt_wide_log_is_free(struct pt_wide_log *log, uint64_t place);
/* NULL: searches are possible. */
const char *pt_wide_log_refuses(const struct pt_wide_log *log);

/* What a property calls relevant: names of the trace to numbers of its monitor, PT_NONE for others. */
struct pt_wide_names {
    const uint32_t *vars, *events;
    size_t var_count, event_count;
};

enum pt_wide_end {
    PT_WIDE_HOLDS,    /* no possible run violates the property, and all were explored */
    PT_WIDE_VIOLATED, /* the finding has the witness */
    PT_WIDE_ERROR,    /* the finding has the message */
    PT_WIDE_CUT,      /* the search was cut off; nothing was found so far */
};

/* What was explored, as a finding has it. */
struct pt_wide_figures {
    uint64_t relevant, levels, states, width, runs; /* in slices: of the passes; runs are not counted */
    bool runs_overflow;
    uint64_t peak_bytes;
    const char *cut; /* why the search was cut off; NULL: it was not */
};

/* PT_POSSIBLE_SYNC, PT_POSSIBLE_VALUES; or, of the latter's runs, those of so many slices more than one (sliced.c). */
struct pt_wide_order {
    enum pt_possible possible;
    bool sliced;
    uint32_t slices; /* at most PT_MOST_SLICES */
};
enum { PT_MOST_SLICES = 2 };

/*
 * Explores an order for one property, until `deadline` (by options->now; 0: none). Of the finding only what the end
 * says is written: verdict, how, message, order, witness and what goes with it.
 */
enum pt_wide_end pt_wide_explore(struct pt_wide_log *log, struct pt_wide_order order, struct pt_monitor *monitor,
                                 const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                 uint64_t deadline, struct pt_finding *finding, struct pt_wide_figures *ret_figures);

/*
 * Slices of a trace that is too long for the log, which is thin: all events of the trace are given as often as
 * pt_wide_stream_begin asks for it. Then the end: a violation, or a property without a value, was only found (after so
 * many of the events), and has to be explored in a log of these; the finding is untouched. `names` stay where they are.
 */
struct pt_wide_stream;
struct pt_wide_stream *pt_wide_stream_new(struct pt_wide_log *log, uint32_t slices, struct pt_monitor *monitor,
                                          const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                          uint64_t deadline, struct pt_finding *finding);
void pt_wide_stream_free(struct pt_wide_stream *stream); /* NULL is fine */
bool pt_wide_stream_begin(struct pt_wide_stream *stream);
void pt_wide_stream_event(struct pt_wide_stream *stream, const struct pt_event *event);
/* Whether the actual run breaks the property itself; after the first pass. */
bool pt_wide_stream_is_observed(const struct pt_wide_stream *stream);
enum pt_wide_end pt_wide_stream_end(const struct pt_wide_stream *stream, struct pt_wide_figures *ret_figures,
                                    uint64_t *ret_found_at);

/*
 * The same of a trace that comes once, event by event (sliced_live.c). Made when the initial values are known; `log` is
 * thin. What an event comes to: it goes on; or a violation, or a property without a value, is complete with it, which
 * has to be explored in a log of the events so far; or all events so far, this one with them, are to be given again,
 * from the first one on, without which it is given up; or it was given up, and the passes over the trace can tell.
 */
struct pt_wide_live;
enum pt_wide_live_end { PT_WIDE_LIVE_ON, PT_WIDE_LIVE_FOUND, PT_WIDE_LIVE_AGAIN, PT_WIDE_LIVE_UP };
struct pt_wide_live *pt_wide_live_new(struct pt_wide_log *log, uint32_t slices, struct pt_monitor *monitor,
                                      const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                      struct pt_finding *finding);
void pt_wide_live_free(struct pt_wide_live *live); /* NULL is fine */
/* Of the property's variable (PT_NONE: it writes none), or which of its user events it is (PT_NONE: none). */
enum pt_wide_live_end pt_wide_live_event(struct pt_wide_live *live, const struct pt_event *event, uint32_t var,
                                         uint32_t user_event);
/* What was explored; and why it was given up, NULL: it was not. */
void pt_wide_live_figures(const struct pt_wide_live *live, struct pt_wide_figures *ret_figures);
const char *pt_wide_live_why(const struct pt_wide_live *live);

/*
 * Whether a possible run of the order `values` has some events, and ends where each of some others comes next in its
 * thread; those that are next of different threads, and all given by their places in the log. Nothing is taken and two
 * accesses are next: a race; the acquisitions of a deadlock; a free is taken, and the use of its block is next; the
 * store of null is taken, and the read that sees it is next. PT_WIDE_VIOLATED: there is one, *ret_run are the places of
 * its events, to be freed, and the judge has played it. PT_WIDE_HOLDS: there is none. PT_WIDE_CUT: not known, by the
 * time or the bytes of the limit.
 */
struct pt_wide_limit {
    uint64_t (*now)(void); /* NULL: no end */
    uint64_t deadline;
    size_t bytes; /* of the states */
};
struct pt_wide_question {
    const uint32_t *next, *taken;
    uint32_t next_count, taken_count;
    const struct pt_wide_sees { /* a variable that one of those that are next reads; NULL: whatever it sees */
        uint32_t var;
        uint32_t store; /* the latest in the run, its place plus 1; 0: the run has none */
    } * sees;
};
enum pt_wide_end pt_wide_meet(struct pt_wide_log *log, const struct pt_wide_question *question,
                              const struct pt_wide_limit *limit, uint64_t **ret_run, uint64_t *ret_count);
/* What one run could show: fills `pinned` and `widen` of a finding that holds. NULL: nobody asked for wider orders. */
void pt_wide_describe(struct pt_wide_log *log, struct pt_finding *finding);

#endif
