"""Data races of a recorded run by definition (contract section 10), on all pairs of events. Shares nothing with src/race/.

An event is (thread, op, object, place, order, bytes): order is the m= field or None, bytes the set of those of the b= field or None.
Happens-before is a graph whose edges all go forward in the trace; the past of each event is a set of bits.
"""

ACQUIRES = {"acquire", "acq_rel", "seq_cst"}
RELEASES = {"release", "acq_rel", "seq_cst"}


def order_of(event):
    _, op, _, _, order, _ = event
    return order or ("seq_cst" if op == "u" else None)


def reads(op):
    return op in ("r", "u")


def writes(op):
    return op in ("w", "u", "free")


def base_of(name):
    head, plus, offset = name.rpartition("+")
    return head if plus and offset.isdigit() and head else name


class Run:
    """The events with, for each, the locations that it touches: (variable, life, byte), where `None` is a byte that no event speaks of. A
    free touches all of its block's."""

    def __init__(self, events):
        self.events = events
        names = {e[2] for e in events if e[1] in ("r", "w", "u")}
        blocks = {e[2] for e in events if e[1] in ("alloc", "free")}
        parts = {b: {n for n in names if base_of(n) == b} | {b + " as a whole"} for b in blocks}
        spoken = {n: {None}.union(*(e[5] for e in events if e[2] == n and e[5])) for n in names}
        life = dict.fromkeys(blocks, 0)
        self.touched = []
        for _, op, name, _, _, part in events:
            if op == "alloc":
                life[name] += 1
            if op == "free":
                self.touched.append({(n, life[name], k) for n in parts[name] for k in spoken.get(n, {None})})
            elif op in ("r", "w", "u"):
                self.touched.append({(name, life.get(base_of(name), 0), k) for k in part or spoken[name]})
            else:
                self.touched.append(set())
        self.heap = blocks
        self.last_writes = []  # of each event that reads: the indices, of all its bytes
        last = {}
        for i, event in enumerate(events):
            self.last_writes.append({last[x] for x in self.touched[i] if x in last} if reads(event[1]) else set())
            if writes(event[1]):
                last.update(dict.fromkeys(self.touched[i], i))

    def is_atomic(self, i):
        return self.events[i][1] in ("r", "w", "u") and order_of(self.events[i]) is not None


def release_heads(run, w):
    """The writes in whose release sequence w is, were they release operations: w itself, and on through updates."""
    heads, todo = set(), [w]
    while todo:
        w = todo.pop()
        if w in heads or not run.is_atomic(w):
            continue
        heads.add(w)
        if run.events[w][1] == "u":
            todo += run.last_writes[w]
    return heads


def atomic_edges(run):
    """What synchronises with what: C++20, 31.4 and 31.11, in terms of what each load reads from."""
    events = run.events
    for r, event in enumerate(events):
        if not reads(event[1]) or not run.is_atomic(r):
            continue
        froms = []
        for a in {a for w in run.last_writes[r] for a in release_heads(run, w)}:
            if order_of(events[a]) in RELEASES:
                froms.append(a)
            froms += [f for f in range(a) if events[f][0] == events[a][0] and events[f][1] == "fence" and events[f][4] in RELEASES]
        tos = [r] if order_of(event) in ACQUIRES else []
        tos += [f for f in range(r + 1, len(events))
                if events[f][0] == event[0] and events[f][1] == "fence" and events[f][4] in ACQUIRES]
        for a in froms:
            for b in tos:
                if a < b:
                    yield a, b


def gives(op, order):
    """Others learn from it: a sync has both directions, unless its order says otherwise."""
    return op == "notify" or op == "sync" and order not in ("acquire", "relaxed")


def takes(op, order):
    return op == "wait" or op == "sync" and order not in ("release", "relaxed")


def edges(run):
    events = run.events
    for j, (thread, op, name, _, order, _) in enumerate(events):
        for i in range(j):
            t, o, n, _, before, _ = events[i]
            if t == thread:
                yield i, j
            elif o == "fork" and n == thread or op == "join" and (t == name or (o == "fork" and n == name)):
                yield i, j
            elif n == name and ((o, op) in (("rel", "acq"), ("rel", "racq"), ("rrel", "acq")) or
                                (gives(o, before) and takes(op, order))):
                yield i, j
    yield from atomic_edges(run)


def conflict(run, i, j):
    a, b = run.events[i], run.events[j]
    return (a[0] != b[0] and (writes(a[1]) or writes(b[1])) and run.touched[i] & run.touched[j] and
            not (run.is_atomic(i) and run.is_atomic(j)))


def races(events, shb=True):
    """The racing pairs of events (i, j), i < j. shb=False: those of happens-before alone."""
    run = Run(events)
    into = [[] for _ in events]
    for i, j in edges(run):
        into[j].append(i)
    past, found = [], set()
    for j in range(len(events)):
        mine = 0
        for i in into[j]:
            mine |= past[i] | 1 << i
        found |= {(i, j) for i in range(j) if not mine >> i & 1 and conflict(run, i, j)}
        for w in run.last_writes[j]:
            if shb and not (run.is_atomic(w) and run.is_atomic(j)):
                mine |= past[w] | 1 << w
        past.append(mine)
    return found, run


def places(found, run):
    """What is reported: for each pair of places the variables that race there, of the heap `heap` alone."""
    result = {}
    for i, j in found:
        for name, *_ in run.touched[i] & run.touched[j]:
            base = name.removesuffix(" as a whole")
            heap = base in run.heap or base_of(base) in run.heap
            pair = tuple(sorted((run.events[i][3], run.events[j][3])))
            result.setdefault(pair, set()).add("heap" if heap else name)
    return result
