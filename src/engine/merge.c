/*
 * Full exploration by sorted levels. A step of one thread adds a constant to a cut's key (order/packed.h), so the steps
 * of one thread from the cuts of a sorted level are a sorted sequence, its *stream*, and the next level is what merging
 * the streams of all threads gives: it comes out sorted, each cut once, together with all that lead to it. Nothing is
 * looked up to find out which cuts are the same, and memory is read and written from one end to the other.
 *
 * Several workers: the keys of the current level at even distances are where the next level is cut into *ranges*; each
 * range is a part of it, made by one worker from those cuts whose steps lead there, which it finds by bisection. A
 * worker writes its own part, its own caches, and once for a range the number of the next range.
 *
 * Several processes (share.h): each has a range of every level. What leads to the range of another one is merged here
 * as far as it can be, and sent; what others have sent, sorted too, is one stream more.
 *
 * Runs are counted no further than it matters. Every cut but the last has a successor, so once more runs lead to some
 * cut than can be counted, that is so for some cut of every later level, and with it for the sum over the level, which
 * alone is asked for: from there on nobody counts (`uncounted`), and a third of what a cut takes is neither read nor
 * written.
 *
 * Guarantee: that of expand.c; the level is the same, in the same order, whatever the number of workers. Cost: per cut
 * one comparison for each thread, and per edge a few sequential reads. Only where keys are one word and the order is
 * decided by needs; other levels are made by expand.c.
 */
#include "engine/share.h"

enum { MOST_STREAMS = 32 }; /* a field has a bit and a guard at least */
enum { LEAST_RANGE = 512, RANGES_FOR_EACH = 8 };

/* The enabled steps of one thread, in the order of the cuts they lead to. */
struct stream {
    const uint64_t *keys, *need;
    uint64_t at, count; /* the cut of the next step, in `part` */
    uint64_t mask, step, limit;
    uint32_t shift;
    const uint64_t *runs;
    const pt_letter *letters;
    const pt_set *sets;
    const struct lat_part *part, *last;
    const struct lat_field *field;
};

struct range {
    uint64_t first, after; /* the keys from one to before the other */
};

struct merging {
    struct lat_level *from;
    struct lat_part *parts; /* one for each range */
    const struct range *ranges;
    uint64_t ends[LAT_MAX_PARTS]; /* per part of `from`: the greatest key up to its end */
};

bool lat_merge_fits(const struct pt_lattice *l)
{
    return l->full && l->by_needs && l->layout->words == 1 && l->layout->field_count <= MOST_STREAMS;
}

static void enter(struct stream *s, const struct lat_part *part, uint32_t at)
{
    s->part = part;
    s->keys = part->keys;
    s->runs = part->runs;
    s->letters = part->letters;
    s->sets = part->sets;
    s->at = at;
    s->count = part->count;
}

/* The next part that has cuts; false: there is none. */
static __attribute__((noinline)) bool next_part(struct stream *s)
{
    while (s->part != s->last) {
        enter(s, s->part + 1, 0);
        if (s->count)
            return true;
    }
    return false;
}

/* The cut to which the first step at or after the present place leads. */
static inline __attribute__((always_inline)) uint64_t head_of(struct stream *s, const uint64_t guard)
{
    for (;; s->at++) {
        if (__builtin_expect(s->at == s->count, 0) && !next_part(s))
            return LAT_NO_CUT;
        uint64_t key = s->keys[s->at], index = key >> s->shift & s->mask;
        if (index < s->limit && !pt_packed_lacks(key, guard, s->need[index]))
            return key + s->step;
    }
}

static inline __attribute__((always_inline)) void advance(struct stream *s, uint64_t *head, const uint64_t guard)
{
    s->at++;
    *head = head_of(s, guard);
}

