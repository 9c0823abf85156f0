#!/usr/bin/env python3
"""Tests of recordings that programs make by themselves (record=FILE): run_record.py PORTENT [NAME...]

That events which depend on each other have their real order is seen by the values that they carry; what is left of a recording when the
program is killed, the disk is full or the file is cut off must be a beginning of it, and say so. The last line is `record: N passed, M
failed`.
"""
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import time

from suite import Failure, Suite, contains, in_folder, run, same, true, write

PORTENT = ""
SUITE = Suite("record")
test = SUITE.test

# Pages that threads take from each other, and give back: blocks of pages that are written and read without any order, by
# accesses of one granule, of two, and by copies; a page that cannot be accessed until the handler of the fault makes it so.
PAGES = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
enum { THREADS = 3, PAGES = 8, PAGE = 4096 };
struct __attribute__((packed)) across { int pad; long value; };
static pthread_barrier_t all;
static char *block, *guarded;
static unsigned sum;

static void open_again(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    mprotect((void *)((unsigned long)info->si_addr & ~4095ul), PAGE, PROT_READ | PROT_WRITE);
}

static void use(char *page, unsigned me, unsigned turn, unsigned *seed)
{
    volatile long *own = (volatile long *)page;
    volatile struct across *across = (volatile struct across *)(page + 512);
    for (unsigned i = 0; i < 6; i++) {
        unsigned what = (*seed = *seed * 1103515245 + 12345) >> 16;
        if (what % 8 == 0)
            own[what / 8 % 4] = (long)(me + 1) << 40 | turn << 4 | i;
        else if (what % 8 == 1)
            across->value = (long)(me + 1) << 40 | turn << 4 | i;
        else if (what % 8 == 2)
            memcpy(page + 1024, page + 2048, 48);
        else if (what % 8 == 3)
            memset(page + 2048, (int)(turn + me), 48);
        else
            sum += (unsigned)(what % 2 ? own[what / 8 % 4] : across->value);
    }
}

