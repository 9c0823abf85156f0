/*
 * The compiler driver.
 *
 * A command line that makes one object of one source, with options of which all is known (direct.c), is clang's: its
 * own process loads the plug-in (pass.cpp), which does the rewriting. For others `clang -###` says which jobs they
 * mean, so that clang parses every flag, response file and input; compile jobs then run with the plug-in, link jobs get
 * the runtime, and all others run as clang planned them. Where clang cannot have the plug-in (another clang, or passes
 * that only clang knows), a compile job runs in two halves with the rewriting in between. A command line without jobs
 * (--version, -print-*, errors) is clang's own business: the process becomes clang.
 *
 * As in clang, a failing job does not stop the jobs of other sources, only those that need its output; the exit status
 * is that of the first failure. Cost: one start of clang for an object, and one more for a plan; two more for halves.
 */
#include "instrument/instrument.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "core/sync.h"
#include "instrument/direct.h"
#include "instrument/jobs.h"
#include "instrument/orders.h"
#include "instrument/plan.h"
#include "instrument/process.h"

struct driver {
    const char *clang, *runtime_dir;
    struct pt_args includes; /* options: where <portent.h> is, and what comes before libstdc++'s files */
    const char *plugin;      /* the option that makes clang load it; NULL: clang cannot */
    bool cxx, verbose;
    bool debugs; /* the user wants debug information, or may: then that of locals is there, too */
    struct pt_arena arena;
    struct pt_args lost; /* outputs of jobs that failed or did not run */
    struct pt_choice choice;
    int status;
};

static void complain(const struct pt_err *err)
{
    fprintf(stderr, "portent: error: %s\n", err->message);
    if (err->hint[0])
        fprintf(stderr, "portent: note: %s\n", err->hint);
}

const char *pt_instrument_clang(void)
{
    const char *chosen = getenv("PORTENT_CLANG");
    if (chosen && *chosen)
        return chosen;
    if (access(PT_CLANG_PATH, X_OK) == 0)
        return PT_CLANG_PATH;
    return PT_CLANG_NAME;
}

static void clang_command(const struct driver *driver, struct pt_args *ret_command)
{
    pt_args_add(ret_command, driver->clang);
    if (driver->cxx)
        pt_args_add(ret_command, "--driver-mode=g++");
}

/* The plug-in is for the LLVM that Portent was built with, and for a clang that has it as a shared library. */
static bool is_clang_known(void)
{
    const char *chosen = getenv("PORTENT_CLANG");
    return PT_CLANG_LOADS_PASS && !(chosen && *chosen);
}

static int become_clang(const struct driver *driver, const struct pt_args *args)
{
    struct pt_args command = {0};
    clang_command(driver, &command);
    for (size_t i = 0; i < args->n; i++)
        pt_args_add(&command, args->v[i]);
    fflush(NULL);
    execvp(command.v[0], (char *const *)command.v);
    fprintf(stderr, "portent: error: cannot run %s: %s\n", driver->clang, strerror(errno));
    pt_args_release(&command);
    return 1;
}

/* An error in the plan is clang's to explain: the caller becomes clang. */
static enum pt_status make_plan(struct driver *driver, const struct pt_args *args, struct pt_plan *ret_plan,
                                struct pt_err *err)
{
    struct pt_args command = {0};
    clang_command(driver, &command);
    pt_args_add2(&command, "-###", "-g"); /* an explicit -g0 comes later and wins */
    if (isatty(STDERR_FILENO))
        pt_args_add(&command, "-fcolor-diagnostics");
    for (size_t i = 0; i < args->n; i++)
        pt_args_add(&command, args->v[i]);
    struct pt_process how = {.stdout_path = "/dev/null",
                             .stderr_path = pt_workdir_name(&driver->arena, ".plan"),
                             .no_input = true,
                             .temporaries_here = true};
    int exit_status = 0;
    enum pt_status status = pt_process_run(&command, &how, &exit_status, err);
    pt_args_release(&command);
    if (status != PT_OK)
        return status;
    size_t len = 0;
    char *text = pt_read_whole(how.stderr_path, &len);
    if (!text)
        return pt_err_set(err, PT_EIO, "cannot read %.300s: %s", how.stderr_path, strerror(errno));
    pt_plan_parse(ret_plan, text, len, &driver->arena);
    free(text);
    if (exit_status != 0)
        ret_plan->refused = true;
    return PT_OK;
}

