#!/usr/bin/env python3
"""`portent ci` on small test commands: what it finds in which phase, what it writes, statuses, budgets, baselines.

    run_ci.py PORTENT [NAME...]

The last line is `ci: N passed, M failed`.
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "programs"), str(HERE.parent / "reports")]
import sarif_shape  # noqa: E402
from run_reports import gitlab_problems  # noqa: E402
from suite import Suite, contains, in_folder, run, same, true, write  # noqa: E402

suite = Suite("ci")
PORTENT = str(pathlib.Path(sys.argv[1]).resolve())

CLEAN = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int count;
static void *add(void *p) { for (int i = 0; i < 3; i++) { pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m); } return p; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, add, 0);
    add(0);
    pthread_join(t, 0);
    printf("%s %d\\n", argc > 1 ? argv[1] : "-", count);
    return argc > 2 ? atoi(argv[2]) : 0;
}
"""
RACE = CLEAN.replace("pthread_mutex_lock(&m); count++; pthread_mutex_unlock(&m);", "count++;")
# The run has the two accesses in sections of one lock, in a way that another order of the sections leaves them unordered.
HIDDEN = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int hidden;
static void *second(void *p)
{
    usleep(30000);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    hidden = 2;
    return p;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, second, 0);
    pthread_mutex_lock(&m);
    hidden = 1;
    pthread_mutex_unlock(&m);
    pthread_join(t, 0);
    return hidden;
}
"""


def compile_all(**sources):
    for name, text in sources.items():
        write(f"{name}.c", text)
        done = run(PORTENT, "cc", "-O1", "-pthread", f"{name}.c", "-o", name)
        true(done.stderr, done.returncode == 0)


def ci(*arguments, status, **keywords):
    done = run(PORTENT, "ci", *arguments, **keywords)
    true(f"status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}", done.returncode == status)
    return done


def result():
    return json.loads(pathlib.Path("portent-ci/result.json").read_text(encoding="utf-8"))


def violated(kind):
    """The violations of a kind in the merged result, by their ids."""
    done = run(PORTENT, "report", "--gitlab", "portent-ci/result.json")
    return [entry for entry in json.loads(done.stdout) if entry["check_name"] == f"portent/{kind}"]


@suite.test
def one_program():
    compile_all(race=RACE)
    done = ci("--budget", "6s", "--", "./race", "hello", status=66)
    same("the tests' own output, of the first run", [line.split()[0] for line in done.stdout.splitlines()], ["hello"])
    contains(done.stderr, "Data race on count", "SUMMARY: portent ci: ", "reports in portent-ci")
    same("races", len(violated("races")), 1)
    same("the schedule that shows it is told with it", len(violated("schedules")), 0)
    contains(violated("races")[0]["description"], " Schedule: main runs to race.c:", "Found in 3 results.")
    contains(done.stderr, "Schedule, 2 switches", "portent replay ", "SUMMARY: portent ci: 1 finding (1 observed, 0 predicted)")
    log = json.loads(pathlib.Path("portent-ci/portent.sarif").read_text(encoding="utf-8"))
    same("SARIF", list(sarif_shape.check(log)), [])
    same("gitlab", list(gitlab_problems(pathlib.Path("portent-ci/gitlab.json").read_text(encoding="utf-8"))), [])
    cases = xml.etree.ElementTree.parse("portent-ci/portent.xml").getroot()[0]
    true("JUnit has failures", int(cases.attrib["failures"]) == 1)
    contains(pathlib.Path("portent-ci/report.html").read_text(encoding="utf-8"), "<html", "race.c")
    summary = pathlib.Path("portent-ci/summary.md").read_text(encoding="utf-8")
    contains(summary, "### Portent: 1 finding", "portent replay ", "The tests ended with status 0.", "| run | 1 process observed |",
             "| predict | 1 recording looked at", "| explore | 1 program under ")
    true("recordings are gone", not os.path.exists("portent-ci/recordings"))
    # The schedule can be played.
    done = run(PORTENT, "replay", "portent-ci/explore-1.schedule", "--", "./race", "hello")
    contains(done.stderr, "data race", "the same run, and the same failure")


# Members of one block, by the same places: what races is called item->count by the program, and by its block in a recording.
HEAP = """
#include <pthread.h>
#include <stdlib.h>
struct item { long before[40]; int count, other; };
static void *add(void *p) { struct item *item = p; item->count++; item->other++; return p; }
int main(void)
{
    pthread_t t;
    struct item *item = calloc(1, sizeof *item);
    pthread_create(&t, 0, add, item);
    add(item);
    pthread_join(t, 0);
    free(item);
    return 0;
}
"""


@suite.test
def memory_of_the_heap_has_two_names():
    compile_all(heap=HEAP)
    ci("--budget", "6s", "--", "./heap", status=66)
    races = violated("races")
    same("races", sorted(entry["description"].split(" on ")[1].split()[0].rstrip(".") for entry in races), ["item->count", "item->other"])
    os.rename("portent-ci/result.json", "old.json")
    ci("--budget", "6s", "--baseline", "old.json", "--", "./heap", status=0)
    write("known.supp", "race:^item->\n")
    done = ci("--budget", "6s", "--suppressions", "known.supp", "--", "./heap", status=0)
    true("nothing is told in full", "Data race" not in done.stderr)


@suite.test
def several_programs_and_a_baseline():
    os.mkdir("sub")
    compile_all(race=RACE, clean=CLEAN)
    write("all.sh", "./clean one\n./clean one\n(cd sub && ../race two)\n")
    ci("--budget", "8s", "--", "sh", "all.sh", status=66)
    first = json.loads(pathlib.Path("portent-ci/run.json").read_text(encoding="utf-8"))
    same("folders", [os.path.basename(process["folder"]) == "sub" for process in first["processes"]], [False, False, True])
    same("commands", [process["result"]["program"][1:] for process in first["processes"]], [["one"], ["one"], ["two"]])
    same("status", first["program_status"], 0)
    same("explored", sorted(path.name for path in pathlib.Path("portent-ci").glob("explore-*.json")), ["explore-1.json", "explore-2.json"])
    contains(pathlib.Path("portent-ci/summary.md").read_text(encoding="utf-8"), "| run | 3 processes observed |", "| predict | 3 recordings", "race\\)")
    os.rename("portent-ci/result.json", "old.json")
    done = ci("--budget", "5s", "--baseline", "old.json", "--", "sh", "all.sh", status=0)
    contains(done.stderr, "suppressed, or in the baseline", "nothing found")
    true("nothing is told in full", "Data race" not in done.stderr)
    write("known.supp", "race:^count$\n")
    ci("--budget", "5s", "--suppressions", "known.supp", "--", "sh", "all.sh", status=0)
    same("merge requests are told nothing", json.loads(pathlib.Path("portent-ci/gitlab.json").read_text(encoding="utf-8")), [])


# It has come when there is a file of its name, and ends when that is gone.
LASTING = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
int here;
static void *stay(void *p) { fclose(fopen(p, "w")); while (access(p, F_OK) == 0) usleep(1000); here = 1; return p; }
int main(int argc, char **argv)
{
    pthread_t t;
    pthread_create(&t, 0, stay, argv[argc - 1]);
    pthread_join(t, 0);
    return 0;
}
"""


