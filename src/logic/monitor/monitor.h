/*
 * Monitors: what the engines drive along runs. A monitor reads one letter per state and says when the prefix read so
 * far is bad: no continuation satisfies the property or, where the property is judged state by state, it is false in
 * the last state. Monitors are deterministic (nondeterminism is determinised on the
 * fly), so along one run there is one monitor state; where runs meet in a cut, engines keep sets of them.
 *
 * Letters and monitor states are interned: small ids, equal ids for equal things. None of this is safe against
 * concurrent use of one monitor; engines with several threads take a lock around misses of their own caches.
 */
#ifndef PT_LOGIC_MONITOR_MONITOR_H
#define PT_LOGIC_MONITOR_MONITOR_H

#include "base/err.h"
#include "logic/lang/property.h"

struct pt_monitor;
struct portent_monitor;

typedef uint32_t pt_letter; /* the truth of the atoms in one state, or a module's view of it */
typedef uint32_t pt_mstate;
#define PT_MSTATE_BAD (UINT32_MAX - 1) /* the prefix is bad */
#define PT_MSTATE_ERROR                                                                                                \
    (UINT32_MAX - 2) /* an atom that matters has no value in this state: pt_monitor_error says which */

/* Limits the size of automata; PT_ELIMIT past it. The property outlives the monitor. */
enum pt_status pt_monitor_new(const struct pt_property *property, uint32_t state_limit, struct pt_monitor **ret_monitor,
                              struct pt_err *err) PT_WARN_UNUSED;
/* A user's own module (include/portent-monitor.h), already loaded and checked for its ABI number. */
struct pt_monitor *pt_monitor_of_module(const struct portent_monitor *module);
void pt_monitor_free(struct pt_monitor *monitor);

const char *pt_monitor_name(const struct pt_monitor *monitor);
/* NULL for a module. */
const struct pt_property *pt_monitor_property(const struct pt_monitor *monitor);
const struct pt_varref *pt_monitor_vars(const struct pt_monitor *monitor, uint32_t *ret_count);
const char *const *pt_monitor_events(const struct pt_monitor *monitor, uint32_t *ret_count);
/* Which of them an event of this name is, PT_NONE: none (pt_property_event). */
enum pt_status pt_monitor_event(const struct pt_monitor *monitor, const char *name, uint32_t *ret_event,
                                struct pt_err *err) PT_WARN_UNUSED;
/* The user events that it names, without those behind them that are several at once. */
uint32_t pt_monitor_named_events(const struct pt_monitor *monitor);
/* False when no finite prefix can be bad, so that "holds" would be empty praise. */
bool pt_monitor_monitorable(const struct pt_monitor *monitor);

/* The letter of a state: values in the order of vars; `event`: which of events made the state, or PT_NONE. */
pt_letter pt_monitor_letter(struct pt_monitor *monitor, const struct pt_value *values, uint32_t event);
/*
 * Variables that are read together with others, by an atom of several variables; a module's: all of them. Writing any
 * other variable changes the letter in a way that depends on the written value alone.
 */
const uint32_t *pt_monitor_joint_vars(const struct pt_monitor *monitor, uint32_t *ret_count);
bool pt_monitor_is_module(const struct pt_monitor *monitor);
/* Not for modules: an id for what writing `value` to variable `var` does to the atoms that read `var` alone. */
uint32_t pt_monitor_effect(struct pt_monitor *monitor, uint32_t var, struct pt_value value);
/* The constants in those atoms, at most so many: how many there are. None of a module. */
uint32_t pt_monitor_constants(const struct pt_monitor *monitor, uint32_t var, struct pt_value *values, uint32_t most);
/* Not for modules: the letter after that effect; after a write of a joint variable, whose atoms are evaluated anew over
 * `values` (only joint variables are looked at); and the same letter with user event `event` instead of none. */
pt_letter pt_monitor_apply(struct pt_monitor *monitor, pt_letter letter, uint32_t effect);
pt_letter pt_monitor_apply_joint(struct pt_monitor *monitor, pt_letter letter, uint32_t effect,
                                 const struct pt_value *values);
