#!/usr/bin/env python3
"""`portent check --races --order sync|values` on random traces against all possible runs (possible.py), and on the litmus traces.

    run_predicted.py PORTENT [--cases N] [--seed S] [--only I]

Case i of seed S is made from "S/i" alone. The races of order sync are exactly those of all runs of that order, less those of the recorded
run, which races.py knows, and so are those of values. Every witness is played. Where events have places in common, the pairs of places are
those, of longer runs, too (closed.py). With --near there are some of them. After many threads that have come and gone they are the same. The last line is `predicted: N passed, M failed`; a failing trace is printed.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import closed  # noqa: E402  (beside this file)
import possible  # noqa: E402
import races  # noqa: E402
import random_runs  # noqa: E402

WITNESSES = 100  # findings that are shown with one

# (id, trace, pairs of order sync, pairs that need a reversal of locks): event numbers from 1, observed ones included
LITMUS = [
    ("R1", "1:w(x) 2:w(x)", {(1, 2)}, set()),
    ("R2", "1:w(x) 1:w(y) 2:r(y) 2:w(x)", {(2, 3)}, set()),
    ("R3", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", {(1, 6)}, set()),
    ("R4", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", {(1, 8)}, set()),
    ("R4b", "1:w(x) 1:acq(l) 1:w(y) 1:rel(l) 2:acq(l) 2:r(y) 2:rel(l) 2:w(x)", set(), set()),
    ("R5", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:rel(l) 2:w(x)", set(), {(2, 6)}),
    ("R6", "1:acq(l) 1:w(x) 1:w(y) 1:rel(l) 2:acq(l) 2:w(y) 2:rel(l) 2:w(x)", set(), {(2, 8)}),
    ("R7", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:w(x) 2:rel(l)", set(), set()),
    ("R8", "1:w(x) 1:w(f) 2:r(f) 2:r(x)", {(2, 3)}, set()),
    ("R9", "m:w(x) m:fork(c) c:w(x) c:w(y) m:w(y) m:join(c) m:w(x)", {(4, 5)}, set()),
    ("R10", "m:fork(c) m:acq(l) m:w(x) m:rel(l) c:acq(l) c:rel(l) c:r(x)", set(), {(3, 7)}),
    ("R11", "1:w(x) 1:acq(l) 1:rel(l) 2:acq(l) 2:acq(m) 2:rel(m) 2:rel(l) 3:acq(m) 3:rel(m) 3:w(x)", {(1, 10)}, set()),
    ("R12", "1:acq(l) 1:w(x) 1:rel(l) 2:acq(l) 2:r(x) 2:rel(l) 3:w(x)", {(2, 7), (5, 7)}, set()),
    ("R13", "1:acq(l) 1:acq(m) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", set(), {(4, 10)}),
    ("R14", "1:acq(l) 1:acq(m) 1:w(q) 1:rel(m) 1:r(z) 1:rel(l) 2:acq(m) 2:w(q) 2:acq(l) 2:rel(l) 2:rel(m) 2:w(z)", set(), {(5, 12)}),
]


def ask(portent, path, order, *options):
    done = subprocess.run([portent, "check", "--races", "--order", order, *options, "--json", path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{path.read_text()}status {done.returncode}\n{done.stdout}{done.stderr}")
    finding = json.loads(done.stdout)["properties"][0]
    if (finding["verdict"] == "violated") != (done.returncode == 1):
        raise SystemExit(f"{path.read_text()}status {done.returncode}, verdict {finding['verdict']}")
    if order == "values" and not finding["complete"]:
        raise SystemExit(f"{path.read_text()}not whole: {finding.get('message')}")
    return finding["findings"]


def pair_of(events, finding):
    """The events of a finding; a text: what is wrong with it."""
    sides = [finding["first"], finding["second"]]
    for side in sides:
        i = side["event"] - 1
        if (side["thread"], side["op"], finding["object"], side["loc"]) != (*events[i][:3], f"a.c:{i + 1}"):
            return f"event {i + 1} is not described truly: {side}"
    return tuple(sorted(side["event"] - 1 for side in sides))


def judge_witness(run, pair, finding):
    order = finding["order"]
    witness = [(s["thread"], s["op"], s["object"]) for s in finding["witness"]]
    state = run.plays(witness, order)
    if state is None:
        return f"no possible run of {order}: {witness}"
    if pair not in run.next_races(state[0]):
        return f"{pair} are not next after {witness}"
    return None


def judge(run, observed, expected, findings, allowed=frozenset()):
    """What is wrong, in words; None: nothing. Returns the pairs as well. `allowed`: those of values."""
    reported, shown = {}, 0
    for finding in findings:
        pair = pair_of(run.events, finding)
        if isinstance(pair, str):
            return pair, reported
        if pair in reported:
            return f"{pair} is reported twice", reported
        reported[pair] = finding["order"]
        if (pair in observed) != (finding["how"] == "observed") or (finding["how"] == "observed") != (finding["order"] == "access"):
            return f"{pair} is {finding['how']} in {finding['order']}", reported
        shown += finding["how"] == "predicted"
        wrong = judge_witness(run, pair, finding) if finding["how"] == "predicted" and shown <= WITNESSES else None
        if wrong:
            return wrong, reported
    predicted = {pair for pair, order in reported.items() if order == "sync"}
    if predicted != expected - observed:
        return f"in sync {sorted(predicted)}, expected {sorted(expected - observed)}", reported
    others = {pair for pair, order in reported.items() if order == "values"}
    if others != allowed - expected - observed:
        return f"in values {sorted(others)}, expected {sorted(allowed - expected - observed)}", reported
    return None, reported


class Tally:
    def __init__(self, portent, folder):
        self.portent, self.path = portent.resolve(), folder / "t.trace"
        self.passed = self.failed = self.sync = self.values = self.others = self.near = self.crowds = self.coarse = self.repeated = 0

    def case(self, name, events, litmus=None):
        self.path.write_text(random_runs.to_text(events))
        run = possible.Recorded(events)
        observed = {tuple(pair) for pair in races.races([(t, o, n, f"a.c:{i}", m, None) for i, (t, o, n, m, _) in enumerate(events)])[0]}
        expected, needed, allowed = run.races("sync"), run.races("rf"), run.races("values")
        wrong, _ = judge(run, observed, expected, ask(self.portent, self.path, "sync"))
        if closed.races(events) != expected:
            wrong = f"by closed sets {sorted(closed.races(events))}, expected {sorted(expected)}"
        if not wrong:
            wrong, reported = judge(run, observed, expected, ask(self.portent, self.path, "values", "--effort", "all"), allowed)
            found = {pair for pair, order in reported.items() if order == "values"}
            self.values += len(found)
            self.others += len(found - needed)
        if not wrong:  # fewer of them, the same otherwise
            near = ask(self.portent, self.path, "sync", "--near", str(len(events) // 4 + 1))
            pairs = {pair_of(events, f) for f in near if f["how"] == "predicted"}
            wrong, _ = judge(run, observed, pairs | observed, near)
            if not wrong and not pairs <= expected:
                wrong = f"with --near {sorted(pairs - expected)}"
            self.near += len(pairs)
        self.sync += len(expected - observed)
        if not wrong and litmus and ({(i - 1, j - 1) for i, j in litmus[0]}, {(i - 1, j - 1) for i, j in litmus[1]}) != (expected | observed, found):
            wrong = f"sync {expected}, values {found}"
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)
        if wrong:
            print(f"{name}: {wrong}\n{self.path.read_text()}")


# T3's section of l is younger than T2's, and known to all when sections are forgotten; T1 does not know T2's, so that x has no race: with
# what T1 knows, T2's section, and the write in it, must have ended.
LONG = "\n".join(
    ["T1|fork(T2)|a.c:1", "T1|fork(T3)|a.c:2", "T2|acq(l)|a.c:3", "T2|w(x)=1|a.c:4", "T2|rel(l)|a.c:5", "T3|acq(l)|a.c:6", "T3|rel(l)|a.c:7"]
    + ["T3|notify(c)|a.c:8", "T1|wait(c)|a.c:9", "T2|wait(c)|a.c:10"] + ["T1|acq(m)|a.c:11", "T1|rel(m)|a.c:12"] * 5000 + ["T1|w(x)=2|a.c:13", ""])


def check_long(tally):
    """What is forgotten of a long run still counts."""
    tally.path.write_text(LONG)
    findings = ask(tally.portent, tally.path, "sync")
    tally.passed, tally.failed = tally.passed + (not findings), tally.failed + bool(findings)
    if findings:
        print(f"a race of a long run that has none: {findings}")


# (events with places, pairs of places that race in sync). Before T1 joins T2 it writes itself, so that T2's first write, after which there are
# many reads, is not to be forgotten. At one place the lock is had alone and as a reader, so that it does not keep two readers apart.
PLACES = [
    ("1:fork(2)@9 2:w(x)@1" + " 2:acq(l)@9 2:r(x)@2 2:rel(l)@9" * 40 + " 1:acq(l)@9 1:rel(l)@9 1:w(x)@3 1:join(2)@9", {(1, 3)}),
    ("1:fork(2)@9 1:fork(3)@9 3:acq(l)@9 3:w(x)@1 3:rel(l)@9 1:racq(l)@9 1:w(x)@1 1:rrel(l)@9 1:acq(m)@9 1:rel(m)@9"
     " 2:acq(m)@9 2:rel(m)@9 2:racq(l)@9 2:w(x)@1 2:rrel(l)@9", {(1, 1)}),
]


def check_places(tally, text, expected):
    words = [word.replace("@", ":").split(":") for word in text.split()]
    tally.path.write_text("".join(f"T{t}|{op.replace('fork(', 'fork(T').replace('join(', 'join(T')}|a.c:{loc}\n" for t, op, loc in words))
    found = ask(tally.portent, tally.path, "sync")
    got = {tuple(sorted(int(f[side]["loc"][4:]) for side in ("first", "second"))) for f in found}
    wrong = got != expected or any(f["how"] != "predicted" for f in found)
    tally.passed, tally.failed = tally.passed + (not wrong), tally.failed + wrong
    if wrong:
        print(f"places {got}, expected {expected}\n{tally.path.read_text()}")


# (trace, pairs of h in values, in none of which the memory is touched before it is there): the flag that keeps the free back had its value
# before; it had another one; it had it by another thread, and nothing but the memory itself needs its allocation.
MEMORY = [
    ("m:alloc(h) m:fork(1) m:w(d)=1 m:r(h) m:w(d)=1 1:r(d)=1 1:free(h)", {(4, 7)}),
    ("m:alloc(h) m:fork(1) m:w(d)=2 m:r(h) m:w(d)=1 1:r(d)=1 1:free(h)", set()),
    ("m:fork(1) m:fork(2) m:fork(3) 2:w(d)=1 3:alloc(h) m:w(h)=1 m:w(d)=1 1:r(d)=1 1:w(h)=2", {(6, 9)}),
]


def check_memory(tally, text, expected):
    lines = [word.split(":") for word in text.split()]
    op = ["{}|{}|a.c:{}".format(f"T{t}", o.replace("fork(", "fork(T"), i) for i, (t, o) in enumerate(lines, 1)]
    tally.path.write_text("\n".join([*op, ""]))
    found = [f for f in ask(tally.portent, tally.path, "values", "--effort", "all") if f["object"] == "h"]
    pairs = {tuple(sorted((f["first"]["event"], f["second"]["event"]))) for f in found}
    wrong = pairs != expected or any(f["order"] != "values" or "alloc" not in [s["op"] for s in f["witness"]] for f in found)
    tally.passed, tally.failed = tally.passed + (not wrong), tally.failed + wrong
    if wrong:
        print(f"races of h: {found}, expected {expected}\n{tally.path.read_text()}")


CROWD = 600  # threads: more than are kept track of when all is known of them


def crowded(events):
    """The same run after one in which many threads have come and gone, with the same locks and variables: all of it is known to all."""
    names = {space: sorted({name for _, op, name, _, _ in events if op in ops}) for space, ops in (("var", ("r", "w", "u")), ("lock", ("acq", "racq")))}
    lines = []
    for i in range(CROWD):
        inside = [f"P{i}|w({name})=0|p.c:2" for name in names["var"]]
        taken = [f"P{i}|acq({name})|p.c:1" for name in names["lock"]]
        lines += [f"M|fork(P{i})|p.c:0", *inside[: i % 3], *taken, *inside, *(line.replace("acq(", "rel(") for line in reversed(taken)), f"M|join(P{i})|p.c:3"]
    forked = {name for _, op, name, _, _ in events if op == "fork"}
    lines += [f"M|fork({thread})|p.c:4" for thread in sorted({event[0] for event in events} - forked)]
    return "\n".join(lines) + "\n" + random_runs.to_text(events)


def check_coarse(tally, events, rng, name):
    """Races are told once for each pair of places, whichever of the events there have one."""
    places = [rng.randint(1, len(events) // 4 + 1) for _ in events]
    lines = random_runs.to_text(events).splitlines()
    tally.path.write_text("".join(f"{line.replace(f'|a.c:{i}', f'|a.c:{places[i - 1]}')}\n" for i, line in enumerate(lines, 1)))
    run = possible.Recorded(events)
    observed = races.races([(t, o, n, f"a.c:{i}", m, None) for i, (t, o, n, m, _) in enumerate(events)])[0]
    for order in ("sync", "values"):
        expected = {frozenset((f"a.c:{places[i]}", f"a.c:{places[k]}")) for i, k in run.races(order) | {tuple(pair) for pair in observed}}
        found = ask(tally.portent, tally.path, order, "--effort", "all")
        got = [frozenset((f["first"]["loc"], f["second"]["loc"])) for f in found]
        wrong = set(got) != expected or len(set(got)) != len(got)
        tally.coarse += len(got)
        tally.passed, tally.failed = tally.passed + (not wrong), tally.failed + wrong
        if wrong:
            print(f"{name}, {order}, with places in common: {sorted(map(sorted, got))}, expected {sorted(map(sorted, expected))}\n{tally.path.read_text()}")


def check_repeated(tally, rng, name):
    """The same of longer runs that come back to a few places, of whose accesses much is forgotten, and by closed sets alone. Values say nothing here."""
    events = random_runs.Maker(rng, rng.choice([80, 160, 300])).run()
    places = [rng.randint(1, 6) if rng.random() < 0.5 else "rwu".find(event[1]) + 7 for event in events]
    lines = random_runs.to_text(events).splitlines()
    tally.path.write_text("".join(f"{line.replace(f'|a.c:{i}', f'|a.c:{places[i - 1]}')}\n" for i, line in enumerate(lines, 1)))
    observed = {tuple(pair) for pair in races.races([(t, o, n, f"a.c:{i}", m, None) for i, (t, o, n, m, _) in enumerate(events)])[0]}
    expected = {frozenset((f"a.c:{places[i]}", f"a.c:{places[k]}")) for i, k in closed.races(events) | observed}
    got = [frozenset((f["first"]["loc"], f["second"]["loc"])) for f in ask(tally.portent, tally.path, "sync")]
    wrong = set(got) != expected or len(set(got)) != len(got)
    tally.repeated += len(got)
    tally.passed, tally.failed = tally.passed + (not wrong), tally.failed + wrong
    if wrong:
        print(f"{name}, longer: {sorted(map(sorted, got))}, expected {sorted(map(sorted, expected))}\n{tally.path.read_text()}")


def check_crowded(tally, events, name):
    """Threads of which all is known make no difference."""
    answers = []
    for text in (random_runs.to_text(events), crowded(events)):
        tally.path.write_text(text)
        found = [f for order in ("sync", "values") for f in ask(tally.portent, tally.path, order, "--effort", "all")]
        answers.append(sorted((f["first"]["loc"], f["second"]["loc"], f["how"], f["order"]) for f in found))
    tally.crowds += len(answers[0])
    tally.passed, tally.failed = tally.passed + (answers[0] == answers[1]), tally.failed + (answers[0] != answers[1])
    if answers[0] != answers[1]:
        print(f"{name}, after {CROWD} other threads: {answers[1]}, alone: {answers[0]}\n{random_runs.to_text(events)}")


def main():
    args = random_runs.arguments(400)
    with tempfile.TemporaryDirectory() as folder:
        tally = Tally(args.portent, pathlib.Path(folder))
        for name, text, sync, values in LITMUS if args.only is None else []:
            tally.case(name, random_runs.parse_litmus(text), (sync, values))
        check_long(tally)
        for text, pairs in MEMORY:
            check_memory(tally, text, pairs)
        for text, pairs in PLACES:
            check_places(tally, text, pairs)
        for i in range(args.cases) if args.only is None else [args.only]:
            events = random_runs.Maker(random.Random(f"{args.seed}/{i}")).run()
            tally.case(f"case {i}", events)
            if i % 4 == 0:
                check_coarse(tally, events, random.Random(f"{args.seed}/{i}/places"), f"case {i}")
            if i % 2 == 0:
                check_repeated(tally, random.Random(f"{args.seed}/{i}/repeated"), f"case {i}")
            if i % 10 == 0:
                check_crowded(tally, events, f"case {i}")
    print(f"{tally.sync} races of order sync ({tally.near} near), {tally.values} of order values besides, {tally.others} of them by other writes of the same value, "
          f"{tally.coarse} of places in common, {tally.repeated} of longer runs, {tally.crowds} beside many threads")
    if args.only is None and args.cases >= 200 and not (0 < tally.near < tally.sync and 0 < tally.others < tally.values):
        print("there were no near races, or none of values, or none by other writes")
        tally.failed += 1
    print(f"predicted: {tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


sys.exit(main())
