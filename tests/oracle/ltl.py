"""Bad prefixes of LTL by definition (contract, section 2).

A word is a tuple of letters; a letter is a tuple of (atom, value) pairs, value None where evaluation fails.

Past: the value of a formula at the last letter of a word, by recursion on formula and word.
Future: formula progression through the word, then one question about what is left: is there an infinite word that satisfies it?
What is left is a Boolean combination of subformulas, so one table per property answers it: all assignments of truth to atoms,
past values and future subformulas, the steps that are locally right, and among them those that start an infinite path on which
no `until` is postponed for ever.
"""

from itertools import product

from .formula import ATOMS, FUTURE, PAST, EvalError, atoms, has, prop_value, subformulas

T, F = ("true",), ("false",)


class Word:
    """Values of past formulas over words, remembered."""

    def __init__(self):
        self.memo = {}

    def value(self, f, word):
        """Truth of a formula without future operators at the last letter of a non-empty word."""
        if f[0] not in PAST and not has(f, PAST):
            return prop_value(f, dict(word[-1]))
        key = (f, word)
        if key not in self.memo:
            self.memo[key] = self._value(f, word)
        return self.memo[key]

    def _value(self, f, word):
        kind, now, first = f[0], word, len(word) == 1
        before = word[:-1]
        if kind == "not":
            return not self.value(f[1], now)
        if kind == "and":
            return self.value(f[1], now) and self.value(f[2], now)
        if kind == "or":
            return self.value(f[1], now) or self.value(f[2], now)
        if kind == "imp":
            return (not self.value(f[1], now)) or self.value(f[2], now)
        if kind == "iff":
            return self.value(f[1], now) == self.value(f[2], now)
        if kind == "prev":
            return self.value(f[1], now if first else before)
        if kind == "start":
            return not first and self.value(f[1], now) and not self.value(f[1], before)
        if kind == "end":
            return not first and not self.value(f[1], now) and self.value(f[1], before)
        prefixes = [word[:k] for k in range(1, len(word) + 1)]
        if kind == "once":
            return any(self.value(f[1], p) for p in prefixes)
        if kind == "hist":
            return all(self.value(f[1], p) for p in prefixes)
        if kind == "since":
            return any(self.value(f[2], p) and all(self.value(f[1], q) for q in prefixes[k + 1:])
                       for k, p in enumerate(prefixes))
        strong = ("since", ("not", f[2]), ("and", f[1], ("not", f[2])))
        if kind == "ival":
            return self.value(strong, now)
        return self.value(strong, now) or self.value(("hist", ("not", f[2])), now)


def core(f):
    """The future operators as `next` and `until` only; parts without future operators stay as they are."""
    if not has(f, FUTURE):
        return f
    args = [core(g) for g in f[1:]]
    kind = f[0]
    if kind == "always":
        return ("not", ("until", T, ("not", args[0])))
    if kind == "ev":
        return ("until", T, args[0])
    if kind == "wuntil":
        return ("or", ("until", *args), ("not", ("until", T, ("not", args[0]))))
    if kind == "release":
        return ("not", ("until", ("not", args[0]), ("not", args[1])))
    if kind == "imp":
        return ("or", ("not", args[0]), args[1])
    return (kind, *args)


class Limit(Exception):
    """The formula is too large for brute force."""


