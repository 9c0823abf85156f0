#!/usr/bin/env python3
"""Long traces: time and memory of what streams, text and binary, and of a picture from the middle of a recording.

usage: bench/long.py BUILD [EVENTS]

EVENTS (20 million) and a quarter of that: time may grow with the events, memory may not. Eight threads, one event in 100 relevant; as text, from
a pipe, an eighth of the events. A billion of them take 4 GB of disk and some ten minutes.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

LIMIT_MB = 1000
PROPERTIES = {
    "past, in a cone of window 64": "property p: always (x1 == 3 -> (x2 < 2000 since (x3 < 900 || once x4 == 2)));\n",
    "within": "property p within 100000 events: always (x1 < 2000 && x2 < 2000);\n",
    "decentralised": "property p at T1: x1 < 2000 || x2 > 2000;\nproperty q at each i: x3 < 2000;\n",
}


def spent(command, source=None):
    """Processor seconds and megabytes of one check, which has to say that all holds. `source`: a command whose output it reads."""
    feeding = subprocess.Popen(source, stdout=subprocess.PIPE) if source else None
    process = subprocess.Popen(command, stdin=feeding.stdout if feeding else None, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if feeding:
        feeding.stdout.close()
        feeding.wait()
    if process.returncode != 0 or (feeding and feeding.returncode != 0):
        sys.exit(f"{' '.join(command)}: status {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def picture(portent, trace, at):
    """Elapsed seconds of a picture that begins at this event."""
    start = time.monotonic()
    subprocess.run([portent, "report", "--timeline", "--at", str(at), trace], stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def main():
    build, events = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000
    portent = str(build / "bin/portent")

    def generator(count):
        return [str(build / "bench/gen_trace"), "--threads", "8", "--events", str(count), "--vars", "1000", "--seed", "1", "--relevant-percent", "1"]

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        traces = {count: str(folder / f"{count}.ptb") for count in (events // 4, events)}
        for count, trace in traces.items():
            with open(trace, "wb") as file:
                subprocess.run([*generator(count), "--binary"], stdout=file, check=True)
        for title, text in PROPERTIES.items():
            prop = folder / "p.prop"
            prop.write_text(text)
            check = [portent, "check", "--order", "access", "--window", "64", "--lookahead", "256", "-s", str(prop)]
            figures = {f"{count} events, binary": spent([*check, trace]) for count, trace in traces.items()}
            figures |= {f"{count // 8} as text from a pipe": spent([*check, "-"], generator(count // 8)) for count in traces}
            for what, (seconds, megabytes) in figures.items():
                print(f"RATE {title}, {what}: {seconds:.2f} s of processor time, {megabytes:.1f} MB (at most {LIMIT_MB})", flush=True)
        at = events - 1000
        taken = min(picture(portent, traces[events], at) for _ in range(3))
        print(f"RATE picture from event {at} of {events}, binary: {taken:.3f} s (aim: at once, 0.1 s)")


if __name__ == "__main__":
    main()
