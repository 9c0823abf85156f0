#!/usr/bin/env python3
"""Decentralised monitoring: run.py PORTENT [--rounds N]. Ratios to the plain program, in one interleaved run.

- the bank of the DAME paper with 2000 and with 2 million transactions (the paper: 3.4 times slower at 2000, in Java),
  each of which writes a line for each account; and how the ratio depends on what a transaction does beside that;
- processor time per access with 2 to 64 threads, where no property quantifies over threads;
- race_free(*) and ThreadSanitizer on the programs of bench/overhead, at small sizes.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
OVERHEAD = HERE.parent / "overhead"
RACES = {"bank": "400000", "hashtable": "400000", "queue": "200000", "cache": "400000", "compress": "1"}


def build(portent, clang, source, into, name, variants):
    for variant in variants:
        command = {"plain": [clang, "-I", HERE.parent.parent / "include"], "tsan": [clang, "-g", "-fsanitize=thread"],
                   "portent": [portent, "cc"]}[variant]
        subprocess.run([*command, "-O2", "-pthread", source, "-o", into / f"{name}-{variant}"], check=True)


def compile_properties(portent, properties, into, name):
    subprocess.run([portent, "compile", "-s", properties, "-o", into / f"{name}.ptc", into / f"{name}-portent"], check=True)


def run(command, options=None):
    environment = {key: value for key, value in os.environ.items() if key != "PORTENT_OPTIONS"}
    environment["TSAN_OPTIONS"] = "detect_deadlocks=0"
    if options:
        environment["PORTENT_OPTIONS"] = options
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"run.py: {command}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout.split()


def bank(portent, clang, into, rounds):
    build(portent, clang, HERE / "bank.c", into, "bank", ["plain", "portent"])
    compile_properties(portent, HERE / "bank.prop", into, "bank")
    for transactions, lines in (("2000", "2"), ("2000000", "2"), ("2000000", "0"), ("2000000", "1"), ("2000000", "4"),
                                ("2000000", "16")):
        arguments = [transactions, lines]
        variants = {"plain": ([into / "bank-plain", *arguments], None),
                    "program alone": ([into / "bank-portent", *arguments], f"properties={into}/bank.ptc"),
                    "portent run": ([portent, "run", "-q", "-s", HERE / "bank.prop", "--", into / "bank-portent", *arguments],
                                    None)}
        times, sums = {name: [] for name in variants}, set()
        for _ in range(rounds if transactions == "2000000" else 5 * rounds):
            for name, (command, options) in variants.items():
                seconds, checksum = run(command, options)
                times[name].append(float(seconds))
                sums.add(checksum)
        if len(sums) != 1:
            sys.exit(f"run.py: the bank's checksums differ: {sums}")
        for name in ("program alone", "portent run"):
            best = min(times[name]) / min(times["plain"])
            median = statistics.median(times[name]) / statistics.median(times["plain"])
            print(f"bank, {transactions} transactions of {lines} lines, {name}: {best:.2f}x (best), {median:.2f}x (medians); "
                  f"plain {min(times['plain']) / int(transactions) * 1e9:.0f} ns of processor time per transaction")


def accesses(portent, clang, into, rounds):
    build(portent, clang, HERE / "access.c", into, "access", ["plain", "portent"])
    compile_properties(portent, HERE / "access.prop", into, "access")
    counts = [2, 4, 8, 16, 32, 64]
    plain, monitored = {n: [] for n in counts}, {n: [] for n in counts}
    for _ in range(rounds):
        for n in counts:
            plain[n].append(float(run([into / "access-plain", n, 40000000])[0]))
            monitored[n].append(float(run([into / "access-portent", n, 40000000], f"properties={into}/access.ptc")[0]))
    for n in counts:
        print(f"{n} threads: {min(monitored[n]):.2f} ns per access, plain {min(plain[n]):.2f} ns")


def races(portent, clang, into, rounds):
    prop = into / "races.prop"
    prop.write_text("property races at each t: race_free(*);\n", encoding="utf-8")
    for name, size in RACES.items():
        build(portent, clang, OVERHEAD / f"{name}.c", into, f"o-{name}", ["plain", "tsan", "portent"])
        compile_properties(portent, prop, into, f"o-{name}")
        times = {"plain": [], "tsan": [], "portent": []}
        for _ in range(rounds):
            for variant in times:
                options = f"properties={into}/o-{name}.ptc:exitcode=0" if variant == "portent" else None
                before = os.times()
                run([into / f"o-{name}-{variant}", size], options)
                after = os.times()
                times[variant].append(after.children_user + after.children_system - before.children_user
                                      - before.children_system)
        ratio = {v: min(times[v]) / max(min(times["plain"]), 1e-3) for v in ("tsan", "portent")}
        print(f"race_free(*), {name} {size}: {ratio['portent']:.1f}x, ThreadSanitizer {ratio['tsan']:.1f}x (processor time)")


def main():
    parser = argparse.ArgumentParser(description="What decentralised monitoring costs.")
    parser.add_argument("portent", type=Path)
    parser.add_argument("--clang", default="clang")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["bank", "access", "races"], action="append")
    options = parser.parse_args()
    portent = options.portent.resolve()
    parts = {"bank": bank, "access": accesses, "races": races}
    with tempfile.TemporaryDirectory() as folder:
        for name, part in parts.items():
            if not options.only or name in options.only:
                part(portent, options.clang, Path(folder), options.rounds)


if __name__ == "__main__":
    main()
