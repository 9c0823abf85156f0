#!/usr/bin/env python3
"""What built-in checks report of a running program: run_found.py PORTENT [TEST...]

One program with races on the heap, on an array and on a global variable, under `portent run` and by itself: both sides with their stacks,
also of inlined functions, locks and where they were locked, where the thread was created, the heap block with its size and allocation;
the same through JSON and its reports; suppressions, baselines, halt_on_error, exitcode and log_path. The last line is
`found: N passed, M failed`.
"""
import json
import os
import re
import sys
import tempfile

import suite
from suite import contains, in_folder, run, same, true, write

SOURCE = r"""#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct stack { int *items; int top; };
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static int total, pipes[2][2];
__attribute__((noinline)) static void push(struct stack *s, int value)
{
    s->items[3] = value;
    s->top++;
}
static inline __attribute__((always_inline)) int peek(struct stack *s)
{
    return s->items[3];
}
__attribute__((noinline)) static int pop(struct stack *s)
{
    return peek(s) + s->top;
}
static void *worker(void *argument)
{
    pthread_mutex_lock(&guard);
    push(argument, 1);
    total++;
    pthread_mutex_unlock(&guard);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    struct stack *s = malloc(sizeof *s);
    s->items = calloc(64, sizeof *s->items);
    s->top = 0;
    pthread_create(&thread, NULL, worker, s);
    usleep(100000);
    int seen = pop(s) + total;
    pthread_join(thread, NULL);
    return seen < 0;
}
"""
LINES = {text: number for number, line in enumerate(SOURCE.splitlines(), 1) for text in [line.strip()]}
STORE, LOAD = LINES["s->items[3] = value;"], LINES["return s->items[3];"]
CALLED, POPPED = LINES["push(argument, 1);"], LINES["return peek(s) + s->top;"]
LOCKED, MADE, SPAWNED = (LINES[text] for text in ("pthread_mutex_lock(&guard);", "s->items = calloc(64, sizeof *s->items);",
                                                  "pthread_create(&thread, NULL, worker, s);"))
USED = LINES["int seen = pop(s) + total;"]


SUITE = suite.Suite("found")
PORTENT = None


def build(*flags):
    write("stack.c", SOURCE)
    made = run(PORTENT, "cc", *(flags or ("-O1",)), "stack.c", "-o", "stack", "-lpthread")
    same("exit status of portent cc: " + made.stderr, made.returncode, 0)


def observe(*options):
    done = run(PORTENT, "run", "--races", "-r", "result.json", *options, "--", "./stack")
    with open("result.json", encoding="utf-8") as file:
        return done, json.load(file)


def finding(result, name):
    found = {finding["object"]: finding for finding in result["properties"][0]["findings"]}
    true(f"{name} in {sorted(found)}", name in found)
    return found[name]


def check_json(result):
    same("objects", sorted(finding["object"] for finding in result["properties"][0]["findings"]), ["s->items[3]", "s->top", "total"])
    items = finding(result, "s->items[3]")
    first, second = items["first"], items["second"]
    same("how", items["how"], "observed")
    same("first", (first["thread"], first["op"], first["loc"], first["size"]), ("worker", "w", f"stack.c:{STORE}", 4))
    same("its calls", first["stack"], [f"push stack.c:{STORE}", f"worker stack.c:{CALLED}"])
    same("its locks", (first["locks"], first["locked_at"]), (["guard"], [f"stack.c:{LOCKED}"]))
    same("created", first["created"], [f"main stack.c:{SPAWNED}"])
    same("second", (second["thread"], second["op"], second["loc"], second["locks"]), ("main", "r", f"stack.c:{LOAD}", []))
    same("its calls", second["stack"], [f"peek stack.c:{LOAD}", f"pop stack.c:{POPPED}", f"main stack.c:{USED}"])
    same("block", (items["block"]["value"], items["block"]["stack"], items["block"]["thread"]), (256, [f"main stack.c:{MADE}"], "main"))
    same("no block", "block" in finding(result, "total"), False)


