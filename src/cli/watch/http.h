/*
 * The browser's view of the programs that are watched (--http): a page and its stream of server-sent events, for
 * loopback alone. /events is about all of them, /events?program=ID about one.
 */
#ifndef PT_CLI_WATCH_HTTP_H
#define PT_CLI_WATCH_HTTP_H

#include "base/err.h"

struct pt_http;
struct pt_fleet;

/* `where` is 127.0.0.1:PORT, localhost:PORT or [::1]:PORT; port 0 takes a free one. */
enum pt_status pt_http_open(const char *where, struct pt_http **ret_http, struct pt_err *err) PT_WARN_UNUSED;
/* What is to be shown; before that the page says that nothing is there yet. */
void pt_http_show(struct pt_http *http, const struct pt_fleet *fleet);
/* Sends the last state of things and closes. */
void pt_http_close(struct pt_http *http);
/* "http://127.0.0.1:8080/" */
const char *pt_http_url(const struct pt_http *http);

/* It has no thread of its own: wait for this descriptor, no longer than *timeout_ms, and then call pt_http_run. */
int pt_http_wait(struct pt_http *http, int *timeout_ms);
void pt_http_run(struct pt_http *http);
/* Something has changed: everybody who looks gets a message. */
void pt_http_tick(struct pt_http *http);

#endif
