#!/usr/bin/env python3
"""Random SML programs through `portent model` and through two references: coloured.py and definition3.py.

    run_model.py [PORTENT] [--cases N] [--seed S] [--only I]

Case number i of seed S is made from the seed "S/i" alone. Without PORTENT the references are compared with each other. The last
line is `model: N passed, M failed`; a failing program stays in a temporary folder whose path is printed.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import coloured, definition3, random_sml, sml  # noqa: E402

MARKINGS, EVENTS, TRACES = 20000, 14, 600  # bounds of the references


def within(size, bound):
    """A size as the bounded reference can know it."""
    return size if size is not None and size <= bound else None


class Case:
    """One program and what the references say of it."""

    def __init__(self, text):
        self.text = text
        self.program = sml.Program(text)
        self.net = sml.Net(self.program)
        self.blocks, self.unsafe = coloured.search(self.net, MARKINGS)
        self.traces, self.unsafe_trace, self.bound = definition3.search(self.net, EVENTS, TRACES)

    def references(self):
        """Complaints where the two references differ, sizes of the smallest violations included."""
        if within(self.unsafe, self.bound) != self.unsafe_trace:
            return [f"unsafe release: coloured markings say {self.unsafe}, traces up to {self.bound}: {self.unsafe_trace}"]
        if self.unsafe is not None:
            return []  # without 1-safety tokens and neighbourhoods are different orders
        return [f"block {block}: coloured markings say {self.blocks[block]}, traces up to {self.bound}: {size}"
                for block, size in self.traces.items() if within(self.blocks[block], self.bound) != size]

    def status(self):
        """The exit status that is due."""
        if self.unsafe is not None:
            return 2
        return 1 if any(size is not None for size in self.blocks.values()) else 0

    def compare(self, status, out, err):
        """Complaints about one answer of the tool."""
        if status != self.status():
            return [f"exit {status}, expected {self.status()}: {err[:300]}"]
        if status == 2:
            lines = {str(e.line) for e in self.program.edges if e.kind == "release"}
            place = re.match(r"[^:]*:(\d+):\d+: ", err)
            return [] if place and place[1] in lines else [f"no place of a release in: {err[:200]!r}"]
        try:
            got = json.loads(out)["blocks"]
        except (ValueError, KeyError):
            return [f"no JSON with blocks: {out[:200]!r}"]
        want = [(b.thread + 1, b.number, b.line, self.blocks[b.thread, b.number] is None) for b in self.program.blocks]
        have = [(b.get("thread"), b.get("block"), b.get("line"), b.get("causally_atomic")) for b in got]
        wrong = [] if have == want else [f"(thread, block, line, atomic): {have}, expected {want}"]
        for block in got:
            wrong += [f"block {block.get('thread')}.{block.get('block')}: {w}" for w in self.check_witness(block)]
        return wrong

    def check_witness(self, block):
        """Complaints about a witness: it has to be a run of the net that Definition 3 refutes the block with."""
        witness = block.get("witness")
        if block.get("causally_atomic") or not witness:
            return [] if bool(witness) != block.get("causally_atomic") else ["a witness is due exactly when it is not atomic"]
        traces = [definition3.start(self.net)]
        for event in witness:
            traces = [longer for trace in traces for longer in self.step(trace, event)]
        if not traces:
            return ["the witness is no run of the program"]
        thread = block["thread"] - 1
        if not any((thread, block["block"]) in definition3.violated(self.net, trace, thread) for trace in traces):
            return ["the witness does not refute the block"]
        wrong = []
        if [e["role"] for e in witness if e["role"] != "other"] != ["begin", "foreign", "later"] or witness[-1]["role"] != "later":
            wrong.append("roles are not begin, foreign, later")
        return wrong

    def step(self, trace, event):
        """The traces after one event of a witness: several where steps of one line look the same."""
        thread = event["thread"] - 1
        for number in self.net.leaving.get((thread, trace.nodes[thread]), ()):
            edge, before, after = self.net.transitions[number]
            kind = "step" if edge.kind == "plain" else edge.kind
            if (kind, edge.line) == (event["op"], event["line"]) and trace.marked.issuperset(before):
                yield definition3.extend(self.net, trace, number, trace.marked - frozenset(before) | frozenset(after))


def ask(portent, case, path, options):
    """Complaints about the tool on one case."""
    done = subprocess.run([portent, "model", "--json", *options, path.name], cwd=path.parent, capture_output=True, timeout=300,
                          check=False)
    wrong = case.compare(done.returncode, done.stdout.decode(), done.stderr.decode())
    return [f"{' '.join(options)} {path.name}: {w}".strip() for w in wrong]


def deadlocks(net):
    """Whether some reachable state has no step and a thread with steps left: all nodes and locks, state by state."""
    first = (tuple(net.program.starts), frozenset(net.lock.values()))
    seen, todo = {first}, [first]
    while todo:
        nodes, locks = todo.pop()
        moved = waits = False
        for thread, node in enumerate(nodes):
            for number in net.leaving.get((thread, node), ()):
                edge, waits = net.transitions[number][0], True
                lock = net.lock.get(edge.obj)
                if edge.kind == "acquire" and lock not in locks:
                    continue
                moved = True
                free = locks - {lock} if edge.kind == "acquire" else locks | {lock} if edge.kind == "release" else locks
                state = (nodes[:thread] + (edge.target,) + nodes[thread + 1:], free)
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        if waits and not moved:
            return True
    return False


def ask_deadlock(portent, case, path):
    """Complaints about --deadlock."""
    done = subprocess.run([portent, "model", "--json", "--deadlock", path.name], cwd=path.parent, capture_output=True, timeout=300,
                          check=False)
    want = 2 if case.unsafe is not None else int(deadlocks(case.net))
    if done.returncode != want:
        return [f"--deadlock {path.name}: exit {done.returncode}, expected {want}"]
    if want != 2 and json.loads(done.stdout)["deadlock"] != bool(want):
        return [f"--deadlock {path.name}: its JSON says otherwise"]
    return []


def crowd(text):
    """The same program among threads that do nothing: from 16 different ones on plain violations are looked for first."""
    idle = ["skip; " * n + "skip" for n in range(16)]
    if re.search(r"^\s*thread\b", text, re.M):
        return text + "".join(f"\nthread {{ {body} }}" for body in idle) + "\n"
    return re.sub(r"(\|\|)?\s*(null)?\s*$", "", text) + "".join(f"\n|| {body}" for body in idle) + "\n"


def draw(seed):
    """A random program of the references' size."""
    rng = random.Random(seed)
    while True:
        try:
            return Case(random_sml.program(rng))
        except coloured.TooLarge:
            pass


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent", nargs="?")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", type=int, default=None, help="run just this case of the seed")
    parser.add_argument("--keep", type=Path, default=None, help="folder for failing programs (default: a temporary one)")
    return parser.parse_args()


