"""Causal atomicity by Definition 3 itself, over all traces of the plain net with at most so many events.

Traces are grown event by event and told apart as traces, not as sequences: an event is (thread, place in its thread), and
comes with its label and the set of events causally before it. Labels are dependent when the neighbourhoods of the transitions
meet (the paper's independence relation), so nothing here knows of tokens, colours or guesses.
"""


class Trace:
    """One Mazurkiewicz trace of the net: `events[thread]` is a tuple of (transition, past), past a frozen set of events."""

    def __init__(self, nodes, marked, events):
        self.nodes, self.marked, self.events = nodes, marked, events


def start(net):
    """The empty trace."""
    return Trace(tuple(net.program.starts), frozenset(range(net.tokens)), ((),) * net.threads)


def search(net, bound, limit):
    """
    ({(thread, block): size of a smallest violating trace or None}, smallest unsafe run or None, bound reached).
    All traces with up to `bound reached` events were looked at; that is `bound` unless there are more than `limit` of them.
    """
    program = net.program
    found = {(b.thread, b.number): None for b in program.blocks}
    unsafe = None
    level = [start(net)]
    count = 0
    for length in range(1, bound + 1):
        following = {}
        for trace in level:
            for thread, node in enumerate(trace.nodes):
                for number in net.leaving.get((thread, node), ()):
                    _, before, after = net.transitions[number]
                    if not trace.marked.issuperset(before):
                        continue
                    left = trace.marked - frozenset(before)
                    if left & frozenset(after):
                        unsafe = length if unsafe is None else unsafe
                        continue
                    longer = extend(net, trace, number, left | frozenset(after))
                    key = longer.events
                    if key not in following:
                        following[key] = longer
                        for block in violated(net, longer, thread):
                            found[block] = length if found[block] is None else found[block]
        count += len(following)
        if count > limit or not following:
            return found, unsafe, bound if not following else length
        level = list(following.values())
    return found, unsafe, bound


def extend(net, trace, number, marked):
    """The trace with one more event."""
    edge = net.transitions[number][0]
    past = set()
    for thread, row in enumerate(trace.events):
        for k, (other, earlier) in enumerate(row):
            if net.dependent[number][other]:
                past.add((thread, k))
                past |= earlier
    events = list(trace.events)
    events[edge.thread] += ((number, frozenset(past)),)
    nodes = trace.nodes[:edge.thread] + (edge.target,) + trace.nodes[edge.thread + 1:]
    return Trace(nodes, marked, tuple(events))


def violated(net, trace, thread):
    """
    The blocks that Definition 3 refutes with the last event of the thread as e2: an e1 that begins the block, a foreign
    f with e1 <= f <= e2, and no end of that occurrence from e1 to e2.
    """
    row = trace.events[thread]
    past = row[-1][1]
    edge = net.transitions[row[-1][0]][0]
    opened = {}  # block -> index of the begin of its occurrence that is still open, e2 included
    for k, (number, _) in enumerate(row):
        step = net.transitions[number][0]
        if step.kind == "begin":
            opened[step.obj] = k
        elif step.kind == "end":
            opened.pop(step.obj, None)
    for block, begin in opened.items():
        e1 = (thread, begin)
        if any(other != thread and e1 in trace.events[other][k][1] for other, k in past):
            yield edge.thread, block
