"""Causal atomicity by explicit search over coloured markings (contract, section 9, "Colours").

Breadth first, one occurrence guessed per run: so the answer for a block is the number of events of a shortest run that ends
in a red token, or None. A release of a free lock is found the same way.
"""

NO, ACHROMATIC, BLUE, YELLOW = range(4)


class TooLarge(Exception):
    """More markings than the caller allows."""


def search(net, limit):
    """({(thread, block): shortest violation or None}, shortest run to an unsafe release or None)."""
    program = net.program
    found = {(b.thread, b.number): None for b in program.blocks}
    unsafe = None
    first = (tuple(program.starts), (ACHROMATIC,) * net.tokens, None)
    seen, level, length = {first}, [first], 0
    while level:
        length += 1
        following = []
        for state in level:
            for number in enabled(net, state):
                after, red, contact = fire(net, state, number)
                if contact and unsafe is None:
                    unsafe = length
                if red and found[state[2]] is None:
                    found[state[2]] = length
                for target in after:
                    if target not in seen:
                        seen.add(target)
                        following.append(target)
        if len(seen) > limit:
            raise TooLarge()
        level = following
    return found, unsafe


def enabled(net, state):
    """Numbers of the transitions that can fire."""
    nodes, colours, _ = state
    for thread, node in enumerate(nodes):
        for number in net.leaving.get((thread, node), ()):
            if all(colours[token] != NO for token in net.transitions[number][1]):
                yield number


def fire(net, state, number):
    """(states after the transition, whether it makes a red token, whether it releases a free lock)."""
    nodes, colours, guess = state
    edge, before, after = net.transitions[number]
    taken = [colours[token] for token in before]
    left = list(colours)
    for token in before:
        left[token] = NO
    if any(left[token] != NO for token in after):
        return [], False, True
    moved = nodes[:edge.thread] + (edge.target,) + nodes[edge.thread + 1:]

    def put(colour):
        result = list(left)
        for token in after:
            result[token] = colour
        return tuple(result)

    if guess is None:
        states = [(moved, put(ACHROMATIC), None)]
        if edge.kind == "begin":
            states.append((moved, put(BLUE), (edge.thread, edge.obj)))
        return states, False, False
    if edge.thread != guess[0]:
        tainted = any(colour in (BLUE, YELLOW) for colour in taken)
        return [(moved, put(YELLOW if tainted else ACHROMATIC), guess)], False, False
    if (edge.kind, edge.obj) == ("end", guess[1]):
        return [], False, False
    if YELLOW in taken:
        return [], True, False
    return [(moved, put(BLUE), guess)], False, False
