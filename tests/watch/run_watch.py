#!/usr/bin/env python3
"""`portent watch` against streams made by hand: run_watch.py PORTENT [NAME...]

The last line is `watch: N passed, M failed`.
"""
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import pty
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
import traceback

from stream import Program, Stream

ALTERNATE = ("property alternate within 10ms: always (event(write) -> !event(read) && next (!event(write) until event(read))) "
             "&& always (event(read) -> !event(write) && next (!event(read) until event(write)));\n")
TICK = "property tick within 10ms: always eventually event(tick);\n"
MS = 1000000
PATIENCE = 60  # seconds, for whatever must come


class Watch:
    """One run of `portent watch` on one stream."""

    def __init__(self, portent, folder, properties):
        self.portent, self.folder = portent, folder
        self.prop = os.path.join(folder, "p.prop")
        pathlib.Path(self.prop).write_text(properties)
        self.properties = ["-s", self.prop] if properties else []

    def command(self, address, *options):
        return [self.portent, "watch", *self.properties, *options, address]

    def __call__(self, stream, *options, tcp=None, expect=0, serve=None, settings=None):
        data = stream.take() if stream else b""
        with Program(self.folder, serve or (lambda connection: connection.sendall(data)), tcp) as program:
            environment = {**os.environ, **({"PORTENT_OPTIONS": settings} if settings else {})}
            done = subprocess.run(self.command(program.address, *options), capture_output=True, text=True, timeout=PATIENCE, env=environment,
                                  check=False)
        done.stdout = re.sub(r"\n +", " ", done.stdout)  # paragraphs are wrapped
        for path in pathlib.Path(self.folder).glob("*.sock"):
            path.unlink()
        assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
        return done


def defect(stream):
    """Figure 6: two writes in a row."""
    stream.event(1 * MS, "producer", "event", "write", loc="buffer.c:9")
    stream.event(2 * MS, "producer", "state", "blocked", extra=None)
    stream.event(3 * MS, "producer", "event", "write", loc="buffer.c:9")
    return stream.event(4 * MS, "consumer", "event", "read", loc="buffer.c:19").bye(5 * MS)


def correct(stream, cycles=3):
    for i in range(cycles):
        stream.event((2 * i + 1) * MS, "producer", "event", "write", loc="buffer.c:9")
        stream.event((2 * i + 2) * MS, "consumer", "event", "read", loc="buffer.c:19")
    return stream


def dead_at_the_second_write(portent, folder):
    watch = Watch(portent, folder, ALTERNATE)
    done = watch(defect(Stream()), expect=1)
    assert "Property 'alternate' is violated (dead): after event 3 no continuation" in done.stdout, done.stdout
    assert "Decided by event 3, event(write) by producer (buffer.c:9), at 3 ms." in done.stdout, done.stdout
    assert "watching prog (process 42)" in done.stderr
    for tcp in (None, "127.0.0.1", "localhost"):
        done = watch(defect(Stream()), "--json", expect=1, tcp=tcp)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(lines) == 2 and "change" not in lines[1], done.stdout
        change, (finding,) = lines[0]["change"], lines[0]["properties"]
        assert (change["property"], change["from"], change["to"], change["event"], change["time"], change["states"]) == (
            "alternate", "holds", "violated", 3, 3 * MS, []), change
        assert (finding["kind"], finding["verdict"], finding["how"], finding["event"], finding["time"]) == (
            "within", "violated", "dead", 3, 3 * MS), finding
        assert lines[1]["properties"][0]["verdict"] == "violated" and lines[1]["events"] == 4


def log_as_in_the_figures(portent, folder):
    done = Watch(portent, folder, ALTERNATE)(defect(Stream()), "--log", expect=1)
    log = [line for line in done.stdout.splitlines() if line.startswith("{kind=")]
    assert len(log) == 3, log  # nothing is left to say about it after the third
    assert log[0].startswith("{kind=USER, delta=0, thread=producer, text=write}") and log[0].rstrip()[-1] in "}l", log
    assert log[1].startswith("{kind=STATE_CHANGE, delta=1000000, thread=producer, newState=blocked}"), log
    assert log[2].startswith("{kind=USER, delta=1000000, thread=producer, text=write}") and log[2].endswith(" {}"), log
    assert done.stdout.index(log[2]) < done.stdout.index("is violated (dead)")


