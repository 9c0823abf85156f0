/*
 * The lexer. One pass over the text decides first how far it is clean UTF-8 without control characters; the tokens are
 * then cut from that part with plain byte comparisons. Linear time.
 */
#include "logic/lang/lex.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

struct lexer {
    const struct pt_prop_source *source;
    struct pt_arena *arena;
    struct pt_tokens *tokens;
    size_t pos;
    size_t end;          /* of the clean part of the text */
    const char *unclean; /* what is wrong at `end`; NULL when the whole text is clean */
    size_t line_start;
    uint32_t line;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void find_clean_part(struct lexer *lx)
{
    const struct pt_prop_source *s = lx->source;
    size_t i = 0;
    while (i < s->len) {
        uint32_t point = 0;
        size_t n = pt_utf8_decode(s->text + i, s->len - i, &point);
        if (n == 0) {
            lx->unclean = "the text is not valid UTF-8 here";
            break;
        }
        if (pt_utf8_is_control(point) && !(point >= '\t' && point <= '\r')) {
            lx->unclean = "a control character stands here";
            break;
        }
        i += n;
    }
    lx->end = i;
}

/* The letters beyond ASCII that C allows in identifiers, coarsely: the scripts, not the signs and spaces. */
static size_t foreign_letter(const struct lexer *lx, size_t at)
{
    static const uint32_t ranges[][2] = {{0xc0, 0xd6},     {0xd8, 0xf6},     {0xf8, 0x167f},
                                         {0x1681, 0x180d}, {0x180f, 0x1fff}, {0x2c00, 0x2dff},
                                         {0x3040, 0xd7ff}, {0xf900, 0xfdcf}, {0x10000, 0xdffff}};
    uint32_t point = 0;
    if (at >= lx->end || !(lx->source->text[at] & 0x80))
        return 0;
    size_t n = pt_utf8_decode(lx->source->text + at, lx->end - at, &point);
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1])
            return n;
    return 0;
}

/* The byte at an offset from the present place; NUL, which is never part of a clean text, past its end. */
static char peek(const struct lexer *lx, size_t ahead)
{
    return ahead < lx->end - lx->pos ? lx->source->text[lx->pos + ahead] : '\0';
}

static void push(struct lexer *lx, int kind, size_t start, struct pt_value value, bool plain)
{
    struct pt_tokens *t = lx->tokens;
    const struct pt_token *before = t->count ? &t->items[t->count - 1] : NULL;
    struct pt_token token = {.kind = kind,
                             .attached = before && before->offset + before->len == start,
                             .plain = plain,
                             .line = lx->line,
                             .column = (uint32_t)(start - lx->line_start + 1),
                             .offset = start,
                             .len = lx->pos - start,
                             .value = value};
    PT_GROW(t->items, t->cap, t->count + 1);
    assert(t->items);
    t->items[t->count++] = token;
}

static enum pt_status set_error(struct lexer *lx, struct pt_place place, const char *fmt, ...) PT_PRINTF(3, 4);

static enum pt_status set_error(struct lexer *lx, struct pt_place place, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    enum pt_status s = pt_prop_source_fail(lx->source, place, &lx->tokens->err, fmt, ap);
    va_end(ap);
    return s;
}

static bool fail(struct lexer *lx, size_t offset, uint32_t line, size_t line_start, const char *message)
{
    struct pt_place place = {line, (uint32_t)(offset - line_start + 1), offset};
    (void)set_error(lx, place, "%s", message);
    push(lx, PT_TOKEN_ERROR, offset, (struct pt_value){0}, false);
    return false;
}

static bool fail_here(struct lexer *lx, size_t offset, const char *message)
{
    return fail(lx, offset, lx->line, lx->line_start, message);
}

/* At the end of the clean part inside something that began at `offset`: the unclean byte explains more. */
static bool fail_at_end(struct lexer *lx, size_t offset, uint32_t line, size_t line_start, const char *message)
{
    if (lx->unclean)
        return fail_here(lx, lx->end, lx->unclean);
    return fail(lx, offset, line, line_start, message);
}

static void newline(struct lexer *lx)
{
    lx->line++;
    lx->line_start = lx->pos + 1;
}

