#!/usr/bin/env python3
"""The HTML report and the view of `watch --http` in a headless Chromium: opens whole, steps, joins moved events, keeps hostile names as text, stays fast.

    run_browser.py PORTENT [NAME...]

Without Chromium nothing is tested, which a line says. The last line is `N passed, M failed`.
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from chromium import Chromium, find
from layout import TEXTS, WINDOWS, check_page, overlaps
from picture_view import TESTS as PICTURE_TESTS
from site_view import TESTS as SITE_TESTS
from watch_view import TESTS as WATCH_TESTS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIRST_PAINT_SECONDS = 2.0
TIMES = 5  # that something is measured; the median counts, since a busy machine holds up some of them

WATER = ("-|init(w)=20|-\n-|init(v)=40|-\nT2|w(w)=24|tank.c:2\nT1|r(w)=24|tank.c:1\nT1|w(v)=50|tank.c:3\nT2|w(w)=27|tank.c:2\n"
         "T1|w(v)=60|tank.c:3\nT2|w(w)=31|tank.c:2\nT1|r(w)=31|tank.c:1\nT1|w(v)=70|tank.c:3\n")
WATER_PROP = "property valve: always (w > 30 -> ((v > 55 && w > 26) since start(w > 26)));\n"
TANK_C = "int now = w;\nw = measure(); // a <b> & \"c\"\nv = open_valve(now);\n"
HOSTILE = ["</script><script>window.hacked = 1</script>", "<img src=x onerror=window.hacked=1>", "a&b\"c'd", "\U0001F30A wave",
           "<!--", "${window.hacked=1}"]


def report(portent, folder, trace, prop, *options):
    """The path of the page made from a trace and properties, and the result."""
    folder = pathlib.Path(folder)
    (folder / "x.trace").write_text(trace, encoding="utf-8")
    (folder / "x.prop").write_text(prop, encoding="utf-8")
    (folder / "tank.c").write_text(TANK_C, encoding="utf-8")
    done = subprocess.run([portent, "check", "--json", *options, "-s", "x.prop", "x.trace"], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    (folder / "r.json").write_bytes(done.stdout)
    subprocess.run([portent, "report", "--html", "r.json", "-o", "r.html"], cwd=folder, check=True)
    return folder / "r.html", json.loads(done.stdout)


def texts(browser, selector):
    return browser.value(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent)")


def opens_without_complaints(portent, folder, browser):
    page, _ = report(portent, folder, WATER, WATER_PROP)
    for dark in (False, True):
        for width in (1200, 390):
            browser.size(width, 900, dark)
            browser.open(page)
            assert browser.complaints() == [], browser.complaints()
            assert texts(browser, "h1") == ["valve"]
            wide = browser.value("document.documentElement.scrollWidth")
            assert wide <= width, f"{wide} wide in a window of {width}"
    assert "http" not in page.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")


def slider_changes_values(portent, folder, browser):
    page, _ = report(portent, folder, WATER, WATER_PROP)
    browser.size(1200, 900)
    browser.open(page)
    seen = []
    for step in range(4):
        browser.value(f"(() => {{ const r = document.querySelector('input[type=range]'); r.value = {step};"
                      " r.dispatchEvent(new Event('input', { bubbles: true })); })()")
        seen.append((texts(browser, ".vars td"), texts(browser, ".truths .truth")))
    values = [row[0] for row in seen]
    assert values == [["20", "40"], ["20 → 24", "40"], ["24 → 27", "40"], ["27 → 31", "40"]], values
    assert seen[0][1][0] == "open" and seen[3][1][0] == "false", seen
    assert "broken" in texts(browser, ".happened")[0]


def keyboard_steps(portent, folder, browser):
    page, _ = report(portent, folder, WATER, WATER_PROP)
    browser.size(1200, 900)
    browser.open(page)
    assert texts(browser, ".where") == ["step 3 of 3"]
    browser.key("ArrowLeft")
    assert texts(browser, ".where") == ["step 2 of 3"]
    browser.key("r")
    assert texts(browser, ".where") == ["step 2 of 5"], texts(browser, ".where")
    assert texts(browser, ".vars td") == ["24", "40 → 50"], texts(browser, ".vars td")
    reached = browser.value("[...document.querySelectorAll('button, input, [tabindex=\"0\"]')].every(e => e.tabIndex === 0)")
    assert reached, "something that can be used cannot be reached with Tab"


def moved_events_are_joined(portent, folder, browser):
    page, result = report(portent, folder, WATER, WATER_PROP)
    browser.size(1200, 900)
    browser.open(page)
    detail = result["properties"][0]["detail"]
    moved = sorted({detail["witness"][move["step"]] for move in detail["moves"]})
    assert moved == [3, 5], moved
    drawn = browser.value("[...document.querySelectorAll('.links path[data-event]')].filter(p => p.classList.contains('moved')).map(p => Number(p.dataset.event)).sort()")
    assert drawn == moved, drawn
    # Each arrow ends at the height of its event's row in both columns.
    gaps = browser.value("""[...document.querySelectorAll('.links path.moved[data-event]')].map((path) => {
        const box = path.getBoundingClientRect(), rows = (side) => [...document.querySelectorAll(`.ev.${side}.moved`)].map((r) => r.getBoundingClientRect());
        const inside = (y, list) => list.some((r) => y >= r.top - 1 && y <= r.bottom + 1);
        return inside(box.top, rows('right')) && inside(box.bottom, rows('left')); })""")
    assert gaps == [True, True], gaps
    assert "w = measure(); // a <b> & \"c\"" in texts(browser, ".src")
    assert browser.value("document.querySelectorAll('.lattice circle.node').length") == len(detail["lattice"]["cuts"])


def names_stay_text(portent, folder, browser):
    names = [name.replace("|", "") for name in HOSTILE]
    lines = ["-|init(w)=20|-", '-|init(v)="x"|-']
    for i, name in enumerate(names):
        thread = name.replace("(", "[").replace(")", "]")
        lines.append(f"{thread}|w(w)={21 + i}|{name}")
        lines.append(f'{thread}|w(v)="{i} </script> & <b>"|{name}')
    page, _ = report(portent, folder, "\n".join(lines) + "\n", 'property p: always (w < 25 && v != "<i>");\n')
    browser.size(1200, 900)
    browser.open(page)
    assert browser.complaints() == [], browser.complaints()
    assert browser.value("window.hacked") is None
    assert browser.value("document.querySelectorAll('img, b:not(.change b), i').length") == 0
    shown = texts(browser, ".ev .thread")
    for name in names[:4]:
        assert name.replace("(", "[").replace(")", "]") in shown, (name, shown)
    assert any("</script> & <b>" in text for text in texts(browser, ".ev .change"))


def long_trace(events):
    """A chain of `events` relevant events of two threads, and at its end a write that may come too early."""
    lines = ["-|init(x)=0|-"]
    lines += [f"T{i % 2 + 1}|u(x)={i + 1}|chain.c:{i % 2 + 10}" for i in range(events - 2)]
    lines += ["T1|w(flag)=1|end.c:1", "T2|w(done)=1|end.c:2"]
    return "\n".join(lines) + "\n"


def median_of(measure):
    """The medians of what measure() gives, each taken of TIMES calls."""
    return [sorted(column)[TIMES // 2] for column in zip(*(measure() for _ in range(TIMES)))]


def ten_thousand_events(portent, folder, browser):
    page, result = report(portent, folder, long_trace(10000), "property p: always (done > 0 -> flag > 0 || x < 0);\n", "--window", "16", "--lookahead", "32")
    shown = len(result["properties"][0]["detail"]["actual"])
    if shown < 10000:  # a bounded exploration may start its witness late; the whole run comes from the full one
        page, result = report(portent, folder, long_trace(10000), "property p: always (done > 0 -> flag > 0 || x < 0);\n")
        shown = len(result["properties"][0]["detail"]["actual"])
    assert shown == 10000, shown
    browser.size(1200, 900)

    def load():
        start = time.monotonic()
        browser.open(page)
        took = time.monotonic() - start
        browser.wait("performance.getEntriesByType('paint').length > 0")  # it may come after the page is loaded
        return took, browser.value("Math.max(...performance.getEntriesByType('paint').map(e => e.startTime)) / 1000")

    def step():
        start = time.monotonic()
        for _ in range(10):
            browser.key("ArrowLeft")
        return (time.monotonic() - start,)

    took, painted = median_of(load)
    print(f"    10,000 events: first paint after {painted:.2f} s, loaded after {took:.2f} s")
    assert painted < FIRST_PAINT_SECONDS and took < 2 * FIRST_PAINT_SECONDS
    assert browser.value("document.querySelectorAll('.ev').length") < 200
    assert browser.value("document.querySelectorAll('.sky .event').length") < 200
    assert "done=1" in texts(browser, ".sky .event text"), "the diagram does not show the step it is at"
    assert median_of(step)[0] < 2, "stepping is slow"
    browser.value("document.querySelector('.lanes').scrollTop = 0; new Promise(done => setTimeout(done, 100))")
    assert texts(browser, ".ev.left .n")[0] == "1"


def model_results(portent, folder, browser):
    result = {"portent": 1, "file": "x.sml", "threads": ["a", "b"], "blocks": [
        {"thread": 1, "block": 1, "line": 3, "causally_atomic": False, "witness": [
            {"thread": 1, "text": "begin", "line": 3, "role": "begin"}, {"thread": 1, "text": "X := 1", "line": 4},
            {"thread": 2, "text": "Y := X", "line": 9, "after": [1], "role": "foreign"},
            {"thread": 1, "text": "z := Y", "line": 5, "after": [1, 2], "role": "later"}]},
        {"thread": 2, "block": 1, "line": 8, "causally_atomic": True}]}
    (pathlib.Path(folder) / "m.json").write_text(json.dumps(result))
    subprocess.run([portent, "report", "--html", "m.json", "-o", "m.html"], cwd=folder, check=True)
    browser.size(1000, 800)
    browser.open(pathlib.Path(folder) / "m.html")
    assert browser.complaints() == []
    assert browser.value("document.querySelectorAll('.sky .event').length") == 4
    assert browser.value("document.querySelectorAll('.sky path.hb').length") == 2


def one_column_where_runs_are_the_same(portent, folder, browser):
    page, _ = report(portent, folder, WATER, "property p: w < 31;\n")
    browser.size(1200, 900)
    browser.open(page)
    assert browser.value("document.querySelectorAll('.ev.left').length") == 3
    assert browser.value("document.querySelectorAll('.ev.right, .links path').length") == 0
    assert browser.value("document.querySelectorAll('.ev.breaks').length") == 1


def other_kinds(portent, folder, browser):
    page, _ = report(portent, folder, WATER, "property look at T1: v > 45 -> @T2(w) >= 27;\nproperty late within 3 events: always eventually event(go);\n")
    browser.size(390, 800, dark=True)
    browser.open(page)
    assert texts(browser, "h1") == ["look"] and "@T2 w = 24" in texts(browser, ".reasons code")
    browser.value("document.querySelectorAll('.list button')[1].click()")
    assert texts(browser, "h1") == ["late"] and "At event 3" in texts(browser, ".happened")[0]
    assert browser.complaints() == []


def predicted_deadlock(portent, folder, browser):
    """What may happen is not said to happen, and can be confirmed."""
    result, page = pathlib.Path(folder) / "r.json", pathlib.Path(folder) / "r.html"
    trace = pathlib.Path(folder) / "t.trace"
    trace.write_text("".join(f"{thread}|{op}({lock})|a.c:{line}\n" for thread, locks in (("T1", "ab"), ("T2", "ba"))
                             for line, (op, lock) in enumerate([("acq", locks[0]), ("acq", locks[1]), ("rel", locks[1]), ("rel", locks[0])], 1)))
    result.write_text(subprocess.run([portent, "check", "--deadlocks", "--json", trace], capture_output=True, text=True, check=False).stdout)
    subprocess.run([portent, "report", "--html", result, "-o", page], check=True)
    for width, dark in WINDOWS:
        browser.size(width, 900, dark)
        browser.open(page)
        assert sorted(texts(browser, ".side h2")) == ["T1 can wait for b", "T2 can wait for a"], texts(browser, ".side h2")
        assert any(text.startswith("portent confirm ") for text in texts(browser, ".act code")), texts(browser, ".act code")
        check_page(browser, page, width)


def several_variables(portent, folder, browser):
    """A race of several variables at the same places has all of them in its title, and a line for each to suppress it."""
    result, page, trace = (pathlib.Path(folder) / name for name in ("r.json", "r.html", "t.trace"))
    trace.write_text("".join(f"{thread}|w({name})|a.c:1\n" for thread in ("T1", "T2") for name in ("left", "right")))
    result.write_text(subprocess.run([portent, "check", "--races", "--json", trace], capture_output=True, text=True, check=False).stdout)
    subprocess.run([portent, "report", "--html", result, "-o", page], check=True)
    for width, dark in WINDOWS:
        browser.size(width, 900, dark)
        browser.open(page)
        assert texts(browser, "h1") == ["left, right"], texts(browser, "h1")
        assert "race:^left$\nrace:^right$" in texts(browser, ".act code"), texts(browser, ".act code")
        check_page(browser, page, width)
    write = pathlib.Path(folder) / "known.supp"
    write.write_text(next(text for text in texts(browser, ".act code") if text.startswith("race:")) + "\n")
    assert subprocess.run([portent, "check", "-q", "--races", "--suppressions", write, trace], check=False).returncode == 0


def schedules(portent, folder, browser):
    """What explore found is listed by what it shows, and its page is whole in every window."""
    folder = pathlib.Path(folder)
    (folder / "a.c").write_text("""#include <pthread.h>
