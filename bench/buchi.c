/*
 * Sizes and times of LTL to Büchi: reads a tab-separated file of formulas (id, formula in Spin syntax, states with
 * ltl2ba, ltl3ba and Spot; "TO" where that tool took too long) and prints ours beside them, with totals per family (the
 * id up to its '-') over the formulas that each tool finished.
 *
 *     buchi FORMULAS.tsv
 *     buchi random [COUNT [PROPOSITIONS]]     random formulas of 5 to 20 nodes (1000, over 4): states in all
 *     buchi families [N]      each parametric family up to n = N (20): the largest that is translated, and the time
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "logic/lang/property.h"

enum { TOOLS = 3, STATE_LIMIT = 100000, MAX_FAMILY = 32 };

struct totals {
    char family[MAX_FAMILY];
    unsigned formulas, ours;
    unsigned theirs[TOOLS], ours_beside[TOOLS]; /* over the formulas that the tool finished */
    double slowest;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may be shared */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The states of the formula's automaton and the time from text to automaton; 0 states and a message on failure. */
static unsigned measure(const char *formula, double *ret_seconds, struct pt_err *err)
{
    double start = now();
    unsigned states = 0;
    struct pt_properties *props = pt_properties_new();
    if (pt_properties_add_formula(props, formula, err) == PT_OK) {
        const struct pt_property *p = &props->items[0];
        const char *names[PT_MAX_ATOMS];
        for (uint32_t i = 0; i < p->atom_count; i++)
            names[i] = p->atoms[i].text;
        struct pt_automaton *aut;
        if (pt_automaton_of_formula(&p->pool, p->formula, names, p->atom_count, STATE_LIMIT, &aut, err) == PT_OK) {
            bool monitorable;
            struct pt_err why;
            enum pt_status asked = pt_automaton_monitorable(aut, STATE_LIMIT, &monitorable, &why);
            states = asked == PT_OK || asked == PT_ELIMIT ? aut->state_count : 0; /* the program asks, too */
            pt_automaton_free(aut);
        }
    }
    pt_properties_free(props);
    *ret_seconds = now() - start;
    return states;
}

static void print_totals(const struct totals *t)
{
    static const char *const tools[TOOLS] = {"ltl2ba", "ltl3ba", "Spot"};
    if (t->formulas == 0)
        return;
    printf("%s: %u formulas, %u states, slowest %.3f s;", t->family, t->formulas, t->ours, t->slowest);
    for (int i = 0; i < TOOLS; i++)
        if (t->theirs[i])
            printf(" %.2f of %s (%u / %u)", (double)t->ours_beside[i] / t->theirs[i], tools[i], t->ours_beside[i],
                   t->theirs[i]);
    printf("\n\n");
}

static void count(struct totals *t, unsigned states, char *const *fields, double seconds)
{
    t->formulas++;
    t->ours += states;
    if (seconds > t->slowest)
        t->slowest = seconds;
    for (int i = 0; i < TOOLS; i++) {
        unsigned theirs = (unsigned)strtoul(fields[2 + i], NULL, 10);
        if (theirs == 0)
            continue;
        t->theirs[i] += theirs;
        t->ours_beside[i] += states;
    }
}

/* Splits a line at its tabs; false unless it has all fields. */
static bool split(char *line, char **fields)
{
    line[strcspn(line, "\r\n")] = '\0';
    for (int i = 0; i < 2 + TOOLS; i++) {
        fields[i] = strsep(&line, "\t");
        if (!fields[i])
            return false;
    }
    return true;
}

/* ---- families ---- */

static void put_fair(struct pt_buf *f, unsigned n)
{
    for (unsigned i = 1; i <= n; i++)
        pt_buf_printf(f, "%s([]<>p%u)", i > 1 ? " && " : "", i);
}

static void put_implied(struct pt_buf *f, unsigned n)
{
    pt_buf_puts(f, "(");
    put_fair(f, n);
    pt_buf_puts(f, ") -> [](q -> <>r)");
}

