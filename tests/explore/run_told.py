#!/usr/bin/env python3
"""What `explore` and `replay` tell of a failure: run_told.py PORTENT [NAME...]

Replay shows what explore showed of the run, and says whether it is the failure that the schedule was saved for; gdb stops before it; races and
misuse of memory have both sides, under control and without; statuses stand beside what was expected. The last line is `explore-told: N passed, M failed`.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "programs"))
from suite import Suite  # noqa: E402
from bench import HERE, expect, failures, line_of, run_suite  # noqa: E402

SUITE = Suite("explore-told")
test = SUITE.test
SAME = "portent replay: the same run, and the same failure"


def place(comment):
    return f"told.c:{line_of('told.c', comment)}"


def flat(text):
    """Words without the breaks between lines."""
    return " ".join(text.split())


def saved(bench, way, *options, name=None):
    """A schedule of this way to fail, and explore's text."""
    schedule = bench.folder / f"{name or way}.schedule"
    done = bench.run("explore", *options, "-n", 300, "-o", schedule, "--", bench.program("told"), way, status=1)
    return schedule, flat(done.stdout)


TOLD = {
    "race": (["--races"], ["data race on hits", f"#0 race tests/explore/cli/{place('races')}", "Previous write of size 4 of hits"]),
    "double": (["--lifetimes"], ["double free of", "Previous free of size 16", f"#0 drop tests/explore/cli/{place('frees')}", "allocated at"]),
    "deadlock": (["--deadlocks"], ["deadlock of left and right", f"left waits at {place('wants b')} to lock b, which right has",
                                   f"right waits at {place('wants a')} to lock a, which left has"]),
    "status": (["--no-checks"], ["exit status 3, where its ordinary schedule ends with 0"]),
}


@test
def test_replay_tells(bench):
    """Whatever explore says of the run stands in replay's text, too; and the run itself in its JSON."""
    result = bench.folder / "replay.json"
    for way, (options, words) in TOLD.items():
        schedule, told = saved(bench, way, *options)
        done = bench.run("replay", schedule, "-r", result, "--", bench.program("told"), way, status=1)
        again = flat(done.stderr)
        for word in [*words, re.search(r"Schedule, \d+ switch(es)?: [^.]+\.c:\d+", told)[0]]:
            expect(word in told, f"{way}: {word!r} is not in {told}")
            expect(word in again, f"{way}: {word!r} is not in {again}")
        expect(SAME in again, again)
        said = json.loads(result.read_text(encoding="utf-8"))["replay"]
        expect(said["same"] and said["failed"] and said["run"]["what"] in told, f"{said}")


@test
def test_replay_compares(bench):
    """The same run of a program that ends otherwise: well, or with another failure."""
    schedule, _ = saved(bench, "status", "--no-checks")
    well = bench.run("replay", schedule, "--", bench.program("told", "-DSTATUS=0"), "status", status=0)
    expect("the same run, but not the failure that it was saved for (exit status 3, where its ordinary schedule ends with 0): it ended with status 0"
           in flat(well.stderr), well.stderr)
    other = bench.run("replay", schedule, "--", bench.program("told", "-DSTATUS=4"), "status", status=3)
    expect("failed otherwise: exit status 4, where its ordinary schedule ends with 0" in flat(other.stderr), other.stderr)
    expect("The replayed run failed: exit status 4" in flat(other.stderr), other.stderr)
    # a schedule from before these lines were written
    old = bench.folder / "old.schedule"
    old.write_text("".join(line for line in schedule.read_text(encoding="utf-8").splitlines(True)
                           if not line.startswith(("ordinary", "fails_at", "setting races", "setting lifetimes"))), encoding="utf-8")
    expect(SAME in bench.run("replay", old, "--", bench.program("told"), "status", status=1).stderr, "an old schedule")


@test
def test_replay_another_race(bench):
    """A race is not any race."""
    schedule, _ = saved(bench, "race", "--races")
    text = schedule.read_text(encoding="utf-8")
    schedule.write_text(re.sub(r"(?m)^ends race .*", "ends race 0123456789abcdef", text), encoding="utf-8")
    done = bench.run("replay", schedule, "--", bench.program("told"), "race", status=3)
    expect("failed otherwise: data race on hits" in flat(done.stderr), done.stderr)


