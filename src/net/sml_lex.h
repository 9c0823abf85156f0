/* Tokens of SML. */
#ifndef PT_NET_SML_LEX_H
#define PT_NET_SML_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pt_sml_kind {
    PT_SML_EOF,
    PT_SML_ID,
    PT_SML_INT,
    PT_SML_ASSIGN, /* := */
    PT_SML_COLON,
    PT_SML_SEMICOLON,
    PT_SML_COMMA,
    PT_SML_OPEN,
    PT_SML_CLOSE,
    PT_SML_LBRACE,
    PT_SML_RBRACE,
    PT_SML_BARS, /* || */
    PT_SML_PLUS,
    PT_SML_MINUS,
    PT_SML_STAR,
    PT_SML_SLASH,
    PT_SML_COMPARE, /* < <= > >= = == != */
    PT_SML_NOT,
    PT_SML_KEYWORD, /* the first of the keywords, in the order of their table */
    PT_SML_KW_INT = PT_SML_KEYWORD,
    PT_SML_KW_LOCK,
    PT_SML_KW_THREAD,
    PT_SML_KW_SKIP,
    PT_SML_KW_ACQUIRE,
    PT_SML_KW_RELEASE,
    PT_SML_KW_WHILE,
    PT_SML_KW_IF,
    PT_SML_KW_ELSE,
    PT_SML_KW_BEGIN,
    PT_SML_KW_END,
    PT_SML_KW_TRUE,
    PT_SML_KW_FALSE,
    PT_SML_KW_OR,
    PT_SML_KW_AND,
    PT_SML_KW_NULL,
};

struct pt_sml_token {
    enum pt_sml_kind kind;
    uint32_t len;
    uint32_t line, column; /* from 1; columns in bytes */
    const char *text;
};

struct pt_sml_lexer {
    const char *file;
    const char *text, *end, *at; /* the whole text, and where the next token begins */
    const char *line_start;
    uint32_t line;
};

void pt_sml_lexer_init(struct pt_sml_lexer *lexer, const char *file, const char *text, size_t len);
enum pt_status pt_sml_next(struct pt_sml_lexer *lexer, struct pt_sml_token *ret_token,
                           struct pt_err *err) PT_WARN_UNUSED;
/* Adds the source line of `token` to an error that was set at its place. */
void pt_sml_show(const struct pt_sml_lexer *lexer, const struct pt_sml_token *token, struct pt_err *err);

#endif
