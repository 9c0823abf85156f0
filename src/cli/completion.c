/*
 * portent completion: scripts for shells, written from the same option tables that parse command lines. Arguments
 * called FILE, DIR or TRACE, and operands of commands without a list of their own, complete as file names; FILE.prop,
 * only as folders and files of that ending.
 */
#include <string.h>

#include "cli/commands.h"
#include "cli/common/diag.h"

static bool wants_file(const struct pt_option *option)
{
    return option->argument && (strncmp(option->argument, "FILE", 4) == 0 || strcmp(option->argument, "DIR") == 0 ||
                                strcmp(option->argument, "TRACE") == 0);
}

/* The ending of the files an option takes, with its dot; NULL: any. */
static const char *file_ending(const struct pt_option *option)
{
    return option->argument ? strchr(option->argument, '.') : NULL;
}

/* Inside single quotes; `also` lists characters that the shell's own notation needs a backslash before. */
static void put_quoted(struct pt_buf *buf, const char *text, const char *also)
{
    for (; *text; text++) {
        if (*text == '\'')
            pt_buf_puts(buf, "'\\''");
        else if (strchr(also, *text))
            pt_buf_printf(buf, "\\%c", *text);
        else
            pt_buf_add(buf, text, 1);
    }
}

/* The commands' names, with spaces between them. */
static void put_names(struct pt_buf *buf)
{
    for (uint32_t i = 0; pt_commands[i]; i++)
        pt_buf_printf(buf, "%s%s", i ? " " : "", pt_commands[i]->name);
}

