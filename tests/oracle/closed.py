"""Races of the order sync of runs that are too long to look at all of their runs: two accesses of which the least closed set that has what both need
has neither (prediction.md 3.3). A set is closed if it has what its events need, and of the sections of a lock that have begun in it, not both
readers', all but the youngest have ended in it. run_predicted.py compares this with possible.py on small runs."""

from possible import Recorded


def needs(events):
    """For each event what it needs, itself not included, as bits; and the same without the write that it reads."""
    before, unread, last, written, forks, other = [], [], {}, {}, {}, {}
    for i, (thread, op, name, _, _) in enumerate(events):
        direct = [last.get(thread), forks.get(thread)]
        if op == "join":
            direct.append(last.get(name, forks.get(name)))
        elif op in ("wait", "notify", "sync"):
            direct.append(other.get(name))
            other[name] = i
        unread.append(0)
        for k in direct:
            if k is not None:
                unread[i] |= before[k] | 1 << k
        k = written.get(name) if op in ("r", "u") else None
        before.append(unread[i] if k is None else unread[i] | before[k] | 1 << k)
        last[thread] = i
        if op in ("w", "u"):
            written[name] = i
        elif op == "fork":
            forks[name] = i
    return before, unread


def sections(events):
    """Of each lock [acquisition, release or None, thread, shared], the outermost ones, as they begin."""
    found, held = {}, {}
    for i, (thread, op, name, _, _) in enumerate(events):
        if op in ("acq", "racq"):
            if (thread, name) not in held:
                held[thread, name] = [[i, None, thread, op == "racq"], 0]
                found.setdefault(name, []).append(held[thread, name][0])
            held[thread, name][1] += 1
        elif op in ("rel", "rrel"):
            held[thread, name][1] -= 1
            if not held[thread, name][1]:
                held.pop((thread, name))[0][1] = i
    return list(found.values())


def close(some, before, locks):
    """The least closed set; None: there is none."""
    while True:
        start = some
        for lock in locks:
            begun = [s for s in lock if some >> s[0] & 1]
            for k, (_, release, thread, shared) in enumerate(begun):
                if not any(s[2] != thread and not (shared and s[3]) for s in begun[k + 1:]):
                    continue
                if release is None:
                    return None
                some |= before[release] | 1 << release
        if some == start:
            return some


def races(events):
    """Pairs of events (i, j), i < j."""
    run, locks, found = Recorded(events), sections(events), set()
    before, unread = needs(events)
    accesses = [i for i, event in enumerate(events) if event[1] in ("r", "w", "u")]
    for j in accesses:
        for i in accesses:
            if i >= j or not run.is_race(i, j) or unread[j] >> i & 1:
                continue
            both = close(unread[i] | unread[j], before, locks)
            if both is not None and not both >> i & 1 and not both >> j & 1:
                found.add((i, j))
    return found
