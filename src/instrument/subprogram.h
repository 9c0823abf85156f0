/* Debug information of a function that becomes two (apart.c), beyond LLVM's C interface. */
#ifndef PT_INSTRUMENT_SUBPROGRAM_H
#define PT_INSTRUMENT_SUBPROGRAM_H

#include <llvm-c/Types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The same function once more: with its parameters, but without locals, and without a word about its calls: a debugger
 * that knows the last one would show it as a frame of its own. */
LLVMMetadataRef pt_copy_subprogram(LLVMMetadataRef of);

/* Where a variable is, as `llvm.dbg.value` and its kin say it, in other values. */
void pt_replace_places(LLVMValueRef intrinsic, LLVMValueRef (*other)(const void *arg, LLVMValueRef value),
                       const void *arg);

#ifdef __cplusplus
}
#endif

#endif
