"""Possible runs in the orders access, sync and values, by the definitions of the contract (section 3, "Wider orders").

Nothing clever: a run is a list of event numbers, a state is the set of events that have happened and, per variable, who
wrote it last. All states are visited, and for each all sequences of relevant events that lead to it. Exponential, and
meant for traces of a dozen or two lines.

What the contract leaves open is closed as the judge of the tool documents it: readers of a lock are not ordered with each
other; a read that did not return what its writer left is tied to that writer; a joined thread has no lock.
"""

from .check import Expected, _same
from .trace import UNKNOWN

ORDERS = ("access", "sync", "values")


def kind_of(value):
    """Values are the same if their types are too."""
    return type(value), value


class Runs:
    """The events of a trace, and which of them may come next."""

    def __init__(self, trace, order):
        self.trace, self.order, self.events = trace, order, trace.events
        self.writer = {}  # of an access of a variable: the last write of it before, None: the beginning
        for e in self.events:
            if e.op in ("r", "w", "u"):
                earlier = [f.number for f in self.events[:e.number] if f.op in ("w", "u") and f.obj == e.obj]
                self.writer[e.number] = earlier[-1] if earlier else None

    def left_by(self, variable, write):
        """The value of a variable after a write, or at the beginning."""
        return self.trace.init.get(variable, 0) if write is None else self.events[write].value

    def is_free(self, e):
        """Whether a read may see any write of its value."""
        left = self.left_by(e.obj, self.writer[e.number])
        return (self.order == "values" and e.op == "r" and e.value is not UNKNOWN and left is not UNKNOWN
                and kind_of(e.value) == kind_of(left))

    def reads_rightly(self, e, last):
        """Whether a read returns now what it returned then."""
        if e.op == "w":
            return True
        now = last.get(e.obj)
        if not self.is_free(e):
            return now == self.writer[e.number]
        left = self.left_by(e.obj, now)
        return left is not UNKNOWN and kind_of(left) == kind_of(e.value)

    def holders(self, happened, lock):
        """(thread, exclusively) of each hold of a lock; a joined thread has none."""
        joined = {self.events[i].obj for i in happened if self.events[i].op == "join"}
        depth = {}
        for i in sorted(happened):
            e = self.events[i]
            if e.obj == lock and e.op in ("acq", "racq", "rel", "rrel"):
                key = (e.thread, e.op in ("acq", "rel"))
                depth[key] = depth.get(key, 0) + (1 if e.op in ("acq", "racq") else -1)
        return [key for key, count in depth.items() if count > 0 and key[0] not in joined]

    def conflict(self, e, f):
        """Whether two events conflict: accesses of a variable of which one writes, operations on a lock of which one is
        exclusive, operations on another object."""
        def what(g):
            if g.op in ("r", "w", "u"):
                return "var", g.op != "r"
            if g.op in ("acq", "rel", "racq", "rrel"):
                return "lock", g.op in ("acq", "rel")
            return ("other", True) if g.op in ("wait", "notify", "sync") else None
        a, b = what(e), what(f)
        return bool(a and b and a[0] == b[0] and e.obj == f.obj and (a[1] or b[1]))

    def enabled(self, happened, last, e):
        """Whether the event may come next."""
        if e.number in happened:
            return False
        before = self.events[:e.number]
        if any(f.thread == e.thread and f.number not in happened for f in before):
            return False
        if any(f.op == "fork" and f.obj == e.thread and f.number not in happened for f in before):
            return False
        if e.op == "join" and any((f.thread == e.obj or (f.op == "fork" and f.obj == e.obj)) and f.number not in happened
                                  for f in before):
            return False
        if e.op in ("wait", "notify", "sync") and any(self.conflict(f, e) and f.number not in happened for f in before):
            return False
        if e.op in ("acq", "racq") and any(thread != e.thread and (exclusive or e.op == "acq")
                                           for thread, exclusive in self.holders(happened, e.obj)):
            return False
        if e.op in ("r", "u") and not self.reads_rightly(e, dict(last)):
            return False
        if self.order != "values" and any(self.conflict(e, self.events[i]) for i in happened if i > e.number):
            return False
        return self.order != "access" or self.trace.before[e.number] <= happened

    def after(self, state, e):
        """The state that an event makes."""
        happened, last = state
        if e.op in ("w", "u"):
            last = tuple(sorted({**dict(last), e.obj: e.number}.items()))
        return happened | {e.number}, last

    START = (frozenset(), ())

    def steps(self, state):
        """(event, next state) for all that may come next."""
        for e in self.events:
            if self.enabled(*state, e):
                yield e, self.after(state, e)


