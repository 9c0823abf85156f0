/*
 * Facts as properties, one on a line, with the evidence behind it and the most likely first. Each is something that the
 * runs did, so that it holds on them (but for a lock that was missing somewhere): what other orders make of it is for
 * `run`, `check` and `explore` to say.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/suggest/facts.h"

struct proposal {
    uint32_t score, order;
    char *text;
};

struct proposals {
    const struct pt_suggest_facts *f;
    struct proposal *items;
    uint32_t count;
    size_t cap;
    struct pt_strtab names;  /* of properties */
    struct pt_strtab wholes; /* arrays, with what was said of them */
};

/* --- names --- */

/* Can a property name it? Not what has an address, a heap block's name, or brackets of its own. */
static bool is_nameable(const char *name)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    if (name[0] >= '0' && name[0] <= '9')
        return false;
    for (const char *c = name; *c; c++) {
        bool index = *c == '[' && strspn(c + 1, "0123456789") > 0 && c[1 + strspn(c + 1, "0123456789")] == ']';
        bool scope = c[0] == ':' && (c[1] == ':' || (c > name && c[-1] == ':'));
        bool member = *c == '.' && strchr(plain, c[1]) && c[1];
        if (!strchr(plain, *c) && !index && !scope && !member && *c != ']')
            return false;
    }
    return true;
}

/* A name for the property: these words, with what cannot stand in a name left out, and a number where it is taken. */
static void put_name(struct proposals *p, struct pt_buf *buf, const char *a, const char *word, const char *b)
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

static void add(struct proposals *p, uint32_t score, struct pt_buf *text)
{
    struct proposal proposal = {.score = score, .order = p->count, .text = pt_buf_take(text)};
    PT_PUSH(p->items, p->count, p->cap, proposal);
}

static const char *var_name(const struct proposals *p, uint32_t id)
{
    return pt_name(&p->f->names, PT_SPACE_VAR, id);
}

static const char *function_name(const struct proposals *p, uint32_t number)
{
    return pt_strtab_text(&p->f->function_names, number);
}

static unsigned threads_of(uint64_t set)
{
    return (unsigned)__builtin_popcountll(set);
}

static bool is_shared(const struct pt_suggest_var *v)
{
    return v->writers && threads_of(v->writers | v->readers) > 1;
}

/* --- locks --- */

static const struct pt_suggest_lock *best_lock(const struct pt_suggest_var *v)
{
    const struct pt_suggest_lock *best = NULL;
    for (uint32_t i = 0; i < v->lock_count; i++)
        if (!best || v->locks[i].held > best->held)
            best = &v->locks[i];
    return best;
}

/* The elements of an array are one proposal for each thing that is to be said. False: it has been made. */
static bool whole_of(struct proposals *p, const char *name, const char *verdict, struct pt_buf *whole)
{
    struct pt_buf key;
    size_t len = strcspn(name, "[");
    pt_buf_init(&key);
    pt_buf_printf(&key, "%s %.*s", verdict, (int)len, name);
    uint32_t before = p->wholes.count;
    bool new = pt_strtab_intern(&p->wholes, key.text, key.len) == before;
    pt_buf_release(&key);
    pt_buf_add(whole, name, len);
    return new;
}

static void propose_lock(struct proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    const struct pt_suggest_lock *lock = best_lock(v);
    unsigned threads = threads_of(v->readers | v->writers);
    struct pt_buf text, whole;
    if (!is_shared(v) || v->is_atomic)
        return;
    bool guarded = lock && lock->held == v->accesses, broken = lock && !guarded && lock->held * 2 >= v->accesses;
    const char *word = guarded || broken ? "guarded" : "unshared";
    pt_buf_init(&text);
    pt_buf_init(&whole);
    if (!whole_of(p, var_name(p, id), guarded ? "guarded" : broken ? "broken" : "bare", &whole)) {
        pt_buf_release(&whole);
        return;
    }
    pt_buf_puts(&text, "property ");
    put_name(p, &text, whole.text, word, "");
    pt_buf_printf(&text, ": race_free(%s); // ", whole.text);
    pt_buf_release(&whole);
    if (guarded)
        pt_buf_printf(&text, "%s is held at all %" PRIu64 " accesses, by %u threads",
                      pt_name(&p->f->names, PT_SPACE_LOCK, lock->lock), v->accesses, threads);
    else if (broken)
        pt_buf_printf(&text, "%s is held at %" PRIu64 " of %" PRIu64 " accesses, not at %s",
                      pt_name(&p->f->names, PT_SPACE_LOCK, lock->lock), lock->held, v->accesses,
                      lock->missing == PT_NONE ? "the first" : pt_name(&p->f->names, PT_SPACE_LOC, lock->missing));
    else
        pt_buf_printf(&text, "%u threads, no lock at all %" PRIu64 " accesses, the first at %s", threads, v->accesses,
                      pt_name(&p->f->names, PT_SPACE_LOC, v->first_place));
    add(p, guarded ? 80 : broken ? 100 : 60, &text);
}

