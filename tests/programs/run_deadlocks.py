#!/usr/bin/env python3
"""Deadlocks while programs run: run_deadlocks.py PORTENT [TEST...]

`portent run --deadlocks` on small programs. PREDICTED ones come to their end and take locks in orders that can deadlock: reported are
exactly the circles that are listed, as pairs of what is wanted and what is held. DEADLOCKED ones do: each is ended at once, with status 66.
QUIET ones take locks in orders that cannot deadlock, and FINE ones look like a deadlock for a while: nothing is reported of either, and
their own status is passed through. `turn` lets threads come one after the other without any synchronisation that counts. The last line is
`deadlocks-run: N passed, M failed`.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

import suite
from suite import Failure, contains, run, same, true

HEAD = r"""#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static atomic_int turn;
static inline void await(int number) { while (turn != number) usleep(100); }
pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, c = PTHREAD_MUTEX_INITIALIZER, g = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_barrier_t barrier;
sem_t semaphore;
#define LOCK(m) pthread_mutex_lock(&m)
#define UNLOCK(m) pthread_mutex_unlock(&m)
#define NEST(m, n) do { LOCK(m); LOCK(n); UNLOCK(n); UNLOCK(m); } while (0)
static void *one(void *), *two(void *);
static inline void both(void)
{
    pthread_t t, u;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&t, NULL, one, NULL);
    pthread_create(&u, NULL, two, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
}
static inline struct timespec soon(long ms)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_sec += (t.tv_nsec + ms * 1000000) / 1000000000;
    t.tv_nsec = (t.tv_nsec + ms * 1000000) % 1000000000;
    return t;
}
#line 1
"""

AB = {("b", "a"), ("a", "b")}  # (wants, holds)
PREDICTED = {
    "two_locks": (r"""
static void *one(void *p) { NEST(a, b); turn = 1; return p; }
static void *two(void *p) { await(1); NEST(b, a); return p; }
int main(void) { both(); return 0; }
""", [AB]),
    "two_locks_c11": (r"""
mtx_t m, n;
static int first(void *p) { (void)p; mtx_lock(&m); mtx_lock(&n); mtx_unlock(&n); mtx_unlock(&m); turn = 1; return 0; }
static int second(void *p) { (void)p; await(1); mtx_lock(&n); mtx_lock(&m); mtx_unlock(&m); mtx_unlock(&n); return 0; }
static void *one(void *p) { return p; }
static void *two(void *p) { return p; }
int main(void) { both(); thrd_t t, u; mtx_init(&m, mtx_plain); mtx_init(&n, mtx_plain);
  thrd_create(&t, first, 0); thrd_create(&u, second, 0); thrd_join(t, 0); thrd_join(u, 0); return 0; }
""", [{("n", "m"), ("m", "n")}]),
    "three_locks": (r"""
static void *three(void *p) { await(2); NEST(c, a); return p; }
static void *one(void *p) { NEST(a, b); turn = 1; return p; }
static void *two(void *p) { await(1); NEST(b, c); turn = 2; return p; }
int main(void) { pthread_t t; pthread_create(&t, NULL, three, NULL); both(); pthread_join(t, NULL); return 0; }
""", [{("b", "a"), ("c", "b"), ("a", "c")}]),
    "a_gate_that_only_one_passes": (r"""
static void *one(void *p) { LOCK(g); NEST(a, b); UNLOCK(g); turn = 1; return p; }
static void *two(void *p) { await(1); NEST(b, a); return p; }
int main(void) { both(); return 0; }
""", [{("b", "a g"), ("a", "b")}]),
    "parent_before_the_join": (r"""
static void *one(void *p) { NEST(a, b); turn = 1; return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, NULL, one, NULL); await(1); NEST(b, a); pthread_join(t, NULL); return two(0) != 0; }
""", [AB]),
    "later_instance_is_not_ordered": (r"""
static void *one(void *p) { NEST(b, a); turn = 1; return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t; NEST(a, b); pthread_create(&t, NULL, one, NULL); await(1); NEST(a, b); pthread_join(t, NULL); return two(0) != 0; }
""", [AB]),
    "a_writer_and_a_reader": (r"""
static void *one(void *p) { pthread_rwlock_rdlock(&r); LOCK(a); UNLOCK(a); pthread_rwlock_unlock(&r); turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(a); pthread_rwlock_wrlock(&r); pthread_rwlock_unlock(&r); UNLOCK(a); return p; }
int main(void) { both(); return 0; }
""", [{("a", "r"), ("r", "a")}]),
    "through_a_condition": (r"""