/* As -v shows a job: the program in quotes, the rest only where it must be. */
static void show_job(const struct pt_args *job)
{
    fprintf(stderr, " \"%s\"", job->v[0]);
    for (size_t i = 1; i < job->n; i++) {
        const char *arg = job->v[i];
        bool quote = *arg == '\0' || strpbrk(arg, " \"\\$") != NULL;
        fputs(quote ? " \"" : " ", stderr);
        for (; *arg; arg++) {
            if (*arg == '"' || *arg == '\\' || *arg == '$')
                fputc('\\', stderr);
            fputc(*arg, stderr);
        }
        if (quote)
            fputc('"', stderr);
    }
    fputc('\n', stderr);
}

static enum pt_status run_job(const struct driver *driver, const struct pt_args *job, int *ret_exit, struct pt_err *err)
{
    if (driver->verbose)
        show_job(job);
    return pt_process_run(job, &(struct pt_process){0}, ret_exit, err);
}

static void say_signal(const char *program, int exit_status)
{
    fprintf(stderr, "portent: error: %s was ended by signal %d\n", program, exit_status - 128);
}

/* A file beside this program; NULL when it cannot be said where that is. */
static const char *file_beside(struct driver *driver, const char *option, const char *name)
{
    char self[4096];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = len > 0 ? memrchr(self, '/', (size_t)len) : NULL;
    if (!slash)
        return NULL;
    *slash = '\0';
    struct pt_buf path;
    pt_buf_init(&path);
    pt_buf_printf(&path, "%s%s/%s", option, self, name);
    const char *result = pt_arena_strndup(&driver->arena, path.text, path.len);
    pt_buf_release(&path);
    return result;
}

/* The orders go to a file, whose name the rewriting finds in the environment. */
static enum pt_status give_orders(struct driver *driver, struct pt_orders *orders, struct pt_err *err)
{
    const char *path = pt_workdir_name(&driver->arena, ".orders");
    orders->choice = driver->choice;
    orders->locals = driver->debugs;
    orders->verify = getenv("PORTENT_VERIFY") != NULL;
    orders->folder = pt_workdir();
    setenv(PT_ORDERS_VARIABLE, path, 1);
    return pt_orders_write(orders, path, err);
}

/* In two halves: any clang can do that, whatever LLVM it has. */
static enum pt_status compile_halves(struct driver *driver, const struct pt_args *job, struct pt_orders *orders,
                                     int *ret_exit, struct pt_err *err)
{
    const char *source = pt_cc1_input(job);
    enum pt_status status = PT_OK;
    struct pt_args half = {0}, rewrite = {0};
    if (orders->source) {
        source = pt_workdir_name(&driver->arena, ".bc");
        pt_cc1_front(job, &driver->includes, source, orders->headers, &half);
        status = run_job(driver, &half, ret_exit, err);
        if (status != PT_OK || *ret_exit != 0)
            goto done;
    }
    const char *rewritten = pt_workdir_name(&driver->arena, ".portent.bc");
    pt_args_add2(&rewrite, file_beside(driver, "", "portent-rewrite"), getenv(PT_ORDERS_VARIABLE));
    pt_args_add2(&rewrite, source, rewritten);
    status = pt_process_run(&rewrite, &(struct pt_process){0}, ret_exit, err);
    if (status != PT_OK || *ret_exit != 0)
        goto done;
    pt_args_release(&half);
    pt_cc1_back(job, rewritten, orders->level != NULL, &half);
    status = run_job(driver, &half, ret_exit, err);
done:
    pt_args_release(&half);
    pt_args_release(&rewrite);
    return status;
}

