#!/usr/bin/env python3
"""`explore` and `replay` as commands: run_cli.py PORTENT [NAME...]

Properties on controlled runs (found with every strategy, on no twin, shown again by replay; orders of independent steps that only a property
sees); going on without control, and saying why; schedules that are cut off, of other programs, of other input; usage; what is left of an
exploration that is killed. Each `test_...` below is one; the last line is `explore-cli: N passed, M failed`.
"""
import itertools
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "programs"))
from suite import Failure, Suite  # noqa: E402
from bench import HERE, expect, failures, line_of, run_suite, verdicts  # noqa: E402

SUITE = Suite("explore-cli")
test = SUITE.test
STRATEGIES = ("random", "pct", "surw", "predict", "auto", "exhaustive")


# ---- properties ----

@test
def test_property_found(bench):
    prop, place = HERE / "cli" / "valve.prop", f"valve.c:{line_of('valve.c', 'breaks it')}"
    for strategy in STRATEGIES:
        answer = bench.explore(bench.program("valve"), "-s", prop, "-n", "200", "--strategy", strategy, status=1)
        found, = failures(answer)
        expect(found["failure"] == "property" and found["reproduced"], f"{strategy}: {found}")
        expect("'valve'" in found["what"] and found["what"].endswith(place), f"{strategy}: {found['what']}")
        told = verdicts(answer)
        expect(told["valve"] == "violated" and told["steady"] in ("holds", "unknown") and told["twice"] != "violated", f"{strategy}: {told}")
        valve, = (one for one in answer["properties"] if one["name"] == "valve")
        expect(valve["how"] == "observed" and valve["witness"][-1]["loc"].endswith(place), f"{strategy}: {valve}")


@test
def test_property_twin(bench):
    for strategy in STRATEGIES:
        answer = bench.explore(bench.program("valve", "-DFIXED"), "-s", HERE / "cli" / "valve.prop", "-n", "60", "--strategy", strategy, status=0)
        expect(not failures(answer) and set(verdicts(answer).values()) == {"holds"}, f"{strategy}: {answer}")
        if strategy == "exhaustive":
            expect(answer["explore"]["complete"], answer)


@test
def test_property_keep_going(bench):
    prop = bench.properties("property a: always (w > 30 -> v > 55);\nproperty b: always v < 55;\nproperty c: always w < 40;\n")
    answer = bench.explore(bench.program("valve"), "-s", prop, "-n", "60", "--keep-going", "--strategy", "random", status=1)
    what = sorted(one["what"].split("'")[1] for one in failures(answer))
    expect(what == ["a", "b"] and verdicts(answer) == {"a": "violated", "b": "violated", "c": "holds"}, f"{what} {verdicts(answer)}")
    expect(all(one["count"] >= 1 for one in failures(answer)) and answer["explore"]["failing"] == 60, answer["explore"])


@test
def test_property_independent(bench):
    """One class of schedules; the property sees the order in it."""
    program = bench.program("apart")
    for text, status in (("always (y == 1 -> x == 1)", 1), ("always (x == 1 -> y == 1)", 1), ("always x < 2", 0)):
        prop = bench.properties(f"property p: {text};\n")
        answer = bench.explore(program, "-s", prop, "--strategy", "exhaustive", status=status)
        expect(bool(failures(answer)) == bool(status), f"{text}: {answer}")
        if status:
            expect(failures(answer)[0]["reproduced"], f"{text}: {answer}")
        else:
            expect(answer["explore"]["complete"] and answer["explore"]["distinct"] == 1, f"{text}: {answer}")


@test
def test_property_unshared(bench):
    """A variable of one thread alone: where the property names it, its accesses are scheduling points."""
    prop = bench.properties("property p: always (busy == 1 -> count < 2);\n")
    for strategy in ("random", "predict", "exhaustive", "auto"):
        answer = bench.explore(bench.program("alone"), "-s", prop, "-n", "200", "--strategy", strategy, status=1)
        expect(failures(answer)[0]["failure"] == "property" and failures(answer)[0]["reproduced"], f"{strategy}: {answer}")
    prop = bench.properties("property p: always (busy == 1 -> count < 3);\n")
    expect(bench.explore(bench.program("alone"), "-s", prop, "--strategy", "exhaustive", status=0)["explore"]["complete"], "not complete")


@test
def test_property_kinds(bench):
    """Local properties, races, and windows of events."""
    prop = bench.properties("property local at each i: w < 40;\nproperty free: race_free(w);\nproperty soon within 90 events: always true;\n")
    answer = bench.explore(bench.program("valve", "-DFIXED"), "-s", prop, "-n", "20", "--strategy", "random", status=0)
    expect(set(verdicts(answer)) == {"local", "free", "soon"}, answer)
    answer = bench.explore(bench.program("valve", "-DFIXED"), "-s", prop, "--strategy", "exhaustive", status=3)
    expect(not answer["explore"]["complete"], "a window of events follows the order of all events: no representative is enough")


