/*
 * Several results as one: the same violation, by its id and what it is, is kept once with a count; a property that was
 * violated somewhere is violated, whatever other results say of it. Blocks are the same when thread and number are too,
 * since those of one name in one thread share an id; the worst verdict stands, and occurrences in runs add up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "report/result.h"

static struct pt_finding **find(const struct pt_result *result, const struct pt_finding *finding)
{
    struct pt_finding_id id = pt_finding_id(finding);
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *candidate = result->findings[i];
        if (candidate->verdict != finding->verdict || strcmp(candidate->property, finding->property) != 0)
            continue;
        if (finding->verdict != PT_VERDICT_VIOLATED ||
            (strcmp(id.text, pt_finding_id(candidate).text) == 0 && pt_finding_is_same(finding, candidate)))
            return &result->findings[i];
    }
    return NULL;
}

static bool is_violated(const struct pt_result *result, const char *property)
{
    for (uint32_t i = 0; i < result->count; i++)
        if (result->findings[i]->verdict == PT_VERDICT_VIOLATED && strcmp(result->findings[i]->property, property) == 0)
            return true;
    return false;
}

/* Drops what is said of a property beside its violations. */
static void drop_others(struct pt_result *result)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *finding = result->findings[i];
        if (finding->verdict == PT_VERDICT_VIOLATED || !is_violated(result, finding->property))
            result->findings[kept++] = finding;
        else
            pt_finding_free(finding);
    }
    result->count = kept;
}

static uint32_t intern(struct pt_strtab *keys, const struct pt_block *block)
{
    struct pt_buf key;
    pt_buf_init(&key);
    pt_buf_printf(&key, "%s %d %u %u %s", pt_block_id(block).text, block->of_run, block->thread, block->number,
                  block->thread_name);
    uint32_t index = pt_strtab_intern(keys, key.text, key.len);
    pt_buf_release(&key);
    return index;
}

static int badness(const struct pt_block *block)
{
    return block->unknown ? 1 : block->atomic ? 0 : 2;
}

static void merge_block(struct pt_block *same, const struct pt_block *block)
{
    struct pt_block both = badness(block) > badness(same) ? *block : *same;
    if (badness(block) == badness(same)) {
        both.times = (same->times ? same->times : 1) + (block->times ? block->times : 1);
        both.suppressed = block->suppressed ? same->suppressed : NULL;
        both.known = same->known && block->known;
    }
    both.occurrences = same->occurrences + block->occurrences;
    both.violated = same->violated + block->violated;
    both.unfinished = same->unfinished + block->unfinished;
    *same = both;
}

static void merge_blocks(struct pt_loaded *into, const struct pt_loaded *from)
{
    uint32_t total = into->block_count + from->block_count, kept = 0;
    struct pt_block *blocks = pt_arena_alloc(&into->arena, ((size_t)total + 1) * sizeof *blocks);
    struct pt_strtab keys;
    pt_strtab_init(&keys);
    for (uint32_t i = 0; i < total; i++) {
        const struct pt_block *block = i < into->block_count ? &into->blocks[i] : &from->blocks[i - into->block_count];
        uint32_t index = intern(&keys, block);
        if (index == kept)
            blocks[kept++] = *block;
        else
            merge_block(&blocks[index], block);
    }
    pt_strtab_release(&keys);
    into->blocks = blocks;
    into->block_count = kept;
    into->limit = into->limit ? into->limit : from->limit;
    into->is_model = into->is_model && from->is_model;
}

/* Both lists; none where a result has recorded none, since that means a folder that only the reader knows. */
static const char *const *merge_roots(struct pt_arena *arena, const char *const *a, const char *const *b)
{
    size_t a_count = 0, b_count = 0;
    if (!a || !b)
        return NULL;
    while (a[a_count])
        a_count++;
    while (b[b_count])
        b_count++;
    const char **both = pt_arena_alloc(arena, (a_count + b_count + 1) * sizeof *both);
    memcpy(both, a, a_count * sizeof *both);
    memcpy(both + a_count, b, b_count * sizeof *both);
    return both;
}

/* Where its findings come from, before they stand among others. Those of a merged result know it. */
static void set_origins(struct pt_loaded *loaded)
{
    struct pt_origin *own = pt_arena_alloc(&loaded->arena, sizeof *own);
    *own = (struct pt_origin){.file = loaded->file, .program = loaded->result.program};
    for (uint32_t i = 0; i < loaded->result.count; i++)
        if (!loaded->result.findings[i]->origins && (own->file || own->program))
            loaded->result.findings[i]->origins = own;
}

/* Both lists, the first one's first. */
static const struct pt_origin *join_origins(struct pt_arena *arena, const struct pt_origin *a,
                                            const struct pt_origin *b)
{
    if (!a)
        return b;
    struct pt_origin *copy = pt_arena_alloc(arena, sizeof *copy);
    *copy = (struct pt_origin){a->file, a->program, join_origins(arena, a->next, b)};
    return copy;
}

/* Of what a check found: what happened says more than what can happen, and that with a run that leads there more than
 * without one. */
static int evidence(const struct pt_finding *finding)
{
    if (!finding->side_count)
        return 0;
    return finding->how == PT_HOW_OBSERVED ? 2 : finding->witness_count > 0;
}

/* The same violation once more: the one that says more stays. */
static void merge_finding(struct pt_arena *arena, struct pt_finding **slot, struct pt_finding *finding)
{
    struct pt_finding *same = *slot;
    bool better = evidence(finding) > evidence(same);
    struct pt_finding *kept = better ? finding : same;
    kept->times = (same->times ? same->times : 1) + (finding->times ? finding->times : 1);
    kept->suppressed = same->suppressed && finding->suppressed ? kept->suppressed : NULL; /* it counts if anywhere */
    kept->known = same->known && finding->known;
    kept->origins = join_origins(arena, same->origins, finding->origins);
    *slot = kept;
    pt_finding_free(better ? same : finding);
}

void pt_loaded_merge(struct pt_loaded *into, struct pt_loaded *from)
{
    struct pt_result *a = &into->result, *b = &from->result;
    set_origins(into);
    set_origins(from);
    a->findings = pt_xrealloc(a->findings, ((size_t)a->count + b->count + 1) * sizeof *a->findings);
    for (uint32_t i = 0; i < b->count; i++) {
        struct pt_finding *finding = b->findings[i], **slot = find(a, finding);
        if (slot)
            merge_finding(&into->arena, slot, finding);
        else
            a->findings[a->count++] = finding;
    }
    b->count = 0;
    drop_others(a);
    a->events += b->events;
    a->threads = a->threads > b->threads ? a->threads : b->threads;
    a->source_roots = merge_roots(&into->arena, a->source_roots, b->source_roots);
    merge_blocks(into, from);
    struct pt_loaded *last = from; /* it may be a merged one itself */
    while (last->merged)
        last = last->merged;
    last->merged = into->merged;
    into->merged = from;
}
