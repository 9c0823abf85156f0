#!/usr/bin/env python3
"""Tests of `portent run` with compiled programs: run_run.py PORTENT [NAME...]

The programs are in run/. What is asked: which events come into the trace, that `check` says of the trace what `run` said of the
run, and what PORTENT_OPTIONS does. The last line is `run: N passed, M failed`.
"""
import ctypes.util
import glob
import json
import os
import re
import subprocess
import sys
import time

from suite import Failure, Suite, contains, in_folder, run, same, true, write

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
PORTENT = ""
SUITE = Suite("run")
test = SUITE.test
FOUND = 66
NOT_WHOLE = 67


def build(name):
    done = run(PORTENT, "cc", "-O2", "-pthread", os.path.join(HERE, name + ".c"), "-o", name)
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def events(path):
    """The lines of a text trace, cut into fields."""
    return [line.split("|") for line in read(path).splitlines() if line[0] not in "-#"]


def findings(result):
    """What a result says, without what may differ from call to call."""
    return [{key: value for key, value in found.items() if key not in ("seconds", "peak_bytes")}
            for found in result["properties"]]


def same_offline(properties, trace, result):
    """`check` on the recorded trace says what `run` said of the run."""
    done = run(PORTENT, "check", "--json", "--window", "64", "--lookahead", "256", "-s", properties, trace)
    offline, online = json.loads(done.stdout), json.loads(read(result))
    same("check on the recorded trace", findings(offline), findings(online))
    same("counts", [offline["events"], offline["threads"]], [online["events"], online["threads"]])


MARKS = "property small: always balance < 40;"


@test
def many_live_threads():
    """Three thousand threads at once: a ring for each, the whole answer, a trace that does not grow with their square."""
    build("many")
    write("sum.prop", "property p: x <= 3000; property q: x < 3000;")
    done = run(PORTENT, "run", "-q", "-s", "sum.prop", "-o", "many.trace", "-r", "many.json", "--", "./many", "3000")
    same(f"status ({done.stderr})", done.returncode, FOUND)
    verdicts = [found["verdict"] for found in json.loads(read("many.json"))["properties"]]
    same("verdicts", verdicts, ["holds", "violated"])
    size = os.path.getsize("many.trace")
    if size > 320_000 + 3000 * len(HERE):  # a write names its source, and then its thread has ended
        raise Failure(f"the trace has {size} bytes")
    same_offline("sum.prop", "many.trace", "many.json")
    done = run(PORTENT, "convert", "many.trace", "-o", "many.ptb")
    same(f"convert ({done.stderr})", done.returncode, 0)
    done = run(PORTENT, "convert", "many.ptb", "-o", "again.trace")
    same(f"convert back ({done.stderr})", done.returncode, 0)
    same("there and back", read("again.trace"), read("many.trace").replace("#!begin\n", "").replace("#!end\n", ""))


@test
def told_in_order():
    """Properties that threads of their own look at: what is told comes in the order of events, and is what `check` says of the trace."""
    build("fast")
    write("fast.prop", "property late: x < 20000; property other: y < 20000; property early: x < 15000; property fine: x >= 0 && y >= 0;"
                       "property soon: y < 9000; property sum: x + y < 45000; property change: always (x == 7000 -> once y >= 0);")
    where = {"late": ("x", 20000), "other": ("y", 20000), "early": ("x", 15000), "soon": ("y", 9000)}
    for jobs in ("1", "2", "3", "9"):
        done = run(PORTENT, "run", "--jobs", jobs, "-s", "fast.prop", "-o", "fast.trace", "-r", "fast.json", "--", "./fast", "30000")
        same(f"status ({done.stderr})", done.returncode, FOUND)
        same_offline("fast.prop", "fast.trace", "fast.json")
        lines = [event[1] for event in events("fast.trace")]
        at = {name: lines.index(f"w({var})={value}") for name, (var, value) in where.items()}
        told = re.findall(r"^Property '(\w+)': your run has just broken it", done.stderr, re.MULTILINE)
        same("told", set(told), set(at) | {"sum"})
        same("in the order of the events", [name for name in told if name in at], sorted(at, key=at.get))


@test
def each_about_one_variable():
    """Where each property is about one variable less is recorded of the order (PT_KEEP_CHAINS). What is known is the same as where all of it
    is, as it is with -o; and one property of two variables is enough that all of it is."""
    build("chained")
    write("one.prop", "property l: always s.level <= 8; property a: s.a <= 6; property b: always s.b <= 6;")
    write("two.prop", "property l: always s.level <= 8; property ab: always s.a + s.b <= 12;")
    write("ab.prop", "property ab: always s.a + s.b <= 12;")
    write("bad.prop", "property l: always s.level <= 5; property a: s.a < 6;")
    results = []
    for properties, status, options in (("one", 0, []), ("one", 0, ["-o", "chained.trace"]), ("two", 0, []), ("ab", 0, []), ("bad", FOUND, [])):
        done = run(PORTENT, "run", "-q", "-s", properties + ".prop", *options, "-r", "chained.json", "--", "./chained")
        same(f"status of {properties} ({done.stderr})", done.returncode, status)
        results.append({found["name"]: found for found in findings(json.loads(read("chained.json")))})
    one, recorded, two, both, bad = results
    same("with and without a recording", one, recorded)
    same("relevant", [one[name]["relevant"] for name in "lab"], [8, 6, 6])
    same("runs", [one[name]["runs"] for name in "lab"], ["1", "1", "1"])
    same("the same beside another", {**two["l"], "file": ""}, {**one["l"], "file": ""})
    # each thread writes one of them, and six times takes the lock: some are in no order, and never are all (12 over 6 are 924)
    for found in (two["ab"], both["ab"]):
        true(f"order of two variables: {found['runs']} runs", 1 < int(found["runs"]) < 924)
    same("verdicts", [bad[name]["verdict"] for name in "la"], ["violated", "violated"])
    same("witnesses", [[step["value"] for step in bad[name]["witness"]] for name in "la"], [list(range(1, 7)), list(range(1, 7))])


@test
def in_one_order_and_then_not():
    """Clocks are plain numbers while all events are in one order (clock/ladder.h), by locks or by memory alone, and vectors afterwards. The
    number of runs is known from the program; it is the same where only clocks are recorded, and where everything is."""
    build("ordered")
    write("ordered.prop", "property p: always x + y <= 809;")
    write("late.prop", "property p: always !(x == 402 && y >= 405);")
    for options in ([], ["-o", "ordered.trace"], ["--record-all", "-o", "all.trace"]):
        done = run(PORTENT, "run", "-q", "-s", "ordered.prop", *options, "-r", "ordered.json", "--", "./ordered")
        same(f"status with {options} ({done.stderr})", done.returncode, 0)
        found = json.loads(read("ordered.json"))["properties"][0]
        same(f"with {options}", [found["verdict"], found["relevant"], found["runs"]], ["holds", 809, "15"])
    done = run(PORTENT, "run", "-q", "-s", "late.prop", "-r", "late.json", "--", "./ordered")
    found = json.loads(read("late.json"))["properties"][0]
    same("all of one before the rest of the other, observed or not", [done.returncode, found["verdict"]], [FOUND, "violated"])


