/*
 * The observer of one process that was not started by us: its program is found by its number, the names of the
 * properties are looked up there, and those properties whose names it has are judged in its run. It gets a channel of
 * its own over the connection and goes on. What is found is reported under the process's name, and written to where
 * `run` collects it. Guarantee: the process is never left waiting: whatever fails closes the connection. Costs: a
 * process of ours and its memory for each that is observed; the look-up of names before it may go on.
 */
#include "cli/run/attached.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/run/processes.h"
#include "cli/run/warn.h"
#include "cli/run/whole.h"
#include "report/json.h"
#include "trace/format.h"

struct attached {
    const struct pt_attach *attach;
    struct pt_session session;
    struct pt_observed process;
    char *label, *trace, *library_path;
    const char **words; /* its command, then NULL; they stand in `command` */
    struct pt_buf command;
    int pidfd;
};

/* --- who it is --- */

/* Its file, by the name it was started with if that still leads there. */
static char *find_program(pid_t process)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)process);
    ssize_t len = readlink(link, path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    return pt_xstrdup(len > 0 && access(path, R_OK) == 0 ? path : link);
}

/* Where it was started. */
static char *find_folder(pid_t process)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%ld/cwd", (long)process);
    ssize_t len = readlink(link, path, sizeof path - 1);
    path[len > 0 ? len : 0] = '\0';
    return pt_xstrdup(path);
}

/* Its command: the file, and the arguments it was started with. */
static void find_command(struct attached *a)
{
    char path[64], *word = NULL;
    size_t room = 0, count = 0, at = 0;
    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)a->attach->process);
    FILE *file = fopen(path, "re");
    pt_buf_add(&a->command, a->session.program, strlen(a->session.program) + 1);
    for (ssize_t len; file && (len = getdelim(&word, &room, '\0', file)) > 0; count++)
        if (count > 0)
            pt_buf_add(&a->command, word, (size_t)len);
    if (file)
        fclose(file);
    free(word);
    a->words = pt_xcalloc(count + 2, sizeof *a->words);
    for (size_t i = 0; at < a->command.len; at += strlen(a->command.text + at) + 1)
        a->words[i++] = a->command.text + at;
}

/* The value of LD_LIBRARY_PATH there, which wrapper scripts set; NULL: none. */
static char *find_library_path(pid_t process)
{
    static const char name[] = "LD_LIBRARY_PATH=";
    char path[64], *entry = NULL, *found = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)process);
    FILE *file = fopen(path, "re");
    while (file && !found && getdelim(&entry, &room, '\0', file) > 0) {
        if (strncmp(entry, name, sizeof name - 1) == 0)
            found = pt_xstrdup(entry + sizeof name - 1);
    }
    if (file)
        fclose(file);
    free(entry);
    return found;
}

/* It waits for us, so it is still the one that has this number. */
static enum pt_status greet(struct attached *a, struct pt_err *err)
{
    const struct pt_attach *attach = a->attach;
    struct pt_hello hello = {{0}, 0, 0};
    struct timeval patience = {.tv_sec = 10};
    setsockopt(attach->connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (recv(attach->connection, &hello, sizeof hello, MSG_WAITALL) != (ssize_t)sizeof hello ||
        memcmp(hello.magic, PT_CHANNEL_MAGIC, sizeof hello.magic) != 0)
        return pt_err_set(err, PT_EINPUT, "it did not say what it is");
    if (hello.version != PT_CHANNEL_VERSION)
        return pt_err_set(err, PT_EINPUT, "it was built with another version of Portent");
    a->pidfd = (int)syscall(SYS_pidfd_open, attach->process, 0);
    return a->pidfd >= 0 ? PT_OK : pt_err_set(err, PT_EIO, "it cannot be followed: %s", strerror(errno));
}

/* --- its properties --- */

/* Keeps the properties whose names it has; of the others `unknown` says which name it lacks. */
static void choose_properties(struct attached *a)
{
    struct pt_analyse *analyse = &a->session.analyse;
    const struct pt_analysis_input *all = a->attach->session->analyse.inputs;
    uint32_t count = analyse->input_count;
    analyse->inputs = pt_xcalloc((size_t)count + 1, sizeof *analyse->inputs);
    analyse->input_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct pt_analysis_input input = all[i];
        struct pt_analyse alone = *analyse;
        struct pt_resolved resolved = {0};
        alone.inputs = &input;
        alone.input_count = 1;
        a->process.judged[i] = pt_resolve(&alone, a->session.info, &resolved, &a->process.unknown[i]) == PT_OK;
        pt_resolved_release(&resolved);
        if (a->process.judged[i])
            analyse->inputs[analyse->input_count++] = input;
        else if (a->process.unknown[i].file[0] && a->process.unknown[i].line)
            pt_file_show_line(a->process.unknown[i].file, &a->process.unknown[i]);
    }
}

static enum pt_status resolve(struct attached *a, struct pt_err *err)
{
    struct pt_session *session = &a->session;
    struct pt_debuginfo_options options = {.library_path = a->library_path, .modules = session->modules};
    enum pt_status status = pt_debuginfo_open(session->program, &options, &session->info, err);
    if (status != PT_OK)
        return status;
    choose_properties(a);
    return pt_resolve(&session->analyse, session->info, &session->resolved, err);
}

/* --- its run --- */