@test
def test_property_body(bench):
    """A function that is repeated, and a process that ends while threads are left."""
    prop = bench.properties("property p: always (y == 1 -> x == 1);\n")
    answer = bench.explore(bench.program("apart", "-DBODY"), "-s", prop, "-n", "60", "--strategy", "random", status=1)
    expect(failures(answer)[0]["reproduced"], answer)
    prop = bench.properties("property p: always x < 2;\n")
    for flag in ("-DBODY", "-DLEAVES"):
        answer = bench.explore(bench.program("apart", flag), "-s", prop, "-n", "30", "--strategy", "random", status=0)
        expect(verdicts(answer) == {"p": "holds"} and not answer["explore"]["losses"], f"{flag}: {answer}")


@test
def test_property_errors(bench):
    for text, said in (("property p: nothing == 1;", "no variable 'nothing'"), ("property p within 5ms: always true;", "has a time"),
                       ("property p: event(nevermore);", "'nevermore'"), ("var a = limit;\n", "no property")):
        done = bench.run("explore", "-s", bench.properties(text), "--", bench.program("valve"), status=2)
        expect(said in done.stderr, f"{text}: {done.stderr}")
    expect("-s" in bench.run("explore", "--stress", "-s", HERE / "cli" / "valve.prop", "--", bench.program("valve"), status=2).stderr, "--stress -s")


@test
def test_property_replay(bench):
    schedule, result = bench.folder / "valve.schedule", bench.folder / "valve.replay.json"
    bench.explore(bench.program("valve"), "-s", HERE / "cli" / "valve.prop", "-o", schedule, status=1)
    for options in ([], ["-s", HERE / "cli" / "valve.prop"]):
        done = bench.run("replay", schedule, *options, "-r", result, "--", bench.program("valve"), status=1)
        expect("the same run, and the same failure" in done.stderr and "w > 30 -> v > 55" in done.stderr, done.stderr)
        expect(json.loads(result.read_text())["replay"]["end"] == "property valve", result.read_text())
    other = bench.properties("property valve: always w < 99;\n")
    done = bench.run("replay", schedule, "-s", other, "--", bench.program("valve"), status=0)
    expect("the same run, but not the failure that it was saved for (property 'valve' is violated by pump" in " ".join(done.stderr.split()), done.stderr)


@test
def test_property_report(bench):
    result = bench.folder / "valve.json"
    bench.run("explore", "-q", "-s", HERE / "cli" / "valve.prop", "-r", result, "--", bench.program("valve"), status=1)
    made = json.loads(result.read_text())["made"]
    expect("explore -q -s" in made["command"] and made["host"] and made["version"], made)
    text = bench.run("report", result).stdout
    expect("property 'valve' is violated by pump" in text and "was not violated in" in text, text)
    html = bench.run("report", "--html", result).stdout
    expect("pump" in html and "property" in html and "<svg" in html or "\"stretches\"" in html, html[:300])


# ---- without control ----

@test
def test_falls_back(bench):
    if platform.machine() != "x86_64":
        print("own_lock.c has no assembly for this machine")
        return
    program = bench.program("own_lock")
    answer = bench.explore(program, "-n", "60", status=0)
    told = answer["explore"]
    expect(told["stress"] and told["fell_back"] and 0 < told["controlled"] < 60 and told["runs"] == 60 and not told["complete"], told)
    expect(told["losses"] and not failures(answer), answer)
    answer = bench.explore(program, "-n", "20", "--strategy", "exhaustive", status=3)
    expect(not answer["explore"]["complete"] and answer["explore"]["fell_back"], answer["explore"])
    answer = bench.explore(program, "-n", "20", "--no-stress")
    expect(not answer["explore"]["stress"] and "fell_back" not in answer["explore"] and not failures(answer), answer)


@test
def test_not_instrumented(bench):
    program = bench.program("input", compiler="cc")
    done = bench.run("explore", "-n", "6", "--", program, status=0)
    expect("not built with this 'portent cc'" in done.stdout and "without control" in done.stdout, done.stdout)
    expect("not built with this 'portent cc'" in bench.run("explore", "--no-stress", "--", program, status=2).stderr, "no reason")


# ---- the fork server ----

def without_time(answer):
    told = {name: value for name, value in answer["explore"].items() if name not in ("seconds", "fork_server")}
    return told, [{name: value for name, value in one.items() if name != "schedule_file"} for one in failures(answer)]


