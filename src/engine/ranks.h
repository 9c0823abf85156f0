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
/* The same, where bits are all that matters: compilers make one register of it. The lower half comes first. */
typedef uint64_t lat_halves __attribute__((vector_size(sizeof(lat_word)), may_alias));

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
 * What the bits are. Who makes levels has one, and who fills them another, which follows the first: what it needs of
 * that is in the levels. Remembered levels share the latter as long as events are only added: in their words these have
 * no bit.
 */
struct lat_window {
    uint32_t count;
    uint32_t remembered; /* levels */
    bool left;           /* there is another one since then */
    uint64_t end;        /* events up to this number are in the window or in all cuts */
    /* Of who fills, where values are asked for: per event what it wrote, and per variable that is asked for what is
     * taken out. */
    struct pt_value *values;
    struct lat_rank_value *settled;
    struct lat_rank_event events[LAT_RANK_SPAN];
};

/* The events of one column that have bits. */
struct lat_rank_group {
    lat_word bits;
    uint64_t last; /* its index; and of the first: group_firsts */
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

/* Cuts of a level that have the same top, one after the other. */
struct lat_rank_run {
    uint32_t top, end; /* the cut after the last of them */
};

/* A level as it is made: all that who fills it needs. A cut is its parent and its top. */
struct lat_rank_level {
    uint64_t level;
    lat_word taken_out;   /* the events that lost their bits since the level before, by the bits they had */
    uint64_t end;         /* of the window */
    uint64_t pinned;      /* bytes of the events that came since the level before */
    uint64_t event_bytes; /* of the lattice, when it was made */
    /* The events that got bits since the level before, and what they wrote, where that is asked for. */
    const struct lat_rank_event *arrived;
    const struct pt_value *values;
    uint32_t arrived_count;
    pt_mstate observed; /* the monitor state of the actual run at this level */
    uint32_t count;     /* cuts */
    uint32_t run_count;
    uint32_t *parents; /* per cut: which one of the level before; room for twice the window's cuts */
    struct lat_rank_run runs[LAT_RANK_SPAN];
};
static inline uint32_t *lat_rank_parents(const struct pt_lattice *l)
{
    return pt_xmalloc(2 * l->options->window * sizeof(uint32_t));
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
    uint32_t
        var_count; /* the variables whose values are asked for: of a module all, else those of atoms over several */
    const uint32_t *vars;
    bool stepped;            /* runs are stepped as they come: events of the property may tell them apart */
    bool alone;              /* levels are filled by who makes them, for a while */
    struct lat_relay *relay; /* somebody else fills them (relay.c); NULL: nobody does yet */

    /* Making cuts. */
    _Alignas(LAT_CACHE_LINE) struct lat_window *window;
    struct pt_value *values; /* what its events wrote, where that is asked for */
    uint32_t told;           /* so many of its events have been in levels */
    struct lat_rank_level making;
    lat_word need[LAT_RANK_SPAN]; /* the events of the window that this one needs */
    struct lat_rank_group groups[LAT_RANK_SPAN];
    uint64_t group_firsts[LAT_RANK_SPAN]; /* ... apart, as they are looked at for each event */
    uint32_t group_lanes[LAT_RANK_SPAN];
    uint32_t group_count;
    lat_word *words, *next_words; /* of the cuts of the level that was made last, ascending; of the next one, or the one
                                     before, in the same bits */
    size_t word_cap, next_cap;
    uint32_t count;     /* of the level that was made last */
    uint32_t top_count; /* its runs, as long as bits are the same; 0: not known */
    struct lat_rank_run tops[LAT_RANK_SPAN];
    uint64_t made;                     /* so many levels were; the next one has this number */
    lat_word common, any;              /* the events of the window in all cuts, in some */
    lat_word taken_out;                /* since that level was made, by the bits that they had */
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
    lat_word *own_words, *own_from;   /* memory for them, where they are not those above, in lines of their own */
    uint32_t from_count;
    struct lat_rank_links here, next; /* of the level filled last, and of the one being filled */
    bool linked;                      /* `here` is that of the level filled last */
    uint32_t calm; /* so many levels before it, and itself, were such that edges tell nothing: see is_calm */
    struct lat_window *reading;
    lat_word *writes; /* per variable that is asked for: the events of that window that write it */
    struct lat_rank_memo *memos;
    struct lat_tally tally;
};

static inline lat_word lat_bit(uint32_t bit)
{
    return (lat_word)1 << bit;
}
static inline lat_halves lat_halves_of(lat_word word)
{
    return (lat_halves){(uint64_t)word, (uint64_t)(word >> 64)};
}
static inline lat_word lat_word_of(lat_halves halves)
{
    return (lat_word)halves[1] << 64 | halves[0];
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
/* Without events; `valued`: of who fills. */
struct lat_window *lat_window_new(const struct lat_ranks *r, bool valued);
void lat_window_free(struct lat_window *window);
/* Who fills has none any more; it stays while a level with it is remembered. */
void lat_window_leave(struct lat_ranks *r);
/* Words for a level that was made elsewhere; false: it does not fit into the window. */
bool lat_window_begin(struct pt_lattice *l);
/* The same for a level of one cut, that has all events so far. */
void lat_window_begin_empty(struct pt_lattice *l);
/* Takes out events that are in every cut, when that is worth while, and lets in those that have come. */
void lat_window_slide(struct pt_lattice *l);
/* The events of the window that are in every cut are so in their columns, too, and no later level has bits for them.
 */
void lat_window_settle(struct pt_lattice *l);
/* The window and the columns as they were when the level that was filled last, whose words these are, was made. */
void lat_window_rewind(struct pt_lattice *l, const lat_word *words, uint32_t count);
/* May some event of Q that is not in the window be the next one of a cut? True also when that is not known. */
bool lat_window_misses(struct pt_lattice *l);
/* Of the level that is filled: the other window follows; what is known of the level before it is in its bits then. */
void lat_window_read(struct pt_lattice *l, const struct lat_rank_level *level);
/* The cut's values of the window's variables, into the first worker's; and the numbers of the events that wrote them.
 */
void lat_window_values(struct pt_lattice *l, lat_word word);
void lat_window_writes(const struct pt_lattice *l, lat_word word, uint64_t *ret_writes);

/* ranks_fill.c */
/* Runs, letters and sets of a level's cuts, into `next`. Events are not looked at, nor columns. `ahead`: others are
 * made meanwhile. */
void lat_ranks_fill(struct pt_lattice *l, const struct lat_rank_level *level, bool ahead);

#endif