def holds_until_the_end(portent, folder):
    watch = Watch(portent, folder, ALTERNATE)
    done = watch(correct(Stream()).bye(7 * MS))
    assert "Property 'alternate' holds within 10 ms in your run so far, of 6 events." in done.stdout, done.stdout
    done = watch(correct(Stream()).bye(7 * MS), "--json")
    (line,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert line["properties"][0]["verdict"] == "holds"


def late_in_silence(portent, folder):
    stream = Stream().event(1 * MS, "loop", "event", "tick").event(5 * MS, "loop", "event", "tick")
    for time_now in range(6, 30):
        stream.clock(time_now * MS)
    done = Watch(portent, folder, TICK)(stream.bye(30 * MS), "--json", expect=1)
    first = json.loads(done.stdout.splitlines()[0])
    finding = first["properties"][0]
    # Passes at 5 ms and then at most 10 ms later: the window is over at 15 ms, told by the clock that reaches it.
    assert (finding["how"], finding["event"], finding["time"]) == ("late", 2, 15 * MS), finding
    assert finding["within"]["silent"] and first["change"]["time"] == 15 * MS, first


def late_by_our_own_clock(portent, folder):
    """The whole program stands still: not even its clock comes."""
    def serve(connection):
        now = time.monotonic_ns()
        connection.sendall(Stream(time=now).event(now, "loop", "event", "tick").take())
        connection.recv(1)  # until the reader goes away

    done = Watch(portent, folder, TICK)(None, "--json", "--exit-on-verdict", expect=1, serve=serve)
    finding = json.loads(done.stdout.splitlines()[0])["properties"][0]
    assert (finding["how"], finding["event"]) == ("late", 1), finding
    assert finding["time"] == finding["within"]["last_pass"] + 10 * MS, finding


def gap_and_known_again(portent, folder):
    watch = Watch(portent, folder, ALTERNATE)
    stream = correct(Stream(), 2).lost(5 * MS, 7)
    stream.event(6 * MS, "producer", "event", "write", loc="buffer.c:9").event(7 * MS, "consumer", "event", "read").bye(8 * MS)
    data = stream.take()
    done = watch(None, "--json", expect=3, serve=lambda connection: connection.sendall(data))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    changes = [(line["change"]["from"], line["change"]["to"], line["change"]["event"]) for line in lines[:-1]]
    assert changes == [("holds", "unknown", 4), ("unknown", "holds", 12)], changes
    assert lines[0]["change"]["lost"] == 7 and lines[0]["properties"][0]["message"] == "events were lost"
    assert lines[-1]["properties"][0]["verdict"] == "unknown"
    done = watch(None, expect=3, serve=lambda connection: connection.sendall(data))
    assert "Property 'alternate' is unknown: 7 events were lost after event 4, at 5 ms." in done.stdout, done.stdout
    assert "Property 'alternate' is known again after event 12, event(write) by producer (buffer.c:9)" in done.stdout, done.stdout
    # What is bad whatever was lost is bad.
    stream = correct(Stream(), 1).lost(3 * MS, 1)
    stream.event(4 * MS, "producer", "event", "write").event(5 * MS, "producer", "event", "write").bye(6 * MS)
    assert "violated (dead)" in watch(stream, expect=1).stdout


def cut_off(portent, folder):
    done = Watch(portent, folder, ALTERNATE)(correct(Stream()), expect=3)
    assert "the stream broke off" in done.stderr and "is unknown: the stream broke off" in done.stdout, done.stdout


def recorded(portent, folder):
    """A recording: check says what watch said, and the snapshot makes a possible run of it."""
    trace = os.path.join(folder, "x.trace")
    watch = Watch(portent, folder, ALTERNATE)
    stream = Stream(time=100).snapshot(100, "main", "state", "running").snapshot(100, "main", "acq", "m")
    stream.snapshot(100, "main", "w", "level", 7)
    stream.event(1 * MS, "main", "rel", "m")
    watch(defect(stream), "-o", trace, expect=1)
    text = pathlib.Path(trace).read_text()
    assert text.splitlines()[:3] == ["-|init(level)=7|-|t=100", "main|acq(m)|-|t=100", f"main|rel(m)|-|t={MS}"], text
    assert text.splitlines()[-1] == f"-|clock|-|t={5 * MS}", text
    done = subprocess.run([portent, "check", "--json", *watch.properties, trace], capture_output=True, text=True, check=False)
    finding = json.loads(done.stdout)["properties"][0]
    assert (done.returncode, finding["how"], finding["time"]) == (1, "dead", 3 * MS), (done, text)
    # with a gap, in binary form
    trace = os.path.join(folder, "x.ptb")
    watch(correct(Stream(), 2).lost(5 * MS, 7).event(6 * MS, "consumer", "rel", "m").bye(7 * MS), "-o", trace, expect=3)
    done = subprocess.run([portent, "check", *watch.properties, trace], capture_output=True, text=True, check=False)
    assert done.returncode == 3 and "events were lost" in done.stdout, done
    done = subprocess.run([portent, "convert", "--text", trace, "-o", "-"], capture_output=True, text=True, check=False)
    assert "-|lost(events)=7|-|t=5000000" in done.stdout, done


def recorded_letter_by_letter(portent, folder):
    """Threads that run when we come are no letters to check either, and time counts from the same moment."""
    trace = os.path.join(folder, "x.trace")
    watch = Watch(portent, folder, "property first within 50ms: event(go) && eventually event(x);\nproperty soon within 25ms: eventually event(x);\n")
    stream = Stream(time=100).snapshot(100, "main", "state", "running").snapshot(100, "worker", "state", "running").clock(200)
    stream.clock(MS).event(10 * MS, "main", "event", "go").event(30 * MS, "main", "event", "x").clock(31 * MS).bye(32 * MS)
    live = json.loads(watch(stream, "-o", trace, "--json", expect=1).stdout.splitlines()[-1])
    done = subprocess.run([portent, "check", "--json", *watch.properties, trace], capture_output=True, text=True, check=False)
    for said in (live, json.loads(done.stdout)):
        first, soon = said["properties"]
        assert first["verdict"] == "holds" and said["events"] == 2, (said, pathlib.Path(trace).read_text())
        assert (soon["how"], soon["event"], soon["time"]) == ("late", 1, 25 * MS + 200), soon


def other_kinds(portent, folder):
    """Properties over states: on the run that is watched, from the values it had when we came."""
    watch = Watch(portent, folder, "property low: level < 5;\nproperty bad: never [true]* [level == 6];\n")
    stream = Stream().snapshot(0, "main", "w", "level", 2).event(1, "main", "w", "level", 6, "a.c:3").bye(2)
    done = watch(stream, "--json", expect=1)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(p["verdict"], p["how"]) for p in lines[-1]["properties"]] == [("violated", "observed")] * 2, lines[-1]
    assert "checked on the run that is watched" in done.stderr
    done = watch(Stream().event(1, "main", "w", "levle", 3).bye(2), expect=3)
    assert "names 'level' (did you mean 'levle'?)" in done.stderr, done.stderr
    assert done.stdout.count("never mentioned 'level'") == 2 and "holds" not in done.stdout, done.stdout
    for text, expect, verdict in (("level < 5 || event(go)", 3, "unknown"), ("always !event(stop)", 0, "holds"), ("level == 1", 1, "violated")):
        watch = Watch(portent, folder, f"property p: {text};\nproperty w within 1s: always {text.replace('always ', '')};\n")
        said = json.loads(watch(Stream().event(1, "main", "event", "go").bye(2), "--json", expect=expect).stdout.splitlines()[-1])
        assert [p["verdict"] for p in said["properties"]] == [verdict] * 2, said
    watch = Watch(portent, folder, "property low: level < 5;\n")
    stream = Stream().lost(0, 3).event(1, "main", "w", "level", 6, "a.c:3").bye(2)
    assert "events were lost" in watch(stream, expect=3).stdout
    done = Watch(portent, folder, "property p at main: level < 5;\n")(Stream().bye(1), expect=2)
    assert "p.prop:1:10: error: property 'p' cannot be watched" in done.stderr, done.stderr