/* --- values --- */

static void propose_growth(struct proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    enum { MOST = 8 };
    const char *name = var_name(p, id);
    uint64_t span = (uint64_t)v->high - (uint64_t)v->low, steps = span < MOST ? span : MOST;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    put_name(p, &text, name, "grows", "");
    pt_buf_puts(&text, ": always (");
    for (uint64_t i = 1; i <= steps; i++)
        pt_buf_printf(&text, "%s!end(%s >= %" PRId64 ")", i > 1 ? " && " : "", name,
                      (int64_t)((uint64_t)v->low + span * i / steps));
    pt_buf_printf(&text, "); // from %" PRId64 " to %" PRId64 ", never less, in %" PRIu64 " steps", v->low, v->high,
                  v->changes);
    add(p, 65, &text);
}

static void propose_range(struct proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    const char *name = var_name(p, id);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    put_name(p, &text, name, "in_range", "");
    pt_buf_printf(&text, " = in_range(value = %s, low = %" PRId64 ", high = %" PRId64 "); // %" PRIu64 " changes%s",
                  name, v->low, v->high, v->changes, v->returns > 1 ? ", up and down" : "");
    add(p, v->returns > 1 && v->low == 0 ? 75 : 40, &text);
}

static void propose_values(struct proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    bool useful = v->has_values && !v->is_odd && is_shared(v) && v->changes >= 3;
    if (!useful)
        return;
    if (!v->falls)
        propose_growth(p, id, v);
    else
        propose_range(p, id, v);
}

/* --- flags --- */

/* Whoever reads the variable of another thread knows that the flag is set, which the writer sets behind it. */
static void propose_flags(struct proposals *p, uint32_t id, const struct pt_suggest_var *v)
{
    for (uint32_t i = 0; i < p->f->flag_count && v->far_reads; i++) {
        uint32_t other = p->f->flag_vars[i];
        const struct pt_suggest_var *flag = &p->f->vars[other];
        if (!(v->flags >> i & 1) || other == id || flag->no_flag || flag->setter != v->last_writer ||
            flag->set_at <= v->last_write || !is_nameable(var_name(p, other)))
            continue;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_puts(&text, "property ");
        put_name(p, &text, var_name(p, id), "after", var_name(p, other));
        pt_buf_printf(&text,
                      " at each i: read(%s) && !once write(%s) -> %s; // all %" PRIu64
                      " reads by other threads came after %s was set",
                      var_name(p, id), var_name(p, id), var_name(p, other), v->far_reads, var_name(p, other));
        add(p, 90, &text);
    }
}

/* --- functions --- */

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strcasestr(name, *words))
            return true;
    return false;
}

/* A variable that the first writes and the second reads, PT_NONE: none. */
static uint32_t handed_over(const struct pt_suggest_function *from, const struct pt_suggest_function *to)
{
    for (uint32_t i = 0; i < from->write_count; i++)
        for (uint32_t k = 0; k < to->read_count; k++)
            if (from->writes[i] == to->reads[k])
                return from->writes[i];
    return PT_NONE;
}

