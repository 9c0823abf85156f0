/*
 * Plays `portent explore` for tests of the runtime alone: starts a program under control, runs it so many times, and
 * prints a line for each run. No strategy of its own: places that were met become shared before the next run.
 *
 *   drive [-n RUNS] [-s first|random|pct|surw] [-S SEED] [-p SLOT*STEPS,...] [-k] [-l] [-t] [-v] [-w WISHES] [-d DEPTH]
 *         [-u SPURIOUS] [-T SECONDS] [-r FILE] [-L STEPS] PROGRAM ARGUMENT...
 *
 *   -k  strict prefix       -l  print the steps of the last run       -t  print the thread table of the last run
 *   -q  no line for each run, only the summary                         -f  keep places as they are (nothing is shared)
 *   -a  repeat what the last run took as prefix for the rest (-n counts them), and compare
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/explore.h"
#include "core/explore_depend.h"

enum { PREFIX = 1 << 16, PLACES = 1 << 16, TEXTS = 1 << 22, WEIGHTS = 1024, TAKEN = 1 << 20, STEPS = 1 << 20 };

static struct pt_explore *file;
static struct pt_explore_input *input;
static struct pt_explore_result *result;
static struct pt_explore_place *places;
static struct pt_explore_step *steps;
static struct pt_explore_stretch *taken, *prefix;
static struct pt_explore_thread *threads;
static const char *texts;

static void die(const char *what)
{
    perror(what);
    exit(99);
}

static uint64_t room(uint64_t *end, uint64_t bytes)
{
    uint64_t at = (*end + 4095) & ~(uint64_t)4095;
    *end = at + bytes;
    return at;
}

static int make_file(bool serves)
{
    struct pt_explore head = {.magic = PT_EXPLORE_MAGIC, .version = PT_EXPLORE_VERSION, .flags = serves};
    uint64_t end = sizeof head;
    head.prefix_max = PREFIX, head.weights_max = WEIGHTS, head.places_max = PLACES, head.texts_max = TEXTS;
    head.taken_max = TAKEN, head.steps_max = STEPS;
    head.input_offset = room(&end, sizeof *input);
    head.prefix_offset = room(&end, sizeof *prefix * PREFIX);
    head.weights_offset = room(&end, sizeof(struct pt_explore_weight) * WEIGHTS);
    head.places_offset = room(&end, sizeof *places * PLACES);
    head.texts_offset = room(&end, TEXTS);
    head.result_offset = room(&end, sizeof *result);
    head.threads_offset = room(&end, sizeof *threads * PT_EXPLORE_THREADS);
    head.taken_offset = room(&end, sizeof *taken * TAKEN);
    head.steps_offset = room(&end, sizeof *steps * STEPS);
    head.total_bytes = end;
    int fd = memfd_create("explore", 0);
    if (fd < 0 || ftruncate(fd, (off_t)end) != 0)
        die("memfd");
    file = mmap(NULL, end, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (file == MAP_FAILED)
        die("mmap");
    *file = head;
    input = PT_EXPLORE_AT(struct pt_explore_input, file, input_offset);
    prefix = PT_EXPLORE_AT(struct pt_explore_stretch, file, prefix_offset);
    places = PT_EXPLORE_AT(struct pt_explore_place, file, places_offset);
    texts = PT_EXPLORE_AT(const char, file, texts_offset);
    result = PT_EXPLORE_AT(struct pt_explore_result, file, result_offset);
    threads = PT_EXPLORE_AT(struct pt_explore_thread, file, threads_offset);
    taken = PT_EXPLORE_AT(struct pt_explore_stretch, file, taken_offset);
    steps = PT_EXPLORE_AT(struct pt_explore_step, file, steps_offset);
    return fd;
}

static pid_t start_program(int fd, char **arguments)
{
    char text[16];
    pid_t child = fork();
    if (child)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    personality(ADDR_NO_RANDOMIZE);
    snprintf(text, sizeof text, "%d", fd);
    setenv(PT_EXPLORE_ENV, text, 1);
    execvp(arguments[0], arguments);
    die(arguments[0]);
    return 0;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* False: it took too long, and was killed. */
