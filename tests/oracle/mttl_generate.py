"""Random traces and formulas for MtTL: many threads that talk, local variables, atomic blocks, nesting, quantifiers."""

from .generate import TraceMaker
from .trace import Trace, clocks

THREADS = ("T1", "T2", "T3", "T4", "T9")


class Maker(TraceMaker):
    """More reads and locals than the lattice's traces, which have to be small."""

    def __init__(self, rng):
        super().__init__(rng, 30)
        self.blocks = {}
        for k in range(5, rng.choice((5, 5, 8, 12))):  # threads that no property names
            (self.unborn if rng.random() < 0.6 else self.alive).append(f"T{k}")

    def step(self):
        rng = self.rng
        thread = rng.choice(self.alive)
        shape = rng.random()
        if shape < 0.2:
            self.emit(thread, f"int({rng.choice(('busy', 'busy', 'x'))})={self.value()}")
        elif shape < 0.3:
            self.block(thread)
        elif shape < 0.45:
            self.emit(thread, rng.choice(("r(x)", "r(y)", "r(z)", "sync(b)", "w(q)", "r(q)")))
        elif shape < 0.6:
            self.emit(thread, f"w({rng.choice('xyz')})={self.value()}")
        elif shape < 0.62:
            self.emit(thread, f"w({rng.choice('xyz')})")
        elif shape < 0.66 and self.unborn:
            child = self.unborn.pop(0)
            self.emit(thread, f"fork({child})")
            if rng.random() < 0.7:
                self.alive.append(child)
                self.forked.add(child)
            elif rng.random() < 0.5:
                self.emit(thread, f"join({child})")
        else:
            super().step()

    def emit(self, thread, op):
        """Few places, so that threads come by the same ones again; sometimes none."""
        super().emit(thread, op)
        fields = self.lines[-1].split("|")
        fields[2] = f"a.c:{self.rng.randint(1, 6)}" if self.rng.random() < 0.9 else "-"
        self.lines[-1] = "|".join(fields)

    def block(self, thread):
        """Enter or leave the block b, which may nest."""
        inside = self.blocks.get(thread, 0)
        if inside and self.rng.random() < 0.6:
            self.blocks[thread] = inside - 1
            self.emit(thread, "end(b)")
        else:
            self.blocks[thread] = inside + 1
            self.emit(thread, "begin(b)")


def trace_text(rng):
    """A random trace."""
    return Maker(rng).text()


def clocked(text):
    """The same computation with c= on every line, and what the clocks say taken out of locks and other objects."""
    trace = Trace(text)
    lines, number, stamps = [], 0, clocks(trace, trace.events)
    for line in text.splitlines():
        if line.startswith(("#", "-|")):
            lines.append(line)
            continue
        thread, op, *rest = line.split("|")
        rest = [field for field in rest if not field.startswith("t=")]
        if op.startswith(("acq", "rel", "racq", "rrel", "sync", "wait", "notify")):
            op = "state(x)"
        count = ",".join(f"{t}:{n}" for t, n in sorted(stamps[number].items()))
        lines.append("|".join((thread, op, *rest)) + f"|c={count}")
        number += 1
    return "".join(line + "\n" for line in lines)


class Formulas:
    """Formulas over the names of the traces; `bound` are the thread variables in scope."""

    def __init__(self, rng, named=False):
        """`named`: all threads by their names, and no atomic_block, so that others have to know of these alone."""
        self.rng, self.named, self.fresh = rng, named, 0

    def thread(self, bound):
        """Some thread, mostly a bound one."""
        if self.named:
            return self.rng.choice(THREADS)
        return self.rng.choice(bound) if bound and self.rng.random() < 0.7 else self.rng.choice(THREADS)

    def expression(self, depth, bound):
        """Mostly variables and what others know of them."""
        rng, shape = self.rng, self.rng.random()
        if depth > 0 and shape < 0.45:
            return ("know", self.thread(bound), self.expression(depth - 1, bound))
        if depth > 0 and shape < 0.6:
            return (rng.choice("+-*+-*/"), self.expression(depth - 1, bound), self.expression(depth - 1, bound))
        if shape < 0.9:
            return ("var", rng.choice(("x", "y", "z", "busy", "busy")))
        return ("num", rng.randint(0, 3))

    def leaf(self, depth, bound):
        """Atoms."""
        rng, shape = self.rng, self.rng.random()
        if shape < 0.1:
            return (rng.choice(("read", "write")), rng.choice("xyz"))
        if shape < 0.15:
            return ("event", rng.choice(("go", "stop")))
        if shape < 0.2:
            return rng.choice((("block", "b"), ("true",))) if not self.named else ("true",)
        if shape < 0.25:
            return ("bare", self.expression(depth, bound))
        return ("cmp", rng.choice(("==", "!=", "<", "<=", ">", ">=")), self.expression(depth, bound),
                self.expression(1, bound))

    def formula(self, depth, bound):
        """At most two quantifiers inside each other, so that few properties are refused."""
        rng, shape = self.rng, self.rng.random()
        if depth <= 0 or shape < 0.12:
            return self.leaf(2, bound)
        if shape < 0.32:
            return ("know", self.thread(bound), self.formula(depth - 1, bound))
        if shape < 0.55:
            kind = rng.choice(("prev", "once", "hist", "start", "end", "since", "ival", "ivalw"))
            operands = 2 if kind in ("since", "ival", "ivalw") else 1
            return (kind, *(self.formula(depth - 1, bound) for _ in range(operands)))
        if shape < 0.75 and len(bound) < 3 and not self.named:
            self.fresh += 1
            name = f"j{self.fresh}"
            other = self.thread(bound) if rng.random() < 0.6 else None
            return (rng.choice(("exists", "forall")), name, other, self.formula(depth - 1, bound + (name,)))
        if shape < 0.82:
            return ("not", self.formula(depth - 1, bound))
        return (rng.choice(("and", "or", "imp", "iff")), self.formula(depth - 1, bound), self.formula(depth - 1, bound))


def show_value(e):
    """An expression as text."""
    kind = e[0]
    if kind == "num":
        return str(e[1])
    if kind == "var":
        return e[1]
    if kind == "know":
        return f"@{e[1]}({show_value(e[2])})"
    return f"({show_value(e[1])} {kind} {show_value(e[2])})"


def show(f):
    """A formula as text, every part in brackets."""
    kind = f[0]
    if kind in ("true", "false"):
        return kind
    if kind == "cmp":
        return f"({show_value(f[2])} {f[1]} {show_value(f[3])})"
    if kind == "bare":
        return f"({show_value(f[1])})"
    if kind in ("read", "write", "event"):
        return f"{kind}({f[1]})"
    if kind == "block":
        return f"atomic_block({f[1]})"
    if kind == "know":
        return f"@{f[1]}({show(f[2])})"
    if kind in ("exists", "forall"):
        return f"({kind} {f[1]}{f' != {f[2]}' if f[2] else ''}: {show(f[3])})"
    if kind in ("start", "end"):
        return f"{kind}({show(f[1])})"
    if kind in ("ival", "ivalw"):
        return f"[{show(f[1])}, {show(f[2])}){'w' if kind == 'ivalw' else ''}"
    sign = {"prev": "previously", "once": "once", "hist": "historically", "not": "!"}.get(kind)
    if sign:
        return f"({sign} {show(f[1])})"
    sign = {"and": "&&", "or": "||", "imp": "->", "iff": "<->", "since": "since"}[kind]
    return f"({show(f[1])} {sign} {show(f[2])})"