@test
def test_fork_server(bench):
    """Copies of a process and processes that are started anew do the same runs: the same failures of the same runs, and one schedule for both."""
    for name, options, arguments in (("valve", ("-s", HERE / "cli" / "valve.prop"), ()), ("repeated", (), ()), ("told", (), ("race",)),
                                     ("told", (), ("double",)), ("told", (), ("deadlock",)), ("told", (), ("lose",))):
        program, answers = bench.program(name), {}
        for way in ((), ("--fork-server",), ("--no-fork-server",)):
            schedule = bench.folder / f"{name}{''.join(way)}.schedule"
            # what `auto` predicts meanwhile depends on how much time it gets; and a run without control, to see how it ends, may fail itself
            answers[way] = bench.explore(program, "-n", "40", "--keep-going", "--seed", "3", "--strategy", "random", "--expect", "0", *way, *options, "-o", schedule, arguments=arguments)
            expect(answers[way]["explore"]["fork_server"] == (way != ("--no-fork-server",)), f"{name} {way}: {answers[way]['explore']}")
        same = [without_time(answer) for answer in answers.values()]
        expect(same[0] == same[1] == same[2], f"{name}: {same[0]}\n{same[2]}")
        texts = [(bench.folder / f"{name}{way}.schedule").read_text(encoding="utf-8") for way in ("", "--no-fork-server")]
        expect(texts[0] == texts[1], f"{name}: {texts[0]}\n{texts[1]}")
        bench.run("replay", bench.folder / f"{name}--no-fork-server.schedule", "--", program, *arguments, status=1)
    for wrong in (("--fork-server", "--no-fork-server"), ("--fork-server", "--stress")):
        expect("--fork-server" in bench.run("explore", *wrong, "--", program, status=2).stderr, wrong)


def early(bench):
    """A program whose library has threads, or a file, before main."""
    source, library = HERE / "cli" / "early.c", bench.folder / "libearly.so"
    if not library.exists():
        subprocess.run(["cc", "-O1", "-g", "-shared", "-fPIC", "-pthread", "-DLIBRARY", str(source), "-o", str(library)], check=True)
    return bench.program("early", f"-L{bench.folder}", "-Wl,--no-as-needed", "-learly", f"-Wl,-rpath,{bench.folder}")


@test
def test_early_threads(bench):
    """Threads that a library has started before main are not in copies: each run is a process of its own, and it says so. Whatever these
    threads answer is waited for; a lost update is found, and nothing else."""
    program, schedule = early(bench), bench.folder / "early.schedule"
    for way in ("none", "ask", "wait"):
        for server in ((), ("--no-fork-server",)):
            options = ("--no-checks", "-n", "30", "--strategy", "random", "--keep-going", "--expect", "0", "-o", schedule)
            answer = bench.explore(program, *options, *server, arguments=(way,), status=1)
            told = answer["explore"]
            expect([one["status"] for one in failures(answer)] == [1], f"{way} {server}: {answer}")
            expect(not told["fork_server"] and ("unserved" in told) == (not server) and not told["stress"], told)
            expect(any("before main" in loss for loss in told["losses"]), told)
    done = bench.run("explore", "--no-checks", "-n", "3", "--strategy", "random", "--expect", "1", "--", program, "none")
    expect("each run was started anew, as with --no-fork-server, because it has other threads before main" in " ".join(done.stdout.split()), done.stdout)
    bench.run("explore", "-q", "--no-checks", "-n", "30", "--strategy", "random", "--expect", "0", "-o", schedule, "--", program, "none", status=1)
    expect("the same run, and the same failure" in bench.run("replay", schedule, "--", program, "none", status=1).stderr, "it is another run")


@test
def test_early_stuck(bench):
    """Nobody is stuck who waits for what a thread of a library may bring; a circle of locks of the program's own threads is one even so."""
    program = early(bench)
    answer = bench.explore(program, "--no-checks", "-n", "3", "--run-timeout", "1s", "--expect", "0", "--strategy", "random", arguments=("never",), status=3)
    expect(not failures(answer), answer)
    answer = bench.explore(program, "--no-checks", "-n", "60", "--expect", "0", arguments=("circle",), status=1)
    expect([one["failure"] for one in failures(answer)] == ["deadlock"], answer)


@test
def test_no_strangers(bench):
    """The runtime's own threads, which write recordings, are no strangers to a run that is stuck."""
    for strategy in ("auto", "predict"):
        answer = bench.explore(bench.program("told"), "-n", "60", "--strategy", strategy, arguments=("deadlock",), status=1)
        expect(failures(answer)[0]["failure"] == "deadlock" and not answer["explore"]["losses"], f"{strategy}: {answer}")


@test
def test_early_file(bench):
    """A file that a library has opened before main is read from the same place in every run."""
    lines = bench.folder / "seven"
    lines.write_text("7\n8\n9\n", encoding="utf-8")
    os.environ["EARLY_FILE"] = str(lines)
    try:
        for server in ("--fork-server", "--no-fork-server"):
            answer = bench.explore(early(bench), "--no-checks", "-n", "30", "--expect", "0", "--strategy", "random", "--keep-going", server,
                                   arguments=("file",), status=1)
            expect([one["status"] for one in failures(answer)] == [1] and answer["explore"]["fork_server"] == (server == "--fork-server"), answer)
        del os.environ["EARLY_FILE"]
        lines.write_text("7\n" * 1000, encoding="utf-8")
        with lines.open(encoding="utf-8") as inherited:  # the caller's, which may go on with it
            os.environ["EARLY_DESCRIPTOR"] = str(inherited.fileno())
            bench.explore(early(bench), "--no-checks", "-n", "3", "--expect", "0", "--keep-going", "--strategy", "random", arguments=("file",),
                          pass_fds=(inherited.fileno(),))
            place = os.lseek(inherited.fileno(), 0, os.SEEK_CUR)
            expect(place >= 6, f"a descriptor that is the caller's was put back: {place}")
    finally:
        for name in ("EARLY_FILE", "EARLY_DESCRIPTOR"):
            os.environ.pop(name, None)


