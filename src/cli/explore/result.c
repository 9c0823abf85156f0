/*
 * What an exploration found, as a result: one property "schedules" whose violations are the failures, each with its
 * schedule; then what recordings of failing runs showed. Printed as text or JSON, written to the files that were asked
 * for. Guarantee: "all schedules" only where the strategy came to its end and nothing was lost; a status other than 0
 * and 1 where the answer is not whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/made.h"
#include "cli/explore/recorded.h"
#include "cli/explore/tell.h"
#include "explore/schedule.h"
#include "report/json.h"
#include "report/text.h"
#include "report/words.h"

static const char *keep(struct pt_arena *arena, struct pt_buf *buf)
{
    const char *text = pt_arena_strndup(arena, buf->len ? buf->text : "", buf->len);
    pt_buf_release(buf);
    return text;
}

static const char *const loss_words[] = {
#define WORDS(name, words) words,
    PT_EXPLORE_LOSSES(WORDS)
#undef WORDS
};

static const char *const *list_losses(const struct pt_explorer *e, struct pt_arena *arena)
{
    const char **list = pt_arena_alloc(arena, (PT_EXPLORE_LOSS_COUNT + 1) * sizeof *list);
    uint32_t count = 0;
    for (unsigned i = 0; i < PT_EXPLORE_LOSS_COUNT; i++) {
        if (!(e->losses >> i & 1))
            continue;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_puts(&text, loss_words[i]);
        const struct pt_explore_spot *spot = pt_explore_spot(&e->places, e->lost_place);
        if (!count && spot->file[0])
            pt_buf_printf(&text, " (first after %s:%" PRIu32 ")", spot->file, spot->line);
        list[count++] = keep(arena, &text);
    }
    return list;
}

/* Whether all schedules were explored; else *ret_why says why not, where that makes the answer less than was asked for.
 */
static bool is_complete(const struct pt_explorer *e, struct pt_explore_progress *ret_progress, const char **ret_why)
{
    bool asked = strcmp(e->request->strategy, "exhaustive") == 0 && !e->request->stress;
    bool has = !e->request->stress && pt_explore_progress(e->tactic, ret_progress);
    bool properties = e->partly || e->unshown || pt_explore_properties_follow_order(e->properties);
    *ret_why = NULL;
    if (has && ret_progress->complete && !e->losses && !properties && !e->fell_back)
        return true;
    if (e->interrupted)
        *ret_why = "it was interrupted";
    else if (e->out_of_time && (asked || e->request->runs != UINT64_MAX))
        *ret_why = "the time was over";
    else if (asked && e->fell_back)
        *ret_why = e->fell_back;
    else if (asked && has && ret_progress->missing)
        *ret_why = ret_progress->missing;
    else if (asked && has && ret_progress->complete && !e->losses)
        *ret_why = e->unshown ? "a violation of a property is predicted that no run has shown"
                              : "not all orders of independent steps could be looked at for the properties";
    else if (asked)
        *ret_why = e->losses                                  ? "control was lost"
                   : e->seen_count && !e->request->keep_going ? "it stopped at the first failure (see --keep-going)"
                                                              : "the limit of runs was reached";
    else if (e->unfinished)
        *ret_why =
            "some runs reached the limit of steps, or did not end after control was lost or while a timer was set";
    return false;
}

static struct pt_explored *describe(const struct pt_explorer *e, struct pt_arena *arena)
{
    struct pt_explored *explored = pt_arena_alloc(arena, sizeof *explored);
    struct pt_explore_progress progress = {0};
    const char *why;
    *explored = (struct pt_explored){.strategy = e->request->strategy,
                                     .seed = e->request->seed,
                                     .runs = e->runs,
                                     .distinct = e->distinct,
                                     .redundant = e->redundant,
                                     .diverged = e->diverged,
                                     .failing = e->failing,
                                     .bounded = e->request->preemptions != UINT32_MAX,
                                     .preemptions = e->request->preemptions,
                                     .losses = list_losses(e, arena),
                                     .killed = e->expected.killed,
                                     .ordinary = e->expected.status,
                                     .stress = e->request->stress || e->fell_back,
                                     .controlled = e->controlled,
                                     .fell_back = e->fell_back,
                                     .seconds = (double)(pt_progress_now() - e->started) / 1e9};
    if (e->crew && pt_explore_crew_is_unserved(e->crew))
        explored->unserved = "it has other threads before main";
    explored->served = e->crew && e->request->serves && !explored->unserved;
    explored->complete = is_complete(e, &progress, &why);
    explored->why = why;
    if (explored->complete)
        explored->distinct = progress.classes;
    return explored;
}

