#!/usr/bin/env python3
"""C programs through `portent model`.

    run_cfront.py PORTENT [--cases N] [--seed S] [--only I] [--rows]

`model/NAME.c` and `model/NAME.sml` are the same program: blocks of one name must have the same verdicts. `model/small/*.c` say in
their first line which blocks are atomic, as `/* expect: NAME true|false, ... */`, and below it what notes there must be, as
`/* note: PATTERN */`. Programs that cannot be modelled are below, with the error that is due. Each row of src/core/sync.def has its
meaning tried in a program (sync_rows.py). Last, random
programs in both languages (random_c.py): their verdicts have to agree; and random programs whose threads start and join each other
(random_spawn.py): their verdicts have to be those of the paper's own net (--plain). The last line is `cfront: N passed, M failed`.
"""

import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import random_c  # noqa: E402
import random_spawn  # noqa: E402
import glibc_functions  # noqa: E402
import sync_rows  # noqa: E402

HERE = Path(__file__).resolve().parent / "model"
START = """#include <pthread.h>
static void *run(void *);
int main(void) { pthread_t t; pthread_create(&t, 0, run, 0); return pthread_join(t, 0); }
static int x;
"""

# name: (sources by file name, options, pattern of the first line of standard error)
BAD = {
    "malformed": ({"a.c": "int main(void) { return y; }\n"}, [], r"a\.c:1:25: error: use of undeclared identifier 'y'"),
    "no-file": ({}, ["a.c"], r"clang.*: error: no such file or directory: 'a\.c'"),
    "no-main": ({"a.c": "int f(void) { return 1; }\n"}, [], r".*error: the program has no function 'main'"),
    "two-mains": ({"a.c": "int main(void) { return 0; }\n", "b.c": "int main(void) { return 1; }\n"}, [],
                  r".*error: the files do not fit together: .*'main'.*"),
    "recursion": ({"a.c": START + "static int f(int n) { return n ? f(n - 1) : x; }\nstatic void *run(void *a) { f(3); return a; }\n"},
                  [], r"a\.c:5:34: error: recursion: 'f' calls itself, and calls are inlined"),
    "mutual": ({"a.c": START + "static void g(int); static void f(int n) { if (n) g(n); }\nstatic void g(int n) { f(n - 1); }\n"
                "static void *run(void *a) { f(3); return a; }\n"}, [], r"a\.c:6:24: error: recursion: 'f' calls itself.*"),
    "assembly": ({"a.c": START + 'static void *run(void *a) { __asm__ volatile("lock; incl %0" : "+m"(x)); return a; }\n'}, [],
                 r"a\.c:5:29: error: inline assembly cannot be modelled"),
    "setjmp": ({"a.c": "#include <setjmp.h>\nstatic jmp_buf j;\n" + START +
                "static void *run(void *a) { if (!setjmp(j)) x++; return a; }\n"}, [], r"a\.c:7:34: error: _setjmp cannot be modelled"),
    "many": ({"a.c": START.replace("pthread_t t; ", "pthread_t t; for (int i = 0; i < 50; i++) ") +
              "static void *run(void *a) { return a; }\n"}, [],
             r"a\.c:3:\d+: error: the loop that starts or joins threads has more than 16 rounds \(see --unroll\)"),
    "unknown-start": ({"a.c": "#include <pthread.h>\nextern void *(*f)(void *);\nint main(void) { pthread_t t;\n"
                       "  return pthread_create(&t, 0, f, 0); }\n"}, [], r"a\.c:4:10: error: cannot tell which function this thread starts"),
    "self-start": ({"a.c": START + "static void *run(void *a) { pthread_t t; pthread_create(&t, 0, run, 0); return a; }\n"}, [],
                   r"a\.c:5:42: error: a thread that starts itself again has no bound"),
    "computed": ({"a.c": START + "static void *run(void *a) { static void *const to[] = {&&p, &&q}; goto *to[x]; p: x = 1; q: return a; }\n"},
                 [], r"a\.c:5(:\d+)?: error: computed jumps and exceptions cannot be modelled"),
    "no-function": ({"a.c": START + "static void (*f)(void);\nstatic void *run(void *a) { f(); return a; }\n"}, [],
                    r"a\.c:6:29: error: cannot tell which function is called through this pointer"),
    "pointed-lock": ({"a.c": START + "static pthread_mutex_t m; static int (*lock)(pthread_mutex_t *) = pthread_mutex_lock;\n"
                      "static void *run(void *a) { lock(&m); x++; return a; }\n"}, [],
                     r"a\.c:6:29: error: 'pthread_mutex_lock', called through a pointer, cannot be modelled"),
    "constructor": ({"a.c": "__attribute__((constructor)) static void f(int count) { (void)count; }\nint main(void) { return 0; }\n"}, [],
                    r"a\.c:1:\d+: error: a constructor or destructor with parameters cannot be modelled"),
    "init-array": ({"a.c": "static int x;\nstatic void f(void) { x = 1; }\n__attribute__((section(\".init_array\"), used)) static "
                    "void (*p)(void) = f;\nint main(void) { return x; }\n"}, [],
                   r".*error: 'p', in section \.init_array, runs a function outside main: that cannot be modelled"),
    "unseen": ({"a.c": "#include <portent.h>\nstruct job { void (*run)(void); };\nvoid add(struct job *);\nstatic int x;\n"
                "static void f(void) { portent_begin(\"b\"); x++; portent_end(\"b\"); }\n"
                "int main(void) { struct job job = {f}; add(&job); return 0; }\n"}, [],
               r"a\.c:5:\d+: error: this block, which only a function without source may run, cannot be modelled"),
    "mixed": ({"a.c": "int main(void) { return 0; }\n", "b.sml": "skip\n"}, [], r"b\.sml: error: C and SML do not go together"),
}