# ---- signals ----

def orders_of_signal():
    """Statuses of signal_orders.c, by enumeration: the handler runs somewhere behind the call that sends, and loads somewhere behind that;
    whatever its thread does comes before or after both."""
    found = set()
    for order in itertools.permutations("AB" "HL" "SX"):  # two loads; handler begins, its load; send, store
        at = {event: place for place, event in enumerate(order)}
        if not (at["A"] < at["B"] and at["S"] < at["X"] and at["S"] < at["H"] < at["L"]):
            continue
        if any(at["H"] < at[load] < at["L"] for load in "AB"):
            continue
        first, second, seen = (int(at["X"] < at[load]) for load in "ABL")
        found.add(1 + first + 2 * second + 4 * sum(at[load] < at["H"] for load in "AB") + 16 * seen)
    return found


@test
def test_signal_orders(bench):
    """A handler runs at any scheduling point of its thread behind the sending, and all of these are explored."""
    due = orders_of_signal()
    answer = bench.explore(bench.program("signal_orders"), "--strategy", "exhaustive", "--keep-going", "--no-checks", "--expect", "0", status=1)
    found = {one["status"] for one in failures(answer)}
    expect(found == due, f"{answer['explore']}: {sorted(found)}, not {sorted(due)}")
    expect(not answer["explore"]["complete"], "between all accesses of its thread it was not tried")
    expect(all(one["reproduced"] for one in failures(answer)), "not all are reproduced")
    several = bench.explore(bench.program("signal_orders"), "--strategy", "exhaustive", "--keep-going", "--no-checks", "--expect", "0", "--jobs", "3", status=1)
    expect({one["status"] for one in failures(several)} == due and several["explore"]["runs"] == answer["explore"]["runs"], "other jobs, other answer")
    answer = bench.explore(bench.program("signal_orders"), "--strategy", "random", "-n", "300", "--keep-going", "--no-checks", "--expect", "0", status=1)
    found = {one["status"] for one in failures(answer)}
    expect(found <= due and len(found) > len(due) / 2, f"at random: {sorted(found)} of {sorted(due)}")


# ---- schedules ----

def failing(bench, name="input"):
    """A schedule of a failing run on an input of two lines, and that input."""
    text, schedule = bench.folder / "two.txt", bench.folder / f"{name}.schedule"
    text.write_text("a\nb\n", encoding="utf-8")
    with open(text, encoding="utf-8") as stdin:
        bench.explore(bench.program("input"), "--deadlocks", "-o", schedule, stdin=stdin, status=1)
    return schedule, text


@test
def test_replay_input(bench):
    schedule, text = failing(bench)
    program = bench.program("input")
    with open(text, encoding="utf-8") as stdin:
        expect("the same run, and the same failure" in bench.run("replay", schedule, "--", program, stdin=stdin, status=1).stderr, "not the same")
    for other in ("", "u\nu\n"):
        text.write_text(other, encoding="utf-8")
        with open(text, encoding="utf-8") as stdin:
            done = bench.run("replay", schedule, "--", program, stdin=stdin, status=3)
        expect(re.search(r"diverged at step \d+, in stretch \d+ of the schedule \(.+\)", " ".join(done.stderr.split())), done.stderr)


@test
def test_replay_other_program(bench):
    schedule, _ = failing(bench)
    said = bench.run("replay", schedule, "--", bench.program("valve"), status=3).stderr
    expect("diverged" in said and "the schedule is of another program" in said, said)
    expect("of other arguments" in bench.run("replay", schedule, "--", bench.program("input"), "x").stderr, "other arguments are not noticed")


@test
def test_replay_bad_files(bench):
    schedule, _ = failing(bench)
    lines, program = schedule.read_text(encoding="utf-8").splitlines(keepends=True), bench.program("input")
    bad = bench.folder / "bad.schedule"
    for content, said in (("".join(lines[:-1]), "cut off"), ("".join(lines)[:-1], "cut off"), ("", "cut off"), ("no schedule\n", "not a schedule"),
                          ("".join(lines[:4]) + "run x 3\n" + "".join(lines[4:]), "bad.schedule:5"),
                          ("".join(lines[:2]) + "ends purple\n" + "".join(lines[2:]), "bad.schedule:3:6"), ("".join(lines) + "run 0 1\n", "not a line")):
        bad.write_text(content, encoding="utf-8")
        done = bench.run("replay", bad, "--", program, status=2)
        expect(said in done.stderr, f"{said!r} is missing: {done.stderr}")
    expect("cannot" in bench.run("replay", bench.folder / "none.schedule", "--", program, status=2).stderr, "no file")