@SUITE.test
def json_of_both_sides():
    for flags in ("-O0",), ("-O2",):
        build(*flags)
        done, result = observe()
        same("status", done.returncode, 66)
        check_json(result)


@SUITE.test
def text_and_reports():
    build()
    done, _ = observe()
    contains(done.stderr, "Previous write of size 4 of s->items[3] at 0x", f"by thread worker, locks held: guard (locked at stack.c:{LOCKED}): "
             f"#0 push stack.c:{STORE} #1 worker stack.c:{CALLED}",
             f"of 256 bytes, allocated at stack.c:{MADE} by thread main: #0 main stack.c:{MADE}",
             f"Thread worker was created at: #0 main stack.c:{SPAWNED}",
             f"SUMMARY: portent: observed violation of 'races' on s->items[3] at stack.c:{LOAD} and stack.c:{STORE}",
             "Check 'races' found 3 violations, reported above")
    true("lines of at most 80 columns", all(len(line) <= 80 for line in done.stderr.splitlines() if not line.startswith("SUMMARY")))
    again = run(PORTENT, "report", "result.json")
    contains(again.stdout, f"#0 peek stack.c:{LOAD} #1 pop stack.c:{POPPED} #2 main stack.c:{USED}", "of 256 bytes, allocated")
    sarif = json.loads(run(PORTENT, "report", "--sarif", "result.json").stdout)["runs"][0]["results"]
    same("sarif results", len(sarif), 3)
    same("stacks", max(len(entry["stacks"]) for entry in sarif), 4)
    names = re.findall(r'<testcase[^>]* name="([^"]*)"', run(PORTENT, "report", "--junit", "result.json").stdout)
    same("names of junit", (len(names), len(set(names))), (3, 3))
    true("an excerpt", f'"stack.c:{STORE}": "    s->items[3] = value;"' in run(PORTENT, "report", "--html", "result.json").stdout)


@SUITE.test
def by_itself():
    build()
    done = run("./stack", options="races=1:exitcode=9")
    same("status", done.returncode, 9)
    contains(done.stderr, "WARNING: portent: data race (pid=", "Previous write of size 4 at 0x", "Read of size 4 at 0x",
             f"by main thread: #0 peek stack.c:{LOAD} #1 pop stack.c:{POPPED} #2 main stack.c:{USED}",
             "Location is heap block of size 256 at 0x", f"allocated by main thread: #0 main stack.c:{MADE}",
             f", locked at stack.c:{LOCKED}", f"created at: #0 main stack.c:{SPAWNED}",
             f"SUMMARY: portent: data race on total at stack.c:{USED} in main")
    same("races", done.stderr.count("WARNING: portent: data race"), 3)
    done = run("./stack", options="races=1:halt_on_error=1:exitcode=7")
    same("status", done.returncode, 7)
    same("races", done.stderr.count("WARNING: portent: data race"), 1)
    done = run("./stack", options="races=1:log_path=log:exitcode=0")
    same("status, and what is printed", (done.returncode, done.stderr), (0, ""))
    logs = [name for name in os.listdir(".") if name.startswith("log.")]
    same("logs", len(logs), 1)
    done = run("./stack")
    same("nothing asked for", (done.returncode, done.stderr), (0, ""))


@SUITE.test
def named_by_itself():
    """A name that the program gives to a thread is in the report, also when the thread has ended."""
    write("named.c", """#define _GNU_SOURCE
#include <pthread.h>
static int x;
static void *one(void *p) { pthread_setname_np(pthread_self(), "alpha"); x = 1; return p; }
static void *two(void *p) { x = 2; return p; }
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    return pthread_join(threads[0], NULL) + pthread_join(threads[1], NULL);
}
""")
    made = run(PORTENT, "cc", "-O1", "named.c", "-o", "named", "-lpthread")
    same("exit status of portent cc: " + made.stderr, made.returncode, 0)
    contains(run("./named", options="races=1").stderr, "by thread T2 (alpha):", "by thread T3:")


