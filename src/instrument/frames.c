/*
 * The calls that a thread is in (core/calls.h). A function that calls anything which may reach instrumented code reads
 * the thread's depth when it is entered, and around each such call stores the site of the call and the depth:
 *
 *     entry:  d = calls.depth
 *     call:   calls.depth = d + 1; calls.frames[d % PT_CALLS] = site; f(); calls.depth = d
 *
 * The depth is d wherever the function's own code runs: behind each call, in the landing pads of exceptions, and where
 * setjmp returns a second time, which is a call like others. The depth comes first: a signal that arrives between the
 * two stores then does not write where the caller will read.
 *
 * Not stored: calls of intrinsics, of assembly, of hooks, of functions of libc that call nothing of the program, and
 * those before which __portent_call stands. A call with nothing behind it is no tail call any more, as under
 * ThreadSanitizer, so that it is in the stack; where the source demands a tail call (musttail), it stays one, and what
 * is called then seems to be called from one function further out. Coroutines are left alone where they are still
 * whole: they go on under another caller than they began.
 *
 * Cost: a load per function, three stores per call. Linear in the function.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/calls.h"

/* Functions of the C library that call no code of the program, by name. Sorted. */
static const char *const quiet[] = {"__assert_fail",
                                    "__ctype_b_loc",
                                    "__ctype_tolower_loc",
                                    "__ctype_toupper_loc",
                                    "__cxa_allocate_exception",
                                    "__cxa_begin_catch",
                                    "__cxa_free_exception",
                                    "__errno_location",
                                    "__isoc99_sscanf",
                                    "__sched_cpucount",
                                    "__stack_chk_fail",
                                    "__xpg_strerror_r",
                                    "abs",
                                    "access",
                                    "acos",
                                    "alarm",
                                    "asin",
                                    "atan",
                                    "atan2",
                                    "atof",
                                    "atoi",
                                    "atol",
                                    "atoll",
                                    "bcmp",
                                    "cbrt",
                                    "ceil",
                                    "chdir",
                                    "chmod",
                                    "clock",
                                    "clock_gettime",
                                    "close",
                                    "cos",
                                    "cosf",
                                    "cosh",
                                    "dup",
                                    "dup2",
                                    "exp",
                                    "exp2",
                                    "expf",
                                    "fabs",
                                    "fclose",
                                    "fcntl",
                                    "fdopen",
                                    "feof",
                                    "ferror",
                                    "fflush",
                                    "ffs",
                                    "fileno",
                                    "floor",
                                    "floorf",
                                    "fmod",
                                    "fopen",
                                    "fprintf",
                                    "fputc",
                                    "fputs",
                                    "fseek",
                                    "fsync",
                                    "ftell",
                                    "ftruncate",
                                    "fwrite",
                                    "getc",
                                    "getchar",
                                    "getenv",
                                    "getpid",
                                    "getppid",
                                    "getrusage",
                                    "gettid",
                                    "gettimeofday",
                                    "getuid",
                                    "gmtime_r",
                                    "hypot",
                                    "isalnum",
                                    "isalpha",
                                    "isatty",
                                    "isdigit",
                                    "islower",
                                    "isprint",
                                    "isspace",
                                    "isupper",
                                    "kill",
                                    "labs",
                                    "ldexp",
                                    "llabs",
                                    "llround",
                                    "localtime_r",
                                    "log",
                                    "log10",
                                    "log1p",
                                    "log2",
                                    "logf",
                                    "lrand48",
                                    "lround",
                                    "lseek",
                                    "memchr",
                                    "memcmp",
                                    "memmem",
                                    "memrchr",
                                    "mkdir",
                                    "mktime",
                                    "nearbyint",
                                    "open",
                                    "perror",
                                    "pow",
                                    "powf",
                                    "printf",
                                    "pthread_attr_destroy",
                                    "pthread_attr_init",
                                    "pthread_attr_setdetachstate",
                                    "pthread_attr_setstacksize",
                                    "pthread_barrier_destroy",
                                    "pthread_barrier_init",
                                    "pthread_cond_destroy",
                                    "pthread_cond_init",
                                    "pthread_equal",
                                    "pthread_getspecific",
                                    "pthread_key_create",
                                    "pthread_mutex_destroy",
                                    "pthread_mutex_init",
                                    "pthread_mutexattr_destroy",
                                    "pthread_mutexattr_init",
                                    "pthread_mutexattr_settype",
                                    "pthread_rwlock_destroy",
                                    "pthread_rwlock_init",
                                    "pthread_self",
                                    "pthread_setspecific",
                                    "putc",
                                    "putchar",
                                    "puts",
                                    "pwrite",
                                    "raise",
                                    "rand",
                                    "rand_r",
                                    "random",
                                    "rename",
                                    "rewind",
                                    "rint",
                                    "rmdir",
                                    "round",
                                    "roundf",
                                    "sched_getcpu",
                                    "sem_destroy",
                                    "sem_init",
                                    "setvbuf",
                                    "sigaddset",
                                    "sigemptyset",
                                    "sigfillset",
                                    "sin",
                                    "sinf",
                                    "sinh",
                                    "sprintf",
                                    "sqrt",
                                    "sqrtf",
                                    "srand",
                                    "srand48",
                                    "srandom",
                                    "sscanf",
                                    "strcasecmp",
                                    "strchr",
                                    "strcmp",
                                    "strcoll",
                                    "strcspn",
                                    "strerror",
                                    "strerror_r",
                                    "strftime",
                                    "strlen",
                                    "strncasecmp",
                                    "strncmp",
                                    "strnlen",
                                    "strpbrk",
                                    "strrchr",
                                    "strspn",
                                    "strstr",
                                    "strtod",
                                    "strtof",
                                    "strtok",
                                    "strtok_r",
                                    "strtol",
                                    "strtoll",
                                    "strtoul",
                                    "strtoull",
                                    "sysconf",
                                    "tan",
                                    "tanf",
                                    "tanh",
                                    "time",
                                    "tolower",
                                    "toupper",
                                    "trunc",
                                    "truncf",
                                    "umask",
                                    "unlink",
                                    "vfprintf",
                                    "vprintf",
                                    "write",
                                    "writev"};

