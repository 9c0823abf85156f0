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

#include "cli/run/launch.h"
#include "finding/blocks.h"
#include "cli/run/schedule.h"
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
    if (finding->builtin && !finding->schedule)
        snprintf(text, sizeof text, "the program runs again, and threads wait for each other at these places");
    else
        snprintf(text, sizeof text, "the program runs again, in the order of %" PRIu32 " step%s%s%s", steps,
                 pt_words_plural(steps), finding->builtin ? " that lead there" : "",
                 finding->schedule ? ", locks and shared accesses among them" : "");
    put_verdict(confirm, PT_COLOR_BOLD, "PREDICTED", finding, text);
}

/* --- how the program itself ended --- */

static void put_end(struct pt_buf *buf, const struct pt_replay_outcome *outcome)
{
    if (outcome->signal)
        pt_buf_printf(buf, "killed by SIG%s", sigabbrev_np(outcome->signal));
    else
        pt_buf_printf(buf, "status %d", outcome->status);
    if (outcome->said)
        pt_buf_printf(buf, " (assertion %s)", outcome->said);
}

/* Is its own check of another opinion than in an ordinary run? Where nobody has seen one, there is one now. */
static enum pt_own_check judge_end(struct pt_confirm *confirm, const struct pt_replay_outcome *outcome)
{
    const struct pt_replay_options *replay = &confirm->replay;
    if (outcome->stuck)
        return PT_OWN_FAILED;
    if (outcome->halted || outcome->interrupted)
        return PT_OWN_UNKNOWN;
    if (outcome->status == 0)
        return PT_OWN_PASSED;
    if (confirm->usual == PT_STATUS_UNKNOWN && !confirm->asked_usual)
        confirm->usual = pt_launch_usual(replay->program, replay->arguments, replay->patience);
    confirm->asked_usual = true;
    if (confirm->usual == PT_STATUS_UNKNOWN)
        return PT_OWN_UNKNOWN;
    return outcome->status == confirm->usual ? PT_OWN_PASSED : PT_OWN_FAILED;
}

static void tell_end(struct pt_confirm *confirm, struct pt_finding *finding, const struct pt_replay_outcome *outcome)
{
    struct pt_buf buf;
    enum pt_own_check own = judge_end(confirm, outcome);
    pt_buf_init(&buf);
    if (outcome->stuck)
        pt_buf_puts(&buf, "it was deadlocked, and could not go on");
    else if (outcome->halted)
        pt_buf_printf(&buf, "it had not ended by itself %" PRIu64 " s later, and was ended",
                      confirm->replay.patience / 1000000000);
    else
        put_end(&buf, outcome);
    if (own == PT_OWN_PASSED && outcome->status)
        pt_buf_puts(&buf, ", as in an ordinary run");
    finding->confirmation.own = own;
    finding->confirmation.end = pt_arena_strndup(&finding->arena, buf.text, buf.len);
    pt_buf_release(&buf);
}

/* --- what is said --- */

/* A line for each side: who did, or waits for, what, where; and what it holds. Of what is shown by the order of its
 * events alone, these. */
static void put_seen(const struct pt_confirm *confirm, const struct pt_finding *finding, struct pt_buf *buf)
{
    const struct pt_step *last[2];
    uint32_t count = finding->builtin && !finding->confirmation.seen_count ? pt_schedule_last(finding, last) : 0;
    for (uint32_t i = 0; i < count; i++) {
        char *words = pt_words_step(last[i]);
        pt_words_paragraph(buf, &confirm->style, 2, 4, "%s", words);
        free(words);
    }
    for (uint32_t i = 0; i < finding->confirmation.seen_count; i++) {
        const struct pt_side *side = &finding->confirmation.seen[i];
        char *words = pt_words_seen(finding, side);
        pt_words_paragraph(buf, &confirm->style, 2, 4, "%s", words);
        free(words);
    }
}

static const char *what_it_is(const struct pt_finding *finding)
{
    bool lifetime = strcmp(finding->kind, "lifetime") == 0;
    return !lifetime ? finding->kind : finding->note && *finding->note ? finding->note : "use after free";
}

static void put_confirmed(const struct pt_finding *finding, const struct pt_replay_outcome *outcome, struct pt_buf *buf)
{
    const struct pt_confirmation *c = &finding->confirmation;
    if (!finding->builtin)
        pt_buf_printf(buf, "this run broke it, %s%s", outcome->broke ? "at " : "in its initial state",
                      outcome->broke ? outcome->broke : "");
    else if (strcmp(finding->kind, "deadlock") == 0)
        pt_buf_puts(buf, "the deadlock was observed in this run; the cycle was closed");
    else if (!c->seen_count)
        pt_buf_puts(buf, "in this run its events came in the order that must not be");
    else
        pt_buf_printf(buf, "the %s was observed in this run", what_it_is(finding));
    if (finding->builtin && c->met && c->met_address[1])
        pt_buf_printf(buf,
                      "; both threads stood right before theirs, at 0x%" PRIx64 " and 0x%" PRIx64 ", at the same time",
                      c->met_address[0], c->met_address[1]);
    pt_buf_printf(buf, ", after %" PRIu32 " of %" PRIu32 " step%s in the predicted order", outcome->played,
                  outcome->steps, pt_words_plural(outcome->steps));
}

