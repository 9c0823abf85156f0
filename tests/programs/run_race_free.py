#!/usr/bin/env python3
"""race_free properties: run_race_free.py PORTENT

What contract section 2 says of them, where the random programs (oracle/run_race_programs.py) do not go: `portent run`, the same run
recorded and given to `check`, and the program alone with the properties embedded must give the same verdicts. Then what follows from a
violation (portent_on_violation, halt_on_error, suppressions), names that the program gives itself, and answers that are not whole.
The last line is `race-free: N passed, M failed`.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

import suite
from suite import Failure, contains, run, same

FOUND, NOT_WHOLE = 66, 67

SOURCE = """#include <portent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
struct tank { int level; struct { short low, high; } in[2]; } tank, other;
int x, y, guarded, seen;
int grid[4][4];
static int hidden;
int *heap;
long *watched;
atomic_int counter;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void called(void *unused, const char *property) { (void)unused; printf("called for %s\\n", property); }
static void guard(void) { pthread_mutex_lock(&lock); guarded++; pthread_mutex_unlock(&lock); counter++; }
static void *write_x(void *a) { guard(); x = 1; return a; }
static void *read_x(void *a) { guard(); seen += x; return a; }
static void *only_y(void *a) { guard(); y++; return a; }
static void *fill(void *a) { guard(); tank.in[1].high = 3; grid[2][1] = 4; return a; }
static void *use(void *a) { guard(); seen = heap[1]; return a; }
static void *give_back(void *a) { guard(); free(heap); return a; }
static void *count(void *a) { guard(); *watched += 1; return a; }
static void *hide(void *a) { guard(); hidden++; return a; }
static void two(void *(*one)(void *), void *(*and)(void *))
{
    pthread_t t[2];
    setvbuf(stdout, NULL, _IONBF, 0);
    portent_on_violation(called, NULL);
    if (pthread_create(&t[0], NULL, one, NULL) || pthread_create(&t[1], NULL, and, NULL))
        exit(9);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
}
int main(int argc, char **argv)
{
    heap = calloc(4, sizeof *heap);
    watched = calloc(1, sizeof *watched);
    portent_watch(watched, sizeof *watched, PORTENT_INT, "balance");
    other.level = 1;
    switch (argc > 1 ? *argv[1] : 0) {
    case 'r': two(write_x, read_x); break;
    case 'y': two(only_y, only_y); break;
    case 'f': two(fill, fill); break;
    case 'u': two(use, give_back); break;
    case 'w': two(count, count); break;
    case 'h': two(hide, hide); break;
    default: two(hide, write_x);
    }
    return 0;
}
"""
PROPERTIES = """var high = tank.in[1].high;
thread reader = read_x;
property x at each i: race_free(x);
property y: race_free(y);
property safe at each i: race_free(guarded) && race_free(counter);
property any: always race_free(*);
property tank: race_free(tank);
property high at each i: race_free(high);
property low: race_free(tank.in[1].low) && race_free(tank.level);
property other: race_free(other);
property row at each i: race_free(grid[2]);
property row1: race_free(grid[1]);
property balance at each i: race_free(balance);
property hidden: race_free(hidden);
property reader at reader: race_free(*);
property main at main: race_free(*);
"""
# What races, by the program's argument. DAME's formula has neither r, whose reader never writes x, nor u.
RACES = {"r": "any reader x", "y": "any y", "f": "any high row tank", "u": "any", "w": "any balance", "h": "any hidden", "-": ""}


def findings(result):
    return {p["name"]: p for p in result["properties"]}


def violated(result):
    """All are of kind race, with findings that have both sides."""
    found = findings(result)
    for p in found.values():
        same(f"{p['name']}: kind", p["kind"], "race")
        same(f"{p['name']}: findings", bool(p["findings"]), p["verdict"] == "violated")
        for race in p["findings"]:
            if race["first"]["thread"] == race["second"]["thread"] or not race["second"]["loc"].startswith("a.c:"):
                raise Failure(f"{p['name']}: {race}")
    return sorted(name for name, p in found.items() if p["verdict"] == "violated")


class Program:
    def __init__(self, portent, folder, source=SOURCE, properties=PROPERTIES, flags=("-O2",)):
        self.portent, self.folder = portent, folder
        suite.write(os.path.join(folder, "a.c"), source)
        suite.write(os.path.join(folder, "a.prop"), properties)
        self.do(0, portent, "cc", "-g", *flags, "-pthread", "a.c", "-o", "a")
        self.do(0, portent, "compile", "-s", "a.prop", "-o", "a.ptc", "a")

    def do(self, status, *command, options=None):
        done = run(*command, cwd=self.folder, options=options)
        if done.returncode not in (status if isinstance(status, tuple) else (status,)):
            raise Failure(f"{command}: status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
        return done

    def live(self, *arguments, more=(), options=None, status=(0, FOUND)):
        done = self.do(status, self.portent, "run", "-s", "a.prop", "-r", "a.json", *more, "--", "./a", *arguments, options=options)
        with open(os.path.join(self.folder, "a.json"), encoding="utf-8") as file:
            return json.load(file), done

    def alone(self, *arguments, more="", status=(0, FOUND)):
        return self.do(status, "./a", *arguments, options=f"properties=a.ptc{more}")


def check_verdicts(portent, folder, flags):
    """run, check on the recording, the program alone."""
    program = Program(portent, folder, flags=flags)
    for argument, names in RACES.items():
        expected = names.split()
        status = FOUND if expected else NOT_WHOLE  # no thread is called read_x there
        result, _ = program.live(argument, status=status)
        same(f"{argument}: run", violated(result), expected)
        result, _ = program.live(argument, more=("-o", "a.trace"), status=status)
        same(f"{argument}: run and record", violated(result), expected)
        if argument != "u":  # a recording of a program has no free
            done = program.do((0, 1), portent, "check", "--json", "--order", "access", "-s", "a.prop", "a.trace")
            same(f"{argument}: check", (violated(json.loads(done.stdout)), done.returncode), (expected, 1 if expected else 0))
        done = program.alone(argument)
        told = set(re.findall(r"^  It violates property '(\w+)'", done.stderr, re.M))
        same(f"{argument}: alone", (sorted(told), done.returncode), (expected, FOUND if expected else 0))
        same(f"{argument}: called", sorted(set(re.findall(r"called for (\w+)", done.stdout))), expected)


def check_report(portent, folder):
    """A finding has stacks, locks and the heap block, as --races has; a text names the property."""
    program = Program(portent, folder)
    result, done = program.live("u")
    (race,) = findings(result)["any"]["findings"]
    same("sides", {race["first"]["op"], race["second"]["op"]}, {"r", "free"})
    for side in (race["first"], race["second"]):
        if not side["stack"] or "created" not in side:
            raise Failure(f"a side lacks its stack or where its thread was created: {side}")
    same("block", race["block"]["size"], 16)
    contains(done.stderr, "SUMMARY: portent: observed violation of 'any'")
    both, _ = program.live("r", more=("--races",))
    found = findings(both)
    same("races beside it", [race["object"] for race in found["races"]["findings"]], ["x"])
    same("property beside it", [race["object"] for race in found["x"]["findings"]], ["x"])
    same("id of its own", len({found[name]["findings"][0]["id"] for name in ("races", "x", "any")}), 3)


def check_consequences(portent, folder):
    """Suppressions by variable and by the property's name; halt_on_error; exitcode."""
    program = Program(portent, folder, properties="property x at each i: race_free(x);\nproperty y: race_free(y);\n")
    lines = os.path.join(folder, "lines")
    for line in ("race:^x$", "property:x", "race:^read_x$", "race:write_x"):
        suite.write(lines, line + "\n")
        done = program.live("r", more=("--suppressions", lines))[1]
        same(f"{line}: run", (done.returncode, done.stdout), (0, ""))
        done = program.alone("r", more=f":suppressions={lines}")
        same(f"{line}: alone", (done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = program.live("y", more=("--suppressions", lines))[1]
        same(f"{line}: another", done.returncode, FOUND)
    halted = program.alone("r", more=":halt_on_error=1:exitcode=9", status=9)
    contains(halted.stderr, "property 'x' is violated; halt_on_error ends the program")
    same("called before it ends", halted.stdout, "called for x\n")
    program.alone("r", more=":exitcode=0", status=0)


FOREIGN = """#include <pthread.h>
#include <string.h>
int x, y;
void strange(int *);
static void *worker(void *a) { y = 1; return a; }
int main(int argc, char **argv)
{
    pthread_t t;
    (void)argv;
    if (pthread_create(&t, 0, worker, 0))
        return 1;
    pthread_join(t, 0);
    x = 1;
    if (argc > 1)
        strange(&x);
    return x == 7;
}
"""


def check_not_whole(portent, folder):
    """What is missing is never taken for an answer: a variable that strange code writes, a thread that never ran, a trace of
    relevant events alone, races that --preload cannot see; names that are not there are refused."""
    suite.write(os.path.join(folder, "strange.c"), "void strange(int *p) { *p = 3; }\n")
    if run("cc", "-c", "strange.c", "-o", "strange.o", cwd=folder).returncode:
        raise Failure("strange.c does not compile")
    program = Program(portent, folder, FOREIGN, "property x: race_free(x);\nproperty y: race_free(y);\n", ("-O1", "strange.o"))
    same("whole", program.live()[1].returncode, 0)
    result, done = program.live("strange", status=NOT_WHOLE)
    same("verdicts", [p["verdict"] for p in result["properties"]], ["unknown", "holds"])
    contains(done.stderr, "code that is not instrumented wrote x")
    suite.write(os.path.join(folder, "never.prop"), "property p at worker#2: race_free(*);\n")
    contains(program.do(NOT_WHOLE, portent, "run", "-s", "never.prop", "--", "./a").stderr, "named what was not observed")
    suite.write(os.path.join(folder, "wrong.prop"), "property p: race_free(xx);\n")
    contains(program.do(2, portent, "run", "-s", "wrong.prop", "--", "./a").stderr, "the program has no variable 'xx'")
    suite.write(os.path.join(folder, "part.prop"), "property p at each i: race_free(x) || race_free(y);\n")
    contains(program.do(2, portent, "run", "-s", "part.prop", "--", "./a").stderr, "may not be part of another formula")
    suite.write(os.path.join(folder, "all.prop"), "property p: race_free(*);\n")
    contains(program.do(2, portent, "run", "--preload", "-s", "all.prop", "--", "./a").stderr, "--preload sees no memory accesses")
    suite.write(os.path.join(folder, "level.prop"), "property l: x < 5;\n")
    program.do(0, portent, "run", "-s", "level.prop", "-o", "few.trace", "--", "./a")
    contains(program.do(3, portent, "check", "-s", "all.prop", "few.trace").stdout, "relevant events alone")
    contains(program.do(2, portent, "automaton", "race_free(x)").stderr, "has no automaton")


def main():
    portent = os.path.abspath(sys.argv[1])
    tests = {"verdicts": lambda folder: check_verdicts(portent, folder, ("-O2",)),
             "verdicts, -O0": lambda folder: check_verdicts(portent, folder, ("-O0",)),
             "report": lambda folder: check_report(portent, folder),
             "consequences": lambda folder: check_consequences(portent, folder),
             "not whole": lambda folder: check_not_whole(portent, folder)}
    passed = failed = 0
    for name, test in tests.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                passed += 1
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"race-free: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
