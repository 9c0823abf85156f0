"""Possible runs of a recorded one, all of them, by contract section 3, and the races they bring about. Shares nothing with src/.

An event is (thread, op, object, order, value); order is the m= field or None, value that of the line or None. A run takes a part of each
thread's events from its beginning. It is played state by state: a state is how many events of each thread have happened, the latest write of each
variable, and nothing else, since all else follows from the events that have happened.
"""

LOCKS = {"acq": False, "racq": True}  # op: with other readers
UNLOCKS = {"rel", "rrel"}
OTHERS = {"wait", "notify", "sync"}


def reads(op):
    return op in ("r", "u")


def writes(op):
    return op in ("w", "u")


def is_atomic(event):
    return event[1] == "u" or event[3] is not None


class Recorded:
    """What the recorded run says of each event, by its index."""

    def __init__(self, events):
        self.events = events
        self.threads = sorted({e[0] for e in events})
        self.of = {t: [i for i, e in enumerate(events) if e[0] == t] for t in self.threads}
        self.saw, self.before, self.outer, self.fork_of = {}, {}, {}, {}
        last, counts, depth, forks = {}, {}, {}, {}
        for i, (thread, op, name, _, _) in enumerate(events):
            self.fork_of[i] = forks.get(thread)
            if reads(op):
                self.saw[i] = last.get(name)
            if writes(op):
                last[name] = i
            if op in OTHERS:
                self.before[i] = list(counts.get(name, []))
                counts.setdefault(name, []).append(i)
            if op == "fork":
                forks[name] = i
            if op == "join":
                self.before[i] = [k for k in range(i) if events[k][0] == name or (events[k][1] == "fork" and events[k][2] == name)]
            if op in LOCKS:
                depth[thread, name] = depth.get((thread, name), 0) + 1
                self.outer[i] = depth[thread, name] == 1
            if op in UNLOCKS:
                self.outer[i] = depth[thread, name] == 1
                depth[thread, name] -= 1

    def conflict(self, i, k):
        """Two events that keep their order in `sync`, when both are in a run."""
        a, b = self.events[i], self.events[k]
        if a[2] != b[2]:
            return False
        if a[1] in ("r", "w", "u") and b[1] in ("r", "w", "u"):
            return writes(a[1]) or writes(b[1])
        exclusive = {"acq", "rel"}
        return (a[1] in LOCKS or a[1] in UNLOCKS) and (b[1] in LOCKS or b[1] in UNLOCKS) and bool({a[1], b[1]} & exclusive)

    def value_after(self, writer):
        return 0 if writer is None else self.events[writer][4]

    def sees(self, i, writer):
        """Whether a read may see that write (None: nobody's) in `values`."""
        value = self.events[i][4] if self.events[i][1] == "r" else None
        if self.saw[i] == writer:
            return True
        return value is not None and self.value_after(self.saw[i]) == value and self.value_after(writer) == value

    def done(self, positions):
        return {i for t, count in zip(self.threads, positions) for i in self.of[t][:count]}

    def held(self, positions):
        """{(thread, lock): shared}"""
        held = {}
        for t, count in zip(self.threads, positions):
            for i in self.of[t][:count]:
                op, name = self.events[i][1:3]
                if op in LOCKS and self.outer[i]:
                    held[t, name] = LOCKS[op]
                elif op in UNLOCKS and self.outer[i]:
                    held.pop((t, name), None)
        return held

    def start(self):
        return (0,) * len(self.threads), ()

    def next_of(self, positions, k):
        list_ = self.of[self.threads[k]]
        return list_[positions[k]] if positions[k] < len(list_) else None

    def may_begin(self, i, done):
        return (self.fork_of[i] is None or self.fork_of[i] in done) and all(k in done for k in self.before.get(i, ()))

    def step(self, state, k, order):
        """The state after the next event of the k-th thread; None: it cannot happen."""
        positions, latest = state
        i = self.next_of(positions, k)
        if i is None:
            return None
        thread, op, name = self.events[i][:3]
        done = self.done(positions)
        if not self.may_begin(i, done):
            return None
        if order == "sync" and any(j > i and self.conflict(i, j) for j in done):
            return None
        latest = dict(latest)
        if reads(op):
            writer = latest.get(name)
            if not (self.saw[i] == writer if order != "values" else self.sees(i, writer)):
                return None
        if writes(op):
            latest[name] = i
        if op in LOCKS and self.outer[i]:
            for (t, lock), shared in self.held(positions).items():
                if lock == name and t != thread and not (shared and LOCKS[op]):
                    return None
        return positions[:k] + (positions[k] + 1,) + positions[k + 1:], tuple(sorted(latest.items()))

    def states(self, order):
        todo, seen = [self.start()], {self.start()}
        while todo:
            state = todo.pop()
            yield state
            for k in range(len(self.threads)):
                after = self.step(state, k, order)
                if after and after not in seen:
                    seen.add(after)
                    todo.append(after)

    def is_race(self, i, k):
        a, b = self.events[i], self.events[k]
        return (a[0] != b[0] and a[2] == b[2] and a[1] in ("r", "w", "u") and b[1] in ("r", "w", "u") and
                (writes(a[1]) or writes(b[1])) and not (is_atomic(a) and is_atomic(b)))

    def next_races(self, positions):
        done = self.done(positions)
        ready = [i for k in range(len(self.threads)) if (i := self.next_of(positions, k)) is not None and self.may_begin(i, done)]
        return {(i, j) for i in ready for j in ready if i < j and self.is_race(i, j)}

    def races(self, order):
        """Pairs of events (i, j), i < j, that are both next after a possible run. order: sync, rf (reads see the write they saw) or values."""
        found, looked = set(), set()
        for state in self.states(order):
            if state[0] not in looked:
                looked.add(state[0])
                found |= self.next_races(state[0])
        return found

    def plays(self, run, order):
        """The state after these events, (thread, op, object) each; None: it is no possible run."""
        state = self.start()
        for thread, op, name in run:
            k = self.threads.index(thread)
            i = self.next_of(state[0], k)
            if i is None or self.events[i][:3] != (thread, op, name):
                return None
            state = self.step(state, k, order)
            if state is None:
                return None
        return state
