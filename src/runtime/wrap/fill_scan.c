/*
 * Functions of the C library that fill memory with what a text says: scanf and strtol, with their kin.
 *
 * Their headers put other names in the place of these, by which of the languages' versions they are compiled for, so
 * they are not included here: the wrapper of each name calls the function of that name.
 *
 * Guarantee: what they return is the real functions'. Cost: that of fill.c, and of reading a format again (scan.c).
 */
#include <stdarg.h>

#include "runtime/wrap/fill.h"
#include "runtime/wrap/scan.h"

typedef struct _IO_FILE FILE;

#ifdef PT_RT_STATIC
/* The newest names that headers of the C library put in the place of others: a library before them does not have them.
 */
#define NEWER(returns, name, parameters) returns __real_##name parameters __attribute__((weak))
NEWER(int, __isoc23_vscanf, (const char *format, va_list list));
NEWER(int, __isoc23_vfscanf, (FILE * stream, const char *format, va_list list));
NEWER(int, __isoc23_vsscanf, (const char *text, const char *format, va_list list));
NEWER(long, __isoc23_strtol, (const char *text, char **end, int base));
NEWER(long long, __isoc23_strtoll, (const char *text, char **end, int base));
NEWER(unsigned long, __isoc23_strtoul, (const char *text, char **end, int base));
NEWER(unsigned long long, __isoc23_strtoull, (const char *text, char **end, int base));
#endif

/* The function with a list, and the one with arguments. */
#define SCANS_LIST(name, parameters, arguments, taken)                                                                 \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        va_list own;                                                                                                   \
        va_copy(own, list);                                                                                            \
        int result = PT_REAL(name) arguments;                                                                          \
        taken;                                                                                                         \
        pt_scan_report(site, format, own, result);                                                                     \
        va_end(own);                                                                                                   \
        return result;                                                                                                 \
    }
#define SCANS(name, by, parameters, arguments, taken)                                                                  \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        va_list list, own;                                                                                             \
        va_start(list, format);                                                                                        \
        va_copy(own, list);                                                                                            \
        int result = PT_REAL(by) arguments;                                                                            \
        taken;                                                                                                         \
        pt_scan_report(site, format, own, result);                                                                     \
        va_end(own);                                                                                                   \
        va_end(list);                                                                                                  \
        return result;                                                                                                 \
    }
#define TAKEN(name) pt_descriptor_take_stream(stream, PT_EFFECT(name), site)
#define SCAN_FAMILY(prefix)                                                                                            \
    SCANS_LIST(prefix##vscanf, (const char *format, va_list list), (format, list), )                                   \
    SCANS_LIST(prefix##vfscanf, (FILE * stream, const char *format, va_list list), (stream, format, list),             \
               TAKEN(prefix##vfscanf))                                                                                 \
    SCANS_LIST(prefix##vsscanf, (const char *text, const char *format, va_list list), (text, format, list), )          \
    SCANS(prefix##scanf, prefix##vscanf, (const char *format, ...), (format, list), )                                  \
    SCANS(prefix##fscanf, prefix##vfscanf, (FILE * stream, const char *format, ...), (stream, format, list),           \
          TAKEN(prefix##fscanf))                                                                                       \
    SCANS(prefix##sscanf, prefix##vsscanf, (const char *text, const char *format, ...), (text, format, list), )
SCAN_FAMILY()
SCAN_FAMILY(__isoc99_)
SCAN_FAMILY(__isoc23_)

/* Where the number ended. */
#define NUMBER(returns, name)                                                                                          \
    PT_FILLING(returns, name, (const char *text, char **end, int base), (text, end, base),                             \
               pt_fill(site, end, sizeof *end))
#define FLOAT(returns, name)                                                                                           \
    PT_FILLING(returns, name, (const char *text, char **end), (text, end), pt_fill(site, end, sizeof *end))
NUMBER(long, strtol)
NUMBER(long long, strtoll)
NUMBER(unsigned long, strtoul)
NUMBER(unsigned long long, strtoull)
NUMBER(long, __isoc23_strtol)
NUMBER(long long, __isoc23_strtoll)
NUMBER(unsigned long, __isoc23_strtoul)
NUMBER(unsigned long long, __isoc23_strtoull)
FLOAT(double, strtod)
FLOAT(float, strtof)
FLOAT(long double, strtold)