static void bash_options(const struct pt_command *command, struct pt_buf *buf)
{
    pt_buf_printf(buf, "    %s)\n        case $prev in\n", command->name);
    for (const struct pt_option *o = command->options; o->help; o++) {
        if (!o->argument || o->optional)
            continue;
        pt_buf_puts(buf, "        ");
        if (o->letter)
            pt_buf_printf(buf, "-%c%s", o->letter, o->name ? "|" : ") ");
        if (o->name)
            pt_buf_printf(buf, "--%s) ", o->name);
        if (o->choices)
            pt_buf_printf(buf, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", o->choices);
        else if (file_ending(o))
            pt_buf_printf(buf, "mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"; compgen -f -X '!*%s' -- \"$cur\")",
                          file_ending(o));
        else if (wants_file(o))
            pt_buf_puts(buf, "mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
        else
            pt_buf_puts(buf, "COMPREPLY=()");
        pt_buf_puts(buf, "; return ;;\n");
    }
    pt_buf_puts(buf, "        esac\n        words='--help");
    for (const struct pt_option *o = command->options; o->help; o++) {
        if (o->name)
            pt_buf_printf(buf, " --%s", o->name);
        else
            pt_buf_printf(buf, " -%c", o->letter);
    }
    pt_buf_printf(buf, "'\n        operands='%s'\n        ;;\n", command->operands ? command->operands : "");
}

static void put_bash(struct pt_buf *buf)
{
    pt_buf_puts(buf, "# bash completion for portent\n_portent() {\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words operands\n"
                     "    # --name=value arrives as three words\n"
                     "    if [[ $cur == = ]]; then cur=\n"
                     "    elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                     "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W '--help --version help ");
    put_names(buf);
    pt_buf_puts(buf, "' -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n    help) operands='");
    put_names(buf);
    pt_buf_puts(buf, "' ;;\n");
    for (uint32_t i = 0; pt_commands[i]; i++)
        bash_options(pt_commands[i], buf);
    pt_buf_puts(buf, "    esac\n    # after -- everything is the program's own\n"
                     "    if [[ \" ${COMP_WORDS[*]:2:COMP_CWORD-2} \" == *' -- '* ]]; then words= operands=; fi\n"
                     "    if [[ $words && $cur == -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                     "    elif [[ $operands ]]; then COMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n"
                     "    else mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); fi\n}\n"
                     "complete -o filenames -F _portent portent\n");
}

static void zsh_argument(const struct pt_option *o, struct pt_buf *buf)
{
    pt_buf_printf(buf, ":%s:", o->argument);
    if (file_ending(o))
        pt_buf_printf(buf, "_files -g \"*%s\"", file_ending(o));
    else
        pt_buf_puts(buf, wants_file(o) ? "_files" : " ");
}

static void zsh_option(const struct pt_option *o, struct pt_buf *buf)
{
    /* Every option may be repeated as far as completion knows. */
    for (int form = o->letter ? 0 : 1; form < (o->name ? 2 : 1); form++) {
        pt_buf_puts(buf, " \\\n            '*");
        if (form == 0)
            pt_buf_printf(buf, "-%c%s", o->letter, o->argument ? "+" : "");
        else
            pt_buf_printf(buf, "--%s%s", o->name, o->argument && !o->optional ? "=" : "");
        pt_buf_puts(buf, "[");
        put_quoted(buf, o->help, "[]\\");
        pt_buf_puts(buf, "]");
        if (o->choices)
            pt_buf_printf(buf, ":%s:(%s)", o->argument, o->choices);
        else if (o->argument && !o->optional)
            zsh_argument(o, buf);
        pt_buf_puts(buf, "'");
    }
}

static void put_zsh(struct pt_buf *buf)
{
    pt_buf_puts(buf, "#compdef portent\n_portent() {\n    local -a commands=(\n");
    for (uint32_t i = 0; pt_commands[i]; i++) {
        pt_buf_printf(buf, "        '%s:", pt_commands[i]->name);
        put_quoted(buf, pt_commands[i]->summary, ":\\");
        pt_buf_puts(buf, "'\n");
    }
    pt_buf_puts(buf, "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n"
                     "        return\n    fi\n"
                     "    local command=$words[2]\n    shift words\n    ((CURRENT--))\n    case $command in\n"
                     "    help)\n        _describe command commands\n        ;;\n");
    for (uint32_t i = 0; pt_commands[i]; i++) {
        const struct pt_command *command = pt_commands[i];
        pt_buf_printf(buf, "    %s)\n        _arguments '(-h --help)'{-h,--help}'[show help]'", command->name);
        for (const struct pt_option *o = command->options; o->help; o++)
            zsh_option(o, buf);
        if (command->operands)
            pt_buf_printf(buf, " \\\n            ':operand:(%s)'", command->operands);
        else
            pt_buf_puts(buf, " \\\n            '*:file:_files'");
        pt_buf_puts(buf, "\n        ;;\n");
    }
    pt_buf_puts(buf, "    esac\n}\n_portent \"$@\"\n");
}

static void put_fish(struct pt_buf *buf)
{
    pt_buf_puts(buf, "# fish completion for portent\n"
                     "complete -c portent -n __fish_use_subcommand -f -l help -d 'show help'\n"
                     "complete -c portent -n __fish_use_subcommand -f -l version -d 'show the version'\n");
    pt_buf_puts(buf, "complete -c portent -n __fish_use_subcommand -f -a help -d 'about a command'\n"
                     "complete -c portent -n '__fish_seen_subcommand_from help' -f -a '");
    put_names(buf);
    pt_buf_puts(buf, "'\n");
    for (uint32_t i = 0; pt_commands[i]; i++) {
        const struct pt_command *command = pt_commands[i];
        pt_buf_printf(buf, "complete -c portent -n __fish_use_subcommand -f -a %s -d '", command->name);
        put_quoted(buf, command->summary, "\\");
        pt_buf_puts(buf, "'\n");
        pt_buf_printf(buf, "complete -c portent -n '__fish_seen_subcommand_from %s' -l help -d 'show help'\n",
                      command->name);
        if (command->operands)
            pt_buf_printf(buf, "complete -c portent -n '__fish_seen_subcommand_from %s' -f -a '%s'\n", command->name,
                          command->operands);
        for (const struct pt_option *o = command->options; o->help; o++) {
            pt_buf_printf(buf, "complete -c portent -n '__fish_seen_subcommand_from %s'", command->name);
            if (o->name)
                pt_buf_printf(buf, " -l %s", o->name);
            if (o->letter)
                pt_buf_printf(buf, " -s %c", o->letter);
            if (o->choices)
                pt_buf_printf(buf, " -x -a '%s'", o->choices);
            else if (file_ending(o))
                pt_buf_printf(buf, " -x -a '(__fish_complete_suffix %s)'", file_ending(o));
            else if (o->argument && !o->optional)
                pt_buf_puts(buf, wants_file(o) ? " -r" : " -x");
            pt_buf_puts(buf, " -d '");
            put_quoted(buf, o->help, "\\");
            pt_buf_puts(buf, "'\n");
        }
    }
}

static const struct {
    const char *name;
    void (*put)(struct pt_buf *buf);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

static int run(const struct pt_parsed *parsed)
{
    const char *shell = parsed->operand_count == 1 ? parsed->operands[0] : "";
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shell, shells[i].name) != 0)
            continue;
        struct pt_buf buf;
        pt_buf_init(&buf);
        shells[i].put(&buf);
        bool ok = pt_output(&buf);
        pt_buf_release(&buf);
        return ok ? 0 : PT_EXIT_BAD;
    }
    pt_diag_usage("completion", "completion takes the name of a shell: bash, zsh or fish");
    return PT_EXIT_BAD;
}

static const struct pt_option options_table[] = {{0}};
static const char *const usages[] = {"bash|zsh|fish", NULL};

const struct pt_command pt_command_completion = {
    .name = "completion",
    .summary = "print a completion script for a shell",
    .usages = usages,
    .about = "Prints a script that completes portent's commands and options. For bash: source <(portent completion "
             "bash)",
    .operands = "bash zsh fish",
    .options = options_table,
    .run = run,
};