static pthread_mutex_t a_lock = PTHREAD_MUTEX_INITIALIZER, b_lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    count++;
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *one(void *p) { both(&a_lock, &b_lock); return p; }
static void *two(void *p) { both(&b_lock, &a_lock); return p; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(b, 0);
    return pthread_join(a, 0);
}
""")
    subprocess.run([portent, "cc", "-O0", "a.c", "-o", "a"], cwd=folder, check=True)
    subprocess.run([portent, "explore", "--keep-going", "-n", "200", "-r", "r.json", "--", "./a"], cwd=folder, check=False, capture_output=True)
    subprocess.run([portent, "report", "--html", "r.json", "-o", "r.html"], cwd=folder, check=True)
    for width, dark in WINDOWS:
        browser.size(width, 900, dark)
        browser.open(folder / "r.html")
        rows = browser.value("[...document.querySelectorAll('.list button')].map(e => [e.querySelector('.name').textContent, e.querySelector('.what').textContent])")
        assert any(name == "Data race on count" and what.startswith("under the ordinary schedule, ") for name, what in rows), rows
        assert any(name.startswith("Deadlock of ") and "another schedule, " in what for name, what in rows), rows
        browser.value("[...document.querySelectorAll('.list button')].find(b => b.textContent.includes('Deadlock of')).click()")
        assert texts(browser, "h1") == ["Deadlock"], texts(browser, "h1")
        check_page(browser, "schedule", width, may_be_cut=".names, .sky")


def put_together(portent, folder, browser):
    """Several results on one page: each finding says of which program it is, is confirmed with that program, and a long list leaves its finding in sight."""
    folder = pathlib.Path(folder)
    source = """#include <pthread.h>
