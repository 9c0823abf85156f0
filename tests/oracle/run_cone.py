#!/usr/bin/env python3
"""Long traces through the cone: windows that slide over hundreds of levels, by the definition of the window.

    run_cone.py PORTENT [--cases N] [--seed S] [--only I] [--most EVENTS]

A cut is a number whose bits are its events; of two cuts of a level the one that is kept first is the smaller number, since the
definition compares their latest events first. Properties are invariants, and such that remember one bit of the past: what
monitors do with longer words is for run_random.py, whose traces are short. The last line is `cone: N passed, M failed`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import random_runs, trace  # noqa: E402


def make_trace(rng, most):
    """Threads that write variables of their own, now and then a common one, under a lock or not, and read each other's."""
    threads = [f"T{k}" for k in range(1, rng.randint(2, 6) + 1)]
    together, reading = rng.choice((0, 0.02, 0.1)), rng.choice((0, 0.05, 0.3))
    burst, lines, own = rng.choice((1, 4, 40)), [], 0
    thread = threads[0]
    while own < most:
        if rng.random() < 1 / burst:
            thread = rng.choice(threads)
        place = f"|a.c:{len(lines) + 1}"
        if rng.random() < together:
            lines += [f"{thread}|acq(m){place}", f"{thread}|w(s)={rng.randint(0, 999)}{place}", f"{thread}|rel(m){place}"]
        elif rng.random() < reading:
            lines.append(f"{thread}|r(x{rng.randint(1, len(threads))}){place}")
        else:
            lines.append(f"{thread}|w(x{thread[1:]})={rng.randint(0, 999)}{place}")
            own += 1
    return "".join(line + "\n" for line in lines), len(threads)


class Cone:
    """Levels of cuts by the definition, and for each cut the states of one bit that runs through kept cuts reach it with."""

    def __init__(self, before, window, lookahead):
        self.window, self.lookahead = window, lookahead
        self.before = [sum(1 << i for i in mine) for mine in before]
        self.levels, self.complete, self.complete_upto = [[0]], True, [True]
        for _ in before:
            self.levels.append(self.step(self.levels[-1]))
            self.complete_upto.append(self.complete)

    def enabled(self, cut):
        """The events that can come next after a cut."""
        return [e for e, mine in enumerate(self.before) if not cut >> e & 1 and mine & ~cut == 0]

    def step(self, level):
        """The next level."""
        common = level[0]
        for cut in level:
            common &= cut
        outside = [e for e in range(len(self.before)) if not common >> e & 1][:self.lookahead]
        ahead, found = set(outside), set()
        for cut in level:
            for event in self.enabled(cut):
                if event in ahead:
                    found.add(cut | 1 << event)
                else:
                    self.complete = False
        kept = sorted(found)[:self.window]
        self.complete = self.complete and len(kept) == len(found)
        return kept

    def statistics(self, upto):
        """As the JSON has them, of the levels up to this one."""
        levels, paths = self.levels[:upto + 1], {0: 1}
        for level in levels[1:]:
            paths = {cut: sum(n for other, n in paths.items() if other & ~cut == 0) for cut in level}
        runs = sum(paths.values())
        return {"levels": len(levels), "states": sum(map(len, levels)), "width": max(map(len, levels)),
                "runs": str(runs) if runs < 2**64 else ">18446744073709551615"}


