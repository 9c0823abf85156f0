/* The vocabulary of the language: its operators, how they are spelt and how tightly they bind (contract section 2). */
#include "logic/lang/ast.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *sign;
    uint8_t level;
} operators[PT_AST_KINDS] = {
    [PT_AST_NEG] = {"-", PT_LEVEL_NEG},
    [PT_AST_ADD] = {"+", PT_LEVEL_ADD},
    [PT_AST_SUB] = {"-", PT_LEVEL_ADD},
    [PT_AST_MUL] = {"*", PT_LEVEL_MUL},
    [PT_AST_DIV] = {"/", PT_LEVEL_MUL},
    [PT_AST_MOD] = {"%", PT_LEVEL_MUL},
    [PT_AST_MIN] = {"min", PT_LEVEL_PRIMARY},
    [PT_AST_MAX] = {"max", PT_LEVEL_PRIMARY},
    [PT_AST_EQ] = {"==", PT_LEVEL_COMPARE},
    [PT_AST_NE] = {"!=", PT_LEVEL_COMPARE},
    [PT_AST_LT] = {"<", PT_LEVEL_COMPARE},
    [PT_AST_LE] = {"<=", PT_LEVEL_COMPARE},
    [PT_AST_GT] = {">", PT_LEVEL_COMPARE},
    [PT_AST_GE] = {">=", PT_LEVEL_COMPARE},
#define LEVEL_IFF                               PT_LEVEL_IFF
#define LEVEL_IMPLIES                           PT_LEVEL_IMPLIES
#define LEVEL_OR                                PT_LEVEL_OR
#define LEVEL_AND                               PT_LEVEL_AND
#define LEVEL_INFIX                             PT_LEVEL_TEMPORAL
#define LEVEL_PREFIX                            PT_LEVEL_UNARY
#define LEVEL_SIGN                              PT_LEVEL_UNARY
#define LEVEL_CALL                              PT_LEVEL_PRIMARY
#define LEVEL_INTERVAL                          PT_LEVEL_PRIMARY
#define ROW(name, operands, form, word, letter) [PT_AST_##name] = {word, LEVEL_##form},
#define PT_OPERATOR_NOW                         ROW
#define PT_OPERATOR_FUTURE                      ROW
#define PT_OPERATOR_PAST                        ROW
#include "core/operators.def"
#undef ROW
    [PT_AST_EVENT] = {"event", PT_LEVEL_PRIMARY},
    [PT_AST_CALLED] = {"call", PT_LEVEL_PRIMARY},
    [PT_AST_RETURNED] = {"return", PT_LEVEL_PRIMARY},
    [PT_AST_READ] = {"read", PT_LEVEL_PRIMARY},
    [PT_AST_WRITE] = {"write", PT_LEVEL_PRIMARY},
    [PT_AST_RACE_FREE] = {"race_free", PT_LEVEL_PRIMARY},
    [PT_AST_ATOMIC_BLOCK] = {"atomic_block", PT_LEVEL_PRIMARY},
    [PT_AST_KNOWN] = {"@", PT_LEVEL_PRIMARY},
    [PT_AST_EXISTS] = {"exists", PT_LEVEL_UNARY},
    [PT_AST_FORALL] = {"forall", PT_LEVEL_UNARY},
    [PT_AST_AT] = {"at", PT_LEVEL_PRIMARY},
    [PT_AST_AT_EACH] = {"at each", PT_LEVEL_PRIMARY},
};

/* The words among the temporal operators. */
#define WORD_INTERVAL(text, name)
#define WORD_INFIX(text, name)  {text, PT_AST_##name, PT_WORD_INFIX},
#define WORD_PREFIX(text, name) {text, PT_AST_##name, PT_WORD_PREFIX},
#define WORD_CALL(text, name)   {text, PT_AST_##name, PT_WORD_CALL},

/* Of words that a slip of the pen is equally near to, it leads to the one that stands first. */
static const struct pt_word words[] = {
#define ROW(name, operands, form, word, letter) WORD_##form(word, name)
#define PT_OPERATOR_FUTURE                      ROW
#define PT_OPERATOR_PAST                        ROW
#include "core/operators.def"
#undef ROW
    {"event", PT_AST_EVENT, PT_WORD_CALL},
    {"call", PT_AST_CALLED, PT_WORD_CALL},
    {"return", PT_AST_RETURNED, PT_WORD_CALL},
    {"read", PT_AST_READ, PT_WORD_CALL},
    {"write", PT_AST_WRITE, PT_WORD_CALL},
    {"race_free", PT_AST_RACE_FREE, PT_WORD_CALL},
    {"atomic_block", PT_AST_ATOMIC_BLOCK, PT_WORD_CALL},
    {"exists", PT_AST_EXISTS, PT_WORD_PREFIX},
    {"forall", PT_AST_FORALL, PT_WORD_PREFIX},
    {"true", PT_AST_BOOL, PT_WORD_PREFIX},
    {"false", PT_AST_BOOL, PT_WORD_PREFIX},
#define ROW(name, operands, form, word, letter) WORD_##form(letter, name)
#define PT_OPERATOR_FUTURE                      ROW
#define PT_OPERATOR_PAST                        ROW
#include "core/operators.def"
#undef ROW
    {"V", PT_AST_RELEASE, PT_WORD_INFIX},
};

const char *pt_ast_sign(enum pt_ast_kind kind)
{
    assert(operators[kind].sign);
    return operators[kind].sign;
}

enum pt_level pt_ast_level(enum pt_ast_kind kind)
{
    return operators[kind].sign ? (enum pt_level)operators[kind].level : PT_LEVEL_PRIMARY;
}

static bool is_word(const char *word, const char *text, size_t len)
{
    return strncmp(word, text, len) == 0 && word[len] == '\0';
}

const struct pt_word *pt_word_find(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(words[i].text, text, len))
            return &words[i];
    return NULL;
}

const struct pt_word *pt_words(size_t *ret_count)
{
    *ret_count = sizeof words / sizeof *words;
    return words;
}

const char *pt_word_synonym(const char *text, size_t len)
{
    static const char *const synonyms[][2] = {{"not", "!"},
                                              {"and", "&&"},
                                              {"or", "||"},
                                              {"implies", "->"},
                                              {"iff", "<->"},
                                              {"globally", "always"},
                                              {"finally", "eventually"},
                                              {"weak_until", "weakuntil"},
                                              {"yesterday", "previously"}};
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strncasecmp(synonyms[i][0], text, len) == 0 && synonyms[i][0][len] == '\0')
            return synonyms[i][1];
    return NULL;
}
