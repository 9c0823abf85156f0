#!/usr/bin/env python3
"""`explore` and `replay` on the catalogue: run_explore.py PORTENT [NAME...] [--seeds N] [--strategy S]... [--replays N] [--table] [--keep FOLDER]

Each program of programs/ is compiled by `portent cc` or `portent c++`, with its bug and as its correct twin. `explore -n 300 --seed S` must
find the bug with each of N seeds (default 1), in the way that the head says; on the twin nothing is found, races and deadlocks included. The
failing schedule is replayed several times: same status, same output; so it is after some of the programs were compiled again with
comments and lines added. --table says how many runs each strategy needed (median over the seeds) and how many of 300 plain runs fail, for docs/explore.md; with --chaos N also of N runs
by `rr record --chaos`. The last line is `explore: N passed, M failed`; what is counted is a program with one seed, a twin, and the replays of a program.
"""
import argparse
import concurrent.futures
import os
import re
import statistics
import sys
import tempfile

import catalogue
import check_catalogue
import explored
from catalogue import Failure

RUNS, TWIN_RUNS = 300, 60
STRATEGIES = ("random", "pct", "surw", "predict", "auto")
# What a bug is looked for by: its failure, not a race that comes with it, which would be found first.
ONLY_FAILURES = ["--deadlocks", "--expect", "0", "--run-timeout", "10s"]


def right(program, found):
    """Whether this failure is the program's bug."""
    return (found.kind in program.fails and (found.kind != "signal" or found.number == program.signal)
            and (found.kind != "status" or found.number not in catalogue.OWN))


def find(portent, program, binary, seed, strategy, schedule=None):
    """The failure that explore stops at, or None; raises where it is another one than the head's."""
    options = ["-n", str(RUNS), "--seed", str(seed), "--strategy", strategy, *ONLY_FAILURES, *program.options]
    told = explored.explore(portent, [*options, *(["-o", schedule] if schedule else ["--no-shrink"])], [binary])
    if not told.failures:
        return None
    if told.status != 1 or not all(right(program, found) for found in told.failures):
        raise Failure(f"status {told.status}, {told.failures}; the head says {program.fails}\n{told.stderr}")
    return told.failures[0]


def bug(portent, program, binary, seed, strategy, schedule):
    if find(portent, program, binary, seed, strategy, schedule) is None:
        raise Failure(f"not found in {RUNS} runs of {strategy} with seed {seed}")
    if schedule and not os.path.exists(schedule):
        raise Failure(f"there is no {schedule}")


def twin(portent, program, binary, seed, strategy):
    """Nothing is found, with the checks that explore makes by itself."""
    told = explored.explore(portent, ["-n", str(TWIN_RUNS), "--seed", str(seed), "--strategy", strategy, "--run-timeout", "10s", *program.options], [binary])
    if told.status != 0 or told.failures:
        raise Failure(f"the twin: status {told.status}, {told.failures}\n{told.stderr}")


def replays(portent, program, binaries, schedule, count):
    """Every one of them is the same run: of the program, and of the program compiled again."""
    first = None
    for number in range(count):
        binary = binaries[number % len(binaries)]
        again = explored.replay(portent, schedule, [binary])
        if again[:2] != (first or again)[:2] or any(word in again[2] for word in ("diverged", "differs")):
            raise Failure(f"{program.name}: replay {number + 1} of {binary}: {again}, the first: {first}")
        first = first or again


def commented(program, folder):
    """The program in another form of its source: comments and lines added before it, and before each function."""
    with open(program.path, encoding="utf-8") as file:
        head, end, body = file.read().partition("#include")
    body = re.sub(r"^(static [^;=]*\)|int main\(.*\))$", r"/* added,\n * with more lines */\n\n\1", body, flags=re.M)
    path = os.path.join(folder, "commented", os.path.basename(program.path))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{head}/* added */\n\n{end}{body}")
    return catalogue.Program(path)


def guarded(function, *arguments):
    try:
        function(*arguments)
        return None
    except Exception as failure:  # whatever it is, the other programs still run
        return f"{type(failure).__name__} {failure}"


def one(portent, program, binaries, fixed, folder, options):
    """What is to be said of a program, whose first binary is that which is explored: (what, None or what is wrong)s."""
    said, schedule = [], os.path.join(folder, program.name + ".schedule")
    strategy = options.strategy[0] if options.strategy else "auto"
    for seed in range(1, options.seeds + 1):
        said.append((f"seed {seed}", guarded(bug, portent, program, binaries[0], seed, strategy, schedule if seed == 1 else None)))
        said.append((f"twin, seed {seed}", guarded(twin, portent, program, fixed, seed, strategy)))
    if options.replays and said[0][1] is None:
        said.append(("replay", guarded(replays, portent, program, binaries, schedule, options.replays)))
    return said


def find_or_miss(*arguments):
    """A failure that is not the head's is none here: the suite says so."""
    try:
        return find(*arguments)
    except Failure as failure:
        print(f"{arguments[1].name}: {failure}", file=sys.stderr)
        return None