def gdb(bench, schedule, program, *arguments, commands):
    done = subprocess.run([bench.portent, "replay", "--gdb", str(schedule), "--", str(program), *arguments], input=commands,
                          cwd=bench.folder, capture_output=True, encoding="utf-8", timeout=120, check=False)
    return done.stdout + done.stderr


@test
def test_gdb_before(bench):
    """The stop is before the access that races, or the event that breaks a property, and not after the last switch of the run."""
    if not shutil.which("gdb"):
        print("no gdb: replay --gdb is not tried")
        return
    schedule, _ = saved(bench, "race", "--races")
    step, = re.findall(r"(?m)^fails_at (\d+)", schedule.read_text(encoding="utf-8"))
    steps = [int(count) for count in re.findall(r"(?m)^run \d+!? (\d+)", schedule.read_text(encoding="utf-8"))]
    expect(0 < int(step) <= sum(steps) - 8, f"step {step} of {steps}: take_turns() comes after it")
    said = gdb(bench, schedule, bench.program("told"), "race", commands="print hits\nkill\nquit\n")
    _, rest = said.split(f"before step {step} of {sum(steps)}", 1)
    expect("the last switch between threads before the failure" in flat(said), said)
    expect("in this step it fails: data race on hits" in flat(rest), said)
    expect("$1 = 1\n" in rest, f"the second access is not to come: {said}")
    valve, result = bench.program("valve"), bench.folder / "valve.schedule"
    bench.run("explore", "-q", "-s", HERE / "cli" / "valve.prop", "-o", result, "--", valve, status=1)
    said = gdb(bench, result, valve, commands="continue\nbt\nkill\nquit\n")
    rest = said.split("in this step it fails: property 'valve' is violated", 1)
    expect(len(rest) == 2 and f"valve.c:{line_of('valve.c', 'breaks it')}" in rest[1], said)


@test
def test_property_step(bench):
    """The step that breaks a property is known in the first run, too, though nothing was known of its variables before."""
    schedule = bench.folder / "turns.schedule"
    bench.run("explore", "-q", "-n", 1, "-s", bench.properties("property few: always turns < 3;\n"), "-o", schedule, "--", bench.program("told"), "race", status=1)
    text = schedule.read_text(encoding="utf-8")
    step, = re.findall(r"(?m)^fails_at (\d+)", text)
    steps = sum(int(count) for count in re.findall(r"(?m)^run \d+!? (\d+)", text))
    expect(int(step) <= steps - 12, f"step {step} of {steps}: five more turns come after the third")


@test
def test_keep_going(bench):
    """A race does not hide the double frees that come with it, nor the other way round."""
    answer = bench.explore(bench.program("told"), "-n", 200, "--races", "--lifetimes", "--keep-going", arguments=("worse",), status=1)
    kinds = {found["failure"]: found for found in failures(answer)}
    expect({"race", "lifetime"} <= set(kinds), f"{sorted(kinds)}")
    expect("double free" in kinds["lifetime"]["what"] and "data race on hits" in kinds["race"]["what"], f"{kinds}")
    told = {one["name"]: one for one in answer["properties"] if one["verdict"] == "violated"}
    expect(all(told["lifetimes"]["findings"][0][side]["op"] == "free" for side in ("first", "second")), f"{told['lifetimes']}")
    # the first failure alone: what is worse, and the race that came with it
    one, = failures(bench.explore(bench.program("told"), "-n", 200, "--lifetimes", "--races", "--seed", 3, arguments=("double",), status=1))
    expect(one["failure"] == "lifetime", f"{one}")


@test
def test_repeated(bench):
    """A function that is repeated in one process: what was found in one run is found in the next, too."""
    answer = bench.explore(bench.program("repeated"), "--races", "--keep-going", "-n", 100, status=1)
    race, = failures(answer)
    expect(race["failure"] == "race" and race["reproduced"] and race["count"] > 1, f"{race}")


