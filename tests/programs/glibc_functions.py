"""The functions of glibc's headers about threads, as the machine has them, and what Portent has to know of each.

Every prototype of these headers has a row in src/core/sync.def, or stands here as one that synchronises nothing between the threads of a
program, or as one that the model does not know and says so. A function that a later glibc brings is in none of the three.
"""
import re
import subprocess

HEADERS = ["pthread.h", "threads.h", "semaphore.h", "sched.h", "mqueue.h", "aio.h", "sys/sem.h", "sys/msg.h", "signal.h", "spawn.h"]

# Making, describing and destroying objects; settings; what concerns one thread or one process alone.
NOTHING = """
pthread_attr_* pthread_mutexattr_* pthread_condattr_* pthread_rwlockattr_* pthread_barrierattr_* posix_spawnattr_* posix_spawn_file_actions_*
pthread_mutex_init pthread_mutex_destroy pthread_mutex_consistent pthread_mutex_consistent_np pthread_mutex_getprioceiling
pthread_cond_init pthread_cond_destroy pthread_rwlock_init pthread_rwlock_destroy pthread_barrier_init pthread_barrier_destroy
pthread_spin_init pthread_spin_destroy mtx_init mtx_destroy cnd_init cnd_destroy sem_init sem_destroy sem_open sem_close sem_unlink sem_getvalue
pthread_self pthread_equal pthread_yield pthread_testcancel pthread_cancel pthread_setcancelstate pthread_kill pthread_sigqueue
pthread_key_create pthread_key_delete pthread_getspecific pthread_setspecific tss_create tss_delete tss_get tss_set
pthread_getaffinity_np pthread_setaffinity_np pthread_getattr_np pthread_getattr_default_np pthread_setattr_default_np pthread_getconcurrency
pthread_setconcurrency pthread_getcpuclockid pthread_getname_np pthread_getschedparam pthread_setschedparam pthread_setschedprio pthread_atfork
pthread_sigmask thrd_current thrd_equal thrd_yield posix_spawn posix_spawnp
sched_get_priority_max sched_get_priority_min sched_getaffinity sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
sched_setparam sched_setscheduler getcpu sched_getcpu setns unshare
mq_close mq_getattr mq_open mq_setattr mq_unlink semget semctl msgget msgctl
kill killpg raise gsignal tgkill sigqueue psiginfo psignal sig*set sigismember sigaltstack sigblock sigsetmask siggetmask sighold sigrelse
sigignore siginterrupt sigpause sigpending sigprocmask sigreturn sigset sigstack sigsuspend sigtimedwait sigwait sigwaitinfo ssignal sysv_signal
__sysv_signal __libc_current_sigrtmax __libc_current_sigrtmin sigisemptyset
__pthread_register_cancel __pthread_register_cancel_defer __pthread_unregister_cancel __pthread_unregister_cancel_restore
__pthread_unwind_next __sigsetjmp_cancel __sysconf
"""

# Threads of libc or of the program that neither the runtime nor the model follows: the model calls these functions unknown.
UNKNOWN = """
clone mq_notify aio_cancel aio_cancel64 aio_error aio_error64 aio_fsync aio_fsync64 aio_init aio_read aio_read64 aio_return aio_return64
aio_suspend aio_suspend64 aio_write aio_write64 lio_listio lio_listio64
"""


def prototypes():
    """The names that the headers declare as functions."""
    source = "#define _GNU_SOURCE\n" + "".join(f"#include <{header}>\n" for header in HEADERS)
    text = subprocess.run(["cc", "-E", "-x", "c", "-"], input=source, capture_output=True, text=True, check=True).stdout
    wanted, parts = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]+)"', line)
        if marker:
            name = marker[1]
            wanted = any(name.endswith("/" + header) for header in HEADERS) or \
                re.search(r"/bits/(pthread|semaphore|thread|sig|sched|mqueue)", name) is not None
        elif wanted:
            parts.append(line)
    return sorted(set(re.findall(r"extern [^;{}]*?\b(\w+) ?\((?=[^*])[^;{}]*;", "\n".join(parts))))


def fits(name, text):
    return any(re.fullmatch(pattern.replace("*", r"\w*"), name) for pattern in text.split())


def missing(rows):
    """Those of which nobody has said what they are."""
    return [name for name in prototypes() if name not in rows and not fits(name, NOTHING) and not fits(name, UNKNOWN)]
