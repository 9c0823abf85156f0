/*
 * Reads automata in the Hanoi Omega-Automata format, version 1: parser functions follow the grammar of the format,
 * and hoa_build.c makes the result state-based with one initial state. Memory grows with the text, never with numbers
 * in it beyond MAX_STATES; recursion is bounded by MAX_DEPTH.
 */
#include "logic/automaton/automaton.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "logic/automaton/hoa_lex.h"
#include "logic/automaton/hoa_raw.h"

enum { MAX_STATES = 1000000, MAX_PROPS = 64, MAX_DEPTH = 500, MAX_BDD_NODES = 1 << 22 };

struct reader {
    struct hoa_lexer lex;
    struct pt_err *err;
    enum pt_status status;
    uint32_t depth;
    struct hoa_raw raw; /* what has been read so far */

    bool saw_props, saw_acceptance, saw_name;
    uint64_t highest_prop;         /* in aliases that stand before AP: */
    struct hoa_lexer highest_seen; /* where */

    struct pt_strtab aliases;
    pt_bdd *alias_labels;
    size_t aliases_cap;

    uint64_t set_count;

    uint32_t declared; /* States:, or PT_NONE */
    struct hoa_lexer highest_start_seen;
    uint32_t highest_start;
};

#define FAIL(r, code, ...) ((r)->status = pt_hoa_error(&(r)->lex, (code), (r)->err, __VA_ARGS__), false)

static bool advance(struct reader *r)
{
    r->status = pt_hoa_next(&r->lex, r->err);
    return r->status == PT_OK;
}

static bool expected(struct reader *r, const char *what)
{
    char shown[HOA_SHOWN];
    return FAIL(r, PT_EINPUT, "expected %s, found %s", what, pt_hoa_shown(&r->lex, shown));
}

static bool is_punct(const struct reader *r, char c)
{
    return r->lex.token == HOA_PUNCT && r->lex.punct == c;
}

static bool token_is(const struct reader *r, const char *text)
{
    size_t len = strlen(text);
    return r->lex.end - r->lex.begin == len && memcmp(r->lex.text + r->lex.begin, text, len) == 0;
}

static bool expect_punct(struct reader *r, char c)
{
    char what[] = {'\'', c, '\'', '\0'};
    return is_punct(r, c) ? advance(r) : expected(r, what);
}

/* The present string token without its escapes. The caller frees it. */
static char *unescape(const struct reader *r)
{
    char *out = pt_xmalloc(r->lex.end - r->lex.begin + 1);
    size_t len = 0;
    for (size_t i = r->lex.begin; i < r->lex.end; i++) {
        if (r->lex.text[i] == '\\' && i + 1 < r->lex.end)
            i++;
        out[len++] = r->lex.text[i];
    }
    out[len] = '\0';
    return out;
}

/* ---- Labels ---- */

static bool label_or(struct reader *r, pt_bdd *ret_label);

static bool fits(struct reader *r, pt_bdd label, pt_bdd *ret_label)
{
    if (label == PT_BDD_OVERFLOW)
        return FAIL(r, PT_ELIMIT, "the labels of this automaton are too complex");
    *ret_label = label;
    return true;
}

static bool label_prop(struct reader *r, pt_bdd *ret_label)
{
    char shown[HOA_SHOWN];
    uint64_t prop = r->lex.number;
    if (r->saw_props ? prop >= r->raw.prop_count : prop >= MAX_PROPS)
        return FAIL(r, PT_EINPUT, "there is no proposition %s", pt_hoa_shown(&r->lex, shown));
    if (!r->saw_props && prop >= r->highest_prop) {
        r->highest_prop = prop;
        r->highest_seen = r->lex;
    }
    return fits(r, pt_bdd_var(r->raw.bdds, (uint32_t)prop), ret_label) && advance(r);
}

static bool label_alias(struct reader *r, pt_bdd *ret_label)
{
    char shown[HOA_SHOWN];
    uint32_t id = pt_strtab_find(&r->aliases, r->lex.text + r->lex.begin, r->lex.end - r->lex.begin);
    if (id == PT_NONE)
        return FAIL(r, PT_EINPUT, "the alias %s is not defined", pt_hoa_shown(&r->lex, shown));
    *ret_label = r->alias_labels[id];
    return advance(r);
}

