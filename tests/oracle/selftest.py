#!/usr/bin/env python3
"""Tests of the oracle itself on hand-worked examples; needs no tool. Run: python3 tests/oracle/selftest.py"""

import copy
import random
import sys
import unittest
from itertools import permutations, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import run_cases  # noqa: E402
from oracle import check, ere, formula, generate, lattice, ltl, trace, wide  # noqa: E402

WATER = """# The run of Example 1 of the JMPaX paper.
-|init(w)=20|-
-|init(v)=40|-
T2|w(w)=24|water.c:20
T1|r(w)=24|water.c:5
T1|w(v)=50|water.c:8
T2|w(w)=27|water.c:20
T1|w(v)=60|water.c:8
T2|w(w)=31|water.c:20
T1|r(w)=31|water.c:5
T1|w(v)=70|water.c:8
"""
WATER_PROP = """let p = w > 26;  let q = w > 30;  let r = v > 55;
property F1: always (q -> ((r && p) since start(p)));
property F2: never [true]* [!p] [p && !q]+ ( [p && !q && !r] [p && !q]* [q] | [q]* [q && !r] ) [true]*;
"""


def one(text):
    """The formula of a property text."""
    return formula.parse(f"property f: {text};")[0][2]


def expect(prop, text, window=None, lookahead=None):
    """Expected of a single property text on a trace text."""
    name, kind, body = formula.parse(prop)[0]
    return check.Expected(check.Property(name, kind, body), trace.Trace(text), window, lookahead)


def letters(f, *rows):
    """A word over the atoms of f, one string of 0 and 1 per letter."""
    return tuple(tuple(zip(formula.atoms(f), (c == "1" for c in row))) for row in rows)


class Order(unittest.TestCase):
    def pairs(self, text):
        t = trace.Trace(text)
        return {(i, j) for j, s in enumerate(t.before) for i in s}

    def test_reads_do_not_order(self):
        self.assertEqual(self.pairs("A|r(x)|-\nB|r(x)|-\n"), set())
        self.assertEqual(self.pairs("A|r(x)|-\nB|w(x)=1|-\nC|r(x)|-\n"), {(0, 1), (1, 2), (0, 2)})

    def test_update_reads_and_writes(self):
        self.assertEqual(self.pairs("A|r(x)|-\nB|u(x)=1|-\nC|u(x)=2|-\n"), {(0, 1), (1, 2), (0, 2)})

    def test_locks(self):
        self.assertEqual(self.pairs("A|racq(l)|-\nB|racq(l)|-\nC|acq(l)|-\n"), {(0, 2), (1, 2)})

    def test_name_spaces(self):
        self.assertEqual(self.pairs("A|acq(x)|-\nB|w(x)=1|-\nC|sync(x)|-\n"), set())

    def test_fork_join(self):
        self.assertEqual(self.pairs("A|fork(B)|-\nB|w(x)=1|-\nC|w(y)=1|-\nC|join(B)|-\n"), {(0, 1), (2, 3), (1, 3), (0, 3)})
        self.assertEqual(self.pairs("A|fork(B)|-\nC|join(B)|-\n"), {(0, 1)})

    def test_clocks_agree_with_accesses(self):
        rng = random.Random(7)
        for _ in range(200):
            text = generate.trace_text(rng)
            full, names = trace.Trace(text), (set(generate.VARIABLES), set(generate.EVENTS))
            short = trace.Trace(generate.clocked(text, *names))
            self.assertEqual(trace.relevant(full, *names)[1], trace.relevant(short, *names)[1], text)


