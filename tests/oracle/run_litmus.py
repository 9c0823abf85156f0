#!/usr/bin/env python3
"""The litmus traces of the project's notes on prediction, with every column of their tables: what each analysis says of a pair or a pattern.

    run_litmus.py PORTENT [--cases N] [--seed S] [--only I]

Each column is worked out by its definition (columns.py, possible.py) and compared with the table; those that the tool promises are compared with what it
says: SHB is `check --races --order access`, SyncP and SPD are `--order sync`, and the last one is `--order values`. On random traces (case i of seed S is made from "S/i" alone) SHB and
SyncP are what the tool says, and what OSR and two slices have, `values` has. The last line is `litmus: N passed, M failed`.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import possible  # noqa: E402  (beside this file)
import random_runs  # noqa: E402
from columns import Columns, conflict  # noqa: E402

# (id, trace, {pair: HB SHB WCP SyncP OSR 2-slice true}), event numbers from 1; conflicting pairs that are not named are in no column
RACES = [
    ("R1", "1:w(x) 2:w(x)", {(1, 2): "YYYYYYY"}),
    ("R2", "1:w(x) 1:w(y) 2:r(y) 2:w(x)", {(1, 4): "Y-Y----", (2, 3): "YYYYYYY"}),
    ("R3", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", {(1, 6): "--YYYYY"}),
    ("R4", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", {(1, 8): "---YYYY"}),
    ("R4b", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:r(y) 2:rel(l) 2:w(x)", {(1, 8): "-------"}),
    ("R5", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", {(2, 6): "--Y-YYY"}),
    ("R6", "1:acq(l) 1:w(x) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", {(2, 8): "----YYY"}),
    ("R7", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)", {(2, 5): "-------"}),
    ("R8", "1:w(x) 1:w(f) 2:r(f) 2:r(x)", {(1, 4): "Y-Y----", (2, 3): "YYYYYYY"}),
    ("R9", "m:w(x) m:fork(c) c:w(x) c:w(y) m:w(y) m:join(c) m:w(x)", {(1, 3): "-------", (3, 7): "-------", (4, 5): "YYYYYYY"}),
    ("R10", "m:fork(c) m:acq(l) m:w(x) m:rel(l) c:acq(l) c:rel(l) c:r(x)", {(3, 7): "--Y-YYY"}),
    ("R11", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:acq(m) 2:rel(m) 2:rel(l) 3:acq(m) 3:rel(m) 3:w(x)", {(1, 10): "--YYYYY"}),
    ("R12", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:r(x) 2:rel(l) 3:w(x)", {(2, 5): "-------", (2, 7): "YYYYYYY", (5, 7): "YYYYYYY"}),
    ("R13", "1:acq(l) 1:acq(m) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", {(4, 10): "--Y--YY"}),
    ("R14", "1:acq(l) 1:acq(m) 1:w(q) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:w(q) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", {(5, 12): "-----YY"}),
]
COLUMNS = ("HB", "SHB", "WCP", "SyncP", "OSR", "2-slice", "true")

NEST = "{0}:acq({1}) {0}:acq({2}) {0}:rel({2}) {0}:rel({1})"


def nest(thread, first, second):
    return NEST.format(thread, first, second)


# (id, trace, {pattern: SPD 2-slice true})
DEADLOCKS = [
    ("D1", f"{nest(1, 'a', 'b')} {nest(2, 'b', 'a')}", {(2, 6): "YYY"}),
    ("D2", f"1:acq(g) {nest(1, 'a', 'b')} 1:rel(g) 2:acq(g) {nest(2, 'b', 'a')} 2:rel(g)", {(3, 9): "---"}),
    ("D3", f"1:acq(a) 1:acq(b) 1:w(x) 1:rel(b) 1:rel(a) 2:r(x) {nest(2, 'b', 'a')}", {(2, 8): "---"}),
    ("D3b", f"1:w(x) {nest(1, 'a', 'b')} 2:r(x) {nest(2, 'b', 'a')}", {(3, 8): "YYY"}),
    ("D4", f"{nest(1, 'a', 'b')} {nest(2, 'b', 'c')} {nest(3, 'c', 'a')}", {(2, 6, 10): "YYY"}),
    ("D5", f"m:fork(1) {nest(1, 'a', 'b')} m:join(1) {nest('m', 'b', 'a')}", {(3, 8): "---"}),
    ("D6", f"{nest(1, 'a', 'b')} 2:acq(a) 2:rel(a) {nest(2, 'b', 'a')}", {(2, 8): "-YY"}),
    ("D7", f"1:acq(a) 1:acq(b) 1:w(x) 1:rel(b) 1:rel(a) 2:r(x) {nest(1, 'a', 'b')} {nest(2, 'b', 'a')}", {(2, 12): "---", (8, 12): "YYY"}),
    ("D8", f"1:acq(x) 1:fork(2) 2:acq(y) 2:rel(y) 1:join(2) 1:rel(x) {nest(3, 'y', 'x')}", {(3, 8): "--Y"}),
    ("D9", f"{nest(1, 'b', 'a')} {nest(1, 'a', 'b')}", {(2, 6): "---"}),
]
THE_TOOL_HAS_MORE = {("D8", "sync")}  # sections that span threads are in its order sync

# (id, trace, the event at which the recorded run is no longer serializable; None: it always is)
ATOMICITY = [
    ("A1", "1:begin(b) 1:r(x) 2:w(x) 1:w(x) 1:end(b)", 4),
    ("A2", "1:begin(b) 1:w(x) 2:begin(b) 2:r(x) 2:w(y) 2:end(b) 1:r(y) 1:end(b)", 7),
    ("A3", "1:begin(b) 1:w(x) 2:begin(b) 2:w(y) 3:begin(b) 3:r(x) 3:end(b) 2:end(b) 1:end(b)", None),
    ("A4", "1:begin(b) 1:w(x) 2:begin(b) 2:w(y) 3:begin(b) 3:w(z) 1:r(z) 2:r(x) 3:r(y) 3:end(b) 2:end(b) 1:end(b)", 9),
    ("A5", "1:begin(b) 1:w(x) 1:end(b) 2:begin(b) 2:r(x) 2:w(x) 2:end(b)", None),
]

# On R14, whose writes leave their numbers: thread 2 writes q without thread 1; and before it, both kept. (property, {order: violated})
TEMPORAL = [
    ("always (q != 8 || once q == 3)", {"access": False, "sync": True, "values": True, "slices=0": True, "slices=1": True}),
    ("always !(q == 3 && once q == 8)", {"access": False, "sync": False, "values": True, "slices=0": False, "slices=1": True}),
]


def parse(text):
    events = []
    for word in text.split():
        thread, op = word.split(":")
        op, name = op.rstrip(")").split("(")
        events.append((f"T{thread}", op, f"T{name}" if op in ("fork", "join") else name))
    return events


def recorded(events):
    """For possible.py: every write leaves another value, so that a read sees its own write or nobody's."""
    values, full = {}, []
    for i, (thread, op, name) in enumerate(events):
        if op == "w":
            values[name] = i + 1
        full.append((thread, op, name, None, values.get(name, 0) if op in ("r", "w") else None))
    return possible.Recorded(full)


