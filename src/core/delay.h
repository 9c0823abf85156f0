/* How much a thread may be paused before synchronisation (`delay=` of PORTENT_OPTIONS, `run --delay`): `5%`, a share of
 * its time, or `0.2`, so many seconds of it. */
#ifndef PT_CORE_DELAY_H
#define PT_CORE_DELAY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/settings.h"

#define PT_DELAY_STANDARD "5%"

struct pt_delay_budget {
    uint64_t share;       /* millionths of the time that the thread was there without pauses */
    uint64_t nanoseconds; /* beside that */
};

/* False: it is neither, or out of proportion: more than ten times the time, or than an hour. */
static inline bool pt_delay_parse(struct pt_span text, struct pt_delay_budget *ret_budget)
{
    enum { MOST = 3600, PARTS = 1000000 };
    uint64_t number = 0, unit = PARTS;
    bool point = false, digits = false, percent = text.len && text.at[text.len - 1] == '%';
    for (size_t i = 0; i < text.len - percent; i++) {
        char c = text.at[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9' || number > (uint64_t)MOST * PARTS)
            return false;
        digits = true;
        unit /= point ? 10 : 1;
        if (!unit) /* finer than a millionth */
            return false;
        number = point ? number + (uint64_t)(c - '0') * unit : number * 10 + (uint64_t)(c - '0') * PARTS;
    }
    if (!digits || number > (uint64_t)(percent ? 1000 : MOST) * PARTS)
        return false;
    *ret_budget = percent ? (struct pt_delay_budget){.share = number / 100}
                          : (struct pt_delay_budget){.nanoseconds = number * 1000};
    return true;
}

#endif
