/*
 * The abstract value of an operand in a context, and of instructions that have no effect.
 *
 * Known numbers are folded, so that loops with constant bounds end; a number is kept sign-extended from its width. What
 * is not understood points to whatever its operands point to, at an unknown offset.
 */
#include "cfront/abstract.h"

/* Small numbers for LLVM's pointers. */
static uint32_t number_of(struct pt_cf *cf, const void *value)
{
    uint32_t *id = pt_map64_at(&cf->value_ids, (uint64_t)(uintptr_t)value);
    if (*id == PT_NONE)
        *id = cf->value_count++;
    return *id;
}

static uint64_t val_key(struct pt_cf *cf, uint32_t context, LLVMValueRef value)
{
    return (uint64_t)context << 32 | number_of(cf, value);
}

void pt_cf_define(struct pt_cf *cf, uint32_t context, LLVMValueRef value, struct pt_cf_val val)
{
    uint32_t *index = pt_map64_at(&cf->vals, val_key(cf, context, value));
    if (*index == PT_NONE) {
        *index = (uint32_t)cf->val_count;
        struct pt_cf_val nothing = {0};
        PT_PUSH(cf->val_list, cf->val_count, cf->val_cap, nothing);
    }
    pt_cf_widen(cf, &cf->val_list[*index], val);
}

static struct pt_cf_val lookup(struct pt_cf *cf, uint32_t context, LLVMValueRef value)
{
    uint32_t index = pt_map64_get(&cf->vals, val_key(cf, context, value));
    struct pt_cf_val nothing = {0};
    return index == PT_NONE ? nothing : cf->val_list[index];
}

/* Joins over the rounds of the loops around the definition that `context` is not in. */
static struct pt_cf_val lookup_rounds(struct pt_cf *cf, uint32_t context, uint32_t innermost, LLVMValueRef value)
{
    uint32_t have = cf->contexts[context].loop, next = innermost;
    if (next == have)
        return lookup(cf, context, value);
    while (cf->loops[next].parent != have)
        next = cf->loops[next].parent;
    struct pt_cf_context wanted = cf->contexts[context];
    wanted.parent = context;
    wanted.call = NULL;
    wanted.loop = next;
    struct pt_cf_val val = {0};
    for (wanted.round = 0;; wanted.round++) {
        uint32_t round = pt_cf_context(cf, wanted, false);
        if (round == PT_NONE)
            return val;
        val = pt_cf_join(cf, val, lookup_rounds(cf, round, innermost, value));
    }
}

static struct pt_cf_val of_instruction(struct pt_cf *cf, uint32_t context, LLVMValueRef inst)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
    const struct pt_cf_function *f = pt_cf_flow(cf, LLVMGetBasicBlockParent(block));
    uint32_t loop = pt_map64_get(&f->loop_of, pt_key((LLVMValueRef)(void *)block));
    /* Out to the innermost round that is around the definition, too. */
    for (;; context = cf->contexts[context].parent) {
        uint32_t around = loop;
        while (around != PT_NONE && around != cf->contexts[context].loop)
            around = cf->loops[around].parent;
        if (around == cf->contexts[context].loop)
            return lookup_rounds(cf, context, loop, inst);
    }
}

struct pt_cf_val pt_cf_eval(struct pt_cf *cf, uint32_t context, LLVMValueRef value)
{
    if (LLVMIsAConstantInt(value))
        return LLVMGetIntTypeWidth(LLVMTypeOf(value)) <= 64 ? pt_cf_int(LLVMConstIntGetSExtValue(value))
                                                            : pt_cf_number();
    if (LLVMIsAGlobalVariable(value)) {
        uint32_t owner = PT_NONE;
        if (LLVMIsThreadLocal(value) && context != PT_NONE)
            owner = cf->threads[cf->contexts[context].root].root;
        return pt_cf_ref(cf, pt_cf_object(cf, PT_CF_DATA, value, owner));
    }
    if (LLVMIsAFunction(value))
        return pt_cf_ref(cf, pt_cf_object(cf, PT_CF_FUNCTION, value, PT_NONE));
    if (LLVMIsAGlobalAlias(value))
        return pt_cf_eval(cf, context, LLVMAliasGetAliasee(value));
    if (LLVMIsAConstantExpr(value))
        return pt_cf_compute(cf, context, value);
    if (LLVMIsAConstantPointerNull(value))
        return pt_cf_int(0);
    if (LLVMIsAInstruction(value))
        return of_instruction(cf, context, value);
    if (LLVMIsAArgument(value))
        return lookup(cf, pt_cf_frame(cf, context), value);
    if (LLVMIsAConstantStruct(value) || LLVMIsAConstantArray(value) || LLVMIsAConstantVector(value)) {
        struct pt_cf_val all = pt_cf_number();
        for (int i = 0; i < LLVMGetNumOperands(value); i++)
            all = pt_cf_join(cf, all, pt_cf_blur(pt_cf_eval(cf, context, LLVMGetOperand(value, (unsigned)i))));
        return all;
    }
    return pt_cf_number();
}

