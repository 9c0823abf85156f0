#include "runtime/wrap/hooks.h"

struct pt_wrap_hooks pt_wrap_hooks;
_Atomic uint32_t pt_streaming;
bool pt_wrap_looks;