@SUITE.test
def suppressed():
    build()
    for lines in ("race:^push$\nrace:^total$\n", "race:stack.c\n", "thread:^worker$\n", "race_top:stack.c\n", "called_from_lib:stack.c\n",
                  "property:races\n", "race:^main$\n"):
        write("file.supp", lines)
        done, result = observe("--suppressions", "file.supp")
        same(f"status with {lines}: {done.stderr}", done.returncode, 0)
        true("marked", all("suppressed" in finding for finding in result["properties"][0]["findings"]))
        if not lines.startswith("thread"):  # it has no names of threads
            done = run("./stack", options="races=1:suppressions=file.supp:halt_on_error=1")
            same(f"by itself, {lines}", (done.returncode, done.stderr), (0, ""))
    write("file.supp", "race:^push$\nrace:nothing\n")
    done, result = observe("--suppressions", "file.supp")
    same("one is left", (done.returncode, sum("suppressed" in finding for finding in result["properties"][0]["findings"])), (66, 2))
    contains(done.stderr, "Suppression race:nothing was not used")
    observe()
    done, _ = observe("--baseline", "result.json")
    same("status with the baseline: " + done.stderr, done.returncode, 0)


@SUITE.test
def chosen():
    """Files and functions that are left out while the program runs: by name, by pattern, several, and what the answer says of it."""
    build()
    everything = {"s->items[3]", "s->top", "total"}
    for options, left in ((("--skip-file=other.c",), everything), (("--skip-file=stac?.c",), set()), (("--only-file=stack.c",), everything),
                          (("--only-file=other.c",), set()), (("--skip-function=push",), {"total"}),
                          (("--skip-function=worker", "--skip-function=pee*,x"), {"s->top"}),
                          (("--skip-function=worker,peek",), {"s->top"})):
        done, result = observe(*options)
        same(f"{options}: {done.stderr}", {finding["object"] for finding in result["properties"][0].get("findings", [])}, left)
        same(f"{options}: status", done.returncode, 66 if left else 0)
        if not left:
            contains(done.stderr, "nothing was found in the observed run; what skip-file, only-file or skip-function leave out was not looked at")
            same("verdict", (result["properties"][0]["verdict"], "skip-file" in result["properties"][0]["message"]), ("holds", True))
    for options, left in (("skip_file=x.c,stack.*", 0), ("skip_function='wor*'", 2), ("only_file=stack.c", 3)):
        done = run("./stack", options="races=1:" + options)
        same(f"by itself, {options}: {done.stderr}", done.stderr.count("WARNING: portent: data race"), left)
    done = run(PORTENT, "run", "--races", "--skip-file=it's,\"a\"", "--", "./stack")
    same("quotes of both kinds", done.returncode, 2)


@SUITE.test
def history():
    """Without room for stacks the accesses still have their own places, and say that the rest is lost."""
    build()
    done = run("./stack", options="races=1:history_size=0")
    contains(done.stderr, f"#0 push stack.c:{STORE} #1 [stack lost]", f"#1 pop stack.c:{POPPED} #2 [stack lost]", f", locked at stack.c:{LOCKED}")
    same("races", done.stderr.count("WARNING: portent: data race"), 3)
    same("with room", run("./stack", options="races=1:history_size=1").stderr.count("[stack lost]"), 0)
    done = run(PORTENT, "run", "--races", "-r", "result.json", "--", "./stack", options="history_size=0")
    contains(done.stderr, f"#0 push stack.c:{STORE} #1 [stack lost]")
    contains(run(PORTENT, "run", "--races", "--", "./stack", options="history_size=2000").stderr, "history_size is not from 0 to 1024")


