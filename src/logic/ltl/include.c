/*
 * Whether one small automaton accepts every word of another: by Ramsey's theorem, as Büchi complemented (1962), in the
 * form of Fogarty and Vardi, "Efficient Büchi universality checking" (TACAS 2010).
 *
 * The box of a finite word says, for two states of b, whether the word leads from one to the other, and whether past an
 * accepting state. An accepted word of a passes some accepting state p of a for ever, so it is a word u that leads to
 * p and words that lead from p to p, of which, by Ramsey, infinitely many stretches in a row have one box. b accepts it
 * if from the states T that u leads to in b repeating that box accepts; if this fails for any T and any box, the words
 * that they come from are a word of a that b does not accept. So all T are made (a powerset beside a), and all boxes of
 * loops through p, and each pair is looked at.
 *
 * Cost: at worst 2^(n^2) boxes; the account of work and a limit end it with the answer no.
 */
#include "logic/ltl/small.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/unique.h"

enum { MOST = PT_INCLUDES_MOST, MAX_BOXES = 1 << 11, MAX_PREFIXES = 1 << 12, FIRST_SLOTS = 256 };

struct box {
    uint16_t reach[MOST], accepting[MOST]; /* rows: from, then a bit for each state */
};

struct inclusion {
    const struct pt_small *a, *b;
    uint32_t letter_count;        /* of those that a or b tells apart */
    uint8_t class[PT_SMALL_MOST]; /* per letter: one of its class */
    uint64_t *work;
    struct box letter[PT_SMALL_MOST]; /* per letter */
    uint64_t reach[PT_SMALL_MOST];    /* of a: states that one or more letters lead to */
    struct prefix {
        uint32_t state;
        uint16_t set;
    } * prefixes;
    uint32_t prefix_count;
    size_t prefix_cap;
    struct loop {
        uint32_t state;
        struct box box;
    } * loops;
    uint32_t loop_count;
    size_t loop_cap;
};

/* True unless nothing is left. */
static bool charge(struct inclusion *in, uint64_t steps)
{
    *in->work -= steps < *in->work ? steps : *in->work;
    return *in->work > 0;
}

static void compose(const struct box *x, const struct box *y, uint32_t n, struct box *ret)
{
    memset(ret, 0, sizeof *ret);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t left = x->reach[i]; left; left &= left - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(left);
            ret->reach[i] |= y->reach[k];
            ret->accepting[i] |= x->accepting[i] >> k & 1 ? y->reach[k] : y->accepting[k];
        }
}

/* The states from which repeating the box for ever accepts: those that come to one that returns to itself so. */
static uint16_t accepting_from(const struct box *box, uint32_t n)
{
    struct box b = *box;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            if (b.reach[i] >> k & 1)
                b.reach[i] |= b.reach[k];
    uint16_t cycles = 0, result = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t left = box->accepting[i]; left; left &= left - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(left);
            if (k == i || b.reach[k] >> i & 1)
                cycles |= (uint16_t)(1u << i);
        }
    for (uint32_t i = 0; i < n; i++)
        if (cycles >> i & 1 || b.reach[i] & cycles)
            result |= (uint16_t)(1u << i);
    return result;
}

/* Splits each set of classes of letters by the automaton's edges. */
static uint32_t tell_apart(const struct pt_small *a, uint64_t *sets, uint32_t count)
{
    for (uint32_t p = 0; p < a->count; p++)
        for (uint64_t next = a->next[p]; next; next &= next - 1) {
            uint64_t edge = a->letters[p][__builtin_ctzll(next)];
            for (uint32_t i = 0, most = count; i < most; i++) {
                uint64_t out = sets[i] & ~edge;
                if (out && out != sets[i]) {
                    sets[i] &= edge;
                    sets[count++] = out;
                }
            }
        }
    return count;
}

static void make_letters(struct inclusion *in, uint32_t class_count)
{
    const struct pt_small *b = in->b;
    uint64_t sets[PT_SMALL_MOST] = {UINT64_MAX >> (PT_SMALL_MOST - class_count)};
    in->letter_count = tell_apart(b, sets, tell_apart(in->a, sets, 1));
    for (uint32_t l = 0; l < in->letter_count; l++) {
        in->class[l] = (uint8_t)__builtin_ctzll(sets[l]);
        for (uint32_t p = 0; p < b->count; p++)
            for (uint64_t next = b->next[p]; next; next &= next - 1) {
                uint32_t q = (uint32_t)__builtin_ctzll(next);
                if (!(b->letters[p][q] >> in->class[l] & 1))
                    continue;
                in->letter[l].reach[p] |= (uint16_t)(1u << q);
                in->letter[l].accepting[p] |= (uint16_t)((b->accepting >> p & 1) << q);
            }
    }
}

static void close_reach(struct inclusion *in)
{
    uint32_t n = in->a->count;
    memcpy(in->reach, in->a->next, sizeof in->reach);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            if (in->reach[i] >> k & 1)
                in->reach[i] |= in->reach[k];
}

