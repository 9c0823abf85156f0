#!/usr/bin/env python3
"""`portent check --races --order access` on random traces against the definition (races.py), and on the litmus traces.

    run_races.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. Exact equality of the sets of pairs of places; each finding's sides must be a racing pair
of events, described truly. The last line is `races: N passed, M failed`; a failing trace is printed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import races  # noqa: E402  (beside this file)
import random_runs  # noqa: E402

ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]

# (id, trace, pairs that HB leaves unordered, pairs that SHB does): event numbers from 1.
LITMUS = [
    ("R1", "1:w(x) 2:w(x)", {(1, 2)}, {(1, 2)}),
    ("R2", "1:w(x) 1:w(y) 2:r(y) 2:w(x)", {(1, 4), (2, 3)}, {(2, 3)}),
    ("R3", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", set(), set()),
    ("R4", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", set(), set()),
    ("R4b", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:r(y) 2:rel(l) 2:w(x)", set(), set()),
    ("R5", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", set(), set()),
    ("R6", "1:acq(l) 1:w(x) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", set(), set()),
    ("R7", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)", set(), set()),
    ("R8", "1:w(x) 1:w(f) 2:r(f) 2:r(x)", {(1, 4), (2, 3)}, {(2, 3)}),
    ("R9", "m:w(x) m:fork(c) c:w(x) c:w(y) m:w(y) m:join(c) m:w(x)", {(4, 5)}, {(4, 5)}),
    ("R10", "m:fork(c) m:acq(l) m:w(x) m:rel(l) c:acq(l) c:rel(l) c:r(x)", set(), set()),
    ("R11", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:acq(m) 2:rel(m) 2:rel(l) 3:acq(m) 3:rel(m) 3:w(x)", set(), set()),
    ("R12", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:r(x) 2:rel(l) 3:w(x)", {(2, 7), (5, 7)}, {(2, 7), (5, 7)}),
    ("R13", "1:acq(l) 1:acq(m) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", set(), set()),
    ("R14", "1:acq(l) 1:acq(m) 1:w(q) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:w(q) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", set(), set()),
]


def parse_litmus(text):
    events = []
    for i, word in enumerate(text.split(), 1):
        thread, op = word.split(":")
        op, name = op.rstrip(")").split("(")
        events.append((f"T{thread}", op, f"T{name}" if op in ("fork", "join") else name, f"a.c:{i}", None, None))
    return events


def to_text(events):
    lines = []
    for thread, op, name, place, order, part in events:
        word = op if op == "fence" else f"{op}({name})"
        lines.append(f"{thread}|{word}|{place}" + (f"|m={order}" if order else "") + (f"|b={min(part)}-{max(part)}" if part else ""))
    return "\n".join(lines) + "\n"


class Maker:
    """A random run that is a possible one."""

    def __init__(self, rng):
        self.rng = rng
        names = [f"T{i}" for i in range(rng.randint(2, 5))]
        self.long = rng.random() < 0.04  # so much of one location that some of it is forgotten
        roots = 1 if self.long else rng.randint(1, len(names))
        self.alive, self.unborn, self.dead = names[:roots], names[roots:], []
        self.locks = {}  # name: {thread: "acq" or "racq"}
        self.events = []
        self.atomics = rng.random()  # how much of the run is atomic
        self.syncs = rng.choice([0.1, 0.3, 0.6])
        self.parts = rng.choice([0, 0, 0.3, 0.8])  # how many of the accesses touch a part of their variable
        self.place_count = 40 if self.long else rng.choice([2, 5, 40])

    def add(self, thread, op, name, order=None, part=None):
        self.events.append((thread, op, name, f"a.c:{self.rng.randint(1, self.place_count)}", order, part))

    def part(self, op):
        """Of a read-modify-write one of 8 aligned bytes: what is wider is not atomic on any machine that has bytes of it apart."""
        rng = self.rng
        if op == "u":
            low = rng.choice([0, 8])
            return range(low, low + rng.choice([1, 4, 8]))
        if rng.random() >= self.parts:
            return None
        low = rng.choice([0, 0, 2, 4, 7, 8, 12, 30])
        return range(low, low + rng.choice([1, 2, 4, 8, 13]))

    def access(self, thread):
        rng = self.rng
        name = "x" if self.long else rng.choice(["x", "y", "z", "h1", "h1+8", "h2+0", "h2+16"])
        op = rng.choice(["r", "r", "w", "u"] if rng.random() < self.atomics else ["r", "r", "w"])
        order = rng.choice(ORDERS) if rng.random() < self.atomics * 0.9 else None
        self.add(thread, op, name, order, self.part(op) if self.parts else None)

    def lock(self, thread):
        rng, name = self.rng, self.rng.choice("lm")
        holders = self.locks.setdefault(name, {})
        if thread in holders:
            self.add(thread, "rel" if holders.pop(thread) == "acq" else "rrel", name)
        elif not holders:
            holders[thread] = rng.choice(["acq", "racq"])
            self.add(thread, holders[thread], name)
        elif all(kind == "racq" for kind in holders.values()):
            holders[thread] = "racq"
            self.add(thread, "racq", name)

    def thread_op(self, thread):
        rng = self.rng
        if self.unborn and rng.random() < 0.6:
            child = self.unborn.pop(0)
            self.add(thread, "fork", child)
            self.alive.append(child)
        elif len(self.alive) > 2 and rng.random() < 0.5:
            child = rng.choice([t for t in self.alive if t != thread])
            if not any(child in holders for holders in self.locks.values()):
                self.alive.remove(child)
                if any(e[0] == child or (e[1] == "fork" and e[2] == child) for e in self.events):
                    self.add(thread, "join", child)

    def step(self):
        rng = self.rng
        thread = rng.choice(self.alive)
        if rng.random() > self.syncs:
            self.access(thread)
            return
        kind = rng.choice(["lock", "lock", "lock", "thread", "other", "fence", "heap"])
        if kind == "lock":
            self.lock(thread)
        elif kind == "thread":
            self.thread_op(thread)
        elif kind == "other":
            op = rng.choice(["wait", "notify", "sync"])
            self.add(thread, op, rng.choice("cd"), rng.choice([None, None, *ORDERS]) if op == "sync" else None)
        elif kind == "fence":
            self.add(thread, "fence", "", rng.choice(ORDERS))
        else:
            self.add(thread, rng.choice(["alloc", "free", "free"]), rng.choice(["h1", "h2"]))

    def run(self):
        for block in ("h1", "h2"):
            self.add(self.alive[0], "alloc", block)
        for _ in range(500 if self.long else self.rng.choice([6, 15, 40, 90])):
            self.step()
        return self.events


def ask(portent, folder, text, *options, binary=False):
    path = folder / "t.trace"
    path.write_text(text)
    if binary:  # of which many events are looked at at a time
        subprocess.run([portent, "convert", path, "-o", folder / "t.ptb"], check=True)
        path = folder / "t.ptb"
    done = subprocess.run([portent, "check", "--order", "access", *options, "--json", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{path}: status {done.returncode}\n{done.stderr}")
    return done.returncode, json.loads(done.stdout)


def locks_at(events, number):
    thread, held = events[number - 1][0], []
    for t, op, name, *_ in events[:number - 1]:
        if t == thread and op in ("acq", "racq"):
            held.append(name)
        elif t == thread and op in ("rel", "rrel"):
            held.remove(name)
    return sorted(set(held))


def problem(events, answer, status):
    """None, or what is wrong."""
    found, run = races.races(events)
    (check,) = [entry for entry in answer["properties"] if entry["name"] == "races"]
    others = [entry["verdict"] for entry in answer["properties"] if entry is not check]  # by default deadlocks, too
    expected, got = races.places(found, run), {}
    if check["verdict"] != ("violated" if expected else "holds") or status != (1 if expected or "violated" in others else 0):
        return f"verdict {check['verdict']}, status {status}, expected {sorted(expected)}"
    for finding in check["findings"]:
        first, second = finding["first"], finding["second"]
        pair = (first["event"] - 1, second["event"] - 1)
        if pair not in found:
            return f"{pair} does not race"
        for side in (first, second):
            event = events[side["event"] - 1]
            if (side["thread"], side["op"], side["loc"]) != (event[0], event[1], event[3]):
                return f"side {side} is not event {event}"
            if sorted(side["locks"]) != locks_at(events, side["event"]):
                return f"locks of {side}"
        pair = tuple(sorted((first["loc"], second["loc"])))
        if pair in got:
            return f"{pair} twice"
        got[pair] = {"heap" if races.base_of(name) in run.heap else name for name in [finding["object"], *finding.get("also", [])]}
    # the heap's blocks have names of this run alone, and are not listed beside others
    return None if all(got.get(pair, set()) | {"heap"} == names | {"heap"} for pair, names in expected.items()) and got.keys() == expected.keys() \
        else f"expected {sorted(expected.items())}, got {sorted(got.items())}"


def check_litmus(portent, folder):
    for name, text, hb, shb in LITMUS:
        events = parse_litmus(text)
        for relation, pairs in ((False, hb), (True, shb)):
            by_definition = {(i + 1, j + 1) for i, j in races.races(events, relation)[0]}
            assert by_definition == pairs, (name, relation, by_definition)
        status, answer = ask(portent, folder, to_text(events), "--races")
        wrong = problem(events, answer, status)
        if wrong:
            raise SystemExit(f"{name}: {wrong}\nraces: 0 passed, 1 failed")


def main():
    args = random_runs.arguments(1000, "Data races of random traces, against the definition.")
    failed = racy = 0
    with tempfile.TemporaryDirectory() as folder:
        check_litmus(args.portent, pathlib.Path(folder))
        numbers = [args.only] if args.only is not None else range(args.cases)
        for i in numbers:
            events = Maker(random.Random(f"{args.seed}/{i}")).run()
            status, answer = ask(args.portent, pathlib.Path(folder), to_text(events), *(["--races"] if i % 2 else []), binary=i % 3 == 0)
            wrong = problem(events, answer, status)
            racy += status
            failed += wrong is not None
            if wrong:
                print(f"case {i} of seed {args.seed}:\n{to_text(events)}{wrong}")
    print(f"seed {args.seed}: {racy} of {len(numbers)} traces with races, and {len(LITMUS)} litmus traces")
    print(f"races: {len(numbers) + len(LITMUS) - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