# What runs a function, or touches memory, after it has returned: it leaves the block below unknown. By the function's name.
LATER = {
    "atexit": "atexit(f)", "at_quick_exit": "at_quick_exit(f)", "on_exit": "on_exit(g, 0)", "pthread_atfork": "pthread_atfork(0, f, 0)",
    "tss_create": "tss_t key; tss_create(&key, h)", "pthread_key_create": "pthread_key_t key; pthread_key_create(&key, h)",
    "timer_create": "struct sigevent e = {.sigev_notify = SIGEV_THREAD}; e.sigev_notify_function = s; timer_t t; timer_create(0, &e, &t)",
    "fopencookie": "fopencookie(0, \"w\", (cookie_io_functions_t){.write = w})",
    "setvbuf": "setvbuf(stdout, x, _IOFBF, sizeof x)", "setbuf": "setbuf(stdout, x)", "setbuffer": "setbuffer(stdout, x, sizeof x)",
    "fmemopen": "fmemopen(x, sizeof x, \"w\")", "open_memstream": "size_t n; open_memstream(&y, &n)", "putenv": "putenv(x)",
    "aio_read": "static struct aiocb a = {.aio_buf = x, .aio_nbytes = 1}; aio_read(&a)",
}
LATER_TEXT = """#define _GNU_SOURCE
#include <aio.h>
#include <portent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
static char x[BUFSIZ], *y;
static void f(void) { x[0] = 1; }
static void g(int status, void *arg) { f(); }
static void h(void *arg) { f(); }
static void s(union sigval value) { f(); }
static ssize_t w(void *cookie, const char *text, size_t size) { f(); return 0; }
static void *run(void *arg) { puts(\"\"); return arg; }
int main(void) { pthread_t t; { %s; } pthread_create(&t, 0, run, 0);
  portent_begin("b"); x[0]++; y++; portent_end("b"); return 0; }
"""


