/*
 * Sizes and times of LTL to Büchi: reads a tab-separated file of formulas (id, formula in Spin syntax, states with
 * ltl2ba, ltl3ba and Spot; "TO" where that tool took too long) and prints ours beside them, with totals per family (the
 * id up to its '-') over the formulas that each tool finished.
 *
 *     buchi FORMULAS.tsv
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    clock_gettime(CLOCK_MONOTONIC, &t);
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
            states = aut->state_count;
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

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!file) {
        fprintf(stderr, "usage: buchi FORMULAS.tsv\n");
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
