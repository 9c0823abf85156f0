"""`within D` by definition: every run of an explicit Büchi automaton, every window.

Written from contract.md section 2 alone. An automaton is a dictionary: `count` states, `starts`, `marked` states, and
`edges`, a list of (source, label, target, marked); a label is a function of a tuple of truth values. A run is kept as
(state, times of its passes), so nothing is forgotten and nothing is clever. Times are doubled inside, so that windows
may also begin between two nanoseconds: "t at or after the start" is any t, and passes may be exactly D apart.
"""
import itertools


def live_states(aut, props):
    """States from which an infinite accepting run exists, by reachability over all letters."""
    letters = list(itertools.product((False, True), repeat=props))
    steps = {(s, d, m) for s, label, d, m in aut["edges"] if any(label(v) for v in letters)}
    reach = {s: {s} for s in range(aut["count"])}
    for _ in range(aut["count"]):
        for s, d, _m in steps:
            for origin in reach:
                if s in reach[origin]:
                    reach[origin].add(d)
    # An accepting cycle goes through a marked edge, or an edge that leaves or enters a marked state.
    good = {s for s, d, m in steps if s in reach[d] and (m or s in aut["marked"])}
    return {s for s in reach if reach[s] & good}


def missed(passes, start, bound, now):
    """Whether some window [t, t + bound), over by `now`, has no pass in it. All doubled."""
    return any(not any(t <= p < t + bound for p in passes) for t in range(start, now - bound + 1))


class Watch:
    """Reads lines one by one; `verdict` is None until it falls: (how, event, time)."""

    def __init__(self, aut, props, bound, by_events):
        self.aut, self.bound, self.by_events = aut, bound, by_events
        self.live = live_states(aut, props)
        self.start = 2 if by_events else None
        self.now = self.start
        self.stamp = None
        self.number = 0
        self.runs = {(s, ("start",) if s in aut["marked"] else ()) for s in aut["starts"] if s in self.live}
        self.verdict = None

    def late(self, now):
        """Whether every run that is left misses a window that is over by `now`."""
        def times(run):
            return [self.start if p == "start" else p for p in run[1]]
        if self.start is None:
            return False
        return all(missed(times(run), self.start, 2 * self.bound, now) for run in self.runs)

    def time(self, stamp):
        """The time is now `stamp`, or later."""
        if self.verdict:
            return
        self.stamp = stamp if self.stamp is None else max(self.stamp, stamp)
        if self.by_events:
            return
        if self.start is None:
            self.start = self.now = 2 * self.stamp
        for now in range(self.now, 2 * self.stamp + 1):
            if self.runs and self.late(now):
                self.verdict = ("late", self.number, now // 2)
                return
        self.now = 2 * self.stamp

    def end(self):
        """No more lines: where nothing was ever possible, no letter was needed to see it."""
        if not self.verdict and not self.runs:
            self.verdict = ("dead", self.number, self.stamp)

    def letter(self, values):
        """One event line, after its time."""
        if self.verdict:
            return
        self.number += 1
        if self.by_events:
            self.now = 2 * self.number
        when = "start" if self.start is None else self.now
        runs = set()
        for state, passes in self.runs:
            for source, label, target, marked in self.aut["edges"]:
                if source == state and target in self.live and label(values):
                    passed = marked or target in self.aut["marked"]
                    runs.add((target, passes + (when,) if passed else passes))
        self.runs = runs
        if not runs:
            self.verdict = ("dead", self.number, self.stamp)
        elif self.by_events:
            # The next event has the next number, so everything before that is over.
            windows = range(1, self.number - self.bound + 2)
            if all(any(not any(2 * t <= (2 if p == "start" else p) < 2 * (t + self.bound) for p in passes)
                       for t in windows) for _state, passes in runs):
                self.verdict = ("late", self.number, self.stamp)
        elif self.late(self.now):
            # Runs in time have died, late ones are left.
            self.verdict = ("late", self.number, self.stamp)
