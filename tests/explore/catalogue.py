"""The programs of the catalogue: their heads, and how they are compiled. README.md says how a head is written."""
import collections
import glob
import os
import re
import shlex
import signal
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "programs"))
from suite import Failure, run  # noqa: E402,F401

NEEDED, KEYS = ("bug", "depth", "fails", "place"), ("bug", "depth", "fails", "place", "signal", "options", "open")
HANGS = ("deadlock", "lost-wakeup", "livelock", "timeout")
FAILS = ("signal", "status", *HANGS)
OWN = (98, 99)  # statuses that say that a program could not do what it is about: never the bug


class Program:
    """A source, and what its head says: `fails` is how its bug may be told."""

    def __init__(self, path):
        self.path, (self.name, suffix) = path, os.path.splitext(os.path.basename(path))
        self.language = "c++" if suffix == ".cpp" else "cc"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        head = text.partition("*/")[0]
        asks = re.findall(r"^ \* ([a-z]+): (.*)$", head, re.M)
        self.asks = dict(asks)
        if len(self.asks) != len(asks) or set(self.asks) - set(KEYS) or set(NEEDED) - set(self.asks):
            raise Failure(f"{path}: the head has {asks}; needed: {NEEDED}, allowed: {KEYS}")
        self.bug, self.depth, self.fails = self.asks["bug"], int(self.asks["depth"]), self.asks["fails"].split("|")
        if set(self.fails) - set(FAILS):
            raise Failure(f"{path}: 'fails: {self.asks['fails']}' is none of {FAILS}")
        self.signal = getattr(signal, "SIG" + self.asks.get("signal", "ABRT"))
        self.options = self.asks.get("options", "").split()
        self.sentence = " ".join(re.sub(r"^[/ ]\* ?", "", line) for line in head.partition("\n * bug:")[0].splitlines())
        marked = [number for number, line in enumerate(text.splitlines(), 1) if f"/* {self.asks['place']} */" in line]
        if len(marked) != 1 or "FIXED" not in text:
            raise Failure(f"{path}: {len(marked)} places are marked {self.asks['place']}, and FIXED is {'FIXED' in text}")
        self.line = marked[0]


def programs(names=()):
    found = [Program(path) for path in sorted(glob.glob(os.path.join(HERE, "programs", "*.c*")))]
    unknown = set(names) - {program.name for program in found}
    if unknown:
        raise Failure(f"there is no program {', '.join(sorted(unknown))}")
    return [program for program in found if not names or program.name in names]


def compiler_flags(program):
    return ["-O1", "-g", "-Wall", "-Werror", "-pthread", "-D_GNU_SOURCE", "-I", HERE, *(["-std=c++17"] if program.language == "c++" else [])]


def build(compiler_of, wanted, folder, pool, extra=(), link=()):
    """Compiles (program, fixed)s, many by one call of the compiler, which takes long to start. `compiler_of` gives the command of a
    program. Returns their paths."""
    calls, paths = collections.defaultdict(list), {}
    for program, fixed in wanted:
        kind = "fixed" if fixed else "buggy"
        calls[program.language, kind].append(program)
        paths[program, fixed] = os.path.join(folder, kind, program.name)
        os.makedirs(os.path.join(folder, kind), exist_ok=True)
    parts = []
    for (_, kind), some in calls.items():
        command = [*compiler_of(some[0]), *compiler_flags(some[0]), *extra, *(["-DFIXED"] if kind == "fixed" else [])]
        parts += [([*command, "-c", *(program.path for program in some[i:i + 24])], os.path.join(folder, kind)) for i in range(0, len(some), 24)]
    list(pool.map(lambda part: need(part[0], part[1]), parts))
    links = [([*compiler_of(program), "-pthread", paths[program, fixed] + ".o", "-o", paths[program, fixed], *link], folder)
             for program, fixed in wanted]
    list(pool.map(lambda part: need(part[0], part[1]), links))
    return paths


def need(command, folder):
    done = run(*command, cwd=folder)
    if done.returncode:
        raise Failure(f"{shlex.join(command)}\n{done.stderr}")


def plain_run(command, limit, environment=None):
    """How one run ends: ("ends", 0), ("status", N), ("signal", N) or ("hangs", 0); and what it printed."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, **(environment or {})}) as process:
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            return ("hangs", 0), process.communicate()
    if process.returncode < 0:
        return ("signal", -process.returncode), (output, errors)
    return ("status" if process.returncode else "ends", process.returncode), (output, errors)


def is_bug(program, end):
    """Whether a run that ended so shows the program's bug; raises where it ended in a way that it never should."""
    kind, number = end
    if kind == "ends":
        return False
    right = (kind == "hangs" and any(how in HANGS for how in program.fails)
             or kind == "signal" and "signal" in program.fails and number == program.signal
             or kind == "status" and "status" in program.fails and number not in OWN)
    if not right:
        raise Failure(f"{program.name}: {kind} {number}, but its head says {program.fails}")
    return True
