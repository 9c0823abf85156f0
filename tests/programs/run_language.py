#!/usr/bin/env python3
"""What properties can name in a program: run_language.py PORTENT

State that programs have (elements, ranges of them, C++ names, sizes of containers), and calls of their functions, in `run` and in `check` of its recording. The last line is
`language: N passed, M failed`.
"""
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
            ("var n = count(grid[0..2][0]); property p: n > 1;", "p.prop:1:9", "has the index 2, but there are 2 elements"),
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


ARRAYS = r"""#include <array>
#include <mutex>
#include <thread>
#include <vector>
struct Base { virtual ~Base() {} int secret = 1; };
struct Derived : Base { int extra = 0; } object;
struct Cell { short id; std::array<long, 3> w; };
struct Grid { std::array<Cell, 4> cells; std::array<std::array<int, 2>, 2> square; std::vector<int> numbers; } *grid = new Grid();
std::mutex m;
static void work()
{
    for (int i = 0; i < 5; i++) {
        std::lock_guard<std::mutex> g(m);
        grid->cells[2].w[1]++, grid->square[1][0]++, object.secret++, object.extra++;
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
def arrays_of_the_library():
    """std::array by its indices; a wrong path is shown in its `var` statement; a base class that the debug information only names is named."""
    build(ARRAYS, "-O1", "-fstandalone-debug", cpp=True)
    both("var w = grid->cells[2].w[1]; var s = grid->square[1][0]; var t = sum(grid->square[0..1][0]); var b = object.secret;"
         "property w10: always w <= 10; property w9: always w <= 9; property s10: always s <= 10; property s9: always s <= 9;"
         "property t9: always t <= 9; property b11: always b <= 11; property b10: always b <= 10;",
         {"w10": "holds", "w9": "violated", "s10": "holds", "s9": "violated", "t9": "violated", "b11": "holds", "b10": "violated"},
         "--window", "2", "--lookahead", "2")
    refused("var w = grid->cells[4].id;\nproperty p: always w > 3;", "p.prop:1:9", "has the index 4, but there are 4 elements")
    refused("var t = max(grid->square[1..2][0]);\nproperty p: always t > 3;", "p.prop:1:9", "has the index 2, but there are 2 elements")
    done = run(PORTENT, "run", "-s", "p.prop", "--", "./program")
    same("no hint about debug information that is there", "hint" in done.stderr, False)
    refused("var v = grid->numbers[0];\nproperty p: always v > 3;", "no array and no pointer", "its size() can be named")
    build(ARRAYS, "-O1", cpp=True)
    refused("var b = object.secret;\nproperty p: always b < 3;", "p.prop:1:9: error: 'object.secret' is not there; the members are: object.extra",
            "only the name of the base class Base: compile with -fstandalone-debug")



STRINGS = r"""#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
struct Journal { int pages; std::string text; } journal;
std::string line;
std::mutex m;
static void work()
{
    for (int i = 0; i < 4; i++) {
        std::lock_guard<std::mutex> g(m);
        journal.text += 'a';
        journal.text.append("bcd");
        journal.text.push_back('e');
        journal.text.insert(2, "fghij");
        journal.text.erase(0, 1);
        journal.text.replace(0, 2, "klm");
        journal.text.resize(journal.text.size() + 1);
        std::string other(90, 'x');
        std::swap(other, journal.text); // 90
        journal.text.reserve(400);
        journal.text += std::string(10, 'y') + "z"; // 101
        journal.text = other.substr(0, 7);
    }
}
int main(int argc, char **argv)
{
    std::thread a(work), b(work);
    a.join();
    b.join();
    if (argc > 1) {
        std::istringstream in("a line that is read");
        std::getline(in, line);
    }
    return journal.text.size() == 7 ? 0 : 1;
}
"""


@tests.test
def sizes_of_strings():
    properties = "var n = journal.text.size(); property all: always n <= 101; property most: always n <= 100; property some: never [true]* [n == 90];"
    for standard, level in (("c++11", "-O0"), ("c++17", "-O0"), ("c++17", "-O2"), ("c++20", "-O1")):
        build(STRINGS, level, f"-std={standard}", cpp=True)
        both(properties, {"all": "holds", "most": "violated", "some": "violated"}, "--window", "2", "--lookahead", "2")
    write("p.prop", "var n = line.size(); property read: always n < 40;")
    done = run(PORTENT, "run", "-s", "p.prop", "--", "./program", "read")
    same("a string that a function of libstdc++.so writes", done.returncode, 67)
    contains(done.stderr, "code that is not instrumented wrote line.size()", "1 such value in all; let the library (std::getline, >>) fill a string of its own")


CALLS = r"""#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
enum colour { RED, GREEN };
struct pair { int a, b; };
static int cfg;
static inline int tiny(int n) { return n + cfg; }
static void cfg_load(const char *name) { cfg = name != 0; }
int cfg_get(int key, unsigned char which, const char *what, enum colour c) { return tiny(key) + which + (what != 0) + c; }
static int of_pair(struct pair p, int n) { return p.a + p.b + n; }
static int early(int n) { if (n < 0) return 1; return n > 3 ? 2 : 3; }
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *worker(void *a)
{
    int s = 0;
    pthread_setname_np(pthread_self(), "getter");
    usleep(100000);
    for (int k = 0; k < 3; k++) {
        pthread_mutex_lock(&m);
        s += cfg_get(k * 2 - 1, 200, k ? "x" : 0, GREEN) + of_pair((struct pair){k, 1}, k) + early(k * 3 - 1);
        pthread_mutex_unlock(&m);
    }
    return (void *)(long)s;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, worker, 0);
    cfg_load("x");
    pthread_join(t, 0);
    return 0;
}
"""
INIT = "property init: always (call(cfg_get) -> once return(cfg_load));"


@tests.test
def calls():
    """Events of functions, inlined ones too, and their arguments; the same of a recording of everything."""
    properties = INIT + """
        property big: always !call(cfg_get, $1 > 2);
        property negative: always !call(cfg_get, $1 < -1);
        property one: always (call(cfg_get, $1 > 2) -> call(cfg_get));
        property other: always (call(cfg_get, $1 > 2) -> !call(cfg_get, $1 == 1) && call(cfg_get, $1 >= 3));
        property bytes: always !call(cfg_get, $2 != 200);
        property null: always !call(cfg_get, $3 == 0 && $1 > 0);
        property nulls: always !call(cfg_get, $3 == 0);
        property colour: always !call(cfg_get, $4 != 1);
        property tiny3: never [!call(tiny)]* [call(tiny)] [!call(tiny)]* [call(tiny)] [!call(tiny)]* [call(tiny)];
        property tiny4: never ([!call(tiny)]* [call(tiny)]){4};
        property pairs: always (return(early) -> [call(early), return(early) && previously !call(early)) || true);
        property returns: never ([!return(early)]* [return(early)]){4};
        property returns3: never ([!return(early)]* [return(early)]){3};
        property mine at each i: call(cfg_get) -> once call(worker);
        property mine2 at each i: !call(cfg_get);"""
    expected = {"init": "violated", "big": "violated", "negative": "holds", "one": "holds", "other": "holds", "bytes": "holds",
                "null": "holds", "nulls": "violated", "colour": "holds", "tiny3": "violated", "tiny4": "holds", "pairs": "holds",
                "returns": "holds", "returns3": "violated", "mine": "holds", "mine2": "violated"}
    for level in ("-O0", "-O2"):
        build(CALLS, level)
        both(properties, expected)
        done = run(PORTENT, "run", "-q", "-s", "p.prop", "--record-all", "-o", "all.trace", "--", "./program")
        same(f"status ({done.stderr})", done.returncode, 66)
        done = run(PORTENT, "check", "--json", "-s", "p.prop", "all.trace")
        same("check of everything", verdicts(done.stdout), expected)
        done = run(PORTENT, "convert", "all.trace", "-o", "all.bin")
        done = run(PORTENT, "check", "--json", "-s", "p.prop", "all.bin")
        same("check of the binary form", verdicts(done.stdout), expected)


SMALL = """int x;
static inline int half(int a) { return a >> 1; }
static inline int set(int a) { x = a; return half(a); }
static inline int divide(int a, int b) { return a / b; }
int main(int argc, char **argv)
{
    int s = half(argc) + half(argc + 1);
    s += set(s + argc);
    x = s;
    s += half(divide(s, argc - 1));
    x = s;
    return 0;
}
"""


@tests.test
def calls_in_their_order():
    """Of small functions that are inlined into each other, events are among the writes where the source has them, and before what fails."""
    properties = "".join(f"property {name}: always !call({name}{wants}) && !return({name});\n"
                         for name, wants in (("half", ", $1 > 1000"), ("set", ""), ("divide", ""))) + "property x: always x < 1000;\n"
    half = ["call(half, 2)", "return(half)", "call(half, 3)", "return(half)", "call(set)", "w(x)=4", "call(half, 4)", "return(half)",
            "return(set)", "w(x)=4", "call(divide)", "return(divide)", "call(half, 4)", "return(half)", "w(x)=6"]
    fails = ["call(half, 1)", "return(half)", "call(half, 2)", "return(half)", "call(set)", "w(x)=2", "call(half, 2)", "return(half)",
             "return(set)", "w(x)=2", "call(divide)"]
    for level in ("-O0", "-O2"):
        build(SMALL, level)
        write("p.prop", properties)
        for arguments, expected in ((["x"], half), ([], fails)):
            run(PORTENT, "run", "-q", "-s", "p.prop", "--record-all", "-o", "all.trace", "--", "./program", *arguments)
            with open("all.trace", encoding="utf-8") as file:
                lines = [line.split("|")[1] for line in file if line.startswith("main|")]
            told = [line[6:-1] if line.startswith("event(") else line for line in lines if line.startswith(("event(", "w(x)"))]
            same(f"events at {level} with {arguments}", told, expected)


@tests.test
def calls_played():
    """A predicted order of calls is confirmed, found by explore, and replayed."""
    build(CALLS, "-O2")
    write("p.prop", INIT)
    done = run(PORTENT, "run", "-q", "-s", "p.prop", "-r", "r.json", "--", "./program")
    same(f"status ({done.stderr})", done.returncode, 66)
    with open("r.json", encoding="utf-8") as file:
        finding, = json.load(file)["properties"]
    same("how", finding["how"], "predicted")
    same("witness", [(step["op"], step["object"]) for step in finding["witness"]], [("event", "call(cfg_get)")])
    done = run(PORTENT, "confirm", "r.json", "--", "./program")
    contains(done.stderr + done.stdout, "1 of 1 predicted violation confirmed")
    done = run(PORTENT, "explore", "-n", "50", "-s", "p.prop", "-o", "out.schedule", "--", "./program")
    same(f"explore ({done.stdout}{done.stderr})", done.returncode, 1)
    contains(done.stdout + done.stderr, "property 'init' is violated by worker")
    done = run(PORTENT, "replay", "out.schedule", "--", "./program")
    contains(done.stdout + done.stderr, "the same run, and the same failure")


@tests.test
def mistakes_in_calls():
    build(CALLS)
    for properties, *parts in (
            ("property p: always !call(cfg_gte);", "p.prop:1:21", "the program has no function 'cfg_gte'", "did you mean 'cfg_get'?"),
            ("property p at each i: !call(cfg_gte);", "the program has no function 'cfg_gte'"),
            ("property p: always !call(cfg_get, $5 > 3);", "p.prop:1:21", "'cfg_get' has no argument $5"),
            ("property p: always !call(of_pair, $2 > 3);", "'of_pair' has no argument $2", "a structure"),
            ("property p: always !call(cfg_get, $7 > 3);", "p.prop:1:35", "$1 to $6"),
            ("property p: always !call(cfg_get, key > 3);", "p.prop:1:35", "such as '$1'"),
            ("property p: always !call(cfg_get, $1);", "p.prop:1:37", "such as '$1 > 3'"),
            ('property p: always !call(cfg_get, $1 == "x");', "an argument is a number"),
            ("property p: always !return(cfg_get, $1 > 3);", "arguments are those of the call"),
            ("property p at each i: !call(cfg_get, $1 > 3);", "p.prop:1:24", "may not be asked for in an 'at' property"),
            ("property p: " + " && ".join(f"call(cfg_get, $1 > {n})" for n in range(5)) + ";", "4 different conditions")):
        refused(properties, *parts)
    write("p.prop", "property p: always !call(cfg_get, $1 > 3);")
    write("x.trace", "T1|event(call(cfg_get))|a.c:1\n")
    done = run(PORTENT, "check", "-s", "p.prop", "x.trace")
    same("status", done.returncode, 2)
    contains(done.stderr, "the trace does not give argument $1 of call(cfg_get)")


CPP_CALLS = r"""#include <stdexcept>
#include <thread>
namespace app {
struct Cfg {
    int level = 0;
    int load(int by) { level += by; return level; }
    template <class T> T get(T by) { return by + (T)level; }
    void fails(int n) { if (n > 0) throw std::runtime_error("no"); level++; }
};
}
static app::Cfg cfg;
int main()
{
    std::thread t([] {
        cfg.load(5);
        cfg.get(7L);
        try { cfg.fails(1); } catch (const std::runtime_error &) { }
        cfg.fails(0);
    });
    t.join();
}
"""


@tests.test
def cpp_calls():
    for level in ("-O0", "-O2"):
        build(CPP_CALLS, level, cpp=True)
        both("""property five: always !call(app::Cfg::load, $1 == 5); property six: always !call(app::Cfg::load, $1 == 6);
             property get: always !call("app::Cfg::get<long>", $1 > 6);
             property calls: never ([!call(app::Cfg::fails)]* [call(app::Cfg::fails)]){2};
             property returns: never ([!return(app::Cfg::fails)]* [return(app::Cfg::fails)]){2};""",
             {"five": "violated", "six": "holds", "get": "violated", "calls": "violated", "returns": "holds"})


@tests.test
def names_of_threads():
    """What pthread_setname_np says, in quotes."""
    build(CALLS)
    write("p.prop", 'thread g = "getter"; property p at g: !call(cfg_get);')
    done = run(PORTENT, "run", "-q", "-s", "p.prop", "-r", "r.json", "--", "./program")
    same(f"status ({done.stderr})", done.returncode, 66)
    with open("r.json", encoding="utf-8") as file:
        same("run", verdicts(file.read()), {"p": "violated"})



@tests.test
def patterns():
    """Those of the library, and one of the file's own."""
    build(CALLS, "-O2")
    both("""var c = cfg;
         use init_before_use(init = return(cfg_load), use = call(cfg_get));
         use ready = init_before_use(init = call(worker), use = call(cfg_get));
         use at_most_once(event = call(cfg_load)); use often = at_most_once(event = call(cfg_get));
         use exactly_once(event = call(cfg_load), end = return(main)); use missing = exactly_once(event = call(cfg_get, $1 > 100), end = return(main));
         use in_range(value = c, low = 0, high = 1); use bounded_queue(size = c, capacity = 0);
         use no_use_after_close(open = call(worker), close = return(worker), use = call(cfg_get));
         use closed = no_use_after_close(open = call(worker), close = call(tiny), use = call(cfg_get));
         use paired(begin = call(cfg_get), end = return(cfg_get)); use unpaired = paired(begin = call(cfg_get), end = call(tiny, $1 > 100));
         use paired_in_thread(begin = call(cfg_get), end = return(cfg_get));
         use lock_discipline(lock = call(worker), unlock = return(worker), access = call(cfg_get));
         use unlocked = lock_discipline(lock = call(worker), unlock = call(tiny), access = call(cfg_get));
         use response(request = call(cfg_get), answer = return(cfg_get), bound = 50 events);
         pattern mine(a, b) { let x = a; property mine: never [!x]* [b]; property other: always (!b || once a); }
         use mine(a = call(worker), b = call(cfg_get));""",
         {"init_before_use": "violated", "ready": "holds", "at_most_once": "holds", "often": "violated", "exactly_once": "holds",
          "missing": "violated", "in_range": "holds", "bounded_queue": "violated", "no_use_after_close": "holds", "closed": "violated",
          "paired": "holds", "unpaired": "violated", "paired_in_thread": "holds", "lock_discipline": "holds", "unlocked": "violated",
          "response": "holds", "mine": "holds", "mine_other": "holds"})
    write("p.prop", "use no_race(variable = cfg);")
    done = run(PORTENT, "run", "-q", "-s", "p.prop", "--", "./program")
    same(f"status ({done.stderr})", done.returncode, 66)


