#!/usr/bin/env python3
"""Lifetimes of random programs against the definition: run_life_programs.py PORTENT [--cases N] [--seed S] [--only CASE] [--by WAY]...

Each case is a program as run_race_programs.py makes them, with one fixed interleaving that no tool sees, whose threads allocate, use, free and
reallocate a few heap blocks, right or wrong. What is expected comes from the program's own order of operations: a use, or a free, after the
free of its block is observed; a use before it that happens-before does not order (races.py, the free being a write of the whole block) is
predicted. Which block is meant is kept by code that is not instrumented, so that the pointers themselves race with nothing. It must be
found exactly so by `run --lifetimes` and by the program alone. The last line is `life-programs: N passed, M failed`; what is counted is
a case, seen in one way.
"""
import argparse
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import run_race_programs
from run_race_programs import Failure, races, run

HERE = pathlib.Path(__file__).resolve().parent
import run_lifetimes  # noqa: E402  (run_race_programs has made its folder known)

HEAD = run_race_programs.HEAD + """#include <stdlib.h>
char *slot(int); void put(int, char *);
"""
# Not instrumented: where the blocks are.
SLOTS = "static char *volatile slots[1 << 16];\nchar *slot(int i) { return slots[i]; }\nvoid put(int i, char *block) { slots[i] = block; }\n"
SIZE, SLOT_COUNT = 64, 3


class Block:
    """A life of a slot: its number, its size, and the event that ended it."""

    def __init__(self, number, size):
        self.number, self.size, self.end = number, size, None


class Case(run_race_programs.Case):
    """`ends` says which events end a block, `moved` which write what realloc has made, `wrong` has what happened: (what, event, end)."""

    def __init__(self, number, rng):
        self.blocks, self.made, self.ends, self.wrong, self.moved = {}, 0, {}, [], {}
        super().__init__(number, rng)

    def access(self, thread):
        index = self.rng.randrange(SLOT_COUNT)
        block = self.blocks.get(index)
        if not block or (block.end is not None and self.rng.random() < 0.3):
            self.allocate(thread, index)
        elif self.rng.random() < 0.75:
            self.use(thread, index, block)
        else:
            self.end(thread, index, block)

    def slot(self, index):
        return self.number * SLOT_COUNT + index

    def begin(self, index, size):
        self.made += 1
        self.blocks[index] = Block(self.made, size)

    def allocate(self, thread, index):
        self.begin(index, SIZE)
        self.add(thread, "none", "", f"put({self.slot(index)}, calloc(1, {SIZE}));")

    def use(self, thread, index, block):
        op, (kind, size) = self.rng.choice("rw"), self.rng.choice([("char", 1), ("int", 4), ("long", 8), ("long", 8)])
        low = self.rng.randrange(0, 24, size)
        place = f"*({kind} *)(slot({self.slot(index)}) + {low})"
        if block.end is not None:
            self.wrong.append(("use after free", len(self.events), block.end))
        after = "" if block.end is None else "_ended"  # what is used after the free is not ordered after it
        self.add(thread, op, f"b{block.number}{after}", f"USE({place});" if op == "r" else f"{place} = 1;", None, range(low, low + size))

    def end(self, thread, index, block):
        now, moves, again = len(self.events), self.rng.random() < 0.3, block.end is not None
        size = block.size * 4
        code = f"put({self.slot(index)}, realloc(slot({self.slot(index)}), {size}));" if moves else f"free(slot({self.slot(index)}));"
        if again:
            self.wrong.append(("double free", now, block.end))
            self.add(thread, "none", "", code)
        else:
            block.end = now
            self.ends[now] = block
            self.add(thread, "w", f"b{block.number}", code, None, range(block.size))
        if moves:  # which writes the new block, at the same place
            self.begin(index, size)
            self.moved[len(self.events)] = now
            self.add(thread, "w", f"b{self.blocks[index].number}", ";", None, range(block.size))

    def source(self, first):
        lines = super().source(first)
        for write, of in self.moved.items():
            self.events[write][3] = self.events[of][3]
        return lines

    def line(self, event):
        return int(self.events[event][3].split(":")[1])

    def op(self, event):
        return self.events[event][1] if event not in self.ends and self.events[event][1] in "rw" else "free"

    def expected(self):
        found, made = races.races([tuple(event) for event in self.events])
        lines = {self.line(end): end for end in self.ends}
        lives = {(note, "observed", self.op(event), self.line(event), self.line(end)) for note, event, end in self.wrong}
        for i, j in found:
            use, end = made.events[i], made.events[j]
            if int(end[3].split(":")[1]) in lines:
                lives.add(("use after free", "predicted", use[1], int(use[3].split(":")[1]), int(end[3].split(":")[1])))
        return lives


