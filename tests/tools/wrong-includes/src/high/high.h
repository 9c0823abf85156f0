/* Nothing wrong here. */
#include "low/low.h"
#include <stddef.h>
