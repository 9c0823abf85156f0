/* The C front end of `portent model`: C sources to a program of net/program.h. */
#ifndef PT_CFRONT_CFRONT_H
#define PT_CFRONT_CFRONT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/program.h"

struct pt_cfront_input {
    const char *const *bitcode; /* files, one per source */
    size_t count;
    uint32_t unroll; /* most rounds of a loop that starts threads */
    /* Functions that nobody knows may touch, beside what they are handed, what was handed out before, what other files
     * could name, and memory of their own. */
    bool wary;
};

/* Reads the bitcode, links it, and models it. `program` is initialised. */
enum pt_status pt_cfront_model(const struct pt_cfront_input *input, struct pt_program *program,
                               struct pt_err *err) PT_WARN_UNUSED;

#endif
