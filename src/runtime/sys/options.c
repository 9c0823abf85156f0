#include "runtime/sys/options.h"

#include <sys/auxv.h>

#include "runtime/sys/log.h"
#include "runtime/sys/sys.h"

struct pt_settings pt_options;

struct problems {
    uint32_t count;
    struct pt_line line;
};

/* One line for all of them. */
static void complain(void *context, enum pt_setting_problem problem, struct pt_span name, struct pt_span pair)
{
    struct problems *problems = context;
    pt_line_text(&problems->line, problems->count++ ? ", " : "portent: " PT_OPTIONS_ENV ": ");
    pt_line_text(&problems->line, problem == PT_SETTING_UNKNOWN ? "no option '" : "bad value in '");
    pt_line_span(&problems->line, problem == PT_SETTING_UNKNOWN ? name : pair);
    pt_line_text(&problems->line, "'");
}

static void list_options(void)
{
    for (unsigned i = 0; i < PT_SETTING_COUNT; i++) {
        const struct pt_setting *row = &pt_setting_rows[i];
        if (!row->help[0])
            continue;
        struct pt_line line = {0};
        pt_line_text(&line, "  ");
        pt_line_text(&line, row->name);
        pt_line_text(&line, "=");
        pt_line_text(&line, row->standard);
        while (line.len < 26)
            pt_line_text(&line, " ");
        pt_line_text(&line, row->help);
        if (row->words[0]) {
            pt_line_text(&line, ": ");
            pt_line_text(&line, row->words);
        }
        pt_line_write(&line);
    }
}

static void ignore(void *context, enum pt_setting_problem problem, struct pt_span name, struct pt_span pair)
{
    (void)context, (void)problem, (void)name, (void)pair;
}

void pt_options_start(const char *observers)
{
    struct problems problems = {0};
    if (observers) {
        pt_settings_read(&pt_options, observers, ignore, NULL);
        return;
    }
    /* Whoever starts a set-user-id program must not choose the files it writes. */
    pt_settings_read(&pt_options, getauxval(AT_SECURE) ? NULL : pt_sys_getenv(PT_OPTIONS_ENV), complain, &problems);
    if (problems.count && pt_options.verbosity >= 0) {
        pt_line_text(&problems.line, " (help=1 lists them)");
        pt_line_write(&problems.line);
    }
    if (pt_options.help)
        list_options();
}
