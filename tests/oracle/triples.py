"""Accesses that come between two of a block, in all possible runs of a recorded one (prediction.md 3.11). Shares nothing with src/.

A triple is (a2, b), two indices: a2 is an access of a block that has an access a1 of the same variable before it, b one by another thread that conflicts
with both; the recorded run has b before a1 or after a2. Of several a1 the latest counts.
"""
import possible


class Blocks(possible.Recorded):
    """The events without begin and end; `block` says of each which outermost block it is in."""

    def __init__(self, events):
        super().__init__([e for e in events if e[1] not in ("begin", "end")])
        self.block, self.number = [], []  # `number`: of the event in the whole trace, from 1
        depth, present = {}, {}
        for i, (thread, op, *_) in enumerate(events):
            if op == "begin":
                depth[thread] = depth.get(thread, 0) + 1
                if depth[thread] == 1:
                    present[thread] = i
            elif op == "end":
                depth[thread] -= 1
            else:
                self.block.append(present[thread] if depth.get(thread) else None)
                self.number.append(i + 1)

    def first(self, second, between):
        """a1, or None."""
        thread, _, name, *_ = self.events[second]
        if not possible.writes(self.events[between][1]) and not possible.writes(self.events[second][1]):
            return None
        for k in range(second - 1, -1, -1):
            t, op, n, *_ = self.events[k]
            if t == thread and self.block[k] == self.block[second] and n == name and op in ("r", "w", "u") \
                    and (possible.writes(self.events[between][1]) or possible.writes(op)):
                return k
        return None

    def candidates(self):
        """{a2: {b}}, with those alone that the recorded run has not in between."""
        found = {}
        for second, (thread, op, name, *_) in enumerate(self.events):
            if self.block[second] is None or op not in ("r", "w", "u"):
                continue
            for between, (t, o, n, *_) in enumerate(self.events):
                if t != thread and n == name and o in ("r", "w", "u"):
                    first = self.first(second, between)
                    if first is not None and not first < between < second:
                        found.setdefault(second, set()).add(between)
        return found

    def next_triples(self, positions, order, candidates):
        done = self.done(positions)
        ready = {i for k in range(len(self.threads)) if (i := self.next_of(positions, k)) is not None and self.may_begin(i, done)}
        return {(a2, b) for a2 in ready for b in candidates.get(a2, ()) if b in ready or (order == "sync" and b > a2 and b in done)}

    def triples(self, order):
        found, looked, candidates = set(), set(), self.candidates()
        for state in self.states(order):
            if state[0] not in looked:
                looked.add(state[0])
                found |= self.next_triples(state[0], order, candidates)
        return found