class Lattice(unittest.TestCase):
    def test_definitions_agree(self):
        rng = random.Random(3)
        for _ in range(60):
            n = rng.randint(0, 6)
            before = [set() for _ in range(n + 1)]
            for j in range(1, n + 1):
                for i in range(1, j):
                    if rng.random() < 0.3:
                        before[j] |= {i} | before[i]
            cone = lattice.Cone(before)
            self.assertEqual(cone.kept, set(lattice.consistent_cuts(before)))
            runs = [r for r in permutations(range(1, n + 1)) if all(before[e] <= set(r[:k]) for k, e in enumerate(r))]
            self.assertEqual(cone.runs(), len(runs))
            self.assertEqual(len(runs), sum(1 for _ in lattice.linear_extensions(before)))
            self.assertTrue(cone.complete)
            for window, lookahead in ((1, None), (None, 1)):
                narrow = lattice.Cone(before, window, lookahead)
                self.assertEqual(narrow.levels, [[frozenset(range(1, k + 1))] for k in range(n + 1)])

    def test_water(self):
        for name in ("F1", "F2"):
            body = next(p for p in formula.parse(WATER_PROP) if p[0] == name)
            prop, t = check.Property(*body), trace.Trace(WATER)
            whole = check.Expected(prop, t)
            self.assertEqual(whole.verdicts(), {"violated"})
            self.assertFalse(whole.observed)
            self.assertEqual(whole.violation_level, 3)  # 00 01 02 03: w = 31 while v = 40
            self.assertEqual(whole.cone.statistics(), {"levels": 7, "states": 11, "width": 3, "runs": "6"})
            self.assertEqual(whole.cone.statistics(3), {"levels": 4, "states": 7, "width": 3, "runs": "4"})
            cone = check.Expected(prop, t, 2, 3)
            kept = ["|".join("%d%d" % tuple(sum(cone.events[e - 1].thread == t for e in cut) for t in ("T1", "T2"))
                             for cut in level) for level in cone.cone.levels]
            self.assertEqual(kept, ["00", "01", "11|02", "12|21", "22|13", "23", "33"])
            self.assertEqual(cone.violation_level, 4)
            self.assertFalse(cone.cone.complete)
            self.assertEqual(check.Expected(prop, t, 1).verdicts(), {"holds"})


class Logic(unittest.TestCase):
    def past(self, text, *rows):
        f = one(text)
        return ltl.Word().value(f, letters(f, *rows))

    def test_past(self):
        self.assertTrue(self.past("previously a", "1"))
        self.assertFalse(self.past("previously a", "0", "1"))
        self.assertFalse(self.past("start(a)", "1"))
        self.assertTrue(self.past("start(a)", "0", "1"))
        self.assertFalse(self.past("end(a)", "0"))
        self.assertTrue(self.past("end(a)", "1", "0"))
        self.assertTrue(self.past("a since b", "01"))
        self.assertTrue(self.past("a since b", "01", "10", "10"))
        self.assertFalse(self.past("a since b", "11", "00", "10"))
        self.assertTrue(self.past("[a, b)", "10", "00"))
        self.assertFalse(self.past("[a, b)", "11"))
        self.assertTrue(self.past("[a, b)w", "00"))
        self.assertFalse(self.past("[a, b)", "00"))
        self.assertFalse(self.past("[a, b)w", "10", "01"))
        self.assertTrue(self.past("once a && historically b", "11", "01"))

    def bad(self, text, *rows):
        f = one(text)
        return ltl.Future(f).bad(letters(f, *rows))

    def test_future(self):
        self.assertTrue(self.bad("always a", "1", "0"))
        self.assertFalse(self.bad("eventually a", "0", "0"))
        self.assertTrue(self.bad("a until b", "10", "00"))
        self.assertFalse(self.bad("a until b", "10", "10"))
        self.assertTrue(self.bad("next a && next !a"))
        self.assertTrue(self.bad("always a && eventually !a"))
        self.assertTrue(self.bad("always (a -> next b)", "10", "00"))
        self.assertFalse(self.bad("b release a", "01", "11", "00"))
        self.assertTrue(self.bad("b release a", "01", "00"))
        self.assertTrue(self.bad("(always eventually a) && always (b -> always !a)", "01"))
        self.assertTrue(self.bad("always (once a -> next b)", "10", "00"))
        self.assertTrue(self.bad("next (previously a)", "0"))
        self.assertFalse(self.bad("next (previously a)", "1"))
        self.assertTrue(self.bad("a weakuntil b", "00"))
        self.assertTrue(self.bad("x > 1 -> always x > 0", "10"))  # atoms are independent: x > 1 does not give x > 0
        self.assertFalse(self.bad("x > 1 -> always x > 0", "00"))

    def test_monitorable(self):
        for text, answer in (("always eventually a", False), ("a until b", True), ("eventually a", False), ("always a", True),
                             ("true", False), ("a || !a", False), ("once a", True), ("a -> once a", False),
                             ("always (a -> eventually b)", False), ("(always eventually a) && always b", True)):
            self.assertEqual(ltl.monitor(one(text)).monitorable(), answer, text)

    def test_against_lassos(self):
        """A satisfied ultimately periodic continuation refutes a bad prefix; without one of small size, it is bad."""
        rng, pool = random.Random(11), [one("a"), one("b")]
        loops = [(u, v) for n in (0, 1) for u in product((0, 1, 2, 3), repeat=n)
                 for m in (1, 2) for v in product((0, 1, 2, 3), repeat=m)]
        tried = 0
        while tried < 60:
            f = generate.temporal(rng, pool, 3, generate.Budget(0, 2))
            if not formula.has(f, formula.FUTURE):
                continue
            tried += 1
            machine, table = ltl.Future(f), formula.atoms(f)

            def letter(k, table=table):
                return tuple((a, bool(k >> pool.index(a) & 1)) for a in table)

            for _ in range(4):
                prefix = tuple(rng.randrange(4) for _ in range(rng.randint(0, 3)))
                good = any(lasso(f, [dict(letter(k)) for k in prefix + u], [dict(letter(k)) for k in v]) for u, v in loops)
                self.assertEqual(machine.bad(tuple(map(letter, prefix))), not good, (formula.show(f), prefix))

    def test_past_as_future(self):
        """`always f` read as future LTL is bad no later than f fails, and only where every longer word soon fails."""
        rng, pool = random.Random(5), [one("a"), one("b")]
        for _ in range(60):
            f = generate.temporal(rng, pool, 3, generate.Budget(3, 0))
            past, future = ltl.Past(f), ltl.Future(("always", f))
            for _ in range(4):
                word = ()
                for _ in range(5):
                    word += (rng.choice(future.letters),)
                    fails = any(past.bad(word[:k]) for k in range(1, len(word) + 1))
                    self.assertEqual(future.bad(word), fails or not self.survives(past, word, future.letters, 5))

    def survives(self, past, word, alphabet, depth):
        return depth == 0 or any(not past.bad(word + (a,)) and self.survives(past, word + (a,), alphabet, depth - 1)
                                 for a in alphabet)

    def test_by_state(self):
        """What must hold in every state is bad where it is false; other formulas are bad as soon as they are lost."""
        for text, rows, bad in [("always !(previously a)", ("0", "1"), False), ("always !(previously a)", ("0", "1", "0"), True),
                                ("!(previously a)", ("0", "1"), False), ("always (a -> next (a && !a))", ("0", "1"), True)]:
            self.assertEqual(ltl.monitor(one(text)).bad(letters(one(text), *rows)), bad, text)

    def test_future_inside_past(self):
        with self.assertRaises(ValueError):
            ltl.Future(one("once (eventually a)"))


