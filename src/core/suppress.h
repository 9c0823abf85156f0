/*
 * One line of a suppression file: which violations people have decided to live with. The syntax, TYPE:PATTERN, is
 * ThreadSanitizer's; `#` starts a comment line.
 *
 *   property:NAME       a property by its whole name; `*` stands for any text
 *   block:NAME          an atomic block by its whole name, or THREAD/NUMBER where it has none; `*` likewise
 *   race:PATTERN        violations of race_free(...) whose variable, place or thread matches, and what built-in checks
 *                       found: a race or a wrong lifetime by its variable, a thread, or a call (function, file, place)
 * of a side's stack or of where its thread was created race_top:PATTERN    the same by the innermost call of a side
 *   deadlock:PATTERN    a deadlock by a lock, a thread or a call, in the same way
 *   mutex:PATTERN       a deadlock by a lock
 *   lifetime:PATTERN    a wrong lifetime, as race: does
 *   thread:PATTERN      what any built-in check found, by a thread's name
 *   called_from_lib:PATTERN   the same by the file of any call
 *   atomicity:PATTERN   violations of atomic_block(...) whose variable, place or thread matches, and atomic blocks
 * whose name, thread or file matches
 *
 * In other types than `property` and `block`, PATTERN matches anywhere in the name unless `^` begins or `$` ends it.
 * ThreadSanitizer's `signal`, which has no counterpart here, is read and matches nothing.
 */
#ifndef PT_CORE_SUPPRESS_H
#define PT_CORE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

enum pt_suppress_type {
    PT_SUPPRESS_OTHER, /* of the check that has this kind; of ThreadSanitizer, without counterpart */
    PT_SUPPRESS_PROPERTY,
    PT_SUPPRESS_BLOCK,
    PT_SUPPRESS_RACE,
    PT_SUPPRESS_ATOMICITY,
    PT_SUPPRESS_RACE_TOP,
    PT_SUPPRESS_MUTEX,
    PT_SUPPRESS_THREAD,
    PT_SUPPRESS_FILE,
};

/* By which names of a built-in check's finding. */
enum pt_suppress_by {
    PT_SUPPRESS_BY_OBJECT = 1, /* a variable or lock that a side is about */
    PT_SUPPRESS_BY_CALL = 2,   /* any call of a stack */
    PT_SUPPRESS_BY_TOP = 4,    /* the innermost call of a side */
    PT_SUPPRESS_BY_THREAD = 8,
    PT_SUPPRESS_BY_LOCK = 16, /* that a side has locked */
    PT_SUPPRESS_BY_FILE = 32, /* of any call */
};

/* A suppression. It points into its line, which need not be NUL-terminated. */
struct pt_suppress_rule {
    enum pt_suppress_type type;
    const char *text, *pattern; /* all of it without blanks around it; what follows the colon, to the same end */
    size_t text_len, pattern_len;
};

enum pt_suppress_line {
    PT_SUPPRESS_BLANK, /* or a comment */
    PT_SUPPRESS_RULE,
    PT_SUPPRESS_NO_PATTERN, /* it is not TYPE:PATTERN */
    PT_SUPPRESS_NO_TYPE,    /* the type does not exist */
    PT_SUPPRESS_NUL,        /* it has a NUL character inside */
};
/* Takes a line without its newline apart. Unless it is blank, `text` is set, so that an error can show it. */
enum pt_suppress_line pt_suppress_parse(const char *line, size_t len, struct pt_suppress_rule *ret_rule);

/* Whether it is about every violation of the property with this name. */
bool pt_suppress_names(const struct pt_suppress_rule *rule, const char *property);
/* Whether it is about those violations of a property with this text that have a name which matches. */
bool pt_suppress_asks_names(const struct pt_suppress_rule *rule, const char *text);
/* enum pt_suppress_by, or-ed: which names of a finding of this kind ("race", "deadlock", "lifetime", or a check's own
 * word) it asks for. The type that is the kind's own
 * word asks for its object, calls and threads. */
unsigned pt_suppress_asks(const struct pt_suppress_rule *rule, const char *kind);
/* Whether a call matches: its function, its file, or `file:line`. */
bool pt_suppress_matches_call(const struct pt_suppress_rule *rule, const char *function, const char *file,
                              const char *place);
/* Whether a name (of a property, a variable, a place, a thread, a block) matches its pattern. */
bool pt_suppress_matches(const struct pt_suppress_rule *rule, const char *name);

/* `*` stands for any text; the pattern may match anywhere unless `^` begins or `$` ends it, or `whole`: it is to match
 * the whole text, and `^` and `$` are ordinary characters. */
bool pt_suppress_pattern(const char *pattern, size_t len, const char *text, bool whole);

#endif
