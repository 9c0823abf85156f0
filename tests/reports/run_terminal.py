#!/usr/bin/env python3
"""Text reports as a terminal shows them: every kind of finding, at several widths, with and without colours.

    run_terminal.py PORTENT

Each report is made on a pseudo-terminal of a given width. The last line is `terminal: N passed, M failed`.
"""
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WIDTHS = (60, 80, 120)
PATIENCE = 60

TRACE = """-|init(w)=20|-
-|init(v)=40|-
T2|w(w)=24|water.c:20|t=1000000
T1|r(w)=24|water.c:5|t=2000000
T1|w(v)=50|water.c:8|t=3000000
T1|begin(transfer)|a/rather/long/path/to/a/file/water.c:9|t=3000001
T1|w(z)=50|a/rather/long/path/to/a/file/water.c:10|t=3000002
T2|w(w)=27|water.c:20|t=4000000
T2|w(z)=3|water.c:21|t=4000002
T1|w(z)=51|water.c:11|t=4000003
T1|end(transfer)|water.c:12|t=4000004
T1|w(v)=60|water.c:8|t=5000000
T2|w(w)=31|water.c:20|t=6000000
T1|event(get)|water.c:8|t=8000000
"""
HOA = """HOA: v1
States: 2
Start: 0
AP: 2 "a" "b"
Acceptance: 1 Inf(0)
--BODY--
State: 0 {0}
[!0 | 1] 0
[0&!1] 1
State: 1
[f] 1
--END--
"""
LONG_NAME = "a_variable_with_a_name_that_is_as_long_as_a_line_of_a_narrow_terminal_is_wide_and_then_some"
SML = """int COUNT; lock m;
thread clerk { begin : increment acquire(m); t := COUNT; release(m); acquire(m); COUNT := t + 1; release(m) end }
thread auditor { acquire(m); COUNT := 0; release(m) }
"""
# name: (the property, or the arguments of another command; what the last line of the report begins with)
KINDS = {
    "ltl": ("property p: always (w > 30 -> ((v > 55 && w > 26) since start(w > 26)));", "predicted violation of 'p' at w(w)=31 by T2 (water.c:20)"),
    "observed": ("property p: w < 31;", "observed violation of 'p' at w(w)=31 by T2 (water.c:20)"),
    "initial": ("property p: w > 20;", "observed violation of 'p' in the initial state"),
    "long": (f"let {LONG_NAME} = w < 27; property p: {LONG_NAME} && {LONG_NAME} && {LONG_NAME};", "observed violation of 'p' at w(w)=27"),
    "ere": ("property p: never [true]* [w > 26 && v <= 40];", "predicted violation of 'p' at w(w)=27 by T2 (water.c:20)"),
    "hoa": ('property p: hoa "p.hoa" { a = w > 26; b = v > 40; };', "predicted violation of 'p' at w(w)=27 by T2 (water.c:20)"),
    "mttl": ("property p at T1: v > 45 -> @T2(w) >= 27;", "observed violation of 'p' at w(v)=50 by T1 (water.c:8), its event 2"),
    "race": ("property p at each i: race_free(z);", "observed violation of 'p' on z at water.c:21 and "),
    "block": ("property p at each i: atomic_block(transfer);", "observed violation of 'p' at w(z)=51 by T1 (water.c:11), its event 5"),
    "late": ("property p within 1ms: always eventually event(go);", "late violation of 'p' at 2 ms, after event 1"),
    "dead": ("property p within 3ms: always w < 27;", "dead violation of 'p' at event 6, w(w)=27 by T2 (water.c:20)"),
    "monitor": (["check", "--monitor", "queue.so", "x.trace"], "observed violation of 'queue' at event(get) by T1 (water.c:8)"),
    "atomicity": (["check", "--atomicity", "x.trace"], "not causally atomic: block 1 of T1, 'transfer' (a/rather/long/path/to/a/file/water.c:9)"),
    "confirmed": (["report", "confirmed.json"], "predicted violation of 'p' at w(w)=31 by T2 (water.c:20)"),
    "refuted": (["report", "refuted.json"], "predicted violation of 'p' at w(w)=31 by T2 (water.c:20)"),
    "model": (["model", "p.sml"], "not causally atomic: block 1 of clerk, 'increment' (p.sml:2)"),
}


