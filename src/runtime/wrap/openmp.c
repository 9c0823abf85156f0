/*
 * OpenMP: libgomp (gcc) and libomp (clang) wait on futexes of their own, so parallel regions, barriers, critical
 * and ordered sections and locks are recorded here. Their threads come through pthread_create. Tasks of libomp are in
 * openmp_tasks.c; those of libgomp are not covered: the order between a task's creation and its run is known only where
 * it shows in memory.
 *
 * Guarantee: what a team did before a barrier, or the master before a region, comes before what follows it. Cost: four
 * more accesses for each region and member.
 */
#ifndef PT_RT_STATIC
#include <stdarg.h>
#include <stdint.h>

#include "runtime/shadow/slow.h"
#include "runtime/thread/call.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/openmp.h"

typedef void kmpc_body(int32_t *global, int32_t *bound, ...);

void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void **name);
void GOMP_critical_name_end(void **name);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);
void __kmpc_ordered(void *place, int32_t thread);
void __kmpc_end_ordered(void *place, int32_t thread);
void __kmpc_fork_call(void *place, int32_t count, kmpc_body *body, ...);
void __kmpc_barrier(void *place, int32_t thread);
void __kmpc_critical(void *place, int32_t thread, void *name);
void __kmpc_critical_with_hint(void *place, int32_t thread, void *name, uint32_t hint);
void __kmpc_end_critical(void *place, int32_t thread, void *name);
void omp_set_lock(void *lock);
void omp_unset_lock(void *lock);
int omp_test_lock(void *lock);

/* Objects without memory of their own. */
_Alignas(8) const char pt_openmp_ended[8];
static _Alignas(8) const char all_ordered[8], unnamed_section[8];

/* The phases of barriers are two objects in turn, so that who leaves one late does not come after those who have
 * arrived at the next. All members of a team meet at the same barriers, so each counts its own, in each region. Order
 * between teams is more than there is. */
static _Alignas(8) const char phases[2][8];
static __thread unsigned passed __attribute__((tls_model("initial-exec")));

enum { ARGUMENTS = 32 };

struct region {
    void (*body)(void *);
    kmpc_body *kmpc;
    void *arguments[ARGUMENTS];
    _Alignas(8) char begun[8], done[8];
};

void pt_openmp_tell(const void *object)
{
    pt_slow_sync(object, PT_KIND_NOTIFY, NULL);
}

void pt_openmp_hear(const void *object)
{
    pt_slow_sync(object, PT_KIND_WAIT, NULL);
}

static void run_gomp(void *context)
{
    struct region *region = context;
    unsigned outside = passed;
    passed = 0;
    pt_openmp_hear(region->begun);
    region->body(region->arguments[0]);
    pt_openmp_tell(region->done);
    passed = outside;
}

static void run_kmpc(int32_t *global, int32_t *bound, ...)
{
    va_list list;
    va_start(list, bound);
    struct region *region = va_arg(list, struct region *);
    va_end(list);
    void **a = region->arguments;
    unsigned outside = passed;
    passed = 0;
    pt_openmp_hear(region->begun);
    /* The caller removes arguments, so a body may be given more than it takes. */
    region->kmpc(global, bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
                 a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], a[26], a[27],
                 a[28], a[29], a[30], a[31]);
    pt_openmp_tell(region->done);
    passed = outside;
}

PT_WRAP(void, GOMP_parallel, (void (*body)(void *), void *data, unsigned threads, unsigned flags))
{
    struct region region = {.body = body, .arguments = {data}};
    pt_openmp_tell(region.begun);
    PT_REAL(GOMP_parallel)(run_gomp, &region, threads, flags);
    pt_openmp_hear(region.done);
    pt_openmp_hear(pt_openmp_ended); /* at the region's own barrier */
}

PT_WRAP(void, __kmpc_fork_call, (void *place, int32_t count, kmpc_body *body, ...))
{
    struct region region = {.kmpc = body};
    va_list list;
    va_start(list, body);
    if (count > ARGUMENTS)
        __builtin_trap(); /* clang gathers what a region shares into fewer */
    for (int32_t i = 0; i < count; i++)
        region.arguments[i] = va_arg(list, void *);
    va_end(list);
    pt_openmp_follow_tasks();
    pt_openmp_tell(region.begun);
    PT_REAL(__kmpc_fork_call)(place, 1, run_kmpc, &region);
    pt_openmp_hear(region.done);
    pt_openmp_hear(pt_openmp_ended); /* at the region's own barrier */
}

#define BARRIER(name, parameters, arguments)                                                                           \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take(NULL);                                                               \
        const char *phase = phases[passed++ % 2];                                                                      \
        pt_slow_sync_as(phase, PT_EFFECT(name), PT_KIND_NOTIFY, site);                                                 \
        PT_REAL(name) arguments;                                                                                       \
        pt_slow_sync_as(phase, PT_EFFECT(name), PT_KIND_WAIT, site);                                                   \
        pt_openmp_hear(pt_openmp_ended);                                                                               \
    }
#define TAKE(name, parameters, arguments, object)                                                                      \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take(object);                                                             \
        PT_REAL(name) arguments;                                                                                       \
        pt_slow_sync(object, PT_EFFECT(name), site);                                                                   \
    }
#define GIVE(name, parameters, arguments, object)                                                                      \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        pt_slow_sync(object, PT_EFFECT(name), pt_call_take(object));                                                   \
        PT_REAL(name) arguments;                                                                                       \
    }

BARRIER(GOMP_barrier, (void), ())
BARRIER(__kmpc_barrier, (void *place, int32_t thread), (place, thread))
TAKE(GOMP_ordered_start, (void), (), all_ordered)
GIVE(GOMP_ordered_end, (void), (), all_ordered)
TAKE(__kmpc_ordered, (void *place, int32_t thread), (place, thread), all_ordered)
GIVE(__kmpc_end_ordered, (void *place, int32_t thread), (place, thread), all_ordered)
TAKE(GOMP_critical_start, (void), (), unnamed_section)
GIVE(GOMP_critical_end, (void), (), unnamed_section)
TAKE(GOMP_critical_name_start, (void **name), (name), name)
GIVE(GOMP_critical_name_end, (void **name), (name), name)
TAKE(__kmpc_critical, (void *place, int32_t thread, void *name), (place, thread, name), name)
TAKE(__kmpc_critical_with_hint, (void *place, int32_t thread, void *name, uint32_t hint), (place, thread, name, hint),
     name)
GIVE(__kmpc_end_critical, (void *place, int32_t thread, void *name), (place, thread, name), name)
TAKE(omp_set_lock, (void *lock), (lock), lock)
GIVE(omp_unset_lock, (void *lock), (lock), lock)

PT_WRAP(int, omp_test_lock, (void *lock))
{
    const struct pt_site *site = pt_call_take(lock);
    int taken = PT_REAL(omp_test_lock)(lock);
    if (taken)
        pt_slow_tried(lock, PT_EFFECT(omp_test_lock), PT_EFFECT(omp_test_lock), site);
    return taken;
}
#endif
