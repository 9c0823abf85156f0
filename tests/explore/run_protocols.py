#!/usr/bin/env python3
"""The runtime's own protocols as programs that are explored: run_protocols.py PORTENT LIB [NAME...] [--long]

The tests of tests/interleave, with the real sources of src/runtime (and the observer's of src/trace), compiled by `portent cc` with real
threads (protocols/threads.c, own.h), under `explore --strategy exhaustive`: every schedule is explored, and none fails. So it must be
with a fault seeded into the source (mutate.py): that is found. LIB is libportent-rt.so, whose names do not meet those of the sources;
--long has tests of some thousand schedules more. The last line is `protocols: N passed, M failed`.
"""
import argparse
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
INTERLEAVE = os.path.join(ROOT, "tests", "interleave")
FLAGS = ["-O1", "-g", "-std=gnu17", "-D_GNU_SOURCE", "-mcx16", "-w", "-I", INTERLEAVE, "-include", os.path.join(HERE, "protocols", "own.h")]
RINGS = ("src/runtime/channel/ring.c", "src/trace/channel_rings.c")
LAYERS = tuple(sorted(os.path.relpath(path, ROOT) for part in ("shadow", "clock", "pool") for path in glob.glob(f"{ROOT}/src/runtime/{part}/*.c")))

STATE = "    uint32_t state = atomic_load_explicit(&ring->shared->state, memory_order_acquire);\n"
HEAD = "    uint64_t head = atomic_load_explicit(&ring->shared->head, memory_order_acquire);\n"

# A file of tests/interleave, its sources, tests, those of --long, and faults: (source, old, new, the test that finds it).
Protocol = collections.namedtuple("Protocol", "name sources tests long faults")
PROTOCOLS = (
    Protocol("event_ring", RINGS, ("test_third_event", "test_full_ring_drops"), ("test_full_ring_blocks", "test_two_rings"), (
        ("runtime/channel/ring.c", "writer->head + bytes - writer->tail_seen <= limit;", "limit > 0;", "test_third_event"),
        ("trace/channel_rings.c", STATE + HEAD, HEAD + STATE, "test_full_ring_drops"))),
    Protocol("shadow_word", LAYERS, ("test_two_locks", "test_a_lock_and_a_fast_one", "test_two_writers"),
             ("test_read_then_write", "test_writer_and_reader", "test_passed_clocks"),
             (("runtime/shadow/shadow.h", "if (!(seen & (PT_SHADOW_LOCKED | PT_SHADOW_KEPT)) &&", "if (true &&", "test_two_locks"),)),
    Protocol("readers", LAYERS, ("test_a_reading_and_a_collector", "test_a_reader_and_a_writer", "test_a_reader_ends"), (), (
        ("runtime/shadow/readers.c", "atomic_load_explicit(&reading->busy, memory_order_acquire);)", "false;)", "test_a_reading_and_a_collector"),
        ("runtime/shadow/readers.h", "if (pt_readers_still(reading, word, seen))", "if (true)", "test_a_reading_and_a_collector"))),
    Protocol("clock_ring", LAYERS, ("test_the_next_cycle", "test_a_remembered_number"), (), (
        ("runtime/clock/ring.c", "memory_order_acquire) == BIAS;", "memory_order_acquire) != 0;", "test_a_remembered_number"),)),
)


class Failure(Exception):
    pass


def need(command, cwd):
    done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failure(f"{' '.join(command)}\n{done.stdout[-3000:]}")


