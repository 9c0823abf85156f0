/*
 * Complete finite prefixes of the unfolding of a 1-safe net (unfold.c), with what causal atomicity asks of them:
 * guesses, colours, and a stop at the first violation of each block. For a plain net, all of that is absent.
 */
#ifndef PT_NET_UNFOLD_H
#define PT_NET_UNFOLD_H

#include "base/err.h"
#include "net/net.h"

/* What a transition means beyond its arcs. */
enum pt_role {
    PT_ROLE_PLAIN,
    PT_ROLE_GUESS, /* the `begin` that guesses an occurrence of its block */
    PT_ROLE_END,   /* the `end` of its block: coloured nets do not fire it when the block is the guessed one */
    PT_ROLE_GOAL,  /* its occurrence is the violation of its block, or the answer to a question about a net */
};

struct pt_meaning {
    uint32_t thread; /* whose step it is, PT_NONE: nobody's */
    uint32_t block;  /* of a guess, an end or a goal; PT_NONE */
    uint8_t role;
};

enum pt_colour { PT_ACHROMATIC, PT_BLUE, PT_YELLOW };

struct pt_unfold_options {
    const struct pt_net *net;
    const struct pt_meaning *meanings; /* one per transition, or NULL: all plain */
    const uint32_t *block_threads;     /* by block */
    uint32_t block_count;
    /* By place, or NULL: where a token could be instead of here, and do more: nothing consumes it here. Or PT_NONE. */
    const uint32_t *restart;
    bool coloured;         /* tokens carry colours, by the rules in unfold.c; a violation is a red event */
    bool all;              /* go on when every block has a violation */
    bool drop_settled;     /* drop what follows a guess of a block that has one */
    bool check_safe;       /* report a place that two tokens can reach at once as an error */
    uint64_t event_limit;  /* 0: none */
    uint64_t memory_limit; /* bytes, 0: none */
    void (*progress)(void *context, uint64_t events); /* called now and then; NULL: nobody asks */
    void *progress_context;
};

struct pt_unfold_event {
    uint32_t transition;
    uint32_t pre_start;  /* into pt_unfolding.pre */
    uint32_t post_start; /* first of its conditions, which are consecutive; an event without `co` has none */
    uint32_t size;       /* of its local configuration */
    uint32_t depth;      /* longest chain of causes that ends in it */
    uint32_t tag;        /* the block that its history guesses, PT_NONE */
    uint8_t colour;      /* of the tokens it makes */
    bool cutoff;
    uint64_t marking; /* hash of the marking that its local configuration reaches */
    uint64_t delta;   /* what it adds to that of its causes */
    uint64_t *co; /* conditions older than its own that are concurrent with it, one bit each; NULL: never extended */
};

struct pt_unfold_violation {
    uint32_t block, event;
};

struct pt_unfolding {
    const struct pt_net *net;
    struct pt_unfold_event *events; /* event 0 makes the initial marking and is none of the net's */
    uint32_t *pre;                  /* conditions */
    uint32_t *condition_place, *condition_event;
    uint32_t event_count, pre_count, condition_count, cutoff_count;
    uint32_t initial_count;     /* conditions of event 0 */
    uint32_t unsafe_transition; /* after PT_EINPUT: the one that would put a second token on a place */
    uint64_t condition_total;   /* those of cut-offs and violations, which are not stored, included */
    size_t event_cap, pre_cap, condition_cap, condition_event_cap;
    struct pt_unfold_violation *violations;
    uint32_t violation_count;
    size_t violation_cap;
    struct pt_err limit; /* status PT_ELIMIT: why the prefix is incomplete; PT_OK: it is complete, or was stopped */
    uint64_t peak_bytes;
};

/* PT_EINPUT: the net is unsafe. A limit is no failure: see pt_unfolding.limit. Release after PT_OK. */
enum pt_status pt_unfold(const struct pt_unfold_options *options, struct pt_unfolding *ret_unfolding,
                         struct pt_err *err) PT_WARN_UNUSED;
void pt_unfolding_release(struct pt_unfolding *unfolding);
/* The events of an event's local configuration, causes before effects; the caller frees them. */
uint32_t *pt_unfolding_history(const struct pt_unfolding *unfolding, uint32_t event, uint32_t *ret_count);

#endif
