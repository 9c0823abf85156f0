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
import time

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
        contains(done.stderr, f"CONFIRMED '{check}s' (", f"the {check} was observed in this run; ")
        shows(check, read_json("after.json")["properties"][0]["findings"][0], done)
        done = run(PORTENT, "confirm", "check.json", "--timeout", "4", "--", "./orders", "access")
        same(f"{way}, in another run: {done.stderr}", done.returncode, NOT_REPRODUCED)


def shows(check, found, done):
    """What was seen is told: the accesses that stood next to each other, or who holds what and waits for what."""
    same("confirmed", found["confirmed"], True)
    same("threads", len(found["seen"]), 2)
    if check == "race":
        same("addresses", (len(found["met"]), len(set(found["met"]))), (2, 1))
        same("both addresses", {side["address"] for side in found["seen"]}, set(found["met"]))
        contains(done.stderr, "both threads stood right before theirs, at " + found["met"][0])
        same("the program", (found["program_failed"], found["program_end"]), (False, "status 0"))
    else:
        holds = {side["thread"]: side["locks"] for side in found["seen"]}
        wants = {side["thread"]: side["object"] for side in found["seen"]}
        for thread, lock in wants.items():
            same(f"who has what {thread} waits for", [other for other in holds if lock in holds[other] and other != thread],
                 [other for other in holds if other != thread])
            contains(done.stderr, f"{thread} holds {holds[thread][0]} (", f"waits for {lock} at")
        same("the program", (found["program_failed"], found["program_end"]), (True, "it was deadlocked, and could not go on"))


# way of confirm/checks.c: its property; how the program itself ends when it is broken, None: well
OWN_CHECKS = {
    "order": ("!(serving == 1 && config == 0)", "killed by SIGABRT (assertion config == 1)"),
    "use-after-close": ("!(event(use) && handle == 0)", "status 3"),
    "torn": ("!(event(look) && low != high)", "killed by SIGABRT (assertion low == high)"),
    "published": ("!(event(get) && data == 0)", "status 1"),
    "null": ("!(event(fill) && alive == 0)", "killed by SIGSEGV"),
    "locked": ("!(serving == 1 && config == 0)", "killed by SIGABRT (assertion loaded == 1)"),
    "last": ("!(level == 1 && once level == 2)", "killed by SIGABRT (assertion level == 2)"),
    "audit": ("!(event(audit) && from + to != 100)", "killed by SIGABRT (assertion sum == 100)"),
    "log": ("!(event(log) && closed == 1)", "killed by SIGABRT"),
    "condition": ("!(event(take) && item == 0)", "killed by SIGABRT (assertion item == 7)"),
    "lock-held": ("!(event(look) && low != high)", "killed by SIGABRT (assertion seen == high)"),
    "falls-back": ("!(serving == 1 && config == 0)", None),
    "spins": ("!(serving == 1 && config == 0)", None),
    "reads": ("!(serving == 1 && config == 0)", None),
}


def with_place(source, end):
    """The assertion that ended it is told with its place: the first of its text in the source."""
    text = end.partition("(assertion ")[2].rstrip(")")
    if not text:
        return end
    with open(source, encoding="utf-8") as file:
        line = next(number for number, line in enumerate(file, 1) if f"assert({text});" in line)
    return end.replace(text, f"{source}:{line}: {text}")


def check_own(way, text, *program):
    """The result of confirming what is predicted from a run of this way, which passes."""
    write("own.prop", f"property own: always {text};")
    if os.path.exists("own.trace"):
        os.unlink("own.trace")
    run(PORTENT, "run", "-q", "--record-all", "-s", "own.prop", "-o", "own.trace", "--", *program)
    write("own.json", run(PORTENT, "check", "--json", "-s", "own.prop", "own.trace").stdout)
    predicted("own.json")
    done = run(PORTENT, "confirm", "own.json", "-r", "after.json", "--", *program)
    same(f"{way}: exit status: {done.stderr}", done.returncode, CONFIRMED)
    (found,) = read_json("after.json")["properties"]
    same(f"{way}: confirmed", found["confirmed"], True)
    return found, done


