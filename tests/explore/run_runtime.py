#!/usr/bin/env python3
"""Threads of programs under control, without the tool: tests/explore/drive.c plays it.

usage: tests/explore/run_runtime.py PORTENT DRIVE

Each primitive under schedules of every strategy: programs that are right end with status 0, those that are stuck are so at once, and a run
that is repeated does the same steps with the same values.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SUMMARY = re.compile(r"(\d+) runs, (\d+) not 0, (\d+) distinct, (\d+) differ")
passed = failed = 0


def expect(what, true, text=""):
    global passed, failed
    if true:
        passed += 1
    else:
        failed += 1
        print(f"FAIL {what}\n{text}")


def build(portent, name, out):
    source = next((HERE / "runtime").glob(f"{name}.c*"))
    compiler = ["c++", "-std=c++20"] if source.suffix == ".cpp" else ["cc"]
    subprocess.run([portent, *compiler, "-O1", "-g", f"-I{HERE.parent.parent / 'include'}", str(source), "-o", str(out / name), "-lpthread"], check=True)
    return str(out / name)


def drive(driver, *arguments, options=""):
    result = subprocess.run([driver, *arguments], capture_output=True, encoding="utf-8", timeout=120,
                            env={**os.environ, "PORTENT_OPTIONS": options})
    summary = SUMMARY.search(result.stdout)
    return result.stdout, [int(group) for group in summary.groups()] if summary else None


def right(driver, program):
    """Programs that end with 0 under every schedule."""
    name = pathlib.Path(program).name
    for strategy, depth in (("first", "1"), ("random", "1"), ("pct", "3"), ("surw", "1")):
        out, summary = drive(driver, "-n", "40", "-s", strategy, "-d", depth, program)
        expect(f"{name} {strategy}", summary and summary[1] == 0, out)
        if strategy == "random":
            expect(f"{name}: different schedules", summary and summary[2] > 10, out)
        expect(f"{name} {strategy}: nothing is lost", "losses 0" in out and not re.search(r"losses [1-9a-f]", out), out)
    for seed in ("1", "2"):
        out, summary = drive(driver, "-a", "-q", "-n", "100", "-s", "random", "-S", seed, program)
        expect(f"{name}: replays of seed {seed}", summary and summary[3] == 0, out)


def main():
    if len(sys.argv) != 3:
        print(__doc__.splitlines()[2], file=sys.stderr)
        return 2
    portent, driver = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        for name in ("primitives", "c11", "cpp", "kernel", "signals", "spins"):
            right(driver, build(portent, name, out))
        text, summary = drive(driver, "-n", "6", "-s", "random", "-T", "2", str(out / "spins"), "never")
        expect("a loop that never ends is a livelock", "livelock" in text, text)
        stuck = build(portent, "stuck", out)
        for way in ("mutex", "condition", "semaphore", "barrier", "upgrade", "pipe"):
            for where in ("alone", "beside"):
                text, summary = drive(driver, "-n", "2", "-s", "random", "-t", stuck, way, where)
                expect(f"stuck {way} {where}", text.count(": stuck ") == 2, text)
                expect(f"stuck {way} {where}: who waits", "thread 0: blocked" in text, text)
        text, summary = drive(driver, "-n", "1", "-t", stuck, "mutex", "beside")
        expect("whom the first thread waits for", re.search(r"thread 0: blocked '' joins 1 owner 1", text), text)
        expect("who has the lock", re.search(r"thread 1: blocked '' locks \w+ owner 1", text), text)
        body = build(portent, "body", out)
        text, summary = drive(driver, "-n", "200", "-s", "random", body)
        expect("a body is repeated", text.count(": body status ffffffff") == 200 and summary[2] > 3, text)
        text, summary = drive(driver, "-n", "200", "-s", "random", body, "fails")
        expect("a body that fails", ": ended status 6" in text and ": body status" in text, text)
        text, _ = drive(driver, "-n", "3", "-s", "random", body, options="races=1")
        expect("races are found, and the status is the program's", "found 1" in text, text)
        text, summary = drive(driver, "-a", "-n", "10", "-s", "random", build(portent, "clock", out))
        expect("a loop until time has passed ends, each time after as many turns", summary and summary[1] == summary[3] == 0 and "losses 0" in text, text)
        text, summary = drive(driver, "-n", "5", "-s", "random", build(portent, "neighbours", out))
        expect("neighbours are not shared", summary and summary[1] == 0 and text.count("fresh 0 ") == 5, text)
        told = subprocess.run([portent, "explore", "--strategy", "exhaustive", "--run-timeout", "20s", "--", build(portent, "yields", out)],
                              capture_output=True, encoding="utf-8", timeout=120, check=False)
        expect("a loop that yields ends, and nothing is said of all schedules", told.returncode == 3 and
               "none failed" in told.stdout and "not seen to end" in " ".join(told.stdout.split()), told.stdout + told.stderr)
        recording = str(out / "recording")
        text, _ = drive(driver, "-n", "1", "-s", "random", "-r", recording, str(out / "primitives"))
        checked = subprocess.run([portent, "check", "--races", recording], capture_output=True, encoding="utf-8")
        expect("a controlled run is recorded", checked.returncode == 0, text + checked.stdout + checked.stderr)
    print(f"explore-runtime: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
