#!/usr/bin/env python3
"""Builds and runs the example programs as their READMEs say: run_examples.py PORTENT [NAME...] [--repeat N]

Each example is built once with `portent cc` or `portent c++`, and once by the plain compiler, to see that it needs nothing of
Portent. Then, N times (default 5): the program ends well when it runs alone; `portent run` predicts the violation from a
run that passed; `portent check` says the same of the recorded trace, and that the recorded order itself is fine. The last line
is `examples: N passed, M failed`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# folder: source, property, the order's last step (thread, op, object), what the program prints
EXAMPLES = {
    "water": ("water.c", "valve", ("sensor", "w", "w"), ""),
    "bank": ("bank.c", "total", ("teller", "w", "active"), ""),
    "queue": ("queue.c", "closed_is_closed", ("producer", "event", "enqueue"), "3 of 3 jobs done\n"),
    "atomic": ("store.cc", "exclusive", ("compact", "w", "compacting"), ""),
    "stages": ("stages.c", "whole", ("serve", "w", "serving"), "a request: rows of version 2, read by schema 2\n"),
}
FOUND_BY_RUN, FOUND_BY_CHECK = 66, 1
RUN_WINDOW = ["--window", "64", "--lookahead", "256"]  # what `portent run` explores unless told otherwise


class Failure(Exception):
    pass


def expect(status, *command):
    """Runs a command that must end with this status; returns its standard output."""
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != status:
        raise Failure(f"{' '.join(command)}\nexit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def same(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {found}\nexpected: {expected}")


def only_property(result):
    """The one property of a result, without what may differ from call to call."""
    (found,) = result["properties"]
    return {key: value for key, value in found.items() if key not in ("seconds", "peak_bytes")}


def build(portent, name, folder):
    path = os.path.join("examples", name, EXAMPLES[name][0])
    cxx = path.endswith(".cc")
    flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-pthread"]
    plain, program = os.path.join(folder, name + "-plain"), os.path.join(folder, name)
    expect(0, os.environ.get("CXX", "c++") if cxx else os.environ.get("CC", "cc"), *flags, "-Iinclude", path, "-o", plain)
    expect(0, portent, "c++" if cxx else "cc", *flags, path, "-o", program)
    same("output of the plain program", expect(0, plain), EXAMPLES[name][3])
    return program


def predict(portent, name, program):
    source, property_name, last_step, output = EXAMPLES[name]
    properties = os.path.join("examples", name, os.path.splitext(source)[0] + ".prop")
    trace, result = program + ".trace", program + ".json"
    same("output alone", expect(0, program), output)
    out = expect(FOUND_BY_RUN, portent, "run", "-s", properties, "-r", result, "-o", trace, "--", program)
    same("output under portent run", out, output)
    with open(result, encoding="utf-8") as file:
        online = only_property(json.load(file))
    same("finding", (online["name"], online["verdict"], online["how"]), (property_name, "violated", "predicted"))
    step = online["witness"][-1]
    same("last step", (step["thread"], step["op"], step["object"]), last_step)

    check = [portent, "check", "--json", "-s", properties]
    same("check with the window of run", only_property(json.loads(expect(FOUND_BY_CHECK, *check, *RUN_WINDOW, trace))), online)
    offline = only_property(json.loads(expect(FOUND_BY_CHECK, *check, trace)))
    same("check of all orders", (offline["verdict"], offline["how"]), ("violated", "predicted"))
    observed = only_property(json.loads(expect(0, *check, "--window", "1", trace)))
    same("check of the recorded order alone", observed["verdict"], "holds")


def main():
    parser = argparse.ArgumentParser(description="Builds and runs the example programs.")
    parser.add_argument("portent", type=os.path.abspath)
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or EXAMPLES:
            try:
                program = build(options.portent, name, folder)
                for _ in range(options.repeat):
                    predict(options.portent, name, program)
                passed += 1
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"examples: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
