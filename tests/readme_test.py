#!/usr/bin/env python3
"""Does what README.md, the tutorial and the examples' READMEs say, and compares what comes out with what they show.

usage: tests/readme_test.py --portent PROGRAM [--update] [DOCUMENT...]
       tests/readme_test.py --chroot ROOT [DOCUMENT...]

Fenced blocks count, in their order. In a `console` block, lines that begin with `$ ` are commands, the lines up to the next one are
what they print (standard output and standard error together). A block whose language is followed by a file name, as in `c boiler.c`,
is that file's content; `diff boiler.c` changes it. The commands of one document run in a fresh folder that looks like the project's
root, with PROGRAM as build/bin/portent and in the PATH. --update writes what is printed into the documents, for review. --chroot does it in
another system, as an ordinary user, with the Portent and the examples that are installed there.

Nothing of what is printed is masked or left out, and nothing is tried twice: programs whose threads take turns by pauses are held to
that pace (programs/steady.c), however busy the machine is.
"""
import argparse
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "tests" / "programs"))
from suite import keep_pace  # noqa: E402

DOCUMENTS = ("README.md", "docs/tutorial.md", "docs/coming-from-tsan.md", "docs/coming-from-helgrind.md", "examples/model/README.md", "examples/monitor/README.md", "examples/water/README.md",
             "examples/bank/README.md", "examples/queue/README.md", "examples/atomic/README.md", "examples/stages/README.md",
             "examples/transfer/README.md", "examples/knowledge/README.md", "examples/checking/README.md",
             "examples/mutex/README.md", "examples/recover/README.md", "examples/papers/jmpax/README.md", "examples/papers/dame/README.md",
             "examples/papers/jamaica/README.md", "examples/papers/causal-atomicity/README.md")
BLOCK = re.compile(r"^```(?P<language>[a-z]+)(?: (?P<file>[\w.-]+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


class Here:
    """This machine, with a program that was built."""

    def __init__(self, program):
        self.program, self.temporary = program, None

    def make_root(self, folder):
        """Lays out what commands may name; what they write goes to the folder and is forgotten."""
        (folder / "build" / "bin").mkdir(parents=True)
        (folder / "build" / "bin" / "portent").symlink_to(self.program)
        for name in ("examples", "include"):
            (folder / name).symlink_to(ROOT / name)

    def run(self, command, folder):
        environment = {**os.environ, "PATH": f"{folder}/build/bin:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, timeout=300,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)


class Installed:
    """Another system, in which Portent and its examples are installed."""

    def __init__(self, root):
        self.root, self.temporary = root, root / "tmp"
        self.user = 1000

    def make_root(self, folder):
        (folder / "build" / "bin").mkdir(parents=True)
        (folder / "build" / "bin" / "portent").symlink_to("/usr/bin/portent")
        (folder / "build" / "bin" / "cc").symlink_to("/usr/bin/clang-14")  # the compiler that comes with the packages
        (folder / "examples").symlink_to("/usr/share/doc/portent/examples")
        (folder / "include").symlink_to("/usr/include")
        for path in (folder, folder / "build", folder / "build" / "bin"):
            os.chown(path, self.user, self.user)

    def run(self, command, folder):
        inside = "/" + str(folder.relative_to(self.root))
        # What keeps the pace is ours, in a folder of that system.
        preload = "/" + str(pathlib.Path(os.environ["LD_PRELOAD"]).relative_to(self.root))
        return subprocess.run(["chroot", f"--userspec={self.user}:{self.user}", str(self.root), "/usr/bin/env", "-i", "-C", inside, f"HOME={inside}",
                               "LANG=C.UTF-8", f"PATH={inside}/build/bin:/usr/bin:/bin", f"LD_PRELOAD={preload}", "sh", "-c", command],
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, stdin=subprocess.DEVNULL, timeout=300, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)


def replay(text, folder, machine):
    """Returns the text of a console block as it would look with what its commands print now."""
    lines = []
    for command in re.findall(r"^\$ (.*)$", text, re.MULTILINE):
        lines += [f"$ {command}", *machine.run(command, folder).stdout.splitlines()]
    return "\n".join(lines) + "\n"


def change(path, diff):
    """Replaces the one place of a file that reads as the lines of a diff without + by those without -."""
    def side(sign):
        return "".join(line[1:] for line in diff.splitlines(keepends=True) if line[0] in " " + sign)

    text = path.read_text(encoding="utf-8")
    if text.count(side("-")) != 1:
        raise ValueError(f"the diff does not fit {path.name}")
    path.write_text(text.replace(side("-"), side("+")), encoding="utf-8")


def follow(text, machine):
    """Does what a document says, in a fresh folder; yields (block, what its text would be now) for each console block."""
    with tempfile.TemporaryDirectory(dir=machine.temporary) as name:
        folder = pathlib.Path(name)
        machine.make_root(folder)
        for block in BLOCK.finditer(text):
            if block["language"] == "console":
                yield block, replay(block["text"], folder, machine)
            elif block["file"] and block["language"] == "diff":
                change(folder / block["file"], block["text"])
            elif block["file"]:
                (folder / block["file"]).write_text(block["text"], encoding="utf-8")


def updated(text, printed):
    """The document with what its blocks print now."""
    for block, now in reversed(printed):
        text = text[:block.start("text")] + now + text[block.end("text"):]
    return text


def check(name, machine, update):
    """Follows one document; returns how many blocks are as shown, and how many are not."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    printed = list(follow(text, machine))
    wrong = [(block, now) for block, now in printed if block["text"] != now]
    if update:
        path.write_text(updated(text, printed), encoding="utf-8")
        return len(printed), 0
    if not printed:
        print(f"{name}: no example found")
        return 0, 1
    for block, now in wrong:
        print("\n".join(difflib.unified_diff(block["text"].splitlines(), now.splitlines(), name, "what the program prints",
                                             lineterm="")))
    return len(printed) - len(wrong), len(wrong)


def main():
    parser = argparse.ArgumentParser(description="Compares the documents' examples with the program.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--portent", type=pathlib.Path)
    which.add_argument("--chroot", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("documents", nargs="*", metavar="DOCUMENT", default=DOCUMENTS)
    options = parser.parse_args()
    machine = Installed(options.chroot.resolve()) if options.chroot else Here(options.portent.resolve())
    with tempfile.TemporaryDirectory(dir=machine.temporary) as folder:
        os.chmod(folder, 0o755)
        keep_pace(folder)
        counts = [check(name, machine, options.update) for name in options.documents]
    passed, failed = (sum(column) for column in zip(*counts))
    print(f"readme: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
