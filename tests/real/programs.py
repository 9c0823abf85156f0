"""The real programs: how each is built with any compiler, and a load that it runs under. check_real.py and bench/real.py share this."""
import bz2
import glob
import hashlib
import math
import os
import random
import shutil
import socket
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS, REQUESTS = 4, 2000
# Older C++ than clang 14 takes by itself: a macro right behind a string.
PBZIP2_FLAG = "-Wno-reserved-user-defined-literal"
# What leveldb's db_bench needs of googletest to be compiled, none of which it uses.
GMOCK = """#define MATCHER(name, text) template <class T> bool name(const T &arg)
namespace testing { struct UnitTest { static UnitTest *GetInstance(); int random_seed(); }; }
"""


class Failure(Exception):
    pass


def run(command, cwd=None, timeout=1800, env=None):
    return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", timeout=timeout, env=env, check=False)


def must(command, cwd=None):
    done = run(command, cwd)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command)} (in {cwd})\n{done.stdout[-3000:]}")


def compilers(portent):
    """C and C++ compilers of each kind, as commands. The clang is the one that `portent cc` uses, so that builds differ in nothing else."""
    folder = ""
    for line in run([portent, "cc", "-v"]).stdout.splitlines():
        if line.startswith("InstalledDir: "):
            folder = line.split(": ", 1)[1] + "/"
    return {"plain": ([folder + "clang"], [folder + "clang++"]),
            "tsan": ([folder + "clang", "-fsanitize=thread"], [folder + "clang++", "-fsanitize=thread"]),
            "portent": ([portent, "cc"], [portent, "c++"])}


class Program:
    """`package` is Debian's source; build() leaves binary() in `target`; load() runs it once and returns what must not differ.
    `properties` are about one variable each, as far as the program has such; `joint` is one over two variables, which needs all clocks.
    `ordered`: functions, or pairs of places, with which ThreadSanitizer reports what is no race, and why it is none."""
    package = properties = joint = ""
    ordered = {}
    longer = 1  # times the work of a load

    def __init__(self, folder):
        self.folder, (self.source,) = folder, glob.glob(os.path.join(folder, self.package + "-[0-9]*/"))
        self.name = type(self).__name__.lower()
        self.version = os.path.basename(self.source.rstrip("/"))

    def target(self, kind):
        return os.path.join(self.folder, f"{self.package}-with-{kind}")

    def build(self, kind, cc, cxx):
        target = self.target(kind)
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.source, target)
        self.make(target, cc, cxx)

    def scratch(self):
        """An empty folder of its own."""
        path = os.path.join(self.folder, f"{self.name}-scratch")
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        return path

    def execute(self, start, command, **options):
        """Runs a command by `start`, which is subprocess.Popen or measures as well; returns its output."""
        with start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, **options) as process:
            output, _ = process.communicate(timeout=1800)
        if process.returncode != 0:
            raise Failure(f"{' '.join(command)}: status {process.returncode}")
        return output


class Lmdb(Program):
    package, properties, joint, rounds = "lmdb", "lmdb.prop", "lmdb_joint.prop", 300
    # The slot's last owner has written at 2739, and given it up at 4487 when it ended.
    ordered = {("mdb.c:2724", "mdb.c:2739"): "who takes a reader's slot has read its mr_pid of 0 at mdb.c:2710, a race that is told, and so comes after all of the slot's last owner"}

    def make(self, target, cc, cxx):
        folder = os.path.join(target, "libraries/liblmdb")
        must([*cc, "-O2", "-g", "-pthread", "-w", "-I.", os.path.join(HERE, "lmdb_load.c"), "mdb.c", "midl.c", "-o", "load"], folder)

    def load(self, kind, before, start=subprocess.Popen):
        return self.execute(start, [*before, self.target(kind) + "/libraries/liblmdb/load", self.scratch(), str(self.rounds * self.longer)])


class Zstd(Program):
    package, properties, joint, size = "libzstd", "zstd.prop", "zstd_joint.prop", 8 << 20

    def make(self, target, cc, cxx):
        must(["make", "-j2", "-C", "programs", "zstd", f"CC={' '.join(cc)}", "CFLAGS=-O2 -g", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0", "BACKTRACE=0",
              "ZSTD_LEGACY_SUPPORT=0"],
             target)

    def load(self, kind, before, start=subprocess.Popen):
        source, result = words(self.folder, self.size * self.longer), os.path.join(self.scratch(), "data.zst")
        self.execute(start, [*before, self.target(kind) + "/programs/zstd", "-T2", "-3", "-q", "-f", "-k", source, "-o", result])
        return digest(result)


