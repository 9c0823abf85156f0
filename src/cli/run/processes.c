/*
 * The results of several processes. An observer writes its own as one record to a memory file, with a single write, so
 * records of observers side by side do not mix; `run` reads them when all have ended. The list of results has each as
 * it would stand by itself, in the order in which they came. Linear in the size of the results.
 */
#include "cli/run/processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "report/json.h"
#include "report/json_writer.h"

/* --- records --- */

struct record {
    uint64_t bytes; /* of all of it */
    uint64_t program_bytes, folder_bytes, json_bytes;
    struct pt_err error;
    pid_t process;
    uint32_t came;
    bool observed, violated, whole;
};

void pt_observed_write(int fd, const struct pt_observed *process, uint32_t property_count)
{
    struct record head = {.program_bytes = strlen(process->program) + 1,
                          .folder_bytes = strlen(process->folder) + 1,
                          .json_bytes = strlen(process->json) + 1,
                          .error = process->error,
                          .process = process->process,
                          .came = process->came,
                          .observed = process->observed,
                          .violated = process->violated,
                          .whole = process->whole};
    size_t unknown_bytes = property_count * sizeof *process->unknown;
    head.bytes = sizeof head + head.program_bytes + head.folder_bytes + head.json_bytes + 2 * (size_t)property_count +
                 unknown_bytes;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_add(&buf, (const char *)&head, sizeof head);
    pt_buf_add(&buf, process->program, head.program_bytes);
    pt_buf_add(&buf, process->folder, head.folder_bytes);
    pt_buf_add(&buf, process->json, head.json_bytes);
    if (property_count) {
        pt_buf_add(&buf, (const char *)process->judged, property_count);
        pt_buf_add(&buf, (const char *)process->unseen, property_count);
        pt_buf_add(&buf, (const char *)process->unknown, unknown_bytes);
    }
    (void)!write(fd, buf.text, buf.len); /* short of memory: what is missing counts as not observed */
    pt_buf_release(&buf);
}

static void take(struct pt_processes *processes, const char *text)
{
    struct record head;
    uint32_t properties = processes->property_count;
    memcpy(&head, text, sizeof head);
    const char *program = text + sizeof head, *folder = program + head.program_bytes,
               *json = folder + head.folder_bytes, *judged = json + head.json_bytes, *unseen = judged + properties,
               *unknown = unseen + properties;
    struct pt_observed process = {.process = head.process,
                                  .came = head.came,
                                  .program = pt_xstrdup(program),
                                  .folder = pt_xstrdup(folder),
                                  .observed = head.observed,
                                  .violated = head.violated,
                                  .whole = head.whole,
                                  .json = pt_xstrdup(json),
                                  .error = head.error,
                                  .judged = pt_xcalloc((size_t)properties + 1, sizeof *process.judged),
                                  .unseen = pt_xcalloc((size_t)properties + 1, sizeof *process.unseen),
                                  .unknown = pt_xcalloc((size_t)properties + 1, sizeof *process.unknown)};
    if (properties) {
        memcpy(process.judged, judged, properties);
        memcpy(process.unseen, unseen, properties);
        memcpy(process.unknown, unknown, properties * sizeof *process.unknown);
    }
    PT_PUSH(processes->items, processes->count, processes->cap, process);
}

/* Numbers of processes begin anew some time, and whoever ends first was not started first. */
static int compare_came(const void *a, const void *b)
{
    uint32_t one = ((const struct pt_observed *)a)->came, other = ((const struct pt_observed *)b)->came;
    return (one > other) - (one < other);
}

void pt_processes_read(int fd, uint32_t property_count, struct pt_processes *ret_processes)
{
    struct stat about;
    *ret_processes = (struct pt_processes){.property_count = property_count};
    if (fstat(fd, &about) != 0 || about.st_size <= 0)
        return;
    size_t size = (size_t)about.st_size, have = 0;
    char *text = pt_xmalloc(size);
    for (ssize_t got; have < size && (got = pread(fd, text + have, size - have, (off_t)have)) > 0;)
        have += (size_t)got;
    for (size_t at = 0; at + sizeof(struct record) <= have;) {
        struct record head;
        memcpy(&head, text + at, sizeof head);
        if (head.bytes < sizeof head || head.bytes > have - at)
            break;
        take(ret_processes, text + at);
        at += head.bytes;
    }
    free(text);
    if (ret_processes->count)
        qsort(ret_processes->items, ret_processes->count, sizeof *ret_processes->items, compare_came);
}

void pt_processes_release(struct pt_processes *processes)
{
    for (uint32_t i = 0; i < processes->count; i++) {
        free(processes->items[i].program);
        free(processes->items[i].folder);
        free(processes->items[i].json);
        free(processes->items[i].judged);
        free(processes->items[i].unseen);
        free(processes->items[i].unknown);
    }
    free(processes->items);
    *processes = (struct pt_processes){0};
}

/* --- all of them --- */

uint32_t pt_processes_observed(const struct pt_processes *processes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < processes->count; i++)
        count += processes->items[i].observed;
    return count;
}

const struct pt_err *pt_processes_unknown(const struct pt_processes *processes)
{
    for (uint32_t p = 0; p < processes->property_count; p++) {
        const struct pt_err *why = NULL;
        bool judged = false;
        for (uint32_t i = 0; i < processes->count; i++) {
            const struct pt_observed *process = &processes->items[i];
            judged |= process->judged[p];
            if (process->observed && !process->judged[p] && !why)
                why = &process->unknown[p];
        }
        if (why && !judged)
            return why;
    }
    return NULL;
}

bool pt_processes_unseen(const struct pt_processes *processes, uint32_t property)
{
    bool judged = false;
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct pt_observed *process = &processes->items[i];
        if (process->observed && process->judged[property] && !process->unseen[property])
            return false;
        judged |= process->observed && process->judged[property];
    }
    return judged;
}

void pt_observed_label(pid_t process, const char *program, struct pt_buf *buf)
{
    pt_buf_printf(buf, "process %ld (%s)", (long)process, program);
}

static void put_words(struct pt_json *json, const char *key, const char *const *words)
{
    pt_json_open(json, key, '[');
    for (; *words; words++)
        pt_json_string(json, NULL, *words);
    pt_json_close(json, ']');
}

void pt_processes_json(const struct pt_processes *processes, const struct pt_result *whole, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_report_json_made(whole->made, &json);
    pt_json_string(&json, "trace", whole->trace);
    put_words(&json, "program", whole->program);
    if (whole->ended)
        pt_json_uint(&json, "program_status", (uint64_t)whole->program_status);
    if (whole->source_roots)
        put_words(&json, "source_roots", whole->source_roots);
    pt_json_open(&json, "processes", '[');
    for (uint32_t i = 0; i < processes->count; i++) {
        const struct pt_observed *process = &processes->items[i];
        if (!process->observed)
            continue;
        pt_json_open(&json, NULL, '{');
        pt_json_uint(&json, "pid", (uint64_t)process->process);
        pt_json_string(&json, "program", process->program);
        if (process->folder[0])
            pt_json_string(&json, "folder", process->folder);
        pt_json_text(&json, "result", process->json);
        pt_json_close(&json, '}');
    }
    pt_json_close(&json, ']');
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}
