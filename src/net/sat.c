/*
 * A conflict-driven clause learning solver (Marques-Silva and Sakallah; Moskewicz et al.; Eén and Sörensson): two
 * watched literals per clause with a blocking literal, the first unique implication point, learnt clauses minimised by
 * their reasons, activities with a heap, saved phases, restarts by Luby's sequence, and learnt clauses that join many
 * decision levels forgotten now and then.
 *
 * Exact: NO only where resolution derives the empty clause. Deterministic. Worst case exponential, as the question is.
 */
#include "net/sat.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"

enum { UNDEF = 2 };          /* beside false and true */
enum { HEAD = 2 };           /* words before a clause's literals: their number, its levels (0: not learnt) */
enum { RESTART_UNIT = 128 }; /* conflicts */
enum { KEEP_LEVELS = 3 };    /* learnt clauses that join so few levels are never forgotten */
enum { FEW = 6 };            /* literals of which at most one is true, said pair by pair */
static const double DECAY = 0.95, LARGE = 1e100;

struct watch {
    uint32_t clause, blocker;
};

struct watches {
    struct watch *items;
    uint32_t count;
    size_t cap;
};

struct pt_sat {
    uint32_t *words; /* clauses */
    uint32_t word_count;
    size_t word_cap;
    uint32_t *learnt; /* their places in words */
    uint32_t learnt_count, learnt_limit;
    size_t learnt_cap;
    struct watches *watches; /* by literal: clauses to look at when it becomes false */
    size_t watches_cap;
    uint8_t *value; /* by literal */
    size_t value_cap;
    uint8_t *phase, *seen; /* by variable */
    size_t phase_cap, seen_cap;
    uint32_t *level, *reason; /* by variable; PT_NONE: decided or given */
    size_t level_cap, reason_cap;
    double *activity, bump;
    size_t activity_cap;
    uint32_t *heap, *heap_at; /* most active first; by variable, PT_NONE: not in it */
    uint32_t heap_count;
    size_t heap_cap, heap_at_cap;
    uint32_t var_count;
    uint32_t *trail, trail_count, propagated;
    size_t trail_cap;
    uint32_t *starts, level_count; /* of the decision levels in the trail */
    size_t starts_cap;
    uint32_t *clause, clause_count; /* the one being learnt */
    size_t clause_cap;
    uint32_t *level_stamp, now;
    size_t level_stamp_cap;
    uint64_t watch_bytes;
    bool failed;
};

struct pt_sat *pt_sat_new(void)
{
    struct pt_sat *s = pt_xcalloc(1, sizeof *s);
    s->bump = 1;
    s->learnt_limit = 4000;
    return s;
}

void pt_sat_free(struct pt_sat *s)
{
    for (uint32_t i = 0; i < 2 * s->var_count; i++)
        free(s->watches[i].items);
    void *const all[] = {s->words,    s->learnt, s->watches, s->value, s->phase,  s->seen,   s->level,      s->reason,
                         s->activity, s->heap,   s->heap_at, s->trail, s->starts, s->clause, s->level_stamp};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(s);
}

uint64_t pt_sat_bytes(const struct pt_sat *s)
{
    return s->word_cap * sizeof *s->words + s->watch_bytes + (uint64_t)s->var_count * 96;
}

/* --- The heap of variables ------------------------------------------------------------------------------------- */

static void heap_set(struct pt_sat *s, uint32_t at, uint32_t var)
{
    s->heap[at] = var;
    s->heap_at[var] = at;
}

static void heap_up(struct pt_sat *s, uint32_t at)
{
    uint32_t var = s->heap[at];
    for (; at > 0 && s->activity[s->heap[(at - 1) / 2]] < s->activity[var]; at = (at - 1) / 2)
        heap_set(s, at, s->heap[(at - 1) / 2]);
    heap_set(s, at, var);
}

