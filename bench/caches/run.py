#!/usr/bin/env python3
"""What each of the runtime's caches is worth: run.py [--portent P] [--rounds N].

The runtime's archive is built once as it is and once without each cache (src/runtime/sys/cache.h), every program is linked
against each of them, and all are run in turn, round by round. A figure is the median CPU time (user and system, of the whole
process tree) without the cache over the median with all of them, and likewise of the best; in brackets the ratio of peak
memory where it differs by 5 % or more. A run whose output differs from the others', or a property that does not hold, fails the benchmark.

`--build FOLDER` only builds, into that folder; `--measure FOLDER` only measures what is there, on another machine if need be:
it wants this folder of `bench`, Python and the libraries of `portent`, no compiler. `--jobs` runs that many cases at a time, each pinned to
processors of its own; those with many threads run alone.
"""
import argparse
import json
import os
import queue
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from processes import environment_with, run_timed

ROOT = HERE.parent.parent
CACHES = ["passed", "seen", "between", "readings", "raised", "ring", "kept", "silence", "ladder"]
ALL = "all"
OVERHEAD = ["compress", "bank", "hashtable", "queue", "cache"]
SOURCES = {
    **{name: ROOT / f"bench/overhead/{name}.c" for name in OVERHEAD},
    "transactions": ROOT / "bench/mttl/bank.c",
    "access": ROOT / "bench/mttl/access.c",
    "readers": HERE / "readers.c",
    "phases": HERE / "phases.c",
}
PROPERTIES = {
    **{name: ROOT / f"bench/overhead/{name}.prop" for name in OVERHEAD},
    "transactions": ROOT / "bench/mttl/bank.prop",
    "access": ROOT / "bench/mttl/access.prop",
    "readers": HERE / "readers.prop",
    "phases": HERE / "phases.prop",
}


@dataclass
class Case:
    """A program with arguments, and who evaluates its properties: an observer, the program, or race_free(*) in it."""

    title: str
    program: str
    arguments: list
    mode: str
    crowd: bool = False
    prints_time: bool = False
    cpu: dict = field(default_factory=dict)
    peak: dict = field(default_factory=dict)
    output: set = field(default_factory=set)


def cases():
    return [
        Case("access, 16 threads, decentralised", "access", ["16", "40000000"], "alone", crowd=True, prints_time=True),
        Case("access, 64 threads, decentralised", "access", ["64", "40000000"], "alone", crowd=True, prints_time=True),
        Case("readers, 16 threads, observed", "readers", ["4000000", "16"], "observed", crowd=True),
        Case("readers, 2 threads, observed", "readers", ["6000000", "2"], "observed"),
        Case("phases, 16 threads, observed", "phases", ["4", "16"], "observed", crowd=True),
        Case("phases, 2 threads, observed", "phases", ["20", "2"], "observed"),
        Case("compress, observed", "compress", ["128"], "observed"),
        Case("bank, observed", "bank", ["2000000"], "observed"),
        Case("hashtable, observed", "hashtable", ["2000000"], "observed"),
        Case("queue, observed", "queue", ["2000000"], "observed"),
        Case("cache, observed", "cache", ["1500000"], "observed"),
        Case("transactions, decentralised", "transactions", ["300000", "2"], "alone", prints_time=True),
        Case("access, 2 threads, decentralised", "access", ["2", "40000000"], "alone", prints_time=True),
        Case("bank, race_free(*)", "bank", ["400000"], "races"),
        Case("hashtable, race_free(*)", "hashtable", ["300000"], "races"),
        Case("queue, race_free(*)", "queue", ["400000"], "races"),
        Case("cache, race_free(*)", "cache", ["250000"], "races"),
    ]


def archive_commands(portent):
    """How the build folder compiles the sources of libportent-rt.a."""
    entries = json.loads((portent.parent.parent / "compile_commands.json").read_text(encoding="utf-8"))
    return [entry for entry in entries if "portent_rt_archive.dir" in entry["command"]]


def build_archive(portent, cache, into):
    """The archive without this cache."""
    into.mkdir(parents=True)
    shutil.copy(portent.parent.parent / "lib/portent-rt-static.wrap", into)

    def compile_one(numbered):
        number, entry = numbered
        words = shlex.split(entry["command"])
        words[words.index("-o") + 1] = str(into / f"{number}.o")
        if cache != ALL:
            words.insert(1, f"-DPT_WITHOUT=PT_CACHE_{cache.upper()}")
        if shutil.which("ccache"):
            words.insert(0, "ccache")
        subprocess.run(words, cwd=entry["directory"], check=True)
        return into / f"{number}.o"

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, enumerate(archive_commands(portent))))
    subprocess.run(["ar", "rcs", into / "libportent-rt.a", *objects], check=True)
    for made in objects:
        made.unlink()


