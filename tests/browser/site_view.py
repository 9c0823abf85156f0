"""The documentation's site in a browser: every page opens without a complaint and fits its window, nothing is fetched from elsewhere, and the search finds what there is.

Used by run_browser.py; needs cmark-gfm and mandoc (tools/deps site).
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
WINDOWS = [(390, False), (390, True), (1400, False), (1400, True)]
# Elements that are cut: what they hold is wider than they are, and they do not scroll.
CUT = """[...document.querySelectorAll("main *, nav *, header *")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).overflowX !== "auto"
  && getComputedStyle(e).display !== "inline" && !["hidden", "scroll"].includes(getComputedStyle(e).overflowX)).map(e => e.tagName + ": " + e.textContent.slice(0, 60))"""


def make(folder):
    done = subprocess.run([sys.executable, ROOT / "tools/doc-site", folder / "site"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "site"


def pages_fit(portent, folder, browser):
    site = make(pathlib.Path(folder))
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 50, len(pages)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|<link[^>]*href)="https?:', text), f"{page} fetches from elsewhere"
    # All pages in one window each in turn; those with the widest contents in all.
    wide = {"index.html", "docs/performance.html", "docs/tutorial.html", "docs/coming-from-tsan.html", "man/portent-run.1.html", "docs/guarantees.html"}
    for number, page in enumerate(pages):
        every = str(page.relative_to(site)) in wide
        for width, dark in WINDOWS if every else [WINDOWS[number % len(WINDOWS)]]:
            browser.size(width, 900, dark)
            browser.open(page)
            assert browser.complaints() == [], (page, browser.complaints())
            there = browser.value("document.documentElement.scrollWidth")
            assert there <= width, f"{page}: {there} wide in a window of {width}"
            assert browser.value(CUT) == [], (page, width, browser.value(CUT))


def links_lead_somewhere(portent, folder, browser):
    site = make(pathlib.Path(folder))
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r'<a [^>]*href="([^"#:]*)(?:#([^"]*))?"', text):
            there = (page.parent / target) if target else page
            assert there.is_file(), f"{page}: {target}"
    broken = pathlib.Path(folder) / "broken"
    shutil.copytree(ROOT / "tools", broken / "tools")
    shutil.copytree(ROOT / "docs", broken / "docs")
    (broken / "docs/wrong.md").write_text("# Wrong\n\n[gone](gone.md), [nowhere](tutorial.md#nowhere)\n", encoding="utf-8")
    done = subprocess.run([sys.executable, broken / "tools/doc-site", broken / "site"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "no page for the link gone.md" in done.stdout and "docs/tutorial.md has no section nowhere" in done.stdout, done.stdout


def search_finds(portent, folder, browser):
    site = make(pathlib.Path(folder))
    for page, words, title in (("index.html", "coming from thread", "Coming from ThreadSanitizer"), ("man/portent-run.1.html", "record-all", "portent-run(1)"),
                               ("docs/tutorial.html", "baselines", "Reports and results"), ("examples/water/index.html", "weakuntil", "The property language")):
        browser.size(1400, 900)
        browser.open(site / page)
        browser.value(f"""(() => {{ const input = document.querySelector("#search input"); input.value = {json.dumps(words)};
                          input.dispatchEvent(new Event("input")); return true; }})()""")
        found = browser.value('[...document.querySelectorAll("#found a")].map(e => [e.querySelector("b").textContent, e.getAttribute("href")])')
        assert any(title in name for name, _ in found), (words, found)
        for _, target in found:
            assert ((site / page).parent / target.split("#")[0]).is_file(), target
    browser.value("""(() => { const input = document.querySelector("#search input"); input.value = "<img src=x onerror=window.hacked=1> zzzz";
                     input.dispatchEvent(new Event("input")); return true; })()""")
    assert browser.value('document.querySelector("#found").textContent') == "Nothing found."
    assert browser.value("window.hacked") is None and browser.complaints() == []


TESTS = [pages_fit, links_lead_somewhere, search_finds] if shutil.which("cmark-gfm") and shutil.which("mandoc") else []
