/*
 * Which blocks some run may enter, in which contexts, and the values there.
 *
 * Conditional constant propagation (Wegman and Zadeck) over inlined calls: a branch on a known number takes one way,
 * and values are joined where ways meet. The reached blocks are gone through again and again until nothing changes;
 * every value climbs a finite lattice, contexts are bounded (recursion is refused), so this ends.
 *
 * Calls of thread functions are taken to succeed, and allocation too: their failure would only be reported by the
 * program.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/abstract.h"

enum { MAX_NESTED_STARTS = 3 };

static void reach(struct pt_cf *cf, uint32_t context, LLVMBasicBlockRef block)
{
    struct {
        uint64_t block, context;
    } key = {pt_key((LLVMValueRef)(void *)block), context};
    uint32_t before = cf->reached_keys.count;
    if (pt_strtab_intern(&cf->reached_keys, (const char *)&key, sizeof key) < before)
        return;
    struct pt_cf_reached reached = {context, block};
    PT_PUSH(cf->reached, cf->reached_count, cf->reached_cap, reached);
    cf->changed = true;
}

uint32_t pt_cf_enter(struct pt_cf *cf, uint32_t context, LLVMValueRef call, LLVMValueRef function)
{
    for (uint32_t at = context;;) {
        if (cf->contexts[at].function == function) {
            size_t len;
            pt_cf_fail(cf, call, "recursion: '%.100s' calls itself, and calls are inlined",
                       LLVMGetValueName2(function, &len));
            return PT_NONE;
        }
        if (cf->contexts[at].parent != PT_NONE) {
            at = cf->contexts[at].parent;
            continue;
        }
        break;
    }
    const struct pt_cf_function *flow = pt_cf_flow(cf, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    struct pt_cf_context wanted = {
        .parent = context, .function = function, .call = call, .loop = PT_NONE, .round = PT_NONE};
    wanted.root = cf->contexts[context].root;
    wanted.repeated = cf->contexts[context].repeated ||
                      pt_map64_get(&flow->in_cycle, pt_key((LLVMValueRef)(void *)LLVMGetInstructionParent(call))) == 1;
    return pt_cf_context(cf, wanted, true);
}

/* The arguments of a call of a function with a body. */
static void bind(struct pt_cf *cf, uint32_t context, LLVMValueRef call, uint32_t callee)
{
    LLVMValueRef function = cf->contexts[callee].function;
    unsigned params = LLVMCountParams(function), args = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < params; i++) {
        struct pt_cf_val val = i < args ? pt_cf_eval(cf, context, LLVMGetOperand(call, i)) : pt_cf_number();
        pt_cf_define(cf, callee, LLVMGetParam(function, i), val);
    }
    for (unsigned i = params; i < args; i++) /* found again through a va_list only, whose contents are anything */
        pt_cf_escape(cf, pt_cf_eval(cf, context, LLVMGetOperand(call, i)));
    reach(cf, callee, LLVMGetEntryBasicBlock(function));
}

/* Kept for the answer, and whether it may run functions of the program, in threads of its own for all we know. */
static void note_outside(struct pt_cf *cf, LLVMValueRef call, struct pt_cf_call what, bool runs)
{
    if (what.outside)
        pt_program_add_unknown(cf->program, what.name, runs, pt_cf_place(cf, call));
}

static void call_library(struct pt_cf *cf, uint32_t context, LLVMValueRef call, struct pt_cf_call what, bool pointed);

static void call_body(struct pt_cf *cf, uint32_t context, LLVMValueRef call)
{
    uint32_t *functions, count;
    pt_cf_callees(cf, context, call, &functions, &count);
    struct pt_cf_val result = {0};
    for (uint32_t i = 0; i < count && !cf->failed; i++) {
        LLVMValueRef function = cf->objects[functions[i]].value;
        if (LLVMIsDeclaration(function)) {
            call_library(cf, context, call, pt_cf_classify_function(function), true);
            continue;
        }
        uint32_t callee = pt_cf_enter(cf, context, call, function);
        if (callee == PT_NONE)
            break;
        bind(cf, context, call, callee);
        result = pt_cf_join(cf, result, cf->contexts[callee].result);
    }
    free(functions);
    pt_cf_define(cf, context, call, result);
}

