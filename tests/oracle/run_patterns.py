#!/usr/bin/env python3
"""Order patterns: `portent check --order access` on random traces whose lattices are too large to be explored, against all cuts of the part that matters.

    run_patterns.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. A random run with user events gets many threads besides whose events have nothing to do with it: the lattice
becomes huge, the answer stays the same. The reference goes through the cuts of the run without those threads, and says whether some order of its events
has the pattern, and after how many events at least. The last line is `patterns: N passed, M failed`; a failing case is printed.
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

PADS = 24  # threads, of which each has one event: 2^24 cuts


def with_events(rng, events):
    result = []
    for event in events:
        # trace.py takes a condition and another object of the same name for two.
        result.append((event[0], "sync", "b", *event[3:]) if event[1] == "sync" else event)
        if rng.random() < 0.4:
            result.append((event[0], "event", rng.choice("abcd"), None, None))
    return result


def padded(rng, events):
    result = list(events)
    for k in range(PADS):
        result.insert(rng.randint(0, len(result)), (f"P{k}", "event", "pad", None, None))
    return result


def least(text, labels):
    """How many relevant events come at least before the pattern is complete, that one included; None: it never is."""
    trace = traces.Trace(text)
    events, before = traces.relevant(trace, [], set().union(*labels))
    todo, seen, size = {(frozenset(), 0)}, set(), 0
    while todo:
        after = set()
        for cut, done in todo:
            for i, event in enumerate(events):
                if i not in cut and before[i] <= cut:
                    now = done + (event.obj in labels[done])
                    if now == len(labels):
                        return size + 1
                    after.add((cut | {i}, now))
        seen |= todo
        todo, size = after - seen, size + 1
    return None


def formula(rng, labels):
    """The same pattern in one of several ways; the padding is relevant, too."""
    words = ["(" + " || ".join(f"event({x})" for x in sorted(label)) + ") && !event(pad)" for label in labels]
    way = rng.choice(["ere", "ltl", "past"])
    if way == "ere":
        return "never " + " ".join(f"[true]* [{w}]" for w in words)
    if way == "ltl":
        text = f"eventually ({words[-1]})"
        for w in reversed(words[:-1]):
            text = f"eventually ({w} && next ({text}))"
        return f"!({text})"
    text = words[0]
    for w in words[1:]:
        text = f"{w} && previously once ({text})"
    return f"always !({text})"


def is_run(text, labels, witness):
    """Whether the witness, by event and place, respects the order and completes the pattern with its last event."""
    trace = traces.Trace(text)
    events, before = traces.relevant(trace, [], set().union(*labels) | {"pad"})
    place = {e.loc: i for i, e in enumerate(events)}
    cut, done = set(), 0
    for k, step in enumerate(witness):
        i = place[step["loc"]]
        if done == len(labels) or i in cut or not before[i] <= cut or (events[i].thread, events[i].obj) != (step["thread"], step["object"]):
            return False
        cut.add(i)
        done += events[i].obj in labels[done]
    return done == len(labels)


def judge(portent, folder, events, labels, text, rng):
    (folder / "t.prop").write_text(f"property p: {text};\n")
    small, large = random_runs.to_text(events), random_runs.to_text(padded(rng, events))
    (folder / "t.trace").write_text(large)
    done = subprocess.run([portent, "check", "--order", "access", "--json", "-s", folder / "t.prop", folder / "t.trace"],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return f"status {done.returncode}\n{done.stdout}{done.stderr}", False
    found = json.loads(done.stdout)["properties"][0]
    by_pattern, size = "order pattern" in found.get("message", ""), least(small, labels)
    if (found["verdict"] == "violated") != (size is not None) or not found["complete"] and found["verdict"] == "holds":
        return f"{found['verdict']}, expected a pattern after {size}", by_pattern
    if size is not None and (len(found["witness"]) != size or not is_run(large, labels, found["witness"])):
        return f"witness {found['witness']}, expected one of {size}", by_pattern
    return None, by_pattern


def main():
    args = random_runs.arguments(80)
    passed, failed, answered = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(args.cases) if args.only is None else [args.only]:
            rng = random.Random(f"{args.seed}/{i}")
            events = with_events(rng, random_runs.Maker(rng, rng.choice([10, 14, 18])).run())
            labels = [set(rng.sample("abcd", rng.choice([1, 1, 1, 2]))) for _ in range(rng.choice([1, 2, 2, 3, 3, 4]))]
            text = formula(rng, labels)
            wrong, by_pattern = judge(args.portent.resolve(), pathlib.Path(folder), events, labels, text, rng)
            answered += by_pattern
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"case {i}: {text}: {wrong}\n{random_runs.to_text(events)}")
    print(f"{answered} answered as patterns")
    if args.only is None and args.cases >= 40 and answered * 10 < passed:
        print("fewer than one in ten were")
        failed += 1
    print(f"patterns: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
