/*
 * Levels of a search as sorted sequences, where a state is one word with a bit to spare for each count
 * (struct wide_packed) and letters follow from events.
 *
 * A step after which nothing is taken at once, a *plain* one, adds a constant to the state's key. So the plain steps of
 * one column from the states of a sorted level are a sorted sequence, its *stream*, and the next level is what merging
 * the streams of all columns gives, with the few steps that lead further, the *jumps*, which wait in a heap. A choice,
 * which stays in its level, leads to a greater key too: its streams read the level that is being made. So states come
 * out in ascending order, each once, when all that leads to it is known, and nothing is looked up by its key.
 *
 * When a state comes out, it is decided which of its columns can move, and by what kind of step; jumps are made then.
 *
 * Guarantee: the states, runs, letters and sets of each level are those of search.c's tables; a violation's search,
 * which keeps its levels, is done there. Cost: per state one comparison and two subtractions for each column, per step
 * a few sequential reads and writes; per jump the logarithm of how many there are in the level.
 */
#include <stdlib.h>

#include "engine/wide/sorted.h"
#include "engine/wide/take.h"

#define NO_STATE UINT64_MAX
enum { MOST_COLUMNS = 32 }; /* a count has a bit and one to spare at least */

/* What has arrived by a jump: the set was stepped. */
struct jump {
    uint64_t key, runs;
    pt_letter letter;
    pt_set set;
    bool visible; /* by a relevant event, not by a choice */
};

struct jumps {
    struct jump *heap;
    uint32_t count;
    size_t cap;
};

/* Arrays by state; those of steps have columns as bits, and an entry behind the last state that has all. */
struct level {
    uint64_t *keys, *runs;
    pt_letter *letters;
    pt_set *sets; /* without flags */
    uint32_t *steps, *choices;
    uint32_t count, cap;
    uint64_t ended;   /* runs that end in it */
    uint32_t arrived; /* states to which relevant events lead, not only choices; and the runs that end with these */
    uint64_t arrived_runs;
    pt_set flags;     /* of all sets */
    uint32_t mistake; /* a state whose set is flagged as an error */
    struct jumps jumps;
};

/* An active column. */
struct lane {
    const struct wide_packed *packed;
    uint64_t mask, step;
    uint32_t shift, column;
};

struct wide_sorted {
    struct wide_search *s;
    struct level levels[2];
    struct lane lanes[MOST_COLUMNS];
    uint32_t lane_count;
    bool chooses;   /* there are events that may be choices */
    bool has_event; /* there are user events: letters depend on who arrives */
};

/* ---- jumps ---- */

static void push_jump(struct jumps *jumps, struct jump jump)
{
    PT_GROW(jumps->heap, jumps->cap, (size_t)jumps->count + 1);
    uint32_t at = jumps->count++;
    for (; at && jumps->heap[(at - 1) / 2].key > jump.key; at = (at - 1) / 2)
        jumps->heap[at] = jumps->heap[(at - 1) / 2];
    jumps->heap[at] = jump;
}

static struct jump pop_jump(struct jumps *jumps)
{
    struct jump top = jumps->heap[0], last = jumps->heap[--jumps->count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < jumps->count; child = 2 * at + 1) {
        child += child + 1 < jumps->count && jumps->heap[child + 1].key < jumps->heap[child].key;
        if (jumps->heap[child].key >= last.key)
            break;
        jumps->heap[at] = jumps->heap[child];
        at = child;
    }
    jumps->heap[at] = last;
    return top;
}

static uint64_t next_jump(const struct jumps *jumps)
{
    return jumps->count ? jumps->heap[0].key : NO_STATE;
}

/* ---- a state that has come out ---- */

static inline const struct wide_packed *next_of(const struct lane *lane, uint64_t key)
{
    return &lane->packed[key >> lane->shift & lane->mask];
}

static inline bool may_happen(const struct wide_packed *next, uint64_t raised, uint64_t guards)
{
    return ((raised - next->least) & guards) == guards && !((raised - next->most) & guards);
}

