"""What the suites of this folder share: a failure and its comparisons, a command without the caller's options, a steady pace, and going through
the tests."""
import os
import subprocess
import tempfile


class Failure(Exception):
    pass


def same(what, found, expected):
    if found != expected:
        raise Failure(f"{what}: {found!r}\nexpected: {expected!r}")


def true(what, holds):
    if not holds:
        raise Failure(what)


def contains(text, *parts):
    flat = " ".join(text.split())
    for part in parts:
        if part not in flat:
            raise Failure(f"{part!r} is not in:\n{text}")


def run(*command, options=None, cwd=None, timeout=900):
    """Runs it with these PORTENT_OPTIONS, or none, whatever the caller of the suite has set. The limit is for what never ends: on a machine that
    others keep busy a command may get a twentieth of a core."""
    environment = {name: value for name, value in os.environ.items() if name != "PORTENT_OPTIONS"}
    if options is not None:
        environment["PORTENT_OPTIONS"] = options
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, env=environment,
                          check=False)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def in_folder(function):
    """In an empty folder, which is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            function()
        finally:
            os.chdir("/")


def short_folder():
    """An empty folder for sockets, whose paths have at most 107 bytes: not where temporary files are, if that is far down."""
    return tempfile.TemporaryDirectory(prefix="portent-", dir="/tmp" if len(tempfile.gettempdir()) > 60 else None)


def keep_pace(folder):
    """From here on, programs that pause have the run that their pauses intend, however busy the machine is (steady.c): the first
    answer counts."""
    library = os.path.join(folder, "steady.so")
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-D_GNU_SOURCE", "-shared", "-fPIC",
                    os.path.join(os.path.dirname(os.path.abspath(__file__)), "steady.c"), "-o", library], check=True)
    os.environ["LD_PRELOAD"] = library
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"  # of a sanitized portent


class Suite:
    """Tests in the order in which they are written; `@suite.test` adds one."""

    def __init__(self, name):
        self.name, self.tests = name, []

    def test(self, function):
        self.tests.append(function)
        return function

    def run(self, wanted, each=lambda function: function()):
        """Those whose names are wanted, or all. Returns the exit status."""
        passed = failed = 0
        for function in self.tests:
            if wanted and function.__name__ not in wanted:
                continue
            try:
                each(function)
                passed += 1
            except Exception as failure:  # whatever it is, the other tests still run
                failed += 1
                print(f"FAILED {function.__name__}: {type(failure).__name__} {failure}", flush=True)
        print(f"{self.name}: {passed} passed, {failed} failed")
        return 1 if failed or not passed else 0