static void heap_down(struct pt_sat *s, uint32_t at)
{
    uint32_t var = s->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= s->heap_count)
            break;
        if (child + 1 < s->heap_count && s->activity[s->heap[child + 1]] > s->activity[s->heap[child]])
            child++;
        if (s->activity[s->heap[child]] <= s->activity[var])
            break;
        heap_set(s, at, s->heap[child]);
        at = child;
    }
    heap_set(s, at, var);
}

static void heap_add(struct pt_sat *s, uint32_t var)
{
    if (s->heap_at[var] != PT_NONE)
        return;
    heap_set(s, s->heap_count++, var);
    heap_up(s, s->heap_count - 1);
}

static uint32_t heap_take(struct pt_sat *s)
{
    uint32_t var = s->heap[0];
    s->heap_at[var] = PT_NONE;
    if (--s->heap_count > 0) {
        heap_set(s, 0, s->heap[s->heap_count]);
        heap_down(s, 0);
    }
    return var;
}

static void make_active(struct pt_sat *s, uint32_t var)
{
    if ((s->activity[var] += s->bump) > LARGE) {
        for (uint32_t v = 0; v < s->var_count; v++)
            s->activity[v] /= LARGE;
        s->bump /= LARGE;
    }
    if (s->heap_at[var] != PT_NONE)
        heap_up(s, s->heap_at[var]);
}

/* --- Clauses --------------------------------------------------------------------------------------------------- */

uint32_t pt_sat_var(struct pt_sat *s)
{
    uint32_t var = s->var_count++;
    PT_ROOM(s->watches, s->watches_cap, 2 * (size_t)var + 1);
    PT_ROOM(s->value, s->value_cap, 2 * (size_t)var + 1);
    PT_ROOM(s->phase, s->phase_cap, var);
    PT_ROOM(s->seen, s->seen_cap, var);
    PT_ROOM(s->level, s->level_cap, var);
    PT_ROOM(s->reason, s->reason_cap, var);
    PT_ROOM(s->activity, s->activity_cap, var);
    PT_ROOM(s->heap, s->heap_cap, var);
    PT_ROOM(s->heap_at, s->heap_at_cap, var);
    PT_ROOM(s->trail, s->trail_cap, var);
    PT_ROOM(s->starts, s->starts_cap, (size_t)var + 1);
    PT_ROOM(s->clause, s->clause_cap, (size_t)var + 1);
    PT_ROOM(s->level_stamp, s->level_stamp_cap, (size_t)var + 1);
    s->value[2 * var] = s->value[2 * var + 1] = UNDEF;
    s->reason[var] = s->heap_at[var] = PT_NONE;
    heap_add(s, var);
    return var;
}

static void assign(struct pt_sat *s, uint32_t literal, uint32_t reason)
{
    uint32_t var = literal / 2;
    s->value[literal] = 1;
    s->value[literal ^ 1] = 0;
    s->level[var] = s->level_count;
    s->reason[var] = reason;
    s->trail[s->trail_count++] = literal;
}

static void add_watch(struct pt_sat *s, uint32_t literal, uint32_t clause, uint32_t blocker)
{
    struct watches *w = &s->watches[literal];
    size_t before = w->cap;
    PT_PUSH(w->items, w->count, w->cap, ((struct watch){clause, blocker}));
    s->watch_bytes += (w->cap - before) * sizeof *w->items;
}

static void watch_clause(struct pt_sat *s, uint32_t clause)
{
    const uint32_t *literals = s->words + clause + HEAD;
    add_watch(s, literals[0], clause, literals[1]);
    add_watch(s, literals[1], clause, literals[0]);
}

/* Stores a clause of two literals or more, and watches the first two. */
static uint32_t store(struct pt_sat *s, const uint32_t *literals, uint32_t count, uint32_t levels)
{
    uint32_t clause = s->word_count;
    PT_GROW(s->words, s->word_cap, (size_t)clause + HEAD + count);
    s->words[clause] = count;
    s->words[clause + 1] = levels;
    memcpy(s->words + clause + HEAD, literals, count * sizeof *literals);
    s->word_count += HEAD + count;
    watch_clause(s, clause);
    return clause;
}