def words_of(path):
    """What each process of a result was started with, beside its program."""
    whole = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return [process["result"]["program"][1:] for process in whole["processes"]]


@suite.test
def processes_are_in_the_order_in_which_they_came():
    """Not in that in which they ended."""
    compile_all(lasting=LASTING, clean=CLEAN)
    write("all.sh", "./lasting first &\nuntil [ -e first ]; do sleep 0.01; done\n./clean second\nrm first\nwait\n")
    ci("--budget", "20s", "--no-explore", "--no-predict", "--", "sh", "all.sh", status=0)
    same("order", words_of("portent-ci/run.json"), [["first"], ["second"]])


@suite.test
def numbers_of_processes_that_grow_by_a_digit_or_begin_anew():
    """In a space of process numbers of its own, so that they are known."""
    spaced = ["unshare", "--map-root-user", "--pid", "--fork", "--mount-proc"]
    if subprocess.run([*spaced, "sh", "-c", "echo 90 > /proc/sys/kernel/ns_last_pid"], capture_output=True, check=False).returncode != 0:
        print("numbers_of_processes: unshare may not be used here; not tried")
        return
    compile_all(clean=CLEAN)
    jump = "echo {} > /proc/sys/kernel/ns_last_pid\n"
    write("all.sh", jump.format(97) + "./clean one\n" + jump.format(102) + "./clean two\n" + jump.format(39) + "./clean three\n")
    done = run(*spaced, PORTENT, "ci", "--budget", "20s", "--no-explore", "--", "sh", "all.sh")
    true(f"{done.returncode}: {done.stderr}", done.returncode == 0)
    same("run", words_of("portent-ci/run.json"), [["one"], ["two"], ["three"]])
    numbers = [process["pid"] for process in json.loads(pathlib.Path("portent-ci/run.json").read_text(encoding="utf-8"))["processes"]]
    true(f"the numbers are not in that order: {numbers}", numbers[2] < numbers[0] < 100 < numbers[1])
    traces = [json.loads(path.read_text(encoding="utf-8"))["trace"] for path in sorted(pathlib.Path("portent-ci").glob("predict-*.json"))]
    recorded = [int(trace.rpartition(".")[2]) for trace in traces]
    true(f"recordings in the order of their processes: {recorded}", recorded[2] < recorded[0] < 100 < recorded[1])


