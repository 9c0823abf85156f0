/*
 * PORTENT_OPTIONS as `portent run` reads them: what is wrong in them is one warning, with the option that was probably
 * meant; help=1 lists them; log_path says where messages go. Cost: linear in the text.
 */
#include "cli/run/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/common/diag.h"
#include "base/suggest.h"
#include "core/delay.h"

struct problems {
    struct pt_buf list;
    struct pt_suggest suggest;
    char name[64]; /* the first unknown one */
};

static void complain(void *context, enum pt_setting_problem problem, struct pt_span name, struct pt_span pair)
{
    struct problems *problems = context;
    struct pt_span shown = problem == PT_SETTING_UNKNOWN ? name : pair;
    pt_buf_printf(&problems->list, "%s%s '%.*s'", problems->list.len ? ", " : "",
                  problem == PT_SETTING_UNKNOWN ? "there is no option" : "a bad value in",
                  (int)(shown.len < 80 ? shown.len : 80), shown.at);
    if (problem == PT_SETTING_UNKNOWN && !problems->name[0])
        snprintf(problems->name, sizeof problems->name, "%.*s", (int)(name.len < 60 ? name.len : 60), name.at);
}

static void warn(struct problems *problems)
{
    struct pt_err warning;
    (void)pt_err_set(&warning, PT_OK, "%s: %s", PT_OPTIONS_ENV, problems->list.text);
    pt_suggest_init(&problems->suggest, problems->name, strlen(problems->name));
    for (unsigned i = 0; i < PT_SETTING_COUNT; i++)
        if (pt_setting_rows[i].help[0])
            pt_suggest_offer(&problems->suggest, pt_setting_rows[i].name);
    if (problems->name[0] && problems->suggest.best)
        pt_err_hint(&warning, "did you mean '%s'?", problems->suggest.best);
    else
        pt_err_hint(&warning, "%s=help=1 lists the options", PT_OPTIONS_ENV);
    pt_diag_warning(&warning);
}

static void list_options(void)
{
    fprintf(stderr, "options of %s, and what they are by themselves:\n", PT_OPTIONS_ENV);
    for (unsigned i = 0; i < PT_SETTING_COUNT; i++) {
        const struct pt_setting *row = &pt_setting_rows[i];
        if (!row->help[0])
            continue;
        char pair[64];
        snprintf(pair, sizeof pair, "%s=%s", row->name, row->standard);
        fprintf(stderr, "  %-22s  %s%s%s\n", pair, row->help, row->words[0] ? ": " : "", row->words);
    }
}

void pt_settings_load(struct pt_settings *settings)
{
    struct problems problems = {0};
    pt_buf_init(&problems.list);
    pt_settings_read(settings, getenv(PT_OPTIONS_ENV), complain, &problems);
    struct pt_delay_budget budget;
    if (settings->delay.len && !pt_delay_parse(settings->delay, &budget))
        pt_buf_printf(&problems.list, "%sdelay is no share of the time and no seconds", problems.list.len ? ", " : "");
    if (settings->history_size < 0 || settings->history_size > 1024)
        pt_buf_printf(&problems.list, "%shistory_size is not from 0 to 1024", problems.list.len ? ", " : "");
    if (settings->sample < 0 || settings->sample > PT_SAMPLE_MAX)
        pt_buf_printf(&problems.list, "%ssample is not from 0 to %d", problems.list.len ? ", " : "", PT_SAMPLE_MAX);
    if (problems.list.len && settings->verbosity >= 0)
        warn(&problems);
    if (settings->help)
        list_options();
    pt_buf_release(&problems.list);
}

void pt_settings_open_log(const struct pt_settings *settings, pid_t process)
{
    if (pt_span_is(settings->log_path, "stderr"))
        return;
    if (pt_span_is(settings->log_path, "stdout")) {
        dup2(STDOUT_FILENO, STDERR_FILENO);
        return;
    }
    struct pt_buf path;
    pt_buf_init(&path);
    pt_buf_add(&path, settings->log_path.at, settings->log_path.len);
    pt_buf_printf(&path, ".%ld", (long)process);
    FILE *file = fopen(path.text, "ae");
    if (file) {
        dup2(fileno(file), STDERR_FILENO);
        fclose(file);
    } else {
        struct pt_err warning;
        (void)pt_err_at(&warning, PT_OK, path.text, 0, 0, "cannot write messages here: %s", strerror(errno));
        pt_diag_warning(&warning);
    }
    pt_buf_release(&path);
}
