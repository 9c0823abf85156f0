/*
 * Writes a deterministic automaton of bad prefixes as one C99 file that depends on nothing but the standard headers:
 * a struct with a truth value per proposition, a step function that is a switch over the states, and a small main
 * under #ifdef. Labels become boolean expressions, as irredundant sums of products; of the edges of a state the one
 * with the longest expression is the final else, which is right because the labels cover everything.
 *
 * Texts of the user reach the file inside comments only, with whatever could end or warn about a comment taken out.
 */
#include "logic/automaton/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"

enum { FIELD_TEXT = 24 }; /* characters of a proposition's text that go into its field's name */

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Letters and digits as they are, every run of other characters as one underscore, none at either end. */
static void add_word(struct pt_buf *buf, const char *text, size_t most)
{
    bool gap = false;
    size_t added = 0;
    for (; *text && added < most; text++) {
        if (!is_word(*text)) {
            gap = added > 0;
            continue;
        }
        if (gap)
            pt_buf_puts(buf, "_");
        pt_buf_add(buf, text, 1);
        added += gap ? 2 : 1;
        gap = false;
    }
}

/* A prefix for the file's names. Never a keyword alone, since every use appends to it. */
static char *identifier(const char *name)
{
    struct pt_buf word, out;
    pt_buf_init(&word);
    pt_buf_init(&out);
    add_word(&word, name, 200);
    bool digit = word.len > 0 && word.text[0] >= '0' && word.text[0] <= '9';
    pt_buf_printf(&out, "%s%s", digit ? "m" : "", word.len > 0 ? word.text : "monitor");
    pt_buf_release(&word);
    return pt_buf_take(&out);
}

static char *field_name(const struct pt_automaton *aut, uint32_t prop)
{
    struct pt_buf out;
    pt_buf_init(&out);
    pt_buf_printf(&out, "a%u_", prop);
    add_word(&out, aut->props[prop], FIELD_TEXT);
    if (out.text[out.len - 1] == '_')
        out.text[--out.len] = '\0';
    return pt_buf_take(&out);
}

/* Text for the inside of a comment: printable ASCII without the marks that begin or end comments. */
static void add_comment_text(struct pt_buf *buf, const char *text)
{
    for (char before = '\0'; *text; before = *text++) {
        char c = *text;
        if ((before == '*' && c == '/') || (before == '/' && c == '*'))
            pt_buf_puts(buf, " ");
        if (c == '\n' || c == '\t' || c == '\r')
            c = ' ';
        if (c < ' ' || c > '~')
            c = '?';
        pt_buf_add(buf, &c, 1);
    }
}

static void write_head(const struct pt_automaton *aut, const char *name, const char *id, struct pt_buf *buf)
{
    pt_buf_puts(buf, "/*\n * Monitor of the property \"");
    add_comment_text(buf, name);
    pt_buf_puts(buf, "\", written by portent automaton --c. C99 or C++, no dependencies.\n *\n"
                     " * One letter per state of the run, the initial state first:\n *\n");
    pt_buf_printf(buf, " *     %s_monitor monitor;\n *     %s_letter letter;\n *     %s_init(&monitor);\n", id, id, id);
    for (uint32_t i = 0; i < aut->prop_count; i++) {
        char *field = field_name(aut, i);
        pt_buf_printf(buf, " *     letter.%s = ", field);
        add_comment_text(buf, aut->props[i]);
        pt_buf_puts(buf, ";\n");
        free(field);
    }
    pt_buf_printf(buf, " *     if (%s_step(&monitor, &letter) == %s_violated)\n *         report();\n *\n", id, id);
    pt_buf_printf(
        buf,
        " * Once violated, always violated: no continuation of the run can repair it. With -D%s_MAIN the file\n"
        " * is a program that reads one letter per line, a 0 or 1 per proposition in the order below, and tells\n"
        " * the line at which the property is violated.\n */\n",
        id);
}

