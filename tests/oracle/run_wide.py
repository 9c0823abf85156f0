#!/usr/bin/env python3
"""Properties in the orders access, sync, values and auto: the tool against all possible runs (wide.py).

    run_wide.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. Per order the verdict, the witness (a shortest violating run, with the fewest context
switches) and how; the orders contain each other; auto is the first of the three that does not hold. Besides, the litmus traces of
the project's notes on prediction, as properties. slices=K for K = 0, 1, 2: the verdict, and that the witness is one of the
violating runs; what 0 finds sync finds, and what any finds values finds. As many cases without locks, with writes that may exclude others, are asked
in sync alone. Slices as a trace arrives, through a pipe: the same verdicts, of longer traces those of the passes over its file, and in memory that does not
grow. The last line is `wide: N passed, M failed`; a failing case's files stay.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import check, generate, ltl, trace, wide  # noqa: E402

PADDING = 40000  # lines, of 60 bytes in memory


class Maker:
    """A random run of two to four threads, whose reads mostly return what was written."""

    def __init__(self, rng):
        self.rng = rng
        self.variables = rng.choice((("x", "y"), ("x", "y", "z"), ("x", "h"), ("x", "y", "h")))
        self.weights = rng.choice(((8, 8, 2, 8, 3, 2, 2), (6, 10, 0, 4, 0, 0, 1), (8, 4, 1, 12, 6, 1, 1), (10, 6, 4, 2, 0, 2, 2), (10, 8, 2, 0, 0, 1, 2)))
        self.few = rng.random() < 0.5  # few values, so that different writes leave the same
        self.lines, self.relevant = [], 0
        self.value = {}
        self.alive, self.unborn, self.forked = ["T1", "T2"], [], []
        for k in range(3, rng.choice((2, 3, 3, 4)) + 1):
            (self.unborn if rng.random() < 0.4 else self.alive).append(f"T{k}")
        self.holds = []  # (thread, lock, exclusively)

    def text(self):
        rng = self.rng
        for v in self.variables:
            if rng.random() < 0.3:
                self.value[v] = rng.randint(0, 2)
                self.lines.append(f"-|init({v})={self.value[v]}|-")
        for _ in range(rng.randint(5, 16)):
            self.step()
        return "".join(line + "\n" for line in self.lines)

    def emit(self, thread, op):
        self.lines.append(f"{thread}|{op}|r.c:{len(self.lines) + 1}")

    def draw(self):
        return self.rng.randint(0, 1 if self.few else 3)

    def step(self):
        rng = self.rng
        thread = rng.choice(self.alive)
        kind = rng.choices(("w", "r", "u", "lock", "rlock", "thread", "other"), self.weights)[0]
        v = rng.choice(self.variables)
        if kind in ("w", "u") and v != "h":
            self.relevant += 1
            if self.relevant > 6:
                kind = "r"
        if kind in ("w", "u"):
            self.value[v] = None if rng.random() < 0.05 and v == "h" else self.draw()
            self.emit(thread, f"{kind}({v})" + ("" if self.value[v] is None else f"={self.value[v]}"))
        elif kind == "r":
            now = self.value.get(v, 0)
            shown = rng.random()
            self.emit(thread, f"r({v})" + ("" if now is None or shown < 0.15 else f"={now if shown < 0.95 else self.draw()}"))
        elif kind == "lock":
            self.lock(thread, rng.choice("mn"), True)
        elif kind == "rlock":
            self.lock(thread, rng.choice("mn"), False)
        elif kind == "thread":
            self.thread(thread)
        elif rng.random() < 0.4 and self.relevant < 6:
            self.relevant += 1
            self.emit(thread, f"event({rng.choice(generate.EVENTS)})")
        else:
            self.emit(thread, rng.choice(("wait(c)", "notify(c)", "sync(b)", "begin(t)")))

    def lock(self, thread, lock, exclusively):
        mine = (thread, lock, exclusively)
        if mine in self.holds and self.rng.random() < 0.85:
            self.holds.remove(mine)
            self.emit(thread, f"{'rel' if exclusively else 'rrel'}({lock})")
        elif all(t == thread or (l != lock) or not (x or exclusively) for t, l, x in self.holds):
            self.holds.append(mine)
            self.emit(thread, f"{'acq' if exclusively else 'racq'}({lock})")

    def thread(self, thread):
        ended = [t for t in self.forked if t in self.alive and t != thread and len(self.alive) > 1]
        if self.unborn and self.rng.random() < 0.6:
            child = self.unborn.pop()
            self.emit(thread, f"fork({child})")
            self.alive.append(child)
            self.forked.append(child)
        elif ended:
            child = self.rng.choice(ended)
            self.alive.remove(child)
            self.holds = [h for h in self.holds if h[0] != child]
            self.emit(thread, f"join({child})")


def litmus(text):
    """A trace from the notation of the notes; a write has its number as value, a read that of the write it saw."""
    lines, last = [], {}
    for number, word in enumerate(text.split(), 1):
        thread, op = word.split(":")
        op, name = op.rstrip(")").split("(")
        if op in ("fork", "join"):
            name = f"T{name}"
        value = ""
        if op == "w":
            last[name] = number
        if op in ("w", "r"):
            value = f"={last.get(name, 0)}"
        lines.append(f"T{thread}|{op}({name}){value}|r.c:{number}\n")
    return "".join(lines)


R14 = "1:acq(l) 1:acq(m) 1:w(q) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:w(q) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)"
# (id, trace, property, the orders in which it is violated). A pair "a before b" is asked as order properties of written values.
LITMUS = [
    ("R1", "1:w(x) 2:w(x)", "x != 2 || once x == 1", ("sync", "values")),
    ("R1b", "1:w(x) 2:w(x)", "!(x == 1 && once x == 2)", ("values",)),
    ("R2", "1:w(x) 1:w(y) 2:r(y) 2:w(x)", "x != 4 || once x == 1", ()),
    ("R3", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", "x != 6 || once x == 1", ("sync", "values")),
    ("R3b", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", "!(x == 1 && once x == 6)", ("values",)),
    ("R4", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", "x != 8 || once x == 1", ("sync", "values")),
    ("R4b", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:r(y) 2:rel(l) 2:w(x)", "x != 8 || once x == 1", ()),
    ("R5", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", "x != 6 || once x == 2", ("sync", "values")),
    ("R5b", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", "!(x == 2 && once x == 6)", ("values",)),
    ("R7", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)", "x != 5 || once x == 2", ("sync", "values")),
    ("R8", "1:w(x) 1:w(f) 2:r(f) 2:r(x) 2:w(z)", "z == 0 || (x != 0 && f != 0)", ()),
    ("R9", "m:w(x) m:fork(c) c:w(x) c:w(y) m:w(y) m:join(c) m:w(x)", "x != 7 || once x == 3", ()),
    ("R9b", "m:w(x) m:fork(c) c:w(x) c:w(y) m:w(y) m:join(c) m:w(x)", "y != 5 || once y == 4", ("sync", "values")),
    ("R10", "m:fork(c) m:acq(l) m:w(x) m:rel(l) c:acq(l) c:rel(l) c:r(x) c:w(z)", "z == 0 || x != 0", ()),
    ("R11", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:acq(m) 2:rel(m) 2:rel(l) 3:acq(m) 3:rel(m) 3:w(x)", "x != 10 || once x == 1",
     ("sync", "values")),
    ("R12", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:r(x) 2:rel(l) 3:w(x)", "x != 7 || once x == 2", ("sync", "values")),
    ("R13", "1:acq(l) 1:acq(m) 1:rel(m) 1:r(z) 1:w(a) 1:rel(l) 2:acq(m) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", "z == 0 || a != 0",
     ("sync", "values")),
    ("R13b", "1:acq(l) 1:acq(m) 1:rel(m) 1:r(z) 1:w(a) 1:rel(l) 2:acq(m) 2:acq(l) 2:rel(l) 2:w(b) 2:rel(m) 2:w(z)",
     "!(a != 0 && b != 0 && z == 0 && start(a != 0))", ("values",)),
    ("R14", R14, "q != 8 || once q == 3", ("sync", "values")),  # drop thread 1's section
    ("R14b", R14, "!(q == 3 && once q == 8)", ("values",)),     # with both kept
    ("D3", "1:acq(a) 1:acq(b) 1:w(x) 1:rel(b) 1:rel(a) 2:r(x) 2:acq(b) 2:acq(a) 2:w(y) 2:rel(a) 2:rel(b)", "y == 0 || x != 0", ()),
    ("D5", "m:fork(1) 1:acq(a) 1:w(x) 1:rel(a) m:join(1) m:acq(a) m:w(y) m:rel(a)", "y == 0 || x != 0", ()),
    ("V1", "1:w(f) 2:w(g)", "g == 0 || f != 0", ("access", "sync", "values")),
]
# What only values has: another write of the value that was read.
SAME_VALUE = "T2|w(f)=1|r.c:1\nT1|w(x)=1|r.c:2\nT1|w(f)=1|r.c:3\nT3|r(f)=1|r.c:4\nT3|w(z)=1|r.c:5\n"


def pattern_of(rng, run, joint=0):
    """(kind, body): some of the trace's writes and user events never come in this order. So often one of them is a comparison of two variables."""
    unknown = {e.obj for e in run.events if e.op in ("w", "u") and e.value is trace.UNKNOWN}
    chosen = [e for e in run.events if e.op == "event" or (e.op in ("w", "u") and e.obj not in unknown)]
    if not chosen:
        return generate.body(rng)
    atoms = [("event", e.obj) if e.op == "event" else ("cmp", "==", ("var", e.obj), ("num", e.value))
             for e in rng.sample(chosen, min(len(chosen), rng.choice((2, 2, 3))))]
    if joint and rng.random() < joint:
        atoms[rng.randrange(len(atoms))] = ("cmp", rng.choice(("==", "<", ">")), ("var", "x"), ("var", "y"))
    if rng.random() < 0.3:
        anything = ("star", ("letter", ("true",)))
        body = anything
        for atom in atoms:
            body = ("cat", ("cat", body, ("letter", atom)), anything)
        return "ere", body
    body = atoms[0]
    for atom in atoms[1:]:
        body = ("and", atom, ("once", ("prev", body)) if rng.random() < 0.5 else ("hist", ("not", body)))
    if rng.random() < 0.3:
        return "ltl", ("not", ("ev", body))
    return "ltl", ("not", body)


