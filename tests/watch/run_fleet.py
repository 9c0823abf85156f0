#!/usr/bin/env python3
"""`portent watch` on many programs: run_fleet.py PORTENT [NAME...]

Streams made by hand for what is said of whom, and real programs that connect to a watcher. The last line is `fleet: N passed, M
failed`.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import time

from run_watch import ALTERNATE, MS, PATIENCE, Watch, correct, defect, frames, on_terminal, run_all
from stream import Program, Stream

PROGRAM = r"""
#include <portent.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    int beats = atoi(argv[1]), pause = atoi(argv[2]);
    for (int i = 0; i < beats; i++) {
        portent_event("beat");
        if (pause)
            usleep(pause);
    }
    if (argc > 3)
        portent_event(argv[3]);
    return 0;
}
"""


class Watcher:
    """`portent watch listen:`, until the block is left; then its status and what it printed."""

    def __init__(self, portent, folder, properties, *options, limit=None):
        self.watch = Watch(portent, folder, properties)
        self.path = os.path.join(folder, "fleet.sock")
        before = (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if limit else None
        self.process = subprocess.Popen(self.watch.command("listen:unix:" + self.path, *options), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=before)
        self.err = self.out = ""

    def __enter__(self):
        wait_for(lambda: os.path.exists(self.path) or self.process.poll() is not None)
        return self

    def __exit__(self, *unused):
        self.process.send_signal(signal.SIGTERM)
        self.out, err = self.process.communicate(timeout=PATIENCE)
        self.err += err
        self.out = re.sub(r"\n +", " ", self.out)

    def line(self):
        """The next line of standard output."""
        return json.loads(self.process.stdout.readline())

    def come(self, stream=None):
        """Connects as a program does, and sends."""
        program = socket.socket(socket.AF_UNIX)
        program.settimeout(PATIENCE)
        program.connect(self.path)
        assert program.recv(8) == b"PTWATCH\0"
        if stream:
            program.sendall(stream.take())
        return program


def wait_for(happened):
    limit = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.01)


def two_addresses(portent, folder):
    """The one that violates is named; the other one's verdict is its own."""
    folders = [os.path.join(folder, name) for name in ("a", "b")]
    for each in folders:
        os.mkdir(each)
    bad, good = defect(Stream("bad", 7)).take(), correct(Stream("good", 8)).bye(7 * MS).take()
    for options, judge in ((("--log",), None), (("--json",), json.loads), (("--wait",), None)):
        with Program(folders[0], lambda connection: connection.sendall(bad)) as first, \
                Program(folders[1], lambda connection: connection.sendall(good)) as second:
            watch = Watch(portent, folder, ALTERNATE)
            done = subprocess.run([*watch.command(first.address, *options), second.address], capture_output=True, text=True,
                                  timeout=PATIENCE, check=False)
        for each in folders:
            os.unlink(os.path.join(each, "events.sock"))
        assert done.returncode == 1, done
        if judge:
            last = {line["pid"]: line for line in map(judge, done.stdout.splitlines()) if "change" not in line}
            assert {pid: (line["program"], line["properties"][0]["verdict"]) for pid, line in last.items()} == {
                7: (["bad"], "violated"), 8: (["good"], "holds")}, done.stdout
            continue
        assert re.search(r"In bad \(process 7\):\nProperty 'alternate' is violated \(dead\)", done.stdout), done.stdout
        assert re.search(r"In good \(process 8\):\nProperty 'alternate' holds", done.stdout), done.stdout
        assert ("bad (process 7): {kind=USER" in done.stdout) == ("--log" in options), done.stdout


