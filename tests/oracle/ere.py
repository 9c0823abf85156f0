"""Extended regular expressions of bad prefixes, by definition (contract, section 2).

Matching tries all splits. Whether any word matches at all is answered by automata over the explicit alphabet of atom
valuations (subsets for everything, no derivatives).
"""

from itertools import product

from .formula import atoms, prop_value


def match(r, word, memo=None):
    """Whether the whole word is in the language of r."""
    memo = {} if memo is None else memo
    key = (r, word)
    if key not in memo:
        memo[key] = _match(r, word, memo)
    return memo[key]


def _match(r, word, memo):
    kind = r[0]
    if kind == "empty":
        return False
    if kind == "eps":
        return not word
    if kind == "letter":
        return len(word) == 1 and prop_value(r[1], dict(word[0]))
    if kind == "alt":
        return match(r[1], word, memo) or match(r[2], word, memo)
    if kind == "inter":
        return match(r[1], word, memo) and match(r[2], word, memo)
    if kind == "compl":
        return not match(r[1], word, memo)
    if kind == "cat":
        return any(match(r[1], word[:k], memo) and match(r[2], word[k:], memo) for k in range(len(word) + 1))
    if kind == "opt":
        return not word or match(r[1], word, memo)
    if kind == "plus":
        return match(r[1], word, memo) or match(("star", r[1]), word, memo) and bool(word)
    if kind == "star":  # a first non-empty piece, then the rest
        return not word or any(match(r[1], word[:k], memo) and match(r, word[k:], memo) for k in range(1, len(word) + 1))
    low, high = r[2], r[3]
    if low > 0:
        fewer = ("rep", r[1], low - 1, None if high is None else high - 1)
        return any(match(r[1], word[:k], memo) and match(fewer, word[k:], memo) for k in range(len(word) + 1))
    if high is None:
        return match(("star", r[1]), word, memo)
    if not word or high == 0:
        return not word
    fewer = ("rep", r[1], 0, high - 1)
    return any(match(r[1], word[:k], memo) and match(fewer, word[k:], memo) for k in range(1, len(word) + 1))


class Limit(Exception):
    """The expression is too large for explicit automata."""


class Machine:
    """A complete deterministic automaton: transitions[state][letter number], set of accepting states, initial state 0."""

    def __init__(self, transitions, accepting):
        self.transitions, self.accepting = transitions, accepting

    @staticmethod
    def explore(start, step, accepts, width):
        """The automaton reachable from `start` under step(state, letter)."""
        number, order, transitions = {start: 0}, [start], []
        for state in order:
            if len(order) > 4000:
                raise Limit()
            row = []
            for letter in range(width):
                target = step(state, letter)
                if target not in number:
                    number[target] = len(order)
                    order.append(target)
                row.append(number[target])
            transitions.append(row)
        return Machine(transitions, {number[s] for s in order if accepts(s)}).smallest()

    def smallest(self):
        """The same language with the fewest states, by splitting classes until their members agree (Moore)."""
        count = len(self.transitions)
        kind = [int(s in self.accepting) for s in range(count)]
        while True:
            seen = {}
            finer = [seen.setdefault((kind[s], *(kind[t] for t in self.transitions[s])), len(seen)) for s in range(count)]
            if len(seen) == len(set(kind)):
                break
            kind = finer
        first = {}
        for s in range(count):  # state 0 is the first of its class, and classes are numbered as they are met
            first.setdefault(finer[s], s)
        return Machine([[finer[t] for t in self.transitions[s]] for s in first.values()],
                       {finer[s] for s in self.accepting})


class Ere:
    """An ERE as a property: a word is bad when it is not empty and matched."""

    def __init__(self, r):
        self.r, self.memo = r, {}
        names = atoms(r)
        self.letters = [tuple(zip(names, bits)) for bits in product((False, True), repeat=len(names))]

    def bad(self, word):
        """Whether the word itself is a bad prefix (earlier prefixes are asked before)."""
        return bool(word) and match(self.r, word, self.memo)

    def monitorable(self):
        """Whether some non-empty word is matched (None: not found out)."""
        try:
            m = self.machine(self.r)
        except Limit:
            return None
        reached = set(m.transitions[0])
        todo = list(reached)
        while todo:
            for target in m.transitions[todo.pop()]:
                if target not in reached:
                    reached.add(target)
                    todo.append(target)
        return bool(reached & m.accepting)

    def machine(self, r):
        """The automaton of r over the letters."""
        kind, width = r[0], len(self.letters)
        if kind in ("empty", "eps", "letter"):
            good = [kind == "letter" and prop_value(r[1], dict(a)) for a in self.letters]
            return Machine.explore(0, lambda s, a: 1 if s == 0 and good[a] else 2,
                                   lambda s: s == {"empty": -1, "eps": 0, "letter": 1}[kind], width)
        if kind == "compl":
            m = self.machine(r[1])
            return Machine(m.transitions, set(range(len(m.transitions))) - m.accepting)
        if kind in ("alt", "inter"):
            m, n = self.machine(r[1]), self.machine(r[2])
            join = any if kind == "alt" else all
            return Machine.explore((0, 0), lambda s, a: (m.transitions[s[0]][a], n.transitions[s[1]][a]),
                                   lambda s: join((s[0] in m.accepting, s[1] in n.accepting)), width)
        if kind == "cat":
            return self.chain([r[1], r[2]])
        if kind == "opt":
            return self.machine(("alt", ("eps",), r[1]))
        if kind == "plus":
            return self.machine(("cat", r[1], ("star", r[1])))
        if kind == "star":
            return self.star(self.machine(r[1]))
        if r[3] is None:
            return self.chain([r[1]] * r[2] + [("star", r[1])])
        return self.chain([r[1]] * r[2] + [("opt", r[1])] * (r[3] - r[2]))

    def chain(self, pieces):
        """Concatenation: a set of (piece, state) pairs, spilling into the next piece on acceptance."""
        ms = [self.machine(p) for p in pieces]

        def spill(pairs):
            todo, seen = list(pairs), set(pairs)
            while todo:
                k, s = todo.pop()
                if s in ms[k].accepting and k + 1 < len(ms) and (k + 1, 0) not in seen:
                    seen.add((k + 1, 0))
                    todo.append((k + 1, 0))
            return frozenset(seen)

        if not ms:
            return self.machine(("eps",))
        last = len(ms) - 1
        return Machine.explore(spill({(0, 0)}), lambda pairs, a: spill({(k, ms[k].transitions[s][a]) for k, s in pairs}),
                               lambda pairs: any(k == last and s in ms[k].accepting for k, s in pairs), len(self.letters))

    def star(self, m):
        """Repetition: a fresh accepting start, and a restart whenever a round accepts."""
        def step(state, a):
            states = {0} if state == "start" else state
            targets = {m.transitions[s][a] for s in states}
            return frozenset(targets | ({0} if targets & m.accepting else set()))

        return Machine.explore("start", step, lambda s: s == "start" or bool(s & m.accepting), len(self.letters))
