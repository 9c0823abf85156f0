/*
 * SML to control-flow graphs: a recursive descent over the grammar of the modelling language (man portent-model), one
 * function per rule. Every statement becomes one step, every guard two, of which either may be taken: data is
 * abstracted. Expressions (sml_expr.c) leave nothing but the global variables they read.
 *
 * As in Fig. 4 of the paper, a statement has one entry place and exit transitions: the last statement of a loop leads
 * back to the loop's head, the last of a branch to what follows the `if`. So what parsing a statement returns is the
 * list of steps that leave it, whose `to` is filled in when the next node is known (backpatching); until then the `to`
 * of each holds the next of the list.
 *
 * Linear in the text. Depth is bounded by PT_SML_DEPTH, in statements and in expressions alike.
 */
#include "net/sml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/sml_impl.h"

/* --- Steps ---------------------------------------------------------------------------------------------------- */

static struct pt_source_place place_of(const struct pt_sml_parser *p, const struct pt_sml_token *token)
{
    return (struct pt_source_place){.file = p->program->file, .line = token->line, .column = token->column};
}

/* The source from `start` to the last token read, on one line and not longer than a reader wants it. */
static void take_text(struct pt_sml_parser *p, const struct pt_sml_token *start)
{
    enum { LONGEST = 120 };
    bool space = false;
    p->text.len = 0;
    for (const char *c = start->text; c < p->previous_end; c++) {
        if (*c == ' ' || (*c >= '\t' && *c <= '\r')) {
            space = true;
            continue;
        }
        if (p->text.len >= LONGEST) {
            pt_buf_puts(&p->text, "...");
            return;
        }
        if (space)
            pt_buf_puts(&p->text, " ");
        space = false;
        pt_buf_add(&p->text, c, 1);
    }
}

/* Steps that lead to a node not known yet. */
struct exits {
    uint32_t first, last; /* PT_NONE: none */
};

static struct exits add_step(struct pt_sml_parser *p, enum pt_step_kind kind, uint32_t object, uint32_t from,
                             const struct pt_sml_token *at, uint32_t written)
{
    struct pt_prog_step step = {.kind = (uint8_t)kind,
                                .thread = p->thread,
                                .from = from,
                                .to = PT_NONE,
                                .object = object,
                                .text = p->text.text,
                                .place = place_of(p, at)};
    uint32_t id = pt_program_add_step(p->program, &step, p->reads, p->read_count, &written, written == PT_NONE ? 0 : 1);
    return (struct exits){id, id};
}

static const struct exits no_exits = {PT_NONE, PT_NONE};

static void patch(struct pt_sml_parser *p, struct exits exits, uint32_t node)
{
    for (uint32_t s = exits.first, next; s != PT_NONE; s = next) {
        next = p->program->steps[s].to;
        p->program->steps[s].to = node;
    }
}

static struct exits join(struct pt_sml_parser *p, struct exits a, struct exits b)
{
    if (a.first == PT_NONE || b.first == PT_NONE)
        return a.first == PT_NONE ? b : a;
    p->program->steps[a.last].to = b.first;
    return (struct exits){a.first, b.last};
}

/* --- Statements ----------------------------------------------------------------------------------------------- */

/* Each rule below is given the node its statement starts at and returns the steps that leave it. */

static enum pt_status parse_statements(struct pt_sml_parser *p, struct exits before, struct exits *ret_exits);

static enum pt_status parse_assignment(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits)
{
    struct pt_sml_token at = p->token;
    uint32_t name = pt_strtab_find(&p->names, at.text, at.len);
    if (name != PT_NONE && p->is_lock[name])
        return pt_sml_fail_name(p, &at, "", " is a lock, which cannot be assigned to");
    enum pt_status status = pt_sml_advance(p);
    if (status == PT_OK)
        status = pt_sml_expect(p, PT_SML_ASSIGN, "':='");
    if (status == PT_OK)
        status = pt_sml_parse_number(p);
    if (status != PT_OK)
        return status;
    take_text(p, &at);
    *ret_exits = add_step(p, PT_STEP_PLAIN, PT_NONE, from, &at, name == PT_NONE ? PT_NONE : p->ids[name]);
    return PT_OK;
}

