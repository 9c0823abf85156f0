#!/usr/bin/env python3
"""Tests of `portent cc` and `portent c++`: run_cc.py PORTENT [NAME...]

Each test builds something with the driver and with plain clang in a folder of its own and compares what comes out. The
programs are in cc/. The clang to compare with is the one the driver uses.
"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import sync_rows
from suite import Failure

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cc")
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
PORTENT = ""
CLANG = ""
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def check(condition, message):
    if not condition:
        raise Failure(message)


def run(*command, stdin=None, env=None):
    done = subprocess.run(command, stdin=subprocess.DEVNULL if stdin is None else None,
                          input=None if stdin is None else stdin.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=env, timeout=300, check=False)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def ok(*command, **more):
    status, out, err = run(*command, **more)
    check(status == 0, f"{' '.join(command)}\nexit status {status}\n{out}{err}")
    return out


def cc(*args, **more):
    return ok(PORTENT, "cc", *args, **more)


def source(name):
    return os.path.join(HERE, name)


def has_hooks(path):
    return "__portent_" in ok("nm", path)


def same_as_clang(*args, cxx=False, programs=("prog",)):
    """Builds with both, runs both: same output, and the driver's has hooks."""
    outputs = []
    for compiler in ((PORTENT, "c++" if cxx else "cc"), (CLANG, "--driver-mode=g++") if cxx else (CLANG,)):
        for old in programs:
            if os.path.exists(old):
                os.unlink(old)
        ok(*compiler, *args)
        outputs.append([ok("./" + p) for p in programs])
        if compiler[0] == PORTENT:
            for program in programs:
                check(has_hooks(program), f"{program} has no hooks")
    check(outputs[0] == outputs[1], f"{outputs[0]} is not {outputs[1]}")
    return outputs[0]


def functions_of(text, twins=False):
    """LLVM IR: function name -> body lines, of those that have a twin (src/instrument/twins.c) without it; or the twins' lines."""
    found, apart = {}, {}
    for match in re.finditer(r"^define .*?@([\w.]+)\(.*?\{\n(.*?)^\}", text, re.M | re.S):
        if match.group(1) == ".portent.leave":  # the module's own destructor (src/instrument/looks.c)
            continue
        choice = re.search(r"@__portent_plain,.*?br i1 [^\n]*?, label %\d+, label %(\d+)[^\n]*\n", match.group(2), re.S)
        if match.group(1).endswith(".hooks"):
            apart[match.group(1)[:-6]] = match.group(2).splitlines()
            continue
        if choice:
            twin = re.search(rf"^{choice.group(1)}:", match.group(2), re.M).start()
            body = match.group(2)[twin:] if twins else match.group(2)[choice.end():twin]
        elif not twins:
            body = match.group(2)
        if choice or not twins:
            found[match.group(1)] = body.splitlines()
    return found if twins else {**found, **apart}  # the body is a function of its own where there are no lines (apart.c)


def hooks_of(body):
    hooks = []
    for line in body:
        call = re.search(r"call .*?@__portent_(\w+)\((.*)\)", line)
        if call and call.group(1) not in ("called", "returned"):  # those of functions, which all have: run_language.py
            # the plain integers among the arguments: operation, orders, sizes
            numbers = re.findall(r"\bi(?:32|64) (?:noundef )?(\d+)(?=[,)]|$)", call.group(2).split("@.portent.site")[0])
            hooks.append((call.group(1), numbers))
    return hooks


def depth_of(body):
    """The lines that find the depth of the stack of calls, in a body that is a function of its own (src/instrument/apart.c)."""
    for at, line in enumerate(body):
        if "freeze" in line and "@__portent_calls" in line:
            return body[at:at + 2]
    return []


def matches(hook, numbers, wanted):
    """`wanted` is a hook's name and, where given, its last integer arguments (before them, constant operands may stand)."""
    name, *last = wanted.split(",")
    return hook == name and (not last or numbers[-len(last):] == last)


def check_kinds(name, *flags):
    for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
        bodies = functions_of(cc(level, "-w", *flags, "-S", "-emit-llvm", source(name), "-o", "-"))
        table = re.findall(r"^// hooks:(.*)\n(?:[\w ]+;\n)?(.*)", open(source(name), encoding="utf-8").read(), re.M)
        check(len(table) > 3, "no table")
        for hooks, line in table:
            function = re.search(r"(\w+)\(", re.sub(r"__attribute__\(\(.*?\)\)+ ", "", line)).group(1)
            got = hooks_of(bodies[function])
            ways = [[h for h in way.split() if h != "inline"] for way in hooks.split("|")]
            check(any(len(got) == len(way) and all(matches(h, n, w) for (h, n), w in zip(got, way)) for way in ways),
                  f"{level} {function}: {got} instead of {hooks}")
            # atomics_by_library.c works on locals in memory, so what is left there cannot be told from shared memory
            if level != "-O0" and name == "kinds.c" and "inline" not in hooks and "not checked" not in line:
                depths = re.findall(r"(%\d+) = bitcast .*? (?:%\d+|@__portent_calls) to i32\*", "\n".join(depth_of(bodies[function])))
                left = [b for b in bodies[function] if re.search(r"= load |store |cmpxchg |atomicrmw |@llvm.mem", b)
                        and "@table" not in b and "@.str" not in b and "@__portent_calls" not in b and "@.portent.function" not in b
                        and not any(f", i32* {depth}," in b for depth in depths)
                        and not re.search(r"store .*@\.portent\.site", b) and function != "local" and function != "constant"]
                check(not left, f"{level} {function}: left behind {left}")


@test
def every_kind_of_access_calls_its_hook():
    check_kinds("kinds.c", "-mcx16")


@test
def twins_have_no_hooks_but_those_that_order_threads():
    """And those of calls that are replaced before the optimiser runs (strcpy), and of what library functions read. Of plain accesses it tells by stretches, if it is asked
    (src/core/look.h): what the body does with a hook each, in as few questions as there are calls between them."""
    with open("twins.c", "w", encoding="utf-8") as file:
        file.write("""#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
extern int x; extern char text[9]; extern atomic_int a; extern pthread_mutex_t m; void other(void);
void plain(void) { x++; strcpy(text, "abc"); }
void mixed(const char *s) { pthread_mutex_lock(&m); x += (int)strlen(s); atomic_fetch_add(&a, 1); pthread_mutex_unlock(&m); }
char *fresh(void) { char *p = malloc(8); memset(p, x, 8); return p; }
int labels(int i) { static void *at[] = {&&one, &&two}; goto *at[i & 1]; one: x++; two: return x; }
void calls(void) { other(); other(); }
int one(void) { return x; }
static inline __attribute__((always_inline)) int inlined(void) { return x; }
void stretches(int *p, int *q) { p[1] = x; q[2] = p[3] + inlined(); other(); if (*q) p[4]++; }
""")
    for level in ("-O0", "-O1", "-O2", "-Os"):
        text = cc(level, "-w", "-S", "-emit-llvm", "twins.c", "-o", "-")
        bodies, twins = functions_of(text), functions_of(text, twins=True)
        check(sorted(twins) == ([] if level == "-O0" else ["fresh", "mixed", "one", "plain", "stretches"]), f"{level}: {sorted(twins)}")
        check(hooks_of(bodies["plain"]) and hooks_of(bodies["labels"]), f"{level}: {bodies}")
        for function, wanted in (("plain", ["string"]), ("mixed", ["read", "atomic_rmw4"]), ("fresh", ["allocated"])):
            if level != "-O0":
                got = [hook for hook, _ in hooks_of(twins[function])]
                check(got == wanted, f"{level} {function}: {hooks_of(twins[function])}")
                # Whether its calls are events is asked in the body alone.
                check([any("load volatile i8" in line for line in bodies_of[function]) for bodies_of in (bodies, twins)] == [True, False],
                      f"{level} {function}: {twins[function]}")
        if level != "-O0":
            # Beside its hook an atomic operation is there as it is, for where nobody asks.
            check(sum("atomicrmw add" in line for line in twins["mixed"]) == 1, f"{level}: {twins['mixed']}")
            # Where the lock is taken it says itself, the object and the place; where it is given up nobody wants to know.
            check(sum("store" in line and "@__portent_calls" in line for line in twins["mixed"]) == 2, f"{level}: {twins['mixed']}")
            looks = {name: [line for line in lines if "portent.look" in line] for name, lines in twins.items()}
            # Where the stack of calls is, is found once in a body of its own (src/instrument/apart.c), whatever there is to store.
            check(sum("@__portent_calls" in line for line in bodies["stretches"]) == 1, f"{level}: {bodies['stretches']}")
            # three accesses and one of what was inlined; then one, and the conditional two
            check([len(looks[name]) for name in ("one", "stretches")] == [1, 3], f"{level}: {looks}")
            # A library that goes says so (no run shows it here: where races are looked for, libraries stay).
            check(re.search(r'@\.portent\.leaves = .*section "\.fini_array"', text) and "call void @__portent_leave(" in text, f"{level}: no destructor")
            firsts = [int(n) for n in re.findall(r"i32 (\d+)", re.search(r"@\.portent\.first = .*?\[(.*)\]", text)[1])]
            entries = {after - before for before, after in zip(firsts, firsts[1:])}
            check(4 in entries and all("@__portent" not in line.split("asm", 1)[0] for line in looks["stretches"]), f"{level}: {entries}")


