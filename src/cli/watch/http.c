/*
 * The browser's view. libmicrohttpd is driven by the loop of watch.c, so nothing here needs a lock. Every reader of
 * /events has a message in flight or is suspended until the next tick; a slow one gets fewer messages, each of which
 * describes how everything stands, and never holds anything up.
 *
 * Clients that connect and then send nothing, or half a request, cannot keep others out: they have a few seconds, and
 * where there are more clients than MAX_CLIENTS each new one displaces the one that has asked for nothing the longest.
 * Readers of /events are the last to go. Cost of a new client: at most a walk over those.
 *
 * Other pages of the same browser are kept out: only GET is answered, and only where the Host header names loopback
 * and our port, so that a foreign name that was rebound to 127.0.0.1 gets nothing; the page may load nothing but its
 * own style, script and events.
 */
#include "cli/watch/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "cli/watch/fleet.h"
#include "cli/watch/message.h"
#include "cli/watch/page.h"

enum {
    MAX_CLIENTS = 128,
    MAX_LEAVING = 64,   /* displaced ones whose connections libmicrohttpd has yet to close */
    HEADER_SECONDS = 5, /* for the first request */
    IDLE_SECONDS = 30,  /* after one */
    BLOCK_BYTES = 1 << 16,
    FIRST_ITEMS = 2000, /* what a new reader gets of the past */
    TICK_ITEMS = 500,   /* at most, per message */
    PAST_TICKS = 20,    /* every so often it gets the whole past again, in rough strokes */
    FAREWELL_MS = 500,  /* for the last messages */
};

/* A connection, in a list from the one that has asked for nothing the longest to the one that asked last. */
struct client {
    struct client *next, *previous; /* both itself: it was displaced, and is in no list */
    int fd;
    bool reads_events;
};

struct reader {
    struct pt_http *http;
    struct MHD_Connection *connection;
    struct reader *next;
    uint64_t tick;    /* of its last message */
    uint64_t past;    /* tick of its last one with the whole past */
    uint64_t program; /* whose scene it gets, by id; 0: nobody's */
    uint64_t item;    /* that comes next */
    struct pt_buf out;
    size_t sent;
    bool suspended, greeted, report_end;
};

struct pt_http {
    struct MHD_Daemon *daemon;
    const struct pt_fleet *fleet;
    struct reader *readers;
    struct client clients; /* the list's head */
    unsigned client_count;
    uint64_t tick;
    bool closing;
    uint16_t port;
    char url[64];
};

/* --- /events --- */

static void write_message(struct reader *reader)
{
    struct pt_http *http = reader->http;
    reader->out.len = reader->sent = 0;
    reader->tick = http->tick;
    reader->report_end = http->closing;
    if (!http->fleet)
        return;
    const struct pt_watched *member = pt_fleet_member(http->fleet, reader->program);
    const struct pt_scene *scene = member ? member->scene : NULL;
    if (scene && !reader->greeted) /* the past that is still there */
        reader->item = scene->item_count > FIRST_ITEMS ? scene->item_count - FIRST_ITEMS : 0;
    pt_buf_puts(&reader->out, http->closing ? "event: end\ndata: " : "data: ");
    bool past = !reader->greeted || http->tick >= reader->past + PAST_TICKS;
    if (past)
        reader->past = http->tick;
    pt_message_write(http->fleet, scene, &reader->item, reader->greeted ? TICK_ITEMS : FIRST_ITEMS, past, &reader->out);
    pt_buf_puts(&reader->out, "\n\n");
    reader->greeted = scene;
}

static ssize_t read_events(void *context, uint64_t position, char *bytes, size_t max)
{
    struct reader *reader = context;
    struct pt_http *http = reader->http;
    (void)position;
    if (reader->sent == reader->out.len) {
        if (reader->report_end)
            return MHD_CONTENT_READER_END_OF_STREAM;
        if (reader->tick != http->tick)
            write_message(reader);
    }
    size_t len = reader->out.len - reader->sent;
    if (len == 0) {
        reader->suspended = true;
        MHD_suspend_connection(reader->connection);
        return 0;
    }
    if (len > max)
        len = max;
    memcpy(bytes, reader->out.text + reader->sent, len);
    reader->sent += len;
    return (ssize_t)len;
}

