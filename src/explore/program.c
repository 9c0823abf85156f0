/*
 * The process of a scheduled program and the memory file shared with it (core/explore.h): the only file of this folder
 * that knows processes and the kernel. A run is: write the input, set `command`, wait for `answer`, copy what is needed
 * out of the file. Address space randomisation is off, so that addresses are the same in every job and replay.
 * Guarantee: whatever the program does, a run ends after `timeout`; nothing that it printed reaches the tool's own
 * output. Cost: two futex calls and the copy.
 */
#include "explore/program.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/channel.h"
#include "core/settings.h"

enum {
    PREFIX_MAX = 1 << 20,
    WEIGHTS_MAX = 1024,
    PLACES_MAX = 1 << 16,
    TEXTS_MAX = 1 << 22,
    TAKEN_MAX = 1 << 20,
    STEPS_MAX = 1 << 20,
    FOUND_MAX = PT_EXPLORE_REPORTS,
    PAGE = 4096,
    OUTPUT_SHOWN = 2000, /* bytes of what it printed last */
};
#define SECOND    UINT64_C(1000000000)
#define LOOK      (SECOND / 10) /* how often a wait looks whether the process is still there */
#define AFTERWARD (5 * SECOND)  /* how long a server may take to see that its child was killed */

struct pt_explore_program {
    struct pt_explore_setup setup;
    struct pt_explore *file;
    size_t bytes;
    int file_fd, input_fd, output_fd; /* -1: none of our own */
    off_t input_from;
    pid_t process; /* 0: none */
    bool served;   /* it has answered */
    uint32_t runs, processor;
    int exit_status; /* of the process that has ended */
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* --- the file --- */

static uint64_t place_table(uint64_t *end, uint64_t bytes)
{
    uint64_t at = *end;
    *end = (at + bytes + PAGE - 1) / PAGE * PAGE;
    return at;
}

static size_t lay_out(struct pt_explore *head, const struct pt_explore_setup *setup)
{
    uint64_t end = (sizeof *head + PAGE - 1) / PAGE * PAGE;
    memcpy(head->magic, PT_EXPLORE_MAGIC, sizeof head->magic);
    head->version = PT_EXPLORE_VERSION;
    head->flags = setup->serves ? PT_EXPLORE_SERVES : setup->watches ? PT_EXPLORE_WATCHES : 0;
    head->prefix_max = PREFIX_MAX;
    head->weights_max = WEIGHTS_MAX;
    head->places_max = PLACES_MAX;
    head->texts_max = TEXTS_MAX;
    head->taken_max = TAKEN_MAX;
    head->steps_max = STEPS_MAX;
    head->input_offset = place_table(&end, sizeof(struct pt_explore_input));
    head->result_offset = place_table(&end, sizeof(struct pt_explore_result));
    head->threads_offset = place_table(&end, PT_EXPLORE_THREADS * sizeof(struct pt_explore_thread));
    head->weights_offset = place_table(&end, WEIGHTS_MAX * sizeof(struct pt_explore_weight));
    head->prefix_offset = place_table(&end, PREFIX_MAX * sizeof(struct pt_explore_stretch));
    head->places_offset = place_table(&end, PLACES_MAX * sizeof(struct pt_explore_place));
    head->texts_offset = place_table(&end, TEXTS_MAX);
    head->taken_offset = place_table(&end, TAKEN_MAX * sizeof(struct pt_explore_stretch));
    head->found_max = FOUND_MAX;
    head->found_offset = place_table(&end, FOUND_MAX * sizeof(struct pt_explore_found));
    head->steps_offset = place_table(&end, (uint64_t)STEPS_MAX * sizeof(struct pt_explore_step));
    head->total_bytes = end;
    return end;
}

/* Whatever is open here and not closed when a program is started: not ours, which are. */
static void list_inherited(struct pt_explore *head)
{
    for (int fd = 0; fd < PT_EXPLORE_DESCRIPTORS; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            head->inherited[fd / 64] |= UINT64_C(1) << fd % 64;
    }
}

static enum pt_status make_file(struct pt_explore_program *p, struct pt_err *err)
{
    struct pt_explore head = {0};
    p->bytes = lay_out(&head, &p->setup);
    list_inherited(&head);
    p->file_fd = memfd_create("portent-explore", MFD_CLOEXEC);
    if (p->file_fd < 0 || ftruncate(p->file_fd, (off_t)p->bytes) != 0)
        return pt_err_set(err, PT_EIO, "cannot make a memory file: %s", strerror(errno));
    void *mapped = mmap(NULL, p->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->file_fd, 0);
    if (mapped == MAP_FAILED)
        return pt_err_set(err, PT_EIO, "cannot map a memory file: %s", strerror(errno));
    p->file = mapped;
    memcpy(p->file, &head, sizeof head);
    atomic_store(&p->file->place_count, 1); /* index 0 is no place */
    atomic_store(&p->file->text_bytes, 1);  /* offset 0 is "" */
    return PT_OK;
}

/* A description of its own, so that each run can read it from the beginning; anything but a file is nothing. */
static int open_input(off_t *ret_from)
{
    struct stat about;
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISREG(about.st_mode)) {
        int fd = open("/proc/self/fd/0", O_RDONLY | O_CLOEXEC);
        *ret_from = lseek(STDIN_FILENO, 0, SEEK_CUR);
        if (fd >= 0)
            return fd;
    }
    *ret_from = 0;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int open_output(void)
{
    int fd = memfd_create("portent-output", MFD_CLOEXEC);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFL, O_APPEND);
    return fd;
}

