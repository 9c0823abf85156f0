#!/usr/bin/env python3
"""Tests of the references for `model` on hand-worked programs; needs no tool. Run: python3 tests/oracle/selftest_model.py"""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from oracle import coloured, definition3, sml  # noqa: E402

# The paper's Fig. 5: the second thread reads Y between the two writes of the block, unless it takes the lock, too.
FIGURE_5A = "lock l; int Y; begin acquire(l); Y := 5; Y := 3; release(l) end || x := Y - 2"
FIGURE_5B = "lock l; int Y; begin acquire(l); Y := 5; Y := 3; release(l) end || acquire(l); x := Y - 2; release(l)"


class Models(unittest.TestCase):
    def sizes(self, text, bound=20):
        """Smallest violations by block, once both references agree on them."""
        net = sml.Net(sml.Program(text))
        blocks, unsafe = coloured.search(net, 10**5)
        traces, unsafe_trace, reached = definition3.search(net, bound, 10**4)
        self.assertEqual((blocks, unsafe), (traces, unsafe_trace))
        self.assertEqual(reached, bound)
        return list(blocks.values())

    def test_figure_5(self):
        # begin, acquire, Y := 5, x := Y - 2, Y := 3
        self.assertEqual(self.sizes(FIGURE_5A), [5])
        self.assertEqual(self.sizes(FIGURE_5B), [None])

    def test_races_without_a_way_back(self):
        """Two racing writes, but nothing that happens after the first can reach the second."""
        self.assertEqual(self.sizes("int X, Y; X := 1 || begin X := 1; Y := 1 end || Y := 1"), [None])
        self.assertEqual(self.sizes("int X, Y; X := 1; Y := 1 || begin X := 1; Y := 1 end"), [5])

    def test_only_this_occurrence_counts(self):
        """The other thread comes between two rounds of the block, never into one."""
        self.assertEqual(self.sizes("int X; while (true) { begin X := X + 1 end } || X := 0", 9), [None])

    def test_nested_blocks(self):
        self.assertEqual(self.sizes("int X; begin X := 1; begin skip; t := X end; skip end || X := 2"), [6, None])

    def test_reads_are_independent(self):
        self.assertEqual(self.sizes("int X; begin t := X; u := X end || t := X || u := X"), [None])

    def test_guards_read(self):
        self.assertEqual(self.sizes("int X; begin if (X = 1) { X := 2 } end || X := 0"), [4])

    def test_open_block_at_the_end_of_a_thread(self):
        self.assertEqual(self.sizes("lock l; int X; begin acquire(l); X := 1; release(l); acquire(l) end || acquire(l); release(l)"),
                         [7])

    def test_unsafe_release(self):
        net = sml.Net(sml.Program("lock l; int X; skip; release(l) || X := 1"))
        self.assertEqual(coloured.search(net, 100)[1], 2)
        self.assertEqual(definition3.search(net, 5, 100)[1], 2)

    def test_syntax(self):
        program = sml.Program("# one\nint X, Y lock l // two\nthread a { begin : B X := (Y + 1) * -2 end }\n/*\n*/ thread "
                              "{ if (!(X < 1) || (Y) = 2 and true) { skip } else { skip; } while (false) { t := X } }")
        self.assertEqual([tuple(b) for b in program.blocks], [(0, 1, 3, "B")])
        reads = [sorted(e.reads) for e in program.edges if e.reads]
        self.assertEqual(reads, [["Y"], ["X", "Y"], ["X", "Y"], ["X"]])
        for bad in ("int X; X := ", "begin skip", "X = 1", "int X; acquire(X)", "while true { }", "@"):
            with self.assertRaises(sml.SmlError):
                sml.Program(bad)


if __name__ == "__main__":
    unittest.main()
