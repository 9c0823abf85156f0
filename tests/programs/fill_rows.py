"""For every row of src/core/sync.def that fills memory, a call whose filled value a property must see.

CASES maps a row's name to (declaration, statements, what is seen). X stands for a variable of the case's own, which the statements have
filled and no instrumented code writes; the last column is true of it then, and not before. A name with a colon is a further case of the
row before the colon: something else that the function fills. `program` makes one C program of them, a line for each, and its properties.
"""
import ctypes
import re

import sync_rows

INT, LONG, TEXT = "int X", "long X", "char X[64]"
TEN = "X == 10"
# Rows without a case here, and why.
ELSEWHERE = {"__cxa_guard_release": "of C++, in run_cc.py", "__cxa_guard_acquire": "of C++, in run_races.py"}

HEAD = r"""
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int ten = 10;
static volatile size_t four = 4, eight = 8, much = 64;
static const char *volatile abc = "abc", *volatile abcd = "abcd";
static struct timespec limit = {1LL << 32, 0};

/* The reading ends of a pipe, a file, a stream and a socket with something in them. */
static int full_pipe(void)
{
    int ends[2];
    if (pipe(ends) || write(ends[1], &ten, sizeof ten) != sizeof ten)
        abort();
    return ends[0];
}
static int full_file(void)
{
    int fd = fileno(tmpfile());
    if (write(fd, &ten, sizeof ten) != sizeof ten || lseek(fd, 0, SEEK_SET))
        abort();
    return fd;
}
static FILE *stream(const char *text)
{
    FILE *made = tmpfile();
    fputs(text, made);
    rewind(made);
    return made;
}
static FILE *tens(void) { return stream("\n\0\0"); }
static void input(const char *text)
{
    fflush(stdin);
    if (!freopen(NULL, "r", stdin) || dup2(fileno(stream(text)), 0) != 0)
        abort();
    lseek(0, 0, SEEK_SET);
}
static int full_socket(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) || send(ends[1], &ten, sizeof ten, 0) != sizeof ten)
        abort();
    return ends[0];
}
static int listening(struct sockaddr_in *address)
{
    socklen_t size = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)address, size) || listen(fd, 4) || getsockname(fd, (struct sockaddr *)address, &size))
        abort();
    return fd;
}
static int called(void)
{
    struct sockaddr_in address;
    int fd = listening(&address);
    if (connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address))
        abort();
    return fd;
}
static int caller(void)
{
    struct sockaddr_in address;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    listening(&address);
    if (connect(fd, (struct sockaddr *)&address, sizeof address))
        abort();
    return fd;
}
static int datagram(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    int fd = socket(AF_INET, SOCK_DGRAM, 0), other = socket(AF_INET, SOCK_DGRAM, 0);
    address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (bind(fd, (struct sockaddr *)&address, size) || getsockname(fd, (struct sockaddr *)&address, &size) ||
        sendto(other, &ten, sizeof ten, 0, (struct sockaddr *)&address, size) != sizeof ten)
        abort();
    return fd;
}
static int polled(void)
{
    int fd = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = 10};
    epoll_ctl(fd, EPOLL_CTL_ADD, full_pipe(), &event);
    return fd;
}

static void *give_ten(void *unused) { (void)unused; return (void *)10; }
static int give_ten_c11(void *unused) { (void)unused; return 10; }
static pthread_t posix(void) { pthread_t made; pthread_create(&made, NULL, give_ten, NULL); return made; }
static thrd_t c11(void) { thrd_t made; thrd_create(&made, give_ten_c11, NULL); return made; }
static pid_t child(void) { pid_t made = fork(); if (made == 0) _exit(10); return made; }

static void nothing(int signal) { (void)signal; }
static void interrupt_soon(void)
{
    struct sigaction action = {.sa_handler = nothing};
    struct itimerval soon = {.it_value = {0, 50000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
}
static sigset_t raised(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    return set;
}
static int smaller(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int smaller_too(const void *a, const void *b, void *c) { (void)c; return *(const int *)a - *(const int *)b; }

/* What headers do not declare, or declare under another name. */
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off_t, size_t);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
ssize_t __getdelim(char **, size_t *, int, FILE *);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
char *__getcwd_chk(char *, size_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __sprintf_chk(char *, int, size_t, const char *, ...);
int __vsprintf_chk(char *, int, size_t, const char *, va_list);
int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
int __asprintf_chk(char **, int, const char *, ...);
int __vasprintf_chk(char **, int, const char *, va_list);
void *__memcpy_chk(void *, const void *, size_t, size_t);
void *__memmove_chk(void *, const void *, size_t, size_t);
void *__memset_chk(void *, int, size_t, size_t);
void *__mempcpy_chk(void *, const void *, size_t, size_t);
char *__strcpy_chk(char *, const char *, size_t);
char *__stpcpy_chk(char *, const char *, size_t);
char *__strncpy_chk(char *, const char *, size_t, size_t);
char *__stpncpy_chk(char *, const char *, size_t, size_t);
char *__strcat_chk(char *, const char *, size_t);
char *__strncat_chk(char *, const char *, size_t, size_t);
int __xpg_strerror_r(int, char *, size_t);
"""
SCANS = [prefix + name for prefix in ("", "__isoc99_", "__isoc23_") for name in ("scanf", "fscanf", "sscanf", "vscanf", "vfscanf", "vsscanf")]
NUMBERS = [prefix + name for prefix in ("", "__isoc23_") for name in ("strtol", "strtoll", "strtoul", "strtoull")]
FIRST = {"scanf": "", "fscanf": "FILE *, ", "sscanf": "const char *, "}


