/*
 * The fork server, and the beginning of a run. It stops before anything of the program has run, and before any table of
 * the runtime is made: each child is a program that has just been loaded.
 *
 * Guarantee: a run begins from the same state every time. Cost: a fork for each run.
 */
#include <string.h>
#include <unistd.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

bool pt_explore_on;

static const uint64_t long_time = 3600 * (uint64_t)1000000000;

/* The number of a descriptor, or a path; -1: it is neither. */
static int file_of(const char *text)
{
    int fd = 0;
    if (*text == '/')
        return pt_sys_open_both(text);
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || fd > 1000000)
            return -1;
        fd = fd * 10 + (*text - '0');
    }
    return fd;
}

static bool fits(uint64_t offset, uint64_t count, size_t each, uint64_t total)
{
    return offset % 8 == 0 && offset <= total && count <= (total - offset) / each;
}

static bool is_sound(const struct pt_explore *file, size_t bytes)
{
    uint64_t total = file->total_bytes;
    return memcmp(file->magic, PT_EXPLORE_MAGIC, sizeof file->magic) == 0 && file->version == PT_EXPLORE_VERSION &&
           total <= bytes && fits(file->input_offset, 1, sizeof(struct pt_explore_input), total) &&
           fits(file->prefix_offset, file->prefix_max, sizeof(struct pt_explore_stretch), total) &&
           fits(file->weights_offset, file->weights_max, sizeof(struct pt_explore_weight), total) &&
           fits(file->places_offset, file->places_max, sizeof(struct pt_explore_place), total) &&
           fits(file->texts_offset, file->texts_max, 1, total) &&
           fits(file->result_offset, 1, sizeof(struct pt_explore_result), total) &&
           fits(file->threads_offset, PT_EXPLORE_THREADS, sizeof(struct pt_explore_thread), total) &&
           fits(file->taken_offset, file->taken_max, sizeof(struct pt_explore_stretch), total) &&
           fits(file->steps_offset, file->steps_max, sizeof(struct pt_explore_step), total) &&
           fits(file->found_offset, file->found_max, sizeof(struct pt_explore_found), total) && file->places_max &&
           file->texts_max && file->taken_max;
}

/* NULL: nobody asks for control, or another process has the file; what checks find may come from several. */
static struct pt_explore *open_file(void)
{
    const char *text = pt_sys_getenv(PT_EXPLORE_ENV);
    size_t bytes = 0;
    uint32_t none = 0;
    int fd = text ? file_of(text) : -1;
    struct pt_explore *file = fd < 0 ? NULL : pt_sys_map_file(fd, sizeof *file, &bytes);
    if (!file)
        return NULL;
    if (is_sound(file, bytes) && (atomic_compare_exchange_strong(&file->server, &none, (uint32_t)pt_sys_process()) ||
                                  file->flags & PT_EXPLORE_WATCHES)) {
        pt_sys_close(fd);
        return file;
    }
    pt_sys_release(file, bytes);
    return NULL;
}

static void find_tables(struct pt_explore *file)
{
    pt_run.file = file;
    pt_run.input = &pt_run.given;
    pt_run.places = PT_EXPLORE_AT(struct pt_explore_place, file, places_offset);
    pt_run.texts = PT_EXPLORE_AT(char, file, texts_offset);
    pt_run.result = PT_EXPLORE_AT(struct pt_explore_result, file, result_offset);
    pt_run.threads = PT_EXPLORE_AT(struct pt_explore_thread, file, threads_offset);
    pt_run.taken = PT_EXPLORE_AT(struct pt_explore_stretch, file, taken_offset);
    pt_run.steps = PT_EXPLORE_AT(struct pt_explore_step, file, steps_offset);
}

/* The first thread is there, and no other. */
static void begin_run(void)
{
    *pt_run.result = (struct pt_explore_result){.run = pt_run.input->run};
    pt_explore_pick_begin(&pt_run.picker, pt_run.input,
                          PT_EXPLORE_AT(struct pt_explore_stretch, pt_run.file, prefix_offset),
                          PT_EXPLORE_AT(struct pt_explore_weight, pt_run.file, weights_offset));
    pt_run.slot_count = pt_run.unjoined = pt_run.away = pt_run.token_count = pt_run.leaving = 0;
    pt_run.writes = pt_run.unlocks = pt_run.spun = pt_run.idled = 0;
    pt_run.used = (struct pt_explore_set){0};
    pt_run.strangers = pt_run.early;
    if (pt_run.early)
        pt_explore_lost(PT_EXPLORE_LOST_EARLY, NULL);
    pt_explore_clock_start();
    pt_timer_start();
    pt_object_start();
    pt_explore_thread_start();
}