def table(portent, programs, paths, plain, options, pool):
    """Lines of Markdown."""
    strategies = options.strategy or list(STRATEGIES)
    chaos = f"rr chaos, of {options.chaos} | " if options.chaos else ""
    yield f"| program | bug | depth | plain, of {RUNS} | {chaos}{' | '.join(strategies)} |"
    yield "|---" * (4 + bool(options.chaos) + len(strategies)) + "|"

    def row(program):
        stress = check_catalogue.counted(program, plain[program, 0], RUNS)
        cells = [str(check_catalogue.in_chaos(program, plain[program, 0], options.chaos))] if options.chaos else []
        for strategy in strategies:
            found = [find_or_miss(portent, program, paths[program, 0], seed, strategy) for seed in range(1, options.seeds + 1)]
            runs = sorted(one.run if one else RUNS + 1 for one in found)
            missed = sum(one is None for one in found)
            middle = statistics.median(runs)
            cells.append((f"{middle:.0f}" if middle <= RUNS else "-") + (f" ({missed} missed)" if missed else ""))
        return f"| `{program.name}` | {program.bug} | {program.depth} | {stress} | {' | '.join(cells)} |"
    yield from pool.map(row, programs)


def depths(portent, programs, paths, pool):
    """Programs whose heads say another depth than the fewest preemptions that `exhaustive` needs, as lines."""
    def least(program):
        for most in range(5):
            told = explored.explore(portent, ["-n", "20000", "--time", "60s", "--strategy", "exhaustive", "--preemptions", str(most), *ONLY_FAILURES,
                                              *program.options], [paths[program, 0]])
            if told.failures or not told.complete:
                return most + 1, "" if told.failures else " at least: not all schedules were tried"
        return 6, " at least"
    for program, (depth, unsure) in zip(programs, pool.map(least, programs)):
        if depth != program.depth or unsure:
            yield f"{program.name}: {depth}{unsure}, the head says {program.depth}"


def main():
    parser = argparse.ArgumentParser(description="Known bugs, found, replayed, and not found where they are mended.")
    parser.add_argument("portent")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seeds", type=int, default=1, help="how many seeds")
    parser.add_argument("--strategy", action="append", help="instead of auto; of --table: these columns")
    parser.add_argument("--replays", type=int, default=2, help="how often each failing schedule is replayed")
    parser.add_argument("--recompiled", type=int, default=10, help="how many programs are compiled again, about, and replayed so too")
    parser.add_argument("--table", action="store_true", help="print how many runs each strategy needs instead")
    parser.add_argument("--chaos", type=int, metavar="N", help="of --table: how many of N runs of 'rr record --chaos' fail")
    parser.add_argument("--depths", action="store_true", help="compare the depths of the heads with bounded exhaustive exploration instead")
    parser.add_argument("--jobs", type=int, default=2, help="programs side by side")
    parser.add_argument("--keep", help="a folder for what is built")
    options = parser.parse_intermixed_args()
    portent, passed, failed, programs = os.path.abspath(options.portent), 0, 0, catalogue.programs(options.names)
    for program in programs:
        if "open" in program.asks and not options.names:
            print(f"{program.name} is left out: {program.asks['open']}")
    programs = [program for program in programs if "open" not in program.asks or options.names]
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = os.path.abspath(options.keep or temporary)
        kinds = (0,) if options.table or options.depths else (0, 1)
        paths = catalogue.build(lambda program: [portent, program.language], [(program, fixed) for program in programs for fixed in kinds],
                                os.path.join(folder, "built"), pool)
        if options.depths:
            wrong = list(depths(portent, programs, paths, pool))
            print("\n".join(wrong))
            return 1 if wrong else 0
        if options.table:
            compilers = {"cc": ["clang"], "c++": ["clang++"]}
            plain = catalogue.build(lambda program: compilers[program.language], [(program, 0) for program in programs],
                                    os.path.join(folder, "plain"), pool)
            for line in table(portent, programs, paths, plain, options, pool):
                print(line, flush=True)
            return 0
        some = programs[::max(1, len(programs) // options.recompiled)] if options.recompiled else []
        again = {program: commented(program, folder) for program in some}
        changed = catalogue.build(lambda program: [portent, program.language], [(program, 0) for program in again.values()],
                                  os.path.join(folder, "again"), pool)
        binaries = {program: [paths[program, 0], *([changed[again[program], 0]] if program in again else [])] for program in programs}
        for program, said in zip(programs, pool.map(lambda program: one(portent, program, binaries[program], paths[program, 1], folder, options), programs)):
            for what, wrong in said:
                passed, failed = passed + (wrong is None), failed + (wrong is not None)
                if wrong is not None:
                    print(f"FAILED {program.name}, {what}: {wrong}", flush=True)
    print(f"{len(programs)} programs and as many twins")
    print(f"explore: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