class Case:
    """One trace and some properties that tell much about it."""

    def __init__(self, seed, properties=3):
        self.rng = rng = random.Random(seed)
        self.streamed = int(seed.rsplit("/", 1)[1]) % 3  # slices for which the trace is given as one too long to be kept
        self.text = Maker(rng).text()
        self.trace = trace.Trace(self.text)
        self.expected = []
        self.sliced = [0, 0, 0]  # properties that slices=0, 1, 2 violate
        self.passes = [0, 0]     # that hold and came through a pipe: those that one pass gave up, and settled
        while len(self.expected) < properties:
            self.expected.append(self.draw(f"p{len(self.expected)}"))

    def pattern(self):
        return pattern_of(self.rng, self.trace)

    def draw(self, name):
        """Several properties are tried; those on which the orders differ are best."""
        best, best_rate = None, -1
        for attempt in range(6):
            kind, body = generate.body(self.rng) if attempt % 3 == 0 else self.pattern()
            try:
                prop = check.Property(name, kind, body)
                found = {order: wide.Wide(prop, self.trace, order) for order in wide.ORDERS}
            except ltl.Limit:
                continue
            levels = [found[order].violation_level for order in wide.ORDERS]
            rate = (levels[2] or 0) / 10 + 4 * (levels[0] != levels[2]) + 4 * (levels[1] != levels[2]) + (levels[0] is None)
            if rate > best_rate:
                best, best_rate = found, rate
        return best if best else self.draw(name)


