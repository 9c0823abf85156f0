/*
 * Which findings do not count: those that a suppression matches and those that a baseline knows by their id. Nothing
 * is hidden by this: they stay in the result, marked with the reason, and suppressions that matched nothing are
 * listed. Every suppression and every id of the baseline is tried on every finding; there are few of each.
 */
#include "cli/common/triage.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/file.h"
#include "report/atomicity.h"
#include "report/words.h"

void pt_triage_init(struct pt_triage *triage)
{
    *triage = (struct pt_triage){0};
    pt_suppressions_init(&triage->suppressions);
}

void pt_triage_release(struct pt_triage *triage)
{
    for (uint32_t i = 0; i < triage->known_count; i++)
        free(triage->known[i].property);
    free(triage->known);
    pt_suppressions_release(&triage->suppressions);
}

enum pt_status pt_triage_suppressions(struct pt_triage *triage, const char *path, struct pt_err *err)
{
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    status = pt_suppressions_add(&triage->suppressions, path, text, len, err);
    free(text);
    return status;
}

static void add_known(struct pt_triage *triage, const struct pt_finding *finding, struct pt_finding_id id)
{
    struct pt_baseline_entry entry = {.property = pt_xstrdup(finding->property), .id = id};
    PT_PUSH(triage->known, triage->known_count, triage->known_cap, entry);
}

static enum pt_status load_baseline(struct pt_triage *triage, const char *path, struct pt_err *err)
{
    struct pt_loaded *loaded;
    enum pt_status status = pt_file_result(path, &loaded, err);
    if (status != PT_OK)
        return status;
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (finding->verdict != PT_VERDICT_VIOLATED)
            continue;
        add_known(triage, finding, pt_finding_id(finding));
        if (finding->also) /* any of them may come first in another run, or alone */
            add_known(triage, finding, pt_finding_id_on(finding, finding->object));
        for (const char *const *name = finding->also; name && *name; name++)
            add_known(triage, finding, pt_finding_id_on(finding, *name));
    }
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        if (!pt_block_violated(&loaded->blocks[i]))
            continue;
        struct pt_baseline_entry entry = {.property = pt_xstrdup(""), .id = pt_block_id(&loaded->blocks[i])};
        PT_PUSH(triage->known, triage->known_count, triage->known_cap, entry);
    }
    pt_loaded_free(loaded);
    return PT_OK;
}

enum pt_status pt_triage_load(struct pt_triage *triage, const struct pt_option *table, const struct pt_parsed *parsed,
                              struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < parsed->option_count && status == PT_OK; i++) {
        const char *name = table[parsed->options[i].index].name, *path = parsed->options[i].argument;
        if (name && strcmp(name, "suppressions") == 0)
            status = pt_triage_suppressions(triage, path, err);
        else if (name && strcmp(name, "baseline") == 0)
            status = load_baseline(triage, path, err);
    }
    return status;
}

static bool is_known(const struct pt_triage *triage, struct pt_finding_id id)
{
    for (uint32_t i = 0; i < triage->known_count; i++)
        if (strcmp(triage->known[i].id.text, id.text) == 0)
            return true;
    return false;
}

bool pt_triage_suppresses(const struct pt_triage *triage, const struct pt_finding *finding)
{
    return pt_suppressions_match(&triage->suppressions, finding) || is_known(triage, pt_finding_id(finding));
}

bool pt_triage_may_suppress(const struct pt_triage *triage, const struct pt_finding *finding)
{
    for (uint32_t i = 0; i < triage->known_count; i++)
        if (strcmp(triage->known[i].property, finding->property) == 0)
            return true;
    return pt_suppressions_match(&triage->suppressions, finding) != NULL;
}

void pt_triage_block(struct pt_triage *triage, struct pt_block *block)
{
    if (!pt_block_violated(block))
        return;
    struct pt_buf label;
    pt_buf_init(&label);
    pt_block_label(block, &label);
    struct pt_suppression *suppression =
        pt_suppressions_match_block(&triage->suppressions, label.text, block->thread_name, block->file);
    if (suppression) {
        suppression->used++;
        block->suppressed = suppression->text;
    }
    block->known = is_known(triage, pt_block_id(block));
    pt_buf_release(&label);
}

static void apply_to_blocks(struct pt_triage *triage, struct pt_block_findings *blocks)
{
    struct pt_arena arena;
    pt_arena_init(&arena);
    for (uint32_t i = 0; i < blocks->count; i++) {
        struct pt_block block = pt_atomicity_block(&blocks->items[i], &arena);
        pt_triage_block(triage, &block);
        blocks->items[i].suppressed = block.suppressed;
        blocks->items[i].known = block.known;
    }
    pt_arena_release(&arena);
}

static void apply(struct pt_triage *triage, struct pt_finding *finding)
{
    struct pt_suppression *suppression = pt_suppressions_match(&triage->suppressions, finding);
    if (suppression) {
        suppression->used++;
        finding->suppressed = suppression->text;
    }
    finding->known = is_known(triage, pt_finding_id(finding));
}

void pt_triage_apply(struct pt_triage *triage, struct pt_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *finding = result->findings[i];
        if (finding->verdict == PT_VERDICT_VIOLATED)
            apply(triage, finding);
        for (uint32_t k = 0; k < finding->more_count; k++)
            apply(triage, finding->more[k]);
    }
    if (result->blocks)
        apply_to_blocks(triage, result->blocks);
    result->suppressions = triage->suppressions.items;
    result->suppression_count = triage->suppressions.count;
}

/* Where only some of a property's violations do not count, or several, each is named. */
static void put_suppressed(const struct pt_finding *finding, bool one_of_many, const struct pt_style *style,
                           struct pt_buf *buf)
{
    const struct pt_step *breaks = one_of_many ? pt_finding_breaks(finding) : NULL;
    char *words = breaks ? pt_words_step(breaks) : NULL;
    if (pt_finding_is_suppressed(finding))
        pt_words_paragraph(buf, style, 0, 2, "%s '%s' is violated%s%s, which %s%s.", pt_finding_sort(finding),
                           finding->property, words ? " at " : "", words ? words : "",
                           finding->suppressed ? finding->suppressed : "the baseline",
                           finding->suppressed ? " suppresses" : " knows");
    free(words);
}

void pt_triage_text(const struct pt_result *result, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < result->count; i++) {
        const struct pt_finding *finding = result->findings[i];
        put_suppressed(finding, finding->more_count > 0, style, buf);
        for (uint32_t k = 0; k < finding->more_count; k++)
            put_suppressed(finding->more[k], true, style, buf);
    }
    for (uint32_t i = 0; i < result->suppression_count; i++) {
        const struct pt_suppression *s = &result->suppressions[i];
        if (!s->used)
            pt_words_paragraph(buf, style, 0, 2, "Suppression %s was not used (%s:%" PRIu32 ").", s->text, s->file,
                               s->line);
    }
}
