/*
 * Parsing of command lines and --help, both from a command's one table of options. Options and operands may be mixed,
 * `--` ends the options; a mistake is answered with the nearest name that exists. Arguments point into argv, so
 * nothing is copied.
 */
#include "cli/common/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/common/diag.h"
#include "base/suggest.h"
#include "finding/finding.h"
#include "report/style.h"

enum { HELP_WIDTH = 79, HELP_COLUMN = 28 };

/* Whether its command line goes on with a program's. */
static bool runs_program(const struct pt_command *command)
{
    for (uint32_t i = 0; command->usages[i]; i++)
        if (strstr(command->usages[i], "-- PROGRAM"))
            return true;
    return false;
}

/* `dashed` is how the option was written. Behind the program's name it is likely to be the program's. */
static void unknown_option(const struct pt_command *command, const struct pt_parsed *parsed, const char *dashed)
{
    struct pt_suggest suggest;
    const char *word = dashed + 2;
    pt_suggest_init(&suggest, dashed[1] == '-' ? word : "", dashed[1] == '-' ? strlen(word) : 0);
    pt_suggest_offer(&suggest, "help");
    for (const struct pt_option *o = command->options; o->help; o++) {
        if (o->name)
            pt_suggest_offer(&suggest, o->name);
    }
    struct pt_err err;
    (void)pt_err_set(&err, PT_EUSAGE, "%s has no option '%s'", command->name, dashed);
    if (runs_program(command) && parsed->operand_count)
        pt_err_hint(&err, "if it is the program's, '--' goes before the program: portent %s ... -- %s %s ...",
                    command->name, parsed->operands[parsed->operand_count - 1], dashed);
    else if (suggest.best)
        pt_err_hint(&err, "did you mean '--%s'?", suggest.best);
    else if (dashed[1] != '-')
        pt_err_hint(&err, "what begins with '-' and is no option goes after '--'; see 'portent %s --help'",
                    command->name);
    else
        pt_err_hint(&err, "'portent %s --help' lists its options", command->name);
    pt_diag_error(&err);
}

static bool is_choice(const char *choices, const char *word)
{
    size_t len = strlen(word);
    for (const char *c = choices; *c;) {
        size_t n = strcspn(c, " ");
        if (n == len && memcmp(c, word, n) == 0)
            return true;
        c += n + (c[n] == ' ');
    }
    return false;
}

static bool add_option(const struct pt_command *command, uint32_t index, const char *argument, size_t *cap,
                       struct pt_parsed *parsed)
{
    const struct pt_option *option = &command->options[index];
    if (argument && option->choices && !is_choice(option->choices, argument)) {
        pt_diag_usage(command->name, "--%s takes one of: %s; not '%s'", option->name, option->choices, argument);
        return false;
    }
    PT_PUSH(parsed->options, parsed->option_count, *cap, ((struct pt_parsed_option){index, argument}));
    return true;
}

static bool has_name(const struct pt_option *option, const char *name)
{
    return option->name && strcmp(option->name, name) == 0;
}

/* --name, --name=argument, --name argument. *at is the word's index and moves on when the argument is the next word. */
static bool parse_long(const struct pt_command *command, int argc, char **argv, int *at, size_t *cap,
                       struct pt_parsed *parsed)
{
    const char *word = argv[*at] + 2, *equals = strchr(word, '=');
    char *name = pt_xstrdup(word);
    name[strcspn(name, "=")] = '\0';
    uint32_t index = 0;
    while (command->options[index].help && !has_name(&command->options[index], name))
        index++;
    const struct pt_option *option = &command->options[index];
    bool ok = false;
    if (strcmp(name, "help") == 0 && !equals) {
        parsed->help = ok = true;
    } else if (!option->help) {
        struct pt_buf dashed;
        pt_buf_init(&dashed);
        pt_buf_printf(&dashed, "--%s", name);
        unknown_option(command, parsed, dashed.text);
        pt_buf_release(&dashed);
    } else if (!option->argument && equals) {
        pt_diag_usage(command->name, "--%s takes no argument", option->name);
    } else if (option->argument && !option->optional && !equals && *at + 1 >= argc) {
        pt_diag_usage(command->name, "--%s needs an argument: %s", option->name, option->argument);
    } else {
        const char *argument = !option->argument ? NULL : equals ? equals + 1 : option->optional ? NULL : argv[++*at];
        ok = add_option(command, index, argument, cap, parsed);
    }
    free(name);
    return ok;
}

/* -s FILE, -sFILE, -q; letters without arguments may stand together. */
static bool parse_short(const struct pt_command *command, int argc, char **argv, int *at, size_t *cap,
                        struct pt_parsed *parsed)
{
    for (const char *letter = argv[*at] + 1; *letter; letter++) {
        uint32_t index = 0;
        while (command->options[index].help && command->options[index].letter != *letter)
            index++;
        const struct pt_option *option = &command->options[index];
        if (*letter == 'h') {
            parsed->help = true;
            continue;
        }
        if (!option->help) {
            unknown_option(command, parsed, (char[]){'-', *letter, '\0'});
            return false;
        }
        if (!option->argument) {
            if (!add_option(command, index, NULL, cap, parsed))
                return false;
            continue;
        }
        if (letter[1])
            return add_option(command, index, letter + 1, cap, parsed);
        if (*at + 1 < argc)
            return add_option(command, index, argv[++*at], cap, parsed);
        pt_diag_usage(command->name, "-%c needs an argument: %s", *letter, option->argument);
        return false;
    }
    return true;
}

