/* What holds of several variables together, or of an event and a variable (states.h). */
#include <inttypes.h>
#include <string.h>

#include "cli/suggest/propose.h"

/* A variable that is 0 or 1, and both at times: what depends on it can be said. */
static bool is_switch(const struct pt_proposals *p, uint32_t slot)
{
    const struct pt_suggest_states *s = &p->f->states;
    const struct pt_suggest_var *v = &p->f->vars[s->vars[slot]];
    return !strchr(pt_proposals_var(p, s->vars[slot]), '[') && v->has_values && !v->is_odd && v->low == 0 &&
           v->high == 1 && v->changes && s->seen[slot][0] && s->seen[slot][1] &&
           pt_suggest_is_nameable(pt_proposals_var(p, s->vars[slot]));
}

static bool is_counted(const struct pt_proposals *p, uint32_t slot)
{
    const struct pt_suggest_var *v = &p->f->vars[p->f->states.vars[slot]];
    return v->has_values && !v->is_odd && v->changes && v->high > 1 &&
           pt_suggest_is_nameable(pt_proposals_var(p, p->f->states.vars[slot]));
}

/* z -> x == y, !z -> x + y == 100: only where it is not so at other times. */
static void propose_relation(struct pt_proposals *p, uint32_t x, uint32_t y, uint32_t z, unsigned set)
{
    const struct pt_suggest_states *s = &p->f->states;
    const struct pt_suggest_two *two = &s->two[x][y];
    const char *a = pt_proposals_var(p, s->vars[x]), *b = pt_proposals_var(p, s->vars[y]),
               *c = pt_proposals_var(p, s->vars[z]);
    bool equal = two->differ && !(two->unequal[set] >> z & 1), sum = two->moves && !(two->odd[set] >> z & 1);
    struct pt_buf text;
    /* While nothing has happened yet all is as it was. */
    if ((!equal && !sum) || !(two->away[set] >> z & 1))
        return;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    pt_proposals_name(p, &text, a, "with", b);
    if (equal)
        pt_buf_printf(&text, ": always (%s%s -> %s == %s);", set ? "" : "!", c, a, b);
    else
        pt_buf_printf(&text, ": always (%s%s -> %s + %s == %" PRId64 ");", set ? "" : "!", c, a, b, two->sum);
    pt_buf_printf(&text, " // in all %" PRIu64 " states in which %s is %s; at other times not", s->seen[z][set], c,
                  set ? "set" : "0");
    pt_proposals_add(p, equal ? 84 : 83, &text);
}

static void propose_when(struct pt_proposals *p, const struct pt_suggest_seen *seen, uint32_t z)
{
    const struct pt_suggest_states *s = &p->f->states;
    const char *event = pt_name(&p->f->names, PT_SPACE_EVENT, seen->event), *c = pt_proposals_var(p, s->vars[z]);
    bool clear = seen->with[0] >> z & 1, set = seen->with[1] >> z & 1, call = strncmp(event, "call(", 5) == 0;
    if (clear == set || seen->count < 2 || strncmp(event, "return(", 7) == 0 || strpbrk(event, "\"\\") ||
        (call && seen->count < 2 * (uint64_t)p->f->runs))
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    pt_proposals_name(p, &text, call ? event + 5 : event, set ? "when" : "unless", c);
    pt_buf_printf(&text, call ? ": always (%s -> %s%s);" : ": always (event(\"%s\") -> %s%s);", event, set ? "" : "!",
                  c);
    pt_buf_printf(&text, " // so all %" PRIu64 " times", seen->count);
    pt_proposals_add(p, call ? 58 : 82, &text);
}

/* One thread raises x, another, which looks at x, raises y: how far y had got whenever x was at its highest. */
static void propose_in_time(struct pt_proposals *p, uint32_t x, uint32_t y)
{
    const struct pt_suggest_states *s = &p->f->states;
    const struct pt_suggest_above *above = &s->above[x][y];
    const struct pt_suggest_var *v = &p->f->vars[s->vars[x]], *w = &p->f->vars[s->vars[y]];
    const char *a = pt_proposals_var(p, s->vars[x]), *b = pt_proposals_var(p, s->vars[y]);
    if (v->falls || w->falls || !is_counted(p, x) || !is_counted(p, y) || v->writers & w->writers ||
        !(v->readers & w->writers) || above->least <= w->start || v->changes < 2)
        return;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, "property ");
    pt_proposals_name(p, &text, b, "in_time_for", a);
    pt_buf_printf(&text,
                  ": always (%s >= %" PRId64 " -> %s >= %" PRId64 "); // so in all %" PRIu64
                  " states; %s starts at %" PRId64,
                  a, above->top, b, above->least, above->states, b, w->start);
    pt_proposals_add(p, 72, &text);
}

void pt_propose_states(struct pt_proposals *p)
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
