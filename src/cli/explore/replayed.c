/*
 * What came of a replay. It is the same run if every stretch ended at the place that the schedule names, and the same
 * failure if the run has one of the kind for which the schedule was saved: the signal, the status, what a check found,
 * the property. It is told as `explore` tells it, from the run at hand, never from the schedule. Cost: linear in the
 * run.
 */
#include "cli/explore/replayed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/explore/debug.h"
#include "cli/explore/recorded.h"
#include "cli/explore/tell.h"
#include "core/found.h"
#include "report/played.h"
#include "report/text.h"
#include "report/words.h"

/* --- what it is --- */

static bool is_saved_for(const struct pt_explore_schedule *schedule, enum pt_explore_failure_kind kind)
{
    const char *word = pt_explore_failure_words[kind];
    size_t len = strlen(word);
    return strncmp(schedule->ends, word, len) == 0 && (!schedule->ends[len] || schedule->ends[len] == ' ');
}

uint32_t pt_replayed_checks(const struct pt_explore_schedule *schedule)
{
    uint32_t checks = schedule->expected.checks;
    if (is_saved_for(schedule, PT_EXPLORE_FAILS_RACE))
        checks |= 1u << PT_FOUND_RACE;
    if (is_saved_for(schedule, PT_EXPLORE_FAILS_LIFETIME))
        checks |= 1u << PT_FOUND_LIFETIME;
    return checks;
}

/* How it should have ended. Where the schedule does not say so: otherwise than with the status it was saved for. */
static struct pt_explore_expected expected_of(const struct pt_replayed *r)
{
    struct pt_explore_expected expected = r->schedule->expected;
    int status = (int)r->outcome->wait_status;
    expected.checks = pt_replayed_checks(r->schedule);
    if (!r->schedule->expects && WIFEXITED(status))
        expected.status = WEXITSTATUS(status) + is_saved_for(r->schedule, PT_EXPLORE_FAILS_STATUS);
    return expected;
}

static const char *property_of(const struct pt_replayed *r, const struct pt_explore_failure *failure)
{
    return failure->kind == PT_EXPLORE_FAILS_PROPERTY
               ? pt_explore_properties_name(r->properties, (uint32_t)failure->number)
               : NULL;
}

/* The failure as `ends` of a schedule has it; "status 0" where there is none. */
static void put_end(const struct pt_replayed *r, const struct pt_explore_failure *failure, struct pt_buf *buf)
{
    int status = (int)r->outcome->wait_status;
    if (failure->kind == PT_EXPLORE_FAILS_NONE)
        pt_buf_printf(buf, "status %d", WIFEXITED(status) ? WEXITSTATUS(status) : 0);
    else
        pt_explore_put_end(failure, r->outcome, property_of(r, failure), buf);
}

/* A schedule need not name the race. */
static bool is_saved(const struct pt_replayed *r, const struct pt_explore_failure *failure)
{
    struct pt_buf end;
    pt_buf_init(&end);
    put_end(r, failure, &end);
    bool same = strcmp(end.text, r->schedule->ends) == 0 ||
                (failure->report && strcmp(pt_explore_failure_words[failure->kind], r->schedule->ends) == 0);
    pt_buf_release(&end);
    return same;
}

static void find_broken(struct pt_replayed *r)
{
    r->outcome->broken = 0;
    for (uint32_t i = 0; r->recorded && i < r->recorded->property_count; i++)
        if (pt_explore_is_broken(r->recorded->result.findings[i]))
            r->outcome->broken |= UINT64_C(1) << i;
}

/* Of what kind it is more exactly. */
static const struct pt_finding *detail_of(const struct pt_replayed *r)
{
    if (r->failure.report)
        return pt_explore_founds_of(&r->founds, &r->outcome->reports[r->failure.report - 1]);
    if (r->failure.kind == PT_EXPLORE_FAILS_PROPERTY)
        return r->recorded->result.findings[r->failure.number];
    return NULL;
}

static void tell(struct pt_replayed *r)
{
    struct pt_explore_telling telling = {.names = &r->names,
                                         .outcome = r->outcome,
                                         .failure = &r->failure,
                                         .property = property_of(r, &r->failure),
                                         .finding = detail_of(r)};
    r->finding = pt_finding_new();
    r->finding->property = "schedules";
    r->finding->kind = "schedule";
    r->finding->text = "";
    r->finding->builtin = r->finding->monitorable = true;
    r->finding->verdict = PT_VERDICT_VIOLATED;
    pt_explore_tell_failure(&telling, r->finding);
    r->finding->played->found_by = "replay";
}

