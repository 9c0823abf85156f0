"""Properties as nested tuples: parser, printer, and the values of atoms (contract, section 2).

Expressions:  ("num", v) ("str", s) ("bool", b) ("var", x) ("neg", e) and ("+", a, b), likewise - * / %.
Atoms:        ("cmp", op, a, b) ("bare", e) ("event", name).
Formulas:     ("true",) ("false",) not and or imp iff; past prev once hist since start end ival ivalw;
              future always ev next until wuntil release.
EREs:         ("letter", f) alt inter cat compl star plus opt ("rep", r, n, m or None) ("empty",) ("eps",).
"""

import math
import re
from functools import lru_cache

from .trace import UNKNOWN, parse_value

ATOMS = {"cmp", "bare", "event"}
PAST = frozenset({"prev", "once", "hist", "since", "start", "end", "ival", "ivalw"})
FUTURE = frozenset({"always", "ev", "next", "until", "wuntil", "release"})
EXPRESSION = {"num", "str", "bool", "var", "neg", "+", "-", "*", "/", "%"}

_WORDS = {"always": "always", "G": "always", "eventually": "ev", "F": "ev", "next": "next", "X": "next", "previously": "prev",
          "Y": "prev", "once": "once", "O": "once", "historically": "hist", "H": "hist", "[]": "always", "<>": "ev"}
_INFIX = {"since": "since", "S": "since", "until": "until", "U": "until", "weakuntil": "wuntil", "W": "wuntil",
          "release": "release", "R": "release", "V": "release"}
_SPELL = {"always": "always", "ev": "eventually", "next": "next", "prev": "previously", "once": "once", "hist": "historically",
          "since": "since", "until": "until", "wuntil": "weakuntil", "release": "release"}


class PropertyError(Exception):
    """The text is not a property, or one this oracle does not cover."""


class EvalError(Exception):
    """Division by zero, overflow, or an unknown value."""


# ---------------------------------------------------------------- structure

def children(f):
    """The direct subformulas (or subexpressions) of a tuple."""
    return [g for g in f[1:] if isinstance(g, tuple)]


def subformulas(f):
    """All subformulas, children first, atoms not entered, each once."""
    seen = {}

    def walk(g):
        if g[0] not in ATOMS:
            for h in children(g):
                walk(h)
        seen.setdefault(g)

    walk(f)
    return list(seen)


def atoms(f):
    """The atoms of a formula or ERE in order of appearance."""
    return [g for g in subformulas(f) if g[0] in ATOMS]


@lru_cache(maxsize=None)
def has(f, kinds):
    """Whether an operator of the given kinds occurs in f."""
    return any(g[0] in kinds for g in subformulas(f))


def names(f):
    """(variables, user events) named in f."""
    variables, events = set(), set()

    def walk(g):
        if g[0] == "var":
            variables.add(g[1])
        elif g[0] == "event":
            events.add(g[1])
        for h in children(g):
            walk(h)

    walk(f)
    return variables, events


# ---------------------------------------------------------------- values

def evaluate(e, state):
    """The value of an expression in a map from variables to values (absent: 0)."""
    kind = e[0]
    if kind in ("num", "str", "bool"):
        return e[1]
    if kind == "var":
        value = state.get(e[1], 0)
        if value is UNKNOWN:
            raise EvalError(f"value of {e[1]} unknown")
        return value
    if kind == "neg":
        return _fit(-evaluate(e[1], state), 0, 0)
    a, b = evaluate(e[1], state), evaluate(e[2], state)
    if kind == "+":
        return _fit(a + b, a, b)
    if kind == "-":
        return _fit(a - b, a, b)
    if kind == "*":
        return _fit(a * b, a, b)
    if b == 0:
        raise EvalError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return a / b if kind == "/" else math.fmod(a, b)
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return _fit(quotient if kind == "/" else a - b * quotient, a, b)


def _fit(v, *operands):
    """64 bits: signed, unless an operand lies above the signed range."""
    top = 2**64 if any(o >= 2**63 for o in operands) else 2**63
    if isinstance(v, int) and not -2**63 <= v < top:
        raise EvalError("overflow")
    return v


