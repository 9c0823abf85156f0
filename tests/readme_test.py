#!/usr/bin/env python3
"""Runs the examples of the READMEs and compares what they print with what the READMEs show.

usage: tests/readme_test.py --portent PROGRAM [--update]

Every fenced block that is marked `console` counts: lines that begin with `$ ` are commands, the lines up to the next
one are what they print (standard output and standard error together). The commands of one README run one after the
other in a fresh folder that looks like the project's root, with PROGRAM as build/bin/portent. --update writes what is
printed into the READMEs, for review.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
READMES = ("README.md", "examples/water/README.md", "examples/monitor/README.md")
BLOCK = re.compile(r"(?<=^```console\n)\$ .*?(?=^```$)", re.MULTILINE | re.DOTALL)


def make_root(folder, program):
    """Lays out what commands may name; what they write goes to the folder and is forgotten."""
    (folder / "build" / "bin").mkdir(parents=True)
    (folder / "build" / "bin" / "portent").symlink_to(program)
    for name in ("examples", "include"):
        (folder / name).symlink_to(ROOT / name)


def replay(block, folder):
    """Returns the text of a block as it would look with what its commands print now."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
        result = subprocess.run(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, timeout=60,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
        lines += [f"$ {command}", *result.stdout.splitlines()]
    return "\n".join(lines) + "\n"


def check(name, program, update):
    """Replays the blocks of one README; returns how many are as shown, and how many are not."""
    readme = ROOT / name
    text = readme.read_text(encoding="utf-8")
    blocks = BLOCK.findall(text)
    with tempfile.TemporaryDirectory() as folder:
        make_root(pathlib.Path(folder), program)
        printed = [replay(block, folder) for block in blocks]
    if update:
        remaining = iter(printed)
        readme.write_text(BLOCK.sub(lambda _: next(remaining), text), encoding="utf-8")
        return len(blocks), 0
    if not blocks:
        print(f"{name}: no example found")
        return 0, 1
    failed = 0
    for shown, now in zip(blocks, printed):
        if shown != now:
            failed += 1
            print("\n".join(difflib.unified_diff(shown.splitlines(), now.splitlines(), name, "what the program prints",
                                                 lineterm="")))
    return len(blocks) - failed, failed


def main():
    parser = argparse.ArgumentParser(description="Compares the READMEs' examples with the program.")
    parser.add_argument("--portent", required=True, type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    counts = [check(name, options.portent.resolve(), options.update) for name in READMES]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"readme: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
