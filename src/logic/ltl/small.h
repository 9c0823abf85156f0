/*
 * Small state-based automata over few classes of letters, as matrices of words: cheap to change and to compare with the
 * language they are to have. Internal to the automaton construction; shrink.c is what uses all of it.
 */
#ifndef PT_LOGIC_LTL_SMALL_H
#define PT_LOGIC_LTL_SMALL_H

#include "logic/ltl/tgba.h"

enum { PT_SMALL_MOST = 64 }; /* states, and classes of letters: sets of either are words */

/* Letters that no label tells apart are one class. */
struct pt_letters {
    struct pt_bdds *bdds; /* borrowed */
    pt_bdd class[PT_SMALL_MOST];
    uint32_t count;
};
void pt_letters_init(struct pt_letters *letters, struct pt_bdds *bdds);
/* Splits the classes by the automaton's labels. False when there would be too many. */
bool pt_letters_split(struct pt_letters *letters, const struct pt_tgba *tgba) PT_WARN_UNUSED;
uint64_t pt_letters_of(const struct pt_letters *letters, pt_bdd label);

struct pt_small {
    uint32_t count, initial;
    uint64_t accepting;
    uint64_t next[PT_SMALL_MOST];                   /* per state: its successors */
    uint64_t letters[PT_SMALL_MOST][PT_SMALL_MOST]; /* from, to */
};
/* Of a state-based automaton of at most PT_SMALL_MOST states, by whose labels the letters were split. */
void pt_small_read(struct pt_small *a, const struct pt_letters *letters, const struct pt_tgba *tgba);
/* NULL when the BDDs overflowed. */
struct pt_tgba *pt_small_write(const struct pt_small *a, const struct pt_letters *letters);
void pt_small_add(struct pt_small *a, uint32_t from, uint32_t to, uint64_t letters);
/* q becomes p, which has the edges of both and accepts if either does. The last state gets q's number. */
void pt_small_merge(struct pt_small *a, uint32_t p, uint32_t q);
/* Takes q, which is not initial, away with its edges. The last state gets its number. */
void pt_small_drop(struct pt_small *a, uint32_t q);

/* The words that an automaton must not accept: those of the negation's. */
struct pt_outside;
/* NULL when it has more than PT_SMALL_MOST states. `states` is the most that an automaton compared with it may have. */
struct pt_outside *pt_outside_new(const struct pt_tgba *negation, const struct pt_letters *letters, uint32_t states);
void pt_outside_free(struct pt_outside *o);
/* Whether the automaton accepts none of them. *work falls by the steps it took; false once nothing is left. */
bool pt_outside_avoids(struct pt_outside *o, const struct pt_small *a, uint64_t *work);
/* What decides most questions before they are asked. */
struct pt_meetings {
    uint64_t reached[PT_SMALL_MOST]; /* per state: the negation's states that some word leads to together with it */
    uint64_t live[PT_SMALL_MOST];    /* those that share an accepted word with it */
};
/* False once no work is left. */
bool pt_outside_meet(struct pt_outside *o, const struct pt_small *a, struct pt_meetings *ret, uint64_t *work);
/* The letters that may lead from p to q: with another one some forbidden word is accepted at once. Necessary, not
 * sufficient: a run may take a new edge again and again. */
uint64_t pt_outside_letters(const struct pt_outside *o, const struct pt_meetings *m, uint32_t p, uint32_t q);

enum { PT_INCLUDES_MOST = 16 };
/* Whether b, of at most PT_INCLUDES_MOST states, accepts every word of a, which is pruned. False, too, past the work.
 */
bool pt_small_includes(const struct pt_small *b, const struct pt_small *a, uint32_t letter_count, uint64_t *work);

#endif
