#!/usr/bin/env python3
"""Tests of the runtime without compiler and observer: small C programs call the hooks by hand, rt/observe.c reads the channel.

    run_rt.py BUILD_DIR [--cc CC] [-k WORD] [--scale N] [--timeout SECONDS] [--valgrind]

BUILD_DIR/lib holds the runtime. Programs are compiled into a temporary folder, once against libportent-rt.a, once against the shared
library and (order tests) once fully static, with the linker's --wrap.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile

import rt_scripts

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
# enum pt_event_kind: what the rows of core/ops.def make, in their order
FORK, JOIN, WRITE, ACQ, REL, BEGIN, END, USER, INTERNAL, ENDED, FREED = 0, 1, 4, 8, 9, 15, 16, 17, 19, 20, 24

CHAINS = ["-K", "16"]  # PT_KEEP_CHAINS

# Whether the event on b must know of the event on a.
ORDERED = {
    "flag": True, "read_write": True, "overlap": True, "straddle": True, "block": True, "good_cas": True, "mutex": True,
    "trylock": True, "timedlock": True, "clocklock": True, "recursive": True, "read_then_write_lock": True, "write_then_read_lock": True,
    "spin": True, "semaphore": True, "mtx": True, "once": True, "call_once": True, "condition": True, "condition11": True,
    "barrier": True, "fork_order": True, "disturbed": True, "join": True, "join_exit": True, "join_cancelled": True,
    "join_async_cancelled": True, "cancelled_wait": True, "cancelled_join": True, "robust": True,
    "none": False, "reads": False, "neighbours": False, "byte_neighbours": False, "failed_cas": False,
    "failed_trylock": False, "read_locks": False, "failed_semaphore": False, "detached": False, "heap_reuse": False,
}


# Not under valgrind: one uses memory after it was freed, on purpose; the other did not always end in time there.
NO_VALGRIND = ("heap_reuse", "detached")


class Run:
    """What the observer wrote, parsed."""

    def __init__(self, text):
        self.events, self.inits, self.foreign, self.watches, self.threads, self.names = [], {}, [], [], [], {}
        for line in text.splitlines():
            kind, *rest = line.split(" ")
            if kind == "E":
                clock = {int(t): int(c) for t, c in (pair.split(":") for pair in rest[6].split(",") if pair)}
                self.events.append({"number": int(rest[0]), "thread": int(rest[1]), "kind": int(rest[2]),
                                    "object": int(rest[3]), "line": int(rest[4]), "value": rest[5], "clock": clock})
            elif kind == "I":
                self.inits[int(rest[0])] = rest[1]
            elif kind == "F":
                self.foreign.append((int(rest[0]), rest[1]))
            elif kind == "W":
                self.watches.append((int(rest[0]), " ".join(rest[3:])))
            elif kind == "N":
                self.names[int(rest[0])] = " ".join(rest[1:])
            elif kind == "T":
                self.threads.append((int(rest[0]), int(rest[1]), " ".join(rest[2:])))
            elif kind == "Z":
                self.summary = dict(pair.split("=") for pair in rest)
            else:
                raise AssertionError(line)

    def number(self, name):
        return int(self.summary[name])


def causal_clocks(log, count):
    """Algorithm A on the log of rt/mix.c: for each of `count` threads, the clocks of its events. Every value is stored once, so the accesses of a
    variable are ordered by their values: a write after the one it replaces and all reads of that; a read after what it reads."""
    threads, readers, last, replaced = [[] for _ in range(count)], {}, {}, {}
    with open(log) as lines:
        for line in lines:
            thread, kind, variable, value, old = line.split()
            variable, value, old = int(variable), int(value), int(old)
            if kind == "w":
                last[variable], old = value, last.get(variable, 0)
            if kind == "r":
                readers[variable, value] = readers.get((variable, value), 0) + 1
            if kind in "uw":
                assert (variable, old) not in replaced, "two updates of one value"
                replaced[variable, old] = value
            threads[int(thread)].append((kind, variable, value, old))
    nothing = [0] * count
    at, now, events = [0] * count, [nothing] * count, [[] for _ in range(count)]
    wrote, access = {}, {}  # of (variable, value): the clock of its write, the join with those of its reads

    def step(me):
        kind, variable, value, old = threads[me][at[me]]
        if kind == "e":
            now[me] = list(now[me])
            now[me][me] += 1
            events[me].append(now[me])
            return True
        source = (variable, value if kind == "r" else old)
        if source[1] and source not in wrote or kind != "r" and readers.get(source, 0):
            return False
        taken = (wrote if kind == "r" else access).get(source, nothing)
        if taken is not nothing and taken is not now[me]:
            now[me] = list(map(max, now[me], taken))
        if kind == "r":
            readers[source] -= 1
            before = access.get(source, nothing)
            access[source] = now[me] if before is now[me] else list(map(max, now[me], before))
        else:
            wrote[variable, value] = access[variable, value] = now[me]
        return True

    while any(at[me] < len(threads[me]) for me in range(count)):
        before = list(at)
        for me in range(count):
            while at[me] < len(threads[me]) and step(me):
                at[me] += 1
        assert at != before, "the values are in no order"
    return events


class Tests:
    def __init__(self, options, folder):
        self.build, self.cc, self.word, self.folder = options.build, options.cc, options.k, folder
        self.valgrind, self.patience = options.valgrind, options.timeout
        self.failures, self.count = [], 0
        self.compile("observe", "observe", [])

    def compile(self, source, name, link, cc=None):
        command = [cc or self.cc, "-O1", "-g", "-D_GNU_SOURCE", "-I", ROOT + "/src", "-I", ROOT + "/include",
                   HERE + "/rt/" + source + ".c", "-o", os.path.join(self.folder, name), *link, "-lpthread", "-ldl"]
        subprocess.run(command, check=True)

    def link_flags(self, form):
        lib = os.path.join(self.build, "lib")
        if form == "shared":
            return ["-L" + lib, "-lportent-rt", "-Wl,-rpath," + lib]
        archive = "/libportent-rt.a" if form == "archive" else "/libportent-rt-static.a"
        flags = ["-rdynamic", "-Wl,--whole-archive", lib + archive, "-Wl,--no-whole-archive"]
        if form == "static":
            with open(lib + "/portent-rt-static.wrap") as names:
                flags += ["-static", "-DRT_STATIC"] + ["-Wl,--wrap=" + name for name in names.read().split()]
        return flags

    def offset(self, program, symbol):
        table = subprocess.run(["nm", os.path.join(self.folder, program)], check=True, capture_output=True, text=True).stdout
        for line in table.splitlines():
            if line.endswith((" B " + symbol, " D " + symbol)):  # the runtime may have a function of that name
                return int(line.split()[0], 16)
        raise AssertionError(symbol)

    def observe(self, program, arguments, watches=(), events=(), flags=()):
        command = [os.path.join(self.folder, "observe"), "-o", os.path.join(self.folder, "out"), *flags]
        for symbol, plus, size in watches:
            command += ["-w", "%x:%d" % (self.offset(program, symbol) + plus, size)]
        for event in events:
            command += ["-e", event]
        if self.valgrind:
            command += ["valgrind", "-q", "--error-exitcode=99"]
        command += [os.path.join(self.folder, program), *map(str, arguments)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
            try:
                said, _ = process.communicate(timeout=self.patience)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)  # the program too
                raise
        assert process.returncode == 0, (command, process.returncode, said)
        with open(os.path.join(self.folder, "out")) as out:
            return Run(out.read())

    def test(self, name, function, *arguments):
        if self.word and self.word not in name:
            return
        self.count += 1
        try:
            function(*arguments)
        except (AssertionError, subprocess.SubprocessError, KeyError, IndexError, StopIteration) as error:
            self.failures.append(name)
            print("FAILED %s: %s %s" % (name, type(error).__name__, error))

    # each of these is one test

    def ordered(self, program, name, expected):
        run = self.observe(program, [name], [("a", 0, 4), ("b", 0, 4)])
        assert run.summary["status"] == "0" and run.number("dropped") == 0, run.summary
        assert run.inits == {0: "00000000", 1: "00000000"}, run.inits
        a, b = next(e for e in run.events if e["object"] == 0), next(e for e in run.events if e["object"] == 1)
        assert a["value"] == b["value"] == "00000001" and len(run.events) == 2
        assert a["clock"] == {a["thread"]: 1}, a
        knows = b["clock"].get(a["thread"], 0) >= 1
        assert knows == expected, (a, b)
        assert expected or a["thread"] != b["thread"]

    def events(self, program):
        run = self.observe(program, ["event"], [], ["go", "stop"])
        assert [(e["kind"], e["object"]) for e in run.events] == [(USER, 0), (USER, 1)], run.events
        assert all(e["line"] > 0 for e in run.events), run.events

    def marks(self, program):
        """Internal events and blocks are in their thread's order, carry its clock and do not advance it."""
        run = self.observe(program, ["marks"], [("a", 0, 4), ("b", 0, 4)], flags=["-K", "1"])
        assert run.number("bad_ends") == 2 and run.number("dropped") == 0, run.summary
        told = {t: [(e["kind"], e["object"] if e["kind"] == WRITE else run.names.get(e["object"]), e["clock"].get(t, 0))
                    for e in run.events if e["thread"] == t] for t in {e["thread"] for e in run.events}}
        begin = [(BEGIN, "outer", 0), (BEGIN, "inner", 0), (WRITE, 0, 1), (END, "inner", 1), (END, "outer", 1)]
        busy = [(INTERNAL, "busy", 0), (WRITE, 1, 1), (INTERNAL, "busy", 1)]
        assert sorted(told.values()) == sorted([begin, busy]), told
        assert [e["value"] for e in run.events if e["kind"] == INTERNAL] == ["f" * 15 + "d", "0" * 15 + "4"], run.events
        silent = self.observe(program, ["marks"], [("a", 0, 4), ("b", 0, 4)])
        assert [e["kind"] for e in silent.events] == [WRITE, WRITE] and silent.number("bad_ends") == 0, silent.events

    def in_full(self, program):
        """Threads in full: with -K 10 every event counts, with -K 2 none does; the first thread alone with -T."""
        def kinds(flags):
            run = self.observe(program, ["mutex"], [("a", 0, 4), ("b", 0, 4)], flags=flags)
            assert run.number("dropped") == run.number("gaps") == 0, run.summary
            return run, {t: [e for e in run.events if e["thread"] == t] for t in {e["thread"] for e in run.events}}
        run, by_thread = kinds(["-K", "10"])
        for t, own in by_thread.items():
            counts = [e["clock"].get(t) for e in own if e["kind"] != FREED]
            assert counts == list(range(1, len(counts) + 1)), (t, counts)
        assert [e["kind"] for e in by_thread[0] if e["kind"] in (FORK, JOIN)] == [FORK, FORK, JOIN, JOIN], by_thread[0]
        assert [e["kind"] for e in run.events if e["kind"] == ENDED] == [ENDED] * 2, run.events
        locks = [e["kind"] for e in run.events if e["kind"] in (ACQ, REL)]
        assert locks and locks.count(ACQ) == locks.count(REL), locks
        run, by_thread = kinds(["-K", "2"])
        assert len(by_thread) > 1 and not any(e["clock"] for e in run.events), run.events
        run, by_thread = kinds(["-K", "12", "-T"])
        assert {e["kind"] for t, own in by_thread.items() if t for e in own} <= {WRITE, FREED}, by_thread
        assert {FORK, JOIN} <= {e["kind"] for e in by_thread[0]}, by_thread[0]

    def violation(self, mode, expected, status=0, options=""):
        done = subprocess.run([os.path.join(self.folder, "observe"), "-o", os.path.join(self.folder, "out"),
                               os.path.join(self.folder, "violation"), mode], capture_output=True, text=True, timeout=self.patience,
                              env=dict(os.environ, PT_OBSERVE_OPTIONS=options))
        assert done.stdout.splitlines() == expected, done
        with open(os.path.join(self.folder, "out")) as out:
            assert Run(out.read()).number("status") == status, done

    def options(self, program):
        """Without an observer the runtime reads PORTENT_OPTIONS itself."""
        def run_with(text):
            done = subprocess.run([os.path.join(self.folder, program), "mutex"], timeout=self.patience, capture_output=True, text=True,
                                  env=dict(os.environ, PORTENT_OPTIONS=text))
            assert done.returncode == 0, done
            return done.stderr
        assert run_with("") == "" and run_with("halt_on_error=1 color=never") == ""
        assert run_with("halt_on_eror=1:color=blue") == \
            "portent: PORTENT_OPTIONS: no option 'halt_on_eror', bad value in 'color=blue' (help=1 lists them)\n"
        assert run_with("foo=1 verbosity=-1") == ""
        listed = run_with("help=1")
        for name in ("help", "halt_on_error", "exitcode", "log_path", "verbosity", "color"):
            assert "\n  %s=" % name in "\n" + listed, listed
        assert "counted_before" not in listed, listed  # for tests
        path = os.path.join(self.folder, "log")
        assert run_with("verbosity=1:log_path=" + path) == ""
        (log,) = [name for name in os.listdir(self.folder) if name.startswith("log.")]
        pid = log.split(".")[1]
        with open(os.path.join(self.folder, log)) as file:
            assert file.read() == "portent: process %s has Portent's runtime, and nobody observes it\n" % pid
        os.remove(os.path.join(self.folder, log))

    def adjacent(self, program):
        run = self.observe(program, ["adjacent_watched"], [("pair", 0, 4), ("pair", 4, 4)])
        assert sorted(len(e["clock"]) for e in run.events) == [1, 1], run.events

    def foreign(self, program):
        run = self.observe(program, ["foreign"], [("a", 0, 4)])
        assert run.number("foreign") == 1 and run.foreign == [(0, "00000006")], run.foreign
        assert run.events[0]["line"] > 0

    def watch(self, program):
        run = self.observe(program, ["watch"], [("a", 0, 4)])
        assert run.watches == [(1, "balance"), (2, "balance#2"), (3, "other")], run.watches
        assert [(e["object"], e["value"]) for e in run.events] == [(1, "00000032"), (2, "00000033"), (3, "00000003")], run.events

    def plugin(self, program):
        library = os.path.join(self.folder, "plugin.so")
        self.compile("plugin", "plugin.so", ["-shared", "-fPIC"])
        flags = ["-w", "%x:4" % self.offset(program, "a"), "-m", library, "-w", "%x:4" % self.offset("plugin.so", "inside")]
        for more in ([], CHAINS):  # silence does not last where a variable comes later
            run = self.observe(program, ["plugin", library], flags=flags + more)
            assert run.summary["status"] == "0", run.summary
            assert run.inits == {0: "00000000", 1: "00000004"}, run.inits
            assert [(e["object"], e["value"]) for e in run.events] == [(1, "00000009")], run.events

    def names(self, program):
        run = self.observe(program, ["names"], [("a", 0, 4)])
        assert (0, 0, "boss") in run.threads, run.threads

    def exact(self, mode, size, offset, count):
        run = self.observe("exact", [mode, size, offset, count], [("x", offset, size), ("seen1", 0, 8), ("seen2", 0, 8)],
                           flags=["-x", "-q"])
        assert run.summary["status"] == "0" and run.number("wrong") == run.number("gaps") == 0, run.summary
        assert run.number("dropped") == run.number("foreign") == 0 and run.number("events") >= count, run.summary

    def mix(self, threads, generations, variables, operations, every, seldom, apart=0):
        """What each event knows of is exactly what the values of all accesses say (rt/mix.c), nothing less and nothing more."""
        log = os.path.join(self.folder, "log")
        run = self.observe("mix", [threads, generations, variables, operations, every, seldom, log, apart],
                           [("own", 64 * i, 8) for i in range(threads)])
        assert run.summary["status"] == "0" and run.number("dropped") == run.number("foreign") == 0, run.summary
        expected = causal_clocks(log, threads)
        line = {e["thread"]: e["object"] for e in run.events}
        assert len(line) == threads * generations and len(run.events) == threads * (operations // every), run.summary
        seen = [0] * threads
        for event in run.events:
            me, clock = event["object"], [0] * threads
            for thread, count in event["clock"].items():
                clock[line[thread]] += count
            assert clock == expected[me][seen[me]], (me, seen[me], clock, expected[me][seen[me]])
            seen[me] += 1

    def script(self, make, *arguments):
        """Operations one after the other: each event knows what algorithm A says (rt_scripts.py)."""
        operations = make(*arguments)
        path = os.path.join(self.folder, "script-to-do")
        with open(path, "w") as file:
            file.writelines("%d %s %d %d %d\n" % operation for operation in operations)
        run = self.observe("script", [path], events=["e"], flags=["-R", "128"])
        assert run.summary["status"] == "0" and run.number("dropped") == 0, run.summary
        expected = rt_scripts.simulate(operations)
        found = [(e["thread"], e["clock"]) for e in run.events]
        for i, (event, wanted) in enumerate(zip(found, expected)):
            assert event == wanted, (i, event, wanted)
        assert len(found) == len(expected), (len(found), len(expected))

    def follow(self, run, objects):
        """Each event of a variable knows all of them before it."""
        last = {}
        for event in run.events:
            before = last.get(event["object"], {})
            assert event["object"] not in objects or all(event["clock"].get(t, 0) >= n for t, n in before.items()), (before, event)
            last[event["object"]] = event["clock"]

    def chained(self, seed, operations):
        """Where each property is about one variable, an event knows those of the same variable, and nothing that it should not."""
        script = rt_scripts.chained_at_random(seed, operations)
        path = os.path.join(self.folder, "script-to-do")
        with open(path, "w") as file:
            file.writelines("%d %s %d %d %d\n" % operation for operation in script)
        watches = [("array", low, high - low) for low, high in rt_scripts.CHAINED]
        run = self.observe("script", [path], watches, flags=["-R", "128", *CHAINS])
        assert run.summary["status"] == "0" and run.number("dropped") == 0, run.summary
        expected = rt_scripts.simulate(script, rt_scripts.CHAINED)
        assert [e["thread"] for e in run.events] == [t for t, _ in expected], (len(run.events), len(expected))
        self.follow(run, (0, 1))
        for event, (thread, clock) in zip(run.events, expected):
            assert event["clock"][thread] == clock[thread], (event, clock)
            assert all(n <= clock.get(t, 0) for t, n in event["clock"].items()), (event, clock)

    def chained_life(self, name, count, watches):
        """With threads that truly run at once, handlers, faults and forks."""
        run = self.observe("life", [name, count], watches, flags=["-R", "128", *CHAINS])
        assert run.summary["status"] == "0", run.summary
        self.chain(run, len([e for e in run.events if e["object"] == 0]))
        self.follow(run, range(len(watches)))
        assert len(run.events) >= count, run.summary

    def rings(self, mode, count):
        """The program looks at its own memory; numbers that cannot be had in constant time would take hours."""
        run = self.observe("rings", [mode, count], events=["e"], flags=["-q"])
        assert run.summary["status"] == "0" and run.number("dropped") == 0, run.summary

    def chain(self, run, total):
        """Every update of a is there, each one more than the one before."""
        values = [int(e["value"], 16) for e in run.events if e["object"] == 0]
        assert values == list(range(1, total + 1)), (len(values), total)
        assert run.number("dropped") == run.number("gaps") == 0, run.summary

    def storm(self):
        run = self.observe("life", ["storm", 100000], [("a", 0, 4), ("b", 0, 4)])
        assert run.summary["status"] == "0", run.summary
        self.chain(run, len([e for e in run.events if e["object"] == 0]))
        assert len(run.events) > 400000, run.summary

    def life(self, name, count, total, status="0", flags=()):
        run = self.observe("life", [name, count], [("a", 0, 4)], flags=flags)
        assert run.summary["status"] == status, run.summary
        self.chain(run, total)
        return run

    def fault_silent(self):
        """A copy that its handler lets another thread's event overtake is told as lost; else nothing is."""
        self.life("fault_silent", 0, 1)
        self.life("fault_silent", 1, 2)
        run = self.observe("life", ["fault_silent", 1, "copies"], [("a", 0, 4)])
        assert run.summary["status"] == "0" and run.number("dropped") == 1, run.summary

    def lives(self, program, arguments, threads=None, status="0"):
        """Every event of rt/lives.c is there, in the right thread: `threads` has how many each of them makes."""
        run = self.observe(program, arguments, [("a", 0, 4)])
        if run.summary["status"] == "77":
            print("skipped: lives %s: real-time priorities are not permitted here" % arguments[0])
            return
        assert run.summary["status"] == status, run.summary
        self.chain(run, len(run.events))
        made = {t: len([e for e in run.events if e["thread"] == t]) for t in {e["thread"] for e in run.events}}
        assert threads is None or made == threads, made
        return run

    def short_threads(self, program, count):
        """Handlers that run before a thread has begun, or while it ends, are no threads of their own."""
        run = self.lives(program, ["short_threads", count])
        assert {t for t, _, _ in run.threads} == set(range(count + 2)), run.threads

    def early_handler(self, program, count):
        """A handler that runs before its thread has begun, by the thread's own mask: its event is there, and comes before those of the
        thread; that it is not known to be of that thread counts as lost."""
        run = self.observe(program, ["early_handler", count], [("a", 0, 4)])
        assert run.summary["status"] == "0" and run.number("dropped") == count, run.summary
        assert [int(e["value"], 16) for e in run.events] == list(range(1, 2 * count + 1)), run.events
        assert len({e["thread"] for e in run.events}) == 2 * count, run.events

    def killed(self):
        run = self.observe("life", ["forever"], [("a", 0, 4)], flags=["-k", "100000"])
        assert run.summary["status"] == "1009" and run.number("next") > 100000, run.summary
        # at most the event that was being written is missing
        assert run.number("events") >= run.number("next") - 2 and run.number("gaps") == 0, run.summary

    def threads(self, name):
        run = self.life(name, 200, 600, flags=["-R", "8"])
        assert len({t for t, _, _ in run.threads}) == 201, len(run.threads)
        assert run.number("rings") <= 8
        last = run.events[-1]["clock"]
        assert len(last) >= 199, last  # updates of one variable are all in order

    def full(self, drop):
        flags = ["-r", "4096", "-s"] + (["-d"] if drop else [])
        run = self.observe("life", ["count", 20000], [("a", 0, 4)], flags=flags)
        assert run.summary["status"] == "0", run.summary
        if drop:
            assert run.number("dropped") > 0, run.summary
            assert run.number("dropped") + run.number("events") == 20000, run.summary
            assert run.number("next") == run.number("events") + 1 and run.number("gaps") == 0, run.summary
        else:
            self.chain(run, 20000)

    def rate(self):
        run = self.observe("life", ["rate", 2000000], [("a", 0, 4), ("b", 0, 4)], flags=["-q"])
        assert run.number("events") == 4000000 and run.number("dropped") == 0, run.summary
        print("rate: %.2f M relevant events/s from 2 threads" % (4 / float(run.summary["seconds"])))

    def plain(self, program):
        for arguments in (["mutex"], ["condition"], ["watch"]):
            done = subprocess.run([os.path.join(self.folder, program), *arguments], timeout=self.patience)
            assert done.returncode == 0, done
        for bad in ("99", "x", "0"):
            done = subprocess.run([os.path.join(self.folder, program), "mutex"], timeout=self.patience, stdin=subprocess.DEVNULL,
                                  env=dict(os.environ, PORTENT_CHANNEL=bad))
            assert done.returncode == 0, done

    def run_all(self, scale):
        for form in ("archive", "shared") if self.valgrind else ("archive", "shared", "static"):
            program = "order-" + form
            self.compile("order", program, self.link_flags(form))
            for name, expected in ORDERED.items():
                if self.valgrind and name in NO_VALGRIND:
                    continue
                self.test("order %s %s" % (form, name), self.ordered, program, name, expected)
            for name in ("events", "marks", "in_full", "options", "adjacent", "foreign", "watch", "names", "plain"):
                self.test("%s %s" % (name, form), getattr(self, name), program)
            if form != "static":
                self.test("plugin " + form, self.plugin, program)
        if self.valgrind:
            return  # the rest is made of millions of accesses, or of crashes
        for cc, library in (("gcc", "libgomp"), ("clang", "libomp")):
            program = "openmp-" + library
            try:
                self.compile("openmp", program, ["-fopenmp", *self.link_flags("archive")], cc)
            except (OSError, subprocess.SubprocessError):
                print("skipped: no %s with %s here" % (cc, library))
                continue
            for name, expected in (("critical", True), ("named", True), ("barrier", True), ("region", True), ("none", False)):
                self.test("openmp %s %s" % (library, name), self.ordered, program, name, expected)
        self.compile("violation", "violation", self.link_flags("archive"))
        inside = ["still inside", "first p", "second p", "first q", "second q", "end"]
        self.test("violation inside", self.violation, "inside", inside)
        self.test("violation again", self.violation, "again", inside)
        self.test("violation leave", self.violation, "leave", ["first p", "first q", "end"])
        self.test("violation exitcode", self.violation, "inside", inside, 0, "exitcode=0")
        self.test("violation halt", self.violation, "inside", [], 5, "halt_on_error=1:exitcode=5")
        self.compile("exact", "exact", self.link_flags("archive"))
        self.compile("life", "life", self.link_flags("archive"))
        for mode, size, offset in (("plain", 8, 0), ("plain", 4, 4), ("plain", 2, 2), ("plain", 1, 3), ("plain", 4, 1),
                                   ("plain", 8, 5), ("plain", 2, 7), ("atomic", 8, 0), ("atomic", 4, 0), ("atomic", 2, 6),
                                   ("atomic", 1, 1), ("range", 8, 0), ("range", 8, 3), ("range", 4, 6)):
            self.test("exact %s %d+%d" % (mode, size, offset), self.exact, mode, size, offset, scale)
        self.compile("script", "script", self.link_flags("archive"))
        for name, make, *arguments in rt_scripts.scenarios():
            self.test("script " + name, self.script, make, *arguments)
        for seed in range(max(scale // 20000, 6)):
            self.test("chained %d" % seed, self.chained, seed, 1000)
        for name, count in (("storm", 50000), ("fault", 1000), ("fault_silent", 1), ("fork", 1000), ("many", 200), ("count", 20000)):
            for watches in ([("a", 0, 4)], [("a", 0, 4), ("b", 0, 4)]):
                self.test("chained %s, %d" % (name, len(watches)), self.chained_life, name, count, watches)
        self.compile("rings", "rings", self.link_flags("archive"))
        for mode, count in (("generations", 800), ("alive", 1200000), ("long", 400000)):
            self.test("rings " + mode, self.rings, mode, count)
        self.compile("mix", "mix", self.link_flags("archive"))
        for shape in ((3, 1, 6, 10, 8), (3, 1, 60, 10, 8), (3, 1, 60, 100, 8), (3, 1, 3000, 50, 8),
                      (2, 1, 1, 2, 30), (3, 1, 6, 2, 1000), (8, 1, 3, 2, 200), (3, 100, 60, 5, 20), (12, 20, 30, 3, 50)):
            threads, generations, variables, every, seldom = shape
            operations = max(scale // (10 if seldom == 8 else 20), 1000) * 3 // threads
            self.test("mix %d x %d, %d %d %d" % shape, self.mix, threads, generations, variables, operations, every, seldom)
        # most of its memory is one thread's alone, and its pages change hands now and then (shadow/kept.h)
        for shape in ((3, 1, 3000, 7, 3, 400), (3, 5, 3000, 7, 3, 2000), (2, 1, 6000, 3, 2, 1000), (4, 1, 1200, 20, 8, 100)):
            threads, generations, variables, every, seldom, apart = shape
            operations = max(scale // 5, 1000) * 3 // threads
            self.test("mix %d x %d, %d %d %d, %d apart" % shape, self.mix, threads, generations, variables, operations, every, seldom, apart)
        for form in ("archive", "shared", "static"):
            program = "lives-" + form
            less = 1 if form == "archive" else 5  # the same code, linked otherwise
            self.compile("lives", program, self.link_flags(form))
            for name, arguments, threads in (
                    ("destructors", ["destructors"], {1: 240, 2: 4, 3: 10}), ("end", ["end", "normal"], {0: 4}),
                    ("quick_exit", ["end", "quick"], {0: 2}), ("_exit", ["end", "at_once"], {0: 1}),
                    ("end last", ["end", "last"], {0: 1, 1: 4}), ("alternate_stack", ["alternate_stack", 1000 // less], None),
                    ("stack_overflow", ["stack_overflow", 200 // less], None), ("faults_and_timer", ["faults_and_timer", 50 // less], None),
                    ("one_shot", ["one_shot", 1000 // less], None), ("cancelled", ["cancelled", 150 // less], None),
                    ("priorities", ["priorities", 1000 // less], None)):
                self.test("lives %s %s" % (form, name), self.lives, program, arguments, threads)
            self.test("lives %s short_threads" % form, self.short_threads, program, 100 // less)
            self.test("lives %s early_handler" % form, self.early_handler, program, 20 // less)
        self.test("storm", self.storm)
        self.test("fault", self.life, "fault", 1000, 1000)
        self.test("fault_kept", self.life, "fault_kept", 2000, 4001)
        self.test("fault_silent", self.fault_silent)
        self.test("fork", self.life, "fork", 1000, 2000)
        self.test("many", self.threads, "many")
        self.test("many_detached", self.threads, "many_detached")
        self.test("exit", self.life, "exit", 5000, 5000, "7")
        self.test("abort", self.life, "abort", 5000, 5000, "1006")
        self.test("exec", self.life, "exec", 1000, 1000)
        self.test("killed", self.killed)
        self.test("full block", self.full, False)
        self.test("full drop", self.full, True)
        self.test("rate", self.rate)


def main():
    parser = argparse.ArgumentParser(description="tests of the runtime")
    parser.add_argument("build")
    parser.add_argument("--cc", default=os.environ.get("CC", "cc"))
    parser.add_argument("-k", metavar="WORD", help="only tests whose name contains it")
    parser.add_argument("--scale", type=int, default=1000000, help="accesses per thread in the exactness tests")
    parser.add_argument("--timeout", type=int, default=600, metavar="SECONDS", help="for one program")
    parser.add_argument("--valgrind", action="store_true", help="run the small programs under valgrind, which cannot follow static ones")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    with tempfile.TemporaryDirectory() as folder:
        tests = Tests(options, folder)
        tests.run_all(options.scale)
    print("rt: %d passed, %d failed" % (tests.count - len(tests.failures), len(tests.failures)))
    return 1 if tests.failures or not tests.count else 0


if __name__ == "__main__":
    sys.exit(main())