@test
def pieces_of_one_variable():
    """Writes of one variable are ordered, whichever of its bytes they are of and whatever they do not know of each other: a state has one
    value of it. So says each way of recording."""
    write("pieces.c", "#include <pthread.h>\nlong wide; char text[24];\n"
          "static void *work(void *at) { ((volatile char *)&wide)[(long)at] = 1; ((volatile char *)text)[(long)at * 9] = 'a'; return 0; }\n"
          "int main(void) {\n    pthread_t list[2];\n    for (long i = 0; i < 2; i++) pthread_create(&list[i], 0, work, (void *)i);\n"
          "    for (int i = 0; i < 2; i++) pthread_join(list[i], 0);\n    return 0;\n}\n")
    write("wide.prop", "property p: always wide < 300;")
    write("text.prop", 'property p: always text != "no";')
    write("both.prop", 'property p: always (wide < 300 || text != "no");')
    done = run(PORTENT, "cc", "-O1", "-pthread", "pieces.c", "-o", "pieces")
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    for name, relevant in (("wide", 2), ("text", 2), ("both", 4)):
        for options in ([], ["-o", "pieces.trace"]):
            done = run(PORTENT, "run", "-q", "-s", name + ".prop", *options, "-r", "pieces.json", "--", "./pieces")
            same(f"status of {name} {options} ({done.stderr})", done.returncode, 0)
            found = json.loads(read("pieces.json"))["properties"][0]
            same(f"{name} {options}", [found["verdict"], found["relevant"]], ["holds", relevant])
            true(f"runs of {name}: {found['runs']}", name == "both" or found["runs"] == "1")
        same_offline(name + ".prop", "pieces.trace", "pieces.json")


@test
def named_beside_one_variable():
    """What a library names itself is no matter to a property of one variable, unless it has that name: then events of it are missed. Where the
    program itself names something all is watched as ever."""
    naming = "#include <portent.h>\nvoid name(int *what, const char *as) { portent_watch(what, sizeof *what, PORTENT_INT, as); }\n"
    using = ("int x, y, late[8];\nint main(int count, char **names) {\n"
             "    for (int i = 0; i < 8; i++) { if (count > 1) name(&late[i], names[1]); late[i] = 1; }\n"
             "    x = 2; y = late[3]; late[4] = y; return 0;\n}\n")
    write("library.c", naming)
    write("apart.c", "void name(int *what, const char *as);\n" + using)
    write("named.c", naming + using)
    write("x.prop", "property p: always x <= 2;")
    for command in (["-shared", "-fPIC", "library.c", "-o", "libname.so"], ["apart.c", "-o", "apart", "-L.", "-lname", "-Wl,-rpath,."],
                    ["named.c", "-o", "named"]):
        done = run(PORTENT, "cc", "-O2", *command)
        same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    for program, name, status, events in (("apart", None, 0, 1), ("apart", "z", 0, 1), ("apart", "x", NOT_WHOLE, 1),
                                          ("named", None, 0, 1), ("named", "z", 0, 10)):
        done = run(PORTENT, "run", "-q", "-s", "x.prop", "-r", "named.json", "--", "./" + program, *([name] if name else []))
        same(f"status of {program} with {name} ({done.stderr})", done.returncode, status)
        result = json.loads(read("named.json"))
        same(f"relevant in {program} with {name}", [result["properties"][0]["relevant"], result["events"]], [1, events])


@test
def many_live_threads_in_full():
    """The same where every access is recorded."""
    build("many")
    write("sum.prop", "property p: x <= 1500;")
    done = run(PORTENT, "run", "-q", "--record-all", "-s", "sum.prop", "-o", "many.trace", "--", "./many", "1500")
    same(f"status with --record-all ({done.stderr})", done.returncode, 0)


@test
def many_live_threads_judge():
    """Ten thousand threads at once that judge a property themselves, all at the same lock; and many that ask about each other."""
    build("many")
    for count, text in ((10000, "x <= 10000"), (3000, "forall j != i: @j x <= 3000")):
        write("each.prop", f"property q at each i: {text};")
        begun = time.monotonic()
        done = run(PORTENT, "run", "-q", "-s", "each.prop", "--", "./many", str(count))
        same(f"status of {text} ({done.stderr})", done.returncode, 0)
        true(f"{count} threads took too long", time.monotonic() - begun < 120)


@test
def short_threads_write_short_clocks():
    """Threads that come and go: each line's clock names the few events that the others follow from."""
    build("many")
    write("sum.prop", "property p: x <= 3000;")
    done = run(PORTENT, "run", "-q", "-s", "sum.prop", "-o", "many.trace", "--", "./many", "-3000")
    same(f"status ({done.stderr})", done.returncode, 0)
    done = run(PORTENT, "run", "-q", "-s", "sum.prop", "-o", "wrapped.trace", "--", "sh", "-c", "./many -3000")
    same(f"status behind a shell ({done.stderr})", done.returncode, 0)
    wrapped, = glob.glob("wrapped.trace.*")
    for trace in ("many.trace", wrapped):
        longest = max(len(fields[-1].split(",")) for fields in events(trace))
        if longest > 16:
            raise Failure(f"a clock of {trace} names {longest} threads")


@test
def marks():
    """Blocks and internal events are in the trace, in order, and change no answer."""
    build("marks")
    write("small.prop", MARKS)
    done = run(PORTENT, "run", "-s", "small.prop", "-o", "marks.trace", "-r", "marks.json", "--", "./marks")
    same(f"status ({done.stderr})", done.returncode, FOUND)
    same("output", done.stdout, "balance 40\n")
    if "4 calls of portent_end" not in done.stderr:
        raise Failure(done.stderr)
    for thread, busy in (("depositor", 1), ("depositor#2", 2)):
        own = [fields for fields in events("marks.trace") if fields[0] == thread]
        round_ = ["begin(deposit)", f"int(busy)={busy}", "w(balance)", "int(busy)=0", "end(deposit)"]
        same(f"events of {thread}", [re.sub(r"^(w\(.*\))=.*", r"\1", fields[1]) for fields in own], 2 * round_)
        counts = [int(re.search(rf"(?:=|,){thread}:(\d+)", fields[3])[1]) for fields in own]
        same(f"clocks of {thread}", counts, [0, 0, 1, 1, 1, 1, 1, 2, 2, 2])
    same_offline("small.prop", "marks.trace", "marks.json")
    same("source roots", json.loads(read("marks.json"))["source_roots"], [os.path.realpath(".")])
    run(PORTENT, "run", "-s", "small.prop", "-r", "alone.json", "--", "./marks")
    same("events without -o", json.loads(read("alone.json"))["events"], 4)


@test
def marks_binary():
    build("marks")
    write("small.prop", MARKS)
    run(PORTENT, "run", "-s", "small.prop", "-o", "marks.ptb", "-r", "marks.json", "--", "./marks")
    same_offline("small.prop", "marks.ptb", "marks.json")


@test
def options():
    """PORTENT_OPTIONS on the tool's side."""
    build("marks")
    write("small.prop", MARKS)

    def status(text, *more):
        done = run(PORTENT, "run", "-s", "small.prop", *more, "--", "./marks", options=text)
        same("output", done.stdout, "balance 40\n")
        return done.returncode, done.stderr
    same("exitcode", status("exitcode=7")[0], 7)
    same("the command line counts more", status("exitcode=7", "--exit-code", "8")[0], 8)
    same("an exit status there is not", status("exitcode=700")[0], FOUND)
    code, text = status("halt_on_eror=1:color=always")
    same("an unknown name", text.splitlines()[:2], ["portent: warning: PORTENT_OPTIONS: there is no option 'halt_on_eror'",
                                                   "hint: did you mean 'halt_on_error'?"])
    same("colours", "\033[" in text, True)
    same("colours by themselves", "\033[" in status("color=auto")[1], False)
    listed = status("help=1")[1]
    same("the list is there once, without what is for tests", [listed.count(f"\n  {name}=") for name in ("help", "exitcode", "log_path", "counted_before")],
         [1, 1, 1, 0])
    same("verbosity", re.findall(r"portent: (.*): 4 bytes at", status("verbosity=1")[1]), ["balance"])
    same("no warnings", "warning" in status("verbosity=-1 foo=1", "-o", "x.trace")[1], False)


