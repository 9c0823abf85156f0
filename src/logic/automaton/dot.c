/* Writes an automaton for Graphviz: labels in the words of the propositions, double circles for accepting states. */
#include "logic/automaton/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/automaton/label.h"

/* Inside a quoted string of the DOT language; there a newline is written \n, and a backslash doubled. */
static void escaped(struct pt_buf *buf, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            pt_buf_puts(buf, "\\n");
            continue;
        }
        if (*text == '"' || *text == '\\')
            pt_buf_add(buf, "\\", 1);
        pt_buf_add(buf, text, 1);
    }
}

/* Whether the proposition's text holds together without parentheses: a name, or a call such as event(x). */
static bool is_tight(const char *text)
{
    return *text && !strpbrk(text, " \t\n<>=!&|+-*/%");
}

static void write_literal(struct pt_buf *buf, const char *prop, bool negated, bool alone)
{
    bool tight = is_tight(prop), wrap = !tight && (negated || !alone);
    pt_buf_puts(buf, negated ? "!" : "");
    pt_buf_puts(buf, wrap ? "(" : "");
    escaped(buf, prop);
    pt_buf_puts(buf, wrap ? ")" : "");
}

static void write_label(struct pt_automaton *aut, pt_bdd label, struct pt_buf *buf)
{
    if (label == PT_BDD_TRUE) {
        pt_buf_puts(buf, "true");
        return;
    }
    struct pt_cube *cubes;
    uint32_t count = pt_bdd_cubes(aut->bdds, label, &cubes);
    for (uint32_t c = 0; c < count; c++) {
        uint64_t used = cubes[c].pos | cubes[c].neg;
        bool alone = count == 1 && (used & (used - 1)) == 0;
        const char *before = c ? " ||\\n" : "";
        for (uint32_t p = 0; p < aut->prop_count; p++) {
            uint64_t bit = UINT64_C(1) << p;
            if (used & bit) {
                pt_buf_puts(buf, before);
                write_literal(buf, aut->props[p], cubes[c].neg & bit, alone);
                before = " && ";
            }
        }
    }
    free(cubes);
}

void pt_dot_write(struct pt_automaton *aut, const char *name, struct pt_buf *buf)
{
    pt_buf_puts(buf, "digraph \"");
    escaped(buf, name ? name : "automaton");
    pt_buf_puts(buf, "\" {\n  rankdir=LR;\n  node [shape=circle];\n");
    if (name) {
        pt_buf_puts(buf, "  label=\"");
        escaped(buf, name);
        pt_buf_puts(buf, "\";\n");
    }
    pt_buf_printf(buf, "  start [shape=point, style=invis];\n  start -> %u;\n", aut->initial);
    for (uint32_t s = 0; s < aut->state_count; s++)
        pt_buf_printf(buf, "  %u%s;\n", s, aut->accepting[s] ? " [shape=doublecircle]" : "");
    struct pt_edge *edges = pt_xmalloc(((size_t)pt_label_max_degree(aut) + 1) * sizeof *edges);
    for (uint32_t s = 0; s < aut->state_count; s++) {
        uint32_t count = pt_label_merged_edges(aut, s, edges);
        for (uint32_t e = 0; e < count; e++) {
            pt_buf_printf(buf, "  %u -> %u [label=\"", s, edges[e].dst);
            write_label(aut, edges[e].label, buf);
            pt_buf_puts(buf, "\"];\n");
        }
    }
    free(edges);
    pt_buf_puts(buf, "}\n");
}
