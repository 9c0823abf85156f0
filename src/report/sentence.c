/*
 * A violation in a few sentences, as code review pages and summaries show it, and the place to show it at. SARIF,
 * GitLab and Markdown have the same words. Linear in what is known of the finding.
 */
#include "report/sentence.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/check.h"
#include "report/place.h"
#include "report/played.h"
#include "report/runs.h"
#include "report/words.h"

/* What a built-in check found, in one sentence: "Data race on x (seen 3 times): w(x) by T2 (a.c:6); r(x) by T1
 * (a.c:1)." */
static void put_check_words(const struct pt_finding *finding, struct pt_buf *buf)
{
    const char *title = pt_check_title(finding);
    char first = (char)toupper((unsigned char)title[0]);
    pt_buf_add(buf, &first, 1);
    char *about = pt_words_about(finding);
    pt_buf_printf(buf, "%s on %s%s", title + 1, about,
                  finding->how == PT_HOW_PREDICTED ? ", in another order of the same events" : "");
    free(about);
    if (finding->count)
        pt_buf_printf(buf, " (seen %" PRIu64 " time%s)", finding->count, pt_words_plural(finding->count));
    for (uint32_t i = 0; i < finding->side_count; i++) {
        char *words = pt_words_step(&finding->sides[i].step);
        pt_buf_printf(buf, "%s %s", i ? ";" : ":", words);
        free(words);
        for (const char *const *lock = finding->sides[i].locks; lock && *lock; lock++)
            pt_buf_printf(buf, "%s%s", lock == finding->sides[i].locks ? ", holding " : ", ", *lock);
    }
    pt_buf_puts(buf, ".");
    if (pt_check_reserve(finding))
        pt_buf_printf(buf, " %s", pt_check_reserve(finding));
}

static void put_property_words(const struct pt_finding *finding, struct pt_buf *buf)
{
    pt_buf_printf(buf, "%s '%s' %s.", pt_finding_sort(finding), finding->property,
                  finding->how == PT_HOW_OBSERVED    ? "is violated by the observed run"
                  : finding->how == PT_HOW_PREDICTED ? "can be violated: the run passed, but the same events may also "
                                                       "happen in an order that breaks it"
                  : finding->how == PT_HOW_DEAD      ? "can no longer be satisfied"
                                                     : "missed its deadline");
    const struct pt_step *breaks = pt_finding_breaks(finding);
    if (breaks) {
        char *words = pt_words_step(breaks);
        bool sooner =
            finding->how == PT_HOW_OBSERVED && !finding->builtin && !finding->side_count && !pt_runs_same(finding);
        pt_buf_printf(buf, " It breaks %sat %s.", sooner ? "soonest, in another order of the same events, " : "",
                      words);
        free(words);
    }
    for (uint32_t i = 1; i < finding->side_count; i++) {
        char *other = pt_words_step(&finding->sides[i].step);
        pt_buf_printf(buf, " The other side is %s.", other);
        free(other);
    }
    for (uint32_t i = 0; i < finding->first.knew_count; i++) {
        const struct pt_known *known = &finding->first.knew[i];
        char *other = known->text[0] != '@' && known->state > 0 ? pt_words_step(&known->from) : NULL;
        if (other)
            pt_buf_printf(buf, " It %s %s.", known->text, other);
        free(other);
    }
    char *confirmed = pt_words_confirmed(finding);
    if (confirmed)
        pt_buf_printf(buf, " %s", confirmed);
    free(confirmed);
}

static void put_stretches(const struct pt_played *played, struct pt_buf *buf)
{
    enum { STRETCHES_MOST = 12 };
    if (!played->stretch_count || played->stretch_count > STRETCHES_MOST)
        return;
    pt_buf_puts(buf, " Schedule: ");
    pt_played_sentence(played, buf);
    pt_buf_puts(buf, ".");
}

/* A failing run of `explore`. */
static void put_schedule_words(const struct pt_played *played, struct pt_buf *buf)
{
    pt_buf_printf(buf, "Under another schedule of its threads the program failed: %s%s.", played->what,
                  played->reproduced ? "" : " (seen once)");
    put_stretches(played, buf);
    for (uint32_t i = 0; i < played->wait_count; i++) {
        pt_buf_puts(buf, i ? "; " : " At the end ");
        pt_played_wait(&played->waits[i], buf);
    }
    pt_buf_puts(buf, played->wait_count ? "." : "");
}

char *pt_sentence_finding(const struct pt_finding *finding)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (pt_check_title(finding)) {
        put_check_words(finding, &buf);
        if (finding->played) /* which shows it */
            put_stretches(finding->played, &buf);
    } else if (finding->played) {
        put_schedule_words(finding->played, &buf);
    } else {
        put_property_words(finding, &buf);
    }
    if (finding->times > 1)
        pt_buf_printf(&buf, " Found in %" PRIu32 " results.", finding->times);
    return pt_buf_take(&buf);
}

char *pt_sentence_block(const struct pt_block *block)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "Block %" PRIu32 " of ", block->number);
    if (block->thread_name[0])
        pt_buf_puts(&buf, block->thread_name);
    else
        pt_buf_printf(&buf, "thread %" PRIu32, block->thread);
    pt_buf_printf(&buf, "%s%s%s is not causally atomic.", block->name[0] ? " ('" : "", block->name,
                  block->name[0] ? "')" : "");
    return pt_buf_take(&buf);
}

struct pt_sentence_place pt_sentence_place(const struct pt_finding *finding)
{
    const struct pt_step *breaks = pt_finding_breaks(finding);
    struct pt_loc_parts parts = breaks ? pt_loc_parts(breaks->loc) : (struct pt_loc_parts){0};
    if (parts.line)
        return (struct pt_sentence_place){breaks->loc, parts.path_len, parts.line, parts.column};
    if (finding->file)
        return (struct pt_sentence_place){finding->file, strlen(finding->file), finding->line, 0};
    return (struct pt_sentence_place){NULL, 0, 0, 0};
}
