#!/usr/bin/env python3
"""Races in recordings: run_races.py PORTENT [TEST...]

`portent check --races` on what `portent run --record-all -o` has recorded: of programs without races nothing is found, of racing ones
exactly the pairs of lines that the program marks, by comments `/* A */` and `/* B */`, whichever thread comes first. A pipe, of which
nothing is known that would order memory, lets threads of racing programs act one after the other where it matters what is seen. The last
line is `recorded-races: N passed, M failed`.
"""
import argparse
import itertools
import json
import pathlib
import re
import sys
import tempfile

import suite
from suite import Failure, run, same

HEAD = r"""#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int pipes[2];
static inline void go(void) { char c = 0; if (syscall(SYS_write, pipes[1], &c, 1) != 1) _exit(9); }
static inline void await(void) { char c; if (syscall(SYS_read, pipes[0], &c, 1) != 1) _exit(9); }
static void *one(void *), *two(void *);
static inline void both(void)
{
    pthread_t a, b;
    if (pipe(pipes)) _exit(9);
    pthread_create(&a, NULL, one, NULL);
    pthread_create(&b, NULL, two, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}
#line 1
"""

QUIET = {
    "bytes_of_a_filled_block": r"""
int *a;
static void *one(void *p) { a[0]++; return p; }
static void *two(void *p) { a[1]++; return p; }
int main(void) { a = malloc(64); memset(a, 0, 64); both(); return a[0] != 1 || a[1] != 1; }
""",
    "chars_of_one_granule": r"""
char *a;
static void *one(void *p) { for (int i = 0; i < 8; i += 2) a[i] = 1; return p; }
static void *two(void *p) { for (int i = 1; i < 8; i += 2) a[i] = 2; return p; }
int main(void) { a = calloc(1, 8); memset(a, 3, 8); both(); return a[7] != 2; }
""",
    "members_of_a_copied_struct": r"""
struct s { int a; short b; char c, d; long e; } *s, from = {1, 2, 3, 4, 5};
static void *one(void *p) { s->a++; s->c = 1; return p; }
static void *two(void *p) { s->b++; memset(&s->d, 0, 1); s->e++; return p; }
int main(void) { s = malloc(sizeof *s); memcpy(s, &from, sizeof from); both(); struct s copy; memcpy(&copy, s, sizeof copy); return copy.a != 2; }
""",
    "halves_of_a_named_variable": r"""
union { long whole; int half[2]; } u;
long plain;
static void *one(void *p) { u.half[0] = 1; memset(&plain, 1, 4); return p; }
static void *two(void *p) { u.half[1] = 2; memset((char *)&plain + 4, 2, 4); return p; }
int main(void) { u.whole = 3; both(); return u.whole + plain == 0; }
""",
    "mutex": r"""
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int x;
static void *one(void *p) { for (int i = 0; i < 50; i++) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); } return p; }
static void *two(void *p) { return one(p); }
int main(void) { both(); return x != 100; }
""",
    "rwlock": r"""
pthread_rwlock_t m = PTHREAD_RWLOCK_INITIALIZER; int x, y;
static void *one(void *p) { for (int i = 0; i < 50; i++) { pthread_rwlock_wrlock(&m); x++; y = x; pthread_rwlock_unlock(&m); } return p; }
static void *two(void *p) { int bad = 0; for (int i = 0; i < 50; i++) { pthread_rwlock_rdlock(&m); bad |= x != y; pthread_rwlock_unlock(&m); } return bad ? p : &x; }
int main(void) { both(); return x != 50; }
""",
    "condition": r"""
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; int ready, x;
static void *one(void *p) { x = 5; pthread_mutex_lock(&m); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&m); return p; }
static void *two(void *p) { pthread_mutex_lock(&m); while (!ready) pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); x++; return p; }
int main(void) { both(); return x != 6; }
""",
    "barrier": r"""
pthread_barrier_t b; int x, y;
static void *one(void *p) { x = 1; pthread_barrier_wait(&b); int z = y; pthread_barrier_wait(&b); y = z + 1; return p; }
static void *two(void *p) { y = 1; pthread_barrier_wait(&b); int z = x; pthread_barrier_wait(&b); x = z + 1; return p; }
int main(void) { pthread_barrier_init(&b, NULL, 2); both(); return x + y != 4; }
""",
    "semaphore": r"""
sem_t s; int x;
static void *one(void *p) { x = 1; sem_post(&s); return p; }
static void *two(void *p) { sem_wait(&s); x++; return p; }
int main(void) { sem_init(&s, 0, 0); both(); return x != 2; }
""",
    "once": r"""
pthread_once_t o = PTHREAD_ONCE_INIT; int x;
static void make(void) { x = 1; }
static void *one(void *p) { pthread_once(&o, make); return x ? p : &x; }
static void *two(void *p) { pthread_once(&o, make); return x ? p : &x; }
int main(void) { both(); return x != 1; }
""",
    "release_and_acquire": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; atomic_store_explicit(&f, 1, memory_order_release); return p; }
