/*
 * Properties without an observer: the file of `portent compile` is read, checked against the program and its libraries,
 * and put where the observer's configuration would be.
 *
 * Guarantee: a file that was made for another program or another build of a library it needs is refused, with a
 * sentence, and the program runs unmonitored. Cost: at the start, and at each dlopen one look at each library that it
 * names.
 */
#include "runtime/local/embedded.h"

#include <string.h>

#include "core/ptc.h"
#include "runtime/local/monitor.h"
#include "runtime/local/race_properties.h"
#include "runtime/sys/log.h"
#include "runtime/sys/module.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

static bool is_for_this_program(const struct pt_ptc *head)
{
    unsigned char id[PT_ID_MAX];
    uint32_t bytes = pt_module_identity("", id);
    return bytes == head->id_bytes && memcmp(id, head->id, bytes) == 0;
}

/* Do the program's own variables lie inside it? A file that was made up could have the runtime read anything. */
static bool has_its_variables(const struct pt_ptc *head)
{
    const char *config = (const char *)(head + 1);
    uint32_t count = ((const struct pt_config *)config)->watch_count;
    const struct pt_watch *watches = (const void *)(config + ((const struct pt_config *)config)->watches);
    uint64_t base;
    if (!pt_module_find("", &base))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!watches[i].module && !pt_module_covers(base + watches[i].offset, watches[i].size))
            return false;
    return true;
}

/* --- libraries --- */

enum { UNSEEN, SAME, OTHER };

static struct {
    const char *config; /* NULL: no properties are embedded */
    const struct pt_library *items;
    uint32_t count;
    _Atomic uint8_t *seen; /* by library */
} libraries;

static bool list_libraries(struct pt_channel *channel)
{
    const char *at = (const char *)channel + channel->config_offset;
    const struct pt_config *config = (const void *)at;
    libraries.seen = pt_sys_reserve(config->library_count + 1);
    if (!libraries.seen)
        return false;
    libraries.config = at;
    libraries.items = (const void *)(at + config->libraries);
    libraries.count = config->library_count;
    return true;
}

static const char *file_of(const struct pt_library *library)
{
    return libraries.config + library->module;
}

/* A library is looked at once it is there, and not again: that it is closed is not noticed either (watch.c). */
static uint8_t look_at(uint32_t i)
{
    const struct pt_library *library = &libraries.items[i];
    unsigned char id[PT_ID_MAX];
    uint8_t seen = atomic_load(&libraries.seen[i]);
    uint32_t bytes = seen == UNSEEN ? pt_module_identity(file_of(library), id) : 0;
    if (bytes) {
        seen = bytes == library->id_bytes && memcmp(id, library->id, bytes) == 0 ? SAME : OTHER;
        atomic_store(&libraries.seen[i], seen);
    }
    return seen;
}

bool pt_embedded_is_other(const char *file)
{
    for (uint32_t i = 0; i < libraries.count; i++)
        if (strcmp(file_of(&libraries.items[i]), file) == 0)
            return look_at(i) == OTHER;
    return false;
}

/* A library that the properties need, and that is there in another build; NULL: none. */
static const struct pt_library *find_other(void)
{
    for (uint32_t i = 0; i < libraries.count; i++)
        if (libraries.items[i].needed && look_at(i) == OTHER)
            return &libraries.items[i];
    return NULL;
}

/* --- what is said --- */

static void begin_line(struct pt_line *line, const char *until)
{
    pt_line_text(line, "portent: the properties of '");
    pt_line_span(line, pt_options.properties);
    pt_line_text(line, "' are not checked");
    pt_line_text(line, until);
}

static void refuse(const char *why)
{
    struct pt_line line = {0};
    begin_line(&line, ": ");
    pt_line_text(&line, why);
    pt_line_write(&line);
}

static void refuse_library(const struct pt_library *library, const char *until)
{
    struct pt_line line = {0};
    begin_line(&line, until);
    pt_line_text(&line, "they were compiled for another build of '");
    pt_line_text(&line, file_of(library));
    pt_line_text(&line, "'");
    pt_line_write(&line);
}

void pt_embedded_opened(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const struct pt_library *other = find_other();
    if (!other || atomic_flag_test_and_set(&said))
        return;
    pt_report_stop();
    pt_race_properties_stop();
    refuse_library(other, " from here on: ");
}

/* --- the file --- */

static struct pt_channel *make_channel(const struct pt_ptc *head, size_t *ret_bytes)
{
    size_t at = (sizeof(struct pt_channel) + 63) & ~(size_t)63, bytes = at + head->config_bytes;
    struct pt_channel *channel = pt_sys_reserve(bytes);
    if (!channel)
        return NULL;
    memcpy(channel->magic, PT_CHANNEL_MAGIC, sizeof channel->magic);
    channel->version = PT_CHANNEL_VERSION;
    channel->on_full = PT_ON_FULL_DROP;
    channel->total_bytes = bytes;
    channel->config_offset = at;
    channel->config_bytes = head->config_bytes;
    channel->ring_bytes = 4096; /* of no ring at all */
    atomic_store(&channel->next_number, 1);
    atomic_store(&channel->program_state, PT_PROGRAM_RUNNING);
    atomic_store(&channel->observer_gone, 1);
    memcpy((char *)channel + at, head + 1, head->config_bytes);
    *ret_bytes = bytes;
    return channel;
}

/* The libraries that are there by now; others are looked at when they are opened. */
static struct pt_channel *accept(const struct pt_ptc *head, size_t *ret_bytes)
{
    size_t bytes;
    struct pt_channel *channel = make_channel(head, &bytes);
    if (!channel || !list_libraries(channel)) {
        refuse("there is no memory");
        return NULL;
    }
    const struct pt_library *other = find_other();
    if (other) {
        refuse_library(other, ": ");
        libraries.count = 0;
        pt_sys_release(channel, bytes);
        return NULL;
    }
    *ret_bytes = bytes;
    return channel;
}

struct pt_channel *pt_embedded_open(size_t *ret_bytes)
{
    struct pt_line path = {0};
    size_t bytes;
    pt_line_span(&path, pt_options.properties);
    path.text[path.len] = 0;
    void *file = pt_sys_read_file(path.text, &bytes);
    if (!file) {
        refuse("the file cannot be read");
        return NULL;
    }
    const char *problem = pt_ptc_problem(file, bytes);
    if (!problem && !is_for_this_program(file))
        problem = "they were compiled for another program";
    if (!problem && !has_its_variables(file))
        problem = "it is damaged";
    struct pt_channel *channel = problem ? NULL : accept(file, ret_bytes);
    if (problem)
        refuse(problem);
    pt_sys_release(file, bytes ? bytes : 1);
    return channel;
}