class Hidden:
    """Threads without locks that write and read variables which no property mentions, between writes that one does: in sync such a write may exclude
    what another thread does later, so that taking it or leaving it is a choice. Properties: of pairs of relevant writes one never comes
    without, or after, the other."""

    def __init__(self, seed, properties=6):
        rng = random.Random(seed)
        lines, last, self.writes = [], {}, []
        threads = rng.choice((2, 3, 3))
        for number in range(1, rng.randint(7, 12) + 1):
            v, kind = rng.choice("hhg"), rng.choice("wwr")
            if rng.random() < 0.4:
                v, kind = rng.choice("xy"), "w"
                self.writes.append(("cmp", "==", ("var", v), ("num", number)))
            if kind == "w":
                last[v] = number
            lines.append(f"T{rng.randint(1, threads)}|{kind}({v})={last.get(v, 0)}|r.c:{number}\n")
        self.text = "".join(lines)
        self.trace = trace.Trace(self.text)
        self.expected = [self.draw(rng, f"p{k}") for k in range(properties if len(self.writes) > 1 else 0)]

    def draw(self, rng, name):
        first, second = rng.sample(self.writes, 2)
        before = ("once", first) if rng.random() < 0.5 else ("not", ("once", first))
        return wide.Wide(check.Property(name, "ltl", ("not", ("and", second, before))), self.trace, "sync")