@test
def test_keep_going_files(bench):
    """Each failure has a file, and each is one that replay shows."""
    _, text = failing(bench)
    first = bench.folder / "many.schedule"
    with open(text, encoding="utf-8") as stdin:
        answer = bench.explore(bench.program("input"), "--races", "--keep-going", "-n", "60", "-o", first, stdin=stdin, status=1)
    for number, found in enumerate(failures(answer)):
        path = bench.folder / (f"many-{number + 1}.schedule" if number else "many.schedule")
        expect(pathlib.Path(found["schedule_file"]) == path and path.exists(), f"{found['schedule_file']}, not {path}")
        with open(text, encoding="utf-8") as stdin:
            bench.run("replay", path, "--", bench.program("input"), stdin=stdin, status=1)


@test
def test_gdb(bench):
    """Stopped at the last switch before the failure, with the schedule in force."""
    if not shutil.which("gdb"):
        print("no gdb: replay --gdb is not tried")
        return
    bench.run("explore", "--no-checks", "-n", 300, "-o", "first.schedule", "--", bench.program("first_step"), status=1)
    for program, schedule in (("input", failing(bench)[0]), ("first_step", "first.schedule")):
        done = subprocess.run([bench.portent, "replay", "--gdb", str(schedule), "--", str(bench.program(program))], input="bt\nkill\nquit\n", cwd=bench.folder,
                              capture_output=True, encoding="utf-8", timeout=120, check=False)
        expect(done.returncode == 0 and "in __portent_explore_stop" in done.stdout and "Invalid" not in done.stderr, done.stdout + done.stderr)


def debugged(bench, schedule, program, commands, *options):
    return subprocess.run([bench.portent, "replay", "--gdb", *options, str(schedule), "--", str(program)], input=commands, cwd=bench.folder, capture_output=True,
                          encoding="utf-8", timeout=120, check=False)


@test
def test_polls(bench):
    """A loop that counts its turns ends by itself, and is no livelock; one that does the same again and again is."""
    for way, level in itertools.product((1, 2, 3, 4), ("-O0", "-O2")):
        answer = bench.explore(bench.program("polls", f"-DWAY={way}", level), "-n", 4, "--strategy", "random", status=0)
        expect(not failures(answer), f"way {way} {level}: {answer}")
    for level in ("-O0", "-O2"):
        answer = bench.explore(bench.program("polls", "-DWAY=5", level), "--run-timeout", "2s", "-n", 4, "--strategy", "random", status=1)
        found, = failures(answer)
        expect(found["failure"] == "livelock" and found["reproduced"], f"{level}: {found}")


@test
def test_cancelled_wait(bench):
    answer = bench.explore(bench.program("cancelled_wait"), "-n", 60, "--strategy", "random", status=0)
    expect(not failures(answer), answer)


@test
def test_gdb_stands(bench):
    """Where nobody can go on gdb stops once more: all threads are there, with the program's own frames, and a sentence says who waits for what."""
    if not shutil.which("gdb"):
        print("no gdb: replay --gdb is not tried")
        return
    for way, end, said, stands in ((1, "deadlock", r"deadlock of main and worker: main \(LWP \d+\) waits at stands.c:\d+ to lock .*, which worker has; "
                                                    r"worker \(LWP \d+\) waits at stands.c:\d+ to lock .*, which main has\.", 2),
                                   (2, "stuck", r"nobody can go on .*: main waits for ever: main \(LWP \d+\) waits at stands.c:\d+ for condition to be signalled\.", 1),
                                   (3, "livelock", r"livelock.*: main \(LWP \d+\) spins at stands.c:\d+, where it loads .*; worker \(LWP \d+\) spins", 2),
                                   (4, "timeout", r"received signal SIGINT", 1)):
        program, schedule = bench.program("stands", f"-DWAY={way}"), f"stands{way}.schedule"
        bench.run("explore", "--no-checks", "--expect", 0, "--run-timeout", "1s", "-n", 300, "-o", schedule, "--", program, status=1)
        expect(f"\nends {end}\n" in (bench.folder / schedule).read_text(encoding="utf-8"), f"way {way} is no {end}")
        done = debugged(bench, schedule, program, "continue\nthread apply all bt\n" + ("kill\n" if way == 4 else "continue\n"), *(["--run-timeout", "2s"] if way == 4 else []))
        told = f"way {way}: status {done.returncode}\n{done.stdout}{done.stderr}"
        expect(done.returncode == 0 and "the first one after the last switch" in done.stdout and re.search(said, done.stdout), told)
        expect(len(re.findall(r"in stand \(of_main=[^)]*\)|stand \(of_main", done.stdout.split("Thread apply")[-1])) >= stands, told)
        expect(way == 4 or "exited with code 0175" in done.stdout, told)


