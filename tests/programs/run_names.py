#!/usr/bin/env python3
"""What things are called: run_names.py PORTENT

`portent run` on a program and `portent check` on the recording of that very run find the same violations of decentralised
properties, and call everything in them by the same names: threads, variables, elements, members, heap memory, locks, places, both
sides, the finding's id. The programs say by their argument what two threads touch; a pipe decides who comes first. The last line is
`names: N passed, M failed`.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import suite
from run_local import FOUND, expect, load, run
from suite import Failure, same

SOURCE = r"""#define _GNU_SOURCE
#include <portent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int there[2], back[2]; /* pipes: they order the threads, and tell them nothing */
int plain, elements[4], grid[3][4];
static int hidden;
volatile int x;
char text[16];
atomic_int counter;
struct tank { int level; struct { char tag; int n[3]; } in; long f[2]; } tank, tanks[3], copy;
struct node { int value; pthread_mutex_t lock; } *node;
struct { unsigned a : 3, b : 5; } bits;
union { long whole; int half[2]; } both;
pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER, latches[3] = {[1] = PTHREAD_MUTEX_INITIALIZER};
pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t conditions[3];
pthread_barrier_t barriers[2];
sem_t semaphores[2];
extern void *silent(void *);
void touch_from_silent(void) { x = 3; portent_event("done"); }
static void count_calls(void) { static int calls; calls++; }
static char which;
static int *shared_local;
static void touch(int me)
{
    int i = which == 0; /* which the compiler does not know */
    switch (which) {
    case 'p': plain = me; break;
    case 'e': elements[i + 2] = me; break;
    case 'g': grid[i + 2][i + 3] = me; break;
    case 'h': hidden = me; break;
    case 's': count_calls(); break;
    case 't': tank.level = me; break;
    case 'i': tank.in.n[1] = me; break;
    case 'T': tanks[i + 2].in.n[i] = me; break;
    case 'n': node->value = me; break;
    case 'o': *shared_local = me; break;
    case 'B': bits.b = (unsigned)me + 1; break;
    case 'U': both.half[1] = me; break;
    case 'm': if (me) memset(&tank, me, sizeof tank); else tank.f[1] = 3; break;
    case 'M': if (me) tank.in.n[2] = 3; else memset(&tank, me, sizeof tank); break;
    case 'c': if (me) copy = tanks[1]; else copy = tank; break;
    case 'r': tank.in.n[1] = me; copy = tank; break;
    case 'l': pthread_mutex_lock(&latch); pthread_mutex_unlock(&latch); break;
    case 'L': pthread_mutex_lock(&latches[i + 1]); pthread_mutex_unlock(&latches[i + 1]); break;
    case 'N': pthread_mutex_lock(&node->lock); pthread_mutex_unlock(&node->lock); break;
    case 'R': (me ? pthread_rwlock_rdlock : pthread_rwlock_wrlock)(&shared); pthread_rwlock_unlock(&shared); break;
    case 'C': pthread_cond_signal(&conditions[i + 2]); break;
    case 'S': sem_post(&semaphores[i + 1]); break;
    case 'W': pthread_barrier_wait(&barriers[i + 1]); pthread_barrier_wait(&barriers[i + 1]); break; /* a phase of each kind */
    case 'x': x = me + 1; break;
    case 'w': strcpy(text, me ? "one" : "zero"); break;
    case 'a': atomic_fetch_add(&counter, 1); break;
    case 'E': portent_event("e|\"e"); x = me; break;
    case 'I': portent_internal("busy", me); x = me; break;
    }
}
static void *worker(void *name)
{
    char c;
    if (name)
        pthread_setname_np(pthread_self(), name);
    if (syscall(SYS_read, there[0], &c, 1) != 1)
        abort();
    touch(1);
    if (syscall(SYS_write, back[1], "x", 1) != 1)
        abort();
    return NULL;
}
static void *idle(void *a) { return a; }
static void start(void *(*what)(void *), void *with, pthread_t *thread) { if (pthread_create(thread, NULL, what, with)) abort(); }
int main(int argc, char **argv)
{
    pthread_t thread, other;
    char c;
    int local = 0;
    which = argv[1][0];
    shared_local = &local;
    free(malloc(sizeof *node)); /* most likely the same: another life */
    node = calloc(1, sizeof *node);
    pthread_mutex_init(&node->lock, NULL);
    sem_init(&semaphores[1], 0, 0);
    pthread_barrier_init(&barriers[1], NULL, 1);
    if (pipe(there) || pipe(back))
        return 1;
    for (int i = 0; i < 2; i++) {
        start(idle, NULL, &other);
        pthread_join(other, NULL);
    }
    start(silent, NULL, &other);
    pthread_join(other, NULL);
    start(worker, argc > 2 ? argv[2] : NULL, &thread);
    portent_begin("block");
    touch(0);
    if (syscall(SYS_write, there[1], "x", 1) != 1 || syscall(SYS_read, back[0], &c, 1) != 1)
        return 1;
    touch(0);
    portent_end("block");
    pthread_join(thread, NULL);
    x = 5;
    start(idle, NULL, &other);
    x = 6;
    pthread_join(other, NULL);
    x = 7;
    touch(0);
    portent_event("last");
    portent_internal("busy", 9);
    free(node);
    return 0;
}
"""
# An object without debug information: only its symbol names the function.
SILENT = "void touch_from_silent(void);\nvoid *silent(void *a) { touch_from_silent(); return a; }\n"

RACES = "property races at each i: race_free(*);\n"
BLOCK = "property block at each i: atomic_block(block);\n"
# Of two properties that name one variable, in two files, each has its own name for it.
ALIASES = ("var first = x;\nvar second = plain;\nproperty sum at main: second + first < 5;\n",
           "property other at main: x + plain < 5;\n")
MIXED = """var level = tank.level;
thread w = worker;
property one at each i: race_free(plain) && race_free(x) && race_free(hidden) && race_free(tank.in.n[1]);
property two at each i: race_free(level) && race_free(tank.f[1]) && race_free(text);
property knows at main: @w x != 2 && @w text != "one";
property known at w: @main x < 1;
property some at each i: !(exists j != i: @j x > 0);
property text at main: text == "";
property busy at each i: busy < 1 && !event(last);
property quiet at silent: x < 3;
"""
# What main does after x = 5, 6 and 7: a fork; reads the thread's handle, and joins it; reads `which`, and does what that says.
NEXT = """property forks at main: !(previously x == 5);
property joins at main: !(previously previously x == 6);
property does at main: !(previously previously x == 7);
"""

# By argument: what the first race is on, and what disturbs the block; a struct or array: parts of it; "0x": an address; None: nothing does.
THINGS = {"p": ("plain", "plain"), "e": ("elements[2]", "elements[2]"), "g": ("grid[2][3]", "grid[2][3]"), "h": ("hidden", "hidden"),
          "s": ("count_calls::calls", "count_calls::calls"), "t": ("tank.level", "tank.level"), "i": ("tank.in.n[1]", "tank.in.n[1]"),
          "T": ("tanks[2].in.n[0]", "tanks[2].in.n[0]"), "n": ("0x", "0x"), "o": ("0x", "0x"), "B": ("bits.a...", "bits.a..."),
          "U": ("both", "both"), "m": ("tank.f[1]", "tank"), "M": ("tank.in.n[2]", "tank"), "c": ("copy.level", "copy"),
          "r": ("tank.in.n[1]", "tank.in.n[1]"), "l": (None, "latch"), "L": (None, "latches[1]"), "N": (None, "0x"), "R": (None, "shared"),
          "C": (None, "conditions[2]"), "S": (None, "semaphores[1]"), "W": (None, "barriers[1]"), "x": ("x", "x"), "w": ("text[0]", "text"),
          "a": (None, "counter"), "E": ("x", "x"), "I": ("x", "x")}

CPP_SOURCE = r"""#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
namespace ns {
int deep;
struct S { static int counted; int member; std::mutex mutex; } object;
int S::counted;
std::atomic<int> atomic;
namespace { int anonymous; }
}
std::array<int, 4> array;
std::vector<int> vector(4);
std::map<int, int> map;
template <class A, int N> struct Two { A a; int b[N]; };
Two<int, 3> two;
std::mutex mutex, mutexes[2];
int there[2], back[2];
static void touch(char which, int me)
{
    switch (which) {
    case 'd': ns::deep = me; break;
    case 's': ns::S::counted = me; break;
    case 'o': ns::object.member = me; break;
    case 'a': ns::atomic = me; break;
    case 'n': ns::anonymous = me; break;
    case 'r': array[2] = me; break;
    case 'v': vector[3] = me; break;
    case 'm': map[3] = me; break;
    case 't': two.b[1] = me; break;
    case 'l': { std::lock_guard<std::mutex> guard(mutex); } break;
    case 'L': { std::lock_guard<std::mutex> guard(mutexes[1]); } break;
    case 'O': { std::lock_guard<std::mutex> guard(ns::object.mutex); } break;
    }
}
template <class A, class B> void work(A which, B me)
{
    char c;
    if (syscall(SYS_read, there[0], &c, 1) != 1)
        abort();
    touch(which, me);
    if (syscall(SYS_write, back[1], "x", 1) != 1)
        abort();
}
struct Callable { char which; void operator()() { work(which, 1); } };
struct Object { void run(char which) { work(which, 1); } };
int main(int, char **argv)
{
    char which = argv[1][0], c;
    map[3] = 0;
    if (pipe(there) || pipe(back))
        return 1;
    Object object;
    std::thread thread;
    switch (argv[1][1]) {
    case 't': thread = std::thread(work<char, int>, which, 1); break;
    case 'c': thread = std::thread(Callable{which}); break;
    case 'm': thread = std::thread(&Object::run, &object, which); break;
    default: thread = std::thread([which] { work(which, 1); });
    }
    touch(which, 0);
    if (syscall(SYS_write, there[1], "x", 1) != 1 || syscall(SYS_read, back[0], &c, 1) != 1)
        return 1;
    touch(which, 0);
    thread.join();
    ns::deep = 7;
    std::thread other([] {});
    other.join();
}
"""
CPP_PROPERTIES = """property races at each i: race_free(*);
property named at each i: race_free(ns::deep);
property some at each i: !(exists j != i: @j(once write(ns::deep)));
property next at main: !(previously ns::deep == 7);
property later at main: !(previously previously ns::deep == 7);
"""
CPP_THINGS = {"d": "ns::deep", "s": "ns::S::counted", "o": "ns::object.member", "a": None, "n": "ns::anonymous", "r": "array._M_elems[2]",
              "v": "0x", "m": "0x", "t": "two.b[1]", "l": None, "L": None, "O": None, "dt": "ns::deep", "dc": "ns::deep", "dm": "ns::deep"}


class Program:
    def __init__(self, portent, folder, name, command, *files):
        self.portent, self.folder, self.path = portent, folder, os.path.join(folder, name)
        expect(0, run(portent, command, "-O1", "-pthread", *files, "-o", self.path))

    def properties(self, *texts):
        """A file for each text, as options."""
        options = []
        for i, text in enumerate(texts):
            suite.write(f"{self.path}{i}.prop", text)
            options += ["-s", f"{self.path}{i}.prop"]
        return options

    def run(self, properties, *arguments, more=()):
        expect((0, FOUND), run(self.portent, "run", *properties, "-r", self.path + ".json", *more, "--", self.path, *arguments))
        return load(self.path + ".json")

    def check(self, properties, *more):
        return run(self.portent, "check", "--json", "--order", "access", *properties, *more, self.path + ".trace")

    def both(self, properties, *arguments):
        """A run and the check of its recording, which must be the same; returns the properties by name."""
        here = self.run(properties, *arguments, more=("-o", self.path + ".trace"))
        there = json.loads(self.check(properties).stdout)
        what = " ".join(arguments)
        same(f"{what}: events and threads", (here["events"], here["threads"]), (there["events"], there["threads"]))
        for one, other in zip(here["properties"], there["properties"]):
            same(f"{what}: run, and check", comparable(one), comparable(other))
        return {p["name"]: p for p in here["properties"]}


def comparable(finding):
    """Without what only one of them can know: the other side's values, the source's word for an address, names the trace lacks. Which
    trouble is told after which depends on whose word the observer reads first."""
    finding = {key: value for key, value in finding.items() if key not in ("seconds", "peak_bytes", "unseen")}
    if finding["kind"] == "race":  # a recording has no stacks, and calls memory without a name by its address alone
        return finding["name"], finding["verdict"], sorted({tuple(sorted((race[side]["thread"], race[side]["op"], race[side]["loc"])
                                                                         for side in ("first", "second"))) for race in finding["findings"]})
    for told in ([finding["first"]] if "first" in finding else []) + finding.get("more", []):
        steps = [told.get("event")] + [known.get("event") for known in told["knew"]]
        for step in filter(None, steps):
            step.pop("source", None)
        for step in filter(None, steps[1:]):
            step.pop("value", None)
    if "more" in finding:
        finding["more"] = sorted(finding["more"], key=lambda told: (told["thread"], told["state"]))
    return finding


def names_of(finding, name):
    """The violating event's object, and the other sides'."""
    first = finding["first"]
    return {first["event"]["object"]} | {known["event"]["object"] for known in first["knew"] if known["text"] == name and known["state"]}


def is_raced_on(what, finding, expected):
    """Among the races is one on that, by its name; memory without one is called by the source's words, or by its address."""
    objects = [race["object"] for race in finding["findings"]]
    if expected == "0x":
        same(f"{what}: {objects}", bool(objects) and all(re.search(r"^0x|->|\*|\[", name) for name in objects), True)
    elif expected not in objects and not (expected is None and not objects):
        raise Failure(f"{what}: {objects}, expected {expected}")