static char *read_output(int fd)
{
    struct stat about;
    if (fd < 0 || fstat(fd, &about) != 0 || about.st_size == 0)
        return NULL;
    off_t from = about.st_size > OUTPUT_SHOWN ? about.st_size - OUTPUT_SHOWN : 0;
    char *text = pt_xcalloc(1, OUTPUT_SHOWN + 1);
    ssize_t got = pread(fd, text, OUTPUT_SHOWN, from);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

/* The job's processor, of those that we may use. */
static uint32_t choose_processor(uint32_t job)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 0;
    uint32_t left = job % (uint32_t)(CPU_COUNT(&allowed) ? CPU_COUNT(&allowed) : 1);
    for (uint32_t i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &allowed) && left-- == 0)
            return i;
    return 0;
}

/* --- its process --- */

static bool is_ours(const char *entry)
{
    static const char *const names[] = {PT_EXPLORE_ENV, PT_CHANNEL_ENV, PT_RENDEZVOUS_ENV, PT_OPTIONS_ENV};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(entry, names[i], len) == 0 && entry[len] == '=')
            return true;
    }
    return false;
}

/* `file`: a descriptor. The first two strings are the caller's. */
static char **make_environment(int file, const char *options)
{
    size_t count = 0, kept = 2;
    while (environ[count])
        count++;
    char **made = pt_xcalloc(count + 3, sizeof *made);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s=%d", PT_EXPLORE_ENV, file);
    made[0] = pt_buf_take(&text);
    pt_buf_printf(&text, "%s=%s", PT_OPTIONS_ENV, options ? options : "");
    made[1] = pt_buf_take(&text);
    for (size_t i = 0; i < count; i++)
        if (!is_ours(environ[i]))
            made[kept++] = environ[i];
    return made;
}