def lasso(f, stem, loop):
    """Truth of a future formula at the start of stem loop loop ..., from the definition."""
    word, n = stem + loop, len(stem)

    def following(i):
        return i + 1 if i + 1 < len(word) else n

    def at(g, i):
        kind = g[0]
        if kind in formula.ATOMS:
            return word[i][g]
        if kind in ("true", "false"):
            return kind == "true"
        if kind == "not":
            return not at(g[1], i)
        if kind in ("and", "or", "imp", "iff"):
            a, b = at(g[1], i), at(g[2], i)
            return {"and": a and b, "or": a or b, "imp": not a or b, "iff": a == b}[kind]
        if kind == "next":
            return at(g[1], following(i))
        path = [i]
        for _ in range(2 * len(word)):
            path.append(following(path[-1]))
        if kind == "always":
            return all(at(g[1], j) for j in path)
        if kind == "ev":
            return any(at(g[1], j) for j in path)
        until = any(at(g[2], j) and all(at(g[1], h) for h in path[:k]) for k, j in enumerate(path))
        if kind == "until":
            return until
        if kind == "wuntil":
            return until or all(at(g[1], j) for j in path)
        return all(at(g[2], j) or any(at(g[1], h) for h in path[:k]) for k, j in enumerate(path))

    return at(f, 0)


