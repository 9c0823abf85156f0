"""Sync-preserving deadlocks of a recorded run by definition, by playing every run there is. Shares nothing with src/.

An event is (thread, op, object). A run takes a part of each thread's events from its beginning, in any order in which a read sees the write
it saw, the sections of a lock that exclude each other come as they were recorded, wait, notify and sync come after all before them of their
object, a thread after its fork, a join after all of the child. A deadlock is a state of such a run in which some threads are each next to
take a lock that the next one has, or that somebody has for itself who joins the next one, perhaps through others, before releasing it: then that
lock is *lent* to the next one. Who takes a lock by a try (`tries`, indices of events) has it like any other, but nobody waits there.
"""

SHARED = {"racq": True, "acq": False}


class Run:
    def __init__(self, events, tries=frozenset()):
        self.events, self.tries = events, tries
        self.threads = sorted({e[0] for e in events})
        self.of = {t: [i for i, e in enumerate(events) if e[0] == t] for t in self.threads}
        self.saw, self.before, self.needs, self.outer = {}, {}, {}, {}
        last, count, forks, depth = {}, {}, {}, {}
        for i, (thread, op, name) in enumerate(events):
            self.needs[i] = {forks[thread]} if thread in forks else set()
            if op in ("r", "u"):
                self.saw[i] = last.get(name)
            if op in ("w", "u"):
                last[name] = i
            if op in ("wait", "notify", "sync"):
                self.before[i] = count.get(name, 0)
                count[name] = self.before[i] + 1
            if op == "fork":
                forks[name] = i
            if op == "join":
                self.needs[i] |= {k for k in self.of.get(name, []) if k < i}
                self.needs[i] |= {forks[name]} if name in forks else set()
            if op in ("acq", "racq"):
                depth[thread, name] = depth.get((thread, name), 0) + 1
                self.outer[i] = depth[thread, name] == 1
            if op in ("rel", "rrel"):
                self.outer[i] = depth[thread, name] == 1
                depth[thread, name] -= 1

    def start(self):
        """positions by thread, latest writes, operations on other objects, latest sections of locks (any, of a writer)"""
        return (0,) * len(self.threads), (), (), ()

    def holds(self, positions):
        """{(thread, lock): shared} in a state."""
        held = {}
        for t, count in zip(self.threads, positions):
            for i in self.of[t][:count]:
                _, op, name = self.events[i]
                if op in SHARED and self.outer[i]:
                    held[t, name] = SHARED[op]
                elif op in ("rel", "rrel") and self.outer[i]:
                    del held[t, name]
        return held

    def done(self, positions):
        return {i for t, count in zip(self.threads, positions) for i in self.of[t][:count]}

    def step(self, state, k):
        """The state after the next event of thread k; None: it cannot happen."""
        positions, writes, counts, sections = state
        thread = self.threads[k]
        if positions[k] == len(self.of[thread]):
            return None
        i = self.of[thread][positions[k]]
        _, op, name = self.events[i]
        writes, counts, sections = dict(writes), dict(counts), dict(sections)
        if not self.needs[i] <= self.done(positions):
            return None
        if op in ("r", "u") and writes.get(name) != self.saw[i]:
            return None
        if op in ("w", "u"):
            writes[name] = i
        if i in self.before:
            if counts.get(name, 0) != self.before[i]:
                return None
            counts[name] = self.before[i] + 1
        if op in SHARED and self.outer[i]:
            for (_, lock), shared in self.holds(positions).items():
                if lock == name and not (shared and SHARED[op]):
                    return None
            youngest, writer = sections.get(name, (-1, -1))
            if (writer if SHARED[op] else youngest) > i:
                return None
            sections[name] = (max(youngest, i), writer if SHARED[op] else max(writer, i))
        positions = positions[:k] + (positions[k] + 1,) + positions[k + 1:]
        return positions, tuple(sorted(writes.items())), tuple(sorted(counts.items())), tuple(sorted(sections.items()))

    def next_acquires(self, positions):
        for t, count in zip(self.threads, positions):
            if count < len(self.of[t]):
                i = self.of[t][count]
                if self.events[i][1] in SHARED and i not in self.tries and self.outer[i] and self.needs[i] <= self.done(positions):
                    yield t, i

    def lent(self, positions, held):
        """{(thread, lock): owner}: who has the lock for itself and joins the thread before releasing it."""
        joiner = {name: thread for thread, op, name in self.events if op == "join"}
        result = {}
        for (owner, lock), shared in held.items():
            if shared:
                continue
            for i in self.of[owner][positions[self.threads.index(owner)]:]:
                _, op, name = self.events[i]
                if op in ("rel", "rrel") and name == lock and self.outer[i]:
                    break
                if op == "join":
                    for t in self.threads:
                        u = t
                        while u != name and u in joiner:
                            u = joiner[u]
                        if u == name and t != owner:
                            result[t, lock] = owner
        return result

    def cycles(self, positions):
        """Every circle of threads that wait for each other: tuples of their acquires, with all that is held, lent locks of these included."""
        held, wants = self.holds(positions), dict(self.next_acquires(positions))
        lent = self.lent(positions, held)

        def waits(t):
            """(thread, whether the lock is lent to it)"""
            _, op, name = self.events[wants[t]]
            own = {(u, False) for (u, lock), shared in held.items() if lock == name and u != t and not (shared and SHARED[op])}
            return own | {(u, True) for (u, lock), owner in lent.items() if lock == name and t not in (u, owner) and (u, lock) not in held}

        def walk(path):
            for u, is_lent in waits(path[-1][0]):
                if u == path[0][0]:
                    yield [(u, is_lent), *path[1:]]
                elif u in wants and u > path[0][0] and u not in [v for v, _ in path]:
                    yield from walk([*path, (u, is_lent)])

        for t in wants:
            for path in walk([(t, False)]):
                locks = [self.events[wants[u]][2] for u, _ in path]
                borrowed = {(u, locks[k - 1]) for k, (u, is_lent) in enumerate(path) if is_lent}
                owners = {lent[pair] for pair in borrowed}
                if len(set(locks)) == len(locks) and not owners & {u for u, _ in path}:
                    yield tuple(wants[u] for u, _ in path), {**held, **dict.fromkeys(borrowed, False)}

    def abstract(self, cycle, held):
        """What the tool reports once: threads, what each wants, and how, and what it holds."""
        return frozenset((self.events[i][0], self.events[i][1], self.events[i][2],
                          frozenset(lock for t, lock in held if t == self.events[i][0])) for i in cycle)