/*
 * All that is taken at once after a step of column `i` to *key, by the bounds alone. In the state before there was
 * nothing, so only those are asked who watch a column that has moved. False: something can happen of which bounds do
 * not say whether it is safe.
 */
static bool saturate(const struct wide_sorted *o, uint32_t i, uint64_t *key)
{
    uint64_t guards = o->s->p->guards;
    for (uint32_t before, moved = UINT32_C(1) << i; moved;) {
        before = moved;
        moved = 0;
        for (uint32_t j = 0; j < o->lane_count; j++) {
            const struct wide_packed *next = next_of(&o->lanes[j], *key);
            for (; next->watches & (before | moved) && may_happen(next, *key | guards, guards); next++) {
                if (!next->safe)
                    return false;
                *key += o->lanes[j].step;
                moved |= UINT32_C(1) << j;
            }
        }
    }
    return true;
}

/* The same by steps.c. */
static uint64_t saturate_by_definition(struct wide_search *s, uint64_t key, uint32_t column)
{
    wide_state_unpack(&s->state, &key);
    const struct wide_event *e = wide_next(s->p, column, s->state.counts[column]);
    wide_take(&s->state, column);
    wide_saturate(&s->state, wide_changed_by(column, e));
    wide_state_pack(&s->state, &key);
    wide_undo(&s->state, 0);
    return key;
}

static pt_letter letter_after(struct wide_search *s, pt_letter before, const struct wide_packed *event)
{
    return event->effect == PT_NONE ? before : pt_sets_apply(&s->sets, &s->cache, before, event->effect);
}

/* The next event of column `i` in the last state of the level, with all that is taken at once after it. False: there is
 * nothing of that, the step is plain. */
static bool jump(struct wide_sorted *o, struct level *level, struct level *above, uint32_t i)
{
    struct wide_search *s = o->s;
    const struct lane *lane = &o->lanes[i];
    uint32_t last = level->count - 1;
    uint64_t key = level->keys[last];
    const struct wide_packed *packed = next_of(lane, key);
    struct jump jump = {.key = key + lane->step,
                        .runs = level->runs[last],
                        .letter = level->letters[last],
                        .set = level->sets[last],
                        .visible = packed->visible};
    if (!saturate(o, i, &jump.key))
        jump.key = saturate_by_definition(s, key, lane->column);
    if (jump.key == key + lane->step)
        return false;
    if (packed->visible) {
        const struct wide_event *e = wide_next(s->p, lane->column, (uint32_t)(packed - lane->packed));
        jump.letter = letter_after(s, jump.letter, packed);
        pt_letter read = wide_read_letter(s, jump.letter, e);
        jump.set = pt_sets_step(&s->sets, &s->cache, jump.set, read);
    }
    push_jump(packed->visible ? &above->jumps : &level->jumps, jump);
    return true;
}

/* What the columns of the last state of the level can do, but for the plain steps that were known by themselves. */
static __attribute__((noinline)) void find_rest(struct wide_sorted *o, struct level *level, struct level *above,
                                                uint32_t rest)
{
    uint32_t last = level->count - 1;
    for (; rest; rest &= rest - 1) {
        uint32_t i = (uint32_t)__builtin_ctz(rest);
        if (jump(o, level, above, i))
            continue;
        if (next_of(&o->lanes[i], level->keys[last])->visible)
            level->steps[last] |= UINT32_C(1) << i;
        else
            level->choices[last] |= UINT32_C(1) << i;
    }
}

static void grow(struct level *level)
{
    uint32_t cap = level->cap ? 2 * level->cap : 64;
    level->keys = pt_xrealloc(level->keys, cap * sizeof *level->keys);
    level->runs = pt_xrealloc(level->runs, cap * sizeof *level->runs);
    level->letters = pt_xrealloc(level->letters, cap * sizeof *level->letters);
    level->sets = pt_xrealloc(level->sets, cap * sizeof *level->sets);
    level->steps = pt_xrealloc(level->steps, (cap + 1) * sizeof *level->steps);
    level->choices = pt_xrealloc(level->choices, (cap + 1) * sizeof *level->choices);
    level->cap = cap;
}