/* A schedule may have been run more than once, by several strategies, and when a place turned out to be shared. */
static void put_complete(const struct pt_explorer *e, const struct pt_explored *x, struct pt_buf *text)
{
    if (x->distinct == 1)
        pt_buf_printf(text, "The only schedule was explored%s", e->seen_count ? "" : ": it does not fail");
    else
        pt_buf_printf(text, "All %" PRIu64 " schedules explored%s", x->distinct, e->seen_count ? "" : ": none fails");
    if (x->bounded)
        pt_buf_printf(text, " (of those with at most %" PRIu64 " preemption%s)", x->preemptions,
                      pt_words_plural(x->preemptions));
    if (e->seen_count)
        pt_buf_printf(text, "%s: %" PRIu64 " of %" PRIu64 " run%s failed",
                      x->runs > x->distinct ? ", some of them more than once" : "", x->failing, x->runs,
                      pt_words_plural(x->runs));
    pt_buf_puts(text, "; every other one differs in the order of independent steps alone. This is about what "
                      "instrumented code does: state inside of libraries without instrumentation, and memory "
                      "that inline assembly uses, are not part of it");
    if (e->reads_clock)
        pt_buf_puts(text, "; and the program reads the clock, which tells one time in each of these schedules");
}

/* Where nothing failed, or nothing can be said. */
static const char *conclusion(const struct pt_explorer *e, const struct pt_explored *x, struct pt_arena *arena)
{
    struct pt_buf text;
    pt_buf_init(&text);
    if (x->complete) {
        put_complete(e, x, &text);
    } else {
        pt_buf_printf(&text, "%" PRIu64 " run%s", x->runs, pt_words_plural(x->runs));
        if (x->fell_back && x->controlled)
            pt_buf_printf(&text,
                          ", %" PRIu64 " of them under control, %" PRIu64 " different schedule%s: ", x->controlled,
                          x->distinct, pt_words_plural(x->distinct));
        else if (x->stress)
            pt_buf_puts(&text, " without control: ");
        else
            pt_buf_printf(&text, ", %" PRIu64 " different schedule%s: ", x->distinct, pt_words_plural(x->distinct));
        if (e->seen_count)
            pt_buf_printf(&text, "%" PRIu64 " failed", e->failing);
        else
            pt_buf_puts(&text, "none failed, which says nothing about others");
    }
    if (x->unserved)
        pt_buf_printf(&text, "; each run was started anew, as with --no-fork-server, because %s", x->unserved);
    if (x->fell_back)
        pt_buf_printf(&text, "; without control because %s", x->fell_back);
    if (x->why && !x->fell_back)
        pt_buf_printf(&text, "; not all was done: %s", x->why);
    for (const char *const *loss = x->losses; *loss; loss++)
        pt_buf_printf(&text, "; not all was under control: %s", *loss);
    return keep(arena, &text);
}

/* --- failures --- */

/* FILE.schedule, FILE-2.schedule, ... */
static char *name_file(const char *path, uint32_t number)
{
    struct pt_buf name;
    const char *dot = strrchr(path, '.');
    pt_buf_init(&name);
    if (!number || !dot || strchr(dot, '/'))
        dot = path + strlen(path);
    pt_buf_add(&name, path, (size_t)(dot - path));
    if (number)
        pt_buf_printf(&name, "-%u", number + 1);
    pt_buf_puts(&name, dot);
    return pt_buf_take(&name);
}

static const char *property_of(const struct pt_explorer *e, const struct pt_explore_seen *seen)
{
    bool property = seen->failure.kind == PT_EXPLORE_FAILS_PROPERTY;
    return property ? pt_explore_properties_name(e->properties, (uint32_t)seen->failure.number) : NULL;
}

