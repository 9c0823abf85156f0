/* One line on a terminal's standard error that shows how far long work has come. */
#ifndef PT_CLI_COMMON_PROGRESS_H
#define PT_CLI_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct pt_progress {
    bool on;              /* standard error is a terminal and nobody said never */
    bool shown;           /* the line stands on the terminal */
    uint64_t last;        /* when it was written, in nanoseconds */
    const char *property; /* what the figures below belong to */
    uint64_t since, states;
};

uint64_t pt_progress_now(void); /* nanoseconds of the monotonic clock */
void pt_progress_init(struct pt_progress *progress, bool wanted);
void pt_progress_show(struct pt_progress *progress, const char *property, uint64_t level, uint64_t states);
/* The same for an unfolding: `context` is the struct pt_progress. */
void pt_progress_events(void *context, uint64_t events);
/* The same in words of one's own. */
void pt_progress_line(struct pt_progress *progress, const char *text);
/* Removes the line; to be called before anything else is printed. */
void pt_progress_clear(struct pt_progress *progress);

#endif
