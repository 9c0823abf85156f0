/*
 * portent automaton: shows the automaton of a property: a Buechi automaton as HOA or DOT, or a stand-alone C monitor
 * that finds bad prefixes. A property that needs more states than --automaton-limit is refused, never cut short. The
 * cost is that of the translation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/whatis.h"
#include "logic/monitor/monitor.h"
#include "base/suggest.h"

enum { OPT_HOA, OPT_DOT, OPT_C, OPT_PROPERTIES, OPT_PROPERTY, OPT_AUTOMATON_LIMIT };

static const struct pt_option options_table[] = {
    [OPT_HOA] = {"hoa", 0, NULL, NULL, "a Buechi automaton in HOA format (default)"},
    [OPT_DOT] = {"dot", 0, NULL, NULL, "the same as a graph for Graphviz"},
    [OPT_C] = {"c", 0, NULL, NULL, "a stand-alone C99 monitor that finds bad prefixes"},
    [OPT_PROPERTIES] = {NULL, 's', "FILE.prop", NULL, "take the property from this file"},
    [OPT_PROPERTY] = {NULL, 'p', "NAME", NULL, "which property, where the file has several"},
    [OPT_AUTOMATON_LIMIT] = {"automaton-limit", 0, "N", NULL, "give up when more states are needed (default: 100000)"},
    {0},
};

struct request {
    uint32_t form; /* OPT_HOA, OPT_DOT or OPT_C */
    const char *file, *name, *formula;
    bool batch; /* formulas come from standard input, one in each line */
    uint32_t limit;
};

static bool set_option(struct request *request, uint32_t index, const char *argument)
{
    uint64_t limit;
    switch (index) {
    case OPT_PROPERTIES:
        if (request->file) {
            pt_diag_usage("automaton", "automaton takes one property file");
            return false;
        }
        request->file = argument;
        return true;
    case OPT_PROPERTY:
        request->name = argument;
        return true;
    case OPT_AUTOMATON_LIMIT:
        if (!pt_parse_count("automaton-limit", argument, INT32_MAX, &limit))
            return false;
        request->limit = (uint32_t)limit;
        return true;
    default:
        if (request->form != PT_NONE && request->form != index) {
            pt_diag_usage("automaton", "--hoa, --dot and --c exclude each other");
            return false;
        }
        request->form = index;
        return true;
    }
}

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){.form = PT_NONE, .limit = 100000};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(request, parsed->options[i].index, parsed->options[i].argument))
            return false;
    }
    if (request->form == PT_NONE)
        request->form = OPT_HOA;
    if (parsed->operand_count != (request->file ? 0 : 1)) {
        pt_diag_usage("automaton", "automaton takes either one formula or -s FILE.prop");
        return false;
    }
    if (request->name && !request->file) {
        pt_diag_usage("automaton", "-p chooses a property of a file: it needs -s FILE.prop");
        return false;
    }
    request->formula = request->file ? NULL : parsed->operands[0];
    if (request->formula && pt_whatis(request->formula) == PT_FILE_PROPERTIES) {
        struct pt_err err;
        (void)pt_err_set(&err, PT_EUSAGE, "'%s' is a property file, not a formula", request->formula);
        pt_whatis_hint(request->formula, PT_FILE_PROPERTIES, &err);
        pt_diag_error(&err);
        return false;
    }
    request->batch = request->formula && strcmp(request->formula, "-") == 0;
    if (request->batch && request->form == OPT_C) {
        pt_diag_usage("automaton", "--c makes one monitor: it takes one formula, not a list of them");
        return false;
    }
    return true;
}

/* "a, b, c" */
static char *property_names(const struct pt_properties *props)
{
    struct pt_buf list;
    pt_buf_init(&list);
    for (uint32_t i = 0; i < props->count; i++)
        pt_buf_printf(&list, "%s%s", i ? ", " : "", props->items[i].name);
    return pt_buf_take(&list);
}