@test
def log_path():
    build("marks")
    write("small.prop", MARKS)
    done = run(PORTENT, "run", "-s", "small.prop", "--", "./marks", options="log_path=reports/log")
    if "cannot write messages here" not in done.stderr or "SUMMARY" not in done.stderr:
        raise Failure(done.stderr)
    os.mkdir("reports")
    done = run(PORTENT, "run", "-s", "small.prop", "--", "./marks", options="log_path=reports/log")
    same("standard error", done.stderr, "")
    (log,) = os.listdir("reports")
    if not re.fullmatch(r"log\.\d+", log) or "SUMMARY" not in read("reports/" + log):
        raise Failure(log)
    done = run(PORTENT, "run", "-s", "small.prop", "--", "./marks", options="log_path=stdout")
    same("both on standard output", ["balance 40" in done.stdout, "SUMMARY" in done.stdout, done.stderr], [True, True, ""])


@test
def halt_on_error():
    """The program, which would go on for ten minutes, is ended when the observer has found something."""
    build("marks")
    write("small.prop", MARKS)
    for more in ([], ["-q"]):
        done = run(PORTENT, "run", "-s", "small.prop", *more, "--", "./marks", "wait", options="halt_on_error=1")
        same("status", done.returncode, FOUND)


def exact(path):
    """Every read of a global with a value sees the last write before it; returns how many did. (Other memory is also written by
    code that is not instrumented.)"""
    last, reads = {}, 0
    for _, op, *_ in events(path):
        match = re.fullmatch(r"([rwu])\((.*)\)(?:=(.*))?", op)
        if not match or match[2].startswith("0x"):
            continue
        kind, name, value = match.groups()
        if kind != "r":
            last[name] = value
        elif value is not None:
            if last.get(name, value) not in (value, None):
                raise Failure(f"a read of {name} gives {value}, and {last[name]} was written last")
            reads += name in last
            last[name] = value
    return reads


@test
def record_all():
    """Every event of every thread, with names, and nothing that `check` finds wrong."""
    build("everything")
    write("some.prop", "property h: always hits < 30; property t: always total != 5000;")
    done = run(PORTENT, "run", "--record-all", "-s", "some.prop", "-o", "all.trace", "-r", "all.json", "--", "./everything", "20")
    same(f"status ({done.stderr})", done.returncode, FOUND)
    same("output", done.stdout, "60\n")
    same_offline("some.prop", "all.trace", "all.json")
    count = {}
    for fields in events("all.trace"):
        word = fields[1].split("=")[0]
        count[word] = count.get(word, 0) + 1
    expected = {"fork(worker)": 1, "fork(worker#2)": 1, "fork(worker#3)": 1, "join(worker)": 1, "join(worker#3)": 1,
                "u(hits)": 60, "event(round)": 60, "int(round)": 60, "begin(transfer)": 60, "end(transfer)": 60,
                "acq(accounts[1].lock)": 60, "rel(accounts[1].lock)": 60, "racq(table_lock)": 60, "rrel(table_lock)": 60,
                "acq(table_lock)": 60, "rel(table_lock)": 60, "acq(spin)": 60, "sync(done)": 6, "sync(start)": 6,
                "w(rate)": 60, "w(both)": 60, "r(grid[1][2])": 60, "w(grid[0][2])": 20, "w(grid[1][1])": 20,
                "w(accounts[1].balance)": 60}
    same("how many of each", {name: count.get(name, 0) for name in expected}, expected)
    same("as many taken as given back", count["acq(accounts[0].lock)"], count["rel(accounts[0].lock)"])
    begun = sorted(word[6:-1] for word in count if word.startswith("alloc("))
    ended = {word[5:-1] for word in count if word.startswith("free(")}
    if not begun or len(set(begun)) != len(begun) or any(count[f"alloc({name})"] != 1 for name in begun):
        raise Failure(f"no blocks, or several of one name: {begun}")
    same("blocks that do not end", [name for name in begun if name not in ended], [])
    if not any(word.startswith(f"w({name}+") for word in count for name in begun):
        raise Failure("no write of a block's memory")
    if exact("all.trace") < 500:
        raise Failure("hardly any read has a value")
    if any(field.startswith("c=") for fields in events("all.trace") for field in fields[3:]):
        raise Failure("a line has a clock")
    marked = {tuple(fields[1].split("=")[:1] + [f for f in fields[3:] if f[:2] != "s="]) for fields in events("all.trace")}
    same("lines with an order, or of a part of something with a name",
         {line for line in marked if line[1:] and not line[0].startswith(("r(0x", "w(0x"))},
         {("r(hits)", "m=seq_cst"), ("u(hits)", "m=seq_cst"), ("w(both)", "b=0-3"), ("w(both)", "b=4-7"),
          *((f"{op}(accounts[{i}].open...)", "b=0-0") for op in "rw" for i in (0, 1)),
          *((f"sync({name})", f"m={order}") for name in ("start", "done") for order in ("release", "acquire"))})


@test
def a_result_of_nothing():
    """Who only records gets no answer, and is told so."""
    build("everything")
    for options, warned in (((), True), (("-q",), False), (("--races",), False)):
        done = run(PORTENT, "run", *options, "--record-all", "-o", "t.ptb", "-r", "t.json", "--", "./everything", "5")
        same(f"{options}: {done.stderr}", "nothing is looked for, so the result will say nothing" in done.stderr, warned)
        same(f"{options}: hint", "'portent check t.ptb' looks afterwards" in done.stderr, warned)
    same("without -r", "nothing is looked for" in run(PORTENT, "run", "--record-all", "-o", "t.ptb", "--", "./everything", "5").stderr, False)


@test
def a_recording_beside_other_things():
    """Who names a file for it, and nothing that is to be found, looks for races all the same; of several processes none has that file, and that is said."""
    write("forking.c", """#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
int x;
static void *add(void *p) { x++; return p; }
int main(int count, char **arguments)
{
    pthread_t a, b;
    int parent = count > 1 ? fork() : 0;
    pthread_create(&a, 0, add, arguments);
    pthread_create(&b, 0, add, arguments);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return parent && wait(0) < 0;
}
""")
    same("compiling it", run(PORTENT, "cc", "-g", "-pthread", "forking.c", "-o", "forking").returncode, 0)
    done = run(PORTENT, "run", "-o", "one.trace", "--", "./forking")
    same(done.stderr, (done.returncode, "Data race on x" in done.stderr, os.path.exists("one.trace")), (66, True, True))
    for options, told in ((("--record-all",), True), (("--record-all", "-q"), False), (("--races",), True)):
        done = run(PORTENT, "run", *options, "-o", "two.trace", "--", "./forking", "forks")
        names = [name for name in os.listdir(".") if re.fullmatch(r"two\.trace\.\d+", name)]
        same(f"{options}: {done.stderr}", (len(names), os.path.exists("two.trace")), (2, False))
        same(f"{options}: {done.stderr}", "portent: 2 processes were each recorded, in two.trace.PID\n" in done.stderr, told)
        for name in names:
            os.remove(name)


