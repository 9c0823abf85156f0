#!/usr/bin/env python3
"""Tests of `portent confirm`: run_confirm.py PORTENT [NAME...]

Violations are confirmed in at least ENOUGH of exactly TRIES tries: what threads read before their events comes out right in all
likelihood, not always (runtime/gate.c). The program confirm/ways.c has a run that a violation is predicted from, and runs that go other
ways: each has its reason why the violation was not reproduced. All programs are held to the pace of their pauses (steady.c), so every
prediction must succeed at once. The last line is `confirm: N passed, M failed`.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile

from suite import Failure, Suite, contains, keep_pace, run, same, write

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PORTENT = ""
SUITE = Suite("confirm")
test = SUITE.test
FOUND, CONFIRMED, BAD, NOT_REPRODUCED = 66, 1, 2, 3
TRIES, ENOUGH = 10, 9

PROPERTIES = """
    property order: always !(x == 1 && y == 11 && z == 0);
    property rest: always !(x == 1 && z == 1 && y == 5 && w == 0);
    property behind: always !(s3 == 1 && s1 == 0);
    property cells: always !(event(closed) && balance == 0);
"""


def read_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def compile_program(source, output):
    command = "c++" if source.endswith(".cc") else "cc"
    done = run(PORTENT, command, "-O2", "-pthread", source, "-o", output)
    same(f"exit status of portent {command}: {done.stderr}", done.returncode, 0)


def predict(way, name, *options):
    """A result in which the property's violation is predicted from a run of this way."""
    write("one.prop", next(line.strip() for line in PROPERTIES.splitlines() if f"property {name}:" in line))
    result = f"{way}-{name}.json"
    done = run(PORTENT, "run", *options, "-s", "one.prop", "-r", result, "--", "./ways", way)
    same(f"exit status of run: {done.stderr}", done.returncode, FOUND)
    predicted(result)
    return result


def predicted(result):
    """The only finding of a result, which must be a predicted violation."""
    (found,) = read_json(result)["properties"]
    same("verdict", (found["verdict"], found.get("how")), ("violated", "predicted"))
    return found


def confirm(result, way, *options):
    return run(PORTENT, "confirm", result, *options, "--", "./ways", way)


def often_enough(what, *command):
    """A confirmation that succeeds in at least ENOUGH of TRIES tries; returns those that did."""
    results = [run(PORTENT, "confirm", *command) for _ in range(TRIES)]
    good = [done for done in results if done.returncode == CONFIRMED]
    if len(good) < ENOUGH:
        bad = next(done for done in results if done.returncode != CONFIRMED)
        raise Failure(f"{what}: confirmed {len(good)} times of {TRIES}: {bad.stderr}")
    return good


def reproduced(result, way):
    for done in often_enough(way, result, "--", "./ways", way):
        contains(done.stderr, "PREDICTED '", "CONFIRMED '", "SUMMARY: portent confirm: 1 of 1 predicted violation confirmed")


def not_reproduced(way, *parts, timeout="60"):
    result = predict("first", "order")
    done = confirm(result, way, "--timeout", timeout, "-r", "after.json")
    same(f"exit status: {done.stderr}", done.returncode, NOT_REPRODUCED)
    contains(done.stderr, "NOT REPRODUCED 'order' (", *parts, "SUMMARY: portent confirm: 0 of 1 predicted violation confirmed")
    (found,) = read_json("after.json")["properties"]
    same("confirmed", found["confirmed"], False)
    contains(found["not_reproduced"], *parts)
    return done


@test
def confirms_examples():
    """Each from one result."""
    for name, source in {"water": "water.c", "bank": "bank.c", "queue": "queue.c", "atomic": "store.cc", "stages": "stages.c"}.items():
        folder = os.path.join(ROOT, "examples", name)
        properties = os.path.join(folder, os.path.splitext(source)[0] + ".prop")
        compile_program(os.path.join(folder, source), name)
        run(PORTENT, "run", "-q", "-s", properties, "-r", name + ".json", "--", "./" + name)
        predicted(name + ".json")
        often_enough(name, name + ".json", "--", "./" + name)


@test
def waits_for_what_is_read():
    reproduced(predict("first", "order"), "late")


@test
def waits_for_locks():
    reproduced(predict("locks", "order"), "locks-late")


@test
def lets_others_come_to_rest():
    reproduced(predict("rest", "rest"), "rest-late")


@test
def knows_threads_by_ordinal():
    result = predict("workers", "behind")
    same("witness", [step["thread"] for step in read_json(result)["properties"][0]["witness"]], ["worker#3"])
    reproduced(result, "workers")


