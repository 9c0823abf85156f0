/* A configuration of a complete prefix that reaches a marking with given properties (configuration.c). */
#ifndef PT_NET_CONFIGURATION_H
#define PT_NET_CONFIGURATION_H

#include "net/sat.h"
#include "net/unfold.h"

struct pt_wanted {
    bool dead;              /* no transition is enabled */
    const bool *exactly;    /* by place: marked, or not; NULL: any */
    const uint32_t *one_of; /* one of these places at least is marked; NULL: any */
    uint32_t one_of_count;
};

/* PT_SAT_YES: `ret_firings`, which the caller frees, are its transitions in an order in which they can fire. With
 * `dead`, the prefix has to be complete. */
enum pt_sat_answer pt_configuration_find(const struct pt_unfolding *unfolding, const struct pt_wanted *wanted,
                                         uint64_t memory_limit, uint32_t **ret_firings, uint32_t *ret_count,
                                         uint64_t *ret_bytes);

#endif
