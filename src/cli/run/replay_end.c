/*
 * What a run has shown that was held to a schedule. The verdict is the monitor's alone: confirmed if it saw the
 * property broken in the actual run, whatever the way there; of a race, a deadlock or a lifetime that of the check in
 * the program, which must have observed the one that was predicted, at the same places. What that check saw is kept,
 * with the stacks of this run; and how the program ended, which is another matter. The rest is for saying why not.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/replay_impl.h"
#include "finding/blocks.h"
#include "report/words.h"

uint32_t replay_check_of(const struct pt_finding *finding)
{
    static const char *const kinds[] = {
        [PT_FOUND_RACE] = "race", [PT_FOUND_DEADLOCK] = "deadlock", [PT_FOUND_LIFETIME] = "lifetime"};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(finding->kind, kinds[i]) == 0)
            return 1u << i;
    return 0;
}

bool replay_is_block(const struct pt_finding *finding)
{
    return strcmp(finding->kind, "atomicity") == 0;
}

/* Why a run that ended did not break the property. */
static char *explain(struct replay *r)
{
    struct pt_buf buf;
    int status = r->session.program_status, killed = r->session.program_signal;
    pt_buf_init(&buf);
    r->turn = pt_channel_turn(r->session.reader);
    if (r->reason) {
        pt_buf_puts(&buf, r->reason);
    } else if (!replay_is_played(r)) {
        pt_buf_puts(&buf, "diverged: the program ");
        if (killed)
            pt_buf_printf(&buf, "was killed by signal %d (%s)", killed, strsignal(killed));
        else
            pt_buf_printf(&buf, "ended with status %d", status);
        replay_put_expected(r, &buf);
    } else if (!r->differs) {
        pt_buf_printf(&buf, "all steps came in the predicted order, and %s",
                      replay_is_block(r->finding) ? "the block was not disturbed"
                      : r->finding->builtin       ? "what was predicted was not observed"
                                                  : "the property was not broken: the run began otherwise");
    }
    if (r->differs)
        pt_buf_printf(&buf, "%s%s", buf.len ? "; before that, " : "", r->differs);
    return pt_buf_take(&buf);
}

/* Is the other one observed, and of the same places? Which thread came first may differ. */
static bool is_that(const struct pt_finding *predicted, const struct pt_finding *other)
{
    uint32_t count = predicted->side_count;
    bool same = other->verdict == PT_VERDICT_VIOLATED && other->how == PT_HOW_OBSERVED && other->side_count == count &&
                strcmp(other->kind, predicted->kind) == 0;
    for (uint32_t shift = 0; same && shift < count; shift++) {
        uint32_t alike = 0;
        for (uint32_t i = 0; i < count; i++)
            alike += strcmp(predicted->sides[i].step.loc, other->sides[(i + shift) % count].step.loc) == 0;
        if (alike == count)
            return true;
    }
    return false;
}

/* NULL: it was not. */
static const struct pt_finding *find_observed(const struct pt_finding *predicted, const struct pt_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        const struct pt_finding *finding = result->findings[i];
        if (is_that(predicted, finding))
            return finding;
        for (uint32_t k = 0; k < finding->more_count; k++)
            if (is_that(predicted, finding->more[k]))
                return finding->more[k];
    }
    return NULL;
}

/* --- what was seen, kept beyond the run --- */

static const char *copy_text(struct pt_arena *arena, const char *text)
{
    return text ? pt_arena_strndup(arena, text, strlen(text)) : NULL;
}