def scan_case(name):
    """A scan of "10", and the function that makes a list of its arguments where the function wants one."""
    plain = name[name.rindex("_") + 1:] if name.startswith("__") else name
    kind = plain.lstrip("v")
    first = {"scanf": "", "fscanf": 'stream("10"), ', "sscanf": '"10", '}[kind]
    before = 'input("10"); ' if kind == "scanf" else ""
    return INT, f'{before}call_{name}({first}"%d", &X);', TEN


def scan_declaration(name):
    plain = name[name.rindex("_") + 1:] if name.startswith("__") else name
    first = FIRST[plain.lstrip("v")]
    if not plain.startswith("v"):
        return f'int call_{name}({first}const char *, ...) __asm__("{name}");\n'
    named, passed = (first.replace(", ", "from, "), "from, ") if first else ("", "")
    return (f'int list_{name}({first}const char *, va_list) __asm__("{name}");\n'
            f"static int call_{name}({named}const char *format, ...)\n{{ va_list list; va_start(list, format); "
            f"int result = list_{name}({passed}format, list); va_end(list); return result; }}\n")


def lists(name, first):
    """The functions of the printf family that take a list."""
    types = ", ".join(kind + to for kind, to in first)
    passed = ", ".join(to.lstrip("*") for _, to in first)
    return (f"static int call_{name}({types}, const char *format, ...)\n{{ va_list list; va_start(list, format); "
            f"int result = {name}({passed}, format, list); va_end(list); return result; }}\n")


LISTS = {"vsprintf": [("char ", "*to")], "vsnprintf": [("char ", "*to"), ("size_t ", "size")], "vasprintf": [("char *", "*to")],
         "__vsprintf_chk": [("char ", "*to"), ("int ", "flag"), ("size_t ", "room")], "__vasprintf_chk": [("char *", "*to"), ("int ", "flag")],
         "__vsnprintf_chk": [("char ", "*to"), ("size_t ", "size"), ("int ", "flag"), ("size_t ", "room")]}
