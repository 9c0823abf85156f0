/*
 * portent: finds the command and runs it. Every command comes from the table pt_commands, so --help, suggestions for
 * misspelt names and shell completion agree. Running out of memory ends in a message and the exit status "unknown",
 * not in a crash.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/made.h"
#include "cli/common/together.h"
#include "cli/common/whatis.h"
#include "cli/watch/live.h"
#include "base/suggest.h"

const struct pt_command *const pt_commands[] = {&pt_command_cc,
                                                &pt_command_cxx,
                                                &pt_command_run,
                                                &pt_command_check,
                                                &pt_command_watch,
                                                &pt_command_model,
                                                &pt_command_automaton,
                                                &pt_command_report,
                                                &pt_command_confirm,
                                                &pt_command_explore,
                                                &pt_command_replay,
                                                &pt_command_ci,
                                                &pt_command_suggest,
                                                &pt_command_convert,
                                                &pt_command_compile,
                                                &pt_command_completion,
                                                NULL};

static void out_of_memory(void)
{
    pt_live_end();
    static const char message[] = "portent: error: out of memory; --memory-limit or a smaller --window may help\n";
    ssize_t n = write(STDERR_FILENO, message, sizeof message - 1);
    (void)n; /* nothing is left to try */
    _exit(PT_EXIT_UNKNOWN);
}

static int help(void)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, "Usage: portent COMMAND [OPTIONS] ...\n\n"
                      "Finds the failing runs that a passing run hides: checks properties on every\n"
                      "order of events that the causal order of one run allows.\n\nCommands:\n");
    for (uint32_t i = 0; pt_commands[i]; i++)
        pt_buf_printf(&buf, "  %-12s %s\n", pt_commands[i]->name, pt_commands[i]->summary);
    pt_buf_puts(&buf, "\n  portent help COMMAND      about one command, as portent COMMAND --help\n"
                      "  portent --version         the version of this program\n");
    bool ok = pt_output(&buf);
    pt_buf_release(&buf);
    return ok ? 0 : PT_EXIT_BAD;
}

static int command_help(const struct pt_command *command)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_options_help(command, &buf);
    bool ok = pt_output(&buf);
    pt_buf_release(&buf);
    return ok ? 0 : PT_EXIT_BAD;
}

static int version(void)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, "portent " PORTENT_VERSION "\n");
    bool ok = pt_output(&buf);
    pt_buf_release(&buf);
    return ok ? 0 : PT_EXIT_BAD;
}

/* What people who know other tools call it. */
static const char *other_name(const char *word)
{
    static const char *const names[][2] = {
        {"gcc", "cc"},      {"clang", "cc"},     {"g++", "c++"},        {"cxx", "c++"},       {"clang++", "c++"},
        {"record", "run"},  {"exec", "run"},     {"test", "run"},       {"race", "run"},      {"races", "run"},
        {"tsan", "run"},    {"verify", "check"}, {"analyze", "check"},  {"analyse", "check"}, {"show", "report"},
        {"html", "report"}, {"fuzz", "explore"}, {"stress", "explore"}, {"monitor", "watch"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], word) == 0)
            return names[i][1];
    return NULL;
}

static int unknown_command(const char *word)
{
    struct pt_err err;
    struct pt_suggest suggest;
    enum pt_file_kind kind = pt_whatis(word);
    const char *other = other_name(word);
    pt_suggest_init(&suggest, word, strlen(word));
    for (uint32_t i = 0; pt_commands[i]; i++)
        pt_suggest_offer(&suggest, pt_commands[i]->name);
    (void)pt_err_set(&err, PT_EUSAGE, "there is no %s '%s'", word[0] == '-' ? "option" : "command", word);
    if (kind != PT_FILE_UNKNOWN) {
        (void)pt_err_set(&err, PT_EUSAGE, "a command is missing: '%s' is %s", word, pt_whatis_words(kind));
        pt_whatis_hint(word, kind, &err);
    } else if (other) {
        pt_err_hint(&err, "'portent %s' does that; see 'portent %s --help'", other, other);
    } else if (suggest.best) {
        pt_err_hint(&err, "did you mean '%s'?", suggest.best);
    } else {
        pt_err_hint(&err, "'portent --help' lists the commands");
    }
    pt_diag_error(&err);
    return PT_EXIT_BAD;
}

static const struct pt_command *find_command(const char *name)
{
    for (uint32_t i = 0; pt_commands[i]; i++) {
        if (strcmp(pt_commands[i]->name, name) == 0)
            return pt_commands[i];
    }
    return NULL;
}

/* portent help [COMMAND] */
static int help_about(int argc, char **argv)
{
    if (argc < 3)
        return help();
    const struct pt_command *command = find_command(argv[2]);
    return command ? command_help(command) : unknown_command(argv[2]);
}

int main(int argc, char **argv)
{
    pt_set_oom_handler(out_of_memory);
    /* A reader that goes away ends us quietly, even when our parent ignores the signal. */
    signal(SIGPIPE, SIG_DFL);
    if (argc < 2) {
        pt_diag_usage(NULL, "a command is missing; 'portent --help' lists them");
        return PT_EXIT_BAD;
    }
    if (strcmp(argv[1], "--version") == 0)
        return version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return help();
    if (strcmp(argv[1], "help") == 0)
        return help_about(argc, argv);
    const struct pt_command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    int alone = command == &pt_command_check ? pt_together_hand_over(argv) : -1;
    if (alone >= 0)
        return alone;
    if (command->run_raw)
        return command->run_raw(argc - 2, argv + 2);
    struct pt_parsed parsed;
    int status = PT_EXIT_BAD;
    pt_made_begin(argc, argv);
    if (pt_options_parse(command, argc - 1, argv + 1, &parsed))
        status = parsed.help ? command_help(command) : command->run(&parsed);
    pt_parsed_release(&parsed);
    return status;
}
