#!/usr/bin/env python3
"""Programs whose threads come and go, as `portent run` records them, against the definition.

    run_lane_programs.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone: steps of threads that others fork and join, or detach, up to a few at a time, with accesses of variables, a
lock and user events. lane_program.c plays them one after the other, by means that no tool sees (lane_steps.c). The runtime counts the events of threads
that come behind each other together (src/runtime/clock/lane.h), whenever it can tell in time; what is recorded must not show it. The clocks of
`run -o`, completed by the rule of docs/trace-format.md, must be those of the definition (trace.py), and the answers of `run -r`, and of `check` on the
recording, those of `check` on the same lines with full clocks. The last line is `lane-programs: N passed, M failed`; a failing case is kept.
"""
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import random_runs  # noqa: E402  (beside this file)
import run_lanes  # noqa: E402
import trace as traces  # noqa: E402

FORMULAS = [
    "always !(x == 1 && y == 2 && z == 1)", "always (x == 2 -> once y == 1)", "always (z == 1 -> (x < 2 since y == 2))",
    "never [true]* [x == 1] [y == 1] [true]* [z == 2]", "always (event(go) -> previously x < 2)", "always x < 3",
]
WAYS = (["--window", "64", "--lookahead", "256"], ["--window", "1", "--lookahead", "all"], ["--window", "4", "--lookahead", "16"])


class Play:
    """A random run: its steps for the program, and its lines."""

    def __init__(self, rng):
        self.rng, self.steps, self.lines, self.started = rng, [], [], 0
        self.alive, self.ended, self.holder = [0], [], None
        self.most, self.at_once = rng.choice([8, 17, 40, 120]), rng.choice([1, 2, 3, 5, 8, 20])
        self.known_ends, self.events = rng.choice([0.0, 0.3, 0.7, 1.0, 1.0]), rng.choice([1, 2, 4, 8])
        self.in_order = rng.choice([0, 0, 100, 10000])  # so many steps with events under the lock alone
        while self.started < self.most or len(self.alive) > 1:
            self.step()

    def name(self, thread):
        return "main" if thread == 0 else "guest" if thread == 1 else f"guest#{thread}"

    def add(self, thread, what, number, text=None):
        self.steps.append(f"{thread} {what} {number}")
        if text:
            self.lines.append(f"{self.name(thread)}|{text}|a.c:{len(self.lines) + 1}")

    def step(self):
        rng, thread = self.rng, self.rng.choice(self.alive)
        dice = rng.random() * (2 + self.events)
        if dice < 1:
            if self.started < self.most and len(self.alive) <= self.at_once:
                self.fork(thread)
        elif dice < 1.4 and thread and thread != self.holder:
            self.add(thread, "e", 0)
            self.alive.remove(thread)
            if rng.random() < self.known_ends:
                self.ended.append(thread)
            elif rng.random() < 0.5:
                self.add(0, "d", thread)
        elif dice < 2 and self.ended:
            other = self.ended.pop(rng.randrange(len(self.ended)))
            self.add(thread, "j", other, f"join({self.name(other)})")
        elif dice >= 2:
            self.act(thread)

    def fork(self, thread):
        self.started += 1
        self.add(thread, "f", self.started, f"fork({self.name(self.started)})")
        self.alive.append(self.started)

    def lock(self, thread):
        if self.holder is None:
            self.add(thread, "l", 0, "acq(m)")
            self.holder = thread
        elif self.holder == thread:
            self.add(thread, "u", 0, "rel(m)")
            self.holder = None

    def act(self, thread):
        rng, what = self.rng, self.rng.random()
        ordered = len(self.steps) < self.in_order
        if ordered and what >= 0.4 and self.holder is None:
            self.lock(thread)
        if what < 0.3:
            at = rng.randrange(4)
            self.add(thread, "r", at, f"r({'xyzq'[at]})")
        elif what < 0.4:
            if not ordered:
                self.lock(thread)
        elif what < 0.5:
            self.add(thread, "q", 1, "w(q)=1")
        elif ordered and self.holder != thread:
            pass
        elif what < 0.8:
            name, value = rng.choice("xyz"), rng.randrange(3)
            self.add(thread, name, value, f"w({name})={value}")
        else:
            self.add(thread, "g", 0, "event(go)")
        if ordered and self.holder == thread:
            self.lock(thread)