ABC = 'X == "abc"'
# Descriptors 4 and 5, of which only 4 has something to read.
SET = "{ dup2(full_pipe(), 4); int dry[2]; pipe(dry); dup2(dry[0], 5); X = 48;"
CASES = {
    "pthread_create": ("pthread_t X", "pthread_create(&X, NULL, give_ten, NULL); pthread_join(X, NULL);", "X != 0"),
    "thrd_create": ("thrd_t X", "thrd_create(&X, give_ten_c11, NULL); thrd_join(X, NULL);", "X != 0"),
    "pthread_join": (LONG, "pthread_join(posix(), (void **)&X);", TEN),
    "pthread_tryjoin_np": (LONG, "{ pthread_t t = posix(); while (pthread_tryjoin_np(t, (void **)&X)) usleep(1000); }", TEN),
    "pthread_timedjoin_np": (LONG, "pthread_timedjoin_np(posix(), (void **)&X, &limit);", TEN),
    "pthread_clockjoin_np": (LONG, "pthread_clockjoin_np(posix(), (void **)&X, CLOCK_REALTIME, &limit);", TEN),
    "thrd_join": (INT, "thrd_join(c11(), &X);", TEN),
    "pthread_setcanceltype": (INT, "pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL); pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &X);",
                              "X == 1"),
    "pthread_setcancelstate": (INT, "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &X);",
                               "X == 1"),
    "sigaction": ("struct sigaction X", "signal(SIGUSR2, SIG_IGN); sigaction(SIGUSR2, NULL, &X);", "X.sa_flags != 0"),
    "nanosleep": ("struct timespec X", "{ struct timespec t = {9, 0}; interrupt_soon(); nanosleep(&t, &X); }", "X.tv_sec == 8"),
    "clock_nanosleep": ("struct timespec X", "{ struct timespec t = {9, 0}; interrupt_soon(); clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &X); }",
                        "X.tv_sec == 8"),
    "thrd_sleep": ("struct timespec X", "{ struct timespec t = {9, 0}; interrupt_soon(); thrd_sleep(&t, &X); }", "X.tv_sec == 8"),
    "memcpy": (INT, "memcpy(&X, &ten, four);", TEN),
    "memmove": (INT, "memmove(&X, &ten, four);", TEN),
    "memset": (INT, "memset(&X, 1, four);", "X == 16843009"),
    "__memcpy_chk": (INT, "__memcpy_chk(&X, &ten, four, much);", TEN),
    "__memmove_chk": (INT, "__memmove_chk(&X, &ten, four, much);", TEN),
    "__memset_chk": (INT, "__memset_chk(&X, 1, four, much);", "X == 16843009"),
    "strcpy": (TEXT, "strcpy(X, abc);", ABC),
    "__strcpy_chk": (TEXT, "__strcpy_chk(X, abc, much);", ABC),
    "stpcpy": (TEXT, "stpcpy(X, abc);", ABC),
    "__stpcpy_chk": (TEXT, "__stpcpy_chk(X, abc, much);", ABC),
    "strncpy": (TEXT, "strncpy(X, abc, eight);", ABC),
    "__strncpy_chk": (TEXT, "__strncpy_chk(X, abc, eight, much);", ABC),
    "stpncpy": (TEXT, "stpncpy(X, abc, eight);", ABC),
    "__stpncpy_chk": (TEXT, "__stpncpy_chk(X, abc, eight, much);", ABC),
    "strcat": (TEXT, "strcat(X, abc);", ABC),
    "__strcat_chk": (TEXT, "__strcat_chk(X, abc, much);", ABC),
    "strncat": (TEXT, "strncat(X, abc, eight);", ABC),
    "__strncat_chk": (TEXT, "__strncat_chk(X, abc, eight, much);", ABC),
    "snprintf": (TEXT, 'snprintf(X, much, "%s", abc);', ABC),
    "vsnprintf": (TEXT, 'call_vsnprintf(X, much, "%s", abc);', ABC),
    "__snprintf_chk": (TEXT, '__snprintf_chk(X, much, 0, much, "%s", abc);', ABC),
    "__vsnprintf_chk": (TEXT, 'call___vsnprintf_chk(X, much, 0, much, "%s", abc);', ABC),
    "read": (INT, "read(full_pipe(), &X, four);", TEN),
    "__read_chk": (INT, "__read_chk(full_pipe(), &X, four, much);", TEN),
    "pread": (INT, "pread(full_file(), &X, four, 0);", TEN),
    "pread64": (INT, "pread64(full_file(), &X, four, 0);", TEN),
    "__pread_chk": (INT, "__pread_chk(full_file(), &X, four, 0, much);", TEN),
    "__pread64_chk": (INT, "__pread64_chk(full_file(), &X, four, 0, much);", TEN),
    "readv": ("short X", "{ short other; struct iovec v[] = {{&X, 2}, {&other, 2}}; readv(full_pipe(), v, 2); }", TEN),
    "readv:second": ("char X", "{ int at[1]; ten = 10 << 24; int fd = full_pipe(); ten = 10; struct iovec v[] = {{at, 3}, {&X, 9}}; readv(fd, v, 2); }",
                     TEN),
    "preadv": ("short X", "{ short other; struct iovec v[] = {{&X, 2}, {&other, 2}}; preadv(full_file(), v, 2, 0); }", TEN),
    "preadv64": ("short X", "{ short other; struct iovec v[] = {{&X, 2}, {&other, 2}}; preadv64(full_file(), v, 2, 0); }", TEN),
    "fread": ("char X", "fread(&X, 1, 1, tens());", TEN),
    "fread_unlocked": ("char X[64]", "fread_unlocked(X, 1, four, stream(abc));", ABC),
    "__fread_chk": ("char X", "__fread_chk(&X, 1, 1, 1, tens());", TEN),
    "fgets": (TEXT, "fgets(X, 60, stream(abc));", ABC),
    "fgets_unlocked": (TEXT, "fgets_unlocked(X, 60, stream(abc));", ABC),
    "__fgets_chk": (TEXT, "__fgets_chk(X, 64, 60, stream(abc));", ABC),
    "getline": (LONG, "{ size_t n = 0; getline((char **)&X, &n, stream(abc)); }", "X != 0"),
    "getline:size": (LONG, "{ char *line = NULL; getline(&line, (size_t *)&X, stream(abc)); }", "X > 3"),
    "getdelim": (LONG, "{ size_t n = 0; getdelim((char **)&X, &n, 'c', stream(abc)); }", "X != 0"),
    "__getdelim": (LONG, "{ size_t n = 0; __getdelim((char **)&X, &n, 'c', stream(abc)); }", "X != 0"),
    "readlink": (TEXT, 'readlink("/proc/self", X, 60);', 'X != ""'),
    "__readlink_chk": (TEXT, '__readlink_chk("/proc/self", X, 60, 64);', 'X != ""'),
    "getcwd": ("char X[4096]", "getcwd(X, sizeof X);", 'X != ""'),
    "__getcwd_chk": ("char X[4096]", "__getcwd_chk(X, sizeof X, sizeof X);", 'X != ""'),
    "realpath": ("char X[4096]", 'realpath("/proc/self/../", X);', 'X == "/proc"'),
    "getrandom": ("long X[2]", "getrandom(X, sizeof X, 0);", "X[1] != 0"),
    "getentropy": ("long X[2]", "getentropy(X, sizeof X);", "X[1] != 0"),
    "pipe": ("int X[2]", "pipe(X);", "X[1] != 0"),
    "pipe2": ("int X[2]", "pipe2(X, O_CLOEXEC);", "X[1] != 0"),
    "stat": ("struct stat X", 'stat("/", &X);', "X.st_mode != 0"),
    "lstat": ("struct stat X", 'lstat("/", &X);', "X.st_mode != 0"),
    "fstat": ("struct stat X", "fstat(full_file(), &X);", "X.st_size == 4"),
    "fstatat": ("struct stat X", 'fstatat(AT_FDCWD, "/", &X, 0);', "X.st_mode != 0"),
    "stat64": ("struct stat64 X", 'stat64("/", &X);', "X.st_mode != 0"),
    "lstat64": ("struct stat64 X", 'lstat64("/", &X);', "X.st_mode != 0"),
    "fstat64": ("struct stat64 X", "fstat64(full_file(), &X);", "X.st_size == 4"),
    "ioctl": (INT, "ioctl(full_pipe(), FIONREAD, &X);", "X == 4"),
    "recv": (INT, "recv(full_socket(), &X, four, 0);", TEN),
    "__recv_chk": (INT, "__recv_chk(full_socket(), &X, four, much, 0);", TEN),
    "recvfrom": (INT, "recvfrom(datagram(), &X, four, 0, NULL, NULL);", TEN),
    "recvfrom:address": ("struct sockaddr_in X", "{ socklen_t n = sizeof X; recvfrom(datagram(), &(int){0}, four, 0, (struct sockaddr *)&X, &n); }",
                         "X.sin_port != 0"),
    "recvfrom:length": (INT, "{ struct sockaddr_in a; X = 40; recvfrom(datagram(), &(int){0}, four, 0, (struct sockaddr *)&a, (socklen_t *)&X); }",
                        "X == 16"),
    "__recvfrom_chk": (INT, "__recvfrom_chk(datagram(), &X, four, much, 0, NULL, NULL);", TEN),
    "recvmsg": (INT, "{ struct iovec v = {&X, 4}; struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1}; recvmsg(full_socket(), &m, 0); }", TEN),
    "recvmsg:address": ("struct sockaddr_in X", "{ int i; struct iovec v = {&i, 4}; struct msghdr m = {&X, sizeof X, &v, 1}; recvmsg(datagram(), &m, 0); }",
                        "X.sin_port != 0"),
    "recvmsg:flags": ("struct msghdr X", "{ char c; struct iovec v = {&c, 1}; X.msg_iov = &v; X.msg_iovlen = 1; recvmsg(full_socket(), &X, 0); }",
                      "X.msg_flags != 0"),
    "recvmmsg": (INT, "{ struct iovec v = {&X, 4}; struct mmsghdr m = {.msg_hdr = {.msg_iov = &v, .msg_iovlen = 1}}; recvmmsg(full_socket(), &m, 1, 0, 0); }",
                 TEN),
    "sendmmsg": ("struct mmsghdr X", "{ int ends[2]; struct iovec v = {&ten, 4}; X.msg_hdr.msg_iov = &v; X.msg_hdr.msg_iovlen = 1; "
                 "if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0) sendmmsg(ends[0], &X, 1, 0); }", "X.msg_len == 4"),
    "eventfd_read": (LONG, "eventfd_read(eventfd(10, 0), (eventfd_t *)&X);", TEN),
    "timerfd_settime": ("struct itimerspec X", "{ struct itimerspec t = {{0}, {99, 0}}; int fd = timerfd_create(CLOCK_MONOTONIC, 0); "
                        "timerfd_settime(fd, 0, &t, NULL); timerfd_settime(fd, 0, &t, &X); }", "X.it_value.tv_sec > 90"),
    "timerfd_gettime": ("struct itimerspec X", "{ struct itimerspec t = {{0}, {99, 0}}; int fd = timerfd_create(CLOCK_MONOTONIC, 0); "
                        "timerfd_settime(fd, 0, &t, NULL); timerfd_gettime(fd, &X); }", "X.it_value.tv_sec > 90"),
    "accept": ("struct sockaddr_in X", "{ socklen_t n = sizeof X; accept(called(), (struct sockaddr *)&X, &n); }", "X.sin_port != 0"),
    "accept4": ("struct sockaddr_in X", "{ socklen_t n = sizeof X; accept4(called(), (struct sockaddr *)&X, &n, 0); }", "X.sin_port != 0"),
    "getsockname": ("struct sockaddr_in X", "{ socklen_t n = sizeof X; getsockname(caller(), (struct sockaddr *)&X, &n); }", "X.sin_port != 0"),
    "getpeername": ("struct sockaddr_in X", "{ socklen_t n = sizeof X; getpeername(caller(), (struct sockaddr *)&X, &n); }", "X.sin_port != 0"),
    "getsockopt": (INT, "{ socklen_t n = 4; getsockopt(full_socket(), SOL_SOCKET, SO_TYPE, &X, &n); }", "X == 2"),
    "socketpair": ("int X[2]", "socketpair(AF_UNIX, SOCK_STREAM, 0, X);", "X[1] != 0"),
    "poll": ("struct pollfd X", "X.fd = full_pipe(); X.events = POLLIN; poll(&X, 1, -1);", "X.revents != 0"),
    "__poll_chk": ("struct pollfd X", "X.fd = full_pipe(); X.events = POLLIN; __poll_chk(&X, 1, -1, sizeof X);", "X.revents != 0"),
    "ppoll": ("struct pollfd X", "X.fd = full_pipe(); X.events = POLLIN; ppoll(&X, 1, NULL, NULL);", "X.revents != 0"),
    "select": (LONG, f"{SET} select(60, (fd_set *)&X, 0, 0, 0); }}", "X == 16 && previously X == 48"),
    "select:time": ("struct timeval X", "{ fd_set s = {0}; int fd = full_pipe(); FD_SET(fd, &s); X.tv_sec = 9; select(fd + 1, &s, 0, 0, &X); }",
                    "X.tv_sec < 9 && previously X.tv_sec == 9"),
    "pselect": (LONG, f"{SET} pselect(60, (fd_set *)&X, 0, 0, 0, 0); }}", "X == 16 && previously X == 48"),
    "epoll_wait": ("struct epoll_event X", "epoll_wait(polled(), &X, 1, -1);", "X.events != 0"),
    "epoll_pwait": ("struct epoll_event X", "epoll_pwait(polled(), &X, 1, -1, NULL);", "X.events != 0"),
    "getaddrinfo": (LONG, 'getaddrinfo("127.0.0.1", NULL, NULL, (struct addrinfo **)&X);', "X != 0"),
    "inet_ntop": (TEXT, "inet_ntop(AF_INET, &(struct in_addr){0}, X, 60);", 'X == "0.0.0.0"'),
    "inet_pton": (INT, 'inet_pton(AF_INET, "10.0.0.0", &X);', TEN),
    "sprintf": (TEXT, 'sprintf(X, "%s", abc);', ABC),
    "vsprintf": (TEXT, 'call_vsprintf(X, "%s", abc);', ABC),
    "__sprintf_chk": (TEXT, '__sprintf_chk(X, 0, much, "%s", abc);', ABC),
    "__vsprintf_chk": (TEXT, 'call___vsprintf_chk(X, 0, much, "%s", abc);', ABC),
    "asprintf": (LONG, 'asprintf((char **)&X, "%s", abc);', "X != 0"),
    "vasprintf": (LONG, 'call_vasprintf((char **)&X, "%s", abc);', "X != 0"),
    "__asprintf_chk": (LONG, '__asprintf_chk((char **)&X, 0, "%s", abc);', "X != 0"),
    "__vasprintf_chk": (LONG, 'call___vasprintf_chk((char **)&X, 0, "%s", abc);', "X != 0"),
    "sscanf:text": (TEXT, 'sscanf("1 abc 2", "%*d %60[a-c] %d", X, &(int){0});', ABC),
    "sscanf:second": (INT, 'sscanf("1 2.5 10", "%hhd %lf%n %d", &(char){0}, &(double){0}, &(int){0}, &X);', TEN),
    "sscanf:count": (INT, 'sscanf("123456789 1", "%*d%n %d", &X, &(int){0});', "X == 9"),
    "sscanf:short": ("short X[2]", 'X[0] = 1; sscanf("10 x", "%hd %hd", X, X + 1);', "X[0] == 10"),
    "strtod": (LONG, "strtod(abc, (char **)&X);", "X != 0"),
    "strtof": (LONG, "strtof(abc, (char **)&X);", "X != 0"),
    "strtold": (LONG, "strtold(abc, (char **)&X);", "X != 0"),
    "strtok_r": (LONG, '{ char text[] = "a b"; strtok_r(text, " ", (char **)&X); }', "X != 0"),
    "strtok_r:text": (TEXT, '{ char *rest; strcpy(X, abcd); strtok_r(X, "d", &rest); }', ABC),
    "strtok": (TEXT, 'strcpy(X, abcd); strtok(X, "d");', ABC),
    "strsep": (TEXT, '{ char *rest = X; strcpy(X, abcd); strsep(&rest, "d"); }', ABC),
    "strerror_r": (TEXT, "strerror_r(12345, X, 60);", 'X == "Unknown error 12345"'),
    "__xpg_strerror_r": (TEXT, "__xpg_strerror_r(12345, X, 60);", 'X == "Unknown error 12345"'),
    "mempcpy": (INT, "mempcpy(&X, &ten, four);", TEN),
    "__mempcpy_chk": (INT, "__mempcpy_chk(&X, &ten, four, much);", TEN),
    "memccpy": (TEXT, "memccpy(X, abc, 'z', four);", ABC),
    "bcopy": (INT, "bcopy(&ten, &X, four);", TEN),
    "bzero": (INT, "X = 10; bzero(&X, four);", "X == 0 && previously X == 10"),
    "explicit_bzero": (INT, "X = 10; explicit_bzero(&X, four);", "X == 0 && previously X == 10"),
    "qsort": ("int X[3]", "X[0] = 30; X[1] = 20; X[2] = 10; qsort(X, 3, 4, smaller);", "X[0] == 10"),
    "qsort_r": ("int X[3]", "X[0] = 30; X[1] = 20; X[2] = 10; qsort_r(X, 3, 4, smaller_too, NULL);", "X[0] == 10"),
    "time": ("time_t X", "time(&X);", "X != 0"),
    "gettimeofday": ("struct timeval X", "gettimeofday(&X, NULL);", "X.tv_sec != 0"),
    "clock_gettime": ("struct timespec X", "clock_gettime(CLOCK_REALTIME, &X);", "X.tv_sec != 0"),
    "clock_getres": ("struct timespec X", "clock_getres(CLOCK_REALTIME, &X);", "X.tv_nsec != 0"),
    "timespec_get": ("struct timespec X", "timespec_get(&X, TIME_UTC);", "X.tv_sec != 0"),
    "localtime_r": ("struct tm X", "localtime_r(&limit.tv_sec, &X);", "X.tm_year == 206"),
    "gmtime_r": ("struct tm X", "gmtime_r(&limit.tv_sec, &X);", "X.tm_year == 206"),
    "asctime_r": (TEXT, "{ struct tm t; gmtime_r(&limit.tv_sec, &t); asctime_r(&t, X); }", 'X != ""'),
    "ctime_r": (TEXT, "ctime_r(&limit.tv_sec, X);", 'X != ""'),
    "strftime": (TEXT, '{ struct tm t; gmtime_r(&limit.tv_sec, &t); strftime(X, 60, "%Y", &t); }', 'X == "2106"'),
    "getitimer": ("struct itimerval X", "{ struct itimerval t = {{0}, {99, 0}}; setitimer(ITIMER_VIRTUAL, &t, NULL); getitimer(ITIMER_VIRTUAL, &X); }",
                  "X.it_value.tv_sec > 90"),
    "setitimer": ("struct itimerval X", "{ struct itimerval t = {{0}, {99, 0}}; setitimer(ITIMER_PROF, &t, NULL); setitimer(ITIMER_PROF, &t, &X); }",
                  "X.it_value.tv_sec > 90"),
    "times": ("struct tms X", "{ struct timespec t; do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_sec == 0 && t.tv_nsec < 200000000); } "
                              "times(&X);", "X.tms_utime + X.tms_stime > 0"),
    "uname": ("struct utsname X", "uname(&X);", 'X.sysname == "Linux"'),
    "gethostname": ("char X[256]", "gethostname(X, sizeof X);", 'X != ""'),
    "getrusage": ("struct rusage X", "getrusage(RUSAGE_SELF, &X);", "X.ru_maxrss != 0"),
    "getrlimit": ("struct rlimit X", "getrlimit(RLIMIT_STACK, &X);", "X.rlim_cur != 0"),
    "sysinfo": ("struct sysinfo X", "sysinfo(&X);", "X.totalram != 0"),
    "wait": (INT, "child(); wait(&X);", "X == 2560"),
    "waitpid": (INT, "waitpid(child(), &X, 0);", "X == 2560"),
    "wait3": (INT, "child(); wait3(&X, 0, NULL);", "X == 2560"),
    "wait4": (INT, "wait4(child(), &X, 0, NULL);", "X == 2560"),
    "wait4:usage": ("struct rusage X", "wait4(child(), NULL, 0, &X);", "X.ru_maxrss != 0"),
    "waitid": ("siginfo_t X", "waitid(P_PID, child(), &X, WEXITED);", "X.si_signo != 0"),
    "timer_create": (LONG, "{ timer_t t; timer_create(CLOCK_MONOTONIC, NULL, &t); timer_create(CLOCK_MONOTONIC, NULL, (timer_t *)&X); }", "X != 0"),
    "timer_settime": ("struct itimerspec X", "{ timer_t t; struct itimerspec s = {{0}, {99, 0}}; timer_create(CLOCK_MONOTONIC, NULL, &t); "
                      "timer_settime(t, 0, &s, NULL); timer_settime(t, 0, &s, &X); }", "X.it_value.tv_sec > 90"),
    "timer_gettime": ("struct itimerspec X", "{ timer_t t; struct itimerspec s = {{0}, {99, 0}}; timer_create(CLOCK_MONOTONIC, NULL, &t); "
                      "timer_settime(t, 0, &s, NULL); timer_gettime(t, &X); }", "X.it_value.tv_sec > 90"),
    "sigprocmask": (LONG, "{ sigset_t s = raised(); int n; sigwait(&s, &n); } sigprocmask(SIG_BLOCK, NULL, (sigset_t *)&X);", "X == 512"),
    "pthread_sigmask": (LONG, "{ sigset_t s = raised(); int n; sigwait(&s, &n); } pthread_sigmask(SIG_BLOCK, NULL, (sigset_t *)&X);", "X == 512"),
    "sigpending": (LONG, "{ sigset_t s = raised(); int n; sigpending((sigset_t *)&X); sigwait(&s, &n); }", "X == 512"),
    "sigwait": (INT, "{ sigset_t s = raised(); sigwait(&s, &X); }", TEN),
    "sigwaitinfo": ("siginfo_t X", "{ sigset_t s = raised(); sigwaitinfo(&s, &X); }", "X.si_signo == 10"),
    "sigtimedwait": ("siginfo_t X", "{ sigset_t s = raised(); sigtimedwait(&s, &X, &limit); }", "X.si_signo == 10"),
    "sem_getvalue": (INT, "{ sem_t s; sem_init(&s, 0, 10); sem_getvalue(&s, &X); }", TEN),
    "pthread_getname_np": (TEXT, 'pthread_setname_np(pthread_self(), "abc"); pthread_getname_np(pthread_self(), X, 60);', ABC),
    "pthread_getschedparam": (INT, "{ struct sched_param p; X = 77; pthread_getschedparam(pthread_self(), &X, &p); }", "X < 77 && previously X == 77"),
}
CASES.update({name: scan_case(name) for name in SCANS})
CASES.update({name: (LONG, f"call_{name}(abc, (char **)&X, 10);", "X != 0") for name in NUMBERS})

