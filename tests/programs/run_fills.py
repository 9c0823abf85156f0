#!/usr/bin/env python3
"""Tests of what is written behind the back of instrumented code: run_fills.py PORTENT [NAME...]

For every row of src/core/sync.def that fills memory a call whose value a property must see (fill_rows.py); stores that nobody can see,
which must leave the verdict unknown; and objects that are named late. The programs are in fills/. The last line is
`fills: N passed, M failed`.
"""
import json
import os
import re
import sys

import fill_rows
from suite import Failure, Suite, contains, in_folder, run, same, true, write

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fills")
PORTENT = ""
SUITE = Suite("fills")
test = SUITE.test
FOUND = 66
NOT_WHOLE = 67


def compile_with(compiler, *arguments):
    done = run(*compiler, "-g", "-pthread", *arguments)
    same(f"exit status of {compiler}: {done.stderr}", done.returncode, 0)


def build(name, *arguments, level="-O1"):
    compile_with([PORTENT, "cc"], level, os.path.join(HERE, name + ".c"), *arguments, "-o", name)


def observe(properties, *command, options=(), status):
    """The result of a run, and what it said."""
    write("p.prop", properties)
    done = run(PORTENT, "run", "-s", "p.prop", "-r", "r.json", *options, "--", *command)
    same(f"status ({done.stderr})", done.returncode, status)
    with open("r.json", encoding="utf-8") as file:
        return json.load(file), done


def verdicts(result):
    return {found["name"]: found["verdict"] for found in result["properties"]}


@test
def every_row_has_a_case():
    """A function that fills memory has a row, and each row a call that shows it."""
    rows = fill_rows.rows()
    same("rows without a case", [name for name in rows if name not in fill_rows.CASES and name not in fill_rows.ELSEWHERE], [])
    same("cases without a row", [name for name in fill_rows.CASES if name.split(":")[0] not in rows], [])


def place_of(name, line, static):
    """Where the write must be said to stand. Threads are announced only where all their events are recorded; a function that takes a list
    stands in the one that makes it."""
    row = name.split(":")[0]
    if static and row in ("getline", "__mempcpy_chk"):  # the report is that of the other function which it calls
        return rf"fills\.c:{line}|-"
    if re.match(r"(pthread|thrd)_\w*(create|join)", row):
        return r"-"
    return rf"fills\.c:{line}" if row not in fill_rows.LISTS and "_v" not in row and not row.startswith("vs") and not row.startswith("vf") \
        else r"fills\.c:\d+"


def check_cases(names, *flags):
    program, properties, lines = fill_rows.program(names)
    write("fills.c", program)
    compile_with([PORTENT, "cc"], "-w", "-D__NO_INLINE__", "-Wl,--no-warnings" if "-static" in flags else "-w", *flags, "fills.c", "-o", "fills")
    result, _ = observe(properties, "./fills", status=FOUND)
    wrong = []
    for (name, line), found in zip(lines.items(), result["properties"]):
        seen = found["witness"][-1]["loc"] if found.get("witness") else ""
        if found["verdict"] != "violated" or not re.fullmatch(place_of(name, line, "-static" in flags), seen):
            wrong.append(f"{name}: {found['verdict']} at {seen or '-'}, line {line}: {found.get('message', '')}")
    if wrong:
        raise Failure("\n".join(wrong))


@test
def every_row_is_seen():
    check_cases(list(fill_rows.CASES), "-O1")


@test
def optimised_too():
    """Where the optimiser would like to put another function in the place of one that fills."""
    check_cases(list(fill_rows.CASES), "-O2")


@test
def in_static_programs():
    names = [name for name in fill_rows.CASES if not name.startswith("getaddrinfo")]
    check_cases(names, "-O1", "-static")


