/*
 * The inside of ranks.c, ranks_fill.c, ranks_window.c and relay.c: levels of bounded windows as sets of events.
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

/* A variable as the events that have no bit any more leave it. */
struct lat_rank_value {
    struct pt_value value;
    uint64_t number; /* of the event that wrote it; 0: none */
};

/*
 * What the bits are. Remembered levels share it as long as events are only added: in their words these have no bit.
 * `count`, `end` and further events are written by who makes levels; who fills them has what it needs of that in the
 * level.
 */
struct lat_window {
    _Atomic uint32_t refs; /* of who makes levels, and of who fills them, while one of its levels is remembered, too */
    uint32_t count;
    uint64_t end; /* events up to this number are in the window or in all cuts */
    /* Where values are asked for: per event what it wrote, and per variable that is asked for what is taken out. */
    struct pt_value *values;
    struct lat_rank_value *settled;
    struct lat_rank_event events[LAT_RANK_SPAN];
    uint32_t
        remembered; /* levels; this and what follows is by who fills them, and far from what the other one writes */
    bool left;      /* there is another one since then */
};

/* The events of one column that have bits. */
struct lat_rank_group {
    lat_word bits;
    uint64_t first, last; /* their indices */
    uint32_t column;
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
    uint32_t *child; /* per cut of the level before: its last child, or the greatest number of cuts */
    struct lat_rank_child {
        uint32_t top;     /* the bit that it has and its parent has not */
        uint32_t sibling; /* the child before it */
    } * children;         /* per cut, and one more, where searches end */
    size_t first_edge_cap, edge_cap, child_cap, children_cap;
};

/*
 * A level as it is made: all that who fills it needs, in few cache lines, since it may be on another core (relay.c). A
 * cut is its parent and its top.
 */
struct lat_rank_level {
    _Alignas(LAT_CACHE_LINE) struct lat_window *window;
    uint64_t level;
    lat_word taken_out; /* the events that lost their bits since the level before, by the bits they had */
    size_t pinned;      /* bytes of the events that came since the level before */
    size_t event_bytes; /* of the lattice, when it was made */
    uint32_t *steps;    /* per cut: see lat_step_parent */
    uint32_t count;     /* cuts */
    uint32_t bits;      /* events of the window, when it was made */
    pt_mstate observed; /* the monitor state of the actual run at this level */
    bool begins;        /* it is the first one with its window */
};
/* Asks for a cache line that another core may have, before it is read, or written: then the other one loses it. */
static inline void lat_fetch(const void *line)
{
    __builtin_prefetch(line, 0);
}
static inline void lat_fetch_to_write(const void *line)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line)); /* the compiler's would be one for reading */
#else
    __builtin_prefetch(line, 1);
#endif
}
/* All of a level, or the beginning of a large one. */
static inline void lat_level_fetch(const struct lat_rank_level *level, void (*fetch)(const void *line))
{
    enum { MOST = 16 * LAT_CACHE_LINE };
    size_t bytes = level->steps ? level->count * sizeof *level->steps : 0;
    fetch(level);
    fetch((const char *)level + LAT_CACHE_LINE);
    for (size_t at = 0; at < bytes && at < MOST; at += LAT_CACHE_LINE)
        fetch((const char *)level->steps + at);
}
enum { LAT_STEP_TOP_BITS = 8 };
static inline uint32_t lat_step_top(uint32_t step)
{
    return step & ((1u << LAT_STEP_TOP_BITS) - 1);
}
static inline uint32_t lat_step_parent(uint32_t step)
{
    return step >> LAT_STEP_TOP_BITS;
}

/* What atoms over several variables amount to, by the last writes of those variables. */
enum { LAT_RANK_JOINTS = 8, LAT_RANK_MEMOS = 64 };
struct lat_rank_memo {
    uint64_t writes[LAT_RANK_JOINTS];
    uint32_t effect; /* PT_NONE: none here yet */
};

struct lat_relay;

