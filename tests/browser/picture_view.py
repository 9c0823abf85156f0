"""Every kind of page, and the pictures that are files of their own, in four windows: no text is cut, covered, or has a line through it.

Used by run_browser.py.
"""
import pathlib
import random
import subprocess

import layout

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Of two runs beside each other a line of source has one row; its whole text is its title.
ONE_ROW = ".ev"
ARROWS = ".sky path.hb, .sky line.cursor"


def portent(command, *arguments, cwd, expect=(0, 1, 66)):
    done = subprocess.run([command, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode in expect, (arguments, done.returncode, done.stderr)
    return done.stdout


def result_of(command, folder, name, *arguments):
    """The page of what a command says as JSON."""
    (folder / f"{name}.json").write_text(portent(command, *arguments, cwd=folder), encoding="utf-8")
    portent(command, "report", "--html", f"{name}.json", "-o", f"{name}.html", "--source-root", ROOT / "examples", cwd=folder)
    return folder / f"{name}.html"


def program(command, folder, source):
    portent(command, "cc", "-g", "-O1", ROOT / source, "-o", folder / "prog", "-lpthread", cwd=folder)
    return folder / "prog"


def race_page(command, folder):
    portent(command, "run", "-r", "race.json", "--", program(command, folder, "examples/race/race.c"), cwd=folder)
    portent(command, "report", "--html", "race.json", "-o", "race.html", "--source-root", ROOT / "examples", cwd=folder)
    return folder / "race.html"


CROSSED = """#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void *other(void *unused)
{
    pthread_mutex_lock(&second), pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first), pthread_mutex_unlock(&second);
    return unused;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_mutex_lock(&first), pthread_mutex_lock(&second);
    pthread_mutex_unlock(&second), pthread_mutex_unlock(&first);
    return pthread_join(thread, NULL);
}
"""


def explored_page(command, folder):
    (folder / "crossed.c").write_text(CROSSED)
    portent(command, "explore", "-n", "200", "--seed", "1", "-r", "explored.json", "--", program(command, folder, folder / "crossed.c"), cwd=folder, expect=(1,))
    portent(command, "report", "--html", "explored.json", "-o", "explored.html", cwd=folder)
    return folder / "explored.html"


def many_page(command, folder):
    """More findings than one looks through, with long names."""
    trace = "".join(f"T{i % 3}|w(a_variable_with_a_rather_long_name_{i})={i}|a/long/path/to/some/source/file_{i}.c:{i}\n" for i in range(30))
    prop = "".join(f"property number_{i}_which_has_a_long_name: always a_variable_with_a_rather_long_name_{i} < {i};\n" for i in range(30))
    (folder / "many.trace").write_text(trace)
    (folder / "many.prop").write_text(prop)
    return result_of(command, folder, "many", "check", "--json", "-s", "many.prop", "many.trace")


def pages(command, folder):
    papers = ROOT / "examples/papers"
    yield result_of(command, folder, "water", "check", "--json", "-s", ROOT / "examples/water/water.prop", ROOT / "examples/water/water.trace")
    yield result_of(command, folder, "dame", "check", "--json", "-s", papers / "dame/figure2.prop", papers / "dame/figure2.trace")
    yield race_page(command, folder)
    yield explored_page(command, folder)
    yield many_page(command, folder)
    for name in ("bluetooth3", "acquire1", "figure5b"):
        yield result_of(command, folder, name, "model", "--json", papers / f"causal-atomicity/{name}.sml")
    yield result_of(command, folder, "counter", "model", "--json", ROOT / "examples/model/counter.sml")


def pages_hold_their_text(command, folder, browser):
    folder = pathlib.Path(folder)
    for page in pages(command, folder):
        for width, dark in layout.WINDOWS:
            browser.size(width, 900, dark)
            browser.open(page)
            pieces = layout.check_page(browser, page.name, width, ONE_ROW)
            through = layout.crossed(pieces, layout.lines(browser, ARROWS))
            assert through == [], (page.name, width, through)


def models_open_at_their_block(command, folder, browser):
    page = result_of(command, pathlib.Path(folder), "counter", "model", "--json", ROOT / "examples/model/counter.sml")
    browser.size(1400, 900)
    browser.open(page)
    assert "the block begins" in browser.value("document.querySelector('.happened').textContent")
    assert browser.value("document.querySelector('.sky').scrollWidth <= document.querySelector('.sky').clientWidth"), "the block does not fit its box"
    assert browser.value("document.querySelectorAll('.steps li').length") == browser.value("document.querySelectorAll('.sky .event').length") == 11
    browser.size(390, 900)
    browser.open(page)
    inside = browser.value("""(() => { const sky = document.querySelector('.sky').getBoundingClientRect(), at = document.querySelectorAll('.sky .event')[1].getBoundingClientRect();
        return at.left > sky.left && at.right < sky.right; })()""")
    assert inside, "the first step of the block is not in view"


def busy_trace(threads, events):
    """Times of all sizes: bursts, silences, several at one moment; locks, accesses and user events."""
    rng, time, lines = random.Random(7), 1000, []
    names = ["main", *(f"worker-{i}" for i in range(1, threads - 1)), "one_with_a_rather_long_name"]
    lines += [f"main|fork({name})|a.c:1|t={time}" for name in names[1:]]
    for i in range(events):
        name, op = rng.choice(names), rng.choice("rwuel")
        time += rng.choice([0, 5, 20, 100, 300, 700, 1500, 3000, 40000 if i % 9 == 0 else 400, 3000000 if i % 31 == 0 else 60])
        if op == "l":
            lines += [f"{name}|acq(queue_lock)|a.c:2|t={time}", f"{name}|r(q.head)=7|a.c:3|t={time + 30}", f"{name}|rel(queue_lock)|a.c:4|t={time + 900}"]
            time += 900
        else:
            lines.append(f"{name}|event({rng.choice(['go', 'request_done'])})|a.c:5|t={time}" if op == "e" else f"{name}|{op}({rng.choice(['x', 'counter', 'buf.len'])})={i}|a.c:6|t={time}")
    return "\n".join(lines) + "\n"


def timelines_stay_readable(command, folder, browser):
    folder = pathlib.Path(folder)
    (folder / "busy.trace").write_text(busy_trace(5, 300))
    (folder / "wide.trace").write_text(busy_trace(30, 400))
    for trace in (folder / "busy.trace", folder / "wide.trace", ROOT / "examples/water/water.trace", ROOT / "examples/papers/jamaica/figure5.trace"):
        picture = folder / f"{trace.stem}.svg"
        portent(command, "report", "--timeline", picture, trace, cwd=folder)
        browser.size(1400, 900)
        browser.open(picture)
        pieces = layout.texts(browser, "document.documentElement")
        width = browser.value("document.documentElement.width.baseVal.value")
        assert width <= 1123, f"{trace.name}: wider than a sheet of paper: {width}"
        outside = [piece for piece in pieces if piece["left"] < 0 or piece["right"] > width]
        assert outside == [], (trace.name, outside)
        assert layout.overlaps(pieces) == [], (trace.name, layout.overlaps(pieces))
        boxes = browser.value("[...document.querySelectorAll('g rect')].map(e => e.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom, text: 'box', in: '' }))")
        assert layout.overlaps(boxes) == [], (trace.name, "boxes cover each other")
    accesses = sum(part in line for line in (folder / "busy.trace").read_text().splitlines() for part in ("|r(", "|w(", "|u("))
    browser.open(folder / "busy.svg")
    assert browser.value("[...document.querySelectorAll('g')].filter(e => e.querySelector('circle')).length") == accesses
    check_linear(browser)


def check_linear(browser):
    """Between two signs that nothing shaded or broken lies between, pixels are in proportion to time."""
    units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    signs = browser.value("""[...document.querySelectorAll('g')].map(e => { const shape = e.querySelector('circle, path'), text = e.querySelector('title').textContent;
        const box = shape.getBoundingClientRect(); return [text.slice(text.lastIndexOf(', ') + 2), shape.tagName === 'circle' ? (box.left + box.right) / 2 : Number(shape.getAttribute('d').match(/^M(\\d+)/)[1]), box.top]; })""")
    strips = browser.value("[...document.querySelectorAll('.wide, .cut')].map(e => e.getBoundingClientRect()).map(({ left, right, top, bottom }) => [left, right, top, bottom])")
    rates = []
    for (when, x, y), (later, x2, y2) in zip(signs, signs[1:]):
        time, time2 = (float(word.split()[0]) * units[word.split()[1]] for word in (when, later))
        if x2 - x < 20 or any(left < x2 and right > x and top - 40 < max(y, y2) and bottom > min(y, y2) for left, right, top, bottom in strips):
            continue
        rates.append((x2 - x) / (time2 - time))
    assert len(rates) > 20, len(rates)
    middle = sorted(rates)[len(rates) // 2]
    assert all(abs(rate / middle - 1) < 0.12 for rate in rates), (middle, rates)


def model_pictures_have_a_legend(command, folder, browser):
    folder = pathlib.Path(folder)
    sources = [ROOT / "examples/model/counter.sml", ROOT / "examples/papers/causal-atomicity/bluetooth3.sml", ROOT / "examples/papers/causal-atomicity/acquire1.sml"]
    for source in sources:
        picture = folder / f"{source.stem}.svg"
        portent(command, "model", "--svg", picture, source, cwd=folder)
        if not picture.exists():  # every block is atomic
            continue
        browser.size(1400, 900)
        browser.open(picture)
        pieces = layout.texts(browser, "document.documentElement")
        width = browser.value("document.documentElement.width.baseVal.value")
        assert all(piece["right"] < width for piece in pieces), (source.name, [piece["text"] for piece in pieces if piece["right"] >= width])
        assert layout.overlaps(pieces) == [], (source.name, layout.overlaps(pieces))
        assert {"the block begins", "another thread comes in between", "the block goes on, after it", "comes first"} <= {piece["text"] for piece in pieces}, pieces
        through = layout.crossed(pieces, layout.lines(browser, "path[marker-end]"))
        assert through == [], (source.name, through)
        boxes = browser.value("[...document.querySelectorAll('g rect')].map(e => e.getBoundingClientRect()).map(({ left, right, top, bottom }) => ({ left, right, top, bottom, text: 'box', in: '' }))")
        assert layout.crossed(boxes, layout.lines(browser, "path[marker-end]"), 1.5) == [], (source.name, "an arrow runs through a box")


TESTS = [pages_hold_their_text, models_open_at_their_block, timelines_stay_readable, model_pictures_have_a_legend]