static void *one(void *p) { LOCK(a); LOCK(b); struct timespec t = soon(50); pthread_cond_timedwait(&condition, &a, &t); UNLOCK(b); UNLOCK(a);
  turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(a); LOCK(b); UNLOCK(b); UNLOCK(a); return p; }
int main(void) { both(); return 0; }
""", [AB]),
}

QUIET = {
    "same_order": r"""
static void *one(void *p) { for (int i = 0; i < 1000; i++) NEST(a, b); return p; }
static void *two(void *p) { for (int i = 0; i < 1000; i++) NEST(a, b); return p; }
int main(void) { both(); return 3; }
""",
    "gate": r"""
static void *one(void *p) { LOCK(g); NEST(a, b); UNLOCK(g); turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(g); NEST(b, a); UNLOCK(g); return p; }
int main(void) { both(); return 3; }
""",
    "gate_for_a_writer_and_a_reader": r"""
static void *one(void *p) { pthread_rwlock_rdlock(&r); NEST(a, b); pthread_rwlock_unlock(&r); turn = 1; return p; }
static void *two(void *p) { await(1); pthread_rwlock_wrlock(&r); NEST(b, a); pthread_rwlock_unlock(&r); return p; }
int main(void) { both(); return 3; }
""",
    "joined_before": r"""
static void *one(void *p) { NEST(a, b); return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, NULL, one, NULL); pthread_join(t, NULL); NEST(b, a); both(); return 3; }
""",
    "one_thread": r"""
static void *one(void *p) { NEST(a, b); NEST(b, a); return p; }
static void *two(void *p) { return p; }
int main(void) { both(); return 3; }
""",
    "barrier_between": r"""
static void *one(void *p) { NEST(a, b); pthread_barrier_wait(&barrier); return p; }
static void *two(void *p) { pthread_barrier_wait(&barrier); NEST(b, a); return p; }
int main(void) { both(); return 3; }
""",
    "semaphore_between": r"""
static void *one(void *p) { NEST(a, b); sem_post(&semaphore); return p; }
static void *two(void *p) { sem_wait(&semaphore); NEST(b, a); return p; }
int main(void) { sem_init(&semaphore, 0, 0); both(); return 3; }
""",
    "readers_only": r"""
#define READ(x, y) pthread_rwlock_rdlock(&x); pthread_rwlock_rdlock(&y); pthread_rwlock_unlock(&y); pthread_rwlock_unlock(&x)
static void *one(void *p) { READ(r, s); turn = 1; return p; }
static void *two(void *p) { await(1); READ(s, r); return p; }
int main(void) { both(); return 3; }
""",
    "trylock_inside": r"""
static void *one(void *p) { NEST(a, b); turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(b); if (pthread_mutex_trylock(&a) == 0) UNLOCK(a); UNLOCK(b); return p; }
int main(void) { both(); return 3; }
""",
    "for_a_time_inside": r"""
static void *one(void *p) { NEST(a, b); turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(b); struct timespec t = soon(1000); if (pthread_mutex_timedlock(&a, &t) == 0) UNLOCK(a);
  UNLOCK(b); return p; }
int main(void) { both(); return 3; }
""",
    "recursive_again": r"""
pthread_mutex_t m;
static void *one(void *p) { LOCK(m); LOCK(a); LOCK(m); UNLOCK(m); UNLOCK(a); UNLOCK(m); turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(m); LOCK(a); LOCK(m); UNLOCK(m); UNLOCK(a); UNLOCK(m); return p; }
int main(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t); pthread_mutexattr_settype(&t, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&m, &t); both(); return 3; }
""",
}

# (program, (wants, holds) of each side, note; None: any)
DEADLOCKED = {
    "two_locks": (r"""
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&barrier); LOCK(b); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&barrier); LOCK(a); return p; }
int main(void) { both(); return 0; }
""", AB, ""),
    "three_locks": (r"""
static pthread_barrier_t all;
static void *three(void *p) { LOCK(c); pthread_barrier_wait(&all); LOCK(a); return p; }
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&all); LOCK(b); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&all); LOCK(c); return p; }
int main(void) { pthread_t t; pthread_barrier_init(&all, NULL, 3); pthread_create(&t, NULL, three, NULL); both(); return 0; }
""", {("b", "a"), ("c", "b"), ("a", "c")}, ""),
    "while_others_go_on": (r"""
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&barrier); LOCK(b); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&barrier); LOCK(a); return p; }
int main(void) { pthread_t t, u; pthread_barrier_init(&barrier, NULL, 2); pthread_create(&t, NULL, one, NULL); pthread_create(&u, NULL, two, NULL);
  for (;;) usleep(1000); }
