#!/usr/bin/env python3
"""`portent check --deadlocks` on random traces against all runs there are (deadlocks.py, possible.py), and on the litmus traces.

    run_deadlocks.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. Exact equality of the sets of deadlocks, in the order sync and in values, where reads return the
values they returned. Each is a real one at the events it names, and its witness is played. The last line is `deadlocks: N passed, M failed`; a failing trace is printed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import deadlocks  # noqa: E402  (beside this file)
import possible  # noqa: E402
import random_runs  # noqa: E402

NEST = "{0}:acq({1}) {0}:acq({2}) {0}:rel({2}) {0}:rel({1})"


def nest(thread, first, second):
    return NEST.format(thread, first, second)


# What only a run with another order of locks gets to (litmus D6).
REVERSED = {"D6": [{2, 8}], "D8, after a section": [{3, 10}]}

# (id, trace, the blocking acquires by event number from 1, of each deadlock of the order sync)
LITMUS = [
    ("D1", f"{nest(1, 'a', 'b')} {nest(2, 'b', 'a')}", [{2, 6}]),
    ("D2", f"1:acq(g) {nest(1, 'a', 'b')} 1:rel(g) 2:acq(g) {nest(2, 'b', 'a')} 2:rel(g)", []),
    ("D3", f"1:acq(a) 1:acq(b) 1:w(x) 1:rel(b) 1:rel(a) 2:r(x) {nest(2, 'b', 'a')}", []),
    ("D3b", f"1:w(x) {nest(1, 'a', 'b')} 2:r(x) {nest(2, 'b', 'a')}", [{3, 8}]),
    ("D4", f"{nest(1, 'a', 'b')} {nest(2, 'b', 'c')} {nest(3, 'c', 'a')}", [{2, 6, 10}]),
    ("D5", f"m:fork(1) {nest(1, 'a', 'b')} m:join(1) {nest('m', 'b', 'a')}", []),
    ("D6", f"{nest(1, 'a', 'b')} 2:acq(a) 2:rel(a) {nest(2, 'b', 'a')}", []),
    ("D7", f"1:acq(a) 1:acq(b) 1:w(x) 1:rel(b) 1:rel(a) 2:r(x) {nest(1, 'a', 'b')} {nest(2, 'b', 'a')}", [{8, 12}]),
    ("D8", f"1:acq(x) 1:fork(2) 2:acq(y) 2:rel(y) 1:join(2) 1:rel(x) {nest(3, 'y', 'x')}", [{3, 8}]),
    ("D8, after a section", f"1:acq(x) 1:fork(2) 2:acq(y) 2:rel(y) 1:join(2) 1:rel(x) 3:acq(x) 3:rel(x) {nest(3, 'y', 'x')}", []),
    ("D8, and before by itself", f"1:fork(2) {nest(2, 'x', 'y')} 2:w(z) 1:acq(x) 3:r(z) 2:acq(y) 2:rel(y) 1:join(2) 1:rel(x) {nest(3, 'y', 'x')}", [{9, 14}]),
    ("D9", f"{nest(1, 'b', 'a')} {nest(1, 'a', 'b')}", []),
    # a try is no wait, but has the lock: of each the twin with what would wait
    ("try inside", f"1:acq(a) 1:try(b) 1:rel(b) 1:rel(a) {nest(2, 'b', 'a')}", []),
    ("try outside", f"1:try(a) 1:acq(b) 1:rel(b) 1:rel(a) {nest(2, 'b', 'a')}", [{2, 6}]),
    ("both try inside", "1:acq(a) 1:try(b) 1:rel(b) 1:rel(a) 2:acq(b) 2:try(a) 2:rel(a) 2:rel(b)", []),
    ("tries for reading", f"1:acq(a) 1:rtry(b) 1:rrel(b) 1:rel(a) {nest(2, 'b', 'a')}", []),
    ("once a try, once not", f"1:acq(a) 1:try(b) 1:rel(b) 1:rel(a) {nest(2, 'b', 'a')} {nest(1, 'a', 'b')}", [{10, 6}]),
    ("a try under a join", f"1:acq(x) 1:fork(2) 2:try(y) 2:rel(y) 1:join(2) 1:rel(x) {nest(3, 'y', 'x')}", []),
]


def parse_litmus(text):
    events, tries = [], set()
    for word in text.split():
        thread, op = word.split(":")
        op, name = op.rstrip(")").split("(")
        if op in ("try", "rtry"):
            tries.add(len(events))
            op = op.replace("try", "acq")
        events.append((f"T{thread}", op, f"T{name}" if op in ("fork", "join") else name))
    return events, tries


class Maker:
    """A random run that is a possible one: threads with nests of locks, which are switched between now and then."""

    def __init__(self, rng):
        self.rng = rng
        self.locks = "abc"[:rng.choice([2, 2, 3, 3])]
        self.shared = rng.choice([0, 0, 0.5])
        self.gate = rng.choice([0, 0, 0.3])
        self.recursive = rng.choice([0, 0, 0.2])
        self.accesses = rng.choice([0, 0.1, 0.3])
        self.others = rng.choice([0, 0, 0.1])
        self.switch = rng.choice([0, 0.1, 0.3])
        self.trying = rng.choice([0, 0, 0.3])
        self.values = rng.choice([False, True])
        self.spans = rng.choice([False, True])  # threads are forked and joined by one that has a lock
        names = [f"T{i}" for i in range(rng.choice([3, 3, 4] if self.spans else [2, 2, 3, 3, 4]))]
        room = 30 // len(names)
        self.todo = {t: self.program(room) for t in names}
        roots = len(names) - 1 if self.spans else rng.randint(1, len(names))
        for child in names[roots:]:
            parent = rng.choice(names[:names.index(child)])
            program = self.todo[parent]
            if self.spans and self.inside(program, child):
                continue
            at = rng.randint(0, len(program))
            program.insert(at, ("fork", child))
            if rng.random() < 0.7:
                program.insert(rng.randint(at + 1, len(program)), ("join", child))
        self.unborn = set(names[roots:])

    def inside(self, program, child):
        """Joins the child inside of a section, and mostly forks it there."""
        begins = [k for k, (op, _) in enumerate(program) if op == "acq"]
        if not begins:
            return False
        begin = self.rng.choice(begins)
        ends = [k for k, (op, name) in enumerate(program) if k > begin and (op, name) == ("rel", program[begin][1])]
        held = {name for k, (op, name) in enumerate(program[:ends[0]]) if op.endswith("acq") and (op.replace("acq", "rel"), name) in program[ends[0]:]}
        self.todo[child] = [(op, name) for op, name in self.todo[child] if name not in held]  # it must come to its end
        program.insert(ends[0], ("join", child))
        program.insert(self.rng.choice([begin + 1, begin + 1, self.rng.randint(0, begin)]), ("fork", child))
        return True

    def program(self, room):
        rng, ops = self.rng, []
        while len(ops) < room:
            kinds = {lock: "r" if rng.random() < self.shared else "" for lock in self.locks}
            nest = rng.sample(self.locks, rng.choice([1, 2, 2, 2, len(self.locks)]))
            if rng.random() < self.gate:
                nest.insert(0, "g")
            if rng.random() < self.recursive:
                nest.append(rng.choice(nest))
            for lock in nest:
                self.others_between(ops)
                ops.append((kinds.get(lock, "") + "acq", lock))
            if rng.random() < 0.8:
                nest.reverse()
            for lock in nest:
                self.others_between(ops)
                ops.append((kinds.get(lock, "") + "rel", lock))
            self.others_between(ops)
        return ops

    def others_between(self, ops):
        rng = self.rng
        if rng.random() < self.accesses:
            ops.append((rng.choice("rrwwu"), rng.choice("xy")))
        if rng.random() < self.others:
            ops.append((rng.choice(["wait", "notify", "sync"]), "s"))

    def can(self, thread):
        if thread in self.unborn or not self.todo[thread]:
            return False
        op, name = self.todo[thread][0]
        if op == "join":
            return name not in self.unborn and not self.todo[name]
        if op in ("acq", "racq"):
            return all(t == thread or (op == "racq" and kind == "racq") for t, kind in self.holders.get(name, []))
        return True

    def run(self):
        """Events, those of them that are tries, and what each access reads or writes (None: not known)."""
        rng, events, values = self.rng, [], []
        self.holders, memory = {}, {}
        thread = None
        while ready := [t for t in self.todo if self.can(t)]:
            if thread not in ready or rng.random() < self.switch:
                thread = rng.choice(ready)
            op, name = self.todo[thread].pop(0)
            events.append((thread, op, name))
            if op in ("w", "u"):
                memory[name] = rng.randint(0, 1)
            values.append(memory.get(name, 0) if self.values and op in ("r", "w", "u") else None)
            if op in ("acq", "racq"):
                self.holders.setdefault(name, []).append((thread, op))
            elif op in ("rel", "rrel"):
                self.holders[name].remove((thread, op.replace("rel", "acq")))
            elif op == "fork":
                self.unborn.discard(name)
        return events, {i for i, (_, op, _) in enumerate(events) if op.endswith("acq") and rng.random() < self.trying}, values


def is_lent(events, key, cycles):
    """Whether a thread of the cycle has a lock only because somebody has it who joins that thread."""
    for cycle in cycles:
        for i in cycle:
            held = {}
            for t, op, name in events[:i]:
                if t == events[i][0] and op in ("acq", "racq", "rel", "rrel"):
                    held[name] = held.get(name, 0) + (1 if op.endswith("acq") else -1)
            if any(t == events[i][0] and not h <= {n for n, depth in held.items() if depth} for t, _, _, h in key):
                return True
    return False


def ask(portent, folder, events, tries, values, order="sync"):
    """The findings, with the numbers that events have without the lines that say that a thread tries."""
    path = folder / "t.trace"
    lines = []
    for i, (t, op, name) in enumerate(events, 1):
        lines += [(0, f"{t}|state(trying)|-\n")] if i - 1 in tries else []
        value = "" if values[i - 1] is None else f"={values[i - 1]}"
        lines.append((i, f"{t}|{op}({name}){value}|a.c:{i}\n"))
    path.write_text("".join(line for _, line in lines))
    done = subprocess.run([portent, "check", "--deadlocks", "--order", order, "--effort", "all", "--json", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path.read_text()}status {done.returncode}\n{done.stdout}{done.stderr}")
    finding = json.loads(done.stdout)["properties"][0]
    if (finding["verdict"] == "violated") != (done.returncode == 1):
        raise SystemExit(f"{path.read_text()}status {done.returncode}, verdict {finding['verdict']}")
    for side in [side for found in finding["findings"] for side in found["cycle"]]:
        side["event"] = lines[side["event"] - 1][0]
    return finding["findings"]


def judge(events, tries, findings, expected):
    """What is wrong with the findings, in words; None: nothing."""
    reported = {}
    for finding in findings:
        cycle = finding["cycle"]
        numbers = [side["event"] - 1 for side in cycle]
        for side, i in zip(cycle, numbers):
            if (side["thread"], side["op"], side["wants"], side["loc"]) != (*events[i], f"a.c:{i + 1}"):
                return f"event {i + 1} is not described truly: {side}"
        key = frozenset((s["thread"], s["op"], s["wants"], frozenset(s["holds"])) for s in cycle)
        if frozenset(numbers) in reported.setdefault(key, set()):
            return f"reported twice: {cycle}"
        reported[key].add(frozenset(numbers))  # several, where it holds the same locks in another way
        if finding["how"] != "predicted" or finding["order"] != "sync":
            return f"{finding['how']}, {finding['order']}"
        witness = [(s["thread"], s["op"], s["object"]) for s in finding["witness"]]
        if not deadlocks.is_witness(events, witness, numbers, tries):
            return f"no witness of {numbers}: {witness}"
    if set(reported) != set(expected):
        return f"reported {sorted(map(str, reported))}, expected {sorted(map(str, expected))}"
    for key, cycles in reported.items():
        if not cycles <= expected[key]:
            return f"{cycles} are not all of {expected[key]}"
    return None


def with_values(events, values):
    return possible.Recorded([(*event, None, value) for event, value in zip(events, values)])


def all_deadlocks(events, tries, values, order="values"):
    """Abstract cycles of every run in which reads return what they returned; order rf: see the writes they saw."""
    run, found = deadlocks.Run(events, tries), set()
    for positions, _ in with_values(events, values).states(order):
        found |= {run.abstract(cycle, held) for cycle, held in run.cycles(positions)}
    return found


def judge_reversed(events, tries, values, findings, sync, expected):
    """What is wrong with the findings of the order values, which with those of sync are the expected ones."""
    recorded, run, reported = with_values(events, values), deadlocks.Run(events, tries), set()
    for finding in findings:
        cycle = finding["cycle"]
        key = frozenset((s["thread"], s["op"], s["wants"], frozenset(s["holds"])) for s in cycle)
        reported.add(key)
        state = recorded.plays([(s["thread"], s["op"], s["object"]) for s in finding["witness"]], "values")
        if finding["how"] != "predicted" or state is None:
            return f"no possible run: {finding}"
        numbers = frozenset(side["event"] - 1 for side in cycle)
        if numbers not in {frozenset(c) for c, _ in run.cycles(state[0])}:
            return f"not blocked after its witness: {finding}"
    return None if reported | set(sync) == expected else f"in values {sorted(map(str, reported))}, expected {sorted(map(str, expected - set(sync)))}"


def main():
    args = random_runs.arguments(400)
    passed, failed, found, reversed_, others, lent, tried = 0, 0, 0, 0, 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text, cycles in LITMUS if args.only is None else []:
            events, tries = parse_litmus(text)
            values, expected = [None] * len(events), deadlocks.deadlocks(events, tries)
            findings = ask(args.portent.resolve(), folder, events, tries, values)
            got = [{side["event"] for side in f["cycle"]} for f in findings]
            wrong = judge(events, tries, findings, expected) or (None if got == cycles else f"{got}, not {cycles}")
            findings = [f for f in ask(args.portent.resolve(), folder, events, tries, values, "values") if f["order"] == "values"]
            got = [{side["event"] for side in f["cycle"]} for f in findings]
            wrong = wrong or judge_reversed(events, tries, values, findings, expected, all_deadlocks(events, tries, values))
            wrong = wrong or (None if got == REVERSED.get(name, []) else f"in values {got}, not {REVERSED.get(name)}")
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"{name}: {wrong}")
        for i in range(args.cases) if args.only is None else [args.only]:
            events, tries, values = Maker(random.Random(f"{args.seed}/{i}")).run()
            expected = deadlocks.deadlocks(events, tries)
            tried += len(tries) > 0 and len(deadlocks.deadlocks(events)) > len(expected)
            found += len(expected)
            lent += sum(is_lent(events, key, cycles) for key, cycles in expected.items())
            wrong = judge(events, tries, ask(args.portent.resolve(), folder, events, tries, values), expected)
            findings = ask(args.portent.resolve(), folder, events, tries, values, "values")
            allowed = all_deadlocks(events, tries, values)
            wrong = wrong or judge(events, tries, [f for f in findings if f["order"] == "sync"], expected)
            wrong = wrong or judge_reversed(events, tries, values, [f for f in findings if f["order"] == "values"], expected, allowed)
            reversed_ += len(allowed - set(expected))
            others += len(allowed - all_deadlocks(events, tries, values, "rf"))
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"case {i}: {wrong}\n{(folder / 't.trace').read_text()}")
    print(f"{found} of order sync, {lent} of them with a lock of a thread that joins, {reversed_} of order values besides, {others} of them by other writes of the same value, {tried} cases with fewer because of tries")
    if args.only is None and args.cases >= 200 and not (lent and tried and reversed_):
        print("tries made no difference, or no case had a deadlock with a lock of a thread that joins, or one of the order values alone")
        failed += 1
    print(f"deadlocks: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
