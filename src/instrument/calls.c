/*
 * The calls before which the runtime is told where they stand: of every function that it stands in for and that makes
 * an event (runtime/wrapped.txt, runtime/wrap_openmp.c), and of the functions inside the C++ libraries that call
 * those. What the C++ library has in its headers (std::mutex::lock) is inlined before, see rewrite.c.
 */
#include "instrument/module.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <threads.h>

#define OBJECT(name, type)                                                                                             \
    {                                                                                                                  \
#name, 0, sizeof(type), false, false, PT_NONE                                                                  \
    }
#define WAIT(name, type)                                                                                               \
    {                                                                                                                  \
#name, 0, sizeof(type), false, true, 1                                                                         \
    }
#define THREAD(name)                                                                                                   \
    {                                                                                                                  \
#name, 0, 0, false, false, PT_NONE                                                                             \
    }
#define CPP_JOIN(name)                                                                                                 \
    {                                                                                                                  \
#name, 0, 0, true, false, PT_NONE                                                                              \
    }
#define CPP_WAIT(name)                                                                                                 \
    {                                                                                                                  \
#name, 0, sizeof(pthread_cond_t), false, true, PT_NONE                                                         \
    }
#define SECTION(name)                                                                                                  \
    {                                                                                                                  \
#name, 2, sizeof(int[8]), false, false, PT_NONE                                                                \
    }

static const struct pt_sync_call calls[] = {
    OBJECT(pthread_mutex_lock, pthread_mutex_t),
    OBJECT(pthread_mutex_trylock, pthread_mutex_t),
    OBJECT(pthread_mutex_timedlock, pthread_mutex_t),
    OBJECT(pthread_mutex_clocklock, pthread_mutex_t),
    OBJECT(pthread_mutex_unlock, pthread_mutex_t),
    OBJECT(pthread_spin_lock, pthread_spinlock_t),
    OBJECT(pthread_spin_trylock, pthread_spinlock_t),
    OBJECT(pthread_spin_unlock, pthread_spinlock_t),
    OBJECT(pthread_rwlock_rdlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_tryrdlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_timedrdlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_clockrdlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_wrlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_trywrlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_timedwrlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_clockwrlock, pthread_rwlock_t),
    OBJECT(pthread_rwlock_unlock, pthread_rwlock_t),
    WAIT(pthread_cond_wait, pthread_cond_t),
    WAIT(pthread_cond_timedwait, pthread_cond_t),
    WAIT(pthread_cond_clockwait, pthread_cond_t),
    OBJECT(pthread_cond_signal, pthread_cond_t),
    OBJECT(pthread_cond_broadcast, pthread_cond_t),
    OBJECT(pthread_barrier_wait, pthread_barrier_t),
    OBJECT(pthread_once, pthread_once_t),
    OBJECT(sem_wait, sem_t),
    OBJECT(sem_trywait, sem_t),
    OBJECT(sem_timedwait, sem_t),
    OBJECT(sem_clockwait, sem_t),
    OBJECT(sem_post, sem_t),
    OBJECT(mtx_lock, mtx_t),
    OBJECT(mtx_trylock, mtx_t),
    OBJECT(mtx_timedlock, mtx_t),
    OBJECT(mtx_unlock, mtx_t),
    WAIT(cnd_wait, cnd_t),
    WAIT(cnd_timedwait, cnd_t),
    OBJECT(cnd_signal, cnd_t),
    OBJECT(cnd_broadcast, cnd_t),
    OBJECT(call_once, once_flag),
    THREAD(pthread_create),
    THREAD(pthread_join),
    THREAD(pthread_tryjoin_np),
    THREAD(pthread_timedjoin_np),
    THREAD(pthread_clockjoin_np),
    THREAD(thrd_create),
    THREAD(thrd_join),

    /* OpenMP; its barriers have no object */
    OBJECT(omp_set_lock, void *),
    OBJECT(omp_test_lock, void *),
    OBJECT(omp_unset_lock, void *),
    SECTION(__kmpc_critical),
    SECTION(__kmpc_critical_with_hint),
    SECTION(__kmpc_end_critical),
    {"__kmpc_barrier", PT_NONE, 0, false, false, PT_NONE},

    /* libstdc++: std::thread's start and join, std::condition_variable */
    THREAD(_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE),
    CPP_JOIN(_ZNSt6thread4joinEv),
    CPP_WAIT(_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE),
    OBJECT(_ZNSt18condition_variable10notify_oneEv, pthread_cond_t),
    OBJECT(_ZNSt18condition_variable10notify_allEv, pthread_cond_t),

    /* libc++: the same, and std::mutex */
    OBJECT(_ZNSt3__15mutex4lockEv, pthread_mutex_t),
    OBJECT(_ZNSt3__15mutex8try_lockEv, pthread_mutex_t),
    OBJECT(_ZNSt3__15mutex6unlockEv, pthread_mutex_t),
    OBJECT(_ZNSt3__115recursive_mutex4lockEv, pthread_mutex_t),
    OBJECT(_ZNSt3__115recursive_mutex8try_lockEv, pthread_mutex_t),
    OBJECT(_ZNSt3__115recursive_mutex6unlockEv, pthread_mutex_t),
    CPP_JOIN(_ZNSt3__16thread4joinEv),
    CPP_WAIT(_ZNSt3__118condition_variable4waitERNS_11unique_lockINS_5mutexEEE),
    OBJECT(_ZNSt3__118condition_variable10notify_oneEv, pthread_cond_t),
    OBJECT(_ZNSt3__118condition_variable10notify_allEv, pthread_cond_t),
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
