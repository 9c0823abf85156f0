#!/usr/bin/env python3
"""Tests of `portent run` with programs that are started by others: run_wrappers.py PORTENT [NAME...]

The programs are in wrappers/. What is asked: which processes are observed behind shells, test runners and scripts, what their results
and recordings say, what the exit status is, and that programs which make processes and threads in odd ways, or forbid themselves system
calls, go on living. The last line is `wrappers: N passed, M failed`.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from suite import Suite, contains, in_folder, run, same, true, write

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "wrappers")
PORTENT = ""
SUITE = Suite("wrappers")
test = SUITE.test
FOUND = 66
NOT_WHOLE = 67


def build(*names):
    for name in names:
        done = run(PORTENT, "cc", "-O1", "-pthread", "-D_GNU_SOURCE", os.path.join(HERE, name + ".c"), "-o", name)
        same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)


def observed(*command, properties="property low: level < 5;", options=()):
    """Runs the command under `portent run`, with its result in r.json and what it recorded in t.trace*."""
    write("p.prop", properties)
    return run(PORTENT, "run", *(["-s", "p.prop"] if properties else []), "-r", "r.json", "-o", "t.trace", *options, "--", *command)


def result():
    with open("r.json", encoding="utf-8") as file:
        return json.load(file)


def verdicts():
    """Of each process: its program, and its properties' verdicts."""
    return sorted((os.path.basename(process["program"]), [found["verdict"] for found in process["result"]["properties"]])
                  for process in result()["processes"])


def make_executable(name, text):
    write(name, text)
    os.chmod(name, 0o755)


def wrapped(*command, runs=1):
    """A wrapper that starts ./tank 3 9 so many times."""
    done = observed(*command)
    same(f"exit status: {done.stderr}", done.returncode, FOUND)
    same("processes", verdicts(), [("tank", ["violated"])] * runs)
    true("the program's output is there", done.stdout.count("level 9") == runs)
    for process in result()["processes"]:
        contains(done.stderr, f"in process {process['pid']} ({process['program']})")
        trace = f"t.trace.{process['pid']}"
        same("check of what was recorded", run(PORTENT, "check", "-q", "-s", "p.prop", trace).returncode, 1)
    same("recordings", len(glob.glob("t.trace*")), runs)
    return done


@test
def plain():
    """What is started directly and starts nothing has the result and the recording that it always had."""
    build("tank")
    same("exit status", observed("./tank", "3", "9").returncode, FOUND)
    same("members", "processes" in result() or "properties" not in result(), False)
    same("recordings", glob.glob("t.trace*"), ["t.trace"])


@test
def shell():
    """A shell that becomes the program, and one that starts it."""
    build("tank")
    wrapped("sh", "-c", "exec ./tank 3 9")
    for trace in glob.glob("t.trace*"):
        os.unlink(trace)
    wrapped("sh", "-c", "./tank 3 9; :")


@test
def timeout():
    build("tank")
    wrapped("timeout", "60", "./tank", "3", "9")


@test
def side_by_side():
    """Processes that run at once have a channel each."""
    build("tank")
    jobs = " ".join(f"job{i}" for i in range(6))
    write("Makefile", f"check: {jobs}\n{jobs}:\n\t@./tank 3 9\n")
    wrapped("make", "-j2", "check", runs=6)


@test
def test_runners():
    """ctest, and a Python script that closes all descriptors and starts the program by itself, as pytest's tests do."""
    build("tank")
    write("CTestTestfile.cmake", f'add_test(one "{os.getcwd()}/tank" "3" "9")\nadd_test(two "{os.getcwd()}/tank" "3" "9")\n')
    done = observed("ctest", "-j2")
    same(f"exit status of ctest: {done.stderr}", done.returncode, FOUND)
    same("processes", verdicts(), [("tank", ["violated"])] * 2)
    for trace in glob.glob("t.trace*"):
        os.unlink(trace)
    make_executable("test_tank.py", f"#!{sys.executable}\nimport subprocess, sys\n"
                                    "sys.exit(subprocess.run(['./tank', '3', '9'], close_fds=True).returncode)\n")
    wrapped("./test_tank.py")


