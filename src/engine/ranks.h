/*
 * The inside of ranks.c and ranks_window.c: levels of bounded windows as sets of events.
 *
 * The *window* is the events that are not in all cuts of the level, in trace order, as far as they are needed: bit j of
 * a cut's *word* says whether it has the j-th of them. Events that come to be in all cuts are taken out now and then,
 * so a thread that has long been silent takes one bit, not as many as there were events since.
 */
#ifndef PT_ENGINE_RANKS_H
#define PT_ENGINE_RANKS_H

#include "engine/lattice_impl.h"

__extension__ typedef unsigned __int128 lat_word;

/* An event of the window. */
struct lat_rank_event {
    uint64_t number, index;
    uint32_t column, effect, user_event, var; /* as in struct lat_event */
    bool joint;
};

/* What the bits are. Remembered levels share it as long as events are only added: in their words these have no bit. */
struct lat_window {
    uint32_t refs;
    uint32_t count;
    uint64_t end; /* events up to this number are in the window or in all cuts */
    struct lat_rank_event events[LAT_RANK_SPAN];
};

/* A step that leads to a cut: from which cut of the level before, by which event. */
struct lat_rank_edge {
    uint32_t from, bit;
};

/* How the cuts of a level are linked to those of the level before. */
struct lat_rank_links {
    uint32_t *first_edge; /* per cut, and one more: where its edges begin */
    struct lat_rank_edge *edges;
    uint32_t edge_count;
    uint32_t *child; /* per cut of the level before: its last child, or the number of cuts */
    struct lat_rank_child {
        uint32_t top;     /* the bit that it has and its parent has not */
        uint32_t sibling; /* the child before it */
    } * children;         /* per cut, and one more, where searches end */
    size_t first_edge_cap, edge_cap, child_cap, children_cap;
};

/* What atoms over several variables amount to, by the last writes of those variables. */
enum { LAT_RANK_JOINTS = 8, LAT_RANK_MEMOS = 64 };
struct lat_rank_memo {
    uint64_t writes[LAT_RANK_JOINTS];
    uint32_t effect; /* PT_NONE: none here yet */
};

struct lat_ranks {
    struct lat_window *window;
    lat_word need[LAT_RANK_SPAN]; /* the events of the window that this one needs */
    lat_word *words, *next_words; /* of the cuts of the current level, ascending, and of those being made */
    size_t word_cap, next_cap;
    uint32_t *parents; /* of those being made: cuts of the current level */
    size_t parent_cap;
    lat_word common, any;             /* the events of the window in all cuts, in some */
    struct lat_rank_links here, made; /* of the current level, and of the one being made */
    bool linked;                      /* `here` is that of the current level */
    uint32_t calm; /* so many levels before it, and itself, were such that edges tell nothing: see is_calm */
    bool stepped;  /* runs are stepped as they come: events of the property may tell them apart */
    /* The variables whose values are asked for: of a module all, else those of atoms over several. */
    const uint32_t *vars;
    uint32_t var_count;
    lat_word *writes;        /* per variable: the events of the window that write it */
    struct pt_value *values; /* per variable: what the events that were taken out leave, ... */
    uint64_t *value_numbers; /* ... and which of them wrote it */
    struct lat_rank_memo *memos;
    uint64_t entered, retry; /* the level at which this began; at which to begin again at the earliest */
    uint32_t patience;       /* levels to wait after leaving */
    size_t pinned;           /* bytes of the events that came since a level was remembered */
};

static inline lat_word lat_bit(uint32_t bit)
{
    return (lat_word)1 << bit;
}
static inline lat_word lat_low_bits(uint32_t count)
{
    return count >= LAT_RANK_SPAN ? ~(lat_word)0 : lat_bit(count) - 1;
}
static inline uint32_t lat_lowest_bit(lat_word word) /* not of 0 */
{
    return (uint64_t)word ? (uint32_t)__builtin_ctzll((uint64_t)word)
                          : 64 + (uint32_t)__builtin_ctzll((uint64_t)(word >> 64));
}
static inline uint32_t lat_highest_bit(lat_word word) /* not of 0 */
{
    uint64_t high = (uint64_t)(word >> 64);
    return high ? 127 - (uint32_t)__builtin_clzll(high) : 63 - (uint32_t)__builtin_clzll((uint64_t)word);
}
static inline uint32_t lat_bit_count(lat_word word)
{
    return (uint32_t)(__builtin_popcountll((uint64_t)word) + __builtin_popcountll((uint64_t)(word >> 64)));
}

/* ranks_window.c */
/* Words for a level that was made elsewhere; false: it does not fit into the window. */
bool lat_window_begin(struct pt_lattice *l);
/* Takes out events that are in every cut, when that is worth while, and lets in those that have come. */
void lat_window_slide(struct pt_lattice *l);
/* The events of the window that are in every cut are so in their columns, too. */
void lat_window_settle(struct pt_lattice *l);
/* May some event of Q that is not in the window be the next one of a cut? True also when that is not known. */
bool lat_window_misses(struct pt_lattice *l);
/* The cut's values of the window's variables, into the first worker's; and the numbers of the events that wrote them.
 */
void lat_window_values(struct pt_lattice *l, lat_word word);
void lat_window_writes(const struct pt_lattice *l, lat_word word, uint64_t *ret_writes);

#endif