def deadlocks(events, tries=frozenset()):
    """{abstract cycle: set of concrete ones (sets of event indices)}"""
    run, found = Run(events, tries), {}
    todo, seen, looked = [run.start()], {run.start()}, set()
    while todo:
        state = todo.pop()
        if state[0] not in looked:
            looked.add(state[0])
            for cycle, held in run.cycles(state[0]):
                found.setdefault(run.abstract(cycle, held), set()).add(frozenset(cycle))
        for k in range(len(run.threads)):
            after = run.step(state, k)
            if after and after not in seen:
                seen.add(after)
                todo.append(after)
    return found


def is_witness(events, witness, cycle, tries=frozenset()):
    """Whether these events, as (thread, op, object), are a run that ends in the cycle (event indices), each blocked by the next."""
    run = Run(events, tries)
    state = run.start()
    for thread, op, name in witness:
        k = run.threads.index(thread)
        if state[0][k] >= len(run.of[thread]) or run.events[run.of[thread][state[0][k]]] != (thread, op, name):
            return False
        state = run.step(state, k)
        if state is None:
            return False
    held, wants = run.holds(state[0]), dict(run.next_acquires(state[0]))
    held.update({pair: False for pair, owner in run.lent(state[0], held).items() if pair not in held and owner not in [events[i][0] for i in cycle]})
    for i, k in zip(cycle, cycle[1:] + cycle[:1]):
        thread, op, name = events[i]
        other = events[k][0]
        if wants.get(thread) != i or (other, name) not in held or (held[other, name] and SHARED[op]):
            return False
    return True
