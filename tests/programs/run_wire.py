#!/usr/bin/env python3
"""Tests of the event stream of running programs: run_wire.py BUILD_DIR [NAME...]

The program is wire/work.c, linked with the runtime; the reader is wire_stream.py, which shares no code with Portent. Programs
are slow and machines busy: tests wait for what must come, and never for a time. Where the time that a reader takes is what is tested,
its time stamps say whether it was as intended (unread). The last line is `wire: N passed, M failed`.
"""
import contextlib
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import time

from suite import Failure, Suite, same, short_folder, true
from wire_stream import Stream, dial

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = FOLDER = ""
RUNTIME = []  # what links the runtime
SUITE = Suite("wire")
test = SUITE.test
STARTED = []


def build(source, name, *flags):
    subprocess.run(["gcc", "-g", "-O1", "-D_GNU_SOURCE", "-I", ROOT + "/include", "-I", ROOT + "/src", source, "-o",
                    os.path.join(FOLDER, name), *flags, "-lpthread"], check=True)


class Program:
    """A program under way, which begins its work when told."""

    def __init__(self, mode, count=0, address=None, options="", name="work"):
        self.address = address or "unix:" + os.path.join(FOLDER, "s")
        environment = {**os.environ, "PORTENT_OPTIONS": f"events={self.address}:{options}"}
        self.process = subprocess.Popen([os.path.join(FOLDER, name), mode, str(count)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        STARTED.append(self.process)
        same("first line", self.process.stdout.readline(), "ready\n")

    def connect(self):
        """A reader that has got its snapshot: from here on it is told everything."""
        return Stream(self.address).read(until=lambda stream: stream.clocks)

    def go(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def come_to_rest(self, count):
        """Waits until it has so many threads and all of them sleep, as the kernel says, and none has run between two looks. The sender
        sleeps too as long as nobody is connected."""
        before, limit = None, time.monotonic() + 300
        while time.monotonic() < limit:
            now = sorted(self.look())
            if now == before and len(now) == count and all(state == "S" for _, state, _ in now):
                return
            before = now
            time.sleep(0.001)
        raise Failure(f"the program does not come to rest: {before}")

    def look(self):
        """(thread, state, how often it has gone to sleep) of each."""
        folder = f"/proc/{self.process.pid}/task"
        for thread in os.listdir(folder):
            with open(f"{folder}/{thread}/status", encoding="utf-8") as file:
                fields = dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)
            yield thread, fields["State"][0], fields["voluntary_ctxt_switches"]

    def end(self, status=0):
        out, err = self.process.communicate(timeout=300)
        same("exit status", self.process.returncode, status)
        return out, err


def alone(function):
    """A test whose programs do not outlive it, whatever becomes of it: the next one needs their address."""
    try:
        function()
    finally:
        while STARTED:
            process = STARTED.pop()
            process.kill()
            process.wait()


def watch(mode, count=0, **more):
    """The whole stream of a run that one good reader sees."""
    program = Program(mode, count, **more)
    stream = program.connect()
    program.go()
    stream.read()
    program.end()
    return stream


def sums(stream):
    """Every number was received or reported lost."""
    same("received and lost", stream.received + stream.lost_count(), stream.expected - stream.hello["number"])


def short(event):
    return f"{event[1]} {event[2]}({event[3]})" + ("" if event[4] is None else f"={event[4]}")


@test
def tour_of_all_events():
    stream = watch("tour")
    sums(stream)
    true("the end was told", stream.bye)
    same("lost", stream.lost, [])
    same("program", os.path.basename(stream.hello["program"]), "work")
    ours = [short(event) for event in stream.events]
    for thread, expected in {
        "worker": "start(0) acq(lock_a) rel(lock_a) state(blocked: condition) state(running) wait(condition) acq(lock_a) "
                  "rel(lock_a) sync(barrier) state(blocked: barrier) state(running) sync(barrier)",
        "main": "fork(worker) state(blocked: sleep) state(running) acq(lock_a) notify(condition) rel(lock_a) sync(barrier) "
                "state(blocked: barrier) state(running) sync(barrier) state(blocked: sleep) state(running) acq(lock_a) "
                "sync(semaphore) state(blocked: sleep) state(running) rel(lock_a)",
    }.items():
        # state(blocked: barrier) is a comma-free word with a space; split where a new op begins
        wanted = [f"{thread} {word}" for word in expected.replace("blocked: ", "blocked:_").split()]
        # a file that is closed is an event as well: its number may be used again
        found = [event for event in ours if event.startswith(thread + " ") and " notify(0x" not in event]
        same(thread, [event.replace("blocked: ", "blocked:_") for event in found[:len(wanted)]], wanted)
    tail = [event for event in ours if event.startswith("captain ")]
    same("after the new name", tail, ["captain event(<script>)", "captain state(ready)", "captain state(running)"])
    for event in ("main racq(rwlock)", "main rrel(rwlock)", "main acq(rwlock)", "main rel(rwlock)", "main acq(mutex11)",
                  "main rel(mutex11)", "main begin(transfer)", "main int(busy)=-3", "main finish(transfer)", "main join(worker)",
                  "worker end(0)", "worker event(in)", "worker state(blocked: semaphore)"):
        true(event, event in ours)


@test
def places_of_annotations():
    stream = watch("tour")
    true("places", any(place.endswith("/wire/work.c:" + str(line)) for place in stream.sites.values()
                       for line, text in enumerate(open(HERE + "/wire/work.c", encoding="utf-8"), 1) if '"<script>"' in text))


@test
def contended_names_the_owner():
    stream = watch("tour")
    contended = stream.all("contended")
    same("contended", [short(event) for event in contended], ["worker contended(lock_a)"])
    same("owner", contended[0][5], 0)
    at = stream.events.index(contended[0])
    same("then", [short(event) for event in stream.events[at + 1:] if event[1] == "worker"][:3],
         ["worker state(blocked: lock)", "worker state(running)", "worker acq(lock_a)"])
    numbers = {short(event): event[0] for event in stream.events[at:]}
    true("taken after it was given up", numbers["worker acq(lock_a)"] > numbers["main rel(lock_a)"])


@test
def order_is_exact_under_a_lock():
    stream = watch("locks", 3000)
    sums(stream)
    same("lost", stream.lost, [])
    holder, values = None, []
    for event in stream.events:
        if event[2] == "acq":
            same("holder", holder, None)
            holder = event[1]
        elif event[2] == "rel":
            same("holder", holder, event[1])
            holder = None
        elif event[2] == "int":
            same("holder", holder, event[1])
            values.append(event[4])
    same("values", values, list(range(1, 6001)))
    same("threads", {event[1] for event in stream.events}, {"main", "locker", "locker#2"})


# A reader that takes nothing for a second, or not all in five, is not told the end (runtime/transport_serve.c).
PATIENCE, PATIENCE_IN_ALL = 1, 5


def end_unread(program, pause):
    """Everything that a reader is told who begins to read when the program is done, and after a pause; whether it read quickly
    enough to be told the end."""
    stream = program.connect()
    stream.keep = False
    begun = time.monotonic()
    program.go()
    line = program.process.stdout.readline()  # it does not wait for us
    true("done " + line, line.startswith("done"))
    time.sleep(pause)
    stream.arrivals = [begun + float(line.split()[1])]  # it was not done before
    stream.read()
    program.end()
    sums(stream)
    times = stream.arrivals
    longest = max(after - before for before, after in zip(times, times[1:]))
    return stream, longest < PATIENCE and times[-1] - times[0] < PATIENCE_IN_ALL


def unread(count, pause):
    """A flood that is not read before its end. A run counts in which the reader was as quick as it must be, by its own clock: then
    it is told the end. Where the machine held it up, there is another run."""
    for _ in range(5):
        stream, in_time = end_unread(Program("flood", count), pause)
        if in_time:
            true("the end was told", stream.bye)
            return stream
        print(f"flood {count}: the reader was held up")
    raise Failure("the machine was too slow: the reader was held up in each of 5 runs")


@test
def slow_reader_loses_and_the_sum_is_exact():
    stream = unread(1500000, 0)
    true("something was lost", stream.lost)
    # 2 threads: fork, start, end, join, and the state around the join
    same("sum", stream.expected - stream.hello["number"], 2 * 1500000 + 12)


@test
def stopped_reader_stops_nobody():
    program = Program("flood", 1000000)
    reader = subprocess.Popen([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); from wire_stream import *\n"
                               "s = Stream(sys.argv[2]); s.keep = False; s.read(until=lambda x: x.clocks)\n"
                               "print('on', flush=True); s.read()\n"
                               "print(s.expected - s.hello['number'] == s.received + s.lost_count(), len(s.lost) > 0)",
                               HERE, program.address], stdout=subprocess.PIPE, text=True)
    same("reader", reader.stdout.readline(), "on\n")
    reader.send_signal(signal.SIGSTOP)
    program.go()
    out, _ = program.end()
    true("done", out.startswith("done"))
    reader.send_signal(signal.SIGCONT)
    # what was queued when the program ended is still there; the stream is cut off after it
    same("sum", reader.communicate(timeout=300)[0].split()[0], "True")


@test
def reader_held_up_at_the_end():
    """One that takes nothing for half a second gets the rest all the same."""
    unread(30000, 0.5)


@test
def fast_and_dead_readers_side_by_side():
    program = Program("halves", 150)
    dead = program.connect()
    fast = [program.connect() for _ in range(3)]
    program.go()
    dead.socket.close()
    for stream in fast:
        stream.read(until=lambda s: len(s.all("event")) >= 150)
    late = program.connect()
    program.go()
    for stream in fast + [late]:
        stream.read()
        sums(stream)
        same("lost", stream.lost, [])
        true("the end was told", stream.bye)
    program.end()
    for stream in fast:
        same("beats", len(stream.all("event")), 300)
    same("the late one has the rest", len(late.all("event")), 150)
    same("same events", [event[:5] for event in late.events], [event[:5] for event in fast[0].events][-len(late.events):])
    true("its snapshot knows main", any(event[1] == "main" and event[2] == "state" for event in late.snapshot))


@test
def blocked_before_anybody_came():
    program = Program("waiting")
    program.go()
    program.come_to_rest(4)
    stream = program.connect()
    states = {event[1]: event for event in stream.snapshot if event[2] == "state"}
    same("states", {thread: event[3] for thread, event in states.items()},
         {"main": "blocked: join", "waiter": "blocked: condition", "poster": "running"})
    same("what for", stream.text(3, states["waiter"][5]), "condition")
    program.go()
    stream.read()
    program.end()
    sums(stream)
    same("and on", [event[3] for event in stream.all("state") if event[1] == "waiter"][:1], ["running"])


@test
def waited_for_before_it_began():
    """A thread has its name, whoever mentions it before it has said anything itself."""
    build(HERE + "/wire/late.c", "late.so", "-shared", "-fPIC")
    build(HERE + "/wire/work.c", "late", *RUNTIME, "-Wl,--no-as-needed", os.path.join(FOLDER, "late.so"))
    for comes in "creating", "created":
        program = Program("late", name="late")
        program.go()
        same("it stops", program.process.stdout.readline(), "creating\n")
        stream = program.connect() if comes == "creating" else None
        program.go()
        same("it goes on", program.process.stdout.readline(), "created\n")
        if stream:
            stream.read(until=lambda s: any(event[3] == "blocked: join" for event in s.all("state")))
        while not stream or not any(event[3] == "blocked: join" for event in stream.snapshot + stream.events):
            stream = program.connect()
        same(comes, stream.text(0, [event for event in stream.snapshot + stream.events if event[3] == "blocked: join"][0][5]), "latecomer")
        program.go()
        stream.read()
        program.end()
        sums(stream)
        same(comes, [event[1] for event in stream.events if event[2] in ("start", "event", "end")][:3], ["latecomer"] * 3)


@test
def numbered_as_they_were_started():
    """Threads of one function that were there before anybody came."""
    program = Program("crowd", 40)
    program.go()
    same("they are there", program.process.stdout.readline(), "created\n")
    stream = program.connect()
    program.go()
    stream.read()
    program.end()
    sums(stream)
    same("names", sorted((event[4], event[1]) for event in stream.all("int")),
         [(1, "sleeper")] + [(i, f"sleeper#{i}") for i in range(2, 41)])


@test
def readers_that_misbehave():
    program = Program("halves", 300)
    good = program.connect()
    program.go()
    talker = dial(program.address)
    for _ in range(50):
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            talker.send(b"GET / HTTP/1.1\r\n" * 100, socket.MSG_DONTWAIT)
    half = dial(program.address)
    half.recv(13)  # gone in the middle of a frame
    half.close()
    for _ in range(1000):
        dial(program.address).close()
    shut = Stream(program.address)
    shut.socket.shutdown(socket.SHUT_WR)  # it only listens
    shut.read(until=lambda stream: stream.clocks)
    program.go()
    shut.read(until=lambda stream: len(stream.all("event")) >= 5)
    good.read()
    program.end()
    sums(good)
    same("beats", len(good.all("event")), 600)


@test
def many_readers_at_once():
    """There are places for 32; the others are sent away. Who leaves makes room for whoever comes after him, however late the
    sender learns of either."""
    program = Program("beat", 400)
    crowd = [dial(program.address) for _ in range(60)]
    served = [one for one in crowd if one.recv(1)]
    same("served", len(served), 32)
    program.process.send_signal(signal.SIGSTOP)
    for one in crowd:
        one.close()
    stream = Stream(program.address)
    program.process.send_signal(signal.SIGCONT)
    stream.read(until=lambda s: s.clocks)
    program.go()
    stream.read()
    program.end()
    sums(stream)
    same("beats", len(stream.all("event")), 400)


@test
def socket_file():
    path = os.path.join(FOLDER, "s")
    program = Program("beat", 10)
    same("mode", oct(stat.S_IMODE(os.lstat(path).st_mode)), oct(0o600))
    second = Program("beat", 5)  # the address is taken: it says so and runs on
    second.go()
    _, err = second.end()
    true(err, "is in use or no socket" in err and err.count("\n") == 1)
    stream = program.connect()
    program.go()
    stream.read()
    program.end()
    true("the file is gone", not os.path.exists(path))
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(path)
    stale.close()
    true("stale", os.path.exists(path))
    true("replaced", watch("beat", 3).bye)
    with open(path, "w", encoding="utf-8") as precious:
        precious.write("precious")
    program = Program("beat", 3)
    program.go()
    _, err = program.end()
    true(err, "the program runs without an event stream" in err)
    with open(path, encoding="utf-8") as precious:
        same("file", precious.read(), "precious")
    os.unlink(path)


def free_port():
    """One that nobody has, and nobody is given who asks for any: it is below those."""
    while True:
        port = random.SystemRandom().randrange(12000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("0.0.0.0", port))
            return port


@test
def tcp_and_strangers():
    port = free_port()
    true("tcp", watch("beat", 3, address=f"tcp:127.0.0.1:{port}").bye)
    for address, message in {f"tcp:0.0.0.0:{port}": "only loopback addresses are served, unless events_any=1 is set",
                             f"'tcp:[::]:{port}'": "only loopback addresses", f"tcp:8.8.8.8:{port}": "only loopback addresses",
                             "tcp:127.0.0.1": "an address is written tcp:127.0.0.1:PORT",
                             "tcp:127.0.0.1:99999": "an address is written", "tcp:example.org:80": "an address is written",
                             "udp:1": "an address begins with unix: or tcp:", "unix:" + "x" * 200: "too long",
                             "unix:/nowhere/at/all": "no socket can be made there"}.items():
        program = Program("beat", 1, address=address)
        program.go()
        _, err = program.end()
        true(f"{address}: {err}", message in err and err.startswith("portent: events=" + address.strip("'") + ": ") and err.count("\n") == 1)
    program = Program("beat", 20, address=f"tcp:0.0.0.0:{port}", options="events_any=1")
    stream = Stream(f"tcp:127.0.0.1:{port}").read(until=lambda s: s.clocks)
    program.go()
    stream.read()
    program.end()
    true("any", stream.bye)


@test
def ends():
    program = Program("crash", 10)
    stream = program.connect()
    program.go()
    stream.read(until=lambda s: len(s.all("event")) == 10)
    program.go()
    stream.read()
    program.end(-signal.SIGABRT)
    sums(stream)
    true("no farewell", not stream.bye)
    program = Program("fork", 10)
    stream = program.connect()
    program.go()
    stream.read()
    out, _ = program.end()
    true(out, out.startswith("child 3\n"))
    same("of the parent alone", [event[3] for event in stream.all("event")], ["beat"] * 10)
    true("farewell", stream.bye)
    program = Program("exec", 5)
    stream = program.connect()
    program.go()
    stream.read()
    true("cut off", not stream.bye)
    same("first line", program.process.stdout.readline(), "ready\n")
    again = program.connect()  # the new program listens in place of the old one
    program.go()
    again.read()
    program.end()
    same("beats of the new one", len(again.all("event")), 20)
    true("farewell of the new one", again.bye)


@test
def closed_descriptors():
    """The sender, which has nobody to send to, does not spin: the program pauses nearly all of the time, and so must it."""
    program = Program("closing", 300)
    stream = program.connect()
    before = os.times()
    program.go()
    stream.read()
    out, _ = program.end()
    true("cut off", not stream.bye)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    true(f"the sender does not spin ({used} s, {out})", used < 0.5 * float(out.split()[1]))


@test
def silence_has_a_clock():
    program = Program("beat", 1)
    stream = program.connect()
    before = stream.clocks
    stream.read(until=lambda s: s.clocks >= before + 20)
    true("clock", stream.time - stream.hello["time"] >= 150 * 1000 * 1000)
    same("events", stream.events, [])
    program.go()
    stream.read()
    program.end()


@test
def threads_come_and_go():
    stream = watch("threads", 500)
    sums(stream)
    same("lost", stream.lost, [])
    names = [event[3] for event in stream.all("fork")]
    same("names", names, ["nothing"] + [f"nothing#{i}" for i in range(2, 501)])
    same("joins", [event[3] for event in stream.all("join")], names)


@test
def nobody_listens():
    program = Program("flood", 100000)
    program.go()
    out, err = program.end()
    true(out, out.startswith("done"))
    same("messages", err, "")


@test
def static_program():
    lib = os.path.join(BUILD, "lib")
    with open(lib + "/portent-rt-static.wrap", encoding="utf-8") as names:
        wraps = ["-Wl,--wrap=" + name for name in names.read().split()]
    build(HERE + "/wire/work.c", "static", "-static", "-Wl,--whole-archive", lib + "/libportent-rt-static.a",
          "-Wl,--no-whole-archive", *wraps)
    stream = watch("tour", name="static")
    sums(stream)
    true("contended", [short(event) for event in stream.all("contended")] == ["worker contended(lock_a)"])


@test
def watched_objects():
    """Writes of watched variables, by hooks called by hand; the value that the snapshot gives is the one it has then."""
    program = Program("watched", 5)
    stream = program.connect()
    program.go()
    stream.read()
    program.end()
    sums(stream)
    same("snapshot", [short(event) for event in stream.snapshot if event[2] == "w"],
         ["main w(level)=7", "main w(text)=start"])
    same("writes", [short(event) for event in stream.events if event[2] in "wu"],
         [f"main w(level)={i}" for i in range(5)] + ["main w(text)=end", "main u(level)=104"])
    true("place", [place for place in stream.sites.values() if place == "by_hand.c:11"])


@test
def preloaded():
    build(HERE + "/wire/work.c", "plain")
    portent, trace = os.path.join(BUILD, "bin", "portent"), os.path.join(FOLDER, "t.trace")
    command = [portent, "run", "--preload", "-o", trace, "--"]
    done = subprocess.run([*command, os.path.join(FOLDER, "plain"), "tour", "0", "now"], capture_output=True, text=True,
                          timeout=300, check=True)
    true(done.stdout, done.stdout.startswith("done") and not done.stderr)
    with open(trace, encoding="utf-8") as lines:
        text = lines.read()
    for line in ("main|fork(worker)|", "worker|acq(lock_a)|", "worker|wait(condition)|", "main|sync(barrier)|",
                 "worker|event(in)|", "main|join(worker)|", "main|int(busy)=-3|"):
        true(line, line in text)
    same("check", subprocess.run([portent, "check", trace], capture_output=True, timeout=300, check=False).returncode, 0)
    packed = os.path.join(FOLDER, "packed.xz")  # a program of Debian's
    with open(packed, "wb") as out:
        done = subprocess.run([*command, "xz", "-T2", "--block-size=100KiB", "-c", __file__, portent], stdout=out, timeout=300,
                              check=True)
    same("still works", subprocess.run(["xz", "-t", packed], timeout=300, check=False).returncode, 0)
    with open(trace, encoding="utf-8") as lines:
        text = lines.read()
    for line in ("main|fork(", "|acq(", "|notify("):
        true(line, line in text)
    true("names of threads in a stripped library are not guessed", "_dl_" not in text)
    with open(os.path.join(FOLDER, "x.prop"), "w", encoding="utf-8") as out:
        out.write("var s = shared; property p: s >= 0;")
    done = subprocess.run([portent, "run", "--preload", "-s", out.name, "--", os.path.join(FOLDER, "plain"), "beat", "1", "now"],
                          capture_output=True, text=True, timeout=300, check=False)
    same("status", done.returncode, 2)
    true(done.stderr, "is a variable, and --preload sees no memory accesses" in done.stderr)


@test
def instrumented_and_observed():
    """Variables that a property names, of a program that `portent run` observes at the same time."""
    portent, source = os.path.join(BUILD, "bin", "portent"), os.path.join(FOLDER, "tank.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write("#include <stdio.h>\nint level = 3; double w; _Bool on; long other;\nint main(void)\n{\n    puts(\"ready\");\n"
                  "    fflush(stdout);\n    getchar();\n    for (int i = 0; i < 4; i++) { other++; level = -i; }\n    w = 1.5;\n"
                  "    on = 1;\n    return 0;\n}\n")
    with open(os.path.join(FOLDER, "tank.prop"), "w", encoding="utf-8") as prop:
        prop.write("property p: level < 100 && w >= 0.0 && (on || !on);")
    subprocess.run([portent, "cc", "-O1", source, "-o", os.path.join(FOLDER, "tank")], check=True)
    address = "unix:" + os.path.join(FOLDER, "s")
    process = subprocess.Popen([portent, "run", "-q", "-s", prop.name, "--", os.path.join(FOLDER, "tank")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True, env={**os.environ, "PORTENT_OPTIONS": "events=" + address})
    same("first line", process.stdout.readline(), "ready\n")
    stream = Stream(address).read(until=lambda s: s.clocks)
    process.communicate("\n")
    stream.read()
    same("status", process.returncode, 0)
    sums(stream)
    same("snapshot", sorted(short(event) for event in stream.snapshot if event[2] == "w"),
         ["main w(level)=3", "main w(on)=0", "main w(w)=0.0"])
    same("writes", [short(event) for event in stream.events if event[2] in "wu"],
         [f"main w(level)={-i}" for i in range(4)] + ["main w(w)=1.5", "main w(on)=1"])
    true("place", any(place.endswith("tank.c:8") for place in stream.sites.values()))


@test
def preloaded_and_streamed():
    build(HERE + "/wire/work.c", "plain")
    address = "unix:" + os.path.join(FOLDER, "s")
    process = subprocess.Popen([os.path.join(BUILD, "bin", "portent"), "run", "--preload", "--", os.path.join(FOLDER, "plain"),
                                "tour"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PORTENT_OPTIONS": "events=" + address})
    same("first line", process.stdout.readline(), "ready\n")
    stream = Stream(address).read(until=lambda s: s.clocks)
    process.communicate("\n")
    stream.read()
    same("status", process.returncode, 0)
    sums(stream)
    true("contended", [short(event) for event in stream.all("contended")] == ["worker contended(lock_a)"])
    true("the end was told", stream.bye)


def main():
    global BUILD, FOLDER, RUNTIME
    BUILD = os.path.abspath(sys.argv[1])
    with short_folder() as folder:
        FOLDER = folder
        lib = os.path.join(BUILD, "lib")
        RUNTIME = ["-DHOOKS", "-L" + lib, "-lportent-rt", "-Wl,-rpath," + lib]
        build(HERE + "/wire/work.c", "work", *RUNTIME)
        return SUITE.run(sys.argv[2:], alone)


if __name__ == "__main__":
    sys.exit(main())
