"""Wrong lifetimes of a recorded run and of all possible runs of its events, by contract section 10. Shares nothing with src/.

An event is (thread, op, object, order, value), as in possible.py, and alloc and free besides. A finding is (note, use, other): the indices of two
events and what is wrong about them.
"""
import possible

USE, DOUBLE, NULL, CHECK, INIT = "", "double free", "null dereference", "null after check", "use before initialisation"


def base_of(name):
    head, plus, offset = name.rpartition("+")
    return head if plus and offset.isdigit() and head else name


def address_of(block):
    digits = block.split("#")[0]
    return int(digits, 16) if digits.startswith("0x") else None


class Lives(possible.Recorded):
    def __init__(self, events, places):
        super().__init__(events)
        self.places = places
        self.blocks = {e[2] for e in events if e[1] in ("alloc", "free")}
        self.life, self.freed = {}, {}  # of each event of memory: its alloc, and the first free of that life before it
        made, freed, first = {}, {}, {}
        for i, (_, op, name, _, _) in enumerate(events):
            block = base_of(name) if base_of(name) in self.blocks and op in ("r", "w", "u") else name if op in ("alloc", "free") else None
            if block is None:
                continue
            if op == "alloc":
                self.before[i] = [freed[block]] if block in freed else []
                made[block] = i
                first.pop(block, None)
            else:
                self.before[i] = [made[block]] if block in made else []
                self.life[i], self.freed[i] = (block, made.get(block)), first.get(block)
            if op == "free":
                freed[block] = i
                first.setdefault(block, i)
        self.dereferenced = self.find_dereferenced()
        self.unseen = self.find_unseen()
        self.harmless = {self.place_of(i) for i, e in enumerate(events) if e[1] == "r" and e[4] == 0}

    def place_of(self, i):
        """A variable at a place; of blocks the offset counts."""
        name = self.events[i][2]
        return self.places[i], name if base_of(name) == name else name[len(base_of(name)):]

    def find_dereferenced(self):
        """Reads that are followed by an access of the memory that they point to, before the thread reads its address again."""
        found = set()
        for i, (thread, op, _, _, value) in enumerate(self.events):
            if op != "r" or value in (0, None):
                continue
            own = [k for k in self.of[thread] if k > i]
            # The blocks as they are known when the value is read: names of the trace so far, the latest of each address.
            known = {address_of(e[2]): e[2] for e in self.events[:i] if e[1] == "alloc" and address_of(e[2])}
            target = known.get(value) if isinstance(value, int) else value if value in self.seen_blocks(i) else None
            for k in own:
                if target and self.life.get(k, (None,))[0] == target and self.events[k][1] in ("r", "w", "u"):
                    found.add(i)
                if target and self.events[k][1] == "r" and self.events[k][4] == value:
                    break
            if own and isinstance(value, int) and own[0] in self.life and self.events[own[0]][1] != "free" \
                    and address_of(self.life[own[0]][0]) is None:
                found.add(i)
        return found

    def seen_blocks(self, i):
        return {e[2] for e in self.events[:i] if e[1] in ("alloc", "free")}

    def is_checked(self, u):
        """The thread has read the same pointer before, not null, and did nothing with it; and has not written it since."""
        before = [k for k in self.of[self.events[u][0]] if k < u and self.events[k][2] == self.events[u][2] and self.events[k][1] in ("r", "w", "u")]
        return bool(before) and self.events[before[-1]][1] == "r" and before[-1] not in self.dereferenced \
            and self.events[before[-1]][4] not in (0, None)

    def is_set(self, name):
        """It is known not to be null before anybody writes it."""
        for _, op, other, _, value in self.events:
            if other == name and op in ("w", "u"):
                return False
            if other == name and op == "r" and value not in (0, None):
                return True
        return False

    def find_unseen(self):
        """Variables of which some store is not in the trace: a read returned what none had put there."""
        unseen, now = set(), {}
        for _, op, name, _, value in self.events:
            if op == "r" and value is not None and now.get(name) not in (None, value):
                unseen.add(name)
            if op in ("w", "u") or (op == "r" and value is not None):
                now[name] = value
        return unseen

    def observed(self):
        """Those of the recorded run."""
        return {(DOUBLE if self.events[i][1] == "free" else USE, i, f) for i, f in self.freed.items() if f is not None}

    def ready(self, state):
        done = self.done(state[0])
        return done, [i for k in range(len(self.threads)) if (i := self.next_of(state[0], k)) is not None and self.may_begin(i, done)]

    def wrong_next(self, state):
        """What is wrong with what may come next."""
        done, ready = self.ready(state)
        latest, found = dict(state[1]), set()
        for u in ready:
            thread, op, name, _, _ = self.events[u]
            if u in self.life and op != "free" and self.freed[u] is None:
                found |= {(USE, u, f) for f in done if f > u and self.events[f][1] == "free" and self.life[f] == self.life[u]
                          and self.events[f][0] != thread}
            if u not in self.dereferenced or name in self.unseen or (not self.is_checked(u) and self.place_of(u) in self.harmless):
                continue
            store = latest.get(name)
            if store is not None and self.events[store][4] == 0:
                found.add((CHECK if self.is_checked(u) else NULL, u, store))
            stores = [k for k, e in enumerate(self.events) if e[2] == name and e[1] in ("w", "u")]
            if store is None and stores and stores[0] < u and not self.is_set(name):
                found.add((INIT, u, stores[0]))
        return found

    def predicted(self, order):
        found = set()
        for state in self.states(order):
            found |= self.wrong_next(state)
        return found