@test
def sources_may_declare_hooks():
    """As the runtime's own do, with pointers of their own types; LLVM checks the result of every compilation here."""
    with open("declares.c", "w", encoding="utf-8") as file:
        file.write("""struct asked; struct site;
void __portent_leave(struct asked *); void __portent_call(struct site *);
int x;
void calls(struct asked *asked, struct site *site) { __portent_leave(asked); __portent_call(site); }
void accesses(int *p, int *q) { p[1] = x; q[2] = p[3]; if (*q) p[4]++; calls(0, 0); }
""")
    for level in ("-O0", "-O2"):
        cc(level, "-w", "-S", "-emit-llvm", "declares.c", "-o", "-")


@test
def libraries_may_go_while_races_are_sampled():
    """The runtime writes to each module which of its stretches are asked (src/core/look.h), for each window anew; not to one that is no longer there. What
    comes in its place is found as the first was."""
    with open("part.c", "w", encoding="utf-8") as file:
        file.write("int shared[64];\nvoid touch(int n) { for (int i = 0; i < 64; i++) shared[i] += n; }\n")
    with open("goes.c", "w", encoding="utf-8") as file:
        file.write("""#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int x, y;
static void *worker(void *arg)
{
    for (int i = 0; i < 20000; i++) {
        pthread_mutex_lock(&lock);
        x++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
static void *late(void *arg) { y++; return arg; }
int main(void)
{
    pthread_t a, b;
    for (int i = 0; i < 3; i++) {
        void *library = dlopen("./libgoes.so", RTLD_NOW);
        void (*touch)(int) = library ? (void (*)(int))dlsym(library, "touch") : 0;
        if (!touch)
            return 1;
        pthread_create(&a, 0, worker, 0);
        for (int k = 0; k < 100; k++)
            touch(k);
        dlclose(library);
        worker(0);
        pthread_join(a, 0);
    }
    pthread_create(&a, 0, late, 0);
    pthread_create(&b, 0, late, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    puts("done");
    return 0;
}
""")
    cc("-O2", "-shared", "-fPIC", "part.c", "-o", "libgoes.so")
    cc("-O2", "goes.c", "-o", "goes", "-ldl", "-pthread")
    for settings in ("races=1:sample=50", "races=1:sample=50:seed=7", ""):
        status, said, told = run("./goes", env={**os.environ, "PORTENT_OPTIONS": settings})
        check("done" in said and status == (66 if settings else 0) and ("late" in told) == bool(settings), f"{settings}: {status} {told}")


@test
def where_locals_are_is_said_if_asked_for():
    """For a debugger, with -g; else names of accesses are all that debug information of locals is for."""
    with open("locals.c", "w", encoding="utf-8") as file:
        file.write("struct node { int value; } *head;\nint f(int n) { struct node *mine = head; int twice = 2 * n; return mine->value + twice; }\n")
    for flags, wanted in (((), False), (("-g",), True), (("-g0",), False)):
        text = cc("-O2", *flags, "-S", "-emit-llvm", "locals.c", "-o", "-")
        told = re.search(r"@llvm\.dbg\.value|#dbg_value\(", "\n".join(functions_of(text)["f"]))  # a record, as LLVM 19 writes it
        check(bool(told) == wanted, f"{flags}: {wanted}")
        check(("mine->value" in text) == (flags != ("-g0",)), f"{flags}: the access has its name")


@test
def lines_are_said_if_asked_for():
    """Without -g, objects have what properties need of debug information, variables, types and functions, and no line but where these
    begin; each access has its own line all the same."""
    with open("lines.c", "w", encoding="utf-8") as file:
        file.write("struct { int level, limit; } tank;\nint f(int n)\n{\n    tank.level = n;\n    return tank.limit;\n}\n")
    for flags, wanted in (((), {"2"}), (("-g",), {"4", "5"})):
        text = cc("-O2", *flags, "-S", "-emit-llvm", "lines.c", "-o", "-")
        told = set(re.findall(r"!DILocation\(line: (\d+)", text))
        check(wanted <= told and (flags or told == wanted), f"{flags}: {told}")
        check(re.search(r'DIGlobalVariable\(name: "tank"', text) and 'name: "limit"' in text and "DISubprogram(name: \"f\"" in text, f"{flags}: no names")
        check({"i32 4", "i32 5"} <= set(re.findall(r"@\.portent\.site[.\d]* = .*?(i32 [45])", text)), f"{flags}: {text}")

    with open("inlined.c", "w", encoding="utf-8") as file:
        file.write("int x;\nstatic inline void mark(int n) {}\nstatic int twice(int n) { mark(n); return 2 * n; }\nint main(void) { x = twice(x + 3); return 0; }\n")
    with open("inlined.prop", "w", encoding="utf-8") as file:
        file.write("property marked: always !call(mark, $1 == 3);\nproperty doubled: always !call(twice, $1 > 3);\n")
    cc("-O2", "inlined.c", "-o", "inlined")
    status, _, said = run(PORTENT, "run", "-s", "inlined.prop", "--", "./inlined")
    check(status == 66 and "marked" in said and re.search("doubled.*holds", said), f"inlined functions: {status} {said}")

@test
def bodies_with_hooks_are_functions_of_their_own():
    """Where a function has a twin (src/instrument/apart.c). What cannot be passed on as it is stays whole. With -g both have a subprogram of that name."""
    for flags in ([], ["-g"]):
        text = cc("-O2", *flags, "-w", "-S", "-emit-llvm", source("apart.c"), "-o", "-")
        apart = set(re.findall(r"^define internal .*@(\w+)\.hooks\(.*", text, re.M))
        check(apart == {"add", "many", "large", "by_value", "fact", "last", "main", "worker"}, f"apart are {apart} with {flags}")
    for name in apart:
        ids = re.findall(rf"^define .*@{name}(?:\.hooks)?\(.* !dbg !(\d+)", text, re.M)
        names = re.findall(rf"^!(?:{'|'.join(ids)}) = distinct !DISubprogram\(name: \"(\w+)\"", text, re.M)
        check(len(set(ids)) == 2 and names == [name, name], f"{name}: {ids} are {names}")
    for level in ("-O1", "-O2", "-O3", "-Os"):
        for flags in ([], ["-g"], ["-fPIC"], ["-fno-optimize-sibling-calls"]):
            ok(CLANG, level, *flags, "-w", "-pthread", source("apart.c"), "-o", "plain")
            cc(level, *flags, "-w", "-pthread", source("apart.c"), "-o", "prog")
            wanted = ok("./plain")
            for options in ("", "races=1", "races=1:sample=100"):
                got = ok("./prog", env={**os.environ, "PORTENT_OPTIONS": options})
                check(got == wanted, f"{level} {flags} {options}: {got!r} instead of {wanted!r}")
    # The stack is as deep as with one function: the body takes the place of the call, unless the result or an argument is in memory.
    code = cc("-O2", "-w", "-S", source("apart.c"), "-o", "-")
    check(set(re.findall(r"\bjmp\s+(\w+)\.hooks\b", code)) == apart - {"large", "by_value"}, "not the last call")


@test
def lists_and_trees_of_the_library_are_the_programs():
    """Their links change in functions that libstdc++ has out of line. Ours take their place, and leave the same lists and trees."""
    ok(CLANG, "--driver-mode=g++", "-std=c++17", "-O2", source("containers.cpp"), "-o", "plain")
    wanted = ok("./plain")
    for flags in (["-O0"], ["-O2"], ["-O1", "-static"], ["-O2", "-flto"]):
        ok(PORTENT, "c++", "-std=c++17", *flags, source("containers.cpp"), "-o", "prog")
        check(ok("./prog") == wanted, f"lists or trees differ with {flags}")
    ok(PORTENT, "c++", "-std=c++17", "-O1", "-S", "-emit-llvm", source("containers.cpp"), "-o", "prog.ll")
    with open("prog.ll", encoding="utf-8") as file:
        text = file.read()
    for name in ("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", "_ZSt28_Rb_tree_rebalance_for_erasePSt18_Rb_tree_node_baseRS_"):
        check(re.search(rf"define linkonce_odr hidden .*@{name}\(", text), f"{name} is not the program's")
    check("declare void @_ZNSt8__detail15_List_node_base" not in text, "links of lists are not the program's")
    with open("none.cpp", "w", encoding="ascii") as file:
        file.write("#include <map>\nint main() { return std::map<int, int>().size(); }\n")
    ok(PORTENT, "c++", "-O0", "-S", "-emit-llvm", "none.cpp", "-o", "none.ll")
    with open("none.ll", encoding="utf-8") as file:
        check("_Rb_tree_insert_and_rebalance" not in file.read(), "what is not called is there")