static void start_thread(struct pt_cf *cf, uint32_t context, LLVMValueRef call, const struct pt_sync_row *row)
{
    struct pt_cf_val function = pt_cf_eval(cf, context, pt_cf_argument(call, row->function));
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, function, &count);
    if (function.kind == PT_CF_BOTTOM)
        return;
    if (count != 1 || targets[0] == PT_CF_ANYTHING || cf->objects[targets[0]].kind != PT_CF_FUNCTION ||
        LLVMIsDeclaration(cf->objects[targets[0]].value)) {
        pt_cf_fail(cf, call, "cannot tell which function this thread starts");
        return;
    }
    LLVMValueRef start = cf->objects[targets[0]].value;
    const struct pt_cf_function *flow = pt_cf_flow(cf, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    if (cf->contexts[context].repeated ||
        pt_map64_get(&flow->in_cycle, pt_key((LLVMValueRef)(void *)LLVMGetInstructionParent(call))) == 1) {
        pt_cf_fail(cf, call, "this thread is started in a loop that cannot be unrolled");
        return;
    }
    uint32_t object = pt_cf_object(cf, PT_CF_THREAD, call, context);
    unsigned nested = 0; /* how many threads with this function led here: one that starts others may be a trampoline */
    for (uint32_t at = cf->contexts[context].root; cf->threads[at].call;
         at = cf->contexts[cf->objects[cf->threads[at].object].context].root)
        nested += cf->contexts[cf->threads[at].root].function == start;
    if (nested > MAX_NESTED_STARTS) {
        pt_cf_fail(cf, call, "a thread that starts itself again has no bound");
        return;
    }
    uint32_t thread = 0;
    while (thread < cf->thread_count && cf->threads[thread].object != object)
        thread++;
    if (thread == cf->thread_count) {
        struct pt_cf_context wanted = {.parent = PT_NONE, .function = start, .call = call, .loop = PT_NONE};
        wanted.round = object; /* tells roots with one call apart */
        wanted.root = thread;
        struct pt_cf_thread added = {.root = pt_cf_context(cf, wanted, true), .object = object, .call = call};
        PT_PUSH(cf->threads, cf->thread_count, cf->thread_cap, added);
        cf->contexts[cf->threads[cf->contexts[context].root].root].starts_threads = true;
    }
    uint32_t root = cf->threads[thread].root;
    for (unsigned i = 0; i < LLVMCountParams(start); i++)
        pt_cf_define(cf, root, LLVMGetParam(start, i),
                     i == 0 ? pt_cf_eval(cf, context, pt_cf_argument(call, row->argument)) : pt_cf_number());
    reach(cf, root, LLVMGetEntryBasicBlock(start));
    pt_cf_store(cf, pt_cf_eval(cf, context, pt_cf_argument(call, row->object)), 8, pt_cf_ref(cf, object));
    pt_cf_define(cf, context, call, pt_cf_int(0));
}

static void join_thread(struct pt_cf *cf, uint32_t context, LLVMValueRef call, const struct pt_sync_row *row)
{
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, pt_cf_eval(cf, context, pt_cf_argument(call, row->object)), &count);
    struct pt_cf_val result = {0};
    for (uint32_t i = 0; i < count; i++)
        for (size_t t = 0; t < cf->thread_count; t++)
            if (cf->threads[t].object == targets[i])
                result = pt_cf_join(cf, result, cf->contexts[cf->threads[t].root].result);
    pt_cf_store(cf, pt_cf_eval(cf, context, pt_cf_argument(call, row->buffer)), 8, result);
    pt_cf_define(cf, context, call, pt_sync_may_fail(row) ? pt_cf_number() : pt_cf_int(0));
}

