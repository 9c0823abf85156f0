/*
 * One line of a suppression file: which violations people have decided to live with. The syntax, TYPE:PATTERN, is
 * ThreadSanitizer's; `#` starts a comment line.
 *
 *   property:NAME       a property by its whole name; `*` stands for any text
 *   block:NAME          an atomic block by its whole name, or THREAD/NUMBER where it has none; `*` likewise
 *   race:PATTERN        violations of race_free(...) whose variable, place or thread matches
 *   atomicity:PATTERN   violations of atomic_block(...), in the same way, and atomic blocks whose name, thread or file
 *                       matches
 *
 * In other types than `property` and `block`, PATTERN matches anywhere in the name unless `^` begins or `$` ends it.
 * ThreadSanitizer's types that have no counterpart here (race_top, thread, mutex, signal, deadlock, called_from_lib)
 * are read and match nothing, unless a built-in check (engine/check.h) has the type as its kind: then what it found, by
 * a variable or lock, a place, a thread or a call of either side.
 */
#ifndef PT_CORE_SUPPRESS_H
#define PT_CORE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>

enum pt_suppress_type {
    PT_SUPPRESS_OTHER, /* of ThreadSanitizer, without counterpart */
    PT_SUPPRESS_PROPERTY,
    PT_SUPPRESS_BLOCK,
    PT_SUPPRESS_RACE,
    PT_SUPPRESS_ATOMICITY,
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
/* Whether a name (of a property, a variable, a place, a thread, a block) matches its pattern. */
bool pt_suppress_matches(const struct pt_suppress_rule *rule, const char *name);

/* `*` stands for any text; the pattern may match anywhere unless `^` begins or `$` ends it, or `whole`: it is to match
 * the whole text, and `^` and `$` are ordinary characters. */
bool pt_suppress_pattern(const char *pattern, size_t len, const char *text, bool whole);

#endif