void pt_sat_clause(struct pt_sat *s, const uint32_t *literals, uint32_t count)
{
    uint32_t *kept = pt_xmalloc(((size_t)count + 1) * sizeof *kept), n = 0;
    if (count)
        memcpy(kept, literals, count * sizeof *kept);
    count = count ? pt_sort_distinct(kept, count) : 0;
    bool holds = false;
    for (uint32_t i = 0; i < count && !holds; i++) {
        holds = s->value[kept[i]] == 1 || (i + 1 < count && kept[i + 1] == (kept[i] ^ 1));
        if (s->value[kept[i]] != 0)
            kept[n++] = kept[i];
    }
    if (!holds && n == 0)
        s->failed = true;
    else if (!holds && n == 1)
        assign(s, kept[0], PT_NONE);
    else if (!holds)
        (void)store(s, kept, n, 0);
    free(kept);
}

void pt_sat_at_most_one(struct pt_sat *s, const uint32_t *literals, uint32_t count)
{
    /* A chain of groups: a variable says that one of the groups so far has a true literal (Sinz). */
    uint32_t one = PT_NONE;
    for (uint32_t start = 0; start < count; start += FEW) {
        uint32_t end = start + FEW < count ? start + FEW : count;
        uint32_t next = end < count ? pt_lit(pt_sat_var(s)) : PT_NONE;
        for (uint32_t i = start; i < end; i++) {
            for (uint32_t k = i + 1; k < end; k++)
                pt_sat_clause(s, (uint32_t[]){pt_not(literals[i]), pt_not(literals[k])}, 2);
            if (one != PT_NONE)
                pt_sat_clause(s, (uint32_t[]){pt_not(one), pt_not(literals[i])}, 2);
            if (next != PT_NONE)
                pt_sat_clause(s, (uint32_t[]){pt_not(literals[i]), next}, 2);
        }
        if (one != PT_NONE && next != PT_NONE)
            pt_sat_clause(s, (uint32_t[]){pt_not(one), next}, 2);
        one = next;
    }
}

/* --- Search ---------------------------------------------------------------------------------------------------- */

/* Finds the clause another literal to watch instead of `falsified`, which stands second. */
static bool move_watch(struct pt_sat *s, uint32_t clause)
{
    uint32_t *literals = s->words + clause + HEAD, count = s->words[clause];
    for (uint32_t k = 2; k < count; k++) {
        if (s->value[literals[k]] == 0)
            continue;
        uint32_t literal = literals[k];
        literals[k] = literals[1];
        literals[1] = literal;
        add_watch(s, literal, clause, literals[0]);
        return true;
    }
    return false;
}

/* Looks at the clauses that watch a literal that has become false; returns one that is false, or PT_NONE. */
static uint32_t propagate_literal(struct pt_sat *s, uint32_t falsified)
{
    struct watches *w = &s->watches[falsified];
    uint32_t conflict = PT_NONE, kept = 0, i = 0;
    while (i < w->count) {
        struct watch at = w->items[i++];
        if (s->value[at.blocker] == 1) {
            w->items[kept++] = at;
            continue;
        }
        uint32_t *literals = s->words + at.clause + HEAD;
        if (literals[0] == falsified) {
            literals[0] = literals[1];
            literals[1] = falsified;
        }
        at.blocker = literals[0];
        if (s->value[literals[0]] != 1 && move_watch(s, at.clause))
            continue;
        w->items[kept++] = at;
        if (s->value[literals[0]] == UNDEF) {
            assign(s, literals[0], at.clause);
        } else if (s->value[literals[0]] == 0) {
            conflict = at.clause;
            break;
        }
    }
    while (i < w->count)
        w->items[kept++] = w->items[i++];
    w->count = kept;
    return conflict;
}

