/*
 * The tests run three times over. First under `run`, with the built-in checks and the properties. Then once more while
 * everything is recorded, and `check` looks for what other orders of the same events would do. Then every program with
 * threads that they started is given to `explore`, with its own arguments, in its own folder. Of the budget the first
 * run takes what it needs; half of what is left then is the second's, of which the recording has three quarters at
 * most, and the rest the third's; within a phase programs get equal shares of what is left. Guarantee: no phase is left
 * out without a note. The tests' output is theirs; what is found is kept in results and told in the end.
 */
#include "cli/ci/phases.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ci/child.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/interrupt.h"
#include "cli/common/progress.h"
#include "cli/run/whole.h"
#include "report/json.h"
#include "report/result.h"
#include "report/words.h"

enum {
    FOUND_EXIT = 66,
    BAD_EXIT = 2,
    RECORD_LIMIT_MIB = 512,
    EFFORT_PARTS = 8,
    LEAST_S = 1,
    HANG_S = 10,
    HANG_FACTOR = 10
};

static const uint64_t second = 1000000000;

/* --- time --- */

/* What is left of the budget; UINT64_MAX: it has no limit. */
static uint64_t left(const struct pt_ci *ci)
{
    uint64_t spent = pt_progress_now() - ci->began;
    if (!ci->budget)
        return UINT64_MAX;
    return spent < ci->budget ? ci->budget - spent : 0;
}

static uint64_t deadline_after(uint64_t span)
{
    return span == UINT64_MAX ? 0 : pt_progress_now() + span;
}

static uint64_t until(uint64_t deadline)
{
    uint64_t now = pt_progress_now();
    return !deadline ? UINT64_MAX : deadline > now ? deadline - now : 0;
}

/* --- words --- */

static void add_result(struct pt_ci *ci, const char *path, uint64_t pid, const char *program, bool of_run)
{
    struct pt_ci_result result = {pt_xstrdup(path), pid, pt_xstrdup(program), of_run};
    PT_PUSH(ci->results, ci->result_count, ci->result_cap, result);
}

static void add_options(struct pt_words_list *words, const char *option, const char *const *arguments)
{
    for (; arguments && *arguments; arguments++) {
        pt_words_list_add(words, option);
        pt_words_list_add(words, *arguments);
    }
}

static void add_checks(struct pt_words_list *words)
{
    pt_words_list_add(words, "--races");
    pt_words_list_add(words, "--deadlocks");
    pt_words_list_add(words, "--lifetimes");
}

static void add_command(struct pt_words_list *words, const char *const *command)
{
    pt_words_list_add(words, "--");
    for (; *command; command++)
        pt_words_list_add(words, *command);
}

char *pt_ci_file(const struct pt_ci *ci, const char *name)
{
    struct pt_buf path;
    pt_buf_init(&path);
    pt_buf_printf(&path, "%s/%s", ci->folder, name);
    return pt_buf_take(&path);
}

/* The result of a phase about one of its programs. */
static char *numbered_file(const struct pt_ci *ci, const char *phase, uint32_t number)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%" PRIu32 ".json", phase, number);
    return pt_ci_file(ci, name);
}

static void finish_row(struct pt_ci_row *row, uint64_t start)
{
    row->done = true;
    row->seconds = (double)(pt_progress_now() - start) / (double)second;
}

/* --- the tests as they are --- */

static void take_plan(struct pt_ci *ci, const char *path, bool cut)
{
    struct pt_err err;
    struct pt_ci_row *row = &ci->rows[PT_CI_RUN];
    ci->planned = pt_ci_plan_read(path, &ci->plan, &err) == PT_OK;
    if (ci->planned) {
        ci->tests_status = ci->plan.program_status;
        add_result(ci, path, 0, ci->command[0], true);
        pt_buf_printf(&row->words, "%" PRIu32 " process%s observed", ci->plan.count, ci->plan.count == 1 ? "" : "es");
    } else {
        ci->tests_status = ci->run_status;
        pt_buf_printf(&ci->reasons, "the run left no result: %s\n", err.message);
    }
    if (cut)
        pt_buf_puts(&ci->reasons, "the tests were ended before they had come to their end: the budget, or a signal\n");
    else if (ci->run_status == BAD_EXIT && ci->tests_status != BAD_EXIT)
        ci->bad = true;
    else if (ci->run_status == PT_EXIT_NOT_WHOLE)
        pt_buf_puts(&ci->reasons, "the answer of the run is not whole; a line of its output says why\n");
}

