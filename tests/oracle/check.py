"""The expected JSON of `portent check` for one property of one trace, and the comparison with what the tool printed."""

from . import ere, ltl
from .formula import ATOMS, FUTURE, PAST, EvalError, atom_value, atoms, children, has, names, prop_value
from .lattice import Cone, numbered
from .trace import UNKNOWN, relevant


class Property:
    """A property with its monitor, which may serve several traces and windows."""

    def __init__(self, name, kind, body):
        self.name, self.kind, self.body = name, kind, body
        self.atoms = atoms(body)
        self.monitor = ere.Ere(body) if kind == "ere" else ltl.monitor(body)
        self.props = _maximal(body)
        self._monitorable = None

    def monitorable(self):
        """Whether some finite word over the atoms is bad (None: not found out)."""
        if self._monitorable is None:
            try:
                self._monitorable = (self.monitor.monitorable(),)
            except ltl.Limit:
                self._monitorable = (None,)
        return self._monitorable[0]


def _maximal(f):
    """The largest propositional parts; each is evaluated, left to right, in every state."""
    if f[0] == "letter":
        return [f[1]]
    inner = {"alt", "inter", "cat", "compl", "star", "plus", "opt", "rep", "empty", "eps"}
    if f[0] not in inner and f[0] not in PAST | FUTURE and not has(f, PAST | FUTURE):
        return [f]
    return [p for g in children(f) if f[0] not in ATOMS for p in _maximal(g)]


