/*
 * Command lines. Each command has one table of options, from which parsing, --help and shell completion all come, so
 * that they cannot disagree.
 */
#ifndef PT_CLI_COMMON_OPTIONS_H
#define PT_CLI_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct pt_option {
    const char *name;     /* without the dashes, NULL: it has a short form only */
    char letter;          /* its short form, 0: none */
    const char *argument; /* what --help calls it, NULL: takes none. FILE, FILE.prop, DIR, TRACE complete as files. */
    const char *choices;  /* the only arguments it takes, separated by spaces; NULL: any */
    const char *help;     /* NULL ends a table */
    bool optional;        /* the argument may be missing, and must come after `=` */
};

/* What a command line said: options in the order given, and what is left. Arguments point into argv. */
struct pt_parsed {
    struct pt_parsed_option {
        uint32_t index; /* into the command's table */
        const char *argument;
    } * options;
    uint32_t option_count;
    const char **operands;
    uint32_t operand_count;
    bool help; /* --help or -h was given */
};

struct pt_command {
    const char *name;
    const char *summary;       /* one line, for `portent --help` */
    const char *const *usages; /* what may follow the name, then NULL */
    const char *about;         /* a paragraph for its own --help */
    const char *operands;      /* choices of its positional argument for completion; NULL: files */
    const struct pt_option *options;
    int (*run)(const struct pt_parsed *parsed); /* returns the exit status */
    int (*run_raw)(int argc, char **argv);      /* instead: its arguments are another program's, --help included */
};

/* False after a message on stderr: bad usage. Release in any case. */
bool pt_options_parse(const struct pt_command *command, int argc, char **argv, struct pt_parsed *ret_parsed);
void pt_parsed_release(struct pt_parsed *parsed);
void pt_options_help(const struct pt_command *command, struct pt_buf *buf);

/* Each prints what is wrong with `text`, the argument of --name, and returns false, or fills its last argument. */
bool pt_parse_count(const char *name, const char *text, uint64_t max, uint64_t *ret_count); /* 1..max */
bool pt_parse_bound(const char *name, const char *text, uint64_t *ret_bound);               /* 1.. or all: PT_ALL */
bool pt_parse_size(const char *name, const char *text, uint64_t *ret_bytes);                /* 1.., K, M, G */
bool pt_parse_time(const char *name, const char *text, uint64_t *ret_ns);                   /* 1.., ms, s, m; all: 0 */

#endif
