/*
 * Which accesses of a variable may race at all, by what they do and the locks that they have, their kinds; and whether
 * an access needs all earlier ones that may race with it, as in most programs nearly all do: then nobody is asked.
 *
 * Of each kind the latest access of each thread is kept, less what is covered: an access that needs all that may race
 * with it stands for those whose partners are its partners too, whatever kinds may come, since who needs it needs them.
 * This is FastTrack's reduction of reads and writes to epochs, for any locks and by what events need.
 *
 * Guarantee: what is said to need all does. Cost: where accesses need each other one comparison or two, otherwise one
 * for each thread and kind; beyond MOST threads, or 64 kinds, nothing is kept or said.
 */
#include <stdlib.h>
#include <string.h>

#include "predict/syncp_impl.h"

enum { MOST = 32, BITS = 64 };

/* Whether both have one lock, and one of them has it alone. */
static bool have_common(const struct pt_syncp *s, uint32_t one, uint32_t other)
{
    if (one == PT_NONE || other == PT_NONE)
        return false;
    const char *a = pt_strtab_text(&s->lock_sets, one), *b = pt_strtab_text(&s->lock_sets, other);
    uint32_t a_end = pt_strtab_len(&s->lock_sets, one), b_end = pt_strtab_len(&s->lock_sets, other);
    for (uint32_t i = 0; i < a_end; i += sizeof(uint32_t))
        for (uint32_t k = 0; k < b_end; k += sizeof(uint32_t)) {
            uint32_t x, y;
            memcpy(&x, a + i, sizeof x);
            memcpy(&y, b + k, sizeof y);
            if (x >> 1 == y >> 1 && !(x & y & 1))
                return true;
        }
    return false;
}

static bool writes(const struct pt_syncp_kind *kind)
{
    return pt_op_writes(kind->op) || kind->op == PT_OP_FREE;
}

bool pt_syncp_may_race(const struct pt_syncp *s, const struct pt_syncp_kind *a, const struct pt_syncp_kind *b)
{
    bool overlap = !a->to || !b->to || (a->from < b->to && b->from < a->to);
    return (writes(a) || writes(b)) && !(a->atomic && b->atomic) && overlap && !have_common(s, a->locks, b->locks);
}

/* Whether all that may race with b, kinds to come among them, may race with a. */
static bool covers(const struct pt_syncp_kind *a, const struct pt_syncp_kind *b)
{
    return (writes(a) || !writes(b)) && (!a->atomic || b->atomic) &&
           (!a->to || (a->from == b->from && a->to == b->to)) && (a->locks == PT_NONE || a->locks == b->locks);
}

/* The new kind is the variable's last. */
static void compare_kinds(struct pt_syncp *s, struct pt_syncp_var *var)
{
    uint32_t at = var->kind_count - 1;
    struct pt_syncp_kind *new = &var->kinds[at];
    bool asked = false;
    for (uint32_t i = 0; i < var->kind_count; i++) {
        struct pt_syncp_kind *old = &var->kinds[i];
        bool may = pt_syncp_may_race(s, new, old);
        new->partner |= may;
        old->partner |= may;
        asked |= may;
        if (at >= BITS)
            continue;
        new->partners |= (uint64_t)may << i;
        old->partners |= (uint64_t)may << at;
        new->covered |= (uint64_t)covers(new, old) << i;
        old->covered |= (uint64_t)covers(old, new) << at;
    }
    var->crowded |= at >= BITS;
    if (asked && !var->asked)
        pt_syncp_begin_asking(s, var);
}

uint32_t pt_syncp_kind_of(struct pt_syncp *s, struct pt_syncp_var *var, const struct pt_syncp_group *like)
{
    for (uint32_t i = 0; i < var->kind_count; i++) {
        const struct pt_syncp_kind *k = &var->kinds[i];
        if (k->locks == like->locks && k->op == like->op && k->from == like->from && k->to == like->to &&
            k->atomic == like->atomic)
            return i;
    }
    struct pt_syncp_kind kind = {
        .locks = like->locks, .from = like->from, .to = like->to, .op = like->op, .atomic = like->atomic};
    size_t cap = var->kind_cap;
    PT_PUSH(var->kinds, var->kind_count, var->kind_cap, kind);
    s->bytes += (var->kind_cap - cap) * sizeof kind;
    compare_kinds(s, var);
    return var->kind_count - 1;
}

void pt_syncp_drop_kinds(struct pt_syncp *s, struct pt_syncp_var *var)
{
    for (uint32_t i = 0; i < var->kind_count; i++) {
        s->bytes -= var->kinds[i].last_cap * sizeof *var->kinds[i].lasts;
        free(var->kinds[i].lasts);
    }
    var->kind_count = 0;
    var->asked = var->crowded = false;
}

/* ---- what an access needs ---- */

static bool needs_kind(const struct pt_syncp_kind *kind, uint32_t thread, const struct pt_vec *past)
{
    for (uint32_t i = 0; i < kind->last_count; i++) {
        const struct pt_syncp_last *last = &kind->lasts[i];
        if (last->thread != thread && last->number > pt_vec_at(past, last->thread))
            return false;
    }
    return true;
}

/* The access is the latest of its thread; what it needs of its kind it stands for. */
static void add_last(struct pt_syncp *s, struct pt_syncp_var *var, struct pt_syncp_kind *kind, uint32_t thread,
                     const struct pt_syncp_access *now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kind->last_count; i++)
        if (kind->lasts[i].thread == thread) {
            kind->lasts[i].number = now->number;
            return;
        }
    for (uint32_t i = 0; i < kind->last_count; i++) {
        struct pt_syncp_last last = kind->lasts[i];
        if (last.thread != thread && last.number > pt_vec_at(now->past, last.thread))
            kind->lasts[kept++] = last;
    }
    kind->last_count = kept;
    size_t cap = kind->last_cap;
    struct pt_syncp_last own = {now->number, thread};
    PT_PUSH(kind->lasts, kind->last_count, kind->last_cap, own);
    s->bytes += (kind->last_cap - cap) * sizeof own;
    var->crowded |= kept >= MOST;
}

bool pt_syncp_needs_all(struct pt_syncp *s, struct pt_syncp_var *var, uint32_t of, uint32_t thread,
                        const struct pt_syncp_access *now)
{
    struct pt_syncp_kind *kind = &var->kinds[of];
    bool all = true;
    if (var->crowded)
        return !kind->partner;
    for (uint64_t left = kind->partners; left && all; left &= left - 1)
        all = needs_kind(&var->kinds[__builtin_ctzll(left)], thread, now->past);
    for (uint64_t left = all ? kind->partners & kind->covered : 0; left; left &= left - 1)
        var->kinds[__builtin_ctzll(left)].last_count = 0;
    add_last(s, var, kind, thread, now);
    return all;
}
