// Finds sections of the site by words that begin as those that were typed. The index (index.js) is made with the pages.
"use strict";
(() => {
  const root = document.documentElement.dataset.root, input = document.querySelector("#search input"), list = document.querySelector("#found");
  const most = 12;
  let index = null, chosen = -1;

  // PORTENT_INDEX: [page, anchor, title, heading, text] for each section.
  const prepare = () => (index = index || (window.PORTENT_INDEX || []).map(row => ({ row, head: (row[2] + " " + row[3]).toLowerCase(), text: row[4].toLowerCase() })));
  const begins = (text, word) => {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
      if (at === 0 || !/[a-z0-9]/.test(text[at - 1]))
        return at;
    return -1;
  };

  const weigh = (section, words) => {
    let sum = 0;
    for (const word of words) {
      const head = begins(section.head, word) >= 0, text = begins(section.text, word) >= 0;
      if (!head && !text)
        return 0;
      sum += (head ? 8 : 0) + (text ? 1 : 0) + (begins(section.row[3].toLowerCase(), word) === 0 ? 4 : 0);
    }
    return sum;
  };

  const marked = (element, text, words) => { // text with the words marked, as nodes: nothing in a page becomes markup
    const low = text.toLowerCase();
    let at = 0;
    while (at < text.length) {
      const next = words.map(word => [begins(low.slice(at), word), word.length]).filter(([where]) => where >= 0).sort((a, b) => a[0] - b[0])[0];
      if (!next)
        break;
      element.append(text.slice(at, at + next[0]));
      element.append(Object.assign(document.createElement("mark"), { textContent: text.slice(at + next[0], at + next[0] + next[1]) }));
      at += next[0] + next[1];
    }
    element.append(text.slice(at));
  };

  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(word => word);
    const found = words.length === 0 ? [] : prepare().map(section => [weigh(section, words), section]).filter(([weight]) => weight > 0).sort((a, b) => b[0] - a[0]);
    chosen = -1;
    list.replaceChildren();
    for (const [, { row: [page, anchor, title, heading, text], text: low }] of found.slice(0, most)) {
      const link = Object.assign(document.createElement("a"), { href: root + page + (anchor ? "#" + anchor : "") });
      const head = document.createElement("b"), part = document.createElement("span");
      head.textContent = heading && heading !== title ? title + ": " + heading : title;
      const from = Math.max(0, Math.min(...words.map(word => begins(low, word)).filter(at => at >= 0), low.length) - 40);
      marked(part, (from > 0 ? "..." : "") + text.slice(from, from + 140), words);
      link.append(head, part);
      list.append(Object.assign(document.createElement("li")));
      list.lastChild.append(link);
    }
    if (words.length && found.length === 0)
      list.append(Object.assign(document.createElement("li"), { textContent: "Nothing found." }));
    list.hidden = words.length === 0;
    input.setAttribute("aria-expanded", String(!list.hidden));
  };

  const choose = step => {
    const links = [...list.querySelectorAll("a")];
    if (links.length === 0)
      return;
    links[chosen]?.classList.remove("chosen");
    chosen = (chosen + step + links.length) % links.length;
    links[chosen].classList.add("chosen");
    links[chosen].scrollIntoView({ block: "nearest" });
  };

  input.addEventListener("input", show);
  input.addEventListener("keydown", event => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      choose(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      (list.querySelector("a.chosen") || list.querySelector("a"))?.click();
    } else if (event.key === "Escape") {
      list.hidden = true;
      input.blur();
    }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/^(input|textarea)$/i.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", event => {
    if (!event.target.closest("#search") || event.target.closest("#found a"))
      list.hidden = true;
  });
})();
