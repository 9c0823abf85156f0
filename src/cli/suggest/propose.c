/*
 * Facts as properties, one on a line, with the evidence behind it and the most likely first. Each is something that the
 * runs did, so that it holds on them (but for a lock that was missing somewhere): what other orders make of it is for
 * `run`, `check` and `explore` to say.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/suggest/propose.h"

void pt_proposals_name(struct pt_proposals *p, struct pt_buf *buf, const char *a, const char *word, const char *b)
{
    struct pt_buf name;
    pt_buf_init(&name);
    const char *const parts[] = {a, word, b};
    for (int i = 0; i < 3; i++) {
        for (const char *c = parts[i]; *c; c++)
            if (*c == '_' || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9'))
                pt_buf_add(&name, c, 1);
            else if (name.len && name.text[name.len - 1] != '_')
                pt_buf_puts(&name, "_");
        while (name.len && name.text[name.len - 1] == '_')
            name.text[--name.len] = '\0';
        if (i < 2 && *parts[i + 1])
            pt_buf_puts(&name, "_");
    }
    size_t len = name.len;
    for (uint32_t n = 2; pt_strtab_find(&p->names, name.text, name.len) != PT_NONE; n++) {
        name.len = len;
        pt_buf_printf(&name, "_%u", n);
    }
    (void)pt_strtab_intern(&p->names, name.text, name.len);
    pt_buf_puts(buf, name.text);
    pt_buf_release(&name);
}

void pt_proposals_add(struct pt_proposals *p, uint32_t score, struct pt_buf *text)
{
    struct pt_proposal proposal = {.score = score, .order = p->count, .text = pt_buf_take(text)};
    PT_PUSH(p->items, p->count, p->cap, proposal);
}

bool pt_proposals_first(struct pt_proposals *p, const char *name, const char *said)
{
    struct pt_buf key;
    pt_buf_init(&key);
    pt_buf_printf(&key, "%s %.*s", said, (int)pt_suggest_whole(name), name);
    uint32_t before = p->wholes.count;
    bool new = pt_strtab_intern(&p->wholes, key.text, key.len) == before;
    pt_buf_release(&key);
    return new;
}

/* --- locks --- */

static void propose_lock(struct pt_proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    const struct pt_suggest_lock *lock = pt_proposals_lock(v);
    const char *name = pt_proposals_var(p, id), *word = lock ? pt_strtab_text(&p->f->heap.words, lock->word) : NULL;
    unsigned threads = pt_proposals_threads(v->readers | v->writers);
    struct pt_buf text, whole;
    if (!pt_proposals_is_shared(v) || v->is_atomic)
        return;
    bool guarded = lock && lock->held == v->accesses, broken = lock && !guarded && lock->held * 2 >= v->accesses;
    if (!pt_proposals_first(p, name, guarded ? "guarded" : broken ? "broken" : "bare"))
        return;
    pt_buf_init(&text);
    pt_buf_init(&whole);
    pt_buf_add(&whole, name, pt_suggest_whole(name));
    pt_buf_puts(&text, "property ");
    pt_proposals_name(p, &text, whole.text, guarded || broken ? "guarded" : "unshared", "");
    pt_buf_printf(&text, ": race_free(%s); // ", whole.text);
    pt_buf_release(&whole);
    if (guarded)
        pt_buf_printf(&text, "%s is held at all %" PRIu64 " accesses, by %u threads", word, v->accesses, threads);
    else if (broken)
        pt_buf_printf(&text, "%s is held at %" PRIu64 " of %" PRIu64 " accesses, not at %s", word, lock->held,
                      v->accesses,
                      lock->missing == PT_NONE ? "the first" : pt_name(&p->f->names, PT_SPACE_LOC, lock->missing));
    else
        pt_buf_printf(&text, "%u threads, no lock at all %" PRIu64 " accesses, the first at %s", threads, v->accesses,
                      pt_name(&p->f->names, PT_SPACE_LOC, v->first_place));
    pt_proposals_add(p, guarded ? 80 : broken ? 100 : 60, &text);
}

/* --- values --- */

