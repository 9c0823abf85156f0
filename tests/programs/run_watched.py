#!/usr/bin/env python3
"""The examples that are watched while they run: run_watched.py PORTENT [NAME...]

Each is built with `portent cc` and by the plain compiler, started with an event stream, and watched from its start to its end;
what `check` says of the recording must be the same. The last line is `watched: N passed, M failed`.

The programs keep time. On a busy machine a thread may be held up for longer than its property allows, and the verdict is rightly another
one than the example's. When each event happened is in the recording, in stamps that the program took: they alone, and never the
verdict, decide whether a run had the intended pace. The first run that had it counts. A run that had not is named and repeated; that
none of ATTEMPTS had it is a failure.
"""
import json
import os
import subprocess
import sys
from functools import partial

from suite import Failure, short_folder

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ATTEMPTS = 5
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


class Times:
    """When things happened, as the program's stamps in a recording say: `user`, its own events, as (name, time), and `end`."""

    def __init__(self, trace):
        self.user = []
        with open(trace, encoding="utf-8") as file:
            for line in file:
                what, self.end = line.split("|")[1], int(line.rpartition("t=")[2])
                if what.startswith("event("):
                    self.user.append((what[len("event("):-1], self.end))

    def of(self, name):
        return [time for other, time in self.user if other == name]

    def longest(self):
        """The longest time between two of its events."""
        return max(after - before for (_, before), (_, after) in zip(self.user, self.user[1:]))


def intended(example, pace, verdict, *arguments, options=()):
    """A run at the intended pace, which has this verdict, (verdict, how): its lines, the finding, the exit status and its times.
    pace(times) says what was not as intended, or nothing."""
    for attempt in range(ATTEMPTS):
        lines, status = example.watch(*arguments, options=options)
        times = Times(example.trace)
        wrong = pace(times)
        if not wrong:
            finding = lines[-1]["properties"][0]
            expect("verdict", (finding["verdict"], finding.get("how")), verdict)
            return lines, finding, status, times
        print(f"attempt {attempt + 1} was not at the intended pace: {wrong}")
    raise Failure(f"the machine was too slow: none of {ATTEMPTS} runs had the intended pace")


def goes_on(times, most, names):
    """What is wrong with a program whose events, of these names, come at most so many ms apart."""
    if set(names) - {name for name, _ in times.user}:
        return f"it did not get to all of {names}"
    return times.longest() > most * MS and f"{times.longest() / MS:.0f} ms between two events"


def twice(times):
    """When the second of two writes in a row came."""
    return next((time for (before, _), (name, time) in zip(times.user, times.user[1:]) if before == name == "write"), None)


def buffer(portent, folder):
    """Formula (2) holds of the buffer; of the impatient one it is dead at the second write in a row (Figure 6)."""
    example = Example(portent, folder, "examples/buffer/buffer.c")
    # a write and a read make a cycle, of at most 2 s; the consumer takes 400 ms now and then
    steadily = partial(goes_on, most=900, names=["write", "read"])
    lines, _, status, _ = intended(example, steadily, ("holds", None), "1")
    expect("lines and exit status of the correct buffer", (len(lines), status), (1, 0))
    expect("check of the correct buffer", (example.check()[0]["verdict"], example.check()[1]), ("holds", 0))
    # it has more time than 100 cycles take at the pace of the example: the consumer is slow in the last of them
    lines, finding, status, times = intended(
        example, lambda times: steadily(times) or not twice(times) and "the consumer was never slow", ("violated", "dead"), "2", "impatient")
    expect("exit status of the impatient buffer", status, 1)
    step = finding["within"]["step"]
    expect("the event that decided", (step["thread"], step["op"], step["object"]), ("producer", "event", "write"))
    expect("the change", (lines[0]["change"]["to"], lines[0]["change"]["states"]), ("violated", []))
    expect("when it was dead: at the second write in a row", finding["time"], twice(times))
    recorded, status = example.check()
    expect("check of the recording", (recorded["how"], recorded["time"], status), ("dead", finding["time"], 1))


def cycle(portent, folder):
    """The missed cycle is late 400 ms after the last one in time, and told before the loop comes round again."""
    example = Example(portent, folder, "examples/cycle/cycle.c")
    steadily = partial(goes_on, most=300, names=["cycle"])  # up to the stall: no cycle comes after it
    lines, finding, status, times = intended(example, steadily, ("violated", "late"), "1.5")
    expect("exit status", status, 1)
    expect("when it was late", (finding["within"]["silent"], finding["time"]), (True, times.of("cycle")[-1] + 400 * MS))
    expect("told in time", lines[0]["change"]["event"] < lines[-1]["events"], True)
    recorded, status = example.check()
    expect("check of the recording", (recorded["how"], recorded["time"], status), ("late", finding["time"], 1))
    # who is settled need not wait for the end
    lines, _, status, _ = intended(example, steadily, ("violated", "late"), "1.5", options=["--exit-on-verdict"])
    expect("lines and exit status with --exit-on-verdict", (len(lines), status), (2, 1))


def livelock(portent, folder):
    """Events come all the time, and yet it is late: nothing gets done."""
    example = Example(portent, folder, "examples/livelock/corridor.c")
    steadily = partial(goes_on, most=200, names=["passed", "aside"])  # they pass in every second step, of 5 ms
    _, finding, status, times = intended(example, steadily, ("violated", "late"), "2")
    expect("exit status", status, 1)
    expect("when it was late", finding["time"], times.of("passed")[-1] + 500 * MS)


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
