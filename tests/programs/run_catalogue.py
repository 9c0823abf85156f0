#!/usr/bin/env python3
"""The catalogue of races: run_catalogue.py PORTENT [NAME...] [--by WAY]... [--jobs N] [--keep FOLDER] [--tsan]

Each program of ../races/programs is compiled by `portent cc` or `portent c++` at -O0 and -O2 and looked through for races in four ways:
`check`, on a full recording; `run`, while it runs; `alone`, by PORTENT_OPTIONS=races=1 without an observer; and `sampled`, the same with
sample=1000, which looks at all of a program this small, by the twins of its functions, so at -O2 alone. Each must find exactly
the pairs of places that the head of the program lists, and the program must do what it does (status 0). --tsan asks ThreadSanitizer
instead, whose places must be the same too, where the head does not say why not. ../races/README.md says how a head is written. The
last line is `catalogue: N passed, M failed`; what is counted is a program at a level, seen in one way.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

from suite import Failure, run, same, true

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "races")
KEYS = ("race", "tsan", "open", "flags", "libraries", "levels", "status", "without")
# A finding: the variable, and both places as (kinds, line), sorted by line. The kinds are a set of r, w, u and free.
Race = collections.namedtuple("Race", "variable first second")


class Program:
    """A source, and what its head says."""

    def __init__(self, path):
        self.path, (self.name, suffix) = path, os.path.splitext(os.path.basename(path))
        self.language = "c++" if suffix == ".cpp" else "cc"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        asks = re.findall(r"^ \* ([a-z]+): (.*)$", text.partition("*/")[0], re.M)
        unknown = {key for key, _ in asks} - set(KEYS)
        if unknown or not any(key == "race" for key, _ in asks):
            raise Failure(f"{path}: the head has {sorted(unknown)}, and these keys: {asks}")
        self.asks = dict(asks)
        self.marks = {mark: number for number, line in enumerate(text.splitlines(), 1)
                      for mark in re.findall(r"/\* ([A-Z]) \*/", line)}
        self.races = sorted(self.race(value) for key, value in asks if key == "race" and value != "none")

    def race(self, value):
        variable, *sides = value.split()
        sides = [side.split(":") for side in sides]
        marks = {**self.marks, "none": 0}  # the end of a thread has no place in the source
        if len(sides) != 2 or any(mark not in marks for _, mark in sides):
            raise Failure(f"{self.path}: 'race: {value}' is not two marked places")
        return Race(variable, *sorted((marks[mark], kinds) for kinds, mark in sides))

    def get(self, key, default=""):
        return self.asks.get(key, default)

    def levels(self):
        return self.get("levels", "-O0 -O2").split()


def command_of(compiler, program, level):
    """All of a compilation but its files."""
    return [*compiler, level, "-g", "-Wall", "-Werror", "-pthread", "-D_GNU_SOURCE", "-I", HERE, *program.get("flags").split()]


def object_of(folder, program, level):
    return os.path.join(folder, level, program.name + ".o")


def compile_objects(compiler_of, jobs, folder, pool):
    """The objects of (program, level)s, many by one call of the compiler, which takes long to start. What cannot be compiled has none: who
    needs it says why."""
    calls = collections.defaultdict(list)
    for program, level in jobs:
        calls[tuple(command_of(compiler_of(program), program, level)), level].append(program.path)
        os.makedirs(os.path.join(folder, level), exist_ok=True)
        if os.path.exists(object_of(folder, program, level)):  # of an earlier run, which was kept
            os.remove(object_of(folder, program, level))
    parts = [([*command, "-c", *paths[i:i + 16]], os.path.join(folder, level))
             for (command, level), paths in calls.items() for i in range(0, len(paths), 16)]
    list(pool.map(lambda part: run(*part[0], cwd=part[1], timeout=3600), parts))


def compile_one(compiler, program, level, target, turns):
    compiled = object_of(os.path.dirname(target), program, level)
    command = [*command_of(compiler, program, level), compiled if os.path.exists(compiled) else program.path, turns, "-o", target,
               *program.get("libraries").split()]
    built = run(*command)
    if built.returncode:
        raise Failure(f"{shlex.join(command)}\n{built.stderr}")


def base(variable):
    """What a head calls it: the variable without its members; `*` where it has no name, or one that only the source of the access has."""
    name = re.split(r"[.\[+]", variable.rpartition("::")[2])[0]
    return "*" if not name or re.search(r"^0x[0-9a-f]+(#\d+)?$|^h\d+$|\?\?|\*|->", variable) else name


def line_of(place):
    """0 where there is none: the end of a thread."""
    found = re.search(r":(\d+)$", place or "")
    return int(found[1]) if found else 0


def results(answer):
    """One for each process."""
    return [process["result"] for process in answer["processes"]] if "processes" in answer else [answer]


def of_json(answer):
    """The findings of a result."""
    checks = [found for part in results(answer) for found in part["properties"] if found["kind"] == "race"]
    for finding in [finding for found in checks for finding in found["findings"]]:
        sides = sorted((line_of(side["loc"]), side["op"]) for side in (finding["first"], finding["second"]))
        yield Race(base(finding["object"]), *sides)


SIDE = re.compile(r"^  (?:\[[^]]*\] *)*(?:Previous )?(?P<atomic>atomic )?(?P<op>read|write|update|free|\[failed to restore the stack\])\b.*?:\n"
                  r"(?P<stack>(?:    #.*\n|    \[.*\n)*)", re.M | re.I)
KINDS = {"read": "r", "write": "w", "update": "u", "free": "free"}


def of_text(text, program):
    """The findings in ThreadSanitizer's form. The place of a side is its innermost frame in the program's own source."""
    for report in re.split(r"^={10,}\n", text, flags=re.M):
        if "data race" not in report and "use-after-free" not in report:
            continue
        sides = []
        for side in SIDE.finditer(report):
            lines = re.findall(re.escape(os.path.basename(program.path)) + r":(\d+)", side["stack"])
            kind = "free" if re.search(r"#0 (free|realloc|operator delete|munmap)", side["stack"]) else KINDS[side["op"].lower()]
            sides.append((int(lines[0]) if lines else 0, kind))
        named = re.search(r"Location is (?:global '(?:[^']*(?:::|\.))?|')([^']*)'", report)  # ThreadSanitizer calls f's static x f.x
        if len(sides) != 2:
            raise Failure(f"{len(sides)} sides in:\n{report}")
        yield Race(base(named[1]) if named else "*", *sorted(sides))


def problem(found, expected, names):
    """None, or what differs: each expected pair of places is found, no other is, and each by accesses of a kind that it allows. Where the
    head has no name for the memory, any is right; without `names`, none is right too."""
    def alike(race, wanted):
        named = wanted.variable in ("*", race.variable) or (not names and race.variable == "*")
        return named and any(one[0] == wanted.first[0] and two[0] == wanted.second[0] and
                             fits(one[1], wanted.first[1]) and fits(two[1], wanted.second[1])
                             for one, two in ((race.first, race.second), (race.second, race.first)))
    missing = [wanted for wanted in expected if not any(alike(race, wanted) for race in found)]
    extra = [race for race in found if not any(alike(race, wanted) for wanted in expected)]
    return f"missing {shown(missing)}; extra {shown(extra)}" if missing or extra else None


def fits(kind, kinds):
    return kind == kinds or kind in list(kinds)


def shown(races):
    return ", ".join(f"{race.variable} {race.first[1]}:{race.first[0]} {race.second[1]}:{race.second[0]}" for race in races) or "nothing"


def check(portent, program, binary):
    """By `check --races` on a full recording, in the order of that run: what turns.c keeps in order is not recorded, so other orders have more."""
    for trace in glob.glob(binary + ".ptb*"):
        os.remove(trace)
    done = run(portent, "run", "--record-all", "-o", binary + ".ptb", "--", binary)
    same(f"status of recording it ({done.stderr})", done.returncode, int(program.get("status", "0")))
    found = []
    for trace in glob.glob(binary + ".ptb*"):  # a process that was started has its own
        done = run(portent, "check", "--races", "--order", "access", "--json", trace)
        true(f"status {done.returncode} of check: {done.stderr}", done.returncode in (0, 1))
        found += of_json(json.loads(done.stdout))
    return found


def while_running(portent, program, binary):
    """By `run --races`."""
    result = binary + ".json"
    done = run(portent, "run", "--races", "-r", result, "--", binary)
    true(f"status {done.returncode} of running it ({done.stderr})", done.returncode in (66, int(program.get("status", "0"))))
    with open(result, encoding="utf-8") as file:
        found = list(of_json(json.load(file)))
    same("status 66", done.returncode == 66, bool(found))
    return found


def alone(_, program, binary, options="races=1"):
    """By the program itself."""
    done = run(binary, options=options)
    found = list(of_text(done.stderr, program))
    same(f"status of the program by itself ({done.stderr})", done.returncode, 66 if found else int(program.get("status", "0")))
    return found


def sampled(_, program, binary):
    return alone(_, program, binary, "races=1:sample=1000")


def sanitized(_, program, binary):
    done = subprocess.run([binary], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False,
                          env={**os.environ, "TSAN_OPTIONS": "detect_deadlocks=0:exitcode=0:suppress_equal_addresses=0:suppress_equal_stacks=0"})
    return list(of_text(done.stderr, program))


WAYS = {"check": check, "run": while_running, "alone": alone, "sampled": sampled}


def is_of(program, way, key):
    """Does a line of the head speak of this way? What it says of `alone` is true of `sampled`, too."""
    ways = program.get(key).partition(",")[0].split()
    return way in ways or (way == "sampled" and "alone" in ways)


def ways_at(program, level, ways):
    return [way for way in ways if not is_of(program, way, "without") and (way != "sampled" or level != "-O0")]


def compiler_of(portent, ways, program):
    if ways == ["tsan"]:
        return ["clang++" if program.language == "c++" else "clang", "-fsanitize=thread"]
    return [portent, program.language]


def one(portent, program, level, ways, folder, turns):
    """What is wrong with one program at one level, by way."""
    wrong = {}
    binary = os.path.join(folder, program.name + level)
    try:
        compile_one(compiler_of(portent, ways, program), program, level, binary, turns)
    except Failure as failure:
        return dict.fromkeys(ways, str(failure))
    for way in ways:
        try:
            found = {**WAYS, "tsan": sanitized}[way](portent, program, binary)
            wrong[way] = problem(found, program.races, way in ("check", "run"))
            if way == "tsan" and program.get("tsan"):
                wrong[way] = None
            if is_of(program, way, "open"):
                wrong[way] = None if wrong[way] else f"the head says that it is open: {program.get('open')}, and it is right now"
        except Exception as failure:  # whatever it is, the other programs still run
            wrong[way] = f"{type(failure).__name__} {failure}"
    return wrong


def main():
    parser = argparse.ArgumentParser(description="Races of small programs, exactly.")
    parser.add_argument("portent")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--by", action="append", choices=WAYS, help="look at them in this way (default: all)")
    parser.add_argument("--tsan", action="store_true", help="compare ThreadSanitizer's places instead")
    parser.add_argument("--jobs", type=int, default=2, help="programs side by side")
    parser.add_argument("--keep", help="a folder for what is built")
    options = parser.parse_intermixed_args()
    portent, passed, failed = os.path.abspath(options.portent), 0, 0
    programs = [Program(path) for path in sorted(glob.glob(os.path.join(HERE, "programs", "*.c*")))]
    programs = [program for program in programs if not options.names or program.name in options.names]
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        turns = os.path.join(folder, "turns.o")
        same("compiling turns.c", run("clang", "-O2", "-D_GNU_SOURCE", "-c", os.path.join(HERE, "turns.c"), "-o", turns).returncode, 0)
        ways = ["tsan"] if options.tsan else options.by or list(WAYS)
        jobs = [(program, level, ways_at(program, level, ways)) for program in programs for level in program.levels()]
        compile_objects(lambda program: compiler_of(portent, ways, program), [job[:2] for job in jobs], folder, pool)
        for (program, level, _), wrong in zip(jobs, pool.map(lambda job: one(portent, *job, folder, turns), jobs)):
            for way, what in wrong.items():
                passed, failed = passed + (what is None), failed + (what is not None)
                if what is not None:
                    print(f"FAILED {program.name} {level}, {way}: {what}", flush=True)
    print(f"{len(programs)} programs, {sum(not program.races for program in programs)} of them free of races")
    print(f"catalogue: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
