/* What a block that the validator accepts must bear: a few states of a thread, each explained. */
#ifndef PT_TESTS_FUZZ_BLOCK_H
#define PT_TESTS_FUZZ_BLOCK_H

#include <stdlib.h>

#include "base/mem.h"
#include "core/mttl.h"

enum { THREADS = 4, LARGE = 1 << 20, DEEP = 3 };

/* Sizes and nesting that a caller would refuse, or a test could not wait for. */
static inline bool block_is_modest(const struct pt_mttl *m)
{
    uint32_t cap = pt_mttl_least_cap(m, m->threads.count + THREADS);
    if (m->threads.count > 64 || m->bytes > LARGE / 8 || pt_mttl_entry_size(m, cap) > LARGE ||
        pt_mttl_thread_size(m, cap) > LARGE || pt_mttl_initial_size(m) > LARGE || pt_mttl_scratch_size(m) > LARGE)
        return false;
    for (uint32_t i = 0; i < m->loops.count; i++) {
        uint32_t depth = 0;
        for (uint32_t id = i + 1; id != 0; id = pt_mttl_at(m, loops, struct pt_mttl_loop, id - 1)->outer)
            depth++;
        if (depth > DEEP)
            return false;
    }
    return true;
}

static inline void block_ignore(void *context, uint32_t lookup, uint32_t slot, const struct pt_mttl_entry *entry,
                                struct pt_value value)
{
    (void)context, (void)lookup, (void)slot, (void)entry, (void)value;
}

/* A few states of a nameless thread, which hears of itself and of one other. */
static inline void block_evaluate(const struct pt_mttl *m)
{
    uint32_t self = m->threads.count, used = self + 2, cap = pt_mttl_least_cap(m, used + 1);
    struct pt_value *values = pt_xcalloc(m->vars.count + 1, sizeof *values);
    const struct pt_mttl_entry **known = pt_xcalloc(used, sizeof *known);
    struct pt_mttl_verdict *verdicts = pt_xcalloc(m->properties.count + 1, sizeof *verdicts);
    struct pt_mttl_initial *initial = pt_xmalloc(pt_mttl_initial_size(m));
    struct pt_mttl_thread *thread = pt_xmalloc(pt_mttl_thread_size(m, cap));
    struct pt_mttl_entry *entries[] = {pt_xcalloc(1, pt_mttl_entry_size(m, cap)),
                                       pt_xcalloc(1, pt_mttl_entry_size(m, cap))};
    void *scratch = pt_xmalloc(pt_mttl_scratch_size(m));
    for (uint32_t v = 0; v < m->vars.count; v++)
        values[v] = v % 3 == 2 ? pt_value_string("s", 1) : pt_value_int(v);
    pt_mttl_initial_fill(m, values, scratch, initial);
    pt_mttl_thread_init(m, thread, self, cap);
    struct pt_mttl_view view = {
        .self = self, .values = values, .known = known, .used = used, .initial = initial, .changed = PT_MTTL_ALL};
    for (uint32_t k = 0; k < 8; k++) {
        struct pt_mttl_entry *next = entries[k % 2];
        view.event = (struct pt_mttl_event){.what = k, .name = k % 2 ? 0 : PT_MTTL_NONE};
        unsigned flags = pt_mttl_step(m, &view, thread, next, verdicts);
        for (uint32_t p = 0; p < m->properties.count; p++)
            pt_mttl_explain(m, &view, thread, next, p, block_ignore, NULL);
        if (flags & PT_MTTL_EXPORTED || k == 0)
            known[self] = next;
        view.known_count = used;
    }
    free(values);
    free(known);
    free(verdicts);
    free(initial);
    free(thread);
    free(entries[0]);
    free(entries[1]);
    free(scratch);
}

#endif
