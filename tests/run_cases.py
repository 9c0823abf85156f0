#!/usr/bin/env python3
"""Cases as data: runs every tests/cases/*.case (format: tests/cases/README.md) against the tool.

    run_cases.py PORTENT [NAME...]          NAME: only cases whose file name contains it

The last line is `cases: N passed, M failed`.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

CASES = Path(__file__).resolve().parent / "cases"
HEADER = re.compile(r"^--- (file|args|shell|stdin|exit|json|stdout|stderr)\b ?(.*)$")


class BadCase(Exception):
    """The case file itself is wrong."""


class Step:
    """One command of a case and what is expected of it."""

    def __init__(self, command, shell, stdin, files):
        self.command, self.shell, self.stdin, self.files = command, shell, stdin, files
        self.exits, self.expect = [0], []


def sections(text):
    """[(keyword, rest of its line, body)] of a case file."""
    found = []
    for line in text.splitlines(keepends=True):
        match = HEADER.match(line.rstrip("\n"))
        if match:
            found.append([match.group(1), match.group(2).strip(), ""])
        elif found:
            found[-1][2] += line
        elif line.strip() and not line.startswith("#"):
            raise BadCase(f"text before the first section: {line!r}")
    return found


def load(path):
    """The steps of a case, each with the files that exist before it."""
    steps, files, stdin = [], {}, None
    for keyword, rest, body in sections(path.read_text()):
        if keyword == "file":
            files[rest] = body
        elif keyword == "stdin":
            stdin = body
        elif keyword in ("args", "shell"):
            command = (rest + "\n" + body).strip()
            steps.append(Step(command, keyword == "shell", stdin, dict(files)))
            stdin = None
        elif not steps:
            raise BadCase(f"{keyword} before any args or shell")
        elif keyword == "exit":
            steps[-1].exits = [int(word) for word in (rest + " " + body).split()]
        elif keyword == "json":
            steps[-1].expect.append(("json", "", json.loads(rest + body)))
        else:
            steps[-1].expect.append((keyword, rest, [line for line in body.splitlines() if line.strip()]))
    if not steps:
        raise BadCase("no args or shell section")
    return steps


def subset(want, got, where="$"):
    """Differences where `got` lacks what `want` says: keys given must be equal, lists element by element."""
    if isinstance(want, dict) and isinstance(got, dict):
        return [d for key, value in want.items()
                for d in (subset(value, got[key], f"{where}.{key}") if key in got else [f"{where}.{key} is missing"])]
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return [f"{where} has {len(got)} entries, expected {len(want)}: {got!r}"]
        return [d for k, (a, b) in enumerate(zip(want, got)) for d in subset(a, b, f"{where}[{k}]")]
    same = want == got and isinstance(want, bool) == isinstance(got, bool)
    return [] if same else [f"{where} is {got!r}, expected {want!r}"]


def judge(kind, test, lines, out, err):
    """Complaints about one expectation."""
    if kind == "json":
        try:
            return subset(lines, json.loads(out))
        except ValueError:
            return [f"standard output is not one JSON object: {out[:200]!r}"]
    text = out if kind == "stdout" else err
    if test == "contains":
        return [f"{kind} lacks {line!r}" for line in lines if line not in text]
    if test == "lacks":
        return [f"{kind} has {line!r}" for line in lines if line in text]
    if test == "matches":
        return [f"{kind} does not match {line!r}" for line in lines if not re.search(line, text, re.M)]
    if test == "first":  # regular expression at the start of the first line
        first = text.split("\n", 1)[0]
        return [f"first line of {kind} is {first!r}, expected {line!r}" for line in lines if not re.match(line, first)]
    if test == "empty":
        return [f"{kind} is not empty: {text[:200]!r}"] if text else []
    raise BadCase(f"unknown test {kind} {test!r}")


def run_step(step, portent, folder):
    """Complaints about one step."""
    for name, body in step.files.items():
        target = Path(folder) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            target.write_text(body)
    command = ["bash", "-eu", "-o", "pipefail", "-c", step.command] if step.shell else [portent, *shlex.split(step.command)]
    stdin = (step.stdin or "").encode()
    try:
        done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, timeout=300, check=False,
                              env={**os.environ, "PORTENT": portent})
    except subprocess.TimeoutExpired:
        return ["no end after 300 s"]
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    wrong = []
    if done.returncode not in step.exits:
        wrong.append(f"exit {done.returncode}, expected {' or '.join(map(str, step.exits))}")
    if "Sanitizer" in err or "runtime error:" in err:
        wrong.append("a sanitizer complains")
    for kind, test, lines in step.expect:
        wrong += judge(kind, test, lines, out, err)
    if wrong:
        wrong.append(f"stderr: {err[:400]!r}")
    return [f"{step.command.splitlines()[0]}: {w}" for w in wrong]


def main():
    """Runs the chosen cases."""
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    # A shell's background job ignores SIGINT, and so would the programs that are tested: a package may be built by one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    portent, wanted = str(Path(sys.argv[1]).resolve()), sys.argv[2:]
    passed = failed = 0
    for path in sorted(CASES.glob("*.case")):
        if wanted and not any(name in path.name for name in wanted):
            continue
        wrong = []
        try:
            with tempfile.TemporaryDirectory(prefix="portent-case-") as folder:
                for step in load(path):
                    wrong += run_step(step, portent, folder)
        except (BadCase, ValueError) as cause:
            wrong.append(f"bad case file: {cause}")
        passed, failed = passed + (not wrong), failed + bool(wrong)
        if wrong:
            print(f"FAILED {path.name}")
            for complaint in wrong:
                print(f"  {complaint}")
    print(f"cases: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