static bool skip_comment(struct lexer *lx)
{
    size_t start = lx->pos, line_start = lx->line_start;
    uint32_t line = lx->line;
    for (lx->pos += 2; lx->pos < lx->end; lx->pos++) {
        if (peek(lx, 0) == '*' && peek(lx, 1) == '/') {
            lx->pos += 2;
            return true;
        }
        if (peek(lx, 0) == '\n')
            newline(lx);
    }
    return fail_at_end(lx, start, line, line_start, "this comment is not closed");
}

/* Blanks and comments; false when a comment has no end. */
static bool skip_gap(struct lexer *lx)
{
    for (;;) {
        char c = peek(lx, 0);
        if (c == '/' && peek(lx, 1) == '*') {
            if (!skip_comment(lx))
                return false;
        } else if (c == '/' && peek(lx, 1) == '/') {
            while (lx->pos < lx->end && peek(lx, 0) != '\n')
                lx->pos++;
        } else if (c == ' ' || (c >= '\t' && c <= '\r')) {
            if (c == '\n')
                newline(lx);
            lx->pos++;
        } else {
            return true;
        }
    }
}

static size_t identifier_length(const struct lexer *lx, size_t at)
{
    size_t start = at;
    for (;;) {
        size_t n = foreign_letter(lx, at);
        if (n == 0 && at < lx->end &&
            (is_letter(lx->source->text[at]) || (at > start && is_digit(lx->source->text[at]))))
            n = 1;
        if (n == 0)
            return at - start;
        at += n;
    }
}

/* What may be attached to a name: ::x .x [3] [0..15] #2. Its length, 0 when there is nothing. */
static size_t suffix_length(const struct lexer *lx)
{
    size_t n = 0, more;
    if (peek(lx, 0) == '.' && (more = identifier_length(lx, lx->pos + 1)) > 0)
        return more + 1;
    if (peek(lx, 0) == ':' && peek(lx, 1) == ':' && (more = identifier_length(lx, lx->pos + 2)) > 0)
        return more + 2;
    if (peek(lx, 0) != '[' && peek(lx, 0) != '#')
        return 0;
    while (is_digit(peek(lx, n + 1)))
        n++;
    if (n == 0)
        return 0;
    if (peek(lx, 0) == '#')
        return n + 1;
    if (peek(lx, n + 1) == ']')
        return n + 2;
    if (peek(lx, n + 1) != '.' || peek(lx, n + 2) != '.' || !is_digit(peek(lx, n + 3)))
        return 0;
    for (n += 3; is_digit(peek(lx, n));)
        n++;
    return peek(lx, n) == ']' ? n + 1 : 0;
}

static bool lex_name(struct lexer *lx)
{
    size_t start = lx->pos, n;
    lx->pos += identifier_length(lx, start);
    size_t plain_end = lx->pos;
    while ((n = suffix_length(lx)) > 0)
        lx->pos += n;
    push(lx, PT_TOKEN_NAME, start, (struct pt_value){0}, lx->pos == plain_end);
    struct pt_token *token = &lx->tokens->items[lx->tokens->count - 1];
    for (size_t i = plain_end; i + 1 < lx->pos; i++)
        token->range |= lx->source->text[i] == '.' && lx->source->text[i + 1] == '.';
    return true;
}

