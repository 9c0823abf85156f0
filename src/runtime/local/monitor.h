/*
 * Decentralised properties inside the program (DAME): each thread that a property is about, or asks about, evaluates
 * it in each of its states (core/mttl.h), from what its clock carries (knowledge.h). No lock is shared between threads
 * except when one is started.
 *
 * These functions are called with an event while its object is still locked and the clocks of that object have been
 * taken, but not yet given: so what a thread knows, evaluates and shows is one step for all others. Every event of a
 * thread makes a state, the same ones that a recording of everything has (full.h).
 */
#ifndef PT_RUNTIME_LOCAL_MONITOR_H
#define PT_RUNTIME_LOCAL_MONITOR_H

#include "runtime/clock/knowledge.h"
#include "runtime/local/self.h"
#include "runtime/shadow/slow.h"
#include "runtime/thread/thread.h"

enum { PT_LOCAL_NAMES = 8 };

/* What a thread remembers between its events. */
struct pt_local_monitor {
    uint32_t slot;
    bool steps;               /* it keeps units; otherwise its events are not even counted */
    bool tracks;              /* others ask about it */
    bool stable;              /* the last step would repeat itself ... */
    bool touched;             /* ... unless its event had a name, or a local variable has changed, ... */
    bool heard;               /* ... or something else that it knows, ... */
    bool broken;              /* some property is violated in the present state */
    struct pt_mttl_view view; /* what the next step will see; kept, because little of it changes from step to step */
    struct pt_mttl_thread *memory;
    struct pt_mttl_entry *next;
    size_t next_bytes;
    const struct pt_mttl_entry **known; /* the view's; those of other threads live while !heard */
    uint32_t known_cap;
    struct {
        const char *name;
        uint32_t variable;            /* plus 1 */
    } names[PT_LOCAL_NAMES];          /* lately given to portent_internal */
    struct pt_mttl_verdict *verdicts; /* these four stand behind it, by property and by variable of the block */
    uint64_t *since;                  /* 1 + the first of the present run of violating states; 0: not violated */
    struct pt_value *values;          /* the view's */
    struct pt_value *locals;          /* unknown: not set */
};

extern bool pt_monitor_on; /* there are such properties; set before main */
extern const struct pt_mttl *pt_monitor_block;

/* The properties of the configuration, and state 0 of the calling thread, the first. */
void pt_monitor_configure(struct pt_thread *self, const struct pt_config *config);
/* In a child that begins anew, before that: there are no properties. */
void pt_monitor_restart(void);
/* A thread that is not running yet, or does not know it yet, gets its slot and its state 0. `parent`: it forks it, and
 * knows of it from here on; NULL: nobody does. */
void pt_monitor_introduce(struct pt_thread *thread, struct pt_thread *parent);
/* Gives the thread its name, if it has none; meeting it does too. */
void pt_monitor_name_thread(struct pt_thread *thread);
/* The thread runs, and has its slot: once it has ended, or the program has, ... */
void pt_monitor_begin(struct pt_thread *self);
/* ... it reports what it has not reported yet. */
void pt_monitor_end(struct pt_thread *self);
void pt_monitor_drop(struct pt_thread *self, struct pt_thread *thread);
/* pthread_setname_np: a thread that the properties name so and that has not been met. */
void pt_monitor_rename(struct pt_thread *self, struct pt_thread *thread, const char *name);

/* A watched variable's write by any thread: its value is news. Before the event itself. */
void pt_monitor_written(struct pt_thread *self, uint32_t object);
/* One event of a thread that `steps`: an access of a watched variable, as it is now in memory, ... */
void pt_monitor_watched(struct pt_thread *self, uint32_t object, enum pt_event_kind kind, const struct pt_site *site);
/* ... and others. */
void pt_monitor_access(struct pt_thread *self, const struct pt_local_event *what);
void pt_monitor_mark(struct pt_thread *self, enum pt_event_kind kind, const char *name, int64_t value);
void pt_monitor_other(struct pt_thread *self, enum pt_event_kind kind, uint64_t address, const struct pt_site *site);
/* A fork or join of this thread. */
void pt_monitor_thread(struct pt_thread *self, enum pt_event_kind kind, const struct pt_thread *other,
                       const struct pt_site *site);

/* portent_watch has named an object: which variable of the block it is, plus 1; 0: none. */
uint32_t pt_monitor_variable(const char *name);
/* The name of the thread in a slot. */
const char *pt_monitor_slot_name(uint32_t slot);

/* What a property has come to in this process, and how many more findings were reported (local/report.c). */
_Atomic uint8_t *pt_monitor_fate(uint32_t property);
_Atomic uint32_t *pt_monitor_findings(uint32_t property);
/* Some property has atomic_block. */
bool pt_monitor_has_findings(void);

/* local/report.c: the thread's present state violates a property that the last one did not, or it has no value there.
 * The first time in this process all about it is reported; `view` is what the thread saw, `what` the event, NULL in
 * state 0. */
void pt_report_onset(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                     const struct pt_local_event *what);
/* The present state violates it as the last one did: reported where that shows another finding, or all is recorded. */
void pt_report_again(struct pt_thread *self, uint32_t property, const struct pt_mttl_view *view,
                     const struct pt_local_event *what);
/* Further states in which it is violated. */
void pt_report_states(struct pt_thread *self, uint32_t property, uint64_t from, uint64_t to);
/* That there is more to come, and at the end how many states the thread has had. */
void pt_report_begun(struct pt_thread *self);
void pt_report_count(struct pt_thread *self);
/* From here on nothing is reported of any property. */
void pt_report_stop(void);
/* Prints what waits to be printed; the thread is outside of the runtime. */
void pt_report_print(struct pt_thread *self);

#endif