static enum pt_status compile(struct driver *driver, const struct pt_args *job, int *ret_exit, struct pt_err *err)
{
    struct pt_orders orders = {.optimize = pt_cc1_optimizes(job), .level = pt_cc1_level(job)};
    struct pt_args whole = {0};
    if (strcmp(pt_cc1_language(job), "ir") != 0) {
        orders.source = pt_cc1_input(job);
        orders.headers = pt_workdir_name(&driver->arena, ".headers");
        orders.tsan_bitcode = pt_workdir_name(&driver->arena, ".tsan.bc");
        pt_cc1_front_tsan(job, &driver->includes, orders.tsan_bitcode, &orders.tsan_job);
    }
    enum pt_status status = give_orders(driver, &orders, err);
    if (status == PT_OK && driver->plugin && pt_cc1_is_plain(job)) {
        pt_cc1_whole(job, &driver->includes, driver->plugin, orders.headers, &whole);
        status = run_job(driver, &whole, ret_exit, err);
    } else if (status == PT_OK) {
        status = compile_halves(driver, job, &orders, ret_exit, err);
    }
    pt_args_release(&whole);
    pt_args_release(&orders.tsan_job);
    return status;
}

/* One source, by clang itself (direct.c). */
static enum pt_status compile_directly(struct driver *driver, const struct pt_args *args,
                                       const struct pt_direct *direct, struct pt_err *err)
{
    struct pt_orders orders = {.optimize = direct->optimize,
                               .level = direct->level,
                               .source = direct->source,
                               .headers = pt_workdir_name(&driver->arena, ".headers"),
                               .tsan_bitcode = pt_workdir_name(&driver->arena, ".tsan.bc")};
    const char *const mine[] = {driver->plugin, "-Xclang",          "-header-include-file",  "-Xclang",
                                orders.headers, "-Wno-pass-failed", "-Wno-frame-larger-than"};
    const char *const tsans[] = {
        "-Xclang", "-fsanitize=thread", "-w", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes",
        "-o",      orders.tsan_bitcode};
    struct pt_args command = {0};
    for (int tsan = 0; tsan < 2; tsan++) {
        struct pt_args *to = tsan ? &orders.tsan_job : &command;
        clang_command(driver, to);
        pt_args_add(to, "-g");
        pt_args_add_all(to, tsan ? direct->rest.v : args->v, tsan ? direct->rest.n : args->n);
        pt_args_add_all(to, driver->includes.v, driver->includes.n);
        pt_args_add_all(to, tsan ? tsans : mine, tsan ? sizeof tsans / sizeof *tsans : sizeof mine / sizeof *mine);
    }
    enum pt_status status = give_orders(driver, &orders, err);
    if (status == PT_OK)
        status = run_job(driver, &command, &driver->status, err);
    if (driver->status > 128)
        say_signal(driver->clang, driver->status);
    pt_args_release(&command);
    pt_args_release(&orders.tsan_job);
    return status;
}

static const char *runtime_file(struct driver *driver, const char *name)
{
    struct pt_buf path;
    pt_buf_init(&path);
    pt_buf_printf(&path, "%s/%s", driver->runtime_dir, name);
    const char *result = pt_arena_strndup(&driver->arena, path.text, path.len);
    pt_buf_release(&path);
    return result;
}

/* The functions the runtime stands in front of, one per line; # begins a comment. The build of the runtime makes the
 * file. */
static enum pt_status read_wrapped(struct driver *driver, struct pt_args *ret_names, struct pt_err *err)
{
    const char *path = runtime_file(driver, "portent-rt-static.wrap");
    size_t len = 0;
    char *text = pt_read_whole(path, &len);
    if (!text)
        return pt_err_set(err, PT_EIO, "cannot read %.300s: %s", path, strerror(errno));
    char *next = NULL;
    for (char *line = strtok_r(text, "\n", &next); line; line = strtok_r(NULL, "\n", &next)) {
        size_t start = strspn(line, " \t"), size = strcspn(line + start, " \t\r#");
        if (size > 0)
            pt_args_add(ret_names, pt_arena_strndup(&driver->arena, line + start, size));
    }
    free(text);
    return PT_OK;
}