bool pt_options_parse(const struct pt_command *command, int argc, char **argv, struct pt_parsed *ret_parsed)
{
    size_t option_cap = 0, operand_cap = 0;
    bool options_end = false;
    *ret_parsed = (struct pt_parsed){0};
    for (int i = 1; i < argc; i++) {
        bool ok = true;
        if (options_end || argv[i][0] != '-' || argv[i][1] == '\0')
            PT_PUSH(ret_parsed->operands, ret_parsed->operand_count, operand_cap, argv[i]);
        else if (strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (argv[i][1] == '-')
            ok = parse_long(command, argc, argv, &i, &option_cap, ret_parsed);
        else
            ok = parse_short(command, argc, argv, &i, &option_cap, ret_parsed);
        if (!ok)
            return false;
    }
    return true;
}

void pt_parsed_release(struct pt_parsed *parsed)
{
    free(parsed->options);
    free(parsed->operands);
    *parsed = (struct pt_parsed){0};
}

static void help_entry(const char *head, const char *help, struct pt_buf *buf)
{
    size_t len = strlen(head);
    if (len + 2 > HELP_COLUMN) {
        pt_buf_printf(buf, "%s\n", head);
        pt_style_wrap(buf, help, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
        return;
    }
    /* The wrapped text's first line is indented by what is left after the head. */
    pt_buf_puts(buf, head);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_style_wrap(&text, help, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
    pt_buf_puts(buf, text.text + len);
    pt_buf_release(&text);
}

void pt_options_help(const struct pt_command *command, struct pt_buf *buf)
{
    for (uint32_t i = 0; command->usages[i]; i++)
        pt_buf_printf(buf, "%s portent %s %s\n", i ? "      " : "Usage:", command->name, command->usages[i]);
    pt_buf_puts(buf, "\n");
    for (const char *part = command->about; *part;) {
        size_t len = strcspn(part, "\n");
        struct pt_buf line;
        pt_buf_init(&line);
        pt_buf_add(&line, part, len);
        pt_style_wrap(buf, line.text, 0, 0, HELP_WIDTH);
        pt_buf_release(&line);
        part += len + (part[len] == '\n');
    }
    if (command->run_raw)
        return;
    pt_buf_puts(buf, "\nOptions:\n");
    for (const struct pt_option *o = command->options; o->help; o++) {
        struct pt_buf head;
        pt_buf_init(&head);
        if (o->letter)
            pt_buf_printf(&head, "  -%c%s", o->letter, o->name ? ", " : "");
        else
            pt_buf_puts(&head, "      ");
        if (o->name)
            pt_buf_printf(&head, "--%s", o->name);
        if (o->argument)
            pt_buf_printf(&head, o->optional ? "[%s%s]" : "%s%s", o->name ? "=" : " ", o->argument);
        help_entry(head.text, o->help, buf);
        pt_buf_release(&head);
    }
    help_entry("  -h, --help", "show this text", buf);
}

/* Digits only, unlike strtoull, which takes signs and spaces. *ret_rest is what follows them. */
static bool digits(const char *text, uint64_t *ret_number, const char **ret_rest)
{
    size_t len = strspn(text, "0123456789");
    errno = 0;
    uint64_t number = strtoull(text, NULL, 10);
    if (len == 0 || errno)
        return false;
    *ret_number = number;
    *ret_rest = text + len;
    return true;
}

bool pt_parse_count(const char *name, const char *text, uint64_t max, uint64_t *ret_count)
{
    uint64_t number;
    const char *rest;
    if (!digits(text, &number, &rest) || *rest || number < 1 || number > max) {
        pt_diag_usage(NULL, "--%s takes a number from 1 to %llu, not '%s'", name, (unsigned long long)max, text);
        return false;
    }
    *ret_count = number;
    return true;
}

bool pt_parse_bound(const char *name, const char *text, uint64_t *ret_bound)
{
    uint64_t number;
    const char *rest;
    if (strcmp(text, "all") == 0) {
        *ret_bound = PT_ALL;
        return true;
    }
    if (!digits(text, &number, &rest) || *rest || number < 1 || number >= PT_ALL) {
        const char *dashes = name[1] ? "--" : "-";
        pt_diag_usage(NULL, "%s%s takes a number of at least 1, or 'all', not '%s'", dashes, name, text);
        return false;
    }
    *ret_bound = number;
    return true;
}

bool pt_parse_size(const char *name, const char *text, uint64_t *ret_bytes)
{
    static const char units[] = "KMG";
    uint64_t number = 0;
    const char *rest;
    unsigned shift = 0;
    bool ok = digits(text, &number, &rest) && number >= 1;
    if (ok && *rest) {
        const char *unit = strchr(units, *rest);
        ok = unit && rest[1] == '\0';
        shift = ok ? 10 * (unsigned)(unit - units + 1) : 0;
    }
    if (!ok || number > UINT64_MAX >> shift) {
        pt_diag_usage(NULL, "--%s takes a size such as 500M or 2G, not '%s'", name, text);
        return false;
    }
    *ret_bytes = number << shift;
    return true;
}

bool pt_parse_time(const char *name, const char *text, uint64_t *ret_ns)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"ms", 1000000}, {"s", 1000000000}, {"", 1000000000}, {"m", 60000000000}};
    uint64_t number = 0;
    const char *rest;
    if (strcmp(text, "all") == 0) {
        *ret_ns = 0;
        return true;
    }
    bool ok = digits(text, &number, &rest) && number >= 1;
    for (size_t i = 0; ok && i < sizeof units / sizeof *units; i++)
        if (strcmp(rest, units[i].unit) == 0 && number <= INT64_MAX / units[i].ns) {
            *ret_ns = number * units[i].ns;
            return true;
        }
    pt_diag_usage(NULL, "--%s takes a time such as 500ms, 10s or 2m, or 'all'; not '%s'", name, text);
    return false;
}
