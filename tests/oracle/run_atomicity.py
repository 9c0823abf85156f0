#!/usr/bin/env python3
"""Blocks of random traces through `portent check --atomicity` and through Definition 3 on the causal order of the oracle.

    run_atomicity.py PORTENT [--cases N] [--seed S] [--only I]

Case number i of seed S is made from the seed "S/i" alone. Each trace is asked as it is, with clocks (c=) on all its lines, and with
clocks on some of them: then only these have a place in the order, and an occurrence starts with its first line that does.
The last line is `atomicity: N passed, M failed`.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import generate, trace  # noqa: E402


def with_blocks(rng):
    """The lines of a random trace with begin and end lines around runs of one thread's events."""
    lines = [l for l in generate.trace_text(rng, 15).splitlines() if "|begin(" not in l]
    for _ in range(rng.randint(1, 4)):
        acting = [k for k, l in enumerate(lines) if not l.startswith("-|") and not l.startswith("#")]
        if not acting:
            break
        first = rng.choice(acting[:len(acting) // 2 + 1])
        thread = lines[first].split("|")[0]
        later = [k for k in acting if k >= first and lines[k].split("|")[0] == thread]
        last, name = rng.choice(later[len(later) // 2:]), rng.choice("ab")
        if rng.random() < 0.9:
            lines.insert(last + 1, f"{thread}|end({name})|e")
        lines.insert(first, f"{thread}|begin({name})|b")
    return lines


def expected(parsed, chosen):
    """{(thread, block): (occurrences, violated)} by definition, `chosen` being the events that have a place in the order."""
    found, open_blocks = {}, []
    for event in parsed.events:
        if event.op == "begin":
            open_blocks.append([event.thread, event.obj, event.number, None])
        if event.op == "end":
            for occurrence in reversed(open_blocks):
                if occurrence[:2] == [event.thread, event.obj] and occurrence[3] is None:
                    occurrence[3] = event.number
                    break
    for thread, block, begin, end in open_blocks:
        inside = [e.number for e in parsed.events if e.thread == thread and e.number in chosen and e.number >= begin
                  and (end is None or e.number < end)]
        foreign = [e.number for e in parsed.events if e.thread != thread and e.number in chosen]
        bad = any(inside[0] in parsed.before[f] and f in parsed.before[e2] for e2 in inside for f in foreign) if inside else False
        total, violated = found.get((thread, block), (0, 0))
        found[thread, block] = (total + 1, violated + bad)
    return found


def clocked(lines, parsed, chosen):
    """The trace with c= on the chosen events."""
    stamped = [e for e in parsed.events if e.number in chosen]
    counts = {e.number: count for e, count in zip(stamped, trace.clocks(parsed, stamped))}
    out, number = [], 0
    for line in lines:
        if line.startswith("#") or line.startswith("-|"):
            out.append(line)
            continue
        if number in counts:
            line += "|c=" + ",".join(f"{t}:{n}" for t, n in sorted(counts[number].items()) if n)
        out.append(line)
        number += 1
    return out


def check_witness(block):
    """Complaints about the three events of a violation."""
    by_line = {e["role"]: e for e in block["witness"]}
    if [e["role"] for e in block["witness"]] != ["begin", "foreign", "later"]:
        return ["roles are not begin, foreign, later"]
    if by_line["begin"]["op"] != "begin" or by_line["foreign"]["thread"] == block["thread"] or \
            by_line["later"]["thread"] != block["thread"]:
        return ["the witness is not begin, foreign event, later event"]
    return []


def ask(portent, folder, name, lines, want):
    """Complaints about one trace."""
    (folder / name).write_text("\n".join(lines) + "\n")
    done = subprocess.run([portent, "check", "--atomicity", "--json", name], cwd=folder, capture_output=True, timeout=60, check=False)
    try:
        got = json.loads(done.stdout)
    except ValueError:
        return [f"{name}: no JSON, exit {done.returncode}: {done.stderr.decode()[:300]}"]
    have = {(b["thread"], b["name"]): (b["occurrences"], b["violated"]) for b in got["blocks"]}
    wrong = [] if have == want else [f"{name}: {have}, expected {want}"]
    status = 1 if any(v for _, v in want.values()) else 0
    if done.returncode != status:
        wrong.append(f"{name}: exit {done.returncode}, expected {status}")
    for block in got["blocks"]:
        if bool(block["witness"]) != (block["violated"] > 0) or block["causally_atomic"] != (block["violated"] == 0):
            wrong.append(f"{name}: {block}")
        if block["witness"]:
            wrong += [f"{name}: {w}" for w in check_witness(block)]
    return wrong


def run_case(portent, folder, seed):
    """Complaints about one case."""
    rng = random.Random(seed)
    lines = with_blocks(rng)
    parsed = trace.Trace("\n".join(lines) + "\n")
    everything = {e.number for e in parsed.events}
    some = {n for n in everything if rng.random() < 0.6}
    wrong = ask(portent, folder, "plain.trace", lines, expected(parsed, everything))
    wrong += ask(portent, folder, "clocked.trace", clocked(lines, parsed, everything), expected(parsed, everything))
    if some:
        wrong += ask(portent, folder, "some.trace", clocked(lines, parsed, some), expected(parsed, some))
    return wrong


def main():
    """Runs all cases."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent")
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", type=int, default=None)
    opts = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if opts.seed is None else opts.seed
    print(f"atomicity: seed {seed}", flush=True)
    portent = str(Path(opts.portent).resolve())
    passed = failed = 0
    for number in range(opts.cases) if opts.only is None else [opts.only]:
        folder = Path(tempfile.mkdtemp(prefix="portent-atomicity-"))
        wrong = run_case(portent, folder, f"{seed}/{number}")
        if wrong:
            failed += 1
            print(f"case {number} of seed {seed} failed, files in {folder}")
            for complaint in wrong[:6]:
                print(f"  {complaint}")
            if failed >= 20:
                break
            continue
        passed += 1
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    print(f"atomicity: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