static void propose_order(struct proposals *p, uint32_t first, uint32_t then)
{
    static const char *const makes[] = {"init", "load", "open", "setup", "start", "create", "config", NULL};
    const struct pt_suggest_function *a = &p->f->functions[first], *b = &p->f->functions[then];
    uint32_t by = handed_over(a, b);
    bool word = has_word(function_name(p, first), makes);
    if (!(b->after >> first & 1) || a->calls != a->runs || a->runs < b->runs || a->starts || b->starts ||
        !(b->threads & ~a->threads) || (by == PT_NONE && !word))
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    put_name(p, &text, function_name(p, then), "after", function_name(p, first));
    pt_buf_printf(&text, " = init_before_use(init = return(%s), use = call(%s)); // ", function_name(p, first),
                  function_name(p, then));
    if (by != PT_NONE && is_nameable(var_name(p, by)))
        pt_buf_printf(&text, "%s writes %s, ", function_name(p, first), var_name(p, by));
    pt_buf_printf(&text, "all %" PRIu64 " calls of %s came later", b->calls, function_name(p, then));
    add(p, (by != PT_NONE ? 80 : 50) + (word ? 15 : 0), &text);
}

static void propose_pair(struct proposals *p, uint32_t begin, uint32_t end)
{
    static const char *const begins[] = {"lock", "begin", "open", "acquire", "start", "enter", "push", "get", NULL};
    const struct pt_suggest_function *a = &p->f->functions[begin], *b = &p->f->functions[end];
    bool pairs = !(a->unpaired >> end & 1) && a->pairs[end] == a->calls && a->calls == b->calls && a->calls >= 2;
    if (!pairs || a->mixed || b->mixed || a->parent != b->parent || a->starts || b->starts)
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "use ");
    put_name(p, &text, function_name(p, begin), "paired", "");
    pt_buf_printf(&text, " = paired_in_thread(begin = call(%s), end = call(%s)); // %" PRIu64 " times, by %u thread%s",
                  function_name(p, begin), function_name(p, end), a->calls, threads_of(a->threads),
                  threads_of(a->threads) == 1 ? "" : "s");
    add(p, 70 + (has_word(function_name(p, begin), begins) ? 15 : 0), &text);
}

static void propose_functions(struct proposals *p)
{
    for (uint32_t a = 0; a < p->f->function_count; a++)
        for (uint32_t b = 0; b < p->f->function_count; b++)
            if (a != b && is_nameable(function_name(p, a)) && is_nameable(function_name(p, b))) {
                propose_order(p, a, b);
                propose_pair(p, a, b);
            }
}

/* --- states --- */

/* A variable that is 0 or 1, and both at times: what depends on it can be said. */
static bool is_switch(const struct proposals *p, uint32_t slot)
{
    const struct pt_suggest_states *s = &p->f->states;
    const struct pt_suggest_var *v = &p->f->vars[s->vars[slot]];
    return !strchr(var_name(p, s->vars[slot]), '[') && v->has_values && !v->is_odd && v->low == 0 && v->high == 1 &&
           v->changes && s->seen[slot][0] && s->seen[slot][1] && is_nameable(var_name(p, s->vars[slot]));
}

static bool is_counted(const struct proposals *p, uint32_t slot)
{
    const struct pt_suggest_var *v = &p->f->vars[p->f->states.vars[slot]];
    return v->has_values && !v->is_odd && v->changes && v->high > 1 &&
           is_nameable(var_name(p, p->f->states.vars[slot]));
}

/* z -> x == y, !z -> x + y == 100: only where it is not so at other times. */
static void propose_relation(struct proposals *p, uint32_t x, uint32_t y, uint32_t z, unsigned set)
{
    const struct pt_suggest_states *s = &p->f->states;
    const struct pt_suggest_two *two = &s->two[x][y];
    const char *a = var_name(p, s->vars[x]), *b = var_name(p, s->vars[y]), *c = var_name(p, s->vars[z]);
    bool equal = two->differ && !(two->unequal[set] >> z & 1), sum = two->moves && !(two->odd[set] >> z & 1);
    struct pt_buf text;
    if (!equal && !sum)
        return;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    put_name(p, &text, a, "with", b);
    if (equal)
        pt_buf_printf(&text, ": always (%s%s -> %s == %s);", set ? "" : "!", c, a, b);
    else
        pt_buf_printf(&text, ": always (%s%s -> %s + %s == %" PRId64 ");", set ? "" : "!", c, a, b, two->sum);
    pt_buf_printf(&text, " // in all %" PRIu64 " states in which %s is %s; at other times not", s->seen[z][set], c,
                  set ? "set" : "0");
    add(p, equal ? 84 : 83, &text);
}