TRANSFERS = """
#include <pthread.h>
#include <unistd.h>
struct account { pthread_mutex_t lock; long balance; } accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 100}, {PTHREAD_MUTEX_INITIALIZER, 50}};
static void transfer(struct account *from, struct account *to)
{
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance--, to->balance++;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}
static void *one(void *p) { transfer(&accounts[0], &accounts[1]); return p; }
static void *two(void *p) { usleep(50000); transfer(&accounts[1], &accounts[0]); return p; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    return pthread_join(b, 0);
}
"""


@suite.test
def a_deadlock_of_the_run_and_of_its_recording():
    """It is one, and what the recording knows of it stands: that another run gets there."""
    compile_all(transfers=TRANSFERS)
    ci("--budget", "20s", "--no-explore", "--", "./transfers", status=66)
    own, recorded = ([finding for check in json.loads(pathlib.Path(f"portent-ci/{name}.json").read_text(encoding="utf-8"))["properties"]
                      for finding in check["findings"]] for name in ("run", "predict-1"))
    same("ids", [finding["id"] for finding in own], [finding["id"] for finding in recorded])
    same("locks", [finding["object"] for finding in own + recorded], 2 * ["accounts[0].lock, accounts[1].lock"])
    true("the program itself knows of locks alone", "reserve" in own[0] and "reserve" not in recorded[0] and recorded[0]["witness"])
    (both,) = violated("deadlocks")
    contains(both["description"], "Potential deadlock on accounts[0].lock, accounts[1].lock", "Found in 2 results.")
    true("no doubt is left", "may rule it out" not in both["description"])


@suite.test
def nothing_found():
    compile_all(clean=CLEAN)
    done = ci("--budget", "4s", "--", "./clean", status=0)
    contains(done.stderr, "portent ci: nothing found")
    contains(pathlib.Path("portent-ci/summary.md").read_text(encoding="utf-8"), "### Portent: nothing found", "without a violation")
    same("quiet", ci("-q", "--budget", "3s", "--no-explore", "--", "./clean", status=0).stderr, "")


@suite.test
def tests_that_fail():
    compile_all(clean=CLEAN, race=RACE)
    ci("--budget", "3s", "--no-explore", "--", "./clean", "-", "3", status=3)
    contains(pathlib.Path("portent-ci/summary.md").read_text(encoding="utf-8"), "The tests ended with status 3.", "left out, as asked")
    ci("--budget", "3s", "--no-explore", "--", "sh", "-c", "./clean - 4", status=4)
    ci("--budget", "3s", "--no-explore", "--no-predict", "--exit-code", "9", "--", "./race", "-", "3", status=9)