class Builder:
    def __init__(self, portent, lib, folder):
        self.portent, self.lib, self.folder = portent, lib, folder

    def compile(self, sources, target, changed=None):
        """Objects of these, in one call; `changed` is a folder whose headers come first."""
        os.makedirs(target, exist_ok=True)
        first = ["-I", changed] if changed else []
        need([self.portent, "cc", *first, *FLAGS, "-I", os.path.join(ROOT, "src"), "-c", *sources], target)
        return [os.path.join(target, os.path.splitext(os.path.basename(source))[0] + ".o") for source in sources]

    def link(self, protocol, objects, target):
        program = os.path.join(target, protocol.name)
        core = os.path.join(os.path.dirname(os.path.dirname(self.lib)), "libpt_core.a")
        need(["clang-14", *objects, core, self.lib, f"-Wl,-rpath,{os.path.dirname(self.lib)}", "-lcmocka", "-lpthread", "-o", program], target)
        return program

    def objects(self, protocol, parts):
        """Of the sources, by folder, since names meet; what two protocols have in common is compiled once."""
        made = []
        for part in sorted({os.path.dirname(source) for source in protocol.sources}):
            if part not in parts:
                some = [os.path.join(ROOT, source) for source in protocol.sources if os.path.dirname(source) == part]
                parts[part] = self.compile(some, os.path.join(self.folder, part.replace("/", "-")))
            made += parts[part]
        return made

    def test(self, protocol, changed=None, folder=None):
        sources = [f"{INTERLEAVE}/test_{protocol.name}.c", os.path.join(HERE, "protocols", "threads.c")]
        return self.compile(sources, os.path.join(folder or self.folder, "test_" + protocol.name), changed)

    def seeded(self, protocol, number, parts):
        """The program with a fault. Where that is in a header, which has the protocol inline, it is in what the test's threads do."""
        source, old, new, _ = protocol.faults[number]
        folder = os.path.join(self.folder, f"{protocol.name}-{number}")
        need([sys.executable, os.path.join(INTERLEAVE, "mutate.py"), f"{ROOT}/src/{source}", f"{folder}/{source}", old, new], ROOT)
        name = os.path.splitext(os.path.basename(source))[0] + ".o"
        part = "src-" + os.path.dirname(source).replace("/", "-")
        objects = self.objects(protocol, parts)
        if source.endswith(".c"):
            objects = [one for one in objects if not one.endswith(f"/{part}/{name}")] + self.compile([f"{folder}/{source}"], folder)
        return self.link(protocol, [*objects, *self.test(protocol, folder, folder)], folder)


def explore(portent, program, test):
    done = subprocess.run([portent, "explore", "--json", "--strategy", "exhaustive", "--no-checks", "--expect", "0", "--run-timeout", "20s", "--", program],
                          env={**os.environ, "PROTOCOL_TEST": test}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=1200, check=False)
    if done.returncode not in (0, 1, 3):
        raise Failure(f"status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["explore"], done.stdout


def all_pass(portent, program, test):
    told, _ = explore(portent, program, test)
    if told["failing"] or not told["complete"]:
        raise Failure(f"{told}")
    return f"all {told['distinct']} schedules explored"


def is_found(portent, program, test):
    told, text = explore(portent, program, test)
    if not told["failing"]:
        raise Failure(f"the seeded fault was not found: {told}")
    return f"found by run {told['runs']}"


def main():
    parser = argparse.ArgumentParser(description="The runtime's own protocols, explored.")
    parser.add_argument("portent")
    parser.add_argument("lib")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--long", action="store_true", help="also those that take minutes")
    parser.add_argument("--jobs", type=int, default=2, help="programs side by side")
    parser.add_argument("--keep", help="a folder for what is built")
    options = parser.parse_intermixed_args()
    portent, passed, failed, parts, work = os.path.abspath(options.portent), 0, 0, {}, []
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        builder = Builder(portent, os.path.abspath(options.lib), os.path.abspath(options.keep or temporary))
        for protocol in PROTOCOLS:
            if options.names and protocol.name not in options.names:
                continue
            program = builder.link(protocol, [*builder.objects(protocol, parts), *builder.test(protocol)], builder.folder)
            tests = protocol.tests + (protocol.long if options.long else ())
            work += [(f"{protocol.name} {test}", pool.submit(all_pass, portent, program, test)) for test in tests]
            for number, fault in enumerate(protocol.faults):
                work.append((f"{protocol.name} {fault[3]} with '{' '.join(fault[2].split())}' in {fault[0]}",
                             pool.submit(is_found, portent, builder.seeded(protocol, number, parts), fault[3])))
        for name, future in work:
            try:
                print(f"{name}: {future.result()}", flush=True)
                passed += 1
            except Exception as failure:  # whatever it is, the others still run
                failed += 1
                print(f"FAILED {name}: {failure}", flush=True)
    print(f"protocols: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
