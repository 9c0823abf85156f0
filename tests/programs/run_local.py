#!/usr/bin/env python3
"""Decentralised properties inside the program: run_local.py PORTENT [--repeat N] [--random N]

The examples that have such properties, and random programs, each checked in four ways that must agree:

- `portent run`, where the program's threads find violations and tell the observer;
- the same run recorded in full (-o), and `portent check` on the record: same verdicts, same states;
- `portent compile`, and the program alone with PORTENT_OPTIONS=properties=FILE: same report, in the same words.

Verdicts of the examples must be the same in each of N runs (default 5). The last line is `local: N passed, M failed`.
"""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

import suite
from suite import Failure, same

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOUND = 66

# (folder, arguments): for each property its verdict and, where the schedule is fixed, its states
EXAMPLES = {
    ("race",): {"hits": ("violated", None), "total": ("holds", None)},
    ("checking", "1"): {"atomic": ("holds", None), "again": ("holds", None)},
    ("checking", "2"): {"atomic": ("violated", None), "again": ("violated", None)},
    ("mutex",): {"exclusion": ("holds", None), "account": ("holds", None)},
    ("mutex", "bug"): {"exclusion": ("violated", None), "account": ("violated", None)},
    ("recover",): {"configured": ("violated", [1])},
    ("knowledge",): {"e35": ("violated", [5]), "e24": ("violated", [4]), "e27": ("violated", [7]), "unseen": ("holds", [])},
}


def run(*command, **more):
    return suite.run(*command, cwd=ROOT, **more)


