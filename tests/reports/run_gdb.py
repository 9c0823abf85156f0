#!/usr/bin/env python3
"""Scripts of `report --gdb`, given to gdb with the programs they are about: breakpoints stand where the findings have their steps, are hit, and say which
steps these are; and no name in a result becomes a command. And gdb stops at functions where it does without Portent.

    run_gdb.py PORTENT [TEST...]

The last line is `gdb: N passed, M failed`. Where gdb is not installed this is a failure: make deps installs it.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]

RACE = """#include <pthread.h>
static int n;
static void *add(void *unused)
{
    n++; // LINE add
    return unused;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    n = 7; // LINE set
    pthread_join(t, 0);
    return 0;
}
"""
DEADLOCK = """#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *unused)
{
    pthread_mutex_lock(&a); // LINE one first
    pthread_mutex_lock(&b); // LINE one second
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}
static void *two(void *unused)
{
    pthread_mutex_lock(&b); // LINE two first
    pthread_mutex_lock(&a); // LINE two second
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, one, 0);
    usleep(20000);
    pthread_create(&t[1], 0, two, 0);
    pthread_join(t[0], 0); // LINE join
    pthread_join(t[1], 0);
    return 0;
}
"""
ORDER = """#include <pthread.h>
#include <portent.h>
static int ready, used;
static void *use(void *unused)
{
    used = 1; // LINE use
    return unused;
}
int main(void)
{
    pthread_t t;
    ready = 1; // LINE ready
    pthread_create(&t, 0, use, 0);
    pthread_join(t, 0);
    ready = 0; // LINE gone
    portent_event("end"); // LINE end
    return 0;
}
"""


BEGIN = """#include <stdlib.h>
static int total;
__attribute__((noinline)) int add_to_total(int number, const char *text)
{
    int before = total; // LINE body
    total += number;
    return before + text[0];
}
int main(void)
{
    return add_to_total(41, "a") ? EXIT_SUCCESS : EXIT_FAILURE;
}
"""


class Program:
    """A source in a folder of its own, compiled, with its result and its script."""

    def __init__(self, portent, path, source):
        self.portent, self.path = portent, pathlib.Path(path)
        self.lines = {line.split("// LINE ")[1]: number for number, line in enumerate(source.splitlines(), 1) if "// LINE " in line}
        (self.path / "a.c").write_text(source, encoding="utf-8")
        self.call("cc", "-O0", "-pthread", "a.c", "-o", "a")

    def call(self, *arguments, status=0):
        done = subprocess.run([self.portent, *arguments], cwd=self.path, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def script(self, result="r.json"):
        self.call("report", "--gdb", result, "-o", "steps.gdb")
        return (self.path / "steps.gdb").read_text(encoding="utf-8")

    def at(self, script):
        """The lines that have breakpoints, by their names above."""
        numbers = {int(line) for line in re.findall(r'^break -source "[^"]*a\.c" -line (\d+)$', script, re.MULTILINE)}
        assert len(re.findall(r"^break ", script, re.MULTILINE)) == len(numbers)
        return {name for name, number in self.lines.items() if number in numbers}, numbers - set(self.lines.values())

    def debug(self, *commands):
        """What gdb prints with the script and then these commands."""
        given = [argument for command in commands for argument in ("-ex", command)]
        done = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", "steps.gdb", *given, "--args", "./a"], cwd=self.path, capture_output=True, text=True, check=False,
                              timeout=120)
        assert "Error in sourced command file" not in done.stderr and "Undefined command" not in done.stderr, done.stderr
        return done.stdout + done.stderr


def races(program):
    """Both sides are stopped at, whichever comes first."""
    program.call("run", "-q", "-r", "r.json", "--", "./a", status=66)
    script = program.script()
    assert program.at(script) == ({"add", "set"}, set()), script
    said = program.debug("run", "continue")
    assert len(re.findall(r"hit Breakpoint \d", said)) == 2, said
    for place in ("add", "set"):
        stop = re.search(rf"hit Breakpoint \d.*a\.c:{program.lines[place]}\n.*\nportent: race on n, side \d of 2: .*a\.c:{program.lines[place]}", said)
        assert stop, said


def deadlocks(program):
    """Where each thread has its lock, and where it waits for the other's."""
    program.call("run", "-q", "-r", "r.json", "--", "./a", status=66)
    script = program.script()
    assert program.at(script) == ({"one first", "one second", "two first", "two second"}, set()), script
    said = program.debug("info breakpoints")
    assert said.count("in one at") == 2 and said.count("in two at") == 2, said
    assert re.search(r"portent: deadlock on .*: one holds a \(.*\) and waits for b at ", said), said


