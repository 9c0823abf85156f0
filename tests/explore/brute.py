#!/usr/bin/env python3
"""All schedules of small programs, by brute force. brute.py [FILE [NAME...]] [--c] [--selftest N]

The reference for `portent explore --strategy exhaustive`, of which it shares nothing. A program is a text (tiny.py says how it is written);
from the same text come its C and the answer, so the two cannot differ. One operation is one step. Two steps of different threads are
*dependent* if they touch one variable and one of them writes it (an update and a compare-and-exchange write, also if that fails), or if they
touch one object of synchronisation, in whatever way but that both leave a barrier. Two complete schedules are equivalent if they have the same steps and order all
dependent pairs alike. A schedule is complete when no thread can go on. What is counted: classes of equivalent complete schedules, and in how
many of them which assertions fail, or threads are left that wait.

A signal leaves a token that one of those takes who waited then, whoever is first; a thread that waits does so in two steps, beginning
(it gives the mutex up) and going on (it takes it). So does one at a barrier: arriving and leaving, the last one too; and a writer of a
lock that lets writers go first: from the first step on readers wait, as long as others have it.
"""
import argparse
import collections
import os
import random
import sys

from tiny import LOCALS, Text, c_source, parse, random_text

HERE = os.path.dirname(os.path.abspath(__file__))
Answer = collections.namedtuple("Answer", "classes masks stuck")  # numbers: in all; by mask of failed assertions; stuck