@test
def record_all_load():
    """The same under load, in binary form, and without any property."""
    build("everything")
    write("some.prop", "property h: always hits < 6000;")
    done = run(PORTENT, "run", "--record-all", "-s", "some.prop", "-o", "all.ptb", "-r", "all.json", "--", "./everything", "2000")
    same(f"status ({done.stderr})", done.returncode, FOUND)
    same_offline("some.prop", "all.ptb", "all.json")
    same("convert", run(PORTENT, "convert", "all.ptb", "-o", "all.trace").returncode, 0)
    exact("all.trace")
    done = run(PORTENT, "run", "--record-all", "-o", "none.trace", "--", "./everything", "5")
    same(f"status ({done.stderr})", done.returncode, 0)
    done = run(PORTENT, "check", "--json", "none.trace")
    races, deadlocks = json.loads(done.stdout)["properties"]
    same("deadlocks", (deadlocks["name"], deadlocks["verdict"]), ("deadlocks", "holds"))
    same("what races, of all that it does: at most what it uses once without its lock", {found["object"] for found in races["findings"]} - {"total"}, set())
    same("without a file", run(PORTENT, "run", "--record-all", "--", "./everything").returncode, 2)


EXAMPLES = {"water": "water.c", "bank": "bank.c", "queue": "queue.c", "stages": "stages.c", "atomic": "store.cc"}


@test
def record_all_examples():
    """Recorded in full, the examples are what they are otherwise, and `check` agrees."""
    for name, source in EXAMPLES.items():
        folder = os.path.join(HERE, "..", "..", "..", "examples", name)
        properties = os.path.join(folder, os.path.splitext(source)[0] + ".prop")
        done = run(PORTENT, "c++" if source.endswith(".cc") else "cc", "-O2", "-pthread", os.path.join(folder, source), "-o", name)
        same(f"exit status of the compiler: {done.stderr}", done.returncode, 0)
        done = run(PORTENT, "run", "--record-all", "-s", properties, "-o", name + ".trace", "-r", name + ".json", "--", "./" + name)
        same(f"{name}: {done.stderr}", done.returncode in (0, FOUND), True)
        same_offline(properties, name + ".trace", name + ".json")
        exact(name + ".trace")


@test
def handed_over():
    """Locks that another thread unlocks, or whose holder died: the recording is a possible run all the same."""
    build("handed_over")
    with open("x.prop", "w", encoding="utf-8") as file:
        file.write("property small: x < 99; property known at main: x < 99;")
    done = run(PORTENT, "run", "--record-all", "-s", "x.prop", "-o", "over.trace", "-r", "over.json", "--", "./handed_over")
    same(f"exit status: {done.stderr}", done.returncode, 0)
    same_offline("x.prop", "over.trace", "over.json")
    plain = [line[0] + ":" + line[1][:3] for line in events("over.trace") if line[1].endswith("(plain)")]
    same("the plain lock", plain, ["main:acq", "main:rel", "unlocks:acq", "unlocks:rel", "locks:acq", "locks:rel"])


def plain_object(name):
    """Compiles a program of run/ without Portent."""
    done = run("cc", "-O2", "-g", "-c", "-I", os.path.join(os.path.dirname(PORTENT), "..", "include"),
               os.path.join(HERE, name + ".c"), "-o", name + ".o")
    same(f"exit status of cc: {done.stderr}", done.returncode, 0)


@test
def foreign_writes():
    """A load that sees what nobody recorded is counted, and reported once per place with the advice."""
    plain_object("foreign_plain")
    done = run(PORTENT, "cc", "-O0", "-pthread", os.path.join(HERE, "foreign.c"), "foreign_plain.o", "-o", "foreign")
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    write("level.prop", "property small: always level < 1000;")
    done = run(PORTENT, "run", "-s", "level.prop", "--", "./foreign")
    same("status and output", (done.returncode, done.stdout), (NOT_WHOLE, "sum 126\n"))
    told = [line for line in done.stderr.splitlines() if "no instrumented code had written" in line]
    same(f"places told ({done.stderr})", len(told), 1)
    if not re.search(r"'level' had a value at \S*foreign\.c:10 that", told[0]):
        raise Failure(told[0])
    if not re.search(r"3 such values in all; build the library that writes it with 'portent cc' too", done.stderr):
        raise Failure(done.stderr)
    same("told when quiet", run(PORTENT, "run", "-q", "-s", "level.prop", "--", "./foreign").stderr,
         "portent: the answer is not whole: code that is not instrumented wrote level\n")


def turns(name, *link, cc="cc"):
    """Builds a program of run/ whose threads are ordered by turns_plain.c, unseen."""
    plain_object("turns_plain")
    done = run(PORTENT, cc, "-O2", "-pthread", os.path.join(HERE, name + ".c"), "turns_plain.o", "-o", name, *link)
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    write("r.prop", "property r at each i: race_free(*);")


@test
def moved():
    """Memory that the kernel takes from one thread and gives to another is other memory; what stays, or moves as it is, can race."""
    for link in ((), ("-static",)):
        turns("moved", *link)
        for kind in ("grow", "fixed", "shrink", "brk", "brk_to", "shm"):
            done = run(PORTENT, "run", "-s", "r.prop", "--", "./moved", kind)
            same(f"{kind} {link}: {done.stderr}", (done.returncode, done.stdout), (0, "used\n"))
        for kind in ("race", "stays"):
            done = run(PORTENT, "run", "-s", "r.prop", "--", "./moved", kind)
            same(f"{kind} {link}: {done.stderr}", (done.returncode, done.stdout), (66, "used\n"))
            contains(done.stderr, "Data race on ")


@test
def library_locks():
    """Locks inside a library that is not instrumented order what they protect: GLib's, POSIX's, and bare futexes that wait and wake."""
    done = run("cc", "-O2", "-shared", "-fPIC", os.path.join(HERE, "glib_plain.c"), "-Wl,-soname,libglib-2.0.so.0", "-o", "libglib-2.0.so.0")
    same(f"exit status of cc: {done.stderr}", done.returncode, 0)
    turns("library_locks", "./libglib-2.0.so.0", "-Wl,-rpath," + os.getcwd())
    kinds = "mutex trylock bit bit_try posix once enter queue try_pop condition until futex mq msg semop".split()
    for kind, status in [(kind, 0) for kind in kinds] + [("none", 66)]:
        done = run(PORTENT, "run", "-s", "r.prop", "--", "./library_locks", kind)
        same(f"{kind}: {done.stderr}", (done.returncode, done.stdout), (status, "2\n"))


@test
def glib():
    """The real GLib, where the machine has it: its mutex is seen though it is taken without a call to anything below."""
    library = ctypes.util.find_library("glib-2.0")
    if not library:
        print("glib: this machine has no GLib; library_locks has a stand-in for it")
        return
    write("m.c", """
void g_mutex_lock(void *), g_mutex_unlock(void *), *g_thread_new(const char *, void *(*)(void *), void *), *g_thread_join(void *);
static void *mutex; static int x; static int locks;
static void *f(void *a) {
  for (int i = 0; i < 200; i++) { if (locks) g_mutex_lock(&mutex); x++; if (locks) g_mutex_unlock(&mutex); } return a; }
int main(int argc, char **argv) {
  void *t[3]; (void)argv; locks = argc > 1;
  for (int i = 0; i < 3; i++) t[i] = g_thread_new("w", f, 0);
  for (int i = 0; i < 3; i++) g_thread_join(t[i]);
  return x < 200; }
""")
    done = run(PORTENT, "cc", "-O1", "-pthread", "m.c", "-l:" + library, "-o", "m")
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    write("r.prop", "property r at each i: race_free(*);")
    for arguments, status in ((["locks"], 0), ([], 66)):
        done = run(PORTENT, "run", "-s", "r.prop", "--", "./m", *arguments)
        same(f"{arguments}: {done.stderr}", done.returncode, status)


