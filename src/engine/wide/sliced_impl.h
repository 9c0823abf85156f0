/* The inside of the order `slices=K`: the automaton that reads a recording once, and what its states are made of. */
#ifndef PT_ENGINE_WIDE_SLICED_IMPL_H
#define PT_ENGINE_WIDE_SLICED_IMPL_H

#include "engine/wide/wide_impl.h"

/* Slices count from 0; DROPPED is where the events go that are left out of the run, and is the last. */
enum { SLICED_MOST = 3, SLICED_DROPPED = 3 };
/* A slice as the set of those below it: sets keep the order of slices, and a thread that is in a lower one can do
 * whatever it can do in a higher one. */
static inline uint8_t sliced_code(uint32_t slice)
{
    return (uint8_t)((1u << slice) - 1);
}
static inline uint32_t sliced_decode(uint8_t code)
{
    return (uint32_t)__builtin_popcount(code);
}

/* ---- sliced_monitor.c: what the monitor knows at a point of a run ---- */

/* What a relevant event does to the monitor: equal ones have one number. */
struct sliced_letter {
    uint32_t var, user_event, effect;
    bool initial;          /* the value is the one at the beginning */
    struct pt_value value; /* that a write leaves */
};

/* State, letter and values; the latter only as far as an atom compares several variables, otherwise some that give the
 * same letter. */
struct sliced_config {
    pt_mstate state;
    pt_letter letter;
};

struct sliced_monitor {
    struct wide_search *s;
    struct sliced_letter *letters;
    uint32_t letter_count;
    size_t letter_cap;
    struct sliced_config *configs;
    uint32_t *writers; /* of all variables of the monitor, per configuration: a letter, plus 1; 0: the beginning */
    uint32_t config_count;
    size_t config_cap, writer_cap;
    struct pt_strtab known, known_letters;
    struct pt_map64 steps;
};
void sliced_monitor_init(struct sliced_monitor *monitor, struct wide_search *search);
void sliced_monitor_release(struct sliced_monitor *monitor);
size_t sliced_monitor_bytes(const struct sliced_monitor *monitor);
/* The configuration before the first relevant event: number 0. */
enum { SLICED_FIRST = 0 };
/* The letter of an event that writes a variable of the monitor, or is a user event of it (PT_NONE: it does not, is
 * none). */
uint32_t sliced_monitor_letter(struct sliced_monitor *monitor, uint32_t var, uint32_t user_event,
                               const struct pt_recorded *event, uint64_t place);
uint32_t sliced_monitor_step(struct sliced_monitor *monitor, uint32_t config, uint32_t letter);
/* Nothing follows it. */
static inline bool sliced_is_over(const struct sliced_monitor *monitor, uint32_t config)
{
    pt_mstate state = monitor->configs[config].state;
    return state == PT_MSTATE_BAD || state == PT_MSTATE_ERROR;
}
void sliced_monitor_values(const struct sliced_monitor *monitor, uint32_t config, struct pt_value *values);

/* Makes the letters that can be told from the property alone: of its user events, and of writes of the values that
 * atoms of one variable compare it with, and of their neighbours. Others may come. */
void sliced_monitor_foresee(struct sliced_monitor *monitor);

/* ---- sliced_maps.c: what a slice does to the monitor, wherever it begins ---- */

/* Maps of configurations to configurations, each once, by number; SLICED_UNREAD is that of no letter at all. They are
 * defined on all configurations that the letters known by `sliced_maps_close` lead to from the first. */
enum { SLICED_UNREAD = 0 };
struct sliced_maps {
    struct sliced_monitor *monitor;
    uint32_t letters, configs; /* that they are defined for */
    uint32_t *images;          /* of a map, one after the other */
    size_t image_cap;
    uint32_t count;
    struct pt_strtab known;
    struct pt_map64 steps;
    uint32_t *image; /* that is being made */
    size_t scratch_cap;
};
void sliced_maps_init(struct sliced_maps *maps, struct sliced_monitor *monitor);
void sliced_maps_release(struct sliced_maps *maps);
size_t sliced_maps_bytes(const struct sliced_maps *maps);
/* Forgets all maps but that of no letter. False: there would be too many configurations. */
bool sliced_maps_close(struct sliced_maps *maps);
/* The map that does the same and then reads the letter, which was known; PT_NONE: there are too many. */
uint32_t sliced_maps_step(struct sliced_maps *maps, uint32_t map, uint32_t letter);
static inline uint32_t sliced_maps_image(const struct sliced_maps *maps, uint32_t map, uint32_t config)
{
    return maps->images[(size_t)map * maps->configs + config];
}

