/* Argument vectors: NULL-terminated, growing, and not owning the strings (those live in the driver's arena or in argv).
 */
#ifndef PT_INSTRUMENT_ARGS_H
#define PT_INSTRUMENT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct pt_args {
    const char **v; /* v[n] is NULL once anything was added */
    size_t n, cap;
};

static inline void pt_args_add(struct pt_args *args, const char *arg)
{
    PT_GROW(args->v, args->cap, args->n + 2);
    args->v[args->n++] = arg;
    args->v[args->n] = NULL;
}

static inline void pt_args_add2(struct pt_args *args, const char *option, const char *value)
{
    pt_args_add(args, option);
    pt_args_add(args, value);
}

static inline void pt_args_add_all(struct pt_args *args, const char *const *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pt_args_add(args, v[i]);
}

static inline bool pt_args_has(const struct pt_args *args, const char *arg)
{
    for (size_t i = 0; i < args->n; i++)
        if (strcmp(args->v[i], arg) == 0)
            return true;
    return false;
}

/* The argument after the last `option`; NULL when there is none. */
static inline const char *pt_args_value(const struct pt_args *args, const char *option)
{
    for (size_t i = args->n; i-- > 1;)
        if (strcmp(args->v[i - 1], option) == 0)
            return args->v[i];
    return NULL;
}

static inline void pt_args_release(struct pt_args *args)
{
    free(args->v);
    *args = (struct pt_args){0};
}

#endif
