/*
 * Clang's own jobs. A compile job
 *
 *     clang -cc1 ACTION FLAGS -o OUT -x c IN
 *
 * is done whole, with the plug-in that rewrites the module before clang's passes, or cut in two: a front half
 * (-emit-llvm-bc -disable-llvm-passes FLAGS -o T.bc -x c IN), which gives all of the front end's diagnostics and
 * dependency files, and a back half (ACTION FLAGS -o OUT -x ir T.bc), which does all that the flags say about code.
 * Between the two, the bitcode is rewritten. Both ways it is optimised by the pipeline of its level meanwhile; clang
 * does that only where flags add passes to it that LLVM's own pipeline does not have (pt_cc1_level). Emitting through
 * LLVMTargetMachine instead was rejected: it would have to repeat clang's translation of several hundred flags, and
 * LTO, profiling and sanitizer pipelines with it.
 */
#include "instrument/jobs.h"

static bool is_one_of(const char *arg, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(arg, *list) == 0)
            return true;
    return false;
}

static const char *const code_actions[] = {"-emit-obj",          "-S", "-emit-llvm", "-emit-llvm-bc", "-emit-llvm-only",
                                           "-emit-codegen-only", NULL};

/* Options whose value is the next argument and might look like an option we care about. */
static const char *const valued[] = {
    "-D",      "-U",         "-I",       "-include", "-mllvm",          "-main-file-name", "-isystem", "-MT",
    "-iquote", "-idirafter", "-imacros", "-o",       "-target-feature", "-plugin-arg",     NULL};

/* What says something about the source only, or would overwrite a product of the front half. */
static const char *const front_only[] = {"-MP",     "-MG", "-H", "-v", "-sys-header-deps", "-module-file-deps",
                                         "-verify", NULL};
static const char *const front_only_valued[] = {"-dependency-file",
                                                "-MT",
                                                "-MQ",
                                                "-header-include-file",
                                                "-include-pch",
                                                "-serialize-diagnostic-file",
                                                "-dependency-dot",
                                                "-diagnostic-log-file",
                                                NULL};
/* Products that only the back half has. */
static const char *const back_only_valued[] = {"-split-dwarf-output", "-opt-record-file", NULL};

static size_t language_at(const struct pt_args *job)
{
    for (size_t i = job->n; i-- > 2;)
        if (strcmp(job->v[i - 1], "-x") == 0 && i + 1 < job->n)
            return i;
    return 0;
}

const char *pt_cc1_language(const struct pt_args *job)
{
    size_t at = language_at(job);
    return at ? job->v[at] : NULL;
}

const char *pt_cc1_input(const struct pt_args *job)
{
    size_t at = language_at(job);
    return at ? job->v[at + 1] : NULL;
}

static const char *action_of(const struct pt_args *job)
{
    for (size_t i = 2; i < job->n; i++) {
        if (is_one_of(job->v[i], valued))
            i++;
        else if (is_one_of(job->v[i], code_actions))
            return job->v[i];
    }
    return NULL;
}

static bool is_linker(const char *program)
{
    const char *slash = strrchr(program, '/');
    const char *name = slash ? slash + 1 : program;
    return strncmp(name, "ld", 2) == 0 || strstr(name, "-ld") || strstr(name, "lld") || strstr(name, "mold") ||
           strstr(name, "gold");
}

enum pt_job_kind pt_job_kind(const struct pt_args *job)
{
    if (job->n < 2 || strcmp(job->v[1], "-cc1") != 0)
        return job->n > 1 && strcmp(job->v[1], "-cc1as") != 0 && is_linker(job->v[0]) ? PT_JOB_LINK : PT_JOB_OTHER;
    const char *language = pt_cc1_language(job);
    if (!language || !action_of(job))
        return PT_JOB_SOURCE;
    /* Code for accelerators has no runtime to call. */
    if (pt_args_has(job, "-fcuda-is-device") || pt_args_has(job, "-fopenmp-is-device") ||
        pt_args_has(job, "-fopenmp-is-target-device"))
        return PT_JOB_SOURCE;
    return PT_JOB_COMPILE;
}

