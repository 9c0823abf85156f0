/* What commands that analyse a run have in common: the options of the engine, and the properties to check. */
#ifndef PT_CLI_COMMON_ANALYSE_H
#define PT_CLI_COMMON_ANALYSE_H

#include "cli/common/options.h"
#include "cli/common/triage.h"
#include "engine/analysis.h"
#include "report/style.h"

/* Rows of the commands' tables of options. */
#define PT_OPTION_PROPERTIES                                                                                           \
    {                                                                                                                  \
        NULL, 's', "FILE.prop", NULL, "check the properties of this file; may be repeated"                             \
    }
#define PT_OPTION_MONITOR                                                                                              \
    {                                                                                                                  \
        "monitor", 0, "FILE.so", NULL,                                                                                 \
            "check with a monitor module of your own (a shared library, see portent-monitor.h); may be repeated"       \
    }
#define PT_OPTION_EXHAUSTIVE                                                                                           \
    {                                                                                                                  \
        "exhaustive", 0, NULL, NULL, "go on after a violation, so that all figures are exact"                          \
    }
#define PT_OPTION_JOBS                                                                                                 \
    {                                                                                                                  \
        "jobs", 0, "N", NULL, "use up to N threads (default: one per core); the result is the same"                    \
    }
#define PT_OPTION_MEMORY_LIMIT                                                                                         \
    {                                                                                                                  \
        "memory-limit", 0, "SIZE", NULL,                                                                               \
            "give up on a property, as unknown, when all together need more (K, M, G: powers of 1024)"                 \
    }
#define PT_OPTION_AUTOMATON_LIMIT                                                                                      \
    {                                                                                                                  \
        "automaton-limit", 0, "N", NULL, "give up on a property whose automaton needs more states (default: 100000)"   \
    }
#define PT_OPTION_COLOR                                                                                                \
    {                                                                                                                  \
        "color", 0, "WHEN", "auto always never", "colours: auto (default), always or never"                            \
    }

/* Of the memory that may be used, what part the events kept for one search of wider orders get at most. There are up to
 * four such searches in a command. */
enum { PT_LOG_SHARE = 8 };
#define PT_EFFORT_STANDARD ((uint64_t)2000000000) /* nanoseconds, of --effort */

struct pt_analyse {
    struct pt_analysis_options engine;
    uint32_t automaton_limit;
    struct pt_properties *props;
    struct pt_analysis_input *inputs;
    size_t input_cap;
    uint32_t input_count;
    struct pt_triage triage;
    char **messages; /* of inputs, owned */
    size_t message_cap;
    uint32_t message_count;
};

/* Everything as it is without options. */
void pt_analyse_init(struct pt_analyse *analyse, uint64_t window, uint64_t lookahead, const char *trace);
void pt_analyse_release(struct pt_analyse *analyse);
/* Takes one of the engine's options (by name: window, lookahead and those above). False after a message; *ret_taken:
 * it was one. */
bool pt_analyse_option(struct pt_analyse *analyse, const struct pt_option *option, const char *argument,
                       bool *ret_taken);
/* Loads the property files (-s) and modules (--monitor) of a command line. */
enum pt_status pt_analyse_load(struct pt_analyse *analyse, const struct pt_option *table,
                               const struct pt_parsed *parsed, struct pt_err *err) PT_WARN_UNUSED;

/* Loads the property of this name from a file, and no other. */
enum pt_status pt_analyse_load_one(struct pt_analyse *analyse, const char *path, const char *name,
                                   struct pt_err *err) PT_WARN_UNUSED;

/* The style of text for a descriptor: its width within reason, colours as `when` ("auto", "always", "never") says. */
struct pt_style pt_analyse_style(int fd, const char *when);

/* Whether all properties are about global states alone, and when they come does not matter: no thread's own, none with
 * `within`, no races, no modules. */
bool pt_analyse_only_states(const struct pt_analyse *analyse);

#endif
