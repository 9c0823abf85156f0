/*
 * The ladder of verdicts: what was PREDICTED becomes CONFIRMED, or is NOT REPRODUCED for a reason that is given. A
 * finding is only ever promoted by a run in which the property was seen to break. One run of the program per finding
 * that can be confirmed.
 */
#include "cli/run/confirm_result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/words.h"

static void print(const struct pt_confirm *confirm, const struct pt_buf *buf)
{
    if (!confirm->quiet)
        fwrite(buf->text, 1, buf->len, stderr);
}

static void put_verdict(const struct pt_confirm *confirm, enum pt_color color, const char *verdict,
                        const struct pt_finding *finding, const char *rest)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, pt_style_color(&confirm->style, color));
    pt_words_paragraph(&buf, &confirm->style, 0, 2, "%s '%s' (%s): %s.", verdict, finding->property,
                       pt_finding_id(finding).text, rest);
    pt_buf_puts(&buf, pt_style_color(&confirm->style, PT_COLOR_RESET));
    print(confirm, &buf);
    pt_buf_release(&buf);
}

static void announce(const struct pt_confirm *confirm, const struct pt_finding *finding)
{
    char text[160];
    uint32_t steps = finding->schedule ? finding->schedule_count : finding->witness_count;
    snprintf(text, sizeof text, "the program runs again, in the order of %" PRIu32 " step%s%s", steps,
             pt_words_plural(steps), finding->schedule ? ", locks and shared accesses among them" : "");
    put_verdict(confirm, PT_COLOR_BOLD, "PREDICTED", finding, text);
}

static void report_outcome(const struct pt_confirm *confirm, const struct pt_finding *finding,
                           const struct pt_replay_outcome *outcome)
{
    struct pt_buf text;
    pt_buf_init(&text);
    if (!outcome->confirmed) {
        put_verdict(confirm, PT_COLOR_YELLOW, "NOT REPRODUCED", finding, outcome->reason);
    } else {
        if (finding->builtin)
            pt_buf_printf(&text, "the %s was observed in this run", finding->kind);
        else
            pt_buf_printf(&text, "this run broke it, %s%s", outcome->broke ? "at " : "in its initial state",
                          outcome->broke ? outcome->broke : "");
        pt_buf_printf(&text, ", after %" PRIu32 " of %" PRIu32 " step%s in the predicted order", outcome->played,
                      outcome->steps, pt_words_plural(outcome->steps));
        put_verdict(confirm, PT_COLOR_RED, "CONFIRMED", finding, text.text);
    }
    pt_buf_release(&text);
}

static void note(struct pt_finding *finding, const struct pt_replay_outcome *outcome)
{
    finding->confirm = outcome->confirmed ? PT_CONFIRM_YES : PT_CONFIRM_NO;
    if (outcome->reason)
        finding->not_reproduced = pt_arena_strndup(&finding->arena, outcome->reason, strlen(outcome->reason));
}

static bool is_wanted(const struct pt_confirm *confirm, const struct pt_finding *finding)
{
    bool counts = finding->builtin ? finding->verdict == PT_VERDICT_VIOLATED && !pt_finding_is_suppressed(finding)
                                   : pt_finding_counts(finding);
    return counts && (!confirm->name || strcmp(confirm->name, finding->property) == 0) &&
           (!confirm->id || strcmp(confirm->id, pt_finding_id(finding).text) == 0);
}

static enum pt_status confirm_one(const struct pt_confirm *confirm, struct pt_finding *finding,
                                  struct pt_confirm_counts *counts, bool *ret_interrupted, struct pt_err *err)
{
    struct pt_replay_outcome outcome;
    announce(confirm, finding);
    enum pt_status status = pt_replay(finding, &confirm->replay, &outcome, err);
    if (status != PT_OK)
        return status;
    note(finding, &outcome);
    report_outcome(confirm, finding, &outcome);
    counts->confirmed += outcome.confirmed;
    counts->not_reproduced += !outcome.confirmed;
    *ret_interrupted = outcome.interrupted;
    free(outcome.reason);
    free(outcome.broke);
    return PT_OK;
}

static enum pt_status confirm_if_wanted(const struct pt_confirm *confirm, struct pt_finding *finding,
                                        struct pt_confirm_counts *counts, bool *ret_interrupted, struct pt_err *err)
{
    if (!is_wanted(confirm, finding))
        return PT_OK;
    const char *refusal = pt_replay_refusal(finding);
    if (!refusal)
        return confirm_one(confirm, finding, counts, ret_interrupted, err);
    counts->refused++;
    put_verdict(confirm, PT_COLOR_DIM, "NOT CONFIRMED", finding, refusal);
    return PT_OK;
}

enum pt_status pt_confirm_result(const struct pt_confirm *confirm, struct pt_result *result,
                                 struct pt_confirm_counts *ret_counts, struct pt_err *err)
{
    bool interrupted = false;
    *ret_counts = (struct pt_confirm_counts){0};
    for (uint32_t i = 0; i < result->count && !interrupted; i++) {
        struct pt_finding *finding = result->findings[i];
        uint32_t more = finding->builtin ? finding->more_count : 0;
        for (uint32_t k = 0; k <= more && !interrupted; k++) {
            struct pt_finding *one = k ? finding->more[k - 1] : finding;
            enum pt_status status = confirm_if_wanted(confirm, one, ret_counts, &interrupted, err);
            if (status != PT_OK)
                return status;
        }
    }
    return PT_OK;
}
