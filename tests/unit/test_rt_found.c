/* What built-in checks found, inside the program: once for each key, printed or sent, suppressed by every kind of name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/ops.h"
#include "runtime/channel/emit.h"
#include "runtime/found/found.h"
#include "runtime/found/suppressed.h"
#include "runtime/found/verdict.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"

static struct pt_thread self;
static struct pt_channel channel;

/* In the place of the layer before: what is sent. */
static struct sent {
    uint64_t key, count;
    uint32_t bytes;
} sent[64];
static uint32_t sent_count;

void pt_emit_found(struct pt_thread *thread, uint64_t key, uint64_t count, const char *report, uint32_t bytes)
{
    assert_ptr_equal(thread, &self);
    assert_true(!bytes || pt_found_is_whole(report, bytes));
    sent[sent_count++ % 64] = (struct sent){key, count, bytes};
}

static const struct pt_site put_at = {"src/stack.c", "push", "top", 12, 3},
                            get_at = {"src/stack.c", "pop", "top", 20, 3}, called = {"src/main.c", "worker", "", 30, 1},
                            spawn = {"src/main.c", "main", "", 7, 1}, make = {"src/stack.c", "make", "", 4, 1},
                            locked = {"src/main.c", "lock_all", "", 28, 1};
static const struct pt_site *const put_stack[] = {&put_at, &called}, *const get_stack[] = {&get_at, &called},
                                   *const spawned[] = {&spawn}, *const made[] = {&make, &spawn};
static const struct pt_found_lock held[] = {{"guard", 0x1000, &locked}};

static struct pt_found_side sides[2];

static struct pt_found race(void)
{
    sides[0] = (struct pt_found_side){.thread = 1,
                                      .thread_name = "main",
                                      .kind = PT_KIND_READ_AT,
                                      .flags = PT_FOUND_ATOMIC,
                                      .address = 0x7008,
                                      .size = 8,
                                      .variable = "top",
                                      .stack = {get_stack, 2, false}};
    sides[1] = (struct pt_found_side){.thread = 3,
                                      .thread_name = "worker",
                                      .kind = PT_KIND_WRITE_AT,
                                      .address = 0x7008,
                                      .size = 4,
                                      .variable = "top",
                                      .stack = {put_stack, 2, false},
                                      .locks = held,
                                      .lock_count = 1,
                                      .created = {spawned, 1, false}};
    return (struct pt_found){.check = PT_FOUND_RACE,
                             .key = 77,
                             .object = "top",
                             .address = 0x7008,
                             .size = 4,
                             .sides = sides,
                             .side_count = 2};
}

static struct pt_found deadlock(void)
{
    static const struct pt_found_lock other[] = {{"other", 0x2000, NULL}};
    struct pt_found found = race();
    sides[0].kind = sides[1].kind = PT_KIND_ACQ;
    sides[0].variable = "guard";
    sides[0].address = 0x1000;
    sides[0].locks = other;
    sides[0].lock_count = 1;
    sides[1].variable = "other";
    sides[1].address = 0x2000;
    found.check = PT_FOUND_DEADLOCK;
    found.object = "";
    return found;
}

static void options(const char *text)
{
    static char kept[512];
    snprintf(kept, sizeof kept, "%s", text);
    pt_settings_read(&pt_options, kept, NULL, NULL);
}

/* What is printed of a finding, in another process; *ret_status: how that one ends. */
static const char *printed(const struct pt_found *found, const char *opts, int *ret_status)
{
    static char text[20000];
    char path[] = "/tmp/test-found-XXXXXX", set[200];
    int fd = mkstemp(path), status;
    snprintf(set, sizeof set, "log_path=%s:%s", path, opts);
    pid_t child = fork();
    if (child == 0) {
        options(set);
        if (pt_found_is_new(&self, found->key))
            pt_found_report(&self, found, true);
        pt_verdict_finish();
        _exit(0);
    }
    waitpid(child, &status, 0);
    *ret_status = WEXITSTATUS(status);
    char log[64];
    snprintf(log, sizeof log, "%s.%d", path, (int)child);
    FILE *file = fopen(log, "r");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[len] = '\0';
    if (file)
        fclose(file);
    char *pid = strstr(text, "(pid=");
    if (pid)
        memmove(pid, strchr(pid, ')') + 1, strlen(strchr(pid, ')') + 1) + 1);
    unlink(log);
    unlink(path);
    close(fd);
    return text;
}