static bool label_unary(struct reader *r, pt_bdd *ret_label)
{
    bool negated = false;
    pt_bdd label = PT_BDD_FALSE;
    for (; is_punct(r, '!'); negated = !negated)
        if (!advance(r))
            return false;
    if (is_punct(r, '(')) {
        if (++r->depth > MAX_DEPTH)
            return FAIL(r, PT_ELIMIT, "this label is nested more than %d deep", MAX_DEPTH);
        if (!advance(r) || !label_or(r, &label) || !expect_punct(r, ')'))
            return false;
        r->depth--;
    } else if (r->lex.token == HOA_INT) {
        if (!label_prop(r, &label))
            return false;
    } else if (r->lex.token == HOA_ALIAS) {
        if (!label_alias(r, &label))
            return false;
    } else if (r->lex.token == HOA_IDENT && (token_is(r, "t") || token_is(r, "f"))) {
        label = token_is(r, "t") ? PT_BDD_TRUE : PT_BDD_FALSE;
        if (!advance(r))
            return false;
    } else {
        return expected(r, "a label: a proposition's number, @alias, t, f, '!' or '('");
    }
    return fits(r, negated ? pt_bdd_not(r->raw.bdds, label) : label, ret_label);
}

static bool label_and(struct reader *r, pt_bdd *ret_label)
{
    pt_bdd right;
    if (!label_unary(r, ret_label))
        return false;
    while (is_punct(r, '&'))
        if (!advance(r) || !label_unary(r, &right) || !fits(r, pt_bdd_and(r->raw.bdds, *ret_label, right), ret_label))
            return false;
    return true;
}

static bool label_or(struct reader *r, pt_bdd *ret_label)
{
    pt_bdd right;
    if (!label_and(r, ret_label))
        return false;
    while (is_punct(r, '|'))
        if (!advance(r) || !label_and(r, &right) || !fits(r, pt_bdd_or(r->raw.bdds, *ret_label, right), ret_label))
            return false;
    return true;
}

/* ---- Headers ---- */

static bool once(struct reader *r, bool *seen)
{
    if (*seen)
        return FAIL(r, PT_EINPUT, "the header %.*s: stands here for the second time", (int)(r->lex.end - r->lex.begin),
                    r->lex.text + r->lex.begin);
    *seen = true;
    return true;
}

static bool header_states(struct reader *r)
{
    bool seen = r->declared != PT_NONE;
    if (!once(r, &seen) || !advance(r))
        return false;
    if (r->lex.token != HOA_INT)
        return expected(r, "the number of states");
    if (r->lex.number > MAX_STATES)
        return FAIL(r, PT_ELIMIT, "the automaton has more than %d states, the most this reader takes", MAX_STATES);
    r->declared = (uint32_t)r->lex.number;
    return advance(r);
}

/* The present token is a state's number; States: may still follow when it stands in a header. */
static bool state_number(struct reader *r, uint32_t *ret_state)
{
    if (r->lex.token != HOA_INT)
        return expected(r, "the number of a state");
    if (r->declared != PT_NONE && r->lex.number >= r->declared)
        return FAIL(r, PT_EINPUT, "there is no such state: 'States: %u' numbers them from 0", r->declared);
    if (r->lex.number >= MAX_STATES)
        return FAIL(r, PT_ELIMIT, "the automaton has more than %d states, the most this reader takes", MAX_STATES);
    *ret_state = (uint32_t)r->lex.number;
    return true;
}

static bool no_conjunction(struct reader *r)
{
    if (is_punct(r, '&'))
        return FAIL(r, PT_EINPUT, "alternating automata (conjunctions of states) are not supported");
    return true;
}

static bool header_start(struct reader *r)
{
    uint32_t state;
    if (!advance(r) || !state_number(r, &state))
        return false;
    if (r->raw.start_count == 0 || state > r->highest_start) {
        r->highest_start = state;
        r->highest_start_seen = r->lex;
    }
    PT_PUSH(r->raw.starts, r->raw.start_count, r->raw.starts_cap, state);
    return advance(r) && no_conjunction(r);
}

