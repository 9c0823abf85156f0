"""Conflict serializability of a recorded run's blocks by definition: the graph of its transactions. Shares nothing with src/.

An event is (thread, op, object). A transaction is an outermost block, or an event outside of blocks. There is an edge from a transaction to
another if an operation of the one comes before a conflicting one of the other, or an event of the same thread, or as fork and join say.
"""


def transactions(events):
    """For each event the number of its transaction."""
    depth, present, result = {}, {}, []
    for i, (thread, op, _) in enumerate(events):
        if not depth.get(thread):
            present[thread] = i
        if op == "begin":
            depth[thread] = depth.get(thread, 0) + 1
        if op == "end":
            depth[thread] -= 1
        result.append(present[thread])
    return result


def writes(op):
    return op in ("w", "u", "acq", "rel", "wait", "notify", "sync")


def space(op):
    return "lock" if op.endswith(("acq", "rel")) else "var" if op in ("r", "w", "u") else "other" if op in ("wait", "notify", "sync") else None


def conflict(a, b):
    """Two events in their recorded order."""
    if a[0] == b[0]:
        return True
    if (a[1] == "fork" and a[2] == b[0]) or (b[1] == "join" and b[2] == a[0]):
        return True
    return a[2] == b[2] and space(a[1]) is not None and space(a[1]) == space(b[1]) and (writes(a[1]) or writes(b[1]))


def edges(events):
    of = transactions(events)
    return of, {(of[i], of[j]) for j in range(len(events)) for i in range(j) if of[i] != of[j] and conflict(events[i], events[j])}


def cyclic(events):
    """The transactions that are on a cycle."""
    of, pairs = edges(events)
    after = {n: {b for a, b in pairs if a == n} for n in of}
    found = set()
    for n in after:
        todo, seen = list(after[n]), set()
        while todo:
            m = todo.pop()
            if m not in seen:
                seen.add(m)
                todo += after[m]
        if n in seen:
            found.add(n)
    return found


def is_cycle(events, chain):
    """Whether these events (indices) show one: each is followed by a later one that conflicts with it, or by one of the same transaction,
    and the first and the last are of one transaction with others in between."""
    of = transactions(events)
    if of[chain[0]] != of[chain[-1]] or all(of[i] == of[chain[0]] for i in chain):
        return False
    return all(of[i] == of[k] or (i < k and conflict(events[i], events[k])) for i, k in zip(chain, chain[1:]))
