/*
 * The sanitizers that cannot work together with Portent: their runtimes stand in front of the same functions of the C
 * library as Portent's does, lay out memory their own way, or need every function of the program to be compiled for
 * them. Programs with both crashed or did not link. What needs no such runtime is left to clang:
 * UndefinedBehaviorSanitizer, safe-stack, cfi.
 *
 * Asked are clang's jobs, not the command line, so that -fno-sanitize, lists, response files and configuration files
 * mean what they mean to clang: a compile job lists the sanitizers that remain, a link job names their runtimes.
 */
#include "instrument/jobs.h"

static const struct sanitizer {
    const char *name;    /* in -fsanitize=NAME */
    const char *runtime; /* in libclang_rt.RUNTIME-x86_64.a; NULL: the kernel brings it */
} refused[] = {{"address", "asan"},        {"thread", "tsan"},     {"memory", "msan"}, {"leak", "lsan"},
               {"hwaddress", "hwasan"},    {"dataflow", "dfsan"},  {"scudo", "scudo"}, {"kernel-address", NULL},
               {"kernel-hwaddress", NULL}, {"kernel-memory", NULL}};

static const char *refused_name(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (strlen(refused[i].name) == len && strncmp(refused[i].name, name, len) == 0)
            return refused[i].name;
    return NULL;
}

static const char *of_list(const char *list)
{
    const char *found = NULL;
    while (*list && !found) {
        size_t len = strcspn(list, ",");
        found = refused_name(list, len);
        list += len + (list[len] == ',');
    }
    return found;
}

/* The runtime's file may go on with a variant and the machine: asan_static-x86_64.a, scudo_standalone.so. */
static const char *of_library(const char *path)
{
    static const char prefix[] = "libclang_rt.";
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    if (strncmp(file, prefix, sizeof prefix - 1) != 0)
        return NULL;
    file += sizeof prefix - 1;
    size_t len = strcspn(file, "_-.");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (refused[i].runtime && strlen(refused[i].runtime) == len && strncmp(refused[i].runtime, file, len) == 0)
            return refused[i].name;
    return NULL;
}

const char *pt_job_sanitizer(const struct pt_args *job)
{
    static const char option[] = "-fsanitize=";
    enum pt_job_kind kind = pt_job_kind(job);
    const char *found = NULL;
    for (size_t i = 1; i < job->n && !found; i++) {
        if (kind == PT_JOB_COMPILE && strncmp(job->v[i], option, sizeof option - 1) == 0)
            found = of_list(job->v[i] + sizeof option - 1);
        else if (kind == PT_JOB_LINK)
            found = of_library(job->v[i]);
    }
    return found;
}