""", AB, ""),
    "self": (r"""
static void *one(void *p) { LOCK(a); LOCK(a); return p; }
static void *two(void *p) { return p; }
int main(void) { both(); return 0; }
""", {("a", "a")}, ""),
    "self_alone": (r"""
static void *one(void *p) { return p; }
static void *two(void *p) { return p; }
int main(void) { if (turn) both(); LOCK(a); LOCK(a); return one(0) != two(0); }
""", {("a", "a")}, ""),
    "upgrade": (r"""
static void *one(void *p) { pthread_rwlock_rdlock(&r); pthread_rwlock_wrlock(&r); return p; }
static void *two(void *p) { return p; }
int main(void) { both(); return 0; }
""", {("r", "r")}, ""),
    "writer_and_reader": (r"""
static void *one(void *p) { pthread_rwlock_rdlock(&r); pthread_barrier_wait(&barrier); LOCK(a); return p; }
static void *two(void *p) { LOCK(a); pthread_barrier_wait(&barrier); pthread_rwlock_wrlock(&r); return p; }
int main(void) { both(); return 0; }
""", {("a", "r"), ("r", "a")}, ""),
    "joined_thread_waits": (r"""
static void *one(void *p) { LOCK(a); UNLOCK(a); return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t; LOCK(a); pthread_create(&t, NULL, one, NULL); pthread_join(t, NULL); UNLOCK(a); return two(0) != 0; }
""", None, ""),
    "mutex_of_a_condition": (r"""
static void *one(void *p) { LOCK(b); LOCK(a); turn = 1; pthread_cond_wait(&condition, &a); UNLOCK(a); UNLOCK(b); return p; }
static void *two(void *p) { await(1); LOCK(a); pthread_cond_signal(&condition); LOCK(b); UNLOCK(b); UNLOCK(a); return p; }
int main(void) { both(); return 0; }
""", AB, ""),
    "lost_wake_up": (r"""
static void *one(void *p) { LOCK(a); pthread_cond_signal(&condition); UNLOCK(a); turn = 1; return p; }
static void *two(void *p) { await(1); LOCK(a); pthread_cond_wait(&condition, &a); UNLOCK(a); return p; }
int main(void) { both(); return 0; }
""", None, "lost wake-up"),
    "lost_wake_up_of_one_of_two": (r"""
static int ready[2];
static void *wait_for(int i) { LOCK(a); turn++; while (!ready[i]) pthread_cond_wait(&condition, &a); UNLOCK(a); return 0; }
static void *one(void *p) { return p ? p : wait_for(0); }
static void *two(void *p) { return p ? p : wait_for(1); }
int main(void) { pthread_t t, u; pthread_create(&t, 0, one, 0); await(1); LOCK(a); UNLOCK(a); pthread_create(&u, 0, two, 0); await(2);
  LOCK(a); ready[0] = ready[1] = 1; pthread_cond_signal(&condition); UNLOCK(a); pthread_join(t, 0); pthread_join(u, 0); return 0; }
""", None, "lost wake-up"),
    "last_other_thread_ends": (r"""
static void *one(void *p) { await(1); usleep(100000); return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, one, 0); pthread_detach(t); LOCK(a); turn = 1; pthread_cond_wait(&condition, &a); return two(0) != 0; }
""", None, "lost wake-up"),
    "semaphore": (r"""
static void *one(void *p) { return p; }
static void *two(void *p) { sem_wait(&semaphore); return p; }
int main(void) { sem_init(&semaphore, 0, 0); both(); return 0; }
""", None, "lost wake-up"),
    "barrier": (r"""
static void *one(void *p) { pthread_barrier_wait(&barrier); return p; }
static void *two(void *p) { return p; }
int main(void) { both(); return 0; }
""", None, "lost wake-up"),
    "main_has_gone": (r"""
static void *one(void *p) { await(1); usleep(100000); LOCK(a); pthread_cond_wait(&condition, &a); return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t; pthread_create(&t, 0, one, 0); turn = 1; pthread_exit(two(0)); }
""", None, "lost wake-up"),
    "owner_has_ended": (r"""
static void *one(void *p) { LOCK(a); return p; }
static void *two(void *p) { return p; }
int main(void) { both(); LOCK(a); return 0; }
""", None, "abandoned lock"),
}

FINE = {
    "errorcheck_while_others_wait": r"""
