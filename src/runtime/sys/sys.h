/* The kernel, as the runtime uses it. No call here touches errno, allocates, or is a cancellation point. */
#ifndef PT_RUNTIME_SYS_SYS_H
#define PT_RUNTIME_SYS_SYS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory that costs nothing until it is touched; NULL when there is none. */
void *pt_sys_reserve(size_t bytes);
/* A seccomp filter refuses what it does not know, or kills the process for it. Before one is installed, memory is
 * reserved ahead; afterwards the kernel is asked for nothing any more but to write and to exit, whatever the filter
 * lets through: every other call fails, and memory comes from what was reserved. Waiting is then spinning. */
void pt_sys_reserve_ahead(void);
void pt_sys_go_quiet(void);
bool pt_sys_is_quiet(void);
/* The calling thread is the runtime's own and older than any filter, which is not for it. */
void pt_sys_exempt(void);
/* A page that is zero again in every process that is forked; NULL when the kernel cannot. */
void *pt_sys_reserve_unforked(void);
/* Makes whole pages ready for writing, if the kernel can. */
void pt_sys_populate(void *memory, size_t bytes);
void pt_sys_release(void *memory, size_t bytes);
/* Maps a whole file shared; NULL when fd is no regular memory file of at least `least` bytes. */
void *pt_sys_map_file(int fd, size_t least, size_t *ret_bytes);
/* The contents of a file, in memory of its own; NULL when it cannot be read, is empty, or is absurdly large. */
void *pt_sys_read_file(const char *path, size_t *ret_bytes);
void pt_sys_close(int fd);
/* A file to append messages to, made if need be; negative when that is not possible. */
int pt_sys_open_log(const char *path);
/* Writes all of it, or as much as the kernel takes. */
void pt_sys_write(int fd, const char *text, size_t len);
uint64_t pt_sys_process(void);
_Noreturn void pt_sys_exit(int status);

/* Nanoseconds of CLOCK_MONOTONIC, and since 1970. */
uint64_t pt_sys_now(void);
uint64_t pt_sys_wall(void);
/* The calling thread's id in the kernel. */
uint32_t pt_sys_thread(void);
/* The program's own file; "" when unknown. */
void pt_sys_program(char *out, size_t room);

/* Files and sockets, for the event stream: as the system calls, but a failure is the negative error. */
struct stat;
struct pollfd;
/* Whether both paths lead to one file. */
bool pt_sys_same_file(const char *a, const char *b);
int pt_sys_lstat(const char *path, struct stat *ret_about);
int pt_sys_open(const char *path);
size_t pt_sys_read_at(int fd, void *out, size_t len, uint64_t offset); /* less than `len` at the end, or on error */
int pt_sys_unlink(const char *path);
int pt_sys_chmod(int fd, unsigned mode);
int pt_sys_socket(int family); /* a stream; not blocking, closed on exec */
int pt_sys_connect(int fd, const void *address, size_t len);
int pt_sys_bind(int fd, const void *address, size_t len);
int pt_sys_listen(int fd, int backlog);
int pt_sys_accept(int fd); /* not blocking, closed on exec */
void pt_sys_reuse_address(int fd);
void pt_sys_no_delay(int fd); /* of TCP; harmless for others */
long pt_sys_send(int fd, const void *bytes, size_t len);
long pt_sys_receive(int fd, void *out, size_t len);
int pt_sys_receive_fd(int fd); /* a descriptor that comes as a message of one byte; closed on exec */
int pt_sys_poll(struct pollfd *fds, unsigned count, int64_t nanoseconds); /* negative time: for ever */

/* Waits until *word differs from `seen`, is woken, or `nanoseconds` have passed. Works between processes. */
void pt_sys_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t nanoseconds);
void pt_sys_wake(_Atomic uint32_t *word);
void pt_sys_wake_all(_Atomic uint32_t *word);
void pt_sys_yield(void);
void pt_sys_sleep(uint64_t nanoseconds);

void pt_sys_signal_mask(sigset_t *ret_mask);
void pt_sys_set_signal_mask(const sigset_t *mask);
/* The value of an environment variable, or NULL, even before libc's own constructors have run. */
const char *pt_sys_getenv(const char *name);

/* A lock for short sections that no signal handler of the program can enter (see signal.c). */
struct pt_spin {
    _Atomic uint32_t locked;
};
/* One step of waiting for another thread: first the processor's pause, later the scheduler's. */
static inline void pt_sys_pause(unsigned *turn)
{
    if (++*turn < 64)
        __builtin_ia32_pause();
    else
        pt_sys_yield();
}
static inline void pt_spin_lock(struct pt_spin *lock)
{
    unsigned turn = 0;
    /* acquire: partner of the release in pt_spin_unlock */
    while (atomic_exchange_explicit(&lock->locked, 1, memory_order_acquire))
        pt_sys_pause(&turn);
}
static inline void pt_spin_unlock(struct pt_spin *lock)
{
    atomic_store_explicit(&lock->locked, 0, memory_order_release);
}

/* A line that will be written soon. (__builtin_prefetch would fetch it for reading.) A no-operation where there is no
 * such instruction. */
static inline void pt_sys_prefetch_write(const void *address)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
}

#endif
