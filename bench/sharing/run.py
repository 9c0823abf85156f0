#!/usr/bin/env python3
"""Cache lines that jobs of an exploration take from each other, for each state: bench/sharing/run.py BUILD [WRITES [JOBS...]]

The full lattice of 4 threads x 60 writes by an engine whose every access of memory is followed (lines.c), atoms over one variable and over several. A line
that is taken is written while another thread has it: what a shared counter would cost for each state is 1 or more. Of these, lines of atomic
operations are what workers share by design; the others are parts of a level that one has made and another reads, or where two parts meet: a matter of
who helps whom, so more on a busy machine. Aims: 0.1 and 0.001.
"""
import re
import subprocess
import sys

LINES = re.compile(r"lines: (\d+) taken, (\d+) fetched; atomic: (\d+) taken, (\d+) fetched; (\d+) threads")


def main():
    program = f"{sys.argv[1]}/bench/sharing"
    writes = sys.argv[2] if len(sys.argv) > 2 else "60"
    for kind in ([], ["joint"]):
        for jobs in sys.argv[3:] or ["1", "2"]:
            done = subprocess.run([program, "once", writes, jobs, *kind], capture_output=True, text=True, check=True)
            taken, fetched, atomic_taken, atomic_fetched, threads = map(int, LINES.search(done.stderr).groups())
            states = int(re.search(r"(\d+) states", done.stdout)[1])
            print(f"RATE lines for each of {states} states, atoms over {'several variables' if kind else 'one variable'}, {jobs} jobs, {threads} threads: "
                  f"{taken / states:.4f} taken (at most 0.1), {fetched / states:.4f} fetched; "
                  f"atomic {atomic_taken / states:.5f} taken (at most 0.001), {atomic_fetched / states:.5f} fetched", flush=True)


if __name__ == "__main__":
    main()