/* The first cut of the part whose key is `least` or more. */
static uint32_t place_of(const struct lat_part *part, uint64_t least)
{
    uint32_t low = 0, high = part->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (part->keys[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* To the first cut whose step leads to `first` or beyond. */
static void seek(struct stream *s, const struct merging *m, const struct lat_field *field, uint64_t first)
{
    uint64_t step = (uint64_t)1 << field->shift, least = first > step ? first - step : 0;
    const struct lat_part *last = m->from->parts + m->from->part_count - 1, *part;
    uint32_t low = 0, high = m->from->part_count - 1; /* the first part that does not end before, or the last */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (m->ends[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    part = m->from->parts + low;
    *s = (struct stream){.need = field->need,
                         .mask = field->mask,
                         .step = step,
                         .limit = field->limit,
                         .shift = field->shift,
                         .last = last,
                         .field = field};
    enter(s, part, place_of(part, least));
}

/* Which event of its field the stream's next step is. */
static inline __attribute__((always_inline)) uint32_t index_of(const struct stream *s, uint64_t key)
{
    return (uint32_t)((key - s->step) >> s->shift & s->mask);
}

/* Effects and steps repeat from cut to cut, so the last one is tried before the table. */
struct memo {
    uint32_t a, b, result;
};

struct output {
    struct lat_part *part;
    uint32_t count, cap;
    pt_set flags;
    bool crowded; /* more runs lead to some cut than can be counted */
    struct memo step;
};

/* Writes a cut down, with its runs unless nobody counts them; false: there is no memory for more. */
static inline __attribute__((always_inline)) bool put(struct pt_lattice *l, struct output *o, uint64_t key,
                                                      const uint64_t *runs, pt_letter letter, pt_set set)
{
    struct lat_part *to = o->part;
    if (__builtin_expect(o->count == o->cap, 0)) {
        if (atomic_load_explicit(&l->out_of_memory, memory_order_relaxed))
            return false;
        lat_part_reserve(l, to, 1, o->count + 1);
        o->cap = to->cap;
    }
    to->keys[o->count] = key;
    if (runs)
        to->runs[o->count] = *runs;
    to->letters[o->count] = letter;
    to->sets[o->count++] = set;
    o->flags |= set;
    return true;
}

/*
 * The set of a cut whose arrivals are told apart by their events: each is stepped by itself. Nobody has gone on yet.
 * `any`: `set` has come already, stepped by who has sent it.
 */
static inline __attribute__((always_inline)) pt_set step_each(struct pt_lattice *l, struct lat_worker *w,
                                                              struct stream *streams, uint64_t *heads,
                                                              const uint64_t *key, const uint32_t count,
                                                              pt_letter letter, bool any, pt_set set)
{
    for (uint32_t f = 0; f < count; f++) {
        struct stream *s = &streams[f];
        if (heads[f] != *key)
            continue;
        pt_letter read = lat_event_letter(l, w, key, letter, s->field->user_event[index_of(s, *key)]);
        pt_set stepped = pt_sets_step(l->sets, &w->cache, s->sets[s->at], read);
        set = any ? pt_sets_union(l->sets, &w->cache, set, stepped) : stepped;
        any = true;
    }
    return set;
}

/* How cuts are made; constants where it matters. */
struct manner {
    bool later;  /* sets are united first and stepped then: expand.c, steps_later */
    bool joint;  /* there are atoms over several variables */
    bool shared; /* there is what other processes have sent */
    bool away;   /* it is for another process */
    bool counts; /* the runs that lead to a cut */
};

/* What others have sent, as far as it is in the range: complete cuts, whose sets were stepped unless that is done
 * later. Its head is that of the last stream. */
struct arrivals {
    const struct lat_part *part;
    uint32_t at;
};

static inline __attribute__((always_inline)) uint64_t arrival_of(const struct arrivals *a)
{
    return a->at < a->part->count ? a->part->keys[a->at] : LAT_NO_CUT;
}

/*
 * A cut with its letter, its runs and the sets of all who come. Who brings the letter does not matter; one whose event
 * leaves the atoms over several variables alone brings it without asking for their values.
 */
static inline __attribute__((always_inline)) bool
merge_cut(struct pt_lattice *l, struct lat_worker *w, struct stream *streams, uint64_t *heads, uint64_t key,
          const uint64_t guard, const uint32_t count, const struct manner manner, struct arrivals *a, struct output *o)
{
    uint64_t runs = 0;
    pt_set set = PT_SET_EMPTY;
    pt_letter letter = 0;
    const struct stream *by = NULL;
    const bool sent = manner.shared && heads[count] == key;
    if (sent) {
        runs = manner.counts ? a->part->runs[a->at] : 0;
        set = a->part->sets[a->at];
        letter = a->part->letters[a->at];
        a->at++;
        heads[count] = arrival_of(a);
    }
    for (uint32_t f = 0; f < count; f++) {
        struct stream *s = &streams[f];
        if (heads[f] != key)
            continue;
        pt_set came = s->sets[s->at];
        if (manner.counts && __builtin_add_overflow(runs, s->runs[s->at], &runs)) {
            runs = UINT64_MAX;
            o->crowded = true;
        }
        set = by || sent ? set : came;
        if (!by || (manner.joint && by->field->joint[index_of(by, key)] && !s->field->joint[index_of(s, key)])) {
            letter = sent ? letter : s->letters[s->at];
            by = s;
        }
        if (manner.later) {
            if (set != came)
                set = pt_sets_union(l->sets, &w->cache, set, came);
            advance(s, &heads[f], guard);
        }
    }
    if (!sent && (manner.later || !l->counting))
        letter = lat_cut_letter(l, w, &key, letter, by->field, index_of(by, key));
    if (manner.later && manner.away)
        return put(l, o, key, manner.counts ? &runs : NULL, letter, set);
    if (manner.later) {
        if (set != o->step.a || letter != o->step.b)
            o->step = (struct memo){set, letter, pt_sets_step(l->sets, &w->cache, set, letter)};
        return put(l, o, key, manner.counts ? &runs : NULL, letter, o->step.result);
    }
    if (!l->counting)
        set = step_each(l, w, streams, heads, &key, count, letter, sent, set);
    for (uint32_t f = 0; f < count; f++)
        if (heads[f] == key)
            advance(&streams[f], &heads[f], guard);
    return put(l, o, key, manner.counts ? &runs : NULL, l->counting ? 0 : letter, l->counting ? PT_SET_EMPTY : set);
}

static inline __attribute__((always_inline)) void merge_range(struct pt_lattice *l, struct lat_worker *w,
                                                              const struct merging *m, struct lat_part *to,
                                                              struct range range, const uint32_t count,
                                                              const struct manner manner)
{
    const uint64_t guard = l->layout->guard[0];
    struct stream streams[MOST_STREAMS];
    uint64_t heads[MOST_STREAMS + 1];
    struct arrivals a = {NULL, 0};
    struct output o = {to, 0, to->cap, 0, false, {PT_NONE, 0, 0}};
    for (uint32_t f = 0; f < count; f++) {
        seek(&streams[f], m, &l->layout->fields[f], range.first);
        heads[f] = head_of(&streams[f], guard);
    }
    if (manner.shared) {
        a = (struct arrivals){&l->share->arrivals, place_of(&l->share->arrivals, range.first)};
        heads[count] = arrival_of(&a);
    }
    for (;;) {
        uint64_t key = manner.shared ? heads[count] : LAT_NO_CUT;
        for (uint32_t f = 0; f < count; f++)
            key = heads[f] < key ? heads[f] : key;
        if (key >= range.after || !merge_cut(l, w, streams, heads, key, guard, count, manner, &a, &o))
            break;
    }
    to->count = o.count;
    to->flags = o.flags & PT_SET_FLAGS;
    to->crowded = o.crowded;
    to->words = 1;
}

static inline __attribute__((always_inline)) void merge_item(struct pt_lattice *l, struct lat_worker *w,
                                                             const struct merging *m, uint32_t number,
                                                             const bool shared, const bool counts)
{
    struct lat_part *to = &m->parts[number];
    struct range range = m->ranges[number];
    uint32_t count = l->layout->field_count;
    const struct manner plain = {true, false, shared, false, counts};
    if (l->counting || !l->same_letters)
        merge_range(l, w, m, to, range, count, (struct manner){false, true, shared, false, counts});
    else if (l->joint_count)
        merge_range(l, w, m, to, range, count, (struct manner){true, true, shared, false, counts});
    else if (count == 2) /* constants let the compiler unroll the loops over threads away */
        merge_range(l, w, m, to, range, 2, plain);
    else if (count == 3)
        merge_range(l, w, m, to, range, 3, plain);
    else if (count == 4)
        merge_range(l, w, m, to, range, 4, plain);
    else
        merge_range(l, w, m, to, range, count, plain);
}

static void merge_alone(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context)
{
    merge_item(l, w, context, number, false, true);
}

static void merge_uncounted(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context)
{
    merge_item(l, w, context, number, false, false);
}

static void merge_shared(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context)
{
    merge_item(l, w, context, number, true, true);
}

/* The range of another process. */
static void merge_away(struct pt_lattice *l, struct lat_worker *w, uint32_t number, void *context)
{
    const struct merging *m = context;
    const uint64_t *bounds = l->share->bounds + number;
    const struct range range = {bounds[0], bounds[1]};
    uint32_t count = l->layout->field_count;
    if (number == l->share->group->rank)
        return;
    if (lat_steps_later(l))
        merge_range(l, w, m, &m->parts[number], range, count, (struct manner){true, true, false, true, true});
    else
        merge_range(l, w, m, &m->parts[number], range, count, (struct manner){false, true, false, true, true});
}

/* Where the next level, or our range of it, is cut: at every cuts / count-th key of this one. */
static void find_ranges(const struct lat_level *from, uint64_t cuts, struct range whole, struct range *ranges,
                        uint32_t count)
{
    const struct lat_part *part = from->parts;
    uint64_t before = 0; /* cuts of the parts before */
    ranges[0].first = whole.first;
    for (uint32_t r = 1; r < count; r++) {
        uint64_t at = cuts * r / count;
        while (at - before >= part->count)
            before += part++->count;
        uint64_t key = part->keys[at - before];
        key = key < whole.first ? whole.first : key > whole.after ? whole.after : key;
        ranges[r].first = ranges[r - 1].after = key;
    }
    ranges[count - 1].after = whole.after;
}

/* How many cuts the level has, and where its parts end. */
static uint64_t cuts_in(const struct lat_level *level, uint64_t *ends)
{
    uint64_t cuts = 0, end = 0;
    for (uint32_t p = 0; p < level->part_count; p++) {
        const struct lat_part *part = &level->parts[p];
        cuts += part->count;
        ends[p] = end = part->count ? part->keys[part->count - 1] : end;
    }
    return cuts;
}

void lat_merge_away(struct pt_lattice *l, struct lat_level *from, struct lat_part *parts)
{
    struct merging m = {.from = from, .parts = parts};
    uint64_t cuts = cuts_in(from, m.ends);
    lat_pool_run(l, cuts, merge_away, &m, l->share->group->size);
}

/*
 * Room for the ranges, each of which is about as large as the others, before workers need it: memory of a thread that
 * is not the first one grows by a system call for each few pages, and all of them wait for each other there. It is not
 * touched here: that would be work that nobody shares.
 */
static void reserve(struct pt_lattice *l, struct lat_level *to, uint64_t cuts, uint32_t count)
{
    uint64_t each = cuts / count + cuts / count / 2;
    if (l->options->memory_limit || each > UINT32_MAX / 2 || (count <= to->reserved_parts && each <= to->reserved))
        return;
    lat_level_reserve(l, to, count, (uint32_t)each);
}

void lat_merge(struct pt_lattice *l, struct lat_level *from, struct lat_level *to)
{
    struct range ranges[LAT_MAX_PARTS], whole = {0, LAT_NO_CUT};
    struct merging m = {.from = from, .ranges = ranges};
    uint64_t cuts = cuts_in(from, m.ends);
    if (l->share)
        whole = (struct range){l->share->bounds[l->share->group->rank], l->share->bounds[l->share->group->rank + 1]};
    unsigned workers = lat_pool_workers(l, cuts);
    uint64_t count = workers == 1 ? 1 : (uint64_t)workers * RANGES_FOR_EACH;
    uint64_t most = cuts / (l->options->cuts_for_each ? l->options->cuts_for_each : LEAST_RANGE);
    most = most > LAT_MAX_PARTS ? LAT_MAX_PARTS : most ? most : 1;
    count = count > most ? most : count;
    lat_level_split(to, (uint32_t)count);
    find_ranges(from, cuts, whole, ranges, (uint32_t)count);
    m.parts = to->parts;
    if (count > 1)
        reserve(l, to, cuts, (uint32_t)count);
    lat_pool_run(l, cuts, l->share ? merge_shared : l->uncounted ? merge_uncounted : merge_alone, &m, (uint32_t)count);
    for (uint32_t p = 0; p < count && !l->share && !l->rebuilding && !l->out_of_memory; p++)
        l->uncounted = l->uncounted || to->parts[p].crowded;
}
