#!/usr/bin/env python3
"""Programs of tests/programs/live_races under `portent run --races`: exactly the races that their first line names.

    run_live_races.py PORTENT [--only NAME]

A line that ends in `//@A` is place A; `// races: A-B` says that A and B race. Each is built at -O0 and -O2, run twice under `portent
run --races`, once by itself with PORTENT_OPTIONS=races=1, and once with nothing asked for. The last line is `live-races: N passed, M failed`.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent / "live_races"


def expected(path):
    lines = path.read_text().splitlines()
    places = {match[1]: number for number, line in enumerate(lines, 1) if (match := re.search(r"//@(\w)", line))}
    pairs = lines[0].removeprefix("// races:").split()
    return {tuple(sorted(places[side] for side in pair.split("-"))) for pair in pairs}


def line_of(side):
    return int(side["loc"].split(":")[1]) if ":" in side["loc"] else 0


def found(result):
    """The pairs of lines in a result of `run -r`."""
    (check,) = [entry for entry in json.loads(result.read_text())["properties"] if entry["name"] == "races"]
    pairs = {tuple(sorted(line_of(one[side]) for side in ("first", "second"))) for one in check.get("findings", [])}
    return pairs


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, **options)


def check_program(portent, path, level, folder):
    """Yields what is wrong."""
    program, result, want = folder / "program", folder / "result.json", expected(path)
    built = run([portent, "cc", f"-{level}", "-g", "-o", program, path, "-pthread"])
    if built.returncode:
        yield f"does not compile: {built.stderr}"
        return
    for options in (["--races"], ["--races"], []):
        done = run([portent, "run", *options, "-r", result, "--", program])
        if done.returncode != (66 if want else 0):
            yield f"{options}: status {done.returncode}: {done.stderr}"
        elif found(result) != want:
            yield f"{options}: {sorted(found(result))} instead of {sorted(want)}: {done.stderr}"
    done = run([program], env={**os.environ, "PORTENT_OPTIONS": "races=1"})
    if done.returncode != (66 if want else 0) or ("data race" in done.stderr) != bool(want):
        yield f"by itself: status {done.returncode}: {done.stderr}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("portent", type=pathlib.Path)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    passed = failed = 0
    for path in sorted(HERE.glob("*.c")):
        for level in ("O0", "O2"):
            if arguments.only and path.stem != arguments.only:
                continue
            with tempfile.TemporaryDirectory() as folder:
                problems = list(check_program(arguments.portent.resolve(), path, level, pathlib.Path(folder)))
            for problem in problems:
                print(f"{path.stem} -{level}: {problem}")
            passed += not problems
            failed += bool(problems)
    print(f"live-races: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