static bool run_once(uint32_t number, double limit, pid_t server)
{
    double end = now() + limit;
    input->run = number;
    atomic_store(&file->command, number);
    syscall(SYS_futex, &file->command, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    bool killed = false;
    for (;;) {
        uint32_t answer = atomic_load(&file->answer);
        struct timespec wait = {.tv_nsec = 50000000};
        if (answer == number)
            return !killed;
        int status;
        if (waitpid(server, &status, WNOHANG) == server) {
            printf("the program ended before it served: %x\n", (unsigned)status);
            exit(98);
        }
        syscall(SYS_futex, &file->answer, FUTEX_WAIT, answer, &wait, NULL, 0);
        uint32_t child = atomic_load(&file->child);
        if (now() > end && child && !killed) {
            kill((pid_t)child, SIGKILL);
            killed = true;
        }
    }
}

static const char *place_text(uint32_t place)
{
    static char out[512];
    const struct pt_explore_place *p = &places[place];
    const char *name = texts + p->file, *slash = strrchr(name, '/');
    if (!place)
        return "-";
    snprintf(out, sizeof out, "%s:%u:%u %s %s", slash ? slash + 1 : name, p->line, p->column, texts + p->function,
             texts + p->variable);
    return out;
}

static void print_steps(void)
{
    for (uint64_t i = 0; i < result->step_count && i < STEPS; i++) {
        const struct pt_explore_step *s = &steps[i];
        printf("%6lu  %u %s %lx/%lx size %u value %lx flags %x enabled %lx yields %lx  %s\n", i + 1, s->who,
               pt_explore_word(s->kind), s->object, s->other, s->size, s->value, s->flags, s->enabled.words[0],
               s->yields.words[0], place_text(s->place));
    }
}

static void print_threads(void)
{
    static const char *const states[] = {"none", "runs", "ready", "blocked", "away", "ended"};
    for (uint32_t i = 0; i < result->thread_count; i++) {
        const struct pt_explore_thread *t = &threads[i];
        printf("thread %u: %s '%s' %s %lx owner %d steps %u parent %d at %s\n", i, states[t->state], t->name,
               pt_explore_word(t->kind), t->object, (int)t->owner, t->steps, (int)t->parent, place_text(t->place));
    }
}

static uint32_t share(void)
{
    uint32_t count = atomic_load(&file->place_count), fresh = 0;
    for (uint32_t i = 1; i < count; i++)
        if ((places[i].flags & PT_EXPLORE_MET) && !(places[i].flags & PT_EXPLORE_SHARED)) {
            for (uint32_t j = 1; j < count; j++)
                if (places[j].key == places[i].key)
                    places[j].flags |= PT_EXPLORE_SHARED | PT_EXPLORE_MET;
            fresh++;
        }
    return fresh;
}

static void parse_prefix(const char *text)
{
    uint32_t count = 0;
    while (*text && count < PREFIX) {
        char *end;
        prefix[count].who = (uint32_t)strtoul(text, &end, 10);
        prefix[count].steps = *end == '*' ? (uint32_t)strtoul(end + 1, &end, 10) : 1;
        count++;
        text = *end ? end + 1 : end;
    }
    input->prefix_count = count;
}

static uint32_t strategy_of(const char *word)
{
#define WORD(name, text) text,
    static const char *const words[] = {PT_EXPLORE_STRATEGIES(WORD)};
#undef WORD
    for (uint32_t i = 0; i < PT_EXPLORE_STRATEGY_COUNT; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    fprintf(stderr, "no strategy %s\n", word);
    exit(99);
}

static const char *end_text(void)
{
    static const char *const ends[] = {"ended", "stuck", "livelock", "limit", "diverged", "redundant", "full", "body"};
    return ends[result->end];
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    uint32_t runs = 1;
    uint64_t seed = 1;
    double limit = 10;
    bool lists = false, table = false, quiet = false, keeps = false, again = false;
    int fd = make_file(true), option;
    input->wishes = PT_EXPLORE_LOGS | PT_EXPLORE_PINS;
    input->clock = 1700000000000000000;
    while ((option = getopt(argc, argv, "+n:s:S:p:kltqfaw:d:u:T:r:L:")) != -1)
        switch (option) {
        case 'n':
            runs = (uint32_t)atoi(optarg);
            break;
        case 's':
            input->strategy = strategy_of(optarg);
            break;
        case 'S':
            seed = strtoull(optarg, NULL, 0);
            break;
        case 'p':
            parse_prefix(optarg);
            break;
        case 'k':
            input->wishes |= PT_EXPLORE_STRICT;
            break;
        case 'l':
            lists = true;
            break;
        case 't':
            table = true;
            break;
        case 'q':
            quiet = true;
            break;
        case 'f':
            keeps = true;
            break;
        case 'a':
            again = true;
            break;
        case 'w':
            input->wishes = (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'd':
            input->depth = (uint32_t)atoi(optarg);
            break;
        case 'u':
            input->spurious = (uint32_t)atoi(optarg);
            break;
        case 'T':
            limit = atof(optarg);
            break;
        case 'r':
            snprintf(input->record, sizeof input->record, "%s", optarg);
            break;
        case 'L':
            input->step_limit = strtoull(optarg, NULL, 0);
            break;
        default:
            return 99;
        }
    if (optind >= argc)
        return 99;
    pid_t server = start_program(fd, argv + optind);
    uint64_t *schedules = calloc(runs + 8, sizeof *schedules), first_values = 0, first_steps = 0, all_steps = 0;
    uint32_t failed = 0, differ = 0, number = 0, last_status = 0, ordinary = UINT32_MAX;
    double began = now(), used = 0;
    if (again) /* places are found first, then one run is the model of all others */
        for (uint32_t i = 0; i < 4; i++) {
            input->seed = seed;
            run_once(++number, limit, server);
            if (!share())
                break;
        }
    for (uint32_t i = 0; i < runs; i++) {
        input->seed = seed + (again ? 0 : i);
        input->length = result->step_count ? result->step_count : 100;
        double start = now();
        bool done = run_once(++number, limit, server);
        used = now() - start;
        uint32_t status = atomic_load(&file->wait_status);
        if (ordinary == UINT32_MAX)
            ordinary = status;
        failed += status != 0;
        schedules[i] = result->schedule;
        all_steps += result->step_count;
        if (!quiet)
            printf(
                "run %u: %s%s status %x steps %lu switches %u threads %u preemptions %lu losses %x fresh %u found %x "
                "values %lx diverged %lu %.1f ms\n",
                number, done ? "" : "killed ", end_text(), status, result->step_count, result->taken_count,
                result->thread_count, result->preemptions, result->losses, result->fresh,
                atomic_load(&result->found_count), result->values, result->diverged_at, used * 1000);
        if (again && i == 0) {
            first_values = result->values, first_steps = result->step_count, last_status = status;
            memcpy(prefix, taken, sizeof *prefix * (result->taken_count < PREFIX ? result->taken_count : PREFIX));
            input->prefix_count = result->taken_count;
            input->wishes |= PT_EXPLORE_STRICT;
            input->strategy = PT_EXPLORE_FIRST;
        } else if (again) {
            differ += result->values != first_values || result->step_count != first_steps || status != last_status;
        }
        if (!keeps && !again)
            share();
    }
    double all = now() - began;
    if (lists)
        print_steps();
    if (table)
        print_threads();
    qsort(schedules, runs, sizeof *schedules, compare);
    uint32_t distinct = runs ? 1 : 0;
    for (uint32_t i = 1; i < runs; i++)
        distinct += schedules[i] != schedules[i - 1];
    atomic_store(&file->command, PT_EXPLORE_QUIT);
    syscall(SYS_futex, &file->command, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    waitpid(server, NULL, 0);
    struct rusage usage; /* of the server and its children: other processes may have had the processor meanwhile */
    getrusage(RUSAGE_CHILDREN, &usage);
    double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("%u runs, %u not 0, %u distinct, %u differ, %.0f runs/s, %.2f us/step; of processor time %.0f runs/s, %.2f "
           "us/step\n",
           runs, failed, distinct, differ, number / all, all_steps ? all * 1e6 / (double)all_steps : 0.0, number / cpu,
           all_steps ? cpu * 1e6 / (double)all_steps : 0.0);
    return differ != 0;
}
