#!/usr/bin/env python3
"""`within` properties with random automata on random timed traces: the tool against within.py.

    run_within.py PORTENT [--cases N] [--seed S] [--only I]

A case is a trace with several properties, made from the seed "S/i" alone. Automata are explicit HOA files, with marks on
states or on edges, and those that the tool prints for formulas. The last line is `within: N passed, M failed`, counted
in properties; a failing case's files stay in a folder whose path is printed.
"""
import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import within  # noqa: E402

ATOMS = ("event(a)", "event(b)", "x > 1")
FORMULAS = (
    "always eventually event(a)",
    "always (event(a) -> next (!event(a) until event(b)))",
    "always (event(a) -> !event(b) && next (!event(a) until event(b))) && "
    "always (event(b) -> !event(a) && next (!event(b) until event(a)))",
    "eventually always x > 1",
    "always eventually event(a) && always eventually event(b)",
    "always (x > 1 -> eventually event(a))",
    "(event(a) until x > 1) || always event(b)",
    "always eventually (event(a) && next event(b))",
    "always (event(a) || event(b) || x > 1)",
    "x > 1 release !event(a)",
)


def random_label(rng, props):
    """(HOA text, function) of a random label."""
    if rng.random() < 0.25:
        return "t", lambda values: True
    terms = []
    for _ in range(rng.choice((1, 1, 2))):
        chosen = rng.sample(range(props), rng.randint(1, props))
        terms.append([(p, rng.random() < 0.5) for p in chosen])
    text = " | ".join(" & ".join(("" if wanted else "!") + str(p) for p, wanted in term) for term in terms)
    return text, lambda values: any(all(values[p] == wanted for p, wanted in term) for term in terms)


def random_automaton(rng, props):
    """(HOA text, automaton)."""
    count = rng.randint(1, 4)
    on_edges = rng.random() < 0.4
    marked = set() if on_edges else {s for s in range(count) if rng.random() < 0.45}
    start = rng.randrange(count)
    edges, body = [], []
    for state in range(count):
        body.append(f"State: {state}" + (" {0}" if state in marked else ""))
        for _ in range(rng.choice((1, 1, 2, 2, 3))):
            text, label = random_label(rng, props)
            target = rng.randrange(count)
            mark = on_edges and rng.random() < 0.4
            edges.append((state, label, target, mark))
            body.append(f"[{text}] {target}" + (" {0}" if mark else ""))
    names = " ".join(f'"p{i}"' for i in range(props))
    head = ["HOA: v1", f"States: {count}", f"Start: {start}", f"AP: {props} {names}", "Acceptance: 1 Inf(0)", "--BODY--"]
    return "\n".join(head + body + ["--END--", ""]), {"count": count, "starts": [start], "marked": marked, "edges": edges}


def parse_label(text):
    """A label as `automaton --hoa` prints it: t, or a sum of products."""
    terms = [] if text == "t" else [[(int(x.lstrip("!")), not x.startswith("!")) for x in term.split("&")]
                                    for term in text.replace(" ", "").split("|")]
    return lambda values: text == "t" or any(all(values[p] == wanted for p, wanted in term) for term in terms)


def parse_printed(text):
    """(automaton, names of its propositions) of what `portent automaton --hoa` prints."""
    aut = {"count": int(re.search(r"^States: (\d+)", text, re.M)[1]),
           "starts": [int(re.search(r"^Start: (\d+)", text, re.M)[1])], "marked": set(), "edges": []}
    names = re.findall(r'"([^"]*)"', re.search(r"^AP: .*$", text, re.M)[0])
    state = None
    for line in text.splitlines():
        head, edge = re.fullmatch(r"State: (\d+)( \{0\})?", line), re.fullmatch(r"\[(.*)\] (\d+)", line)
        if head:
            state = int(head[1])
            if head[2]:
                aut["marked"].add(state)
        elif edge:
            aut["edges"].append((state, parse_label(edge[1]), int(edge[2]), False))
    return aut, names


def random_line(rng, values):
    """(text of an event line without its time, letter), changing `values` of the variables."""
    kind = rng.choice(("a", "a", "a", "b", "b", "w", "w", "other"))
    thread = rng.choice(("T1", "T2"))
    if kind == "w":
        values["x"] = rng.randrange(4)
        return f"{thread}|w(x)={values['x']}|a:1", (False, False, values["x"] > 1)
    if kind == "other":
        op = rng.choice(("r(x)", "w(y)=1", "state(ready)", "contended(m)", "sync(s)", "event(c)", "int(x)=9", "begin(k)"))
        return f"{thread}|{op}|a:2", (False, False, values["x"] > 1)
    return f"{thread}|event({kind})|a:3", (kind == "a", kind == "b", values["x"] > 1)


