/*
 * The property language (contract section 2): from the text of .prop files to properties whose atoms are compiled and
 * whose formulas stand over numbered atoms. No I/O: files that properties name are fetched through a callback.
 */
#ifndef PT_LOGIC_LANG_PROPERTY_H
#define PT_LOGIC_LANG_PROPERTY_H

#include "base/err.h"
#include "core/code.h"
#include "logic/automaton/automaton.h"
#include "logic/ere/ere.h"
#include "logic/formula/formula.h"

enum pt_kind {
    PT_KIND_LTL,
    PT_KIND_ERE,
    PT_KIND_HOA,
    PT_KIND_MONITOR, /* a user's own module; never made by the parser */
    PT_KIND_MTTL,    /* `at T:`, `at each V:` */
    PT_KIND_RACE,    /* race_free(...), with and without `at` */
};

/* A program variable a property names. Without a declaration all three names are the same. */
struct pt_varref {
    const char *name;      /* as formulas call it */
    const char *target;    /* what it stands for: [file.c:]path, as written after `var NAME =` */
    const char *path;      /* target without the file */
    uint32_t line, column; /* of the path in its `var` statement; 0: it has none */
};

enum { PT_MAX_ATOMS = 64 };

/* A comparison, or event(NAME). */
struct pt_atom {
    const char *text;     /* its source text on one line; a bare name is itself */
    uint32_t event;       /* index into the property's events, or PT_NONE */
    struct pt_code code;  /* otherwise: yields a truth value; PT_CODE_VAR indexes the property's vars */
    const uint32_t *vars; /* the variables it reads, each once */
    uint32_t var_count;
    uint32_t line, column; /* where it stands first */
};

/* call(f), return(f), call(f, $1 > 3 && $2 == 0): user events that bear such names, made by the program's functions. */
struct pt_condition {
    uint32_t argument; /* from 1 */
    enum pt_code_op op;
    struct pt_value value;
};
struct pt_function_event {
    const char *base;     /* without conditions: "call(f)" */
    const char *function; /* "f" */
    const struct pt_condition *conditions;
    uint32_t condition_count;
};
enum { PT_MAX_CONDITIONED = 4 }; /* events of one function with different conditions, in one property */

struct pt_ast; /* the syntax tree, logic/lang/ast.h */

struct pt_property {
    const char *name;
    const char *file; /* where it stands */
    uint32_t line, column;
    const char *text; /* what stands between ':' and ';', on one line, comments dropped */
    enum pt_kind kind;
    bool of_pattern; /* names of lets in its tree are those of this use of a pattern, not of the file */

    bool within;        /* `within D:`, with any of ltl and hoa */
    bool within_events; /* D counts events, not nanoseconds */
    uint64_t within_bound;

    /* All kinds but mttl and race: formulas below stand in this pool, over these atoms. */
    struct pt_fpool pool;
    struct pt_atom *atoms;
    uint32_t atom_count;    /* at most PT_MAX_ATOMS; more is an error of the parser */
    struct pt_varref *vars; /* each variable the property names after let expansion, once */
    uint32_t var_count;
    const char **events; /* each user event it names, once; then what calls are of which it names several */
    uint32_t event_count, named_events;
    const struct pt_function_event **functions; /* by event < named_events; NULL: a user event of that very name */
    uint64_t *event_sets;                       /* by event: the named ones that it is, as bits; not of mttl */

    pt_formula formula; /* ltl */

    struct pt_ere_pool *eres; /* ere: of bad prefixes; letter i stands for the propositional formula letters[i] */
    pt_ere ere;
    pt_formula *letters;
    uint32_t letter_count;

    struct pt_automaton *automaton; /* hoa: as read, over its own propositions; */
    pt_formula *bindings;           /* proposition i stands for the propositional formula bindings[i] */

    const struct pt_ast *ast; /* the whole property, for mttl */

    /* race: no races on its `vars`, or on anything; of one thread with any other, by what its name stands for, or NULL:
     * of all. */
    bool races_everywhere;
    const char *races_at;
};

struct pt_properties {
    struct pt_property *items;
    uint32_t count;
    struct pt_properties_impl *impl; /* arena and symbol tables */
};

/* Asked for with this in front, a pattern of the library: its name follows. What is fetched is the name of its file, a
 * NUL, and what that holds. */
#define PT_FETCH_PATTERN "pattern:"
/*
 * Fetches a file that a property names. `path` is already relative to the .prop file's folder. On success the caller
 * frees *ret_text.
 */
typedef enum pt_status (*pt_fetch)(void *context, const char *path, char **ret_text, size_t *ret_len,
                                   struct pt_err *err);

struct pt_properties *pt_properties_new(void);
void pt_properties_free(struct pt_properties *props);
/*
 * Adds the properties of one file. `let`, `var` and `thread` names are local to the file; property names must be
 * unique over all files. Errors carry file, line, column, the source line, and the nearest name where one was unknown.
 */
enum pt_status pt_properties_add(struct pt_properties *props, const char *file, const char *text, size_t len,
                                 pt_fetch fetch, void *fetch_context, struct pt_err *err) PT_WARN_UNUSED;
/* A single formula from the command line (`portent automaton 'FORMULA'`): what may stand after `property NAME:`. */
enum pt_status pt_properties_add_formula(struct pt_properties *props, const char *text,
                                         struct pt_err *err) PT_WARN_UNUSED;
/*
 * Which of the property's events a user event of this name is, PT_NONE: none. PT_EINPUT: the name has not the argument
 * that a condition asks for.
 */
enum pt_status pt_property_event(const struct pt_property *property, const char *name, uint32_t *ret_event,
                                 struct pt_err *err) PT_WARN_UNUSED;
/* Is it the call or the return of a function, by its name? That name without arguments, for the caller to free; NULL:
 * it is none. */
bool pt_is_function_event(const char *name);
char *pt_function_event_base(const char *name);
/* The `let` name or declared name nearest to `name` if it is near enough to be a slip of the pen, else NULL; for
 * warnings about variables that never appear. */
const char *pt_properties_nearest(const struct pt_properties *props, const char *name);

#endif
