"""python3 -m oracle FILE.prop TRACE [WINDOW LOOKAHEAD]: what the contract says of each property (run from tests/)."""

import sys
from pathlib import Path

from . import check, formula, trace


def main(prop, source, window="all", lookahead="all"):
    """Prints one line per property."""
    bounds = [None if b == "all" else int(b) for b in (window, lookahead)]
    parsed = trace.Trace(Path(source).read_text())
    for name, kind, body in formula.parse(Path(prop).read_text()):
        expected = check.Expected(check.Property(name, kind, body), parsed, *bounds)
        how = "" if expected.violation_level is None else \
            f" ({'observed' if expected.observed else 'predicted'}, shortest witness {expected.violation_level})"
        print(f"{name}: {' or '.join(sorted(expected.verdicts()))}{how}, monitorable {expected.prop.monitorable()}, "
              f"{expected.cone.statistics()}, complete {expected.cone.complete}")


if __name__ == "__main__":
    main(*sys.argv[1:])
