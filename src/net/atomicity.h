/* Causal atomicity of every block of a program. */
#ifndef PT_NET_ATOMICITY_H
#define PT_NET_ATOMICITY_H

#include "net/program.h"
#include "net/witness.h"

struct pt_atomicity_options {
    bool plain;            /* the paper's net with n places per variable, without any reduction */
    bool contextual;       /* with plain: one place per variable instead of n, and reads as read arcs */
    bool all;              /* find every violation of a block that ends in another step */
    uint32_t jobs;         /* threads that share the work; results do not depend on it */
    uint64_t event_limit;  /* per unfolding, 0: none */
    uint64_t memory_limit; /* bytes, over all, 0: none */
    void (*progress)(void *context, uint64_t events); /* by one thread at a time; NULL: nobody asks */
    void *progress_context;
};

enum pt_atomic { PT_ATOMIC_YES, PT_ATOMIC_NO, PT_ATOMIC_UNKNOWN };

struct pt_block_verdict {
    enum pt_atomic atomic;
    struct pt_witness *witnesses; /* one; with `all`, one for each step that e2 can be */
    uint32_t witness_count;
};

struct pt_atomicity {
    struct pt_arena arena;
    struct pt_block_verdict *blocks;                 /* as the program's */
    uint64_t places, transitions;                    /* of the paper's net, guesses included */
    uint64_t conditions, events, histories, cutoffs; /* histories: of all events; cut-offs: of these */
    const char *limit;                               /* why some verdicts are unknown, NULL */
    uint64_t peak_bytes;
};

/* PT_EINPUT: the program can release a lock that is free. Release after PT_OK. */
enum pt_status pt_atomicity_check(const struct pt_program *program, const struct pt_atomicity_options *options,
                                  struct pt_atomicity *ret_result, struct pt_err *err) PT_WARN_UNUSED;
void pt_atomicity_release(struct pt_atomicity *result);

#endif
