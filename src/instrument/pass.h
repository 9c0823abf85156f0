/* The rewriting as a pass of clang's own process: what the plug-in (pass.cpp) asks of the rest, which is C. */
#ifndef PT_INSTRUMENT_PASS_H
#define PT_INSTRUMENT_PASS_H

#include <stdbool.h>

struct LLVMOpaqueModule;

#ifdef __cplusplus
extern "C" {
#endif

/* Rewrites the module as the driver's orders say. False: it could not, and standard error says why. */
bool pt_pass_run(struct LLVMOpaqueModule *module, bool *ret_optimized);

#ifdef __cplusplus
}
#endif

#endif
