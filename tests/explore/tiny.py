"""Small programs of straight-line threads, described as text: their parts, their C, and random ones. For brute.py and run_exhaustive.py.

    program NAME
    var x=1 y            plain variables         atomic z       _Atomic ones
    mutex m              rwlock l                sem s=1        cond w             barrier q=2
    writers l            a rwlock that lets writers go first: readers wait behind one that waits for readers
    thread
      a = x              load; a..h are the thread's own       x = a + 1          store
      a = add z 1        a = swap z 5            a = cas z 0 1 (a: whether it succeeded)
      lock m             unlock m                a = try m      (1: got it)
      rdlock l           wrlock l                rwunlock l
      down s             post s                  a = trydown s  (1: got it)
      wait w m           signal w                broadcast w    barrier q         yield
      if a == 0 ... end                          while a == 0 ... end
      assert a == 1      the thread goes on; the program's status says which assertions failed
    final x == 2         an assertion of main, after all threads
    counts               a loop of it that reads the same again counts its turns: that all were explored must not be said
    classes 4            how many inequivalent schedules, worked out by hand: brute.py --selftest compares
"""
import collections
import itertools
import re

LOCALS = "abcdefgh"
Instruction = collections.namedtuple("Instruction", "op args")


class Text(Exception):
    """A description that cannot be read."""


class Program:
    """A description: its objects, the instructions of its threads, and main's assertions."""

    def __init__(self, name):
        self.name, self.objects, self.kinds, self.threads, self.finals = name, {}, {}, [], []
        self.lines, self.classes, self.assertions, self.counts = [], None, 0, False

    def declare(self, kind, names):
        for item in names:
            name, _, value = item.partition("=")
            if name in self.kinds or name in LOCALS:
                raise Text(f"{self.name}: {name} is declared twice, or is a thread's own")
            self.kinds[name] = kind
            self.objects[name] = int(value or 0)

    def assertion(self):
        self.assertions += 1
        if self.assertions > 6:
            raise Text(f"{self.name}: more assertions than a status can tell")
        return 1 << (self.assertions - 1)


