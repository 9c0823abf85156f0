/* Tokens of the Hanoi Omega-Automata format, version 1 (http://adl.github.io/hoaf/). Inside the HOA reader only. */
#ifndef PT_LOGIC_AUTOMATON_HOA_LEX_H
#define PT_LOGIC_AUTOMATON_HOA_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum hoa_token {
    HOA_EOF,
    HOA_HEADER, /* NAME: */
    HOA_IDENT,
    HOA_ALIAS, /* @NAME */
    HOA_STRING,
    HOA_INT,
    HOA_BODY,
    HOA_END,
    HOA_ABORT,
    HOA_PUNCT, /* one of ! & | ( ) [ ] { } */
};

struct hoa_lexer {
    const char *label; /* the file's name, for messages */
    const char *text;
    size_t len, at;
    uint64_t line;
    size_t line_start;
    /* The present token. */
    enum hoa_token token;
    size_t begin, end; /* its bytes in text; of a string, those between the quotes */
    uint64_t token_line;
    size_t token_line_start;
    uint64_t number; /* HOA_INT; UINT64_MAX stands for everything above */
    char punct;      /* HOA_PUNCT, else 0 */
};

void pt_hoa_lexer_init(struct hoa_lexer *lex, const char *label, const char *text, size_t len);
enum pt_status pt_hoa_next(struct hoa_lexer *lex, struct pt_err *err) PT_WARN_UNUSED;
/* An error at the present token, with its source line. */
enum pt_status pt_hoa_error(const struct hoa_lexer *lex, enum pt_status status, struct pt_err *err, const char *fmt,
                            ...) PT_PRINTF(4, 5);
/* "found `...`" needs the token's text in one piece: writes it, shortened, into `out`, and returns that. */
enum { HOA_SHOWN = 40 };
const char *pt_hoa_shown(const struct hoa_lexer *lex, char out[HOA_SHOWN]);

#endif
