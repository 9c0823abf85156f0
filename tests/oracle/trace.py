"""Text traces and their causal order, straight from the definitions (contract, section 3).

The order is a set of pairs closed under transitivity: no clocks, no per-variable state. It is cubic and meant for traces of
a few dozen lines.
"""

import os
import re

_LINE = re.compile(r"^(\w+)(?:\((.*?)\))?(?:=(.*))?$", re.S)

#: what an operation does to its object: (name space, writes it)
_ACCESS = {
    "r": ("var", False), "w": ("var", True), "u": ("var", True),
    "acq": ("lock", True), "rel": ("lock", True), "racq": ("lock", False), "rrel": ("lock", False),
    "wait": ("cond", True), "notify": ("cond", True), "sync": ("sync", True),
}
_PLAIN = {"fork", "join", "begin", "end", "event", "int", "state", "contended"}


class TraceError(Exception):
    """A malformed or impossible line."""


class Unknown:
    """The value of a write that does not say what it wrote."""

    def __repr__(self):
        return "UNKNOWN"


UNKNOWN = Unknown()


class Event:
    """One event line. `number` counts event lines from 0; `clock` is the c= field as a dict, or None."""

    def __init__(self, number, thread, op, obj, value, loc, clock):
        self.number, self.thread, self.op, self.obj = number, thread, op, obj
        self.value, self.loc, self.clock = value, loc, clock

    def __repr__(self):
        return f"{self.thread}|{self.op}({self.obj})={self.value}|{self.loc}"


class Trace:
    """Initial values and events of a text trace, with the order of its events."""

    def __init__(self, text):
        self.init, self.events = {}, []
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                try:
                    self._line(line)
                except (ValueError, KeyError) as cause:
                    raise TraceError(f"line {number}: {cause}") from cause
        self.threads = sorted({e.thread for e in self.events}
                              | {e.obj for e in self.events if e.op in ("fork", "join")})
        self.before = _clock_order(self.events) if any(e.clock for e in self.events) else _access_order(self.events)

    def _line(self, line):
        fields = line.split("|")
        if len(fields) < 3:
            raise ValueError("fewer than three fields")
        thread, op, loc = fields[:3]
        match = _LINE.match(op)
        if not match:
            raise ValueError(f"operation {op!r}")
        name, obj, text = match.groups()
        if name == "clock":
            return
        value = UNKNOWN if text is None else parse_value(text)
        if name == "init":
            self.init[obj] = value
            return
        if name not in _ACCESS and name not in _PLAIN:
            raise ValueError(f"operation {name!r}")
        clock = None
        for field in fields[3:]:
            if field.startswith("c="):
                clock = {t: int(n) for t, n in (entry.rsplit(":", 1) for entry in field[2:].split(","))}
        self.events.append(Event(len(self.events), thread, name, obj, value, loc, clock))


# Relevant events that each thread has had before its first one, for traces whose counts are to pass 2^32.
BEFORE = 2**32 - 5
HIGH = {**os.environ, "PORTENT_OPTIONS": f"counted_before={BEFORE}"}


def high(text):
    """The same trace with clocks as they are when each thread has had BEFORE counted events; the tool is told in HIGH."""
    def raised(clock):
        return re.sub(r":(\d+)(?=,|$)", lambda m: f":{int(m.group(1)) + BEFORE}", clock)
    lines = (line.split("|") for line in text.splitlines(keepends=False))
    return "".join("|".join(raised(f) if f.startswith("c=") else f for f in fields) + "\n" for fields in lines)


def parse_value(text):
    """A value of the trace: integer, floating point, string with C escapes, true, false."""
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"'):
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m.group(1), m.group(1)), text[1:-1])
    try:
        return int(text)
    except ValueError:
        return float(text)


def _accesses(event):
    return (*_ACCESS[event.op], event.obj) if event.op in _ACCESS else None


def _direct(e, f):
    """Whether the definition orders e before f (e earlier in the trace), transitivity and thread ends left aside."""
    if e.thread == f.thread or (e.op == "fork" and e.obj == f.thread) or (f.op == "join" and f.obj == e.thread):
        return True
    if e.op == "fork" and f.op == "join" and e.obj == f.obj:
        return True  # the child's fork stands for its last event where it has none
    a, b = _accesses(e), _accesses(f)
    return bool(a and b and a[0] == b[0] and a[2] == b[2] and (a[1] or b[1]))


def _access_order(events):
    """before[j] = the numbers of all events strictly before event j."""
    before = [set() for _ in events]
    for j, f in enumerate(events):
        for i in range(j):
            if _direct(events[i], f):
                before[j] |= {i} | before[i]
    return before


def _clock_order(events):
    """The order that the c= fields give: f is before e when e knows of f's own count."""
    def knows(e, f):
        return e.clock.get(f.thread, 0) >= f.clock.get(f.thread, 0)

    stamped = [e for e in events if e.clock]
    before = [set() for _ in events]
    for e in stamped:
        before[e.number] = {f.number for f in stamped if f is not e and knows(e, f)}
    return before


def relevant(trace, variables, names):
    """Relevant events of a property in trace order, and for each the set of positions (in that list) before it."""
    chosen = [e for e in trace.events
              if (e.op in ("w", "u") and e.obj in variables) or (e.op == "event" and e.obj in names)]
    place = {e.number: k for k, e in enumerate(chosen)}
    return chosen, [{place[i] for i in trace.before[e.number] if i in place} for e in chosen]


def clocks(trace, chosen):
    """The c= field of each chosen event: per thread, how many chosen events precede or equal it."""
    fields = []
    for e in chosen:
        count = {}
        for f in chosen:
            if f is e or f.number in trace.before[e.number]:
                count[f.thread] = count.get(f.thread, 0) + 1
        fields.append(count)
    return fields
