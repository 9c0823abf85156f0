#!/usr/bin/env python3
"""`explore --strategy exhaustive` against brute force: run_exhaustive.py PORTENT [NAME...] [--cases N] [--seed S] [--only I] [--keep FOLDER]

The programs of tiny.txt, and N random ones of at most 60 inequivalent schedules each. Of each the number of schedules must be that of brute
force, and so must be the set of outcomes (which assertions failed, told by the program's status; whether threads were left waiting); with
`--jobs` 2 or 3 the answer is the same, run by run. With `--preemptions K`, for K = 0 and 1, every outcome that brute force reaches with at most K preemptions is
found, and no other than in all schedules. Case i of seed S is made from "S/i" alone; what fails is printed as its text. The last line is
`exhaustive: N passed, M failed`.
"""
import argparse
import collections
import concurrent.futures
import os
import sys
import tempfile

import brute
import catalogue
import explored
import tiny
from catalogue import Failure

STUCK = ("deadlock", "lost-wakeup")
Case = collections.namedtuple("Case", "program answer text")


def cases_of(options):
    with open(os.path.join(catalogue.HERE, "tiny.txt"), encoding="utf-8") as file:
        text = file.read()
    texts = {part.split()[0]: "program " + part.rstrip() for part in text.split("\nprogram ")[1:]}
    fixed = [program for program in tiny.parse(text) if not options.names or program.name in options.names]
    found = [Case(program, brute.explore(program), texts[program.name]) for program in fixed]
    if options.only is not None:
        found = []
    if not options.names:
        wanted = [options.only] if options.only is not None else range(options.cases)
        found += [Case(*brute.random_program(options.seed, number, options.most)) for number in wanted]
    return found


def outcomes(told):
    """Masks of failed assertions, None for stuck; raises where a run failed in a way that these programs cannot."""
    for one in told.failures:
        if one.kind != "status" and one.kind not in STUCK:
            raise Failure(f"{one}\n{told.stderr}")
    return {one.number if one.kind == "status" else None for one in told.failures}


def possible(answer):
    return set(answer.masks) | ({None} if answer.stuck else set())


def problem(answer, told):
    """None, or what differs."""
    if told.status != (1 if possible(answer) else 0) or not told.complete:
        return f"status {told.status}, complete: {told.complete}; by brute force {answer}\n{told.stderr}"
    if told.schedules != answer.classes or outcomes(told) != possible(answer):
        return f"{told.schedules} schedules, outcomes {outcomes(told)}; by brute force {answer}"
    return None


def bounded(answer, reached, told):
    """None, or what is wrong with what was found with a bound."""
    if not reached - {0} <= outcomes(told) <= possible(answer) or told.schedules > answer.classes:
        return f"{told.schedules} schedules with outcomes {outcomes(told)}; {reached} can be reached, {answer} without a bound"
    return None


def of_jobs(alone, several):
    """None, or what another number of jobs has changed."""
    if alone[:5] != several[:5]:
        return f"{several[:5]} with more jobs, {alone[:5]} with one"
    return None


def one(portent, binary, number, case):
    def explore(*options):
        return explored.explore(portent, ["--strategy", "exhaustive", "--keep-going", "--deadlocks", "--expect", "0", "-n", "1000000", *options],
                                [binary, str(number)])
    try:
        if case.program.counts:
            told = explore()
            return f"all were explored, it says; {told.schedules} of {case.answer.classes}" if told.complete else None
        alone = explore()
        wrong = problem(case.answer, alone) or of_jobs(alone, explore("--jobs", str(2 + number % 2)))
        for most in (0, 1):
            wrong = wrong or bounded(case.answer, brute.outcomes_within(case.program, most), explore("--preemptions", str(most)))
        return wrong
    except Exception as failure:  # whatever it is, the other cases still run
        return f"{type(failure).__name__} {failure}"


def main():
    parser = argparse.ArgumentParser(description="Exhaustive exploration against brute force.")
    parser.add_argument("portent")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--cases", type=int, default=60, help="random programs")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="this random program only")
    parser.add_argument("--most", type=int, default=60, help="schedules of a random program")
    parser.add_argument("--jobs", type=int, default=2, help="programs side by side")
    parser.add_argument("--keep", help="a folder for what is built")
    options = parser.parse_intermixed_args()
    portent, cases, failed = os.path.abspath(options.portent), cases_of(options), 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        source, binary = os.path.join(folder, "tiny.c"), os.path.join(folder, "tiny")
        with open(source, "w", encoding="utf-8") as file:
            file.write(tiny.c_source([case.program for case in cases]))
        catalogue.need([portent, "cc", "-O0", "-g", "-Wall", "-Werror", "-pthread", source, "-o", binary], folder)
        for case, wrong in zip(cases, pool.map(lambda pair: one(portent, binary, *pair), enumerate(cases))):
            if wrong is not None:
                failed += 1
                print(f"FAILED {case.program.name} (seed {options.seed}): {wrong}\n{case.text}", flush=True)
    print(f"{len(cases)} programs, {sum(case.answer.classes for case in cases)} schedules")
    print(f"exhaustive: {len(cases) - failed} passed, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