class Batch:
    def __init__(self, numbers, seed):
        self.cases, lines = [Case(i, random.Random(f"life {seed}/{i}")) for i in numbers], HEAD.splitlines()
        for case in self.cases:
            lines += case.source(len(lines) + 1)
        lines += ["int main(void) {", "pthread_mutex_init(&m, NULL); pthread_rwlock_init(&l, NULL); sem_init(&c, 0, 0); sem_init(&d, 0, 0);"]
        lines += [f"restart(); p{case.number}_0(NULL);" for case in self.cases]
        self.text = "\n".join([*lines, "return 0; }", ""])
        self.expected = {case.number: case.expected() for case in self.cases}


def told(lives):
    for life in lives:
        (op, line), (_, end) = life.sides
        yield (life.note, life.how, op, line, end)


def by_run(portent, folder):
    done = run(portent, "run", "-q", "--lifetimes", "-r", "a.json", "--", "./a", cwd=folder)
    if done.returncode not in (0, 66):
        raise Failure(f"status {done.returncode} of run: {done.stderr}")
    return set(told(run_lifetimes.of_json(json.loads((folder / "a.json").read_text()))))


def by_itself(_, folder):
    done = run("./a", options="lifetimes=1", cwd=folder)
    if done.returncode not in (0, 66):
        raise Failure(f"status {done.returncode}: {done.stderr[-2000:]}")
    return set(told(run_lifetimes.of_text(done.stderr)))


WAYS = {"run": by_run, "alone": by_itself}


def compare(portent, batch, ways, level, objects):
    """How many cases were right, and what is wrong, as texts."""
    right, wrong = 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "a.c").write_text(batch.text)
        built = run(portent, "cc", level, "-g", "-w", "-pthread", "a.c", *objects, "-o", "a", cwd=folder)
        if built.returncode:
            raise Failure(built.stderr)
        for way in ways:
            try:
                found = WAYS[way](portent, folder)
            except (Failure, subprocess.TimeoutExpired) as failure:
                wrong += [f"{way}, {level}, all cases from {batch.cases[0].number} on: {failure}"]
                continue
            for case in batch.cases:
                lines = {case.line(i) for i in range(len(case.events))}
                got, want = {life for life in found if life[3] in lines or life[4] in lines}, batch.expected[case.number]
                right += got == want
                if got != want:
                    wrong.append(f"case {case.number}, {way}, {level}: missing {sorted(want - got)}, extra {sorted(got - want)}\n{case.trace()}")
    return right, wrong


def main():
    parser = argparse.ArgumentParser(description="Lifetimes of random programs, against the definition.")
    parser.add_argument("portent", type=pathlib.Path)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", type=int, help="this case alone")
    parser.add_argument("--by", action="append", choices=WAYS, help="look at them in this way (default: all)")
    parser.add_argument("--batch", type=int, default=100, help="cases in one program")
    parser.add_argument("--show", action="store_true", help="print the source of --only")
    options = parser.parse_args()
    numbers = [[options.only]] if options.only is not None else [range(i, min(i + options.batch, options.cases))
                                                                for i in range(0, options.cases, options.batch)]
    right, wrong, counts = 0, [], {"observed": 0, "predicted": 0, "none": 0}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        objects = [pathlib.Path(folder) / "steps.o", pathlib.Path(folder) / "slots.o"]
        (pathlib.Path(folder) / "slots.c").write_text(SLOTS)
        for source, target in zip((HERE / "race_steps.c", pathlib.Path(folder) / "slots.c"), objects):
            subprocess.run(["clang", "-O2", "-c", source, "-o", target], check=True)

        def one(job):
            i, some = job
            batch = Batch(some, options.seed)
            if options.show:
                print(batch.text)
            return batch, *compare(options.portent.resolve(), batch, options.by or list(WAYS), ("-O0", "-O2", "-O1")[i % 3], objects)
        for batch, passed, failures in pool.map(one, enumerate(numbers)):
            right, wrong = right + passed, wrong + failures
            for lives in batch.expected.values():
                counts["none"] += not lives
                for life in lives:
                    counts[life[1]] += 1
            for failure in failures[:3]:
                print(f"FAILED {failure}", flush=True)
    print(f"seed {options.seed}: {counts['none']} programs without errors, {counts['observed']} observed, {counts['predicted']} predicted")
    print(f"life-programs: {right} passed, {len(wrong)} failed")
    return 1 if wrong or not right else 0


if __name__ == "__main__":
    sys.exit(main())