pthread_mutex_t m;
static void *one(void *p) { usleep(200000); LOCK(m); if (LOCK(m) != EDEADLK) exit(9); UNLOCK(m); return p; }
int main(void) { pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&m, &a); pthread_t t; pthread_create(&t, 0, one, 0); pthread_join(t, 0); return 3; }
""",
    "errorcheck": r"""
pthread_mutex_t m;
static void *one(void *p) { LOCK(m); if (LOCK(m) != EDEADLK) exit(9); UNLOCK(m); return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t); pthread_mutexattr_settype(&t, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&m, &t); both(); return 3; }
""",
    "rwlock_of_its_own": r"""
static void *one(void *p) { pthread_rwlock_wrlock(&r); if (pthread_rwlock_rdlock(&r) != EDEADLK || pthread_rwlock_wrlock(&r) != EDEADLK) exit(9);
  pthread_rwlock_unlock(&r); return p; }
static void *two(void *p) { return p; }
int main(void) { both(); return 3; }
""",
    "trylock_loop": r"""
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&barrier); for (int i = 0; i < 200 && pthread_mutex_trylock(&b); i++) usleep(1000);
  UNLOCK(a); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&barrier); LOCK(a); UNLOCK(a); UNLOCK(b); return p; }
int main(void) { both(); return 3; }
""",
    "for_a_time": r"""
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&barrier); struct timespec t = soon(300); pthread_mutex_timedlock(&b, &t); UNLOCK(a); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&barrier); LOCK(a); UNLOCK(a); UNLOCK(b); return p; }
int main(void) { both(); return 3; }
""",
    "condition_for_a_time": r"""
static void *one(void *p) { LOCK(a); struct timespec t = soon(300); pthread_cond_timedwait(&condition, &a, &t); UNLOCK(a); return p; }
static void *two(void *p) { sem_wait(&semaphore); return p; }
int main(void) { sem_init(&semaphore, 0, 0); pthread_t t, u; pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
  pthread_join(t, 0); sem_post(&semaphore); pthread_join(u, 0); return 3; }
""",
    "robust": r"""
pthread_mutex_t m;
static void *one(void *p) { LOCK(m); turn = 1; usleep(200000); return p; }
static void *two(void *p) { await(1); if (LOCK(m) != EOWNERDEAD) exit(9); pthread_mutex_consistent(&m); UNLOCK(m); return p; }
int main(void) { pthread_mutexattr_t t; pthread_mutexattr_init(&t); pthread_mutexattr_setrobust(&t, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&m, &t); both(); return 3; }
""",
    "robust_whose_owner_nobody_joins": r"""
pthread_mutex_t m;
static void *one(void *p) { LOCK(m); turn = 1; usleep(200000); return p; }
static void *two(void *p) { await(1); if (LOCK(m) != EOWNERDEAD) exit(9); pthread_mutex_consistent(&m); UNLOCK(m); return p; }
int main(void) { pthread_t t, u; pthread_mutexattr_t x; pthread_mutexattr_init(&x); pthread_mutexattr_setrobust(&x, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&m, &x); pthread_create(&t, 0, one, 0); pthread_detach(t); pthread_create(&u, 0, two, 0); pthread_join(u, 0); return 3; }
""",
    "destructor_of_a_key_posts": r"""
pthread_key_t key;
static void post(void *p) { if (++turn < 4) { pthread_setspecific(key, p); return; } usleep(100000); sem_post(&semaphore); }
static void *one(void *p) { pthread_setspecific(key, &key); return p; }
static void *two(void *p) { while (sem_wait(&semaphore)) ; return p; }
int main(void) { pthread_t t, u; sem_init(&semaphore, 0, 0); pthread_key_create(&key, post); pthread_create(&u, 0, two, 0); usleep(50000);
  pthread_create(&t, 0, one, 0); pthread_detach(t); pthread_join(u, 0); return 3; }
""",
    "thread_of_a_read_posts": r"""
static struct aiocb read_one;
static void notify(union sigval v) { (void)v; sem_post(&semaphore); }
static void *one(void *p) { return p; }
static void *two(void *p) { while (sem_wait(&semaphore)) ; return p; }
int main(void) { int ends[2]; char byte; sem_init(&semaphore, 0, 0); if (pipe(ends)) return 9;
  read_one = (struct aiocb){.aio_fildes = ends[0], .aio_buf = &byte, .aio_nbytes = 1,
    .aio_sigevent = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify}};
  if (aio_read(&read_one)) return 9;
  pid_t child = fork(); if (!child) { usleep(300000); _exit(write(ends[1], "x", 1) != 1); }
  both(); waitpid(child, 0, 0); return 3; }
""",
    "handler_posts": r"""