/* ---- sliced_layout.c: where a state keeps what events touch ---- */

/* A lock that one thread takes: where the slice is in which its section was opened, plus 1; 0: none is. */
struct sliced_holder {
    uint32_t at;
    uint32_t lock; /* where the lock's bits are */
    uint32_t number;
    bool shared;
};

struct sliced_event {
    uint64_t place;  /* among the events that were told of */
    uint8_t kind;    /* enum wide_kind */
    uint32_t thread; /* where its thread's slice is */
    uint32_t object; /* where that of what it accesses is, of a lock its bits; PT_NONE: nothing that matters */
    uint32_t bits;   /* of a variable: where they are */
    uint32_t holder; /* of a lock operation, among the holders */
    uint32_t letter; /* of the monitor; PT_NONE: it is not relevant */
    uint32_t column;
    bool forks, chains;           /* it starts the thread at `object`; it comes after the operation before it there */
    bool unread;                  /* a write, and no read of the variable is recorded after it */
    uint32_t first_end, end_at;   /* what nobody needs after it, among the ends: from here to before there */
    uint32_t first_held, held_at; /* of a join: what its thread had locked, among the helds */
};

/* A piece of a state that is not needed any more. */
struct sliced_end {
    uint32_t at, bits;
    enum { SLICED_END_SLICE, SLICED_END_READS, SLICED_END_VARIABLE, SLICED_END_LOCK } kind;
};

struct sliced_survey;
struct sliced_grow;
struct sliced_layout {
    struct sliced_survey *survey;
    struct sliced_grow *grow; /* NULL: the survey says where everything is */
    struct sliced_holder *holders;
    uint32_t holder_count;
    size_t holder_cap;
    struct sliced_end *ends;
    uint32_t end_count;
    size_t end_cap;
    uint32_t *helds; /* holders */
    uint32_t held_count;
    size_t held_cap;
    uint32_t bits;       /* how many of a state's bytes, the first ones, are sets of slices: fewer allow more */
    uint32_t bytes;      /* of a state's fields, with these; all are 0 at the beginning of the recording */
    const char *refuses; /* NULL, or why this cannot be explored */
    bool shares;         /* sliced_grow.c */
};
void sliced_layout_init(struct sliced_layout *layout);
void sliced_layout_release(struct sliced_layout *layout);
size_t sliced_layout_bytes(const struct sliced_layout *layout);
/* All events, one after the other; then the end of them. */
void sliced_survey(struct sliced_layout *layout, const struct pt_recorded *event);
void sliced_survey_end(struct sliced_layout *layout);
/* Then the same events again, as often as somebody likes: from the first one on, the ends and helds of all that were
 * told since. False: it is left out, or it is none of those (`refuses` says so). Its letter is PT_NONE. */
#define SLICED_MIXED   "a thread has a lock shared and alone at the same time"
#define SLICED_CHANGED "the trace has changed while it was read"
void sliced_rewind(struct sliced_layout *layout);
bool sliced_tell(struct sliced_layout *layout, const struct pt_recorded *event, bool visible,
                 struct sliced_event *ret_event);

/* What an event is; whether it is one on an object of `wait`, `notify`, `sync`. */
enum wide_kind sliced_kind_of(const struct pt_recorded *event);
bool sliced_is_other(const struct pt_recorded *event);

/* ---- sliced_grow.c: the same, without a survey ---- */

/* No survey is made of a layout that grows; it begins with pieces of zeros, and nothing in them. */
struct sliced_shared { /* what is known to be several threads', by number */
    bool *vars, *locks;
    size_t var_cap, lock_cap;
    bool all; /* whatever there is */
};
void sliced_grow_init(struct sliced_layout *layout, uint32_t slices, struct sliced_shared *shared,
                      const struct pt_names *names);
void sliced_grow_release(struct sliced_layout *layout); /* sliced_layout_release does it */
size_t sliced_grow_bytes(const struct sliced_layout *layout);
/* Before an event: whether there may be too little room for what it touches. Then what no state has anything in is
 * given back, by the union of all states' fields; and if it is still tight, there are more bytes, of sets and of the
 * rest, behind those that there were (true: there are). */