static void free_reader(void *context)
{
    struct reader *reader = context, **link = &reader->http->readers;
    while (*link != reader)
        link = &(*link)->next;
    *link = reader->next;
    pt_buf_release(&reader->out);
    free(reader);
}

static void wake(struct pt_http *http)
{
    for (struct reader *reader = http->readers; reader; reader = reader->next) {
        if (reader->suspended) {
            reader->suspended = false;
            MHD_resume_connection(reader->connection);
        }
    }
}

static struct MHD_Response *events_response(struct pt_http *http, struct MHD_Connection *connection)
{
    struct reader *reader = pt_xcalloc(1, sizeof *reader);
    const char *program = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "program");
    reader->program = program ? strtoull(program, NULL, 10) : 0;
    reader->http = http;
    reader->connection = connection;
    reader->tick = http->tick - 1; /* the first message is due at once */
    reader->next = http->readers;
    http->readers = reader;
    pt_buf_init(&reader->out);
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_events, reader, free_reader);
    if (!response)
        free_reader(reader);
    return response;
}

/* --- clients --- */

static void link_last(struct pt_http *http, struct client *client)
{
    client->next = &http->clients;
    client->previous = http->clients.previous;
    client->previous->next = http->clients.previous = client;
}

static void unlink_client(struct client *client)
{
    client->previous->next = client->next;
    client->next->previous = client->previous;
    client->next = client->previous = client;
}

/* libmicrohttpd sees the end of the connection at its next run, and closes it then. */
static void displace_one(struct pt_http *http)
{
    struct client *client = http->clients.next;
    while (client != &http->clients && client->reads_events)
        client = client->next;
    if (client == &http->clients)
        client = http->clients.next;
    unlink_client(client);
    http->client_count--;
    shutdown(client->fd, SHUT_RDWR);
}

static void connection_changed(void *context, struct MHD_Connection *connection, void **connection_context,
                               enum MHD_ConnectionNotificationCode what)
{
    struct pt_http *http = context;
    struct client *client = *connection_context;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED && client) {
        http->client_count -= client->next != client;
        unlink_client(client);
        free(client);
        *connection_context = NULL;
    } else if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        client = pt_xcalloc(1, sizeof *client);
        client->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        if (http->client_count == MAX_CLIENTS)
            displace_one(http);
        link_last(http, client);
        http->client_count++;
        *connection_context = client;
    }
}

/* The client has sent a whole request. */
static void note_request(struct pt_http *http, struct MHD_Connection *connection, bool reads_events)
{
    struct client *client = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_SECONDS);
    if (client->next == client) /* displaced while it sent that */
        return;
    client->reads_events = reads_events;
    unlink_client(client);
    link_last(http, client);
}

/* --- requests --- */

/* Whether the Host header is a name of loopback, with our port or none. */
static bool is_our_host(const struct pt_http *http, const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    char port[8];
    snprintf(port, sizeof port, ":%u", http->port);
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(host, names[i], len) == 0 && (host[len] == '\0' || strcmp(host + len, port) == 0))
            return true;
    }
    return false;
}

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status, struct MHD_Response *response,
                                     const char *type)
{
    static const char *const headers[][2] = {
        {"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Referrer-Policy", "no-referrer"},
        {"Cache-Control", "no-store"},
    };
    if (!response)
        return MHD_NO;
    bool ok = MHD_add_response_header(response, "Content-Type", type) == MHD_YES;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        ok &= MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        ok &= MHD_add_response_header(response, "Allow", "GET") == MHD_YES;
    enum MHD_Result result = ok ? MHD_queue_response(connection, status, response) : MHD_NO;
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status, const char *text, const char *type)
{
    union {
        const char *text;
        void *bytes; /* which are only read */
    } body = {.text = text};
    return send_response(connection, status,
                         MHD_create_response_from_buffer(strlen(text), body.bytes, MHD_RESPMEM_PERSISTENT), type);
}