class Leveldb(Program):
    package, properties, joint, count = "leveldb", "leveldb.prop", "leveldb_joint.prop", 1000

    def make(self, target, cc, cxx):
        for name, text in (("gtest/gtest.h", ""), ("gmock/gmock.h", GMOCK),
                           ("port/port_config.h", "#define HAVE_FDATASYNC 1\n#define HAVE_O_CLOEXEC 1\n")):
            os.makedirs(os.path.join(target, "made", os.path.dirname(name)))
            with open(os.path.join(target, "made", name), "w", encoding="ascii") as file:
                file.write(text)
        sources = [name for part in ("db", "table", "util") for name in sorted(glob.glob(f"{target}/{part}/*.cc"))
                   if not name.endswith(("_test.cc", "leveldbutil.cc", "windows.cc", "/c.cc"))]
        helpers = glob.glob(f"{target}/helpers/memenv/memenv.cc")
        flags = ["-O2", "-g", "-std=c++11", "-pthread", "-w", "-DLEVELDB_PLATFORM_POSIX=1", "-I.", "-Iinclude", "-Imade"]
        must([*cxx, *flags, *sources, *helpers, "benchmarks/db_bench.cc", "-o", "db_bench"], target)

    def load(self, kind, before, start=subprocess.Popen):
        scratch = self.scratch()
        self.execute(start, [*before, self.target(kind) + "/db_bench", f"--db={scratch}/db", f"--num={self.count * self.longer}", "--threads=2",
                             "--write_buffer_size=65536", "--benchmarks=fillseq,fillrandom,readrandom,readwhilewriting"])
        return ""  # it prints times, and two threads write the same keys


class Sqlite(Program):
    package, properties, joint = "sqlite3", "sqlite.prop", "sqlite_joint.prop"

    def make(self, target, cc, cxx):
        must(["./configure", "--disable-tcl", "--disable-readline"], target)
        must(["make", "sqlite3.c"], target)
        must([*cc, "-O2", "-g", "-pthread", "-w", "-DSQLITE_THREADSAFE=1", "-DSQLITE_OMIT_LOAD_EXTENSION", "-I.", "sqlite3.c",
              "test/threadtest4.c", "-o", "threadtest4", "-lm"], target)

    def load(self, kind, before, start=subprocess.Popen):
        output = self.execute(start, [*before, self.target(kind) + "/threadtest4", "--wal", str(math.isqrt(4 * self.longer))],
                              cwd=self.scratch())  # tests are as many as the square of its threads
        return output.splitlines()[-1:]


class Pbzip2(Program):
    package, properties, joint, size = "pbzip2", "pbzip2.prop", "pbzip2_joint.prop", 8 << 20

    def make(self, target, cc, cxx):
        must(["make", f"CXX={' '.join(cxx)} {PBZIP2_FLAG}"], target)

    def load(self, kind, before, start=subprocess.Popen):
        source = words(self.folder, self.size * self.longer)
        archive = self.execute(start, [*before, self.target(kind) + "/pbzip2", "-k", "-c", "-p4", "-b1", source])
        with open(source, "rb") as file:
            if bz2.decompress(archive) != file.read():
                raise Failure("the archive does not hold what was compressed")
        return hashlib.sha256(archive).hexdigest()


class Memcached(Program):
    package, properties, joint = "memcached", "memcached.prop", "memcached_joint.prop"
    ordered = {"conn_new": "a slot of conns[] is used again only when accept has given its number again, after the close of the first"}

    def make(self, target, cc, cxx):
        must(["./configure", f"CC={' '.join(cc)}"], target)
        must(["make", "-j2", "memcached"], target)

    def load(self, kind, before, start=subprocess.Popen):
        port = free_port()
        options = ["-u", "nobody"] if os.getuid() == 0 else []
        command = [*before, self.target(kind) + "/memcached", "-l", "127.0.0.1", "-p", str(port), "-t", "4", *options]
        replies = {}
        with start(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as server:
            try:
                connect(port).close()
                clients = [threading.Thread(target=client, args=(port, number, replies, REQUESTS * self.longer)) for number in range(CLIENTS)]
                for thread in clients:
                    thread.start()
                for thread in clients:
                    thread.join()
            finally:
                server.terminate()
                server.wait(timeout=120)
        if len(replies) != CLIENTS:
            raise Failure("a client was not served")
        return replies


def words(folder, size):
    """A file of that size, always the same."""
    path = os.path.join(folder, f"data-{size}")
    if not os.path.exists(path):
        choose = random.Random(1)
        with open(path, "wb") as file:
            for _ in range(size >> 10):
                file.write(bytes(choose.choices(b"abcdefgh \n", k=1024)))
    return path


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


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


def client(port, number, replies, requests):
    """A script that depends on nothing but the client's own keys; every reply is remembered."""
    choose, seen = random.Random(number), hashlib.sha256()
    with connect(port) as stream, stream.makefile("rb") as lines:
        for step in range(requests):
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
                seen.update(line)
                if not line or line.split()[0] in ends:
                    break
                if line.split()[0] in (b"ERROR", b"CLIENT_ERROR", b"SERVER_ERROR"):
                    raise Failure(line.decode())
    replies[number] = seen.hexdigest()


ALL = (Lmdb, Zstd, Leveldb, Memcached, Pbzip2, Sqlite)