static unsigned width_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 64;
}

static int64_t sign_extend(uint64_t number, unsigned width)
{
    return width >= 64 ? (int64_t)number : (int64_t)(number << (64 - width)) >> (64 - width);
}

static uint64_t zero_extend(int64_t number, unsigned width)
{
    return width >= 64 ? (uint64_t)number : (uint64_t)number & ((UINT64_C(1) << width) - 1);
}

struct pt_cf_val pt_cf_compare(LLVMIntPredicate predicate, struct pt_cf_val a, struct pt_cf_val b, unsigned width)
{
    if (a.kind == PT_CF_BOTTOM || b.kind == PT_CF_BOTTOM)
        return (struct pt_cf_val){0};
    if (a.kind != PT_CF_INT || b.kind != PT_CF_INT)
        return pt_cf_number();
    uint64_t ua = zero_extend(a.number, width), ub = zero_extend(b.number, width);
    bool holds = false;
    switch (predicate) {
    case LLVMIntEQ:
        holds = ua == ub;
        break;
    case LLVMIntNE:
        holds = ua != ub;
        break;
    case LLVMIntUGT:
        holds = ua > ub;
        break;
    case LLVMIntUGE:
        holds = ua >= ub;
        break;
    case LLVMIntULT:
        holds = ua < ub;
        break;
    case LLVMIntULE:
        holds = ua <= ub;
        break;
    case LLVMIntSGT:
        holds = a.number > b.number;
        break;
    case LLVMIntSGE:
        holds = a.number >= b.number;
        break;
    case LLVMIntSLT:
        holds = a.number < b.number;
        break;
    case LLVMIntSLE:
        holds = a.number <= b.number;
        break;
    }
    return pt_cf_int(holds ? -1 : 0); /* an i1, sign-extended */
}

static struct pt_cf_val blurred_operands(struct pt_cf *cf, uint32_t context, LLVMValueRef inst)
{
    struct pt_cf_val all = pt_cf_number();
    for (int i = 0; i < LLVMGetNumOperands(inst); i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, (unsigned)i);
        LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(operand));
        if (kind == LLVMLabelTypeKind || kind == LLVMMetadataTypeKind)
            continue;
        struct pt_cf_val val = pt_cf_eval(cf, context, operand);
        if (val.kind == PT_CF_BOTTOM)
            return val;
        all = pt_cf_join(cf, all, pt_cf_blur(val));
    }
    return all;
}

static struct pt_cf_val arithmetic(struct pt_cf *cf, uint32_t context, LLVMValueRef inst, LLVMOpcode opcode)
{
    struct pt_cf_val a = pt_cf_eval(cf, context, LLVMGetOperand(inst, 0));
    struct pt_cf_val b = pt_cf_eval(cf, context, LLVMGetOperand(inst, 1));
    unsigned width = width_of(inst);
    if (a.kind == PT_CF_INT && b.kind == PT_CF_REF && opcode == LLVMAdd) {
        struct pt_cf_val swap = a;
        a = b;
        b = swap;
    }
    if (a.kind == PT_CF_REF && a.set != 0 && b.kind == PT_CF_INT && (opcode == LLVMAdd || opcode == LLVMSub)) {
        return pt_cf_move(a, opcode == LLVMAdd ? 1 : -1, b.number);
    }
    if (a.kind != PT_CF_INT || b.kind != PT_CF_INT)
        return blurred_operands(cf, context, inst);
    uint64_t ua = (uint64_t)a.number, ub = (uint64_t)b.number;
    switch (opcode) {
    case LLVMAdd:
        return pt_cf_int(sign_extend(ua + ub, width));
    case LLVMSub:
        return pt_cf_int(sign_extend(ua - ub, width));
    case LLVMMul:
        return pt_cf_int(sign_extend(ua * ub, width));
    case LLVMAnd:
        return pt_cf_int(a.number & b.number);
    case LLVMOr:
        return pt_cf_int(a.number | b.number);
    case LLVMXor:
        return pt_cf_int(a.number ^ b.number);
    case LLVMShl:
        return ub < width ? pt_cf_int(sign_extend(ua << ub, width)) : pt_cf_number();
    case LLVMSDiv:
        return b.number > 0 ? pt_cf_int(a.number / b.number) : pt_cf_number();
    case LLVMSRem:
        return b.number > 0 ? pt_cf_int(a.number % b.number) : pt_cf_number();
    default:
        return pt_cf_number();
    }
}

