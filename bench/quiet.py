#!/usr/bin/env python3
"""What Portent costs on another, quiet machine: built here, measured there.

    bench/quiet.py build FOLDER [--portent P] [--before P] [--real F]
    bench/quiet.py run FOLDER [--rounds N] [--minutes M] [--threads 2,4,8,16] [--ways record] [--part 5]

`build` puts everything into FOLDER: the programs of bench/overhead with 2, 4, 8 and 16 worker threads, plain, under
ThreadSanitizer and by `portent cc` (with --before by an older portent, too), lmdb and zstd where bench/real.py has built them in F,
and portent with its runtime. `run` needs only that folder, this script and the libraries of the build machine. Rounds are
interleaved; CPU time is that of the whole process tree, the best of the rounds. It ends after M minutes (default 4.5). --ways says what is
measured beside plain and ThreadSanitizer: nothing, property, races, sample (these four by default), record (everything into a file, for which
--part makes the programs do a part of the work: compress writes 0.6 MB for each of its 400 blocks, lmdb 0.1 MB for each of 3000 rounds).
"""
import argparse
import math
import os
import resource
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SIZES = {"compress": 400, "bank": 8000000, "hashtable": 6000000, "queue": 4000000, "cache": 6000000}
THREADS = (2, 4, 8, 16)


def take_portent(portent, folder):
    """A copy of a build's portent with what it starts and links."""
    build = os.path.dirname(os.path.dirname(os.path.abspath(portent)))
    for part in ("bin", "lib", "libexec", "include"):
        if os.path.isdir(os.path.join(build, part)):
            shutil.copytree(os.path.join(build, part), os.path.join(folder, part), dirs_exist_ok=True)


def build(options):
    os.makedirs(options.folder, exist_ok=True)
    compilers = {"plain": ["clang-14"], "tsan": ["clang-14", "-fsanitize=thread"], "portent": [os.path.abspath(options.portent), "cc"]}
    take_portent(options.portent, os.path.join(options.folder, "portent"))
    if options.before:
        compilers["before"] = [os.path.abspath(options.before), "cc"]
        take_portent(options.before, os.path.join(options.folder, "before"))
    for name in SIZES:
        shutil.copy(os.path.join(HERE, "overhead", f"{name}.prop"), options.folder)
        for threads in THREADS:
            for kind, compiler in compilers.items():
                subprocess.run([*compiler, "-O2", "-g", "-pthread", f"-DWORKERS={threads}", os.path.join(HERE, "overhead", f"{name}.c"), "-o",
                                os.path.join(options.folder, f"{name}-{threads}-{kind}")], check=True)
    for package, program, prop in (("lmdb", "libraries/liblmdb/load", "lmdb"), ("libzstd", "programs/zstd", "zstd")):
        shutil.copy(os.path.join(HERE, "..", "tests", "real", f"{prop}.prop"), options.folder)
        for kind in ("plain", "tsan", "portent"):
            made = os.path.join(options.real, f"{package}-with-{kind}", program)
            if os.path.exists(made):
                shutil.copy(made, os.path.join(options.folder, f"{prop}-2-{kind}"))
    with open(os.path.join(options.folder, "words"), "w", encoding="ascii") as file:
        for i in range(1500000):
            file.write(f"{(i * 2654435761 >> 7) % 99991} word {i % 1009}\n")


def command(folder, name, threads, way, part=1):
    """The command line and environment of one run; None where it was not built."""
    kind, _, what = way.partition("-")
    program = os.path.join(folder, f"{name}-{threads}-{kind}")
    if not os.path.exists(program):
        return None
    scratch = os.path.join(folder, "scratch")
    shutil.rmtree(scratch, ignore_errors=True)
    os.mkdir(scratch)
    line = [program, str(SIZES[name] // part)] if name in SIZES else [program, scratch, str(3000 // part)] if name == "lmdb" else \
        [program, "-T2", "-3", "-q", "-f", "-k", os.path.join(folder, "words"), "-o", os.path.join(scratch, "out.zst")]
    environment = dict(os.environ, TSAN_OPTIONS="detect_deadlocks=0:exitcode=0:log_path=/dev/null", PORTENT_OPTIONS="")
    if what == "property":
        line = [os.path.join(folder, kind, "bin", "portent"), "run", "-q", "--lenient", "--exit-code", "0", "-s",
                os.path.join(folder, f"{name}.prop"), "--", *line]
    elif what == "sample":
        environment["PORTENT_OPTIONS"] = "races=1:sample=1000:exitcode=0:log_path=/dev/null"
    elif what == "record":
        environment["PORTENT_OPTIONS"] = f"record={scratch}.rec:log_path=/dev/null"
    elif what == "races":
        environment["PORTENT_OPTIONS"] = "races=1:exitcode=0:log_path=/dev/null"
    return line, environment


def cpu(line, environment):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        print(f"quiet.py: status {done.returncode}: {' '.join(line)}", file=sys.stderr)
        return None
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(rows, ways, best):
    compared = ways[2:]
    print("| program | threads | plain, s | " + " | ".join([*ways[1:], *(f"{way}/TSan" for way in compared)]) + " |\n" + "|---" * (2 * len(ways)) + "|")
    for row in rows:
        have = {way: best[row, way] for way in ways if (row, way) in best}
        if "plain" in have:
            ratios = [f"{have[way] / have['plain']:.2f}x" if way in have else "" for way in ways[1:]]
            last = [f"{have[way] / have['tsan']:.2f}" if way in have and "tsan" in have else "" for way in compared]
            print(f"| {row[0]} | {row[1]} | {have['plain']:.3f} | " + " | ".join([*ratios, *last]) + " |")
    for threads in sorted({row[1] for row in rows}):
        mean = []
        for way in ways[1:]:
            all_of = [best[row, way] / best[row, "plain"] for row in rows if row[1] == threads and (row, way) in best and (row, "plain") in best]
            mean.append(f"{math.exp(sum(map(math.log, all_of)) / len(all_of)):.2f}x" if all_of else "")
        print(f"| geometric mean | {threads} | | " + " | ".join(mean) + " |" + " |" * len(compared))


def run(options):
    kinds = ["portent", "before"] if os.path.isdir(os.path.join(options.folder, "before")) else ["portent"]
    ways = ["plain", "tsan", *(f"{kind}-{what}" for what in options.ways.split(",") for kind in kinds)]
    rows = [(name, threads) for threads in map(int, options.threads.split(",")) for name in [*SIZES, *(["lmdb", "zstd"] if threads == 2 else [])]]
    best, end = {}, time.monotonic() + 60 * options.minutes
    for _ in range(options.rounds):
        for row in rows:
            for way in ways:
                made = command(options.folder, *row, way, options.part) if time.monotonic() < end else None
                took = cpu(*made) if made else None
                if took:
                    best[row, way] = min(took, best.get((row, way), took))
    show(rows, ways, best)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("build", "run"))
    parser.add_argument("folder")
    parser.add_argument("--portent", default=os.path.join(HERE, "..", "build", "bin", "portent"))
    parser.add_argument("--before", help="an older portent, measured as well")
    parser.add_argument("--real", default=os.path.join(HERE, "..", "build", "real"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=4.5)
    parser.add_argument("--threads", default="2,4,8,16")
    parser.add_argument("--ways", default="nothing,property,races,sample")
    parser.add_argument("--part", type=int, default=1, help="the programs do so small a part of the usual work")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    (build if options.what == "build" else run)(options)


if __name__ == "__main__":
    main()