static void handler(int n) { (void)n; sem_post(&semaphore); }
static void *one(void *p) { while (sem_wait(&semaphore) != 0) ; return p; }
static void *two(void *p) { return p; }
int main(void) { sem_init(&semaphore, 0, 0); signal(SIGALRM, handler); struct itimerspec s = {.it_value.tv_nsec = 400000000}; timer_t t;
  timer_create(CLOCK_MONOTONIC, 0, &t); timer_settime(t, 0, &s, 0); both(); return 3; }
""",
    "thread_of_a_timer_posts": r"""
static void notify(union sigval v) { (void)v; sem_post(&semaphore); }
static void *one(void *p) { while (sem_wait(&semaphore) != 0) ; return p; }
static void *two(void *p) { return p; }
int main(void) { sem_init(&semaphore, 0, 0); struct itimerspec s = {.it_value.tv_nsec = 400000000}; timer_t t;
  struct sigevent e = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
  timer_create(CLOCK_MONOTONIC, &e, &t); timer_settime(t, 0, &s, 0); both(); return 3; }
""",
    "another_process_posts": r"""
static void *one(void *p) { while (sem_wait(p) != 0) ; return p; }
static void *two(void *p) { return p; }
int main(void) { sem_t *shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); sem_init(shared, 1, 0);
  pid_t child = fork(); if (!child) { usleep(400000); sem_post(shared); _exit(0); }
  pthread_t t; pthread_create(&t, 0, one, shared); pthread_join(t, 0); waitpid(child, 0, 0); return two(0) ? 9 : 3; }
""",
    "created_meanwhile": r"""
static void *late(void *p) { usleep(300000); LOCK(a); pthread_cond_signal(&condition); UNLOCK(a); return p; }
static void *one(void *p) { pthread_t t; pthread_create(&t, 0, late, 0); pthread_detach(t); return p; }
static void *two(void *p) { LOCK(a); pthread_cond_wait(&condition, &a); UNLOCK(a); return p; }
int main(void) { both(); return 3; }
""",
    "waits_for_a_signal": r"""
static void *one(void *p) { sigset_t s; int n; sigemptyset(&s); sigaddset(&s, SIGUSR1); sigwait(&s, &n); sem_post(&semaphore); return p; }
static void *two(void *p) { while (sem_wait(&semaphore)) ; return p; }
int main(void) { sigset_t s; sem_init(&semaphore, 0, 0); sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, 0);
  timer_t t; struct sigevent e = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1}; struct itimerspec i = {.it_value.tv_nsec = 400000000};
  timer_create(CLOCK_MONOTONIC, &e, &t); timer_settime(t, 0, &i, 0); both(); return 3; }
""",
    "cancelled": r"""
static void clean(void *p) { (void)p; usleep(100000); sem_post(&semaphore); UNLOCK(a); }
static void *one(void *p) { LOCK(a); pthread_cleanup_push(clean, 0); turn = 1; pthread_cond_wait(&condition, &a); pthread_cleanup_pop(0); return p; }
static void *two(void *p) { while (sem_wait(&semaphore)) ; return p; }
int main(void) { pthread_t t, u; sem_init(&semaphore, 0, 0); pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
  await(1); pthread_cancel(t); pthread_join(t, 0); pthread_join(u, 0); return 3; }
""",
    "cancelled_at_a_semaphore": r"""
sem_t never;
static void clean(void *p) { (void)p; usleep(200000); sem_post(&semaphore); }
static void *one(void *p) { pthread_cleanup_push(clean, 0); turn = 1; sem_wait(&never); pthread_cleanup_pop(0); return p; }
static void *two(void *p) { while (sem_wait(&semaphore)) ; return p; }
int main(void) { pthread_t t, u; sem_init(&semaphore, 0, 0); sem_init(&never, 0, 0); pthread_create(&t, 0, one, 0); pthread_create(&u, 0, two, 0);
  await(1); usleep(50000); pthread_cancel(t); pthread_join(u, 0); pthread_join(t, 0); return 3; }
""",
    "handed_over": r"""
static int stop;
static void *work(void *p) { for (int i = 0; i < 20000; i++) { LOCK(a); if (i % 3 == 0) { LOCK(b); LOCK(c); stop++; UNLOCK(c); UNLOCK(b); }
  UNLOCK(a); if (i % 2) { LOCK(b); LOCK(c); UNLOCK(b); UNLOCK(c); } } return p; }
static void *one(void *p) { return work(p); }
static void *two(void *p) { return work(p); }
int main(void) { pthread_t t[6]; for (int i = 0; i < 6; i++) pthread_create(&t[i], 0, work, 0); both(); for (int i = 0; i < 6; i++) pthread_join(t[i], 0);
  return stop ? 3 : 9; }
