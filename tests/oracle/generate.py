"""Random traces and properties, small enough for brute force. Everything is drawn from one random.Random."""

from .formula import show, show_ere
from .trace import Trace, clocks, relevant

VARIABLES = ("x", "y", "z")
EVENTS = ("go", "stop")


def line(thread, op, number, extra=""):
    """One trace line with a place of its own, so that a witness entry names exactly one event."""
    return f"{thread}|{op}|r.c:{number}{extra}"


class TraceMaker:
    """A random legal schedule of two to four threads."""

    def __init__(self, rng, most):
        self.rng, self.most = rng, most
        self.home = rng.choice((0, 0.7, 0.97))  # how often a thread keeps to a variable of its own: the loose orders
        self.weights = rng.choice(((30, 16, 6, 12, 6, 12, 5, 8, 5, 5), (60, 4, 4, 2, 1, 12, 2, 14, 1, 1)))
        self.lines, self.count = [], 0
        self.alive, self.unborn, self.forked, self.joined = ["T1"], [], set(), set()
        self.holder, self.readers = {}, {"m": set(), "n": set()}
        for k in range(2, rng.randint(2, 4) + 1):
            (self.unborn if rng.random() < 0.25 else self.alive).append(f"T{k}")

    def text(self):
        """The trace as text."""
        rng = self.rng
        for v in VARIABLES:
            if rng.random() < 0.5:
                self.lines.append(f"-|init({v})={self.value()}|-")
        for _ in range(rng.randint(4, 30)):
            self.step()
        if rng.random() < 0.2:
            self.lines.insert(rng.randint(0, len(self.lines)), "# a comment")
        return "".join(text + "\n" for text in self.lines)

    def value(self):
        """Mostly small integers, so that atoms of different writes coincide."""
        return self.rng.choice(("0", "1", "2", "3", "0", "1", "2", "3", "-1", "1.5", "true"))

    def emit(self, thread, op):
        """One more line."""
        stamp = f"|t={100 * len(self.lines)}" if self.rng.random() < 0.05 else ""
        self.lines.append(line(thread, op, len(self.lines) + 1, stamp))

    def step(self):
        """One action that is legal now."""
        rng = self.rng
        thread = rng.choice(self.alive)
        kind = rng.choices(("w", "r", "u", "lock", "rlock", "fork", "join", "event", "cond", "other"),
                           self.weights)[0]
        if kind in ("w", "u", "event") and self.count < self.most:
            self.count += 1
            if kind == "event":
                self.emit(thread, f"event({rng.choice(EVENTS)})")
            else:
                own = VARIABLES[int(thread[1:]) % len(VARIABLES)]
                self.emit(thread, f"{kind}({own if rng.random() < self.home else rng.choice(VARIABLES)})={self.value()}")
        elif kind == "r":
            self.emit(thread, f"r({rng.choice(VARIABLES)})" + (f"={self.value()}" if rng.random() < 0.5 else ""))
        elif kind == "lock":
            self.lock(thread, rng.choice("mn"))
        elif kind == "rlock":
            self.shared(thread, rng.choice("mn"))
        elif kind == "fork" and self.unborn:
            child = self.unborn.pop(0)
            self.emit(thread, f"fork({child})")
            self.emit(child, rng.choice(("r(x)", "r(y)", "state(running)")))
            self.alive.append(child)
            self.forked.add(child)
        elif kind == "join":
            ended = [t for t in self.alive if t in self.forked and t != thread
                     and t not in self.holder.values() and not any(t in s for s in self.readers.values())]
            if ended:
                child = rng.choice(ended)
                self.alive.remove(child)
                self.emit(thread, f"join({child})")
        elif kind == "cond":
            self.emit(thread, rng.choice(("wait(c)", "notify(c)", "sync(b)")))
        elif kind == "other":
            self.emit(thread, rng.choice(("int(busy)=1", "state(blocked)", "begin(t)", "r(other)", "w(other)=5")))

    def lock(self, thread, name):
        """Take or give back an exclusive lock."""
        if self.holder.get(name) == thread:
            del self.holder[name]
            self.emit(thread, f"rel({name})")
        elif name not in self.holder and not self.readers[name]:
            self.holder[name] = thread
            self.emit(thread, f"acq({name})")

    def shared(self, thread, name):
        """Take or give back a reader lock."""
        if thread in self.readers[name]:
            self.readers[name].discard(thread)
            self.emit(thread, f"rrel({name})")
        elif name not in self.holder:
            self.readers[name].add(thread)
            self.emit(thread, f"racq({name})")


