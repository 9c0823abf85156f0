/* Functions that the source opts out. */
#ifndef PT_INSTRUMENT_OPT_OUTS_H
#define PT_INSTRUMENT_OPT_OUTS_H

#include "instrument/orders.h"

/* A file of bitcode: functions without sanitize_thread in it are to be left alone. NULL when there are none, or when
 * the source does not compile for ThreadSanitizer. */
const char *pt_opt_outs(const struct pt_orders *orders);

#endif
