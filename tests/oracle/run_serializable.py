#!/usr/bin/env python3
"""`portent check --serializable` on random traces against the graph of transactions (serializable.py), and on the litmus traces.

    run_serializable.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. The last line is `serializable: N passed, M failed`; a failing trace is printed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_runs  # noqa: E402  (beside this file)
import serializable  # noqa: E402

# (id, trace, whether there is a cycle): prediction.md 9
LITMUS = [
    ("A1", "1:begin(b) 1:r(x) 2:w(x) 1:w(x) 1:end(b)", True),
    ("A2", "1:begin(b) 1:w(x) 2:begin(b) 2:r(x) 2:w(y) 2:end(b) 1:r(y) 1:end(b)", True),
    ("A3", "1:begin(b) 1:w(x) 2:begin(b) 2:w(y) 3:begin(b) 3:r(x) 3:end(b) 2:end(b) 1:end(b)", False),
    ("A4", "1:begin(b) 1:w(x) 2:begin(b) 2:w(y) 3:begin(b) 3:w(z) 1:r(z) 2:r(x) 3:r(y) 3:end(b) 2:end(b) 1:end(b)", True),
    ("A4 without ends", "1:begin(b) 1:w(x) 2:begin(b) 2:w(y) 3:begin(b) 3:w(z) 1:r(z) 2:r(x) 3:r(y)", True),
    ("A5", "1:begin(b) 1:w(x) 1:end(b) 2:begin(b) 2:r(x) 2:w(x) 2:end(b)", False),
]


def with_blocks(rng, events):
    """Blocks at random places of each thread, some nested, some left open."""
    result, depth = [], {}
    often = rng.choice([0.1, 0.2, 0.4])
    for event in events:
        thread = event[0]
        while depth.get(thread) and rng.random() < 0.25:
            depth[thread] -= 1
            result.append((thread, "end", "b", None, None))
        if rng.random() < often:
            depth[thread] = depth.get(thread, 0) + 1
            result.append((thread, "begin", "b", None, None))
        result.append(event)
    return result


def ask(portent, path):
    done = subprocess.run([portent, "check", "--serializable", "--order", "access", "--json", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path.read_text()}status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)["properties"][0]["findings"], done.returncode


def judge(events, findings, status):
    events = [e[:3] for e in events]
    expected = serializable.cyclic(events)
    if (status == 1) != bool(expected) or len(findings) != bool(expected):
        return f"{len(findings)} findings, status {status}, cycles through {sorted(expected)}"
    for finding in findings:
        chain = [int(s["loc"].removeprefix("a.c:")) - 1 for s in finding["witness"]]
        if not serializable.is_cycle(events, chain):
            return f"no cycle: {chain}"
        if (finding["first"]["event"] - 1, finding["second"]["event"] - 1) != (chain[0], chain[-1]):
            return "the sides are not the ends of the cycle"
        if serializable.transactions(events)[chain[0]] not in expected:
            return "the block is on no cycle"
    return None


def main():
    args = random_runs.arguments(600)
    passed, failed, found = 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.trace"

        def case(name, events, cycle=None):
            nonlocal passed, failed, found
            path.write_text(random_runs.to_text(events))
            findings, status = ask(args.portent.resolve(), path)
            wrong = judge(events, findings, status)
            if not wrong and cycle not in (None, status == 1):
                wrong = f"a cycle: {cycle}"
            found += status == 1
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"{name}: {wrong}\n{path.read_text()}")

        for name, text, cycle in LITMUS if args.only is None else []:
            case(name, random_runs.parse_litmus(text), cycle)
        for i in range(args.cases) if args.only is None else [args.only]:
            rng = random.Random(f"{args.seed}/{i}")
            case(f"case {i}", with_blocks(rng, random_runs.Maker(rng, rng.choice([8, 14, 26])).run()))
    print(f"{found} with a cycle")
    if args.only is None and args.cases >= 200 and not args.cases // 10 < found < args.cases * 9 // 10:
        failed += 1
    print(f"serializable: {passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