@test
def libtool():
    """The script that libtool leaves in a program's place: it sets where libraries are and starts .libs/lt-PROGRAM."""
    os.makedirs(".libs")
    write("level.c", "int level;\nvoid set(int to) { level = to; }\n")
    write("main.c", "void set(int to);\nint main(void) { set(3); set(9); return 0; }\n")
    for command in (["-shared", "-fPIC", "level.c", "-o", ".libs/liblevel.so"], ["main.c", "-L.libs", "-llevel", "-o", ".libs/lt-prog"]):
        done = run(PORTENT, "cc", "-O1", *command)
        same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    make_executable("prog", '#!/bin/sh\nLD_LIBRARY_PATH="$PWD/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"\nexport LD_LIBRARY_PATH\n'
                            'exec "$PWD/.libs/lt-prog" ${1+"$@"}\n')
    done = observed("./prog")
    same(f"exit status: {done.stderr}", done.returncode, FOUND)
    same("processes", verdicts(), [("lt-prog", ["violated"])])


@test
def some_lack_it():
    """A property is judged where its variable is; in a process that lacks it there is nothing to say of it."""
    build("tank", "other")
    done = observed("sh", "-c", "./other; ./tank 3", properties="property low: level < 5; property p: pressure < 5;")
    same(f"exit status: {done.stderr}", done.returncode, FOUND)
    same("processes", verdicts(), [("other", ["violated"]), ("tank", ["holds"])])
    done = observed("sh", "-c", "./other; ./tank 3")
    same(f"exit status: {done.stderr}", done.returncode, 0)
    same("processes", verdicts(), [("other", []), ("tank", ["holds"])])


@test
def none_has_it():
    """No process has the variable: the name is wrong, and the nearest one is offered."""
    build("tank")
    done = observed("sh", "-c", "./tank 3; exit 5", properties="property low: levle < 5;")
    same(f"exit status: {done.stderr}", done.returncode, 2)
    contains(done.stderr, "p.prop:1:15", "'levle'", "did you mean 'level'?")
    done = observed("./tank", "3", properties="property low: levle < 5;")
    same("known before it starts", [done.returncode, done.stdout], [2, ""])


@test
def nothing_instrumented():
    """Whatever the properties name: nothing was observed. The program's own status comes first."""
    for command, status in ((["sh", "-c", "true"], NOT_WHOLE), (["sh", "-c", "exit 7"], 7), (["true"], NOT_WHOLE)):
        for properties in ("property low: level < 5;", "property a at each i: race_free(*);", ""):
            done = observed(*command, properties=properties)
            same(f"exit status of {command}: {done.stderr}", done.returncode, status)
            contains(done.stderr, "the answer is not whole: nothing was observed")
    same("lenient", observed("true", options=["--lenient"]).returncode, 0)


@test
def own_status():
    """Nothing found: the status is that of what was started; with a signal, too."""
    build("tank")
    for script, status in (("./tank 3", 0), ("./tank 3; exit 7", 7), ("./tank 3; kill -9 $$", 137)):
        done = observed("sh", "-c", script)
        same(f"exit status of {script}: {done.stderr}", done.returncode, status)
        same("processes", verdicts(), [("tank", ["holds"])])


@test
def becomes_another():
    """One instrumented program becomes another by exec: both are observed, in one process."""
    build("tank", "other")
    done = observed("./other", "./tank", "3", "9", properties="property p: pressure < 9;")
    same(f"exit status: {done.stderr}", done.returncode, 0)
    same("processes", verdicts(), [("other", ["holds"]), ("tank", [])])
    done = observed("sh", "-c", "exec ./other ./tank 3 9")
    same(f"exit status: {done.stderr}", done.returncode, FOUND)
    same("processes", verdicts(), [("other", []), ("tank", ["violated"])])
    same("one process", len({process["pid"] for process in result()["processes"]}), 1)


