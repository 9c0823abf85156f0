#!/usr/bin/env python3
"""What Portent costs on real programs: bench/real.py [--portent P] [--folder F] [--rounds N] [--longer N] [--ways W,...] [NAME...]

The programs of tests/real/programs.py, each plain, under clang's ThreadSanitizer, and built by `portent cc`: by itself with nothing to
check, under `portent run` with properties over its own globals, with one property over two of them (`joint`, for which the clocks of
all memory are kept), under `portent run --races`, by itself with PORTENT_OPTIONS=races=1, and
recording everything (record=FILE, which stays in the folder: build/bench/trace_speed says how many events it has). Rounds are interleaved. CPU time is user and system time of the whole process
tree, the observer included, as the median of the rounds; memory is the peak of the largest process, so under `portent run` it may be the
observer's. ThreadSanitizer runs without its deadlock detector. Loads of these sizes take plain programs a tenth of a second, which is short for
what costs more once logs are full and memory has been used again: --longer N makes them N times as much.
"""
import argparse
import math
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests", "real"))
sys.dont_write_bytecode = True
import programs  # noqa: E402

WAYS = ("plain", "tsan", "nothing", "property", "joint", "races", "races alone", "recorded")


def measured(folder):
    """What starts a process as subprocess.Popen does, but by bench/overhead/measure.c; and the file with what it used."""
    tool, figures = os.path.join(folder, "measure"), os.path.join(folder, "figures")
    subprocess.run(["clang", "-O2", os.path.join(HERE, "overhead", "measure.c"), "-o", tool], check=True)
    return lambda command, **options: subprocess.Popen([tool, figures, *command], stderr=subprocess.DEVNULL, **options), figures


def measure(program, way, portent, start, figures):
    """CPU seconds and MB of one run."""
    asked = {"property": ["-s", os.path.join(programs.HERE, program.properties)], "joint": ["-s", os.path.join(programs.HERE, program.joint)],
             "races": ["--races"]}.get(way)
    observer = [portent, "run", "-q", "--lenient", "--exit-code", "0", *asked, "--"] if asked else []
    os.environ["TSAN_OPTIONS"] = "detect_deadlocks=0:exitcode=0:report_bugs=1"
    os.environ["PORTENT_OPTIONS"] = {"races alone": "races=1:exitcode=0:log_path=/dev/null",
                                     "recorded": f"record={os.path.join(program.folder, 'recording')}"}.get(way, "")
    if os.path.exists(figures):
        os.remove(figures)
    program.load(way if way in ("plain", "tsan") else "portent", observer, start)
    os.environ["PORTENT_OPTIONS"] = ""
    with open(figures, encoding="ascii") as lines:
        _, seconds, kilobytes = lines.read().splitlines()[-1].split()
    return float(seconds), float(kilobytes) / 1024


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def show(title, figures, base, ways, against):
    """Ratios of each way to plain, and of ours to ThreadSanitizer's."""
    against = [way for way in against if way in ways]
    print(f"\n{title}\n\n| program | plain | " + " | ".join(ways[1:]) + " | " + " | ".join(f"{way}/TSan" for way in against) + " |")
    print("|---" * (len(ways) + 1 + len(against)) + "|")
    for name, row in figures.items():
        cells = [f"{row['plain']:{base}}", *(f"{row[way] / row['plain']:.2f}x" if way in row else "failed" for way in ways[1:])]
        print(f"| {name} | " + " | ".join([*cells, *(f"{row[way] / row['tsan']:.2f}" if way in row and "tsan" in row else "" for way in against)]) + " |")
    means = {way: geometric_mean([row[way] / row["plain"] for row in figures.values() if way in row]) for way in ways[1:]}
    ratios = [geometric_mean([row[way] / row["tsan"] for row in figures.values() if way in row and "tsan" in row]) for way in against]
    print("| geometric mean | | " + " | ".join([*(f"{means[way]:.2f}x" for way in ways[1:]), *(f"{ratio:.2f}" for ratio in ratios)]) + " |")


def main():
    parser = argparse.ArgumentParser(description="What Portent costs on real programs.")
    parser.add_argument("--portent", default=os.path.join(HERE, "..", "build", "bin", "portent"))
    parser.add_argument("--folder", default=os.path.join(HERE, "..", "build", "real"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep-builds", action="store_true", help="do not build again what was built")
    parser.add_argument("--longer", type=int, default=1, help="times the work of each load")
    parser.add_argument("--ways", default=",".join(WAYS), help="which of them, beside plain and tsan")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    portent, folder = os.path.abspath(options.portent), os.path.abspath(options.folder)
    ways = ["plain", "tsan", *(way for way in WAYS[2:] if way in options.ways.split(","))]
    programs.Program.longer = options.longer
    chosen = [kind(folder) for kind in programs.ALL if not options.names or kind.__name__.lower() in options.names]
    for program in chosen:
        for kind, (cc, cxx) in programs.compilers(portent).items():
            if not options.keep_builds or not os.path.isdir(program.target(kind)):
                program.build(kind, cc, cxx)
    start, figures = measured(folder)
    samples = {program.name: {way: [] for way in ways} for program in chosen}
    for turn in range(options.rounds):
        for program in chosen:
            for way in ways:
                try:
                    samples[program.name][way].append(measure(program, way, portent, start, figures))
                except (programs.Failure, subprocess.SubprocessError, OSError) as failure:
                    print(f"real.py: {program.name}, {way}: {str(failure)[:300]}", file=sys.stderr)
        print(f"real.py: round {turn + 1} of {options.rounds} done", file=sys.stderr)
    for at, title, base, against in ((0, "CPU time, median (plain: seconds)", ".2f", ("nothing", "property", "joint", "races", "races alone", "recorded")),
                                     (1, "Peak memory, median (plain: MB)", ".0f", ("nothing", "joint", "races alone"))):
        show(title, {name: {way: statistics.median(one[at] for one in taken) for way, taken in row.items() if taken}
                     for name, row in samples.items()}, base, ways, against)


if __name__ == "__main__":
    main()