@test
def bodies_of_the_library_have_no_path_of_the_build():
    """Packages are the same wherever they are built, and so is what programs get from them."""
    build = os.path.dirname(os.path.dirname(PORTENT))
    with open(os.path.join(build, "src", "instrument", "containers_body.bc"), "rb") as file:
        text = file.read()
    for path in (build, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))):
        check(path.encode() not in text, f"{path} is in the bitcode")


@test
def functions_of_the_library_are_found_wherever_it_is():
    """The runtime stands before a few of libstdc++'s, in a program of C too, and in one that has the library inside."""
    with open("failing.cpp", "w", encoding="utf-8") as file:
        file.write("""#include <memory>
#include <stdexcept>
#include <string>
extern "C" int fail(void)
{
    try {
        throw std::runtime_error(std::string("a text that is not in the string itself"));
    } catch (std::runtime_error failure) {
        std::runtime_error other("another text, which is given up for this one");
        other = failure;
        auto third = std::make_unique<std::runtime_error>(other);
        return static_cast<int>(std::string(third->what()).size());
    }
}
""")
    with open("host.c", "w", encoding="utf-8") as file:
        file.write("""#include <dlfcn.h>
int main(int count, char **arguments)
{
    void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : 0;
    int (*fail)(void) = library ? (int (*)(void))dlsym(library, "fail") : 0;
    return fail ? fail() : 1;
}
""")
    with open("own.cpp", "w", encoding="utf-8") as file:
        file.write('extern "C" int fail(void);\nint main() { return fail(); }\n')
    cc("host.c", "-o", "host")
    for flags in ([], ["-static-libstdc++", "-static-libgcc"]):
        ok(CLANG, "--driver-mode=g++", "-shared", "-fPIC", *flags, "failing.cpp", "-o", "plain.so")
        ok(PORTENT, "c++", "-shared", "-fPIC", *flags, "failing.cpp", "-o", "ours.so")
        ok(PORTENT, "c++", *flags, "failing.cpp", "own.cpp", "-o", "own")
        for command in (["./host", "./plain.so"], ["./host", "./ours.so"], ["./own"]):
            for options in ("", "races=1"):
                status, *_ = run(*command, env={**os.environ, "PORTENT_OPTIONS": options})
                check(status == 39, f"{command} {flags} {options}: {status}")


@test
def a_program_runs_twins_where_nothing_is_asked_for():
    """By the runtime's own word for it (src/core/plain.h)."""
    with open("asked.c", "w", encoding="utf-8") as file:
        file.write("""#include <stdio.h>
extern unsigned char __portent_plain;
int main(void) { printf("%d\\n", __portent_plain); return 0; }
""")
    cc("-O2", "asked.c", "-o", "asked")
    for options, wanted in (("", "2"), ("races=1", "0"), ("races=1:sample=1000", "1"), ("races=1:sample=1000:lifetimes=1", "0"),
                            ("races=1:sample=1000:record=asked.rec", "0"), ("deadlocks=1", "0"), ("record=asked.rec", "0"), ("lifetimes=1", "0")):
        got = ok("./asked", env={**os.environ, "PORTENT_OPTIONS": options}).strip()
        check(got == wanted, f"{options}: {got}")


@test
def atomic_operations_of_twins():
    """In place and by their hooks they do what plain clang's do: each operation of each size, at the beginning of a function, in a loop and after a branch."""
    with open("atomics.c", "w", encoding="utf-8") as file:
        file.write("""#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
volatile int calls;
#define ALL(name, type) \\
    static _Atomic type name##_object; \\
    static type name##_seen; \\
    __attribute__((noinline)) type name##_first(type with) { type old = atomic_fetch_add(&name##_object, with); name##_seen += old; return old; } \\
    __attribute__((noinline)) bool name##_exchange(type from, type to) \\
    { \\
        bool done = atomic_compare_exchange_strong_explicit(&name##_object, &from, to, memory_order_acq_rel, memory_order_relaxed); \\
        name##_seen ^= from; \\
        return done; \\
    } \\
    __attribute__((noinline)) type name##_all(type with, int turns) \\
    { \\
        type sum = 0; \\
        for (int i = 0; i < turns; i++) { \\
            sum = (type)(sum * 31 + atomic_fetch_sub(&name##_object, with)); \\
            if (i & 1) \\
                sum = (type)(sum * 31 + atomic_fetch_or(&name##_object, (type)(with << 2))); \\
            sum = (type)(sum * 31 + atomic_fetch_and_explicit(&name##_object, (type)~with, memory_order_relaxed)); \\
            sum = (type)(sum * 31 + __atomic_fetch_nand((type *)&name##_object, with, __ATOMIC_SEQ_CST)); \\
            sum = (type)(sum * 31 + atomic_fetch_xor(&name##_object, sum)); \\
            sum = (type)(sum * 31 + __atomic_fetch_max((type *)&name##_object, with, __ATOMIC_RELEASE)); \\
            sum = (type)(sum * 31 + __atomic_fetch_min((type *)&name##_object, (type)(with + 77), __ATOMIC_ACQUIRE)); \\
            sum = (type)(sum * 31 + atomic_exchange(&name##_object, (type)(sum >> 1))); \\
            atomic_store_explicit(&name##_object, (type)(atomic_load(&name##_object) + i), memory_order_release); \\
            name##_seen += sum; \\
        } \\
        return sum; \\
    } \\
    static void name##_show(void) \\
    { \\
        for (int i = 1; i < 9; i++) { \\
            long long a = (long long)name##_first((type)(i * 91)), b = (long long)name##_all((type)(i * 37), i), c = (long long)atomic_load(&name##_object); \\
            bool d = name##_exchange((type)c, (type)(c + 3)), e = name##_exchange((type)c, 5); \\
            printf(#name " %lld %lld %lld %d%d %lld %lld\\n", a, b, c, d, e, (long long)name##_seen, (long long)atomic_load(&name##_object)); \\
        } \\
    }
ALL(bytes, uint8_t)
ALL(shorts, int16_t)
ALL(ints, unsigned)
ALL(longs, long)
static int *_Atomic pointer;
static int places[4];
__attribute__((noinline)) int *move(int *to) { int *old = atomic_exchange(&pointer, to); calls++; return old ? old : atomic_load(&pointer); }
int main(void)
{
    bytes_show(); shorts_show(); ints_show(); longs_show();
    for (int i = 0; i < 4; i++)
        printf("%d", (int)(move(&places[i]) - places));
    return printf("\\n") < 0;
}
""")
    for level in ("-O1", "-O2"):
        ok(CLANG, level, "-w", "atomics.c", "-o", "plain")
        wanted = ok("./plain")
        for flags in ([], ["-g"]):
            cc(level, *flags, "-w", "atomics.c", "-o", "atomics")
            for options in ("", "races=1:sample=1000", "races=1"):
                got = ok("./atomics", env={**os.environ, "PORTENT_OPTIONS": options})
                check(got == wanted, f"{level} {flags} {options}: {got}")


@test
def where_nothing_is_asked_for_a_stretch_is_told_once():
    """A stretch that is told each time costs a hundred times what the loop does."""
    with open("loop.c", "w", encoding="utf-8") as file:
        file.write("""#include <pthread.h>
#include <stdlib.h>
static int *memory;
static void *run(void *turns)
{
    for (int i = 0; i < 1000; i++)
        for (int j = 0; j < 100000; j++)
            memory[j] += i;
    return turns;
}
int main(void)
{
    pthread_t thread;
    memory = calloc(100000, sizeof *memory);
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    return memory[5] == 1;
}
""")
    cc("-O2", "-pthread", "loop.c", "-o", "loop")
    for options in ("", "races=1:sample=1000"):
        with subprocess.Popen("./loop", env={**os.environ, "PORTENT_OPTIONS": options}) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
        check(status == 0 and used.ru_utime < 1.5, f"'{options}': status {status}, {used.ru_utime} s")


