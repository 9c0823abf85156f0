/*
 * What libstdc++ does in its shared object that orders threads, or ends variables. Texts that copies of an exception
 * share: here are functions that let go of one. Pools of memory, and results that are ready when their thread has
 * ended: of these the program tells (instrument/counted_body.c).
 *
 * Guarantee: the objects do what they would. Whoever frees a text comes after all who have let go of it; what a pool
 * gets back has ended, as by free, whoever gets it next; a result is ready after all that its thread has done. Of the
 * library's layouts this knows what its ABI has fixed: a string of the old kind, the table of a
 * std::pmr::memory_resource, the element of _Make_ready (since GCC 5), what a std::shared_ptr counts. Texts not
 * where the library is linked statically. Cost: without an observer a load and a branch beside the call; for a pool a
 * copy of its class's table, once.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop
#include "runtime/sys/sys.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/memory.h"

/* ---- pools ---- */

struct pool;
typedef void gives_back(struct pool *pool, void *memory, size_t bytes, size_t alignment);
/* The functions that a pool has by its class. */
struct functions {
    intptr_t offset;
    const void *type;
    void *end[2], *allocate;
    gives_back *deallocate;
    void *is_equal;
};
struct pool {
    void **functions; /* the first behind the type */
};
enum { CLASSES = 2, BEFORE = 2 };

/* A class of pools: a copy of its functions, in which `deallocate` is ours. Written before any pool has it. */
struct class
{
    void **library;
    gives_back *deallocate;
    struct functions copy;
};
static struct class *_Atomic classes[CLASSES];

static void deallocate(struct pool *pool, void *memory, size_t bytes, size_t alignment)
{
    const char *functions = (const char *)(pool->functions - BEFORE);
    const struct class *class = (const struct class *)(functions - offsetof(struct class, copy));
    pt_memory_forget(memory, bytes, false);
    class->deallocate(pool, memory, bytes, alignment);
}

static struct class *make_class(void **library)
{
    struct class *class = pt_sys_reserve(sizeof *class);
    if (!class)
        return NULL;
    *class = (struct class){.library = library, .copy = *(const struct functions *)(library - BEFORE)};
    class->deallocate = class->copy.deallocate;
    class->copy.deallocate = deallocate;
    return class;
}

/* NULL: there is no memory, or there are too many. */
static struct class *class_of(void **library)
{
    struct class *made = NULL;
    for (uint32_t i = 0; i < CLASSES; i++) {
        struct class *found = NULL;
        if (!made && !atomic_load_explicit(&classes[i], memory_order_relaxed))
            made = make_class(library);
        /* release, with the acquire of whoever finds it; one that comes too late stays unused */
        if (made && atomic_compare_exchange_strong(&classes[i], &found, made))
            return made;
        found = atomic_load_explicit(&classes[i], memory_order_acquire);
        if (found && found->library == library)
            return found;
    }
    return NULL;
}

void __portent_pool_made(void *made)
{
    struct pool *pool = made;
    struct class *class = class_of(pool->functions);
    if (class)
        pool->functions = (void **)&class->copy + BEFORE;
}

/* ---- results ---- */

struct shared { /* std::_Sp_counted_base */
    void (*const *functions)(struct shared *shared);
    int used, weak;
};
enum { DISPOSE = 2, DESTROY = 3 }; /* behind the two destructors */
struct result {                    /* std::__future_base::_State_baseV2 */
    void *functions, *value;
    uint32_t status;
};
struct element { /* std::__future_base::_State_baseV2::_Make_ready */
    struct element *next;
    void (*run)(void *element);
    struct result *result; /* as long as it is used */
    struct shared *shared;
};
enum { READY = 1 };

static void (*_Atomic library_run)(void *element);
static const struct pt_site place = {.file = "", .function = "", .variable = ""};

/* As the program's own std::shared_ptr counts, and the same is seen of it. */
static int count(int *counter, int by)
{
    return (int)__portent_atomic_rmw4(counter, (uint32_t)by, PT_RMW_ADD, __ATOMIC_ACQ_REL, &place);
}

static bool use(struct shared *shared)
{
    uint32_t found = __portent_atomic_load4(&shared->used, __ATOMIC_ACQUIRE, &place);
    while (found) {
        uint32_t old =
            __portent_atomic_cas4(&shared->used, found, found + 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE, &place);
        if (old == found)
            return true;
        found = old;
    }
    return false;
}

static void let_go(struct shared *shared)
{
    if (count(&shared->weak, -1) == 1)
        shared->functions[DESTROY](shared);
}

