"""Random C programs full of stores that an optimiser would like to delete, merge or move, and every write they must be seen to do.

`program(rng, count)` makes one program of so many functions and runs it: what it returns beside the text is the list of its writes, in order, as
(line, variable, value). All values are small, so that no type's limits matter.
"""
BITS = {"bits.p": 7, "bits.q": 31}
SCALARS = ["a", "b", "unread", "wide", "small", "vol", "relaxed", "real", "s.m", "s.n", "s.c", *BITS]
ELEMENTS = [f"arr[{i}]" for i in range(4)]
WATCHED = [*SCALARS, *ELEMENTS, "keep::fs"]
POINTED = ["a", "b", "s.m", "arr[1]", "arr[3]"]
LIMIT = 63

HEAD = """#include <stdlib.h>
struct part { int m; short n; unsigned char c; };
int a, arr[4];
static int b, unread;
long wide;
unsigned char small;
volatile int vol;
_Atomic int relaxed;
double real;
struct part s, spare;
struct { unsigned p : 3, q : 5; } bits;
static inline void keep(int x) {
    static int fs;
    fs = x;
    fs = x + 1;
}
"""


class Maker:
    """The text so far, the memory, and the writes."""

    def __init__(self, rng):
        self.rng, self.lines = rng, HEAD.splitlines()
        self.keep_at = self.lines.index("    fs = x;") + 1
        self.memory = {name: 0 for name in WATCHED}
        self.spare = (0, 0, 0)
        self.writes = []

    def emit(self, text):
        self.lines.append(text)
        return len(self.lines)

    def write(self, line, name, value):
        if name in BITS:  # written together with its neighbours: counts when it changes
            value &= BITS[name]
            if value == self.memory[name]:
                return
        self.memory[name] = value
        self.writes.append((line, name, value))

    # A value is (text, what it is, given the locals).
    def value(self):
        number = self.rng.randrange(LIMIT + 1)
        kind = self.rng.randrange(6)
        if kind == 0:
            return "t", lambda local: local["t"]
        if kind == 1:
            return "i", lambda local: local["i"]
        if kind == 2:
            name = self.rng.choice(["a", "b", "wide", "small", "s.m", "bits.q", "arr[2]", "vol"])
            return f"({name} + {number}) & {LIMIT}", lambda local: (self.memory[name] + number) & LIMIT
        return str(number), lambda local: number

    def assign(self):
        name = self.rng.choice(SCALARS)
        text, value = self.value()
        if name != "unread" and self.rng.random() < .2:
            text, value = name, lambda local: self.memory[name]
        line = self.emit(f"{name} = {text};")
        return lambda local: self.write(line, name, value(local))

    def element(self):
        index, (text, value) = self.rng.choice("ti"), self.value()
        line = self.emit(f"arr[{index} & 3] = {text};")
        return lambda local: self.write(line, f"arr[{local[index] & 3}]", value(local))

    def through_pointer(self):
        text, value = self.value()
        line = self.emit(f"*p = {text};")
        return lambda local: self.write(line, local["p"], value(local))

    def local(self):
        text, value = self.value()
        self.emit(f"t = {text};")

        def step(local):
            local["t"] = value(local)
        return step

    def call(self):
        text, value = self.value()
        self.emit(f"keep({text});")

        def step(local):
            x = value(local)
            self.write(self.keep_at, "keep::fs", x)
            self.write(self.keep_at + 1, "keep::fs", x + 1)
        return step

    def copy(self):
        """Of a structure: from constants, from an unwatched global, or of locals."""
        kind, numbers = self.rng.randrange(3), [self.rng.randrange(LIMIT + 1) for _ in range(2)]
        inside = "t" if kind == 2 else str(numbers[0])
        if kind == 1:
            self.emit(f"spare = (struct part){{{numbers[1]}, {inside}, {numbers[0]}}};")
        line = self.emit("s = spare;" if kind == 1 else f"s = (struct part){{{numbers[1]}, {inside}, {numbers[0]}}};")

        def step(local):
            for name, value in zip(("s.m", "s.n", "s.c"), (numbers[1], local["t"] if kind == 2 else numbers[0], numbers[0])):
                self.write(line, name, value)
        return step

    def loop(self, depth):
        rounds = self.rng.randrange(1, 6)
        self.emit(f"for (int i = 0; i < {rounds}; i++) {{")
        body = self.block(depth + 1)
        self.emit("}")

        def step(local):
            outer = local["i"]
            for local["i"] in range(rounds):
                body(local)
            local["i"] = outer
        return step

    def branch(self, depth):
        text, value = self.value()
        self.emit(f"if (({text}) & 1) {{")
        yes = self.block(depth + 1)
        self.emit("} else {")
        no = self.block(depth + 1)
        self.emit("}")
        return lambda local: yes(local) if value(local) & 1 else no(local)

    def block(self, depth):
        steps = []
        for _ in range(self.rng.randrange(1, 7 - depth)):
            kinds = [self.assign] * 5 + [self.element, self.through_pointer, self.local, self.call, self.copy]
            nested = [self.loop, self.branch] if depth < 3 else []
            kind = self.rng.choice(kinds + nested)
            if kind in (self.loop, self.branch):
                steps.append(kind(depth))
            else:
                steps += [kind() for _ in range(self.rng.choice((1, 2, 2)))]  # neighbours are what matters

        def step(local):
            for one in steps:
                one(local)
        return step

    def function(self, number):
        self.emit(f"{self.rng.choice(('', 'static ', '__attribute__((noinline)) '))}void f{number}(int *p, int t, int i) {{")
        body = self.block(0)
        self.emit("}")
        return body


def program(rng, count):
    """(text, writes) of a program that ends with stores nobody reads."""
    maker = Maker(rng)
    bodies = [maker.function(number) for number in range(count)]
    maker.emit("int main(void) {")
    for number, body in enumerate(bodies):
        pointed, t = rng.choice(POINTED), rng.randrange(LIMIT + 1)
        maker.emit(f"f{number}(&{pointed}, {t}, 1);")
        body({"p": pointed, "t": t, "i": 1})
    for value in (1, 2):
        line = maker.emit(f"unread = {value};")
        maker.write(line, "unread", value)
    maker.emit("exit(0);\n}")
    return "\n".join(maker.lines) + "\n", maker.writes