def main():
    """Runs all cases."""
    opts = options()
    seed = random.SystemRandom().randrange(10**9) if opts.seed is None else opts.seed
    print(f"model: seed {seed}", flush=True)
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(opts.cases) if opts.only is None else [opts.only]:
            case = draw(f"{seed}/{number}")
            path = Path(folder) / f"model-{seed}-{number}.sml"
            path.write_text(case.text)
            wrong = case.references()
            if opts.portent and not wrong:
                portent = str(Path(opts.portent).resolve())
                try:
                    wrong = ask(portent, case, path, [])
                    if number % 4 == 0:
                        wrong += ask(portent, case, path, ["--plain"])
                    if number % 4 >= 2:
                        wrong += ask(portent, case, path, ["--contextual"])
                    if number % 4 == 1:
                        wrong += ask_deadlock(portent, case, path)
                    if number % 4 != 0:
                        path.write_text(crowd(case.text))
                        wrong += [f"among many threads: {w}" for w in ask(portent, case, path, [])]
                except subprocess.TimeoutExpired as late:
                    wrong = [f"no answer after {late.timeout} s: {late.cmd}"]
            path.unlink()
            if not wrong:
                passed += 1
                continue
            failed += 1
            keep = (opts.keep or Path(tempfile.mkdtemp(prefix="portent-model-"))) / path.name
            keep.write_text(case.text)
            keep.with_suffix(".txt").write_text("\n".join(wrong) + "\n")
            print(f"case {number} of seed {seed} failed: {keep}")
            for complaint in wrong[:6]:
                print(f"  {complaint}")
            if failed >= 20:
                print("too many failures, stopping")
                break
    print(f"model: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