/* acquire(l), release(l) */
static enum pt_status parse_lock(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits)
{
    struct pt_sml_token at = p->token;
    enum pt_step_kind kind = at.kind == PT_SML_KW_ACQUIRE ? PT_STEP_ACQUIRE : PT_STEP_RELEASE;
    enum pt_status status = pt_sml_advance(p);
    if (status == PT_OK)
        status = pt_sml_expect(p, PT_SML_OPEN, "'(' and a lock");
    if (status != PT_OK)
        return status;
    if (p->token.kind != PT_SML_ID)
        return pt_sml_fail_expected(p, "the name of a lock");
    uint32_t name = pt_strtab_find(&p->names, p->token.text, p->token.len);
    if (name == PT_NONE)
        return pt_sml_fail_name(p, &p->token, "no lock ", " is declared");
    if (!p->is_lock[name])
        return pt_sml_fail_name(p, &p->token, "", " is a variable, not a lock");
    status = pt_sml_advance(p);
    if (status == PT_OK)
        status = pt_sml_expect(p, PT_SML_CLOSE, "')'");
    if (status != PT_OK)
        return status;
    take_text(p, &at);
    *ret_exits = add_step(p, kind, p->ids[name], from, &at, PT_NONE);
    return PT_OK;
}

/* "(" b ")", with both outcomes as steps. */
static enum pt_status parse_guard(struct pt_sml_parser *p, uint32_t from, struct exits *ret_yes, struct exits *ret_no)
{
    struct pt_sml_token at = p->token;
    enum pt_status status = pt_sml_advance(p);
    if (status == PT_OK)
        status = pt_sml_expect(p, PT_SML_OPEN, "'(' and a condition");
    if (status == PT_OK)
        status = pt_sml_parse_condition(p);
    if (status == PT_OK)
        status = pt_sml_expect(p, PT_SML_CLOSE, "')'");
    if (status != PT_OK)
        return status;
    take_text(p, &at);
    size_t len = p->text.len;
    pt_buf_puts(&p->text, ": true");
    *ret_yes = add_step(p, PT_STEP_PLAIN, PT_NONE, from, &at, PT_NONE);
    p->text.len = len;
    pt_buf_puts(&p->text, ": false");
    *ret_no = add_step(p, PT_STEP_PLAIN, PT_NONE, from, &at, PT_NONE);
    return PT_OK;
}

/* "{" stmts "}" */
static enum pt_status parse_body(struct pt_sml_parser *p, struct exits before, struct exits *ret_exits)
{
    enum pt_status status = pt_sml_expect(p, PT_SML_LBRACE, "'{'");
    if (status == PT_OK)
        status = parse_statements(p, before, ret_exits);
    return status == PT_OK ? pt_sml_expect(p, PT_SML_RBRACE, "a statement or '}'") : status;
}

static enum pt_status parse_while(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits)
{
    struct exits yes, no, last;
    enum pt_status status = parse_guard(p, from, &yes, &no);
    if (status == PT_OK)
        status = parse_body(p, yes, &last);
    if (status != PT_OK)
        return status;
    patch(p, last, from);
    *ret_exits = no;
    return PT_OK;
}

static enum pt_status parse_if(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits)
{
    struct exits yes, no, after_yes, after_no;
    bool has_else = false;
    enum pt_status status = parse_guard(p, from, &yes, &no);
    if (status == PT_OK)
        status = parse_body(p, yes, &after_yes);
    if (status == PT_OK)
        status = pt_sml_accept(p, PT_SML_KW_ELSE, &has_else);
    after_no = no;
    if (status == PT_OK && has_else)
        status = parse_body(p, no, &after_no);
    if (status != PT_OK)
        return status;
    *ret_exits = join(p, after_yes, after_no);
    return PT_OK;
}

/* begin [: NAME] stmts end */
static enum pt_status parse_block(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits)
{
    struct pt_sml_token at = p->token;
    char *name = NULL;
    bool named = false;
    enum pt_status status = pt_sml_advance(p);
    if (status == PT_OK)
        status = pt_sml_accept(p, PT_SML_COLON, &named);
    if (status == PT_OK && named) {
        if (p->token.kind != PT_SML_ID)
            return pt_sml_fail_expected(p, "the block's name");
        name = pt_arena_strndup(&p->program->arena, p->token.text, p->token.len);
        status = pt_sml_advance(p);
    }
    if (status != PT_OK)
        return status;
    take_text(p, &at);
    uint32_t block = pt_program_add_block(p->program, p->thread, name, place_of(p, &at));
    struct exits last = add_step(p, PT_STEP_BEGIN, block, from, &at, PT_NONE);
    status = parse_statements(p, last, &last);
    struct pt_sml_token end = p->token;
    if (status == PT_OK)
        status = pt_sml_expect(p, PT_SML_KW_END, "a statement or 'end'");
    if (status != PT_OK)
        return status;
    uint32_t node = pt_program_add_node(p->program, p->thread);
    patch(p, last, node);
    p->read_count = 0;
    take_text(p, &end);
    *ret_exits = add_step(p, PT_STEP_END, block, node, &end, PT_NONE);
    return PT_OK;
}

