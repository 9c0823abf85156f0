"""Random SML programs, small enough for brute force. Everything is drawn from one random.Random."""


class Maker:
    """One program; `rng` decides everything."""

    def __init__(self, rng):
        self.rng = rng
        self.globals = ["X", "Y", "Z"][:rng.choice((1, 1, 2, 2, 3))]
        self.locks = ["l", "m"][:rng.choice((0, 1, 1, 2))]
        self.careless = rng.random() < 0.08   # now and then a lock is released by whoever likes
        self.loops = rng.random() < 0.5
        self.out, self.depth = [], 0

    def text(self):
        """The whole program, in one of the two forms."""
        rng = self.rng
        threads = rng.choices((2, 3, 4), (5, 4, 1))[0]
        size = {2: 7, 3: 4, 4: 3}[threads]
        named = rng.random() < 0.5
        self.out = [f"int {', '.join(self.globals)}" + rng.choice(("", ";"))]
        if self.locks:
            self.out.append(f"lock {', '.join(self.locks)};")
        chosen = rng.randrange(threads)  # has a block for sure
        for number in range(threads):
            if named:
                self.out.append("thread" + rng.choice(("", f" t{number}")) + " {")
            elif number:
                self.out.append("||")
            self.depth = 1
            if rng.random() < 0.3 and self.loops:
                self.line("while (true) {")
                self.body(rng.randint(1, size), number == chosen, True)
                self.line("}")
            else:
                self.body(rng.randint(1, size), number == chosen, True)
            if named:
                self.out.append("}")
        if not named and rng.random() < 0.2:
            self.out.append("|| null")
        return "\n".join(self.out) + "\n"

    def line(self, text):
        self.out.append("  " * self.depth + text)

    def body(self, size, block, may_block):
        """Statements of about the given number; at least one block if asked for."""
        rng = self.rng
        before = rng.randint(0, max(0, size // 3)) if block else size
        for _ in range(before):
            size -= self.statement(size, may_block)
            if size <= 0 and not block:
                return
        if block:
            self.block(max(2, size))
            if rng.random() < 0.4:
                self.statement(1, False)

    def block(self, size):
        rng = self.rng
        self.line("begin" + rng.choice(("", "", " : B")))
        self.inner(size, rng.random() < 0.25)
        self.line("end" + rng.choice(("", ";")))

    def inner(self, size, may_block):
        """A non-empty sequence one level deeper."""
        self.depth += 1
        left = max(1, size)
        while left > 0:
            left -= self.statement(left, may_block)
        self.depth -= 1

    def statement(self, size, may_block):
        """One statement; returns about how many edges it took."""
        rng = self.rng
        kinds = [("assign", 10), ("skip", 1)]
        if self.locks:
            kinds += [("locked", 6 if size > 2 else 0), ("wild", 3 if self.careless else 0), ("take", 0.3)]
        if size > 1:
            kinds += [("if", 3), ("while", 3 if self.loops else 0), ("block", 3 if may_block else 0)]
        kind = rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]
        if kind == "assign":
            return self.assign()
        if kind == "skip":
            self.line("skip")
            return 1
        if kind == "locked":
            return self.locked(size, may_block)
        if kind in ("wild", "take"):
            verb = "acquire" if kind == "take" else rng.choice(("acquire", "release"))
            self.line(f"{verb}({rng.choice(self.locks)})" + rng.choice(("", ";")))
            return 1
        if kind == "block":
            self.block(size - 1)
            return size
        inside = rng.randint(1, size - 1)
        self.line(f"{kind} ({self.guard()}) {{")
        self.inner(inside, may_block)
        if kind == "if" and rng.random() < 0.5:
            self.line("} else {")
            self.inner(1, False)
            inside += 1
        self.line("}" + rng.choice(("", ";")))
        return inside + 1

    def locked(self, size, may_block):
        lock = self.rng.choice(self.locks)
        self.line(f"acquire({lock});")
        inside = self.rng.randint(1, max(1, size - 2))
        self.inner(inside, may_block)
        self.line(f"release({lock});")
        return inside + 2

    def assign(self):
        target = self.rng.choice(self.globals + ["t"])
        self.line(f"{target} := {self.expression()}" + self.rng.choice(("", ";")))
        return 1

    def expression(self):
        rng = self.rng
        leaf = lambda: rng.choice(self.globals + ["t", "1", "2"])
        return rng.choice((leaf, leaf, lambda: f"{leaf()} + {leaf()}", lambda: f"({leaf()} - {leaf()}) * 2",
                           lambda: f"-{leaf()} / 2"))()

    def guard(self):
        rng = self.rng
        leaf = lambda: rng.choice(("true", "t = 1", *(f"{g} {rng.choice(('<', '<=', '>', '>=', '=', '==', '!='))} 1"
                                                      for g in self.globals)))
        return rng.choice((leaf, leaf, leaf, lambda: f"{leaf()} or {leaf()}", lambda: f"{leaf()} || {leaf()}",
                           lambda: f"!({leaf()}) and {leaf()}", lambda: f"(t + 1) < 3 and ({leaf()})"))()


def program(rng):
    """The text of a random program."""
    return Maker(rng).text()