@test
def places():
    """Annotations and members of std::atomic stand in the program, with and without optimisation, instrumented or not."""
    plain_object("places_plain")
    write("total.prop", "property small: always total < 100 && (ready || !event(done));")
    for level in ("-O0", "-O2"):
        done = run(PORTENT, "c++", level, "-pthread", os.path.join(HERE, "places.cc"), "places_plain.o", "-o", "places")
        same(f"exit status of portent c++: {done.stderr}", done.returncode, 0)
        done = run(PORTENT, "run", "-s", "total.prop", "-o", "places.trace", "--", "./places")
        same(f"status ({done.stderr})", done.returncode, 0)
        same(level, [(fields[1], os.path.basename(fields[2])) for fields in events("places.trace")],
             [("u(total)=2", "places.cc:12"), ("u(total)=5", "places.cc:13"), ("u(total)=6", "places.cc:15"),
              ("w(ready)=true", "places.cc:16"), ("event(done)", "places.cc:17"), ("u(total)=5", "places.cc:24"),
              ("event(done)", "places_plain.c:8")])


@test
def statics():
    """Statics of functions that clang inlines everywhere, under entries without a name."""
    write("once.c", "static int *once(void) { static int calls; calls++; return &calls; }\nint main(void) { return *once() - 1; }\n")
    write("p.prop", "property p: once::calls <= 1;")
    write("q.prop", "property p: once::calls <= 1; property q: ns::C::step::steps <= 2;")
    for flags in (["-O0"], ["-O2"], ["-O2", "-flto"]):
        for command, source, properties in (("cc", "once.c", "p.prop"), ("c++", os.path.join(HERE, "statics.cc"), "q.prop")):
            done = run(PORTENT, command, *flags, "-pthread", source, "-o", "statics")
            same(f"exit status of portent {command}: {done.stderr}", done.returncode, 0)
            done = run(PORTENT, "run", "-s", properties, "-o", "t.trace", "--", "./statics")
            same(f"exit status with {flags}: {done.stderr}", done.returncode, 0)
            same("events", [line[1] for line in events("t.trace")],
                 ["w(once::calls)=1", "w(ns::C::step::steps)=2"][:1 if command == "cc" else 2])


@test
def pointers():
    """Paths through pointers, followed as they change; memory that is freed; a null pointer; what is no path."""
    write("p.prop", "var end = head->at[1]->value; property p: end < 5390;")
    for level in ("-O0", "-O2"):
        same("portent cc", run(PORTENT, "cc", level, "-pthread", os.path.join(HERE, "pointers.c"), "-o", "pointers").returncode, 0)
        done = run(PORTENT, "run", "-s", "p.prop", "-o", "t.trace", "-r", "r.json", "--", "./pointers")
        told = done.stdout.split()
        same(f"{level}: {done.stderr}", [line[1] for line in events("t.trace")], [f"w(head->at[1]->value)={value}" for value in told])
        same("status", done.returncode, FOUND if any(int(value) >= 5390 for value in told) else 0)
        same_offline("p.prop", "t.trace", "r.json")
    write("ends.c", "#include <stdlib.h>\nstruct box { int *in; };\nstruct box *b; int **twice; int *many; int x;\n"
          "int main(void)\n{\n    b = malloc(sizeof *b);\n    b->in = malloc(sizeof(int));\n    *b->in = 1;\n    int *old = b->in;\n"
          "    b->in = 0;\n    *old = 2;\n    b->in = old;\n    free(old);\n    b->in = &x;\n    twice = &b->in;\n    x = 3;\n"
          "    free(b);\n    many = calloc(4, sizeof *many);\n    many[2] = 7;\n    return 0;\n}\n")
    same("portent cc", run(PORTENT, "cc", "-O0", "ends.c", "-o", "ends").returncode, 0)
    for path, expected in (("*b->in", ["1", "2", "0", "3"]), ("**twice", ["3"]), ("many[2]", ["7"]), ("x", ["3"])):
        write("q.prop", f"var v = {path}; property q: v < 100;")
        done = run(PORTENT, "run", "-s", "q.prop", "-o", "t.trace", "--", "./ends")
        same(f"{path}: {done.stderr}", [done.returncode, [line[1].split("=")[1] for line in events("t.trace")]], [0, expected])
    for path, message in (("x->in", "'x' is no pointer"), ("b->out", "the members are: b->in"), ("*b", "is a structure"), ("b->", "a member after '->'"),
                          ("b->in->in", "has no members"), ("x; property r: b->in != 0", "name what the pointer leads to: var v = b->in;")):
        write("q.prop", f"var v = {path}; property q: v < 100;")
        done = run(PORTENT, "run", "-s", "q.prop", "--", "./ends")
        same(f"{path}: {done.stderr}", [done.returncode, message in done.stderr], [2, True])
    # what a path means depends on the order, and a recording of everything does not follow it: no answer rather than a wrong one
    write("q.prop", "var v = *b->in; property q: v < 3;")
    write("r.prop", "var v = *b->in; property q: v < 3; property r: race_free(*);")
    for prop, options in (("q.prop", ["--order", "sync"]), ("q.prop", ["--order", "auto"]), ("q.prop", ["--order", "slices=1"]),
                          ("q.prop", ["--record-all", "-o", "u.trace"]), ("r.prop", ["-o", "u.trace"])):
        done = run(PORTENT, "run", *options, "-s", prop, "--", "./ends")
        same(f"{options}: {done.stderr}", [done.returncode, "'*b->in' goes through pointers" in done.stderr, os.path.exists("u.trace")], [2, True, False])
    same("followed", run(PORTENT, "run", "-s", "q.prop", "-o", "t.trace", "--", "./ends").returncode, FOUND)
    same("recorded", run(PORTENT, "run", "--record-all", "-o", "u.trace", "--", "./ends").returncode, 0)
    for trace, expected in (("t.trace", 1), ("u.trace", 3)):
        done = run(PORTENT, "check", "-s", "q.prop", trace)
        same(f"{trace}: {done.stdout}", [done.returncode, "path through pointers that the trace never mentions" in " ".join(done.stdout.split())],
             [expected, expected == 3])


@test
def dropped():
    """A full buffer: the verdict is unknown, says how many were lost, and so does `check` on what was recorded, in either form."""
    build("flood")
    write("p.prop", "property p: level >= 0;")
    for trace in ("t.trace", "t.ptb"):
        done = run(PORTENT, "run", "-s", "p.prop", "--on-full", "drop", "-o", trace, "-r", "r.json", "--", "./flood")
        same(f"exit status: {done.stderr}", done.returncode, NOT_WHOLE)
        lost = int(re.search(r"warning: (\d+) events did not fit", done.stderr).group(1))
        online = findings(json.loads(read("r.json")))[0]
        same("verdict of run, and its count", [online["verdict"], online["relevant"]], ["unknown", 1000000 - lost])
        done = run(PORTENT, "check", "--json", "--window", "64", "--lookahead", "256", "-s", "p.prop", trace)
        same(f"exit status of check: {done.stderr}", done.returncode, 3)
        offline = json.loads(done.stdout)["properties"][0]
        same("verdict of check", [offline["verdict"], offline["relevant"]], ["unknown", online["relevant"]])
        if trace == "t.trace":
            same("reason", str(lost) in done.stderr, True)
        done = run(PORTENT, "convert", trace, "-o", "u.ptb")
        same("exit status of convert", done.returncode, 3)
        same("check on its output", run(PORTENT, "check", "-s", "p.prop", "u.ptb").returncode, 3)


