/*
 * The line is written over again and again, at most every tenth of a second, and only where somebody can see it: on a
 * terminal that knows how to go back. Short work shows nothing.
 */
#include "cli/common/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "report/style.h"

static const uint64_t second = 1000000000, delay = 500000000, interval = 100000000;

uint64_t pt_progress_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

void pt_progress_init(struct pt_progress *progress, bool wanted)
{
    const char *term = getenv("TERM");
    bool dumb = !term || strcmp(term, "dumb") == 0;
    *progress = (struct pt_progress){.on = wanted && !dumb && isatty(STDERR_FILENO)};
    progress->last = pt_progress_now() + delay; /* short work shows nothing */
}

/* Whether it is time for another line. */
static bool is_due(struct pt_progress *progress, uint64_t *ret_now)
{
    if (!progress->on)
        return false;
    *ret_now = pt_progress_now();
    if (*ret_now < progress->last + interval)
        return false;
    progress->last = *ret_now;
    return true;
}

static void show_line(struct pt_progress *progress, const char *text)
{
    struct pt_buf line;
    pt_buf_init(&line);
    unsigned width = pt_terminal_width(STDERR_FILENO);
    size_t columns = pt_style_columns(text);
    pt_style_fit(&line, text, columns < width ? columns : width - 1, PT_CUT_START);
    fprintf(stderr, "\r\033[K%s", line.text);
    fflush(stderr);
    progress->shown = true;
    pt_buf_release(&line);
}

void pt_progress_show(struct pt_progress *progress, const char *property, uint64_t level, uint64_t states)
{
    uint64_t now;
    if (!is_due(progress, &now))
        return;
    if (progress->property != property) {
        progress->property = property;
        progress->since = now;
        progress->states = states;
    }
    double seconds = (double)(now - progress->since) / (double)second;
    struct pt_buf name;
    pt_buf_init(&name);
    pt_style_clean(&name, property, strlen(property));
    pt_buf_printf(&name, ": level %" PRIu64 ", %" PRIu64 " states", level, states);
    if (seconds > 0 && states > progress->states)
        pt_buf_printf(&name, ", %.0f states/s", (double)(states - progress->states) / seconds);
    show_line(progress, name.text);
    pt_buf_release(&name);
}

void pt_progress_events(void *context, uint64_t events)
{
    struct pt_progress *progress = context;
    char text[64];
    uint64_t now;
    if (!is_due(progress, &now))
        return;
    (void)snprintf(text, sizeof text, "unfolding: %" PRIu64 " events", events);
    show_line(progress, text);
}

void pt_progress_line(struct pt_progress *progress, const char *text)
{
    uint64_t now;
    if (is_due(progress, &now))
        show_line(progress, text);
}

void pt_progress_clear(struct pt_progress *progress)
{
    if (!progress->shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->shown = false;
}
