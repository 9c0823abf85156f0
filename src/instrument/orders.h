/* What the driver tells the rewriting of one module, which happens in another process: in clang's own, or in
 * portent-rewrite. It is handed over as a file in the work folder. */
#ifndef PT_INSTRUMENT_ORDERS_H
#define PT_INSTRUMENT_ORDERS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "instrument/args.h"
#include "instrument/choice.h"

/* The environment variable with the name of the file. */
#define PT_ORDERS_VARIABLE "PORTENT_REWRITE"

struct pt_orders {
    bool optimize;      /* promote locals to registers first, as the user's -O asks */
    bool locals;        /* debug information says where locals are */
    bool verify;        /* have LLVM check the result */
    const char *level;  /* run the whole pipeline of this level, "O2", so that nobody has to afterwards; or NULL */
    const char *folder; /* for temporary files */
    /* Which functions the source opts out (opt_outs.c): a command that compiles it for ThreadSanitizer, to
     * `tsan_bitcode`, where the source or one of `headers` calls for that. No source: there are none. */
    const char *source, *headers, *tsan_bitcode;
    struct pt_args tsan_job;
    struct pt_choice choice;
};

enum pt_status pt_orders_write(const struct pt_orders *orders, const char *path, struct pt_err *err) PT_WARN_UNUSED;
/* Strings go to the arena; pt_orders_release the lists. */
enum pt_status pt_orders_read(struct pt_orders *ret_orders, const char *path, struct pt_arena *arena,
                              struct pt_err *err) PT_WARN_UNUSED;
void pt_orders_release(struct pt_orders *orders);

/* The whole of a file, with a NUL after it, for the caller to free; NULL when it cannot be read. */
char *pt_read_whole(const char *path, size_t *ret_len);

#endif