@test
def tells_the_programs_own_check():
    """Two facts, told apart: the property was broken, and the program noticed it, or it did not."""
    source = os.path.join(HERE, "confirm", "checks.c")
    for way, (text, end) in OWN_CHECKS.items():
        same(f"{way}: alone", run("./checks", way).returncode, 0)
        found, done = check_own(way, text, "./checks", way)
        same(f"{way}: the program", (found["program_failed"], found["program_end"]),
             (end is not None, with_place(source, end) if end else "status 0"))
        contains(done.stderr, "The program's own check failed too: killed by SIG" if end and "SIG" in end else
                 f"The program's own check failed too: {end}." if end else "The program itself ended well (status 0).")
        contains(run(PORTENT, "report", "after.json").stdout, "Confirmed: another run of the program broke it. The program")


@test
def compares_with_an_ordinary_run():
    """Whose status a result of `run` has; a result of `check` has none, so there is one run more."""
    found, done = check_own("always-3", "!(serving == 1 && config == 0)", "./checks", "always-3")
    same("the program", (found["program_failed"], found["program_end"]), (False, "status 3, as in an ordinary run"))
    contains(done.stderr, "The program itself ended as usual: status 3, as in an ordinary run.")
    run(PORTENT, "run", "-q", "-s", "own.prop", "-r", "own.json", "--", "./checks", "always-3")
    same("status in the result", read_json("own.json")["program_status"], 3)
    done = run(PORTENT, "confirm", "own.json", "--", "./checks", "always-3")
    contains(done.stderr, "The program itself ended as usual: status 3, as in an ordinary run.")


# way of confirm/kinds.c: the check, what else the message has, what becomes of the program
KINDS = {
    "freed": ("lifetimes", ["the use after free was observed in this run", "both threads stood", "free("], (False, "status 0")),
    "dropped": ("lifetimes", ["its events came in the order that must not be", "w(slot) by drop_slot", "r(slot) by use_slot"],
                (True, "killed by SIGSEGV")),
    "unset": ("lifetimes", ["its events came in the order that must not be", "r(slot) by use_slot_later"], (True, "killed by SIGSEGV")),
    "block": ("serializable", ["its events came in the order that must not be", "w(balance) by pay_later", "w(balance) by pay ("],
              (False, "status 0")),
    "heap": ("races", ["the race was observed in this run; both threads stood right before theirs"], (False, "status 0")),
    "cycle": ("deadlocks", ["the cycle was closed", "lock_mn holds m", "lock_nk holds n", "lock_km holds k"],
              (True, "it was deadlocked, and could not go on")),
}


@test
def confirms_every_kind():
    for way, (check, parts, program) in KINDS.items():
        run(PORTENT, "run", "-q", "--record-all", "-o", way + ".trace", "--", "./kinds", way)
        write("kind.json", run(PORTENT, "check", "--json", f"--{check}", way + ".trace").stdout)
        ((found,),) = (entry["findings"] for entry in read_json("kind.json")["properties"])
        same(f"{way}: how", found["how"], "predicted")
        done = run(PORTENT, "confirm", "kind.json", "-r", "after.json", "--", "./kinds", way)
        same(f"{way}: exit status: {done.stderr}", done.returncode, CONFIRMED)
        contains(done.stderr, f"CONFIRMED '{check}' (", *parts)
        ((found,),) = (entry["findings"] for entry in read_json("after.json")["properties"])
        same(f"{way}: the program", (found["confirmed"], found["program_failed"], found["program_end"]), (True, *program))
        done = run(PORTENT, "confirm", "kind.json", "--timeout", "2", "--", "./kinds", "cycle" if way != "cycle" else "freed")
        same(f"{way}, in another run: {done.stderr}", done.returncode, NOT_REPRODUCED)


@test
def confirms_what_is_known_by_its_places():
    """A run of more steps than a result keeps: of the race its places are known, and that is enough."""
    run(PORTENT, "run", "-q", "--record-all", "-o", "long.trace", "--", "./kinds", "long")
    write("long.json", run(PORTENT, "check", "--json", "--races", "long.trace").stdout)
    ((found,),) = (entry["findings"] for entry in read_json("long.json")["properties"])
    same("how, and its run", (found["how"], found["witness"]), ("predicted", []))
    done = run(PORTENT, "confirm", "long.json", "--", "./kinds", "long")
    same(f"exit status: {done.stderr}", done.returncode, CONFIRMED)
    contains(done.stderr, "threads wait for each other at these places", "CONFIRMED 'races' (",
             "both threads stood right before theirs")


