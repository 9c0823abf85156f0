/*
 * Functions that fill memory from files, and with what is known of them.
 *
 * Guarantee: what they return and how they end is the real functions'. Cost: that of fill.c and, where something is
 * read out of a descriptor, of descriptor.c.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/wrap/fill.h"
#include "runtime/wrap/signal.h"

#undef fread_unlocked /* a macro for short reads */

/* As much as is returned; nothing after an error. */
static void returned(const struct pt_site *site, const void *buffer, ssize_t result)
{
    if (result > 0)
        pt_fill(site, buffer, (size_t)result);
}

/* A read of a signalfd returns signals, which were sent. */
static void took(int fd, int kind, const void *buffer, ssize_t result, const struct pt_site *site)
{
    if (result > 0 && __builtin_expect(pt_explore_on, 0))
        pt_explore_timer_read(fd);
    if (result < 0 || !pt_is_active())
        return;
    pt_descriptor_take(fd, kind, site);
    const struct signalfd_siginfo *signals = buffer;
    size_t count = pt_descriptor_is_of_signals(fd) ? (size_t)result / sizeof *signals : 0;
    for (size_t i = 0; i < count; i++)
        pt_signal_take((int)signals[i].ssi_signo, kind, site);
}
PT_FILLING_AT(ssize_t, read, (int fd, void *buffer, size_t size), (fd, buffer, size), PT_TURN_INPUT(fd, site),
              took(fd, PT_EFFECT(read), buffer, result, site);
              returned(site, buffer, result))
PT_FILLING_AT(ssize_t, __read_chk, (int fd, void *buffer, size_t size, size_t room), (fd, buffer, size, room),
              PT_TURN_INPUT(fd, site), took(fd, PT_EFFECT(__read_chk), buffer, result, site);
              returned(site, buffer, result))
PT_TAKING(int, eventfd_read, (int fd, eventfd_t *value), (fd, value), fd, result == 0,
          if (result == 0) pt_fill(site, value, sizeof *value))
PT_FILLING(ssize_t, pread, (int fd, void *buffer, size_t size, off_t at), (fd, buffer, size, at),
           returned(site, buffer, result))
PT_FILLING(ssize_t, pread64, (int fd, void *buffer, size_t size, off64_t at), (fd, buffer, size, at),
           returned(site, buffer, result))
PT_FILLING(ssize_t, __pread_chk, (int fd, void *buffer, size_t size, off_t at, size_t room),
           (fd, buffer, size, at, room), returned(site, buffer, result))
PT_FILLING(ssize_t, __pread64_chk, (int fd, void *buffer, size_t size, off64_t at, size_t room),
           (fd, buffer, size, at, room), returned(site, buffer, result))
PT_FILLING(ssize_t, readlink, (const char *path, char *buffer, size_t size), (path, buffer, size),
           returned(site, buffer, result))
PT_FILLING(ssize_t, __readlink_chk, (const char *path, char *buffer, size_t size, size_t room),
           (path, buffer, size, room), returned(site, buffer, result))
PT_FILLING(ssize_t, getrandom, (void *buffer, size_t size, unsigned flags), (buffer, size, flags),
           returned(site, buffer, result))

static void vector(const struct pt_site *site, const struct iovec *pieces, int count, ssize_t result)
{
    if (result > 0)
        pt_fill_vector(site, pieces, (size_t)count, (size_t)result);
}

PT_TAKING(ssize_t, readv, (int fd, const struct iovec *pieces, int count), (fd, pieces, count), fd, result >= 0,
          vector(site, pieces, count, result))
PT_FILLING(ssize_t, preadv, (int fd, const struct iovec *pieces, int count, off_t at), (fd, pieces, count, at),
           vector(site, pieces, count, result))
PT_FILLING(ssize_t, preadv64, (int fd, const struct iovec *pieces, int count, off64_t at), (fd, pieces, count, at),
           vector(site, pieces, count, result))

PT_TAKING_STREAM(size_t, fread, (void *buffer, size_t size, size_t count, FILE *stream), (buffer, size, count, stream),
                 pt_fill(site, buffer, result *size))
PT_TAKING_STREAM(size_t, fread_unlocked, (void *buffer, size_t size, size_t count, FILE *stream),
                 (buffer, size, count, stream), pt_fill(site, buffer, result *size))
PT_TAKING_STREAM(size_t, __fread_chk, (void *buffer, size_t room, size_t size, size_t count, FILE *stream),
                 (buffer, room, size, count, stream), pt_fill(site, buffer, result *size))