class Regular(unittest.TestCase):
    def matches(self, text, *rows):
        r = formula.parse(f"property f: never {text};")[0][2]
        return ere.match(r, letters(r, *rows))

    def test_by_hand(self):
        self.assertTrue(self.matches("[a]* [b]", "10", "01"))
        self.assertFalse(self.matches("[a]+", ))
        self.assertTrue(self.matches("~[a]*", "0"))
        self.assertFalse(self.matches("~[a]*", "1", "1"))
        self.assertTrue(self.matches("~[a][b]", "00", "01"))    # (~[a])[b]
        self.assertTrue(self.matches("[a]{2}", "1", "1"))
        self.assertFalse(self.matches("[a]{2}", "1"))
        self.assertTrue(self.matches("[a]{1,}", "1", "1", "1"))
        self.assertFalse(self.matches("[a]{1,2}", "1", "1", "1"))
        self.assertTrue(self.matches("[a] & ~[b]", "10"))
        self.assertTrue(self.matches("[a] | [b] [b]", "01", "01"))
        self.assertTrue(self.matches("epsilon [a]? ", "1"))
        self.assertFalse(self.matches("empty | [a] empty", "1"))

    def test_machine(self):
        rng, pool = random.Random(2), [one("a"), one("b")]
        for _ in range(80):
            r = generate.regular(rng, pool, 3)
            prop = ere.Ere(r)
            machine = prop.machine(r)
            for n in range(4):
                for word in product(range(len(prop.letters)), repeat=n):
                    state = 0
                    for a in word:
                        state = machine.transitions[state][a]
                    self.assertEqual(state in machine.accepting, ere.match(r, tuple(prop.letters[a] for a in word)),
                                     (formula.show_ere(r), word))

    def test_monitorable(self):
        for text, answer in (("[a]", True), ("empty", False), ("epsilon", False), ("[a] & [!a]", False), ("~[true]*", False),
                             ("[false]", False), ("[a]{5}", True)):
            self.assertEqual(ere.Ere(formula.parse(f"property f: never {text};")[0][2]).monitorable(), answer, text)


class Language(unittest.TestCase):
    def test_round_trip(self):
        rng = random.Random(1)
        for _ in range(1500):
            kind, body = generate.body(rng)
            text = generate.prop_text([("p", kind, body)])
            self.assertEqual(formula.parse(text), [("p", kind, body)], text)

    def test_precedence(self):
        self.assertEqual(one("!x == 3"), ("not", one("x == 3")))
        self.assertEqual(one("a -> b -> c"), ("imp", one("a"), ("imp", one("b"), one("c"))))
        self.assertEqual(one("always a since b"), ("since", ("always", one("a")), one("b")))
        self.assertEqual(one("a && b since c || d"), ("or", ("and", one("a"), ("since", one("b"), one("c"))), one("d")))
        self.assertEqual(one("a S b S c"), ("since", one("a"), ("since", one("b"), one("c"))))
        self.assertEqual(one("[] <> a"), ("always", ("ev", one("a"))))
        self.assertEqual(one("a V b"), ("release", one("a"), one("b")))

    def test_values(self):
        for text, value in (("-7 / 2", -3), ("-7 % 2", -1), ("7 - 2 - 1", 4), ("2 + 3 * 4", 14), ("7 / 2.0", 3.5)):
            self.assertEqual(formula.evaluate(one(f"{text} == 0")[2], {}), value, text)
        for text in ("1 / x", "9223372036854775807 * 4"):
            with self.assertRaises(formula.EvalError):
                formula.evaluate(one(f"{text} == 0")[2], {"x": 0})


