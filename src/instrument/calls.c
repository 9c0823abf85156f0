/*
 * The calls of library functions that the instrumentor knows: those before which the runtime is told where they stand,
 * which synchronise, and those whose accesses hooks do or bracket. All are rows of core/sync.def. Of the C++ libraries
 * these are the functions inside them; what they have in their headers (std::mutex::lock) is inlined before, see
 * rewrite.c.
 */
#include "instrument/module.h"

static const enum pt_access_kind hooks[] = {
#define PT_SYNC(name, wrapper, hook, ...) [PT_SYNC_ID_##name] = PT_ACCESS_##hook,
#include "core/sync.def"
};

const struct pt_sync_row *pt_library_function(LLVMValueRef function, enum pt_access_kind *ret_kind)
{
    size_t len;
    const char *name = LLVMGetValueName2(function, &len);
    const struct pt_sync_row *row = LLVMIsDeclaration(function) ? pt_sync_find(name, len) : NULL;
    *ret_kind = row ? hooks[pt_sync_id(row)] : PT_ACCESS_NONE;
    return *ret_kind == PT_ACCESS_NONE ? NULL : row;
}

bool pt_synchronises(LLVMValueRef function)
{
    enum pt_access_kind kind;
    return pt_library_function(function, &kind) && kind == PT_ACCESS_CALL;
}
