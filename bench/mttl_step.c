/*
 * What one step of the evaluator of decentralised properties costs, without the runtime around it: the bank's property
 * (bench/mttl/bank.prop) in a thread that knows two others.
 *
 *     mttl_step [MILLIONS]
 *
 * Prints nanoseconds of processor time per step, the best of some rounds that take turns: an event that sets the
 * thread's own variable (as portent_internal does), one that brings news of another thread, and the first one once more
 * as if nothing were known of what changed. Every step exports; the entries it is compared with are made beforehand,
 * so that showing them is not measured.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "logic/mttl/mttl.h"

enum { THREADS = 3, ROUNDS = 12 };

static const char bank[] =
    "property atomic at each i: execution > 0 -> !(exists j != i: execution == @j @i execution);";

/* One thread with two states that it changes between, and two that another one does. */
struct subject {
    struct pt_mttl *m;
    struct pt_mttl_thread *thread;
    struct pt_mttl_entry *next, *own[2], *other[2];
    const struct pt_mttl_entry *known[THREADS];
    struct pt_value value;
    struct pt_mttl_verdict verdict;
    struct pt_mttl_view view;
};

static struct pt_mttl *compile(void)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_mttl *block = NULL;
    struct pt_err err;
    const struct pt_property *property;
    if (pt_properties_add(props, "bank.prop", bank, strlen(bank), NULL, NULL, &err) != PT_OK ||
        (property = &props->items[0], pt_mttl_compile(&property, 1, &block, &err)) != PT_OK) {
        fprintf(stderr, "mttl_step: %s\n", err.message);
        exit(1);
    }
    pt_properties_free(props);
    return block;
}

static struct pt_mttl_entry *show(const struct subject *s, size_t bytes)
{
    struct pt_mttl_entry *entry = pt_xmalloc(bytes);
    memcpy(entry, s->next, bytes);
    return entry;
}

static unsigned step(struct subject *s, uint64_t changed)
{
    s->view.changed = changed;
    return pt_mttl_step(s->m, &s->view, s->thread, s->next, &s->verdict);
}

static void set(struct subject *s, int64_t value)
{
    s->value = pt_value_int(value);
}

static void prepare(struct subject *s)
{
    struct pt_mttl *m = compile();
    uint32_t cap = pt_mttl_least_cap(m, THREADS + THREADS / 2);
    size_t bytes = pt_mttl_entry_size(m, cap);
    void *scratch = pt_xmalloc(pt_mttl_scratch_size(m));
    struct pt_mttl_initial *initial = pt_xmalloc(pt_mttl_initial_size(m));
    *s = (struct subject){.m = m, .thread = pt_xmalloc(pt_mttl_thread_size(m, cap)), .next = pt_xcalloc(1, bytes)};
    set(s, 0);
    pt_mttl_initial_fill(m, &s->value, scratch, initial);
    pt_mttl_thread_init(m, s->thread, 0, cap);
    s->view = (struct pt_mttl_view){.event = {.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE},
                                    .values = &s->value,
                                    .known = s->known,
                                    .known_count = THREADS,
                                    .used = THREADS,
                                    .initial = initial};
    (void)step(s, PT_MTTL_ALL);
    for (int64_t k = 1; k >= 0; k--) { /* 7 and 8: what another thread may have of its own, or have heard of ours */
        set(s, 7 + k);
        (void)step(s, PT_MTTL_ALL);
        s->other[k] = show(s, bytes);
        s->other[k]->slot = 1;
    }
    s->known[1] = s->other[0];
    s->known[2] = s->other[0];
    for (int64_t k = 1; k >= 0; k--) {
        set(s, k);
        (void)step(s, PT_MTTL_ALL);
        s->own[k] = show(s, bytes);
    }
    s->known[0] = s->own[0];
    free(scratch);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The thread's variable becomes 1, 0, 1, ...: twice `count` steps, each of which exports. */
static double own_events(struct subject *s, long count, uint64_t changed)
{
    unsigned all = PT_MTTL_EXPORTED;
    double begin = now();
    for (long i = 0; i < count; i++)
        for (int k = 1; k >= 0; k--) {
            set(s, k);
            all &= step(s, changed);
            s->known[0] = s->own[k];
        }
    if (!all)
        abort();
    return (now() - begin) / (double)(2 * count);
}

static double news(struct subject *s, long count)
{
    unsigned all = PT_MTTL_EXPORTED;
    struct pt_mttl_entry *own[2] = {s->own[0]};
    set(s, 1);
    s->known[0] = s->own[1];
    (void)step(s, PT_MTTL_ALL);
    size_t bytes = pt_mttl_entry_size(s->m, s->thread->cap);
    own[0] = show(s, bytes);
    s->known[0] = own[0];
    s->known[1] = s->other[1];
    (void)step(s, PT_MTTL_HEARD);
    own[1] = show(s, bytes);
    s->known[0] = own[1];
    double begin = now();
    for (long i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            s->known[1] = s->other[k];
            all &= step(s, PT_MTTL_HEARD);
            s->known[0] = own[k];
        }
    double each = (now() - begin) / (double)(2 * count);
    if (!all)
        abort();
    s->known[1] = s->other[0];
    set(s, 0);
    (void)step(s, PT_MTTL_ALL);
    s->known[0] = s->own[0];
    free(own[0]);
    free(own[1]);
    return each;
}

int main(int argc, char **argv)
{
    long count = (argc > 1 ? atol(argv[1]) : 1) * 500000;
    double best[3] = {1, 1, 1};
    struct subject s;
    prepare(&s);
    for (int round = 0; round < ROUNDS; round++) {
        double took[3] = {own_events(&s, count, pt_mttl_changed_var(0)), news(&s, count),
                          own_events(&s, count, PT_MTTL_ALL)};
        for (int k = 0; k < 3; k++)
            best[k] = took[k] < best[k] ? took[k] : best[k];
    }
    printf("step of the bank's property, 2 other threads: own variable %.1f ns, news of a thread %.1f ns, "
           "own variable with everything evaluated %.1f ns\n",
           1e9 * best[0], 1e9 * best[1], 1e9 * best[2]);
    return 0;
}