class Suite:
    def __init__(self, portent, folder):
        self.portent, self.path = portent.resolve(), folder / "t.trace"
        self.passed = self.failed = 0
        self.beyond = 0

    def write(self, events):
        values, lines = {}, []
        for i, (thread, op, name) in enumerate(events, 1):
            if op == "w":
                values[name] = i
            lines.append(f"{thread}|{op}({name}){f'={values.get(name, 0)}' if op in ('r', 'w') else ''}|a.c:{i}\n")
        self.path.write_text("".join(lines))

    def ask(self, events, check, order):
        self.write(events)
        done = subprocess.run([self.portent, "check", check, "--order", order, "--effort", "all", "--json", self.path], capture_output=True, text=True,
                              check=False)
        if done.returncode not in (0, 1):
            raise SystemExit(f"{self.path.read_text()}status {done.returncode}\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)["properties"][0]["findings"]

    def races(self, events, order):
        return {tuple(sorted((f["first"]["event"], f["second"]["event"]))) for f in self.ask(events, "--races", order)}

    def deadlocks(self, events, order):
        return {tuple(sorted(step["event"] for step in f["cycle"])) for f in self.ask(events, "--deadlocks", order)}

    def settle(self, name, wrong):
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)
        if wrong:
            print(f"{name}: {'; '.join(wrong)}")

    def race_columns(self, events):
        """The pairs of each column."""
        columns, run = Columns(events), recorded(events)
        found = [columns.hb(), columns.shb(), columns.wcp(), run.races("sync"), {p for p in columns.pairs if columns.osr(p)},
                 {p for p in columns.pairs if columns.two_slices(p)}, run.races("rf")]
        return dict(zip(COLUMNS, ({(i + 1, k + 1) for i, k in pairs} for pairs in found)))

    def race(self, name, text, table):
        events, wrong = parse(text), []
        found = self.race_columns(events)
        pairs = {(i + 1, k + 1) for k in range(len(events)) for i in range(k) if conflict(events[i], events[k])}
        for at, column in enumerate(COLUMNS):
            expected = {pair for pair in pairs if table.get(pair, "-" * len(COLUMNS))[at] == "Y"}
            if found[column] != expected:
                wrong.append(f"{column} is {sorted(found[column])}, not {sorted(expected)}")
        for order, column in (("access", "SHB"), ("sync", "SyncP"), ("values", "true")):
            said, expected = self.races(events, order), found[column] | found["SHB"]
            if said != expected:
                wrong.append(f"--order {order} says {sorted(said)}, not {sorted(expected)}")
        self.settle(name, wrong)

    def deadlock(self, name, text, table):
        events, wrong = parse(text), []
        columns, run = Columns(events), recorded(events)
        for pattern, expected in table.items():
            targets = [i - 1 for i in pattern]
            apart = len({events[i][0] for i in targets}) == len(targets)
            said = "".join("Y" if yes else "-" for yes in (
                apart and deadlocks_of(run, "sync", pattern), apart and is_pattern(columns, targets) and columns.two_slices(targets)))
            if said != expected[:2]:
                wrong.append(f"{pattern} is {said}, not {expected[:2]}")
            for order, column in (("sync", 0), ("values", 2)):
                yes = expected[column] == "Y" or (name, order) in THE_TOOL_HAS_MORE
                if (pattern in self.deadlocks(events, order)) != yes:
                    wrong.append(f"{pattern} in --order {order} should be {yes}")
        for order in ("sync", "values"):
            if not self.deadlocks(events, order) <= set(table):
                wrong.append(f"--order {order} says {self.deadlocks(events, order)}")
        self.settle(name, wrong)

    def atomicity(self, name, text, at):
        events = parse(text)
        found = self.ask(events, "--serializable", "access")
        last = max((int(s["loc"].removeprefix("a.c:")) for f in found for s in f["witness"]), default=None)
        self.settle(name, [] if last == at else [f"the cycle is closed at {last}, not {at}"])

    def temporal(self, formula, table):
        self.write(parse(dict((name, text) for name, text, _ in RACES)["R14"]))
        properties = self.path.with_suffix(".prop")
        properties.write_text(f"property p: {formula};\n")
        said = {order: subprocess.run([self.portent, "check", "-q", "--order", order, "-s", properties, self.path], check=False).returncode == 1
                for order in table}
        self.settle(formula, [] if said == table else [f"violated in {said}"])

    def random(self, number, seed):
        events = [e[:3] for e in short_run(random.Random(f"{seed}/{number}"))]
        found, wrong = self.race_columns(events), []
        access, sync, values = (self.races(events, order) for order in ("access", "sync", "values"))
        for name, said, expected in (("access", access, found["SHB"]), ("sync", sync, found["SyncP"] | found["SHB"])):
            if said != expected:
                wrong.append(f"--order {name} says {sorted(said)}, not {sorted(expected)}")
        for column in ("OSR", "2-slice", "true"):
            if not found[column] <= values:
                wrong.append(f"values has not {sorted(found[column] - values)} of {column}")
        for smaller, larger in (("SyncP", "OSR"), ("OSR", "true"), ("2-slice", "true"), ("SyncP", "true")):
            if not found[smaller] <= found[larger]:
                wrong.append(f"{smaller} has {sorted(found[smaller] - found[larger])}, which {larger} has not")
        self.beyond += len((found["OSR"] | found["2-slice"]) - sync)
        self.settle(f"case {number} of seed {seed}\n{self.path.read_text() if wrong else ''}", wrong)