def ask(portent, files, *options, cwd=None):
    """(status, JSON or None, standard error)."""
    done = subprocess.run([portent, "model", "--json", *options, *map(str, files)], cwd=cwd, capture_output=True, timeout=300,
                          check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        answer = None
    return done.returncode, answer, done.stderr.decode()


def verdicts(answer):
    """(name, verdict) of all blocks, in no particular order of threads."""
    return sorted(((b.get("name"), b["causally_atomic"]) for b in answer["blocks"]), key=str)


def check_pair(portent, name):
    status, answer, err = ask(portent, [HERE / f"{name}.c"])
    model, expected, more = ask(portent, [HERE / f"{name}.sml"])
    if answer is None or expected is None:
        return [err + more]
    wrong = [] if status == model else [f"exit {status}, {model} for SML"]
    if verdicts(answer) != verdicts(expected):
        wrong.append(f"{verdicts(answer)}, {verdicts(expected)} for SML")
    return wrong + [f"a note: {n}" for n in answer.get("notes", [])]


def check_small(portent, path):
    text = path.read_text()
    expected = [tuple(w.split()) for w in re.search(r"/\* expect: (.*) \*/", text)[1].split(", ")]
    expected = sorted(((name, {"true": True, "false": False, "unknown": None}[verdict]) for name, verdict in expected), key=str)
    status, answer, err = ask(portent, [path.name], cwd=path.parent)
    if answer is None:
        return [f"exit {status}: {err}"]
    found = sorted(set(verdicts(answer)), key=str) if len(expected) < len(answer["blocks"]) else verdicts(answer)
    wrong = [] if found == expected else [f"{found}, expected {expected}"]
    values = {v for _, v in expected}
    if status != (1 if False in values else 3 if None in values else 0):
        wrong.append(f"exit {status}")
    unknown = re.search(r"/\* unknown: (.*) \*/", text)
    found = [f["name"] for f in answer.get("unknown_functions", [])]
    if unknown and found != unknown[1].split(", "):
        wrong.append(f"unknown functions {found}")
    if None in values and f"it is not known what '{(found or [''])[0]}' does" != answer.get("message"):
        wrong.append(f"message {answer.get('message')!r}")
    notes = [f"{n.get('file')}:{n.get('line')}: {n['text']}" for n in answer.get("notes", [])]
    patterns = re.findall(r"/\* note: (.*) \*/", text)
    wrong += [f"no note fits {p!r} among {notes}" for p in patterns if not any(re.match(p, n) for n in notes)]
    return wrong + [f"a note: {n}" for n in notes if not patterns]


def check_bad(portent, sources, options, pattern):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            (Path(folder) / name).write_text(text)
        status, answer, err = ask(portent, sorted(sources), *options, cwd=folder)
    lines = err.splitlines() or [""]
    wrong = [] if status == 2 and answer is None else [f"exit {status}, expected 2"]
    return wrong + ([] if re.match(pattern, lines[0]) else [f"{lines[0]!r} does not fit {pattern!r}"])


def check_later(portent, name, statement):
    """What a library function may do later, in whichever thread."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.c").write_text(LATER_TEXT % statement)
        status, answer, err = ask(portent, ["p.c"], cwd=folder)
    if answer is None:
        return [err]
    found = [f["name"] for f in answer.get("unknown_functions", [])]
    return [] if status == 3 and verdicts(answer) == [("b", None)] and name in found else [f"exit {status}: {verdicts(answer)}, {found}"]


def check_arguments(portent):
    """Several files, headers, macros, --unroll."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"a.c": '#include "h.h"\nint main(void) { pthread_t t[COUNT]; for (int i = 0; i < COUNT; i++)\n'
                                  "  pthread_create(&t[i], 0, run, 0); return 0; }\n",
                           "b.c": '#include "h.h"\n#include <portent.h>\nstatic int x;\nvoid *run(void *a) { portent_begin("b"); '
                                  'x++; portent_end("b"); return a; }\n',
                           "inc/h.h": "#include <pthread.h>\nvoid *run(void *);\n"}.items():
            path = Path(folder) / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        status, answer, err = ask(portent, ["a.c", "b.c"], "-I", "inc", "-D", "COUNT=20", "--unroll", "20", "--cc-arg",
                                  "-std=c11", cwd=folder)
    if answer is None:
        return [err]
    return [] if status == 1 and verdicts(answer) == [("b", False)] * 20 else [f"exit {status}: {verdicts(answer)}"]