static void take_input(void)
{
    pt_run.given = *PT_EXPLORE_AT(struct pt_explore_input, pt_run.file, input_offset);
    pt_run.given.record[sizeof pt_run.given.record - 1] = '\0';
}

/* Until there is another one than the last. */
static uint32_t next_command(struct pt_explore *file, uint32_t last)
{
    uint32_t command;
    while ((command = atomic_load_explicit(&file->command, memory_order_acquire)) == last)
        pt_sys_wait(&file->command, command, long_time);
    if (command == PT_EXPLORE_QUIT)
        pt_sys_exit(0);
    return command;
}

static void answer(struct pt_explore *file, uint32_t command, uint32_t status)
{
    atomic_store(&file->wait_status, status);
    atomic_store_explicit(&file->answer, command, memory_order_release);
    pt_sys_wake_all(&file->answer);
}

/* What constructors of libraries have opened before, copies have together, with the place at which reading goes on:
 * each is to find it where it was. What the program has from others is theirs, too, and left alone. */
static int64_t file_places[PT_EXPLORE_DESCRIPTORS];

static void note_files(const struct pt_explore *file)
{
    for (int fd = 0; fd < PT_EXPLORE_DESCRIPTORS; fd++) {
        bool inherited = fd <= STDERR_FILENO || file->inherited[fd / 64] >> fd % 64 & 1;
        file_places[fd] = inherited ? -1 : pt_task_file_place(fd);
    }
}

static void rewind_files(void)
{
    for (int fd = 0; fd < PT_EXPLORE_DESCRIPTORS; fd++)
        if (file_places[fd] >= 0)
            pt_task_set_file_place(fd, file_places[fd]);
}

/* Returns in each child. A child that repeats a function answers itself, until it ends: then the server does for the
 * run that it was at. */
static void serve(struct pt_explore *file)
{
    note_files(file);
    for (uint32_t done = 0;;) {
        done = next_command(file, done);
        pt_place_learn();
        rewind_files();
        pid_t child = fork();
        if (child == 0) {
            pt_task_die_with_parent();
            return;
        }
        atomic_store(&file->child, child < 0 ? 0 : (uint32_t)child);
        uint32_t status = child < 0 ? 0xff00 : pt_task_await_child((uint32_t)child);
        atomic_store(&file->child, 0);
        done = atomic_load(&file->command);
        if (done == PT_EXPLORE_QUIT)
            pt_sys_exit(0);
        answer(file, done, status);
    }
}

/* A copy has the thread alone that makes it. */
static bool can_serve(struct pt_explore *file)
{
    if (pt_sys_thread_count() <= 1)
        return true;
    atomic_store(&file->unserved, 1);
    return false;
}

bool pt_explore_watches(void)
{
    return pt_run.file && pt_run.file->flags & PT_EXPLORE_WATCHES;
}

bool pt_explore_start(void)
{
    struct pt_explore *file = open_file();
    if (!file)
        return false;
    find_tables(file);
    if (pt_explore_watches())
        return false;
    pt_place_start();
    pt_task_die_with_parent();
    pt_explore_heap_start();
    bool serves = file->flags & PT_EXPLORE_SERVES && can_serve(file);
    if (serves)
        serve(file);
    else
        pt_place_learn();
    take_input();
    if (!pt_shared_start())
        return false;
    pt_run.early = !serves && pt_sys_thread_count() > 1;
    begin_run();
    pt_explore_on = true;
    return true;
}

/* ---- a function that is repeated in one process ---- */

static void run_body(void (*body)(void *), void *context)
{
    begin_run();
    if (pt_explore_hooks.begins)
        pt_explore_hooks.begins();
    body(context);
    if (pt_run.unjoined > 1)
        pt_sys_exit(0); /* threads that it has left behind cannot be begun anew */
}

void pt_explore_body(void (*body)(void *), void *context)
{
    /* A process is recorded from its beginning to its end: then that is the run. */
    bool recorded = pt_explore_on && pt_run.given.record[0];
    if (!pt_explore_on || pt_explore_slot() == PT_EXPLORE_NO_SLOT || pt_run.several || recorded) {
        body(context);
        return;
    }
    for (uint32_t command = pt_run.given.run;;) {
        run_body(body, context);
        pt_run.result->end = PT_EXPLORE_BODY;
        answer(pt_run.file, command, PT_EXPLORE_RETURNED);
        command = next_command(pt_run.file, command);
        pt_place_learn();
        take_input();
    }
}

const char *pt_explore_record(void)
{
    return pt_run.input->record;
}