DEFINITIONS
int last_NAME;
static void *work(void *p)
{
INCREMENTS
    return p;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(b, 0);
    last_NAME = 1;
    return pthread_join(a, 0);
}
"""
    for name, count in (("many", 25), ("few", 1)):
        lines = {"DEFINITIONS": "int NAME_%d;\n", "INCREMENTS": "    NAME_%d++;\n", "NAME": name}
        text = source
        for word, line in lines.items():
            text = text.replace(word, "".join(line % i for i in range(count)) if "%" in line else line)
        (folder / f"{name}.c").write_text(text)
        (folder / f"{name}.prop").write_text(f"property never_{name}: always (last_{name} == 0 || {name}_0 >= 2);\nproperty races: race_free(*);\n")
        subprocess.run([portent, "cc", "-O0", f"{name}.c", "-o", name], cwd=folder, check=True)
        subprocess.run([portent, "run", "-q", "-s", f"{name}.prop", "-r", f"{name}.json", "--", f"./{name}"], cwd=folder, check=False, capture_output=True)
    subprocess.run([portent, "report", "--html", "many.json", "few.json", "-o", "both.html"], cwd=folder, check=True)
    for width, dark in WINDOWS:
        browser.size(width, 900, dark)
        browser.open(folder / "both.html")
        assert texts(browser, "header p")[1] == "2 results of ./many, ./few", texts(browser, "header p")
        rows = browser.value("[...document.querySelectorAll('.list button')].map(e => [e.querySelector('.name').textContent, e.querySelector('.where').textContent, e.querySelector('.what').getClientRects().length])")
        assert all(where == ("./few" if "few" in name else "./many") and shown for name, where, shown in rows), rows
        heading, height = browser.value("[document.querySelector('h1').getBoundingClientRect().top, innerHeight]")
        assert heading < height, f"the finding begins at {heading} of {height}"
        for name in ("few", "many"):
            browser.value(f"[...document.querySelectorAll('.list button')].find(b => b.textContent.includes('{name}_0')).click()")
            assert f"./{name}" in texts(browser, ".head .facts dd"), texts(browser, ".head .facts dd")
            predicted = browser.value(f"(b => b && (b.click(), true))([...document.querySelectorAll('.list button')].find(b => b.textContent.includes('never_{name}')))")
            if predicted:
                assert f"portent confirm {name}.json -- ./{name}" in texts(browser, ".act code"), texts(browser, ".act code")
        boxes = browser.value(TEXTS.replace("ROOT", "document.body"))
        assert overlaps(boxes) == [], overlaps(boxes)
        assert browser.value("document.querySelector('.brand').getClientRects()[0].height") < 30
        assert browser.complaints() == []


TESTS = [predicted_deadlock, several_variables, schedules, put_together, opens_without_complaints, slider_changes_values, keyboard_steps, moved_events_are_joined, names_stay_text, ten_thousand_events, model_results, one_column_where_runs_are_the_same, other_kinds, *PICTURE_TESTS, *WATCH_TESTS, *SITE_TESTS]


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # see tools/run-tests
    portent = str(pathlib.Path(sys.argv[1]).resolve())
    if not find():
        print("browser: skipped: chromium is not installed (tools/deps browser installs it)")
        print("0 passed, 0 failed")
        return 0
    passed = failed = 0
    with Chromium() as browser:
        for test in (test for test in TESTS if not sys.argv[2:] or test.__name__ in sys.argv[2:]):
            with tempfile.TemporaryDirectory(prefix="portent-browser-") as folder:
                try:
                    test(portent, folder, browser)
                    passed += 1
                    print(f"  ok      {test.__name__}", flush=True)
                except Exception:  # whatever it is, the other tests still run
                    failed += 1
                    print(f"  FAILED  {test.__name__}")
                    traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
