/*
 * PORTENT_OPTIONS (contract 6): `name=value` pairs between spaces or colons. One table says what there is; `portent
 * run` and the runtime both read it, each doing its part, so the names mean the same on both sides.
 *
 * A colon separates only if a name and `=` follow, or another separator, or nothing: so `events=tcp:127.0.0.1:7777` is
 * one pair. A value in single or double quotes may hold anything else. Where a name comes twice, the last one counts.
 *
 * To add an option: a row here, and code that reads the field of that name.
 */
#ifndef PT_CORE_SETTINGS_H
#define PT_CORE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_OPTIONS_ENV     "PORTENT_OPTIONS"
#define PT_SAMPLE_STANDARD "1000" /* of sample=, where nothing is said */
enum { PT_SAMPLE_MAX = 1000000 };

/* A part of the text that was parsed, not NUL-terminated. */
struct pt_span {
    const char *at;
    size_t len;
};

enum pt_setting_type { PT_SETTING_FLAG, PT_SETTING_NUMBER, PT_SETTING_TEXT };

/* X(name, type, default, words, help): `words` are the values a text may have, "" for any; of a number, the least and
 * the greatest. Flags take 0 and 1, no and
 * yes, false and true. Without help it is for tests, and not listed: `counted_before` relevant events of each thread
 * are taken to have been, so that its first one has the next number in clocks. */
#define PT_SETTINGS(X)                                                                                                 \
    X(help, FLAG, "0", "", "list these options on standard error")                                                     \
    X(halt_on_error, FLAG, "0", "", "end the program at the first violation")                                          \
    X(exitcode, NUMBER, "66", "0 255", "exit status when a violation was found")                                       \
    X(log_path, TEXT, "stderr", "", "write messages to the file PATH.PID instead; stdout and stderr are those")        \
    X(suppressions, TEXT, "", "", "suppress the violations that this file lists")                                      \
    X(follow_fork, FLAG, "0", "", "observe the child of a fork from then on, and no longer its parent")                \
    X(verbosity, NUMBER, "0", "", "1: say what is observed; -1: no warnings")                                          \
    X(properties, TEXT, "", "", "check the decentralised properties of this file, made by 'portent compile'")          \
    X(races, FLAG, "0", "", "look for data races")                                                                     \
    X(atexit_sleep_ms, NUMBER, "1000", "", "at exit, let threads that still run go on so long while races are sought") \
    X(history_size, NUMBER, "1024", "",                                                                                \
      "MiB for the calls that earlier accesses were in, 1024 at most; then stacks are lost")                           \
    X(sample, NUMBER, "0", "", "look for races at one access in so many of places that run often; 0: at each")         \
    X(skip_file, TEXT, "", "", "look for no races in what comes from these files: patterns with commas")               \
    X(only_file, TEXT, "", "", "look for races only in what comes from these files")                                   \
    X(skip_function, TEXT, "", "", "look for no races in these functions")                                             \
    X(lifetimes, FLAG, "0", "", "look for uses of memory after its end, and blocks that are freed twice")              \
    X(lifetimes_quarantine_mb, NUMBER, "64", "",                                                                       \
      "lifetimes: keep freed blocks until so many MiB of others were freed")                                           \
    X(deadlocks, FLAG, "0", "", "look for deadlocks")                                                                  \
    X(on_deadlock, TEXT, "end", "end wait", "end the program when it is deadlocked, or leave it as it is")             \
    X(color, TEXT, "auto", "auto always never", "colours in reports")                                                  \
    X(events, TEXT, "", "", "listen at unix:PATH or tcp:127.0.0.1:PORT and send events to whoever connects")           \
    X(delay, TEXT, "", "", "pause before synchronisation: at most this share of a thread's time (5%), or seconds")     \
    X(seed, NUMBER, "0", "", "what delay= chooses its pauses by, to choose the same again")                            \
    X(record, TEXT, "", "", "record everything that threads do into this file, for 'portent check'")                   \
    X(record_limit, TEXT, "", "",                                                                                      \
      "record: keep the last SIZE bytes (K, M, G) of it; SIZE,stop: end it when it has so many")                       \
    X(events_any, FLAG, "0", "", "events= may name an address that other machines can reach")                          \
    X(calls, TEXT, "", "", "calls and returns of these functions are events: patterns with commas")                    \
    X(counted_before, NUMBER, "0", "", "")

#define PT_SETTING_FIELD_FLAG                               bool
#define PT_SETTING_FIELD_NUMBER                             int64_t
#define PT_SETTING_FIELD_TEXT                               struct pt_span
#define PT_SETTING_FIELD(name, type, standard, words, help) PT_SETTING_FIELD_##type name;
struct pt_settings {
    PT_SETTINGS(PT_SETTING_FIELD)
    uint32_t given; /* a bit for each row that the text has set */
};
#undef PT_SETTING_FIELD

#define PT_SETTING_NUMBER_OF(name, type, standard, words, help) PT_SETTING_AT_##name,
enum { PT_SETTINGS(PT_SETTING_NUMBER_OF) PT_SETTING_COUNT };
#undef PT_SETTING_NUMBER_OF

struct pt_setting {
    const char *name;
    enum pt_setting_type type;
    const char *standard, *words, *help;
    size_t offset;
};
extern const struct pt_setting pt_setting_rows[PT_SETTING_COUNT];

enum pt_setting_problem { PT_SETTING_UNKNOWN, PT_SETTING_BAD_VALUE };
/* `pair` is the text as given, `name` its beginning. */
typedef void (*pt_setting_complain)(void *context, enum pt_setting_problem problem, struct pt_span name,
                                    struct pt_span pair);

/* Defaults, then what the text says; NULL says nothing. The text must outlive the settings. */
void pt_settings_read(struct pt_settings *settings, const char *text, pt_setting_complain complain, void *context);
bool pt_span_is(struct pt_span span, const char *word);

static inline bool pt_setting_given(const struct pt_settings *settings, unsigned row)
{
    return settings->given >> row & 1;
}

#endif