static void prints_a_race(void **state)
{
    (void)state;
    int status;
    struct pt_found found = race();
    assert_string_equal(printed(&found, "", &status),
                        "==================\n"
                        "WARNING: portent: data race \n"
                        "  Write of size 4 at 0x7008 by thread T3 (worker):\n"
                        "    #0 push src/stack.c:12\n"
                        "    #1 worker src/main.c:30\n"
                        "\n"
                        "  Previous atomic read of size 8 at 0x7008 by main thread:\n"
                        "    #0 pop src/stack.c:20\n"
                        "    #1 worker src/main.c:30\n"
                        "\n"
                        "  Location is 'top' of size 4 at 0x7008\n"
                        "\n"
                        "  Mutexes held by thread T3 (worker): guard (0x1000), locked at src/main.c:28\n"
                        "\n"
                        "  Thread T3 (worker) created at:\n"
                        "    #0 main src/main.c:7\n"
                        "\n"
                        "SUMMARY: portent: data race on top at src/stack.c:12 in push and src/stack.c:20 in pop\n"
                        "==================\n");
    assert_int_equal(status, 66);
}

static void prints_a_use_after_free(void **state)
{
    (void)state;
    int status;
    struct pt_found found = race();
    found.check = PT_FOUND_LIFETIME;
    found.object = "";
    found.block.size = 64;
    found.block.start = 0x7000;
    found.block.thread = 3;
    found.block.thread_name = "worker";
    found.block.stack = (struct pt_found_stack){made, 2, false};
    sides[1].kind = PT_KIND_FREED;
    sides[1].lock_count = 0;
    sides[1].stack = (struct pt_found_stack){NULL, 0, true};
    assert_string_equal(printed(&found, "exitcode=9", &status),
                        "==================\n"
                        "WARNING: portent: use after free \n"
                        "  Atomic read of size 8 at 0x7008 by main thread:\n"
                        "    #0 pop src/stack.c:20\n"
                        "    #1 worker src/main.c:30\n"
                        "\n"
                        "  Previous free of size 4 at 0x7008 by thread T3 (worker):\n"
                        "    [stack lost]\n"
                        "\n"
                        "  Location is heap block of size 64 at 0x7000 allocated by thread T3 (worker):\n"
                        "    #0 make src/stack.c:4\n"
                        "    #1 main src/main.c:7\n"
                        "\n"
                        "  Thread T3 (worker) created at:\n"
                        "    #0 main src/main.c:7\n"
                        "\n"
                        "SUMMARY: portent: use after free at src/stack.c:20 in pop\n"
                        "==================\n");
    assert_int_equal(status, 9);
}

static void prints_a_deadlock(void **state)
{
    (void)state;
    int status;
    struct pt_found found = deadlock();
    const char *text = printed(&found, "", &status);
    assert_non_null(strstr(text, "WARNING: portent: deadlock \n"
                                 "  Main thread waits for guard (0x1000) at:\n"
                                 "    #0 pop src/stack.c:20\n"
                                 "    #1 worker src/main.c:30\n"
                                 "    while it holds other (0x2000)\n"
                                 "\n"
                                 "  Thread T3 (worker) waits for other (0x2000) at:\n"));
    assert_non_null(strstr(text, "    while it holds guard (0x1000), locked at src/main.c:28\n"));
    found.how = PT_FOUND_PREDICTED;
    text = printed(&found, "", &status);
    assert_non_null(strstr(text, "WARNING: portent: potential deadlock"));
    found.note = "lost wake-up";
    assert_non_null(strstr(printed(&found, "", &status), "WARNING: portent: lost wake-up"));
}

static void halts(void **state)
{
    (void)state;
    int status;
    struct pt_found found = race();
    assert_non_null(strstr(printed(&found, "halt_on_error=1:exitcode=12", &status),
                           "portent: a data race was found; halt_on_error ends the program\n"));
    assert_int_equal(status, 12);
    (void)printed(&found, "exitcode=0", &status);
    assert_int_equal(status, 0);
}