def schedules(program):
    """A schedule that explore found: where its switches are; replay --gdb takes the script as well."""
    program.call("explore", "--deadlocks", "-n", "300", "-o", "bug.schedule", "-r", "r.json", "--", "./a", status=1)
    script = program.script()
    named, others = program.at(script)
    assert {"one second", "two second"} <= named and not others, script
    assert re.search(r"deadlock of .*, step 1 of \d+: ", script) and f"at the end: one waits at a.c:{program.lines['one second']} to lock b, which two has" in script, script
    done = subprocess.run([program.portent, "replay", "--gdb", "--gdb-script", "steps.gdb", "bug.schedule", "--", "./a"], cwd=program.path, capture_output=True, text=True,
                          check=False, timeout=120, input="continue\n" * 12)
    stops = re.findall(r"hit Breakpoint \d+, .*a\.c:(\d+)\n.*\nportent: deadlock of ", done.stdout)
    assert {program.lines["one second"], program.lines["two second"]} <= set(map(int, stops)), done.stdout + done.stderr
    assert "exited with code" in done.stdout, done.stdout


def properties(program):
    """Steps of a violating run, of an event too; each breakpoint has its own steps and no others."""
    (program.path / "p.prop").write_text("property life: !(event(end) && used == 1);\nproperty fine: used < 2;\n", encoding="utf-8")
    program.call("run", "-q", "-s", "p.prop", "-r", "r.json", "--", "./a", status=66)
    script = program.script()
    assert program.at(script) == ({"use", "end"}, set()), script
    said = program.debug("run", "continue", "portent-steps")
    stops = re.findall(r"hit Breakpoint \d.*a\.c:(\d+)\n.*\n((?:portent: .*\n)+)", said)
    assert [int(line) for line, _ in stops] == [program.lines["use"], program.lines["end"]], said
    assert "step 1 of 2: w(used)=1 by use" in stops[0][1] and "step 2" not in stops[0][1], said
    assert "step 2 of 2: event(end) by main" in stops[1][1].splitlines()[0], said


def local_properties_and_bounds(program):
    """What is told without a run: a decentralised property, one with a bound."""
    (program.path / "p.prop").write_text("property mine at main: ready == 0 -> !(@use(used) == 1);\nproperty fell within 3 events: always !event(end);\n", encoding="utf-8")
    program.call("run", "-q", "-s", "p.prop", "-o", "x.trace", "--record-all", "--", "./a", status=66)
    (program.path / "r.json").write_text(program.call("check", "--json", "-s", "p.prop", "x.trace", status=1), encoding="utf-8")
    named, _ = program.at(program.script())
    assert {"gone", "end"} <= named, named


def blocks(program):
    """Disturbed blocks, of a model of C sources; lines of models in SML are no places of a program."""
    source = (ROOT / "examples/transfer/transfer.c").read_text(encoding="utf-8")
    (program.path / "a.c").write_text(source, encoding="utf-8")
    (program.path / "r.json").write_text(program.call("model", "--json", "a.c", status=1), encoding="utf-8")
    script = program.script()
    assert re.search(r'^break -source "a\.c" -line \d+$', script, re.MULTILINE) and "portent: block " in script, script
    sml = str(ROOT / "examples/model/counter.sml")
    (program.path / "r.json").write_text(program.call("model", "--json", sml, status=1), encoding="utf-8")
    script = program.script()
    assert not re.search(r"^break ", script, re.MULTILINE) and "no step has a place" in script and "step 1 of " in script, script


EVIL = 'x\nshell touch pwned\n\\nshell touch pwned\\\n$(touch pwned)`touch pwned`"\n'