static bool header_props(struct reader *r)
{
    struct hoa_lexer header = r->lex;
    if (!once(r, &r->saw_props) || !advance(r))
        return false;
    if (r->lex.token != HOA_INT)
        return expected(r, "the number of propositions");
    uint64_t announced = r->lex.number;
    if (announced > MAX_PROPS)
        return FAIL(r, PT_ELIMIT, "the automaton has more than %d propositions, the most that are supported",
                    MAX_PROPS);
    if (!advance(r))
        return false;
    for (; r->lex.token == HOA_STRING; r->raw.prop_count++) {
        char *name = unescape(r);
        PT_GROW(r->raw.props, r->raw.props_cap, r->raw.prop_count + 1);
        r->raw.props[r->raw.prop_count] = name;
        bool twice = false;
        for (uint32_t i = 0; i < r->raw.prop_count; i++)
            twice = twice || strcmp(r->raw.props[i], name) == 0;
        if (twice || r->raw.prop_count == announced) {
            free(name);
            return FAIL(r, PT_EINPUT,
                        twice ? "this proposition has been named before"
                              : "there are more propositions here than 'AP:' announces");
        }
        if (!advance(r)) {
            r->raw.prop_count++;
            return false;
        }
    }
    if (r->raw.prop_count < announced) {
        r->lex = header;
        return FAIL(r, PT_EINPUT, "'AP:' announces %u propositions but %u are named", (unsigned)announced,
                    r->raw.prop_count);
    }
    return true;
}

static bool header_alias(struct reader *r)
{
    pt_bdd label;
    if (!advance(r))
        return false;
    if (r->lex.token != HOA_ALIAS)
        return expected(r, "@NAME");
    const char *name = r->lex.text + r->lex.begin;
    size_t len = r->lex.end - r->lex.begin;
    if (pt_strtab_find(&r->aliases, name, len) != PT_NONE)
        return FAIL(r, PT_EINPUT, "this alias has been defined before");
    if (!advance(r) || !label_or(r, &label))
        return false;
    uint32_t id = pt_strtab_intern(&r->aliases, name, len);
    PT_GROW(r->alias_labels, r->aliases_cap, (size_t)id + 1);
    r->alias_labels[id] = label;
    return true;
}

static bool unsupported_acceptance(struct reader *r, const struct hoa_lexer *where, const char *what)
{
    r->lex = *where;
    return FAIL(r, PT_EINPUT, "%s: only Büchi acceptance is, 'Acceptance: 1 Inf(0)' or 'Acceptance: 0 t'", what);
}

static bool header_acceptance(struct reader *r)
{
    static const char *const not_supported = "this acceptance condition is not supported";
    if (!once(r, &r->saw_acceptance) || !advance(r))
        return false;
    if (r->lex.token != HOA_INT)
        return expected(r, "the number of acceptance sets");
    struct hoa_lexer where = r->lex;
    r->set_count = r->lex.number;
    if (!advance(r))
        return false;
    if (r->lex.token != HOA_IDENT)
        return is_punct(r, '(') ? unsupported_acceptance(r, &where, not_supported)
                                : expected(r, "an acceptance condition");
    if (token_is(r, "Fin"))
        return unsupported_acceptance(r, &where, "acceptance with Fin (co-Büchi, Rabin, parity, ...) is not supported");
    r->raw.trivial = token_is(r, "t");
    if (!r->raw.trivial) {
        if (!token_is(r, "Inf"))
            return unsupported_acceptance(r, &where, not_supported);
        if (!advance(r) || !expect_punct(r, '('))
            return false;
        if (r->lex.token != HOA_INT || r->lex.number != 0)
            return unsupported_acceptance(r, &where, not_supported);
        if (!advance(r))
            return false;
        if (!is_punct(r, ')'))
            return expected(r, "')'");
    }
    if (!advance(r))
        return false;
    if (is_punct(r, '&'))
        return unsupported_acceptance(r, &where, "generalised acceptance is not supported");
    if (is_punct(r, '|') || (!r->raw.trivial && r->set_count != 1))
        return unsupported_acceptance(r, &where, not_supported);
    return true;
}