static enum pt_status parse_skip(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits)
{
    struct pt_sml_token at = p->token;
    enum pt_status status = pt_sml_advance(p);
    if (status != PT_OK)
        return status;
    take_text(p, &at);
    *ret_exits = add_step(p, PT_STEP_PLAIN, PT_NONE, from, &at, PT_NONE);
    return PT_OK;
}

typedef enum pt_status statement_rule(struct pt_sml_parser *p, uint32_t from, struct exits *ret_exits);

/* The rule for the statement that begins here; NULL: none does. */
static statement_rule *find_rule(const struct pt_sml_parser *p)
{
    switch (p->token.kind) {
    case PT_SML_ID:
        return parse_assignment;
    case PT_SML_KW_SKIP:
        return parse_skip;
    case PT_SML_KW_ACQUIRE:
    case PT_SML_KW_RELEASE:
        return parse_lock;
    case PT_SML_KW_WHILE:
        return parse_while;
    case PT_SML_KW_IF:
        return parse_if;
    case PT_SML_KW_BEGIN:
        return parse_block;
    default:
        return NULL;
    }
}

static enum pt_status skip_semicolons(struct pt_sml_parser *p)
{
    bool taken = true;
    enum pt_status status = PT_OK;
    while (status == PT_OK && taken)
        status = pt_sml_accept(p, PT_SML_SEMICOLON, &taken);
    return status;
}

/* Statements up to a token that begins none; the steps of `before` lead to the first of them. */
static enum pt_status parse_statements(struct pt_sml_parser *p, struct exits before, struct exits *ret_exits)
{
    struct exits exits = before;
    enum pt_status status = pt_sml_enter(p);
    if (status == PT_OK)
        status = skip_semicolons(p);
    for (statement_rule *rule; status == PT_OK && (rule = find_rule(p));) {
        uint32_t node = pt_program_add_node(p->program, p->thread);
        patch(p, exits, node);
        p->read_count = 0;
        status = rule(p, node, &exits);
        if (status == PT_OK)
            status = skip_semicolons(p);
    }
    if (status != PT_OK)
        return status;
    p->depth--;
    *ret_exits = exits;
    return PT_OK;
}

/* --- Programs ------------------------------------------------------------------------------------------------- */

static enum pt_status parse_declaration(struct pt_sml_parser *p)
{
    bool lock = p->token.kind == PT_SML_KW_LOCK, more = true;
    enum pt_status status = pt_sml_advance(p);
    while (status == PT_OK && more) {
        if (p->token.kind != PT_SML_ID)
            return pt_sml_fail_expected(p, lock ? "the name of a lock" : "the name of a variable");
        uint32_t count = p->names.count, name = pt_strtab_intern(&p->names, p->token.text, p->token.len);
        if (name < count)
            return pt_sml_fail_name(p, &p->token, "", " is declared twice");
        const char *text = pt_strtab_text(&p->names, name);
        PT_GROW(p->ids, p->id_cap, p->names.count);
        PT_GROW(p->is_lock, p->lock_cap, p->names.count);
        p->ids[name] = lock ? pt_program_add_lock(p->program, text) : pt_program_add_var(p->program, text);
        p->is_lock[name] = lock;
        status = pt_sml_advance(p);
        if (status == PT_OK)
            status = pt_sml_accept(p, PT_SML_COMMA, &more);
    }
    return status == PT_OK ? skip_semicolons(p) : status;
}

static void begin_thread(struct pt_sml_parser *p, const struct pt_sml_token *at, const struct pt_sml_token *name)
{
    char number[32];
    (void)snprintf(number, sizeof number, "thread %u", p->program->thread_count + 1);
    const char *text = name ? pt_arena_strndup(&p->program->arena, name->text, name->len) : number;
    p->thread = pt_program_add_thread(p->program, text, place_of(p, at));
}