@test
def test_gdb_other(bench):
    """A program that the schedule is not of: it is said, with the place, and under gdb there is a stop where the run leaves the schedule."""
    if not shutil.which("gdb"):
        return
    schedule, _ = failing(bench)
    done = debugged(bench, schedule, bench.program("first_step"), "continue\n")
    expect(done.returncode == 3 and "the schedule is of another program" in done.stderr and re.search(r"diverged at step \d+, in stretch \d+ .*: ", done.stderr),
           f"{done.returncode}: {done.stdout}{done.stderr}")
    done = debugged(bench, schedule, bench.program("ends"), "continue\n")
    expect(done.returncode == 3 and "another run" in done.stderr, f"{done.returncode}: {done.stdout}{done.stderr}")
    for other in ("/bin/true", bench.program("first_step", compiler="cc"), __file__):
        done = debugged(bench, schedule, other, "")
        expect(done.returncode == 2 and "error: " in done.stderr and "Starting program" not in done.stdout, f"{other}: {done.stdout}{done.stderr}")


@test
def test_broken_and_killed(bench):
    """A run that is killed breaks the property all the same: both are told, and it does not hold."""
    (bench.folder / "balance.prop").write_text("property never_below: always balance >= 0;\n", encoding="utf-8")
    for more in ([], ["--keep-going"]):
        done = bench.run("explore", "-n", 60, *more, "-s", "balance.prop", "--", bench.program("overdrawn"), status=1)
        expect("property 'never_below' is violated" in done.stdout and "killed by signal 6" in done.stdout and "holds" not in done.stdout, done.stdout)


@test
def test_ordinary_end(bench):
    """The status of a run without control is the ordinary one; a signal never is."""
    program = bench.program("ends")
    done = bench.run("explore", "-n", 5, "--", program, status=0)
    expect("ended with status 3, which is taken for the ordinary one" in done.stderr, done.stderr)
    expect("exit status 3" in bench.run("explore", "-n", 5, "--expect", 0, "--", program, status=1).stdout, "another was expected")
    done = bench.run("explore", "-n", 5, "--", program, "x", status=1)
    expect("killed by signal 6" in done.stdout and "was killed by signal 6" in done.stderr, done.stdout + done.stderr)


# ---- usage ----

@test
def test_usage(bench):
    program = bench.program("valve")
    for options, said in ((["-n", "0"], "-n"), (["-n", "x"], "-n"), (["--strategy", "guess"], "strategy"), (["--jobs", "0"], "--jobs"),
                          (["--preemptions", "1"], "exhaustive"), (["--run-timeout", "soon"], "run-timeout"), (["--expect", "256"], "--expect"),
                          (["--seed", "9" * 30], "--seed"), (["--seed", "+1"], "--seed"), (["-o"], "-o takes"), (["--stress", "-o", "x.schedule"], "--stress"), (["--stress=much"], "--stress"), (["-s", "none.prop"], "none.prop"),
                          (["--stress", "--no-stress"], "contradict"), (["--races", "--no-checks"], "contradict"), (["--no-checks", "--lifetimes"], "contradict"),
                          (["-o", "no/such/x.schedule"], "no such folder"), (["-r", "no/such/x.json"], "no such folder"), (["-o", "."], "is a folder")):
        expect(said in bench.run("explore", *options, "--", program, status=2).stderr, f"{options}: {said!r} is not said")
    expect("missing" in bench.run("explore", status=2).stderr, "no program")
    expect("nowhere" in bench.run("explore", "--", "./nowhere", status=2).stderr, "a program that is not there")
    expect("missing" in bench.run("replay", status=2).stderr and "missing" in bench.run("replay", "x.schedule", status=2).stderr, "no schedule")
    expect("the schedule or the program is missing" in bench.run("replay", "--", program, status=2).stderr, "no schedule, but a program")


@test
def test_no_program(bench):
    """What the kernel does not run is no failing run, whatever status was expected."""
    junk = bench.folder / "junk"
    junk.write_text("no program\n", encoding="utf-8")
    junk.chmod(0o755)
    for options in ([], ["--expect", 0]):
        expect("cannot be run" in bench.run("explore", *options, "--", junk, status=2).stderr, f"{options}: it was run")


