#!/usr/bin/env python3
"""The catalogue of lifetimes: run_lifetimes.py PORTENT [NAME...] [--by WAY]... [--jobs N] [--keep FOLDER]

Each program of ../lifetimes/programs is compiled by `portent cc` or `portent c++` at -O0 and -O2, and looked at in three ways: `run
--lifetimes`; `all`, the same with races and deadlocks beside them; and `alone`, by PORTENT_OPTIONS=lifetimes=1 without an observer. Each must
find exactly what the head of the program lists, and no more. ../lifetimes/README.md says how a head is written. The last line is
`lifetimes: N passed, M failed`; what is counted is a program at a level, seen in one way.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import sys
import tempfile

import run_catalogue
from suite import Failure, run, same

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lifetimes")
KEYS = ("life", "flags", "libraries", "levels", "status", "without")
# A finding: what it is, whether it happened, and its sides as (kind, line), the use first; a place that does not matter is None.
Life = collections.namedtuple("Life", "note how sides")


class Program(run_catalogue.Program):
    """A source, and what its head says."""

    def __init__(self, path):
        self.path, (self.name, suffix) = path, os.path.splitext(os.path.basename(path))
        self.language = "c++" if suffix == ".cpp" else "cc"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        asks = re.findall(r"^ \* ([a-z]+): (.*)$", text.partition("*/")[0], re.M)
        unknown = {key for key, _ in asks} - set(KEYS)
        if unknown or not any(key == "life" for key, _ in asks):
            raise Failure(f"{path}: the head has {sorted(unknown)}, and these keys: {asks}")
        self.asks = dict(asks)
        self.marks = {mark: number for number, line in enumerate(text.splitlines(), 1) for mark in re.findall(r"/\* ([A-Z]) \*/", line)}
        self.marks.update({"none": 0, "*": None})
        self.lives = sorted(self.life(value) for key, value in asks if key == "life" and value != "none")

    def life(self, value):
        note, _, rest = value.partition(", ")
        how, *sides = rest.split()
        sides = [side.split(":") for side in sides]
        if how not in ("observed", "predicted") or not sides or any(mark not in self.marks for _, mark in sides):
            raise Failure(f"{self.path}: 'life: {value}' is not what, how, and marked places")
        return Life(note, how, tuple((kinds, self.marks[mark]) for kinds, mark in sides))


def of_json(answer):
    checks = [found for part in run_catalogue.results(answer) for found in part["properties"] if found["kind"] == "lifetime"]
    same("checks of lifetimes", bool(checks), True)
    for finding in [finding for found in checks for finding in found.get("findings", [])]:
        sides = [finding[side] for side in ("first", "second") if side in finding]
        yield Life(finding["note"], finding["how"], tuple((side["op"], run_catalogue.line_of(side["loc"])) for side in sides))


SIDE = re.compile(r"^  (?P<before>Previous )?(?:atomic )?(?P<op>read|write|update|free)\b.*?:\n    #0 .*?(?::(?P<line>\d+))?\n", re.M | re.I)
NOTES = ("use after free", "double free", "invalid free", "use of a stopped stack")


def of_text(text):
    """What the program has printed. That it happened shows by the second side, which came before; a single one always has."""
    for report in re.split(r"^={10,}\n", text, flags=re.M):
        note = next((note for note in NOTES if f"WARNING: portent: {note} " in report), None)
        if not note:
            continue
        sides = list(SIDE.finditer(report))
        how = "predicted" if len(sides) == 2 and not sides[1]["before"] else "observed"
        yield Life(note, how, tuple((run_catalogue.KINDS[side["op"].lower()], int(side["line"] or 0)) for side in sides))


def problem(found, expected):
    def alike(life, wanted):
        return life[:2] == wanted[:2] and len(life.sides) == len(wanted.sides) and all(
            run_catalogue.fits(one[0], two[0]) and two[1] in (None, one[1]) for one, two in zip(life.sides, wanted.sides))
    missing = [wanted for wanted in expected if not any(alike(life, wanted) for life in found)]
    extra = [life for life in found if not any(alike(life, wanted) for wanted in expected)]
    return f"missing {missing}; extra {extra}" if missing or extra or len(found) != len(expected) else None


def while_running(portent, program, binary, *checks):
    result = binary + ".json"
    done = run(portent, "run", "--lifetimes", *checks, "-r", result, "--", binary)
    with open(result, encoding="utf-8") as file:
        found = list(of_json(json.load(file)))
    if not checks:
        same(f"status of running it ({done.stderr})", done.returncode, 66 if found else int(program.get("status", "0")))
    return found


def by_run(portent, program, binary):
    return while_running(portent, program, binary)


def beside_others(portent, program, binary):
    return while_running(portent, program, binary, "--races", "--deadlocks")


def alone(_, program, binary):
    done = run(binary, options="lifetimes=1")
    found = list(of_text(done.stderr))
    status = int(program.get("status", "0"))
    same(f"status of the program by itself ({done.stderr})", done.returncode, 66 if found and not status else status)
    return found


WAYS = {"run": by_run, "all": beside_others, "alone": alone}


def one(portent, program, level, ways, folder, turns):
    """What is wrong with one program at one level, by way."""
    wrong = {}
    binary = os.path.join(folder, program.name + level)
    try:
        run_catalogue.compile_one([portent, program.language], program, level, binary, turns)
    except Failure as failure:
        return dict.fromkeys(ways, str(failure))
    for way in ways:
        try:
            wrong[way] = problem(WAYS[way](portent, program, binary), program.lives)
        except Exception as failure:  # whatever it is, the other programs still run
            wrong[way] = f"{type(failure).__name__} {failure}"
    return wrong


# ---- what is asked for ----

def build(portent, folder, turns, name):
    program = Program(os.path.join(HERE, "programs", name + ".c"))
    binary = os.path.join(folder, name + "-asked")
    run_catalogue.compile_one([portent, "cc"], program, "-O1", binary, turns)
    return binary


def kept_bytes(portent, folder, turns):
    """What is not kept is not found; what is larger than all that is kept goes back at once."""
    late, large = build(portent, folder, turns, "use_late"), build(portent, folder, turns, "use_own_write")
    for options, found in (("lifetimes=1", 1), ("lifetimes=1:lifetimes_quarantine_mb=0", 0)):
        done = run(late, options=options)
        same(f"findings with {options} ({done.stderr})", len(list(of_text(done.stderr))), found)
        same(f"status with {options}", done.returncode, 66 if found else 0)
    same("status of the other", run(large, options="lifetimes=1:lifetimes_quarantine_mb=0").returncode, 0)


def suppressed(portent, folder, turns):
    binary, file = build(portent, folder, turns, "double_threads"), os.path.join(folder, "suppressions")
    for line, hides in (("lifetime:one", True), ("lifetime:two", True), ("race_top:two", True), ("lifetime:three", False), ("deadlock:one", False)):
        with open(file, "w", encoding="utf-8") as out:
            out.write(line + "\n")
        done = run(binary, options=f"lifetimes=1:suppressions={file}")
        same(f"status alone with {line} ({done.stderr})", done.returncode, 0 if hides else 66)
        same(f"printed with {line}", "double free" in done.stderr, not hides)
        done = run(portent, "run", "--lifetimes", "--suppressions", file, "--", binary)
        same(f"status of run with {line} ({done.stderr})", done.returncode, 0 if hides else 66)


def halted(portent, folder, turns):
    binary = build(portent, folder, turns, "double_realloc")
    done = run(binary, options="lifetimes=1:halt_on_error=1:exitcode=40")
    same(f"status ({done.stderr})", done.returncode, 40)
    same("findings", len(list(of_text(done.stderr))), 1)


def races_alone(portent, folder, turns):
    """Without --lifetimes a free is a write; with both, each check says what it finds."""
    binary, result = build(portent, folder, turns, "use_unordered_before"), os.path.join(folder, "result.json")
    for checks, kinds in ((["--races"], ["race"]), (["--lifetimes"], ["lifetime"]), (["--races", "--lifetimes"], ["race", "lifetime"])):
        done = run(portent, "run", *checks, "-r", result, "--", binary)
        same(f"status with {checks} ({done.stderr})", done.returncode, 66)
        with open(result, encoding="utf-8") as file:
            properties = json.load(file)["properties"]
        same(f"checks with {checks}", [(p["kind"], len(p["findings"])) for p in properties], [(kind, 1) for kind in kinds])


def beside_properties(portent, folder, turns):
    binary, result = build(portent, folder, turns, "use_own_read"), os.path.join(folder, "result.json")
    properties = os.path.join(folder, "a.prop")
    with open(properties, "w", encoding="utf-8") as out:
        out.write("event go;\nproperty never: not go;\n")
    done = run(portent, "run", "--lifetimes", "-s", properties, "-r", result, "--", binary)
    with open(result, encoding="utf-8") as file:
        found = {p["kind"]: p["verdict"] for p in json.load(file)["properties"]}
    same(f"verdicts ({done.stderr})", found.get("lifetime"), "violated")
    same("properties", len(found), 2)


def preloaded(portent, _folder, _turns):
    """Without accesses nobody can say that nothing was found."""
    done = run(portent, "run", "--preload", "--lifetimes", "--", "/bin/true")
    same("status", done.returncode, 2)


ASKED = (kept_bytes, suppressed, halted, races_alone, beside_properties, preloaded)


def main():
    parser = argparse.ArgumentParser(description="Lifetimes of small programs, exactly.")
    parser.add_argument("portent")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--by", action="append", choices=WAYS, help="look at them in this way (default: all)")
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
        same("compiling turns.c", run("clang", "-O2", "-D_GNU_SOURCE", "-c", os.path.join(run_catalogue.HERE, "turns.c"), "-o", turns).returncode, 0)
        jobs = [(program, level, [way for way in options.by or WAYS if way not in program.get("without").split()])
                for program in programs for level in program.levels()]
        run_catalogue.compile_objects(lambda program: [portent, program.language], [job[:2] for job in jobs], folder, pool)
        for (program, level, _), wrong in zip(jobs, pool.map(lambda job: one(portent, *job, folder, turns), jobs)):
            for way, what in wrong.items():
                passed, failed = passed + (what is None), failed + (what is not None)
                if what is not None:
                    print(f"FAILED {program.name} {level}, {way}: {what}", flush=True)
        for test in () if options.names else ASKED:
            try:
                test(portent, folder, turns)
                passed += 1
            except Exception as failure:
                failed += 1
                print(f"FAILED {test.__name__}: {type(failure).__name__} {failure}", flush=True)
    print(f"{len(programs)} programs, {sum(not program.lives for program in programs)} of them free of errors")
    print(f"lifetimes: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