@test
def reports():
    """A list of processes in every form of report, and as a baseline."""
    build("tank")
    observed("sh", "-c", "./tank 3 9; ./tank 3 9")
    text = run(PORTENT, "report", "r.json")
    contains(text.stdout, "and in others:", "Property 'low' is violated", "(2 times)")
    for form, part in (("html", "<html"), ("sarif", '"results"'), ("junit", "<failure"), ("perfetto", "traceEvents"), ("shiviz", "level")):
        done = run(PORTENT, "report", f"--{form}", "r.json")
        same(f"--{form}: {done.stderr}", done.returncode, 0)
        contains(done.stdout, part)
    os.rename("r.json", "base.json")
    done = observed("sh", "-c", "./tank 3 9; ./tank 3 9", options=["--baseline", "base.json"])
    same(f"nothing new: {done.stderr}", done.returncode, 0)
    done = run(PORTENT, "report", "base.json", "r.json")
    same(f"several lists: {done.stderr}", done.returncode, 0)
    for broken in ('{"portent":1,"trace":"x","processes":3}', '{"portent":1,"trace":"x","processes":[{"pid":1,"program":"a"}]}',
                   '{"portent":1,"trace":"x","processes":[{"pid":1,"program":"a","result":{"processes":[]}}]}'):
        write("broken.json", broken)
        same(f"report of {broken}", run(PORTENT, "report", "broken.json").returncode, 2)


@test
def confirm_is_for_one():
    """--confirm with several processes is refused in a sentence, and the result is there."""
    build("tank")
    done = observed("sh", "-c", "./tank 3 9; :", options=["--confirm"])
    same(f"exit status: {done.stderr}", done.returncode, FOUND)
    contains(done.stderr, "--confirm is left out")


@test
def outlives():
    """A process that is left behind gets a while to end; one that does not is reported, lives on, and nobody hangs."""
    build("tank")
    done = observed("sh", "-c", "(sleep 0.2; ./tank 3 9) & exit 0")
    same(f"one that ends: {done.stderr}", done.returncode, FOUND)
    begun = time.monotonic()
    done = observed("sh", "-c", "./tank 3 sleep >/dev/null 2>&1 & echo $!")
    same(f"one that stays: {done.stderr}", done.returncode, NOT_WHOLE)
    true("it took too long", time.monotonic() - begun < 20)
    contains(done.stderr, "still ran when the observation ended")
    os.kill(int(done.stdout), 0)  # it lives
    os.kill(int(done.stdout), signal.SIGKILL)


@test
def interrupted():
    """SIGINT in the middle, for the whole group as from a terminal: the results are there, and nobody is left."""
    build("tank")
    write("p.prop", "property low: level < 5;")
    command = [PORTENT, "run", "-q", "-s", "p.prop", "-r", "r.json", "--", "sh", "-c", "./tank 3 9 sleep; :"]
    with subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(3)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
        same("exit status", process.returncode, FOUND)
    same("processes", verdicts(), [("tank", ["violated"])])


def family(how, properties="property low: level < 5;", options=()):
    """Runs ./family; returns its exit status, and events and verdict of each process, the parent's first and the children's in order."""
    done = observed("./family", how, properties=properties, options=options)
    same(f"output with {how}: {done.stderr}", done.stdout, "done\n")
    if "processes" not in result():
        return done.returncode, [(result()["events"], result()["properties"][0]["verdict"])]
    found = [(process["pid"], process["result"]["events"], process["result"]["properties"][0]["verdict"])
             for process in result()["processes"]]
    parent = min(found)  # process numbers do not start again in the middle of a test
    return done.returncode, [parent[1:], *sorted(child[1:] for child in found if child != parent)]


