#!/usr/bin/env python3
"""`mpirun -n N portent check` against `portent check`: the same bytes, apart from what is a time or memory.

    run_mpi.py PORTENT [--cases N] [--seed S] [--only I]

Random traces and properties go through one process each, and then, in one run of portent-mpi for each number of ranks (--batch), through 1, 2
and 4 of them. Then what happens when a rank dies, has another trace, or there is no portent-mpi. Case number i of seed S is made from
"S/i" alone. The last line is `mpi: N passed, M failed`.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS / "oracle")]
import random_runs  # noqa: E402
from oracle import generate  # noqa: E402

RANKS = (1, 2, 4)
MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
VOLATILE = re.compile(r'"(seconds|peak_bytes)": *[0-9.e+-]+')
LATTICES = ([], ["--exhaustive"], ["--exhaustive", "--memory-limit", "1G"], ["--window", "3"], ["--lookahead", "4", "--exhaustive"])


def wide_trace(rng):
    """Many threads that write without much order, so that cuts need several words; some of them wait for each other."""
    threads = rng.choice((2, 3, 4, 5, 12, 24))
    events = {2: 24, 3: 12, 4: 6, 5: 4}.get(threads, 2)
    todo = [f"T{t}" for t in range(threads) for _ in range(rng.randint(1, events))]
    rng.shuffle(todo)
    lines, tie = [], 0.85 if threads > 5 else rng.choice((0, 0.2, 0.5))
    for i, thread in enumerate(todo, 1):
        name = thread.lower() if rng.random() < 0.8 else rng.choice("xyz")
        event = f"w({name})={rng.randint(0, 4)}" if rng.random() < 0.9 else f"event({rng.choice(('go', 'stop'))})"
        around = [f"{thread}|u(m)={i}|w.c:{i}"] if rng.random() < tie else []
        lines += [*around, f"{thread}|{event}|w.c:{i}", *around]
    return "\n".join(lines) + "\n"


def wide_props(rng):
    """Properties over many variables: every thread's events are relevant."""
    names = [f"t{i}" for i in range(24)] + list("xyz")

    def atom():
        a, b = rng.choice(names[:4]), rng.choice(names[:5])
        return rng.choice((f"{a} == {rng.randint(0, 4)}", f"{a} + {b} > {rng.randint(2, 8)}", f"{a} < {b}", "event(go)", "event(stop)"))

    everything = " + ".join(names)
    bodies = (f"always ({everything} < {rng.choice((6, 20, 60, 1000))})", f"always ({atom()} -> once({atom()}))",
              f"always ({atom()} -> !({atom()} && previously ({atom()})))", f"({atom()}) until ({atom()})",
              f"always !({everything} == {rng.randint(3, 40)} && {atom()})")
    return "".join(f"property p{k}: {body};\n" for k, body in enumerate(rng.sample(bodies, 3)))


def write_case(folder, number, seed):
    """The files of one case; returns the arguments of its check."""
    rng = random.Random(f"{seed}/{number}")
    trace, props = folder / f"{number}.trace", folder / f"{number}.prop"
    kind = number % 6
    if kind < 4:
        if kind < 2:
            trace.write_text(generate.trace_text(rng, most=12))
            props.write_text(generate.prop_text([(f"p{k}", *generate.interesting(rng, lambda *_: 0)) for k in range(3)]))
        else:
            trace.write_text(wide_trace(rng))
            props.write_text(wide_props(rng))
        return ["--order", "access", *rng.choice(LATTICES), "-s", props.name, trace.name]
    order = rng.choice(("sync", "sync", "values"))
    trace.write_text(random_runs.to_text(random_runs.Maker(rng, events=40).run()))
    return ["--races", "--deadlocks", "--order", order, "--effort", "all", *rng.choice(([], ["--near", "8"], ["--memory-limit", "64M"])), trace.name]


def plain(text):
    """Output without what may differ."""
    return VOLATILE.sub("", text)


