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
    [PT_AST_EQ] = {"==", PT_LEVEL_COMPARE},
    [PT_AST_NE] = {"!=", PT_LEVEL_COMPARE},
    [PT_AST_LT] = {"<", PT_LEVEL_COMPARE},
    [PT_AST_LE] = {"<=", PT_LEVEL_COMPARE},
    [PT_AST_GT] = {">", PT_LEVEL_COMPARE},
    [PT_AST_GE] = {">=", PT_LEVEL_COMPARE},
    [PT_AST_NOT] = {"!", PT_LEVEL_UNARY},
    [PT_AST_AND] = {"&&", PT_LEVEL_AND},
    [PT_AST_OR] = {"||", PT_LEVEL_OR},
    [PT_AST_IMPLIES] = {"->", PT_LEVEL_IMPLIES},
    [PT_AST_IFF] = {"<->", PT_LEVEL_IFF},
    [PT_AST_NEXT] = {"next", PT_LEVEL_UNARY},
    [PT_AST_EVENTUALLY] = {"eventually", PT_LEVEL_UNARY},
    [PT_AST_ALWAYS] = {"always", PT_LEVEL_UNARY},
    [PT_AST_UNTIL] = {"until", PT_LEVEL_TEMPORAL},
    [PT_AST_WEAKUNTIL] = {"weakuntil", PT_LEVEL_TEMPORAL},
    [PT_AST_RELEASE] = {"release", PT_LEVEL_TEMPORAL},
    [PT_AST_PREVIOUSLY] = {"previously", PT_LEVEL_UNARY},
    [PT_AST_ONCE] = {"once", PT_LEVEL_UNARY},
    [PT_AST_HISTORICALLY] = {"historically", PT_LEVEL_UNARY},
    [PT_AST_SINCE] = {"since", PT_LEVEL_TEMPORAL},
    [PT_AST_START] = {"start", PT_LEVEL_PRIMARY},
    [PT_AST_END] = {"end", PT_LEVEL_PRIMARY},
    [PT_AST_INTERVAL] = {"[..)", PT_LEVEL_PRIMARY},
    [PT_AST_INTERVAL_WEAK] = {"[..)w", PT_LEVEL_PRIMARY},
    [PT_AST_EVENT] = {"event", PT_LEVEL_PRIMARY},
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

/* In front of each other stand the words that a slip of the pen should lead to first. */
static const struct pt_word words[] = {
    {"always", PT_AST_ALWAYS, PT_WORD_PREFIX},
    {"eventually", PT_AST_EVENTUALLY, PT_WORD_PREFIX},
    {"next", PT_AST_NEXT, PT_WORD_PREFIX},
    {"previously", PT_AST_PREVIOUSLY, PT_WORD_PREFIX},
    {"once", PT_AST_ONCE, PT_WORD_PREFIX},
    {"historically", PT_AST_HISTORICALLY, PT_WORD_PREFIX},
    {"since", PT_AST_SINCE, PT_WORD_INFIX},
    {"until", PT_AST_UNTIL, PT_WORD_INFIX},
    {"weakuntil", PT_AST_WEAKUNTIL, PT_WORD_INFIX},
    {"release", PT_AST_RELEASE, PT_WORD_INFIX},
    {"start", PT_AST_START, PT_WORD_CALL},
    {"end", PT_AST_END, PT_WORD_CALL},
    {"event", PT_AST_EVENT, PT_WORD_CALL},
    {"read", PT_AST_READ, PT_WORD_CALL},
    {"write", PT_AST_WRITE, PT_WORD_CALL},
    {"race_free", PT_AST_RACE_FREE, PT_WORD_CALL},
    {"atomic_block", PT_AST_ATOMIC_BLOCK, PT_WORD_CALL},
    {"exists", PT_AST_EXISTS, PT_WORD_PREFIX},
    {"forall", PT_AST_FORALL, PT_WORD_PREFIX},
    {"true", PT_AST_BOOL, PT_WORD_PREFIX},
    {"false", PT_AST_BOOL, PT_WORD_PREFIX},
    {"G", PT_AST_ALWAYS, PT_WORD_PREFIX},
    {"F", PT_AST_EVENTUALLY, PT_WORD_PREFIX},
    {"X", PT_AST_NEXT, PT_WORD_PREFIX},
    {"Y", PT_AST_PREVIOUSLY, PT_WORD_PREFIX},
    {"O", PT_AST_ONCE, PT_WORD_PREFIX},
    {"H", PT_AST_HISTORICALLY, PT_WORD_PREFIX},
    {"S", PT_AST_SINCE, PT_WORD_INFIX},
    {"U", PT_AST_UNTIL, PT_WORD_INFIX},
    {"W", PT_AST_WEAKUNTIL, PT_WORD_INFIX},
    {"R", PT_AST_RELEASE, PT_WORD_INFIX},
    {"V", PT_AST_RELEASE, PT_WORD_INFIX},
};

const char *pt_ast_sign(enum pt_ast_kind kind)
{
    assert(operators[kind].sign);
    return operators[kind].sign;
}

enum pt_ast_level pt_ast_level(enum pt_ast_kind kind)
{
    return operators[kind].sign ? (enum pt_ast_level)operators[kind].level : PT_LEVEL_PRIMARY;
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
