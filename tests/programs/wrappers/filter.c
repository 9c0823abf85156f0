/* Installs a seccomp filter and then counts, in another thread as well; everything but a few calls is refused with an
 * error, or kills the process: `strict`, `errno`, `kill`. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int level;
int many[5000];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5000; i++) {
        pthread_mutex_lock(&lock);
        level++;
        many[i] = level;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* What a plain threaded program needs, and nothing more. */
static int install(unsigned otherwise)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(read),
        ALLOW(write),
        ALLOW(exit),
        ALLOW(exit_group),
        ALLOW(futex),
        ALLOW(mmap),
        ALLOW(mprotect),
        ALLOW(munmap),
        ALLOW(madvise),
        ALLOW(clone3),
        ALLOW(clone),
        ALLOW(set_robust_list),
        ALLOW(rseq),
        ALLOW(rt_sigprocmask),
        ALLOW(brk),
        ALLOW(fstat),
        ALLOW(newfstatat),
        ALLOW(rt_sigreturn),
        ALLOW(rt_sigaction),
        ALLOW(getrandom),
        BPF_STMT(BPF_RET | BPF_K, otherwise),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "errno";
    static const char done[] = "done\n";
    pthread_t thread;
    if (strcmp(how, "strict") == 0) {
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
            return 3;
        work(NULL);
        if (write(1, done, sizeof done - 1) < 0)
            level = -1;
        syscall(SYS_exit, 0); /* exit_group is not allowed */
    }
    if (install(strcmp(how, "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM))
        return 3;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    pthread_join(thread, NULL);
    if (write(1, done, sizeof done - 1) < 0)
        return 4;
    return 0;
}
