/*
 * What an instruction does to memory: which objects, which bytes, read or written. Never less than it may do: where the
 * place is not known it is all of each object that the pointer may point to. Linear in the number of those objects,
 * for unknown functions in what can be reached from their arguments.
 */
#include <stdlib.h>

#include "cfront/graph.h"

void pt_cf_touch(struct pt_cf *cf, struct pt_cf_val address, uint64_t size, bool write, struct pt_cf_accesses *to)
{
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, address, &count);
    bool known = address.stride == 0 && size != 0 && size < INT64_MAX - INT32_MAX;
    to->vague |= count > 0 && (!known || count > 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_cf_object *o = &cf->objects[targets[i]];
        struct pt_cf_access access = {targets[i], 0, o->size, write};
        if (known && targets[i] != PT_CF_ANYTHING) {
            access.from = address.number;
            access.to = address.number + (int64_t)size;
        }
        if (o->kind == PT_CF_DATA && access.from < access.to)
            PT_PUSH(to->list, to->count, to->cap, access);
    }
}

/* Everything that can be reached from a value through memory, as one value. */
static struct pt_cf_val reachable(struct pt_cf *cf, struct pt_cf_val from)
{
    struct pt_cf_val all = pt_cf_blur(from);
    for (;;) {
        struct pt_cf_val more = pt_cf_join(cf, all, pt_cf_blur(pt_cf_load(cf, all, 0)));
        if (more.kind != PT_CF_REF || more.set == all.set)
            return all;
        all = more;
    }
}

/* What the arguments point to, but for the one that is counted `except`. */
static void touch_arguments(struct pt_cf *cf, uint32_t context, LLVMValueRef call, unsigned except, bool write,
                            struct pt_cf_accesses *to)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        if (i + 1 == except)
            continue;
        struct pt_cf_val arg = pt_cf_eval(cf, context, LLVMGetOperand(call, i));
        pt_cf_touch(cf, write ? reachable(cf, arg) : arg, 0, write, to);
    }
}

/* What a call does that has this meaning. */
static void effects_of(struct pt_cf *cf, uint32_t context, LLVMValueRef call, struct pt_cf_call what,
                       struct pt_cf_accesses *to)
{
    struct pt_cf_val size;
    uint64_t bytes;
    switch (what.kind) {
    case PT_CF_CALL_COPY:
    case PT_CF_CALL_FILL:
        size = pt_cf_eval(cf, context, pt_cf_argument(call, what.row->size));
        bytes = size.kind == PT_CF_INT && size.number > 0 ? (uint64_t)size.number : 0;
        pt_cf_touch(cf, pt_cf_eval(cf, context, pt_cf_argument(call, what.row->buffer)), bytes, true, to);
        if (what.kind == PT_CF_CALL_COPY)
            pt_cf_touch(cf, pt_cf_eval(cf, context, pt_cf_argument(call, what.row->source)), bytes, false, to);
        break;
    case PT_CF_CALL_READS:
        touch_arguments(cf, context, call, 0, false, to);
        break;
    case PT_CF_CALL_WRITES:
        pt_cf_touch(cf, pt_cf_eval(cf, context, pt_cf_argument(call, what.row->buffer)), 0, true, to);
        touch_arguments(cf, context, call, what.row->buffer, false, to);
        break;
    case PT_CF_CALL_UNKNOWN:
        touch_arguments(cf, context, call, 0, true, to);
        if (cf->wary && what.outside)
            pt_cf_touch(cf, pt_cf_anything(cf), 0, true, to);
        to->unknown = true;
        break;
    case PT_CF_CALL_SPAWN:
        pt_cf_touch(cf, pt_cf_eval(cf, context, pt_cf_argument(call, what.row->object)), 8, true, to);
        break;
    case PT_CF_CALL_JOIN:
        pt_cf_touch(cf, pt_cf_eval(cf, context, pt_cf_argument(call, what.row->buffer)), 8, true, to);
        break;
    case PT_CF_CALL_SYNC:
    case PT_CF_CALL_SYNC_READ:
    case PT_CF_CALL_ONCE:
    case PT_CF_CALL_WAIT:
        pt_cf_touch(cf, pt_cf_eval(cf, context, pt_cf_argument(call, what.row->object)), 1,
                    what.kind != PT_CF_CALL_SYNC_READ, to);
        break;
    default:
        break;
    }
}

static void call_effects(struct pt_cf *cf, uint32_t context, LLVMValueRef call, struct pt_cf_accesses *to)
{
    uint32_t *functions, count;
    effects_of(cf, context, call, pt_cf_classify(call), to);
    pt_cf_bodyless(cf, context, call, &functions, &count);
    for (uint32_t i = 0; i < count; i++)
        effects_of(cf, context, call, pt_cf_classify_function(cf->objects[functions[i]].value), to);
    free(functions);
}

void pt_cf_effects(struct pt_cf *cf, uint32_t context, LLVMValueRef inst, struct pt_cf_accesses *to)
{
    to->count = 0;
    to->vague = to->unknown = false;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        pt_cf_touch(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)),
                    LLVMStoreSizeOfType(cf->names.layout, LLVMTypeOf(inst)), false, to);
        break;
    case LLVMStore:
        pt_cf_touch(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 1)),
                    LLVMStoreSizeOfType(cf->names.layout, LLVMTypeOf(LLVMGetOperand(inst, 0))), true, to);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        pt_cf_touch(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)),
                    LLVMStoreSizeOfType(cf->names.layout, LLVMTypeOf(LLVMGetOperand(inst, 1))), true, to);
        break;
    case LLVMCall:
        call_effects(cf, context, inst, to);
        break;
    default:
        break;
    }
}
