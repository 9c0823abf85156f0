/*
 * What a call means: POSIX and C11 threads, Portent's own annotations, the commonest of the C library. A function with
 * a body is inlined; any other that is not in the table may touch whatever it can reach through its arguments.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/abstract.h"

struct known {
    const char *name; /* ending in '*': a prefix */
    enum pt_cf_call_kind kind;
    unsigned object, function, arg;
    int busy;
};

static const struct known table[] = {
    {"pthread_create", PT_CF_CALL_SPAWN, .object = 0, .function = 2, .arg = 3},
    {"thrd_create", PT_CF_CALL_SPAWN, .object = 0, .function = 1, .arg = 2},
    {"pthread_join", PT_CF_CALL_JOIN},
    {"thrd_join", PT_CF_CALL_JOIN},
    {"pthread_mutex_lock", PT_CF_CALL_LOCK},
    {"pthread_spin_lock", PT_CF_CALL_LOCK},
    {"mtx_lock", PT_CF_CALL_LOCK},
    {"pthread_mutex_trylock", PT_CF_CALL_TRYLOCK, .busy = 16},
    {"pthread_mutex_timedlock", PT_CF_CALL_TRYLOCK, .busy = 110},
    {"pthread_spin_trylock", PT_CF_CALL_TRYLOCK, .busy = 16},
    {"mtx_trylock", PT_CF_CALL_TRYLOCK, .busy = 1},
    {"mtx_timedlock", PT_CF_CALL_TRYLOCK, .busy = 4},
    {"pthread_mutex_unlock", PT_CF_CALL_UNLOCK},
    {"pthread_spin_unlock", PT_CF_CALL_UNLOCK},
    {"mtx_unlock", PT_CF_CALL_UNLOCK},
    {"pthread_cond_wait", PT_CF_CALL_WAIT, .object = 0, .arg = 1},
    {"pthread_cond_timedwait", PT_CF_CALL_WAIT, .object = 0, .arg = 1},
    {"cnd_wait", PT_CF_CALL_WAIT, .object = 0, .arg = 1},
    {"cnd_timedwait", PT_CF_CALL_WAIT, .object = 0, .arg = 1},
    {"pthread_cond_signal", PT_CF_CALL_SYNC},
    {"pthread_cond_broadcast", PT_CF_CALL_SYNC},
    {"cnd_signal", PT_CF_CALL_SYNC},
    {"cnd_broadcast", PT_CF_CALL_SYNC},
    {"pthread_barrier_wait", PT_CF_CALL_SYNC},
    {"sem_wait", PT_CF_CALL_SYNC},
    {"sem_trywait", PT_CF_CALL_SYNC},
    {"sem_timedwait", PT_CF_CALL_SYNC},
    {"sem_post", PT_CF_CALL_SYNC},
    {"pthread_rwlock_rdlock", PT_CF_CALL_SYNC_READ},
    {"pthread_rwlock_tryrdlock", PT_CF_CALL_SYNC_READ},
    {"pthread_rwlock_wrlock", PT_CF_CALL_SYNC},
    {"pthread_rwlock_trywrlock", PT_CF_CALL_SYNC},
    {"pthread_rwlock_unlock", PT_CF_CALL_SYNC},
    {"pthread_once", PT_CF_CALL_ONCE, .object = 0, .function = 1},
    {"call_once", PT_CF_CALL_ONCE, .object = 0, .function = 1},
    {"pthread_exit", PT_CF_CALL_THREAD_EXIT, .arg = 0},
    {"thrd_exit", PT_CF_CALL_THREAD_EXIT, .arg = 0},
    {"portent_begin", PT_CF_CALL_BEGIN},
    {"portent_end", PT_CF_CALL_END},
    {"portent_*", PT_CF_CALL_NOTHING},
    {"__portent_*", PT_CF_CALL_NOTHING},

    {"llvm.memcpy.*", PT_CF_CALL_COPY},
    {"llvm.memmove.*", PT_CF_CALL_COPY},
    {"memcpy", PT_CF_CALL_COPY},
    {"memmove", PT_CF_CALL_COPY},
    {"llvm.memset.*", PT_CF_CALL_FILL},
    {"memset", PT_CF_CALL_FILL},
    {"llvm.*", PT_CF_CALL_NOTHING},
    {"malloc", PT_CF_CALL_ALLOCATE},
    {"calloc", PT_CF_CALL_ALLOCATE, .arg = 1},
    {"aligned_alloc", PT_CF_CALL_ALLOCATE},
    {"strdup", PT_CF_CALL_ALLOCATE},
    {"fopen", PT_CF_CALL_READS},
    {"fdopen", PT_CF_CALL_READS},
    {"abort", PT_CF_CALL_STOPS},
    {"exit", PT_CF_CALL_STOPS},
    {"_exit", PT_CF_CALL_STOPS},
    {"quick_exit", PT_CF_CALL_STOPS},
    {"__assert_fail", PT_CF_CALL_STOPS},
    {"free", PT_CF_CALL_NOTHING},
    {"pthread_attr_*", PT_CF_CALL_NOTHING},
    {"pthread_mutexattr_*", PT_CF_CALL_NOTHING},
    {"pthread_condattr_*", PT_CF_CALL_NOTHING},
    {"pthread_mutex_init", PT_CF_CALL_NOTHING},
    {"pthread_mutex_destroy", PT_CF_CALL_NOTHING},
    {"pthread_cond_init", PT_CF_CALL_NOTHING},
    {"pthread_cond_destroy", PT_CF_CALL_NOTHING},
    {"pthread_rwlock_init", PT_CF_CALL_NOTHING},
    {"pthread_rwlock_destroy", PT_CF_CALL_NOTHING},
    {"pthread_barrier_init", PT_CF_CALL_NOTHING},
    {"pthread_barrier_destroy", PT_CF_CALL_NOTHING},
    {"pthread_spin_init", PT_CF_CALL_NOTHING},
    {"pthread_spin_destroy", PT_CF_CALL_NOTHING},
    {"sem_init", PT_CF_CALL_NOTHING},
    {"sem_destroy", PT_CF_CALL_NOTHING},
    {"mtx_init", PT_CF_CALL_NOTHING},
    {"mtx_destroy", PT_CF_CALL_NOTHING},
    {"cnd_init", PT_CF_CALL_NOTHING},
    {"cnd_destroy", PT_CF_CALL_NOTHING},
    {"pthread_self", PT_CF_CALL_NOTHING},
    {"thrd_current", PT_CF_CALL_NOTHING},
    {"pthread_detach", PT_CF_CALL_NOTHING},
    {"thrd_detach", PT_CF_CALL_NOTHING},
    {"pthread_setname_np", PT_CF_CALL_NOTHING},
    {"sched_yield", PT_CF_CALL_NOTHING},
    {"thrd_yield", PT_CF_CALL_NOTHING},
    {"thrd_sleep", PT_CF_CALL_NOTHING},
    {"sleep", PT_CF_CALL_NOTHING},
    {"usleep", PT_CF_CALL_NOTHING},
    {"nanosleep", PT_CF_CALL_READS},
    {"rand", PT_CF_CALL_NOTHING},
    {"srand", PT_CF_CALL_NOTHING},
    {"random", PT_CF_CALL_NOTHING},
    {"srandom", PT_CF_CALL_NOTHING},
    {"clock", PT_CF_CALL_NOTHING},
    {"sysconf", PT_CF_CALL_NOTHING},
    {"close", PT_CF_CALL_NOTHING},
    {"putchar", PT_CF_CALL_NOTHING},
    {"getchar", PT_CF_CALL_NOTHING},
    {"isatty", PT_CF_CALL_NOTHING},
    {"__errno_location", PT_CF_CALL_NOTHING},
    {"__ctype_b_loc", PT_CF_CALL_NOTHING},
    {"__ctype_tolower_loc", PT_CF_CALL_NOTHING},
    {"__ctype_toupper_loc", PT_CF_CALL_NOTHING},
    {"getenv", PT_CF_CALL_READS},
    {"printf", PT_CF_CALL_READS},
    {"fprintf", PT_CF_CALL_READS},
    {"dprintf", PT_CF_CALL_READS},
    {"vprintf", PT_CF_CALL_READS},
    {"vfprintf", PT_CF_CALL_READS},
    {"vsnprintf", PT_CF_CALL_WRITES},
    {"puts", PT_CF_CALL_READS},
    {"fputs", PT_CF_CALL_READS},
    {"putc", PT_CF_CALL_READS},
    {"fputc", PT_CF_CALL_READS},
    {"fwrite", PT_CF_CALL_READS},
    {"fflush", PT_CF_CALL_READS},
    {"fclose", PT_CF_CALL_READS},
    {"ferror", PT_CF_CALL_READS},
    {"feof", PT_CF_CALL_READS},
    {"fileno", PT_CF_CALL_READS},
    {"perror", PT_CF_CALL_READS},
    {"open", PT_CF_CALL_READS},
    {"write", PT_CF_CALL_READS},
    {"unlink", PT_CF_CALL_READS},
    {"access", PT_CF_CALL_READS},
    {"strlen", PT_CF_CALL_READS},
    {"strcmp", PT_CF_CALL_READS},
    {"strncmp", PT_CF_CALL_READS},
    {"strcasecmp", PT_CF_CALL_READS},
    {"memcmp", PT_CF_CALL_READS},
    {"atoi", PT_CF_CALL_READS},
    {"atol", PT_CF_CALL_READS},
    {"atof", PT_CF_CALL_READS},
    {"strerror", PT_CF_CALL_NOTHING},
    {"snprintf", PT_CF_CALL_WRITES},
    {"sprintf", PT_CF_CALL_WRITES},
    {"strcpy", PT_CF_CALL_WRITES},
    {"strncpy", PT_CF_CALL_WRITES},
    {"strcat", PT_CF_CALL_WRITES},
    {"fgets", PT_CF_CALL_WRITES},
    {"time", PT_CF_CALL_WRITES},
};

