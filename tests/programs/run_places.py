#!/usr/bin/env python3
"""Places of synchronisation: run_places.py PORTENT [TEST...]

A violation that a lock, an unlock, or a join brings to light is told with file and line on both sides, and so is every such event
of a recorded run; a call from code that is not instrumented has no place, and never another's. What was inlined keeps its
names. The last line is
`places: N passed, M failed`.
"""
import json
import os
import re
import sys

import suite
from suite import Failure, contains, same

PORTENT = ""
SUITE = suite.Suite("places")
test = SUITE.test
FOUND = 66

# Threads take turns by a pipe, of which no monitor knows. WHICH mutex main locks is filled in; `// NAME` marks lines.
C = r"""#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <portent.h>
struct account { int sum; pthread_mutex_t lock; } *account;
pthread_mutex_t global = PTHREAD_MUTEX_INITIALIZER;
int turn[2];
static void *worker(void *arg)
{
    portent_internal("busy", 1);
    pthread_mutex_lock(&global); // worker locks
    pthread_mutex_unlock(&global);
    pthread_mutex_lock(&account->lock); // worker locks on the heap
    pthread_mutex_unlock(&account->lock);
    if (syscall(SYS_write, turn[1], "", 1) != 1)
        abort();
    portent_internal("busy", 3);
    portent_internal("busy", 2); // worker ends
    return arg;
}
int main(void)
{
    pthread_t thread;
    char byte;
    account = calloc(1, sizeof *account);
    if (pipe(turn) || pthread_mutex_init(&account->lock, NULL))
        abort();
    if (pthread_create(&thread, NULL, worker, NULL)) // main starts
        abort();
    if (syscall(SYS_read, turn[0], &byte, 1) != 1)
        abort();
    struct account *mine = account; // what is read from here on is main's own
    pthread_mutex_lock(&WHICH); // main locks
    pthread_mutex_unlock(&WHICH); // main unlocks
    pthread_join(thread, NULL); // main joins
    return !mine;
}
"""
CPP = r"""#include <cstdlib>
#include <mutex>
#include <thread>
#include <sys/syscall.h>
#include <unistd.h>
#include <portent.h>
struct account { int sum; std::mutex lock; } *account;
std::mutex global;
int turn[2];
static void worker()
{
    portent_internal("busy", 1);
    {
        std::lock_guard<std::mutex> guard(global); // worker locks
    }
    {
        std::lock_guard<std::mutex> guard(account->lock); // worker locks on the heap
    }
    if (syscall(SYS_write, turn[1], "", 1) != 1)
        abort();
    portent_internal("busy", 3);
    portent_internal("busy", 2); // worker ends
}
int main()
{
    char byte;
    account = new struct account;
    if (pipe(turn))
        abort();
    std::thread thread(worker); // main starts
    if (syscall(SYS_read, turn[0], &byte, 1) != 1)
        abort();
    struct account *mine = account; // what is read from here on is main's own
    WHICH.lock(); // main locks
    WHICH.unlock(); // main unlocks
    thread.join(); // main joins
    return !mine;
}
"""
PROPERTIES = """property by_lock at main: !@worker(previously busy == 1);
property by_unlock at main: previously !@worker(previously busy == 1);
property by_join at main: @worker busy < 2;
"""


def ok(*command, status=0, **more):
    done = suite.run(*command, **more)
    if done.returncode != status:
        raise Failure(f"{' '.join(command)}\nexit status {done.returncode}, expected {status}\n{done.stdout}{done.stderr}")
    return done


def build(name, text, *flags):
    suite.write(name, text)
    ok(PORTENT, "c++" if name.endswith(".cpp") else "cc", "-Wall", "-Wextra", "-pthread", *flags, name, "-o", "prog")


def place(name, text, mark):
    """Where the marked line stands."""
    lines = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith("// " + mark)]
    same(f"lines marked {mark}", len(lines), 1)
    return f"{name}:{lines[0]}"


def told(text):
    """By property: its report, on one line."""
    found = re.findall(r"^(Property '([^']*)' is violated in thread.*?)^SUMMARY", text, re.M | re.S)
    return {name: " ".join(report.split()) for report, name in found}


def as_in_source(report):
    """`run` gives the address of what has no name, and the source's word for it with the place: only that word."""
    address = re.compile(r"\(0x[0-9a-f]+(?:#\d+)?\)(?:=\S+)? by (\S+) \(([^():]+:\d+): ([^()]+)\)")
    return {name: address.sub(r"(\3) by \1 (\2)", text) for name, text in report.items()}


def check_report(report, name, text, mutex):
    """The three reports of a run; `mutex` is what it calls the mutex that main locks."""
    def at(mark):
        return place(name, text, mark)
    same("reports", sorted(report), ["by_join", "by_lock", "by_unlock"])
    contains(report["by_lock"], f"First in acq({mutex}) by main ({at('main locks')})", f" by worker ({at('worker locks')})")
    contains(report["by_unlock"], f"First in rel({mutex}) by main ({at('main unlocks')})")
    contains(report["by_join"], f"First in join(worker) by main ({at('main joins')})", f"int(busy)=2 by worker ({at('worker ends')})")