/* $1 */
static bool lex_argument(struct lexer *lx)
{
    size_t start = lx->pos;
    int64_t number = 0;
    for (lx->pos++; is_digit(peek(lx, 0)) && number < 1000; lx->pos++)
        number = number * 10 + (peek(lx, 0) - '0');
    push(lx, PT_TOKEN_ARGUMENT, start, pt_value_int(number), false);
    return true;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static bool lex_integer(struct lexer *lx, size_t start, unsigned base)
{
    uint64_t u = 0;
    size_t first = lx->pos;
    for (; digit_value(peek(lx, 0)) < (int)base; lx->pos++)
        if (__builtin_mul_overflow(u, (uint64_t)base, &u) ||
            __builtin_add_overflow(u, (uint64_t)digit_value(peek(lx, 0)), &u))
            return fail_here(lx, start, "this integer does not fit 64 bits");
    if (lx->pos == first)
        return fail_here(lx, start, "digits are missing after '0x'");
    if (base == 10 && lx->pos - first > 1 && lx->source->text[first] == '0')
        return fail_here(lx, start, "an integer does not start with 0, so that nobody reads it as octal");
    push(lx, PT_TOKEN_NUMBER, start, pt_value_uint(u), false);
    return true;
}

/* strtod reads the decimal point of the locale; portent never leaves the C locale. */
static bool lex_float(struct lexer *lx, size_t start, size_t len)
{
    char *text = pt_arena_strndup(lx->arena, lx->source->text + start, len);
    double d = strtod(text, NULL);
    lx->pos = start + len;
    if (d - d != 0)
        return fail_here(lx, start, "this number is too large for floating point");
    push(lx, PT_TOKEN_NUMBER, start, pt_value_float(d), false);
    return true;
}

static bool lex_number(struct lexer *lx)
{
    size_t start = lx->pos, n = 0, exponent;
    if (peek(lx, 0) == '0' && (peek(lx, 1) == 'x' || peek(lx, 1) == 'X')) {
        lx->pos += 2;
        return lex_integer(lx, start, 16);
    }
    while (is_digit(peek(lx, n)))
        n++;
    bool whole = true;
    if (peek(lx, n) == '.') {
        whole = false;
        if (!is_digit(peek(lx, n + 1)))
            return fail_here(lx, start + n, "a digit must follow the decimal point");
        for (n++; is_digit(peek(lx, n));)
            n++;
    }
    if (peek(lx, n) == 'e' || peek(lx, n) == 'E') {
        exponent = n + 1 + (peek(lx, n + 1) == '-' || peek(lx, n + 1) == '+');
        if (is_digit(peek(lx, exponent))) {
            whole = false;
            for (n = exponent; is_digit(peek(lx, n));)
                n++;
        }
    }
    return whole ? lex_integer(lx, start, 10) : lex_float(lx, start, n);
}

/* After a backslash: the byte it stands for, -1 when there is no such escape. */
static int lex_escape(struct lexer *lx)
{
    static const char from[] = "abfnrtv\\\"'?", to[] = "\a\b\f\n\r\t\v\\\"'?";
    char c = peek(lx, 0);
    int value = 0, digits = 0;
    const char *simple = c ? strchr(from, c) : NULL;
    if (simple) {
        lx->pos++;
        return (unsigned char)to[simple - from];
    }
    if (c == 'x') {
        lx->pos++;
        for (; digits < 2 && digit_value(peek(lx, 0)) < 16; digits++, lx->pos++)
            value = value * 16 + digit_value(peek(lx, 0));
    } else {
        for (; digits < 3 && digit_value(peek(lx, 0)) < 8; digits++, lx->pos++)
            value = value * 8 + digit_value(peek(lx, 0));
    }
    return digits == 0 || value > 255 ? -1 : value;
}

static bool lex_string(struct lexer *lx)
{
    size_t start = lx->pos;
    struct pt_buf buf;
    bool ok = true;
    pt_buf_init(&buf);
    for (lx->pos++; ok && peek(lx, 0) != '"';) {
        size_t at = lx->pos;
        char c = peek(lx, 0);
        if (at >= lx->end) {
            ok = fail_at_end(lx, start, lx->line, lx->line_start, "this string is not closed");
        } else if (c == '\n') {
            ok = fail_here(lx, start, "this string is not closed on its line");
        } else if (c == '\\') {
            lx->pos++;
            int byte = lex_escape(lx);
            c = (char)byte;
            if (byte < 0)
                ok = fail_here(lx, at, "this is not an escape sequence of C");
            else
                pt_buf_add(&buf, &c, 1);
        } else {
            pt_buf_add(&buf, &c, 1);
            lx->pos++;
        }
    }
    if (ok) {
        lx->pos++;
        const char *copy = pt_arena_strndup(lx->arena, buf.text ? buf.text : "", buf.len);
        push(lx, PT_TOKEN_STRING, start, pt_value_string(copy, (uint32_t)buf.len), false);
    }
    pt_buf_release(&buf);
    return ok;
}

static bool lex_sign(struct lexer *lx)
{
    static const struct {
        char text[4];
        int kind;
    } signs[] = {{"<->", PT_TOKEN_IFF}, {"->", PT_TOKEN_IMPLIES}, {"<>", PT_TOKEN_DIAMOND}, {"[]", PT_TOKEN_BOX},
                 {"&&", PT_TOKEN_AND},  {"||", PT_TOKEN_OR},      {"==", PT_TOKEN_EQ},      {"!=", PT_TOKEN_NE},
                 {"<=", PT_TOKEN_LE},   {">=", PT_TOKEN_GE}};
    size_t start = lx->pos;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i].text);
        if (n <= lx->end - start && memcmp(lx->source->text + start, signs[i].text, n) == 0) {
            lx->pos += n;
            push(lx, signs[i].kind, start, (struct pt_value){0}, false);
            return true;
        }
    }
    char c = peek(lx, 0);
    if (c == '=' && peek(lx, 1) == '>') {
        fail_here(lx, start, "there is no operator '=>'");
        pt_err_hint(&lx->tokens->err, "did you mean '>=' or '->'?");
        return false;
    }
    if (!strchr("<>!=+-*/%()[]{},;:@&|~?", c)) {
        (void)fail_here(lx, start, "this character means nothing here");
        if (c == '#')
            pt_err_hint(&lx->tokens->err, "comments are C's: // and /* */");
        else if (c == '\'')
            pt_err_hint(&lx->tokens->err, "a character is its number, 97 for 'a'; texts stand between \"\"");
        return false;
    }
    lx->pos++;
    push(lx, (unsigned char)c, start, (struct pt_value){0}, false);
    return true;
}