/* The one property that was asked for, out of those that were read. */
static enum pt_status choose(const struct request *request, const struct pt_properties *props,
                             const struct pt_property **ret_property, struct pt_err *err)
{
    if (props->count == 0) {
        (void)pt_err_at(err, PT_EINPUT, request->file, 0, 0, "there is no property in this file");
        return PT_EINPUT;
    }
    if (!request->name && props->count == 1) {
        *ret_property = &props->items[0];
        return PT_OK;
    }
    struct pt_suggest suggest;
    pt_suggest_init(&suggest, request->name ? request->name : "", request->name ? strlen(request->name) : 0);
    for (uint32_t i = 0; request->name && i < props->count; i++) {
        if (strcmp(props->items[i].name, request->name) == 0) {
            *ret_property = &props->items[i];
            return PT_OK;
        }
        pt_suggest_offer(&suggest, props->items[i].name);
    }
    if (request->name)
        (void)pt_err_at(err, PT_EUSAGE, request->file, 0, 0, "there is no property '%s' in this file", request->name);
    else
        (void)pt_err_at(err, PT_EUSAGE, request->file, 0, 0, "there are %u properties in this file: choose with -p",
                        props->count);
    char *names = property_names(props);
    if (suggest.best)
        pt_err_hint(err, "did you mean '%s'?", suggest.best);
    else
        pt_err_hint(err, "its properties are %s", names);
    free(names);
    return PT_EUSAGE;
}

/* Says so when the property is one that no monitor can ever find violated. Works on an automaton of its own. */
static void warn_unless_monitorable(const struct pt_property *property, uint32_t limit)
{
    struct pt_automaton *aut;
    struct pt_err err;
    bool monitorable = true;
    if (property->within) /* it can be late */
        return;
    if (pt_property_automaton(property, limit, &aut, &err) != PT_OK)
        return;
    pt_automaton_prune(aut);
    enum pt_status status = pt_automaton_monitorable(aut, limit, &monitorable, &err);
    if (status == PT_ELIMIT) {
        (void)pt_err_set(&err, PT_ELIMIT, "too large to tell whether a finite prefix can violate this property");
        pt_diag_warning(&err);
    } else if (status == PT_OK && !monitorable) {
        (void)pt_err_set(&err, PT_OK,
                         "no finite prefix can violate this property: checking it will never find a violation");
        pt_diag_warning(&err);
    }
    pt_automaton_free(aut);
}

/* A formula without a temporal operator looks like a demand on the first state alone, as in LTL. */
static void note_every_state(const struct pt_property *property)
{
    struct pt_err err;
    if (property->kind != PT_KIND_LTL)
        return;
    const struct pt_fnode *root = &property->pool.nodes[property->formula];
    if (root->has_future || root->has_past)
        return;
    (void)pt_err_set(&err, PT_OK, "a formula without a temporal operator means that it holds in every state");
    pt_diag_warning(&err);
}

/* The property as written, as a C comment: printable ASCII, without the marks that begin or end comments. */
static void put_comment(const struct pt_property *property, struct pt_buf *buf)
{
    pt_buf_puts(buf, "/* ");
    for (const char *c = property->text; *c; c++) {
        bool mark = c > property->text && ((c[-1] == '*' && *c == '/') || (c[-1] == '/' && *c == '*'));
        bool space = *c == '\n' || *c == '\t' || *c == '\r', printable = *c >= ' ' && *c <= '~';
        pt_buf_printf(buf, "%s%c", mark ? " " : "", space ? ' ' : printable ? *c : '?');
    }
    pt_buf_puts(buf, " */\n");
}

/* A regular expression is violated when it is matched, and what must hold in every state where it is false, even where
 * that was bound to come. */
static enum pt_status bad_prefixes(const struct pt_property *property, struct pt_automaton *aut, uint32_t limit,
                                   struct pt_dfa **ret_dfa, struct pt_err *err)
{
    if (property->kind == PT_KIND_ERE)
        return pt_ere_bad_prefixes(aut, ret_dfa, err);
    if (pt_property_state_formula(property) != PT_NONE)
        return pt_automaton_stuck_prefixes(aut, limit, ret_dfa, err);
    return pt_automaton_bad_prefixes(aut, limit, ret_dfa, err);
}

