#!/usr/bin/env python3
"""Races of random programs against the definition: run_race_programs.py PORTENT [--cases N] [--seed S] [--only BATCH] [--by WAY]...

Each case is a program of up to five threads without loops or branches: plain accesses of a few variables and their bytes, atomic
operations of every order, fences, mutexes, read-write locks, semaphores, barriers, fork and join. Its one interleaving is fixed: before
each operation a thread waits for its turn, by means that no tool sees (race_steps.c), so the program's order of operations is known
exactly, and races.py computes the racing pairs from it by definition. Each operation has a line of its own, hence the pairs of lines that
are found must be exactly these: by `check` on a full recording, by `run --races`, and by the program alone (PORTENT_OPTIONS=races=1).
So must those of the property race_free(*), in the same three ways, and those of race_free(x) && race_free(y) && ... be the pairs on these.
Many cases are one source; case i of seed S is made from "S/i" alone. The last line is `race-programs: N passed, M failed`; what is
counted is a case, seen in one way. What fails is printed as the trace of the case.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "programs")]
import races  # noqa: E402  (beside this file)
from suite import Failure, run  # noqa: E402

HEAD = """#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
union word { long l; int i[2]; short s[4]; char c[8]; };
void step(int), done(void), restart(void), make(int, void *(*)(void *)), join(int);
static pthread_mutex_t m;
static pthread_rwlock_t l;
static sem_t c, d;
static pthread_barrier_t b;
#define USE(value) __asm__ volatile("" : : "r"(value) : "memory")
"""
PARTS = [("l", 0, 8), ("i[0]", 0, 4), ("i[1]", 4, 4), ("s[1]", 2, 2), ("c[3]", 3, 1), ("c[4]", 4, 1)]
LOADS, STORES = ["relaxed", "acquire", "seq_cst"], ["relaxed", "release", "seq_cst"]
UPDATES = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]


class Case:
    """A random program and its one run: `events` are races.py's, and each has its C text in `code`, in the same order."""

    def __init__(self, number, rng):
        self.number, self.rng = number, rng
        self.events, self.code = [], []
        self.alive, self.unborn = [0], list(range(1, rng.randint(2, 5)))
        self.locks, self.posts = {"l": {}, "m": {}}, {"c": 0, "d": 0}
        self.syncs, self.atomics = rng.choice([0.2, 0.4, 0.6]), rng.choice([0.1, 0.5, 0.8])
        self.forks()
        for _ in range(rng.choice([8, 16, 30])):
            self.step()
        for name, holders in self.locks.items():
            for thread in list(holders):
                self.release(thread, name)

    def add(self, thread, op, name, code, order=None, part=None):
        self.events.append([f"T{thread}", op, name, None, order, part])
        self.code.append(code)

    def forks(self):
        for _ in range(self.rng.randint(1, len(self.unborn))):
            self.fork(self.rng.choice(self.alive))

    def fork(self, thread):
        child = self.unborn.pop(0)
        self.add(thread, "fork", f"T{child}", f"make({child}, p{self.number}_{child});")
        self.alive.append(child)

    def step(self):
        thread = self.rng.choice(self.alive)
        if self.rng.random() >= self.syncs:
            self.access(thread)
        else:
            self.rng.choice([self.lock, self.lock, self.lock, self.threads, self.semaphore, self.fence, self.fence, self.barrier])(thread)

    def access(self, thread):
        rng, atomic = self.rng, self.rng.random() < self.atomics
        if not atomic and rng.random() < 0.85:
            name, (member, low, size) = rng.choice("xy"), rng.choice(PARTS[:1] * 4 + PARTS)
            place, part = f"{name}{self.number}.{member}", range(low, low + size)
        else:
            name, part = rng.choice("ef"), range(4)
            place = f"{name}{self.number}"
        op = rng.choice("rrwwu" if atomic else "rrww")
        self.add(thread, op, f"{name}{self.number}", *(self.atomic(op, place) if atomic else (self.plain(op, name, place), None)), part)

    @staticmethod
    def plain(op, name, place):
        place = f"*(int *)&{place}" if name in "ef" else place
        return f"USE({place});" if op == "r" else f"{place} = 1;"

    def atomic(self, op, place):
        order = self.rng.choice({"r": LOADS, "w": STORES, "u": UPDATES}[op])
        code = {"r": f"USE(atomic_load_explicit(&{place}, memory_order_{order}));",
                "w": f"atomic_store_explicit(&{place}, 1, memory_order_{order});",
                "u": f"atomic_{self.rng.choice(['fetch_add', 'exchange', 'fetch_or'])}_explicit(&{place}, 1, memory_order_{order});"}[op]
        return code, order

    def fence(self, thread):
        order = self.rng.choice(["acquire", "release", "acq_rel", "seq_cst"])
        self.add(thread, "fence", "", f"atomic_thread_fence(memory_order_{order});", order)

    def lock(self, thread):
        name = self.rng.choice("lm")
        holders = self.locks[name]
        kinds = ["racq", "acq"] if name == "l" else ["acq"]
        if thread in holders:
            self.release(thread, name)
        elif not holders or (name == "l" and set(holders.values()) == {"racq"}):
            kind = self.rng.choice(kinds) if not holders else "racq"
            holders[thread] = kind
            call = "pthread_mutex_lock(&m);" if name == "m" else f"pthread_rwlock_{'rd' if kind == 'racq' else 'wr'}lock(&l);"
            self.add(thread, kind, name, call)

    def release(self, thread, name):
        kind = self.locks[name].pop(thread)
        self.add(thread, "rrel" if kind == "racq" else "rel", name, f"pthread_{'mutex' if name == 'm' else 'rwlock'}_unlock(&{name});")

    def threads(self, thread):
        others = [t for t in self.alive if t not in (0, thread) and not any(t in holders for holders in self.locks.values())]
        if self.unborn and self.rng.random() < 0.6:
            self.fork(thread)
        elif others and self.rng.random() < 0.6:
            child = self.rng.choice(others)
            self.alive.remove(child)
            self.add(thread, "join", f"T{child}", f"join({child});")

    def semaphore(self, thread):
        """Who posts comes before who takes."""
        name = self.rng.choice("cd")
        if self.posts[name] and self.rng.random() < 0.6:
            self.posts[name] -= 1
            self.add(thread, "wait", name, f"sem_wait(&{name});")
        else:
            self.posts[name] += 1
            self.add(thread, "notify", name, f"sem_post(&{name});")

    def barrier(self, thread):
        """All that arrive do so before the first one goes on: the step ends before the call, and another one comes after it."""
        if len(self.alive) < 2:
            return
        here = self.rng.sample(self.alive, self.rng.randint(2, len(self.alive)))
        self.add(here[0], "none", "", f"pthread_barrier_init(&b, NULL, {len(here)});")
        for one in here:
            self.add(one, "notify", "b", "ARRIVE")
        for one in here:
            self.add(one, "wait", "b", ";")

    def source(self, first):
        """Its C text, from the line `first` on; fills in the places."""
        n, lines = self.number, [f"static union word x{self.number}, y{self.number};", f"static atomic_int e{self.number}, f{self.number};"]
        threads = sorted({int(e[0][1:]) for e in self.events} | {int(e[2][1:]) for e in self.events if e[1] == "fork"})
        lines += [f"static void *p{n}_{thread}(void *);" for thread in threads]
        joined = {int(e[2][1:]) for e in self.events if e[1] == "join"}
        for thread in threads:
            lines += [f"static void *p{n}_{thread}(void *unused) {{"]
            for i, (event, code) in enumerate(zip(self.events, self.code)):
                if event[0] == f"T{thread}":
                    lines.append(f"step({i}); done(); pthread_barrier_wait(&b);" if code == "ARRIVE" else f"step({i}); {code} done();")
                    event[3] = f"a.c:{first + len(lines) - 1}"
            if thread == 0:
                lines += [f"step({len(self.events)});", *(f"join({child});" for child in threads if child and child not in joined)]
                lines += [f"while (sem_trywait(&{name}) == 0) ;" for name in "cd"]
            lines.append("return unused; }")
        return lines

    def trace(self):
        return "\n".join(f"{t}|{op}({name})|{place}" + (f"|m={order}" if order else "") + (f"|b={part[0]}-{part[-1]}" if part else "")
                         for t, op, name, place, order, part in self.events)


