"""What the suites explore-cli and explore-told share: the program under test, programs built for it, and explore's answers."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "programs"))
from suite import Failure  # noqa: E402


def expect(true, text):
    if not true:
        raise Failure(text)


class Bench:
    """The program under test, and what is built for it, each once."""

    def __init__(self, portent, folder):
        self.portent, self.folder, self.built = portent, folder, {}

    def run(self, *arguments, status=None, stdin=subprocess.DEVNULL, timeout=120, pass_fds=()):
        done = subprocess.run([self.portent, *map(str, arguments)], capture_output=True, encoding="utf-8", stdin=stdin, timeout=timeout, cwd=self.folder,
                              check=False, pass_fds=pass_fds)
        said = f"portent {' '.join(map(str, arguments))}: status {done.returncode}\n{done.stdout}{done.stderr}"
        expect(status is None or done.returncode == status, f"{said}expected status {status}")
        return done

    def program(self, name, *flags, compiler=None):
        key = (name, flags, compiler)
        if key not in self.built:
            path = self.folder / f"{name}{len(self.built)}"
            command = [compiler] if compiler else [self.portent, "cc"]
            subprocess.run([*command, "-O1", "-g", "-pthread", f"-I{HERE.parent.parent / 'include'}", *flags, str(HERE / "cli" / f"{name}.c"), "-o", str(path)],
                           check=True)
            self.built[key] = path
        return self.built[key]

    def explore(self, program, *options, arguments=(), status=None, **more):
        done = self.run("explore", "--json", *options, "--", program, *arguments, status=status, **more)
        try:
            answer = json.loads(done.stdout)
        except ValueError as error:
            raise Failure(f"no JSON ({error}): status {done.returncode}\n{done.stdout}{done.stderr}") from error
        return answer

    def properties(self, text):
        path = self.folder / f"p{len(os.listdir(self.folder))}.prop"
        path.write_text(text, encoding="utf-8")
        return path


def failures(answer):
    return answer["properties"][0]["findings"]


def verdicts(answer):
    return {one["name"]: one["verdict"] for one in answer["properties"][1:]}


def line_of(name, comment):
    for number, line in enumerate((HERE / "cli" / name).read_text(encoding="utf-8").splitlines(), 1):
        if comment in line:
            return number
    raise Failure(f"{name} has no {comment}")


def run_suite(suite):
    """The tests of the command line's names, or all, in a folder of their own: PORTENT [NAME...]."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(sys.argv[1]), pathlib.Path(folder).resolve())
        return suite.run([f"test_{name}" for name in sys.argv[2:]], lambda function: function(bench))