class Pinned:
    """What data has pinned in an order: reads that must see another thread's write, and sections of locks with such a read of something
    that was written with the same lock. `mistaken`: reads that are counted, though a possible run has none of those writes before."""

    def __init__(self, trace, order):
        self.runs = Runs(trace, order)
        events = trace.events
        shared = {name for name in {e.obj for e in events if e.op in ("r", "w", "u")}
                  if len({e.thread for e in events if e.op in ("r", "w", "u") and e.obj == name}) > 1
                  and any(e.op in ("w", "u") and e.obj == name for e in events)}
        reads = [e for e in events if e.op in ("r", "u") and e.obj in shared]
        self.reads = [e for e in reads if self.is_pinned(e)]
        sections = self.sections()
        self.figures = {"reads": len(self.reads), "of_reads": len(reads), "of_sections": len(sections),
                        "sections": sum(any(self.holds(section, e) and self.holds_at(section, self.runs.writer[e.number])
                                            for e in self.reads) for section in sections)}
        self.mistaken = self.check()

    def is_pinned(self, e):
        events, writer = self.runs.events, self.runs.writer[e.number]
        if writer is None or events[writer].thread == e.thread:
            return False
        if not self.runs.is_free(e):
            return True
        values = [self.runs.left_by(e.obj, None)] + [f.value for f in events[:e.number] if f.op in ("w", "u") and f.obj == e.obj
                                                     and f.thread == e.thread and f.value is not UNKNOWN]
        return kind_of(e.value) not in map(kind_of, values)

    def sections(self):
        """(thread, lock, first event, event after the last), outermost, of locks that several threads take or give back."""
        events, open_, found = self.runs.events, {}, []
        of = [e for e in events if e.op in ("acq", "rel", "racq", "rrel")]
        for e in of:
            key = (e.thread, e.obj, e.op in ("acq", "rel"))
            held = open_.setdefault(key, [])
            if e.op in ("acq", "racq"):
                held.append(e.number)
            elif held:
                start = held.pop()
                if not held:
                    found.append((e.thread, e.obj, start, e.number))
        found += [(thread, lock, held[0], len(events)) for (thread, lock, _), held in open_.items() if held]
        return [s for s in found if len({e.thread for e in of if e.obj == s[1]}) > 1]

    def holds(self, section, e):
        return section[0] == e.thread and section[2] < e.number < section[3]

    def holds_at(self, section, writer):
        """Whether a write was made with the section's lock."""
        e = self.runs.events[writer]
        return any(s[1] == section[1] and self.holds(s, e) for s in self.sections())

    def check(self):
        seen, front, free = {Runs.START}, [Runs.START], set()
        while front:
            state = front.pop()
            for e, after in self.runs.steps(state):
                if e.op in ("r", "u") and not any(f.op in ("w", "u") and f.obj == e.obj and f.thread != e.thread and f.number in state[0]
                                                  for f in self.runs.events):
                    free.add(e.number)
                if after not in seen:
                    seen.add(after)
                    front.append(after)
        return [e.number for e in self.reads if e.number in free]


class Wide(Expected):
    """All that the contract determines about one property on one trace in one order, the figures aside."""

    def __init__(self, prop, trace, order):
        self.order = order
        self.possible = Runs(trace, order)
        self.bad_runs = set()
        super().__init__(prop, trace, 1, 1)

    def _explore(self):
        """Level by level; a level is all states after so many relevant events, with the runs of those that lead there."""
        number = {e.number: k for k, e in enumerate(self.events, 1)}
        front = {Runs.START: {()}}
        level, judged = 0, {}
        while front:
            alive = {run for runs in front.values() for run in runs}
            for run in alive - set(judged):
                word = self.word(run)
                judged[run] = "error" if self.fails(word[-1]) else "bad" if self.prop.monitor.bad(word) else "good"
            if any(judged[run] == "error" for run in alive):
                self.error_level = level if self.error_level is None else self.error_level
            self.bad_runs = {run for run in alive if judged[run] == "bad"}
            if self.bad_runs:
                self.violation_level = level
                return
            after = {}
            front = {state: {run for run in runs if judged[run] == "good"} for state, runs in front.items()}
            queue = [(state, set(runs)) for state, runs in front.items() if runs]
            known = {state: set() for state in front}
            while queue:
                state, runs = queue.pop()
                runs -= known.setdefault(state, set())
                if not runs:
                    continue
                known[state] |= runs
                for e, target in self.possible.steps(state):
                    if e.number in number:
                        after.setdefault(target, set()).update(run + (number[e.number],) for run in runs)
                    else:
                        queue.append((target, set(runs)))
            front = after
            level += 1

    def _late_errors(self, after):
        """Not looked for."""

    def switches(self):
        """The fewest context switches of a shortest violating run."""
        def count(run):
            threads = [self.events[n - 1].thread for n in run]
            return sum(a != b for a, b in zip(threads, threads[1:]))
        return min(map(count, self.bad_runs))

    def compare_wide(self, got, order):
        """Complaints about the tool's object of this property, which is about this order."""
        wrong = []

        def want(key, value):
            if got.get(key) != value:
                wrong.append(f"{self.prop.name}: {key} is {got.get(key)!r}, expected {value!r}")

        verdict, allowed = got.get("verdict"), self.verdicts()
        if self.prop.monitorable() is False and allowed == {"holds"}:
            allowed = {"holds", "unknown"}
        if verdict not in allowed:
            return [f"{self.prop.name}: verdict is {verdict!r}, expected one of {sorted(allowed)}"]
        want("order", order)
        if verdict != "violated":
            return wrong
        want("how", "observed" if self.observed else "predicted")
        want("complete", True)
        run = []
        for entry in got["witness"]:
            found = [k for k, e in enumerate(self.events, 1) if k not in run and _same(entry, e)]
            if not found:
                return wrong + [f"{self.prop.name}: {entry} is no relevant event still to come"]
            run.append(found[0])
        if tuple(run) not in self.bad_runs:
            wrong.append(f"{self.prop.name}: {run} is none of the {len(self.bad_runs)} shortest violating runs")
        threads = [self.events[n - 1].thread for n in run]
        switched = sum(a != b for a, b in zip(threads, threads[1:]))
        if self.order != "access" and switched != self.switches():
            wrong.append(f"{self.prop.name}: {switched} context switches, {self.switches()} are enough")
        return wrong


