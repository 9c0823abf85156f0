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
#include "report/atomicity.h"
#include "report/result.h"
#include "report/words.h"

enum { BLOCK_RUNS = 8 };

static void print(const struct pt_confirm *confirm, const struct pt_buf *buf)
{
    if (!confirm->quiet)
        fwrite(buf->text, 1, buf->len, stderr);
}

/* A block has the id of its own that `check` gave it. */
static const char *id_of(const struct pt_finding *finding, struct pt_finding_id *id)
{
    *id = pt_finding_id(finding);
    return strcmp(finding->kind, "atomicity") == 0 ? finding->note : id->text;
}

static void put_verdict(const struct pt_confirm *confirm, enum pt_color color, const char *verdict,
                        const struct pt_finding *finding, const char *rest)
{
    struct pt_buf buf;
    struct pt_finding_id id;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, pt_style_color(&confirm->style, color));
    pt_words_paragraph(&buf, &confirm->style, 0, 2, "%s '%s' (%s): %s.", verdict, finding->property,
                       id_of(finding, &id), rest);
    pt_buf_puts(&buf, pt_style_color(&confirm->style, PT_COLOR_RESET));
    print(confirm, &buf);
    pt_buf_release(&buf);
}

static void announce(const struct pt_confirm *confirm, const struct pt_finding *finding)
{
    char text[160];
    if (strcmp(finding->kind, "atomicity") == 0) {
        put_verdict(confirm, PT_COLOR_BOLD, "OBSERVED", finding,
                    "the program runs again, and threads wait for each other so that the block is disturbed once more");
        return;
    }
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
    if (strcmp(finding->kind, "atomicity") == 0) {
        pt_buf_printf(buf, "in this run, too, another thread came causally between two events of the block: %s",
                      outcome->broke);
        return;
    }
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
    struct pt_finding_id id;
    bool counts = finding->builtin ? finding->verdict == PT_VERDICT_VIOLATED && !pt_finding_is_suppressed(finding)
                                   : pt_finding_counts(finding);
    return counts && (!confirm->name || strcmp(confirm->name, finding->property) == 0) &&
           (!confirm->id || strcmp(confirm->id, id_of(finding, &id)) == 0);
}

static void release_outcome(struct pt_replay_outcome *outcome)
{
    free(outcome->reason);
    free(outcome->broke);
    free(outcome->said);
}

/* One run; of a block some more, where it came to the places in the right order and was not disturbed: its thread may
 * have passed the last of them before, and the result does not say how often. Of those that did not succeed the first
 * counts. */
static enum pt_status replay(struct pt_confirm *confirm, struct pt_finding *finding,
                             struct pt_replay_outcome *ret_outcome, struct pt_err *err)
{
    bool block = strcmp(finding->kind, "atomicity") == 0;
    confirm->replay.passes = 0;
    enum pt_status status = pt_replay(finding, &confirm->replay, ret_outcome, err);
    for (uint32_t i = 1; i < BLOCK_RUNS && status == PT_OK && block; i++) {
        struct pt_replay_outcome next;
        bool played = ret_outcome->played == ret_outcome->steps && ret_outcome->steps;
        if (ret_outcome->confirmed || ret_outcome->interrupted || !played)
            break;
        confirm->replay.passes = i;
        status = pt_replay(finding, &confirm->replay, &next, err);
        if (status != PT_OK) {
            release_outcome(ret_outcome);
            break;
        }
        played = next.played == next.steps;
        struct pt_replay_outcome *worse = next.confirmed ? ret_outcome : &next;
        release_outcome(worse);
        if (next.confirmed)
            *ret_outcome = next;
        if (!played)
            break;
    }
    confirm->replay.passes = 0;
    return status;
}

static enum pt_status confirm_one(struct pt_confirm *confirm, struct pt_finding *finding,
                                  struct pt_confirm_counts *counts, bool *ret_interrupted, struct pt_err *err)
{
    struct pt_replay_outcome outcome;
    announce(confirm, finding);
    enum pt_status status = replay(confirm, finding, &outcome, err);
    if (status != PT_OK)
        return status;
    note(finding, &outcome);
    tell_end(confirm, finding, &outcome);
    report_outcome(confirm, finding, &outcome);
    counts->confirmed += outcome.confirmed;
    counts->not_reproduced += !outcome.confirmed;
    counts->failed += finding->confirmation.own == PT_OWN_FAILED;
    *ret_interrupted = outcome.interrupted;
    release_outcome(&outcome);
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

/* A block as a finding: its chain of events is the run that shows it. */
static struct pt_finding *as_finding(struct pt_confirm *confirm, const struct pt_block_finding *block)
{
    struct pt_finding *f = pt_xcalloc(1, sizeof *f);
    struct pt_buf label;
    PT_PUSH(confirm->blocks, confirm->block_count, confirm->block_cap, f);
    *f = (struct pt_finding){.kind = "atomicity",
                             .builtin = true,
                             .verdict = block->verdict,
                             .how = PT_HOW_OBSERVED,
                             .suppressed = block->suppressed,
                             .known = block->known,
                             .witness_count = block->event_count};
    pt_arena_init(&f->arena);
    pt_buf_init(&label);
    struct pt_block shown = pt_atomicity_block(block, &f->arena);
    struct pt_finding_id id = pt_block_id(&shown);
    pt_block_label(&shown, &label);
    f->property = pt_arena_strndup(&f->arena, label.text, label.len);
    f->note = pt_arena_strndup(&f->arena, id.text, strlen(id.text));
    f->witness = pt_arena_alloc(&f->arena, (block->event_count + 1) * sizeof *f->witness);
    for (uint32_t i = 0; i < block->event_count; i++)
        f->witness[i] = block->events[i].step;
    pt_buf_release(&label);
    return f;
}

static enum pt_status confirm_blocks(struct pt_confirm *confirm, struct pt_block_findings *blocks,
                                     struct pt_confirm_counts *counts, bool *ret_interrupted, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; status == PT_OK && i < blocks->count && !*ret_interrupted; i++) {
        uint32_t tried = counts->confirmed + counts->not_reproduced;
        struct pt_finding *finding = as_finding(confirm, &blocks->items[i]);
        status = confirm_if_wanted(confirm, finding, counts, ret_interrupted, err);
        if (finding->confirm != PT_CONFIRM_UNTRIED)
            blocks->items[i].tried = finding;
        counts->observed += counts->confirmed + counts->not_reproduced - tried;
    }
    return status;
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
    return result->blocks ? confirm_blocks(confirm, result->blocks, ret_counts, &interrupted, err) : PT_OK;
}

void pt_confirm_release(struct pt_confirm *confirm)
{
    for (uint32_t i = 0; i < confirm->block_count; i++) {
        pt_arena_release(&confirm->blocks[i]->arena);
        free(confirm->blocks[i]);
    }
    free(confirm->blocks);
}

void pt_confirm_summary(const struct pt_confirm_counts *counts)
{
    uint32_t all = counts->confirmed + counts->not_reproduced;
    fprintf(stderr, "SUMMARY: portent confirm: %u of %u %sviolation%s confirmed", counts->confirmed, all,
            counts->observed ? "" : "predicted ", pt_words_plural(all));
    if (counts->failed)
        fprintf(stderr, "; the program's own check failed in %u", counts->failed);
    if (counts->left_out)
        fprintf(stderr, "; %u %s left out", counts->left_out, counts->left_out == 1 ? "was" : "were");
    fputc('\n', stderr);
}