def lowered(value, before):
    """The same with the counts of clocks as they would be had they begun with 1."""
    def count(n):
        return n - before if n > before else n
    if isinstance(value, list):
        return [lowered(item, before) for item in value]
    if not isinstance(value, dict):
        return value
    counts = {"clock": lambda list: [count(n) for n in list], "over_index": count, "needs": count}
    return {key: counts[key](item) if key in counts else lowered(item, before) for key, item in value.items()}


@test
def counts_go_on():
    """Threads that pass 2^32 relevant events: run goes on, and what it and check say of the run in either form is what check says of the
    same trace with counts that begin with 1."""
    build("counted")
    write("p.prop", "property one: !(a == 1 && b == 0); property other: !(b == 1 && a == 0); property most: level < 14; "
          "property holds: level < 20; property as_it_comes: !(a == 3 && b == 2); property as_it_goes: !(a == 2 && b == 4);")
    before = 2**32 - 4
    options = f"counted_before={before}"
    bounds = ("--window", "64", "--lookahead", "256")
    for trace in ("t.trace", "t.ptb"):
        done = run(PORTENT, "run", "-q", "-s", "p.prop", "-o", trace, "-r", "r.json", "--", "./counted", options=options)
        same(f"status, output and whether it is whole: {done.stderr}", [done.returncode, done.stdout, "warning" in done.stderr],
             [FOUND, "level 14\n", False])
        if trace == "t.ptb":
            same("convert", run(PORTENT, "convert", "t.ptb", "-o", "text.trace").returncode, 0)
        text = read("text.trace" if trace == "t.ptb" else trace)
        counts = sorted({int(n) for n in re.findall(r":(\d+)(?=[,\n])", "\n".join(re.findall(r"c=.*\n?", text)) + "\n")})
        same("counts", counts, [before + k for k in range(1, 13)])
        write("low.trace", re.sub(r":(\d{10})(?=[,\n])", lambda match: f":{int(match.group(1)) - before}", text))
        low = run(PORTENT, "check", "--json", *bounds, "-s", "p.prop", "low.trace")
        same(f"check of low counts: {low.stderr}", low.returncode, 1)
        expected = findings(json.loads(low.stdout))
        verdicts = {found["name"]: found["verdict"] for found in expected}
        same("verdicts", [verdicts[name] for name in ("one", "other", "most", "holds")], ["violated"] * 3 + ["holds"])
        same("run", findings(lowered(json.loads(read("r.json")), before)), expected)
        done = run(PORTENT, "check", "--json", *bounds, "-s", "p.prop", trace, options=options)
        same(f"check of {trace}: {done.stderr}", done.returncode, 1)
        same("check", findings(lowered(json.loads(done.stdout), before)), expected)
    same("the result is read back", run(PORTENT, "report", "r.json").returncode, 0)
    done = run(PORTENT, "check", "-s", "p.prop", "t.trace")
    same("status of a trace that begins in the middle, as it seems", done.returncode, 2)
    contains(done.stderr, "which does not follow its thread's count so far")


WAITS = """
#include <stdio.h>
#include <unistd.h>
int level;
int main(void)
{
    for (int i = 0; i < 3; i++)
        level = i;
    puts("written");
    fflush(stdout);
    sleep(1);
    return 0;
}
"""


@test
def cut_off():
    """A recording whose recorder was killed, or that lost its end later, is known to be torn, in either form; one without marks is not."""
    write("waits.c", WAITS)
    same("exit status of portent cc", run(PORTENT, "cc", "-O1", "waits.c", "-o", "waits").returncode, 0)
    write("p.prop", "property p: level < 3;")
    for trace in ("t.trace", "t.ptb"):
        with subprocess.Popen([PORTENT, "run", "-q", "-s", "p.prop", "-o", trace, "--", "./waits"], stdout=subprocess.PIPE) as process:
            same("the program's first line", process.stdout.readline(), b"written\n")
            process.kill()
        done = run(PORTENT, "check", "-s", "p.prop", trace)
        same(f"check of {trace}: {done.stdout}{done.stderr}", done.returncode, 3)
        same(f"run into {trace}", run(PORTENT, "run", "-q", "-s", "p.prop", "-o", trace, "--", "./waits").returncode, 0)
        same(f"check of the whole {trace}", run(PORTENT, "check", "-q", "-s", "p.prop", trace).returncode, 0)
    lines = read("t.trace").splitlines(keepends=True)
    same("marks", [lines[0], lines[-1]], ["#!begin\n", "#!end\n"])
    for text, status in (("".join(lines[:-1]), 3), ("".join(lines)[:-3], 3), ("".join(lines)[:-1], 0), ("".join(lines[1:-1]), 0),
                         ("".join(lines[:1]), 3), ("".join(lines).replace("\n", "\r\n"), 0)):
        write("part.trace", text)
        done = run(PORTENT, "check", "-s", "p.prop", "part.trace")
        same(f"check of {text!r}: {done.stderr}", done.returncode, status)
        same("says so", "the recording was cut off" in done.stderr, status == 3)


def not_whole(done):
    """The reasons in the line that says that the answer is not whole, which there is at most once; None: there is none."""
    lines = re.findall(r"^portent: the answer is not whole: (.*)$", done.stderr, re.M)
    if len(lines) > 1:
        raise Failure(done.stderr)
    return lines[0] if lines else None


LEVEL = """#include <signal.h>
#include <stdlib.h>
int level;
int main(int count, char **list)
{
    level = 1;
    level = 2;
    if (count > 2)
        raise(atoi(list[2]));
    return count > 1 ? atoi(list[1]) : 0;
}
"""


def build_level(*command, out="level"):
    write("level.c", LEVEL)
    done = run(*command, "-g", "-O0", "-pthread", "level.c", "-o", out)
    same(f"exit status of {command}: {done.stderr}", done.returncode, 0)


@test
def whole():
    """Nothing was found, the program ended well, and its status is passed on only if the answer is whole (contract section 1)."""
    build_level(PORTENT, "cc")
    build_level("cc", out="plain")
    for text, program, more, status, reason in (
            ("property p: level < 3;", "./level", [], 0, None),
            ("property p: level < 3;", "./level", ["--window", "1", "--lookahead", "1"], 0, None),
            ("property p: level < 2;", "./level", [], FOUND, None),
            ("property p: level < 2;", "./level", ["--exit-code", "7"], 7, None),
            ("property p: level < 3;", "./plain", [], NOT_WHOLE, "nothing was observed"),
            (None, "./plain", [], NOT_WHOLE, "nothing was observed"),
            ("property p: 1 / (level - 2) < 3;", "./level", [], NOT_WHOLE, "property 'p' could not be evaluated"),
            ('property p: level == "on";', "./level", [], NOT_WHOLE, "property 'p' could not be evaluated"),
            ("property p: eventually level > 7; property q: eventually level > 8; property r: level < 3;", "./level", [], NOT_WHOLE,
             "properties 'p', 'q' can never be violated"),
            ("property p: eventually level > 7; property r: level < 2;", "./level", [], FOUND, "property 'p' can never be violated"),
            ("property p within 10ms: always eventually level == 2; property q within 9 events: always eventually level == 2;", "./level", [],
             NOT_WHOLE, "property 'p' could not be judged by time, which 'portent watch' has"),
            ("property p within 10ms: always level < 2;", "./level", [], FOUND, None),
            ("property p: level < 3;", "./level", ["--memory-limit", "1"], NOT_WHOLE,
             "property 'p' remained unknown, because the analysis was cut short")):
        properties = [] if text is None else ["-s", write("p.prop", text) or "p.prop"]
        for quiet in ([], ["-q"]):
            done = run(PORTENT, "run", *quiet, *more, *properties, "--", program)
            same(f"{text} {more} {program} {quiet}: {done.stderr}", [done.returncode, not_whole(done)], [status, reason])
        same("nothing else when quiet", len(done.stderr.splitlines()), 1 if reason else 0)
        done = run(PORTENT, "run", "--lenient", *more, *properties, "--", program)
        same(f"lenient: {text} {more} {program}", [done.returncode, not_whole(done)], [0 if status == NOT_WHOLE else status, reason])