@test
def test_unwritten(bench):
    """What was asked for and cannot be written is an error, though a run failed."""
    program = bench.program("first_step")
    for options in (["-q", "-o", "/dev/full"], ["-q", "-r", "/dev/full"]):
        expect("cannot write" in bench.run("explore", "--no-checks", *options, "--", program, status=2).stderr, f"{options}: nothing is said")
    with open("/dev/full", "w", encoding="utf-8") as full:
        for options in ([], ["--json"]):
            done = subprocess.run([bench.portent, "explore", "--no-checks", *options, "--", str(program)], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", check=False)
            expect(done.returncode == 2 and "cannot write" in done.stderr, f"{options}: {done.returncode} {done.stderr}")


@test
def test_words(bench):
    """One thread waits, two wait; a schedule is told to its end; no line is longer than the terminal, but what is to be copied and the summary."""
    for way, said in ((1, "deadlock of main and worker"), (2, "nobody can go on (a lost wake-up?): main waits for ever")):
        done = bench.run("explore", "--no-checks", "--expect", 0, "-n", 300, "-o", "words.schedule", "-r", "words.json", "--", bench.program("stands", f"-DWAY={way}"), "an arg", status=1)
        expect(said in done.stdout and re.search(r"\n    portent replay words.schedule -- \S+ 'an arg'\n", done.stdout), done.stdout)
        expect(not re.search(r"to ends|runs ends|waits at .*, locks|wakes from .* has", done.stdout), done.stdout)
        lines = [line for line in done.stdout.splitlines() if len(line) > 80 and "portent replay" not in line and "SUMMARY" not in line]
        expect(not lines, f"long lines: {lines}")
        shown = bench.run("report", "words.json", status=0).stdout
        expect(said in shown and "'an arg'" in shown, shown)
        expect(said in bench.run("report", "--sarif", "words.json", status=0).stdout, "SARIF says something else")
        for form in ("--shiviz", "--perfetto"):
            expect("does not show the schedules" in bench.run("report", form, "words.json", status=0).stderr, f"{form}: nothing is said")


@test
def test_json_same(bench):
    """Same seed, same answer, whatever the jobs."""
    def told(*options):
        answer = bench.explore(bench.program("valve"), "-s", HERE / "cli" / "valve.prop", "-n", "40", "--keep-going", *options)
        del answer["made"]  # when, and by which command
        text = json.dumps(answer, sort_keys=True)
        return re.sub(r'"(seconds|peak_bytes)": [0-9.e-]+', "", text)
    first = told()
    expect(first == told() and first == told("--jobs", "2"), "answers differ")
    expect(first != told("--seed", "2"), "another seed gives the same")


# ---- right programs that wait for something ----

def never_fails(bench, name, ways, strategies=("random", "pct", "exhaustive")):
    """Nothing fails, and nothing is out of control."""
    for way in ways:
        for strategy in strategies:
            answer = bench.explore(bench.program(name), "-n", "12", "--expect", "0", "--strategy", strategy, arguments=(way,))
            expect(not failures(answer) and not answer["explore"]["losses"] and answer["explore"]["runs"], f"{way} {strategy}: {answer}")


@test
def test_timers(bench):
    """Timers are on the virtual clock: hours cost nothing, and what is left of them is right."""
    never_fails(bench, "timers", ("alarm", "left", "hours", "pause", "alone", "yield", "interval", "posix", "call", "file", "epoll", "sigwait", "late", "watchdog",
                                  "sleep", "read"))


@test
def test_timers_replay(bench):
    """The signal comes in the same step again."""
    path = bench.folder / "timer.schedule"
    answer = bench.explore(bench.program("timers"), "--expect", "0", "-n", "100", "--strategy", "random", "-o", path, arguments=("early",), status=1)
    found, = failures(answer)
    expect(found["failure"] == "status" and found["reproduced"], found)
    for _ in range(5):
        done = bench.run("replay", path, "--", bench.program("timers"), "early")
        expect("diverged" not in done.stdout + done.stderr and done.returncode == 1, f"{done.returncode}: {done.stdout}{done.stderr}")


@test
def test_timers_stuck(bench):
    """A timer that only ends the process helps nobody: threads that wait for each other are told as that."""
    answer = bench.explore(bench.program("timers"), "--expect", "0", "-n", "5", "--strategy", "random", arguments=("stuck",), status=1)
    expect(failures(answer)[0]["failure"] in ("stuck", "deadlock", "lost-wakeup"), failures(answer))


@test
def test_last_thread(bench):
    """The process ends with its last thread, with status 0, after its functions for that."""
    never_fails(bench, "last", ("joinable", "detached", "several"), ("random", "pct", "predict", "exhaustive"))
    answer = bench.explore(bench.program("last"), "--expect", "0", "-n", "5", "--strategy", "random", arguments=("stuck",), status=1)
    expect(failures(answer)[0]["failure"] in ("stuck", "lost-wakeup"), failures(answer))


@test
def test_cancelled(bench):
    never_fails(bench, "cancelled", ("sleep", "read", "poll", "join", "test", "condition", "off", "robust"))


@test
def test_child_posts(bench):
    """What a child does is outside: nobody is stuck, and that is said."""
    answer = bench.explore(bench.program("cancelled"), "-n", "5", "--expect", "0", "--strategy", "random", arguments=("child",), status=0)
    expect(not failures(answer) and answer["explore"]["losses"], answer)
    expect(bench.explore(bench.program("cancelled"), "-n", "5", "--expect", "0", "--strategy", "exhaustive", arguments=("child",), status=3), "")


@test
def test_forked(bench):
    """What processes share can be signalled by the other one: nobody is stuck who waits for that, whenever the wait began."""
    program = bench.program("forked")
    for way in ("condition", "barrier", "semaphore", "futex", "mutex"):
        for early in ((), ("early",)):
            answer = bench.explore(program, "-n", "6", "--strategy", "random", arguments=(way, *early), status=0)
            expect(not failures(answer) and answer["explore"]["losses"], f"{way} {early}: {answer}")


@test
def test_only_schedule(bench):
    source = bench.folder / "one.c"
    source.write_text("int main(void) { return 0; }\n", encoding="utf-8")
    bench.run("cc", source, "-o", bench.folder / "one", status=0)
    done = bench.run("explore", "--strategy", "exhaustive", "--", bench.folder / "one", status=0)
    expect("The only schedule was explored: it does not fail;" in done.stdout + done.stderr, done.stdout + done.stderr)


@test
def test_outlived(bench):
    """The process ends when others have not: they may do something before it does, and after its exit handlers."""
    program = bench.program("outlived")
    for strategy in ("exhaustive", "random", "auto"):
        (failure,) = failures(bench.explore(program, "-n", "60", "--strategy", strategy, status=1))
        expect(failure["failure"] in ("signal", "race"), failure)
    answer = bench.explore(program, "--strategy", "exhaustive", arguments=("joined",), status=0)
    expect(answer["explore"]["complete"], answer)


@test
def test_timer_is_no_proof(bench):
    """What goes by the virtual clock is seen at one time of many: so it is said."""
    program = bench.program("timer")
    answer = bench.explore(program, "--strategy", "exhaustive", status=3)
    expect("timers are over at one moment" in answer["properties"][0]["message"], answer)
    answer = bench.explore(program, "--strategy", "exhaustive", arguments=("clock",), status=0)
    expect(answer["explore"]["complete"] and "the program reads the clock" in answer["properties"][0]["message"], answer)


@test
def test_replay_children(bench):
    """A replay waits for a thread that is in the kernel, where its schedule has it next."""
    program, schedule = bench.program("children"), bench.folder / "children.schedule"
    bench.explore(program, "-n", "60", "-o", schedule, "--expect", "0", status=1)
    for _ in range(10):
        done = bench.run("replay", schedule, "--", program, status=1)
        expect("killed by signal 6" in done.stderr and "the same run, and the same failure" in done.stderr, done.stderr)


@test
def test_lifetimes(bench):
    """A use that could come after the free by the order of the run alone is no failure; one that comes is, and a crash is its thread's."""
    answer = bench.explore(bench.program("counted"), "--lifetimes", "--strategy", "exhaustive", status=0)
    expect(not failures(answer) and answer["explore"]["complete"], f"{answer}")
    bench.explore(bench.program("counted"), "--races", "--strategy", "exhaustive", status=1)
    twice = bench.program("counted", "-DTWICE")
    found, = failures(bench.explore(twice, "--lifetimes", "--strategy", "exhaustive", status=1))
    expect(found["failure"] == "lifetime" and found["reproduced"], f"{found}")
    found, = failures(bench.explore(twice, "--no-checks", "--expect", "0", "--strategy", "exhaustive", status=1))
    expect(found["failure"] == "signal" and " in use" in found["what"], f"{found}")


@test
def test_modern(bench):
    """C++20's threads, latches, barriers, semaphores and waits: right programs never fail, wrong ones are found and replayed."""
    program, schedule = bench.folder / "modern", bench.folder / "modern.schedule"
    bench.run("c++", "-std=c++20", "-O1", "-g", "-pthread", HERE / "cli" / "modern.cpp", "-o", program, status=0)
    for way in ("stops", "latches", "barriers", "semaphores", "waits", "readers", "futures"):
        for strategy in ("random", "pct"):
            answer = bench.explore(program, "-n", "15", "--strategy", strategy, arguments=(way,), status=0)
            expect(not failures(answer) and not answer["explore"]["losses"], f"{way}, {strategy}: {answer}")
    for way in ("bad-stop", "bad-latch"):
        bench.explore(program, "-n", "300", "-o", schedule, "--expect", "0", arguments=(way,), status=1)
        for _ in range(5):
            done = bench.run("replay", schedule, "--", program, way, status=1)
            expect("the same run, and the same failure" in done.stderr, done.stderr)


# ---- the end ----

def processes_of(path):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(path):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


@test
def test_killed(bench):
    """Nothing is left, neither of a program that is in a run, nor of the fork server; an interruption tells what is known."""
    program = bench.program("valve", "-DFIXED").resolve()
    ends = ((signal.SIGINT, 3), (signal.SIGTERM, 3), (signal.SIGKILL, -signal.SIGKILL))
    for (number, status), server in itertools.product(ends, ("--fork-server", "--no-fork-server")):
        process = subprocess.Popen([bench.portent, "explore", server, "--json", "--expect", "0", "--strategy", "random", "-n", "all", "--jobs", "2", "--", str(program)],
                                   stdout=subprocess.PIPE, encoding="utf-8", cwd=bench.folder)
        time.sleep(1.5)
        runs = any(processes_of(program) for _ in range(1000))  # between two that are started anew there is none
        process.send_signal(number)
        expect(runs, f"{server}: nothing runs")
        output, _ = process.communicate(timeout=30)
        expect(process.returncode == status, f"{number}: status {process.returncode}")
        if status == 3:
            expect(json.loads(output)["explore"]["why"] == "it was interrupted", output)
        for _ in range(50):
            if not processes_of(program):
                break
            time.sleep(0.1)
        expect(not processes_of(program), f"{number}: {processes_of(program)} are left")


if __name__ == "__main__":
    sys.exit(run_suite(SUITE))
