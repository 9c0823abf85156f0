/*
 * Tokens of the property language. The whole text is cut up at once; a lexical error becomes the last token, so that
 * the parser reports it only when it gets there and an earlier mistake is reported first.
 */
#ifndef PT_LOGIC_LANG_LEX_H
#define PT_LOGIC_LANG_LEX_H

#include <stdarg.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/value.h"

/* A token of one character has that character as its kind. */
enum pt_token_kind {
    PT_TOKEN_END = 256, /* of the text */
    PT_TOKEN_ERROR,     /* the text goes wrong here; pt_tokens.err says how */
    PT_TOKEN_NAME,      /* identifier with what is attached: ::x .x [3] [0..15] #2 */
    PT_TOKEN_NUMBER,
    PT_TOKEN_ARGUMENT, /* $1; value: its number */
    PT_TOKEN_STRING,
    PT_TOKEN_BOX,     /* [] */
    PT_TOKEN_DIAMOND, /* <> */
    PT_TOKEN_IFF,
    PT_TOKEN_IMPLIES,
    PT_TOKEN_AND,
    PT_TOKEN_OR,
    PT_TOKEN_EQ,
    PT_TOKEN_NE,
    PT_TOKEN_LE,
    PT_TOKEN_GE,
};

struct pt_token {
    int kind;
    bool attached; /* nothing stands between the token before and this one */
    bool plain;    /* a name: an identifier with nothing attached */
    bool range;    /* a name: with [0..15] in it */
    uint32_t line, column;
    size_t offset, len;
    struct pt_value value; /* of numbers and strings */
};

struct pt_prop_source {
    const char *file;
    const char *text;
    size_t len;
};

struct pt_tokens {
    struct pt_token *items; /* the last one is END or ERROR */
    size_t count, cap;
    struct pt_err err;
};

/* Values of strings live in the arena. */
void pt_lex(const struct pt_prop_source *source, struct pt_arena *arena, struct pt_tokens *ret_tokens);
void pt_tokens_release(struct pt_tokens *tokens);
/*
 * Fills *err for a place in the source, with its line of text. What the message quotes may be anything: it is made
 * printable. Returns PT_EINPUT.
 */
struct pt_place {
    uint32_t line, column;
    size_t offset;
};
enum pt_status pt_prop_source_fail(const struct pt_prop_source *source, struct pt_place place, struct pt_err *err,
                                   const char *fmt, va_list ap) PT_PRINTF(4, 0);

#endif