HOT = r"""#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
enum { TURNS = 200000, BEGINNING = 8 };
static int own[2][8], shared, rare;
static atomic_int there;
static void *worker(void *argument)
{
    int *mine = own[argument != NULL], last = atoi(getenv("LAST"));
    for (int i = 0; i < TURNS; i++) {
        int *place = i == last ? &shared : &mine[i % 8];
        *place = i;
        if (getenv("RARE") && i == last)
            rare++;
        if (i == last && last < BEGINNING) { /* at the beginning of both, however late one of them starts; this orders nothing */
            atomic_fetch_add_explicit(&there, 1, memory_order_relaxed);
            while (atomic_load_explicit(&there, memory_order_relaxed) < 2)
                sched_yield();
        }
    }
    return NULL;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, own);
    worker(NULL);
    pthread_join(thread, NULL);
    return 0;
}
"""


@SUITE.test
def sampled():
    """A place that runs often shows a race at its beginning, and hardly one later; what runs seldom is always looked at."""
    write("hot.c", HOT)
    made = run(PORTENT, "cc", "-O1", "hot.c", "-o", "hot", "-lpthread")
    same("exit status of portent cc: " + made.stderr, made.returncode, 0)

    def races(last, rare, *options):
        variables = {"LAST": str(last), **({"RARE": "1"} if rare else {})}
        done = run("env", *(f"{name}={value}" for name, value in variables.items()), PORTENT, "run", "--races", "-r", "result.json", *options,
                   "--", "./hot")
        with open("result.json", encoding="utf-8") as file:
            check = json.load(file)["properties"][0]
        return done, check, {finding["object"] for finding in check.get("findings", [])}

    for last, rare, options, found in ((100000, False, (), {"shared"}), (100000, False, ("--sample=1",), {"shared"}),
                                       (3, False, ("--sample",), {"shared"}), (100000, True, ("--sample",), {"rare"}),
                                       (100000, False, ("--sample",), set()), (100000, False, ("--sample=5000",), set())):
        done, check, objects = races(last, rare, *options)
        same(f"{last} {options}: {done.stderr}", objects, found)
        same(f"{last} {options}: status", done.returncode, 66 if found else 67)
        same("complete", check["complete"], options in ((), ("--sample=1",)))
        if not found:
            number = options[0].partition("=")[2] or "1000"
            words = f"of places that run often about one access in {number} was looked at"
            same("verdict", (check["verdict"], words in check["message"]), ("unknown", True))
            contains(done.stderr, "the answer is not whole: " + words)
            same("lenient", races(last, rare, *options, "--lenient")[0].returncode, 0)
    done = run("env", "LAST=3", "PORTENT_OPTIONS=races=1:sample=100", "./hot")
    same("by itself", (done.returncode, done.stderr.count("WARNING: portent: data race")), (66, 1))
    for wrong in "0", "x", "2000000":
        same(f"--sample={wrong}", run(PORTENT, "run", f"--sample={wrong}", "--", "./hot").returncode, 2)


