/* What a monitor is made of: shared by its files, and nothing else. */
#ifndef PT_LOGIC_MONITOR_IMPL_H
#define PT_LOGIC_MONITOR_IMPL_H

#include "logic/monitor/monitor.h"
#include "logic/monitor/past.h"
#include "portent-monitor.h"

enum machine { MACHINE_PAST, MACHINE_SUBSET, MACHINE_MODULE };

struct letter {
    uint64_t bits;    /* truth of the atoms */
    uint64_t unknown; /* atoms without a value */
};

struct effect {
    uint64_t mask; /* atoms that read the written variable */
    uint64_t bits, unknown;
};

struct pt_monitor {
    enum machine machine;
    const struct pt_property *property;
    const char *name;
    bool monitorable;
    uint32_t *joint_vars;
    uint32_t joint_count;
    struct pt_varref *module_vars;
    uint32_t var_count, event_count;
    struct pt_value *one_value; /* scratch of pt_monitor_effect, var_count of them */
    struct last_effect {
        struct effect effect; /* whose mask is 0: there was none */
        uint32_t id;
    } * last_effects; /* per variable: the one before, which comes again more often than not */

    struct pt_strtab letters; /* struct letter; a module's: values and event */
    struct pt_strtab effects; /* struct effect */
    struct pt_map64 steps;    /* state << 32 | letter -> state */
    pt_formula *pieces;       /* the largest propositional subformulas, in written order */
    uint32_t piece_count;

    pt_formula state_formula; /* MACHINE_PAST: what must hold in every state */
    struct pt_past past;      /* its memory as (bits, first) interned in `states` */
    bool *values;
    struct pt_automaton *automaton; /* MACHINE_SUBSET; sorted arrays of states interned in `states` */
    struct pt_strtab states;

    const struct portent_monitor *module;
    char *blobs; /* module states, state_size each */
    uint32_t blob_count;
    size_t blob_cap;
    struct pt_map64 blob_hash; /* hash -> newest blob with it */
    uint32_t *blob_chain;      /* -> the next older blob with the same hash */
    size_t blob_chain_cap;
};

static inline const struct letter *pt_monitor_letter_of(const struct pt_monitor *m, pt_letter id)
{
    return (const struct letter *)(const void *)pt_strtab_text(&m->letters, id); /* arenas align to 16 */
}

/* Puts the truth of one atom into the letter. */
void pt_monitor_eval_atom(const struct pt_atom *atom, uint32_t index, const struct pt_value *values,
                          struct letter *letter);
/* The atoms whose truth is open in this state: nothing, unless some piece got stuck. */
uint64_t pt_monitor_open_atoms(const struct pt_monitor *m, struct letter letter);

#endif
