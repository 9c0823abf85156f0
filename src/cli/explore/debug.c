/*
 * A schedule under gdb. The program finds our memory file by its path, stops where runtime/explore/stop.c says, and
 * waits a moment for what we write there: the breakpoint of gdb prints it. So it is told of the run that is looked at,
 * with the names and places that the tool knows. Guarantee: whatever is said of it was read from its tables while it
 * stood still. Cost: ten looks in a second.
 */
#include "cli/explore/debug.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/explore/names.h"
#include "core/explore_depend.h"
#include "core/settings.h"
#include "report/played.h"
#include "trace/debuginfo.h"

#define LOOK UINT64_C(100000000) /* nanoseconds */

enum pt_status pt_explore_check_program(const char *path, struct pt_err *err)
{
    struct pt_debuginfo_options options = {.library_path = getenv("LD_LIBRARY_PATH")};
    struct pt_debuginfo *info;
    enum pt_status status = pt_debuginfo_open(path, &options, &info, err);
    if (status != PT_OK)
        return status;
    if (!pt_debuginfo_is_instrumented(info)) {
        status = pt_err_set(err, PT_EINPUT, "'%s' cannot be controlled: it is not built with 'portent cc'", path);
        pt_err_hint(err, "build it with 'portent cc' or 'portent c++', as the program that was explored");
    }
    pt_debuginfo_free(info);
    return status;
}

/* --- words --- */

void pt_explore_put_divergence(const struct pt_explore_schedule *schedule, const struct pt_explore_outcome *outcome,
                               const struct pt_explore_places *places, uint32_t stretch, uint64_t step,
                               struct pt_buf *buf)
{
    const char *point = schedule->points[stretch];
    uint32_t slot = schedule->stretches[stretch].who & ~PT_EXPLORE_HANDLES;
    pt_buf_printf(buf, "the run diverged at step %" PRIu64 ", in stretch %" PRIu32 " of the schedule (%s%s): ", step,
                  stretch + 1, point[0] ? "which ends with: " : "", point[0] ? point : "it has no place");
    if (outcome->result.diverged_at == step)
        pt_buf_printf(buf, "thread %" PRIu32 " is to go on there, and %s", slot,
                      slot >= outcome->thread_count                      ? "does not exist"
                      : outcome->threads[slot].state == PT_EXPLORE_ENDED ? "has ended"
                                                                         : "cannot");
    else if (step > outcome->step_count && !outcome->step_count)
        pt_buf_puts(buf, "it has no scheduling point");
    else if (step > outcome->step_count)
        pt_buf_printf(buf, "it had only %" PRIu32 " step%s", outcome->step_count, outcome->step_count == 1 ? "" : "s");
    else {
        const struct pt_explore_step *is = &outcome->steps[step - 1];
        const struct pt_explore_spot *spot = pt_explore_spot(places, is->place);
        pt_buf_printf(buf, "here it ends with: %s%s%s", pt_explore_word(is->kind), spot->variable[0] ? " " : "",
                      spot->variable);
        if (spot->file[0])
            pt_buf_printf(buf, " at %s:%" PRIu32 ":%" PRIu32, spot->file, spot->line, spot->column);
    }
}

/* Of the stretches that are behind it: true and words, if the run is another one. */
static bool put_if_diverged(const struct pt_explore_debugging *d, const struct pt_explore_outcome *outcome,
                            struct pt_buf *buf)
{
    struct pt_explore_schedule behind = *d->schedule;
    uint64_t step = 0, at = 0;
    behind.stretch_count = 0;
    while (behind.stretch_count < d->schedule->stretch_count &&
           (step += behind.stretches[behind.stretch_count].steps) <= outcome->step_count)
        behind.stretch_count++;
    if (outcome->result.diverged_at && behind.stretch_count < d->schedule->stretch_count)
        behind.stretch_count++;
    uint32_t stretch = pt_explore_schedule_compare(&behind, outcome, d->places, &at);
    if (stretch == behind.stretch_count)
        return false;
    pt_explore_put_divergence(&behind, outcome, d->places, stretch, at, buf);
    return true;
}

