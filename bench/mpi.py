#!/usr/bin/env python3
"""Ranks of mpirun beside threads of one process, on full lattices: time of the exploration, bytes and messages, memory.

usage: bench/mpi.py [PORTENT [ROUNDS]]

Each round runs every way once, and the least of a way counts: time of the exploration, which the result has as `seconds`, without mpirun's start; and
processor time, of jobs that of the process divided by their number, of ranks the greatest of a rank without what it spent in MPI, where waiting counts.
The aim: two ranks on two cores are at least 0.8 times as fast as --jobs 2. Time needs as many idle cores as ranks; processor time says what is left
where the machine is loaded.
"""
import json
import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHAPES = ((4, 80), (6, 16), (8, 7))  # threads, events of each
RANKS = [1, 2, 4]
FIGURES = re.compile(r"rank \d+: (\d+) bytes in (\d+) messages, \d+ collective calls, \d+ KiB of memory, (\d+) ms of processor time, (\d+) of")


def write(folder, threads, events):
    """A trace of threads that know nothing of each other, and a property that holds."""
    order = [t for t in range(1, threads + 1) for _ in range(events)]
    random.Random(1).shuffle(order)
    (folder / "a.trace").write_text("".join(f"T{t}|w(x{t})={i}|a.c:{t}\n" for i, t in enumerate(order, 1)))
    atoms = " && ".join(f"x{t} > 100000" for t in range(1, threads + 1))
    (folder / "a.prop").write_text(f"property holds: always !({atoms});\n")


def processor_time():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(folder, command, jobs):
    """Seconds, processor time, states and greatest memory in bytes of one check; what each rank said of itself."""
    before = processor_time()
    done = subprocess.run([*command, "--order", "access", "--json", "-s", "a.prop", "a.trace"], cwd=folder, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)["properties"][0]
    ranks = [tuple(map(int, match)) for match in FIGURES.findall(done.stderr)]
    spent = max((r[2] - r[3]) / 1000 for r in ranks) if ranks else (processor_time() - before) / jobs
    return found["seconds"], spent, found["states"], found["peak_bytes"], ranks


def main():
    portent = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/bin/portent").resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    mpi = portent.parent.parent / "libexec/portent/portent-mpi"
    mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none"] + (["--allow-run-as-root"] if os.getuid() == 0 else [])
    ways = {f"jobs {j}": [str(portent), "check", "--jobs", str(j)] for j in (1, 2)}
    ways |= {f"ranks {n}": [*mpirun, "-n", str(n), str(mpi), "--figures", "check"] for n in RANKS}
    for threads, events in SHAPES:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            write(folder, threads, events)
            best = {}
            for _ in range(rounds):
                for way, command in ways.items():
                    got = measure(folder, command, 2 if way == "jobs 2" else 1)
                    old = best.get(way, got)
                    best[way] = (min(old[0], got[0]), min(old[1], got[1]), *got[2:])
        print(f"{threads} threads x {events} events, {best['jobs 1'][2]} states")
        for way, (seconds, spent, states, peak, ranks) in best.items():
            wire = f", {sum(r[0] for r in ranks) / states:.1f} bytes a state in {sum(r[1] for r in ranks)} messages" if len(ranks) > 1 else ""
            print(f"  {way}: {seconds:.2f} s, {spent:.2f} s of processor time, {peak >> 20} MiB for levels and events{wire}")
        print(f"  two ranks beside two jobs: {best['jobs 2'][0] / best['ranks 2'][0]:.2f} in time, "
              f"{best['jobs 2'][1] / best['ranks 2'][1]:.2f} in processor time (aim: 0.8)", flush=True)


if __name__ == "__main__":
    main()