@test
def every_row_has_its_hooks():
    """What src/core/sync.def says of a call; and whatever the runtime records is announced, or else has no place."""
    hooks = {"CALL": ["call"], "COPY": [], "FILL": [], "STRING": ["string"], "FORMAT": ["begin_write", "end_write"],
             "LIBRARY_STORE": ["begin_atomic", "end_atomic"], "LIBRARY_LOAD": ["atomic_load1"], "ALLOCATION": ["allocated"],
             "NONE": []}
    rows = sync_rows.rows()
    silent = [row.name for row in rows if row.wrapper != "NONE" and row.effect not in ("NONE", "FREED") and row.hook != "CALL"
              and "KERNEL" not in row.details]
    # to say where a character is read or written would cost more than that
    characters = {"fputc", "fputc_unlocked", "putc", "putc_unlocked", "fgetc", "getc"}
    check(all(name.startswith("GOMP_") or name in ("__kmpc_fork_call", "__kmpc_omp_task_alloc") or name in characters for name in silent), f"not announced: {silent}")
    with open("calls.c", "w", encoding="utf-8") as file:
        for row in rows:
            parameters = sync_rows.parameters(row)
            names = ", ".join(name for _, name in parameters)
            typed = ", ".join(kind + name for kind, name in parameters)
            file.write(f"char *{row.name}({typed});\nchar *from_{row.name}({typed}) {{ return {row.name}({names}); }}\n")
    bodies = functions_of(cc("-O2", "-w", "-fno-builtin", "-S", "-emit-llvm", "calls.c", "-o", "-"))
    for row in rows:
        due = hooks[row.hook]
        if row.hook in ("COPY", "FILL"):
            due = ["memset" if row.hook == "FILL" else "memmove" if "MOVES" in row.details else "memcpy"]
        if row.hook == "ALLOCATION" and row.details.get("ALLOCATES") == ["TEXT"]:
            due = [*due, "read"]  # of the text that is copied
        found = [hook for hook, _ in hooks_of(bodies["from_" + row.name])]
        check(found == due, f"{row.name}: {found} instead of {due}")


@test
def library_atomics_and_fortified_copies():
    check_kinds("atomics_by_library.c")


@test
def opted_out_functions_have_plain_loads():
    bodies = functions_of(cc("-O2", "-w", "-mcx16", "-S", "-emit-llvm", source("kinds.c"), "-o", "-"))
    for name in ("opted_out", "opted_out_too"):
        check(any("= load i32" in line for line in bodies[name]), f"{name} does not load")


@test
def opting_out_as_people_write_it():
    with open("quiet.h", "w", encoding="utf-8") as file:
        file.write('#if __has_feature(thread_sanitizer)\n#define QUIET __attribute__((no_sanitize("thread")))\n#else\n'
                   "#define QUIET\n#endif\nextern int g;\nQUIET static inline int peek(void) { return g; }\n")
    with open("quiet.c", "w", encoding="utf-8") as file:
        file.write('#include "quiet.h"\nint g;\nint user(void) { return peek() + g; }\nQUIET int also(void) { return g; }\n'
                   "#if __has_feature(thread_sanitizer)\nint seen;\n#endif\n")
    text = cc("-S", "-emit-llvm", "quiet.c", "-o", "-")
    check("@seen" not in text, "the program sees ThreadSanitizer")
    bodies = functions_of(text)
    check([len(hooks_of(bodies[f])) for f in ("peek", "user", "also")] == [0, 1, 0], str(bodies))
    with open("forced.c", "w", encoding="utf-8") as file:  # the wrapper of strcpy is inlined early, peek is not
        file.write('#include <string.h>\nint g; char to[9];\n__attribute__((no_sanitize("thread"), always_inline)) '
                   'static inline int peek(void) { return g; }\nint user(const char *s) { strcpy(to, s); return peek(); }\n')
    bodies = functions_of(cc("-O2", "-D_FORTIFY_SOURCE=2", "-S", "-emit-llvm", "forced.c", "-o", "-"))
    check(len(hooks_of(bodies["user"])) == 1, str(bodies))


@test
def precompiled_headers():
    with open("pre.h", "w", encoding="utf-8") as file:
        file.write("extern int g;\nstatic inline int twice(int x) { return 2 * x; }\n")
    with open("main.c", "w", encoding="utf-8") as file:
        file.write("int g;\nint main(void) { g = twice(2); return g - 4; }\n")
    cc("-O2", "-x", "c-header", "pre.h", "-o", "pre.h.gch")
    cc("-O2", "-include", "pre.h", "-Werror", "-Winvalid-pch", "main.c", "-o", "prog")
    ok("./prog")
    check(has_hooks("prog"), "no hooks")


