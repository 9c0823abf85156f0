"""The rows of src/core/sync.def, and for each a C program that shows what `portent model` makes of the function.

A *piece* is one row's part of a program: what two threads run, what main runs beside them, and which of its blocks are atomic. Pieces
have variables of their own, so several make one program. Functions are declared without parameters: the model knows them by name.
"""
import pathlib
import re
import types

COARSE = "which part of memory this is cannot be told: taken as all of"
TABLE = pathlib.Path(__file__).resolve().parents[2] / "src" / "core" / "sync.def"


def rows(text=None):
    """All rows, each with its columns, and `details`: {word: [argument, ...]}."""
    found = []
    text = TABLE.read_text(encoding="utf-8") if text is None else text
    for name, wrapper, hook, model, effect, rest in re.findall(
            r"^PT_SYNC\((\w+), (\w+), (\w+), (\w+), (\w+)(?:, (.*))?\)$", text, re.M):
        details = {word: [a.strip() for a in arguments.split(",")] for word, arguments in
                   re.findall(r"(\w+)(?:\(([^()]*)\))?", rest)}
        found.append(types.SimpleNamespace(name=name, wrapper=wrapper, hook=hook, model=model, effect=effect, details=details))
    if len(found) != len(re.findall(r"^PT_SYNC\(", text, re.M)):
        raise ValueError("a row of sync.def has not all its columns in one line")
    return found


def may_fail(row):
    return "TRIES" in row.details or "TIMED" in row.details


def success(row):
    return row.details.get("SUCCESS", ["0"])[0]


def last_argument(row):
    """The number of the last argument that the row speaks of; 1 if it speaks of none."""
    return max([int(a) for word, given in row.details.items() if word not in ("TRIES", "TIMED", "SUCCESS")
                for a in given if a.isdigit()] + [1])


def parameters(row):
    """[(type, name)], as far as the row tells."""
    numbers = [row.details[word][0] for word in ("SIZE", "COUNT", "ROOM") if word in row.details]
    numbers += row.details["FROM"] if row.hook == "FILL" else []
    more = 2 if row.hook in ("FORMAT", "CALL") else 0
    return [("long " if str(n) in numbers else "char *", f"a{n}") for n in range(1, last_argument(row) + more + 1)]


def call(row, values, fill="0"):
    """A call with `values` for the arguments that the row names in these details; `fill` for the others."""
    arguments = {}
    for word, value in values.items():
        number = int(row.details[word][0])
        if number:
            arguments[number] = value
    more = 2 if "TIMED" in row.details else 0  # a clock, a time limit
    return f"{row.name}({', '.join(arguments.get(n, fill) for n in range(1, last_argument(row) + more + 1))})"


def block(row, name, body):
    return f'  portent_begin("{row.name} {name}"); {body} portent_end("{row.name} {name}");\n'


def piece(row, number, expect, run, main="", names=(), functions=(), notes=()):
    declarations = "".join(f"static long {name}{number}[32];\n" for name in names)
    declarations += "".join(f"int {f}();\n" for f in sorted({row.name, *functions}))
    return types.SimpleNamespace(declarations=declarations, run=run, main=main, notes=list(notes),
                                 expect=[(f"{row.name} {name}", verdict) for name, verdict in expect.items()])


def partner(row, table, model):
    """The function for the same kind of object with this meaning that blocks, if anything; of several, the one most alike in name."""
    def alike(other):
        return next((i for i, (a, b) in enumerate(zip(row.name, other.name)) if a != b), 0)
    fits = [r for r in table if r.model == model and r.details.get("OBJECT") == row.details["OBJECT"] and not may_fail(r)]
    return max(fits, key=alike)