bool pt_cc1_optimizes(const struct pt_args *job)
{
    bool optimizes = false;
    for (size_t i = 2; i < job->n; i++) {
        if (is_one_of(job->v[i], valued))
            i++;
        else if (strncmp(job->v[i], "-O", 2) == 0)
            optimizes = strcmp(job->v[i], "-O0") != 0;
    }
    return optimizes;
}

/* Passes that clang adds to the pipeline itself: for profiles, coverage, sanitizers, instrumented functions, plug-ins
 * and remarks, and, for link-time optimisation, a pipeline of their own. */
static bool is_clangs_pass(const struct pt_args *job, size_t at)
{
    static const char *const prefixes[] = {"-fprofile",
                                           "-fcoverage-mapping",
                                           "-fsanitize",
                                           "-flto",
                                           "-fthinlto",
                                           "-ftest-coverage",
                                           "-femit-coverage",
                                           "-finstrument-function",
                                           "-fpass-plugin",
                                           "-fplugin",
                                           "-load",
                                           "-plugin",
                                           "-opt-record",
                                           "-Rpass",
                                           "-fmemory-profile",
                                           "-fxray",
                                           "-fno-experimental-new-pass-manager",
                                           "-flegacy-pass-manager",
                                           "-disable-llvm-passes",
                                           "-disable-llvm-optzns",
                                           "-disable-O0",
                                           "-fveclib",
                                           "-fmerge-functions",
                                           "-fno-unroll-loops",
                                           "-fsplit-machine",
                                           "-fsplit-cold",
                                           "-emit-llvm-only",
                                           "-fopenmp-targets",
                                           "-fdebug-pass",
                                           "-fembed",
                                           "-mspeculative",
                                           "-fcs-profile"};
    const char *arg = job->v[at];
    if (strcmp(arg, "-mllvm") == 0) /* the driver itself says this one */
        return at + 1 < job->n && strcmp(job->v[at + 1], "-treat-scalable-fixed-error-as-warning") != 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(arg, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

const char *pt_cc1_level(const struct pt_args *job)
{
    static const char *const levels[][2] = {{"-O1", "O1"}, {"-O2", "O2"}, {"-O3", "O3"},   {"-O", "O2"},
                                            {"-Os", "Os"}, {"-Oz", "Oz"}, {"-Ofast", "O3"}};
    const char *level = NULL;
    for (size_t i = 2; i < job->n; i++) {
        if (is_clangs_pass(job, i))
            return NULL;
        if (is_one_of(job->v[i], valued)) {
            i++;
        } else if (strncmp(job->v[i], "-O", 2) == 0) {
            level = NULL;
            for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
                if (strcmp(job->v[i], levels[l][0]) == 0)
                    level = levels[l][1];
        }
    }
    return level;
}

/* Copies the arguments before `-x`, without action, output and what `drop` and `drop_valued` name. */
static void copy_flags(const struct pt_args *job, const char *const *drop, const char *const *drop_valued,
                       struct pt_args *to)
{
    size_t end = language_at(job) - 1;
    for (size_t i = 0; i < end; i++) {
        const char *arg = job->v[i];
        if (strcmp(arg, "-o") == 0 || is_one_of(arg, drop_valued)) {
            i++;
        } else if (i + 1 < end && is_one_of(arg, valued)) {
            pt_args_add2(to, arg, job->v[i + 1]);
            i++;
        } else if (!is_one_of(arg, code_actions) && !is_one_of(arg, drop)) {
            pt_args_add(to, arg);
        }
    }
}

static void add_input(const struct pt_args *job, struct pt_args *to)
{
    for (size_t i = language_at(job) - 1; i < job->n; i++)
        pt_args_add(to, job->v[i]);
}

void pt_cc1_front(const struct pt_args *job, const struct pt_args *includes, const char *output, const char *headers,
                  struct pt_args *ret_job)
{
    static const char *const drop[] = {NULL};
    copy_flags(job, drop, back_only_valued, ret_job);
    pt_args_add2(ret_job, "-emit-llvm-bc", "-disable-llvm-passes");
    pt_args_add_all(ret_job, includes->v, includes->n);
    if (!pt_args_has(job, "-header-include-file"))
        pt_args_add2(ret_job, "-header-include-file", headers);
    pt_args_add2(ret_job, "-o", output);
    add_input(job, ret_job);
}

bool pt_cc1_is_plain(const struct pt_args *job)
{
    for (size_t i = 2; i < job->n; i++)
        if (is_clangs_pass(job, i))
            return false;
    return strcmp(pt_cc1_language(job), "ir") != 0;
}

/* Instrumented loops do not vectorise and frames are larger: no reason to warn about the user's code. */
static void add_silence(struct pt_args *to)
{
    pt_args_add2(to, "-Wno-pass-failed", "-Wno-frame-larger-than");
}

void pt_cc1_whole(const struct pt_args *job, const struct pt_args *includes, const char *plugin, const char *headers,
                  struct pt_args *ret_job)
{
    static const char *const drop[] = {NULL};
    copy_flags(job, drop, drop, ret_job);
    pt_args_add(ret_job, action_of(job));
    pt_args_add_all(ret_job, includes->v, includes->n);
    if (!pt_args_has(job, "-header-include-file"))
        pt_args_add2(ret_job, "-header-include-file", headers);
    pt_args_add(ret_job, plugin);
    add_silence(ret_job);
    const char *output = pt_args_value(job, "-o");
    if (output)
        pt_args_add2(ret_job, "-o", output);
    add_input(job, ret_job);
}

void pt_cc1_front_tsan(const struct pt_args *job, const struct pt_args *includes, const char *output,
                       struct pt_args *ret_job)
{
    static const char *const drop_valued[] = {"-dependency-file",
                                              "-MT",
                                              "-MQ",
                                              "-header-include-file",
                                              "-dependency-dot",
                                              "-serialize-diagnostic-file",
                                              "-opt-record-file",
                                              "-split-dwarf-output",
                                              NULL};
    copy_flags(job, front_only, drop_valued, ret_job);
    pt_args_add2(ret_job, "-emit-llvm-bc", "-disable-llvm-passes");
    pt_args_add2(ret_job, "-fsanitize=thread", "-w");
    pt_args_add_all(ret_job, includes->v, includes->n);
    pt_args_add2(ret_job, "-o", output);
    add_input(job, ret_job);
}

void pt_cc1_back(const struct pt_args *job, const char *input, bool optimized, struct pt_args *ret_job)
{
    copy_flags(job, front_only, front_only_valued, ret_job);
    pt_args_add(ret_job, action_of(job));
    if (optimized)
        pt_args_add(ret_job, "-disable-llvm-passes");
    const char *output = pt_args_value(job, "-o");
    if (output)
        pt_args_add2(ret_job, "-o", output);
    add_silence(ret_job);
    pt_args_add(ret_job, "-Wno-override-module");
    pt_args_add2(ret_job, "-x", "ir");
    pt_args_add(ret_job, input);
}

void pt_cc1_source(const struct pt_args *job, const struct pt_args *includes, struct pt_args *ret_job)
{
    const size_t end = language_at(job) ? language_at(job) - 1 : job->n;
    for (size_t i = 0; i < end; i++)
        pt_args_add(ret_job, job->v[i]);
    pt_args_add_all(ret_job, includes->v, includes->n);
    for (size_t i = end; i < job->n; i++)
        pt_args_add(ret_job, job->v[i]);
}