def atom_value(atom, state, happened):
    """An atom's truth, or None where its evaluation fails; `happened` is the user event that made the state."""
    if atom[0] == "event":
        return happened == atom[1]
    try:
        if atom[0] == "bare":
            return evaluate(atom[1], state) != 0
        a, b = evaluate(atom[2], state), evaluate(atom[3], state)
    except EvalError:
        return None
    return {"==": a == b, "!=": a != b}[atom[1]] if atom[1] in ("==", "!=") else \
        {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[atom[1]]


def prop_value(f, letter):
    """A propositional formula under a letter (atom -> True, False, None), left to right, stopping when decided."""
    kind = f[0]
    if kind in ATOMS:
        if letter[f] is None:
            raise EvalError("undefined atom")
        return letter[f]
    if kind in ("true", "false"):
        return kind == "true"
    a = prop_value(f[1], letter)
    if kind == "not":
        return not a
    if kind == "and":
        return a and prop_value(f[2], letter)
    if kind == "or":
        return a or prop_value(f[2], letter)
    if kind == "imp":
        return (not a) or prop_value(f[2], letter)
    if kind == "iff":
        return a == prop_value(f[2], letter)
    raise PropertyError(f"{kind} is not propositional")


# ---------------------------------------------------------------- printing

_LEVEL = {"iff": 1, "imp": 2, "or": 3, "and": 4, "since": 5, "until": 5, "wuntil": 5, "release": 5, "not": 6, "always": 6,
          "ev": 6, "next": 6, "prev": 6, "once": 6, "hist": 6, "cmp": 7, "bare": 8, "+": 8, "-": 8, "*": 9, "/": 9, "%": 9,
          "neg": 10, "alt": 1, "inter": 2, "cat": 3, "compl": 4, "star": 5, "plus": 5, "opt": 5, "rep": 5}
_SIGN = {"iff": "<->", "imp": "->", "or": "||", "and": "&&"}


def show(f, least=0):
    """The source text of a formula or expression with the fewest parentheses the precedence allows."""
    kind = f[0]
    level = _level(f)
    if kind in ("true", "false"):
        text = kind
    elif kind in ("num", "bool"):
        text = {True: "true", False: "false"}[f[1]] if kind == "bool" else repr(f[1])
    elif kind == "str":
        text = '"' + f[1].replace("\\", "\\\\").replace('"', '\\"') + '"'
    elif kind == "var":
        text = f[1]
    elif kind == "event":
        text = f"event({f[1]})"
    elif kind == "bare":
        text = show(f[1], 8)
    elif kind == "cmp":
        text = f"{show(f[2], 8)} {f[1]} {show(f[3], 8)}"
    elif kind in ("+", "-", "*", "/", "%"):
        text = f"{show(f[1], level)} {kind} {show(f[2], level + 1)}"
    elif kind == "neg":
        text = f"-{show(f[1], 11)}"
    elif kind in ("start", "end"):
        text = f"{kind}({show(f[1])})"
    elif kind in ("ival", "ivalw"):
        text = f"[{show(f[1])}, {show(f[2])}){'w' if kind == 'ivalw' else ''}"
    elif kind == "not":
        text = f"!{show(f[1], 6)}"
    elif kind in ("and", "or", "iff"):
        text = f"{show(f[1], level)} {_SIGN[kind]} {show(f[2], level + 1)}"
    elif kind == "imp":
        text = f"{show(f[1], 3)} -> {show(f[2], 2)}"
    elif kind in _SPELL and level == 5:
        text = f"{show(f[1], 6)} {_SPELL[kind]} {show(f[2], 5)}"
    else:
        text = f"{_SPELL[kind]} {show(f[1], 6)}"
    return f"({text})" if level < least else text


def _level(f):
    return _level(f[1]) if f[0] == "bare" else _LEVEL.get(f[0], 11)


def show_ere(r, least=0):
    """The source text of an ERE."""
    kind = r[0]
    if kind == "letter":
        return f"[{show(r[1])}]"
    if kind in ("empty", "eps"):
        return {"empty": "empty", "eps": "epsilon"}[kind]
    level = _LEVEL[kind]
    if kind in ("alt", "inter", "cat"):
        text = f"{show_ere(r[1], level)}{ {'alt': ' | ', 'inter': ' & ', 'cat': ' '}[kind]}{show_ere(r[2], level + 1)}"
    elif kind == "compl":
        text = f"~{show_ere(r[1], 4)}"
    elif kind == "rep":
        bound = f"{r[2]}" if r[2] == r[3] else f"{r[2]}," + ("" if r[3] is None else f"{r[3]}")
        text = f"{show_ere(r[1], 5)}{{{bound}}}"
    else:
        text = show_ere(r[1], 5) + {"star": "*", "plus": "+", "opt": "?"}[kind]
    return f"({text})" if level < least else text


# ---------------------------------------------------------------- parsing

_TOKEN = re.compile(r"""\s+|//[^\n]*|/\*.*?\*/|(?P<tok>
    \d+\.\d*(?:[eE][-+]?\d+)?|\d+|"(?:\\.|[^"\\])*"|[A-Za-z_]\w*(?:\[\d+\]|\.\w+|::\w+)*
    |<->|->|\|\||&&|==|!=|<=|>=|\[\]|<>|[-+*/%<>!()\[\]{},;:=|&~?@.])""", re.S | re.X)


class Parser:
    """Recursive descent over one .prop file, for what this oracle covers (no mttl, within, hoa, var)."""

    def __init__(self, text):
        self.toks, at = [], 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if not match:
                raise PropertyError(f"character {text[at]!r}")
            at = match.end()
            if match.group("tok"):
                self.toks.append(match.group("tok"))
        self.toks.append("")
        self.at, self.lets = 0, {}

    def peek(self, *options):
        return self.toks[self.at] in options

    def take(self, *options):
        if options and not self.peek(*options):
            raise PropertyError(f"{self.toks[self.at]!r} where {options} was expected")
        self.at += 1
        return self.toks[self.at - 1]

    def accept(self, *options):
        return self.take() if self.peek(*options) else None

    def file(self):
        """[(name, kind, formula or ERE)] of the file."""
        found = []
        while not self.peek(""):
            word = self.take("let", "property")
            name = self.take()
            if word == "let":
                self.take("=")
                self.lets[name] = self.formula()
            else:
                self.take(":")
                found.append((name, "ere", self.alt()) if self.accept("never") else (name, "ltl", self.truth()))
            self.take(";")
        return found

    def truth(self):
        f = self.formula()
        return _truth(f)

    def formula(self):
        return self.left(("<->",), "iff", self.implication)

    def left(self, signs, kind, below):
        f = below()
        while self.accept(*signs):
            f = (kind, _truth(f), _truth(below()))
        return f

    def implication(self):
        f = self.left(("||",), "or", lambda: self.left(("&&",), "and", self.temporal))
        return ("imp", _truth(f), _truth(self.implication())) if self.accept("->") else f

    def temporal(self):
        f = self.unary()
        if self.peek(*_INFIX):
            return (_INFIX[self.take()], _truth(f), _truth(self.temporal()))
        return f

    def unary(self):
        if self.accept("!"):
            return ("not", _truth(self.unary()))
        if self.peek(*_WORDS):
            return (_WORDS[self.take()], _truth(self.unary()))
        f = self.sum()
        if self.peek("==", "!=", "<", "<=", ">", ">="):
            return ("cmp", self.take(), _number(f), _number(self.sum()))
        return f

    def sum(self):
        f = self.product()
        while self.peek("+", "-"):
            f = (self.take(), f, self.product())
        return f

    def product(self):
        f = self.factor()
        while self.peek("*", "/", "%"):
            f = (self.take(), f, self.factor())
        return f

    def factor(self):
        if self.accept("-"):
            return ("neg", self.factor())
        return self.primary()

    def primary(self):
        tok = self.take()
        if tok == "(":
            f = self.formula()
            self.take(")")
            return f
        if tok == "[":
            f = self.truth()
            self.take(",")
            g = self.truth()
            self.take(")")
            return ("ivalw" if self.accept("w") else "ival", f, g)
        if tok in ("start", "end", "event") and self.accept("("):
            f = ("event", self.take().strip('"')) if tok == "event" else (tok, self.truth())
            self.take(")")
            return f
        if tok in ("true", "false"):
            return (tok,)
        if tok[:1].isdigit():
            return ("num", float(tok) if "." in tok else int(tok))
        if tok.startswith('"'):
            return ("str", parse_value(tok))
        if re.match(r"[A-Za-z_]", tok):
            return self.lets.get(tok, ("var", tok))
        raise PropertyError(f"unexpected {tok!r}")

    def alt(self):
        r = self.inter()
        while self.accept("|"):
            r = ("alt", r, self.inter())
        return r

    def inter(self):
        r = self.cat()
        while self.accept("&"):
            r = ("inter", r, self.cat())
        return r

    def cat(self):
        r = self.compl()
        while self.peek("(", "[", "~", "empty", "epsilon"):
            r = ("cat", r, self.compl())
        return r

    def compl(self):
        return ("compl", self.compl()) if self.accept("~") else self.postfix()

    def postfix(self):
        tok = self.take("(", "[", "empty", "epsilon")
        if tok == "(":
            r = self.alt()
            self.take(")")
        elif tok == "[":
            r = ("letter", self.truth())
            self.take("]")
        else:
            r = ("empty",) if tok == "empty" else ("eps",)
        while self.peek("*", "+", "?", "{"):
            sign = self.take()
            if sign == "{":
                low = high = int(self.take())
                if self.accept(","):
                    high = None if self.peek("}") else int(self.take())
                self.take("}")
                r = ("rep", r, low, high)
            else:
                r = ({"*": "star", "+": "plus", "?": "opt"}[sign], r)
        return r


def _number(f):
    return ("bool", f[0] == "true") if f[0] in ("true", "false") else f


def _truth(f):
    return ("bare", f) if f[0] in EXPRESSION else f


def parse(text):
    """[(name, kind, formula or ERE)] of a .prop file."""
    return Parser(text).file()
