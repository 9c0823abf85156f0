/*
 * Whether the answer of a run is whole, decided in one place: a table of the reasons why it may not be, each of which
 * looks at the facts of a run that has ended and says in words what it finds. A bounded window is no reason: the report
 * says so by itself. Guarantee: the answer is whole exactly when no row of the table applies; of several processes,
 * when none applies to any of them, and each property met what it names in at least one. The cost is one look at each
 * finding per row.
 */
#include "cli/run/whole.h"

#include <string.h>

#include "logic/monitor/monitor.h"

enum { MAX_LISTED = 4 };

/* Has this finding, of this input (NULL: of a built-in check), the defect that a row is about? */
typedef bool (*defect)(const struct pt_whole_facts *facts, const struct pt_finding *finding,
                       const struct pt_analysis_input *input);

static bool is_error(const struct pt_whole_facts *facts, const struct pt_finding *finding,
                     const struct pt_analysis_input *input)
{
    (void)facts, (void)input;
    return finding->verdict == PT_VERDICT_ERROR;
}

static bool is_not_monitorable(const struct pt_whole_facts *facts, const struct pt_finding *finding,
                               const struct pt_analysis_input *input)
{
    (void)facts, (void)input;
    return !finding->monitorable;
}

/* Events of a run have no times: what it was judged by is the automaton alone, and nothing says that it was never late.
 */
static bool is_untimed(const struct pt_whole_facts *facts, const struct pt_finding *finding,
                       const struct pt_analysis_input *input)
{
    (void)facts, (void)input;
    return strcmp(finding->kind, "within") == 0 && finding->verdict == PT_VERDICT_HOLDS &&
           !finding->within.bound_in_events && !finding->within.timed;
}