def is_called(what, finding, text, expected):
    """All sides are about the same thing, and that has its name."""
    if expected is None:
        same(f"{what}: verdict", finding["verdict"], "holds")
        return
    for name in names_of(finding, text):
        pattern = r"0x[0-9a-f]+(#\d+)?" if expected == "0x" else re.escape(expected) + (r"[.[].*" if expected in ("tank", "copy", "text") else "")
        if not re.fullmatch(pattern, name):
            raise Failure(f"{what}: {name}, expected {expected}: {finding['first']}")


def make_c(portent, folder):
    suite.write(os.path.join(folder, "names.c"), SOURCE)
    suite.write(os.path.join(folder, "silent.c"), SILENT)
    expect(0, run("cc", "-O1", "-c", os.path.join(folder, "silent.c"), "-o", os.path.join(folder, "silent.o")))
    return Program(portent, folder, "names", "cc", os.path.join(folder, "names.c"), os.path.join(folder, "silent.o"))


def check_things(portent, folder):
    """Each kind of thing in a race and in a disturbed block: its exact name on both sides; the id is that of a run that is not recorded."""
    program = make_c(portent, folder)
    for which, (race, disturbed) in THINGS.items():
        found = program.both(program.properties(RACES), which)
        is_raced_on(f"{which}: race", found["races"], race)
        properties = program.properties(BLOCK)  # a recording for races has no clocks, and each line of a copy is an event there
        found = program.both(properties, which)
        is_called(f"{which}: block", found["block"], "was disturbed by", disturbed)
        live = {p["name"]: p for p in program.run(properties, which)["properties"]}
        same(f"{which}: ids", {name: p.get("id") for name, p in live.items()}, {name: p.get("id") for name, p in found.items()})


