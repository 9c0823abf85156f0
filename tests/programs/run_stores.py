#!/usr/bin/env python3
"""Every write counts: run_stores.py PORTENT [NAME...]

Programs whose stores an optimiser would delete, merge or move, at every level and with link-time optimisation: what is recorded is what the
source says, in its order and at its lines. The programs are in stores/, and random (random_stores.py). Atomic objects of any size, too. The
last line is `stores: N passed, M failed`.
"""
import itertools
import os
import random
import re
import shutil
import sys

import random_stores
from suite import Failure, Suite, contains, in_folder, run, same, true, write

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stores")
PORTENT = ""
SUITE = Suite("stores")
test = SUITE.test
FUNCTIONS = 400  # of a random program
FOUND = 66


def has_lld():
    """An ld.lld of the version of clang that `portent cc` runs."""
    linker = shutil.which(run(PORTENT, "cc", "-print-prog-name=ld.lld").stdout.strip())
    major = r"(?:LLD|clang version) (\d+)"
    versions = [run(*command, "--version").stdout for command in ((linker,), (PORTENT, "cc"))] if linker else []
    return len({re.search(major, text)[1] for text in versions}) == 1


def levels():
    yield from (["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-Os"])
    if has_lld():
        yield from (["-O2", flavour, "-fuse-ld=lld"] for flavour in ("-flto", "-flto=thin"))
    else:
        print("without link-time optimisation: no ld.lld of clang's version here")


def build(language, *flags):
    done = run(PORTENT, language, "-w", "-g", "-pthread", *flags)
    same(f"exit status of portent {language} {flags}: {done.stderr}", done.returncode, 0)


def recorded(variables, program="./prog"):
    """The writes in the trace of a run, as (line, variable, value)."""
    write("all.prop", "".join(f"property p{i}: {name} < 2000000000;\n" for i, name in enumerate(variables)))
    done = run(PORTENT, "run", "-q", "-s", "all.prop", "-o", "all.trace", "--", program)
    same(f"exit status: {done.stderr}", done.returncode, 0)
    with open("all.trace", encoding="utf-8") as file:
        found = [re.match(r"[^|]*\|[wu]\((.*?)\)=([^|]*)\|.*?:(\d+)\|", line) for line in file if line[0] not in "-#"]
    return [(int(one[3]), one[1], float(one[2])) for one in found]


def in_one_step(writes):
    """Those of one line in alphabetical order: the members of a structure that is copied have no other."""
    return [(line, sorted(group)) for line, group in itertools.groupby(writes, key=lambda one: one[0])]


def first_difference(found, expected):
    for number, (one, other) in enumerate(itertools.zip_longest(found, expected)):
        if one != other:
            return f"write {number}: {one}, expected {other}"
    return ""


def same_as_stated(name, language):
    """What is recorded is what the comments of the source say."""
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        stated = re.findall(r"writes: (.*)", file.read())
    expected = [(one.split("=")[0], float(one.split("=")[1])) for line in stated for one in line.split()]
    for flags in levels():
        build(language, *flags, os.path.join(HERE, name), "-o", "prog")
        found = [one[1:] for _, step in in_one_step(recorded(sorted({name for name, _ in expected}))) for one in step]
        true(f"{flags}: {first_difference(found, expected)}", found == expected)


@test
def every_kind_of_store():
    same_as_stated("writes.c", "cc")


@test
def constructors_and_references():
    same_as_stated("objects.cc", "c++")


@test
def random_programs():
    rng = random.Random(13)
    for flags in levels():
        text, writes = random_stores.program(rng, FUNCTIONS)
        write("prog.c", text)
        build("cc", *flags, "prog.c", "-o", "prog")
        found, expected = (in_one_step(one) for one in (recorded(random_stores.WATCHED), writes))
        true(f"{flags}: {first_difference(found, expected)}", found == expected)
        true(f"only {len(writes)} writes", len(writes) > 10 * FUNCTIONS)


def message(*flags):
    build("c++", *flags, os.path.join(HERE, "message.cc"), "-o", "prog", "-latomic")


def judged(prop, *more):
    write("one.prop", prop)
    return run(PORTENT, "run", *more, "-s", "one.prop", "--", "./prog")


@test
def large_atomics_do_not_race():
    """Neither as they are judged in the run, nor in its recording; and what they publish is ordered."""
    for level in ("-O0", "-O2"):
        message(level)
        done = judged("property silent at each i: race_free(*);")
        same(f"{level}: {done.stdout}{done.stderr}: status", done.returncode, 0)
        judged("property any: payload >= 0;", "--record-all", "-o", "all.trace")
        write("races.prop", "property silent at each i: race_free(*);")
        done = run(PORTENT, "check", "-s", "races.prop", "all.trace")
        same(f"{level}: recorded: {done.stdout}{done.stderr}: status", done.returncode, 0)


@test
def what_is_not_published_still_races():
    for level in ("-O0", "-O2"):
        message(level, "-DRACE")
        done = judged("property silent at each i: race_free(*);")
        same(f"{level}: status", done.returncode, FOUND)
        if "payload" not in done.stdout + done.stderr or "box" in done.stdout + done.stderr:
            raise Failure(done.stdout + done.stderr)


@test
def values_of_large_atomics():
    for level in ("-O0", "-O1", "-O2"):
        message(level)
        found = [one[1:] for one in recorded(["box.number", "box.c", "expected.number", "expected.c"])]
        number, last = "box.number", "box.c"
        expected = [(number, 1), (last, 4), ("expected.number", 1), ("expected.c", 4), (number, 2), (last, 5), (number, 3), (last, 6)]
        true(f"{level}: {first_difference(found, expected)}", found == expected)


C_PAIRS = """#include <stdatomic.h>
struct pair { int lo, hi; };
typedef _Atomic struct pair atomic_pair;
atomic_pair pair;
struct { atomic_pair in; int other; } outer, *reached = &outer;
struct pair plain;
int main(void)
{
    for (int i = 1; i < 4; i++) {
        atomic_store(&pair, ((struct pair){i, i}));
        atomic_store(&outer.in, ((struct pair){i, i}));
        outer.other = i;
        plain = (struct pair){i, i};
    }
    return 0;
}
"""


@test
def two_parts_of_an_atomic_structure_are_refused():
    """One store writes both: a property of the two would be broken in a state that no thread can see."""
    message("-O1")
    refused = "are parts of one atomic structure, which is stored in one step"
    for prop in ("always box.number == 0 || box.c == box.number + 3", "box.c >= box.b at each i"):
        prop, _, at = prop.partition(" at ")
        done = judged(f"property both{' at ' + at if at else ''}: {prop};")
        same(f"{prop}: status", done.returncode, 2)
        contains(done.stderr, refused)
    same("parts of two", judged("property two: always box.c < 9 && expected.c < 9;").returncode, 0)
    write("pairs.c", C_PAIRS)
    build("cc", "-O1", "pairs.c", "-o", "prog", "-latomic")
    for prop, status in (("pair.lo == pair.hi", 2), ("outer.in.lo == outer.in.hi", 2), ("lo == hi", 2),
                         ("outer.in.lo >= outer.other", 0), ("plain.lo <= 3 && plain.hi <= 3", 0), ("pair.hi <= 3 && outer.in.lo <= 3", 0)):
        done = judged(f"var lo = reached->in.lo; var hi = reached->in.hi;\nproperty p: always {prop};")
        same(f"{prop}: {done.stderr}: status", done.returncode, status)
        if status:
            contains(done.stderr, refused)


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    sys.exit(SUITE.run(sys.argv[2:], in_folder))


if __name__ == "__main__":
    main()