SYNCHRONISED = r"""#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
enum { THREADS = 4, TURNS = 20000, BOXES = 64 };
static pthread_mutex_t lock[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static long under[4][8], table[8], spun[4], fenced;
static _Atomic int spin, flag;
static struct { _Atomic unsigned turn; long value[2]; } box[BOXES];
static _Atomic(long *) handed;
static long by_lock(unsigned r)
{
    pthread_mutex_lock(&lock[r % 4]);
    under[r % 4][r / 4 % 8]++;
    return pthread_mutex_unlock(&lock[r % 4]);
}
static long by_readers(unsigned r)
{
    r % 16 ? pthread_rwlock_rdlock(&readers) : pthread_rwlock_wrlock(&readers);
    long seen = r % 16 ? table[r / 16 % 8] : table[r / 16 % 8]++;
    return seen + pthread_rwlock_unlock(&readers);
}
static long by_spinning(unsigned r)
{
    while (atomic_exchange_explicit(&spin, 1, memory_order_acquire))
        ;
    long seen = spun[r % 4]++;
    atomic_store_explicit(&spin, 0, memory_order_release);
    return seen;
}
static long by_turns(unsigned r)
{
    unsigned turn = atomic_load_explicit(&box[r % BOXES].turn, memory_order_acquire);
    if (turn % 2 || !atomic_compare_exchange_strong_explicit(&box[r % BOXES].turn, &turn, turn + 1, memory_order_acquire, memory_order_relaxed))
        return 0;
    box[r % BOXES].value[r % 2] += turn;
    atomic_store_explicit(&box[r % BOXES].turn, turn + 2, memory_order_release);
    return 1;
}
static long by_handing(unsigned r)
{
    long *mine = malloc(32), sum = 0;
    mine[0] = mine[1] = r;
    long *old = atomic_exchange_explicit(&handed, mine, memory_order_acq_rel);
    if (old)
        sum = old[0] + old[1];
    free(old);
    return sum;
}
static long by_fences(unsigned r)
{
    int expected = 0;
    if (atomic_compare_exchange_strong_explicit(&flag, &expected, 1, memory_order_relaxed, memory_order_relaxed)) {
        atomic_thread_fence(memory_order_acquire);
        fenced++;
        atomic_thread_fence(memory_order_release);
        atomic_store_explicit(&flag, 0, memory_order_relaxed);
    }
    char *own = malloc(100);
    memset(own, (int)r, 100);
    long seen = own[r % 100];
    free(own);
    return seen;
}
static void *worker(void *number)
{
    static long (*const ways[])(unsigned) = {by_lock, by_readers, by_spinning, by_turns, by_handing, by_fences};
    unsigned state = (unsigned)(size_t)number * 7919 + 1;
    long sum = 0;
    for (int i = 0; i < TURNS; i++) {
        state = state * 1103515245 + 12345;
        sum += ways[(state >> 8) % 6](state >> 11);
    }
    return (void *)sum;
}
int main(void)
{
    for (int round = 0; round < 2; round++) {
        pthread_t thread[THREADS];
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&thread[i], NULL, worker, (void *)i);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
    }
    return 0;
}
"""


@SUITE.test
def sampled_without_races():
    """What synchronises outside of the windows of sampling is ordered: nothing is reported, however often they open."""
    write("synchronised.c", SYNCHRONISED)
    made = run(PORTENT, "cc", "-O1", "synchronised.c", "-o", "synchronised", "-lpthread")
    same("exit status of portent cc: " + made.stderr, made.returncode, 0)
    for rate in (2, 7, 100):
        done = run("env", f"PORTENT_OPTIONS=races=1:sample={rate}", "./synchronised")
        same(f"sample={rate}: {done.stderr}", done.returncode, 0)


PASSED_ON = r"""#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { TURNS = 20000, CELLS = 24 };
static long cells[CELLS];
static atomic_int turn, over;

static void *take_turns(void *mine)
{
    int me = *(int *)mine;
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load_explicit(&turn, memory_order_acquire) != me)
            sched_yield();
        for (int k = 0; k + 1 < CELLS; k++)
            cells[k] += cells[k + 1] + i;
        atomic_store_explicit(&turn, !me, memory_order_release);
    }
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

static void *come_and_go(void *unused)
{
    pthread_t threads[4];
    while (!atomic_load(&over)) {
        for (int i = 0; i < 4; i++)
            pthread_create(&threads[i], NULL, nothing, NULL);
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    return unused;
}

int main(void)
{
    static int numbers[2] = {0, 1};
    pthread_t two[2], others;
    for (int i = 0; i < 2; i++)
        pthread_create(&two[i], NULL, take_turns, &numbers[i]);
    pthread_create(&others, NULL, come_and_go, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(two[i], NULL);
    atomic_store(&over, 1);
    pthread_join(others, NULL);
    return 0;
}
"""


