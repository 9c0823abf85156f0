"""Random runs for the predictors: threads with nests of locks, readers, recursion, forks, joins, other objects and accesses with values."""

import argparse
import pathlib


def arguments(cases, description=None):
    """What every comparison with random runs takes; `cases`: how many of them by itself."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("portent", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=cases)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    return parser.parse_args()


def settle(number, seed, folder, wrong, most):
    """Whether the case passed: then its folder is removed, and else it is named, with what is wrong, `most` lines of it."""
    if not wrong:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
        return True
    print(f"case {number} of seed {seed} failed, files in {folder}")
    for complaint in wrong[:most]:
        print(f"  {complaint}")
    return False


class Maker:
    """A random run that is a possible one; threads are switched between now and then."""

    def __init__(self, rng, events=26):
        self.rng = rng
        self.locks = "abc"[:rng.choice([1, 2, 2, 3])]
        self.vars = "xyz"[:rng.choice([1, 2, 2, 3])]
        self.shared = rng.choice([0, 0, 0.4])
        self.recursive = rng.choice([0, 0, 0.2])
        self.accesses = rng.choice([0.3, 0.6, 0.9])
        self.atomics = rng.choice([0, 0, 0.2])
        self.reads = rng.choice([0.2, 0.5, 0.7])
        self.others = rng.choice([0, 0, 0.1])
        self.switch = rng.choice([0, 0.1, 0.3, 0.6])
        self.values = rng.choice([False, True])
        self.blocks = 0
        names = [f"T{i}" for i in range(rng.choice([2, 2, 3, 3, 4]))]
        self.todo = {t: self.program(events // len(names)) for t in names}
        roots = rng.randint(1, len(names))
        for child in names[roots:]:
            program = self.todo[rng.choice(names[:names.index(child)])]
            at = rng.randint(0, len(program))
            program.insert(at, ("fork", child))
            if rng.random() < 0.5:
                program.insert(rng.randint(at + 1, len(program)), ("join", child))
        self.unborn = set(names[roots:])

    def program(self, room):
        rng, ops = self.rng, []
        while len(ops) < room:
            nest = rng.sample(self.locks, min(len(self.locks), rng.choice([0, 1, 1, 2])))
            kinds = {lock: "r" if rng.random() < self.shared else "" for lock in self.locks}
            if nest and rng.random() < self.recursive:
                nest.append(rng.choice(nest))
            for lock in nest:
                self.between(ops)
                ops.append((kinds[lock] + "acq", lock))
            if rng.random() < 0.8:
                nest.reverse()
            for lock in nest:
                self.between(ops)
                ops.append((kinds[lock] + "rel", lock))
            self.between(ops)
        return ops

    def between(self, ops):
        rng = self.rng
        while rng.random() < self.accesses * 0.6:
            op = "u" if rng.random() < 0.08 else "r" if rng.random() < self.reads else "w"
            ops.append((op, rng.choice(self.vars)))
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

    def happened(self, thread, op, name):
        """Who has which lock, and who has begun."""
        if op in ("acq", "racq"):
            self.holders.setdefault(name, []).append((thread, op))
        elif op in ("rel", "rrel"):
            self.holders[name].remove((thread, op.replace("rel", "acq")))
        elif op == "fork":
            self.unborn.discard(name)

    def run(self):
        """[(thread, op, object, order, value)]"""
        rng, events = self.rng, []
        self.holders, memory, thread = {}, {}, None
        while ready := [t for t in self.todo if self.can(t)]:
            if thread not in ready or rng.random() < self.switch:
                thread = rng.choice(ready)
            op, name = self.todo[thread].pop(0)
            order = value = None
            if op in ("r", "w", "u"):
                order = rng.choice(["relaxed", "acquire", "release"]) if rng.random() < self.atomics else None
                if op != "r":
                    memory[name] = rng.randint(0, 2)
                value = memory.get(name, 0) if self.values else None
            events.append((thread, op, name, order, value))
            self.happened(thread, op, name)
        return events


def to_text(events):
    """A trace in which every event has a place of its own, a.c:NUMBER."""
    lines = []
    for i, (thread, op, name, order, value) in enumerate(events, 1):
        lines.append(f"{thread}|{op}({name})" + (f"={value}" if value is not None else "") + f"|a.c:{i}" + (f"|m={order}" if order else ""))
    return "\n".join(lines) + "\n"


def parse_litmus(text):
    """Events of `1:w(x) 2:acq(l) ...`."""
    events = []
    for word in text.split():
        thread, op = word.split(":")
        op, name = op.rstrip(")").split("(")
        events.append((f"T{thread}", op, f"T{name}" if op in ("fork", "join") else name, None, None))
    return events