@test
def fortified():
    """The headers put other functions in the place of these where they know the buffer's size."""
    write("p.c", "#include <stdio.h>\n#include <unistd.h>\nint a; char t[8];\nint main(int n, char **v)\n{\n"
                 "    int ends[2], ten = 10; FILE *f = tmpfile();\n    if (pipe(ends) || write(ends[1], &ten, 4) != 4 || "
                 'read(ends[0], &a, (unsigned)n * 4) != 4) return 1;\n    fputs("abc", f); rewind(f);\n    return !fgets(t, 3 + n, f);\n}\n')
    compile_with([PORTENT, "cc"], "-O2", "-D_FORTIFY_SOURCE=2", "p.c", "-o", "p")
    result, _ = observe('property a: a != 10; property t: t != "abc";', "./p", status=FOUND)
    same("verdicts", verdicts(result), {"a": "violated", "t": "violated"})


@test
def decentralised():
    """A fill is a write of its thread in decentralised properties, too."""
    build("pipes")
    result, _ = observe("property a at main: level < 5; property b at main: !write(level);", "./pipes", status=FOUND)
    same("verdicts", verdicts(result), {"a": "violated", "b": "violated"})


@test
def as_ever():
    """Functions that block are interrupted and cancelled as without an observer, and keep errno."""
    build("as_ever")
    plain = run("./as_ever")
    same("without an observer", (plain.returncode, plain.stderr), (0, ""))
    _, done = observe("property p: level >= 0;", "./as_ever", status=0)
    same("output", done.stdout, plain.stdout)
    for part in ("interrupted", "cancelled", "would block"):
        contains(done.stdout, part)


OUTSIDE = {"library": "lib", "assembly": "asm", "system call": "raw", "opted out": "opt", "before a store": "over"}


@test
def stores_outside():
    """A value that nobody could see written: unknown, never holds, and one line says of what, with -q, too."""
    compile_with(["clang"], "-O1", "-c", os.path.join(HERE, "plain.c"), "-o", "plain.o")
    build("outside", "plain.o")
    for what, argument in OUTSIDE.items():
        for name, prop in (("ltl", "property p: level < 1000;"), ("mttl", "property p at main: level < 1000;")):
            result, done = observe(prop + " property q: other >= 0;", "./outside", argument, status=NOT_WHOLE)
            same(f"{what}, {name}", verdicts(result), {"p": "unknown", "q": "holds"})
            same(f"{what}: reason", result["properties"][0]["message"], "code that is not instrumented wrote 'level'")
            contains(done.stderr, "portent: the answer is not whole: code that is not instrumented wrote level")
        quiet = run(PORTENT, "run", "-q", "-s", "p.prop", "--", "./outside", argument)
        same(f"{what}: when quiet", (quiet.returncode, quiet.stderr),
             (NOT_WHOLE, "portent: the answer is not whole: code that is not instrumented wrote level\n"))
        lenient = run(PORTENT, "run", "--lenient", "-s", "p.prop", "--", "./outside", argument)
        same(f"{what}: lenient", lenient.returncode, 0)


ENDS = {"exit": "level", "_exit": "level", "quick_exit": "level", "exit_group": "level", "free": "object", "map": "page.cell"}


@test
def last_stores_outside():
    """However a variable ends, its memory is looked at once more; what is mapped over it is not known."""
    build("ends")
    for way, name in ENDS.items():
        result, done = observe(f"property p: {name} < 1000;", "./ends", way, status=NOT_WHOLE)
        same(f"{way}: {done.stderr}", verdicts(result), {"p": "unknown"})


@test
def recordings_of_what_was_missed():
    """A recording does not have the value either, and so its check must not say that all holds."""
    build("ends")
    for options in (("-o", "f.trace"), ("-o", "f.ptb"), ("--record-all", "-o", "f.trace")):
        observe("property p: level < 1000;", "./ends", "exit", options=options, status=NOT_WHOLE)
        done = run(PORTENT, "check", "-s", "p.prop", options[-1])
        same(f"{options}: {done.stdout}", done.returncode, 3)