class State:
    """After some steps. `histories` is, for each object, who touched it in which order, reads between two writes as a set: what two
    schedules have in common if and only if they are equivalent."""

    def __init__(self, program):
        self.program = program
        count = len(program.threads)
        self.at, self.own, self.steps = [0] * count, [dict.fromkeys(LOCALS, 0) for _ in range(count)], [0] * count
        self.mask = [0] * count
        self.values = {name: value for name, value in program.objects.items()}
        self.holder = {}  # mutex or rwlock in writing: thread
        self.readers = {name: [] for name, kind in program.kinds.items() if kind in ("rwlock", "writers")}
        self.waits = [None] * count  # (cond, mutex) or (barrier, phase)
        self.tokens = {name: [] for name, kind in program.kinds.items() if kind == "cond"}
        self.arrived = dict.fromkeys((name for name, kind in program.kinds.items() if kind == "barrier"), 0)
        self.phase = dict(self.arrived)
        self.histories = {name: [] for name in program.kinds}
        for thread in range(count):
            self.silent(thread)

    def copy(self):
        other = State.__new__(State)
        other.program, other.at, other.steps, other.mask, other.waits = self.program, self.at[:], self.steps[:], self.mask[:], self.waits[:]
        other.own = [dict(one) for one in self.own]
        other.values, other.holder, other.arrived, other.phase = dict(self.values), dict(self.holder), dict(self.arrived), dict(self.phase)
        other.readers = {name: list(who) for name, who in self.readers.items()}
        other.tokens = {name: [set(one) for one in some] for name, some in self.tokens.items()}
        other.histories = {name: list(some) for name, some in self.histories.items()}
        return other

    def key(self):
        return (tuple(self.steps), tuple((name, tuple(some)) for name, some in self.histories.items()))

    def here(self, thread):
        code = self.program.threads[thread]
        return code[self.at[thread]] if self.at[thread] < len(code) else None

    def value(self, thread, text):
        return int(eval(text, {"__builtins__": {}}, self.own[thread]))

    def silent(self, thread):
        """Goes on over what is no step: the thread's own variables, branches, assertions."""
        while True:
            one = self.here(thread)
            if one is None or one.op not in ("set", "if", "while", "end", "assert"):
                return
            self.at[thread] += 1
            if one.op == "set":
                self.own[thread][one.args[0]] = self.value(thread, one.args[1])
            elif one.op == "end":
                self.at[thread] = one.args[0]
            elif one.op == "assert":
                self.mask[thread] |= 0 if self.value(thread, one.args[0]) else one.args[1]
            elif not self.value(thread, one.args[0]):
                self.at[thread] = one.args[1]

    def enabled(self, thread):
        one, waits = self.here(thread), self.waits[thread]
        if one is None:
            return False
        if one.op == "wrlock" and self.is_asked(one.args[0]) and not waits:
            return True
        if waits and one.op == "wait":
            return waits[1] not in self.holder and any(thread in token for token in self.tokens[waits[0]])
        if waits and one.op == "barrier":
            return self.phase[waits[0]] > waits[1]
        if one.op in ("lock", "wrlock"):
            return one.args[0] not in self.holder and not self.readers.get(one.args[0])
        if one.op == "rdlock":
            return one.args[0] not in self.holder and not (self.readers[one.args[0]] and self.waiting(one.args[0]))
        return one.op != "down" or self.values[one.args[0]] > 0

    def touch(self, thread, name, writes):
        """Notes the step in the object's history."""
        event, history = (thread, self.steps[thread]), self.histories[name]
        if writes:
            history.append(event)
        elif history and isinstance(history[-1], frozenset):
            history[-1] |= {event}
        else:
            history.append(frozenset([event]))

    def step(self, thread):
        one = self.here(thread)
        goes_on = getattr(self, "do_" + one.op)(thread, *one.args)
        self.steps[thread] += 1
        if goes_on is not False:
            self.at[thread] += 1
            self.silent(thread)

    def do_load(self, thread, to, name):
        self.touch(thread, name, False)
        self.own[thread][to] = self.values[name]

    def do_store(self, thread, name, value):
        self.touch(thread, name, True)
        self.values[name] = self.value(thread, value)

    def update(self, thread, to, name, value):
        self.touch(thread, name, True)
        self.own[thread][to], self.values[name] = self.values[name], value

    def do_add(self, thread, to, name, more):
        self.update(thread, to, name, self.values[name] + self.value(thread, more))

    def do_swap(self, thread, to, name, value):
        self.update(thread, to, name, self.value(thread, value))

    def do_cas(self, thread, to, name, seen, value):
        same = self.values[name] == self.value(thread, seen)
        self.update(thread, to, name, self.value(thread, value) if same else self.values[name])
        self.own[thread][to] = int(same)

    def do_lock(self, thread, name):
        self.touch(thread, name, True)
        self.holder[name] = thread

    def is_asked(self, name):
        return self.program.kinds[name] == "writers"

    def do_wrlock(self, thread, name):
        """Of a lock that lets writers go first: beginning to wait, and going on."""
        if self.is_asked(name) and not self.waits[thread]:
            self.touch(thread, name, True)
            self.waits[thread] = (name, None)
            return False
        self.waits[thread] = None
        self.do_lock(thread, name)
        return True

    def do_unlock(self, thread, name):
        self.touch(thread, name, True)
        if self.holder.pop(name, None) != thread:
            raise Text(f"{self.program.name}: {name} is given back by another thread")

    def do_try(self, thread, to, name):
        self.touch(thread, name, True)
        self.own[thread][to] = int(name not in self.holder)
        self.holder.setdefault(name, thread)

    def do_rdlock(self, thread, name):
        self.touch(thread, name, True)
        self.readers[name].append(thread)

    def do_rwunlock(self, thread, name):
        self.touch(thread, name, True)
        if self.holder.get(name) == thread:
            del self.holder[name]
        else:
            self.readers[name].remove(thread)

    def do_down(self, thread, name):
        self.touch(thread, name, True)
        self.values[name] -= 1

    def do_trydown(self, thread, to, name):
        self.touch(thread, name, True)
        self.own[thread][to] = int(self.values[name] > 0)
        self.values[name] -= self.own[thread][to]

    def do_post(self, thread, name):
        self.touch(thread, name, True)
        self.values[name] += 1

    def waiting(self, cond):
        return {thread for thread, waits in enumerate(self.waits) if waits and waits[0] == cond}

    def do_wait(self, thread, cond, mutex):
        self.touch(thread, cond, True)
        self.touch(thread, mutex, True)
        if not self.waits[thread]:
            self.waits[thread] = (cond, mutex)
            del self.holder[mutex]
            return False
        # The oldest token that may be its own: those of earlier signals are for fewer threads.
        token = next(token for token in self.tokens[cond] if thread in token)
        self.tokens[cond].remove(token)
        for other in self.tokens[cond]:
            other.discard(thread)
        self.waits[thread] = None
        self.holder[mutex] = thread
        return True

    def do_signal(self, thread, cond):
        self.touch(thread, cond, True)
        if len(self.tokens[cond]) < len(self.waiting(cond)):
            self.tokens[cond].append(self.waiting(cond))

    def do_broadcast(self, thread, cond):
        self.touch(thread, cond, True)
        self.tokens[cond] = [{waiter} for waiter in sorted(self.waiting(cond))]

    def do_yield(self, thread):
        pass  # whoever is next is next

    def do_barrier(self, thread, name):
        self.touch(thread, name, not self.waits[thread])  # who leaves changes nothing that another one who leaves sees
        if self.waits[thread]:
            self.waits[thread] = None
            return True
        self.arrived[name] += 1
        self.waits[thread] = (name, self.phase[name])
        if self.arrived[name] == self.program.objects[name]:
            self.arrived[name] = 0
            self.phase[name] += 1
        return False

    def outcome(self):
        """Of a complete schedule: the mask of failed assertions, or None where threads are left that wait."""
        if any(self.here(thread) is not None for thread in range(len(self.at))):
            return None
        mask = 0
        for part in self.mask:
            mask |= part
        for text, bit in self.program.finals:
            mask |= 0 if eval(text, {"__builtins__": {}}, self.values) else bit
        return mask