def confirm_block(way, *parts):
    """A block of `check --atomicity`, recorded as it was disturbed; held to that, it is disturbed in a run that would not have done it."""
    run(PORTENT, "run", "-q", "--record-all", "-o", way + ".trace", "--", "./kinds", way)
    write("block.json", run(PORTENT, "check", "--json", "--atomicity", way + ".trace").stdout)
    (block,) = (entry for entry in read_json("block.json")["blocks"] if not entry["causally_atomic"])
    done = run(PORTENT, "confirm", "block.json", "-r", "after.json", "--", "./kinds", way, "hurried")
    same(f"{way}: exit status: {done.stderr}", done.returncode, CONFIRMED)
    contains(done.stderr, f"CONFIRMED '{block['name']}' ({block['id']}): in this run, too, another thread came causally between",
             *parts, "SUMMARY: portent confirm: 1 of 1 violation confirmed")
    (after,) = (entry for entry in read_json("after.json")["blocks"] if not entry["causally_atomic"])
    after.pop("met", None)
    same(f"{way}: in the result", {key: after.pop(key) for key in ("confirmed", "program_failed", "program_end")},
         {"confirmed": True, "program_failed": False, "program_end": "status 0"})
    same(f"{way}: the rest of it", after, block)
    contains(run(PORTENT, "report", "after.json").stdout, "another run disturbed it, too")
    return block


@test
def confirms_blocks():
    """By name or id as others; not where the program goes another way, or the block is not disturbed there."""
    confirm_block("disturbed", "w(balance)=50 by pay_between", "w(balance)=90 by pay_slowly", "in 1 of 1 occurrence")
    confirm_block("disturbed-locked", "acq(m) by pay_locked_between", "acq(m) by pay_locked")
    block = confirm_block("chain", "r(asked)=1 by answer_it", "r(answer)=2 by ask")
    for options, count in {("--id", block["id"]): 1, ("-p", "ask"): 1, ("-p", "other"): 0}.items():
        done = run(PORTENT, "confirm", "block.json", *options, "-q", "--", "./kinds", "chain")
        same(f"{options}: {done.stderr}", done.returncode, CONFIRMED if count else 0)
    done = run(PORTENT, "confirm", "block.json", "--timeout", "2", "-r", "after.json", "--", "./kinds", "block")
    same(f"in another run: {done.stderr}", done.returncode, NOT_REPRODUCED)
    (after,) = (entry for entry in read_json("after.json")["blocks"] if not entry["causally_atomic"])
    same("not confirmed", after["confirmed"], False)
    contains(run(PORTENT, "report", "after.json").stdout, "another run did not disturb it")


PROPERTY_KINDS = {
    "past": "property p: always !(serving == 1 && config == 0);",
    "future": "property p: always (serving == 1 -> always config == 1);",
    "ere": "property p: never [true]* [serving == 1 && config == 0];",
    "hoa": 'property p: hoa "bad.hoa" { bad = serving == 1 && config == 0; };',
}


@test
def confirms_every_kind_of_property():
    write("bad.hoa", """HOA: v1
States: 1
Start: 0
AP: 1 "bad"
acc-name: all
Acceptance: 0 t
--BODY--
State: 0
[!0] 0
--END--
""")
    for kind, text in PROPERTY_KINDS.items():
        write("kind.prop", text)
        done = run(PORTENT, "run", "--confirm", "-s", "kind.prop", "-r", "kind.json", "--", "./orders", "access")
        same(f"{kind}: {done.stderr}", done.returncode, FOUND)
        same(f"{kind}: confirmed: {done.stderr}", predicted("kind.json").get("confirmed"), True)
    write("kind.prop", "property one: race_free(*);\nproperty two at each i: race_free(counter);")
    write("kind.json", run(PORTENT, "check", "--json", "-s", "kind.prop", record("race-sync")).stdout)
    done = run(PORTENT, "confirm", "kind.json", "--", "./orders", "race-sync")
    same(f"race_free: {done.stderr}", done.returncode, CONFIRMED)
    contains(done.stderr, "CONFIRMED 'one' (", "CONFIRMED 'two' (", "2 of 2 predicted violations confirmed")
    write("kind.prop", "property blocks at each i: atomic_block(pay);")
    done = run(PORTENT, "run", "--confirm", "-s", "kind.prop", "--", "./kinds", "disturbed")
    same(f"atomic_block: {done.stderr}", done.returncode, FOUND)
    contains(done.stderr, "OBSERVED 'blocks' (", "it happened in the run itself, so there is nothing to confirm")