static void confine(uint32_t processors)
{
    cpu_set_t allowed, some;
    CPU_ZERO(&some);
    if (!processors || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (uint32_t i = 0; i < CPU_SETSIZE && (uint32_t)CPU_COUNT(&some) < processors; i++)
        if (CPU_ISSET(i, &allowed))
            CPU_SET(i, &some);
    (void)sched_setaffinity(0, sizeof some, &some);
}

/* In the child: nothing here allocates. */
static _Noreturn void become(const struct pt_explore_setup *setup, char **environment, int file, int input, int output,
                             pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    int before = personality(0xffffffff);
    if (before != -1)
        (void)personality((unsigned long)before | ADDR_NO_RANDOMIZE);
    if (!setup->own_streams) {
        (void)setpgid(0, 0); /* Ctrl-C is the tool's */
        dup2(input, STDIN_FILENO);
        dup2(output, STDOUT_FILENO);
        dup2(output, STDERR_FILENO);
    }
    (void)fcntl(file, F_SETFD, 0);
    confine(setup->processors);
    signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* execve changes no argument, but its prototype lacks the const. */
    execve(setup->path, (char *const *)(uintptr_t)setup->arguments, environment);
    _exit(127);
}

static enum pt_status start(const struct pt_explore_setup *setup, int file, int input, int output, pid_t *ret_process,
                            struct pt_err *err)
{
    char **environment = make_environment(file, setup->options);
    pid_t self = getpid(), process = fork();
    if (process == 0)
        become(setup, environment, file, input, output, self);
    free(environment[0]);
    free(environment[1]);
    free(environment);
    if (process < 0)
        return pt_err_set(err, PT_EIO, "cannot start a process: %s", strerror(errno));
    *ret_process = process;
    return PT_OK;
}

static void end_process(struct pt_explore_program *p)
{
    if (!p->process)
        return;
    uint32_t child = atomic_load(&p->file->child);
    if (child && p->setup.serves)
        (void)kill((pid_t)child, SIGKILL);
    (void)kill(p->process, SIGKILL);
    while (waitpid(p->process, &p->exit_status, 0) < 0 && errno == EINTR)
        ;
    p->process = 0;
}

enum pt_status pt_explore_program_new(const struct pt_explore_setup *setup, struct pt_explore_program **ret_program,
                                      struct pt_err *err)
{
    struct pt_explore_program *p = pt_xcalloc(1, sizeof *p);
    *p = (struct pt_explore_program){.setup = *setup, .file_fd = -1, .input_fd = -1, .output_fd = -1};
    p->processor = choose_processor(setup->job);
    enum pt_status status = make_file(p, err);
    if (status == PT_OK && !setup->own_streams) {
        p->input_fd = open_input(&p->input_from);
        p->output_fd = open_output();
        if (p->input_fd < 0 || p->output_fd < 0)
            status = pt_err_set(err, PT_EIO, "cannot open input and output of the program: %s", strerror(errno));
    }
    if (status != PT_OK)
        pt_explore_program_free(p);
    else
        *ret_program = p;
    return status;
}

void pt_explore_program_free(struct pt_explore_program *p)
{
    if (!p)
        return;
    if (p->file)
        end_process(p);
    if (p->file)
        munmap(p->file, p->bytes);
    int *fds[] = {&p->file_fd, &p->input_fd, &p->output_fd};
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    free(p);
}

struct pt_explore *pt_explore_program_file(struct pt_explore_program *p)
{
    return p->file;
}

bool pt_explore_program_is_unserved(const struct pt_explore_program *p)
{
    return atomic_load(&p->file->unserved);
}

/* --- a run --- */

static void futex_wake(_Atomic uint32_t *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
    (void)syscall(SYS_futex, word, FUTEX_WAIT, seen, &time, NULL, 0);
}

static bool has_ended(struct pt_explore_program *p)
{
    if (p->process && waitpid(p->process, &p->exit_status, WNOHANG) == p->process)
        p->process = 0;
    return !p->process;
}

enum waited { ANSWERED, ENDED, LATE, STOPPED };

static bool is_interrupted(const struct pt_explore_setup *setup)
{
    return setup->interrupted && setup->interrupted();
}

static enum waited wait_for(struct pt_explore_program *p, uint32_t run, uint64_t deadline)
{
    for (;;) {
        uint32_t answer = atomic_load_explicit(&p->file->answer, memory_order_acquire);
        if (answer == run)
            return ANSWERED;
        uint64_t time = now(), left = deadline > time ? deadline - time : 0;
        if (!left)
            return LATE;
        if (is_interrupted(&p->setup) && deadline > time + AFTERWARD)
            return STOPPED;
        /* A process that is the run itself says nothing when it ends. */
        uint64_t look = p->setup.serves ? LOOK : LOOK / 200;
        futex_wait(&p->file->answer, answer, left < look ? left : look);
        if (has_ended(p) && atomic_load_explicit(&p->file->answer, memory_order_acquire) != run)
            return ENDED;
    }
}

static uint32_t at_most(uint64_t count, uint32_t most)
{
    return count < most ? (uint32_t)count : most;
}

static void write_plan(struct pt_explore_program *p, const struct pt_explore_plan *plan, uint32_t run)
{
    struct pt_explore_input *input = PT_EXPLORE_AT(struct pt_explore_input, p->file, input_offset);
    *input = plan->input;
    input->run = run;
    input->processor = p->processor;
    if (input->prefix_count > PREFIX_MAX)
        input->prefix_count = PREFIX_MAX;
    if (input->weight_count > WEIGHTS_MAX)
        input->weight_count = WEIGHTS_MAX;
    if (input->prefix_count)
        memcpy(PT_EXPLORE_AT(struct pt_explore_stretch, p->file, prefix_offset), plan->prefix,
               input->prefix_count * sizeof *plan->prefix);
    if (input->weight_count)
        memcpy(PT_EXPLORE_AT(struct pt_explore_weight, p->file, weights_offset), plan->weights,
               input->weight_count * sizeof *plan->weights);
    struct pt_explore_result *result = PT_EXPLORE_AT(struct pt_explore_result, p->file, result_offset);
    for (uint32_t i = 0; i < at_most(result->found_count, FOUND_MAX); i++) /* of the run before */
        atomic_store(&PT_EXPLORE_AT(struct pt_explore_found, p->file, found_offset)[i].key, 0);
    *result = (struct pt_explore_result){0};
    atomic_store(&p->file->wait_status, 0);
    if (p->output_fd >= 0) {
        (void)lseek(p->input_fd, p->input_from, SEEK_SET);
        (void)!ftruncate(p->output_fd, 0);
    }
}

static void *copy(const void *from, size_t count, size_t size)
{
    void *to = pt_xmalloc(count * size + 1);
    memcpy(to, from, count * size);
    return to;
}

/* Counts in the file are the program's, which may have written anything. */
static void read_reports(const struct pt_explore *file, struct pt_explore_outcome *o)
{
    const struct pt_explore_found *founds = PT_EXPLORE_AT(const struct pt_explore_found, file, found_offset);
    uint32_t count = at_most(o->result.found_count, FOUND_MAX);
    o->reports = pt_xcalloc((size_t)count + 1, sizeof *o->reports);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t key = atomic_load_explicit(&founds[i].key, memory_order_acquire);
        uint32_t bytes = at_most(founds[i].bytes, PT_EXPLORE_REPORT);
        if (!key)
            continue;
        o->reports[o->report_count++] = (struct pt_explore_report){.key = key,
                                                                   .step = founds[i].step,
                                                                   .count = founds[i].count,
                                                                   .check = founds[i].check,
                                                                   .bytes = bytes,
                                                                   .text = copy(founds[i].report, bytes, 1)};
    }
}