static void *work(void *number)
{
    unsigned me = (unsigned)(unsigned long)number, seed = me + 1;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        if (turn % THREADS == me) {
            block = aligned_alloc(PAGE, PAGES * PAGE);
            mprotect(guarded, PAGE, PROT_NONE);
        }
        pthread_barrier_wait(&all);
        for (unsigned i = 0; i < 3 * PAGES; i++)
            use(block + (i + me * 3) % PAGES * PAGE, me, turn, &seed);
        use(guarded, me, turn, &seed);
        pthread_barrier_wait(&all);
        if ((turn + 1) % THREADS == me)
            free(block);
        pthread_barrier_wait(&all);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_sigaction = open_again, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    guarded = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_barrier_init(&all, NULL, THREADS);
    for (unsigned long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return sum == 1;
}
"""

# Threads that read and write a few variables as they like, of several sizes, some next to each other; with locks, atomics and copies.
MIXED = r"""
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define COUNT 4
static int a, b;
static short c[4];
static long d;
static atomic_long e;
static unsigned long big[4]; /* values that are remembered for their granules */
static struct { char f[12]; } g, h;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
    unsigned seed = (unsigned)(long)argument;
    volatile int seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        switch (rand_r(&seed) % 11) {
        case 0: a = a + 1; break;
        case 9: big[i % 4] = big[(i + 1) % 4] * 6364136223846793005ul + (i % 3 ? 1442695040888963407ul : 1); break;
        case 10: seen = (int)(big[i % 4] + big[(i + 2) % 4]); if (i % 16 == 0) big[i / 16 % 4] = (unsigned long)i; break;
        case 1: b = i; break;
        case 2: c[i % 4] = (short)i; seen = c[(i + 1) % 4]; break;
        case 3: pthread_mutex_lock(&m); d += 3; pthread_mutex_unlock(&m); break;
        case 4: atomic_fetch_add(&e, 1); break;
        case 5: seen = (int)atomic_load(&e); break;
        case 6: memset(&g, i % 100, sizeof g); break;
        case 7: h = g; break;
        default: seen = a + b; break;
        }
    }
    return argument;
}
int main(void) {
    pthread_t all[COUNT];
    for (long i = 0; i < COUNT; i++) pthread_create(&all[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < COUNT; i++) pthread_join(all[i], NULL);
    return 0;
}
"""
# The same of accesses that lie in two granules, and of memory without names: of the heap, members and ranges, of which threads are the
# first to touch most. Two threads use it without a lock; what one of them writes by itself comes between.
NAMELESS = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct __attribute__((packed)) record { char tag; long whole; int half; short part[3]; };
struct __attribute__((packed)) loose { long both; };
static struct record *shared[8];
static struct record near[4];
static _Alignas(16) int pair[4]; /* the middle two, each in another granule, are written at once */
static void *work(void *argument) {
    unsigned seed = (unsigned)(long)argument;
    struct record *own = malloc(8 * sizeof *own);
    volatile long seen = 0;
    memset(own, 0, 8 * sizeof *own);
    for (int i = 0; i < 4000; i++) {
        struct record *r = i % 5 ? shared[rand_r(&seed) % 8] : &near[rand_r(&seed) % 4];
        if (i % 40 == 0) usleep(1); /* the other one's turn, where there is one processor */
        switch (rand_r(&seed) % 9) {
        case 7: ((struct loose *)(pair + 1))->both = (long)i << 32 | i; break;
        case 8: seen += pair[1 + i % 2]; break;
        case 0: r->whole = i * 0x123456789l; break;
        case 1: seen += r->whole; break;
        case 2: r->half = i; seen += r->part[i % 3]; break;
        case 3: r->part[i % 3] = (short)i; seen += r->half; break;
        case 4: own[i % 8] = *r; break;
        case 5: *r = own[i % 8]; break;
        default: own[i % 8].whole = i; seen += own[(i + 3) % 8].whole; break;
        }
    }
    free(own);
    return argument;
}
int main(void) {
    pthread_t one, two;
    for (int i = 0; i < 8; i++) shared[i] = malloc(sizeof *shared[i]);
    pthread_create(&one, NULL, work, (void *)1);
    pthread_create(&two, NULL, work, (void *)2);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
"""
# Two threads take turns by memory of which nobody knows: assembly is not instrumented. So nothing orders what they write but the time.
IN_TIME = r"""
#include <pthread.h>
#include <stdlib.h>
#ifdef HEAP
#include <portent.h>
static int *heap;
#define a heap[0]
#define b heap[1 << 19]
static void place(void) {
    heap = calloc(1 << 20, sizeof *heap); /* not next to static memory */
    portent_watch(&a, sizeof a, PORTENT_INT, "a");
    portent_watch(&b, sizeof b, PORTENT_INT, "b");
}
#else
static _Alignas(64) int a;
static _Alignas(64) int b;
static void place(void) { }
#endif
static _Alignas(64) int turn;
static int look(void) { int now; __asm__ volatile("movl %1, %0" : "=r"(now) : "m"(turn)); return now; }
static void pass(int next) {
    for (int i = 0; i < PAUSES; i++) __asm__ volatile("pause");
    __asm__ volatile("movl %1, %0" : "=m"(turn) : "r"(next) : "memory");
}
static void await(int wanted) { while (look() != wanted) __asm__ volatile("pause"); }
static void *work(void *argument) {
    int *own = malloc(OWN), *at = &b;
    for (int i = 0; i < 20; i++) { await(2 * i + 1); *own = i; *at = i; *own = -i; pass(2 * i + 2); }
    free(own);
    return argument;
}
int main(void) {
    pthread_t other;
    int *own = malloc(OWN), *at = (place(), &a);
    pthread_create(&other, NULL, work, NULL);
    for (int i = 0; i < 20; i++) { await(2 * i); *own = i; *at = i; *own = -i; pass(2 * i + 1); }
    pthread_join(other, NULL);
    free(own);
    return 0;
}
"""
# Ends by itself when it has counted so far, in the way that its argument says.
ENDING = r"""
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static long x;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long most;
static void *work(void *argument) {
    for (;;) {
        pthread_mutex_lock(&m);
        if (x == most) kill(getpid(), SIGKILL);
        x++;
        pthread_mutex_unlock(&m);
    }
    return argument;
}
int main(int count, char **arguments) {
    pthread_t one, two;
    most = atol(arguments[count - 1]);
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, NULL);
    pthread_join(one, NULL);
    return 0;
}
"""
FORKING = r"""
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int x;
int main(int count, char **arguments) {
    x = 1;
    if (count == 1) {
        pid_t child = fork();
        if (child == 0) { for (int i = 0; i < 100000; i++) x = 77; _exit(0); }
        waitpid(child, NULL, 0);
        child = fork();
        if (child == 0) { execl(arguments[0], arguments[0], "inner", (char *)NULL); _exit(9); }
        waitpid(child, NULL, 0);
        printf("%d\n", (int)child);
    }
    x = count == 1 ? 2 : 3;
    return 0;
}
"""
# The first thread ends before the others, and what runs at the end is part of the recording.
LEAVING = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static int x, y;
static void bye(void) { x = 9; }
static void *work(void *argument) { usleep(20000); __atomic_add_fetch(&y, 1, __ATOMIC_SEQ_CST); return argument; }
int main(void) {
    pthread_t t;
    atexit(bye);
    x = 1;
    for (int i = 0; i < 3; i++) { pthread_create(&t, NULL, work, NULL); pthread_detach(t); }
    pthread_exit(NULL);
}
"""
BECOMING = r"""
#include <unistd.h>
static int x;
int main(int count, char **arguments) {
    x = count;
    if (count == 1) execl(arguments[0], arguments[0], "inner", (char *)NULL);
    x = count + 10;
    return 0;
}
"""
# Values to begin with: of several sizes, next to each other, through a pointer, first read or first written, and in a library.
BEGINNING = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static short near[4] = {1, 2, 3, 4};
static struct { char letter; int number; double part; } all = {'a', -5, 2.5};
static int zero, never = 8, *pointer = &never;
static unsigned long large = 18446744073709551615ul;
static char filled[8] = "before";
int limit = 5, level;
static void *one(void *argument) {
    level = 3;
    near[1] = (short)(near[2] + 10);
    all.number = all.part > 2;
    zero++;
    large = 1;
    *pointer = 9;
    memset(filled, 'x', 4);
    return argument;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, one, NULL);
    pthread_join(t, NULL);
    return level > limit;
}
"""
STUCK = r"""
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *one(void *argument) { pthread_mutex_lock(&a); pthread_barrier_wait(&both); pthread_mutex_lock(&b); return argument; }
static void *two(void *argument) { pthread_mutex_lock(&b); pthread_barrier_wait(&both); pthread_mutex_lock(&a); return argument; }
int main(void) {
    pthread_t t[2];
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
"""
PARTS = r"""#include <pthread.h>
static int n;
static union { int i; char c; } u;
static struct { unsigned x : 3, y : 5; } bits = {1, 2};
static char text[8] = "abc";
static void *work(void *unused)
{
    n = 8, u.i = 8, bits.y = 9, text[0] = 'd';
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
"""
# `two` comes when `one` is done, which nobody sees. An object with two names, one whose memory is another object's later, one that a thread
# has for itself, a text in parts, a global under its own name; `late` was written by others before it had a name.
NAMED = r"""
#include <portent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static struct pair { int x, y; } *pair;
static char *words;
static long *mine, global = 3;
static int *shared, turn;
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *argument) {
    pair->x = 1;
    pthread_mutex_lock(&l); pair->y = 1; pthread_mutex_unlock(&l);
    *shared = 1;
    __asm__ volatile("movl $1, %0" : "=m"(turn) : : "memory");
    return argument;
}
static void *two(void *argument) {
    for (int seen = 0; !seen;)
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(turn) : "memory");
    pthread_mutex_lock(&l); pair->y = 2; pthread_mutex_unlock(&l);
    portent_watch(shared, sizeof *shared, PORTENT_INT, "late");
    *shared = 2;
    return argument;
}
int main(void) {
    pthread_t t[2];
    pair = malloc(sizeof *pair);
    pair->x = 0, pair->y = 7;
    words = calloc(1, 16), mine = calloc(1, sizeof *mine), shared = calloc(1, sizeof *shared);
    portent_watch(&pair->x, sizeof pair->x, PORTENT_INT, "x");
    portent_watch(&pair->x, sizeof pair->x, PORTENT_UINT, "again");
    portent_watch(&pair->y, sizeof pair->y, PORTENT_INT, "y");
    portent_watch(words, 16, PORTENT_CHARS, "text");
    portent_watch(mine, sizeof *mine, PORTENT_INT, "own");
    global = 4;
    portent_watch(&global, sizeof global, PORTENT_INT, "global");
    strcpy(words, "abc");
    words[3] = 'd';
    global = 5;
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    *mine = 6;
    for (int i = 0; i < 300; i++) {
        long *one = malloc(sizeof *one);
        portent_watch(one, sizeof *one, PORTENT_INT, "many");
        *one = i;
        free(one);
    }
    free(mine);
    for (int i = 0; i < 300; i++) {
        long *volatile one = malloc(sizeof *one);
        *one = 1000 + i;
        free(one);
    }
    return 0;
}
"""
# Calls at random, also again from the same place, out of several at once by longjmp, and deeper than a stack of a recording is; each write of x
# stands in calls whose functions are printed, the innermost first. Two threads, one after the other.
CALLS = r"""
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long x;
static char path[512];
static unsigned deep, seed = 5;
static jmp_buf out;
#define UNSEEN __attribute__((noinline, no_sanitize("thread"))) /* no events */
UNSEEN static unsigned chance(unsigned most) { seed = seed * 1103515245 + 12345; return (seed >> 16) % most; }
UNSEEN static void enter(char name) { path[deep++] = name; }
UNSEEN static void leave(void) { deep--; }
#define NOTE (x++, tell())
UNSEEN static void tell(void) {
    printf("%ld ", x);
    for (unsigned i = deep; i-- > 0;) putchar(path[i]);
    putchar('\n');
}
static void a(int left), b(int left), c(int left);
__attribute__((noinline)) static void again(int left) {
    enter('r');
    if (left) again(left - 1); else NOTE;
    if (left % 37 == 0) NOTE;
    leave();
}
#define BODY(name) \
    enter(name); \
    if (chance(4) == 0) NOTE; \
    for (unsigned i = chance(4); left && i > 0; i--) { \
        unsigned which = chance(40); \
        if (which < 12) a(left - 1); else if (which < 24) b(left - 1); else if (which < 36) c(left - 1); \
        else if (which < 37) again(100); else if (which < 38) longjmp(out, 1); \
        if (which & 1) NOTE; \
    } \
    leave();
__attribute__((noinline)) static void a(int left) { BODY('a') }
__attribute__((noinline)) static void b(int left) { BODY('b') }
__attribute__((noinline)) static void c(int left) { BODY('c') }
UNSEEN static void again_from(char name) { deep = 0; enter(name); }
static void *work(void *argument) {
    for (volatile int i = 0; i < 60; i++) {
        again_from('w');
        if (!setjmp(out)) { a(7); b(6); a(7); }
    }
    return argument;
}
int main(void) {
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        pthread_create(&t, NULL, work, NULL);
        pthread_join(t, NULL);
    }
    return 0;
}
"""
PAIR = r"""
#include <portent.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static struct pair { int x, y; } *pair;
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *argument) {
    pair->x = 1;
    pthread_mutex_lock(&l); pair->y = 1; pthread_mutex_unlock(&l);
    return argument;
}
static void *two(void *argument) {
    usleep(300000);
    pthread_mutex_lock(&l); pair->y = 2; pthread_mutex_unlock(&l);
    return argument;
}
int main(void) {
    pthread_t t[2];
    pair = calloc(1, sizeof *pair);
    portent_watch(&pair->x, sizeof pair->x, PORTENT_INT, "x");
    portent_watch(&pair->y, sizeof pair->y, PORTENT_INT, "y");
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
"""
# Thread `two` comes when `one` is done, which nobody sees: the lock is all that orders what they do.
APART = r"""
#include <pthread.h>
static int x, y = 7;
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static int turn;
static void *one(void *argument) {
    x = 1;
    pthread_mutex_lock(&l); y = 1; pthread_mutex_unlock(&l);
    __asm__ volatile("movl $1, %0" : "=m"(turn) : : "memory");
    return argument;
}
static void *two(void *argument) {
    for (int seen = 0; !seen;)
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(turn) : "memory");
    pthread_mutex_lock(&l); y = 2; pthread_mutex_unlock(&l);
    x = 2;
    return argument;
}
int main(void) {
    pthread_t t[2];
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    return 0;
}
"""
# A library that is not instrumented says in `box` that `x` is ready; what stands next to that is the program's own.
UNSEEN = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
void put(void *at, long value);
static struct { long full, count; } box;
static int x, z;
static int *p, *q;
static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER;
static void *one(void *argument) {
    x = 1;
    pthread_mutex_lock(&l); put(&box.full, 1); box.count++; pthread_mutex_unlock(&l);
    return argument;
}
static void *two(void *argument) {
    usleep(50000);
    pthread_mutex_lock(&l);
    int full = LOOKS ? box.full : 1;
    pthread_mutex_unlock(&l);
    if (full) x = 2;
    return argument;
}
static void *three(void *argument) {
    usleep(100000);
    pthread_mutex_lock(&l);
    int full = LOOKS ? box.full : 1;
    pthread_mutex_unlock(&l);
    if (full) z = x;
    return argument;
}
int main(void) {
    pthread_t t[3];
    box.full = 0;
    p = NULL;
    q = malloc(sizeof *q);
    put(&p, (long)q);
    pthread_create(&t[0], NULL, one, NULL);
    pthread_create(&t[1], NULL, two, NULL);
    pthread_create(&t[2], NULL, three, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    *p = 1;
    return 0;
}
"""


def build(name, source, *options):
    write(name + ".c", source)
    done = run(PORTENT, "cc", "-g", "-O1", "-pthread", *options, name + ".c", "-o", name)
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)


def lines_of(recording, status=0):
    done = run(PORTENT, "convert", "--text", recording, "-o", "t.trace")
    same(f"status of convert: {done.stderr}", done.returncode, status)
    with open("t.trace", encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line[0] != "#" and "|stack(" not in line]


def wrong_values(lines):
    """Reads that do not have the value of the latest write, as far as values are given."""
    values = {}
    for line in lines:
        event = re.match(r"[^|]*\|([rwu])\(([^|]*)\)(?:=([^|]*))?\|", line)
        if not event:
            continue
        op, name, value = event.groups()
        if op == "r" and value is not None and values.get(name, value) not in (None, value):
            yield line
        if op in "wu":
            values[name] = value if "|b=" not in line else None


@test
def values_are_those_of_the_order():
    build("mixed", MIXED, "-DROUNDS=3000")
    for _ in range(3):
        same("status", run("./mixed", options="record=m.rec").returncode, 0)
        lines = lines_of("m.rec")
        true("there are events of all threads", len({line.split("|")[0] for line in lines} - {"-"}) == 5 and len(lines) > 12000)
        same("reads of other values than were written", list(wrong_values(lines))[:5], [])
        same("nothing but the recording is left", sorted(os.listdir(".")), ["m.rec", "mixed", "mixed.c", "t.trace"])


@test
def pages_that_change_hands():
    build("pages", PAGES, "-fno-strict-aliasing", "-DTURNS=150")
    for _ in range(3):
        same("status", run("./pages", options="record=p.rec").returncode, 0)
        lines = lines_of("p.rec")
        true("there are events", len(lines) > 50000)
        same("reads of other values than were written", list(wrong_values(lines))[:5], [])


@test
def memory_without_names():
    build("nameless", NAMELESS, "-fno-strict-aliasing")
    for _ in range(3):
        same("status", run("./nameless", options="record=n.rec").returncode, 0)
        lines = lines_of("n.rec")
        true("there are events", len(lines) > 8000)
        same("reads of other values than were written", list(wrong_values(lines))[:5], [])
        same("check takes it", run(PORTENT, "check", "--races", "n.rec").returncode, 1)


@test
def variables_in_the_order_of_the_time():
    """Of static memory, and of memory that the program has named."""
    # The second: nothing lies next to static memory, and the writer does not raise the floor of stamps meanwhile.
    for options in (("-DPAUSES=20000", "-DOWN=4"), ("-DPAUSES=2000", "-DOWN=8<<20", "-DHEAP")):
        build("in_time", IN_TIME, *options)
        same("status", run("./in_time", options="record=t.rec").returncode, 0)
        written = [event.groups() for event in (re.match(r"[^|]*\|w\((a|b)\)=(\d+)\|", line) for line in lines_of("t.rec")) if event]
        same(f"a and b by turns {options}", written, [(name, str(i)) for i in range(20) for name in "ab"])


@test
def run_makes_a_trace_of_it():
    build("mixed", MIXED, "-DROUNDS=100")
    for name in ("a.trace", "a.ptb"):
        done = run(PORTENT, "run", "--record-all", "-o", name, "--", "./mixed")
        same(f"status of run: {done.stderr}", (done.returncode, done.stderr), (0, ""))
        same("reads of other values than were written", list(wrong_values(lines_of(name)))[:5], [])
    same("nothing but the traces is left", sorted(os.listdir(".")), ["a.ptb", "a.trace", "mixed", "mixed.c", "t.trace"])


@test
def killed():
    build("ending", ENDING)
    same("status", run("./ending", "5000", options="record=k.rec").returncode, -9)
    lines = lines_of("k.rec")
    same("the last write is there", [line for line in lines if "|w(x)" in line][-1].split("|")[1], "w(x)=5000")
    same("reads of other values than were written", list(wrong_values(lines))[:5], [])
    os.unlink("k.rec.live")
    short = lines_of("k.rec", status=3)
    same("without what was not written, it is a beginning", short, lines[:len(short)])
    done = run(PORTENT, "check", "--races", "k.rec")
    same(f"status of check: {done.stdout}", done.returncode, 3)


@test
def full_disk():
    build("mixed", MIXED, "-DROUNDS=100")
    done = run("./mixed", options="record=/dev/full")
    same("its own status", done.returncode, 0)
    contains(done.stderr, "the recording cannot be written")
    done = run("./mixed", options="record=nowhere/m.rec")
    same("its own status", done.returncode, 0)
    contains(done.stderr, "cannot write the recording: nowhere/m.rec")


@test
def cut_off():
    build("mixed", MIXED, "-DROUNDS=2000")
    same("status", run("./mixed", options="record=m.rec").returncode, 0)
    whole = lines_of("m.rec")
    with open("m.rec", "rb") as file:
        content = file.read()
    chance = random.Random(1)
    for _ in range(12):
        where = chance.randrange(8, len(content))
        damaged = bytearray(content[:where] if chance.random() < 0.5 else content)
        if len(damaged) == len(content):
            damaged[where] ^= 1 << chance.randrange(8)
        with open("d.rec", "wb") as file:
            file.write(damaged)
        done = run(PORTENT, "convert", "--text", "d.rec", "-o", "t.trace")
        if done.returncode != 3:
            raise Failure(f"status {done.returncode} of a file that is damaged at {where} of {len(content)}: {done.stderr}")
        with open("t.trace", encoding="utf-8") as file:
            left = [line for line in file.read().splitlines() if line[0] != "#" and "|stack(" not in line]
        same(f"damaged at {where}, it is a beginning", left, whole[:len(left)])


def verdicts(path):
    with open(path, encoding="utf-8") as file:
        answer = json.load(file)
    return [(p["name"], p["verdict"], p.get("how"), len(p.get("findings", []))) for p in answer["properties"]]


@test
def run_in_wider_orders():
    """All in one go finds what `check` finds in the same recording; nothing is left of it."""
    build("apart", APART)
    write("p.prop", "property first: always (x == 0 || y != 7); property never: always y != 3;\n")
    for order in ("sync", "values", "auto"):
        done = run(PORTENT, "run", "-q", "--order", order, "-r", "r.json", "-o", "t.trace", "--", "./apart")
        checked = run(PORTENT, "check", "--order", order, "--json", "t.trace")
        write("c.json", checked.stdout)
        same(f"{order}: races and deadlocks", verdicts("r.json"), verdicts("c.json"))
        same(f"{order}: the race that the lock hides ({done.stderr})", (done.returncode, verdicts("r.json")[0][1]), (66, "violated"))
        done = run(PORTENT, "run", "-q", "--order", order, "-s", "p.prop", "-r", "r.json", "--", "./apart")
        same(f"{order}: properties ({done.stderr})", (done.returncode, [v[:2] for v in verdicts("r.json")]),
             (66, [("first", "violated"), ("never", "holds")]))
    same("what is left", sorted(os.listdir(".")), ["apart", "apart.c", "c.json", "p.prop", "r.json", "t.trace"])
    same("without accesses", run(PORTENT, "run", "--preload", "--order", "sync", "--", "./apart").returncode, 2)


TURNS = """
    #include <pthread.h>
    int x, y = 5, done;
    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    static void *turns(void *of)
    {
        for (int i = 1; i <= 4000; i++) {
            pthread_mutex_lock(&m);
            *(int *)of = i == 4000 ? 9 : i % 4;
            pthread_mutex_unlock(&m);
        }
        return NULL;
    }
    int main(void)
    {
        pthread_t a, b;
        pthread_create(&a, NULL, turns, &x);
        pthread_create(&b, NULL, turns, &y);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        done = 1;
        return 0;
    }
    """


@test
def run_in_slices():
    """A run that the memory limit does not let it keep: the recording is read again, and is gone then."""
    build("turns", TURNS)
    os.mkdir("temporary")
    os.environ["TMPDIR"] = os.path.abspath("temporary")
    write("p.prop", "property never: always !(done == 1 && x == 3); property late: always !(x == 9 && y == 5);\n")
    for order, limit in (("slices=0", "900K"), ("slices=1", "900K"), ("slices=1", "200M")):
        done = run(PORTENT, "run", "-q", "--order", order, "--effort", "all", "--memory-limit", limit, "-s", "p.prop", "-r", "r.json", "--", "./turns")
        never, late = verdicts("r.json")
        same(f"{order} {limit}: {done.stderr}", never[1], "holds")
        told = late[1:3] == ("violated", "observed") or late[1] == ("violated" if limit == "200M" else "unknown")  # its run does not fit
        same(f"{order} {limit}: what only a long run breaks, {late}", told, True)
        same("what is left", os.listdir("temporary"), [])
    del os.environ["TMPDIR"]


NAMED_PROPERTIES = """property seen: always (x == 0 || y != 7); property swapped: always (x != 0 || y != 2); property never: always y != 3;
property two: always again != 1; property whole: always text != "abcd"; property part: always text != "abd"; property own: own != 6;
property named: late != 2; property first: late == 1 || late == 2; property same: global != 5; property begin: global != 4;
"""


@test
def objects_that_the_program_names():
    """They go by their names beside their addresses, from the naming to the end of their memory, and what properties say of them is
    what `run` says of the same program; wider orders have more."""
    build("named", NAMED)
    write("named.prop", NAMED_PROPERTIES)
    done = run("./named", options="record=named.rec")
    same(f"status: {done.stderr}", done.returncode, 0)
    lines = [line.split("|")[1] for line in lines_of("named.rec")]
    known = ("x", "y", "again", "text", "own", "late", "many", "many#300", "global")
    given = {name: [line for line in lines if f"({name})" in line] for name in known}
    same("the values of each", given, {
        "x": ["init(x)=0", "w(x)=1"], "again": ["init(again)=0", "w(again)=1"], "y": ["init(y)=7", "w(y)=1", "w(y)=2"],
        "text": ['init(text)=""', 'w(text)="abc"', 'w(text)="abcd"'], "own": ["init(own)=0", "w(own)=6"], "late": ["init(late)=1", "w(late)=2"],
        "many": [given["many"][0], "w(many)=0"], "many#300": [given["many#300"][0], "w(many#300)=299"],
        "global": ["init(global)=4", "init(global)=3", "w(global)=4", "w(global)=5"]})
    true("what had a name has none later", not any(re.match(r"w\((own|many).*\)=1\d\d\d", line) for line in lines))
    observed = {"seen": "violated", "swapped": "holds", "never": "holds", "two": "violated", "whole": "violated", "part": "holds", "own": "violated",
                "named": "violated", "first": "holds", "same": "violated", "begin": "violated"}
    for order, more in ((None, {}), ("access", {}), ("sync", {"swapped": "violated"}), ("values", {"swapped": "violated"}), ("auto", {"swapped": "violated"})):
        done = run(PORTENT, "run", "-q", *(["--order", order] if order else []), "-s", "named.prop", "-r", "r.json", "--", "./named")
        same(f"run {order}: {done.stderr}", {v[0]: v[1] for v in verdicts("r.json")}, {**observed, **more})
        write("c.json", run(PORTENT, "check", "--json", "--order", order or "access", "-s", "named.prop", "named.rec").stdout)
        same(f"check {order}", verdicts("c.json"), verdicts("r.json"))


@test
def named_first():
    """A thread whose first event is that it names something."""
    build("first", """
        #include <portent.h>
        int x = 3;
        int main(void) { portent_watch(&x, sizeof x, PORTENT_INT, "other"); x = 1; return 0; }
        """)
    same("status", run("./first", options="record=first.rec").returncode, 0)
    same("its lines", sorted(line.split("|")[1] for line in lines_of("first.rec") if "(other)" in line), ["init(other)=3", "w(other)=1"])
    write("first.prop", "property p: always other != 1;\n")
    contains(run(PORTENT, "run", "--order", "sync", "-s", "first.prop", "--", "./first").stderr, "'p' is violated")


@test
def calls_of_events():
    """Each event has the calls that its thread was in, whatever it did to get there."""
    build("calls", CALLS)
    done = run("./calls", options="record=c.rec")
    same("status", done.returncode, 0)
    told = dict(line.split(" ") for line in done.stdout.splitlines())
    same("convert", run(PORTENT, "convert", "--text", "c.rec", "-o", "c.trace").returncode, 0)
    letters, stacks, checked, wrong = {"again": "r", "work": "w", "a": "a", "b": "b", "c": "c"}, {}, 0, []
    with open("c.trace", encoding="utf-8") as file:
        for line in file:
            stack = re.match(r"-\|stack\((\d+)\)=(.*)\|-", line)
            event = re.match(r"[^|]*\|w\(x\)=(\d+)\|.*\|s=(\d+)", line)
            if stack:
                stacks[stack[1]] = "".join(letters.get(frame.split(" ")[0], "?") for frame in stack[2].split(" < "))
            elif event:
                calls, expected = stacks[event[2]], told[event[1]]
                checked += 1
                if calls != expected[:max(len(calls), min(len(expected), 64))]:
                    wrong.append((event[1], calls, expected))
    same("other calls than the program was in", wrong[:5], [])
    true(f"many were looked at: {checked}", checked == len(told) > 1000)


def chunks_of(recording):
    """The chunks behind the file's magic: kind and bytes of each (core/recording.h)."""
    found, at = [], 8
    while at < len(recording):
        _, kind, _, stored = struct.unpack_from("<4I", recording, at)
        found.append((kind, recording[at:at + 56 + stored]))
        at += 56 + stored
    return found


@test
def shapes_from_piece_to_piece():
    """Where all of a recording is kept, a thread's pieces go on with the shapes of those before; where it is limited each stands for itself. Nothing is lost by either."""
    build("mixed", MIXED, "-DROUNDS=200000")
    for limit, more in (("", True), (":record_limit=900M", False)):
        same("its status", run("./mixed", options=f"record=m.rec{limit}").returncode, 0)
        kinds = [kind for kind, _ in chunks_of(pathlib.Path("m.rec").read_bytes()) if kind in (2, 5)]
        true(f"{limit}: many pieces: {len(kinds)}", len(kinds) > 10)
        same(f"{limit}: pieces that go on", kinds.count(5) > kinds.count(2), more)
        true(f"{limit}: either all go on or none", more or 5 not in kinds)
        same(f"{limit}: convert", run(PORTENT, "convert", "--text", "m.rec", "-o", "m.trace").returncode, 0)


@test
def definitions_in_any_order():
    """The writer may put a full buffer of definitions behind the one after it, and where the size is limited they stand anew further on."""
    build("calls", CALLS)
    same("status", run("./calls", options="record=c.rec").returncode, 0)
    recording = pathlib.Path("c.rec").read_bytes()
    chunks = chunks_of(recording)
    defined = [bytes for kind, bytes in chunks if kind == 1]
    true(f"several chunks define something: {len(defined)}", len(defined) > 1)
    turned = iter(reversed(defined))
    pathlib.Path("t.rec").write_bytes(recording[:8] + b"".join(next(turned) if kind == 1 else bytes for kind, bytes in chunks))
    for name in "ct":
        same("convert", run(PORTENT, "convert", "--text", f"{name}.rec", "-o", f"{name}.trace").returncode, 0)
    same("the same trace", pathlib.Path("t.trace").read_text() == pathlib.Path("c.trace").read_text(), True)


@test
def names_change_no_races():
    """What is found in a recording is what would be found if nothing in it had a name."""
    build("named", NAMED)
    same("status", run("./named", options="record=named.rec").returncode, 0)
    same("convert", run(PORTENT, "convert", "--text", "named.rec", "-o", "named.trace").returncode, 0)
    with open("named.trace", encoding="utf-8") as file:
        lines = file.read().splitlines()
    write("bare.trace", "\n".join(line for line in lines if not re.match(r"[^|]*\|\w+\((x|y|again|text|own|late|many[^)]*)\)", line)) + "\n")
    for order in ("access", "sync", "values"):
        found, bare = (answers("--races", "--deadlocks", "--order", order, name)[:2] for name in ("named.rec", "bare.trace"))
        same(f"{order}: findings", found, bare)
        true(f"{order}: before and after the naming", any("named.c" in str(pair) for pair in found[1][0][5]))


@test
def races_of_named_objects():
    """A race tells the name beside the heap block, and properties about the name's races are answered."""
    build("named", """
        #include <portent.h>
        #include <pthread.h>
        #include <stdlib.h>
        static int *p;
        static void *one(void *argument) { p[0] = 1; return argument; }
        int main(void) {
            pthread_t t;
            p = calloc(2, sizeof *p);
            portent_watch(p, sizeof *p, PORTENT_INT, "balance");
            portent_watch(p + 1, sizeof *p, PORTENT_INT, "other");
            pthread_create(&t, NULL, one, NULL);
            p[0] = 2, p[1] = 2;
            pthread_join(t, NULL);
            return 0;
        }
        """)
    write("free.prop", "property named: race_free(balance); property others: race_free(other);\n")
    same("status", run("./named", options="record=named.rec").returncode, 0)
    done = run(PORTENT, "check", "--races", "named.rec")
    true(f"both names: {done.stdout}", re.match(r"Data race on 0x[0-9a-f]+\+0, balance", done.stdout) and "heap block" in done.stdout)
    for command in (("check", "--json", "-s", "free.prop", "named.rec"), ("check", "--json", "--order", "values", "-s", "free.prop", "named.rec")):
        answer = json.loads(run(PORTENT, *command).stdout)
        same(f"{command}", [v["verdict"] for v in answer["properties"]], ["violated", "holds"])
    done = run(PORTENT, "run", "-q", "--order", "sync", "-s", "free.prop", "-r", "r.json", "--", "./named")
    same(f"run: {done.stderr}", [v[1] for v in verdicts("r.json")], ["violated", "holds"])


@test
def named_objects_in_a_confirmed_run():
    """What is predicted of one in a wider order can be made to happen."""
    build("pair", PAIR)
    write("pair.prop", "property p: always (x != 0 || y != 2);\n")
    done = run(PORTENT, "run", "-q", "--order", "sync", "-s", "pair.prop", "-r", "r.json", "--", "./pair")
    same(f"predicted: {done.stderr}", (done.returncode, verdicts("r.json")[0][1:3]), (66, ("violated", "predicted")))
    done = run(PORTENT, "confirm", "r.json", "--", "./pair", timeout=120)
    same(f"confirmed: {done.stderr}", done.returncode, 1)


@test
def named_objects_that_a_library_writes():
    """What a property says of a value that nobody recorded is not known; and a recording that lost the naming has no name."""
    write("put.c", "void put(long *at, long value) { *at = value; }\n")
    same("status of clang", run("clang-14", "-c", "put.c").returncode, 0)
    build("named", """
        #include <portent.h>
        #include <stdlib.h>
        void put(long *at, long value);
        static long seen;
        int main(void) {
            long *x = malloc(2 * sizeof *x);
            *x = 1;
            portent_watch(x, sizeof *x, PORTENT_INT, "level");
            put(x, 99);
            seen = *x;
            for (long i = 0; i < ROUNDS; i++) x[1] += seen + i;
            *x = 2;
            return 0;
        }
        """, "-DROUNDS=300000", "put.o")
    write("p.prop", "property low: level < 50;\n")
    same("recorded", run("./named", options="record=named.rec").returncode, 0)
    same("library", run(PORTENT, "check", "-s", "p.prop", "named.rec").returncode, 3)
    done = run(PORTENT, "run", "--order", "sync", "-q", "-s", "p.prop", "--", "./named")
    same(f"run: {done.stderr}", done.returncode, 67)
    same("recorded in little room", run("./named", options="record=small.rec:record_limit=64K").returncode, 0)
    lines = lines_of("small.rec")
    true("the beginning is lost", lines[0].startswith("-|lost(") and not any("level" in line for line in lines))
    same("what it says of it", run(PORTENT, "check", "-s", "p.prop", "small.rec").returncode, 3)


@test
def variables_that_a_recording_does_not_have_alone():
    """A recording has a union, and bit-fields, as one variable: what a property says of a part is refused, not called settled."""
    build("parts", PARTS)
    for name, plain, wider in (("n", 66, 66), ("u.i", 66, 2), ("bits.y", 66, 2), ("bits.x", 0, 2), ("text", 0, 2)):
        write("parts.prop", f"var v = {name};\nproperty p: always " + ("v != \"de\";\n" if name == "text" else "v < 7;\n"))
        for command, status in (((), plain), (("--order", "auto"), wider), (("--order", "values"), wider), (("--record-all", "-o", "t.trace"), wider)):
            done = run(PORTENT, "run", "-q", *command, "-s", "parts.prop", "--", "./parts")
            same(f"{name}, {command}: {done.stderr}", done.returncode, status)
        same(f"{name}, explore", run(PORTENT, "explore", "-q", "-n", "2", "-s", "parts.prop", "--", "./parts").returncode, 1 if wider == 66 else 2)
    same("recording", run("./parts", options="record=parts.rec").returncode, 0)
    write("parts.prop", "property p: always bits.x < 7;\n")
    same("of a recording: unknown", run(PORTENT, "check", "-q", "-s", "parts.prop", "parts.rec").returncode, 3)


@test
def initial_values():
    """A recording has those of all variables that are accessed, and of nothing else a verdict."""
    build("first", BEGINNING)
    same("status", run("./first", options="record=first.rec").returncode, 0)
    done = run(PORTENT, "run", "--record-all", "-o", "first.trace", "--", "./first")
    same(f"run: {done.stderr}", done.returncode, 0)
    expected = {"near[1]": "2", "near[2]": "3", "all.number": "-5", "all.part": "2.5", "zero": "0", "never": "8", "limit": "5", "level": "0",
                "large": "18446744073709551615"}
    for name in ("first.rec", "first.trace"):
        given = dict(re.match(r"-\|init\((.*)\)=(.*)\|-", line).groups() for line in lines_of(name) if "|init(" in line)
        same(f"{name}: initial values", {key: given.get(key) for key in expected}, expected)
        for text, status in (("level <= limit", 0), ("level < limit - 1 && never >= 8", 0), ("level < 3", 1), ("large > 1", 1), ("near[1] != 2", 1)):
            write("first.prop", f'property p: {text};\n')
            done = run(PORTENT, "check", "-s", "first.prop", name)
            same(f"{name}: check of {text}: {done.stdout}", done.returncode, status)
    write("first.prop", "property p: unheard == 0;\n")
    done = run(PORTENT, "check", "-s", "first.prop", "first.rec")
    same("what the recording does not have", done.returncode, 3)
    contains(done.stdout, "no initial value")
    write("first.prop", "property p: level <= limit;\n")
    for command in (["--order", "values"], ["--order", "auto"], []):
        done = run(PORTENT, "run", *command, "-s", "first.prop", "--", "./first")
        same(f"run {command}: {done.stderr}", done.returncode, 0)


@test
def the_first_thread_leaves():
    """pthread_exit in main: the program ends with its last thread, and what runs at its exit is recorded."""
    build("leaving", LEAVING)
    done = run("./leaving", options="record=l.rec", timeout=60)
    same(f"status: {done.stderr}", done.returncode, 0)
    lines = lines_of("l.rec")
    same("writes", [line.split("|")[1] for line in lines if "|w(x)" in line], ["w(x)=1", "w(x)=9"])
    same("updates", [line.split("|")[1] for line in lines if "|u(y)" in line], ["u(y)=1", "u(y)=2", "u(y)=3"])
    done = run(PORTENT, "run", "--order", "sync", "-q", "--", "./leaving", timeout=60)
    same(f"status of run: {done.stderr}", done.returncode, 0)


@test
def another_program_by_exec():
    """What a process has recorded is not overwritten by what it becomes."""
    build("becoming", BECOMING)
    same("status", run("./becoming", options="record=b.rec").returncode, 0)
    names = [name for name in os.listdir(".") if name.startswith("b.rec") and not name.endswith(".live")]
    writes = sorted([line.split("|")[1] for line in lines_of(name) if "|w(x)" in line] for name in names)
    same("both are there", writes, [["w(x)=1"], ["w(x)=2", "w(x)=12"]])
    same("another run begins anew", run("./becoming", "inner", options="record=b.rec").returncode, 0)
    same("its writes", [line.split("|")[1] for line in lines_of("b.rec") if "|w(x)" in line], ["w(x)=2", "w(x)=12"])


@test
def no_room_on_the_disk():
    """A small file system: the program lives, is told, and `run` says that its answer is not whole."""
    build("mixed", MIXED, "-DROUNDS=60000")
    os.mkdir("small")
    means = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    mount = 'mount -t tmpfs -o size=$0 none small && shift && exec "$@"'
    if run(*means, "sh", "-c", mount, "100k", "-", "true").returncode != 0:
        print("record: no_room_on_the_disk: nothing can be mounted here, so it was not tried")
        return
    for size in ("8k", "100k", "700k"):
        done = run(*means, "sh", "-c", mount, size, "-", "./mixed", options="record=small/m.rec")
        same(f"{size}: its own status: {done.stderr}", done.returncode, 0)
        contains(done.stderr, "the recording cannot be written (is the disk full?)")
        done = run(*means, "sh", "-c", mount, size, "-", PORTENT, "run", "--record-all", "-o", "small/t.ptb", "--", "./mixed")
        same(f"{size}: status of run: {done.stderr}", done.returncode, 67)


@test
def little_memory():
    """Where there is none for the recording it is not just empty."""
    build("mixed", MIXED, "-DROUNDS=10")
    done = run("sh", "-c", "ulimit -v 1000000; exec ./mixed", options="record=m.rec")
    same(f"its own status: {done.stderr}", done.returncode, 0)
    contains(done.stderr, "no memory")
    same("nothing is left behind", sorted(os.listdir(".")), ["m.rec", "mixed", "mixed.c"])
    done = run(PORTENT, "check", "m.rec")
    same(f"check: {done.stdout}{done.stderr}", done.returncode, 3)


@test
def what_is_kept_for_an_order_is_bounded():
    """Events that an order keeps take an eighth of the memory that may be used, here of 800 MB of addresses, unless --memory-limit says otherwise."""
    if run("sh", "-c", 'ulimit -v 800000; exec "$@"', "sh", PORTENT, "--version").returncode != 0:
        return  # a build with a sanitizer does not start with so few addresses
    write("p.prop", "property p: always x <= 2;\n")
    with open("long.trace", "w", encoding="utf-8") as file:
        file.write("A|w(x)=1|a.c:1\nB|w(y)=1|a.c:2\n" * 1200000 + "A|w(x)=3|a.c:3\n")
    def check(*arguments):
        return run("sh", "-c", 'ulimit -v 800000; exec "$@"', "sh", PORTENT, "check", *arguments, "long.trace", timeout=120)
    for order in ("sync", "values"):
        done = check("--json", "--order", order, "-s", "p.prop")
        found = json.loads(done.stdout)["properties"][0]
        same(f"{order}: the run's own violation is told without the log: {done.stderr}", (done.returncode, found["verdict"], found["complete"]), (1, "violated", False))
    contains(check("--order", "values", "-s", "p.prop").stdout, "an eighth of this machine's memory")
    same("with a bound of one's own", "an eighth" in check("--order", "values", "--memory-limit", "100M", "-s", "p.prop").stdout, False)
    same("races do without the search", check("--order", "values", "--races").returncode, 0)


@test
def nothing_instrumented():
    """Objects of another compiler: no access is observed, and it is said."""
    write("foreign.c", MIXED)
    same("cc", run("cc", "-g", "-O1", "-pthread", "-DROUNDS=10", "-c", "foreign.c", "-o", "foreign.o").returncode, 0)
    same("portent cc", run(PORTENT, "cc", "-pthread", "foreign.o", "-o", "foreign").returncode, 0)
    for options in ([], ["--order", "sync"], ["--races"]):
        done = run(PORTENT, "run", *options, "--", "./foreign")
        same(f"{options}: {done.stderr}", done.returncode, 67)
        contains(done.stderr, "nothing of the program was compiled by")
    build("ours", "int main(void) { return 0; }\n")
    same("one that does nothing", run(PORTENT, "run", "--", "./ours").returncode, 0)


def random_program(chance):
    """Threads with memory of their own, of all, and handed over; on the heap, so that it may be left out; some of it locked, some that one
    uses and another frees, which nobody sees to come later; parts next to each other."""
    steps = ["own[{i}] = i + seen;", "seen += own[{i}];", "memset(own + {i}, i, 3 * sizeof *own);", "all[{i}] = i;", "seen += all[{i}];",
             "pthread_mutex_lock(&m[{l}]);", "pthread_mutex_unlock(&m[{l}]);", "memcpy(own, all + {i}, 2 * sizeof *own);",
             "((char *)all)[{b}] = 1;", "((char *)own)[{b}] = (char)seen;", "given[n][{i}] = i;", "seen += given[1 - n][{i}];",
             "portent_watch(own + {i}, sizeof *own, PORTENT_INT, n ? \"one\" : \"zero\");"]
    lines = []
    for _ in range(2):
        held, body = None, []
        for _ in range(chance.randrange(6, 14)):
            step = chance.choice(steps)
            if "_lock" in step or "_unlock" in step:
                if held is None:
                    held = chance.randrange(2)
                    body.append(f"pthread_mutex_lock(&m[{held}]);")
                else:
                    body.append(f"pthread_mutex_unlock(&m[{held}]);")
                    held = None
                continue
            body.append(step.format(i=chance.randrange(4), l=0, b=chance.randrange(16)))
        if held is not None:
            body.append(f"pthread_mutex_unlock(&m[{held}]);")
        lines.append(body)
    bodies = ["\n        ".join(body) for body in lines]
    return r"""
#include <portent.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long *all, *given[2], *lent, *kept;
static int level, turn;
static void *work(void *argument) {
    long n = (long)argument, seen = 0, *own = calloc(8, sizeof *own), i;
    for (i = 1; i < 3; i++) {
        if (n == 0) {
        """ + bodies[0] + r"""
        } else {
        """ + bodies[1] + r"""
        }
        level = (int)i;
    }
    if (n) free(own);
    if (!n) {
        lent[1] = seen;
        kept = own;
        __asm__ volatile("movl $1, %0" : "=m"(turn) : : "memory");
    }
    return seen == 7 ? own : NULL;
}
int main(void) {
    pthread_t t[2];
    all = calloc(8, sizeof *all);
    for (long i = 0; i < 2; i++) given[i] = calloc(8, sizeof **given);
    for (long i = 0; i < 2; i++) portent_watch(given[i] + 1, sizeof **given, PORTENT_INT, i ? "one" : "zero");
    lent = malloc(8 * sizeof *lent);
    for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, (void *)i);
    for (int seen = 0; !seen;)
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(turn) : "memory");
    free(lent);
    kept[3] = 1;
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    kept[2]++;
    free(kept);
    free(given[0]);
    return 0;
}
"""


def answers(*arguments):
    """What `check` says, but for what counts events."""
    done = run(PORTENT, "check", "--json", *arguments)
    answer = json.loads(done.stdout)
    found = []
    for p in answer["properties"]:
        pairs = sorted((f["how"], f["order"], f["object"], *sorted((f[side]["op"], f[side]["loc"], f[side]["thread"]) for side in ("first", "second")))
                       for f in p.get("findings", []) if "first" in f)
        cycles = sorted((f["how"], sorted((c["thread"], c["wants"], c["loc"]) for c in f["cycle"])) for f in p.get("findings", []) if "cycle" in f)
        found.append((p["name"], p["verdict"], p.get("how"), p.get("order"), p.get("relevant"), pairs, cycles))
    return done.returncode, found, answer["events"]


@test
def what_is_left_out_changes_nothing():
    """`check` of a recording leaves out what one thread alone has touched; of the text of the same recording, it has everything."""
    chance, fewer, races = random.Random(15), 0, 0
    write("l.prop", "property p: always level <= 2; property q: never [level == 0]+ [level == 2]; property n: always (zero != 2 || one != 1);\n")
    for number in range(10):
        build("r", random_program(chance))
        same("status", run("./r", options="record=r.rec").returncode, 0)
        same("convert", run(PORTENT, "convert", "--text", "r.rec", "-o", "r.trace").returncode, 0)
        for order in ("access", "sync", "values"):
            for more in (("--races", "--deadlocks"), ("-s", "l.prop")):
                status, left, events = answers(*more, "--order", order, "--effort", "60s", "r.rec")
                full_status, full, full_events = answers(*more, "--order", order, "--effort", "60s", "r.trace")
                same(f"{number}, {order}, {more}", (status, left), (full_status, full))
                fewer += events < full_events
                races += sum(len(p[5]) for p in full)
        _, _, events = answers("--lifetimes", "r.rec")
        same("lifetimes get everything", events, full_events)
    true(f"something was left out: {fewer} of 60", fewer > 40)
    true(f"there were races: {races}", races > 20)


def predicted_races(recording):
    """The pairs of lines of all that `check` finds."""
    done = run(PORTENT, "check", "--json", "--races", "--order", "values", recording)
    findings = json.loads(done.stdout)["properties"][0].get("findings", [])
    return done.returncode, sorted(tuple(sorted(one[side]["loc"] for side in ("first", "second"))) for one in findings)


@test
def writes_that_nobody_records():
    """A read of what a library has written needs all before it: it may not be taken to before the write. Where nobody reads it, the
    same sections of a lock change places, and the accesses that they kept apart race."""
    write("put.c", "void put(long *at, long value) { *at = value; }\n")
    same("status of clang", run("clang-14", "-c", "put.c").returncode, 0)
    first, second, third = (f"unseen.c:{UNSEEN[:UNSEEN.index(text)].count(chr(10)) + 1}" for text in ("    x = 1;", "x = 2;", "z = x;"))
    for looks in (0, 1):
        build("unseen", UNSEEN, f"-DLOOKS={looks}", "put.o")
        same("status", run("./unseen", options="record=u.rec").returncode, 0)
        ties = [line.split("|")[0] for line in lines_of("u.rec") if "|sync(unseen)|-|m=relaxed" in line]
        status, found = predicted_races("u.rec")
        true("of the recording and of its text the same is said", predicted_races("t.trace") == (status, found))
        if looks:
            same("the reader's tie, and of one who reads it later", [ties.index("two") < ties.index("three"), ties.count("two")], [True, 1])
            same("races", (status, found), (1, [(second, third)]))
        else:
            same("ties of those who do not look", [name for name in ties if name in ("two", "three")], [])
            same("races", (status, found), (1, sorted([(first, second), (first, third), (second, third)])))
        done = run(PORTENT, "check", "--lifetimes", "u.rec")
        same(f"a pointer that the library has stored is not null: {done.stdout}", done.returncode, 0)


@test
def variables_that_nobody_recorded_has_written():
    """What a property would have said of a value that a library wrote, and that is seen in a read alone, is not known; of a trace from
    elsewhere the writes are what counts."""
    write("put.c", "void put(long *at, long value) { *at = value; }\n")
    same("status of clang", run("clang-14", "-c", "put.c").returncode, 0)
    write("p.prop", "property low: level < 50; property own: other < 200;")
    for threads in (0, 1):
        build("wrote", """
            #include <pthread.h>
            void put(void *at, long value);
            static long level, other;
            static void *one(void *argument) { put(&level, 99); return argument; }
            int main(void) {
                pthread_t t;
                level = 1;
                if (THREADS) pthread_create(&t, 0, one, 0), pthread_join(t, 0);
                else one(0);
                other = level;
                return 0;
            }""", f"-DTHREADS={threads}", "put.o")
        same("status", run("./wrote", options="record=w.rec").returncode, 0)
        lines = lines_of("w.rec")
        for trace in ("w.rec", "t.trace"):
            done = run(PORTENT, "check", "--json", "-s", "p.prop", trace)
            same(f"verdicts of {trace}", [one["verdict"] for one in json.loads(done.stdout)["properties"]] + [done.returncode], ["unknown", "holds", 3])
        write("u.trace", "".join(re.sub(r"\|s=\d+", "", line) + "\n" for line in lines if "unseen" not in line))
        same("without ties", run(PORTENT, "check", "-s", "p.prop", "u.trace").returncode, 0)


@test
def ties_are_no_events():
    """A tie between two events of a block disturbs it in no way, is no state of its thread and no letter of a word; the `sync` of a
    barrier does and is all of that."""
    write("p.prop", "property local at A: read(x) -> previously write(x); property soon within 6 events: always eventually event(tick);")
    said = {}
    for order in ("", "|m=relaxed"):
        tie = f"sync(unseen)|-{order}"
        write("t.trace", f"A|begin(b)|a:1\nA|w(x)=1|a:2\nA|{tie}\nB|{tie}\nA|{tie}\nA|r(x)=1|a:3\nA|end(b)|a:4\nA|event(tick)|a:5\n"
              f"A|w(z)=1|a:6\nA|{tie}\nA|event(tick)|a:7\n")
        done = run(PORTENT, "check", "--json", "-s", "p.prop", "--atomicity", "--serializable", "t.trace")
        result = json.loads(done.stdout)
        said[order] = [one["verdict"] for one in result["properties"]], [block["causally_atomic"] for block in result["blocks"]]
    same("with a barrier's", said[""], (["violated", "violated", "violated"], [False]))
    same("with ties", said["|m=relaxed"], (["holds", "holds", "holds"], [True]))


@test
def first_and_last_are_not_enough():
    """The race of docs/prediction.md that only a repeat between two synchronisations is in: why recordings have all of them."""
    events = ("T1|r(g)=0|p T1|w(y)=1|a T1|r(g)=0|p T3|acq(l)|d T3|w(v)=9|e T1|r(v)=9|f T1|r(g)=0|p T1|w(b)=1|h T1|acq(k)|i "
              "T1|rel(k)|i T3|r(b)=1|j T3|rel(l)|d T2|acq(k)|k T2|rel(k)|k T2|r(y)=1|c T2|acq(l)|m T2|rel(l)|m T2|w(g)=1|q").split()
    write("all.trace", "\n".join(events) + "\n")
    write("some.trace", "\n".join(events[:2] + events[3:]) + "\n")
    found = {name: [sorted(side[1] for side in pair[3:]) for pair in answers("--races", "--order", "sync", name)[1][0][5]] for name in ("all.trace", "some.trace")}
    same("it is lost", [pair for pair in found["all.trace"] if pair not in found["some.trace"]], [["p", "q"]])


@test
def of_another_version():
    build("leaving", LEAVING)
    same("status", run("./leaving", options="record=v.rec").returncode, 0)
    with open("v.rec", "r+b") as file:
        file.seek(6)
        file.write(b"2")
    done = run(PORTENT, "check", "--races", "v.rec")
    same("status", done.returncode, 2)
    contains(done.stderr, "another version of Portent")


@test
def deadlocks_that_happen():
    """The program looks for them while it is recorded, too: otherwise it would hang."""
    build("stuck", STUCK)
    done = run(PORTENT, "run", "--order", "values", "-r", "r.json", "--", "./stuck", timeout=60)
    same(f"status: {done.stderr}", (done.returncode, [v[:2] for v in verdicts("r.json")]), (66, [("deadlocks", "violated"), ("races", "holds")]))


TRYING = r"""
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static struct timespec limit;
static void *one(void *unused) { pthread_mutex_lock(&a); INNER; pthread_mutex_unlock(&a); return unused; }
static void *two(void *unused) { usleep(100000); OUTER; pthread_mutex_lock(&a); pthread_mutex_unlock(&a); LEAVE; return unused; }
int main(void) {
    pthread_t t, u;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 10;
    pthread_create(&t, NULL, one, NULL);
    pthread_create(&u, NULL, two, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
"""


# Two takes its locks the other way round; where it waits, only after it has read that one is done with them.
AFTERWARDS = r"""
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, g = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void set(int to) { pthread_mutex_lock(&g); done = to; pthread_mutex_unlock(&g); }
static int get(void) { pthread_mutex_lock(&g); int now = done; pthread_mutex_unlock(&g); return now; }
static void *one(void *argument) {
    pthread_mutex_lock(&a); pthread_mutex_lock(&b); pthread_mutex_unlock(&b); pthread_mutex_unlock(&a);
    set(1);
    return argument;
}
static void *two(void *argument) {
    while (WAITS && !get()) usleep(100);
    pthread_mutex_lock(&b); pthread_mutex_lock(&a); pthread_mutex_unlock(&a); pthread_mutex_unlock(&b);
    return argument;
}
int main(void) {
    pthread_t s, t;
    pthread_create(&s, NULL, one, NULL);
    if (!WAITS) usleep(50000);
    pthread_create(&t, NULL, two, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
"""


@test
def deadlocks_that_data_rules_out():
    """The program itself knows of locks alone, and says so; --order asks the recording, as check does."""
    for waits in (0, 1):
        build("afterwards", AFTERWARDS, f"-DWAITS={waits}")
        done = run(PORTENT, "run", "--deadlocks", "--", "./afterwards")
        same(f"run: {done.stderr}", done.returncode, 66)
        contains(" ".join(done.stderr.split()), "what one thread has read of another may rule it out. 'portent run --order sync' looks at that")
        alone = run("./afterwards", options="deadlocks=1")
        contains(alone.stderr, "what one thread has read of another may rule it out")
        same("status", run("./afterwards", options="record=a.rec").returncode, 0)
        for order in ("sync", "values"):
            checked = run(PORTENT, "check", "--deadlocks", "--order", order, "a.rec")
            same(f"check {order}, waits {waits}: {checked.stdout}", checked.returncode, 0 if waits else 1)
            done = run(PORTENT, "run", "--order", order, "--deadlocks", "--", "./afterwards")
            same(f"run --order {order}, waits {waits}: {done.stderr}", done.returncode, 0 if waits else 66)
            true("what a recording shows is a run", "may rule it out" not in done.stderr)
    run(PORTENT, "run", "-q", "--deadlocks", "-r", "own.json", "--", "./afterwards")
    run(PORTENT, "run", "-q", "--deadlocks", "--order", "sync", "-r", "recorded.json", "--", "./afterwards")
    own, recorded = (json.loads(pathlib.Path(name).read_text(encoding="utf-8"))["properties"][0] for name in ("own.json", "recorded.json"))
    true("JSON says so", "may rule it out" in own["findings"][0]["reserve"])
    same("and nothing of what is known to be possible", recorded["verdict"], "holds")
    for form in ("--sarif", "--gitlab", "--junit", "--markdown", "--html"):
        same(form, run(PORTENT, "report", form, "own.json", "-o", "own.out").returncode, 0)
        true(f"{form} says so", "may rule it out" in " ".join(pathlib.Path("own.out").read_text(encoding="utf-8").split()))


@test
def tries():
    """Nobody waits in a try, or waits for ever in a lock for a time: no deadlock is predicted there; but who has the lock by one stands in
    others' way. By the program itself, and through the channel."""
    unlock, wrlock = "pthread_mutex_unlock(&b)", "pthread_rwlock_wrlock(&r)"
    lock = "pthread_mutex_lock(&b)"
    cases = [(lock, lock, unlock, True), ("if (pthread_mutex_trylock(&b)) abort()", lock, unlock, False),
             ("if (pthread_mutex_timedlock(&b, &limit)) abort()", lock, unlock, False),
             (lock, "if (pthread_mutex_trylock(&b)) abort()", unlock, True),
             ("pthread_rwlock_rdlock(&r)", wrlock, "pthread_rwlock_unlock(&r)", True),
             ("if (pthread_rwlock_tryrdlock(&r)) abort()", wrlock, "pthread_rwlock_unlock(&r)", False),
             ("if (pthread_rwlock_trywrlock(&r)) abort()", wrlock, "pthread_rwlock_unlock(&r)", False)]
    for inner, outer, leave, expected in cases:
        build("t", TRYING.replace("INNER", f"{inner}; {leave}").replace("OUTER", outer).replace("LEAVE", leave))
        same("status", run("./t", options="record=t.rec").returncode, 0)
        write("x.prop", "property p: race_free(limit);\n")
        same("through the channel", run(PORTENT, "run", "-q", "--record-all", "-s", "x.prop", "-o", "t.trace", "--", "./t").returncode, 0)
        for trace in ("t.rec", "t.trace"):
            for order in ("sync", "values"):
                same(f"{inner} / {outer}, {trace}, {order}", run(PORTENT, "check", "--deadlocks", "--order", order, trace).returncode, int(expected))
        tried = [line.split("|")[1] for line in lines_of("t.rec") if "|state(trying)|" in line]
        same(f"{inner} / {outer}: it is said", len(tried), sum("abort" in call for call in (inner, outer)))


# Goes on for as long as its argument says, and breaks the property soon.
LASTING = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int level, near, apart, first = 7, begun = 5;
static long rounds;
static void *work(void *argument) {
    apart = argument != NULL; /* nobody has taken the lock before */
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&m);
        near++;
        if (i == 100) level = 3;
        if (i == rounds / 2 && begun == 5) begun = 6;
        pthread_mutex_unlock(&m);
        usleep(1000);
    }
    return argument;
}
int main(int count, char **arguments) {
    pthread_t t, u;
    rounds = atol(arguments[count - 1]);
    pthread_create(&t, NULL, work, NULL);
    pthread_create(&u, NULL, work, &first);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    return 0;
}
"""


@test
def followed_while_it_runs():
    """What is found in what the program has recorded so far is found while it runs; and in the end it is what `check` finds."""
    build("lasting", LASTING)
    write("l.prop", "property p: always level <= 2; property q: never [begun == 5]* [begun == 6] [begun == 5];\n")
    for order, more in (("auto", []), ("auto", ["-o", "early.trace"]), ("sync", []), ("values", [])):
        begun = time.monotonic()
        done = run(PORTENT, "run", "--order", order, "-s", "l.prop", *more, "--", "./lasting", "100000", options="halt_on_error=1", timeout=90)
        told = done.stdout + done.stderr
        true(f"{order} {more}: it was ended early: {time.monotonic() - begun}, {told}", time.monotonic() - begun < 60 and "'p' is violated" in told)
    contains(run(PORTENT, "check", "-s", "l.prop", "early.trace").stdout, "'p' is violated")
    for order in ("sync", "values"):
        for more in ([], ["-s", "l.prop"]):
            run(PORTENT, "run", "-q", "--order", order, *more, "-r", "r.json", "--", "./lasting", "800")
            run(PORTENT, "run", "-q", "--order", order, *more, "-r", "o.json", "-o", "l.trace", "--", "./lasting", "800")
            limited = subprocess.run(["sh", "-c", "ulimit -v 100000000; exec \"$@\"", "sh", PORTENT, "run", "-q", "--order", order, *more, "-r", "v.json", "--",
                                      "./lasting", "300"], capture_output=True, check=False)
            if b"AddressSanitizer" not in limited.stderr: # it needs terabytes of address space itself
                same(f"{order} {more}: without address space for it ({limited.stderr})", verdicts("v.json"), verdicts("r.json"))
            same(f"{order} {more}: with a trace", verdicts("r.json"), verdicts("o.json"))
            write("c.json", run(PORTENT, "check", "--order", order, *more, "--json", "l.trace").stdout)
            same(f"{order} {more}: check", [v for v in verdicts("c.json") if v[0] in [w[0] for w in verdicts("r.json")]], verdicts("r.json"))


# Says whether it records itself, into a file beside the trace, while it runs.
ITSELF = r"""
#include <portent.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int level, named;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&m);
        level = argument ? i : -i;
        named = i % 3;
        pthread_mutex_unlock(&m);
    }
    return argument;
}
int main(void) {
    pthread_t t;
    portent_watch(&named, sizeof named, PORTENT_INT, "account");
    portent_event("x");
    pthread_create(&t, NULL, work, NULL);
    work(&m);
    pthread_join(t, NULL);
    puts(access("t.trace.recording", F_OK) ? "channel" : "itself");
    return 0;
}
"""


@test
def with_properties():
    """With --record-all the program records itself where properties can be judged by that: the answer is that of the trace, and of the run
    itself told as it was. Others have the channel."""
    build("itself", ITSELF)
    for text, how in (("always level < 19", "itself"), ("never [level == 3] [level == 4]+", "itself"), ("always event(x) || level > -30", "itself"),
                      ("race_free(level)", "channel"), ("always account < 3", "channel"), ("always level < 19 && account < 3", "channel")):
        write("w.prop", f"property p: {text};\n")
        done = run(PORTENT, "run", "--record-all", "-s", "w.prop", "-o", "t.trace", "-r", "r.json", "--", "./itself")
        same(f"{text}: who records", done.stdout.strip(), how)
        true(f"{text}: the recording is gone", not os.path.exists("t.trace.recording"))
        ran = json.loads(pathlib.Path("r.json").read_text(encoding="utf-8"))
        checked = json.loads(run(PORTENT, "check", "--json", "--order", "access", "--window", "64", "--lookahead", "256", "-s", "w.prop", "t.trace").stdout)
        for name in ("verdict", "how", "relevant", "levels", "states", "runs", "complete", "witness"):
            same(f"{text}: {name}", ran["properties"][0].get(name), checked["properties"][0].get(name))
        same(f"{text}: status", done.returncode, 66 if ran["properties"][0]["verdict"] == "violated" else 0)


@test
def numbers_of_followed_events():
    """What is found beside the program has the events' numbers in the trace that is written in the end."""
    build("racing", LASTING.replace("if (i == 100) level = 3;", "").replace("usleep(1000);", "usleep(1000); if (i > 250) level++;"))
    run(PORTENT, "run", "-q", "--order", "sync", "--races", "-r", "r.json", "-o", "r.trace", "--", "./racing", "300")
    write("c.json", run(PORTENT, "check", "--order", "sync", "--races", "--json", "r.trace").stdout)
    sides = []
    for path in ("r.json", "c.json"):
        with open(path, encoding="utf-8") as file:
            answer = json.load(file)
        sides.append((answer["events"], [(f["object"], f["first"]["event"], f["second"]["event"]) for f in answer["properties"][0]["findings"]]))
    same("the same events", *sides)
    true(f"a race, late in the run: {sides[0]}", any(name == "level" and second > 1000 for name, _, second in sides[0][1]))