static const char *const *copy_list(struct pt_arena *arena, const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    if (!list)
        return NULL;
    const char **copy = pt_arena_alloc(arena, (count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = copy_text(arena, list[i]);
    copy[count] = NULL;
    return copy;
}

static struct pt_side copy_side(struct pt_arena *arena, const struct pt_side *side)
{
    struct pt_side copy = *side;
    copy.step = (struct pt_step){.thread = copy_text(arena, side->step.thread),
                                 .op = copy_text(arena, side->step.op),
                                 .object = copy_text(arena, side->step.object),
                                 .source = copy_text(arena, side->step.source),
                                 .loc = copy_text(arena, side->step.loc),
                                 .var = PT_NONE};
    copy.stack = copy_list(arena, side->stack);
    copy.locks = copy_list(arena, side->locks);
    copy.locked_at = copy_list(arena, side->locked_at);
    copy.created = copy_list(arena, side->created);
    return copy;
}

static void keep_seen(struct replay *r, const struct pt_finding *observed)
{
    struct pt_finding *f = r->finding;
    struct pt_confirmation *c = &f->confirmation;
    struct pt_channel_meeting meeting;
    *c = (struct pt_confirmation){0};
    if (observed) {
        c->seen = pt_arena_alloc(&f->arena, (observed->side_count + 1) * sizeof *c->seen);
        for (uint32_t i = 0; i < observed->side_count; i++)
            c->seen[c->seen_count++] = copy_side(&f->arena, &observed->sides[i]);
    }
    if (!r->schedule.gate.meets || !pt_channel_met(r->session.reader, &meeting))
        return;
    c->met = true;
    c->met_address[0] = meeting.address[0];
    c->met_address[1] = meeting.address[1];
}

/* Of what no check in the program looks for, that its events came in this order is all there is to see: a read of a
 * pointer after the store of null, an access between two of a block. All entries were waited for, the last ones when
 * their threads stood right before them. */
static bool is_shown_by_order(const struct replay *r)
{
    const struct pt_finding *f = r->finding;
    bool freed = strcmp(f->kind, "lifetime") == 0 && f->side_count == 2 && strcmp(f->sides[1].step.op, "free") == 0;
    uint32_t turn = pt_channel_turn(r->session.reader), count = r->schedule.gate.count;
    return pt_schedule_last(f, NULL) && !freed && f->confirmation.met && !pt_channel_strays(r->session.reader) &&
           turn >= count;
}

static void tell_end(struct replay *r, struct pt_replay_outcome *outcome)
{
    const struct pt_session *session = &r->session;
    char said[PT_GATE_SAID];
    outcome->status = session->program_status;
    outcome->signal = session->program_signal;
    outcome->halted = session->halted;
    outcome->stuck = outcome->confirmed && strcmp(r->finding->kind, "deadlock") == 0 && !outcome->signal &&
                     outcome->status == session->settings.exitcode;
    if (pt_channel_said(session->reader, said))
        outcome->said = pt_xstrdup(said);
}

/* The same block of this run, if it was disturbed; NULL: it was not. */
static const struct pt_block_finding *find_block(const struct pt_finding *finding, const struct pt_result *result)
{
    const struct pt_step *begin = &finding->witness[0];
    for (uint32_t i = 0; result->blocks && i < result->blocks->count; i++) {
        const struct pt_block_finding *block = &result->blocks->items[i];
        if (block->verdict == PT_VERDICT_VIOLATED && strcmp(block->thread, begin->thread) == 0 &&
            strcmp(block->name, begin->object) == 0 && strcmp(block->loc, begin->loc) == 0)
            return block;
    }
    return NULL;
}

/* "w(x) by T2 (a.c:9), and then w(x) by T1 (a.c:4), in 1 of 3 occurrences": from the first foreign event on. */
static char *disturbance(const struct pt_block_finding *block)
{
    struct pt_buf buf;
    uint32_t first = 1;
    pt_buf_init(&buf);
    while (first + 2 < block->event_count && strcmp(block->events[first].step.thread, block->thread) == 0)
        first++;
    if (block->event_count >= 3) {
        char *foreign = pt_words_step(&block->events[first].step),
             *later = pt_words_step(&block->events[block->event_count - 1].step);
        pt_buf_printf(&buf, "%s, and then %s, ", foreign, later);
        free(foreign);
        free(later);
    }
    pt_buf_printf(&buf, "in %" PRIu64 " of %" PRIu64 " occurrence%s", block->violated, block->occurrences,
                  pt_words_plural(block->occurrences));
    return pt_buf_take(&buf);
}

void replay_conclude(struct replay *r, struct pt_replay_outcome *outcome)
{
    struct pt_result result = {0};
    if (r->session.recording)
        pt_session_close_trace(&r->session);
    pt_session_finish(&r->session, &result);
    const struct pt_finding *finding = result.count ? result.findings[0] : NULL, *observed = NULL;
    const struct pt_block_finding *block = replay_is_block(r->finding) ? find_block(r->finding, &result) : NULL;
    uint32_t turn = pt_channel_turn(r->session.reader), from = r->schedule.gate.from;
    if (r->finding->builtin)
        observed = find_observed(r->finding, &result);
    keep_seen(r, observed);
    outcome->confirmed = replay_is_block(r->finding) ? block != NULL
                         : r->finding->builtin
                             ? observed != NULL || is_shown_by_order(r)
                             : finding->verdict == PT_VERDICT_VIOLATED && finding->how == PT_HOW_OBSERVED;
    outcome->interrupted = r->session.program_signal == SIGINT;
    outcome->played = turn > from ? turn - from : 0;
    outcome->steps = r->schedule.gate.count;
    tell_end(r, outcome);
    if (!outcome->confirmed)
        outcome->reason = explain(r);
    else if (block)
        outcome->broke = disturbance(block);
    else if (!r->finding->builtin && finding->witness_count)
        outcome->broke = pt_words_step(&finding->witness[finding->witness_count - 1]);
    pt_output_abandon(&r->session.output.output);
}