class Batch:
    """Cases as one program."""

    def __init__(self, numbers, seed):
        self.cases, lines = [Case(i, random.Random(f"{seed}/{i}")) for i in numbers], HEAD.splitlines()
        for case in self.cases:
            lines += case.source(len(lines) + 1)
        lines += ["int main(void) {", "pthread_mutex_init(&m, NULL); pthread_rwlock_init(&l, NULL); sem_init(&c, 0, 0); sem_init(&d, 0, 0);"]
        lines += [f"restart(); p{case.number}_0(NULL);" for case in self.cases]
        self.text = "\n".join([*lines, "return 0; }", ""])
        self.expected = {case.number: self.judge(case.events) for case in self.cases}

    def written(self, kind):
        """The variables of this kind that are there: of one that nobody writes the compiler makes a constant."""
        return sorted({name for case in self.cases for _, op, name, *_ in case.events if op in "wu" and name.startswith(kind)})

    def judge(self, events):
        found, made = races.races([tuple(event) for event in events])
        return {self.pair(made.events[i], made.events[j]) for i, j in found}

    @staticmethod
    def pair(one, other):
        """What a finding must say: the variable, and of both sides the line and whether it reads, writes, or both."""
        return (one[2], *sorted((int(e[3].split(":")[1]), e[1]) for e in (one, other)))