static bool header_properties(struct reader *r)
{
    if (!advance(r))
        return false;
    while (r->lex.token == HOA_IDENT) {
        char first = r->lex.text[r->lex.begin];
        char shown[HOA_SHOWN];
        if (first >= 'A' && first <= 'Z')
            return FAIL(r, PT_EINPUT, "the property %s is not known, and its capital letter says that it matters",
                        pt_hoa_shown(&r->lex, shown));
        if (!advance(r))
            return false;
    }
    return true;
}

static bool header_skip(struct reader *r)
{
    do {
        if (!advance(r))
            return false;
    } while (r->lex.token == HOA_INT || r->lex.token == HOA_STRING || r->lex.token == HOA_IDENT);
    return true;
}

static bool header_item(struct reader *r)
{
    static const struct {
        const char *name;
        bool (*parse)(struct reader *r);
    } items[] = {{"States", header_states}, {"Start", header_start},           {"AP", header_props},
                 {"Alias", header_alias},   {"Acceptance", header_acceptance}, {"properties", header_properties}};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        if (token_is(r, items[i].name))
            return items[i].parse(r);
    char first = r->lex.text[r->lex.begin];
    char shown[HOA_SHOWN];
    if (first >= 'A' && first <= 'Z')
        return FAIL(r, PT_EINPUT, "the header %s is not known here, and its capital letter says that it matters",
                    pt_hoa_shown(&r->lex, shown));
    if (token_is(r, "name") && !once(r, &r->saw_name))
        return false;
    return header_skip(r);
}

static bool header_version(struct reader *r)
{
    if (!advance(r))
        return false;
    if (r->lex.token != HOA_HEADER || !token_is(r, "HOA"))
        return expected(r, "'HOA: v1'");
    if (!advance(r))
        return false;
    if (r->lex.token != HOA_IDENT || !token_is(r, "v1"))
        return expected(r, "version v1 of the format");
    return advance(r);
}

/* What headers said before the header they depend on. */
static bool check_headers(struct reader *r)
{
    if (!r->saw_acceptance)
        return FAIL(r, PT_EINPUT, "the header Acceptance: is missing");
    if (r->highest_seen.text && r->highest_prop >= r->raw.prop_count) {
        r->lex = r->highest_seen;
        return FAIL(r, PT_EINPUT, "there is no proposition '%u'", (unsigned)r->highest_prop);
    }
    if (r->raw.start_count > 0 && r->declared != PT_NONE && r->highest_start >= r->declared) {
        r->lex = r->highest_start_seen;
        return FAIL(r, PT_EINPUT, "there is no such state: 'States: %u' numbers them from 0", r->declared);
    }
    r->saw_props = true; /* no AP: means none */
    return true;
}

static bool header(struct reader *r)
{
    if (!header_version(r))
        return false;
    while (r->lex.token == HOA_HEADER)
        if (!header_item(r))
            return false;
    if (r->lex.token == HOA_ABORT)
        return FAIL(r, PT_EINPUT, "the tool that wrote this automaton gave up (--ABORT--)");
    if (r->lex.token != HOA_BODY)
        return expected(r, "a header or --BODY--");
    return check_headers(r) && advance(r);
}

/* ---- Body ---- */

/* { SET... }, or nothing. */
static bool signature(struct reader *r, bool *ret_marked)
{
    *ret_marked = false;
    if (!is_punct(r, '{'))
        return true;
    if (!advance(r))
        return false;
    for (; r->lex.token == HOA_INT; *ret_marked = true) {
        if (r->lex.number >= r->set_count)
            return FAIL(r, PT_EINPUT, "there is no such acceptance set");
        if (!advance(r))
            return false;
    }
    return expect_punct(r, '}');
}

/* [ LABEL ], or nothing, which leaves the label at PT_BDD_OVERFLOW. */
static bool edge_label(struct reader *r, pt_bdd *ret_label)
{
    *ret_label = PT_BDD_OVERFLOW;
    if (!is_punct(r, '['))
        return true;
    return advance(r) && label_or(r, ret_label) && expect_punct(r, ']');
}

/* The n-th edge of a state without labels stands for the valuation whose bit i is proposition i. */
static bool implicit_label(struct reader *r, uint64_t n, pt_bdd *ret_label)
{
    uint64_t all = r->raw.prop_count == 64 ? UINT64_MAX : (UINT64_C(1) << r->raw.prop_count) - 1;
    if (n > all)
        return FAIL(r, PT_EINPUT,
                    "a state without labels has one edge for each of the 2^%u valuations, this is one more",
                    r->raw.prop_count);
    struct pt_cube cube = {.pos = n, .neg = all & ~n};
    return fits(r, pt_bdd_cube(r->raw.bdds, cube), ret_label);
}