/* A state with all that it is; what it can do is found. */
static inline __attribute__((always_inline)) void put(struct wide_sorted *o, struct level *level, struct level *above,
                                                      struct jump state, const uint32_t count)
{
    const uint64_t guards = o->s->p->guards, raised = state.key | guards;
    uint32_t at = level->count, able = 0, plain = 0, awaited = 0;
    if (__builtin_expect(at == level->cap, 0))
        grow(level);
    for (uint32_t i = 0; i < count; i++) {
        const struct wide_packed *next = next_of(&o->lanes[i], state.key);
        able |= (uint32_t)may_happen(next, raised, guards) << i;
        plain |= (uint32_t)next->plain << i;
        awaited |= next->watches;
    }
    if (__builtin_expect((state.set & PT_SET_FLAGS) != 0, 0)) {
        level->mistake = state.set & PT_SET_ERROR && !(level->flags & PT_SET_ERROR) ? at : level->mistake;
        level->flags |= state.set & PT_SET_FLAGS;
        state.set &= ~PT_SET_FLAGS;
    }
    uint32_t known = able & plain & ~awaited;
    level->keys[at] = state.key;
    level->runs[at] = state.runs;
    level->letters[at] = state.letter;
    level->sets[at] = state.set;
    level->steps[at] = known;
    level->choices[at] = 0;
    level->steps[++level->count] = level->choices[at + 1] = UINT32_MAX;
    if (!able)
        level->ended = wide_add_runs(level->ended, state.runs);
    if (able != known)
        find_rest(o, level, above, able & ~known);
}

/* ---- levels ---- */

/* The steps of one column, in the order of the states they lead to: where the next one is, and its goal. */
struct streams {
    const uint64_t *keys; /* of the states they come from */
    const uint32_t *steps;
    uint32_t at[MOST_COLUMNS];
    uint64_t heads[MOST_COLUMNS];
};

static inline __attribute__((always_inline)) void seek(struct streams *t, const struct wide_sorted *o, uint32_t i,
                                                       uint32_t at, uint32_t end)
{
    while (!(t->steps[at] >> i & 1))
        at++;
    t->at[i] = at;
    t->heads[i] = at == end ? NO_STATE : t->keys[at] + o->lanes[i].step;
}

/* A set that is made of those that arrive. */
struct gathered {
    bool any;
    pt_set set;
};

static inline __attribute__((always_inline)) void gather(struct wide_search *s, struct gathered *g, pt_set set)
{
    g->set = g->any ? pt_sets_union(&s->sets, &s->cache, g->set, set) : set;
    g->any = true;
}

/* What arrives by relevant events. Where all read the same letter, sets are united first and stepped then: a step of a
 * union is the union of the steps. */
static inline __attribute__((always_inline)) void gather_steps(struct wide_sorted *o, const struct level *from,
                                                               struct streams *t, struct jump *state,
                                                               struct gathered *stepped, const uint32_t count,
                                                               const bool has_event)
{
    struct wide_search *s = o->s;
    struct gathered unstepped = {false, PT_SET_EMPTY};
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        if (t->heads[i] != state->key)
            continue;
        uint32_t at = t->at[i];
        const struct lane *lane = &o->lanes[i];
        uint64_t number = from->keys[at] >> lane->shift & lane->mask;
        if (!any)
            state->letter = letter_after(s, from->letters[at], &lane->packed[number]);
        any = true;
        state->runs = wide_add_runs(state->runs, from->runs[at]);
        if (has_event) {
            const struct wide_event *e = wide_next(s->p, lane->column, (uint32_t)number);
            pt_letter read = wide_read_letter(s, state->letter, e);
            gather(s, stepped, pt_sets_step(&s->sets, &s->cache, from->sets[at], read));
        } else {
            gather(s, &unstepped, from->sets[at]);
        }
        seek(t, o, i, at + 1, from->count);
    }
    if (unstepped.any)
        gather(s, stepped, pt_sets_step(&s->sets, &s->cache, unstepped.set, state->letter));
}