def check_properties(portent, folder):
    program = make_c(portent, folder)
    for texts in ((RACES,), (BLOCK,), (MIXED,), (MIXED, RACES), (NEXT,), ALIASES):
        properties = program.properties(*texts)
        for which in "pegstimMcnlNCxwEI" if len(texts) > 1 else "pgmcnCwEI":
            program.both(properties, which)
    program.both(program.properties(MIXED + RACES), "p", "a name")
    found = program.both(program.properties(NEXT), "L")
    same("the fork", found["forks"]["first"]["event"]["object"], "idle#3")
    same("the join", found["joins"]["first"]["event"]["object"], "idle#3")
    same("the lock", found["does"]["first"]["event"]["object"], "latches[1]")
    found = program.both(program.properties(*ALIASES), "p")
    same("names of values", [list(found[name]["first"]["values"]) for name in ("sum", "other")], [["second", "first"], ["x", "plain"]])
    same("a function without debug information", program.both(program.properties(MIXED), "p")["quiet"]["thread"], "silent")


def check_cpp(portent, folder):
    suite.write(os.path.join(folder, "names.cc"), CPP_SOURCE)
    program = Program(portent, folder, "cpp", "c++", os.path.join(folder, "names.cc"))
    properties = program.properties(CPP_PROPERTIES)
    for which, thing in CPP_THINGS.items():
        found = program.both(properties, which)
        if thing or found["races"]["verdict"] == "violated":
            is_raced_on(which, found["races"], thing)
    # A comma cannot stand in a trace's clocks; who names the thread by its function is understood there too.
    properties = program.properties('property t at "work<char, int>": ns::deep == 0;\n')
    found = program.both(properties, "dt")["t"]
    same("a thread with a comma", (found["verdict"], found["first"]["thread"]), ("violated", "work<char_ int>"))