def check_meet(portent, name):
    """Static and dynamic meet: what a recorded run of the program violates is not atomic in its model."""
    source = HERE / f"{name}.c"
    with tempfile.TemporaryDirectory() as folder:
        for command in (["cc", "-O1", "-pthread", str(source), "-o", "program"],
                        ["run", "--record-all", "-o", "run.trace", "--", "./program"]):
            done = subprocess.run([portent, *command], cwd=folder, capture_output=True, timeout=300, check=False)
            if done.returncode != 0:
                return [f"{command[0]}: exit {done.returncode}: {done.stderr.decode()[:300]}"]
        done = subprocess.run([portent, "check", "--atomicity", "--json", "run.trace"], cwd=folder, capture_output=True,
                              timeout=300, check=False)
    run = json.loads(done.stdout)["blocks"]
    static = {b["name"]: b["causally_atomic"] for b in ask(portent, [source])[1]["blocks"]}
    wrong = [f"blocks of the run: {sorted(b['name'] for b in run)}"] if {b["name"] for b in run} != set(static) else []
    return wrong + [f"{b['name']} is atomic in the model, but not in the run: {b}" for b in run
                    if not b["causally_atomic"] and static.get(b["name"])]


def check_meanings(_):
    """Whatever the runtime records of a C function, or the instrumentor sees it fill, the model has a meaning for it, or refuses it:
    it is never just unknown, unless what it synchronises on is the kernel's."""
    fits = {"ACQ": {"LOCK", "SYNC"}, "REL": {"UNLOCK", "SYNC"}, "RACQ": {"SYNC_READ"}, "WAIT": {"WAIT"}, "NOTIFY": {"SYNC"},
            "SYNC": {"SYNC", "ONCE"}, "FORK": {"SPAWN"}, "JOIN": {"JOIN"},
            "COPY": {"COPY"}, "FILL": {"FILL"}, "STRING": {"WRITES"}, "FORMAT": {"WRITES"}}
    wrong = []
    for row in sync_rows.rows():
        if "KERNEL" in row.details or "CARRIED" in row.details:
            continue
        due = fits.get(row.effect if row.wrapper != "NONE" else row.hook, {row.model})
        wrong += [] if row.model in due | {"ERROR"} else [f"{row.name}: {row.effect}, {row.hook}, but {row.model} in the model"]
    return wrong


def check_headers(portent):
    """Whatever glibc declares about threads has a row, or is known to synchronise nothing, or is unknown to the model, which says so."""
    names = {row.name for row in sync_rows.rows()}
    found = glibc_functions.prototypes()
    wrong = [f"{name} has no row in core/sync.def, and is in no list of glibc_functions.py" for name in glibc_functions.missing(names)]
    wrong += [] if {"pthread_mutex_lock", "sem_wait", "mtx_lock", "mq_send", "semop"} <= set(found) else [f"too few prototypes: {found}"]
    for name in glibc_functions.UNKNOWN.split():
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "p.c").write_text(f"int {name}();\nint main(void) {{ return {name}(); }}\n")
            answer = ask(portent, ["p.c"], "--cc-arg", "-w", cwd=folder)[1] if name not in names else None
        if answer and [f["name"] for f in answer.get("unknown_functions", [])] != [name]:
            wrong.append(f"the model takes {name} for known: {answer}")
    return wrong


