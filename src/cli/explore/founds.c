/*
 * Reports that a run has left in the memory file (core/explore.h), turned into findings as `run` does with those of a
 * channel. Threads have the names that the schedule shows them by. Guarantee: nothing in a report is trusted further
 * than its bytes go. Cost: linear in the reports.
 */
#include "cli/explore/founds.h"

#include <string.h>

#include "core/found.h"

struct naming {
    const struct pt_explore_names *names;
    const struct pt_explore_outcome *outcome;
    const char *const *threads;
};

static const char *object_name(void *context, uint64_t address, enum pt_space space)
{
    const struct pt_explore_names *names = ((const struct naming *)context)->names;
    (void)space;
    return names->variable ? names->variable(names->context, address) : NULL;
}

static const char *thread_name(void *context, uint64_t number, bool settle)
{
    const struct naming *naming = context;
    (void)settle;
    for (uint32_t i = 0; i < naming->outcome->thread_count; i++)
        if (naming->outcome->threads[i].reported == number)
            return naming->threads[i];
    return number == 1 ? "main" : NULL;
}

static void take(struct pt_founds *founds, const struct pt_explore_report *report)
{
    pt_founds_take(founds, report->key, report->count, report->text, report->bytes);
}

void pt_explore_founds_read(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                            uint32_t checks, uint32_t first, bool alone, struct pt_explore_founds *ret_founds)
{
    static const struct pt_analysis_options options;
    struct pt_arena arena;
    *ret_founds = (struct pt_explore_founds){0};
    if (!outcome->report_count)
        return;
    pt_arena_init(&arena);
    struct naming naming = {names, outcome, pt_explore_thread_names(names, outcome, &arena)};
    struct pt_found_names calls = {object_name, thread_name, &naming};
    struct pt_founds *founds = pt_founds_new(0, NULL, 0, &calls, &options);
    if (first && first <= outcome->report_count)
        take(founds, &outcome->reports[first - 1]);
    for (uint32_t i = 0; i < outcome->report_count; i++)
        if (i + 1 != first && !alone && checks >> outcome->reports[i].check & 1)
            take(founds, &outcome->reports[i]);
    pt_founds_finish(founds, NULL, &ret_founds->result);
    ret_founds->all = founds;
    pt_arena_release(&arena);
}

void pt_explore_founds_release(struct pt_explore_founds *founds)
{
    pt_founds_free(founds->all);
    *founds = (struct pt_explore_founds){0};
}

struct pt_finding *pt_explore_founds_of(const struct pt_explore_founds *founds, const struct pt_explore_report *report)
{
    static const char *const kinds[] = {
        [PT_FOUND_RACE] = "race", [PT_FOUND_DEADLOCK] = "deadlock", [PT_FOUND_LIFETIME] = "lifetime"};
    for (uint32_t i = 0; i < founds->result.count && report->check < PT_FOUND_CHECKS; i++)
        if (strcmp(founds->result.findings[i]->kind, kinds[report->check]) == 0)
            return founds->result.findings[i];
    return NULL;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return pt_fnv(hash, text, strlen(text) + 1);
}

/* Without the folders: a program may have been built elsewhere. */
static const char *last_part(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

uint64_t pt_explore_report_key(const struct pt_explore_report *report)
{
    struct pt_local_report_reader r = {report->text, report->bytes, false};
    struct pt_found_head head = pt_found_read_head(&r);
    uint64_t sum = add_text(pt_mix64(report->check), head.note);
    if (head.block_size)
        pt_found_skip_stack(&r);
    for (uint32_t left = pt_found_read_sides(&r); left; left--) {
        struct pt_found_side side = pt_found_read_side(&r);
        uint64_t hash = add_text(pt_mix64(side.kind), side.variable);
        uint64_t frames = pt_found_read_stack(&r);
        for (uint64_t i = 0; frames != PT_FOUND_LOST && i < frames; i++) {
            struct pt_found_frame frame = pt_found_read_frame(&r);
            if (i == 0)
                hash = add_text(add_text(hash, frame.function), last_part(frame.file));
        }
        pt_found_skip_locks(&r);
        pt_found_skip_stack(&r);
        sum += pt_mix64(hash);
    }
    return pt_mix64(sum) | 1;
}
