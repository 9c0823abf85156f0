/* A seccomp filter that refuses to open files and to make processes: threads and writes go on.
 * holds: x <= 4
 * violated: x != 4
 * ordered: yes
 */
#include "say.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int x;

static void *worker(void *given)
{
    SAY(x, x + 1);
    return given;
}

int main(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    SAY(x, 1);
    NEED(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    printf("%d\n", open("/dev/null", O_RDONLY) == -1 && errno == EPERM);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
        pthread_join(thread, NULL);
    }
    printf("%d\n", x);
    return 0;
}