/* A stand-alone monitor. */
static enum pt_status write_c(const struct request *request, const struct pt_property *property, struct pt_buf *buf,
                              struct pt_err *err)
{
    struct pt_automaton *aut;
    struct pt_dfa *dfa = NULL;
    bool by_state = pt_property_state_formula(property) != PT_NONE;
    enum pt_status status =
        (by_state ? pt_property_state_automaton : pt_property_automaton)(property, request->limit, &aut, err);
    if (status != PT_OK)
        return status;
    status = bad_prefixes(property, aut, request->limit, &dfa, err);
    if (status == PT_OK)
        status = pt_automaton_check_labels(aut, dfa, err);
    if (status == PT_OK) {
        put_comment(property, buf);
        pt_cmonitor_write(aut, dfa, request->file ? property->name : "formula", buf);
    }
    pt_dfa_free(dfa);
    pt_automaton_free(aut);
    return status;
}

static enum pt_status write_form(const struct request *request, const struct pt_property *property, struct pt_buf *buf,
                                 struct pt_err *err)
{
    struct pt_automaton *aut;
    const char *name = request->file ? property->name : property->text;
    if (request->form == OPT_C)
        return write_c(request, property, buf, err);
    enum pt_status status = pt_property_automaton(property, request->limit, &aut, err);
    if (status != PT_OK)
        return status;
    pt_automaton_prune(aut);
    status = pt_automaton_check_labels(aut, NULL, err);
    if (status == PT_OK)
        (request->form == OPT_HOA ? pt_hoa_write : pt_dot_write)(aut, name, buf);
    pt_automaton_free(aut);
    return status;
}

static enum pt_status show(const struct request *request, struct pt_properties *props, struct pt_buf *buf,
                           struct pt_err *err)
{
    const struct pt_property *property = NULL;
    enum pt_status status = request->file ? pt_file_properties(props, request->file, err)
                                          : pt_properties_add_formula(props, request->formula, err);
    if (status == PT_OK)
        status = choose(request, props, &property, err);
    if (status != PT_OK)
        return status;
    if (property->kind == PT_KIND_MTTL)
        return pt_err_at(err, PT_EUSAGE, property->file ? property->file : "", property->line, property->column,
                         "a decentralised property (at ...) has no automaton over global states");
    if (property->kind == PT_KIND_RACE)
        return pt_err_at(err, PT_EUSAGE, property->file ? property->file : "", property->line, property->column,
                         "race_free is about pairs of accesses, and has no automaton over global states");
    status = write_form(request, property, buf, err);
    if (status == PT_OK && !request->batch) {
        note_every_state(property);
        warn_unless_monitorable(property, request->limit);
    }
    return status;
}

static bool show_one(const struct request *request, uint32_t line)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_buf buf;
    pt_buf_init(&buf);
    struct pt_err err;
    enum pt_status status = show(request, props, &buf, &err);
    if (status != PT_OK && line)
        fprintf(stderr, "portent: line %u of standard input:\n", line);
    if (status != PT_OK)
        pt_diag_error(&err);
    bool shown = status == PT_OK && pt_output(&buf);
    pt_buf_release(&buf);
    pt_properties_free(props);
    return shown;
}

/* One automaton after another, in the order of the lines; a line that is no formula is told, and the others go on. */
static bool show_lines(struct request *request)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    bool shown = true;
    for (uint32_t line = 1; (length = getline(&text, &room, stdin)) >= 0; line++) {
        while (length > 0 && strchr(" \t\r\n", text[length - 1]))
            text[--length] = '\0';
        request->formula = text + strspn(text, " \t");
        if (*request->formula && *request->formula != '#')
            shown &= show_one(request, line);
    }
    free(text);
    return shown;
}

static int run(const struct pt_parsed *parsed)
{
    struct request request;
    if (!set_options(&request, parsed))
        return PT_EXIT_BAD;
    return (request.batch ? show_lines(&request) : show_one(&request, 0)) ? 0 : PT_EXIT_BAD;
}

static const char *const usages[] = {"[--hoa|--dot|--c] 'FORMULA'", "[--hoa|--dot|--c] -s FILE.prop [-p NAME]",
                                     "[--hoa|--dot] -", NULL};

const struct pt_command pt_command_automaton = {
    .name = "automaton",
    .summary = "show the automaton of a property",
    .usages = usages,
    .about = "Prints the Buechi automaton of a property, or a C monitor made from it, and warns when no finite prefix "
             "can ever violate the property. With '-' it reads formulas from standard input, one in each line.",
    .options = options_table,
    .run = run,
};
