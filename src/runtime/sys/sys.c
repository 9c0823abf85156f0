/*
 * Kernel access of the runtime, in one place. System calls are made directly: libc's wrappers set errno, and some of
 * them are cancellation points or are interposed by this very library.
 *
 * Guarantee: no call here touches errno, allocates, or is a cancellation point. Cost: that of the system call.
 */
#include "runtime/sys/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the runtime knows the system call convention of x86-64 only"
#endif

static long enter(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static atomic_bool quiet;
static __thread bool exempt;

bool pt_sys_is_quiet(void)
{
    return __builtin_expect(atomic_load_explicit(&quiet, memory_order_relaxed), 0) && !exempt;
}

static long call(long number, long a, long b, long c, long d, long e, long f)
{
    if (pt_sys_is_quiet() && number != SYS_write && number != SYS_exit_group)
        return -EPERM;
    return enter(number, a, b, c, d, e, f);
}

long pt_sys_call(long number, long a, long b, long c, long d)
{
    return call(number, a, b, c, d, 0, 0);
}

static bool failed(long result)
{
    return result < 0 && result > -4096;
}

static struct {
    char *memory;
    size_t bytes;
    _Atomic size_t used;
} ahead;

void pt_sys_reserve_ahead(void)
{
    for (size_t bytes = (size_t)1 << 30; !ahead.memory && bytes >= (size_t)1 << 24; bytes /= 4) {
        ahead.memory = pt_sys_reserve(bytes);
        ahead.bytes = bytes;
    }
}

void pt_sys_go_quiet(void)
{
    atomic_store(&quiet, true);
}

void pt_sys_exempt(void)
{
    exempt = true;
}

static void *take_ahead(size_t bytes)
{
    size_t whole = (bytes + 4095) & ~(size_t)4095;
    size_t from = ahead.memory && whole <= ahead.bytes ? atomic_fetch_add(&ahead.used, whole) : ahead.bytes;
    return from <= ahead.bytes && whole <= ahead.bytes - from ? ahead.memory + from : NULL;
}

static long map(long at, size_t bytes, long protection, long flags)
{
    return call(SYS_mmap, at, (long)bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

/* Sparse tables: a huge page for one word would cost 512 times its worth. */
static void *without_huge_pages(long memory, size_t bytes)
{
    if (failed(memory))
        return NULL;
    call(SYS_madvise, memory, (long)bytes, MADV_NOHUGEPAGE, 0, 0, 0);
    return (void *)memory;
}

void *pt_sys_reserve(size_t bytes)
{
    if (pt_sys_is_quiet())
        return take_ahead(bytes);
    return without_huge_pages(map(0, bytes, PROT_READ | PROT_WRITE, 0), bytes);
}

enum { PAGE = 4096 };

/* It counts as a stack. The page below keeps it from growing as a stack would, where an access went astray. */
void *pt_sys_reserve_table(size_t bytes)
{
    if (pt_sys_is_quiet())
        return take_ahead(bytes);
    long below = map(0, bytes + PAGE, PROT_NONE, 0);
    if (failed(below))
        return NULL;
    long memory = map(below + PAGE, bytes, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_GROWSDOWN);
    if (failed(memory))
        call(SYS_munmap, below, (long)bytes + PAGE, 0, 0, 0, 0);
    return without_huge_pages(memory, bytes);
}

void *pt_sys_reserve_unforked(void)
{
    void *page = pt_sys_reserve(4096);
    if (page && failed(call(SYS_madvise, (long)page, 4096, MADV_WIPEONFORK, 0, 0, 0))) {
        pt_sys_release(page, 4096);
        page = NULL;
    }
    return page;
}

void pt_sys_populate(void *memory, size_t bytes)
{
    enum { POPULATE_WRITE = 23 }; /* MADV_POPULATE_WRITE, Linux 5.14 */
    call(SYS_madvise, (long)memory, (long)bytes, POPULATE_WRITE, 0, 0, 0);
}

bool pt_sys_read_memory(void *to, const void *from, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
    return call(SYS_process_vm_readv, pt_sys_process(), (long)&here, 1, (long)&there, 1, 0) == (long)bytes;
}

bool pt_sys_is_unmapped(uintptr_t address)
{
    unsigned char page;
    return call(SYS_mincore, (long)(address & ~(uintptr_t)(PAGE - 1)), 1, (long)&page, 0, 0, 0) == -ENOMEM;
}

void pt_sys_release(void *memory, size_t bytes)
{
    call(SYS_munmap, (long)memory, (long)bytes, 0, 0, 0, 0);
}

void pt_sys_release_table(void *table, size_t bytes)
{
    pt_sys_release((char *)table - PAGE, bytes + PAGE);
}

void pt_sys_empty(void *memory, size_t bytes)
{
    call(SYS_madvise, (long)memory, (long)bytes, MADV_DONTNEED, 0, 0, 0);
}

void pt_sys_use_huge_pages(void *memory, size_t bytes)
{
    call(SYS_madvise, (long)memory, (long)bytes, MADV_HUGEPAGE, 0, 0, 0);
}

void *pt_sys_map_file(int fd, size_t least, size_t *ret_bytes)
{
    struct stat about = {0};
    if (failed(call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0)) || !S_ISREG(about.st_mode) ||
        (size_t)about.st_size < least)
        return NULL;
    long memory = call(SYS_mmap, 0, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (failed(memory))
        return NULL;
    *ret_bytes = (size_t)about.st_size;
    return (void *)memory;
}

static bool read_all(int fd, char *to, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        long got = call(SYS_read, fd, (long)(to + done), (long)(bytes - done), 0, 0, 0);
        if (got == -EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

void *pt_sys_read_file(const char *path, size_t *ret_bytes)
{
    enum { LARGEST = 1 << 30 };
    struct stat about = {0};
    void *memory = NULL;
    long fd = call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0, 0, 0);
    if (failed(fd))
        return NULL;
    if (!failed(call(SYS_fstat, fd, (long)&about, 0, 0, 0, 0)) && S_ISREG(about.st_mode) && about.st_size > 0 &&
        about.st_size <= LARGEST)
        memory = pt_sys_reserve((size_t)about.st_size);
    if (memory && !read_all((int)fd, memory, (size_t)about.st_size)) {
        pt_sys_release(memory, (size_t)about.st_size);
        memory = NULL;
    }
    if (memory)
        *ret_bytes = (size_t)about.st_size;
    pt_sys_close((int)fd);
    return memory;
}

void pt_sys_close(int fd)
{
    call(SYS_close, fd, 0, 0, 0, 0, 0);
}

int pt_sys_open_log(const char *path)
{
    return (int)call(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644, 0, 0);
}

int pt_sys_create_locked(const char *path)
{
    long fd = call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_CLOEXEC, 0644, 0, 0);
    if (failed(fd))
        return (int)fd;
    if (call(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0) == -EWOULDBLOCK) {
        pt_sys_close((int)fd);
        return PT_SYS_IS_LOCKED;
    }
    call(SYS_ftruncate, fd, 0, 0, 0, 0, 0); /* what is no file has nothing to cut off */
    return (int)fd;
}

static uint64_t limit_of(long resource)
{
    struct rlimit limit = {0};
    return call(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0) == 0 ? limit.rlim_cur : 0;
}

bool pt_sys_is_much(size_t bytes)
{
    enum { PART = 16 };
    return limit_of(RLIMIT_AS) / PART < bytes;
}

void *pt_sys_map_new(const char *path, size_t bytes)
{
    if (limit_of(RLIMIT_FSIZE) < bytes)
        return NULL; /* trying would be a signal */
    long fd = call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644, 0, 0);
    if (failed(fd))
        return NULL;
    long memory = call(SYS_ftruncate, fd, (long)bytes, 0, 0, 0, 0);
    if (!failed(memory))
        memory = call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    pt_sys_close((int)fd);
    if (!failed(memory))
        return (void *)memory;
    pt_sys_unlink(path);
    return NULL;
}

bool pt_sys_make_room(const char *path, uint64_t from, uint64_t bytes)
{
    static const char zeros[PAGE];
    long fd = call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (failed(fd))
        return false;
    long result = call(SYS_fallocate, fd, 0, (long)from, (long)bytes, 0, 0);
    if (result == -EOPNOTSUPP)
        for (uint64_t at = 0, part; at < bytes && !failed(result); at += part) {
            part = bytes - at < PAGE ? bytes - at : PAGE;
            result = pt_sys_write_at((int)fd, zeros, part, from + at) ? 0 : -ENOSPC;
        }
    pt_sys_close((int)fd);
    return !failed(result);
}

bool pt_sys_make_private(void *memory, size_t bytes)
{
    return !failed(map((long)memory, bytes, PROT_READ | PROT_WRITE, MAP_FIXED));
}

bool pt_sys_absolute(const char *path, char *ret_path, size_t room)
{
    size_t len = strlen(path), before = 0;
    if (path[0] != '/') {
        long got = call(SYS_getcwd, (long)ret_path, (long)room, 0, 0, 0, 0);
        if (failed(got) || got < 2)
            return false;
        before = (size_t)got; /* with the 0, which becomes the slash */
        ret_path[before - 1] = '/';
    }
    if (len >= room - before)
        return false;
    memcpy(ret_path + before, path, len + 1);
    return true;
}

bool pt_sys_punch(int fd, uint64_t from, uint64_t bytes)
{
    return call(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (long)from, (long)bytes, 0, 0) == 0;
}

bool pt_sys_write_at(int fd, const void *bytes, size_t len, uint64_t offset)
{
    return call(SYS_pwrite64, fd, (long)bytes, (long)len, (long)offset, 0, 0) == (long)len;
}

bool pt_sys_write_all(int fd, const void *bytes, size_t len)
{
    for (const char *at = bytes; len;) {
        long done = call(SYS_write, fd, (long)at, (long)len, 0, 0, 0);
        if (done == -EINTR)
            continue;
        if (done <= 0)
            return false;
        at += done;
        len -= (size_t)done;
    }
    return true;
}

void pt_sys_write(int fd, const char *text, size_t len)
{
    (void)pt_sys_write_all(fd, text, len);
}

uint64_t pt_sys_process(void)
{
    return (uint64_t)call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* What the kernel says of the process behind its name, which may have anything in it: from the state of its first
 * thread on. */
static const char *read_state(char *text, size_t room)
{
    long fd = call(SYS_openat, AT_FDCWD, (long)"/proc/self/stat", O_RDONLY | O_CLOEXEC, 0, 0, 0);
    long len = failed(fd) ? 0 : call(SYS_read, fd, (long)text, (long)room - 1, 0, 0, 0);
    if (!failed(fd))
        pt_sys_close((int)fd);
    text[len > 0 ? len : 0] = '\0';
    const char *at = strrchr(text, ')');
    return at && at[1] == ' ' ? at + 2 : "";
}

uint64_t pt_sys_process_start(void)
{
    enum { FIELD = 19 };
    char text[1024];
    const char *at = read_state(text, sizeof text);
    for (unsigned field = 0; *at && field < FIELD; at++)
        field += *at == ' ';
    uint64_t start = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        start = start * 10 + (uint64_t)(*at - '0');
    return start;
}

extern char __libc_single_threaded __attribute__((weak)); /* glibc 2.32 */

bool pt_sys_is_alone(void)
{
    return &__libc_single_threaded && __libc_single_threaded;
}

/* A folder for each, and two names of its own. The first one stays there when it has ended. */
uint64_t pt_sys_thread_count(void)
{
    char text[1024];
    struct stat about = {0};
    if (failed(call(SYS_stat, (long)"/proc/self/task", (long)&about, 0, 0, 0, 0)) || about.st_nlink <= 2)
        return 0;
    return about.st_nlink - 2 - (*read_state(text, sizeof text) == 'Z');
}

_Noreturn void pt_sys_exit(int status)
{
    for (;;)
        call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

pt_sys_clock *pt_sys_read_clock;

/* These two go through libc to the vDSO, which costs no system call, as soon as it is known; they do not fail. */
static uint64_t time_of(clockid_t clock)
{
    struct timespec time = {0};
    if (pt_sys_read_clock)
        pt_sys_read_clock(clock, &time);
    else
        call(SYS_clock_gettime, clock, (long)&time, 0, 0, 0, 0);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t pt_sys_now(void)
{
    return time_of(CLOCK_MONOTONIC);
}

uint64_t pt_sys_wall(void)
{
    return time_of(CLOCK_REALTIME);
}

uint32_t pt_sys_thread(void)
{
    return (uint32_t)call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

void pt_sys_program(char *out, size_t room)
{
    long len = call(SYS_readlink, (long)"/proc/self/exe", (long)out, (long)room - 1, 0, 0, 0);
    out[failed(len) ? 0 : len] = 0;
}

bool pt_sys_same_file(const char *a, const char *b)
{
    struct stat one = {0}, other = {0};
    return !failed(call(SYS_stat, (long)a, (long)&one, 0, 0, 0, 0)) &&
           !failed(call(SYS_stat, (long)b, (long)&other, 0, 0, 0, 0)) && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int pt_sys_lstat(const char *path, struct stat *ret_about)
{
    return (int)call(SYS_lstat, (long)path, (long)ret_about, 0, 0, 0, 0);
}

int pt_sys_fstat(int fd, struct stat *ret_about)
{
    return (int)call(SYS_fstat, fd, (long)ret_about, 0, 0, 0, 0);
}

int pt_sys_descriptor_flags(int fd)
{
    return (int)call(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
}

void pt_sys_descriptor_text(int fd, char *out, size_t room)
{
    char path[40] = "/proc/self/fd/", digits[12];
    size_t at = strlen(path), count = 0;
    for (unsigned rest = (unsigned)fd; count == 0 || rest; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count)
        path[at++] = digits[--count];
    long len = call(SYS_readlink, (long)path, (long)out, (long)room - 1, 0, 0, 0);
    out[failed(len) ? 0 : len] = 0;
}

int pt_sys_open(const char *path)
{
    return (int)call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
}

int pt_sys_open_both(const char *path)
{
    return (int)call(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
}

long pt_sys_list(int fd, void *out, size_t len)
{
    return call(SYS_getdents64, fd, (long)out, (long)len, 0, 0, 0);
}

size_t pt_sys_read_at(int fd, void *out, size_t len, uint64_t offset)
{
    size_t done = 0;
    while (done < len) {
        long part = call(SYS_pread64, fd, (long)out + (long)done, (long)(len - done), (long)(offset + done), 0, 0);
        if (part == -EINTR)
            continue;
        if (part <= 0)
            break;
        done += (size_t)part;
    }
    return done;
}

int pt_sys_unlink(const char *path)
{
    return (int)call(SYS_unlink, (long)path, 0, 0, 0, 0, 0);
}

int pt_sys_chmod(int fd, unsigned mode)
{
    return (int)call(SYS_fchmod, fd, mode, 0, 0, 0, 0);
}

int pt_sys_socket(int family)
{
    return (int)call(SYS_socket, family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, 0, 0, 0);
}

int pt_sys_connect(int fd, const void *address, size_t len)
{
    return (int)call(SYS_connect, fd, (long)address, (long)len, 0, 0, 0);
}

int pt_sys_bind(int fd, const void *address, size_t len)
{
    return (int)call(SYS_bind, fd, (long)address, (long)len, 0, 0, 0);
}

int pt_sys_listen(int fd, int backlog)
{
    return (int)call(SYS_listen, fd, backlog, 0, 0, 0, 0);
}

int pt_sys_accept(int fd)
{
    return (int)call(SYS_accept4, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC, 0, 0);
}

int pt_sys_socket_address(int fd, bool peer, void *out, uint32_t *len)
{
    return (int)call(peer ? SYS_getpeername : SYS_getsockname, fd, (long)out, (long)len, 0, 0, 0);
}

int pt_sys_socket_option(int fd, int option)
{
    int value = 0;
    uint32_t size = sizeof value;
    long error = call(SYS_getsockopt, fd, SOL_SOCKET, option, (long)&value, (long)&size, 0);
    return failed(error) ? (int)error : value;
}

static void set_option(int fd, int level, int option)
{
    int yes = 1;
    call(SYS_setsockopt, fd, level, option, (long)&yes, sizeof yes, 0);
}

void pt_sys_reuse_address(int fd)
{
    set_option(fd, SOL_SOCKET, SO_REUSEADDR);
}

void pt_sys_no_delay(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY);
}

long pt_sys_send(int fd, const void *bytes, size_t len)
{
    return call(SYS_sendto, fd, (long)bytes, (long)len, MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
}

long pt_sys_receive(int fd, void *out, size_t len)
{
    return call(SYS_recvfrom, fd, (long)out, (long)len, MSG_DONTWAIT, 0, 0);
}

int pt_sys_receive_fd(int fd)
{
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    char byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    long result = call(SYS_recvmsg, fd, (long)&message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, 0, 0, 0);
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    int received;
    if (result < 0)
        return (int)result;
    if (result != 1 || !head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len != CMSG_LEN(sizeof received))
        return -ENODATA;
    memcpy(&received, CMSG_DATA(head), sizeof received);
    return received;
}

int pt_sys_poll(struct pollfd *fds, unsigned count, int64_t nanoseconds)
{
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    return (int)call(SYS_ppoll, (long)fds, count, nanoseconds < 0 ? 0 : (long)&limit, 0, 0, 0);
}

void pt_sys_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t nanoseconds)
{
    struct timespec limit = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                             .tv_nsec = (long)(nanoseconds % 1000000000u)};
    call(SYS_futex, (long)word, FUTEX_WAIT, seen, (long)&limit, 0, 0);
}

bool pt_sys_start_barriers(void)
{
    return call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0 && pt_sys_barrier();
}

bool pt_sys_barrier(void)
{
    return call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

void pt_sys_wake(_Atomic uint32_t *word)
{
    call(SYS_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
}

void pt_sys_wake_all(_Atomic uint32_t *word)
{
    call(SYS_futex, (long)word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

void pt_sys_sleep(uint64_t nanoseconds)
{
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000u),
                            .tv_nsec = (long)(nanoseconds % 1000000000u)};
    call(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
}

enum { SIGSET_BYTES = 8 /* of the kernel: 64 signals */ };

uint64_t pt_sys_swap_signal_mask(uint64_t mask)
{
    uint64_t before = 0;
    call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, SIGSET_BYTES, 0, 0);
    return before;
}

uint32_t pt_sys_user(void)
{
    return (uint32_t)call(SYS_getuid, 0, 0, 0, 0, 0, 0);
}

bool pt_sys_queue_signal_to(uint32_t thread, int signal, const siginfo_t *info)
{
    return !failed(call(SYS_rt_tgsigqueueinfo, (long)pt_sys_process(), (long)thread, signal, (long)info, 0, 0));
}

bool pt_sys_queue_signal(int signal, const siginfo_t *info)
{
    return pt_sys_queue_signal_to(pt_sys_thread(), signal, info);
}

bool pt_sys_signal_action(int signal, const struct pt_sys_action *action, struct pt_sys_action *ret_before)
{
    return !failed(call(SYS_rt_sigaction, signal, (long)action, (long)ret_before, SIGSET_BYTES, 0, 0));
}

const char *pt_sys_getenv(const char *name)
{
    size_t length = 0;
    while (name[length])
        length++;
    for (char **entry = environ; entry && *entry; entry++) {
        size_t i = 0;
        while (i < length && (*entry)[i] == name[i])
            i++;
        if (i == length && (*entry)[i] == '=')
            return *entry + length + 1;
    }
    return NULL;
}