static void stop_using(struct shared *shared)
{
    if (count(&shared->used, -1) != 1)
        return;
    shared->functions[DISPOSE](shared);
    let_go(shared);
}

/*
 * The thread ends. The library makes the result ready, and lets go of it, where nobody sees that: so this does the one
 * before, and has the result until after that.
 */
static void run(void *context)
{
    struct element *element = context;
    struct result *result = element->result;
    struct shared *shared = element->shared;
    void (*library)(void *) = atomic_load_explicit(&library_run, memory_order_relaxed);
    if (!shared) {
        library(element);
        return;
    }
    count(&shared->weak, 1);
    bool used = use(shared);
    if (used)
        __portent_atomic_rmw4(&result->status, READY, PT_RMW_OR, __ATOMIC_RELEASE, &place);
    library(element);
    if (used)
        stop_using(shared);
    let_go(shared);
}

void __portent_ready_at_exit(void *set)
{
    struct element *element = set;
    atomic_store_explicit(&library_run, element->run, memory_order_relaxed);
    element->run = run;
}

/* ---- texts ---- */

#ifndef PT_RT_STATIC
struct text { /* std::string of the old kind: this, and then the characters */
    size_t len, capacity;
    int others;
};
struct failure { /* std::logic_error, std::runtime_error */
    void *functions;
    const char *text;
};

/* Before the library does. An empty text is everybody's, and is never freed. */
static void lets_go(const struct failure *failure)
{
    const struct text *text = (const struct text *)(const void *)failure->text - 1;
    if (pt_is_active() && text->len)
        pt_wrap_sync_kernel(&text->others, PT_KIND_NOTIFY, NULL);
}

#define DESTROYS(name)                                                                                                 \
    PT_WRAP(void, name, (struct failure * failure))                                                                    \
    {                                                                                                                  \
        lets_go(failure);                                                                                              \
        PT_REAL(name)(failure);                                                                                        \
    }
DESTROYS(_ZNSt11logic_errorD1Ev)
DESTROYS(_ZNSt11logic_errorD2Ev)
DESTROYS(_ZNSt13runtime_errorD1Ev)
DESTROYS(_ZNSt13runtime_errorD2Ev)

#define ASSIGNS(name)                                                                                                  \
    PT_WRAP(struct failure *, name, (struct failure * to, struct failure * from))                                      \
    {                                                                                                                  \
        lets_go(to);                                                                                                   \
        return PT_REAL(name)(to, from);                                                                                \
    }
ASSIGNS(_ZNSt11logic_erroraSERKS_)
ASSIGNS(_ZNSt11logic_erroraSEOS_)
ASSIGNS(_ZNSt13runtime_erroraSERKS_)
ASSIGNS(_ZNSt13runtime_erroraSEOS_)

/* What such an exception has beside its text is shared as by a std::shared_ptr, of which the library lets go: not as
 * the last one. */
struct file_failure { /* std::filesystem::filesystem_error */
    struct failure base;
    void *code[2], *paths;
    struct shared *shared;
};
#define DESTROYS_FILE(name)                                                                                            \
    PT_WRAP(void, name, (struct file_failure * failure))                                                               \
    {                                                                                                                  \
        struct shared *shared = pt_is_active() ? failure->shared : NULL;                                               \
        if (shared)                                                                                                    \
            count(&shared->used, 1);                                                                                   \
        PT_REAL(name)(failure);                                                                                        \
        if (shared)                                                                                                    \
            stop_using(shared);                                                                                        \
    }
DESTROYS_FILE(_ZNSt10filesystem7__cxx1116filesystem_errorD0Ev)
DESTROYS_FILE(_ZNSt10filesystem7__cxx1116filesystem_errorD1Ev)
DESTROYS_FILE(_ZNSt10filesystem7__cxx1116filesystem_errorD2Ev)

void _ZdlPv(void *memory) __attribute__((weak)); /* operator delete */

/* The last one frees it. Where the library is a part of the program its own function, which is weak like this one, may
 * not be there: it does no more than this. */
PT_WRAP(void, _ZNSs4_Rep10_M_destroyERKSaIcE, (struct text * text, const void *allocator))
{
    (void)allocator;
    if (pt_is_active())
        pt_wrap_sync_kernel(&text->others, PT_KIND_WAIT, NULL);
    if (_ZdlPv)
        _ZdlPv(text);
    else
        PT_REAL(_ZNSs4_Rep10_M_destroyERKSaIcE)(text, allocator);
}
#endif
