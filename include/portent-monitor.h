/*
 * The interface of a monitor module of your own: `portent check --monitor FILE.so`. C99 and C++.
 *
 * A monitor is a deterministic machine that reads the states of a run one after the other, the initial state first, and
 * says when the run has become bad. Portent drives it along *every* run that the trace's causal order allows, so its
 * states must be plain values: Portent copies them with memcpy, keeps many of them at once, and merges equal ones.
 *
 *   #include <portent-monitor.h>
 *   ...
 *   static const struct portent_monitor monitor = { PORTENT_MONITOR_ABI, "no_overdraft", variables, events,
 *                                                   sizeof(struct state), init, step, is_bad, hash, equal };
 *   const struct portent_monitor *portent_monitor(void) { return &monitor; }
 *
 * Build: cc -shared -fPIC -o mine.so mine.c. A worked example stands in examples/monitor.
 */
#ifndef PORTENT_MONITOR_H
#define PORTENT_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PORTENT_MONITOR_ABI 1u

enum portent_value_kind {
    PORTENT_VALUE_UNKNOWN = 0, /* the trace does not give the value */
    PORTENT_VALUE_INT = 1,
    PORTENT_VALUE_UINT = 2, /* an integer above INT64_MAX */
    PORTENT_VALUE_FLOAT = 3,
    PORTENT_VALUE_BOOL = 4, /* in `i`, 0 or 1 */
    PORTENT_VALUE_STRING = 5
};

struct portent_value {
    uint32_t kind; /* enum portent_value_kind */
    uint32_t len;  /* of a string */
    union {
        int64_t i;
        uint64_t u;
        double d;
        const char *s; /* NUL-terminated; valid as long as the analysis lasts */
    } as;
};

/* The program state a monitor is shown. */
struct portent_state {
    const struct portent_value *values; /* in the order of `variables`; 0 where the trace gives no initial value */
    int event;                          /* which of `events` made this state, or -1 */
};

struct portent_monitor {
    uint32_t abi;                 /* PORTENT_MONITOR_ABI */
    const char *name;             /* shown in reports */
    const char *const *variables; /* the trace's names of the variables it reads, then NULL */
    const char *const *events;    /* user events it reads, then NULL; may be NULL itself */
    size_t state_size;            /* bytes of one monitor state, 1 to 1 MiB */
    void (*init)(void *state);    /* before the first program state; `state` is zeroed */
    void (*step)(void *state, const struct portent_state *program); /* one more program state */
    int (*is_bad)(const void *state);                               /* non-zero: the run so far is bad */
    uint64_t (*hash)(const void *state);                            /* equal states, equal hashes */
    int (*equal)(const void *a, const void *b);                     /* non-zero: they behave alike from here on */
};

/* The one symbol a module exports. The functions may be called from one thread at a time. */
const struct portent_monitor *portent_monitor(void);

#ifdef __cplusplus
}
#endif
#endif
