/* Whether a 1-safe net can put tokens on given places at once. */
#ifndef PT_NET_QUESTION_H
#define PT_NET_QUESTION_H

#include "net/unfold.h"

struct pt_question {
    const uint32_t *places; /* to be covered; none: the whole prefix is built */
    uint32_t place_count;
    uint64_t event_limit, memory_limit;               /* 0: none */
    void (*progress)(void *context, uint64_t events); /* NULL: nobody asks */
    void *progress_context;
};

struct pt_answer {
    bool coverable;
    uint32_t *firings; /* transitions, in an order in which they can fire and then cover the places; the caller frees */
    uint32_t firing_count;
    uint64_t conditions, events, cutoffs, peak_bytes;
    struct pt_err limit; /* PT_ELIMIT: the answer is unknown */
};

/* PT_EINPUT: the net is not 1-safe. Adds a transition to the net for as long as it runs. */
enum pt_status pt_net_cover(struct pt_net *net, const struct pt_question *question, struct pt_answer *ret_answer,
                            struct pt_err *err) PT_WARN_UNUSED;

#endif