def is_pattern(columns, targets):
    """Each waits for a lock that the next one holds, and no lock is held by two."""
    held = [{columns.events[a][2] for a in columns.inside[i]} - {columns.events[i][2]} for i in targets]
    wanted = [columns.events[i][2] for i in targets]
    return all(any(w in held[k] for k in range(len(targets)) if k != i) for i, w in enumerate(wanted)) and \
        all(not held[i] & held[k] for i in range(len(targets)) for k in range(i))


def deadlocks_of(run, order, pattern):
    """Whether some run of the order ends with the events of the pattern next, each at a lock that another of their threads holds."""
    targets = [i - 1 for i in pattern]
    for state in run.states(order):
        nexts = {run.next_of(state[0], k) for k in range(len(run.threads))}
        held = run.held(state[0])
        if set(targets) <= nexts and all(any(lock == run.events[i][2] and t in {run.events[k][0] for k in targets if k != i} for t, lock in held)
                                         for i in targets):
            return True
    return False


def short_run(rng):
    """A possible run of two or three threads with sections of locks, nested now and then, and accesses."""
    threads = [f"T{k}" for k in range(rng.choice((2, 2, 3)))]
    programs = {}
    for thread in threads:
        program = []
        for _ in range(rng.randint(2, 3)):
            locks = rng.sample("lm", rng.choice((0, 1, 1, 2)))
            body = [(rng.choice("rww"), rng.choice("xy")) for _ in range(rng.randint(0, 2))]
            program += [("acq", lock) for lock in locks] + body + [("rel", lock) for lock in reversed(locks)]
        programs[thread] = program
    events, owner = [], {}
    while any(programs.values()):
        ready = [t for t in threads if programs[t] and (programs[t][0][0] != "acq" or not owner.get(programs[t][0][1]))]
        if not ready:
            return short_run(rng)  # it was stuck
        thread = rng.choice(ready)
        for _ in range(rng.randint(1, 4)):
            if not programs[thread] or (programs[thread][0][0] == "acq" and owner.get(programs[thread][0][1])):
                break
            op, name = programs[thread].pop(0)
            if op in ("acq", "rel"):
                owner[name] = thread if op == "acq" else None
            events.append((thread, op, name))
    return events


def main():
    args = random_runs.arguments(1000)
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(args.portent, pathlib.Path(folder))
        if args.only is None:
            for row in RACES:
                suite.race(*row)
            for row in DEADLOCKS:
                suite.deadlock(*row)
            for row in ATOMICITY:
                suite.atomicity(*row)
            for row in TEMPORAL:
                suite.temporal(*row)
        for i in range(args.cases) if args.only is None else [args.only]:
            suite.random(i, args.seed)
        if args.only is None and args.cases >= 200 and not suite.beyond:
            suite.settle("random traces", ["none had a race that only a reversal of locks leads to"])
    print(f"{suite.beyond} races of OSR or two slices beyond the order sync")
    print(f"litmus: {suite.passed} passed, {suite.failed} failed")
    return 1 if suite.failed else 0


sys.exit(main())
