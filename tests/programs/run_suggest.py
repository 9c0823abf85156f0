#!/usr/bin/env python3
"""Properties that nobody has to invent: run_suggest.py PORTENT

Ten small programs keep a discipline each: `portent suggest` proposes it within its first five lines, and `portent run -s` takes the file as it
is. On examples of the project that pass and have a bug, a proposed property leads to it, predicted. The last line is
`suggest: N passed, M failed`.
"""
import json
import os
import re
import sys

import suite
from suite import Failure, contains, run, same, write

tests = suite.Suite("suggest")
PORTENT = None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

HEAD = r"""#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
"""
TWO = r"""
int main(void)
{
    pthread_t t[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], 0);
    return 0;
}
"""

# name: (program, what one of the first five lines must match, verdict of that property or None)
PLANTED = {
    "guarded": (HEAD + r"""
static int total;
static void *worker(void *a) { for (int i = 0; i < 5; i++) { pthread_mutex_lock(&m); total += 2; pthread_mutex_unlock(&m); } return a; }
""" + TWO, r"property (\w+): race_free\(total\); // m is held at all \d+ accesses, by 2 threads", "holds"),
    "two_locks": (HEAD + r"""
static int a, b;
static void *worker(void *p)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&m); a++; pthread_mutex_unlock(&m);
        pthread_mutex_lock(&n); b--; pthread_mutex_unlock(&n);
    }
    return p;
}
""" + TWO, r"property (\w+): race_free\(b\); // n is held at all", "holds"),
    "broken_lock": (HEAD + r"""
static int total;
static void *worker(void *a)
{
    usleep(a ? 0 : 100000);
    for (int i = 0; i < 5; i++) { pthread_mutex_lock(&m); total++; pthread_mutex_unlock(&m); }
    return (void *)(long)(a ? total : 0); // here
}
""" + TWO, r"property (\w+): race_free\(total\); // m is held at \d+ of \d+ accesses, not at program\.c:11", "violated"),
    "init_before_use": (HEAD + r"""
static int cfg;
static void cfg_load(void) { cfg = 7; }
static int cfg_get(void) { return cfg; }
static void *worker(void *a) { usleep(100000); pthread_mutex_lock(&m); int v = cfg_get(); pthread_mutex_unlock(&m); return a + v; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_mutex_lock(&m); cfg_load(); pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
""", r"use (\w+) = init_before_use\(init = return\(cfg_load\), use = call\(cfg_get\)\); // cfg_load writes cfg", "holds"),
    "flag": (HEAD + r"""
static int data;
static _Atomic int ready;
static void *worker(void *a) { while (!ready) usleep(1000); return a + data; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    usleep(20000);
    data = 42;
    ready = 1;
    pthread_join(t, 0);
    return 0;
}
""", r"property (\w+) at each i: read\(data\) .*-> ready; // all \d+ reads by other threads came after ready was set", "holds"),
    "grows": (HEAD + r"""
static int sequence;
static void *worker(void *a) { for (int i = 0; i < 5; i++) { pthread_mutex_lock(&m); sequence++; pthread_mutex_unlock(&m); } return a; }
""" + TWO, r"property (\w+): always \(!end\(sequence >= .*never less", "holds"),
    "range": (HEAD + r"""
static int used;
static void *worker(void *a)
{
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&m); used++; pthread_mutex_unlock(&m);
        pthread_mutex_lock(&m); used--; pthread_mutex_unlock(&m);
    }
    return a;
}
""" + TWO, r"use (\w+) = in_range\(value = used, low = 0, high = \d\);", None),
    "pairs": (HEAD + r"""
static int depth;
static __attribute__((noinline)) void db_begin(void) { pthread_mutex_lock(&m); depth++; }
static __attribute__((noinline)) void db_commit(void) { depth--; pthread_mutex_unlock(&m); }
static void *worker(void *a) { for (int i = 0; i < 4; i++) { db_begin(); db_commit(); } return a; }
""" + TWO, r"use (\w+) = paired_in_thread\(begin = call\(db_begin\), end = call\(db_commit\)\);", "holds"),
    "unless_closed": (HEAD + r"""
#include <portent.h>
static int closed, taken;
static void *worker(void *a)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        if (!closed) { taken++; portent_event("take"); }
        pthread_mutex_unlock(&m);
    }
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    usleep(50000);
    pthread_mutex_lock(&m); closed = 1; pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return 0;
}
""", r'property (\w+): always \(event\("take"\) -> !closed\);', "holds"),
    "sum": (HEAD + r"""
static int left = 100, right, moving;
static void *worker(void *a)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&m);
        moving = 1; left -= 5; right += 5; moving = 0;
        pthread_mutex_unlock(&m);
    }
    return a;
}
""" + TWO, r"property (\w+): always \(!moving -> left \+ right == 100\);", "holds"),
}


