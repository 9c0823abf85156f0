#!/usr/bin/env python3
"""Schedules under rr and under a debugger that traces all processes: run_rr.py PORTENT [NAME...] [--programs P...]

`rr record portent replay F.schedule -- PROGRAM`: the failure comes again while rr records, with the same words, and `rr replay` goes through
to the end and shows the same. So it is of an exploration. Where the machine has no counter for rr, with a stand-in for it (rr_counter.c);
where rr does not start even so, or is not there, the suite says that this was skipped, and why. --programs: others of the catalogue, or `all`.
The last line is `explore-rr: N passed, M failed`.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "programs"))
import catalogue  # noqa: E402
from bench import Bench, HERE, expect  # noqa: E402
from rr import Rr  # noqa: E402
from suite import Suite  # noqa: E402

SUITE = Suite("explore-rr")
test = SUITE.test
# a status, a signal, a circle, a lost wake-up, a use after free, time, a pipe, a handler, C++
FEW = ("lost_update", "seat_sold_twice", "abba", "lost_wakeup", "uaf_done_flag", "sleep_order", "pipe_peek", "signal_update", "cpp_lock_order")
LIMIT = 300


class Recorded(Bench):
    def __init__(self, portent, folder, names):
        super().__init__(portent, folder)
        self.rr = Rr(str(folder))
        self.programs = catalogue.programs(names)

    def under_rr(self, *arguments):
        """(what `portent ARGUMENTS` says when rr records it, what `rr replay` shows)."""
        done = self.rr.run(self.rr.recording([self.portent, *map(str, arguments)]), LIMIT, cwd=self.folder)
        again = self.rr.run(["rr", "replay", "-a"], LIMIT, cwd=self.folder)
        self.rr.forget()
        expect(again.returncode == 0, f"rr replay of {arguments}: status {again.returncode}\n{again.stderr[:4000]}")
        return done, again


def of_plan(bench):
    """Each program of the catalogue that was chosen, with a schedule that fails."""
    compilers = {"cc": [bench.portent, "cc"], "c++": [bench.portent, "c++"]}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = catalogue.build(lambda program: compilers[program.language], [(program, 0) for program in bench.programs], str(bench.folder), pool)
    for program in bench.programs:
        schedule = bench.folder / f"{program.name}.schedule"
        bench.run("explore", "-q", *program.options, "-o", schedule, "--", paths[program, 0], status=1)
        yield program, paths[program, 0], schedule


def told(done):
    """What was printed and said. rr adds to the environment, and so to the addresses of stacks, which a program may read."""
    return done.stdout, re.sub(r" \(though it read other values somewhere, perhaps addresses, which follow the environment\)", "", " ".join(done.stderr.split()))


@test
def test_replay(bench):
    """What is said, and printed, is what is said without rr."""
    for program, path, schedule in of_plan(bench):
        plain = bench.run("replay", schedule, "--", path, status=1)
        done, again = bench.under_rr("replay", schedule, "--", path)
        expect(done.returncode == 1 and told(done)[1].endswith("portent replay: the same run, and the same failure"), f"{program.name}: {done.returncode}\n{done.stderr}")
        expect(told(done) == told(plain), f"{program.name}: {done.stdout}{done.stderr}\nwithout rr: {plain.stdout}{plain.stderr}")
        expect((again.stdout, again.stderr) == (done.stdout, done.stderr), f"{program.name}: rr replays {again.stdout}{again.stderr}")


@test
def test_explore(bench):
    """A whole exploration, from the fork server and with a process for each run: the schedule that it finds is the one that is found without rr."""
    program = bench.program("told")
    for server in ("--fork-server", "--no-fork-server"):
        arguments = ("explore", "--json", server, "--strategy", "random", "-n", "60", "--", program, "double")
        plain = json.loads(bench.run(*arguments, status=1).stdout)
        done, again = bench.under_rr(*arguments)
        expect(done.returncode == 1 and again.stdout == done.stdout, f"{server}: {done.returncode}\n{done.stdout}{done.stderr}")
        found, expected = json.loads(done.stdout)["properties"][0]["findings"], plain["properties"][0]["findings"]
        expect(found == expected, f"{server}: {found}\nwithout rr: {expected}")


@test
def test_debugger(bench):
    """gdb on what rr recorded stops where the program fails, in the thread that does."""
    chosen = [program for program in bench.programs if "signal" in program.fails][:1]
    expect(chosen, "none of these programs fails by a signal")
    bench.programs = chosen
    (program, path, schedule), = of_plan(bench)
    bench.rr.run(bench.rr.recording([bench.portent, "replay", str(schedule), "--", path]), LIMIT, cwd=bench.folder)
    listed = bench.rr.run(["rr", "ps"], LIMIT, cwd=bench.folder).stdout
    process = re.search(rf"^(\d+)\t\d+\t-\d+\t{re.escape(path)}$", listed, re.M)
    expect(process, listed)
    script = bench.folder / "gdb.txt"
    script.write_text("continue\nbt\nkill\nquit\n", encoding="utf-8")
    with script.open(encoding="utf-8") as commands:
        shown = bench.rr.run(["rr", "replay", "-p", process[1]], LIMIT, cwd=bench.folder, stdin=commands)
    bench.rr.forget()
    expect(f"SIG{program.asks.get('signal', 'ABRT')}" in shown.stdout and f"{program.name}.c:" in shown.stdout, f"{shown.stdout}\n{shown.stderr[:3000]}")


@test
def test_traced(bench):
    """gdb traces the tool and the program, all threads of both, and every signal goes through it."""
    script = bench.folder / "traced.txt"
    script.write_text("set pagination off\nset confirm off\nset detach-on-fork off\nset schedule-multiple on\nhandle all nostop noprint pass\nrun\n"
                      "inferior 1\ncontinue\n", encoding="utf-8")
    for program, path, schedule in of_plan(bench):
        done = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", str(script), "--args", bench.portent, "replay", str(schedule), "--", path], cwd=bench.folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT, check=False)
        expect("the same run, and the same failure" in done.stdout + done.stderr, f"{program.name}: {done.stdout}{done.stderr}")
        expect(re.search(r"Inferior 1 .* exited with code 01\b", done.stdout), f"{program.name}: {done.stdout}")


def main():
    names, programs = sys.argv[2:], list(FEW)
    if "--programs" in names:
        at = names.index("--programs")
        names, programs = names[:at], [] if names[at + 1:] == ["all"] else names[at + 1:]
    with tempfile.TemporaryDirectory() as folder:
        bench = Recorded(os.path.abspath(sys.argv[1]), pathlib.Path(folder).resolve(), programs)
        if bench.rr.why is not None:
            print(f"skipped, all but test_traced: {bench.rr.why}")
            SUITE.tests = [test_traced]
        else:
            print(f"rr {'with a stand-in for its counter' if bench.rr.stand_in else 'with its counter'}")
        return SUITE.run([f"test_{name}" for name in names], lambda function: function(bench))


if __name__ == "__main__":
    sys.exit(main())