static void put_unfair(struct pt_buf *f, unsigned n)
{
    put_fair(f, n);
    pt_buf_puts(f, " && <>(q && []!r)");
}

static void put_until_left(struct pt_buf *f, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        pt_buf_puts(f, "(");
    for (unsigned i = 1; i <= n; i++)
        pt_buf_printf(f, i > 1 ? " U p%u)" : "p%u", i);
}

static void put_until_right(struct pt_buf *f, unsigned n)
{
    for (unsigned i = 1; i <= n; i++)
        pt_buf_printf(f, i < n ? "p%u U (" : "p%u", i);
    for (unsigned i = 1; i < n; i++)
        pt_buf_puts(f, ")");
}

static void put_not_right(struct pt_buf *f, unsigned n)
{
    pt_buf_puts(f, "!(");
    put_until_right(f, n);
    pt_buf_puts(f, ")");
}

static void put_always_right(struct pt_buf *f, unsigned n)
{
    pt_buf_puts(f, "[](p -> (");
    put_until_right(f, n);
    pt_buf_puts(f, "))");
}

static void put_not_always_right(struct pt_buf *f, unsigned n)
{
    pt_buf_puts(f, "!");
    put_always_right(f, n);
}

static void put_fair_response(struct pt_buf *f, unsigned n)
{
    put_fair(f, n);
    pt_buf_puts(f, " && [](q -> <>r)");
}

static void put_within(struct pt_buf *f, unsigned n)
{
    pt_buf_puts(f, "[](p -> q");
    for (unsigned i = 1; i <= n; i++) {
        pt_buf_puts(f, " || ");
        for (unsigned k = 0; k < i; k++)
            pt_buf_puts(f, "X ");
        pt_buf_puts(f, "q");
    }
    pt_buf_puts(f, ")");
}

static void put_chain(struct pt_buf *f, unsigned n)
{
    for (unsigned i = 1; i <= n; i++)
        pt_buf_printf(f, "%s([]<>p%u || <>[]p%u)", i > 1 ? " && " : "", i, i + 1);
}

static const struct family {
    const char *name;
    void (*put)(struct pt_buf *f, unsigned n);
} families[] = {
    {"gf: GF p1 and ... GF pn", put_fair},
    {"fair: (GF p1 and ... GF pn) -> G(q -> F r)", put_implied},
    {"not fair: GF p1 and ... GF pn and F(q and G !r)", put_unfair},
    {"ul: (((p1 U p2) U p3) ... U pn)", put_until_left},
    {"p1 U (p2 U (... U pn))", put_until_right},
    {"not p1 U (p2 U (... U pn))", put_not_right},
    {"G(p -> p1 U (p2 U (... U pn)))", put_always_right},
    {"F(p and not p1 U (p2 U (... U pn)))", put_not_always_right},
    {"GF p1 and ... GF pn and G(q -> F r)", put_fair_response},
    {"G(p -> q or X q or ... X^n q)", put_within},
    {"(GF p1 or FG p2) and ... (GF pn or FG p(n+1))", put_chain},
};

/* Ends with the first that is not translated, or takes longer than anybody would wait. */
static void measure_family(const struct family *family, unsigned most)
{
    enum { LONG = 5 };
    double seconds = 0, slowest = 0;
    unsigned states = 0, n = 2;
    for (; n <= most && slowest < LONG; n++) {
        struct pt_buf text;
        struct pt_err err = {0};
        pt_buf_init(&text);
        family->put(&text, n);
        unsigned made = measure(text.text, &seconds, &err);
        pt_buf_release(&text);
        slowest = seconds > slowest ? seconds : slowest;
        if (!made) {
            printf("RATE %s: n = %u: %s (%.2f s)\n", family->name, n, err.message, seconds);
            break;
        }
        states = made;
    }
    printf("RATE %s: n = %u: %u states; slowest %.3f s\n", family->name, n - 1, states, slowest);
    fflush(stdout);
}

