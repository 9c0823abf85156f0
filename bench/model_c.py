#!/usr/bin/env python3
"""`portent model` on C: processor time of the whole command, clang included, least of several turns.

usage: bench/model_c.py PORTENT [TURNS]

Threads that all differ and use one variable, in a program of some thousand lines most of which compute on what is their own: without a lock and with
two critical sections in a block, which others can come between, and with one, so that all blocks are atomic and everything is unfolded.
"""
import pathlib
import resource
import subprocess
import sys
import tempfile

AIMS = {80: 0.1, 300: 1.0}  # threads, seconds
BODIES = {  # of a block; what the answer's status has to be
    "no lock": ("if (shared > {i}) shared = {i}; else shared++;", 1),
    "two sections": ("LOCK if (shared > {i}) shared = {i}; UNLOCK LOCK shared += {i}; UNLOCK", 1),
    "one section": ("LOCK if (shared > {i}) shared = {i}; else shared++; UNLOCK", 0),
}
HEAD = """#include <portent.h>
#include <pthread.h>
#define LOCK pthread_mutex_lock(&lock);
#define UNLOCK pthread_mutex_unlock(&lock);
static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
"""


def program(threads, body):
    text = HEAD
    for i in range(threads):
        text += (f"static int own{i}(int n)\n{{\n    int sum = {i};\n    for (int k = 0; k < n; k++)\n        sum += k * {i + 1} ^ sum;\n    return sum;\n}}\n"
                 f"static void *worker{i}(void *argument)\n{{\n    int n = own{i}(argument != 0);\n    portent_begin(\"b{i}\");\n"
                 f"    {body.format(i=i)}\n    portent_end(\"b{i}\");\n    return n ? argument : 0;\n}}\n")
    text += f"int main(void)\n{{\n    pthread_t t[{threads}];\n"
    text += "".join(f"    pthread_create(&t[{i}], 0, worker{i}, 0);\n" for i in range(threads))
    text += "".join(f"    pthread_join(t[{i}], 0);\n" for i in range(threads))
    return text + "    return 0;\n}\n"


def spent(command, wanted):
    """Processor seconds of one run, which has to end with the status wanted."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != wanted:
        sys.exit(f"{' '.join(command)}: status {done.returncode}, not {wanted}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    portent, turns = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        for threads, aim in AIMS.items():
            for title, (body, status) in BODIES.items():
                source = pathlib.Path(folder) / "a.c"
                source.write_text(program(threads, body))
                lines = source.read_text().count("\n")
                least = min(spent([portent, "model", str(source)], status) for _ in range(turns))
                print(f"RATE model of {threads} different threads, {title}, {lines} lines of C: {least:.3f} s (at most {aim})", flush=True)


if __name__ == "__main__":
    main()