def expect(status, done):
    if done.returncode not in (status if isinstance(status, tuple) else (status,)):
        raise Failure(f"{' '.join(done.args)}\nexit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done


def findings(result):
    return {p["name"]: (p["verdict"], p.get("thread"), p.get("at"), p.get("message")) for p in result["properties"]}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def states(at):
    return at if not at or isinstance(at[0], int) else None


def words(text):
    """A report without its line breaks: one side wraps."""
    return re.sub(r"\s+", " ", text).strip()


class Program:
    def __init__(self, portent, source, properties, folder):
        self.portent, self.properties = portent, properties
        self.path = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
        expect(0, run(portent, "cc", "-Wall", "-Wextra", "-Werror", "-O2", "-pthread", source, "-o", self.path))
        expect(0, run(portent, "compile", "-s", properties, "-o", self.path + ".ptc", self.path))

    def live(self, *arguments):
        done = expect((0, FOUND), run(self.portent, "run", "-s", self.properties, "-r", self.path + ".json", "--", self.path,
                                      *arguments))
        found = findings(load(self.path + ".json"))
        same("exit status", done.returncode, FOUND if any(v[0] == "violated" for v in found.values()) else 0)
        return found, done

    def recorded(self, *arguments):
        """The same run in the program's own words and by `check` on its record."""
        trace, result = self.path + ".trace", self.path + ".json"
        expect((0, FOUND), run(self.portent, "run", "-s", self.properties, "-r", result, "-o", trace, "--", self.path, *arguments))
        checked = json.loads(run(self.portent, "check", "--json", "--order", "access", "-s", self.properties, trace).stdout)
        online, offline = findings(load(result)), findings(checked)
        for name, (verdict, thread, at, message) in offline.items():  # only check knows the line of the trace
            offline[name] = (verdict, thread, at, message and re.sub(rf", {re.escape(trace)}:\d+", "", message))
        if online != offline:
            with open(trace, encoding="utf-8") as file:
                raise Failure(f"the program: {online}\ncheck: {offline}\n{file.read()}")
        return online

    def alone(self, *arguments, more=""):
        return run(self.path, *arguments, options=f"properties={self.path}.ptc{more}")


def reports(text):
    """By property: the report of its violation, from its first line to its summary."""
    found = re.findall(r"^Property '([^']*)' is violated in thread.*?^SUMMARY: [^\n]*", text, re.MULTILINE | re.DOTALL)
    whole = re.findall(r"^(Property '[^']*' is violated in thread.*?^SUMMARY: [^\n]*)", text, re.MULTILINE | re.DOTALL)
    races = re.findall(r"^WARNING: portent: data race.*?^SUMMARY: [^\n]*", text, re.MULTILINE | re.DOTALL)
    return dict(zip(found, map(words, whole))) | {name: words(page) for page in races
                                                  for name in re.findall(r"^  It violates property '(\w+)'", page, re.MULTILINE)}


def check_example(portent, example, folder, repeat):
    name, *arguments = example
    program = Program(portent, f"examples/{name}/{name}.c", f"examples/{name}/{name}.prop", folder)
    for _ in range(repeat):
        for found in (program.recorded(*arguments), program.live(*arguments)[0]):
            for prop, (verdict, at) in EXAMPLES[example].items():
                same(prop, found[prop][0], verdict)
                if at is not None:
                    same(f"{prop}: states", states(found[prop][2]), at)
    violated = sorted(p for p, (verdict, _) in EXAMPLES[example].items() if verdict == "violated")
    done = expect(FOUND if violated else 0, program.alone(*arguments))
    told = reports(done.stderr)
    same("told by the program alone", sorted(told), violated)
    if name in ("checking", "recover", "knowledge"):  # the others' schedules differ
        live = reports(program.live(*arguments)[1].stderr)
        if name == "checking":  # only an observer knows what lies at the address
            live = {prop: text.replace("w(saving.balance)=30", "w(saving.balance)") for prop, text in live.items()}
        same("words", told, live)
    same("exitcode=0", program.alone(*arguments, more=":exitcode=0").returncode, 0)
    if violated:
        halted = expect(9, program.alone(*arguments, more=":halt_on_error=1:exitcode=9"))
        if "halt_on_error ends the program" not in halted.stderr:
            raise Failure(f"halt_on_error says nothing:\n{halted.stderr}")


def check_recovery(portent, folder):
    program = Program(portent, "examples/recover/recover.c", "examples/recover/recover.prop", folder)
    for done in (program.live()[1], program.alone()):
        for line in ("configured: the configuration is loaded now", "serving up to 7", "rebooted 1 time"):
            if line not in done.stdout:
                raise Failure(f"'{line}' is missing:\n{done.stdout}{done.stderr}")


def check_suppressions(portent, folder):
    """A suppressed violation is not told, calls nothing, and does not count; another one still does."""
    program = Program(portent, "examples/race/race.c", "examples/race/race.prop", folder)
    recovering = Program(portent, "examples/recover/recover.c", "examples/recover/recover.prop", folder)
    path = os.path.join(folder, "suppressions")
    for text, holds in (("# known\nproperty:hits\n", True), ("race:^hits$\n", True), ("race:other\n", False)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        status = 0 if holds else FOUND
        done = expect(status, program.alone(more=f":suppressions={path}"))
        same("told", sorted(reports(done.stderr)), [] if holds else ["hits"])
        expect(status, run(portent, "run", "-s", program.properties, "--", program.path, options=f"suppressions={path}"))
    with open(path, "w", encoding="utf-8") as file:
        file.write("property:conf*\n")
    none = os.path.join(folder, "none")
    with open(none, "w", encoding="utf-8") as file:
        file.write("property:other\n")
    for done in (recovering.alone(more=f":suppressions={path}:halt_on_error=1"),
                 run(portent, "run", "-s", recovering.properties, "--suppressions", path, "--suppressions", none, "--", recovering.path,
                     options="halt_on_error=1"),
                 run(portent, "run", "-s", recovering.properties, "--suppressions", none, "--", recovering.path,
                     options=f"halt_on_error=1:suppressions={path}")):
        if "rebooted 0 times" not in expect(0, done).stdout:
            raise Failure(f"a suppressed violation was acted on:\n{done.stdout}{done.stderr}")


WORDS = """#include <portent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
int level, there[2], back[2]; /* pipes: they order the threads, and tell them nothing */
pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
static void *meddle(void *unused)
{
    char c;
    if (syscall(SYS_read, there[0], &c, 1) != 1)
        return unused;
    pthread_mutex_lock(&latch);
    pthread_mutex_unlock(&latch);
    return syscall(SYS_write, back[1], "x", 1) == 1 ? unused : NULL;
}
int main(void)
{
    pthread_t thread;
    char c;
    if (pipe(there) || pipe(back) || pthread_create(&thread, NULL, meddle, NULL))
        return 1;
    portent_begin("update");
    pthread_mutex_lock(&latch);
    level = 1;
    pthread_mutex_unlock(&latch);
    if (syscall(SYS_write, there[1], "x", 1) != 1 || syscall(SYS_read, back[0], &c, 1) != 1)
        return 1;
    pthread_mutex_lock(&latch);
    pthread_mutex_unlock(&latch);
    portent_end("update");
    return pthread_join(thread, NULL);
}
"""


def check_words(portent, folder):
    """Locks have names, a thread is in no doubt about itself, and the finding is the same one in every run."""
    source, properties = os.path.join(folder, "words.c"), os.path.join(folder, "words.prop")
    for path, text in ((source, WORDS), (properties, "property block at each i: atomic_block(update);\n"
                                                     "property low at main: forall j: @j level < 1;\n")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    program = Program(portent, source, properties, folder)
    ids = set()
    for _ in range(2):
        told = reports(program.live()[1].stderr)
        for name, text in (("block", r"First in acq\(latch\) by main \(\S*words\.c:28\)"),
                           ("block", r"It was disturbed by acq\(latch\) by meddle \(\S*words\.c:12\), its event 2\."),
                           ("low", "@j level = 1, of main: from its event")):
            if not re.search(text, told[name]):
                raise Failure(f"'{text}' is missing:\n{told[name]}")
        live = load(program.path + ".json")
        ids.add(tuple(p["id"] for p in live["properties"]))
    program.recorded()
    checked = json.loads(run(portent, "check", "--json", "--order", "access", "-s", properties, program.path + ".trace").stdout)
    same("events and threads", (live["events"], live["threads"]), (checked["events"], checked["threads"]))
    for here, there in zip(load(program.path + ".json")["properties"], checked["properties"]):
        same("both sides", here["first"], there["first"])
    ids.add(tuple(p["id"] for p in checked["properties"]))
    same("different ids", len(ids), 1)
    if "of main: from its event" not in reports(program.alone().stderr)["low"]:
        raise Failure("the program alone does not know about itself")


# The argument says who runs the block (m or w), which disturbs it when it has done the first half, and through what each half goes.
BLOCKS = """#include <portent.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile int level, other;
int to_main[2], to_worker[2]; /* pipes: they order the threads, and tell them nothing */
pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
const char *how;
static void touch(char what)
{
    switch (what) {
    case 'l':
        pthread_mutex_lock(&latch);
        pthread_mutex_unlock(&latch);
        break;
    case 'x':
        level = level + 1;
        break;
    case 'o':
        other = other + 1;
    }
}
static void say(int *to) { if (syscall(SYS_write, to[1], "x", 1) != 1) abort(); }
static void hear(int *from) { char c; if (syscall(SYS_read, from[0], &c, 1) != 1) abort(); }
static void update(int *from, int *to)
{
    portent_begin(how[3] == '2' ? "second" : "update");
    touch('x'), touch('o'), touch('l');
    say(to), hear(from);
    touch(how[2]);
    portent_end(how[3] == '2' ? "second" : "update");
}
static void meddle(int *from, int *to) { hear(from); touch(how[1]), touch(how[2]); say(to); }
static void *worker(void *a) { (*how == 'w' ? update : meddle)(to_worker, to_main); return a; }
static void *third(void *a) { meddle(to_worker, to_main); return a; }
int main(int argc, char **argv)
{
    pthread_t thread;
    how = argc > 1 ? argv[1] : "mll1";
    if (pipe(to_main) || pipe(to_worker) || pthread_create(&thread, NULL, *how == 't' ? third : worker, NULL))
        return 1;
    (*how == 'w' ? meddle : update)(to_main, to_worker);
    return pthread_join(thread, NULL);
}
"""


def check_ids(portent, folder):
    """A violation of atomic_block is the same one whichever events reveal it and whichever of two threads has the block; another
    one if the block or a thread is another. A baseline takes it so."""
    source, properties = lay_out(os.path.join(folder, "blocks"), BLOCKS,
                                 "property block at each i: atomic_block(update) && atomic_block(second);\n")
    program = Program(portent, source, properties, folder)
    ids, objects = {}, set()
    for how in ("mll1", "mxl1", "mlx1", "moo1", "wll1", "wxo1", "mll2", "mxo2", "tll1", "tox1"):
        same(how, program.live(how)[0]["block"][0], "violated")
        live = load(program.path + ".json")["properties"][0]
        same("block", [known["value"] for known in live["first"]["knew"]], ["second" if how[3] == "2" else "update"])
        program.recorded(how)
        checked = json.loads(run(portent, "check", "--json", "--order", "access", "-s", properties, program.path + ".trace").stdout)["properties"][0]
        same(f"{how}: both sides", live["first"]["knew"][0]["value"], checked["first"]["knew"][0]["value"])
        same(f"{how}: id", live["id"], checked["id"])
        objects.add((live["first"]["event"]["op"], live["first"]["event"]["object"]))
        ids.setdefault(live["id"], []).append(how)
    if len(objects) < 3:
        raise Failure(f"the runs differ too little: {objects}")
    same("ids", sorted(ids.values()), [["mll1", "mxl1", "mlx1", "moo1", "wll1", "wxo1"], ["mll2", "mxo2"], ["tll1", "tox1"]])
    result = program.path + "-old.json"
    expect(FOUND, run(portent, "run", "-s", properties, "-r", result, "--", program.path, "mll1"))
    for how, status in (("wxo1", 0), ("mxo2", FOUND)):
        expect(status, run(portent, "run", "-s", properties, "--baseline", result, "--", program.path, how))


COPY = """#include <string.h>
#define KEEP __asm__ volatile("" ::: "memory") /* the compiler may not drop what comes before */
struct { int a, b, c, d; } s;
int x;
int main(void)
{
    s.b = 1, x = 1;
    KEEP;
    memset(&s, 0, sizeof s);
    KEEP;
    x = 0;
    return s.c;
}
"""


def check_copy(portent, folder):
    """One access of several variables is several lines of the record: all of them are states."""
    source, properties = os.path.join(folder, "copy.c"), os.path.join(folder, "copy.prop")
    for path, text in ((source, COPY), (properties, "property p at main: x == 0;\n")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    verdict, _, at, _ = Program(portent, source, properties, folder).recorded()["p"]
    same("verdict", verdict, "violated")
    if len(at) < 3 or at != list(range(at[0], at[0] + len(at))):
        raise Failure(f"states {at}: the lines of the copy are missing, or the test has none")


# Who comes first is up to the program's argument; nothing that a monitor knows of orders the two.
RACE = """#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
struct { int a, b, c, d; } s, copy;
atomic_int flag;
char *block;
static void *fill(void *a) { memset(a ? (void *)&s : block, 1, sizeof s); return a; }
static void *count(void *a) { if (a) s.b++; else block[5]++; return a; }
static void *look(void *a) { s.a = 1; s.d = 1; copy = s; return a; }
static void *set(void *a) { atomic_store_explicit(&flag, 1, memory_order_relaxed); return a; }
static void *own(void *a) { *(volatile int *)a = 1; return 0; }
int main(int argc, char **argv)
{
    static void *(*const runs[])(void *) = {fill, count, look, set, own};
    block = malloc(32);
    for (int i = 1; i < argc; i++) {
        pthread_t t[2];
        int *memory = malloc(64);
        void *with = argv[i][2] == 'p' ? (void *)memory : argv[i][2] == 's' ? (void *)argv[0] : 0;
        for (int k = 0; k < 2; k++, usleep(20000))
            if (pthread_create(&t[k], 0, runs[argv[i][k] - '0'], with))
                return 1;
        for (int k = 0; k < 2; k++)
            pthread_join(t[k], 0);
        free(memory);
        memory = malloc(64); /* most likely the same */
        *(volatile int *)memory = 2;
        free(memory);
    }
    return !block;
}
"""


def check_memory(portent, folder):
    """An access is all of its bytes: part of a struct against all of it, on the heap, either way round; a reader that has not written
    counts; atomic stores do not race; memory that was given back is another variable. A property has the races of what it names."""
    source, properties = os.path.join(folder, "memory.c"), os.path.join(folder, "memory.prop")
    with open(source, "w", encoding="utf-8") as file:
        file.write(RACE)
    with open(properties, "w", encoding="utf-8") as file:
        file.write("property any at each i: race_free(*);\nproperty b at each i: race_free(s.b);\nproperty whole: race_free(s);\n"
                   "property other: race_free(copy) && race_free(flag);\n")
    program = Program(portent, source, properties, folder)
    for argument, violated in {"01s": "any b whole", "10s": "any b whole", "010": "any", "100": "any", "21s": "any b whole",
                               "12s": "any b whole", "02s": "any b whole", "20s": "any b whole", "33s": "", "44p": "any",
                               "43p": ""}.items():
        for found in (program.recorded(argument), program.live(argument)[0]):
            same(argument, sorted(name for name, what in found.items() if what[0] == "violated"), violated.split())
        same(f"{argument} alone", sorted(reports(program.alone(argument).stderr)), violated.split())


FAULT = """#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
_Alignas(4096) volatile int page[1024];
int ends[2][2];
static void await(int me) { char c; if (syscall(SYS_read, ends[me][0], &c, 1) != 1) abort(); }
static void pass(int to) { if (syscall(SYS_write, ends[to][1], "", 1) != 1) abort(); }
static void on_fault(int s) { (void)s; mprotect((void *)page, 4096, PROT_READ | PROT_WRITE); pass(1); await(0); }
static void *other(void *a) { await(1); page[0] = 7; pass(0); return a; }
int main(void)
{
    pthread_t t;
    if (pipe(ends[0]) || pipe(ends[1]) || signal(SIGSEGV, on_fault) == SIG_ERR || pthread_create(&t, 0, other, 0))
        return 1;
    page[0] = 1;
    mprotect((void *)page, 4096, PROT_READ);
    page[0] = 2;
    return pthread_join(t, 0);
}
"""


def come_and_go(count):
    """The lines of a trace: threads that each write a variable under a lock, four at a time."""
    for n in range(1, count + 5):
        if n > 4:
            yield f"M|join(T{n - 4})|a.c:6"
        if n <= count:
            yield from (f"M|fork(T{n})|a.c:1", f"T{n}|acq(m)|a.c:2", f"T{n}|w(x)={n % 9}|a.c:3", f"T{n}|rel(m)|a.c:4")


def check_goers(portent, folder):
    """What threads that have ended knew costs no others anything, unless a property asks about all of them; nor do their violations."""
    properties = os.path.join(folder, "goers.prop")
    with open(properties, "w", encoding="utf-8") as file:
        file.write("property p at each i: (x < 9 since true) && @i x < 9 && @M x < 9;\nproperty q at each i: x < 5;\n")
    peaks = []
    for count in (250, 2000):
        trace = os.path.join(folder, f"goers{count}.trace")
        with open(trace, "w", encoding="utf-8") as file:
            file.write("\n".join(come_and_go(count)) + "\n")
        p, q = json.loads(expect(1, run(portent, "check", "--json", "-s", properties, trace)).stdout)["properties"]
        same(f"verdicts with {count} threads", (p["verdict"], q["verdict"]), ("holds", "violated"))
        breaks = sorted(f"T{n}" for n in range(1, count + 1) if n % 9 > 4 or (n - 1) % 9 > 4)  # its own, or heard of with the lock
        same("threads that break q", sorted(at["thread"] for at in q["at"] if at["thread"] != "M"), breaks)
        peaks.append(p["peak_bytes"])
    if peaks[1] > 12 * peaks[0]:
        raise Failure(f"eight times as many threads take {peaks[1]} bytes in place of {peaks[0]}")


def check_fault(portent, folder):
    """A store faults, and another thread stores there before the handler returns: both race, the one that was disturbed too."""
    program = Program(portent, *lay_out(os.path.join(folder, "fault"), FAULT, "property any at each i: race_free(*);\n"), folder)
    same("verdict", program.recorded()["any"][0], "violated")
    same("verdict", program.live()[0]["any"][0], "violated")
    (found,) = load(program.path + ".json")["properties"]
    same("sides", sorted({(race[side]["thread"], race["object"]) for race in found["findings"] for side in ("first", "second")}),
         [("main", "page[0]"), ("other", "page[0]")])


ENDINGS = """#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
volatile int x, y;
int there[2];
static void *worker(void *unused)
{
    x = 1, x = 2, x = 3;
    if (syscall(SYS_write, there[1], "x", 1) != 1)
        abort();
    for (;;)
        pause();
    return unused;
}
static void *never(void *unused) { x = 4; return unused; }
int main(int argc, char **argv)
{
    pthread_t thread;
    char c;
    if (argc < 2 || (argc > 2 && pthread_create(&thread, NULL, never, NULL)) || pipe(there) ||
        pthread_create(&thread, NULL, worker, NULL) || syscall(SYS_read, there[0], &c, 1) != 1)
        return 1;
    y = 1;
    switch (*argv[1]) {
    case 'k':
        kill(getpid(), SIGKILL);
        return 1;
    case 'q':
        _exit(0);
    case 'e':
        execl("/bin/true", "true", (char *)NULL);
        return 1;
    case 'j':
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    return 0;
}
"""


def check_endings(portent, folder):
    """A thread that never came to tell its last states: what is about it is not complete, and says so; recorded or not."""
    source, properties = lay_out(os.path.join(folder, "endings"), ENDINGS,
                                 "property low at worker: x < 1;\nproperty fine at worker: x < 9;\n"
                                 "property y at main: y < 9;\nproperty all at each i: x < 9;\nproperty other at never: x < 1;\n")
    program = Program(portent, source, properties, folder)
    why = "the program ended before all its threads had reported their last states"
    for how, unfinished in (("killed", ["low", "fine", "y", "all"]), ("quits", ["low", "fine", "y", "all"]),
                            ("execs", ["low", "fine", "y", "all"]), ("returns", ["low", "fine", "all"]), ("joins", [])):
        for more in ((), ("-o", program.path + ".trace")):
            done = expect(FOUND, run(portent, "run", "-s", properties, "-r", program.path + ".json", *more, "--", program.path, how))
            found = {p["name"]: p for p in load(program.path + ".json")["properties"]}
            same(how, [name for name, p in found.items() if not p["complete"]], unfinished)
            same(how, {name: p.get("message") for name, p in found.items()},
                 {name: why if name in unfinished else None for name in found})
            same(how, [p["verdict"] for p in found.values()], ["violated", "holds", "holds", "holds", "holds"])
            suite.contains(done.stderr, f"Property 'fine' holds in every {'known ' if unfinished else ''}state of worker.")
            same("said", words(done.stderr).count(f"there may be more: {why}."), 1 if unfinished else 0)
            same("its own status", "the program itself ended with status 137" in done.stderr, how == "killed")
            same("said", words(done.stderr).count(f"That may not be all: {why}."), max(0, len(unfinished) - 1))


CORNERS = """#include <limits.h>
#include <portent.h>
#include <pthread.h>
volatile int x, y = 3;
volatile long big = LONG_MAX;
int unset;
char name[8] = "on";
static void *worker(void *a) { x = 1; y = 4; x = 0; y = 5; return a; }
static void *never(void *a) { x = 9; return a; }
static void *late(void *a) { portent_internal("b", 1); (void)y; x = 7; return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    y = 2;
    if (pthread_create(&t, 0, worker, 0) || pthread_join(t, 0))
        return 1;
    x = 3;
    if (pthread_create(&t, 0, late, 0) || pthread_join(t, 0))
        return 1;
    portent_internal("b", 0);
    x = 4;
    return (argc > 1 && pthread_create(&t, 0, never, argv)) || unset;
}
"""

# What docs/property-language.md and portent-prop(5) say of corner cases: (property, verdict, states or the message's beginning).
# main's states: 1 y=2, 2 fork, 3 reads t, 4 join, 5 x=3, 6 fork, 7 reads t, 8 join, 9 b=0, 10 x=4, 11 reads unset.
CORNER_CASES = [
    ("at worker: y / x >= 0", "error", "division by zero in 'y / x >= 0' (state 0 of worker)"),
    ("at worker: x == 0 || y / x >= 0", "holds", []),
    ("at worker: y < 4 || 6 / x > 0", "error", "division by zero in '6 / x > 0' (state 3 of worker, "),
    ("at main: x == 0 || @worker(10 / x) != 5", "error", "division by zero in '10 / x' (state 5 of main, "),
    ("at main: big + x > 0", "error", "overflow in 'big + x > 0' (state 5 of main, "),
    ("at each i: exists j: 1 / @j b > 0", "error", "division by zero in '1 / @j b > 0' (state 0 of main)"),
    ("at main: unset == 0 && @worker unset == 0 && name == \"on\"", "holds", []),
    ("at never: x == 1", "violated", [0]),
    ("at never: x == 0", "holds", []),
    ("at main: @never(x) == 0 && @never @worker(y) == 3", "holds", []),
    ("at main: !(exists j: @j(x == 9)) && (x == 4 -> exists j: @j(x == 7))", "holds", []),
    ("at main: @worker y != 5", "violated", [4, 5, 6, 7, 8, 9, 10, 11]),
    ("at worker: @late(b) == 0", "holds", []),
    ("at each i: exists j != i: @j(b == 1)", "violated", [{"thread": "main", "states": [0, 1, 2, 3, 4, 5, 6, 7]},
                                                            {"thread": "worker", "states": [0, 1, 2, 3, 4, 5]},
                                                            {"thread": "late", "states": [0, 1, 2, 3, 4]}]),
]


def check_corners(portent, folder):
    source, properties = os.path.join(folder, "corners.c"), os.path.join(folder, "corners.prop")
    for path, text in ((source, CORNERS), (properties, "".join(f"property p{i} {case[0]};\n" for i, case in enumerate(CORNER_CASES)))):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    program = Program(portent, source, properties, folder)
    alone = program.alone().stderr
    for found in (program.recorded(), program.live()[0]):
        for i, (text, verdict, expected) in enumerate(CORNER_CASES):
            result, _, at, message = found[f"p{i}"]
            same(text, result, verdict)
            if verdict == "error" and not message.startswith(expected):
                raise Failure(f"{text}: {message}\nexpected: {expected}")
            if verdict != "error":  # without a trace, threads are in the order in which they told something
                same(text, sorted(at, key=str), sorted(expected, key=str))
            told = {"error": f"Property 'p{i}' cannot be evaluated: ", "violated": f"Property 'p{i}' is violated in thread "}
            if verdict in told and told[verdict] not in alone:
                raise Failure(f"{text}: the program alone says nothing:\n{alone}")


def made_up(good):
    """The file with its first variable far outside of the program, and the hash that goes with that (core/ptc.h)."""
    head, data = 96, bytearray(good)
    count, watches = struct.unpack_from("<II", data, head)
    if not count:
        raise Failure("the file has no variables")
    struct.pack_into("<Q", data, head + watches, 1 << 40)
    value = 0xcbf29ce484222325
    for byte in data[head:]:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    struct.pack_into("<Q", data, head - 8, value)
    return bytes(data)


def check_files(portent, folder):
    """A file that is none, is cut short, damaged, made up, or another program's: one sentence, and the program runs on."""
    program = Program(portent, "examples/race/race.c", "examples/race/race.prop", folder)
    other = Program(portent, "examples/recover/recover.c", "examples/recover/recover.prop", folder)
    with open(program.path + ".ptc", "rb") as file:
        good = file.read()
    middle = len(good) // 2
    spoiled = {"empty": b"", "short": good[:50], "cut": good[:-8], "other": b"x" * 4000,
               "bit": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:],
               "made-up": made_up(good)}
    cases = {program.path + ".none": "cannot be read", other.path + ".ptc": "another program"}
    for name, data in spoiled.items():
        path = f"{program.path}-{name}.ptc"
        with open(path, "wb") as file:
            file.write(data)
        cases[path] = ""
    done = expect(0, run("sh", "-c", f"ulimit -v 1000000; exec {program.path}", options=f"properties={program.path}.ptc"))
    if "no memory left" not in done.stderr or len(done.stderr.splitlines()) != 1:
        raise Failure(f"little address space: {done.stderr!r}")
    for path, reason in cases.items():
        done = expect(0, run(program.path, options=f"properties={path}"))
        lines = done.stderr.splitlines()
        if len(lines) != 1 or "are not checked: " not in lines[0] or reason not in lines[0]:
            raise Failure(f"{path}: {done.stderr!r}")
        same("output", done.stdout, "counted 200 under the lock\n")


# Another build of the library has its variables elsewhere, all of the same size, and its functions likewise.
LIBRARY = ["int quiet, level, after;\nvoid *idle(void *a) { return a; }\nvoid *fill(void *a) { level = *(int *)a; return a; }\n",
           "int after, quiet, level;\nvoid *fill(void *a) { level = *(int *)a; return a; }\nvoid *idle(void *a) { return a; }\n"]
LINKED = """#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
extern int level;
void *fill(void *), *idle(void *);
int own = 1;
int main(int argc, char **argv)
{
    int value = 5;
    pthread_t thread;
    puts("runs");
    own = argc;
    return pthread_create(&thread, NULL, fill, &value) || pthread_join(thread, NULL) || level != 5;
}
"""
OPENED = """#include <dlfcn.h>
#include <stdio.h>
volatile int own = 1;
int main(int argc, char **argv)
{
    int value = 5;
    puts("runs");
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    void *(*fill)(void *) = library ? dlsym(library, "fill") : 0;
    if (!fill)
        return 1;
    fill(&value);
    own = 2;
    return 0;
}
"""


def build_library(portent, path, text, *more):
    suite.write(path + ".c", text)
    expect(0, run(portent, "cc", "-O1", "-shared", "-fPIC", *more, path + ".c", "-o", path))


def check_libraries(portent, folder):
    """Properties know places in this build of a library; with another build of it they are not checked, and one sentence says so.
    A library in which they name nothing may be any."""
    library, main = os.path.join(folder, "libpart.so"), os.path.join(folder, "main")
    for more in ([], ["-Wl,--build-id=none"]):
        for text, opened in ((LINKED, False), (OPENED, True)):
            build_library(portent, library, LIBRARY[0], *more)
            suite.write(main + ".c", text)
            expect(0, run(portent, "cc", "-O1", "-pthread", main + ".c", "-o", main, *more,
                          *([] if opened else [library, f"-Wl,-rpath,{folder}"])))
            cases = {"variable": "property p at each i: level < 5;", "own": "property p at main: own < 2;"}
            if not opened:  # no thread is started there
                cases["thread"] = "property p at fill: @main own < 1;"
            for name, prop in cases.items():
                suite.write(f"{main}.{name}.prop", prop + "\n")
                expect(0, run(portent, "compile", "-s", f"{main}.{name}.prop", "-o", f"{main}.{name}.ptc",
                              *(["--module", library] if opened else []), main))
            for build, names in enumerate((list(cases), ["own"])):
                build_library(portent, library, LIBRARY[build], *more)
                for name in cases:
                    done = run(main, "1", library, options=f"properties={main}.{name}.ptc")
                    what = f"{name}, build {build}, {more}, opened: {opened}"
                    same(what, (done.stdout, sorted(reports(done.stderr))), ("runs\n", ["p"] if name in names else []))
                    same(what, done.returncode, FOUND if name in names else 0)
                    if name not in names:
                        same(what, done.stderr, f"portent: the properties of '{main}.{name}.ptc' are not checked"
                                                f"{' from here on' if opened else ''}: they were compiled for another build of "
                                                f"'{library}'\n")
                if opened:  # by another name
                    link = os.path.join(folder, "link.so")
                    if not os.path.islink(link):
                        os.symlink(library, link)
                    done = run(main, "1", link, options=f"properties={main}.variable.ptc")
                    same(f"a link, build {build}", done.returncode, 0 if build else FOUND)


CLOSED = """#include <dlfcn.h>
#include <pthread.h>
volatile int x;
static void *(*fill)(void *);
static int turn[2];
static void *first(void *a) { fill((void *)&x); turn[0] = 1; return a; }
static void *second(void *a) { x = 2; return a; }
int main(int argc, char **argv)
{
    void *library = dlopen(argv[argc - 1], RTLD_NOW);
    pthread_t t;
    if (!library || !(fill = dlsym(library, "fill")) || pthread_create(&t, 0, first, 0))
        return 1;
    while (!__atomic_load_n(&turn[0], __ATOMIC_RELAXED))
        ;
    dlclose(library);
    return pthread_join(t, 0) || pthread_create(&t, 0, second, 0) || pthread_join(t, 0);
}
"""


def check_closed(portent, folder):
    """What was known of a thread in a library that is closed is known still."""
    library = os.path.join(folder, "libfill.so")
    build_library(portent, library, "void *fill(void *to) { *(volatile int *)to = 1; return to; }\n")
    program = Program(portent, *lay_out(os.path.join(folder, "closed"), CLOSED,
                                        "property p at each i: forall j != i: !(write(x) && @j(once write(x)));\n"), folder)
    for done in (program.live(library)[1], program.alone(library)):
        same("exit status", done.returncode, FOUND)
        suite.contains(done.stdout + done.stderr, "libfill.so.c:1")


HANDLES = """#include <pthread.h>
static long counts[24];
static void *leaf(void *count) { ++*(long *)count; return 0; }
static void *joiner(void *count)
{
    for (int i = 0; i < 40; i++) {
        pthread_t t;
        if (pthread_create(&t, 0, leaf, count) || pthread_join(t, 0))
            return count;
    }
    return 0;
}
int main(void)
{
    pthread_t t[24];
    for (int i = 0; i < 24; i++)
        if (pthread_create(&t[i], 0, joiner, &counts[i]))
            return 1;
    for (int i = 0; i < 24; i++)
        pthread_join(t[i], 0);
    return 0;
}
"""


def check_handles(portent, folder):
    """A thread's handle is another's as soon as it is joined: each join is of the thread that was meant."""
    program = Program(portent, *lay_out(os.path.join(folder, "handles"), HANDLES, "property any at each i: race_free(*);\n"), folder)
    for _ in range(3):
        same("live", program.live()[0]["any"][0], "holds")
        same("recorded", program.recorded()["any"][0], "holds")


JOINED = """#include <pthread.h>
#include <threads.h>
#include <sys/syscall.h>
#include <unistd.h>
long x;
int there[2];
static void *returns(void *unused) { x = 1; return unused; }
static void *leaves(void *unused) { x = 1; pthread_exit(unused); }
static void *is_cancelled(void *unused) { x = 1; for (;;) pause(); return unused; }
static void *tells(void *unused) { x = 1; return syscall(SYS_write, there[1], "", 1) == 1 ? unused : there; }
static int ends(void *unused) { (void)unused; x = 1; return 0; }
int main(int argc, char **argv)
{
    pthread_t t;
    thrd_t c11;
    char c;
    if (argc < 2 || pipe(there))
        return 1;
    switch (*argv[1]) {
    case 'r': pthread_create(&t, 0, returns, 0); break;
    case 'l': pthread_create(&t, 0, leaves, 0); break;
    case 'c': pthread_create(&t, 0, is_cancelled, 0); pthread_cancel(t); break;
    case 't': pthread_create(&t, 0, tells, 0); if (syscall(SYS_read, there[0], &c, 1) != 1) return 1; break;
    case 'e': thrd_create(&c11, ends, 0); thrd_join(c11, 0); break;
    }
    if (*argv[1] == 'r' || *argv[1] == 'l' || *argv[1] == 'c')
        pthread_join(t, 0);
    x = 2;
    return *argv[1] == 't' ? pthread_join(t, 0) : 0;
}
"""


def check_joined(portent, folder):
    """The last access of a thread does not race with what is done after its join; with what is done before, it does."""
    program = Program(portent, *lay_out(os.path.join(folder, "joined"), JOINED,
                                        "property x at each i: race_free(x);\nproperty any at each i: race_free(*);\n"), folder)
    for how, verdict in {"returns": "holds", "leaves": "holds", "cancelled": "holds", "ends": "holds", "tells": "violated"}.items():
        for found in (program.live(how)[0], program.recorded(how)):
            same(how, [found[name][0] for name in ("x", "any")], [verdict] * 2)
        same(f"{how} alone", sorted(reports(program.alone(how).stderr)), ["any", "x"] if verdict == "violated" else [])


MANY = 260
TROUBLES = """#include <portent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
long a, b, """ + ", ".join(f"v{i}" for i in range(MANY)) + """;
int there[2], back[2]; /* they order the threads, and tell them nothing */
static void pass(int *to) { if (syscall(SYS_write, to[1], "", 1) != 1) abort(); }
static void await(int *from) { char c; if (syscall(SYS_read, from[0], &c, 1) != 1) abort(); }
static void called(void *unused, const char *property) { (void)unused; printf("called for %s\\n", property); }
static void *first(void *unused) { a = 1; pass(there); await(back); return unused; }
static void *second(void *unused) { b = 1; pass(there); await(back); return unused; }
static void *many(void *unused)
{
""" + "".join(f"    v{i} = 1; pass(there); await(back);\n" for i in range(MANY)) + """    return unused;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    if (pipe(there) || pipe(back))
        return 1;
    setvbuf(stdout, NULL, _IONBF, 0);
    portent_on_violation(called, NULL);
    if (argc > 1 && *argv[1] == 'm') {
        pthread_create(&t[0], NULL, many, NULL);
""" + "".join(f"        await(there); v{i} = 2; pass(back);\n" for i in range(MANY)) + """        return pthread_join(t[0], NULL);
    }
    pthread_create(&t[0], NULL, first, NULL);
    await(there);
    pthread_create(&t[1], NULL, second, NULL);
    await(there);
    a = 2, b = 2; /* one violating state right behind the other */
    puts("past it");
    pass(back), pass(back);
    return pthread_join(t[0], NULL) || pthread_join(t[1], NULL);
}
"""


def check_troubles(portent, folder):
    """Each race is told, up to a limit; one that is suppressed hides no other, and only the others call or end anything."""
    program = Program(portent, *lay_out(os.path.join(folder, "troubles"), TROUBLES, "property any at each i: race_free(*);\n"), folder)
    program.recorded("many")
    (found,) = load(program.path + ".json")["properties"]
    same("objects", [told["object"] for told in found["findings"]], [f"v{i}" for i in range(MANY)])
    same("alone", len(re.findall("^SUMMARY", program.alone("many").stderr, re.M)), MANY)
    expect(0, run(portent, "check", "-s", program.properties, "--baseline", program.path + ".json", program.path + ".trace"))
    lines = os.path.join(folder, "lines")
    suite.write(lines, "".join(f"race:^v{i}$\n" for i in range(MANY) if i != 7))
    for done in (run(portent, "run", "-s", program.properties, "--suppressions", lines, "--", program.path, "many"),
                 program.alone("many", more=f":suppressions={lines}")):
        expect(FOUND, done)
        same("what is left", re.findall(r"^SUMMARY.* on (\w+) at", done.stderr, re.M), ["v7"])
        same("called", done.stdout, "called for any\n")
    suite.write(lines, "race:^a$\n")
    for halt, said in ((0, "called for any\npast it\n"), (1, "called for any\n")):
        for done in (run(portent, "run", "-s", program.properties, "--suppressions", lines, "--", program.path, "two",
                         options=f"halt_on_error={halt}"),
                     program.alone("two", more=f":suppressions={lines}:halt_on_error={halt}")):
            expect(FOUND, done)
            same("what is left", re.findall(r"^SUMMARY.* on (\w+) at", done.stderr, re.M), ["b"])
            same(f"halt_on_error={halt}", done.stdout, said)
    suite.write(lines, "race:first\nrace:^second$\n")  # by a thread of the other side
    expect(0, run(portent, "run", "-s", program.properties, "--suppressions", lines, "--", program.path, "two"))
    same("nothing left", expect(0, program.alone("two", more=f":suppressions={lines}")).stderr, "")


APART = """#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
long a, b, x, v[2];
int there[2], back[2]; /* they order the threads, and tell them nothing */
static char which;
static void pass(int *to) { if (syscall(SYS_write, to[1], "", 1) != 1) abort(); }
static void await(int *from) { char c; if (syscall(SYS_read, from[0], &c, 1) != 1) abort(); }
static __attribute__((noinline)) void set(long *p) { *p = 1; }
static void touch(int round)
{
    if (which == 'p')
        set(round ? &b : &a);
    else if (which == 'e')
        v[round] = 1;
    else
        x = 1;
}
static void *good(void *unused) { touch(0); pass(there); await(back); return unused; }
static void *bad(void *unused) { touch(1); pass(there); await(back); return unused; }
int main(int argc, char **argv)
{
    pthread_t t[2];
    which = argc > 1 ? *argv[1] : 0;
    if (pipe(there) || pipe(back))
        return 1;
    pthread_create(&t[0], NULL, good, NULL);
    await(there), touch(0);
    pthread_create(&t[1], NULL, bad, NULL);
    await(there), touch(1);
    pass(back), pass(back);
    return pthread_join(t[0], NULL) || pthread_join(t[1], NULL);
}
"""


def check_apart(portent, folder):
    """The same places with another variable behind a pointer, another element, another thread: what is set aside hides none of them."""
    program = Program(portent, *lay_out(os.path.join(folder, "apart"), APART, "property any at each i: race_free(*);\n"), folder)
    lines = os.path.join(folder, "apart-lines")
    for which, line in (("pointers", "race:^a$"), ("elements", "race:^v[0]$"), ("threads", "race:^good$")):
        suite.write(lines, line + " \t\n")  # blanks are none of it
        program.recorded(which)
        done = run(portent, "run", "-s", program.properties, "--suppressions", lines, "--", program.path, which)
        same(f"{which}: run", (done.returncode, len(re.findall("^SUMMARY", done.stderr, re.M))), (FOUND, 1))
        done = program.alone(which, more=f":suppressions={lines}")
        # What lies behind a pointer has no name without an observer, an element no number: neither is suppressed.
        same(f"{which}: alone", (done.returncode, len(re.findall("^SUMMARY", done.stderr, re.M))), (FOUND, 1 if which == "threads" else 2))
        done = expect(1, run(portent, "check", "-s", program.properties, "--suppressions", lines, program.path + ".trace"))
        same(f"{which}: check", len(re.findall("^SUMMARY", done.stdout, re.M)), 1)


LAST = """#define _GNU_SOURCE
#include <portent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
long x;
static atomic_int handled, stop;
static void on_signal(int number) { (void)number; atomic_fetch_add(&handled, 1); }
static void called(void *unused, const char *property) { (void)unused; printf("called for %s\\n", property); }
static void *last(void *unused) { x = 1; return unused; }
static void *maker(void *signals)
{
    pthread_t t;
    while (!atomic_load(&stop)) { /* only its threads take the signals, and mostly where they end */
        pthread_sigmask(SIG_UNBLOCK, signals, NULL);
        pthread_create(&t, NULL, last, NULL);
        pthread_sigmask(SIG_BLOCK, signals, NULL);
        pthread_join(t, NULL);
    }
    return NULL;
}
int main(int argc, char **argv)
{
    pthread_t t;
    sigset_t signals;
    (void)argv;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc < 2) {
        portent_on_violation(called, NULL);
        return pthread_create(&t, NULL, last, NULL) || pthread_join(t, NULL);
    }
    signal(SIGUSR1, on_signal);
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    pthread_create(&t, NULL, maker, &signals);
    for (int i = 1; i <= 1000; i++) {
        kill(getpid(), SIGUSR1);
        for (int k = 0; atomic_load(&handled) < i; k++, usleep(50))
            if (k == 1200000)
                _exit(3); /* never handled */
    }
    atomic_store(&stop, 1);
    pthread_join(t, NULL);
    puts("all handled");
    return 0;
}
"""


def check_last(portent, folder):
    """A thread that ends: what its last state violates is told and calls; signals that come meanwhile are handled, each of them."""
    program = Program(portent, *lay_out(os.path.join(folder, "last"), LAST,
                                        "property last at each i: !end(write(x));\nproperty any at each i: race_free(*);\n"), folder)
    same("recorded", program.recorded()["last"][0], "violated")
    for done in (program.live()[1], program.alone()):
        same("called", (done.returncode, done.stdout), (FOUND, "called for last\n"))
        suite.contains(done.stderr, "First in state(ended) by last, its event 2.")
    for done in (run(portent, "run", "-s", program.properties, "--exit-code", "0", "--", program.path, "signals"),
                 program.alone("signals", more=":exitcode=0")):
        same("signals", (done.returncode, done.stdout), (0, "all handled\n"))


def check_errors(portent, folder):
    """Names that the program does not have, and properties that need an observer."""
    source = "examples/race/race.c"
    program = os.path.join(folder, "race")
    expect(0, run(portent, "cc", "-O2", "-pthread", source, "-o", program))
    wrong = {"property p at cuont: hits > 0;": "did you mean 'count'?", "property p at count: hitz > 0;": "did you mean 'hits'?",
             "property p at count: event(go) -> hits > 0;": "no user event 'go'", "property p: hits >= 0;": "not decentralised",
             "property p at each i: atomic_block(b);": "no atomic block 'b'"}
    slips = {"property p at each i: event(serevd);": "did you mean 'served'?", "property p at each i: atomic_block(stroe);": "did you mean 'store'?",
             "property p at each i: bussy == 1;": "did you mean 'busy'?"}
    names = os.path.join(folder, "names.c")
    with open(names, "w", encoding="utf-8") as file:
        file.write('#include <portent.h>\nint main(void)\n{\n    portent_begin("store");\n    portent_event("served");\n'
                   '    portent_internal("busy", 1);\n    portent_end("store");\n    return 0;\n}\n')
    named = os.path.join(folder, "names")
    expect(0, run(portent, "cc", names, "-o", named))
    path = os.path.join(folder, "wrong.prop")
    for text, message in (wrong | slips).items():
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        done = expect(2, run(portent, "compile", "-s", path, "-o", os.path.join(folder, "x.ptc"), named if text in slips else program))
        if message not in done.stderr or f"{path}:1:" not in done.stderr:
            raise Failure(f"{text}\n{done.stderr}")
    expect(0, run("cc", "-g", "-Iinclude", names, "-o", named))
    with open(path, "w", encoding="utf-8") as file:
        file.write("property p at each i: busy == 0;\n")
    done = expect(0, run(portent, "compile", "-s", path, "-o", os.path.join(folder, "x.ptc"), named))
    if f"'{named}' is not instrumented" not in done.stderr:
        raise Failure(f"a program without the runtime\n{done.stderr}")
    done = expect(0, run(portent, "compile", "-s", "examples/race/race.prop", "-o", os.path.join(folder, "x.ptc"), program))
    same("warnings", done.stderr, "")


# --- random programs ---

PROLOGUE = """#include <portent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define KEEP __asm__ volatile("" ::: "memory") /* the compiler may not drop what comes before */
volatile int x0, x1, x2;
volatile double d;
atomic_int n;
struct parts { int a, b; char c, e; long f[3]; } s0, s1;
char *heap;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
"""


def lay_out(path, text, properties):
    suite.write(path + ".c", text)
    suite.write(path + ".prop", properties)
    return path + ".c", path + ".prop"


def random_statement(rng, memory):
    var = rng.choice(["x0", "x1", "x2"])
    other = rng.choice(["x0", "x1", "x2"])
    return rng.choice([
        f"{var} = {rng.randrange(4)};", f"{var} = {other} + 1;", f"(void){var};", "sched_yield();",
        f"pthread_mutex_lock(&lock); {var} = {other}; pthread_mutex_unlock(&lock);",
        f"portent_internal(\"b\", {rng.randrange(3)});", "portent_event(\"e\");", "d = d + 0.5;",
        f"portent_begin(\"k\"); {var} = {other} + {rng.randrange(3)}; portent_end(\"k\");"] + [random_memory(rng) for _ in range(5) if memory])


def random_memory(rng):
    """Accesses of several variables, of parts of them, of heap memory, and atomic ones."""
    one, other = rng.sample(["s0", "s1"], 2)
    part, order = rng.choice(["a", "b", "c", "e", "f[1]"]), rng.choice(["relaxed", "seq_cst"])
    at, size = rng.randrange(16), rng.choice([1, 2, 8, 20])
    return rng.choice([
        f"memset(&{one}, {rng.randrange(9)}, sizeof {one});", f"{one} = {other};", f"{one}.{part}++;", f"{one}.{part} = 3;",
        f"memcpy(&{one}.f, &{other}.f, sizeof {one}.f);", f"memset(heap + {at}, 1, {size});", f"heap[{at}] = 5;",
        f"memcpy(&{one}.f, heap + {8 * rng.randrange(3)}, {size});",
        f"{{ char *p = malloc(24); memset(p, 1, 24); KEEP; {one}.{part} = p[{at}]; free(p); }}", f"atomic_store_explicit(&n, 3, memory_order_{order});",
        "n++;", f"x0 = atomic_load_explicit(&n, memory_order_{order});"]) + " KEEP;"


def random_formula(rng, depth, threads, past):
    """A formula; `threads` are what @ may name. `past`: with past operators, which count events: those of a thread and the lines
    of an access of several variables are not the same."""
    if depth == 0 or rng.random() < 0.2:
        var = rng.choice(["x0", "x1", "x2", "b"])
        return rng.choice([f"{var} {rng.choice(['==', '<', '>='])} {rng.randrange(4)}", f"{var} == @{rng.choice(threads)} {var}",
                           "event(e)", "read(x0)", "write(x1)", "d > 0.5"])
    inner = lambda: random_formula(rng, depth - 1, threads, past)
    kind = rng.randrange(9)
    if kind == 0:
        return f"!({inner()})"
    if kind == 1 or (kind in (2, 3) and not past):
        return f"({inner()}) {rng.choice(['&&', '||', '->'])} ({inner()})"
    if kind == 2:
        return f"{rng.choice(['once', 'historically', 'previously', 'start', 'end'])}({inner()})"
    if kind == 3:
        return f"(({inner()}) since ({inner()}))"
    if kind in (4, 5):
        return f"@{rng.choice(threads)}({inner()})"
    name = f"q{depth}"
    body = random_formula(rng, depth - 1, threads + [name], past)
    return f"({rng.choice(['exists', 'forall'])} {name}: ({body}))"


def random_program(rng, folder):
    count = rng.randrange(2, 4)
    memory = rng.random() < 0.5
    text = PROLOGUE
    for i in range(count):
        body = "\n    ".join(random_statement(rng, memory) for _ in range(rng.randrange(3, 9)))
        text += f"static void *t{i}(void *a)\n{{\n    {body}\n    return a;\n}}\n"
    text += f"int main(void)\n{{\n    pthread_t t[{count}];\n    heap = malloc(40);\n    {random_statement(rng, memory)}\n"
    text += "".join(f"    if (pthread_create(&t[{i}], 0, t{i}, 0)) return 1;\n" for i in range(count))
    text += f"    {random_statement(rng, memory)}\n" + "".join(f"    pthread_join(t[{i}], 0);\n" for i in range(count))
    text += f"    {random_statement(rng, memory)}\n    (void)x0;\n    portent_internal(\"b\", 0);\n    portent_event(\"e\");\n" \
            "    portent_begin(\"k\");\n    portent_end(\"k\");\n    return 0;\n}\n"
    names = [f"t{i}" for i in range(count)] + ["main"]
    properties = "".join(f"property p{i} at {rng.choice(names)}: {random_formula(rng, 3, names, not memory)};\n" for i in range(3))
    properties += f"property p3 at each i: {random_formula(rng, 2, names + ['i'], not memory)};\n"
    properties += "property p4 at each i: atomic_block(k);\nproperty p5 at each i: race_free(x0);\n"
    properties += "property p6 at each i: race_free(*);\nproperty p7 at each i: race_free(s0.b) && race_free(n);\n"
    return lay_out(os.path.join(folder, "random"), text, properties)


def check_random(portent, folder, seed):
    rng = random.Random(seed)
    source, properties = random_program(rng, folder)
    try:
        program = Program(portent, source, properties, folder)
        for _ in range(2):
            program.recorded()
        program.live()
    except Failure as failure:
        with open(source, encoding="utf-8") as program_text, open(properties, encoding="utf-8") as property_text:
            raise Failure(f"seed {seed}: {failure}\n{program_text.read()}{property_text.read()}") from failure


# --- random programs in a fixed order ---

HANDING_OVER = """#include <portent.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

volatile int x0, x1, x2, plain[64];
_Alignas(4096) volatile int page[1024];
volatile double d;
pthread_t t[16];
int ends[16][2]; /* of pipes, through which the threads hand over: nothing that a monitor knows of orders them */
static void await(int me) { char c; if (syscall(SYS_read, ends[me][0], &c, 1) != 1) abort(); }
static void pass(int to) { if (syscall(SYS_write, ends[to][1], "", 1) != 1) abort(); }
static void on_fault(int s) { (void)s; plain[1] = page[1] & 0; mprotect((void *)page, 4096, PROT_READ | PROT_WRITE); }
__attribute__((unused)) static int is_guarded(void)
{
    return mprotect((void *)page, 4096, PROT_READ) == 0 && signal(SIGSEGV, on_fault) != SIG_ERR;
}
"""


def random_part(rng):
    """What a thread does when it is its turn: often the same many times, so that there are many clocks, or nothing new."""
    var, other = rng.choice(["x0", "x1", "x2"]), rng.choice(["x0", "x1", "x2"])
    place = rng.randrange(64)
    body = " ".join(rng.choice([f"{var} = {rng.randrange(4)};", f"{var} = {other} & 3;", f"(void){var};", f"(void)plain[{place}];",
                                f"plain[{place}] = i;", f"plain[i & 63] = {var};", f"(void)plain[i & {rng.choice([1, 7, 63])}];",
                                "portent_internal(\"b\", i & 3);", f"portent_internal(\"b\", {rng.randrange(3)});",
                                "portent_event(\"e\");", "d = i;", "if (i < 2 && is_guarded()) page[i] = i;",
                                f"page[{place}] = i;"]) for _ in range(rng.randrange(1, 5)))
    return f"for (int i = 0; i < {rng.choice([1, 1, 2, 5, 40, 300])}; i++) {{ {body} }}"


def fixed_program(rng, folder, races):
    """Up to 8 threads beside main, in an order that is part of the program; some end, and others start, while others hold their facts.
    `races`: with race_free(*) and at most one property that does not look at events, as users have it."""
    count = rng.choice([2, 3, 8])
    order = [rng.randrange(count + 1) for _ in range(rng.choice([20, 60]))] + [0]
    late = {t for t in range(2, count + 1) if rng.random() < 0.3}
    half = len(order) // 2
    order = [0 if t in late and at <= half else t for at, t in enumerate(order)]
    order[0] = order[half] = 0
    parts = [[] for _ in range(count + 1)]
    for at, t in enumerate(order):
        text = random_part(rng)
        for new in range(1, count + 1):
            if at == (half if new in late else 0):
                text += f" if (pthread_create(&t[{new}], 0, t{new}, 0)) abort();"
        done = [old for old in range(1, count + 1) if at > half and t == 0 and old not in order[at:] and rng.random() < 0.5]
        text += "".join(f" if (t[{old}]) {{ pthread_join(t[{old}], 0); t[{old}] = 0; }}" for old in done)
        if at == 0 or order[at - 1] != t:
            text = f"await({t}); " + text if at else text
        if at + 1 < len(order) and order[at + 1] != t:
            text += f" pass({order[at + 1]});"
        parts[t].append(text)
    text = HANDING_OVER
    for t in range(1, count + 1):
        text += f"static void *t{t}(void *a)\n{{\n    " + "\n    ".join(parts[t]) + "\n    return a;\n}\n"
    text += f"int main(void)\n{{\n    for (int i = 0; i <= {count}; i++)\n" \
            "        if (pipe(ends[i]))\n            abort();\n    " + "\n    ".join(parts[0]) + \
            f"\n    for (int i = 1; i <= {count}; i++)\n        if (t[i])\n            pthread_join(t[i], 0);\n" \
            "    (void)x0;\n    portent_internal(\"b\", 0);\n    portent_event(\"e\");\n    return 0;\n}\n"
    names = [f"t{t}" for t in range(1, count + 1)] + ["main"]
    properties = "".join(f"property p{i} at {rng.choice(names)}: {random_formula(rng, 3, names, True)};\n" for i in range(3))
    properties += "".join(f"property p{i} at each i: {random_formula(rng, 2, names + ['i'], True)};\n" for i in range(3, 5))
    if races:
        properties = "property p0 at each i: race_free(*);\n" + rng.choice(["", "property p1 at each i: forall j: @j b < 2;\n"])
    return lay_out(os.path.join(folder, "fixed"), text, properties)


def check_fixed(portent, folder, seed, races):
    """The threads' own verdicts, found in the quick ways of a thread that is not recorded, are those of the record."""
    source, properties = fixed_program(random.Random(seed), folder, races)
    try:
        program = Program(portent, source, properties, folder)
        recorded, live = program.recorded(), program.live()[0]
        for name, (verdict, _, at, _) in recorded.items():
            same(f"{name}: verdict", live[name][0], verdict)
            same(f"{name}: states", sorted(live[name][2] or [], key=str), sorted(at or [], key=str))
    except Failure as failure:
        with open(source, encoding="utf-8") as program_text, open(properties, encoding="utf-8") as property_text:
            raise Failure(f"seed {seed}: {str(failure)[:5000]}\n{program_text.read()}{property_text.read()}") from failure


def main():
    parser = argparse.ArgumentParser(description="Decentralised properties inside the program.")
    parser.add_argument("portent", type=os.path.abspath)
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    parser.add_argument("--random", type=int, default=12, metavar="N", help="how many random programs")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first one")
    options = parser.parse_args()
    tests = {" ".join(example): lambda folder, example=example: check_example(options.portent, example, folder, options.repeat)
             for example in EXAMPLES}
    tests["recovery"] = lambda folder: check_recovery(options.portent, folder)
    tests["suppressions"] = lambda folder: check_suppressions(options.portent, folder)
    tests["files"] = lambda folder: check_files(options.portent, folder)
    tests["libraries"] = lambda folder: check_libraries(options.portent, folder)
    tests["copy"] = lambda folder: check_copy(options.portent, folder)
    tests["memory"] = lambda folder: check_memory(options.portent, folder)
    tests["goers"] = lambda folder: check_goers(options.portent, folder)
    tests["fault"] = lambda folder: check_fault(options.portent, folder)
    tests["corners"] = lambda folder: check_corners(options.portent, folder)
    tests["endings"] = lambda folder: check_endings(options.portent, folder)
    tests["words"] = lambda folder: check_words(options.portent, folder)
    tests["ids"] = lambda folder: check_ids(options.portent, folder)
    tests["closed"] = lambda folder: check_closed(options.portent, folder)
    tests["handles"] = lambda folder: check_handles(options.portent, folder)
    tests["joined"] = lambda folder: check_joined(options.portent, folder)
    tests["troubles"] = lambda folder: check_troubles(options.portent, folder)
    tests["apart"] = lambda folder: check_apart(options.portent, folder)
    tests["last"] = lambda folder: check_last(options.portent, folder)
    tests["errors"] = lambda folder: check_errors(options.portent, folder)
    for seed in range(options.seed, options.seed + options.random):
        tests[f"random {seed}"] = lambda folder, seed=seed: check_random(options.portent, folder, seed)
        if seed % 2:
            tests[f"fixed {seed}"] = lambda folder, seed=seed: check_fixed(options.portent, folder, seed, False)
        tests[f"races {seed}"] = lambda folder, seed=seed: check_fixed(options.portent, folder, seed, True)
    passed = failed = 0
    for name, test in tests.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                passed += 1
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"local: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
