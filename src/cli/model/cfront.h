/* C sources as programs of `portent model`, by the front end that lives in a program of its own (src/cfront). */
#ifndef PT_CLI_MODEL_CFRONT_H
#define PT_CLI_MODEL_CFRONT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/program.h"

enum { PT_CFRONT_UNROLL = 16 }; /* the default of --unroll */

struct pt_cfront_sources {
    const char *const *files;
    size_t file_count;
    const char *const *arguments; /* for clang */
    size_t argument_count;
    uint32_t unroll;
    bool wary; /* see cfront/cfront.h */
};

/* Fills an initialised program. What clang has to say about the sources is on standard error already. */
enum pt_status pt_cfront_read(const struct pt_cfront_sources *sources, struct pt_program *program,
                              struct pt_err *err) PT_WARN_UNUSED;

#endif
