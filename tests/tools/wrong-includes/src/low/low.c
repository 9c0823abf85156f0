/* Wrong on purpose: line 3 looks up, line 4 at nothing. */
#include "low/low.h"
#include "high/high.h"
#include "low/gone.h"
