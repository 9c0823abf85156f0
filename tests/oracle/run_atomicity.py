#!/usr/bin/env python3
"""Random traces with atomic blocks through `portent check --atomicity` and through Definition 3.

    run_atomicity.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone: one trace, checked plain, with c= on every line (the same answer), and as `run -o` records
it (fewer violations, unknown for the rest). The last line is `atomicity: N passed, M failed`; a failing trace is printed.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import atomicity  # noqa: E402
from oracle.trace import HIGH, Trace, high  # noqa: E402


def run(portent, text, env=None):
    """The tool's answer and exit status."""
    done = subprocess.run([portent, "check", "--atomicity", "--json", "-"], input=text, env=env, capture_output=True, text=True,
                          timeout=300, check=False)
    if not done.stdout:
        raise ValueError(done.stderr)
    return json.loads(done.stdout), done.returncode


def compare(result, status, answer, exact):
    """A complaint, or None."""
    blocks, stray = answer
    found = [(b["thread"], b["name"], b["loc"], b["occurrences"], b["violated"], b["unfinished"]) for b in result["blocks"]]
    if found != blocks:
        return f"{found} instead of {blocks}"
    if result["atomicity"]["stray_ends"] != stray:
        return "stray ends"
    for b in result["blocks"]:
        verdict = False if b["violated"] else (True if exact else None)
        if b["causally_atomic"] is not verdict:
            return f"verdict {b['causally_atomic']} instead of {verdict}"
        if bool(b["witness"]) != bool(b["violated"]):
            return "a witness without violation, or the other way round"
    bad = any(b[4] for b in blocks)
    expected = 1 if bad else 0 if exact or not blocks else 3
    return None if status == expected else f"exit status {status} instead of {expected}"


def case(portent, seed, tally):
    """Complaints about one case, as (form, complaint, text)."""
    rng = random.Random(seed)
    text = atomicity.Blocks(rng).text()
    trace = Trace(text)
    answer = atomicity.expected(trace, atomicity.violated)
    tally["blocks"] += len(answer[0])
    tally["violated"] += sum(1 for b in answer[0] if b[4])
    counted = atomicity.all_counted(text)
    for form, content, env in (("plain", text, None), ("clocked", counted, None), ("high", high(counted), HIGH)):
        result, status = run(portent, content, env)
        complaint = compare(result, status, answer, True)
        for block in result["blocks"]:
            if block["witness"]:
                complaint = complaint or atomicity.witness_complaint(trace, block)
        if complaint:
            yield form, complaint, content
    few, content = atomicity.recorded(text, rng.choice(("x", "xy", "xyz", "q")))
    answer = atomicity.expected(few, atomicity.violated_by_clocks)
    tally["by clocks"] += sum(1 for b in answer[0] if b[4])
    if not content:
        return
    for form, content, env in (("recorded", content, None), ("recorded, high", high(content), HIGH)):
        result, status = run(portent, content, env)
        complaint = compare(result, status, answer, False)
        if complaint:
            yield form, complaint, content


def main():
    parser = argparse.ArgumentParser(description="Atomic blocks of random traces, against Definition 3.")
    parser.add_argument("portent", type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    passed = failed = 0
    tally = {"blocks": 0, "violated": 0, "by clocks": 0}
    for i in range(options.cases) if options.only is None else (options.only,):
        try:
            complaints = list(case(options.portent, f"{options.seed}/{i}", tally))
        except ValueError as error:
            complaints = [("tool", str(error), "")]
        for form, complaint, content in complaints:
            print(f"FAILED seed {options.seed} case {i}, {form}: {complaint}\n{content}")
        failed += bool(complaints)
        passed += not complaints
    print(f"{tally['blocks']} blocks, {tally['violated']} violated, {tally['by clocks']} seen by clocks of few events")
    if options.only is None and options.cases >= 100 and not (tally["violated"] and tally["by clocks"]):
        print("FAILED: the random traces show nothing")
        failed += 1
    print(f"atomicity: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
