#!/usr/bin/env python3
"""Completes command lines in real shells, with the scripts that `portent completion` prints.

usage: tests/completion_test.py PORTENT

bash, zsh and fish are asked the same questions; a shell that is not installed is left out, and said to be. bash is always there.
zsh has no way to ask but to sit before it: it runs on a pseudo-terminal, and lists its choices. The last line is
`completion: N passed, M failed`.
"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

COMMANDS = re.compile(r"^  ([a-z+]+) ", re.MULTILINE)
OPTIONS = re.compile(r"^ +(?:-\w, )?(--[a-z][a-z-]*)", re.MULTILINE)
FILES = ("a.prop", "a.so", "a.trace", "sub/x")
PATIENCE = 30  # seconds


def questions(portent):
    """Yields (what is typed, what must be offered, what must not)."""
    def shown(*arguments):
        return subprocess.run([portent, *arguments], capture_output=True, text=True, check=True).stdout

    commands = set(COMMANDS.findall(shown("--help").partition("Commands:")[2])) - {"portent"}
    yield "", commands, set()
    yield "ch", {"check"}, commands - {"check"}
    yield "help ", commands, {"a.trace"}
    for command in sorted(commands - {"cc", "c++"}):
        options = set(OPTIONS.findall(shown(command, "--help").partition("Options:")[2]))
        yield f"{command} --", options, {"a.trace"}
    yield "check --color ", {"auto", "always", "never"}, {"a.trace"}
    yield "check --color=", {"auto", "always", "never"}, {"a.trace"}
    yield "check --color=a", {"auto", "always"}, {"never"}
    yield "check ", {"a.trace", "sub/"}, set()
    yield "check -s ", {"a.prop", "sub/"}, set()
    yield "check -s sub", {"sub/"}, {"a.prop"}
    yield "check --baseline ", {"a.prop", "a.so", "a.trace"}, set()
    yield "report --source-root ", {"sub/"}, {"--html"}
    yield "check --window ", set(), {"a.trace"}
    yield "run -q -- a", {"a.prop", "a.trace"}, {"--color"}
    yield "cc ", {"a.trace"}, set()
    yield "c++ a.p", {"a.prop"}, {"a.trace"}
    yield "completion ", {"bash", "zsh", "fish"}, {"a.trace"}
    yield "completion z", {"zsh"}, {"bash"}


# -s takes FILE.prop: bash and zsh offer no other files, fish offers them last.
STRICT = {"check -s ": {"a.so", "a.trace"}}


class Bash:
    def __init__(self, script, folder):
        self.script, self.folder = script, folder

    def offered(self, line):
        # readline's word breaks: spaces, and = as a word of its own
        words = [word for part in f"portent {line}".split(" ") for word in re.findall(r"=|[^=]+", part) or [""]]
        ask = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _portent; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", ask, "bash", self.script, *words], cwd=self.folder, capture_output=True,
                              text=True, check=True, timeout=PATIENCE)
        assert not done.stderr, done.stderr
        # -o filenames lets readline mark folders
        return {word + "/" if os.path.isdir(os.path.join(self.folder, word)) and word else word for word in done.stdout.split("\n")}


class Fish:
    def __init__(self, script, folder):
        self.script, self.folder = script, folder

    def offered(self, line):
        done = subprocess.run(["fish", "--no-config", "-c", "source $argv[1]; complete -C $argv[2]", self.script, f"portent {line}"],
                              cwd=self.folder, capture_output=True, text=True, check=True, timeout=PATIENCE,
                              env={**os.environ, "HOME": self.folder})
        assert not done.stderr, done.stderr
        words = [found.split("\t")[0] for found in done.stdout.splitlines()]
        return {re.sub(r"^--[a-z-]*=", "", word) for word in words}


class Zsh:
    """One shell for all questions: ^T lists the choices, ^X kills the line; marks say when it is ready."""

    def __init__(self, script, folder):
        shutil.copy(script, os.path.join(folder, "sub", "_portent"))
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", COLUMNS="4000", HOME=folder, ZDOTDIR=folder)
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.type("PS1= PS2= RPS1= PROMPT_EOL_MARK= LISTMAX=100000; unsetopt zle_bracketed_paste prompt_cr prompt_sp; "
                  "fpath=($PWD/sub $fpath); autoload -U compinit; compinit -u -D; bindkey '^T' list-choices; bindkey '^X' kill-whole-line; "
                  "zstyle ':completion:*' verbose no; zstyle ':completion:*' menu no; stty -echo; mark() { zle -I; print MA''RK; }; zle -N mark; "
                  "bindkey '^O' mark; COLUMNS=4000; print MA''RK\n")
        self.until()

    def type(self, text):
        os.write(self.fd, text.encode())

    def until(self):
        """Reads up to the next mark."""
        text, end = b"", time.monotonic() + PATIENCE
        while not re.search(rb"MARK\r*\n", text):
            assert time.monotonic() < end, f"zsh says nothing more after {text!r}"
            if select.select([self.fd], [], [], 0.5)[0]:
                text += os.read(self.fd, 65536)
        return text.decode(errors="replace")

    def offered(self, line):
        self.type(f"portent {line}\x14\x0f\x18")
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.until())
        return set(re.sub(r"--[a-z-]*=", "", text.split("MARK")[0]).replace("\r", "\n").split())

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def check(shell, portent, folder, counts):
    script = os.path.join(folder, "script")
    with open(script, "wb") as file:
        subprocess.run([portent, "completion", shell.__name__.lower()], stdout=file, check=True)
    asked = shell(script, folder)
    for line, wanted, unwanted in questions(portent):
        if shell is not Fish:
            unwanted = unwanted | STRICT.get(line, set())
        offered = asked.offered(line)
        missing, wrong = wanted - offered, unwanted & offered
        counts[bool(missing or wrong)] += 1
        if missing or wrong:
            print(f"FAILED {shell.__name__.lower()}: 'portent {line}' lacks {sorted(missing)}, has {sorted(wrong)}; offered: {sorted(offered)}")
    if hasattr(asked, "close"):
        asked.close()


def main():
    portent = os.path.abspath(sys.argv[1])
    counts = [0, 0]
    for shell in (Bash, Zsh, Fish):
        name = shell.__name__.lower()
        if not shutil.which(name):
            print(f"{name} is not installed: left out")
            continue
        with tempfile.TemporaryDirectory() as folder:
            for file in FILES:
                path = pathlib.Path(folder, file)
                path.parent.mkdir(exist_ok=True)
                path.touch()
            try:
                check(shell, portent, folder, counts)
            except (AssertionError, subprocess.SubprocessError) as failure:
                counts[1] += 1
                print(f"FAILED {name}: {failure}")
    print(f"completion: {counts[0]} passed, {counts[1]} failed")
    return 1 if counts[1] else 0


if __name__ == "__main__":
    sys.exit(main())