enum pt_status pt_ci_run(struct pt_ci *ci, struct pt_err *err)
{
    struct pt_words_list words = {0};
    struct pt_child child = {.deadline = deadline_after(left(ci)), .signal = SIGTERM};
    uint64_t start = pt_progress_now();
    char *result = pt_ci_file(ci, "run.json");
    (void)unlink(result);
    pt_words_list_add(&words, "run");
    pt_words_list_add(&words, "-q");
    add_checks(&words);
    pt_words_list_addf(&words, "--exit-code=%d", FOUND_EXIT);
    add_options(&words, "-s", ci->properties);
    add_options(&words, "--baseline", ci->baselines);
    add_options(&words, "--suppressions", ci->suppressions);
    pt_words_list_add(&words, "-r");
    pt_words_list_add(&words, result);
    add_command(&words, ci->command);
    ci->run_status = pt_child_run(&words, &child);
    pt_words_list_release(&words);
    finish_row(&ci->rows[PT_CI_RUN], start);
    bool wrote = access(result, R_OK) == 0 && pt_file_is_json(result);
    if (wrote || child.cut)
        take_plan(ci, result, child.cut);
    free(result);
    if (wrote || child.cut)
        return PT_OK;
    return pt_err_set(err, PT_EUSAGE, "'portent run' ended with status %d before it could observe anything",
                      ci->run_status);
}

/* --- their recordings --- */

/* Records the tests once more, in `folder`; the plan says what each process is. False: there is nothing to look at. */
static bool record(struct pt_ci *ci, const char *folder, uint64_t deadline, struct pt_ci_plan *ret_plan)
{
    struct pt_words_list words = {0};
    struct pt_child child = {.output = "/dev/null", .deadline = deadline, .signal = SIGTERM};
    struct pt_err err;
    char *result = pt_ci_file(ci, "recorded.json");
    (void)unlink(result);
    pt_words_list_add(&words, "run");
    pt_words_list_add(&words, "-q");
    pt_words_list_add(&words, "--lenient");
    pt_words_list_add(&words, "--record-all");
    if (!ci->properties[0]) /* else the observer writes them, which has no limit */
        pt_words_list_addf(&words, "--record-limit=%dM", RECORD_LIMIT_MIB);
    add_options(&words, "-s", ci->properties);
    pt_words_list_add(&words, "-r");
    pt_words_list_add(&words, result);
    pt_words_list_add(&words, "-o");
    pt_words_list_addf(&words, "%s/tests.ptb", folder);
    add_command(&words, ci->command);
    int status = pt_child_run(&words, &child);
    pt_words_list_release(&words);
    bool read = !child.cut && pt_ci_plan_read(result, ret_plan, &err) == PT_OK;
    if (child.cut)
        pt_buf_puts(&ci->notes, "predict: the tests could not be recorded within the time they had\n");
    else if (!read)
        pt_buf_printf(&ci->reasons, "predict: recording the tests ended with status %d\n", status);
    else if (status != ci->tests_status && status != FOUND_EXIT)
        pt_buf_printf(&ci->notes, "predict: while they were recorded the tests ended with status %d, before with %d\n",
                      status, ci->tests_status);
    (void)unlink(result);
    free(result);
    return read;
}

/* The number at the end of a recording's name: tests.ptb.4711, or tests.ptb.4711.2 after an exec; 0: there is none. */
static uint64_t recorded_pid(const char *name)
{
    const char *end = strstr(name, ".ptb.");
    return end ? strtoull(end + 5, NULL, 10) : 0;
}