def lock_piece(row, number, table):
    """Two sections are not one; what is not locked everywhere is not protected; the way on which it fails exists."""
    locks = row if row.model == "LOCK" else partner(row, table, "LOCK")
    unlocks = row if row.model == "UNLOCK" else partner(row, table, "UNLOCK")
    take, give = call(locks, {"OBJECT": f"o{number}"}), call(unlocks, {"OBJECT": f"o{number}"})

    def section(variable):
        body = f"{variable}{number}[0]++; {variable}{number}[0]++; {give};"
        return f"if ({take} == {success(locks)}) {{ {body} }}" if may_fail(locks) else f"{take}; {body}"
    expect = {"whole": True, "halves": False, "open": False}
    run = block(row, "whole", section("x")) + block(row, "halves", section("x") + " " + section("x"))
    run += block(row, "open", section("y"))
    if may_fail(locks):
        expect["failed"] = False
        run += block(row, "failed", f"if ({take} == {success(locks)}) {give}; else {{ z{number}[0]++; z{number}[0]++; }}")
    return piece(row, number, expect, run, f"y{number}[0]++;", "oxyz", {locks.name, unlocks.name})


def wait_piece(row, number, table):
    """Without the mutex while it waits, with it again afterwards."""
    prefix = {"cnd": "mtx_", "g": "g_mutex_"}.get(row.name.split("_")[0], "pthread_mutex_")
    lock, unlock = f"{prefix}lock(m{number})", f"{prefix}unlock(m{number})"
    wait, change = call(row, {"OBJECT": f"o{number}", "WAITS": f"m{number}"}), f"x{number}[0]++;"
    run = f"  {lock}; {wait};\n" + block(row, "kept", change) + f"  {unlock};\n"
    run += block(row, "split", f"{lock}; {change} {wait}; {change} {unlock};")
    return piece(row, number, {"kept": True, "split": False}, run, "", "omx", {prefix + "lock", prefix + "unlock"})


def sync_piece(row, number, table):
    """A write of the object: one is atomic, two are not."""
    use = call(row, {"OBJECT": f"o{number}"}) + ";"
    return piece(row, number, {"single": True, "twice": False}, block(row, "single", use) + block(row, "twice", use + " " + use), "", "o")


def sync_read_piece(row, number, table):
    """A read of the object: readers do not mind each other, a writer comes in between."""
    writer = next(r for r in table if r.model == "SYNC" and r.effect == "ACQ" and r.details["OBJECT"] == row.details["OBJECT"])
    use, other = (call(row, {"OBJECT": f"{name}{number}"}) for name in "op")
    run = block(row, "readers", f"{use}; {use};") + block(row, "written", f"{other}; {other};")
    expect = {"readers": True, "written": False}
    if may_fail(row):
        run += block(row, "failed", f"if ({use} != {success(row)}) {{ z{number}[0]++; z{number}[0]++; }}")
        expect["failed"] = False
    return piece(row, number, expect, run, call(writer, {"OBJECT": f"p{number}"}) + ";", "opz", {writer.name})


def once_piece(row, number, table):
    made = piece(row, number, {"inside": False, "twice": False}, "", "", "opx")
    made.declarations += f"static void change{number}(void) {{ x{number}[0]++; }}\nstatic void nothing{number}(void) {{ }}\n"
    inside, twice = (call(row, {"OBJECT": f"{o}{number}", "RUNS": f"{f}{number}"}) + ";" for o, f in (("o", "change"), ("p", "nothing")))
    made.run = block(row, "inside", inside) + block(row, "twice", twice + " " + twice)
    return made


def fill_piece(row, number, table):
    """One write of the buffer."""
    known = {"FILLS": f"b{number}", "FROM": f"c{number}", "SIZE": "8", "ROOM": "256"}
    use = call(row, {word: value for word, value in known.items() if word in row.details}) + ";"
    if row.model == "FILL":
        use = use.replace(f"c{number}", "1")
    return piece(row, number, {"single": True, "twice": False}, block(row, "single", use) + block(row, "twice", use + " " + use), "", "bc",
                 notes=[rf"{COARSE} b{number}"] if row.model == "WRITES" else [])


def allocate_piece(row, number, table):
    body = f"char *p = (char *){call(row, {}, '8')}; *p = 1; *p = 2;"
    made = piece(row, number, {"own": True}, block(row, "own", f"{{ {body} }}"))
    made.declarations = f"char *{row.name}();\n"
    return made


