/*
 * Reading .ll_net, the low-level net format of the PEP tool. Line by line: PEP, the kind of net (PetriBox or PTNet),
 * FORMAT_N or FORMAT_N2, then sections, each begun by a line of its name: PL places, TR transitions, TP arcs
 * `transition<place`, PT arcs `place>transition`, RA reads `transition<place`, which are taken as an arc each way.
 * Places and transitions are `number"name"` and fields of one letter and a value, of which M (tokens) and w (weight)
 * matter; without numbers they count from 1. Other sections (defaults, blocks, texts, phantoms) are passed over.
 */
#include <stdlib.h>
#include <string.h>

#include "net/arcs.h"
#include "net/netfile.h"

enum section { SECTION_OTHER, SECTION_PL, SECTION_TR, SECTION_TP, SECTION_PT, SECTION_RA };

struct reader {
    const char *file;
    const char *line, *end, *at; /* the line at hand, its end, and how far it has been read */
    uint32_t number;             /* of the line, from 1 */
    enum section section;
    struct pt_net *net;
    struct pt_map64 places, transitions; /* their numbers to ids */
    struct pt_arcs arcs;
    struct pt_err *err;
};

static enum pt_status fail(struct reader *r, const char *message)
{
    (void)pt_err_at(r->err, PT_EINPUT, r->file, r->number, (uint32_t)(r->at - r->line) + 1, "%s", message);
    pt_err_source(r->err, r->line, (size_t)(r->end - r->line));
    return PT_EINPUT;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
}

static bool at_digit(const struct reader *r)
{
    return r->at < r->end && *r->at >= '0' && *r->at <= '9';
}

/* A number of at most nine digits; false: there is none, or it is longer. A minus sign is passed over. */
static bool read_number(struct reader *r, uint32_t *ret_number)
{
    uint32_t value = 0, digits = 0;
    skip_space(r);
    if (r->at < r->end && *r->at == '-')
        r->at++;
    for (; at_digit(r); r->at++, digits++)
        value = digits < 9 ? value * 10 + (uint32_t)(*r->at - '0') : value;
    *ret_number = value;
    return digits > 0 && digits <= 9;
}

/* "..." or '...'; the text between is returned. */
static bool read_string(struct reader *r, const char **ret_text, size_t *ret_len)
{
    const char *close = memchr(r->at + 1, *r->at, (size_t)(r->end - r->at - 1));
    if (!close)
        return false;
    *ret_text = r->at + 1;
    *ret_len = (size_t)(close - *ret_text);
    r->at = close + 1;
    return true;
}

/* What one line of PL or TR says. */
struct node {
    uint32_t number; /* 0: not given */
    const char *name;
    size_t name_len;
    uint32_t tokens;
};

/* One field: a number, a position, a string, or a letter with one of these. */
static enum pt_status read_field(struct reader *r, struct node *node, bool first)
{
    uint32_t value = 1, other;
    char letter = *r->at;
    bool number = at_digit(r) || letter == '-', quoted = letter == '"' || letter == '\'';
    const char *text;
    size_t len;
    if (!number && !quoted) {
        r->at++;
        number = at_digit(r) || (r->at < r->end && *r->at == '-');
        quoted = r->at < r->end && (*r->at == '"' || *r->at == '\'');
    }
    if (quoted) {
        if (!read_string(r, &text, &len))
            return fail(r, "this string does not end on its line");
        if (letter == '"' || letter == '\'') {
            node->name = text;
            node->name_len = len;
        }
        return PT_OK;
    }
    if (number && !read_number(r, &value))
        return fail(r, "expected a number of at most nine digits");
    if (r->at < r->end && (*r->at == '@')) {
        r->at++;
        return read_number(r, &other) ? PT_OK : fail(r, "expected a position");
    }
    if (letter >= '0' && letter <= '9' && first)
        node->number = value;
    if (letter == 'M')
        node->tokens = value;
    return PT_OK;
}

static enum pt_status read_node(struct reader *r, struct node *ret_node)
{
    struct node node = {0};
    bool first = true;
    for (skip_space(r); r->at < r->end; skip_space(r)) {
        enum pt_status status = read_field(r, &node, first);
        if (status != PT_OK)
            return status;
        first = false;
    }
    *ret_node = node;
    return PT_OK;
}

static enum pt_status add_node(struct reader *r)
{
    struct node node;
    enum pt_status status = read_node(r, &node);
    if (status != PT_OK)
        return status;
    bool place = r->section == SECTION_PL;
    uint32_t id = place ? r->net->place_count : r->net->transition_count;
    r->at = r->line;
    if (node.tokens > 1)
        return fail(r, "this place has more than one token: the net is not 1-safe");
    uint32_t *known = pt_map64_at(place ? &r->places : &r->transitions, node.number ? node.number : id + 1);
    if (*known != PT_NONE)
        return fail(r, place ? "this place's number is taken" : "this transition's number is taken");
    *known = id;
    char *name = node.name ? pt_arena_strndup(&r->net->arena, node.name, node.name_len) : NULL;
    if (place)
        (void)pt_net_add_place(r->net, name, node.tokens == 1);
    else
        (void)pt_net_add_transition(r->net, name, NULL, 0, NULL, 0);
    return PT_OK;
}

