#!/usr/bin/env python3
"""Real programs, unmodified: check_real.py PORTENT FOLDER

Builds memcached and pbzip2, whose sources tests/real/fetch has put into FOLDER, with clang and with `portent cc` / `portent c++`; runs
both builds under the same load, the second one under `portent run` with properties over its own globals, and once more with
race_free(*), which its threads check themselves; compares what they answer. The last line is `real: N passed, M failed`.
"""
import bz2
import glob
import hashlib
import json
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS, REQUESTS = 4, 2000
# Older C++ than clang 14 takes by itself: a macro right behind a string.
PBZIP2_FLAG = " -Wno-reserved-user-defined-literal"


class Failure(Exception):
    pass


def run(command, cwd=None, timeout=900, env=None):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=timeout, env=env, check=False)


def must(command, cwd=None):
    done = run(command, cwd)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} (in {cwd})\n{done.stdout[-3000:]}")


def copy(folder, package, name):
    (source,) = glob.glob(os.path.join(folder, package + "-[0-9]*/"))
    target = os.path.join(folder, name)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)
    return target, os.path.basename(source.rstrip("/"))


def clang(portent, cxx):
    """The clang that `portent cc` uses, so that both builds differ in nothing else."""
    plan = run([portent, "c++" if cxx else "cc", "-v"]).stdout
    for line in plan.splitlines():
        if line.startswith("InstalledDir: "):
            return os.path.join(line.split(": ", 1)[1], "clang++" if cxx else "clang")
    return "clang++" if cxx else "clang"


def build(folder, package, portent, cxx, how):
    """Both builds of a package; returns their folders and the version."""
    folders = []
    for name, compiler in (("plain", clang(portent, cxx)), ("portent", f"{portent} {'c++' if cxx else 'cc'}")):
        target, version = copy(folder, package, f"{package}-with-{name}")
        how(target, compiler)
        folders.append(target)
    return folders[0], folders[1], version


def build_memcached(target, compiler):
    must(["./configure", f"CC={compiler}"], target)
    must(["make", "-j2", "memcached"], target)


def build_pbzip2(target, compiler):
    must(["make", f"CXX={compiler}{PBZIP2_FLAG}"], target)


# --- memcached ---

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def connect(port):
    for _ in range(200):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=60)
        except OSError:
            time.sleep(0.05)
    raise Failure(f"nobody answers on port {port}")