/* Rows of core/sync.def whose function calls the program's without being told to run it. */
static bool calls_back(const struct pt_sync_row *row)
{
    enum pt_sync_id id = pt_sync_id(row);
    return row->function != 0 || id == PT_SYNC_ID_qsort || id == PT_SYNC_ID_qsort_r || id == PT_SYNC_ID_g_once_impl ||
           id == PT_SYNC_ID_g_async_queue_push_sorted;
}

static int compare_names(const void *name, const void *entry)
{
    return strcmp(name, *(const char *const *)entry);
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool is_quiet_function(LLVMValueRef function)
{
    size_t len;
    const char *name = LLVMGetValueName2(function, &len);
    if (LLVMGetIntrinsicID(function) != 0 || has_prefix(name, "__portent_"))
        return true;
    if (!LLVMIsDeclaration(function))
        return false;
    enum pt_access_kind kind;
    const struct pt_sync_row *row = pt_library_function(function, &kind);
    if (row && kind != PT_ACCESS_ALLOCATION) /* memory may come from a function of the program's own */
        return !calls_back(row);
    return has_prefix(name, "__atomic_") || has_prefix(name, "__sanitizer_cov") ||
           has_prefix(name, "__ubsan_handle_") ||
           bsearch(name, quiet, sizeof quiet / sizeof *quiet, sizeof *quiet, compare_names) != NULL;
}

/* The C API of LLVM 14 knows `tail`, not `musttail`; the text does. It is asked for only where a musttail can stand. */
bool pt_is_musttail(LLVMValueRef call)
{
    LLVMValueRef next = LLVMIsACallInst(call) && LLVMIsTailCall(call) ? LLVMGetNextInstruction(call) : NULL;
    if (!next || (!LLVMIsAReturnInst(next) && !LLVMIsABitCastInst(next)))
        return false;
    char *text = LLVMPrintValueToString(call);
    bool must = strstr(text, "musttail call") != NULL;
    LLVMDisposeMessage(text);
    return must;
}

static bool may_reach_hooks(LLVMValueRef call)
{
    if (!LLVMIsACallInst(call) && !LLVMIsAInvokeInst(call))
        return false;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee) || (LLVMIsAFunction(callee) && is_quiet_function(callee)))
        return false;
    return !pt_is_musttail(call);
}

bool pt_is_coroutine(LLVMValueRef function)
{
    static const char before[] = "coroutine.presplit", now[] = "presplitcoroutine";
    unsigned kind = LLVMGetEnumAttributeKindForName(now, sizeof now - 1);
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, before, sizeof before - 1) ||
           (kind != 0 && LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind));
}

/* What the stores need, of which a function has one each: where the depth and the site are stored, and the depth at
 * its entry. */
struct frame {
    LLVMValueRef depth_at, depth, site_at;
};

static LLVMTypeRef calls_type(struct pt_module *m)
{
    LLVMTypeRef members[] = {m->i32, LLVMArrayType(m->byte_pointer, 3), LLVMArrayType(m->byte_pointer, PT_CALLS)};
    return LLVMStructTypeInContext(m->context, members, 3, false);
}

static LLVMValueRef calls_variable(struct pt_module *m, LLVMTypeRef type)
{
    LLVMValueRef variable = LLVMGetNamedGlobal(m->module, "__portent_calls");
    if (!variable) {
        variable = LLVMAddGlobal(m->module, type, "__portent_calls");
        LLVMSetThreadLocalMode(variable, LLVMInitialExecTLSModel);
    }
    return LLVMConstBitCast(variable, LLVMPointerType(type, 0));
}

