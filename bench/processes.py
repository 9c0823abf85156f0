"""Running a program and measuring it, for the benchmarks in Python."""
import os
import subprocess
import sys
import tempfile


def environment_with(options, **others):
    """The environment of a run: ours, with these PORTENT_OPTIONS or none, and the other variables."""
    environment = {key: value for key, value in os.environ.items() if key != "PORTENT_OPTIONS"}
    if options:
        environment["PORTENT_OPTIONS"] = options
    return environment | others


def run_timed(command, environment):
    """Its output, and what its process tree used (getrusage). A run that fails, or whose properties are not checked, ends the benchmark."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen([str(part) for part in command], env=environment, stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        said = err.read().decode(errors="replace")
        if process.returncode != 0 or "not checked" in said:
            sys.exit(f"run.py: {command}: exit status {process.returncode}\n{said}")
        return out.read(), used