class Future:
    """A formula read as LTL over infinite words."""

    def __init__(self, formula, limit=60000):
        self.formula = core(formula)
        self.atoms = atoms(formula)
        self.parts = subformulas(self.formula)
        for part in self.parts:
            if part[0] in PAST and has(part, FUTURE):
                raise ValueError("future inside past")
        self.future = [g for g in self.parts if g[0] in ("next", "until")]
        self.past = []  # what must be remembered of the position before, children first
        for part in self.parts:
            for g in _unfold(part):
                if g not in self.past:
                    self.past.append(g)
        self.letters = [tuple(zip(self.atoms, bits)) for bits in product((False, True), repeat=len(self.atoms))]
        self.words, self.rests, self.answers = Word(), {}, {}
        self._table(limit)

    # ------------------------------------------------ past values, one position at a time

    def step(self, before, letter):
        """Values of the remembered past formulas at a letter, given those at the position before (None: there is none)."""
        old = None if before is None else dict(zip(self.past, before))
        now, table = {}, dict(letter)
        for g in self.past:
            now[g] = self._past(g, old, now, table)
        return tuple(now[g] for g in self.past)

    def _past(self, g, old, now, letter):
        def value(h):
            return now[h] if h in now else _boolean(h, value, letter)

        kind = g[0]
        if kind == "prev":
            return old[g[1]] if old else value(g[1])
        if kind == "start":
            return bool(old) and value(g[1]) and not old[g[1]]
        if kind == "end":
            return bool(old) and not value(g[1]) and old[g[1]]
        if kind == "once":
            return value(g[1]) or bool(old and old[g])
        if kind == "hist":
            return value(g[1]) and (not old or old[g])
        if kind == "since":
            return value(g[2]) or (value(g[1]) and bool(old and old[g]))
        return value(g)

    # ------------------------------------------------ the table of locally right steps

    def _table(self, limit):
        pasts, todo = {None: {}}, [None]
        while todo:
            before = todo.pop()
            for letter in self.letters:
                after = pasts[before][letter] = self.step(before, letter)
                if after not in pasts:
                    pasts[after] = {}
                    todo.append(after)
        self.pasts = pasts
        choices = list(product((False, True), repeat=len(self.future)))
        if len(pasts) * len(self.letters) ** 2 * len(choices) ** 2 > limit * 64:
            raise Limit()
        nodes = {}  # (letter, past values, choice) -> values of all parts
        for before in pasts:
            for letter, after in pasts[before].items():
                for choice in choices:
                    if (letter, after, choice) not in nodes:
                        values = self._values(letter, after, choice)
                        if values:
                            nodes[letter, after, choice] = values
        self.nodes = nodes
        index = {}
        for node in nodes:
            index.setdefault((node[0], node[1]), []).append(node)
        edges = {n: [m for letter in self.letters for m in index.get((letter, pasts[n[1]][letter]), ())
                     if self._follows(nodes[n], nodes[m])] for n in nodes}
        live = self._live(edges)
        self.starts = {before: [m for letter in self.letters for m in index.get((letter, pasts[before][letter]), ())
                                if m in live] for before in pasts}

    def _values(self, letter, after, choice):
        """Truth of every part under an assignment, or None where an until contradicts its own operands."""
        values = dict(zip(self.past, after))
        values.update(zip(self.future, choice))
        table = dict(letter)

        def value(h):
            if h not in values:
                values[h] = _boolean(h, value, table)
            return values[h]

        for part in self.parts:
            value(part)
        for g in self.future:
            if g[0] == "until" and ((value(g[2]) and not values[g]) or
                                    (values[g] and not value(g[2]) and not value(g[1]))):
                return None
        return values

    def _follows(self, here, there):
        for g in self.future:
            if g[0] == "next":
                if here[g] != there[g[1]]:
                    return False
            elif not here[g[2]] and here[g[1]] and here[g] != there[g]:
                return False
        return True

    def _live(self, edges):
        """Nodes from which some path visits, for every until, infinitely often a node where it is false or fulfilled."""
        goals = [g for g in self.future if g[0] == "until"]
        live = set()
        for part in components(edges):
            members = set(part)
            if any(m in members for n in part for m in edges[n]) and \
                    all(any(not self.nodes[n][g] or self.nodes[n][g[2]] for n in part) for g in goals):
                live |= members
        back = {n: [] for n in edges}
        for n, targets in edges.items():
            for m in targets:
                back[m].append(n)
        todo = list(live)
        while todo:
            for n in back[todo.pop()]:
                if n not in live:
                    live.add(n)
                    todo.append(n)
        return live

    # ------------------------------------------------ bad prefixes

    def rest(self, word):
        """What remains to be satisfied after a word."""
        if not word:
            return self.formula
        if word not in self.rests:
            self.rests[word] = self._progress(self.rest(word[:-1]), word)
        return self.rests[word]

    def _progress(self, f, word):
        kind = f[0]
        if kind in ("all", "any"):
            return _join(kind, [self._progress(g, word) for g in f[1]])
        if not has(f, FUTURE):
            return T if self.words.value(f, word) else F
        if kind == "next":
            return f[1]
        a = self._progress(f[1], word)
        if kind == "not":
            return _negate(a)
        if kind == "and":
            return F if a == F else _join("all", [a, self._progress(f[2], word)])
        if kind == "or":
            return T if a == T else _join("any", [a, self._progress(f[2], word)])
        b = self._progress(f[2], word)
        if kind == "iff":
            return _join("any", [_join("all", [a, b]), _join("all", [_negate(a), _negate(b)])])
        return _join("any", [b, _join("all", [a, f])])

    def satisfiable(self, rest, past):
        """Whether an infinite word after past values `past` satisfies `rest`."""
        if rest in (T, F):
            return rest == T
        key = (rest, past)
        if key not in self.answers:
            self.answers[key] = any(_holds(rest, self.nodes[n]) for n in self.starts[past])
        return self.answers[key]

    def bad(self, word):
        """Whether no infinite continuation of the word satisfies the formula."""
        past = None
        if word and self.past:
            past = tuple(self.words.value(g, word) for g in self.past)
        elif word:
            past = ()
        return not self.satisfiable(self.rest(word), past)

    def monitorable(self, limit=3000):
        """Whether some finite word is bad; None when the search grows past the limit."""
        start = (self.formula, None)
        seen, todo = {start}, [(start, ())]
        while todo:
            (rest, past), word = todo.pop(0)
            if not self.satisfiable(rest, past):
                return True
            for letter in self.letters:
                longer = word + (letter,)
                key = (self._progress(rest, longer), self.step(past, letter))
                if key not in seen:
                    if len(seen) > limit or _size(key[0]) > 300:
                        return None
                    seen.add(key)
                    todo.append((key, longer))
        return False


