/*
 * Data is handed from one thread to another through the kernel, in one way of many: hand WAY [read]
 *
 * One thread writes `given` and puts something somewhere; the other takes it out there and writes `taken`. So `taken`
 * is never 1 while `given` is 0, and with `read`, where the second thread also looks at `given`, there is no race. The
 * ways under `unordered` are those in which nothing is handed over: there it may be, and is one.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int given, taken;

static int reads, copy, a[2], b[2];
static char byte = 'x', room[64];
static FILE *out, *in;
static timer_t timer;
static sem_t done;
static volatile sig_atomic_t handled;
static struct sockaddr_in inet;
static struct sockaddr_un path;

static void need(int condition)
{
    if (!condition)
        abort();
}

static void nothing(void)
{
}

static void have(void)
{
    if (reads)
        copy = given;
    taken = 1;
}

/* --- pipes --- */

static void make_pipe(void)
{
    need(pipe(a) == 0);
}
static void put_byte(void)
{
    need(write(a[1], &byte, 1) == 1);
}
static void take_byte(void)
{
    need(read(a[0], room, 1) == 1);
}
static void put_pieces(void)
{
    struct iovec piece = {&byte, 1};
    need(writev(a[1], &piece, 1) == 1);
}
static void take_pieces(void)
{
    struct iovec piece = {room, 1};
    need(readv(a[0], &piece, 1) == 1);
}
static void put_end(void)
{
    need(close(a[1]) == 0);
}
static void take_end(void)
{
    need(read(a[0], room, 1) == 0);
}
static void copy_ends(void)
{
    int of[2];
    need(pipe(of) == 0);
    a[1] = dup(of[1]);
    need(a[1] >= 0 && close(of[1]) == 0 && dup2(of[0], 77) == 77 && close(of[0]) == 0);
    a[0] = fcntl(77, F_DUPFD, 80);
    need(a[0] >= 80 && close(77) == 0);
}
static void make_fifo(void)
{
    need(mkfifo("fifo", 0600) == 0);
    a[0] = open("fifo", O_RDONLY | O_NONBLOCK);
    a[1] = open("fifo", O_WRONLY);
    need(a[0] >= 0 && a[1] >= 0 && fcntl(a[0], F_SETFL, 0) == 0);
}

/* --- sockets --- */

