/*
 * Complete finite prefixes of the unfolding of a 1-safe net (unfold.c), read arcs included, with what causal atomicity
 * asks of them: guesses, colours, and a stop at the first violation of each block. For a plain net, all of that is
 * absent.
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
    /* For tests: these events, walk_from to walk_until - 1 and from 2 * walk_until on, are extended by walks and all
     * others by rows, where the net allows; 0 and 0: as it pays (unfold_choose.c). The prefix is the same. */
    uint32_t walk_from, walk_until;
    void (*progress)(void *context, uint64_t events); /* called now and then; NULL: nobody asks */
    void *progress_context;
};

/* An event with one history: where nothing is read, an event has no other. */
struct pt_unfold_event {
    uint32_t transition;
    uint32_t pre_start;  /* into pt_unfolding.pre: what it consumes, what it reads, marks of other reads */
    uint32_t mark_count; /* of the latter: reads that its history has beside those of its conditions */
    uint32_t cause_start, cause_count; /* into pt_unfolding.causes: the events that made these, but for event 0 */
    uint32_t post_start, post_count;   /* its conditions, which are consecutive, then a mark for each read */
    uint32_t over_start, over_count;   /* into pt_unfolding.over: the latest marks in its history of reads of what it
                                          consumes or reads; its own stand for the latter from then on */
    uint32_t size;                     /* of its history */
    uint32_t depth;                    /* longest chain of causes that ends in it */
    uint32_t tag;                      /* the block that its history guesses, PT_NONE */
    uint8_t colour;                    /* of the tokens it makes */
    bool cutoff;
    bool goal;
    uint64_t marking; /* hash of the marking that its history reaches */
    uint64_t delta;   /* what it adds to that of its causes */
};

struct pt_unfold_violation {
    uint32_t block, event;
};

struct pt_unfolding {
    const struct pt_net *net;
    struct pt_unfold_event *events; /* event 0 makes the initial marking and is none of the net's */
    uint32_t *pre;                  /* conditions */
    uint32_t *causes;               /* events */
    uint32_t *over;                 /* marks */
    /* By condition. A mark stands for one read of one condition, and is at no place. */
    uint32_t *condition_place, *condition_event;
    uint32_t *condition_read; /* what a mark is the read of; PT_NONE: it is no mark */
    uint32_t event_count, pre_count, cause_count, over_count, condition_count, cutoff_count;
    uint32_t initial_count;     /* conditions of event 0 */
    uint32_t walked;            /* events whose extensions were found by walks (unfold_walk.c) */
    uint32_t unsafe_transition; /* after PT_EINPUT: the one that would put a second token on a place */
    /* Events counted once, whatever number of histories they have, and their conditions; those of cut-offs and
     * violations, which are not stored, included. */
    uint64_t occurrence_count, condition_total;
    size_t event_cap, pre_cap, cause_cap, over_cap, condition_cap, condition_event_cap, condition_read_cap;
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
/* The events of an event's history, each after what has to come before it; the caller frees them. */
uint32_t *pt_unfolding_history(const struct pt_unfolding *unfolding, uint32_t event, uint32_t *ret_count);

#endif