@test
def copies():
    """A copy of the process that goes on without exec is observed for itself, from the values on that it began with, and its parent as
    if there were none. What becomes another program, or shares the memory for as long as its parent waits, is no process of its own."""
    build("forks")
    for how, forked in (("fork", True), ("_Fork", True), ("raw", True), ("clone", True), ("exec", False), ("vfork", False)):
        done = observed("./forks", how, properties="property low: level < 6;")
        same(f"exit status with {how}: {done.stderr}", done.returncode, FOUND if forked else 0)
        same(f"output with {how}", done.stdout, "level 5, status 0\n")
        if not forked:
            same(f"result with {how}", [result()["events"], result()["properties"][0]["verdict"]], [5, "holds"])
            continue
        parent, child = sorted(result()["processes"], key=lambda process: process["pid"])
        same(f"parent with {how}", [parent["result"]["events"], parent["result"]["properties"][0]["verdict"]], [5, "holds"])
        same(f"child with {how}", child["result"]["properties"][0]["verdict"], "violated")
        contains(done.stderr, f"in process {child['pid']} (")
        contains(done.stderr, "level: 2 -> 3")
        same(f"check of what the child recorded with {how}", run(PORTENT, "check", "-q", "-s", "p.prop", f"t.trace.{child['pid']}").returncode, 1)
    done = observed("./forks", "fork", properties="property low: level < 1003;")
    same(f"exit status where all holds: {done.stderr}", done.returncode, 0)
    same("events of both", sorted(process["result"]["events"] for process in result()["processes"]), [5, 1000])


@test
def families():
    """Children of children, of threads, and of functions at the end; one after the other and at once; killed ones, and ones that live
    longer than their parent. One that does nothing which properties speak of is none, unless it goes on for long."""
    build("family")
    one = (1, "holds")
    same("threads", family("threads"), (FOUND, [one, (6, "violated")]))
    same("nested", family("nested"), (FOUND, [(2, "holds"), one, one, (1, "violated")]))
    same("atexit", family("atexit"), (0, [one, (2, "holds")]))
    same("in turn", family("turn"), (0, [one] + 200 * [one]))
    same("at once", family("once"), (0, [one] + 10 * [one] + 10 * [(2, "holds")]))
    same("killed", family("killed"), (FOUND, [one, (4, "violated")]))
    same("outliving", family("outliving"), (FOUND, [one, (4, "violated")]))
    same("uninvolved", family("uninvolved"), (0, [one]))
    same("busy", family("busy"), (0, [one, (0, "holds")]))
    same("by annotation", family("annotated", properties="property low: cell < 3;"), (FOUND, [one, one[:1] + ("violated",)]))


@test
def fork_among_threads():
    """Forks while other threads are in the middle of everything: the child begins anew, and has threads of its own."""
    build("family")
    status, found = family("thread", properties="property low: level < 1000000;")
    same("exit status and children", [status, found[1:]], [0, 10 * [(7, "holds")]])
    status, found = family("thread", properties="property low: level < 1000000;", options=["--record-all"])
    same("exit status and children in full", [status, [verdict for _, verdict in found]], [0, 11 * ["holds"]])
    status, found = family("thread", properties="property free at each i: race_free(unsafe);")
    same("exit status and races", [status, [verdict for _, verdict in found]], [FOUND, ["holds"] + 10 * ["violated"]])


@test
def unanswered():
    """A child that finds nobody to observe it, or that was made behind our back, goes on, and its parent's answer is not whole."""
    build("forks")
    for how in ("unanswered", "assembly"):
        done = observed("./forks", how, properties="property low: level < 6;")
        same(f"exit status with {how}: {done.stderr}", [done.returncode, done.stdout], [NOT_WHOLE, "level 5, status 0\n"])
        same(f"result with {how}", [result()["events"], result()["properties"][0]["verdict"]], [5, "holds"])
        contains(done.stderr, "a process that it forked went on without exec, and was not observed")


