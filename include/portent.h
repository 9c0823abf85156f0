/*
 * Annotations for programs that run under Portent. C99 and C++. Needs no library: without Portent's runtime each call
 * is a load and a branch.
 *
 *   portent_event("write");                     a user event, for event(write) in properties
 *   portent_internal("busy", 3);                a thread-local variable of decentralised properties
 *   portent_begin("transfer");                  an atomic block; may nest
 *   portent_end("transfer");
 *   portent_watch(&p->balance, sizeof p->balance, PORTENT_INT, "balance");
 *                                               names a heap object; a second one under this name is balance#2
 *   portent_on_violation(callback, context);    called in the thread that violates a decentralised property
 *   portent_explore_body(function, context);    calls it: once, or under `portent explore` once for each schedule
 *
 * Names may be made up at run time; up to 1000 bytes of them count. An end that does not name the innermost open block
 * of its thread is ignored, and `portent run` says so. Callbacks are called in the order they were given, in the
 * thread where a decentralised property has become false, before it goes on; once each time it becomes false there,
 * not again while it stays so. They run outside of any lock of the runtime: they may take locks of the program that the
 * thread does not hold, touch its memory (their accesses are events of the thread like any others), and leave by
 * longjmp, exit or pthread_exit; not by a C++ exception, which ends the program: no handler expects one from an access
 * of memory. A violation inside a callback is reported and calls nothing; one in a thread that it starts calls it
 * there. A function that is explored joins all threads that it starts, and leaves what it uses as it has found it: it
 * is called again in the same process.
 */
#ifndef PORTENT_H
#define PORTENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum portent_type { PORTENT_INT, PORTENT_UINT, PORTENT_FLOAT, PORTENT_BOOL, PORTENT_CHARS };

typedef void (*portent_callback)(void *context, const char *property);

/* The runtime's side. Weak, so that a program links without it. */
#define PORTENT_WEAK_ __attribute__((weak))
extern void __portent_at(const char *file, unsigned line) PORTENT_WEAK_; /* where the next one of these stands */
extern void __portent_event(const char *name) PORTENT_WEAK_;
extern void __portent_internal(const char *name, long long value) PORTENT_WEAK_;
extern void __portent_begin(const char *name) PORTENT_WEAK_;
extern void __portent_end(const char *name) PORTENT_WEAK_;
extern void __portent_watch(const void *address, size_t size, int type, const char *name) PORTENT_WEAK_;
extern void __portent_on_violation(portent_callback callback, void *context) PORTENT_WEAK_;
extern void __portent_explore_body(void (*body)(void *context), void *context) PORTENT_WEAK_;
#undef PORTENT_WEAK_

static inline void portent_at_(const char *file, unsigned line)
{
    if (__portent_at)
        __portent_at(file, line);
}
static inline void portent_event(const char *file, unsigned line, const char *name)
{
    if (__portent_event) {
        portent_at_(file, line);
        __portent_event(name);
    }
}
static inline void portent_internal(const char *file, unsigned line, const char *name, long long value)
{
    if (__portent_internal) {
        portent_at_(file, line);
        __portent_internal(name, value);
    }
}
static inline void portent_begin(const char *file, unsigned line, const char *name)
{
    if (__portent_begin) {
        portent_at_(file, line);
        __portent_begin(name);
    }
}
static inline void portent_end(const char *file, unsigned line, const char *name)
{
    if (__portent_end) {
        portent_at_(file, line);
        __portent_end(name);
    }
}
/* Places are passed by macros of the same names, so that callers need not be instrumented. */
#define portent_event(...)    portent_event(__FILE__, __LINE__, __VA_ARGS__)
#define portent_internal(...) portent_internal(__FILE__, __LINE__, __VA_ARGS__)
#define portent_begin(...)    portent_begin(__FILE__, __LINE__, __VA_ARGS__)
#define portent_end(...)      portent_end(__FILE__, __LINE__, __VA_ARGS__)
static inline void portent_watch(const void *address, size_t size, enum portent_type type, const char *name)
{
    if (__portent_watch)
        __portent_watch(address, size, (int)type, name);
}
static inline void portent_on_violation(portent_callback callback, void *context)
{
    if (__portent_on_violation)
        __portent_on_violation(callback, context);
}
static inline void portent_explore_body(void (*body)(void *context), void *context)
{
    if (__portent_explore_body)
        __portent_explore_body(body, context);
    else
        body(context);
}

#ifdef __cplusplus
}
#endif
#endif
