/* `.schedule` files: a run, to be run again (docs/explore.md). */
#ifndef PT_EXPLORE_SCHEDULE_H
#define PT_EXPLORE_SCHEDULE_H

#include "base/buf.h"
#include "base/err.h"
#include "explore/outcome.h"
#include "explore/places.h"

struct pt_explore_schedule {
    struct pt_arena arena;
    const char *path;              /* the program's file, real and whole; NULL: not known */
    const char **program;          /* as it was given, then its arguments */
    uint32_t program_count;        /* 0: not known */
    const char *ends;              /* how the run ended, as written: "signal 6"; "" */
    const char *comment;           /* the same for people; "": there is none */
    struct pt_explore_input input; /* spurious, clock and clock_step, wishes and limits that matter; strategy FIRST */
    uint64_t *shared;              /* keys */
    const char **variables;        /* of them */
    uint32_t shared_count;
    struct pt_explore_stretch *stretches;
    uint64_t *keys;      /* of the place where the last step of each stretch was; 0: none */
    const char **points; /* the same for people */
    uint32_t stretch_count;
    uint64_t values;                     /* of result.values; 0: not known */
    const char *properties;              /* the file of the property that the run breaks; NULL: none */
    const char *calls;                   /* functions whose calls are events, and so steps: the setting; NULL: none */
    struct pt_explore_expected expected; /* what an ordinary end is, and which checks were made */
    bool expects;                        /* the file says what an ordinary end is */
    uint64_t fails_at;                   /* step, from 1 on, in which it fails; 0: not known, so at its end */
};

/* `ends`: one word or more, `comment`: what it is about, both without line ends; `threads`: names by slot, then NULL.
 */
struct pt_explore_schedule_head {
    const char *const *program; /* as given, then NULL */
    const char *path;           /* its file, real and whole; NULL: not known */
    const char *ends, *comment;
    const char *const *threads;
    const char *properties; /* file, or NULL */
    const char *calls;      /* the setting, or NULL */
    const struct pt_explore_expected *expected;
    uint64_t fails_at; /* the step, 0: at its end */
};
void pt_explore_schedule_write(const struct pt_explore_schedule_head *head, const struct pt_explore_input *input,
                               const struct pt_explore_outcome *outcome, const struct pt_explore_places *places,
                               struct pt_buf *buf);
/* PT_EINPUT: it is none, with the line. The caller releases it. */
enum pt_status pt_explore_schedule_read(const char *label, const char *text, size_t len,
                                        struct pt_explore_schedule *ret_schedule, struct pt_err *err) PT_WARN_UNUSED;
void pt_explore_schedule_release(struct pt_explore_schedule *schedule);

/* Where a run of it became another one: number of the stretch whose end differs, or that could not be followed; its
 * count: nowhere. `*ret_step`: the step, from 1 on. */
uint32_t pt_explore_schedule_compare(const struct pt_explore_schedule *schedule,
                                     const struct pt_explore_outcome *outcome, const struct pt_explore_places *places,
                                     uint64_t *ret_step);

#endif