def trace_text(rng, most=9):
    """A random trace with at most `most` writes of VARIABLES and user events."""
    return TraceMaker(rng, most).text()


def clocked(text, variables, names):
    """The same trace as recorded by `run -o`: relevant events alone, each with its clock, and the ends of threads."""
    trace = Trace(text)
    chosen, _ = relevant(trace, variables, names)
    last = {e.thread: e.number for e in chosen}
    wanted, lines, number = {e.number: k for k, e in enumerate(chosen)}, [], 0
    stamps = clocks(trace, chosen)
    for text_line in text.splitlines():
        if text_line.startswith("#"):
            continue
        if text_line.startswith("-|"):
            lines.append(text_line)
            continue
        if number in wanted:
            count = stamps[wanted[number]]
            lines.append(f"{text_line}|c=" + ",".join(f"{t}:{n}" for t, n in sorted(count.items())))
            if number == last[chosen[wanted[number]].thread]:
                lines.append(f"{chosen[wanted[number]].thread}|sync(ended)|-|m=relaxed")
        number += 1
    return "".join(entry + "\n" for entry in lines)


# ---------------------------------------------------------------- properties

def expression(rng):
    """An arithmetic expression that cannot fail."""
    v = ("var", rng.choice(VARIABLES))
    shape = rng.random()
    if shape < 0.7:
        return v
    if shape < 0.77:
        return (rng.choice("+-*"), v, ("num", rng.randint(1, 2)))
    if shape < 0.9:
        return ("+", v, ("var", rng.choice(VARIABLES)))
    return rng.choice((("/", ("*", v, ("num", 2)), ("num", 3)), ("neg", v), ("-", ("num", 1), ("-", v, ("num", 1)))))


def atom(rng):
    """An atom that cannot fail."""
    if rng.random() < 0.2:
        return ("event", rng.choice(EVENTS))
    return ("cmp", rng.choice(("==", "!=", "<", "<=", ">", ">=")), expression(rng), ("num", rng.randint(0, 2)))


def proposition(rng, pool, depth):
    """A propositional formula over the pool."""
    if depth == 0 or rng.random() < 0.35:
        return rng.choice(pool) if rng.random() < 0.96 else rng.choice((("true",), ("false",)))
    kind = rng.choice(("not", "and", "or", "imp", "iff", "and", "or"))
    if kind == "not":
        return (kind, proposition(rng, pool, depth - 1))
    return (kind, proposition(rng, pool, depth - 1), proposition(rng, pool, depth - 1))


def guarded(rng):
    """`x != 0 && y / x > n`: safe by short circuit."""
    a, b = (("var", v) for v in rng.sample(VARIABLES, 2))
    return ("and", ("cmp", "!=", a, ("num", 0)),
            ("cmp", rng.choice((">", "==")), (rng.choice("/%"), ("neg", b), a), ("num", rng.randint(0, 1))))


UNARY_PAST = ("prev", "once", "hist", "start", "end")
BINARY_PAST = ("since", "ival", "ivalw")
UNARY_FUTURE = ("always", "ev", "next", "next", "always")
BINARY_FUTURE = ("until", "wuntil", "release")


class Budget:
    """How many temporal operators of each direction are left."""

    def __init__(self, past, future):
        self.past, self.future = past, future


