"""The browser's view of `portent watch --http`, on streams made by hand."""
import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "watch"))
from stream import Program, Stream  # noqa: E402

MS = 1000000
PROPERTY = ("property alternate within 1000s: always (event(write) -> next (!event(write) until event(read)));\n"
            "property never_both: never [true]* [balance < 0];\n")
HOSTILE = "<script>window.hacked=1</script>"


@contextlib.contextmanager
def served(portent, folder, *pieces):
    prop = os.path.join(folder, "p.prop")
    pathlib.Path(prop).write_text(PROPERTY)
    go = threading.Semaphore(0)

    def serve(connection):
        for piece in pieces:
            connection.sendall(piece)
            go.acquire(timeout=300)

    with Program(folder, serve) as program:
        process = subprocess.Popen([portent, "watch", "-s", prop, "--http", "127.0.0.1:0", program.address],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            url = next(re.search(r"http://\S+", line)[0] for line in process.stderr if "http://" in line)
            yield url, go.release, process
        finally:
            go.release(len(pieces))
            process.send_signal(signal.SIGINT)
            process.wait(60)
            process.stderr.close()


def play(seconds=6, program="buffer"):
    """Two threads that take turns, up to now."""
    now = time.monotonic_ns()
    t = begin = now - int(seconds * 10**9)
    stream = Stream(program=program, time=begin)
    stream.snapshot(t, "main", "state", "blocked: join").snapshot(t, "producer", "state", "running")
    stream.snapshot(t, "consumer", "state", "blocked: condition")
    while t < now - 700 * MS:
        stream.event(t, "producer", "acq", "mutex", loc="buffer.c:9").event(t + 10 * MS, "producer", "event", "write", loc="buffer.c:12")
        stream.event(t + 150 * MS, "consumer", "contended", "mutex", extra="producer", loc="buffer.c:30")
        stream.event(t + 200 * MS, "producer", "rel", "mutex").event(t + 210 * MS, "producer", "state", "blocked: lock", extra="mutex")
        stream.event(t + 220 * MS, "consumer", "state", "running").event(t + 230 * MS, "consumer", "acq", "mutex")
        stream.event(t + 500 * MS, "consumer", "event", "read", loc="buffer.c:33").event(t + 510 * MS, "consumer", "rel", "mutex")
        stream.event(t + 560 * MS, "consumer", "state", "ready").event(t + 600 * MS, "consumer", "state", "blocked: condition")
        stream.event(t + 610 * MS, "producer", "state", "running")
        t += 700 * MS
    return stream, t


def texts(browser, selector):
    return browser.value(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")


def view_shows_the_stream(portent, folder, browser):
    stream, t = play()
    first = stream.take()
    deep = "/deep" * 40 + "/buffer.c:11"
    second = stream.event(t, "producer", "event", "write", loc=deep).event(t + 50 * MS, "producer", "event", "write", loc="buffer.c:12").lost(t + 60 * MS, 5).take()
    with served(portent, folder, first, second, stream.bye(t + 100 * MS).take()) as (url, go_on, _):
        browser.size(1200, 900)
        browser.open(url)
        browser.wait("document.querySelectorAll('#log tbody tr').length > 10")
        assert browser.complaints() == [], browser.complaints()
        assert texts(browser, "#names b") == ["main", "producer", "consumer"], texts(browser, "#names b")
        assert texts(browser, "#properties .word") == ["good so far", "good so far"], texts(browser, "#properties .word")
        assert "blocked: join" in texts(browser, "#names span")
        assert browser.value("document.getElementById('program').textContent").startswith("buffer (42) at unix:")
        # every thread's line and something of each colour was painted; it may be a while ago by now
        for _ in range(3):
            browser.key("-")
        assert browser.value("timeline.hits.some(h => h.text.includes('write')) && timeline.hits.some(h => h.text.includes('found mutex taken'))")
        picture = os.environ.get("PICTURES")
        if picture:
            browser.screenshot(os.path.join(picture, "watch-light.png"))
        go_on()
        browser.wait("document.querySelector('#properties .violated') !== null")
        assert texts(browser, "#properties .word")[0].startswith("violated: dead at ")
        assert "event(write) by producer (buffer.c:12)" in texts(browser, "#properties .cause")[0] and "always" in texts(browser, "#properties .formula")[0]
        browser.wait("document.getElementById('lost').textContent === '5'")
        assert "5 events lost" in texts(browser, "#log .lost td")
        places = browser.value("[...document.querySelectorAll('#log tr:not(.lost):not(.note) td:nth-child(4)')].map(e => [e.textContent, e.title, e.scrollWidth <= e.clientWidth + 1])")
        assert ["buffer.c:11", deep, True] in places and all(whole for _, _, whole in places), places
        assert browser.value("document.getElementById('rough').hidden"), "everything is known in detail"
        if picture:
            browser.size(1200, 900, dark=True)
            browser.wait("true")
            browser.screenshot(os.path.join(picture, "watch-dark.png"))
            browser.size(400, 800)
            browser.value("new Promise(done => setTimeout(done, 300))")
            browser.screenshot(os.path.join(picture, "watch-narrow.png"))
        go_on()
        browser.wait("document.getElementById('link').textContent === 'the program has ended'")


def view_zooms_and_pauses(portent, folder, browser):
    stream, t = play(3)
    with served(portent, folder, stream.take(), stream.event(t, "producer", "event", "write").clock(t + 500 * MS).take(), b"") as (url, go_on, _):
        browser.size(1200, 900)
        browser.open(url)
        browser.wait("document.querySelectorAll('#log tbody tr').length > 5")
        before = browser.value("timeline.span")
        browser.value("document.getElementById('in').click()")
        assert browser.value("timeline.span") == before / 2
        browser.key("-")
        assert browser.value("timeline.span") == before
        browser.value("document.getElementById('pause').click()")
        rows, right = browser.value("document.getElementById('log').textContent"), browser.value("timeline.right")
        events = int(browser.value("model.events"))
        go_on()
        browser.wait(f"model.events > {events}")
        browser.value("new Promise(done => setTimeout(done, 100))")
        assert browser.value("timeline.right") == right and browser.value("document.getElementById('log').textContent") == rows
        browser.value("document.getElementById('pause').click()")
        browser.wait(f"timeline.right > {right}")
        everything = "document.querySelectorAll('#log tbody tr').length"
        few = browser.value(everything)
        browser.value("document.getElementById('everything').click()")
        assert browser.value(everything) > few
        assert browser.complaints() == [], browser.complaints()


def view_shows_text_as_text(portent, folder, browser):
    stream = Stream(program=HOSTILE, time=0)
    stream.event(1 * MS, "<img src=x onerror=hacked=1>", "event", HOSTILE, loc="<b>.c:1").event(2 * MS, "a&b", "acq", "<i>lock</i>")
    with served(portent, folder, stream.take(), b"") as (url, _, _unused):
        browser.open(url)
        browser.wait("document.querySelectorAll('#log tbody tr').length > 0")
        assert browser.value("window.hacked") is None and browser.complaints() == [], browser.complaints()
        assert f"event({HOSTILE})" in texts(browser, "#log td"), texts(browser, "#log td")
        assert "<img src=x onerror=hacked=1>" in texts(browser, "#names b")
        assert browser.value("document.querySelectorAll('#log b, #log i, #names img, #log img').length") == 0
        # and the page may not load or run what is not its own
        assert browser.value("new Promise(done => { const s = document.createElement('script'); s.textContent = 'window.hacked = 2'; "
                             "document.body.append(s); setTimeout(() => done(window.hacked === undefined), 50); })")


def view_of_a_fleet(portent, folder, browser):
    """All programs in a table, the violated first; the chosen one below it, also when the page is opened with it."""
    prop, path = os.path.join(folder, "p.prop"), os.path.join(folder, "fleet.sock")
    pathlib.Path(prop).write_text(PROPERTY)
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(subprocess.Popen([portent, "watch", "-s", prop, "--http", "127.0.0.1:0", "listen:unix:" + path],
                                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        stack.callback(process.terminate)
        url = next(re.search(r"http://\S+", line)[0] for line in process.stderr if "http://" in line)
        browser.size(1200, 900)
        browser.open(url)
        browser.wait("document.getElementById('fleet-empty').textContent === 'No program has come yet.' && !document.getElementById('fleet').hidden")
        for number in range(12):
            stream, t = play(3, program=HOSTILE if number == 3 else f"/usr/bin/server-with-a-rather-long-name-{number}")
            if number == 7:
                stream.event(t, "producer", "event", "write").event(t + 1 * MS, "producer", "event", "write")
            if number == 5:
                stream.bye(t)
            program = stack.enter_context(socket.socket(socket.AF_UNIX))
            program.connect(path)
            program.sendall(stream.take())
        browser.wait("document.querySelectorAll('#programs tbody tr').length === 12 && document.querySelector('#programs tr.bad') !== null")
        rows = texts(browser, "#programs tbody button")
        assert "long-name-7" in rows[0] and HOSTILE.rpartition('/')[2] in rows and "long-name-5" in rows[-1], rows
        assert browser.value("window.hacked") is None
        assert browser.value("getComputedStyle(document.getElementById('timeline').parentElement).display") == "none"
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        browser.value("document.querySelector('#programs tbody button').click()")
        browser.wait("document.querySelectorAll('#log tbody tr').length > 5 && document.querySelector('#properties .violated') !== null")
        assert texts(browser, "#names b") == ["main", "producer", "consumer"]
        picture = os.environ.get("PICTURES")
        if picture:
            browser.screenshot(os.path.join(picture, "fleet-light.png"))
            browser.size(390, 800, dark=True)
            browser.value("new Promise(done => setTimeout(done, 300))")
            browser.screenshot(os.path.join(picture, "fleet-narrow.png"))
        browser.size(390, 800)
        browser.open(browser.value("location.href"))
        browser.wait("document.querySelectorAll('#log tbody tr').length > 5")
        assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        browser.value("document.getElementById('fleet-filter').value = 'name-11'; document.getElementById('fleet-filter').oninput()")
        browser.wait("document.querySelectorAll('#programs tbody tr').length === 1")
        assert browser.complaints() == [], browser.complaints()


def view_keeps_the_past(portent, folder, browser):
    """What is too long ago to be known in detail is drawn all the same, and where a property was violated is marked, with its formula and event."""
    begin = max(time.monotonic_ns() - 1200 * 10**9, 10**9)  # the machine may have started since
    stream = Stream(program="old", time=begin)
    stream.snapshot(begin, "main", "state", "blocked: condition changed").snapshot(begin, "busy", "state", "running")
    for second in (3, 4):
        stream.event(begin + second * 1000 * MS, "busy", "event", "write", loc="old.c:7")
    stream.event(begin + 60000 * MS, "busy", "state", "blocked: lock", extra="a_lock_with_a_long_name")
    for i in range(9000):  # more than anybody keeps
        stream.event(begin + (600000 + i * 60) * MS, "main", "event", "tick")
    with served(portent, folder, stream.take(), b"") as (url, _, _unused):
        browser.size(1400, 900)
        browser.open(url)
        browser.wait("model.events >= 9000 && document.querySelector('#properties .violated') !== null")
        busy = browser.value("(({ past, since }) => [past.length, past.charCodeAt(0) - 48, past.charCodeAt(past.length - 1) - 48, since / 1e9])(model.threads.get('busy'))")
        stretch = browser.value("model.stretch") / 1e9
        assert 256 <= busy[0] <= 512 and abs(busy[0] * stretch - 1140) < 10 and busy[3] > 600, (busy, stretch)
        assert busy[1] & 1 and busy[1] & 16 and busy[2] == 4, busy  # it ran and wrote; now it is blocked
        for _ in range(7):
            browser.key("-")
        browser.value("new Promise(done => setTimeout(done, 200))")
        painted = browser.value("""[10, 300].map(second => { const at = timeline.canvas.getContext('2d').getImageData(timeline.x(second * 1e9) * devicePixelRatio, (54 + 30 + 2) * devicePixelRatio, 1, 1).data; return at[3]; })""")
        assert painted[0] > 0 and painted[1] == 0, painted  # thick where it ran, thin where it waited
        marked = browser.value("timeline.hits.filter(h => h.text.includes('violated at')).map(h => [h.text, h.time / 1e9])")
        assert len(marked) == 1 and "alternate violated at event(write) by busy (old.c:7): always" in marked[0][0] and abs(marked[0][1] - 4) < 0.01, marked
        if os.environ.get("PICTURES"):
            browser.screenshot(os.path.join(os.environ["PICTURES"], "watch-past.png"))
        assert "blocked: lock a_lock_with_a_long_name" in texts(browser, "#names span"), texts(browser, "#names span")
        for width in (1400, 390):
            browser.size(width, 900)
            browser.value("new Promise(done => setTimeout(done, 300))")
            assert browser.value("[...document.querySelectorAll('#names span')].every(e => e.scrollHeight <= e.clientHeight + 1)"), f"a state is cut, {width}"
        assert browser.value("!document.getElementById('rough').hidden && document.getElementById('rough').textContent")== f"pale: longer ago, what there was in each {stretch:g} s", texts(browser, "#rough")
        complaints = [text for text in browser.complaints() if "getImageData" not in text]  # which is ours
        assert complaints == [], complaints


def view_of_many_threads(portent, folder, browser):
    """200 threads: rows in a stable order, each can be scrolled to, and a picture takes no longer than a blink."""
    now = time.monotonic_ns()
    begin = now - 20 * 10**9
    stream = Stream(program="many", time=begin)
    for i in range(200):
        stream.snapshot(begin, f"worker-{i}", "state", "running")
    for i in range(4000):
        t = begin + i * 4 * MS
        stream.event(t, f"worker-{i * 7 % 200}", "state", "blocked: lock" if i // 200 % 2 else "running", extra="m").event(t + MS, f"worker-{i * 11 % 200}", "event", "step")
    with served(portent, folder, stream.take(), stream.event(now, "worker-3", "event", "step").take(), b"") as (url, go_on, _):
        browser.size(1400, 900)
        browser.open(url)
        browser.wait("document.querySelectorAll('#names li').length === 200")
        names = texts(browser, "#names b")
        go_on()
        browser.wait("model.events > 8000")
        assert texts(browser, "#names b") == names
        browser.key("-")
        took = sorted(browser.value("(() => { const from = performance.now(); draw(); return performance.now() - from; })()") for _ in range(7))[3]
        print(f"    200 threads: drawn in {took:.1f} ms")
        assert took < 200, took
        browser.value("document.getElementById('timeline').scrollTop = 54 * 195; new Promise(done => setTimeout(done, 300))")
        rows = browser.value("[...new Set(timeline.hits.map(h => Math.floor(h.y0 / 54)))].sort((a, b) => a - b)")
        assert rows and rows[-1] == 199 and rows[0] > 170, rows
        assert browser.complaints() == [], browser.complaints()


def view_under_fingers(portent, folder, browser):
    """Touch: one finger pans, two zoom."""
    stream, _ = play(8)
    with served(portent, folder, stream.take(), b"") as (url, _, _unused):
        browser.size(390, 800)
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True)
        try:
            browser.open(url)
            browser.wait("document.querySelectorAll('#log tbody tr').length > 5")
            box = browser.value("(({ left, top, width }) => [left, top, width])(document.getElementById('canvas').getBoundingClientRect())")
            y = box[1] + 60

            def touch(kind, *xs):
                browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": box[0] + x, "y": y, "id": i} for i, x in enumerate(xs)])

            touch("touchStart", 60)
            for x in range(70, 200, 20):
                touch("touchMove", x)
            touch("touchEnd")
            assert browser.value("paused"), "panning does not stop the present"
            right = browser.value("timeline.right")
            assert right < browser.value("model.now"), right
            span = browser.value("timeline.span")
            touch("touchStart", 100, 140)
            for more in range(0, 60, 15):
                touch("touchMove", 100 - more, 140 + more)
            touch("touchEnd")
            assert browser.value("timeline.span") < span / 1.5, (span, browser.value("timeline.span"))
            assert browser.value("document.documentElement.scrollWidth <= innerWidth")
        finally:
            browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


TESTS = [view_keeps_the_past, view_of_many_threads, view_under_fingers, view_of_a_fleet, view_shows_the_stream, view_zooms_and_pauses, view_shows_text_as_text]
