/*
 * What a step leaves out when it is told what has changed. Random properties in a random computation of a few threads:
 * each step is made twice, once as if anything had changed, on copies, and once with exactly what has; nothing may tell
 * the two apart. And a table of what must not be evaluated, which random computations would not show.
 */
#include "base/mem.h"
#include "logic/mttl/mttl.h"
#include "trace_util.h"

enum { PROPERTIES = 3, MOST_THREADS = 6, MOST_VARS = 80, BLOCKS = 6000, STEPS = 60 };

/* NULL where the properties are beyond a limit. */
static struct pt_mttl *compile(const char *text)
{
    struct pt_properties *props = pt_properties_new();
    const struct pt_property *list[PROPERTIES];
    struct pt_mttl *block = NULL;
    struct pt_err err;
    if (pt_properties_add(props, "test.prop", text, strlen(text), NULL, NULL, &err) != PT_OK)
        fail_msg("%s: %s", err.message, text);
    for (uint32_t i = 0; i < props->count; i++)
        list[i] = &props->items[i];
    enum pt_status status = pt_mttl_compile(list, props->count, &block, &err);
    assert_true(status == PT_OK || status == PT_ELIMIT);
    pt_properties_free(props);
    return status == PT_OK ? block : NULL;
}

/* --- random properties --- */

struct maker {
    uint64_t *random;
    struct pt_buf text;
    uint32_t bound; /* thread variables in scope: j0, j1, ... */
};

static void put_thread(struct maker *k)
{
    if (k->bound && below(k->random, 10) < 7)
        pt_buf_printf(&k->text, "j%u", below(k->random, k->bound));
    else
        pt_buf_printf(&k->text, "T%u", 1 + below(k->random, 2));
}

static void put_expression(struct maker *k, uint32_t depth)
{
    static const char *const leaves[] = {"x", "y", "z", "x", "y", "1", "2"};
    uint32_t shape = below(k->random, 20);
    if (depth && shape < 8) {
        pt_buf_puts(&k->text, "@");
        put_thread(k);
        pt_buf_puts(&k->text, "(");
        put_expression(k, depth - 1);
        pt_buf_puts(&k->text, ")");
    } else if (depth && shape < 10) {
        pt_buf_puts(&k->text, "(");
        put_expression(k, depth - 1);
        pt_buf_puts(&k->text, below(k->random, 3) == 0 ? " / " : " + ");
        put_expression(k, depth - 1);
        pt_buf_puts(&k->text, ")");
    } else {
        pt_buf_puts(&k->text, leaves[below(k->random, 7)]);
    }
}

static void put_leaf(struct maker *k)
{
    static const char *const leaves[] = {"event(go)", "event(stop)",     "read(x)",         "write(y)",
                                         "true",      "atomic_block(b)", "atomic_block(c)", "(x)"};
    static const char *const relations[] = {"==", "!=", "<", "<=", ">", ">="};
    if (below(k->random, 4) == 0) {
        pt_buf_puts(&k->text, leaves[below(k->random, 8)]);
        return;
    }
    pt_buf_puts(&k->text, "(");
    put_expression(k, 2);
    pt_buf_printf(&k->text, " %s ", relations[below(k->random, 6)]);
    put_expression(k, 1);
    pt_buf_puts(&k->text, ")");
}

static void put_formula(struct maker *k, uint32_t depth);

static void put_around(struct maker *k, const char *before, uint32_t depth, const char *between, const char *after)
{
    pt_buf_puts(&k->text, before);
    put_formula(k, depth);
    if (between) {
        pt_buf_puts(&k->text, between);
        put_formula(k, depth);
    }
    pt_buf_puts(&k->text, after);
}

static void put_quantifier(struct maker *k, uint32_t depth)
{
    pt_buf_printf(&k->text, "(%s j%u", below(k->random, 2) ? "exists" : "forall", k->bound);
    if (below(k->random, 2)) {
        pt_buf_puts(&k->text, " != ");
        put_thread(k);
    }
    k->bound++;
    put_around(k, ": ", depth, NULL, ")");
    k->bound--;
}

