#!/usr/bin/env python3
"""Decentralised properties inside the program: run_local.py PORTENT [--repeat N] [--random N]

The examples that have such properties, and random programs, each checked in four ways that must agree:

- `portent run`, where the program's threads find violations and tell the observer;
- the same run recorded in full (-o), and `portent check` on the record: same verdicts, same states;
- `portent compile`, and the program alone with PORTENT_OPTIONS=properties=FILE: same report, in the same words.

Verdicts of the examples must be the same in each of N runs (default 5). The last line is `local: N passed, M failed`.
"""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOUND = 66

# (folder, arguments): for each property its verdict and, where the schedule is fixed, its states
EXAMPLES = {
    ("race",): {"hits": ("violated", None), "total": ("holds", None)},
    ("checking", "1"): {"atomic": ("holds", None), "again": ("holds", None)},
    ("checking", "2"): {"atomic": ("violated", None), "again": ("violated", None)},
    ("mutex",): {"exclusion": ("holds", None), "account": ("holds", None)},
    ("mutex", "bug"): {"exclusion": ("violated", None), "account": ("violated", None)},
    ("recover",): {"configured": ("violated", [1])},
    ("knowledge",): {"e35": ("violated", [5]), "e24": ("violated", [4]), "e27": ("violated", [7]), "unseen": ("holds", [])},
}


class Failure(Exception):
    pass


def run(*command, options=None, cwd=ROOT):
    environment = {key: value for key, value in os.environ.items() if key != "PORTENT_OPTIONS"}
    if options:
        environment["PORTENT_OPTIONS"] = options
    return subprocess.run(command, cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                          check=False)


