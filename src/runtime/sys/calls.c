#pragma GCC visibility push(default)
#include "core/calls.h"
#include "core/look.h"
#include "core/plain.h"
#pragma GCC visibility pop

/* In the program, never in a library that dlopen loads: so it is in the memory that each thread has from its start, and
 * instrumented code, in libraries as well, finds it at a constant distance from the thread's pointer. */
__thread struct pt_calls __portent_calls __attribute__((tls_model("initial-exec")));

/* Until it is known what is asked for (start.c), hooks are called: they know it first. */
uint8_t __portent_plain;

/* Nobody wants to know, until races are sampled (race/window.c). */
uint32_t __portent_asks;