static void write_schedule(struct pt_explorer *e, struct pt_explore_seen *seen, const struct pt_played *played,
                           uint64_t fails_at, uint32_t number)
{
    struct pt_buf text, ends;
    struct pt_err err;
    if (!e->request->schedule_path || pt_explore_is_wild(seen))
        return;
    pt_buf_init(&text);
    pt_buf_init(&ends);
    pt_explore_put_end(&seen->failure, &seen->outcome, property_of(e, seen), &ends);
    char *real = realpath(e->request->path, NULL);
    struct pt_explore_schedule_head head = {
        .program = e->request->arguments,
        .path = real,
        .ends = ends.text,
        .comment = played->what,
        .threads = played->threads,
        .expected = &e->expected,
        .fails_at = fails_at,
        .calls = pt_explore_properties_functions(e->properties),
        .properties = seen->failure.kind == PT_EXPLORE_FAILS_PROPERTY
                          ? pt_explore_properties_file(e->properties, (uint32_t)seen->failure.number)
                          : NULL};
    e->places.limit = seen->shared;
    pt_explore_schedule_write(&head, &seen->input, &seen->outcome, &e->places, &text);
    e->places.limit = UINT32_MAX;
    free(real);
    char *path = name_file(e->request->schedule_path, number);
    if (pt_file_write(path, &text, &err) != PT_OK) {
        pt_diag_error(&err);
        e->unwritten = true;
        free(path);
    } else {
        seen->schedule_file = path;
    }
    pt_buf_release(&text);
    pt_buf_release(&ends);
}

static void fill_failure(struct pt_explorer *e, uint32_t index, struct pt_finding *finding)
{
    struct pt_explore_seen *seen = &e->seen[index];
    struct pt_explore_names names = pt_program_names_for(e->names, &e->places);
    struct pt_explore_telling telling = {.names = &names,
                                         .outcome = &seen->outcome,
                                         .failure = &seen->failure,
                                         .passing = pt_explore_nearest(&e->passed, &e->places, &seen->outcome),
                                         .property = property_of(e, seen),
                                         .finding = seen->finding};
    pt_explore_tell_failure(&telling, finding);
    struct pt_played *played = finding->played;
    write_schedule(e, seen, played, pt_explore_fails_at(&telling), index);
    played->found_by = seen->by;
    played->run = seen->run;
    played->seed = seen->input.seed;
    played->reproduced = seen->reproduced;
    played->file = seen->schedule_file;
    played->program = e->request->arguments;
    finding->count = seen->count;
}

static struct pt_finding *make_finding(struct pt_explorer *e, const struct pt_explored *explored)
{
    struct pt_finding *finding = pt_finding_new();
    finding->property = "schedules";
    finding->kind = "schedule";
    finding->text = "";
    finding->builtin = true;
    finding->monitorable = true;
    finding->complete = explored->complete;
    finding->window = finding->lookahead = PT_ALL;
    finding->seconds = explored->seconds;
    finding->message = conclusion(e, explored, &finding->arena);
    bool doubtful = explored->why || (explored->losses[0] && strcmp(e->request->strategy, "exhaustive") == 0);
    finding->verdict = e->seen_count ? PT_VERDICT_VIOLATED : doubtful ? PT_VERDICT_UNKNOWN : PT_VERDICT_HOLDS;
    for (uint32_t i = 0; i < e->seen_count; i++) {
        struct pt_finding *own = finding;
        if (i) {
            own = pt_finding_add(finding);
            own->property = finding->property;
            own->kind = finding->kind;
        }
        fill_failure(e, i, own);
    }
    return finding;
}

/* --- everything --- */

static void put_text(const struct pt_explorer *e, const struct pt_finding *finding, struct pt_buf *buf)
{
    pt_report_text(finding, &e->request->style, buf);
    for (uint32_t i = 0; i < finding->more_count; i++) {
        pt_buf_puts(buf, "\n");
        pt_report_text(finding->more[i], &e->request->style, buf);
    }
    if (finding->verdict == PT_VERDICT_VIOLATED)
        pt_words_paragraph(buf, &e->request->style, 0, 2, "%s.", finding->message);
}

/* Of what checks and recordings showed the schedule is told already. */
static void put_others(const struct pt_explorer *e, const struct pt_result *result, struct pt_buf *buf)
{
    for (uint32_t i = 1; i < result->count; i++) {
        const struct pt_finding *finding = result->findings[i];
        pt_buf_puts(buf, "\n");
        pt_report_text(finding, &e->request->style, buf);
        for (uint32_t k = 0; k < finding->more_count && finding->builtin; k++) {
            pt_buf_puts(buf, "\n");
            pt_report_text(finding->more[k], &e->request->style, buf);
        }
    }
}