/* What a dynamic program exports: the hooks, the annotations, and the functions above. */
static enum pt_status write_dynamic_list(const char *path, const struct pt_args *wrapped, struct pt_err *err)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return pt_err_set(err, PT_EIO, "cannot write %.300s: %s", path, strerror(errno));
    fputs("{\n__portent_*;\nportent_*;\n", file);
    for (size_t i = 0; i < PT_SYNC_ID_COUNT; i++)
        if (pt_sync_rows[i].wrapper == PT_SYNC_WRAPPER_DYNAMIC) /* what static programs do not have */
            fprintf(file, "%s;\n", pt_sync_rows[i].name);
    for (size_t i = 0; i < wrapped->n; i++)
        fprintf(file, "%s;\n", wrapped->v[i]);
    fputs("};\n", file);
    bool bad = ferror(file);
    if (fclose(file) != 0 || bad)
        return pt_err_set(err, PT_EIO, "cannot write %.300s: %s", path, strerror(errno));
    return PT_OK;
}

static enum pt_status link_program(struct driver *driver, const struct pt_args *job, int *ret_exit, struct pt_err *err)
{
    enum pt_link_kind kind = pt_link_kind(job);
    struct pt_link link = {
        .archive = runtime_file(driver, kind == PT_LINK_STATIC ? "libportent-rt-static.a" : "libportent-rt.a"),
        .dynamic_list = pt_workdir_name(&driver->arena, ".exports")};
    struct pt_args linked = {0};
    enum pt_status status = PT_OK;
    if (kind != PT_LINK_PARTIAL) {
        if (access(link.archive, R_OK) != 0)
            status = pt_err_set(err, PT_EIO, "cannot read the runtime %.300s: %s", link.archive, strerror(errno));
        if (status == PT_OK)
            status = read_wrapped(driver, &link.wrapped, err);
        if (status == PT_OK && kind == PT_LINK_DYNAMIC)
            status = write_dynamic_list(link.dynamic_list, &link.wrapped, err);
    }
    if (status == PT_OK) {
        pt_link_with_runtime(job, &link, &linked);
        status = run_job(driver, &linked, ret_exit, err);
    }
    pt_args_release(&linked);
    pt_args_release(&link.wrapped);
    return status;
}

static enum pt_status run_kind(struct driver *driver, const struct pt_args *job, int *ret_exit, struct pt_err *err)
{
    struct pt_args changed = {0};
    enum pt_status status = PT_OK;
    switch (pt_job_kind(job)) {
    case PT_JOB_COMPILE:
        return compile(driver, job, ret_exit, err);
    case PT_JOB_LINK:
        return link_program(driver, job, ret_exit, err);
    case PT_JOB_SOURCE:
        pt_cc1_source(job, &driver->includes, &changed);
        status = run_job(driver, &changed, ret_exit, err);
        pt_args_release(&changed);
        return status;
    case PT_JOB_OTHER:
        break;
    }
    return run_job(driver, job, ret_exit, err);
}

static bool needs_lost_output(const struct driver *driver, const struct pt_args *job)
{
    for (size_t i = 0; i < driver->lost.n; i++)
        if (pt_args_has(job, driver->lost.v[i]))
            return true;
    return false;
}

static void run_jobs(struct driver *driver, const struct pt_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct pt_args *job = &plan->jobs[i];
        int exit_status = 0;
        bool skipped = needs_lost_output(driver, job);
        struct pt_err err = {0};
        if (!skipped && run_kind(driver, job, &exit_status, &err) != PT_OK) {
            complain(&err);
            exit_status = 1;
        }
        if (exit_status > 128)
            say_signal(job->v[0], exit_status);
        const char *output = pt_args_value(job, "-o");
        if ((skipped || exit_status != 0) && output)
            pt_args_add(&driver->lost, output);
        if (driver->status == 0)
            driver->status = exit_status;
    }
}