static uint32_t propagate(struct pt_sat *s)
{
    while (s->propagated < s->trail_count) {
        uint32_t conflict = propagate_literal(s, s->trail[s->propagated++] ^ 1);
        if (conflict != PT_NONE)
            return conflict;
    }
    return PT_NONE;
}

static void go_back(struct pt_sat *s, uint32_t level)
{
    if (s->level_count <= level)
        return;
    uint32_t start = s->starts[level];
    while (s->trail_count > start) {
        uint32_t literal = s->trail[--s->trail_count], var = literal / 2;
        s->phase[var] = !(literal & 1);
        s->value[literal] = s->value[literal ^ 1] = UNDEF;
        heap_add(s, var);
    }
    s->propagated = start;
    s->level_count = level;
}

/* Whether a literal of the clause being learnt follows from its others. */
static bool is_redundant(const struct pt_sat *s, uint32_t literal)
{
    uint32_t reason = s->reason[literal / 2];
    if (reason == PT_NONE)
        return false;
    for (uint32_t k = 1; k < s->words[reason]; k++) {
        uint32_t var = s->words[reason + HEAD + k] / 2;
        if (!s->seen[var] && s->level[var] > 0)
            return false;
    }
    return true;
}

/* Marks what a reason adds to the clause being learnt; returns how much of it is of the present level. */
static uint32_t resolve(struct pt_sat *s, uint32_t clause, uint32_t skip)
{
    uint32_t open = 0;
    for (uint32_t k = skip; k < s->words[clause]; k++) {
        uint32_t literal = s->words[clause + HEAD + k], var = literal / 2;
        if (s->seen[var] || s->level[var] == 0)
            continue;
        s->seen[var] = 1;
        make_active(s, var);
        if (s->level[var] == s->level_count)
            open++;
        else
            s->clause[s->clause_count++] = literal;
    }
    return open;
}

/* Drops what follows from the rest, and unmarks everything. */
static void minimise(struct pt_sat *s)
{
    uint32_t all = s->clause_count, *dropped = pt_xmalloc(((size_t)all + 1) * sizeof *dropped), n = 0, kept = 1;
    for (uint32_t i = 1; i < all; i++) {
        if (is_redundant(s, s->clause[i]))
            dropped[n++] = s->clause[i];
        else
            s->clause[kept++] = s->clause[i];
    }
    s->clause_count = kept;
    for (uint32_t i = 1; i < kept; i++)
        s->seen[s->clause[i] / 2] = 0;
    for (uint32_t i = 0; i < n; i++)
        s->seen[dropped[i] / 2] = 0;
    free(dropped);
}

/* The clause that the conflict teaches, the one literal of the present level first, that of the next lower second.
 * Returns the level to go back to. */
static uint32_t analyse(struct pt_sat *s, uint32_t conflict)
{
    uint32_t at = s->trail_count, literal;
    s->clause_count = 1;
    uint32_t open = resolve(s, conflict, 0);
    for (;;) {
        do
            literal = s->trail[--at];
        while (!s->seen[literal / 2]);
        s->seen[literal / 2] = 0;
        if (--open == 0)
            break;
        open += resolve(s, s->reason[literal / 2], 1);
    }
    s->clause[0] = literal ^ 1;
    minimise(s);
    uint32_t second = 1;
    for (uint32_t i = 2; i < s->clause_count; i++) {
        if (s->level[s->clause[i] / 2] > s->level[s->clause[second] / 2])
            second = i;
    }
    if (s->clause_count == 1)
        return 0;
    uint32_t swap = s->clause[second];
    s->clause[second] = s->clause[1];
    s->clause[1] = swap;
    return s->level[swap / 2];
}

static uint32_t count_levels(struct pt_sat *s)
{
    uint32_t count = 0;
    s->now++;
    for (uint32_t i = 0; i < s->clause_count; i++) {
        uint32_t level = s->level[s->clause[i] / 2];
        count += s->level_stamp[level] != s->now;
        s->level_stamp[level] = s->now;
    }
    return count;
}