static void propose_when(struct proposals *p, const struct pt_suggest_seen *seen, uint32_t z)
{
    const struct pt_suggest_states *s = &p->f->states;
    const char *event = pt_name(&p->f->names, PT_SPACE_EVENT, seen->event), *c = var_name(p, s->vars[z]);
    bool clear = seen->with[0] >> z & 1, set = seen->with[1] >> z & 1, call = strncmp(event, "call(", 5) == 0;
    if (clear == set || seen->count < 2 || strncmp(event, "return(", 7) == 0 || strpbrk(event, "\"\\") ||
        (call && seen->count < 2 * (uint64_t)p->f->runs))
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    put_name(p, &text, call ? event + 5 : event, set ? "when" : "unless", c);
    pt_buf_printf(&text, call ? ": always (%s -> %s%s);" : ": always (event(\"%s\") -> %s%s);", event, set ? "" : "!",
                  c);
    pt_buf_printf(&text, " // so all %" PRIu64 " times", seen->count);
    add(p, call ? 58 : 82, &text);
}

/* One thread raises x, another, which looks at x, raises y: how far y had got whenever x was at its highest. */
static void propose_in_time(struct proposals *p, uint32_t x, uint32_t y)
{
    const struct pt_suggest_states *s = &p->f->states;
    const struct pt_suggest_above *above = &s->above[x][y];
    const struct pt_suggest_var *v = &p->f->vars[s->vars[x]], *w = &p->f->vars[s->vars[y]];
    const char *a = var_name(p, s->vars[x]), *b = var_name(p, s->vars[y]);
    if (v->falls || w->falls || !is_counted(p, x) || !is_counted(p, y) || v->writers & w->writers ||
        !(v->readers & w->writers) || above->least <= w->start || v->changes < 2)
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    put_name(p, &text, b, "in_time_for", a);
    pt_buf_printf(&text,
                  ": always (%s >= %" PRId64 " -> %s >= %" PRId64 "); // so in all %" PRIu64
                  " states; %s starts at %" PRId64,
                  a, above->top, b, above->least, above->states, b, w->start);
    add(p, 72, &text);
}

static void propose_states(struct proposals *p)
{
    const struct pt_suggest_states *s = &p->f->states;
    for (uint32_t x = 0; x < s->var_count; x++)
        for (uint32_t y = 0; y < s->var_count; y++)
            if (x != y)
                propose_in_time(p, x, y);
    for (uint32_t z = 0; z < s->var_count; z++) {
        if (!is_switch(p, z))
            continue;
        for (uint32_t x = 0; x < s->var_count; x++)
            for (uint32_t y = x + 1; y < s->var_count; y++)
                for (unsigned set = 0; set < 2 && x != z && y != z; set++)
                    if (is_counted(p, x) && is_counted(p, y))
                        propose_relation(p, x, y, z, set);
        for (uint32_t i = 0; i < s->event_count; i++)
            propose_when(p, &s->events[i], z);
    }
}

/* --- all of them --- */

static int by_score(const void *a, const void *b)
{
    const struct proposal *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

uint32_t pt_suggest_propose(const struct pt_suggest_facts *facts, uint32_t most, struct pt_buf *ret_text)
{
    struct proposals p = {.f = facts};
    uint32_t vars = facts->names.space[PT_SPACE_VAR].count, shown = 0;
    pt_strtab_init(&p.names);
    pt_strtab_init(&p.wholes);
    for (uint32_t id = 0; id < vars && id < facts->var_cap; id++)
        if (is_nameable(var_name(&p, id))) {
            propose_lock(&p, id, &facts->vars[id]);
            propose_flags(&p, id, &facts->vars[id]);
            propose_values(&p, id, &facts->vars[id]);
        }
    propose_functions(&p);
    propose_states(&p);
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
