"""Event streams by the letter of src/core/wire.h, and nothing of Portent's own decoder: connects, reads, adds up."""

import socket
import struct
import time

NONE = 0xFFFFFFFF
OPS = [None, "start", "end", "fork", "join", "w", "u", "acq", "rel", "racq", "rrel", "contended", "wait", "notify", "sync",
       "begin", "finish", "event", "int", "state"]
SPACE = {"fork": 0, "join": 0, "w": 1, "u": 1, "acq": 2, "rel": 2, "racq": 2, "rrel": 2, "contended": 2, "wait": 3, "notify": 3,
         "sync": 3, "begin": 4, "finish": 4, "event": 5, "int": 6, "state": 7}


class Stream:
    """What has come so far. `events` are (number, thread, op, object, value, extra, time); `sums` fails when the numbers do."""

    def __init__(self, path, connect=True):
        self.buffer, self.names, self.sites = b"", {}, {}
        self.events, self.snapshot, self.lost, self.received = [], [], [], 0
        self.hello, self.expected, self.time, self.bye, self.clocks, self.keep = None, None, 0, False, 0, True
        self.socket = dial(path) if connect else None
        self.arrivals = []  # when something came

    def text(self, space, number):
        return self.names[space, number]

    def frame(self, kind, body):
        if kind == 1:
            assert self.hello is None and body[:8] == b"PTWIRE1\0"
            number, at, wall, pid, _ = struct.unpack_from("<QQQII", body, 8)
            self.hello = {"number": number, "time": at, "wall": wall, "pid": pid, "program": body[40:].split(b"\0")[0].decode()}
            self.expected, self.time = number, at
            return
        assert self.hello is not None, "no hello"
        if kind == 2:
            space, number = struct.unpack_from("<II", body)
            self.names[space, number] = body[8:].split(b"\0")[0].decode(errors="replace")
        elif kind == 3:
            number, line = struct.unpack_from("<II", body)
            self.sites[number] = body[8:].split(b"\0")[0].decode() + ":" + str(line)
        elif kind in (4, 5):
            self.take_events(kind == 4, body)
        elif kind == 6:
            number, count, at, _, _ = struct.unpack_from("<QQQII", body)
            assert number == self.expected and count, (number, count, self.expected)
            assert at >= self.time
            self.expected += count
            self.lost.append((number, count))
        elif kind in (7, 8):
            number, at = struct.unpack_from("<QQ", body)
            assert number == self.expected, (number, self.expected)
            assert at >= self.time, "time goes back"
            self.time, self.clocks, self.bye = at, self.clocks + 1, self.bye or kind == 8

    def take_events(self, snapshot, body):
        number, at, count, _ = struct.unpack_from("<QQII", body)
        assert number == self.expected, (number, self.expected)
        assert at >= self.time, "time goes back"
        offset, where = 24, self.snapshot if snapshot else self.events
        for _ in range(count):
            delta, op, kind, length, thread, item, site, extra = struct.unpack_from("<IBBHIIII", body, offset)
            raw = body[offset + 24:offset + 24 + length]
            offset += 24 + (length + 3) // 4 * 4
            at += delta
            if not snapshot:
                self.expected += 1
                self.received += 1
            if self.keep or snapshot:
                word = OPS[op]
                value = None if not kind else raw.decode() if kind == 5 else struct.unpack("<" + "?qQdQ"[kind], raw)[0]
                name = self.text(SPACE[word], item) if word in SPACE else item
                where.append((0 if snapshot else self.expected - 1, self.text(0, thread), word, name, value, extra, at))
        self.time = at

    def feed(self, data):
        self.buffer += data
        at = 0
        while len(self.buffer) - at >= 8:
            size, kind, version = struct.unpack_from("<IHH", self.buffer, at)
            assert version == 1 and size >= 8 and size % 8 == 0 and size <= 1 << 20, (size, kind, version)
            if len(self.buffer) - at < size:
                break
            self.frame(kind, self.buffer[at + 8:at + size])
            at += size
        self.buffer = self.buffer[at:]

    def read(self, seconds=60, until=None):
        """Reads to the end of the stream, or until the condition holds: then that the stream ends first is a failure."""
        limit = time.monotonic() + seconds
        self.socket.settimeout(0.2)
        while not (until and until(self)):
            assert time.monotonic() < limit, "the stream takes too long"
            try:
                data = self.socket.recv(1 << 20)
            except socket.timeout:
                continue
            except ConnectionResetError:
                data = b""
            if not data:
                assert self.hello is not None, "the stream ends before it has begun"
                assert until is None, "the stream ends before what was waited for"
                return self
            self.arrivals.append(time.monotonic())
            self.feed(data)
        return self

    def lost_count(self):
        return sum(count for _, count in self.lost)

    def all(self, op):
        return [event for event in self.events if event[2] == op]


def dial(address, seconds=60):
    """Connects to unix:PATH or tcp:HOST:PORT; waits until somebody listens."""
    limit = time.monotonic() + seconds
    while True:
        try:
            if address.startswith("unix:"):
                made = socket.socket(socket.AF_UNIX)
                made.connect(address[5:])
            else:
                _, host, port = address.split(":")
                made = socket.create_connection((host, int(port)))
            return made
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.01)
