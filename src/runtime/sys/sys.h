/* The kernel, as the runtime uses it. No call here touches errno, allocates, or is a cancellation point. */
#ifndef PT_RUNTIME_SYS_SYS_H
#define PT_RUNTIME_SYS_SYS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "runtime/sys/spin.h"

/* A system call; a failure is the negative error. For the files of this folder: others have functions. */
long pt_sys_call(long number, long a, long b, long c, long d);

/* Zeroed memory that costs nothing until it is touched; NULL when there is none. */
void *pt_sys_reserve(size_t bytes);
/* The same for what is large, stays, and is touched here and there: nothing of it counts as data of the program, which
 * may have limited that (RLIMIT_DATA). */
void *pt_sys_reserve_table(size_t bytes);
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
/* Copies memory that may not be there; false: it is not, or nobody may ask. */
bool pt_sys_read_memory(void *to, const void *from, size_t bytes);
/* Whether there will be barriers for all threads; and one: each has passed it somewhere. False: the kernel was not
 * asked, or does not know it. */
bool pt_sys_start_barriers(void);
bool pt_sys_barrier(void);
/* Whether the kernel says that nothing is there; false also where nobody may ask. */
bool pt_sys_is_unmapped(uintptr_t address);
/* Reserved memory that is filled from one end on, and used here and there. */
void pt_sys_use_huge_pages(void *memory, size_t bytes);
void pt_sys_release(void *memory, size_t bytes);
void pt_sys_release_table(void *table, size_t bytes);
/* What was reserved is zero again, and costs nothing until it is touched. */
void pt_sys_empty(void *memory, size_t bytes);
/* Maps a whole file shared; NULL when fd is no regular memory file of at least `least` bytes. */
void *pt_sys_map_file(int fd, size_t least, size_t *ret_bytes);
/* The contents of a file, in memory of its own; NULL when it cannot be read, is empty, or is absurdly large. */
void *pt_sys_read_file(const char *path, size_t *ret_bytes);
void pt_sys_close(int fd);
/* A file to append messages to, made if need be; negative when that is not possible. */
int pt_sys_open_log(const char *path);
/* An empty file to write to, which no other process writes to meanwhile: PT_SYS_IS_LOCKED if one does, negative when
 * it cannot be made. */
enum { PT_SYS_IS_LOCKED = -100000 };
int pt_sys_create_locked(const char *path);
/* A new file of zeros, mapped shared, as large as it is sparse; NULL: it cannot be made, or is larger than allowed. */
void *pt_sys_map_new(const char *path, size_t bytes);
/* Whether so many bytes are more of the address space, if that is limited, than one table should have. */
bool pt_sys_is_much(size_t bytes);
/* Room on the disk for a part of a sparse file, so that who writes to the mapping is not killed for want of it; false:
 * there is none. */
bool pt_sys_make_room(const char *path, uint64_t from, uint64_t bytes);
/* Memory of this process alone in the place of whole pages of a mapping; false: they are what they were. */
bool pt_sys_make_private(void *memory, size_t bytes);
/* The whole name of a file that may be named from the folder that the process is in now; false: there is no room. */
bool pt_sys_absolute(const char *path, char *ret_path, size_t room);
/* Gives back the room of a part of a file, which then reads as zeros; false: that is not possible there. */
bool pt_sys_punch(int fd, uint64_t from, uint64_t bytes);
bool pt_sys_write_at(int fd, const void *bytes, size_t len, uint64_t offset);
bool pt_sys_write_all(int fd, const void *bytes, size_t len);
/* Writes all of it, or as much as the kernel takes. */
void pt_sys_write(int fd, const char *text, size_t len);
uint64_t pt_sys_process(void);
/* When it was started, in ticks: exec changes neither. 0: not known. */
uint64_t pt_sys_process_start(void);
/* How many threads live in it, the runtime's own too; 0: not known. */
uint64_t pt_sys_thread_count(void);
/* Whether no other thread has been started in this process, by whomever; false where libc does not know. */
bool pt_sys_is_alone(void);
_Noreturn void pt_sys_exit(int status);

/* Nanoseconds of CLOCK_MONOTONIC, and since 1970. */
uint64_t pt_sys_now(void);
/* libc's clock_gettime, in front of which wrap/ stands; set before main. */
typedef int pt_sys_clock(clockid_t clock, struct timespec *to);
extern pt_sys_clock *pt_sys_read_clock;
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
int pt_sys_fstat(int fd, struct stat *ret_about);
int pt_sys_descriptor_flags(int fd); /* of F_GETFL */
/* What /proc calls a descriptor; "" when that is not known. */
void pt_sys_descriptor_text(int fd, char *out, size_t room);
int pt_sys_open(const char *path);
int pt_sys_open_both(const char *path);                                /* for reading and writing */
size_t pt_sys_read_at(int fd, void *out, size_t len, uint64_t offset); /* less than `len` at the end, or on error */
long pt_sys_list(int fd, void *out, size_t len); /* entries of a folder, as getdents64 has them; 0: no more */
int pt_sys_unlink(const char *path);
int pt_sys_chmod(int fd, unsigned mode);
int pt_sys_socket(int family); /* a stream; not blocking, closed on exec */
int pt_sys_connect(int fd, const void *address, size_t len);
int pt_sys_bind(int fd, const void *address, size_t len);
int pt_sys_listen(int fd, int backlog);
int pt_sys_accept(int fd); /* not blocking, closed on exec */
/* The address of a socket, or that of the one it is connected with. */
int pt_sys_socket_address(int fd, bool peer, void *out, uint32_t *len);
int pt_sys_socket_option(int fd, int option); /* a number of SOL_SOCKET */
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
void pt_sys_sleep(uint64_t nanoseconds);

/* The signals that are blocked in the calling thread, as the kernel has them (libc's sigset_t begins with the same):
 * bit n - 1 is signal n. libc's own two are among them. */
#define PT_SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))
uint64_t pt_sys_swap_signal_mask(uint64_t mask); /* returns the one before */
/* Sends the calling thread a signal, with this about it. */
bool pt_sys_queue_signal(int signal, const siginfo_t *info);
uint32_t pt_sys_user(void); /* the process's */
/* The same to another thread of the process, by its number. */
bool pt_sys_queue_signal_to(uint32_t thread, int signal, const siginfo_t *info);
/* rt_sigaction: what libc does not let through for signals of its own. */
struct pt_sys_action {
    void (*handler)(int signal, siginfo_t *info, void *context); /* NULL: the default */
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};
bool pt_sys_signal_action(int signal, const struct pt_sys_action *action, struct pt_sys_action *ret_before);
/* The value of an environment variable, or NULL, even before libc's own constructors have run. */
const char *pt_sys_getenv(const char *name);

/* A stack that ends within what the runtime's own functions need does so here, while nothing is locked, and not in the
 * middle of them: the program may handle that, and go on elsewhere. */
static inline void pt_sys_touch_stack(void)
{
    enum { NEED = 2048 };
    __asm__ volatile("testb $0, %c0(%%rsp)" : : "i"(-NEED) : "cc"); /* by it, so that nobody needs a frame for this */
}

/* A line that will be written soon. (__builtin_prefetch would fetch it for reading.) A no-operation where there is no
 * such instruction. */
static inline void pt_sys_prefetch_write(const void *address)
{
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
}

#endif
