/*
 * Splits SML into tokens (contract section 9): one pass, nothing is copied, linear in the text. Each token keeps its
 * line and column, and an error shows that line; a character that begins no token is one.
 */
#include "net/sml_lex.h"

#include <string.h>

static const char *const keywords[] = {"int",  "lock",  "thread", "skip", "acquire", "release", "while", "if",
                                       "else", "begin", "end",    "true", "false",   "or",      "and",   "null"};
enum { KEYWORD_COUNT = sizeof keywords / sizeof *keywords };

void pt_sml_lexer_init(struct pt_sml_lexer *lexer, const char *file, const char *text, size_t len)
{
    *lexer =
        (struct pt_sml_lexer){.file = file, .text = text, .end = text + len, .at = text, .line_start = text, .line = 1};
}

void pt_sml_show(const struct pt_sml_lexer *lexer, const struct pt_sml_token *token, struct pt_err *err)
{
    const char *start = token->text - (token->column - 1);
    const char *end = start < lexer->end ? memchr(start, '\n', (size_t)(lexer->end - start)) : NULL;
    pt_err_source(err, start, (size_t)((end ? end : lexer->end) - start));
}

static enum pt_status fail(const struct pt_sml_lexer *lexer, const struct pt_sml_token *token, const char *message,
                           struct pt_err *err)
{
    (void)pt_err_at(err, PT_EINPUT, lexer->file, token->line, token->column, "%s", message);
    pt_sml_show(lexer, token, err);
    return PT_EINPUT;
}

static void begin_token(const struct pt_sml_lexer *lexer, struct pt_sml_token *token)
{
    *token = (struct pt_sml_token){
        .text = lexer->at, .line = lexer->line, .column = (uint32_t)(lexer->at - lexer->line_start) + 1};
}

static void next_line(struct pt_sml_lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->at;
}

static bool starts(const struct pt_sml_lexer *lexer, const char *mark)
{
    size_t n = strlen(mark);
    return (size_t)(lexer->end - lexer->at) >= n && memcmp(lexer->at, mark, n) == 0;
}

/* White space and comments. */
static enum pt_status skip_space(struct pt_sml_lexer *lexer, struct pt_err *err)
{
    struct pt_sml_token open = {0};
    bool inside = false; /* a comment that began at `open` */
    while (lexer->at < lexer->end) {
        if (inside && starts(lexer, "*/")) {
            inside = false;
            lexer->at += 2;
        } else if (*lexer->at == '\n') {
            lexer->at++;
            next_line(lexer);
        } else if (inside || strchr(" \t\r\f\v", *lexer->at)) {
            if (!inside && *lexer->at == '\0') /* strchr finds the NUL too */
                break;
            lexer->at++;
        } else if (*lexer->at == '#' || starts(lexer, "//")) {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (starts(lexer, "/*")) {
            begin_token(lexer, &open);
            inside = true;
            lexer->at += 2;
        } else {
            break;
        }
    }
    return inside ? fail(lexer, &open, "this comment never ends", err) : PT_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void read_word(struct pt_sml_lexer *lexer, struct pt_sml_token *token)
{
    const char *at = lexer->at;
    token->kind = is_digit(*at) ? PT_SML_INT : PT_SML_ID;
    while (at < lexer->end && (is_digit(*at) || (token->kind == PT_SML_ID && is_letter(*at))))
        at++;
    token->len = (uint32_t)(at - token->text);
    for (uint32_t k = 0; token->kind == PT_SML_ID && k < KEYWORD_COUNT; k++) {
        if (strlen(keywords[k]) == token->len && memcmp(keywords[k], token->text, token->len) == 0)
            token->kind = (enum pt_sml_kind)(PT_SML_KEYWORD + k);
    }
    lexer->at = at;
}

static bool read_mark(struct pt_sml_lexer *lexer, struct pt_sml_token *token)
{
    static const struct {
        const char *text;
        enum pt_sml_kind kind;
    } marks[] = {
        {":=", PT_SML_ASSIGN},  {"||", PT_SML_BARS},    {"<=", PT_SML_COMPARE}, {">=", PT_SML_COMPARE},
        {"==", PT_SML_COMPARE}, {"!=", PT_SML_COMPARE}, {"<", PT_SML_COMPARE},  {">", PT_SML_COMPARE},
        {"=", PT_SML_COMPARE},  {"!", PT_SML_NOT},      {":", PT_SML_COLON},    {";", PT_SML_SEMICOLON},
        {",", PT_SML_COMMA},    {"(", PT_SML_OPEN},     {")", PT_SML_CLOSE},    {"{", PT_SML_LBRACE},
        {"}", PT_SML_RBRACE},   {"+", PT_SML_PLUS},     {"-", PT_SML_MINUS},    {"*", PT_SML_STAR},
        {"/", PT_SML_SLASH},
    };
    for (uint32_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (starts(lexer, marks[i].text)) {
            token->kind = marks[i].kind;
            token->len = (uint32_t)strlen(marks[i].text);
            lexer->at += token->len;
            return true;
        }
    }
    return false;
}

enum pt_status pt_sml_next(struct pt_sml_lexer *lexer, struct pt_sml_token *ret_token, struct pt_err *err)
{
    struct pt_sml_token token;
    enum pt_status status = skip_space(lexer, err);
    if (status != PT_OK)
        return status;
    begin_token(lexer, &token);
    if (lexer->at == lexer->end) {
        token.kind = PT_SML_EOF;
    } else if (is_letter(*lexer->at) || is_digit(*lexer->at)) {
        read_word(lexer, &token);
        if (token.kind == PT_SML_INT && lexer->at < lexer->end && is_letter(*lexer->at))
            return fail(lexer, &token, "a name cannot begin with a digit", err);
    } else if (!read_mark(lexer, &token)) {
        return fail(lexer, &token, "this character has no meaning here", err);
    }
    *ret_token = token;
    return PT_OK;
}