""",
    "signalled_back_and_forth": r"""
static int whose;
static void *play(int me) { LOCK(a); for (int i = 0; i < 3000; i++) { while (whose != me) pthread_cond_wait(&condition, &a); whose = !me;
  pthread_cond_signal(&condition); } UNLOCK(a); return 0; }
static void *one(void *p) { return p ? p : play(0); }
static void *two(void *p) { return p ? p : play(1); }
int main(void) { both(); return 3; }
""",
    "posted_back_and_forth": r"""
sem_t other;
static void *one(void *p) { for (int i = 0; i < 3000; i++) { sem_wait(&semaphore); sem_post(&other); } return p; }
static void *two(void *p) { for (int i = 0; i < 3000; i++) { sem_post(&semaphore); sem_wait(&other); } return p; }
int main(void) { sem_init(&semaphore, 0, 0); sem_init(&other, 0, 0); both(); return 3; }
""",
    "barriers": r"""
static void *one(void *p) { for (int i = 0; i < 3000; i++) pthread_barrier_wait(&barrier); return p; }
static void *two(void *p) { for (int i = 0; i < 3000; i++) pthread_barrier_wait(&barrier); return p; }
int main(void) { both(); return 3; }
""",
    "threads_come_and_go": r"""
static void *quick(void *p) { LOCK(a); pthread_cond_signal(&condition); UNLOCK(a); return p; }
static void *one(void *p) { for (int i = 0; i < 300; i++) { pthread_t t; pthread_create(&t, 0, quick, 0); pthread_join(t, 0); } turn = 1;
  LOCK(a); pthread_cond_broadcast(&condition); UNLOCK(a); return p; }
static void *two(void *p) { LOCK(a); while (turn != 1) pthread_cond_wait(&condition, &a); UNLOCK(a); return p; }
int main(void) { both(); return 3; }
""",
}

CPP = r"""#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <atomic>
#include <chrono>
std::mutex a, b; std::shared_mutex s; std::atomic<int> turn;
static void await(int n) { while (turn != n) std::this_thread::sleep_for(std::chrono::microseconds(100)); }
#line 1
"""
CPP_PROGRAMS = {
    "nested_guards": (r"""
int main() { std::thread t([] { std::lock_guard<std::mutex> x(a); std::lock_guard<std::mutex> y(b); turn = 1; });
  std::thread u([] { await(1); std::lock_guard<std::mutex> x(b); std::lock_guard<std::mutex> y(a); }); t.join(); u.join(); return 3; }
""", 66),
    "scoped_lock": (r"""
int main() { std::thread t([] { for (int i = 0; i < 2000; i++) std::scoped_lock x(a, b); });
  std::thread u([] { for (int i = 0; i < 2000; i++) std::scoped_lock x(b, a); }); t.join(); u.join(); return 3; }
""", 3),
    "condition": (r"""
std::condition_variable c; bool ready;
int main() { std::thread t([] { std::unique_lock<std::mutex> l(a); c.wait(l, [] { return ready; }); });
  { std::lock_guard<std::mutex> l(a); ready = true; } c.notify_one(); t.join(); return 3; }
""", 3),
    "notified_at_the_end_of_the_thread": (r"""
std::condition_variable c; bool ready;
int main() { std::thread t([] { await(1); std::unique_lock<std::mutex> l(a); ready = true; std::notify_all_at_thread_exit(c, std::move(l)); });
  t.detach(); std::unique_lock<std::mutex> l(a); turn = 1; c.wait(l, [] { return ready; }); return 3; }
""", 3),
    "lost_wake_up": (r"""