void pt_replayed_judge(struct pt_replayed *r)
{
    struct pt_explore_failure failures[PT_EXPLORE_FAILURES_MAX];
    struct pt_explore_expected expected = expected_of(r);
    find_broken(r);
    uint32_t count = pt_explore_failures(r->outcome, &expected, r->places, failures);
    r->failure = count ? failures[0] : (struct pt_explore_failure){0};
    for (uint32_t i = 0; i < count && !r->as_saved; i++)
        if (is_saved(r, &failures[i])) {
            r->failure = failures[i];
            r->as_saved = true;
        }
    r->stretch = pt_explore_schedule_compare(r->schedule, r->outcome, r->places, &r->step);
    r->same_values = r->schedule->values == r->outcome->result.values;
    pt_explore_founds_read(&r->names, r->outcome, expected.checks, r->failure.report, false, &r->founds);
    if (count)
        tell(r);
}

void pt_replayed_release(struct pt_replayed *r)
{
    pt_finding_free(r->finding);
    pt_explore_founds_release(&r->founds);
}

bool pt_replayed_is_same(const struct pt_replayed *r)
{
    return r->stretch == r->schedule->stretch_count;
}

/* --- words --- */

static void put_findings(struct pt_finding *const *findings, uint32_t count, const struct pt_style *style,
                         struct pt_buf *buf)
{
    for (uint32_t i = 0; i < count; i++) {
        if (findings[i]->verdict == PT_VERDICT_HOLDS)
            continue;
        pt_buf_puts(buf, "\n");
        pt_report_text(findings[i], style, buf);
        for (uint32_t k = 0; k < findings[i]->more_count && findings[i]->builtin; k++) {
            pt_buf_puts(buf, "\n");
            pt_report_text(findings[i]->more[k], style, buf);
        }
    }
}

/* How it ended where nothing failed. */
static void put_ordinary(const struct pt_replayed *r, struct pt_buf *buf)
{
    int status = (int)r->outcome->wait_status;
    if (WIFSIGNALED(status))
        pt_buf_printf(buf, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        pt_buf_printf(buf, "ended with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : 0);
}

static void put_comparison(const struct pt_replayed *r, struct pt_buf *buf)
{
    const char *saved = r->schedule->comment[0] ? r->schedule->comment : r->schedule->ends;
    if (pt_replayed_is_same(r)) {
        pt_buf_puts(buf, "the same run");
        if (!r->same_values)
            pt_buf_puts(buf,
                        " (though it read other values somewhere, perhaps addresses, which follow the environment)");
        pt_buf_puts(buf, r->as_saved ? ", and the same failure" : ", but not the failure that it was saved for");
    } else {
        pt_explore_put_divergence(r->schedule, r->outcome, r->places, r->stretch, r->step, buf);
        pt_buf_puts(buf, ". It went on by itself");
        pt_buf_puts(buf, r->as_saved ? ", and failed in the same way" : "");
    }
    if (r->as_saved)
        return;
    if (pt_replayed_is_same(r))
        pt_buf_printf(buf, " (%s)", saved);
    pt_buf_puts(buf, pt_replayed_is_same(r) ? ": it " : ", and ");
    if (r->finding)
        pt_buf_printf(buf, "failed otherwise: %s", r->finding->played->what);
    else
        put_ordinary(r, buf);
}

void pt_replayed_text(const struct pt_replayed *r, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf line;
    if (r->finding)
        pt_report_text(r->finding, style, buf);
    put_findings(r->founds.result.findings, r->founds.result.count, style, buf);
    if (r->recorded)
        put_findings(r->recorded->result.findings, r->recorded->property_count, style, buf);
    pt_buf_init(&line);
    put_comparison(r, &line);
    pt_words_paragraph(buf, style, 0, 2, "portent replay: %s", line.text);
    pt_buf_release(&line);
}

void pt_replayed_json(const struct pt_replayed *r, struct pt_json *json)
{
    struct pt_buf end;
    pt_buf_init(&end);
    put_end(r, &r->failure, &end);
    pt_json_bool(json, "same", pt_replayed_is_same(r));
    pt_json_bool(json, "failed", r->as_saved);
    pt_json_uint(json, "diverged_at", pt_replayed_is_same(r) ? 0 : r->step);
    pt_json_bool(json, "values_same", r->same_values);
    pt_json_string(json, "saved_for", r->schedule->ends);
    pt_json_string(json, "end", end.text);
    pt_json_uint(json, "steps", r->outcome->result.step_count);
    pt_buf_release(&end);
    if (!r->finding)
        return;
    pt_json_open(json, "run", '{');
    pt_played_json(json, r->finding->played);
    pt_json_close(json, '}');
}
