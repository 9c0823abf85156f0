/*
 * The runtime in link jobs. It comes first, as a whole archive: its constructors then run before the program's, and its
 * definitions of pthread_create and the like are the program's own. A dynamic list exports those, so that shared
 * libraries (libstdc++.so, plug-ins) reach them, too. A static program cannot have two definitions of one function, so
 * there the linker redirects the calls (--wrap). Shared objects get no copy: their calls are resolved by the program
 * that loads them.
 */
#include "instrument/jobs.h"

static bool is_start_file(const char *arg)
{
    const char *slash = strrchr(arg, '/');
    const char *name = slash ? slash + 1 : arg;
    size_t len = strlen(name);
    return len > 2 && strcmp(name + len - 2, ".o") == 0 &&
           (strncmp(name, "crtbegin", 8) == 0 || strncmp(name, "clang_rt.crtbegin", 17) == 0);
}

enum pt_link_kind pt_link_kind(const struct pt_args *job)
{
    static const char *const partial[] = {"-r", "--relocatable", "-shared", "--shared", "-Bshareable"};
    for (size_t i = 0; i < sizeof partial / sizeof *partial; i++)
        if (pt_args_has(job, partial[i]))
            return PT_LINK_PARTIAL;
    return pt_args_has(job, "-static") ? PT_LINK_STATIC : PT_LINK_DYNAMIC;
}

/* A shared object that must not have undefined symbols (-z defs, --no-undefined) still may have the runtime's. */
static void link_partial(const struct pt_args *job, struct pt_args *to)
{
    bool strict = false;
    for (size_t i = 0; i < job->n; i++) {
        const char *arg = job->v[i];
        pt_args_add(to, arg);
        if (strcmp(arg, "--no-undefined") == 0 || strcmp(arg, "-no-undefined") == 0 || strcmp(arg, "-zdefs") == 0 ||
            (strcmp(arg, "defs") == 0 && i > 0 && strcmp(job->v[i - 1], "-z") == 0))
            strict = true;
    }
    if (strict)
        pt_args_add2(to, "-z", "undefs");
}

void pt_link_with_runtime(const struct pt_args *job, const struct pt_link *link, struct pt_args *ret_job)
{
    enum pt_link_kind kind = pt_link_kind(job);
    if (kind == PT_LINK_PARTIAL) {
        link_partial(job, ret_job);
        return;
    }
    size_t runtime_after = 0, libraries_before = job->n;
    for (size_t i = 1; i < job->n; i++) {
        if (is_start_file(job->v[i]))
            runtime_after = i;
        if (strcmp(job->v[i], "-lc") == 0)
            libraries_before = i;
    }
    for (size_t i = 0; i < job->n; i++) {
        if (i == libraries_before)
            pt_args_add2(ret_job, "-lpthread", "-ldl");
        pt_args_add(ret_job, job->v[i]);
        if (i == runtime_after) {
            pt_args_add2(ret_job, "--whole-archive", link->archive);
            pt_args_add(ret_job, "--no-whole-archive");
        }
    }
    if (libraries_before == job->n)
        pt_args_add2(ret_job, "-lpthread", "-ldl");
    for (size_t i = 0; i < link->wrapped.n && kind == PT_LINK_STATIC; i++)
        pt_args_add2(ret_job, "--wrap", link->wrapped.v[i]);
    if (kind == PT_LINK_DYNAMIC)
        pt_args_add2(ret_job, "--dynamic-list", link->dynamic_list);
}
