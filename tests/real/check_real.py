#!/usr/bin/env python3
"""Real programs, unmodified: check_real.py PORTENT FOLDER [NAME...] [--keep-builds]

Builds the programs of programs.py, whose sources tests/real/fetch has put into FOLDER, with clang, with clang's ThreadSanitizer and with
`portent cc` / `portent c++`; runs them under the same load. What they answer must not differ from the plain build's. Under
`portent run` with properties over the program's own globals there must be a verdict; under `--races`, each pair of places that
ThreadSanitizer reports must be found too, in one of RUNS runs, half of them with --delay, since what happens is up to the schedule; the
others are printed for people to look at. The last line is `real: N passed, M failed`.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import programs
from programs import Failure

RUNS = 6
SIDE = re.compile(r"^  (?:Previous )?(?:atomic )?(?:read|write)\b.*:\n((?:    #.*\n)+)", re.M | re.I)


def sanitizer_places(program):
    """The pairs of places of ThreadSanitizer's reports, those that the program's recipe explains, and what the program answered."""
    pairs, explained = set(), set()
    with tempfile.TemporaryDirectory() as logs:
        os.chmod(logs, 0o777)  # memcached gives up being root before its first race
        os.environ["TSAN_OPTIONS"] = f"detect_deadlocks=0:exitcode=0:log_path={logs}/log"
        answer = program.load("tsan", [])
        for name in os.listdir(logs):
            with open(os.path.join(logs, name), encoding="utf-8", errors="replace") as file:
                for report in file.read().split("WARNING: ThreadSanitizer: ")[1:]:
                    if report.startswith("data race"):
                        functions = re.findall(r"#[01] (\S+) ", "".join(SIDE.findall(report)[:2]))
                        pair = pair_of(report)
                        (explained if set(program.ordered) & {pair, *functions} else pairs).add(pair)
    return pairs, explained, answer


def pair_of(report):
    """Of each side the innermost place in the program's own sources."""
    places = []
    for stack in SIDE.findall(report)[:2]:
        own = re.search(r"/real/.*?([\w.+-]+\.(?:c|cc|cpp|h)):(\d+)", stack)
        places.append(f"{own[1]}:{own[2]}" if own else "?")
    return tuple(sorted(places))


def is_same(theirs, ours):
    """ThreadSanitizer has no line of some places (an instruction made of several): `?`."""
    return any(all(place in ("?", other) for place, other in zip(theirs, pair)) for pair in (ours, ours[::-1]))


def found_places(result):
    """The same of our findings, with the objects."""
    with open(result, encoding="utf-8") as file:
        (races,) = [one for one in json.load(file)["properties"] if one["kind"] == "race"]
    if races["verdict"] not in ("holds", "violated"):
        raise Failure(f"no answer: {races.get('message', races['verdict'])}")
    return {tuple(sorted(os.path.basename(side["loc"] or "?") for side in (finding["first"], finding["second"]))): finding["object"]
            for finding in races.get("findings", [])}


def verdicts(result):
    with open(result, encoding="utf-8") as file:
        read = json.load(file)
    for found in read["properties"]:
        print(f"  {found['name']}: {found['verdict']}{' (' + found['how'] + ')' if 'how' in found else ''}, "
              f"{found['relevant']} relevant events")
        if found["verdict"] not in ("holds", "violated"):
            raise Failure(f"no answer: {found}")
    if not any(found["relevant"] for found in read["properties"]):
        raise Failure("no relevant event was observed")


def same(what, answer, expected):
    if answer != expected:
        raise Failure(f"{what}: the answers differ from the plain build's: {str(answer)[:200]}, {str(expected)[:200]}")


def check(portent, program):
    print(f"{program.version}:", flush=True)
    result = os.path.join(program.folder, f"{program.name}.json")
    observer = [portent, "run", "-q", "--exit-code", "0", "-r", result]
    expected = program.load("plain", [])
    properties = os.path.join(programs.HERE, program.properties)
    same("with properties", program.load("portent", [*observer, "-s", properties, "--"]), expected)
    verdicts(result)
    theirs, explained, answer = sanitizer_places(program)
    same("with ThreadSanitizer", answer, expected)
    ours = {}
    for number in range(RUNS):
        noise = ["--delay", "--seed", str(number)] if number % 2 else []
        same("with --races", program.load("portent", [*observer, "--races", *noise, "--"]), expected)
        ours.update(found_places(result))
    print(f"  races: {len(theirs)} pairs of places by ThreadSanitizer, {len(ours)} by Portent in {RUNS} runs")
    if explained:
        print(f"  {len(explained)} more by ThreadSanitizer are none: {'; '.join(program.ordered.values())}")
    for pair in sorted(set(ours) - theirs):
        print(f"    Portent only: {pair[0]} and {pair[1]}, {ours[pair]}")
    missing = sorted(pair for pair in theirs if not any(is_same(pair, other) for other in ours))
    if missing:
        raise Failure(f"ThreadSanitizer alone reports {', '.join(' and '.join(pair) for pair in missing)}")


def main():
    parser = argparse.ArgumentParser(description="Real programs, unmodified.")
    parser.add_argument("portent")
    parser.add_argument("folder")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--keep-builds", action="store_true", help="do not build again what was built")
    options = parser.parse_args()
    portent, folder, passed, failed = os.path.abspath(options.portent), os.path.abspath(options.folder), 0, 0
    with_compilers = programs.compilers(portent)
    for kind in programs.ALL:
        program = kind(folder)
        if options.names and program.name not in options.names:
            continue
        try:
            for build, (cc, cxx) in with_compilers.items():
                if not options.keep_builds or not os.path.isdir(program.target(build)):
                    program.build(build, cc, cxx)
            check(portent, program)
            passed += 1
        except (Failure, OSError, ValueError, subprocess.SubprocessError) as failure:
            failed += 1
            print(f"FAILED {program.name}: {failure}", flush=True)
    print(f"real: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