@test
def seen_by_some():
    """User events that only a child makes: the parent's answer is whole, too. Those that no process makes were not tested."""
    build("emits")
    for command in (["./emits", "open", "close"], ["./emits", "./emits", "open"], ["sh", "-c", "./emits; ./emits open"]):
        done = observed(*command, properties="property p: always !(event(shut) && event(open));")
        same(f"exit status of {command}: {done.stderr}", done.returncode, 0)
        true(f"several processes of {command}", len(result()["processes"]) > 1)
        done = observed(*command, properties="property p: always !event(open);")
        same(f"exit status of {command} where it is violated: {done.stderr}", done.returncode, FOUND)
        done = observed(*command, properties="property p: always !event(shut); property q: always !event(shut) || event(open);",
                        options=["-q"])
        same(f"exit status of {command} with a name that never came: {done.stderr}", done.returncode, NOT_WHOLE)
        same("why", done.stderr, "portent: the answer is not whole: property 'p' named what was not observed\n")
    done = observed("./emits", properties="property p: always !event(open);")
    same(f"exit status where nobody makes any: {done.stderr}", done.returncode, NOT_WHOLE)


@test
def raw_threads():
    """A thread without pthread: the program goes on, and nothing is believed of it."""
    build("forks")
    done = observed("./forks", "thread")
    same(f"exit status: {done.stderr}", [done.returncode, done.stdout], [NOT_WHOLE, "level 1005, status 0\n"])
    contains(done.stderr, "made a thread with clone, without pthread")


@test
def filters():
    """A program that forbids itself system calls is not killed for ours, and what it does is seen."""
    build("filter")
    for how in ("errno", "kill", "strict"):
        plain_run = run("./filter", how)
        same(f"{how} without observation", [plain_run.returncode, plain_run.stdout], [0, "done\n"])
        done = observed("./filter", how, properties="property low: level < 10001;")
        same(f"{how}: {done.stderr}", [done.returncode, done.stdout], [0, "done\n"])
        same(f"events with {how}", result()["events"], 5000 if how == "strict" else 10000)
        done = observed("./filter", how, properties="property low: level < 4000;")
        same(f"{how}, violated: {done.stderr}", done.returncode, FOUND)


TWO_RACES = """#include <pthread.h>
int a, b;
static void *race(void *unused)
{
    a++;
    b++;
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, race, NULL);
    race(NULL);
    return pthread_join(thread, NULL);
}
"""


@test
def processes_in_which_nothing_was_found():
    """A line for each, and nothing else."""
    write("one.c", "#include <pthread.h>\nint n;\nstatic void *f(void *p) { n++; return p; }\n"
          "int main(void) { pthread_t t; pthread_create(&t, 0, f, 0); return pthread_join(t, 0); }\n")
    same("exit status of portent cc", run(PORTENT, "cc", "-pthread", "one.c", "-o", "one").returncode, 0)
    done = run(PORTENT, "run", "--", "sh", "-c", "./one; ./one; ./one; true")
    same(f"exit status: {done.stderr}", done.returncode, 0)
    lines = [re.sub(r"process \d+ \(.*?\)", "process", line) for line in done.stderr.splitlines()]
    same("lines", lines, 3 * ["portent: in process: checks 'races' and 'deadlocks': nothing was found in the observed run."])


@test
def the_process_stands_above_what_it_did():
    """The blank line between two reports comes before the name of the process, not after it."""
    write("races.c", TWO_RACES)
    same("exit status of portent cc", run(PORTENT, "cc", "-pthread", "races.c", "-o", "races").returncode, 0)
    done = run(PORTENT, "run", "--races", "--", "sh", "-c", "./races; true")
    true(f"more than one report: {done.stderr}", done.stderr.count("SUMMARY:") > 1)
    true(f"a blank line above the name, none below: {done.stderr}", "\n\nportent: in process " in done.stderr and "):\n\n" not in done.stderr)


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    return SUITE.run(sys.argv[2:], in_folder)


if __name__ == "__main__":
    sys.exit(main())