static void learn(struct pt_sat *s, uint32_t conflict)
{
    uint32_t level = analyse(s, conflict), levels = count_levels(s), reason = PT_NONE;
    go_back(s, level);
    if (s->clause_count > 1) {
        reason = store(s, s->clause, s->clause_count, levels);
        PT_PUSH(s->learnt, s->learnt_count, s->learnt_cap, reason);
    }
    assign(s, s->clause[0], reason);
    s->bump /= DECAY;
}

/* Forgets the older half of the learnt clauses but for those that join few levels, and packs the rest. Nothing is
 * assigned but what is given, so no clause is a reason that matters. */
static void forget(struct pt_sat *s)
{
    uint32_t half = s->learnt_count / 2, to = 0, kept = 0, next = 0;
    for (uint32_t i = 0; i < 2 * s->var_count; i++)
        s->watches[i].count = 0;
    for (uint32_t i = 0; i < s->trail_count; i++)
        s->reason[s->trail[i] / 2] = PT_NONE;
    for (uint32_t from = 0; from < s->word_count;) {
        uint32_t size = HEAD + s->words[from];
        bool learnt = s->words[from + 1] > 0;
        bool keep = !learnt || next >= half || s->words[from + 1] <= KEEP_LEVELS;
        next += learnt;
        if (keep) {
            memmove(s->words + to, s->words + from, size * sizeof *s->words);
            if (learnt)
                s->learnt[kept++] = to;
            watch_clause(s, to);
            to += size;
        }
        from += size;
    }
    s->learnt_count = kept;
    s->word_count = to;
    s->learnt_limit += 500;
    s->propagated = 0; /* what is given is looked at again, with the new watches */
}

/* Luby's sequence 1 1 2 1 1 2 4 ..., from 0. */
static uint32_t luby(uint32_t i)
{
    uint32_t size = 1, power = 0;
    while (size < i + 1) {
        size = 2 * size + 1;
        power++;
    }
    while (size - 1 != i) {
        size = (size - 1) / 2;
        power--;
        i %= size;
    }
    return 1u << power;
}

/* Decides one more variable; false: all have values. */
static bool decide(struct pt_sat *s)
{
    while (s->heap_count > 0) {
        uint32_t var = heap_take(s);
        if (s->value[2 * var] != UNDEF)
            continue;
        s->starts[s->level_count++] = s->trail_count;
        assign(s, s->phase[var] ? 2 * var : 2 * var + 1, PT_NONE);
        return true;
    }
    return false;
}

/* Searches until an answer or so many conflicts. */
static enum pt_sat_answer search(struct pt_sat *s, uint32_t conflicts)
{
    for (;;) {
        uint32_t conflict = propagate(s);
        if (conflict != PT_NONE) {
            if (s->level_count == 0)
                return PT_SAT_NO;
            learn(s, conflict);
            conflicts -= conflicts > 0;
        } else if (conflicts == 0) {
            go_back(s, 0);
            return PT_SAT_UNKNOWN;
        } else if (!decide(s)) {
            return PT_SAT_YES;
        }
    }
}

enum pt_sat_answer pt_sat_solve(struct pt_sat *s, uint64_t memory_limit)
{
    enum pt_sat_answer answer = s->failed ? PT_SAT_NO : PT_SAT_UNKNOWN;
    for (uint32_t turn = 0; answer == PT_SAT_UNKNOWN; turn++) {
        if (s->learnt_count > s->learnt_limit)
            forget(s);
        if (memory_limit && pt_sat_bytes(s) > memory_limit)
            break;
        answer = search(s, luby(turn) * RESTART_UNIT);
    }
    return answer;
}

bool pt_sat_is_true(const struct pt_sat *s, uint32_t var)
{
    return s->value[2 * var] == 1;
}
