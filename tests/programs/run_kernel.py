#!/usr/bin/env python3
"""Tests of the order that the kernel makes between threads, and of pauses: run_kernel.py PORTENT [NAME...]

kernel/hand.c hands data over in each way that there is, and in some in which nothing is handed over. Where it is, a property that could
only be violated in another order must hold, and a full recording must have no race; where it is not, both must be found. The last line
is `kernel: N passed, M failed`.
"""
import os
import re
import sys

from suite import Suite, in_folder, run, same, true, write

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernel")
PORTENT = ""
SUITE = Suite("kernel")
test = SUITE.test
FOUND = 66
HANDED = "property handed: taken == 1 -> given == 1;"


def build(name, *options):
    done = run(PORTENT, "cc", "-g", "-O1", "-pthread", *options, os.path.join(HERE, name + ".c"), "-o", name)
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)


def ways(sort):
    """The ways of hand.c that are of this sort."""
    listed = run("./hand")
    same("exit status of the list", listed.returncode, 0)
    found = [line.split()[1] for line in listed.stdout.splitlines() if line.split()[0] == sort]
    true(f"there are ways that are {sort}", found)
    return found


def clean():
    for name in ("fifo", "socket", "datagrams", "file"):
        if os.path.exists(name):
            os.unlink(name)


def predicted(way):
    """The status of a run that looks at the property."""
    clean()
    write("p.prop", HANDED)
    return run(PORTENT, "run", "-q", "-s", "p.prop", "--", "./hand", way).returncode


def recorded(way):
    """Whether a full recording of a run in which the data is looked at has a race; and the lines of the recording."""
    clean()
    done = run(PORTENT, "run", "-q", "--record-all", "-o", "t.trace", "--", "./hand", way, "read")
    true(f"{way}: it was recorded: {done.stderr}", os.path.exists("t.trace"))
    checked = run(PORTENT, "check", "-q", "--races", "t.trace")
    true(f"{way}: status of check: {checked.returncode} {checked.stderr}", checked.returncode in (0, 1))
    with open("t.trace", encoding="utf-8") as file:
        return checked.returncode == 1, file.read().splitlines()


@test
def handed():
    """Whoever takes something out comes after whoever put it in: in the clocks of relevant events."""
    build("hand")
    same("ways with a false prediction", [way for way in ways("ordered") if predicted(way) != 0], [])


@test
def handed_in_recordings():
    """The same in a full recording, where the data is looked at: the order is there, so there is no race."""
    build("hand")
    racing = []
    for way in ways("ordered"):
        racing += [way] if recorded(way)[0] else []
    same("ways with a false race", racing, [])


@test
def handed_to_the_race_engine():
    """The same while it runs. Descriptors and timers are made while main is alone; the threads of a timer are nobody's."""
    build("hand")
    wrong = {}
    for way in ways("ordered"):
        clean()
        observed = run(PORTENT, "run", "-q", "--races", "--", "./hand", way, "read")
        clean()
        alone = run("./hand", way, "read", options="races=1")
        if (observed.returncode, alone.returncode) != (0, 0):
            wrong[way] = observed.returncode, alone.returncode
    same("ways with a false race, or without an answer", wrong, {})


@test
def handed_in_static_programs():
    build("hand", "-static")
    same("ways with a false prediction", [way for way in ways("ordered") if predicted(way) != 0], [])


@test
def not_handed():
    """Another pipe, connection, direction or signal orders nothing, nor does a read that found nothing."""
    build("hand")
    for way in ways("unordered"):
        same(f"{way}: status of run", predicted(way), FOUND)
        true(f"{way}: the race is found", recorded(way)[0])


@test
def racing():
    """Two that write into one pipe do not know of each other, nor do those who get different numbers of descriptors."""
    build("hand")
    for way in ways("racing"):
        true(f"{way}: the race is found", recorded(way)[0])


@test
def names():
    """Recordings call the objects by what they are, and say where they are used."""
    build("hand")
    source = open(os.path.join(HERE, "hand.c"), encoding="utf-8").read().splitlines()
    for way, name, call in (("pipe", r"pipe \d+", "write(a[1]"), ("eventfd", r"eventfd \d+", "write(a[1]"), ("pair", r"socket \d+", "send(a[1]"),
                            ("kill", "signal 10", "kill("), ("epoll", r"eventpoll \d+", "epoll_ctl("), ("thread-timer", "timer", "timer_settime("),
                            ("text", r"pipe \d+", "fputs(")):
        lines = recorded(way)[1]
        places = [int(found[1]) for line in lines if (found := re.match(rf".*\|notify\({name}\)\|.*hand\.c:(\d+)(\||$)", line))]
        true(f"{way}: a notification of {name} where the call stands: {places}", any(call in source[place - 1] for place in places))
        if way != "thread-timer":  # its thread is met when it takes it
            true(f"{way}: somebody has waited for it", any(re.match(rf".*\|wait\({name}\)\|", line) for line in lines))


def overdrawn(*options, rounds=50):
    """How many rounds of window.c go wrong."""
    write("p.prop", "property p: balance < 1000;")
    done = run(PORTENT, "run", "-q", *options, "-s", "p.prop", "--", "./window", str(rounds))
    same(f"exit status: {done.stderr}", done.returncode, 0)
    return int(done.stdout)


@test
def delayed():
    """What needs a thread to be late between two operations happens more often with pauses: 16 seeds, 50 rounds each.

    Without them it needs the kernel to take a thread from its processor within less than a microsecond: none of the 800 rounds, even on a busy
    machine. With them 50 to 60 were seen, 20 to 40 on a busy machine."""
    build("window")
    without = sum(overdrawn() for _ in range(16))
    paused = sum(overdrawn("--delay", "--seed", str(seed)) for seed in range(1, 17))
    true(f"{paused} of 800 rounds go wrong with pauses, {without} without", paused >= 2 * without + 8)


@test
def delay_options():
    """Where the seed is said, and what is no budget."""
    build("window")
    write("p.prop", "property p: balance < 1000;")
    command = ["-s", "p.prop", "--", "./window", "1"]
    said = run(PORTENT, "run", "--delay", "--seed", "12", *command, options="verbosity=1").stderr
    true(f"the seed is said: {said}", "pauses before synchronisation, delay=5% seed=12" in said)
    chosen = re.search(r"delay=2% seed=(\d+)", run(PORTENT, "run", "--delay=2%", *command, options="verbosity=1").stderr)
    true("a seed is chosen where none is given", chosen)
    said = run(PORTENT, "run", *command, options="verbosity=1").stderr
    true("nothing is said without", "pauses" not in said)
    for wrong in ("--delay=x", "--delay=", "--delay=2000%", "--seed=x"):
        done = run(PORTENT, "run", wrong, *command)
        same(f"exit status of {wrong}: {done.stderr}", done.returncode, 2)
    done = run(PORTENT, "run", *command, options="delay=x")
    true(f"a bad value in the environment: {done.stderr}", "delay is no share of the time" in done.stderr)


def main():
    global PORTENT
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PORTENT = os.path.abspath(sys.argv[1])
    return SUITE.run(sys.argv[2:], in_folder)


if __name__ == "__main__":
    sys.exit(main())
