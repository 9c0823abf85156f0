"""Causal atomicity of recorded blocks, by Definition 3 of the paper (contract section 8's repair) on sets of pairs.

An occurrence is (begin, end): numbers of events, end = number of events for one that never ends. An end closes its
thread's latest open block of its name; where there is none it is nothing.
"""

from .mttl_generate import Maker
from .trace import Trace, clocks


class Blocks(Maker):
    """Traces with more blocks: two names, two places, ends that are missing or stray."""

    def text(self):
        for _ in range(self.rng.randint(5, 60)):
            self.step()
        return "".join(line + "\n" for line in self.lines)

    def step(self):
        if self.rng.random() < 0.2:
            self.block(self.rng.choice(self.alive))
        else:
            super().step()

    def block(self, thread):
        stack = self.blocks.setdefault(thread, [])
        shape = self.rng.random()
        if stack and shape < 0.4:
            self.emit(thread, f"end({stack.pop()})")
        elif shape < 0.45:
            self.emit(thread, f"end({self.rng.choice('ab')})")  # of some block, or of none
        else:
            stack.append(self.rng.choice("ab"))
            self.lines.append(f"{thread}|begin({stack[-1]})|{self.rng.choice(('p.c:1', 'p.c:2'))}")


def occurrences(events):
    """All blocks, in the order of their begins, and the number of stray ends."""
    found, stacks, stray = [], {}, 0
    for e in events:
        stack = stacks.setdefault((e.thread, e.obj), [])
        if e.op == "begin":
            found.append([e.number, len(events)])
            stack.append(found[-1])
        elif e.op == "end" and stack:
            stack.pop()[1] = e.number
        elif e.op == "end":
            stray += 1
    return found, stray


def violated(trace, begin, end):
    """Definition 3: some foreign f and some e2 of the block with begin <= f <= e2."""
    thread = trace.events[begin].thread
    return any(e.number < end and e.thread == thread and trace.events[f].thread != thread and begin in trace.before[f]
               for e in trace.events[begin + 1:] for f in trace.before[e.number])


def violated_by_clocks(trace, begin, end):
    """What clocks of counted events alone can show (docs/trace-format.md)."""
    events, start = trace.events, trace.events[begin]
    counted = [e for e in events if e.counted and e.thread != start.thread
               and e.clock.get(start.thread, 0) > start.clock.get(start.thread, 0)]
    return any(e.clock.get(f.thread, 0) >= f.clock[f.thread]
               for e in events[begin + 1:end + 1] if e.thread == start.thread for f in counted)


def expected(trace, test):
    """[(thread, name, place, occurrences, violated, unfinished)] by first occurrence, and the stray ends."""
    blocks = {}
    found, stray = occurrences(trace.events)
    for begin, end in found:
        e = trace.events[begin]
        tally = blocks.setdefault((e.thread, e.obj, e.loc), [0, 0, 0])
        tally[0] += 1
        tally[1] += test(trace, begin, end)
        tally[2] += end == len(trace.events)
    return [(*key, *tally) for key, tally in blocks.items()], stray


def witness_complaint(trace, block):
    """What is wrong with the witness of a violated block; None: nothing. Needs trace lines that are event numbers + 1."""
    chain = [trace.events[step["trace_line"] - 1] for step in block["witness"]]
    ends = dict(occurrences(trace.events)[0])
    roles = [step["role"] for step in block["witness"]]
    first, last = chain[0], chain[-1]
    if (first.op, first.thread, first.obj, first.loc) != ("begin", block["thread"], block["name"], block["loc"]):
        return "does not begin with the block"
    if last.thread != first.thread or not last.number < ends[first.number]:
        return "does not end inside the block"
    foreign = [k for k, e in enumerate(chain) if e.thread != first.thread]
    if not foreign or roles != ["foreign" if k == foreign[0] else "begin" if k == 0 else "later" if k == len(chain) - 1
                                else "other" for k in range(len(chain))]:
        return f"has the roles {roles}"
    for k, (a, b) in enumerate(zip(chain, chain[1:])):
        if a.number not in trace.before[b.number] or block["witness"][k + 1]["after"] != [k]:
            return f"{a} is not before {b}"
    return None


def recorded(text, variables):
    """The trace as `run -o` writes it: relevant events counted, begin, end and int lines not, nothing else there."""
    trace = Trace(text)
    chosen = [e for e in trace.events if e.op in ("w", "u") and e.obj in variables]
    numbers = {e.number for e in chosen}
    lines, counted = [], []
    for e, stamp in zip(trace.events, _knowledge(trace, numbers)):
        if e.number not in numbers and e.op not in ("begin", "end", "int"):
            continue
        value = "" if e.op in ("begin", "end") else "=1"
        clock = ",".join(f"{t}:{n}" for t, n in sorted(stamp.items())) or f"{e.thread}:0"
        lines.append(f"{e.thread}|{e.op}({e.obj}){value}|{e.loc}|c={clock}\n")
        counted.append(e.number in numbers)
    result = Trace("".join(lines))
    for e, is_counted in zip(result.events, counted):
        e.counted = is_counted
    return result, "".join(lines)


def _knowledge(trace, numbers):
    """Per event and thread, how many of the numbered events precede or equal it."""
    for e in trace.events:
        stamp = {}
        for n in numbers & (trace.before[e.number] | {e.number}):
            thread = trace.events[n].thread
            stamp[thread] = stamp.get(thread, 0) + 1
        yield stamp


def all_counted(text):
    """The trace with c= on every line, every event counted, and nothing else to tell the order by."""
    trace = Trace(text)
    lines = []
    for e, stamp in zip(trace.events, clocks(trace, trace.events)):
        op = f"{e.op}({e.obj})" if e.op in ("begin", "end") else "state(x)"
        lines.append(f"{e.thread}|{op}|{e.loc}|c=" + ",".join(f"{t}:{n}" for t, n in sorted(stamp.items())) + "\n")
    return "".join(lines)