def check_rows(portent, text, expected, patterns, error):
    """What the model makes of functions of core/sync.def."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.c").write_text(text)
        status, answer, err = ask(portent, ["p.c"], "--cc-arg", "-w", "--cc-arg", "-fno-builtin", cwd=folder)
    if error:
        return [] if status == 2 and re.match(error, err) else [f"exit {status}: {err}, expected {error!r}\n{text}"]
    if answer is None:
        return [f"exit {status}: {err}\n{text}"]
    found = set(verdicts(answer))
    wrong = [f"'{n}' is {not v}, expected {v}" for n, v in expected if (n, v) not in found or (n, not v) in found]
    wrong += [f"a block '{n}'" for n, _ in found if n not in dict(expected)]
    notes = [n["text"] for n in answer.get("notes", [])]
    wrong += [f"no note fits {p!r} among {notes}" for p in patterns if not any(re.match(p, n) for n in notes)]
    wrong += [f"a note: {n}" for n in notes if not any(re.match(p, n) for p in patterns)]
    return wrong + ([text] if wrong else [])


def check_random(portent, seed):
    """One random program in SML and in C."""
    sml, c, names = random_c.pair(random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.sml").write_text(sml)
        (Path(folder) / "p.c").write_text(c)
        _, expected, more = ask(portent, ["p.sml"], cwd=folder)
        _, answer, err = ask(portent, ["p.c"], cwd=folder)
    if answer is None or expected is None:
        return [f"{err}{more}{sml}"]
    want = {names[b["thread"], b["block"]]: b["causally_atomic"] for b in expected["blocks"]}
    have = {b["name"]: b["causally_atomic"] for b in answer["blocks"]}
    # A block that no way leads to is not in the model of the C program; nothing can refute it.
    wrong = [f"{n}: {have.get(n, True)}, {want[n]} for SML" for n in want if have.get(n, True) != want[n]]
    return [f"{w} (seed {seed})\n{sml}{c}" for w in wrong]


def check_spawn(portent, seed):
    """One random program whose threads start and join each other, with and without reductions."""
    text = random_spawn.program(random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.c").write_text(text)
        limit = ("--event-limit", "60000")
        answers = [ask(portent, ["p.c"], *limit, *more, cwd=folder) for more in ((), ("--plain",))]
    if any(answer is None for _, answer, _ in answers):
        return [f"{answers[0][2]}{answers[1][2]}{text}"]
    pairs = zip(*([(b["thread"], b["block"], b["causally_atomic"]) for b in answer["blocks"]] for _, answer, _ in answers))
    wrong = [f"{ours}, {plain} for --plain" for ours, plain in pairs if ours != plain and None not in (ours[2], plain[2])]
    return [f"{w} (seed {seed})\n{text}" for w in wrong]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("portent")
    parser.add_argument("--cases", type=int, default=60, help="random programs")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--rows", action="store_true", help="just the rows of core/sync.def")
    parser.add_argument("--only", type=int, default=None, help="just this random program of the seed")
    opts = parser.parse_args()
    seed = random.SystemRandom().randrange(10**9) if opts.seed is None else opts.seed
    print(f"cfront: seed {seed}", flush=True)
    portent = str(Path(opts.portent).resolve())
    checks = {path.stem: (check_pair, path.stem) for path in sorted(HERE.glob("*.c"))}
    checks.update({f"small/{path.stem}": (check_small, path) for path in sorted((HERE / "small").glob("*.c"))})
    checks.update({f"bad/{name}": (check_bad, *case) for name, case in BAD.items()})
    checks.update({f"later {name}": (check_later, name, statement) for name, statement in LATER.items()})
    checks["arguments"] = (check_arguments,)
    checks["rows have meanings"] = (check_meanings,)
    checks["rows of headers"] = (check_headers,)
    checks.update({f"rows {name}": (check_rows, *case) for name, *case in sync_rows.programs(sync_rows.rows())})
    checks.update({f"meet {name}": (check_meet, name) for name in ("bank", "bluetooth")})
    if opts.only is not None:
        checks = {}
    checks.update({f"random {n}": (check_random, f"{seed}/{n}")
                   for n in (range(opts.cases) if opts.only is None else [opts.only])})
    checks.update({f"spawn {n}": (check_spawn, f"{seed}/{n}")
                   for n in (range(opts.cases // 2) if opts.only is None else [opts.only])})
    if opts.rows:
        checks = {name: check for name, check in checks.items() if name.startswith("rows ")}
    failed = 0
    for name, (check, *rest) in checks.items():
        wrong = check(portent, *rest)
        failed += bool(wrong)
        for complaint in wrong:
            print(f"{name}: {complaint}")
    print(f"cfront: {len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