static void write_types(const struct pt_automaton *aut, const struct pt_dfa *dfa, const char *id, struct pt_buf *buf)
{
    pt_buf_printf(buf, "#include <stdbool.h>\n\ntypedef struct %s_letter {\n", id);
    for (uint32_t i = 0; i < aut->prop_count; i++) {
        char *field = field_name(aut, i);
        pt_buf_printf(buf, "    bool %s; /* ", field);
        add_comment_text(buf, aut->props[i]);
        pt_buf_puts(buf, " */\n");
        free(field);
    }
    if (aut->prop_count == 0)
        pt_buf_puts(buf, "    bool unused; /* the property has no propositions */\n");
    pt_buf_printf(buf, "} %s_letter;\n\n", id);
    pt_buf_printf(buf, "typedef enum %s_verdict { %s_ok, %s_violated } %s_verdict;\n\n", id, id, id, id);
    pt_buf_printf(
        buf, "typedef struct %s_monitor {\n    unsigned long state; /* 0 to %lu; %lu: violated */\n} %s_monitor;\n\n",
        id, dfa->state_count > 0 ? (unsigned long)dfa->state_count - 1 : 0, (unsigned long)dfa->state_count, id);
    pt_buf_printf(buf, "%s_verdict %s_init(%s_monitor *monitor);\n", id, id, id);
    pt_buf_printf(buf, "%s_verdict %s_step(%s_monitor *monitor, const %s_letter *letter);\n\n", id, id, id, id);
}

/* The label as a C expression over `letter`. */
static char *expression(const struct pt_automaton *aut, pt_bdd label)
{
    struct pt_buf out;
    pt_buf_init(&out);
    struct pt_cube *cubes;
    uint32_t count = pt_bdd_cubes(aut->bdds, label, &cubes);
    for (uint32_t c = 0; c < count; c++) {
        uint64_t used = cubes[c].pos | cubes[c].neg;
        bool wrap = count > 1 && (used & (used - 1)) != 0;
        pt_buf_printf(&out, "%s%s", c ? " ||\n            " : "", wrap ? "(" : "");
        const char *before = "";
        for (uint32_t p = 0; p < aut->prop_count; p++) {
            uint64_t bit = UINT64_C(1) << p;
            if (!(used & bit))
                continue;
            char *field = field_name(aut, p);
            pt_buf_printf(&out, "%s%sletter->%s", before, cubes[c].neg & bit ? "!" : "", field);
            free(field);
            before = " && ";
        }
        pt_buf_puts(&out, wrap ? ")" : "");
    }
    free(cubes);
    return pt_buf_take(&out);
}

static void write_target(const struct pt_dfa *dfa, uint32_t dst, struct pt_buf *buf)
{
    if (dst == PT_NONE)
        pt_buf_printf(buf, "monitor->state = %u; /* violated */\n", dfa->state_count);
    else
        pt_buf_printf(buf, "monitor->state = %u;\n", dst);
}

static void write_state(const struct pt_automaton *aut, const struct pt_dfa *dfa, uint32_t state, struct pt_buf *buf)
{
    uint32_t from = dfa->first[state], count = dfa->first[state + 1] - from, longest = 0;
    char **tests = pt_xmalloc(((size_t)count + 1) * sizeof *tests);
    for (uint32_t i = 0; i < count; i++) {
        tests[i] = expression(aut, dfa->edges[from + i].label);
        if (strlen(tests[i]) > strlen(tests[longest]))
            longest = i;
    }
    pt_buf_printf(buf, "    case %u:\n", state);
    const char *before = "        ";
    for (uint32_t i = 0; i < count; i++) {
        if (i == longest)
            continue;
        pt_buf_printf(buf, "%sif (%s)\n            ", before, tests[i]);
        write_target(dfa, dfa->edges[from + i].dst, buf);
        before = "        else ";
    }
    if (count > 0) {
        pt_buf_puts(buf, count > 1 ? "        else\n            " : "        ");
        write_target(dfa, dfa->edges[from + longest].dst, buf);
    }
    pt_buf_puts(buf, "        break;\n");
    for (uint32_t i = 0; i < count; i++)
        free(tests[i]);
    free(tests);
}

