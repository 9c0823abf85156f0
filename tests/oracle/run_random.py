#!/usr/bin/env python3
"""Random traces and properties through the tool and through the oracle.

    run_random.py PORTENT [--cases N] [--seed S] [--properties K] [--jobs-check]

Case number i of seed S is made from the seed "S/i" alone, so that one case can be repeated: --seed S --only i.
The last line is `oracle: N passed, M failed`; a failing case's files stay in a temporary folder whose path is printed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import check, formula, generate, ltl, random_runs, trace  # noqa: E402

VOLATILE = ("seconds", "peak_bytes")


class Case:
    """One trace, one file of properties, and the folder they are written to."""

    def __init__(self, seed, properties):
        self.rng = rng = random.Random(seed)
        full = generate.trace_text(rng)
        self.trace = trace.Trace(full)
        self.cache = {}
        self.props = [self.draw(f"p{k}") for k in range(properties)]
        self.texts = {"full.trace": full}
        variables, names = set(), set()
        for prop in self.props:
            found = formula.names(prop.body)
            variables |= found[0]
            names |= found[1]
        self.texts["clocked.trace"] = generate.clocked(full, variables, names)
        self.texts["high.trace"] = trace.high(self.texts["clocked.trace"])
        self.texts["case.prop"] = generate.prop_text([(p.name, p.kind, p.body) for p in self.props])
        self.clocked = trace.Trace(self.texts["clocked.trace"])

    def draw(self, name):
        """A property that tells much about this trace: predicted best, then late violations, then large lattices."""
        def rate(kind, body):
            try:
                prop = check.Property(name, kind, body)
                expected = check.Expected(prop, self.trace)
            except ltl.Limit:
                return -1
            self.cache[kind, body] = prop
            score = min(expected.cone.statistics()["states"], 40) / 20
            if expected.violation_level is None:
                return score + (0.3 if expected.error_level is None else 0.8)
            return score + (0 if expected.violation_level == 0 else 1 + 0.2 * expected.violation_level) + \
                (0 if expected.observed else 2)

        while True:
            kind, body = generate.interesting(self.rng, rate)
            if (kind, body) not in self.cache:
                rate(kind, body)
            if (kind, body) in self.cache:
                prop = self.cache[kind, body]
                return check.Property(name, prop.kind, prop.body)

    def write(self, folder):
        """The case's files."""
        for name, text in self.texts.items():
            (folder / name).write_text(text)