struct lat_ranks {
    /* Both look at these, nobody changes them. */
    struct lat_rank_level *levels; /* those that were made last: number n is at n modulo `slots` */
    uint32_t slots;
    uint32_t
        var_count; /* the variables whose values are asked for: of a module all, else those of atoms over several */
    const uint32_t *vars;
    bool stepped;            /* runs are stepped as they come: events of the property may tell them apart */
    bool alone;              /* levels are filled by who makes them, for a while */
    struct lat_relay *relay; /* somebody else fills them (relay.c); NULL: nobody does yet */

    /* Making cuts. */
    _Alignas(LAT_CACHE_LINE) struct lat_window *window;
    lat_word need[LAT_RANK_SPAN]; /* the events of the window that this one needs */
    struct lat_rank_group groups[LAT_RANK_SPAN];
    uint32_t group_count;
    lat_word *words, *next_words; /* of the cuts of the level that was made last, ascending; of the next one, or the one
                                     before, in the same bits */
    size_t word_cap, next_cap;
    uint32_t count;                    /* of the level that was made last */
    uint64_t made;                     /* so many levels were; the next one has this number */
    lat_word common, any;              /* the events of the window in all cuts, in some */
    bool begins;                       /* there is another window since that level was made, ... */
    lat_word taken_out;                /* ... without these */
    size_t pinned;                     /* bytes of the events that came since */
    uint64_t entered, retry;           /* the level at which this began; at which to begin again at the earliest */
    uint32_t patience;                 /* levels to wait after leaving */
    uint64_t trial_level, trial_since; /* at which level, and when, timing began: relay.c */
    uint64_t trial_due;                /* the level after which somebody else is to fill */
    double alone_ns;                   /* what a level takes alone */
    bool on_trial;

    /* Filling them. */
    _Alignas(LAT_CACHE_LINE) const struct lat_rank_level *filling;
    lat_word *fill_words, *fill_from; /* the words of its cuts, and of the level before, in the same bits */
    lat_word *own_words, *own_from;   /* memory for them, where they are not those above */
    size_t own_words_cap, own_from_cap;
    uint32_t from_count;
    struct lat_rank_links here, next; /* of the level filled last, and of the one being filled */
    bool linked;                      /* `here` is that of the level filled last */
    uint32_t calm;    /* so many levels before it, and itself, were such that edges tell nothing: see is_calm */
    lat_word *writes; /* per variable: the events of the window that write it, as far as `read` */
    uint32_t read;
    struct lat_rank_memo *memos;
    struct lat_window *reading; /* has a reference */
    struct lat_tally tally;
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
/* The bits of each word that are in `keep`, packed. */
void lat_pack_words(lat_word *words, uint32_t count, lat_word keep);
/* Words for a level that was made elsewhere; false: it does not fit into the window. */
bool lat_window_begin(struct pt_lattice *l);
/* Takes out events that are in every cut, when that is worth while, and lets in those that have come. */
void lat_window_slide(struct pt_lattice *l);
/* The events of the window that are in every cut are so in their columns, too, and no later level has bits for them.
 */
void lat_window_settle(struct pt_lattice *l);
/* The columns as they were when this level, whose words these are, was made, if others have been since. */
void lat_window_rewind(struct pt_lattice *l, struct lat_window *window, const lat_word *words, uint32_t count);
/* May some event of Q that is not in the window be the next one of a cut? True also when that is not known. */
bool lat_window_misses(struct pt_lattice *l);
/* Of the level that is filled: takes notice of its window; what is known of the level before it is in its bits then. */
void lat_window_read(struct pt_lattice *l, const struct lat_rank_level *level);
/* The cut's values of the window's variables, into the first worker's; and the numbers of the events that wrote them.
 */
void lat_window_values(struct pt_lattice *l, lat_word word);
void lat_window_writes(const struct pt_lattice *l, lat_word word, uint64_t *ret_writes);

static inline struct lat_rank_level *lat_rank_level(const struct lat_ranks *r, uint64_t number)
{
    return &r->levels[number % r->slots];
}
/* ranks_fill.c */
/* Runs, letters and sets of a level's cuts, into `next`. Events are not looked at, nor columns. `ahead`: others are
 * made meanwhile. */
void lat_ranks_fill(struct pt_lattice *l, const struct lat_rank_level *level, bool ahead);

#endif