def check_violations(name, text, mutex, flags):
    suite.write("p.prop", PROPERTIES)
    text = text.replace("WHICH", mutex)
    build(name, text, *flags)
    done = ok(PORTENT, "run", "-s", "p.prop", "-r", "r.json", "--", "./prog", status=FOUND)
    check_report(as_in_source(told(done.stderr)), name, text, mutex)
    with open("r.json", encoding="utf-8") as file:
        firsts = [p["first"] for p in json.load(file)["properties"]]
    same("places in JSON", [f["event"]["loc"] for f in firsts], [place(name, text, f"main {m}") for m in ("locks", "unlocks", "joins")])
    ok(PORTENT, "compile", "-s", "p.prop", "-o", "p.ptc", "./prog")
    alone = ok("./prog", status=FOUND, options="properties=p.ptc")
    check_report(told(alone.stderr), name, text, mutex)


@test
def both_sides_in_c():
    for level in ("-O0", "-O2"):
        for mutex in ("global", "mine->lock"):
            check_violations("a.c", C, mutex, [level])


@test
def both_sides_in_cpp():
    for level in ("-O0", "-O2"):
        for mutex in ("global", "mine->lock"):
            check_violations("a.cpp", CPP, mutex, [level])


@test
def ids_have_no_addresses():
    suite.write("p.prop", PROPERTIES)
    build("a.c", C.replace("WHICH", "mine->lock"), "-O2")
    ids = set()
    for _ in range(3):
        ok(PORTENT, "run", "-s", "p.prop", "-r", "r.json", "--", "./prog", status=FOUND)
        with open("r.json", encoding="utf-8") as file:
            ids.add(tuple(p["id"] for p in json.load(file)["properties"]))
    same("different ids", len(ids), 1)


def lines_of(program="./prog"):
    """A run recorded in full, without accesses: (thread, op, object, place)."""
    ok(PORTENT, "run", "--record-all", "-o", "t.trace", "--", program)
    found = []
    with open("t.trace", encoding="utf-8") as file:
        for line in file:
            event = re.fullmatch(r"([^|]*)\|(\w+)\((.*)\)\|([^|]*)(?:\|.*)?\n", line)
            if event and event[2] in ("fork", "join", "acq", "rel", "racq", "rrel", "wait", "notify", "sync"):
                found.append(event.groups())
    return found


EVERY = r"""#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, many[3];
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t c = PTHREAD_COND_INITIALIZER;
pthread_spinlock_t spin;
pthread_barrier_t barrier;
pthread_once_t once = PTHREAD_ONCE_INIT;
sem_t sem;
mtx_t mtx;
cnd_t cnd;
once_flag flag = ONCE_FLAG_INIT;
static void nothing(void) {}
static void *idle(void *arg) { return arg; }
static int idle_c11(void *arg) { return arg != NULL; }
int main(int argc, char **argv)
{
    struct timespec now = {0, 0};
    pthread_t thread;
    thrd_t thrd;
    (void)argv;
    pthread_spin_init(&spin, 0), pthread_barrier_init(&barrier, NULL, 1), sem_init(&sem, 0, 0);
    mtx_init(&mtx, mtx_plain), cnd_init(&cnd);
    for (int i = 0; i < 3; i++)
        pthread_mutex_init(&many[i], NULL);
    pthread_mutex_lock(&many[argc]); // acq many[1]
    pthread_mutex_unlock(&many[argc]); // rel many[1]
    pthread_mutex_trylock(&m); // acq m
    pthread_mutex_trylock(&m);
    pthread_cond_timedwait(&c, &m, &now); // rel m, acq m
    pthread_cond_signal(&c); // notify c
    pthread_cond_broadcast(&c); // notify c
    pthread_mutex_unlock(&m); // rel m
    pthread_rwlock_rdlock(&rw); // racq rw
    pthread_rwlock_unlock(&rw); // rrel rw
    pthread_rwlock_trywrlock(&rw); // acq rw
    pthread_rwlock_unlock(&rw); // rel rw
    pthread_spin_lock(&spin); // acq spin
    pthread_spin_unlock(&spin); // rel spin
    pthread_barrier_wait(&barrier); // sync barrier, sync barrier
    pthread_once(&once, nothing); // sync once, sync once
    sem_post(&sem); // sync sem
    sem_wait(&sem); // sync sem
    mtx_lock(&mtx); // acq mtx
    cnd_timedwait(&cnd, &mtx, &now); // rel mtx, acq mtx
    cnd_broadcast(&cnd); // notify cnd
    mtx_unlock(&mtx); // rel mtx
    call_once(&flag, nothing); // sync flag.__data, sync flag.__data
    pthread_create(&thread, NULL, idle, NULL); // fork idle
    pthread_join(thread, NULL); // join idle
    thrd_create(&thrd, idle_c11, NULL); // fork idle_c11
    thrd_join(thrd, NULL); // join idle_c11
}
"""


def announced(source):
    """The events that the lines of a source say they make, each with its line's number."""
    return [(number, event) for number, line in enumerate(source.splitlines(), 1)
            for event in line.partition("// ")[2].split(", ") if event]