/* Whether this line suppresses the finding, and if it does, all about it. */
static bool suppresses(const struct pt_found *found, const char *line)
{
    struct {
        struct pt_config config;
        char text[100];
    } given = {.config.suppressions = sizeof(struct pt_config)};
    char bytes[PT_FOUND_BYTES];
    snprintf(given.text, sizeof given.text, "# first\n%s\n", line);
    pt_suppressed_start(&given.config);
    bool matches = pt_suppressed_found(bytes, pt_found_write(found, bytes, sizeof bytes));
    int status;
    const char *text = printed(found, "halt_on_error=1", &status);
    assert_int_equal(status, matches ? 0 : 66);
    assert_int_equal(text[0] == '\0', matches);
    return matches;
}

static void suppressions(void **state)
{
    (void)state;
    struct pt_found found = race();
    static const char *const yes[] = {"race:top",
                                      "race:^push$",
                                      "race:pop",
                                      "race:stack.c",
                                      "race:src/main.c:30",
                                      "race:^main$",
                                      "race:^worker$",
                                      "race_top:^pop$",
                                      "thread:^worker$",
                                      "property:races",
                                      "called_from_lib:main.c",
                                      "race:src/*.c"},
                             *const no[] = {"race:nothing",  "race_top:worker", "deadlock:top",         "lifetime:top",
                                            "mutex:guard",   "race:guard",      "property:race",        "thread:push",
                                            "signal:worker", "nonsense",        "called_from_lib:push", "race:^top.c"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!suppresses(&found, yes[i]))
            fail_msg("%s does not suppress it", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (suppresses(&found, no[i]))
            fail_msg("%s suppresses it", no[i]);
    struct pt_found cycle = deadlock();
    assert_true(suppresses(&cycle, "deadlock:guard"));
    assert_true(suppresses(&cycle, "deadlock:push"));
    assert_true(suppresses(&cycle, "mutex:^other$"));
    assert_false(suppresses(&cycle, "mutex:push"));
    assert_false(suppresses(&cycle, "race:guard"));
    (void)suppresses(&cycle, "");
}

/* An observer gets each finding once, suppressed or not, and how often it was found. */
static void counts(void **state)
{
    (void)state;
    struct pt_found found = race();
    options("");
    channel.ring_max = 1;
    pt_channel = &channel;
    assert_true(suppresses(&found, "race:top"));
    sent_count = 0;
    for (uint32_t i = 0; i < 100; i++)
        if (pt_found_is_new(&self, 77))
            pt_found_report(&self, &found, true);
    assert_int_equal(sent_count, 7);
    assert_true(sent[0].bytes > 100 && sent[0].key == 77 && sent[0].count == 1);
    assert_true(sent[6].bytes == 0 && sent[6].key == 77 && sent[6].count == 64);
    pt_found_finish(&self);
    assert_int_equal(sent_count, 8);
    assert_int_equal(sent[7].count, 100);
    pt_found_restart();
    assert_true(pt_found_is_new(&self, 77));
    pt_channel = NULL;
}

/* More keys than there is room for are counted together. */
static void no_room(void **state)
{
    (void)state;
    uint32_t told = 0, all = 2 * PT_FOUND_KINDS;
    pt_channel = &channel;
    pt_found_restart();
    for (uint32_t i = 1; i <= all; i++)
        told += pt_found_is_new(&self, i * UINT64_C(0x9e3779b97f4a7c15));
    assert_in_range(told, PT_FOUND_KINDS / 2, PT_FOUND_KINDS);
    sent_count = 0;
    pt_found_finish(&self);
    assert_int_equal(sent_count, 1);
    assert_int_equal(sent[0].key, 0);
    assert_int_equal(sent[0].count, all - told);
    pt_channel = NULL;
    pt_found_restart();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_a_race),     cmocka_unit_test(prints_a_use_after_free),
        cmocka_unit_test(prints_a_deadlock), cmocka_unit_test(halts),
        cmocka_unit_test(suppressions),      cmocka_unit_test(counts),
        cmocka_unit_test(no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