static void read_outcome(struct pt_explore_program *p, const struct pt_explore_plan *plan, uint32_t run,
                         struct pt_explore_outcome *o)
{
    struct pt_explore *file = p->file;
    o->done = true;
    o->job = p->setup.job;
    o->result = *PT_EXPLORE_AT(struct pt_explore_result, file, result_offset);
    o->started = o->result.run == run || p->setup.watches;
    o->output = read_output(p->output_fd);
    if (!o->started)
        return;
    read_reports(file, o);
    o->taken_count = at_most(o->result.taken_count, TAKEN_MAX);
    o->taken = copy(PT_EXPLORE_AT(void, file, taken_offset), o->taken_count, sizeof *o->taken);
    o->thread_count = at_most(o->result.thread_count, PT_EXPLORE_THREADS);
    o->threads = copy(PT_EXPLORE_AT(void, file, threads_offset), o->thread_count, sizeof *o->threads);
    if (plan->input.wishes & PT_EXPLORE_LOGS) {
        o->step_count = at_most(o->result.step_count, STEPS_MAX);
        o->steps = copy(PT_EXPLORE_AT(void, file, steps_offset), o->step_count, sizeof *o->steps);
    }
}

/* The run's process, when it took too long. */
static void stop_run(struct pt_explore_program *p, uint32_t run)
{
    uint32_t child = atomic_load(&p->file->child);
    if (p->setup.serves && child) {
        (void)kill((pid_t)child, SIGKILL);
        if (wait_for(p, run, now() + AFTERWARD) == ANSWERED)
            return;
    }
    end_process(p);
}