static void take_checked(struct pt_ci *ci, const char *path, const struct pt_ci_program *program)
{
    struct pt_loaded *loaded;
    struct pt_err err;
    if (pt_file_result(path, &loaded, &err) != PT_OK) {
        (void)unlink(path); /* whoever could not write it has said so */
        return;
    }
    pt_ci_plan_set_threads(&ci->plan, program, loaded->result.threads);
    add_result(ci, path, program->pid, program->file, false);
    pt_loaded_free(loaded);
}

static void check_recording(struct pt_ci *ci, const char *path, const struct pt_ci_program *program, uint64_t span,
                            uint32_t number)
{
    char *result = numbered_file(ci, "predict", number);
    struct pt_words_list words = {0};
    struct pt_child child = {.output = result, .deadline = deadline_after(span), .signal = SIGINT};
    pt_words_list_add(&words, "check");
    add_checks(&words);
    pt_words_list_add(&words, "--json");
    pt_words_list_add(&words, "--order=auto");
    if (span != UINT64_MAX) /* of each check and property, in sync and in values */
        pt_words_list_addf(&words, "--effort=%" PRIu64 "ms", span / EFFORT_PARTS / 1000000 + 1);
    add_options(&words, "-s", program->judged);
    add_options(&words, "--baseline", ci->baselines);
    add_options(&words, "--suppressions", ci->suppressions);
    pt_words_list_add(&words, path);
    int status = pt_child_run(&words, &child);
    pt_words_list_release(&words);
    if (child.cut)
        pt_buf_printf(&ci->notes, "predict: the recording of %s was not looked at to its end\n", program->file);
    else if (status > PT_EXIT_UNKNOWN || status == BAD_EXIT)
        pt_buf_printf(&ci->reasons, "predict: the recording of %s could not be analysed\n", program->file);
    take_checked(ci, result, program);
    free(result);
}

static int is_recording(const struct dirent *entry)
{
    return strncmp(entry->d_name, "tests.ptb", 9) == 0;
}

/* As their processes came; of one process, and of those that nobody knows, as their names have them. */
static int compare_recordings(const void *a, const void *b, void *plan)
{
    const struct dirent *const *one = a, *const *other = b;
    const struct pt_ci_program *first = pt_ci_plan_find(plan, recorded_pid((*one)->d_name)),
                               *then = pt_ci_plan_find(plan, recorded_pid((*other)->d_name));
    if (first != then)
        return !first - !then ? !first - !then : first < then ? -1 : 1;
    return strverscmp((*one)->d_name, (*other)->d_name);
}

/* All recordings of a folder, each with its share of the time. Returns how many. */
static uint32_t check_all(struct pt_ci *ci, const char *folder, const struct pt_ci_plan *plan, uint64_t deadline)
{
    struct dirent **names;
    uint32_t done = 0;
    int count = scandir(folder, &names, is_recording, NULL);
    if (count > 1)
        qsort_r(names, (size_t)count, sizeof(struct dirent *), compare_recordings, (void *)plan);
    for (int i = 0; i < count; i++) {
        const struct pt_ci_program *program = pt_ci_plan_find(plan, recorded_pid(names[i]->d_name));
        uint64_t span = until(deadline);
        span = span == UINT64_MAX ? span : span / (uint64_t)(count - i);
        struct pt_buf path;
        pt_buf_init(&path);
        pt_buf_printf(&path, "%s/%s", folder, names[i]->d_name);
        if (span < LEAST_S * second / 10 || pt_interrupted())
            pt_buf_printf(&ci->notes, "predict: no time was left for the recording %s\n", names[i]->d_name);
        else if (program)
            check_recording(ci, path.text, program, span, ++done);
        if (!ci->keep)
            (void)unlink(path.text);
        pt_buf_release(&path);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return done;
}

/* Why a phase cannot be done; NULL: it can. */
static const char *hindrance(const struct pt_ci *ci, enum pt_ci_phase phase)
{
    if (ci->skip[phase])
        return "left out, as asked";
    if (pt_interrupted())
        return "left out: interrupted";
    if (!ci->planned || ci->plan.count == 0)
        return "left out: no process was observed";
    return left(ci) < LEAST_S * second ? "left out: the budget was spent" : NULL;
}

void pt_ci_predict(struct pt_ci *ci)
{
    struct pt_ci_row *row = &ci->rows[PT_CI_PREDICT];
    struct pt_ci_plan plan = {0};
    const char *why = hindrance(ci, PT_CI_PREDICT);
    uint64_t start = pt_progress_now(), share = left(ci);
    if (why) {
        pt_buf_puts(&row->words, why);
        return;
    }
    share = share == UINT64_MAX || ci->skip[PT_CI_EXPLORE] ? share : share / 2;
    uint64_t deadline = deadline_after(share);
    char *folder = pt_ci_file(ci, "recordings");
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        pt_buf_printf(&ci->reasons, "predict: %s cannot be created: %s\n", folder, strerror(errno));
        pt_buf_puts(&row->words, "left out");
    } else {
        uint32_t done = 0;
        if (record(ci, folder, deadline_after(share == UINT64_MAX ? share : share / 4 * 3), &plan))
            done = check_all(ci, folder, &plan, deadline);
        pt_ci_plan_release(&plan);
        pt_buf_printf(&row->words, "%" PRIu32 " recording%s looked at in orders access, sync and values", done,
                      pt_words_plural(done));
        finish_row(row, start);
        if (!ci->keep)
            (void)rmdir(folder);
    }
    free(folder);
}

