/* What the files of the SML parser share; nobody else includes this. */
#ifndef PT_NET_SML_IMPL_H
#define PT_NET_SML_IMPL_H

#include "base/buf.h"
#include "base/table.h"
#include "net/program.h"
#include "net/sml.h"
#include "net/sml_lex.h"

struct pt_sml_parser {
    struct pt_sml_lexer lexer;
    struct pt_sml_token token; /* the one that is looked at */
    const char *previous_end;  /* of the token before it */
    uint32_t depth;
    struct pt_program *program;
    struct pt_strtab names;      /* declared */
    uint32_t *ids;               /* by name: the variable's or the lock's */
    bool *is_lock;               /* by name */
    size_t id_cap, lock_cap;     /* of the two */
    uint32_t *reads, read_count; /* of the statement being read */
    size_t read_cap;
    struct pt_buf text;
    uint32_t thread;
    struct pt_err *err;
};

/* An error at a token: `message`; the token's own text in quotes between two others. */
enum pt_status pt_sml_fail_at(struct pt_sml_parser *p, const struct pt_sml_token *token, const char *message);
enum pt_status pt_sml_fail_name(struct pt_sml_parser *p, const struct pt_sml_token *token, const char *before,
                                const char *after);
/* "expected X" at the token that is there instead. */
enum pt_status pt_sml_fail_expected(struct pt_sml_parser *p, const char *what);
/* To the next token: in any case, if this one is a `kind`, and either way. */
enum pt_status pt_sml_advance(struct pt_sml_parser *p);
enum pt_status pt_sml_expect(struct pt_sml_parser *p, enum pt_sml_kind kind, const char *what);
enum pt_status pt_sml_accept(struct pt_sml_parser *p, enum pt_sml_kind kind, bool *ret_taken);
/* One level deeper, if that is allowed; whoever leaves it counts `depth` down. */
enum pt_status pt_sml_enter(struct pt_sml_parser *p);
/* What an expression or a guard reads is added to `reads`. */
enum pt_status pt_sml_parse_number(struct pt_sml_parser *p);
enum pt_status pt_sml_parse_condition(struct pt_sml_parser *p);

#endif
