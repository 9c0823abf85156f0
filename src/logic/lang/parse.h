/* What the parts of the property parser share; nothing outside the folder includes this. */
#ifndef PT_LOGIC_LANG_PARSE_H
#define PT_LOGIC_LANG_PARSE_H

#include "base/buf.h"
#include "base/table.h"
#include "logic/lang/ast.h"

/* What stands behind `within`. */
struct pt_bound {
    uint64_t bound; /* nanoseconds, or events */
    bool events;
};

/* The statement that has a pattern read: its properties are those of this place. */
struct pt_use {
    const char *file;
    uint32_t line, column;
    const char *pattern; /* its name */
    const char *name;    /* of its property; that of the pattern where nothing is said */
    const char *text;
};

/* A name of one file. A name that was only used is remembered, so that declaring it too late is reported. */
struct pt_symbol {
    enum { PT_SYMBOL_USED, PT_SYMBOL_LET, PT_SYMBOL_VAR, PT_SYMBOL_THREAD, PT_SYMBOL_BOUND, PT_SYMBOL_PATTERN } kind;
    uint32_t line;               /* of its declaration or first use */
    struct pt_ast *body;         /* let */
    uint32_t let;                /* let: its number */
    const struct pt_varref *var; /* a variable, declared or used */
    const char *target;          /* thread; let: what reports call it, NULL: by its name */
    struct pt_bound bound;       /* a parameter that is one */
    size_t pos;                  /* pattern: of the '(' behind its name */
};

struct pt_scope {
    struct pt_strtab names;
    struct pt_symbol *symbols; /* by id in names */
    size_t cap;
};

struct pt_parser {
    struct pt_properties *props;
    struct pt_arena *arena; /* of the property set */
    struct pt_prop_source source;
    struct pt_tokens tokens;
    size_t pos;
    unsigned depth;
    struct pt_scope values;  /* let and var */
    struct pt_scope threads; /* thread */
    struct pt_scope patterns;
    const struct pt_use *use; /* NULL: no pattern is being read */
    uint32_t let_count;
    const char **binders; /* thread variables bound here: at each, exists, forall */
    uint32_t binder_count;
    size_t binder_cap;
    pt_fetch fetch;
    void *fetch_context;
    struct pt_err *err;
};

/* --- parse.c: tokens, errors, declarations --- */
void pt_parser_init(struct pt_parser *p, struct pt_properties *props, struct pt_arena *arena,
                    struct pt_prop_source source, struct pt_err *err);
void pt_parser_release(struct pt_parser *p);
const struct pt_token *pt_parser_token(const struct pt_parser *p);
const struct pt_token *pt_parser_ahead(const struct pt_parser *p);                           /* the one after it */
bool pt_token_is(const struct pt_parser *p, const struct pt_token *token, const char *word); /* a plain name */
const char *pt_token_text(struct pt_parser *p, const struct pt_token *token);                /* copied */
const char *pt_token_content(struct pt_parser *p, const struct pt_token *token);             /* of a name or a string */
bool pt_parser_accept(struct pt_parser *p, int kind);
enum pt_status pt_parser_expect(struct pt_parser *p, int kind, const char *what) PT_WARN_UNUSED;
/* An error at a token. At the token that is a lexical error, it is that one. */
enum pt_status pt_parser_fail(struct pt_parser *p, const struct pt_token *token, const char *fmt, ...) PT_PRINTF(3, 4);
/* "expected ..., found ..." at the present token. */
enum pt_status pt_parser_expected(struct pt_parser *p, const char *what);
enum pt_status
pt_parser_enter(struct pt_parser *p) PT_WARN_UNUSED; /* one level deeper, or an error; undo: p->depth-- */
struct pt_symbol *pt_scope_at(struct pt_scope *scope, const char *text, size_t len, bool *ret_new);
const struct pt_symbol *pt_scope_find(const struct pt_scope *scope, const char *text, size_t len);
enum pt_status pt_parse_file(struct pt_parser *p) PT_WARN_UNUSED;
enum pt_status pt_parse_statement(struct pt_parser *p) PT_WARN_UNUSED;
void pt_scope_init(struct pt_scope *scope);
void pt_scope_release(struct pt_scope *scope);
/* The new name of a let, var or thread, and the '=' after it; what it stands for. */
enum pt_status pt_parse_new_name(struct pt_parser *p, struct pt_scope *scope) PT_WARN_UNUSED;
void pt_parser_declare(struct pt_parser *p, struct pt_scope *scope, const struct pt_token *token,
                       struct pt_symbol symbol);