class Verdicts(unittest.TestCase):
    def test_user_event_holds_in_its_state_only(self):
        e = expect("property p: event(go) -> x == 1;", "A|w(x)=1|a:1\nB|event(go)|a:2\n")
        self.assertEqual((e.verdicts(), e.violation_level, e.observed), ({"violated"}, 1, False))
        self.assertEqual(expect("property p: always !(event(go) && event(stop));",
                                "A|event(go)|a:1\nB|event(stop)|a:2\n").verdicts(), {"holds"})

    def test_errors(self):
        text = "A|w(x)=0|a:1\nA|w(y)|a:2\n"
        self.assertEqual(expect("property p: always 1 / x > 0;", text).verdicts(), {"error"})
        self.assertEqual(expect("property p: x != 0 && 1 / x > 0 || true;", text).verdicts(), {"holds"})
        self.assertEqual(expect("property p: always y == 0;", text).verdicts(), {"error"})
        self.assertEqual(expect("property p: always (x == 0 || y == 0);", text).verdicts(), {"holds"})

    def test_compare_notices_each_lie(self):
        expected = expect(WATER_PROP, WATER)
        rows = [("T2", "w", 24, 20), ("T2", "w", 27, 20), ("T2", "w", 31, 20)]
        witness = [{"thread": t, "op": "w", "object": o, "value": v, "loc": f"water.c:{n}"} for t, o, v, n in rows]
        good = {"name": "F1", "kind": "ltl", "verdict": "violated", "how": "predicted", "monitorable": True, "order": "access",
                "relevant": 6, "levels": 7, "states": 11, "width": 3, "runs": "6", "window": "all", "lookahead": "all",
                "complete": True, "witness": witness, "observed": witness}
        self.assertEqual(expected.compare(good, True), [])
        self.assertEqual(expected.compare({**good, "levels": 4, "states": 7, "runs": "4"}, False), [])
        for key in good:
            lie = copy.deepcopy(good)
            lie[key] = "lie" if not isinstance(good[key], list) else good[key][:-1]
            self.assertNotEqual(expected.compare(lie, True), [], key)
        lie = {**good, "witness": [witness[0], witness[2], witness[1]]}
        self.assertNotEqual(expected.compare(lie, True), [])
        self.assertEqual(check.exit_status([{"verdict": v} for v in ("holds", "violated", "error")]), 2)
        self.assertEqual(check.exit_status([{"verdict": v} for v in ("unknown", "violated")]), 1)


class Cases(unittest.TestCase):
    """What tests/cases promises of `check --json` on texts this oracle covers must agree with it."""

    def test_cases(self):
        compared = 0
        for path in sorted(run_cases.CASES.glob("*.case")):
            for step in run_cases.load(path):
                with self.subTest(case=path.name):
                    compared += self.step(path.name, step)
        self.assertGreater(compared, 90)

    def step(self, name, step):
        words = step.command.split()
        wanted = next((e[2] for e in step.expect if e[0] == "json"), None)
        if step.shell or wanted is None or "-" in words or words.count("-s") != 1 or "--memory-limit" in words:
            return 0
        try:
            props = formula.parse(step.files[words[words.index("-s") + 1]])
            parsed = trace.Trace(step.files[words[-1]])
        except (formula.PropertyError, trace.TraceError):
            return 0
        if len(parsed.events) > 24:
            return 0
        window = [int(words[words.index(o) + 1]) if o in words else None for o in ("--window", "--lookahead")]
        verdicts = []
        for entry, body in zip(wanted["properties"], props):
            if entry.get("order") in ("sync", "values"):
                if any(e.clock for e in parsed.events):
                    return 0  # not possible, and not covered
                found = wide.Wide(check.Property(*body), parsed, entry["order"])
                self.assertEqual(found.compare_wide({"how": "predicted", "complete": True, "witness": [], **entry}, entry["order"])
                                 if "witness" in entry else [], [], name)
                self.assertEqual({entry["verdict"]}, found.verdicts(), name)
                verdicts.append(entry)
                continue
            expected = check.Expected(check.Property(*body), parsed, *window)
            got = self.entry(expected, entry, "--exhaustive" in words)
            wrong = [w for w in expected.compare(got, "--exhaustive" in words) if "witness: missing" not in w]
            self.assertEqual(wrong, [], name)
            verdicts.append(got)
        self.assertEqual([check.exit_status(verdicts)], step.exits, name)
        return 1

    def entry(self, expected, given, exhaustive):
        """The case's JSON with what it leaves open filled in by the oracle."""
        violated = given.get("verdict") == "violated"
        size = expected.cone.statistics(expected.violation_level if violated and not exhaustive else None)
        filled = {"name": expected.prop.name, "kind": expected.prop.kind, "how": "observed" if expected.observed else "predicted",
                  "monitorable": expected.prop.monitorable(), "order": "access", "relevant": len(expected.events), **size,
                  "window": expected.window or "all", "lookahead": expected.lookahead or "all",
                  "complete": expected.cone.complete, "message": "some"}
        filled.update(given)
        if "witness" in given and "observed" not in given:
            filled["observed"] = sorted(given["witness"], key=lambda e: expected._find(e, []) or 0)
        return filled


if __name__ == "__main__":
    unittest.main()
