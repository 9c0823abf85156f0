#!/usr/bin/env python3
"""Do the programs of the catalogue have their bugs, and are their twins correct? check_catalogue.py [NAME...] [--by WAY]... [--runs N]

Without Portent. `shake` (shake.c): within N runs (default 400) under random delays each program shows its bug in the way that its head says,
and its twin never fails. `tsan`: ThreadSanitizer finds no race in a twin. `stress`: how many of N plain runs (default 300) fail, as a list.
`chaos`: the same of N runs (default 100) that `rr record --chaos` makes; where rr has no counter, with the processor's time in its place (rr_counter.c).
`tiny`: N noisy runs (default 40) of each program of tiny.txt and of 60 random ones end in ways that brute force knows; how many it
knows that none of them showed is printed. A long check of the catalogue itself, not part of `make check`; the last line is `check-catalogue: N passed, M failed`.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

import brute
import catalogue
import rr
import tiny
from catalogue import Failure, is_bug, plain_run

LIMIT = 2.0  # seconds until a run counts as one that hangs; they take milliseconds
CHAOS_LIMIT = 15.0  # under rr, a fifth of a second


def wrapped():
    """What shake.c wraps, as options of the linker."""
    with open(os.path.join(catalogue.HERE, "shake.c"), encoding="utf-8") as file:
        return [f"-Wl,--wrap={name}" for name in sorted(set(re.findall(r"(?:__wrap_|WRAPPED\()([a-z]\w*)", file.read())))]


def noise(folder):
    """shake.c, compiled."""
    path = os.path.join(folder, "shake.o")
    catalogue.need(["gcc", "-O1", "-D_GNU_SOURCE", "-c", os.path.join(catalogue.HERE, "shake.c"), "-o", path], folder)
    return path


def shaken(program, buggy, fixed, runs):
    """None, or what is wrong."""
    environment = {"SHAKE_SPURIOUS": "1"} if any(one.startswith("--spurious") for one in program.options) else {}
    shown = None
    for number in range(runs):
        if is_bug(program, plain_run([buggy], LIMIT, {**environment, "SHAKE": str(number)})[0]):
            shown = number + 1
            break
    if shown is None:
        return f"no failure in {runs} runs"
    print(f"{program.name}: fails in run {shown}", flush=True)
    for number in range(max(runs // 4, min(runs, 2 * shown))):
        end, printed = plain_run([fixed], 5 * LIMIT, {**environment, "SHAKE": str(number)})
        if end[0] != "ends":
            return f"the twin fails in run {number + 1}: {end} {printed}"
    return None


def by_shake(programs, folder, runs, pool):
    # The linker must not see -fsanitize=thread: it would bring its own runtime.
    compilers = {"cc": ["gcc"], "c++": ["g++"]}
    paths = catalogue.build(lambda program: compilers[program.language], [(program, fixed) for program in programs for fixed in (0, 1)], folder, pool,
                            extra=["-fsanitize=thread"], link=[noise(folder), *wrapped()])
    return pool.map(lambda program: guarded(shaken, program, paths[program, 0], paths[program, 1], runs), programs)


def sanitized(program, path):
    if program.name.startswith("c11_"):  # it does not know thrd_create
        return None
    for _ in range(3):
        done = subprocess.run([path], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False,
                              env={**os.environ, "TSAN_OPTIONS": "exitcode=77"})
        if done.returncode:
            return f"status {done.returncode} {done.stderr}"
    return None


def by_tsan(programs, folder, _, pool):
    compilers = {"cc": ["clang", "-fsanitize=thread"], "c++": ["clang++", "-fsanitize=thread"]}
    paths = catalogue.build(lambda program: compilers[program.language], [(program, 1) for program in programs], folder, pool)
    return pool.map(lambda program: guarded(sanitized, program, paths[program, 1]), programs)


def counted(program, path, runs):
    return sum(is_bug(program, plain_run([path], LIMIT)[0]) for _ in range(runs))


def by_stress(programs, folder, runs, pool):
    compilers = {"cc": ["clang"], "c++": ["clang++"]}
    paths = catalogue.build(lambda program: compilers[program.language], [(program, 0) for program in programs], folder, pool)
    for program, count in zip(programs, pool.map(lambda program: counted(program, paths[program, 0], runs), programs)):
        print(f"{program.name:24} {count:4} of {runs}", flush=True)
        yield None


def in_chaos(program, path, runs):
    """In a folder of its own: what is recorded is removed after each run."""
    with tempfile.TemporaryDirectory() as folder:
        recorder = rr.Rr(folder)
        if recorder.why is not None:
            raise Failure(f"rr does not run: {recorder.why}")
        environment = {**recorder.environment, **({"RR_COUNTER": "clock"} if recorder.stand_in else {})}
        count = 0
        for _ in range(runs):
            count += is_bug(program, plain_run(recorder.recording([path], "--chaos"), CHAOS_LIMIT, environment)[0])
            recorder.forget()
    return count


def by_chaos(programs, folder, runs, pool):
    compilers = {"cc": ["clang"], "c++": ["clang++"]}
    paths = catalogue.build(lambda program: compilers[program.language], [(program, 0) for program in programs], folder, pool)
    for program, count in zip(programs, pool.map(lambda program: guarded(in_chaos, program, paths[program, 0], runs), programs)):
        if not isinstance(count, str):
            print(f"{program.name:24} {count:4} of {runs}", flush=True)
        yield count if isinstance(count, str) else None


def surprises(number, answer, path, runs):
    """Outcomes of runs that brute force does not know, and those it knows that were not seen. None is one that hangs."""
    known = set(answer.masks) | ({None} if answer.stuck else set()) | ({0} if answer.classes > sum(answer.masks.values()) + answer.stuck else set())
    seen = set()
    for run in range(runs):
        end = plain_run([path, str(number)], LIMIT, {"SHAKE": str(run)})[0]
        seen.add(None if end[0] == "hangs" else end[1])
        if known <= seen:
            break
    return seen - known, known - seen


def by_tiny(_, folder, runs, pool):
    with open(os.path.join(catalogue.HERE, "tiny.txt"), encoding="utf-8") as file:
        cases = [(program, brute.explore(program), program.name) for program in tiny.parse(file.read())]
    cases += [brute.random_program("noise", number, 60) for number in range(60)]
    source, path = os.path.join(folder, "tiny.c"), os.path.join(folder, "tiny")
    with open(source, "w", encoding="utf-8") as file:
        file.write(tiny.c_source([program for program, _, _ in cases]))
    catalogue.need(["gcc", "-O0", "-fsanitize=thread", "-pthread", "-c", source], folder)
    catalogue.need(["gcc", "-pthread", path + ".o", noise(folder), "-o", path, *wrapped()], folder)
    missed = 0
    for (_, answer, text), (wrong, missing) in zip(cases, pool.map(lambda pair: surprises(pair[0], pair[1][1], path, runs), enumerate(cases))):
        missed += len(missing)
        yield f"outcomes {wrong}, by brute force {answer}\n{text}" if wrong else None
    print(f"tiny: {len(cases)} programs, {missed} outcomes not seen")


def guarded(function, program, *arguments):
    try:
        return function(program, *arguments)
    except Failure as failure:
        return str(failure)


WAYS = {"shake": (by_shake, 400), "tsan": (by_tsan, 0), "stress": (by_stress, 300), "chaos": (by_chaos, 100), "tiny": (by_tiny, 40)}


def main():
    parser = argparse.ArgumentParser(description="The catalogue by itself, without Portent.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--by", action="append", choices=WAYS, help="look at them in this way (default: shake and tsan)")
    parser.add_argument("--runs", type=int, help="how many runs at most")
    parser.add_argument("--jobs", type=int, default=2, help="programs side by side")
    options = parser.parse_intermixed_args()
    programs, passed, failed = catalogue.programs(options.names), 0, 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for way in options.by or ["shake", "tsan"]:
            function, runs = WAYS[way]
            with tempfile.TemporaryDirectory() as folder:
                for number, wrong in enumerate(function(programs, folder, options.runs or runs, pool)):
                    passed, failed = passed + (wrong is None), failed + (wrong is not None)
                    if wrong is not None:
                        print(f"FAILED {way}{'' if way == 'tiny' else ' ' + programs[number].name}: {wrong}", flush=True)
    print(f"{len(programs)} programs")
    print(f"check-catalogue: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
