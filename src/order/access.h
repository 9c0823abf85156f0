/*
 * The order `access` (contract section 3): program order; accesses of one object of which at least one writes, as they
 * were recorded; fork before the child, the child before its join. By the dynamic vector clocks of the JMPaX paper,
 * section 3.4, with the correction of contract section 8 (a read takes the variable's *write* clock). An event is
 * enabled in exactly the cuts that contain what it needs. By Theorem 1 of the paper, relevant e of thread i precedes
 * or equals relevant f iff needs(e)[i] <= needs(f)[i].
 */
#ifndef PT_ORDER_ACCESS_H
#define PT_ORDER_ACCESS_H

#include "core/ops.h"
#include "order/order.h"

extern const struct pt_order_kind pt_order_access;

/* What an operation is to this order, for those who carry more than clocks along it (engine/knowledge.h,
 * engine/atomicity.h): what depends on what, seen from one event. */
enum pt_role {
    PT_ROLE_NONE,   /* internal to its thread */
    PT_ROLE_READS,  /* follows the object's last write */
    PT_ROLE_WRITES, /* follows the object's last write, and the reads since */
    PT_ROLE_FORKS,  /* the object is a thread, whose events follow */
    PT_ROLE_JOINS,  /* the object is a thread, whose events precede */
};

static inline enum pt_role pt_access_role(enum pt_op op)
{
    static const uint8_t roles[] = {
        [PT_ACCESS_NONE] = PT_ROLE_NONE,     [PT_ACCESS_READ] = PT_ROLE_READS, [PT_ACCESS_WRITE] = PT_ROLE_WRITES,
        [PT_ACCESS_UPDATE] = PT_ROLE_WRITES, [PT_ACCESS_FORK] = PT_ROLE_FORKS, [PT_ACCESS_JOIN] = PT_ROLE_JOINS};
    return (enum pt_role)roles[pt_op_access(op)];
}

#endif
