#!/usr/bin/env python3
"""What a state costs in the orders sync and values, against access on the same trace.

    orders.py PORTENT [--rounds N]

Per trace and order, interleaved: states, and the least processor time of some rounds less the least of reading the trace, per state.
`independent`: threads that share nothing, so that all orders have the same states; `flags`: they read each other's variables now and then;
`locks`: every write is in a section of one of three locks.
"""
import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

ORDERS = ("access", "sync", "values")
PROPERTY = "property p: always !(v0 == 5 && previously v1 == 6 && v2 == 99);\n"
NOTHING = "property p: always !(nothing == 1);\n"


def make(kind, writes):
    """A trace of three threads, each with a variable of its own."""
    rng, lines, last = random.Random(1), [], {}
    for i in range(writes):
        t = rng.randrange(3)
        lock = f"l{rng.randrange(3)}"
        if kind == "locks":
            lines.append(f"T{t}|acq({lock})|a:1")
        lines.append(f"T{t}|w(v{t})={i % 7}|a:2")
        last[t] = i % 7
        if kind == "locks":
            lines.append(f"T{t}|rel({lock})|a:3")
        if kind == "flags" and rng.random() < 0.05:
            other = (t + 1) % 3
            lines.append(f"T{t}|r(v{other})={last.get(other, 0)}|a:4")
    return "".join(line + "\n" for line in lines)


def measure(portent, order, prop, trace):
    """(processor seconds, the property's result) of one check."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([portent, "check", "--json", "--effort", "all", "--order", order, "-s", prop, trace],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, json.loads(done.stdout)["properties"][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "p.prop").write_text(PROPERTY)
        (folder / "none.prop").write_text(NOTHING)
        print(f"{'trace':12} {'order':7} {'states':>9} {'us/state':>9} {'against access':>15}")
        for kind, writes in (("independent", 420), ("flags", 8000), ("locks", 90)):
            trace = folder / f"{kind}.trace"
            trace.write_text(make(kind, writes))
            whole, read, states = {}, {}, {}
            for _ in range(args.rounds):
                for order in ORDERS:
                    if kind == "flags" and order == "values":
                        continue  # far more states
                    base, _ = measure(args.portent, order, folder / "none.prop", trace)
                    seconds, result = measure(args.portent, order, folder / "p.prop", trace)
                    states[order] = result["states"]
                    whole[order] = min(whole.get(order, seconds), seconds)
                    read[order] = min(read.get(order, base), base)
            best = {order: max(whole[order] - read[order], 0) for order in whole}
            for order, seconds in best.items():
                each = 1e6 * seconds / states[order]
                # some hundred states are gone before the clock has moved
                comparable = states["access"] >= 10000 and best["access"] > 0
                ratio = f"{each / (1e6 * best['access'] / states['access']):.2f}" if comparable else "-"
                print(f"{kind:12} {order:7} {states[order]:9} {each:9.3f} {ratio:>15}")
    return 0


sys.exit(main())