class Long(Maker):
    """A run of many events: threads come and go, and so do blocks of memory. One pass over it as it arrives is compared with the passes over its
    file, which the short cases hold against all runs."""

    def __init__(self, rng):
        super().__init__(rng)
        self.weights = rng.choice(((1, 10, 0, 20, 8, 3, 1), (2, 20, 1, 10, 0, 2, 1), (1, 6, 1, 20, 2, 4, 4)))
        self.most = rng.randint(4, 24)
        self.values = rng.choice((2, 4, 9))
        self.unborn = [f"U{k}" for k in range(12)]
        self.blocks, self.made = [], 0
        self.dense = rng.random() < 0.6  # little else than what threads share
        if self.dense:
            self.weights, self.most, self.values = rng.choice(((10, 12, 1, 8, 0, 0, 0), (10, 20, 0, 2, 2, 0, 1))), rng.randint(6, 16), 9

    def draw(self):
        return self.rng.randint(0, self.values)

    def lock(self, thread, lock, exclusively):
        if (thread, lock, not exclusively) not in self.holds:  # that would be refused
            super().lock(thread, lock, exclusively)

    def text(self):
        for _ in range(self.rng.randint(10, 50) if self.dense else self.rng.randint(20, 250)):
            self.step()
        return "".join(line + "\n" for line in self.lines)

    def step(self):
        rng, thread = self.rng, self.rng.choice(self.alive)
        kind = rng.random()
        if kind < 0.5 or self.dense:
            self.relevant = 0 if sum("|w(" in line or "|u(" in line for line in self.lines) < self.most else 7
            super().step()
        elif kind < 0.56:
            self.made += 1
            self.blocks.append(f"b{self.made}")
            self.emit(thread, f"alloc({self.blocks[-1]})=16")
        elif kind < 0.6 and self.blocks:
            block = rng.choice(self.blocks)
            if rng.random() < 0.9:  # the others are used after that
                self.blocks.remove(block)
            self.emit(thread, f"free({block})")
        else:
            v = rng.choice([b + o for b in self.blocks[-3:] for o in ("", "+8")] + ["g", "h"])
            if rng.random() < 0.4 or self.value.get(v, 0) is None:
                self.value[v] = self.draw()
            self.emit(thread, f"{rng.choice('rrw') if v in self.value else 'w'}({v})={self.value.setdefault(v, 0)}")


def run_long(portent, folder, seed):
    """All complaints about one of these; and how many properties hold by one pass."""
    rng = random.Random(seed)
    text = Long(rng).text()
    (folder / "case.trace").write_text(text)
    run_of = trace.Trace("".join(line for line in text.splitlines(True) if line.split("|")[1][:4] in ("w(x)", "w(y)", "w(z)", "even")))
    props = [pattern_of(rng, run_of, joint) for joint in (0, 0, 0.5, 1)] + [generate.body(rng)]
    (folder / "case.prop").write_text(generate.prop_text([(f"p{k}", *prop) for k, prop in enumerate(props)]))
    order = ("--order", f"slices={rng.choice((0, 1, 1, 2))}", "--memory-limit", "200M")
    kept, _ = ask(portent, folder, *order)
    piped, _ = ask(portent, folder, *order, text=text)
    keys = ("verdict", "how", "order", "complete")
    wrong = [f"{order[1]}: kept {[a.get(k) for k in keys]}, as it arrives {[b.get(k) for k in keys]}"
             for a, b in zip(kept, piped) if (a["verdict"] not in ("unknown", b["verdict"]) and "memory limit" not in str(b.get("message")))
             or (a["verdict"] == b["verdict"] and a.get("how") != b.get("how"))]
    return wrong, sum(b["verdict"] == "holds" and b["levels"] == 1 and order[1] != "slices=0" for b in piped)


