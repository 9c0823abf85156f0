/* Random traces and properties for tests that compare ways to analyse them. */
#ifndef RANDOM_TRACE_H
#define RANDOM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

static inline uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33) % below;
}

/* `wide`: so many threads that a cut has several words, and levels are not sorted; nearly all their events are ordered.
 */
static inline void random_trace(uint64_t *state, bool wide, struct pt_buf *buf)
{
    uint32_t threads = 1 + draw(state, 6), events = 4 + draw(state, threads > 4 ? 12 : 24), tied = draw(state, 6);
    if (wide) {
        threads = events = 40;
        tied = 5;
    }
    for (uint32_t i = 1; i <= events; i++) {
        uint32_t t = wide ? i % threads : draw(state, threads);
        bool tie = draw(state, 6) < tied, event = draw(state, 8) == 0;
        if (tie)
            pt_buf_printf(buf, "T%u|u(m)=%u|a.c:%u\n", t, i, i);
        if (event)
            pt_buf_printf(buf, "T%u|event(go)|a.c:%u\n", t, i);
        else
            pt_buf_printf(buf, "T%u|w(x%u)=%u|a.c:%u\n", t, draw(state, 4) ? t % 4 : draw(state, 4), draw(state, 4), i);
        if (tie)
            pt_buf_printf(buf, "T%u|u(m)=%u|a.c:%u\n", t, i, i);
    }
}

static inline void random_props(uint64_t *state, struct pt_buf *buf)
{
    pt_buf_printf(buf, "property a: always (x%u + x%u < %u);\n", draw(state, 4), draw(state, 4), 3 + draw(state, 4));
    pt_buf_printf(buf, "property b: always (x0 == %u -> once(x%u > x%u && x2 == %u));\n", draw(state, 4),
                  draw(state, 4), draw(state, 4), draw(state, 4));
    pt_buf_printf(buf, "property c: always (event(go) -> !(x1 == %u && previously (x%u == %u)));\n", draw(state, 4),
                  draw(state, 4), draw(state, 4));
    pt_buf_printf(buf, "property d: (x%u < 3) until (x3 == %u || x0 + x1 + x2 + x3 > 7);\n", draw(state, 4),
                  draw(state, 4));
}

#endif