static bool fits(const char *pattern, const char *name, size_t len)
{
    size_t n = strlen(pattern);
    if (pattern[n - 1] == '*')
        return strncmp(pattern, name, n - 1) == 0;
    return n == len && memcmp(pattern, name, n) == 0;
}

static bool is_asm_harmless(LLVMValueRef callee)
{
    /* The C API shows the text of inline assembly only as printed IR: asm [sideeffect] "TEXT", "CONSTRAINTS". */
    char *text = LLVMPrintValueToString(callee);
    const char *quote = strchr(text, '"');
    bool harmless = quote && (strncmp(quote, "\"\",", 3) == 0 || strncmp(quote, "\"pause\"", 7) == 0 ||
                              strncmp(quote, "\"rep; nop\"", 10) == 0 || strncmp(quote, "\"nop\"", 5) == 0);
    LLVMDisposeMessage(text);
    return harmless;
}

struct pt_cf_call pt_cf_classify(struct pt_cf *cf, LLVMValueRef call)
{
    struct pt_cf_call found = {.kind = PT_CF_CALL_INLINE, .name = ""};
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee)) {
        found.kind = is_asm_harmless(callee) ? PT_CF_CALL_NOTHING : PT_CF_CALL_ERROR;
        found.name = "inline assembly";
        return found;
    }
    if (LLVMIsAGlobalAlias(callee))
        callee = LLVMAliasGetAliasee(callee);
    if (!LLVMIsAFunction(callee))
        return found;
    size_t len;
    found.name = LLVMGetValueName2(callee, &len);
    bool body = !LLVMIsDeclaration(callee), ours = strncmp(found.name, "portent_", 8) == 0;
    if (body && !ours)
        return found;
    const char *dot = strchr(found.name, '.');
    if (ours && dot) /* a static function of several files was renamed when they were linked */
        len = (size_t)(dot - found.name);
    if (strstr(found.name, "setjmp") || strstr(found.name, "longjmp")) {
        found.kind = PT_CF_CALL_ERROR;
        return found;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!fits(table[i].name, found.name, len))
            continue;
        found.kind = table[i].kind;
        found.object = table[i].object;
        found.function = table[i].function;
        found.arg = table[i].arg;
        found.busy = table[i].busy;
        found.zeroed = found.kind == PT_CF_CALL_ALLOCATE && found.arg == 1;
        return found;
    }
    (void)cf;
    found.kind = PT_CF_CALL_UNKNOWN;
    return found;
}