static void put_formula(struct maker *k, uint32_t depth)
{
    static const char *const unary[] = {"(previously ", "(once ", "(historically ", "start(", "end(", "(!"};
    static const char *const binary[] = {" && ", " || ", " -> ", " <-> ", " since "};
    uint32_t shape = below(k->random, 20);
    if (depth == 0 || shape < 3) {
        put_leaf(k);
    } else if (shape < 7) {
        pt_buf_puts(&k->text, "@");
        put_thread(k);
        put_around(k, "(", depth - 1, NULL, ")");
    } else if (shape < 12) {
        put_around(k, unary[below(k->random, 6)], depth - 1, NULL, ")");
    } else if (shape < 15 && k->bound < 3) {
        put_quantifier(k, depth - 1);
    } else if (shape < 16) {
        put_around(k, "([", depth - 1, ", ", below(k->random, 2) ? "))" : ")w)");
    } else {
        put_around(k, "(", depth - 1, binary[below(k->random, 5)], ")");
    }
}

static struct pt_mttl *random_block(uint64_t *random)
{
    struct pt_mttl *block = NULL;
    while (!block) {
        struct maker k = {.random = random};
        pt_buf_init(&k.text);
        for (uint32_t p = 0, count = 1 + below(random, PROPERTIES); p < count; p++) {
            bool each = below(random, 3) > 0;
            pt_buf_printf(&k.text, "property p%u at %s: ", p, each ? "each j0" : below(random, 2) ? "T1" : "T2");
            k.bound = each;
            put_formula(&k, 1 + below(random, 5));
            pt_buf_puts(&k.text, ";\n");
        }
        block = compile(k.text.text);
        pt_buf_release(&k.text);
    }
    return block;
}

/* --- a computation --- */

struct actor {
    struct pt_mttl_thread *thread;
    struct pt_mttl_entry *next;
    const struct pt_mttl_entry *known[MOST_THREADS];
    struct pt_value values[MOST_VARS];
    struct pt_mttl_verdict verdicts[PROPERTIES];
    uint64_t changed; /* since its last step */
};

struct world {
    uint64_t *random;
    struct pt_mttl *m;
    struct pt_mttl_initial *initial;
    struct actor actors[MOST_THREADS];
    uint32_t used;
    bool plain;                     /* variables are integers */
    struct pt_mttl_entry **entries; /* all that were shown */
    size_t entry_count, entry_cap;
};

static void *copy(const void *bytes, size_t size)
{
    return memcpy(pt_xmalloc(size), bytes, size);
}

static struct pt_mttl_view view_of(const struct world *w, const struct actor *a, struct pt_mttl_event event)
{
    return (struct pt_mttl_view){.self = (uint32_t)(a - w->actors),
                                 .event = event,
                                 .values = a->values,
                                 .known = a->known,
                                 .known_count = w->used,
                                 .used = w->used,
                                 .initial = w->initial,
                                 .changed = a->changed};
}

static void assert_same_outcome(const struct world *w, const struct actor *a, const struct actor *b)
{
    const uint32_t cap = a->thread->cap;
    assert_memory_equal(a->thread, b->thread, pt_mttl_thread_size(w->m, cap));
    assert_memory_equal(a->next, b->next, pt_mttl_entry_size(w->m, cap)); /* strings at the same place, too */
    for (uint32_t p = 0; p < w->m->properties.count; p++) {
        assert_int_equal(a->verdicts[p].kind, b->verdicts[p].kind);
        assert_int_equal(a->verdicts[p].result, b->verdicts[p].result);
        assert_int_equal(a->verdicts[p].atom, b->verdicts[p].atom);
    }
}

static void show(struct world *w, struct actor *a)
{
    struct pt_mttl_entry *entry = copy(a->next, pt_mttl_entry_size(w->m, a->thread->cap));
    PT_PUSH(w->entries, w->entry_count, w->entry_cap, entry);
    a->known[a - w->actors] = entry;
}

