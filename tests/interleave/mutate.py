#!/usr/bin/env python3
"""mutate.py SOURCE OUT OLD NEW: a copy of a source file with one fault in it. OLD must stand in it exactly once, so that a
change of the source cannot make the seeded fault disappear unseen."""
import sys
from pathlib import Path

source, out, old, new = sys.argv[1:]
text = Path(source).read_text(encoding="utf-8")
if text.count(old) != 1:
    sys.exit(f"mutate.py: {source}: the text to replace is there {text.count(old)} times, not once: {old}")
Path(out).parent.mkdir(parents=True, exist_ok=True)
Path(out).write_text(text.replace(old, new), encoding="utf-8")