@test
def levels_and_debug_flags():
    for flags in (["-O0"], ["-O1"], ["-O2"], ["-O3"], ["-Os"], ["-g"], ["-O2", "-g0"], ["-O2", "-fPIC"], ["-O1", "-fno-pie", "-no-pie"],
                  ["-O2", "-gsplit-dwarf"], ["-O2", "-fstack-protector-all"], ["-O2", "-D_FORTIFY_SOURCE=2"],
                  ["-O2", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"], ["-O2", "-std=c99", "-pedantic"],
                  ["-fno-integrated-as"], ["-O2", "-march=x86-64-v3", "-ffast-math"], ["-fno-builtin"], ["-pipe"], ["-save-temps"]):
        try:
            out = same_as_clang(*flags, source("threads.c"), source("part.c"), "-o", "prog", "-pthread")
        except Failure as failure:
            raise Failure(f"{flags}: {failure}") from None
        check(out == ["14000 record 2000\n"], f"{flags}: {out}")


@test
def separate_compilation():
    cc("-c", "-O2", source("threads.c"), source("part.c"))
    check(has_hooks("threads.o") and has_hooks("part.o"), "objects without hooks")
    cc("threads.o", "part.o", "-o", "prog", "-pthread")
    check(ok("./prog") == "14000 record 2000\n", "wrong output")
    status, _, err = run(PORTENT, "cc", "threads.o", "part.o", "-o", "prog", "-pthread")
    check(status == 0 and err == "", err)


@test
def assembly_output_and_inputs():
    cc("-S", "-O1", source("part.c"))
    check("__portent_store4" in open("part.s", encoding="utf-8").read(), "no hook in part.s")
    cc("-S", source("threads.c"), "-o", "threads.s")
    cc("threads.s", "part.s", "-o", "prog", "-pthread")
    check(ok("./prog") == "14000 record 2000\n", "wrong output")
    cc(source("asks.c"), source("answer.s"), "-o", "prog")
    check(ok("./prog") == "42\n", "wrong answer")
    shutil.copy(source("answer.s"), "upper.S")
    cc("-c", "upper.S", "-DX=1", "-o", "upper.o")
    check("answer" in ok("nm", "upper.o"), "no answer in upper.o")


@test
def bitcode_output_and_input():
    cc("-c", "-emit-llvm", "-O1", source("part.c"), "-o", "part.bc")
    cc("-S", "-emit-llvm", "-O0", source("threads.c"), "-o", "threads.ll")
    cc("part.bc", "threads.ll", "-o", "prog", "-pthread")
    check(ok("./prog") == "14000 record 2000\n", "wrong output")
    count = len(re.findall("call .*@__portent_store4", open("threads.ll", encoding="utf-8").read()))
    again = len(re.findall("call .*@__portent_store4", cc("-S", "-emit-llvm", "-O0", "threads.ll", "-o", "-")))
    check(count == again > 0, f"rewritten twice: {count}, {again}")
    ok(CLANG, "-c", "-emit-llvm", source("part.c"), "-o", "plain.bc")
    cc("-c", "plain.bc", "-o", "plain.o")
    check(has_hooks("plain.o"), "plain bitcode was not instrumented")


@test
def preprocessing_and_dependencies():
    def both(*args):
        mine, clangs = run(PORTENT, "cc", *args), run(CLANG, *args)
        check(mine == clangs, f"{args}: {mine} is not {clangs}")

    both("-E", source("threads.c"))
    both("-E", "-P", "-dM", source("part.c"))
    both("-M", source("threads.c"))
    both("-MM", source("threads.c"), "-MT", "x.o")
    both("-fsyntax-only", source("threads.c"))
    for flags in (["-MD"], ["-MMD", "-MP"], ["-MD", "-MF", "other.d", "-MT", "name"]):
        texts = []
        for compiler in ((PORTENT, "cc"), (CLANG,)):
            for old in glob.glob("*.d"):
                os.unlink(old)
            ok(*compiler, "-c", *flags, source("threads.c"), "-o", "threads.o")
            texts.append({name: open(name, encoding="utf-8").read() for name in glob.glob("*.d")})
        check(texts[0] == texts[1] and texts[0], f"{flags}: {texts}")


@test
def portent_h_is_found():
    include = "#include <portent.h>\nint main(void) { portent_event(\"x\"); return 0; }\n"
    status, _, err = run(PORTENT, "cc", "-x", "c", "-E", "-o", "/dev/null", "-", stdin=include)
    check(status == 0, err)


@test
def shared_and_static():
    cc("-shared", "-fPIC", "-O2", source("part.c"), "-o", "libpart.so")
    check("U __portent_store4" in ok("nm", "libpart.so"), "the library does not leave its hooks to the program")
    cc("-O2", source("threads.c"), "-L.", "-lpart", "-Wl,-rpath,$ORIGIN", "-o", "prog", "-pthread")
    check(ok("./prog") == "14000 record 2000\n", "wrong output with a shared library")
    check(re.search(r" [TW] __portent_load4", ok("nm", "-D", "prog")), "the program does not export the hooks")
    cc("-shared", "-fPIC", source("part.c"), "-o", "libstrict.so", "-Wl,-z,defs")
    cc("-r", source("part.c"), "-o", "part.o", "-nostdlib")
    cc("-static", "-O2", source("threads.c"), source("part.c"), "-o", "prog", "-pthread")
    check(ok("./prog") == "14000 record 2000\n", "wrong output when static")
    check("statically linked" in ok("file", "prog") if shutil.which("file") else True, "not static")


@test
def plugins_reach_the_hooks():
    with open("host.c", "w", encoding="utf-8") as file:
        file.write('#include <dlfcn.h>\n#include <stdio.h>\nint main(void) { void *lib = dlopen("./libpart.so", RTLD_NOW);\n'
                   'if (!lib) { puts(dlerror()); return 1; }\nint (*step)(int) = (int (*)(int))dlsym(lib, "part_step");\n'
                   'printf("%d\\n", step(4)); return 0; }\n')
    cc("-shared", "-fPIC", source("part.c"), "-o", "libpart.so")
    cc("host.c", "-o", "prog", "-ldl")
    check(ok("./prog") == "8\n", "wrong output")


@test
def link_time_optimisation():
    linker = shutil.which(ok(CLANG, "-print-prog-name=ld.lld").strip())
    major = r"(?:LLD|clang version) (\d+)"
    if not linker or re.search(major, ok(linker, "--version"))[1] != re.search(major, ok(CLANG, "--version"))[1]:
        print("skipped: no ld.lld of clang's version here")
        return
    for flavour in ("-flto", "-flto=thin"):
        out = same_as_clang(flavour, "-fuse-ld=lld", "-O2", source("threads.c"), source("part.c"), "-o", "prog", "-pthread")
        check(out == ["14000 record 2000\n"], out)


@test
def response_file_and_standard_input():
    with open("args.rsp", "w", encoding="utf-8") as file:
        file.write(f'-O2 "{source("threads.c")}"\n{source("part.c")} -o "a prog" -pthread')
    cc("@args.rsp")
    check(ok("./a prog") == "14000 record 2000\n", "wrong output")
    text = open(source("part.c"), encoding="utf-8").read()
    out = cc("-x", "c", "-I", HERE, "-S", "-o", "-", "-", stdin=text)
    check("__portent_store4" in out, "no hooks from standard input")


@test
def odd_file_names_and_many_arguments():
    name = "odd \"name\" $x\\y.c"
    shutil.copy(source("part.c"), name)
    shutil.copy(source("part.h"), "part.h")
    cc("-c", "./" + name, "-o", "odd out.o", "-DTEXT=\"a b\\\"c\n\"")
    check(has_hooks("odd out.o"), "no hooks")
    # too long for one command line of the system, so response files are needed on the way
    with open("many.rsp", "w", encoding="utf-8") as file:
        file.write("\n".join(f"-DMACRO_WITH_A_LONG_NAME_{i}={'x' * 80}" for i in range(25000)))
    cc("@many.rsp", "-c", source("part.c"), "-o", "many.o")
    check(has_hooks("many.o"), "no hooks")


@test
def cxx():
    for flags in (["-O0"], ["-O2"], ["-O1", "-std=c++20"], ["-O2", "-fno-rtti"], ["-static", "-O2"]):
        out = same_as_clang(*flags, source("features.cpp"), "-o", "prog", "-pthread", cxx=True)
        check(out == ["31500 0 0\n"], f"{flags}: {out}")


@test
def no_new_warnings():
    def both(*args):
        mine, clangs = run(PORTENT, "cc", *args), run(CLANG, *args)
        check(mine == clangs, f"{args}: {mine} is not {clangs}")
        return mine

    quiet = ["-Werror", "-Weverything", "-Wno-unknown-warning-option", "-Wno-unsafe-buffer-usage"]
    for level in ("-O0", "-O1", "-O2", "-O3"):
        status, _, err = run(PORTENT, "cc", level, *quiet, "-c", source("strict.c"), "-o", "strict.o")
        check(status == 0 and err == "", err)
    check(both("-Wall", "-DUNUSED", "-c", source("strict.c"), "-o", "strict.o")[2] != "", "no warning at all")
    both("-Wall", "-Werror", "-DUNUSED", "-c", source("strict.c"), "-o", "strict.o")
    both("-lnothing", "-c", source("part.c"), "-o", "part.o")
    both("-Wframe-larger-than=1", "-Wno-everything", "-c", source("part.c"), "-o", "part.o")


@test
def questions_go_to_clang():
    for args in (["--version"], ["-print-search-dirs"], ["-print-file-name=libc.so"], ["-dumpmachine"], [], ["nothing.c"],
                 ["--no-such-option", source("part.c")], ["-###", source("part.c")], ["-c"], ["-dumpversion"]):
        mine, clangs = run(PORTENT, "cc", *args), run(CLANG, *args)
        neutral = [(s, o, re.sub(r"-[0-9a-f]{6}\.o|^[\w.+-]*: ", "", e, flags=re.M)) for s, o, e in (mine, clangs)]
        check(neutral[0] == neutral[1], f"{args}: {mine} is not {clangs}")
    own, clangs = run(PORTENT, "cc", "--help"), run(CLANG, "--help")
    check(own[0] == 0 and own[1].startswith("Usage: portent cc") and own[1].endswith(clangs[1]), f"--help: {own}")
    status, _, err = run(PORTENT, "cc", "-v", source("part.c"), "-c", "-o", "part.o")
    check(status == 0 and "clang version" in err and "-cc1" in err, err)


def clang_starts(*args):
    """How often clang is started for a command, as the dynamic linker sees it."""
    env = dict(os.environ, LD_DEBUG="files", LD_DEBUG_OUTPUT=os.path.abspath("linker"))
    ok(PORTENT, "cc", *args, env=env)
    starts = 0
    for path in glob.glob("linker.*"):
        with open(path, encoding="utf-8", errors="replace") as file:
            starts += len(re.findall(r"initialize program: \S*/clang[\w.-]*$", file.read(), re.M))
        os.remove(path)
    return starts


@test
def an_object_is_one_start_of_clang():
    plugin = os.path.join(os.path.dirname(PORTENT), "..", "libexec", "portent", "portent-pass.so")
    if os.environ.get("PORTENT_CLANG") or not os.path.exists(plugin):
        return  # the rewriting has a process of its own
    for args in (["-O2"], ["-O0", "-Wall", "-MMD"], ["-O2", "-fPIC", "-DX=1", "-I", "."]):
        check(clang_starts(*args, "-c", source("part.c"), "-o", "part.o") == 1, f"{args}: not one start")
    check(clang_starts("-O2", "-c", source("part.c"), "-o", "part.o", "-fno-jump-tables") == 2, "a plan and one job are not two starts")


@test
def all_ways_to_compile_agree():
    """By clang alone, by a plan, and in two halves; with optimisation the last one but for the registers of bodies with hooks
    (registers.cpp), which a clang without the plug-in chooses: there what is called and named, in which order."""
    with open("own.c", "w", encoding="utf-8") as file:
        file.write('#include "own.h"\nint x;\nvoid f(void) { x = 1; }\nLEFT void g(void) { x = 2; }\n')
    with open("own.h", "w", encoding="utf-8") as file:
        file.write('#define LEFT __attribute__((no_sanitize("thread")))\n')
    for level in ("-O0", "-O2"):
        for name in ("own.c", source("kinds.c"), source("part.c")):
            cc(level, "-c", name, "-o", "direct.o")
            cc(level, "-c", name, "-o", "planned.o", "-Xclang", "-std=gnu17")
            cc(level, "-c", name, "-o", "halves.o", env=dict(os.environ, PORTENT_CLANG=CLANG))
            listings = [ok("objdump", "-dr", "--no-show-raw-insn", f"{way}.o").replace(way, "") for way in ("direct", "planned", "halves")]
            check("__portent_" in listings[0], f"{level} {name}: no hooks")
            check(listings[0] == listings[1], f"{level} {name}: planned code is not that of clang alone")
            alone, halves = (listing if level == "-O0" else re.findall(r"R_X86_64_\w+\s+(?!\.rodata|\.text)(\S+)", listing) for listing in (listings[0], listings[2]))
            check(alone == halves, f"{level} {name}: the code of two halves is not that of clang alone")
    cc("-O2", "-c", "own.c", "-o", "own.o")
    check(len(re.findall(r"R_\w+\s+__portent_store4", ok("objdump", "-dr", "own.o"))) == 1, "no_sanitize of a header's macro is not honoured")


@test
def invalid_code_is_found_if_asked():
    """What is given here is as good as made: a function that is left alone, with a phi that does not know all ways."""
    with open("invalid.ll", "w", encoding="utf-8") as file:
        file.write("""target triple = "x86_64-pc-linux-gnu"
define i32 @f(i1 %c) {
  br i1 %c, label %a, label %b
a:
  br label %b
b:
  %p = phi i32 [ 0, %a ]
  ret i32 %p
}
""")
    for how in ({}, {"PORTENT_CLANG": CLANG}):
        status, _, told = run(PORTENT, "cc", "-O0", "-S", "-emit-llvm", "invalid.ll", "-o", "out.ll", env={**os.environ, **how})
        check(status != 0 and "not valid: PHINode" in told, f"{how}: {status}, {told}")
        unasked = {name: value for name, value in {**os.environ, **how}.items() if name != "PORTENT_VERIFY"}
        status, _, told = run(PORTENT, "cc", "-O0", "-S", "-emit-llvm", "invalid.ll", "-o", "out.ll", env=unasked)
        check(status == 0, f"{how}, unasked: {status}, {told}")


@test
def errors_and_exit_status():
    with open("bad.c", "w", encoding="utf-8") as file:
        file.write("int f(void) { return undeclared; }\n")
    for args in (["-c", "bad.c"], ["bad.c", source("part.c"), "-o", "prog"], [source("asks.c"), "-o", "prog"]):
        mine, clangs = run(PORTENT, "cc", *args), run(CLANG, *args)
        check(mine[0] == clangs[0] != 0, f"{args}: {mine[0]} is not {clangs[0]}")
    status, _, _ = run(PORTENT, "cc", "-c", "bad.c", source("part.c"))
    check(status != 0 and os.path.exists("part.o") and not os.path.exists("bad.o"), "the good source was not compiled")


INLINE_C = {
    "without_definition.c": """
int a, b, c, d;
inline void f(int x) { a += x; b += a; c += b; d += c; a += d; b += a; c += b; d += c; }
int main(void) { f(1); f(2); return 0; }
""", "through_another.c": """
int a, b, c, d;
inline void f(int x) { a += x; b += a; c += b; d += c; a += d; b += a; c += b; d += c; }
inline void g(int x) { f(x); f(x + 1); d += x; }
int main(void) { g(1); f(2); return 0; }
""", "gnu.c": """
int a, b, c, d;
extern inline __attribute__((gnu_inline)) void f(int x) { a += x; b += a; c += b; d += c; a += d; b += a; c += b; d += c; }
int main(void) { f(1); f(2); return 0; }
""", "kept_outside.c": """
int a;
inline __attribute__((noinline)) void f(int x) { a += x; }
int main(void) { f(1); f(2); return 0; }
""", "address.c": """
int a;
inline void f(int x) { a += x; }
void (*volatile p)(int) = f;
int main(void) { p(1); f(2); return 0; }
""", "gnu.cpp": """
int a, b, c, d;
extern "C" { extern inline __attribute__((gnu_inline)) void f(int x) { a += x; b += a; c += b; d += c; a += d; b += a; c += b; d += c; } }
int main() { f(1); f(2); return 0; }
""", "template.cpp": """
int a, b, c, d;
template <class T> struct box { void f(T x) { a += x; b += a; c += b; d += c; a += d; b += a; c += b; d += c; } };
extern template struct box<int>;
int main() { box<int> x; x.f(1); x.f(2); return 0; }
"""}


@test
def inline_without_a_definition():
    """Links at each level if and only if clang links it, though hooks make the bodies larger."""
    linked = set()
    for name, text in INLINE_C.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        for level in ("-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-inline"):
            flags = level.split() + ["-w", name, "-o", "prog"]
            language = "c++" if name.endswith("pp") else "cc"
            clangs, mine = run(CLANG, *flags), run(PORTENT, language, *flags)
            check(mine[0] == clangs[0], f"{name} {level}: {mine} is not {clangs}")
            if mine[0] == 0:
                linked.add((name, level))
                ok("./prog")
                ok(PORTENT, language, *flags[:-1], "part.o", "-c")
                check("U __portent_store4" in ok("nm", "part.o"), f"{name} {level}: no hooks")
    check(len(linked) == 20, f"{len(linked)} link: {sorted(linked)}")


@test
def inline_with_a_definition_elsewhere():
    """One address for all modules; the stores of the local copy are seen."""
    header = "extern int a, b, c, d;\ninline void f(int x) { a += x; b += a; c += b; d += c; a += d; b += a; c += b; d += c; }\n"
    with open("one.c", "w", encoding="utf-8") as file:
        file.write(header + "typedef void fn(int);\nfn *other(void);\nint printf(const char *, ...);\n"
                   'int main(void) { f(1); f(2); fn *mine = f; mine(3); printf("%d %d\\n", d, mine == other()); }\n')
    with open("two.c", "w", encoding="utf-8") as file:
        file.write(header + "int a, b, c, d;\nextern inline void f(int);\ntypedef void fn(int);\nfn *other(void) { return f; }\n")
    for level in ("-O0", "-O1", "-O2", "-O3", "-Os"):
        out = same_as_clang(level, "one.c", "two.c", "-o", "prog")
        check(out[0].endswith(" 1\n"), f"{level}: {out}")
        cc(level, "-shared", "-fPIC", "two.c", "-o", "libtwo.so")
        cc(level, "one.c", "-L.", "-ltwo", "-Wl,-rpath,$ORIGIN", "-o", "prog")
        check([ok("./prog")] == out, f"{level}: with a shared library")


@test
def sanitizers_that_cannot_work_are_refused():
    with open("all.rsp", "w", encoding="utf-8") as file:
        file.write("-fsanitize=address")
    cc("-c", source("part.c"), "-o", "part.o")

    def refused(name, *args):
        for compiler in ("cc", "c++"):
            status, out, err = run(PORTENT, compiler, *args, "-o", "product")
            check(status != 0 and out == "" and err.count("error:") == 1 and f"-fsanitize={name}:" in err and "leave it out" in err,
                  f"{args}: {status} {out}{err}")
            check(not os.path.exists("product"), f"{args}: there is a product")

    for name in ("address", "thread", "memory", "leak", "hwaddress", "dataflow", "scudo", "kernel-address", "kernel-memory",
                 "kernel-hwaddress"):
        refused(name, "-fsanitize=" + name, "-c", source("part.c"))
        if not name.startswith("kernel"):
            refused(name, "-fsanitize=" + name, "part.o")
    refused("address", "-fsanitize=address", source("part.c"), source("asks.c"))
    refused("address", "@all.rsp", "-c", source("part.c"))
    refused("address", "-fsanitize=undefined,address", "-c", source("part.c"))
    refused("address", "-fno-sanitize=address", "-fsanitize=address", "-c", source("part.c"))
    refused("leak", "-fsanitize=address,leak", "-fno-sanitize=address", "-S", source("part.c"))
    refused("address", "-fsanitize=address", "-shared-libsan", "part.o")
    for flags in (["-fsanitize=address", "-fno-sanitize=address"], ["-fsanitize=address,undefined", "-fno-sanitize=address"],
                  ["@all.rsp", "-fno-sanitize=all"], ["-fsanitize=thread", "-fno-sanitize=thread,leak"]):
        same_as_clang(*flags, source("threads.c"), source("part.c"), "-o", "prog", "-pthread")
    ok(PORTENT, "cc", "-fsanitize=address", "-E", source("part.c"))  # makes no code


@test
def undefined_behaviour_sanitizer():
    with open("ub.c", "w", encoding="utf-8") as file:
        file.write("#include <pthread.h>\n#include <stdio.h>\nint big = 2147483647, n;\n"
                   "static void *work(void *arg) { __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED); return arg; }\n"
                   "int main(int argc, char **argv) { pthread_t t; pthread_create(&t, 0, work, 0); pthread_join(t, 0);\n"
                   'big += argc; printf("%d %d\\n", n, big == -2147483647 - 1); return !argv; }\n')
    with open("ub.cpp", "w", encoding="utf-8") as file:
        file.write("#include <cstdio>\nstruct A { virtual int f() { return 1; } virtual ~A() {} };\n"
                   "struct B { virtual int f() { return 2; } virtual ~B() {} };\nB b;\nvoid *volatile p = &b;\n"
                   'int main() { std::printf("%d\\n", static_cast<A *>(p)->f()); }\n')
    for level in ("-O0", "-O1", "-O2", "-Os"):
        for name, complaint in (("ub.c", "signed integer overflow"), ("ub.cpp", "does not point to an object of type 'A'")):
            cxx = name.endswith("pp")
            flags = [level, "-g", "-fsanitize=undefined", "-pthread", name, "-o", "prog"]
            same_as_clang(*flags, cxx=cxx)
            ok(PORTENT, "c++" if cxx else "cc", *flags)
            status, _, err = run("./prog")
            check(status == 0 and complaint in err, f"{level} {name}: {status} {err}")
            status, _, err = run(PORTENT, "c++" if cxx else "cc", "-fno-sanitize-recover=undefined", *flags)
            check(status == 0 and run("./prog")[0] == 1, f"{level} {name}: not stopped {err}")


def runs_as_itself(text, program="./prog"):
    """The program prints `text` alone and observed, and neither its property nor a race is found."""
    with open("own.prop", "w", encoding="utf-8") as file:
        file.write("property p: n >= 0;\nproperty r at each i: race_free(*);\n")
    check(ok(program) == text, "alone")
    status, out, err = run(PORTENT, "run", "-q", "-s", "own.prop", "--", program)
    check(status == 0 and text in out, f"observed: {status} {out}{err}")


@test
def an_allocator_of_its_own():
    parts = [source("uses_malloc.c"), source("own_malloc.c")]
    for flags in (["-O0"], ["-O2"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-static"]):
        cc(*flags, "-fno-builtin", *parts, "-o", "prog", "-pthread")
        runs_as_itself("600 1\n")
    cc("-O2", "-fno-builtin", "-c", source("own_malloc.c"), "-o", "own_malloc.o")
    ok("ar", "rc", "libown.a", "own_malloc.o")
    ok(CLANG, "-O2", "-fno-builtin", "-fPIC", "-shared", source("own_malloc.c"), "-o", "libforeign.so")
    for library in ("-lown", "-lforeign"):
        cc("-O2", parts[0], "-L.", library, "-Wl,-rpath,$ORIGIN", "-o", "prog", "-pthread")
        runs_as_itself("600 1\n")


@test
def locks_of_its_own():
    for flags in (["-O0"], ["-O2"], ["-O2", "-static"]):
        cc(*flags, source("own_threads.c"), "-o", "prog", "-pthread")
        runs_as_itself("200 200\n")


@test
def sites_have_names():
    text = cc("-O1", "-S", "-emit-llvm", source("names.c"), "-o", "-")
    for name in ("touch::calls", "counter_of_file", "global.in.y", "globals[2].many[1].x", "globals[].in.x",
                 "p->next->in.y", "p->many[].y", "p->next"):
        check(f'c"{name}\\00"' in text, f"no site is named {name}: {re.findall(r'portent.text.*c(.*)', text)}")
    check(re.search(r"c\"[^\"]*names\.c\\00", text) and 'c"touch\\00"' in text, "no file or function")
    line = 1 + open(source("names.c"), encoding="utf-8").read().split("calls++")[0].count("\n")
    check(f"i32 {line}, i32 10" in text, f"no site in line {line}")


@test
def temporary_files_are_removed():
    os.mkdir("tmp")
    env = dict(os.environ, TMPDIR=os.path.abspath("tmp"))
    cc("-O2", source("threads.c"), source("part.c"), "-o", "prog", "-pthread", env=env)
    check(os.listdir("tmp") == [], f"left behind: {os.listdir('tmp')}")
    for number in (signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen([PORTENT, "cc", "-x", "c", "-c", "-", "-o", "slow.o"], stdin=subprocess.PIPE, env=env) as slow:
            for _ in range(6000):
                if any(f.endswith(".headers") for d in glob.glob("tmp/*") for f in os.listdir(d)):
                    break
                time.sleep(0.01)
            time.sleep(0.05)
            slow.send_signal(number)
            slow.wait(60)
        check(slow.returncode == -number, f"ended with {slow.returncode}")
        check(os.listdir("tmp") == [], f"left behind after a signal: {os.listdir('tmp')}")


@test
def make_project():
    with open("Makefile", "w", encoding="utf-8") as file:
        file.write(f"VPATH = {HERE}\nprog: threads.o part.o\n\t$(CC) -o $@ $^ -pthread\n%.o: %.c\n\t$(CC) -O2 -MMD -c $< -o $@\n")
    ok("make", "-j4", f"CC={PORTENT} cc")
    check(ok("./prog") == "14000 record 2000\n" and has_hooks("prog"), "wrong program")


@test
def cmake_project():
    if not shutil.which("cmake"):
        return
    with open("CMakeLists.txt", "w", encoding="utf-8") as file:
        file.write(f"cmake_minimum_required(VERSION 3.16)\nproject(toy C CXX)\nfind_package(Threads REQUIRED)\n"
                   f"add_library(part SHARED {source('part.c')})\nadd_executable(prog {source('threads.c')})\n"
                   f"target_link_libraries(prog part Threads::Threads)\nadd_executable(features {source('features.cpp')})\n"
                   f"target_link_libraries(features Threads::Threads)\n")
    env = dict(os.environ, CC=f"{PORTENT} cc", CXX=f"{PORTENT} c++")
    ok("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", env=env)
    ok("cmake", "--build", "build", "-j2")
    check(ok("build/prog") == "14000 record 2000\n" and has_hooks("build/prog"), "wrong program")
    check(ok("build/features") == "31500 0 0\n", "wrong C++ program")


STACKS = """main: main
inlined: inner middle inlined main
twice: inner middle main
tail: inner tail main
musttail: inner main
pointer: inner middle main
longjmp: inner jumped main
ifunc: inner chosen main
library: inner middle in_library main
callback: inner compare main
once: inner first main
signal: inner on_signal
thread: inner thread
main again: main
"""


def stack_lines(text):
    """What stack.c printed, without what was lost; a handler is called from wherever its thread was."""
    lines = re.sub(r" lost \d+$", "", text, flags=re.M)
    return re.sub(r"^(signal: .*on_signal).*$", r"\1", lines, flags=re.M)


@test
def stack_of_calls():
    ok(CLANG, "-O2", "-fPIC", "-I", os.path.join(ROOT, "src"), "-c", source("stack_print.c"), "-o", "print.o")
    library, program = source("stack_library.c"), (source("stack.c"), "print.o", "-pthread", "-o", "prog")
    for flags in (["-O0"], ["-O1"], ["-O2"], ["-Os"], ["-O2", "-fno-pie", "-no-pie"], ["-O2", "-static"]):
        cc(*flags, *program, library)
        out = ok("./prog")
        deep = [line for line in out.splitlines() if line.startswith("deep")]
        check(len(deep) == 1 and len(deep[0].split()) == 1 + 256 + 2 and deep[0].endswith("lost 46"), f"{flags}: {deep}")
        got = stack_lines(out.replace(deep[0] + "\n", ""))
        check(got == STACKS, f"{flags}:\n{got}")
    cc("-O2", "-fPIC", "-shared", library, "-o", "libpart.so")
    cc("-O2", *program, "./libpart.so")
    got = stack_lines(ok("./prog"))
    check("library: inner middle in_library main\n" in got, f"with a shared library:\n{got}")


@test
def stack_after_exceptions():
    ok(CLANG, "-O2", "-fPIC", "-I", os.path.join(ROOT, "src"), "-c", source("stack_print.c"), "-o", "print.o")
    for flags in (["-O0"], ["-O2"], ["-O2", "-static"]):
        ok(PORTENT, "c++", *flags, source("stack_throw.cpp"), "print.o", "-o", "prog")
        lines = [line.split(" lost")[0] for line in ok("./prog").splitlines()]
        want = ["cleanup: guard::~guard cleans catches main", "caught: catches main", "after: catches main", "main: main"]
        check(lines == want, f"{flags}: {lines}")


@test
def chosen_files_and_functions():
    os.mkdir("lib")
    with open("lib/part.h", "w", encoding="utf-8") as file:
        file.write("static inline __attribute__((always_inline)) int peek(int *p) { return p[1]; }\n")
    with open("main.c", "w", encoding="utf-8") as file:
        file.write('#include "lib/part.h"\nint g[4];\nint first(void) { return g[0]; }\nint second(void) { return g[2]; }\n'
                   "int through(void) { return peek(g); }\nvoid third(void) { g[3] = first(); }\n")
    with open("list", "w", encoding="utf-8") as file:
        file.write("# comment\nfun:first\n[address]\nfun:second\n[memory|thread]\nsrc:*/lib/*\nsrc:lib/*\nfun:third=category\n")
    with open("everything", "w", encoding="utf-8") as file:
        file.write("[t*]\nmainfile:main.c\n")

    def hooked(*flags):
        """The functions with hooks, at both kinds of levels: with the optimiser in between and without."""
        found = []
        for level in ("-O0", "-O2"):
            cc(level, *flags, "-S", "-emit-llvm", "main.c", "-o", "main.ll")
            bodies = functions_of(open("main.ll", encoding="utf-8").read())
            found.append({f for f, body in bodies.items() if f != "peek" and hooks_of(body)})
        check(found[0] == found[1], f"{flags}: {found}")
        return found[1]

    everything = {"first", "second", "through", "third"}
    for flags, want in (((), everything), (("--skip-function=first",), everything - {"first"}),
                        (("--skip-function=fir*,second", "--skip-function=third"), {"through"}),
                        (("--skip-file=part.h",), everything - {"through"}), (("--skip-file=main.c",), {"through"}),
                        (("--skip-file=*/lib/*",), everything - {"through"}), (("--only-file=lib/*",), {"through"}),
                        (("--only-file=main.c,x.c", "--skip-function=second"), {"first", "third"}),
                        (("-fsanitize-ignorelist=list",), {"second", "third"}),
                        (("-fsanitize-ignorelist=everything",), set())):
        got = hooked(*flags)
        check(got == want, f"{flags}: {sorted(got)} instead of {sorted(want)}")
    status, _, err = run(PORTENT, "cc", "-fsanitize-ignorelist=missing", "-c", "main.c")
    check(status == 1 and "missing" in err, f"{status} {err}")


AFTER = """#include <stdatomic.h>
struct { int level, other; } tank;
static int never = 5, count;
atomic_int flags;
static void init(int *p, int n) { for (int i = 0; i < n; i++) p[i] = i * never; }
int sum(void) { int a[16], s = 0; init(a, 16); for (int i = 0; i < 16; i++) s += a[i]; return s; }
void fill(int c) { tank.level = 1; tank.level = tank.level; if (c) tank.other = 3; else tank.other = 4; }
int look(int c) { return c ? tank.level : 0; }
int loop(int n) { int s = 0; for (int i = 0; i < n; i++) s += i ^ tank.other; return s; }
void nothing(void) { atomic_fetch_or(&flags, 0); }
void bump(void) { count++; }
"""


@test
def hooks_after_the_optimiser():
    """Loads are those of the optimised program, writes those of the source; none is made up, and each has its line."""
    with open("after.c", "w", encoding="utf-8") as file:
        file.write(AFTER)
    for level in ("-O1", "-O2", "-O3", "-Os", "-Oz"):
        cc(level, "-S", "-emit-llvm", "after.c", "-o", "after.ll")
        text = open("after.ll", encoding="utf-8").read()
        got = {f: [name for name, _ in hooks_of(body)] for f, body in functions_of(text).items()}
        want = {"fill": ["store4"] * 4, "look": ["load4"], "nothing": ["atomic_rmw4"], "bump": ["peek4", "store4"]}
        if level != "-O1":
            want.update({"loop": ["load4"]})
        if level in ("-O2", "-O3"):
            want["sum"] = ["load4"]
        for function, hooks in want.items():
            check(got[function] == hooks, f"{level} {function}: {got[function]} instead of {hooks}")
        check(" br " in "\n".join(functions_of(text)["look"]), f"{level}: a load that the program does not always do")
        check("@never = internal" in text, f"{level}: a static that a property may name is gone")
        check(not re.search(r"^@\.portent\.site.*i32 0, i32 0,", text, re.M), f"{level}: an access without a line")
        check(not re.search(r"@\.portent\.site.*= .*\{ i8\* getelementptr inbounds \(\[1 x i8\]", text), f"{level}: an access without a file")


ESCAPES = """
#include <setjmp.h>
struct pair { int a, b; };
void use(struct pair *);
jmp_buf back;
int before(void) { struct pair p; p.a = 1; p.b = 2; use(&p); return p.a; }
void loop(int n) { struct pair p; p.b = 0; for (int i = 0; i < n; i++) { p.a = i; use(&p); } }
int branch(int n) { struct pair p; p.a = n; if (n) use(&p); else p.b = 3; return p.b; }
struct pair *kept;
void store(void) { struct pair p; p.a = 1; kept = &p; p.a = 2; use(0); }
void twice(void) { struct pair p; if (setjmp(back)) p.a = 3; else use(&p); use(&p); }
int by_value(struct pair p, long x[64]) { use(0); return p.a; }
"""


@test
def a_local_is_private_until_its_address_is_given_away():
    with open("escapes.c", "w", encoding="utf-8") as file:
        file.write(ESCAPES)
    want = {"before": ["load4"], "loop": ["store4"], "branch": ["load4"], "store": ["store8", "store4"], "twice": ["store4"], "by_value": []}
    for level in ("-O0", "-O2"):
        cc(level, "-S", "-emit-llvm", "escapes.c", "-o", "escapes.ll")
        bodies = functions_of(open("escapes.ll", encoding="utf-8").read())
        got = {f: [name for name, _ in hooks_of(body) if re.match("load|store", name)] for f, body in bodies.items()}
        for function, hooks in want.items():
            check(got[function] == hooks, f"{level} {function}: {got[function]} instead of {hooks}")


# Functions that write what an argument points to, which a store that must stay makes LLVM take for an escape, and what they call.
PASSED = """
struct pair { int a, b; };
struct pair *volatile given;
int number;
#define ALONE static __attribute__((noinline))
ALONE void fill(struct pair *p, int n) { if (p) { p->a = n; p->b = n + 1; } }
ALONE void through(struct pair *p, int n) { fill(p, n); p->b += 3; }
ALONE void give(struct pair *p, int n) { p->a = n; given = p; }
ALONE void give_later(struct pair *p, int n) { if (n) give(p, n - 1); }
ALONE struct pair *back(struct pair *p, int n) { p->a = n; return n ? p : 0; }
ALONE void around(struct pair *p, int n) { p->a = n; if (n) around(p, n - 1); else given = p; }
ALONE void as_number(struct pair *p, int n) { p->a = n; number = (int)(long)p; }
__attribute__((noinline, weak)) void other(struct pair *p, int n) { p->a = n; }
void in_fill(int n) { struct pair p; fill(&p, n); p.a = 1; through(&p, n); number = p.a + p.b; }
void in_give(int n) { struct pair p; give_later(&p, n); number = p.a; }
void in_back(int n) { struct pair p; struct pair *q = back(&p, n); number = p.a + (q != &p); }
void in_around(int n) { struct pair p; around(&p, n); number = p.a; }
void in_as_number(int n) { struct pair p; as_number(&p, n); number = p.a; }
void in_other(int n) { struct pair p; other(&p, n); number = p.a; }
"""


@test
def a_local_stays_private_where_functions_keep_its_address():
    with open("passed.c", "w", encoding="utf-8") as file:
        file.write(PASSED)
    for level in ("-O1", "-O2"):
        cc(level, "-S", "-emit-llvm", "passed.c", "-o", "passed.ll")
        bodies = functions_of(open("passed.ll", encoding="utf-8").read())
        loads = {f: sum(name == "load4" for name, _ in hooks_of(body)) for f, body in bodies.items()}
        for function in ("in_give", "in_back", "in_around", "in_as_number", "in_other"):
            check(loads[function] >= 1, f"{level} {function}: its local is nobody else's")
        check(loads["in_fill"] == 0, f"{level}: {loads['in_fill']} loads of a local that nobody keeps")


def main():
    global PORTENT, CLANG
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PORTENT = os.path.abspath(sys.argv[1])
    os.environ["PORTENT_VERIFY"] = "1"
    folder = re.search(r"InstalledDir: (.*)", ok(PORTENT, "cc", "--version")).group(1)
    CLANG = os.environ.get("PORTENT_CLANG") or os.path.join(folder, "clang")
    passed = failed = 0
    for function in TESTS:
        if sys.argv[2:] and function.__name__ not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                function()
                passed += 1
                print(f"ok   {function.__name__}")
            except (Failure, subprocess.TimeoutExpired, OSError, KeyError) as failure:
                failed += 1
                print(f"FAIL {function.__name__}: {str(failure)[:3000]}")
            finally:
                os.chdir("/")
        sys.stdout.flush()
    print(f"cc: {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