static void make_pair(void)
{
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, a) == 0);
}
static void make_turned_pair(void)
{
    int ends[2];
    need(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
    a[0] = ends[1];
    a[1] = ends[0];
}
static void make_message_pair(void)
{
    need(socketpair(AF_UNIX, SOCK_DGRAM, 0, a) == 0);
}
static void send_byte(void)
{
    need(send(a[1], &byte, 1, 0) == 1);
}
static void receive_byte(void)
{
    need(recv(a[0], room, 1, 0) == 1);
}
static void send_message(void)
{
    struct iovec piece = {&byte, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    need(sendmsg(a[1], &message, 0) == 1);
}
static void receive_message(void)
{
    struct iovec piece = {room, 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    need(recvmsg(a[0], &message, 0) == 1);
}
static void shut(void)
{
    need(shutdown(a[1], SHUT_WR) == 0);
}

/* The end that takes is one that came as a message. */
static void pass_end(void)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr head;
    } control;
    struct iovec piece = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    make_pair();
    need(socketpair(AF_UNIX, SOCK_STREAM, 0, b) == 0);
    control.head =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &a[0], sizeof(int));
    need(sendmsg(b[0], &message, 0) == 1 && close(a[0]) == 0);
    need(recvmsg(b[1], &message, 0) == 1);
    memcpy(&a[0], CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
}

static void listen_inet(void)
{
    socklen_t len = sizeof inet;
    inet = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    b[0] = socket(AF_INET, SOCK_STREAM, 0);
    need(b[0] >= 0 && bind(b[0], (void *)&inet, sizeof inet) == 0 && listen(b[0], 5) == 0);
    need(getsockname(b[0], (void *)&inet, &len) == 0);
}
static void connect_inet(void)
{
    a[1] = socket(AF_INET, SOCK_STREAM, 0);
    need(a[1] >= 0 && connect(a[1], (void *)&inet, sizeof inet) == 0);
}
static void accept_it(void)
{
    a[0] = accept(b[0], NULL, NULL);
    need(a[0] >= 0);
}
static void connected_inet(void)
{
    listen_inet();
    connect_inet();
    accept_it();
}
static void turned_inet(void)
{
    connected_inet();
    int end = a[0];
    a[0] = a[1];
    a[1] = end;
}
static void listen_unix(void)
{
    path = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "socket"};
    b[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    need(b[0] >= 0 && bind(b[0], (void *)&path, sizeof path) == 0 && listen(b[0], 5) == 0);
}
static void connect_unix(void)
{
    a[1] = socket(AF_UNIX, SOCK_STREAM, 0);
    need(a[1] >= 0 && connect(a[1], (void *)&path, sizeof path) == 0);
}
static void connected_unix(void)
{
    listen_unix();
    connect_unix();
    accept_it();
}
static void turned_unix(void)
{
    connected_unix();
    int end = a[0];
    a[0] = a[1];
    a[1] = end;
}
static void bind_udp(void)
{
    socklen_t len = sizeof inet;
    inet = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    a[0] = socket(AF_INET, SOCK_DGRAM, 0);
    a[1] = socket(AF_INET, SOCK_DGRAM, 0);
    need(a[0] >= 0 && a[1] >= 0 && bind(a[0], (void *)&inet, sizeof inet) == 0);
    need(getsockname(a[0], (void *)&inet, &len) == 0);
    inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}
static void connect_udp(void)
{
    bind_udp();
    need(connect(a[1], (void *)&inet, sizeof inet) == 0);
}
static void send_to(void)
{
    need(sendto(a[1], &byte, 1, 0, (void *)&inet, sizeof inet) == 1);
}
static void receive_from(void)
{
    struct sockaddr_in from;
    socklen_t len = sizeof from;
    need(recvfrom(a[0], room, 1, 0, (void *)&from, &len) == 1);
}
static void send_many(void)
{
    struct iovec piece = {&byte, 1};
    struct mmsghdr message = {
        .msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1, .msg_name = &inet, .msg_namelen = sizeof inet}};
    need(sendmmsg(a[1], &message, 1, 0) == 1);
}
static void receive_many(void)
{
    struct iovec piece = {room, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &piece, .msg_iovlen = 1}};
    need(recvmmsg(a[0], &message, 1, 0, NULL) == 1);
}
static void bind_unix(void)
{
    path = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "datagrams"};
    a[0] = socket(AF_UNIX, SOCK_DGRAM, 0);
    a[1] = socket(AF_UNIX, SOCK_DGRAM, 0);
    need(a[0] >= 0 && a[1] >= 0 && bind(a[0], (void *)&path, sizeof path) == 0);
}
static void send_to_unix(void)
{
    need(sendto(a[1], &byte, 1, 0, (void *)&path, sizeof path) == 1);
}

/* --- other descriptors --- */