static void allocate(struct pt_cf *cf, uint32_t context, LLVMValueRef call, bool zeroed)
{
    uint32_t object = pt_cf_object(cf, PT_CF_DATA, call, context);
    const struct pt_cf_function *flow = pt_cf_flow(cf, LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
    cf->objects[object].zero = zeroed;
    cf->objects[object].summary |=
        pt_map64_get(&flow->in_cycle, pt_key((LLVMValueRef)(void *)LLVMGetInstructionParent(call))) == 1;
    pt_cf_define(cf, context, call, pt_cf_ref(cf, object));
}

/* What is left with the function when it has returned. */
static void hand_out(struct pt_cf *cf, struct pt_cf_val arg, const char *name)
{
    uint32_t count, functions = 0;
    const uint32_t *targets = pt_cf_targets(cf, arg, &count);
    for (uint32_t i = 0; i < count; i++)
        functions += cf->objects[targets[i]].kind == PT_CF_FUNCTION;
    if (functions < count || !pt_cf_forgets(name))
        pt_cf_escape(cf, arg);
}

/* Nobody knows what happens in there: everything that is handed over may be kept, changed, and called. */
static void call_unknown(struct pt_cf *cf, uint32_t context, LLVMValueRef call, struct pt_cf_call what, bool pointed)
{
    struct pt_cf_val anything = pt_cf_anything(cf);
    note_outside(cf, call, what, pt_cf_lends(call, what.name));
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++) {
        struct pt_cf_val arg = pt_cf_eval(cf, context, LLVMGetOperand(call, i));
        uint32_t count;
        const uint32_t *targets = pt_cf_targets(cf, arg, &count);
        hand_out(cf, arg, what.name);
        pt_cf_store(cf, pt_cf_blur(arg), 0, anything);
        for (uint32_t t = 0; t < count; t++) {
            const struct pt_cf_object *o = &cf->objects[targets[t]];
            if (targets[t] == PT_CF_ANYTHING || o->kind != PT_CF_FUNCTION || LLVMIsDeclaration(o->value))
                continue;
            LLVMValueRef function = o->value;
            if (pointed) {
                pt_cf_fail(cf, call, "'%.100s', called through a pointer and handed a function, cannot be modelled",
                           what.name);
                return;
            }
            note_outside(cf, call, what, true);
            uint32_t callee = pt_cf_enter(cf, context, call, function); /* a callback */
            if (callee == PT_NONE)
                return;
            for (unsigned p = 0; p < LLVMCountParams(function); p++)
                pt_cf_define(cf, callee, LLVMGetParam(function, p), anything);
            reach(cf, callee, LLVMGetEntryBasicBlock(function));
        }
    }
    pt_cf_define(cf, context, call, anything);
}

static void call_once(struct pt_cf *cf, uint32_t context, LLVMValueRef call, const struct pt_sync_row *row)
{
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(cf, pt_cf_eval(cf, context, pt_cf_argument(call, row->function)), &count);
    for (uint32_t i = 0; i < count; i++) {
        LLVMValueRef function = cf->objects[targets[i]].value;
        if (targets[i] == PT_CF_ANYTHING || LLVMIsDeclaration(function))
            continue;
        uint32_t callee = pt_cf_enter(cf, context, call, function);
        if (callee == PT_NONE)
            return;
        reach(cf, callee, LLVMGetEntryBasicBlock(function));
    }
    pt_cf_define(cf, context, call, pt_cf_int(0));
}

/* A copy keeps pointers, anything else writes numbers. What returns a pointer returns the buffer, or its end. */
static void fill(struct pt_cf *cf, uint32_t context, LLVMValueRef call, const struct pt_cf_call *what)
{
    struct pt_cf_val buffer = pt_cf_eval(cf, context, pt_cf_argument(call, what->row->buffer));
    if (what->kind == PT_CF_CALL_COPY)
        pt_cf_copy(cf, buffer, pt_cf_eval(cf, context, pt_cf_argument(call, what->row->source)),
                   pt_cf_eval(cf, context, pt_cf_argument(call, what->row->size)));
    else
        pt_cf_store(cf, pt_cf_blur(buffer), 0, pt_cf_number());
    bool pointer = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind;
    struct pt_cf_val result = what->row->returns_end ? pt_cf_blur(buffer) : buffer;
    pt_cf_define(cf, context, call, pointer ? result : pt_cf_number());
}

/* What is called through a pointer must not depend on it for how the thread goes on, or for who goes on. */
static bool may_be_pointed(enum pt_cf_call_kind kind)
{
    return kind == PT_CF_CALL_NOTHING || kind == PT_CF_CALL_READS || kind == PT_CF_CALL_WRITES ||
           kind == PT_CF_CALL_COPY || kind == PT_CF_CALL_FILL || kind == PT_CF_CALL_ALLOCATE ||
           kind == PT_CF_CALL_UNKNOWN;
}

/* A function without a body that is no synchronisation, by name or through a pointer. */
static void call_library(struct pt_cf *cf, uint32_t context, LLVMValueRef call, struct pt_cf_call what, bool pointed)
{
    if (pointed && !may_be_pointed(what.kind)) {
        pt_cf_fail(cf, call, "'%.100s', called through a pointer, cannot be modelled", what.name);
        return;
    }
    switch (what.kind) {
    case PT_CF_CALL_ALLOCATE:
        allocate(cf, context, call, what.row->zeroed);
        break;
    case PT_CF_CALL_COPY:
    case PT_CF_CALL_FILL:
    case PT_CF_CALL_WRITES:
        fill(cf, context, call, &what);
        break;
    case PT_CF_CALL_UNKNOWN:
        call_unknown(cf, context, call, what, pointed);
        break;
    default:
        pt_cf_define(cf, context, call, pt_cf_number());
        break;
    }
}