class Runner:
    """Runs the tool on one case and collects complaints."""

    def __init__(self, portent, folder):
        self.portent, self.folder = portent, folder

    def call(self, *args, stdin=None, env=None):
        """(status, standard output, standard error) of one call."""
        done = subprocess.run([self.portent, *args], cwd=self.folder, input=stdin, env=env, capture_output=True, timeout=300, check=False)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def check(self, args, source, stdin=None, env=None):
        """(JSON object or None, complaints) of one `check --json`."""
        status, out, err = self.call("check", "--json", "--order", "access", *args, "-s", "case.prop", source, stdin=stdin,
                                     env=env)
        try:
            got = json.loads(out)
        except ValueError:
            return None, [f"{args} {source}: no JSON (exit {status}): {out[:200]!r} {err[:300]!r}"]
        want = check.exit_status(got.get("properties", []))
        return got, [] if status == want else [f"{args} {source}: exit {status}, expected {want}; {err[:200]}"]

    def compare(self, case, args, source, parsed, window, exhaustive):
        """The tool against the oracle."""
        got, wrong = self.check(args, source)
        if got is None:
            return got, wrong
        for key, value in (("portent", 1), ("trace", source), ("events", len(parsed.events)), ("threads", len(parsed.threads))):
            if got.get(key) != value:
                wrong.append(f"{key} is {got.get(key)!r}, expected {value!r}")
        if len(got.get("properties", [])) != len(case.props):
            return got, wrong + ["wrong number of properties"]
        for prop, entry in zip(case.props, got["properties"]):
            wrong += check.Expected(prop, parsed, *window).compare(entry, exhaustive)
        return got, [f"{' '.join(args)} {source}: {w}" for w in wrong]

    def same(self, base, label, answer):
        """Complaints where another way of asking gives another answer."""
        got, wrong = answer
        if got is None:
            return wrong
        if strip(got) != strip(base):
            wrong = wrong + [f"{label}: differs: {difference(strip(base), strip(got))}"]
        return wrong

    def run(self, case, thorough):
        """All complaints about one case."""
        rng = case.rng
        base, wrong = self.compare(case, ["--exhaustive"], "full.trace", case.trace, (None, None), True)
        window = (rng.choice((None, 1, 2, 3, 4)), rng.choice((None, 1, 2, 3, 4, 6)))
        spelled = ["--window", str(window[0] or "all"), "--lookahead", str(window[1] or "all")]
        narrow, more = self.compare(case, ["--exhaustive", *spelled], "full.trace", case.trace, window, True)
        wrong += more
        if rng.random() < 0.5:
            wrong += self.compare(case, [], "full.trace", case.trace, (None, None), False)[1]
        else:
            wrong += self.compare(case, spelled, "full.trace", case.trace, window, False)[1]
        clocked, more = self.compare(case, ["--exhaustive"], "clocked.trace", case.clocked, (None, None), True)
        wrong += more
        if base is None or narrow is None or clocked is None:
            return wrong
        wrong += self.same(narrow, "high counts", self.check(["--exhaustive", *spelled], "full.trace", env=trace.HIGH))
        wrong += self.same(clocked, "high clocks", self.check(["--exhaustive"], "high.trace", env=trace.HIGH))
        if not thorough:
            return wrong
        wrong += self.same(base, "high counts, all runs", self.check(["--exhaustive"], "full.trace", env=trace.HIGH))
        text = case.texts["full.trace"].encode()
        wrong += self.same(base, "stdin", self.check(["--exhaustive", "--window", "all", "--lookahead", "all"], "-", text))
        wrong += self.same(narrow, "stdin, window", self.check(["--exhaustive", *spelled], "-", text))
        wrong += self.same(base, "jobs", self.check(["--exhaustive", "--jobs", "2"], "full.trace"))
        wrong += self.same(narrow, "jobs, window", self.check(["--exhaustive", *spelled, "--jobs", "2"], "full.trace"))
        for name, expected in (("full.trace", base), ("clocked.trace", None)):
            binary = name.replace(".trace", ".ptb")
            status, _, err = self.call("convert", name, "-o", binary)
            if status:
                wrong.append(f"convert {name}: exit {status}: {err[:200]}")
                continue
            if expected is None:
                expected = self.check(["--exhaustive"], name)[0]
            wrong += self.same(expected, f"binary {name}", self.check(["--exhaustive"], binary))
        return wrong


def low(value):
    """Counts of clocks as they are when they begin with 1; BEFORE events are as good as none."""
    if isinstance(value, list):
        return [low(item) for item in value]
    if isinstance(value, dict):
        return {k: low(v) for k, v in value.items()}
    return value - trace.BEFORE if isinstance(value, int) and value >= trace.BEFORE else value


def strip(got):
    """The JSON without what may differ between two ways of asking the same."""
    got = {k: low(v) for k, v in (got or {}).items() if k not in ("trace", *VOLATILE)}
    got["properties"] = [{k: v for k, v in p.items() if k not in VOLATILE} for p in got.get("properties", [])]
    return got


def difference(a, b):
    """The first key at which two JSON objects differ, for the message."""
    for key in sorted(set(a) | set(b)):
        if a.get(key) != b.get(key):
            if key == "properties":
                for p, q in zip(a[key], b[key]):
                    if p != q:
                        return f"{p.get('name')}: {difference(p, q)}"
            return f"{key}: {a.get(key)!r} and {b.get(key)!r}"
    return "nothing"


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, help="run just this case of the seed")
    parser.add_argument("--properties", type=int, default=4, help="properties per case")
    parser.add_argument("--jobs-check", action="store_true", help="stdin, binary and --jobs for every case, not every fourth")
    return parser.parse_args()


def main():
    """Runs all cases."""
    opts = options()
    seed = random.SystemRandom().randrange(10**9) if opts.seed is None else opts.seed
    print(f"oracle: seed {seed}", flush=True)
    portent = str(Path(opts.portent).resolve())
    passed = failed = 0
    for number in range(opts.cases) if opts.only is None else [opts.only]:
        case = Case(f"{seed}/{number}", opts.properties)
        folder = Path(tempfile.mkdtemp(prefix=f"portent-oracle-{seed}-{number}-"))
        case.write(folder)
        try:
            wrong = Runner(portent, folder).run(case, opts.jobs_check or number % 4 == 0)
        except subprocess.TimeoutExpired as late:
            wrong = [f"no answer after {late.timeout} s: {late.cmd}"]
        if random_runs.settle(number, seed, folder, wrong, 12):
            passed += 1
            continue
        failed += 1
        if failed >= 20:
            print("too many failures, stopping")
            break
    print(f"oracle: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