def one_is_not_there(portent, folder):
    """With --wait the others are watched meanwhile; without it the missing one is an error, and the others are watched."""
    missing = os.path.join(folder, "missing.sock")
    good = correct(Stream("good", 8)).bye(7 * MS)
    with Program(folder, lambda connection: connection.sendall(good.take())) as program:
        watch = Watch(portent, folder, ALTERNATE)
        done = subprocess.run([*watch.command(program.address), "unix:" + missing], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2 and "cannot connect to unix:" + missing in done.stderr and "holds within" in done.stdout, done
    os.unlink(os.path.join(folder, "events.sock"))
    good = correct(Stream("good", 8)).bye(7 * MS)
    with Program(folder, lambda connection: connection.sendall(good.take())) as program:
        process = subprocess.Popen([*watch.command(program.address, "--wait", "--json"), "unix:" + missing], stdout=subprocess.PIPE, text=True)
        assert json.loads(process.stdout.readline())["pid"] == 8
    os.unlink(os.path.join(folder, "events.sock"))
    bad = defect(Stream("bad", 7))
    os.mkdir(os.path.join(folder, "later"))
    with Program(os.path.join(folder, "later"), lambda connection: connection.sendall(bad.take())) as program:
        os.rename(program.address.removeprefix("unix:"), missing)
        out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1 and json.loads(out.splitlines()[-1])["pid"] == 7, (process.returncode, out)


def come_and_go(portent, folder):
    with Watcher(portent, folder, ALTERNATE, "--json") as watcher:
        assert stat.S_IMODE(os.stat(watcher.path).st_mode) == 0o600
        stays = watcher.come(Stream("stays", 1))
        for pid in range(100, 110):  # one after the other
            with watcher.come((defect if pid == 105 else correct)(Stream("goes", pid)).bye(9 * MS)):
                line = watcher.line()
                if pid == 105:
                    assert line["change"]["to"] == "violated" and line["pid"] == 105, line
                    line = watcher.line()
                assert line["pid"] == pid and line["properties"][0]["verdict"] == ("violated" if pid == 105 else "holds"), line
        stays.sendall(b"\xff" * 64)  # damaged: an error, which is its own
        with watcher.come(correct(Stream("after", 7)).bye(9 * MS)):
            wait_for(lambda: watcher.line().get("pid") == 7)
        watcher.come().close()  # who says nothing at all
        while True:
            watcher.err += watcher.process.stderr.readline()
            if "broke off" in watcher.err:
                break
    assert watcher.process.returncode == 2 and not os.path.exists(watcher.path), watcher.process.returncode
    assert "is damaged at byte 56" in watcher.err, watcher.err


def worst_status(portent, folder):
    for streams, expected in (([correct(Stream()).bye(9 * MS)], 0), ([correct(Stream()).bye(9 * MS), correct(Stream())], 3),
                              ([correct(Stream()), defect(Stream())], 1), ([], 0)):
        with Watcher(portent, folder, ALTERNATE) as watcher:
            for stream in streams:
                watcher.come(stream).close()
            time.sleep(0.3)
        assert watcher.process.returncode == expected, (expected, watcher.process.returncode, watcher.out, watcher.err)


def few_descriptors(portent, folder):
    """Who finds no room waits until somebody has gone."""
    with Watcher(portent, folder, ALTERNATE, limit=24) as watcher, contextlib.ExitStack() as stack:
        early = [stack.enter_context(watcher.come(Stream("early", i))) for i in range(8)]
        waiting = []
        for _ in range(30):
            program = stack.enter_context(socket.socket(socket.AF_UNIX))
            program.connect(watcher.path)
            waiting.append(program)
        wait_for(lambda: "no descriptor is free" in watcher.process.stderr.readline())
        for program in early:
            program.close()
        late = waiting[0]
        late.settimeout(PATIENCE)
        assert late.recv(8) == b"PTWATCH\0"


def live(portent, folder):
    """A line for each, the violated first; all of it on the terminal."""
    path = os.path.join(folder, "fleet.sock")
    came = []

    def talk(process, master, screen):
        if not came and b"listening at" in screen:
            for pid in range(1, 41):
                program = socket.socket(socket.AF_UNIX)
                program.connect(path)
                program.sendall((defect if pid == 30 else correct)(Stream("server", pid)).take())
                came.append(program)
        if b"39 running" in screen.rpartition(b"\033[H")[0].rpartition(b"\033[H")[2]:
            os.write(master, b"q")

    watch = Watch(portent, folder, ALTERNATE.replace("10ms", "1000s"))
    status, screen, before, after = on_terminal(watch.command("listen:unix:" + path, "--live"), 20, 80, talk)
    for program in came:
        program.close()
    last = [frame for frame in frames(screen) if len(frame) == 20][-1]
    assert status == 1 and before == after, status
    assert all(len(line) <= 80 for line in last), [line for line in last if len(line) > 80]
    assert "39 running, 1 ended" in last[0] and "alternate violated in server (process" in last[2] and "4 ev     0 lost" in last[2], last
    assert "server (process 1)" in last[3] and re.match(r" and \d+ more", last[18]) and "q quits" in last[19], last


def events(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path)
    line = connection.getresponse().readline().decode()
    connection.close()
    return json.loads(line.removeprefix("data: "))


def browser(portent, folder):
    """All programs, and the one that is asked for; those that have ended can still be looked at, within limits."""
    with Watcher(portent, folder, ALTERNATE.replace("10ms", "1000s"), "--http", "127.0.0.1:0") as watcher:
        port = int(re.search(r"http://127.0.0.1:(\d+)/", watcher.process.stderr.readline())[1])
        assert events(port, "/events")["fleet"]["programs"] == []
        with watcher.come(defect(Stream("bad", 5))), contextlib.ExitStack() as stack:
            stack.enter_context(watcher.come(correct(Stream("good", 6))))
            wait_for(lambda: [p["pid"] for p in events(port, "/events")["fleet"]["programs"] if p["events"]] == [5, 6])
            fleet = events(port, "/events")["fleet"]
            assert [p["verdicts"] for p in fleet["programs"]] == [["violated"], ["holds"]] and fleet["properties"] == ["alternate"], fleet
            one = events(port, f"/events?program={fleet['programs'][0]['id']}")
            assert one["program"] == "bad" and len(one["threads"]) == 2 and one["fleet"]["running"] == 1, one
            for strange in ("/events?program=99", "/events?program=x", "/events?program="):
                assert "items" not in events(port, strange), strange
        for pid in range(200):
            watcher.come(correct(Stream("short", 1000 + pid)).bye(9 * MS)).close()
        wait_for(lambda: events(port, "/events")["fleet"]["came"] == 202 and not events(port, "/events")["fleet"]["running"])
        fleet = events(port, "/events")["fleet"]
        assert len(fleet["programs"]) == 64 and fleet["forgotten"] == 138 and fleet["programs"][0]["pid"] == 5, fleet
    assert watcher.process.returncode == 1


def mistakes(portent, folder):
    watch = Watch(portent, folder, ALTERNATE)
    path = os.path.join(folder, "x.sock")
    pathlib.Path(folder, "file").write_text("mine")
    for arguments, words in ((["listen:tcp:127.0.0.1:1"], "listen:unix:PATH"), (["listen:unix:" + path, "listen:unix:" + path], "one listen: address"),
                             (["-o", "t.trace", "unix:a", "unix:b"], "-o records one stream"), (["listen:unix:"], "unix:PATH"),
                             (["--exit-on-verdict", "listen:unix:" + path], "may still come"),
                             (["listen:unix:" + os.path.join(folder, "file")], "in use or no socket"),
                             (["listen:unix:" + os.path.join(folder, "none", "x")], "No such file"), ([], "an address is missing")):
        done = subprocess.run([portent, "watch", *watch.properties, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 2 and words in done.stderr and done.stderr.count("error") <= 1, (arguments, done)
    assert pathlib.Path(folder, "file").read_text() == "mine"


def build(portent, folder):
    source, program = os.path.join(folder, "p.c"), os.path.join(folder, "p")
    pathlib.Path(source).write_text(PROGRAM)
    subprocess.run([portent, "cc", "-O2", "-g", source, "-o", program], check=True, timeout=PATIENCE)
    return program


def real_programs(portent, folder):
    """Twenty at once, from their first event to their last, and nothing is lost; the file of a watcher that was killed is replaced."""
    program = build(portent, folder)
    left = socket.socket(socket.AF_UNIX)
    left.bind(os.path.join(folder, "fleet.sock"))
    left.close()
    with Watcher(portent, folder, "property clean within 1s: always !event(bad);\n", "--json") as watcher:
        wait_for(lambda: stat.S_IMODE(os.stat(watcher.path).st_mode) == 0o600)
        environment = {**os.environ, "PORTENT_OPTIONS": "events=unix:" + watcher.path}
        running = [subprocess.Popen([program, "3000", "0" if i % 2 else "10", *(["bad"] if i == 7 else [])], env=environment,
                                    stderr=subprocess.PIPE, text=True) for i in range(20)]
        for each in running:
            assert each.communicate(timeout=PATIENCE)[1] == "" and each.returncode == 0
    last = {line["pid"]: line for line in map(json.loads, watcher.out.splitlines()) if "change" not in line}
    assert set(last) == {each.pid for each in running} and watcher.process.returncode == 1, (len(last), watcher.process.returncode)
    for i, each in enumerate(running):
        (finding,) = last[each.pid]["properties"]
        assert finding["verdict"] == ("violated" if i == 7 else "holds"), (i, finding)
        assert last[each.pid]["events"] >= 3000 and os.path.samefile(last[each.pid]["program"][0], program), last[each.pid]


def watcher_comes_back(portent, folder):
    """A program whose watcher was ended calls the next one; one that finds a stranger at its address says so and runs."""
    program = build(portent, folder)
    path = os.path.join(folder, "fleet.sock")
    environment = {**os.environ, "PORTENT_OPTIONS": "events=unix:" + path}
    properties = "property clean within 1s: always !event(bad);\n"
    with Watcher(portent, folder, properties, "--json"):
        running = subprocess.Popen([program, "500", "10000"], env=environment)
        time.sleep(0.5)
    with Watcher(portent, folder, properties, "--json") as second:
        assert running.wait(PATIENCE) == 0
    (line,) = [json.loads(line) for line in second.out.splitlines()]
    assert line["pid"] == running.pid and line["properties"][0]["verdict"] == "holds" and 0 < line["events"], line
    assert second.process.returncode == 0, second.process.returncode
    for greeting in (b"", b"HTTP/1.1 200", b"PTWIRE1\0"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.bind(path)
            stranger.listen()
            stranger.settimeout(PATIENCE)
            running = subprocess.Popen([program, "1", "0"], env=environment, stderr=subprocess.PIPE, text=True)
            connection, _ = stranger.accept()
            with connection:
                connection.sendall(greeting)
                err = running.communicate(timeout=PATIENCE)[1]
        assert running.returncode == 0 and "in use or no socket" in err, (greeting, err)


TESTS = [two_addresses, one_is_not_there, come_and_go, worst_status, few_descriptors, live, browser, mistakes, real_programs, watcher_comes_back]

if __name__ == "__main__":
    sys.exit(run_all("fleet", TESTS))