@tests.test
def mistakes_in_patterns():
    build(CALLS)
    for properties, *parts in (
            ("use init_before_us(init = a, use = b);", "p.prop:1:5", "no pattern 'init_before_us'", "did you mean 'init_before_use'?"),
            ("use nonsense(a = b);", "there are ", "exactly_once"),
            ("use init_before_use(init = a);", "p.prop:1:5", "the pattern needs 'use'"),
            ("use init_before_use(init = a, init = b, use = c);", "'init' is given twice"),
            ("use init_before_use(init = a, usee = b, use = c);", "p.prop:1:31", "did you mean 'use'?"),
            ('use init_before_use(init = "x", use = b);', "init_before_use.prop:4:51", "a string stands here", "used at p.prop:1:5"),
            ("use init_before_use(init = eventually a, use = b);", "init_before_use.prop:4:51", "future operator", "used at p.prop:1:5"),
            ("use response(request = a, answer = b, bound = 5);", "response.prop:5:30", "used at p.prop:1:5"),
            ("use no_race(variable = a > 3);", "no_race.prop:4:33", "used at p.prop:1:5"),
            ("use at_most_once(event = a);\nuse at_most_once(event = b);", "give it another name", "used at p.prop:2:5"),
            ("use init_before_use(init = call(cfg_lod), use = call(cfg_get));", "p.prop:1:5", "did you mean 'cfg_load'?"),
            ("pattern q(a) { property q: a", "'}'"), ("pattern q(a) { var x = y; property q: a; } use q(a = b);", "they are its parameters"), ("pattern q(a) { use q(a = a); } use q(a = b);", "a pattern uses no other pattern")):
        refused(properties, *parts)


def main():
    global PORTENT
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PORTENT = os.path.abspath(sys.argv[1])
    return tests.run(sys.argv[2:], suite.in_folder)


if __name__ == "__main__":
    sys.exit(main())