@test
def stands_where_it_passed_before():
    """What a program predicts as it runs is known by its places, not by how often they are passed."""
    done = run(PORTENT, "run", "--lifetimes", "--confirm", "-r", "once.json", "--", "./kinds", "again")
    same("exit status", done.returncode, FOUND)
    contains(done.stderr, "CONFIRMED 'lifetimes' (", "the use after free was observed in this run", "both threads stood")
    done = run(PORTENT, "run", "--deadlocks", "--confirm", "-r", "once.json", "--", "./kinds", "line")
    contains(done.stderr, "CONFIRMED 'deadlocks' (", "the cycle was closed")


@test
def run_says_that_nothing_was_predicted():
    done = run(PORTENT, "run", "--deadlocks", "--confirm", "--", "./kinds", "block")
    same(f"exit status: {done.stderr}", done.returncode, 0)
    contains(done.stderr, "nothing was predicted, so there is nothing to confirm")
    same("quiet", run(PORTENT, "run", "-q", "--deadlocks", "--confirm", "--", "./kinds", "block").stderr, "")


@test
def run_confirms_every_kind():
    """Also what the program itself predicts as it runs: nobody knows a run that leads there, but its places."""
    done = run(PORTENT, "run", "--races", "--deadlocks", "--lifetimes", "--confirm", "-r", "once.json", "--", "./kinds", "freed")
    same("exit status", done.returncode, FOUND)
    contains(done.stderr, "OBSERVED 'races' (", "it happened in the run itself, so there is nothing to confirm", "CONFIRMED 'lifetimes' (",
             "the use after free was observed in this run", "SUMMARY: portent confirm: 1 of 1 predicted violation confirmed")
    done = run(PORTENT, "run", "--deadlocks", "--confirm", "-r", "once.json", "--", "./kinds", "cycle")
    same("exit status", done.returncode, FOUND)
    ((found,),) = (entry["findings"] for entry in read_json("once.json")["properties"])
    same("confirmed", (found["confirmed"], len(found["seen"]), found["met"]), (True, 3, []))
    contains(done.stderr, "CONFIRMED 'deadlocks' (", "the cycle was closed")
    write("each.prop", "property soon within 2 events: always eventually total == 100;\nproperty here at lock_mn: total == 100;")
    done = run(PORTENT, "run", "--confirm", "-s", "each.prop", "--", "./kinds", "cycle")
    contains(done.stderr, "NOT CONFIRMED 'soon' (", "it is about the observed run alone", "OBSERVED 'here' (",
             "it happened in the run itself, so there is nothing to confirm")


@test
def leaves_out_what_is_too_much():
    write("two.prop", "property one: always !(x == 1 && y == 11 && z == 0);\nproperty two: always !(y == 11 && z == 0 && x == 1);")
    run(PORTENT, "run", "-q", "-s", "two.prop", "-r", "two.json", "--", "./ways", "first")
    done = confirm("two.json", "first", "--limit", "1")
    contains(done.stderr, "CONFIRMED 'one' (", "NOT CONFIRMED 'two' (", "so many were tried already",
             "1 of 1 predicted violation confirmed; 1 was left out")


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


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as file:
        return [int(child) for child in file.read().split()]


@test
def leaves_nothing_behind_when_killed():
    """The program was only started for this, and would go on for minutes."""
    with start("slow") as process:
        left = children(process.pid)
        same("its guard and the program", len(left), 2)
        process.kill()
        process.communicate(timeout=60)
    for pid in left:
        for _ in range(600):
            if not os.path.exists(f"/proc/{pid}") or state_of(pid) == "Z":
                break
            time.sleep(0.1)
        else:
            raise Failure(f"process {pid} is left")


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


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
    contains(done.stderr, "it happened in the run itself, so there is nothing to confirm")


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        keep_pace(folder)
        compile_program(os.path.join(HERE, "confirm", "ways.c"), "ways")
        for name in ("orders", "checks", "kinds"):
            compile_program(os.path.join(HERE, "confirm", name + ".c"), name)
        status = SUITE.run(sys.argv[2:])
        os.chdir(ROOT)
    return status


if __name__ == "__main__":
    sys.exit(main())