/* --- their programs under other schedules --- */

/* A path that is the same in every folder; the caller frees it. */
static char *absolute(const char *path)
{
    char *whole = realpath(path, NULL);
    return whole ? whole : pt_xstrdup(path);
}

/* "data race on hits" is about hits. */
static bool is_about(const char *what, const char *object)
{
    size_t len = strlen(what), own = strlen(object);
    return len > own && what[len - own - 1] == ' ' && strcmp(what + len - own, object) == 0;
}

/* What a check has found that a failing schedule shows; one that counts, if there is one. NULL: nothing. */
static struct pt_finding *shown_by(const struct pt_result *result, const struct pt_finding *schedule)
{
    struct pt_finding *shown = NULL;
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *finding = result->findings[i];
        if (finding->verdict == PT_VERDICT_VIOLATED && finding->object && !finding->played &&
            strcmp(finding->kind, schedule->played->failure) == 0 &&
            is_about(schedule->played->what, finding->object) &&
            (!shown || (pt_finding_is_suppressed(shown) && !pt_finding_is_suppressed(finding))))
            shown = finding;
    }
    return shown;
}

/* A race (or the like) and the schedule that shows it are one finding, which people may have decided about. */
static void join_schedules(struct pt_result *result)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *finding = result->findings[i];
        bool plays = finding->played && strcmp(finding->kind, "schedule") == 0;
        struct pt_finding *shown = plays ? shown_by(result, finding) : NULL;
        if (!shown) {
            result->findings[kept++] = finding;
            continue;
        }
        shown->played = finding->played;
        pt_arena_adopt(&shown->arena, &finding->arena);
        pt_finding_free(finding);
    }
    result->count = kept;
}

/* What people have decided counts here, too: `explore` knows neither baselines nor suppressions. */
static void take_explored(struct pt_ci *ci, const char *path, const struct pt_ci_program *program, uint64_t *ret_runs)
{
    struct pt_loaded *loaded;
    struct pt_err err;
    struct pt_buf json;
    if (pt_file_result(path, &loaded, &err) != PT_OK) {
        pt_buf_printf(&ci->reasons, "explore: the result about %s cannot be read: %s\n", program->file, err.message);
        return;
    }
    pt_triage_apply(&ci->triage, &loaded->result);
    join_schedules(&loaded->result);
    pt_buf_init(&json);
    pt_report_json(&loaded->result, &json);
    if (pt_file_write(path, &json, &err) == PT_OK)
        add_result(ci, path, program->pid, program->file, false);
    else
        pt_buf_printf(&ci->reasons, "explore: %s\n", err.message);
    *ret_runs += loaded->result.explored ? loaded->result.explored->runs : 0;
    pt_buf_release(&json);
    pt_loaded_free(loaded);
}

