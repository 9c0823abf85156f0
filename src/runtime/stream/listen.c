/*
 * Where the program listens: events=unix:PATH or events=tcp:HOST:PORT. A socket file that a dead program left behind is
 * replaced; one at which somebody listens, and any other file, is not. If who listens there is a watcher (portent watch
 * listen:unix:PATH), which says so first, the program listens nowhere and that connection is its reader. TCP is for
 * loopback addresses, unless events_any says otherwise.
 *
 * Guarantee: whatever cannot be served is refused with one sentence, and the program runs on. Cost: at the start only.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "runtime/stream/impl.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"

enum { BACKLOG = 128 };
#define PATIENCE_NS (UINT64_C(1000) * 1000 * 1000) /* for a watcher's greeting */

int pt_stream_listener = -1;
int pt_stream_watcher = -1;
static struct sockaddr_un watcher; /* where it listens; no family: there was none */
static struct {
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    uint64_t device, inode;
} file; /* of a Unix socket; "" none */

/* One sentence; the program runs on without a stream. */
static bool refuse(const char *why)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: events=");
    pt_line_span(&line, pt_options.events);
    pt_line_text(&line, ": ");
    pt_line_text(&line, why);
    pt_line_text(&line, "; the program runs without an event stream");
    if (pt_options.verbosity >= 0)
        pt_line_write(&line);
    return false;
}

static bool identify(const char *path, struct stat *about)
{
    return pt_sys_lstat(path, about) == 0 && S_ISSOCK(about->st_mode);
}

/* Whoever it is has a second to say that he watches. */
static bool is_greeted(int fd)
{
    static const char expected[] = PT_WIRE_WATCHER;
    char greeting[sizeof expected];
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return pt_sys_poll(&wanted, 1, PATIENCE_NS) > 0 &&
           pt_sys_receive(fd, greeting, sizeof greeting) == (long)sizeof greeting &&
           memcmp(greeting, expected, sizeof expected) == 0;
}

/* The connection to a watcher, or a negative error: ECONNREFUSED where nobody listens any more. */
static int call(const struct sockaddr_un *address)
{
    struct stat about;
    int fd = identify(address->sun_path, &about) ? pt_sys_socket(AF_UNIX) : -EADDRINUSE;
    if (fd < 0)
        return fd;
    uint64_t limit = pt_sys_now() + PATIENCE_NS;
    int result = pt_sys_connect(fd, address, sizeof *address);
    while (result == -EAGAIN && pt_sys_now() < limit) { /* many programs come at once */
        pt_sys_sleep(1000 * 1000);
        result = pt_sys_connect(fd, address, sizeof *address);
    }
    if (result == 0 && is_greeted(fd))
        return fd;
    pt_sys_close(fd);
    return result ? result : -EADDRINUSE;
}

bool pt_stream_calls(void)
{
    return watcher.sun_family;
}

int pt_stream_call(void)
{
    return call(&watcher);
}

static bool listen_unix(struct pt_span path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat about;
    if (!path.len || path.len >= sizeof address.sun_path)
        return refuse(path.len ? "the path is too long for a socket" : "a path is missing");
    memcpy(address.sun_path, path.at, path.len);
    int fd = pt_sys_socket(AF_UNIX);
    if (fd < 0)
        return refuse("no socket can be made");
    /* the mode of the file that bind makes; the umask, which belongs to all threads, is left alone */
    pt_sys_chmod(fd, 0600);
    int result = pt_sys_bind(fd, &address, sizeof address);
    int caller = result == -EADDRINUSE ? call(&address) : -1;
    if (caller >= 0) {
        pt_sys_close(fd);
        watcher = address;
        pt_stream_watcher = caller;
        return true;
    }
    if (caller == -ECONNREFUSED) {
        pt_sys_unlink(address.sun_path);
        result = pt_sys_bind(fd, &address, sizeof address);
    }
    if (result == 0)
        result = pt_sys_listen(fd, BACKLOG);
    if (result != 0) {
        pt_sys_close(fd);
        return refuse(result == -EADDRINUSE ? "this file exists, and is in use or no socket"
                                            : "no socket can be made there");
    }
    if (identify(address.sun_path, &about)) {
        memcpy(file.path, address.sun_path, sizeof file.path);
        file.device = about.st_dev;
        file.inode = about.st_ino;
    }
    pt_stream_listener = fd;
    return true;
}

static bool listen_at(const void *address, size_t len, int family)
{
    int fd = pt_sys_socket(family);
    int result = fd;
    if (fd >= 0) {
        pt_sys_reuse_address(fd);
        result = pt_sys_bind(fd, address, len);
        if (result == 0)
            result = pt_sys_listen(fd, BACKLOG);
    }
    if (result < 0) {
        if (fd >= 0)
            pt_sys_close(fd);
        return refuse(result == -EADDRINUSE ? "the port is in use" : "no socket can be made there");
    }
    pt_stream_listener = fd;
    return true;
}

static bool read_port(struct pt_span text, uint16_t *ret_port)
{
    uint32_t port = 0;
    if (!text.len || text.len > 5)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        port = port * 10 + (uint32_t)(text.at[i] - '0');
    }
    *ret_port = htons((uint16_t)port);
    return port >= 1 && port <= 65535;
}

static bool listen_tcp(struct pt_span text)
{
    static const char form[] = "an address is written tcp:127.0.0.1:PORT, or tcp:[::1]:PORT";
    static const char stranger[] = "only loopback addresses are served, unless events_any=1 is set";
    char host[64];
    size_t colon = text.len;
    while (colon && text.at[colon - 1] != ':')
        colon--;
    uint16_t port;
    if (colon < 2 || colon > sizeof host || !read_port((struct pt_span){text.at + colon, text.len - colon}, &port))
        return refuse(form);
    bool brackets = text.at[0] == '[' && text.at[colon - 2] == ']';
    size_t len = colon - 1 - 2 * brackets;
    memcpy(host, text.at + brackets, len);
    host[len] = 0;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = port};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = port};
    if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, &four.sin_addr) == 1) {
        if (ntohl(four.sin_addr.s_addr) >> 24 != 127 && !pt_options.events_any)
            return refuse(stranger);
        return listen_at(&four, sizeof four, AF_INET);
    }
    if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        if (!IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) && !pt_options.events_any)
            return refuse(stranger);
        return listen_at(&six, sizeof six, AF_INET6);
    }
    return refuse(form);
}

bool pt_stream_listen(void)
{
    struct pt_span at = pt_options.events;
    if (!at.len)
        return false;
    if (at.len > 5 && memcmp(at.at, "unix:", 5) == 0)
        return listen_unix((struct pt_span){at.at + 5, at.len - 5});
    if (at.len > 4 && memcmp(at.at, "tcp:", 4) == 0)
        return listen_tcp((struct pt_span){at.at + 4, at.len - 4});
    return refuse("an address begins with unix: or tcp:");
}

void pt_stream_remove(void)
{
    struct stat about;
    /* The program may have moved to another folder, or somebody may have put another file there. */
    if (file.path[0] && identify(file.path, &about) && about.st_dev == file.device && about.st_ino == file.inode)
        pt_sys_unlink(file.path);
}

void pt_stream_unlisten(void)
{
    if (pt_stream_listener >= 0)
        pt_sys_close(pt_stream_listener);
    if (pt_stream_watcher >= 0)
        pt_sys_close(pt_stream_watcher);
    pt_stream_listener = pt_stream_watcher = -1;
    watcher.sun_family = 0;
    pt_stream_remove();
}
