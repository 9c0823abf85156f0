/*
 * The rewriting of one module: every access of memory that threads may share becomes a call of a hook of core/hooks.h.
 */
#ifndef PT_INSTRUMENT_REWRITE_H
#define PT_INSTRUMENT_REWRITE_H

#include "base/err.h"
#include "instrument/orders.h"

struct LLVMOpaqueModule;

/* A module that was rewritten before stays as it is. What is left of it after an error is good for nothing. */
enum pt_status pt_rewrite_module(struct LLVMOpaqueModule *module, const struct pt_orders *how,
                                 struct pt_err *err) PT_WARN_UNUSED;

/* Reads bitcode or textual IR from `input`, writes bitcode to `output`. */
enum pt_status pt_rewrite_file(const char *input, const char *output, const struct pt_orders *how,
                               struct pt_err *err) PT_WARN_UNUSED;

#endif