/* Steps a copy with everything, then the actor itself with what has changed. */
static void step_twice(struct world *w, struct actor *a, struct pt_mttl_event event)
{
    struct actor whole = *a;
    whole.thread = copy(a->thread, pt_mttl_thread_size(w->m, a->thread->cap));
    whole.next = copy(a->next, pt_mttl_entry_size(w->m, a->thread->cap));
    struct pt_mttl_view view = view_of(w, a, event), everything = view;
    everything.changed = PT_MTTL_ALL;
    unsigned expected = pt_mttl_step(w->m, &everything, whole.thread, whole.next, whole.verdicts);
    unsigned flags = pt_mttl_step(w->m, &view, a->thread, a->next, a->verdicts);
    assert_int_equal(flags, expected);
    assert_same_outcome(w, a, &whole);
    free(whole.thread);
    free(whole.next);
    a->changed = 0;
    if (flags & PT_MTTL_EXPORTED)
        show(w, a);
}

static const struct pt_mttl_event quiet = {.what = PT_MTTL_OTHER, .name = PT_MTTL_NONE};

static void make_room(struct world *w, struct actor *a)
{
    uint32_t cap = pt_mttl_least_cap(w->m, w->used);
    if (a->thread->cap >= cap)
        return;
    struct pt_mttl_thread *grown = pt_xmalloc(pt_mttl_thread_size(w->m, cap));
    pt_mttl_thread_grow(w->m, a->thread, grown, cap);
    free(a->thread);
    free(a->next);
    a->thread = grown;
    a->next = pt_xcalloc(1, pt_mttl_entry_size(w->m, cap));
}

static void begin_actor(struct world *w, uint32_t slot)
{
    struct actor *a = &w->actors[slot];
    uint32_t cap = pt_mttl_least_cap(w->m, w->used) + (below(w->random, 2) && w->m->flags & PT_MTTL_THREADS);
    for (uint32_t v = 0; v < w->m->vars.count; v++)
        a->values[v] = pt_value_int(0);
    a->thread = pt_xmalloc(pt_mttl_thread_size(w->m, cap));
    a->next = pt_xcalloc(1, pt_mttl_entry_size(w->m, cap));
    pt_mttl_thread_init(w->m, a->thread, slot, cap);
    step_twice(w, a, quiet);
    show(w, a);
}

/* Mostly integers; in plain computations nothing else, so that few comparisons lack a value. */
static struct pt_value random_value(uint64_t *random, bool plain)
{
    static const char texts[] = "a\0a\0b"; /* the same text at two places */
    uint32_t shape = below(random, 40);
    return plain        ? pt_value_int(below(random, 3))
           : shape == 0 ? (struct pt_value){0}
           : shape == 1 ? pt_value_float(0.5 * below(random, 4))
           : shape < 6  ? pt_value_string(texts + 2 * below(random, 3), 1)
                        : pt_value_int(below(random, 3));
}

static void set_variable(struct world *w, struct actor *a, uint32_t var)
{
    struct pt_value value = random_value(w->random, w->plain);
    if (memcmp(&a->values[var], &value, sizeof value) != 0)
        a->changed |= pt_mttl_changed_var(var);
    a->values[var] = value;
}

static void hear_of(struct world *w, struct actor *a, uint32_t slot)
{
    const struct pt_mttl_entry *newest = w->actors[slot].known[slot];
    if (slot == (uint32_t)(a - w->actors) || a->known[slot] == newest)
        return;
    a->known[slot] = newest;
    a->changed |= PT_MTTL_HEARD;
}