/* Before the first job, so that many sources get one message and no half of the products. */
static enum pt_status refuse_sanitizers(const struct pt_plan *plan, struct pt_err *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        const char *name = pt_job_sanitizer(&plan->jobs[i]);
        if (!name)
            continue;
        (void)pt_err_set(err, PT_EINPUT, "-fsanitize=%s: this sanitizer does not work together with Portent's runtime",
                         name);
        pt_err_hint(err, strcmp(name, "thread") == 0
                             ? "leave it out: 'portent run -- ./program' looks for data races itself"
                             : "leave it out of this build");
        return PT_EINPUT;
    }
    return PT_OK;
}

/* Returns whether the command line is clang's own business: it has no jobs, or clang does not understand it. */
static bool compile_as_planned(struct driver *driver, const struct pt_args *args)
{
    struct pt_err err = {0};
    struct pt_plan plan = {0};
    bool planned = make_plan(driver, args, &plan, &err) == PT_OK;
    bool clangs_own = planned && (plan.refused || plan.count == 0);
    if (!planned || (!clangs_own && refuse_sanitizers(&plan, &err) != PT_OK)) {
        complain(&err);
        driver->status = 1;
    } else if (!clangs_own) {
        if (driver->verbose && plan.header.text)
            fputs(plan.header.text, stderr);
        if (plan.diagnostics.text)
            fputs(plan.diagnostics.text, stderr);
        run_jobs(driver, &plan);
    }
    pt_plan_release(&plan);
    return clangs_own;
}

static bool compile_all(struct driver *driver, const struct pt_args *args)
{
    struct pt_err err = {0};
    struct pt_direct direct;
    if (!driver->plugin || !pt_direct_take(args, &direct))
        return compile_as_planned(driver, args);
    if (compile_directly(driver, args, &direct, &err) != PT_OK) {
        complain(&err);
        driver->status = 1;
    }
    pt_args_release(&direct.rest);
    return false;
}

/* After everything of the user's and the system's: <portent.h>. Before the system's, but after the user's: the one file
 * of libstdc++ with which strings are the program's (include/portent). */
static void choose_includes(struct driver *driver, const char *include_dir)
{
    struct pt_buf strings;
    pt_buf_init(&strings);
    pt_buf_printf(&strings, "%s/portent/libstdc++", include_dir);
    pt_args_add2(&driver->includes, "-idirafter", include_dir);
    pt_args_add2(&driver->includes, "-isystem", pt_arena_strndup(&driver->arena, strings.text, strings.len));
    pt_buf_release(&strings);
}

int pt_instrument_main(bool cxx, const char *runtime_dir, const char *include_dir, int argc, char **argv)
{
    struct driver driver = {.clang = pt_instrument_clang(), .runtime_dir = runtime_dir, .cxx = cxx};
    struct pt_err err = {0};
    struct pt_args args = {0};
    pt_arena_init(&driver.arena);
    choose_includes(&driver, include_dir);
    if (is_clang_known())
        driver.plugin = file_beside(&driver, "-fpass-plugin=", "portent-pass.so");
    bool taken = pt_choice_take(&driver.choice, argc, argv, &driver.arena, &args, &err) == PT_OK;
    bool clangs_own = args.n == 0 || strncmp(args.v[0], "-cc1", 4) == 0;
    for (size_t i = 0; i < args.n; i++) {
        clangs_own |= strcmp(args.v[i], "-###") == 0;
        driver.debugs |= strncmp(args.v[i], "-g", 2) == 0 || args.v[i][0] == '@';
        driver.verbose |= strcmp(args.v[i], "-v") == 0 || strcmp(args.v[i], "--verbose") == 0;
    }
    if (!taken || (!clangs_own && pt_workdir_make(&err) != PT_OK)) {
        complain(&err);
        driver.status = 1;
        clangs_own = false;
    } else if (!clangs_own) {
        clangs_own = compile_all(&driver, &args);
        pt_workdir_remove();
    }
    pt_args_release(&driver.lost);
    pt_args_release(&driver.includes);
    pt_choice_release(&driver.choice);
    int status = clangs_own ? become_clang(&driver, &args) : driver.status;
    pt_args_release(&args);
    pt_arena_release(&driver.arena);
    return status;
}
