"""Random SML programs that have an exact counterpart in C, and that counterpart.

A step of C reads or writes one variable, so assignments here do one of both, guards read at most one variable, and what is written
is a number nobody knows (rand()). A lock is only released by who took it.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import random_sml  # noqa: E402


class Maker(random_sml.Maker):
    """Programs of single accesses."""

    def __init__(self, rng):
        super().__init__(rng)
        self.careless = False

    def assign(self):
        name = self.rng.choice(self.globals)
        self.line(self.rng.choice((f"t := {name}", f"{name} := t")))
        return 1

    def guard(self):
        return self.rng.choice(("true", "t = 1", *(f"{g} != 1" for g in self.globals)))


HEAD = """#include <pthread.h>
#include <stdlib.h>
#include "portent.h"
"""
LINES = (
    (r"while \((.*)\) \{", r"while (\1) {"),
    (r"if \((.*)\) \{", r"if (\1) {"),
    (r"\} else \{", "} else {"),
    (r"\};?", "}"),
    (r"skip", ";"),
    (r"acquire\((\w)\);?", r"pthread_mutex_lock(&\1);"),
    (r"release\((\w)\);?", r"pthread_mutex_unlock(&\1);"),
    (r"(\w) := (\w);?", r"\1 = \2;"),
)


def to_c(text):
    """The C program, and the names of its blocks as {(thread, number): name}."""
    lines = [line.strip() for line in text.splitlines()]
    declared = {word: re.findall(r"\w+", line)[1:] for line in lines for word in ("int", "lock") if line.startswith(word + " ")}
    out = [HEAD] + [f"static int {g};" for g in declared["int"]]
    out += [f"static pthread_mutex_t {l} = PTHREAD_MUTEX_INITIALIZER;" for l in declared.get("lock", ())]
    names, thread, number, opened = {}, -1, 0, []

    def start():
        nonlocal thread, number
        thread, number = thread + 1, 0
        out.append(f"static void *run{thread}(void *arg)\n{{\n    int t = rand();")

    body = [line for line in lines if line and not re.match(r"int |lock ", line)]
    named = body[0].startswith("thread")
    if not named:
        start()
    depth = 0
    for line in body:
        if line == "|| null":
            continue
        if line.startswith("thread") and depth == 0:
            start()
            depth = 1
            continue
        if line == "||":
            out.append("    return arg;\n}")
            start()
            continue
        depth += line.count("{") - line.count("}")
        if named and depth == 0:
            out.append("    return arg;\n}")
            continue
        if line.startswith("begin"):
            number += 1
            names[thread + 1, number] = f"b{thread}_{number}"
            opened.append(names[thread + 1, number])
            out.append(f'portent_begin("{opened[-1]}");')
        elif re.fullmatch("end;?", line):
            out.append(f'portent_end("{opened.pop()}");')
        else:
            for pattern, replacement in LINES:
                if re.fullmatch(pattern, line):
                    line = re.sub(pattern, replacement, line)
                    break
            else:
                raise ValueError(line)
            out.append(line.replace("(true)", "(rand())").replace("t = 1)", "t == 1)"))
    if not named:
        out.append("    return arg;\n}")
    out.append("int main(void)\n{\n    pthread_t t[8];")
    out += [f"    {g} = rand();" for g in declared["int"]]  # or it would be a known number
    out += [f"    pthread_create(&t[{k}], NULL, run{k}, NULL);" for k in range(thread + 1)]
    return "\n".join(out) + "\n    return 0;\n}\n", names


def pair(rng):
    """(SML, C, names of blocks)."""
    text = Maker(rng).text()
    return (text, *to_c(text))