def temporal(rng, pool, depth, budget):
    """A formula within the budget, future never inside past."""
    if depth == 0:
        return rng.choice(pool)
    direction = rng.random()
    if direction < 0.4 and budget.future > 0:
        if rng.random() < 0.6:
            budget.future -= 1
            return (rng.choice(UNARY_FUTURE), temporal(rng, pool, depth - 1, budget))
        kind = rng.choice(BINARY_FUTURE)
        budget.future -= 2 if kind == "wuntil" else 1
        return (kind, temporal(rng, pool, depth - 1, budget), temporal(rng, pool, depth - 1, budget))
    if direction < 0.65 and budget.past > 0:
        inside = Budget(budget.past - 1, 0)
        if rng.random() < 0.6:
            f = (rng.choice(UNARY_PAST), temporal(rng, pool, depth - 1, inside))
        else:
            f = (rng.choice(BINARY_PAST), temporal(rng, pool, depth - 1, inside), temporal(rng, pool, depth - 1, inside))
        budget.past = inside.past
        return f
    kind = rng.choice(("not", "and", "or", "imp", "iff", "and", "or", "imp"))
    if kind == "not":
        return (kind, temporal(rng, pool, depth - 1, budget))
    return (kind, temporal(rng, pool, depth - 1, budget), temporal(rng, pool, depth - 1, budget))


def regular(rng, pool, depth):
    """A random ERE."""
    if depth == 0 or rng.random() < 0.15:
        shape = rng.random()
        if shape < 0.2:
            return ("letter", ("true",))
        return ("eps",) if shape < 0.23 else ("empty",) if shape < 0.25 else ("letter", proposition(rng, pool, 1))
    kind = rng.choices(("cat", "alt", "inter", "compl", "star", "plus", "opt", "rep"), (40, 14, 8, 6, 14, 8, 6, 4))[0]
    if kind in ("cat", "alt", "inter"):
        return (kind, regular(rng, pool, depth - 1), regular(rng, pool, depth - 1))
    if kind == "rep":
        low = rng.randint(0, 2)
        return (kind, regular(rng, pool, depth - 1), low, rng.choice((None, low, max(1, low), low + 1)))
    return (kind, regular(rng, pool, depth - 1))


def body(rng):
    """(kind, formula or ERE)."""
    pool = [atom(rng) for _ in range(rng.choice((1, 2, 2, 3, 3)))]
    shape = rng.random()
    if shape < 0.04:  # may fail: division by zero in plain sight, so that every engine must evaluate it
        a, b = (("var", v) for v in rng.sample(VARIABLES, 2))
        return "ltl", ("always", ("cmp", "<=", ("/", a, ("+", b, ("num", rng.randint(0, 1)))), ("num", rng.randint(0, 3))))
    if rng.random() < 0.06:
        pool = pool[:1] + [guarded(rng)]
    if shape < 0.34:
        return "ltl", temporal(rng, pool, rng.randint(1, 4), Budget(4, 0))
    if shape < 0.42:
        return "ltl", ("always", temporal(rng, pool, rng.randint(1, 3), Budget(3, 0)))
    if shape < 0.56:
        return "ltl", temporal(rng, pool, rng.randint(1, 3), Budget(0, 3))
    if shape < 0.72:
        f = temporal(rng, pool[:2], rng.randint(2, 4), Budget(2, 2))
        return "ltl", ("always", f) if rng.random() < 0.5 else f
    r = regular(rng, pool, rng.randint(1, 4))
    return "ere", ("cat", ("star", ("letter", ("true",))), r) if rng.random() < 0.4 else r


def interesting(rng, rate, tries=16):
    """(kind, body) drawn several times, the one with the best rate(kind, body) kept; one in six is the first that came."""
    drawn = [body(rng) for _ in range(1 if rng.random() < 1 / 6 else tries)]
    return max(drawn, key=lambda b: rate(*b))


def prop_text(named):
    """A .prop file of [(name, kind, body)]."""
    return "".join(f"property {name}: {'never ' + show_ere(b) if kind == 'ere' else show(b)};\n" for name, kind, b in named)