def names_are_no_commands(program):
    """A result from elsewhere: whatever its names, values and places say, gdb runs none of it."""
    program.call("run", "-q", "-r", "r.json", "--", "./a", status=66)
    result = json.loads((program.path / "r.json").read_text(encoding="utf-8"))
    (finding,) = result["properties"][0]["findings"]
    for place in ("a.c:5", 'a"\nshell touch pwned\n.c:5', "a.c' -line 5\nshell touch pwned\n#:5", "\\\nshell touch pwned:5", "`touch pwned`:5"):
        changed = json.loads(json.dumps(result))
        side = changed["properties"][0]["findings"][0]["first"]
        side.update(thread=EVIL, loc=place, locks=[EVIL])
        changed["properties"][0]["findings"][0]["object"] = EVIL
        changed["program"] = [EVIL]
        (program.path / "evil.json").write_text(json.dumps(changed), encoding="utf-8")
        script = program.script("evil.json")
        for line in script.splitlines():
            assert re.match(r"#|set breakpoint pending on$|  echo portent: |break -source \"[^\"'\\`]*\" -line \d+$|commands$|end$|define portent-steps$|"
                            r"document portent-steps$|The steps of|portent-steps$|$", line), line
        program.debug("portent-steps")
        assert not (program.path / "pwned").exists(), place
    assert finding["object"] == "n"


def nothing_found(program):
    """Suppressed findings count here no more than elsewhere; the script says so, and gdb takes it."""
    (program.path / "s").write_text("race:n\n", encoding="utf-8")
    program.call("run", "-q", "--suppressions", "s", "-r", "r.json", "--", "./a")
    assert "there is no finding that counts" in program.script() and "break -source" not in program.script()
    assert "there is no finding that counts" in program.debug()


def many_places(program):
    """Of too many places those at the end are kept: there is what breaks the property."""
    trace = "".join(f"T1|w(x)={i}|a.c:{i}\nT1|w(x)={i}|a.c:{i}\n" for i in range(1, 301)) + "".join(f"T1|w(x)={i}|a.c:300\n" for i in range(301, 351))
    (program.path / "x.trace").write_text(trace, encoding="utf-8")
    (program.path / "p.prop").write_text("property p: x < 350;\n", encoding="utf-8")
    (program.path / "r.json").write_text(program.call("check", "--json", "-s", "p.prop", "x.trace", status=1), encoding="utf-8")
    script = program.script()
    lines = [int(line) for line in re.findall(r"^break .*-line (\d+)$", script, re.MULTILINE)]
    assert lines == list(range(101, 301)) and "100 more places have no breakpoint" in script, lines
    assert "and 40 more, which portent-steps lists" in script, script[-2000:]


def functions_begin(program):
    """Whoever stops at a function by its name is where its arguments are, once, as without hooks; in the body with hooks they are known. It is one frame."""
    (program.path / "steps.gdb").write_text("", encoding="utf-8")
    for level, options in (("-O0", ""), ("-O2", ""), ("-O2", "races=1")):
        program.call("cc", "-g", level, "a.c", "-o", "a")
        said = program.debug(f"set environment PORTENT_OPTIONS {options}", "break add_to_total", "run", "backtrace", "continue")
        stops = re.findall(r"Breakpoint 1(?:\.\d+)?, add_to_total \((.*)\) at a\.c:(\d+)", said)
        assert len(stops) == 1 and int(stops[0][1]) == program.lines["body"], said
        assert (level == "-O2" and not options) or re.match(r"number=41, text=0x", stops[0][0]), said
        assert re.findall(r"^#\d+ +(?:0x\w+ in )?(\w+) \(.*\) at a\.c:", said, re.M) == ["add_to_total", "main"], said


TESTS = {functions_begin: BEGIN, races: RACE, deadlocks: DEADLOCK, schedules: DEADLOCK, properties: ORDER, local_properties_and_bounds: ORDER, blocks: RACE, names_are_no_commands: RACE,
         nothing_found: RACE, many_places: RACE}


def main():
    portent, wanted = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:]
    passed = failed = 0
    for test, source in TESTS.items():
        if wanted and test.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="portent-gdb-") as path:
            try:
                test(Program(portent, path, source))
                passed += 1
            except Exception:  # whatever it is, the other tests still run
                failed += 1
                print(f"FAILED {test.__name__}")
                traceback.print_exc(file=sys.stdout)
    print(f"gdb: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