def rows():
    """The names of all rows that fill something, as they stand in the table."""
    return [row.name for row in sync_rows.rows() if "FILLS" in row.details]


def is_there(name):
    """Does this machine's C library have it? The newest names are not everywhere."""
    return not name.startswith("__isoc23_") or hasattr(ctypes.CDLL(None), name)


def variable(name):
    return "f_" + name.replace(":", "_of_")


def program(names):
    """(C, properties, {case: its line}) for these cases."""
    due = [name for name in names if is_there(name.split(":")[0])]
    calls = "".join(scan_declaration(name) for name in SCANS if name in due)
    calls += "".join(f'long call_{name}(const char *, char **, int) __asm__("{name}");\n' for name in NUMBERS if name in due)
    calls += "".join(lists(name, first) for name, first in LISTS.items())
    text = HEAD + calls + "".join(f"{CASES[name][0].replace('X', variable(name), 1)};\n" for name in due)
    text += "int main(void)\n{\n"
    lines, properties = {}, ""
    for number, name in enumerate(due):
        lines[name] = text.count("\n") + 1
        text += f"    {replace(CASES[name][1], name)}\n"
        properties += f"property p{number}: !({replace(CASES[name][2], name)});\n"
    return text + "    return 0;\n}\n", properties, lines


def replace(text, name):
    return re.sub(r"\bX\b", variable(name), text)