std::condition_variable c;
int main() { std::thread t([] { std::unique_lock<std::mutex> l(a); c.notify_one(); c.wait(l); }); t.join(); return 3; }
""", 66),
}

tests = suite.Suite("deadlocks-run")


def build(portent, source, name="p.c", *flags):
    suite.write(name, source)
    tool = "c++" if name.endswith(".cc") else "cc"
    done = run(portent, tool, "-O1", "-g", "-w", "-pthread", *flags, name, "-o", "p", options="")
    if done.returncode:
        raise Failure(done.stderr)


def run_limited(*command, options):
    """A program that does not end is a failure, and not for long."""
    try:
        return run(*command, options=options, timeout=60)
    except subprocess.TimeoutExpired as late:
        raise Failure("it did not end") from late


def ask(portent, *options, settings=None):
    """Status, findings, and what was said."""
    begin = time.monotonic()
    done = run_limited(portent, "run", *options, "-r", "r.json", "--", "./p", options=settings)
    with open("r.json", encoding="utf-8") as file:
        properties = {p["name"]: p for p in json.load(file)["properties"]}
    true("there is an entry for deadlocks", "deadlocks" in properties)
    return done, properties["deadlocks"], time.monotonic() - begin


def sides(finding):
    return {(side["wants"], " ".join(sorted(side["holds"]))) for side in finding["cycle"]}


def add(group, name, function):
    function.__name__ = f"{group}_{name}"
    tests.test(function)


def predicted(name, source, circles):
    def test(portent):
        build(portent, HEAD + source)
        done, found, _ = ask(portent, "--deadlocks")
        same("status", done.returncode, 66)
        same("circles", sorted(map(sorted, map(sides, found["findings"]))), sorted(map(sorted, circles)))
        same("how", {f["how"] for f in found["findings"]}, {"predicted"})
    add("predicted", name, test)


def silent(group, name, source):
    def test(portent):
        build(portent, HEAD + source)
        done, found, _ = ask(portent, "--deadlocks")
        same("status", (done.returncode, found["verdict"], found["findings"]), (3, "holds", []))
    add(group, name, test)


def deadlocked(name, source, circle, note):
    def test(portent):
        build(portent, HEAD + source)
        done, found, seconds = ask(portent, "--deadlocks")
        same("status", done.returncode, 66)
        observed = [f for f in found["findings"] if f["how"] == "observed"]
        same("how many", len(observed), 1)
        if circle is not None:
            same("circle", sides(observed[0]), circle)
        same("note", observed[0].get("note", ""), note)
        contains(done.stderr.lower(), "deadlocked, and is ended", note or "deadlock")
        true("at once", seconds < 60)
    add("deadlocked", name, test)


def of_cpp(name, source, status):
    def test(portent):
        build(portent, CPP + source, "p.cc", "-std=c++17")
        same("status", ask(portent, "--deadlocks")[0].returncode, status)
    add("cpp", name, test)


for name, (source, circles) in PREDICTED.items():
    predicted(name, source, circles)
for name, (source, circle, note) in DEADLOCKED.items():
    deadlocked(name, source, circle, note)
for name, source in QUIET.items():
    silent("quiet", name, source)
for name, source in FINE.items():
    silent("fine", name, source)
for name, (source, status) in CPP_PROGRAMS.items():
    of_cpp(name, source, status)

MARKED = r"""
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&barrier); LOCK(b); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&barrier); LOCK(a); return p; }
int main(void) { pthread_t t, u; pthread_barrier_init(&barrier, NULL, 2); pthread_create(&t, NULL, one, NULL); pthread_create(&u, NULL, two, NULL);
  sleep(2); write(1, "alive\n", 6); _exit(5); }
"""


@tests.test
def on_deadlock_end_and_wait(portent):
    build(portent, HEAD + MARKED)
    done, _, _ = ask(portent, "--deadlocks")
    same("ended", (done.returncode, done.stdout), (66, ""))
    done, found, _ = ask(portent, "--deadlocks", "--on-deadlock", "wait")
    same("left", (done.returncode, done.stdout), (66, "alive\n"))
    same("how", [f["how"] for f in found["findings"]], ["observed"])
    done, _, _ = ask(portent, "--deadlocks", settings="on_deadlock=wait")
    same("left by the environment", (done.returncode, done.stdout), (66, "alive\n"))
    done, _, _ = ask(portent, "--deadlocks", "--exit-code", "7")
    same("exit code", done.returncode, 7)


@tests.test
def suppressed(portent):
    """Then the program is left as it is."""
    build(portent, HEAD + MARKED)
    suite.write("quiet.supp", "deadlock:one\n")
    done, _, _ = ask(portent, "--deadlocks", "--suppressions", "quiet.supp")
    same("left", (done.returncode, done.stdout), (5, "alive\n"))


@tests.test
def where_nothing_is_asked_for(portent):
    build(portent, HEAD + DEADLOCKED["two_locks"][0])
    done, _, _ = ask(portent)
    same("status", done.returncode, 66)


@tests.test
def by_itself(portent):
    build(portent, HEAD + DEADLOCKED["two_locks"][0])
    done = run("./p", options="deadlocks=1")
    same("status", done.returncode, 66)
    contains(done.stderr, "WARNING: portent: deadlock", "waits for b", "while it holds a", "created at:")
    same("another status", run("./p", options="deadlocks=1:exitcode=9").returncode, 9)
    build(portent, HEAD + PREDICTED["two_locks"][0])
    done = run("./p", options="deadlocks=1")
    same("status of a predicted one", done.returncode, 66)
    same("status without it", run("./p").returncode, 0)


INLINED = """
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n;
static __attribute__((always_inline)) inline void inner(pthread_mutex_t *l) { pthread_mutex_lock(l); n++; pthread_mutex_unlock(l); }
static __attribute__((always_inline)) inline void outer(pthread_mutex_t *k, pthread_mutex_t *l)
{
    pthread_mutex_lock(k);
    inner(l);
    pthread_mutex_unlock(k);
}
static __attribute__((noinline)) void called(int way) { if (way) outer(&a, &b); else outer(&b, &a); }
static void *f(void *p) { called(0); return p; }
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, f, 0);
    called(1);
    return pthread_join(t, 0);
}
"""


@tests.test
def calls_of_inlined_functions_once(portent):
    build(portent, INLINED)
    done, answer, _ = ask(portent, "--deadlocks")
    same("status", done.returncode, 66)
    for side in answer["findings"][0]["cycle"]:
        same("stack", [call.split()[0] for call in side["stack"]], ["inner", "outer", "called", "f" if side["thread"] == "f" else "main"])


@tests.test
def in_a_static_program(portent):
    build(portent, HEAD + DEADLOCKED["two_locks"][0], "p.c", "-static")
    done, found, _ = ask(portent, "--deadlocks")
    same("status", (done.returncode, [f["how"] for f in found["findings"]]), (66, ["observed"]))


@tests.test
def a_circle_that_is_too_long(portent):
    """Then it is not said that there is none."""
    build(portent, HEAD + r"""
