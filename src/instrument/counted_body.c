/*
 * What libstdc++ counts, or knows, in its shared object alone: who has an exception, that a result is ready when its
 * thread has ended, which memory a pool has got back. Part of containers_body.c.
 *
 * Each of these functions is called for one of the library's, whose name it has behind "__pt" (containers.c), and calls
 * that. Of the library's layouts they know what its ABI has fixed. With another library, or where it has no such
 * function, they do nothing of their own.
 */

/* ---- exceptions ---- */

/*
 * An exception that std::exception_ptr carries to other threads is destroyed by whoever lets go of it last. libstdc++
 * counts in its shared object, so nobody would see that those who let go before come before that. Calls from programs
 * go to the two functions below instead, which count where it is seen, and leave the end, and all else, to libstdc++'s:
 * of its layout they know what the ABI says (cxxabi's __cxa_exception), and the count in front of it, as it has been
 * since GCC 4.4.
 */
enum { LETTERS_MASK = 0xff, DEPENDENT = 1 };
#define GNU_CLASS UINT64_C(0x474e5543432b2b00) /* "GNUCC++" */

struct thrown {
    void *type_or_primary; /* of one that was thrown again, in another thread perhaps: the object */
    void *functions[3];
    struct thrown *next;
    int handlers, action;
    void *where[4];
    struct {
        uint64_t class;
        void *cleanup;
        uintptr_t private[2];
    } unwind __attribute__((aligned(16)));
};
struct counted {
    int count;
    struct thrown thrown;
}; /* and then the object */
struct caught {
    struct thrown *first;
};

#define WEAK __attribute__((weak))
WEAK void library_release(void **pointer) __asm__("_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
WEAK struct caught *library_caught(void) __asm__("__cxa_get_globals");
void library_end_catch(void) __asm__("__cxa_end_catch");

static inline INLINED int *count_of(void *object)
{
    return &((struct counted *)object - 1)->count;
}

/* What is caught by the innermost handler; NULL: nothing, or an exception of another language. */
static inline INLINED void *caught_object(void)
{
    struct thrown *thrown = library_caught()->first;
    if (!thrown || (thrown->unwind.class & ~(uint64_t)LETTERS_MASK) != GNU_CLASS)
        return NULL;
    return (thrown->unwind.class & LETTERS_MASK) == DEPENDENT ? thrown->type_or_primary : (void *)(thrown + 1);
}

/* The last one is libstdc++'s, and has seen all others. */
static inline INLINED void let_go(void **pointer)
{
    int *count = count_of(*pointer), old = __atomic_load_n(count, __ATOMIC_ACQUIRE);
    while (old > 1)
        if (__atomic_compare_exchange_n(count, &old, old - 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return;
    library_release(pointer);
}

void release_exception(void **pointer) __asm__("__pt_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv");
INLINED void release_exception(void **pointer)
{
    let_go(pointer);
}

void end_catch(void) __asm__("__pt__cxa_end_catch");
INLINED void end_catch(void)
{
    void *object = library_release && library_caught ? caught_object() : NULL;
    if (object)
        __atomic_fetch_add(count_of(object), 1, __ATOMIC_RELAXED);
    library_end_catch();
    if (object)
        let_go(&object);
}

/* ---- results that are ready when their thread has ended ---- */

WEAK void library_set(void *element) __asm__("_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
void __portent_ready_at_exit(void *element);
void set_at_exit(void *element) __asm__("__pt_ZNSt13__future_base13_State_baseV211_Make_ready6_M_setEv");
INLINED void set_at_exit(void *element)
{
    library_set(element);
    __portent_ready_at_exit(element);
}

/* ---- pools of memory ---- */

void __portent_pool_made(void *pool);
#define POOL(class, which)                                                                                             \
    WEAK void library_##which##class(void *self, const void *options, void *upstream) __asm__(                         \
        "_ZNSt3pmr" #class #which "ERKNS_12pool_optionsEPNS_15memory_resourceE");                                      \
    void make_##which##class(void *self, const void *options, void *upstream) __asm__(                                 \
        "__pt_ZNSt3pmr" #class #which "ERKNS_12pool_optionsEPNS_15memory_resourceE");                                  \
    INLINED void make_##which##class(void *self, const void *options, void *upstream)                                  \
    {                                                                                                                  \
        library_##which##class(self, options, upstream);                                                               \
        __portent_pool_made(self);                                                                                     \
    }
/* An object, and what may be a part of one. */
POOL(26synchronized_pool_resource, C1)
POOL(26synchronized_pool_resource, C2)
POOL(28unsynchronized_pool_resource, C1)
POOL(28unsynchronized_pool_resource, C2)
