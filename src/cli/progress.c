#include "cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/diag.h"
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

void pt_progress_show(struct pt_progress *progress, const char *property, uint64_t level, uint64_t states)
{
    if (!progress->on)
        return;
    uint64_t now = pt_progress_now();
    if (now < progress->last + interval)
        return;
    progress->last = now;
    if (progress->property != property) {
        progress->property = property;
        progress->since = now;
        progress->states = states;
    }
    double seconds = (double)(now - progress->since) / (double)second;
    struct pt_buf name, line;
    pt_buf_init(&name);
    pt_buf_init(&line);
    pt_style_clean(&name, property, strlen(property));
    pt_buf_printf(&name, ": level %" PRIu64 ", %" PRIu64 " states", level, states);
    if (seconds > 0 && states > progress->states)
        pt_buf_printf(&name, ", %.0f states/s", (double)(states - progress->states) / seconds);

    unsigned width = pt_terminal_width(STDERR_FILENO);
    size_t columns = pt_style_columns(name.text);
    pt_style_fit(&line, name.text, columns < width ? columns : width - 1, PT_CUT_START);
    fprintf(stderr, "\r\033[K%s", line.text);
    fflush(stderr);
    progress->shown = true;
    pt_buf_release(&name);
    pt_buf_release(&line);
}

void pt_progress_clear(struct pt_progress *progress)
{
    if (!progress->shown)
        return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    progress->shown = false;
}