static void make_eventfd(void)
{
    a[0] = eventfd(0, 0);
    a[1] = dup(a[0]);
    need(a[0] >= 0 && a[1] >= 0);
}
static void put_count(void)
{
    uint64_t one = 1;
    need(write(a[1], &one, sizeof one) == sizeof one);
}
static void take_count(void)
{
    uint64_t count;
    need(read(a[0], &count, sizeof count) == sizeof count);
}
static void put_event(void)
{
    need(eventfd_write(a[1], 1) == 0);
}
static void take_event(void)
{
    eventfd_t count;
    need(eventfd_read(a[0], &count) == 0);
}
static void make_epoll(void)
{
    make_pipe();
    put_byte();
    b[0] = epoll_create1(0);
    need(b[0] >= 0);
}
static void add_to_epoll(void)
{
    struct epoll_event event = {.events = EPOLLIN};
    need(epoll_ctl(b[0], EPOLL_CTL_ADD, a[0], &event) == 0);
}
static void wait_in_epoll(void)
{
    struct epoll_event event;
    need(epoll_wait(b[0], &event, 1, -1) == 1);
}
static void make_timerfd(void)
{
    a[0] = timerfd_create(CLOCK_MONOTONIC, 0);
    need(a[0] >= 0);
}
static void set_timerfd(void)
{
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    need(timerfd_settime(a[0], 0, &soon, NULL) == 0);
}
static void block(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    need(pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
}
static void make_signalfd(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    block();
    a[0] = signalfd(-1, &set, 0);
    need(a[0] >= 0);
}
static void send_signal(void)
{
    need(kill(getpid(), SIGUSR1) == 0);
}
static void read_signal(void)
{
    struct signalfd_siginfo about;
    need(read(a[0], &about, sizeof about) == sizeof about && about.ssi_signo == SIGUSR1);
}

/* --- streams --- */

static void make_streams(void)
{
    make_pipe();
    out = fdopen(a[1], "w");
    in = fdopen(a[0], "r");
    need(out && in);
}
static void put_text(void)
{
    need(fputs("12\n", out) >= 0 && fflush(out) == 0);
}
static void take_text(void)
{
    need(fgets(room, sizeof room, in) != NULL);
}
static void put_bytes(void)
{
    need(fwrite("1234", 4, 1, out) == 1 && fflush(out) == 0);
}
static void take_bytes(void)
{
    need(fread(room, 4, 1, in) == 1);
}
static void put_number(void)
{
    need(fprintf(out, "%d\n", 12) == 3 && fclose(out) == 0);
}
static void take_number(void)
{
    int number;
    need(fscanf(in, "%d", &number) == 1 && number == 12);
}
static void put_character(void)
{
    need(fputc('x', out) == 'x' && fflush(out) == 0);
}
static void take_character(void)
{
    need(getc(in) == 'x');
}
static void put_directly(void)
{
    need(dprintf(a[1], "%d\n", 12) == 3);
}
static void take_line(void)
{
    char *line = NULL;
    size_t size = 0;
    need(getline(&line, &size, in) == 3);
    free(line);
}
/* No flush: the buffer is full in the middle. */
static void put_much(void)
{
    for (int i = 0; i < 1000; i++)
        need(fputs("0123456789", out) >= 0);
}

/* --- from one descriptor to another: a third thread moves it --- */

static void *move(void *unused)
{
    need(splice(a[0], NULL, b[1], NULL, 1, 0) == 1);
    return unused;
}
static void make_chain(void)
{
    pthread_t thread;
    make_pipe();
    need(pipe(b) == 0 && pthread_create(&thread, NULL, move, NULL) == 0);
}
static void take_moved(void)
{
    need(read(b[0], room, 1) == 1);
}
static void *move_copy(void *unused)
{
    need(tee(a[0], b[1], 1, 0) == 1);
    return unused;
}
static void make_tee(void)
{
    pthread_t thread;
    make_pipe();
    need(pipe(b) == 0 && pthread_create(&thread, NULL, move_copy, NULL) == 0);
}
static void put_mapped(void)
{
    struct iovec piece = {&byte, 1};
    need(vmsplice(a[1], &piece, 1, 0) == 1);
}
static void make_file(void)
{
    make_pair();
    b[0] = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(b[0] >= 0 && write(b[0], &byte, 1) == 1);
}
static void send_file(void)
{
    off_t at = 0;
    need(sendfile(a[1], b[0], &at, 1) == 1);
}

/* --- signals and timers --- */

static void on_signal(int number)
{
    (void)number;
    handled = 1;
}
static pthread_t taker;
static void handle(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    need(sigaction(SIGUSR1, &action, NULL) == 0 && sigaction(SIGALRM, &action, NULL) == 0);
    block();
}
/* The taker is the only thread that does not block it. */
static void await_handler(void)
{
    sigset_t none;
    sigemptyset(&none);
    while (!handled)
        sigsuspend(&none);
}
static void queue_signal(void)
{
    need(sigqueue(getpid(), SIGUSR1, (union sigval){0}) == 0);
}
static void signal_thread(void)
{
    need(pthread_kill(taker, SIGUSR1) == 0);
}
static void queue_thread(void)
{
    need(pthread_sigqueue(taker, SIGUSR1, (union sigval){0}) == 0);
}
static void wait_for_signal(void)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    need(sigwait(&set, &number) == 0 && number == SIGUSR1);
}
static void wait_for_about(void)
{
    sigset_t set;
    siginfo_t about;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    need(sigwaitinfo(&set, &about) == SIGUSR1);
}
static void set_interval(void)
{
    struct itimerval soon = {.it_value.tv_usec = 1};
    need(setitimer(ITIMER_REAL, &soon, NULL) == 0);
}
static void set_alarm(void)
{
    ualarm(1, 0);
}
static void make_timer(void)
{
    handle();
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    need(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
}
static void set_timer(void)
{
    struct itimerspec soon = {.it_value.tv_nsec = 1};
    need(timer_settime(timer, 0, &soon, NULL) == 0);
}
static int elsewhere; /* not the taker has it, but who is started for it */
static void expire(union sigval value)
{
    need(value.sival_int == 5);
    have();
    sem_post(&done);
}
static void make_thread_timer(void)
{
    elsewhere = 1;
    need(sem_init(&done, 0, 0) == 0);
    struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expire, .sigev_value.sival_int = 5};
    need(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
}
static void await_expiry(void)
{
    need(sem_wait(&done) == 0);
}
static void ignore(void)
{
    need(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
}
static void set_handler(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    need(sigaction(SIGUSR2, &action, NULL) == 0);
}
static void raise_it(void)
{
    while (!handled)
        need(raise(SIGUSR2) == 0);
}

/* --- what happens only afterwards: the flag, which is relaxed, orders nothing by itself --- */

static atomic_int flag;

static void raise_flag(void)
{
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
}
static void await_flag(void)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        usleep(1000);
}
static void free_number(void)
{
    need(close(a[0]) == 0);
    raise_flag();
}
static void get_number(void)
{
    await_flag();
    need(dup(a[1]) == a[0]);
}
static void put_at_exit(void)
{
    need(atexit(have) == 0);
    raise_flag();
}
static void exit_here(void)
{
    await_flag();
    exit(0);
}

/* --- nothing is handed over --- */

static void make_two_pipes(void)
{
    make_pipe();
    need(pipe(b) == 0 && write(b[1], &byte, 1) == 1);
}
static void take_other(void)
{
    need(read(b[0], room, 1) == 1);
}
static void make_empty_pipe(void)
{
    need(pipe2(a, O_NONBLOCK) == 0);
}
static void find_nothing(void)
{
    need(read(a[0], room, 1) == -1 && errno == EAGAIN);
}
/* Each writes what the other does not read. */
static void make_full_pair(void)
{
    make_pair();
    need(send(a[0], &byte, 1, 0) == 1);
}
static void take_own(void)
{
    need(recv(a[1], room, 1, 0) == 1);
}
static void make_two_connections(void)
{
    connected_inet();
    b[1] = a[0];
    int first = a[1];
    connect_inet();
    accept_it();
    need(send(a[1], &byte, 1, 0) == 1);
    a[1] = first; /* the one puts into the first, the other takes what lies in the second */
}
/* Only whoever reads knows of whoever writes, not who writes, too. */
static void put_too(void)
{
    put_byte();
}
static void get_another(void)
{
    await_flag();
    int made = dup(a[1]);
    need(made >= 0 && made != a[1]);
}
static void only_raise_flag(void)
{
    raise_flag();
}
static void make_signal_of_another(void)
{
    handle();
    need(kill(getpid(), SIGALRM) == 0);
}
static void await_other(void)
{
    sigset_t first;
    sigemptyset(&first);
    sigaddset(&first, SIGUSR1);
    while (!handled)
        sigsuspend(&first);
}

static const struct way {
    const char *name;
    void (*make)(void), (*put)(void), (*take)(void);
} ways[] =
    {
        {"pipe", make_pipe, put_byte, take_byte},
        {"pieces", make_pipe, put_pieces, take_pieces},
        {"end", make_pipe, put_end, take_end},
        {"copies", copy_ends, put_byte, take_byte},
        {"fifo", make_fifo, put_byte, take_byte},
        {"pair", make_pair, send_byte, receive_byte},
        {"turned-pair", make_turned_pair, put_byte, take_byte},
        {"messages", make_message_pair, send_message, receive_message},
        {"shutdown", make_pair, shut, take_end},
        {"passed", pass_end, send_byte, receive_byte},
        {"tcp", connected_inet, send_byte, receive_byte},
        {"turned-tcp", turned_inet, put_byte, take_byte},
        {"tcp-end", connected_inet, put_end, take_end},
        {"connect", listen_inet, connect_inet, accept_it},
        {"unix", connected_unix, send_byte, receive_byte},
        {"turned-unix", turned_unix, put_byte, take_byte},
        {"connect-unix", listen_unix, connect_unix, accept_it},
        {"udp", bind_udp, send_to, receive_from},
        {"connected-udp", connect_udp, send_byte, receive_byte},
        {"many", bind_udp, send_many, receive_many},
        {"datagrams", bind_unix, send_to_unix, receive_byte},
        {"eventfd", make_eventfd, put_count, take_count},
        {"event", make_eventfd, put_event, take_event},
        {"epoll", make_epoll, add_to_epoll, wait_in_epoll},
        {"timerfd", make_timerfd, set_timerfd, take_count},
        {"signalfd", make_signalfd, send_signal, read_signal},
        {"text", make_streams, put_text, take_text},
        {"bytes", make_streams, put_bytes, take_bytes},
        {"number", make_streams, put_number, take_number},
        {"character", make_streams, put_character, take_character},
        {"line", make_streams, put_directly, take_line},
        {"much", make_streams, put_much, take_text},
        {"splice", make_chain, put_byte, take_moved},
        {"tee", make_tee, put_byte, take_moved},
        {"vmsplice", make_pipe, put_mapped, take_byte},
        {"sendfile", make_file, send_file, take_byte},
        {"kill", handle, send_signal, await_handler},
        {"sigqueue", handle, queue_signal, await_handler},
        {"pthread_kill", handle, signal_thread, await_handler},
        {"pthread_sigqueue", handle, queue_thread, await_handler},
        {"sigwait", block, send_signal, wait_for_signal},
        {"sigwaitinfo", block, signal_thread, wait_for_about},
        {"setitimer", handle, set_interval, await_handler},
        {"ualarm", handle, set_alarm, await_handler},
        {"timer", make_timer, set_timer, await_handler},
        {"thread-timer", make_thread_timer, set_timer, await_expiry},
        {"sigaction", ignore, set_handler, raise_it},
        {"number", make_pipe, free_number, get_number},
        {"atexit", nothing, put_at_exit, exit_here},
},
  unordered[] =
      {
          {"other-pipe", make_two_pipes, put_byte, take_other},
          {"empty-pipe", make_empty_pipe, nothing, find_nothing},
          {"other-direction", make_full_pair, send_byte, take_own},
          {"other-connection", make_two_connections, put_byte, take_byte},
          {"other-signal", make_signal_of_another, send_signal, await_other},
},
  racing[] = {
      /* in the causal order of accesses they are ordered */
      {"two-writers", make_pipe, put_byte, put_too},
      {"other-number", make_pipe, only_raise_flag, get_another},
};

static const struct way *way;

static void *give(void *unused)
{
    given = 1;
    way->put();
    return unused;
}

static void *take(void *unused)
{
    way->take();
    if (!elsewhere)
        have();
    return unused;
}

static void choose(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        way = strcmp(name, ways[i].name) == 0 ? &ways[i] : way;
    for (size_t i = 0; i < sizeof unordered / sizeof *unordered; i++)
        way = strcmp(name, unordered[i].name) == 0 ? &unordered[i] : way;
    for (size_t i = 0; i < sizeof racing / sizeof *racing; i++)
        way = strcmp(name, racing[i].name) == 0 ? &racing[i] : way;
    need(way != NULL);
}

static void list(const char *what, const struct way *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        printf("%s %s\n", what, from[i].name);
}

int main(int count, char **words)
{
    pthread_t giver;
    if (count < 2) {
        list("ordered", ways, sizeof ways / sizeof *ways);
        list("unordered", unordered, sizeof unordered / sizeof *unordered);
        list("racing", racing, sizeof racing / sizeof *racing);
        return 0;
    }
    choose(words[1]);
    reads = count > 2;
    way->make();
    need(pthread_create(&taker, NULL, take, NULL) == 0);
    need(pthread_create(&giver, NULL, give, NULL) == 0);
    need(pthread_join(giver, NULL) == 0 && pthread_join(taker, NULL) == 0);
    return 0;
}
