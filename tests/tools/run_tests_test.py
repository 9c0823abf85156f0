#!/usr/bin/env python3
"""tools/run-tests on suites made for it: what runs side by side and what alone, what is counted, what is printed."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "run-tests"


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("run_tests", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", loader))
    sys.modules["run_tests"] = module  # which dataclasses look for
    loader.exec_module(module)
    return module


run_tests = load()

# A suite that says for as long as it runs that it does: NAME PARTNER. One with a partner does not end before that one has begun.
BESIDE = """import os, sys, time
name, partner = sys.argv[1:]
print("first line of", name, flush=True)
beside = sorted(other for other in os.listdir(".") if other.endswith(".runs"))
open(name + ".runs", "w").close()
open(name + ".ran", "w").close()
limit = time.monotonic() + 60
while partner and not os.path.exists(partner + ".ran") and time.monotonic() < limit:
    time.sleep(0.01)
beside += sorted(other for other in os.listdir(".") if other.endswith(".runs") and other != name + ".runs")
os.remove(name + ".runs")
good = not beside if not partner else os.path.exists(partner + ".ran")
print(f"{name}: {int(good)} passed, {int(not good)} failed")
"""


class RunTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.script = os.path.join(folder.name, "suite.py")
        pathlib.Path(self.script).write_text(BESIDE, encoding="utf-8")
        self.was, run_tests.ROOT = run_tests.ROOT, folder.name
        self.addCleanup(setattr, run_tests, "ROOT", self.was)

    def suite(self, name, partner="", alone="", quiet=False):
        return run_tests.Suite(name, [sys.executable, self.script, name, partner], alone, quiet)

    def saying(self, name, text, status=0):
        return run_tests.Suite(name, [sys.executable, "-c", f"import sys; print({text!r}); sys.exit({status})"])

    def run_all(self, suites, jobs):
        """{name: (passed, failed)}, and what was printed."""
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            results = run_tests.run_all(suites, jobs)
        return {result.name: (result.passed, result.failed) for result in results}, printed.getvalue()

    def test_side_by_side_and_alone(self):
        suites = [self.suite("a", "b"), self.suite("x", alone="a reason"), self.suite("b", "a"), self.suite("y", alone="another")]
        counts, printed = self.run_all(suites, 2)
        self.assertEqual(counts, {name: (1, 0) for name in "abxy"}, printed)
        self.assertEqual(printed.count("-- x starts, alone: a reason\n"), 1)

    def test_quiet_ones_beside_each_other(self):
        suites = [self.suite("q", "r", alone="a reason", quiet=True), self.suite("a", "b"),
                  self.suite("r", "q", alone="a reason", quiet=True), self.suite("x", alone="a reason"), self.suite("b", "a")]
        counts, printed = self.run_all(suites, 3)
        self.assertEqual(counts, {name: (1, 0) for name in "abqrx"}, printed)
        self.assertEqual(self.run_all([self.suite(name, alone="a reason", quiet=True) for name in "qr"], 1)[0], {"q": (1, 0), "r": (1, 0)})

    def test_one_at_a_time(self):
        counts, printed = self.run_all([self.suite(name) for name in "abc"], 1)
        self.assertEqual(counts, {name: (1, 0) for name in "abc"}, printed)

    def test_output_in_one_piece(self):
        _, printed = self.run_all([self.suite("a", "b"), self.suite("b", "a")], 2)
        for name in "ab":
            self.assertRegex(printed, rf"(?m)^== {name}: [\d.]+ s\nfirst line of {name}\n{name}: 1 passed, 0 failed$")

    def test_what_is_counted(self):
        counts, printed = self.run_all([
            self.saying("good", "good: 3 passed, 0 failed"), self.saying("bad", "bad: 3 passed, 2 failed", 1),
            self.saying("crash", "nothing", 3), self.saying("late", "late: 5 passed, 0 failed", 1), self.saying("empty", "empty: 0 passed, 0 failed"),
            self.saying("ctest", "97% tests passed, 2 tests failed out of 70", 8)], 2)
        self.assertEqual(counts, {"good": (3, 0), "bad": (3, 2), "crash": (0, 1), "late": (5, 1), "empty": (0, 1), "ctest": (68, 2)})
        self.assertIn("crash: ended with status 3 and counted 0 passed: taken as a failure\n", printed)

    def test_table(self):
        lines = run_tests.table([run_tests.Result("short", 2, 0, 1.26, 0.5), run_tests.Result("longest", 100, 1, 12, 3)], 12.5)
        self.assertEqual(lines, ["suite    passed  failed  seconds  CPU", "longest     100       1     12.0  3.0",
                                 "short         2       0      1.3  0.5", "all         102       1     12.5  3.5"])

    def test_unknown_suite(self):
        for option in ("--only", "--skip"):
            done = subprocess.run([sys.executable, TOOL, ".", option, "nonsense"], capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, "there is no suite 'nonsense'; there are ctest, " in done.stderr), (2, True), done.stderr)


if __name__ == "__main__":
    unittest.main()