/* Nobody can go on: what it is, and who waits for what. */
static void put_end(struct pt_program_names *program, const struct pt_explore_debugging *d,
                    const struct pt_explore_outcome *outcome, struct pt_buf *buf)
{
    struct pt_explore_names names = pt_program_names_for(program, d->places);
    struct pt_explore_expected expected = {0};
    struct pt_explore_failure failure = pt_explore_failure(outcome, &expected, d->places);
    struct pt_arena arena;
    pt_arena_init(&arena);
    const struct pt_played *played = pt_explore_story(&names, outcome, &failure, NULL, &arena);
    pt_buf_printf(buf, "%s", played->what[0] ? played->what : "the run is given up");
    for (uint32_t i = 0; i < played->wait_count; i++) {
        struct pt_played_wait wait = played->waits[i];
        char name[100];
        snprintf(name, sizeof name, "%.60s (LWP %" PRIu32 ")", wait.name, outcome->threads[wait.thread].tid);
        wait.name = name;
        pt_buf_puts(buf, i ? "; " : ": ");
        pt_played_wait(&wait, buf);
    }
    pt_buf_puts(buf, ". 'thread apply all bt' shows them; 'continue' ends the program.");
    pt_arena_release(&arena);
}

/* A race, a misuse of memory and a violation have a step of their own; otherwise it is the end of the run that fails.
 */
static void put_where(const struct pt_explore_debugging *d, uint64_t at, uint64_t steps, struct pt_buf *buf)
{
    const struct pt_explore_schedule *s = d->schedule;
    const char *what = s->comment[0] ? s->comment : s->ends;
    pt_buf_printf(buf, "before step %" PRIu64 " of %" PRIu64, at, steps);
    if (at == d->plan.input.stop_at)
        pt_buf_puts(buf, ", the first one after the last switch between threads before the failure");
    if (at == s->fails_at)
        pt_buf_printf(buf, "; in this step it fails: %s.", what);
    else if (s->fails_at)
        pt_buf_printf(buf, "; it fails in step %" PRIu64 ", before which it stops again ('continue'): %s.", s->fails_at,
                      what);
    else
        pt_buf_printf(buf, "; how it ends: %s.", what);
}

static void put_stop(struct pt_program_names *program, const struct pt_explore_debugging *d,
                     const struct pt_explore_outcome *outcome, struct pt_buf *buf)
{
    uint64_t steps = 0, at = outcome->result.step_count;
    for (uint32_t i = 0; i < d->schedule->stretch_count; i++)
        steps += d->schedule->stretches[i].steps;
    pt_buf_puts(buf, "portent: ");
    if (put_if_diverged(d, outcome, buf))
        pt_buf_printf(buf, ". It goes on by itself%s", outcome->result.end == PT_EXPLORE_RUNNING ? "." : "; now: ");
    else if (outcome->result.end == PT_EXPLORE_RUNNING)
        put_where(d, at, steps, buf);
    if (outcome->result.end != PT_EXPLORE_RUNNING)
        put_end(program, d, outcome, buf);
}

/* --- gdb --- */

/* A word of gdb's: its lines have no other special characters where a value is the rest of the line. */
static int make_script(const char *file, const char *options)
{
    int fd = memfd_create("portent-gdb", 0);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text,
                  "set environment " PT_EXPLORE_ENV " %s\nset environment " PT_OPTIONS_ENV " %s\n"
                  "set disable-randomization on\nset breakpoint pending on\n"
                  "break __portent_explore_stop\ncommands\n"
                  "printf \"\\n%%s\\n\\n\", *(char **)&__portent_explore_says\nend\n",
                  file, options);
    if (fd >= 0 && write(fd, text.text, text.len) != (ssize_t)text.len) {
        close(fd);
        fd = -1;
    }
    pt_buf_release(&text);
    return fd;
}

/* With what has to come before the program's own arguments; the caller frees it. */
static const char **make_command(const struct pt_explore_debugging *d, const char *script)
{
    const char *const fixed[] = {
        "gdb", "-q",  "-x",     script,        d->script ? "-x" : "-ex", d->script ? d->script : "echo",
        "-ex", "run", "--args", d->setup->path};
    size_t own = sizeof fixed / sizeof *fixed, count = 0;
    while (d->setup->arguments[count])
        count++;
    const char **command = pt_xcalloc(own + count + 1, sizeof *command);
    memcpy(command, fixed, sizeof fixed);
    for (size_t i = 1; i < count; i++)
        command[own + i - 1] = d->setup->arguments[i];
    return command;
}

static pid_t start(const struct pt_explore_debugging *d, const char *script)
{
    const char **command = make_command(d, script);
    signal(SIGINT, SIG_IGN); /* Ctrl-C is gdb's */
    pid_t process = fork();
    if (process == 0) {
        signal(SIGINT, SIG_DFL);
        execvp("gdb", (char *const *)(uintptr_t)command);
        _exit(127);
    }
    free(command);
    return process;
}

