/*
 * The first 12 variables with integer values that are written, in every state that a write of one of them makes, the
 * first 65536 of them: each pair beside each third. Cost: 12 * 12 * 12 at most for a state.
 */
#include "cli/suggest/states.h"

#include <string.h>

enum { MOST_STATES = 65536 };

void pt_suggest_states_init(struct pt_suggest_states *s)
{
    *s = (struct pt_suggest_states){.left = MOST_STATES};
}

void pt_suggest_states_run(struct pt_suggest_states *s)
{
    memset(s->known, 0, sizeof s->known);
    s->begun = false;
}

static uint32_t slot_of(struct pt_suggest_states *s, uint32_t var)
{
    for (uint32_t i = 0; i < s->var_count; i++)
        if (s->vars[i] == var)
            return i;
    if (s->var_count == PT_STATES_VARS)
        return PT_STATES_VARS;
    s->vars[s->var_count] = var;
    return s->var_count++;
}

static void look_at_two(struct pt_suggest_states *s, uint32_t x, uint32_t y, bool first)
{
    struct pt_suggest_two *two = &s->two[x][y];
    int64_t sum;
    bool equal = s->values[x] == s->values[y];
    bool away = s->values[x] != s->starts[x] || s->values[y] != s->starts[y];
    if (__builtin_add_overflow(s->values[x], s->values[y], &sum))
        sum = 0;
    if (first)
        two->sum = sum;
    two->differ |= !equal;
    two->moves |= sum != two->sum;
    for (uint32_t z = 0; z < s->var_count; z++)
        for (unsigned set = 0; set < 2; set++)
            if (s->known[z] && (s->values[z] != 0) == set) {
                two->unequal[set] |= (uint16_t)(!equal << z);
                two->odd[set] |= (uint16_t)((sum != two->sum) << z);
                two->away[set] |= (uint16_t)(away << z);
            }
}

static void look_above(struct pt_suggest_states *s, uint32_t x, uint32_t y)
{
    struct pt_suggest_above *above = &s->above[x][y];
    if (!above->states || s->values[x] > above->top)
        *above = (struct pt_suggest_above){.top = s->values[x], .least = s->values[y]};
    if (s->values[x] < above->top)
        return;
    above->states++;
    if (s->values[y] < above->least)
        above->least = s->values[y];
}

static void look(struct pt_suggest_states *s)
{
    bool first = s->left == MOST_STATES;
    if (!s->left)
        return;
    s->left--;
    for (uint32_t x = 0; x < s->var_count; x++) {
        s->seen[x][s->values[x] != 0] += s->known[x];
        for (uint32_t y = x + 1; y < s->var_count; y++)
            if (s->known[x] && s->known[y])
                look_at_two(s, x, y, first);
        for (uint32_t y = 0; y < s->var_count; y++)
            if (x != y && s->known[x] && s->known[y])
                look_above(s, x, y);
    }
}

void pt_suggest_states_initial(struct pt_suggest_states *s, uint32_t var, int64_t value)
{
    uint32_t slot = slot_of(s, var);
    if (slot == PT_STATES_VARS)
        return;
    if (!s->known[slot])
        s->starts[slot] = value;
    s->values[slot] = value;
    s->known[slot] = true;
}

void pt_suggest_states_write(struct pt_suggest_states *s, uint32_t var, int64_t value)
{
    if (!s->begun)
        look(s);
    s->begun = true;
    pt_suggest_states_initial(s, var, value);
    look(s);
}

void pt_suggest_states_event(struct pt_suggest_states *s, uint32_t event)
{
    uint32_t i = 0;
    while (i < s->event_count && s->events[i].event != event)
        i++;
    if (i == PT_STATES_EVENTS)
        return;
    if (i == s->event_count)
        s->events[s->event_count++] = (struct pt_suggest_seen){.event = event};
    s->events[i].count++;
    for (uint32_t z = 0; z < s->var_count; z++)
        if (s->known[z])
            s->events[i].with[s->values[z] != 0] |= (uint16_t)(1u << z);
}
