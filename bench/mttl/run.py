#!/usr/bin/env python3
"""Decentralised monitoring: run.py PORTENT [--rounds N]. Ratios to the plain program, in one interleaved run.

- the bank of the DAME paper with 2000 and with 2 million transactions (the paper: 3.4 times slower at 2000, in Java),
  each of which writes a line for each account; and how the ratio depends on what a transaction does beside that;
- processor time per access with 2 to 64 threads, where no property quantifies over threads;
- race_free(*) and ThreadSanitizer on the programs of bench/overhead, in processor time, at sizes where the plain
  program takes at least 50 ms; compress only 10 ms, because race_free(*) keeps some 300 bytes for each of its bytes.
"""
import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import processes

TSAN = {"TSAN_OPTIONS": "detect_deadlocks=0"}
OVERHEAD = HERE.parent / "overhead"
RACES = {"bank": "4000000", "hashtable": "3000000", "queue": "4000000", "cache": "2500000", "compress": "32"}


def build(portent, clang, source, into, name, variants):
    for variant in variants:
        command = {"plain": [clang, "-I", HERE.parent.parent / "include"], "tsan": [clang, "-g", "-fsanitize=thread"],
                   "portent": [portent, "cc"]}[variant]
        subprocess.run([*command, "-O2", "-pthread", source, "-o", into / f"{name}-{variant}"], check=True)


def compile_properties(portent, properties, into, name):
    subprocess.run([portent, "compile", "-s", properties, "-o", into / f"{name}.ptc", into / f"{name}-portent"], check=True)


def run(command, options=None):
    environment = processes.environment_with(options, **TSAN)
    done = subprocess.run([str(part) for part in command], env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"run.py: {command}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout.split()


def run_timed(command, options=None):
    """Its output, and the seconds of processor time that it took."""
    out, used = processes.run_timed(command, processes.environment_with(options, **TSAN))
    return out, used.ru_utime + used.ru_stime


def build_bank(portent, clang, into):
    build(portent, clang, HERE / "bank.c", into, "bank", ["plain", "portent"])
    compile_properties(portent, HERE / "bank.prop", into, "bank")


def bank_times(portent, into, transactions, lines, rounds):
    """Of a bank that is built: the processor seconds of its transactions, a list for each way of running it, in interleaved rounds."""
    arguments = [transactions, lines]
    variants = {"plain": ([into / "bank-plain", *arguments], None),
                "program alone": ([into / "bank-portent", *arguments], f"properties={into}/bank.ptc"),
                "portent run": ([portent, "run", "-q", "-s", HERE / "bank.prop", "--", into / "bank-portent", *arguments], None)}
    times, sums = {name: [] for name in variants}, set()
    for _ in range(rounds):
        for name, (command, options) in variants.items():
            seconds, checksum = run(command, options)
            times[name].append(float(seconds))
            sums.add(checksum)
    if len(sums) != 1:
        sys.exit(f"run.py: the bank's checksums differ: {sums}")
    return times


def bank(portent, clang, into, rounds):
    build_bank(portent, clang, into)
    for transactions, lines in ((2000, 2), (2000000, 2), (2000000, 0), (2000000, 1), (2000000, 4), (2000000, 16)):
        times = bank_times(portent, into, transactions, lines, rounds if transactions == 2000000 else 20 * rounds)
        for name in ("program alone", "portent run"):
            best = min(times[name]) / min(times["plain"])
            median = statistics.median(times[name]) / statistics.median(times["plain"])
            print(f"bank, {transactions} transactions of {lines} lines, {name}: {best:.2f}x (best), {median:.2f}x (medians); "
                  f"plain {min(times['plain']) / transactions * 1e9:.0f} ns of processor time per transaction")


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
        times, outputs = {"plain": [], "tsan": [], "portent": []}, set()
        for _ in range(rounds):
            for variant in times:
                options = f"properties={into}/o-{name}.ptc:exitcode=0" if variant == "portent" else None
                output, seconds = run_timed([into / f"o-{name}-{variant}", size], options)
                outputs.add(output)
                times[variant].append(seconds)
        if len(outputs) != 1:
            sys.exit(f"run.py: the checksums of {name} differ: {outputs}")
        best = {variant: min(seconds) for variant, seconds in times.items()}
        print(f"race_free(*), {name} {size}: {best['portent'] / best['plain']:.0f}x, ThreadSanitizer "
              f"{best['tsan'] / best['plain']:.1f}x, {best['portent'] / best['tsan']:.1f} times as much (best of {rounds}; "
              f"plain {best['plain'] * 1000:.0f} ms of processor time)", flush=True)


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