def client(port, number, replies):
    """A script that depends on nothing but the client's own keys; every reply is remembered."""
    choose, digest = random.Random(number), hashlib.sha256()
    with connect(port) as stream, stream.makefile("rb") as lines:
        for step in range(REQUESTS):
            key, kind = f"c{number}k{choose.randrange(500)}", choose.randrange(5)
            if kind < 2:
                value = f"{step}-" + "x" * choose.randrange(200)
                stream.sendall(f"set {key} 0 0 {len(value)}\r\n{value}\r\n".encode())
                ends = (b"STORED",)
            elif kind == 2:
                stream.sendall(f"delete {key}\r\n".encode())
                ends = (b"DELETED", b"NOT_FOUND")
            elif kind == 3:
                stream.sendall(f"append {key} 0 0 1\r\na\r\n".encode())
                ends = (b"STORED", b"NOT_STORED")
            else:
                stream.sendall(f"get {key}\r\n".encode())
                ends = (b"END",)
            while True:
                line = lines.readline()
                digest.update(line)
                if not line or line.split()[0] in ends:
                    break
                if line.split()[0] in (b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR"):
                    raise Failure(line.decode())
    replies[number] = digest.hexdigest()


def serve(command, port):
    """Starts a server, lets the clients at it, stops it; returns the replies, the seconds, and what it said."""
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    replies = {}
    try:
        connect(port).close()
        begin = time.monotonic()
        clients = [threading.Thread(target=client, args=(port, number, replies)) for number in range(CLIENTS)]
        for thread in clients:
            thread.start()
        for thread in clients:
            thread.join()
        seconds = time.monotonic() - begin
    finally:
        server.terminate()
        said, _ = server.communicate(timeout=120)
    if len(replies) != CLIENTS:
        raise Failure(f"a client was not served:\n{said[-2000:]}")
    return replies, seconds, said


def verdicts(result):
    with open(result, encoding="utf-8") as file:
        read = json.load(file)
    for found in read["properties"]:
        print(f"  {found['name']}: {found['verdict']}{' (' + found['how'] + ')' if 'how' in found else ''}, "
              f"{found['relevant']} relevant events")
        if found["verdict"] not in ("holds", "violated"):
            raise Failure(f"no answer: {found}")
    if not any(found["relevant"] for found in read["properties"]):
        raise Failure("no relevant event was observed")


def races(result):
    """What race_free(*) found: each race once. Whether they are harmful, people have to say."""
    with open(result, encoding="utf-8") as file:
        (found,) = json.load(file)["properties"]
    if found["verdict"] not in ("holds", "violated"):
        raise Failure(f"no answer: {found}")
    print(f"  races: {found['verdict']}, {found['states']} states")
    for first in [found["first"], *found.get("more", [])] if found["verdict"] == "violated" else []:
        event = first["event"]
        for known in first["knew"]:
            other = known["event"]
            print(f"    {event['op']}({event['object']}) by {event['thread']} ({event['loc']}) races with "
                  f"{other['op']}({other['object']}) by {other['thread']} ({other['loc']})")


def memcached(portent, folder):
    plain, instrumented, version = build(folder, "memcached", portent, False, build_memcached)
    options = ["-u", "nobody"] if os.getuid() == 0 else []
    port, result = free_port(), os.path.join(folder, "memcached.json")
    expected, plain_seconds, _ = serve([plain + "/memcached", "-l", "127.0.0.1", "-p", str(port), "-t", "4", *options], port)
    for properties, tell in (("memcached.prop", verdicts), ("races.prop", races)):
        port = free_port()
        observed, seconds, _ = serve([portent, "run", "-r", result, "-s", os.path.join(HERE, properties), "--",
                                      instrumented + "/memcached", "-l", "127.0.0.1", "-p", str(port), "-t", "4", *options], port)
        print(f"{version}, {properties}: {CLIENTS} clients, {CLIENTS * REQUESTS} requests: plain {plain_seconds:.2f} s, observed "
              f"{seconds:.2f} s ({seconds / plain_seconds:.1f}x)")
        tell(result)
        if observed != expected:
            raise Failure("the replies differ from the plain build's")


# --- pbzip2 ---

def compress(command, source, target):
    begin = time.monotonic()
    with open(target, "wb") as out:
        done = subprocess.run([*command, "-k", "-c", "-p4", "-b1", source], stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.PIPE, timeout=900, check=False)
    return done.returncode, time.monotonic() - begin, done.stderr.decode(errors="replace")


def pbzip2(portent, folder):
    plain, instrumented, version = build(folder, "pbzip2", portent, True, build_pbzip2)
    source, result = os.path.join(folder, "data"), os.path.join(folder, "pbzip2.json")
    words = random.Random(1)
    with open(source, "wb") as file:
        for _ in range(8 << 10):
            file.write(bytes(words.choice(b"abcdefgh \n") for _ in range(1024)))
    status, plain_seconds, said = compress([plain + "/pbzip2"], source, source + ".plain.bz2")
    if status != 0:
        raise Failure(said)
    for properties, tell in (("pbzip2.prop", verdicts), ("races.prop", races)):
        status, seconds, said = compress([portent, "run", "--exit-code", "0", "-r", result, "-s", os.path.join(HERE, properties), "--",
                                          instrumented + "/pbzip2"], source, source + ".bz2")
        if status != 0:
            raise Failure(said)
        print(f"{version}, {properties}: 8 MiB, 4 threads: plain {plain_seconds:.2f} s, observed {seconds:.2f} s "
              f"({seconds / plain_seconds:.1f}x)")
        tell(result)
        with open(source, "rb") as file, bz2.open(source + ".bz2") as archive:
            if archive.read() != file.read():
                raise Failure("the archive does not hold what was compressed")
        with open(source + ".plain.bz2", "rb") as one, open(source + ".bz2", "rb") as other:
            if one.read() != other.read():
                raise Failure("the archive differs from the plain build's")
    must([instrumented + "/pbzip2", "-t", source + ".plain.bz2"])


def main():
    portent, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    passed = failed = 0
    for test in (memcached, pbzip2):
        try:
            test(portent, folder)
            passed += 1
        except (Failure, OSError, ValueError, subprocess.SubprocessError) as failure:
            failed += 1
            print(f"FAILED {test.__name__}: {failure}")
    print(f"real: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
