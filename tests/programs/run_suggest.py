#!/usr/bin/env python3
"""Properties that nobody has to invent: run_suggest.py PORTENT

Small programs keep a discipline each: `portent suggest` proposes it within its first five lines, and `portent run -s` takes the file as it
is. On examples of the project that pass and have a bug, a proposed property leads to it, predicted. The last line is
`suggest: N passed, M failed`.
"""
import json
import os
import re
import sys
import tempfile

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
    # A lock of the program's own. The order of accesses keeps it (in another run both may look before either announces itself).
    "one_at_a_time": (HEAD + r"""
static _Atomic int busy;
static int entries;
static __attribute__((noinline)) void enter(void) { while (busy) usleep(1000); busy = 1; }
static __attribute__((noinline)) void leave(void) { busy = 0; }
static void *worker(void *a)
{
    usleep(a ? 20000 : 0);
    for (int i = 0; i < 3; i++) { enter(); entries++; usleep(5000); leave(); usleep(35000); }
    return a;
}
""" + TWO, r"use (\w+) = paired\(begin = return\(enter\), end = call\(leave\)\); // no two threads between them", "holds"),
    # What was set up before the threads, element by element, crowds nothing out; nor do addresses.
    "pool": (HEAD + r"""
static struct conn { int id, queries; } conns[4], *slots[4];
static int in_use;
static __attribute__((noinline)) struct conn *pool_get(void)
{
    pthread_mutex_lock(&m);
    struct conn *c = slots[in_use++];
    pthread_mutex_unlock(&m);
    return c;
}
static __attribute__((noinline)) void pool_put(struct conn *c)
{
    pthread_mutex_lock(&m);
    slots[--in_use] = c;
    pthread_mutex_unlock(&m);
}
static void *worker(void *a)
{
    for (int i = 0; i < 6; i++) { struct conn *c = pool_get(); c->queries += c->id; pool_put(c); }
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 4; i++) { conns[i].id = i + 1; slots[i] = &conns[i]; }
    for (long i = 0; i < 3; i++) pthread_create(&t[i], 0, worker, 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
    return 0;
}
""", r"use (\w+) = in_range\(value = in_use, low = 0, high = [1-3]\);", None),
    "not_after_close": (HEAD + r"""
static int used, is_open;
static __attribute__((noinline)) void log_open(void) { pthread_mutex_lock(&m); used = 0; is_open = 1; pthread_mutex_unlock(&m); }
static __attribute__((noinline)) void log_write(int n) { pthread_mutex_lock(&m); used += n; pthread_mutex_unlock(&m); }
static __attribute__((noinline)) void log_close(void) { pthread_mutex_lock(&m); used = 0; pthread_mutex_unlock(&m); }
static void *worker(void *a) { for (int i = 0; i < 5; i++) log_write(i); return a; }
int main(void)
{
    pthread_t t;
    log_open();
    pthread_create(&t, 0, worker, 0);
    usleep(200000);
    log_close();
    pthread_join(t, 0);
    return 0;
}
""", r"use (\w+) = no_use_after_close\(open = return\(log_open\), close = call\(log_close\), use = call\(log_write\)\); "
     r"// both use used, all \d+ calls of log_write came before", "violated"),
    # Each block has its own lock; one place reads without it.
    "heap": (HEAD + r"""
#include <stdlib.h>
struct account { pthread_mutex_t lock; long balance; } *accounts[3];
static void *worker(void *a)
{
    for (int i = 0; i < 9; i++) {
        struct account *one = accounts[i % 3];
        pthread_mutex_lock(&one->lock); one->balance++; pthread_mutex_unlock(&one->lock);
    }
    usleep(a ? 0 : 50000);
    return a ? 0 : (void *)(long)(accounts[1]->balance < 0); // here
}
int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 3; i++) { accounts[i] = calloc(1, sizeof *accounts[i]); pthread_mutex_init(&accounts[i]->lock, 0); }
    for (long i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, (void *)i);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
""", r"property (\w+): race_free\(\*\); // \+40 of what program\.c:20 allocates: the lock at \+0 of the same block is held at \d+ of \d+ accesses, "
     r"not at program\.c:15", None),
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


@tests.test
def in_cxx():
    """A container is one thing, by its own name, and none of its parts is proposed; the file is taken as it is."""
    write("program.cpp", r"""
#include <mutex>
#include <thread>
#include <vector>
namespace store { struct Cache { std::mutex mu; std::vector<int> entries; int hits = 0; } cache; }
static void work() { for (int i = 0; i < 8; i++) { std::lock_guard<std::mutex> g(store::cache.mu); store::cache.entries.push_back(i); store::cache.hits++; } }
int main() { std::thread a(work), b(work); a.join(); b.join(); }
""")
    same("compiling", run(PORTENT, "c++", "-O1", "-pthread", "-o", "program", "program.cpp").returncode, 0)
    lines = suggest("./program")
    contains("\n".join(lines), "race_free(store::cache.entries); // store::cache.mu is held at all", "race_free(store::cache.hits)")
    same("parts of the library", [line for line in lines if "_M_" in line], [])
    verdicts("./program")


@tests.test
def nothing_that_says_nothing():
    """Of what the main thread has set up before the others, by address or by element: no flag, no order, no range."""
    write("program.c", PLANTED["pool"][0])
    same("compiling", run(PORTENT, "cc", "-O1", "-o", "program", "program.c").returncode, 0)
    lines = suggest("./program")
    same("flags", [line for line in lines if "was set" in line], [])
    same("addresses", [line for line in lines if re.search(r"\d{14}", line)], [])
    same("properties of values", len([line for line in lines if "conns" in line and "race_free" not in line]) <= 1, True)


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
    with tempfile.TemporaryDirectory() as folder:
        suite.keep_pace(folder)  # the programs' runs are those that their pauses intend
        return tests.run(sys.argv[2:], suite.in_folder)


if __name__ == "__main__":
    sys.exit(main())