/* ---- random formulas ---- */

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

static void put_random(struct pt_buf *f, uint64_t *state, uint32_t nodes, uint32_t props)
{
    static const char *const unary[] = {"!", "X ", "<>", "[]"};
    static const char *const binary[] = {" && ", " || ", " -> ", " U ", " U ", " V "};
    if (nodes == 1) {
        pt_buf_printf(f, "p%u", draw(state, props));
        return;
    }
    bool one = nodes == 2 || draw(state, 3) == 0;
    uint32_t left = one ? 0 : 1 + draw(state, nodes - 2);
    pt_buf_puts(f, one ? unary[draw(state, 4)] : "");
    pt_buf_puts(f, "(");
    put_random(f, state, one ? nodes - 1 : left, props);
    pt_buf_puts(f, ")");
    if (one)
        return;
    pt_buf_puts(f, binary[draw(state, 6)]);
    pt_buf_puts(f, "(");
    put_random(f, state, nodes - 1 - left, props);
    pt_buf_puts(f, ")");
}

/* Formula number i is made from i alone. */
static void measure_random(uint32_t count, uint32_t props)
{
    double seconds, all = 0, slowest = 0;
    uint64_t states = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t state = i * 2654435761u + 1;
        struct pt_buf text;
        struct pt_err err = {0};
        pt_buf_init(&text);
        put_random(&text, &state, 5 + draw(&state, 16), props);
        unsigned made = measure(text.text, &seconds, &err);
        if (!made)
            printf("%s: %s\n", text.text, err.message);
        pt_buf_release(&text);
        states += made;
        all += seconds;
        slowest = seconds > slowest ? seconds : slowest;
    }
    printf("RATE %u random formulas over %u propositions: %llu states, %.2f s, slowest %.3f s\n", count, props,
           (unsigned long long)states, all, slowest);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && strcmp(argv[1], "random") == 0) {
        measure_random(argc >= 3 ? (uint32_t)atoi(argv[2]) : 1000, argc >= 4 ? (uint32_t)atoi(argv[3]) : 4);
        return 0;
    }
    if (argc >= 2 && strcmp(argv[1], "families") == 0) {
        for (size_t i = 0; i < sizeof families / sizeof *families; i++)
            measure_family(&families[i], argc >= 3 ? (unsigned)atoi(argv[2]) : 20);
        return 0;
    }
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: buchi FORMULAS.tsv | families [N] | random [COUNT [PROPOSITIONS]]\n");
        return 2;
    }
    int failures = 0;
    struct totals totals = {0};
    char *line = NULL, *fields[2 + TOOLS];
    size_t cap = 0;
    printf("%-10s %7s %7s %7s %7s %9s\n", "formula", "states", "ltl2ba", "ltl3ba", "Spot", "seconds");
    while (getline(&line, &cap, file) >= 0) {
        if (*line == '#' || !split(line, fields))
            continue;
        char family[MAX_FAMILY];
        snprintf(family, sizeof family, "%.*s", (int)strcspn(fields[0], "-"), fields[0]);
        if (strcmp(family, totals.family) != 0) {
            print_totals(&totals);
            totals = (struct totals){0};
            memcpy(totals.family, family, sizeof family);
        }
        struct pt_err err = {0};
        double seconds;
        unsigned states = measure(fields[1], &seconds, &err);
        if (states == 0) {
            printf("%-10s %s\n", fields[0], err.message);
            failures++;
            continue;
        }
        printf("%-10s %7u %7s %7s %7s %9.4f\n", fields[0], states, fields[2], fields[3], fields[4], seconds);
        count(&totals, states, fields, seconds);
    }
    print_totals(&totals);
    free(line);
    fclose(file);
    return failures ? 1 : 0;
}
