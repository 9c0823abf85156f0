#!/usr/bin/env python3
"""The examples that are watched while they run: run_watched.py PORTENT [NAME...]

Each is built with `portent cc` and by the plain compiler, started with an event stream, and watched from its start to its end;
what `check` says of the recording must be the same. The last line is `watched: N passed, M failed`.

The programs keep time. On a busy machine a thread may be held up for longer than its property allows, so a run with another verdict than
the example's is told and repeated, at most ATTEMPTS times.
"""
import json
import os
import subprocess
import sys

from suite import Failure, short_folder

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ATTEMPTS = 20
MS = 1000000


def run(*command, status=0, **more):
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False, **more)
    if status is not None and done.returncode != status:
        raise Failure(f"{' '.join(command)}\nexit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done


class Example:
    """One program and its property, in a folder of its own."""

    def __init__(self, portent, folder, source):
        self.portent, self.folder = portent, folder
        self.prop = os.path.splitext(source)[0] + ".prop"
        self.program, plain = os.path.join(folder, "program"), os.path.join(folder, "plain")
        self.trace, self.address = os.path.join(folder, "run.trace"), "unix:" + os.path.join(folder, "events.sock")
        flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-pthread"]
        run(os.environ.get("CC", "cc"), *flags, "-Iinclude", source, "-o", plain)
        run(portent, "cc", *flags, source, "-o", self.program)
        run(plain, "0.1")

    def watch(self, *arguments, options=()):
        """The JSON lines of one run that was watched, and the exit status of `watch`."""
        environment = {**os.environ, "PORTENT_OPTIONS": f"events={self.address}"}
        with subprocess.Popen([self.program, *arguments], env=environment, stdin=subprocess.DEVNULL) as program:
            done = run(self.portent, "watch", "--wait", "--json", "-s", self.prop, "-o", self.trace, *options, self.address, status=None)
            if program.wait(60) != 0:
                raise Failure(f"{self.program} ended with {program.returncode}")
        if not done.stdout:
            raise Failure(f"watch said nothing: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()], done.returncode

    def check(self):
        done = run(self.portent, "check", "--json", "-s", self.prop, self.trace, status=None)
        return json.loads(done.stdout)["properties"][0], done.returncode


def expect(what, found, wanted):
    if found != wanted:
        raise Failure(f"{what}: {found}\nexpected: {wanted}")


def intended(example, verdict, *arguments, options=()):
    """A run with this verdict, (verdict, how): its lines and exit status."""
    for attempt in range(ATTEMPTS):
        lines, status = example.watch(*arguments, options=options)
        finding = lines[-1]["properties"][0]
        if (finding["verdict"], finding.get("how")) == verdict:
            return lines, finding, status
        print(f"attempt {attempt + 1} was not at the intended pace: {finding}")
    raise Failure(f"never {verdict}")


def buffer(portent, folder):
    """Formula (2) holds of the buffer; of the impatient one it is dead at the second write in a row (Figure 6)."""
    example = Example(portent, folder, "examples/buffer/buffer.c")
    lines, _, status = intended(example, ("holds", None), "1")
    expect("lines and exit status of the correct buffer", (len(lines), status), (1, 0))
    expect("check of the correct buffer", (example.check()[0]["verdict"], example.check()[1]), ("holds", 0))
    lines, finding, status = intended(example, ("violated", "dead"), "1.2", "impatient")
    expect("exit status of the impatient buffer", status, 1)
    step = finding["within"]["step"]
    expect("the event that decided", (step["thread"], step["op"], step["object"]), ("producer", "event", "write"))
    expect("the change", (lines[0]["change"]["to"], lines[0]["change"]["states"]), ("violated", []))
    with open(example.trace, encoding="utf-8") as file:
        users = [line.split("|")[1] for line in file.read().splitlines()[:step["line"]] if "|event(" in line]
    expect("the last user events before it", users[-3:], ["event(read)", "event(write)", "event(write)"])
    recorded, status = example.check()
    expect("check of the recording", (recorded["how"], recorded["time"], status), ("dead", finding["time"], 1))


def cycle(portent, folder):
    """The missed cycle is late 400 ms after the last one in time, and told before the loop comes round again."""
    example = Example(portent, folder, "examples/cycle/cycle.c")
    lines, finding, status = intended(example, ("violated", "late"), "1.5")
    within = finding["within"]
    expect("exit status", status, 1)
    expect("when it was late", (within["silent"], finding["time"] - within["last_pass"]), (True, 400 * MS))
    expect("told in time", lines[0]["change"]["event"] < lines[-1]["events"], True)
    recorded, status = example.check()
    expect("check of the recording", (recorded["how"], recorded["time"], status), ("late", finding["time"], 1))
    # who is settled need not wait for the end
    lines, _, status = intended(example, ("violated", "late"), "1.5", options=["--exit-on-verdict"])
    expect("lines and exit status with --exit-on-verdict", (len(lines), status), (2, 1))


def livelock(portent, folder):
    """Events come all the time, and yet it is late: nothing gets done."""
    example = Example(portent, folder, "examples/livelock/corridor.c")
    _, finding, status = intended(example, ("violated", "late"), "2")
    expect("exit status", status, 1)
    expect("when it was late", finding["time"] - finding["within"]["last_pass"], 500 * MS)
    with open(example.trace, encoding="utf-8") as file:
        times = [int(line.rpartition("t=")[2]) for line in file if "|event(aside)|" in line]
    busy = sum(1 for time in times if finding["within"]["last_pass"] < time < finding["time"])
    expect("people were busy all the while", busy > 20, True)


EXAMPLES = [buffer, cycle, livelock]


def main():
    portent = os.path.abspath(sys.argv[1])
    passed = failed = 0
    for example in EXAMPLES:
        if sys.argv[2:] and example.__name__ not in sys.argv[2:]:
            continue
        with short_folder() as folder:
            try:
                example(portent, folder)
                passed += 1
            except (Failure, subprocess.TimeoutExpired, json.JSONDecodeError) as failure:
                failed += 1
                print(f"FAILED {example.__name__}: {failure}")
    print(f"watched: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
