#!/usr/bin/env python3
"""What `portent check --serializable --order sync|values` predicts, on random traces against all possible runs (triples.py).

    run_triples.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. What is predicted in order sync are exactly the triples of all runs of that order; in values there are more,
each of them of a run in which reads see the writes they saw. Every witness is played. In half of the cases events share places. The last line is
`triples: N passed, M failed`; a failing trace is printed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_runs  # noqa: E402  (beside this file)
import triples  # noqa: E402

WITNESSES = 100  # findings that are shown with one

# (id, trace, pairs (a2, b) of order sync, those beyond it): numbers of events from 1
LITMUS = [
    ("A1 in one piece", "1:begin(b) 1:r(x) 1:w(x) 1:end(b) 2:w(x)", {(3, 5)}, set()),
    ("A1 after it", "2:w(x) 1:begin(b) 1:r(x) 1:w(x) 1:end(b)", set(), set()),
    ("lost update", "2:u(x) 1:begin(b) 1:w(x) 1:w(x) 1:end(b)", {(4, 1)}, set()),
    ("in one section", "1:begin(b) 1:acq(l) 1:r(x) 1:w(x) 1:rel(l) 1:end(b) 2:acq(l) 2:w(x) 2:rel(l)", set(), set()),
    ("two sections", "1:begin(b) 1:acq(l) 1:r(x) 1:rel(l) 1:acq(l) 1:w(x) 1:rel(l) 1:end(b) 2:acq(l) 2:w(x) 2:rel(l)", set(), {(6, 10)}),
    ("a section before", "1:begin(b) 1:r(x) 1:acq(l) 1:rel(l) 1:w(x) 1:end(b) 2:acq(l) 2:rel(l) 2:w(x)", {(5, 9)}, set()),
    ("a read between writes", "1:begin(b) 1:w(x) 1:w(x) 1:end(b) 2:r(x)", {(3, 5)}, set()),
    ("reads alone", "1:begin(b) 1:r(x) 1:r(x) 1:end(b) 2:r(x)", set(), set()),
    ("two blocks", "1:begin(b) 1:r(x) 1:end(b) 1:begin(b) 1:w(x) 1:end(b) 2:w(x)", set(), set()),
    ("told by a read", "1:begin(b) 1:w(x) 1:w(x) 1:w(y) 1:end(b) 2:r(y) 2:w(x)", set(), set()),
]


def with_blocks(rng, events):
    """Blocks at random places of each thread, some nested, some left open."""
    result, depth = [], {}
    often = rng.choice([0.2, 0.4, 0.6])
    for event in events:
        thread = event[0]
        while depth.get(thread) and rng.random() < 0.12:
            depth[thread] -= 1
            result.append((thread, "end", "b", None, None))
        if rng.random() < often and depth.get(thread, 0) < 2:
            depth[thread] = depth.get(thread, 0) + 1
            result.append((thread, "begin", "b", None, None))
        result.append(event)
    return result


def ask(portent, path, order):
    done = subprocess.run([portent, "check", "--serializable", "--order", order, "--json", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path.read_text()}status {done.returncode}\n{done.stdout}{done.stderr}")
    return [f for f in json.loads(done.stdout)["properties"][0]["findings"] if f["how"] == "predicted"]


class Tally:
    def __init__(self, portent, folder):
        self.portent, self.path = portent.resolve(), folder / "t.trace"
        self.passed = self.failed = self.sync = self.values = self.beyond = 0

    def judge_one(self, run, places, f, shown):
        """What is wrong with a finding; otherwise its triple."""
        second = run.number.index(f["second"]["event"])
        play, order = [(s["thread"], s["op"], s["object"]) for s in f["witness"]], "sync" if f["order"] == "sync" else "rf"
        of = {t: iter(run.of[t]) for t in run.threads}
        indices = [next(of[t]) for t, _, _ in play]
        named = {b for b in run.candidates().get(second, ()) if run.number[run.first(second, b)] == f["first"]["event"]
                 and f["note"] == f"{run.events[b][1]}({run.events[b][2]}) by {run.events[b][0]} ({places[run.number[b] - 1]}) can come between them"}
        if not play and shown >= WITNESSES:
            return second, min(named)
        if indices[-1:] != [second]:
            return f"{play} does not end with the second access"
        if run.plays(play[:-1], order) is not None:  # all but that one is a run
            named = {b for b in named if b in indices[:-1] and indices.index(b) > indices.index(run.first(second, b))}
        elif run.plays(play[:-2], order) is not None:  # what comes in between does not see what it saw
            named &= {indices[-2]}
        else:
            return f"no possible run of {f['order']}: {play}"
        return (second, min(named)) if named else f"nothing comes between in {play}"

    def judge(self, run, places, order, findings):
        reported = {"sync": set(), "values": set()}

        def key(pair):
            return run.events[pair[0]][2], *(places[run.number[k] - 1] for k in pair)
        for shown, f in enumerate(findings):
            pair = self.judge_one(run, places, f, shown)
            if isinstance(pair, str):
                return pair, reported
            if any(key(pair) in r for r in reported.values()):
                return f"{key(pair)} is reported twice", reported
            reported[f["order"]].add(key(pair))
        sync = {key(p) for p in run.triples("sync")}
        if reported["sync"] != sync:
            return f"in sync {sorted(reported['sync'])}, expected {sorted(sync)}", reported
        if order == "values":
            allowed = {key(p) for p in run.triples("rf")} - sync | reported["values"]  # each was played
            self.sync, self.values, self.beyond = self.sync + len(sync), self.values + len(reported["values"]), self.beyond + len(allowed)
            if reported["values"] & sync:
                return f"in values {sorted(reported['values'])}, in sync {sorted(sync)}", reported
        return None, reported

    def case(self, name, events, places, litmus=None):
        lines = random_runs.to_text(events).splitlines()
        lines = ["|".join([*line.split("|")[:2], place, *line.split("|")[3:]]) for line, place in zip(lines, places)]
        self.path.write_text("\n".join(lines) + "\n")
        run = triples.Blocks(events)
        for order in ("sync", "values"):
            wrong, reported = self.judge(run, places, order, ask(self.portent, self.path, order))
            if wrong:
                break
        if not wrong and litmus:
            expected = [{(events[a2 - 1][2], f"a.c:{a2}", f"a.c:{b}") for a2, b in of} for of in litmus]
            wrong = None if expected == [reported["sync"], reported["values"]] else f"{reported}, expected {expected}"
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)
        if wrong:
            print(f"{name}: {wrong}\n{self.path.read_text()}")


def main():
    args = random_runs.arguments(400)
    with tempfile.TemporaryDirectory() as folder:
        tally = Tally(args.portent, pathlib.Path(folder))
        for name, text, *expected in LITMUS if args.only is None else []:
            events = random_runs.parse_litmus(text)
            tally.case(name, events, [f"a.c:{i + 1}" for i in range(len(events))], expected)
        for i in range(args.cases) if args.only is None else [args.only]:
            rng = random.Random(f"{args.seed}/{i}")
            events = with_blocks(rng, random_runs.Maker(rng, rng.choice([8, 14, 22])).run())
            tally.case(f"case {i}", events, [f"a.c:{k + 1 if i % 2 else e[0] + 'x' + str(rng.randint(1, 3))}" for k, e in enumerate(events)])
    print(f"{tally.sync} of order sync, {tally.values} of {tally.beyond} beyond it")
    if args.only is None and args.cases >= 200 and (not tally.sync or tally.values * 10 < tally.beyond * 8):
        print("fewer than eight in ten of those that reverse locks were found, or there were none")
        tally.failed += 1
    print(f"triples: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


sys.exit(main())