def run_hidden(portent, folder, case):
    """All complaints about one of these, in sync."""
    (folder / "case.trace").write_text(case.text)
    (folder / "case.prop").write_text(generate.prop_text([(w.prop.name, w.prop.kind, w.prop.body) for w in case.expected]))
    got, status = ask(portent, folder, "--order", "sync") if case.expected else ([], 0)
    wrong = [f"exit {status}"] if status != check.exit_status(got) else []
    return wrong + [f"hidden: {w}" for expected, entry in zip(case.expected, got) for w in expected.compare_wide(entry, "sync")]


def contained(found):
    """Complaints where a wider order knows less than one it contains."""
    wrong = []
    for narrow, broad in zip(wide.ORDERS, wide.ORDERS[1:]):
        a, b = found[narrow].violation_level, found[broad].violation_level
        if a is not None and found[broad].error_level is None and (b is None or b > a):
            wrong.append(f"the oracle itself: {narrow} at {a}, {broad} at {b}")
    return wrong


def ask(portent, folder, *args, file="case.trace", text=None):
    """The properties of one `check --json`, by name, and the exit status. With a text: it comes through a pipe."""
    done = subprocess.run([portent, "check", "--json", "--effort", "all", *args, "-s", "case.prop", "-" if text is not None else file], cwd=folder,
                          input=text, capture_output=True, text=True, timeout=300, check=False)
    try:
        return json.loads(done.stdout)["properties"], done.returncode
    except ValueError as cause:
        raise SystemExit(f"{folder}: {args}: no JSON (exit {done.returncode}): {done.stderr}") from cause


def auto(found):
    """The order that auto ends with."""
    for order in wide.ORDERS:
        if found[order].verdicts() != {"holds"}:
            return order
    return "values"


def ask_streamed(portent, folder, case, k):
    """The same of a trace that the memory limit does not let it keep, so that it is read pass by pass: it has what one thread does to memory of
    its own at its end. Nothing is said then of what data has pinned."""
    (folder / "long.trace").write_text(case.text + "PAD|w(pad)=1|pad.c:1\n" * PADDING)
    got, status = ask(portent, folder, "--order", f"slices={k}", "--memory-limit", "2M", file="long.trace")
    if any("pinned" in entry for entry in got):
        raise SystemExit(f"{folder}: slices={k}: the trace was kept")
    return got, status


def run_slices(portent, folder, case):
    """All complaints about slices=K of one case, whose files are there."""
    wrong = []
    for k in range(3):
        got, status = ask(portent, folder, "--order", f"slices={k}")
        if status != check.exit_status(got):
            wrong.append(f"slices={k}: exit {status}")
        again, _ = ask_streamed(portent, folder, case, k) if k == case.streamed else (got, status)
        piped, status = ask(portent, folder, "--order", f"slices={k}", text=case.text)
        if status != check.exit_status(piped):
            wrong.append(f"slices={k}, as it arrives: exit {status}")
        for found, entry, streamed, live in zip(case.expected, got, again, piped):
            sliced = wide.Sliced(found["access"].prop, case.trace, k)
            wrong += [f"slices={k}: {w}" for w in sliced.compare_sliced(entry)]
            wrong += [f"slices={k}, streamed: {w}" for w in sliced.compare_sliced(streamed)]
            wrong += [f"slices={k}, as it arrives: {w}" for w in sliced.compare_sliced(live)]
            if live["verdict"] == "holds":
                case.passes[live["levels"] == 1] += 1
            wider = found["values" if k else "sync"]
            if sliced.all_bad and wider.violation_level is None and wider.error_level is None:
                wrong.append(f"the oracle itself: {wider.order} does not contain slices={k}")
            case.sliced[k] += bool(sliced.all_bad)
    return wrong


def compare_pinned(case, order, entry):
    """Complaints about what data has pinned, of a property that holds."""
    pinned = wide.Pinned(case.trace, order)
    wrong = [f"{order}: the oracle itself: reads {pinned.mistaken} are not pinned"] if pinned.mistaken else []
    told = {key: entry["pinned"][key] for key in pinned.figures}
    return wrong + ([f"{order}: pinned {told}, expected {pinned.figures}"] if told != pinned.figures else [])