class Suite:
    def __init__(self, portent, folder):
        self.portent, self.folder = portent, folder
        self.mpi = str(pathlib.Path(portent).parent.parent / "libexec" / "portent" / "portent-mpi")
        self.passed = self.failed = 0

    def count(self, name, wrong):
        """One test; `wrong`: what is, or nothing."""
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)
        if wrong:
            print(f"{name}: {wrong}", flush=True)

    def run(self, *command, **more):
        return subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=300, check=False, **more)

    def together(self, ranks, *arguments):
        """A check by so many ranks, as users call it."""
        return self.run(*MPIRUN, "-n", ranks, self.portent, "check", *arguments)

    def compare(self, cases):
        """Every case by one process, and by all numbers of ranks."""
        answers = []
        for arguments in cases:
            done = self.run(self.portent, "check", "--json", *arguments)
            if not done.stdout:
                raise SystemExit(f"{self.folder}: {' '.join(arguments)}: {done.stderr}")
            answers.append(plain(done.stdout) + f"\nstatus {done.returncode}\n")
        (self.folder / "batch").write_text("".join(" ".join(["--json", *arguments]) + "\n" for arguments in cases))
        for ranks in RANKS:
            done = self.run(*MPIRUN, "-n", ranks, self.mpi, "--batch", "batch")
            got = re.findall(r".*?\nstatus \d+\n", plain(done.stdout), re.DOTALL)
            if len(got) != len(cases):
                self.count(f"{ranks} ranks", f"{len(got)} of {len(cases)} answers; status {done.returncode}\n{done.stderr[-2000:]}")
            for arguments, want, have in zip(cases, answers, got):
                self.count(f"{ranks} ranks: {' '.join(arguments)}", "" if want == have else f"differs\n{first_difference(want, have)}")

    def check_text(self):
        """What people read is the same, too, and warnings come once."""
        one = self.run(self.portent, "check", "--order", "access", "-s", "big.prop", "big.trace")
        two = self.together(2, "--order", "access", "-s", "big.prop", "big.trace")
        strip = re.compile(r"\d+\.\d+ m?s|\d+(\.\d+)? [KMG]i?B")
        same = strip.sub("", one.stdout) == strip.sub("", two.stdout) and one.returncode == two.returncode
        self.count("text", "" if same else f"{one.stdout}\n{two.stdout}\n{two.stderr}")
        one = self.run(self.portent, "check", "--json", "--order", "access", "-s", "big.prop", "big.trace")
        two = self.together(2, "--json", "--jobs", "2", "--order", "access", "-s", "big.prop", "big.trace")
        self.count("jobs of each rank", "" if plain(one.stdout) == plain(two.stdout) else first_difference(one.stdout, two.stdout) + two.stderr)
        done = self.together(2, "--window", "8", "-s", "big.prop", "big.trace")
        said = done.stderr.count("bounded windows are not divided among the processes of mpirun")
        self.count("what is not divided is said", "" if said == 1 else done.stderr)

    def check_memory(self):
        """What a rank needs for levels falls with their number."""
        peak = {}
        for ranks in RANKS:
            done = self.together(ranks, "--json", "--order", "access", "-s", "big.prop", "big.trace")
            peak[ranks] = json.loads(done.stdout)["properties"][0]["peak_bytes"]
        good = peak[2] < 0.7 * peak[1] and peak[4] < 0.45 * peak[1]
        self.count("memory per rank", "" if good else f"{peak}")

    def check_dying(self):
        """A rank that is killed ends the run with a sentence and status 3."""
        (self.folder / "long.trace").write_text(independent(5, 200))  # half a minute and more
        command = [*MPIRUN, "-n", "2", self.portent, "check", "--order", "access", "-s", "big.prop", "long.trace"]
        process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            worker = self.find_worker(process.pid, "1")
            time.sleep(0.5)
            os.kill(worker, signal.SIGKILL)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
        good = process.returncode == 3 and err.count("rank 1 of 2 died (Killed)") == 1
        self.count("a rank dies", "" if good else f"status {process.returncode}\n{err}")

    @staticmethod
    def find_worker(mpirun, rank):
        """The process of a rank that does the work: a child of a child."""
        for _ in range(300):
            for guard in children(mpirun):
                environment = pathlib.Path(f"/proc/{guard}/environ").read_bytes().split(b"\0")
                if f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment and children(guard):
                    return children(guard)[0]
            time.sleep(0.1)
        raise SystemExit("no such rank")

    def check_differing(self):
        """Ranks that were not given the same."""
        check = [self.portent, "check", "-s", "big.prop"]
        done = self.run(*MPIRUN, "-n", 1, *check, "big.trace", ":", "-n", 1, *check, "nowhere.trace")
        good = done.returncode == 2 and "rank 1 of 2:" in done.stderr and "nowhere.trace" in done.stderr and not done.stdout
        self.count("a trace that one rank lacks", "" if good else f"{done.returncode}\n{done.stdout}{done.stderr}")
        done = self.run(*MPIRUN, "-n", 1, *check, "big.trace", ":", "-n", 1, *check, "0.trace")
        good = done.returncode == 2 and "has read another trace" in done.stderr and not done.stdout
        self.count("another trace", "" if good else f"{done.returncode}\n{done.stdout}{done.stderr}")

    def check_usage(self):
        """Mistakes are told once; standard input is not for all; nobody else needs MPI."""
        done = self.together(2, "--windw", "3", "big.trace")
        self.count("usage", "" if done.returncode == 2 and done.stderr.count("windw") == 1 else done.stderr)
        done = self.together(2, "-s", "big.prop", "-")
        self.count("standard input", "" if done.returncode == 2 and done.stderr.count("not standard input") == 1 else done.stderr)
        linked = self.run("ldd", self.portent).stdout
        self.count("portent without MPI", "" if "libmpi" not in linked and "libopen" not in linked else linked)
        alone = self.folder / "alone" / "bin"
        alone.mkdir(parents=True)
        shutil.copy(self.portent, alone / "portent")
        done = self.run(*MPIRUN, "-n", 2, alone / "portent", "check", "-s", "big.prop", "big.trace")
        good = done.returncode == 2 and done.stderr.count("portent-mpi, which divides the work") == 1
        self.count("no portent-mpi", "" if good else f"{done.returncode}\n{done.stderr}")


