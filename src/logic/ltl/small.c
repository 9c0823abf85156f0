/*
 * Small automata: from labels to sets of classes of letters and back, and the changes that shrink.c tries. Letters are
 * split by every label there is; reading and writing cost an operation on BDDs for each edge and class.
 */
#include "logic/ltl/small.h"

#include <assert.h>
#include <string.h>

void pt_letters_init(struct pt_letters *letters, struct pt_bdds *bdds)
{
    *letters = (struct pt_letters){.bdds = bdds, .class = {PT_BDD_TRUE}, .count = 1};
}

static bool split_by(struct pt_letters *letters, pt_bdd label)
{
    uint32_t count = letters->count;
    for (uint32_t i = 0; i < count; i++) {
        pt_bdd inside = pt_bdd_and(letters->bdds, letters->class[i], label);
        if (inside == PT_BDD_FALSE || inside == letters->class[i])
            continue;
        pt_bdd outside = pt_bdd_ite(letters->bdds, label, PT_BDD_FALSE, letters->class[i]);
        if (letters->count == PT_SMALL_MOST || inside == PT_BDD_OVERFLOW || outside == PT_BDD_OVERFLOW)
            return false;
        letters->class[i] = inside;
        letters->class[letters->count++] = outside;
    }
    return true;
}

bool pt_letters_split(struct pt_letters *letters, const struct pt_tgba *tgba)
{
    bool fits = true;
    for (uint32_t i = 0; i < tgba->edge_count && fits; i++)
        fits = split_by(letters, tgba->edges[i].label);
    return fits;
}

/* Each class is inside the label or outside, so one of its letters tells. */
static uint64_t letter_in(const struct pt_bdds *bdds, pt_bdd class)
{
    uint64_t letter = 0;
    while (class != PT_BDD_TRUE) {
        bool high = pt_bdd_low(bdds, class) == PT_BDD_FALSE;
        letter |= (uint64_t)high << pt_bdd_top(bdds, class);
        class = high ? pt_bdd_high(bdds, class) : pt_bdd_low(bdds, class);
    }
    return letter;
}

uint64_t pt_letters_of(const struct pt_letters *letters, pt_bdd label)
{
    uint64_t result = 0;
    for (uint32_t i = 0; i < letters->count; i++)
        if (pt_bdd_eval(letters->bdds, label, letter_in(letters->bdds, letters->class[i])))
            result |= (uint64_t)1 << i;
    return result;
}

void pt_small_read(struct pt_small *a, const struct pt_letters *letters, const struct pt_tgba *tgba)
{
    assert(tgba->state_based && tgba->state_count <= PT_SMALL_MOST);
    memset(a, 0, sizeof *a);
    a->count = tgba->state_count;
    a->initial = tgba->initial;
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        pt_small_add(a, e->src, e->dst, pt_letters_of(letters, e->label));
        if (e->marks)
            a->accepting |= (uint64_t)1 << e->src;
    }
}

struct pt_tgba *pt_small_write(const struct pt_small *a, const struct pt_letters *letters)
{
    struct pt_tgba *tgba = pt_tgba_new(letters->bdds, a->count, a->initial, 1);
    tgba->state_based = true;
    for (uint32_t p = 0; p < a->count; p++)
        for (uint64_t next = a->next[p]; next; next &= next - 1) {
            uint32_t q = (uint32_t)__builtin_ctzll(next);
            pt_bdd label = PT_BDD_FALSE;
            for (uint64_t left = a->letters[p][q]; left; left &= left - 1)
                label = pt_bdd_or(letters->bdds, label, letters->class[__builtin_ctzll(left)]);
            pt_tgba_add(tgba, p, q, label, a->accepting >> p & 1);
        }
    if (!pt_tgba_finish(tgba)) {
        pt_tgba_free(tgba);
        return NULL;
    }
    return tgba;
}

void pt_small_add(struct pt_small *a, uint32_t from, uint32_t to, uint64_t letters)
{
    a->letters[from][to] |= letters;
    if (letters)
        a->next[from] |= (uint64_t)1 << to;
}

void pt_small_merge(struct pt_small *a, uint32_t p, uint32_t q)
{
    for (uint32_t x = 0; x < a->count; x++)
        pt_small_add(a, x, p, a->letters[x][q]);
    for (uint32_t x = 0; x < a->count; x++)
        pt_small_add(a, p, x, a->letters[q][x]);
    a->accepting |= (a->accepting >> q & 1) << p;
    if (a->initial == q)
        a->initial = p;
    pt_small_drop(a, q);
}

void pt_small_drop(struct pt_small *a, uint32_t q)
{
    uint32_t last = a->count - 1;
    for (uint32_t x = 0; x <= last; x++) {
        a->letters[x][q] = a->letters[x][last];
        a->letters[x][last] = 0;
        uint64_t to_last = a->next[x] >> last & 1;
        a->next[x] &= ~((uint64_t)1 << q | (uint64_t)1 << last);
        if (q != last)
            a->next[x] |= to_last << q;
    }
    if (q != last) {
        memcpy(a->letters[q], a->letters[last], sizeof a->letters[q]);
        a->next[q] = a->next[last];
        a->accepting &= ~((uint64_t)1 << q);
        a->accepting |= (a->accepting >> last & 1) << q;
    }
    memset(a->letters[last], 0, sizeof a->letters[last]);
    a->next[last] = 0;
    a->accepting &= ~((uint64_t)1 << last);
    if (a->initial == last)
        a->initial = q;
    a->count = last;
}