# The same of memory that the program names while it runs, when some has happened already, and of a library's that it never opens.
NAMING = LASTING.replace("#include <pthread.h>", "#include <portent.h>\n#include <pthread.h>").replace(
    "rounds = atol(arguments[count - 1]);", """rounds = atol(arguments[count - 1]);
    int *balance = malloc(sizeof *balance);
    *balance = 4;
    for (int i = 0; i < 30; i++) { near++; usleep(10000); }
    portent_watch(balance, sizeof *balance, PORTENT_INT, "balance");
    if (rounds < 0) portent_watch(&level, sizeof level, PORTENT_INT, "unnamed");
    *balance = 5;""")


@test
def named_objects_followed_while_it_runs():
    """What the program has recorded before it names an object of a property is analysed when it has: with the value that it had then."""
    build("naming", NAMING)
    write("n.prop", "property p: always level <= 2; property b: always balance != 0; property c: always !(once balance == 4 && balance == 5);\n")
    begun = time.monotonic()
    done = run(PORTENT, "run", "--order", "auto", "-s", "n.prop", "--", "./naming", "100000", options="halt_on_error=1", timeout=90)
    told = done.stdout + done.stderr
    true(f"it was ended early: {time.monotonic() - begun}, {told}", time.monotonic() - begun < 60 and "'c' is violated" in told and "'b' is violated" not in told)
    for more in (0, 1): # then one of a property's is never named, and all waits for the end
        with open("n.prop", "a", encoding="utf-8") as file:
            file.write("property d: always unnamed == 0;\n" * more)
        for order in ("sync", "values"):
            run(PORTENT, "run", "-q", "--order", order, "-s", "n.prop", "-r", "r.json", "--", "./naming", "300")
            run(PORTENT, "run", "-q", "--order", order, "-s", "n.prop", "-r", "o.json", "-o", "n.trace", "--", "./naming", "300")
            same(f"{order} {more}: with a trace", verdicts("r.json"), verdicts("o.json"))
            write("c.json", run(PORTENT, "check", "--order", order, "-s", "n.prop", "--json", "n.trace").stdout)
            same(f"{order} {more}: check", [v[:2] for v in verdicts("c.json")][:3], [v[:2] for v in verdicts("r.json")][:3])


