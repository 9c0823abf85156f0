"""Event streams made by hand (src/core/wire.h), and a program's end of the socket, for tests of `portent watch`."""
import os
import socket
import struct
import threading

HELLO, NAME, SITE, SNAPSHOT, EVENTS, LOST, CLOCK, BYE = range(1, 9)
THREAD, VAR, LOCK, OTHER, BLOCK, USER, LOCAL, STATE = range(8)
OPS = {"start": 1, "end": 2, "fork": 3, "join": 4, "w": 5, "u": 6, "acq": 7, "rel": 8, "racq": 9, "rrel": 10,
       "contended": 11, "wait": 12, "notify": 13, "sync": 14, "begin": 15, "finish": 16, "event": 17, "int": 18, "state": 19}
SPACES = {"fork": THREAD, "join": THREAD, "w": VAR, "u": VAR, "acq": LOCK, "rel": LOCK, "racq": LOCK, "rrel": LOCK,
          "contended": LOCK, "wait": OTHER, "notify": OTHER, "sync": OTHER, "begin": BLOCK, "finish": BLOCK, "event": USER,
          "int": LOCAL, "state": STATE}
NONE = 0xFFFFFFFF
INT = 1  # enum pt_value_kind


def frame(kind, body, version=1):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", 8 + len(body), kind, version) + body


class Stream:
    """Builds the bytes of a stream. Times are nanoseconds; names get their ids at their first use."""

    def __init__(self, program="prog", pid=42, time=0, number=1):
        self.bytes = frame(HELLO, b"PTWIRE1\0" + struct.pack("<QQQII", number, time, 0, pid, 0) + program.encode() + b"\0")
        self.ids, self.number, self.sites = {}, number, {}

    def name(self, space, text):
        key = (space, text)
        if key not in self.ids:
            self.ids[key] = sum(1 for other in self.ids if other[0] == space) + 1
            self.bytes += frame(NAME, struct.pack("<II", space, self.ids[key]) + text.encode() + b"\0")
        return self.ids[key]

    def site(self, text):
        if text and text not in self.sites:
            self.sites[text] = len(self.sites) + 1
            file, line = text.rsplit(":", 1)
            self.bytes += frame(SITE, struct.pack("<II", self.sites[text], int(line)) + file.encode() + b"\0")
        return self.sites.get(text, 0)

    def one(self, thread, op, name, value, loc, extra):
        thread, site = self.name(THREAD, thread), self.site(loc)
        target = self.name(SPACES[op], name) if op in SPACES else NONE
        if extra is not None:
            extra = self.name(THREAD if op == "contended" else LOCK, extra)  # of a state: the lock it waits for
        body = struct.pack("<IBBHIIII", 0, OPS[op], INT if value is not None else 0, 8 if value is not None else 0, thread,
                           target, site, NONE if extra is None else extra)
        return body + (struct.pack("<q", value) if value is not None else b"")

    def event(self, time, thread, op, name="", value=None, loc="", extra=None):
        body = self.one(thread, op, name, value, loc, extra)
        self.bytes += frame(EVENTS, struct.pack("<QQII", self.number, time, 1, 0) + body)
        self.number += 1
        return self

    def snapshot(self, time, thread, op, name="", value=None, extra=None):
        body = self.one(thread, op, name, value, "", extra)
        self.bytes += frame(SNAPSHOT, struct.pack("<QQII", self.number, time, 1, 0) + body)
        return self

    def clock(self, time):
        self.bytes += frame(CLOCK, struct.pack("<QQ", self.number, time))
        return self

    def lost(self, time, count):
        self.bytes += frame(LOST, struct.pack("<QQQII", self.number, count, time, NONE, 0))
        self.number += count
        return self

    def bye(self, time):
        self.bytes += frame(BYE, struct.pack("<QQ", self.number, time))
        return self

    def take(self):
        """The bytes made since the last call."""
        made, self.bytes = self.bytes, b""
        return made


class Program:
    """Listens as a watched program does; `serve(connection)` runs in a thread of its own for the first reader."""

    def __init__(self, folder, serve, tcp=None):
        if tcp:
            self.listener = socket.create_server(("127.0.0.1", 0))
            self.address = f"tcp:{tcp}:{self.listener.getsockname()[1]}"
        else:
            path = os.path.join(folder, "events.sock")
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(path)
            self.listener.listen()
            self.address = "unix:" + path
        self.thread = threading.Thread(target=self.run, args=(serve,), daemon=True)
        self.thread.start()

    def run(self, serve):
        try:
            connection, _ = self.listener.accept()
        except OSError:
            return  # nobody came
        with connection:
            try:
                serve(connection)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the reader has what it wanted

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.listener.shutdown(socket.SHUT_RDWR)  # who waits in accept goes on
        self.listener.close()
        self.thread.join(60)
