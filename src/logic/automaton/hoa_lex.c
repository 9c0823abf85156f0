/* Tokens of the HOA format. One pass, no allocation; comments nest, as the format says. */
#include "logic/automaton/hoa_lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pt_hoa_lexer_init(struct hoa_lexer *lex, const char *label, const char *text, size_t len)
{
    *lex = (struct hoa_lexer){.label = label, .text = text, .len = len, .line = 1};
}

enum pt_status pt_hoa_error(const struct hoa_lexer *lex, enum pt_status status, struct pt_err *err, const char *fmt,
                            ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    size_t begin = lex->token == HOA_STRING ? lex->begin - 1 : lex->begin; /* the opening quote */
    size_t column = begin - lex->token_line_start + 1;
    pt_err_at(err, status, lex->label, lex->token_line, column > UINT32_MAX ? 0 : (uint32_t)column, "%s", message);
    const char *line = lex->text + lex->token_line_start;
    size_t rest = lex->len - lex->token_line_start;
    const char *newline = rest ? memchr(line, '\n', rest) : NULL;
    pt_err_source(err, line, newline ? (size_t)(newline - line) : rest);
    return status;
}

const char *pt_hoa_shown(const struct hoa_lexer *lex, char out[HOA_SHOWN])
{
    if (lex->token == HOA_EOF)
        return "the end of the file";
    size_t len = lex->end - lex->begin, room = HOA_SHOWN - 6;
    const char *quote = lex->token == HOA_STRING ? "\"" : "'";
    size_t at = 0;
    out[at++] = *quote;
    for (size_t i = 0; i < len && i < room; i++) {
        unsigned char c = (unsigned char)lex->text[lex->begin + i];
        out[at++] = c >= ' ' && c < 0x7f ? (char)c : '?';
    }
    snprintf(out + at, HOA_SHOWN - at, "%s%s", len > room ? "..." : "", quote);
    return out;
}

static void newline(struct hoa_lexer *lex)
{
    lex->line++;
    lex->line_start = lex->at;
}

static void mark(struct hoa_lexer *lex)
{
    lex->begin = lex->at;
    lex->token_line = lex->line;
    lex->token_line_start = lex->line_start;
}

/* At the opening of a comment; afterwards behind its end. */
static enum pt_status skip_comment(struct hoa_lexer *lex, struct pt_err *err)
{
    size_t depth = 0;
    lex->token = HOA_PUNCT;
    mark(lex);
    lex->end = lex->at + 2;
    while (lex->at < lex->len) {
        char c = lex->text[lex->at++];
        char next = lex->at < lex->len ? lex->text[lex->at] : '\0';
        if (c == '\n') {
            newline(lex);
        } else if (c == '/' && next == '*') {
            lex->at++;
            depth++;
        } else if (c == '*' && next == '/') {
            lex->at++;
            if (--depth == 0)
                return PT_OK;
        }
    }
    return pt_hoa_error(lex, PT_EINPUT, err, "this comment is not closed");
}

static enum pt_status skip_blank(struct hoa_lexer *lex, struct pt_err *err)
{
    while (lex->at < lex->len) {
        char c = lex->text[lex->at];
        if (c == '\n') {
            lex->at++;
            newline(lex);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lex->at++;
        } else if (c == '/' && lex->at + 1 < lex->len && lex->text[lex->at + 1] == '*') {
            enum pt_status status = skip_comment(lex, err);
            if (status != PT_OK)
                return status;
        } else {
            break;
        }
    }
    return PT_OK;
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_word(struct hoa_lexer *lex)
{
    while (lex->at < lex->len &&
           (is_alpha(lex->text[lex->at]) || is_digit(lex->text[lex->at]) || lex->text[lex->at] == '-'))
        lex->at++;
    lex->end = lex->at;
}

static enum pt_status lex_string(struct hoa_lexer *lex, struct pt_err *err)
{
    lex->token = HOA_STRING;
    lex->begin = lex->end = ++lex->at;
    while (lex->at < lex->len) {
        char c = lex->text[lex->at++];
        if (c == '"') {
            lex->end = lex->at - 1;
            return PT_OK;
        }
        if (c == '\\' && lex->at < lex->len)
            c = lex->text[lex->at++];
        if (c == '\n')
            newline(lex);
    }
    return pt_hoa_error(lex, PT_EINPUT, err, "this string is not closed");
}

static enum pt_status lex_number(struct hoa_lexer *lex, struct pt_err *err)
{
    lex->token = HOA_INT;
    lex->number = 0;
    for (; lex->at < lex->len && is_digit(lex->text[lex->at]); lex->at++) {
        uint64_t digit = (uint64_t)(lex->text[lex->at] - '0');
        bool fits = lex->number <= (UINT64_MAX - digit) / 10;
        lex->number = fits ? lex->number * 10 + digit : UINT64_MAX;
    }
    lex->end = lex->at;
    if (lex->end - lex->begin > 1 && lex->text[lex->begin] == '0')
        return pt_hoa_error(lex, PT_EINPUT, err, "a number may not begin with 0");
    return PT_OK;
}

static enum pt_status lex_keyword(struct hoa_lexer *lex, struct pt_err *err)
{
    static const struct {
        const char *text;
        enum hoa_token token;
    } keywords[] = {{"--BODY--", HOA_BODY}, {"--END--", HOA_END}, {"--ABORT--", HOA_ABORT}};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        size_t len = strlen(keywords[i].text);
        if (lex->len - lex->at >= len && memcmp(lex->text + lex->at, keywords[i].text, len) == 0) {
            lex->token = keywords[i].token;
            lex->at = lex->end = lex->at + len;
            return PT_OK;
        }
    }
    skip_word(lex);
    return pt_hoa_error(lex, PT_EINPUT, err, "expected --BODY-- or --END--");
}

static enum pt_status lex_odd(struct hoa_lexer *lex, struct pt_err *err)
{
    unsigned char c = (unsigned char)lex->text[lex->at];
    lex->token = HOA_PUNCT;
    lex->end = ++lex->at;
    if (c >= ' ' && c < 0x7f)
        return pt_hoa_error(lex, PT_EINPUT, err, "unexpected character '%c'", c);
    return pt_hoa_error(lex, PT_EINPUT, err, "unexpected byte 0x%02x", c);
}

enum pt_status pt_hoa_next(struct hoa_lexer *lex, struct pt_err *err)
{
    lex->punct = '\0';
    enum pt_status status = skip_blank(lex, err);
    if (status != PT_OK)
        return status;
    mark(lex);
    lex->end = lex->at;
    if (lex->at == lex->len) {
        lex->token = HOA_EOF;
        return PT_OK;
    }
    char c = lex->text[lex->at];
    if (c == '"')
        return lex_string(lex, err);
    if (is_digit(c))
        return lex_number(lex, err);
    if (c == '-')
        return lex_keyword(lex, err);
    if (is_alpha(c)) {
        skip_word(lex);
        lex->token = HOA_IDENT;
        if (lex->at < lex->len && lex->text[lex->at] == ':') {
            lex->at++;
            lex->token = HOA_HEADER;
        }
        return PT_OK;
    }
    if (c == '@') {
        lex->at++;
        skip_word(lex);
        lex->token = HOA_ALIAS;
        return lex->end - lex->begin > 1 ? PT_OK
                                         : pt_hoa_error(lex, PT_EINPUT, err, "expected an alias name after '@'");
    }
    if (!memchr("!&|()[]{}", c, 9))
        return lex_odd(lex, err);
    lex->token = HOA_PUNCT;
    lex->punct = c;
    lex->end = ++lex->at;
    return PT_OK;
}