/* Whether the process runs, as far as a debugger does not hold it. */
static bool is_running(uint32_t process)
{
    char path[64], state = 't';
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", process);
    FILE *file = process ? fopen(path, "re") : NULL;
    if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 't';
    if (file)
        fclose(file);
    return state != 't' && state != 'T' && state != 'Z';
}

/* One look: says what it asks for, and interrupts it when its time is over. True: gdb has ended. */
static bool look(struct pt_explore_debugging *d, struct pt_explore_program *program, struct pt_program_names *names,
                 pid_t gdb, uint64_t *ran, int *ret_end)
{
    struct pt_explore_outcome outcome;
    if (pt_explore_program_asks(program, LOOK)) {
        struct pt_buf text;
        pt_buf_init(&text);
        (void)pt_explore_program_look(program, &d->plan, &outcome);
        pt_explore_places_read(d->places, 0, pt_explore_program_file(program));
        pt_explore_places_take(d->places, &outcome);
        put_stop(names, d, &outcome, &text);
        pt_explore_program_tell(program, text.text);
        pt_buf_release(&text);
        pt_explore_outcome_release(&outcome);
    }
    uint32_t process = atomic_load(&pt_explore_program_file(program)->server);
    if (d->patience && is_running(process) && (*ran += LOOK) >= d->patience) {
        fprintf(stderr, "\nportent replay: it has run for %.1f s and has not ended; it is interrupted\n",
                (double)*ran / 1e9);
        (void)kill((pid_t)process, SIGINT);
        *ran = 0;
    }
    pid_t ended = waitpid(gdb, ret_end, WNOHANG);
    return ended == gdb || (ended < 0 && errno != EINTR);
}

/* What is to be said when gdb is gone. */
static enum pt_status conclude(struct pt_explore_debugging *d, struct pt_explore_program *program, bool *ret_diverged,
                               struct pt_err *err)
{
    struct pt_explore_outcome outcome;
    struct pt_buf text;
    uint32_t stops = atomic_load(&pt_explore_program_file(program)->stops);
    if (!pt_explore_program_look(program, &d->plan, &outcome))
        return pt_err_set(err, PT_EINPUT,
                          "'%s' did not come under control under gdb: it was not started, or ended before main",
                          d->setup->path);
    pt_explore_places_read(d->places, 0, pt_explore_program_file(program));
    pt_explore_places_take(d->places, &outcome);
    pt_buf_init(&text);
    *ret_diverged = put_if_diverged(d, &outcome, &text);
    if (*ret_diverged)
        fprintf(stderr, "portent replay: %s\n", text.text);
    else if (!stops)
        fprintf(stderr,
                "portent replay: the program was gone after step %" PRIu64 ", before step %" PRIu64
                ", which comes after the schedule's last switch: it is another run, unless gdb ended it\n",
                outcome.result.step_count, d->plan.input.stop_at);
    *ret_diverged |= !stops;
    pt_buf_release(&text);
    pt_explore_outcome_release(&outcome);
    return PT_OK;
}

static enum pt_status attend(struct pt_explore_debugging *d, struct pt_explore_program *program, const char *script,
                             struct pt_err *err)
{
    struct pt_program_names *names = pt_program_names_new(d->setup->path);
    uint64_t ran = 0;
    int end = 0;
    pid_t gdb = start(d, script);
    while (gdb > 0 && !look(d, program, names, gdb, &ran, &end))
        ;
    pt_program_names_free(names);
    if (gdb < 0 || (WIFEXITED(end) && WEXITSTATUS(end) == 127))
        return pt_err_set(err, PT_EIO, "gdb cannot be started");
    return PT_OK;
}

enum pt_status pt_explore_debug(struct pt_explore_debugging *d, bool *ret_diverged, struct pt_err *err)
{
    struct pt_explore_program *program;
    struct pt_buf file;
    char path[64];
    enum pt_status status = pt_explore_check_program(d->setup->path, err);
    if (status == PT_OK)
        status = pt_explore_program_new(d->setup, &program, err);
    if (status != PT_OK)
        return status;
    d->plan.input.wishes |= PT_EXPLORE_PATIENT;
    pt_explore_places_write(d->places, pt_explore_program_file(program));
    pt_buf_init(&file);
    pt_explore_program_lend(program, &d->plan, &file);
    int script = make_script(file.text, d->setup->options);
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getpid(), script);
    status = script < 0 ? pt_err_set(err, PT_EIO, "cannot write a script for gdb: %s", strerror(errno))
                        : attend(d, program, path, err);
    if (status == PT_OK)
        status = conclude(d, program, ret_diverged, err);
    if (script >= 0)
        close(script);
    pt_buf_release(&file);
    pt_explore_program_free(program);
    return status;
}