@test
def no_memory():
    """Where the runtime got no memory, that is the reason, and not that the program was compiled otherwise."""
    with open(PORTENT, "rb") as binary:
        if b"__asan_init" in binary.read():
            print("AddressSanitizer does not start within a limit on addresses")
            return
    build_level(PORTENT, "cc")
    done = run("sh", "-c", f"ulimit -v 8000000; exec '{PORTENT}' run --races -- ./level")
    same(f"exit status: {done.stderr}", done.returncode, NOT_WHOLE)
    true(f"the reason: {done.stderr}", "no memory left" in not_whole(done) and "compiled" not in done.stderr)


@test
def thread_behind_our_back():
    """What a thread does that nobody was seen to start cannot be judged: that, and not a loss, is the reason."""
    write("t.c", "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <pthread.h>\nstatic int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
          "static void *worker(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return a; }\n"
          "int main(void)\n{ pthread_t t, u; int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);\n"
          "  create = (__typeof__(create))dlsym(dlopen(\"libc.so.6\", RTLD_NOW), \"pthread_create\");\n"
          "  if (KNOWN) pthread_create(&u, 0, worker, 0);\n"
          "  if (create(&t, 0, worker, 0)) return 1; worker(0); pthread_join(t, 0); if (KNOWN) pthread_join(u, 0); return x != 2 + KNOWN; }\n")
    for known in ("0", "1"):
        same("exit status of portent cc", run(PORTENT, "cc", "-g", "-pthread", f"-DKNOWN={known}", "t.c", "-o", "t").returncode, 0)
        for more in ([], ["--races"]):
            done = run(PORTENT, "run", *more, "--", "./t")
            same(f"{known} {more}: {done.stderr}", [done.returncode, not_whole(done)],
                 [NOT_WHOLE, "1 thread was not seen to start, and what it did is not judged"])
        done = run("./t", options="races=1")
        same(f"{known}: said by the program itself", [done.returncode, done.stderr],
             [0, "portent: a thread was not seen to start, and what it does is not judged\n"])


@test
def program_that_is_not_loaded():
    """A library that is not found ends the program before the runtime begins: that is the reason, and not its version."""
    write("l.c", "int x; void set(void) { x = 1; }\n")
    write("t.c", "void set(void);\nint main(void) { set(); return 0; }\n")
    same("exit status of portent cc", run(PORTENT, "cc", "-g", "-fPIC", "-shared", "l.c", "-o", "libl.so").returncode, 0)
    same("exit status of portent cc", run(PORTENT, "cc", "-g", "t.c", "-L.", "-ll", "-o", "t").returncode, 0)
    done = run(PORTENT, "run", "--", "./t")
    same(f"status: {done.stderr}", [done.returncode, not_whole(done)], [127, "nothing was observed"])
    true(done.stderr, "'./t' ended with status 127 before it began" in done.stderr and "version" not in done.stderr)


@test
def thread_of_our_own():
    """What the runtime starts a thread for before the program has any (libc's handler for cancellation) is no stranger."""
    write("t.c", "#include <pthread.h>\nstatic int x; static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n"
          "static void *worker(void *a) { pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m); return a; }\n"
          "int main(void)\n{ pthread_t t; pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0); pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, 0);\n"
          "  if (pthread_create(&t, 0, worker, 0)) return 1; worker(0); pthread_join(t, 0); return x != 2; }\n")
    same("exit status of portent cc", run(PORTENT, "cc", "-g", "-pthread", "t.c", "-o", "t").returncode, 0)
    for more in ([], ["--races"], ["--deadlocks"]):
        done = run(PORTENT, "run", *more, "--", "./t")
        same(f"{more}: {done.stderr}", [done.returncode, not_whole(done)], [0, None])
    done = run("./t", options="races=1")
    same("by itself", [done.returncode, done.stderr], [0, ""])


@test
def thread_that_never_ran():
    """A property about a thread that never started was judged in no state but the one before its start."""
    write("t.c", "#include <pthread.h>\nstatic int x;\nvoid *worker(void *a) { x = 1; return a; }\nint main(int argc, char **list)\n"
          "{ pthread_t t; (void)list; if (argc > 1) { pthread_create(&t, 0, worker, 0); pthread_join(t, 0); } return 0; }\n")
    same("exit status of portent cc", run(PORTENT, "cc", "-g", "-pthread", "t.c", "-o", "t").returncode, 0)
    write("t.prop", "property p at worker: x < 5;")
    done = run(PORTENT, "run", "-s", "t.prop", "--", "./t", "start")
    same(f"exit status of one that runs: {done.stderr}", done.returncode, 0)
    done = run(PORTENT, "run", "-s", "t.prop", "--", "./t")
    same(f"exit status of one that does not: {done.stderr}", done.returncode, NOT_WHOLE)
    contains(done.stderr, "property 'p' named what was not observed")


@test
def not_whole_and_failed():
    """What the program itself ended with is more than that the answer is not whole, which is said beside it."""
    build_level(PORTENT, "cc")
    write("p.prop", "property p: eventually level > 7;")
    for arguments, status in ((["5"], 5), (["0", "9"], 137)):
        done = run(PORTENT, "run", "-q", "-s", "p.prop", "--", "./level", *arguments)
        same(str(arguments), [done.returncode, not_whole(done)], [status, "property 'p' can never be violated"])


@test
def full_disk():
    """A trace and a result that could not be written to their end: in the end, and while the program runs."""
    build_level(PORTENT, "cc")
    build("everything")
    write("p.prop", "property p: level >= 0;")
    for what, arguments in (("trace", ["-s", "p.prop", "-o", "/dev/full", "--", "./level"]),
                            ("result", ["-s", "p.prop", "-r", "/dev/full", "--", "./level"]),
                            ("trace", ["--record-all", "-o", "/dev/full", "--", "./everything", "2000"])):
        done = run(PORTENT, "run", "-q", *arguments)
        same(str(arguments), [done.returncode, not_whole(done)],
             [NOT_WHOLE, f"/dev/full: cannot write the {what}: No space left on device"])


@test
def follow_fork():
    """When that is asked for, the child of a fork is observed in its parent's place, to its end; else each for itself."""
    build("daemon")
    write("p.prop", "property p: level < 3;")
    arguments = ["run", "-s", "p.prop", "-o", "t.trace", "-r", "r.json", "--", "./daemon"]
    done = run(PORTENT, *arguments, options="follow_fork=1")
    same(f"exit status: {done.stderr}", done.returncode, FOUND)
    same("events", [line[1] for line in events("t.trace")], ["w(level)=1", "w(level)=2", "w(level)=3"])
    same_offline("p.prop", "t.trace", "r.json")
    os.remove("t.trace")
    done = run(PORTENT, *arguments)
    same(f"exit status without it: {done.stderr}", done.returncode, FOUND)
    same("events of both", sorted([line[1] for line in events(name)] for name in glob.glob("t.trace*")), [["w(level)=1"], ["w(level)=2", "w(level)=3"]])