def children(process):
    """Process ids."""
    return [int(word) for word in pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def first_difference(a, b):
    """Where two texts part."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"{a[max(0, at - 200):at + 200]!r}\n{b[max(0, at - 200):at + 200]!r}"


def independent(threads, events):
    """Threads that know nothing of each other."""
    order = [t for t in range(1, threads + 1) for _ in range(events)]
    random.Random(1).shuffle(order)
    return "".join(f"T{t}|w(x{t})={i}|a.c:{t}\n" for i, t in enumerate(order, 1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent")
    parser.add_argument("--cases", type=int, default=180)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="portent-mpi-"))
    suite = Suite(str(pathlib.Path(args.portent).resolve()), folder)
    numbers = range(args.cases) if args.only is None else [args.only]
    suite.compare([write_case(folder, number, args.seed) for number in numbers])
    if args.only is None:
        (folder / "big.trace").write_text(independent(4, 36))
        (folder / "big.prop").write_text("property sums: always !(x1 > 130 && x2 < 9 && x3 > 135 && x4 > 1000);\n")
        for test in (suite.check_text, suite.check_memory, suite.check_dying, suite.check_differing, suite.check_usage):
            test()
    if suite.failed:
        print(f"files: {folder}")
    else:
        shutil.rmtree(folder)
    print(f"mpi: {suite.passed} passed, {suite.failed} failed")
    return suite.failed > 0


if __name__ == "__main__":
    sys.exit(main())