def _size(f):
    return 1 + sum(_size(g) for g in f[1]) if f[0] in ("all", "any") else 1


def _unfold(part):
    """What step() must remember for one past subformula: itself and, where it looks one back, its operand."""
    kind = part[0]
    if kind in ("prev", "start", "end"):
        return [part[1], part]
    if kind in ("once", "hist", "since"):
        return [part]
    if kind in ("ival", "ivalw"):
        since = ("since", ("not", part[2]), ("and", part[1], ("not", part[2])))
        if kind == "ival":
            return [since, part]
        never = ("hist", ("not", part[2]))
        return [since, never, part]
    return []


def _boolean(h, value, letter):
    """Truth of a formula whose operands `value` gives."""
    kind = h[0]
    if kind in ATOMS:
        return letter[h]
    if kind in ("true", "false"):
        return kind == "true"
    if kind == "not":
        return not value(h[1])
    if kind == "and":
        return value(h[1]) and value(h[2])
    if kind == "or":
        return value(h[1]) or value(h[2])
    if kind == "imp":
        return not value(h[1]) or value(h[2])
    if kind == "iff":
        return value(h[1]) == value(h[2])
    if kind == "ival":
        return value(_unfold(h)[0])
    if kind == "ivalw":
        return value(_unfold(h)[0]) or value(_unfold(h)[1])
    raise ValueError(kind)


def _join(kind, parts):
    """A conjunction (all) or disjunction (any) with duplicates, units and complements removed."""
    unit, zero = (T, F) if kind == "all" else (F, T)
    flat = set()
    for part in parts:
        flat |= part[1] if part[0] == kind else {part}
    flat.discard(unit)
    # Complements are looked for among simple parts only: negating whole combinations here would nest without bound.
    if zero in flat or any(_negate(p) in flat for p in flat if p[0] not in ("all", "any")):
        return zero
    if len(flat) <= 1:
        return next(iter(flat), unit)
    return (kind, frozenset(flat))


def _negate(f):
    if f in (T, F):
        return F if f == T else T
    if f[0] == "not":
        return f[1]
    if f[0] in ("all", "any"):
        return _join("any" if f[0] == "all" else "all", [_negate(g) for g in f[1]])
    return ("not", f)


def _holds(rest, values):
    if rest[0] == "all":
        return all(_holds(g, values) for g in rest[1])
    if rest[0] == "any":
        return any(_holds(g, values) for g in rest[1])
    if rest in values:
        return values[rest]
    if rest[0] == "not":
        return not _holds(rest[1], values)
    return _boolean(rest, lambda h: _holds(h, values), {})


def components(edges):
    """Strongly connected components (Tarjan, iterative) of a graph given as node -> successors."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in edges:
        if root in index:
            continue
        work = [(root, iter(edges[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, rest = work[-1]
            for m in rest:
                if m not in index:
                    index[m] = low[m] = len(index)
                    stack.append(m)
                    on.add(m)
                    work.append((m, iter(edges[m])))
                    break
                if m in on:
                    low[node] = min(low[node], index[m])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    part = []
                    while True:
                        m = stack.pop()
                        on.discard(m)
                        part.append(m)
                        if m == node:
                            break
                    found.append(part)
    return found


class Past:
    """A formula without future operators, which must hold in every state."""

    def __init__(self, formula):
        self.formula, self.words = formula, Word()

    def bad(self, word):
        """Whether the last letter of the word violates the formula."""
        return bool(word) and not self.words.value(self.formula, word)

    def monitorable(self):
        """Whether some word is bad."""
        everything = Future(self.formula)
        place = everything.past
        seen, todo = {None}, [None]
        while todo:
            before = todo.pop()
            for letter in everything.letters:
                after = everything.step(before, letter)
                values = dict(zip(place, after))
                table = dict(letter)

                def value(h, values=values, table=table):
                    return values[h] if h in values else _boolean(h, value, table)

                if not value(self.formula):
                    return True
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return False


def monitor(formula):
    """The monitor of a property's formula: state by state if it has no future operator as written or is `always` of such a one."""
    if formula[0] == "always" and not has(formula[1], FUTURE):
        return Past(formula[1])
    return Future(formula) if has(formula, FUTURE) else Past(formula)


__all__ = ["EvalError", "Future", "Limit", "Past", "Word", "monitor"]