/* --- parse_var.c --- */
enum pt_status pt_parse_var(struct pt_parser *p) PT_WARN_UNUSED; /* after the word `var` */
/* A number, of either sign, a string, true or false; its text at the end of the buffer. */
enum pt_status pt_parse_literal(struct pt_parser *p, struct pt_buf *text, struct pt_value *ret_value) PT_WARN_UNUSED;
/* A sign of comparison, which is passed, or PT_AST_KINDS. */
enum pt_ast_kind pt_parse_sign(struct pt_parser *p);

/* --- parse_call.c: call(f), return(f), call(f, $1 > 3) --- */
struct pt_ast *pt_parse_function_event(struct pt_parser *p, const char *word); /* NULL is an error */

bool pt_token_is_fold(const struct pt_parser *p, const struct pt_token *token); /* count( sum( min( max( */
/* The name of a program's object, a path or anything in quotes, and the ';' after it. */
enum pt_status pt_parse_object(struct pt_parser *p, const char *what, const char **ret_name) PT_WARN_UNUSED;

/* --- parse_property.c --- */
enum pt_status pt_parse_property(struct pt_parser *p) PT_WARN_UNUSED; /* after the word `property` */
enum pt_status pt_parse_single(struct pt_parser *p) PT_WARN_UNUSED;   /* the whole text is a body */

enum pt_status pt_parse_limit(struct pt_parser *p, struct pt_bound *ret_bound) PT_WARN_UNUSED; /* 10ms, 5 events */

/* Tokens from .. to - 1 on one line: a gap of any kind is one blank. */
const char *pt_parser_one_line(struct pt_parser *p, size_t from, size_t to);

/* --- parse_pattern.c: after the words `pattern` and `use` --- */
enum pt_status pt_parse_pattern(struct pt_parser *p) PT_WARN_UNUSED;
enum pt_status pt_parse_use(struct pt_parser *p) PT_WARN_UNUSED;

/* --- parse_formula.c --- */
enum pt_status pt_parse_formula(struct pt_parser *p, struct pt_ast **ret_node) PT_WARN_UNUSED;
struct pt_ast *pt_ast_new(struct pt_parser *p, enum pt_ast_kind kind, const struct pt_token *token);
/* A thread by name or in quotes. */
enum pt_status pt_parse_thread(struct pt_parser *p, struct pt_ast_thread *ret_thread) PT_WARN_UNUSED;
/* After an operand, where only an operator or `what` could follow; guesses misspelt operators. */
enum pt_status pt_parser_expected_operator(struct pt_parser *p, const char *what);

/* --- lower.c: from trees to numbered atoms and formulas --- */
struct pt_builder {
    struct pt_parser *parser;
    struct pt_property *property; /* its pool is filled here, its tables by pt_builder_finish */
    struct pt_atom atoms[PT_MAX_ATOMS];
    uint32_t atom_count;
    struct pt_varref *vars;
    uint32_t var_count;
    size_t var_cap;
    struct pt_strtab var_ids; /* names of vars, same ids */
    struct pt_strtab event_ids;
    const struct pt_function_event **functions; /* by event */
    size_t function_cap;
    pt_formula *lets; /* by number: the formula of a let, PT_NONE while unknown */
};
void pt_builder_init(struct pt_builder *b, struct pt_parser *parser, struct pt_property *property);
void pt_builder_release(struct pt_builder *b);
void pt_builder_finish(struct pt_builder *b);
/* In parse_call.c: the events; and whether there is room for one more of the same function with conditions. */
void pt_builder_finish_events(struct pt_builder *b);
bool pt_builder_has_room(const struct pt_builder *b, const struct pt_function_event *event);
enum pt_status pt_lower_formula(struct pt_builder *b, const struct pt_ast *node,
                                pt_formula *ret_formula) PT_WARN_UNUSED;
/* Only the names: variables and events of a property whose formula stays a tree. */
void pt_lower_names(struct pt_builder *b, const struct pt_ast *node);

/* --- parse_ere.c, parse_hoa.c: the bodies that are not formulas --- */
enum pt_status pt_parse_ere(struct pt_builder *b) PT_WARN_UNUSED;
enum pt_status pt_parse_hoa(struct pt_builder *b) PT_WARN_UNUSED;

/* --- property.c --- */
bool pt_properties_has(const struct pt_properties *props, const char *name);
void pt_properties_push(struct pt_properties *props, const struct pt_property *property); /* takes over what it owns */
void pt_properties_note(struct pt_properties *props, const char *name); /* a declared name, for pt_properties_nearest */
void pt_property_release(struct pt_property *property);

#endif
