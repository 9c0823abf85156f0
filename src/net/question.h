/* Questions about what a 1-safe net can reach. */
#ifndef PT_NET_QUESTION_H
#define PT_NET_QUESTION_H

#include "net/unfold.h"

enum pt_question_kind {
    PT_ASK_NOTHING,  /* the whole prefix is built: its size, and the net's safety */
    PT_ASK_COVER,    /* can all of `places` be marked at once? */
    PT_ASK_REACH,    /* can `places` be marked, and no others? */
    PT_ASK_DEADLOCK, /* can it get where no transition is enabled and, unless `places` is NULL, one of them is marked?
                      */
};

struct pt_question {
    enum pt_question_kind kind;
    const uint32_t *places; /* no place twice */
    uint32_t place_count;
    bool unfold; /* by the prefix alone, whatever the net's structure shows */
    bool plain;  /* an arc to a place and back consumes and makes a token; else it reads the place */
    uint64_t event_limit, memory_limit;               /* 0: none; the former counts histories */
    void (*progress)(void *context, uint64_t events); /* NULL: nobody asks */
    void *progress_context;
};

struct pt_answer {
    bool found;
    uint32_t *firings; /* transitions, in an order in which they can fire; the caller frees */
    uint32_t firing_count;
    bool *marked;   /* by place: where they lead; the caller frees; NULL where nothing was found */
    bool unfolded;  /* false: the net's structure alone has answered, and shows that it is 1-safe */
    uint32_t traps; /* no deadlock: so many traps of the net show that */
    uint64_t conditions, events, histories, cutoffs, peak_bytes; /* histories: of all events; cut-offs: of these */
    struct pt_err limit;                                         /* PT_ELIMIT: the answer is unknown */
};

/* PT_EINPUT: the net is not 1-safe. May add a transition to the net for as long as it runs,
 * and sorts its arcs (pt_net_find_reads). Firings have been replayed (firing.h). */
enum pt_status pt_net_ask(struct pt_net *net, const struct pt_question *question, struct pt_answer *ret_answer,
                          struct pt_err *err) PT_WARN_UNUSED;
void pt_answer_release(struct pt_answer *answer);

#endif
