/*
 * What `portent run` says and writes when its program has ended: of the program alone, or of all processes that were
 * observed. Guarantee: what could not be written, or is not whole, is said and is in the exit status (run/whole.h).
 */
#include "cli/run/conclude.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "cli/common/made.h"
#include "cli/run/confirm_result.h"
#include "cli/run/launch.h"
#include "cli/run/warn.h"
#include "cli/run/whole.h"
#include "report/json.h"

static void write_result(struct pt_run *run, const struct pt_buf *json)
{
    struct pt_err err;
    if (!run->result_file)
        return;
    int why = fwrite(json->text, 1, json->len, run->result_file) == json->len ? 0 : errno;
    if (fclose(run->result_file) != 0 && !why)
        why = errno;
    run->result_file = NULL;
    if (why) {
        (void)pt_err_at(&err, PT_EIO, run->result_path, 0, 0, "cannot write the result: %s", strerror(why));
        pt_session_unwritten(&run->session, &err);
    }
}

static void confirm(struct pt_run *run, const char *const *program, struct pt_result *result)
{
    struct pt_confirm request = {.replay = {.program = run->session.program,
                                            .arguments = program,
                                            .modules = run->session.modules,
                                            .patience = run->patience,
                                            .automaton_limit = run->session.analyse.automaton_limit,
                                            .settings = &run->session.settings},
                                 .style = run->session.output_options.style,
                                 .quiet = run->session.output_options.quiet,
                                 .usual = run->session.program_status};
    struct pt_confirm_counts counts;
    struct pt_err err;
    if (pt_confirm_result(&request, result, &counts, &err) != PT_OK)
        pt_diag_error(&err);
    else if (!request.quiet && counts.confirmed + counts.not_reproduced)
        pt_confirm_summary(&counts);
    else if (!request.quiet && !counts.refused)
        fputs("portent: --confirm: nothing was predicted, so there is nothing to confirm\n", stderr);
}

/* What was found decides the exit status; that the program failed besides, or crashed, is not to go unsaid. */
static void warn_about_own_status(const struct pt_run *run)
{
    int own = run->session.program_status;
    struct pt_err warning;
    if (own == 0 || own == run->found_exit || own == run->session.settings.exitcode)
        return;
    (void)pt_err_set(&warning, PT_OK, "the program itself ended with status %d%s", own,
                     own > PT_EXIT_SIGNAL ? ", which is 128 and a signal's number if one killed it" : "");
    pt_session_complain(&run->session, &warning);
}

/* Says why the answer is not whole, whoever asked for quiet; true: it is. `ret_unseen`: as in pt_session_reasons. */
static bool is_whole(const struct pt_run *run, const struct pt_result *result, bool *ret_unseen)
{
    struct pt_buf reasons;
    pt_buf_init(&reasons);
    bool whole = !pt_session_reasons(&run->session, result, ret_unseen, &reasons);
    if (!whole)
        fprintf(stderr, "portent: the answer is not whole: %s\n", reasons.text);
    pt_buf_release(&reasons);
    return whole;
}

/* The started program's own part, as it is when nothing else was observed. */
static void conclude_program(struct pt_run *run, bool alone, struct pt_result *result)
{
    result->trace = run->session.analyse.engine.trace;
    pt_session_finish(&run->session, result);
    result->ended = result->program != NULL;
    result->program_status = run->session.program_status;
    pt_triage_apply(&run->session.analyse.triage, result);
    if (result->count)
        pt_output_end(&run->session.output.output, result);
    else
        pt_output_abandon(&run->session.output.output);
    if (run->confirm && alone)
        confirm(run, result->program, result);
}

/* Others were observed beside the program, or in its stead: its recording gets its number, too, or is none. */
static void rename_trace(struct pt_run *run, bool observed)
{
    struct pt_buf name;
    struct pt_err err;
    if (!run->trace_path)
        return;
    if (!observed) {
        (void)unlink(run->trace_path);
        return;
    }
    pt_buf_init(&name);
    pt_buf_printf(&name, "%s.%ld", run->trace_path, (long)run->session.process);
    if (rename(run->trace_path, name.text) != 0) {
        (void)pt_err_at(&err, PT_EIO, run->trace_path, 0, 0, "cannot be renamed: %s", strerror(errno));
        pt_session_unwritten(&run->session, &err);
    }
    run->own_trace = pt_buf_take(&name);
    run->session.analyse.engine.trace = run->own_trace;
}

/* The file that was asked for is not there. */
static void tell_of_recordings(const struct pt_run *run, const struct pt_processes *processes)
{
    uint32_t count = pt_processes_observed(processes);
    if (run->trace_path && count && !run->session.output_options.quiet)
        fprintf(stderr, "portent: %u process%s recorded, in %s.PID\n", count, count == 1 ? " was" : "es were each",
                run->trace_path);
}