/* What arrives from the level itself, by choices. */
static void gather_choices(struct wide_sorted *o, const struct level *level, struct streams *t, struct jump *state,
                           struct gathered *stepped)
{
    for (uint32_t i = 0; i < o->lane_count; i++) {
        uint32_t at = t->at[i];
        if (t->heads[i] != state->key)
            continue;
        state->letter = level->letters[at];
        state->runs = wide_add_runs(state->runs, level->runs[at]);
        gather(o->s, stepped, level->sets[at]);
        seek(t, o, i, at + 1, level->count);
    }
}

static void gather_jumps(struct wide_sorted *o, struct jumps *jumps, struct jump *state, struct gathered *stepped,
                         uint64_t *arrived)
{
    while (next_jump(jumps) == state->key) {
        struct jump jump = pop_jump(jumps);
        *arrived = jump.visible ? wide_add_runs(*arrived, jump.runs) : *arrived;
        state->letter = jump.letter;
        state->runs = wide_add_runs(state->runs, jump.runs);
        gather(o->s, stepped, jump.set);
    }
}

static void begin_streams(struct streams *t, const struct wide_sorted *o, const struct level *from,
                          const uint32_t *steps)
{
    t->keys = from->keys;
    t->steps = steps;
    for (uint32_t i = 0; i < o->lane_count; i++)
        seek(t, o, i, 0, from->count);
}

/* After a state was put, whose arrays may have moved: columns that had no choice left may have one. */
static void find_choices(struct streams *t, const struct wide_sorted *o, const struct level *level)
{
    t->keys = level->keys;
    t->steps = level->choices;
    for (uint32_t i = 0; i < o->lane_count; i++)
        if (t->heads[i] == NO_STATE)
            seek(t, o, i, t->at[i], level->count);
}

static inline __attribute__((always_inline)) uint64_t least_head(const struct streams *t, uint64_t least,
                                                                 const uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        least = t->heads[i] < least ? t->heads[i] : least;
    return least;
}

/* Makes a level from the one before; false: the search was cut off. */
static inline __attribute__((always_inline)) bool merge(struct wide_sorted *o, const struct level *from,
                                                        struct level *to, struct level *above, const uint32_t count,
                                                        const bool chooses, const bool has_event)
{
    struct streams steps, choices;
    begin_streams(&steps, o, from, from->steps);
    if (chooses)
        begin_streams(&choices, o, to, to->choices);
    for (;;) {
        uint64_t odd = next_jump(&to->jumps), key = least_head(&steps, odd, count);
        if (chooses)
            key = least_head(&choices, key, count);
        if (key == NO_STATE)
            return true;
        if (wide_search_is_cut(o->s))
            return false;
        struct jump state = {.key = key};
        struct gathered stepped = {false, PT_SET_EMPTY};
        gather_steps(o, from, &steps, &state, &stepped, count, has_event);
        uint64_t arrived = state.runs;
        if (chooses)
            gather_choices(o, to, &choices, &state, &stepped);
        if (odd == key)
            gather_jumps(o, &to->jumps, &state, &stepped, &arrived);
        to->arrived += arrived != 0;
        to->arrived_runs = wide_add_runs(to->arrived_runs, arrived);
        state.set = stepped.set;
        put(o, to, above, state, count);
        if (chooses)
            find_choices(&choices, o, to);
    }
}

static void clear(struct level *level)
{
    if (!level->cap)
        grow(level);
    level->count = level->arrived = 0;
    level->ended = level->arrived_runs = 0;
    level->flags = 0;
    level->steps[0] = level->choices[0] = UINT32_MAX;
}

