#!/usr/bin/env python3
"""Threads that come and go, with clocks: `portent check` on one run in three forms, which must have one answer.

    run_lanes.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. A random run of threads that others fork and join, up to a few at a time, is written as its lines, which give
the order themselves; as `portent run -o` records it, relevant events with their clocks (by the definition, trace.py); and that with a remark where each
thread has ended, after which its lane goes to others (order/order.h). Verdict, figures, witness, clocks, moves and lattice are compared, for the whole
lattice and for windows, by one job and by two. Small runs are held against all cuts besides. The last line is `lanes: N passed, M failed`; a failing
case is printed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_runs  # noqa: E402  (beside this file)
import trace as traces  # noqa: E402

FORMULAS = [
    "always !(x == 1 && y == 2 && z == 1)", "always (x == 2 -> once y == 1)", "always !(x == y && y == z && x == 2)",
    "always (z == 1 -> (x < 2 since y == 2))", "never [true]* [x == 1] [y == 1] [true]* [z == 2]", "always x < 3",
    "always (event(e) -> previously once event(f))",
]
FORMS = ("plain", "clocked", "ended")
WAYS = (["--window", "all", "--lookahead", "all"], ["--window", "8", "--lookahead", "16"], ["--window", "2", "--lookahead", "4"])


def run_of(rng):
    """Lines of a run in which each thread that is joined has ended."""
    lines, alive, parent, started = [], ["M"], {}, 0
    most, at_once = rng.choice([6, 6, 10, 10, 24, 100]), rng.randint(1, 5)
    while len(lines) < 7 * most:
        thread, dice = rng.choice(alive), rng.random()
        if dice < 0.2 and started < most and len(alive) <= at_once:
            started += 1
            lines.append(f"{thread}|fork(T{started})")
            parent[f"T{started}"] = thread
            alive.append(f"T{started}")
        elif dice < 0.4:
            mine = [t for t in alive if parent.get(t) == thread and not any(parent.get(o) == t for o in alive)]
            if mine:
                child = rng.choice(mine)
                alive.remove(child)
                lines.append(f"{thread}|join({child})")
        elif dice < 0.7:
            lines.append(f"{thread}|w({rng.choice('xyz')})={rng.randrange(3)}")
        elif dice < 0.75:
            lines.append(f"{thread}|event({rng.choice('ef')})")
        elif dice < 0.9:
            lines.append(f"{thread}|r({rng.choice('xyz')})")
        else:
            lines.append(f"{thread}|{rng.choice(['notify', 'wait'])}(c)")
    return [f"{line}|a.c:{k + 1}" for k, line in enumerate(lines)]


def forms(rng, lines):
    """The three texts."""
    init = [f"-|init({v})=0|-" for v in "xyz"]
    trace = traces.Trace("\n".join(lines) + "\n")
    chosen, _ = traces.relevant(trace, set("xyz"), {"e", "f"})
    stamps = traces.clocks(trace, chosen)
    last = {e.thread: k for k, e in enumerate(chosen)}
    clocked, ended, late = [], [], []
    for k, (event, stamp) in enumerate(zip(chosen, stamps)):
        line = f"{lines[event.number]}|c=" + ",".join(f"{t}:{n}" for t, n in sorted(stamp.items()))
        clocked.append(line)
        ended.append(line)
        if last[event.thread] == k:
            late.append(f"{event.thread}|sync(ended)|-|m=relaxed")
        if rng.random() < 0.7:
            ended += late
            late = []
    return {form: "\n".join(init + text) + "\n" for form, text in zip(FORMS, (lines, clocked, ended))}


def bare(value):
    """A result without lines and measures."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k not in ("line", "peak_bytes", "seconds", "widen")}
    return [bare(v) for v in value] if isinstance(value, list) else value


def answer(portent, folder, form, options):
    """What is said of the properties, without lines and counts of the trace itself."""
    command = [str(portent), "check", "--json", "--order", "access", "-s", "p.prop", *options, f"{form}.trace"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        return f"status {done.returncode}: {done.stderr}"
    return bare(json.loads(done.stdout)["properties"])


def difference(one, other, where=""):
    """The first place at which they differ, and how; None: they do not."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [(k, one.get(k), other.get(k)) for k in {**one, **other}]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        keys = list(zip(range(len(one)), one, other))
    else:
        return None if one == other else f"{where}: {one} and {other}"
    return next((found for k, a, b in keys if (found := difference(a, b, f"{where}/{k}"))), None)


def violated_by_cuts(text):
    """Whether some consistent cut makes the first formula false: by all of them; None: there are too many."""
    trace = traces.Trace(text)
    events, before = traces.relevant(trace, set("xyz"), {"e", "f"})
    todo = seen = {frozenset()}
    while todo:
        todo = {cut | {i} for cut in todo for i in range(len(events)) if i not in cut and before[i] <= cut}
        seen = seen | todo
        if len(seen) > 3000:
            return None
    for cut in seen:
        values = dict.fromkeys("xyz", 0)
        for i in sorted(cut):  # writes of a variable are in the order of the trace
            if events[i].op == "w":
                values[events[i].obj] = events[i].value
        if (values["x"], values["y"], values["z"]) == (1, 2, 1):
            return True
    return False


def check(portent, seed, folder):
    rng = random.Random(seed)
    texts = forms(rng, run_of(rng))
    for form, text in texts.items():
        (folder / f"{form}.trace").write_text(text)
    (folder / "p.prop").write_text("".join(f"property p{k}: {f};\n" for k, f in enumerate(FORMULAS)))
    wrong = []
    for way in (WAYS[0], rng.choice(WAYS[1:])):
        expected = answer(portent, folder, "plain", [*way, "--jobs", "1"])
        if isinstance(expected, str):
            return [expected]
        for form in FORMS[1:]:
            for jobs in ("1", "2"):
                got = answer(portent, folder, form, [*way, "--jobs", jobs])
                if (found := difference(expected, got)):
                    wrong.append(f"{form}, {' '.join(way)}, {jobs} jobs: plain and so differ at {found}")
        reference = violated_by_cuts(texts["plain"]) if way is WAYS[0] else None
        if reference is not None and (expected[0]["verdict"] == "violated") != reference:
            wrong.append(f"all cuts: violated is {reference}, not {expected[0]['verdict']}")
    return wrong


def main():
    args = random_runs.arguments(300, __doc__)
    portent, failed = args.portent.resolve(), 0
    cases = [args.only] if args.only is not None else range(args.cases)
    for i in cases:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="portent-lanes-"))
        wrong = check(portent, f"{args.seed}/{i}", folder)
        failed += not random_runs.settle(i, args.seed, folder, wrong, 8)
    print(f"lanes: {len(cases) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
