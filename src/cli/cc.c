/* portent cc, portent c++: clang's command line, so they have no options of their own to parse here. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/prefix.h"

enum { EXIT_NOT_INSTALLED = 2 };

static int compile(bool cxx, int argc, char **argv)
{
    char prefix[PATH_MAX], runtime[PATH_MAX + 64], include[PATH_MAX + 64], program[PATH_MAX + 64];
    char language[2][4] = {"cc", "c++"};
    struct pt_err err;
    if (!pt_prefix_find(prefix, sizeof prefix) ||
        !pt_prefix_runtime(prefix, "libportent-rt.a", runtime, sizeof runtime) ||
        !pt_prefix_folder(prefix, "include", "portent.h", include, sizeof include)) {
        (void)pt_err_set(&err, PT_EIO, "cannot find libportent-rt.a and portent.h beside the program");
        pt_diag_error(&err);
        return EXIT_NOT_INSTALLED;
    }
    /* A program of its own, because LLVM takes long to load; it takes our place. */
    snprintf(program, sizeof program, "%s/libexec/portent/portent-cc", prefix);
    char **arguments = pt_xcalloc((size_t)argc + 5, sizeof *arguments);
    arguments[0] = program;
    arguments[1] = language[cxx];
    arguments[2] = runtime;
    arguments[3] = include;
    for (int i = 0; i < argc; i++)
        arguments[4 + i] = argv[i];
    execv(program, arguments);
    (void)pt_err_set(&err, PT_EIO, "cannot start %.300s: %s", program, strerror(errno));
    pt_diag_error(&err);
    free(arguments);
    return EXIT_NOT_INSTALLED;
}

/* Who asks clang for help wants ours too, and first. */
static void help(const struct pt_command *command, int argc, char **argv)
{
    struct pt_buf buf;
    if (argc != 1 || strcmp(argv[0], "--help") != 0)
        return;
    pt_buf_init(&buf);
    pt_options_help(command, &buf);
    pt_buf_puts(&buf, "\nWhat clang says of itself:\n\n");
    (void)pt_output(&buf);
    pt_buf_release(&buf);
}

static int run_cc(int argc, char **argv)
{
    help(&pt_command_cc, argc, argv);
    return compile(false, argc, argv);
}

static int run_cxx(int argc, char **argv)
{
    help(&pt_command_cxx, argc, argv);
    return compile(true, argc, argv);
}

static const struct pt_option options_table[] = {{0}};
static const char *const usages[] = {"[CLANG'S ARGUMENTS]", NULL};
static const char about[] =
    "Takes the place of the compiler: clang, with every access that other threads could see "
    "turned into a call of Portent's runtime. Adds -g, and finds <portent.h> and the runtime by "
    "itself. Options are clang's, but for these:\n\n"
    "--only-file=PATTERNS: instrument only functions whose source file matches one of these, as in 'src/*,x.c'.\n"
    "--skip-file=PATTERNS: not those.\n"
    "--skip-function=PATTERNS: not functions of these names.\n\n"
    "As in: portent cc -O2 -pthread prog.c -o prog; make CC='portent cc'; then: portent run -- ./prog";

const struct pt_command pt_command_cc = {
    .name = "cc",
    .summary = "compile C like clang, so that 'run' can follow the program",
    .usages = usages,
    .about = about,
    .options = options_table,
    .run_raw = run_cc,
};

const struct pt_command pt_command_cxx = {
    .name = "c++",
    .summary = "the same for C++",
    .usages = usages,
    .about = about,
    .options = options_table,
    .run_raw = run_cxx,
};
