#!/usr/bin/env python3
"""Threads that come and go: what `portent check` costs on traces of 1,000 to 10,000 threads, eight of them at a time, and what
`portent run` costs on programs with as many.

usage: bench/come_and_go.py PORTENT [THREADS...]

Each thread writes a variable that a lock guards and one of eight that none does, four times, and is joined; its creator then
forks the next one. Those of the programs have one relevant event under a lock, or two that are not ordered with those of others at the
time. Processor time of each check, and of each run with its observer, and memory; linear growth is the aim.
"""
import pathlib
import random
import subprocess
import sys
import tempfile

CHECKS = [
    ("races of the run", ["--order", "access", "--races"], "raced"),
    ("races of all runs, none", ["--races"], "guarded"),
    ("races of all runs, on eight variables", ["--races"], "raced"),
    ("cone, window 64, lookahead 256", ["--order", "access", "--window", "64", "--lookahead", "256", "-s", "y.prop"], "raced"),
    ("--window all, one state a level", ["--order", "access", "--window", "all", "--lookahead", "all", "-s", "x.prop"], "raced"),
    ("at each thread", ["-s", "each.prop"], "raced"),
]

# Threads that come and go, so many at a time: each writes a variable under a lock, or has two user events that others know of by its join alone.
PROGRAM = """#include <portent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };
static int x, events;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *number)
{
    if (events) {
        portent_event("go");
        portent_event("stop");
        return NULL;
    }
    pthread_mutex_lock(&m);
    x = (int)((long)number % 9);
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    pthread_t threads[MOST];
    int count = atoi(argv[1]), at_once = atoi(argv[2]);
    if (at_once < 1 || at_once > MOST)
        return 2;
    events = argc > 3 && strcmp(argv[3], "events") == 0;
    for (int i = 0; i < count + at_once; i++) {
        if (i >= at_once && i - at_once < count)
            pthread_join(threads[i % at_once], NULL);
        if (i < count)
            pthread_create(&threads[i % at_once], NULL, work, (void *)(long)i);
    }
    return x == 9;
}
"""
RUNS = [
    ("run, a property, one after the other", ["-s", "x.prop"], ["1"]),
    ("run, a property, eight at a time", ["-s", "x.prop"], ["8"]),
    ("run, user events, 64 at a time", ["-s", "e.prop"], ["64", "events"]),
    ("run, recorded (-o), eight at a time", ["-s", "x.prop", "-o", "run.trace"], ["8"]),
    ("run --record-all, recorded (-o), eight at a time", ["--record-all", "-o", "all.trace"], ["8"]),
    ("run, races and deadlocks, eight at a time", [], ["8"]),
    ("run, at each thread, eight at a time", ["-s", "each.prop"], ["8"]),
]


def trace(threads, raced):
    """The lines of a trace; `raced`: with the variables that no lock guards."""
    pick, alive, started = random.Random(1), [], 0
    while started < threads or alive:
        while started < threads and len(alive) < 8:
            started += 1
            alive.append([started, 0])
            yield f"M|fork(T{started})|a.c:1"
        thread = pick.choice(alive)
        name = f"T{thread[0]}"
        value = pick.randrange(9)
        yield from (f"{name}|acq(m)|a.c:2", f"{name}|w(x)={value}|a.c:3", f"{name}|rel(m)|a.c:4")
        if raced:
            yield f"{name}|w(y{thread[0] % 8})={value}|a.c:5"
        thread[1] += 1
        if thread[1] == 4:
            alive.remove(thread)
            yield f"M|join({name})|a.c:6"


def spent(command, folder):
    """Seconds of processor time, and megabytes, of one run; 0 and 1 are the statuses of a verdict, 3 of none."""
    code = ("import os, resource, sys; pid = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:]); "
            "status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]); u = resource.getrusage(resource.RUSAGE_CHILDREN); "
            "print(u.ru_utime + u.ru_stime, u.ru_maxrss, status, file=sys.stderr)")
    ended = subprocess.run([sys.executable, "-c", code, *command], cwd=folder, capture_output=True, text=True, check=True)
    seconds, kilobytes, status = ended.stderr.split()[-3:]
    if int(status) not in (0, 1, 3):
        sys.exit(f"{command}: status {status}: {ended.stderr}")
    return float(seconds), int(kilobytes) / 1024


def each(title, sizes, command, folder):
    figures = [spent(command(size), folder) for size in sizes]
    cells = ", ".join(f"{size}: {seconds:.2f} s {mb:.0f} MB" for size, (seconds, mb) in zip(sizes, figures))
    print(f"RATE threads that come and go, {title}: {cells}", flush=True)


def main():
    portent = str(pathlib.Path(sys.argv[1]).resolve())
    sizes = [int(word) for word in sys.argv[2:]] or [1000, 2500, 5000, 10000]
    with tempfile.TemporaryDirectory() as folder:
        there = pathlib.Path(folder)
        (there / "x.prop").write_text("property p: always x < 100;\n")
        (there / "y.prop").write_text("property p: always (y1 == 3 -> (y2 < 9 since (y3 < 9 && once y4 < 9)));\n")
        for size in sizes:
            for kind in ("raced", "guarded"):
                (there / f"{kind}{size}.trace").write_text("\n".join(trace(size, kind == "raced")) + "\n")
        (there / "each.prop").write_text("property p at each i: x < 100;\n")
        (there / "e.prop").write_text("property p: always (event(stop) -> once event(go));\n")
        for title, options, kind in CHECKS:
            each(title, sizes, lambda size, o=options, k=kind: [portent, "check", *o, f"{k}{size}.trace"], folder)
        (there / "program.c").write_text(PROGRAM)
        subprocess.run([portent, "cc", "-O2", "-g", "program.c", "-o", "program", "-lpthread"], cwd=folder, check=True)
        for title, options, arguments in RUNS:
            each(title, sizes, lambda size, o=options, a=arguments: [portent, "run", "-q", *o, "--", "./program", str(size), *a], folder)


if __name__ == "__main__":
    main()