@SUITE.test
def sampled_while_threads_come_and_go():
    """Two threads pass memory to each other by an atomic variable, while others begin and end: what is known of those two when a window
    closes does not depend on who begins or ends just then."""
    write("passed.c", PASSED_ON)
    made = run(PORTENT, "cc", "-O2", "passed.c", "-o", "passed", "-lpthread")
    same("exit status of portent cc: " + made.stderr, made.returncode, 0)
    for seed in (1, 2, 3):
        done = run("env", f"PORTENT_OPTIONS=races=1:sample=2:seed={seed}", "./passed")
        same(f"seed={seed}: {done.stderr}", done.returncode, 0)


# Several variables at the same two places: by their names, and through a pointer.
SEVERAL = r"""#include <pthread.h>
#include <unistd.h>
static int alpha, zeta, one, two;
__attribute__((noinline)) static void add(int *p)
{
    *p += 1; /* through */
}
static void *worker(void *late)
{
    if (late)
        usleep(50000);
    FIRST++; SECOND++; /* named */
    add(&one);
    add(&two);
    return NULL;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, worker, threads);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return alpha + zeta + one + two < 0;
}
"""


def races_of(answer):
    """The findings by their lines, and the variables of each."""
    (races,) = [entry for entry in answer["properties"] if entry["name"] == "races"]
    lines = [tuple(sorted(int(one[side]["loc"].rpartition(":")[2]) for side in ("first", "second"))) for one in races["findings"]]
    same("one for each pair of places", len(set(lines)), len(lines))
    return {pair: (sorted([one["object"], *one.get("also", [])]), one["id"], one["count"]) for pair, one in zip(lines, races["findings"])}


@SUITE.test
def one_finding_for_a_pair_of_places():
    """Whatever is accessed there, in the run and in its recording; and nothing of it is new in a run that meets them in another order."""
    write("several.c", SEVERAL)
    through, named = ((number, number) for number in (6, 12))
    answers = []
    for first, second in (("zeta", "alpha"), ("alpha", "zeta")):
        same("cc", run(PORTENT, "cc", "-O1", "-pthread", f"-DFIRST={first}", f"-DSECOND={second}", "several.c", "-o", "several").returncode, 0)
        old, result = (["--baseline", "first.json"], "now.json") if answers else ([], "first.json")
        same("status", run(PORTENT, "run", "-q", *old, "-r", result, "--", "./several").returncode, 0 if old else 66)
        with open(result, encoding="utf-8") as text:
            answers.append(races_of(json.load(text)))
        run("./several", options="record=r.rec")
        recorded = races_of(json.loads(run(PORTENT, "check", "--races", "--order", "access", "--json", "r.rec").stdout))
        for answer in (answers[-1], recorded):
            same("places", sorted(answer), [through, named])
            same("variables", answer[named][0], ["alpha", "zeta"])
            same("seen", answer[named][2] >= 2, True)
        same("through the pointer", recorded[through][0], ["one", "two"])
        same("the recording has the same ids", recorded[named][1], answers[-1][named][1])
    same("ids in both orders", answers[0][named][1], answers[1][named][1])
    contains(run(PORTENT, "report", "first.json").stdout, "Data race on zeta, alpha (seen ")
    for form in ("--sarif", "--markdown", "--gitlab"):
        contains(run(PORTENT, "report", form, "first.json").stdout, "ata race on zeta, alpha")
    contains(run(PORTENT, "report", "--html", "first.json").stdout, '"also": ["alpha"]')
    write("known.supp", "race:^alpha$\nrace:^one$\nrace:^two$\n")
    same("what is known of one variable hides no other", run(PORTENT, "run", "-q", "--suppressions", "known.supp", "-r", "left.json", "--", "./several").returncode, 66)
    check = run(PORTENT, "check", "-q", "--races", "--order", "access", "--suppressions", "known.supp", "r.rec")
    same("nor in a recording", check.returncode, 1)


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        suite.keep_pace(folder)
        return SUITE.run(sys.argv[2:], in_folder)


if __name__ == "__main__":
    sys.exit(main())
