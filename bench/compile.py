#!/usr/bin/env python3
"""What `portent cc` costs beside clang: bench/compile.py [--portent P] [--rounds N] [--real FOLDER] [--against P] [SOURCE...]

Compiles small C and C++ sources, and with --real those of lmdb, zstd and leveldb that tests/real/fetch has unpacked there, to objects:
with clang, with clang -g (`portent cc` adds it), and with `portent cc` and `portent cc -g`; with --against, by another build of it as well.
Ratios are to clang, those of `portent cc -g` to clang -g. Rounds are interleaved. CPU time is user and system time of the whole process tree; of each source and way the least of all rounds, summed over the
sources of a row.
"""
import argparse
import glob
import os
import re
import resource
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = {"three lines of C": ("tank.c", "struct { int level; } tank;\nvoid fill(void) { tank.level = 5; }\nint full(void) { return tank.level; }\n"),
         "C with headers": ("heads.c", """#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
void add(int n) { pthread_mutex_lock(&lock); count += n; pthread_mutex_unlock(&lock); }
void show(void) { printf("%d\\n", count); }
"""),
         "C++ with headers": ("heads.cc", """#include <map>
#include <mutex>
#include <string>
#include <vector>
static std::mutex lock;
static std::map<std::string, std::vector<int>> all;
void add(const std::string &name, int n) { std::lock_guard<std::mutex> guard(lock); all[name].push_back(n); }
""")}
REAL = {"lmdb": ("lmdb-*/libraries/liblmdb", "m*.c", []),
        "zstd": ("libzstd-*", "lib/*/*.c", ["-Ilib", "-Ilib/common", "-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM"]),
        "leveldb": ("leveldb-*", "db/*.cc", ["-I.", "-Iinclude", "-DLEVELDB_PLATFORM_POSIX", "-std=c++17"])}


def cpu(command, folder):
    """User and system seconds of a command and all it starts; None when it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime if done.returncode == 0 else None


def rows(options, scratch):
    """(title, folder, sources, flags) of each row."""
    for title, (name, text) in SMALL.items():
        with open(os.path.join(scratch, name), "w", encoding="utf-8") as file:
            file.write(text)
        yield title, scratch, [name], []
    for name, (place, pattern, flags) in REAL.items() if options.real else ():
        for folder in glob.glob(os.path.join(options.real, place))[:1]:
            sources = sorted(glob.glob(os.path.join(folder, pattern)))
            sources = [os.path.relpath(source, folder) for source in sources if not re.search("test|bench|legacy|mtest", source)]
            yield name, folder, sources[:options.sources], flags
    for source in options.files:
        yield os.path.basename(source), os.getcwd(), [source], []


def main():
    parser = argparse.ArgumentParser(description="What `portent cc` costs beside clang.")
    parser.add_argument("--portent", default=os.path.join(HERE, "..", "build", "bin", "portent"))
    parser.add_argument("--against", help="another portent, measured as well")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--real", help="the folder that tests/real/fetch has filled (build/real)")
    parser.add_argument("--sources", type=int, default=12, help="so many of each real program at most")
    parser.add_argument("--levels", default="-O0,-O2")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    portent = os.path.abspath(options.portent)
    said = subprocess.run([portent, "cc", "--version"], check=True, capture_output=True, text=True).stdout
    clang = os.path.join(re.search(r"InstalledDir: (.*)", said)[1], "clang")
    print("| source | level | clang, ms | clang -g | portent cc | portent cc -g |" + (" before | before, -g |" if options.against else ""))
    print("|---|---|---|---|---|---|" + ("---|---|" if options.against else ""))
    with tempfile.TemporaryDirectory() as scratch:
        for title, folder, sources, flags in rows(options, scratch):
            for level in options.levels.split(","):
                show(title, level, measure(options, portent, clang, folder, sources, [*flags, level], os.path.join(scratch, "out.o")))


def measure(options, portent, clang, folder, sources, flags, output):
    """The sum of the least times of each way."""
    totals = []
    for source in sources:
        cxx = source.endswith((".cc", ".cpp"))
        plain, mine = [clang + "++" if cxx else clang], "c++" if cxx else "cc"
        tools = [portent, *([os.path.abspath(options.against)] if options.against else [])]
        ways = [plain, [*plain, "-g"], *([tool, mine, *flag] for tool in tools for flag in ([], ["-g"]))]
        best = [None] * len(ways)
        for _ in range(options.rounds):
            for at, way in enumerate(ways):
                took = cpu([*way, *flags, "-c", source, "-o", output], folder)
                best[at] = took if best[at] is None or (took is not None and took < best[at]) else best[at]
        if None in best:
            print(f"compile.py: {source} does not compile", file=sys.stderr)
        else:
            totals.append(best)
    return [sum(column) for column in zip(*totals)]


def show(title, level, totals):
    if totals:
        ratios = " | ".join(f"{total / totals[at > 1 and at % 2]:.2f}x" for at, total in enumerate(totals) if at > 0)
        print(f"| {title} | {level} | {totals[0] * 1000:.0f} | {ratios} |", flush=True)


if __name__ == "__main__":
    main()