/* transition<place, place>transition, and fields of which only the weight matters. */
static enum pt_status add_arc(struct reader *r)
{
    uint32_t from, to, weight;
    char mark = r->section == SECTION_PT ? '>' : '<';
    if (!read_number(r, &from))
        return fail(r, "expected a number");
    skip_space(r);
    if (r->at == r->end || *r->at != mark)
        return fail(r, mark == '<' ? "expected '<'" : "expected '>'");
    r->at++;
    if (!read_number(r, &to))
        return fail(r, "expected a number");
    for (skip_space(r); r->at < r->end; r->at++) {
        if (*r->at != 'w')
            continue;
        r->at++;
        if (!read_number(r, &weight) || weight != 1)
            return fail(r, "this arc's weight is not 1: the net is not 1-safe");
        r->at--;
    }
    uint32_t transition = pt_map64_get(&r->transitions, mark == '<' ? from : to);
    uint32_t place = pt_map64_get(&r->places, mark == '<' ? to : from);
    r->at = r->line;
    if (transition == PT_NONE || place == PT_NONE)
        return fail(r, place == PT_NONE ? "no place has this number" : "no transition has this number");
    if (r->section != SECTION_PT)
        pt_arcs_add(&r->arcs, transition, place, true);
    if (r->section != SECTION_TP)
        pt_arcs_add(&r->arcs, transition, place, false);
    return PT_OK;
}

static bool line_is(const struct reader *r, const char *word)
{
    size_t len = (size_t)(r->end - r->line);
    while (len > 0 && strchr(" \t\r", r->line[len - 1]))
        len--;
    return len == strlen(word) && memcmp(r->line, word, len) == 0;
}

static enum pt_status read_header(struct reader *r)
{
    if (r->number == 1)
        return line_is(r, "PEP") ? PT_OK : fail(r, "expected 'PEP', the first line of an .ll_net file");
    if (r->number == 2)
        return line_is(r, "PTNet") || line_is(r, "PetriBox") ? PT_OK : fail(r, "expected 'PTNet' or 'PetriBox'");
    return line_is(r, "FORMAT_N") || line_is(r, "FORMAT_N2") ? PT_OK : fail(r, "expected 'FORMAT_N' or 'FORMAT_N2'");
}

static enum pt_status read_line(struct reader *r)
{
    static const char *const names[] = {
        [SECTION_PL] = "PL", [SECTION_TR] = "TR", [SECTION_TP] = "TP", [SECTION_PT] = "PT", [SECTION_RA] = "RA"};
    if (r->number <= 3)
        return read_header(r);
    skip_space(r);
    if (r->at == r->end || *r->at == '%')
        return PT_OK;
    if (r->end - r->line >= 2 && r->line[0] >= 'A' && r->line[0] <= 'Z' && r->line[1] >= 'A' && r->line[1] <= 'Z') {
        r->section = SECTION_OTHER;
        for (uint32_t s = SECTION_PL; s <= SECTION_RA; s++)
            r->section = line_is(r, names[s]) ? (enum section)s : r->section;
        return PT_OK;
    }
    if (r->section == SECTION_OTHER)
        return PT_OK;
    return r->section == SECTION_PL || r->section == SECTION_TR ? add_node(r) : add_arc(r);
}

static enum pt_status read_lines(struct reader *r, const char *text, size_t len)
{
    enum pt_status status = PT_OK;
    const char *end = text + len;
    for (r->line = text; r->line < end && status == PT_OK; r->line = r->end + 1) {
        const char *newline = memchr(r->line, '\n', (size_t)(end - r->line));
        r->end = newline ? newline : end;
        r->at = r->line;
        r->number++;
        status = read_line(r);
    }
    if (status == PT_OK && r->number < 3)
        status = pt_err_at(r->err, PT_EINPUT, r->file, r->number ? r->number : 1, 1, "this is no .ll_net file");
    return status;
}

enum pt_status pt_llnet_read(const char *file, const char *text, size_t len, struct pt_net *net, struct pt_err *err)
{
    struct reader r = {.file = file, .net = net, .err = err};
    pt_map64_init(&r.places);
    pt_map64_init(&r.transitions);
    enum pt_status status = read_lines(&r, text, len);
    if (status == PT_OK && pt_arcs_finish(&r.arcs, net) != PT_NONE)
        status = pt_err_at(err, PT_EINPUT, file, r.number, 1, "an arc is there twice: the net is not 1-safe");
    pt_map64_release(&r.places);
    pt_map64_release(&r.transitions);
    pt_arcs_release(&r.arcs);
    return status;
}
