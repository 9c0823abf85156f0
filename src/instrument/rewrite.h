/*
 * The rewriting of one module: every access of memory that threads may share becomes a call of a hook of core/hooks.h.
 */
#ifndef PT_INSTRUMENT_REWRITE_H
#define PT_INSTRUMENT_REWRITE_H

#include <stdbool.h>

#include "base/err.h"
#include "instrument/choice.h"

struct pt_rewrite {
    bool optimize;     /* promote locals to registers first, as the user's -O asks */
    const char *level; /* run the whole pipeline of this level, "O2", so that nobody has to afterwards; or NULL */
    const char *tsan_bitcode; /* the same source for ThreadSanitizer: its functions without sanitize_thread are left
                                 alone; NULL: none are */
    const struct pt_choice *choice;
};

/* Reads bitcode or textual IR from `input`, writes bitcode to `output`. A module that was rewritten before is copied.
 */
enum pt_status pt_rewrite_file(const char *input, const char *output, const struct pt_rewrite *how,
                               struct pt_err *err) PT_WARN_UNUSED;

#endif
