"""MtTL by the definitions: the DAME paper's Table 1 over down-sets, contract section 2 (MtTL) and 8.

A state of thread t is (t, k): k events of t have happened, and with the k-th all that precedes it; (t, 0) is initial values and
nothing known. There are no knowledge vectors here, no versions, no bits: every operator looks at all states it speaks of.

Formulas: tuples as in formula.py, and ("read", x) ("write", x) ("know", t, f) ("exists", j, except or None, f) ("forall", ...)
("block", name); expressions also ("know", t, e). A thread is a name; bound names are looked up first.
"""

from .formula import EvalError, _fit
from .trace import UNKNOWN

ACCESSES = {"read": ("r", "u"), "write": ("w", "u")}
EXPRESSIONS = {"num", "bool", "var", "neg", "+", "-", "*", "/", "%", "count"}
FAIL = "fail"    # no value: division by zero, ...
EITHER = "either"  # a quantifier meets a failure and a decision: which comes first is left open


class Computation:
    """The states of a trace's threads, and what each knows."""

    def __init__(self, trace):
        self.trace = trace
        self.events = {}
        for e in trace.events:
            self.events.setdefault(e.thread, []).append(e)
        self.memo = {}

    def event(self, t, k):
        """The event that made the state, None for k = 0."""
        return self.events[t][k - 1] if k else None

    def down(self, t, k):
        """The events in the causal past of the state, its own included, in trace order."""
        if k == 0:
            return []
        e = self.event(t, k)
        return [self.trace.events[i] for i in sorted(self.trace.before[e.number] | {e.number})]

    def latest(self, t, k, other):
        """The latest state of another thread that is known."""
        return (t, k) if other == t else (other, sum(e.thread == other for e in self.down(t, k)))

    def known(self, t, k):
        """The threads known."""
        past = self.down(t, k)
        return {t} | {e.thread for e in past} | {e.obj for e in past if e.op == "fork"}

    def variable(self, t, k, name):
        """A variable as the thread sees it."""
        own = [e for e in self.events.get(t, [])[:k] if e.op == "int" and e.obj == name]
        writes = [e for e in self.down(t, k) if e.op in ("w", "u") and e.obj == name]
        for found in (own, writes):
            if found:
                return found[-1].value
        return self.trace.init.get(name, 0)

    def execution(self, t, k, block):
        """Which execution of the block the thread is in, 0 outside."""
        inside = count = 0
        for e in self.events.get(t, [])[:k]:
            if e.obj == block and e.op == "begin":
                inside += 1
                count += inside == 1
            elif e.obj == block and e.op == "end" and inside:
                inside -= 1
        return count if inside else 0

    # ------------------------------------------------------------ values

    def value(self, e, t, k, env):
        """An expression's value; raises EvalError."""
        kind = e[0]
        if kind in ("num", "bool"):
            return e[1]
        if kind == "var":
            value = self.variable(t, k, e[1])
            if value is UNKNOWN:
                raise EvalError("unknown")
            return value
        if kind == "count":
            return self.execution(t, k, e[1])
        if kind == "know":
            return self.value(e[2], *self.latest(t, k, env.get(e[1], e[1])), env)
        if kind == "neg":
            return _fit(-self.value(e[1], t, k, env), 0, 0)
        a, b = self.value(e[1], t, k, env), self.value(e[2], t, k, env)
        if kind in "+-*":
            return _fit(a + b if kind == "+" else a - b if kind == "-" else a * b, a, b)
        if b == 0:
            raise EvalError("zero")
        if isinstance(a, float) or isinstance(b, float):
            return a / b
        return _fit(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1), a, b)

    # ------------------------------------------------------------ truth

    def truth(self, f, t, k, env):
        """True, False, FAIL or EITHER."""
        key = (f, t, k, tuple(sorted(env.items())))
        if key not in self.memo:
            self.memo[key] = self._truth(f, t, k, env)
        return self.memo[key]

    def _truth(self, f, t, k, env):
        kind, event = f[0], self.event(t, k)
        if kind in ("true", "false"):
            return kind == "true"
        if kind in ("cmp", "bare"):
            return self._atom(f, t, k, env)
        if kind == "event":
            return event is not None and event.op == "event" and event.obj == f[1]
        if kind in ACCESSES:
            return event is not None and event.op in ACCESSES[kind] and event.obj == f[1]
        if kind == "know":
            return self.truth(f[2], *self.latest(t, k, env.get(f[1], f[1])), env)
        if kind == "not":
            return _not(self.truth(f[1], t, k, env))
        if kind in ("and", "or", "imp", "iff"):
            return self._binary(kind, f, t, k, env)
        if kind in ("exists", "forall"):
            return self._quantifier(kind, f, t, k, env)
        if kind == "block":
            count, here = ("count", f[1]), {**env, "<this>": t}
            return self.truth(("imp", ("cmp", ">", count, ("num", 0)), ("not", ("exists", "<other>", "<this>", (
                "cmp", "==", count, ("know", "<other>", ("know", "<this>", count)))))), t, k, here)
        return self._past(kind, f, t, k, env)

    def _atom(self, f, t, k, env):
        try:
            if f[0] == "bare":
                return self.value(f[1], t, k, env) != 0
            a, b = self.value(f[2], t, k, env), self.value(f[3], t, k, env)
        except EvalError:
            return FAIL
        return {"==": a == b, "!=": a != b, "<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[f[1]]

    def _binary(self, kind, f, t, k, env):
        """Left to right, stopping when decided."""
        a = self.truth(f[1], t, k, env)
        if a in (FAIL, EITHER):
            return a
        if kind == "and" and not a:
            return False
        if kind in ("or", "imp") and a == (kind == "or"):
            return True
        b = self.truth(f[2], t, k, env)
        return b if kind != "iff" or b in (FAIL, EITHER) else a == b

    def _quantifier(self, kind, f, t, k, env):
        _, name, other, body = f
        excepted = env.get(other, other) if other else None
        values = {self.truth(body, t, k, {**env, name: j}) for j in self.known(t, k) if j != excepted}
        decided = kind == "exists"
        if EITHER in values or (FAIL in values and decided in values):
            return EITHER
        return FAIL if FAIL in values else decided if decided in values else not decided

    def _past(self, kind, f, t, k, env):
        def at(n, g):
            return self.truth(g, t, n, env)

        a = [at(n, f[1]) for n in range(k + 1)]
        if kind == "prev":
            return a[k - 1] if k else a[0]
        if kind == "once":
            return _any(a)
        if kind == "hist":
            return _not(_any([_not(v) for v in a]))
        if kind == "start":
            return _and(a[k], _not(a[k - 1])) if k else False
        if kind == "end":
            return _and(_not(a[k]), a[k - 1]) if k else False
        b = [at(n, f[2]) for n in range(k + 1)]
        if kind == "since":
            return _since(a, b)
        strong = _since([_not(v) for v in b], [_and(x, _not(y)) for x, y in zip(a, b)])
        never = _not(_any(b))
        return strong if kind == "ival" else _not(_and(_not(strong), _not(never)))


def _not(a):
    return a if a in (FAIL, EITHER) else not a


def _and(a, b):
    """Kleene's: a failure matters only where the truth depends on it."""
    if EITHER in (a, b):
        return EITHER
    if a is False or b is False:
        return False
    return FAIL if FAIL in (a, b) else True


def _any(values):
    result = False
    for v in values:
        result = _not(_and(_not(result), _not(v)))
    return result


def _since(a, b):
    """b at some time and a ever after; failures as they accumulate from state to state."""
    result = b[0]
    for x, y in zip(a[1:], b[1:]):
        result = _not(_and(_not(y), _not(_and(x, result))))
    return result


def sides(computation, t, k):
    """What the state shows by atomic_block(b): a set of the two threads of each trouble."""
    blocks, count = set(), computation.execution(t, k, "b")
    for j in computation.known(t, k) - {t}:
        known = computation.latest(*computation.latest(t, k, j), t)
        if count and computation.execution(*known, "b") == count:
            blocks.add(frozenset({t, j}))
    return blocks


def timeline(trace, named):
    """The states of all threads in the order in which the trace makes them; named threads that it lacks last."""
    met, counts, states = set(), {}, []

    def meet(t):
        if t not in met:
            met.add(t)
            states.append((t, 0))

    for e in trace.events:
        meet(e.thread)
        if e.op in ("fork", "join"):
            meet(e.obj)
        counts[e.thread] = counts.get(e.thread, 0) + 1
        states.append((e.thread, counts[e.thread]))
    appeared = list(dict.fromkeys(t for t, _ in states))
    for t in named:
        meet(t)
    return states, appeared


def expected(computation, at, var, body):
    """(verdict, {thread: violating states}) of `at THREAD` (var None) or `at each VAR`; None where it is left open."""
    states, appeared = timeline(computation.trace, [at] if at else [])
    found = {}
    for t, k in states:
        if (at and t != at) or (not at and t not in appeared):
            continue
        truth = computation.truth(body, t, k, {var: t} if var else {})
        if truth == EITHER:
            return None
        if truth == FAIL:
            if not found:
                return "error", {}
        elif not truth:
            found.setdefault(t, []).append(k)
    return ("violated" if found else "holds"), found