LLVMValueRef pt_stack_of_calls(struct pt_module *m, LLVMValueRef *ret_depth_at)
{
    if (!LLVMGetNamedGlobal(m->module, "__portent_calls"))
        return NULL;
    LLVMTypeRef type = calls_type(m);
    LLVMValueRef calls = calls_variable(m, type);
    *ret_depth_at = LLVMBuildStructGEP2(m->builder, type, calls, 0, "");
    return calls;
}

void pt_store_call(struct pt_module *m, LLVMValueRef object, LLVMValueRef site)
{
    LLVMTypeRef type = calls_type(m);
    LLVMValueRef calls = calls_variable(m, type);
    LLVMValueRef said[] = {object, site};
    for (unsigned i = 0; i < 2; i++) {
        LLVMValueRef path[] = {LLVMConstInt(m->i32, 0, false), LLVMConstInt(m->i32, 1, false),
                               LLVMConstInt(m->i32, i, false)};
        LLVMBuildStore(m->builder, said[i], LLVMBuildInBoundsGEP2(m->builder, type, calls, path, 3, ""));
    }
}

/* Where a function's allocas end: their block must have them first. */
static LLVMValueRef after_locals(LLVMValueRef function)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    while (LLVMIsAAllocaInst(inst))
        inst = LLVMGetNextInstruction(inst);
    return inst;
}

LLVMMetadataRef pt_place_of_entry(struct pt_module *m, LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    return subprogram
               ? LLVMDIBuilderCreateDebugLocation(m->context, LLVMDISubprogramGetLine(subprogram), 0, subprogram, NULL)
               : NULL;
}

/* What comes before the body belongs to no line: debuggers go on to where the arguments are. */
LLVMMetadataRef pt_place_before_body(struct pt_module *m, LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    return subprogram ? LLVMDIBuilderCreateDebugLocation(m->context, 0, 0, subprogram, NULL) : NULL;
}

static struct frame enter(struct pt_module *m, LLVMValueRef function)
{
    struct frame frame;
    LLVMTypeRef type = calls_type(m);
    LLVMValueRef calls = calls_variable(m, type);
    LLVMPositionBuilderBefore(m->builder, after_locals(function));
    LLVMSetCurrentDebugLocation2(m->builder, pt_place_before_body(m, function));
    frame.depth_at = LLVMBuildStructGEP2(m->builder, type, calls, 0, "");
    frame.depth = LLVMBuildLoad2(m->builder, m->i32, frame.depth_at, "");
    LLVMValueRef at = LLVMBuildAnd(m->builder, frame.depth, LLVMConstInt(m->i32, PT_CALLS - 1, false), "");
    LLVMValueRef path[] = {LLVMConstInt(m->i32, 0, false), LLVMConstInt(m->i32, 2, false),
                           LLVMBuildZExt(m->builder, at, m->i64, "")};
    frame.site_at = LLVMBuildInBoundsGEP2(m->builder, type, calls, path, 3, "");
    frame.site_at = LLVMBuildFreeze(m->builder, frame.site_at, "");
    return frame;
}

static void store_depth(struct pt_module *m, const struct frame *frame)
{
    LLVMBuildStore(m->builder, frame->depth, frame->depth_at);
}

static void surround(struct pt_module *m, const struct frame *frame, LLVMValueRef call, LLVMValueRef site)
{
    LLVMPositionBuilderBefore(m->builder, call);
    LLVMValueRef next = LLVMBuildAdd(m->builder, frame->depth, LLVMConstInt(m->i32, 1, false), "");
    LLVMBuildStore(m->builder, next, frame->depth_at);
    LLVMBuildStore(m->builder, site, frame->site_at);
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(call);
    LLVMValueRef after =
        LLVMIsAInvokeInst(call) ? LLVMGetFirstInstruction(LLVMGetNormalDest(call)) : LLVMGetNextInstruction(call);
    while (LLVMIsAPHINode(after))
        after = LLVMGetNextInstruction(after);
    if (LLVMIsAUnreachableInst(after))
        return;
    LLVMPositionBuilderBefore(m->builder, after);
    LLVMSetCurrentDebugLocation2(m->builder, place);
    store_depth(m, frame);
}

bool pt_add_frames(struct pt_module *m, LLVMValueRef function, const char *function_name)
{
    LLVMValueRef *calls = NULL, *pads = NULL;
    size_t call_count = 0, call_cap = 0, pad_count = 0, pad_cap = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            if (may_reach_hooks(inst))
                PT_PUSH(calls, call_count, call_cap, inst);
            else if (LLVMIsALandingPadInst(inst))
                PT_PUSH(pads, pad_count, pad_cap, inst);
        }
    bool any = call_count > 0 && !pt_is_coroutine(function);
    if (any) {
        struct frame frame = enter(m, function);
        for (size_t i = 0; i < call_count; i++)
            surround(m, &frame, calls[i], pt_site_of(m, calls[i], function_name, ""));
        for (size_t i = 0; i < pad_count; i++) {
            LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(pads[i]));
            store_depth(m, &frame);
        }
    }
    free(calls);
    free(pads);
    return any;
}