@test
def numbered():
    """`worker#2` is the second one that was started, however late the first one begins."""
    done = run("cc", "-shared", "-fPIC", "-D_GNU_SOURCE", os.path.join(HERE, "tardy.c"), "-o", "tardy.so")
    same(f"exit status of cc: {done.stderr}", done.returncode, 0)
    done = run(PORTENT, "cc", "-O2", "-pthread", os.path.join(HERE, "numbered.c"), "./tardy.so", "-o", "numbered")
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    write("p.prop", "property p: level < 3;")
    for more, arguments in (([], []), ([], ["fail"]), (["--record-all"], [])):
        done = run(PORTENT, "run", *more, "-s", "p.prop", "-o", "t.trace", "--", "./numbered", *arguments)
        same(f"exit status: {done.stderr}", done.returncode, 0)
        same(f"who wrote what {more} {arguments}", [line[:2] for line in events("t.trace") if line[1].startswith("w(level)")],
             [["worker#2", "w(level)=2"], ["worker", "w(level)=1"]])


@test
def mistakes():
    """Misspelt names, files that are not there, and options out of range get a sentence each that helps."""
    done = run(PORTENT, "c++", "-O2", "-pthread", os.path.join(HERE, "statics.cc"), "-o", "statics")
    same(f"exit status of portent c++: {done.stderr}", done.returncode, 0)
    write("p.prop", "property p: stepz == 0;")
    done = run(PORTENT, "run", "-s", "p.prop", "--", "./statics")
    same("a last word that is nearly one", [done.returncode, "did you mean 'ns::C::step::steps'?" in done.stderr], [2, True])
    write("p.prop", "property p: once::calls > 0;")
    done = run(PORTENT, "run", "-s", "p.prop", "--module", "./none.so", "--", "./statics")
    same("module", [done.returncode, "cannot open './none.so': No such file" in done.stderr], [2, True])
    done = run(PORTENT, "run", "-s", "p.prop", "--", "./statics", options="exitcode=256")
    same("exitcode", [done.returncode, "a bad value in 'exitcode=256'" in done.stderr], [FOUND, True])
    for options, words in ((["--record-limit", "1M"], "--record-limit is of what a program records"), (["--effort", "1s"], "--effort is of --order"),
                           (["--timeout", "3"], "--timeout is of --confirm"),
                           (["-s", "p.prop", "--record-all", "-o", "t", "--record-limit", "1M"], "--record-limit is of what a program records")):
        done = run(PORTENT, "run", *options, "--", "./statics")
        same(f"an option that would do nothing: {options}", [done.returncode, words in done.stderr], [2, True])


@test
def no_variable():
    """A text of the program is no variable: what debug information does not have, and what is a function's own, is refused."""
    write("local.c", "#include <stdio.h>\nstruct tank { int level; } heap;\n"
          "int main(int count, char **list)\n{\n    volatile struct tank tank = {count};\n    { volatile int inner = 3; count += inner; }\n"
          '    printf("%s %d\\n", "bare", tank.level + count);\n    return list == 0;\n}\n')
    same("portent cc", run(PORTENT, "cc", "-O0", "-g", "local.c", "-o", "local").returncode, 0)
    for name, head in (("tank.level", "tank"), ("count", "count"), ("inner", "inner")):
        write("p.prop", f"property p: {name} < 50;")
        done = run(PORTENT, "run", "-s", "p.prop", "--", "./local")
        same(f"{name}: {done.stderr}", [done.returncode, done.stdout], [2, ""])
        for text in (f"'{head}' is a local variable of main", f"make it static and name it 'main::{name}'", "portent_watch",
                     "'var' statement"):
            same(f"{text} in {done.stderr}", text in done.stderr, True)
    same("strip", run("strip", "local").returncode, 0)
    for name in ("bare", "heap.level"):
        write("p.prop", f"property p: {name} < 50;")
        done = run(PORTENT, "run", "-s", "p.prop", "--", "./local")
        same(f"{name}, stripped: {done.stderr}", [done.returncode, "no debug information" in done.stderr], [2, True])


@test
def not_observed():
    """Names that the run never brings up: an object that is not named, and user events where the property has nothing else."""
    write("late.c", "#include <portent.h>\nint level;\nint main(int count, char **list)\n{\n    static int own;\n    level = 1;\n"
          "    if (count > 1)\n        portent_watch(&own, sizeof own, PORTENT_INT, \"owned\"), portent_event(\"rare\");\n"
          "    own = 1;\n    return list == 0;\n}\n")
    same("portent cc", run(PORTENT, "cc", "-O0", "-g", "late.c", "-o", "late").returncode, 0)
    for text, expected in (("owned < 5", True), ("level + owned < 5", True), ("!event(rare)", True), ("event(rare) -> level < 5", False)):
        write("p.prop", f"property p: {text};")
        reason = "property 'p' named what was not observed"
        done = run(PORTENT, "run", "-s", "p.prop", "--", "./late")
        same(f"{text}: {done.stderr}", [done.returncode, not_whole(done)], [NOT_WHOLE, reason] if expected else [0, None])
        if text != "!event(rare)":
            done = run(PORTENT, "run", "-s", "p.prop", "--", "./late", "more")
            same(f"{text}, named: {done.stderr}", [done.returncode, not_whole(done)], [0, None])


@test
def strings():
    """The library's string functions write what they are given, in one event each; fortified forms too, and still stop overruns."""
    write("p.prop", 'property p: state != "never"; property q: padded != "never";')
    written = [("state", '"start"'), ("state", '"go"'), ("state", '"go-on"'), ("state", '"go-onlin"'), ("padded", '"ab"'),
               ("padded", '"longer t"'), ("state", '"n=42"'), ("state", '"done!"')]
    for flags in (["-O0"], ["-O2"], ["-O2", "-D_FORTIFY_SOURCE=2"]):
        done = run(PORTENT, "cc", *flags, "-pthread", os.path.join(HERE, "strings.c"), "-o", "strings")
        same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
        done = run(PORTENT, "run", "-s", "p.prop", "-o", "t.trace", "-r", "r.json", "--", "./strings")
        same(f"exit status with {flags}: {done.stderr}", done.returncode, 0)
        same("output", done.stdout, "done! longer t 699\n")
        same(f"events with {flags}", [line[1] for line in events("t.trace")], [f"w({name})={text}" for name, text in written])
        places = {line[2].rsplit(":", 1)[0].rsplit("/", 1)[-1] for line in events("t.trace")}
        same(f"places with {flags}", places, {"strings.c"})
        same_offline("p.prop", "t.trace", "r.json")
    write("overrun.c", "#include <string.h>\nchar to[4], from[9] = \"overrun\";\n"
          "int main(int count, char **list) { (void)list; strcpy(to, from + (count > 5)); return 0; }\n")
    done = run(PORTENT, "cc", "-O2", "-D_FORTIFY_SOURCE=2", "overrun.c", "-o", "overrun")
    same(f"exit status of portent cc: {done.stderr}", done.returncode, 0)
    same("overrun", run("./overrun").returncode, -6)


def main():
    global PORTENT
    PORTENT = os.path.abspath(sys.argv[1])
    return SUITE.run(sys.argv[2:], in_folder)


if __name__ == "__main__":
    sys.exit(main())