class ReadsFrom(Runs):
    """Possible runs in which every read sees the very write that it saw."""

    def __init__(self, trace):
        super().__init__(trace, "values")

    def is_free(self, e):
        return False


class Sliced(Wide):
    """What slices=K determines. A run is made of K+1 subsequences of the recording, one after the other, if and only if
    its recorded positions go down at most K times: so runs are counted by their descents, and there are no slices here."""

    def __init__(self, prop, trace, descents):
        self.descents, self.all_bad, self.any_error = descents, set(), False
        super().__init__(prop, trace, "values")

    def _explore(self):
        possible = ReadsFrom(self.trace)
        number = {e.number: k for k, e in enumerate(self.events, 1)}
        judged = {}

        def goes_on(run):
            if run not in judged:
                word = self.word(run)
                judged[run] = "error" if self.fails(word[-1]) else "bad" if self.prop.monitor.bad(word) else "good"
            return judged[run] == "good"

        seen = set()
        queue = [(possible.START, -1, 0, ())]
        goes_on(())
        while queue:
            item = queue.pop()
            state, position, descents, run = item
            if item in seen or not goes_on(run):
                continue
            seen.add(item)
            for e, target in possible.steps(state):
                after = descents + (e.number < position)
                if after <= self.descents:
                    queue.append((target, e.number, after, run + (number[e.number],) if e.number in number else run))
        self.all_bad = {run for run, verdict in judged.items() if verdict == "bad"}
        self.any_error = "error" in judged.values()

    def has_both(self):
        """Whether a thread has a lock shared and alone at once, which the tool refuses."""
        count = {}
        for e in self.trace.events:
            if e.op in ("acq", "racq", "rel", "rrel"):
                key = (e.thread, e.obj, e.op in ("acq", "rel"))
                count[key] = count.get(key, 0) + (1 if e.op in ("acq", "racq") else -1)
                if count[key] > 0 and count.get((e.thread, e.obj, not key[2]), 0) > 0:
                    return True
        return False

    def compare_sliced(self, got):
        """Complaints about the tool's object of this property."""
        allowed = ({"violated"} if self.all_bad else set()) | ({"error"} if self.any_error else set()) or {"holds"}
        if (self.prop.monitorable() is False and allowed == {"holds"}) or self.has_both():
            allowed.add("unknown")
        if got.get("verdict") not in allowed:
            return [f"{self.prop.name}: verdict is {got.get('verdict')!r}, expected one of {sorted(allowed)}"]
        wrong = [] if got.get("order") == f"slices={self.descents}" else [f"{self.prop.name}: order is {got.get('order')!r}"]
        if got["verdict"] != "violated":
            return wrong
        if got["how"] != ("observed" if self.observed else "predicted"):
            wrong.append(f"{self.prop.name}: how is {got['how']}")
        if got["witness"] is None:  # the run itself was seen to break it, and nothing else was looked at
            return wrong + ([] if self.has_both() and self.observed and not got["complete"] else [f"{self.prop.name}: no witness"])
        runs = {()}
        for entry in got["witness"]:
            runs = {run + (k,) for run in runs for k, e in enumerate(self.events, 1) if k not in run and _same(entry, e)}
        if not runs & self.all_bad:
            wrong.append(f"{self.prop.name}: none of the {len(self.all_bad)} violating runs: {got['witness']}")
        return wrong