def parse(text):
    """The programs of a text."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        word, _, rest = line.partition(" ")
        if word == "program":
            found.append(Program(rest.strip()))
            continue
        program = found[-1]
        if word in ("var", "atomic", "mutex", "rwlock", "writers", "sem", "cond", "barrier") and not program.threads:
            program.declare(word, rest.split())
        elif word == "thread":
            program.threads.append([])
        elif word == "final":
            program.finals.append((rest, program.assertion()))
        elif word == "counts":
            program.counts = True
        elif word == "classes":
            program.classes = int(rest)
        else:
            program.threads[-1].append(instruction(program, line, number))
    for program in found:
        program.threads = [with_targets(program, thread) for thread in program.threads]
    return found


def instruction(program, line, number):
    """One line of a thread. Expressions stay text: C and Python read them alike."""
    words = line.split()
    kinds = program.kinds
    if words[0] in ("if", "while"):
        return Instruction(words[0], [line.partition(" ")[2]])
    if words[0] == "end":
        return Instruction("end", [])
    if words[0] == "assert":
        return Instruction("assert", [line.partition(" ")[2], program.assertion()])
    if len(words) > 2 and words[1] == "=":
        to, value = words[0], line.partition("=")[2].strip()
        if to in LOCALS:
            if words[2] in ("add", "swap", "cas", "try", "trydown"):
                return Instruction(words[2], [to, *words[3:]])
            return Instruction("load", [to, value]) if value in kinds else Instruction("set", [to, value])
        if kinds.get(to) in ("var", "atomic"):
            return Instruction("store", [to, value])
    elif words[0] in ("lock", "unlock", "rdlock", "wrlock", "rwunlock", "down", "post", "wait", "signal", "broadcast", "barrier", "yield") and \
            all(word in kinds for word in words[1:]):
        return Instruction(words[0], words[1:])
    raise Text(f"line {number}: {line}")


def with_targets(program, thread):
    """if and while jump behind their end, the end of a while back to it."""
    opened, code = [], [Instruction(one.op, list(one.args)) for one in thread]
    for at, one in enumerate(code):
        if one.op in ("if", "while"):
            opened.append(at)
        elif one.op == "end":
            start = opened.pop()
            code[start].args.append(at + 1)
            one.args.append(start if code[start].op == "while" else at + 1)
    if opened:
        raise Text(f"{program.name}: an end is missing")
    return code


# ---- C ----

C_HEAD = """#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define START(thread) if (pthread_create(&threads[thread], NULL, starts[thread], NULL)) abort();
"""
C_OBJECTS = {"var": "static int {0}_{1} = {2};", "atomic": "static _Atomic int {0}_{1} = {2};",
             "mutex": "static pthread_mutex_t {0}_{1} = PTHREAD_MUTEX_INITIALIZER;",
             "rwlock": "static pthread_rwlock_t {0}_{1} = PTHREAD_RWLOCK_INITIALIZER;",
             "writers": "static pthread_rwlock_t {0}_{1} = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;", "sem": "static sem_t {0}_{1};",
             "cond": "static pthread_cond_t {0}_{1} = PTHREAD_COND_INITIALIZER;", "barrier": "static pthread_barrier_t {0}_{1};"}
C_INITIAL = {"sem": "sem_init(&{0}_{1}, 0, {2});", "barrier": "pthread_barrier_init(&{0}_{1}, NULL, {2});"}
C_LINES = {"set": "{1} = {2};", "load": "{1} = {0}_{2};", "store": "{0}_{1} = {2};", "add": "{1} = atomic_fetch_add(&{0}_{2}, {3});",
           "swap": "{1} = atomic_exchange(&{0}_{2}, {3});",
           "cas": "{1} = atomic_compare_exchange_strong(&{0}_{2}, &(int){{{3}}}, {4});",
           "lock": "pthread_mutex_lock(&{0}_{1});", "unlock": "pthread_mutex_unlock(&{0}_{1});",
           "try": "{1} = pthread_mutex_trylock(&{0}_{2}) == 0;", "rdlock": "pthread_rwlock_rdlock(&{0}_{1});",
           "wrlock": "pthread_rwlock_wrlock(&{0}_{1});", "rwunlock": "pthread_rwlock_unlock(&{0}_{1});", "down": "sem_wait(&{0}_{1});",
           "post": "sem_post(&{0}_{1});", "trydown": "{1} = sem_trywait(&{0}_{2}) == 0;",
           "wait": "pthread_cond_wait(&{0}_{1}, &{0}_{2});", "signal": "pthread_cond_signal(&{0}_{1});",
           "broadcast": "pthread_cond_broadcast(&{0}_{1});", "barrier": "pthread_barrier_wait(&{0}_{1});", "yield": "sched_yield();", "if": "if ({1}) {{",
           "while": "while ({1}) {{", "end": "}}", "assert": "failed |= ({1}) ? 0 : {2};"}


def c_function(program, prefix, number):
    lines = [f"static void *{prefix}_t{number}(void *unused)", "{", "    intptr_t failed = 0;"]
    body = [C_LINES[one.op].format(prefix, *one.args) for one in program.threads[number]]
    used = sorted(set(re.findall(r"\b[a-h]\b", " ".join(body))))
    lines += [f"    int {', '.join(f'{name} = 0' for name in used)};"] if used else []
    lines += [f"    (void){name};" for name in used]
    lines += ["    (void)unused;", *("    " + line for line in body), "    return (void *)failed;", "}"]
    return lines


def c_program(program, prefix):
    """Its objects, its threads, and PREFIX_main, which returns the mask of failed assertions."""
    used = {arg for thread in program.threads for one in thread for arg in one.args} | set(re.findall(r"\w+", " ".join(text for text, _ in program.finals)))
    kinds = {name: kind for name, kind in program.kinds.items() if name in used}
    lines = [C_OBJECTS[kind].format(prefix, name, program.objects[name]) for name, kind in kinds.items()]
    for number in range(len(program.threads)):
        lines += c_function(program, prefix, number)
    count = len(program.threads)
    finals = [re.sub(r"\b([a-z]\w*)\b", rf"{prefix}_\1", text) for text, _ in program.finals]
    lines += [f"static int {prefix}_main(void)", "{", f"    pthread_t threads[{count}];",
              f"    void *(*starts[])(void *) = {{{', '.join(f'{prefix}_t{i}' for i in range(count))}}};", "    void *part;", "    int failed = 0;"]
    lines += ["    " + C_INITIAL[kind].format(prefix, name, program.objects[name]) for name, kind in kinds.items() if kind in C_INITIAL]
    lines += [f"    START({i})" for i in range(count)]
    for i in range(count):
        lines += [f"    pthread_join(threads[{i}], &part);", "    failed |= (int)(intptr_t)part;"]
    lines += [f"    failed |= ({text}) ? 0 : {bit};" for text, (_, bit) in zip(finals, program.finals)]
    return [*lines, "    return failed;", "}"]


def c_source(programs):
    """One source for many: the program's argument is the number of the one that runs; its status is the mask."""
    lines = [C_HEAD]
    for number, program in enumerate(programs):
        lines += [f"/* {program.name} */", *c_program(program, f"p{number}")]
    lines += ["int main(int argc, char **argv)", "{", f"    static int (*const mains[])(void) = {{{', '.join(f'p{i}_main' for i in range(len(programs)))}}};",
              "    unsigned number = argc > 1 ? (unsigned)atoi(argv[1]) : 0;", f"    return number < {len(programs)} ? mains[number]() : 99;", "}"]
    return "\n".join(lines) + "\n"