def expect(status, done):
    if done.returncode not in (status if isinstance(status, tuple) else (status,)):
        raise Failure(f"{' '.join(done.args)}\nexit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done


def same(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {found}\nexpected: {expected}")


def findings(result):
    return {p["name"]: (p["verdict"], p.get("thread"), p.get("at"), p.get("message")) for p in result["properties"]}


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def states(at):
    return at if not at or isinstance(at[0], int) else None


def words(text):
    """A report without its line breaks: one side wraps."""
    return re.sub(r"\s+", " ", text).strip()


class Program:
    def __init__(self, portent, source, properties, folder):
        self.portent, self.properties = portent, properties
        self.path = os.path.join(folder, os.path.splitext(os.path.basename(source))[0])
        expect(0, run(portent, "cc", "-Wall", "-Wextra", "-Werror", "-O2", "-pthread", source, "-o", self.path))
        expect(0, run(portent, "compile", "-s", properties, "-o", self.path + ".ptc", self.path))

    def live(self, *arguments):
        done = expect((0, FOUND), run(self.portent, "run", "-s", self.properties, "-r", self.path + ".json", "--", self.path,
                                      *arguments))
        found = findings(load(self.path + ".json"))
        same("exit status", done.returncode, FOUND if any(v[0] == "violated" for v in found.values()) else 0)
        return found, done

    def recorded(self, *arguments):
        """The same run in the program's own words and by `check` on its record."""
        trace, result = self.path + ".trace", self.path + ".json"
        expect((0, FOUND), run(self.portent, "run", "-s", self.properties, "-r", result, "-o", trace, "--", self.path, *arguments))
        checked = json.loads(run(self.portent, "check", "--json", "-s", self.properties, trace).stdout)
        online, offline = findings(load(result)), findings(checked)
        if online != offline:
            with open(trace, encoding="utf-8") as file:
                raise Failure(f"the program: {online}\ncheck: {offline}\n{file.read()}")
        return online

    def alone(self, *arguments, more=""):
        return run(self.path, *arguments, options=f"properties={self.path}.ptc{more}")


def reports(text):
    """By property: the report of its violation, from its first line to its summary."""
    found = re.findall(r"^Property '([^']*)' is violated in thread.*?^SUMMARY: [^\n]*", text, re.MULTILINE | re.DOTALL)
    whole = re.findall(r"^(Property '[^']*' is violated in thread.*?^SUMMARY: [^\n]*)", text, re.MULTILINE | re.DOTALL)
    return dict(zip(found, map(words, whole)))


def check_example(portent, example, folder, repeat):
    name, *arguments = example
    program = Program(portent, f"examples/{name}/{name}.c", f"examples/{name}/{name}.prop", folder)
    for _ in range(repeat):
        for found in (program.recorded(*arguments), program.live(*arguments)[0]):
            for prop, (verdict, at) in EXAMPLES[example].items():
                same(prop, found[prop][0], verdict)
                if at is not None:
                    same(f"{prop}: states", states(found[prop][2]), at)
    violated = sorted(p for p, (verdict, _) in EXAMPLES[example].items() if verdict == "violated")
    done = expect(FOUND if violated else 0, program.alone(*arguments))
    told = reports(done.stderr)
    same("told by the program alone", sorted(told), violated)
    if name in ("checking", "recover", "knowledge"):  # the others' schedules differ
        same("words", told, reports(program.live(*arguments)[1].stderr))
    same("exitcode=0", program.alone(*arguments, more=":exitcode=0").returncode, 0)
    if violated:
        halted = expect(9, program.alone(*arguments, more=":halt_on_error=1:exitcode=9"))
        if "halt_on_error ends the program" not in halted.stderr:
            raise Failure(f"halt_on_error says nothing:\n{halted.stderr}")


def check_recovery(portent, folder):
    program = Program(portent, "examples/recover/recover.c", "examples/recover/recover.prop", folder)
    for done in (program.live()[1], program.alone()):
        for line in ("configured: the configuration is loaded now", "serving up to 7", "rebooted 1 time"):
            if line not in done.stdout:
                raise Failure(f"'{line}' is missing:\n{done.stdout}{done.stderr}")


def check_suppressions(portent, folder):
    """A suppressed violation is not told, calls nothing, and does not count; another one still does."""
    program = Program(portent, "examples/race/race.c", "examples/race/race.prop", folder)
    recovering = Program(portent, "examples/recover/recover.c", "examples/recover/recover.prop", folder)
    path = os.path.join(folder, "suppressions")
    for text, holds in (("# known\nproperty:hits\n", True), ("race:^hits$\n", True), ("race:other\n", False)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        status = 0 if holds else FOUND
        done = expect(status, program.alone(more=f":suppressions={path}"))
        same("told", sorted(reports(done.stderr)), [] if holds else ["hits"])
        expect(status, run(portent, "run", "-s", program.properties, "--", program.path, options=f"suppressions={path}"))
    with open(path, "w", encoding="utf-8") as file:
        file.write("property:conf*\n")
    done = expect(0, recovering.alone(more=f":suppressions={path}:halt_on_error=1"))
    if "rebooted 0 times" not in done.stdout:
        raise Failure(f"a suppressed violation was acted on:\n{done.stdout}{done.stderr}")


COPY = """#include <string.h>
#define KEEP __asm__ volatile("" ::: "memory") /* the compiler may not drop what comes before */
struct { int a, b, c, d; } s;
int x;
int main(void)
{
    s.b = 1, x = 1;
    KEEP;
    memset(&s, 0, sizeof s);
    KEEP;
    x = 0;
    return s.c;
}
"""


def check_copy(portent, folder):
    """One access of several variables is several lines of the record: all of them are states."""
    source, properties = os.path.join(folder, "copy.c"), os.path.join(folder, "copy.prop")
    for path, text in ((source, COPY), (properties, "property p at main: x == 0;\n")):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    verdict, _, at, _ = Program(portent, source, properties, folder).recorded()["p"]
    same("verdict", verdict, "violated")
    if len(at) < 3 or at != list(range(at[0], at[0] + len(at))):
        raise Failure(f"states {at}: the lines of the copy are missing, or the test has none")


def made_up(good):
    """The file with its first variable far outside of the program, and the hash that goes with that (core/ptc.h)."""
    head, data = 96, bytearray(good)
    count, watches = struct.unpack_from("<II", data, head)
    if not count:
        raise Failure("the file has no variables")
    struct.pack_into("<Q", data, head + watches, 1 << 40)
    value = 0xcbf29ce484222325
    for byte in data[head:]:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    struct.pack_into("<Q", data, head - 8, value)
    return bytes(data)


def check_files(portent, folder):
    """A file that is none, is cut short, damaged, made up, or another program's: one sentence, and the program runs on."""
    program = Program(portent, "examples/race/race.c", "examples/race/race.prop", folder)
    other = Program(portent, "examples/recover/recover.c", "examples/recover/recover.prop", folder)
    with open(program.path + ".ptc", "rb") as file:
        good = file.read()
    middle = len(good) // 2
    spoiled = {"empty": b"", "short": good[:50], "cut": good[:-8], "other": b"x" * 4000,
               "bit": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:],
               "made-up": made_up(good)}
    cases = {program.path + ".none": "cannot be read", other.path + ".ptc": "another program"}
    for name, data in spoiled.items():
        path = f"{program.path}-{name}.ptc"
        with open(path, "wb") as file:
            file.write(data)
        cases[path] = ""
    for path, reason in cases.items():
        done = expect(0, run(program.path, options=f"properties={path}"))
        lines = done.stderr.splitlines()
        if len(lines) != 1 or "are not checked: " not in lines[0] or reason not in lines[0]:
            raise Failure(f"{path}: {done.stderr!r}")
        same("output", done.stdout, "counted 200 under the lock\n")


def check_errors(portent, folder):
    """Names that the program does not have, and properties that need an observer."""
    source = "examples/race/race.c"
    program = os.path.join(folder, "race")
    expect(0, run(portent, "cc", "-O2", "-pthread", source, "-o", program))
    wrong = {"property p at cuont: hits > 0;": "did you mean 'count'?", "property p at count: hitz > 0;": "did you mean 'hits'?",
             "property p at count: event(go) -> hits > 0;": "no user event 'go'", "property p: hits >= 0;": "not decentralised",
             "property p at each i: atomic_block(b);": "no atomic block 'b'"}
    for text, message in wrong.items():
        path = os.path.join(folder, "wrong.prop")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        done = expect(2, run(portent, "compile", "-s", path, "-o", os.path.join(folder, "x.ptc"), program))
        if message not in done.stderr or f"{path}:1:" not in done.stderr:
            raise Failure(f"{text}\n{done.stderr}")


# --- random programs ---

PROLOGUE = """#include <portent.h>
#include <pthread.h>
#include <sched.h>

volatile int x0, x1, x2;
volatile double d;
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
"""


def random_statement(rng):
    var = rng.choice(["x0", "x1", "x2"])
    other = rng.choice(["x0", "x1", "x2"])
    return rng.choice([
        f"{var} = {rng.randrange(4)};", f"{var} = {other} + 1;", f"(void){var};", "sched_yield();",
        f"pthread_mutex_lock(&lock); {var} = {other}; pthread_mutex_unlock(&lock);",
        f"portent_internal(\"b\", {rng.randrange(3)});", "portent_event(\"e\");", "d = d + 0.5;",
        f"portent_begin(\"k\"); {var} = {other} + {rng.randrange(3)}; portent_end(\"k\");"])


def random_formula(rng, depth, threads):
    """A formula; `threads` are what @ may name."""
    if depth == 0 or rng.random() < 0.2:
        var = rng.choice(["x0", "x1", "x2", "b"])
        return rng.choice([f"{var} {rng.choice(['==', '<', '>='])} {rng.randrange(4)}", f"{var} == @{rng.choice(threads)} {var}",
                           "event(e)", "read(x0)", "write(x1)", "d > 0.5"])
    inner = lambda: random_formula(rng, depth - 1, threads)
    kind = rng.randrange(9)
    if kind == 0:
        return f"!({inner()})"
    if kind == 1:
        return f"({inner()}) {rng.choice(['&&', '||', '->'])} ({inner()})"
    if kind == 2:
        return f"{rng.choice(['once', 'historically', 'previously', 'start', 'end'])}({inner()})"
    if kind == 3:
        return f"(({inner()}) since ({inner()}))"
    if kind in (4, 5):
        return f"@{rng.choice(threads)}({inner()})"
    name = f"q{depth}"
    body = random_formula(rng, depth - 1, threads + [name])
    return f"({rng.choice(['exists', 'forall'])} {name}: ({body}))"


def random_program(rng, folder):
    count = rng.randrange(2, 4)
    text = PROLOGUE
    for i in range(count):
        body = "\n    ".join(random_statement(rng) for _ in range(rng.randrange(3, 9)))
        text += f"static void *t{i}(void *a)\n{{\n    {body}\n    return a;\n}}\n"
    text += f"int main(void)\n{{\n    pthread_t t[{count}];\n    {random_statement(rng)}\n"
    text += "".join(f"    if (pthread_create(&t[{i}], 0, t{i}, 0)) return 1;\n" for i in range(count))
    text += f"    {random_statement(rng)}\n" + "".join(f"    pthread_join(t[{i}], 0);\n" for i in range(count))
    text += f"    {random_statement(rng)}\n    (void)x0;\n    portent_internal(\"b\", 0);\n    portent_event(\"e\");\n" \
            "    portent_begin(\"k\");\n    portent_end(\"k\");\n    return 0;\n}\n"
    names = [f"t{i}" for i in range(count)] + ["main"]
    properties = "".join(f"property p{i} at {rng.choice(names)}: {random_formula(rng, 3, names)};\n" for i in range(3))
    properties += f"property p3 at each i: {random_formula(rng, 2, names + ['i'])};\n"
    properties += "property p4 at each i: atomic_block(k);\nproperty p5 at each i: race_free(x0);\n"
    path = os.path.join(folder, "random.c")
    for name, content in ((path, text), (path[:-2] + ".prop", properties)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(content)
    return path, path[:-2] + ".prop"


def check_random(portent, folder, seed):
    rng = random.Random(seed)
    source, properties = random_program(rng, folder)
    try:
        program = Program(portent, source, properties, folder)
        for _ in range(2):
            program.recorded()
        program.live()
    except Failure as failure:
        with open(source, encoding="utf-8") as program_text, open(properties, encoding="utf-8") as property_text:
            raise Failure(f"seed {seed}: {failure}\n{program_text.read()}{property_text.read()}") from failure


def main():
    parser = argparse.ArgumentParser(description="Decentralised properties inside the program.")
    parser.add_argument("portent", type=os.path.abspath)
    parser.add_argument("--repeat", type=int, default=5, metavar="N")
    parser.add_argument("--random", type=int, default=12, metavar="N", help="how many random programs")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first one")
    options = parser.parse_args()
    tests = {" ".join(example): lambda folder, example=example: check_example(options.portent, example, folder, options.repeat)
             for example in EXAMPLES}
    tests["recovery"] = lambda folder: check_recovery(options.portent, folder)
    tests["suppressions"] = lambda folder: check_suppressions(options.portent, folder)
    tests["files"] = lambda folder: check_files(options.portent, folder)
    tests["copy"] = lambda folder: check_copy(options.portent, folder)
    tests["errors"] = lambda folder: check_errors(options.portent, folder)
    for seed in range(options.seed, options.seed + options.random):
        tests[f"random {seed}"] = lambda folder, seed=seed: check_random(options.portent, folder, seed)
    passed = failed = 0
    for name, test in tests.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                test(folder)
                passed += 1
            except (Failure, subprocess.TimeoutExpired) as failure:
                failed += 1
                print(f"FAILED {name}: {failure}")
    print(f"local: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
