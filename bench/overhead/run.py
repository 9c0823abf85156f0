#!/usr/bin/env python3
"""What instrumentation costs: each program plain, under clang's ThreadSanitizer, and under Portent, in one interleaved run.

Figures are ratios to the plain build at -O2: of the best of the rounds, and for CPU time also of the medians, since the best
round of a short contended program is one in which its threads happened not to meet. CPU time is user and system time of the whole
process tree, hence for `portent run` the observer's work too. Memory is the peak of the program itself (VmHWM); the
observer's is told apart. TSan runs without its deadlock detector, which Portent has no counterpart of and which would
make TSan look far slower on the bank. A run whose checksum differs from the plain one, or a property that does not hold,
fails the benchmark.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = ["compress", "bank", "hashtable", "queue", "cache"]
EVENT_RUNS = [  # program and its properties, options, arguments, aim in events/s
    ("two variables, default window", "events", [], [], "2M"),
    ("two variables, observed order only", "events", ["--window=1", "--lookahead=1"], [], "-"),
    ("one variable, default window", "events", [], ["same"], "-"),
    ("eight threads and variables, default window", "events8", [], [], "0.5M"),
    ("64 threads and variables, default window", "events64", [], ["many"], "0.2M"),
]


@dataclass
class Sample:
    """What the rounds gave for one variant of one program."""

    elapsed: list = field(default_factory=list)
    cpu: list = field(default_factory=list)
    program: list = field(default_factory=list)  # CPU time of the program itself, up to its end
    peak_kb: list = field(default_factory=list)
    tree_kb: list = field(default_factory=list)
    output: set = field(default_factory=set)


def build(portent, clang, into):
    """All variants of all programs."""
    subprocess.run([clang, "-O2", HERE / "measure.c", "-o", into / "measure"], check=True)
    for name in PROGRAMS + ["events"]:
        source = HERE / f"{name}.c"
        for variant, command in (
            ("plain", [clang]),
            ("tsan", [clang, "-g", "-fsanitize=thread"]),
            ("portent", [portent, "cc"]),
        ):
            subprocess.run([*command, "-O2", "-pthread", source, "-o", into / f"{name}-{variant}"], check=True)
    for workers in (8, 64):
        many = [portent, "cc", "-O2", "-pthread", f"-DWORKERS={workers}", HERE / "events.c", "-o", into / f"events{workers}-portent"]
        subprocess.run(many, check=True)


def variants(portent, into, name, arguments):
    """What is run for one program: title and command."""
    binary = {v: str(into / f"{name}-{v}") for v in ("plain", "tsan", "portent")}
    return {
        "plain": [binary["plain"], *arguments],
        "tsan": [binary["tsan"], *arguments],
        "property": [portent, "run", "-q", "-s", HERE / f"{name}.prop", "--", binary["portent"], *arguments],
        "races": [portent, "run", "-q", "--races", "--", binary["portent"], *arguments],
        "sampled": [portent, "run", "-q", "--lenient", "--races", "--sample", "--", binary["portent"], *arguments],
        "recorded": ["env", f"PORTENT_OPTIONS=record={into / 'recording'}", binary["portent"], *arguments],
        "alone": [binary["portent"], *arguments],
    }


def measure(into, command, sample):
    """One run of a command, added to its sample."""
    times, peak = into / "times", into / "peak"
    for file in (times, peak):
        file.unlink(missing_ok=True)
    environment = dict(os.environ, OVERHEAD_PEAK=str(peak), TSAN_OPTIONS="detect_deadlocks=0")
    done = subprocess.run([into / "measure", times, *command], env=environment, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"run.py: {' '.join(map(str, command))}: exit status {done.returncode}")
    elapsed, cpu, tree_kb = map(float, times.read_text().split())
    sample.elapsed.append(elapsed)
    sample.cpu.append(cpu)
    sample.tree_kb.append(tree_kb)
    lines = peak.read_text().splitlines()
    sample.peak_kb.append(float(lines[0].split()[0]))
    sample.program.append(float(lines[1]))
    sample.output.add(done.stdout)


def relevant_events(portent, into, name, arguments):
    """How many relevant events one run has, from its result file."""
    result = into / "result.json"
    subprocess.run(
        [portent, "run", "-q", "-r", result, "-s", HERE / f"{name}.prop", "--", into / f"{name}-portent", *arguments],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return events_of(result)


def events_of(result):
    """The number of events in a result file; every property in it must hold (lost events would make it unknown)."""
    found = json.loads(result.read_text())
    for item in found["properties"]:
        if item["verdict"] != "holds":
            sys.exit(f"run.py: property {item['name']}: {item['verdict']}")
    return found["events"]


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values))


def table(title, samples, figure):
    """Ratios to plain, and Portent's to TSan's."""
    others = ["tsan", "property", "races", "sampled", "recorded", "alone"]
    ratios = {n: {v: figure(s[v]) / figure(s["plain"]) for v in others} for n, s in samples.items()}
    ratios["geometric mean"] = {v: geometric_mean(r[v] for r in ratios.values()) for v in others}
    print(f"\n{title}\n")
    print("| program | plain | TSan | property | races | races, sampled | recorded | nothing to check | property/TSan | races/TSan | recorded/TSan |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for name, ratio in ratios.items():
        base = f"{figure(samples[name]['plain']):.2f}" if name in samples else ""
        cells = [f"{ratio[v]:.2f}x" for v in others]
        against = [f"{ratio[v] / ratio['tsan']:.2f}" for v in ("property", "races", "recorded")]
        print("| " + " | ".join([name, base, *cells, *against]) + " |")


def compare_programs(portent, into, rounds, size_of):
    samples = {}
    for name in PROGRAMS:
        samples[name] = {variant: Sample() for variant in variants(portent, into, name, [])}
    for turn in range(rounds):
        for name in PROGRAMS:
            for variant, command in variants(portent, into, name, size_of(name)).items():
                measure(into, command, samples[name][variant])
        print(f"run.py: round {turn + 1} of {rounds} done", file=sys.stderr)
    for name, sample in samples.items():
        if len(set.union(*(s.output for s in sample.values()))) != 1:
            sys.exit(f"run.py: {name}: the builds do not agree on the checksum")
    table("CPU time, best (plain: seconds)", samples, lambda s: min(s.cpu))
    table("CPU time, median (plain: seconds)", samples, lambda s: statistics.median(s.cpu))
    table("Elapsed time, best (plain: seconds)", samples, lambda s: min(s.elapsed))
    table("Peak memory of the program, largest (plain: MB)", samples, lambda s: max(s.peak_kb) / 1024)
    print("\n| program | relevant events per run | largest process of `portent run`, MB |\n|---|---|---|")
    for name in PROGRAMS:
        count = relevant_events(portent, into, name, size_of(name))
        print(f"| {name} | {count} | {max(samples[name]['property'].tree_kb) / 1024:.0f} |")


def event_path(portent, into, rounds, size):
    """Events per second through `portent run`, from start to verdict, start-up included, and those that the observer's own
    CPU time would do, which other work on the machine disturbs less; --on-full=block loses none."""
    print("\n| event path | events/s, start to verdict | aim | events/s of the observer's CPU time | CPU time of the program, ns an event |")
    print("|---|---|---|---|---|")
    for title, program, options, arguments, aim in EVENT_RUNS:
        sample = Sample()
        result = into / "result.json"
        command = [portent, "run", "-q", "-r", result, "-s", HERE / f"{program}.prop", *options, "--"]
        for _ in range(rounds):
            measure(into, [*command, into / f"{program}-portent", str(size), *arguments], sample)
            if events_of(result) != size:
                sys.exit(f"run.py: event path, {title}: {events_of(result)} of {size} events arrived")
        observer = min(cpu - program for cpu, program in zip(sample.cpu, sample.program))
        print(f"| {title} | {size / min(sample.elapsed) / 1e6:.2f}M | {aim} | {size / observer / 1e6:.2f}M | {min(sample.program) / size * 1e9:.0f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--portent", default=HERE.parent.parent / "build/bin/portent", type=Path)
    parser.add_argument("--clang", default="clang-14", help="the plain compiler (default: clang-14)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=2000000, help="events of the event path (default: 2000000)")
    parser.add_argument("--only-events", action="store_true", help="measure the event path alone")
    parser.add_argument("--size", type=int, help="the size argument of all programs (default: each one's own)")
    options = parser.parse_args()
    portent = options.portent.resolve()
    with tempfile.TemporaryDirectory(prefix="portent-overhead-") as folder:
        into = Path(folder)
        build(portent, options.clang, into)
        if not options.only_events:
            compare_programs(portent, into, options.rounds, lambda name: [str(options.size)] if options.size else [])
        event_path(portent, into, options.rounds, options.events)


if __name__ == "__main__":
    main()