static void call_instruction(struct pt_cf *cf, uint32_t context, LLVMValueRef call)
{
    struct pt_cf_call what = pt_cf_classify(call);
    /* What the graphs will ask for has to exist before they are built. */
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) != LLVMMetadataTypeKind)
            (void)pt_cf_eval(cf, context, LLVMGetOperand(call, i));
    switch (what.kind) {
    case PT_CF_CALL_INLINE:
        call_body(cf, context, call);
        break;
    case PT_CF_CALL_ERROR:
        pt_cf_fail(cf, call, "%.100s cannot be modelled", what.name);
        break;
    case PT_CF_CALL_SPAWN:
        start_thread(cf, context, call, what.row);
        break;
    case PT_CF_CALL_JOIN:
        join_thread(cf, context, call, what.row);
        break;
    case PT_CF_CALL_ALLOCATE:
    case PT_CF_CALL_COPY:
    case PT_CF_CALL_FILL:
    case PT_CF_CALL_WRITES:
    case PT_CF_CALL_UNKNOWN:
        call_library(cf, context, call, what, false);
        break;
    case PT_CF_CALL_ONCE:
        call_once(cf, context, call, what.row);
        break;
    case PT_CF_CALL_THREAD_EXIT:
        pt_cf_widen(cf, &cf->contexts[cf->threads[cf->contexts[context].root].root].result,
                    pt_cf_eval(cf, context, pt_cf_argument(call, what.row->source)));
        break;
    case PT_CF_CALL_LOCK:
    case PT_CF_CALL_UNLOCK:
    case PT_CF_CALL_SYNC_READ:
        pt_cf_define(cf, context, call, pt_sync_may_fail(what.row) ? pt_cf_number() : pt_cf_int(0));
        break;
    default: /* waits and semaphores may fail or not; the rest returns numbers */
        if (strncmp(what.name, "llvm.va_", 8) == 0)
            pt_cf_store(cf, pt_cf_blur(pt_cf_eval(cf, context, LLVMGetOperand(call, 0))), 0, pt_cf_anything(cf));
        pt_cf_define(cf, context, call,
                     strncmp(what.name, "llvm.threadlocal", 16) == 0 ? pt_cf_eval(cf, context, LLVMGetOperand(call, 0))
                                                                     : pt_cf_number());
        break;
    }
}

unsigned pt_cf_successors(struct pt_cf *cf, uint32_t context, LLVMValueRef terminator, LLVMBasicBlockRef *ret_blocks)
{
    unsigned count = LLVMGetNumSuccessors(terminator), kept = 0;
    bool branch = LLVMIsABranchInst(terminator) && LLVMIsConditional(terminator);
    if (branch || LLVMIsASwitchInst(terminator)) {
        LLVMValueRef condition = branch ? LLVMGetCondition(terminator) : LLVMGetOperand(terminator, 0);
        struct pt_cf_val val = pt_cf_eval(cf, context, condition);
        if (val.kind == PT_CF_BOTTOM)
            return 0;
        if (val.kind == PT_CF_INT && branch) {
            ret_blocks[0] = LLVMGetSuccessor(terminator, val.number ? 0 : 1);
            return 1;
        }
        if (val.kind == PT_CF_INT) { /* operands: condition, default, then value and block in turn */
            ret_blocks[0] = LLVMGetSuccessor(terminator, 0);
            for (unsigned i = 1; i < count; i++)
                if (LLVMConstIntGetSExtValue(LLVMGetOperand(terminator, 2 * i)) == val.number)
                    ret_blocks[0] = LLVMGetSuccessor(terminator, i);
            return 1;
        }
    }
    for (unsigned i = 0; i < count; i++) { /* distinct ones: a switch names a block once for each of its values */
        LLVMBasicBlockRef block = LLVMGetSuccessor(terminator, i);
        bool new = true;
        for (unsigned k = 0; k < kept; k++)
            new &= ret_blocks[k] != block;
        if (new)
            ret_blocks[kept++] = block;
    }
    return kept;
}

/* Values of the phis of `to` when it is entered from `from`. */
static void pass_phis(struct pt_cf *cf, uint32_t context, LLVMBasicBlockRef from, uint32_t next, LLVMBasicBlockRef to)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(to); inst && LLVMIsAPHINode(inst);
         inst = LLVMGetNextInstruction(inst))
        for (unsigned i = 0; i < LLVMCountIncoming(inst); i++)
            if (LLVMGetIncomingBlock(inst, i) == from)
                pt_cf_define(cf, next, inst, pt_cf_eval(cf, context, LLVMGetIncomingValue(inst, i)));
}