@test
def test_stress(bench):
    """Without control the program's checks tell what they found; its status stays its own."""
    for way, words in (("race", ["data race on hits", "Previous", f"#0 race tests/explore/cli/{place('races')}"]),
                       ("deadlock", ["deadlock", place("wants a"), place("wants b")])):
        done = bench.run("explore", "--stress", "-n", 200, "--", bench.program("told"), way, status=1)
        expect("status 66" not in done.stdout, done.stdout)
        for word in words:
            expect(word in flat(done.stdout), f"{way}: {word!r} is not in {done.stdout}")
        expect(way == "race" or re.search(r"deadlock on (a, b|b, a)\b", flat(done.stdout)), done.stdout)  # by whoever came first
    answer = bench.explore(bench.program("told"), "--stress", "-n", 50, arguments=("race",), status=1)
    expect({one["name"] for one in answer["properties"]} >= {"schedules", "races"}, f"{answer}")
    # of a script: whichever of its processes it was
    script = bench.folder / "both.sh"
    script.write_text(f"#!/bin/sh\n{bench.program('told')} status\n{bench.program('told')} race\nexit 0\n", encoding="utf-8")
    script.chmod(0o755)
    done = bench.run("explore", "--stress", "-n", 20, "--", script, status=1)
    expect("data race on hits" in done.stdout and "status 66" not in done.stdout, done.stdout)


@test
def test_suppressed(bench):
    """What people have decided about is no failure."""
    rules = bench.folder / "known.supp"
    rules.write_text("race:hits\n", encoding="utf-8")
    environment = {**os.environ, "PORTENT_OPTIONS": f"suppressions={rules}"}
    done = subprocess.run([bench.portent, "explore", "--races", "-n", "40", "--", str(bench.program("told")), "race"], capture_output=True, encoding="utf-8",
                          env=environment, cwd=bench.folder, check=False)
    expect(done.returncode == 0, done.stdout + done.stderr)


@test
def test_freed_memory(bench):
    """What libc writes into freed memory is the same in every process."""
    schedule = bench.folder / "freed.schedule"
    bench.run("explore", "-q", "--no-checks", "--expect", 0, "-o", schedule, "--", bench.program("told"), "freed", status=1)
    read = {re.search(r"(?m)^[0-9a-f]{16}$", bench.run("replay", schedule, "--", bench.program("told"), "freed", status=1).stderr)[0] for _ in range(4)}
    expect(len(read) == 1 and read != {"0" * 16}, f"{read}")


@test
def test_expected_status(bench):
    done = bench.run("explore", "--no-checks", "--expect", 7, "-n", 5, "--", bench.program("told"), "status", status=1)
    expect("exit status 0, where 7 is expected" in flat(done.stdout), done.stdout)


@test
def test_all_schedules(bench):
    """How many runs failed is told beside how many runs there were, not beside how many schedules there are."""
    done = bench.run("explore", "--no-checks", "--keep-going", "--", bench.program("told"), "status", status=1)
    match = re.search(r"All (\d+) schedules explored, some of them more than once: (\d+) of (\d+) runs failed;", flat(done.stdout))
    expect(match and int(match[2]) < int(match[3]) and int(match[1]) < int(match[3]), done.stdout)


@test
def test_killed_recordings(bench):
    """Recordings of runs are gone when explore was killed in the middle of them, and so is whoever removes them."""
    folder = pathlib.Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else pathlib.Path(os.environ.get("TMPDIR") or "/tmp")
    process = subprocess.Popen([bench.portent, "explore", "-q", "--strategy", "predict", "--expect", "0", "--keep-going", "-n", "all", "--", str(bench.program("told")), "race"],
                               cwd=bench.folder)
    mine = f"portent-explore-{process.pid}-*"
    until(lambda: list(folder.glob(mine)), "nothing is recorded")
    process.kill()
    process.wait(timeout=30)
    until(lambda: not list(folder.glob(mine)), f"{mine} is left")
    until(lambda: not sweepers(bench), "its process is left")


def until(holds, text):
    for _ in range(300):
        if holds():
            return
        time.sleep(0.05)
    expect(False, text)


def sweepers(bench):
    """Processes that remove recordings of explorations of this test's programs."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == "portent-sweep" and str(bench.folder) in (entry / "cmdline").read_text():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


if __name__ == "__main__":
    sys.exit(run_suite(SUITE))
