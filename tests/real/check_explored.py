#!/usr/bin/env python3
"""Real programs under control: check_explored.py PORTENT FOLDER [NAME...] [-n RUNS] [--keep-builds]

Builds Debian's sources, which tests/real/fetch has put into FOLDER, with `portent cc`, and runs each program RUNS (100) times by `portent
explore`: every run must end as the plain program does, with status 0 and, where what it prints is determined, the same output. What was
not under control is printed. The last line is `explored: N passed, M failed`; what is counted is a program, or a test of libuv's suite.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time

import programs
from programs import HERE, Failure, must

LATE = ["--timeouts", "late"]  # for tests that say what happens by sleeping, or within which time


class Mtest(programs.Program):
    """lmdb's own test: one thread, a memory map, locks that processes share."""
    package = "lmdb"

    def target(self, kind):
        return super().target(kind) + "-mtest"

    def make(self, target, cc, cxx):
        must([*cc, "-O2", "-g", "-pthread", "-w", "-I.", "mtest.c", "mdb.c", "midl.c", "-o", "mtest"], target + "/libraries/liblmdb")

    def commands(self, target):
        # its map wants the address of the one that made it, which is free in each controlled run, but another one than without control
        yield "", [target + "/libraries/liblmdb/mtest"], ["--strategy", "random"], {"cwd": self.scratch(), "fresh": "testdb"}


class Lmdb(programs.Lmdb):
    def make(self, target, cc, cxx):
        folder = os.path.join(target, "libraries/liblmdb")
        must([*cc, "-O2", "-g", "-pthread", "-w", "-I.", os.path.join(HERE, "lmdb_load.c"), os.path.join(HERE, "same_output.c"), "mdb.c", "midl.c", "-o", "load"],
             folder)

    def commands(self, target):
        yield "", [target + "/libraries/liblmdb/load", self.scratch(), "3"], [], {"same": True}


class Pbzip2(programs.Pbzip2):
    size = 1 << 19

    def make(self, target, cc, cxx):
        must([*cc, "-O2", "-g", "-c", os.path.join(HERE, "same_output.c"), "-o", "same_output.o"], target)
        must(["make", f"CXX={' '.join(cxx)} {programs.PBZIP2_FLAG}", "LDLIBS=-lbz2 -lpthread same_output.o"], target)

    def commands(self, target):
        yield "", [target + "/pbzip2", "-k", "-c", "-q", "-p4", "-b1", programs.words(self.folder, self.size)], [], {"same": True}


class Memcached(programs.Memcached):
    """With clients as threads of its own. Large chunks, since each of a page of 1 MiB costs it some steps."""

    def make(self, target, cc, cxx):
        must(["./configure", f"CC={' '.join(cc)}"], target)
        must([*cc, "-O2", "-g", "-c", os.path.join(HERE, "memcached_client.c"), "-o", "client.o"], target)
        must(["make", "-j2", "memcached", "LIBS=-levent client.o"], target)

    def commands(self, target):
        path = self.scratch() + "/socket"
        user = ["-u", "root"] if os.getuid() == 0 else []
        yield "", [target + "/memcached", "-s", path, "-t", "4", "-n", "16000", *user], [], {"env": {"MEMCACHED_SOCKET": path}}


class Libuv(programs.Program):
    """Its tests of threads, locks, its pool and its loops, each in a process of its own."""
    package = "libuv1"
    some = re.compile(r"(thread|mutex|semaphore|barrier|condvar|async|default_loop|loop_|signal_multiple|process_title_threads)")

    def make(self, target, cc, cxx):
        os.mkdir(target + "/made")
        must(["cmake", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_C_COMPILER=" + ";".join(cc), ".."], target + "/made")
        must(["make", "-j2", "uv_run_tests_a"], target + "/made")

    def commands(self, target):
        program = target + "/made/uv_run_tests_a"
        for name in programs.run([program, "--list"], env={**os.environ, "UV_RUN_AS_ROOT": "1"}).stdout.split():
            if self.some.match(name):
                yield "." + name, [program, name, name], LATE, {"env": {"UV_RUN_AS_ROOT": "1"}, "cwd": self.scratch()}


ALL = (Mtest, Lmdb, Pbzip2, Memcached, Libuv)


def plain(command, folder, env, expected):
    """The program by itself; what it prints goes to a file, if that is asked for."""
    with open(expected or os.devnull, "wb") as file:
        done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL, timeout=300, check=False)
    if done.returncode != 0:
        raise Failure(f"without control: status {done.returncode}")


def make_fresh(cwd, folder):
    if folder:
        shutil.rmtree(os.path.join(cwd, folder), ignore_errors=True)
        os.mkdir(os.path.join(cwd, folder))


def explore(portent, options, program, command, env=None, cwd=None, same=False, fresh=None):
    """RUNS controlled runs; returns what explore says of them. `fresh`: a folder in cwd that is empty at first, with control and without."""
    expected = os.path.join(program.folder, f"{program.name}.expected") if same else None
    env = {**os.environ, **(env or {})}
    make_fresh(cwd, fresh)
    plain(command, cwd, env, expected)
    make_fresh(cwd, fresh)
    if expected:
        env["SAME_OUTPUT"] = expected
    done = subprocess.run([portent, "explore", "--json", "--no-checks", "--expect", "0", *options, "--", *command], cwd=cwd, env=env,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=3600, check=False)
    if done.returncode not in (0, 3) or not done.stdout:
        raise Failure(f"explore: status {done.returncode}\n{done.stderr[-3000:]}")
    return json.loads(done.stdout)["explore"]


def check(portent, program, runs):
    """(name, None or what is wrong) of each command."""
    for name, command, options, more in program.commands(program.target("control")):
        begun = time.monotonic()
        try:
            told = explore(portent, ["-n", str(runs), "--run-timeout", "2m", *options], program, command, **more)
            if told["failing"] or not (told["complete"] or told["runs"] == runs):
                raise Failure(f"{told}")
            lost = f"; not under control: {', '.join(told['losses'])}" if told["losses"] else ""
            print(f"{program.name}{name} ({program.version}): {told['runs']} runs, {told['distinct']} different, {time.monotonic() - begun:.0f} s{lost}", flush=True)
            yield name, None
        except (Failure, OSError, ValueError, KeyError, subprocess.SubprocessError) as failure:
            yield name, failure


def main():
    parser = argparse.ArgumentParser(description="Real programs under control.")
    parser.add_argument("portent")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("-n", "--runs", type=int, default=100, help="controlled runs of each")
    parser.add_argument("--keep-builds", action="store_true", help="do not build again what was built")
    options = parser.parse_args()
    portent, folder, passed, failed = os.path.abspath(options.portent), os.path.abspath(options.folder), 0, 0
    cc, cxx = programs.compilers(portent)["portent"]
    for kind in ALL:
        program = kind(folder)
        if options.names and program.name not in options.names:
            continue
        if not options.keep_builds or not os.path.isdir(program.target("control")):
            program.build("control", cc, cxx)
        for name, wrong in check(portent, program, options.runs):
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong is not None:
                print(f"FAILED {program.name}{name}: {wrong}", flush=True)
    print(f"explored: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