static void *two(void *p) { while (!atomic_load_explicit(&f, memory_order_acquire)) usleep(100); x++; return p; }
int main(void) { both(); return x != 2; }
""",
    "fences": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; atomic_thread_fence(memory_order_release); atomic_store_explicit(&f, 1, memory_order_relaxed); return p; }
static void *two(void *p)
{
    while (!atomic_load_explicit(&f, memory_order_relaxed))
        usleep(100);
    atomic_thread_fence(memory_order_acquire);
    x++;
    return p;
}
int main(void) { both(); return x != 2; }
""",
    "release_sequence": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; atomic_store_explicit(&f, 1, memory_order_release); go(); return p; }
static void *two(void *p)
{
    await();
    atomic_fetch_add_explicit(&f, 1, memory_order_relaxed);
    if (atomic_load_explicit(&f, memory_order_acquire) == 2)
        x++;
    return p;
}
int main(void) { both(); return x != 2; }
""",
    "exchange": r"""
atomic_int l; int x;
static void lock(void) { int no = 0; while (!atomic_compare_exchange_weak_explicit(&l, &no, 1, memory_order_acquire, memory_order_relaxed)) { no = 0; usleep(50); } }
static void *one(void *p) { for (int i = 0; i < 20; i++) { lock(); x++; atomic_store_explicit(&l, 0, memory_order_release); } return p; }
static void *two(void *p) { return one(p); }
int main(void) { both(); return x != 40; }
""",
    "relaxed_counter": r"""
atomic_int n;
static void *one(void *p) { for (int i = 0; i < 20; i++) atomic_fetch_add_explicit(&n, 1, memory_order_relaxed); return p; }
static void *two(void *p) { return one(p); }
int main(void) { both(); return n != 40; }
""",
    "create_and_join_with_realloc": r"""
int *a; size_t n;
static void *one(void *p) { a = realloc(a, ++n * sizeof *a); a[n - 1] = (int)n; free(malloc(40)); return p; }
static void *two(void *p) { return p; }
int main(void)
{
    for (int i = 0; i < 40; i++) {
        pthread_t t;
        pthread_create(&t, NULL, i % 2 ? two : one, NULL);
        char *piece = malloc(24);
        memset(piece, i, 24);
        free(piece);
        pthread_join(t, NULL);
    }
    return n != 20;
}
""",
    "detached": r"""
static sem_t s;
static void *one(void *p) { volatile char room[256]; memset((void *)room, 1, 256); int *r = malloc(8); r[0] = room[3]; free(r); sem_post(&s); return p; }
static void *two(void *p) { return p; }
int main(void)
{
    pthread_attr_t a;
    sem_init(&s, 0, 0);
    pthread_attr_init(&a);
    pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 30; i++) {
        pthread_t t;
        pthread_create(&t, &a, i ? one : two, NULL);
        if (i)
            sem_wait(&s);
    }
    return 0;
}
""",
    "stack_without_locks": r"""
struct n { struct n *next; int v; };
static _Atomic(struct n *) head;
static atomic_int left = 30;
static void *one(void *p)
{
    for (int i = 0; i < 30; i++) {
        struct n *x = malloc(sizeof *x);
        x->v = i;
        x->next = atomic_load_explicit(&head, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&head, &x->next, x, memory_order_release, memory_order_relaxed))
            ;
    }
    return p;
}
static void *two(void *p)
{
    while (atomic_load(&left) > 0) {
        struct n *x = atomic_exchange_explicit(&head, NULL, memory_order_acquire);
        for (struct n *next; x; x = next, atomic_fetch_sub(&left, 1)) { next = x->next; x->v++; free(x); }
        usleep(100);
    }
    return p;
}
int main(void) { both(); return left != 0; }
""",
    "blocks_of_their_own": r"""