def suggest(*command, runs=2):
    done = run(PORTENT, "suggest", "-n", str(runs), "-o", "s.prop", "--", *command)
    same(f"suggest ({done.stderr})", done.returncode, 0)
    with open("s.prop", encoding="utf-8") as file:
        return file.read().splitlines()


def verdicts(*command):
    """Of the file as it is."""
    done = run(PORTENT, "run", "-q", "-s", "s.prop", "-r", "r.json", "--", *command)
    if done.returncode not in (0, 66, 67):
        raise Failure(f"run -s: {done.returncode}\n{done.stderr}")
    with open("r.json", encoding="utf-8") as file:
        return {finding["name"]: (finding["verdict"], finding.get("how")) for finding in json.load(file)["properties"]}


def planted(name):
    program, wanted, verdict = PLANTED[name]

    def check():
        write("program.c", program)
        done = run(PORTENT, "cc", "-O1", "-o", "program", "program.c")
        same("compiling", (done.returncode, done.stderr), (0, ""))
        lines = suggest("./program")
        found = [match for match in (re.match(wanted, line) for line in lines[:5]) if match]
        if not found:
            raise Failure(f"{wanted} is not in the first five of\n" + "\n".join(lines))
        got = verdicts("./program")
        if verdict:
            same("verdict", got[found[0][1]][0], verdict)

    check.__name__ = name
    return check


for each in PLANTED:
    tests.test(planted(each))


def example(name, wanted):
    """A predicted violation of a property that was proposed."""
    done = run(PORTENT, "cc", "-O1", "-o", "program", os.path.join(ROOT, "examples", name, name + ".c"))
    same("compiling", done.returncode, 0)
    lines = suggest("./program")
    found = [match[1] for match in (re.match(wanted, line) for line in lines) if match]
    if not found:
        raise Failure(f"{wanted} is not in\n" + "\n".join(lines))
    same("verdict", verdicts("./program")[found[0]], ("violated", "predicted"))


@tests.test
def example_bank():
    example("bank", r"property (\w+): always \(!active -> checking \+ saving == 100\);")


@tests.test
def example_water():
    example("water", r"property (\w+): always \(w >= 31 -> v >= [56]0\);")


@tests.test
def example_queue():
    example("queue", r'property (\w+): always \(event\("enqueue"\) -> !closed\);')


@tests.test
def example_stages():
    example("stages", r"property (\w+): always \(serving -> table\.schema == table\.rows\);")


@tests.test
def example_race():
    done = run(PORTENT, "cc", "-O1", "-o", "program", os.path.join(ROOT, "examples", "race", "race.c"))
    same("compiling", done.returncode, 0)
    suggest("./program")
    same("verdict", verdicts("./program")["hits_unshared"][0], "violated")


@tests.test
def mistakes():
    done = run(PORTENT, "suggest")
    same("status", done.returncode, 2)
    contains(done.stderr, "suggest takes a program")
    done = run(PORTENT, "suggest", "-n", "0", "--", "true")
    same("status", done.returncode, 2)
    done = run(PORTENT, "suggest", "-n", "1", "--", "false")
    same("status", done.returncode, 2)
    contains(done.stderr, "ended with status 1", "no run of 'false' passed")
    done = run(PORTENT, "suggest", "-n", "1", "--", "true")
    same("status", done.returncode, 2)
    contains(done.stderr, "'true' has recorded nothing", "portent cc")
    write("alone.c", "int x; int main(void) { x = 1; return 0; }")
    same("compiling", run(PORTENT, "cc", "-o", "alone", "alone.c").returncode, 0)
    done = run(PORTENT, "suggest", "-n", "1", "--", "./alone")
    same("status", done.returncode, 3)
    contains(done.stderr, "nothing to propose")


def main():
    global PORTENT
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PORTENT = os.path.abspath(sys.argv[1])
    return tests.run(sys.argv[2:], suite.in_folder)


if __name__ == "__main__":
    sys.exit(main())