bool wide_sorted_expand(struct wide_sorted *o, uint32_t number)
{
    struct level *from = &o->levels[number & 1], *to = &o->levels[(number + 1) & 1];
    const uint32_t count = o->lane_count;
    bool whole;
    /* what is in the heap of `to` was put there for it; what `to` puts above goes to that of `from`, which is empty */
    clear(to);
    if (o->chooses || o->has_event)
        whole = merge(o, from, to, from, count, true, true);
    else if (count == 2) /* constants let the compiler unroll the loops over columns away */
        whole = merge(o, from, to, from, 2, false, false);
    else if (count == 3)
        whole = merge(o, from, to, from, 3, false, false);
    else if (count == 4)
        whole = merge(o, from, to, from, 4, false, false);
    else
        whole = merge(o, from, to, from, count, false, false);
    if (whole)
        o->s->figures->runs = wide_add_runs(o->s->figures->runs, from->ended);
    return whole;
}

/* ---- for search.c ---- */

static void make_lanes(struct wide_sorted *o)
{
    const struct wide_problem *p = o->s->p;
    o->lane_count = p->active_count;
    for (uint32_t i = 0; i < p->active_count; i++) {
        const struct wide_column *column = &p->columns[p->active[i]];
        o->lanes[i] = (struct lane){.packed = column->packed,
                                    .mask = column->mask,
                                    .step = UINT64_C(1) << column->shift,
                                    .shift = column->shift,
                                    .column = p->active[i]};
        for (uint32_t k = 0; k < column->count; k++) {
            const struct wide_event *e = &column->events[k];
            o->chooses |= !e->visible && e->earlier_count; /* it may exclude others: steps.c, excludes_nothing */
            o->has_event |= e->user_event != PT_NONE;
        }
    }
}

bool wide_sorted_fits(const struct wide_search *s)
{
    return s->p->guards && s->plain && s->p->active_count <= MOST_COLUMNS;
}

struct wide_sorted *wide_sorted_new(struct wide_search *s)
{
    struct wide_sorted *o = pt_xcalloc(1, sizeof *o);
    o->s = s;
    make_lanes(o);
    return o;
}

void wide_sorted_free(struct wide_sorted *o)
{
    for (uint32_t i = 0; o && i < 2; i++) {
        struct level *level = &o->levels[i];
        free(level->keys);
        free(level->runs);
        free(level->letters);
        free(level->sets);
        free(level->steps);
        free(level->choices);
        free(level->jumps.heap);
    }
    free(o);
}

bool wide_sorted_begin(struct wide_sorted *o, uint64_t key, pt_letter letter, pt_set set)
{
    struct level *none = &o->levels[1], *first = &o->levels[0];
    clear(none);
    clear(first);
    push_jump(&first->jumps, (struct jump){.key = key, .runs = 1, .letter = letter, .set = set, .visible = true});
    return merge(o, none, first, none, o->lane_count, true, true);
}

uint32_t wide_sorted_count(const struct wide_sorted *o, uint32_t number)
{
    return o->levels[number & 1].count;
}

uint32_t wide_sorted_arrived(const struct wide_sorted *o, uint32_t number)
{
    return o->levels[number & 1].arrived;
}

pt_set wide_sorted_flags(const struct wide_sorted *o, uint32_t number)
{
    return o->levels[number & 1].flags;
}

uint64_t wide_sorted_runs(const struct wide_sorted *o, uint32_t number)
{
    return o->levels[number & 1].arrived_runs;
}

uint64_t wide_sorted_mistake(const struct wide_sorted *o, uint32_t number)
{
    return o->levels[number & 1].keys[o->levels[number & 1].mistake];
}

size_t wide_sorted_bytes(const struct wide_sorted *o)
{
    size_t bytes = sizeof *o;
    for (uint32_t i = 0; i < 2; i++) {
        const struct level *level = &o->levels[i];
        size_t each = sizeof *level->keys + sizeof *level->runs + sizeof *level->letters + sizeof *level->sets +
                      sizeof *level->steps + sizeof *level->choices;
        bytes += level->cap * each + level->jumps.cap * sizeof *level->jumps.heap;
    }
    return bytes;
}