@test
def another_process():
    compile_with(["clang"], "-O1", "-c", os.path.join(HERE, "plain.c"), "-o", "plain.o")
    build("outside", "plain.o")
    result, _ = observe("property p: page < 1000;", "./outside", "shared", status=NOT_WHOLE)
    parent, child = (process["result"] for process in result["processes"])
    same("verdicts", (verdicts(parent), verdicts(child)), ({"p": "unknown"}, {"p": "holds"}))


@test
def a_violation_stays_one():
    compile_with(["clang"], "-O1", "-c", os.path.join(HERE, "plain.c"), "-o", "plain.o")
    build("outside", "plain.o")
    result, _ = observe("property p: level != 1;", "./outside", "lib", status=FOUND)
    same("verdicts", verdicts(result), {"p": "violated"})


@test
def nobody_names_it():
    """What was written outside is no reason where no property names it."""
    compile_with(["clang"], "-O1", "-c", os.path.join(HERE, "plain.c"), "-o", "plain.o")
    build("outside", "plain.o")
    result, _ = observe("property q: other >= 0;", "./outside", "lib", status=0)
    same("verdicts", verdicts(result), {"q": "holds"})


@test
def no_false_alarm():
    """Threads that hammer variables and bit-fields, handlers, sorting, freed memory and stacks that ended."""
    for level in ("-O0", "-O2"):
        build("hammer", level=level)
        result, done = observe("property p: level >= 0; property b: bits.a < 8; property s: sorted[0] >= 0; property o: obj >= 0; "
                               "property l: local >= 0;", "./hammer", status=0)
        same(f"verdicts ({done.stderr})", set(verdicts(result).values()), {"holds"})
        true(done.stderr, "instrumented" not in done.stderr)


@test
def named_late():
    """An object's initial value is the one it has in memory when it is named, after other events, too, and in the recording."""
    build("late")
    for options in ((), ("--record-all", "-o", "f.trace"), ("-o", "f.trace")):
        result, _ = observe("property p: obj >= 5; property q: event(end) && g == 1 -> obj == 5;", "./late", options=options, status=0)
        same(f"verdicts {options}", verdicts(result), {"p": "holds", "q": "holds"})
        if options:
            done = run(PORTENT, "check", "-s", "p.prop", "f.trace")
            same(f"check of the recording {options}: {done.stdout}", done.returncode, 0)


@test
def named_too_late():
    """More events than may wait: what was assumed until then is said."""
    build("late")
    result, done = observe("property p: g > 0 -> obj == 5 || obj == 0; property q: g >= 0;", "./late", "100000", status=NOT_WHOLE)
    same("verdicts", verdicts(result), {"p": "unknown", "q": "holds"})
    contains(done.stderr, "too late for its initial value to count, the program named obj")


@test
def named_in_decentralised_properties():
    """The threads took it to be 0: unknown, unless it is."""
    build("late")
    result, _ = observe("property p at main: obj < 9;", "./late", status=NOT_WHOLE)
    same("verdicts", verdicts(result), {"p": "unknown"})
    result, _ = observe("property p at main: zero < 9;", "./late", status=0)
    same("verdicts", verdicts(result), {"p": "holds"})


@test
def opened_late():
    """The variables of a library that the program opens."""
    compile_with([PORTENT, "cc"], "-shared", "-fPIC", os.path.join(HERE, "opened_lib.c"), "-o", "libopened.so")
    build("opened", "-ldl")
    result, _ = observe("property p: opened >= 5;", "./opened", options=("--module", "./libopened.so"), status=0)
    same("verdicts", verdicts(result), {"p": "holds"})


def main():
    global PORTENT
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PORTENT = os.path.abspath(sys.argv[1])
    return SUITE.run(sys.argv[2:], in_folder)


if __name__ == "__main__":
    sys.exit(main())
