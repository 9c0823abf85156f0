/*
 * Writes an automaton in the HOA format, version 1: state-based Büchi acceptance, one initial state, no aliases, one
 * edge per line. Edges of a state to the same destination become one, whose label is an irredundant sum of products.
 */
#include "logic/automaton/automaton.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"
#include "logic/automaton/label.h"

static void quoted(struct pt_buf *buf, const char *text)
{
    pt_buf_add(buf, "\"", 1);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            pt_buf_add(buf, "\\", 1);
        pt_buf_add(buf, text, 1);
    }
    pt_buf_add(buf, "\"", 1);
}

/* Whether no valuation has two edges, and whether each has one, in every state. Overflow counts as not known. */
static void judge(struct pt_automaton *aut, struct pt_edge *edges, bool *ret_deterministic, bool *ret_complete)
{
    *ret_deterministic = *ret_complete = true;
    for (uint32_t s = 0; s < aut->state_count; s++) {
        pt_bdd seen = PT_BDD_FALSE;
        uint32_t count = pt_label_merged_edges(aut, s, edges);
        for (uint32_t e = 0; e < count; e++) {
            pt_bdd common = pt_bdd_and(aut->bdds, seen, edges[e].label);
            *ret_deterministic = *ret_deterministic && common == PT_BDD_FALSE;
            seen = pt_bdd_or(aut->bdds, seen, edges[e].label);
        }
        *ret_complete = *ret_complete && seen == PT_BDD_TRUE;
    }
}

static void write_label(struct pt_automaton *aut, pt_bdd label, struct pt_buf *buf)
{
    if (label == PT_BDD_TRUE) {
        pt_buf_puts(buf, "[t]");
        return;
    }
    struct pt_cube *cubes;
    uint32_t count = pt_bdd_cubes(aut->bdds, label, &cubes);
    for (uint32_t c = 0; c < count; c++) {
        const char *before = c ? " | " : "[";
        for (uint32_t p = 0; p < aut->prop_count; p++) {
            uint64_t bit = UINT64_C(1) << p;
            if ((cubes[c].pos | cubes[c].neg) & bit) {
                pt_buf_printf(buf, "%s%s%u", before, cubes[c].neg & bit ? "!" : "", p);
                before = "&";
            }
        }
    }
    pt_buf_puts(buf, "]");
    free(cubes);
}

void pt_hoa_write(struct pt_automaton *aut, const char *name, struct pt_buf *buf)
{
    bool deterministic, complete;
    struct pt_edge *edges = pt_xmalloc(((size_t)pt_label_max_degree(aut) + 1) * sizeof *edges);
    judge(aut, edges, &deterministic, &complete);
    pt_buf_puts(buf, "HOA: v1\n");
    if (name) {
        pt_buf_puts(buf, "name: ");
        quoted(buf, name);
        pt_buf_puts(buf, "\n");
    }
    pt_buf_printf(buf, "tool: \"portent\"\nStates: %u\nStart: %u\nAP: %u", aut->state_count, aut->initial,
                  aut->prop_count);
    for (uint32_t i = 0; i < aut->prop_count; i++) {
        pt_buf_puts(buf, " ");
        quoted(buf, aut->props[i]);
    }
    pt_buf_printf(buf,
                  "\nacc-name: Buchi\nAcceptance: 1 Inf(0)\nproperties: trans-labels explicit-labels state-acc%s%s\n",
                  deterministic ? " deterministic" : "", complete ? " complete" : "");
    pt_buf_puts(buf, "--BODY--\n");
    for (uint32_t s = 0; s < aut->state_count; s++) {
        pt_buf_printf(buf, "State: %u%s\n", s, aut->accepting[s] ? " {0}" : "");
        uint32_t count = pt_label_merged_edges(aut, s, edges);
        for (uint32_t e = 0; e < count; e++) {
            write_label(aut, edges[e].label, buf);
            pt_buf_printf(buf, " %u\n", edges[e].dst);
        }
    }
    free(edges);
    pt_buf_puts(buf, "--END--\n");
}