static void *one(void *p) { for (int i = 0; i < 30; i++) { int *a = malloc(32); memset(a, 0, 32); a[1]++; free(a); } return p; }
static void *two(void *p) { return one(p); }
int main(void) { both(); return 0; }
""",
}

RACING = {
    "plain": r"""
int x;
static void *one(void *p) { x = 1; /* A */ return p; }
static void *two(void *p) { x = 2; /* B */ return p; }
int main(void) { both(); return 0; }
""",
    "same_bytes_of_a_filled_block": r"""
char *a;
static void *one(void *p) { memset(a, 1, 4); /* A */ return p; }
static void *two(void *p) { a[3] = 1; /* B */ a[4] = 1; return p; }
int main(void) { a = malloc(16); memset(a, 0, 16); both(); return 0; }
""",
    "one_byte_of_a_number": r"""
long *x;
static void *one(void *p) { *x = 1; /* A */ return p; }
static void *two(void *p) { ((char *)x)[7] = 1; /* B */ return p; }
int main(void) { x = malloc(sizeof *x); *x = 0; both(); return 0; }
""",
    "member_and_copy": r"""
struct s { int a, b; } *s, to;
static void *one(void *p) { s->b = 1; /* A */ return p; }
static void *two(void *p) { memcpy(&to, s, sizeof to); /* B */ return p; }
int main(void) { s = calloc(1, sizeof *s); s->a = 1; both(); return 0; }
""",
    "relaxed_flag": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; /* A */ atomic_store_explicit(&f, 1, memory_order_relaxed); go(); return p; }
static void *two(void *p) { await(); if (atomic_load_explicit(&f, memory_order_acquire)) x++; /* B */ return p; }
int main(void) { both(); return x != 2; }
""",
    "relaxed_load": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; /* A */ atomic_store_explicit(&f, 1, memory_order_release); go(); return p; }
static void *two(void *p) { await(); if (atomic_load_explicit(&f, memory_order_relaxed)) x = 2; /* B */ return p; }
int main(void) { both(); return x != 2; }
""",
    "fence_of_one_side": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; /* A */ atomic_thread_fence(memory_order_release); atomic_store_explicit(&f, 1, memory_order_relaxed); go(); return p; }
static void *two(void *p) { await(); if (atomic_load_explicit(&f, memory_order_relaxed)) x = 2; /* B */ return p; }
int main(void) { both(); return x != 2; }
""",
    "store_that_ends_a_release_sequence": r"""
atomic_int f; int x;
static void *one(void *p) { x = 1; /* A */ atomic_store_explicit(&f, 1, memory_order_release); go(); return p; }
static void *two(void *p)
{
    await();
    atomic_store_explicit(&f, 2, memory_order_relaxed);
    if (atomic_load_explicit(&f, memory_order_acquire) == 2)
        x = 2; /* B */
    return p;
}
int main(void) { both(); return x != 2; }
""",
    "atomic_and_plain": r"""
_Atomic int n; int *plain = (int *)&n;
static void *one(void *p) { atomic_store(&n, 1); /* A */ return p; }
static void *two(void *p) { *plain = 2; /* B */ return p; }
int main(void) { both(); return 0; }
""",
    "two_locks": r"""
pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER; int x;
static void *one(void *p) { pthread_mutex_lock(&l); x = 1; /* A */ pthread_mutex_unlock(&l); return p; }
static void *two(void *p) { pthread_mutex_lock(&m); x = 2; /* B */ pthread_mutex_unlock(&m); return p; }
int main(void) { both(); return 0; }
""",
}

OPENMP = r"""
#include <stdlib.h>
int main(void)
{
    int *a = malloc(100 * sizeof *a);
    long s = 0;
#pragma omp parallel for reduction(+ : s) num_threads(3)
    for (int i = 0; i < 100; i++) { a[i] = i; s += a[i]; }
#pragma omp parallel num_threads(3)
    {
#pragma omp critical
        s++;
#pragma omp barrier
#pragma omp single
        s++;
    }
    return s != 4950 + 4;
}
"""

