/* The calls that a thread is in: instrumented code writes them (core/calls.h). */
#pragma GCC visibility push(default)
#include "core/calls.h"

__thread struct pt_calls __portent_calls;
#pragma GCC visibility pop
