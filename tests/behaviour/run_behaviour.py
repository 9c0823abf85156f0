#!/usr/bin/env python3
"""Small programs, plain and observed: run_behaviour.py PORTENT [NAME...] [--jobs N] [--keep FOLDER] [--times]

Each program of programs/ is compiled by the plain compiler and by `portent cc` or `portent c++`, at -O0 and -O2 unless it asks for one of
them, and run plain, observed with a property that holds and a recording, observed with a property that does not hold, and, at the last
level, with `race_free(*)`, which holds.
Observed runs have the plain one's output and status, take less than 20 times its time, and the recording has exactly the writes that the
program says it made (say.h). README.md says what the head of a program may ask for. The last line is `behaviour: N passed, M failed`;
what is counted is a program at a level of optimisation.
"""
import argparse
import collections
import concurrent.futures
import glob
import itertools
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "programs"))
from suite import Failure, same, true, write  # noqa: E402

FOUND = 66
TIMES = 20  # how much longer an observed run may take
FLOOR_CPU, FLOOR_WALL = 2.0, 5.0  # seconds that may come on top: starting the observer, and a busy machine, on which programs that spin spin longer
LIMIT = 40  # seconds until a run counts as one that hangs
RECORD = struct.Struct("<iic31s24s")
CAPACITY = 20000
KEYS = ("holds", "violated", "ordered", "interrupted", "races", "optional", "status", "threads", "levels", "flags", "libraries", "plugin", "run",
        "around", "stdin", "files")
Run = collections.namedtuple("Run", "status output errors cpu wall said")


class Program:
    """A source, and what its head asks for."""

    def __init__(self, path):
        self.path, (self.name, suffix) = path, os.path.splitext(os.path.basename(path))
        self.language = "c++" if suffix == ".cpp" else "cc"
        with open(path, encoding="utf-8") as file:
            head = file.read().partition("*/")[0]
        self.asks = dict(re.findall(rf"^ \* ({'|'.join(KEYS)}): (.*)$", head, re.M))
        unknown = set(re.findall(r"^ \* ([a-z]+): ", head, re.M)) - set(KEYS)
        if unknown or not {"holds", "violated"} <= set(self.asks):
            raise Failure(f"{path}: the head asks for {sorted(unknown)}, and for {sorted(self.asks)}")

    def get(self, key, default=""):
        return self.asks.get(key, default)

    def levels(self):
        return self.get("levels", "-O0 -O2").split()


def environment():
    return {name: value for name, value in os.environ.items() if name not in ("PORTENT_OPTIONS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")}


def compile_one(command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, env=environment(), check=False)
    if done.returncode:
        raise Failure(f"{shlex.join(command)}\n{done.stderr}")


def build(compiler, program, level, folder, said):
    """Compiles it, and its plug-in if it has one, into the folder."""
    os.mkdir(folder)
    flags = [level, "-g", "-Wall", "-Wextra", "-Werror", "-pthread", "-D_GNU_SOURCE", "-I", HERE, "-I", os.path.join(ROOT, "include"),
             *program.get("flags").split()]
    compile_one([*compiler, *flags, program.path, said, "-o", os.path.join(folder, "program"), *program.get("libraries").split()])
    if program.get("plugin"):
        source = os.path.join(os.path.dirname(program.path), "plugins", program.get("plugin"))
        compile_one([*compiler, *flags, "-fPIC", "-shared", source, "-o", os.path.join(folder, "plugin.so")])


def unescaped(text):
    return text.encode().decode("unicode_escape")


def execute(program, folder, observer):
    """One run of the program in its folder; `observer` is what stands before its command."""
    with open(os.path.join(folder, "said"), "wb") as file:
        file.truncate(RECORD.size * CAPACITY)
    names = [os.path.join(folder, name) for name in ("stdin", "stdout", "stderr")]
    write(names[0], unescaped(program.get("stdin")))
    if program.get("files"):
        name, _, text = program.get("files").partition("=")
        write(os.path.join(folder, name), unescaped(text))
        os.chmod(os.path.join(folder, name), 0o755)
    command = [*shlex.split(program.get("around")), *observer, *shlex.split(program.get("run", "./program"))]
    start = time.monotonic()
    with open(names[0], "rb") as given, open(names[1], "wb") as out, open(names[2], "wb") as err:
        process = subprocess.Popen(command, cwd=folder, stdin=given, stdout=out, stderr=err, env=environment(), start_new_session=True)
    timer = signal_after(process.pid)
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    wall, process.returncode = time.monotonic() - start, os.waitstatus_to_exitcode(status)
    true(f"{shlex.join(command)} did not end in {LIMIT} s", wall < LIMIT)
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    output, errors = (open(name, encoding="utf-8", errors="replace").read() for name in names[1:])
    return Run(status, output, errors, usage.ru_utime + usage.ru_stime, wall, read_said(os.path.join(folder, "said")))