# A static of a function, whose guard the C++ library writes; the threads of the standard library.
CPP = r"""
#include <string>
#include <condition_variable>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>
static std::mutex m; static std::condition_variable c; static bool ready; static std::atomic<int> f; static int x, y;
static int &made() { static std::string text = "abc"; static int length = (int)text.size(); return length; }
int main()
{
    std::thread one([] { x = 1; y = 1; { std::lock_guard<std::mutex> hold(m); ready = true; } c.notify_one(); f.store(1, std::memory_order_release); });
    std::thread two([] { std::unique_lock<std::mutex> hold(m); c.wait(hold, [] { return ready; }); x++; });
    while (!f.load(std::memory_order_acquire)) std::this_thread::yield();
    y++;
    one.join();
    two.join();
    std::vector<std::thread> all;
    for (int i = 0; i < 4; i++) all.emplace_back([] { int length = made(); std::lock_guard<std::mutex> hold(m); x += length; });
    for (auto &t : all) t.join();
    return x != 14 || y != 2;
}
"""

# Memory that goes from one thread to the next through a pool, which the library, uninstrumented, or the program's lock guards: in no order of these
# events is it both threads' at a time.
POOL = r"""
#include <memory_resource>
#include <mutex>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
static std::pmr::unsynchronized_pool_resource guarded; static std::mutex m; static int pipes[2], *first, *again;
static std::pmr::synchronized_pool_resource pool; static int *passed;
static void go() { char c = 0; if (syscall(SYS_write, pipes[1], &c, 1) != 1) _exit(9); }
static void await() { char c; if (syscall(SYS_read, pipes[0], &c, 1) != 1) _exit(9); }
static int *use()
{
    int *memory;
    { std::lock_guard<std::mutex> hold(m); memory = static_cast<int *>(guarded.allocate(32, 8)); }
    memory[3] = 1;
    { std::lock_guard<std::mutex> hold(m); guarded.deallocate(memory, 32, 8); }
    return memory;
}
static void give()
{
    int *memory = static_cast<int *>(pool.allocate(64, 8));
    memory[1] = 1;
    std::lock_guard<std::mutex> hold(m);
    passed = memory;
}
static void take()
{
    std::lock_guard<std::mutex> hold(m);
    passed[1] = 2;
    pool.deallocate(passed, 64, 8);
}
int main()
{
    if (pipe(pipes)) _exit(9);
    std::thread one([] { first = use(); give(); go(); });
    std::thread two([] { await(); again = use(); take(); });
    one.join();
    two.join();
    std::thread three(give);
    three.join();
    return first != again;
}
"""

tests = suite.Suite("recorded-races")


def record(folder, name, source, optimise, compiler="cc", *options):
    """Builds and records the program; returns what `check --races` says of it."""
    path, program, trace = folder / (name + (".c" if compiler == "cc" else ".cc")), folder / name, folder / (name + ".trace")
    path.write_text(source)
    built = run(PORTENT, compiler, optimise, "-g", "-pthread", *options, path, "-o", program)
    same(f"{name}: compiling it", (built.returncode, built.stderr), (0, ""))
    ran = run(PORTENT, "run", "--record-all", "-o", trace, "--", program)
    if ran.returncode not in (0, 4):
        raise Failure(f"{name}: it ended with {ran.returncode}\n{ran.stdout}{ran.stderr}")
    done = run(PORTENT, "check", "--races", "--json", trace)
    (answer,) = json.loads(done.stdout)["properties"]
    return done.returncode, answer, trace


def marked(source):
    """The lines of the places A and B."""
    lines = source.split("\n")
    return tuple(sorted(next(i for i, line in enumerate(lines, 1) if f"/* {mark} */" in line) for mark in "AB"))


def pairs(answer):
    found = [tuple(sorted(int(re.search(r":(\d+)$", side["loc"])[1]) for side in (f["first"], f["second"]))) for f in answer["findings"]]
    return sorted(found)


def add(name, optimise, source, expected):
    def test():
        with tempfile.TemporaryDirectory() as folder:
            status, answer, trace = record(pathlib.Path(folder), name, HEAD + source, optimise)
            if (status, pairs(answer)) != (1 if expected else 0, expected):
                raise Failure(f"status {status}, {pairs(answer)}, expected {expected}\n{json.dumps(answer, indent=1)}\n{trace.read_text()}")
    test.__name__ = f"{name}{optimise}"
    tests.test(test)


