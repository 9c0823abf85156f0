"""Scripts for rt/script.c, and what each of their events must know.

A script is a list of operations (thread, what, a, b, c), done one after the other. simulate() is algorithm A byte by byte, without any
of the runtime's ways of making it cheap; scenarios() are the cases in which those could go wrong.
"""
import random

BLOCK = 1 << 20
PIECE = 512  # memcpy and memset of the runtime work in pieces
PAGE = 4096


class Simulation:
    def __init__(self):
        self.clocks, self.access, self.write, self.watched, self.sizes = {0: {}}, {}, {}, [], {}
        self.events, self.put_off = [], {}
        self.latest = {}  # of a variable whose writes are all in order, whichever of its bytes they are of: the clock of the last one

    @staticmethod
    def join(a, b):
        if a is b or not b:
            return a
        if not a:
            return b
        out = dict(a)
        for thread, count in b.items():
            if out.get(thread, 0) < count:
                out[thread] = count
        return out

    def event(self, t):
        self.clocks[t] = dict(self.clocks[t])
        self.clocks[t][t] = self.clocks[t].get(t, 0) + 1
        self.events.append((t, self.clocks[t]))

    def ordered(self, at, size):
        """The bytes by whose clocks an access is ordered: all of the watched variables that it touches, too."""
        touched = [(low, high) for low, high in self.watched if low < at + size and at < high]
        return range(min([at] + [low for low, _ in touched]), max([at + size] + [high for _, high in touched]))

    def read(self, t, at, size):
        clock = self.clocks[t]
        for byte in self.ordered(at, size):
            clock = self.join(clock, self.write.get(byte))
        self.clocks[t] = clock
        for byte in self.ordered(at, size):
            self.access[byte] = self.join(clock, self.access.get(byte))

    def store(self, t, at, size):
        for byte in self.ordered(at, size):
            self.clocks[t] = self.join(self.clocks[t], self.access.get(byte))
        # one after the other: by the granule in which it is touched first, and there those that were named last come first
        touched = [(max(low, at) // 8, -i, (low, high)) for i, (low, high) in enumerate(self.watched) if low < at + size and at < high]
        for _, _, variable in sorted(touched):
            self.clocks[t] = self.join(self.clocks[t], self.latest.get(variable))
            self.event(t)
            if variable in self.latest:
                self.latest[variable] = self.clocks[t]
        for byte in self.ordered(at, size):
            self.access[byte] = self.write[byte] = self.clocks[t]

    def forget(self, at, size):
        for byte in range(at, at + size):
            self.access.pop(byte, None)
            self.write.pop(byte, None)
        self.watched = [(low, high) for low, high in self.watched if high <= at or low >= at + size]

    def guarded(self, t, what, a, size, mode):
        for _ in range(1 if mode % 2 else 2):
            self.event(t)
            self.read(t, 0, 8)
            self.store(t, 8, 8)
        if mode <= 2:
            (self.read if what == "p" else self.store)(t, a, size)
        elif mode == 5:
            self.put_off[t] = (a, size)

    def step(self, t, what, a, b, c):
        if what == "e":
            self.event(t)
        elif what in "lax":
            self.read(t, a, b)
        elif what in "sSuX":
            self.store(t, a, b)
        elif what in "cm":
            size = c if what == "c" else b
            for done in range(0, size, PIECE):
                piece = min(PIECE, size - done)
                if what == "c":
                    self.read(t, b + done, piece)
                self.store(t, a + done, piece)
        elif what == "w":
            self.watched.append((a, a + b))
        elif what == "k":
            self.clocks[a] = self.clocks[t]
        elif what == "j":
            self.clocks[t] = self.join(self.clocks[t], self.clocks[a])
        elif what == "n":
            self.sizes[a] = b
        elif what == "f":
            self.forget(BLOCK * (a + 1), self.sizes[a])
        elif what in "pP":
            self.guarded(t, what, a, b, c)
        elif what == "y":
            self.store(t, *self.put_off.pop(t))
        else:
            assert what in "zF", what


def simulate(script, variables=()):
    """The events in their order, each with its thread and its clock. `variables` are watched from the start: their writes are in order."""
    simulation = Simulation()
    simulation.watched += variables
    simulation.latest = {variable: {} for variable in variables}
    for operation in script:
        simulation.step(*operation)
    return simulation.events


class Script(list):
    """The numbers of threads are in the order of their creation, as the runtime's are."""

    def __init__(self):
        super().__init__()
        self.threads = 1

    def do(self, t, what, a=0, b=0, c=0):
        self.append((t, what, a, b, c))

    def start(self, count, by=0):
        new = range(self.threads, self.threads + count)
        for t in new:
            self.do(by, "k", t)
        self.threads += count
        return list(new)

    def alternate(self, readers, places, size=4, times=20, what="l"):
        """Each reader has an event and reads, in turn: soon the places have records of their readers."""
        for _ in range(times):
            for t in readers:
                self.do(t, "e")
                for place in places:
                    self.do(t, what, place, size)

    def ask(self, t):
        self.do(t, "e")


HERE, NEXT, FAR = PAGE, PAGE + 4, 3 * PAGE


def read_by_two(size=4, places=(HERE,)):
    """Two readers of what main has written, with an event each after their last read, which no writer may know."""
    s = Script()
    for place in places:
        s.do(0, "s", place, size)
    s.do(0, "e")
    readers = s.start(2)
    s.alternate(readers, places, size)
    for t in readers:
        s.do(t, "e")
    return s, readers


def written_by(what, *operands, size=4, own=False):
    """Somebody writes; what the readers do then, they do after it."""
    s, readers = read_by_two(size)
    writer = readers[0] if own else s.start(1)[0]
    s.do(writer, what, HERE, *(operands or (size,)))
    s.ask(writer)
    s.alternate(readers, [HERE], size, 3)
    s.do(0, "m", HERE, 64)
    s.ask(0)
    return s


def reader_ended(joined):
    s, readers = read_by_two()
    s.do(readers[0], "e")
    s.do(0, "j" if joined else "z", readers[0])
    writer = s.start(1, by=readers[1])[0]  # it knows of nothing that main has joined
    s.do(writer, "s", HERE, 4)
    s.ask(writer)
    new = s.start(1)[0]  # most likely in the place of the one that ended
    s.alternate([new, readers[1]], [HERE])
    s.do(writer, "s", HERE, 4)
    s.ask(writer)
    return s


def crowded():
    places = [HERE + 8 * i for i in range(200)]
    s, readers = read_by_two(8, places[:0])
    for place in places:
        s.do(0, "s", place, 8)
    for place in places:
        s.alternate(readers, [place], 8, 6)
    for t in readers:
        s.do(t, "e")
    writer = s.start(1)[0]
    for place in places[::3]:
        s.do(writer, "s", place, 8)
        s.ask(writer)
    s.alternate(readers, places, 8, 5)
    s.do(0, "m", HERE, 1600)
    s.ask(0)
    return s


def freed():
    s, readers = read_by_two(8, ())
    for _ in range(4):
        s.do(0, "n", 0, 64)
        s.alternate(readers, [BLOCK, BLOCK + 24], 8, 6)
        s.do(0, "f", 0)
        s.ask(0)
        s.do(0, "n", 0, 64)
        s.do(0, "s", BLOCK, 8)
        s.ask(0)
        s.alternate(readers, [BLOCK], 8, 6)
        s.do(0, "f", 0)
    return s


def neighbours():
    """Two variables in a granule, with readers and writers of their own."""
    s, readers = read_by_two()
    others = s.start(3)
    s.alternate(others[:2], [NEXT])
    s.alternate([readers[0], others[0]], [HERE, NEXT], 4, 5)
    s.do(others[2], "s", NEXT, 4)
    s.ask(others[2])
    s.alternate(readers, [HERE], 4, 5)
    s.do(0, "s", HERE, 4)
    s.ask(0)
    s.alternate(readers + others[:1], [HERE, NEXT], 4, 5)
    s.alternate(readers, [HERE], 8, 6)
    s.do(others[1], "l", NEXT, 2)
    s.do(others[2], "s", HERE + 2, 4)
    s.ask(others[2])
    return s


def watched_later():
    s, readers = read_by_two()
    watcher, writer = s.start(2)
    s.do(watcher, "w", HERE, 4)
    s.ask(watcher)  # has learnt nothing
    s.alternate(readers, [HERE], 4, 5)
    s.do(writer, "s", HERE, 4)
    s.ask(writer)
    s.alternate(readers, [HERE], 4, 5)
    s.do(writer, "s", NEXT, 4)
    s.do(writer, "m", HERE, 600)
    s.ask(writer)
    return s


def beyond_64(places):
    """Threads in slots that have no readings read the same as those that do."""
    s = Script()
    for place in places:
        s.do(0, "s", place, 4)
    threads = s.start(70)
    s.alternate(threads[:2] + threads[66:68] + threads[20:24], places, 4, 6)
    for t in (0, 1, 67, 68):
        s.ask(threads[t])
    s.do(threads[69], "s", places[0], 4)
    s.ask(threads[69])
    s.alternate(threads[60:70], places, 4, 5)
    s.do(threads[5], "u", places[-1], 4)
    s.ask(threads[5])
    return s


def faults(what, mode, others):
    """An access faults, the first time when it is one of a reading; the handler has readings of its own."""
    s, readers = read_by_two(8, (FAR,))
    s.alternate(readers, [0], 8, 10)
    for t in readers:
        s.do(t, "e")
        s.do(t, what, FAR, 8, mode)
        s.ask(t)
    for t in others:
        s.alternate(readers, [0, FAR], 8, 5)
        writer = s.start(1)[0]
        s.do(writer, t, FAR, 8)
        s.do(writer, t, 0, 8)
        s.ask(writer)
    s.do(readers[0], "e")
    s.do(readers[0], what, FAR, 8, mode)
    s.do(0, "s", FAR, 8)
    s.do(0, "s", 0, 8)
    s.ask(0)
    return s


def read_meanwhile(what):
    """A store faults, and others read before its handler returns: the store comes after all that."""
    s, readers = read_by_two(8, (FAR,))
    writer = s.start(1)[0]
    for times in (3, 1, 20):
        s.do(writer, "P", FAR, 8, 5)
        s.alternate(readers, [FAR], 8, times, what)
        s.do(writer, "y")
        s.ask(writer)
        s.alternate(readers, [FAR], 8, 6)
    return s


def forked():
    s, readers = read_by_two()
    s.do(readers[0], "F")
    s.alternate(readers, [HERE], 4, 3)
    s.do(0, "F")
    s.do(0, "s", HERE, 4)
    s.ask(0)
    return s


def generations(each, clocks, keep):
    """Threads that make many clocks and end; some of their clocks stay, in words that others read generations later."""
    s, age = Script(), []
    for g in range(each):
        a, b = s.start(2)
        for i in range(clocks):
            s.do(a, "e")
            s.do(a, "s", FAR + 8 * ((g * clocks + i) % keep), 8)
        for i in range(0, clocks, 7):
            s.do(b, "l", FAR + 8 * ((g * 31 + i) % keep), 8)
            s.do(b, "e")
            s.do(b, "s", HERE + 8 * (i % 16), 8)
        age.append((a, b))
        if g % 2 == 0:
            s.do(0, "j", a)
        s.do(0, "z", b)
        s.do(0, "l", HERE + 8 * (g % 16), 8)
        s.ask(0)
    return s


def cycles(threads, rounds):
    """Many cycles of several rings at once, while numbers of every earlier cycle stay alive somewhere."""
    s = Script()
    own = s.start(threads)
    rng = random.Random(threads)
    for i in range(rounds):
        t = rng.choice(own)
        for _ in range(rng.randrange(1, 30)):
            s.do(t, "e")
            s.do(t, "s", FAR + 8 * (own.index(t) % 50), 8)
            if rng.randrange(8) == 0:
                s.do(t, "s", HERE + 8 * rng.randrange(100), 8)
        other = rng.choice(own)
        s.do(other, "l", FAR + 8 * (own.index(t) % 50), 8)
        if i % 3 == 0:
            s.do(other, rng.choice("ls"), HERE + 8 * rng.randrange(100), 8)
            s.ask(other)
    return s


def random_operation(rng, s, alive):
    """Mostly reads of few variables after an event, so that there are readings; now and then everything else."""
    t, dice = rng.choice(alive), rng.random()
    place = rng.choice((HERE, HERE, HERE + 8, HERE + 16, HERE + 100, BLOCK, BLOCK + 8))
    size = rng.choice((1, 2, 4, 4, 4, 8, 8, 8))
    place += rng.randrange(0, 8, size) if rng.random() < 0.3 else 0
    if rng.random() < 0.5:
        s.do(t, "e")
    if dice < 0.75:
        s.do(t, "l", place, size)
    elif dice < 0.85:
        s.do(t, rng.choice("sss") if size < 4 else rng.choice("saSuxX"), place, size)
    elif dice < 0.88:
        s.do(t, "m", HERE + rng.randrange(40), rng.choice((8, 16, 100, 600)))
    elif dice < 0.91:
        s.do(t, "c", HERE + 1000 + rng.randrange(16), HERE + rng.randrange(40), rng.choice((8, 16, 100, 600)))
    elif dice < 0.93:
        s.do(t, "c", HERE + rng.randrange(16), HERE + 1000 + rng.randrange(40), rng.choice((8, 16, 100, 600)))
    elif dice < 0.94:
        s.do(t, "f", 0)
        s.do(rng.choice(alive), "n", 0, 32)
    elif dice < 0.96:
        alive += s.start(1, by=t)
    elif dice < 0.98 and len(alive) > 3:
        ended = alive.pop(rng.randrange(1, len(alive)))
        s.do(alive[0], rng.choice("jz"), ended)
    elif dice < 0.985:
        s.do(t, rng.choice("pP"), FAR + 8 * rng.randrange(2), 8, rng.choice((1, 2, 3, 4)))
    elif dice < 0.987:
        s.do(t, "w", place, size)
    else:
        s.do(t, "l", FAR + 8 * rng.randrange(2), 8)


def at_random(seed, operations):
    rng, s = random.Random(seed), Script()
    s.do(0, "n", 0, 32)
    alive = [0] + s.start(3)
    for _ in range(operations):
        random_operation(rng, s, alive)
    return s


CHAINED = [(HERE, HERE + 8), (HERE + 20, HERE + 24)]


def chained_at_random(seed, operations):
    """Without user events and names of more, and with more writes of two variables, of some of their bytes too."""
    rng, s = random.Random(seed), Script()
    s.do(0, "n", 0, 32)
    for _ in range(rng.randrange(3)):
        s.do(0, "s", HERE, 8)
    alive = [0] + s.start(3)
    for _ in range(operations):
        low, high = rng.choice(CHAINED)
        size = rng.choice((1, 2, 4, 4))
        if rng.random() < 0.3:
            s.do(rng.choice(alive), rng.choice("sSu") if size == 4 else "s", rng.randrange(low, high, size), size)
        random_operation(rng, s, alive)
    s[:] = [operation for operation in s if operation[1] not in "ewpP"]
    return s


def scenarios():
    """By name: the function that makes the script, and its arguments."""
    yield "write", written_by, "s"
    yield "atomic write", written_by, "S"
    yield "update", written_by, "u"
    yield "failed exchange", written_by, "x"
    yield "exchange", written_by, "X"
    yield "copy", written_by, "c", FAR, 4
    yield "copy of more", written_by, "c", FAR, 600
    yield "set", written_by, "m", 64
    yield "set of more", written_by, "m", 1200
    yield "own reader", lambda: written_by("s", own=True)
    yield "own reader's update", lambda: written_by("u", own=True, size=8)
    yield "reader joined", reader_ended, True
    yield "reader ended", reader_ended, False
    yield "crowded", crowded
    yield "freed", freed
    yield "neighbours", neighbours
    yield "watched later", watched_later
    yield "beyond 64", beyond_64, [HERE]
    yield "beyond 64, crowded", beyond_64, [HERE + 8 * i for i in range(70)]
    for what in "pP":
        for mode in (1, 2, 3, 4):
            yield f"fault {what} {mode}", faults, what, mode, "su"
    for what in "la":
        yield f"read during a fault {what}", read_meanwhile, what
    yield "forked", forked
    yield "generations", generations, 12, 700, 40
    yield "short generations", generations, 60, 150, 300
    yield "cycles", cycles, 4, 1200
    yield "cycles of many", cycles, 90, 700
    for seed in range(6):
        yield f"random {seed}", at_random, seed, 3000
