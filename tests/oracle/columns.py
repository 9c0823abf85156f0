"""What the analyses of the literature say of a short trace, each by its definition: happens-before, schedulable happens-before, WCP (Kini and others, PLDI'17),
optimistic sync-reversals (OSR, ICSE'24) and two slices. Shares nothing with src/. Locks here are exclusive, and no thread takes one twice.

An event is (thread, op, object), by its index. A pair is of indices, the earlier one first.
"""


def conflict(a, b):
    return a[0] != b[0] and a[2] == b[2] and {a[1], b[1]} <= {"r", "w"} and "w" in (a[1], b[1])


class Columns:
    def __init__(self, events):
        self.events, self.count = events, len(events)
        self.release, self.acquire, self.inside, self.saw = {}, {}, [], {}
        held, last = {}, {}
        for i, (thread, op, name) in enumerate(events):
            if op == "acq":
                held.setdefault(thread, []).append(i)
            self.inside.append(list(held.get(thread, [])))  # its own acquire included, and that of a release
            if op == "rel":
                self.acquire[i] = next(k for k in held[thread] if events[k][2] == name)
                self.release[self.acquire[i]] = i
                held[thread].remove(self.acquire[i])
            if op == "r":
                self.saw[i] = last.get(name)
            if op == "w":
                last[name] = i
        self.pairs = [(i, k) for k in range(self.count) for i in range(k) if conflict(events[i], events[k])]

    # ---- relations: before[k] is the set of what comes before k, itself not included ----

    def program(self, i, k):
        """The order of threads, fork and join."""
        a, b = self.events[i], self.events[k]
        return a[0] == b[0] or (a[1] == "fork" and a[2] == b[0]) or (b[1] == "join" and b[2] == a[0])

    def closed(self, direct):
        before = []
        for k in range(self.count):
            past = {i for i in range(k) if direct(i, k)}
            before.append(past.union(*(before[i] for i in past)))
        return before

    def is_section_order(self, i, k):
        a, b = self.events[i], self.events[k]
        return a[1] == "rel" and b[1] == "acq" and a[2] == b[2]

    def hb(self):
        before = self.closed(lambda i, k: self.program(i, k) or self.is_section_order(i, k))
        return {(i, k) for i, k in self.pairs if i not in before[k]}

    def shb(self):
        """A read comes after the write that it saw, for all that follows: whether it races with that write is asked before."""
        def direct(i, k):
            return self.program(i, k) or self.is_section_order(i, k)
        before = self.closed(lambda i, k: direct(i, k) or self.saw.get(k) == i)
        def past(k):
            own = {i for i in range(k) if direct(i, k)}
            return own.union(*(before[i] for i in own))
        return {(i, k) for i, k in self.pairs if i not in past(k)}

    def section(self, release):
        """The events of a section, its ends included."""
        thread = self.events[release][0]
        return [i for i in range(self.acquire[release], release + 1) if self.events[i][0] == thread]

    def wcp(self):
        hb = self.closed(lambda i, k: self.program(i, k) or self.is_section_order(i, k))
        forks = {(i, k) for k in range(self.count) for i in range(k) if self.program(i, k) and self.events[i][0] != self.events[k][0]}
        order = set(forks)
        releases = [i for i, e in enumerate(self.events) if e[1] == "rel"]
        for r in releases:  # the release comes before what conflicts with its section, in a later section of the lock
            for k in range(r + 1, self.count):
                held = {self.events[a][2] for a in self.inside[k]}
                if self.events[r][2] in held and any(conflict(self.events[i], self.events[k]) for i in self.section(r)):
                    order.add((r, k))
        while True:
            more = {(i, k) for (i, j) in order for k in range(j + 1, self.count) if j in hb[k]}
            more |= {(i, k) for (j, k) in order for i in hb[j]}
            more |= {(r, s) for r in releases for s in releases if r < s and self.events[r][2] == self.events[s][2]
                     and any((i, k) in order for i in self.section(r) for k in self.section(s))}
            if more <= order:
                break
            order |= more
        return {(i, k) for i, k in self.pairs if (i, k) not in order}

    # ---- runs ----

    def strong(self):
        """What each event needs in every run in which reads see what they saw."""
        return self.closed(lambda i, k: self.program(i, k) or self.saw.get(k) == i)

    def ideal(self, targets):
        """What the targets need, with all sections ended that can be; None: a target is among it, or a lock would be held twice."""
        past = self.strong()
        own = [{i for i in range(k) if self.program(i, k)} for k in targets]  # what comes before a target, not what it would see
        events = set().union(*own, *(past[i] for some in own for i in some))
        while True:
            ended = {self.release[a] for a in events if self.events[a][1] == "acq" and a in self.release}
            ended = {r for r in ended if r not in events and not any(t == r or t in past[r] for t in targets)}
            if not ended:
                break
            for r in ended:
                events |= past[r] | {r}
        opened = self.opened(events)
        locks = [self.events[a][2] for a in opened]
        return None if events & set(targets) or len(locks) != len(set(locks)) else events

    def opened(self, events):
        return [a for a in events if self.events[a][1] == "acq" and self.release.get(a) not in events]

    def reversed_locks(self, events):
        """Acquires that stay open though a release of their lock in the run was recorded later."""
        return [a for a in self.opened(events) if any(r > a and self.events[r][1:] == ("rel", self.events[a][2]) for r in events)]

    def osr(self, targets):
        events = self.ideal(targets)
        if events is None:
            return False
        edges = {(i, k) for i in events for k in events if i < k and (
            self.program(i, k) or self.saw.get(k) == i or conflict(self.events[i], self.events[k]) or self.is_section_order(i, k))}
        for a in self.reversed_locks(events):
            edges |= {(max(r for r in events if self.events[r][1:] == ("rel", self.events[a][2])), a)}
        left = set(events)
        while left:
            free = {k for k in left if not any(i in left and j == k for i, j in edges)}
            if not free:
                return False
            left -= free
        return True

    def two_slices(self, targets):
        events = self.ideal(targets)
        if events is None:
            return False
        later = set(self.reversed_locks(events))
        while True:
            more = {k for k in events - later if any(self.program(i, k) or self.saw.get(k) == i for i in later if i < k)}
            more |= {k for k in events - later if self.events[k][1] == "w" and
                     any(i < k and self.events[i][1:] == ("r", self.events[k][2]) for i in later)}
            more |= {self.acquire[r] for r in later if r in self.acquire} - later
            if not more:
                break
            later |= more
        return self.plays(sorted(events - later) + sorted(later))

    def plays(self, run):
        owner, last, done = {}, {}, set()
        for i in run:
            thread, op, name = self.events[i]
            if any(k not in done for k in range(i) if self.program(k, i)):
                return False
            if op == "acq" and owner.get(name):
                return False
            if op in ("acq", "rel"):
                owner[name] = thread if op == "acq" else None
            if op == "r" and last.get(name) != self.saw[i]:
                return False
            if op == "w":
                last[name] = i
            done.add(i)
        return True
