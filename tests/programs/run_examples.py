#!/usr/bin/env python3
"""Builds and runs the example programs as their READMEs say: run_examples.py PORTENT [NAME...] [--repeat N]

Each example is built once with `portent cc` or `portent c++`, and once by the plain compiler, to see that it needs nothing of
Portent. Then, N times (default 5): `portent run` predicts the violation from a run that passed; `portent check` says the same of
the recorded trace, and that the recorded order itself is fine. Then a comment is added above all lines, and the program built again: the
finding must keep its id, and the first result be a baseline for it. Of the example with marked blocks, `portent model` (static) and
`portent check --atomicity` (of the recorded run) say the same. The last line is `examples: N passed, M failed`.

The programs are paced by pauses. They are held to that pace (steady.c), however busy the machine is, so that each run must have the
example's order.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from suite import Failure, keep_pace, same

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# folder: source, property, the relevant events of the intended run (thread:object/number of other threads' events that must come
# before), the last step of the predicted run (thread, op, object), what the program prints
EXAMPLES = {
    "water": ("water.c", "valve",
              "sensor:w/0 controller:v/1 sensor:w/0 controller:v/1 sensor:w/0 controller:v/3",
              ("sensor", "w", "w"), ""),
    "bank": ("bank.c", "total",
             "teller:active/0 standing_order:active/1 teller:checking/0 standing_order:checking/2 teller:saving/0 "
             "standing_order:saving/3 teller:active/1 standing_order:active/4", ("teller", "w", "active"), ""),
    "queue": ("queue.c", "closed_is_closed", "producer:enqueue/0 producer:enqueue/0 producer:enqueue/0 main:closed/2",
              ("producer", "event", "enqueue"), "3 of 3 jobs done\n"),
    "atomic": ("store.cc", "exclusive", "backup:backing_up/0 backup:backing_up/0 compact:compacting/0 compact:compacting/0",
               ("compact", "w", "compacting"), ""),
    "stages": ("stages.c", "whole", "migrate:table.schema/0 migrate:table.rows/0 serve:serving/0 serve:serving/2",
               ("serve", "w", "serving"), "a request: rows of version 2, read by schema 2\n"),
}
# folder: source, what its program prints at the intended pace, its blocks: are they causally atomic?
MARKED = {"transfer": ("transfer.c", "the audit found 70\n", {"transfer": False, "refund": True, "audit": True})}
FOUND_BY_RUN, FOUND_BY_CHECK = 66, 1
RUN_WINDOW = ["--window", "64", "--lookahead", "256"]  # what `portent run` explores unless told otherwise


def run(*command):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)


def demand(status, done):
    """Takes a command that must have ended with this status; returns its standard output."""
    if done.returncode != status:
        raise Failure(f"{' '.join(done.args)}\nexit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect(status, *command):
    return demand(status, run(*command))


def only_property(result):
    """The one property of a result, without what may differ from call to call."""
    (found,) = result["properties"]
    return {key: value for key, value in found.items() if key not in ("seconds", "peak_bytes")}


def recorded_order(trace):
    """The events of a text trace, in the form of EXAMPLES."""
    order = []
    with open(trace, encoding="utf-8") as file:
        for thread, name, clock in re.findall(r"^([^-#|][^|]*)\|\w+\(([^)]*)\).*\|c=(.*)$", file.read(), re.MULTILINE):
            known = dict(entry.rsplit(":", 1) for entry in clock.split(","))
            order.append(f"{thread}:{name}/{sum(int(n) for other, n in known.items() if other != thread)}")
    return " ".join(order)


def runs_alone(program, output):
    same("output alone", expect(0, program), output)


def build(portent, name, folder):
    source, output = (EXAMPLES[name][0], EXAMPLES[name][-1]) if name in EXAMPLES else MARKED[name][:2]
    path = os.path.join("examples", name, source)
    cxx = path.endswith(".cc")
    flags = ["-Wall", "-Wextra", "-Werror", "-O2", "-pthread"]
    plain, program = os.path.join(folder, name + "-plain"), os.path.join(folder, name)
    expect(0, os.environ.get("CXX", "c++") if cxx else os.environ.get("CC", "cc"), *flags, "-Iinclude", path, "-o", plain)
    expect(0, portent, "c++" if cxx else "cc", *flags, path, "-o", program)
    runs_alone(plain, output)
    runs_alone(program, output)
    return program


def record(portent, name, program, properties):
    """Runs the program under `portent run`; returns the analysis of that run, which must have its intended order."""
    _, _, intended, _, output = EXAMPLES[name]
    trace, result = program + ".trace", program + ".json"
    done = run(portent, "run", "-s", properties, "-r", result, "-o", trace, "--", program)
    same("recorded order", recorded_order(trace), intended)
    same("output under portent run", demand(FOUND_BY_RUN, done), output)
    with open(result, encoding="utf-8") as file:
        return only_property(json.load(file))


def predict(portent, name, program):
    source, property_name, _, last_step, _ = EXAMPLES[name]
    properties = os.path.join("examples", name, os.path.splitext(source)[0] + ".prop")
    trace = program + ".trace"
    online = record(portent, name, program, properties)
    same("finding", (online["name"], online["verdict"], online["how"]), (property_name, "violated", "predicted"))
    step = online["witness"][-1]
    same("last step", (step["thread"], step["op"], step["object"]), last_step)

    check = [portent, "check", "--json", "-s", properties]
    same("check with the window of run", only_property(json.loads(expect(FOUND_BY_CHECK, *check, *RUN_WINDOW, trace))), online)
    offline = only_property(json.loads(expect(FOUND_BY_CHECK, *check, trace)))
    same("check of all orders", (offline["verdict"], offline["how"]), ("violated", "predicted"))
    observed = only_property(json.loads(expect(0, *check, "--window", "1", trace)))
    same("check of the recorded order alone", observed["verdict"], "holds")


def verdicts(result):
    """{block: causally atomic}"""
    return {block["name"]: block["causally_atomic"] for block in result["blocks"]}


def roles(result):
    """The roles of the marked events of each violated block."""
    return {block["name"]: [step["role"] for step in block["witness"] if step["role"] != "other"]
            for block in result["blocks"] if block["witness"]}


def meet(portent, name, program):
    """Static and dynamic: at the intended pace they say the same."""
    source, output, blocks = MARKED[name]
    trace = program + ".trace"
    static = json.loads(expect(FOUND_BY_CHECK, portent, "model", "--json", os.path.join("examples", name, source)))
    same("blocks of the model", verdicts(static), blocks)
    same("output under portent run", expect(0, portent, "run", "--record-all", "-o", trace, "--", program), output)
    dynamic = json.loads(expect(FOUND_BY_CHECK, portent, "check", "--atomicity", "--json", trace))
    same("blocks of the run", verdicts(dynamic), blocks)
    same("witnesses", roles(dynamic), roles(static))


def move_lines(portent, name, program):
    """The finding of a program whose lines have moved is the one known from before."""
    source, properties = EXAMPLES[name][0], os.path.join("examples", name, os.path.splitext(EXAMPLES[name][0])[0] + ".prop")
    moved, baseline = program + "-moved", program + "-baseline.json"
    with open(os.path.join(ROOT, "examples", name, source), encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(os.path.dirname(program), source)
    with open(path, "w", encoding="utf-8") as file:
        file.write("// A comment,\n// of two lines.\n" + text)
    before = record(portent, name, program, properties)
    os.rename(program + ".json", baseline)
    expect(0, portent, "c++" if source.endswith(".cc") else "cc", "-O2", "-pthread", path, "-o", moved)
    after = record(portent, name, moved, properties)
    if before["witness"][-1]["loc"] == after["witness"][-1]["loc"]:
        raise Failure("the line did not move")
    same("id after lines have moved", after["id"], before["id"])
    known = expect(0, portent, "check", "-s", properties, "--baseline", baseline, moved + ".trace")
    if "which the baseline knows" not in known:
        raise Failure(f"the baseline is not mentioned: {known}")
    merged = expect(0, portent, "report", baseline, moved + ".json")
    same("times in the merged report", merged.count("(2 times)"), 1)


def main():
    parser = argparse.ArgumentParser(description="Builds and runs the example programs.")
    parser.add_argument("portent", type=os.path.abspath)
    parser.add_argument("names", nargs="*", metavar="NAME", default=[])
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    options = parser.parse_args()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        keep_pace(folder)
        for name in options.names or [*EXAMPLES, *MARKED]:
            try:
                program = build(options.portent, name, folder)
                for _ in range(options.repeat):
                    (predict if name in EXAMPLES else meet)(options.portent, name, program)
                if name in EXAMPLES:
                    move_lines(options.portent, name, program)
                passed += 1
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"examples: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