static void print(struct pt_explorer *e, const struct pt_finding *finding, const struct pt_result *result)
{
    struct pt_buf text, json;
    struct pt_err err;
    pt_buf_init(&text);
    pt_buf_init(&json);
    pt_report_json(result, &json);
    if (e->request->json) {
        e->unwritten |= !pt_output(&json);
    } else if (!e->request->quiet) {
        put_text(e, finding, &text);
        put_others(e, result, &text);
        e->unwritten |= !pt_output(&text);
    }
    if (e->request->result_path && pt_file_write(e->request->result_path, &json, &err) != PT_OK) {
        pt_diag_error(&err);
        e->unwritten = true;
    }
    pt_buf_release(&text);
    pt_buf_release(&json);
}

/* A property that no run broke: why it could not be evaluated, or in how many runs it was. What was explored of one of
 * them is not told. */
static struct pt_finding *tell_property(struct pt_explorer *e, uint32_t index, const struct pt_explored *explored)
{
    if (e->doubts[index])
        return e->doubts[index];
    struct pt_finding *finding = e->first->result.findings[index];
    finding->controlled = e->runs;
    finding->verdict = PT_VERDICT_HOLDS;
    finding->complete = explored->complete;
    finding->seconds = explored->seconds;
    finding->relevant = finding->levels = finding->states = finding->width = finding->runs = 0;
    finding->message = NULL;
    if (e->unshown >> index & 1)
        finding->message = "a violation is predicted, in another order of a run's events, that no run has shown";
    else if (e->torn)
        finding->message = "of runs that did not end by themselves, what they did last is not known";
    else if (explored->why)
        finding->message = explored->why;
    if (finding->message)
        finding->verdict = PT_VERDICT_UNKNOWN;
    return finding;
}

static bool is_listed(struct pt_finding *const *list, uint32_t count, const char *property)
{
    for (uint32_t i = 1; i < count; i++)
        if (list[i]->file && strcmp(list[i]->property, property) == 0)
            return true;
    return false;
}

/* After the schedules: what checks and recordings of failing runs showed; then the other properties. */
static struct pt_finding **list_findings(struct pt_explorer *e, struct pt_finding *schedules,
                                         const struct pt_explored *explored, uint32_t *ret_count)
{
    uint32_t count = 0, properties = pt_explore_properties_count(e->properties);
    size_t most = (size_t)e->seen_count * (PT_FOUND_CHECKS + 1) + properties + 1;
    struct pt_finding **list = pt_xcalloc(most, sizeof *list);
    list[count++] = schedules;
    for (uint32_t i = 0; i < e->seen_count; i++) {
        const struct pt_result *found = &e->seen[i].founds.result;
        if (e->seen[i].finding)
            list[count++] = e->seen[i].finding;
        for (uint32_t k = 0; k < found->count; k++)
            if (found->findings[k] != e->seen[i].finding)
                list[count++] = found->findings[k];
    }
    for (uint32_t i = 0; i < properties; i++)
        if (e->first && !is_listed(list, count, pt_explore_properties_name(e->properties, i)))
            list[count++] = tell_property(e, i, explored);
    *ret_count = count;
    return list;
}

int pt_explorer_report(struct pt_explorer *e)
{
    struct pt_arena arena;
    pt_arena_init(&arena);
    char *folder = getcwd(NULL, 0);
    const char *const source_roots[] = {folder, NULL};
    struct pt_explored *explored = describe(e, &arena);
    struct pt_finding *finding = make_finding(e, explored);
    struct pt_result result = {.trace = "",
                               .made = pt_made_now(),
                               .program = e->request->arguments,
                               .source_roots = folder ? source_roots : NULL,
                               .explored = explored,
                               .threads = e->threads,
                               .findings = NULL};
    result.findings = list_findings(e, finding, explored, &result.count);
    print(e, finding, &result);
    static const int statuses[] = {[PT_VERDICT_HOLDS] = PT_EXIT_HOLDS,
                                   [PT_VERDICT_VIOLATED] = PT_EXIT_VIOLATED,
                                   [PT_VERDICT_UNKNOWN] = PT_EXIT_UNKNOWN,
                                   [PT_VERDICT_ERROR] = PT_EXIT_BAD};
    int status = e->unwritten ? PT_EXIT_BAD : statuses[pt_result_verdict(&result)];
    free(result.findings);
    pt_finding_free(finding);
    pt_arena_release(&arena);
    free(folder);
    return status;
}
