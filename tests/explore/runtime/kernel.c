/* Pipes, eventfds, sockets, poll, select, sleeps and clocks between threads of one process, used rightly. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            exit(__LINE__ & 127);                                                                                      \
    } while (0)

static int ends[2], pair[2], event;

static void *answer(void *unused)
{
    char c;
    uint64_t many;
    NEED(read(ends[0], &c, 1) == 1 && c == 'a');
    NEED(write(pair[1], "b", 1) == 1);
    struct pollfd list = {.fd = event, .events = POLLIN};
    int ready;
    while ((ready = poll(&list, 1, 1000)) == 0)
        ; /* the time may be over at any point */
    NEED(ready == 1 && read(event, &many, sizeof many) == sizeof many && many == 3);
    NEED(send(pair[1], "c", 1, 0) == 1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    char c;
    uint64_t three = 3;
    struct timespec before, after;
    NEED(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && (event = eventfd(0, 0)) >= 0);
    NEED(pthread_create(&thread, NULL, answer, NULL) == 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    NEED(sleep(100000) == 0);
    clock_gettime(CLOCK_MONOTONIC, &after);
    NEED(after.tv_sec - before.tv_sec >= 100000 && after.tv_sec - before.tv_sec < 110000);
    NEED(write(ends[1], "a", 1) == 1);
    fd_set in;
    FD_ZERO(&in);
    FD_SET(pair[0], &in);
    NEED(select(pair[0] + 1, &in, NULL, NULL, NULL) == 1 && FD_ISSET(pair[0], &in));
    NEED(read(pair[0], &c, 1) == 1 && c == 'b');
    NEED(write(event, &three, sizeof three) == sizeof three);
    NEED(recv(pair[0], &c, 1, 0) == 1 && c == 'c');
    NEED(pthread_join(thread, NULL) == 0);
    return 0;
}