@test
def limited():
    """The last or the first of it, and it is said."""
    build("mixed", MIXED, "-DROUNDS=40000")
    same("its status", run("./mixed", options="record=m.rec:record_limit=300K").returncode, 0)
    lines = lines_of("m.rec")
    true(f"it begins with what is lost: {lines[:1]}", re.match(r"-\|lost\(events\)=\d+\|-", lines[0]))
    true(f"there is a part of it: {len(lines)}", len(lines) > 5000)
    true(f"main's last event is there: {lines[-3:]}", any(line.startswith("main|join(work") for line in lines[-10:]))
    same("reads of other values than were written", list(wrong_values(lines))[:5], [])
    same("what would hold is unknown", run(PORTENT, "check", "-q", "--deadlocks", "m.rec").returncode, 3)
    true("room on the disk", os.stat("m.rec").st_blocks * 512 < 500000)
    done = run("./mixed", options="record=m.rec:record_limit=300K,stop")
    contains(done.stderr, "the recording has reached its limit")
    lines = lines_of("m.rec", status=3)
    true(f"the first event is there: {lines[0]}", "|lost(" not in lines[0] and os.path.getsize("m.rec") < 2000000 and len(lines) > 5000)
    same("reads of other values than were written", list(wrong_values(lines))[:5], [])
    same("no limit", run(PORTENT, "run", "--record-all", "--record-limit", "many", "-o", "t", "--", "./mixed").returncode, 2)
    run(PORTENT, "run", "--record-all", "--record-limit", "300K", "-o", "m.ptb", "--", "./mixed")
    true("lost by run", re.match(r"-\|lost\(events\)=\d+\|-", lines_of("m.ptb")[0]))
    same("a limit", run(PORTENT, "run", "--order", "sync", "--deadlocks", "--record-limit", "300K,stop", "--", "./mixed").returncode, 67)