def run(portent, folder, case, pinned=False):
    """All complaints about one case."""
    (folder / "case.trace").write_text(case.text)
    props = [found["access"].prop for found in case.expected]
    (folder / "case.prop").write_text(generate.prop_text([(p.name, p.kind, p.body) for p in props]))
    wrong = [w for found in case.expected for w in contained(found)]
    for order in wide.ORDERS:
        got, status = ask(portent, folder, "--order", order)
        if status != check.exit_status(got):
            wrong.append(f"{order}: exit {status}")
        for found, entry in zip(case.expected, got):
            wrong += [f"{order}: {w}" for w in found[order].compare_wide(entry, order)]
        held = [entry for entry in got if entry["verdict"] == "holds" and "pinned" in entry]
        if pinned and held:
            wrong += compare_pinned(case, order, held[0])
    wrong += run_slices(portent, folder, case)
    got, _ = ask(portent, folder)
    for found, entry in zip(case.expected, got):
        known = found["access"].prop.monitorable()
        if known or (known is None and entry["monitorable"]):  # of the others nothing is searched
            wrong += [f"auto: {w}" for w in found[auto(found)].compare_wide(entry, auto(found))]
    return wrong


def run_litmus(portent, folder, name, text, prop, violated):
    """Complaints about one litmus trace: in which orders the property is violated."""
    (folder / "case.trace").write_text(text)
    (folder / "case.prop").write_text(prop)
    wrong = []
    for order in wide.ORDERS:
        got, _ = ask(portent, folder, "--order", order)
        if (got[0]["verdict"] == "violated") != (order in violated):
            wrong.append(f"{name}: {order}: {got[0]['verdict']}")
    got, _ = ask(portent, folder)
    want = next((order for order in wide.ORDERS if order in violated), "values")
    if got[0]["order"] != want:
        wrong.append(f"{name}: auto: {got[0]['order']}, not {want}")
    return wrong