static bool lex_token(struct lexer *lx)
{
    char c = peek(lx, 0);
    if (identifier_length(lx, lx->pos) > 0)
        return lex_name(lx);
    if (is_digit(c))
        return lex_number(lx);
    if (c == '$' && is_digit(peek(lx, 1)))
        return lex_argument(lx);
    return c == '"' ? lex_string(lx) : lex_sign(lx);
}

/* The end stands behind the last token, where something is missing if anything is, not behind blanks and comments. */
static void push_end(struct lexer *lx)
{
    struct pt_tokens *t = lx->tokens;
    push(lx, PT_TOKEN_END, lx->end, (struct pt_value){0}, false);
    if (t->count == 1)
        return;
    const struct pt_token *last = &t->items[t->count - 2];
    struct pt_token *end = &t->items[t->count - 1];
    end->line = last->line;
    end->column = last->column + (uint32_t)last->len;
    end->offset = last->offset + last->len;
}

void pt_lex(const struct pt_prop_source *source, struct pt_arena *arena, struct pt_tokens *ret_tokens)
{
    struct lexer lx = {.source = source, .arena = arena, .tokens = ret_tokens, .line = 1};
    *ret_tokens = (struct pt_tokens){0};
    find_clean_part(&lx);
    if (lx.end >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0)
        lx.pos = lx.line_start = 3; /* a byte order mark is no text */
    for (;;) {
        if (!skip_gap(&lx))
            return;
        if (lx.pos == lx.end)
            break;
        if (!lex_token(&lx))
            return;
    }
    if (lx.unclean)
        (void)fail_here(&lx, lx.end, lx.unclean);
    else
        push_end(&lx);
}

void pt_tokens_release(struct pt_tokens *tokens)
{
    free(tokens->items);
    *tokens = (struct pt_tokens){0};
}

/* What is no printable UTF-8 becomes '?', also a character that the end of the array cut in two. */
static void make_printable(char *text)
{
    size_t len = strlen(text);
    for (size_t i = 0; i < len;) {
        uint32_t point = 0;
        size_t n = pt_utf8_decode(text + i, len - i, &point);
        if (n == 0 || (pt_utf8_is_control(point) && point != '\t')) {
            text[i] = '?';
            n = 1;
        }
        i += n;
    }
}

enum pt_status pt_prop_source_fail(const struct pt_prop_source *source, struct pt_place place, struct pt_err *err,
                                   const char *fmt, va_list ap)
{
    char message[sizeof err->message];
    size_t start = place.offset, end = start;
    vsnprintf(message, sizeof message, fmt, ap);
    make_printable(message);
    while (start > 0 && source->text[start - 1] != '\n')
        start--;
    while (end < source->len && source->text[end] != '\n' && source->text[end] != '\r')
        end++;
    (void)pt_err_at(err, PT_EINPUT, source->file, place.line, place.column, "%s", message);
    pt_err_source(err, source->text + start, end - start);
    make_printable(err->source);
    return PT_EINPUT;
}