static enum pt_status open_trace(struct attached *a, struct pt_err *err)
{
    const char *path = a->attach->trace_path;
    struct pt_buf name;
    if (!path)
        return PT_OK;
    pt_buf_init(&name);
    pt_buf_printf(&name, "%s.%ld", path, (long)a->attach->process);
    if (a->attach->again)
        pt_buf_printf(&name, ".%u", a->attach->again + 1);
    a->trace = pt_buf_take(&name);
    a->session.analyse.engine.trace = a->trace;
    return pt_session_open_trace(&a->session, a->trace, pt_format_of_name(path), err);
}

static enum pt_status send_channel(const struct attached *a, struct pt_err *err)
{
    int fd = pt_channel_fd(a->session.reader);
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof fd)] = {0};
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    if (sendmsg(a->attach->connection, &message, MSG_NOSIGNAL) != 1)
        return pt_err_set(err, PT_EIO, "it got no channel: %s", strerror(errno));
    close(a->attach->connection);
    return PT_OK;
}

static enum pt_status observe(struct attached *a, struct pt_err *err)
{
    enum pt_status status = greet(a, err);
    if (status == PT_OK)
        status = resolve(a, err);
    if (status == PT_OK)
        status = open_trace(a, err);
    if (status == PT_OK)
        status = pt_session_open(&a->session, err);
    if (status == PT_OK)
        status = send_channel(a, err);
    if (status == PT_OK)
        status = pt_session_attend(&a->session, a->attach->process, a->pidfd, a->attach->stop, err);
    return status;
}

/* --- what came of it --- */

/* Why its answer is not whole; false: it is, but perhaps for what it did not observe and others may have. */
static bool find_reasons(struct attached *a, const struct pt_result *result, struct pt_buf *reasons)
{
    bool *unseen = pt_xcalloc((size_t)result->count + 1, sizeof *unseen);
    bool open = pt_session_reasons(&a->session, result, unseen, reasons);
    for (uint32_t i = 0, k = 0; k < a->session.analyse.input_count; i++) {
        if (a->process.judged[i])
            a->process.unseen[i] = unseen[k++];
    }
    free(unseen);
    return open;
}

static void conclude(struct attached *a)
{
    struct pt_session *session = &a->session;
    char *folder = getcwd(NULL, 0);
    const char *const source_roots[] = {folder, NULL};
    struct pt_result result = {
        .trace = session->analyse.engine.trace, .program = a->words, .source_roots = folder ? source_roots : NULL};
    struct pt_buf json, reasons;
    pt_buf_init(&json);
    pt_buf_init(&reasons);
    pt_session_close_trace(session);
    pt_session_finish(session, &result);
    pt_triage_apply(&session->analyse.triage, &result);
    a->process.violated = pt_whole_violated(&result);
    if (result.count)
        pt_output_end(&session->output.output, &result);
    a->process.whole = !find_reasons(a, &result, &reasons);
    if (!a->process.whole)
        fprintf(stderr, "portent: the answer about %s is not whole: %s\n", a->label, reasons.text);
    pt_report_json(&result, &json);
    a->process.json = pt_buf_take(&json);
    pt_buf_release(&reasons);
    free(folder);
}

static void init(struct attached *a, const struct pt_attach *attach)
{
    const struct pt_session *base = attach->session;
    struct pt_buf label;
    a->attach = attach;
    a->session = (struct pt_session){.settings = base->settings,
                                     .analyse = base->analyse,
                                     .output_options = base->output_options,
                                     .modules = base->modules,
                                     .on_full = base->on_full,
                                     .keep = base->keep,
                                     .checks = base->checks,
                                     .program = find_program(attach->process)};
    pt_names_init(&a->session.names);
    pt_buf_init(&a->session.unwritten);
    a->library_path = find_library_path(attach->process);
    a->process.process = attach->process;
    a->process.came = attach->came;
    a->process.program = a->session.program;
    a->process.folder = find_folder(attach->process);
    pt_buf_init(&a->command);
    find_command(a);
    a->process.json = pt_xstrdup("");
    a->process.judged = pt_xcalloc((size_t)base->analyse.input_count + 1, sizeof *a->process.judged);
    a->process.unseen = pt_xcalloc((size_t)base->analyse.input_count + 1, sizeof *a->process.unseen);
    a->process.unknown = pt_xcalloc((size_t)base->analyse.input_count + 1, sizeof *a->process.unknown);
    a->session.analyse.engine.trace = a->session.program;
    pt_buf_init(&label);
    pt_observed_label(attach->process, a->session.program, &label);
    a->label = pt_buf_take(&label);
    a->session.output_options.process = a->label;
}

void pt_attached_observe(const struct pt_attach *attach)
{
    struct attached a = {0};
    struct pt_err err;
    signal(SIGPIPE, SIG_IGN);
    init(&a, attach);
    enum pt_status status = observe(&a, &err);
    if (status == PT_OK && pt_channel_started(a.session.reader)) {
        a.process.observed = true;
        conclude(&a);
    } else {
        if (status == PT_OK)
            (void)pt_err_set(&err, PT_EIO, "it ended before it was observed");
        a.process.error = err;
        if (a.trace)
            unlink(a.trace);
        fprintf(stderr, "portent: %s was not observed: %s\n", a.label, err.message);
    }
    pt_observed_write(attach->results, &a.process, attach->session->analyse.input_count);
    _exit(0); /* what the others have buffered is theirs */
}
