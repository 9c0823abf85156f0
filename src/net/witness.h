/* A violation of causal atomicity as people see it: a partial order of steps, one interleaving of it, three events
 * marked. */
#ifndef PT_NET_WITNESS_H
#define PT_NET_WITNESS_H

#include "base/buf.h"
#include "net/program.h"

enum pt_witness_role { PT_WITNESS_OTHER, PT_WITNESS_BEGIN, PT_WITNESS_FOREIGN, PT_WITNESS_LATER };

struct pt_witness_event {
    uint32_t step;
    uint8_t role;
    uint32_t *causes; /* its immediate causes: numbers of earlier events of the witness */
    uint32_t cause_count;
};

/* In an order that is a run of the program, with few changes of thread. */
struct pt_witness {
    struct pt_witness_event *events;
    uint32_t count;
    uint32_t begin, foreign, later; /* Definition 3's e1, f and e2 */
};

/*
 * Makes the witness for `block` out of a run: `steps` in the order they happened, of which number `begin` starts the
 * occurrence and the last one is e2. Everything that is not causally before e2 is left out. What comes back has been
 * replayed and checked against Definition 3, which knows nothing of colours or unfoldings; PT_EUSAGE: it is no witness.
 */
enum pt_status pt_witness_make(const struct pt_program *program, uint32_t block, const uint32_t *steps, uint32_t count,
                               uint32_t begin, struct pt_arena *arena, struct pt_witness *ret_witness,
                               struct pt_err *err) PT_WARN_UNUSED;
/* The partial order as a graph for Graphviz, and drawn. */
void pt_witness_dot(const struct pt_program *program, const struct pt_witness *witness, const char *title,
                    struct pt_buf *buf);
void pt_witness_svg(const struct pt_program *program, const struct pt_witness *witness, const char *title,
                    struct pt_buf *buf);

#endif
