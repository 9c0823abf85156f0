"""What `portent explore` and `replay` answer, for the suites of this folder: one place that knows the form of their JSON."""
import collections
import json

from catalogue import Failure, run

# A failure: kind as in heads (catalogue.FAILS), or race, lifetime, property; the number of a signal or status; the number of the run (from 1
# on) and the strategy that found it; in how many runs it was seen.
Found = collections.namedtuple("Found", "kind number run strategy times")
# An answer: the exit status, runs, inequivalent or different schedules, whether all were explored, and the failures.
Explored = collections.namedtuple("Explored", "status runs distinct complete failures stderr")


def read(status, stdout, stderr):
    try:
        answer = json.loads(stdout)
    except ValueError as error:
        raise Failure(f"status {status}, and no JSON ({error}): {stdout!r}\n{stderr}") from error
    told = answer["exploration"]
    failures = [Found(one["failure"], one.get("number", 0), one["run"], one["strategy"], one["times"])
                for check in answer["properties"] if check["kind"] == "schedule" for one in check["findings"]]
    return Explored(status, told["runs"], told["schedules"], told["complete"], failures, stderr)


def explore(portent, options, command, timeout=600):
    done = run(portent, "explore", "--json", *options, "--", *command, timeout=timeout)
    if done.returncode not in (0, 1, 3):
        raise Failure(f"explore {' '.join(options)}: status {done.returncode}\n{done.stderr}")
    return read(done.returncode, done.stdout, done.stderr)


def replay(portent, schedule, command):
    """(status, standard output) of the run, done again."""
    done = run(portent, "replay", schedule, "--", *command)
    return done.returncode, done.stdout, done.stderr