def signal_after(process):
    """Ends the whole group of a run that hangs."""
    def end():
        try:
            os.killpg(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    timer = threading.Timer(LIMIT, end)
    timer.daemon = True
    timer.start()
    return timer


def read_said(path):
    """What the program says it wrote, in the order in which it said so: (process, thread, name, value)."""
    with open(path, "rb") as file:
        data = file.read()
    (count,) = struct.unpack_from("<q", data, 40)
    true(f"the program says more than {CAPACITY} writes", count < CAPACITY - 1)
    said = []
    for at in range(1, count + 1):
        process, thread, kind, name, value = RECORD.unpack_from(data, at * RECORD.size)
        if kind == b"\0":
            continue  # it was killed while it said this
        value = {b"i": lambda v: struct.unpack_from("<q", v)[0], b"r": lambda v: struct.unpack_from("<d", v)[0],
                 b"t": lambda v: v.split(b"\0")[0].decode()}[kind](value)
        said.append((process, thread, name.split(b"\0")[0].decode(), value))
    return said


EVENT = re.compile(r"(?P<thread>[^|]*)\|(?P<op>[wu])\((?P<name>.*?)\)(?:=(?P<value>[^|]*))?\|")


def read_trace(path):
    """The writes of a recording, in its order: (thread, name, value)."""
    with open(path, encoding="utf-8") as file:
        matches = filter(None, map(EVENT.match, file))
        return [(match["thread"], match["name"], value_of(match["value"])) for match in matches]


def value_of(text):
    """A value of a text trace: a text, a number, or None where the trace has none."""
    if text is None or text[0] == '"':
        return text and text[1:-1].replace("\\n", "\n")
    if text in ("true", "false"):
        return int(text == "true")
    return int(text) if re.fullmatch(r"-?\d+", text) else float(text)


def by_thread(writes, each_name):
    """What each thread wrote, in its order, whatever the threads are called; each variable for itself, where each_name is true."""
    threads = collections.defaultdict(list)
    for thread, name, value in writes:
        threads[(thread, name) if each_name else thread].append((name, value))
    return sorted(threads.values(), key=repr)


def difference(recorded, said):
    """Where the first thread that differs begins to, as text."""
    for ours, theirs in itertools.zip_longest(recorded, said, fillvalue=[]):
        if ours != theirs:
            at = next(i for i, (one, other) in enumerate(itertools.zip_longest(ours, theirs)) if one != other)
            return (f" {len(recorded)} threads recorded, {len(said)} said; one has {len(ours)} and {len(theirs)} writes, alike up to {at}:\n"
                    f" recorded: {ours[at:at + 5]}\n said:     {theirs[at:at + 5]}")
    return ""


def compare_traces(program, folder, said):
    """The recordings of all observed processes against what these processes say."""
    processes = collections.defaultdict(list)
    for process, *rest in said:
        processes[process].append(tuple(rest))
    files = sorted(glob.glob(os.path.join(folder, "run.trace*")))
    true("there is no recording", files)
    recorded = collections.defaultdict(list)
    for path in files:
        numbered = re.search(r"run\.trace\.(\d+)", path)
        recorded[int(numbered[1]) if numbered else next(iter(processes), 0)] += read_trace(path)
    optional = list(processes)[1:] if program.get("optional") == "children" else []
    for process in dict.fromkeys([*processes, *recorded]):
        if process in optional and process not in recorded:
            continue
        wrote, says = recorded.get(process, []), processes.get(process, [])
        threads, said_threads = (by_thread(writes, program.get("interrupted")) for writes in (wrote, says))
        if threads != said_threads:
            raise Failure("the recording differs from what the program says\n" + difference(threads, said_threads))
        if program.get("ordered"):
            same("the order of all writes", [write[1:] for write in wrote], [write[1:] for write in says])
    if program.get("threads"):
        names = {thread for writes in recorded.values() for thread, *_ in writes}
        same("the threads that write", sorted(names), sorted(program.get("threads").split()))


def in_time(plain, observed):
    """Returns how long both took, as text, if the observed run was fast enough."""
    for what, took, base, floor in (("processor time", observed.cpu, plain.cpu, FLOOR_CPU), ("time", observed.wall, plain.wall, FLOOR_WALL)):
        true(f"{what}: {took:.2f} s, and plain {base:.2f} s", took <= TIMES * base + floor)
    return f"plain {plain.wall:.3f} s, {plain.cpu:.3f} s CPU; observed {observed.wall:.3f} s, {observed.cpu:.3f} s CPU"


def check_status(program, plain, observed):
    """The plain status; or 67 and its reason, where the program says that this is the right answer."""
    status, _, reason = program.get("status").partition(", ")
    same(f"status ({observed.errors})", observed.status, int(status or plain.status))
    if reason:
        true(f"plain status {plain.status}, and '{reason}' is not in: {observed.errors}", plain.status == 0 and reason in observed.errors)


def compare(portent, program, level, folder):
    """All runs of a program that is built in the folder. Returns how long they took, as text."""
    plain_folder, folder = os.path.join(folder, "plain"), os.path.join(folder, "observed")
    plain = execute(program, plain_folder, [])
    true(f"the plain program could not do what it is about: {plain.errors}", plain.status != 99)
    unnamed = {name for _, _, name, _ in plain.said if not re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", program.get("holds"))}
    true(f"the property that holds does not name {sorted(unnamed)}", not unnamed)
    true("the plain program says nothing", plain.said or program.get("optional") == "unsaid")
    for name in ("holds", "violated"):
        write(os.path.join(folder, name + ".prop"), f"property {name}: {program.get(name)};\n")
    observed = execute(program, folder, [portent, "run", "-q", "-s", "holds.prop", "-o", "run.trace", "--"])
    same(f"output, with status {observed.status} ({observed.errors})", observed.output, plain.output)
    check_status(program, plain, observed)
    if not program.get("status"):
        same("standard error", observed.errors, plain.errors)
    same("what plain and observed program say", sorted(line[2:] for line in observed.said), sorted(line[2:] for line in plain.said))
    times = in_time(plain, observed)
    if program.get("optional") == "unobserved":
        return times
    if program.get("optional") != "unsaid":
        compare_traces(program, folder, observed.said)
    found = execute(program, folder, [portent, "run", "-q", "-s", "violated.prop", "--"])
    same(f"status with the property that is violated ({found.errors})", found.status, FOUND)
    same("output with the property that is violated", found.output, plain.output)
    in_time(plain, found)
    if level == program.levels()[-1] and not program.get("races"):
        write(os.path.join(folder, "races.prop"), "property races at each i: race_free(*);\n")
        free = execute(program, folder, [portent, "run", "-s", "races.prop", "--"])
        check_status(program, plain, free)
        same("output where nothing races", free.output, plain.output)
    return times


def all_programs(wanted):
    paths = sorted(glob.glob(os.path.join(HERE, "programs", "*.c")) + glob.glob(os.path.join(HERE, "programs", "*.cpp")))
    return [program for program in map(Program, paths) if not wanted or program.name in wanted]


def clang_of(portent):
    """The compiler under `portent cc`: what its sanitizers print depends on its version."""
    told = subprocess.run([portent, "cc", "--version"], capture_output=True, text=True, check=True).stdout
    return os.environ.get("PORTENT_CLANG") or os.path.join(re.search(r"InstalledDir: (.*)", told)[1], "clang")


def one(portent, clang, program, level, folder, said):
    """Builds and compares one program at one level. Returns what went wrong, or None, and the times."""
    folder = os.path.join(folder, f"{program.name}{level}")
    os.mkdir(folder)
    plain = [clang, "--driver-mode=g++"] if program.language == "c++" else [clang]
    try:
        build(plain, program, level, os.path.join(folder, "plain"), said)
        build([portent, program.language], program, level, os.path.join(folder, "observed"), said)
        times = compare(portent, program, level, folder)
    except Exception as failure:  # whatever it is, the other programs still run
        return f"{type(failure).__name__} {failure}", ""
    shutil.rmtree(folder)
    return None, times


def main():
    parser = argparse.ArgumentParser(description="Small programs, plain and observed.")
    parser.add_argument("portent")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--jobs", type=int, default=2, help="programs side by side")
    parser.add_argument("--keep", help="a folder for what is built; that of a failure stays there")
    parser.add_argument("--times", action="store_true", help="show how long the programs took")
    options = parser.parse_intermixed_args()
    portent, failed, passed = os.path.abspath(options.portent), 0, 0
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        said = os.path.join(folder, "said.o")
        clang = clang_of(portent)
        compile_one([clang, "-O2", "-fPIC", "-c", os.path.join(HERE, "said.c"), "-o", said])
        jobs = [(program, level) for program in all_programs(options.names) for level in program.levels()]
        for (program, level), (wrong, times) in zip(jobs, pool.map(lambda job: one(portent, clang, *job, folder, said), jobs)):
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAILED {program.name} {level}: {wrong}", flush=True)
            elif options.times:
                print(f"{program.name} {level}: {times}")
    print(f"behaviour: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