static bool lists(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* A variable that never came up was taken to be 0: one is enough. A user event that did not happen is an answer, unless
 * there is nothing else that the property is about. Where nothing was observed, or some was lost, names say nothing. */
static bool is_unseen(const struct pt_whole_facts *facts, const struct pt_finding *finding,
                      const struct pt_analysis_input *input)
{
    uint32_t var_count, event_count, unseen = 0;
    if (!facts->started || facts->lost || !finding->unseen || !input)
        return false;
    if (!input->monitor) /* at a thread that never ran: its threads found out, and the names of variables are certain */
        return finding->unseen[0] && (strcmp(finding->kind, "mttl") == 0 || strcmp(finding->kind, "race") == 0);
    const struct pt_varref *vars = pt_monitor_vars(input->monitor, &var_count);
    event_count = pt_monitor_named_events(input->monitor);
    for (uint32_t v = 0; v < var_count; v++) {
        if (lists(finding->unseen, vars[v].name))
            return true;
    }
    while (finding->unseen[unseen])
        unseen++;
    return unseen && unseen == event_count && !var_count;
}

/* Events that are lost and accesses that are left out make verdicts unknown too, and are reported as such. */
static bool is_cut_short(const struct pt_whole_facts *facts, const struct pt_finding *finding,
                         const struct pt_analysis_input *input)
{
    bool doubted = input ? facts->doubted && facts->doubted[input - facts->inputs] : facts->sampled != NULL;
    return finding->verdict == PT_VERDICT_UNKNOWN && facts->started && !facts->lost && !doubted;
}

static const char *not_observed(const struct pt_whole_facts *facts)
{
    return facts->started ? NULL : "nothing was observed";
}

static const char *lost(const struct pt_whole_facts *facts)
{
    return facts->started ? facts->lost : NULL;
}

static const char *sampled(const struct pt_whole_facts *facts)
{
    return facts->sampled;
}

static const char *foreign(const struct pt_whole_facts *facts)
{
    return facts->foreign;
}

static const char *unobserved(const struct pt_whole_facts *facts)
{
    return !facts->unobserved       ? NULL
           : facts->unobserved == 1 ? "a process that it forked went on without exec, and was not observed"
                                    : "processes that it forked went on without exec, and were not observed";
}

static const char *late(const struct pt_whole_facts *facts)
{
    return facts->late;
}

static const char *unwritten(const struct pt_whole_facts *facts)
{
    return facts->unwritten;
}

static const char unseen_words[] = "named what was not observed";

/* A row is about the run, and then `of_run` gives its words or NULL, or about single properties. */
static const struct reason {
    const char *(*of_run)(const struct pt_whole_facts *facts);
    defect of_property;
    const char *words; /* before what of_run gives, or after the properties' names */
} reasons[] = {
    {not_observed, NULL, ""},
    {lost, NULL, ""},
    {sampled, NULL, ""},
    {NULL, is_error, "could not be evaluated"},
    {NULL, is_unseen, unseen_words},
    {NULL, is_not_monitorable, "can never be violated"},
    {NULL, is_untimed, "could not be judged by time, which 'portent watch' has"},
    {NULL, is_cut_short, "remained unknown, because the analysis was cut short"},
    {foreign, NULL, "code that is not instrumented wrote "},
    {late, NULL, "too late for its initial value to count, the program named "},
    {unobserved, NULL, ""},
    {unwritten, NULL, ""},
};

static void put_name(struct pt_buf *names, uint32_t *count, const char *name)
{
    if (*count < MAX_LISTED)
        pt_buf_printf(names, "%s'%s'", *count ? ", " : "", name);
    else if (*count == MAX_LISTED)
        pt_buf_puts(names, ", ...");
    ++*count;
}

static void put_reason(const struct pt_buf *names, uint32_t count, const char *words, struct pt_buf *buf)
{
    if (count)
        pt_buf_printf(buf, "%s%s %s %s", buf->len ? "; " : "", count == 1 ? "property" : "properties", names->text,
                      words);
}

/* What the finding was made from; NULL: a built-in check, which comes after the properties. */
static const struct pt_analysis_input *input_of(const struct pt_whole_facts *facts, uint32_t finding)
{
    return finding < facts->input_count ? &facts->inputs[finding] : NULL;
}

static void put_properties(const struct pt_whole_facts *facts, const struct reason *reason, struct pt_buf *buf)
{
    uint32_t count = 0;
    struct pt_buf names;
    pt_buf_init(&names);
    for (uint32_t i = 0; i < facts->result->count; i++) {
        const struct pt_finding *finding = facts->result->findings[i];
        if (reason->of_property(facts, finding, input_of(facts, i)))
            put_name(&names, &count, finding->property);
    }
    put_reason(&names, count, reason->words, buf);
    pt_buf_release(&names);
}

/* One of several processes leaves the question open. */
static void note_unseen(const struct pt_whole_facts *facts)
{
    for (uint32_t i = 0; i < facts->result->count; i++)
        facts->unseen[i] = is_unseen(facts, facts->result->findings[i], input_of(facts, i));
}

bool pt_whole_reasons(const struct pt_whole_facts *facts, struct pt_buf *buf)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        const char *text = reasons[i].of_run ? reasons[i].of_run(facts) : NULL;
        if (reasons[i].of_property == is_unseen && facts->unseen)
            note_unseen(facts);
        else if (reasons[i].of_property)
            put_properties(facts, &reasons[i], buf);
        if (text)
            pt_buf_printf(buf, "%s%s%s", buf->len ? "; " : "", reasons[i].words, text);
    }
    return buf->len > 0;
}

bool pt_whole_unseen(const struct pt_processes *processes, const struct pt_analysis_input *inputs, struct pt_buf *buf)
{
    uint32_t count = 0;
    struct pt_buf names;
    pt_buf_init(&names);
    for (uint32_t p = 0; p < processes->property_count; p++) {
        if (pt_processes_unseen(processes, p))
            put_name(&names, &count,
                     inputs[p].property ? inputs[p].property->name : pt_monitor_name(inputs[p].monitor));
    }
    put_reason(&names, count, unseen_words, buf);
    pt_buf_release(&names);
    return count;
}

bool pt_whole_violated(const struct pt_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        if (pt_finding_counts(result->findings[i]))
            return true;
    }
    return false;
}

int pt_whole_exit(int program_status, bool found, int found_exit, bool whole, bool lenient)
{
    if (found)
        return found_exit;
    return program_status == 0 && !whole && !lenient ? PT_EXIT_NOT_WHOLE : program_status;
}