def run_cut(portent, folder):
    """Complaints where the search has no time to come to its end: what the run itself breaks is told, with the run as its witness."""
    turns = [(f"T{i % 6}", i // 6) for i in range(240)]
    writes = [(thread, f"w({'x' if i % 2 else 'y'})={i % 3}") for thread, i in turns] + [("T0", "w(x)=5")]
    (folder / "case.trace").write_text("".join(f"{thread}|{op}|a.c:{i}\n" for i, (thread, op) in enumerate(writes, 1)))
    (folder / "case.prop").write_text("property p: always x < 3 || y > 7;\nproperty q: always x < 6 || y > 7;\n")
    wrong = []
    for order in wide.ORDERS[1:]:
        (broken, kept), status = ask(portent, folder, "--order", order, "--effort", "1ms")
        witness = [(step["thread"], f"{step['op']}({step['object']})={step['value']}") for step in broken.get("witness", [])]
        if (status, broken["verdict"], broken.get("how"), broken["complete"], witness) != (1, "violated", "observed", False, writes):
            wrong.append(f"{order}: the run broke it: {status}, {broken['verdict']}, {broken.get('how')}, {broken['complete']}, {len(witness)} steps")
        if (kept["verdict"], kept.get("how")) != ("unknown", None):
            wrong.append(f"{order}: nothing is known: {kept['verdict']}, {kept.get('how')}")
    return wrong


class Endless:
    """The lines of a run in which two threads take turns at some variables, each under its lock, as many as somebody reads; the property holds."""

    PROPERTY = "property p: always (a == 3 -> !(once b == 9));\n"

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def lines(self, count):
        value = dict.fromkeys("abcd", 0)
        for _ in range(count // 4):
            thread, v = self.rng.choice(("T1", "T2")), self.rng.choice("abcd")
            yield f"{thread}|acq(l{v})|e.c:1\n{thread}|r({v})={value[v]}|e.c:2\n"
            value[v] = self.rng.randint(0, 3)
            yield f"{thread}|w({v})={value[v]}|e.c:3\n{thread}|rel(l{v})|e.c:4\n"


def peak_of(portent, folder, order, count):
    """The most memory that `check -` has for so many events, in KiB, and its exit status."""
    with subprocess.Popen([portent, "check", "-q", "--order", order, "-s", "case.prop", "-"], cwd=folder, stdin=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True, env={**os.environ, "ASAN_OPTIONS": "quarantine_size_mb=1"}) as process:
        process.stdin.writelines(Endless(count).lines(count))
        process.stdin.flush()
        peak = next(int(line.split()[1]) for line in Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("VmHWM:"))
        process.stdin.close()
        return peak, process.wait(timeout=300)


def run_memory(portent, folder):
    """Complaints where memory grows with the length of what comes by."""
    (folder / "case.prop").write_text(Endless.PROPERTY)
    wrong = []
    for order, count in (("slices=0", 200_000), ("slices=1", 4_000)):
        (short, first), (long, second) = (peak_of(portent, folder, order, n) for n in (count, 10 * count))
        if (first, second) != (0, 0):
            wrong.append(f"{order}: exit {first}, {second}")
        if long > short + max(short // 4, 4096):
            wrong.append(f"{order}: {short} KiB for {count} events, {long} KiB for ten times as many")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent", type=Path)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    portent, passed, failed = str(args.portent.resolve()), 0, 0
    found, sliced, passes = dict.fromkeys(wide.ORDERS, 0), [0, 0, 0], [0, 0]
    table = [(name, litmus(text), prop, violated) for name, text, prop, violated in LITMUS]
    table.append(("V2", SAME_VALUE, "z == 0 || x != 0", ("values",)))
    for name, text, prop, violated in table if args.only is None else []:
        folder = Path(tempfile.mkdtemp(prefix=f"portent-wide-{name}-"))
        wrong = run_litmus(portent, folder, name, text, f"property p: {prop};\n", violated)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print("".join(f"{w} ({folder})\n" for w in wrong), end="")
    if args.only is None:
        folder = Path(tempfile.mkdtemp(prefix="portent-wide-cut-"))
        wrong = run_cut(portent, folder) + run_memory(portent, folder)
        passed, failed = passed + (not wrong), failed + bool(wrong)
        print("".join(f"{w} ({folder})\n" for w in wrong), end="")
    for i in range(args.cases) if args.only is None else [args.only]:
        case = Case(f"{args.seed}/{i}")
        folder = Path(tempfile.mkdtemp(prefix=f"portent-wide-{args.seed}-{i}-"))
        wrong = run(portent, folder, case, pinned=i % 4 == 0)
        sliced = [a + b for a, b in zip(sliced, case.sliced)]
        passes = [a + b for a, b in zip(passes, case.passes)]
        for expected in case.expected:
            first = next((o for o in wide.ORDERS if expected[o].violation_level is not None), None)
            if first:
                found[first] += 1
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"case {i} of seed {args.seed}, files in {folder}")
            print("".join(f"  {w}\n" for w in wrong[:8]), end="")
        else:
            for path in folder.iterdir():
                path.unlink()
            folder.rmdir()
    held = 0
    for i in range(args.cases) if args.only is None else []:
        folder = Path(tempfile.mkdtemp(prefix=f"portent-wide-long-{args.seed}-{i}-"))
        wrong, once = run_long(portent, folder, f"long/{args.seed}/{i}")
        passed, failed, held = passed + (not wrong), failed + bool(wrong), held + once
        if wrong:
            print(f"long case {i} of seed {args.seed}, files in {folder}")
            print("".join(f"  {w}\n" for w in wrong[:8]), end="")
        else:
            shutil.rmtree(folder)
    for i in range(args.cases) if args.only is None else []:
        folder = Path(tempfile.mkdtemp(prefix=f"portent-wide-hidden-{args.seed}-{i}-"))
        wrong = run_hidden(portent, folder, Hidden(f"hidden/{args.seed}/{i}"))
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"hidden case {i} of seed {args.seed}, files in {folder}")
            print("".join(f"  {w}\n" for w in wrong[:8]), end="")
        else:
            shutil.rmtree(folder)
    if args.only is None and args.cases >= 200 and not all(found.values()):
        print(f"some order never made a difference: {found}")
        failed += 1
    if args.only is None and args.cases >= 200 and not sliced[0] < sliced[1] < sliced[2]:
        print(f"more slices made no difference: {sliced}")
        failed += 1
    if args.only is None and args.cases >= 200 and not passes[0] < passes[1] / 4:
        print(f"one pass was given up too often: {passes}")
        failed += 1
    if args.only is None and args.cases >= 200 and held < args.cases / 20:
        print(f"one pass over a longer trace said of {held} properties that they hold")
        failed += 1
    print(f"violations first seen in {found}; with 0, 1, 2 slices more {sliced}; holds by several passes, by one as it arrives: {passes}, {held} in longer traces")
    print(f"wide: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