pthread_mutex_t m[40];
static void *one(void *p) { long i = (long)p; await(i); LOCK(m[i]); LOCK(m[(i + 1) % 40]); UNLOCK(m[(i + 1) % 40]); UNLOCK(m[i]); turn++; return p; }
static void *two(void *p) { return p; }
int main(void) { pthread_t t[40]; for (long i = 0; i < 40; i++) { pthread_mutex_init(&m[i], 0); pthread_create(&t[i], 0, one, (void *)i); }
  for (int i = 0; i < 40; i++) pthread_join(t[i], 0); return two(0) != 0; }
""")
    done, found, _ = ask(portent, "--deadlocks")
    same("status", (done.returncode, found["verdict"]), (67, "unknown"))


@tests.test
def in_a_forked_child(portent):
    build(portent, HEAD + r"""
static void *one(void *p) { LOCK(a); pthread_barrier_wait(&barrier); LOCK(b); return p; }
static void *two(void *p) { LOCK(b); pthread_barrier_wait(&barrier); LOCK(a); return p; }
int main(void) { pid_t child = fork(); if (!child) { both(); _exit(0); } int s; waitpid(child, &s, 0); return WEXITSTATUS(s) == 66 ? 0 : 9; }
""")
    done = run_limited(portent, "run", "--deadlocks", "--", "./p", options=None)
    same("status", done.returncode, 66)
    contains(done.stderr, "Deadlock on", "while it holds a")


@tests.test
def woken_by_what_clone_made(portent):
    """It is no thread that could be known: nothing is checked from then on, and nobody is said to wait in vain."""
    build(portent, HEAD + r"""
static char stack[65536];
static int post(void *p) { usleep(300000); sem_post(p); return 0; }
static void *one(void *p) { return p; }
static void *two(void *p) { return p; }
int main(void) { if (turn) both(); sem_init(&semaphore, 0, 0); pid_t child = clone(post, stack + sizeof stack, CLONE_VM | SIGCHLD, &semaphore);
  while (sem_wait(&semaphore)) ; waitpid(child, 0, 0); return one(0) != two(0); }
""")
    done, found, _ = ask(portent, "--deadlocks")
    same("status", (done.returncode, found["verdict"], found["findings"]), (67, "unknown", []))
    same("status alone", run_limited("./p", options="deadlocks=1").returncode, 0)


@tests.test
def not_instrumented_but_preloaded(portent):
    suite.write("p.c", HEAD + DEADLOCKED["two_locks"][0])
    done = run("clang", "-O1", "-g", "-w", "-pthread", "p.c", "-o", "p")
    same("built", done.returncode, 0)
    done, found, _ = ask(portent, "--preload", "--deadlocks")
    same("status", (done.returncode, [f["how"] for f in found["findings"]]), (66, ["observed"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("portent", type=pathlib.Path)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    portent = str(args.portent.resolve())
    return tests.run(args.tests, lambda function: suite.in_folder(lambda: function(portent)))


sys.exit(main())
