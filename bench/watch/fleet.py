#!/usr/bin/env python3
"""Many programs and one watcher, on two cores: fleet.py PORTENT [--programs 200] [--rate 10000] [--seconds 5] [--cores 2]

Each program sends RATE user events a second to `portent watch listen:`, which checks a `within` property on each. Nothing may be lost
(aim: 200 programs at 10,000 events/s on two cores). Prints what was lost, and the CPU time of the watcher and of the programs. Builds
its program with PORTENT, unless --program names one that was built elsewhere.
"""
import argparse
import json
import os
import resource
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PROPERTY = "property clean within 1s: always !event(bad);\n"


def cpu(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("portent")
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--rate", type=int, default=10000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--program")
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.cores])
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        program = options.program or os.path.join(folder, "pace")
        if not options.program:
            subprocess.run([options.portent, "cc", "-O2", os.path.join(HERE, "pace.c"), "-o", program], check=True)
        prop, sock, out = (os.path.join(folder, name) for name in ("p.prop", "all.sock", "out"))
        with open(prop, "w", encoding="ascii") as file:
            file.write(PROPERTY)
        with open(out, "w", encoding="ascii") as file:
            watcher = subprocess.Popen([options.portent, "watch", "--json", "-s", prop, "listen:unix:" + sock], stdout=file)
        while not os.path.exists(sock):
            time.sleep(0.01)
        environment = {**os.environ, "PORTENT_OPTIONS": "events=unix:" + sock}
        before = cpu(resource.RUSAGE_CHILDREN)
        running = [subprocess.Popen([program, str(options.rate), str(options.seconds)], env=environment) for _ in range(options.programs)]
        for each in running:
            each.wait()
        programs = cpu(resource.RUSAGE_CHILDREN) - before
        time.sleep(0.5)
        watcher.send_signal(signal.SIGTERM)
        watcher.wait()
        watching = cpu(resource.RUSAGE_CHILDREN) - before - programs
        with open(out, encoding="ascii") as file:
            last = [line for line in map(json.loads, file) if "change" not in line]
    events = sum(line["events"] for line in last)
    wanted = options.programs * options.rate * options.seconds
    verdicts = sorted({line["properties"][0]["verdict"] for line in last})
    print(f"{len(last)} of {options.programs} programs, {events} events seen of at least {wanted}, verdicts {', '.join(verdicts)} (unknown: events were lost)")
    print(f"watcher {watching:.2f} s of CPU, {watching / events * 1e9:.0f} ns an event; programs {programs:.2f} s, {programs / wanted * 1e9:.0f} ns an event")


if __name__ == "__main__":
    main()
