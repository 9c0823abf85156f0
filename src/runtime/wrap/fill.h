/*
 * Memory that a function behind ours has filled: the kernel's, or the C library's code, which is not instrumented. The
 * wrapper calls the function and, when it has returned, reports a write of what was filled, exactly as long as the
 * result says, as an event of the calling thread at the place of its call. Nothing is locked while the function runs,
 * so it may block, be cancelled or be interrupted as ever.
 */
#ifndef PT_RUNTIME_WRAP_FILL_H
#define PT_RUNTIME_WRAP_FILL_H

#include <stddef.h>
#include <string.h>
#include <sys/uio.h>

#include "runtime/shadow/slow.h"
#include "runtime/sys/runtime.h"
#include "runtime/thread/call.h"
#include "runtime/wrap/descriptor.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/turn.h"

void pt_fill_report(const struct pt_site *site, const void *memory, size_t size);

/* `size` bytes of `memory`, which may be NULL, were written. */
static inline void pt_fill(const struct pt_site *site, const void *memory, size_t size)
{
    if (__builtin_expect(pt_is_active(), 0) && memory && size)
        pt_fill_report(site, memory, size);
}

/* A text with its end. */
static inline void pt_fill_text(const struct pt_site *site, const char *text)
{
    if (__builtin_expect(pt_is_active(), 0) && text)
        pt_fill_report(site, text, strlen(text) + 1);
}

/* `size` bytes of `memory` are about to be read by the function. Nobody is told what a library has read in its own
 * calls: it orders its threads by what cannot be seen. */
static inline void pt_read(const struct pt_site *site, const void *memory, size_t size)
{
    if (__builtin_expect(pt_is_active(), 0) && site && memory && size)
        pt_slow_read(memory, size, site);
}
static inline void pt_read_text(const struct pt_site *site, const char *text)
{
    if (__builtin_expect(pt_is_active(), 0) && site && text)
        pt_slow_read(text, strlen(text) + 1, site);
}
static inline void pt_read_vector(const struct pt_site *site, const struct iovec *pieces, size_t count)
{
    for (size_t i = 0; i < count && site && pt_is_active(); i++)
        pt_read(site, pieces[i].iov_base, pieces[i].iov_len);
}

/* The first `size` bytes of the pieces. */
void pt_fill_vector(const struct pt_site *site, const struct iovec *pieces, size_t count, size_t size);

/* A wrapper that calls the function, and then does `report` with its `result` and the `site` of the call. */
#define PT_FILLING(returns, name, parameters, arguments, report)                                                       \
    PT_FILLING_AT(returns, name, parameters, arguments, (void)site, report)
/* The same of one that may wait in the kernel, and is not played where threads are scheduled. */
#define PT_FILLING_LATE(returns, name, parameters, arguments, report)                                                  \
    PT_FILLING_AT(returns, name, parameters, arguments, pt_turn_away(site), pt_turn_back(site); report)
/* `turn` comes first: where threads are scheduled, whether the call would wait. */
#define PT_FILLING_AT(returns, name, parameters, arguments, turn, report)                                              \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        turn;                                                                                                          \
        returns result = PT_REAL(name) arguments;                                                                      \
        report;                                                                                                        \
        return result;                                                                                                 \
    }

/* The same where what is filled comes out of `from`, a descriptor, if `taken`. */
#define PT_TAKING(returns, name, parameters, arguments, from, taken, report)                                           \
    PT_FILLING_AT(returns, name, parameters, arguments, PT_TURN_INPUT(from, site),                                     \
                  if (taken) pt_descriptor_take(from, PT_EFFECT(name), site);                                          \
                  report)
/* And out of a stream: its end was found, too. */
#define PT_TAKING_STREAM(returns, name, parameters, arguments, report)                                                 \
    PT_FILLING_AT(returns, name, parameters, arguments, pt_turn_stream(stream, site),                                  \
                  pt_descriptor_take_stream(stream, PT_EFFECT(name), site);                                            \
                  report)

#endif