def answer_of(ends):
    masks = collections.Counter(outcome for outcome in ends if outcome)
    return Answer(len(ends), dict(masks), sum(outcome is None for outcome in ends))


def explore(program, limit=None):
    """The answer; None if there are more than `limit` classes of prefixes. Equivalent prefixes lead to the same state and go on alike, so
    one of each class is followed."""
    first = State(program)
    seen, stack, ends = {first.key()}, [first], []
    while stack:
        state = stack.pop()
        ready = [thread for thread in range(len(state.at)) if state.enabled(thread)]
        if not ready:
            ends.append(state.outcome())
        for thread in ready:
            after = state.copy()
            after.step(thread)
            if after.key() not in seen:
                seen.add(after.key())
                stack.append(after)
        if limit and len(seen) > limit:
            return None
    return answer_of(ends)


def outcomes_within(program, preemptions):
    """The outcomes of schedules with at most so many switches away from a thread that could have gone on. None is one: stuck."""
    first = State(program)
    seen, stack, found = {}, [(first, None, 0)], set()
    while stack:
        state, current, used = stack.pop()
        ready = [thread for thread in range(len(state.at)) if state.enabled(thread)]
        if not ready:
            found.add(state.outcome())
        for thread in ready:
            cost = used + (current in ready and thread != current)
            after = state.copy()
            after.step(thread)
            key = (after.key(), thread)
            if cost <= preemptions and seen.get(key, preemptions + 1) > cost:
                seen[key] = cost
                stack.append((after, thread, cost))
    return found


def enumerate_all(program):
    """The same by all interleavings, without any such thought: for --selftest."""
    ends = {}
    stack = [State(program)]
    while stack:
        state = stack.pop()
        ready = [thread for thread in range(len(state.at)) if state.enabled(thread)]
        if not ready:
            ends[state.key()] = state.outcome()
        for thread in ready:
            after = state.copy()
            after.step(thread)
            stack.append(after)
    return answer_of(list(ends.values()))


def random_program(seed, number, most):
    """(program, answer, text) with at most so many classes, made from "SEED/NUMBER" alone."""
    rng = random.Random(f"{seed}/{number}")
    while True:
        text = random_text(rng, f"random_{number}")
        program = parse(text)[0]
        answer = explore(program, 40 * most)
        if answer and 1 < answer.classes <= most and (answer.classes > 3 or rng.random() < 0.2):
            return program, answer, text


def selftest(programs, cases):
    """The thoughtful enumeration against the thoughtless one and against hand-worked numbers."""
    failed = 0
    for program in programs:
        if program.classes is not None and explore(program).classes != program.classes:
            print(f"FAILED {program.name}: {explore(program)}, by hand {program.classes}")
            failed += 1
    for number in range(cases):
        program, answer, text = random_program("selftest", number, 30)
        if sum(map(len, program.threads)) <= 14 and enumerate_all(program) != answer:
            print(f"FAILED {answer} {enumerate_all(program)}\n{text}")
            failed += 1
        elif outcomes_within(program, 99) - {0} != set(answer.masks) | ({None} if answer.stuck else set()):
            print(f"FAILED {answer} {outcomes_within(program, 99)}\n{text}")
            failed += 1
    print(f"brute: {len(programs) + cases - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description="All schedules of small programs, by brute force.")
    parser.add_argument("file", nargs="?", default=os.path.join(HERE, "tiny.txt"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--c", action="store_true", help="print their C instead")
    parser.add_argument("--selftest", type=int, metavar="N", help="compare with all interleavings, on so many random programs too")
    options = parser.parse_args()
    with open(options.file, encoding="utf-8") as file:
        programs = [program for program in parse(file.read()) if not options.names or program.name in options.names]
    if options.c:
        print(c_source(programs), end="")
        return 0
    if options.selftest is not None:
        return selftest(programs, options.selftest)
    for program in programs:
        answer = explore(program)
        print(f"{program.name:24} {answer.classes:6} schedules, {answer.stuck} stuck, "
              f"failed assertions {dict(sorted(answer.masks.items())) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
