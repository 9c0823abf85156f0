/*
 * Subset construction on the fly, with the times of `within` in mind: a step from a set of automaton states under a
 * letter is looked up once it was taken before. A move gives the next set and, for each state of it, from which states
 * of this set it is reached and whether it accepts; what is remembered per state (the time of its last accepting pass)
 * is carried over by whoever follows the move, so that times take no part in the look-up.
 *
 * Cost: a known step is two loads. A new one is linear in the edges of the set's states, times 2^n when n atoms are
 * open. Memory: per (set, letter) met; bounded by pt_moves_forget.
 */
#ifndef PT_ENGINE_MOVES_H
#define PT_ENGINE_MOVES_H

#include "base/table.h"
#include "logic/monitor/monitor.h"

struct pt_set_move {
    uint32_t set;    /* the next one */
    uint32_t count;  /* of its states */
    uint64_t open;   /* atoms without a value on which the move depends; then it is the union over their truth values */
    uint32_t code[]; /* per state of the next set: predecessors << 1 | accepting, then their places in this set */
};

struct pt_moves {
    struct pt_monitor *monitor;
    const struct pt_automaton *automaton;
    struct pt_strtab sets; /* sorted arrays of automaton states; the empty one has its id too */
    struct pt_moves_row {
        struct pt_set_move **by_letter; /* NULL: not taken yet */
        size_t cap;
    } * rows; /* per set */
    size_t row_cap;
    struct pt_arena arena; /* of the moves */
    size_t row_bytes;
    size_t bytes; /* all of this, as of the last move made */
    struct pt_moves_pairs {
        uint64_t *items; /* target << 32 | place of its source in the set */
        size_t cap;
        uint32_t len;
    } pairs, other; /* scratch */
};

/* The monitor has an automaton and outlives this. */
void pt_moves_init(struct pt_moves *moves, struct pt_monitor *monitor);
void pt_moves_release(struct pt_moves *moves);
/* Sorts the states in place. */
uint32_t pt_moves_set(struct pt_moves *moves, uint32_t *states, uint32_t count);
static inline const uint32_t *pt_moves_states(const struct pt_moves *moves, uint32_t set, uint32_t *ret_count)
{
    *ret_count = pt_strtab_len(&moves->sets, set) / (uint32_t)sizeof(uint32_t);
    return (const uint32_t *)(const void *)pt_strtab_text(&moves->sets, set); /* arenas align to 16 */
}
/* Every state that is reached from the set by any word, the empty one included. */
uint32_t pt_moves_closure(struct pt_moves *moves, uint32_t set);

const struct pt_set_move *pt_moves_make(struct pt_moves *moves, uint32_t set, pt_letter letter);
static inline const struct pt_set_move *pt_moves_get(struct pt_moves *moves, uint32_t set, pt_letter letter)
{
    if (set < moves->row_cap && letter < moves->rows[set].cap && moves->rows[set].by_letter[letter])
        return moves->rows[set].by_letter[letter];
    return pt_moves_make(moves, set, letter);
}

/* Drops everything but the given sets, whose new ids replace the old ones. */
void pt_moves_forget(struct pt_moves *moves, uint32_t *sets, uint32_t count);

#endif
