/* What a HOA file says, before it is made a state-based automaton. Inside the HOA reader only. */
#ifndef PT_LOGIC_AUTOMATON_HOA_RAW_H
#define PT_LOGIC_AUTOMATON_HOA_RAW_H

#include "logic/automaton/automaton.h"

struct hoa_raw_edge {
    uint32_t src, dst;
    pt_bdd label;
    bool marked; /* in the acceptance set */
};

struct hoa_raw_state {
    bool defined, marked;
};

struct hoa_raw {
    struct pt_bdds *bdds;
    char **props;
    uint32_t prop_count;
    size_t props_cap;
    bool trivial; /* Acceptance: 0 t */
    struct hoa_raw_state *states;
    uint32_t state_count; /* highest number mentioned, plus 1 */
    size_t states_cap;
    uint32_t *starts;
    uint32_t start_count;
    size_t starts_cap;
    struct hoa_raw_edge *edges; /* in the order of the file */
    uint32_t edge_count;
    size_t edges_cap;
};

void pt_hoa_raw_release(struct hoa_raw *raw);
/* Makes `state` and those below it known. */
void pt_hoa_cover_state(struct hoa_raw *raw, uint32_t state);
/* Takes the BDDs and names out of `raw`, which is still to be released. */
struct pt_automaton *pt_hoa_build(struct hoa_raw *raw);

#endif
