/*
 * Functions of the C library that fill memory with text, from text, or with other memory.
 *
 * Guarantee: what they return is the real functions'. Those with a variable number of arguments call their counterpart
 * with a list. Cost: that of fill.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/wrap/fill.h"

static void printed(const struct pt_site *site, const char *buffer, int result)
{
    if (result >= 0)
        pt_fill(site, buffer, (size_t)result + 1);
}

static void made(const struct pt_site *site, char **text, int result)
{
    if (result >= 0)
        pt_fill(site, text, sizeof *text);
}

PT_FILLING(int, vsprintf, (char *buffer, const char *format, va_list list), (buffer, format, list),
           printed(site, buffer, result))
PT_FILLING(int, __vsprintf_chk, (char *buffer, int flag, size_t room, const char *format, va_list list),
           (buffer, flag, room, format, list), printed(site, buffer, result))
PT_FILLING(int, vasprintf, (char **text, const char *format, va_list list), (text, format, list),
           made(site, text, result))
PT_FILLING(int, __vasprintf_chk, (char **text, int flag, const char *format, va_list list), (text, flag, format, list),
           made(site, text, result))

#define PRINTS(name, by, parameters, arguments, report)                                                                \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        int result = PT_REAL(by) arguments;                                                                            \
        va_end(list);                                                                                                  \
        report;                                                                                                        \
        return result;                                                                                                 \
    }
PRINTS(sprintf, vsprintf, (char *buffer, const char *format, ...), (buffer, format, list),
       printed(site, buffer, result))
PRINTS(__sprintf_chk, __vsprintf_chk, (char *buffer, int flag, size_t room, const char *format, ...),
       (buffer, flag, room, format, list), printed(site, buffer, result))
PRINTS(asprintf, vasprintf, (char **text, const char *format, ...), (text, format, list), made(site, text, result))
PRINTS(__asprintf_chk, __vasprintf_chk, (char **text, int flag, const char *format, ...), (text, flag, format, list),
       made(site, text, result))

/* The end of the token was written there, unless it was one before; and where the next begins. */
static void token(const struct pt_site *site, const char *token, char *const *rest)
{
    if (token && pt_is_active())
        pt_fill(site, token + strlen(token), 1);
    pt_fill(site, rest, sizeof *rest);
}
PT_FILLING(char *, strtok, (char *text, const char *ends), (text, ends), token(site, result, NULL))
PT_FILLING(char *, strtok_r, (char *text, const char *ends, char **rest), (text, ends, rest), token(site, result, rest))
PT_FILLING(char *, strsep, (char **text, const char *ends), (text, ends), token(site, result, text))

/* GNU's returns another text where it has one of its own. */
PT_FILLING(char *, strerror_r, (int error, char *buffer, size_t size), (error, buffer, size),
           if (result == buffer) pt_fill_text(site, result))
PT_FILLING(int, __xpg_strerror_r, (int error, char *buffer, size_t size), (error, buffer, size),
           if (size) pt_fill_text(site, buffer))

PT_FILLING(void *, mempcpy, (void *to, const void *from, size_t size), (to, from, size), pt_fill(site, to, size))
PT_FILLING(void *, __mempcpy_chk, (void *to, const void *from, size_t size, size_t room), (to, from, size, room),
           pt_fill(site, to, size))
PT_FILLING(void *, memccpy, (void *to, const void *from, int last, size_t size), (to, from, last, size),
           pt_fill(site, to, result ? (size_t)((char *)result - (char *)to) : size))

#define FILLS_SILENTLY(name, parameters, arguments, to)                                                                \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        PT_REAL(name) arguments;                                                                                       \
        pt_fill(site, to, size);                                                                                       \
    }
FILLS_SILENTLY(bcopy, (const void *from, void *to, size_t size), (from, to, size), to)
FILLS_SILENTLY(bzero, (void *to, size_t size), (to, size), to)
FILLS_SILENTLY(explicit_bzero, (void *to, size_t size), (to, size), to)

/* The program's comparison looks at elements that have been moved, and that nobody has reported yet: see shadow/self.h.
 */
#define SORTS(name, parameters, arguments)                                                                             \
    PT_WRAP(void, name, parameters)                                                                                    \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        struct pt_shadow_self *self = pt_is_active() ? pt_self : NULL;                                                 \
        struct pt_moving before = self ? self->moving : (struct pt_moving){0};                                         \
        if (self)                                                                                                      \
            self->moving = (struct pt_moving){(uintptr_t)base, (uintptr_t)base + count * size,                         \
                                              (uintptr_t)__builtin_frame_address(0)};                                  \
        PT_REAL(name) arguments;                                                                                       \
        if (self)                                                                                                      \
            self->moving = before;                                                                                     \
        pt_fill(site, base, count *size);                                                                              \
    }
SORTS(qsort, (void *base, size_t count, size_t size, __compar_fn_t compare), (base, count, size, compare))
SORTS(qsort_r, (void *base, size_t count, size_t size, __compar_d_fn_t compare, void *context),
      (base, count, size, compare, context))