def by_definition(events):
    """Relevant events and their clocks: contract section 3, every pair that it orders, closed by sets of numbers as bits. (trace.py looks at all pairs of
    events: there are too many here.)"""
    before, program, forks, writes, reads = [], {}, {}, {}, {}
    for e in events:
        i = e.number
        causes = [program.get(e.thread), forks.get(e.thread) if e.thread not in program else None]
        if e.op in ("r", "w", "acq", "rel"):
            thing = (e.op in ("r", "w"), e.obj)
            causes += writes.get(thing, []) + (reads.get(thing, []) if e.op != "r" else [])
            if e.op == "r":
                reads.setdefault(thing, []).append(i)
            else:
                writes.setdefault(thing, []).append(i)
        elif e.op == "fork":
            forks[e.obj] = i
        elif e.op == "join":
            causes.append(program.get(e.obj, forks[e.obj]))
        known = 0
        for cause in causes:
            known |= 0 if cause is None else before[cause] | 1 << cause
        before.append(known)
        program[e.thread] = i
    chosen = [e for e in events if (e.op == "w" and e.obj in "xyz") or e.op == "event"]
    stamps = []
    for e in chosen:
        stamp = {}
        for f in chosen:
            if f is e or before[e.number] >> f.number & 1:
                stamp[f.thread] = stamp.get(f.thread, 0) + 1
        stamps.append(stamp)
    return chosen, stamps


def read_lines(lines):
    """As trace.Trace, without its order."""
    events = []
    for number, line in enumerate(lines):
        thread, text, loc = line.split("|")
        op, rest = text.split("(", 1)
        events.append(traces.Event(number, thread, op, rest.split(")")[0], None, loc, None))
    return events


def completed(lines):
    """The clocks of recorded lines, with all that they leave out."""
    knows, says, counted, clocks = {}, {}, {}, []
    for line in lines:
        fields = line.split("|")
        given = dict((t, int(n)) for t, n in (pair.rsplit(":", 1) for pair in next(f for f in fields if f.startswith("c="))[2:].split(",")))
        thread, clock = fields[0], dict(knows.get(fields[0], {}))
        for other, count in given.items():
            said = says[other] if count == counted.get(other) else {}
            for name, n in {**said, other: max(count, said.get(other, 0))}.items():
                clock[name] = max(n, clock.get(name, 0))
        knows[thread] = clock
        if clock[thread] > counted.get(thread, 0):
            says[thread], counted[thread] = clock, clock[thread]
        clocks.append(clock)
    return clocks


def answer(result):
    return run_lanes.bare(result["properties"])


def check(portent, program, seed, folder):
    rng = random.Random(seed)
    play, way = Play(rng), rng.choice(WAYS)
    (folder / "steps").write_text("\n".join(play.steps) + "\n")
    (folder / "lines.trace").write_text("\n".join(play.lines) + "\n")
    (folder / "p.prop").write_text("".join(f"property p{k}: {f};\n" for k, f in enumerate(FORMULAS)))
    done = subprocess.run([str(portent), "run", "-q", "-s", "p.prop", *way, "-o", "run.trace", "-r", "run.json", "--", str(program), "steps"],
                          cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode not in (0, 66):
        return [f"run: status {done.returncode}: {done.stderr}"]
    chosen, stamps = by_definition(read_lines(play.lines))
    text = (folder / "run.trace").read_text().splitlines()
    recorded = [line for line in text if "|c=" in line]
    expected = ["|".join(play.lines[e.number].split("|")[:2]) for e in chosen]
    if [line.rsplit("|", 2)[0] for line in recorded] != expected:
        return ["the recorded events are not those of the run"]
    found = completed(recorded)
    wrong = [f"line {line}: {clock} where {stamp} is known" for line, clock, stamp in zip(recorded, found, stamps) if clock != stamp]
    full = [f"{line.rsplit('|', 1)[0]}|c=" + ",".join(f"{t}:{n}" for t, n in stamp.items()) for line, stamp in zip(recorded, stamps)]
    (folder / "full.trace").write_text("\n".join([line for line in text if "|init(" in line] + full) + "\n")
    full_answer = run_lanes.answer(portent, folder, "full", way)
    for name, other in (("run -r", answer(json.loads((folder / "run.json").read_text()))), ("check", run_lanes.answer(portent, folder, "run", way))):
        if (difference := run_lanes.difference(full_answer, other)):
            wrong.append(f"{name}: full clocks and so differ at {difference}")
    return wrong


def build(portent, folder):
    clang = next(c for c in ("clang-14", "clang") if shutil.which(c))
    subprocess.run([clang, "-O1", "-c", str(HERE / "lane_steps.c"), "-o", "steps.o"], cwd=folder, check=True)
    subprocess.run([str(portent), "cc", "-O1", "-g", str(HERE / "lane_program.c"), "steps.o", "-o", "program", "-lpthread"], cwd=folder, check=True)
    return folder / "program"


def main():
    args = random_runs.arguments(100, __doc__)
    portent, failed = args.portent.resolve(), 0
    cases = [args.only] if args.only is not None else range(args.cases)
    with tempfile.TemporaryDirectory(prefix="portent-lane-programs-") as built:
        program = build(portent, pathlib.Path(built))
        for i in cases:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="portent-lane-programs-"))
            wrong = check(portent, program, f"{args.seed}/{i}", folder)
            failed += not random_runs.settle(i, args.seed, folder, wrong, 8)
    print(f"lane-programs: {len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