@suite.test
def not_whole():
    contains(ci("--budget", "3s", "--", "true", status=67).stderr, "not whole")
    ci("--budget", "3s", "--lenient", "--", "true", status=0)
    contains(pathlib.Path("portent-ci/summary.md").read_text(encoding="utf-8"), "**Not whole:**", "no process was observed")
    for name in ("report.html", "portent.sarif", "portent.xml", "gitlab.json"):
        true(f"{name} is there all the same", os.path.getsize(f"portent-ci/{name}") > 0)


@suite.test
def a_budget_that_is_too_small():
    compile_all(clean=CLEAN.replace("int argc, char **argv)\n{", "int argc, char **argv)\n{\n    for (;;) pause();").replace("<stdlib.h>", "<stdlib.h>\n#include <unistd.h>"))
    start = time.monotonic()
    done = ci("--budget", "1s", "--lenient", "--", "sh", "-c", "./clean; true", status=143)
    true(f"it took {time.monotonic() - start} s", time.monotonic() - start < 60)
    contains(done.stderr, "the tests were ended before they had come to their end")
    left = subprocess.run(["pgrep", "-f", f"^{os.getcwd()}/clean|^./clean$"], capture_output=True, text=True, check=False).stdout.split()
    same("left behind", [pid for pid in left if os.path.realpath(f"/proc/{pid}/cwd") == os.getcwd()], [])


@suite.test
def what_only_another_order_shows():
    compile_all(hidden=HIDDEN)
    done = run(PORTENT, "run", "--", "./hidden")
    # The program's own status is that of the last write; the run as it was has no race, or has one if the threads came the other way round.
    ci("--budget", "10s", "--no-explore", "--", "./hidden", status=66)
    races = violated("races")
    same("races", [race["location"]["path"] for race in races], ["hidden.c"])
    if done.returncode != 66:
        contains(races[0]["description"], "in another order of the same events")


@suite.test
def properties():
    compile_all(clean=CLEAN, race=RACE.replace("count", "other"))
    write("count.prop", "property bounded: count < 6;\n")
    ci("-s", "count.prop", "--suppressions", "/dev/null", "--budget", "5s", "--", "sh", "-c", "./clean; ./clean", status=66)
    true("found, whichever thread broke it", 1 <= len(violated("bounded")) <= 2)
    # The other program has no such variable: nothing may be said of it there.
    write("fine.prop", "property fine: count <= 6;\nproperty never_zero: !(count == 0 && start(count == 0));\n")
    ci("-s", "fine.prop", "--budget", "5s", "--", "sh", "-c", "./clean; ./race", status=66)
    same("only the race", (len(violated("fine")), len(violated("never_zero")), len(violated("races"))), (0, 0, 1))
    write("wrong.prop", "property wrong: no_such_variable == 0;\n")
    contains(ci("-s", "wrong.prop", "--budget", "5s", "--", "sh", "-c", "./clean", status=2).stderr, "no_such_variable")
    contains(ci("-s", "wrong.prop", "--budget", "5s", "--", "./clean", status=2).stderr, "no_such_variable")


@suite.test
def a_page_of_the_job():
    compile_all(clean=CLEAN)
    write("page.md", "before\n")
    os.environ["GITHUB_STEP_SUMMARY"] = os.path.abspath("page.md")
    try:
        ci("--budget", "2s", "--no-explore", "-o", "reports", "--keep", "--", "./clean", status=0)
    finally:
        del os.environ["GITHUB_STEP_SUMMARY"]
    contains(pathlib.Path("page.md").read_text(encoding="utf-8"), "before ### Portent: nothing found")
    same("recordings", [path.name for path in pathlib.Path("reports/recordings").iterdir()], ["tests.ptb"])


@suite.test
def bad_usage():
    contains(ci(status=2).stderr, "a test command is missing")
    contains(ci("--budget", "soon", "--", "true", status=2).stderr, "--budget takes a time")
    contains(ci("--baseline", "none.json", "--", "true", status=2).stderr, "none.json")
    ci("--", "./no-such-program", status=127)
    write("plain", "")
    contains(ci("-o", "plain/x", "--", "true", status=2).stderr, "cannot create the folder")


if __name__ == "__main__":
    sys.exit(suite.run(sys.argv[2:], in_folder))