static void leave_block(struct pt_cf *cf, uint32_t context, LLVMValueRef terminator)
{
    LLVMBasicBlockRef from = LLVMGetInstructionParent(terminator);
    if (LLVMIsAReturnInst(terminator)) {
        uint32_t frame = pt_cf_frame(cf, context);
        pt_cf_widen(cf, &cf->contexts[frame].result,
                    LLVMGetNumOperands(terminator) ? pt_cf_eval(cf, context, LLVMGetOperand(terminator, 0))
                                                   : pt_cf_number());
        return;
    }
    LLVMBasicBlockRef *next = pt_xcalloc(LLVMGetNumSuccessors(terminator) + 1, sizeof(LLVMBasicBlockRef));
    unsigned count = pt_cf_successors(cf, context, terminator, next);
    for (unsigned i = 0; i < count && !cf->failed; i++) {
        uint32_t into = pt_cf_follow(cf, context, from, next[i]);
        if (into == PT_NONE)
            continue;
        pass_phis(cf, context, from, into, next[i]);
        reach(cf, into, next[i]);
    }
    free(next);
}

static void run_block(struct pt_cf *cf, uint32_t context, LLVMBasicBlockRef block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst && !cf->failed; inst = LLVMGetNextInstruction(inst)) {
        uint64_t size;
        switch (LLVMGetInstructionOpcode(inst)) {
        case LLVMPHI:
            break;
        case LLVMAlloca:
            pt_cf_define(cf, context, inst, pt_cf_ref(cf, pt_cf_object(cf, PT_CF_DATA, inst, context)));
            break;
        case LLVMLoad:
            size = LLVMStoreSizeOfType(cf->names.layout, LLVMTypeOf(inst));
            pt_cf_define(cf, context, inst, pt_cf_load(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)), size));
            break;
        case LLVMStore:
            size = LLVMStoreSizeOfType(cf->names.layout, LLVMTypeOf(LLVMGetOperand(inst, 0)));
            pt_cf_store(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 1)), size,
                        pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)));
            break;
        case LLVMAtomicRMW:
        case LLVMAtomicCmpXchg: /* what is stored is the last operand (or made from it) */
            size = LLVMStoreSizeOfType(cf->names.layout, LLVMTypeOf(LLVMGetOperand(inst, 1)));
            pt_cf_store(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)), size,
                        pt_cf_blur(pt_cf_eval(cf, context, LLVMGetOperand(inst, LLVMIsAAtomicRMWInst(inst) ? 1 : 2))));
            pt_cf_define(cf, context, inst,
                         pt_cf_blur(pt_cf_load(cf, pt_cf_eval(cf, context, LLVMGetOperand(inst, 0)), size)));
            break;
        case LLVMCall:
            call_instruction(cf, context, inst);
            break;
        case LLVMInvoke:
        case LLVMIndirectBr:
        case LLVMCallBr:
            pt_cf_fail(cf, inst, "computed jumps and exceptions cannot be modelled");
            break;
        default:
            if (LLVMIsATerminatorInst(inst))
                leave_block(cf, context, inst);
            else
                pt_cf_define(cf, context, inst, pt_cf_compute(cf, context, inst));
        }
    }
}

/* What can be reached from an escaped object has escaped. */
static void close_escapes(struct pt_cf *cf)
{
    for (size_t i = 1; i < cf->object_count; i++) {
        struct pt_cf_object *o = &cf->objects[i];
        if (!o->escaped)
            continue;
        pt_cf_escape(cf, o->smear);
        for (size_t c = 0; c < o->cell_count; c++)
            pt_cf_escape(cf, o->cells[c].val);
    }
}

void pt_cf_solve(struct pt_cf *cf, LLVMValueRef main_function)
{
    struct pt_cf_context root = {.parent = PT_NONE, .function = main_function, .loop = PT_NONE, .round = PT_NONE};
    struct pt_cf_thread first = {.root = pt_cf_context(cf, root, true), .object = PT_NONE};
    PT_PUSH(cf->threads, cf->thread_count, cf->thread_cap, first);
    for (unsigned i = 0; i < LLVMCountParams(main_function); i++)
        pt_cf_define(cf, first.root, LLVMGetParam(main_function, i), pt_cf_number());
    reach(cf, first.root, LLVMGetEntryBasicBlock(main_function));
    do {
        cf->changed = false;
        for (size_t i = 0; i < cf->reached_count && !cf->failed; i++)
            run_block(cf, cf->reached[i].context, cf->reached[i].block);
        close_escapes(cf);
    } while (cf->changed && !cf->failed);
}