static struct pt_mttl_event random_event(const struct world *w)
{
    static const uint32_t whats[] = {PT_MTTL_READ, PT_MTTL_WRITE, PT_MTTL_UPDATE,
                                     PT_MTTL_USER, PT_MTTL_ENTER, PT_MTTL_LEAVE};
    struct pt_mttl_event event = {.what = whats[below(w->random, 6)]};
    uint32_t names = event.what == PT_MTTL_USER    ? w->m->events.count
                     : event.what >= PT_MTTL_ENTER ? w->m->blocks.count
                                                   : w->m->vars.count;
    event.name = names && below(w->random, 4) ? below(w->random, names) : PT_MTTL_NONE;
    return event;
}

static void begin_thread(struct world *w)
{
    w->used++;
    begin_actor(w, w->used - 1);
    for (uint32_t i = 0; i + 1 < w->used; i++)
        w->actors[i].changed |= PT_MTTL_HEARD;
}

static void one_event(struct world *w)
{
    if (w->used < MOST_THREADS && below(w->random, 15) == 0)
        begin_thread(w);
    struct actor *a = &w->actors[below(w->random, w->used)];
    if (w->m->vars.count && below(w->random, 2))
        set_variable(w, a, below(w->random, w->m->vars.count));
    if (below(w->random, 2))
        hear_of(w, a, below(w->random, w->used));
    make_room(w, a);
    step_twice(w, a, below(w->random, 3) ? quiet : random_event(w));
}

static void world_init(struct world *w, struct pt_mttl *m, uint64_t *random)
{
    struct pt_value values[MOST_VARS];
    void *scratch = pt_xmalloc(pt_mttl_scratch_size(m));
    *w = (struct world){.random = random, .m = m, .used = m->threads.count + 1, .plain = below(random, 3) > 0};
    for (uint32_t v = 0; v < m->vars.count; v++)
        values[v] = pt_value_int(0);
    w->initial = pt_xmalloc(pt_mttl_initial_size(m));
    pt_mttl_initial_fill(m, values, scratch, w->initial);
    free(scratch);
    for (uint32_t i = 0; i < w->used; i++)
        begin_actor(w, i);
}

static void world_release(struct world *w)
{
    for (uint32_t i = 0; i < w->used; i++) {
        free(w->actors[i].thread);
        free(w->actors[i].next);
    }
    for (size_t i = 0; i < w->entry_count; i++)
        free(w->entries[i]);
    free(w->entries);
    free(w->initial);
}

static void compute(struct pt_mttl *m, uint64_t *random)
{
    struct world w;
    world_init(&w, m, random);
    for (uint32_t n = 0; n < STEPS; n++)
        one_event(&w);
    world_release(&w);
}

static void test_nothing_tells_them_apart(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= BLOCKS; seed++) {
        uint64_t random = seed;
        struct pt_mttl *m = random_block(&random);
        compute(m, &random);
        free(m);
    }
}

/* --- what is left out --- */

enum change { NOTHING = 0, VAR_X = 1, VAR_Y = 2, HEARD = 4, MARKED = 8, AFTER_MARKED = 16, MOVED = 32 };

static uint32_t find_variable(const struct pt_mttl *m, const char *name)
{
    for (uint32_t v = 0; v < m->vars.count; v++)
        if (strcmp(pt_mttl_string(m, pt_mttl_at(m, vars, struct pt_mttl_name, v)->name), name) == 0)
            return v;
    return m->vars.count; /* none of the block's: a bit that nothing needs, in blocks as small as these */
}

/* Whether this change makes the thread look at its property again: a verdict that it cannot give shows if not. */
static bool is_judged(const char *formula, enum change change)
{
    struct pt_buf text;
    uint64_t random = 1;
    struct world w;
    pt_buf_init(&text);
    pt_buf_printf(&text, "property p at T1: %s;", formula);
    struct pt_mttl *m = compile(text.text);
    pt_buf_release(&text);
    struct pt_mttl_event marked = {.what = PT_MTTL_USER, .name = 0};
    world_init(&w, m, &random);
    struct actor *a = &w.actors[0];
    for (int k = 0; k < (change == MOVED ? 0 : 3); k++)
        step_twice(&w, a, change == AFTER_MARKED && k == 2 ? marked : quiet);
    a->verdicts[0].kind = PT_MTTL_NOT_HERE;
    struct pt_mttl_view view = view_of(&w, a, change == MARKED ? marked : quiet);
    view.changed = (change == VAR_X ? pt_mttl_changed_var(find_variable(m, "x")) : 0) |
                   (change == VAR_Y ? pt_mttl_changed_var(find_variable(m, "y")) : 0) |
                   (change == HEARD ? PT_MTTL_HEARD : 0);
    (void)pt_mttl_step(m, &view, a->thread, a->next, a->verdicts);
    bool judged = a->verdicts[0].kind != PT_MTTL_NOT_HERE;
    world_release(&w);
    free(m);
    return judged;
}

