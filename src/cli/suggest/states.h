/*
 * What holds of the values of several variables in all states of the runs: two that are equal, or have one sum,
 * whenever a third is set or is not; how far one had got whenever another is at its highest; and events that come only
 * while a variable is set, or is not.
 */
#ifndef PT_CLI_SUGGEST_STATES_H
#define PT_CLI_SUGGEST_STATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PT_STATES_VARS = 12, PT_STATES_EVENTS = 64 };

struct pt_suggest_states {
    uint32_t vars[PT_STATES_VARS]; /* ids */
    uint32_t var_count;
    int64_t values[PT_STATES_VARS], starts[PT_STATES_VARS];
    bool known[PT_STATES_VARS];
    uint64_t seen[PT_STATES_VARS][2]; /* states in which it is 0, is not */
    struct pt_suggest_two {
        bool differ, moves;          /* somewhere: they are not equal; their sum is not the first one */
        int64_t sum;                 /* the first one */
        uint16_t unequal[2], odd[2]; /* variables while which are 0, are not, they are unequal; their sum another one */
        uint16_t away[2];            /* and while which one of them is not what it was in the beginning */
    } two[PT_STATES_VARS][PT_STATES_VARS];
    struct pt_suggest_above {
        int64_t top, least; /* the first one's highest value, and the second one's lowest while it is there */
        uint64_t states;    /* in which it is there */
    } above[PT_STATES_VARS][PT_STATES_VARS];
    struct pt_suggest_seen {
        uint32_t event; /* id in the space of events */
        uint64_t count;
        uint16_t with[2]; /* variables that were 0, were not */
    } events[PT_STATES_EVENTS];
    uint32_t event_count;
    uint64_t left; /* states that are still looked at */
    bool begun;    /* the first state of the run was */
};

void pt_suggest_states_init(struct pt_suggest_states *s);
/* A run begins; a variable has an initial value; it is written; a user event happens. */
void pt_suggest_states_run(struct pt_suggest_states *s);
void pt_suggest_states_initial(struct pt_suggest_states *s, uint32_t var, int64_t value);
void pt_suggest_states_write(struct pt_suggest_states *s, uint32_t var, int64_t value);
void pt_suggest_states_event(struct pt_suggest_states *s, uint32_t event);

#endif
