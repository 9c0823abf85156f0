#!/usr/bin/env python3
"""What a command costs before it does anything: processor time of a whole process, least of many.

usage: bench/start.py PORTENT [ROUNDS]

Beside it /bin/true, which is what a process costs by itself.
"""
import resource
import subprocess
import sys


def spent(command):
    """Milliseconds of processor time, user and system, of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main():
    portent, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    commands = [["/bin/true"], [portent, "--version"], [portent, "automaton", "always p"]]
    least = [min(spent(command) for _ in range(rounds)) for command in commands]
    for command, ms in zip(commands, least):
        print(f"{' '.join(command):40} {ms:6.2f} ms")


if __name__ == "__main__":
    main()