def of_json(answer, name="races"):
    (check,) = [found for found in answer["properties"] if found["name"] == name]
    for finding in check["findings"]:
        sides = sorted((int(side["loc"].rpartition(":")[2]), side["op"]) for side in (finding["first"], finding["second"]))
        yield (re.split(r"[.\[]", finding["object"])[0], *sides)


def by_check(portent, folder):
    done = run(portent, "run", "--record-all", "-o", "a.ptb", "--", "./a", cwd=folder)
    if done.returncode:
        raise Failure(f"status {done.returncode} of recording it: {done.stderr}")
    done = run(portent, "check", "--races", "--order", "access", "--json", "a.ptb", cwd=folder)
    if done.returncode not in (0, 1):
        raise Failure(f"status {done.returncode} of check: {done.stderr}")
    return set(of_json(json.loads(done.stdout)))


def by_recording(portent, folder):
    """The same of what the program has recorded by itself."""
    done = run("./a", options="record=a.rec", cwd=folder)
    if done.returncode:
        raise Failure(f"status {done.returncode} of recording it: {done.stderr}")
    done = run(portent, "check", "--races", "--order", "access", "--json", "a.rec", cwd=folder)
    if done.returncode not in (0, 1):
        raise Failure(f"status {done.returncode} of check: {done.stderr}")
    return set(of_json(json.loads(done.stdout)))


def by_run(portent, folder):
    done = run(portent, "run", "-q", "--races", "-r", "a.json", "--", "./a", cwd=folder)
    if done.returncode not in (0, 66):
        raise Failure(f"status {done.returncode} of run: {done.stderr}")
    return set(of_json(json.loads((folder / "a.json").read_text())))


KINDS = {"read": "r", "write": "w", "update": "u", "atomic read": "r", "atomic write": "w", "atomic update": "u"}


def alone(options, folder):
    """The races that the program prints, each with the properties that it violates."""
    done = run("./a", options=options, cwd=folder)
    if done.returncode not in (0, 66):
        raise Failure(f"status {done.returncode}: {done.stderr[-2000:]}")
    for report in done.stderr.split("WARNING:")[1:]:
        sides = re.findall(r"^  (?:previous )?((?:atomic )?(?:read|write|update)) of .*\n    #0 .*a\.c:(\d+)", report, re.M | re.I)
        (name,) = re.findall(r"Location is '(\w+)", report)
        yield (name, *sorted((int(line), KINDS[kind.lower()]) for kind, line in sides)), re.findall(r"violates property '(\w+)'", report)


def by_itself(_, folder):
    return {race for race, _ in alone("races=1", folder)}


def of_properties(found):
    """What race_free(*) has; the others must have the part of it that is about what they name."""
    for kind in "xyef":
        part = {race for race in found["all"] if race[0].startswith(kind)}
        if found[kind] != part:
            raise Failure(f"race_free of all {kind}: missing {sorted(part - found[kind])}, extra {sorted(found[kind] - part)}")
    return found["all"]


def by_property(portent, folder):
    done = run(portent, "run", "-q", "-s", "a.prop", "-r", "a.json", "--", "./a", cwd=folder)
    if done.returncode not in (0, 66):
        raise Failure(f"status {done.returncode} of run: {done.stderr}")
    answer = json.loads((folder / "a.json").read_text())
    return of_properties({name: set(of_json(answer, name)) for name in ("all", *"xyef")})


