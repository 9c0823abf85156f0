"""What stands where on a page: text that is cut or covered, lines through text. Used by the tests beside it.

Everything is asked of the browser, as boxes of what it painted.
"""
import json

WINDOWS = [(390, False), (390, True), (1400, False), (1400, True)]

# Elements that are cut: what they hold is wider than they are, and they do not scroll.
CUT = """[...document.querySelectorAll("body *")].filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && e.textContent.trim() && getComputedStyle(e).display !== "inline"
  && !["auto", "scroll"].includes(getComputedStyle(e).overflowX) && !e.closest(MAY_BE_CUT)).map(e => `${e.tagName}.${e.className}: ${e.textContent.slice(0, 60)}`)"""

# The boxes of pieces of text: of HTML each line of a text node, of SVG each text element. Those out of a scrolling box's view do not count.
TEXTS = """(() => {
  const out = [], seen = (node, box) => {
    for (let up = node.parentElement; up; up = up.parentElement) {
      const style = getComputedStyle(up);
      if (style.visibility === "hidden" || style.display === "none") return false;
      if (style.overflowX !== "visible" || style.overflowY !== "visible") {
        const view = up.getBoundingClientRect();
        if (box.right <= view.left + 1 || box.left >= view.right - 1 || box.bottom <= view.top + 1 || box.top >= view.bottom - 1) return false;
      }
    }
    return true;
  };
  const add = (node, text, box) => { if (box.width > 0 && box.height > 0 && seen(node, box)) out.push({ text, in: node.parentElement.closest(".names") ? "names" : "", left: box.left, right: box.right, top: box.top, bottom: box.bottom }); };
  const walk = document.createTreeWalker(ROOT, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, inside = node.parentElement;
    if (!node.textContent.trim() || inside.closest("title, style, script, desc, option, textarea")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) add(node, node.textContent.trim().slice(0, 40), box);
  }
  return out;
})()"""

# Points along lines and paths of pictures that have no filling, every few pixels, as the screen has them.
LINES = """[...document.querySelectorAll(SELECTOR)].map(e => { const matrix = e.getScreenCTM(), length = e.getTotalLength(), points = [];
  for (let at = 0; at <= length; at += 3) { const p = e.getPointAtLength(at); points.push([matrix.a * p.x + matrix.c * p.y + matrix.e, matrix.b * p.x + matrix.d * p.y + matrix.f]); }
  return points; })"""


def overlaps(texts, least=2.5):
    """Pairs of texts whose boxes cover each other by more than `least` pixels each way."""
    found = []
    texts = sorted(texts, key=lambda box: box["top"])
    for i, a in enumerate(texts):
        for b in texts[i + 1:]:
            if b["top"] >= a["bottom"] - least:
                break
            if min(a["right"], b["right"]) - max(a["left"], b["left"]) > least and a["in"] == b["in"]:
                found.append((a["text"], b["text"]))
    return found


def crossed(texts, lines, inset=2.0):
    """Texts that a line runs through."""
    return sorted({box["text"] for box in texts for line in lines for x, y in line
                   if box["left"] + inset < x < box["right"] - inset and box["top"] + inset < y < box["bottom"] - inset})


def texts(browser, root="document.body"):
    return browser.value(TEXTS.replace("ROOT", root))


def lines(browser, selector):
    return browser.value(LINES.replace("SELECTOR", json.dumps(selector)))


def check_page(browser, page, width, may_be_cut=".no-such"):
    """Nothing is wider than the window, cut, or covered by other text, and the console is quiet."""
    assert browser.complaints() == [], (page, browser.complaints())
    there = browser.value("document.documentElement.scrollWidth")
    assert there <= width, f"{page}: {there} wide in a window of {width}"
    cut = browser.value(CUT.replace("MAY_BE_CUT", json.dumps(may_be_cut)))
    assert cut == [], (page, width, cut)
    pieces = texts(browser)
    assert overlaps(pieces) == [], (page, width, overlaps(pieces))
    return pieces