/* ---- which functions manage threads, through whatever they call directly */

static bool calls_managing(struct pt_cf *cf, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            if (!LLVMIsACallInst(inst))
                continue;
            struct pt_cf_call call = pt_cf_classify(cf, inst);
            if (call.kind == PT_CF_CALL_SPAWN || call.kind == PT_CF_CALL_JOIN)
                return true;
            LLVMValueRef callee = LLVMGetCalledValue(inst);
            if (call.kind == PT_CF_CALL_INLINE && LLVMIsAFunction(callee) &&
                pt_map64_get(&cf->managing, pt_key(callee)) == 1)
                return true;
        }
    }
    return false;
}

bool pt_cf_manages_threads(struct pt_cf *cf, LLVMValueRef function)
{
    bool grew = cf->managing.count == 0;
    while (grew) { /* at most as often as the call graph is deep */
        grew = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(cf->module); f; f = LLVMGetNextFunction(f)) {
            uint32_t *known = pt_map64_at(&cf->managing, pt_key(f));
            if (*known == PT_NONE)
                *known = 0;
            if (*known == 0 && calls_managing(cf, f)) {
                *pt_map64_at(&cf->managing, pt_key(f)) = 1;
                grew = true;
            }
        }
    }
    return pt_map64_get(&cf->managing, pt_key(function)) == 1;
}

/* ---- calls through pointers */

static bool has_type(LLVMValueRef function, LLVMTypeRef type)
{
    LLVMTypeRef own = LLVMGlobalGetValueType(function);
    return own == type || (LLVMCountParamTypes(own) == LLVMCountParamTypes(type) && !LLVMIsFunctionVarArg(own));
}

void pt_cf_callees(struct pt_cf *cf, uint32_t context, LLVMValueRef call, uint32_t **ret_functions, uint32_t *ret_count)
{
    uint32_t *found = NULL, count, targets_count;
    size_t n = 0, cap = 0;
    struct pt_cf_val callee = pt_cf_eval(cf, context, LLVMGetCalledValue(call));
    const uint32_t *targets = pt_cf_targets(cf, callee, &targets_count);
    for (uint32_t i = 0; i < targets_count; i++) {
        if (targets[i] != PT_CF_ANYTHING) {
            if (cf->objects[targets[i]].kind == PT_CF_FUNCTION)
                PT_PUSH(found, n, cap, targets[i]);
            continue;
        }
        for (uint32_t o = 1; o < cf->object_count; o++)
            if (cf->objects[o].kind == PT_CF_FUNCTION && cf->objects[o].escaped &&
                has_type(cf->objects[o].value, LLVMGetCalledFunctionType(call)))
                PT_PUSH(found, n, cap, o);
    }
    count = found ? pt_sort_distinct(found, (uint32_t)n) : 0;
    *ret_functions = found;
    *ret_count = count;
}