class Invariant:
    """`always (A || B)`, or `always (A -> once B)`; A and B compare a variable with a number that it rarely reaches."""

    def __init__(self, rng, name, variables, events):
        def rare(variable):
            values = sorted((e.value for e in events if e.op == "w" and e.obj == variable), reverse=True)
            return values[min(rng.randint(0, 3), len(values) - 1)] if values else 5

        self.name, self.past = name, rng.random() < 0.4
        first, second = rng.choice(variables), rng.choice(variables)
        self.one = (first, ">=" if self.past else "<", rare(first))
        self.other = (second, ">" if self.past else "<", rare(second))
        parts = [f"{v} {op} {n}" for v, op, n in (self.one, self.other)]
        self.text = f"property {name}: always ({parts[0]} -> once({parts[1]}));" if self.past else \
            f"property {name}: always ({parts[0]} || {parts[1]});"

    @staticmethod
    def holds(atom, state):
        """An atom in a state; what was never written is 0."""
        value = state.get(atom[0], 0)
        return {"<": value < atom[2], ">": value > atom[2], ">=": value >= atom[2]}[atom[1]]

    def after(self, bit, state):
        """(bad, the bit) in a state, before which the bit was this."""
        one, other = self.holds(self.one, state), self.holds(self.other, state)
        return (one and not (bit or other), bit or other) if self.past else (not one and not other, False)

    def violation(self, cone, events):
        """(first level with a violating run, whether the run itself is one, at any level)."""
        def state_of(cut):
            state = {}
            for k, event in enumerate(events):
                if cut >> k & 1:
                    state[event.obj] = event.value
            return state

        actual, observed, bit, first, front = 0, False, False, None, {}
        for k in range(len(events) + 1):
            bad, bit = self.after(bit, state_of(actual))
            observed = observed or bad
            actual |= 1 << k
        for level, cuts in enumerate(cone.levels):
            reached = {}
            for cut in cuts:
                bits = {False} if level == 0 else {b for other, had in front.items() if other & ~cut == 0 for b in had}
                for before in bits:
                    bad, now = self.after(before, state_of(cut))
                    if bad:
                        return level, observed
                    reached.setdefault(cut, set()).add(now)
            front = reached
        return first, observed


def compare(prop, entry, cone, events):
    """What the tool says otherwise."""
    level, observed = prop.violation(cone, events)
    upto = len(events) if level is None else level
    want = {"verdict": "holds" if level is None else "violated", "relevant": len(events), **cone.statistics(upto)}
    if level is None:
        want["complete"] = cone.complete
    else:
        want["how"] = "observed" if observed else "predicted"
    return [f"{prop.name}: {key} is {entry.get(key)!r}, expected {value!r}" for key, value in want.items() if entry.get(key) != value]


def run_case(portent, folder, rng, most):
    """All complaints about one case."""
    text, threads = make_trace(rng, rng.choice((most // 10, most // 3, most)))
    variables = [f"x{k}" for k in range(1, threads + 1)] + ["s"]
    parsed = trace.Trace(text)
    props = [Invariant(rng, f"p{k}", variables, parsed.events) for k in range(4)]
    (folder / "case.trace").write_text(text)
    (folder / "case.prop").write_text("".join(p.text + "\n" for p in props))
    window, lookahead = rng.choice((1, 2, 3, 7, 16)), rng.choice((1, 2, 5, 11, 40))
    spelled = ["--window", str(window), "--lookahead", str(lookahead)]
    wrong = []
    for jobs in ([], ["--jobs", "2"]):
        done = subprocess.run([portent, "check", "--json", "--order", "access", *spelled, *jobs, "-s", "case.prop", "case.trace"],
                              cwd=folder, capture_output=True, timeout=300, check=False)
        try:
            got = json.loads(done.stdout)["properties"]
        except (ValueError, KeyError):
            return [f"{spelled}: no JSON (exit {done.returncode}): {done.stderr[:300]!r}"]
        for prop, entry in zip(props, got):
            used = {prop.one[0], prop.other[0]}
            events, before = trace.relevant(parsed, used, set())
            if not jobs:
                prop.cone = Cone(before, window, lookahead)
            wrong += [f"{' '.join(spelled + jobs)}: {w}" for w in compare(prop, entry, prop.cone, events)]
    return wrong


def main():
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, help="run just this case of the seed")
    parser.add_argument("--most", type=int, default=300, help="writes of a trace, about")
    opts = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if opts.seed is None else opts.seed
    print(f"cone: seed {seed}", flush=True)
    passed = failed = 0
    for number in range(opts.cases) if opts.only is None else [opts.only]:
        folder = Path(tempfile.mkdtemp(prefix=f"portent-cone-{seed}-{number}-"))
        wrong = run_case(str(Path(opts.portent).resolve()), folder, random.Random(f"{seed}/{number}"), opts.most)
        if random_runs.settle(number, seed, folder, wrong, 8):
            passed += 1
            continue
        failed += 1
    print(f"cone: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