class Expected:
    """All that the contract determines about one property on one trace under one window."""

    def __init__(self, prop, trace, window=None, lookahead=None):
        self.prop, self.trace = prop, trace
        self.events, before = relevant(trace, *names(prop.body))
        self.before = numbered(before)
        self.cone = Cone(self.before, window, lookahead)
        self.window, self.lookahead = window, lookahead
        self.error_level = None      # first level with a state whose evaluation fails
        self.violation_level = None  # length of a shortest violating run
        self._explore()
        self.observed = self._observed()

    def letter(self, run):
        """The letter of the state after a run."""
        state = dict(self.trace.init)
        for number in run:
            event = self.events[number - 1]
            if event.op != "event":
                state[event.obj] = event.value
        last = self.events[run[-1] - 1] if run else None
        happened = last.obj if last is not None and last.op == "event" else None
        return tuple((a, atom_value(a, state, happened)) for a in self.prop.atoms)

    def fails(self, letter):
        """Whether evaluating the property's propositions under a letter is an error."""
        try:
            for part in self.prop.props:
                prop_value(part, dict(letter))
        except EvalError:
            return True
        return False

    def word(self, run):
        """The letters of all states along a run, the initial one first."""
        return tuple(self.letter(run[:k]) for k in range(len(run) + 1))

    def _explore(self):
        """All runs through kept cuts, breadth first; runs with equal cut and equal letters so far are one."""
        front = {(frozenset(), ()): ()}  # (cut, word so far) -> a run that gives it
        for level, cuts in enumerate(self.cone.levels):
            kept, after = set(cuts), {}
            for (cut, word), run in front.items():
                for e in [None] if level == 0 else sorted(kept_event for kept_event in range(1, len(self.before))
                                                          if kept_event not in cut and cut | {kept_event} in kept):
                    longer = run if e is None else run + (e,)
                    letter = self.letter(longer)
                    if self.fails(letter):
                        self.error_level = level if self.error_level is None else self.error_level
                        continue
                    target = cut if e is None else cut | {e}
                    after[target, word + (letter,)] = longer
            if any(self.prop.monitor.bad(word) for _, word in after):
                self.violation_level = level
                self._late_errors(level)
                return
            front = after

    def _late_errors(self, after):
        """States beyond the first violation whose evaluation fails: an exhaustive run may meet them."""
        for level, cuts in enumerate(self.cone.levels):
            if self.error_level is None and level > after and any(self.fails(self.letter(sorted(cut))) for cut in cuts):
                self.error_level = level

    def _observed(self):
        """Whether the actual run violates the property anywhere."""
        word = ()
        for k in range(len(self.events) + 1):
            letter = self.letter(tuple(range(1, k + 1)))
            if self.fails(letter):
                return False
            word += (letter,)
            if self.prop.monitor.bad(word):
                return True
        return False

    def verdicts(self):
        """The verdicts the contract allows (more than one only where a violation and an evaluation error both occur)."""
        if self.error_level is None:
            return {"holds"} if self.violation_level is None else {"violated"}
        if self.violation_level is None or self.error_level < self.violation_level:
            return {"error"}
        return {"error", "violated"}

    # ---------------------------------------------------------------- comparison

    def compare(self, got, exhaustive):
        """A list of differences between the tool's JSON object of this property and what is expected."""
        wrong = []

        def want(key, value):
            if got.get(key) != value:
                wrong.append(f"{self.prop.name}: {key} is {got.get(key)!r}, expected {value!r}")

        want("name", self.prop.name)
        want("kind", self.prop.kind)
        verdict = got.get("verdict")
        allowed = self.verdicts()
        if verdict == "error" and "error" in allowed:
            if not got.get("message"):
                wrong.append(f"{self.prop.name}: error without a message")
            return wrong
        monitorable = self.prop.monitorable()
        if monitorable is False and allowed == {"holds"}:
            allowed = {"holds", "unknown"}
        if verdict not in allowed:
            return wrong + [f"{self.prop.name}: verdict is {verdict!r}, expected one of {sorted(allowed)}"]
        if monitorable is not None:
            want("monitorable", monitorable)
        want("order", "access")
        want("relevant", len(self.events))
        for key, value in (("window", self.window), ("lookahead", self.lookahead)):
            if str(got.get(key)) != ("all" if value is None else str(value)):
                wrong.append(f"{self.prop.name}: {key} is {got.get(key)!r}, expected {value!r}")
        violated = verdict == "violated"
        upto = self.violation_level if violated and not exhaustive else None
        if self.error_level is None:
            for key, value in self.cone.statistics(upto).items():
                want(key, value)
            if upto is None:
                want("complete", self.cone.complete)
        if violated:
            want("how", "observed" if self.observed else "predicted")
            wrong += [f"{self.prop.name}: witness: {w}" for w in self._witness(got)]
        return wrong

    def _witness(self, got):
        if "witness" not in got or "observed" not in got:
            return ["missing"]
        run, wrong = [], []
        skipped = _skipped(got.get("witness_from"))
        run += range(1, skipped + 1)
        for entry in got["witness"]:
            number = self._find(entry, run)
            if number is None:
                return [f"{entry} is no relevant event still to come"]
            run.append(number)
        for k, number in enumerate(run):
            if not enabled_after(run[:k], number, self.before):
                wrong.append(f"{self.events[number - 1]} comes before an event it depends on")
            if frozenset(run[:k + 1]) not in self.cone.kept:
                wrong.append(f"the cut after {k + 1} events was not kept")
        if len(run) != self.violation_level:
            wrong.append(f"{len(run)} events, a shortest has {self.violation_level}")
        word = self.word(tuple(run))
        if any(self.fails(letter) for letter in word):
            return wrong + ["it passes through a state whose evaluation fails"]
        if not self.prop.monitor.bad(word):
            wrong.append("its last state does not violate")
        if any(self.prop.monitor.bad(word[:k]) for k in range(1, len(word))):
            wrong.append("an earlier state violates already")
        actual = [self._find(entry, []) for entry in got["observed"]]
        if actual != sorted(run[skipped:]):
            wrong.append(f"observed lists {actual}, expected {sorted(run[skipped:])}")
        return wrong

    def _find(self, entry, used):
        """The number of the first unused relevant event that a JSON entry describes."""
        for number, event in enumerate(self.events, 1):
            if number not in used and _same(entry, event):
                return number
        return None


def _skipped(field):
    """Number of observed events before the witness, from an integer or an object that holds one."""
    if isinstance(field, dict):
        return next((v for v in field.values() if isinstance(v, int) and not isinstance(v, bool)), 0)
    return field or 0


def _same(entry, event):
    if (entry.get("thread"), entry.get("op"), entry.get("object")) != (event.thread, event.op, event.obj):
        return False
    if event.loc != "-" and entry.get("loc") != event.loc:
        return False
    if event.value is UNKNOWN:
        return entry.get("value") is None
    value = entry.get("value")
    return value == event.value and isinstance(value, bool) == isinstance(event.value, bool)


def enabled_after(run, number, before):
    """Whether event `number` may come next after a run."""
    return number not in run and before[number] <= set(run)


def exit_status(objects):
    """The exit status that goes with a list of property objects: 2 before 1 before 3 before 0."""
    verdicts = {o.get("verdict") for o in objects}
    for verdict, status in (("error", 2), ("violated", 1), ("unknown", 3)):
        if verdict in verdicts:
            return status
    return 0
