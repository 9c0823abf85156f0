"""Cuts and runs by definition (contract, section 3, "Window"; JMPaX, Definitions 2 and 3).

Relevant events are numbered 1..n in trace order; `before[k]` is the set of event numbers before event k (entry 0 unused).
A cut is a frozenset of numbers.
"""


def numbered(before):
    """Positions 0..n-1 to numbers 1..n."""
    return [set()] + [{i + 1 for i in s} for s in before]


def enabled(cut, event, before):
    """Whether cut + event is again a consistent cut."""
    return event not in cut and before[event] <= cut


def linear_extensions(before):
    """All runs, each as a list of event numbers."""
    n = len(before) - 1

    def extend(run):
        if len(run) == n:
            yield run
        for e in range(1, n + 1):
            if enabled(frozenset(run), e, before):
                yield from extend(run + [e])

    return extend([])


def consistent_cuts(before):
    """All down-closed subsets, from all subsets."""
    n = len(before) - 1
    subsets = (frozenset(k + 1 for k in range(n) if bits >> k & 1) for bits in range(1 << n))
    return [c for c in subsets if all(before[e] <= c for e in c)]


class Cone:
    """The kept cuts, level by level, of a window and a look-ahead (None: all)."""

    def __init__(self, before, window=None, lookahead=None):
        n = len(before) - 1
        self.before, self.levels, self.complete = before, [[frozenset()]], True
        self.complete_upto = []  # complete over the steps that made levels 1..k+1
        for _ in range(n):
            level = self.levels[-1]
            common = frozenset.intersection(*level)
            ahead = [e for e in range(1, n + 1) if e not in common][:lookahead]
            found = {cut | {e} for cut in level for e in ahead if enabled(cut, e, before)}
            ordered = sorted(found, key=lambda cut: sorted(cut, reverse=True))
            self.levels.append(ordered[:window])
            if len(ordered) > len(self.levels[-1]) or any(
                    enabled(cut, e, before) for cut in level for e in range(1, n + 1) if e not in ahead):
                self.complete = False
            self.complete_upto.append(self.complete)
        self.kept = {cut for level in self.levels for cut in level}

    def runs(self, upto=None):
        """Number of paths through kept cuts from the empty cut to the last level (or level `upto`)."""
        paths = {frozenset(): 1}
        for level in self.levels[1:None if upto is None else upto + 1]:
            paths = {cut: sum(paths.get(cut - {e}, 0) for e in cut) for cut in level}
        return sum(paths.values())

    def statistics(self, upto=None):
        """levels, states, width and runs as the JSON gives them."""
        levels = self.levels[:None if upto is None else upto + 1]
        runs = self.runs(upto)
        return {"levels": len(levels), "states": sum(map(len, levels)), "width": max(map(len, levels)),
                "runs": str(runs) if runs < 2**64 else ">18446744073709551615"}
