/* What becomes of each of clang's jobs. */
#ifndef PT_INSTRUMENT_JOBS_H
#define PT_INSTRUMENT_JOBS_H

#include "base/err.h"
#include "base/mem.h"
#include "instrument/args.h"

enum pt_job_kind {
    PT_JOB_COMPILE, /* source (or LLVM IR) to object, assembly or bitcode: instrumented */
    PT_JOB_SOURCE,  /* clang reads source but makes no code: -E, -M, -fsyntax-only, headers */
    PT_JOB_LINK,    /* gets the runtime */
    PT_JOB_OTHER    /* runs as it is */
};
enum pt_job_kind pt_job_kind(const struct pt_args *job);

/* The sanitizer (as in -fsanitize=NAME) that a compile or link job has and Portent cannot work with; NULL: none. */
const char *pt_job_sanitizer(const struct pt_args *job);

/* The language (-x) and the file of a cc1 job; NULL when there is none. */
const char *pt_cc1_language(const struct pt_args *job);
const char *pt_cc1_input(const struct pt_args *job);
bool pt_cc1_optimizes(const struct pt_args *job);
/* The level, as LLVM calls its pipelines ("O2"); NULL: it does not optimise, or in a way that only clang knows. */
const char *pt_cc1_level(const struct pt_args *job);

/* Can clang do the job with the plug-in (`plugin` is the option that names it)? Not where it adds passes of its own. */
bool pt_cc1_is_plain(const struct pt_args *job);
void pt_cc1_whole(const struct pt_args *job, const struct pt_args *includes, const char *plugin, const char *headers,
                  struct pt_args *ret_job);

/* The front end alone: `job` up to bitcode without optimisation, in `output`; lists the user's headers in `headers`. */
void pt_cc1_front(const struct pt_args *job, const struct pt_args *includes, const char *output, const char *headers,
                  struct pt_args *ret_job);
/* The same as ThreadSanitizer would have it, silently and without side products. */
void pt_cc1_front_tsan(const struct pt_args *job, const struct pt_args *includes, const char *output,
                       struct pt_args *ret_job);
/* Optimiser, unless the bitcode is `optimized`, and code generator: what `job` does, from the bitcode in `input` on. */
void pt_cc1_back(const struct pt_args *job, const char *input, bool optimized, struct pt_args *ret_job);
/* A job that reads source without making code. */
void pt_cc1_source(const struct pt_args *job, const struct pt_args *includes, struct pt_args *ret_job);

enum pt_link_kind {
    PT_LINK_PARTIAL, /* shared objects, ld -r: the program they end up in brings the runtime */
    PT_LINK_DYNAMIC,
    PT_LINK_STATIC
};
enum pt_link_kind pt_link_kind(const struct pt_args *job);

struct pt_link {
    const char *archive;      /* the runtime */
    const char *dynamic_list; /* DYNAMIC: a file with the symbols to export */
    struct pt_args wrapped;   /* STATIC: functions of libc that the runtime stands in front of */
};
void pt_link_with_runtime(const struct pt_args *job, const struct pt_link *link, struct pt_args *ret_job);

#endif