static void write_functions(const struct pt_automaton *aut, const struct pt_dfa *dfa, const char *id,
                            struct pt_buf *buf)
{
    bool doomed = dfa->initial == PT_NONE, looks = false; /* whether any state tests the letter */
    for (uint32_t s = 0; s < dfa->state_count; s++)
        looks = looks || dfa->first[s + 1] - dfa->first[s] > 1;
    pt_buf_printf(buf, "%s_verdict %s_init(%s_monitor *monitor)\n{\n    monitor->state = %u;\n", id, id, id,
                  doomed ? dfa->state_count : dfa->initial);
    pt_buf_printf(buf, "    return %s_%s;\n}\n\n", id, doomed ? "violated" : "ok");
    pt_buf_printf(buf, "%s_verdict %s_step(%s_monitor *monitor, const %s_letter *letter)\n{\n%s", id, id, id, id,
                  looks ? "" : "    (void)letter;\n");
    pt_buf_puts(buf, "    switch (monitor->state) {\n");
    for (uint32_t s = 0; s < dfa->state_count; s++)
        write_state(aut, dfa, s, buf);
    pt_buf_printf(buf,
                  "    default:\n        break;\n    }\n    return monitor->state == %u ? %s_violated : %s_ok;\n}\n",
                  dfa->state_count, id, id);
}

/* The demonstration program. It reads by character, so that no line is too long for it. */
static void write_main(const struct pt_automaton *aut, const char *id, struct pt_buf *buf)
{
    pt_buf_printf(buf, "\n#ifdef %s_MAIN\n#include <stdio.h>\n\n", id);
    pt_buf_puts(buf,
                "/* 1: a line was read; 0: the end; -1: not a line of zeros and ones, one for each proposition */\n");
    pt_buf_printf(buf, "static int read_letter(%s_letter *letter)\n{\n", id);
    pt_buf_printf(buf, "    bool *const fields[] = {");
    for (uint32_t i = 0; i < aut->prop_count; i++) {
        char *field = field_name(aut, i);
        pt_buf_printf(buf, "%s&letter->%s", i ? ", " : "", field);
        free(field);
    }
    pt_buf_printf(buf, "%s};\n    int count = 0, c = getchar();\n", aut->prop_count ? "" : "&letter->unused");
    pt_buf_puts(buf, "    if (c == EOF)\n        return 0;\n    for (; c != EOF && c != '\\n'; c = getchar()) {\n"
                     "        if (c == ' ' || c == '\\t' || c == '\\r')\n            continue;\n");
    pt_buf_printf(buf, "        if ((c != '0' && c != '1') || count == %u)\n            return -1;\n", aut->prop_count);
    pt_buf_puts(buf, "        *fields[count++] = c == '1';\n    }\n");
    pt_buf_printf(buf, "    return count == %u ? 1 : -1;\n}\n\n", aut->prop_count);
    pt_buf_printf(buf,
                  "int main(void)\n{\n    %s_monitor monitor;\n    %s_letter letter;\n    unsigned long line = 0;\n"
                  "    int read = 1;\n    %s_verdict verdict = %s_init(&monitor);\n",
                  id, id, id, id);
    pt_buf_printf(buf,
                  "    while (verdict == %s_ok && (read = read_letter(&letter)) == 1) {\n        line++;\n"
                  "        verdict = %s_step(&monitor, &letter);\n    }\n",
                  id, id);
    pt_buf_puts(buf, "    if (read < 0) {\n"
                     "        fprintf(stderr, \"line %lu: expected ");
    pt_buf_printf(buf, "%u times 0 or 1\\n\", line + 1);\n        return 2;\n    }\n", aut->prop_count);
    pt_buf_printf(buf,
                  "    if (verdict == %s_violated)\n        printf(\"violated at line %%lu\\n\", line);\n"
                  "    else\n        printf(\"not violated in %%lu lines\\n\", line);\n"
                  "    return verdict == %s_violated;\n}\n#endif\n",
                  id, id);
}

void pt_cmonitor_write(const struct pt_automaton *aut, const struct pt_dfa *dfa, const char *name, struct pt_buf *buf)
{
    char *id = identifier(name ? name : "monitor");
    write_head(aut, name ? name : "monitor", id, buf);
    write_types(aut, dfa, id, buf);
    write_functions(aut, dfa, id, buf);
    write_main(aut, id, buf);
    free(id);
}