static void test_only_what_is_needed(void **state)
{
    (void)state;
    static const struct {
        const char *formula;
        unsigned judged_after; /* of enum change */
    } table[] = {
        {"true", 0},
        {"x >= 0", VAR_X},
        {"@T1 x >= 0", VAR_X},
        {"@T2 x >= y", VAR_Y | HEARD},
        {"@T2(x >= 0 && once event(go))", HEARD},
        {"@T2 @T1 x >= 0", HEARD},
        {"exists i: @i x >= 0", VAR_X | HEARD},
        {"forall i: true", HEARD},
        {"!event(go)", MARKED | AFTER_MARKED},
        {"!read(y)", MARKED | AFTER_MARKED},
        {"atomic_block(b)", MARKED | AFTER_MARKED | HEARD},
        {"once x >= 0", VAR_X | MOVED},
        {"previously previously y >= 0", VAR_Y | MOVED},
        {"once @T2(once x >= 0)", HEARD | MOVED},
        {"y + 1 > x", VAR_X | VAR_Y},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (unsigned change = VAR_X; change <= MOVED; change *= 2)
            if (is_judged(table[i].formula, change) != ((table[i].judged_after & change) != 0))
                fail_msg("%s after change %u", table[i].formula, change);
}

/* Which failure is told of an operator that lacks a value is a matter of the latest one, whoever had it. */
static void test_failures(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t value;
    } script[] = {{"x", 1}, {"z", 1}, {"y", 1}, {"z", 2}, {"y", 2}, {"x", 0}, {"z", 3}, {"x", 1}, {"y", 1}};
    uint64_t random = 1;
    struct world w;
    struct pt_mttl *m = compile("property p at T1: once 1 / x == 0; property q at T1: once 1 / (1 - y) == 7;"
                                "property r at T1: z < 3 || @T1(once 1 / x == 0);");
    uint32_t last = PT_MTTL_NONE, moved = 0;
    world_init(&w, m, &random);
    for (size_t i = 0; i < sizeof script / sizeof *script; i++) {
        struct actor *a = &w.actors[0];
        uint32_t var = find_variable(m, script[i].name);
        a->values[var] = pt_value_int(script[i].value);
        a->changed = pt_mttl_changed_var(var);
        step_twice(&w, a, quiet);
        moved += a->verdicts[0].kind == PT_MTTL_FAILED && a->verdicts[0].atom != last;
        last = a->verdicts[0].atom;
    }
    assert_true(moved > 1); /* p is told by q's failure, and by its own again */
    world_release(&w);
    free(m);
}

/* Those beyond the 62nd share a bit, and none is lost. */
static void test_many_variables(void **state)
{
    (void)state;
    struct pt_buf text;
    uint64_t random = 1;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property p at each i: v0 >= 0");
    for (int v = 1; v < MOST_VARS; v++)
        pt_buf_printf(&text, " && (v%d >= 0 || once v%d == 2 || @i v%d == 1)", v, v - 1, v);
    pt_buf_puts(&text, ";");
    struct pt_mttl *m = compile(text.text);
    assert_int_equal(m->vars.count, MOST_VARS);
    for (int k = 0; k < 20; k++)
        compute(m, &random);
    free(m);
    pt_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_tells_them_apart),
        cmocka_unit_test(test_only_what_is_needed),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_many_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
