/*
 * The calls before which the runtime is told where they stand: of every function that it stands in for and that makes
 * an event (runtime/wrap/wrapped.txt, runtime/wrap/openmp.c), and of the functions inside the C++ libraries that call
 * those. What the C++ library has in its headers (std::mutex::lock) is inlined before, see rewrite.c.
 */
#include "instrument/module.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

/* The rest of a row, behind the function's name. */
#define OBJECT(type) .bytes = sizeof(type), .mutex = PT_NONE
#define WAIT(type)   .bytes = sizeof(type), .waits = true, .mutex = 1
#define THREAD       .mutex = PT_NONE
#define CPP_JOIN     .joins = true, .mutex = PT_NONE
#define CPP_WAIT     .bytes = sizeof(pthread_cond_t), .waits = true, .mutex = PT_NONE
#define SECTION      .object = 2, .bytes = sizeof(int[8]), .mutex = PT_NONE

static const struct pt_sync_call calls[] = {
    {"pthread_mutex_lock", OBJECT(pthread_mutex_t)},
    {"pthread_mutex_trylock", OBJECT(pthread_mutex_t)},
    {"pthread_mutex_timedlock", OBJECT(pthread_mutex_t)},
    {"pthread_mutex_clocklock", OBJECT(pthread_mutex_t)},
    {"pthread_mutex_unlock", OBJECT(pthread_mutex_t)},
    {"pthread_spin_lock", OBJECT(pthread_spinlock_t)},
    {"pthread_spin_trylock", OBJECT(pthread_spinlock_t)},
    {"pthread_spin_unlock", OBJECT(pthread_spinlock_t)},
    {"pthread_rwlock_rdlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_tryrdlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_timedrdlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_clockrdlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_wrlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_trywrlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_timedwrlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_clockwrlock", OBJECT(pthread_rwlock_t)},
    {"pthread_rwlock_unlock", OBJECT(pthread_rwlock_t)},
    {"pthread_cond_wait", WAIT(pthread_cond_t)},
    {"pthread_cond_timedwait", WAIT(pthread_cond_t)},
    {"pthread_cond_clockwait", WAIT(pthread_cond_t)},
    {"pthread_cond_signal", OBJECT(pthread_cond_t)},
    {"pthread_cond_broadcast", OBJECT(pthread_cond_t)},
    {"pthread_barrier_wait", OBJECT(pthread_barrier_t)},
    {"pthread_once", OBJECT(pthread_once_t)},
    {"sem_wait", OBJECT(sem_t)},
    {"sem_trywait", OBJECT(sem_t)},
    {"sem_timedwait", OBJECT(sem_t)},
    {"sem_clockwait", OBJECT(sem_t)},
    {"sem_post", OBJECT(sem_t)},
    {"mtx_lock", OBJECT(mtx_t)},
    {"mtx_trylock", OBJECT(mtx_t)},
    {"mtx_timedlock", OBJECT(mtx_t)},
    {"mtx_unlock", OBJECT(mtx_t)},
    {"cnd_wait", WAIT(cnd_t)},
    {"cnd_timedwait", WAIT(cnd_t)},
    {"cnd_signal", OBJECT(cnd_t)},
    {"cnd_broadcast", OBJECT(cnd_t)},
    {"call_once", OBJECT(once_flag)},
    {"pthread_create", THREAD},
    {"pthread_join", THREAD},
    {"pthread_tryjoin_np", THREAD},
    {"pthread_timedjoin_np", THREAD},
    {"pthread_clockjoin_np", THREAD},
    {"thrd_create", THREAD},
    {"thrd_join", THREAD},

    /* OpenMP; its barriers have no object */
    {"omp_set_lock", OBJECT(void *)},
    {"omp_test_lock", OBJECT(void *)},
    {"omp_unset_lock", OBJECT(void *)},
    {"__kmpc_critical", SECTION},
    {"__kmpc_critical_with_hint", SECTION},
    {"__kmpc_end_critical", SECTION},
    {"__kmpc_barrier", .object = PT_NONE, .mutex = PT_NONE},

    /* libstdc++: std::thread's start and join, std::condition_variable */
    {"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE", THREAD},
    {"_ZNSt6thread4joinEv", CPP_JOIN},
    {"_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE", CPP_WAIT},
    {"_ZNSt18condition_variable10notify_oneEv", OBJECT(pthread_cond_t)},
    {"_ZNSt18condition_variable10notify_allEv", OBJECT(pthread_cond_t)},

    /* libc++: the same, and std::mutex */
    {"_ZNSt3__15mutex4lockEv", OBJECT(pthread_mutex_t)},
    {"_ZNSt3__15mutex8try_lockEv", OBJECT(pthread_mutex_t)},
    {"_ZNSt3__15mutex6unlockEv", OBJECT(pthread_mutex_t)},
    {"_ZNSt3__115recursive_mutex4lockEv", OBJECT(pthread_mutex_t)},
    {"_ZNSt3__115recursive_mutex8try_lockEv", OBJECT(pthread_mutex_t)},
    {"_ZNSt3__115recursive_mutex6unlockEv", OBJECT(pthread_mutex_t)},
    {"_ZNSt3__16thread4joinEv", CPP_JOIN},
    {"_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE", CPP_WAIT},
    {"_ZNSt3__118condition_variable10notify_oneEv", OBJECT(pthread_cond_t)},
    {"_ZNSt3__118condition_variable10notify_allEv", OBJECT(pthread_cond_t)},
};

const struct pt_sync_call *pt_sync_function(LLVMValueRef function)
{
    size_t len;
    const char *name = LLVMGetValueName2(function, &len);
    for (size_t i = 0; LLVMIsDeclaration(function) && i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            return &calls[i];
    return NULL;
}
