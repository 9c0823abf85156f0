/*
 * Errors as values. A fallible function returns a pt_status and, unless that is PT_OK, has filled a struct
 * pt_err; outputs are then untouched. Nothing here allocates, so reporting an error cannot fail.
 */
#ifndef PT_BASE_ERR_H
#define PT_BASE_ERR_H

#include <stddef.h>
#include <stdint.h>

#define PT_WARN_UNUSED     __attribute__((warn_unused_result))
#define PT_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))

enum pt_status {
    PT_OK = 0,
    PT_EINPUT, /* a file or a text is malformed */
    PT_EUSAGE, /* the caller asked for something that makes no sense */
    PT_EIO,    /* the operating system refused */
    PT_ELIMIT, /* a limit was reached: the answer is unknown, not wrong */
    PT_EEVAL,  /* an expression has no value in some state (division by zero, unknown value, ...) */
};

struct pt_err {
    enum pt_status status;
    char file[256];    /* "" when the error has no place */
    uint64_t line;     /* from 1; 0: none */
    uint32_t column;   /* from 1, in bytes; 0: none */
    char message[512]; /* one sentence, without a full stop */
    char source[256];  /* the source line the error stands in, "" when there is none */
    char hint[256];    /* "did you mean 'always'?", "" when there is none */
};

/* Each fills *err and returns `status`, so that `return pt_err_set(...)` reads well. */
enum pt_status pt_err_set(struct pt_err *err, enum pt_status status, const char *fmt, ...) PT_PRINTF(3, 4);
enum pt_status pt_err_at(struct pt_err *err, enum pt_status status, const char *file, uint64_t line, uint32_t column,
                         const char *fmt, ...) PT_PRINTF(6, 7);
void pt_err_hint(struct pt_err *err, const char *fmt, ...) PT_PRINTF(2, 3);
/* The source line, without its newline; what is not printable ASCII or UTF-8 is shown as '?', a long line is cut. */
void pt_err_source(struct pt_err *err, const char *text, size_t len);

#endif
