/*
 * What goes through descriptors: who puts something into a pipe, a socket, an eventfd comes before who takes it out.
 *
 * Each direction of a pipe or connection is a *queue*, an object of synchronisation; a descriptor has a queue from
 * which it takes and one into which it puts, which may be the same. Descriptors that were copied, or passed on, share
 * their queues; a number that is used again has others. Regular files, terminals, and what the program was started with
 * as standard input, output and error have none: their other end is nobody in this process.
 */
#ifndef PT_RUNTIME_WRAP_DESCRIPTOR_H
#define PT_RUNTIME_WRAP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "core/site.h"
#include "runtime/sys/runtime.h"

/* What a queue is known by, whatever descriptor leads to it: a hash of 128 bits. All 0: it has no identity. */
struct pt_identity {
    uint64_t first, second;
};

/* What a descriptor is. */
struct pt_described {
    const char *sort;           /* what its queues are called; NULL: it has none */
    struct pt_identity in, out; /* both without an identity: a queue of its own, for both */
    struct pt_identity own;     /* of a socket: itself, by which a pair is known */
    bool lasts;                 /* the answer will be the same as long as the descriptor is open */
    bool takes, puts;           /* it has that queue */
};

/* descriptor_key.c: asks the kernel. `ret_text` has room for PT_SORT_MAX bytes, in which `sort` may lie. */
enum { PT_SORT_MAX = 64 };
void pt_describe(int fd, char *ret_text, struct pt_described *ret_described);
/* The queue into which a message to this address goes; without identity: nobody's. `listener`: a connection's. */
struct pt_identity pt_describe_address(const struct sockaddr *address, socklen_t len, bool listener);
/* That of a socket that accepts connections. */
struct pt_identity pt_describe_listener(int fd);
/* A socket, by itself. */
struct pt_identity pt_describe_socket(int fd);

/* The rest does nothing without an observer. Kinds are those of pt_slow_sync. */
void pt_descriptor_sync(int fd, bool puts, int kind, const struct pt_site *site);
void pt_descriptor_sync_address(int fd, const struct sockaddr *address, socklen_t len, bool listener, int kind,
                                const struct pt_site *site);
void pt_descriptor_sync_listener(int fd, int kind, const struct pt_site *site);
/* From here on what comes out of `to` may have been put into `from`: whoever takes it knows of both. */
void pt_descriptor_feed(int from, int to);
/* It has an entry. */
bool pt_descriptor_is_known(int fd);
void pt_descriptor_forget(int fd);
void pt_descriptor_copy(int from, int to);
void pt_descriptor_piped(const int ends[2]);
void pt_descriptor_paired(const int ends[2]);
/* Does a read of it return signals (signalfd)? */
bool pt_descriptor_is_of_signals(int fd);

/* Something goes in; before the call. */
static inline void pt_descriptor_put(int fd, int kind, const struct pt_site *site)
{
    if (pt_is_active())
        pt_descriptor_sync(fd, true, kind, site);
}

/* Something came out, or its end was found; after the call. */
static inline void pt_descriptor_take(int fd, int kind, const struct pt_site *site)
{
    if (pt_is_active())
        pt_descriptor_sync(fd, false, kind, site);
}

/* The same for what a stream of libc has its bytes from, or gives them to (stdio.c). */
struct _IO_FILE;
void pt_descriptor_sync_stream(struct _IO_FILE *stream, bool puts, int kind, const struct pt_site *site);
static inline void pt_descriptor_put_stream(struct _IO_FILE *stream, int kind, const struct pt_site *site)
{
    if (pt_is_active())
        pt_descriptor_sync_stream(stream, true, kind, site);
}
static inline void pt_descriptor_take_stream(struct _IO_FILE *stream, int kind, const struct pt_site *site)
{
    if (pt_is_active())
        pt_descriptor_sync_stream(stream, false, kind, site);
}

#endif