@test
def every_kind_of_event():
    expected = [("main", *event.split(), f"a.c:{number}") for number, event in announced(EVERY)]
    for level in ("-O0", "-O2"):
        build("a.c", EVERY, level)
        same(f"{level}: recorded", lines_of(), expected)


PLAIN = r"""#include <pthread.h>
int plain_lock(pthread_mutex_t *mutex) { return pthread_mutex_lock(mutex); }
int plain_unlock(pthread_mutex_t *mutex) { return pthread_mutex_unlock(mutex); }
int plain_join(pthread_t thread) { return pthread_join(thread, 0); }
"""
CALLER = r"""#include <pthread.h>
#include <system_error>
#include <thread>
extern "C" int plain_lock(pthread_mutex_t *), plain_unlock(pthread_mutex_t *), plain_join(pthread_t);
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *idle(void *arg) { return arg; }
int main()
{
    int (*volatile unlock)(pthread_mutex_t *) = pthread_mutex_unlock;
    pthread_t thread;
    pthread_mutex_lock(&m); // acq m
    plain_unlock(&m); // rel m unseen
    plain_lock(&m); // acq m unseen
    unlock(&m); // rel m unseen
    pthread_create(&thread, nullptr, idle, nullptr); // fork idle
    std::thread none;
    try {
        none.join(); // never comes to pthread_join
    } catch (const std::system_error &) {
    }
    plain_join(thread); // join idle unseen
}
"""


@test
def callers_without_instrumentation():
    suite.write("plain.c", PLAIN)
    ok("cc", "-O2", "-c", "plain.c", "-o", "plain.o")
    expected = []
    for number, line in enumerate(CALLER.splitlines(), 1):
        event = re.fullmatch(r".*// (acq|rel|fork|join) (\w+)( unseen)?", line)
        if event:
            expected.append(("main", event[1], event[2], "-" if event[3] else f"a.cpp:{number}"))
    for level in ("-O0", "-O2"):
        build("a.cpp", CALLER, level, "plain.o")
        found = lines_of()
        inside = {event for event in found if event[1] in ("sync", "notify", "wait")}  # of the C++ library, when it throws
        same(f"{level}: places inside the library", {event[3] for event in inside}, {"-"})
        same(f"{level}: recorded", [event for event in found if event not in inside], expected)


CPP_EVERY = r"""#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
std::mutex m, n;
std::recursive_mutex again;
std::shared_mutex shared;
std::condition_variable ready;
std::once_flag flag;
static void idle() {}
template <class Lock> static void take(Lock &lock)
{
    lock.lock(); // acq again
}
int main()
{
    m.lock(); // acq m
    m.unlock(); // rel m
    {
        std::scoped_lock both(m, n); // acq m, acq n
    } // rel m, rel n
    take(again);
    again.unlock(); // rel again
    {
        std::shared_lock<std::shared_mutex> reader(shared); // racq shared
    } // rrel shared
    {
        std::unique_lock<std::mutex> guard(m); // acq m
        ready.wait_for(guard, std::chrono::milliseconds(1), [] { return false; }); // rel m, acq m
        ready.notify_all(); // notify
    } // rel m
    std::call_once(flag, [] {}); // sync, sync
    std::vector<std::thread> threads;
    threads.emplace_back(idle); // fork idle
    for (auto &thread : threads)
        thread.join(); // join idle
}
"""


@test
def events_of_the_cpp_library():
    expected = [(*event.split(), f"a.cpp:{number}") for number, event in announced(CPP_EVERY)]
    inside = expected.pop(0)  # the template comes first in the source
    expected.insert([e[1] for e in expected].index("again"), inside)
    for level in ("-O0", "-O2"):
        build("a.cpp", CPP_EVERY, "-std=c++17", level)
        found = []
        for _, op, name, loc in lines_of():
            found.append((op, loc) if op in ("sync", "notify", "wait") else (op, name, loc))
        same(f"{level}: recorded", found, expected)


CAPTURED = r"""#include <thread>
long sink;
int main()
{
    int *numbers = new int[100]();
    std::thread thread([numbers] {
        int sum = 0;
        for (int i = 0; i < 100; i++)
            sum += numbers[i];
        sink = sum;
    });
    for (int i = 0; i < 100; i++)
        numbers[i] = i;
    thread.join();
    return 0;
}
"""


@test
def members_of_what_was_inlined():
    """Inlined, the lambda is a part of the library's object: its `this` is that address and something more."""
    for level in ("-O0", "-O1", "-O2", "-O3"):
        build("captured.cpp", CAPTURED, level)
        ok(PORTENT, "run", "--races", "-r", "r.json", "--", "./prog", status=FOUND)
        with open("r.json", encoding="utf-8") as file:
            (finding,) = json.load(file)["properties"][0]["findings"]
        if not re.fullmatch(r"\*?(this->)?numbers(\[\d*\])?", finding["object"]):
            raise Failure(f"{level}: {finding['object']}")


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    return SUITE.run(sys.argv[2:], suite.in_folder)


if __name__ == "__main__":
    sys.exit(main())
