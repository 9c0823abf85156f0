/*
 * Several results as one: the same violation, by its id and what it is, is kept once with a count; a property that was
 * violated somewhere is violated, whatever other results say of it. Blocks are the same when thread and number are too,
 * since those of one name in one thread share an id; the worst verdict stands, and occurrences in runs add up.
 *
 * A program that looks at itself calls memory of the heap as its source does, a recording by its block: what races at
 * the same places, as far into a block that was allocated at the same place, is the same under both names.
 */
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "report/result.h"

/* How far into its heap block the memory lies that a finding of two sides is about; UINT64_MAX: not known. */
static uint64_t offset_of(const struct pt_finding *finding)
{
    const struct pt_side *block = finding->block, *side = finding->sides;
    if (!block || finding->side_count != 2)
        return UINT64_MAX;
    size_t len = strlen(block->step.object);
    const char *object = finding->object ? finding->object : "";
    if (len && strncmp(object, block->step.object, len) == 0 && (!object[len] || object[len] == '+'))
        return object[len] ? strtoull(object + len + 1, NULL, 10) : 0;
    return block->address && side->address >= block->address ? side->address - block->address : UINT64_MAX;
}

static bool is_at(const struct pt_side *a, const struct pt_side *b)
{
    return strcmp(a->step.loc, b->step.loc) == 0;
}

/* The same memory of the heap, called by two names. */
static bool is_renamed(const struct pt_finding *a, const struct pt_finding *b)
{
    uint64_t offset = offset_of(a);
    if (offset == UINT64_MAX || offset != offset_of(b) || strcmp(a->kind, b->kind) != 0 || !is_at(a->block, b->block))
        return false;
    return (is_at(&a->sides[0], &b->sides[0]) && is_at(&a->sides[1], &b->sides[1])) ||
           (is_at(&a->sides[0], &b->sides[1]) && is_at(&a->sides[1], &b->sides[0]));
}

static struct pt_finding **find(const struct pt_result *result, const struct pt_finding *finding)
{
    struct pt_finding_id id = pt_finding_id(finding);
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *candidate = result->findings[i];
        if (candidate->verdict != finding->verdict || strcmp(candidate->property, finding->property) != 0)
            continue;
        if (finding->verdict != PT_VERDICT_VIOLATED ||
            (strcmp(id.text, pt_finding_id(candidate).text) == 0 && pt_finding_is_same(finding, candidate)) ||
            is_renamed(finding, candidate))
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

/* The same violation once more: the one that says more stays. It counts if it does anywhere; but what people have
 * decided about one of two names holds for both. */
static void merge_finding(struct pt_arena *arena, struct pt_finding **slot, struct pt_finding *finding)
{
    struct pt_finding *same = *slot;
    bool better = evidence(finding) > evidence(same);
    bool renamed = strcmp(pt_finding_id(same).text, pt_finding_id(finding).text) != 0 && is_renamed(same, finding);
    struct pt_finding *kept = better ? finding : same, *gone = better ? same : finding;
    const char *one = same->suppressed, *other = finding->suppressed;
    kept->times = (same->times ? same->times : 1) + (finding->times ? finding->times : 1);
    kept->suppressed = renamed ? one ? one : other : one && other ? kept->suppressed : NULL;
    kept->known = renamed ? same->known || finding->known : same->known && finding->known;
    kept->origins = join_origins(arena, same->origins, finding->origins);
    *slot = kept;
    if (!kept->played && gone->played) {
        kept->played = gone->played;
        pt_arena_adopt(&kept->arena, &gone->arena);
    }
    pt_finding_free(gone);
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