/* The thread's statements, and the node in which it has ended. */
static enum pt_status parse_thread_body(struct pt_sml_parser *p)
{
    struct exits exits;
    enum pt_status status = parse_statements(p, no_exits, &exits);
    if (status != PT_OK)
        return status;
    uint32_t stop = pt_program_add_node(p->program, p->thread);
    patch(p, exits, stop);
    p->program->threads[p->thread].start = 0; /* the first statement's node, or `stop` where there is none */
    p->program->threads[p->thread].stop = stop;
    return PT_OK;
}

/* { "thread" [ID] "{" stmts "}" } */
static enum pt_status parse_named_threads(struct pt_sml_parser *p)
{
    enum pt_status status = PT_OK;
    while (status == PT_OK && p->token.kind == PT_SML_KW_THREAD) {
        struct pt_sml_token at = p->token, name;
        status = pt_sml_advance(p);
        name = p->token;
        if (status == PT_OK && name.kind == PT_SML_ID)
            status = pt_sml_advance(p);
        if (status != PT_OK)
            return status;
        begin_thread(p, &at, name.kind == PT_SML_ID ? &name : NULL);
        status = pt_sml_expect(p, PT_SML_LBRACE, "'{'");
        if (status == PT_OK)
            status = parse_thread_body(p);
        if (status == PT_OK)
            status = pt_sml_expect(p, PT_SML_RBRACE, "a statement or '}'");
        if (status == PT_OK)
            status = skip_semicolons(p);
    }
    if (status != PT_OK)
        return status;
    return p->token.kind == PT_SML_EOF ? PT_OK : pt_sml_fail_expected(p, "'thread' or the end of the program");
}

/* stmts { "||" stmts } ["||"] ["null"] */
static enum pt_status parse_parallel_threads(struct pt_sml_parser *p)
{
    enum pt_status status = PT_OK;
    bool more = true;
    while (status == PT_OK && more && p->token.kind != PT_SML_EOF && p->token.kind != PT_SML_KW_NULL) {
        status = skip_semicolons(p);
        struct pt_sml_token at = p->token;
        if (status == PT_OK && !find_rule(p))
            status = pt_sml_fail_expected(p, "a statement");
        if (status != PT_OK)
            return status;
        begin_thread(p, &at, NULL);
        status = parse_thread_body(p);
        if (status == PT_OK)
            status = pt_sml_accept(p, PT_SML_BARS, &more);
    }
    bool null;
    if (status == PT_OK)
        status = pt_sml_accept(p, PT_SML_KW_NULL, &null);
    if (status != PT_OK)
        return status;
    return p->token.kind == PT_SML_EOF ? PT_OK : pt_sml_fail_expected(p, "a statement, '||' or the end of the program");
}

static enum pt_status parse_program(struct pt_sml_parser *p)
{
    enum pt_status status = pt_sml_advance(p);
    if (status == PT_OK)
        status = skip_semicolons(p);
    while (status == PT_OK && (p->token.kind == PT_SML_KW_INT || p->token.kind == PT_SML_KW_LOCK))
        status = parse_declaration(p);
    if (status != PT_OK)
        return status;
    status = p->token.kind == PT_SML_KW_THREAD ? parse_named_threads(p) : parse_parallel_threads(p);
    if (status == PT_OK && p->program->thread_count == 0)
        return pt_sml_fail_at(p, &p->token, "this program has no thread");
    return status;
}

enum pt_status pt_sml_parse(const char *file, const char *text, size_t len, struct pt_program *program,
                            struct pt_err *err)
{
    if (len > UINT32_MAX / 2)
        return pt_err_at(err, PT_EINPUT, file, 0, 0, "this program is longer than 2 GiB");
    struct pt_sml_parser p = {.program = program, .err = err};
    program->file = pt_arena_strndup(&program->arena, file, strlen(file));
    pt_sml_lexer_init(&p.lexer, program->file, text, len);
    p.token.text = text;
    pt_strtab_init(&p.names);
    pt_buf_init(&p.text);
    pt_buf_puts(&p.text, "");
    enum pt_status status = parse_program(&p);
    pt_strtab_release(&p.names);
    pt_buf_release(&p.text);
    free(p.ids);
    free(p.is_lock);
    free(p.reads);
    return status;
}
