/*
 * Syntax trees of properties. One tree for expressions and formulas: which of the two a node is comes out when types
 * are checked. `let` names are references to shared trees, so a property is a graph without cycles; no path through it
 * is longer than PT_AST_MAX_HEIGHT nodes, which makes plain recursion safe everywhere.
 */
#ifndef PT_LOGIC_LANG_AST_H
#define PT_LOGIC_LANG_AST_H

#include "core/code.h"
#include "logic/formula/formula.h"
#include "logic/lang/lex.h"
#include "logic/lang/property.h"

enum { PT_AST_MAX_HEIGHT = 1000 };

/* Arithmetic and comparisons stand in the order of enum pt_code_op, operators of formulas in that of enum pt_fop. */
enum pt_ast_kind {
    PT_AST_NUMBER, /* value; text: its spelling */
    PT_AST_STRING, /* value; text: its spelling, with the quotes */
    PT_AST_BOOL,   /* value: true or false, a formula as well as the number 1 or 0 */
    PT_AST_VAR,    /* var */
    PT_AST_LET,    /* text: the name; a: what it stands for; let: its number within the file */
    PT_AST_RANGE,  /* count, sum, min, max over elements; text: as written; a: the operations on the elements, typed */
    PT_AST_NEG,
    PT_AST_ADD,
    PT_AST_SUB,
    PT_AST_MUL,
    PT_AST_DIV,
    PT_AST_MOD,
    PT_AST_MIN, /* only below PT_AST_RANGE */
    PT_AST_MAX,
    PT_AST_EQ,
    PT_AST_NE,
    PT_AST_LT,
    PT_AST_LE,
    PT_AST_GT,
    PT_AST_GE,
#define PT_OPERATOR_NOW(name, ...)    PT_AST_##name,
#define PT_OPERATOR_FUTURE(name, ...) PT_AST_##name,
#define PT_OPERATOR_PAST(name, ...)   PT_AST_##name,
#include "core/operators.def"
    PT_AST_EVENT,  /* text: the event's name; function: it is a call or a return, or NULL */
    PT_AST_CALLED, /* as words only: what they stand for are events */
    PT_AST_RETURNED,
    PT_AST_READ,         /* var */
    PT_AST_WRITE,        /* var */
    PT_AST_RACE_FREE,    /* var; NULL: race_free(*) */
    PT_AST_ATOMIC_BLOCK, /* text: the block's name */
    PT_AST_KNOWN,        /* @thread a */
    PT_AST_EXISTS,       /* exists text != thread: a; thread.name is NULL where nothing is excluded */
    PT_AST_FORALL,
    PT_AST_AT,      /* a whole property: at thread: a */
    PT_AST_AT_EACH, /* a whole property: at each text: a */
    PT_AST_KINDS,
};

enum pt_type {
    PT_TYPE_FORMULA,
    PT_TYPE_NUMBER, /* may be used as a formula, meaning != 0 */
    PT_TYPE_STRING,
    PT_TYPE_ANY, /* a variable: the trace decides */
};

/* A thread that is named. Whoever evaluates looks `name` up among the variables bound around it first. */
struct pt_ast_thread {
    const char *name;   /* as written */
    const char *target; /* what `thread NAME = ...` declares it to be; otherwise the name again */
};

struct pt_ast {
    uint8_t kind;
    uint8_t type;                        /* set by pt_ast_check, as the three below */
    bool has_future, has_past, has_mttl; /* somewhere below, references included */
    bool has_races, only_races;          /* the same of race_free(...); nothing else but conjunctions of it */
    uint32_t height;
    struct pt_place place; /* of its first token; of the operator, for binary ones */
    struct pt_ast *a, *b;
    const char *text;
    uint32_t let;
    struct pt_value value;
    const struct pt_varref *var;
    const struct pt_function_event *function;
    struct pt_ast_thread thread;
};

/* The operator in the language's own words, "always", "&&". */
const char *pt_ast_sign(enum pt_ast_kind kind);
/* How tightly a binary operator or a prefix binds. */
enum pt_level pt_ast_level(enum pt_ast_kind kind);

/* Words that are operators. PREFIX and INFIX ones are reserved; CALL ones only count before '('. */
enum pt_word_use { PT_WORD_PREFIX, PT_WORD_INFIX, PT_WORD_CALL };
struct pt_word {
    const char *text;
    uint8_t kind; /* enum pt_ast_kind */
    uint8_t use;
};
const struct pt_word *pt_word_find(const char *text, size_t len); /* NULL: an ordinary name */
const struct pt_word *pt_words(size_t *ret_count);
/* What to write instead of a word of other languages ("not", "and", "globally"), or NULL. */
const char *pt_word_synonym(const char *text, size_t len);

static inline bool pt_ast_is_comparison(enum pt_ast_kind kind)
{
    return kind >= PT_AST_EQ && kind <= PT_AST_GE;
}
static inline bool pt_ast_is_arithmetic(enum pt_ast_kind kind)
{
    return kind >= PT_AST_NEG && kind <= PT_AST_MAX;
}
static inline bool pt_ast_is_logical(enum pt_ast_kind kind)
{
    return kind >= PT_AST_NOT && kind < PT_AST_EVENT;
}
static inline bool pt_ast_is_past(enum pt_ast_kind kind)
{
    return kind >= PT_AST_PREVIOUSLY && kind < PT_AST_EVENT;
}
static inline enum pt_fop pt_ast_fop(enum pt_ast_kind kind)
{
    return (enum pt_fop)(kind - PT_AST_NOT + PT_F_NOT);
}
static inline enum pt_code_op pt_ast_code_op(enum pt_ast_kind kind)
{
    return (enum pt_code_op)(kind - PT_AST_NEG + PT_CODE_NEG);
}
_Static_assert(PT_AST_GE - PT_AST_NEG == PT_CODE_GE - PT_CODE_NEG, "expression operators in step");

/* Where a formula stands decides which operators it may use. */
struct pt_check {
    const struct pt_prop_source *source;
    bool no_future, no_past, no_mttl, no_races;
    const char *place; /* "an 'at' property", for messages */
    struct pt_err *err;
    bool no_conditions; /* on the arguments of calls */
};
/*
 * Types the tree and checks it as a formula (or, for the right side of a `let`, as either). The trees that `let` names
 * refer to have been checked before.
 */
enum pt_status pt_ast_check(const struct pt_check *check, struct pt_ast *node) PT_WARN_UNUSED;
enum pt_status pt_ast_check_formula(const struct pt_check *check, struct pt_ast *node) PT_WARN_UNUSED;
/* The same of the formula of a property, in which race_free(...) stands alone or with others of its kind: *ret_races:
 * it does. */
enum pt_status pt_ast_check_races(const struct pt_check *check, struct pt_ast *node, bool *ret_races) PT_WARN_UNUSED;

#endif
