/*
 * The order of OpenMP's tasks, which clang's OpenMP library tells a *tool* (OMPT, OpenMP 5.0, chapter 4): when it
 * starts it asks for ompt_start_tool, and calls back when a task is created, begins, is interrupted or has ended, and
 * when somebody has waited for tasks.
 *
 * What is carried: from who creates a task to the task; from a task to whoever waits for it in its parent (taskwait),
 * in a taskgroup, or at a barrier; from a part of a task to its next part, whichever threads run them. Clocks are those
 * of threads: what a thread has run before a task is ordered with it, though another thread might have run the task.
 * Tasks of one parent that have dependences are ordered as they ran, whichever variables they name. So too much order
 * is known at times, never too little.
 *
 * The library gives the memory of a task that has ended to the next one, perhaps in another thread, before anybody has
 * waited for the first: so who gets it comes after it. It is told by the task's word, which is a fixed distance before
 * the memory; how far, the first task shows.
 *
 * Objects are addresses that nobody uses otherwise: the library's word for a task (*data*), which is ours as long as
 * the task lives, and the bytes behind its first. The word has the parent's address, and whether the task has
 * dependences. Guarantee: as above, with a library that has OMPT (libomp), unless OMP_TOOL=disabled. Cost: two or three
 * operations on objects for each part of a task.
 */
#ifndef PT_RT_STATIC
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/wrap/interpose.h"
#include "runtime/wrap/openmp.h"

/* As the standard has them. */
typedef void (*ompt_function)(void);
typedef ompt_function (*ompt_lookup)(const char *name);
typedef int (*ompt_set_callback)(int event, ompt_function callback);
union ompt_data {
    uint64_t value;
    void *ptr;
};
struct ompt_start {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_data *data);
    void (*finalize)(union ompt_data *data);
    union ompt_data data;
};
enum { EVENT_TASK_CREATE = 5, EVENT_TASK_SCHEDULE = 6, EVENT_SYNC_REGION = 23 };
enum { TASK_COMPLETE = 1, TASK_CANCEL = 3 };
enum { SCOPE_END = 2, REGION_TASKWAIT = 5, REGION_TASKGROUP = 6 };

/* Bytes of a task's word as objects. */
enum { BEGINS, CHILDREN, DEPENDENT, PARTS, MEMORY };

void *__kmpc_omp_task_alloc(void *place, int32_t thread, int32_t flags, size_t size, size_t shared, void *entry);

/* What lies between a task's word and its memory; the least that was seen, since memory of a task that was made inside
 * of another one's creation is further away. */
static _Atomic uintptr_t distance = UINTPTR_MAX;
static __thread uintptr_t latest __attribute__((tls_model("initial-exec"))); /* memory of a task */
enum { DISTANCE_MOST = 1024 };

static void measure_distance(const union ompt_data *task)
{
    uintptr_t seen = latest - (uintptr_t)task, least = atomic_load_explicit(&distance, memory_order_relaxed);
    while (seen - 1 < DISTANCE_MOST && seen < least &&
           !atomic_compare_exchange_weak_explicit(&distance, &least, seen, memory_order_relaxed, memory_order_relaxed))
        ;
}

PT_WRAP(void *, __kmpc_omp_task_alloc,
        (void *place, int32_t thread, int32_t flags, size_t size, size_t shared, void *entry))
{
    void *task = PT_REAL(__kmpc_omp_task_alloc)(place, thread, flags, size, shared, entry);
    uintptr_t before = atomic_load_explicit(&distance, memory_order_relaxed);
    latest = (uintptr_t)task;
    if (before <= DISTANCE_MOST)
        pt_openmp_hear((const char *)task - before + MEMORY);
    return task;
}

static const char *object_of(const union ompt_data *task, int which)
{
    return (const char *)task + which;
}

static const union ompt_data *parent_of(const union ompt_data *task)
{
    return (const union ompt_data *)(uintptr_t)(task->value & ~UINT64_C(1));
}

static void on_create(const union ompt_data *creator, const void *frame, union ompt_data *task, int flags,
                      int has_dependences, const void *place)
{
    (void)frame, (void)flags, (void)place;
    if (!creator)
        return;
    task->value = (uint64_t)(uintptr_t)creator | (has_dependences != 0);
    measure_distance(task);
    pt_openmp_tell(object_of(task, BEGINS));
}

/* A part of the task has ended; `last`: the task has. */
static void leave(const union ompt_data *task, bool last)
{
    const union ompt_data *parent = parent_of(task);
    if (!last) {
        pt_openmp_tell(object_of(task, PARTS));
    } else if (parent) {
        pt_openmp_tell(object_of(parent, CHILDREN));
        pt_openmp_tell(pt_openmp_ended);
        pt_openmp_tell(object_of(task, MEMORY));
        if (task->value & 1)
            pt_openmp_tell(object_of(parent, DEPENDENT));
    }
}

static void enter(const union ompt_data *task)
{
    const union ompt_data *parent = parent_of(task);
    pt_openmp_hear(object_of(task, PARTS));
    if (!parent)
        return;
    pt_openmp_hear(object_of(task, BEGINS));
    if (task->value & 1)
        pt_openmp_hear(object_of(parent, DEPENDENT));
}

static void on_schedule(const union ompt_data *before, int status, const union ompt_data *after)
{
    if (before)
        leave(before, status == TASK_COMPLETE || status == TASK_CANCEL);
    if (after)
        enter(after);
}

static void on_wait(int kind, int scope, const union ompt_data *region, const union ompt_data *task, const void *place)
{
    (void)region, (void)place;
    if (scope == SCOPE_END && kind == REGION_TASKWAIT && task)
        pt_openmp_hear(object_of(task, CHILDREN));
    else if (scope == SCOPE_END && kind == REGION_TASKGROUP)
        pt_openmp_hear(pt_openmp_ended);
}

static int initialize(ompt_lookup lookup, int device, union ompt_data *data)
{
    (void)device, (void)data;
    ompt_set_callback set = (ompt_set_callback)lookup("ompt_set_callback");
    if (!set)
        return 0;
    set(EVENT_TASK_CREATE, (ompt_function)on_create);
    set(EVENT_TASK_SCHEDULE, (ompt_function)on_schedule);
    set(EVENT_SYNC_REGION, (ompt_function)on_wait);
    return 1;
}

static void finalize(union ompt_data *data)
{
    (void)data;
}

struct ompt_start *ompt_start_tool(unsigned version, const char *library);
__attribute__((weak, visibility("default"))) struct ompt_start *ompt_start_tool(unsigned version, const char *library)
{
    static struct ompt_start start = {initialize, finalize, {0}};
    (void)version, (void)library;
    return &start;
}

void pt_openmp_follow_tasks(void)
{
    __asm__ volatile("" : : "r"(ompt_start_tool)); /* so that the linker has it */
}
#endif