def by_checked_property(portent, folder):
    done = run(portent, "run", "-q", "-s", "a.prop", "-o", "a.ptb", "--", "./a", cwd=folder)
    if done.returncode not in (0, 66):
        raise Failure(f"status {done.returncode} of run: {done.stderr}")
    done = run(portent, "check", "--order", "access", "-s", "a.prop", "--json", "a.ptb", cwd=folder)
    if done.returncode not in (0, 1):
        raise Failure(f"status {done.returncode} of check: {done.stderr}")
    answer = json.loads(done.stdout)
    return of_properties({name: set(of_json(answer, name)) for name in ("all", *"xyef")})


def by_embedded_property(portent, folder):
    done = run(portent, "compile", "-s", "a.prop", "-o", "a.ptc", "./a", cwd=folder)
    if done.returncode:
        raise Failure(f"status {done.returncode} of compile: {done.stderr}")
    found = {name: set() for name in ("all", *"xyef")}
    for race, names in alone("properties=a.ptc", folder):
        for name in names:
            found[name].add(race)
    return of_properties(found)


WAYS = {"check": by_check, "recording": by_recording, "run": by_run, "alone": by_itself, "property": by_property, "checked-property": by_checked_property,
        "embedded-property": by_embedded_property}
RECORDED = ("check", "recording", "checked-property")


def compare(portent, batch, ways, level, steps):
    """How many cases were right, and what is wrong, as texts."""
    right, wrong = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.c").write_text(batch.text)
        (folder / "a.prop").write_text("property all: race_free(*);\n" + "".join(
            f"property {kind} at each i: {' && '.join(f'race_free({name})' for name in batch.written(kind))};\n" for kind in "xyef"))
        built = run(portent, "cc", level, "-g", "-w", "-pthread", "a.c", steps, "-o", "a", cwd=folder)
        if built.returncode:
            raise Failure(built.stderr)
        for way in ways:
            try:
                found = WAYS[way](portent, folder)
            except (Failure, subprocess.TimeoutExpired) as failure:
                wrong += [f"{way}, {level}, all cases from {batch.cases[0].number} on: {failure}"]
                continue
            for case in batch.cases:
                lines = {int(event[3].split(":")[1]) for event in case.events}
                got = {race for race in found if race[1][0] in lines or race[2][0] in lines}
                want = batch.expected[case.number]
                missing, extra = want - got, got - want
                right += not missing and not extra
                if missing or extra:
                    wrong.append(f"case {case.number}, {way}, {level}: missing {sorted(missing)}, extra {sorted(extra)}\n{case.trace()}")
    return right, wrong


def main():
    parser = argparse.ArgumentParser(description="Races of random programs, against the definition.")
    parser.add_argument("portent", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="this case alone")
    parser.add_argument("--by", action="append", choices=WAYS, help="look for races in this way (default: all)")
    parser.add_argument("--batch", type=int, default=100, help="cases in one program")
    parser.add_argument("--show", action="store_true", help="print the source of --only")
    options = parser.parse_args()
    numbers = [[options.only]] if options.only is not None else [range(i, min(i + options.batch, options.cases))
                                                                for i in range(0, options.cases, options.batch)]
    right, wrong, racy, count = 0, [], 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        steps = pathlib.Path(folder) / "steps.o"
        subprocess.run(["clang", "-O2", "-c", HERE / "race_steps.c", "-o", steps], check=True)

        def one(job):
            i, some = job
            batch = Batch(some, options.seed)
            if options.show:
                print(batch.text)
            return batch, *compare(options.portent.resolve(), batch, options.by or list(WAYS), ("-O0", "-O2", "-O1")[i % 3], steps)
        for batch, passed, failures in pool.map(one, enumerate(numbers)):
            right, wrong = right + passed, wrong + failures
            racy += sum(bool(pairs) for pairs in batch.expected.values())
            count += sum(len(pairs) for pairs in batch.expected.values())
            for failure in failures[:3]:
                print(f"FAILED {failure}", flush=True)
    print(f"seed {options.seed}: {racy} of {sum(map(len, numbers))} programs with races, {count} pairs of operations")
    print(f"race-programs: {right} passed, {len(wrong)} failed")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
