#!/usr/bin/env python3
"""A trace in RAPID's STD form has the same answers as in our own, text and binary.

    run_std.py PORTENT [--cases N] [--seed S] [--only I]

STD is THREAD|OP(OBJECT)|NUMBER, one line per event, without values; RAPID's names are T0, V3.1[7], L5. The litmus traces of the project's
notes and random ones (locks, fork and join, blocks) are written in both forms and checked for races, deadlocks and serializability
in each order. What is found must be the same, event by event; names are translated. The last line is `std: N passed, M failed`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle.run_wide import LITMUS, litmus  # noqa: E402

ORDERS = ("access", "sync", "values")
DEADLOCKS = (
    "1:acq(a) 1:acq(b) 1:rel(b) 1:rel(a) 2:acq(b) 2:acq(a) 2:rel(a) 2:rel(b)",
    "1:acq(a) 1:acq(b) 1:rel(b) 1:rel(a) 2:acq(b) 2:acq(c) 2:rel(c) 2:rel(b) 3:acq(c) 3:acq(a) 3:rel(a) 3:rel(c)",
    "1:acq(a) 1:acq(b) 1:rel(b) 1:rel(a) 2:acq(a) 2:rel(a) 2:acq(b) 2:acq(a) 2:rel(a) 2:rel(b)",
)


def random_events(rng):
    """(thread, op, object), as a program could have done them."""
    threads, unborn, ended, forked = ["main", "a"], ["b", "c"], [], []
    holds, blocks, events = [], {}, []
    for _ in range(rng.randint(8, 40)):
        thread = rng.choice(threads)
        kind = rng.choices(("r", "w", "lock", "thread", "block"), (6, 6, 8, 1, 2))[0]
        if kind in "rw":
            events.append((thread, kind, rng.choice("xyz")))
        elif kind == "lock":
            lock = rng.choice("klm")
            owner = next((t for t, held in holds if held == lock), None)
            if owner == thread:
                holds.remove((thread, lock))
                events.append((thread, "rel", lock))
            elif owner is None:
                holds.append((thread, lock))
                events.append((thread, "acq", lock))
        elif kind == "block":
            depth = blocks.get(thread, 0)
            blocks[thread] = 1 - depth
            events.append((thread, "end" if depth else "begin", "t"))
        elif unborn:
            child = unborn.pop()
            threads.append(child)
            forked.append(child)
            events.append((thread, "fork", child))
        else:
            child = next((t for t in forked if t != thread and t not in ended and t not in (h[0] for h in holds)), None)
            if child and not blocks.get(child):
                threads.remove(child)
                ended.append(child)
                events.append((thread, "join", child))
    return events


def own_events(text):
    """The events of one of our text traces."""
    events = []
    for line in text.splitlines():
        thread, op, _ = line.split("|")
        word, name = op.split("=")[0].rstrip(")").split("(")
        events.append((thread, word, name))
    return events


class Names:
    """RAPID's names for ours, given out as they come."""

    def __init__(self):
        self.given = {}

    def std(self, kind, name):
        sort = "T" if kind in ("fork", "join", "thread") else "L" if kind in ("acq", "rel") else "B" if kind in ("begin", "end") else "V"
        known = self.given.setdefault(sort, {})
        number = known.setdefault(name, len(known))
        return {"T": f"T{number}", "L": f"L{number}@{number + 17}", "B": str(number), "V": f"V{number}.{number % 2}[{7 * number}]"}[sort]

    def own(self, text):
        for sort, known in self.given.items():
            for name in known:
                if sort != "B" and text == self.std({"T": "thread", "L": "acq", "V": "r"}[sort], name):
                    return name
        return text


def sides(found, names):
    """What a finding says, with our names; of places only the event's number, which both forms have."""
    parts = found.get("cycle") or [found[key] for key in ("first", "second") if key in found]
    return [(names(part["thread"]), part.get("op"), names(part.get("wants", part.get("object", ""))), part["event"],
             sorted(map(names, part.get("holds", part.get("locks", []))))) for part in parts]


def answers(portent, trace, order, names=lambda name: name):
    done = subprocess.run([portent, "check", "--json", "--races", "--deadlocks", "--serializable", "--order", order, trace],
                          capture_output=True, text=True, timeout=300, check=False)
    try:
        entries = json.loads(done.stdout)["properties"]
    except ValueError as cause:
        raise SystemExit(f"{trace}: no JSON (exit {done.returncode}): {done.stderr}") from cause
    return done.returncode, [(entry["name"], entry["verdict"], [
        (found["how"], found["order"], found["count"], sides(found, names),
         [(names(step["thread"]), step["op"], names(step["object"])) for step in found["witness"] if step["op"] not in ("begin", "end")])
        for found in entry["findings"]]) for entry in entries]


def compare(portent, folder, events):
    """Complaints about one run in its three forms, and whether anything was found in it."""
    names, paths = Names(), [str(folder / name) for name in ("own.trace", "own.ptb", "std.std")]
    Path(paths[0]).write_text("".join(f"{t}|{op}({name})|r.c:{i}\n" for i, (t, op, name) in enumerate(events, 1)))
    Path(paths[2]).write_text("".join(f"{names.std('thread', t)}|{op}({names.std(op, name)})|{i}\n"
                                      for i, (t, op, name) in enumerate(events, 1)))
    subprocess.run([portent, "convert", paths[0], "-o", paths[1]], check=True)
    wrong, found = [], 0
    for order in ORDERS:
        own = answers(portent, paths[0], order)
        found += own[0]
        for path, translate in ((paths[1], lambda name: name), (paths[2], names.own)):
            got = answers(portent, path, order, translate)
            if got != own:
                wrong.append(f"{order}: {path}: {got}\n  own: {own}")
    return wrong, bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent", type=Path)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    args = parser.parse_args()
    portent, passed, failed, told = str(args.portent.resolve()), 0, 0, 0
    cases = [(f"litmus {i}", own_events(litmus(text))) for i, text in enumerate([text for _, text, _, _ in LITMUS] + list(DEADLOCKS))]
    if args.only is not None:
        cases = []
    for i in range(args.cases) if args.only is None else [args.only]:
        cases.append((f"case {i} of seed {args.seed}", random_events(random.Random(f"{args.seed}/{i}"))))
    for name, events in cases:
        with tempfile.TemporaryDirectory(prefix="portent-std-") as folder:
            wrong, found = compare(portent, Path(folder), events)
        passed, failed, told = passed + (not wrong), failed + bool(wrong), told + found
        if wrong:
            print(name, *events, *wrong, sep="\n  ")
    print(f"{told} of {passed + failed} runs have findings")
    if args.only is None and told < (passed + failed) // 3:
        print("too few to tell anything")
        failed += 1
    print(f"std: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
