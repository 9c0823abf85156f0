"""SML programs (contract, section 9) as the transitions of the paper's Petri net, for the two references of `model`.

A program is threads of edges between nodes. `Net` makes each edge a transition: the tokens it consumes and the tokens it
produces, by the paper's Fig. 4: one place per lock, n places per global variable (a read takes the reader's own, a write takes
all), one control place per node. Control places are implied by the node a thread stands in; `control(i)` is the token.
"""

import re
from collections import namedtuple

TOKEN = re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*.*?\*/|(?P<t>:=|<=|>=|==|!=|\|\||[A-Za-z_]\w*|\d+|[-+*/<>=!(){};,:])", re.S)
KEYWORDS = {"int", "lock", "thread", "null", "skip", "acquire", "release", "while", "if", "else", "begin", "end", "true",
            "false", "or", "and"}

# kind: plain, acquire, release, begin, end. obj: lock name or block number of the thread.
Edge = namedtuple("Edge", "thread kind source target reads writes obj line text")
Block = namedtuple("Block", "thread number line name")


class SmlError(Exception):
    """Not a program."""


class Program:
    """A parsed program: edges of all threads, start nodes, blocks in source order."""

    def __init__(self, text):
        self.tokens, self.lines = [], []
        line, at = 1, 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise SmlError(f"line {line}: {text[at]!r}")
            if match["t"]:
                self.tokens.append(match["t"])
                self.lines.append(line)
            line += match[0].count("\n")
            at = match.end()
        self.at = 0
        self.globals, self.locks = [], []
        self.edges, self.blocks, self.starts, self.names = [], [], [], []
        self.nodes = 0
        self.program()

    # ------------------------------------------------------------ tokens

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def line(self):
        return self.lines[min(self.at, len(self.lines) - 1)] if self.lines else 1

    def take(self, wanted=None):
        token = self.peek()
        if not token or wanted is not None and token != wanted:
            raise SmlError(f"line {self.line()}: expected {wanted!r}, found {token!r}")
        self.at += 1
        return token

    def accept(self, wanted):
        if self.peek() == wanted:
            self.at += 1
            return True
        return False

    def name(self):
        token = self.take()
        if not re.match(r"[A-Za-z_]", token) or token in KEYWORDS:
            raise SmlError(f"line {self.line()}: expected a name, found {token!r}")
        return token

    # ------------------------------------------------------------ structure

    def program(self):
        while self.peek() in ("int", "lock"):
            names = self.globals if self.take() == "int" else self.locks
            names.append(self.name())
            while self.accept(","):
                names.append(self.name())
            self.accept(";")
        if self.peek() == "thread":
            while self.accept("thread"):
                name = None if self.peek() == "{" else self.name()
                self.take("{")
                self.thread(self.stmts(("}",)), name)
                self.take("}")
        else:
            while True:
                if self.accept("null") or not self.peek():
                    break
                self.thread(self.stmts(("||",)), None)
                if not self.accept("||"):
                    break
        if self.at != len(self.tokens):
            raise SmlError(f"line {self.line()}: {self.peek()!r} after the program")

    def thread(self, body, name):
        """Edges of one thread."""
        self.number, self.block_count = len(self.starts), 0
        self.names.append(name or f"thread {self.number + 1}")
        start, stop = self.node(), self.node()
        self.starts.append(start)
        if body:
            self.sequence(body, start, stop)

    def node(self):
        self.nodes += 1
        return self.nodes - 1

    def stmts(self, closers):
        found = []
        while True:
            while self.accept(";"):
                pass
            if not self.peek() or self.peek() in closers:
                return found
            found.append(self.stmt())

    def stmt(self):
        line, token = self.line(), self.peek()
        if token == "skip":
            self.take()
            return ("skip", line)
        if token in ("acquire", "release"):
            self.take()
            self.take("(")
            lock = self.name()
            self.take(")")
            if lock not in self.locks:
                raise SmlError(f"line {line}: {lock!r} is no lock")
            return (token, line, lock)
        if token == "while":
            self.take()
            return ("while", line, self.guard(), self.braced())
        if token == "if":
            self.take()
            guard, then = self.guard(), self.braced()
            return ("if", line, guard, then, self.braced() if self.accept("else") else [])
        if token == "begin":
            self.take()
            name = self.name() if self.accept(":") else None
            body, last = self.stmts(("end",)), self.line()
            self.take("end")
            return ("block", line, name, body, last)
        target = self.name()
        self.take(":=")
        return ("assign", line, target, self.sum())

    def braced(self):
        self.take("{")
        body = self.stmts(("}",))
        self.take("}")
        return body

    def guard(self):
        self.take("(")
        names = self.disjunction()
        self.take(")")
        return names

    # Expressions and guards are the set of names in them. A parenthesis in a guard may hold either.

    def disjunction(self):
        names = self.conjunction()
        while self.peek() in ("or", "||"):
            self.take()
            names = names | self.conjunction()
        return names

    def conjunction(self):
        names = self.literal()
        while self.accept("and"):
            names = names | self.literal()
        return names

    def literal(self):
        if self.accept("!"):
            return self.literal()
        if self.peek() in ("true", "false"):
            self.take()
            return frozenset()
        back = self.at
        if self.accept("("):
            try:
                names = self.disjunction()
                self.take(")")
                if self.peek() in ("or", "||", "and", ")"):
                    return names
            except SmlError:
                pass
            self.at = back
        names = self.sum()
        if self.peek() not in ("<", "<=", ">", ">=", "=", "==", "!="):
            raise SmlError(f"line {self.line()}: expected a comparison, found {self.peek()!r}")
        self.take()
        return names | self.sum()

    def sum(self):
        names = self.product()
        while self.peek() in ("+", "-"):
            self.take()
            names = names | self.product()
        return names

    def product(self):
        names = self.factor()
        while self.peek() in ("*", "/"):
            self.take()
            names = names | self.factor()
        return names

    def factor(self):
        if self.accept("-"):
            return self.factor()
        if self.accept("("):
            names = self.sum()
            self.take(")")
            return names
        if self.peek().isdigit():
            self.take()
            return frozenset()
        return frozenset((self.name(),))

    # ------------------------------------------------------------ edges

    def edge(self, kind, source, target, line, text, reads=frozenset(), writes=frozenset(), obj=None):
        shared = frozenset(self.globals)
        self.edges.append(Edge(self.number, kind, source, target, reads & shared - writes, writes & shared, obj, line, text))

    def sequence(self, body, source, target):
        """Edges of the statements from one node to another; an empty body must not get here."""
        for k, stmt in enumerate(body):
            after = target if k + 1 == len(body) else self.node()
            self.statement(stmt, source, after)
            source = after

    def branch(self, line, guard, text, body, source, target):
        """One outcome of a guard, then the body."""
        after = self.node() if body else target
        self.edge("plain", source, after, line, text, guard)
        if body:
            self.sequence(body, after, target)

    def statement(self, stmt, source, target):
        kind, line = stmt[:2]
        if kind == "skip":
            self.edge("plain", source, target, line, "skip")
        elif kind == "assign":
            self.edge("plain", source, target, line, f"{stmt[2]} := ...", stmt[3], frozenset((stmt[2],)))
        elif kind in ("acquire", "release"):
            self.edge(kind, source, target, line, f"{kind}({stmt[2]})", obj=stmt[2])
        elif kind == "if":
            self.branch(line, stmt[2], "if: true", stmt[3], source, target)
            self.branch(line, stmt[2], "if: false", stmt[4], source, target)
        elif kind == "while":
            self.branch(line, stmt[2], "while: true", stmt[3], source, source)
            self.branch(line, stmt[2], "while: false", [], source, target)
        else:
            self.block_count += 1
            number = self.block_count
            self.blocks.append(Block(self.number, number, line, stmt[2]))
            inside = self.node()
            self.edge("begin", source, inside, line, "begin", obj=number)
            last = self.node() if stmt[3] else inside
            if stmt[3]:
                self.sequence(stmt[3], inside, last)
            self.edge("end", last, target, stmt[4], "end", obj=number)


