/*
 * Streams over descriptors: libc reads and writes them inside, at times of its own. So each function that may write
 * puts into the descriptor, whether or not anything leaves the buffer, and each that returns something read takes out
 * of it. What reads is in fill_file.c and fill_scan.c where it fills memory, else here. Functions that are about
 * standard input or output without naming it (printf, getchar) are left alone.
 *
 * Guarantee: what they do and return is the real functions'. Cost: without an observer a load and a branch; with one
 * that of descriptor.c, which for a stream that is no pipe or socket is an array element.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "runtime/wrap/descriptor.h"
#include "runtime/wrap/file_lock.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

/* Macros, some of them. */
#undef fputc_unlocked
#undef putc
#undef putc_unlocked
#undef getc
#undef getc_unlocked
#undef fgetc_unlocked
#undef fwrite_unlocked

void pt_descriptor_sync_stream(FILE *stream, bool puts, int kind, const struct pt_site *site)
{
    int error = errno; /* a stream without a descriptor sets it */
    int fd = stream ? fileno_unlocked(stream) : -1;
    if (fd >= 0)
        pt_descriptor_sync(fd, puts, kind, site);
    errno = error;
}

#define WRITING_WHAT(returns, name, parameters, arguments, reads)                                                      \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        reads;                                                                                                         \
        pt_descriptor_put_stream(stream, PT_EFFECT(name), site);                                                       \
        return PT_REAL(name) arguments;                                                                                \
    }
#define WRITING(returns, name, parameters, arguments) WRITING_WHAT(returns, name, parameters, arguments, )
WRITING_WHAT(size_t, fwrite, (const void *buffer, size_t size, size_t count, FILE *stream),
             (buffer, size, count, stream), pt_read(site, buffer, size *count))
WRITING_WHAT(size_t, fwrite_unlocked, (const void *buffer, size_t size, size_t count, FILE *stream),
             (buffer, size, count, stream), pt_read(site, buffer, size *count))
WRITING_WHAT(int, fputs, (const char *text, FILE *stream), (text, stream), pt_read_text(site, text))
WRITING_WHAT(int, fputs_unlocked, (const char *text, FILE *stream), (text, stream), pt_read_text(site, text))
WRITING(int, fputc, (int byte, FILE *stream), (byte, stream))
WRITING(int, fputc_unlocked, (int byte, FILE *stream), (byte, stream))
WRITING(int, putc, (int byte, FILE *stream), (byte, stream))
WRITING(int, putc_unlocked, (int byte, FILE *stream), (byte, stream))
WRITING(int, fflush, (FILE * stream), (stream))
WRITING(int, fflush_unlocked, (FILE * stream), (stream))
WRITING(int, vfprintf, (FILE * stream, const char *format, va_list list), (stream, format, list))
WRITING(int, __vfprintf_chk, (FILE * stream, int flag, const char *format, va_list list), (stream, flag, format, list))

#define LISTED(name, by, parameters, arguments, put)                                                                   \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        va_list list;                                                                                                  \
        put;                                                                                                           \
        va_start(list, format);                                                                                        \
        int result = PT_REAL(by) arguments;                                                                            \
        va_end(list);                                                                                                  \
        return result;                                                                                                 \
    }
LISTED(fprintf, vfprintf, (FILE * stream, const char *format, ...), (stream, format, list),
       pt_descriptor_put_stream(stream, PT_EFFECT(fprintf), site))
LISTED(__fprintf_chk, __vfprintf_chk, (FILE * stream, int flag, const char *format, ...), (stream, flag, format, list),
       pt_descriptor_put_stream(stream, PT_EFFECT(__fprintf_chk), site))

/* These write at once. */
#define DIRECTLY(name, parameters, arguments)                                                                          \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        pt_descriptor_put(fd, PT_EFFECT(name), pt_call_take_fill());                                                   \
        return PT_REAL(name) arguments;                                                                                \
    }
DIRECTLY(vdprintf, (int fd, const char *format, va_list list), (fd, format, list))
DIRECTLY(__vdprintf_chk, (int fd, int flag, const char *format, va_list list), (fd, flag, format, list))
LISTED(dprintf, vdprintf, (int fd, const char *format, ...), (fd, format, list),
       pt_descriptor_put(fd, PT_EFFECT(dprintf), site))
LISTED(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...), (fd, flag, format, list),
       pt_descriptor_put(fd, PT_EFFECT(__dprintf_chk), site))

#define READING(name)                                                                                                  \
    PT_WRAP(int, name, (FILE * stream))                                                                                \
    {                                                                                                                  \
        int result = PT_REAL(name)(stream);                                                                            \
        pt_descriptor_take_stream(stream, PT_EFFECT(name), NULL);                                                      \
        return result;                                                                                                 \
    }
READING(fgetc)
READING(fgetc_unlocked)
READING(getc)
READING(getc_unlocked)

/* What is left in the buffer is written, and the descriptor closed. */
static void closes(FILE *stream, int kind, const struct pt_site *site)
{
    int error = errno, fd = pt_is_watching() && stream ? fileno_unlocked(stream) : -1;
    errno = error;
    if (fd < 0)
        return;
    pt_file_lock_closes(fd);
    pt_descriptor_put(fd, kind, site);
    pt_descriptor_forget(fd);
    pt_descriptor_sync_number(fd, kind, site);
}

#define CLOSING(returns, name, parameters, arguments)                                                                  \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        closes(stream, PT_EFFECT(name), pt_call_take_fill());                                                          \
        return PT_REAL(name) arguments;                                                                                \
    }
CLOSING(int, fclose, (FILE * stream), (stream))
CLOSING(int, pclose, (FILE * stream), (stream))
CLOSING(FILE *, freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
CLOSING(FILE *, freopen64, (const char *path, const char *mode, FILE *stream), (path, mode, stream))

/* The lock of a stream. It may be taken by its holder again, and who waits for it may wait for somebody who prints. */
PT_WRAP(void, flockfile, (FILE * stream))
{
    const struct pt_site *site = pt_call_take(stream);
    pt_wrap_blocks(stream, PT_GATE_WAITS_LOCK);
    PT_REAL(flockfile)(stream);
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    pt_wrap_sync_as(stream, PT_EFFECT(flockfile), site, true);
}

PT_WRAP(int, ftrylockfile, (FILE * stream))
{
    const struct pt_site *site = pt_call_take(stream);
    int result = PT_REAL(ftrylockfile)(stream);
    if (result == 0)
        pt_wrap_sync(stream, PT_EFFECT(ftrylockfile), site);
    return result;
}

PT_WRAP(void, funlockfile, (FILE * stream))
{
    pt_wrap_sync(stream, PT_EFFECT(funlockfile), pt_call_take(stream));
    PT_REAL(funlockfile)(stream);
}