bool sliced_grow_is_tight(const struct sliced_layout *layout);
void sliced_grow_sweep(struct sliced_layout *layout, const uint8_t *any);
bool sliced_grow_widen(struct sliced_layout *layout);
/* As sliced_tell, once; the ends and helds are this event's. False, and `shares`: something is shared, which is known
 * now, and has to be from the first event on. */
bool sliced_grow_tell(struct sliced_layout *layout, const struct pt_recorded *event, bool visible,
                      struct sliced_event *ret_event);

/* ---- sliced_table.c: the states after an event ---- */

/* States of one length. Of two that differ only in the sets that begin them, and of which one's sets are all in the
 * other's, it has the one with less: whatever may follow the other may follow it. */
struct sliced_table {
    uint8_t *states;
    uint32_t *others; /* per state: the next one with the same rest, plus 1 */
    uint32_t count, cap;
    uint32_t *slots; /* per rest: the number of its first state, plus 1 */
    uint32_t mask, rests;
    uint32_t length, bits; /* of a state; how much of it are sets */
};
void sliced_table_init(struct sliced_table *table, uint32_t length, uint32_t bits);
void sliced_table_clear(struct sliced_table *table);
void sliced_table_release(struct sliced_table *table);
size_t sliced_table_bytes(const struct sliced_table *table);
static inline uint8_t *sliced_table_state(const struct sliced_table *table, uint32_t number)
{
    return table->states + (size_t)number * table->length;
}
/* The number of a state, which may be that of one it takes the place of; PT_NONE: there is one with less. */
uint32_t sliced_table_add(struct sliced_table *table, const uint8_t *state);
/* Longer states from here on, in a table that is only gone through until it is cleared: sets and rest, `fields` bytes
 * so far, get zeros behind them, and what came after them is at `ends`. */
void sliced_table_widen(struct sliced_table *table, uint32_t length, uint32_t bits, uint32_t fields, uint32_t ends);

/* ---- sliced.c: the passes ---- */

enum { SLICED_STATES = 1 << 22 };
struct sliced {
    struct wide_search *s;
    struct sliced_monitor monitor;
    struct sliced_layout layout;
    struct sliced_event *events; /* where all are kept */
    uint32_t count;
    uint32_t last;   /* slice of this pass */
    uint32_t length; /* of a state: fields, ends of slices, beginnings of slices after the first */
    uint32_t ends;   /* where they are in a state */
    struct sliced_table now, next;
    uint32_t *starts[SLICED_MOST + 1]; /* in which slice k can begin */
    uint32_t start_count[SLICED_MOST + 1];
    size_t start_cap[SLICED_MOST + 1];
    struct sliced_maps *maps; /* in place of the beginnings: what each slice after the first does; NULL: none */
    uint32_t most;            /* states at a time: further ones are left out, and the answer is not whole */
    uint8_t *state;           /* that is being made */
    bool keep;
    uint32_t **guesses;   /* per event and state */
    uint32_t guess_count; /* events */
    size_t guess_cap, guess_bytes;
    bool full;
    uint64_t made, looked;
    bool found;
    uint32_t found_event, found_state, found_config;
};
void sliced_init(struct sliced *x, struct wide_search *search);
void sliced_release(struct sliced *x);
/* A pass with slices 0..last, when the layout is made; each of its events; and when all were read, where the slice
 * after these can begin. Reading: false when it was cut off. `number` is what the guess and a violation are kept under.
 */
void sliced_begin_pass(struct sliced *x, uint32_t last);
/* When the layout has become longer in between. */
void sliced_set_length(struct sliced *x);
/* The configuration at the end of a slice; where there are maps, of slices after the first theirs. */
uint32_t sliced_end_at(const struct sliced *x, const uint8_t *state, uint32_t slice);
bool sliced_read(struct sliced *x, const struct sliced_event *event, uint32_t number);
void sliced_collect_starts(struct sliced *x);
/* Nothing was found in the last pass. */
enum pt_wide_end sliced_end(const struct sliced *x);

/* ---- sliced_step.c: one event, put into one slice ---- */

/* Puts an event into slice 0..last or leaves it out (SLICED_DROPPED). False: no run is possible in which it is there.
 */
bool sliced_take(const struct sliced_layout *layout, uint8_t *fields, const struct sliced_event *event, uint32_t slice,
                 uint32_t last);
/* If all events to come are left out: do the sections that stay open leave the locks to nobody who took them? */
bool sliced_may_end(const struct sliced_layout *layout, const uint8_t *fields, uint32_t last);

#endif