for kind, optimise in itertools.product((QUIET, RACING), ("-O0", "-O2")):
    for title, text in kind.items():
        add(title, optimise, text, [marked(text)] if kind is RACING else [])


def add_other(name, compiler, optimise, source, *options):
    def test():
        with tempfile.TemporaryDirectory() as folder:
            status, answer, trace = record(pathlib.Path(folder), name, source, optimise, compiler, *options)
            if status != 0:
                raise Failure(f"{json.dumps(answer, indent=1)}\n{trace.read_text()}")
    test.__name__ = f"{name}{optimise}"
    tests.test(test)


for optimise in ("-O0", "-O2"):
    add_other("cpp", "c++", optimise, CPP)
    add_other("pool", "c++", optimise, POOL, "-std=c++17")
    add_other("openmp", "cc", optimise, OPENMP, "-fopenmp")


@tests.test
def orders_and_bytes_are_in_the_trace():
    """As the program has them; the binary form has the same."""
    source = HEAD + r"""
atomic_int f; char text[8];
static void *one(void *p) { return p; }
static void *two(void *p) { return p; }
int main(void)
{
    int expected = 9;
    both();
    char *block = malloc(8);
    memset(block, 0, 8);
    block[3] = 1;
    atomic_store_explicit(&f, 1, memory_order_release);
    atomic_fetch_add_explicit(&f, 1, memory_order_acq_rel);
    atomic_compare_exchange_strong_explicit(&f, &expected, 3, memory_order_seq_cst, memory_order_acquire);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&f, memory_order_relaxed) != 2;
}
"""
    with tempfile.TemporaryDirectory() as folder:
        _, _, trace = record(pathlib.Path(folder), "orders", source, "-O1")
        lines = [line for line in trace.read_text().split("\n") if line.startswith("main|")]
        ends = [re.sub(r"0x[0-9a-f]+(#\d+)?(\+\d+)?", "ADDRESS", re.sub(r"\|[^|]*orders\.c:\d+|\|s=\d+", "", line)) for line in lines]
        atomic = [line for line in ends if "(f)" in line or "fence" in line]
        same("atomic events", atomic, ["main|w(f)=1|m=release", "main|u(f)=2|m=acq_rel", "main|r(f)=2|m=acquire", "main|fence|m=acquire",
                                       "main|r(f)=2|m=relaxed"])
        same("a part", [line for line in ends if "|b=" in line], ["main|w(ADDRESS)|b=3-3"])
        for form, other in (("a.ptb", trace), ("back.trace", pathlib.Path(folder) / "a.ptb")):
            same("convert", run(PORTENT, "convert", other, "-o", pathlib.Path(folder) / form).returncode, 0)
        recorded = [line for line in trace.read_text().splitlines() if not line.startswith("#!")]  # marks of a recording
        same("back again", (pathlib.Path(folder) / "back.trace").read_text().splitlines(), recorded)


@tests.test
def fences_of_a_recording_with_clocks():
    """A fence is an event of its thread for decentralised properties, in the program and in its recording."""
    source = HEAD + r"""
int x;
static void *one(void *p) { x = 1; atomic_thread_fence(memory_order_release); x = 2; return p; }
static void *two(void *p) { return p; }
int main(void) { both(); return x != 2; }
"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.c").write_text(source)
        (folder / "a.prop").write_text("property small at each i: x < 2;\n")
        same("compiling it", run(PORTENT, "cc", "-O1", "-g", "-pthread", "a.c", "-o", "a", cwd=folder).returncode, 0)
        run(PORTENT, "run", "-s", "a.prop", "-r", "a.json", "-o", "a.trace", "--", "./a", cwd=folder)
        suite.contains((folder / "a.trace").read_text(), "|m=release|c=")
        checked = run(PORTENT, "check", "--json", "--order", "access", "-s", "a.prop", "a.trace", cwd=folder)
        live, later = (json.loads(text)["properties"][0]["at"] for text in ((folder / "a.json").read_text(), checked.stdout))
        same("states", live, later)
        same("of the thread with the fence", [part["states"] for part in later if part["thread"] == "one"], [[3, 4]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Races in recordings of programs.")
    parser.add_argument("portent", type=pathlib.Path)
    parser.add_argument("test", nargs="*")
    args = parser.parse_args()
    PORTENT = args.portent.resolve()
    sys.exit(tests.run(args.test))