static void add_limits(struct pt_words_list *words, const struct pt_ci *ci, uint64_t span)
{
    /* Control costs time: what takes ten times as long as all tests together hangs. */
    uint64_t patience = (uint64_t)(ci->rows[PT_CI_RUN].seconds * HANG_FACTOR) + 1;
    pt_words_list_addf(words, "--run-timeout=%" PRIu64 "s", patience < HANG_S ? (uint64_t)HANG_S : patience);
    if (span == UINT64_MAX)
        return;
    pt_words_list_add(words, "-n");
    pt_words_list_add(words, "all");
    pt_words_list_addf(words, "--time=%" PRIu64 "ms", span / 1000000 + 1);
}

static void explore_program(struct pt_ci *ci, const struct pt_ci_program *program, uint64_t span, uint32_t number,
                            uint64_t *ret_runs)
{
    char *folder = absolute(ci->folder);
    char *result = numbered_file(ci, "explore", number);
    struct pt_words_list words = {0};
    /* A run that is under way is done to its end. */
    struct pt_child child = {.folder = program->folder,
                             .deadline = span == UINT64_MAX ? 0 : deadline_after(span + HANG_S * second),
                             .signal = SIGTERM};
    pt_words_list_add(&words, "explore");
    pt_words_list_add(&words, "-q");
    pt_words_list_add(&words, "--keep-going"); /* the first failure may be one that people live with */
    add_checks(&words);
    add_limits(&words, ci, span);
    for (const char *const *file = program->judged; *file; file++) {
        char *path = absolute(*file);
        pt_words_list_add(&words, "-s");
        pt_words_list_add(&words, path);
        free(path);
    }
    pt_words_list_add(&words, "-r");
    pt_words_list_addf(&words, "%s/explore-%" PRIu32 ".json", folder, number);
    pt_words_list_add(&words, "-o");
    pt_words_list_addf(&words, "%s/explore-%" PRIu32 ".schedule", folder, number);
    add_command(&words, program->words);
    (void)unlink(result);
    int status = pt_child_run(&words, &child);
    pt_words_list_release(&words);
    if (child.cut)
        pt_buf_printf(&ci->notes, "explore: %s did not end in time, and was ended\n", program->file);
    else if (status > PT_EXIT_UNKNOWN || status == BAD_EXIT)
        pt_buf_printf(&ci->reasons, "explore: %s could not be explored (status %d)\n", program->file, status);
    else if (status == PT_EXIT_UNKNOWN)
        pt_buf_printf(&ci->notes, "explore: of %s not everything could be controlled\n", program->file);
    if (access(result, R_OK) == 0)
        take_explored(ci, result, program, ret_runs);
    free(result);
    free(folder);
}

static bool is_worth_exploring(const struct pt_ci_program *program)
{
    return program->threads != 1 && !program->again && program->words[0];
}

void pt_ci_explore(struct pt_ci *ci)
{
    struct pt_ci_row *row = &ci->rows[PT_CI_EXPLORE];
    const char *why = hindrance(ci, PT_CI_EXPLORE);
    uint64_t start = pt_progress_now(), runs = 0;
    uint32_t wanted = 0, done = 0;
    for (uint32_t i = 0; i < ci->plan.count; i++)
        wanted += is_worth_exploring(&ci->plan.programs[i]);
    if (!why && !wanted)
        why = "left out: no program had several threads";
    if (why) {
        pt_buf_puts(&row->words, why);
        return;
    }
    for (uint32_t i = 0; i < ci->plan.count; i++) {
        const struct pt_ci_program *program = &ci->plan.programs[i];
        if (!is_worth_exploring(program))
            continue;
        uint64_t span = left(ci);
        span = span == UINT64_MAX ? span : span / (wanted - done);
        if (pt_interrupted() || span < LEAST_S * second / 10)
            pt_buf_printf(&ci->notes, "explore: no time was left for %s\n", program->file);
        else
            explore_program(ci, program, span, done + 1, &runs);
        done++;
    }
    pt_buf_printf(&row->words, "%" PRIu32 " program%s under %" PRIu64 " schedule%s", wanted, pt_words_plural(wanted),
                  runs, pt_words_plural(runs));
    finish_row(row, start);
}
