/*
 * Definitions of what a module calls of libstdc++'s lists, trees, exceptions and a few more (containers_body.c,
 * counted_body.c), so that their accesses are rewritten as the module's own are. They stand in the plug-in as bitcode
 * of the same LLVM; what the module declares and uses is linked into it, hidden and once per program, so that libstdc++
 * itself keeps its own.
 *
 * Guarantee: a module that calls none of them stays as it is. Cost: a look for each name; otherwise the parsing of some
 * 15 kB.
 */
#include "instrument/module.h"

#include <stddef.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>

#include "instrument/containers.h"

/* Whether code for the one can be in the other. */
static bool fits(LLVMModuleRef module, LLVMModuleRef bodies)
{
    LLVMMetadataRef wide = LLVMGetModuleFlag(module, "wchar_size", 10);
    LLVMValueRef size = wide ? LLVMMetadataAsValue(LLVMGetModuleContext(module), wide) : NULL;
    LLVMValueRef constant = size ? LLVMIsAConstantInt(size) : NULL;
    return strcmp(LLVMGetDataLayoutStr(module), LLVMGetDataLayoutStr(bodies)) == 0 &&
           (!constant || LLVMConstIntGetZExtValue(constant) == sizeof(wchar_t));
}

static bool is_wanted(LLVMModuleRef module, LLVMValueRef function)
{
    size_t len;
    LLVMValueRef declared = LLVMGetNamedFunction(module, LLVMGetValueName2(function, &len));
    return declared && LLVMIsDeclaration(declared) && LLVMGetFirstUse(declared);
}

static bool is_local(LLVMValueRef function)
{
    return LLVMGetLinkage(function) == LLVMInternalLinkage;
}

/* Deletes what neither the module nor anything that it wants uses; true: there was something. */
static bool delete_unused(LLVMModuleRef module, LLVMModuleRef bodies)
{
    bool deleted = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(bodies), next; f; f = next) {
        next = LLVMGetNextFunction(f);
        if (LLVMGetFirstUse(f) || (!is_local(f) && is_wanted(module, f)))
            continue;
        LLVMDeleteFunction(f);
        deleted = true;
    }
    return deleted;
}

static bool wants_any(LLVMModuleRef module, LLVMModuleRef bodies)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(bodies); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_local(f) && is_wanted(module, f))
            return true;
    return false;
}

static void share(LLVMModuleRef bodies)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(bodies); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && !is_local(f)) {
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
            LLVMSetVisibility(f, LLVMHiddenVisibility);
        }
}

/* Names that the source gives to the linker begin with a byte which says so. */
static void name_as_linked(LLVMModuleRef bodies)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(bodies); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        struct pt_buf rest;
        if (*name != '\1')
            continue;
        pt_buf_init(&rest);
        pt_buf_add(&rest, name + 1, len - 1);
        LLVMSetValueName2(f, rest.text, rest.len);
        pt_buf_release(&rest);
    }
}

/* Functions of the library that ours call, so these have names of their own, under which the module calls them: the
 * library's behind "__pt". */
static void replace(LLVMModuleRef module, LLVMModuleRef bodies)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(bodies); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *ours = LLVMGetValueName2(f, &len);
        if (strncmp(ours, "__pt_", 5) != 0)
            continue;
        LLVMValueRef old = LLVMGetNamedFunction(module, ours + 4);
        if (old && LLVMIsDeclaration(old) && LLVMGetFirstUse(old))
            LLVMReplaceAllUsesWith(old, LLVMAddFunction(module, ours, LLVMGlobalGetValueType(old)));
    }
}

/* Parts of names, of which each stands for several: lists and trees are in one of two files of libstdc++ each. */
static bool may_want(LLVMModuleRef module)
{
    static const char *const parts[] = {"_Rb_tree_",          "15_List_node_base",
                                        "__cxa_end_catch",    "exception_ptr10_M_release",
                                        "_Make_ready6_M_set", "_pool_resourceC"};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        for (size_t i = 0; i < sizeof parts / sizeof *parts && LLVMIsDeclaration(f); i++)
            if (strstr(name, parts[i]))
                return true;
    }
    return false;
}

enum pt_status pt_link_containers(LLVMContextRef context, LLVMModuleRef module, struct pt_err *err)
{
    LLVMModuleRef bodies;
    if (!may_want(module))
        return PT_OK;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRange(pt_embedded_containers, pt_embedded_containers_len, "containers", true);
    bool failed = LLVMParseBitcodeInContext2(context, buffer, &bodies);
    LLVMDisposeMemoryBuffer(buffer);
    if (failed)
        return pt_err_set(err, PT_EINPUT, "the bodies of the C++ library's containers are damaged");
    name_as_linked(bodies);
    bool fit = fits(module, bodies);
    if (fit)
        replace(module, bodies);
    if (!fit || !wants_any(module, bodies)) {
        LLVMDisposeModule(bodies);
        return PT_OK;
    }
    while (delete_unused(module, bodies))
        ;
    share(bodies);
    LLVMSetTarget(bodies, LLVMGetTarget(module));
    if (LLVMLinkModules2(module, bodies)) /* takes it */
        return pt_err_set(err, PT_EINPUT, "the bodies of the C++ library's containers do not fit the module");
    return PT_OK;
}