@test
def confirms_heap_objects_and_user_events():
    reproduced(predict("heap", "cells"), "heap")


@test
def begins_late():
    """Under a small window the predicted run begins after many events."""
    write("one.prop", "property late: always !(y == 11 && z == 0 && x == 1);")
    run(PORTENT, "run", "-q", "--window", "4", "--lookahead", "6", "-s", "one.prop", "-r", "late.json", "--", "./ways", "long")
    found = predicted("late.json")
    if found.get("witness_from", {"events": 0})["events"] < 1000:
        raise Failure(f"the witness begins early: {found}")
    reproduced("late.json", "long")


@test
def run_confirms_at_once():
    write("one.prop", "property order: always !(x == 1 && y == 11 && z == 0);")
    done = run(PORTENT, "run", "--confirm", "-s", "one.prop", "-r", "once.json", "--", "./ways", "first")
    found = predicted("once.json")
    same("exit status", done.returncode, FOUND)
    same("confirmed", found["confirmed"], True)
    same("output of both runs", done.stdout, "done\ndone\n")
    contains(done.stderr, "PREDICTED 'order'", "CONFIRMED 'order'")
    contains(run(PORTENT, "report", "once.json").stdout, "Confirmed: another run of the program broke it.")


ORDERS = ("access", "sync", "values")
# way of confirm/orders.c: property, the first order that predicts its violation
PREDICTED_IN = {
    "access": ("property ready: always !(serving == 1 && config == 0);", "access"),
    "sync": ("property ready: always !(serving == 1 && config == 0);", "sync"),
    "values": ("property last: always !(level == 1 && once level == 2);", "values"),
    "flag": ("property ready: always !(serving == 1 && config == 0);", "values"),
}


def record(way, *options):
    """A trace of everything that orders.c does this way; it passes."""
    done = run(PORTENT, "run", "-q", "--record-all", "-o", way + ".trace", *options, "--", "./orders", way)
    same(f"exit status of run: {done.stderr}", (done.returncode, done.stdout), (0, "done\n"))
    return way + ".trace"


@test
def each_order_predicts_what_others_do_not():
    """One program per order; what it predicts from a run that passed really happens when the program is held to it."""
    for way, (text, first) in PREDICTED_IN.items():
        write("one.prop", text)
        trace = record(way)
        for order in ORDERS:
            done = run(PORTENT, "check", "--order", order, "-q", "-s", "one.prop", trace)
            same(f"{way} in order {order}", done.returncode, int(ORDERS.index(order) >= ORDERS.index(first)))
        write("way.json", run(PORTENT, "check", "--json", "-s", "one.prop", trace).stdout)
        same(f"{way}: found in", predicted("way.json")["order"], first)
        done = run(PORTENT, "confirm", "way.json", "--", "./orders", way)
        same(f"{way}: confirm: {done.stderr}", done.returncode, CONFIRMED)
        contains(done.stderr, "CONFIRMED '", "this run broke it, at w(")


@test
def confirms_races_and_deadlocks():
    """What was predicted is observed, and nothing else counts."""
    for way, order, check in (("race-sync", "sync", "race"), ("race-values", "values", "race"), ("deadlock-sync", "sync", "deadlock"),
                              ("deadlock-values", "values", "deadlock")):
        done = run(PORTENT, "check", "--json", f"--{check}s", record(way))
        write("check.json", done.stdout)
        ((found,),) = (entry["findings"] for entry in json.loads(done.stdout)["properties"])
        same(f"{way}: found", (found["how"], found["order"]), ("predicted", order))
        done = run(PORTENT, "confirm", "check.json", "-r", "after.json", "--", "./orders", way)
        same(f"{way}: {done.stderr}", done.returncode, CONFIRMED)
        contains(done.stderr, f"CONFIRMED '{check}s' (", f"the {check} was observed in this run, after")
        same("confirmed", read_json("after.json")["properties"][0]["findings"][0]["confirmed"], True)
        done = run(PORTENT, "confirm", "check.json", "--timeout", "4", "--", "./orders", "access")
        same(f"{way}, in another run: {done.stderr}", done.returncode, NOT_REPRODUCED)


@test
def tells_divergence():
    not_reproduced("other", "diverged at", "ways.c:", "w(z)=7 by b", "came where w(y)=11 by b")


@test
def tells_threads_that_end():
    not_reproduced("nothing", "diverged: thread b has ended; step 2 of 2 was to be w(y)=11 by b")


@test
def tells_threads_that_do_not_start():
    not_reproduced("alone", "diverged: thread b was not started; there are main, a; step 2 of 2", timeout="4")


@test
def tells_locks():
    done = not_reproduced("blocked", "blocked: thread b waits for lock m held by a, which waits for its turn; step 2 of 2")
    same("the program goes on", done.stdout, "done\n")