/* That evaluation by itself, which several threads may do at once, and the effect that it amounts to. */
struct pt_joint {
    uint64_t bits, unknown; /* the atoms over several variables that are true, that have no value */
};
struct pt_joint pt_monitor_eval_joint(const struct pt_monitor *monitor, const struct pt_value *values);
uint32_t pt_monitor_joint_effect(struct pt_monitor *monitor, struct pt_joint joint);
pt_letter pt_monitor_with_event(struct pt_monitor *monitor, pt_letter letter, uint32_t event);
/* The atoms that are true in a letter of a property, as a bit set. */
uint64_t pt_monitor_letter_bits(const struct pt_monitor *monitor, pt_letter letter);

/* The state before any letter; then one step per state of the run, the initial state first. */
pt_mstate pt_monitor_start(struct pt_monitor *monitor);
pt_mstate pt_monitor_step(struct pt_monitor *monitor, pt_mstate state, pt_letter letter);
/*
 * For engines that step the automaton themselves (`within`): the pruned automaton over the atoms, NULL for a past-time
 * formula without a bound and for a module; and the atoms whose truth is open in a letter, because they or atoms before
 * them have no value and the left-to-right evaluation does not decide without them. *ret_bits: the atoms that are true
 * for certain. The property does not need the open ones if every choice of their truth leads to the same; more than
 * PT_MAX_OPEN of them are not tried.
 */
enum { PT_MAX_OPEN = 10 };
const struct pt_automaton *pt_monitor_automaton(const struct pt_monitor *monitor);
uint64_t pt_monitor_open(const struct pt_monitor *monitor, pt_letter letter, uint64_t *ret_bits);
/* After PT_MSTATE_ERROR: which atom has no value, and why, in one sentence. */
void pt_monitor_error(struct pt_monitor *monitor, const struct pt_value *values, struct pt_err *err);
size_t pt_monitor_bytes(const struct pt_monitor *monitor);
/*
 * For processes that share an exploration, not for modules: a letter and a monitor state as bytes that mean the same to
 * every process with the same property, valid until the next one is made; and back.
 */
const void *pt_monitor_letter_text(const struct pt_monitor *monitor, pt_letter letter, size_t *ret_len);
pt_letter pt_monitor_letter_of_text(struct pt_monitor *monitor, const void *text, size_t len);
const void *pt_monitor_state_text(const struct pt_monitor *monitor, pt_mstate state, size_t *ret_len);
pt_mstate pt_monitor_state_of_text(struct pt_monitor *monitor, const void *text, size_t len);

/*
 * The truth of each distinct subformula in the last state of the run whose letters are given (the initial state first),
 * outermost first. `text` is the caller's to free. Empty for modules, and for formulas of more than some thousand
 * operators. *ret_rows, unless ret_rows is NULL: the same for every state, one row of values each, to be freed; NULL
 * when that would take more than 4 MiB.
 */
struct pt_explained {
    char *text;
    int value; /* 0, 1, or -1: the run so far does not settle it */
    uint32_t depth;
};
uint32_t pt_monitor_explain(const struct pt_monitor *monitor, const pt_letter *letters, uint32_t count,
                            struct pt_explained **ret_list, signed char **ret_rows);

/*
 * The formula without future operators that a property demands in every state, PT_NONE where it is not of that kind:
 * the property's own, or F of `always F`. Such a property is violated in exactly the states where that is false.
 */
pt_formula pt_property_state_formula(const struct pt_property *property);
/* The deterministic automaton of such a property, not pruned: it is left without a state where the formula is false. */
enum pt_status pt_property_state_automaton(const struct pt_property *property, uint32_t state_limit,
                                           struct pt_automaton **ret_aut, struct pt_err *err) PT_WARN_UNUSED;
/* The Büchi automaton of a property over its atoms (names: the atoms' texts): what `portent automaton` shows. */
enum pt_status pt_property_automaton(const struct pt_property *property, uint32_t state_limit,
                                     struct pt_automaton **ret_aut, struct pt_err *err) PT_WARN_UNUSED;

#endif