def harmless_piece(row, number, table):
    """NOTHING touches nothing, READS reads."""
    use, other = (call(row, {}, f"{name}{number}") for name in "xy")
    run = block(row, "still", f"{use}; {use};") + block(row, "written", f"{other}; {other};")
    return piece(row, number, {"still": True, "written": row.model == "NOTHING"}, run, f"y{number}[0] = 1;", "xy",
                 notes=[rf"{COARSE} y{number}"] if row.model == "READS" else [])


def unknown_piece(row, number, table):
    use = call(row, {}, f"x{number}") + ";"
    return piece(row, number, {"twice": False}, block(row, "twice", use + " " + use), "", "x",
                 notes=[rf".*what '{row.name[:60]}.* does is not known"])


PIECES = {"LOCK": lock_piece, "UNLOCK": lock_piece, "WAIT": wait_piece, "SYNC": sync_piece, "SYNC_READ": sync_read_piece,
          "ONCE": once_piece, "COPY": fill_piece, "FILL": fill_piece, "WRITES": fill_piece, "ALLOCATE": allocate_piece,
          "NOTHING": harmless_piece, "READS": harmless_piece, "UNKNOWN": unknown_piece}
HEAD = "#include <portent.h>\nstatic long t, u, x;\nint pthread_create();\n"


def program(pieces):
    """Two threads run the pieces; main does the rest."""
    text = HEAD + "".join(f"{p.declarations}static void piece{i}(void)\n{{\n{p.run}}}\n" for i, p in enumerate(pieces))
    calls = " ".join(f"piece{i}();" for i in range(len(pieces)))
    others = " ".join(p.main for p in pieces)
    return text + (f"static void *run(void *a) {{ {calls} return a; }}\n"
                   f"int main(void) {{ pthread_create(&t, 0, run, 0); pthread_create(&u, 0, run, 0); {others} return 0; }}\n")


def thread_program(row):
    """(program, [(block, verdict)]) of a function that starts, joins or ends threads, or None."""
    change = "x++; x++;"
    begun = f"{HEAD}int {row.name}();\nstatic void *run(void *a) {{ x++; return a; }}\nint main(void)\n{{\n"
    if row.model == "SPAWN":
        start = call(row, {"THREAD": "&u", "RUNS": "run"})
        return (begun + block(row, "alone", change) + f"  {start};\n" + block(row, "beside", change) + "}\n",
                [("alone", True), ("beside", False)])
    if row.model == "JOIN":
        join, joined = call(row, {"THREAD": "t"}), block(row, "joined", change)
        expect = [("beside", False), ("joined", True)]
        begun += "  pthread_create(&t, 0, run, 0);\n" + block(row, "beside", change)
        if not may_fail(row):
            return begun + f"  {join};\n{joined}}}\n", expect
        return (begun + f"  if ({join} == {success(row)}) {{\n{joined}  }} else {{\n" + block(row, "failed", change) + "  }\n}\n",
                expect + [("failed", False)])
    if row.model == "THREAD_EXIT":
        end = call(row, {"FROM": "0"})
        return (f"{HEAD}int {row.name}();\nstatic void *run(void *a)\n{{\n  x++; {end};\n" + block(row, "after", change) +
                "  return a;\n}\nint main(void)\n{\n  pthread_create(&t, 0, run, 0);\n" + block(row, "beside", change) + "}\n",
                [("beside", False)])
    return None


def programs(table, batch=6):
    """(name, program, [(block, verdict)], [pattern of a note], error or None) for all rows."""
    number, waiting = 0, {}
    for row in table:
        number += 1
        if row.model == "ERROR":
            yield row.name, f"{HEAD}int {row.name}();\nint main(void) {{ return {row.name}(&x, &x, &x); }}\n", [], [], \
                rf"p\.c:\d+:\d+: error: {row.name} cannot be modelled"
        elif thread_program(row):
            text, expect = thread_program(row)
            yield row.name, text, [(f"{row.name} {name}", verdict) for name, verdict in expect], [], None
        else:
            make = PIECES[row.model]
            waiting.setdefault(make, []).append((row.name, make(row, number, table)))
    for made in waiting.values():
        for start in range(0, len(made), batch):
            part = made[start:start + batch]
            pieces = [p for _, p in part]
            yield (", ".join(name for name, _ in part), program(pieces), [e for p in pieces for e in p.expect],
                   [n for p in pieces for n in p.notes], None)