static bool edge(struct reader *r, uint32_t src, pt_bdd state_label, uint64_t nth, bool *labelled)
{
    struct hoa_raw_edge e = {.src = src};
    bool bracket = is_punct(r, '[');
    if (bracket && state_label != PT_BDD_OVERFLOW)
        return FAIL(r, PT_EINPUT, "this edge has a label though its state has one");
    if (nth == 0)
        *labelled = bracket;
    if (bracket != *labelled)
        return FAIL(r, PT_EINPUT, "either all edges of a state have labels or none");
    if (!edge_label(r, &e.label) || !state_number(r, &e.dst))
        return false;
    if (state_label != PT_BDD_OVERFLOW)
        e.label = state_label;
    else if (!bracket && !implicit_label(r, nth, &e.label))
        return false;
    if (!advance(r) || !no_conjunction(r) || !signature(r, &e.marked))
        return false;
    pt_hoa_cover_state(&r->raw, e.dst);
    if (e.label != PT_BDD_FALSE)
        PT_PUSH(r->raw.edges, r->raw.edge_count, r->raw.edges_cap, e);
    return true;
}

static bool state(struct reader *r)
{
    pt_bdd state_label;
    uint32_t number;
    if (!advance(r) || !edge_label(r, &state_label) || !state_number(r, &number))
        return false;
    pt_hoa_cover_state(&r->raw, number);
    struct hoa_lexer where = r->lex;
    if (r->raw.states[number].defined)
        return FAIL(r, PT_EINPUT, "state %u is described here for the second time", number);
    bool marked = false, labelled = false;
    if (!advance(r) || (r->lex.token == HOA_STRING && !advance(r)) || !signature(r, &marked))
        return false;
    r->raw.states[number] = (struct hoa_raw_state){.defined = true, .marked = marked};
    uint64_t nth = 0;
    for (; r->lex.token == HOA_INT || is_punct(r, '['); nth++)
        if (!edge(r, number, state_label, nth, &labelled))
            return false;
    bool implied = nth > 0 && !labelled && state_label == PT_BDD_OVERFLOW;
    if (implied && (r->raw.prop_count >= 63 || nth != UINT64_C(1) << r->raw.prop_count)) {
        r->lex = where;
        return FAIL(r, PT_EINPUT, "state %u has no labels and %llu edges, not one for each of the 2^%u valuations",
                    number, (unsigned long long)nth, r->raw.prop_count);
    }
    return true;
}

static bool body(struct reader *r)
{
    while (r->lex.token == HOA_HEADER && token_is(r, "State"))
        if (!state(r))
            return false;
    if (r->lex.token == HOA_ABORT)
        return FAIL(r, PT_EINPUT, "the tool that wrote this automaton gave up (--ABORT--)");
    if (r->lex.token != HOA_END)
        return expected(r, "'State:', an edge, or --END--");
    if (!advance(r))
        return false;
    if (r->lex.token != HOA_EOF)
        return FAIL(r, PT_EINPUT, "something follows --END--: a file holds one automaton");
    if (r->declared != PT_NONE && r->declared > 0)
        pt_hoa_cover_state(&r->raw, r->declared - 1);
    if (r->raw.start_count > 0)
        pt_hoa_cover_state(&r->raw, r->highest_start);
    return true;
}

enum pt_status pt_hoa_read(const char *label, const char *text, size_t len, struct pt_automaton **ret_aut,
                           struct pt_err *err)
{
    struct reader r = {.err = err, .declared = PT_NONE, .raw.bdds = pt_bdds_new(MAX_BDD_NODES)};
    pt_hoa_lexer_init(&r.lex, label, text, len);
    pt_strtab_init(&r.aliases);
    if (header(&r) && body(&r))
        *ret_aut = pt_hoa_build(&r.raw);
    pt_hoa_raw_release(&r.raw);
    pt_strtab_release(&r.aliases);
    free(r.alias_labels);
    return r.status;
}