@test
def forks():
    build("forking", FORKING)
    done = run("./forking", options="record=f.rec")
    same(f"status: {done.stderr}", done.returncode, 0)
    parent, inner = lines_of("f.rec"), lines_of("f.rec." + done.stdout.strip())
    same("the parent's writes", [line.split("|")[1] for line in parent if "|w(x)" in line], ["w(x)=1", "w(x)=2"])
    same("those of the one that was started", [line.split("|")[1] for line in inner if "|w(x)" in line], ["w(x)=1", "w(x)=3"])
    done = run(PORTENT, "run", "--record-all", "-o", "r.trace", "--", "./forking")
    same(f"status of run: {done.stderr}", done.returncode, 0)
    writes = [sorted({line.split("|")[1] for line in lines_of(name) if "|w(x)" in line}) for name in os.listdir(".") if name.startswith("r.trace")]
    same("under an observer each process has its own", sorted(filter(None, writes)),
         [["w(x)=1", "w(x)=2"], ["w(x)=1", "w(x)=3"], ["w(x)=77"]])


def main():
    global PORTENT
    if len(sys.argv) < 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    PORTENT = os.path.abspath(sys.argv[1])
    return SUITE.run(sys.argv[2:], in_folder)


if __name__ == "__main__":
    sys.exit(main())
