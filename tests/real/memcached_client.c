/*
 * Clients of memcached as threads of its own process, so that a controlled run (`portent explore`) has both ends of
 * every connection: linked beside its objects, it starts before main. Each client has its own keys, knows what every
 * answer must be, and ends the process with SIGABRT if one is another. When all are served memcached gets SIGTERM.
 *
 * MEMCACHED_SOCKET is the path of -s, MEMCACHED_REQUESTS how many each of two clients sends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 2, KEYS = 5, ROOM = 512 };

struct client {
    int fd;
    unsigned random;
    char key[32];
    char values[KEYS][ROOM]; /* "": there is none */
    char line[2 * ROOM];
};

static void fail(const char *what)
{
    fprintf(stderr, "memcached_client: %s\n", what);
    abort();
}

static unsigned below(struct client *self, unsigned n)
{
    self->random = self->random * 1103515245 + 12345;
    return (self->random >> 16) % n;
}

static int connected(void)
{
    const char *path = getenv("MEMCACHED_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path)
        fail("there is no MEMCACHED_SOCKET");
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    for (int i = 0; i < 100000; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
            return fd;
        close(fd);
        usleep(10000);
    }
    fail("nobody listens");
    return -1;
}

/* Sends a request, and compares what comes back with what must. */
static void ask(struct client *self, const char *request, const char *format, ...)
{
    char want[2 * ROOM];
    va_list rest;
    va_start(rest, format);
    size_t length = (size_t)vsnprintf(want, sizeof want, format, rest), got = 0;
    va_end(rest);
    if (write(self->fd, request, strlen(request)) != (ssize_t)strlen(request))
        fail("a request was not sent");
    while (got < length) {
        ssize_t n = read(self->fd, self->line + got, length - got);
        if (n <= 0)
            fail("the connection ended");
        got += (size_t)n;
    }
    if (memcmp(self->line, want, length) != 0)
        fail("another answer than expected");
}

static void step(struct client *self, unsigned number)
{
    char request[2 * ROOM];
    unsigned at = below(self, KEYS);
    char *value = self->values[at];
    self->key[2] = (char)('0' + at);
    switch (below(self, 4)) {
    case 0:
        snprintf(value, ROOM, "%u-%.*s", number, (int)below(self, 40), "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        snprintf(request, sizeof request, "set %s 0 0 %zu\r\n%s\r\n", self->key, strlen(value), value);
        ask(self, request, "STORED\r\n");
        break;
    case 1:
        snprintf(request, sizeof request, "delete %s\r\n", self->key);
        ask(self, request, *value ? "DELETED\r\n" : "NOT_FOUND\r\n");
        *value = '\0';
        break;
    case 2:
        snprintf(request, sizeof request, "append %s 0 0 1\r\na\r\n", self->key);
        ask(self, request, *value ? "STORED\r\n" : "NOT_STORED\r\n");
        if (*value && strlen(value) + 1 < ROOM)
            strcat(value, "a");
        break;
    default:
        snprintf(request, sizeof request, "get %s\r\n", self->key);
        if (*value)
            ask(self, request, "VALUE %s 0 %zu\r\n%s\r\nEND\r\n", self->key, strlen(value), value);
        else
            ask(self, request, "END\r\n");
    }
}

static void *serve_one(void *context)
{
    struct client *self = context;
    const char *requests = getenv("MEMCACHED_REQUESTS");
    self->fd = connected();
    for (unsigned i = 0, count = requests ? (unsigned)atoi(requests) : 20; i < count; i++)
        step(self, i);
    close(self->fd);
    return NULL;
}

static void *serve_all(void *unused)
{
    static struct client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    for (unsigned i = 0; i < CLIENTS; i++) {
        clients[i].random = i + 1;
        snprintf(clients[i].key, sizeof clients[i].key, "k%c0", (char)('a' + i));
        if (pthread_create(&threads[i], NULL, serve_one, &clients[i]) != 0)
            fail("no thread");
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    kill(getpid(), SIGTERM);
    return unused;
}

__attribute__((constructor)) static void start(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, serve_all, NULL) != 0)
        fail("no thread");
    pthread_detach(thread);
}
