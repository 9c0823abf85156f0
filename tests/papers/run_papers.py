#!/usr/bin/env python3
"""Reproduces what the four papers show, and compares it with the tables of docs/papers.md.

    run_papers.py PORTENT [--update]

Prints the tables: the paper's figure, ours, and why they differ. --update writes them into docs/papers.md, for review. Times, and how many times slower
a program is, vary and are not compared. The last line is `papers: N passed, M failed`, a row each.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "programs"))
from suite import keep_pace  # noqa: E402
sys.path.insert(0, str(ROOT / "bench"))
from mttl import run as bench  # noqa: E402

PORTENT = str(pathlib.Path(sys.argv[1]).resolve())
PAPERS = ROOT / "examples" / "papers"
DOCUMENT = ROOT / "docs" / "papers.md"
TIME = re.compile(r"\d+(?:\.\d+)? (?:ms|s|times slower)\b")
EXECUTIONS, SEVERAL = 10, 2  # of the bank whose transactions are not atomic
ROUNDS = 25  # in which the bank is measured


def portent(*arguments, options=None, cwd=None):
    environment = {name: value for name, value in os.environ.items() if name != "PORTENT_OPTIONS"}
    if options:
        environment["PORTENT_OPTIONS"] = options
    return subprocess.run([PORTENT, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=environment, cwd=cwd, check=False)


def checked(*arguments):
    """The properties of `check --json` by name."""
    return {item["name"]: item for item in json.loads(portent("check", "--json", *arguments).stdout)["properties"]}


def compiled(folder, source, name):
    program = folder / name
    done = portent("cc", "-O2", "-pthread", source, "-o", program)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return program


def ran(folder, program, properties, *arguments):
    """The properties of `run -r` by name."""
    result = folder / "result.json"
    portent("run", "-q", "-s", properties, "-r", result, "--", program, *arguments)
    return {item["name"]: item for item in json.loads(result.read_text(encoding="utf-8"))["properties"]}


def words(item):
    """A verdict: `predicted`, `observed`, `holds`."""
    return item.get("how") or item["verdict"]


def cuts(witness):
    """The states of a run of the water tank, as the paper writes them: how many events of T1 and of T2."""
    counts, states = [0, 0], ["00"]
    for step in witness:
        counts[step["thread"] in ("T2", "sensor")] += 1
        states.append("".join(map(str, counts)))
    return " ".join(states)


# --- JMPaX ---

WATER = ROOT / "examples" / "water"
FORMULAS = ("-s", WATER / "water.prop", "-s", WATER / "ere.prop")  # F1: valve, F2: valve_ere
WHOLE, CONE = ("--window=all", "--lookahead=all", "--exhaustive"), ("--window=2", "--lookahead=3", "--exhaustive")


def examples(ask):
    """Examples 1 to 3 on one source of events, by `ask(options)`, the properties by name: the run itself, both violations, the lattice, the cone."""
    first, whole, cone = ask(()), ask(WHOLE), ask(CONE)
    formulas = ("valve", "valve_ere")
    for name in formulas:
        assert [whole[name][key] for key in ("levels", "states", "runs")] == [whole["valve"][key] for key in ("levels", "states", "runs")], whole
    passes = "passes" if all(first[name].get("how") == "predicted" for name in formulas) else "fails"
    lattice = f"{whole['valve']['levels']} levels, {whole['valve']['states']} states, {whole['valve']['runs']} runs"
    of_cone = f"{cone['valve']['states']} of {whole['valve']['states']} states; {' and '.join(sorted({words(cone[name]) for name in formulas}))}, on {cuts(cone['valve']['witness'])}"
    return passes, f"{words(first['valve'])}, on {cuts(first['valve']['witness'])}", words(first["valve_ere"]), lattice, of_cone


def jmpax(folder):
    program, recorded = compiled(folder, WATER / "water.c", "water"), folder / "water.ptb"

    def live(options):
        result = folder / "result.json"
        portent("run", "-q", *options, *FORMULAS, "-r", result, "--", program)
        return {item["name"]: item for item in json.loads(result.read_text(encoding="utf-8"))["properties"]}

    portent("run", "-q", *FORMULAS, "-o", recorded, "--", program)
    passes, one, two, lattice, cone = examples(lambda options: checked("--order=access", *options, *FORMULAS, WATER / "water.trace"))
    yield "Example 1: the sample run under F1 and F2", "passes", passes, ""
    yield "Example 2: violation of F1 (LTL) in another run", "yes, as on 00 01 02 12 13", one, "ours is a shortest one; the paper's run is one event longer"
    yield "Example 2: violation of F2 (regular expression)", "yes", two, ""
    yield "Figure 2: the lattice", "drawn (our copy lacks it)", lattice, ""
    yield "Example 3, Figure 6: the cone w = 2, l = 3", "leaves out 00 01 02 03 13 23 33", cone, \
        "the state 03 alone is left out, so the violation is found one event later; the algorithms of Figures 3 and 5, taken literally, stall, and `--window` is their repair"
    for what, ask in (("the C program, live", live), ("the C program, from its recording", lambda options: checked("--order=access", *options, *FORMULAS, recorded))):
        passes, one, two, lattice, cone = examples(ask)
        yield f"{what}: Examples 1 and 2", "not in the paper (Java)", f"{passes}; F1: {one}; F2: {two}", ""
        yield f"{what}: the lattice, and the cone of Example 3", "not in the paper", f"{lattice}; {cone}", ""


# --- DAME ---

def dame(folder):
    here, examples = PAPERS / "dame", ROOT / "examples"
    states = checked("-s", here / "figure2.prop", here / "figure2.trace")
    for name, event, values in (("e35", "the 5th event of t3", "v = 1"), ("e24", "the 4th event of t2", "v = 4"), ("e27", "the 7th event of t2", "v = 5")):
        yield f"Figure 2: predicted state at {event}", f"x = 1, y = 1, u = 3, {values}", f"that, in state {', '.join(map(str, states[name]['at']))} alone", \
            "the drawing is missing in our copy; this is a computation with the printed states" if name == "e35" else ""
    yield "Figure 2: the real state at the last one has u = 9", "t2 does not know", {"holds": "t2 does not know"}.get(states["unseen"]["verdict"], "t2 knows"), ""
    live = ran(folder, compiled(folder, examples / "knowledge/knowledge.c", "knowledge"), examples / "knowledge/knowledge.prop")
    yield "the same, by the threads of a C program", "-", ", ".join(f"{name} {live[name]['at']}" for name in ("e35", "e24", "e27")), ""
    race, reader = (checked("-s", here / "race.prop", here / f"{name}.trace") for name in ("race", "reader"))
    yield "the race formula as printed, on x++ twice", "violated", race["printed"]["verdict"], ""
    yield "the same on a thread that only reads", "not said", f"{reader['printed']['verdict']}; `race_free(x)`: {reader['race_free']['verdict']}", \
        "the printed formula asks that the reader has written before, and so misses such a race; `race_free` does not"
    checking = compiled(folder, examples / "checking/checking.c", "checking")
    for number, theirs in ((1, "no violation"), (2, "violation")):
        verdicts = ran(folder, checking, examples / "checking/checking.prop", number)
        yield f"the atomicity formulas on execution {number}", theirs, ", ".join(sorted({words(verdicts[name]) for name in ("atomic", "again")})), ""
    mutex = compiled(folder, examples / "mutex/mutex.c", "mutex")
    wrong = ran(folder, mutex, examples / "mutex/mutex.prop", "bug")
    right = ran(folder, mutex, examples / "mutex/mutex.prop")
    yield "a faulty mutual exclusion protocol", "exclusion violated, and a race", f"exclusion {wrong['exclusion']['verdict']}, race {wrong['account']['verdict']}", \
        "the paper does not print its protocol; ours looks before it announces itself"
    yield "a right one (Peterson)", "-", f"exclusion {right['exclusion']['verdict']}, race {right['account']['verdict']}", ""
    yield from bank(folder, here)
    recover = compiled(folder, examples / "recover/recover.c", "recover")
    portent("compile", "-s", examples / "recover/recover.prop", "-o", folder / "recover.ptc", recover)
    done = subprocess.run([recover], capture_output=True, text=True, check=False,
                          env={**os.environ, "PORTENT_OPTIONS": f"properties={folder}/recover.ptc:exitcode=0"})
    yield "recovery in the violating thread", "possible (section 1)", done.stdout.splitlines()[-1] if done.stdout else "no", ""


def bank(folder, here):
    """What is left between the accounts is the scheduler's: so the transactions are not disturbed in every execution, but in some."""
    program, properties = compiled(folder, here / "bank.c", "bank"), here / "bank.prop"
    runs = [ran(folder, program, properties) for _ in range(EXECUTIONS)]
    broken = sum(verdicts["atomic"]["verdict"] == "violated" for verdicts in runs)
    races = {verdicts["races"]["verdict"] for verdicts in runs}
    yield "the bank, 2000 transactions: atomicity", "violated in several executions", \
        f"{'violated in several executions' if broken >= SEVERAL else f'violated in {broken} of {EXECUTIONS}'}, data races: {'none' if races == {'holds'} else races}", ""
    yield "the same, a transaction having the bank for itself", "-", ran(folder, program, properties, "whole")["atomic"]["verdict"], ""
    clang = next(name for name in ("clang-14", "clang") if shutil.which(name))
    bench.build_bank(PORTENT, clang, folder)
    yield "the bank, 2000 transactions: slowdown", "3.4 times slower", slowdown(folder, 2000, ROUNDS), \
        "theirs is Java with every access of every field instrumented; ours is the formula for repeated blocks on `bench/mttl/bank.c`, whose transactions do little else"
    yield "the same, 200,000 transactions", "-", slowdown(folder, 200000, ROUNDS // 5), "2000 take half a millisecond here, of which the first use of everything is a part"


def slowdown(folder, transactions, rounds):
    """Of the best times, since others work on this machine, too."""
    times = {way: min(seconds) for way, seconds in bench.bank_times(PORTENT, folder, transactions, 2, rounds).items()}
    alone, run = (times[way] / times["plain"] for way in ("program alone", "portent run"))
    return f"{alone:.1f} times slower alone, {run:.1f} times slower under `portent run`"


# --- the JamaicaVM paper ---

def automaton(*args):
    hoa = portent("automaton", "--hoa", *args).stdout
    return int(re.search(r"^States: (\d+)", hoa, re.MULTILINE)[1]), len(re.findall(r"^State: .*\{0\}", hoa, re.MULTILINE))


def jamaica(folder):
    here = PAPERS / "jamaica"
    states, final = automaton("-s", here / "formulas.prop", "-p", "one")  # of a bare formula it may be smaller
    yield "Figure 3: the automaton of formula (1)", "one final state (our copy lacks the drawing)", f"{states} states, {final} final", \
        "ours is deterministic, and a write passes a final state as well"
    states, final = automaton("-s", here / "formulas.prop", "-p", "two")
    yield "Figure 4: the automaton of formula (2)", "states 1 to 5 in its logs, of which 2 and 4 are useless", f"{states} states, {final} final, none useless", \
        "ours is deterministic, and states from which no final one can be reached again are gone"
    five, six = (checked("-s", here / "formulas.prop", here / f"figure{n}.trace") for n in (5, 6))
    yield "Figure 5: formula (2) on the printed trace", "satisfied so far", words(five["two"]), ""
    yield "Figure 6: formula (2) on the defective trace", "dead at the second write, event 7", f"{words(six['two'])}, event {six['two']['event']}", ""
    yield "Figure 6: formula (1)", "not shown", f"{words(six['one'])}, event {six['one']['event']}", ""
    yield "a cycle that takes longer than d", "the formula counts as violated", f"{words(five['short'])} (d of 20,000 ticks on the trace of Figure 5)", \
        "the paper asks for a pass in each interval [t, t + d); ours for each run of the automaton that no two passes are further apart than d"
    picture = folder / "figure2.svg"
    portent("report", "--timeline", picture, here / "figure5.trace")
    text = picture.read_text(encoding="utf-8")
    yield "Figure 2: the picture of the threads", "two lines, monitors, write and read", \
        f"SVG with {', '.join(word for word in ('producer', 'consumer', 'write', 'read') if word in text)}", "drawn from the trace of Figure 5, which is the same run"
    buffer = compiled(folder, ROOT / "examples/buffer/buffer.c", "buffer")
    with tempfile.TemporaryDirectory(prefix="papers-", dir="/tmp") as short:
        address = f"unix:{short}/s"
        child = subprocess.Popen([buffer, "60", "impatient"], stdout=subprocess.DEVNULL, env={**os.environ, "PORTENT_OPTIONS": f"events={address}"})
        try:
            watched = portent("watch", "--wait", "--json", "-s", ROOT / "examples/buffer/buffer.prop", address)
        finally:
            child.kill()
            child.wait()
    last = json.loads(watched.stdout.splitlines()[-1])["properties"][0]
    yield "Figures 1 and 6: the buffer in C, watched; its producer loses patience", "dead", \
        words(last), \
        "Jamaica's events come from its virtual machine; ours from the program's runtime over a socket"


# --- Causal Atomicity ---

TABLE1 = [("dekker", "Dekker", 2, "Yes", 52, 24, "0"), ("dekker_star", "Dekker*", 2, "Yes", 795, 409, "0.01"),
          ("acquire1", "Acquire1", 4, "Yes", 81, 34, "0"), ("acquire1", "Acquire1", 30, "Yes", 2135, 1022, "0.03"),
          ("acquire1", "Acquire1", 100, "Yes", 21105, 10402, "3.71"), ("acquire1", "Acquire1", 150, "Yes", 46655, 23102, "22.31"),
          ("acquire1_star", "Acquire1*", 4, "Yes", 146, 56, "0"), ("acquire1_star", "Acquire1*", 30, "Yes", 4202, 1200, "0.35"),
          ("acquire1_star", "Acquire1*", 50, "Yes", 10582, 2985, "5.02"), ("acquire1_star", "Acquire1*", 100, "Yes", 40486, 10784, "635.56"),
          ("nacquire1", "nAcquire1", 4, "No", 97, 43, "0"), ("nacquire1", "nAcquire1", 6, "No", 171, 77, "0"), ("nacquire1", "nAcquire1", 8, "No", 261, 119, "0"),
          ("acquire2", "Acquire2", 4, "Yes", 73, 30, "0"), ("acquire2", "Acquire2", 6, "Yes", 146, 74, "0"),
          ("bluetooth", "Bluetooth", 2, "No", 235, 116, "0"), ("bluetooth3", "Bluetooth3", 2, "No", 223, 109, "0")]


def model(folder, name, threads, *options):
    """`model --json` of one of our programs, its last thread repeated until there are so many."""
    text = (PAPERS / "causal-atomicity" / f"{name}.sml").read_text(encoding="utf-8")
    have = len(re.findall(r"^thread ", text, re.MULTILINE))
    last = text[text.rindex("\nthread "):]
    for number in range(have, threads):
        text += re.sub(r"thread (\w+)", rf"thread \g<1>{number}", last)
    path = folder / f"{name}_{threads}.sml"
    path.write_text(text, encoding="utf-8")
    return json.loads(portent("model", "--json", *options, path).stdout)


def verdict(result):
    return "Yes" if all(block["causally_atomic"] for block in result["blocks"]) else "No"


def figures(folder):
    for name, what, theirs, why in (("figure5a", "Figure 5 (a): a reader without the lock", "not causally atomic", ""),
                                    ("figure5b", "Figure 5 (b): a reader with the lock", "causally atomic", ""),
                                    ("figure7", "Figure 7: races on X and Y, and atomic", "causally atomic", "the drawing is missing in our copy; this is a program of which its text is true")):
        result = model(folder, name, 0)
        yield what, theirs, "causally atomic" if verdict(result) == "Yes" else "not causally atomic", why
    steps = [step["text"] for step in model(folder, "figure5a", 0)["blocks"][0]["witness"] if "Y" in step["text"]]
    yield "Figure 6: the trace that shows it", "x := Y - 2 between Y := 5 and Y := 3", ", then ".join(steps), ""


def table1(folder):
    for name, title, threads, theirs, places, events, seconds in TABLE1:
        result, plain = model(folder, name, threads), model(folder, name, threads, "--plain")
        sizes = [f"{one['unfolding']['conditions']}/{one['unfolding']['events']}" for one in (result, plain)]
        yield f"{title}, {threads}", f"{theirs}, {places}/{events}, {seconds} s", f"{verdict(result)}, {sizes[0]}, {result['seconds'] * 1000:.1f} ms", \
            f"{verdict(plain)}, {sizes[1]}, {plain['seconds'] * 1000:.1f} ms"


TABLES = {"jmpax": (jmpax, "what | JMPaX | Portent | why it differs"), "dame": (dame, "what | DAME | Portent | why it differs"),
          "jamaica": (jamaica, "what | JamaicaVM paper | Portent | why it differs"), "figures": (figures, "what | paper | Portent | why it differs"),
          "table1": (table1, "benchmark, threads | paper: atomic, places/events, time | `portent model` | `portent model --plain`")}


def lines_of(name, folder):
    rows, head = TABLES[name]
    yield f"| {head} |"
    yield "|" + "---|" * 4
    for row in rows(folder):
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def main():
    document = DOCUMENT.read_text(encoding="utf-8")
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        keep_pace(name)
        for table in TABLES:
            block = re.search(rf"(<!-- {table} -->\n)(.*?)(<!-- end -->)", document, re.DOTALL)
            now = list(lines_of(table, pathlib.Path(name)))
            print(f"\n{table}\n" + "\n".join(now), flush=True)
            if "--update" in sys.argv:
                document = document[:block.start(2)] + "\n".join(now) + "\n" + document[block.end(2):]
            before = block[2].splitlines() if "--update" not in sys.argv else now
            for index in range(2, max(len(now), len(before))):
                told = TIME.sub("TIME", before[index]) if index < len(before) else ""
                found = TIME.sub("TIME", now[index]) if index < len(now) else ""
                passed += told == found
                failed += told != found
                if told != found:
                    print(f"docs/papers.md has: {told}\nnow it is:          {found}")
    if "--update" in sys.argv:
        DOCUMENT.write_text(document, encoding="utf-8")
    print(f"papers: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
