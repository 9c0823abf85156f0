#!/usr/bin/env python3
"""The recipes of docs/ci.md, that is, the project in examples/ci, done with the tools themselves.

    run_recipes.py PORTENT [--all] [NAME...]

A tool that is not installed is left out, with a line that says so; with --all it is a failure (`make check-recipes` installs them). The last line is
`recipes: N passed, M failed`.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "programs"), str(HERE.parent / "reports")]
import sarif_shape  # noqa: E402
from run_reports import gitlab_problems  # noqa: E402
from suite import Failure, Suite, contains, in_folder, run, same, true  # noqa: E402

suite = Suite("recipes")
PROJECT = HERE.parent.parent / "examples" / "ci"
PORTENT = pathlib.Path(sys.argv[1]).resolve()
PREFIX = PORTENT.parent.parent
ALL = "--all" in sys.argv
# The recipes call the program by its name, and what is installed on this machine as this machine has it.
os.environ["PATH"] = f"{PORTENT.parent}:/usr/bin:/bin"


def needs(name, present):
    """Whether a tool is there; where it must be, its absence is a failure."""
    if present:
        return True
    if ALL:
        raise Failure(f"{name} is not installed")
    print(f"{name} is not installed: left out")
    return False


def project():
    """A copy of the project as the current folder."""
    shutil.copytree(PROJECT, "project")
    os.chdir("project")


def must(*command, status=0, **keywords):
    done = run(*command, **keywords)
    true(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}", done.returncode == status)
    return done


def build():
    must("make", "CC=portent cc")


def steps(path, begin):
    """The shell commands of a YAML recipe that are ours; the others install packages."""
    commands = re.findall(rf"^ +- {begin}(.*)$", (PROJECT / path).read_text(encoding="utf-8"), re.MULTILINE)
    true("the recipe has commands", len(commands) >= 3)
    return [command for command in commands if not command.startswith("apt-get")]


def follow(path, begin):
    project()
    build()
    # The first time, what there is becomes the baseline.
    contains(must("portent", "ci", "--budget", "6s", "--", "make", "test", status=66).stderr, "Data race on total")
    found = pathlib.Path("portent-ci/result.json").read_text(encoding="utf-8")
    for baseline, status in (('{"portent":1,"trace":"","events":0,"threads":0,"properties":[]}', 66), (found, 0)):
        pathlib.Path("portent-baseline.json").write_text(baseline, encoding="utf-8")
        *before, last = steps(path, begin)
        for command in before:
            must("sh", "-c", command)
        must("sh", "-c", last.replace("10m", "6s"), status=status)
        yield


@suite.test
def github():
    for _ in follow("github.yml", "run: "):
        same("what is uploaded", list(sarif_shape.check(__import__("json").loads(pathlib.Path("portent-ci/portent.sarif").read_text(encoding="utf-8")))), [])


@suite.test
def gitlab():
    counts = []
    for _ in follow("gitlab-ci.yml", ""):
        text = pathlib.Path("portent-ci/gitlab.json").read_text(encoding="utf-8")
        same("code quality", list(gitlab_problems(text)), [])
        counts.append((text.count("fingerprint"), xml.etree.ElementTree.parse("portent-ci/portent.xml").getroot()[0].attrib["failures"]))
    true(f"{counts}: found, then known", counts[0][0] >= 1 and counts[0][1] != "0" and counts[1] == (0, "0"))


@suite.test
def ctest():
    project()
    must("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    must("cmake", "--build", "build")
    done = must("ctest", "--test-dir", "build", "--output-on-failure", "-R", "^(add|bounded|peek)$", status=8)
    outcome = dict(re.findall(r"Test +#\d+: (\w+) \.+ *(Passed|\*+Failed)", done.stdout))
    same("tests", {name: word.strip("*") for name, word in outcome.items()}, {"add": "Passed", "bounded": "Passed", "peek": "Failed"})
    contains(done.stdout, "Data race on total")
    true("results", sorted(path.name for path in pathlib.Path("build/portent").iterdir()) == ["add.json", "bounded.json", "peek.json"])
    contains(must("ctest", "--test-dir", "build", "-N", "-L", "portent").stdout, "Total Tests: 3")
    page = must("portent", "report", "--html", *map(str, pathlib.Path("build/portent").glob("*.json"))).stdout
    contains(page, "<html", "total")
    if needs("GoogleTest", os.path.exists("/usr/include/gtest/gtest.h")):
        googletest()
    if needs("Catch2", os.path.exists("/usr/include/catch2/catch.hpp")):
        catch2()


def googletest():
    done = must("ctest", "--test-dir", "build", "--output-on-failure", "-R", "^gtest$", status=8)
    contains(done.stdout, "[ OK ] Counter.Adds", "[ FAILED ] Counter.Peeks", "[ OK ] Counter.Gets", "Portent found:", "SUMMARY: portent: data race on total")
    before, _, after = done.stdout.partition("Portent found:")
    true("under the test's name", before.rstrip().splitlines()[-3].endswith("Counter.Peeks") and "Counter.Gets" in after)
    # Without the options nothing is looked for, and nothing said to be found.
    must("build/gtest_counter")


def catch2():
    done = must("build/catch_counter", "-r", "junit", status=66, options="races=1:log_path=catch.log")
    cases = {case.attrib["name"]: case.find("failure") for case in xml.etree.ElementTree.fromstring(done.stdout).iter("testcase")}
    true("adds passes", cases["adds"] is None)
    contains(cases["peeks"].text, "Portent found:", "data race on total")
    must("build/catch_counter")


@suite.test
def meson():
    if not needs("Meson", shutil.which("meson")):
        return
    project()
    os.environ["CC"] = "portent cc"
    try:
        must("meson", "setup", "build")
    finally:
        del os.environ["CC"]
    done = must("meson", "test", "-C", "build", "--no-suite", "plain", status=1)
    contains(done.stdout, "add OK", "peek FAIL", "exit status 66")
    true("results", os.path.exists("build/add.json") and os.path.exists("build/peek.json"))
    contains(must("meson", "test", "-C", "build", "--suite", "plain").stdout, "Ok: 2")
    contains(must("meson", "test", "-C", "build", "--suite", "plain", "--wrapper", "portent run --", status=1).stdout, "Ok: 1", "Fail: 1")


@suite.test
def pytest():
    if not needs("pytest", subprocess.run(["/usr/bin/python3", "-c", "import pytest"], capture_output=True, check=False).returncode == 0):
        return
    project()
    build()
    done = must("/usr/bin/python3", "-m", "pytest", "-q", "--junit-xml=out.xml", status=1)
    contains(done.stdout, "1 failed, 2 passed", "Portent found:", "Data race on total")
    failures = [case.attrib["name"] for case in xml.etree.ElementTree.parse("out.xml").getroot().iter("testcase") if case.find("failure") is not None]
    same("failures", failures, ["test_peek"])


@suite.test
def wrong_use_of_cmake():
    project()
    for wrong in ("portent_add_test(COMMAND test_counter)", "portent_add_test(NAME x COMMAND)"):
        text = (PROJECT / "CMakeLists.txt").read_text(encoding="utf-8")
        pathlib.Path("CMakeLists.txt").write_text(text + wrong + "\n", encoding="utf-8")
        contains(must("cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={PREFIX}", status=1).stderr, "portent_add_test(NAME test COMMAND program ...)")


if __name__ == "__main__":
    sys.exit(suite.run([name for name in sys.argv[2:] if name != "--all"], in_folder))