class Case:
    """A trace, and properties with their automata."""

    def __init__(self, seed, automata):
        self.rng = rng = random.Random(seed)
        self.steps = []  # (time or None, letter or None)
        self.files = {"x.trace": self.trace()}
        self.props = []
        text = []
        for i in range(10):
            by_events = rng.random() < 0.4
            bound = rng.randint(1, 4) if by_events else rng.randint(1, 8)
            written = f"{bound} events" if by_events else f"{bound}ns"
            if rng.random() < 0.3:
                formula, aut, names = rng.choice(automata)
                text.append(f"property q{i} within {written}: {formula};")
                columns = [ATOMS.index(name) for name in names]
            else:
                props = rng.randint(1, 3)
                hoa, aut = random_automaton(rng, props)
                self.files[f"q{i}.hoa"] = hoa
                columns = rng.sample(range(3), props)
                bind = " ".join(f"p{k} = {ATOMS[c]};" for k, c in enumerate(columns))
                text.append(f'property q{i} within {written}: hoa "q{i}.hoa" {{ {bind} }};')
            self.props.append((aut, columns, bound, by_events))
        self.files["x.prop"] = "\n".join(text) + "\n"

    def trace(self):
        """The trace's text."""
        rng = self.rng
        values = {"x": rng.choice((0, 0, 2))}
        lines = [f"-|init(x)={values['x']}|-"] if values["x"] else []
        now, timed = rng.randrange(4), rng.random() < 0.9
        untimed_first = rng.choice((0, 0, 0, 2))
        for k in range(rng.randint(0, 9)):
            now += rng.choice((0, 0, 1, 1, 2, 3, 5))
            stamp = max(0, now - rng.choice((0, 0, 0, 0, 0, 0, 3)))
            has_time = timed and k >= untimed_first and rng.random() < 0.9
            if has_time and rng.random() < 0.15:
                lines.append(f"-|clock|-|t={stamp}")
                self.steps.append((stamp, None))
                continue
            line, letter = random_line(rng, values)
            lines.append(line + (f"|t={stamp}" if has_time else ""))
            self.steps.append((stamp if has_time else None, letter))
        return "\n".join(lines) + "\n"

    def expected(self, prop):
        """The verdict by definition: None, or (how, event, time)."""
        aut, columns, bound, by_events = prop
        watch = within.Watch(aut, len(columns), bound, by_events)
        for stamp, letter in self.steps:
            if stamp is not None:
                watch.time(stamp)
            if letter is not None:
                watch.letter(tuple(letter[c] for c in columns))
        watch.end()
        return watch.verdict


def run_case(portent, case, folder):
    """(number of properties that agree, complaints)."""
    for name, text in case.files.items():
        (folder / name).write_text(text)
    done = subprocess.run([portent, "check", "--json", "-q", "-s", "x.prop", "x.trace"], cwd=folder, capture_output=True,
                          timeout=300, check=False)
    try:
        got = json.loads(done.stdout)["properties"]
    except (ValueError, KeyError):
        return 0, [f"no JSON (exit {done.returncode}): {done.stdout[:200]!r} {done.stderr[:300]!r}"]
    wrong = []
    for prop, entry in zip(case.props, got):
        want = case.expected(prop)
        have = (entry["how"], entry["event"], entry["time"]) if entry["verdict"] == "violated" else None
        if have != want or entry["verdict"] not in ("holds", "violated"):
            wrong.append(f"{entry['name']}: {entry['verdict']} {have}, expected {want}")
    return len(case.props) - len(wrong), wrong


def print_automata(portent):
    """The formulas with their automata, as the tool prints them for `within`: those of bare formulas may be smaller."""
    made = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "formula.prop"
        for formula in FORMULAS:
            file.write_text(f"property q within 1 events: {formula};\n")
            done = subprocess.run([portent, "automaton", "--hoa", "-s", file], capture_output=True, text=True, check=True)
            made.append((formula, *parse_printed(done.stdout)))
    return made


def main():
    parser = argparse.ArgumentParser(description="within properties against the oracle")
    parser.add_argument("portent", type=Path)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", default="within")
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    portent = str(options.portent.resolve())
    automata = print_automata(portent)
    passed = failed = 0
    seen = {}
    for i in range(options.cases) if options.only is None else [options.only]:
        case = Case(f"{options.seed}/{i}", automata)
        folder = Path(tempfile.mkdtemp(prefix="portent-within-"))
        good, wrong = run_case(portent, case, folder)
        passed, failed = passed + good, failed + len(wrong)
        for prop in case.props:
            verdict = case.expected(prop)
            how = verdict[0] if verdict else "holds"
            seen[how] = seen.get(how, 0) + 1
        if wrong:
            print(f"seed {options.seed} case {i}: {folder}")
            for complaint in wrong:
                print(f"  {complaint}")
        else:
            shutil.rmtree(folder)
    print("verdicts:", ", ".join(f"{count} {how}" for how, count in sorted(seen.items())))
    print(f"within: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