class Net:
    """The transitions of a program, with tokens numbered: control tokens of threads, then locks, then copies of variables."""

    def __init__(self, program):
        self.program = program
        n = self.threads = len(program.starts)
        self.lock = {name: n + k for k, name in enumerate(program.locks)}
        self.copy = {name: [n + len(self.lock) + k * n + i for i in range(n)] for k, name in enumerate(program.globals)}
        self.tokens = n + len(self.lock) + n * len(self.copy)
        self.leaving = {}  # (thread, node) -> transitions
        self.transitions = []
        for edge in program.edges:
            self.add(edge)
        around = [frozenset(before + after) for _, before, after in self.transitions]
        self.dependent = [[bool(a & b) for b in around] for a in around]  # neighbourhoods that meet

    def add(self, edge):
        i = edge.thread
        shared = [self.copy[v][i] for v in sorted(edge.reads)]
        for v in sorted(edge.writes):
            shared += self.copy[v]
        before = [i] + shared + ([self.lock[edge.obj]] if edge.kind == "acquire" else [])
        after = [i] + shared + ([self.lock[edge.obj]] if edge.kind == "release" else [])
        self.leaving.setdefault((i, edge.source), []).append(len(self.transitions))
        self.transitions.append((edge, tuple(before), tuple(after)))