static struct pt_cf_val address(struct pt_cf *cf, uint32_t context, LLVMValueRef gep)
{
    struct pt_cf_val base = pt_cf_eval(cf, context, LLVMGetOperand(gep, 0));
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int operands = LLVMGetNumOperands(gep);
    for (int i = 1; i < operands && base.kind == PT_CF_REF && base.set != 0; i++) {
        struct pt_cf_val index = pt_cf_eval(cf, context, LLVMGetOperand(gep, (unsigned)i));
        if (index.kind == PT_CF_BOTTOM)
            return index;
        int64_t step;
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            step = (int64_t)LLVMOffsetOfElement(cf->names.layout, type, (unsigned)index.number);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)index.number);
            index.number = 1;
        } else {
            if (i > 1 && LLVMGetTypeKind(type) != LLVMArrayTypeKind && LLVMGetTypeKind(type) != LLVMVectorTypeKind)
                return pt_cf_blur(base);
            if (i > 1)
                type = LLVMGetElementType(type);
            step = (int64_t)LLVMABISizeOfType(cf->names.layout, type);
        }
        base = pt_cf_move(base, index.kind == PT_CF_INT ? index.number : INT64_MIN, step);
    }
    return base.kind == PT_CF_INT ? pt_cf_number() : base;
}

static struct pt_cf_val choice(struct pt_cf *cf, uint32_t context, LLVMValueRef inst)
{
    struct pt_cf_val condition = pt_cf_eval(cf, context, LLVMGetOperand(inst, 0));
    struct pt_cf_val yes = pt_cf_eval(cf, context, LLVMGetOperand(inst, 1));
    struct pt_cf_val no = pt_cf_eval(cf, context, LLVMGetOperand(inst, 2));
    if (condition.kind == PT_CF_BOTTOM)
        return condition;
    if (condition.kind == PT_CF_INT)
        return condition.number ? yes : no;
    return pt_cf_join(cf, yes, no);
}

struct pt_cf_val pt_cf_compute(struct pt_cf *cf, uint32_t context, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMIsAInstruction(inst) ? LLVMGetInstructionOpcode(inst) : LLVMGetConstOpcode(inst);
    struct pt_cf_val val;
    switch (opcode) {
    case LLVMGetElementPtr:
        return address(cf, context, inst);
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
    case LLVMSExt:
    case LLVMFreeze:
        return pt_cf_eval(cf, context, LLVMGetOperand(inst, 0));
    case LLVMZExt:
    case LLVMTrunc:
        val = pt_cf_eval(cf, context, LLVMGetOperand(inst, 0));
        if (val.kind == PT_CF_INT)
            val.number = opcode == LLVMZExt ? (int64_t)zero_extend(val.number, width_of(LLVMGetOperand(inst, 0)))
                                            : sign_extend((uint64_t)val.number, width_of(inst));
        return val;
    case LLVMICmp:
        return pt_cf_compare(LLVMGetICmpPredicate(inst), pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)),
                             pt_cf_eval(cf, context, LLVMGetOperand(inst, 1)), width_of(LLVMGetOperand(inst, 0)));
    case LLVMSelect:
        return choice(cf, context, inst);
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMShl:
    case LLVMSDiv:
    case LLVMSRem:
        return arithmetic(cf, context, inst, opcode);
    default:
        return blurred_operands(cf, context, inst);
    }
}