@test
def tells_conditions():
    not_reproduced("condition", "blocked: thread b waits for a condition variable; step 2 of 2", timeout="4")


@test
def tells_time_outs():
    """And ends the program, which would go on for minutes."""
    not_reproduced("slow", "timed out: thread b did something else for 4000 ms; step 2 of 2", timeout="4")


@test
def tells_other_values():
    not_reproduced("values", "values differ: expected w(y)=11 by b", "and it was w(y)=21 by b")


@test
def tells_crashes():
    not_reproduced("crash", "diverged: the program was killed by signal 11 (Segmentation fault); step 2 of 2")


@test
def ends_programs_that_do_not():
    done = confirm(predict("first", "order"), "forever", "--timeout", "4")
    same(f"exit status: {done.stderr}", done.returncode, CONFIRMED)


def start(way):
    """A confirmation under way: b is in the middle of its step, and a waits for it."""
    command = [PORTENT, "confirm", predict("first", "order"), "--timeout", "60", "--", "./ways", way]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    same("first line", process.stdout.readline(), "begun\n")
    return process


@test
def passes_interrupts_on():
    with start("slow") as process:
        process.send_signal(signal.SIGINT)
        _, text = process.communicate(timeout=60)
    same(f"exit status: {text}", process.returncode, NOT_REPRODUCED)
    contains(text, "killed by signal 2 (Interrupt)")


@test
def lets_the_program_go_when_killed():
    """Threads that wait for their turn go on when nobody observes any more."""
    with start("held") as process:
        process.kill()
        output, _ = process.communicate(timeout=60)
    same("output", output, "done\n")


@test
def refuses_what_does_not_fit():
    result = predict("first", "order")
    compile_program(os.path.join(ROOT, "examples", "water", "water.c"), "water")
    same("plain cc", run("cc", "-g", "-pthread", "-I", os.path.join(ROOT, "include"), os.path.join(HERE, "confirm", "ways.c"),
                         "-o", "plain").returncode, 0)
    write("other.prop", "property order: always y < 11;")
    write("none.prop", "property another: always y < 11;")
    write("bad.json", '{"portent": 1}')
    write("x.trace", "T1|w(x)=1|-\nT1|w(z)=1|-\nT2|w(y)=11|-\n")
    write("t.json", run(PORTENT, "check", "--json", "-s", "one.prop", "x.trace").stdout)
    command = [PORTENT, "confirm"]
    for arguments, message in {
        (result, "--", "./water"): "y",
        (result, "--", "./plain", "first"): "is not instrumented, so nothing can be confirmed",
        (result, "-s", "other.prop", "--", "./ways"): "is another one than when its violation was predicted",
        (result, "-s", "none.prop", "--", "./ways"): "there is no property 'order' in it",
        (result, "-s", "missing.prop", "--", "./ways"): "missing.prop",
        ("t.json", "--", "./ways"): "the result's thread 'T1' is named after no function of './ways'",
        ("bad.json", "--", "./ways"): "not a result of portent",
        ("missing.json", "--", "./ways"): "missing.json",
        (result,): "a program is missing",
        (): "a result is missing",
        (result, "--timeout", "0", "--", "./ways"): "timeout",
    }.items():
        done = run(*command, *arguments)
        same(f"exit status of confirm {arguments}: {done.stderr}", done.returncode, BAD)
        contains(done.stderr, message)
    same("a program that is not there", run(*command, result, "--", "./missing").returncode, 127)


@test
def says_when_there_is_nothing_to_do():
    result = predict("first", "order")
    for options in (["-p", "another"], ["--id", "0123456789abcdef"]):
        done = confirm(result, "first", *options)
        same("exit status", done.returncode, 0)
        contains(done.stderr, "there is no such predicted violation")
    found = read_json(result)["properties"][0]
    same("by its id", confirm(result, "first", "--id", found["id"], "-q").returncode, CONFIRMED)
    write("seen.prop", "property seen: always x == 0;")
    run(PORTENT, "run", "-q", "-s", "seen.prop", "-r", "seen.json", "--", "./ways", "first")
    done = confirm("seen.json", "first")
    same("exit status", done.returncode, 0)
    contains(done.stderr, "it was observed, so there is nothing to confirm")


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        keep_pace(folder)
        compile_program(os.path.join(HERE, "confirm", "ways.c"), "ways")
        compile_program(os.path.join(HERE, "confirm", "orders.c"), "orders")
        status = SUITE.run(sys.argv[2:])
        os.chdir(ROOT)
    return status


if __name__ == "__main__":
    sys.exit(main())