static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **request)
{
    static const char plain[] = "text/plain; charset=utf-8";
    struct pt_http *http = context;
    (void)version;
    (void)upload;
    (void)upload_size;
    (void)request;
    note_request(http, connection, strcmp(url, "/events") == 0);
    if (!is_our_host(http, MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host")))
        return send_text(connection, MHD_HTTP_FORBIDDEN, "This view answers to the names of loopback alone.\n", plain);
    if (strcmp(method, "GET") != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "There is nothing here but to look at.\n", plain);
    if (strcmp(url, "/") == 0)
        return send_text(connection, MHD_HTTP_OK, pt_embedded_watch_page, "text/html; charset=utf-8");
    if (strcmp(url, "/style.css") == 0)
        return send_text(connection, MHD_HTTP_OK, pt_embedded_watch_style, "text/css; charset=utf-8");
    if (strcmp(url, "/script.js") == 0)
        return send_text(connection, MHD_HTTP_OK, pt_embedded_watch_script, "text/javascript; charset=utf-8");
    if (strcmp(url, "/events") == 0)
        return send_response(connection, MHD_HTTP_OK, events_response(http, connection), "text/event-stream");
    return send_text(connection, MHD_HTTP_NOT_FOUND, "There is no such page.\n", plain);
}

/* --- the server --- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* HOST:PORT of loopback. */
static bool parse_address(const char *where, union address *ret_address, const char **ret_host)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t len = strlen(hosts[i]);
        char *end;
        if (strncmp(where, hosts[i], len) != 0 || where[len] != ':' || where[len + 1] < '0' || where[len + 1] > '9')
            continue;
        unsigned long port = strtoul(where + len + 1, &end, 10);
        if (*end || port > 65535)
            return false;
        *ret_host = hosts[i];
        if (i == 2)
            ret_address->v6 = (struct sockaddr_in6){
                .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_loopback};
        else
            ret_address->v4 = (struct sockaddr_in){
                .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
        return true;
    }
    return false;
}

enum pt_status pt_http_open(const char *where, struct pt_http **ret_http, struct pt_err *err)
{
    union address address;
    const char *host;
    if (!parse_address(where, &address, &host))
        return pt_err_set(err, PT_EUSAGE,
                          "--http takes a port of this machine alone, such as 127.0.0.1:8080, not '%.100s'", where);
    struct pt_http *http = pt_xcalloc(1, sizeof *http);
    http->clients.next = http->clients.previous = &http->clients;
    unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (address.any.sa_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    errno = 0;
    http->daemon = MHD_start_daemon(flags, 0, NULL, NULL, answer, http, MHD_OPTION_SOCK_ADDR, &address.any,
                                    MHD_OPTION_NOTIFY_CONNECTION, connection_changed, http, MHD_OPTION_CONNECTION_LIMIT,
                                    (unsigned)(MAX_CLIENTS + MAX_LEAVING), MHD_OPTION_CONNECTION_TIMEOUT,
                                    (unsigned)HEADER_SECONDS, MHD_OPTION_END);
    if (!http->daemon) {
        int why = errno;
        free(http);
        return pt_err_set(err, PT_EIO, "cannot listen on %.100s: %s", where,
                          why ? strerror(why) : "the address is not to be had");
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
    http->port = info ? info->port : 0;
    snprintf(http->url, sizeof http->url, "http://%s:%u/", host, http->port);
    *ret_http = http;
    return PT_OK;
}

const char *pt_http_url(const struct pt_http *http)
{
    return http->url;
}

void pt_http_show(struct pt_http *http, const struct pt_fleet *fleet)
{
    http->fleet = fleet;
}

int pt_http_wait(struct pt_http *http, int *timeout_ms)
{
    MHD_UNSIGNED_LONG_LONG wanted;
    if (MHD_get_timeout(http->daemon, &wanted) == MHD_YES && wanted < (unsigned)*timeout_ms)
        *timeout_ms = (int)wanted;
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

void pt_http_run(struct pt_http *http)
{
    MHD_run(http->daemon);
}

void pt_http_tick(struct pt_http *http)
{
    http->tick++;
    wake(http);
    MHD_run(http->daemon);
}

void pt_http_close(struct pt_http *http)
{
    if (!http)
        return;
    http->closing = true;
    http->tick++;
    for (int waited = 0; waited < FAREWELL_MS && http->readers; waited += 10) {
        int timeout = 10;
        wake(http);
        struct pollfd wanted = {.fd = pt_http_wait(http, &timeout), .events = POLLIN};
        poll(&wanted, 1, timeout);
        MHD_run(http->daemon);
    }
    wake(http); /* none may be suspended when it stops */
    MHD_stop_daemon(http->daemon);
    free(http);
}