static void report_outcome(const struct pt_confirm *confirm, const struct pt_finding *finding,
                           const struct pt_replay_outcome *outcome)
{
    struct pt_buf text, more;
    char *own = pt_words_own_check(finding);
    pt_buf_init(&text);
    pt_buf_init(&more);
    if (outcome->confirmed) {
        put_confirmed(finding, outcome, &text);
        put_verdict(confirm, PT_COLOR_RED, "CONFIRMED", finding, text.text);
        put_seen(confirm, finding, &more);
    } else {
        put_verdict(confirm, PT_COLOR_YELLOW, "NOT REPRODUCED", finding, outcome->reason);
    }
    if (own && (outcome->confirmed || finding->confirmation.own == PT_OWN_FAILED))
        pt_words_paragraph(&more, &confirm->style, 2, 2, "%s", own);
    print(confirm, &more);
    free(own);
    pt_buf_release(&more);
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

static enum pt_status confirm_one(struct pt_confirm *confirm, struct pt_finding *finding,
                                  struct pt_confirm_counts *counts, bool *ret_interrupted, struct pt_err *err)
{
    struct pt_replay_outcome outcome;
    announce(confirm, finding);
    enum pt_status status = pt_replay(finding, &confirm->replay, &outcome, err);
    if (status != PT_OK)
        return status;
    note(finding, &outcome);
    tell_end(confirm, finding, &outcome);
    report_outcome(confirm, finding, &outcome);
    counts->confirmed += outcome.confirmed;
    counts->not_reproduced += !outcome.confirmed;
    counts->failed += finding->confirmation.own == PT_OWN_FAILED;
    *ret_interrupted = outcome.interrupted;
    free(outcome.reason);
    free(outcome.broke);
    free(outcome.said);
    return PT_OK;
}

static enum pt_status confirm_if_wanted(struct pt_confirm *confirm, struct pt_finding *finding,
                                        struct pt_confirm_counts *counts, bool *ret_interrupted, struct pt_err *err)
{
    if (!is_wanted(confirm, finding))
        return PT_OK;
    const char *refusal = pt_replay_refusal(finding);
    uint32_t most = confirm->limit ? confirm->limit : PT_CONFIRM_MOST;
    bool over = !refusal && counts->confirmed + counts->not_reproduced == most;
    if (!refusal && !over)
        return confirm_one(confirm, finding, counts, ret_interrupted, err);
    counts->refused += refusal != NULL;
    counts->left_out += over;
    bool observed = finding->how == PT_HOW_OBSERVED;
    put_verdict(confirm, PT_COLOR_DIM, observed ? "OBSERVED" : "NOT CONFIRMED", finding,
                over ? "so many were tried already: 'portent confirm --limit' tries more, --id this one" : refusal);
    return PT_OK;
}

/* What --atomicity found is in the recorded run itself: there is no prediction to put to the test. */
static void refuse_blocks(const struct pt_confirm *confirm, const struct pt_result *result,
                          struct pt_confirm_counts *counts)
{
    for (uint32_t i = 0; result->blocks && !confirm->name && !confirm->id && i < result->blocks->count; i++) {
        const struct pt_block_finding *block = &result->blocks->items[i];
        struct pt_buf buf;
        if (block->verdict != PT_VERDICT_VIOLATED || block->suppressed || block->known)
            continue;
        counts->refused++;
        pt_buf_init(&buf);
        pt_words_paragraph(&buf, &confirm->style, 0, 2,
                           "NOT CONFIRMED block '%s' of %s (%s): it is about the observed run alone.", block->name,
                           block->thread, block->loc);
        print(confirm, &buf);
        pt_buf_release(&buf);
    }
}

enum pt_status pt_confirm_result(struct pt_confirm *confirm, struct pt_result *result,
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
    refuse_blocks(confirm, result, ret_counts);
    return PT_OK;
}

void pt_confirm_summary(const struct pt_confirm_counts *counts)
{
    uint32_t all = counts->confirmed + counts->not_reproduced;
    fprintf(stderr, "SUMMARY: portent confirm: %u of %u predicted violation%s confirmed", counts->confirmed, all,
            pt_words_plural(all));
    if (counts->failed)
        fprintf(stderr, "; the program's own check failed in %u", counts->failed);
    if (counts->left_out)
        fprintf(stderr, "; %u %s left out", counts->left_out, counts->left_out == 1 ? "was" : "were");
    fputc('\n', stderr);
}
