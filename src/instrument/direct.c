/*
 * The usual command line of a build, `-O2 -Wall -I... -MMD -c x.c -o x.o`: one source, one object. What clang makes of
 * it is known without asking: one job, in clang's own process. So it is given to clang as it is, with the plug-in, and
 * the start of clang that a plan costs is saved.
 *
 * Known are the options listed here, which say something about the language, warnings, or the code of single functions.
 * All others, and whatever makes clang read options from elsewhere, call for a plan: it is never wrong, only slower.
 *
 * Cost: linear in the command line.
 */
#include "instrument/direct.h"

#include <stdlib.h>

struct option {
    const char *name;
    enum {
        WHOLE,    /* it stands alone */
        PREFIX,   /* it goes on: -Wall */
        VALUED,   /* its value goes on in it or is the next argument: -I */
        SEPARATE, /* its value is the next argument */
    } form;
    bool product; /* says what to write beside the object */
};

static const struct option known[] = {
    {"-c", WHOLE, true},
    {"-o", VALUED, true},
    {"-MD", WHOLE, true},
    {"-MMD", WHOLE, true},
    {"-MP", WHOLE, true},
    {"-MF", VALUED, true},
    {"-MT", VALUED, true},
    {"-MQ", VALUED, true},
    {"-I", VALUED, false},
    {"-D", VALUED, false},
    {"-U", VALUED, false},
    {"-isystem", VALUED, false},
    {"-iquote", VALUED, false},
    {"-idirafter", VALUED, false},
    {"-include", SEPARATE, false},
    {"-W", PREFIX, false},
    {"-w", WHOLE, false},
    {"-pedantic", WHOLE, false},
    {"-pedantic-errors", WHOLE, false},
    {"-std=", PREFIX, false},
    {"-stdlib=", PREFIX, false},
    {"-ansi", WHOLE, false},
    {"-O0", WHOLE, false},
    {"-O1", WHOLE, false},
    {"-O2", WHOLE, false},
    {"-O3", WHOLE, false},
    {"-Os", WHOLE, false},
    {"-g", WHOLE, false},
    {"-g0", WHOLE, false},
    {"-g1", WHOLE, false},
    {"-g2", WHOLE, false},
    {"-g3", WHOLE, false},
    {"-ggdb", WHOLE, false},
    {"-ggdb3", WHOLE, false},
    {"-gdwarf-4", WHOLE, false},
    {"-gdwarf-5", WHOLE, false},
    {"-pthread", WHOLE, false},
    {"-pipe", WHOLE, false},
    {"-m64", WHOLE, false},
    {"-march=", PREFIX, false},
    {"-mtune=", PREFIX, false},
    {"-msse", PREFIX, false},
    {"-mavx", PREFIX, false},
    {"-mpclmul", WHOLE, false},
    {"-mcx16", WHOLE, false},
    {"-fPIC", WHOLE, false},
    {"-fpic", WHOLE, false},
    {"-fPIE", WHOLE, false},
    {"-fpie", WHOLE, false},
    {"-fno-pie", WHOLE, false},
    {"-fno-PIE", WHOLE, false},
    {"-fvisibility", PREFIX, false},
    {"-fstack-protector", PREFIX, false},
    {"-fstack-clash-protection", WHOLE, false},
    {"-fcf-protection", PREFIX, false},
    {"-fdebug-prefix-map=", PREFIX, false},
    {"-ffile-prefix-map=", PREFIX, false},
    {"-fmacro-prefix-map=", PREFIX, false},
    {"-fdiagnostics-color", PREFIX, false},
    {"-fcolor-diagnostics", WHOLE, false},
    {"-fno-color-diagnostics", WHOLE, false},
    {"-ffunction-sections", WHOLE, false},
    {"-fdata-sections", WHOLE, false},
    {"-fcommon", WHOLE, false},
    {"-fno-common", WHOLE, false},
    {"-fexceptions", WHOLE, false},
    {"-fno-exceptions", WHOLE, false},
    {"-frtti", WHOLE, false},
    {"-fno-rtti", WHOLE, false},
    {"-fstrict-aliasing", WHOLE, false},
    {"-fno-strict-aliasing", WHOLE, false},
    {"-fwrapv", WHOLE, false},
    {"-fsigned-char", WHOLE, false},
    {"-funsigned-char", WHOLE, false},
    {"-fomit-frame-pointer", WHOLE, false},
    {"-fno-omit-frame-pointer", WHOLE, false},
    {"-fno-builtin", PREFIX, false},
    {"-fno-plt", WHOLE, false},
    {"-fno-semantic-interposition", WHOLE, false},
    {"-fno-asynchronous-unwind-tables", WHOLE, false},
    {"-fno-delete-null-pointer-checks", WHOLE, false},
    {"-fno-math-errno", WHOLE, false},
};

/* Prefixes of what -W passes to other programs. */
static bool is_passed_on(const char *arg)
{
    return strncmp(arg, "-Wa,", 4) == 0 || strncmp(arg, "-Wp,", 4) == 0 || strncmp(arg, "-Wl,", 4) == 0;
}

static const struct option *find_option(const char *arg)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const struct option *option = &known[i];
        bool begins = strncmp(arg, option->name, strlen(option->name)) == 0;
        bool is = option->form == PREFIX || option->form == VALUED ? begins : strcmp(arg, option->name) == 0;
        if (is)
            return is_passed_on(arg) ? NULL : option;
    }
    return NULL;
}

static bool is_source(const char *name)
{
    static const char *const endings[] = {".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".cp"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return true;
    return false;
}

static bool is_told_elsewhere(void)
{
    static const char *const variables[] = {
        "CCC_OVERRIDE_OPTIONS", "CC_PRINT_HEADERS",    "CC_PRINT_OPTIONS",    "CC_LOG_DIAGNOSTICS",
        "CC_PRINT_PROC_STAT",   "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "FORCE_CLANG_DIAGNOSTICS_CRASH"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return true;
    return false;
}

static void note_level(struct pt_direct *direct, const char *arg)
{
    if (strncmp(arg, "-O", 2) != 0)
        return;
    direct->optimize = strcmp(arg, "-O0") != 0;
    direct->level = direct->optimize ? arg + 1 : NULL;
}

/* Takes one argument, and its value; how many that are, 0 when it calls for a plan. */
static size_t take_argument(const struct pt_args *args, size_t at, struct pt_direct *direct)
{
    const char *arg = args->v[at];
    if (*arg != '-') {
        if (direct->source || !is_source(arg))
            return 0;
        direct->source = arg;
        pt_args_add(&direct->rest, arg);
        return 1;
    }
    const struct option *option = find_option(arg);
    if (!option)
        return 0;
    bool next = option->form == SEPARATE || (option->form == VALUED && strcmp(arg, option->name) == 0);
    if (next && at + 1 >= args->n)
        return 0;
    note_level(direct, arg);
    for (size_t i = at; i <= at + next && !option->product; i++)
        pt_args_add(&direct->rest, args->v[i]);
    return 1 + next;
}

bool pt_direct_take(const struct pt_args *args, struct pt_direct *ret_direct)
{
    *ret_direct = (struct pt_direct){0};
    bool simple = pt_args_has(args, "-c") && !is_told_elsewhere();
    for (size_t at = 0, taken; at < args->n && simple; at += taken) {
        taken = take_argument(args, at, ret_direct);
        simple = taken > 0;
    }
    if (simple && ret_direct->source)
        return true;
    pt_args_release(&ret_direct->rest);
    return false;
}