static void propose_growth(struct pt_proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    enum { MOST = 4 };
    const char *name = pt_proposals_var(p, id);
    uint64_t span = (uint64_t)v->high - (uint64_t)v->low, steps = span < MOST ? span : MOST;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    pt_proposals_name(p, &text, name, "grows", "");
    pt_buf_puts(&text, ": always (");
    for (uint64_t i = 1; i <= steps; i++)
        pt_buf_printf(&text, "%s!end(%s >= %" PRId64 ")", i > 1 ? " && " : "", name,
                      (int64_t)((uint64_t)v->low + span * i / steps));
    pt_buf_printf(&text, "); // from %" PRId64 " to %" PRId64 ", never less, in %" PRIu64 " steps", v->low, v->high,
                  v->changes);
    pt_proposals_add(p, 65, &text);
}

static void propose_range(struct pt_proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    const char *name = pt_proposals_var(p, id);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    pt_proposals_name(p, &text, name, "in_range", "");
    pt_buf_printf(&text, " = in_range(value = %s, low = %" PRId64 ", high = %" PRId64 "); // %" PRIu64 " changes%s",
                  name, v->low, v->high, v->changes, v->returns > 1 ? ", up and down" : "");
    pt_proposals_add(p, v->returns > 1 && v->low == 0 ? 75 : 40, &text);
}

static void propose_values(struct pt_proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    const char *name = pt_proposals_var(p, id);
    bool useful = v->has_values && !v->is_odd && pt_proposals_is_shared(v) && v->changes > 2 * (uint64_t)p->f->runs;
    if (!useful || strstr(name, "._M_") || !pt_proposals_first(p, name, v->falls ? "stays" : "grows"))
        return;
    if (v->falls)
        propose_range(p, id, v);
    else
        propose_growth(p, id, v);
}

/* --- flags --- */

/* Whoever reads the variable of another thread knows that the flag is set, which the writer sets behind it. */
static void propose_flags(struct pt_proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    for (uint32_t i = 0; i < p->f->flag_count && v->far_reads; i++) {
        uint32_t other = p->f->flag_vars[i];
        const struct pt_suggest_var *flag = &p->f->vars[other];
        if (!(v->flags >> i & 1) || other == id || flag->no_flag || flag->setter != v->last_writer ||
            flag->set_at <= v->last_write || !flag->is_nameable)
            continue;
        const char *name = pt_proposals_var(p, id), *by = pt_proposals_var(p, other);
        bool element = by[pt_suggest_whole(by)] != '\0'; /* one of many is no flag */
        if (element || !pt_proposals_first(p, name, by))
            continue;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_puts(&text, "property ");
        pt_proposals_name(p, &text, name, "after", by);
        pt_buf_printf(&text,
                      " at each i: read(%s) && !once write(%s) -> %s; // all %" PRIu64
                      " reads by other threads came after %s was set",
                      name, name, by, v->far_reads, by);
        pt_proposals_add(p, 90, &text);
    }
}

/* --- all of them --- */

static int by_score(const void *a, const void *b)
{
    const struct pt_proposal *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

uint32_t pt_suggest_propose(const struct pt_suggest_facts *facts, uint32_t most, struct pt_buf *ret_text)
{
    struct pt_proposals p = {.f = facts};
    uint32_t vars = facts->names.space[PT_SPACE_VAR].count, shown = 0;
    pt_strtab_init(&p.names);
    pt_strtab_init(&p.wholes);
    for (uint32_t id = 0; id < vars && id < facts->var_cap; id++)
        if (facts->vars[id].is_nameable) {
            propose_lock(&p, id, &facts->vars[id]);
            propose_flags(&p, id, &facts->vars[id]);
            propose_values(&p, id, &facts->vars[id]);
        }
    pt_propose_heap(&p);
    pt_propose_calls(&p);
    pt_propose_states(&p);
    if (p.count)
        qsort(p.items, p.count, sizeof *p.items, by_score);
    for (uint32_t i = 0; i < p.count; i++) {
        if (shown < most) {
            pt_buf_printf(ret_text, "%s\n", p.items[i].text);
            shown++;
        }
        free(p.items[i].text);
    }
    free(p.items);
    pt_strtab_release(&p.names);
    pt_strtab_release(&p.wholes);
    return shown;
}