def check_baselines(portent, folder):
    """What was found by one is known to the other; so is what was set aside."""
    program = make_c(portent, folder)
    properties, old = program.properties(RACES), program.path + "-old.json"
    for which in ("e", "g", "m"):
        program.both(properties, which)
        trace = program.path + ".trace"
        expect(0, program.check(properties, "--baseline", program.path + ".json"))
        suite.write(old, program.check(properties).stdout)
        expect(0, run(portent, "run", *properties, "--baseline", old, "--", program.path, which))
        expect(1, run(portent, "check", *properties, trace))
    lines = program.path + ".suppressions"
    suite.write(lines, "race:^elements\\[2]$\n".replace("\\", ""))
    program.both(properties, "e")
    expect(0, program.check(properties, "--suppressions", lines))
    expect(0, run(portent, "run", *properties, "--suppressions", lines, "--", program.path, "e"))
    # An address says little: run, which knows what the source says there, says that.
    done = expect(FOUND, run(portent, "run", *properties, "--", program.path, "n"))
    suite.contains(done.stderr, "Data race on node->value")


def main():
    parser = argparse.ArgumentParser(description="What things are called.")
    parser.add_argument("portent", type=os.path.abspath)
    options = parser.parse_args()
    passed = failed = 0
    for test in (check_things, check_properties, check_cpp, check_baselines):
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(options.portent, folder)
                passed += 1
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED {test.__name__[6:]}: {failure}")
    print(f"names: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
