#!/usr/bin/env python3
"""Random MtTL properties through the tool and through the definitions.

    run_mttl.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. Each has one trace, checked plain and with c= on every line, and several properties, checked
together. One more is atomic_block(b), of which each trouble has to be told. The last line is `mttl: N passed, M failed`; the files of a failing case stay in a folder whose path is printed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import mttl, mttl_generate  # noqa: E402
from oracle.trace import HIGH, Trace, high  # noqa: E402

PROPERTIES = 6


def run(portent, folder, trace, env=None):
    """The tool's findings by property."""
    done = subprocess.run([portent, "check", "--json", "-s", "case.prop", trace], cwd=folder, env=env, capture_output=True, text=True,
                          timeout=300, check=False)
    if not done.stdout:
        return None, done.stderr
    return {p["name"]: p for p in json.loads(done.stdout)["properties"]}, done.returncode


def states(finding, at):
    """{thread: violating states} as the tool says."""
    if at:
        return {finding["thread"]: finding["at"]} if finding.get("at") else {}
    return {entry["thread"]: entry["states"] for entry in finding["at"]}


def compare(finding, at, answer):
    """A complaint, or None."""
    if finding["kind"] != "mttl":
        return "wrong kind"
    if finding["verdict"] == "error" and "thread variables" in finding["message"]:
        return None  # a limit, clearly said
    if answer is None:
        return None
    verdict, found = answer
    if finding["verdict"] != verdict:
        return f"{finding['verdict']} instead of {verdict} {found}: {finding.get('message', '')}"
    if verdict != "error" and states(finding, at) != found:
        return f"{states(finding, at)} instead of {found}"
    if verdict == "violated" and finding["how"] != "observed":
        return "not observed"
    return None


def told(finding):
    """The findings of a property: (thread, state, what it knew of the other side)."""
    for first in [finding["first"], *finding.get("more", [])]:
        yield first["thread"], first["state"], [known for known in first["knew"] if known["text"][0] != "@"]


def compare_troubles(finding, computation):
    """Each trouble that is told is there by the definition, and new; each that a state shows is told."""
    if finding["verdict"] != "violated":
        return None
    seen = set()
    for thread, state, knew in told(finding):
        there = mttl.sides(computation, thread, state)
        new = set()
        for known in knew:
            by = [thread, known["thread"]]
            new.add(frozenset(by))
            if frozenset(by) not in there:
                return f"{thread} {state} is said to have {by}, and has {there}"
        if len(knew) != 1 or not new - seen:
            return f"{thread} {state} tells nothing new"
        seen |= new
    for thread, found in states(finding, None).items():
        for state in found:
            for both in mttl.sides(computation, thread, state) - seen:
                return f"{thread} {state} has {both}, which is not told"
    return None


def case(portent, seed, folder):
    """Complaints about one case."""
    rng = random.Random(seed)
    text = mttl_generate.trace_text(rng)
    properties = []
    named = rng.random() < 0.3  # otherwise some property asks all threads, and with it all are known of
    for k in range(PROPERTIES):
        at = rng.choice(mttl_generate.THREADS[:4]) if rng.random() < 0.4 else None
        formulas = mttl_generate.Formulas(rng, named)
        properties.append((f"p{k}", at, formulas.formula(rng.randint(1, 5), () if at else ("i",))))
    if not named:
        properties.append(("blocks", None, ("block", "b")))
    (folder / "case.prop").write_text("".join(
        f"property {name} at {at or 'each i'}: {mttl_generate.show(body)};\n" for name, at, body in properties))
    computation = mttl.Computation(Trace(text))
    answers = {name: mttl.expected(computation, at, None if at else "i", body) for name, at, body in properties}
    complaints = []
    clocked = mttl_generate.clocked(text)
    for name, content, env in (("plain.trace", text, None), ("clocked.trace", clocked, None), ("high.trace", high(clocked), HIGH)):
        (folder / name).write_text(content)
        if not any(line[0] not in "-#" for line in content.splitlines()):
            continue
        findings, status = run(portent, folder, name, env)
        if findings is None:
            return [f"{name}: {status}"]
        for prop, at, _ in properties:
            wrong = compare(findings[prop], at, answers[prop])
            if not wrong and prop == "blocks":
                wrong = compare_troubles(findings[prop], computation)
            if wrong:
                complaints.append(f"{name}: {prop}: {wrong}")
    return complaints, [a[0] if a else "open" for a in answers.values()]


def main():
    """Runs the cases."""
    parser = argparse.ArgumentParser()
    parser.add_argument("portent")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    portent = str(Path(args.portent).resolve())
    passed = failed = 0
    tally = {}
    for i in [args.only] if args.only is not None else range(args.cases):
        folder = Path(tempfile.mkdtemp(prefix="mttl-"))
        result = case(portent, f"{args.seed}/{i}", folder)
        complaints = result[0] if isinstance(result, tuple) else result
        for answer in result[1] if isinstance(result, tuple) else []:
            tally[answer] = tally.get(answer, 0) + 1
        if complaints:
            failed += 1
            print(f"case {i} of seed {args.seed} ({folder}):", *complaints, sep="\n  ")
        else:
            passed += 1
            if args.only is None:
                for file in folder.iterdir():
                    file.unlink()
                folder.rmdir()
    if args.verbose:
        print(tally)
    print(f"mttl: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