def beyond_32_bits(portent, folder):
    """Events whose numbers, and threads whose counts of relevant events, pass 2^32 on the way."""
    watch = Watch(portent, folder, ALTERNATE + "property low: level < 5;\nproperty less: level < 9;\n")
    said = []
    for before, settings in ((0, None), (2**32 - 3, f"counted_before={2**32 - 3}")):
        stream = Stream(number=before + 1)
        for i in range(1, 7):
            stream.event(i * MS, ("main", "worker")[i % 2], "w", "level", i, f"a.c:{i}")
        done = watch(correct(stream).bye(9 * MS), "--json", expect=1, settings=settings)
        said.append([[tuple(p.get(key) for key in ("name", "verdict", "how", "witness", "event", "relevant")) for p in result["properties"]]
                     for result in map(json.loads, done.stdout.splitlines())])
    assert [p[1] for p in said[0][-1]] == ["holds", "violated", "holds"], said[0]
    assert said[0] == said[1], said


def bad_streams(portent, folder):
    watch = Watch(portent, folder, ALTERNATE)
    good = correct(Stream()).take()
    for data, words in ((b"HTTP/1.1 400 Bad Request\r\n\r\n", "damaged at byte 0"), (good[:8] + b"x" + good[9:], "damaged"),
                        (good + b"\xff" * 64, "damaged at byte"), (good[:6] + b"\x07\0" + good[8:], "version")):
        done = watch(None, expect=2, serve=lambda connection, data=data: connection.sendall(data))
        assert words in done.stderr, done.stderr
    older = pathlib.Path(folder, "older.trace")
    older.write_text("main|event(go)|-\n")
    done = subprocess.run(watch.command("unix:" + os.path.join(folder, "none"), "-o", older), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "cannot connect" in done.stderr and "--wait" in done.stderr, done
    assert older.read_text() == "main|event(go)|-\n"
    done = watch(correct(Stream()), "-o", os.path.join(folder, "none", "x.trace"), expect=2)
    assert "none/x.trace" in done.stderr, done.stderr
    for address in ("nowhere", "tcp:127.0.0.1", "tcp::1", "unix:", "unix:" + "x" * 200, "tcp:127.0.0.1:99999x"):
        done = subprocess.run(watch.command(address), capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr.startswith("portent: error: "), (address, done)


def waits_and_is_interrupted(portent, folder):
    watch = Watch(portent, folder, ALTERNATE.replace("10ms", "100s"))
    address = "unix:" + os.path.join(folder, "events.sock")
    process = subprocess.Popen(watch.command(address, "--wait"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.2)
    assert process.poll() is None

    def serve(connection):
        now = time.monotonic_ns()
        connection.sendall(Stream(time=now).event(now, "producer", "event", "write").clock(now + 1).take())
        assert "watching" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        connection.recv(1)

    with Program(folder, serve):
        process.wait(PATIENCE)
    out = process.stdout.read()
    process.stdout.close()
    process.stderr.close()
    assert process.returncode == 0 and "holds within 100 s in your run so far" in out, (process.returncode, out)


def exit_on_verdict(portent, folder):
    def serve(connection):
        connection.sendall(defect(Stream()).take()[:-24])  # all but the farewell
        connection.recv(1)

    done = Watch(portent, folder, ALTERNATE)(None, "--exit-on-verdict", expect=1, serve=serve)
    assert "violated (dead)" in done.stdout


def without_properties(portent, folder):
    done = Watch(portent, folder, "")(correct(Stream()).bye(9 * MS))
    assert done.stdout == "6 events seen, 0 lost. No property was given.\n", done.stdout


def busy(now, seconds):
    """A producer and a consumer for a while, as a stream in one piece; the times begin at `now`."""
    stream, t = Stream(program="buffer", time=now), now
    stream.snapshot(t, "main", "state", "blocked: join").snapshot(t, "producer", "state", "running")
    stream.snapshot(t, "consumer", "state", "blocked: condition")
    while t < now + seconds * 10**9:
        stream.event(t, "producer", "acq", "mutex", loc="buffer.c:9").event(t + 10 * MS, "producer", "event", "write", loc="buffer.c:12")
        stream.event(t + 150 * MS, "consumer", "contended", "mutex", extra="producer", loc="buffer.c:30")
        stream.event(t + 200 * MS, "producer", "rel", "mutex").event(t + 210 * MS, "producer", "state", "blocked: lock", extra="mutex")
        stream.event(t + 220 * MS, "consumer", "state", "running").event(t + 230 * MS, "consumer", "acq", "mutex")
        stream.event(t + 500 * MS, "consumer", "event", "read", loc="buffer.c:33").event(t + 510 * MS, "consumer", "rel", "mutex")
        stream.event(t + 600 * MS, "consumer", "state", "blocked: condition").event(t + 610 * MS, "producer", "state", "running")
        t += 700 * MS
    return stream, t


MARK = b"\x00all of it\x00"


def on_terminal(command, rows, columns, talk, environment=None):
    """Runs a command on a terminal of its own until it ends; talk(process, master, screen) may type. Returns its status, all it
    wrote, and the terminal's modes before and after."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    before = termios.tcgetattr(slave)
    process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
                               env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", **(environment or {})})
    screen, end = b"", time.monotonic() + PATIENCE
    try:
        while process.poll() is None and time.monotonic() < end:
            if select.select([master], [], [], 0.05)[0]:
                screen += os.read(master, 1 << 16)
            talk(process, master, screen)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
    after = termios.tcgetattr(slave)
    while select.select([master], [], [], 0.05)[0]:
        screen += os.read(master, 1 << 16)
    os.write(slave, MARK)  # what was still on its way comes before it
    while not screen.endswith(MARK):
        screen += os.read(master, 1 << 16)
    screen = screen.removesuffix(MARK)
    os.close(master)
    os.close(slave)
    return process.returncode, screen.decode(), before, after


def frames(screen):
    """What was drawn, picture by picture, as lines of text without colours."""
    inside = screen.partition("\033[?1049h")[2].partition("\033[?1049l")[0]
    return [[re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", line).rstrip("\r") for line in part.split("\n")] for part in inside.split("\033[H")[1:]]


def live_view(portent, folder):
    watch = Watch(portent, folder, ALTERNATE.replace("10ms", "100s"))

    def play():
        stream, end = busy(time.monotonic_ns() - 4 * 10**9, 3.4)
        return stream.event(end, "producer", "state", "blocked: lock", extra="mutex")

    def serve(connection):
        connection.sendall(play().take())
        connection.recv(1)

    all_events = f"{play().number - 1} events"

    for signal_number, environment in ((None, None), (signal.SIGINT, {"NO_COLOR": "1"}), (signal.SIGTERM, {"LC_ALL": "C"})):
        asked = []

        def talk(process, master, screen, signal_number=signal_number, asked=asked):
            if all_events.encode() in screen and screen.count(b"\033[H") > 3 and not asked:
                asked.append(True)
                if signal_number:
                    process.send_signal(signal_number)
                else:
                    os.write(master, b"q")

        with Program(folder, serve) as program:
            status, screen, before, after = on_terminal(watch.command(program.address, "--live"), 24, 80, talk, environment)
        os.unlink(program.address[5:])
        glyphs = "▅◆▲┈━" if environment is None or "NO_COLOR" in environment else "#*!.="
        wanted = ["buffer (42)", "alternate", "good so far", "producer", "consumer", "event(read)  buffer.c:33", "main",
                  "blocked: lock mutex", "q quits", *glyphs]
        # the first one of everything: where the machine takes its time, later ones may be of a time when all this is long past
        picture = next(lines for lines in frames(screen) if all_events in lines[0])
        if os.environ.get("SHOW"):
            print("\n".join(picture), screen.partition("\033[?1049l")[2], sep="\n")
        assert status == 0 and before == after, (status, screen[-300:])
        assert screen.count("\033[?1049h") == screen.count("\033[?1049l") == 1 and "\033[?25h" in screen
        assert len(picture) == 24 and all(len(line) <= 80 for line in picture), picture
        text = "\n".join(picture)
        for words in wanted:
            assert words in text, (words, text)
        assert "holds within 100 s in your run so far" in re.sub(r"\r\n +", " ", screen.partition("\033[?1049l")[2]), screen[-500:]
    # narrow: the legend is all there, in shorter words
    for width, last in ((66, "▲ taken"), (52, "▲taken")):
        with Program(folder, serve) as program:
            def leave(process, master, screen):
                if all_events.encode() in screen:
                    os.write(master, b"q")
            _, screen, _, _ = on_terminal(watch.command(program.address, "--live"), 24, width, leave, None)
        os.unlink(program.address[5:])
        legend = next(lines for lines in frames(screen) if "q quits" in lines[-1])[-1].rstrip()
        assert len(legend) <= width and legend.endswith(last), legend
        # of a place the end stays: its line
        places = {line.rstrip() for lines in frames(screen) for line in lines if "event(read)" in line}
        assert places and all(len(line) <= width and line.endswith(":33") for line in places), places
    # not on a terminal: as without --live
    assert "violated (dead)" in Watch(portent, folder, ALTERNATE)(defect(Stream()), "--live", expect=1).stdout


def live_view_resizes(portent, folder):
    watch = Watch(portent, folder, ALTERNATE)

    def serve(connection):
        connection.sendall(busy(time.monotonic_ns(), 1)[0].take())
        connection.recv(1)

    sizes = [(24, 80), (10, 60), (40, 200), (3, 20)]

    def shapes(screen):
        return {(len(picture), max(map(len, picture))) for picture in frames(screen)}

    def talk(process, master, screen):
        """The next size, once there is a picture of this one."""
        seen = shapes(screen.decode(errors="replace"))
        left = [size for size in sizes if size not in seen]
        if left == sizes[-1:] and any(rows < 10 for rows, _ in seen):  # a picture is never as small as that
            os.write(master, b"q")
        rows, columns = left[0]
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    with Program(folder, serve) as program:
        status, screen, before, after = on_terminal(watch.command(program.address, "--live"), 24, 80, talk)
    seen = shapes(screen)
    assert status >= 0 and before == after and set(sizes[:3]) <= seen, (status, seen)


def terminal_goes_away(portent, folder):
    """It ends then, instead of asking a terminal that is no more for keys again and again."""
    watch = Watch(portent, folder, ALTERNATE.replace("10ms", "100s"))

    def serve(connection):
        connection.sendall(Stream(time=0).take())
        connection.recv(1)  # until the reader goes away

    with Program(folder, serve) as program:
        master, slave = pty.openpty()
        process = subprocess.Popen(watch.command(program.address, "--live"), stdin=slave, stdout=slave, stderr=subprocess.DEVNULL,
                                   start_new_session=True, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        assert os.read(master, 100)
        os.close(master)
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()


def ask(port, path="/", method="GET", host=None, body=None, patience=PATIENCE):
    """Status, headers and body of one HTTP request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patience)
    connection.request(method, path, body, {"Host": host} if host is not None else {})
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, response.headers, text


def browser_view(portent, folder):
    """What the HTTP view answers, and to whom; the page itself is looked at in tests/browser."""
    watch = Watch(portent, folder, ALTERNATE.replace("10ms", "1000s"))  # the program is silent for as long as the questions take
    go_on = threading.Event()

    def serve(connection):
        stream = Stream(program="buf<fer>", time=0).event(1 * MS, "producer", "event", "<script>", loc="a.c:1")
        connection.sendall(stream.take())
        go_on.wait(10 * PATIENCE)
        # a minute later by the program's clock: the view's own goes on meanwhile, and an event of its past would count as of now
        connection.sendall(stream.event(60002 * MS, "producer", "event", "write").event(60003 * MS, "producer", "event", "write").bye(60004 * MS).take())

    with Program(folder, serve) as program:
        process = subprocess.Popen(watch.command(program.address, "--http", "127.0.0.1:0"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        port = int(re.search(r"http://127.0.0.1:(\d+)/", process.stderr.readline())[1])
        status, headers, page = ask(port)
        assert status == 200 and "default-src 'none'" in headers["Content-Security-Policy"] and "http:" not in page
        for path, kind in (("/style.css", "text/css"), ("/script.js", "text/javascript")):
            assert ask(port, path)[0] == 200 and ask(port, path)[1]["Content-Type"].startswith(kind)
        assert ask(port, "/nothing")[0] == 404 and ask(port, "/../../etc/passwd")[0] == 404
        for method in ("POST", "PUT", "HEAD", "DELETE", "OPTIONS"):
            status, headers, _ = ask(port, "/", method, body="x" * 100 if method == "POST" else None)
            assert status == 405 and headers["Allow"] == "GET", (method, status)
        for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1:{port + 1}", "127.0.0.1.evil.example", "", f"[::1]:{port}x"):
            assert ask(port, "/events", host=host)[0] in (400, 403), host
        for host in ("localhost", f"localhost:{port}", "[::1]", f"[::1]:{port}", "127.0.0.1"):
            assert ask(port, host=host)[0] == 200, host
        # readers of the stream: some go away in the middle of it, one stays
        for _ in range(20):
            rude = socket.create_connection(("127.0.0.1", port))
            rude.sendall(f"GET /events HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
            rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            rude.close()
        first, limit = {"items": []}, time.monotonic() + PATIENCE
        while not first["items"] and time.monotonic() < limit:  # it may not have come yet
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", "/events")
            response = connection.getresponse()
            line = response.readline().decode()
            first = json.loads(line.removeprefix("data: "))
        assert (first["program"], first["properties"][0]["word"], first["items"]) == (
            "buf<fer>", "good so far", [[1 * MS, "event", "producer", "<script>", "a.c:1"]]), first
        go_on.set()
        rest = response.read().decode()
        last = json.loads(rest.rpartition("event: end\ndata: ")[2])
        assert last["ended"] and last["properties"][0]["word"] == "dead" and last["properties"][0]["time"] == 60003 * MS, last
        connection.close()
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and "violated (dead)" in out
    for where in ("0.0.0.0:80", "192.168.1.1:80", "127.0.0.1", "127.0.0.1:99999", "127.0.0.1:x", "example.org:80"):
        with Program(folder, lambda connection: connection.recv(1), tcp="127.0.0.1") as program:
            done = subprocess.run(watch.command(program.address, "--http", where), capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 2 and "--http takes a port of this machine alone" in done.stderr, (where, done)


def hanging_clients(portent, folder):
    """2,000 clients that send nothing or half a request do not keep others out, and do not take a reader's stream away."""
    count = 2000
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard == resource.RLIM_INFINITY or hard >= count + 100, f"only {hard} descriptors are allowed"
    watch = Watch(portent, folder, ALTERNATE.replace("10ms", "1000s"))
    go_on = threading.Event()

    def serve(connection):
        stream = Stream(time=0)
        connection.sendall(stream.take())
        go_on.wait(10 * PATIENCE)
        connection.sendall(stream.bye(4 * MS).take())

    with Program(folder, serve) as program, contextlib.ExitStack() as hanging:
        process = subprocess.Popen(watch.command(program.address, "--http", "127.0.0.1:0"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        hanging.callback(process.kill)  # where something below fails
        hanging.callback(go_on.set)
        port = int(re.search(r"http://127.0.0.1:(\d+)/", process.stderr.readline())[1])
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)  # ours is raised after the tool has got its own
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 100), hard))
        hanging.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        reader = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        reader.request("GET", "/events")
        stream = reader.getresponse()
        assert stream.readline().startswith(b"data: ")
        for i in range(count):
            client = hanging.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))
            with contextlib.suppress(ConnectionError):  # it may be displaced already
                client.sendall((b"", b"GET / HTTP/1.1\r\nHost: loc")[i % 2])
        start = time.monotonic()
        assert ask(port, patience=2)[0] == 200
        took = time.monotonic() - start
        assert took < 2, f"the page took {took:.1f} s"
        client.settimeout(20)  # the last one was displaced by nobody: it has 5 seconds, and a client that asked has 30
        with contextlib.suppress(ConnectionError):
            while client.recv(1000):
                pass
        go_on.set()
        assert b"event: end" in stream.read()
        reader.close()
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, process.returncode


TESTS = [browser_view, hanging_clients, live_view, live_view_resizes, terminal_goes_away, dead_at_the_second_write, log_as_in_the_figures, holds_until_the_end, late_in_silence, late_by_our_own_clock,
         gap_and_known_again, cut_off, recorded, recorded_letter_by_letter, other_kinds, beyond_32_bits, bad_streams, waits_and_is_interrupted, exit_on_verdict,
         without_properties]


def run_all(suite, tests):
    """The tests that the command line names, or all; each in a folder of its own."""
    portent = str(pathlib.Path(sys.argv[1]).resolve())
    passed = failed = 0
    for test in tests:
        if sys.argv[2:] and test.__name__ not in sys.argv[2:]:
            continue
        # the path of a socket has at most 107 bytes
        with tempfile.TemporaryDirectory(prefix="portent-watch-", dir="/tmp" if len(tempfile.gettempdir()) > 60 else None) as folder:
            try:
                test(portent, folder)
                passed += 1
            except Exception:  # whatever it is, the other tests still run
                failed += 1
                print(f"FAILED {test.__name__}")
                traceback.print_exc(file=sys.stdout)
    print(f"{suite}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(run_all("watch", TESTS))