PT_TAKING_STREAM(char *, fgets, (char *buffer, int size, FILE *stream), (buffer, size, stream),
                 pt_fill_text(site, result))
PT_TAKING_STREAM(char *, fgets_unlocked, (char *buffer, int size, FILE *stream), (buffer, size, stream),
                 pt_fill_text(site, result))
PT_TAKING_STREAM(char *, __fgets_chk, (char *buffer, size_t room, int size, FILE *stream), (buffer, room, size, stream),
                 pt_fill_text(site, result))

/* Pointer and size are written when the buffer is a new one. */
#define LINE(name, parameters, arguments)                                                                              \
    PT_WRAP(ssize_t, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        const char *line_before = line && pt_is_active() ? *line : NULL;                                               \
        size_t size_before = size && pt_is_active() ? *size : 0;                                                       \
        ssize_t result = PT_REAL(name) arguments;                                                                      \
        pt_descriptor_take_stream(stream, PT_EFFECT(name), site);                                                      \
        if (result >= 0)                                                                                               \
            pt_fill(site, *line, (size_t)result + 1);                                                                  \
        if (line && pt_is_active() && *line != line_before)                                                            \
            pt_fill(site, line, sizeof *line);                                                                         \
        if (size && pt_is_active() && *size != size_before)                                                            \
            pt_fill(site, size, sizeof *size);                                                                         \
        return result;                                                                                                 \
    }
#ifndef PT_RT_STATIC
LINE(getline, (char **line, size_t *size, FILE *stream), (line, size, stream))
#endif
LINE(getdelim, (char **line, size_t *size, int end, FILE *stream), (line, size, end, stream))
LINE(__getdelim, (char **line, size_t *size, int end, FILE *stream), (line, size, end, stream))

/* Without a buffer these return one of their own, which is nobody's variable yet. */
PT_FILLING(char *, getcwd, (char *buffer, size_t size), (buffer, size), if (buffer) pt_fill_text(site, result))
PT_FILLING(char *, __getcwd_chk, (char *buffer, size_t size, size_t room), (buffer, size, room),
           if (buffer) pt_fill_text(site, result))
PT_FILLING(char *, realpath, (const char *path, char *buffer), (path, buffer), if (buffer) pt_fill_text(site, result))

static void fixed(const struct pt_site *site, const void *memory, size_t size, int result)
{
    if (result == 0)
        pt_fill(site, memory, size);
}

PT_FILLING(int, getentropy, (void *buffer, size_t size), (buffer, size), fixed(site, buffer, size, result))
PT_FILLING(int, pipe, (int ends[2]), (ends), if (result == 0) pt_descriptor_piped(ends);
           fixed(site, ends, sizeof(int[2]), result))
PT_FILLING(int, pipe2, (int ends[2], int flags), (ends, flags), if (result == 0) pt_descriptor_piped(ends);
           fixed(site, ends, sizeof(int[2]), result))
PT_FILLING(int, stat, (const char *path, struct stat *to), (path, to), fixed(site, to, sizeof *to, result))
PT_FILLING(int, lstat, (const char *path, struct stat *to), (path, to), fixed(site, to, sizeof *to, result))
PT_FILLING(int, fstat, (int fd, struct stat *to), (fd, to), fixed(site, to, sizeof *to, result))
PT_FILLING(int, fstatat, (int fd, const char *path, struct stat *to, int flags), (fd, path, to, flags),
           fixed(site, to, sizeof *to, result))
PT_FILLING(int, stat64, (const char *path, struct stat64 *to), (path, to), fixed(site, to, sizeof *to, result))
PT_FILLING(int, lstat64, (const char *path, struct stat64 *to), (path, to), fixed(site, to, sizeof *to, result))
PT_FILLING(int, fstat64, (int fd, struct stat64 *to), (fd, to), fixed(site, to, sizeof *to, result))

/* Requests have no common form: these are the ones that programs use for the variables of theirs. What another one
 * fills is found changed later. */
PT_WRAP(int, ioctl, (int fd, unsigned long request, ...))
{
    const struct pt_site *site = pt_call_take_fill();
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    int result = PT_REAL(ioctl)(fd, request, argument);
    if (request == FIONREAD || request == TIOCOUTQ)
        fixed(site, argument, sizeof(int), result);
    else if (request == TIOCGWINSZ)
        fixed(site, argument, sizeof(struct winsize), result);
    return result;
}