def build(portent, into):
    """Everything that is run, in one folder."""
    prefix = portent.parent.parent
    compiler = prefix / "libexec/portent/portent-cc"
    (into / "bin").mkdir(parents=True)
    (into / "lib").mkdir()
    shutil.copy(portent, into / "bin/portent")
    shutil.copy(prefix / "lib/libportent-rt.so", into / "lib")
    (into / "races.prop").write_text("property races at each t: race_free(*);\n", encoding="utf-8")
    for name, source in SOURCES.items():
        shutil.copy(PROPERTIES[name], into / f"{name}.prop")
        subprocess.run([portent, "cc", "-O2", "-pthread", "-c", source, "-o", into / f"{name}.o"], check=True)
    for cache in [ALL, *CACHES]:
        archive = into / f"without-{cache}"
        build_archive(portent, cache, archive)
        for name in SOURCES:
            subprocess.run([compiler, "cc", archive, prefix / "include", "-pthread", into / f"{name}.o", "-o",
                            into / f"{name}-{cache}"], check=True)
        shutil.rmtree(archive)
        print(f"run.py: built without {cache}" if cache != ALL else "run.py: built with all caches", file=sys.stderr)
    for name in SOURCES:
        (into / f"{name}.o").unlink()
    compile_properties(portent, into)


def compile_properties(portent, into):
    """Those that programs evaluate themselves: compiled for each build of each."""
    for case in cases():
        properties = into / ("races.prop" if case.mode == "races" else f"{case.program}.prop")
        for cache in [ALL, *CACHES] if case.mode != "observed" else []:
            program = into / f"{case.program}-{cache}"
            subprocess.run([portent, "compile", "-s", properties, "-o", f"{program}-{case.mode}.ptc", program], check=True)


def command_of(folder, case, cache):
    """What is run, and its PORTENT_OPTIONS."""
    program = [folder / f"{case.program}-{cache}", *case.arguments]
    if case.mode == "observed":
        return [folder / "bin/portent", "run", "-q", "--window=1", "--lookahead=1", "-s", folder / f"{case.program}.prop", "--",
                *program], None
    return program, f"properties={program[0]}-{case.mode}.ptc:exitcode=0"


def run_once(folder, case, cache, processors):
    command, options = command_of(folder, case, cache)
    out, used = run_timed(["taskset", "-c", processors, *command], environment_with(options))
    if not case.prints_time:
        case.output.add(out)
    case.cpu.setdefault(cache, []).append(used.ru_utime + used.ru_stime)
    case.peak.setdefault(cache, []).append(used.ru_maxrss)


def measure_case(folder, case, caches, rounds, processors):
    for turn in range(rounds):
        order = [ALL, *caches]
        order = order[turn % len(order):] + order[: turn % len(order)]
        for cache in order:
            run_once(folder, case, cache, processors)
    if len(case.output) > 1:
        sys.exit(f"run.py: {case.title}: the builds do not agree on the checksum")
    print(f"run.py: {case.title} done, {statistics.median(case.cpu[ALL]):.2f} s each", file=sys.stderr, flush=True)


def measure(folder, todo, caches, rounds, jobs):
    """Crowded cases one after the other on all processors, then the others, `jobs` at a time."""
    count = os.cpu_count()
    for case in todo:
        if case.crowd:
            measure_case(folder, case, caches, rounds, f"0-{count - 1}")
    places, left, failed = queue.Queue(), queue.Queue(), []
    for job in range(jobs):
        places.put(f"{job * count // jobs}-{(job + 1) * count // jobs - 1}")
    for case in todo:
        if not case.crowd:
            left.put(case)

    def work():
        place = places.get()
        while not left.empty() and not failed:
            try:
                measure_case(folder, left.get(), caches, rounds, place)
            except SystemExit as error:
                failed.append(error)

    workers = [threading.Thread(target=work) for _ in range(jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if failed:
        sys.exit(str(failed[0]))


def ratio(case, cache, figure):
    cpu = figure(case.cpu[cache]) / figure(case.cpu[ALL])
    peak = statistics.median(case.peak[cache]) / statistics.median(case.peak[ALL])
    return f"{cpu:.2f}" + (f" ({peak:.2f})" if abs(peak - 1) >= 0.05 else "")


def table(title, todo, caches, figure):
    print(f"\n{title}\n")
    print("| program | with all, s | " + " | ".join(f"without {cache}" for cache in caches) + " |")
    print("|---" * (2 + len(caches)) + "|")
    for case in todo:
        cells = [case.title, f"{figure(case.cpu[ALL]):.2f}", *(ratio(case, cache, figure) for cache in caches)]
        print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--portent", default=ROOT / "build/bin/portent", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", action="append", help="cases whose title contains this")
    parser.add_argument("--without", action="append", choices=CACHES, help="only these caches")
    parser.add_argument("--build", metavar="FOLDER", type=Path)
    parser.add_argument("--measure", metavar="FOLDER", type=Path)
    options = parser.parse_args()
    todo = [case for case in cases() if not options.only or any(part in case.title for part in options.only)]
    with tempfile.TemporaryDirectory(prefix="portent-caches-") as temporary:
        folder = options.measure or options.build or Path(temporary) / "built"
        if not options.measure:
            build(options.portent.resolve(), folder.resolve())
        if not options.build:
            caches = options.without or CACHES
            measure(folder.resolve(), todo, caches, options.rounds, options.jobs)
            table(f"CPU time, medians of {options.rounds}", todo, caches, statistics.median)
            table(f"CPU time, best of {options.rounds}", todo, caches, min)


if __name__ == "__main__":
    main()
