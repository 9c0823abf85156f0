"""What `portent explore` and `replay` answer, for the suites of this folder: one place that knows the form of their JSON."""
import collections
import json

from catalogue import Failure, run

KINDS = {"stuck": "lost-wakeup"}  # their word for ours
# A failure: kind as in heads (catalogue.FAILS), or race, lifetime, property; the number of a signal or status; the number of the run (from 1
# on) and the strategy that found it.
Found = collections.namedtuple("Found", "kind number run strategy")
# An answer: the exit status, runs, inequivalent schedules, whether these are all, and the failures.
Explored = collections.namedtuple("Explored", "status runs schedules complete failures stderr")


def read(status, stdout, stderr):
    try:
        answer = json.loads(stdout)
    except ValueError as error:
        raise Failure(f"status {status}, and no JSON ({error}): {stdout!r}\n{stderr}") from error
    told = answer["explore"]
    failures = [Found(KINDS.get(one["failure"], one["failure"]), one.get("signal", one.get("status", 0)), one["run"], one["found_by"])
                for check in answer["properties"] if check["kind"] == "schedule" for one in check.get("findings", [])]
    return Explored(status, told["runs"], told.get("schedules", told["distinct"]), told["complete"], failures, stderr)


def explore(portent, options, command, timeout=600):
    done = run(portent, "explore", "--json", *options, "--", *command, timeout=timeout)
    if done.returncode not in (0, 1, 3):
        raise Failure(f"explore {' '.join(options)}: status {done.returncode}\n{done.stderr}")
    return read(done.returncode, done.stdout, done.stderr)


def replay(portent, schedule, command):
    """(status, standard output) of the run, done again."""
    done = run(portent, "replay", schedule, "--", *command)
    return done.returncode, done.stdout, done.stderr