/* A word leads to the state of a and to this set in b. False: to none, where a has a word that goes on, or too many. */
static bool add_prefix(struct inclusion *in, struct pt_map64 *known, uint32_t state, uint16_t set)
{
    uint32_t *number = pt_map64_at(known, (uint64_t)state << MOST | set);
    if (*number != PT_NONE)
        return true;
    if (set == 0 || in->prefix_count == MAX_PREFIXES)
        return false;
    *number = in->prefix_count;
    PT_PUSH(in->prefixes, in->prefix_count, in->prefix_cap, ((struct prefix){state, set}));
    return true;
}

static bool make_prefixes(struct inclusion *in)
{
    const struct pt_small *a = in->a;
    struct pt_map64 known;
    pt_map64_init(&known);
    bool fits = add_prefix(in, &known, a->initial, (uint16_t)(1u << in->b->initial));
    for (uint32_t i = 0; i < in->prefix_count && fits; i++) {
        struct prefix at = in->prefixes[i];
        for (uint32_t l = 0; l < in->letter_count && fits; l++) {
            uint16_t set = 0;
            for (uint32_t left = at.set; left; left &= left - 1)
                set |= in->letter[l].reach[__builtin_ctz(left)];
            for (uint64_t next = a->next[at.state]; next && fits; next &= next - 1) {
                uint32_t q = (uint32_t)__builtin_ctzll(next);
                if (a->letters[at.state][q] >> in->class[l] & 1)
                    fits = charge(in, 1) && add_prefix(in, &known, q, set);
            }
        }
    }
    pt_map64_release(&known);
    return fits;
}

static uint32_t hash_of(const struct loop *loop, uint32_t n)
{
    uint64_t h = loop->state + 1;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ loop->box.reach[i] ^ (uint32_t)loop->box.accepting[i] << MOST) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)pt_mix64(h);
}

/* The word leads from the state that the loops are about to this one, by which it can come back. */
static bool add_loop(struct inclusion *in, struct pt_unique *known, const struct loop *loop, uint32_t home)
{
    uint32_t hash = hash_of(loop, in->b->count);
    for (uint32_t at = hash, i; (i = pt_unique_next(known, hash, &at)) != PT_NONE;)
        if (in->loops[i].state == loop->state && memcmp(&in->loops[i].box, &loop->box, sizeof loop->box) == 0)
            return true;
    if (in->loop_count == MAX_BOXES)
        return false;
    pt_unique_add(known, hash, in->loop_count);
    PT_PUSH(in->loops, in->loop_count, in->loop_cap, *loop);
    if (loop->state != home)
        return true;
    uint16_t accepting = accepting_from(&loop->box, in->b->count);
    for (uint32_t i = 0; i < in->prefix_count; i++)
        if (in->prefixes[i].state == home && !(in->prefixes[i].set & accepting))
            return false;
    return charge(in, in->prefix_count);
}

/* The loops whose word begins with that of `from`, continued by letter l. */
static bool continue_loop(struct inclusion *in, struct pt_unique *known, const struct box *from, uint32_t state,
                          uint32_t l, uint32_t home)
{
    const struct pt_small *a = in->a;
    struct loop loop;
    bool made = false, fits = true;
    for (uint64_t next = a->next[state]; next && fits; next &= next - 1) {
        loop.state = (uint32_t)__builtin_ctzll(next);
        if (!(a->letters[state][loop.state] >> in->class[l] & 1) || !(in->reach[loop.state] >> home & 1))
            continue;
        if (!made)
            compose(from, &in->letter[l], in->b->count, &loop.box);
        made = true;
        fits = charge(in, in->b->count) && add_loop(in, known, &loop, home);
    }
    return fits;
}

static bool accepts_loops(struct inclusion *in, uint32_t home)
{
    struct box nothing = {0};
    struct pt_unique known;
    pt_unique_init(&known, FIRST_SLOTS);
    for (uint32_t i = 0; i < in->b->count; i++)
        nothing.reach[i] = (uint16_t)(1u << i);
    in->loop_count = 0;
    bool fits = true;
    for (uint32_t l = 0; l < in->letter_count && fits; l++)
        fits = continue_loop(in, &known, &nothing, home, l, home);
    for (uint32_t i = 0; i < in->loop_count && fits; i++) {
        struct loop at = in->loops[i];
        for (uint32_t l = 0; l < in->letter_count && fits; l++)
            fits = continue_loop(in, &known, &at.box, at.state, l, home);
    }
    pt_unique_release(&known);
    return fits;
}

bool pt_small_includes(const struct pt_small *b, const struct pt_small *a, uint32_t letter_count, uint64_t *work)
{
    if (b->count > MOST)
        return false;
    struct inclusion in = {.a = a, .b = b, .work = work};
    make_letters(&in, letter_count);
    close_reach(&in);
    bool included = make_prefixes(&in);
    for (uint32_t p = 0; p < a->count && included; p++)
        if (a->accepting >> p & in.reach[p] >> p & 1)
            included = accepts_loops(&in, p);
    free(in.prefixes);
    free(in.loops);
    return included;
}