static enum pt_status try_run(struct pt_explore_program *p, const struct pt_explore_plan *plan, uint64_t timeout,
                              enum waited *ret_waited, struct pt_err *err)
{
    uint32_t run = ++p->runs;
    enum pt_status status = PT_OK;
    if (!p->setup.serves)
        end_process(p);
    if (!p->process) { /* a new server knows nothing of the runs before */
        run = p->runs = 1;
        p->served = false;
        atomic_store(&p->file->child, 0);
        atomic_store(&p->file->server, 0);
        atomic_store(&p->file->answer, 0);
    }
    write_plan(p, plan, run);
    atomic_store_explicit(&p->file->command, run, memory_order_release);
    if (p->process)
        futex_wake(&p->file->command);
    else
        status = start(&p->setup, p->file_fd, p->input_fd, p->output_fd, &p->process, err);
    if (status == PT_OK)
        *ret_waited = wait_for(p, run, timeout ? now() + timeout : UINT64_MAX);
    return status;
}

enum pt_status pt_explore_program_run(struct pt_explore_program *p, const struct pt_explore_plan *plan,
                                      uint64_t timeout, struct pt_explore_outcome *ret_outcome, struct pt_err *err)
{
    struct pt_explore_outcome outcome = {0};
    enum waited waited = LATE;
    bool before = p->served;
    enum pt_status status = try_run(p, plan, timeout, &waited, err);
    if (status == PT_OK && waited == ENDED && before && p->setup.serves) /* the server has died since */
        status = try_run(p, plan, timeout, &waited, err);
    if (status != PT_OK)
        return status;
    outcome.timed_out = waited == LATE;
    if (waited == LATE || waited == STOPPED)
        stop_run(p, p->runs);
    if (waited == STOPPED) {
        *ret_outcome = outcome;
        return PT_OK;
    }
    if (pt_explore_program_is_unserved(p))
        p->setup.serves = false;
    p->served |= waited == ANSWERED;
    outcome.wait_status = waited == ANSWERED ? atomic_load(&p->file->wait_status) : (uint32_t)p->exit_status;
    read_outcome(p, plan, p->runs, &outcome);
    *ret_outcome = outcome;
    return PT_OK;
}

void pt_explore_program_lend(struct pt_explore_program *p, const struct pt_explore_plan *plan, struct pt_buf *ret_value)
{
    write_plan(p, plan, 1);
    atomic_store_explicit(&p->file->command, 1, memory_order_release);
    pt_buf_printf(ret_value, "/proc/%ld/fd/%d", (long)getpid(), p->file_fd);
}

bool pt_explore_program_asks(struct pt_explore_program *p, uint64_t ns)
{
    uint32_t stops = atomic_load(&p->file->stops);
    if (stops == atomic_load(&p->file->told))
        futex_wait(&p->file->stops, stops, ns);
    return atomic_load(&p->file->stops) != atomic_load(&p->file->told);
}

void pt_explore_program_tell(struct pt_explore_program *p, const char *text)
{
    snprintf(p->file->says, sizeof p->file->says, "%s", text);
    atomic_store(&p->file->told, atomic_load(&p->file->stops));
    futex_wake(&p->file->told);
}

uint32_t pt_explore_program_look(struct pt_explore_program *p, const struct pt_explore_plan *plan,
                                 struct pt_explore_outcome *ret_outcome)
{
    *ret_outcome = (struct pt_explore_outcome){0};
    read_outcome(p, plan, 1, ret_outcome);
    return atomic_load(&p->file->server);
}

enum pt_status pt_explore_program_plain(const struct pt_explore_setup *setup, uint64_t timeout,
                                        struct pt_explore_outcome *ret_outcome, struct pt_err *err)
{
    struct pt_explore_setup own = *setup;
    struct pt_explore_plan plan = {0};
    struct pt_explore_program *program;
    own.serves = false;
    own.watches = true;
    enum pt_status status = pt_explore_program_new(&own, &program, err);
    if (status != PT_OK)
        return status;
    status = pt_explore_program_run(program, &plan, timeout, ret_outcome, err);
    pt_explore_program_free(program);
    return status;
}