# ---- random descriptions ----

def random_text(rng, name):
    """A description as text: two or three threads over few objects, locks given back by who took them, conditions awaited in loops."""
    threads = rng.choice([2, 2, 2, 3])
    length = rng.choice([2, 3, 4]) if threads == 3 else rng.choice([3, 4, 5, 6])
    lines = [f"program {name}", "var x y", "atomic z", "mutex m n", rng.choice(["rwlock l", "writers l"]), f"sem s={rng.choice([0, 1, 1])}", "cond w", f"barrier q={threads}"]
    theme = rng.choice(["memory", "locks", "locks", "mixed", "conditions"])
    barrier = theme == "mixed" and rng.random() < 0.3
    bodies = [random_thread(rng, theme, length) for _ in range(threads)]
    if barrier:
        for body in bodies:
            body.insert(rng.randint(0, len(body)) if not any(line.startswith(("lock", "rdlock", "wrlock")) for line in body) else 0, "barrier q")
    budget = 3
    for body in bodies:
        lines.append("thread")
        loaded = {line[0] for line in body if re.match(r"[a-h] = ", line)}
        lines += ["  " + line for line in body]
        for own in sorted(loaded)[:2]:
            if budget and rng.random() < 0.5:
                lines.append(f"  assert {own} {rng.choice(['==', '!=', '<'])} {rng.randint(0, 2)}")
                budget -= 1
    if rng.random() < 0.7:
        lines.append(f"final {rng.choice('xyz')} {rng.choice(['==', '!='])} {rng.randint(0, 2)}")
    return "\n".join(lines)


def random_access(rng, own):
    variable = rng.choice("xxyz")
    kinds = ["load", "store", "copy"] + (["add", "cas", "swap"] if variable == "z" else [])
    kind = rng.choice(kinds)
    if kind == "load":
        return f"{own} = {variable}"
    if kind == "store":
        return f"{variable} = {rng.randint(1, 2)}"
    if kind == "copy":
        return f"{variable} = {own} + 1"
    return f"{own} = {kind} z " + ("0 1" if kind == "cas" else "1")


def random_thread(rng, theme, length):
    body, own, held = [], itertools.cycle("abc"), []
    while len(body) < length:
        left = length - len(body)
        choice = rng.random()
        if theme == "memory" or choice < {"locks": 0.35, "mixed": 0.4, "conditions": 0.3}[theme]:
            body.append(random_access(rng, next(own)))
        elif theme == "conditions" and choice < 0.6 and not held:
            body += rng.choice([["lock m", "a = x", "while a == 0", "wait w m", "a = x", "end", "unlock m"],
                                ["lock m", "x = 1", rng.choice(["signal w", "broadcast w"]), "unlock m"],
                                ["x = 1", rng.choice(["signal w", "broadcast w"])]])
        elif choice < 0.75 and left > 1 and len(held) < 2:
            name = rng.choice([one for one in "mn" if one not in held])
            if rng.random() < 0.15:
                body += [f"h = try {name}", "if h == 1", random_access(rng, next(own)), f"unlock {name}", "end"]
            else:
                body.append(f"lock {name}")
                held.append(name)
        elif choice < 0.85:
            body.append(rng.choice(["down s", "post s", "post s", "h = trydown s"]))
        elif left > 2:
            body += [rng.choice(["rdlock l", "rdlock l", "wrlock l"]), random_access(rng, next(own)), "rwunlock l"]
        if held and rng.random() < 0.4:
            body.append(f"unlock {held.pop()}")
    return body + [f"unlock {name}" for name in reversed(held)]
