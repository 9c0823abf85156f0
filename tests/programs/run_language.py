#!/usr/bin/env python3
"""What properties can name in a program: run_language.py PORTENT

State that programs have (elements, ranges of them, C++ names, sizes of containers), in `run` and in `check` of its recording. The last line is
`language: N passed, M failed`.
"""
import argparse
import json
import os
import sys

import suite
from suite import contains, run, same, write

tests = suite.Suite("language")
PORTENT = None


def build(source, *flags, cpp=False):
    name = "program.cpp" if cpp else "program.c"
    write(name, source)
    done = run(PORTENT, "c++" if cpp else "cc", *flags, "-o", "program", name)
    same("compiling", (done.returncode, done.stderr), (0, ""))


def verdicts(text):
    return {finding["name"]: finding["verdict"] for finding in json.loads(text)["properties"]}


def both(properties, expected, *options, status=None):
    """The same verdicts of a run and of its recording."""
    write("p.prop", properties)
    done = run(PORTENT, "run", "-q", *options, "-s", "p.prop", "-r", "r.json", "-o", "r.trace", "--", "./program")
    same(f"status ({done.stderr})", done.returncode, status if status is not None else 66 if "violated" in expected.values() else 0)
    with open("r.json", encoding="utf-8") as file:
        same("run", verdicts(file.read()), expected)
    done = run(PORTENT, "check", "--json", *options, "-s", "p.prop", "r.trace")
    same("check", verdicts(done.stdout), expected)


def refused(properties, *parts):
    write("p.prop", properties)
    done = run(PORTENT, "run", "-s", "p.prop", "--", "./program")
    same("status", done.returncode, 2)
    contains(done.stderr, *parts)


RANGES = r"""#include <pthread.h>
struct item { int busy; double cost; };
struct queue { struct item items[4]; int n; } queue, *q = &queue;
int grid[2][3];
static void *worker(void *a)
{
    for (int i = 0; i < 4; i++) {
        queue.items[i].busy = i - 1;
        queue.items[i].cost = i + 0.5;
        grid[i / 2][i % 2] = 10 * i;
    }
    return a;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    pthread_join(t, 0);
}
"""


@tests.test
def ranges():
    for level in ("-O0", "-O2"):
        build(RANGES, level)
        both("""var n = count(queue.items[0..3].busy != 0); var pos = count(queue.items[0..3].busy > 0);
            var neg = count(q->items[0..3].busy == -1); var none = count(queue.items[1..1].busy);
            var c = sum(queue.items[0..3].cost); var most = max(program.c:queue.items[0..3].cost); var least = min(grid[0..1][0..2]);
            var some = count(grid[0..1][0..2] >= 10);
            property n: always n <= 3; property n2: always n <= 2; property pos: always pos <= 2; property pos1: always pos <= 1;
            property neg: always neg <= 1; property neg0: always neg < 1; property none: always !none;
            property c: always c <= 8; property c7: always c < 8.0; property most: always most <= 3.5; property most3: always most < 3.5;
            property least: always least == 0; property some: always some <= 3; property some2: always some != 3;
            property mine at each i: n <= 3; property mine2 at each i: n < 3;""",
             {"n": "holds", "n2": "violated", "pos": "holds", "pos1": "violated", "neg": "holds", "neg0": "violated", "none": "holds",
              "c": "holds", "c7": "violated", "most": "holds", "most3": "violated", "least": "holds", "some": "holds", "some2": "violated",
              "mine": "holds", "mine2": "violated"})


@tests.test
def mistakes_in_ranges():
    build(RANGES)
    for properties, *parts in (
            ("property p: always count(queue.items[0..3].busy != 0) < 3;", "p.prop:1:20", "var n = count("),
            ("var n = queue.items[0..3].busy;", "p.prop:1:9", "several variables", "count(queue.items[0..3].busy != 0)"),
            ("property p: grid[0..1][0] > 3;", "p.prop:1:13", "several variables"),
            ("property p at each i: race_free(grid[0..1][0]);", "several variables"),
            ("var n = sum(grid[0..1][0] > 2);", "count, alone, takes a comparison"),
            ("var n = sum(grid[0][0]);", "no range of indices"),
            ("var n = count(grid[1..0][0]);", "the range [1..0] is empty"),
            ("var n = count(grid[0..1000][0]);", "more than 256 elements"),
            ("var n = count(grid[0..1][0] > x);", "p.prop:1:31"),
            ("var n = count(grid[0..2][0]); property p: n > 1;", "p.prop:1:43", "has the index 2, but there are 2 elements"),
            ("property p: q->n > 3;", "var v = q->n;")):
        refused(properties, *parts)


CPP = r"""#include <mutex>
#include <thread>
#include <vector>
template <class T, int N> struct Pool { static T used; };
template <class T, int N> T Pool<T, N>::used;
template <class T> struct Box { static int total; };
template <class T> int Box<T>::total;
namespace { int hidden; }
struct Big { char bytes[24]; };
namespace app {
struct Base { int level; };
struct Cfg : Base { std::vector<int> v; int a[3]; } cfg;
namespace { int inner; }
}
std::vector<Big> bigs;
std::vector<bool> bits;
app::Cfg *pc = &app::cfg;
std::mutex m;
static void work()
{
    for (int i = 0; i < 5; i++) {
        std::lock_guard<std::mutex> g(m);
        app::cfg.v.push_back(i);
        bigs.push_back(Big());
        if (bigs.size() == 7)
            bigs.clear();
        Pool<long, 4>::used++, Box<Box<int> >::total++, hidden++, app::inner++, app::cfg.level++, app::cfg.a[1]++;
    }
}
int main()
{
    std::thread a(work), b(work);
    a.join();
    b.join();
}
"""


@tests.test
def cpp_names():
    names = {"v": "app::cfg.v.size()", "pv": "pc->v.size()", "used": "Pool<long,4>::used", "total": "Box<Box<int>>::total",
             "total2": "Box< Box<int> >::total", "hidden": "(anonymous namespace)::hidden", "inner": "app::inner", "level": "app::cfg.level",
             "one": "app::cfg.a[1]", "file": "program.cpp:Pool<long, 4>::used"}
    for level in ("-O0", "-O2"):
        build(CPP, level, cpp=True)
        properties = "".join(f"var {name} = {path}; property {name}_10: always {name} <= 10; property {name}_9: always {name} <= 9;"
                             for name, path in names.items())
        expected = {f"{name}_{most}": "holds" if most == 10 else "violated" for name in names for most in (10, 9)}
        both(properties + "var b = bigs.size(); property b7: always b <= 7; property b6: always b <= 6;",
             {**expected, "b7": "holds", "b6": "violated"}, "--window", "2", "--lookahead", "2")
    refused("var b = bits.size(); property p: b < 3;", "the size() of 'bits' is not known", "vector<bool>")
    refused("var b = hidden.size(); property p: b < 3;", "the size() of 'hidden' is not known")


def main():
    global PORTENT
    parser = argparse.ArgumentParser(description="What properties can name in a program.")
    parser.add_argument("portent", type=os.path.abspath)
    parser.add_argument("tests", nargs="*")
    options = parser.parse_args()
    PORTENT = options.portent
    return tests.run(options.tests, suite.in_folder)


if __name__ == "__main__":
    sys.exit(main())