/* Puts the started program at the head of the list. */
static void add_program(struct pt_run *run, struct pt_result *result, struct pt_processes *processes)
{
    struct pt_buf json;
    pt_buf_init(&json);
    conclude_program(run, false, result);
    pt_report_json(result, &json);
    size_t properties = (size_t)processes->property_count + 1;
    bool *unseen = pt_xcalloc(properties, sizeof *unseen);
    struct pt_observed process = {.process = run->session.process,
                                  .program = pt_xstrdup(run->session.program),
                                  .folder = pt_xstrdup(result->source_roots ? result->source_roots[0] : ""),
                                  .observed = true,
                                  .violated = pt_whole_violated(result),
                                  .whole = is_whole(run, result, unseen),
                                  .json = pt_buf_take(&json),
                                  .judged = pt_xcalloc(properties, sizeof *process.judged),
                                  .unseen = unseen,
                                  .unknown = pt_xcalloc(properties, sizeof *process.unknown)};
    memset(process.judged, true, properties); /* else it would not have been started */
    PT_PUSH(processes->items, processes->count, processes->cap, process);
    memmove(processes->items + 1, processes->items, (processes->count - 1) * sizeof process);
    processes->items[0] = process;
}

static void refuse_confirm(const struct pt_run *run)
{
    struct pt_err warning;
    if (!run->confirm)
        return;
    (void)pt_err_set(&warning, PT_OK, "--confirm is left out: several processes cannot be held to an order");
    pt_err_hint(&warning,
                "write the result with -r FILE, and use 'portent confirm FILE -- PROGRAM' with the program itself");
    pt_session_complain(&run->session, &warning);
}

static bool write_several(struct pt_run *run, const struct pt_result *result, const struct pt_processes *processes)
{
    struct pt_buf json;
    size_t unwritten = run->session.unwritten.len;
    pt_buf_init(&json);
    struct pt_result whole = {.trace = run->trace_path ? run->trace_path : result->program[0],
                              .program = result->program,
                              .ended = true,
                              .program_status = run->session.program_status,
                              .made = result->made,
                              .source_roots = result->source_roots};
    pt_processes_json(processes, &whole, &json);
    write_result(run, &json);
    pt_buf_release(&json);
    bool written = run->session.unwritten.len == unwritten;
    if (!written)
        fprintf(stderr, "portent: the answer is not whole: %s\n", run->session.unwritten.text + unwritten);
    return written;
}

/* Was all that the properties name observed in some process? Says what was not. */
static bool all_seen(const struct pt_run *run, const struct pt_processes *processes)
{
    struct pt_buf reasons;
    pt_buf_init(&reasons);
    bool seen = !pt_whole_unseen(processes, run->session.analyse.inputs, &reasons);
    if (!seen)
        fprintf(stderr, "portent: the answer is not whole: %s\n", reasons.text);
    pt_buf_release(&reasons);
    return seen;
}

/* More than the started program was observed. */
static int conclude_several(struct pt_run *run, struct pt_result *result, struct pt_processes *processes)
{
    bool violated = false, whole = true, observed = pt_channel_started(run->session.reader);
    refuse_confirm(run);
    rename_trace(run, observed);
    if (observed)
        add_program(run, result, processes);
    else
        pt_output_abandon(&run->session.output.output);
    for (uint32_t i = 0; i < processes->count; i++) {
        violated |= processes->items[i].violated;
        whole &= processes->items[i].whole;
    }
    tell_of_recordings(run, processes);
    whole &= all_seen(run, processes);
    whole &= write_several(run, result, processes);
    if (violated)
        warn_about_own_status(run);
    const struct pt_err *unknown = pt_processes_unknown(processes);
    if (unknown)
        pt_diag_error(unknown);
    if (unknown && !violated)
        return PT_EXIT_BAD;
    return pt_whole_exit(run->session.program_status, violated, run->found_exit, whole, run->lenient);
}

static int conclude_alone(struct pt_run *run, struct pt_result *result, const struct pt_processes *processes)
{
    struct pt_buf json;
    pt_buf_init(&json);
    conclude_program(run, true, result);
    pt_report_json(result, &json);
    write_result(run, &json);
    pt_buf_release(&json);
    bool violated = pt_whole_violated(result);
    if (violated)
        warn_about_own_status(run);
    bool whole = is_whole(run, result, NULL) && !processes->count; /* who came and was not observed was reported */
    return pt_whole_exit(run->session.program_status, violated, run->found_exit, whole, run->lenient);
}

int pt_run_conclude(struct pt_run *run, const char *const *program, struct pt_processes *processes)
{
    char *folder = getcwd(NULL, 0);
    const char *const source_roots[] = {folder, NULL};
    struct pt_result result = {.made = pt_made_now(), .program = program, .source_roots = folder ? source_roots : NULL};
    pt_session_close_trace(&run->session);
    int status = pt_processes_observed(processes) ? conclude_several(run, &result, processes)
                                                  : conclude_alone(run, &result, processes);
    free(folder);
    return status;
}