def on_terminal(command, folder, width, **environment):
    """What a command prints on a terminal of that width, and its exit status.

    Our end of the terminal's other side stays open, and a mark is written to it when the command has ended: everything before the mark
    is then the command's, whole. To read until the other side is closed instead loses what is still on its way on some kernels."""
    mark = b"\x00all of it\x00"
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    text, marked, end = b"", False, time.monotonic() + PATIENCE
    with tempfile.TemporaryFile() as errors, subprocess.Popen(command, cwd=folder, env={**inherited, **environment}, stdin=subprocess.DEVNULL,
                                                              stdout=theirs, stderr=errors) as process:
        while not text.endswith(mark):
            if select.select([ours], [], [], 0.02)[0]:
                text += os.read(ours, 65536)
            elif not marked and process.poll() is not None:
                os.write(theirs, mark)
                marked = True
            assert time.monotonic() < end, f"no end after {text!r}"
        errors.seek(0)
        said = errors.read().decode()
        assert not re.search("write|output", said), f"on standard error: {said!r}"
    os.close(theirs)
    os.close(ours)
    return text.removesuffix(mark).decode().replace("\r\n", "\n"), process.returncode


def lay_out(folder):
    for name, text in (("x.trace", TRACE), ("p.hoa", HOA), ("p.sml", SML)):
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", f"-I{ROOT}/include", "-o", f"{folder}/queue.so",
                    f"{ROOT}/examples/monitor/queue.c"], check=True)


def confirm(portent, folder):
    """Results as `confirm` leaves them."""
    result = json.loads(subprocess.run([*command_of(portent, folder, "ltl"), "--json"], cwd=folder, capture_output=True, check=False).stdout)
    for name, member in (("confirmed", {"confirmed": True}), ("refuted", {"confirmed": False, "not_reproduced": "thread T1 waits for lock " + "l" * 90})):
        changed = {**result, "properties": [{**result["properties"][0], **member}]}
        pathlib.Path(folder, f"{name}.json").write_text(json.dumps(changed), encoding="utf-8")


def command_of(portent, folder, kind):
    what = KINDS[kind][0]
    if isinstance(what, list):
        return [portent, *what]
    pathlib.Path(folder, f"{kind}.prop").write_text(what + "\n", encoding="utf-8")
    return [portent, "check", "-s", f"{kind}.prop", "x.trace"]


def stays_within(portent, folder, kind):
    """No line is longer than the terminal is wide, but for those that scripts read: `file:line: ...` and SUMMARY."""
    command = command_of(portent, folder, kind)
    for width in WIDTHS:
        text, status = on_terminal(command, folder, width, NO_COLOR="1")
        assert status == (0 if "report" in command else 1), (status, text)
        lines = text.split("\n")
        long = [line for line in lines if len(line) > width and not re.match(r"SUMMARY: |[\w./]+:\d+:", line)]
        assert not long, (width, long)
        assert not [line for line in lines if line != line.rstrip()], "spaces at the end of a line"
        summaries = [line for line in lines if line.startswith("SUMMARY: portent: ")]
        assert len(summaries) == (2 if kind == "race" else 1), (summaries, text)  # from either side: two pairs of places
        assert summaries[0].startswith("SUMMARY: portent: " + KINDS[kind][1]), (summaries, text)


def colours(portent, folder, kind):
    command = command_of(portent, folder, kind)
    plain, _ = on_terminal(command, folder, 80, NO_COLOR="1")
    assert "\x1b" not in plain
    coloured, _ = on_terminal(command, folder, 80)
    assert "\x1b[31m" in coloured and "\x1b[1m" in coloured, "a terminal shows colours"
    assert re.sub(r" +$", "", re.sub(r"\x1b\[\d+m", "", coloured), flags=re.MULTILINE) == plain, "and the same text"
    assert coloured.endswith("\n") and coloured.count("\x1b[0m") > 0
    assert on_terminal(command, folder, 80, NO_COLOR="")[0] == coloured, "an empty NO_COLOR says nothing (no-color.org)"
    assert on_terminal([*command, "--color=never"], folder, 80)[0] == plain
    assert on_terminal([*command, "--color=always"], folder, 80, NO_COLOR="1")[0] == coloured, "asked for by name"
    piped = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
    assert piped == plain, "a pipe is a plain terminal of 80 columns"


def width_is_used(portent, folder, kind):
    """The two runs stand side by side where they fit."""
    command = command_of(portent, folder, kind)
    side_by_side = [bool(re.search(r"Your run +\| +Predicted run", on_terminal(command, folder, width, NO_COLOR="1")[0])) for width in WIDTHS]
    assert side_by_side == [False, True, True], side_by_side


def main():
    portent = str(pathlib.Path(sys.argv[1]).resolve())
    tests = [(stays_within, kind) for kind in KINDS] + [(colours, kind) for kind in KINDS] + [(width_is_used, "ltl")]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="portent-terminal-") as folder:
        lay_out(folder)
        confirm(portent, folder)
        for test, kind in tests:
            try:
                test(portent, folder, kind)
            except Exception:  # whatever it is, the other tests still run
                failed += 1
                print(f"FAILED {test.__name__} {kind}")
                traceback.print_exc(file=sys.stdout)
    print(f"terminal: {len(tests) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
