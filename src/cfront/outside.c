/*
 * What functions without source may run. Such a function may call whatever function of the program it can find an
 * address of: among what it was handed, in memory that can be reached from there, and in global variables that other
 * files can name. When, and in which thread, nobody knows.
 *
 * Guarantee: if there is such an address, the program's unknown functions are marked as running functions, and no
 * verdict "atomic" survives that (cli/model/doubt.c). Not looked for are functions that it calls by their name. Cost:
 * one walk over the contents of memory, only for programs with unknown functions.
 */
#include <stdlib.h>

#include "cfront/abstract.h"

struct found {
    uint32_t *objects;
    size_t count, cap;
    bool *seen;
    size_t seen_count;
};

static void add(struct found *to, uint32_t object)
{
    if (object >= to->seen_count) { /* what an initialiser names is made an object when it is first asked for */
        size_t count = 2 * (size_t)object + 16;
        to->seen = pt_xrealloc(to->seen, count * sizeof *to->seen);
        for (size_t i = to->seen_count; i < count; i++)
            to->seen[i] = false;
        to->seen_count = count;
    }
    if (to->seen[object])
        return;
    to->seen[object] = true;
    PT_PUSH(to->objects, to->count, to->cap, object);
}

static void add_targets(struct pt_cf *cf, struct found *to, struct pt_cf_val val)
{
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, val, &count);
    for (uint32_t i = 0; i < count; i++)
        add(to, targets[i]);
}

/* Everything that was handed out counts as escaped when the values are known; so PT_CF_ANYTHING adds nothing. */
static bool finds_function(struct pt_cf *cf)
{
    struct found found = {0};
    bool yes = false;
    for (LLVMValueRef global = LLVMGetFirstGlobal(cf->module); global; global = LLVMGetNextGlobal(global)) {
        LLVMLinkage linkage = LLVMGetLinkage(global);
        if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage && linkage != LLVMAppendingLinkage)
            add_targets(cf, &found, pt_cf_eval(cf, 0, global));
    }
    for (uint32_t i = 1; i < cf->object_count; i++)
        if (cf->objects[i].escaped)
            add(&found, i);
    for (size_t i = 0; i < found.count && !yes; i++) {
        const struct pt_cf_object *o = &cf->objects[found.objects[i]];
        yes = o->kind == PT_CF_FUNCTION && !LLVMIsDeclaration(o->value);
        add_targets(cf, &found, o->smear);
        for (size_t c = 0; c < o->cell_count; c++)
            add_targets(cf, &found, o->cells[c].val);
    }
    free(found.objects);
    free(found.seen);
    return yes;
}

static bool is_entered(const struct pt_cf *cf, LLVMValueRef function)
{
    for (size_t i = 0; i < cf->context_count; i++)
        if (cf->contexts[i].function == function)
            return true;
    return false;
}

void pt_cf_outside(struct pt_cf *cf)
{
    if (cf->program->unknown_count && finds_function(cf))
        for (uint32_t i = 0; i < cf->program->unknown_count; i++)
            cf->program->unknowns[i].runs = true;
}

/* The first begin of a block in a function that no context is of. */
static LLVMValueRef unseen_begin(struct pt_cf *cf)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(cf->module); f; f = LLVMGetNextFunction(f)) {
        if (is_entered(cf, f))
            continue;
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
                if (LLVMIsACallInst(inst) && pt_cf_classify(inst).kind == PT_CF_CALL_BEGIN)
                    return inst;
    }
    return NULL;
}

void pt_cf_unseen(struct pt_cf *cf)
{
    bool runs = false;
    for (uint32_t i = 0; i < cf->program->unknown_count; i++)
        runs |= cf->program->unknowns[i].runs;
    LLVMValueRef begin = runs ? unseen_begin(cf) : NULL;
    if (begin && cf->program->block_count == 0) /* with no block at all the answer would be that all is well */
        pt_cf_fail(cf, begin, "this block, which only a function without source may run, cannot be modelled");
    else if (begin)
        pt_cf_note(cf, begin, "a block that only a function without source may run: not looked at");
}
