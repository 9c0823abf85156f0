/*
 * What lies in the heap has no name that a property could use, but race_free(*) is about it too: which lock goes with
 * which part of the blocks that one place allocates, put together over all these blocks, is the evidence of one
 * property. Cells that only one thread touches do not count, nor those of memory that was used twice.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/suggest/propose.h"

/* The cells at one offset of all blocks that one place allocates, with the lock that goes with the first of them. */
struct kind {
    uint32_t place, word, missing;
    uint64_t offset, accesses, held;
    uint64_t threads;
    bool atomic;
};

struct kinds {
    struct kind *items;
    uint32_t count;
    size_t cap;
    struct pt_map64 index; /* by place and offset */
};

/* Of blocks beyond 4 GB the ends are not told from each other. */
static struct kind *kind_of(struct kinds *kinds, uint32_t place, uint64_t offset)
{
    uint32_t *at = pt_map64_at(&kinds->index, (uint64_t)place << 32 | (uint32_t)offset);
    if (*at == PT_NONE) {
        struct kind kind = {.place = place, .offset = offset, .word = PT_NONE, .missing = PT_NONE};
        *at = kinds->count;
        PT_PUSH(kinds->items, kinds->count, kinds->cap, kind);
    }
    return &kinds->items[*at];
}

static void take_cell(struct kinds *kinds, const struct pt_suggest_facts *f, const struct pt_suggest_var *v)
{
    struct kind *kind = kind_of(kinds, f->heap.blocks[v->block].place, v->offset);
    const struct pt_suggest_lock *lock = pt_proposals_lock(v);
    kind->accesses += v->accesses;
    kind->threads |= v->readers | v->writers;
    kind->atomic |= v->is_atomic;
    if (kind->word == PT_NONE && lock)
        kind->word = lock->word;
    for (uint32_t i = 0; i < v->lock_count; i++)
        if (v->locks[i].word == kind->word) {
            kind->held += v->locks[i].held;
            kind->missing = kind->missing == PT_NONE ? v->locks[i].missing : kind->missing;
        }
    if (kind->held < kind->accesses && kind->missing == PT_NONE)
        kind->missing = v->first_place;
}

/* 3 a lock that is missing somewhere, 2 one that never is, 1 none, 0 nothing to say. */
static unsigned weight_of(const struct kind *kind)
{
    if (kind->atomic || !kind->accesses)
        return 0;
    return kind->held == kind->accesses ? 2 : kind->held * 2 >= kind->accesses ? 3 : 1;
}

static void say(struct pt_proposals *p, const struct kind *kind, uint32_t others)
{
    unsigned weight = weight_of(kind), threads = pt_proposals_threads(kind->threads);
    const char *word = kind->word == PT_NONE ? "" : pt_strtab_text(&p->f->heap.words, kind->word);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    pt_proposals_name(p, &text, "heap", weight == 1 ? "unshared" : "guarded", "");
    pt_buf_printf(&text, ": race_free(*); // +%" PRIu64 " of what %s allocates: ", kind->offset,
                  pt_name(&p->f->names, PT_SPACE_LOC, kind->place));
    if (weight == 2)
        pt_buf_printf(&text, "%s is held at all %" PRIu64 " accesses, by %u threads", word, kind->accesses, threads);
    else if (weight == 3)
        pt_buf_printf(&text, "%s is held at %" PRIu64 " of %" PRIu64 " accesses, not at %s", word, kind->held,
                      kind->accesses, pt_name(&p->f->names, PT_SPACE_LOC, kind->missing));
    else
        pt_buf_printf(&text, "%u threads, no lock at most of %" PRIu64 " accesses", threads, kind->accesses);
    if (others)
        pt_buf_printf(&text, "; %u more of the kind", others);
    pt_proposals_add(p, weight == 3 ? 99 : weight == 2 ? 79 : 59, &text);
}

void pt_propose_heap(struct pt_proposals *p)
{
    struct kinds kinds = {0};
    const struct kind *best = NULL;
    uint32_t others = 0;
    pt_map64_init(&kinds.index);
    for (size_t id = 0; id < p->f->var_cap; id++) {
        const struct pt_suggest_var *v = &p->f->vars[id];
        if (v->seen && v->block != PT_NONE && !v->moved && !p->f->heap.blocks[v->block].again &&
            pt_proposals_is_shared(v))
            take_cell(&kinds, p->f, v);
    }
    for (uint32_t i = 0; i < kinds.count; i++) {
        const struct kind *kind = &kinds.items[i];
        unsigned weight = weight_of(kind), most = best ? weight_of(best) : 0;
        others = weight > most ? 0 : others + (weight && weight == most);
        if (weight > most || (weight == most && weight && kind->accesses > best->accesses))
            best = kind;
    }
    if (best)
        say(p, best, others);
    pt_map64_release(&kinds.index);
    free(kinds.items);
}
